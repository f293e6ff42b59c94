/* Iterators: the top of the tree of states, one element at a time for its owner.
 *
 * Happy path: leat_iterator_new applies the rewrites, opens the tree; next hands out the rows of
 * the root's blocks. The root asks a pure plan for more elements than one while that is cheap (the
 * number follows measured time, the elements do not depend on it). One thread uses an iterator at a
 * time; leat_iterator_cancel alone comes from any thread. */
#include "data/run/iterator.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/minmax.h"
#include "data/plan/options.h"
#include "data/plan/seed_generator.h"
#include "data/rewrites/rewrite.h"
#include "data/run/apply.h"
#include "data/run/autotune.h"
#include "data/run/explain.h"
#include "data/run/input.h"
#include "data/run/metrics.h"
#include "data/run/origins.h"
#include "run/queue.h"
#include <string.h>

struct leat_iterator {
    leati_iteration iteration;
    leati_node_state top; /* stands above the root: what leati_input needs of a reader */
    leati_input input;
    leat_dataset *dataset;   /* as the user built it: its fingerprint guards states */
    leat_dataset *rewritten; /* as it runs */
    leati_pool *own_pool;
    int64_t want;
    int64_t deadline_ms;
    int64_t taken;
    int64_t state_policy; /* leati_state_policy, or LEATI_OPTION_NOT_SET */
    bool broken;          /* a restore failed half way */
};

/* Below QUICK_NS a pull costs more in calls than in work; above SLOW_NS it keeps the user
 * waiting. */
enum { MOST_WANTED = 4096, QUICK_NS = 100 * 1000, SLOW_NS = 1000 * 1000 };

/* The number of threads of a pool of the iterator's own; 0: it uses the shared one. */
static int own_threads(const leat_dataset *dataset, const leat_iterator_options *options) {
    /* The iterator's own option counts before the plan's, where 0 means all cores. */
    int64_t asked = leati_plan_number(dataset, "threading.private_threadpool_size");
    if (options->num_threads > 0 || asked == LEATI_OPTION_NOT_SET)
        return options->num_threads;
    return asked > 0 ? (int)asked : leati_pool_num_cores();
}

/* What the plan's options leave to autotune. */
static void read_tuning(const leat_dataset *dataset, const leat_iterator_options *options,
                        leati_iteration *iteration) {
    iteration->autotune = options->autotune && leati_plan_option(dataset, "autotune.enabled") != 0;
    leati_tuning *tuning = &iteration->tuning;
    tuning->memory = leati_plan_number(dataset, "autotune.ram_budget");
    tuning->start = leati_plan_number(dataset, "autotune.initial_parallelism");
    tuning->least = leati_plan_number(dataset, "autotune.min_parallelism");
}

/* `around` (may be NULL) cancels the iterator, too. */
static leat_status open_iteration(leat_iterator *iterator, const leat_iterator_options *options,
                                  leat_cancel *around, leat_error *err) {
    leati_iteration *iteration = &iterator->iteration;
    iteration->deadline_ns = LEATI_NO_DEADLINE;
    iteration->started_ns = leati_now_ns();
    iteration->root = &iterator->top;
    iteration->verify = options->verify;
    iteration->verify_seed = options->verify_seed;
    read_tuning(iterator->dataset, options, iteration);
    int threads = own_threads(iterator->dataset, options);
    if (threads > 0) {
        iterator->own_pool = leati_pool_new(threads, err);
        iteration->pool = iterator->own_pool;
    } else {
        iteration->pool = leati_pool_shared(err);
    }
    if (iteration->pool == NULL)
        return err->code;
    iteration->cancel = leati_cancel_new(around, err);
    if (iteration->cancel == NULL)
        return err->code;
    int64_t cpus = leati_plan_number(iterator->dataset, "autotune.cpu_budget");
    int most = leati_pool_size(iteration->pool);
    iteration->budget = leati_budget_new((size_t)LEATI_MAX(0, options->memory_limit),
                                         cpus > 0 && cpus < most ? (int)cpus : most, err);
    if (iteration->budget == NULL)
        return err->code;
    iteration->origins = leati_origins_new(err);
    return iteration->origins == NULL ? err->code : LEAT_OK;
}

