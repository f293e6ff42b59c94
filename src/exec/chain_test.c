/* Chains of picture operations against the same operations one after the other: equal in every bit,
 * failing for the same rows, for intact and for damaged pictures. */
#include "support/cmocka.h"

#include "core/tensor.h"
#include "exec/program_parts.h"
#include "graph/computed.h"
#include "graph/interpret.h"
#include "graph/support/picture/resize.h"
#include "image/codec.h"
#include "support/chain.h"
#include "support/torture.h"
#include <leat/ops.h>
#include <stdio.h>
#include <stdlib.h>

#define FILES "tests/golden/data/image/files/"

/* ---- running ---- */

struct bytes {
    char *data;
    size_t size;
};

static struct bytes read_bytes(const char *name) {
    char path[200];
    snprintf(path, sizeof path, FILES "%s", name);
    struct bytes bytes = {.data = malloc(1 << 20)};
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_non_null(bytes.data);
    bytes.size = fread(bytes.data, 1, 1 << 20, file);
    assert_int_equal(fclose(file), 0);
    return bytes;
}

static leat_function *traced(leat_tracer tracer) {
    leat_error err = {0};
    leat_spec *spec = leat_spec_tensor(LEAT_STRING, LEAT_SCALAR, &err);
    leat_function *function = LEAT_TRACE(tracer, NULL, spec, &err);
    leat_spec_unref(spec);
    if (function == NULL)
        fail_msg("%s", err.text);
    return function;
}

/* The pictures as one column of strings, three times over so that runs have several rows. */
static void give(leati_block *block, const struct bytes *pictures, int64_t count) {
    leat_shape scalar = LEAT_SCALAR;
    leat_tensor tensor;
    leat_string strings[16];
    for (int64_t i = 0; i < count; i++)
        strings[i] = (leat_string){.data = pictures[i].data, .size = pictures[i].size};
    assert_int_equal(leat_tensor_copy_of(LEAT_STRING, LEAT_SHAPE(count), strings, &tensor, NULL),
                     LEAT_OK);
    assert_int_equal(leati_block_prepare(block, 1, &(leat_error){0}), LEAT_OK);
    leati_column_strided(&block->columns[0], LEAT_STRING, &scalar, tensor.data, sizeof(leat_string),
                         tensor.owner);
    block->n = count;
}

/* Compares row `row` of a program's result with the function computed node by node. */
static void compare_row(const leat_function *function, const leati_block *in, int64_t row,
                        leat_status status, int64_t good, const leat_error *error,
                        const leati_block *out, const char *name) {
    leat_tensor input = leati_column_tensor(&in->columns[0], row), outputs[4] = {{0}};
    leati_call_context context = {.num_replicas = 1, .ordinal = 7 + row};
    leat_error err = {0};
    leat_status wanted = leati_interpret(function, &input, &context, outputs, &err);
    if (row >= good) {
        assert_true(row == good);
        if (wanted != status || strcmp(err.text, error->text) != 0)
            fail_msg("%s, row %d: %s, but node by node: %s", name, (int)row, error->text, err.text);
    } else if (wanted != LEAT_OK) {
        fail_msg("%s, row %d: no failure, but node by node: %s", name, (int)row, err.text);
    }
    for (int i = 0; wanted == LEAT_OK && i < function->num_outputs; i++) {
        size_t size = (size_t)leat_tensor_count(&outputs[i]) * leat_dtype_size(outputs[i].dtype);
        if (row < good && outputs[i].dtype != LEAT_STRING &&
            memcmp(leati_column_row(&out->columns[i], row), outputs[i].data, size) != 0)
            fail_msg("%s, row %d: output %d differs", name, (int)row, i);
        leat_tensor_unref(&outputs[i]);
    }
    leat_tensor_unref(&input);
}

