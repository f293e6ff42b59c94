/* Resizing against TensorFlow's recorded results, and the fast path against the plain one. */
#include "support/cmocka.h"

#include "image/resize.h"
#include "support/arrays.h"
#include "support/refused.h"
#include "support/torture.h"

#define FOLDER "tests/golden/data/image"

/* ---- recorded cases ---- */

/* The size that preserve_aspect_ratio leaves of the one asked for: tf.image.resize scales by the
 * smaller of the two factors and rounds. */
static void keep_aspect(const arrays_array *in, int32_t *height, int32_t *width) {
    float by_height = (float)*height / (float)in->shape[0];
    float by_width = (float)*width / (float)in->shape[1];
    float factor = by_height < by_width ? by_height : by_width;
    *height = (int32_t)nearbyintf(factor * (float)in->shape[0]);
    *width = (int32_t)nearbyintf(factor * (float)in->shape[1]);
}

static leat_status run(leati_resize_plan *plan, const arrays_array *in, int32_t height,
                       int32_t width, bool antialias, float **out, leat_error *err) {
    int32_t channels = (int32_t)in->shape[2];
    *out = NULL;
    leat_status status =
        leati_resize_prepare(plan, (int32_t)in->shape[0], (int32_t)in->shape[1], height, width,
                             channels, LEATI_RESIZE_BILINEAR, antialias, err);
    if (status != LEAT_OK)
        return status;
    size_t row = (size_t)width * (size_t)channels * sizeof(float);
    *out = malloc(row * (size_t)height);
    assert_non_null(*out);
    size_t in_row = (size_t)in->shape[1] * (size_t)channels * in->item_size;
    if (strcmp(in->dtype, "uint8") == 0)
        leati_resize_u8(plan, in->data, in_row, *out, row);
    else
        leati_resize_f32(plan, in->data, in_row, *out, row);
    return LEAT_OK;
}

/* The numbers are TensorFlow's in every bit. */
static void compare(const json_t *test, const arrays_array *want, const float *have, int32_t skip) {
    const float *numbers = want->data;
    for (size_t i = 0; i < want->count; i++) {
        float found = have[i * (size_t)skip];
        if (found != numbers[i])
            fail_msg("%s to %d x %d, antialias %d: number %zu is %.9g, expected %.9g",
                     arrays_text(test, "input"), (int)want->shape[0], (int)want->shape[1],
                     arrays_bool(test, "antialias", false), i, (double)found, (double)numbers[i]);
    }
}

static void run_case(leati_resize_plan *plan, const json_t *test, const arrays_array *in) {
    const json_t *size = json_object_get(test, "size");
    int32_t height = (int32_t)json_integer_value(json_array_get(size, 0));
    int32_t width = (int32_t)json_integer_value(json_array_get(size, 1));
    if (arrays_bool(test, "preserve_aspect_ratio", false))
        keep_aspect(in, &height, &width);
    leat_error err = {0};
    float *out;
    leat_status status =
        run(plan, in, height, width, arrays_bool(test, "antialias", false), &out, &err);
    if (json_object_get(test, "error") != NULL) {
        assert_int_equal(status, LEAT_INVALID_ARGUMENT);
    } else {
        assert_int_equal(status, LEAT_OK);
        arrays_array want = arrays_read(FOLDER, json_object_get(test, "output"));
        assert_int_equal(want.shape[0], height);
        assert_int_equal(want.shape[1], width);
        compare(test, &want, out, (int32_t)(in->shape[2] / want.shape[2]));
        arrays_free(&want);
    }
    free(out);
}

