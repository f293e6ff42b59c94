/* Places in a reader's cycle of open files; see file_slot.h.
 *
 * Happy path: a task reads and checks the next block while the consumer gives out the present one;
 * whoever comes first reads it, so a consumer never waits for a task that has not begun. After an
 * error nothing is read ahead: the file is looked at again when it is asked for.
 * Failures: those of the format, delivered when the records before them are gone. Locks: the files'
 * gate guards `ahead` and `queued`; the next block and the reader belong to whoever set READING,
 * and to the consumer otherwise. */
#include "data/file_slot.h"
#include "base/clock.h"
#include "file/fs.h"
#include <string.h>

/* Bytes that all slots together read at once, and one of them: enough that a thread is awake before
 * the consumer is through with the block before. */
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
    if (outcome != LEATI_FILE_END) {
        return outcome;
    }
    leati_fail(
        err, LEAT_DATA_LOSS,
        "%.250s: the file has %lld records fewer than when the state was saved; restore with "
        "the same files",
        slot->path, (long long)slot->skip);
    return LEATI_FILE_LOST;
}

static leati_file_outcome open_reader(leati_file_slot *slot, leat_error *err) {
    const leati_file_format *format = slot->files->format;
    leati_file_outcome outcome =
        format->open(slot->files, &slot->pools, slot->path, slot->position, &slot->reader, err);
    int64_t skip = slot->skip;
    leati_stat stat = {0};
    if (outcome == LEATI_FILE_MORE) {
        slot->plain =
            leati_path_stat(slot->path, &stat, NULL) == LEAT_OK && stat.kind == LEATI_PATH_FILE;
        outcome = pass(slot, err);
    }
    if (outcome != LEATI_FILE_MORE) {
        format->close(slot->reader);
        slot->reader = NULL;
        slot->skip = skip;
    }
    return outcome;
}

leati_tail leati_slot_read(leati_file_slot *slot, const leati_file_request *request, int64_t *n,
                           leat_error *err) {
    leati_file_outcome outcome = LEATI_FILE_MORE;
    *n = 0;
    if (slot->failed) {
        *err = slot->error;
        slot->failed = false;
        slot->place = LEATI_DONE;
        return LEATI_ERROR;
    }
    if (slot->reader == NULL) {
        outcome = open_reader(slot, err);
    }
    if (outcome == LEATI_FILE_MORE) {
        outcome = slot->files->format->read(slot->reader, request, n, err);
    }
    bool done = outcome == LEATI_FILE_END || outcome == LEATI_FILE_LOST;
    slot->place = done ? LEATI_DONE : LEATI_BUSY;
    return outcome == LEATI_FILE_MORE  ? LEATI_MORE
           : outcome == LEATI_FILE_END ? LEATI_END
                                       : LEATI_ERROR;
}

static int64_t block_bytes(const leati_files *files) {
    int64_t bytes = AHEAD_TOGETHER / files->num_slots;
    return bytes < AHEAD_LEAST ? AHEAD_LEAST : bytes > AHEAD_MOST ? AHEAD_MOST : bytes;
}

/* Reads a block. */
static void fill(leati_file_slot *slot, leati_file_block *block) {
    const leati_file_format *format = slot->files->format;
    int64_t bytes = block_bytes(slot->files), rows = bytes / ROW_BYTES;
    leat_buffer_unref(block->records);
    *block = (leati_file_block){
        .outcome = LEATI_FILE_ERROR, .start = slot->position, .skip = slot->skip};
    if (slot->reader != NULL) {
        block->start = format->position(slot->reader);
        block->skip = 0;
    }
    block->records =
        leati_pools_take(&slot->pools, (size_t)rows * sizeof(leat_string), &block->error);
    if (block->records == NULL) {
        return;
    }
    block->outcome = slot->reader == NULL ? open_reader(slot, &block->error) : LEATI_FILE_MORE;
    if (block->outcome != LEATI_FILE_MORE) {
        return;
    }
    leati_file_request request = {.want = rows,
                                  .bytes = (size_t)bytes,
                                  .records = leat_buffer_data(block->records),
                                  .owner = block->records};
    block->start = format->position(slot->reader);
    block->skip = 0;
    block->outcome = format->read(slot->reader, &request, &block->n, &block->error);
}

