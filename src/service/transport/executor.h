/* The threads on which the local transport calls handlers and events: a few for the process,
 * started when there is work, ended with the last user. */
#ifndef LEATI_SERVICE_TRANSPORT_EXECUTOR_H
#define LEATI_SERVICE_TRANSPORT_EXECUTOR_H

#include <leat/base.h>

/* Embedded in what it works on. Not posted again before `run` is called. */
typedef struct leati_executor_task {
    void (*run)(struct leati_executor_task *task);
    struct leati_executor_task *next;
} leati_executor_task;

typedef struct leati_executor leati_executor;

/* The process's executor; RESOURCE_EXHAUSTED where no thread can be started. To be left. */
leati_executor *leati_executor_use(leat_error *err);
/* The last user's call waits for the threads, so it may not come from one of them, and nothing is
 * posted any more. */
void leati_executor_leave(leati_executor *executor);
/* Calls task->run on one of the threads. Any thread, under any lock. */
void leati_executor_post(leati_executor *executor, leati_executor_task *task);

#endif
