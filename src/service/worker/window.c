/* A cross-trainer cache: a window over the elements of one task, which trainers share.
 *
 * Happy path: each trainer has a place in the stream; new ones begin where the window does. Whoever
 * is furthest has the window extended. Of what was read no more than cross_trainer_cache_size_bytes
 * are kept, and no more than the worker's memory has room for: elements leave at the other end, and
 * a trainer that they leave behind goes on with the first one that is there. Nothing is dropped
 * that no trainer has read.
 *
 * Failures: INVALID_ARGUMENT where an element is larger than the window, or the input ends. The
 * lock is the task's. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/minmax.h"
#include "service/worker/task.h"
#include <inttypes.h>
#include <string.h>

typedef struct trainer {
    char *id;
    int64_t position;          /* of its next element */
    leati_worker_chunk *chunk; /* where it was last, if that is kept */
} trainer;

typedef struct window {
    leati_worker_chunks kept;
    int64_t furthest; /* position of the trainer that has read most */
    int64_t unread;   /* bytes that no trainer has read */
    trainer *trainers;
    size_t num_trainers, capacity;
} window;

static int64_t start(const leati_worker_task *task) {
    const window *w = task->state;
    return w->kept.first == NULL ? task->made : w->kept.first->position;
}

static bool room(leati_worker_task *task) {
    const window *w = task->state;
    return task->made - w->furthest < task->ahead && w->unread < task->ways.window_bytes;
}

static bool bare(const leati_worker_task *task) {
    return task->made == ((const window *)task->state)->furthest;
}

static void drop_first(window *w, leati_worker_chunks *dropped) {
    leati_worker_chunk *first = leati_worker_chunks_pop(&w->kept);
    for (size_t i = 0; i < w->num_trainers; i++)
        if (w->trainers[i].chunk == first)
            w->trainers[i].chunk = NULL;
    leati_worker_chunks_add(dropped, first);
}

/* Drops what was read until no more of it is kept than may be. */
static void fit(leati_worker_task *task, leati_worker_chunks *dropped) {
    window *w = task->state;
    for (;;) {
        int64_t excess = LEATI_MAX(w->kept.bytes - w->unread - task->ways.window_bytes,
                                   leati_worker_holder_excess(&task->memory, w->kept.bytes));
        if (excess <= 0 || start(task) >= w->furthest)
            return;
        leati_worker_chunk *first = w->kept.first;
        int64_t n = leati_worker_chunk_outcomes(first);
        int64_t read = LEATI_MIN(n, w->furthest - first->position);
        double mean = (double)first->bytes / (double)n;
        int64_t out = mean > 0 ? LEATI_MIN(read, (int64_t)((double)(excess - 1) / mean) + 1) : read;
        if (out >= n) {
            drop_first(w, dropped);
            continue;
        }
        w->kept.bytes -= leati_worker_chunk_share(first, out);
        w->kept.outcomes -= out;
        leati_worker_chunk_skip(first, out);
    }
}

static leat_status put(leati_worker_task *task, leati_worker_chunk *chunk,
                       leati_worker_chunks *dropped, leat_error *err) {
    window *w = task->state;
    int64_t element = chunk->bytes / leati_worker_chunk_outcomes(chunk);
    bool rows = chunk->error == NULL;
    leati_worker_chunks_add(&w->kept, chunk);
    w->unread += chunk->bytes;
    if (rows && element > task->ways.window_bytes)
        return leati_refuse(err, VALUE,
                            "an element of %" PRId64 " bytes does not fit the cross-trainer cache; "
                            "cross_trainer_cache_size_bytes is %" PRId64,
                            element, task->ways.window_bytes);
    fit(task, dropped);
    return LEAT_OK;
}

static leat_status end(leati_worker_task *task, leat_error *err) {
    return leati_refuse(
        err, VALUE,
        "a cross-trainer cache needs a dataset without an end; this one ended after "
        "%" PRId64 " elements: put repeat() at its end",
        task->made);
}

