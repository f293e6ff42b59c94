/* The process-wide pool of threads, and CPU tokens.
 *
 * Tasks are leaf calls: they never pull and never wait, so that no nesting of parallel operators
 * can deadlock a pool of one. Drivers (run/driver.h) pull and wait; whoever computes on the
 * pipeline's behalf outside the pool holds a CPU token. */
#ifndef LEATI_RUN_POOL_H
#define LEATI_RUN_POOL_H

#include <leat/base.h>

typedef struct leati_pool leati_pool;

/* A unit of work: embedded in its owner's state, which outlives it. `run` is called once per
 * submit, on a pool thread; `worker` is that thread's number in [0, leati_pool_size), for
 * per-worker scratch memory. */
typedef struct leati_task {
    void (*run)(struct leati_task *task, int worker);
    struct leati_task *next; /* the pool's, while queued */
} leati_task;

/* Cores that the process may use: affinity mask and cgroup quota, at least 1. */
int leati_pool_num_cores(void);

/* A pool of `threads` threads (0: leati_pool_num_cores()). Owned. Tests and private pools;
 * iterators use the shared one. */
leati_pool *leati_pool_new(int threads, leat_error *err);
/* Waits for running tasks, then joins. Queued tasks still run. */
void leati_pool_free(leati_pool *pool);
/* The shared pool, started at first use (borrowed); NULL with an error if no thread can be started.
 * Its threads live as long as the process; in a forked child it starts anew, and tasks that were
 * queued before the fork run in the parent alone. */
leati_pool *leati_pool_shared(leat_error *err);
int leati_pool_size(const leati_pool *pool);

/* Queues a task: `urgent` ones (the oldest undelivered outcome) run before the others, each class
 * in order. Never fails. */
void leati_pool_submit(leati_pool *pool, leati_task *task, bool urgent);

/* CPU tokens: as many as the pool has threads. A pool thread takes one around each task, a driver
 * while it computes. While a training step runs on k cores, k tokens are reserved and that many
 * pool threads rest. Tokens belong to the thread that acquired them. A thread that holds one may
 * acquire again: that nests and takes no second token. Acquire waits, so no lock is held; where
 * tasks and drivers compete, each side gets its turns. */
void leati_pool_token_acquire(leati_pool *pool);
void leati_pool_token_release(leati_pool *pool);
/* Takes `count` tokens away from the pipeline; at least one always stays. Does not wait: tasks that
 * run finish first, none starts in their place. Returns how many were taken, to be passed to
 * give_back. */
int leati_pool_tokens_reserve(leati_pool *pool, int count);
void leati_pool_tokens_give_back(leati_pool *pool, int count);

/* What a thread gave up by leati_pool_token_pause, for resume; {0}: nothing. */
typedef struct leati_token_rest {
    leati_pool *pool;
    int count;
} leati_token_rest;

/* Gives up the calling thread's token, if it holds one, before it blocks. Waits take it back:
 * try_resume succeeds at once or not at all, resume waits. */
leati_token_rest leati_pool_token_pause(void);
bool leati_pool_token_try_resume(leati_token_rest rest);
void leati_pool_token_resume(leati_token_rest rest);

#endif
