/* Help for tests of graphs: tensors in one line, and the numerical check of gradients.
 *
 * Header only; include it after "support/cmocka.h". Tensors made here own their memory
 * (leat_tensor_unref). */
#ifndef TEST_GRAPH_H
#define TEST_GRAPH_H

#include "graph/graph.h"
#include "graph/interpret.h"
#include "graph/kernel_host.h"
#include <leat/ops.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TEST_UNUSED __attribute__((unused))

/* A tensor with the values of an array literal: TEST_TENSOR(LEAT_FLOAT32, LEAT_SHAPE(2), float, 1,
 * 2). */
#define TEST_TENSOR(DTYPE, SHAPE, TYPE, ...) test_tensor(DTYPE, SHAPE, (const TYPE[]){__VA_ARGS__})

TEST_UNUSED static leat_tensor test_tensor(leat_dtype dtype, leat_shape shape, const void *data) {
    leat_tensor tensor = {0};
    leat_error err = {0};
    if (leat_tensor_copy_of(dtype, shape, data, &tensor, &err) != LEAT_OK)
        fail_msg("%s", err.text);
    return tensor;
}

/* float32 in [-1, 1) that the seed draws. */
TEST_UNUSED static leat_tensor test_numbers(leat_shape shape, uint32_t seed) {
    leat_tensor tensor;
    assert_int_equal(leat_tensor_new(LEAT_FLOAT32, shape, &tensor, NULL), LEAT_OK);
    for (int64_t i = 0; i < leat_tensor_count(&tensor); i++) {
        seed = seed * 1664525U + 1013904223U;
        ((float *)tensor.data)[i] = (float)(seed >> 8) * 0x1p-23F - 1;
    }
    return tensor;
}

/* A tuple of tensors: dtypes and shapes by turns. */
TEST_UNUSED static leat_spec *test_spec(int count, const leat_dtype *dtypes,
                                        const leat_shape *shapes) {
    leat_spec *children[8];
    for (int i = 0; i < count; i++)
        children[i] = leat_spec_tensor(dtypes[i], shapes[i], NULL);
    return leat_spec_tuple(children, count, NULL);
}

/* The function of a tracer over `count` float64 arguments. */
TEST_UNUSED static leat_function *test_trace_float64(leat_tracer tracer, void *context, int count,
                                                     const leat_shape *shapes) {
    leat_dtype dtypes[8];
    for (int i = 0; i < count; i++)
        dtypes[i] = LEAT_FLOAT64;
    leat_spec *spec = test_spec(count, dtypes, shapes);
    leat_error err = {0};
    leat_function *function = LEAT_TRACE(tracer, context, spec, &err);
    leat_spec_unref(spec);
    if (function == NULL)
        fail_msg("%s", err.text);
    return function;
}

/* Sum over all outputs of seed * value, where the seed of a value is its place: 1, 2, 3, ... over
 * its output, divided by 4. */
static double test_seed(int64_t place) {
    return (double)(place + 1) / 4;
}

static bool test_is_wide(leat_dtype dtype) {
    return dtype == LEAT_FLOAT32 || dtype == LEAT_FLOAT64;
}

static double test_value(const leat_tensor *tensor, int64_t place) {
    return tensor->dtype == LEAT_FLOAT32 ? (double)((const float *)tensor->data)[place]
                                         : ((const double *)tensor->data)[place];
}

static void test_set_value(leat_tensor *tensor, int64_t place, double value) {
    if (tensor->dtype == LEAT_FLOAT32)
        ((float *)tensor->data)[place] = (float)value;
    else
        ((double *)tensor->data)[place] = value;
}

