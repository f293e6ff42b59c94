/* Reading several datasets in turns: see cycle.h.
 *
 * Happy path: a visit to an open slot adds rows of its input's block to the result. Pure inner
 * datasets are asked for their share of what the consumer wants, others only for what the present
 * turn takes. A state is positions: of the input, of the turn, and for each open slot the element
 * it was made from (as data: the input has passed it) and its inner position; restoring calls the
 * function once for each open slot.
 *
 * Failures: those of the input, of the function and of the inner datasets are one outcome each. An
 * element that holds datasets cannot be saved (FAILED_PRECONDITION). No locks. */
#include "data/cycle.h"
#include "data/values.h"

struct leati_slot {
    bool spent;          /* no dataset: its error was delivered, and its turn is still to pass */
    int64_t call;        /* number of the call that made the dataset */
    leati_block element; /* what the function was called on */
    leati_iteration iteration;
    leati_input input;
};

typedef enum visit_mode { VISIT_PULL, VISIT_ADVANCE, VISIT_SKIP } visit_mode;

static void free_slot(leati_slot *slot) {
    if (slot->input.child != NULL) {
        leati_input_close(&slot->input);
    }
    leati_block_fini(&slot->element);
    leati_free(slot);
}

static void empty_slot(leati_cycle *cycle, int64_t at) {
    if (cycle->slots[at] != NULL) {
        free_slot(cycle->slots[at]);
        cycle->slots[at] = NULL;
        cycle->open--;
    }
}

static leati_slot *new_slot(leat_error *err) {
    leati_slot *slot = leati_alloc_zero(1, sizeof(*slot));
    if (slot == NULL) {
        leati_no_memory(err, sizeof(*slot));
    }
    return slot;
}

static void set_slot(leati_cycle *cycle, int64_t at, leati_slot *slot) {
    cycle->slots[at] = slot;
    cycle->open++;
}

leat_status leati_cycle_open(leati_cycle *cycle, leati_node_state *node, int64_t cycle_length,
                             int64_t block_length, bool errors_take_turns, leat_error *err) {
    cycle->cycle_length = cycle_length;
    cycle->block_length = block_length;
    cycle->errors_take_turns = errors_take_turns;
    if ((uint64_t)cycle_length <= SIZE_MAX / sizeof(void *)) {
        cycle->slots = leati_alloc_zero((size_t)cycle_length, sizeof(leati_slot *));
    }
    if (cycle->slots == NULL) {
        return leati_fail(err, LEAT_RESOURCE_EXHAUSTED,
                          "no memory for %lld open datasets; choose a smaller cycle_length",
                          (long long)cycle_length);
    }
    leat_status status = leati_inner_init(&cycle->inner, node, err);
    if (status == LEAT_OK) {
        status = leati_join_init(&cycle->join, node->dataset->spec, err);
    }
    return status == LEAT_OK ? leati_input_open(&cycle->input, node, 0, err) : status;
}

static void empty_slots(leati_cycle *cycle) {
    for (int64_t i = 0; cycle->open > 0; i++) {
        empty_slot(cycle, i);
    }
}

void leati_cycle_close(leati_cycle *cycle) {
    empty_slots(cycle);
    leati_free((void *)cycle->slots);
    leati_join_fini(&cycle->join);
    leati_inner_fini(&cycle->inner);
    if (cycle->input.child != NULL) {
        leati_input_close(&cycle->input);
    }
}

leat_status leati_cycle_reset(leati_cycle *cycle, leat_error *err) {
    empty_slots(cycle);
    cycle->at = cycle->block = 0;
    return leati_input_reset(&cycle->input, err);
}

static void pass_turn(leati_cycle *cycle) {
    cycle->at = cycle->at + 1 == cycle->cycle_length ? 0 : cycle->at + 1;
    cycle->block = 0;
}

/* n outcomes of the present block were given. */
static void take_turns(leati_cycle *cycle, int64_t n) {
    cycle->block += n;
    if (cycle->block == cycle->block_length) {
        pass_turn(cycle);
    }
}

