/* decode_jpeg, decode_png and decode_image against the recorded pictures: pixels bit for bit, and
 * the failures; encode_png by decoding again. Each picture is decoded through a graph, from the
 * bytes of its file. */
#include "support/cmocka.h"

#include "conform.h"
#include "core/spec.h"
#include "graph/interpret.h"
#include "graph/support/picture/resize.h"
#include "image/codec.h"

#include "support/arrays.h"
#include "support/graph.h"
#include "support/torture.h"

#define IMAGES LEATI_SOURCE_DIR "/tests/golden/data/image"

/* Calls the operation on a scalar string. Owned; NULL with err. */
static leat_function *decoder(const char *op, const char *attributes, leat_error *err) {
    leat_spec *spec = leat_spec_tensor(LEAT_STRING, LEAT_SCALAR, err);
    if (spec == NULL)
        return NULL;
    leat_graph *graph = leat_graph_new(spec, err);
    leat_spec_unref(spec);
    if (graph == NULL)
        return NULL;
    leat_value contents = leat_graph_argument(graph, 0), pixels;
    int count = leat_graph_call(graph, op, attributes, &contents, 1, &pixels, 1);
    return leat_graph_finish(graph, &pixels, count < 0 ? 0 : count, NULL, err);
}

typedef struct picture {
    const char *op;
    char *attributes;
    uint8_t *data;
    size_t size;
} picture;

static leat_status decode(const picture *p, leat_tensor *out, leat_error *err) {
    leat_string contents = {.data = (const char *)p->data, .size = p->size};
    leat_tensor input = leat_tensor_view(LEAT_STRING, LEAT_SCALAR, &contents);
    leat_function *function = decoder(p->op, p->attributes, err);
    if (function == NULL)
        return torture_code(err);
    leat_status status = leati_interpret(function, &input, NULL, out, err);
    leat_function_unref(function);
    return status;
}

static void expect_pixels(const char *name, const leat_tensor *found, const json_t *json) {
    arrays_array expected = arrays_read(IMAGES, json);
    bool same = leat_dtype_from_name(expected.dtype) == found->dtype &&
                expected.rank == found->rank &&
                memcmp(expected.shape, found->dims, (size_t)found->rank * sizeof(int64_t)) == 0 &&
                leat_tensor_bytes(found) == expected.count * expected.item_size &&
                memcmp(expected.data, found->data, leat_tensor_bytes(found)) == 0;
    arrays_free(&expected);
    if (!same)
        fail_msg("%s: other pixels", name);
}

static void run_case(const json_t *line) {
    const json_t *args = json_object_get(line, "args");
    const char *file = arrays_text(line, "file");
    char name[300];
    leat_error err = {0};
    leat_tensor pixels;
    picture p = {.op = arrays_text(line, "op"), .attributes = json_dumps(args, JSON_COMPACT)};
    (void)snprintf(name, sizeof name, "%s %s %s", p.op, file, p.attributes);
    p.data = arrays_read_file(IMAGES, file, &p.size);
    leat_status status = decode(&p, &pixels, &err);
    if (json_object_get(line, "error") != NULL) {
        if (status != LEAT_INVALID_ARGUMENT && status != LEAT_UNIMPLEMENTED)
            fail_msg("%s: %s; expected INVALID_ARGUMENT", name, leat_status_name(status));
    } else {
        if (status != LEAT_OK)
            fail_msg("%s: %s", name, err.text);
        expect_pixels(name, &pixels, json_object_get(line, "output"));
        leat_tensor_unref(&pixels);
    }
    free(p.data);
    free(p.attributes);
}

static void test_recorded(void **state) {
    (void)state;
    json_t *file = arrays_read_json(IMAGES, "decode.json");
    const json_t *lines = json_object_get(file, "cases");
    int ran = 0;
    for (size_t i = 0; i < json_array_size(lines); i++) {
        const json_t *line = json_array_get(lines, i);
        const char *op = arrays_text(line, "op");
        if (strcmp(op, "decode_jpeg") != 0 && strcmp(op, "decode_png") != 0 &&
            strcmp(op, "decode_image") != 0)
            continue;
        run_case(line);
        ran++;
    }
    assert_true(ran > 150);
    json_decref(file);
}

static void test_inference(void **state) {
    (void)state;
    leat_error err = {0};
    leat_function *function = decoder("decode_png", "{\"channels\": 3}", &err);
    leat_shape shape = leat_spec_shape(leat_function_output(function));
    assert_int_equal(shape.rank, 3);
    assert_int_equal(shape.dims[0], -1);
    assert_int_equal(shape.dims[2], 3);
    leat_function_unref(function);
    assert_null(decoder("decode_png", "{\"channels\": 5}", &err));
    assert_null(decoder("decode_png", "{\"dtype\": \"int8\"}", &err));
    assert_null(decoder("decode_jpeg", "{\"ratio\": 3}", &err));
    assert_null(decoder("decode_jpeg", "{\"dct_method\": \"FLOAT\"}", &err));
    assert_null(decoder("decode_image", "{\"dtype\": \"bool\"}", &err));
}

