/* The named functions that return datasets: one operator on another, by the operation `dataset`. */
#include "golden_functions.h"
#include <string.h>

/* An operator over dataset values, with one or two arguments bound to tensors (names may be
 * NULL). `args` is JSON text. */
static leat_value over(leat_graph *graph, const char *op, const char *args,
                       const leat_value *inputs, int num_inputs, const char *name0,
                       leat_value value0, const char *name1, leat_value value1) {
    leat_value all[4], outputs[LEAT_MAX_OUTPUTS];
    json_t *bound = json_array();
    int count = 0;
    for (; count < num_inputs; count++)
        all[count] = inputs[count];
    if (name0 != NULL) {
        json_array_append_new(bound, json_string(name0));
        all[count++] = value0;
    }
    if (name1 != NULL) {
        json_array_append_new(bound, json_string(name1));
        all[count++] = value1;
    }
    json_t *attributes = json_pack("{s:s,s:s,s:o}", "op", op, "args", args, "bound", bound);
    leat_error err = {0};
    char *text = leati_json_print(attributes, 0, false, &err);
    if (text == NULL)
        leat_graph_fail(graph, LEAT_RESOURCE_EXHAUSTED, "no memory for the arguments");
    int made = text == NULL
                   ? -1
                   : leat_graph_call(graph, "dataset", text, all, count, outputs, LEAT_MAX_OUTPUTS);
    leati_free(text);
    json_decref(attributes);
    return made == 1 ? outputs[0] : (leat_value){.graph = graph, .id = -1};
}

/* An operator over one dataset, all its arguments constant. */
static leat_value on(leat_value input, const char *op, const char *args) {
    return over(input.graph, op, args, &input, 1, NULL, input, NULL, input);
}

/* A source with one bound argument. */
static leat_value from(const char *op, const char *name, leat_value value) {
    return over(value.graph, op, "{}", NULL, 0, name, value, NULL, value);
}

/* map with a named function over int64 scalars. */
static leat_value mapped(leat_value input, const char *name) {
    leat_error err = {0};
    leat_spec *spec = leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, &err);
    leat_function *function = spec == NULL ? NULL : golden_function(name, spec, &err);
    char *text = function == NULL ? NULL : leat_function_to_json(function, &err);
    leat_value out = {.graph = input.graph, .id = -1};
    if (text != NULL) {
        json_t *json = leati_json_parse(text, strlen(text), &err);
        json_t *args = json_pack("{s:o?}", "map_func", json);
        char *whole = json == NULL ? NULL : leati_json_print(args, 0, false, &err);
        if (whole != NULL)
            out = on(input, "map", whole);
        else
            leat_graph_fail(input.graph, LEAT_RESOURCE_EXHAUSTED, "no memory for the function");
        leati_free(whole);
        json_decref(args);
    } else {
        leat_graph_fail(input.graph, err.code, err.text);
    }
    leat_text_free(text);
    leat_function_unref(function);
    leat_spec_unref(spec);
    return out;
}

static leat_value range(leat_value begin, leat_value end) {
    return over(end.graph, "range", "{}", NULL, 0, "start", begin, "stop", end);
}

static leat_value not_3(leat_value x) {
    return leat_op_assert(leat_op_not_equal(x, LIKE(3)), x, LEAT_INVALID_ARGUMENT,
                          "the function failed by order");
}

/* 0 where x is odd, else -1. */
static leat_value count_if_even(leat_value x) {
    leat_value odd = leat_op_equal(leat_op_floormod(x, LIKE(2)), LIKE(1));
    return leat_op_select(odd, LIKE(0), LIKE(-1));
}

static leat_value once(leat_value x) {
    return from("from_tensors", "tensors", x);
}

static leat_value bound_on(leat_value input, const char *op, const char *name, leat_value value) {
    return over(input.graph, op, "{}", &input, 1, name, value, NULL, value);
}

ONE(range_of, from("range", "stop", x))
ONE(range_from_ten,
    range(leat_op_multiply(x, LIKE(10)), leat_op_add(leat_op_multiply(x, LIKE(10)), LIKE(3))))
ONE(repeat_3, on(once(x), "repeat", "{\"count\": 3}"))
ONE(repeat_self, bound_on(once(x), "repeat", "count", x))
ONE(repeat_forever, on(once(x), "repeat", "{}"))
ONE(empty_if_odd,
    bound_on(on(once(x), "repeat", "{\"count\": 2}"), "take", "count", count_if_even(x)))
ONE(empty_of, on(once(x), "take", "{\"count\": 0}"))
ONE(slices_of, from("from_tensor_slices", "tensors", x))
ONE(slices_of_pair,
    over(graph, "from_tensor_slices", "{}", NULL, 0, "tensors", x, "tensors", golden_arg(graph, 1)))
ONE(range_fail_on_3, from("range", "stop", not_3(x)))
ONE(range_map_fail_on_3, mapped(range(x, leat_op_add(x, LIKE(3))), "fail_on_3"))
ONE(shuffled_range, on(from("range", "stop", x), "shuffle", "{\"buffer_size\": 4, \"seed\": 7}"))
ONE(pair_range, mapped(from("range", "stop", x), "pair_with_square"))
ONE(lines_of, from("text_line_dataset", "filenames", x))
ONE(batch_2, on(x, "batch", "{\"batch_size\": 2}"))
ONE(batch_3, on(x, "batch", "{\"batch_size\": 3}"))
ONE(batch_3_drop, on(x, "batch", "{\"batch_size\": 3, \"drop_remainder\": true}"))
ONE(same, x)

