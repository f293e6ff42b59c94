/* See kinds.h. Every file's content says its version. */
#include "kinds.h"
#include "base/error.h"
#include "file/atomic.h"
#include "file/fs.h"
#include "file/safetensors.h"
#include <dirent.h>
#include <leat/data.h>
#include <leat/data_ops.h>
#include <leat/file.h>
#include <leat/sources.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH = 700, ELEMENTS = 5, VALUES = 300 };

static const char *at(char out[PATH], const char *folder, const char *name) {
    (void)snprintf(out, PATH, "%s/%s", folder, name);
    return out;
}

static leat_status neither(const char *folder, leat_error *err) {
    return leati_fail(err, LEAT_DATA_LOSS, "%s: neither version", folder);
}

/* ---- texts ---- */

/* "VERSION VERSION ... " of so many bytes. */
static void fill(char *out, size_t size, int version) {
    for (size_t i = 0; i < size; i++)
        out[i] = i % 2 ? ' ' : (char)('0' + version);
}

static leat_status load_text(const char *path, size_t size, int *version, leat_error *err) {
    leat_buffer *buffer = NULL;
    char expected[VALUES];
    LEATI_TRY(leati_file_read_all(path, &buffer, err));
    const char *data = leat_buffer_data(buffer);
    *version =
        leat_buffer_size(buffer) == size && (data[0] == '0' || data[0] == '1') ? data[0] - '0' : -1;
    fill(expected, size, *version);
    bool good = *version >= 0 && memcmp(data, expected, size) == 0;
    leat_buffer_unref(buffer);
    return good ? LEAT_OK : neither(path, err);
}

static leat_status save_file(const char *folder, int version, leat_error *err) {
    char path[PATH], text[VALUES];
    fill(text, sizeof text, version);
    return leati_atomic_write_file(at(path, folder, "out"), text, sizeof text, err);
}

static leat_status load_file(const char *folder, int *version, leat_error *err) {
    char path[PATH];
    return load_text(at(path, folder, "out"), VALUES, version, err);
}

/* The index names its data. */
static leat_status save_together(const char *folder, int version, leat_error *err) {
    char data[PATH], index[PATH], old[PATH], text[VALUES];
    fill(text, sizeof text, version);
    (void)at(data, folder, version ? "data-1" : "data-0");
    (void)at(old, folder, version ? "data-0" : "data-1");
    const leat_file_piece halves[] = {{text, 100}, {text + 100, sizeof text - 100}};
    const leat_file_content files[] = {{data, halves, 2}, {at(index, folder, "index"), halves, 1}};
    const char *const outdated[] = {old};
    return leat_files_replace(files, 2, outdated, 1, err);
}

static leat_status load_together(const char *folder, int *version, leat_error *err) {
    char path[PATH];
    int named = -1;
    LEATI_TRY(load_text(at(path, folder, "index"), 100, &named, err));
    LEATI_TRY(load_text(at(path, folder, named ? "data-1" : "data-0"), VALUES, version, err));
    return named == *version ? LEAT_OK : neither(folder, err);
}

/* ---- weights ---- */

static leat_status save_tensors(const char *folder, int version, leat_error *err) {
    char path[PATH];
    static int64_t values[VALUES];
    for (int i = 0; i < VALUES; i++)
        values[i] = version;
    const leati_named_tensor tensors[] = {
        {"a", leat_tensor_view(LEAT_INT64, LEAT_SHAPE(VALUES), values)},
        {"b", leat_tensor_view(LEAT_INT64, LEAT_SCALAR, values)}};
    const leati_note note = {"epochs", version ? "1" : "0"};
    return leati_safetensors_write(at(path, folder, "out.safetensors"), tensors, 2, &note, 1, err);
}

