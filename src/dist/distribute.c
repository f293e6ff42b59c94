/* Distributed datasets: what is distributed, how, and the dataset of each pipeline.
 *
 * Happy path: the planner decides for this worker's place; workers compare what they distribute;
 * the share of a place is made when an iterator opens it, or when a state of another place is
 * restored. Reading ahead happens on a share as a whole, so that its state does not depend on how
 * its elements are cut. An object is immutable once it is made. Failures: those of the planner, of
 * the user's function, and FAILED_PRECONDITION where workers differ. No locks. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "base/minmax.h"
#include "base/options.h"
#include "base/random.h"
#include "data/plan/dataset.h"
#include "dist/distributed.h"
#include "dist/draws.h"
#include "dist/plan_list.h"
#include "dist/strategy.h"
#include <leat/data_ops.h>
#include <stdio.h>

/* ---- options ---- */

static leat_status check_options(const leati_membership *member, bool by_function,
                                 const leat_strategy_distribute_options *options, leat_error *err) {
    bool per_replica = options->replication == LEAT_INPUT_PER_REPLICA;
    if (by_function && options->place_dataset_on_device && !per_replica) {
        return leati_refuse(err, VALUE,
                            "place_dataset_on_device needs the replication LEAT_INPUT_PER_REPLICA");
    }
    if (by_function && options->place_dataset_on_device && options->fetch_to_device) {
        return leati_refuse(err, VALUE,
                            "place_dataset_on_device excludes fetching elements to the device; set "
                            "fetch_to_device to false");
    }
    if (options->per_replica_buffer_size < 0) {
        return leati_refuse(err, VALUE, "per_replica_buffer_size is %d; expected at least 0",
                            options->per_replica_buffer_size);
    }
    if (per_replica && !(by_function && member->per_replica_ok)) {
        return leati_fail(
            err, LEAT_UNIMPLEMENTED,
            "LEAT_INPUT_PER_REPLICA is for leat_strategy_distribute_datasets_from_function "
            "under the mirrored strategy alone; use LEAT_INPUT_PER_WORKER");
    }
    if ((unsigned)options->auto_shard_policy > LEAT_SHARD_OFF ||
        (unsigned)options->replication > LEAT_INPUT_PER_REPLICA) {
        return leati_refuse(err, VALUE,
                            "auto_shard_policy is %d and replication %d; expected values of their "
                            "enumerations",
                            (int)options->auto_shard_policy, (int)options->replication);
    }
    return LEAT_OK;
}

/* `own` gets what a caller said; `iterator`, what it pointed to. */
static leat_status read_options(const leati_membership *member, bool by_function,
                                const leat_strategy_distribute_options *options,
                                leat_strategy_distribute_options *own,
                                leat_iterator_options *iterator, leat_error *err) {
    *own = (leat_strategy_distribute_options){LEAT_STRATEGY_DISTRIBUTE_DEFAULTS};
    *iterator = (leat_iterator_options){LEAT_ITERATOR_DEFAULTS};
    LEATI_TRY(LEATI_OPTIONS(leat_strategy_distribute_options, own, options, err));
    LEATI_TRY(LEATI_OPTIONS(leat_iterator_options, iterator, own->iterator, err));
    /* The caller's struct may be gone when iterators are made; `iterator` is a copy of it. */
    own->iterator = NULL;
    return check_options(member, by_function, own, err);
}

leat_status leat_input_context_batch_size(const leat_input_context *input,
                                          int64_t global_batch_size, int64_t *out,
                                          leat_error *err) {
    LEATI_ERROR_DOOR(err);
    if (input == NULL || out == NULL || input->num_replicas_in_sync < 1) {
        return leati_refuse(err, VALUE,
                            "leat_input_context_batch_size: an argument is NULL, or there are no "
                            "replicas");
    }
    if (global_batch_size % input->num_replicas_in_sync != 0) {
        return leati_refuse(
            err, VALUE,
            "a global batch of %lld rows cannot be divided among %d replicas; choose "
            "a multiple of that",
            (long long)global_batch_size, input->num_replicas_in_sync);
    }
    *out = global_batch_size / input->num_replicas_in_sync;
    return LEAT_OK;
}

/* ---- places and shares ---- */

