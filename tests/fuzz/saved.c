/* Folders of saved datasets. The first byte of an input says what the rest is: a spec's message,
 * the metadata, or (after a length) a spec's message and then records, each after its length, of a
 * folder whose other files and checksums fit.
 *
 * A spec that is read is written and read again as the same one; so are metadata. Records give the
 * same elements and errors in verification mode and without. */
#include "data/kept/saved_files.h"
#include "data/kept/saved_rows.h"
#include "data/kept/snapshot_files.h"
#include "file/tensor_proto.h"
#include "file/tfrecord.h"
#include "fuzz.h"
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { SPEC, METADATA, RECORDS, KINDS };
enum { MOST_RECORDS = 60 };

#define FOLDER "saved"
#define SHARD FOLDER "/1/00000000.shard"

static void write_file(const char *path, const void *data, size_t size) {
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0)
        fuzz_broken("%s cannot be written", path);
}

static leat_spec *read_spec(const uint8_t *data, size_t size) {
    leat_error err = {0};
    leat_spec *spec = leati_tensor_proto_spec((leati_wire){data, data + size}, &err);
    if (spec == NULL)
        fuzz_check_error("reading a spec", err.code, &err);
    return spec;
}

static void check_spec(const uint8_t *data, size_t size) {
    leat_spec *spec = read_spec(data, size);
    leati_writer out = {0};
    leat_error err = {0};
    if (spec == NULL)
        return;
    if (leati_tensor_proto_put_spec(&out, spec, &err) != LEAT_OK || out.failed)
        fuzz_broken("a spec that was read cannot be written: %s", err.text);
    leat_spec *again = leati_tensor_proto_spec(
        (leati_wire){(const uint8_t *)out.data, (const uint8_t *)out.data + out.size}, &err);
    if (again == NULL || !leat_spec_equal(spec, again))
        fuzz_broken("a spec, written and read again: %s", again == NULL ? err.text : "another one");
    leati_writer_fini(&out);
    leat_spec_unref(again);
    leat_spec_unref(spec);
}

/* What is known of the run's numbers of elements, written and read again, is the same message. */
static void check_counts(const char *run) {
    leati_saved_counts counts = {0}, again = {0};
    leati_saved_info info;
    leati_writer first = {0}, second = {0};
    leat_error err = {0};
    if (leati_saved_info_of_run(FOLDER, run, &info, &counts, &err) != LEAT_OK)
        fuzz_broken("the run of metadata that were read: %s", err.text);
    if (counts.known != info.counted)
        fuzz_broken("counts are known and not there, or there and not known");
    leati_saved_counts_put(&counts, &first);
    const uint8_t *data = first.data;
    if (counts.known &&
        leati_saved_counts_get((leati_wire){data, data + first.size}, &again, &err) != LEAT_OK)
        fuzz_broken("counts, written and read again: %s", err.text);
    leati_saved_counts_put(&again, &second);
    if (counts.known &&
        (first.size != second.size || memcmp(first.data, second.data, first.size) != 0))
        fuzz_broken("counts, written and read again, say something else");
    leati_writer_fini(&first);
    leati_writer_fini(&second);
    leati_saved_counts_fini(&counts);
    leati_saved_counts_fini(&again);
}

/* The same bytes as the metadata of a service's snapshot: written and read again they say the same.
 */
static void check_snapshot(const uint8_t *data, size_t size) {
    leati_snapshot_info info, again;
    leat_error err = {0};
    bool found = false, stays = false;
    write_file(FOLDER "/snapshot.metadata", data, size);
    leat_status status = leati_snapshot_info_read(FOLDER, &info, &found, &err);
    fuzz_check_error("reading a snapshot's metadata", status, &err);
    if (status != LEAT_OK || !found)
        return;
    if (leati_snapshot_info_write(FOLDER, info.spec, info.compression, &err) != LEAT_OK ||
        leati_snapshot_info_read(FOLDER, &again, &stays, &err) != LEAT_OK || !stays)
        fuzz_broken("a snapshot's metadata, written and read again: %s", err.text);
    if (!leat_spec_equal(info.spec, again.spec) || strcmp(info.compression, again.compression) != 0)
        fuzz_broken("a snapshot's metadata, written and read again, say something else");
    leati_snapshot_info_fini(&again);
    leati_snapshot_info_fini(&info);
}

