/* Places in a reader's cycle of open files; see file_slot.h.
 *
 * Happy path: a task reads and checks the next blocks while the consumer gives out the present one.
 * Where none is ready and no task reads, the consumer reads a block, so it never waits for a task
 * that has not begun, and both sides work where reading is what takes the time. After an error
 * nothing is read ahead: the file is looked at again when it is asked for.
 * Failures: those of the format, delivered when the records before them are gone. Locks: the files'
 * gate, for the fields that file_slot.h names; the reader and the block that is read next belong to
 * whoever set `reading`. */
#include "data/source/file_slot.h"
#include "base/clock.h"
#include "base/minmax.h"
#include "file/fs.h"
#include <string.h>

/* Bytes that all slots together read ahead, and one of them: enough that a thread is awake before
 * the consumer is through with what was read. */
enum { AHEAD_TOGETHER = 4 << 20, AHEAD_LEAST = 128 << 10, AHEAD_MOST = 1 << 20, ROW_BYTES = 128 };

/* ---- reading ---- */

/* Passes over the records that were given out before the state was saved. */
static leati_file_outcome pass(leati_file_slot *slot, leat_error *err) {
    leati_file_outcome outcome = LEATI_FILE_MORE;
    while (slot->skip > 0 && outcome == LEATI_FILE_MORE) {
        leati_file_request request = {.want = slot->skip};
        int64_t n = 0;
        outcome = slot->files->format->read(slot->reader, &request, &n, err);
        slot->skip -= n;
    }
    if (outcome != LEATI_FILE_END)
        return outcome;
    leati_fail_in_file(
        err, LEAT_DATA_LOSS, slot->path, -1, false,
        "the file has %lld records fewer than when the state was saved; restore with "
        "the same files",
        (long long)slot->skip);
    return LEATI_FILE_LOST;
}

/* Does a file that cannot be opened stay as it is, as far as anybody knows? */
static bool is_lost(leat_status code) {
    return code == LEAT_NOT_FOUND || code == LEAT_PERMISSION_DENIED ||
           code == LEAT_FAILED_PRECONDITION || code == LEAT_INVALID_ARGUMENT;
}

static leati_file_outcome open_reader(leati_file_slot *slot, leat_error *err) {
    const leati_file_format *format = slot->files->format;
    leati_file_outcome outcome =
        format->open(slot->files, &slot->pools, slot->path, slot->position, &slot->reader, err);
    if (outcome == LEATI_FILE_ERROR && slot->files->passes_lost && is_lost(err->code))
        outcome = LEATI_FILE_LOST;
    int64_t skip = slot->skip;
    leati_stat stat = {0};
    if (outcome == LEATI_FILE_MORE) {
        /* Pipes and the like are not read ahead: there a read may wait for ever and hold a pool's
         * thread. Of another machine's file nothing is asked a second time. */
        slot->plain = leati_fs_is_remote(slot->path) ||
                      (leati_fs_stat(slot->path, &stat, &(leat_error){0}) == LEAT_OK &&
                       stat.kind == LEATI_PATH_FILE);
        outcome = pass(slot, err);
    }
    if (outcome != LEATI_FILE_MORE) {
        format->close(slot->reader);
        slot->reader = NULL;
        /* The next attempt opens the file anew, and has to pass all of them. */
        slot->skip = skip;
    }
    return outcome;
}

leati_tail leati_file_slot_read(leati_file_slot *slot, const leati_file_request *request,
                                int64_t *n, leat_error *err) {
    leati_file_outcome outcome = LEATI_FILE_MORE;
    *n = 0;
    if (slot->failed) {
        *err = slot->error;
        slot->failed = false;
        slot->place = LEATI_DONE;
        return LEATI_ERROR;
    }
    if (slot->reader == NULL)
        outcome = open_reader(slot, err);
    if (outcome == LEATI_FILE_MORE)
        outcome = slot->files->format->read(slot->reader, request, n, err);
    bool done = outcome == LEATI_FILE_END || outcome == LEATI_FILE_LOST;
    slot->place = done ? LEATI_DONE : LEATI_BUSY;
    return outcome == LEATI_FILE_MORE  ? LEATI_MORE
           : outcome == LEATI_FILE_END ? LEATI_END
                                       : LEATI_ERROR;
}

