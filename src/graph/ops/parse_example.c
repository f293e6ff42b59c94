/* parse_example: the features of a serialised tf.train.Example (tf.io.parse_single_example). One
 * scalar string in, one output per feature in the order of sorted keys.
 *
 * Happy path: the features are planned once a call; every row is walked once and its values are
 * written straight to the outputs, where all features have a fixed length by the quick parser of
 * file/example.h. Strings are views of the record, which the outputs keep alive.
 * A feature of shape [-1, ...] takes as many values as there are, one row at a time. Fails as
 * file/example.h says, at the first row that does. No gradient, no locks. */
#include "file/example.h"
#include "graph/ops/texts.h"

#include <string.h>

struct parse_example_args {
    leat_spec *features;
    leat_element defaults;
};

static const leati_row parse_example_rows[] = {
    {.name = "features",
     .type = LEATI_ROW_SPEC,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct parse_example_args, features),
     .doc = "A dict of tensor specs; a first dimension of -1 takes any number of values."},
    {.name = "defaults",
     .type = LEATI_ROW_ELEMENT,
     .flags = LEATI_NONE,
     .offset = offsetof(struct parse_example_args, defaults),
     .doc = "A dict of values for features that an Example may lack."},
    {0},
};

/* The number of values of a feature's shape, or -1 for any; `multiple` is what they come in. */
static leat_status length_of(const char *key, const leat_shape *shape, int64_t *length,
                             int64_t *multiple, leat_error *err) {
    leat_shape rest = *shape;
    bool open = shape->rank > 0 && shape->dims[0] == LEAT_UNKNOWN_DIM;
    char text[128];
    if (open)
        rest.dims[0] = 1;
    int64_t count = leati_shape_count(&rest);
    if (count < 0)
        return leati_fail(err, LEAT_INVALID_ARGUMENT,
                          "feature \"%.100s\" has shape %s; expected known dimensions behind the "
                          "first",
                          key, leati_shape_text(shape, text));
    *length = open ? -1 : count;
    *multiple = open ? count : 0;
    return LEAT_OK;
}

static leat_status parse_example_infer(leati_infer_call *call, leat_error *err) {
    const struct parse_example_args *args = call->args;
    LEATI_TRY(leati_want_dtype(call, 0, LEAT_STRING, "the serialised Example", err));
    LEATI_TRY(leati_want_rank(call, 0, 0, "the serialised Example", err));
    if (args->features == NULL || leat_spec_get_kind(args->features) != LEAT_SPEC_DICT)
        return leati_fail(err, LEAT_INVALID_ARGUMENT, "features is no dict of tensor specs");
    for (int i = 0; i < leat_spec_num_children(args->features); i++) {
        const leat_spec *feature = leat_spec_child(args->features, i);
        const char *key = leat_spec_key(args->features, i);
        leat_shape shape = leat_spec_shape(feature);
        leat_dtype dtype = leat_spec_dtype(feature);
        int64_t length, multiple;
        if (leat_spec_get_kind(feature) != LEAT_SPEC_TENSOR ||
            (dtype != LEAT_STRING && dtype != LEAT_INT64 && dtype != LEAT_FLOAT32))
            return leati_fail(err, LEAT_INVALID_ARGUMENT,
                              "feature \"%.100s\" is no tensor of string, int64 or float32", key);
        LEATI_TRY(length_of(key, &shape, &length, &multiple, err));
        LEATI_TRY(leati_infer_output(call, dtype, &shape, NULL, err));
    }
    return LEAT_OK;
}

/* The default of a feature, or NULL. */
static const leat_tensor *default_of(const struct parse_example_args *args, const char *key) {
    const leat_spec *spec = args->defaults.spec;
    if (spec == NULL || leat_spec_get_kind(spec) != LEAT_SPEC_DICT)
        return NULL;
    for (int i = 0; i < leat_spec_num_children(spec) && i < args->defaults.num_tensors; i++)
        if (strcmp(leat_spec_key(spec, i), key) == 0)
            return &args->defaults.tensors[i];
    return NULL;
}