static void compare(leat_tracer tracer, const struct bytes *pictures, int64_t count,
                    int32_t num_nodes, const char *name) {
    leat_error err = {0};
    leat_function *function = traced(tracer);
    leati_program *program = leati_program_new(function, &err);
    assert_non_null(program);
    if (num_nodes > 0)
        assert_int_equal(program->simple.num_nodes, num_nodes);
    leati_scratch *scratch = leati_program_scratch_new(program, &err);
    leati_block in = {0}, out = {0};
    give(&in, pictures, count);
    leati_call_context context = {.num_replicas = 1, .ordinal = 7};
    int64_t good = 0;
    leat_status status =
        leati_program_run(program, scratch, &in, 0, count, &context, &out, &good, &err);
    leat_error error = err;
    leat_status again = status;
    if (status != LEAT_OK && good > 0) {
        int64_t none = 0;
        again = leati_program_run(program, scratch, &in, 0, good, &context, &out, &none, &err);
        assert_int_equal(again, LEAT_OK);
    }
    good = status == LEAT_OK ? count : good;
    for (int64_t row = 0; row < count && row <= good; row++)
        compare_row(function, &in, row, status, good, &error, &out, name);
    leati_block_fini(&in);
    leati_block_fini(&out);
    leati_program_scratch_free(scratch);
    leati_program_free(program);
    leat_function_unref(function);
}

static const struct variant {
    const char *name;
    leat_tracer tracer;
    int32_t num_nodes; /* that are left where the chain is one of them */
} variants[] = {
    {"plain", trace_plain, 1},
    {"usual", trace_usual, 3},
    {"normalised", trace_normalised, 1},
    {"window", trace_window, 3},
    {"random window", trace_random_window, 9},
    {"tensorflow's window", trace_tensorflow_window, 1},
    {"row numbers", trace_row_numbers, 3},
    {"two exits", trace_two_exits, 2},
    {"middle", trace_middle, 1},
    {"computed before", trace_computed_before, 1},
    {"negative", trace_negative, 1},
    {"computed slice", trace_computed_slice, 5},
    {"random crops", trace_random_crops, 2},
    {"resized crops", trace_resized_crops, 2},
    {"no windows", trace_no_windows, 5},
};

enum { VARIANTS = sizeof variants / sizeof *variants };

static const char *const pictures[] = {"a_420.jpg",
                                       "a_422.jpg",
                                       "a_444.jpg",
                                       "a_bad_crc.png",
                                       "a_cmyk.jpg",
                                       "a_corrupt_scan.jpg",
                                       "a_gray.jpg",
                                       "a_header_only.jpg",
                                       "a_palette.png",
                                       "a_restart.jpg",
                                       "a_rgb16.png",
                                       "a_rgb8.png",
                                       "a_rgba8.png",
                                       "a_truncated.png",
                                       "a_truncated_60.jpg",
                                       "a_truncated_last2.jpg",
                                       "b.gif",
                                       "b_420_low.jpg",
                                       "b_420_odd.jpg",
                                       "b_animated.gif",
                                       "b_progressive.jpg",
                                       "b_rgb.bmp",
                                       "not_an_image.jpg",
                                       "a_trailing_garbage.jpg"};

enum { NUM_PICTURES = sizeof pictures / sizeof *pictures };

static void test_equal_to_node_by_node(void **state) {
    (void)state;
    for (int p = 0; p < NUM_PICTURES; p++) {
        struct bytes one = read_bytes(pictures[p]);
        struct bytes rows[3] = {one, one, one};
        for (int v = 0; v < VARIANTS; v++)
            compare(variants[v].tracer, rows, 3, variants[v].num_nodes, variants[v].name);
        free(one.data);
    }
}

/* ---- what is taken into a chain ---- */

struct form {
    const char *decode, *decode_args, *resize_args;
    int32_t num_nodes;
    const char *described; /* NULL: there is no chain */
};

static int trace_form(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    const struct form *form = context;
    leat_value picture =
        call(graph, form->decode, form->decode_args, leat_graph_argument(graph, 0));
    outputs[0] = leat_op_flip_left_right(call(graph, "resize", form->resize_args, picture));
    return 1;
}

/* Decoders of bytes begin a chain; what they make of other types may be its picture; and pictures
 * that are stretched to one of several sizes, or pick the nearest, have none. */
