/* Rings: their states.
 *
 * Where the input can be replayed, a state is a snapshot of the input, the number of the
 * outcome before which it was taken, and the ranges of outcomes that are still to come; everything
 * from `frontier` on is. The snapshot is the one taken before the oldest stage that is not wholly
 * delivered, so nothing waits for the driver. Restoring lets the input advance to the first
 * outcome that is wanted. Elsewhere the driver pauses between two pulls, and the state is the rows
 * read ahead and then the input as it stands. */
#include "base/clock.h"
#include "base/debug.h"
#include "base/minmax.h"
#include "data/ahead/ring_parts.h"
#include "data/values/values.h"
#include <string.h>

enum { SAVED_SNAPSHOT = 0, SAVED_ROWS };

void leati_ring_snapshot_unref(leati_ring *ring, leati_ring_snapshot *snapshot) {
    LEATI_ASSERT(snapshot == NULL || snapshot->refs > 0);
    if (snapshot != NULL && --snapshot->refs == 0) {
        snapshot->next = ring->snapshots.free;
        ring->snapshots.free = snapshot;
    }
}

leati_ring_snapshot *leati_ring_snapshot_take(leati_ring *ring) {
    leati_ring_snapshot *snapshot = ring->snapshots.free;
    if (snapshot == NULL)
        snapshot = leati_alloc_zero(1, sizeof(*snapshot));
    else
        ring->snapshots.free = snapshot->next;
    if (snapshot != NULL) {
        snapshot->refs = 1;
        snapshot->error = INT64_MAX;
        snapshot->state.size = 0;
        snapshot->state.failed = false;
    }
    return snapshot;
}

void leati_ring_snapshots_free(leati_ring *ring) {
    for (leati_ring_snapshot *at = ring->snapshots.free; at != NULL;) {
        leati_ring_snapshot *next = at->next;
        leati_writer_fini(&at->state);
        leati_free(at);
        at = next;
    }
    leati_writer_fini(&ring->snapshots.ranges);
}

static bool idle(const leati_ring *ring) {
    return ring->driver.thread == NULL && ring->queue.stages == NULL;
}

/* The one from which the first outcome in the ring can be read again; NULL: there is none. */
static const leati_ring_snapshot *first_snapshot(const leati_ring *ring) {
    return ring->queue.stages != NULL ? ring->queue.stages->snapshot : ring->snapshots.last;
}

/* ---- ranges ---- */

/* A list of ranges under construction; those that touch become one. */
typedef struct range_list {
    leati_writer bytes;
    uint64_t count;
    leati_ring_range open; /* not written yet */
} range_list;

static void close_range(range_list *list) {
    if (list->open.end > list->open.begin) {
        leati_put_int(&list->bytes, list->open.begin);
        leati_put_int(&list->bytes, list->open.end);
        list->count++;
    }
}

static void add_range(range_list *list, int64_t begin, int64_t end) {
    if (end <= begin)
        return;
    if (begin != list->open.end) {
        close_range(list);
        list->open.begin = begin;
    }
    list->open.end = end;
}

/* Where the first outcome stands that no piece has taken. */
static int64_t first_uncut(const leati_ring *ring) {
    return ring->queue.uncut != NULL ? ring->queue.uncut->index + ring->queue.uncut->cut
                                     : ring->queue.next_index;
}

/* The ranges that are still to come below the new frontier, with the gate locked. */
static void put_ranges(leati_ring *ring, leati_writer *out) {
    range_list list = {.bytes = ring->snapshots.ranges, .open = {-1, -1}};
    list.bytes.size = 0;
    list.bytes.failed = false;
    for (const leati_ring_piece *piece = ring->queue.pieces; piece != NULL; piece = piece->next) {
        int64_t begin = piece->stage->index + piece->begin;
        bool error = piece->last && piece->stage->tail == LEATI_ERROR;
        add_range(&list, begin, begin + piece->rows + error);
    }
    int64_t from = first_uncut(ring);
    for (size_t i = ring->wanted.at; i < ring->wanted.count; i++) {
        const leati_ring_range *range = &ring->wanted.ranges[i];
        add_range(&list, LEATI_MAX(range->begin, from), range->end);
    }
    close_range(&list);
    leati_put_int(out, LEATI_MAX(from, ring->wanted.frontier));
    leati_put_uint(out, list.count);
    leati_put_raw(out, list.bytes.data, list.bytes.size);
    out->failed = out->failed || list.bytes.failed;
    ring->snapshots.ranges = list.bytes;
}

