/* Datasets as values inside functions that use what is around them: datasets made outside, values
 * of the function around a function, structures, computed shapes. Expected outcomes are
 * TensorFlow's 2.21 for the program in front of each. */
#include "support/cmocka.h"

#include "support/torture.h"

#include "support/dataset.h"
#include <leat/ops.h>

static leat_value number(leat_graph *graph, int64_t value) {
    leat_tensor tensor = leat_tensor_view(LEAT_INT64, LEAT_SCALAR, &value);
    return leat_graph_tensor(graph, &tensor);
}

static leat_value argument(leat_graph *graph, int index) {
    return leat_graph_argument(graph, index);
}

/* A failure to build something; an allocation may fail anywhere. */
static void keep_error(leat_graph *graph, const void *made, const leat_error *err) {
    if (made == NULL)
        leat_graph_fail(graph, err->code, err->text);
}

/* Functions of int64 scalars, `count` of them; failures stand in the graph. */
static leat_function *function_of(leat_graph *graph, leat_tracer tracer, void *context, int count) {
    leat_error err = {0};
    leat_spec *children[4];
    for (int i = 0; i < count; i++)
        children[i] = leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, &err);
    leat_spec *spec = leat_spec_tuple(children, count, &err);
    leat_function *function = LEAT_TRACE(tracer, context, spec, &err);
    leat_spec_unref(spec);
    keep_error(graph, function, &err);
    return function;
}

/* Operator `op` over `input`, its function traced for (element, captures). The function is given.
 */
static leat_value call_function(leat_graph *graph, const char *op, const char *args,
                                leat_value input, const char *name, leat_function *function,
                                const leat_value *captures, int num_captures) {
    leat_function_argument given = {name, function, captures, num_captures};
    leat_value value = {.graph = graph, .id = -1};
    if (function != NULL) {
        value = leat_graph_dataset_call(graph, &(leat_dataset_call){.op = op,
                                                                    .args = args,
                                                                    .inputs = &input,
                                                                    .num_inputs = 1,
                                                                    .functions = &given,
                                                                    .num_functions = 1});
    }
    leat_function_unref(function);
    return value;
}

static leat_dataset *range_of(int64_t begin, int64_t end, leat_error *err) {
    return leat_dataset_range(begin, end, 1, NULL, err);
}

static leat_value constant_range(leat_graph *graph, int64_t end) {
    leat_error err = {0};
    leat_dataset *range = range_of(0, end, &err);
    keep_error(graph, range, &err);
    leat_value value = leat_graph_dataset(graph, range);
    leat_dataset_unref(range);
    return value;
}

static leat_value range_to(leat_graph *graph, leat_value stop) {
    return leat_graph_dataset_op(graph, "range", NULL, NULL, 0, (const char *[]){"stop"}, &stop, 1);
}

/* range(begin, end).flat_map(tracer), or interleave */
struct program {
    leat_tracer tracer;
    int64_t begin, end;
    bool interleave;
    leat_dataset *dataset; /* that the tracer captures; NULL: it makes its own */
};

static leat_dataset *build(void *context, leat_error *err) {
    const struct program *p = context;
    leat_dataset *dataset = range_of(p->begin, p->end, err);
    leat_function *function = LEAT_TRACE(p->tracer, context, leat_dataset_spec(dataset), err);
    if (!p->interleave)
        return leat_dataset_flat_map(dataset, function, err);
    leat_dataset_interleave_options options = {LEAT_DATASET_INTERLEAVE_DEFAULTS, .cycle_length = 2,
                                               .block_length = 2};
    return leat_dataset_interleave(dataset, function, &options, err);
}

static void check(struct program p, const char *expected) {
    dataset_check(build, &p, expected);
}

/* ---- captures ---- */

/* (y, x): 10 * x + y */
static int trace_digits(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    outputs[0] =
        leat_op_add(leat_op_multiply(argument(graph, 1), number(graph, 10)), argument(graph, 0));
    return 1;
}

/* ds.map(lambda y: 10 * x + y), ds = range(3) made outside */
static int trace_map(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    leat_value x = argument(graph, 0);
    outputs[0] = call_function(graph, "map", NULL, constant_range(graph, 3), "map_func",
                               function_of(graph, trace_digits, context, 2), &x, 1);
    return 1;
}