leati_feed_place leati_distributed_place(const leat_distributed_dataset *dataset, int feed) {
    const leati_membership *member = &dataset->member;
    bool each = dataset->options.replication == LEAT_INPUT_PER_REPLICA;
    return (leati_feed_place){.num_workers = each ? member->replicas : member->num_workers,
                              .worker = each ? feed : member->worker,
                              .replicas = each ? 1 : member->replicas};
}

static leat_dataset *call_function(const leat_distributed_dataset *d, const leati_feed_place *place,
                                   leat_error *err) {
    leat_input_context input = {.num_input_pipelines = place->num_workers,
                                .input_pipeline_id = place->worker,
                                .num_replicas_in_sync = leati_planner_all_replicas(place)};
    leat_error local = {0};
    leat_dataset *made = d->function(d->context, &input, &local);
    if (made == NULL) {
        /* A user's function may return NULL and say nothing. */
        if (local.code == LEAT_OK)
            leati_refuse(&local, CALLBACK, "it returned no dataset");
        leati_prefix(&local, "the dataset function of pipeline %d of %d", place->worker,
                     place->num_workers);
        *err = local;
    }
    return made;
}

static bool is_place(const leati_feed_place *a, const leati_feed_place *b) {
    return a->num_workers == b->num_workers && a->worker == b->worker && a->replicas == b->replicas;
}

/* What the function makes for a place: for a place of this worker, what it has made. */
static leat_dataset *batches_of(const leat_distributed_dataset *d, const leati_feed_place *place,
                                leat_error *err) {
    for (int f = 0; f < d->num_feeds; f++) {
        leati_feed_place own = leati_distributed_place(d, f);
        /* Called once per place: a function may open files or draw seeds, and its datasets must
         * stay the same. */
        if (is_place(&own, place))
            return leat_dataset_ref(d->made[f]);
    }
    if (d->function == NULL) {
        leati_fail(err, LEAT_FAILED_PRECONDITION,
                   "the state was saved on %d input pipelines, and what the others read is not "
                   "known: the dataset was given, not made by a function; restore it on as many, "
                   "or use leat_strategy_distribute_datasets_from_function",
                   place->num_workers);
        return NULL;
    }
    return call_function(d, place, err);
}

/* Is the dataset read ahead already? */
static bool reads_ahead(const leat_dataset *dataset) {
    /* Options have no elements of their own; what stands below decides. */
    while (dataset->op == &leati_op_with_options)
        dataset = dataset->inputs[0];
    return dataset->op->reads_ahead != NULL && dataset->op->reads_ahead(dataset);
}

leat_dataset *leati_distributed_share(void *dataset, const leati_feed_place *place,
                                      leat_error *err) {
    const leat_distributed_dataset *d = dataset;
    int64_t buffer = d->options.per_replica_buffer_size;
    if (d->dataset == NULL) {
        leat_dataset *batches = batches_of(d, place, err);
        bool ahead = buffer > 0 && leati_planner_all_replicas(place) > 1;
        return batches == NULL || !ahead || reads_ahead(batches)
                   ? batches
                   : leat_dataset_prefetch(batches, buffer * place->replicas, err);
    }
    leat_dataset *share =
        leati_planner_share(d->dataset, d->plan.policy, place->num_workers, place->worker, err);
    return share == NULL || leati_planner_all_replicas(place) == 1 || buffer == 0 ||
                   reads_ahead(share)
               ? share
               : leat_dataset_prefetch(share, buffer, err);
}

/* ---- agreement ---- */

/* What a worker distributes: a dataset, or (NULL) what its function makes, of which the elements
 * alone are compared. So they are under OFF: readers and seeds are then meant to differ. */
struct given {
    const leat_dataset *dataset;
    int policy; /* as asked for */
    const leat_spec *spec;
};

static void list_given(const void *context, leati_agreement_list *list) {
    const struct given *given = context;
    bool by_function = given->dataset == NULL;
    char text[512];
    int64_t seed = 0;
    leati_agreement_add_text(list, "the autoshard policy",
                             by_function ? "that of a dataset function"
                                         : leati_planner_policy_name(given->policy));
    if (!by_function && given->policy != LEAT_SHARD_OFF) {
        /* First, because the seeds of operations inside of functions follow from it. */
        if (leati_random_global_seed(&seed))
            leati_agreement_add_int(list, "the global random seed", seed);
        else
            leati_agreement_add_text(list, "the global random seed", "none");
        leati_plan_list_add(list, given->dataset);
    }
    leat_spec_print(given->spec, text, sizeof(text));
    leati_agreement_add_text(list, "the elements' structure", text);
}

