/* Operator records of an iterator: opening, the protocol's calls with their bookkeeping, closing.
 *
 * Happy path: leati_state_node_open allocates record and state and calls the operator's open, which
 * opens its inputs; leati_state_node_pull times the operator's pull, counts outcomes and keeps END
 * sticky. A failure of open closes what was opened. A driver's thread may pull one subtree while
 * another thread reads counters: those are atomics, and the lists of children change only under
 * `tree_lock`, which is a leaf: nothing is called while it is held. */
#include "data/run/state.h"
#include "base/clock.h"
#include "base/fork.h"
#include "base/hash.h"
#include "base/minmax.h"
#include "data/plan/seed_generator.h"
#include "data/run/origins.h"
#include "data/run/own.h"
#include "data/run/slots.h"
#include "exec/program.h"
#include "run/trace.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static pthread_mutex_t tree_lock = PTHREAD_MUTEX_INITIALIZER;
LEATI_FORK_LOCK(trees, &tree_lock);

/* Nanoseconds that the calling thread spent in pulls of operators below the running one. */
static _Thread_local int64_t time_below;

void leati_state_tree_lock(void) {
    pthread_mutex_lock(&tree_lock);
}

void leati_state_tree_unlock(void) {
    pthread_mutex_unlock(&tree_lock);
}

static void link_node(leati_node_state *node) {
    if (node->parent == NULL)
        return;
    leati_state_tree_lock();
    leati_node_state **last = &node->parent->children;
    /* Appended, so that tables show the inputs in their order. */
    while (*last != NULL)
        last = &(*last)->sibling;
    *last = node;
    leati_state_tree_unlock();
}

static void unlink_node(leati_node_state *node) {
    if (node->parent == NULL)
        return;
    leati_state_tree_lock();
    leati_node_state **at = &node->parent->children;
    while (*at != NULL && *at != node)
        at = &(*at)->sibling;
    if (*at == node)
        *at = node->sibling;
    int64_t untold = leati_counter_get(&node->counters.busy_ns) - node->told_ns;
    node->parent->gone_ns += node->gone_ns + (untold > 0 ? untold : 0);
    leati_state_tree_unlock();
}

void leati_state_node_init(leati_node_state *node, const leat_dataset *dataset,
                           leati_iteration *iteration, leati_node_state *parent) {
    node->dataset = leat_dataset_ref((leat_dataset *)dataset);
    node->iteration = iteration;
    node->parent = parent;
    node->depth = parent == NULL ? 0 : parent->depth + 1;
    if (dataset->label != NULL)
        snprintf(node->name, sizeof(node->name), "%s \"%s\"", dataset->op->name, dataset->label);
    else
        snprintf(node->name, sizeof(node->name), "%s", dataset->op->name);
    node->gives_origins = leati_origins_wanted(node);
    /* The name first, which the holder borrows; linked last, when all that others read is there. */
    leati_budget_holder_open(&node->holder, iteration->budget, node->name);
    link_node(node);
}

void leati_state_node_fini(leati_node_state *node) {
    unlink_node(node);
    leati_budget_holder_close(&node->holder);
    leat_dataset_unref((leat_dataset *)node->dataset);
}

leati_node_state *leati_state_node_open(const leat_dataset *dataset, leati_iteration *iteration,
                                        leati_node_state *parent, leat_error *err) {
    if (dataset->op->expand != NULL) {
        leat_dataset *plan = dataset->op->expand(dataset, err);
        leati_node_state *made =
            plan == NULL ? NULL : leati_state_node_open(plan, iteration, parent, err);
        leat_dataset_unref(plan);
        return made;
    }
    leati_node_state *node = leati_alloc_zero(1, sizeof(*node));
    void *state = leati_alloc_zero(1, dataset->op->state_size);
    if (node == NULL || state == NULL) {
        leati_free(node);
        leati_free(state);
        leati_no_memory(err);
        return NULL;
    }
    node->state = state;
    leati_state_node_init(node, dataset, iteration, parent);
    leat_error local = {0};
    if (leati_slots_open(node, &local) != LEAT_OK) {
        *err = local;
        leati_state_node_close(node);
        return NULL;
    }
    return node;
}