int64_t leati_ring_first_left(const leati_ring *ring) {
    const leati_ring_piece *piece = ring->queue.pieces;
    return piece != NULL ? piece->stage->index + piece->begin : first_uncut(ring);
}

/* ---- with a snapshot ---- */

static leat_status save_idle(leati_ring *ring, leati_writer *out, leati_save_cost *cost,
                             leat_error *err) {
    leati_writer state = {0};
    leat_status status = leati_input_save(&ring->driver.input, &state, cost, err);
    leati_put_bytes(out, state.data, state.size);
    out->failed = out->failed || state.failed;
    leati_writer_fini(&state);
    leati_put_int(out, ring->queue.next_index);
    leati_put_uint(out, false);
    leati_queue_gate_lock(ring->gate);
    put_ranges(ring, out);
    leati_queue_gate_unlock(ring->gate);
    return status;
}

static leat_status save_snapshot(leati_ring *ring, leati_writer *out, leati_save_cost *cost,
                                 leat_error *err) {
    leat_status status = LEAT_OK;
    leati_queue_gate_lock(ring->gate);
    const leati_ring_snapshot *snapshot = first_snapshot(ring);
    if (snapshot == NULL) {
        status =
            leati_fail(err,
                       ring->snapshots.unsavable.code != LEAT_OK ? ring->snapshots.unsavable.code
                                                                 : LEAT_FAILED_PRECONDITION,
                       "%s",
                       ring->snapshots.unsavable.code != LEAT_OK ? ring->snapshots.unsavable.text
                                                                 : "the input has no snapshot");
    } else {
        int64_t first = leati_ring_first_left(ring);
        leati_put_bytes(out, snapshot->state.data, snapshot->state.size);
        leati_put_int(out, snapshot->index);
        leati_put_uint(out, snapshot->error < first);
        put_ranges(ring, out);
        cost->replay_elements += first > snapshot->index ? first - snapshot->index : 0;
        leati_op_save_cost_add(cost, &snapshot->cost);
    }
    leati_queue_gate_unlock(ring->gate);
    return status;
}

/* Only tasks end out of order: without a program there is one range, up to the frontier. */
static leat_status get_ranges(leati_ring *ring, int64_t index, leati_reader *in, leat_error *err) {
    uint64_t count = 0;
    LEATI_TRY(leati_get_int(in, &ring->wanted.frontier, err));
    LEATI_TRY(leati_get_uint(in, &count, err));
    if (ring->wanted.frontier < index || count > in->size - in->at) {
        return leati_fail(err, LEAT_DATA_LOSS, "%s: %llu saved ranges below outcome %lld",
                          ring->node->name, (unsigned long long)count,
                          (long long)ring->wanted.frontier);
    }
    ring->wanted.ranges = leati_alloc((size_t)count, sizeof(*ring->wanted.ranges));
    if (ring->wanted.ranges == NULL)
        return leati_no_memory(err);
    int64_t last = index;
    for (uint64_t i = 0; i < count; i++) {
        leati_ring_range *range = &ring->wanted.ranges[i];
        LEATI_TRY(leati_get_int(in, &range->begin, err));
        LEATI_TRY(leati_get_int(in, &range->end, err));
        if (range->begin < last || range->end <= range->begin ||
            range->end > ring->wanted.frontier ||
            (ring->options.program == NULL && range->end < ring->wanted.frontier)) {
            return leati_fail(err, LEAT_DATA_LOSS, "%s: a saved range of outcomes %lld to %lld",
                              ring->node->name, (long long)range->begin, (long long)range->end);
        }
        last = range->end;
    }
    ring->wanted.count = (size_t)count;
    return LEAT_OK;
}

