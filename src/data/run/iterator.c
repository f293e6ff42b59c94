/* Iterators: the top of the tree of states, one element at a time for its owner.
 *
 * Happy path: leat_iterator_new applies the rewrites, opens the tree; next hands out the rows of
 * the root's blocks. The root asks a pure plan for more elements than one while that is cheap (the
 * number follows measured time, the elements do not depend on it). One thread uses an iterator at a
 * time; leat_iterator_cancel alone comes from any thread. */
#include "base/clock.h"
#include "base/hash.h"
#include "base/minmax.h"
#include "data/plan/options.h"
#include "data/rewrites/rewrite.h"
#include "data/run/apply.h"
#include "data/run/autotune.h"
#include "data/run/explain.h"
#include "data/run/input.h"
#include "data/run/iterator_parts.h"
#include "data/run/metrics.h"
#include "data/run/origins.h"
#include "run/queue.h"
#include <string.h>

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
    iterator->cancel = leati_cancel_new(around, err);
    if (iterator->cancel == NULL)
        return err->code;
    if (iterator->dataset->is_local)
        leati_cancel_keep_local(iterator->cancel);
    int64_t cpus = leati_plan_number(iterator->dataset, "autotune.cpu_budget");
    int most = leati_pool_size(iteration->pool);
    iteration->budget = leati_budget_new((size_t)LEATI_MAX(0, options->memory_limit),
                                         cpus > 0 && cpus < most ? (int)cpus : most, err);
    if (iteration->budget == NULL)
        return err->code;
    iteration->origins = leati_origins_new(err);
    return iteration->origins == NULL ? err->code : LEAT_OK;
}

leat_status leati_iterator_open_tree(leat_iterator *iterator, leat_error *err) {
    leati_iteration *iteration = &iterator->iteration;
    iteration->cancel = leati_cancel_new(iterator->cancel, err);
    if (iteration->cancel == NULL)
        return err->code;
    if (iteration->autotune)
        LEATI_TRY(leati_autotune_start(iteration, err));
    leati_stop_scope before = leati_dataset_enter(iterator->dataset);
    leat_status status = leati_input_open_dataset(&iterator->input, &iterator->top,
                                                  iterator->rewritten, iteration, err);
    leati_stop_leave(before);
    iterator->input.snapshots = iterator->snapshots;
    return status;
}

void leati_iterator_close_tree(leat_iterator *iterator) {
    leati_iteration *iteration = &iterator->iteration;
    /* Wakes whoever still waits below, so that closing ends soon. */
    if (iteration->cancel != NULL)
        leati_cancel_fire(iteration->cancel);
    /* Before the tree closes, because its thread walks the operators' knobs. */
    leati_autotune_stop(iteration);
    leati_input_close(&iterator->input);
    leati_autotune_free(iteration);
    leati_cancel_unref(iteration->cancel);
    iteration->cancel = NULL;
}

static leat_status open_plan(leat_iterator *iterator, const leat_iterator_options *options,
                             const leati_call_context *inside, leat_error *err) {
    leati_iteration *iteration = &iterator->iteration;
    iterator->rewritten = options->rewrites
                              ? leati_rewrite(iterator->dataset, !iteration->inline_only, err)
                              : leat_dataset_ref(iterator->dataset);
    if (iterator->rewritten == NULL)
        return err->code;
    iterator->top.dataset = iterator->rewritten;
    iterator->top.iteration = iteration;
    if (inside == NULL) {
        iterator->own = leati_own_new(iterator->rewritten, err);
        if (iterator->own == NULL)
            return LEAT_RESOURCE_EXHAUSTED;
    }
    iteration->own = inside == NULL ? iterator->own : inside->own;
    return leati_iterator_open_tree(iterator, err);
}

/* Where the plan's options or the environment say so, a page shows the iterator while it lives. */
static void show(leat_iterator *iterator) {
    int64_t said = leati_plan_number(iterator->dataset, "watch");
    const char *name = leati_plan_text(iterator->dataset, "dataset_name");
    bool chosen = said != LEATI_OPTION_NOT_SET;
    int port = chosen ? (int)said : 0;
    if (chosen || leati_watch_asked(&port))
        iterator->watch = leati_watch_begin(&iterator->iteration, &iterator->top,
                                            name != NULL ? name : "", port, !chosen);
}

