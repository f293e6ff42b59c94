/* What reading costs: a large record or line of a file, packed by each codec or not at all, is read
 * within an allocator that grants twice its size and some mebibytes; what is longer than the
 * process's limits is refused, whatever the size of a chunk, and the next file follows. */
#include "support/cmocka.h"

#include "support/limited.h"
#include "support/refused.h"
#include "support/scratch.h"
#include <leat/leat.h>
#include <zlib.h>

enum { LARGE = 48 << 20, SPARE = 20 << 20, BLOCK = 1 << 16 };

static const leat_compression compressions[] = {
    LEAT_COMPRESSION_NONE,   LEAT_COMPRESSION_ZLIB, LEAT_COMPRESSION_GZIP,
    LEAT_COMPRESSION_SNAPPY, LEAT_COMPRESSION_ZSTD, LEAT_COMPRESSION_LZ4,
};
enum { COMPRESSIONS = sizeof compressions / sizeof *compressions };

/* A record of `size` bytes and a short one. False for a codec that was left out. */
static bool write_records(const char *path, leat_compression compression, size_t size) {
    leat_error err = {0};
    leat_tfrecord_writer_options options = {LEAT_TFRECORD_WRITER_DEFAULTS,
                                            .compression = compression};
    leat_tfrecord_writer *writer = leat_tfrecord_writer_open(path, &options, &err);
    if (writer == NULL && err.code == LEAT_UNIMPLEMENTED)
        return false;
    assert_non_null(writer);
    char *data = malloc(size);
    for (size_t i = 0; i < size; i++)
        data[i] = (char)(i % BLOCK * 2654435761u >> 24);
    assert_int_equal(leat_tfrecord_writer_write(writer, data, size, &err), LEAT_OK);
    assert_int_equal(leat_tfrecord_writer_write(writer, "end", 3, &err), LEAT_OK);
    assert_int_equal(leat_tfrecord_writer_close(writer, &err), LEAT_OK);
    free(data);
    return true;
}

/* A line of `size` bytes and a short one. */
static void write_lines(const char *path, bool packed, size_t size) {
    static char text[BLOCK];
    memset(text, 'a', sizeof text);
    gzFile file = gzopen(path, packed ? "wb" : "wbT");
    assert_non_null(file);
    for (size_t done = 0; done < size;) {
        unsigned part = size - done < BLOCK ? (unsigned)(size - done) : BLOCK;
        assert_int_equal(gzwrite(file, text, part), part);
        done += part;
    }
    assert_int_equal(gzwrite(file, "\nend\n", 5), 5);
    assert_int_equal(gzclose(file), Z_OK);
}

/* The next element has one string of `size` bytes (the second: "end"). */
static void expect_size(leat_iterator *iterator, size_t size) {
    leat_error err = {0};
    leat_element element = {0};
    if (leat_iterator_next(iterator, &element, &err) != LEAT_OK)
        fail_msg("%s", err.text);
    assert_int_equal(((const leat_string *)element.tensors[element.num_tensors - 1].data)->size,
                     size);
    leat_element_fini(&element);
}

static void expect_refused(leat_iterator *iterator, const char *path, const char *keyword) {
    leat_error err = {0};
    leat_element element = {0};
    assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, keyword);
    assert_string_equal(err.file, path);
    assert_int_equal(err.byte, 0);
}

static void expect_end(leat_iterator *iterator) {
    leat_error err = {0};
    leat_element element = {0};
    assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_OUT_OF_RANGE);
}

static leat_iterator *open_iterator(leat_dataset *dataset) {
    leat_error err = {0};
    leat_iterator *iterator = leat_iterator_new(dataset, NULL, &err);
    if (iterator == NULL)
        fail_msg("%s", err.text);
    leat_dataset_unref(dataset);
    return iterator;
}

static leat_dataset *records_of(const char *const *paths, int n, leat_compression compression) {
    leat_error err = {0};
    leat_dataset_tf_record_options options = {
        LEAT_DATASET_TF_RECORD_DEFAULTS, .compression_type = leat_compression_name(compression)};
    return leat_dataset_tf_record(paths, n, &options, &err);
}

