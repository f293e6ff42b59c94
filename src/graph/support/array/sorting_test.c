/* Lines in order by digits against a merge sort that compares: every dtype, both directions,
 * lengths around those where the way changes, and patterns that have a way of their own; in every
 * bit, so that zeros below zero and NaNs are seen to keep their order. The largest of a line
 * against the first of the whole one. Then sort, argsort and top_k along every axis. */
#include "support/cmocka.h"

#include "base/minmax.h"
#include "core/half.h"
#include "graph/support/array/sorting.h"
#include "support/graph.h"
#include "support/refused.h"

#include <stdio.h>

enum { MOST = 100000, SPACE = MOST * 8 };

static const leat_dtype dtypes[] = {LEAT_UINT8,   LEAT_INT8,     LEAT_UINT16,  LEAT_INT16,
                                    LEAT_UINT32,  LEAT_INT32,    LEAT_UINT64,  LEAT_INT64,
                                    LEAT_FLOAT16, LEAT_BFLOAT16, LEAT_FLOAT32, LEAT_FLOAT64};
enum { NUM_DTYPES = sizeof dtypes / sizeof *dtypes };

static uint64_t random_state = 20;

static uint64_t draw(void) {
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return random_state ^ random_state >> 29;
}

/* ---- the oracle: a merge sort of places ---- */

/* Is value i before value j, going up? NaNs are behind all others. */
static bool before(leat_dtype dtype, const void *line, int64_t i, int64_t j) {
#define COMPARE(DTYPE, TYPE)                                                                       \
    case DTYPE:                                                                                    \
        return ((const TYPE *)line)[i] < ((const TYPE *)line)[j]
#define COMPARE_FLOAT(DTYPE, TYPE, LOAD)                                                           \
    case DTYPE: {                                                                                  \
        double a = (double)LOAD(((const TYPE *)line)[i]);                                          \
        double b = (double)LOAD(((const TYPE *)line)[j]);                                          \
        return a < b || (isnan(b) && !isnan(a));                                                   \
    }
    switch (dtype) {
        COMPARE(LEAT_UINT8, uint8_t);
        COMPARE(LEAT_INT8, int8_t);
        COMPARE(LEAT_UINT16, uint16_t);
        COMPARE(LEAT_INT16, int16_t);
        COMPARE(LEAT_UINT32, uint32_t);
        COMPARE(LEAT_INT32, int32_t);
        COMPARE(LEAT_UINT64, uint64_t);
        COMPARE(LEAT_INT64, int64_t);
        COMPARE_FLOAT(LEAT_FLOAT16, uint16_t, leati_float_of_half)
        COMPARE_FLOAT(LEAT_BFLOAT16, uint16_t, leati_float_of_bfloat16)
        COMPARE_FLOAT(LEAT_FLOAT32, float, )
        COMPARE_FLOAT(LEAT_FLOAT64, double, )
    default: abort();
    }
}

static void merge_sort(leat_dtype dtype, const void *line, int64_t n, bool descending,
                       int64_t *places, int64_t *scratch) {
    for (int64_t i = 0; i < n; i++)
        places[i] = i;
    for (int64_t width = 1; width < n; width *= 2) {
        for (int64_t start = 0; start < n; start += 2 * width) {
            int64_t middle = LEATI_MIN(start + width, n), end = LEATI_MIN(middle + width, n);
            int64_t a = start, b = middle;
            for (int64_t k = start; k < end; k++) {
                bool second = a == middle;
                /* The second side goes first only if it must. */
                if (!second && b < end)
                    second = descending ? before(dtype, line, places[a], places[b])
                                        : before(dtype, line, places[b], places[a]);
                scratch[k] = second ? places[b++] : places[a++];
            }
        }
        memcpy(places, scratch, (size_t)n * sizeof *places);
    }
}

/* ---- lines ---- */

enum { RANDOM, SORTED, REVERSED, EQUAL, FEW_DISTINCT, SPECIAL, LOW_BITS, HIGH_BITS, NUM_PATTERNS };

static bool is_float(leat_dtype dtype) {
    return dtype == LEAT_FLOAT16 || dtype == LEAT_BFLOAT16 || dtype == LEAT_FLOAT32 ||
           dtype == LEAT_FLOAT64;
}

/* Bits of a float that orders treat apart: zeros, infinities, NaNs of both signs with other bits
 * below, the least numbers. */
static uint64_t special_bits(leat_dtype dtype) {
    unsigned bits = (unsigned)leat_dtype_size(dtype) * 8;
    uint64_t inf = dtype == LEAT_FLOAT16    ? 0x7c00
                   : dtype == LEAT_BFLOAT16 ? 0x7f80
                   : dtype == LEAT_FLOAT32  ? 0x7f800000
                                            : UINT64_C(0x7ff0000000000000);
    const uint64_t found[] = {0, inf, inf | 1, inf | (inf >> 1), 1, inf >> 1};
    return found[draw() % 6] | (draw() & 1) << (bits - 1);
}

