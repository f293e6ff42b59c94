/* Checkpoints beyond 2 and 4 GiB: tensors of zeros, which are holes of a sparse file, push small
 * ones to such offsets. Offsets follow from TensorFlow's format, in which tensors lie one behind
 * the other. Takes a few seconds, 2 GiB of memory and some pages of disk. */
#include "support/cmocka.h"

#include "support/refused.h"
#include "support/scratch.h"
#include <fcntl.h>
#include <leat/file.h>
#include <sys/mman.h>
#include <unistd.h>

#define LARGE ((INT64_C(1) << 31) + 5) /* bytes of a large tensor */

static uint8_t *zeros;

static int map_zeros(void **state) {
    (void)state;
    zeros = mmap(NULL, LARGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return zeros == MAP_FAILED ? -1 : 0;
}

static int unmap_zeros(void **state) {
    (void)state;
    return munmap(zeros, LARGE);
}

static const int32_t front[] = {1, 2, 3}, middle[] = {4, 5, 6}, back[] = {7, 8, 9};

/* The tensors in the order of the file; where each begins there. */
static const struct {
    const char *name;
    const int32_t *values; /* NULL: a large one */
    int64_t offset;
} tensors[] = {{"a", front, 0},
               {"b", NULL, 12},
               {"c", middle, 12 + LARGE},
               {"d", NULL, 24 + LARGE},
               {"e", back, 24 + 2 * LARGE}};
enum { COUNT = sizeof tensors / sizeof *tensors };

static int64_t bytes_of(size_t i) {
    return tensors[i].values == NULL ? LARGE : (int64_t)sizeof front;
}

/* Writes what is not zero; the rest are holes. */
static void write_checkpoint(void) {
    leat_error err = {0};
    leat_bundle_writer *writer = leat_bundle_writer_new(0, 1, &err);
    const char *path = scratch_write("ck.data-00000-of-00001", "", 0);
    int file = open(path, O_WRONLY);
    for (size_t i = 0; i < COUNT; i++) {
        const int32_t *values = tensors[i].values;
        leat_shape shape = {.rank = 1, .dims = {values == NULL ? LARGE : 3}};
        leat_tensor tensor = leat_tensor_view(values == NULL ? LEAT_UINT8 : LEAT_INT32, shape,
                                              values == NULL ? (const void *)zeros : values);
        leat_buffer *bytes = NULL;
        if (leat_bundle_writer_add(writer, tensors[i].name, &tensor, &bytes, &err) != LEAT_OK)
            fail_msg("%s", err.text);
        assert_null(bytes);
        if (values != NULL)
            assert_int_equal(pwrite(file, values, sizeof front, tensors[i].offset), sizeof front);
    }
    assert_int_equal(close(file), 0);
    leat_buffer *index = leat_bundle_writer_index(writer, &err);
    scratch_write("ck.index", leat_buffer_data(index), leat_buffer_size(index));
    leat_buffer_unref(index);
    leat_bundle_writer_free(writer);
}

static leat_bundle *open_checkpoint(void) {
    leat_error err = {0};
    leat_bundle *bundle = leat_bundle_open(scratch_path("ck"), &err);
    if (bundle == NULL)
        fail_msg("%s", err.text);
    return bundle;
}

static void check_entry(leat_bundle *bundle, int64_t i) {
    leat_error err = {0};
    leat_bundle_entry entry;
    assert_int_equal(leat_bundle_get(bundle, i, &entry, &err), LEAT_OK);
    assert_string_equal(entry.name, tensors[i].name);
    assert_int_equal(entry.offset, tensors[i].offset);
    assert_int_equal(entry.bytes, bytes_of((size_t)i));
}

static void check_values(leat_bundle *bundle, int64_t i) {
    leat_error err = {0};
    leat_tensor tensor = {0};
    const int32_t *values = tensors[i].values;
    if (leat_bundle_read(bundle, i, &tensor, &err) != LEAT_OK)
        fail_msg("%s", err.text);
    assert_int_equal(leat_tensor_bytes(&tensor), bytes_of((size_t)i));
    assert_memory_equal(tensor.data, values == NULL ? (const void *)zeros : values,
                        (size_t)bytes_of((size_t)i));
    leat_tensor_unref(&tensor);
}

static void beyond_4_gib(void **state) {
    (void)state;
    leat_error err = {0};
    leat_tensor tensor = {0};
    write_checkpoint();
    leat_bundle *bundle = open_checkpoint();
    assert_int_equal(leat_bundle_count(bundle), COUNT);
    for (int64_t i = 0; i < COUNT; i++) {
        check_entry(bundle, i);
        if (i != 1) /* as large as `d`, which lies behind 2 GiB */
            check_values(bundle, i);
    }
    leat_bundle_free(bundle);
    /* A file that ends a byte early. */
    assert_int_equal(truncate(scratch_path("ck.data-00000-of-00001"), 35 + 2 * LARGE), 0);
    bundle = open_checkpoint();
    check_values(bundle, 2);
    assert_int_equal(leat_bundle_read(bundle, 4, &tensor, &err), LEAT_DATA_LOSS);
    assert_refused(&err, LEAT_DATA_LOSS, LEAT_REASON_NONE, "ck");
    leat_bundle_free(bundle);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(beyond_4_gib),
    };
    return cmocka_run_group_tests(tests, map_zeros, unmap_zeros);
}
