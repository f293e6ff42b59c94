/* Pools and their gradients against windows taken one by one, of odd sizes, strides and numbers of
 * channels; the same bits on each instruction set and number of threads. */
#include "support/cmocka.h"

#include "support/graph.h"
#include "support/kernels.h"

#include <stdio.h>

typedef struct pool_case {
    leat_shape x;
    int ksize[2], strides[2];
    bool same;
} pool_case;

static const pool_case cases[] = {
    {LEAT_SHAPE(1, 1, 1, 1), {1, 1}, {1, 1}, false},
    {LEAT_SHAPE(2, 7, 5, 3), {2, 2}, {2, 2}, false},
    {LEAT_SHAPE(2, 7, 5, 3), {3, 2}, {1, 1}, true},
    {LEAT_SHAPE(3, 9, 11, 1), {3, 3}, {2, 3}, true},
    {LEAT_SHAPE(1, 6, 6, 17), {5, 5}, {1, 1}, true},
    {LEAT_SHAPE(1, 2, 3, 9), {4, 5}, {1, 2}, true},
    {LEAT_SHAPE(2, 40, 41, 16), {2, 2}, {2, 2}, true},
    {LEAT_SHAPE(2, 12, 15, 5), {4, 3}, {4, 3}, false},
    {LEAT_SHAPE(5, 64, 64, 16), {2, 2}, {2, 2}, false},
    {LEAT_SHAPE(1, 1, 70001, 4), {1, 3}, {1, 2}, false},
    {LEAT_SHAPE(4, 67, 33, 20), {3, 3}, {1, 1}, true},
    {LEAT_SHAPE(2, 64, 64, 8), {64, 64}, {1, 1}, false},
    {LEAT_SHAPE(0, 4, 4, 2), {2, 2}, {1, 1}, false},
};

/* One direction of a case: sizes, and how much lies before the first pixel. */
typedef struct axis {
    int64_t in, out, kernel, stride, before;
} axis;

static axis axis_of(const pool_case *c, int d) {
    axis a = {.in = c->x.dims[d + 1], .kernel = c->ksize[d], .stride = c->strides[d]};
    a.out = c->same ? (a.in + a.stride - 1) / a.stride : (a.in - a.kernel) / a.stride + 1;
    int64_t padding = (a.out - 1) * a.stride + a.kernel - a.in;
    a.before = c->same && padding > 0 ? padding / 2 : 0;
    return a;
}

static leat_shape result_of(const pool_case *c) {
    return LEAT_SHAPE(c->x.dims[0], axis_of(c, 0).out, axis_of(c, 1).out, c->x.dims[3]);
}

/* Calls `visit` for each pixel of the window of a result, row by row. */
typedef void visit(void *context, int64_t pixel);
static int64_t walk(const pool_case *c, int64_t result, visit *each, void *context) {
    axis y = axis_of(c, 0), x = axis_of(c, 1);
    int64_t n = c->x.dims[3], count = 0, picture = result / n / x.out / y.out;
    for (int64_t k = 0; k < y.kernel * x.kernel; k++) {
        int64_t iy = result / n / x.out % y.out * y.stride - y.before + k / x.kernel;
        int64_t ix = result / n % x.out * x.stride - x.before + k % x.kernel;
        if (iy < 0 || iy >= y.in || ix < 0 || ix >= x.in)
            continue;
        count++;
        if (each != NULL)
            each(context, ((picture * y.in + iy) * x.in + ix) * n + result % n);
    }
    return count;
}

typedef struct search {
    const leat_tensor *x;
    int64_t best;
    double sum;
} search;

/* A NaN is passed over, but as the first. */
static void find(void *context, int64_t pixel) {
    search *s = context;
    if (s->best < 0 || test_value(s->x, pixel) > test_value(s->x, s->best))
        s->best = pixel;
}

static void add_up(void *context, int64_t pixel) {
    search *s = context;
    s->sum += test_value(s->x, pixel);
    if (s->x->dtype == LEAT_FLOAT32)
        s->sum = (double)(float)s->sum;
}

typedef struct spread {
    double *to;
    double share;
    bool narrow;
} spread;

static void add_share(void *context, int64_t pixel) {
    const spread *s = context;
    s->to[pixel] += s->share;
    if (s->narrow)
        s->to[pixel] = (double)(float)s->to[pixel];
}

static leat_tensor drawn(leat_dtype dtype, leat_shape shape, bool nans) {
    leat_tensor tensor;
    leat_error err = {0};
    assert_int_equal(leat_tensor_new(dtype, shape, &tensor, &err), LEAT_OK);
    for (int64_t i = 0; i < leat_tensor_count(&tensor); i++)
        test_set_value(&tensor, i,
                       nans && kernels_bits() % 50 == 0 ? (double)NAN : floor(kernels_draw() * 8));
    return tensor;
}

static void want(const pool_case *c, const char *what, int64_t i, double found, double wanted) {
    if (found != wanted && !(isnan(found) && isnan(wanted)))
        fail_msg("%s of %lld x %lld x %lld: value %lld is %.9g, not %.9g", what,
                 (long long)c->x.dims[1], (long long)c->x.dims[2], (long long)c->x.dims[3],
                 (long long)i, found, wanted);
}

