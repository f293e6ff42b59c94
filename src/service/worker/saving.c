/* Writing a stream of a snapshot; see saving.h. The stream's folder has
 *
 *     uncommitted_chunks/chunk_C_A     chunk C, as attempt A of the stream has written it
 *     checkpoints/checkpoint_C_A       the iterator's state behind C chunks
 *     owner_worker, DONE               for people
 *
 * Happy path: elements go to an uncommitted chunk; when it is long enough, or old enough, it and
 * the state behind it are brought to the disk, the dispatcher is asked to let it count, and it gets
 * its name among the snapshot's chunks. What the dispatcher has noted decides: a stream that is
 * given again begins with the name of the last chunk that counts, and goes on from the state behind
 * it; whatever else an attempt has left is removed. So each element is in one chunk, whenever this
 * process or the dispatcher dies, and an attempt that only seems dead can add none.
 *
 * Failures: those of the input, of the file system, and FAILED_PRECONDITION where the plan's state
 * cannot be saved. The task's lock is held only to note figures. */
#include "service/worker/saving.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/minmax.h"
#include "data/kept/saved_files.h"
#include "data/kept/saved_rows.h"
#include "data/kept/snapshot_files.h"
#include "file/atomic.h"
#include "file/fs.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char uncommitted[] = "uncommitted_chunks", checkpoints[] = "checkpoints";

/* How long a chunk may become, by the clock, in ns: TensorFlow's checkpoint intervals. */
static int64_t longest_ns(int64_t chunk) {
    const int64_t minute = INT64_C(60) * 1000 * 1000 * 1000;
    return LEATI_MIN(30 * minute, 5 * minute + LEATI_MIN(chunk, 60) * minute / 2);
}

typedef struct saving {
    leati_worker_task *task;
    const leat_spec *spec; /* borrowed */
    leat_compression compression;
    char *folder;  /* of the stream */
    int64_t chunk; /* number of the one that is being written */
    /* The chunk. */
    leat_tfrecord_writer *writer; /* NULL: not begun */
    char *path;
    int64_t elements, bytes, since_ns;
    leati_writer scratch;
} saving;

/* ---- names ---- */

/* FOLDER/BELOW/WHAT_NUMBER_ATTEMPT. Owned. */
static char *path_in(const saving *s, const char *below, const char *what, int64_t number,
                     int64_t attempt, leat_error *err) {
    char name[LEATI_SNAPSHOT_NAME_SIZE];
    (void)snprintf(name, sizeof name, "%s/%s_%" PRId64 "_%" PRId64, below, what, number, attempt);
    return leati_saved_path(s->folder, name, err);
}

static char *chunk_path(const saving *s, int64_t number, int64_t attempt, leat_error *err) {
    return path_in(s, uncommitted, "chunk", number, attempt, err);
}

static char *state_path(const saving *s, int64_t number, int64_t attempt, leat_error *err) {
    return path_in(s, checkpoints, "checkpoint", number, attempt, err);
}

/* ---- what an attempt before has left ---- */

struct sweep {
    const char *folder, *keep; /* keep: the path of a file; NULL: none */
    int64_t attempt;
};

/* The attempt of a file's name; -1: it is no such file. */
static int64_t attempt_of(const char *name) {
    const char *last = strrchr(name, '_');
    return last == NULL ? -1 : strtoll(last + 1, NULL, 10);
}