/* Opens the dataset of `slot->element`. */
static leat_status open_slot(leati_node_state *node, leati_cycle *cycle, leati_slot *slot,
                             leat_error *err) {
    return leati_inner_open(&cycle->inner, node, &slot->element, 0, slot->call, &slot->iteration,
                            &slot->input, err);
}

/* Takes the input's element into the slot: a view, or a copy where that would keep a large block
 * alive. */
static leat_status keep_element(const leati_cycle *cycle, leati_slot *slot, leat_error *err) {
    leat_status status = leati_block_slice(&cycle->input.block, leati_input_begin(&cycle->input), 1,
                                           &slot->element, err);
    for (int c = 0; c < slot->element.num_columns && status == LEAT_OK; c++) {
        status = leati_column_compact(&slot->element.columns[c], 1, err);
    }
    return status;
}

/* Fills the empty slot whose turn it is: MORE, END where the input has ended, or ERROR. */
static leati_tail fill_slot(leati_node_state *node, leati_cycle *cycle, leat_error *err) {
    int64_t available = 0;
    leati_tail tail = leati_input_peek(&cycle->input, 1, NULL, &available, err);
    if (available == 0 && tail == LEATI_END) {
        return LEATI_END;
    }
    leat_error local = {0};
    leati_slot *slot = new_slot(&local);
    leat_status status = slot == NULL ? local.code : LEAT_OK;
    if (status == LEAT_OK && available > 0) {
        slot->call = cycle->call;
        status = keep_element(cycle, slot, &local);
        status = status == LEAT_OK ? open_slot(node, cycle, slot, &local) : status;
    }
    cycle->call++;
    leati_input_consume(&cycle->input, 1);
    if (status != LEAT_OK) {
        *err = local;
    }
    bool failed = available == 0 || status != LEAT_OK;
    if (slot != NULL && (!failed || cycle->errors_take_turns)) {
        slot->spent = failed;
        set_slot(cycle, cycle->at, slot);
    } else if (slot != NULL) {
        free_slot(slot);
    }
    if (failed && cycle->errors_take_turns) {
        take_turns(cycle, 1);
    }
    return failed ? LEATI_ERROR : LEATI_MORE;
}

/* Adds up to `most` rows of the slot to `out`. */
static leati_tail pull_slot(leati_cycle *cycle, leati_slot *slot, int64_t want, int64_t most,
                            leati_block *out, int64_t *n, leat_error *err) {
    int64_t share = (want + cycle->open - 1) / cycle->open;
    int64_t ask = leati_input_pure(&slot->input) && share > most ? share : most;
    int64_t available = 0;
    leati_tail tail = leati_input_peek(&slot->input, ask, NULL, &available, err);
    if (available == 0) {
        leati_input_consume(&slot->input, tail == LEATI_ERROR);
        return tail;
    }
    int64_t rows = available < most ? available : most;
    leati_join_rows(&cycle->join, &slot->input.block, leati_input_begin(&slot->input), rows, out);
    leati_input_consume(&slot->input, rows);
    *n = rows;
    return LEATI_MORE;
}

/* Reads the open slot whose turn it is: *n outcomes that are no errors reported here. */
static leati_tail read_slot(leati_cycle *cycle, visit_mode mode, int64_t want, leati_block *out,
                            int64_t *n, leat_error *err) {
    leati_slot *slot = cycle->slots[cycle->at];
    int64_t left = cycle->block_length - cycle->block;
    int64_t most = want < left ? want : left;
    leati_tail tail = LEATI_MORE;
    switch (mode) {
    case VISIT_PULL: tail = pull_slot(cycle, slot, want, most, out, n, err); break;
    case VISIT_ADVANCE: tail = leati_input_advance(&slot->input, most, n, err); break;
    default: tail = leati_input_skip(&slot->input, most, n, err); break;
    }
    bool ended = tail == LEATI_END && *n < most;
    if (ended) {
        empty_slot(cycle, cycle->at);
        pass_turn(cycle);
        return LEATI_MORE;
    }
    bool counts = tail == LEATI_ERROR && mode == VISIT_PULL && cycle->errors_take_turns;
    take_turns(cycle, *n + counts);
    return tail == LEATI_ERROR ? tail : LEATI_MORE;
}

/* Visits slots until one gave something: MORE with *n > 0, or END, or ERROR for one outcome after
 * *n others. */
