/* The metadata of saved datasets: see saved_files.h.
 *
 * Happy path: a message of TensorFlow's, SnapshotMetadataRecord, is read or written whole. What
 * leat adds to it is a field of its own (saved_counts.c). Failures: those of the file system,
 * naming the path, and DATA_LOSS for what is no such message. No locks. */
#include "data/kept/saved_files.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "base/minmax.h"
#include "base/random.h"
#include "base/text.h"
#include "file/atomic.h"
#include "file/fs.h"
#include "file/tensor_proto.h"
#include <stdio.h>
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
    INFO_FINALIZED = 1000,
    INFO_COUNTS = 75231 /* leat's own: see saved_counts.c */
};

static const char info_name[] = LEATI_SAVED_METADATA;

char *leati_saved_path(const char *folder, const char *name, leat_error *err) {
    leati_text text = {0};
    size_t size = strlen(folder);
    /* Without a folder it is the working folder's, not the root's. */
    bool ends = size == 0 || folder[size - 1] == '/';
    leati_text_addf(&text, "%s%s%s", folder, ends ? "" : "/", name);
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
bool leati_saved_is_run(const char *run) {
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
    return status != LEAT_OK || leati_saved_is_run(out)
               ? status
               : leati_fail(err, LEAT_DATA_LOSS, "a saved state without the name of its run");
}

static leat_status bad_info(leat_error *err) {
    return leati_fail(err, LEAT_DATA_LOSS, "not the metadata of a saved dataset");
}

/* How many dtypes a field has: one, or as many as are packed into it. */
static int64_t count_dtypes(const leati_wire_field *field) {
    leati_wire list = field->bytes;
    uint64_t dtype = 0;
    int64_t count = field->type == LEATI_WIRE_VARINT;
    while (list.at < list.end && leati_wire_varint(&list, &dtype))
        count++;
    return count;
}

static leat_status read_info(leati_wire wire, leati_saved_info *out, leati_saved_counts *counts,
                             leat_error *err) {
    leati_wire_field field;
    leat_status status = LEAT_OK;
    while (wire.at < wire.end && status == LEAT_OK) {
        if (!leati_wire_next(&wire, &field))
            return bad_info(err);
        switch (field.number) {
        case INFO_HASH: copy_text(&field, out->hash); break;
        case INFO_RUN: copy_text(&field, out->run); break;
        case INFO_CREATED: out->created_us = (int64_t)field.value; break;
        case INFO_VERSION: out->version = (int64_t)field.value; break;
        case INFO_DTYPES: out->num_dtypes += count_dtypes(&field); break;
        case INFO_NUM_ELEMENTS: out->num_elements = (int64_t)field.value; break;
        case INFO_FINALIZED: out->finalized = field.value != 0; break;
        case INFO_COUNTS:
            leati_saved_counts_fini(counts);
            status = leati_saved_counts_get(field.bytes, counts, err);
            out->counted = true;
            break;
        default: break;
        }
    }
    return status != LEAT_OK || (leati_saved_is_run(out->run) && out->num_elements >= 0)
               ? status
               : bad_info(err);
}

static leat_status read_folder(const char *folder, leati_saved_info *out,
                               leati_saved_counts *counts, bool *found, leat_error *err) {
    char *path = leati_saved_path(folder, info_name, err);
    leat_buffer *buffer = NULL;
    leat_error local = {0}, why = {0};
    *out = (leati_saved_info){0};
    if (path == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    leat_status status = leati_file_read_all(path, &buffer, &local);
    *found = status == LEAT_OK;
    if (status == LEAT_OK) {
        const uint8_t *data = leat_buffer_data(buffer);
        status = read_info((leati_wire){data, data + leat_buffer_size(buffer)}, out, counts, &why);
        if (status != LEAT_OK)
            leati_fail_in_file(&local, status, path, -1, false, "%s", why.text);
    } else if (status == LEAT_NOT_FOUND) {
        status = LEAT_OK;
    }
    if (status != LEAT_OK)
        *err = local;
    leat_buffer_unref(buffer);
    leati_free(path);
    return status;
}

leat_status leati_saved_info_read(const char *folder, leati_saved_info *out, bool *found,
                                  leat_error *err) {
    leati_saved_counts counts = {0};
    leat_status status = read_folder(folder, out, &counts, found, err);
    leati_saved_counts_fini(&counts);
    return status;
}

leat_status leati_saved_info_of_run(const char *folder, const char *run, leati_saved_info *out,
                                    leati_saved_counts *counts, leat_error *err) {
    leati_saved_counts own = {0};
    char name[LEATI_RUN_TEXT]; /* `run` may lie in *out */
    bool found = false;
    snprintf(name, sizeof(name), "%s", run);
    counts = counts == NULL ? &own : counts;
    leat_status status = read_folder(folder, out, counts, &found, err);
    if (status == LEAT_OK && (!found || strcmp(out->run, name) != 0)) {
        leati_saved_counts_fini(counts);
        char *path = leati_saved_path(folder, name, err);
        status =
            path == NULL ? LEAT_RESOURCE_EXHAUSTED : read_folder(path, out, counts, &found, err);
        leati_free(path);
    }
    if (status == LEAT_OK && (!found || strcmp(out->run, name) != 0)) {
        leati_saved_counts_fini(counts);
        *out = (leati_saved_info){.version = 2, .num_elements = -1, .finalized = true};
        memcpy(out->run, name, sizeof(name));
    }
    leati_saved_counts_fini(&own);
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

static void put_counts(leati_writer *out, const leati_saved_counts *counts) {
    leati_writer message = {0};
    leati_saved_counts_put(counts, &message);
    out->failed = out->failed || message.failed;
    leati_tensor_proto_put_field(out, INFO_COUNTS, message.data, message.size);
    leati_writer_fini(&message);
}

leat_status leati_saved_info_write(const char *folder, const leati_saved_info *info,
                                   const leati_saved_counts *counts, const leat_spec *spec,
                                   leat_error *err) {
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
    if (counts != NULL && counts->known)
        put_counts(&out, counts);
    /* Last, so that what was cut off somewhere is never finalized. */
    if (info->finalized)
        leati_tensor_proto_put_number_field(&out, INFO_FINALIZED, 1);
    leat_status status =
        out.failed ? leati_no_memory(err) : leati_atomic_write_part(path, out.data, out.size, err);
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

/* ---- the shards' folders ---- */

static leat_status note_shard(void *context, const char *name, leati_path_kind kind,
                              leat_error *err) {
    (void)kind;
    return leati_saved_is_shard(name) ? leati_fs_paths_add(context, name, strlen(name), err)
                                      : LEAT_OK;
}

leat_status leati_saved_run_shards(const char *run, leati_paths *out, leat_error *err) {
    leat_status status = leati_fs_list(run, note_shard, out, err);
    leati_fs_paths_sort(out);
    return status;
}
