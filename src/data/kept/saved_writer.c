/* The shards of a run being written: see saved_files.h.
 *
 * Happy path: a shard's file is begun with its first element and appears under its name, whole,
 * when it is committed; the run's copy of the metadata is written next, and the folder's last. So a
 * process that dies leaves temporary files and whole ones that no finalized metadata speaks of.
 * Failures: those of the file system, naming the path. No locks: one owner, but for the file that
 * tells others that there is one (saved_sweep.h). */
#include "base/alloc.h"
#include "base/error.h"
#include "base/text.h"
#include "data/kept/saved_files.h"
#include "data/kept/saved_rows.h"
#include "data/kept/saved_sweep.h"
#include "file/tensor_proto.h"
#include "file/tfrecord.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* So often a new run may be swept before it is held, a millisecond each. */
enum { MOST_ATTEMPTS = 2000 };

struct shard {
    uint64_t number;
    int64_t files;   /* that are committed */
    int64_t *counts; /* of their elements */
    size_t capacity;
    int64_t in_file; /* elements of the one being written */
    leat_tfrecord_writer *file;
};

struct leati_run_writer {
    char *path;
    leat_compression compression;
    struct shard *shards; /* by number */
    size_t num_shards, capacity;
    leati_writer scratch;
    int64_t each;   /* records of an element */
    bool uncounted; /* it goes on with files whose elements nobody has counted */
    bool finished;
    leati_lock *lock; /* says that somebody writes here; NULL where it cannot be said */
};

static void free_writer(leati_run_writer *writer) {
    for (size_t i = 0; i < writer->num_shards; i++) {
        leat_tfrecord_writer_discard(writer->shards[i].file);
        leati_free(writer->shards[i].counts);
    }
    leati_lock_free(writer->lock);
    leati_writer_fini(&writer->scratch);
    leati_free(writer->shards);
    leati_free(writer->path);
    leati_free(writer);
}

/* Holds the run's folder. Whoever sweeps may find a new one before its lock is in it, and holds it
 * then until it is removed: that is waited for, and the folder made again. */
