/* parse_example_dataset: batches of serialised tf.train.Examples as dictionaries of batches of
 * their features (tf.data.experimental.parse_example_dataset).
 *
 * Expands to a map over the tensor operation parse_example, as often as its outputs demand, so that
 * parallel calls, order and saving are the map's. A record that does not fit costs its batch:
 * INVALID_ARGUMENT with its number, as file/example.h says. No locks. */
#include "core/composite.h"
#include "core/tensor.h"
#include "data/plan/dataset.h"
#include <leat/data_ops.h>
#include <leat/ops.h>
#include <string.h>

struct parse_args {
    leat_spec *features;
    leat_element defaults;
    int64_t num_parallel_calls;
    int8_t deterministic;
};

#define ROW(field) .offset = offsetof(struct parse_args, field)

static const leati_row parse_rows[] = {
    {.name = "features",
     .type = LEATI_ROW_SPEC,
     .flags = LEATI_REQUIRED,
     ROW(features),
     .doc = "A dict with the spec of each feature in one Example: a tensor of a known shape, or "
            "with a first dimension of -1 for any number of values; sparse or ragged [-1]."},
    {.name = "defaults",
     .type = LEATI_ROW_ELEMENT,
     .flags = LEATI_NONE,
     ROW(defaults),
     .doc = "A dict of values for dense features that an Example may lack, or that fill up."},
    {.name = "num_parallel_calls",
     .type = LEATI_ROW_INT,
     .flags = LEATI_AUTOTUNE,
     ROW(num_parallel_calls),
     .default_number = 1,
     .doc = "Batches at a time."},
    {.name = "deterministic",
     .type = LEATI_ROW_BOOL_OR_NONE,
     .flags = LEATI_NONE,
     ROW(deterministic),
     .default_number = -1,
     .doc = "Keep the order of batches; none: as the options say."},
    {0},
};

/* ---- the plan side ---- */

static leat_status check_feature(const char *key, const leat_spec *feature, leat_error *err) {
    leat_shape shape = leat_spec_shape(feature);
    leat_dtype dtype = leat_spec_dtype(feature);
    leat_spec_kind kind = leat_spec_get_kind(feature);
    /* A first dimension of -1 takes any number of values; the others must be known. */
    leat_shape rest = shape;
    bool any = shape.rank > 0 && shape.dims[0] == LEAT_UNKNOWN_DIM;
    if (any)
        rest.dims[0] = 1;
    /* What an Example holds: lists of bytes, of floats and of int64. */
    bool fits = dtype == LEAT_STRING || dtype == LEAT_INT64 || dtype == LEAT_FLOAT32;
    if (kind == LEAT_SPEC_TENSOR) {
        fits = fits && leati_shape_count(&rest) >= 0 && shape.rank < LEAT_MAX_RANK;
    } else {
        /* In one Example such a feature is a vector; its batch is what is ragged. */
        fits = fits && any && shape.rank == 1 && leati_spec_is_composite(feature) &&
               leat_spec_ragged_rank(feature) == 0;
    }
    if (fits)
        return LEAT_OK;
    char text[200];
    leat_spec_print(feature, text, sizeof(text));
    return leati_refuse(
        err, SHAPE,
        "parse_example_dataset: feature \"%.100s\" is %s; expected string, int64 or "
        "float32, as a tensor whose dimensions behind the first are known, or as a "
        "sparse or ragged vector",
        key, text);
}

