/* .safetensors: what is written is read again, the bytes are the format's, damage is DATA_LOSS. */
#include "support/cmocka.h"

#include "file/atomic.h"
#include "file/fs.h"
#include "file/safetensors.h"
#include "support/refused.h"
#include "support/scratch.h"
#include "support/torture.h"

static const float floats[6] = {1, -2, 3, 0.5f, 0, 7};
static const int64_t number = -5;

static leati_named_tensor tensors[3];

static void fill(void) {
    tensors[0] =
        (leati_named_tensor){"weight", leat_tensor_view(LEAT_FLOAT32, LEAT_SHAPE(2, 3), floats)};
    tensors[1] = (leati_named_tensor){"step", leat_tensor_view(LEAT_INT64, LEAT_SCALAR, &number)};
    tensors[2] =
        (leati_named_tensor){"nothing", leat_tensor_view(LEAT_UINT8, LEAT_SHAPE(0, 4), floats)};
}

static const leati_note notes[] = {{"format", "leat"}, {"epoch", "3"}};

static void test_round_trip(void **state) {
    (void)state;
    leat_error err = {0};
    leati_safetensors *file = NULL;
    fill();
    const char *path = scratch_path("a.safetensors");
    if (leati_safetensors_write(path, tensors, 3, notes, 2, &err) != LEAT_OK ||
        leati_safetensors_read(path, &file, &err) != LEAT_OK)
        fail_msg("%s", err.text);
    assert_int_equal(leati_safetensors_count(file), 3);
    assert_string_equal(leati_safetensors_note(file, "epoch"), "3");
    assert_null(leati_safetensors_note(file, "other"));
    const leat_tensor *weight = leati_safetensors_find(file, "weight");
    assert_int_equal(weight->rank, 2);
    assert_int_equal(weight->dims[1], 3);
    assert_memory_equal(weight->data, floats, sizeof floats);
    assert_memory_equal(leati_safetensors_find(file, "step")->data, &number, sizeof number);
    assert_int_equal(leati_safetensors_find(file, "nothing")->dims[0], 0);
    assert_null(leati_safetensors_find(file, "weigh"));
    leati_safetensors_free(file);
}

/* Bytes as the format's description says, and values at a multiple of 8. */
static void test_bytes(void **state) {
    (void)state;
    static const char expected[] =
        "\x40\0\0\0\0\0\0\0"
        "{\"x\":{\"dtype\":\"I16\",\"shape\":[2],\"data_offsets\":[0,4]}}"
        "          "
        "\x01\x02\x03\x04";
    static const uint8_t values[4] = {1, 2, 3, 4};
    leati_named_tensor one = {"x", leat_tensor_view(LEAT_INT16, LEAT_SHAPE(2), values)};
    leat_buffer *buffer = NULL;
    const char *path = scratch_path("b.safetensors");
    assert_int_equal(leati_safetensors_write(path, &one, 1, NULL, 0, &(leat_error){0}), LEAT_OK);
    assert_int_equal(leati_file_read_all(path, &buffer, &(leat_error){0}), LEAT_OK);
    assert_int_equal(((const uint8_t *)leat_buffer_data(buffer))[0] % 8, 0);
    leat_buffer_unref(buffer);
    leati_safetensors *file = NULL;
    assert_int_equal(leati_atomic_write_file(path, expected, sizeof expected - 1, &(leat_error){0}),
                     LEAT_OK);
    leat_error err = {0};
    if (leati_safetensors_read(path, &file, &err) != LEAT_OK)
        fail_msg("%s", err.text);
    assert_memory_equal(leati_safetensors_find(file, "x")->data, values, 4);
    leati_safetensors_free(file);
}

static void test_damage(void **state) {
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
        const char *keyword;
    } cases[] = {
        {"abc", 3, "8"},
        {"\xff\0\0\0\0\0\0\0{}", 10, "longer"},
        {"\xff\xff\xff\xff\xff\xff\xff\xff{}", 10, "longer"},
        {"\x02\0\0\0\0\0\0\0[]", 10, "object"},
        {"\x02\0\0\0\0\0\0\0{{", 10, "object"},
        {"\x11\0\0\0\0\0\0\0{\"x\":{\"dtype\":1}}", 25, "dtype"},
        {"\x38\0\0\0\0\0\0\0{\"x\":{\"dtype\":\"U8\",\"shape\":[-1],\"data_offsets\":[0,1]}}  ", 64,
         "shape"},
        {"\x38\0\0\0\0\0\0\0{\"x\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}   a",
         65, "place"},
        {"\x38\0\0\0\0\0\0\0{\"x\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,1]}}   a",
         65, "place"},
        {"\x3a\0\0\0\0\0\0\0{\"x\":{\"dtype\":\"U8\",\"shape\":[1e400],\"data_offsets\":[0,1]}} a",
         67, "object"},
        {"\x6a\0\0\0\0\0\0\0{\"x\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},"
         "\"y\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[1,3]}} abc",
         117, "overlap"},
        {"\x6a\0\0\0\0\0\0\0{\"x\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},"
         "\"x\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}} abc",
         117, "object"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        leat_error err = {0};
        leati_safetensors *file = NULL;
        const char *path = scratch_path("c.safetensors");
        assert_int_equal(
            leati_atomic_write_file(path, cases[i].bytes, cases[i].size, &(leat_error){0}),
            LEAT_OK);
        assert_int_equal(leati_safetensors_read(path, &file, &err), LEAT_DATA_LOSS);
        assert_string_equal(err.file, path);
        assert_refused(&err, LEAT_DATA_LOSS, LEAT_REASON_NONE, cases[i].keyword);
    }
}

static void test_refused(void **state) {
    (void)state;
    leat_error err = {0};
    leat_string text = {"a", 1};
    leati_named_tensor two[2] = {{"x", leat_tensor_view(LEAT_STRING, LEAT_SCALAR, &text)},
                                 {"x", leat_tensor_view(LEAT_STRING, LEAT_SCALAR, &text)}};
    const char *path = scratch_path("d.safetensors");
    assert_int_equal(leati_safetensors_write(path, two, 1, NULL, 0, &err), LEAT_INVALID_ARGUMENT);
    two[0].tensor = two[1].tensor = leat_tensor_view(LEAT_INT64, LEAT_SCALAR, &number);
    assert_int_equal(leati_safetensors_write(path, two, 2, NULL, 0, &err), LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "\"x\"");
    const leati_note latin = {"author", "Andr\xe9"};
    assert_int_equal(leati_safetensors_write(path, two, 1, &latin, 1, &err), LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_NONE, "\"author\"");
    two[0].name = "__metadata__";
    assert_int_equal(leati_safetensors_write(path, two, 1, NULL, 0, &err), LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "notes");
    leati_safetensors *file = NULL;
    assert_int_equal(leati_safetensors_read(path, &file, &err), LEAT_NOT_FOUND);
}

static leat_status write_and_read(void *context, leat_error *err) {
    leati_safetensors *file = NULL;
    leat_status status = leati_safetensors_write(context, tensors, 3, notes, 2, err);
    if (status == LEAT_OK)
        status = leati_safetensors_read(context, &file, err);
    leati_safetensors_free(file);
    return status;
}

static void test_no_memory(void **state) {
    (void)state;
    char path[256];
    fill();
    (void)snprintf(path, sizeof path, "%s", scratch_path("e.safetensors"));
    torture_begin();
    torture_run(write_and_read, path);
    torture_end();
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_round_trip),
                                       cmocka_unit_test(test_bytes), cmocka_unit_test(test_damage),
                                       cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_no_memory)};
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