/* Passes n outcomes, errors among them, which advance must not be asked to pass. */
static leati_tail read_again(leati_input *input, int64_t n, int64_t *passed, leat_error *err) {
    leati_block block = {0};
    leati_tail tail = LEATI_MORE;
    while (*passed < n && tail != LEATI_END && leati_state_recurs(err)) {
        tail = leati_input_take(input, n - *passed, &block, err);
        *passed += block.n + (tail == LEATI_ERROR);
    }
    leati_block_fini(&block);
    return tail;
}

/* Brings the input from a snapshot's state to outcome `first`. */
static leat_status replay(leati_ring *ring, leati_reader *state, int64_t index, int64_t first,
                          bool errors, leat_error *err) {
    LEATI_TRY(leati_input_restore(&ring->driver.input, state, err));
    int64_t passed = 0;
    leat_error local = {0};
    leati_tail tail =
        errors ? read_again(&ring->driver.input, first - index, &passed, &local)
               : leati_input_advance(&ring->driver.input, first - index, &passed, &local);
    return leati_input_came_again(ring->node->name, first - index, passed, tail, &local, err);
}

static leat_status restore_snapshot(leati_ring *ring, leati_reader *in, leat_error *err) {
    const void *data = NULL;
    leati_reader state = {0};
    int64_t index = 0;
    uint64_t errors = 0;
    LEATI_TRY(leati_get_bytes(in, &data, &state.size, err));
    LEATI_TRY(leati_get_int(in, &index, err));
    LEATI_TRY(leati_get_uint(in, &errors, err));
    LEATI_TRY(get_ranges(ring, index, in, err));
    state.data = data;
    int64_t first = ring->wanted.count > 0 ? ring->wanted.ranges[0].begin : ring->wanted.frontier;
    ring->queue.next_index = first;
    return replay(ring, &state, index, first, errors != 0, err);
}

static bool draws_seeds(const leat_dataset *dataset) {
    bool draws = (dataset->op->flags & LEATI_OP_SHARED_DRAW) != 0;
    for (int i = 0; i < dataset->num_inputs && !draws; i++)
        draws = draws_seeds(dataset->inputs[i]);
    return draws;
}

/* ---- with rows ---- */

/* Rows of a stage that are still to come, and its tail if that is, too. */
static leat_status put_rows(const leati_ring_stage *stage, int64_t begin, int64_t n, bool tail,
                            leati_writer *out, leat_error *err) {
    leati_put_int(out, stage->index + begin);
    leat_status status = leati_values_put_block(out, &stage->rows, begin, n, err);
    leati_put_uint(out, tail ? (uint64_t)stage->tail : LEATI_MORE);
    if (tail && stage->tail == LEATI_ERROR)
        leati_values_put_error(out, &stage->error);
    return status;
}

/* The snapshot before the rows, where a reset needs it: to take back the seeds that were drawn for
 * them and later ones. With the driver paused. */
static void put_origin(const leati_ring *ring, leati_writer *out) {
    const leati_ring_snapshot *snapshot = first_snapshot(ring);
    bool kept = snapshot != NULL && draws_seeds(ring->node->dataset->inputs[0]);
    leati_put_uint(out, kept);
    if (kept) {
        leati_put_bytes(out, snapshot->state.data, snapshot->state.size);
        leati_put_int(out, snapshot->index);
        leati_put_int(out, snapshot->error);
        leati_put_int(out, snapshot->cost.replay_elements);
        leati_put_int(out, snapshot->cost.data_elements);
    }
}

static leat_status get_origin(leati_ring *ring, int64_t next_index, leati_reader *in,
                              leat_error *err) {
    const void *data = NULL;
    size_t size = 0;
    uint64_t kept = 0;
    LEATI_TRY(leati_get_uint(in, &kept, err));
    if (kept == 0)
        return LEAT_OK;
    leati_queue_gate_lock(ring->gate);
    leati_ring_snapshot *snapshot = ring->snapshots.last = leati_ring_snapshot_take(ring);
    leati_queue_gate_unlock(ring->gate);
    if (snapshot == NULL)
        return leati_no_memory(err);
    LEATI_TRY(leati_get_bytes(in, &data, &size, err));
    leati_put_raw(&snapshot->state, data, size);
    int64_t *numbers[] = {&snapshot->index, &snapshot->error, &snapshot->cost.replay_elements,
                          &snapshot->cost.data_elements};
    for (int i = 0; i < 4; i++)
        LEATI_TRY(leati_get_int(in, numbers[i], err));
    if (snapshot->index < 0 || snapshot->index > next_index) {
        return leati_fail(err, LEAT_DATA_LOSS, "%s: saved rows before outcome %lld begin at %lld",
                          ring->node->name, (long long)next_index, (long long)snapshot->index);
    }
    return snapshot->state.failed ? leati_no_memory(err) : LEAT_OK;
}

