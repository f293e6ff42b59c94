/* Metadata and the shards of a run: see saved_files.h.
 *
 * Happy path: a shard's file is begun with its first element and appears under its name, whole,
 * when it is committed; the metadata is written last. So a process that dies leaves temporary files
 * and whole ones that no finalized metadata speaks of. Failures: those of the file system, naming
 * the path. No locks: one owner. */
#include "data/kept/saved_files.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "base/minmax.h"
#include "base/random.h"
#include "base/text.h"
#include "data/kept/saved_rows.h"
#include "file/atomic.h"
#include "file/fs.h"
#include "file/tensor_proto.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Fields of SnapshotMetadataRecord. */
enum {
    INFO_HASH = 1,
    INFO_RUN = 2,
    INFO_CREATED = 3,
    INFO_VERSION = 4,
    INFO_DTYPES = 5,
    INFO_NUM_ELEMENTS = 6,
    INFO_FINALIZED = 1000
};

static const char info_name[] = "snapshot.metadata";

char *leati_saved_path(const char *folder, const char *name, leat_error *err) {
    leati_text text = {0};
    size_t size = strlen(folder);
    leati_text_addf(&text, "%s%s%s", folder, size > 0 && folder[size - 1] == '/' ? "" : "/", name);
    char *path = leati_text_take(&text);
    if (path == NULL)
        leati_no_memory(err);
    return path;
}

/* ---- metadata ---- */