static leat_status open_tree(leat_iterator *iterator, const leat_iterator_options *options,
                             leat_error *err) {
    iterator->rewritten =
        options->rewrites ? leati_rewrite(iterator->dataset, !iterator->iteration.inline_only, err)
                          : leat_dataset_ref(iterator->dataset);
    if (iterator->rewritten == NULL)
        return err->code;
    iterator->top.dataset = iterator->rewritten;
    iterator->top.iteration = &iterator->iteration;
    leat_status status =
        iterator->iteration.autotune ? leati_autotune_start(&iterator->iteration, err) : LEAT_OK;
    return status != LEAT_OK
               ? status
               : leati_input_open_dataset(&iterator->input, &iterator->top, iterator->rewritten,
                                          &iterator->iteration, err);
}

/* `inside` is the function's call that makes it, NULL: a user does. */
static leat_iterator *iterator_new(leat_dataset *dataset, const leat_iterator_options *options,
                                   const leati_call_context *inside, leat_error *err) {
    leat_iterator *iterator = leati_alloc_zero(1, sizeof(*iterator));
    if (iterator == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    iterator->dataset = leat_dataset_ref(dataset);
    iterator->want = 1;
    iterator->state_policy = leati_plan_number(dataset, "experimental_external_state_policy");
    iterator->iteration.quality = leati_plan_quality(dataset);
    iterator->deadline_ms = options->deadline_ms;
    /* Tasks may not wait, so the dataset runs on their thread; the scope gives each call random
     * numbers of its own. */
    if (inside != NULL && !inside->may_wait) {
        uint64_t key[2] = {inside->path, (uint64_t)inside->ordinal};
        iterator->iteration.inline_only = true;
        iterator->iteration.scope = leati_hash(key, sizeof(key), inside->scope);
    }
    leat_error fresh = {0};
    if (open_iteration(iterator, options, inside != NULL ? inside->cancel : NULL, &fresh) !=
            LEAT_OK ||
        open_tree(iterator, options, &fresh) != LEAT_OK) {
        *err = fresh;
        leat_iterator_free(iterator);
        return NULL;
    }
    return iterator;
}

leat_iterator *leat_iterator_new(leat_dataset *dataset, const leat_iterator_options *options,
                                 leat_error *err) {
    LEATI_ERROR_DOOR(err);
    if (dataset == NULL) {
        if (err->code == LEAT_OK)
            leati_refuse(err, VALUE, "leat_iterator_new: dataset is NULL; pass a dataset");
        return NULL;
    }
    leat_iterator_options o = {LEAT_ITERATOR_DEFAULTS};
    if (LEATI_OPTIONS(leat_iterator_options, &o, options, err) != LEAT_OK)
        return NULL;
    if (o.num_threads < 0 || o.memory_limit == 0 || o.memory_limit < LEAT_UNLIMITED ||
        o.deadline_ms < LEAT_UNLIMITED) {
        leati_refuse(err, VALUE,
                     "leat_iterator_new: num_threads %d, memory_limit %lld, deadline_ms %lld; "
                     "expected num_threads and deadline_ms of at least 0, memory_limit of at least "
                     "1, or LEAT_UNLIMITED (-1) for one of these two",
                     o.num_threads, (long long)o.memory_limit, (long long)o.deadline_ms);
        return NULL;
    }
    return iterator_new(dataset, &o, NULL, err);
}

leat_status leati_iterator_inside(leat_dataset *dataset, const leati_call_context *context,
                                  leat_iterator **out, leat_error *err) {
    leat_error local = {0};
    leat_iterator_options options = {LEAT_ITERATOR_DEFAULTS};
    options.rewrites = context->may_wait;
    options.autotune = context->may_wait;
    *out = iterator_new(dataset, &options, context, &local);
    if (*out == NULL)
        *err = local;
    return *out == NULL ? local.code : LEAT_OK;
}

void leat_iterator_cancel(leat_iterator *iterator) {
    leati_cancel_fire(iterator->iteration.cancel);
}

void leat_iterator_free(leat_iterator *iterator) {
    if (iterator == NULL)
        return;
    /* Wakes whoever still waits below, so that closing ends soon. */
    if (iterator->iteration.cancel != NULL)
        leati_cancel_fire(iterator->iteration.cancel);
    /* Before the tree closes, because its thread walks the operators' knobs. */
    leati_autotune_stop(&iterator->iteration);
    leati_input_close(&iterator->input);
    leati_autotune_free(&iterator->iteration);
    leat_buffer_unref(iterator->iteration.origins);
    leati_budget_unref(iterator->iteration.budget);
    leati_cancel_unref(iterator->iteration.cancel);
    leati_pool_free(iterator->own_pool);
    leat_dataset_unref(iterator->rewritten);
    leat_dataset_unref(iterator->dataset);
    leati_free(iterator);
}

/* Asks for more next time if the last pull was cheap, for less if it was dear. */
static void adapt(leat_iterator *iterator, int64_t spent_ns) {
    if (spent_ns < QUICK_NS && iterator->want < MOST_WANTED)
        iterator->want *= 2;
    else if (spent_ns > SLOW_NS && iterator->want > 1)
        iterator->want /= 2;
}

leati_tail leati_iterator_peek(leat_iterator *iterator, int64_t *available, leat_error *err) {
    /* For rows at hand no clock is read. */
    bool ready = iterator->input.loaded && iterator->input.consumed < iterator->input.block.n;
    if (ready)
        return leati_input_peek(&iterator->input, 1, NULL, available, err);
    iterator->iteration.deadline_ns = leati_clock_deadline_ns(iterator->deadline_ms);
    int64_t start = leati_now_ns();
    /* What is impure is asked for no more than the user will get. */
    int64_t want = leati_input_pure(&iterator->input) ? iterator->want : 1;
    leati_tail tail = leati_input_peek(&iterator->input, want, NULL, available, err);
    int64_t spent = leati_now_ns() - start;
    leati_counter_add(&iterator->top.counters.busy_ns, spent);
    adapt(iterator, spent);
    return tail;
}

const leati_block *leati_iterator_block(const leat_iterator *iterator, int64_t *begin) {
    *begin = leati_input_begin(&iterator->input);
    return &iterator->input.block;
}

void leati_iterator_consume(leat_iterator *iterator, int64_t n) {
    leati_input_consume(&iterator->input, n);
    iterator->taken += n;
}

void leati_iterator_keep_places(leat_iterator *iterator) {
    iterator->input.snapshots = LEATI_SNAPSHOTS_ALWAYS;
}

/* Adds who waits for what to an error about a deadline. */
static void add_stall_report(leat_error *err) {
    char report[LEAT_ERROR_TEXT] = "";
    leati_queue_stall_report(report, sizeof(report));
    /* One line: the last end goes, the others become commas. */
    for (char *line = report; (line = strchr(line, '\n')) != NULL;)
        *line = line[1] == '\0' ? '\0' : ',';
    if (report[0] != '\0') {
        leat_error plain = *err;
        leati_fail(err, plain.code, "%s; waiting now: %s", plain.text, report);
    }
}

/* A restore that failed half way leaves operators in states that do not fit each other. */
static leat_status check_whole(const leat_iterator *iterator, leat_error *err) {
    return iterator->broken ? leati_fail(err, LEAT_FAILED_PRECONDITION,
                                         "restoring this iterator failed; make a new one")
                            : LEAT_OK;
}

leat_status leati_iterator_ready(leat_iterator *iterator, int64_t *available, leat_error *err) {
    *available = 0;
    if (leati_cancel_fired(iterator->iteration.cancel))
        return leati_fail(err, LEAT_CANCELLED, "the iterator was cancelled");
    LEATI_TRY(check_whole(iterator, err));
    leat_error local = {0};
    leati_tail tail = leati_iterator_peek(iterator, available, &local);
    if (*available > 0)
        return LEAT_OK;
    if (tail == LEATI_END)
        return leati_fail_end(err);
    leati_iterator_consume(iterator, 1);
    if (local.code == LEAT_DEADLINE_EXCEEDED)
        add_stall_report(&local);
    *err = local;
    return local.code;
}

leat_status leat_iterator_next(leat_iterator *iterator, leat_element *out, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    if (iterator == NULL || out == NULL) {
        return leati_refuse(err, VALUE, "leat_iterator_next: %s is NULL",
                            iterator == NULL ? "iterator" : "out");
    }
    leat_element_clear(out);
    int64_t available = 0;
    leat_status status = leati_iterator_ready(iterator, &available, err);
    if (status == LEAT_OK) {
        status = leati_block_element(&iterator->input.block, iterator->dataset->spec,
                                     leati_input_begin(&iterator->input), out, err);
    }
    if (status == LEAT_OK)
        leati_iterator_consume(iterator, 1);
    return status;
}

leat_status leati_iterator_element(leat_iterator *iterator, leat_element *out, bool *ended,
                                   leat_error *err) {
    /* An element may fail with OUT_OF_RANGE, which is not the end. */
    leat_status status = leat_iterator_next(iterator, out, err);
    *ended = status == LEAT_OUT_OF_RANGE && leati_error_is_end(err);
    if (status == LEAT_OK || *ended)
        return LEAT_OK;
    leati_apply_as_internal("an element", err);
    return err->code;
}

/* ---- saving ---- */

static const char magic[4] = {'L', 'E', 'A', 'T'};
/* CHECKSUM_SEED is the same in every version: so a newer state is told from a damaged one. */
enum { STATE_VERSION = 1, CHECKSUM_SEED = 1 };

/* How many inputs are read on the consumer's thread. What an operator reads ahead has drawn seeds
 * for elements that the consumer has not seen; there the operator's own state holds the seeds. */
static int inputs_in_step(const leat_dataset *dataset) {
    bool ahead = dataset->op->reads_ahead != NULL && dataset->op->reads_ahead(dataset);
    return ahead ? 0 : dataset->num_inputs;
}

/* The seed generators of the plan, also of operators that have not been opened yet: a state
 * restored over the same dataset object must draw what the saved iterator was going to draw. */
static leat_status save_generators(const leat_dataset *dataset, void *out, leat_error *err) {
    if ((dataset->op->flags & LEATI_OP_SEED_GENERATOR) != 0) {
        leati_seed_generator *generator = leati_dataset_shared(dataset, err);
        if (generator == NULL)
            return LEAT_RESOURCE_EXHAUSTED;
        leati_seed_generator_save(generator, out);
    }
    leat_status status = LEAT_OK;
    for (int i = 0; i < inputs_in_step(dataset) && status == LEAT_OK; i++)
        status = save_generators(dataset->inputs[i], out, err);
    return status == LEAT_OK ? leati_dataset_visit_captured(dataset, save_generators, out, err)
                             : status;
}

static leat_status restore_generators(const leat_dataset *dataset, void *in, leat_error *err) {
    leat_status status = LEAT_OK;
    if ((dataset->op->flags & LEATI_OP_SEED_GENERATOR) != 0) {
        leati_seed_generator *generator = leati_dataset_shared(dataset, err);
        status = generator == NULL ? LEAT_RESOURCE_EXHAUSTED
                                   : leati_seed_generator_restore(generator, in, err);
    }
    for (int i = 0; i < inputs_in_step(dataset) && status == LEAT_OK; i++)
        status = restore_generators(dataset->inputs[i], in, err);
    return status == LEAT_OK ? leati_dataset_visit_captured(dataset, restore_generators, in, err)
                             : status;
}

/* The first operator of the plan, consumer's end first, with a function that has a state of its
 * own; NULL: none. */
static const leat_dataset *outside_state(const leat_dataset *dataset) {
    const leat_dataset *found = leati_dataset_has_effects(dataset) ? dataset : NULL;
    for (int i = 0; i < dataset->num_inputs && found == NULL; i++)
        found = outside_state(dataset->inputs[i]);
    return found;
}

static leat_status check_outside_state(const leat_iterator *iterator, leat_error *err) {
    static int logged;
    if (iterator->state_policy != LEATI_STATE_FAIL && iterator->state_policy != LEATI_STATE_WARN)
        return LEAT_OK;
    const leat_dataset *stateful = outside_state(iterator->dataset);
    if (stateful == NULL)
        return LEAT_OK;
    if (iterator->state_policy == LEATI_STATE_WARN) {
        leati_log_once(&logged, LEAT_LOG_WARNING,
                       "saving an iterator: what the function of %s keeps outside of the pipeline "
                       "is not part of the state",
                       stateful->op->name);
        return LEAT_OK;
    }
    return leati_fail(
        err, LEAT_FAILED_PRECONDITION,
        "saving an iterator: the function of %s has effects or a random state outside "
        "of the pipeline, which experimental_external_state_policy FAIL forbids; use "
        "WARN or IGNORE if that state may be lost",
        stateful->op->name);
}

static leat_status write_state(leat_iterator *iterator, leati_save_cost *cost, leati_writer *out,
                               leat_error *err) {
    leati_put_bytes(out, magic, sizeof(magic));
    leati_put_uint(out, STATE_VERSION);
    leati_put_fixed64(out, leat_dataset_fingerprint(iterator->dataset));
    /* The state is that of the plan as it runs: other rewrites have other operators. */
    leati_put_fixed64(out, leat_dataset_fingerprint(iterator->rewritten));
    leati_put_int(out, iterator->taken);
    leat_status status = save_generators(iterator->rewritten, out, err);
    if (status == LEAT_OK)
        status = leati_input_save(&iterator->input, out, cost, err);
    leati_put_fixed64(out, leati_hash(out->data, out->size, CHECKSUM_SEED));
    if (status == LEAT_OK && out->failed)
        status = leati_no_memory(err);
    return status;
}

leat_status leat_iterator_save_with(leat_iterator *iterator,
                                    const leat_iterator_save_options *options, char **data,
                                    size_t *size, leat_iterator_save_report *report,
                                    leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_iterator_save_options o = {LEAT_ITERATOR_SAVE_DEFAULTS};
    if (iterator == NULL || data == NULL || size == NULL)
        return leati_refuse(err, VALUE, "leat_iterator_save: an argument is NULL");
    LEATI_TRY(LEATI_OPTIONS(leat_iterator_save_options, &o, options, err));
    if ((unsigned)o.mode > LEAT_SAVE_DATA || o.replay_limit < LEAT_UNLIMITED) {
        return leati_refuse(err, VALUE,
                            "leat_iterator_save: mode is %d and replay_limit %lld; expected a "
                            "leat_iterator_save_mode and 0 or more, or LEAT_UNLIMITED (-1)",
                            (int)o.mode, (long long)o.replay_limit);
    }
    LEATI_TRY(check_whole(iterator, err));
    if (check_outside_state(iterator, err) != LEAT_OK)
        return LEAT_FAILED_PRECONDITION;
    leati_writer out = {0};
    leati_save_cost cost = {.mode = o.mode, .lasting = true};
    leat_status status = write_state(iterator, &cost, &out, err);
    /* What restoring costs is known once the state is written. */
    if (status == LEAT_OK && o.mode == LEAT_SAVE_AUTO && o.replay_limit >= 0 &&
        cost.replay_elements > o.replay_limit) {
        cost = (leati_save_cost){.mode = LEAT_SAVE_DATA, .lasting = true};
        out.size = 0;
        status = write_state(iterator, &cost, &out, err);
    }
    if (status == LEAT_OK && o.mode == LEAT_SAVE_POSITIONS && cost.data_elements > 0) {
        status = leati_fail(err, LEAT_FAILED_PRECONDITION,
                            "leat_iterator_save: %lld elements that operators keep cannot be "
                            "computed again, so positions alone do not do; save with "
                            "LEAT_SAVE_AUTO, or declare the callbacks pure",
                            (long long)cost.data_elements);
    }
    if (status != LEAT_OK) {
        leati_writer_fini(&out);
        return status;
    }
    *data = (char *)out.data;
    *size = out.size;
    if (report != NULL) {
        *report = (leat_iterator_save_report){.bytes = out.size,
                                              .replay_elements = cost.replay_elements,
                                              .data_elements = cost.data_elements};
    }
    return LEAT_OK;
}

leat_status leat_iterator_save(leat_iterator *iterator, char **data, size_t *size,
                               leat_iterator_save_report *report, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    return leat_iterator_save_with(iterator, NULL, data, size, report, err);
}

static leat_status read_header(const leat_iterator *iterator, leati_reader *in, int64_t *taken,
                               leat_error *err) {
    const void *found = NULL;
    size_t size = 0;
    uint64_t version = 0, fingerprint = 0, rewritten = 0;
    leat_status status = leati_get_bytes(in, &found, &size, err);
    if (status != LEAT_OK || size != sizeof(magic) || memcmp(found, magic, size) != 0) {
        return leati_fail(err, LEAT_DATA_LOSS,
                          "not the state of an iterator: expected it to begin with LEAT");
    }
    status = leati_get_uint(in, &version, err);
    if (status == LEAT_OK && version != STATE_VERSION) {
        status = leati_fail(err, LEAT_FAILED_PRECONDITION,
                            "a state of version %llu; this library reads version %d",
                            (unsigned long long)version, STATE_VERSION);
    }
    if (status == LEAT_OK)
        status = leati_get_fixed64(in, &fingerprint, err);
    uint64_t own = leat_dataset_fingerprint(iterator->dataset);
    if (status == LEAT_OK && fingerprint != own) {
        status = leati_fail(err, LEAT_FAILED_PRECONDITION,
                            "the state belongs to another plan (fingerprint %016llx, this dataset "
                            "has %016llx); build the "
                            "dataset with the same operators and arguments",
                            (unsigned long long)fingerprint, (unsigned long long)own);
    }
    if (status == LEAT_OK)
        status = leati_get_fixed64(in, &rewritten, err);
    if (status == LEAT_OK && rewritten != leat_dataset_fingerprint(iterator->rewritten)) {
        status = leati_fail(
            err, LEAT_FAILED_PRECONDITION,
            "the state was saved by an iterator with other rewrites; restore it with the same "
            "rewrites option");
    }
    return status == LEAT_OK ? leati_get_int(in, taken, err) : status;
}

leat_status leat_iterator_restore(leat_iterator *iterator, const char *data, size_t size,
                                  leat_error *err) {
    LEATI_ERROR_DOOR(err);
    if (iterator == NULL || data == NULL)
        return leati_refuse(err, VALUE, "leat_iterator_restore: an argument is NULL");
    if (iterator->taken != 0 || iterator->input.loaded || iterator->input.ended) {
        return leati_fail(
            err, LEAT_FAILED_PRECONDITION,
            "leat_iterator_restore: the iterator has already given elements; restore a new one");
    }
    uint64_t checksum = 0;
    if (size < sizeof(checksum)) {
        return leati_fail(err, LEAT_DATA_LOSS, "a state of %zu bytes; expected at least %zu", size,
                          sizeof(checksum));
    }
    leati_reader tail = {.data = (const uint8_t *)data + size - sizeof(checksum),
                         .size = sizeof(checksum)};
    leat_status status = leati_get_fixed64(&tail, &checksum, err);
    if (status == LEAT_OK && checksum != leati_hash(data, size - sizeof(checksum), CHECKSUM_SEED)) {
        status = leati_fail(err, LEAT_DATA_LOSS,
                            "the state is damaged: its checksum does not fit its %zu bytes", size);
    }
    leati_reader in = {.data = (const uint8_t *)data, .size = size - sizeof(checksum)};
    int64_t taken = 0;
    if (status == LEAT_OK)
        status = read_header(iterator, &in, &taken, err);
    if (status == LEAT_OK)
        /* Before the tree, whose operators may draw from them while they are restored. */
        status = restore_generators(iterator->rewritten, &in, err);
    if (status == LEAT_OK)
        status = leati_input_restore(&iterator->input, &in, err);
    if (status != LEAT_OK && leati_cancel_fired(iterator->iteration.cancel)) {
        /* Elements that do not come again say that, whyever they do not come. */
        status = leati_fail(err, LEAT_CANCELLED, "the iterator was cancelled while restoring");
    }
    if (status == LEAT_OK)
        iterator->taken = taken;
    iterator->broken = status != LEAT_OK;
    return status;
}

char *leat_iterator_explain(const leat_iterator *iterator, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    return leati_explain(&iterator->iteration, &iterator->top, err);
}

void leati_iterator_slowest(const leat_iterator *iterator, char *text, size_t size) {
    leati_explain_slowest_stage(&iterator->iteration, &iterator->top, text, size);
}

char *leat_iterator_metrics(const leat_iterator *iterator, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    const char *name = leati_plan_text(iterator->dataset, "dataset_name");
    return leati_metrics(&iterator->iteration, &iterator->top, name != NULL ? name : "", err);
}
