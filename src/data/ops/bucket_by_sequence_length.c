/* bucket_by_sequence_length: batches of elements whose lengths lie in the same bucket
 * (tf.data.Dataset.bucket_by_sequence_length).
 *
 * Expands to group_by_window: the key of an element is the first bucket whose bounds hold its
 * length, the window has that bucket's batch size, and the function of a window is padded_batch, or
 * batch. There is nothing to run here.
 *
 * Failures at run time are those of the functions: a length in no bucket, and a batch size below 1,
 * cost the element (INVALID_ARGUMENT); with pad_to_bucket_boundary a group behind the last boundary
 * is INTERNAL, when it is full and at each call behind the end, as in TensorFlow. */
#include "core/json.h"
#include "data/run/apply.h"
#include <leat/data_ops.h>
#include <leat/ops.h>
#include <string.h>

struct bucket_args {
    leat_object *element_length_func;
    leati_ints bucket_boundaries, bucket_batch_sizes;
    bool pad_to_bucket_boundary, no_padding;
    leat_element padded_shapes, padding_values;
    bool drop_remainder;
};

#define ROW(field) .offset = offsetof(struct bucket_args, field)

/* The last rows are also those of the arguments that are handed on: to padded_batch from PADDING
 * on, to batch the last one. */
enum { PADDING = 5, DROP_REMAINDER = 7 };

static const leati_row bucket_rows[] = {
    {.name = "element_length_func",
     .type = LEATI_ROW_FUNCTION,
     .flags = LEATI_REQUIRED,
     ROW(element_length_func),
     .doc = "From an element to its length, a scalar of int32, int64, float32 or float64."},
    {.name = "bucket_boundaries",
     .type = LEATI_ROW_INTS,
     .flags = LEATI_REQUIRED,
     ROW(bucket_boundaries),
     .doc = "Lengths at which a new bucket begins."},
    {.name = "bucket_batch_sizes",
     .type = LEATI_ROW_INTS,
     .flags = LEATI_REQUIRED,
     ROW(bucket_batch_sizes),
     .doc = "Elements of a batch for each bucket; one more than boundaries."},
    {.name = "pad_to_bucket_boundary",
     .type = LEATI_ROW_BOOL,
     ROW(pad_to_bucket_boundary),
     .doc = "Pad unknown dimensions to the bucket's boundary less 1, not to the longest of the "
            "batch."},
    {.name = "no_padding",
     .type = LEATI_ROW_BOOL,
     ROW(no_padding),
     .doc = "Batch without padding: the elements of a bucket have equal shapes."},
    [PADDING] = {.name = "padded_shapes",
                 .type = LEATI_ROW_ELEMENT,
                 .flags = LEATI_NONE,
                 ROW(padded_shapes),
                 .doc = "As padded_batch takes it."},
    {.name = "padding_values",
     .type = LEATI_ROW_ELEMENT,
     .flags = LEATI_NONE,
     ROW(padding_values),
     .doc = "As padded_batch takes it."},
    [DROP_REMAINDER] = {.name = "drop_remainder",
                        .type = LEATI_ROW_BOOL,
                        ROW(drop_remainder),
                        .doc = "Leave out the last batch of a bucket if it is smaller."},
    {0},
};

static const struct bucket_args *args_of(const leat_dataset *dataset) {
    return dataset->args;
}

static const leat_function *length_of(const struct bucket_args *args) {
    return (const leat_function *)args->element_length_func;
}

/* ---- checks ---- */

/* Boundaries become constants of the lengths' dtype, of which only int32 is too narrow for them. */
static bool fits(int64_t boundary, leat_dtype dtype) {
    return dtype != LEAT_INT32 || (boundary >= INT32_MIN && boundary <= INT32_MAX);
}