/* `inside` is the function's call that makes it, NULL: a user does. */
static leat_iterator *iterator_new(leat_dataset *dataset, const leat_iterator_options *options,
                                   const leati_call_context *inside,
                                   const leati_iterator_extras *extras, leat_error *err) {
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
    if (extras != NULL) {
        iterator->iteration.splits = extras->splits;
        iterator->iteration.scope = extras->scope;
    }
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
        open_plan(iterator, options, inside, &fresh) != LEAT_OK) {
        *err = fresh;
        leat_iterator_free(iterator);
        return NULL;
    }
    if (inside == NULL)
        show(iterator);
    return iterator;
}

leat_iterator *leat_iterator_new(leat_dataset *dataset, const leat_iterator_options *options,
                                 leat_error *err) {
    LEATI_ERROR_DOOR(err);
    return leati_iterator_new_with(dataset, options, NULL, err);
}

leat_iterator *leati_iterator_new_with(leat_dataset *dataset, const leat_iterator_options *options,
                                       const leati_iterator_extras *extras, leat_error *err) {
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
    return iterator_new(dataset, &o, NULL, extras, err);
}

leat_status leati_iterator_inside(leat_dataset *dataset, const leati_call_context *context,
                                  leat_iterator **out, leat_error *err) {
    leat_error local = {0};
    leat_iterator_options options = {LEAT_ITERATOR_DEFAULTS};
    options.rewrites = context->may_wait;
    options.autotune = context->may_wait;
    *out = iterator_new(dataset, &options, context, NULL, &local);
    if (*out == NULL)
        *err = local;
    return *out == NULL ? local.code : LEAT_OK;
}

void leat_iterator_cancel(leat_iterator *iterator) {
    leati_cancel_fire(iterator->cancel);
}

void leat_iterator_free(leat_iterator *iterator) {
    if (iterator == NULL)
        return;
    leati_watch_end(iterator->watch);
    leati_iterator_close_tree(iterator);
    leat_buffer_unref(iterator->iteration.origins);
    leati_budget_unref(iterator->iteration.budget);
    leati_cancel_unref(iterator->cancel);
    leati_pool_free(iterator->own_pool);
    leati_own_free(iterator->own);
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
    bool more = iterator->alone || leati_input_pure(&iterator->input);
    int64_t want = more ? iterator->want : 1;
    leati_counter_set(&iterator->top.counters.since_ns, start);
    leati_tail tail = leati_input_peek(&iterator->input, want, NULL, available, err);
    leati_counter_set(&iterator->top.counters.since_ns, 0);
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
    iterator->snapshots = iterator->input.snapshots = LEATI_SNAPSHOTS_ALWAYS;
}

void leati_iterator_ask_ahead(leat_iterator *iterator) {
    iterator->alone = true;
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

leat_status leati_iterator_ready(leat_iterator *iterator, int64_t *available, leat_error *err) {
    *available = 0;
    if (leati_cancel_fired(iterator->cancel))
        return leati_fail(err, LEAT_CANCELLED, "the iterator was cancelled");
    LEATI_TRY(leati_iterator_check_whole(iterator, err));
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

char *leat_iterator_explain(const leat_iterator *iterator, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    return leati_explain(&iterator->iteration, &iterator->top, err);
}

void leati_iterator_slowest(const leat_iterator *iterator, char *text, size_t size) {
    leati_explain_slowest_stage(&iterator->iteration, &iterator->top, text, size);
}

void leati_iterator_load(leat_iterator *iterator, leati_load *out) {
    leati_explain_load(&iterator->iteration, &iterator->top, out);
}

char *leat_iterator_metrics(const leat_iterator *iterator, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    const char *name = leati_plan_text(iterator->dataset, "dataset_name");
    return leati_metrics(&iterator->iteration, &iterator->top, name != NULL ? name : "", err);
}
