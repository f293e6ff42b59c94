/* Leases on splits; see leases.h.
 *
 * Happy path: a source takes the lease that was asked for ahead, and the thread asks for the one
 * behind it. How many splits are wanted follows from how long the last lease lasted, so that the
 * next lasts LASTS_NS; the first is one split. Sources that go in step with others get one at a
 * time.
 *
 * Failures: a dispatcher that is away is waited for. One that says that the task is not at work
 * here any more has it stopped by a heartbeat, for which the source waits. Locks: the gate, a leaf;
 * the dispatcher is asked without it. */
#include "service/worker/leases.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/minmax.h"

enum { MOST_WANTED = 1 << 22, GROWTH = 4, GONE_MS = 30 * 1000 };
static const int64_t lasts_ns = 100 * 1000 * 1000;

/* What is asked for ahead. */
typedef enum ahead { IDLE, WANTED, ASKED, THERE } ahead;

typedef struct lease {
    int64_t repetition, sequence, want; /* the question */
    int64_t begin, end;
    bool none;
    leat_status status;
    leat_error err;
} lease;

typedef struct source {
    bool in_step;
    int64_t want;
    int64_t size, since_ns; /* of the lease that is worked on */
    ahead ahead;
    lease next; /* THERE: the answer; WANTED and ASKED: the question */
} source;

struct leati_worker_leases {
    leati_worker_task *task;
    leati_splits splits;
    leati_gate *gate;
    leati_driver *asker; /* NULL before a source has asked */
    /* The gate's lock. */
    source *sources;
    int count;
    bool ends;
};

/* ---- asking ---- */

static void ask(leati_worker_leases *l, int provider, lease *out) {
    leati_worker_task *task = l->task;
    struct leati_message_splits said = {.task = task->about.task,
                                        .attempt = task->about.attempt,
                                        .provider = provider,
                                        .repetition = out->repetition,
                                        .sequence = out->sequence,
                                        .want = out->want};
    struct leati_message_lease came = {0};
    out->status = task->ways.splits(task->ways.context, &said, task->cancel, &came, &out->err);
    out->begin = came.begin;
    out->end = came.end;
    out->none = came.none;
    if (out->status == LEAT_OK && !came.none && (came.begin < 0 || came.end <= came.begin))
        out->status = leati_fail(&out->err, LEAT_INTERNAL,
                                 "the dispatcher leases splits %lld to %lld of source %d",
                                 (long long)came.begin, (long long)came.end, provider);
}

static int wanted(const leati_worker_leases *l) {
    int i = 0;
    while (i < l->count && l->sources[i].ahead != WANTED)
        i++;
    return i;
}

static void asker_main(void *context) {
    leati_worker_leases *l = context;
    leat_status status = LEAT_OK;
    leati_queue_gate_lock(l->gate);
    while (status == LEAT_OK && !l->ends) {
        int i = wanted(l);
        if (i == l->count) {
            status = leati_queue_gate_wait(l->gate, LEATI_WAIT_CONSUMER, LEATI_NO_DEADLINE, NULL,
                                           &(leat_error){0});
            continue;
        }
        source *s = &l->sources[i];
        lease next = s->next;
        s->ahead = ASKED;
        leati_queue_gate_unlock(l->gate);
        ask(l, i, &next);
        leati_queue_gate_lock(l->gate);
        s->next = next;
        s->ahead = THERE;
        leati_queue_gate_wake(l->gate);
    }
    leati_queue_gate_unlock(l->gate);
}

/* ---- what sources ask ---- */

/* By how long the last lease lasted; with the lock held. */
static void adapt(source *s, int64_t now) {
    if (s->size > 0 && !s->in_step) {
        double lasted = (double)LEATI_MAX(now - s->since_ns, 1);
        double good = (double)s->size * (double)lasts_ns / lasted;
        double least = (double)s->want / GROWTH, most = (double)s->want * GROWTH;
        good = good < least ? least : good > most ? most : good;
        s->want = LEATI_MAX(1, LEATI_MIN((int64_t)good, (int64_t)MOST_WANTED));
    }
    s->since_ns = now;
    s->size = 0;
}

/* With the lock held: waits for what is under way for this source, and takes it where it is the
 * answer to this question. */
static leat_status take_ahead(leati_worker_leases *l, source *s, lease *out, bool *found,
                              leat_error *err) {
    *found = false;
    while (s->ahead == WANTED || s->ahead == ASKED)
        LEATI_TRY(leati_queue_gate_wait(l->gate, LEATI_WAIT_PEER, LEATI_NO_DEADLINE, NULL, err));
    if (s->ahead != THERE)
        return LEAT_OK;
    s->ahead = IDLE;
    *found = s->next.repetition == out->repetition && s->next.sequence == out->sequence;
    if (*found)
        *out = s->next;
    return LEAT_OK;
}

