/* parse_example_dataset: batches of serialised tf.train.Examples as dictionaries of batches of
 * their features (tf.data.experimental.parse_example_dataset).
 *
 * Expands to a map over a function of its own, which finds the features of all records of a batch
 * and then writes each component once, so that parallel calls, order and saving are the map's.
 * Strings are views of the records. A record that does not fit costs its batch: INVALID_ARGUMENT
 * with its number, as file/example.h says. No locks: the plan of features is immutable. */
#include "core/composite.h"
#include "core/element.h"
#include "core/tensor.h"
#include "data/dataset.h"
#include "file/example.h"
#include <leat/data_ops.h>
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

/* ---- the function ---- */

struct parser {
    leati_example_plan *plan;
    leat_spec *output;
    leati_leaf *leaves; /* of the output: one for each feature */
    int count;
    leat_tensor *defaults; /* one for each feature; LEAT_INVALID: none */
};

static void parser_free(void *context) {
    struct parser *p = context;
    for (int f = 0; f < p->count && p->defaults != NULL; f++) {
        leat_tensor_unref(&p->defaults[f]);
    }
    leati_example_plan_free(p->plan);
    leat_spec_unref(p->output);
    leati_free(p->leaves);
    leati_free(p->defaults);
    leati_free(p);
}

/* One batch while it is parsed. */
struct batch {
    const struct parser *parser;
    const leat_tensor *records;
    leati_feature_span *spans; /* record r's feature f at r * count + f */
    int64_t n;
};

static const leati_feature_span *span_of(const struct batch *b, int64_t row, int feature) {
    return &b->spans[row * b->parser->count + feature];
}

/* The number of values of all rows, and of the longest. */
static int64_t count_values(const struct batch *b, int feature, int64_t *longest) {
    int64_t sum = 0;
    *longest = 0;
    for (int64_t r = 0; r < b->n; r++) {
        int64_t count = span_of(b, r, feature)->count;
        sum += count;
        *longest = count > *longest ? count : *longest;
    }
    return sum;
}

/* Strings point into the records, or into the default. */
static leat_status hold_texts(const struct batch *b, int feature, leat_tensor *values,
                              leat_error *err) {
    leat_status status = LEAT_OK;
    leat_tensor copy;
    if (values->dtype != LEAT_STRING) {
        return LEAT_OK;
    }
    if (b->records->owner == NULL) {
        status = leati_tensor_clone(values, &copy, err);
        if (status == LEAT_OK) {
            leat_tensor_unref(values);
            *values = copy;
        }
        return status;
    }
    status = leati_buffer_hold(values->owner, b->records->owner, err);
    if (status == LEAT_OK && b->parser->defaults[feature].owner != NULL) {
        status = leati_buffer_hold(values->owner, b->parser->defaults[feature].owner, err);
    }
    return status;
}

/* All values one after the other. */
static leat_status put_values(const struct batch *b, int feature, int64_t count, leat_tensor *out,
                              leat_error *err) {
    leat_dtype dtype = leati_example_plan_request(b->parser->plan, feature)->dtype;
    leat_status status = leat_tensor_new(dtype, LEAT_SHAPE(count), out, err);
    char *to = status == LEAT_OK ? out->data : NULL;
    for (int64_t r = 0; r < b->n && status == LEAT_OK; r++) {
        const leati_feature_span *span = span_of(b, r, feature);
        if (span->count > 0) {
            leati_example_read(b->parser->plan, feature, span, to);
        }
        to += (size_t)span->count * leat_dtype_size(dtype);
    }
    return status == LEAT_OK ? hold_texts(b, feature, out, err) : status;
}

/* A dense feature: rows of one size, filled up with the default where they may be shorter. */
static leat_status put_dense(const struct batch *b, int feature, leat_tensor *out,
                             leat_error *err) {
    const leati_feature_request *request = leati_example_plan_request(b->parser->plan, feature);
    leat_shape shape = leat_spec_shape(b->parser->leaves[feature].spec);
    int64_t longest = 0, size = request->length;
    size_t value = leat_dtype_size(request->dtype);
    count_values(b, feature, &longest);
    shape.dims[0] = b->n;
    if (size < 0) {
        size = longest;
        shape.dims[1] = request->multiple > 0 ? longest / request->multiple : 0;
    }
    leat_status status = leat_tensor_new(request->dtype, shape, out, err);
    if (status != LEAT_OK) {
        return status;
    }
    const leat_tensor *fill = &b->parser->defaults[feature];
    for (int64_t r = 0; r < b->n && size > 0; r++) {
        const leati_feature_span *span = span_of(b, r, feature);
        char *to = (char *)out->data + (size_t)(r * size) * value;
        if (span->count > 0) {
            leati_example_read(b->parser->plan, feature, span, to);
        }
        for (int64_t i = span->count; i < size; i++) {
            if (fill->dtype == LEAT_INVALID) {
                memset(to + (size_t)i * value, 0, value);
            } else {
                memcpy(to + (size_t)i * value, fill->data, value);
            }
        }
    }
    return hold_texts(b, feature, out, err);
}