/* A feature's default is one value, or as many as it has. */
static leat_status check_default(const struct parse_args *args, const char *key,
                                 const leat_spec *feature, leat_error *err) {
    const leat_spec *given = args->defaults.spec;
    leat_shape shape = leat_spec_shape(feature);
    /* Where an Example may have any number of values, a default is one. */
    if (shape.rank > 0 && shape.dims[0] == LEAT_UNKNOWN_DIM)
        shape = LEAT_SCALAR;
    for (int i = 0; given != NULL && i < leat_spec_num_children(given); i++) {
        if (strcmp(leat_spec_key(given, i), key) != 0 || i >= args->defaults.num_tensors)
            continue;
        const leat_tensor *tensor = &args->defaults.tensors[i];
        int64_t count = leat_tensor_count(tensor), wanted = leati_shape_count(&shape);
        if (tensor->dtype != leat_spec_dtype(feature) || (count != wanted && count != 1)) {
            return leati_refuse(
                err, VALUE,
                "parse_example_dataset: the default of feature \"%.100s\" is %lld values of %s; "
                "expected %lld of %s, or one",
                key, (long long)count, leat_dtype_name(tensor->dtype), (long long)wanted,
                leat_dtype_name(leat_spec_dtype(feature)));
        }
    }
    return LEAT_OK;
}

static leat_status parse_check(leat_dataset *dataset, leat_error *err) {
    const struct parse_args *args = dataset->args;
    const leat_spec *input = dataset->inputs[0]->spec;
    leat_shape shape = leat_spec_shape(input);
    char text[200];
    if (leat_spec_get_kind(input) != LEAT_SPEC_TENSOR || leat_spec_dtype(input) != LEAT_STRING ||
        (shape.rank != 1 && shape.rank != LEAT_UNKNOWN_RANK)) {
        leat_spec_print(input, text, sizeof(text));
        return leati_refuse(
            err, VALUE,
            "parse_example_dataset: elements are %s; expected vectors of strings: use "
            "batch before it",
            text);
    }
    if (args->features == NULL || leat_spec_get_kind(args->features) != LEAT_SPEC_DICT ||
        leat_spec_num_children(args->features) == 0) {
        return leati_refuse(err, STRUCTURE,
                            "parse_example_dataset: features is no dict of specs, or an empty one");
    }
    if (args->num_parallel_calls < 1 && args->num_parallel_calls != LEAT_AUTOTUNE) {
        return leati_refuse(
            err, VALUE,
            "parse_example_dataset: num_parallel_calls is %lld; expected at least 1, "
            "or AUTOTUNE (-1)",
            (long long)args->num_parallel_calls);
    }
    leat_status status = LEAT_OK;
    for (int f = 0; f < leat_spec_num_children(args->features) && status == LEAT_OK; f++) {
        const char *key = leat_spec_key(args->features, f);
        status = check_feature(key, leat_spec_child(args->features, f), err);
        if (status == LEAT_OK)
            status = check_default(args, key, leat_spec_child(args->features, f), err);
    }
    return status;
}

/* The outputs of the operation for a feature. */
static int outputs_of(const leat_spec *feature) {
    /* Indices, values and dense shape; values and row splits; a tensor. */
    switch (leat_spec_get_kind(feature)) {
    case LEAT_SPEC_SPARSE: return 3;
    case LEAT_SPEC_RAGGED: return 2;
    default: return 1;
    }
}

/* Parses the features from `first` to below `end`; returns how many outputs that gave, or -1. */
static int parse_portion(const struct parse_args *args, leat_value records, int first, int end,
                         leat_value *outputs, leat_error *err) {
    /* Each feature has an output, so a portion has no more features than one operation has
     * outputs. */
    const char *keys[LEAT_MAX_OUTPUTS];
    leat_spec *children[LEAT_MAX_OUTPUTS];
    for (int f = first; f < end; f++) {
        keys[f - first] = leat_spec_key(args->features, f);
        children[f - first] = leat_spec_ref(leat_spec_child(args->features, f));
    }
    leat_spec *spec = leat_spec_dict(keys, children, end - first, err);
    if (spec == NULL)
        return -1;
    int count = leat_op_parse_example(records, spec, &args->defaults, outputs, LEAT_MAX_OUTPUTS);
    leat_spec_unref(spec);
    return count;
}