static leat_status save_rows(leati_ring *ring, leati_writer *out, leati_save_cost *cost,
                             leat_error *err) {
    leat_status status = LEAT_OK;
    uint64_t count = 0;
    for (const leati_ring_piece *piece = ring->queue.pieces; piece != NULL; piece = piece->next)
        count++;
    for (const leati_ring_stage *stage = ring->queue.uncut; stage != NULL; stage = stage->next)
        count++;
    leati_put_int(out, ring->queue.next_index);
    leati_put_uint(out, count);
    put_origin(ring, out);
    cost->data_elements += ring->queue.undelivered;
    for (const leati_ring_piece *piece = ring->queue.pieces; piece != NULL && status == LEAT_OK;
         piece = piece->next)
        status = put_rows(piece->stage, piece->begin, piece->rows, piece->last, out, err);
    for (const leati_ring_stage *stage = ring->queue.uncut; stage != NULL && status == LEAT_OK;
         stage = stage->next)
        status = put_rows(stage, stage->cut, stage->rows.n - stage->cut, true, out, err);
    if (status != LEAT_OK)
        return leati_prefix(err, "%s", ring->node->name);
    return leati_input_save(&ring->driver.input, out, cost, err);
}

/* `least`: the number that its first outcome has at least; `last`: no stage follows, and only the
 * last one ends the input. Every stage has an outcome or is the end. */
static leat_status restore_stage(leati_ring *ring, leati_ring_stage *stage, int64_t least,
                                 bool last, leati_reader *in, leat_error *err) {
    uint64_t tail = 0;
    int64_t index = 0;
    const leat_spec *spec = ring->driver.input.child->dataset->spec;
    LEATI_TRY(leati_get_int(in, &index, err));
    LEATI_TRY(leati_values_get_block(in, spec, &stage->rows, err));
    LEATI_TRY(leati_get_uint(in, &tail, err));
    bool no_outcome = tail == LEATI_MORE && stage->rows.n == 0;
    if (tail > LEATI_ERROR || index < least || no_outcome || (tail == LEATI_END && !last)) {
        return leati_fail(err, LEAT_DATA_LOSS, "%s: saved rows at %lld with the tail %llu",
                          ring->node->name, (long long)index, (unsigned long long)tail);
    }
    if (tail == LEATI_ERROR)
        LEATI_TRY(leati_values_get_error(in, &stage->error, err));
    stage->tail = (leati_tail)tail;
    leati_ring_fill_stage(stage);
    leati_queue_gate_lock(ring->gate);
    ring->queue.next_index = index;
    leati_ring_add_stage(ring, stage);
    leati_queue_gate_unlock(ring->gate);
    return LEAT_OK;
}

static leat_status restore_rows(leati_ring *ring, leati_reader *in, leat_error *err) {
    uint64_t count = 0;
    int64_t next_index = 0;
    leat_status status = LEAT_OK;
    LEATI_TRY(leati_get_int(in, &next_index, err));
    LEATI_TRY(leati_get_uint(in, &count, err));
    LEATI_TRY(get_origin(ring, next_index, in, err));
    for (uint64_t i = 0; i < count && status == LEAT_OK; i++) {
        leati_ring_stage *stage = leati_ring_take_stage(ring);
        if (stage == NULL)
            return leati_no_memory(err);
        status = restore_stage(ring, stage, i == 0 ? 0 : ring->queue.next_index, i + 1 == count, in,
                               err);
        if (status != LEAT_OK) {
            leati_queue_gate_lock(ring->gate);
            leati_ring_bury_stage(ring, stage);
            leati_queue_gate_unlock(ring->gate);
        }
    }
    leati_queue_gate_lock(ring->gate);
    ring->queue.next_index = next_index;
    leati_queue_gate_unlock(ring->gate);
    return status == LEAT_OK ? leati_input_restore(&ring->driver.input, in, err) : status;
}

