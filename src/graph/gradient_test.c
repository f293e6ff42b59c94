/* The reverse pass against central differences and against TensorFlow's rules. */
#include "support/cmocka.h"

#include "graph/variable.h"
#include "support/graph.h"
#include "support/refused.h"
#include "support/torture.h"

#include <string.h>

/* A value used three times, broadcasting both ways, two outputs. */
static int tangle(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_value a = leat_graph_argument(graph, 0), b = leat_graph_argument(graph, 1);
    leat_value product = leat_op_multiply(a, b);
    leat_value shared = leat_op_tanh(leat_op_add(product, b));
    outputs[0] =
        leat_op_subtract(leat_op_multiply(shared, shared), leat_op_divide(a, leat_op_exp(shared)));
    outputs[1] = leat_op_square(leat_op_sigmoid(b));
    return 2;
}

static void test_central_differences(void **state) {
    (void)state;
    const leat_shape unknown = LEAT_SHAPE(LEAT_UNKNOWN_DIM, LEAT_UNKNOWN_DIM);
    const leat_shape shapes[][2] = {{LEAT_SHAPE(2, 3), LEAT_SHAPE(3)},
                                    {LEAT_SHAPE(2, 3), LEAT_SHAPE(LEAT_UNKNOWN_DIM)},
                                    {unknown, {.rank = LEAT_UNKNOWN_RANK}}};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        leat_function *function = test_trace_float64(tangle, NULL, 2, shapes[i]);
        leat_tensor inputs[2] = {
            TEST_TENSOR(LEAT_FLOAT64, LEAT_SHAPE(2, 3), double, .5, -1, 2, .25, 1.5, -.75),
            TEST_TENSOR(LEAT_FLOAT64, LEAT_SHAPE(3), double, .1, -.2, .3)};
        test_check_gradient(function, inputs, 2, NULL);
        leat_tensor_unref(&inputs[0]);
        leat_tensor_unref(&inputs[1]);
        leat_function_unref(function);
    }
}

/* The gradients of `x` by leat_value_gradients in a graph that `build` makes of one argument. */
static void value_at(leat_graph *graph, leat_value value, double x, double expected) {
    leat_error err = {0};
    leat_tensor in = leat_scalar_float64(x), out;
    leat_function *function = leat_graph_finish(graph, &value, 1, NULL, &err);
    if (function == NULL)
        fail_msg("%s", err.text);
    assert_int_equal(leati_interpret(function, &in, NULL, &out, &err), LEAT_OK);
    assert_true(*(double *)out.data == expected);
    leat_tensor_unref(&in);
    leat_tensor_unref(&out);
    leat_function_unref(function);
}

static leat_graph *graph_of(leat_dtype dtype) {
    leat_spec *spec = leat_spec_tensor(dtype, LEAT_SCALAR, NULL);
    leat_graph *graph = leat_graph_new(spec, NULL);
    leat_spec_unref(spec);
    return graph;
}

static void finish_fails(leat_graph *graph, leat_value value, leat_status code, leat_reason reason,
                         const char *keyword) {
    leat_error err = {0};
    assert_null(leat_graph_finish(graph, &value, 1, NULL, &err));
    assert_refused(&err, code, reason, keyword);
}

/* GradientTape on x = 3: d(x*x)/dx = 6; d(target)/d(target) = 1; d/d(x*x) of (x*x)^2 = 18. */
static void test_sources_anywhere(void **state) {
    (void)state;
    leat_graph *graph = graph_of(LEAT_FLOAT64);
    leat_value x = leat_graph_argument(graph, 0), y = leat_op_multiply(x, x), g;
    leat_value_gradients(y, &x, 1, &g);
    value_at(graph, g, 3, 6);

    graph = graph_of(LEAT_FLOAT64);
    x = leat_graph_argument(graph, 0);
    y = leat_op_multiply(x, x);
    leat_value_gradients(y, &y, 1, &g);
    value_at(graph, g, 3, 1);

    graph = graph_of(LEAT_FLOAT64);
    x = leat_graph_argument(graph, 0);
    y = leat_op_multiply(x, x);
    leat_value_gradients(leat_op_multiply(y, y), &y, 1, &g);
    value_at(graph, g, 3, 18);
}

