/* Functions: pruning, specialising, inlining, fingerprints. */
#include "support/cmocka.h"

#include "support/graph.h"
#include "support/torture.h"

#include "base/alloc.h"
#include "core/json.h"
#include "core/spec.h"
#include "graph/variable.h"
#include "support/json.h"
#include "support/refused.h"

static void names_are(const leat_function *function, const char *const *names, size_t count) {
    assert_int_equal(function->body.num_nodes, count);
    for (size_t i = 0; i < count; i++)
        assert_string_equal(function->body.nodes[i].op->name, names[i]);
}

/* Dead: exp and log. Effects: two assignments around a read, none of which the output needs. */
static void test_prune_keeps_effects_in_order(void **state) {
    (void)state;
    leat_error err = {0};
    leat_tensor initial = TEST_TENSOR(LEAT_FLOAT32, LEAT_SCALAR, float, 1);
    leat_variable *variable = leat_variable_new(&initial, NULL, &err);
    leat_spec *spec = leat_spec_tensor(LEAT_FLOAT32, LEAT_SCALAR, &err);
    leat_graph *graph = leat_graph_new(spec, &err);
    leat_value x = leat_graph_argument(graph, 0);
    leat_op_exp(x);
    leat_graph_assign(graph, variable, leat_op_negate(x));
    leat_value read = leat_graph_read(graph, variable);
    leat_op_log(read);
    leat_value square = leat_op_square(x);
    leat_graph_assign_add(graph, variable, leat_op_abs(x));
    leat_function *function = leat_graph_finish(graph, &square, 1, NULL, &err);
    leat_function *pruned = leati_graph_function_prune(function, &err);
    assert_non_null(pruned);
    names_are(pruned,
              (const char *const[]){"negate", "assign_variable", "read_variable", "square", "abs",
                                    "assign_add_variable"},
              6);
    /* Numbers, which random operations draw by, are those of the trace. */
    assert_int_equal(pruned->body.nodes[0].number, 1);
    assert_int_equal(pruned->body.nodes[5].number, 7);
    assert_true(leat_spec_equal(leat_function_output(pruned), leat_function_output(function)));
    leat_function_unref(function);
    leat_function_unref(pruned);
    leat_spec_unref(spec);
    leat_tensor_unref(&initial);
    leat_variable_unref(variable);
}

static int affine(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    outputs[0] =
        leat_op_add(leat_op_multiply(leat_graph_argument(graph, 0), leat_graph_argument(graph, 1)),
                    leat_graph_argument(graph, 1));
    return 1;
}

static leat_function *trace_affine(leat_shape a, leat_shape b) {
    return test_trace_float64(affine, NULL, 2, (leat_shape[]){a, b});
}