static void run_recorded(const leati_resize_kernels *kernels) {
    json_t *root = arrays_read_json(FOLDER, "resize.json");
    const json_t *cases = json_object_get(root, "cases");
    const json_t *inputs = json_object_get(json_array_get(cases, 0), "inputs");
    leati_resize_plan plan = {.kernels = kernels};
    int covered = 0;
    size_t i;
    json_t *test;
    json_array_foreach(cases, i, test) {
        const json_t *input = json_object_get(inputs, arrays_text(test, "input"));
        if (strcmp(arrays_text(test, "op"), "resize") != 0 ||
            strcmp(arrays_text(test, "method"), "bilinear") != 0 || input == NULL ||
            json_array_size(json_object_get(test, "size")) != 2)
            continue;
        arrays_array in = arrays_read(FOLDER, input);
        run_case(&plan, test, &in);
        arrays_free(&in);
        covered++;
    }
    assert_int_equal(covered, 46);
    leati_resize_fini(&plan);
    json_decref(root);
}

static void test_recorded_plain(void **state) {
    (void)state;
    run_recorded(&leati_resize_plain);
}

static void test_recorded_fast(void **state) {
    (void)state;
    for (int i = 0; leati_resize_kernels_at(i) != &leati_resize_plain; i++)
        run_recorded(leati_resize_kernels_at(i));
}

/* ---- the fast path ---- */

static uint32_t next_random(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 32);
}

/* Pictures of random bytes and floats by the plain loops and by others, in one of several ways. */
static void resize_both(leati_resize_plan plans[2], const int32_t in[2], const int32_t out[2],
                        int32_t channels, const leati_resize_method method, int way,
                        uint64_t *random) {
    size_t row = (size_t)in[1] * (size_t)channels, count = row * (size_t)in[0];
    size_t out_count = (size_t)out[0] * (size_t)out[1] * (size_t)channels;
    /* Memory of exactly the size, for a sanitizer to see what reads or writes too far. */
    uint8_t *pixels = malloc(count);
    float *floats = malloc(count * sizeof(float));
    float *results[2] = {malloc(out_count * sizeof(float)), malloc(out_count * sizeof(float))};
    assert_true(pixels != NULL && floats != NULL && results[0] != NULL && results[1] != NULL);
    for (size_t i = 0; i < count; i++) {
        pixels[i] = (uint8_t)next_random(random);
        floats[i] = (float)(int32_t)next_random(random);
    }
    size_t stride = (size_t)out[1] * (size_t)channels * sizeof(float);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(leati_resize_prepare(&plans[i], in[0], in[1], out[0], out[1], channels,
                                              method, (way & 1) != 0, &(leat_error){0}),
                         LEAT_OK);
        leati_resize_mirror(&plans[i], (way & 2) != 0);
        if ((way & 4) != 0)
            leati_resize_f32(&plans[i], floats, row * sizeof(float), results[i], stride);
        else
            leati_resize_u8(&plans[i], pixels, row, results[i], stride);
    }
    if (memcmp(results[0], results[1], out_count * sizeof(float)) != 0)
        fail_msg("%s: %d x %d to %d x %d, %d channels, method %d, way %d", plans[1].kernels->name,
                 in[0], in[1], out[0], out[1], channels, (int)method, way);
    free(pixels);
    free(floats);
    free(results[0]);
    free(results[1]);
}

static void compare_paths(const leati_resize_kernels *kernels) {
    static const leati_resize_method methods[] = {LEATI_RESIZE_BILINEAR, LEATI_RESIZE_BICUBIC,
                                                  LEATI_RESIZE_AREA, LEATI_RESIZE_LANCZOS3};
    leati_resize_plan plans[2] = {{.kernels = &leati_resize_plain}, {.kernels = kernels}};
    uint64_t random = 11;
    for (int round = 0; round < 3000; round++) {
        int32_t in[2], out[2];
        for (int i = 0; i < 2; i++) {
            in[i] = 1 + (int32_t)(next_random(&random) % (round % 4 == 0 ? 300 : 40));
            out[i] = 1 + (int32_t)(next_random(&random) % 40);
        }
        resize_both(plans, in, out, 1 + (int32_t)(next_random(&random) % 5),
                    methods[round % 5 > 3 ? 0 : round % 5], (int)(next_random(&random) % 8),
                    &random);
    }
    leati_resize_fini(&plans[0]);
    leati_resize_fini(&plans[1]);
}