static leat_status hold(leati_run_writer *writer, const char *successor, bool is_new,
                        leat_error *err) {
    leat_status why = LEAT_NOT_FOUND;
    for (int attempt = 0; attempt < MOST_ATTEMPTS && writer->lock == NULL; attempt++) {
        if (attempt > 0 && why == LEAT_ALREADY_EXISTS)
            (void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        LEATI_TRY(leati_fs_mkdir(writer->path, err));
        writer->lock = leati_saved_hold_run(writer->path, successor, &why);
        if (why != LEAT_NOT_FOUND && !(why == LEAT_ALREADY_EXISTS && is_new))
            break;
    }
    if (why != LEAT_ALREADY_EXISTS)
        return LEAT_OK;
    return leati_fail(err, LEAT_ALREADY_EXISTS,
                      "%.300s is being written by somebody else; let them finish", writer->path);
}

leat_status leati_saved_writer_open(const char *folder, const char *run,
                                    leat_compression compression, const char *successor,
                                    leati_run_writer **out, leat_error *err) {
    leati_run_writer *writer = leati_alloc_zero(1, sizeof(*writer));
    if (writer == NULL)
        return leati_no_memory(err);
    leati_stat stat;
    writer->compression = compression;
    writer->path = leati_saved_path(folder, run, err);
    bool is_new = writer->path != NULL &&
                  leati_fs_stat(writer->path, &stat, &(leat_error){0}) == LEAT_NOT_FOUND;
    leat_status status =
        writer->path == NULL ? LEAT_RESOURCE_EXHAUSTED : leati_fs_mkdirs(folder, err);
    if (status == LEAT_OK) {
        leati_saved_sweep(folder);
        status = leati_fs_mkdir(writer->path, err);
    }
    if (status == LEAT_OK)
        status = hold(writer, successor, is_new, err);
    if (status == LEAT_OK)
        *out = writer;
    else
        free_writer(writer);
    return status;
}

/* The path of a shard's folder, or of its file `file` if that is not negative. Owned. */
static char *shard_path(const leati_run_writer *writer, uint64_t shard, int64_t file,
                        leat_error *err) {
    leati_text text = {0};
    leati_text_addf(&text, "%s/" LEATI_SHARD_NAME, writer->path, (unsigned long long)shard);
    if (file >= 0)
        leati_text_addf(&text, "/" LEATI_SHARD_FILE_NAME, (long long)file);
    char *path = leati_text_take(&text);
    if (path == NULL)
        leati_no_memory(err);
    return path;
}

/* The first place whose shard is not below `number`. */
static size_t place_of(const leati_run_writer *writer, uint64_t number) {
    size_t low = 0, high = writer->num_shards;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (writer->shards[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The shard of that number, made on first use. */
static leat_status shard_of(leati_run_writer *writer, uint64_t number, struct shard **out,
                            leat_error *err) {
    size_t at = place_of(writer, number);
    if (at == writer->num_shards || writer->shards[at].number != number) {
        if (!leati_grow((void **)&writer->shards, &writer->capacity, writer->num_shards + 1,
                        sizeof(*writer->shards)))
            return leati_no_memory(err);
        char *path = shard_path(writer, number, -1, err);
        leat_status status = path == NULL ? LEAT_RESOURCE_EXHAUSTED : leati_fs_mkdirs(path, err);
        leati_free(path);
        if (status != LEAT_OK)
            return status;
        /* Only now that nothing can fail: the list holds no shard without a folder. */
        memmove(&writer->shards[at + 1], &writer->shards[at],
                (writer->num_shards - at) * sizeof(*writer->shards));
        writer->shards[at] = (struct shard){.number = number};
        writer->num_shards++;
    }
    *out = &writer->shards[at];
    return LEAT_OK;
}

static leat_status open_file(leati_run_writer *writer, struct shard *shard, leat_error *err) {
    leat_tfrecord_writer_options options = {LEAT_TFRECORD_WRITER_DEFAULTS,
                                            .compression = writer->compression};
    char *path = shard_path(writer, shard->number, shard->files, err);
    leat_error local = {0};
    if (path == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    shard->file = leat_tfrecord_writer_open(path, &options, &local);
    leati_free(path);
    if (shard->file == NULL)
        return leati_error_pass(err, &local);
    leati_tfrecord_writer_heed_stops(shard->file);
    return LEAT_OK;
}

static leat_status put_record(void *context, const void *data, size_t size, leat_error *err) {
    return leat_tfrecord_writer_write(context, data, size, err);
}

leat_status leati_saved_writer_add(leati_run_writer *writer, int64_t shard, const int64_t *number,
                                   const leat_spec *spec, const leati_block *block, int64_t row,
                                   leat_error *err) {
    static const leat_shape scalar = {.rank = 0};
    struct shard *to = NULL;
    leat_status status = shard_of(writer, (uint64_t)shard, &to, err);
    if (status == LEAT_OK && to->file == NULL)
        status = open_file(writer, to, err);
    writer->each = leati_saved_records(spec) + (number != NULL);
    if (status == LEAT_OK && number != NULL) {
        writer->scratch.size = 0;
        status = leati_tensor_proto_put(&writer->scratch, LEAT_INT64, &scalar, number, err);
        if (status == LEAT_OK)
            status = put_record(to->file, writer->scratch.data, writer->scratch.size, err);
    }
    if (status == LEAT_OK)
        status = leati_saved_put(spec, block, row, &writer->scratch, put_record, to->file, err);
    if (status == LEAT_OK)
        to->in_file++;
    return status;
}

/* Notes that the shard's next file is committed, with as many elements. */
static leat_status note_committed(const leati_run_writer *writer, struct shard *shard,
                                  int64_t elements, leat_error *err) {
    if (writer->uncounted) {
        shard->files++;
        return LEAT_OK;
    }
    if (!leati_grow((void **)&shard->counts, &shard->capacity, (size_t)shard->files + 1,
                    sizeof(*shard->counts)))
        return leati_no_memory(err);
    shard->counts[shard->files++] = elements;
    return LEAT_OK;
}

leat_status leati_saved_writer_commit(leati_run_writer *writer, leat_error *err) {
    leat_status status = LEAT_OK;
    for (size_t i = 0; i < writer->num_shards && status == LEAT_OK; i++) {
        struct shard *shard = &writer->shards[i];
        leat_tfrecord_writer *file = shard->file;
        shard->file = NULL;
        /* Closed or not, the file is gone: nobody closes it twice. */
        if (file != NULL) {
            status = leat_tfrecord_writer_close(file, err);
            if (status == LEAT_OK)
                status = note_committed(writer, shard, shard->in_file, err);
            shard->in_file = 0;
        }
    }
    return status;
}

leat_status leati_saved_writer_finish(leati_run_writer *writer, leat_error *err) {
    leat_status status = leati_saved_writer_commit(writer, err);
    writer->finished = status == LEAT_OK;
    return status;
}

/* What the files have, where that is known. */
static leat_status collect(const leati_run_writer *writer, leati_saved_counts *out,
                           leat_error *err) {
    leat_status status = LEAT_OK;
    out->known = !writer->uncounted;
    out->each = writer->each;
    for (size_t i = 0; i < writer->num_shards && status == LEAT_OK && out->known; i++) {
        const struct shard *shard = &writer->shards[i];
        /* A shard that a restored writer has not come to again has a folder and no file. */
        if (shard->files > 0)
            status = leati_saved_counts_add(out, shard->number, shard->counts, shard->files, err);
    }
    return status;
}

leat_status leati_saved_writer_publish(leati_run_writer *writer, const char *folder,
                                       leati_saved_info *info, const leat_spec *spec,
                                       leat_error *err) {
    leati_saved_counts counts = {0};
    leat_status status = collect(writer, &counts, err);
    info->finalized = true;
    if (status == LEAT_OK)
        status = leati_saved_info_write(writer->path, info, &counts, spec, err);
    if (status == LEAT_OK)
        status = leati_saved_info_write(folder, info, &counts, spec, err);
    if (status == LEAT_OK) {
        leati_lock_remove(writer->lock);
        writer->lock = NULL;
        /* Only now that this one is finished nobody goes on with what others have begun. */
        leati_saved_sweep(folder);
    }
    leati_saved_counts_fini(&counts);
    return status;
}

void leati_saved_writer_save(const leati_run_writer *writer, leati_writer *out) {
    leati_put_uint(out, writer->uncounted ? 0 : (uint64_t)writer->each);
    leati_put_uint(out, writer->num_shards);
    for (size_t i = 0; i < writer->num_shards; i++) {
        const struct shard *shard = &writer->shards[i];
        leati_put_uint(out, shard->number);
        leati_put_int(out, shard->files);
        for (int64_t f = 0; f < shard->files && !writer->uncounted; f++)
            leati_put_int(out, shard->counts[f]);
    }
}

/* Removes the shard's files from number `from` on, as far as they follow one another. */
static leat_status remove_files(leati_run_writer *writer, uint64_t shard, int64_t from,
                                leat_error *err) {
    leat_status status = LEAT_OK;
    while (status == LEAT_OK) {
        leat_error local = {0};
        char *path = shard_path(writer, shard, from++, err);
        if (path == NULL)
            return LEAT_RESOURCE_EXHAUSTED;
        status = leati_fs_remove(path, &local);
        leati_free(path);
        if (status != LEAT_OK && status != LEAT_NOT_FOUND)
            *err = local;
    }
    return status == LEAT_NOT_FOUND ? LEAT_OK : status;
}

/* Removes FOLDER/NAME, if it is there and can be. */
static void remove_name(const char *folder, const char *name) {
    leat_error ignored = {0};
    char *path = leati_saved_path(folder, name, &ignored);
    leat_status status = path == NULL ? LEAT_OK : leati_fs_remove(path, &ignored);
    (void)status;
    leati_free(path);
}

/* Shards that were begun after the state was saved go too. */
static leat_status remove_beyond(leati_run_writer *writer, leat_error *err) {
    leati_paths names = {0};
    leat_status status = leati_saved_run_shards(writer->path, &names, err);
    for (size_t i = 0; i < names.count && status == LEAT_OK; i++) {
        char *end = NULL;
        uint64_t number = strtoull(names.values[i], &end, 10);
        /* A folder that no run would have made is left alone. */
        if (end == names.values[i] || strcmp(end, ".shard") != 0)
            continue;
        size_t at = place_of(writer, number);
        bool known = at < writer->num_shards && writer->shards[at].number == number;
        status = remove_files(writer, number, known ? writer->shards[at].files : 0, err);
        /* A finished run has no shard without elements. */
        if (status == LEAT_OK && !known)
            remove_name(writer->path, names.values[i]);
    }
    leati_fs_paths_fini(&names);
    return status;
}

/* Reads the files of one shard; `shard` NULL: past them. */
static leat_status restore_shard(const leati_run_writer *writer, struct shard *shard,
                                 leati_reader *in, bool counted, leat_error *err) {
    int64_t files = 0, elements = 0;
    LEATI_TRY(leati_get_int(in, &files, err));
    if (files < 0)
        return leati_fail(err, LEAT_DATA_LOSS, "a saved shard of %lld files", (long long)files);
    if (!counted && shard != NULL)
        shard->files = files;
    for (int64_t f = 0; f < files && counted; f++) {
        LEATI_TRY(leati_get_int(in, &elements, err));
        if (shard != NULL)
            LEATI_TRY(note_committed(writer, shard, elements, err));
    }
    return LEAT_OK;
}

static bool has_file(const leati_run_writer *writer, uint64_t shard, int64_t file) {
    leati_stat stat;
    char *path = shard_path(writer, shard, file, &(leat_error){0});
    bool found = path != NULL && leati_fs_stat(path, &stat, &(leat_error){0}) == LEAT_OK;
    leati_free(path);
    return found;
}

/* Are the files there of which the state speaks? Who went on from an earlier state of the run has
 * removed some. */
static leat_status find_files(const leati_run_writer *writer, leat_error *err) {
    for (size_t i = 0; i < writer->num_shards; i++) {
        const struct shard *shard = &writer->shards[i];
        for (int64_t f = 0; f < shard->files; f++) {
            if (!has_file(writer, shard->number, f))
                return leati_fail(err, LEAT_NOT_FOUND,
                                  "%.300s has not the files that the state speaks of; somebody has "
                                  "gone on from another state",
                                  writer->path);
        }
    }
    return LEAT_OK;
}

leat_status leati_saved_writer_restore(leati_run_writer *writer, leati_reader *in, bool counted,
                                       bool whole, leat_error *err) {
    uint64_t count = 0, number = 0, each = 0;
    leat_status status = counted ? leati_get_uint(in, &each, err) : LEAT_OK;
    if (status == LEAT_OK)
        status = leati_get_uint(in, &count, err);
    /* Without a shard there is nothing that nobody has counted. */
    if (writer != NULL) {
        writer->each = (int64_t)each;
        writer->uncounted = each == 0 && count > 0;
    }
    for (uint64_t i = 0; i < count && status == LEAT_OK; i++) {
        struct shard *shard = NULL;
        status = leati_get_uint(in, &number, err);
        if (status == LEAT_OK && writer != NULL)
            status = shard_of(writer, number, &shard, err);
        if (status == LEAT_OK)
            status = restore_shard(writer, shard, in, each > 0, err);
    }
    if (status == LEAT_OK && writer != NULL && whole)
        status = find_files(writer, err);
    return status == LEAT_OK && writer != NULL ? remove_beyond(writer, err) : status;
}

void leati_saved_writer_close(leati_run_writer *writer) {
    /* A finished run stays even without elements; metadata will speak of it. */
    bool committed = writer != NULL && writer->finished;
    for (size_t i = 0; writer != NULL && i < writer->num_shards; i++)
        committed = committed || writer->shards[i].files > 0;
    if (committed && writer != NULL)
        free_writer(writer);
    else
        leati_saved_writer_discard(writer);
}

void leati_saved_writer_discard(leati_run_writer *writer) {
    leat_error ignored = {0};
    if (writer == NULL)
        return;
    /* What cannot be removed is a run that no metadata speaks of. */
    leat_status status = LEAT_OK;
    for (size_t i = 0; i < writer->num_shards; i++) {
        struct shard *shard = &writer->shards[i];
        leat_tfrecord_writer_discard(shard->file);
        shard->file = NULL;
        status = remove_files(writer, shard->number, 0, &ignored);
        char *path = shard_path(writer, shard->number, -1, &ignored);
        status = path == NULL ? status : leati_fs_remove(path, &ignored);
        leati_free(path);
    }
    if (writer->path != NULL) {
        remove_name(writer->path, LEATI_SAVED_METADATA);
        remove_name(writer->path, LEATI_SAVED_SPEC);
        leati_lock_remove(writer->lock);
        writer->lock = NULL;
        status = leati_fs_remove(writer->path, &ignored);
    }
    (void)status;
    free_writer(writer);
}