leati_saved_info leati_saved_info_new(void) {
    leati_saved_info info = {.version = 2};
    int64_t words[2] = {0};
    struct timespec now = {0};
    leati_random_fresh_seed_if_zero(&words[0], &words[1]);
    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(info.run, sizeof(info.run), "%llu", (unsigned long long)words[0]);
    info.created_us = (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
    return info;
}

/* The text of a field; one that is too long for a name of ours is cut, and then names nothing. */
static void copy_text(const leati_wire_field *field, char *out) {
    size_t size = (size_t)(field->bytes.end - field->bytes.at);
    size = LEATI_MIN(size, LEATI_RUN_TEXT - 1);
    memcpy(out, field->bytes.at, size);
    out[size] = '\0';
}

/* The name becomes part of a path. */
static bool is_run(const char *run) {
    return run[0] != '\0' && strspn(run, "0123456789abcdef") == strlen(run);
}

void leati_saved_put_run(leati_writer *out, const char *run) {
    leati_put_bytes(out, run, strlen(run));
}

leat_status leati_saved_get_run(leati_reader *in, char out[LEATI_RUN_TEXT], leat_error *err) {
    const void *data = NULL;
    size_t size = 0;
    leat_status status = leati_get_bytes(in, &data, &size, err);
    out[0] = '\0';
    if (status == LEAT_OK && size < LEATI_RUN_TEXT) {
        memcpy(out, data, size);
        out[size] = '\0';
    }
    return status != LEAT_OK || is_run(out)
               ? status
               : leati_fail(err, LEAT_DATA_LOSS, "a saved state without the name of its run");
}

static bool read_info(leati_wire wire, leati_saved_info *out) {
    leati_wire_field field;
    while (wire.at < wire.end) {
        if (!leati_wire_next(&wire, &field))
            return false;
        switch (field.number) {
        case INFO_HASH: copy_text(&field, out->hash); break;
        case INFO_RUN: copy_text(&field, out->run); break;
        case INFO_CREATED: out->created_us = (int64_t)field.value; break;
        case INFO_VERSION: out->version = (int64_t)field.value; break;
        case INFO_NUM_ELEMENTS: out->num_elements = (int64_t)field.value; break;
        case INFO_FINALIZED: out->finalized = field.value != 0; break;
        default: break;
        }
    }
    return is_run(out->run) && out->num_elements >= 0;
}

leat_status leati_saved_info_read(const char *folder, leati_saved_info *out, bool *found,
                                  leat_error *err) {
    char *path = leati_saved_path(folder, info_name, err);
    leat_buffer *buffer = NULL;
    leat_error local = {0};
    *out = (leati_saved_info){0};
    if (path == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    leat_status status = leati_file_read_all(path, &buffer, &local);
    *found = status == LEAT_OK;
    if (status == LEAT_OK) {
        const uint8_t *data = leat_buffer_data(buffer);
        if (!read_info((leati_wire){data, data + leat_buffer_size(buffer)}, out)) {
            status = leati_fail_in_file(&local, LEAT_DATA_LOSS, path, -1, false,
                                        "not the metadata of a saved dataset");
        }
    } else if (status == LEAT_NOT_FOUND) {
        status = LEAT_OK;
    }
    if (status != LEAT_OK)
        *err = local;
    leat_buffer_unref(buffer);
    leati_free(path);
    return status;
}

static void put_dtypes(leati_writer *out, const leat_spec *spec) {
    leati_writer list = {0};
    for (int c = 0; c < leat_spec_num_components(spec); c++)
        leati_put_uint(&list, leati_tensor_proto_of_dtype(leat_spec_component_dtype(spec, c)));
    out->failed = out->failed || list.failed;
    leati_tensor_proto_put_field(out, INFO_DTYPES, list.data, list.size);
    leati_writer_fini(&list);
}

leat_status leati_saved_info_write(const char *folder, const leati_saved_info *info,
                                   const leat_spec *spec, leat_error *err) {
    leati_writer out = {0};
    char *path = leati_saved_path(folder, info_name, err);
    if (path == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    if (info->hash[0] != '\0')
        leati_tensor_proto_put_field(&out, INFO_HASH, info->hash, strlen(info->hash));
    leati_tensor_proto_put_field(&out, INFO_RUN, info->run, strlen(info->run));
    leati_tensor_proto_put_number_field(&out, INFO_CREATED, (uint64_t)info->created_us);
    leati_tensor_proto_put_number_field(&out, INFO_VERSION, (uint64_t)info->version);
    put_dtypes(&out, spec);
    /* As in any proto3 message, fields of value 0 are left out. */
    if (info->num_elements > 0)
        leati_tensor_proto_put_number_field(&out, INFO_NUM_ELEMENTS, (uint64_t)info->num_elements);
    if (info->finalized)
        leati_tensor_proto_put_number_field(&out, INFO_FINALIZED, 1);
    leat_status status =
        out.failed ? leati_no_memory(err) : leati_atomic_write_file(path, out.data, out.size, err);
    leati_writer_fini(&out);
    leati_free(path);
    return status;
}

leat_status leati_saved_compression(const char *op, const char *text, bool automatic,
                                    leat_compression *out, leat_error *err) {
    leat_error local = {0};
    bool best = automatic && text != NULL && strcmp(text, "AUTO") == 0;
    leat_status status = leat_compression_from_name(best ? "SNAPPY" : text, out, &local);
    if (status == LEAT_UNIMPLEMENTED && best) {
        *out = LEAT_COMPRESSION_GZIP;
        return LEAT_OK;
    }
    if (status == LEAT_INVALID_ARGUMENT) {
        static int logged;
        leati_log_once(&logged, LEAT_LOG_WARNING,
                       "%s: compression \"%.50s\" is not known; the files are not compressed", op,
                       text);
        *out = LEAT_COMPRESSION_NONE;
        return LEAT_OK;
    }
    return status == LEAT_OK ? LEAT_OK : leati_fail(err, status, "%s: %s", op, local.text);
}

/* ---- a run ---- */

struct shard {
    uint64_t number;
    int64_t files; /* that are committed */
    leat_tfrecord_writer *file;
};

struct leati_run_writer {
    char *path;
    leat_compression compression;
    struct shard *shards; /* by number */
    size_t num_shards, capacity;
    leati_writer scratch;
    bool finished;
};

static void free_writer(leati_run_writer *writer) {
    for (size_t i = 0; i < writer->num_shards; i++)
        leat_tfrecord_writer_discard(writer->shards[i].file);
    leati_writer_fini(&writer->scratch);
    leati_free(writer->shards);
    leati_free(writer->path);
    leati_free(writer);
}

leat_status leati_saved_writer_open(const char *folder, const char *run,
                                    leat_compression compression, leati_run_writer **out,
                                    leat_error *err) {
    leati_run_writer *writer = leati_alloc_zero(1, sizeof(*writer));
    if (writer == NULL)
        return leati_no_memory(err);
    writer->compression = compression;
    writer->path = leati_saved_path(folder, run, err);
    leat_status status =
        writer->path == NULL ? LEAT_RESOURCE_EXHAUSTED : leati_fs_mkdirs(writer->path, err);
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
    leati_text_addf(&text, "%s/%08llu.shard", writer->path, (unsigned long long)shard);
    if (file >= 0)
        leati_text_addf(&text, "/%08lld.snapshot", (long long)file);
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
        leat_status status = path == NULL ? LEAT_RESOURCE_EXHAUSTED : leati_fs_mkdir(path, err);
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
    return shard->file != NULL ? LEAT_OK : leati_error_pass(err, &local);
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
    if (status == LEAT_OK && number != NULL) {
        writer->scratch.size = 0;
        status = leati_tensor_proto_put(&writer->scratch, LEAT_INT64, &scalar, number, err);
        if (status == LEAT_OK)
            status = put_record(to->file, writer->scratch.data, writer->scratch.size, err);
    }
    return status == LEAT_OK
               ? leati_saved_put(spec, block, row, &writer->scratch, put_record, to->file, err)
               : status;
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
            shard->files += status == LEAT_OK;
        }
    }
    return status;
}

leat_status leati_saved_writer_finish(leati_run_writer *writer, leat_error *err) {
    leat_status status = leati_saved_writer_commit(writer, err);
    writer->finished = status == LEAT_OK;
    return status;
}

void leati_saved_writer_save(const leati_run_writer *writer, leati_writer *out) {
    leati_put_uint(out, writer->num_shards);
    for (size_t i = 0; i < writer->num_shards; i++) {
        leati_put_uint(out, writer->shards[i].number);
        leati_put_int(out, writer->shards[i].files);
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

static leat_status note_shard(void *context, const char *name, leati_path_kind kind,
                              leat_error *err) {
    size_t size = strlen(name), end = sizeof(".shard") - 1;
    (void)kind;
    return size > end && strcmp(name + size - end, ".shard") == 0
               ? leati_fs_paths_add(context, name, size, err)
               : LEAT_OK;
}

leat_status leati_saved_run_shards(const char *run, leati_paths *out, leat_error *err) {
    leat_status status = leati_fs_list(run, note_shard, out, err);
    leati_fs_paths_sort(out);
    return status;
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
    }
    leati_fs_paths_fini(&names);
    return status;
}

leat_status leati_saved_writer_restore(leati_run_writer *writer, leati_reader *in,
                                       leat_error *err) {
    uint64_t count = 0, number = 0;
    int64_t files = 0;
    leat_status status = leati_get_uint(in, &count, err);
    for (uint64_t i = 0; i < count && status == LEAT_OK; i++) {
        status = leati_get_uint(in, &number, err);
        if (status == LEAT_OK)
            status = leati_get_int(in, &files, err);
        if (status == LEAT_OK && files < 0) {
            status =
                leati_fail(err, LEAT_DATA_LOSS, "a saved shard of %lld files", (long long)files);
        }
        struct shard *shard = NULL;
        if (status == LEAT_OK && writer != NULL)
            status = shard_of(writer, number, &shard, err);
        if (shard != NULL)
            shard->files = files;
    }
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
    if (writer->path != NULL)
        status = leati_fs_remove(writer->path, &ignored);
    (void)status;
    free_writer(writer);
}
