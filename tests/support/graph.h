/* Help for tests of graphs: tensors in one line, and the numerical check of gradients.
 *
 * Header only; include it by a relative path after <cmocka.h>. Tensors made here own their memory
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
    leat_function *function = leat_trace(tracer, context, spec, &err);
    leat_spec_unref(spec);
    if (!function)
        fail_msg("%s", err.text);
    return function;
}

/* Sum over all outputs of seed * value, where the seed of a value is its place: 1, 2, 3, ... over
 * its output, divided by 4. */
static double test_seed(int64_t place) {
    return (double)(place + 1) / 4;
}

static double test_weighted(const leat_function *function, const leat_tensor *inputs,
                            const leati_call_context *context) {
    leat_tensor outputs[8];
    leat_error err = {0};
    double total = 0;
    if (leati_interpret(function, inputs, context, outputs, &err) != LEAT_OK)
        fail_msg("%s", err.text);
    for (int i = 0; i < function->num_outputs; i++) {
        const double *values = outputs[i].data;
        for (int64_t k = 0; outputs[i].dtype == LEAT_FLOAT64 && k < leat_tensor_count(&outputs[i]);
             k++)
            total += test_seed(k) * values[k];
        leat_tensor_unref(&outputs[i]);
    }
    return total;
}

/* Runs leati_function_gradient(function) with the seeds above and compares every derivative by
 * every float64 input with the central difference. `context` may be NULL. */
TEST_UNUSED static void test_check_gradient_within(double tolerance, const leat_function *function,
                                                   leat_tensor *inputs, int num_inputs,
                                                   const leati_call_context *context) {
    leat_error err = {0};
    leat_function *reverse = leati_function_gradient(function, &err);
    if (!reverse)
        fail_msg("%s", err.text);
    leat_tensor outputs[8], arguments[16], gradients[8];
    int count = num_inputs, at = 0;
    memcpy(arguments, inputs, (size_t)num_inputs * sizeof *inputs);
    if (leati_interpret(function, inputs, context, outputs, &err) != LEAT_OK)
        fail_msg("%s", err.text);
    for (int i = 0; i < function->num_outputs; i++) {
        if (outputs[i].dtype == LEAT_FLOAT64) {
            leat_tensor *seed = &arguments[count++];
            assert_int_equal(
                leat_tensor_new(LEAT_FLOAT64, leat_tensor_shape(&outputs[i]), seed, &err), LEAT_OK);
            for (int64_t k = 0; k < leat_tensor_count(seed); k++)
                ((double *)seed->data)[k] = test_seed(k);
        }
        leat_tensor_unref(&outputs[i]);
    }
    if (leati_interpret(reverse, arguments, context, gradients, &err) != LEAT_OK)
        fail_msg("%s", err.text);
    for (int i = 0; i < num_inputs; i++) {
        if (inputs[i].dtype != LEAT_FLOAT64)
            continue;
        assert_int_equal(leat_tensor_count(&gradients[at]), leat_tensor_count(&inputs[i]));
        double *values = inputs[i].data;
        for (int64_t k = 0; k < leat_tensor_count(&inputs[i]); k++) {
            const double kept = values[k], step = 1e-5;
            values[k] = kept + step;
            double above = test_weighted(function, inputs, context);
            values[k] = kept - step;
            double below = test_weighted(function, inputs, context);
            values[k] = kept;
            double expected = (above - below) / (2 * step);
            double found = ((const double *)gradients[at].data)[k];
            if (fabs(found - expected) > tolerance * (1 + fabs(expected)))
                fail_msg("input %d, value %d: gradient %.9g, central difference %.9g", i, (int)k,
                         found, expected);
        }
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
