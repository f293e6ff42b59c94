/* The named functions of (state, element): folds of reduce, functions of scan, window sizes of
 * a key, and the three parts of the reducers of group_by_reducer, named REDUCER.init,
 * REDUCER.reduce and REDUCER.finalize. */
#include "golden_functions.h"

/* A function of a scalar state s and an element x, with one output. */
#define FOLD(NAME, EXPRESSION)                                                                     \
    static int NAME(leat_graph *graph, const leat_spec *input, leat_value *out) {                  \
        (void)input;                                                                               \
        leat_value s = golden_arg(graph, 0), x = golden_arg(graph, 1);                             \
        (void)x;                                                                                   \
        (void)s;                                                                                   \
        out[0] = (EXPRESSION);                                                                     \
        return 1;                                                                                  \
    }
/* The same with two: the new state, the output. */
#define SCAN(NAME, STATE, OUTPUT)                                                                  \
    static int NAME(leat_graph *graph, const leat_spec *input, leat_value *out) {                  \
        (void)input;                                                                               \
        leat_value s = golden_arg(graph, 0), x = golden_arg(graph, 1);                             \
        (void)x;                                                                                   \
        out[0] = (STATE);                                                                          \
        out[1] = (OUTPUT);                                                                         \
        return 2;                                                                                  \
    }

static leat_value not_3(leat_value x) {
    return leat_op_assert(leat_op_not_equal(x, golden_like(x, 3)), x, LEAT_INVALID_ARGUMENT,
                          "the function failed by order");
}

static leat_value appended(leat_value s, leat_value x) {
    leat_value both[2] = {s, leat_op_reshape(x, (const int64_t[]){1}, 1)};
    return leat_op_concat(both, 2, 0);
}

static leat_value joined(leat_value s, leat_value x) {
    leat_value both[2] = {s, x};
    return leat_op_string_join(both, 2, NULL);
}

FOLD(sum, leat_op_add(s, x))
FOLD(max, leat_op_maximum(s, x))
FOLD(count, leat_op_add(s, golden_like(s, 1)))
FOLD(last, x)
FOLD(sum_pair, leat_op_add(s, leat_op_multiply(x, golden_arg(graph, 2))))
FOLD(append, appended(s, x))
FOLD(join, joined(s, x))
FOLD(sum_fail_on_3, leat_op_add(s, not_3(x)))
FOLD(change_dtype, leat_op_cast(s, LEAT_FLOAT32))

static int sum_and_count(leat_graph *graph, const leat_spec *input, leat_value *out) {
    (void)input;
    leat_value count = golden_arg(graph, 1);
    out[0] = leat_op_add(golden_arg(graph, 0), golden_arg(graph, 2));
    out[1] = leat_op_add(count, golden_like(count, 1));
    return 2;
}

SCAN(change_structure, s, x)
SCAN(running_sum, leat_op_add(s, x), leat_op_add(s, x))
SCAN(running_count, leat_op_add(s, golden_like(s, 1)), s)
SCAN(running_max, leat_op_maximum(s, x), leat_op_maximum(s, x))
SCAN(previous, x, s)
SCAN(growing, appended(s, x), appended(s, x))
SCAN(running_sum_fail_on_3, leat_op_add(s, not_3(x)), leat_op_add(s, not_3(x)))
SCAN(scan_change_dtype, leat_op_cast(s, LEAT_FLOAT32), x)

static leat_spec *leaf(leat_error *err) {
    return leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, err);
}

static int pair_output(leat_graph *graph, const leat_spec *input, leat_value *out) {
    (void)input;
    out[1] = golden_arg(graph, 0);
    out[2] = golden_arg(graph, 1);
    out[0] = leat_op_add(out[1], out[2]);
    return 3;
}

static leat_spec *leaf_then_pair(const leat_spec *input, leat_error *err) {
    (void)input;
    leat_spec *pair[2] = {leaf(err), leaf(err)};
    leat_spec *whole[2] = {leaf(err), leat_spec_tuple(pair, 2, err)};
    return leat_spec_tuple(whole, 2, err);
}

static int pair_state(leat_graph *graph, const leat_spec *input, leat_value *out) {
    (void)input;
    leat_value a = golden_arg(graph, 0);
    out[0] = golden_arg(graph, 1);
    out[1] = leat_op_add(a, golden_arg(graph, 2));
    out[2] = a;
    return 3;
}

static leat_spec *pair_then_leaf(const leat_spec *input, leat_error *err) {
    (void)input;
    leat_spec *pair[2] = {leaf(err), leaf(err)};
    leat_spec *whole[2] = {leat_spec_tuple(pair, 2, err), leaf(err)};
    return leat_spec_tuple(whole, 2, err);
}

/* ---- window sizes, of a key ---- */

#define KEY(NAME, EXPRESSION)                                                                      \
    static int NAME(leat_graph *graph, const leat_spec *input, leat_value *out) {                  \
        (void)input;                                                                               \
        leat_value key = golden_arg(graph, 0);                                                     \
        out[0] = (EXPRESSION);                                                                     \
        return 1;                                                                                  \
    }