static void test_specialise_infers_again(void **state) {
    (void)state;
    leat_error err = {0};
    leat_shape unknown = {.rank = LEAT_UNKNOWN_RANK};
    leat_function *function = trace_affine(unknown, LEAT_SHAPE(LEAT_UNKNOWN_DIM));
    leati_type types[2] = {{.dtype = LEAT_FLOAT64, .shape = LEAT_SHAPE(4, 3)},
                           {.dtype = LEAT_FLOAT64, .shape = LEAT_SHAPE(3)}};
    leat_function *special = leati_graph_function_specialise(function, types, &err);
    assert_non_null(special);
    for (size_t i = 0; i < special->body.num_values; i++)
        assert_true(leati_shape_is_static(&special->body.values[i].type.shape));
    leat_shape found = leat_spec_component_shape(leat_function_output(special), 0);
    assert_true(leati_shape_equal(&found, &LEAT_SHAPE(4, 3)));
    found = leat_spec_component_shape(leat_function_input(special), 0);
    assert_true(leati_shape_equal(&found, &LEAT_SHAPE(4, 3)));
    leat_function_unref(special);

    types[1].shape = LEAT_SHAPE(5);
    assert_null(leati_graph_function_specialise(function, types, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_SHAPE, "[5]");
    types[1].dtype = LEAT_FLOAT32;
    assert_null(leati_graph_function_specialise(function, types, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_SHAPE, "float64");
    /* What the function knew stays known. */
    types[0].shape = unknown;
    types[1] = (leati_type){.dtype = LEAT_FLOAT64, .shape = unknown};
    special = leati_graph_function_specialise(function, types, &err);
    assert_int_equal(special->body.values[1].type.shape.rank, 1);
    leat_function_unref(special);
    leat_function_unref(function);
}

static int inline_twice(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    leat_value arguments[2] = {leat_graph_argument(graph, 0), leat_graph_argument(graph, 1)};
    if (!leati_graph_inline(graph, context, arguments, &arguments[0]) ||
        !leati_graph_inline(graph, context, arguments, outputs))
        return -1;
    return 1;
}

static void test_inline(void **state) {
    (void)state;
    leat_error err = {0};
    leat_function *function = trace_affine(LEAT_SCALAR, LEAT_SCALAR);
    leat_function *twice =
        test_trace_float64(inline_twice, function, 2, (leat_shape[]){LEAT_SCALAR, LEAT_SCALAR});
    leat_tensor in[2] = {leat_scalar_float64(3), leat_scalar_float64(2)}, out;
    assert_int_equal(leati_interpret(twice, in, NULL, &out, &err), LEAT_OK);
    assert_true(*(double *)out.data == (3 * 2 + 2) * 2 + 2);
    leat_tensor_unref(&in[0]);
    leat_tensor_unref(&in[1]);
    leat_tensor_unref(&out);
    leat_function_unref(twice);

    leat_graph *graph = leat_graph_new(leat_function_input(function), &err);
    leat_value nothing[2] = {{.graph = graph, .id = -1}, {.graph = graph, .id = -1}}, result;
    assert_false(leati_graph_inline(graph, function, nothing, &result));
    leat_graph_free(graph);
    leat_function_unref(function);
}

static int scaled(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    leat_tensor factor = leat_scalar_float64(*(double *)context);
    outputs[0] = leat_op_multiply(leat_graph_argument(graph, 0), leat_graph_tensor(graph, &factor));
    leat_tensor_unref(&factor);
    return 1;
}

static uint64_t fingerprint_of_scaled(double factor, leat_shape shape) {
    leat_function *function = test_trace_float64(scaled, &factor, 1, &shape);
    uint64_t fingerprint = function->fingerprint;
    leat_function_unref(function);
    return fingerprint;
}

static void test_fingerprints(void **state) {
    (void)state;
    uint64_t one = fingerprint_of_scaled(2, LEAT_SHAPE(3));
    assert_true(one == fingerprint_of_scaled(2, LEAT_SHAPE(3)));
    assert_true(one != fingerprint_of_scaled(3, LEAT_SHAPE(3)));
    assert_true(one != fingerprint_of_scaled(2, LEAT_SHAPE(4)));
    leat_function *function = trace_affine(LEAT_SCALAR, LEAT_SCALAR);
    assert_true(one != function->fingerprint);
    char text[64];
    leati_graph_function_describe_node(function, 1, text, sizeof text);
    assert_string_equal(text, "op add (node 1)");
    leat_function_unref(function);
}

/* One line for each operation; the object of each is that of the list. */
static void test_names_and_lines_of_the_table(void **state) {
    (void)state;
    leat_error err = {0};
    size_t count;
    const leati_tensor_op *const *ops = leati_graph_ops(&count);
    char *names = leat_operation_names(&err), *all = leat_operations_json(&err);
    assert_non_null(names);
    assert_non_null(all);
    const char *line = names;
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(ops[i]->name);
        assert_memory_equal(line, ops[i]->name, length);
        assert_int_equal(line[length], ' ');
        const char *paths = ops[i]->names != NULL ? ops[i]->names : "";
        assert_memory_equal(line + length + 1, paths, strlen(paths));
        line += length + 1 + strlen(paths);
        assert_int_equal(*line++, i + 1 < count ? '\n' : '\0');
        char *one = leat_operation_json(ops[i]->name, &err);
        assert_non_null(one);
        assert_non_null(strstr(all, one));
        leat_text_free(one);
    }
    leat_text_free(names);
    leat_text_free(all);
    assert_null(leat_operation_json("levitate", &err));
    assert_refused(&err, LEAT_NOT_FOUND, LEAT_REASON_NONE, "'levitate'");
}

static leat_status describe_one(void *context, leat_error *err) {
    char *text = leat_operation_json(context, err), *names = NULL;
    if (text != NULL)
        names = leat_operation_names(err);
    leat_text_free(text);
    leat_text_free(names);
    return text != NULL && names != NULL ? LEAT_OK : torture_code(err);
}

/* Each allocation fails once, those of JSON values, too. */
static void test_lines_without_memory(void **state) {
    (void)state;
    static char one[] = "range", many[] = "add_n", rows[] = "as_string", words[] = "decode_image";
    torture_json(true);
    torture_run(describe_one, one);
    torture_run(describe_one, many);
    torture_run(describe_one, rows);
    torture_run(describe_one, words);
    torture_json(false);
}

static void test_the_table(void **state) {
    (void)state;
    size_t count;
    const leati_tensor_op *const *ops = leati_graph_ops(&count);
    assert_true(count > 8);
    for (size_t i = 0; i < count; i++) {
        assert_ptr_equal(leati_graph_op_find(ops[i]->name), ops[i]);
        assert_non_null(ops[i]->doc);
        assert_true(ops[i]->version > 0);
    }
    assert_null(leati_graph_op_find("levitate"));
    assert_null(leati_graph_op_find(NULL));
    /* Joining what is there already changes nothing. */
    leati_graph_ops_join(ops, 2);
    size_t again;
    leati_graph_ops(&again);
    assert_int_equal(count, again);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, torture_setup, torture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_prune_keeps_effects_in_order),
        TEST(test_specialise_infers_again),
        TEST(test_inline),
        TEST(test_fingerprints),
        TEST(test_names_and_lines_of_the_table),
        TEST(test_lines_without_memory),
        TEST(test_the_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
