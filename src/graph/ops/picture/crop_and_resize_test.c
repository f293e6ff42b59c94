/* Crops against samples taken one by one, of boxes inside, outside and turned over; the same bits
 * on each instruction set and number of threads. */
#include "support/cmocka.h"

#include "support/graph.h"
#include "support/kernels.h"

#include <stdio.h>

typedef struct crop_case {
    leat_shape pictures;
    int64_t boxes, height, width;
} crop_case;

static const crop_case cases[] = {
    {LEAT_SHAPE(1, 1, 1, 1), 2, 1, 1},       {LEAT_SHAPE(2, 5, 7, 3), 9, 4, 6},
    {LEAT_SHAPE(3, 33, 20, 1), 7, 1, 9},     {LEAT_SHAPE(2, 16, 16, 5), 40, 31, 29},
    {LEAT_SHAPE(1, 60, 50, 3), 6, 200, 101},
};

/* Where a sample lies; not within the picture: negative. */
static float place_of(float low, float high, int64_t size, int64_t samples, int64_t i) {
    float last = (float)(size - 1);
    float at = samples > 1 ? low * last + (float)i * ((high - low) * last / (float)(samples - 1))
                           : 0.5F * (low + high) * last;
    return at >= 0 && at <= last ? at : -1;
}

static float pixel(const leat_tensor *x, int64_t picture, int64_t y, int64_t column, int64_t c) {
    return ((const float *)
                x->data)[((picture * x->dims[1] + y) * x->dims[2] + column) * x->dims[3] + c];
}

static float sample(const leat_tensor *x, int64_t picture, float y, float column, int64_t c,
                    bool nearest) {
    if (y < 0 || column < 0)
        return -7;
    if (nearest)
        return pixel(x, picture, (int64_t)roundf(y), (int64_t)roundf(column), c);
    int64_t top = (int64_t)floorf(y), bottom = (int64_t)ceilf(y);
    int64_t left = (int64_t)floorf(column), right = (int64_t)ceilf(column);
    float part = column - floorf(column), above = pixel(x, picture, top, left, c);
    float below = pixel(x, picture, bottom, left, c);
    above += (pixel(x, picture, top, right, c) - above) * part;
    below += (pixel(x, picture, bottom, right, c) - below) * part;
    return above + (below - above) * (y - floorf(y));
}

static void check(const crop_case *k, bool nearest) {
    char attributes[120];
    leat_error err = {0};
    leat_tensor in[3], out;
    assert_int_equal(leat_tensor_new(LEAT_FLOAT32, k->pictures, &in[0], &err), LEAT_OK);
    assert_int_equal(leat_tensor_new(LEAT_FLOAT32, LEAT_SHAPE(k->boxes, 4), &in[1], &err), LEAT_OK);
    assert_int_equal(leat_tensor_new(LEAT_INT32, LEAT_SHAPE(k->boxes), &in[2], &err), LEAT_OK);
    for (int64_t i = 0; i < leat_tensor_count(&in[0]); i++)
        test_set_value(&in[0], i, kernels_draw());
    for (int64_t i = 0; i < 4 * k->boxes; i++)
        test_set_value(&in[1], i, 0.5 + kernels_draw() / 12);
    for (int64_t i = 0; i < k->boxes; i++)
        ((int32_t *)in[2].data)[i] = (int32_t)(kernels_bits() % (uint64_t)k->pictures.dims[0]);
    sprintf(attributes,
            "{\"crop_size\": [%d, %d], \"method\": \"%s\", \"extrapolation_value\": -7.0}",
            (int)k->height, (int)k->width, nearest ? "nearest" : "bilinear");
    kernels_case of = {"crop_and_resize", attributes, 3};
    kernels_run_everywhere(&of, in, &out);
    for (int64_t i = 0, n = k->pictures.dims[3]; i < leat_tensor_count(&out); i++) {
        int64_t box = i / n / k->width / k->height;
        const float *b = (const float *)in[1].data + 4 * box;
        float y =
            place_of(b[0], b[2], k->pictures.dims[1], k->height, i / n / k->width % k->height);
        float x = place_of(b[1], b[3], k->pictures.dims[2], k->width, i / n % k->width);
        float wanted = sample(&in[0], ((const int32_t *)in[2].data)[box], y, x, i % n, nearest);
        if (((const float *)out.data)[i] != wanted)
            fail_msg("box %lld, value %lld: %.9g, not %.9g", (long long)box, (long long)i,
                     (double)((const float *)out.data)[i], (double)wanted);
    }
    leat_tensor_unref(&out);
    for (int i = 0; i < 3; i++)
        leat_tensor_unref(&in[i]);
}

static void test_crops(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (int nearest = 0; nearest < 2; nearest++)
            check(&cases[k], nearest);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_crops)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
