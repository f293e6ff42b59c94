/* The readers of files over every codec: what they give does not depend on how the bytes are
 * packed, and a file that is cut is an error. A codec that was left out of the build is refused by
 * name. */
#include "support/cmocka.h"

#include "support/torture.h"

#include "base/hash.h"
#include "file/compress.h"
#include "support/dataset.h"
#include "support/refused.h"
#include "support/scratch.h"

/* Four lines; as records of three bytes, four; as CSV, four records of one number. */
static const char text[] = "12\n34\n56\n78\n";
#define RECORD "{\"hex\":\"31320a33340a35360a37380a\"}"

struct reading {
    int reader;
    const char *compression;
};

static const char *const expected[] = {
    "\"12\" \"34\" \"56\" \"78\"",
    "{\"hex\":\"31320a\"} {\"hex\":\"33340a\"} {\"hex\":\"35360a\"} {\"hex\":\"37380a\"}",
    "(12) (34) (56) (78)", RECORD};
enum { NUM_READERS = sizeof expected / sizeof *expected };

static leat_status append(void *context, const void *data, size_t size, leat_error *err) {
    (void)err;
    return fwrite(data, 1, size, context) == size ? LEAT_OK : LEAT_INTERNAL;
}

/* The file "packed", or a record file of one record with the text. */
static void write_packed(const char *name, leat_compression compression) {
    leat_error err = {0};
    if (strcmp(name, "records") == 0) {
        leat_tfrecord_writer_options options = {LEAT_TFRECORD_WRITER_DEFAULTS,
                                                .compression = compression};
        leat_tfrecord_writer *writer =
            leat_tfrecord_writer_open(scratch_path(name), &options, &err);
        assert_int_equal(leat_tfrecord_writer_write(writer, text, sizeof text - 1, &err), LEAT_OK);
        assert_int_equal(leat_tfrecord_writer_close(writer, &err), LEAT_OK);
        return;
    }
    FILE *file = fopen(scratch_path(name), "wb");
    assert_non_null(file);
    leati_packer *packer = leati_compress_packer_new(compression, LEAT_UNSET, append, file, &err);
    assert_non_null(packer);
    assert_int_equal(leati_compress_packer_write(packer, text, sizeof text - 1, &err), LEAT_OK);
    assert_int_equal(leati_compress_packer_finish(packer, &err), LEAT_OK);
    leati_compress_packer_free(packer);
    fclose(file);
}

static leat_dataset *csv(const char *path, const char *compression, leat_error *err) {
    leat_dataset_csv_options options = {LEAT_DATASET_CSV_DEFAULTS, .compression_type = compression};
    leat_spec *column = leat_spec_tensor(LEAT_INT64, LEAT_SHAPE(0), err);
    leat_spec *spec = leat_spec_tuple(&column, 1, err);
    leat_tensor tensor = {0};
    leat_element defaults = {0};
    leat_dataset *dataset = NULL;
    if (spec != NULL && leat_tensor_new(LEAT_INT64, LEAT_SHAPE(0), &tensor, err) == LEAT_OK &&
        leat_element_set(&defaults, spec, &tensor, err) == LEAT_OK)
        dataset = leat_dataset_csv(&path, 1, &defaults, &options, err);
    leat_element_fini(&defaults);
    leat_tensor_unref(&tensor);
    leat_spec_unref(spec);
    return dataset;
}

static leat_dataset *read_packed(void *context, leat_error *err) {
    const struct reading *r = context;
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", scratch_folder, r->reader == 3 ? "records" : "packed");
    const char *names[] = {path};
    switch (r->reader) {
    case 0: {
        leat_dataset_text_line_options options = {LEAT_DATASET_TEXT_LINE_DEFAULTS,
                                                  .compression_type = r->compression};
        return leat_dataset_text_line(names, 1, &options, err);
    }
    case 1: {
        leat_dataset_fixed_length_record_options options = {
            LEAT_DATASET_FIXED_LENGTH_RECORD_DEFAULTS, .compression_type = r->compression};
        return leat_dataset_fixed_length_record(names, 1, 3, &options, err);
    }
    case 2: return csv(path, r->compression, err);
    default: {
        leat_dataset_tf_record_options options = {LEAT_DATASET_TF_RECORD_DEFAULTS,
                                                  .compression_type = r->compression};
        return leat_dataset_tf_record(names, 1, &options, err);
    }
    }
}

static void test_codecs(void **state) {
    (void)state;
    for (leat_compression c = LEAT_COMPRESSION_ZLIB; leati_compress_codec_of(c) != NULL; c++) {
        for (int reader = 0; reader < NUM_READERS; reader++) {
            struct reading reading = {reader, leat_compression_name(c)};
            leat_error err = {0};
            if (leati_compress_codec_of(c)->package != NULL) {
                leat_dataset *dataset = read_packed(&reading, &err);
                assert_true(dataset != NULL || err.code == LEAT_UNIMPLEMENTED);
                leat_dataset_unref(dataset);
                continue;
            }
            write_packed(reader == 3 ? "records" : "packed", c);
            torture_begin();
            dataset_check(read_packed, &reading, expected[reader]);
            torture_end();
        }
    }
}

/* Files that end inside their stream, one byte early: what the codec gives before the end, then the
 * error. */