/* tf.gradients' grad_ys: 2 x u, whatever u depends on; through u flows the gradient of that. */
static void test_upstream(void **state) {
    (void)state;
    leat_graph *graph = graph_of(LEAT_FLOAT64);
    leat_value x = leat_graph_argument(graph, 0), first, second;
    leat_value square = leat_op_multiply(x, x);
    leat_value_gradients_from(square, leat_op_multiply(square, x), &x, 1, &first);
    value_at(graph, first, 3, 162); /* 2 x^4 */

    graph = graph_of(LEAT_FLOAT64);
    x = leat_graph_argument(graph, 0);
    square = leat_op_multiply(x, x);
    leat_value_gradients_from(square, leat_op_multiply(square, x), &x, 1, &first);
    leat_value_gradients(first, &x, 1, &second);
    value_at(graph, second, 3, 216); /* 8 x^3 */

    graph = graph_of(LEAT_FLOAT64);
    x = leat_graph_argument(graph, 0);
    leat_value_gradients_from(x, leat_op_cast(x, LEAT_FLOAT32), &x, 1, &first);
    finish_fails(graph, first, LEAT_INVALID_ARGUMENT, LEAT_REASON_SHAPE, "float32");
}

/* tf.gradients' stop_gradients: of x^2 * x only what flows through the last x; a stop that is a
 * source has a gradient, and lets none through to the source behind it. */
static void test_stops(void **state) {
    (void)state;
    leat_graph *graph = graph_of(LEAT_FLOAT64);
    leat_value x = leat_graph_argument(graph, 0), found[2];
    leat_value square = leat_op_multiply(x, x), cube = leat_op_multiply(square, x);
    leat_value_gradients_until(cube, NULL, &x, 1, &square, 1, found);
    value_at(graph, found[0], 3, 9);

    graph = graph_of(LEAT_FLOAT64);
    x = leat_graph_argument(graph, 0);
    square = leat_op_multiply(x, x);
    cube = leat_op_multiply(square, x);
    leat_value sources[] = {x, square};
    leat_value_gradients_until(cube, NULL, sources, 2, &square, 1, found);
    value_at(graph, leat_op_add(found[0], leat_op_multiply(found[1], found[1])), 3, 18);

    graph = graph_of(LEAT_FLOAT64);
    x = leat_graph_argument(graph, 0);
    square = leat_op_multiply(x, x);
    leat_value_gradients_until(square, NULL, &x, 1, &square, 1, found);
    value_at(graph, found[0], 3, 0);

    graph = graph_of(LEAT_FLOAT64);
    x = leat_graph_argument(graph, 0);
    leat_value none = {.graph = graph, .id = -1};
    leat_value_gradients_until(leat_op_exp(x), NULL, &x, 1, &none, 1, found);
    finish_fails(graph, found[0], LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "stop");
}

static void test_second_derivatives(void **state) {
    (void)state;
    leat_graph *graph = graph_of(LEAT_FLOAT64);
    leat_value x = leat_graph_argument(graph, 0), first, second;
    leat_value cube = leat_op_multiply(leat_op_multiply(x, x), x);
    leat_value_gradients(cube, &x, 1, &first);
    leat_value_gradients(first, &x, 1, &second);
    value_at(graph, second, 2, 12); /* 6 x */
}

