/* Eager graphs: values at once, gradients by the tape against differences, errors; and functions
 * called once. */
#include "support/cmocka.h"

#include "core/buffer.h"
#include "core/tensor.h"
#include "support/refused.h"
#include "support/torture.h"
#include <leat/ops.h>
#include <math.h>

static leat_value give(leat_graph *graph, leat_shape shape, const double *numbers) {
    leat_tensor tensor;
    assert_int_equal(leat_tensor_copy_of(LEAT_FLOAT64, shape, numbers, &tensor, NULL), LEAT_OK);
    leat_value value = leat_graph_tensor(graph, &tensor);
    leat_tensor_unref(&tensor);
    return value;
}

static double number_at(leat_value value, int64_t index) {
    leat_tensor tensor;
    leat_error err = {0};
    if (leat_value_tensor(value, &tensor, &err) != LEAT_OK)
        fail_msg("%s", err.text);
    double number = leati_tensor_float_at(&tensor, index);
    leat_tensor_unref(&tensor);
    return number;
}

static void test_values_at_once(void **state) {
    (void)state;
    leat_graph *graph = leat_graph_new_eager(NULL);
    leat_value x = give(graph, LEAT_SHAPE(3), (const double[]){1, 2, 4});
    leat_value y = leat_op_divide(give(graph, LEAT_SCALAR, (const double[]){8}), x);
    assert_true(number_at(y, 0) == 8 && number_at(y, 1) == 4 && number_at(y, 2) == 2);
    leat_value total = leat_op_reduce_sum(y, NULL, 0, false);
    assert_true(number_at(total, 0) == 14);
    leat_graph_free(graph);
}

static void test_open_shapes_become_known(void **state) {
    (void)state;
    leat_graph *graph = leat_graph_new_eager(NULL);
    leat_tensor dims;
    const int64_t two_three[2] = {2, 3};
    assert_int_equal(leat_tensor_copy_of(LEAT_INT64, LEAT_SHAPE(2), two_three, &dims, NULL),
                     LEAT_OK);
    leat_value zeros = leat_op_fill(leat_graph_tensor(graph, &dims),
                                    give(graph, LEAT_SCALAR, (const double[]){0}));
    leat_tensor_unref(&dims);
    assert_int_equal(leat_value_shape(zeros).rank, 2);
    assert_int_equal(leat_value_shape(zeros).dims[1], 3);
    leat_graph_free(graph);
}

/* sum(tanh(x w) * x) over a mean: a little of everything. */
static leat_value loss_of(leat_graph *graph, const double *x, const double *w,
                          leat_value sources[2]) {
    sources[0] = give(graph, LEAT_SHAPE(2, 3), x);
    sources[1] = give(graph, LEAT_SHAPE(3, 3), w);
    leat_value y = leat_op_tanh(leat_op_matmul(sources[0], sources[1], false, false));
    leat_value mean =
        leat_op_reduce_mean(leat_op_multiply(y, sources[0]), (int64_t[]){1}, 1, false);
    return leat_op_reduce_sum(leat_op_multiply(mean, mean), NULL, 0, false);
}

static double loss_at(const double *x, const double *w) {
    leat_graph *graph = leat_graph_new_eager(NULL);
    leat_value sources[2];
    double loss = number_at(loss_of(graph, x, w, sources), 0);
    leat_graph_free(graph);
    return loss;
}

static void test_gradients_by_differences(void **state) {
    (void)state;
    double x[6] = {0.3, -1.2, 0.5, 2, -0.7, 0.1}, w[9];
    for (int i = 0; i < 9; i++)
        w[i] = 0.1 * (i - 4);
    leat_graph *graph = leat_graph_new_eager(NULL);
    leat_value sources[2], gradients[2];
    leat_value loss = loss_of(graph, x, w, sources);
    leat_value_gradients(loss, sources, 2, gradients);
    for (int i = 0; i < 15; i++) {
        double *at = i < 6 ? &x[i] : &w[i - 6], before = *at, step = 1e-6;
        *at = before + step;
        double above = loss_at(x, w);
        *at = before - step;
        double below = loss_at(x, w);
        *at = before;
        double found = i < 6 ? number_at(gradients[0], i) : number_at(gradients[1], i - 6);
        assert_true(fabs(found - (above - below) / (2 * step)) < 1e-7);
    }
    leat_graph_free(graph);
}

