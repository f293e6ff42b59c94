/* Scopes and looks; see stop.h. All is the thread's own: no locks. A thread is asked at most every
 * 20 ms, by the coarse clock, because asking may mean waiting for an interpreter's lock. */
#define _GNU_SOURCE
#include "base/stop.h"

#include "base/error.h"
#include <string.h>
#include <time.h>

static _Thread_local struct thread {
    leati_stop_scope scope;
    leat_interrupt_function *interrupted; /* NULL: the thread is not asked */
    void *context;
    int64_t next_ns; /* not asked before that */
    bool always;     /* whatever the time */
    unsigned often;  /* counts looks */
} here;

/* A few nanoseconds, for a resolution of some milliseconds. */
static int64_t coarse_ns(void) {
    struct timespec now;
#ifdef CLOCK_MONOTONIC_COARSE
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
#else
    clock_gettime(CLOCK_MONOTONIC, &now);
#endif
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void leat_interrupt_set(leat_interrupt_function *interrupted, void *context) {
    here.interrupted = interrupted;
    here.context = context;
    here.next_ns = 0;
}

void leati_stop_ask_always(bool always) {
    here.always = always;
}

leati_stop_scope leati_stop_enter(const atomic_bool *flag, void (*tell)(void *owner), void *owner) {
    struct thread *thread = &here;
    leati_stop_scope before = thread->scope;
    if (flag != NULL) {
        thread->scope.flag = flag;
        thread->scope.tell = tell;
        thread->scope.owner = owner;
    }
    /* What is called by what shall stop stops, too; what is part of a deaf whole stays deaf. */
    thread->scope.listens = !before.deaf;
    return before;
}

leati_stop_scope leati_stop_enter_team(leati_stop_team *team, void (*tell)(void *owner),
                                       void *owner) {
    leati_stop_scope before = leati_stop_enter(&team->stopping, tell, owner);
    here.scope.team = team;
    here.scope.committed = false;
    return before;
}

leati_stop_scope leati_stop_enter_deaf(void) {
    leati_stop_scope before = here.scope;
    here.scope.listens = here.scope.stopped = false;
    here.scope.deaf = true;
    return before;
}

leati_stop_scope leati_stop_enter_local(void) {
    leati_stop_scope before = here.scope;
    here.scope.is_local = true;
    return before;
}

bool leati_stop_is_local(void) {
    return here.scope.is_local;
}

void leati_stop_leave(leati_stop_scope before) {
    const leati_stop_scope *left = &here.scope;
    if (left->committed && (before.team != left->team || !before.committed))
        atomic_fetch_sub(&left->team->committed, 1);
    here.scope = before;
}

leat_status leati_stop_commit(leat_error *err) {
    LEATI_TRY(leati_stop_check(err));
    leati_stop_scope *scope = &here.scope;
    leati_stop_team *team = scope->committed ? NULL : scope->team;
    if (team != NULL) {
        /* Counted before the look: whoever stops the team sets the flag before it counts, so that
         * one of the two sees the other. */
        atomic_fetch_add(&team->committed, 1);
        if (atomic_load(&team->stopping)) {
            atomic_fetch_sub(&team->committed, 1);
            scope->stopped = scope->listens;
            return leati_fail(err, LEAT_CANCELLED, "interrupted before its end");
        }
        scope->committed = true;
    }
    (void)leati_stop_enter_deaf();
    return LEAT_OK;
}

bool leati_stop_team_stop(leati_stop_team *team, int threads) {
    atomic_store(&team->stopping, true);
    return atomic_load(&team->committed) == threads;
}

/* Whoever answers may call leat again, with scopes of its own. */
static bool ask(struct thread *thread) {
    int64_t now = coarse_ns();
    if (now < thread->next_ns && !thread->always)
        return false;
    thread->next_ns = now + LEATI_STOP_SLICE_NS;
    leati_stop_scope before = thread->scope;
    thread->scope = (leati_stop_scope){0};
    bool stop = thread->interrupted(thread->context);
    thread->scope = before;
    return stop;
}

static bool look(struct thread *thread, bool asks) {
    leati_stop_scope *scope = &thread->scope;
    if (!scope->listens || scope->stopped)
        return scope->stopped;
    if (scope->flag != NULL && atomic_load_explicit(scope->flag, memory_order_relaxed)) {
        scope->stopped = true;
    } else if (asks && thread->interrupted != NULL && ask(thread)) {
        scope->stopped = true;
        if (scope->tell != NULL)
            scope->tell(scope->owner);
    }
    return scope->stopped;
}

bool leati_stop_look(void) {
    return look(&here, true);
}

bool leati_stop_look_often(void) {
    struct thread *thread = &here;
    return look(thread, thread->always || (++thread->often & 3U) == 0);
}

bool leati_stop_stopped(void) {
    return here.scope.stopped;
}

void leati_stop_copy(void *to, const void *from, size_t size) {
    /* Some milliseconds, where the pages of `to` are new. */
    const size_t most = 4 * (size_t)LEATI_STOP_WORK;
    for (size_t done = 0; done < size && (done == 0 || !leati_stop_look()); done += most) {
        size_t part = size - done < most ? size - done : most;
        memcpy((char *)to + done, (const char *)from + done, part);
    }
}

leat_status leati_stop_check(leat_error *err) {
    return leati_stop_look() ? leati_fail(err, LEAT_CANCELLED, "interrupted before its end")
                             : LEAT_OK;
}

bool leati_stop_may_come(void) {
    return here.scope.listens && (here.interrupted != NULL || here.scope.flag != NULL);
}

bool leati_stop_cuts_waits(void) {
    return here.interrupted != NULL && here.scope.listens && here.scope.tell != NULL;
}