static uint64_t value_bits(leat_dtype dtype, int pattern) {
    switch (pattern) {
    case EQUAL: return 3;
    case FEW_DISTINCT: return draw() % 3;
    case SPECIAL: return is_float(dtype) && draw() % 4 != 0 ? special_bits(dtype) : draw();
    case LOW_BITS: return draw() % 1000;
    case HIGH_BITS: return draw() << (leat_dtype_size(dtype) * 8 - 5);
    default: return draw();
    }
}

static void fill(leat_dtype dtype, int pattern, int64_t n, char *line) {
    static int64_t places[MOST], scratch[MOST];
    static char values[SPACE];
    const size_t size = leat_dtype_size(dtype);
    for (int64_t i = 0; i < n; i++) {
        uint64_t bits = value_bits(dtype, pattern);
        memcpy(line + (size_t)i * size, &bits, size); /* the lowest bytes, first in memory */
    }
    if (pattern != SORTED && pattern != REVERSED)
        return;
    merge_sort(dtype, line, n, pattern == REVERSED, places, scratch);
    memcpy(values, line, (size_t)n * size);
    for (int64_t i = 0; i < n; i++)
        memcpy(line + (size_t)i * size, values + (size_t)places[i] * size, size);
}

/* ---- tests ---- */

static char line[SPACE], wanted[SPACE], found[SPACE];
static int64_t order[MOST], scratch[MOST];

/* The k first, for k around those where the way changes. */
static void check_top(leat_dtype dtype, int64_t n, leati_arena *arena) {
    const int64_t counts[] = {0, 1, 10, n / 100, n / 2, n - 1, n};
    leat_error err = {0};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        leati_sorting_top top;
        int64_t k = counts[i];
        if (k < 0 || k > n)
            continue;
        leati_arena_reset(arena);
        assert_int_equal(leati_sorting_top_init(&top, dtype, n, k, arena, &err), LEAT_OK);
        /* Twice: a line must not depend on the one before. */
        for (int round = 0; round < 2; round++)
            assert_memory_equal(leati_sorting_top_places(&top, line), order, (size_t)k * 8);
    }
}

static void check(leat_dtype dtype, int pattern, int64_t n, bool descending, leati_arena *arena) {
    const size_t size = leat_dtype_size(dtype);
    leat_error err = {0};
    leati_sorting s;
    fill(dtype, pattern, n, line);
    merge_sort(dtype, line, n, descending, order, scratch);
    for (int64_t i = 0; i < n; i++)
        memcpy(wanted + (size_t)i * size, line + (size_t)order[i] * size, size);

    leati_arena_reset(arena);
    assert_int_equal(leati_sorting_init(&s, dtype, n, descending, false, arena, &err), LEAT_OK);
    for (int plain = 0; plain < 2; plain++) {
        s.plain = plain != 0;
        leati_sorting_values(&s, line, found);
        if (memcmp(found, wanted, (size_t)n * size) != 0)
            fail_msg("values: %s, pattern %d, %lld values, %s, plain: %d", leat_dtype_name(dtype),
                     pattern, (long long)n, descending ? "down" : "up", plain);
    }

    leati_arena_reset(arena);
    assert_int_equal(leati_sorting_init(&s, dtype, n, descending, true, arena, &err), LEAT_OK);
    const uint64_t *places = leati_sorting_places(&s, line);
    for (int64_t i = 0; i < n; i++)
        if ((int64_t)(uint32_t)places[i] != order[i])
            fail_msg("places: %s, pattern %d, %lld values, %s: place %lld", leat_dtype_name(dtype),
                     pattern, (long long)n, descending ? "down" : "up", (long long)i);
    if (descending)
        check_top(dtype, n, arena);
}

/* At 65,536 values nothing but lines of 16 bits take another way. */
static bool worth_while(int64_t n, int d) {
    return n != 65535 || leat_dtype_size(dtypes[d]) == 2;
}

/* In both directions, or in one of them by turns. */
static void check_lengths(const int64_t *lengths, int count, bool both) {
    leati_arena arena = {0};
    for (int i = 0; i < count; i++)
        for (int d = 0; d < NUM_DTYPES; d++)
            for (int pattern = 0; pattern < NUM_PATTERNS; pattern++)
                for (int down = 0; down < 2; down++)
                    if (both || ((i + d + pattern) % 2 == down && worth_while(lengths[i], d)))
                        check(dtypes[d], pattern, lengths[i], down != 0, &arena);
    leati_arena_fini(&arena);
}

static void test_short_lines(void **state) {
    (void)state;
    const int64_t lengths[] = {0,  1,   2,   3,   7,   23,   24,   25,   64,
                               99, 129, 255, 256, 257, 1000, 1023, 1024, 1025};
    check_lengths(lengths, sizeof lengths / sizeof *lengths, true);
}

static void test_long_lines(void **state) {
    (void)state;
    const int64_t lengths[] = {4097, 65535, MOST};
    check_lengths(lengths, sizeof lengths / sizeof *lengths, false);
}

