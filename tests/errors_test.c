/* What leat says about bad input: each test checks code and text of the error that a user of the
 * public calls gets. The files and pictures are made here; expected texts are written by hand. */
#include "support/cmocka.h"

#include "base/alloc.h"
#include "image/jpeg.h"
#include "support/refused.h"
#include "support/scratch.h"
#include <leat/leat.h>
#include <zlib.h>

/* The error has each of the keywords (NULL-terminated). */
static void expect(const leat_error *err, leat_status code, leat_reason reason,
                   const char *const *keywords) {
    for (; *keywords != NULL; keywords++)
        assert_refused(err, code, reason, *keywords);
}
#define EXPECT(err, code, reason, ...)                                                             \
    expect(err, code, LEAT_REASON_##reason, (const char *const[]){__VA_ARGS__, NULL})

/* Takes elements of `dataset` (given) until a call fails; that failure stands in `err`. Returns how
 * many elements came before. */
static int first_failure(leat_dataset *dataset, leat_error *err) {
    int elements = 0;
    leat_element element = {0};
    leat_iterator *iterator = dataset != NULL ? leat_iterator_new(dataset, NULL, err) : NULL;
    while (iterator != NULL && leat_iterator_next(iterator, &element, err) == LEAT_OK)
        elements++;
    leat_element_fini(&element);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
    return elements;
}

/* ---- record files ---- */

static const char *write_records(const char *name) {
    leat_error err = {0};
    const char *path = scratch_path(name);
    leat_tfrecord_writer *writer = leat_tfrecord_writer_open(path, NULL, &err);
    assert_non_null(writer);
    assert_int_equal(leat_tfrecord_writer_write(writer, "first", 5, &err), LEAT_OK);
    assert_int_equal(leat_tfrecord_writer_write(writer, "second", 6, &err), LEAT_OK);
    assert_int_equal(leat_tfrecord_writer_close(writer, &err), LEAT_OK);
    return path;
}

/* A copy of two good records, the first 21 bytes long, cut to `size` bytes and with byte `flip`
 * changed. */
static const char *write_damaged(size_t size, int flip) {
    size_t whole;
    uint8_t *data = scratch_read(write_records("good.tfrecord"), &whole);
    assert_int_equal(whole, 2 * 16 + 5 + 6);
    if (flip >= 0)
        data[flip] ^= 0x10;
    const char *path = scratch_write("bad.tfrecord", data, size < whole ? size : whole);
    free(data);
    return path;
}

static int read_records(const char *path, leat_error *err) {
    return first_failure(leat_dataset_tf_record(&path, 1, NULL, err), err);
}

static void test_truncated_record(void **state) {
    (void)state;
    leat_error err = {0};
    assert_int_equal(read_records(write_damaged(40, -1), &err), 1);
    EXPECT(&err, LEAT_DATA_LOSS, NONE, "bad.tfrecord", "6", "4");
    assert_int_equal(err.byte, 21);
}

static void test_wrong_checksum_of_data(void **state) {
    (void)state;
    leat_error err = {0};
    assert_int_equal(read_records(write_damaged(43, 21 + 12), &err), 1);
    EXPECT(&err, LEAT_DATA_LOSS, NONE, "bad.tfrecord", "6");
    assert_int_equal(err.byte, 21);
}

static void test_wrong_checksum_of_length(void **state) {
    (void)state;
    leat_error err = {0};
    assert_int_equal(read_records(write_damaged(43, 1), &err), 0);
    EXPECT(&err, LEAT_DATA_LOSS, NONE, "bad.tfrecord");
    assert_int_equal(err.byte, 0);
}

/* A length of 2^62 with the right checksum: nothing of that size is allocated. The checksum is
 * CRC32C masked as TensorFlow does, computed bit by bit. */
static void test_huge_length(void **state) {
    (void)state;
    uint8_t header[16] = {0, 0, 0, 0, 0, 0, 0, 0x40};
    uint32_t crc = 0xFFFFFFFF;
    for (int i = 0; i < 8; i++) {
        crc ^= header[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0x82F63B78U : 0);
    }
    crc ^= 0xFFFFFFFF;
    crc = (crc >> 15 | crc << 17) + 0xA282EAD8U;
    for (int i = 0; i < 4; i++)
        header[8 + i] = (uint8_t)(crc >> 8 * i);
    leat_error err = {0};
    assert_int_equal(read_records(scratch_write("huge.tfrecord", header, sizeof header), &err), 0);
    EXPECT(&err, LEAT_DATA_LOSS, NONE, "huge.tfrecord", "4611686018427387904");
    assert_int_equal(err.byte, 0);
}

static void test_missing_file(void **state) {
    (void)state;
    leat_error err = {0};
    assert_int_equal(read_records(scratch_path("missing.tfrecord"), &err), 0);
    EXPECT(&err, LEAT_NOT_FOUND, NONE, "missing.tfrecord");
}

static void test_no_file_matched(void **state) {
    (void)state;
    leat_error err = {0};
    const char *pattern = scratch_path("*.jpg");
    assert_null(leat_dataset_list_files(pattern, NULL, &err));
    EXPECT(&err, LEAT_INVALID_ARGUMENT, VALUE, pattern);
}

/* ---- pictures ---- */

static int decode_jpeg(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    outputs[0] = leat_op_decode_jpeg(
        leat_graph_argument(graph, 0),
        &(leat_op_decode_jpeg_options){LEAT_OP_DECODE_JPEG_DEFAULTS, .channels = 3});
    return 1;
}

static int decode_png(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    outputs[0] = leat_op_decode_png(leat_graph_argument(graph, 0), 1, LEAT_UINT8);
    return 1;
}

/* Decodes `data` in a map labelled "decode". */
static void decode_in_map(leat_tracer tracer, const void *data, size_t size, leat_error *err) {
    leat_string one = {data, size};
    leat_tensor tensor = {0};
    leat_element element = {0};
    leat_spec *spec = leat_spec_tensor(LEAT_STRING, LEAT_SHAPE(1), NULL);
    assert_int_equal(leat_tensor_copy_of(LEAT_STRING, LEAT_SHAPE(1), &one, &tensor, NULL), LEAT_OK);
    assert_int_equal(leat_element_set(&element, spec, &tensor, NULL), LEAT_OK);
    leat_dataset *dataset = leat_dataset_from_tensor_slices(&element, err);
    leat_function *function = LEAT_TRACE(tracer, NULL, leat_dataset_spec(dataset), err);
    dataset = leat_dataset_label(leat_dataset_map(dataset, function, NULL, err), "decode", err);
    assert_non_null(dataset);
    assert_int_equal(first_failure(dataset, err), 0);
    leat_element_fini(&element);
    leat_tensor_unref(&tensor);
    leat_spec_unref(spec);
}

static void test_not_a_jpeg(void **state) {
    (void)state;
    leat_error err = {0};
    decode_in_map(decode_jpeg, "XIF89a and so on", 16, &err);
    EXPECT(&err, LEAT_INVALID_ARGUMENT, VALUE, "decode", "JPEG");
    err = (leat_error){0};
    decode_in_map(decode_jpeg, "", 0, &err);
    EXPECT(&err, LEAT_INVALID_ARGUMENT, VALUE, "decode", "JPEG");
}

static void test_truncated_jpeg(void **state) {
    (void)state;
    uint8_t pixels[32 * 32 * 3], *data = NULL;
    for (size_t i = 0; i < sizeof pixels; i++)
        pixels[i] = (uint8_t)(i * 37 % 251);
    size_t size;
    leat_error err = {0};
    assert_int_equal(leati_jpeg_encode(pixels, 32 * 3, 32, 32, 3, &leati_jpeg_encode_defaults,
                                       &data, &size, &err),
                     LEAT_OK);
    decode_in_map(decode_jpeg, data, size / 2, &err);
    EXPECT(&err, LEAT_INVALID_ARGUMENT, VALUE, "decode", "JPEG", "32");
    leati_free(data);
}

/* Appends a chunk: length, name, data, checksum, all big-endian. */
static size_t put_chunk(uint8_t *out, const char *name, const uint8_t *data, size_t size) {
    for (int i = 0; i < 4; i++)
        out[i] = (uint8_t)(size >> (24 - 8 * i));
    memcpy(out + 4, name, 4);
    if (size > 0)
        memcpy(out + 8, data, size);
    uLong crc = crc32(crc32(0, NULL, 0), out + 4, (uInt)size + 4);
    for (int i = 0; i < 4; i++)
        out[8 + size + (size_t)i] = (uint8_t)(crc >> (24 - 8 * i));
    return size + 12;
}

/* A grey PNG of 60000 x 60000 pixels in less than 200 bytes. */
static void test_huge_png(void **state) {
    (void)state;
    uint8_t file[256] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    const uint8_t header[13] = {0, 0, 0xEA, 0x60, 0, 0, 0xEA, 0x60, 8, 0, 0, 0, 0};
    uint8_t row[1024] = {0}, packed[128];
    uLongf packed_size = sizeof packed;
    assert_int_equal(compress(packed, &packed_size, row, sizeof row), Z_OK);
    size_t size = 8;
    size += put_chunk(file + size, "IHDR", header, sizeof header);
    size += put_chunk(file + size, "IDAT", packed, packed_size);
    size += put_chunk(file + size, "IEND", NULL, 0);
    leat_error err = {0};
    decode_in_map(decode_png, file, size, &err);
    EXPECT(&err, LEAT_INVALID_ARGUMENT, SHAPE, "decode", "PNG", "60000");
}

/* ---- functions and operators ---- */

static int fill_self(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_value x = leat_graph_argument(graph, 0);
    outputs[0] = leat_op_fill(leat_op_expand_dims(x, 0), x);
    return 1;
}

static void test_unequal_shapes_in_a_batch(void **state) {
    (void)state;
    leat_error err = {0};
    leat_dataset *dataset = leat_dataset_range(2, 6, 1, NULL, &err);
    leat_function *function = LEAT_TRACE(fill_self, NULL, leat_dataset_spec(dataset), &err);
    dataset = leat_dataset_batch(leat_dataset_map(dataset, function, NULL, &err), 2, NULL, &err);
    assert_non_null(dataset);
    assert_int_equal(first_failure(dataset, &err), 0);
    EXPECT(&err, LEAT_INVALID_ARGUMENT, SHAPE, "batch", "[2]", "[3]");
}

static int loss_of_row(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_value logits = leat_graph_argument(graph, 1);
    outputs[0] =
        leat_op_sparse_softmax_cross_entropy_with_logits(leat_graph_argument(graph, 0), logits);
    return 1;
}

static void test_label_out_of_range(void **state) {
    (void)state;
    leat_error err = {0};
    leat_spec *spec =
        leat_spec_tuple((leat_spec *[]){leat_spec_tensor(LEAT_INT64, LEAT_SHAPE(3), &err),
                                        leat_spec_tensor(LEAT_FLOAT32, LEAT_SHAPE(3, 4), &err)},
                        2, &err);
    leat_function *function = LEAT_TRACE(loss_of_row, NULL, spec, &err);
    assert_non_null(function);
    const int64_t labels[] = {0, 3, 4};
    const float logits[12] = {0};
    leat_tensor inputs[2] = {leat_tensor_view(LEAT_INT64, LEAT_SHAPE(3), labels),
                             leat_tensor_view(LEAT_FLOAT32, LEAT_SHAPE(3, 4), logits)};
    leat_tensor output = {0};
    leat_status status = leat_function_call(function, inputs, 2, &output, 1, &err);
    assert_int_equal(status, LEAT_INVALID_ARGUMENT);
    EXPECT(&err, LEAT_INVALID_ARGUMENT, VALUE, "label", "4", "2", "[0, 4)");
    leat_function_unref(function);
    leat_spec_unref(spec);
}

/* Fails for the number 2. */
static leat_status fail_on_two(void *context, const leat_element *in, leat_element *out,
                               leat_error *err) {
    (void)context;
    int64_t number;
    memcpy(&number, in->tensors[0].data, sizeof number);
    if (number != 2)
        return leat_element_set(out, in->spec, in->tensors, err);
    err->code = LEAT_PERMISSION_DENIED;
    (void)snprintf(err->text, sizeof err->text, "two is not welcome here");
    return err->code;
}

static void test_callback_that_fails(void **state) {
    (void)state;
    for (int parallel = 0; parallel < 2; parallel++) {
        leat_error err = {0};
        leat_function *function =
            LEAT_CALLBACK(fail_on_two, NULL, NULL, NULL, parallel ? LEAT_PURE : 0,
                          leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, &err),
                          leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, &err), &err);
        leat_dataset_map_options options = {LEAT_DATASET_MAP_DEFAULTS,
                                            .num_parallel_calls = parallel ? 2 : LEAT_UNSET};
        leat_dataset *dataset =
            leat_dataset_map(leat_dataset_range(0, 4, 1, NULL, &err), function, &options, &err);
        dataset = leat_dataset_label(dataset, "guard", &err);
        assert_non_null(dataset);
        assert_int_equal(first_failure(dataset, &err), 2);
        EXPECT(&err, LEAT_PERMISSION_DENIED, CALLBACK, "map", "guard", "welcome");
    }
}