static leat_status load_tensors(const char *folder, int *version, leat_error *err) {
    char path[PATH];
    leati_safetensors *file = NULL;
    LEATI_TRY(leati_safetensors_read(at(path, folder, "out.safetensors"), &file, err));
    *version = leati_safetensors_note(file, "epochs")[0] - '0';
    const leat_tensor *a = leati_safetensors_find(file, "a"),
                      *b = leati_safetensors_find(file, "b");
    bool good = a != NULL && b != NULL;
    for (int i = 0; good && i < VALUES; i++) {
        int64_t value = -1;
        memcpy(&value, (const char *)a->data + i * 8, 8);
        good = value == *version;
    }
    leati_safetensors_free(file);
    return good ? LEAT_OK : neither(path, err);
}

/* ---- records ---- */

static leat_status save_records_as(const char *path, leat_compression compression, int version,
                                   leat_error *err) {
    leat_tfrecord_writer_options options = {LEAT_TFRECORD_WRITER_DEFAULTS};
    options.compression = compression;
    leat_tfrecord_writer *writer = leat_tfrecord_writer_open(path, &options, err);
    if (writer == NULL)
        return err->code;
    for (int i = 0; i < ELEMENTS; i++) {
        char text[VALUES];
        fill(text, sizeof text, version);
        leat_status status = leat_tfrecord_writer_write(writer, text, sizeof text, err);
        if (status != LEAT_OK) {
            leat_tfrecord_writer_discard(writer);
            return status;
        }
    }
    return leat_tfrecord_writer_close(writer, err);
}

/* The elements (given) are numbers or texts; the first says the version of all. */
static leat_status load_elements(leat_dataset *dataset, int *version, leat_error *err) {
    leat_iterator *iterator = dataset == NULL ? NULL : leat_iterator_new(dataset, NULL, err);
    leat_element element = {0};
    leat_status status = iterator == NULL ? err->code : LEAT_OK;
    int count = 0;
    bool good = true;
    *version = -1;
    while ((status = status == LEAT_OK ? leat_iterator_next(iterator, &element, err) : status) ==
           LEAT_OK) {
        const leat_tensor *tensor = &element.tensors[0];
        int found = -1;
        if (tensor->dtype == LEAT_INT64) {
            found = (int)*(const int64_t *)tensor->data - count;
            found = found == 0 ? 0 : found == 100 ? 1 : -1;
        } else {
            const leat_string *text = tensor->data;
            char expected[VALUES];
            found = text->size == VALUES ? text->data[0] - '0' : -1;
            fill(expected, VALUES, found);
            good = good && found >= 0 && memcmp(text->data, expected, VALUES) == 0;
        }
        *version = count == 0 ? found : *version;
        good = good && found == *version && found >= 0;
        count++;
    }
    leat_element_fini(&element);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
    if (status != LEAT_OUT_OF_RANGE)
        return status;
    *err = (leat_error){0};
    return good && count == ELEMENTS ? LEAT_OK : neither("elements", err);
}

static leat_status load_records_as(const char *path, const char *compression, leat_index_use index,
                                   int *version, leat_error *err) {
    leat_dataset_tf_record_options options = {LEAT_DATASET_TF_RECORD_DEFAULTS};
    options.compression_type = compression;
    options.index = index;
    return load_elements(leat_dataset_tf_record(&path, 1, &options, err), version, err);
}

static leat_status save_records(const char *folder, int version, leat_error *err) {
    char path[PATH];
    return save_records_as(at(path, folder, "out"), LEAT_COMPRESSION_NONE, version, err);
}

static leat_status load_records(const char *folder, int *version, leat_error *err) {
    char path[PATH];
    return load_records_as(at(path, folder, "out"), NULL, LEAT_INDEX_NONE, version, err);
}

static leat_status save_packed(const char *folder, int version, leat_error *err) {
    char path[PATH];
    return save_records_as(at(path, folder, "out"), LEAT_COMPRESSION_GZIP, version, err);
}