/* ---- axes ---- */

struct along {
    int64_t axis;
    const char *direction;
};

static int trace_along(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    const struct along *along = context;
    leat_value x = leat_graph_argument(graph, 0);
    (void)capacity;
    outputs[0] = leat_op_sort(x, along->axis, along->direction);
    outputs[1] = leat_op_argsort(x, along->axis, along->direction, true);
    return 2;
}

/* Lines `inner` values apart, in order one by one. */
static void compare_lines(const leat_tensor *x, int64_t dim, int64_t inner, bool descending,
                          const leat_tensor *sorted, const leat_tensor *places) {
    const size_t size = leat_dtype_size(x->dtype);
    for (int64_t first = 0; first < leat_tensor_count(x);
         first += first % inner == inner - 1 ? (dim - 1) * inner + 1 : 1) {
        for (int64_t k = 0; k < dim; k++)
            memcpy(line + (size_t)k * size,
                   (const char *)x->data + (size_t)(first + k * inner) * size, size);
        merge_sort(x->dtype, line, dim, descending, order, scratch);
        for (int64_t k = 0; k < dim; k++) {
            size_t at = (size_t)(first + k * inner);
            assert_memory_equal((const char *)sorted->data + at * size,
                                line + (size_t)order[k] * size, size);
            assert_int_equal(((const int32_t *)places->data)[at], order[k]);
        }
    }
}

static void check_axis(leat_dtype dtype, leat_shape shape, int32_t axis, bool descending) {
    struct along along = {axis, descending ? "DESCENDING" : "ASCENDING"};
    leat_error err = {0};
    leat_spec *spec = test_spec(1, &dtype, &shape);
    leat_function *function = LEAT_TRACE(trace_along, &along, spec, &err);
    leat_spec_unref(spec);
    assert_non_null(function);
    leat_tensor x, outputs[2];
    assert_int_equal(leat_tensor_new(dtype, shape, &x, &err), LEAT_OK);
    fill(dtype, SPECIAL, leat_tensor_count(&x), x.data);
    assert_int_equal(leati_interpret(function, &x, NULL, outputs, &err), LEAT_OK);
    int64_t inner = 1;
    for (int32_t d = axis + 1; d < shape.rank; d++)
        inner *= shape.dims[d];
    compare_lines(&x, shape.dims[axis], inner, descending, &outputs[0], &outputs[1]);
    leat_tensor_unref(&outputs[0]);
    leat_tensor_unref(&outputs[1]);
    leat_tensor_unref(&x);
    leat_function_unref(function);
}

/* Places that int32 does not count are refused before there is memory for them. */
static void test_long_axis(void **state) {
    (void)state;
    struct along along = {0, "ASCENDING"};
    leat_dtype dtype = LEAT_INT8;
    leat_shape shape = LEAT_SHAPE((int64_t)INT32_MAX + 1);
    leat_error err = {0};
    leat_spec *spec = test_spec(1, &dtype, &shape);
    assert_null(LEAT_TRACE(trace_along, &along, spec, &err));
    leat_spec_unref(spec);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_SHAPE, "2147483648");
}

/* Fewer lines side by side than are copied at once, as many, and some more. */
static void test_axes(void **state) {
    (void)state;
    const leat_shape shapes[] = {LEAT_SHAPE(5, 30, 3), LEAT_SHAPE(3, 40, 64),
                                 LEAT_SHAPE(300, 2, 67), LEAT_SHAPE(1, 1, 9)};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int d = 0; d < NUM_DTYPES; d++)
            for (int32_t axis = 0; axis < 3; axis++)
                check_axis(dtypes[d], shapes[i], axis, (d + axis) % 2 != 0);
}

static void test_other_dtypes(void **state) {
    (void)state;
    for (int d = 0; d < NUM_DTYPES; d++)
        assert_true(leati_sorting_knows(dtypes[d]));
    assert_false(leati_sorting_knows(LEAT_BOOL));
    assert_false(leati_sorting_knows(LEAT_STRING));
    assert_false(leati_sorting_knows(LEAT_NUM_DTYPES));
}

/* Places are halves of numbers of 64 bits. */
static void test_too_long(void **state) {
    (void)state;
    leati_arena arena = {0};
    leati_sorting s;
    leat_error err = {0};
    int64_t n = (int64_t)UINT32_MAX + 1;
    assert_int_equal(leati_sorting_init(&s, LEAT_UINT8, n, false, true, &arena, &err),
                     LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_SHAPE, "4294967296");
    err = (leat_error){0};
    assert_int_equal(leati_sorting_init(&s, LEAT_UINT64, INT64_MAX, false, false, &arena, &err),
                     LEAT_RESOURCE_EXHAUSTED);
    leati_arena_fini(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_short_lines),  cmocka_unit_test(test_long_lines),
        cmocka_unit_test(test_axes),         cmocka_unit_test(test_long_axis),
        cmocka_unit_test(test_other_dtypes), cmocka_unit_test(test_too_long)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