static leat_status check_length(const struct bucket_args *args, const leat_spec *element,
                                leat_error *err) {
    LEATI_TRY(leati_apply_check_function("bucket_by_sequence_length", "element_length_func",
                                         length_of(args), element, err));
    const leat_spec *output = leat_function_output(length_of(args));
    leat_dtype dtype = leat_spec_dtype(output);
    /* A vector passes, and an unknown rank: comparing with the bounds broadcasts, as in
     * TensorFlow. */
    if (leat_spec_get_kind(output) != LEAT_SPEC_TENSOR || leat_spec_shape(output).rank > 1 ||
        (dtype != LEAT_INT32 && dtype != LEAT_INT64 && dtype != LEAT_FLOAT32 &&
         dtype != LEAT_FLOAT64)) {
        char text[128];
        leat_spec_print(output, text, sizeof(text));
        return leati_refuse(err, STRUCTURE,
                            "bucket_by_sequence_length: element_length_func returns %s; expected a "
                            "scalar of int32, int64, float32 or float64",
                            text);
    }
    for (int i = 0; i < args->bucket_boundaries.count; i++) {
        int64_t boundary = args->bucket_boundaries.values[i];
        if (!fits(boundary, dtype)) {
            return leati_refuse(
                err, VALUE,
                "bucket_by_sequence_length: bucket_boundaries[%d] is %lld; expected "
                "a number of the lengths' dtype, int32",
                i, (long long)boundary);
        }
    }
    return LEAT_OK;
}

static leat_status bucket_check(leat_dataset *dataset, leat_error *err) {
    const struct bucket_args *args = dataset->args;
    int boundaries = args->bucket_boundaries.count, sizes = args->bucket_batch_sizes.count;
    if (sizes != boundaries + 1) {
        return leati_refuse(err, VALUE,
                            "bucket_by_sequence_length: `len(bucket_batch_sizes)` must equal "
                            "`len(bucket_boundaries) + 1` but `len(bucket_batch_sizes)=%d` and "
                            "`len(bucket_boundaries)=%d`",
                            sizes, boundaries);
    }
    return check_length(args, dataset->inputs[0]->spec, err);
}

/* ---- functions ---- */

/* A constant vector; without values it has an address all the same. */
static leat_value int64s(leat_graph *graph, const int64_t *values, int64_t count) {
    static const int64_t none;
    leat_tensor tensor = leat_tensor_view(LEAT_INT64, (leat_shape){.rank = 1, .dims = {count}},
                                          (void *)(values != NULL ? values : &none));
    return leat_graph_tensor(graph, &tensor);
}

static leat_value int64_scalar(leat_graph *graph, int64_t value) {
    leat_tensor tensor = leat_tensor_view(LEAT_INT64, LEAT_SCALAR, &value);
    return leat_graph_tensor(graph, &tensor);
}

/* `first`, then the boundaries, then `last`, without the one of the two that is 0; as numbers of
 * the length's dtype. */
static leat_value bounds(leat_graph *graph, const leati_ints *boundaries, int64_t first,
                         int64_t last, leat_dtype dtype) {
    int64_t *values = leati_alloc((size_t)boundaries->count + 1, sizeof(*values));
    if (values == NULL)
        return leat_graph_fail(graph, LEAT_RESOURCE_EXHAUSTED, "no memory for the boundaries");
    int count = 0;
    if (first != 0)
        values[count++] = first;
    for (int i = 0; i < boundaries->count; i++)
        values[count++] = boundaries->values[i];
    if (last != 0)
        values[count++] = last;
    leat_value out = leat_op_cast(int64s(graph, values, count), dtype);
    leati_free(values);
    return out;
}

