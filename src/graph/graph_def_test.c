/* GraphDefs: the nodes of a function and of those inside of it, by their names and inputs. */
#include "support/cmocka.h"

#include "file/wire.h"
#include "graph/graph.h"
#include "support/graph.h"
#include "support/torture.h"
#include <leat/ops.h>
#include <leat/summary.h>

static const char expected[] = "argument_0 Placeholder\n"
                               "argument_1 Placeholder\n"
                               "argument_2 Placeholder\n"
                               "weight VarHandleOp\n"
                               "read_variable_0 read_variable weight\n"
                               "weight_1 VarHandleOp\n"
                               "read_variable_1 read_variable weight_1\n"
                               "multiply_2 multiply read_variable_0 read_variable_1\n"
                               "cond_3/then_branch/argument_0 Placeholder\n"
                               "cond_3/then_branch/argument_1 Placeholder\n"
                               "cond_3/then_branch/square_0 square cond_3/then_branch/argument_0\n"
                               "cond_3/else_branch/argument_0 Placeholder\n"
                               "cond_3/else_branch/argument_1 Placeholder\n"
                               "cond_3/else_branch/square_0 square cond_3/else_branch/argument_0\n"
                               "cond_3 cond argument_0 argument_1 multiply_2\n"
                               "assign_variable_4 assign_variable cond_3 weight\n";

/* Lines of "name op inputs". */
static char *lines_of(const leat_buffer *buffer) {
    const uint8_t *data = leat_buffer_data(buffer);
    leati_wire graph = {data, data + leat_buffer_size(buffer)};
    leati_wire_field node, field;
    char *out = calloc(1, 65536);
    while (graph.at < graph.end) {
        assert_true(leati_wire_next(&graph, &node));
        if (node.number != 1)
            continue;
        while (node.bytes.at < node.bytes.end) {
            assert_true(leati_wire_next(&node.bytes, &field));
            if (field.number > 3)
                continue;
            size_t size = (size_t)(field.bytes.end - field.bytes.at);
            snprintf(out + strlen(out), 65536 - strlen(out), "%s%.*s", field.number > 1 ? " " : "",
                     (int)size, (const char *)field.bytes.at);
        }
        snprintf(out + strlen(out), 65536 - strlen(out), "\n");
    }
    return out;
}

struct variables {
    leat_variable *first, *second;
    leat_function *branch;
};

static int branch(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    outputs[0] = leat_op_square(leat_graph_argument(graph, 0));
    return 1;
}

static int program(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    struct variables *v = context;
    leat_value first = leat_graph_read(graph, v->first), second = leat_graph_read(graph, v->second);
    leat_value product = leat_op_multiply(first, second);
    leat_value inputs[2] = {leat_graph_argument(graph, 1), product};
    leat_op_cond(leat_graph_argument(graph, 0), v->branch, v->branch, inputs, 2, outputs);
    leat_graph_assign(graph, v->first, outputs[0]);
    return 1;
}

static leat_function *trace_program(struct variables *variables) {
    leat_error err = {0};
    leat_tensor one = leat_scalar_float64(1);
    const leat_variable_options options = {LEAT_VARIABLE_DEFAULTS, .name = "weight"};
    leat_shape shapes[2] = {LEAT_SCALAR, LEAT_SCALAR};
    variables->first = leat_variable_new(&one, &options, &err);
    variables->second = leat_variable_new(&one, &options, &err);
    variables->branch = test_trace_float64(branch, NULL, 2, shapes);
    leat_spec *spec = test_spec(3, (leat_dtype[]){LEAT_BOOL, LEAT_FLOAT64, LEAT_FLOAT64},
                                (leat_shape[]){LEAT_SCALAR, LEAT_SCALAR, LEAT_SCALAR});
    leat_function *function = LEAT_TRACE(program, variables, spec, &err);
    leat_spec_unref(spec);
    leat_tensor_unref(&one);
    if (function == NULL)
        fail_msg("%s", err.text);
    return function;
}

static void free_program(struct variables *variables, leat_function *function) {
    leat_function_unref(function);
    leat_function_unref(variables->branch);
    leat_variable_unref(variables->first);
    leat_variable_unref(variables->second);
}

static void nodes_by_name(void **state) {
    (void)state;
    struct variables variables = {0};
    leat_function *function = trace_program(&variables);
    leat_buffer *buffer = leat_function_to_graph_def(function, NULL);
    assert_non_null(buffer);
    char *text = lines_of(buffer);
    assert_string_equal(text, expected);
    free(text);
    leat_buffer_unref(buffer);
    free_program(&variables, function);
}

static leat_status write_once(void *context, leat_error *err) {
    leat_buffer *buffer = leat_function_to_graph_def(context, err);
    if (buffer == NULL)
        return torture_code(err);
    leat_buffer_unref(buffer);
    return LEAT_OK;
}

static void failing_allocations(void **state) {
    (void)state;
    struct variables variables = {0};
    leat_function *function = trace_program(&variables);
    torture_run(write_once, function);
    free_program(&variables, function);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, torture_setup, torture_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {TEST(nodes_by_name), TEST(failing_allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
