/* The named functions of the cases: what each name stands for, built with the operations. */
#include "golden_functions.h"
#include "graph/graph.h"
#include <string.h>

leat_value golden_arg(leat_graph *graph, int index) {
    return leat_graph_argument(graph, index);
}

leat_value golden_int64(leat_graph *graph, int64_t number) {
    leat_tensor scalar = leat_tensor_view(LEAT_INT64, LEAT_SCALAR, &number);
    return leat_graph_tensor(graph, &scalar);
}

leat_value golden_like(leat_value value, int64_t number) {
    leat_value constant = golden_int64(value.graph, number);
    return leat_value_dtype(value) == LEAT_INT64 ? constant
                                                 : leat_op_cast(constant, leat_value_dtype(value));
}

ONE(add_one, leat_op_add(x, LIKE(1)))
ONE(add_ten, leat_op_add(x, LIKE(10)))
ONE(twice, leat_op_multiply(LIKE(2), x))
ONE(square, leat_op_multiply(x, x))
ONE(negate, leat_op_negate(x))
ONE(half, leat_op_floordiv(x, LIKE(2)))
ONE(mod_2, leat_op_floormod(x, LIKE(2)))
ONE(mod_3, leat_op_floormod(x, LIKE(3)))
ONE(minus_mod_3, leat_op_negate(leat_op_floormod(x, LIKE(3))))
ONE(zero, golden_int64(x.graph, 0))
ONE(mod_2_int32, leat_op_cast(leat_op_floormod(x, LIKE(2)), LEAT_INT32))
ONE(to_int32, leat_op_cast(x, LEAT_INT32))
ONE(to_int64, leat_op_cast(x, LEAT_INT64))
ONE(to_uint8, leat_op_cast(x, LEAT_UINT8))
ONE(to_float32, leat_op_cast(x, LEAT_FLOAT32))
ONE(to_float64, leat_op_cast(x, LEAT_FLOAT64))
ONE(to_bool, leat_op_not_equal(x, LIKE(0)))
ONE(to_string, leat_op_as_string(x, NULL))
ONE(upper, leat_op_string_upper(x, NULL))
ONE(string_length, leat_op_string_length(x, NULL))
ONE(vec_sum, leat_op_reduce_sum(x, NULL, 0, false))
ONE(size_of, leat_op_size(x, LEAT_INT64))
ONE(vec_size_int32, leat_op_size(x, LEAT_INT32))

/* x where the condition holds, else a failure. */
#define CHECKED(CONDITION, CODE) leat_op_assert(CONDITION, x, CODE, "the function failed by order")
ONE(fail_on_3, CHECKED(leat_op_not_equal(x, LIKE(3)), LEAT_INVALID_ARGUMENT))
ONE(fail_on_odd,
    CHECKED(leat_op_equal(leat_op_floormod(x, LIKE(2)), LIKE(0)), LEAT_INVALID_ARGUMENT))
ONE(fail_on_mod_4_is_3,
    CHECKED(leat_op_not_equal(leat_op_floormod(x, LIKE(4)), LIKE(3)), LEAT_INVALID_ARGUMENT))
ONE(fail_always, CHECKED(leat_op_not_equal(x, x), LEAT_INVALID_ARGUMENT))
ONE(stop_on_3, CHECKED(leat_op_not_equal(x, LIKE(3)), LEAT_OUT_OF_RANGE))

/* ---- predicates ---- */

static leat_value is_zero(leat_value x) {
    return leat_op_equal(x, golden_like(x, 0));
}

static leat_value constant_bool(leat_graph *graph, bool value) {
    leat_tensor scalar = leat_tensor_view(LEAT_BOOL, LEAT_SCALAR, &value);
    return leat_graph_tensor(graph, &scalar);
}

ONE(is_even, is_zero(leat_op_floormod(x, LIKE(2))))
ONE(is_odd, leat_op_equal(leat_op_floormod(x, LIKE(2)), LIKE(1)))
ONE(less_than_5, leat_op_less(x, LIKE(5)))
ONE(not_multiple_of_3, leat_op_logical_not(is_zero(leat_op_floormod(x, LIKE(3)))))
ONE(not_empty, leat_op_greater(leat_op_size(x, LEAT_INT64), golden_int64(x.graph, 0)))
ONE(string_not_empty,
    leat_op_greater(leat_op_string_length(x, NULL), golden_like(leat_op_string_length(x, NULL), 0)))