static leat_status sweep_one(void *context, const char *name, leati_path_kind kind,
                             leat_error *err) {
    const struct sweep *sweep = context;
    (void)kind;
    char *path = leati_saved_path(sweep->folder, name, err);
    if (path == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    /* A temporary file of a writer that lives is not ours to remove, though its attempt is over. */
    if (name[0] == '.')
        leati_fs_sweep(path);
    else if (attempt_of(name) <= sweep->attempt &&
             (sweep->keep == NULL || strcmp(path, sweep->keep) != 0))
        (void)!leati_fs_remove(path, &(leat_error){0});
    leati_free(path);
    return LEAT_OK;
}

/* Removes what lies in a folder of the stream's but `keep`. A later attempt's files are not
 * touched: this one may be over without knowing. */
static leat_status sweep(const saving *s, const char *below, const char *keep, leat_error *err) {
    char *folder = leati_saved_path(s->folder, below, err);
    if (folder == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    struct sweep what = {folder, keep, s->task->about.attempt};
    leat_status status = leati_fs_list(folder, sweep_one, &what, err);
    leati_free(folder);
    return status;
}

/* Gives a chunk that counts its name, unless it has it. */
static leat_status put_chunk(const saving *s, int64_t number, int64_t attempt, int64_t elements,
                             leat_error *err) {
    const struct leati_message_task *about = &s->task->about;
    leati_snapshot_chunk chunk = {.stream = about->stream, .chunk = number, .elements = elements};
    leati_stat stat;
    leat_error local = {0};
    char *to = leati_snapshot_chunk_path(about->snapshot, &chunk, err);
    char *from = to == NULL ? NULL : chunk_path(s, number, attempt, err);
    leat_status status = from == NULL ? LEAT_RESOURCE_EXHAUSTED : leati_fs_move(from, to, &local);
    if (from != NULL && status == LEAT_NOT_FOUND && leati_fs_stat(to, &stat, err) == LEAT_OK)
        status = LEAT_OK;
    else if (from != NULL && status == LEAT_NOT_FOUND)
        status = leati_fail_in_file(err, LEAT_DATA_LOSS, to, -1, false,
                                    "this chunk of the snapshot is gone, though it was committed");
    else if (from != NULL && status != LEAT_OK)
        status = leati_error_pass(err, &local);
    leati_free(from);
    leati_free(to);
    return status;
}

static leat_status restore(const saving *s, const char *path, leat_error *err) {
    leat_buffer *state = NULL;
    LEATI_TRY(leati_file_read_all(path, &state, err));
    leat_status status = leat_iterator_restore(s->task->iterator, leat_buffer_data(state),
                                               leat_buffer_size(state), err);
    leat_buffer_unref(state);
    return status;
}

static leat_status sweep_all(const saving *s, leat_error *err) {
    LEATI_TRY(sweep(s, uncommitted, NULL, err));
    return sweep(s, checkpoints, NULL, err);
}

/* Goes on behind the chunks that count; *done: these are all, though nobody was told. */
static leat_status recover(saving *s, bool *done, leat_error *err) {
    const struct leati_message_task *about = &s->task->about;
    leati_snapshot_state state_of_stream = LEATI_SNAPSHOT_WRITING;
    s->chunk = about->chunks;
    if (about->chunks > 0)
        LEATI_TRY(
            put_chunk(s, about->chunks - 1, about->chunk_attempt, about->chunk_elements, err));
    LEATI_TRY(leati_snapshot_state_read(s->folder, &state_of_stream, &(leat_error){0}, err));
    *done = state_of_stream == LEATI_SNAPSHOT_DONE;
    if (*done || about->chunks == 0)
        return sweep_all(s, err);
    char *state = state_path(s, about->chunks, about->chunk_attempt, err);
    leat_status status = state == NULL ? LEAT_RESOURCE_EXHAUSTED : restore(s, state, err);
    if (status == LEAT_OK)
        status = sweep(s, uncommitted, NULL, err);
    if (status == LEAT_OK)
        status = sweep(s, checkpoints, state, err);
    leati_free(state);
    return status;
}

static leat_status make_folders(const saving *s, leat_error *err) {
    static const char *const folders[] = {uncommitted, checkpoints};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        char *path = leati_saved_path(s->folder, folders[i], err);
        leat_status status = path == NULL ? LEAT_RESOURCE_EXHAUSTED : leati_fs_mkdirs(path, err);
        leati_free(path);
        LEATI_TRY(status);
    }
    char *owner = leati_saved_path(s->folder, "owner_worker", err);
    if (owner == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    const char *address = s->task->ways.address;
    leat_status status = leati_atomic_write_file(owner, address, strlen(address), err);
    leati_free(owner);
    return status;
}

/* ---- a chunk ---- */

static leat_status begin_chunk(saving *s, leat_error *err) {
    leat_tfrecord_writer_options options = {LEAT_TFRECORD_WRITER_DEFAULTS};
    options.compression = s->compression;
    s->path = chunk_path(s, s->chunk, s->task->about.attempt, err);
    if (s->path == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    s->writer = leat_tfrecord_writer_open(s->path, &options, err);
    s->elements = s->bytes = 0;
    s->since_ns = leati_now_ns();
    return s->writer == NULL ? err->code : LEAT_OK;
}

static leat_status write_state(const saving *s, const char *path, leat_error *err) {
    char *state = NULL;
    size_t size = 0;
    LEATI_TRY(leat_iterator_save(s->task->iterator, &state, &size, NULL, err));
    leat_status status = leati_atomic_write_file(path, state, size, err);
    leat_text_free(state);
    return status;
}

/* From its answer on the chunk counts. */
static leat_status ask_to_count(saving *s, leat_error *err) {
    leati_worker_task *task = s->task;
    struct leati_message_commit said = {.task = task->about.task,
                                        .attempt = task->about.attempt,
                                        .chunk = s->chunk,
                                        .elements = s->elements};
    leat_status status = task->ways.commit(task->ways.context, &said, task->cancel, err);
    return status == LEAT_NOT_FOUND
               ? leati_fail(err, LEAT_CANCELLED, "the stream is another worker's now")
               : status;
}

static leat_status commit_chunk(saving *s, leat_error *err) {
    int64_t attempt = s->task->about.attempt;
    leat_tfrecord_writer *writer = s->writer;
    s->writer = NULL;
    LEATI_TRY(leat_tfrecord_writer_close(writer, err));
    char *state = state_path(s, s->chunk + 1, attempt, err);
    leat_status status = state == NULL ? LEAT_RESOURCE_EXHAUSTED : write_state(s, state, err);
    if (status == LEAT_OK)
        status = ask_to_count(s, err);
    if (status == LEAT_OK)
        status = put_chunk(s, s->chunk, attempt, s->elements, err);
    if (status == LEAT_OK)
        status = sweep(s, checkpoints, state, err);
    leati_free(state);
    leati_free(s->path);
    s->path = NULL;
    s->chunk++;
    return status;
}

static bool is_full(const saving *s) {
    return s->bytes >= s->task->ways.chunk_bytes ||
           leati_now_ns() - s->since_ns >= longest_ns(s->chunk);
}

static leat_status write_record(void *context, const void *data, size_t size, leat_error *err) {
    saving *s = context;
    s->bytes += (int64_t)size;
    return leat_tfrecord_writer_write(s->writer, data, size, err);
}

/* Writes rows of the iterator's block until the chunk is full: *n becomes how many. */
static leat_status write_rows(saving *s, int64_t *n, leat_error *err) {
    int64_t begin = 0, rows = 0;
    const leati_block *block = leati_iterator_block(s->task->iterator, &begin);
    leat_status status = LEAT_OK;
    if (s->writer == NULL)
        LEATI_TRY(begin_chunk(s, err));
    while (rows < *n && status == LEAT_OK && !is_full(s)) {
        status = leati_saved_put(s->spec, block, begin + rows, &s->scratch, write_record, s, err);
        rows++;
    }
    *n = rows;
    s->elements += rows;
    return status;
}

static void note(saving *s, int64_t rows, int64_t bytes, int64_t busy_ns) {
    leati_worker_task *task = s->task;
    leati_queue_gate_lock(task->gate);
    task->made += rows;
    task->given += rows;
    task->given_bytes += bytes;
    task->busy_ns += busy_ns;
    leati_queue_gate_unlock(task->gate);
}

static leat_status write_all(saving *s, leat_error *err) {
    for (;;) {
        int64_t available = 0, start = leati_now_ns();
        leat_status status = leati_iterator_ready(s->task->iterator, &available, err);
        if (leati_error_is_end(err) && status != LEAT_OK)
            break;
        LEATI_TRY(status);
        int64_t before = s->writer == NULL ? 0 : s->bytes;
        LEATI_TRY(write_rows(s, &available, err));
        leati_iterator_consume(s->task->iterator, available);
        note(s, available, s->bytes - before, leati_now_ns() - start);
        if (is_full(s))
            LEATI_TRY(commit_chunk(s, err));
    }
    *err = (leat_error){0};
    return s->writer != NULL ? commit_chunk(s, err) : LEAT_OK;
}

/* ---- the stream ---- */

static leat_status write_stream(saving *s, leat_error *err) {
    LEATI_TRY(leati_saved_compression("distributed_save", s->task->about.compression, false,
                                      &s->compression, err));
    bool done = false;
    LEATI_TRY(make_folders(s, err));
    LEATI_TRY(recover(s, &done, err));
    if (done)
        return LEAT_OK;
    LEATI_TRY(write_all(s, err));
    LEATI_TRY(leati_snapshot_done_write(s->folder, err));
    return sweep_all(s, err);
}

leat_status leati_worker_saving_write(leati_worker_task *task, leat_error *err) {
    saving s = {.task = task, .spec = leat_dataset_spec(task->dataset)};
    s.folder = leati_snapshot_stream_path(task->about.snapshot, task->about.stream, err);
    leat_status status = s.folder == NULL ? LEAT_RESOURCE_EXHAUSTED : write_stream(&s, err);
    leat_tfrecord_writer_discard(s.writer);
    leati_writer_fini(&s.scratch);
    leati_free(s.path);
    leati_free(s.folder);
    return status;
}