static leati_tail visit(leati_node_state *node, leati_cycle *cycle, visit_mode mode, int64_t want,
                        leati_block *out, int64_t *n, leat_error *err) {
    *n = 0;
    while (*n == 0) {
        const leati_slot *slot = cycle->slots[cycle->at];
        leati_tail tail = LEATI_MORE;
        if (slot == NULL && cycle->input.ended) {
            if (cycle->open == 0) {
                return LEATI_END;
            }
            pass_turn(cycle);
        } else if (slot == NULL) {
            tail = fill_slot(node, cycle, err);
        } else if (slot->spent) {
            empty_slot(cycle, cycle->at);
            pass_turn(cycle);
        } else {
            tail = read_slot(cycle, mode, want, out, n, err);
        }
        if (tail == LEATI_ERROR) {
            return tail;
        }
    }
    return LEATI_MORE;
}

leati_tail leati_cycle_pull(leati_node_state *node, leati_cycle *cycle, int64_t want,
                            leati_block *out, leat_error *err) {
    int64_t most = 0, n = 0;
    leati_tail tail = LEATI_MORE;
    if (leati_join_begin(&cycle->join, want, out, &most, err) != LEAT_OK) {
        return LEATI_ERROR;
    }
    while (out->n < most && tail == LEATI_MORE) {
        tail = visit(node, cycle, VISIT_PULL, most - out->n, out, &n, err);
    }
    if (out->n == 0) {
        leati_block_clear(out);
    }
    return tail;
}

leati_tail leati_cycle_skip(leati_node_state *node, leati_cycle *cycle, int64_t n, int64_t *skipped,
                            leat_error *err) {
    leati_tail tail = LEATI_MORE;
    while (*skipped < n && tail == LEATI_MORE) {
        int64_t more = 0;
        tail = visit(node, cycle, VISIT_SKIP, n - *skipped, NULL, &more, err);
        *skipped += more;
    }
    return tail;
}

/* Passes outcomes of the sequential form, where errors do not count in a block, so that what is
 * passed must be looked at. */
static leati_tail advance_by_pulling(leati_node_state *node, leati_cycle *cycle, int64_t n,
                                     int64_t *passed, leat_error *err) {
    leati_block block = {.byte_target = LEATI_BYTE_TARGET};
    leati_tail tail = LEATI_MORE;
    while (*passed < n && tail == LEATI_MORE) {
        tail = leati_cycle_pull(node, cycle, n - *passed, &block, err);
        *passed += block.n;
        if (tail == LEATI_ERROR && err->code != LEAT_CANCELLED) {
            ++*passed; /* one error outcome, as before */
            tail = LEATI_MORE;
        }
    }
    leati_block_fini(&block);
    return tail;
}

leati_tail leati_cycle_advance(leati_node_state *node, leati_cycle *cycle, int64_t n,
                               int64_t *passed, leat_error *err) {
    if (!cycle->errors_take_turns) {
        return advance_by_pulling(node, cycle, n, passed, err);
    }
    leati_tail tail = LEATI_MORE;
    while (*passed < n && tail == LEATI_MORE) {
        int64_t more = 0;
        tail = visit(node, cycle, VISIT_ADVANCE, n - *passed, NULL, &more, err);
        *passed += more;
        if (tail == LEATI_ERROR && err->code != LEAT_CANCELLED) {
            ++*passed; /* one error outcome, as before */
            tail = LEATI_MORE;
        }
    }
    return tail;
}

/* ---- states ---- */

enum { SAVED_EMPTY = 0, SAVED_OPEN, SAVED_SPENT };

static leat_status save_slot(leati_slot *slot, leati_writer *out, leati_save_cost *cost,
                             leat_error *err) {
    leati_put_uint(out, slot->spent ? SAVED_SPENT : SAVED_OPEN);
    if (slot->spent) {
        return LEAT_OK;
    }
    leati_put_int(out, slot->call);
    leat_status status = leati_put_block(out, &slot->element, 0, 1, err);
    return status == LEAT_OK ? leati_input_save(&slot->input, out, cost, err) : status;
}