static void test_fast_equals_plain(void **state) {
    (void)state;
    for (int i = 0; leati_resize_kernels_at(i) != &leati_resize_plain; i++)
        compare_paths(leati_resize_kernels_at(i));
    assert_null(leati_resize_kernels_at(100));
}

/* Mirrored results are those of the plain way, from right to left. */
static void check_mirrored(leati_resize_method method, bool antialias) {
    const uint8_t in[2][9] = {{0, 1, 2, 100, 101, 102, 7, 8, 9},
                              {200, 201, 202, 50, 51, 52, 90, 80, 70}};
    float plain[3][5][3], mirrored[3][5][3];
    leati_resize_plan plan = {0};
    for (int mirror = 0; mirror < 3; mirror++) {
        float *out = mirror == 0 ? plain[0][0] : mirrored[0][0];
        assert_int_equal(
            leati_resize_prepare(&plan, 2, 3, 3, 5, 3, method, antialias, &(leat_error){0}),
            LEAT_OK);
        leati_resize_mirror(&plan, mirror == 1);
        leati_resize_u8(&plan, in[0], sizeof in[0], out, sizeof plain[0]);
        for (int i = 0; i < 15 && mirror > 0; i++)
            assert_memory_equal(mirrored[i / 5][i % 5],
                                plain[i / 5][mirror == 1 ? 4 - i % 5 : i % 5], sizeof plain[0][0]);
    }
    leati_resize_fini(&plan);
}

/* Results that are written past the caches, from any address on, and nothing beside them. */
static void test_far(void **state) {
    (void)state;
    enum {
        IN_SIDE = 50,
        HEIGHT = 640,
        WIDTH = 601,
        LINE = WIDTH * 3 + 5,
        ALL = HEIGHT * LINE + 64
    };
    static uint8_t in[IN_SIDE * IN_SIDE * 3];
    float *out[2] = {malloc(ALL * sizeof(float)), malloc(ALL * sizeof(float))};
    assert_true(out[0] != NULL && out[1] != NULL);
    assert_true(leati_resize_is_far((size_t)HEIGHT * WIDTH * 3 * sizeof(float)));
    for (size_t i = 0; i < sizeof in; i++)
        in[i] = (uint8_t)(i * 37 + i / 11);
    for (int k = 0; leati_resize_kernels_at(k) != &leati_resize_plain; k++) {
        leati_resize_plan plans[2] = {{.kernels = &leati_resize_plain},
                                      {.kernels = leati_resize_kernels_at(k)}};
        for (int p = 0; p < 2; p++) {
            memset(out[p], 0x5A, ALL * sizeof(float));
            assert_int_equal(leati_resize_prepare(&plans[p], IN_SIDE, IN_SIDE, HEIGHT, WIDTH, 3,
                                                  LEATI_RESIZE_BILINEAR, false, &(leat_error){0}),
                             LEAT_OK);
            leati_resize_u8(&plans[p], in, IN_SIDE * 3, out[p] + 3 + k, LINE * sizeof(float));
            leati_resize_fini(&plans[p]);
        }
        assert_memory_equal(out[0], out[1], ALL * sizeof(float));
    }
    free(out[0]);
    free(out[1]);
}

static void test_mirrored(void **state) {
    (void)state;
    check_mirrored(LEATI_RESIZE_BILINEAR, false);
    check_mirrored(LEATI_RESIZE_BILINEAR, true);
    check_mirrored(LEATI_RESIZE_BICUBIC, false);
    check_mirrored(LEATI_RESIZE_AREA, false);
}

/* ---- contracts ---- */