/* Do all workers distribute the same? Before anything else is exchanged, since what that is depends
 * on what is distributed. */
static leat_status compare(const leat_strategy *strategy, const struct given *given,
                           leat_error *err) {
    return leati_agreement_compare(
        strategy, "the distributed dataset", list_given, given,
        "make it equal on all workers, or give each its own by distribute_datasets_from_function",
        err);
}

/* The same of a caller's arguments. */
static leat_status compare_dataset(const leat_strategy *strategy, const leat_dataset *dataset,
                                   const leat_strategy_distribute_options *options,
                                   leat_error *err) {
    leat_strategy_distribute_options own = {LEAT_STRATEGY_DISTRIBUTE_DEFAULTS};
    LEATI_TRY(LEATI_OPTIONS(leat_strategy_distribute_options, &own, options, err));
    /* Options that are wrong are refused behind this. */
    if ((unsigned)own.auto_shard_policy > LEAT_SHARD_OFF)
        return LEAT_OK;
    const struct given given = {
        .dataset = dataset, .policy = (int)own.auto_shard_policy, .spec = dataset->spec};
    return compare(strategy, &given, err);
}

/* ---- life ---- */

static void distributed_free(leat_object *object) {
    leat_distributed_dataset *d = (leat_distributed_dataset *)object;
    for (int f = 0; d->made != NULL && f < d->num_feeds; f++)
        leat_dataset_unref(d->made[f]);
    leati_free(d->made);
    leat_dataset_unref(d->dataset);
    leati_planner_split_fini(&d->plan);
    if (d->release != NULL)
        d->release(d->context);
    leat_strategy_unref(d->strategy);
    leati_free(d);
}

static const leati_object_type distributed_type = {.name = "distributed dataset",
                                                   .free = distributed_free};