/* ---- NULL where something is needed ---- */

static leat_dataset *five(void) {
    return leat_dataset_range(0, 5, 1, NULL, NULL);
}

static void test_null_arguments(void **state) {
    (void)state;
    leat_error err = {0};
    assert_null(leat_dataset_map(five(), NULL, NULL, &err));
    EXPECT(&err, LEAT_INVALID_ARGUMENT, VALUE, "map", "NULL");
    err = (leat_error){0};
    assert_null(leat_dataset_filter(five(), NULL, &err));
    EXPECT(&err, LEAT_INVALID_ARGUMENT, VALUE, "filter", "NULL");
    err = (leat_error){0};
    assert_null(leat_dataset_batch(NULL, 2, NULL, &err));
    EXPECT(&err, LEAT_INVALID_ARGUMENT, VALUE, "batch", "NULL");
    err = (leat_error){0};
    assert_null(leat_dataset_list_files(NULL, NULL, &err));
    EXPECT(&err, LEAT_INVALID_ARGUMENT, VALUE, "list_files", "NULL");
    err = (leat_error){0};
    assert_null(leat_dataset_tf_record(NULL, 1, NULL, &err));
    EXPECT(&err, LEAT_INVALID_ARGUMENT, VALUE, "tf_record_dataset", "NULL");
    err = (leat_error){0};
    assert_null(leat_dataset_from_tensor_slices(NULL, &err));
    EXPECT(&err, LEAT_INVALID_ARGUMENT, VALUE, "from_tensor_slices", "NULL");
    err = (leat_error){0};
    assert_null(leat_iterator_new(NULL, NULL, &err));
    EXPECT(&err, LEAT_INVALID_ARGUMENT, VALUE, "NULL");
    err = (leat_error){0};
    assert_null(leat_dataset_from_json(NULL, &err));
    EXPECT(&err, LEAT_INVALID_ARGUMENT, VALUE, "NULL");
    err = (leat_error){0};
    assert_null(leat_tfrecord_writer_open(NULL, NULL, &err));
    EXPECT(&err, LEAT_INVALID_ARGUMENT, VALUE, "NULL");
    err = (leat_error){0};
    assert_null(leat_strategy_distribute_dataset(NULL, five(), NULL, &err));
    EXPECT(&err, LEAT_INVALID_ARGUMENT, VALUE, "strategy", "NULL");
    err = (leat_error){0};
    assert_null(leat_strategy_distribute_replica_batches(NULL, five(), NULL, &err));
    EXPECT(&err, LEAT_INVALID_ARGUMENT, VALUE, "strategy", "NULL");
}

