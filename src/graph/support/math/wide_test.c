/* The wide loops against plain C, in every bit: all lengths, places and shared operands, with the
 * numbers that arithmetic treats apart; and broadcasting of a number for each channel. */
#include "support/cmocka.h"

#include "graph/support/math/wide.h"
#include "support/graph.h"
#include <math.h>

enum { MOST = 300 };

static uint64_t random_state = 9;

static float draw(void) {
    static const float special[] = {0.0F, -0.0F, INFINITY, -INFINITY, 1e-42F, 3.4e38F, 1, -1};
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    uint32_t bits = (uint32_t)(random_state >> 32);
    return bits % 5 == 0 ? special[bits / 5 % 8] : (float)(int32_t)bits / 1024;
}

/* NaNs need not have one sign: which operand an instruction keeps is the compiler's choice. */
static void compare(const float *a, const float *b, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        if (!(isnan(a[i]) && isnan(b[i])))
            assert_memory_equal(&a[i], &b[i], sizeof a[i]);
}

static void test_loops(void **state) {
    (void)state;
    const leati_wide *plain = NULL;
    for (int k = 0; leati_wide_at(k) != NULL; k++)
        plain = leati_wide_at(k);
    static float a[MOST + 8], b[MOST + 8], wanted[MOST + 8], found[MOST + 8];
    static uint8_t bytes[MOST + 8];
    for (int round = 0; round < 300; round++) {
        int64_t n = round, shift = round % 7;
        for (int i = 0; i < MOST + 8; i++) {
            a[i] = draw();
            b[i] = draw();
            bytes[i] = (uint8_t)(random_state >> 40);
        }
        for (int k = 0; leati_wide_at(k) != NULL; k++) {
            for (int op = 0; op < LEATI_WIDE_OPS; op++) {
                for (int shared = 0; shared < 4; shared++) {
                    int64_t steps[2] = {!(shared & 1), !(shared & 2)};
                    plain->loops[op](a + shift, steps[0], b, steps[1], wanted + shift, n);
                    leati_wide_at(k)->loops[op](a + shift, steps[0], b, steps[1], found + shift, n);
                    compare(wanted + shift, found + shift, n);
                }
                /* The result may be an operand. */
                memcpy(found, a, sizeof found);
                plain->loops[op](a, 1, b, 1, wanted, n);
                leati_wide_at(k)->loops[op](found, 1, b, 1, found, n);
                compare(wanted, found, n);
            }
            leati_wide_at(k)->cast_u8(bytes + shift, found, n);
            for (int64_t i = 0; i < n; i++)
                assert_true(found[i] == (float)bytes[i + shift]);
        }
    }
}

/* ---- a number for each channel ---- */

static int trace_normalise(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_value x = leat_graph_argument(graph, 0);
    outputs[0] = leat_op_subtract(x, leat_graph_argument(graph, 1));
    outputs[1] = leat_op_divide(leat_graph_argument(graph, 1), x);
    outputs[2] = leat_op_less(leat_graph_argument(graph, 1), x);
    return 3;
}

static void check_channels(int64_t height, int64_t width, int64_t channels) {
    const leat_dtype dtypes[2] = {LEAT_FLOAT32, LEAT_FLOAT32};
    const leat_shape shapes[2] = {LEAT_SHAPE(height, width, channels), LEAT_SHAPE(channels)};
    leat_spec *spec = test_spec(2, dtypes, shapes);
    leat_error err = {0};
    leat_function *function = LEAT_TRACE(trace_normalise, NULL, spec, &err);
    leat_spec_unref(spec);
    assert_non_null(function);
    leat_tensor inputs[2], outputs[3];
    for (int i = 0; i < 2; i++) {
        assert_int_equal(leat_tensor_new(LEAT_FLOAT32, shapes[i], &inputs[i], &err), LEAT_OK);
        for (int64_t k = 0; k < leat_tensor_count(&inputs[i]); k++)
            ((float *)inputs[i].data)[k] = draw();
    }
    assert_int_equal(leati_interpret(function, inputs, NULL, outputs, &err), LEAT_OK);
    const float *x = inputs[0].data, *y = inputs[1].data;
    for (int64_t k = 0; k < leat_tensor_count(&inputs[0]); k++) {
        const float wanted[2] = {x[k] - y[k % channels], y[k % channels] / x[k]};
        compare(&wanted[0], (const float *)outputs[0].data + k, 1);
        compare(&wanted[1], (const float *)outputs[1].data + k, 1);
        assert_int_equal(((const bool *)outputs[2].data)[k], y[k % channels] < x[k]);
    }
    for (int i = 0; i < 3; i++)
        leat_tensor_unref(&outputs[i]);
    leat_tensor_unref(&inputs[0]);
    leat_tensor_unref(&inputs[1]);
    leat_function_unref(function);
}

static void test_channels(void **state) {
    (void)state;
    static const int64_t widths[] = {1, 2, 31, 333, 2000};
    for (int64_t channels = 1; channels <= 70; channels += channels < 6 ? 1 : 21)
        for (int i = 0; i < 5; i++)
            check_channels(3, widths[i], channels);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loops),
        cmocka_unit_test(test_channels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
