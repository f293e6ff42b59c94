/* Sums, means and maxima of all numeric dtypes against a model in wider numbers: values are whole
 * and small, so that every order of additions gives them exactly, but for the cases of wrapping,
 * rounding and NaN, which stand by themselves. */
#include "support/cmocka.h"

#include "coll/reducer.h"
#include "core/half.h"
#include "support/refused.h"
#include <string.h>

enum { MOST_INPUTS = 4, MOST_COUNT = 4099 /* two tiles and three */ };

static const struct {
    leat_dtype dtype;
    bool floating, is_signed;
} kinds[] = {
    {LEAT_FLOAT32, true, true},  {LEAT_FLOAT64, true, true},  {LEAT_FLOAT16, true, true},
    {LEAT_BFLOAT16, true, true}, {LEAT_INT8, false, true},    {LEAT_INT16, false, true},
    {LEAT_INT32, false, true},   {LEAT_INT64, false, true},   {LEAT_UINT8, false, false},
    {LEAT_UINT16, false, false}, {LEAT_UINT32, false, false}, {LEAT_UINT64, false, false},
};
enum { NUM_KINDS = sizeof kinds / sizeof kinds[0] };

static void put(void *data, leat_dtype dtype, int64_t i, double value) {
    switch (dtype) {
    case LEAT_FLOAT32: ((float *)data)[i] = (float)value; break;
    case LEAT_FLOAT64: ((double *)data)[i] = value; break;
    case LEAT_FLOAT16: ((uint16_t *)data)[i] = leati_half_of_float((float)value); break;
    case LEAT_BFLOAT16: ((uint16_t *)data)[i] = leati_bfloat16_of_float((float)value); break;
    case LEAT_INT8: ((int8_t *)data)[i] = (int8_t)value; break;
    case LEAT_INT16: ((int16_t *)data)[i] = (int16_t)value; break;
    case LEAT_INT32: ((int32_t *)data)[i] = (int32_t)value; break;
    case LEAT_INT64: ((int64_t *)data)[i] = (int64_t)value; break;
    case LEAT_UINT8: ((uint8_t *)data)[i] = (uint8_t)value; break;
    case LEAT_UINT16: ((uint16_t *)data)[i] = (uint16_t)value; break;
    case LEAT_UINT32: ((uint32_t *)data)[i] = (uint32_t)value; break;
    default: ((uint64_t *)data)[i] = (uint64_t)value;
    }
}

static double get(const void *data, leat_dtype dtype, int64_t i) {
    switch (dtype) {
    case LEAT_FLOAT32: return (double)((const float *)data)[i];
    case LEAT_FLOAT64: return ((const double *)data)[i];
    case LEAT_FLOAT16: return (double)leati_float_of_half(((const uint16_t *)data)[i]);
    case LEAT_BFLOAT16: return (double)leati_float_of_bfloat16(((const uint16_t *)data)[i]);
    case LEAT_INT8: return ((const int8_t *)data)[i];
    case LEAT_INT16: return ((const int16_t *)data)[i];
    case LEAT_INT32: return ((const int32_t *)data)[i];
    case LEAT_INT64: return (double)((const int64_t *)data)[i];
    case LEAT_UINT8: return ((const uint8_t *)data)[i];
    case LEAT_UINT16: return ((const uint16_t *)data)[i];
    case LEAT_UINT32: return ((const uint32_t *)data)[i];
    default: return (double)((const uint64_t *)data)[i];
    }
}

/* Multiples of 4, so that a mean of two or four is whole; at most 28 together. */
static double value_of(int kind, int input, int64_t i) {
    double value = (double)((i * 7 + input * 3) % 8) * 4;
    return kinds[kind].is_signed && (i + input) % 3 == 0 ? -value : value;
}

static double expected_of(int kind, leati_reduction reduction, int inputs, int64_t i) {
    double value = value_of(kind, 0, i);
    for (int r = 1; r < inputs; r++) {
        double other = value_of(kind, r, i);
        value = reduction != LEATI_REDUCTION_MAX ? value + other : other > value ? other : value;
    }
    return reduction == LEATI_REDUCTION_MEAN ? value / inputs : value;
}