void leati_state_node_close(leati_node_state *node) {
    if (node == NULL)
        return;
    leati_slots_close(node);
    leati_state_node_fini(node);
    leati_free(node->state);
    leati_free(node);
}

/* An error that ends all reading is no element's. */
static void place_error(const leati_node_state *node, int64_t element, leat_error *err) {
    if (err->code != LEAT_CANCELLED && err->code != LEAT_DEADLINE_EXCEEDED)
        leati_error_at_operator(err, node->name, element);
}

/* Makes up for a reset that failed, for example without memory. */
static leat_status renew(leati_node_state *node, leat_error *err) {
    return node->stale ? leati_state_node_reset(node, err) : LEAT_OK;
}

leati_tail leati_state_node_pull(leati_node_state *node, int64_t want, leati_block *out,
                                 leat_error *err) {
    if (node->ended) {
        leati_block_clear(out);
        return LEATI_END;
    }
    if (renew(node, err) != LEAT_OK) {
        leati_block_clear(out);
        return LEATI_ERROR;
    }
    leati_stop_scope before = leati_cancel_enter(node->iteration->cancel);
    if (leati_stop_look_often()) {
        leati_stop_leave(before);
        leati_block_clear(out);
        leati_fail(err, LEAT_CANCELLED, "%s: the iterator was cancelled", node->name);
        return LEATI_ERROR;
    }
    int64_t outer = time_below;
    time_below = 0;
    int64_t waited = leati_counter_get(&node->counters.waiting_ns);
    leati_span span = leati_trace_begin();
    int64_t start = leati_now_ns();
    /* For explain, which otherwise knew nothing of a pull that never ends. */
    leati_counter_set(&node->counters.since_ns, start);
    leati_tail tail = node->dataset->op->pull(node, node->state, want, out, err);
    leati_stop_leave(before);
    int64_t total = leati_now_ns() - start;
    leati_counter_set(&node->counters.since_ns, 0);
    leati_trace_end(span, "pull", node->name);
    waited = leati_counter_get(&node->counters.waiting_ns) - waited;
    /* The operator's own time: without the inputs', and without what it waited. */
    int64_t own = total - time_below - waited;
    leati_counter_add(&node->counters.busy_ns, LEATI_MAX(own, 0));
    /* All of this pull is below the operator that asked. */
    time_below = outer + total;
    leati_counter_add(&node->counters.pulls, 1);
    leati_counter_add(&node->counters.elements, out->n);
    if (tail == LEATI_ERROR) {
        leati_counter_add(&node->counters.errors, 1);
        /* The outcome that failed is the one behind the rows. */
        place_error(node, node->position + out->n, err);
    }
    node->position += out->n + (tail == LEATI_ERROR);
    node->ended = tail == LEATI_END;
    return tail;
}

bool leati_state_cannot_fail(const leat_dataset *dataset) {
    bool known = (dataset->op->flags & LEATI_OP_NEVER_FAILS) != 0;
    for (int i = 0; i < dataset->num_inputs && known; i++)
        known = leati_state_cannot_fail(dataset->inputs[i]);
    return known;
}

leati_tail leati_state_node_advance_by_pulling(leati_node_state *node, int64_t n, int64_t *passed,
                                               leat_error *err) {
    leati_block block = {.byte_target = LEATI_BYTE_TARGET};
    leati_tail tail = LEATI_MORE;
    while (*passed < n && tail != LEATI_END) {
        tail = node->dataset->op->pull(node, node->state, n - *passed, &block, err);
        if (tail == LEATI_ERROR && !leati_state_recurs(err))
            break;
        *passed += block.n + (tail == LEATI_ERROR);
    }
    leati_block_fini(&block);
    /* An error among the outcomes was one of those to be passed. */
    return tail == LEATI_ERROR && *passed >= n ? LEATI_MORE : tail;
}