static void test_forms(void **state) {
    (void)state;
    static const char plain[] = "{\"size\": [9, 7]}", rgb[] = "{\"channels\": 3}";
    static const struct form forms[] = {
        {"decode_jpeg", rgb, plain, 1, "decode_jpeg, resize, flip_left_right"},
        {"decode_png", rgb, plain, 1, "decode_png, resize, flip_left_right"},
        {"decode_png", "{\"channels\": 3, \"dtype\": \"uint16\"}", plain, 3, NULL},
        {"decode_image", "{\"channels\": 3, \"expand_animations\": false}", plain, 1,
         "decode_image, resize, flip_left_right"},
        {"decode_image", "{\"channels\": 3, \"expand_animations\": false, \"dtype\": \"float32\"}",
         plain, 2, "resize, flip_left_right"},
        {"decode_image", "{\"channels\": 3, \"expand_animations\": false, \"dtype\": \"uint16\"}",
         plain, 3, NULL},
        {"decode_jpeg", rgb, "{\"size\": [9, 7], \"method\": \"nearest\"}", 3, NULL},
        {"decode_jpeg", rgb, "{\"size\": [9, 7], \"method\": \"bicubic\"}", 1,
         "decode_jpeg, resize, flip_left_right"},
        {"decode_jpeg", rgb, "{\"size\": [9, 7], \"preserve_aspect_ratio\": true}", 3, NULL},
    };
    leat_error err = {0};
    struct bytes one = read_bytes("a_rgb8.png");
    leat_string string = {.data = one.data, .size = one.size};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        leat_spec *spec = leat_spec_tensor(LEAT_STRING, LEAT_SCALAR, &err);
        leat_function *function = LEAT_TRACE(trace_form, (void *)(uintptr_t)&forms[i], spec, &err);
        leat_spec_unref(spec);
        if (function == NULL)
            fail_msg("form %zu: %s", i, err.text);
        leati_program *program = leati_program_new(function, &err);
        assert_non_null(program);
        leati_text text = {0};
        if (program->chains.count > 0)
            leati_chain_describe(&program->chains.items[0], &text);
        leati_text_add(&text, "", 0);
        if (program->simple.num_nodes != forms[i].num_nodes ||
            (program->chains.count > 0) != (forms[i].described != NULL) ||
            strcmp(text.data, forms[i].described == NULL ? "" : forms[i].described) != 0)
            fail_msg("form %zu: %d nodes, \"%s\"", i, (int)program->simple.num_nodes, text.data);
        leati_text_fini(&text);
        leati_scratch *scratch = leati_program_scratch_new(program, &err);
        leati_block in = {0}, out = {0};
        leati_call_context context = {.num_replicas = 1};
        leat_tensor lent = leat_tensor_view(LEAT_STRING, LEAT_SCALAR, &string), wanted = {0};
        int64_t good = 0;
        give(&in, &one, 1);
        assert_int_equal(
            leati_program_run(program, scratch, &in, 0, 1, &context, &out, &good, &err), LEAT_OK);
        assert_int_equal(leati_interpret(function, &lent, &context, &wanted, &err), LEAT_OK);
        leat_tensor found = leati_column_tensor(&out.columns[0], 0);
        assert_int_equal(leat_tensor_bytes(&found), leat_tensor_bytes(&wanted));
        assert_memory_equal(found.data, wanted.data, leat_tensor_bytes(&wanted));
        leat_tensor_unref(&found);
        leat_tensor_unref(&wanted);
        leati_block_fini(&in);
        leati_block_fini(&out);
        leati_program_scratch_free(scratch);
        leati_program_free(program);
        leat_function_unref(function);
    }
    free(one.data);
}

/* x, cropped and resized, as [-1, -1, 3] bytes. */
static int trace_pixels(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    const float *fraction = context;
    leat_value x = leat_graph_argument(graph, 0);
    if (*fraction < 1)
        x = leat_op_central_crop(x, (double)*fraction);
    outputs[0] = leat_op_flip_left_right(leat_op_resize(x, (int64_t[]){4, 5}, 2, NULL));
    return 1;
}