static int always_true(leat_graph *graph, const leat_spec *input, leat_value *out) {
    (void)input;
    out[0] = constant_bool(graph, true);
    return 1;
}

static int always_false(leat_graph *graph, const leat_spec *input, leat_value *out) {
    (void)input;
    out[0] = constant_bool(graph, false);
    return 1;
}

ONE(even_fail_on_3,
    is_zero(leat_op_floormod(CHECKED(leat_op_not_equal(x, LIKE(3)), LEAT_INVALID_ARGUMENT),
                             LIKE(2))))
ONE(small_fail_on_3,
    leat_op_less(CHECKED(leat_op_not_equal(x, LIKE(3)), LEAT_INVALID_ARGUMENT), LIKE(5)))

static int not_scalar(leat_graph *graph, const leat_spec *input, leat_value *out) {
    (void)input;
    leat_value both[2] = {constant_bool(graph, true), constant_bool(graph, true)};
    out[0] = leat_op_stack(both, 2, 0);
    return 1;
}

/* ---- several arguments, several outputs ---- */

static int identity(leat_graph *graph, const leat_spec *input, leat_value *out) {
    int count = leat_spec_num_components(input);
    for (int i = 0; i < count && i < LEAT_MAX_OUTPUTS; i++)
        out[i] = golden_arg(graph, i);
    return count;
}

static leat_spec *like_input(const leat_spec *input, leat_error *err) {
    (void)err;
    return leat_spec_ref(input);
}

static int pair_with_square(leat_graph *graph, const leat_spec *input, leat_value *out) {
    (void)input;
    out[0] = golden_arg(graph, 0);
    out[1] = leat_op_multiply(out[0], out[0]);
    return 2;
}

static int to_dict(leat_graph *graph, const leat_spec *input, leat_value *out) {
    (void)input;
    out[0] = golden_arg(graph, 0);
    out[1] = leat_op_multiply(golden_like(out[0], 10), out[0]);
    return 2;
}

/* A placeholder leaf: only the tree counts, types come from the values. */
static leat_spec *leaf(leat_error *err) {
    return leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, err);
}

static leat_spec *dict_structure(const leat_spec *input, leat_error *err) {
    (void)input;
    leat_spec *children[2] = {leaf(err), leaf(err)};
    return leat_spec_dict((const char *const[]){"a", "b"}, children, 2, err);
}

static int to_nested(leat_graph *graph, const leat_spec *input, leat_value *out) {
    (void)input;
    leat_value x = golden_arg(graph, 0);
    out[0] = x;
    out[1] = leat_op_add(x, LIKE(1));
    out[2] = leat_op_multiply(LIKE(2), x);
    out[3] = leat_op_multiply(LIKE(3), x);
    return 4;
}

static leat_spec *nested_structure(const leat_spec *input, leat_error *err) {
    (void)input;
    leat_spec *pair[2] = {leaf(err), leaf(err)};
    leat_spec *dict[2] = {leaf(err), leat_spec_tuple(pair, 2, err)};
    leat_spec *whole[2] = {leaf(err),
                           leat_spec_dict((const char *const[]){"a", "b"}, dict, 2, err)};
    return leat_spec_tuple(whole, 2, err);
}

/* Components of the first of two arguments; -1 where there are not two. */
static int first_size(const leat_spec *input) {
    return leat_spec_num_children(input) == 2 ? leat_spec_num_components(leat_spec_child(input, 0))
                                              : -1;
}

static int no_pair(leat_graph *graph) {
    leat_graph_fail(graph, LEAT_INVALID_ARGUMENT, "the function takes two arguments");
    return -1;
}

static int swap(leat_graph *graph, const leat_spec *input, leat_value *out) {
    int count = leat_spec_num_components(input), first = first_size(input);
    if (first < 0)
        return no_pair(graph);
    for (int i = 0; i < count; i++)
        out[i] = golden_arg(graph, (i + first) % count);
    return count;
}