KEY(key_plus_1, leat_op_add(key, golden_int64(graph, 1)))
KEY(key_minus_1, leat_op_subtract(key, golden_int64(graph, 1)))
KEY(key_times_2_plus_2,
    leat_op_add(leat_op_multiply(key, golden_int64(graph, 2)), golden_int64(graph, 2)))

/* ---- reducers ---- */

static int zero(leat_graph *graph, const leat_spec *input, leat_value *out) {
    (void)input;
    out[0] = golden_int64(graph, 0);
    return 1;
}

static int key_and_zero(leat_graph *graph, const leat_spec *input, leat_value *out) {
    (void)input;
    out[0] = golden_arg(graph, 0);
    out[1] = golden_int64(graph, 0);
    return 2;
}

static int count_behind_key(leat_graph *graph, const leat_spec *input, leat_value *out) {
    (void)input;
    out[0] = golden_arg(graph, 0);
    out[1] = leat_op_add(golden_arg(graph, 1), golden_int64(graph, 1));
    return 2;
}

/* As reducer_sum, but each of its functions fails now and then. */
static int key_not_2(leat_graph *graph, const leat_spec *input, leat_value *out) {
    (void)input;
    leat_value key = golden_arg(graph, 0), two = golden_int64(graph, 2);
    out[0] = leat_op_assert(leat_op_not_equal(key, two), golden_int64(graph, 0),
                            LEAT_INVALID_ARGUMENT, "the function failed by order");
    return 1;
}

static int sum_not_9(leat_graph *graph, const leat_spec *input, leat_value *out) {
    (void)input;
    leat_value sum = golden_arg(graph, 0);
    out[0] = leat_op_assert(leat_op_not_equal(sum, golden_int64(graph, 9)), sum,
                            LEAT_INVALID_ARGUMENT, "the function failed by order");
    return 1;
}

static int no_numbers(leat_graph *graph, const leat_spec *input, leat_value *out) {
    leat_error err = {0};
    (void)input;
    leat_tensor tensor = {0};
    if (leat_tensor_new(LEAT_INT64, LEAT_SHAPE(0), &tensor, &err) != LEAT_OK)
        return leat_graph_fail(graph, err.code, err.text), -1;
    out[0] = leat_graph_tensor(graph, &tensor);
    leat_tensor_unref(&tensor);
    return 1;
}

static int same(leat_graph *graph, const leat_spec *input, leat_value *out) {
    int n = leat_spec_num_components(input);
    for (int i = 0; i < n && i < LEAT_MAX_OUTPUTS; i++)
        out[i] = golden_arg(graph, i);
    return n;
}

static leat_spec *like_input(const leat_spec *input, leat_error *err) {
    (void)err;
    return leat_spec_ref(input);
}

const golden_named golden_fold_functions[] = {
    {.name = "sum", .trace = sum},
    {.name = "max", .trace = max},
    {.name = "count", .trace = count},
    {.name = "last", .trace = last},
    {.name = "sum_and_count", .trace = sum_and_count},
    {.name = "sum_pair", .trace = sum_pair},
    {.name = "append", .trace = append},
    {.name = "join", .trace = join},
    {.name = "sum_fail_on_3", .trace = sum_fail_on_3},
    {.name = "change_dtype", .trace = change_dtype},
    {.name = "change_structure", .trace = change_structure},
    {.name = "running_sum", .trace = running_sum},
    {.name = "running_count", .trace = running_count},
    {.name = "running_max", .trace = running_max},
    {.name = "previous", .trace = previous},
    {.name = "pair_output", .trace = pair_output, .structure = leaf_then_pair},
    {.name = "pair_state", .trace = pair_state, .structure = pair_then_leaf},
    {.name = "growing", .trace = growing},
    {.name = "running_sum_fail_on_3", .trace = running_sum_fail_on_3},
    {.name = "scan_not_pair", .trace = sum},
    {.name = "scan_change_dtype", .trace = scan_change_dtype},
    {.name = "key_plus_1", .trace = key_plus_1},
    {.name = "key_minus_1", .trace = key_minus_1},
    {.name = "key_times_2_plus_2", .trace = key_times_2_plus_2},
    {.name = "reducer_sum.init", .trace = zero},
    {.name = "reducer_sum.reduce", .trace = sum},
    {.name = "reducer_sum.finalize", .trace = same, .structure = like_input},
    {.name = "reducer_key_and_count.init", .trace = key_and_zero},
    {.name = "reducer_key_and_count.reduce", .trace = count_behind_key},
    {.name = "reducer_key_and_count.finalize", .trace = same, .structure = like_input},
    {.name = "reducer_fails.init", .trace = key_not_2},
    {.name = "reducer_fails.reduce", .trace = sum_fail_on_3},
    {.name = "reducer_fails.finalize", .trace = sum_not_9},
    {.name = "reducer_append.init", .trace = no_numbers},
    {.name = "reducer_append.reduce", .trace = append},
    {.name = "reducer_append.finalize", .trace = same, .structure = like_input},
    {0},
};
