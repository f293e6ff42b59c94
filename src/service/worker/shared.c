/* First come, first served: whoever has credit gets what is ready.
 *
 * Happy path: chunks queue up; a reader takes the first one, or as much of it as it may, joined
 * with those behind it while they are small. A reader that acknowledges keeps what it took; what it
 * has not acknowledged when it leaves goes back to its place in the queue. So the end is told to a
 * reader only when no other one may still give something back.
 *
 * What is kept for readers counts against the worker's memory. Once that is full, what is made
 * without room goes to a reader that waits and has nothing to acknowledge; so each of them goes on
 * by one chunk at least, whatever the others do with theirs.
 *
 * The lock is the task's. */
#include "base/error.h"
#include "base/minmax.h"
#include "service/worker/task.h"

enum { SMALL = 16 << 10 };

typedef struct shared {
    leati_worker_chunks ready;
    int64_t unacked; /* outcomes, of all readers */
    int64_t unacked_bytes;
} shared;

static bool room(leati_worker_task *task) {
    const shared *s = task->state;
    return s->ready.outcomes < task->ahead;
}

/* Does a reader wait that has nothing to acknowledge? */
static bool somebody_starves(const leati_worker_task *task) {
    const leati_worker_reader *reader = task->readers;
    while (reader != NULL && (!reader->waits || reader->unacked.first != NULL))
        reader = reader->next;
    return reader != NULL;
}

static bool bare(const leati_worker_task *task) {
    const shared *s = task->state;
    return s->ready.first == NULL && (s->unacked == 0 || somebody_starves(task));
}

static leat_status put(leati_worker_task *task, leati_worker_chunk *chunk,
                       leati_worker_chunks *dropped, leat_error *err) {
    shared *s = task->state;
    leati_worker_chunks kept = {0};
    leat_status status = leati_worker_chunk_without(chunk, &task->about.held, &kept, dropped, err);
    for (leati_worker_chunk *part; (part = leati_worker_chunks_pop(&kept)) != NULL;)
        leati_worker_chunks_add(&s->ready, part);
    return status;
}

static leat_status join(leati_worker_task *task, leati_worker_reader *reader, leat_error *err) {
    (void)task;
    (void)reader;
    (void)err;
    return LEAT_OK;
}

/* Takes up to `elements` and about `bytes` of the first chunk out of the queue; NULL without
 * memory, and then the queue is as before. */
static leati_worker_chunk *take_front(shared *s, int64_t elements, int64_t bytes, leat_error *err) {
    leati_worker_chunk *first = s->ready.first;
    int64_t all = leati_worker_chunk_outcomes(first), n = LEATI_MIN(all, elements);
    if (first->bytes > 0 && (double)first->bytes / (double)all * (double)n > (double)bytes)
        n = (int64_t)((double)bytes / ((double)first->bytes / (double)all));
    n = LEATI_MAX(n, 1);
    if (n >= all)
        return leati_worker_chunks_pop(&s->ready);
    leati_worker_chunk *part = leati_worker_chunk_part(first, 0, n, err);
    if (part == NULL)
        return NULL;
    s->ready.outcomes -= n;
    s->ready.bytes -= part->bytes;
    leati_worker_chunk_skip(first, n);
    return part;
}

/* Small chunks that follow become part of `taken`, so that frames are not smaller than need be. */
static void join_small(shared *s, leati_worker_chunk *taken, int64_t elements, int64_t bytes,
                       leati_worker_chunks *dropped) {
    bytes = LEATI_MIN(bytes, SMALL);
    while (s->ready.first != NULL && taken->bytes < bytes) {
        leati_worker_chunk *next = s->ready.first;
        int64_t left = elements - taken->block.n;
        if (leati_worker_chunk_share(next, 1) > bytes - taken->bytes)
            return;
        if (next->error != NULL || next->position != taken->position + taken->block.n ||
            next->bytes > SMALL || left < 1)
            return;
        leati_worker_chunk *part = take_front(s, left, bytes - taken->bytes, &(leat_error){0});
        if (part == NULL)
            return;
        if (leati_block_append(&taken->block, &part->block, &(leat_error){0}) != LEAT_OK) {
            leati_worker_chunks_insert(&s->ready, part);
            return;
        }
        taken->bytes += part->bytes;
        leati_worker_chunks_add(dropped, part);
    }
}

/* The chunk becomes the outcome; a reader that acknowledges keeps it as well. */
static leat_status hand_out(leati_worker_task *task, leati_worker_reader *reader,
                            leati_worker_chunk *taken, leati_worker_outcome *out,
                            leati_worker_chunks *dropped, leat_error *err) {
    shared *s = task->state;
    out->position = taken->position;
    out->kind = taken->error != NULL ? LEATI_FRAME_ERROR : LEATI_FRAME_ELEMENTS;
    if (taken->error != NULL)
        out->why = *taken->error;
    else if (reader->asked.acks)
        LEATI_TRY(leati_block_slice(&taken->block, 0, taken->block.n, &out->block, err));
    task->given += leati_worker_chunk_outcomes(taken);
    task->given_bytes += taken->bytes;
    if (reader->asked.acks) {
        s->unacked += leati_worker_chunk_outcomes(taken);
        s->unacked_bytes += taken->bytes;
        leati_worker_chunks_add(&reader->unacked, taken);
        /* Somebody may have left to this reader what it has left now. */
        if (s->ready.first != NULL)
            leati_queue_gate_wake(task->gate);
        return LEAT_OK;
    }
    if (taken->error == NULL)
        leati_block_move(&taken->block, &out->block);
    leati_worker_chunks_add(dropped, taken);
    return LEAT_OK;
}

