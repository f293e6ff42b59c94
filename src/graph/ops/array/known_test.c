/* What is known of shapes that are computed from shapes while a graph is built: each line computes
 * a few integers, and a tensor of that shape must have the static shape that numpy's numbers say,
 * with ? where a number comes from a dimension that is not known. */
#include "support/cmocka.h"

#include "core/spec.h"
#include "graph/graph.h"
#include <leat/leat.h>
#include <stdio.h>
#include <string.h>

/* Inputs by letters: s is the shape [4, ?, 2, 3], v [5, 6, 7, 8], t [9], c 2, z 0, u the second
 * number of s, b 2^31 - 1 and m -2^31, all int32; w is [5, 6] of int64. */
static const char letters[] = "svtczubmw";

static const struct {
    const char *op, *inputs, *attributes, *expected;
} lines[] = {
    {"identity", "s", "{}", "[4, ?, 2, 3]"},
    {"identity", "w", "{}", "[5, 6]"},
    {"subtract", "sc", "{}", "[2, ?, 0, 1]"},
    {"subtract", "vs", "{}", "[1, ?, 5, 5]"},
    {"subtract", "bc", "{}", "[2147483645]"},
    {"subtract", "cm", "{}", "[?]"},
    {"subtract", "zm", "{}", "[?]"},
    {"add", "sc", "{}", "[6, ?, 4, 5]"},
    {"add", "sv", "{}", "[9, ?, 9, 11]"},
    {"add", "cs", "{}", "[6, ?, 4, 5]"},
    {"add", "uc", "{}", "[?]"},
    {"add", "bc", "{}", "[?]"},
    {"add", "tv", "{}", "[14, 15, 16, 17]"},
    {"multiply", "sv", "{}", "[20, ?, 14, 24]"},
    {"multiply", "bc", "{}", "[?]"},
    {"multiply", "cc", "{}", "[4]"},
    {"floordiv", "vc", "{}", "[2, 3, 3, 4]"},
    {"floordiv", "vs", "{}", "[1, ?, 3, 2]"},
    {"floordiv", "cz", "{}", "[?]"},
    {"cast", "s", "{\"dtype\": \"int64\"}", "[4, ?, 2, 3]"},
    {"cast", "b", "{\"dtype\": \"int64\"}", "[2147483647]"},
    {"expand_dims", "c", "{\"axis\": 0}", "[2]"},
    {"squeeze", "t", "{}", "[9]"},
    {"reshape", "c", "{\"shape\": [1]}", "[2]"},
    {"reshape", "t", "{\"shape\": []}", "[9]"},
    {"reshape", "s", "{\"shape\": [4]}", "[4, ?, 2, 3]"},
    {"reshape", "s", "{\"shape\": [-1]}", "[4, ?, 2, 3]"},
    {"slice", "s", "{\"begin\": [0], \"size\": [4]}", "[4, ?, 2, 3]"},
    {"slice", "s", "{\"begin\": [2], \"size\": [2]}", "[2, 3]"},
    {"slice", "s", "{\"begin\": [1], \"size\": [-1]}", "[?, 2, 3]"},
    {"slice", "v", "{\"begin\": [1], \"size\": [2]}", "[6, 7]"},
    {"strided_slice", "s", "{\"begin\": [1], \"end\": [3]}", "[?, 2]"},
    {"strided_slice", "s", "{\"begin\": [0], \"end\": [4], \"strides\": [2]}", "[4, 2]"},
    {"strided_slice", "v", "{\"begin\": [-1], \"end\": [-4], \"strides\": [-2]}", "[8, 6]"},
    {"strided_slice", "s", "{\"begin\": [3], \"end\": [4], \"shrink_axis_mask\": 1}", "[3]"},
    {"strided_slice", "s", "{\"begin\": [1], \"end\": [2], \"shrink_axis_mask\": 1}", "[?]"},
    {"strided_slice", "v", "{\"begin\": [0], \"end\": [0], \"end_mask\": 1}", "[5, 6, 7, 8]"},
    {"strided_slice", "s", "{\"begin\": [2], \"end\": [2]}", "[]"},
    {"stack", "cu", "{}", "[2, ?]"},
    {"stack", "cbz", "{}", "[2, 2147483647, 0]"},
    {"concat", "st", "{\"axis\": 0}", "[4, ?, 2, 3, 9]"},
    {"concat", "tvt", "{\"axis\": -1}", "[9, 5, 6, 7, 8, 9]"},
    {"concat", "sv", "{\"axis\": 0}", "[4, ?, 2, 3, 5, 6, 7, 8]"},
    {"concat", "svt", "{\"axis\": 0}", "refused"},
};