/* Separate memory for inputs and outputs, the latter at another byte and with a guard behind. */
static double inputs[MOST_INPUTS][MOST_COUNT + 8], outputs[2][MOST_COUNT + 16];

static void fill_in(int kind, int num_inputs, int64_t count) {
    for (int r = 0; r < num_inputs; r++)
        for (int64_t i = 0; i < count; i++)
            put(inputs[r], kinds[kind].dtype, i, value_of(kind, r, i));
}

static void check(int kind, leati_reduction reduction, int num_inputs, int64_t count) {
    leati_combination how = {.dtype = kinds[kind].dtype, .reduction = reduction};
    size_t item = leat_dtype_size(how.dtype), to = 3 * item, from = count > 2 ? 2 * item : 0;
    const void *const in[] = {inputs[0], inputs[1], inputs[2], inputs[3]};
    void *const out[] = {outputs[0], outputs[1]};
    int64_t first = count > 2 ? 2 : 0;
    fill_in(kind, num_inputs, count);
    memset(outputs, 0x5A, sizeof outputs);
    leati_reducer_combine(how, in, num_inputs, from, out, 2, to, count - first);
    for (int o = 0; o < 2; o++) {
        const unsigned char *bytes = out[o];
        for (int64_t i = first; i < count; i++)
            assert_true(get(bytes + to, how.dtype, i - first) ==
                        expected_of(kind, reduction, num_inputs, i));
        for (size_t b = 0; b < to; b++)
            assert_int_equal(bytes[b], 0x5A);
        for (size_t b = to + (size_t)(count - first) * item; b < sizeof outputs[o]; b++)
            assert_int_equal(bytes[b], 0x5A);
    }
}

static const leati_reduction reductions[] = {LEATI_REDUCTION_SUM, LEATI_REDUCTION_MEAN,
                                             LEATI_REDUCTION_MAX};

static void test_combine(void **state) {
    (void)state;
    static const int64_t counts[] = {0, 1, 2, 5, 2050, MOST_COUNT};
    for (int kind = 0; kind < NUM_KINDS; kind++) {
        for (int r = 0; r < 3; r++) {
            if (reductions[r] == LEATI_REDUCTION_MEAN && !kinds[kind].floating)
                continue;
            for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
                check(kind, reductions[r], 1, counts[c]);
                check(kind, reductions[r], 2, counts[c]);
                check(kind, reductions[r], 4, counts[c]);
            }
        }
    }
}

/* In place: what two replicas, or three, have becomes the result on all of them. */
static void test_in_place(void **state) {
    (void)state;
    enum { COUNT = 2060, FIRST = 5 };
    for (int kind = 0; kind < NUM_KINDS; kind++) {
        leati_combination how = {.dtype = kinds[kind].dtype};
        size_t byte = FIRST * leat_dtype_size(how.dtype);
        for (int r = 0; r < 3; r++) {
            how.reduction = reductions[r];
            for (int n = 2; n <= 4; n += 2) {
                void *const all[] = {inputs[0], inputs[1], inputs[2], inputs[3]};
                if (how.reduction == LEATI_REDUCTION_MEAN && !kinds[kind].floating)
                    continue;
                fill_in(kind, n, COUNT + 1);
                leati_reducer_combine(how, (const void *const *)all, n, byte, all, n, byte,
                                      COUNT - FIRST);
                for (int k = 0; k < n; k++) {
                    for (int64_t i = 0; i <= COUNT; i++)
                        assert_true(get(all[k], how.dtype, i) ==
                                    (i < FIRST || i == COUNT
                                         ? value_of(kind, k, i)
                                         : expected_of(kind, how.reduction, n, i)));
                }
            }
        }
    }
}

