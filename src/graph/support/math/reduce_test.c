/* Reductions against a walk over all values, in double, one after the other: every kind, dtype and
 * pattern of axes, at sizes around those of vectors, lanes, runs and pieces; the same bits on each
 * instruction set and number of threads. */
#include "support/cmocka.h"

#include "base/isa.h"
#include "run/crew.h"
#include "support/graph.h"
#include "support/kernels.h"

#include <stdio.h>

enum { SUM, MEAN, MAX, MIN, PROD, NUM_KINDS };
static const char *const names[NUM_KINDS] = {"reduce_sum", "reduce_mean", "reduce_max",
                                             "reduce_min", "reduce_prod"};

/* A shape and which of its dimensions are reduced. */
typedef struct pattern {
    leat_shape shape;
    unsigned axes; /* bits */
} pattern;

#define P(AXES, ...)                                                                               \
    { LEAT_SHAPE(__VA_ARGS__), AXES }
static const pattern patterns[] = {
    P(1, 0),
    P(2, 3, 0),
    P(1, 0, 3),
    P(0, 5, 7),
    P(1, 1),
    P(1, 7),
    P(1, 33),
    P(1, 1024),
    P(1, 2050),
    P(1, 70001),
    P(1, 200003),
    P(2, 300, 1),
    P(2, 9, 67),
    P(2, 5000, 7),
    P(2, 90000, 2),
    P(2, 3, 70001),
    P(2, 40, 2500),
    P(1, 9, 67),
    P(1, 70001, 3),
    P(1, 3, 70001),
    P(1, 2100, 70),
    P(1, 300, 300),
    P(1, 40000, 17),
    P(2, 20000, 3, 2),
    P(5, 2000, 4, 9),
    P(2, 3, 4, 20000),
    P(5, 3, 2, 40000),
    P(2, 5, 100, 200),
    P(1, 2, 3, 5, 7),
    P(10, 30, 9, 7, 60),
    P(5, 60, 5, 40, 6),
    P(21, 3, 4, 50, 3, 70),
    P(10, 3, 4, 50, 3, 70),
};

static char attributes_room[200];
static const char *attributes_of(const pattern *p, bool keepdims) {
    char *to = attributes_room;
    to += sprintf(to, "{\"axis\": [");
    for (int32_t d = 0, any = 0; d < p->shape.rank; d++)
        if (p->axes >> d & 1)
            to += sprintf(to, "%s%d", any++ ? ", " : "", d);
    sprintf(to, "], \"keepdims\": %s}", keepdims ? "true" : "false");
    return attributes_room;
}

/* Where value `i` is summed up. */
static int64_t place_of(const pattern *p, int64_t i) {
    int64_t place = 0, step = 1;
    for (int32_t d = p->shape.rank - 1; d >= 0; d--) {
        bool reduced = p->axes >> d & 1;
        place += reduced ? 0 : i % p->shape.dims[d] * step;
        step *= reduced ? 1 : p->shape.dims[d];
        i /= p->shape.dims[d];
    }
    return place;
}

static double joined(int kind, double a, double v) {
    switch (kind) {
    case MAX: return v > a || isnan(v) ? v : a;
    case MIN: return v < a || isnan(v) ? v : a;
    case PROD: return a * v;
    default: return a + v;
    }
}

/* Rounded to a float32, or within the errors of sums in another order. */
static bool close_to(leat_dtype dtype, double found, double wanted, double sizes) {
    if (isnan(wanted) || isinf(wanted) || wanted == found)
        return isnan(wanted) ? isnan(found) : found == wanted;
    double unit = dtype == LEAT_FLOAT32 ? 0x1p-24 : 0x1p-53;
    return fabs(found - wanted) <= 1.01 * unit * fabs(wanted) + 64 * 0x1p-53 * sizes;
}

static void check_values(const pattern *p, int kind, const leat_tensor *in,
                         const leat_tensor *out) {
    static const double firsts[NUM_KINDS] = {0, 0, -INFINITY, INFINITY, 1};
    int64_t count = leat_tensor_count(in), results = leat_tensor_count(out);
    double *wanted = malloc((size_t)results * sizeof(double) + 1);
    double *sizes = calloc((size_t)results + 1, sizeof(double));
    for (int64_t i = 0; i < results; i++)
        wanted[i] = firsts[kind];
    for (int64_t i = 0; i < count; i++) {
        int64_t at = place_of(p, i);
        double v = test_value(in, i);
        wanted[at] = joined(kind, wanted[at], v);
        sizes[at] += kind <= MEAN ? fabs(v) : 0;
    }
    for (int64_t i = 0; i < results; i++) {
        double each = kind == MEAN ? (double)count / (double)results : 1;
        double value = kind == MEAN ? wanted[i] / each : wanted[i];
        double size = kind == PROD ? fabs(value) * 64 : sizes[i] / each;
        if (kind == MEAN && count == 0)
            value = NAN;
        if (!close_to(in->dtype, test_value(out, i), value, size))
            fail_msg("%s %s: result %lld is %.17g, not %.17g", names[kind], attributes_room,
                     (long long)i, test_value(out, i), value);
    }
    free(wanted);
    free(sizes);
}