static double test_weighted(const leat_function *function, const leat_tensor *inputs,
                            const leati_call_context *context) {
    leat_tensor outputs[8];
    leat_error err = {0};
    double total = 0;
    if (leati_interpret(function, inputs, context, outputs, &err) != LEAT_OK)
        fail_msg("%s", err.text);
    for (int i = 0; i < function->num_outputs; i++) {
        for (int64_t k = 0; test_is_wide(outputs[i].dtype) && k < leat_tensor_count(&outputs[i]);
             k++)
            total += test_seed(k) * test_value(&outputs[i], k);
        leat_tensor_unref(&outputs[i]);
    }
    return total;
}

/* Compares the derivative by every value of an input with the central difference. */
static void test_compare_gradient(double tolerance, const leat_function *function,
                                  leat_tensor *inputs, int index, const leat_tensor *gradient,
                                  const leati_call_context *context) {
    leat_tensor *input = &inputs[index];
    bool single = input->dtype == LEAT_FLOAT32;
    const double step = single ? 1.0 / 64 : 1e-5;
    tolerance = single ? 1e-2 : tolerance;
    assert_int_equal(gradient->dtype, input->dtype);
    assert_int_equal(gradient->rank, input->rank);
    for (int32_t d = 0; d < input->rank; d++)
        assert_int_equal(gradient->dims[d], input->dims[d]);
    for (int64_t k = 0; k < leat_tensor_count(input); k++) {
        const double kept = test_value(input, k);
        test_set_value(input, k, kept + step);
        double above = test_weighted(function, inputs, context);
        test_set_value(input, k, kept - step);
        double below = test_weighted(function, inputs, context);
        test_set_value(input, k, kept);
        double expected = (above - below) / (2 * step), found = test_value(gradient, k);
        if (fabs(found - expected) > tolerance * (1 + fabs(expected)) ||
            (isnan(found) && !isnan(expected)))
            fail_msg("input %d, value %d: gradient %.9g, central difference %.9g", index, (int)k,
                     found, expected);
    }
}

/* Runs leati_graph_function_gradient(function) with the seeds above and compares every derivative
 * by every input of float64, or coarsely of float32, with the central difference. `context` may be
 * NULL. */
TEST_UNUSED static void test_check_gradient_within(double tolerance, const leat_function *function,
                                                   leat_tensor *inputs, int num_inputs,
                                                   const leati_call_context *context) {
    leat_error err = {0};
    leat_function *reverse = leati_graph_function_gradient(function, &err);
    if (reverse == NULL)
        fail_msg("%s", err.text);
    leat_tensor outputs[8], arguments[16], gradients[8];
    int count = num_inputs, at = 0;
    memcpy(arguments, inputs, (size_t)num_inputs * sizeof *inputs);
    if (leati_interpret(function, inputs, context, outputs, &err) != LEAT_OK)
        fail_msg("%s", err.text);
    for (int i = 0; i < function->num_outputs; i++) {
        if (test_is_wide(outputs[i].dtype)) {
            leat_tensor *seed = &arguments[count++];
            assert_int_equal(
                leat_tensor_new(outputs[i].dtype, leat_tensor_shape(&outputs[i]), seed, &err),
                LEAT_OK);
            for (int64_t k = 0; k < leat_tensor_count(seed); k++)
                test_set_value(seed, k, test_seed(k));
        }
        leat_tensor_unref(&outputs[i]);
    }
    if (leati_interpret(reverse, arguments, context, gradients, &err) != LEAT_OK)
        fail_msg("%s", err.text);
    for (int i = 0; i < num_inputs; i++)
        if (test_is_wide(inputs[i].dtype)) {
            test_compare_gradient(tolerance, function, inputs, i, &gradients[at], context);
            leat_tensor_unref(&gradients[at++]);
        }
    for (int i = num_inputs; i < count; i++)
        leat_tensor_unref(&arguments[i]);
    leat_function_unref(reverse);
}

TEST_UNUSED static void test_check_gradient(const leat_function *function, leat_tensor *inputs,
                                            int num_inputs, const leati_call_context *context) {
    test_check_gradient_within(1e-6, function, inputs, num_inputs, context);
}

#endif