static leat_status put_ragged(const struct batch *b, int feature, leat_tensor *out,
                              leat_error *err) {
    leat_dtype dtype = leat_spec_row_splits_dtype(b->parser->leaves[feature].spec);
    int64_t longest = 0, count = count_values(b, feature, &longest), end = 0;
    if (dtype == LEAT_INT32 && count > INT32_MAX) {
        return leati_fail(err, LEAT_INVALID_ARGUMENT,
                          "%lld values do not fit row splits of int32; use int64",
                          (long long)count);
    }
    leat_status status = leat_tensor_new(dtype, LEAT_SHAPE(b->n + 1), &out[1], err);
    for (int64_t r = 0; r <= b->n && status == LEAT_OK; r++) {
        if (dtype == LEAT_INT32) {
            ((int32_t *)out[1].data)[r] = (int32_t)end;
        } else {
            ((int64_t *)out[1].data)[r] = end;
        }
        end += r < b->n ? span_of(b, r, feature)->count : 0;
    }
    return status == LEAT_OK ? put_values(b, feature, count, &out[0], err) : status;
}

static leat_status put_sparse(const struct batch *b, int feature, leat_tensor *out,
                              leat_error *err) {
    int64_t longest = 0, count = count_values(b, feature, &longest);
    leat_status status = leat_tensor_new(LEAT_INT64, LEAT_SHAPE(count, 2), &out[0], err);
    if (status == LEAT_OK) {
        status = leat_tensor_new(LEAT_INT64, LEAT_SHAPE(2), &out[2], err);
    }
    if (status != LEAT_OK) {
        return status;
    }
    int64_t *index = out[0].data;
    for (int64_t r = 0; r < b->n; r++) {
        for (int64_t i = 0; i < span_of(b, r, feature)->count; i++) {
            *index++ = r;
            *index++ = i;
        }
    }
    ((int64_t *)out[2].data)[0] = b->n;
    ((int64_t *)out[2].data)[1] = longest;
    return put_values(b, feature, count, &out[1], err);
}

static leat_status find_features(struct batch *b, leat_error *err) {
    leati_example_order order = {0};
    const leat_string *records = b->records->data;
    for (int64_t r = 0; r < b->n; r++) {
        leat_status status = leati_example_parse(b->parser->plan, records[r], &order,
                                                 &b->spans[r * b->parser->count], err);
        if (status != LEAT_OK) {
            leati_prefix(err, "record %lld", (long long)r);
            return status;
        }
    }
    return LEAT_OK;
}

static leat_status put_features(const struct batch *b, leat_tensor *tensors, leat_error *err) {
    leat_status status = LEAT_OK;
    for (int f = 0; f < b->parser->count && status == LEAT_OK; f++) {
        leat_tensor *out = &tensors[b->parser->leaves[f].first];
        switch (leat_spec_get_kind(b->parser->leaves[f].spec)) {
        case LEAT_SPEC_SPARSE: status = put_sparse(b, f, out, err); break;
        case LEAT_SPEC_RAGGED: status = put_ragged(b, f, out, err); break;
        default: status = put_dense(b, f, out, err);
        }
    }
    return status;
}

static leat_status parse_batch(void *context, const leat_element *in, leat_element *out,
                               leat_error *err) {
    const struct parser *p = context;
    struct batch b = {.parser = p, .records = &in->tensors[0]};
    if (b.records->rank != 1) {
        return leati_fail(err, LEAT_INVALID_ARGUMENT,
                          "a batch of records of rank %d; expected a vector", b.records->rank);
    }
    b.n = b.records->dims[0];
    int components = leat_spec_num_components(p->output);
    size_t spans = (size_t)b.n * (size_t)p->count;
    leat_tensor *tensors = leati_alloc_zero((size_t)components, sizeof(*tensors));
    b.spans = leati_alloc(spans, sizeof(*b.spans));
    leat_status status = tensors == NULL || b.spans == NULL
                             ? leati_no_memory(err, spans * sizeof(*b.spans))
                             : find_features(&b, err);
    if (status == LEAT_OK) {
        status = put_features(&b, tensors, err);
    }
    if (status == LEAT_OK) {
        status = leati_element_give(out, p->output, tensors, err);
    }
    for (int c = 0; c < components && tensors != NULL; c++) {
        leat_tensor_unref(&tensors[c]);
    }
    leati_free(tensors);
    leati_free(b.spans);
    return status;
}

/* ---- the plan side ---- */