/* ---- the slots ---- */

/* Must, or should, the state hold the outcomes in the ring? Those of a state that was data may have
 * no snapshot before them; where outcomes of a replay are still to come there is one. With the gate
 * locked. */
static bool holds_rows(const leati_ring *ring, leat_iterator_save_mode mode) {
    const leati_ring_snapshot *snapshot = first_snapshot(ring);
    if (!ring->replayable)
        return true;
    if (idle(ring) || ring->wanted.at < ring->wanted.count ||
        ring->snapshots.unsavable.code != LEAT_OK)
        return false;
    return snapshot == NULL || mode == LEAT_SAVE_DATA;
}

leat_status leati_ring_save(leati_ring *ring, leati_writer *out, leati_save_cost *cost,
                            leat_error *err) {
    leati_queue_gate_lock(ring->gate);
    leati_put_int(out, ring->queue.delivered);
    bool rows = holds_rows(ring, cost->mode);
    leati_queue_gate_unlock(ring->gate);
    if (!rows) {
        leati_put_uint(out, SAVED_SNAPSHOT);
        return idle(ring) ? save_idle(ring, out, cost, err) : save_snapshot(ring, out, cost, err);
    }
    leati_put_uint(out, SAVED_ROWS);
    leati_ring_pause(ring);
    leat_status status = save_rows(ring, out, cost, err);
    leati_ring_resume(ring);
    return status;
}

leat_status leati_ring_restore(leati_ring *ring, leati_reader *in, leat_error *err) {
    uint64_t how = 0;
    int64_t delivered = 0;
    leati_ring_stop(ring);
    leati_ring_discard(ring);
    LEATI_TRY(leati_get_int(in, &delivered, err));
    LEATI_TRY(leati_get_uint(in, &how, err));
    if (how > SAVED_ROWS) {
        return leati_fail(err, LEAT_DATA_LOSS, "%s: a saved ring of kind %llu; expected 0 or 1",
                          ring->node->name, (unsigned long long)how);
    }
    leat_status status =
        how == SAVED_SNAPSHOT ? restore_snapshot(ring, in, err) : restore_rows(ring, in, err);
    leati_queue_gate_lock(ring->gate);
    ring->queue.delivered = delivered;
    leati_queue_gate_unlock(ring->gate);
    return status;
}

/* The driver may have drawn seeds for epochs that the consumer has not seen. Takes that back, so
 * that the next epoch's seeds do not depend on how far the driver came. */
static leat_status rewind_seeds(leati_ring *ring, leat_error *err) {
    const leati_ring_snapshot *snapshot = first_snapshot(ring);
    if (snapshot == NULL || !draws_seeds(ring->node->dataset->inputs[0]))
        return LEAT_OK;
    int64_t first = leati_ring_first_left(ring);
    leati_reader state = {.data = snapshot->state.data, .size = snapshot->state.size};
    LEATI_TRY(leati_input_reset(&ring->driver.input, err));
    return replay(ring, &state, snapshot->index, first, snapshot->error < first, err);
}

leat_status leati_ring_reset(leati_ring *ring, leat_error *err) {
    bool running = !idle(ring);
    leati_ring_stop(ring);
    leat_status status = running ? rewind_seeds(ring, err) : LEAT_OK;
    leati_ring_discard(ring);
    ring->queue.next_index = ring->queue.delivered;
    return status == LEAT_OK ? leati_input_reset(&ring->driver.input, err) : status;
}

leati_tail leati_ring_advance(leati_ring *ring, int64_t n, int64_t *passed, leat_error *err) {
    if (idle(ring) && ring->wanted.at == ring->wanted.count && !ring->signals.input_ended) {
        leati_tail tail = leati_input_advance(&ring->driver.input, n, passed, err);
        ring->queue.next_index += *passed;
        ring->queue.delivered += *passed;
        return tail;
    }
    return leati_state_node_advance_by_pulling(ring->node, n, passed, err);
}