/* (z, y, x): x * 100 + y * 10 + z */
static int trace_three(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_value x = leat_op_multiply(argument(graph, 2), number(graph, 100));
    leat_value y = leat_op_multiply(argument(graph, 1), number(graph, 10));
    outputs[0] = leat_op_add(leat_op_add(x, y), argument(graph, 0));
    return 1;
}

/* (y, x): ds.map(lambda z: x * 100 + y * 10 + z) */
static int trace_inner_map(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    leat_value captures[2] = {argument(graph, 0), argument(graph, 1)};
    outputs[0] = call_function(graph, "map", NULL, constant_range(graph, 3), "map_func",
                               function_of(graph, trace_three, context, 3), captures, 2);
    return 1;
}

static int trace_nested(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    leat_value x = argument(graph, 0);
    outputs[0] = call_function(graph, "flat_map", NULL, constant_range(graph, 3), "map_func",
                               function_of(graph, trace_inner_map, context, 2), &x, 1);
    return 1;
}

/* (y, x): y < x */
static int trace_less(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    outputs[0] = leat_op_less(argument(graph, 0), argument(graph, 1));
    return 1;
}

static int trace_filter(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    leat_value x = argument(graph, 0);
    outputs[0] = call_function(graph, "filter", NULL, constant_range(graph, 3), "predicate",
                               function_of(graph, trace_less, context, 2), &x, 1);
    return 1;
}

/* (s, y, x): (s + y, s * 10 + y + x - x) */
static int trace_step(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_value s = argument(graph, 0), y = argument(graph, 1), x = argument(graph, 2);
    outputs[0] = leat_op_add(s, y);
    outputs[1] =
        leat_op_add(leat_op_add(leat_op_multiply(s, number(graph, 10)), y), leat_op_subtract(x, x));
    return 2;
}

/* ds.scan(x, lambda s, y: (s + y, s * 10 + y)): the state is computed, too */
static int trace_scan(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    leat_value x = argument(graph, 0), input = constant_range(graph, 3);
    leat_function *function = function_of(graph, trace_step, context, 3);
    leat_bound_argument state = {.name = "initial_state", .values = &x, .num_values = 1};
    leat_function_argument step = {"scan_func", function, &x, 1};
    outputs[0] = leat_graph_dataset_call(graph, &(leat_dataset_call){.op = "scan",
                                                                     .inputs = &input,
                                                                     .num_inputs = 1,
                                                                     .bound = &state,
                                                                     .num_bound = 1,
                                                                     .functions = &step,
                                                                     .num_functions = 1});
    leat_function_unref(function);
    return 1;
}

static void test_captures(void **state) {
    (void)state;
    check((struct program){.tracer = trace_map, .end = 3}, "0 1 2 10 11 12 20 21 22");
    check((struct program){.tracer = trace_map, .end = 3, .interleave = true},
          "0 1 10 11 2 12 20 21 22");
    check((struct program){.tracer = trace_nested, .end = 2},
          "0 1 2 10 11 12 20 21 22 100 101 102 110 111 112 120 121 122");
    check((struct program){.tracer = trace_filter, .end = 4}, "0 0 1 0 1 2");
    check((struct program){.tracer = trace_scan, .end = 3}, "0 1 12 10 11 22 20 21 32");
}

/* (z, y): z + 10 * y */
static int trace_tens(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    outputs[0] =
        leat_op_add(argument(graph, 0), leat_op_multiply(argument(graph, 1), number(graph, 10)));
    return 1;
}

/* (y, w): w.map(lambda z: z + 10 * y), where w is a captured dataset */
static int trace_over_capture(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    leat_value y = argument(graph, 0);
    outputs[0] = call_function(graph, "map", NULL, argument(graph, 1), "map_func",
                               function_of(graph, trace_tens, context, 2), &y, 1);
    return 1;
}