/* A chain goes on with NULL and keeps what was said first; no error struct is needed. */
static void test_null_passes_through(void **state) {
    (void)state;
    leat_error err = {0};
    leat_dataset *dataset = leat_dataset_range(0, 5, 0, NULL, &err);
    dataset = leat_dataset_batch(dataset, 2, NULL, &err);
    dataset = leat_dataset_prefetch(dataset, 1, &err);
    assert_null(dataset);
    EXPECT(&err, LEAT_INVALID_ARGUMENT, VALUE, "range", "step");
    assert_null(leat_dataset_batch(leat_dataset_range(0, 5, 0, NULL, NULL), 2, NULL, NULL));
    leat_dataset_unref(NULL);
    leat_iterator_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_truncated_record),
        cmocka_unit_test(test_wrong_checksum_of_data),
        cmocka_unit_test(test_wrong_checksum_of_length),
        cmocka_unit_test(test_huge_length),
        cmocka_unit_test(test_missing_file),
        cmocka_unit_test(test_no_file_matched),
        cmocka_unit_test(test_not_a_jpeg),
        cmocka_unit_test(test_truncated_jpeg),
        cmocka_unit_test(test_huge_png),
        cmocka_unit_test(test_unequal_shapes_in_a_batch),
        cmocka_unit_test(test_label_out_of_range),
        cmocka_unit_test(test_callback_that_fails),
        cmocka_unit_test(test_null_arguments),
        cmocka_unit_test(test_null_passes_through),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
