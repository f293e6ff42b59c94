/* The executor: a queue and up to MOST_THREADS threads, of which another is started where all are
 * busy. Locks: that of the process's executor, then its own. A child of a fork has none of the
 * threads and begins anew. */
#include "service/transport/executor.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/fork.h"
#include "run/thread.h"

#include <pthread.h>

enum { MOST_THREADS = 8 };

struct leati_executor {
    int users; /* the lock of the process's executor */
    pthread_mutex_t lock;
    pthread_cond_t work;
    leati_executor_task *first, **last;   /* lock */
    int num_threads, num_idle, num_tasks; /* lock */
    bool stops;                           /* lock */
    leati_thread threads[MOST_THREADS];   /* written by whoever counted it in num_threads */
};

static pthread_mutex_t process_lock = PTHREAD_MUTEX_INITIALIZER;
static leati_executor *process_executor; /* process_lock */

static void before_fork(void) {
    pthread_mutex_lock(&process_lock);
}

static void after_fork(bool child) {
    if (child)
        process_executor = NULL;
    pthread_mutex_unlock(&process_lock);
}

LEATI_FORK_PART(executor, before_fork, after_fork);

static void serve(void *context) {
    leati_executor *executor = context;
    pthread_mutex_lock(&executor->lock);
    while (!executor->stops) {
        leati_executor_task *task = executor->first;
        if (task == NULL) {
            executor->num_idle++;
            pthread_cond_wait(&executor->work, &executor->lock);
            executor->num_idle--;
            continue;
        }
        executor->num_tasks--;
        executor->first = task->next;
        if (executor->first == NULL)
            executor->last = &executor->first;
        pthread_mutex_unlock(&executor->lock);
        task->run(task);
        pthread_mutex_lock(&executor->lock);
    }
    pthread_mutex_unlock(&executor->lock);
}

/* With the lock held. */
static leat_status add_thread(leati_executor *executor, leat_error *err) {
    leat_status status = leati_thread_start(&executor->threads[executor->num_threads],
                                            "leat-transport", serve, executor, err);
    if (status == LEAT_OK)
        executor->num_threads++;
    return status;
}

static leati_executor *new_executor(leat_error *err) {
    leati_executor *executor = leati_alloc_zero(1, sizeof *executor);
    if (executor == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    pthread_mutex_init(&executor->lock, NULL);
    pthread_cond_init(&executor->work, NULL);
    executor->last = &executor->first;
    pthread_mutex_lock(&executor->lock);
    leat_status status = add_thread(executor, err);
    pthread_mutex_unlock(&executor->lock);
    if (status == LEAT_OK)
        return executor;
    pthread_cond_destroy(&executor->work);
    pthread_mutex_destroy(&executor->lock);
    leati_free(executor);
    return NULL;
}

leati_executor *leati_executor_use(leat_error *err) {
    pthread_mutex_lock(&process_lock);
    if (process_executor == NULL)
        process_executor = new_executor(err);
    leati_executor *executor = process_executor;
    if (executor != NULL)
        executor->users++;
    pthread_mutex_unlock(&process_lock);
    return executor;
}

void leati_executor_leave(leati_executor *executor) {
    pthread_mutex_lock(&process_lock);
    bool last = --executor->users == 0;
    if (last)
        process_executor = NULL;
    pthread_mutex_unlock(&process_lock);
    if (!last)
        return;
    pthread_mutex_lock(&executor->lock);
    executor->stops = true;
    int num_threads = executor->num_threads;
    pthread_cond_broadcast(&executor->work);
    pthread_mutex_unlock(&executor->lock);
    for (int i = 0; i < num_threads; i++)
        pthread_join(executor->threads[i].handle, NULL);
    pthread_cond_destroy(&executor->work);
    pthread_mutex_destroy(&executor->lock);
    leati_free(executor);
}

void leati_executor_post(leati_executor *executor, leati_executor_task *task) {
    task->next = NULL;
    pthread_mutex_lock(&executor->lock);
    *executor->last = task;
    executor->last = &task->next;
    executor->num_tasks++;
    /* An idle one may have been woken for an earlier task. A thread that cannot be started is done
     * without: there is one at least. */
    if (executor->num_idle < executor->num_tasks && executor->num_threads < MOST_THREADS)
        (void)add_thread(executor, &(leat_error){0});
    pthread_cond_signal(&executor->work);
    pthread_mutex_unlock(&executor->lock);
}