static void test_tape_is_persistent(void **state) {
    (void)state;
    leat_graph *graph = leat_graph_new_eager(NULL);
    leat_value x = give(graph, LEAT_SCALAR, (const double[]){3}), first, second;
    leat_value cube = leat_op_multiply(leat_op_square(x), x);
    leat_value_gradients(cube, &x, 1, &first);
    leat_value_gradients(first, &x, 1, &second);
    assert_true(number_at(first, 0) == 27);
    assert_true(number_at(second, 0) == 18);
    leat_graph_free(graph);
}

static void test_variables(void **state) {
    (void)state;
    leat_graph *graph = leat_graph_new_eager(NULL);
    leat_tensor three = leat_scalar_float64(3);
    leat_variable *variable = leat_variable_new(&three, NULL, NULL);
    leat_value before = leat_graph_read(graph, variable), gradient;
    leat_value loss = leat_op_square(before);
    leat_variable_gradients(loss, &variable, 1, &gradient);
    leat_graph_assign_add(graph, variable, gradient);
    assert_true(number_at(before, 0) == 3);
    assert_true(number_at(leat_graph_read(graph, variable), 0) == 9);
    leat_graph_free(graph);
    leat_variable_unref(variable);
    leat_tensor_unref(&three);
}

static void test_errors(void **state) {
    (void)state;
    leat_error err = {0};
    leat_tensor tensor, zero = leat_scalar_int64(0);
    leat_graph *graph = leat_graph_new_eager(NULL);
    leat_value x = leat_graph_tensor(graph, &zero);
    leat_value bad = leat_op_floordiv(x, x);
    assert_int_equal(leat_value_tensor(bad, &tensor, &err), LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "floordiv");
    leat_graph_free(graph);

    leat_graph *traced = leat_graph_new(NULL, &err);
    leat_value y = leat_graph_tensor(traced, &zero);
    assert_int_equal(leat_value_tensor(y, &tensor, &err), LEAT_FAILED_PRECONDITION);
    leat_graph_free(traced);

    graph = leat_graph_new_eager(NULL);
    leat_value z = leat_graph_tensor(graph, &zero), sum;
    leat_op_all_reduce(&z, 1, LEAT_AGGREGATION_SUM, &sum);
    assert_int_equal(leat_value_tensor(sum, &tensor, &err), LEAT_UNIMPLEMENTED);
    leat_graph_free(graph);
    assert_int_equal(leat_value_tensor((leat_value){0}, &tensor, &err), LEAT_INVALID_ARGUMENT);
    leat_tensor_unref(&zero);
}

static void refused(leat_status status, const leat_error *err, leat_status code, leat_reason reason,
                    const char *keyword) {
    assert_int_equal(status, code);
    assert_refused(err, code, reason, keyword);
}

