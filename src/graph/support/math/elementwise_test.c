/* Elementwise operations on every instruction set and number of threads: the same bits, at all
 * lengths and places, with shared operands and the numbers that arithmetic treats apart; and
 * broadcasting of a number for each channel, and of one for each pixel. */
#include "support/cmocka.h"

#include "base/isa.h"
#include "core/half.h"
#include "graph/op.h"
#include "run/crew.h"
#include "support/graph.h"
#include <math.h>

static uint64_t random_state = 9;

static uint32_t draw_bits(void) {
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(random_state >> 32);
}

static float draw(void) {
    static const float special[] = {0.0F, -0.0F, INFINITY, -INFINITY, 1e-42F, 3.4e38F, 1, -1, NAN};
    uint32_t bits = draw_bits();
    return bits % 5 == 0 ? special[bits / 5 % 9] : (float)(int32_t)bits / 65536;
}

/* NaNs need not have one sign: which operand an instruction keeps is the compiler's choice. */
static void compare(const float *a, const float *b, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        if (!(isnan(a[i]) && isnan(b[i])))
            assert_memory_equal(&a[i], &b[i], sizeof a[i]);
}

/* Value `place` where it is a float, else 0. */
static float float_at(const leat_tensor *tensor, int64_t place) {
    const uint16_t *halves = tensor->data;
    if (test_is_wide(tensor->dtype))
        return (float)test_value(tensor, place);
    return tensor->dtype == LEAT_FLOAT16    ? leati_float_of_half(halves[place])
           : tensor->dtype == LEAT_BFLOAT16 ? leati_float_of_bfloat16(halves[place])
                                            : 0;
}

static void compare_tensors(const char *name, const leat_tensor *a, const leat_tensor *b) {
    int64_t count = leat_tensor_count(a), size = (int64_t)leat_dtype_size(a->dtype);
    for (int64_t i = 0; i < count; i++) {
        const char *x = (const char *)a->data + i * size, *y = (const char *)b->data + i * size;
        if (memcmp(x, y, (size_t)size) == 0 || (isnan(float_at(a, i)) && isnan(float_at(b, i))))
            continue;
        fail_msg("%s of %s: value %lld of %lld differs", name, leat_dtype_name(a->dtype),
                 (long long)i, (long long)count);
    }
}

static void fill(leat_tensor *tensor) {
    int64_t count = leat_tensor_count(tensor);
    unsigned char *bytes = tensor->data;
    if (tensor->dtype == LEAT_FLOAT32 || tensor->dtype == LEAT_FLOAT64)
        for (int64_t i = 0; i < count; i++)
            test_set_value(tensor, i, (double)draw());
    else
        for (int64_t i = 0; i < count * (int64_t)leat_dtype_size(tensor->dtype); i++)
            bytes[i] = tensor->dtype == LEAT_BOOL ? draw_bits() & 1 : (unsigned char)draw_bits();
}

/* One operation of `num_inputs` operands. */
struct applied {
    const leati_tensor_op *op;
    int num_inputs;
};

static int trace_one(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    const struct applied *applied = context;
    leat_value inputs[3];
    for (int i = 0; i < applied->num_inputs; i++)
        inputs[i] = leat_graph_argument(graph, i);
    return leat_graph_call(graph, applied->op->name, NULL, inputs, applied->num_inputs, outputs,
                           capacity);
}

/* The result on one instruction set and so many threads; false if the operation has no such dtype
 * or refuses a value. */
static bool run_on(const leat_function *function, const leat_tensor *inputs, leati_isa isa,
                   int threads, leat_tensor *out) {
    leat_error err = {0};
    leati_isa_allow(isa);
    int before = leati_crew_enter(threads);
    leat_status status = leati_interpret(function, inputs, NULL, out, &err);
    leati_crew_leave(before);
    leati_isa_allow(LEATI_ISA_AVX512);
    return status == LEAT_OK;
}

/* How many operations had the dtype. */
static int check_operation(const leati_tensor_op *op, leat_dtype dtype, int64_t n, int shared) {
    int num_inputs = op->min_inputs;
    if (!(op->flags & LEATI_ELEMENTWISE) || num_inputs < 1 || num_inputs > 3 ||
        op->flags & (LEATI_RANDOM | LEATI_STATEFUL))
        return 0;
    struct applied applied = {op, num_inputs};
    /* Some choose by a boolean between others. */
    bool chooses = num_inputs == 3 && strncmp(op->types, "bool ", 5) == 0;
    leat_dtype dtypes[3] = {chooses ? LEAT_BOOL : dtype, dtype, dtype};
    leat_shape shapes[3] = {LEAT_SHAPE(n), LEAT_SHAPE(n), LEAT_SHAPE(n)};
    if (shared > 0 && num_inputs == 2)
        shapes[shared - 1] = LEAT_SCALAR;
    for (int i = 3 - shared; i < 3 && num_inputs == 3; i++)
        shapes[i] = LEAT_SCALAR;
    leat_error err = {0};
    leat_spec *spec = test_spec(num_inputs, dtypes, shapes);
    leat_function *function = LEAT_TRACE(trace_one, &applied, spec, &err);
    leat_spec_unref(spec);
    if (function == NULL)
        return 0;
    leat_tensor inputs[3], wanted, found;
    for (int i = 0; i < num_inputs; i++) {
        assert_int_equal(leat_tensor_new(dtypes[i], shapes[i], &inputs[i], &err), LEAT_OK);
        fill(&inputs[i]);
    }
    bool runs = run_on(function, inputs, LEATI_ISA_PLAIN, 1, &wanted);
    for (int isa = LEATI_ISA_PLAIN; isa < LEATI_NUM_ISAS; isa++)
        for (int threads = 1; threads <= (n > 65536 ? 4 : 1); threads += 3) {
            bool again = run_on(function, inputs, (leati_isa)isa, threads, &found);
            assert_int_equal(again, runs);
            if (!runs)
                continue;
            compare_tensors(op->name, &wanted, &found);
            leat_tensor_unref(&found);
        }
    if (runs)
        leat_tensor_unref(&wanted);
    for (int i = 0; i < num_inputs; i++)
        leat_tensor_unref(&inputs[i]);
    leat_function_unref(function);
    return runs;
}