/* The lines of text files, or the records of CSV files of one column. */
static leat_dataset *lines_of(const char *const *paths, int n, bool packed, bool csv,
                              int64_t buffer_size) {
    leat_error err = {0};
    const char *name = packed ? "GZIP" : "";
    if (!csv)
        return leat_dataset_text_line(
            paths, n,
            &(leat_dataset_text_line_options){LEAT_DATASET_TEXT_LINE_DEFAULTS,
                                              .compression_type = name, .buffer_size = buffer_size},
            &err);
    leat_dataset_csv_options options = {LEAT_DATASET_CSV_DEFAULTS, .compression_type = name};
    if (buffer_size > 0)
        options.buffer_size = buffer_size;
    leat_string none = {0};
    leat_tensor tensor = {0};
    leat_element defaults = {0};
    leat_spec *one = leat_spec_tensor(LEAT_STRING, LEAT_SHAPE(0), &err);
    leat_spec *spec = leat_spec_tuple(&one, 1, &err);
    assert_int_equal(leat_tensor_copy_of(LEAT_STRING, LEAT_SHAPE(0), &none, &tensor, &err),
                     LEAT_OK);
    assert_int_equal(leat_element_set(&defaults, spec, &tensor, &err), LEAT_OK);
    leat_dataset *dataset = leat_dataset_csv(paths, n, &defaults, &options, &err);
    leat_element_fini(&defaults);
    leat_tensor_unref(&tensor);
    leat_spec_unref(spec);
    if (dataset == NULL)
        fail_msg("%s", err.text);
    return dataset;
}

static void test_records(void **state) {
    (void)state;
    const char *path = scratch_path("records");
    for (int i = 0; i < COMPRESSIONS; i++) {
        if (!write_records(path, compressions[i], LARGE))
            continue;
        limited_memory(2 * (size_t)LARGE + SPARE);
        leat_iterator *iterator = open_iterator(records_of(&path, 1, compressions[i]));
        expect_size(iterator, LARGE);
        expect_size(iterator, 3);
        expect_end(iterator);
        leat_iterator_free(iterator);
        leat_allocator_set(NULL);
    }
}

static void test_lines(void **state) {
    (void)state;
    const char *path = scratch_path("lines");
    for (int way = 0; way < 4; way++) {
        bool packed = way % 2, csv = way / 2;
        write_lines(path, packed, LARGE);
        limited_memory(2 * (size_t)LARGE + SPARE);
        leat_iterator *iterator = open_iterator(lines_of(&path, 1, packed, csv, 0));
        expect_size(iterator, LARGE);
        expect_size(iterator, 3);
        expect_end(iterator);
        leat_iterator_free(iterator);
        leat_allocator_set(NULL);
    }
}

/* A line of 20 GB in 20 MB would take no more than the limit. */
static void test_memory_at_the_limit(void **state) {
    (void)state;
    leat_error err = {0};
    const char *path = scratch_path("lines");
    write_lines(path, true, 2 * (size_t)LARGE);
    assert_int_equal(leat_limits_set_reading(LARGE / 2, 0, &err), LEAT_OK);
    for (int csv = 0; csv < 2; csv++) {
        limited_memory((size_t)LARGE + SPARE);
        leat_iterator *iterator = open_iterator(lines_of(&path, 1, true, csv, 0));
        expect_refused(iterator, path, "LEAT_MAX_LINE_BYTES");
        expect_end(iterator);
        leat_iterator_free(iterator);
        leat_allocator_set(NULL);
    }
    assert_int_equal(leat_limits_set_reading(0, 0, &err), LEAT_OK);
}

static void test_limit_of_lines(void **state) {
    (void)state;
    leat_error err = {0};
    const char *paths[] = {scratch_path("exact"), scratch_path("longer"), scratch_path("last")};
    static const int64_t sizes[] = {16, 1024, 1 << 20};
    assert_int_equal(leat_limits_set_reading(1000, 0, &err), LEAT_OK);
    for (int way = 0; way < 4; way++) {
        bool packed = way % 2, csv = way / 2;
        write_lines(paths[0], packed, 1000);
        write_lines(paths[1], packed, 1001);
        write_lines(paths[2], packed, 999);
        for (int i = 0; i < 3; i++) {
            leat_iterator *iterator = open_iterator(lines_of(paths, 3, packed, csv, sizes[i]));
            expect_size(iterator, 1000);
            expect_size(iterator, 3);
            expect_refused(iterator, paths[1], "1000");
            expect_size(iterator, 999);
            expect_size(iterator, 3);
            expect_end(iterator);
            leat_iterator_free(iterator);
        }
    }
    assert_int_equal(leat_limits_set_reading(0, 0, &err), LEAT_OK);
}