static leat_distributed_dataset *allocate(const leati_membership *member, bool by_function,
                                          const leat_strategy_distribute_options *options,
                                          leat_error *err) {
    leat_strategy_distribute_options own;
    leat_iterator_options iterator;
    if (read_options(member, by_function, options, &own, &iterator, err) != LEAT_OK)
        return NULL;
    leat_distributed_dataset *d = leati_alloc_zero(1, sizeof(*d));
    if (d == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    leati_object_init(&d->object, &distributed_type);
    d->member = *member;
    d->options = own;
    d->iterator = iterator;
    d->num_feeds = own.replication == LEAT_INPUT_PER_REPLICA ? member->replicas : 1;
    return d;
}

void leat_distributed_dataset_free(leat_distributed_dataset *dataset) {
    leati_object_unref(dataset);
}

static leat_distributed_dataset *failed(leat_distributed_dataset *d, const leat_error *why,
                                        leat_error *err) {
    leat_distributed_dataset_free(d);
    *err = *why;
    return NULL;
}

/* Workers that take their parts of the same rows must see them in one order. */
static leat_dataset *one_order(leat_dataset *dataset, const leati_membership *member,
                               leat_auto_shard_policy policy, leat_error *err) {
    bool alone = member->num_workers == 1 || member->others.exchange == NULL;
    /* With OFF each worker reads what it likes, in an order of its own. */
    return alone || policy == LEAT_SHARD_OFF ? dataset : leati_draws_share(dataset, member, err);
}

/* Where files cannot be dealt out all workers read everything, for a reason that users can often
 * remove. One worker says so for all, asked or not. */
static void tell_policy(const leat_distributed_dataset *d) {
    const leati_feed_place *place = &d->plan.place;
    /* Logged and not only told, since reading everything on each worker may cost much. */
    if (d->options.auto_shard_policy == LEAT_SHARD_AUTO && d->plan.policy == LEAT_SHARD_DATA &&
        place->num_workers > 1 && place->worker == 0)
        leati_log(LEAT_LOG_INFO, "%s", d->plan.text);
    else
        LEATI_TELL(DIST, INFO, "%s", d->plan.text);
}

leat_distributed_dataset *
leati_distributed_from_dataset(const leati_membership *member, leat_dataset *dataset,
                               const leat_strategy_distribute_options *options, leat_error *err) {
    leat_error local = {0};
    leat_distributed_dataset *d = allocate(member, false, options, &local);
    if (d == NULL) {
        leat_dataset_unref(dataset);
        return failed(d, &local, err);
    }
    d->dataset = one_order(dataset, member, d->options.auto_shard_policy, &local);
    if (d->dataset == NULL)
        return failed(d, &local, err);
    /* It may be another plan now, with the seeds of worker 0. */
    dataset = d->dataset;
    d->cardinality = dataset->cardinality;
    leati_feed_place place = leati_distributed_place(d, 0);
    if (leati_planner_split(dataset, &place, d->options.auto_shard_policy, &d->plan, &local) !=
        LEAT_OK)
        return failed(d, &local, err);
    d->plan.fill = d->plan.fill && !member->drops_partial;
    tell_policy(d);
    return d;
}

/* Has the function made datasets of one spec? */
static leat_status make_all(leat_distributed_dataset *d, leat_dataset *given, leat_error *err) {
    d->made = leati_alloc_zero((size_t)d->num_feeds, sizeof(leat_dataset *));
    if (d->made == NULL) {
        leat_dataset_unref(given);
        return leati_no_memory(err);
    }
    /* NULL where a function makes them all. */
    d->made[0] = given;
    for (int f = 0; f < d->num_feeds; f++) {
        leati_feed_place place = leati_distributed_place(d, f);
        if (d->made[f] == NULL)
            d->made[f] = call_function(d, &place, err);
        if (d->made[f] == NULL)
            return err->code;
        /* A step has one spec for all replicas. */
        if (!leat_spec_equal(d->made[f]->spec, d->made[0]->spec)) {
            char texts[2][160];
            leat_spec_print(d->made[0]->spec, texts[0], sizeof(texts[0]));
            leat_spec_print(d->made[f]->spec, texts[1], sizeof(texts[1]));
            return leati_refuse(err, STRUCTURE,
                                "the dataset function made elements of %s for pipeline 0 and of %s "
                                "for pipeline %d; make one kind",
                                texts[0], texts[1], f);
        }
    }
    return LEAT_OK;
}

leat_distributed_dataset *
leati_distributed_from_function(const leati_membership *member, leat_dataset *dataset,
                                leat_dataset_function function, void *context,
                                void (*release)(void *context),
                                const leat_strategy_distribute_options *options, leat_error *err) {
    leat_error local = {0};
    leat_distributed_dataset *d = allocate(member, true, options, &local);
    if (d == NULL) {
        leat_dataset_unref(dataset);
        if (release != NULL)
            release(context);
        return failed(d, &local, err);
    }
    d->function = function;
    d->context = context;
    d->release = release;
    leati_feed_place place = leati_distributed_place(d, 0);
    if (make_all(d, dataset, &local) != LEAT_OK ||
        leati_planner_as_is(d->made[0], &place, &d->plan, &local) != LEAT_OK)
        return failed(d, &local, err);
    d->cardinality = d->made[0]->cardinality;
    d->plan.fill = d->plan.fill && !member->drops_partial;
    LEATI_TELL(DIST, INFO, "%s", d->plan.text);
    return d;
}

/* ---- under a strategy ---- */

static leat_status exchange(void *strategy, const int64_t *mine, int count, int64_t *out,
                            leat_error *err) {
    return leat_strategy_exchange(strategy, mine, count, out, err);
}

static void abort_job(void *strategy, const char *text) {
    leat_strategy_abort(strategy, text);
}

static void reading(void *strategy, leati_stage_writer stage, void *input) {
    leati_strategy_reading(strategy, stage, input);
}

static leati_membership membership(leat_strategy *strategy) {
    return (leati_membership){
        .num_workers = leat_strategy_num_workers(strategy),
        .worker = leat_strategy_worker(strategy),
        .replicas = leat_strategy_num_local_replicas(strategy),
        .per_replica_ok = strategy->kind->input_per_replica,
        .drops_partial = strategy->kind->drops_partial,
        .others = {
            .context = strategy, .exchange = exchange, .abort = abort_job, .reading = reading}};
}

/* Is something missing? Then `dataset` (given) is released. */
static bool is_missing(const char *where, const leat_strategy *strategy, leat_dataset *dataset,
                       bool needs_dataset, leat_error *err) {
    bool no_dataset = needs_dataset && dataset == NULL;
    if (strategy != NULL && !no_dataset)
        return false;
    /* A dataset that is NULL because making it failed has left its reason in `err`. */
    if (!no_dataset || err->code == LEAT_OK) {
        leati_refuse(err, VALUE, "%s: %s is NULL", where,
                     strategy == NULL ? "strategy" : "dataset");
    }
    leat_dataset_unref(dataset);
    return true;
}

/* Keeps the strategy alive. */
static leat_distributed_dataset *under(leat_strategy *strategy, leat_distributed_dataset *d) {
    if (d != NULL)
        d->strategy = leat_strategy_ref(strategy);
    return d;
}

/* Of batches that a function made the others are asked when they are there. */
static leat_distributed_dataset *under_compared(leat_strategy *strategy,
                                                leat_distributed_dataset *d, leat_error *err) {
    leat_error local = {0};
    if (d == NULL)
        return NULL;
    const struct given given = {.spec = d->plan.spec};
    bool same = compare(strategy, &given, &local) == LEAT_OK;
    return same ? under(strategy, d) : failed(d, &local, err);
}

/* Says once that rows which shuffling finds in a batch meet in every epoch. */
static void warn_of_shuffled_batches(const leat_dataset *dataset) {
    static int logged;
    bool shuffled = false;
    for (; dataset != NULL && dataset->num_inputs > 0; dataset = dataset->inputs[0]) {
        /* An operator that takes batches apart (unbatch): what is shuffled above it are rows. */
        if (dataset->op->batches == LEATI_BATCHES_APART)
            return;
        if (shuffled && dataset->op->batches == LEATI_BATCHES_ROWS) {
            leati_log_once(&logged, LEAT_LOG_WARNING,
                           "the dataset is shuffled after it was batched, so that only the order "
                           "of the batches changes and the same rows meet in every epoch; shuffle "
                           "first, then batch");
            return;
        }
        shuffled = shuffled || dataset->op->flow == LEATI_REORDERS;
    }
}

leat_distributed_dataset *
leat_strategy_distribute_dataset(leat_strategy *strategy, leat_dataset *dataset,
                                 const leat_strategy_distribute_options *options, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    if (is_missing("leat_strategy_distribute_dataset", strategy, dataset, true, err))
        return NULL;
    warn_of_shuffled_batches(dataset);
    leati_membership member = membership(strategy);
    if (compare_dataset(strategy, dataset, options, err) != LEAT_OK) {
        leat_dataset_unref(dataset);
        return NULL;
    }
    return under(strategy, leati_distributed_from_dataset(&member, dataset, options, err));
}

leat_distributed_dataset *
leat_strategy_distribute_replica_batches(leat_strategy *strategy, leat_dataset *dataset,
                                         const leat_strategy_distribute_options *options,
                                         leat_error *err) {
    LEATI_ERROR_DOOR(err);
    if (is_missing("leat_strategy_distribute_replica_batches", strategy, dataset, true, err))
        return NULL;
    leati_membership member = membership(strategy);
    member.per_replica_ok = false; /* one dataset is for one pipeline */
    return under_compared(
        strategy, leati_distributed_from_function(&member, dataset, NULL, NULL, NULL, options, err),
        err);
}

leat_distributed_dataset *leat_strategy_distribute_datasets_from_function(
    leat_strategy *strategy, leat_dataset_function function, void *context,
    void (*release)(void *context), const leat_strategy_distribute_options *options,
    leat_error *err) {
    LEATI_ERROR_DOOR(err);
    if (strategy == NULL || function == NULL) {
        leati_refuse(err, VALUE, "leat_strategy_distribute_datasets_from_function: %s is NULL",
                     strategy == NULL ? "strategy" : "function");
        if (release != NULL)
            release(context);
        return NULL;
    }
    leati_membership member = membership(strategy);
    return under_compared(
        strategy,
        leati_distributed_from_function(&member, NULL, function, context, release, options, err),
        err);
}

int64_t leat_distributed_dataset_cardinality(const leat_distributed_dataset *dataset) {
    return dataset == NULL ? LEAT_UNKNOWN_CARDINALITY : dataset->cardinality;
}

const char *leat_distributed_dataset_describe(const leat_distributed_dataset *dataset) {
    return dataset == NULL ? "" : dataset->plan.text;
}

const leat_spec *leat_distributed_dataset_spec(const leat_distributed_dataset *dataset) {
    return dataset == NULL ? NULL : dataset->plan.spec;
}