leati_tail leati_state_node_advance(leati_node_state *node, int64_t n, int64_t *passed,
                                    leat_error *err) {
    *passed = 0;
    if (node->ended || n == 0)
        return node->ended ? LEATI_END : LEATI_MORE;
    if (renew(node, err) != LEAT_OK)
        return LEATI_ERROR;
    leati_tail tail = node->dataset->op->advance != NULL
                          ? node->dataset->op->advance(node, node->state, n, passed, err)
                          : leati_state_node_advance_by_pulling(node, n, passed, err);
    node->position += *passed;
    node->ended = tail == LEATI_END;
    return tail;
}

leati_tail leati_state_node_skip(leati_node_state *node, int64_t n, int64_t *skipped,
                                 leat_error *err) {
    *skipped = 0;
    if (node->ended)
        return LEATI_END;
    if (renew(node, err) != LEAT_OK)
        return LEATI_ERROR;
    leati_tail tail = node->dataset->op->skip(node, node->state, n, skipped, err);
    if (tail == LEATI_ERROR) {
        leati_counter_add(&node->counters.errors, 1);
        place_error(node, node->position + *skipped, err);
    }
    node->position += *skipped + (tail == LEATI_ERROR);
    node->ended = tail == LEATI_END;
    return tail;
}

/* ---- seed generators of inputs that are not open ---- */

/* An operator that opens an input late (shuffle) has no state of it to save; but the input will
 * draw from generators that its other iterators share, and a restored operator must draw the same.
 */
static bool is_open(const leati_node_state *node, const leat_dataset *input) {
    const leati_node_state *child = node->children;
    while (child != NULL && child->dataset != input)
        child = child->sibling;
    return child != NULL;
}

struct generators {
    const leati_own *own;
    leati_writer *out; /* one of the two */
    leati_reader *in;
    bool in_step; /* without the inputs that are read ahead of the consumer */
};

static leat_status visit_generators(const leat_dataset *dataset, void *context, leat_error *err) {
    struct generators *g = context;
    leat_status status = LEAT_OK;
    if ((dataset->op->flags & LEATI_OP_SEED_GENERATOR) != 0) {
        leati_seed_generator *generator = leati_own_shared(g->own, dataset, err);
        if (generator == NULL)
            return LEAT_RESOURCE_EXHAUSTED;
        if (g->out != NULL)
            leati_seed_generator_save(generator, g->out);
        else
            status = leati_seed_generator_restore(generator, g->in, err);
    }
    /* What an operator reads ahead has drawn seeds for elements that the consumer has not seen;
     * there the operator's own state holds the seeds. */
    bool ahead =
        g->in_step && dataset->op->reads_ahead != NULL && dataset->op->reads_ahead(dataset);
    for (int i = 0; i < dataset->num_inputs && !ahead && status == LEAT_OK; i++)
        status = visit_generators(dataset->inputs[i], g, err);
    return status == LEAT_OK ? leati_dataset_visit_captured(dataset, visit_generators, g, err)
                             : status;
}

leat_status leati_state_generators_save(const leat_dataset *plan, const leati_own *own,
                                        leati_writer *out, leat_error *err) {
    struct generators g = {.own = own, .out = out, .in_step = true};
    return visit_generators(plan, &g, err);
}

leat_status leati_state_generators_restore(const leat_dataset *plan, const leati_own *own,
                                           leati_reader *in, leat_error *err) {
    struct generators g = {.own = own, .in = in, .in_step = true};
    return visit_generators(plan, &g, err);
}

static leat_status note(const leat_dataset *dataset, void *found, leat_error *err) {
    (void)dataset;
    (void)err;
    *(bool *)found = true;
    return LEAT_OK;
}

/* One more than the number of each such input, then its generators. What the node's functions hold
 * follows like an input behind the last one: its generators stand where the calls so far have left
 * them, which may be ahead of the consumer. 0 ends the list. */