leat_status leati_cycle_save(leati_node_state *node, leati_cycle *cycle, leati_writer *out,
                             leati_save_cost *cost, leat_error *err) {
    leat_status status = LEAT_OK;
    int64_t left = cycle->open;
    leati_put_int(out, cycle->call);
    leati_put_int(out, cycle->at);
    leati_put_int(out, cycle->block);
    leati_put_int(out, cycle->open);
    for (int64_t i = 0; left > 0 && status == LEAT_OK; i++) {
        if (cycle->slots[i] != NULL) {
            leati_put_int(out, i);
            status = save_slot(cycle->slots[i], out, cost, err);
            left--;
        }
    }
    if (status != LEAT_OK) {
        return leati_prefix(err, "%s", node->name);
    }
    return leati_input_save(&cycle->input, out, cost, err);
}

static leat_status restore_slot(leati_node_state *node, leati_cycle *cycle, leati_slot *slot,
                                leati_reader *in, leat_error *err) {
    uint64_t how = 0;
    leat_status status = leati_get_uint(in, &how, err);
    if (status == LEAT_OK && how != SAVED_OPEN && how != SAVED_SPENT) {
        status = leati_fail(err, LEAT_DATA_LOSS, "%s: a saved slot of kind %llu; expected 1 or 2",
                            node->name, (unsigned long long)how);
    }
    slot->spent = how == SAVED_SPENT;
    if (status != LEAT_OK || slot->spent) {
        return status;
    }
    status = leati_get_int(in, &slot->call, err);
    if (status == LEAT_OK) {
        status = leati_get_block(in, node->dataset->inputs[0]->spec, &slot->element, err);
    }
    if (status == LEAT_OK && slot->element.n != 1) {
        status = leati_fail(err, LEAT_DATA_LOSS, "%s: a saved slot of %lld elements; expected 1",
                            node->name, (long long)slot->element.n);
    }
    status = status == LEAT_OK ? open_slot(node, cycle, slot, err) : status;
    return status == LEAT_OK ? leati_input_restore(&slot->input, in, err) : status;
}

static leat_status restore_slots(leati_node_state *node, leati_cycle *cycle, int64_t count,
                                 leati_reader *in, leat_error *err) {
    for (int64_t i = 0, last = -1; i < count; i++) {
        int64_t at = 0;
        leat_status status = leati_get_int(in, &at, err);
        if (status == LEAT_OK && (at <= last || at >= cycle->cycle_length)) {
            status = leati_fail(err, LEAT_DATA_LOSS, "%s: a saved slot of number %lld of %lld",
                                node->name, (long long)at, (long long)cycle->cycle_length);
        }
        leati_slot *slot = status == LEAT_OK ? new_slot(err) : NULL;
        if (slot == NULL) {
            return status == LEAT_OK ? LEAT_RESOURCE_EXHAUSTED : status;
        }
        set_slot(cycle, at, slot);
        status = restore_slot(node, cycle, slot, in, err);
        if (status != LEAT_OK) {
            return status;
        }
        last = at;
    }
    return LEAT_OK;
}

leat_status leati_cycle_restore(leati_node_state *node, leati_cycle *cycle, leati_reader *in,
                                leat_error *err) {
    int64_t count = 0;
    empty_slots(cycle);
    leat_status status = leati_get_int(in, &cycle->call, err);
    if (status == LEAT_OK) {
        status = leati_get_int(in, &cycle->at, err);
    }
    if (status == LEAT_OK) {
        status = leati_get_int(in, &cycle->block, err);
    }
    if (status == LEAT_OK) {
        status = leati_get_int(in, &count, err);
    }
    if (status == LEAT_OK && (cycle->at < 0 || cycle->at >= cycle->cycle_length ||
                              cycle->block < 0 || cycle->block >= cycle->block_length)) {
        cycle->at = cycle->block = 0;
        status =
            leati_fail(err, LEAT_DATA_LOSS,
                       "%s: a saved turn outside of cycle_length %lld and block_length %lld",
                       node->name, (long long)cycle->cycle_length, (long long)cycle->block_length);
    }
    if (status == LEAT_OK) {
        status = restore_slots(node, cycle, count, in, err);
    }
    return status == LEAT_OK ? leati_input_restore(&cycle->input, in, err) : status;
}
