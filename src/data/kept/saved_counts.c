/* The number of elements of each file of a run: see saved_counts.h.
 *
 * TensorFlow's files say nowhere how many elements a shard has, so a file that is gone, empty or
 * cut between two records reads as the end. leat therefore writes the numbers as one field of
 * SnapshotMetadataRecord that TensorFlow does not know (INFO_COUNTS of saved_files.c). Its parser
 * passes over such fields, as any parser of protocol buffers does. A file of our own beside the
 * metadata would do as well for TensorFlow, but could be lost, or be left behind where a folder is
 * copied, without anybody's notice: this field is there if and only if the metadata are, and both
 * are replaced by one rename.
 *
 * The message: field 1, how many records an element takes; field 2, for each shard a message of its
 * number (1) and of the numbers of elements of its files, as varints one after the other (2).
 *
 * Failures: DATA_LOSS for a message that is none; NOT_FOUND and DATA_LOSS for a run whose folders
 * are others, naming the path and what was expected. No locks. */
#include "data/kept/saved_counts.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/text.h"
#include "data/kept/saved_files.h"
#include "file/tensor_proto.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNTS_EACH = 1, COUNTS_SHARD = 2, SHARD_NUMBER = 1, SHARD_FILES = 2 };

void leati_saved_counts_fini(leati_saved_counts *counts) {
    for (size_t i = 0; i < counts->num_shards; i++)
        leati_free(counts->shards[i].files);
    leati_free(counts->shards);
    *counts = (leati_saved_counts){0};
}

static leat_status bad_counts(leat_error *err) {
    return leati_fail(err, LEAT_DATA_LOSS, "numbers of elements that nobody has saved");
}

leat_status leati_saved_counts_add(leati_saved_counts *counts, uint64_t number,
                                   const int64_t *files, int64_t num_files, leat_error *err) {
    leati_text text = {0};
    leati_saved_shard shard = {.number = number, .num_files = num_files};
    for (int64_t i = 0; i < num_files; i++) {
        /* Far from overflow also when they are multiplied by an element's records. */
        if (files[i] < 1 || files[i] > INT64_MAX / 4 ||
            shard.elements + files[i] > INT64_MAX / 4 - counts->elements) {
            leati_text_fini(&text);
            return bad_counts(err);
        }
        shard.elements += files[i];
        leati_text_addf(&text, "%s%lld", i > 0 ? "," : "", (long long)files[i]);
    }
    shard.files = leati_text_take(&text);
    if (shard.files == NULL || !leati_grow((void **)&counts->shards, &counts->capacity,
                                           counts->num_shards + 1, sizeof(*counts->shards))) {
        leati_free(shard.files);
        return leati_no_memory(err);
    }
    counts->shards[counts->num_shards++] = shard;
    counts->elements += shard.elements;
    return LEAT_OK;
}

/* ---- the message ---- */

static void put_shard(const leati_saved_shard *shard, leati_writer *out) {
    leati_writer files = {0}, message = {0};
    for (const char *at = shard->files; at != NULL && *at != '\0';) {
        char *end = NULL;
        leati_put_uint(&files, strtoull(at, &end, 10));
        at = *end == ',' ? end + 1 : end;
    }
    leati_tensor_proto_put_number_field(&message, SHARD_NUMBER, shard->number);
    leati_tensor_proto_put_field(&message, SHARD_FILES, files.data, files.size);
    leati_tensor_proto_put_field(out, COUNTS_SHARD, message.data, message.size);
    out->failed = out->failed || files.failed || message.failed;
    leati_writer_fini(&files);
    leati_writer_fini(&message);
}

void leati_saved_counts_put(const leati_saved_counts *counts, leati_writer *out) {
    leati_tensor_proto_put_number_field(out, COUNTS_EACH, (uint64_t)counts->each);
    for (size_t i = 0; i < counts->num_shards; i++)
        put_shard(&counts->shards[i], out);
}

/* The varints as a list of numbers. */
static leat_status get_files(leati_saved_counts *counts, uint64_t number, leati_wire packed,
                             leat_error *err) {
    int64_t *files = NULL;
    size_t count = 0, capacity = 0;
    leat_status status = LEAT_OK;
    while (packed.at < packed.end && status == LEAT_OK) {
        uint64_t value = 0;
        if (!leati_wire_varint(&packed, &value) || value > INT64_MAX)
            status = bad_counts(err);
        else if (!leati_grow((void **)&files, &capacity, count + 1, sizeof(*files)))
            status = leati_no_memory(err);
        else
            files[count++] = (int64_t)value;
    }
    if (status == LEAT_OK && count == 0)
        status = bad_counts(err); /* a shard is begun with its first element */
    if (status == LEAT_OK)
        status = leati_saved_counts_add(counts, number, files, (int64_t)count, err);
    leati_free(files);
    return status;
}

static leat_status get_shard(leati_wire message, leati_saved_counts *counts, leat_error *err) {
    leati_wire_field field;
    leati_wire files = {0};
    uint64_t number = 0;
    while (message.at < message.end) {
        if (!leati_wire_next(&message, &field))
            return bad_counts(err);
        if (field.number == SHARD_NUMBER && field.type == LEATI_WIRE_VARINT)
            number = field.value;
        else if (field.number == SHARD_FILES && field.type == LEATI_WIRE_BYTES)
            files = field.bytes;
    }
    size_t last = counts->num_shards;
    if (last > 0 && counts->shards[last - 1].number >= number)
        return bad_counts(err);
    return get_files(counts, number, files, err);
}