static void test_values_refused(void **state) {
    (void)state;
    leat_error err = {0};
    leat_tensor out, zero = leat_scalar_int64(0);
    leat_graph *graph = leat_graph_new_eager(&err), *traced = leat_graph_new(NULL, &err);
    leat_value x = leat_graph_tensor(graph, &zero);
    refused(leat_value_tensor(x, NULL, &err), &err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE,
            "NULL");
    refused(leat_value_tensor((leat_value){0}, &out, &err), &err, LEAT_INVALID_ARGUMENT,
            LEAT_REASON_VALUE, "NULL");
    refused(leat_value_tensor((leat_value){.graph = graph, .id = -1}, &out, &err), &err,
            LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "value");
    for (int32_t id = 1; id < 300; id += 149) {
        char number[16];
        snprintf(number, sizeof number, "%d", (int)id);
        refused(leat_value_tensor((leat_value){.graph = graph, .id = id}, &out, &err), &err,
                LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, number);
    }
    refused(leat_value_tensor(leat_graph_tensor(traced, &zero), &out, &err), &err,
            LEAT_FAILED_PRECONDITION, LEAT_REASON_NONE, "leat_graph_new_eager");
    leat_value sum;
    leat_op_all_reduce(&x, 1, LEAT_AGGREGATION_SUM, &sum);
    leat_value failed = leat_op_add(x, x); /* the graph has an error now, which stays the first */
    refused(leat_value_tensor(failed, &out, &err), &err, LEAT_UNIMPLEMENTED, LEAT_REASON_NONE,
            "all_reduce");
    leat_graph_free(graph);
    leat_graph_free(traced);
    leat_tensor_unref(&zero);
}

/* ---- functions ---- */

static int trace_shout(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_value words[2] = {leat_graph_argument(graph, 0), leat_graph_argument(graph, 0)};
    outputs[0] = leat_op_string_upper(leat_op_string_join(words, 2, " "), NULL);
    outputs[1] = words[0];
    return 2;
}

static leat_function *shout(leat_error *err) {
    leat_spec *spec = leat_spec_tensor(LEAT_STRING, LEAT_SCALAR, err);
    leat_function *function = spec != NULL ? LEAT_TRACE(trace_shout, NULL, spec, err) : NULL;
    leat_spec_unref(spec);
    return function;
}

static void test_call(void **state) {
    (void)state;
    leat_error err = {0};
    leat_function *function = shout(&err);
    char bytes[4] = "hey";
    leat_string text = {bytes, 3};
    leat_tensor input = leat_tensor_view(LEAT_STRING, LEAT_SCALAR, &text), outputs[2];
    assert_int_equal(leat_function_call(function, &input, 1, outputs, 2, &err), LEAT_OK);
    memset(bytes, 'x', 3); /* what was lent may go */
    text = (leat_string){0};
    assert_memory_equal(((leat_string *)outputs[0].data)->data, "HEY HEY", 7);
    assert_memory_equal(((leat_string *)outputs[1].data)->data, "hey", 3);
    assert_non_null(outputs[1].owner);
    leat_tensor_unref(&outputs[0]);
    leat_tensor_unref(&outputs[1]);
    assert_int_equal(leat_function_call(function, &input, 1, outputs, 1, &err),
                     LEAT_INVALID_ARGUMENT);
    leat_tensor number = leat_scalar_int64(1);
    assert_int_equal(leat_function_call(function, &number, 1, outputs, 2, &err),
                     LEAT_INVALID_ARGUMENT);
    leat_tensor_unref(&number);
    refused(leat_function_call(function, &input, 1, outputs, 3, &err), &err, LEAT_INVALID_ARGUMENT,
            LEAT_REASON_STRUCTURE, "3");
    refused(leat_function_call(function, &input, 0, outputs, 2, &err), &err, LEAT_INVALID_ARGUMENT,
            LEAT_REASON_STRUCTURE, "0");
    leat_function_unref(function);
    refused(leat_function_call(NULL, NULL, 0, outputs, 2, &err), &err, LEAT_INVALID_ARGUMENT,
            LEAT_REASON_VALUE, "function");
}

static leat_status call_once(void *context, leat_error *err) {
    leat_string text = {"hey", 3};
    leat_tensor input = leat_tensor_view(LEAT_STRING, LEAT_SCALAR, &text), outputs[2];
    leat_status status = leat_function_call(context, &input, 1, outputs, 2, err);
    for (int i = 0; status == LEAT_OK && i < 2; i++)
        leat_tensor_unref(&outputs[i]);
    return status;
}