static void test_strides(void **state) {
    (void)state;
    const uint8_t in[2][4] = {{0, 100, 77, 77}, {200, 100, 77, 77}};
    float out[3][4];
    for (int i = 0; i < 12; i++)
        out[i / 4][i % 4] = -1;
    leati_resize_plan plan = {0};
    assert_int_equal(
        leati_resize_prepare(&plan, 2, 2, 3, 1, 1, LEATI_RESIZE_BILINEAR, false, &(leat_error){0}),
        LEAT_OK);
    leati_resize_u8(&plan, in[0], 4, out[0], sizeof out[0]);
    leati_resize_fini(&plan);
    const float want[3] = {50, 100, 150};
    for (int y = 0; y < 3; y++) {
        assert_true(out[y][0] == want[y]);
        assert_true(out[y][1] == -1 && out[y][3] == -1);
    }
}

static void test_bad_sizes(void **state) {
    (void)state;
    static const int32_t sizes[][5] = {
        {2, 2, 0, 2, 1}, {2, 2, 2, -1, 1},      {0, 2, 2, 2, 1},       {2, 0, 2, 2, 1},
        {2, 2, 2, 2, 0}, {2, 2, 2, 1 << 30, 3}, {2, 1 << 30, 2, 2, 3},
    };
    leati_resize_plan plan = {0};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const int32_t *s = sizes[i];
        leat_error err = {0};
        assert_int_equal(leati_resize_prepare(&plan, s[0], s[1], s[2], s[3], s[4],
                                              LEATI_RESIZE_BILINEAR, false, &err),
                         LEAT_INVALID_ARGUMENT);
        assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_SHAPE, "width");
    }
    leati_resize_fini(&plan);
}

static leat_status prepare_three(void *context, leat_error *err) {
    (void)context;
    leati_resize_plan plan = {0};
    leat_status status =
        leati_resize_prepare(&plan, 9, 9, 4, 4, 3, LEATI_RESIZE_BILINEAR, false, err);
    if (status == LEAT_OK)
        status = leati_resize_prepare(&plan, 40, 30, 8, 90, 3, LEATI_RESIZE_BILINEAR, true, err);
    if (status == LEAT_OK) /* smaller: nothing grows */
        status = leati_resize_prepare(&plan, 20, 20, 8, 40, 3, LEATI_RESIZE_BILINEAR, true, err);
    leati_resize_fini(&plan);
    return status;
}

static void test_every_allocation_failing(void **state) {
    (void)state;
    torture_run(prepare_three, NULL);
}

/* A failed growth leaves a plan that can be prepared again. */
static void test_use_after_failure(void **state) {
    (void)state;
    leati_resize_plan plan = {0};
    const float in[2] = {1, 3};
    float out[4];
    assert_int_equal(
        leati_resize_prepare(&plan, 1, 2, 1, 2, 1, LEATI_RESIZE_BILINEAR, false, &(leat_error){0}),
        LEAT_OK);
    torture_fail_at(1);
    assert_int_equal(leati_resize_prepare(&plan, 1, 2, 1, 400, 1, LEATI_RESIZE_BILINEAR, false,
                                          &(leat_error){0}),
                     LEAT_RESOURCE_EXHAUSTED);
    torture_fail_at(0);
    assert_int_equal(
        leati_resize_prepare(&plan, 1, 2, 1, 4, 1, LEATI_RESIZE_BILINEAR, false, &(leat_error){0}),
        LEAT_OK);
    leati_resize_f32(&plan, in, sizeof in, out, sizeof out);
    assert_true(out[0] == 1 && out[1] == 1.5F && out[2] == 2.5F && out[3] == 3);
    leati_resize_fini(&plan);
}

int main(void) {
#define COUNTED(test) cmocka_unit_test_setup_teardown(test, torture_setup, torture_teardown)
    const struct CMUnitTest tests[] = {
        COUNTED(test_recorded_plain),
        COUNTED(test_recorded_fast),
        COUNTED(test_fast_equals_plain),
        COUNTED(test_strides),
        COUNTED(test_bad_sizes),
        COUNTED(test_every_allocation_failing),
        COUNTED(test_use_after_failure),
        COUNTED(test_mirrored),
        COUNTED(test_far),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