/* w = range(x); ds.flat_map(lambda y: w.map(lambda z: z + 10 * y)) */
static int trace_captured_dataset(void *context, leat_graph *graph, leat_value *outputs,
                                  int capacity) {
    leat_error err = {0};
    leat_value w = range_to(graph, argument(graph, 0));
    leat_spec *children[2] = {
        leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, &err),
        leat_spec_dataset(leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, &err), &err)};
    leat_spec *spec = leat_spec_tuple(children, 2, &err);
    leat_function *function = LEAT_TRACE(trace_over_capture, context, spec, &err);
    leat_spec_unref(spec);
    keep_error(graph, function, &err);
    outputs[0] = call_function(graph, "flat_map", NULL, constant_range(graph, 3), "map_func",
                               function, &w, 1);
    return 1;
}

static void test_captured_dataset(void **state) {
    (void)state;
    check((struct program){.tracer = trace_captured_dataset, .end = 3}, "0 10 20 0 1 10 11 20 21");
}

/* (y, v): v + fill([2], y) */
static int trace_add_vector(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_value two = number(graph, 2);
    leat_value dims = leat_op_expand_dims(two, 0);
    outputs[0] = leat_op_add(argument(graph, 1), leat_op_fill(dims, argument(graph, 0)));
    return 1;
}

/* v = fill([x + 1], x); range(2).map(lambda y: v + fill([2], y)): where v has 3 values each element
 * of the inner dataset fails, not its making */
static int trace_shapes(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    leat_error err = {0};
    leat_value x = argument(graph, 0);
    leat_value dims = leat_op_expand_dims(leat_op_add(x, number(graph, 1)), 0);
    leat_value v = leat_op_fill(dims, x);
    leat_spec *children[2] = {leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, &err),
                              leat_spec_tensor(LEAT_INT64, leat_value_shape(v), &err)};
    leat_spec *spec = leat_spec_tuple(children, 2, &err);
    leat_function *function = LEAT_TRACE(trace_add_vector, context, spec, &err);
    leat_spec_unref(spec);
    keep_error(graph, function, &err);
    outputs[0] =
        call_function(graph, "map", NULL, constant_range(graph, 2), "map_func", function, &v, 1);
    return 1;
}

static void test_shapes_found_later(void **state) {
    (void)state;
    check((struct program){.tracer = trace_shapes, .end = 3},
          "[0,0] [1,1] [1,1] [2,2] !INVALID_ARGUMENT !INVALID_ARGUMENT");
}

/* A callback that has no name: no JSON could hold it. */
static leat_status add_callback(void *context, const leat_element *in, leat_element *out,
                                leat_error *err) {
    atomic_int *calls = context;
    atomic_fetch_add(calls, 1);
    int64_t sum = *(int64_t *)in->tensors[0].data * 2 + *(int64_t *)in->tensors[1].data;
    leat_tensor tensor = leat_tensor_view(LEAT_INT64, LEAT_SCALAR, &sum);
    leat_spec *spec = leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, err);
    leat_tensor copy = {0};
    leat_status status = leat_tensor_copy_of(LEAT_INT64, LEAT_SCALAR, tensor.data, &copy, err);
    if (status == LEAT_OK)
        status = leat_element_set(out, spec, &copy, err);
    leat_tensor_unref(&copy);
    leat_spec_unref(spec);
    return status;
}

static atomic_int calls;

static int trace_callback(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_error err = {0};
    leat_spec *children[2] = {leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, &err),
                              leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, &err)};
    leat_function *function =
        LEAT_CALLBACK(add_callback, &calls, NULL, NULL, 0, leat_spec_tuple(children, 2, &err),
                      leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, &err), &err);
    leat_value x = argument(graph, 0);
    outputs[0] =
        call_function(graph, "map", NULL, constant_range(graph, 3), "map_func", function, &x, 1);
    return 1;
}

static void test_callbacks(void **state) {
    (void)state;
    leat_error err = {0};
    struct program p = {.tracer = trace_callback, .end = 3};
    leat_dataset *dataset = build(&p, &err);
    assert_non_null(dataset);
    assert_false(dataset->pure);
    atomic_store(&calls, 0);
    char *text = dataset_text(dataset, NULL, -1);
    assert_string_equal(text, "0 2 4 1 3 5 2 4 6");
    assert_int_equal(atomic_load(&calls), 9);
    free(text);
    assert_null(leat_dataset_to_json(dataset, &err));
    assert_int_equal(err.code, LEAT_UNIMPLEMENTED);
    leat_dataset_unref(dataset);
}

