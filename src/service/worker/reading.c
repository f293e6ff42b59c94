/* Readers, and the workers of this process by address; see reading.h.
 *
 * Happy path: a reader joins its task, which starts the producer; next asks the runner, and waits
 * at the task's gate until there is something. Failures: the task's own failure is every reader's.
 * Locks: the registry's, then nothing; the task's lock is a leaf. */
#include "service/worker/reading.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/fork.h"
#include "base/minmax.h"
#include "service/worker/task.h"
#include <inttypes.h>
#include <pthread.h>
#include <string.h>

enum { MOST_AHEAD = 1 << 16 };

/* ---- the registry ---- */

static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static leati_worker_entry *registry; /* registry_lock */

static void before_fork(void) {
    pthread_mutex_lock(&registry_lock);
}

/* Workers serve the parent, where their threads are. */
static void after_fork(bool child) {
    if (child)
        registry = NULL;
    pthread_mutex_unlock(&registry_lock);
}

LEATI_FORK_PART(workers, before_fork, after_fork);

void leati_worker_entry_add(leati_worker_entry *entry) {
    pthread_mutex_lock(&registry_lock);
    entry->next = registry;
    registry = entry;
    pthread_mutex_unlock(&registry_lock);
}

void leati_worker_entry_remove(leati_worker_entry *entry) {
    pthread_mutex_lock(&registry_lock);
    for (leati_worker_entry **link = &registry; *link != NULL; link = &(*link)->next)
        if (*link == entry) {
            *link = entry->next;
            break;
        }
    pthread_mutex_unlock(&registry_lock);
}

/* The worker of that address; the lock is held. */
static const leati_worker_entry *find_entry(const char *address) {
    const leati_worker_entry *entry = registry;
    while (entry != NULL && strcmp(entry->address, address) != 0)
        entry = entry->next;
    return entry;
}

bool leati_worker_is_here(const char *address) {
    pthread_mutex_lock(&registry_lock);
    bool here = find_entry(address) != NULL;
    pthread_mutex_unlock(&registry_lock);
    return here;
}

/* The lock is held over the find, so that the worker is not freed meanwhile. */
static leati_worker_task *find_task(const char *address, const struct leati_message_read *asked,
                                    leat_error *err) {
    leati_worker_task *task = NULL;
    pthread_mutex_lock(&registry_lock);
    const leati_worker_entry *entry = find_entry(address);
    if (entry != NULL)
        task = entry->find(entry->worker, asked, err);
    else
        leati_fail(err, LEAT_UNAVAILABLE, "no worker of this process has the address %s", address);
    pthread_mutex_unlock(&registry_lock);
    return task;
}

leati_worker_reader *leati_worker_reader_open(const char *address,
                                              const struct leati_message_read *asked,
                                              leat_cancel *cancel, leat_error *err) {
    leati_worker_task *task = find_task(address, asked, err);
    if (task == NULL)
        return NULL;
    leati_worker_reader *reader = leati_worker_reader_new(task, asked, cancel, err);
    leati_worker_task_unref(task);
    return reader;
}

/* ---- readers ---- */

static void cancel_fired(leati_cancel_watch *watch) {
    leati_worker_reader *reader =
        (leati_worker_reader *)((char *)watch - offsetof(leati_worker_reader, watch));
    leati_worker_reader_cancel(reader);
}

static leat_status join(leati_worker_reader *reader, leat_error *err) {
    leati_worker_task *task = reader->task;
    leati_queue_gate_lock(task->gate);
    leat_status status =
        task->stopped ? leati_fail(err, LEAT_UNAVAILABLE,
                                   "task %" PRId64 " was stopped on this worker", task->about.task)
                      : task->runner->join(task, reader, err);
    if (status == LEAT_OK) {
        reader->next = task->readers;
        if (task->readers != NULL)
            task->readers->previous = reader;
        task->readers = reader;
        task->num_readers++;
        reader->joined = true;
        leati_queue_gate_wake(task->gate);
    }
    leati_queue_gate_unlock(task->gate);
    return status;
}

leati_worker_reader *leati_worker_reader_new(leati_worker_task *task,
                                             const struct leati_message_read *asked,
                                             leat_cancel *cancel, leat_error *err) {
    leati_worker_reader *reader = leati_alloc_zero(1, sizeof *reader);
    if (reader == NULL) {
        (void)leati_no_memory(err);
        return NULL;
    }
    reader->task = leati_worker_task_ref(task);
    reader->asked = *asked;
    reader->asked.compression = (leati_strings){0};
    reader->asked.worker = NULL;
    reader->asked.trainer = leati_strdup(asked->trainer);
    reader->skip_at_ns = LEATI_NO_DEADLINE;
    leat_status status = asked->trainer != NULL && reader->asked.trainer == NULL
                             ? leati_no_memory(err)
                             : join(reader, err);
    if (status == LEAT_OK)
        status = leati_worker_task_begin(task, err);
    if (status != LEAT_OK) {
        leati_worker_reader_close(reader);
        return NULL;
    }
    reader->cancel = leati_cancel_ref(cancel);
    reader->watch.fired = cancel_fired;
    if (cancel != NULL)
        leati_cancel_watch_add(cancel, &reader->watch);
    return reader;
}

