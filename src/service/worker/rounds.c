/* Coordinated reads: consumer i of n gets positions k * n + i in the task's k-th round.
 *
 * Happy path: a task has turns, which are the same for all of its consumers: a round, once its n
 * elements are ready, or a skip, where they are not 100 ms after a consumer began to wait for them
 * whose program has all before them, so that all can take a round of another worker instead. A
 * consumer says how many turns came to it, and how many its program took, behind which it is given
 * `window` elements at most, fewer where they are large, and any skips, so that none waits for
 * another one's program. Turns that came to all are whole; each consumer is told how many there
 * are, some at a time while there are elements to send it, and hands out no others. So whatever
 * becomes of a worker, no program has an element of a round that another consumer lacks.
 *
 * What was given is kept until it came to all: a consumer whose stream broke gets it again.
 * Failures: FAILED_PRECONDITION for a consumer that comes back behind its turn, as one that was
 * started again does, and for an input that ends. The lock is the task's. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/minmax.h"
#include "service/worker/task.h"
#include <inttypes.h>
#include <string.h>

enum {
    SKIP_AFTER_NS = 100 * 1000 * 1000,
    MOST_CONSUMERS = 1 << 20,
    LEAST_TURNS = 2,       /* that a consumer is given, however large they are */
    MOST_BYTES = 16 << 20, /* beyond those */
    TELLINGS = 4           /* of a window */
};

/* A consumer, from when it first joined; all but the first two count turns. */
typedef struct consumer {
    leati_worker_reader *reader; /* NULL: not here now */
    bool joined;
    int64_t next;       /* to be given */
    int64_t given;      /* that it was ever given, by this stream or an earlier one */
    int64_t came, took; /* to it, and by its program, as it said last */
    int64_t told;       /* whole ones that it was told of */
} consumer;