/* With the lock held. */
static leat_status want_ahead(leati_worker_leases *l, source *s, const lease *had,
                              leat_error *err) {
    if (l->asker == NULL) {
        l->asker = leati_driver_start("leat-leases", asker_main, l, err);
        if (l->asker == NULL)
            return err->code;
    }
    s->size = had->end - had->begin;
    s->next =
        (lease){.repetition = had->repetition, .sequence = had->sequence + 1, .want = s->want};
    s->ahead = WANTED;
    leati_queue_gate_wake(l->gate);
    return LEAT_OK;
}

/* The task is another worker's now: readers are to hear that, not an error. */
static leat_status wait_to_be_stopped(leati_worker_leases *l, leat_error *err) {
    int64_t deadline_ns = leati_clock_deadline_ns(GONE_MS);
    leat_status status = LEAT_OK;
    leati_worker_bell_ring(l->task->ways.bell);
    leati_queue_gate_lock(l->gate);
    while (status == LEAT_OK)
        status = leati_queue_gate_wait(l->gate, LEATI_WAIT_PEER, deadline_ns, NULL, err);
    leati_queue_gate_unlock(l->gate);
    return status;
}

static bool drains(leati_worker_task *task) {
    /* A stream of a snapshot goes on where it is until it is another worker's. */
    if (task->about.snapshot != NULL)
        return false;
    leati_queue_gate_lock(task->gate);
    bool draining = task->draining;
    leati_queue_gate_unlock(task->gate);
    return draining;
}

/* With the lock held, which is left while the dispatcher is asked. A worker that drains works off
 * what it was given ahead, which nobody else has, and asks for nothing more. */
static leat_status find_lease(leati_worker_leases *l, int provider, bool draining, lease *out,
                              leat_error *err) {
    source *s = &l->sources[provider];
    bool found = false;
    LEATI_TRY(take_ahead(l, s, out, &found, err));
    out->none = out->none || (!found && draining);
    if (found || draining)
        return LEAT_OK;
    out->want = s->want;
    leati_queue_gate_unlock(l->gate);
    ask(l, provider, out);
    leati_queue_gate_lock(l->gate);
    return LEAT_OK;
}

static leat_status next_lease(void *context, int provider, int64_t repetition, int64_t sequence,
                              int64_t *begin, int64_t *end, bool *none, leat_cancel *cancel,
                              leat_error *err) {
    leati_worker_leases *l = context;
    lease got = {.repetition = repetition, .sequence = sequence};
    leat_status status = LEAT_OK;
    /* The task's own is fired with whatever cancels its iterator. */
    (void)cancel;
    *none = true;
    bool draining = drains(l->task);
    int64_t now = l->task->ways.now_ns != NULL ? l->task->ways.now_ns() : leati_now_ns();
    leati_queue_gate_lock(l->gate);
    adapt(&l->sources[provider], now);
    status = find_lease(l, provider, draining, &got, err);
    if (status == LEAT_OK && got.status == LEAT_OK && !got.none && !draining)
        status = want_ahead(l, &l->sources[provider], &got, err);
    leati_queue_gate_unlock(l->gate);
    LEATI_TRY(status);
    if (got.status == LEAT_NOT_FOUND)
        return wait_to_be_stopped(l, err);
    if (got.status != LEAT_OK)
        return leati_error_pass(err, &got.err);
    *begin = got.begin;
    *end = got.end;
    *none = got.none;
    return LEAT_OK;
}

/* ---- life ---- */

static leat_status init(leati_worker_leases *l, const leat_dataset *plan, leat_error *err) {
    leati_splits_source *sources = NULL;
    LEATI_TRY(leati_splits_sources(plan, &sources, &l->count, err));
    l->sources = leati_alloc_zero((size_t)l->count, sizeof *l->sources);
    for (int i = 0; l->sources != NULL && i < l->count; i++)
        l->sources[i] = (source){.in_step = sources[i].in_step, .want = 1};
    leati_free(sources);
    if (l->sources == NULL)
        return leati_no_memory(err);
    l->gate = leati_queue_gate_new("leases of a worker", l->task->cancel, err);
    return l->gate == NULL ? err->code : LEAT_OK;
}

leati_worker_leases *leati_worker_leases_new(leati_worker_task *task, const leat_dataset *plan,
                                             leat_error *err) {
    leati_worker_leases *l = leati_alloc_zero(1, sizeof *l);
    if (l == NULL) {
        (void)leati_no_memory(err);
        return NULL;
    }
    l->task = task;
    l->splits = (leati_splits){l, next_lease};
    if (init(l, plan, err) != LEAT_OK) {
        leati_worker_leases_free(l);
        return NULL;
    }
    return l;
}

void leati_worker_leases_free(leati_worker_leases *leases) {
    if (leases == NULL)
        return;
    if (leases->gate != NULL) {
        leati_queue_gate_lock(leases->gate);
        leases->ends = true;
        leati_queue_gate_wake(leases->gate);
        leati_queue_gate_unlock(leases->gate);
    }
    leati_driver_join(leases->asker);
    leati_queue_gate_free(leases->gate);
    leati_free(leases->sources);
    leati_free(leases);
}

const leati_splits *leati_worker_leases_splits(const leati_worker_leases *leases) {
    return &leases->splits;
}
