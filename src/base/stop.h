/* Work that ends before its time: how long loops hear of a cancellation or of Ctrl-C.
 *
 * A thread says for whom it works (a scope), and loops that may go on for long look every now and
 * then, wherever they stand, without being handed anything. A thread may also be asked whether to
 * stop (leat_interrupt_set), as the main thread of an interpreter is, whose signals only set a
 * flag; where it says yes, what the scope belongs to is told. */
#ifndef LEATI_BASE_STOP_H
#define LEATI_BASE_STOP_H

#include <leat/base.h>
#include <stdatomic.h>

/* Threads that do one thing together, which either all of them end or none does. Zero at first. */
typedef struct leati_stop_team {
    atomic_bool stopping; /* whoever has not committed shall stop */
    atomic_int committed; /* threads of the team that go to their ends */
} leati_stop_team;

/* For whom a thread works now. A thread without a scope never stops. */
typedef struct leati_stop_scope {
    const atomic_bool *flag;   /* set when it shall stop; borrowed; NULL: nobody sets one */
    void (*tell)(void *owner); /* sets the flag and wakes who waits; NULL with the flag */
    void *owner;               /* borrowed */
    leati_stop_team *team;     /* borrowed; NULL: the thread works alone */
    bool listens;              /* looks may stop what runs */
    bool stopped;              /* one has */
    bool deaf;                 /* whatever is entered inside does not listen either */
    bool committed;            /* counted by the team */
    bool is_local;             /* files of other machines are refused; inside of it, too */
} leati_stop_scope;

/* The thread works for `owner` from now on; with a flag of NULL for whom it worked before, but it
 * listens. Returns the scope before, which leave puts back. They nest. */
leati_stop_scope leati_stop_enter(const atomic_bool *flag, void (*tell)(void *owner), void *owner);
/* The same as one thread of `team`, which `tell` stops by leati_stop_team_stop. */
leati_stop_scope leati_stop_enter_team(leati_stop_team *team, void (*tell)(void *owner),
                                       void *owner);
/* What follows is done to its end: looks say false. */
leati_stop_scope leati_stop_enter_deaf(void);
void leati_stop_leave(leati_stop_scope before);

/* The thread works for who it worked for, on a stranger's behalf: whatever it opens is a file of
 * this machine (file/fs.h), until the scope is left. */
leati_stop_scope leati_stop_enter_local(void);
bool leati_stop_is_local(void);

/* From here on until the scope is left the thread goes to its end, because others see what it does:
 * looks say false. CANCELLED, and nothing has changed, where it shall stop. */
LEAT_WARN_UNUSED leat_status leati_stop_commit(leat_error *err);
/* From now on no thread of the team commits. True: all `threads` of it had done so, and end by
 * themselves; else those who wait for the others must be woken. From any thread. */
bool leati_stop_team_stop(leati_stop_team *team, int threads);

/* Shall the thread stop what it does? Once true it stays true until the scope is left. It costs
 * some 20 ns, so loops look every 0.1 to 5 ms; no lock is held, as the thread may be asked. A loop
 * that cannot fail may end with whatever its results are then: who runs kernels asks
 * leati_stop_stopped behind them, and drops what they made. */
bool leati_stop_look(void);
/* The same where looks may come every few nanoseconds: the flag is read each time, the thread asked
 * every fourth. */
bool leati_stop_look_often(void);
/* Has a look in this scope said true? */
bool leati_stop_stopped(void);
/* CANCELLED where a look says true, else LEAT_OK. */
LEAT_WARN_UNUSED leat_status leati_stop_check(leat_error *err);

/* About a millisecond of the simplest work: values moved, products added. */
enum { LEATI_STOP_WORK = 1 << 20 };

/* A look after each LEATI_STOP_WORK of work; *done counts, from 0. Once true it stays true, so that
 * loops around the one that looks end, too. */
static inline bool leati_stop_look_after(int64_t work, int64_t *done) {
    if ((*done += work) < LEATI_STOP_WORK)
        return false;
    bool stops = leati_stop_look();
    *done = stops ? LEATI_STOP_WORK : 0;
    return stops;
}

/* The same for a loop over i from 0 on, of one value each. */
static inline bool leati_stop_look_at(int64_t i) {
    return (i & (LEATI_STOP_WORK - 1)) == LEATI_STOP_WORK - 1 && leati_stop_look();
}

/* memcpy that looks now and then, and leaves out what follows once a look says true. */
void leati_stop_copy(void *to, const void *from, size_t size);

/* Must a wait of this thread be cut into slices, with a look after each? It is asked, listens, and
 * works for somebody who can be told. */
bool leati_stop_cuts_waits(void);
/* The same for who can do without being told: it listens, and is asked or has a flag. */
bool leati_stop_may_come(void);
enum { LEATI_STOP_SLICE_NS = 20000000 };

/* For tests: the calling thread is asked at every look, not every 20 ms. */
void leati_stop_ask_always(bool always);

#endif