static leat_status join(leati_worker_task *task, leati_worker_reader *reader, leat_error *err) {
    window *w = task->state;
    const char *id = reader->asked.trainer;
    if (id == NULL || id[0] == '\0')
        return leati_refuse(err, VALUE,
                            "task %" PRId64 " is read through a cross-trainer cache: a trainer_id "
                            "is needed",
                            task->about.task);
    size_t i = 0;
    while (i < w->num_trainers && strcmp(w->trainers[i].id, id) != 0)
        i++;
    if (i == w->num_trainers) {
        char *copy = leati_strdup(id);
        if (copy == NULL ||
            !leati_grow((void **)&w->trainers, &w->capacity, i + 1, sizeof *w->trainers)) {
            leati_free(copy);
            return leati_no_memory(err);
        }
        w->trainers[w->num_trainers++] = (trainer){.id = copy, .position = start(task)};
    }
    reader->trainer = (int)i;
    return LEAT_OK;
}

/* The chunk in which a trainer's next element is. */
static leati_worker_chunk *chunk_of(const window *w, trainer *t) {
    leati_worker_chunk *chunk = t->chunk != NULL ? t->chunk : w->kept.first;
    while (chunk->position + leati_worker_chunk_outcomes(chunk) <= t->position)
        chunk = chunk->next;
    t->chunk = chunk;
    return chunk;
}

/* The trainer has read up to its position, in this chunk. */
static void note_read(leati_worker_task *task, const leati_worker_chunk *chunk, int64_t position) {
    window *w = task->state;
    if (position <= w->furthest)
        return;
    w->unread -=
        leati_worker_chunk_share(chunk, position - LEATI_MAX(w->furthest, chunk->position));
    w->furthest = position;
    /* Means are rounded; here the truth is known. */
    if (position == task->made)
        w->unread = 0;
}

static leati_worker_taken take(leati_worker_task *task, leati_worker_reader *reader,
                               int64_t elements, int64_t bytes, leati_worker_outcome *out,
                               leati_worker_chunks *dropped, leat_error *err) {
    window *w = task->state;
    trainer *t = &w->trainers[reader->trainer];
    t->position = LEATI_MAX(t->position, start(task));
    if (t->position >= task->made)
        return LEATI_WORKER_NOT_YET;
    const leati_worker_chunk *chunk = chunk_of(w, t);
    int64_t from = t->position - chunk->position;
    int64_t n = LEATI_MIN(leati_worker_chunk_outcomes(chunk) - from, elements);
    while (n > 1 && leati_worker_chunk_share(chunk, n) > bytes)
        n /= 2;
    out->position = t->position;
    out->kind = chunk->error != NULL ? LEATI_FRAME_ERROR : LEATI_FRAME_ELEMENTS;
    if (chunk->error != NULL)
        out->why = *chunk->error;
    else if (leati_block_slice(&chunk->block, from, n, &out->block, err) != LEAT_OK)
        return LEATI_WORKER_FAILED;
    task->given += n;
    task->given_bytes += leati_worker_chunk_share(chunk, n);
    t->position += n;
    note_read(task, chunk, t->position);
    fit(task, dropped);
    return LEATI_WORKER_TAKEN;
}

/* A trainer's place is kept for its next reader. */
static void leave(leati_worker_task *task, leati_worker_reader *reader,
                  leati_worker_chunks *dropped) {
    (void)task;
    (void)reader;
    (void)dropped;
}

static bool done(const leati_worker_task *task) {
    (void)task;
    return false;
}

static int64_t held(const leati_worker_task *task) {
    return ((const window *)task->state)->unread;
}

/* What was read can be dropped at once. */
static void count(const leati_worker_task *task, leati_worker_held *out) {
    const window *w = task->state;
    *out = (leati_worker_held){
        .all = w->kept.bytes, .ready = w->unread, .spare = LEATI_MAX(w->kept.bytes - w->unread, 0)};
}

static void fini(leati_worker_task *task) {
    window *w = task->state;
    leati_worker_chunks_free(&w->kept);
    for (size_t i = 0; i < w->num_trainers; i++)
        leati_free(w->trainers[i].id);
    leati_free(w->trainers);
}

const leati_worker_runner leati_worker_runner_window = {
    .name = "window",
    .size = sizeof(window),
    .room = room,
    .bare = bare,
    .put = put,
    .end = end,
    .join = join,
    .take = take,
    .leave = leave,
    .done = done,
    .held = held,
    .count = count,
    .fit = fit,
    .fini = fini,
};