/* Factors of a product stay near 1, as it would overflow or vanish. */
static void fill_for(leat_tensor *tensor, int kind, bool special) {
    for (int64_t i = 0, n = leat_tensor_count(tensor); i < n; i++)
        test_set_value(tensor, i, kind == PROD ? 1 + kernels_draw() / 100000 : kernels_draw());
    if (special && leat_tensor_count(tensor) > 5) {
        test_set_value(tensor, leat_tensor_count(tensor) / 3, (double)NAN);
        test_set_value(tensor, leat_tensor_count(tensor) - 1, -INFINITY);
        test_set_value(tensor, 2, INFINITY);
    }
}

static void test_floats(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof patterns / sizeof *patterns; k++)
        for (int kind = 0; kind < NUM_KINDS; kind++)
            for (int how = 0; how < 3; how++) {
                leat_dtype dtype = how < 2 ? LEAT_FLOAT32 : LEAT_FLOAT64;
                leat_error err = {0};
                leat_tensor in, out;
                assert_int_equal(leat_tensor_new(dtype, patterns[k].shape, &in, &err), LEAT_OK);
                fill_for(&in, kind, how == 1);
                kernels_case of = {names[kind], attributes_of(&patterns[k], how == 2), 1};
                kernels_run_everywhere(&of, &in, &out);
                check_values(&patterns[k], kind, &in, &out);
                leat_tensor_unref(&out);
                leat_tensor_unref(&in);
            }
}

/* ---- integers and halves: as C does it ---- */
static void test_others(void **state) {
    (void)state;
    static const leat_dtype dtypes[] = {LEAT_INT8,    LEAT_INT16,   LEAT_INT32,  LEAT_INT64,
                                        LEAT_UINT8,   LEAT_UINT16,  LEAT_UINT32, LEAT_UINT64,
                                        LEAT_FLOAT16, LEAT_BFLOAT16};
    for (size_t k = 0; k < sizeof patterns / sizeof *patterns; k++)
        for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
            for (int kind = 0; kind < NUM_KINDS; kind++) {
                leat_error err = {0};
                leat_tensor in, out;
                if (leati_shape_count(&patterns[k].shape) > 10000 && (k + d + (size_t)kind) % 4 > 0)
                    continue;
                assert_int_equal(leat_tensor_new(dtypes[d], patterns[k].shape, &in, &err), LEAT_OK);
                kernels_fill_bytes(&in);
                kernels_case of = {names[kind], attributes_of(&patterns[k], false), 1};
                kernels_run_everywhere(&of, &in, &out);
                if (dtypes[d] == LEAT_INT32 && kind != MEAN) {
                    uint32_t wanted = kind == MAX   ? (uint32_t)INT32_MIN
                                      : kind == MIN ? (uint32_t)INT32_MAX
                                                    : (uint32_t)(kind == PROD);
                    for (int64_t i = 0, n = leat_tensor_count(&in); i < n; i++) {
                        int32_t v = ((const int32_t *)in.data)[i], a = (int32_t)wanted;
                        if (place_of(&patterns[k], i) == 0)
                            wanted = kind == MAX   ? (uint32_t)(v > a ? v : a)
                                     : kind == MIN ? (uint32_t)(v < a ? v : a)
                                     : kind == SUM ? wanted + (uint32_t)v
                                                   : wanted * (uint32_t)v;
                    }
                    if (leat_tensor_count(&out) > 0)
                        assert_int_equal(((const uint32_t *)out.data)[0], wanted);
                }
                leat_tensor_unref(&out);
                leat_tensor_unref(&in);
            }
}

static void test_booleans(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof patterns / sizeof *patterns; k++)
        for (int any = 0; any < 2; any++) {
            leat_error err = {0};
            leat_tensor in, out;
            assert_int_equal(leat_tensor_new(LEAT_BOOL, patterns[k].shape, &in, &err), LEAT_OK);
            int64_t n = leat_tensor_count(&in);
            bool *values = in.data;
            for (int64_t i = 0; i < n; i++)
                values[i] = !any;
            /* The one that differs decides its result. */
            int64_t at = n > 0 ? 7 * n / 9 : 0;
            if (n > 0)
                values[at] = any;
            kernels_case of = {any ? "reduce_any" : "reduce_all",
                               attributes_of(&patterns[k], false), 1};
            kernels_run_everywhere(&of, &in, &out);
            for (int64_t i = 0; i < leat_tensor_count(&out); i++) {
                bool differs = n > 0 && i == place_of(&patterns[k], at);
                assert_int_equal(((const bool *)out.data)[i], differs ? any : !any);
            }
            leat_tensor_unref(&out);
            leat_tensor_unref(&in);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_floats),
        cmocka_unit_test(test_others),
        cmocka_unit_test(test_booleans),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