static void test_of_two(void **state) {
    (void)state;
    for (int kind = 0; kind < NUM_KINDS; kind++) {
        leat_dtype dtype = kinds[kind].dtype;
        bool has_mean = dtype == LEAT_FLOAT32 || dtype == LEAT_FLOAT64;
        fill_in(kind, 2, 7);
        leati_reducer of[] = {leati_reducer_of(dtype, LEATI_REDUCTION_SUM),
                              leati_reducer_mean_of_two(dtype),
                              leati_reducer_of(dtype, LEATI_REDUCTION_MAX)};
        assert_int_equal(of[1] != NULL, has_mean);
        assert_true(leati_reducer_of(dtype, LEATI_REDUCTION_MEAN) == of[0]);
        for (int r = 0; r < 3; r++) {
            if (of[r] == NULL)
                continue;
            put(outputs[0], dtype, 7, 100);
            of[r](outputs[0], inputs[0], inputs[1], 7);
            for (int64_t i = 0; i < 7; i++)
                assert_true(get(outputs[0], dtype, i) == expected_of(kind, reductions[r], 2, i));
            assert_true(get(outputs[0], dtype, 7) == 100);
        }
    }
}

/* Sums of integers wrap as in numpy; the larger of signed numbers is not that of unsigned ones. */
static void test_wrapping(void **state) {
    (void)state;
    const int8_t a[] = {127, -128, -1, 5}, b[] = {1, -1, 1, -6};
    int8_t out[4];
    leati_reducer_of(LEAT_INT8, LEATI_REDUCTION_SUM)(out, a, b, 4);
    assert_memory_equal(out, ((int8_t[]){-128, 127, 0, -1}), 4);
    leati_reducer_of(LEAT_INT8, LEATI_REDUCTION_MAX)(out, a, b, 4);
    assert_memory_equal(out, ((int8_t[]){127, -1, 1, 5}), 4);
    leati_reducer_of(LEAT_UINT8, LEATI_REDUCTION_MAX)(out, a, b, 4);
    assert_memory_equal(out, ((int8_t[]){127, -1, -1, -6}), 4);
    const int64_t most = INT64_MAX, one = 1;
    int64_t sum = 0;
    leati_reducer_of(LEAT_INT64, LEATI_REDUCTION_SUM)(&sum, &most, &one, 1);
    assert_true(sum == INT64_MIN);
}

static void test_divide(void **state) {
    (void)state;
    for (int kind = 0; kind < NUM_KINDS; kind++) {
        leat_dtype dtype = kinds[kind].dtype;
        fill_in(kind, 1, 6);
        leati_reducer_divide(inputs[0], 5, dtype, 4);
        for (int64_t i = 0; i < 6; i++)
            assert_true(get(inputs[0], dtype, i) ==
                        value_of(kind, 0, i) / (kinds[kind].floating && i < 5 ? 4 : 1));
    }
}

static void test_refused(void **state) {
    (void)state;
    leat_error err = {0};
    assert_null(leati_reducer_of(LEAT_STRING, LEATI_REDUCTION_SUM));
    assert_int_equal(leati_reducer_check(LEAT_BOOL, LEATI_REDUCTION_MAX, &err),
                     LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_DTYPE, "bool");
    for (int kind = 0; kind < NUM_KINDS; kind++) {
        leat_dtype dtype = kinds[kind].dtype;
        assert_int_equal(leati_reducer_check(dtype, LEATI_REDUCTION_SUM, &err), LEAT_OK);
        assert_int_equal(leati_reducer_check(dtype, LEATI_REDUCTION_MAX, &err), LEAT_OK);
        leat_status status = leati_reducer_check(dtype, LEATI_REDUCTION_MEAN, &err);
        assert_int_equal(status, kinds[kind].floating ? LEAT_OK : LEAT_INVALID_ARGUMENT);
        if (status != LEAT_OK)
            assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_DTYPE, leat_dtype_name(dtype));
    }
    assert_int_equal(leati_reducer_check_root(0, 1, &err), LEAT_OK);
    assert_int_equal(leati_reducer_check_root(2, 3, &err), LEAT_OK);
    assert_int_equal(leati_reducer_check_root(-1, 3, &err), LEAT_INVALID_ARGUMENT);
    assert_int_equal(leati_reducer_check_root(3, 3, &err), LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "3");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_combine), cmocka_unit_test(test_in_place),
        cmocka_unit_test(test_of_two),  cmocka_unit_test(test_wrapping),
        cmocka_unit_test(test_divide),  cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