static leat_value constant(leat_graph *graph, const char *tensor) {
    char attributes[160];
    leat_value out[LEAT_MAX_OUTPUTS];
    snprintf(attributes, sizeof attributes, "{\"value\": %s}", tensor);
    assert_int_equal(leat_graph_call(graph, "constant", attributes, NULL, 0, out, LEAT_MAX_OUTPUTS),
                     1);
    return out[0];
}

#define INT(VALUE) "{\"dtype\": \"int32\", \"shape\": [], \"data\": [" VALUE "]}"

static int trace_line(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    size_t line = *(const size_t *)context;
    leat_value s = leat_op_shape(leat_graph_argument(graph, 0), LEAT_INT32), inputs[8];
    const leat_value values[] = {
        s,
        constant(graph, "{\"dtype\": \"int32\", \"shape\": [4], \"data\": [5, 6, 7, 8]}"),
        constant(graph, "{\"dtype\": \"int32\", \"shape\": [1], \"data\": [9]}"),
        constant(graph, INT("2")),
        constant(graph, INT("0")),
        leat_op_gather(s, constant(graph, INT("1")), 0, 0),
        constant(graph, INT("2147483647")),
        constant(graph, INT("-2147483648")),
        constant(graph, "{\"dtype\": \"int64\", \"shape\": [2], \"data\": [5, 6]}"),
    };
    int count = (int)strlen(lines[line].inputs);
    for (int i = 0; i < count; i++)
        inputs[i] = values[strchr(letters, lines[line].inputs[i]) - letters];
    if (leat_graph_call(graph, lines[line].op, lines[line].attributes, inputs, count, outputs,
                        LEAT_MAX_OUTPUTS) < 0)
        return -1;
    leat_value shape = outputs[0];
    if (leat_value_shape(shape).rank == 0)
        shape = leat_op_stack(&shape, 1, 0);
    outputs[0] = leat_op_fill(shape, leat_graph_argument(graph, 1));
    return 1;
}

static void test_known(void **state) {
    (void)state;
    leat_error err = {0};
    leat_spec *children[] = {
        leat_spec_tensor(LEAT_FLOAT32, LEAT_SHAPE(4, -1, 2, 3), &err),
        leat_spec_tensor(LEAT_FLOAT32, LEAT_SCALAR, &err),
    };
    leat_spec *spec = leat_spec_tuple(children, 2, &err);
    int wrong = 0;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char text[128] = "refused";
        leat_function *function = LEAT_TRACE(trace_line, &i, spec, &err);
        if (function != NULL) {
            leat_shape shape = leat_spec_component_shape(leat_function_output(function), 0);
            leati_shape_text(&shape, text);
        }
        if (strcmp(text, lines[i].expected) != 0) {
            wrong++;
            printf("FAIL %s(%s) %s: %s; expected %s %s\n", lines[i].op, lines[i].inputs,
                   lines[i].attributes, text, lines[i].expected, function != NULL ? "" : err.text);
        }
        leat_function_unref(function);
    }
    leat_spec_unref(spec);
    assert_int_equal(wrong, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_known)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