static void test_cut(void **state) {
    (void)state;
    for (leat_compression c = LEAT_COMPRESSION_ZLIB; leati_compress_codec_of(c) != NULL; c++) {
        for (int reader = 0; reader < NUM_READERS && leati_compress_codec_of(c)->package == NULL;
             reader++) {
            struct reading reading = {reader, leat_compression_name(c)};
            const char *name = reader == 3 ? "records" : "packed";
            char outcomes[200];
            size_t size = 0;
            write_packed(name, c);
            uint8_t *data = scratch_read(scratch_path(name), &size);
            scratch_write(name, data, size - 1);
            free(data);
            bool whole_block = c == LEAT_COMPRESSION_SNAPPY; /* or nothing */
            snprintf(outcomes, sizeof outcomes, "%s%s!DATA_LOSS",
                     whole_block ? "" : expected[reader], whole_block ? "" : " ");
            dataset_check(read_packed, &reading, outcomes);
        }
    }
}

/* The bytes that a pipeline counts as its memory. */
static int64_t memory_of(const leat_iterator *iterator) {
    leat_error err = {0};
    char *metrics = leat_iterator_metrics(iterator, &err);
    assert_non_null(metrics);
    const char *line = strstr(metrics, "\nleat_pipeline_memory_bytes{");
    assert_non_null(line);
    int64_t bytes = strtoll(strchr(line, '}') + 1, NULL, 10);
    leat_text_free(metrics);
    return bytes;
}

/* Files in turns, more than are open at a time: what is read ahead counts as memory while it lasts,
 * and every record comes. */
static void test_memory_of_files_in_turns(void **state) {
    (void)state;
    enum { FILES = 7, RECORDS = 4000, AT_ONCE = 3 };
    static char record[100];
    const char *paths[FILES];
    leat_error err = {0};
    for (int i = 0; i < FILES; i++) {
        char name[16];
        snprintf(name, sizeof name, "%d", i);
        paths[i] = scratch_path(name);
        leat_tfrecord_writer *writer = leat_tfrecord_writer_open(paths[i], NULL, &err);
        for (int k = 0; k < RECORDS * (i + 1) / FILES; k++)
            assert_int_equal(leat_tfrecord_writer_write(writer, record, sizeof record, &err),
                             LEAT_OK);
        assert_int_equal(leat_tfrecord_writer_close(writer, &err), LEAT_OK);
    }
    leat_dataset_tf_record_options options = {LEAT_DATASET_TF_RECORD_DEFAULTS, .buffer_size = 4096,
                                              .num_parallel_reads = AT_ONCE};
    leat_iterator_options how = {LEAT_ITERATOR_DEFAULTS, .num_threads = 4};
    leat_dataset *dataset = leat_dataset_tf_record(paths, FILES, &options, &err);
    leat_iterator *iterator = leat_iterator_new(dataset, &how, &err);
    assert_non_null(iterator);
    leat_element element = {0};
    int64_t count = 0, most = 0;
    while (leat_iterator_next(iterator, &element, &err) == LEAT_OK) {
        int64_t bytes = count++ % 64 == 0 ? memory_of(iterator) : 0;
        most = bytes > most ? bytes : most;
    }
    assert_int_equal(count, RECORDS * (1 + 2 + 3 + 4 + 5 + 6 + 7) / FILES - 3); /* rounded down */
    assert_true(most > 0 && most <= 4 << 20);
    assert_int_equal(memory_of(iterator), 0);
    leat_element_fini(&element);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
}

/* A state that was changed to name another file than the plan does, with a checksum that fits: no
 * file is opened but the plan's. */
static void test_a_state_names_no_other_file(void **state) {
    (void)state;
    /* So many elements that the state is one in the middle of the file. */
    enum { STATE_VERSION = 1, LINES = 100000 };
    static char lines[2 * LINES];
    leat_error err = {0};
    for (int i = 0; i < LINES; i++)
        memcpy(lines + 2 * (ptrdiff_t)i, "a\n", 2);
    scratch_write("own", lines, sizeof lines);
    scratch_write("foe", lines, sizeof lines);
    char path[1024];
    snprintf(path, sizeof path, "%s", scratch_path("own"));
    const char *names[] = {path};
    leat_dataset *dataset = leat_dataset_text_line(names, 1, NULL, &err);
    leat_iterator *iterator = dataset_iterate(dataset, NULL);
    leat_element element = {0};
    for (int i = 0; i < LINES / 2; i++)
        assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_OK);
    char *data = NULL;
    size_t size = 0;
    assert_int_equal(leat_iterator_save(iterator, &data, &size, NULL, &err), LEAT_OK);
    leat_iterator_free(iterator);
    char *place = memmem(data, size, path, strlen(path));
    assert_non_null(place);
    memcpy(place + strlen(path) - 3, "foe", 3);
    uint64_t checksum = leati_hash(data, size - 8, STATE_VERSION);
    for (int b = 0; b < 8; b++)
        data[size - 8 + (size_t)b] = (char)(checksum >> (8 * b));
    iterator = dataset_iterate(dataset, NULL);
    assert_int_equal(leat_iterator_restore(iterator, data, size, &err), LEAT_DATA_LOSS);
    assert_refused(&err, LEAT_DATA_LOSS, LEAT_REASON_NONE, "plan");
    leat_iterator_free(iterator);
    leat_element_fini(&element);
    leat_text_free(data);
    leat_dataset_unref(dataset);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_codecs), TEST(test_cut),
                                       TEST(test_memory_of_files_in_turns),
                                       TEST(test_a_state_names_no_other_file)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