static void test_limit_of_records(void **state) {
    (void)state;
    leat_error err = {0};
    const char *paths[] = {scratch_path("exact"), scratch_path("longer"), scratch_path("last")};
    assert_int_equal(leat_limits_set_reading(0, 1000, &err), LEAT_OK);
    for (int i = 0; i < COMPRESSIONS; i++) {
        if (!write_records(paths[0], compressions[i], 1000))
            continue;
        write_records(paths[1], compressions[i], 1001);
        write_records(paths[2], compressions[i], 999);
        leat_iterator *iterator = open_iterator(records_of(paths, 3, compressions[i]));
        expect_size(iterator, 1000);
        expect_size(iterator, 3);
        if (compressions[i] == LEAT_COMPRESSION_NONE) {
            /* The file itself bounds it. */
            expect_size(iterator, 1001);
            expect_size(iterator, 3);
        } else {
            expect_refused(iterator, paths[1], "LEAT_MAX_RECORD_BYTES");
        }
        expect_size(iterator, 999);
        leat_iterator_free(iterator);
    }
    assert_int_equal(leat_limits_set_reading(0, 0, &err), LEAT_OK);
}

/* An archive of one member, packed by gzip. */
static void write_archive(const char *path, size_t size) {
    char header[512] = "a.bin";
    unsigned sum = 0;
    snprintf(header + 124, 12, "%011o", (unsigned)size);
    memset(header + 148, ' ', 8); /* the sum is made with blanks in its own place */
    memcpy(header + 257, "ustar", 6);
    header[156] = '0';
    for (size_t i = 0; i < sizeof header; i++)
        sum += (unsigned char)header[i];
    snprintf(header + 148, 8, "%06o", sum);
    char *data = calloc(1, (size / 512 + 3) * 512);
    gzFile file = gzopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(gzwrite(file, header, sizeof header), sizeof header);
    assert_int_equal(gzwrite(file, data, (unsigned)((size / 512 + 3) * 512)),
                     (size / 512 + 3) * 512);
    assert_int_equal(gzclose(file), Z_OK);
    free(data);
}

static leat_iterator *open_archive(const char *path) {
    leat_error err = {0};
    const char *field = "bin";
    leat_dataset_tar_options options = {LEAT_DATASET_TAR_DEFAULTS, .compression_type = "GZIP"};
    return open_iterator(leat_dataset_tar(&path, 1, &field, 1, &options, &err));
}

static void test_members(void **state) {
    (void)state;
    leat_error err = {0};
    const char *path = scratch_path("archive");
    write_archive(path, LARGE);
    limited_memory(2 * (size_t)LARGE + SPARE);
    leat_iterator *iterator = open_archive(path);
    expect_size(iterator, LARGE);
    expect_end(iterator);
    leat_iterator_free(iterator);
    leat_allocator_set(NULL);
    assert_int_equal(leat_limits_set_reading(0, LARGE - 1, &err), LEAT_OK);
    iterator = open_archive(path);
    expect_refused(iterator, path, "LEAT_MAX_RECORD_BYTES");
    leat_iterator_free(iterator);
    assert_int_equal(leat_limits_set_reading(0, 0, &err), LEAT_OK);
}

static void test_no_limits(void **state) {
    (void)state;
    leat_error err = {0};
    assert_int_equal(leat_limits_set_reading(-1, 0, &err), LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "-1");
    assert_int_equal(leat_limits_set_reading(0, -2, NULL), LEAT_INVALID_ARGUMENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_records),
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_memory_at_the_limit),
        cmocka_unit_test(test_limit_of_lines),
        cmocka_unit_test(test_limit_of_records),
        cmocka_unit_test(test_members),
        cmocka_unit_test(test_no_limits),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