/* ---- reading ahead ---- */

static void run_task(leati_task *task, int worker) {
    (void)worker;
    leati_file_slot *slot = (leati_file_slot *)task;
    leati_gate *gate = slot->files->gate;
    leati_gate_lock(gate);
    slot->queued = false;
    if (slot->ahead == LEATI_AHEAD_WANTED) {
        slot->ahead = LEATI_AHEAD_READING;
        leati_gate_unlock(gate);
        fill(slot, &slot->next);
        leati_gate_lock(gate);
        slot->ahead = LEATI_AHEAD_READY;
    }
    leati_gate_wake(gate);
    leati_gate_unlock(gate);
}

/* Counts `ahead` blocks as the node's memory, if there is room for them. */
static bool count_ahead(leati_files *files, int64_t ahead) {
    bool fits = leati_holder_set(&files->node->holder, ahead * block_bytes(files), NULL) == LEAT_OK;
    files->ahead = fits ? ahead : files->ahead;
    return fits;
}

/* Has a task read the next block, where there are threads and memory for it. */
static void read_ahead(leati_file_slot *slot) {
    leati_files *files = slot->files;
    const leati_iteration *iteration = files->node->iteration;
    if (files->gate == NULL || !slot->plain || !count_ahead(files, files->ahead + 1)) {
        return;
    }
    leati_gate_lock(files->gate);
    bool submit = slot->ahead == LEATI_AHEAD_NONE && !slot->queued;
    if (submit) {
        slot->ahead = LEATI_AHEAD_WANTED;
        slot->queued = true;
        slot->task.run = run_task;
    }
    leati_gate_unlock(files->gate);
    if (submit) {
        leati_pool_submit(iteration->pool, &slot->task, false);
    } else {
        (void)count_ahead(files, files->ahead - 1);
    }
}

/* Waits until no task reads the next block, takes it from whoever was to read it and says whether
 * it was read; `forgotten`: waits until the pool has no task of the slot. */
static bool settle(leati_file_slot *slot, bool forgotten) {
    leati_gate *gate = slot->files->gate;
    bool ready = false;
    if (gate == NULL) {
        return false;
    }
    leati_gate_lock(gate);
    bool counted = slot->ahead != LEATI_AHEAD_NONE;
    if (slot->ahead == LEATI_AHEAD_WANTED) {
        slot->ahead = LEATI_AHEAD_NONE;
    }
    while (slot->ahead == LEATI_AHEAD_READING || (forgotten && slot->queued)) {
        /* The gate has neither a cancellation nor a deadline, so the wait cannot fail. */
        if (leati_gate_wait(gate, LEATI_WAIT_IO, LEATI_NO_DEADLINE, NULL, NULL) != LEAT_OK) {
            break;
        }
    }
    ready = slot->ahead == LEATI_AHEAD_READY;
    slot->ahead = LEATI_AHEAD_NONE;
    leati_gate_unlock(gate);
    if (counted) {
        (void)count_ahead(slot->files, slot->files->ahead - 1);
    }
    return ready;
}

/* Brings the next block into `now`. */
static void advance(leati_file_slot *slot) {
    if (settle(slot, false)) {
        leati_file_block used = slot->now;
        slot->now = slot->next;
        slot->next = used;
    } else {
        fill(slot, &slot->now);
    }
    if (slot->now.outcome == LEATI_FILE_MORE) {
        read_ahead(slot);
    }
}