/* The number of an element's bucket: the first one that holds its length, or 2^63 - 1. */
static int trace_key(void *context, leat_graph *graph, leat_value *out, int capacity) {
    (void)capacity;
    const struct bucket_args *args = context;
    leat_value arguments[LEAT_MAX_OUTPUTS];
    int n = leat_graph_num_arguments(graph);
    if (n > LEAT_MAX_OUTPUTS) {
        leat_graph_fail(graph, LEAT_UNIMPLEMENTED, "elements of more than 64 components");
        return -1;
    }
    for (int i = 0; i < n; i++)
        arguments[i] = leat_graph_argument(graph, i);
    leat_value length;
    if (!leati_graph_inline(graph, length_of(args), arguments, &length))
        return -1;
    leat_dtype dtype = leat_value_dtype(length);
    /* TensorFlow's outermost bounds are those of int32, whatever dtype the length has. */
    leat_value from = bounds(graph, &args->bucket_boundaries, INT32_MIN, 0, dtype);
    leat_value to = bounds(graph, &args->bucket_boundaries, 0, INT32_MAX, dtype);
    leat_value holds =
        leat_op_logical_and(leat_op_less_equal(from, length), leat_op_less(length, to));
    leat_value numbers =
        leat_op_range(int64_scalar(graph, 0), int64_scalar(graph, args->bucket_batch_sizes.count),
                      int64_scalar(graph, 1), LEAT_INVALID);
    /* The least number that holds the length is minus the greatest negated one. Buckets that do not
     * hold it count as -(2^63 - 1), which negated is the minimum of no values. */
    leat_value none = int64_scalar(graph, -INT64_MAX);
    leat_value reversed = leat_op_select(holds, leat_op_negate(numbers), none);
    out[0] = leat_op_negate(leat_op_reduce_max(reversed, NULL, 0, false));
    return 1;
}

/* The batch size of bucket `key`. */
static leat_value batch_size(const struct bucket_args *args, leat_value key) {
    leat_graph *graph = key.graph;
    int64_t count = args->bucket_batch_sizes.count;
    leat_value known = leat_op_assert(
        leat_op_less(key, int64_scalar(graph, count)), key, LEAT_INVALID_ARGUMENT,
        "element_length_func: the length lies in no bucket; expected one from -2^31 to 2^31 - 2, "
        "and bucket_boundaries in ascending order");
    return leat_op_gather(int64s(graph, args->bucket_batch_sizes.values, count), known, 0, 0);
}

static int trace_size(void *context, leat_graph *graph, leat_value *out, int capacity) {
    (void)capacity;
    out[0] = batch_size(context, leat_graph_argument(graph, 0));
    return 1;
}

/* What unknown dimensions of bucket `key` are padded to. */
static leat_value boundary(const struct bucket_args *args, leat_value key) {
    leat_graph *graph = key.graph;
    const leati_ints *boundaries = &args->bucket_boundaries;
    leat_value below = leat_op_assert(
        leat_op_less(key, int64_scalar(graph, boundaries->count)), key, LEAT_INVALID_ARGUMENT,
        "with pad_to_bucket_boundary lengths must be less than the last of bucket_boundaries");
    leat_value end =
        leat_op_gather(int64s(graph, boundaries->values, boundaries->count), below, 0, 0);
    return leat_op_subtract(end, int64_scalar(graph, 1));
}

static int trace_reduce(void *context, leat_graph *graph, leat_value *out, int capacity) {
    (void)capacity;
    const struct bucket_args *args = context;
    static const char *const names[] = {"batch_size", "length"};
    leat_value key = leat_graph_argument(graph, 0), window = leat_graph_argument(graph, 1);
    leat_value values[2] = {batch_size(args, key)};
    /* Without padding there is nothing to pad to a boundary. */
    bool to_boundary = args->pad_to_bucket_boundary && !args->no_padding;
    if (to_boundary)
        values[1] = boundary(args, key);
    leat_error err = {0};
    const leati_row *rows = &bucket_rows[args->no_padding ? DROP_REMAINDER : PADDING];
    json_t *json = leati_json_of_rows(rows, args, false, NULL, &err);
    char *text = json == NULL ? NULL : leati_json_print(json, 0, false, &err);
    json_decref(json);
    if (text == NULL) {
        leat_graph_fail(graph, err.code, err.text);
        return -1;
    }
    out[0] = leat_graph_dataset_op(graph, args->no_padding ? "batch" : "padded_batch", text,
                                   &window, 1, names, values, to_boundary ? 2 : 1);
    leati_free(text);
    return 1;
}

/* ---- the plan that stands for the node ---- */