static const char *attributes_of(const pool_case *c, char *to) {
    sprintf(to, "{\"ksize\": [%d, %d], \"strides\": [%d, %d], \"padding\": \"%s\"}", c->ksize[0],
            c->ksize[1], c->strides[0], c->strides[1], c->same ? "SAME" : "VALID");
    return to;
}

static void check_forward(const pool_case *c, leat_dtype dtype) {
    char attributes[100];
    leat_tensor x = drawn(dtype, c->x, true), out;
    for (int mean = 0; mean < 2; mean++) {
        kernels_case of = {mean ? "avg_pool2d" : "max_pool2d", attributes_of(c, attributes), 1};
        kernels_run_everywhere(&of, &x, &out);
        for (int64_t i = 0; i < leat_tensor_count(&out); i++) {
            search s = {.x = &x, .best = -1};
            int64_t count = walk(c, i, mean ? add_up : find, &s);
            double wanted = mean ? s.sum / (double)count : test_value(&x, s.best);
            want(c, of.operation, i, test_value(&out, i),
                 dtype == LEAT_FLOAT32 ? (double)(float)wanted : wanted);
        }
        leat_tensor_unref(&out);
    }
    leat_tensor_unref(&x);
}

static double gradient_at(const leat_tensor *g, int64_t i, int64_t count) {
    double share = test_value(g, i) / (double)count;
    return g->dtype == LEAT_FLOAT32 ? (double)(float)share : share;
}

static void check_backward(const pool_case *c, leat_dtype dtype, bool mean) {
    char attributes[100];
    leat_tensor x = drawn(dtype, c->x, false), g = drawn(dtype, result_of(c), false), out;
    leat_tensor inputs[3] = {x, g, g};
    int64_t count = leat_tensor_count(&x);
    double *wanted = calloc((size_t)count + 1, sizeof *wanted);
    kernels_case of = {mean ? "avg_pool2d_grad" : "max_pool2d_grad", attributes_of(c, attributes),
                       mean ? 2 : 3};
    kernels_run_everywhere(&of, inputs, &out);
    for (int64_t i = 0; i < leat_tensor_count(&g); i++) {
        search s = {.x = &x, .best = -1};
        spread to = {.to = wanted, .narrow = dtype == LEAT_FLOAT32};
        to.share = gradient_at(&g, i, mean ? walk(c, i, NULL, NULL) : 1);
        (void)walk(c, i, mean ? add_share : find, mean ? (void *)&to : (void *)&s);
        if (!mean)
            add_share(&to, s.best);
    }
    for (int64_t i = 0; i < count; i++)
        want(c, of.operation, i, test_value(&out, i), wanted[i]);
    free(wanted);
    leat_tensor_unref(&out);
    leat_tensor_unref(&g);
    leat_tensor_unref(&x);
}

static void test_floats(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (int wide = 0; wide < 2; wide++) {
            leat_dtype dtype = wide ? LEAT_FLOAT64 : LEAT_FLOAT32;
            check_forward(&cases[k], dtype);
            check_backward(&cases[k], dtype, false);
            check_backward(&cases[k], dtype, true);
        }
}

static double integer_at(const leat_tensor *t, int64_t i) {
    switch (t->dtype) {
    case LEAT_INT8: return ((const int8_t *)t->data)[i];
    case LEAT_UINT8: return ((const uint8_t *)t->data)[i];
    case LEAT_INT16: return ((const int16_t *)t->data)[i];
    case LEAT_UINT16: return ((const uint16_t *)t->data)[i];
    case LEAT_INT32: return ((const int32_t *)t->data)[i];
    default: return (double)((const int64_t *)t->data)[i];
    }
}

typedef struct most {
    const leat_tensor *x;
    double value;
} most;

static void raise_most(void *context, int64_t pixel) {
    most *m = context;
    m->value = fmax(m->value, integer_at(m->x, pixel));
}

static void test_integers(void **state) {
    (void)state;
    static const leat_dtype dtypes[] = {LEAT_INT8,   LEAT_UINT8, LEAT_INT16,
                                        LEAT_UINT16, LEAT_INT32, LEAT_INT64};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
            char attributes[100];
            leat_error err = {0};
            leat_tensor x, out;
            assert_int_equal(leat_tensor_new(dtypes[d], cases[k].x, &x, &err), LEAT_OK);
            kernels_fill_bytes(&x);
            kernels_case of = {"max_pool2d", attributes_of(&cases[k], attributes), 1};
            kernels_run_everywhere(&of, &x, &out);
            for (int64_t i = 0; i < leat_tensor_count(&out); i++) {
                most m = {.x = &x, .value = -INFINITY};
                (void)walk(&cases[k], i, raise_most, &m);
                want(&cases[k], leat_dtype_name(dtypes[d]), i, integer_at(&out, i), m.value);
            }
            leat_tensor_unref(&out);
            leat_tensor_unref(&x);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_floats),
                                       cmocka_unit_test(test_integers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
