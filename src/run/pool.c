/* The pool of threads and its CPU tokens.
 *
 * Happy path: submit appends to one of two queues and, if a token and an idle thread are there,
 * grants the thread the token and wakes it. The thread runs tasks, urgent ones first, and keeps its
 * token from task to task while the queues hold work. Drivers take a free token, or wait for a
 * grant. Grants are explicit (`task_grants`, `driver_grants`), so a token that is given to a
 * sleeper cannot be snatched by a newcomer, and a token is free only while nobody who can use it
 * waits. Where both sides wait, a driver gets a token after every TASKS_PER_TURN tasks.
 *
 * A reserve lowers the number of tokens; `in_use` may be above it for the time that running tasks
 * take. The pool's lock guards all fields; no task runs and no user code is called under it.
 *
 * The shared pool lives in static memory and its threads are detached: a process ends without
 * waiting for them, whatever they do. Around fork both of its locks are held, and the child starts
 * with an empty pool. */
#define _GNU_SOURCE
#include "run/pool.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/fork.h"
#include "base/minmax.h"
#include "run/stall.h"
#include "run/thread.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#define MAX_THREADS 1024
#define TASKS_PER_TURN 4

struct worker {
    leati_pool *pool;
    int number;
    leati_thread thread;
};

struct queue {
    leati_task *first;
    leati_task *last;
};

struct leati_pool {
    pthread_mutex_t lock;
    pthread_cond_t work;    /* idle pool threads */
    pthread_cond_t token;   /* drivers that wait for a token */
    struct queue urgent;    /* lock */
    struct queue normal;    /* lock */
    int64_t queued;         /* lock */
    int size;               /* constant once started */
    int in_use;             /* lock; tokens held or granted */
    int reserved;           /* lock */
    int idle;               /* lock; pool threads without a token */
    int task_grants;        /* lock; tokens granted to idle threads that have not woken yet */
    int waiting;            /* lock; drivers */
    int driver_grants;      /* lock; tokens granted to waiting drivers */
    int tasks_since_turn;   /* lock; tasks started while a driver waited */
    bool stopping;          /* lock */
    struct worker *workers; /* constant */
};

/* The token of the calling thread and how often it was acquired. */
static _Thread_local leati_token_rest held;

static int free_tokens(const leati_pool *pool) {
    return pool->size - pool->reserved - pool->in_use;
}

static bool driver_waits(const leati_pool *pool) {
    return pool->waiting > pool->driver_grants;
}

static bool task_waits(const leati_pool *pool) {
    return pool->queued > pool->task_grants && pool->idle > pool->task_grants;
}

/* Grants free tokens to those who wait. Called with the lock held after every change. */
static void grant(leati_pool *pool) {
    while (free_tokens(pool) > 0) {
        bool driver = driver_waits(pool);
        /* Tasks first: the work that drivers would make is behind the work that is there. */
        if (task_waits(pool) && !(driver && pool->tasks_since_turn >= TASKS_PER_TURN)) {
            pool->task_grants++;
            pthread_cond_signal(&pool->work);
        } else if (driver) {
            pool->tasks_since_turn = 0;
            pool->driver_grants++;
            pthread_cond_signal(&pool->token);
        } else {
            return;
        }
        pool->in_use++;
    }
}

static leati_task *pop_from(struct queue *queue) {
    leati_task *task = queue->first;
    if (task != NULL)
        queue->first = task->next;
    return task;
}

static leati_task *pop(leati_pool *pool) {
    leati_task *task = pop_from(&pool->urgent);
    if (task == NULL)
        task = pop_from(&pool->normal);
    if (task == NULL)
        return NULL;
    pool->queued--;
    if (driver_waits(pool))
        pool->tasks_since_turn++;
    return task;
}

/* Whether a thread that has finished a task must give its token up. */
static bool must_yield(const leati_pool *pool) {
    /* Below 0 a step has reserved tokens that are still in use. */
    return free_tokens(pool) < 0 ||
           (driver_waits(pool) && pool->tasks_since_turn >= TASKS_PER_TURN);
}