static int zip_batch_3(leat_graph *graph, const leat_spec *input, leat_value *out) {
    leat_value both[2] = {golden_arg(graph, 0), golden_arg(graph, 1)};
    const char *args = leat_spec_get_kind(input) == LEAT_SPEC_DICT
                           ? "{\"structure\": {\"dict\": {\"a\": {\"dtype\": \"int64\", "
                             "\"shape\": []}, \"b\": {\"dtype\": \"int64\", \"shape\": []}}}}"
                           : "{}";
    out[0] = on(over(graph, "zip", args, both, 2, NULL, both[0], NULL, both[0]), "batch",
                "{\"batch_size\": 3}");
    return 1;
}

/* ---- functions of (key, dataset) ---- */

#define WINDOW(NAME, EXPRESSION)                                                                   \
    static int NAME(leat_graph *graph, const leat_spec *input, leat_value *out) {                  \
        (void)input;                                                                               \
        leat_value w = golden_arg(graph, 1);                                                       \
        out[0] = (EXPRESSION);                                                                     \
        return 1;                                                                                  \
    }

static leat_value pair_with_key(leat_value key, leat_value w) {
    leat_value both[2] = {on(once(key), "repeat", "{}"), w};
    return over(w.graph, "zip", "{}", both, 2, NULL, w, NULL, w);
}

WINDOW(window_batch_3, on(w, "batch", "{\"batch_size\": 3}"))
WINDOW(window_batch_all, on(w, "batch", "{\"batch_size\": 100}"))
WINDOW(window_same, w)
WINDOW(window_first, on(w, "take", "{\"count\": 1}"))
WINDOW(window_with_key, pair_with_key(golden_arg(graph, 0), w))
WINDOW(window_padded, on(w, "padded_batch", "{\"batch_size\": 100}"))
WINDOW(window_batch_key, bound_on(w, "batch", "batch_size", golden_arg(graph, 0)))
WINDOW(window_empty, on(w, "take", "{\"count\": 0}"))
WINDOW(window_forever, on(w, "repeat", "{}"))

#define NEEDS(...) .needs = {"dataset", __VA_ARGS__}

const golden_named golden_dataset_functions[] = {
    {.name = "range_of", .trace = range_of, NEEDS("range")},
    {.name = "range_from_ten", .trace = range_from_ten, NEEDS("range")},
    {.name = "repeat_3", .trace = repeat_3, NEEDS("from_tensors", "repeat")},
    {.name = "repeat_self", .trace = repeat_self, NEEDS("from_tensors", "repeat")},
    {.name = "repeat_forever", .trace = repeat_forever, NEEDS("from_tensors", "repeat")},
    {.name = "empty_if_odd", .trace = empty_if_odd, NEEDS("from_tensors", "take")},
    {.name = "empty_of", .trace = empty_of, NEEDS("from_tensors", "take")},
    {.name = "slices_of", .trace = slices_of, NEEDS("from_tensor_slices")},
    {.name = "slices_of_pair", .trace = slices_of_pair, NEEDS("from_tensor_slices")},
    {.name = "range_fail_on_3", .trace = range_fail_on_3, NEEDS("range")},
    {.name = "range_map_fail_on_3", .trace = range_map_fail_on_3, NEEDS("range", "map")},
    {.name = "shuffled_range", .trace = shuffled_range, NEEDS("range", "shuffle")},
    {.name = "pair_range", .trace = pair_range, NEEDS("range", "map")},
    {.name = "lines_of", .trace = lines_of, NEEDS("text_line_dataset")},
    {.name = "batch_2", .trace = batch_2, NEEDS("batch")},
    {.name = "batch_3", .trace = batch_3, NEEDS("batch")},
    {.name = "batch_3_drop", .trace = batch_3_drop, NEEDS("batch")},
    {.name = "same_dataset", .trace = same, NEEDS("range")},
    {.name = "zip_batch_3", .trace = zip_batch_3, NEEDS("zip", "batch")},
    {.name = "dict_batch_3", .trace = zip_batch_3, NEEDS("zip", "batch")},
    {.name = "not_a_dataset", .trace = same},
    {.name = "window_batch_3", .trace = window_batch_3, NEEDS("batch")},
    {.name = "window_batch_all", .trace = window_batch_all, NEEDS("batch")},
    {.name = "window_same", .trace = window_same},
    {.name = "window_first", .trace = window_first, NEEDS("take")},
    {.name = "window_with_key", .trace = window_with_key, NEEDS("from_tensors", "zip")},
    {.name = "window_padded", .trace = window_padded, NEEDS("padded_batch")},
    {.name = "window_batch_key", .trace = window_batch_key, NEEDS("batch")},
    {.name = "window_empty", .trace = window_empty, NEEDS("take")},
    {.name = "window_forever", .trace = window_forever, NEEDS("repeat")},
    {.name = "window_not_dataset", .trace = same},
    {0},
};