static void check_metadata(const uint8_t *data, size_t size) {
    leati_saved_info info, again;
    leat_error err = {0};
    bool found = false;
    leat_spec *spec = leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, &err);
    check_snapshot(data, size);
    write_file(FOLDER "/snapshot.metadata", data, size);
    leat_status status = leati_saved_info_read(FOLDER, &info, &found, &err);
    fuzz_check_error("reading metadata", status, &err);
    if (!found)
        fuzz_broken("metadata that are there were not found");
    if (status == LEAT_OK)
        check_counts(info.run);
    if (status == LEAT_OK && (leati_saved_info_write(FOLDER, &info, NULL, spec, &err) != LEAT_OK ||
                              leati_saved_info_read(FOLDER, &again, &found, &err) != LEAT_OK))
        fuzz_broken("metadata, written and read again: %s", err.text);
    if (status == LEAT_OK &&
        (strcmp(info.run, again.run) != 0 || strcmp(info.hash, again.hash) != 0 ||
         info.created_us != again.created_us || info.version != again.version ||
         info.num_elements != again.num_elements || info.finalized != again.finalized))
        fuzz_broken("metadata, written and read again, say something else");
    leat_spec_unref(spec);
}

static size_t length_at(const uint8_t *data) {
    return data[0] | (size_t)data[1] << 8;
}

/* The records as a file, and metadata that speak of its elements. */
static void write_folder(const leat_spec *spec, const uint8_t *data, size_t size) {
    leat_error err = {0};
    leati_saved_info info = {.run = "1", .version = 2, .finalized = true};
    int records = 0, each = leati_saved_records(spec);
    leat_tfrecord_writer *writer =
        leat_tfrecord_writer_open(SHARD "/00000000.snapshot", NULL, &err);
    bool good = writer != NULL;
    while (size >= 2 && records < MOST_RECORDS && good) {
        size_t length = length_at(data);
        length = length < size - 2 ? length : size - 2;
        good = leat_tfrecord_writer_write(writer, data + 2, length, &err) == LEAT_OK;
        data += 2 + length;
        size -= 2 + length;
        records++;
    }
    info.num_elements = each > 0 ? records / each : 0;
    if (!good || leat_tfrecord_writer_close(writer, &err) != LEAT_OK ||
        leati_saved_info_write(FOLDER, &info, NULL, spec, &err) != LEAT_OK)
        fuzz_broken("the folder cannot be written: %s", err.text);
}

static void check_records(const uint8_t *data, size_t size) {
    static fuzz_outcomes whole, other;
    size_t length = size < 2 ? 0 : length_at(data);
    if (size < 2 || length > size - 2)
        return;
    leat_spec *spec = read_spec(data + 2, length);
    if (spec == NULL)
        return;
    leat_error err = {0};
    leat_dataset_load_options options = {LEAT_DATASET_LOAD_DEFAULTS, .element_spec = spec};
    write_folder(spec, data + 2 + length, size - 2 - length);
    leat_dataset *dataset = leat_dataset_load(FOLDER, &options, &err);
    if (dataset == NULL) {
        fuzz_check_error("loading", err.code, &err);
    } else {
        fuzz_run(leat_dataset_ref(dataset), false, &whole);
        fuzz_run(dataset, true, &other);
        fuzz_compare("elements", &whole, &other);
    }
    leat_spec_unref(spec);
}

static void run(const uint8_t *data, size_t size) {
    if (size < 1)
        return;
    (void)mkdir(FOLDER, 0700);
    (void)mkdir(FOLDER "/1", 0700);
    (void)mkdir(SHARD, 0700);
    switch (data[0] % KINDS) {
    case SPEC: check_spec(data + 1, size - 1); break;
    case METADATA: check_metadata(data + 1, size - 1); break;
    default: check_records(data + 1, size - 1); break;
    }
}