/* With the lock held and a token granted: runs tasks while there are any and the token lasts. */
static void run_tasks(leati_pool *pool, int number) {
    leati_task *task;
    while ((task = pop(pool)) != NULL) {
        pthread_mutex_unlock(&pool->lock);
        /* So that code which takes tokens nests in the task's, rather than waiting for another
         * one. */
        held = (leati_token_rest){pool, 1};
        task->run(task, number);
        held = (leati_token_rest){0};
        pthread_mutex_lock(&pool->lock);
        if (must_yield(pool))
            break;
    }
    pool->in_use--;
}

static void work(void *context) {
    const struct worker *worker = context;
    leati_pool *pool = worker->pool;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        pool->idle++;
        grant(pool);
        while (pool->task_grants == 0 && !(pool->stopping && pool->queued == 0))
            pthread_cond_wait(&pool->work, &pool->lock);
        pool->idle--;
        if (pool->task_grants == 0)
            break;
        pool->task_grants--;
        run_tasks(pool, worker->number);
    }
    pthread_cond_broadcast(&pool->work); /* the others see that nothing is left */
    pthread_mutex_unlock(&pool->lock);
}

/* Starts as many threads as the system allows; the lock keeps the early ones waiting until `size`
 * is known. Fails only if there is not even one. */
static leat_status start(leati_pool *pool, int threads, leat_error *err) {
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->work, NULL);
    pthread_cond_init(&pool->token, NULL);
    leat_status status = LEAT_OK;
    pthread_mutex_lock(&pool->lock);
    while (pool->size < threads && status == LEAT_OK) {
        struct worker *worker = &pool->workers[pool->size];
        char name[32];
        leat_error unwanted, *report = pool->size == 0 ? err : leati_error_unwanted(&unwanted);
        worker->pool = pool;
        worker->number = pool->size;
        snprintf(name, sizeof name, "leat-pool-%d", worker->number);
        status = leati_thread_start(&worker->thread, name, work, worker, report);
        if (status == LEAT_OK)
            pool->size++;
    }
    if (pool->size > 0) {
        status = LEAT_OK;
        grant(pool);
    }
    pthread_mutex_unlock(&pool->lock);
    return status;
}

static void destroy(leati_pool *pool) {
    pthread_cond_destroy(&pool->token);
    pthread_cond_destroy(&pool->work);
    pthread_mutex_destroy(&pool->lock);
    leati_free(pool->workers);
    leati_free(pool);
}

leati_pool *leati_pool_new(int threads, leat_error *err) {
    if (threads == 0)
        threads = leati_pool_num_cores();
    if (threads < 0 || threads > MAX_THREADS) {
        (void)leati_refuse(err, VALUE,
                           "a pool has from 1 to %d threads, or 0 for the number of cores; got %d",
                           MAX_THREADS, threads);
        return NULL;
    }
    leati_pool *pool = leati_alloc_zero(1, sizeof *pool);
    struct worker *workers = leati_alloc_zero((size_t)threads, sizeof *workers);
    if (pool == NULL || workers == NULL) {
        leati_free(workers);
        leati_free(pool);
        (void)leati_no_memory(err);
        return NULL;
    }
    pool->workers = workers;
    if (start(pool, threads, err) != LEAT_OK) {
        destroy(pool);
        return NULL;
    }
    return pool;
}

void leati_pool_free(leati_pool *pool) {
    if (pool == NULL)
        return;
    pthread_mutex_lock(&pool->lock);
    pool->stopping = true;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    for (int i = 0; i < pool->size; i++)
        pthread_join(pool->workers[i].thread.handle, NULL);
    destroy(pool);
#if defined(__GLIBC__)
    /* Memory that such threads took is free in arenas of theirs, where glibc would keep it: a new
     * pool every epoch would hold several times what one needs. */
    (void)malloc_trim(0);
#endif
}

static pthread_mutex_t shared_lock = PTHREAD_MUTEX_INITIALIZER; /* taken before the pool's */
static leati_pool shared;
static struct worker shared_workers[MAX_THREADS];
static bool shared_started; /* shared_lock */

static void before_fork(void) {
    pthread_mutex_lock(&shared_lock);
    if (shared_started)
        pthread_mutex_lock(&shared.lock);
}

/* In a child only the thread that forked is left. It keeps its token, counted in the new pool. */
static void after_fork(bool child) {
    if (shared_started && !child) {
        pthread_mutex_unlock(&shared.lock);
    } else if (shared_started) {
        /* Also its lock and conditions, whose waiters are gone: `start` makes them anew. */
        memset(&shared, 0, sizeof shared);
        shared.in_use = held.pool == &shared ? 1 : 0;
        shared_started = false;
    }
    pthread_mutex_unlock(&shared_lock);
}

