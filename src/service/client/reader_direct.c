/* Tasks of a worker in this process, which are read without a transport; see reader_parts.h.
 *
 * Happy path: a thread for each task asks the worker's reader (worker/reading.h) for as much as
 * there is credit for, and puts the blocks in line as they are: nothing is copied, packed or
 * checked again. It ends as a stream does, by the same function, so that the tender opens it anew
 * where that may help. Failures: the worker's. Locks: the reader's gate, not while the worker is
 * asked; the task's source_lock, which is held while the worker is told something. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "service/client/reader_parts.h"
#include "service/worker/reading.h"
#include <string.h>

bool leati_client_reader_direct_fits(const leati_client_reader_task *task) {
    const char *transfer = task->reader->options.transfer;
    return (transfer == NULL || strcmp(transfer, "local") == 0) && task->place.address != NULL &&
           leati_worker_is_here(task->place.address);
}

/* Waits for credit, and takes it all: false, the task is to be read no more. */
static bool wait_for_credit(leati_client_reader_task *task, int64_t *elements, int64_t *bytes) {
    leati_client_reader *reader = task->reader;
    leat_status status = LEAT_OK;
    leati_queue_gate_lock(reader->gate);
    while (task->state == LEATI_CLIENT_READING && status == LEAT_OK &&
           (task->credit_elements <= 0 || task->credit_bytes <= 0))
        status = leati_queue_gate_wait(reader->gate, LEATI_WAIT_CONSUMER, LEATI_NO_DEADLINE, NULL,
                                       &(leat_error){0});
    bool goes_on = task->state == LEATI_CLIENT_READING && status == LEAT_OK;
    *elements = task->credit_elements;
    *bytes = task->credit_bytes;
    leati_queue_gate_unlock(reader->gate);
    return goes_on;
}

/* Coordinated: tells the worker at once what came, and what is past, as that costs next to nothing
 * here. The lock is held, and left. */
static void tell_round(leati_client_reader_task *task, leati_worker_reader *source) {
    bool due =
        leati_client_reader_is_coordinated(task->reader) && leati_client_reader_round_is_due(task);
    int64_t turns = task->turns, came = task->came;
    if (due) {
        task->told_turns = turns;
        task->told_came = came;
    }
    leati_queue_gate_unlock(task->reader->gate);
    if (due)
        leati_worker_reader_ack(source, turns, came);
}

/* Puts what the worker gave in line. */
static leat_status put_in_line(leati_client_reader_task *task, leati_worker_reader *source,
                               leati_worker_outcome *outcome, leat_error *err) {
    leati_client_reader *reader = task->reader;
    int64_t n = outcome->kind == LEATI_FRAME_ELEMENTS ? outcome->block.n : 1;
    int64_t bytes = (int64_t)leati_block_bytes(&outcome->block);
    leati_queue_gate_lock(reader->gate);
    leati_client_reader_part *part = leati_client_reader_part_take(reader);
    if (part == NULL)
        (void)leati_no_memory(err);
    if (part != NULL) {
        leati_block_move(&outcome->block, &part->rows);
        part->bytes = bytes;
        task->credit_elements -= n;
        task->credit_bytes -= bytes;
        if (!leati_client_reader_take_part(task, part, outcome->kind, outcome->position, n,
                                           &outcome->why, err))
            leati_client_reader_part_drop(reader, part);
    }
    if (err->code != LEAT_OK || !leati_client_reader_is_coordinated(reader) ||
        reader->awaited == task || task->ended)
        leati_queue_gate_wake(reader->gate);
    tell_round(task, source);
    return err->code;
}

/* Reads until the end, or until it is told to stop. */
static leat_status read_on(leati_client_reader_task *task, leati_worker_reader *source,
                           leat_error *err) {
    leati_worker_outcome outcome = {0};
    leat_status status = LEAT_OK;
    int64_t elements, bytes;
    for (bool more = true; more && wait_for_credit(task, &elements, &bytes);) {
        status = leati_worker_reader_next(source, elements, bytes, &outcome, err);
        if (status == LEAT_OK)
            status = put_in_line(task, source, &outcome, err);
        more = status == LEAT_OK && outcome.kind != LEATI_FRAME_END &&
               outcome.kind != LEATI_FRAME_GONE;
    }
    leati_worker_outcome_fini(&outcome);
    return status;
}

/* What was taken and is not acknowledged yet would be given again where this reader left. */
static void wait_for_acknowledgements(leati_client_reader_task *task) {
    leati_client_reader *reader = task->reader;
    leat_status status = LEAT_OK;
    leati_queue_gate_lock(reader->gate);
    while (task->state == LEATI_CLIENT_READING && status == LEAT_OK)
        status = leati_queue_gate_wait(reader->gate, LEATI_WAIT_CONSUMER, LEATI_NO_DEADLINE, NULL,
                                       &(leat_error){0});
    leati_queue_gate_unlock(reader->gate);
}

static void set_source(leati_client_reader_task *task, leati_worker_reader *source) {
    pthread_mutex_lock(&task->source_lock);
    task->source = source;
    pthread_mutex_unlock(&task->source_lock);
}

void leati_client_reader_direct_stop(leati_client_reader_task *task) {
    pthread_mutex_lock(&task->source_lock);
    if (task->source != NULL)
        leati_worker_reader_cancel(task->source);
    pthread_mutex_unlock(&task->source_lock);
}

void leati_client_reader_direct_ack(leati_client_reader_task *task, int64_t begin, int64_t end) {
    pthread_mutex_lock(&task->source_lock);
    if (task->source != NULL)
        leati_worker_reader_ack(task->source, begin, end);
    pthread_mutex_unlock(&task->source_lock);
}

static void read_task(void *context) {
    leati_client_reader_task *task = context;
    leati_client_reader *reader = task->reader;
    leat_error err = {0};
    struct leati_message_read asked;
    leati_queue_gate_lock(reader->gate);
    leati_client_reader_request(task, &asked);
    char *address = leati_strdup(task->place.address), *worker = leati_strdup(asked.worker);
    leati_queue_gate_unlock(reader->gate);
    bool known = address != NULL && (worker != NULL || asked.worker == NULL);
    asked.worker = worker;
    leati_worker_reader *source =
        known ? leati_worker_reader_open(address, &asked, reader->cancel, &err) : NULL;
    if (!known)
        (void)leati_no_memory(&err);
    leati_free(address);
    leati_free(worker);
    set_source(task, source);
    if (source != NULL)
        if (read_on(task, source, &err) == LEAT_OK && leati_client_reader_acknowledges(reader))
            wait_for_acknowledgements(task);
    set_source(task, NULL);
    leati_worker_reader_close(source);
    leati_client_reader_closed(task, &err);
}

leat_status leati_client_reader_direct_start(leati_client_reader_task *task, leat_error *err) {
    leati_driver_join(task->direct);
    task->direct = leati_driver_start("service_read", read_task, task, err);
    return task->direct == NULL ? LEAT_RESOURCE_EXHAUSTED : LEAT_OK;
}