/* unconnected_gradients="zero"; a path through an integer is cut, as tf.cast's is. */
static void test_unconnected(void **state) {
    (void)state;
    leat_graph *graph = graph_of(LEAT_FLOAT64);
    leat_value x = leat_graph_argument(graph, 0), one = leat_op_ones_like(x), g;
    leat_value_gradients(leat_op_exp(one), &x, 1, &g);
    value_at(graph, g, 3, 0);

    graph = graph_of(LEAT_FLOAT64);
    x = leat_graph_argument(graph, 0);
    leat_value through = leat_op_cast(leat_op_cast(x, LEAT_INT32), LEAT_FLOAT64);
    leat_value_gradients(leat_op_add(leat_op_multiply(through, through), x), &x, 1, &g);
    value_at(graph, g, 3, 1);
}

static leat_status just_copy(void *context, const leat_element *in, leat_element *out,
                             leat_error *err) {
    (void)context;
    return leat_element_set(out, in->spec, in->tensors, err);
}

static void test_failures_name_the_node(void **state) {
    (void)state;
    leat_error err = {0};
    leat_spec *spec = leat_spec_tensor(LEAT_FLOAT64, LEAT_SCALAR, &err);
    leat_function *callback = LEAT_CALLBACK(just_copy, NULL, NULL, "opaque", LEAT_PURE,
                                            leat_spec_ref(spec), leat_spec_ref(spec), &err);
    leat_graph *graph = leat_graph_new(spec, &err);
    leat_spec_unref(spec);
    leat_value x = leat_graph_argument(graph, 0), called, g;
    assert_true(leati_graph_inline(graph, callback, &x, &called));
    leat_value_gradients(leat_op_exp(called), &x, 1, &g);
    finish_fails(graph, g, LEAT_UNIMPLEMENTED, LEAT_REASON_NONE, "call");
    leat_function_unref(callback);

    graph = graph_of(LEAT_INT32);
    x = leat_graph_argument(graph, 0);
    leat_value_gradients(leat_op_add(x, x), &x, 1, &g);
    finish_fails(graph, g, LEAT_INVALID_ARGUMENT, LEAT_REASON_DTYPE, "int32");

    graph = graph_of(LEAT_FLOAT64);
    leat_graph *other = graph_of(LEAT_FLOAT64);
    x = leat_graph_argument(other, 0);
    leat_value_gradients(leat_op_exp(leat_graph_argument(graph, 0)), &x, 1, &g);
    finish_fails(graph, g, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "0");
    leat_graph_free(other);
}

static leat_variable *variable_of(double value, const char *name) {
    leat_tensor initial = leat_scalar_float64(value);
    leat_variable *variable = leat_variable_new(
        &initial, &(leat_variable_options){LEAT_VARIABLE_DEFAULTS, .name = name}, NULL);
    leat_tensor_unref(&initial);
    return variable;
}

/* w is read before and after an assignment: both reads count. The second variable is not used. */
static void test_variables(void **state) {
    (void)state;
    leat_error err = {0};
    leat_variable *variables[2] = {variable_of(2, "w"), variable_of(7, "unused")};
    leat_graph *graph = graph_of(LEAT_FLOAT64);
    leat_value x = leat_graph_argument(graph, 0), out[2];
    leat_value first = leat_graph_read(graph, variables[0]);
    leat_graph_assign(graph, variables[0], x);
    leat_value second = leat_graph_read(graph, variables[0]);
    leat_value target = leat_op_add(leat_op_multiply(first, x), leat_op_square(second));
    leat_variable_gradients(target, variables, 2, out);
    leat_function *function = leat_graph_finish(graph, out, 2, NULL, &err);
    if (function == NULL)
        fail_msg("%s", err.text);
    leat_tensor in = leat_scalar_float64(5), results[2];
    assert_int_equal(leati_interpret(function, &in, NULL, results, &err), LEAT_OK);
    assert_true(*(double *)results[0].data == 5 + 2 * 5);
    assert_true(*(double *)results[1].data == 0);
    leat_tensor_unref(&in);
    leat_tensor_unref(&results[0]);
    leat_tensor_unref(&results[1]);
    leat_function_unref(function);

    graph = graph_of(LEAT_FLOAT64);
    leat_variable *none = NULL;
    leat_variable_gradients(leat_graph_argument(graph, 0), &none, 1, out);
    finish_fails(graph, out[0], LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "0");
    leat_variable_unref(variables[0]);
    leat_variable_unref(variables[1]);
}