typedef struct rounds {
    leati_worker_chunks made; /* what did not come to all */
    consumer *consumers;
    int64_t n, joined;
    int64_t base;  /* the first turn */
    int64_t whole; /* turns that came to all */
    /* The turns that are skips: how many all programs took, and the others, ascending. */
    int64_t passed;
    int64_t *skips;
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

/* The first round that is not ready; the task's count from 0. */
static int64_t first_open(const leati_worker_task *task) {
    return task->made / ((const rounds *)task->state)->n;
}

static bool is_skip(const rounds *r, int64_t turn) {
    for (size_t i = r->num_skips; i-- > 0 && r->skips[i] >= turn;)
        if (r->skips[i] == turn)
            return true;
    return false;
}

/* How many skips are listed in front of a turn. */
static int64_t skips_before(const rounds *r, int64_t turn) {
    size_t before = r->num_skips;
    while (before > 0 && r->skips[before - 1] >= turn)
        before--;
    return (int64_t)before;
}

/* The round that a turn is, or would be if it were no skip. */
static int64_t round_of(const rounds *r, int64_t turn) {
    return turn - r->base - r->passed - skips_before(r, turn);
}

/* How many turns came to all is found anew: true, it has become more. */
static bool count_whole(rounds *r) {
    int64_t whole = r->joined < r->n ? r->base : INT64_MAX, before = r->whole;
    for (int64_t i = 0; r->joined == r->n && i < r->n; i++)
        whole = LEATI_MIN(whole, r->consumers[i].came);
    r->whole = whole;
    return whole > before;
}

static bool room(leati_worker_task *task) {
    const rounds *r = task->state;
    int64_t ahead = LEATI_MAX(2, task->ahead / r->n);
    return first_open(task) - round_of(r, r->whole) < ahead;
}

/* The round that the last consumer waits for, or will, is not ready. */
static bool bare(const leati_worker_task *task) {
    const rounds *r = task->state;
    return first_open(task) <= round_of(r, r->whole);
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

/* ---- consumers ---- */

static leat_status check_turn(const leati_worker_task *task, const consumer *c,
                              const struct leati_message_read *asked, leat_error *err) {
    if (asked->round < c->came)
        return leati_fail(err, LEAT_FAILED_PRECONDITION,
                          "consumer %" PRId64 " asks for round %" PRId64 " of task %" PRId64
                          ", but the current round has already reached %" PRId64
                          ". Coordinated reads do not go on with a consumer that was started "
                          "again; start all of them under another job_name",
                          asked->consumer, asked->round, task->about.task, c->came);
    if (asked->round > c->given)
        return leati_fail(err, LEAT_FAILED_PRECONDITION,
                          "consumer %" PRId64 " asks for round %" PRId64 " of task %" PRId64
                          ", of which it was given %" PRId64,
                          asked->consumer, asked->round, task->about.task, c->given);
    return LEAT_OK;
}

static leat_status join(leati_worker_task *task, leati_worker_reader *reader, leat_error *err) {
    rounds *r = task->state;
    const struct leati_message_read *asked = &reader->asked;
    if (asked->consumer < 0 || asked->consumer >= r->n)
        return leati_refuse(err, VALUE, "consumer_index is %" PRId64 "; expected 0 to %" PRId64,
                            asked->consumer, r->n - 1);
    consumer *c = &r->consumers[asked->consumer];
    if (c->joined)
        LEATI_TRY(check_turn(task, c, asked, err));
    /* The newer stream of a consumer is the one that counts. */
    if (c->reader != NULL)
        c->reader->closed = true;
    c->reader = reader;
    c->next = c->came = asked->round;
    c->took = LEATI_MIN(asked->taken, asked->round);
    c->told = 0;
    if (!c->joined) {
        c->joined = true;
        c->given = asked->round;
        r->base = r->joined == 0 ? asked->round : LEATI_MIN(r->base, asked->round);
        r->joined++;
    }
    (void)count_whole(r);
    return LEAT_OK;
}

/* Elements that came to everybody, and skips that every program took. */
static void forget_passed(rounds *r, leati_worker_chunks *dropped) {
    int64_t outcomes = round_of(r, r->whole) * r->n, took = INT64_MAX;
    size_t passed = 0;
    for (int64_t i = 0; i < r->n; i++)
        took = LEATI_MIN(took, r->consumers[i].took);
    while (r->made.first != NULL &&
           r->made.first->position + leati_worker_chunk_outcomes(r->made.first) <= outcomes)
        leati_worker_chunks_add(dropped, leati_worker_chunks_pop(&r->made));
    while (passed < r->num_skips && r->skips[passed] < took)
        passed++;
    if (passed > 0)
        memmove(r->skips, r->skips + passed, (r->num_skips - passed) * sizeof *r->skips);
    r->num_skips -= passed;
    r->passed += (int64_t)passed;
}

/* Does its program have so many elements before it that it is to get no more? */
static bool is_full(const leati_worker_task *task, const consumer *c) {
    const rounds *r = task->state;
    int64_t elements = round_of(r, c->next) - round_of(r, c->took);
    if (elements >= LEATI_MAX(c->reader->asked.window, 1))
        return true;
    double mean = (double)task->given_bytes / (double)LEATI_MAX(task->given, 1);
    return elements >= LEAST_TURNS && mean * (double)elements >= MOST_BYTES;
}

/* Is the consumer to hear now that more turns are whole? Later, while there is something else for
 * it and its program has some to take. */
static bool is_to_be_told(const rounds *r, const consumer *c) {
    return r->whole > c->told &&
           (c->took >= c->told || r->whole - c->told >= c->reader->asked.window / TELLINGS);
}

/* The program took `begin` turns, and `end` came to its consumer. */
static void ack(leati_worker_task *task, leati_worker_reader *reader, int64_t begin, int64_t end,
                leati_worker_chunks *dropped) {
    rounds *r = task->state;
    consumer *c = &r->consumers[reader->asked.consumer];
    if (c->reader != reader)
        return;
    bool full = is_full(task, c), waits = c->next == c->took;
    c->came = LEATI_MAX(c->came, LEATI_MIN(end, c->next));
    c->took = LEATI_MAX(c->took, LEATI_MIN(begin, c->came));
    bool more = count_whole(r);
    if (r->joined == r->n)
        forget_passed(r, dropped);
    if (more || (full && !is_full(task, c)) || (!waits && c->next == c->took))
        leati_queue_gate_wake(task->gate);
}

static leati_worker_taken give(leati_worker_task *task, consumer *c, int64_t index,
                               leati_worker_outcome *out, leat_error *err) {
    const rounds *r = task->state;
    int64_t position = round_of(r, c->next) * r->n + index;
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
    if (c->next++ >= c->given) {
        c->given = c->next;
        task->given++;
        task->given_bytes += leati_worker_chunk_share(chunk, 1);
    }
    return LEATI_WORKER_TAKEN;
}

static leati_worker_taken give_skip(const rounds *r, consumer *c, leati_worker_outcome *out) {
    out->kind = LEATI_FRAME_SKIP;
    out->position = round_of(r, c->next);
    c->next++;
    c->given = LEATI_MAX(c->given, c->next);
    return LEATI_WORKER_TAKEN;
}

/* Decides that this turn is a skip. All before it are decided, as somebody was given them. */
static leati_worker_taken add_skip(leati_worker_task *task, consumer *c, leati_worker_outcome *out,
                                   leat_error *err) {
    rounds *r = task->state;
    if (!leati_grow((void **)&r->skips, &r->skips_capacity, r->num_skips + 1, sizeof *r->skips)) {
        (void)leati_no_memory(err);
        return LEATI_WORKER_FAILED;
    }
    r->skips[r->num_skips++] = c->next;
    r->skip_at_ns = LEATI_NO_DEADLINE;
    /* The others wait for the same round. */
    leati_queue_gate_wake(task->gate);
    return give_skip(r, c, out);
}

/* The consumer's turn is a round that is not ready. */
static leati_worker_taken wait_or_skip(leati_worker_task *task, leati_worker_reader *reader,
                                       consumer *c, leati_worker_outcome *out, leat_error *err) {
    rounds *r = task->state;
    int64_t now = leati_now_ns();
    /* Its program may not want it before long; and one that came first with a later turn than the
     * others waits for them. */
    if (c->took < c->next || round_of(r, c->next) != first_open(task))
        return LEATI_WORKER_NOT_YET;
    if (r->skip_at_ns == LEATI_NO_DEADLINE)
        r->skip_at_ns = now + SKIP_AFTER_NS;
    if (now >= r->skip_at_ns)
        return add_skip(task, c, out, err);
    reader->skip_at_ns = r->skip_at_ns;
    return LEATI_WORKER_NOT_YET;
}

static leati_worker_taken tell_whole(const rounds *r, consumer *c, leati_worker_outcome *out) {
    c->told = r->whole;
    out->kind = LEATI_FRAME_WHOLE;
    out->position = r->whole;
    return LEATI_WORKER_TAKEN;
}

static leati_worker_taken take(leati_worker_task *task, leati_worker_reader *reader,
                               int64_t elements, int64_t bytes, leati_worker_outcome *out,
                               leati_worker_chunks *dropped, leat_error *err) {
    const rounds *r = task->state;
    consumer *c = &r->consumers[reader->asked.consumer];
    (void)elements;
    (void)bytes;
    (void)dropped;
    reader->skip_at_ns = LEATI_NO_DEADLINE;
    if (r->joined < r->n)
        return LEATI_WORKER_NOT_YET;
    if (is_to_be_told(r, c))
        return tell_whole(r, c, out);
    if (is_skip(r, c->next))
        return give_skip(r, c, out);
    bool full = is_full(task, c);
    if (!full && round_of(r, c->next) < first_open(task))
        return give(task, c, reader->asked.consumer, out, err);
    if (r->whole > c->told)
        return tell_whole(r, c, out);
    return full ? LEATI_WORKER_HELD_BACK : wait_or_skip(task, reader, c, out, err);
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
    .bare = bare,
    .put = put,
    .end = end,
    .join = join,
    .take = take,
    .leave = leave,
    .ack = ack,
    .done = done,
    .held = held,
    .fini = fini,
};