static leat_status check_feature(const char *key, const leat_spec *feature, leat_error *err) {
    leat_shape shape = leat_spec_shape(feature);
    leat_dtype dtype = leat_spec_dtype(feature);
    leat_spec_kind kind = leat_spec_get_kind(feature);
    leat_shape rest = shape;
    bool any = shape.rank > 0 && shape.dims[0] == LEAT_UNKNOWN_DIM;
    if (any) {
        rest.dims[0] = 1;
    }
    bool fits = dtype == LEAT_STRING || dtype == LEAT_INT64 || dtype == LEAT_FLOAT32;
    if (kind == LEAT_SPEC_TENSOR) {
        fits = fits && leati_shape_count(&rest) >= 0 && shape.rank < LEAT_MAX_RANK;
    } else {
        fits = fits && any && shape.rank == 1 && leati_leaf_is_composite(feature) &&
               leat_spec_ragged_rank(feature) == 0;
    }
    if (fits) {
        return LEAT_OK;
    }
    char text[200];
    leat_spec_print(feature, text, sizeof(text));
    return leati_fail(err, LEAT_INVALID_ARGUMENT,
                      "parse_example_dataset: feature \"%.100s\" is %s; expected string, int64 or "
                      "float32, as a tensor whose dimensions behind the first are known, or as a "
                      "sparse or ragged vector",
                      key, text);
}

static leat_status parse_check(leat_dataset *dataset, leat_error *err) {
    const struct parse_args *args = dataset->args;
    const leat_spec *input = dataset->inputs[0]->spec;
    leat_shape shape = leat_spec_shape(input);
    char text[200];
    if (leat_spec_get_kind(input) != LEAT_SPEC_TENSOR || leat_spec_dtype(input) != LEAT_STRING ||
        (shape.rank != 1 && shape.rank != LEAT_UNKNOWN_RANK)) {
        leat_spec_print(input, text, sizeof(text));
        return leati_fail(
            err, LEAT_INVALID_ARGUMENT,
            "parse_example_dataset: elements are %s; expected vectors of strings: use "
            "batch before it",
            text);
    }
    if (args->features == NULL || leat_spec_get_kind(args->features) != LEAT_SPEC_DICT ||
        leat_spec_num_children(args->features) == 0) {
        return leati_fail(err, LEAT_INVALID_ARGUMENT,
                          "parse_example_dataset: features is no dict of specs, or an empty one");
    }
    if (args->num_parallel_calls < 1 && args->num_parallel_calls != LEAT_AUTOTUNE) {
        return leati_fail(err, LEAT_INVALID_ARGUMENT,
                          "parse_example_dataset: num_parallel_calls is %lld; expected at least 1, "
                          "or AUTOTUNE (-1)",
                          (long long)args->num_parallel_calls);
    }
    leat_status status = LEAT_OK;
    for (int f = 0; f < leat_spec_num_children(args->features) && status == LEAT_OK; f++) {
        status = check_feature(leat_spec_key(args->features, f), leat_spec_child(args->features, f),
                               err);
    }
    return status;
}

/* The default of a feature as the plan wants it: as many values as it has, or the one that fills up
 * (*out stays LEAT_INVALID where none is given). */
static leat_status default_of(const struct parse_args *args, int feature, int64_t length,
                              leat_tensor *out, leat_error *err) {
    const char *key = leat_spec_key(args->features, feature);
    const leat_spec *given = args->defaults.spec;
    const leat_tensor *tensor = NULL;
    for (int i = 0; given != NULL && i < leat_spec_num_children(given); i++) {
        if (strcmp(leat_spec_key(given, i), key) == 0 && i < args->defaults.num_tensors) {
            tensor = &args->defaults.tensors[i];
        }
    }
    if (tensor == NULL) {
        return LEAT_OK;
    }
    int64_t count = leat_tensor_count(tensor), wanted = length < 0 ? 1 : length;
    leat_dtype dtype = leat_spec_dtype(leat_spec_child(args->features, feature));
    if (tensor->dtype != dtype || (count != wanted && count != 1)) {
        return leati_fail(err, LEAT_INVALID_ARGUMENT,
                          "parse_example_dataset: the default of feature \"%.100s\" is %lld values "
                          "of %s; expected %lld of %s, or one",
                          key, (long long)count, leat_dtype_name(tensor->dtype), (long long)wanted,
                          leat_dtype_name(dtype));
    }
    if (count == wanted) {
        *out = leat_tensor_ref(tensor);
        return LEAT_OK;
    }
    leat_status status = leat_tensor_new(dtype, LEAT_SHAPE(wanted), out, err);
    size_t size = leat_dtype_size(dtype);
    for (int64_t i = 0; i < wanted && status == LEAT_OK; i++) {
        memcpy((char *)out->data + (size_t)i * size, tensor->data, size);
    }
    if (status == LEAT_OK && dtype == LEAT_STRING) {
        status = leati_buffer_hold(out->owner, tensor->owner, err);
    }
    return status;
}