static int64_t block_bytes(const leati_files *files) {
    int64_t bytes = AHEAD_TOGETHER / files->num_slots;
    bytes = bytes < AHEAD_LEAST ? AHEAD_LEAST : LEATI_MIN(AHEAD_MOST, bytes);
    return bytes / LEATI_BLOCKS_AHEAD;
}

/* Reads a block. */
static void fill(leati_file_slot *slot, leati_file_block *block) {
    const leati_file_format *format = slot->files->format;
    /* Small records are bounded by their number: each has a header in `records`. */
    int64_t bytes = block_bytes(slot->files), rows = bytes / ROW_BYTES;
    leat_buffer_unref(block->records);
    /* ERROR is what stands where there is no memory for the records. */
    *block = (leati_file_block){
        .outcome = LEATI_FILE_ERROR, .start = slot->position, .skip = slot->skip};
    if (slot->reader != NULL) {
        block->start = format->position(slot->reader);
        block->skip = 0;
    }
    block->records =
        leati_pools_take(&slot->pools, (size_t)rows * sizeof(leat_string), &slot->stop);
    if (block->records == NULL)
        return;
    block->outcome = slot->reader == NULL ? open_reader(slot, &slot->stop) : LEATI_FILE_MORE;
    if (block->outcome != LEATI_FILE_MORE)
        return;
    leati_file_request request = {.want = rows,
                                  .bytes = (size_t)bytes,
                                  .records = leat_buffer_data(block->records),
                                  .owner = block->records};
    block->start = format->position(slot->reader);
    block->skip = 0;
    block->outcome = format->read(slot->reader, &request, &block->n, &slot->stop);
}

/* ---- reading ahead ---- */

static leati_file_block *block_behind(leati_file_slot *slot, int distance) {
    return &slot->ring[(slot->now - slot->ring + distance) % LEATI_SLOT_BLOCKS];
}

/* Fills a block on a thread of the pool, for the iterator: until the slot has no use for it. */
static void fill_for(leati_file_slot *slot, leati_file_block *block) {
    leati_stop_scope outer = leati_cancel_enter(slot->files->node->iteration->cancel);
    leati_stop_scope inner = leati_stop_enter(&slot->leaving, NULL, NULL);
    fill(slot, block);
    leati_stop_leave(inner);
    leati_stop_leave(outer);
}

/* Reads blocks while there is room for them, as many as fill an empty ring. */
static void run_task(leati_task *task, int worker) {
    (void)worker;
    leati_file_slot *slot = (leati_file_slot *)task;
    leati_gate *gate = slot->files->gate;
    leati_queue_gate_lock(gate);
    for (int i = 0; i < LEATI_BLOCKS_AHEAD; i++) {
        if (!slot->wanted || slot->reading || slot->ready == LEATI_BLOCKS_AHEAD)
            break;
        leati_file_block *block = block_behind(slot, slot->ready + 1);
        slot->reading = true;
        leati_queue_gate_unlock(gate);
        fill_for(slot, block);
        leati_queue_gate_lock(gate);
        slot->reading = false;
        slot->ready++;
        /* What stops the file is told before anything behind it is read. */
        slot->stopped = block->outcome != LEATI_FILE_MORE;
        slot->wanted = slot->wanted && !slot->stopped;
        leati_queue_gate_wake(gate);
    }
    slot->queued = false;
    leati_queue_gate_wake(gate);
    leati_queue_gate_unlock(gate);
}

/* Counts the slot's blocks ahead as the node's memory, or no longer; false: there is no room. */
static bool count_ahead(leati_file_slot *slot, bool counted) {
    leati_files *files = slot->files;
    int64_t ahead = files->ahead + counted - slot->counted;
    int64_t bytes = ahead * LEATI_BLOCKS_AHEAD * block_bytes(files);
    if (counted == slot->counted)
        return true;
    if (leati_budget_holder_set(&files->node->holder, bytes, &(leat_error){0}) != LEAT_OK)
        return false;
    files->ahead = ahead;
    slot->counted = counted;
    return true;
}