/* Pictures that are there already, of several sizes; those without pixels fail as node by node. */
static void test_pixels(void **state) {
    (void)state;
    static const int64_t sizes[][2] = {{1, 1}, {3, 2}, {9, 17}, {4, 5}, {0, 5}, {5, 0}, {0, 0}};
    static float fractions[] = {1, 0.5F};
    uint8_t bytes[9 * 17 * 3];
    leat_error err = {0};
    leat_spec *spec = leat_spec_tensor(LEAT_UINT8, LEAT_SHAPE(-1, -1, 3), &err);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 37);
    for (int f = 0; f < 2; f++) {
        leat_function *function = LEAT_TRACE(trace_pixels, &fractions[f], spec, &err);
        leati_program *program = leati_program_new(function, &err);
        assert_int_equal(program->chains.count, 1);
        assert_int_equal(program->simple.num_nodes, 1);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            leat_error errors[2] = {{0}, {0}};
            leat_shape shape = LEAT_SHAPE(sizes[i][0], sizes[i][1], 3);
            leat_tensor lent = leat_tensor_view(LEAT_UINT8, shape, bytes), wanted = {0};
            leati_scratch *scratch = leati_program_scratch_new(program, &err);
            leati_call_context context = {.num_replicas = 1};
            leati_block in = {0}, out = {0};
            int64_t good = 0;
            assert_int_equal(leati_block_prepare(&in, 1, &err), LEAT_OK);
            leati_column_strided(&in.columns[0], LEAT_UINT8, &shape, bytes, sizeof bytes, NULL);
            in.n = 1;
            leat_status status =
                leati_program_run(program, scratch, &in, 0, 1, &context, &out, &good, &errors[0]);
            assert_int_equal(leati_interpret(function, &lent, &context, &wanted, &errors[1]),
                             status);
            assert_string_equal(errors[0].text, errors[1].text);
            assert_int_equal(status,
                             sizes[i][0] * sizes[i][1] > 0 ? LEAT_OK : LEAT_INVALID_ARGUMENT);
            if (status == LEAT_OK)
                assert_memory_equal(leati_column_row(&out.columns[0], 0), wanted.data,
                                    leat_tensor_bytes(&wanted));
            leat_tensor_unref(&wanted);
            leati_block_fini(&in);
            leati_block_fini(&out);
            leati_program_scratch_free(scratch);
        }
        leati_program_free(program);
        leat_function_unref(function);
    }
    leat_spec_unref(spec);
}

enum alone { RESIZE, CROP_AND_RESIZE, RESIZED_CROP, CROP_AND_FLIP, CAST_AND_RESIZE };

static int trace_alone(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    leat_value x = leat_graph_argument(graph, 0);
    switch (*(const enum alone *)context) {
    case RESIZE: outputs[0] = leat_op_resize(x, (int64_t[]){4, 5}, 2, NULL); break;
    case CROP_AND_RESIZE:
        outputs[0] = leat_op_resize(leat_op_central_crop(x, 0.5), (int64_t[]){4, 5}, 2, NULL);
        break;
    case RESIZED_CROP:
        outputs[0] = leat_op_random_resized_crop(x, (int64_t[]){4, 5}, 2, NULL);
        break;
    case CROP_AND_FLIP:
        outputs[0] =
            leat_op_flip_up_down(leat_op_random_resized_crop(x, (int64_t[]){4, 5}, 2, NULL));
        break;
    default: outputs[0] = leat_op_resize(leat_op_cast(x, LEAT_FLOAT32), (int64_t[]){4, 5}, 2, NULL);
    }
    return 1;
}

/* One operation on a picture that is there is no chain. */
static void test_alone(void **state) {
    (void)state;
    static const int32_t chains[] = {0, 1, 0, 1, 1};
    leat_error err = {0};
    leat_spec *spec = leat_spec_tensor(LEAT_UINT8, LEAT_SHAPE(-1, -1, 3), &err);
    for (enum alone kind = RESIZE; kind <= CAST_AND_RESIZE; kind++) {
        leat_function *function = LEAT_TRACE(trace_alone, &kind, spec, &err);
        leati_program *program = leati_program_new(function, &err);
        assert_int_equal(program->chains.count, chains[kind]);
        assert_int_equal(program->simple.num_nodes, 1);
        leati_program_free(program);
        leat_function_unref(function);
    }
    leat_spec_unref(spec);
}