static leat_status compute_once(void *context, leat_error *err) {
    (void)context;
    leat_graph *graph = leat_graph_new_eager(err);
    if (graph == NULL)
        return torture_code(err);
    const double two = 2;
    leat_tensor tensor = leat_tensor_view(LEAT_FLOAT64, LEAT_SCALAR, &two);
    leat_value x = leat_graph_tensor(graph, &tensor), gradient;
    leat_value_gradients(leat_op_square(x), &x, 1, &gradient);
    leat_status status = leat_value_tensor(gradient, &tensor, err);
    if (status == LEAT_OK)
        leat_tensor_unref(&tensor);
    leat_graph_free(graph);
    return status;
}

/* More inputs than a node's computation keeps on its stack. */
static leat_status compute_many(void *context, leat_error *err) {
    enum { MANY = 12 };
    (void)context;
    leat_graph *graph = leat_graph_new_eager(err);
    if (graph == NULL)
        return torture_code(err);
    leat_value values[MANY];
    leat_tensor tensor, sum;
    double numbers[MANY];
    for (int i = 0; i < MANY; i++) {
        numbers[i] = i * i;
        tensor = leat_tensor_view(LEAT_FLOAT64, LEAT_SCALAR, &numbers[i]);
        values[i] = leat_graph_tensor(graph, &tensor);
    }
    leat_status status = leat_value_tensor(leat_op_add_n(values, MANY), &sum, err);
    if (status == LEAT_OK) {
        assert_true(*(double *)sum.data == 506);
        leat_tensor_unref(&sum);
    }
    leat_graph_free(graph);
    return status;
}

/* What is lent and comes back as it is becomes a copy. */
static int trace_numbers(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    outputs[0] = leat_graph_argument(graph, 0);
    outputs[1] = leat_op_square(outputs[0]);
    outputs[2] = leat_graph_argument(graph, 0);
    return 3;
}

static leat_status call_numbers(void *context, leat_error *err) {
    const double numbers[2] = {3, 4};
    leat_tensor input = leat_tensor_view(LEAT_FLOAT64, LEAT_SHAPE(2), numbers), outputs[3];
    leat_status status = leat_function_call(context, &input, 1, outputs, 3, err);
    for (int i = 0; status == LEAT_OK && i < 3; i++) {
        assert_true(outputs[i].data != numbers && outputs[i].owner != NULL);
        assert_true(((double *)outputs[i].data)[1] == (i == 1 ? 16 : 4));
        leat_tensor_unref(&outputs[i]);
    }
    return status;
}