/* Has a task read the next blocks, where there are threads and memory for them. */
static void read_ahead(leati_file_slot *slot) {
    leati_files *files = slot->files;
    if (!slot->plain || !count_ahead(slot, true))
        return;
    leati_queue_gate_lock(files->gate);
    /* A task that is in the pool's queue sees `wanted` when it runs, so there is one at a time. */
    bool submit = !slot->queued && !slot->stopped;
    slot->wanted = !slot->stopped;
    slot->queued = slot->queued || submit;
    slot->task.run = run_task;
    leati_queue_gate_unlock(files->gate);
    if (submit)
        leati_pool_submit(files->node->iteration->pool, &slot->task, false);
}

/* Waits for a task that reads, or a moment; one whose iterator was cancelled is stopped. */
static void wait_for_task(leati_file_slot *slot) {
    int64_t deadline = leati_now_ns() + LEATI_STOP_SLICE_NS;
    leat_status waited =
        leati_queue_gate_wait(slot->files->gate, LEATI_WAIT_IO, deadline, NULL, &(leat_error){0});
    (void)waited; /* the caller looks again in either case */
    if (leati_stop_stopped() || leati_cancel_fired(slot->files->node->iteration->cancel))
        atomic_store(&slot->leaving, true);
}

/* Takes the next block from the ring; false: the consumer is to read it, and no task does. *ahead:
 * so many blocks are left behind it. */
static bool take_block(leati_file_slot *slot, int *ahead) {
    leati_gate *gate = slot->files->gate;
    leati_queue_gate_lock(gate);
    while (slot->ready == 0 && slot->reading)
        wait_for_task(slot);
    bool ready = slot->ready > 0;
    if (ready) {
        slot->now = block_behind(slot, 1);
        slot->ready--;
        slot->stopped = slot->stopped && slot->ready > 0;
    } else {
        slot->reading = true;
    }
    *ahead = slot->queued ? LEATI_BLOCKS_AHEAD : slot->ready;
    leati_queue_gate_unlock(gate);
    return ready;
}

/* Brings the next block into `now`. */
static void advance(leati_file_slot *slot) {
    leati_gate *gate = slot->files->gate;
    int ahead = 0;
    if (gate == NULL) {
        fill(slot, slot->now);
        return;
    }
    if (!take_block(slot, &ahead)) {
        fill(slot, slot->now);
        leati_queue_gate_lock(gate);
        slot->reading = false;
        slot->wanted = slot->wanted && slot->now->outcome == LEATI_FILE_MORE;
        leati_queue_gate_unlock(gate);
    }
    /* At half, so that the task begins before the consumer is through with the other half. */
    if (slot->now->outcome == LEATI_FILE_MORE && ahead <= LEATI_BLOCKS_AHEAD / 2)
        read_ahead(slot);
}

/* Waits until no task reads, and lets go what was read; `forgotten`: waits until the pool has no
 * task of the slot. */
static void settle(leati_file_slot *slot, bool forgotten) {
    leati_gate *gate = slot->files->gate;
    if (gate != NULL) {
        leati_queue_gate_lock(gate);
        slot->wanted = false;
        atomic_store(&slot->leaving, true);
        while (slot->reading || (forgotten && slot->queued))
            wait_for_task(slot);
        atomic_store(&slot->leaving, false);
        slot->ready = 0;
        slot->stopped = false;
        leati_queue_gate_unlock(gate);
        (void)count_ahead(slot, false);
    }
    for (int i = 0; i < LEATI_SLOT_BLOCKS; i++) {
        leat_buffer_unref(slot->ring[i].records);
        slot->ring[i] = (leati_file_block){0};
    }
}