static leat_status load_packed(const char *folder, int *version, leat_error *err) {
    char path[PATH];
    return load_records_as(at(path, folder, "out"), "GZIP", LEAT_INDEX_NONE, version, err);
}

/* The records' lengths do not depend on the version, so the index fits either. */
static leat_status save_index(const char *folder, int version, leat_error *err) {
    char path[PATH];
    LEATI_TRY(save_records_as(at(path, folder, "out"), LEAT_COMPRESSION_NONE, version, err));
    return leat_index_write(path, NULL, err);
}

static leat_status load_index(const char *folder, int *version, leat_error *err) {
    char path[PATH];
    return load_records_as(at(path, folder, "out"), NULL, LEAT_INDEX_REQUIRED, version, err);
}

/* ---- datasets ---- */

static leat_dataset *numbers(int version, leat_error *err) {
    return leat_dataset_range(version * 100, version * 100 + ELEMENTS, 1, NULL, err);
}

static leat_status save_dataset(const char *folder, int version, leat_error *err) {
    char path[PATH];
    leat_dataset *dataset = numbers(version, err);
    leat_status status = dataset == NULL
                             ? err->code
                             : leat_dataset_save(dataset, at(path, folder, "saved"), NULL, err);
    leat_dataset_unref(dataset);
    return status;
}

static leat_status load_dataset(const char *folder, int *version, leat_error *err) {
    char path[PATH];
    return load_elements(leat_dataset_load(at(path, folder, "saved"), NULL, err), version, err);
}

static leat_status load_snapshot(const char *folder, int *version, leat_error *err) {
    char path[PATH];
    return load_elements(
        leat_dataset_snapshot(numbers(1, err), at(path, folder, "snapshot"), NULL, err), version,
        err);
}

static leat_status save_snapshot(const char *folder, int version, leat_error *err) {
    return load_snapshot(folder, &version, err);
}

static leat_status load_cache(const char *folder, int *version, leat_error *err) {
    char path[PATH];
    return load_elements(
        leat_dataset_cache_to_file(numbers(1, err), at(path, folder, "cache"), err), version, err);
}

static leat_status save_cache(const char *folder, int version, leat_error *err) {
    return load_cache(folder, &version, err);
}

const kind kinds[] = {
    {"file", save_file, load_file, 1, false},
    {"together", save_together, load_together, 2, false},
    {"safetensors", save_tensors, load_tensors, 1, false},
    {"records", save_records, load_records, 1, false},
    {"packed records", save_packed, load_packed, 1, false},
    {"index", save_index, load_index, 2, true},
    {"saved dataset", save_dataset, load_dataset, 0, false},
    {"snapshot", save_snapshot, load_snapshot, 0, true},
    {"cache", save_cache, load_cache, 2, true},
};
const int num_kinds = sizeof kinds / sizeof *kinds;

/* ---- folders ---- */

int kinds_count(const char *folder, int *temporary) {
    int count = 0;
    DIR *list = opendir(folder);
    for (struct dirent *entry; list != NULL && (entry = readdir(list)) != NULL;) {
        char path[PATH];
        size_t size = strlen(entry->d_name);
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (entry->d_type == DT_DIR) {
            count += kinds_count(at(path, folder, entry->d_name), temporary);
            continue;
        }
        count++;
        *temporary += size > 4 && strcmp(entry->d_name + size - 4, ".tmp") == 0;
    }
    if (list != NULL)
        (void)closedir(list);
    return count;
}

static void empty(const char *folder) {
    DIR *list = opendir(folder);
    for (struct dirent *entry; list != NULL && (entry = readdir(list)) != NULL;) {
        char path[PATH];
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        (void)at(path, folder, entry->d_name);
        if (entry->d_type == DT_DIR)
            empty(path);
        (void)remove(path);
    }
    if (list != NULL)
        (void)closedir(list);
}

void kinds_clear(const char *folder) {
    empty(folder);
    (void)mkdir(folder, 0700);
}