/* What the records are asked for. */
static leat_status plan_features(const struct parse_args *args, struct parser *p, leat_error *err) {
    leati_feature_request *requests = leati_alloc_zero((size_t)p->count, sizeof(*requests));
    leat_status status =
        requests == NULL ? leati_no_memory(err, (size_t)p->count * sizeof(*requests)) : LEAT_OK;
    for (int f = 0; f < p->count && status == LEAT_OK; f++) {
        const leat_spec *feature = leat_spec_child(args->features, f);
        leat_shape shape = leat_spec_shape(feature);
        bool dense = leat_spec_get_kind(feature) == LEAT_SPEC_TENSOR;
        bool any = shape.rank > 0 && shape.dims[0] == LEAT_UNKNOWN_DIM;
        if (any) {
            shape.dims[0] = 1;
        }
        int64_t count = leati_shape_count(&shape);
        requests[f] = (leati_feature_request){.name = leat_spec_key(args->features, f),
                                              .dtype = leat_spec_dtype(feature),
                                              .length = any ? -1 : count,
                                              .multiple = any && dense ? count : 0};
        if (dense) {
            status = default_of(args, f, requests[f].length, &p->defaults[f], err);
        }
        requests[f].defaults = any ? NULL : p->defaults[f].data;
    }
    if (status == LEAT_OK) {
        status = leati_example_plan_new(requests, p->count, &p->plan, err);
    }
    leati_free(requests);
    return status;
}

/* Owned by the function that it is made for. */
static struct parser *parser_new(const struct parse_args *args, const leat_spec *output,
                                 leat_error *err) {
    struct parser *p = leati_alloc_zero(1, sizeof(*p));
    int count = 0;
    if (p == NULL) {
        leati_no_memory(err, sizeof(*p));
        return NULL;
    }
    p->output = leat_spec_ref(output);
    leat_status status = leati_spec_leaves(output, &p->leaves, &count, err);
    if (status == LEAT_OK) {
        p->defaults = leati_alloc_zero((size_t)count, sizeof(*p->defaults));
        status = p->defaults == NULL ? leati_no_memory(err, sizeof(*p->defaults)) : LEAT_OK;
    }
    if (status == LEAT_OK) {
        p->count = count;
        status = plan_features(args, p, err);
    }
    if (status != LEAT_OK) {
        parser_free(p);
        return NULL;
    }
    return p;
}

static leat_dataset *parse_expand(const leat_dataset *dataset, leat_error *err) {
    const struct parse_args *args = dataset->args;
    const leat_spec *input = dataset->inputs[0]->spec;
    leat_map_options options = {.num_parallel_calls = args->num_parallel_calls,
                                .not_deterministic = args->deterministic == 0};
    leat_shape shape = leat_spec_shape(input);
    int64_t rows = shape.rank == 1 ? shape.dims[0] : LEAT_UNKNOWN_DIM;
    leat_function *function = NULL;
    leat_spec *output = leati_spec_batch(args->features, rows, err);
    struct parser *parser = output == NULL ? NULL : parser_new(args, output, err);
    if (parser != NULL) {
        function = leat_callback_function(parse_batch, parser, parser_free, NULL, LEAT_PURE,
                                          leat_spec_ref(input), leat_spec_ref(output), err);
    }
    leat_spec_unref(output);
    return function == NULL
               ? NULL
               : leat_map(leat_dataset_ref(dataset->inputs[0]), function, &options, err);
}

const leati_dataset_op leati_op_parse_example_dataset = {
    .name = "parse_example_dataset",
    .version = 1,
    .doc =
        "The features of batches of serialised tf.train.Examples, as a dict of batches. Runs, is "
        "saved and restored as map.",
    .num_inputs = 1,
    .flow = LEATI_ONE_TO_ONE,
    .args_size = sizeof(struct parse_args),
    .rows = parse_rows,
    .check = parse_check,
    .expand = parse_expand,
};

leat_dataset *leat_parse_example_dataset(leat_dataset *input, const leat_spec *features,
                                         const leat_parse_example_options *options,
                                         leat_error *err) {
    struct parse_args args = {
        .features = leat_spec_ref(features), .num_parallel_calls = 1, .deterministic = -1};
    if (options != NULL) {
        args.num_parallel_calls =
            options->num_parallel_calls == 0 ? 1 : options->num_parallel_calls;
        args.deterministic = options->not_deterministic ? 0 : -1;
        if (options->defaults != NULL) {
            args.defaults = *options->defaults;
        }
    }
    leat_dataset *dataset =
        leati_dataset_new(&leati_op_parse_example_dataset, &args, &input, 1, err);
    leat_spec_unref(args.features);
    return dataset;
}