static leat_spec *swapped(const leat_spec *input, leat_error *err) {
    leat_spec *children[2] = {leat_spec_ref((leat_spec *)leat_spec_child(input, 1)),
                              leat_spec_ref((leat_spec *)leat_spec_child(input, 0))};
    return leat_spec_tuple(children, 2, err);
}

static int first(leat_graph *graph, const leat_spec *input, leat_value *out) {
    int count = first_size(input);
    if (count < 0)
        return no_pair(graph);
    for (int i = 0; i < count; i++)
        out[i] = golden_arg(graph, i);
    return count;
}

static leat_spec *first_structure(const leat_spec *input, leat_error *err) {
    (void)err;
    return leat_spec_ref((leat_spec *)leat_spec_child(input, 0));
}

static int second(leat_graph *graph, const leat_spec *input, leat_value *out) {
    int skipped = first_size(input), count = leat_spec_num_components(input) - skipped;
    if (skipped < 0)
        return no_pair(graph);
    for (int i = 0; i < count; i++)
        out[i] = golden_arg(graph, skipped + i);
    return count;
}

static leat_spec *second_structure(const leat_spec *input, leat_error *err) {
    (void)err;
    return leat_spec_ref((leat_spec *)leat_spec_child(input, 1));
}

ONE(add_pair, leat_op_add(x, golden_arg(graph, 1)))

/* ---- shapes that depend on data ---- */

static leat_value iota_of(leat_value x) {
    return leat_op_range(golden_like(x, 0), x, golden_like(x, 1), LEAT_INVALID);
}

static leat_value filled(leat_value x, leat_value rows, leat_value columns) {
    leat_value dims[2] = {rows, columns};
    return leat_op_fill(leat_op_stack(dims, 2, 0), x);
}

ONE(iota, iota_of(x))
ONE(iota_mod_4, iota_of(leat_op_floormod(x, LIKE(4))))
ONE(iota_string, leat_op_as_string(iota_of(x), NULL))
ONE(fill_self, leat_op_fill(leat_op_reshape(x, (const int64_t[]){1}, 1), x))
ONE(fill_rows, leat_op_ensure_shape(filled(x, x, LIKE(2)), LEAT_SHAPE(-1, 2)))
ONE(fill_cols, leat_op_ensure_shape(filled(x, LIKE(2), x), LEAT_SHAPE(2, -1)))

static int iota_pair(leat_graph *graph, const leat_spec *input, leat_value *out) {
    (void)input;
    out[1] = golden_arg(graph, 0);
    out[0] = iota_of(out[1]);
    return 2;
}

static int vec3(leat_graph *graph, const leat_spec *input, leat_value *out) {
    (void)input;
    leat_value x = golden_arg(graph, 0);
    leat_value values[3] = {x, leat_op_add(x, LIKE(1)), leat_op_add(x, LIKE(2))};
    out[0] = leat_op_stack(values, 3, 0);
    return 1;
}

static int exclaim(leat_graph *graph, const leat_spec *input, leat_value *out) {
    (void)input;
    leat_string text = {.data = "!", .size = 1};
    leat_tensor mark = leat_tensor_view(LEAT_STRING, LEAT_SCALAR, &text);
    leat_value both[2] = {golden_arg(graph, 0), leat_graph_tensor(graph, &mark)};
    out[0] = leat_op_string_join(both, 2, NULL);
    return 1;
}

/* ---- the table ---- */