static void test_no_memory(void **state) {
    (void)state;
    leat_error err = {0};
    leat_spec *spec = leat_spec_tensor(LEAT_FLOAT64, LEAT_SHAPE(-1), &err);
    leat_function *same = LEAT_TRACE(trace_numbers, NULL, spec, &err);
    leat_spec_unref(spec);
    torture_run(call_numbers, same);
    leat_function_unref(same);
    torture_run(compute_many, NULL);
    leat_function *function = shout(&err);
    torture_run(call_once, function);
    leat_function_unref(function);
    torture_run(compute_once, NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, torture_setup, torture_teardown)

/* ---- random numbers from call to call: TensorFlow 2.21 under set_seed(3) ---- */

static int trace_two(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    const leat_op_random_uniform_options seed = {LEAT_OP_RANDOM_UNIFORM_DEFAULTS,
                                                 .seed = &(int64_t){5}};
    outputs[0] = leat_op_random_uniform(graph, LEAT_SCALAR, NULL);
    outputs[1] = leat_op_random_uniform(graph, LEAT_SCALAR, &seed);
    return 2;
}

static void check_call(const leat_function *function, float first, float second) {
    leat_error err = {0};
    leat_tensor out[2];
    assert_int_equal(leat_function_call(function, NULL, 0, out, 2, &err), LEAT_OK);
    assert_float_equal(*(float *)out[0].data, first, 1e-6);
    assert_float_equal(*(float *)out[1].data, second, 1e-6);
    leat_tensor_unref(&out[0]);
    leat_tensor_unref(&out[1]);
}

static void test_calls_go_on(void **state) {
    (void)state;
    leat_error err = {0};
    leat_seed_set(3);
    leat_spec *nothing = leat_spec_tuple(NULL, 0, &err);
    leat_function *function = LEAT_TRACE(trace_two, NULL, nothing, &err);
    leat_spec_unref(nothing);
    assert_non_null(function);
    check_call(function, 0.127364039f, 0.397669196f);
    check_call(function, 0.858015776f, 0.92530179f);
    check_call(function, 0.889870644f, 0.94872642f);
    leat_seed_set(3);
    check_call(function, 0.127364039f, 0.397669196f);
    leat_function_unref(function);
    leat_seed_clear();
}

/* Operations of one seed that are computed at once share a stream, whatever their shapes. */
static void test_eager(void **state) {
    (void)state;
    const float expected[4] = {0.397669196f, 0.92530179f, 0.067360878f, 0.315164447f};
    leat_error err = {0};
    int count = 0;
    leat_seed_set(3);
    for (int call = 0; call < 3; call++) {
        leat_graph *graph = leat_graph_new_eager(&err);
        const leat_op_random_uniform_options seed = {LEAT_OP_RANDOM_UNIFORM_DEFAULTS,
                                                     .seed = &(int64_t){5}};
        leat_shape shape = call == 1 ? LEAT_SHAPE(2) : LEAT_SHAPE(1);
        leat_tensor out;
        leat_value value = leat_op_random_uniform(graph, shape, &seed);
        assert_int_equal(leat_value_tensor(value, &out, &err), LEAT_OK);
        for (int64_t i = 0; i < shape.dims[0]; i++)
            assert_float_equal(((float *)out.data)[i], expected[count++], 1e-6);
        leat_tensor_unref(&out);
        leat_graph_free(graph);
    }
    leat_seed_clear();
}

static void note_release(void *context, void *data, size_t size) {
    (void)data, (void)size;
    *(int *)context += 1;
}

/* A result holds its operands' memory where it is made of strings, and only there. */
static void test_what_results_hold(void **state) {
    (void)state;
    leat_error err = {0};
    static char letters[] = "three";
    for (int i = 0; i < 2; i++) {
        int released = 0;
        leat_buffer *buffer =
            leat_buffer_adopt(letters, sizeof letters, note_release, &released, &err);
        const leat_string string = {.data = letters, .size = 5};
        leat_tensor given, out;
        assert_int_equal(leat_tensor_copy_of(LEAT_STRING, LEAT_SCALAR, &string, &given, &err),
                         LEAT_OK);
        assert_int_equal(leati_buffer_hold(given.owner, buffer, &err), LEAT_OK);
        leat_buffer_unref(buffer);
        leat_graph *graph = leat_graph_new_eager(&err);
        leat_value x = leat_graph_tensor(graph, &given);
        leat_value y = i == 0 ? leat_op_string_length(x, NULL) : leat_op_string_lower(x, NULL);
        leat_tensor_unref(&given);
        assert_int_equal(leat_value_tensor(y, &out, &err), LEAT_OK);
        leat_graph_free(graph);
        assert_int_equal(released, 1 - i);
        leat_tensor_unref(&out);
        assert_int_equal(released, 1);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_what_results_hold), TEST(test_values_at_once),
        TEST(test_open_shapes_become_known), TEST(test_gradients_by_differences),
        TEST(test_tape_is_persistent), TEST(test_variables), TEST(test_errors),
        TEST(test_values_refused), TEST(test_call), TEST(test_calls_go_on),
        /* The table of eager operations outlives the test. */
        cmocka_unit_test(test_eager), TEST(test_no_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