/* ---- datasets made outside ---- */

static int trace_constant(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    outputs[0] = leat_graph_dataset(graph, ((struct program *)context)->dataset);
    return 1;
}

/* ds = range(4).shuffle(4, seed=7); range(3).flat_map(lambda _: ds), iterated over twice: one seed
 * generator serves all. */
static void test_shared_generator(void **state) {
    (void)state;
    leat_error err = {0};
    leat_dataset_shuffle_options options = {LEAT_DATASET_SHUFFLE_DEFAULTS, .seed = LEAT_SEED(7)};
    struct program p = {.tracer = trace_constant, .end = 3};
    p.dataset = leat_dataset_shuffle(range_of(0, 4, &err), 4, &options, &err);
    leat_dataset *dataset = build(&p, &err);
    assert_non_null(dataset);
    assert_false(dataset->pure);
    const char *const expected[2] = {"0 2 1 3 1 0 3 2 3 0 2 1", "0 3 1 2 2 1 0 3 2 0 1 3"};
    for (int i = 0; i < 2; i++) {
        char *text = dataset_text(dataset, NULL, -1);
        assert_string_equal(text, expected[i]);
        free(text);
    }
    leat_dataset_unref(p.dataset);
    leat_dataset_unref(dataset);
}

static leat_dataset *build_repeated(void *context, leat_error *err) {
    leat_dataset_shuffle_options options = {LEAT_DATASET_SHUFFLE_DEFAULTS, .seed = LEAT_SEED(7)};
    struct program p = {.tracer = context, .end = 3};
    p.dataset = leat_dataset_shuffle(range_of(0, 4, err), 4, &options, err);
    leat_dataset *dataset = p.dataset == NULL ? NULL : build(&p, err);
    leat_dataset_unref(p.dataset);
    return dataset;
}

/* ds.take(x) of a dataset made outside */
static int trace_take(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    leat_value ds = leat_graph_dataset(graph, ((struct program *)context)->dataset);
    leat_value x = argument(graph, 0);
    outputs[0] =
        leat_graph_dataset_op(graph, "take", NULL, &ds, 1, (const char *[]){"count"}, &x, 1);
    return 1;
}

static void test_constants(void **state) {
    (void)state;
    dataset_check(build_repeated, trace_constant, "0 2 1 3 1 0 3 2 3 0 2 1");
    dataset_check(build_repeated, trace_take, "0 1 0");
}

/* ---- structures and shapes ---- */

/* from_tensors({"a": (x, x + 1), "b": fill([x], x)}) */
static int trace_structure(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_error err = {0};
    leat_value x = argument(graph, 0);
    leat_value values[3] = {x, leat_op_add(x, number(graph, 1)),
                            leat_op_fill(leat_op_expand_dims(x, 0), x)};
    leat_spec *pair[2] = {leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, &err),
                          leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, &err)};
    leat_spec *children[2] = {
        leat_spec_tuple(pair, 2, &err),
        leat_spec_tensor(LEAT_INT64, (leat_shape){.rank = LEAT_UNKNOWN_RANK}, &err)};
    leat_spec *structure = leat_spec_dict((const char *[]){"a", "b"}, children, 2, &err);
    keep_error(graph, structure, &err);
    leat_bound_argument bound = {"tensors", values, 3, structure};
    outputs[0] = leat_graph_dataset_call(
        graph, &(leat_dataset_call){.op = "from_tensors", .bound = &bound, .num_bound = 1});
    leat_spec_unref(structure);
    return 1;
}

static void test_structures(void **state) {
    (void)state;
    check((struct program){.tracer = trace_structure, .begin = 1, .end = 3},
          "{a:(1,2),b:[1]} {a:(2,3),b:[2,2]}");
}