/* Points a request at its default: as it is, or a scalar repeated in the arena. */
static leat_status use_default(leati_kernel_call *call, leati_feature_request *request,
                               const leat_tensor *tensor, leat_error *err) {
    int64_t count = leat_tensor_count(tensor);
    if (tensor->dtype != request->dtype ||
        (request->length >= 0 && count != request->length && tensor->rank != 0))
        return leati_fail(
            err, LEAT_INVALID_ARGUMENT,
            "the default of feature \"%.100s\" is %lld values of %s; expected %lld of %s",
            request->name, (long long)count, leat_dtype_name(tensor->dtype),
            (long long)request->length, leat_dtype_name(request->dtype));
    request->defaults = tensor->data;
    if (request->length < 0)
        request->defaults = NULL; /* a sequence that is missing is empty */
    if (request->length < 0 || count == request->length)
        return LEAT_OK;
    size_t size = leat_dtype_size(tensor->dtype), bytes = (size_t)request->length * size;
    char *repeated = leati_arena_alloc(call->arena, bytes);
    if (repeated == NULL)
        return leati_no_memory(err, bytes);
    for (int64_t i = 0; i < request->length; i++)
        memcpy(repeated + (size_t)i * size, tensor->data, size);
    request->defaults = repeated;
    return LEAT_OK;
}

static leat_status plan_features(leati_kernel_call *call, leati_example_plan **out,
                                 leat_error *err) {
    const struct parse_example_args *args = call->args;
    int count = call->num_outputs;
    size_t bytes = (size_t)count * sizeof(leati_feature_request);
    leati_feature_request *requests = leati_arena_alloc(call->arena, bytes);
    if (requests == NULL)
        return leati_no_memory(err, bytes);
    for (int i = 0; i < count; i++) {
        leat_shape shape = leat_spec_shape(leat_spec_child(args->features, i));
        requests[i] = (leati_feature_request){
            .name = leat_spec_key(args->features, i),
            .dtype = leat_spec_dtype(leat_spec_child(args->features, i)),
        };
        LEATI_TRY(
            length_of(requests[i].name, &shape, &requests[i].length, &requests[i].multiple, err));
        const leat_tensor *given = default_of(args, requests[i].name);
        if (given != NULL)
            LEATI_TRY(use_default(call, &requests[i], given, err));
    }
    return leati_example_plan_new(requests, count, out, err);
}

/* Strings of a default point into the node's attributes: the output gets bytes of its own. */
static leat_status copy_default_texts(leati_kernel_call *call, int index, int64_t row,
                                      leat_error *err) {
    leat_string *strings = leati_strings_of(&call->outputs[index], row);
    for (int64_t i = 0; i < call->outputs[index].count; i++) {
        char *to = leati_kernel_text(call, index, strings[i].size, err);
        if (to == NULL)
            return LEAT_RESOURCE_EXHAUSTED;
        if (strings[i].size > 0)
            memcpy(to, strings[i].data, strings[i].size);
        strings[i].data = to;
    }
    return LEAT_OK;
}

static leat_status write_feature(leati_kernel_call *call, const leati_example_plan *plan, int index,
                                 const leati_feature_span *span, int64_t row, leat_error *err) {
    const struct parse_example_args *args = call->args;
    leat_shape shape = leat_spec_shape(leat_spec_child(args->features, index));
    const leati_feature_request *request = leati_example_plan_request(plan, index);
    if (request->length < 0)
        shape.dims[0] = request->multiple > 0 ? span->count / request->multiple : 0;
    LEATI_TRY(leati_output_like(call, index, &shape, err));
    if (call->outputs[index].count == 0)
        return LEAT_OK;
    leati_example_read(plan, index, span, leati_row_of(&call->outputs[index], row));
    if (request->dtype == LEAT_STRING && span->list == NULL)
        return copy_default_texts(call, index, row, err);
    return LEAT_OK;
}