LEATI_FORK_PART(pool, before_fork, after_fork);

leati_pool *leati_pool_shared(leat_error *err) {
    int cores = leati_pool_num_cores();
    pthread_mutex_lock(&shared_lock);
    if (!shared_started) {
        shared.workers = shared_workers;
        shared_started = start(&shared, LEATI_MIN(cores, MAX_THREADS), err) == LEAT_OK;
        for (int i = 0; i < shared.size; i++)
            pthread_detach(shared_workers[i].thread.handle);
    }
    leati_pool *pool = shared_started ? &shared : NULL;
    pthread_mutex_unlock(&shared_lock);
    return pool;
}

int leati_pool_size(const leati_pool *pool) {
    return pool->size;
}

void leati_pool_submit(leati_pool *pool, leati_task *task, bool urgent) {
    task->next = NULL;
    pthread_mutex_lock(&pool->lock);
    struct queue *queue = urgent ? &pool->urgent : &pool->normal;
    if (queue->first == NULL)
        queue->first = task;
    else
        queue->last->next = task;
    queue->last = task;
    pool->queued++;
    grant(pool);
    pthread_mutex_unlock(&pool->lock);
}

/* With the lock held. A token is free only if nobody waits who could use it: see grant. */
static bool take_free(leati_pool *pool) {
    if (free_tokens(pool) <= 0)
        return false;
    pool->in_use++;
    return true;
}

static bool try_take(leati_pool *pool) {
    pthread_mutex_lock(&pool->lock);
    bool taken = take_free(pool);
    pthread_mutex_unlock(&pool->lock);
    return taken;
}

static void take(leati_pool *pool) {
    if (try_take(pool))
        return;
    char name[16] = "";
    leati_waiter waiter;
    pthread_getname_np(pthread_self(), name, sizeof name);
    leati_stall_enter(&waiter, name, LEATI_WAIT_CPU);
    pthread_mutex_lock(&pool->lock);
    /* Asked again, since a token may have come free while the wait was put on the list. */
    if (!take_free(pool)) {
        pool->waiting++;
        while (pool->driver_grants == 0)
            pthread_cond_wait(&pool->token, &pool->lock);
        pool->driver_grants--;
        pool->waiting--;
    }
    pthread_mutex_unlock(&pool->lock);
    leati_stall_leave(&waiter);
}

static void give(leati_pool *pool) {
    pthread_mutex_lock(&pool->lock);
    pool->in_use--;
    grant(pool);
    pthread_mutex_unlock(&pool->lock);
}

void leati_pool_token_acquire(leati_pool *pool) {
    if (held.count == 0) {
        take(pool);
        held.pool = pool;
    }
    held.count++;
}

void leati_pool_token_release(leati_pool *pool) {
    (void)pool;
    assert(held.count > 0);
    if (--held.count == 0) {
        leati_pool *from = held.pool;
        held.pool = NULL;
        give(from);
    }
}

leati_token_rest leati_pool_token_pause(void) {
    leati_token_rest rest = held;
    if (rest.count > 0) {
        held = (leati_token_rest){0};
        give(rest.pool);
    }
    return rest;
}

bool leati_pool_token_try_resume(leati_token_rest rest) {
    if (rest.count > 0 && !try_take(rest.pool))
        return false;
    held = rest;
    return true;
}

void leati_pool_token_resume(leati_token_rest rest) {
    if (rest.count > 0)
        take(rest.pool);
    held = rest;
}

int leati_pool_tokens_reserve(leati_pool *pool, int count) {
    pthread_mutex_lock(&pool->lock);
    /* One stays, or a step that waits for the pipeline would wait for ever. */
    int available = pool->size - 1 - pool->reserved;
    int taken = LEATI_MIN(count, available);
    if (taken < 0)
        taken = 0;
    pool->reserved += taken;
    pthread_mutex_unlock(&pool->lock);
    return taken;
}

void leati_pool_tokens_give_back(leati_pool *pool, int count) {
    pthread_mutex_lock(&pool->lock);
    pool->reserved -= count;
    grant(pool);
    pthread_mutex_unlock(&pool->lock);
}