/* fill([y], y) */
/* range(5).batch(2, drop_remainder=x < 1) and range(2) with a name that a tensor gives. */
static int trace_bool(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_value input = constant_range(graph, 5),
               less = leat_op_less(argument(graph, 0), number(graph, 1));
    outputs[0] = leat_graph_dataset_op(graph, "batch", "{\"batch_size\": 2}", &input, 1,
                                       (const char *[]){"drop_remainder"}, &less, 1);
    return 1;
}

static int trace_text(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_value input = constant_range(graph, 2), text = leat_op_as_string(argument(graph, 0), NULL);
    outputs[0] = leat_graph_dataset_op(graph, "with_options", NULL, &input, 1,
                                       (const char *[]){"dataset_name"}, &text, 1);
    return 1;
}

static int trace_real(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_value start = leat_op_cast(argument(graph, 0), LEAT_FLOAT64), two = number(graph, 2);
    leat_value numbers = leat_graph_dataset_op(graph, "counter", NULL, NULL, 0,
                                               (const char *[]){"start"}, &start, 1);
    outputs[0] =
        leat_graph_dataset_op(graph, "take", NULL, &numbers, 1, (const char *[]){"count"}, &two, 1);
    return 1;
}

static void test_bound_kinds(void **state) {
    (void)state;
    check((struct program){trace_bool, 0, 2, .interleave = false}, "[0,1] [2,3] [0,1] [2,3] [4]");
    check((struct program){trace_text, 0, 2, .interleave = false}, "0 1 0 1");
    check((struct program){trace_real, 3, 5, .interleave = false}, "3 4 4 5");
}

static int trace_fill(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    outputs[0] = leat_op_fill(leat_op_expand_dims(argument(graph, 0), 0), argument(graph, 0));
    return 1;
}

/* range(1, 4).map(fill).padded_batch(3, padded_shapes=[x + 2], padding_values=-x) */
static int trace_padded(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    leat_error err = {0};
    leat_dataset *range = range_of(1, 4, &err);
    keep_error(graph, range, &err);
    leat_value ds = leat_graph_dataset(graph, range), x = argument(graph, 0);
    leat_dataset_unref(range);
    ds = call_function(graph, "map", NULL, ds, "map_func",
                       function_of(graph, trace_fill, context, 1), NULL, 0);
    leat_value shape = leat_op_expand_dims(leat_op_add(x, number(graph, 2)), 0);
    leat_value value = leat_op_subtract(number(graph, 0), x);
    leat_bound_argument bound[2] = {{"padded_shapes", &shape, 1, NULL},
                                    {"padding_values", &value, 1, NULL}};
    outputs[0] = leat_graph_dataset_call(graph, &(leat_dataset_call){.op = "padded_batch",
                                                                     .args = "{\"batch_size\": 3}",
                                                                     .inputs = &ds,
                                                                     .num_inputs = 1,
                                                                     .bound = bound,
                                                                     .num_bound = 2});
    return 1;
}

static void test_padded_batch(void **state) {
    (void)state;
    check((struct program){.tracer = trace_padded, .begin = 1, .end = 3},
          "[1,-1,-1,2,2,-1,3,3,3] [1,-2,-2,-2,2,2,-2,-2,3,3,3,-2]");
}

/* cond(x < 2, range(x + 1), a constant of pairs of numbers): the branches' datasets are joined */
static int trace_then(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    outputs[0] = range_to(graph, leat_op_add(argument(graph, 0), number(graph, 1)));
    return 1;
}

static int trace_else(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    outputs[0] = constant_range(graph, 1);
    return 1;
}

static int trace_cond(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    leat_function *branches[2] = {function_of(graph, trace_then, context, 1),
                                  function_of(graph, trace_else, context, 1)};
    leat_value x = argument(graph, 0);
    int count = -1;
    if (branches[0] != NULL && branches[1] != NULL) {
        count = leat_op_cond(leat_op_less(x, number(graph, 2)), branches[0], branches[1], &x, 1,
                             outputs);
    }
    leat_function_unref(branches[0]);
    leat_function_unref(branches[1]);
    return count;
}

static void test_cond(void **state) {
    (void)state;
    check((struct program){.tracer = trace_cond, .end = 4}, "0 0 1 0 0");
}

