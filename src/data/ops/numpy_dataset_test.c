/* numpy_dataset: what its errors say, that rows are views of what was read, and where memory is
 * small. The rows themselves: tests/conform/data/numpy_dataset.json. */
#include "support/cmocka.h"

#include "support/torture.h"

#include "support/dataset.h"
#include "support/refused.h"
#include "support/scratch.h"

#define FOLDER LEATI_SOURCE_DIR "/tests/golden/data/files/npy/"

/* The first error behind the rows of int64[3] of a file. */
static void expect_error(const char *name, leat_status code, const char *keyword) {
    char path[512];
    snprintf(path, sizeof(path), FOLDER "%s", name);
    leat_error err = {0};
    leat_spec *row = leat_spec_tensor(LEAT_INT64, LEAT_SHAPE(3), &err);
    leat_dataset_numpy_options options = {LEAT_DATASET_NUMPY_DEFAULTS, .output_signature = row};
    leat_dataset *dataset = leat_dataset_numpy(&(const char *){path}, 1, &options, &err);
    assert_non_null(dataset);
    leat_iterator *iterator = dataset_iterate(dataset, NULL);
    leat_element element = {0};
    leat_status status = LEAT_OK;
    while (status == LEAT_OK)
        status = leat_iterator_next(iterator, &element, &err);
    assert_int_equal(status, code);
    assert_refused(&err, code, LEAT_REASON_NONE, keyword);
    assert_string_equal(err.file, path);
    leat_element_fini(&element);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
    leat_spec_unref(row);
}

static void test_texts(void **state) {
    (void)state;
    expect_error("cut.npy", LEAT_DATA_LOSS, "194");
    expect_error("cut_header.npy", LEAT_DATA_LOSS, "128");
    expect_error("goes_on.npy", LEAT_DATA_LOSS, "224");
    expect_error("damaged.npy", LEAT_DATA_LOSS, "descr");
    expect_error("fortran.npy", LEAT_INVALID_ARGUMENT, "numpy.ascontiguousarray");
    expect_error("float32.npy", LEAT_INVALID_ARGUMENT, "float32[]");
    expect_error("object.npy", LEAT_UNIMPLEMENTED, "Python");
    expect_error("record.npy", LEAT_UNIMPLEMENTED, "structured");
    expect_error("archive.npz", LEAT_UNIMPLEMENTED, ".npz");
}

/* The rows of one chunk lie in one buffer, a row's bytes apart: nothing was copied. */
static void test_views(void **state) {
    (void)state;
    leat_error err = {0};
    leat_dataset *dataset = leat_dataset_numpy(&(const char *){FOLDER "int64.npy"}, 1, NULL, &err);
    leat_iterator *iterator = dataset_iterate(dataset, NULL);
    leat_element rows[4] = {{0}};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(leat_iterator_next(iterator, &rows[i], &err), LEAT_OK);
        assert_ptr_equal(rows[i].tensors[0].owner, rows[0].tensors[0].owner);
        assert_ptr_equal(rows[i].tensors[0].data, (char *)rows[0].tensors[0].data + 24 * i);
        assert_int_equal(*(int64_t *)rows[i].tensors[0].data, 3 * i);
    }
    for (int i = 0; i < 4; i++)
        leat_element_fini(&rows[i]);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
}

/* A file of `rows` rows of `values` numbers, counted through. */
static const char *big_file(int rows, int values) {
    static uint8_t header[128];
    size_t size = sizeof(header) + (size_t)rows * (size_t)values * 4;
    uint8_t *data = malloc(size);
    assert_non_null(data);
    memset(data, ' ', sizeof(header));
    memcpy(data, "\x93NUMPY\x01\x00\x76\x00", 10);
    int written =
        snprintf((char *)header, sizeof(header),
                 "{'descr': '<i4', 'fortran_order': False, 'shape': (%d, %d)}", rows, values);
    memcpy(data + 10, header, (size_t)written);
    for (int32_t i = 0; i < rows * values; i++)
        memcpy(data + sizeof(header) + (size_t)i * 4, &i, 4);
    const char *path = scratch_write("big.npy", data, size);
    free(data);
    return path;
}

/* Rows that chunks cut, rows larger than a chunk, and going on in the middle of them. */
static void test_large(void **state) {
    (void)state;
    static const int shapes[][2] = {{3000, 100}, {7, 90000}};
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        int rows = shapes[i][0], values = shapes[i][1];
        leat_error err = {0};
        const char *path = big_file(rows, values);
        leat_dataset *dataset = leat_dataset_numpy(&path, 1, NULL, &err);
        assert_non_null(dataset);
        leat_iterator *iterator = dataset_iterate(dataset, NULL);
        leat_element element = {0};
        for (int row = 0; row < rows; row++) {
            if (row == rows / 2) {
                char *data = NULL;
                size_t size = 0;
                assert_int_equal(leat_iterator_save(iterator, &data, &size, NULL, &err), LEAT_OK);
                assert_in_range(size, 1, 300);
                leat_iterator_free(iterator);
                iterator = dataset_iterate(dataset, NULL);
                assert_int_equal(leat_iterator_restore(iterator, data, size, &err), LEAT_OK);
                leati_free(data);
            }
            assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_OK);
            const int32_t *found = element.tensors[0].data;
            for (int c = 0; c < values; c++)
                assert_int_equal(found[c], row * values + c);
        }
        assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_OUT_OF_RANGE);
        leat_element_fini(&element);
        leat_iterator_free(iterator);
        leat_dataset_unref(dataset);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_texts, torture_setup, torture_teardown),
        cmocka_unit_test_setup_teardown(test_views, torture_setup, torture_teardown),
        cmocka_unit_test_setup_teardown(test_large, torture_setup, torture_teardown),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