bool leati_slot_has_record(leati_file_slot *slot) {
    leati_file_block *now = &slot->now;
    if (!slot->failed && now->at == now->n && now->outcome == LEATI_FILE_MORE) {
        advance(slot);
    }
    return !slot->failed && now->at < now->n;
}

/* Makes the owner hold the memory of a record of `now`. */
static leat_status hold_record(leati_file_block *now, const leat_string *record, leat_buffer *owner,
                               uint64_t call, leat_error *err) {
    leat_buffer *records = now->records, *chunk = NULL;
    for (; now->chunk < records->num_holds; now->chunk++, now->held_by = 0) {
        chunk = records->holds[now->chunk];
        const char *data = chunk->data;
        if (record->data >= data && record->data + record->size <= data + chunk->size) {
            break;
        }
        chunk = NULL;
    }
    if (now->held_by == call) {
        return LEAT_OK;
    }
    leat_status status = leati_buffer_hold(owner, chunk != NULL ? chunk : records, err);
    now->held_by = status == LEAT_OK ? call : now->held_by;
    return status;
}

leati_tail leati_slot_take(leati_file_slot *slot, const leati_file_request *request, uint64_t call,
                           leat_error *err) {
    leati_file_block *now = &slot->now;
    if (slot->failed) {
        int64_t n = 0;
        return leati_slot_read(slot, request, &n, err);
    }
    if (!leati_slot_has_record(slot)) {
        leati_file_outcome outcome = now->outcome;
        *err = outcome == LEATI_FILE_END ? *err : now->error;
        slot->place = outcome == LEATI_FILE_ERROR ? LEATI_BUSY : LEATI_DONE;
        now->outcome = LEATI_FILE_MORE; /* told; then the file is read again */
        return outcome == LEATI_FILE_END ? LEATI_END : LEATI_ERROR;
    }
    if (request->records != NULL) {
        const leat_string *record = (const leat_string *)now->records->data + now->at;
        if (hold_record(now, record, request->owner, call, err) != LEAT_OK) {
            return LEATI_ERROR;
        }
        *request->records = *record;
    }
    now->at++;
    return LEATI_MORE;
}

/* ---- the file ---- */

void leati_slot_clear(leati_file_slot *slot) {
    leati_files *files = slot->files;
    (void)settle(slot, false);
    files->format->close(slot->reader);
    leati_free(slot->path);
    leat_buffer_unref(slot->now.records);
    leat_buffer_unref(slot->next.records);
    slot->now = slot->next = (leati_file_block){0};
    slot->place = LEATI_VACANT;
    slot->failed = false;
    slot->reader = NULL;
    slot->path = NULL;
    slot->position = slot->skip = 0;
}

void leati_slot_close(leati_file_slot *slot) {
    (void)settle(slot, true);
    leati_slot_clear(slot);
    leati_pools_close(&slot->pools);
}

leat_status leati_slot_set_path(leati_file_slot *slot, leat_string name, leat_error *err) {
    char *path = leati_strndup(name.size > 0 ? name.data : "", name.size);
    if (path == NULL) {
        return leati_no_memory(err, name.size);
    }
    leati_slot_clear(slot);
    slot->place = LEATI_BUSY;
    slot->path = path;
    if (memchr(path, 0, name.size) != NULL) {
        slot->failed = true;
        leati_fail(&slot->error, LEAT_INVALID_ARGUMENT,
                   "the file name \"%.200s\" has a byte of 0 in it; expected a path", path);
    }
    return LEAT_OK;
}

void leati_slot_where(const leati_file_slot *slot, int64_t *position, int64_t *skip) {
    bool whole = slot->now.records == NULL; /* nothing was read ahead */
    *position = !whole                 ? slot->now.start
                : slot->reader != NULL ? slot->files->format->position(slot->reader)
                                       : slot->position;
    *skip = !whole ? slot->now.skip + slot->now.at : slot->reader != NULL ? 0 : slot->skip;
}
