/* Coordinated reads: consumer i of n gets positions k * n + i in the task's k-th round.
 *
 * Happy path: rounds begin when every consumer has come; the round at which each stands counts its
 * turns that were elements. A round is ready when its n elements are. Where it is not ready 100 ms
 * after a consumer began to wait for it, all consumers get a skip in front of it, so that they can
 * take a round of another worker instead; what was decided once for a turn holds for all.
 *
 * A task that another worker gives anew begins at the lowest round that a consumer asks for; those
 * that had it already get their next one. Failures: FAILED_PRECONDITION for a consumer that comes
 * back behind its turn, as one that was started again does, and for an input that ends. The lock is
 * the task's. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/minmax.h"
#include "service/worker/task.h"
#include <inttypes.h>
#include <string.h>

enum { SKIP_AFTER_NS = 100 * 1000 * 1000, MOST_CONSUMERS = 1 << 20 };

/* A consumer, from when it first came. */
typedef struct consumer {
    leati_worker_reader *reader; /* NULL: not here now */
    bool came;
    int64_t turns;        /* that it had, skips too */
    int64_t round, skips; /* of that round, which it was given */
} consumer;

/* How many skips stand in front of a round; rounds without any are not listed. */
typedef struct skips {
    int64_t round, count;
} skips;

typedef struct rounds {
    leati_worker_chunks made; /* what not all have taken */
    consumer *consumers;
    int64_t n, came;
    int64_t base; /* the first round */
    skips *skips;
    size_t num_skips, skips_capacity;
    int64_t skip_at_ns; /* of the round that is not ready; LEATI_NO_DEADLINE: nobody waits */
} rounds;

static leat_status init(leati_worker_task *task, leat_error *err) {
    rounds *r = task->state;
    r->skip_at_ns = LEATI_NO_DEADLINE;
    if (task->about.consumers > MOST_CONSUMERS)
        return leati_refuse(err, VALUE, "%" PRId64 " consumers; at most %d can read together",
                            task->about.consumers, MOST_CONSUMERS);
    r->n = task->about.consumers;
    r->consumers = leati_alloc_zero((size_t)r->n, sizeof *r->consumers);
    return r->consumers == NULL ? leati_no_memory(err) : LEAT_OK;
}

/* The first round that is not ready. */
static int64_t first_open(const leati_worker_task *task) {
    const rounds *r = task->state;
    return r->base + task->made / r->n;
}

/* The round that the last of all stands at. */
static int64_t last_of_all(const rounds *r) {
    int64_t round = r->came < r->n ? r->base : INT64_MAX;
    for (int64_t i = 0; r->came == r->n && i < r->n; i++)
        round = LEATI_MIN(round, r->consumers[i].round);
    return round;
}

static bool room(leati_worker_task *task) {
    const rounds *r = task->state;
    int64_t ahead = LEATI_MAX(2, task->ahead / r->n);
    return first_open(task) - last_of_all(r) < ahead && r->made.bytes < task->ways.memory;
}

static leat_status put(leati_worker_task *task, leati_worker_chunk *chunk,
                       leati_worker_chunks *dropped, leat_error *err) {
    rounds *r = task->state;
    (void)dropped;
    (void)err;
    leati_worker_chunks_add(&r->made, chunk);
    /* Whoever waited for a round that is ready now does so no longer. */
    if (task->made / r->n > (task->made - leati_worker_chunk_outcomes(chunk)) / r->n)
        r->skip_at_ns = LEATI_NO_DEADLINE;
    return LEAT_OK;
}

static leat_status end(leati_worker_task *task, leat_error *err) {
    return leati_fail(err, LEAT_FAILED_PRECONDITION,
                      "Encountered end of sequence on a round-robin read iterator after %" PRId64
                      " elements: coordinated reads need an endless dataset; put repeat() at its "
                      "end",
                      task->made);
}

static leat_status join(leati_worker_task *task, leati_worker_reader *reader, leat_error *err) {
    rounds *r = task->state;
    int64_t i = reader->asked.consumer, round = reader->asked.round;
    if (i < 0 || i >= r->n)
        return leati_refuse(err, VALUE, "consumer_index is %" PRId64 "; expected 0 to %" PRId64, i,
                            r->n - 1);
    consumer *c = &r->consumers[i];
    if (c->came && round < c->turns)
        return leati_fail(err, LEAT_FAILED_PRECONDITION,
                          "consumer %" PRId64 " asks for round %" PRId64 " of task %" PRId64
                          ", but the current round has already reached %" PRId64
                          ". Coordinated reads do not go on with a consumer that was started "
                          "again; start all of them under another job_name",
                          i, round, task->about.task, c->turns);
    /* The newer stream of a consumer is the one that counts. */
    if (c->reader != NULL)
        c->reader->closed = true;
    c->reader = reader;
    if (c->came)
        return LEAT_OK;
    c->came = true;
    c->round = c->turns = round;
    r->base = r->came == 0 ? round : LEATI_MIN(r->base, round);
    r->came++;
    return LEAT_OK;
}

static skips *skips_of(rounds *r, int64_t round) {
    for (size_t i = r->num_skips; i-- > 0;)
        if (r->skips[i].round == round)
            return &r->skips[i];
    return NULL;
}