/* The outputs as columns from row `row` on, in `columns`. */
static void output_columns(const leati_kernel_call *call, int64_t row,
                           leati_example_column *columns) {
    for (int i = 0; i < call->num_outputs; i++)
        columns[i] = (leati_example_column){leati_row_of(&call->outputs[i], row),
                                            call->outputs[i].row_stride};
}

/* Room for features of fixed length, whose rows need no shape of their own. */
static leat_status prepare_dense(leati_kernel_call *call, const leati_example_plan *plan,
                                 leat_error *err) {
    const struct parse_example_args *args = call->args;
    for (int i = 0; i < call->num_outputs; i++) {
        leat_shape shape = leat_spec_shape(leat_spec_child(args->features, i));
        if (leati_example_plan_request(plan, i)->length < 0)
            return LEAT_OK; /* then no row can be parsed so */
        LEATI_TRY(leati_output_like(call, i, &shape, err));
    }
    return LEAT_OK;
}

static leat_status parse_rows(leati_kernel_call *call, const leati_example_plan *plan,
                              leat_error *err) {
    leati_example_order order = {0};
    size_t count = (size_t)call->num_outputs;
    leati_feature_span *spans = leati_arena_alloc(call->arena, count * sizeof(*spans));
    leati_example_column *columns = leati_arena_alloc(call->arena, count * sizeof(*columns));
    bool in_a_row = call->inputs[0].row_stride == sizeof(leat_string);
    if (spans == NULL || columns == NULL)
        return leati_no_memory(err, count * (sizeof(*spans) + sizeof(*columns)));
    LEATI_TRY(prepare_dense(call, plan, err));
    for (int64_t row = 0; row < call->n; row++) {
        const leat_string *record = leati_strings_of(&call->inputs[0], row);
        output_columns(call, row, columns);
        row +=
            leati_example_parse_dense(plan, record, in_a_row ? call->n - row : 1, &order, columns);
        if (row == call->n)
            break;
        record = leati_strings_of(&call->inputs[0], row);
        call->failed_row = row;
        LEATI_TRY(leati_example_parse(plan, *record, &order, spans, err));
        for (int i = 0; i < call->num_outputs; i++)
            LEATI_TRY(write_feature(call, plan, i, &spans[i], row, err));
    }
    for (int i = 0; i < call->num_outputs && call->n > 0; i++)
        if (call->outputs[i].dtype == LEAT_STRING)
            LEATI_TRY(leati_kernel_hold(call, i, 0, err));
    return LEAT_OK;
}

static leat_status parse_example_kernel(leati_kernel_call *call, leat_error *err) {
    leati_example_plan *plan = NULL;
    LEATI_TRY(plan_features(call, &plan, err));
    leat_status status = parse_rows(call, plan, err);
    leati_example_plan_free(plan);
    return status;
}

int leat_parse_example(leat_value serialized, const leat_spec *features,
                       const leat_element *defaults, leat_value *outputs) {
    struct parse_example_args args = {.features = (leat_spec *)(uintptr_t)features};
    if (defaults != NULL)
        args.defaults = *defaults;
    leat_value first = leati_op1(&leati_tensor_op_parse_example, &args, serialized);
    if (leati_value_failed(first))
        return -1;
    int count = leat_spec_num_children(features);
    for (int i = 0; i < count && i < LEAT_MAX_OUTPUTS; i++)
        outputs[i] = (leat_value){.graph = first.graph, .id = first.id + i};
    return count;
}

const leati_tensor_op leati_tensor_op_parse_example = {
    .name = "parse_example",
    .version = 1,
    .doc = "The features of a serialised tf.train.Example (tf.io.parse_single_example).",
    .rows = parse_example_rows,
    .args_size = sizeof(struct parse_example_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = parse_example_infer,
    .kernel = parse_example_kernel,
};