/* ---- failures ---- */

static const char *failure_of(const leat_dataset_call *call) {
    static leat_error err;

    leat_spec *spec = leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, &err);
    leat_graph *graph = leat_graph_new(spec, &err);
    leat_spec_unref(spec);
    leat_value input = constant_range(graph, 3), x = argument(graph, 0);
    leat_dataset_call copy = *call;
    leat_function_argument functions[5];
    leat_bound_argument bound[1];
    copy.inputs = &input;
    copy.num_inputs = 1;
    if (copy.num_functions > 0) {
        for (int i = 0; i < copy.num_functions && i < 5; i++) {
            functions[i] = copy.functions[0];
            functions[i].captures = &x;
        }
        copy.functions = functions;
    }
    if (copy.num_bound > 0) {
        bound[0] = copy.bound[0];
        bound[0].values = &x;
        copy.bound = bound;
    }
    leat_value value = leat_graph_dataset_call(graph, &copy);
    err = (leat_error){0};
    assert_null(leat_graph_finish(graph, &value, 1, NULL, &err));
    return err.text;
}

static void contains(const char *text, const char *part) {
    if (strstr(text, part) == NULL)
        fail_msg("found \"%s\", expected \"%s\" in it", text, part);
}

static void test_failures(void **state) {
    (void)state;
    leat_error err = {0};
    leat_spec *children[2] = {leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, &err),
                              leat_spec_tensor(LEAT_FLOAT32, LEAT_SCALAR, &err)};
    leat_spec *spec = leat_spec_tuple(children, 2, &err);
    leat_function *function = LEAT_TRACE(trace_fill, NULL, spec, &err);
    leat_spec_unref(spec);
    leat_function_argument f = {"map_func", function, NULL, 1};
    leat_dataset_call call = {.op = "map", .functions = &f, .num_functions = 1};
    contains(failure_of(&call), "map: map_func: argument 1 is int64 of shape [], but the "
                                "function takes float32 of shape []");
    f.num_captures = 0;
    contains(failure_of(&call), "map_func takes");
    f.name = "mapfunc";
    contains(failure_of(&call), "map has no function argument \"mapfunc\"");
    f.name = "num_parallel_calls";
    contains(failure_of(&call), "map has no function argument \"num_parallel_calls\"");
    f = (leat_function_argument){"map_func", NULL, NULL, 0};
    contains(failure_of(&call), "function 0 is none");
    for (int n = -1; n <= 5; n += 6) {
        call = (leat_dataset_call){.op = "map", .functions = &f, .num_functions = n};
        contains(failure_of(&call), "a dataset value: op is NULL, or too many inputs");
    }
    call = (leat_dataset_call){.op = NULL};
    contains(failure_of(&call), "a dataset value: op is NULL, or too many inputs");
    call = (leat_dataset_call){.op = "no_such"};
    contains(failure_of(&call),
             "operator \"no_such\" is not in the table; `leat ops` lists what is");
    call = (leat_dataset_call){.op = "map", .args = "[1]"};
    contains(failure_of(&call), "object");
    leat_bound_argument b = {"count", NULL, 1, NULL};
    call = (leat_dataset_call){.op = "map", .bound = &b, .num_bound = 1};
    contains(failure_of(&call), "map has no argument \"count\"");
    spec = leat_spec_tuple(NULL, 0, &err);
    b = (leat_bound_argument){"padded_shapes", NULL, 1, spec};
    call = (leat_dataset_call){
        .op = "padded_batch", .args = "{\"batch_size\": 2}", .bound = &b, .num_bound = 1};
    contains(failure_of(&call), "the structure of padded_shapes has 0 components");
    leat_spec_unref(spec);
    leat_function_unref(function);
}

static int teardown(void **state) {
    leati_dataset_templates_trim();
    return torture_teardown(state);
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, torture_setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_captures),   TEST(test_captured_dataset), TEST(test_shapes_found_later),
        TEST(test_callbacks),  TEST(test_shared_generator), TEST(test_constants),
        TEST(test_structures), TEST(test_padded_batch),     TEST(test_cond),
        TEST(test_failures),   TEST(test_bound_kinds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
