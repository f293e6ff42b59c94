/* Patches against pixels taken one by one, and their gradients against sums; the same bits on each
 * number of threads. */
#include "support/cmocka.h"

#include "support/graph.h"
#include "support/kernels.h"

#include <stdio.h>

typedef struct patch_case {
    leat_shape x;
    int sizes[2], strides[2], rates[2];
    bool same;
} patch_case;

static const patch_case cases[] = {
    {LEAT_SHAPE(1, 1, 1, 1), {1, 1}, {1, 1}, {1, 1}, false},
    {LEAT_SHAPE(2, 7, 9, 3), {3, 2}, {2, 1}, {1, 1}, true},
    {LEAT_SHAPE(2, 7, 9, 2), {3, 4}, {1, 1}, {2, 3}, true},
    {LEAT_SHAPE(1, 9, 9, 1), {3, 3}, {3, 3}, {1, 1}, false},
    {LEAT_SHAPE(3, 40, 41, 5), {3, 3}, {1, 1}, {1, 1}, true},
    {LEAT_SHAPE(1, 2, 3, 1), {7, 7}, {1, 1}, {1, 1}, true},
    {LEAT_SHAPE(0, 5, 5, 1), {2, 2}, {1, 1}, {1, 1}, false},
};

/* Where pixel k of a window of output i lies; -1: outside. */
static int64_t place_of(const patch_case *c, int d, int64_t i, int64_t k) {
    int64_t in = c->x.dims[d + 1], reach = (c->sizes[d] - 1) * c->rates[d] + 1;
    int64_t out = (in + c->strides[d] - 1) / c->strides[d];
    int64_t padding = (out - 1) * c->strides[d] + reach - in;
    int64_t at = i * c->strides[d] - (c->same && padding > 0 ? padding / 2 : 0) + k * c->rates[d];
    return at >= 0 && at < in ? at : -1;
}

/* The number of the pixel's value that value `i` of the patches is; -1: outside. */
static int64_t source_of(const patch_case *c, const leat_shape *out, int64_t i) {
    int64_t n = c->x.dims[3], place = i % out->dims[3], window = i / out->dims[3];
    int64_t column = window % out->dims[2], row = window / out->dims[2] % out->dims[1];
    int64_t picture = window / out->dims[2] / out->dims[1];
    int64_t y = place_of(c, 0, row, place / n / c->sizes[1]);
    int64_t x = place_of(c, 1, column, place / n % c->sizes[1]);
    return y < 0 || x < 0 ? -1 : ((picture * c->x.dims[1] + y) * c->x.dims[2] + x) * n + place % n;
}

static void test_patches(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char attributes[160];
        const patch_case *c = &cases[k];
        leat_error err = {0};
        leat_tensor x, out, gradient;
        assert_int_equal(leat_tensor_new(LEAT_FLOAT32, c->x, &x, &err), LEAT_OK);
        for (int64_t i = 0; i < leat_tensor_count(&x); i++)
            test_set_value(&x, i, floor(kernels_draw() * 64));
        sprintf(attributes,
                "{\"sizes\": [1, %d, %d, 1], \"strides\": [1, %d, %d, 1], \"rates\": [1, %d, %d, "
                "1], \"padding\": \"%s\"}",
                c->sizes[0], c->sizes[1], c->strides[0], c->strides[1], c->rates[0], c->rates[1],
                c->same ? "SAME" : "VALID");
        kernels_case of = {"extract_patches", attributes, 1};
        kernels_case back = {"extract_patches_grad", attributes, 2};
        kernels_run_everywhere(&of, &x, &out);
        leat_tensor inputs[2] = {out, x};
        kernels_run_everywhere(&back, inputs, &gradient);
        leat_shape shape = leat_tensor_shape(&out);
        double *sums = calloc((size_t)leat_tensor_count(&x) + 1, sizeof *sums);
        for (int64_t i = 0; i < leat_tensor_count(&out); i++) {
            int64_t from = source_of(c, &shape, i);
            double wanted = from < 0 ? 0 : test_value(&x, from);
            if (test_value(&out, i) != wanted)
                fail_msg("case %d, value %lld: %g, not %g", (int)k, (long long)i,
                         test_value(&out, i), wanted);
            if (from >= 0)
                sums[from] += wanted;
        }
        for (int64_t i = 0; i < leat_tensor_count(&x); i++)
            if (test_value(&gradient, i) != sums[i])
                fail_msg("case %d, gradient %lld: %g, not %g", (int)k, (long long)i,
                         test_value(&gradient, i), sums[i]);
        free(sums);
        leat_tensor_unref(&gradient);
        leat_tensor_unref(&out);
        leat_tensor_unref(&x);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_patches)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