bool leati_file_slot_has_record(leati_file_slot *slot) {
    if (!slot->failed && slot->now->at == slot->now->n && slot->now->outcome == LEATI_FILE_MORE)
        advance(slot);
    return !slot->failed && slot->now->at < slot->now->n;
}

/* Makes the owner hold the memory of a record of `now`. */
static leat_status hold_record(leati_file_block *now, const leat_string *record, leat_buffer *owner,
                               uint64_t call, leat_error *err) {
    leat_buffer *records = now->records, *chunk = NULL;
    /* Records come in the order of the chunks that they point into, so the search goes on from the
     * last. */
    for (; now->chunk < records->num_holds; now->chunk++, now->held_by = 0) {
        chunk = records->holds[now->chunk];
        const char *data = chunk->data;
        if (record->data >= data && record->data + record->size <= data + chunk->size)
            break;
        chunk = NULL;
    }
    if (now->held_by == call)
        return LEAT_OK;
    leat_status status = leati_buffer_hold(owner, chunk != NULL ? chunk : records, err);
    if (status == LEAT_OK) {
        now->held_by = call;
        now->held = chunk != NULL ? chunk->data : NULL;
        now->held_size = chunk != NULL ? chunk->size : 0;
    }
    return status;
}

leati_tail leati_file_slot_take(leati_file_slot *slot, const leati_file_request *request,
                                uint64_t call, leat_error *err) {
    if (slot->failed) {
        int64_t n = 0;
        return leati_file_slot_read(slot, request, &n, err);
    }
    bool found = leati_file_slot_has_record(slot);
    leati_file_block *now = slot->now;
    if (!found) {
        leati_file_outcome outcome = now->outcome;
        *err = outcome == LEATI_FILE_END ? *err : slot->stop;
        slot->place = outcome == LEATI_FILE_ERROR ? LEATI_BUSY : LEATI_DONE;
        now->outcome = LEATI_FILE_MORE; /* told; then the file is read again */
        return outcome == LEATI_FILE_END ? LEATI_END : LEATI_ERROR;
    }
    if (request->records != NULL) {
        const leat_string *record = (const leat_string *)now->records->data + now->at;
        if (hold_record(now, record, request->owner, call, err) != LEAT_OK)
            return LEATI_ERROR;
        *request->records = *record;
    }
    now->at++;
    return LEATI_MORE;
}

/* ---- the file ---- */

void leati_file_slot_init(leati_file_slot *slot, leati_files *files) {
    slot->files = files;
    slot->now = slot->ring;
}

void leati_file_slot_clear(leati_file_slot *slot) {
    leati_files *files = slot->files;
    settle(slot, false);
    files->format->close(slot->reader);
    leati_free(slot->path);
    slot->place = LEATI_VACANT;
    slot->failed = false;
    slot->reader = NULL;
    slot->path = NULL;
    slot->position = slot->skip = 0;
}

void leati_file_slot_close(leati_file_slot *slot) {
    settle(slot, true);
    leati_file_slot_clear(slot);
    leati_pools_close(&slot->pools);
}

leat_status leati_file_slot_set_path(leati_file_slot *slot, leat_string name, leat_error *err) {
    char *path = leati_strndup(name.size > 0 ? name.data : "", name.size);
    if (path == NULL)
        return leati_no_memory(err);
    leati_file_slot_clear(slot);
    slot->place = LEATI_BUSY;
    slot->path = path;
    if (memchr(path, 0, name.size) != NULL) {
        slot->failed = true;
        leati_refuse(&slot->error, VALUE,
                     "the file name \"%.200s\" has a byte of 0 in it; expected a path", path);
    }
    return LEAT_OK;
}

void leati_file_slot_where(const leati_file_slot *slot, int64_t *position, int64_t *skip) {
    const leati_file_block *now = slot->now;
    bool whole = now->records == NULL; /* nothing was read ahead */
    *position = !whole                 ? now->start
                : slot->reader != NULL ? slot->files->format->position(slot->reader)
                                       : slot->position;
    *skip = !whole ? now->skip + now->at : slot->reader != NULL ? 0 : slot->skip;
}