/* All that everybody has behind them. */
static void forget_passed(rounds *r, leati_worker_chunks *dropped) {
    int64_t last = last_of_all(r);
    size_t passed = 0;
    while (r->made.first != NULL &&
           r->made.first->position + leati_worker_chunk_outcomes(r->made.first) <=
               (last - r->base) * r->n)
        leati_worker_chunks_add(dropped, leati_worker_chunks_pop(&r->made));
    while (passed < r->num_skips && r->skips[passed].round < last)
        passed++;
    if (passed > 0)
        memmove(r->skips, r->skips + passed, (r->num_skips - passed) * sizeof *r->skips);
    r->num_skips -= passed;
}

static leati_worker_taken give(leati_worker_task *task, consumer *c, int64_t index,
                               leati_worker_outcome *out, leati_worker_chunks *dropped,
                               leat_error *err) {
    rounds *r = task->state;
    int64_t position = (c->round - r->base) * r->n + index;
    const leati_worker_chunk *chunk = r->made.first;
    while (chunk->position + leati_worker_chunk_outcomes(chunk) <= position)
        chunk = chunk->next;
    out->position = position;
    out->kind = chunk->error != NULL ? LEATI_FRAME_ERROR : LEATI_FRAME_ELEMENTS;
    if (chunk->error != NULL)
        out->why = *chunk->error;
    else if (leati_block_slice(&chunk->block, position - chunk->position, 1, &out->block, err) !=
             LEAT_OK)
        return LEATI_WORKER_FAILED;
    task->given++;
    task->given_bytes += leati_worker_chunk_share(chunk, 1);
    c->round++;
    c->turns++;
    c->skips = 0;
    forget_passed(r, dropped);
    return LEATI_WORKER_TAKEN;
}

static leati_worker_taken skip(consumer *c, leati_worker_outcome *out) {
    c->skips++;
    c->turns++;
    out->kind = LEATI_FRAME_SKIP;
    out->position = c->round;
    return LEATI_WORKER_TAKEN;
}

/* Decides that there is one skip more in front of the round that is not ready. */
static leat_status add_skip(rounds *r, int64_t round, leat_error *err) {
    skips *before = skips_of(r, round);
    r->skip_at_ns = LEATI_NO_DEADLINE;
    if (before != NULL) {
        before->count++;
        return LEAT_OK;
    }
    if (!leati_grow((void **)&r->skips, &r->skips_capacity, r->num_skips + 1, sizeof *r->skips))
        return leati_no_memory(err);
    r->skips[r->num_skips++] = (skips){round, 1};
    return LEAT_OK;
}

static leati_worker_taken decide_skip(leati_worker_task *task, consumer *c,
                                      leati_worker_outcome *out, leat_error *err) {
    if (add_skip(task->state, c->round, err) != LEAT_OK)
        return LEATI_WORKER_FAILED;
    /* The others wait for the same round. */
    leati_queue_gate_wake(task->gate);
    return skip(c, out);
}

static leati_worker_taken take(leati_worker_task *task, leati_worker_reader *reader,
                               int64_t elements, int64_t bytes, leati_worker_outcome *out,
                               leati_worker_chunks *dropped, leat_error *err) {
    rounds *r = task->state;
    consumer *c = &r->consumers[reader->asked.consumer];
    (void)elements;
    (void)bytes;
    reader->skip_at_ns = LEATI_NO_DEADLINE;
    if (r->came < r->n)
        return LEATI_WORKER_NOT_YET;
    const skips *decided = skips_of(r, c->round);
    if (decided != NULL && c->skips < decided->count)
        return skip(c, out);
    if (c->round < first_open(task))
        return give(task, c, reader->asked.consumer, out, dropped, err);
    int64_t now = leati_now_ns();
    if (r->skip_at_ns == LEATI_NO_DEADLINE)
        r->skip_at_ns = now + SKIP_AFTER_NS;
    if (now >= r->skip_at_ns && c->round == first_open(task))
        return decide_skip(task, c, out, err);
    /* One that came back with a later round than the others waits for them. */
    if (c->round == first_open(task))
        reader->skip_at_ns = r->skip_at_ns;
    return LEATI_WORKER_NOT_YET;
}

static void leave(leati_worker_task *task, leati_worker_reader *reader,
                  leati_worker_chunks *dropped) {
    consumer *c = &((rounds *)task->state)->consumers[reader->asked.consumer];
    (void)dropped;
    if (c->reader == reader)
        c->reader = NULL;
}

/* Without an end there is nothing to be done with. */
static bool done(const leati_worker_task *task) {
    (void)task;
    return false;
}

static int64_t held(const leati_worker_task *task) {
    return ((const rounds *)task->state)->made.bytes;
}

static void fini(leati_worker_task *task) {
    rounds *r = task->state;
    leati_worker_chunks_free(&r->made);
    leati_free(r->consumers);
    leati_free(r->skips);
}

const leati_worker_runner leati_worker_runner_rounds = {
    .name = "rounds",
    .size = sizeof(rounds),
    .init = init,
    .room = room,
    .put = put,
    .end = end,
    .join = join,
    .take = take,
    .leave = leave,
    .done = done,
    .held = held,
    .fini = fini,
};