/* What encode_png writes is the picture again: 8 and 16 bits, each number of channels, several. */
static void check_png(leat_dtype dtype, int64_t channels, int compression) {
    leat_error err = {0};
    leat_tensor pixels, files, back;
    char attributes[64];
    assert_int_equal(leat_tensor_new(dtype, LEAT_SHAPE(2, 5, 7, channels), &pixels, &err), 0);
    for (size_t i = 0; i < leat_tensor_bytes(&pixels); i++)
        ((uint8_t *)pixels.data)[i] = (uint8_t)(i * 37 + i / 11);
    leat_graph *graph = leat_graph_new_eager(&err);
    assert_non_null(graph);
    leat_value encoded = leat_op_encode_png(leat_graph_tensor(graph, &pixels), compression);
    if (leat_value_tensor(encoded, &files, &err) != LEAT_OK)
        fail_msg("encode_png: %s", err.text);
    assert_int_equal(files.rank, 1);
    assert_int_equal(files.dims[0], 2);
    (void)snprintf(attributes, sizeof attributes, "{\"dtype\": \"%s\", \"channels\": %d}",
                   leat_dtype_name(dtype), channels == 2 ? 0 : (int)channels);
    for (int i = 0; i < 2; i++) {
        const leat_string *file = (const leat_string *)files.data + i;
        picture p = {"decode_png", attributes, (uint8_t *)(uintptr_t)file->data, file->size};
        size_t half = leat_tensor_bytes(&pixels) / 2;
        if (decode(&p, &back, &err) != LEAT_OK)
            fail_msg("decode_png: %s", err.text);
        if (channels != 2) { /* grey and alpha is read as four channels or one */
            assert_int_equal(leat_tensor_bytes(&back), half);
            assert_memory_equal(back.data, (char *)pixels.data + (size_t)i * half, half);
        }
        leat_tensor_unref(&back);
    }
    leat_tensor_unref(&files);
    leat_tensor_unref(&pixels);
    leat_graph_free(graph);
}

static void test_encode_png(void **state) {
    (void)state;
    for (int64_t channels = 1; channels <= 4; channels++) {
        check_png(LEAT_UINT8, channels, -1);
        check_png(LEAT_UINT16, channels, 0);
        check_png(LEAT_UINT8, channels, 9);
    }
}

static leat_status decode_once(void *context, leat_error *err) {
    leat_tensor pixels;
    leat_status status = decode(context, &pixels, err);
    if (status == LEAT_OK)
        leat_tensor_unref(&pixels);
    leati_image_decoders_trim();
    return status;
}

static void test_memory(void **state) {
    (void)state;
    picture pictures[] = {{.op = "decode_png"},
                          {.op = "decode_jpeg"},
                          {.op = "decode_image"},
                          {.op = "decode_gif"},
                          {.op = "decode_bmp"}};
    const char *const files[] = {"files/a_palette.png", "files/a_420.jpg", "files/a_gray16.png",
                                 "files/b_animated.gif", "files/b_rgb.bmp"};
    leati_image_decoders_trim();
    for (int i = 0; i < 5; i++) {
        pictures[i].data = arrays_read_file(IMAGES, files[i], &pictures[i].size);
        torture_begin();
        torture_run_tolerant(decode_once, &pictures[i]);
        torture_end();
        free(pictures[i].data);
    }
}

/* The tables of resize are kept from call to call, and given back. */
static void test_resize_store(void **state) {
    (void)state;
    leati_resize_plans_trim();
    torture_begin();
    leat_tensor pixels = TEST_TENSOR(LEAT_UINT8, LEAT_SHAPE(2, 2, 1), uint8_t, 0, 10, 20, 30);
    leat_error err = {0};
    leat_graph *graph = leat_graph_new_eager(&err);
    for (int i = 0; i < 3; i++)
        (void)leat_op_resize(leat_graph_tensor(graph, &pixels), (int64_t[]){3, 3}, 2, NULL);
    leat_graph_free(graph);
    leat_tensor_unref(&pixels);
    leati_resize_plans_trim();
    torture_end();
}

int conform_ops_pictures(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recorded),     cmocka_unit_test(test_inference),
        cmocka_unit_test(test_encode_png),   cmocka_unit_test(test_memory),
        cmocka_unit_test(test_resize_store),
    };
    return cmocka_run_group_tests_name("ops_pictures", tests, NULL, NULL);
}