static leat_status save_unopened(const leati_node_state *node, leati_writer *out, leat_error *err) {
    const leat_dataset *dataset = node->dataset;
    leat_status status = LEAT_OK;
    /* Where all below is pure there is no generator that iterators share. */
    for (int i = 0; i < dataset->num_inputs && !dataset->pure && status == LEAT_OK; i++) {
        if (!dataset->inputs[i]->pure && !is_open(node, dataset->inputs[i])) {
            leati_put_uint(out, (uint64_t)i + 1);
            struct generators g = {.own = node->iteration->own, .out = out};
            status = visit_generators(dataset->inputs[i], &g, err);
        }
    }
    bool captures = false;
    if (status == LEAT_OK)
        status = leati_dataset_visit_captured(dataset, note, &captures, err);
    if (captures && status == LEAT_OK) {
        leati_put_uint(out, (uint64_t)dataset->num_inputs + 1);
        struct generators g = {.own = node->iteration->own, .out = out};
        status = leati_dataset_visit_captured(dataset, visit_generators, &g, err);
    }
    leati_put_uint(out, 0);
    return status;
}

static leat_status restore_unopened(const leati_node_state *node, leati_reader *in,
                                    leat_error *err) {
    const leat_dataset *dataset = node->dataset;
    for (;;) {
        uint64_t number = 0;
        leat_status status = leati_get_uint(in, &number, err);
        if (status != LEAT_OK || number == 0)
            return status;
        if (number > (uint64_t)dataset->num_inputs + 1) {
            return leati_fail(err, LEAT_DATA_LOSS, "a saved input of number %llu; there are %d",
                              (unsigned long long)number, dataset->num_inputs);
        }
        struct generators g = {.own = node->iteration->own, .in = in};
        status = number > (uint64_t)dataset->num_inputs
                     ? leati_dataset_visit_captured(dataset, visit_generators, &g, err)
                     : visit_generators(dataset->inputs[number - 1], &g, err);
        if (status != LEAT_OK)
            return status;
    }
}

leat_status leati_state_node_save(leati_node_state *node, leati_writer *out, leati_save_cost *cost,
                                  leat_error *err) {
    leat_status status = renew(node, err);
    if (status != LEAT_OK)
        return status;
    leati_put_uint(out, node->ended ? 1 : 0);
    leati_put_int(out, node->position);
    status = save_unopened(node, out, err);
    if (status == LEAT_OK)
        status = leati_slots_save(node, out, cost, err);
    if (status == LEAT_OK && out->failed)
        return leati_no_memory(err);
    return status;
}

leat_status leati_state_node_restore(leati_node_state *node, leati_reader *in, leat_error *err) {
    uint64_t ended = 0;
    leat_status status = leati_get_uint(in, &ended, err);
    if (status == LEAT_OK)
        status = leati_get_int(in, &node->position, err);
    if (status != LEAT_OK)
        return leati_prefix(err, "%s", node->name);
    node->ended = ended != 0;
    status = restore_unopened(node, in, err);
    return status == LEAT_OK ? leati_slots_restore(node, in, err)
                             : leati_prefix(err, "%s", node->name);
}

leat_status leati_state_node_reset(leati_node_state *node, leat_error *err) {
    node->ended = false;
    node->position = 0;
    leat_status status = leati_slots_reset(node, err);
    node->stale = status != LEAT_OK;
    return status;
}

void leati_state_iteration_derive(const leati_iteration *from, uint64_t ordinal,
                                  leati_iteration *out) {
    *out = *from;
    out->inline_only = true;
    out->root = NULL;
    /* What is made for one element is gone before a trial would end. */
    out->tuner = NULL;
    out->scope = leati_hash(&ordinal, sizeof(ordinal), from->scope);
}

leati_call_context leati_state_node_context(const leati_node_state *node, int64_t ordinal) {
    return (leati_call_context){.scope = node->iteration->scope,
                                .ordinal = ordinal,
                                .cancel = node->iteration->cancel,
                                .own = node->iteration->own,
                                .num_replicas = 1,
                                .quality = node->iteration->quality};
}