/* Without room in memory a reader that keeps something leaves the rest to those that starve. */
static bool is_to_leave_it(const leati_worker_task *task, const leati_worker_reader *reader) {
    return reader->unacked.first != NULL && !leati_worker_holder_has_room(&task->memory) &&
           somebody_starves(task);
}

static leati_worker_taken take(leati_worker_task *task, leati_worker_reader *reader,
                               int64_t elements, int64_t bytes, leati_worker_outcome *out,
                               leati_worker_chunks *dropped, leat_error *err) {
    shared *s = task->state;
    if (s->ready.first != NULL && is_to_leave_it(task, reader))
        return LEATI_WORKER_HELD_BACK;
    if (s->ready.first == NULL) {
        if (!task->ended || s->unacked > reader->unacked.outcomes)
            return LEATI_WORKER_NOT_YET;
        out->kind = LEATI_FRAME_END;
        out->position = task->made;
        return LEATI_WORKER_TAKEN;
    }
    leati_worker_chunk *taken = take_front(s, elements, bytes, err);
    if (taken == NULL)
        return LEATI_WORKER_FAILED;
    if (taken->error == NULL)
        join_small(s, taken, elements, bytes, dropped);
    if (hand_out(task, reader, taken, out, dropped, err) == LEAT_OK)
        return LEATI_WORKER_TAKEN;
    leati_worker_chunks_insert(&s->ready, taken);
    return LEATI_WORKER_FAILED;
}

static void leave(leati_worker_task *task, leati_worker_reader *reader,
                  leati_worker_chunks *dropped) {
    shared *s = task->state;
    s->unacked -= reader->unacked.outcomes;
    s->unacked_bytes -= reader->unacked.bytes;
    for (leati_worker_chunk *chunk; (chunk = leati_worker_chunks_pop(&reader->unacked)) != NULL;) {
        leati_worker_chunks kept = {0};
        leat_error err = {0};
        /* Without memory for a chunk that was acknowledged in part, it is as if the task failed:
         * the dispatcher has it given again. */
        if (leati_worker_chunk_without(chunk, &task->acked, &kept, dropped, &err) != LEAT_OK)
            leati_worker_task_fail(task, &err);
        for (leati_worker_chunk *part; (part = leati_worker_chunks_pop(&kept)) != NULL;) {
            task->given -= leati_worker_chunk_outcomes(part);
            task->given_bytes -= part->bytes;
            leati_worker_chunks_insert(&s->ready, part);
        }
    }
}

/* Notes what of [begin, end) the chunk has. */
static leat_status note_acked(leati_worker_task *task, const leati_worker_chunk *chunk,
                              int64_t begin, int64_t end, leat_error *err) {
    int64_t last = chunk->position + leati_worker_chunk_outcomes(chunk);
    return leati_ranges_add(&task->acked, LEATI_MAX(begin, chunk->position), LEATI_MIN(end, last),
                            err);
}

static void ack(leati_worker_task *task, leati_worker_reader *reader, int64_t begin, int64_t end,
                leati_worker_chunks *dropped) {
    shared *s = task->state;
    leati_worker_chunks left = {0};
    leat_error err = {0};
    if (begin >= end)
        return;
    for (leati_worker_chunk *chunk; (chunk = leati_worker_chunks_pop(&reader->unacked)) != NULL;) {
        int64_t n = leati_worker_chunk_outcomes(chunk), until = 0;
        /* What is not noted would be given twice. */
        if (note_acked(task, chunk, begin, end, &err) != LEAT_OK)
            leati_worker_task_fail(task, &err);
        bool whole = leati_ranges_look(&task->acked, chunk->position, &until) &&
                     until >= chunk->position + n;
        s->unacked -= whole ? n : 0;
        s->unacked_bytes -= whole ? chunk->bytes : 0;
        leati_worker_chunks_add(whole ? dropped : &left, chunk);
    }
    reader->unacked = left;
    leati_queue_gate_wake(task->gate);
}

static bool done(const leati_worker_task *task) {
    const shared *s = task->state;
    return s->ready.first == NULL && s->unacked == 0;
}

static int64_t held(const leati_worker_task *task) {
    return ((const shared *)task->state)->ready.bytes;
}

static void count(const leati_worker_task *task, leati_worker_held *out) {
    const shared *s = task->state;
    *out = (leati_worker_held){.all = s->ready.bytes + s->unacked_bytes, .ready = s->ready.bytes};
}

static void fini(leati_worker_task *task) {
    leati_worker_chunks_free(&((shared *)task->state)->ready);
}

const leati_worker_runner leati_worker_runner_shared = {
    .name = "shared",
    .size = sizeof(shared),
    .room = room,
    .bare = bare,
    .put = put,
    .join = join,
    .take = take,
    .leave = leave,
    .ack = ack,
    .done = done,
    .held = held,
    .count = count,
    .fini = fini,
};