/* The graph's outputs, as many at a time as one operation has; `outputs` has room. */
static leat_status parse_all(const struct parse_args *args, leat_value records, leat_value *outputs,
                             int *count, leat_error *err) {
    int features = leat_spec_num_children(args->features), first = 0;
    *count = 0;
    while (first < features) {
        int end = first, most = 0;
        while (end < features &&
               most + outputs_of(leat_spec_child(args->features, end)) <= LEAT_MAX_OUTPUTS)
            most += outputs_of(leat_spec_child(args->features, end++));
        leat_error reason = {0};
        int made = parse_portion(args, records, first, end, outputs + *count, &reason);
        if (made < 0 && reason.code != LEAT_OK)
            return leati_error_pass(err, &reason);
        *count += made < 0 ? 0 : made; /* the graph says what failed */
        first = made < 0 ? features : end;
    }
    return LEAT_OK;
}

static leat_function *parse_function(const struct parse_args *args, const leat_spec *input,
                                     const leat_spec *output, leat_error *err) {
    /* No feature has more than three outputs. */
    size_t room = 3 * (size_t)leat_spec_num_children(args->features) + 1;
    leat_value *outputs = leati_alloc_zero(room, sizeof(*outputs));
    leat_graph *graph = outputs == NULL ? NULL : leat_graph_new(input, err);
    leat_function *function = NULL;
    int count = 0;
    if (outputs == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    if (graph != NULL) {
        leat_status status = parse_all(args, leat_graph_argument(graph, 0), outputs, &count, err);
        /* The graph takes the failure: finishing it reports it once. */
        if (status != LEAT_OK)
            leat_graph_fail(graph, status, err->text);
        function = leat_graph_finish(graph, outputs, count, output, err);
    }
    leati_free(outputs);
    return function;
}

static leat_dataset *parse_expand(const leat_dataset *dataset, leat_error *err) {
    const struct parse_args *args = dataset->args;
    const leat_spec *input = dataset->inputs[0]->spec;
    leat_dataset_map_options options = {LEAT_DATASET_MAP_DEFAULTS};
    options.num_parallel_calls = args->num_parallel_calls;
    options.deterministic = (leat_choice)args->deterministic;
    leat_shape shape = leat_spec_shape(input);
    /* A known number of records is the features' batch dimension. */
    int64_t rows = shape.rank == 1 ? shape.dims[0] : LEAT_UNKNOWN_DIM;
    leat_function *function = NULL;
    leat_spec *output = leati_spec_batch(args->features, rows, err);
    if (output != NULL)
        function = parse_function(args, input, output, err);
    leat_spec_unref(output);
    return function == NULL
               ? NULL
               : leat_dataset_map(leat_dataset_ref(dataset->inputs[0]), function, &options, err);
}

const leati_dataset_op leati_op_parse_example_dataset = {
    .name = "parse_example_dataset",
    .version = 1,
    .doc =
        "The features of batches of serialised tf.train.Examples, as a dict of batches. Runs, is "
        "saved and restored as map.",
    .names = "experimental.parse_example_dataset",
    .num_inputs = 1,
    .flow = LEATI_ONE_TO_ONE,
    .shards = LEATI_SHARD_SEES_THROUGH,
    .splits = LEATI_SPLITS_THROUGH,
    .batches = LEATI_BATCHES_SAME,
    .args_size = sizeof(struct parse_args),
    .rows = parse_rows,
    .check = parse_check,
    .expand = parse_expand,
};

leat_dataset *leat_dataset_parse_example(leat_dataset *input, const leat_spec *features,
                                         const leat_dataset_parse_example_options *options,
                                         leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_dataset_parse_example_options o = {LEAT_DATASET_PARSE_EXAMPLE_DEFAULTS};
    if (!LEATI_DATASET_OPTIONS(leat_dataset_parse_example_options, &o, options, &input, 1, err))
        return NULL;
    struct parse_args args = {.features = leat_spec_ref(features),
                              .num_parallel_calls = o.num_parallel_calls,
                              .deterministic = (int8_t)o.deterministic};
    if (o.defaults != NULL)
        args.defaults = *o.defaults;
    leat_dataset *dataset =
        leati_dataset_new(&leati_op_parse_example_dataset, &args, &input, 1, err);
    leat_spec_unref(args.features);
    return dataset;
}