static int reads_variable(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    outputs[0] = leat_op_multiply(leat_graph_argument(graph, 0), leat_graph_read(graph, context));
    return 1;
}

static void test_functions_with_state_have_none(void **state) {
    (void)state;
    leat_error err = {0};
    leat_variable *variable = variable_of(2, "w");
    leat_function *function =
        test_trace_float64(reads_variable, variable, 1, &(leat_shape){.rank = 0});
    assert_null(leati_graph_function_gradient(function, &err));
    assert_refused(&err, LEAT_UNIMPLEMENTED, LEAT_REASON_NONE, "gradient");

    leat_graph *graph = graph_of(LEAT_FLOAT64);
    leat_value x = leat_graph_argument(graph, 0), out[LEAT_MAX_OUTPUTS], g;
    leat_value positive = leat_op_greater(x, leat_op_zeros_like(x));
    assert_int_equal(leat_op_cond(positive, function, function, &x, 1, out), 1);
    leat_variable_gradients(out[0], &variable, 1, &g);
    finish_fails(graph, g, LEAT_UNIMPLEMENTED, LEAT_REASON_NONE, "w");
    leat_function_unref(function);
    leat_variable_unref(variable);
}

static leat_status build_and_run(void *context, leat_error *err) {
    (void)context;
    leat_shape shapes[2] = {LEAT_SHAPE(2), LEAT_SHAPE(LEAT_UNKNOWN_DIM)};
    leat_spec *children[2] = {leat_spec_tensor(LEAT_FLOAT64, shapes[0], err),
                              leat_spec_tensor(LEAT_FLOAT64, shapes[1], err)};
    leat_spec *spec = leat_spec_tuple(children, 2, err);
    leat_function *function = spec != NULL ? LEAT_TRACE(tangle, NULL, spec, err) : NULL;
    leat_function *reverse = function != NULL ? leati_graph_function_gradient(function, err) : NULL;
    leat_spec_unref(spec);
    leat_function_unref(function);
    if (reverse == NULL)
        return torture_code(err);
    const double numbers[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    leat_tensor in[4], out[2];
    for (int i = 0; i < 4; i++)
        in[i] = leat_tensor_view(LEAT_FLOAT64, LEAT_SHAPE(2), numbers + 2 * i);
    leat_status status = leati_interpret(reverse, in, NULL, out, err);
    leat_function_unref(reverse);
    for (int i = 0; status == LEAT_OK && i < 2; i++)
        leat_tensor_unref(&out[i]);
    return status;
}

static void test_each_allocation_failing(void **state) {
    (void)state;
    torture_run_tolerant(build_and_run, NULL); /* an arena may do with a smaller chunk */
}

/* ---- which operations are differentiable ---- */

/* As in TensorFlow, where these have no gradient, or one that is nothing. */
static const char nothing_flows[] =
    "adjust_contrast adjust_hue adjust_jpeg_quality adjust_saturation apply_adam "
    "apply_gradient_descent apply_keras_momentum argmax argmin argsort as_string "
    "assign_add_variable assign_variable bitcast bitwise_and bitwise_or bitwise_xor call "
    "collective_broadcast combined_non_max_suppression constant count_nonzero "
    "crop_and_resize_grad_boxes "
    "crop_and_resize_grad_image cutmix decode_and_crop_jpeg decode_base64 decode_bmp "
    "decode_compressed decode_csv decode_gif decode_image decode_jpeg decode_json_example "
    "decode_png decode_raw decode_wav decode_webp draw_bounding_boxes encode_base64 encode_jpeg "
    "encode_png encode_wav equal extract_jpeg_shape eye fingerprint greater greater_equal "
    "histogram_fixed_width igamma_grad_a in_top_k index_shuffle invert is_finite "
    "is_inf is_jpeg is_nan left_shift less less_equal logical_and logical_not logical_or "
    "logical_xor matching_files merge_sparse mixup non_max_suppression "
    "non_max_suppression_overlaps non_max_suppression_with_scores not_equal one_hot ones "
    "parse_example parse_sequence_example parse_tensor ragged_partition rand_augment "
    "random_categorical random_contrast random_hue random_jpeg_quality random_resized_crop "
    "random_saturation random_shuffle read_file read_variable reduce_all reduce_any "
    "regex_full_match regex_replace replica_id rgb_to_hsv_grad right_shift rng_skip "
    "sample_distorted_bounding_box searchsorted seed_fold_in seed_split segment_spread "
    "sequence_mask serialize_tensor shape size stateless_aug_mix stateless_categorical "
    "stateless_cutmix stateless_integers stateless_mixup stateless_normal stateless_rand_augment "
    "stateless_random_contrast stateless_random_hue stateless_random_jpeg_quality "
    "stateless_random_resized_crop stateless_random_saturation "
    "stateless_sample_distorted_bounding_box stateless_shuffle stateless_truncated_normal "
    "stateless_uniform string_bytes_split string_format string_join string_length string_lower "
    "string_ngrams string_reduce_join string_split string_strip string_to_hash_bucket "
    "string_to_hash_bucket_fast string_to_hash_bucket_strong string_to_number string_upper "
    "substr table_find truncatemod unicode_decode unicode_encode unicode_script "
    "unicode_transcode unique unique_with_counts unsorted_segment_join where write_file zeros";
/* TensorFlow differentiates these, or what they stand for. */
static const char missing[] =
    "computed_gradient gru_grad lstm_grad random_crop "
    "random_flip_left_right random_flip_up_down simple_rnn_grad while_gradient";
/* Parts of what the Python package gives a gradient of its own, or that has none in TensorFlow. */
static const char composed[] =
    "candidate_sample compute_accidental_hits ctc_beam_search ctc_greedy "
    "dilation2d_backprop_filter dilation2d_backprop_input edit_distance "
    "fake_quant_with_min_max_args_gradient "
    "fake_quant_with_min_max_vars_gradient "
    "fake_quant_with_min_max_vars_per_channel_gradient isotonic_regression matrix_logarithm "
    "max_pool_with_argmax set_operation set_size sparse_dense_matmul sparse_fill_empty_rows "
    "sparse_order sparse_reshape sparse_union";

static bool names(const char *list, const char *name) {
    size_t size = strlen(name);
    for (const char *at = strstr(list, name); at != NULL; at = strstr(at + 1, name))
        if ((at == list || at[-1] == ' ') && (at[size] == ' ' || at[size] == '\0'))
            return true;
    return false;
}

static void test_every_operation_is_listed(void **state) {
    (void)state;
    size_t count = 0;
    int wrong = 0;
    const leati_tensor_op *const *ops = leati_graph_ops(&count);
    for (size_t i = 0; i < count; i++) {
        const char *name = ops[i]->name;
        bool listed = names(nothing_flows, name) || names(missing, name) || names(composed, name);
        if (listed != (ops[i]->gradient != NULL))
            continue;
        print_error("%s has %s gradient, but %s a list of operations without one\n", name,
                    ops[i]->gradient != NULL ? "a" : "no", listed ? "stands on" : "is not on");
        wrong++;
    }
    assert_int_equal(wrong, 0);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, torture_setup, torture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_central_differences),
        TEST(test_sources_anywhere),
        TEST(test_upstream),
        TEST(test_second_derivatives),
        TEST(test_stops),
        TEST(test_unconnected),
        TEST(test_failures_name_the_node),
        TEST(test_variables),
        TEST(test_functions_with_state_have_none),
        TEST(test_each_allocation_failing),
        TEST(test_every_operation_is_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