static void test_operations(void **state) {
    (void)state;
    static const leati_tensor_op *const ops[] = {
#define X(family, file, name) &leati_tensor_op_##name,
#include "graph/ops.def"
#undef X
    };
    static const leat_dtype dtypes[] = {LEAT_FLOAT32, LEAT_FLOAT64, LEAT_INT32, LEAT_INT64,
                                        LEAT_UINT8,   LEAT_INT8,    LEAT_BOOL,  LEAT_FLOAT16};
    int ran = 0;
    for (size_t k = 0; k < sizeof ops / sizeof *ops; k++)
        for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
            /* Pieces of 65,536 values, and what is left of vectors. */
            static const int64_t sizes[] = {1, 7, 67, 70003};
            for (int i = 0; i < (d == 0 ? 4 : 3); i++)
                ran += check_operation(ops[k], dtypes[d], sizes[i], i % 3);
        }
    assert_true(ran > 1000);
}

/* ---- a number for each channel, and for each pixel ---- */

enum { RESULTS = 6 };

static int trace_normalise(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context, (void)capacity;
    leat_value x = leat_graph_argument(graph, 0), channels = leat_graph_argument(graph, 1);
    leat_value pixels = leat_graph_argument(graph, 2);
    outputs[0] = leat_op_subtract(x, channels);
    outputs[1] = leat_op_divide(channels, x);
    outputs[2] = leat_op_less(channels, x);
    outputs[3] = leat_op_subtract(x, pixels);
    outputs[4] = leat_op_less(pixels, x);
    outputs[5] = leat_op_select(leat_op_less(pixels, leat_op_zeros_like(pixels)), x, channels);
    return RESULTS;
}

static void check_value(const leat_tensor *outputs, int64_t k, float x, float channel,
                        float pixel) {
    const float wanted[RESULTS] = {x - channel, channel / x, 0,
                                   x - pixel,   0,           pixel < 0 ? x : channel};
    for (int i = 0; i < RESULTS; i++)
        if (outputs[i].dtype == LEAT_FLOAT32)
            compare(&wanted[i], (const float *)outputs[i].data + k, 1);
    assert_int_equal(((const bool *)outputs[2].data)[k], channel < x);
    assert_int_equal(((const bool *)outputs[4].data)[k], pixel < x);
}

static void check_channels(int64_t height, int64_t width, int64_t channels) {
    const leat_dtype dtypes[3] = {LEAT_FLOAT32, LEAT_FLOAT32, LEAT_FLOAT32};
    const leat_shape shapes[3] = {LEAT_SHAPE(height, width, channels), LEAT_SHAPE(channels),
                                  LEAT_SHAPE(height, width, 1)};
    leat_spec *spec = test_spec(3, dtypes, shapes);
    leat_error err = {0};
    leat_function *function = LEAT_TRACE(trace_normalise, NULL, spec, &err);
    leat_spec_unref(spec);
    assert_non_null(function);
    leat_tensor inputs[3], outputs[RESULTS];
    for (int i = 0; i < 3; i++) {
        assert_int_equal(leat_tensor_new(LEAT_FLOAT32, shapes[i], &inputs[i], &err), LEAT_OK);
        fill(&inputs[i]);
    }
    int before = leati_crew_enter(3);
    assert_int_equal(leati_interpret(function, inputs, NULL, outputs, &err), LEAT_OK);
    leati_crew_leave(before);
    const float *x = inputs[0].data, *y = inputs[1].data, *z = inputs[2].data;
    for (int64_t k = 0; k < leat_tensor_count(&inputs[0]); k++)
        check_value(outputs, k, x[k], y[k % channels], z[k / channels]);
    for (int i = 0; i < RESULTS; i++)
        leat_tensor_unref(&outputs[i]);
    for (int i = 0; i < 3; i++)
        leat_tensor_unref(&inputs[i]);
    leat_function_unref(function);
}

static void test_channels(void **state) {
    (void)state;
    static const int64_t widths[] = {1, 2, 31, 333, 2000, 70000};
    for (int64_t channels = 1; channels <= 70; channels += channels < 6 ? 1 : 21)
        for (int i = 0; i < (channels < 4 ? 6 : 5); i++)
            check_channels(3, widths[i], channels);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operations),
        cmocka_unit_test(test_channels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