/* One try, with the lock held. */
static leati_worker_taken try_take(leati_worker_reader *reader, int64_t elements, int64_t bytes,
                                   leati_worker_outcome *out, leati_worker_chunks *dropped,
                                   leat_error *err) {
    leati_worker_task *task = reader->task;
    const leat_error *failure = leati_worker_task_failed(task);
    if (reader->closed) {
        leati_fail(err, LEAT_CANCELLED, "the reader of task %" PRId64 " was cancelled",
                   task->about.task);
        return LEATI_WORKER_FAILED;
    }
    /* Of a task whose elements were all taken there is nothing left to be given elsewhere. */
    if (task->stopped && !(task->ended && task->runner->done(task))) {
        out->kind = LEATI_FRAME_GONE;
        out->position = task->made;
        leati_fail(&out->why, LEAT_UNAVAILABLE, "task %" PRId64 " was stopped on this worker",
                   task->about.task);
        return LEATI_WORKER_TAKEN;
    }
    if (failure != NULL) {
        *err = *failure;
        return LEATI_WORKER_FAILED;
    }
    return task->runner->take(task, reader, elements, bytes, out, dropped, err);
}

/* More is kept ready from now on, as somebody had to wait. */
static void starve(leati_worker_task *task) {
    if (task->ended)
        return;
    task->ahead = LEATI_MIN(2 * task->ahead, MOST_AHEAD);
    leati_queue_gate_wake(task->gate);
}

leat_status leati_worker_reader_next(leati_worker_reader *reader, int64_t elements, int64_t bytes,
                                     leati_worker_outcome *out, leat_error *err) {
    leati_worker_task *task = reader->task;
    leati_worker_chunks dropped = {0};
    leati_worker_taken taken;
    bool starved = false;
    leati_block_clear(&out->block);
    leati_queue_gate_lock(task->gate);
    while ((taken = try_take(reader, LEATI_MAX(elements, 1), bytes, out, &dropped, err)) ==
               LEATI_WORKER_NOT_YET ||
           taken == LEATI_WORKER_HELD_BACK) {
        if (!starved && taken == LEATI_WORKER_NOT_YET)
            starve(task);
        starved = starved || taken == LEATI_WORKER_NOT_YET;
        reader->waits = true;
        /* The deadline, and the task's end, are seen by the next try. */
        leat_status woken = leati_queue_gate_wait(task->gate, LEATI_WAIT_INPUT, reader->skip_at_ns,
                                                  NULL, &(leat_error){0});
        (void)woken;
    }
    reader->waits = false;
    /* Other readers wait for what the producer makes, not for what this one took. */
    if (taken == LEATI_WORKER_TAKEN && task->waits_for_room && task->runner->room(task))
        leati_queue_gate_wake(task->gate);
    bool wakes = leati_worker_task_count(task);
    leati_queue_gate_unlock(task->gate);
    leati_worker_chunks_free(&dropped);
    leati_worker_task_tell(task, wakes);
    return taken == LEATI_WORKER_TAKEN ? LEAT_OK : err->code;
}

void leati_worker_reader_ack(leati_worker_reader *reader, int64_t begin, int64_t end) {
    leati_worker_task *task = reader->task;
    leati_worker_chunks dropped = {0};
    if (task->runner->ack == NULL)
        return;
    leati_queue_gate_lock(task->gate);
    if (reader->joined)
        task->runner->ack(task, reader, begin, end, &dropped);
    bool wakes = leati_worker_task_count(task);
    leati_queue_gate_unlock(task->gate);
    leati_worker_chunks_free(&dropped);
    leati_worker_task_tell(task, wakes);
}

void leati_worker_reader_cancel(leati_worker_reader *reader) {
    leati_queue_gate_lock(reader->task->gate);
    reader->closed = true;
    leati_queue_gate_wake(reader->task->gate);
    leati_queue_gate_unlock(reader->task->gate);
}

void leati_worker_reader_leave(leati_worker_reader *reader) {
    leati_worker_task *task = reader->task;
    leati_worker_chunks dropped = {0};
    leati_queue_gate_lock(task->gate);
    reader->closed = true;
    if (reader->joined) {
        task->runner->leave(task, reader, &dropped);
        if (reader->previous != NULL)
            reader->previous->next = reader->next;
        else
            task->readers = reader->next;
        if (reader->next != NULL)
            reader->next->previous = reader->previous;
        task->num_readers--;
    }
    reader->joined = false;
    leati_queue_gate_wake(task->gate);
    bool wakes = leati_worker_task_count(task);
    leati_queue_gate_unlock(task->gate);
    leati_worker_chunks_free(&dropped);
    leati_worker_task_tell(task, wakes);
}

void leati_worker_reader_close(leati_worker_reader *reader) {
    if (reader == NULL)
        return;
    if (reader->cancel != NULL)
        leati_cancel_watch_remove(reader->cancel, &reader->watch);
    leati_cancel_unref(reader->cancel);
    leati_worker_reader_leave(reader);
    leati_worker_task_unref(reader->task);
    leati_free(reader->asked.trainer);
    leati_free(reader);
}

leat_spec *leati_worker_reader_spec(const leati_worker_reader *reader) {
    return leati_worker_task_spec(reader->task);
}

void leati_worker_outcome_fini(leati_worker_outcome *outcome) {
    leati_block_fini(&outcome->block);
    *outcome = (leati_worker_outcome){0};
}