/* Truncated and damaged data fail, or not, as node by node, with the same text. */
static void test_damaged(void **state) {
    (void)state;
    uint64_t random = 5;
    for (int round = 0; round < 3000; round++) {
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        struct bytes one = read_bytes(pictures[(random >> 33) % NUM_PICTURES]), whole = one;
        size_t at = (size_t)(random >> 40) % one.size;
        if (round % 2 == 0)
            one.size = at;
        else
            one.data[at] = (char)(random >> 24);
        struct bytes rows[2] = {one, one};
        const struct variant *variant = &variants[(random >> 50) % VARIANTS];
        compare(variant->tracer, rows, 2, 0, variant->name);
        free(whole.data);
    }
}

/* Results go where the consumer wishes them. */
static void test_destination(void **state) {
    (void)state;
    leat_error err = {0};
    struct bytes one = read_bytes(pictures[0]);
    struct bytes rows[2] = {one, one};
    leat_function *function = traced(trace_usual);
    leati_program *program = leati_program_new(function, &err);
    leati_scratch *scratch = leati_program_scratch_new(program, &err);
    leati_block in = {0}, out = {0};
    size_t bytes = 24 * 31 * 3 * sizeof(float);
    leat_buffer *buffer = leat_buffer_new(2 * bytes, &err);
    leati_destination destination = {.data = leat_buffer_data(buffer),
                                     .stride = (int64_t)bytes,
                                     .dtype = LEAT_FLOAT32,
                                     .shape = LEAT_SHAPE(24, 31, 3),
                                     .owner = buffer};
    give(&in, rows, 2);
    out.destinations = &destination;
    leati_call_context context = {.num_replicas = 1};
    int64_t failed = 0;
    assert_int_equal(leati_program_run(program, scratch, &in, 0, 2, &context, &out, &failed, &err),
                     LEAT_OK);
    assert_ptr_equal(leati_column_row(&out.columns[0], 1),
                     (char *)leat_buffer_data(buffer) + bytes);
    leati_block_fini(&in);
    leati_block_fini(&out);
    leat_buffer_unref(buffer);
    leati_program_scratch_free(scratch);
    leati_program_free(program);
    leat_function_unref(function);
    free(one.data);
}

/* ---- memory ---- */

static leat_status run_once(void *context, leat_error *err) {
    const struct bytes *one = context;
    leat_spec *spec = leat_spec_tensor(LEAT_STRING, LEAT_SCALAR, err);
    leat_function *function = spec == NULL ? NULL : LEAT_TRACE(trace_usual, NULL, spec, err);
    leati_program *program = function == NULL ? NULL : leati_program_new(function, err);
    leat_spec_unref(spec);
    leati_scratch *scratch = program == NULL ? NULL : leati_program_scratch_new(program, err);
    leat_status status = err->code;
    if (scratch != NULL) {
        leati_block in = {0}, out = {0};
        leat_shape scalar = LEAT_SCALAR;
        leat_string string = {.data = one->data, .size = one->size};
        leati_call_context start = {.num_replicas = 1};
        int64_t failed = 0;
        status = leati_block_prepare(&in, 1, err);
        if (status == LEAT_OK) {
            leati_column_strided(&in.columns[0], LEAT_STRING, &scalar, &string, sizeof string,
                                 NULL);
            in.n = 1;
            status = leati_program_run(program, scratch, &in, 0, 1, &start, &out, &failed, err);
        }
        leati_block_fini(&in);
        leati_block_fini(&out);
    }
    leati_program_scratch_free(scratch);
    leati_program_free(program);
    leat_function_unref(function);
    leati_image_decoders_trim();
    leati_resize_plans_trim();
    return status;
}

static void test_every_allocation_failing(void **state) {
    (void)state;
    struct bytes one = read_bytes(pictures[0]);
    torture_run_tolerant(run_once, &one);
    free(one.data);
}

/* Decoders and plans that wait for the next picture belong to the allocator of their time. */
static int trim(void **state) {
    (void)state;
    leati_image_decoders_trim();
    leati_resize_plans_trim();
    return 0;
}

int main(void) {
#define COUNTED(test) cmocka_unit_test_setup_teardown(test, torture_setup, torture_teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_equal_to_node_by_node, trim),
        cmocka_unit_test_teardown(test_forms, trim),
        cmocka_unit_test_teardown(test_pixels, trim),
        cmocka_unit_test(test_alone),
        cmocka_unit_test_teardown(test_damaged, trim),
        cmocka_unit_test_teardown(test_destination, trim),
        COUNTED(test_every_allocation_failing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