static leat_dataset *bucket_expand(const leat_dataset *dataset, leat_error *err) {
    const struct bucket_args *args = args_of(dataset);
    leat_dataset *input = dataset->inputs[0], *groups = NULL;
    /* What fails gives NULL, which the next steps pass on. */
    leat_spec *key = leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, err);
    leat_spec *both[2] = {leat_spec_ref(key), leat_spec_dataset(leat_spec_ref(input->spec), err)};
    leat_spec *group = leat_spec_tuple(both, 2, err);
    /* The functions borrow the arguments while they are traced; their graphs hold copies. */
    leat_function *key_func =
        LEAT_TRACE(trace_key, (void *)args, leat_function_input(length_of(args)), err);
    leat_function *size_func =
        key_func == NULL ? NULL : LEAT_TRACE(trace_size, (void *)args, key, err);
    leat_function *reduce_func =
        size_func == NULL ? NULL : LEAT_TRACE(trace_reduce, (void *)args, group, err);
    if (reduce_func == NULL) {
        leat_function_unref(key_func);
        leat_function_unref(size_func);
    } else {
        groups = leat_dataset_group_by_window(leat_dataset_ref(input), key_func, reduce_func, 0,
                                              size_func, err);
    }
    leat_spec_unref(key);
    leat_spec_unref(group);
    /* Errors and reports name what the user wrote. */
    return leat_dataset_label(groups, dataset->label != NULL ? dataset->label : dataset->op->name,
                              err);
}

const leati_dataset_op leati_op_bucket_by_sequence_length = {
    .name = "bucket_by_sequence_length",
    .version = 1,
    .doc = "Batches of elements whose lengths lie between the same `bucket_boundaries`. Runs, is "
           "saved and restored as group_by_window.",
    .names = "Dataset.bucket_by_sequence_length "
             "experimental.bucket_by_sequence_length",
    .signature = "element_length_func bucket_boundaries bucket_batch_sizes "
                 "padded_shapes=null padding_values=null pad_to_bucket_boundary=false "
                 "no_padding=false drop_remainder=false",
    .shown = "GroupByWindow",
    .num_inputs = 1,
    .flow = LEATI_FEWER,
    .shards = LEATI_SHARD_NOT,
    .splits = LEATI_SPLITS_THROUGH,
    .batches = LEATI_BATCHES_OTHER,
    .args_size = sizeof(struct bucket_args),
    .rows = bucket_rows,
    .check = bucket_check,
    .expand = bucket_expand,
};

leat_dataset *leat_dataset_bucket_by_sequence_length(
    leat_dataset *input, leat_function *element_length_func, const int64_t *bucket_boundaries,
    int num_boundaries, const int64_t *bucket_batch_sizes,
    const leat_dataset_bucket_by_sequence_length_options *options, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    /* Lists that the caller gives are not NULL even when they are empty: NULL would be none. */
    static const int64_t none;
    leat_dataset_bucket_by_sequence_length_options o = {
        LEAT_DATASET_BUCKET_BY_SEQUENCE_LENGTH_DEFAULTS};
    leat_dataset *dataset = NULL;
    if (LEATI_DATASET_OPTIONS(leat_dataset_bucket_by_sequence_length_options, &o, options, &input,
                              1, err) &&
        !leati_apply_function_is_missing(element_length_func, "bucket_by_sequence_length",
                                         "element_length_func", &input, 1, err)) {
        struct bucket_args args = {.element_length_func = (leat_object *)element_length_func,
                                   .pad_to_bucket_boundary = o.pad_to_bucket_boundary,
                                   .no_padding = !o.padding,
                                   .drop_remainder = o.drop_remainder};
        args.bucket_boundaries.count = bucket_boundaries == NULL ? 0 : num_boundaries;
        args.bucket_boundaries.values =
            (int64_t *)(args.bucket_boundaries.count > 0 ? bucket_boundaries : &none);
        args.bucket_batch_sizes.count = bucket_batch_sizes == NULL ? 0 : num_boundaries + 1;
        args.bucket_batch_sizes.values =
            (int64_t *)(bucket_batch_sizes == NULL ? &none : bucket_batch_sizes);
        if (o.padded_shapes != NULL)
            args.padded_shapes = *o.padded_shapes;
        if (o.padding_values != NULL)
            args.padding_values = *o.padding_values;
        dataset = leati_dataset_new(&leati_op_bucket_by_sequence_length, &args, &input, 1, err);
    }
    leat_function_unref(element_length_func);
    return dataset;
}