leat_status leati_saved_counts_get(leati_wire message, leati_saved_counts *out, leat_error *err) {
    leati_wire_field field;
    leat_status status = LEAT_OK;
    out->known = true;
    while (message.at < message.end && status == LEAT_OK) {
        if (!leati_wire_next(&message, &field))
            return bad_counts(err);
        if (field.number == COUNTS_EACH && field.type == LEATI_WIRE_VARINT &&
            field.value <= INT32_MAX)
            out->each = (int64_t)field.value;
        else if (field.number == COUNTS_SHARD && field.type == LEATI_WIRE_BYTES)
            status = get_shard(field.bytes, out, err);
    }
    /* The records of all files are counted in 64 bits. */
    if (status == LEAT_OK && out->num_shards > 0 &&
        (out->each < 1 || out->elements > INT64_MAX / 4 / out->each))
        status = bad_counts(err);
    return status;
}

/* ---- folders ---- */

static bool ends_in(const char *name, const char *end) {
    size_t size = strlen(name), tail = strlen(end);
    return size > tail && strcmp(name + size - tail, end) == 0;
}

bool leati_saved_is_shard(const char *name) {
    return ends_in(name, ".shard");
}

bool leati_saved_is_shard_file(const char *name) {
    /* What begins with a dot is on its way to be a file. */
    return name[0] != '.' && ends_in(name, ".snapshot");
}

const leati_saved_shard *leati_saved_counts_shard(const leati_saved_counts *counts,
                                                  const char *name) {
    uint64_t number = strtoull(name, NULL, 10);
    size_t low = 0, high = counts->num_shards;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (counts->shards[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    char expected[LEATI_SHARD_NAME_SIZE];
    snprintf(expected, sizeof(expected), LEATI_SHARD_NAME, (unsigned long long)number);
    return low < counts->num_shards && counts->shards[low].number == number &&
                   strcmp(name, expected) == 0
               ? &counts->shards[low]
               : NULL;
}

static leat_status note_file(void *context, const char *name, leati_path_kind kind,
                             leat_error *err) {
    (void)kind;
    return leati_saved_is_shard_file(name) ? leati_fs_paths_add(context, name, strlen(name), err)
                                           : LEAT_OK;
}

static bool is_listed(const leati_paths *names, const char *name) {
    size_t low = 0, high = names->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = strcmp(names->values[middle], name);
        if (order == 0)
            return true;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

static leat_status missing(const char *folder, const char *name, int64_t elements,
                           leat_error *err) {
    char *path = leati_saved_path(folder, name, err);
    if (path == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    leat_status status =
        leati_fail_in_file(err, LEAT_NOT_FOUND, path, -1, false,
                           "it is gone: the metadata speak of %lld elements in it, found 0; bring "
                           "it back, or save the dataset again",
                           (long long)elements);
    leati_free(path);
    return status;
}

static leat_status surplus(const char *folder, const char *what, int64_t expected, size_t found,
                           const char *name, leat_error *err) {
    return leati_fail_in_file(err, LEAT_DATA_LOSS, folder, -1, false,
                              "the metadata speak of %lld %s, found %zu; %.100s is none of them: "
                              "was it copied here? remove it",
                              (long long)expected, what, found, name);
}

static void file_name(int64_t number, char out[LEATI_SHARD_NAME_SIZE]) {
    snprintf(out, LEATI_SHARD_NAME_SIZE, LEATI_SHARD_FILE_NAME, (long long)number);
}

/* The sorted names of the shard's files against those that it should have. */
static leat_status check_names(const leati_saved_shard *shard, const char *folder,
                               const leati_paths *names, leat_error *err) {
    char name[LEATI_SHARD_NAME_SIZE];
    const char *at = shard->files;
    for (int64_t i = 0; i < shard->num_files; i++) {
        char *end = NULL;
        int64_t elements = strtoll(at, &end, 10);
        file_name(i, name);
        if (!is_listed(names, name))
            return missing(folder, name, elements, err);
        at = *end == ',' ? end + 1 : end;
    }
    for (size_t i = 0; i < names->count; i++) {
        file_name((int64_t)i, name);
        if ((int64_t)i >= shard->num_files || strcmp(names->values[i], name) != 0)
            return surplus(folder, "files", shard->num_files, names->count, names->values[i], err);
    }
    return LEAT_OK;
}

static leat_status check_shard(const leati_saved_shard *shard, const char *run, const char *name,
                               leat_error *err) {
    leati_paths names = {0};
    leat_error local = {0};
    char *folder = leati_saved_path(run, name, err);
    if (folder == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    leat_status status = leati_fs_list(folder, note_file, &names, &local);
    leati_fs_paths_sort(&names);
    status =
        status == LEAT_OK ? check_names(shard, folder, &names, err) : leati_error_pass(err, &local);
    leati_fs_paths_fini(&names);
    leati_free(folder);
    return status;
}

leat_status leati_saved_counts_check_run(const leati_saved_counts *counts, const char *run,
                                         const leati_paths *names, leat_error *err) {
    for (size_t i = 0; i < counts->num_shards; i++) {
        const leati_saved_shard *shard = &counts->shards[i];
        char name[LEATI_SHARD_NAME_SIZE];
        snprintf(name, sizeof(name), LEATI_SHARD_NAME, (unsigned long long)shard->number);
        if (!is_listed(names, name))
            return missing(run, name, shard->elements, err);
        LEATI_TRY(check_shard(shard, run, name, err));
    }
    for (size_t i = 0; i < names->count; i++) {
        if (leati_saved_counts_shard(counts, names->values[i]) == NULL)
            return surplus(run, "shards", (int64_t)counts->num_shards, names->count,
                           names->values[i], err);
    }
    return LEAT_OK;
}