const golden_named golden_element_functions[] = {
    {.name = "identity", .trace = identity, .structure = like_input},
    {.name = "add_one", .trace = add_one},
    {.name = "add_ten", .trace = add_ten},
    {.name = "double", .trace = twice},
    {.name = "square", .trace = square},
    {.name = "negate", .trace = negate},
    {.name = "half", .trace = half},
    {.name = "mod_2", .trace = mod_2},
    {.name = "mod_3", .trace = mod_3},
    {.name = "minus_mod_3", .trace = minus_mod_3},
    {.name = "zero", .trace = zero},
    {.name = "mod_2_int32", .trace = mod_2_int32},
    {.name = "mod_2_of_first", .trace = mod_2},
    {.name = "to_int32", .trace = to_int32},
    {.name = "to_int64", .trace = to_int64},
    {.name = "to_uint8", .trace = to_uint8},
    {.name = "to_float32", .trace = to_float32},
    {.name = "to_float64", .trace = to_float64},
    {.name = "to_bool", .trace = to_bool},
    {.name = "to_string", .trace = to_string},
    {.name = "exclaim", .trace = exclaim},
    {.name = "upper", .trace = upper},
    {.name = "string_length", .trace = string_length},
    {.name = "pair_with_square", .trace = pair_with_square},
    {.name = "to_dict", .trace = to_dict, .structure = dict_structure},
    {.name = "to_nested", .trace = to_nested, .structure = nested_structure},
    {.name = "swap", .trace = swap, .structure = swapped},
    {.name = "first", .trace = first, .structure = first_structure},
    {.name = "second", .trace = second, .structure = second_structure},
    {.name = "add_pair", .trace = add_pair},
    {.name = "dict_sum", .trace = add_pair},
    {.name = "vec3", .trace = vec3},
    {.name = "fill_self", .trace = fill_self},
    {.name = "iota", .trace = iota},
    {.name = "iota_mod_4", .trace = iota_mod_4},
    {.name = "fill_rows", .trace = fill_rows},
    {.name = "fill_cols", .trace = fill_cols},
    {.name = "iota_pair", .trace = iota_pair},
    {.name = "iota_string", .trace = iota_string},
    {.name = "vec_sum", .trace = vec_sum},
    {.name = "vec_add_one", .trace = add_one},
    {.name = "size_of", .trace = size_of},
    {.name = "vec_size_int32", .trace = vec_size_int32},
    {.name = "fail_on_3", .trace = fail_on_3},
    {.name = "fail_on_odd", .trace = fail_on_odd},
    {.name = "fail_on_mod_4_is_3", .trace = fail_on_mod_4_is_3},
    {.name = "fail_always", .trace = fail_always},
    {.name = "stop_on_3", .trace = stop_on_3},
    {.name = "is_even", .trace = is_even},
    {.name = "is_odd", .trace = is_odd},
    {.name = "less_than_5", .trace = less_than_5},
    {.name = "not_multiple_of_3", .trace = not_multiple_of_3},
    {.name = "always_true", .trace = always_true},
    {.name = "always_false", .trace = always_false},
    {.name = "first_is_even", .trace = is_even},
    {.name = "dict_a_is_even", .trace = is_even},
    {.name = "not_empty", .trace = not_empty},
    {.name = "string_not_empty", .trace = string_not_empty},
    {.name = "even_fail_on_3", .trace = even_fail_on_3},
    {.name = "small_fail_on_3", .trace = small_fail_on_3},
    {.name = "not_scalar", .trace = not_scalar},
    {.name = "not_bool", .trace = identity, .structure = like_input},
    {0},
};

static const golden_named *find(const char *name) {
    static const golden_named *const tables[] = {golden_element_functions, golden_dataset_functions,
                                                 golden_fold_functions};
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
        for (const golden_named *at = tables[t]; at->name != NULL; at++)
            if (strcmp(at->name, name) == 0)
                return at;
    }
    return NULL;
}

bool golden_function_known(const char *name, const char **lacks) {
    const golden_named *named = find(name);
    *lacks = NULL;
    for (int i = 0; named != NULL && i < 3 && named->needs[i] != NULL; i++)
        if (leati_graph_op_find(named->needs[i]) == NULL && leati_op_find(named->needs[i]) == NULL)
            *lacks = named->needs[i];
    return named != NULL;
}

struct tracing {
    const golden_named *named;
    const leat_spec *input;
};

static int trace(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    const struct tracing *tracing = context;
    return tracing->named->trace(graph, tracing->input, outputs);
}

leat_function *golden_function(const char *name, const leat_spec *input, leat_error *err) {
    struct tracing tracing = {.named = find(name), .input = input};
    if (tracing.named == NULL) {
        leati_fail(err, LEAT_UNIMPLEMENTED, "no function is named %s", name);
        return NULL;
    }
    if (tracing.named->structure == NULL)
        return LEAT_TRACE(trace, &tracing, input, err);
    leat_spec *structure = tracing.named->structure(input, err);
    return structure == NULL ? NULL : LEAT_TRACE_STRUCTURED(trace, &tracing, input, structure, err);
}