/* ---- seeds: what TensorFlow saved ---- */

static void put_length(leati_writer *out, size_t size) {
    leati_put_raw(out, (const uint8_t[]){(uint8_t)size, (uint8_t)(size >> 8)}, 2);
}

static void put_file(uint8_t kind, const char *path, leati_writer *out) {
    leat_buffer *buffer = NULL;
    leat_error err = {0};
    if (leati_file_read_all(path, &buffer, &err) != LEAT_OK)
        fuzz_broken("%s", err.text);
    leati_put_raw(out, &kind, 1);
    if (kind == RECORDS)
        put_length(out, leat_buffer_size(buffer));
    leati_put_raw(out, leat_buffer_data(buffer), leat_buffer_size(buffer));
    leat_buffer_unref(buffer);
}

static void put_records(const char *path, leati_writer *out) {
    leati_tfrecord *reader = NULL;
    leat_error err = {0};
    leat_string record;
    int64_t n = 0;
    if (leati_tfrecord_open(path, NULL, &reader, &err) != LEAT_OK)
        fuzz_broken("%s", err.text);
    for (int i = 0; i < MOST_RECORDS; i++) {
        if (leati_tfrecord_read(reader, 1, 0, &record, NULL, &n, &err) != LEATI_RECORD)
            break; /* the end, or a compressed file */
        put_length(out, record.size);
        leati_put_raw(out, record.data, record.size);
    }
    leati_tfrecord_close(reader);
}

static void flush(leati_writer *out) {
    fuzz_seed(out->data, out->size);
    leati_writer_fini(out);
}

/* Metadata of leat's own, with counts, of two shards; the numbers of the fields are those of
 * data/kept/saved_files.c. */
static void seed_counts(void) {
    static const uint8_t kind = METADATA;
    leati_saved_counts counts = {.known = true, .each = 2};
    leati_writer out = {0}, message = {0};
    leat_error err = {0};
    if (leati_saved_counts_add(&counts, 0, (const int64_t[]){10, 3}, 2, &err) != LEAT_OK ||
        leati_saved_counts_add(&counts, 5, (const int64_t[]){3}, 1, &err) != LEAT_OK)
        fuzz_broken("counts: %s", err.text);
    leati_saved_counts_put(&counts, &message);
    leati_put_raw(&out, &kind, 1);
    leati_tensor_proto_put_field(&out, 2, "12", 2);
    leati_tensor_proto_put_number_field(&out, 4, 2);
    leati_tensor_proto_put_number_field(&out, 6, 16);
    leati_tensor_proto_put_field(&out, 75231, message.data, message.size);
    leati_tensor_proto_put_number_field(&out, 1000, 1);
    flush(&out);
    leati_writer_fini(&message);
    leati_saved_counts_fini(&counts);
}

static void seeds(void) {
    static const char *const names[] = {"batches", "dtypes",       "named_tuple",
                                        "nested",  "numbers",      "ragged",
                                        "shapes",  "ragged_twice", "unknown_rank"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char folder[64], path[256];
        leati_saved_info info = {0};
        leati_writer out = {0};
        leat_error err = {0};
        bool found = false;
        snprintf(folder, sizeof folder, "files/saved/%s", names[i]);
        if (leati_saved_info_read(folder, &info, &found, &err) != LEAT_OK || !found)
            fuzz_broken("%s cannot be read: %s", folder, err.text);
        snprintf(path, sizeof path, "%s/snapshot.metadata", folder);
        put_file(METADATA, path, &out);
        flush(&out);
        snprintf(path, sizeof path, "%s/dataset_spec.pb", folder);
        put_file(SPEC, path, &out);
        flush(&out);
        put_file(RECORDS, path, &out);
        snprintf(path, sizeof path, "%s/%s/00000000.shard/00000000.snapshot", folder, info.run);
        put_records(path, &out);
        flush(&out);
    }
    seed_counts();
}

const fuzz_target fuzz_saved = {
    .name = "saved",
    .doc = "folders of saved datasets",
    .run = run,
    .most = 1024,
    .seeds = seeds,
};
