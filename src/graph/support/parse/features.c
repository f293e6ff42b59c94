/* Features of serialised Examples as outputs; see features.h.
 *
 * Happy path: each feature of a batch is counted over the records and then written once; strings
 * are views of the records. Fails where a spec is no feature, a default does not fit, or without
 * memory. No locks. */
#include "graph/support/parse/features.h"
#include "base/stop.h"

#include "core/composite.h"
#include "core/spec.h"

#include <string.h>

/* ---- inference ---- */

/* The number of values of a feature's shape, or -1 for any; `multiple` is what they come in. */
static leat_status length_of(const char *key, const leat_shape *shape, int64_t *length,
                             int64_t *multiple, leat_error *err) {
    leat_shape rest = *shape;
    bool open = shape->rank > 0 && shape->dims[0] == LEAT_UNKNOWN_DIM;
    char text[128];
    if (open)
        /* What is left is the size of one step. */
        rest.dims[0] = 1;
    int64_t count = leati_shape_count(&rest);
    if (count < 0)
        return leati_refuse(err, SHAPE,
                            "feature \"%.100s\" has shape %s; expected known dimensions behind the "
                            "first",
                            key, leati_shape_text(shape, text));
    *length = open ? -1 : count;
    *multiple = open ? count : 0;
    return LEAT_OK;
}

static int outputs_of(const leat_spec *feature) {
    switch (leat_spec_get_kind(feature)) {
    case LEAT_SPEC_SPARSE: return 3;
    case LEAT_SPEC_RAGGED: return 2;
    default: return 1;
    }
}

int leati_features_outputs(const leat_spec *features) {
    int sum = 0;
    for (int i = 0; i < leat_spec_num_children(features); i++)
        sum += outputs_of(leat_spec_child(features, i));
    return sum;
}

leat_status leati_features_shape(const leat_shape *records, const leat_shape *leaf, leat_shape *out,
                                 leat_error *err) {
    *out = *leaf;
    if (records->rank == 1)
        return leati_shape_prepend(leaf, records->dims[0], out, err);
    if (records->rank < 0)
        out->rank = LEAT_UNKNOWN_RANK;
    return LEAT_OK;
}

/* Indices, values and dense shape of sparse vectors; their batch has one dimension more. */
static leat_status infer_sparse(leati_infer_call *call, leat_dtype dtype, const leat_shape *records,
                                leat_error *err) {
    int64_t rank = records->rank < 0 ? LEAT_UNKNOWN_DIM : records->rank + 1;
    leat_shape values = LEAT_SHAPE(LEAT_UNKNOWN_DIM), indices = LEAT_SHAPE(LEAT_UNKNOWN_DIM, rank),
               dense = LEAT_SHAPE(rank);
    LEATI_TRY(leati_op_infer_output(call, LEAT_INT64, &indices, NULL, err));
    LEATI_TRY(leati_op_infer_output(call, dtype, &values, NULL, err));
    return leati_op_infer_output(call, LEAT_INT64, &dense, NULL, err);
}

static leat_status infer_ragged(leati_infer_call *call, const leat_spec *feature,
                                const leat_shape *records, leat_error *err) {
    leat_shape values = LEAT_SHAPE(LEAT_UNKNOWN_DIM), splits = LEAT_SHAPE(LEAT_UNKNOWN_DIM);
    if (records->rank == 0)
        splits.dims[0] = 2;
    else if (records->rank == 1 && records->dims[0] >= 0)
        splits.dims[0] = records->dims[0] + 1;
    LEATI_TRY(leati_op_infer_output(call, leat_spec_dtype(feature), &values, NULL, err));
    return leati_op_infer_output(call, leat_spec_row_splits_dtype(feature), &splits, NULL, err);
}

static leat_status infer_feature(leati_infer_call *call, const char *key, const leat_spec *feature,
                                 const leat_shape *records, leat_error *err) {
    leat_shape shape = leat_spec_shape(feature), all;
    leat_dtype dtype = leat_spec_dtype(feature);
    leat_spec_kind kind = leat_spec_get_kind(feature);
    int64_t length, multiple;
    bool vector = shape.rank == 1 && shape.dims[0] == LEAT_UNKNOWN_DIM;
    if (dtype != LEAT_STRING && dtype != LEAT_INT64 && dtype != LEAT_FLOAT32)
        return leati_refuse(err, STRUCTURE,
                            "feature \"%.100s\" is no tensor of string, int64 or float32", key);
    if (kind == LEAT_SPEC_SPARSE && vector)
        return infer_sparse(call, dtype, records, err);
    if (kind == LEAT_SPEC_RAGGED && vector && leat_spec_ragged_rank(feature) == 0)
        return infer_ragged(call, feature, records, err);
    if (kind != LEAT_SPEC_TENSOR)
        return leati_refuse(err, STRUCTURE,
                            "feature \"%.100s\" is neither a tensor nor a sparse or ragged vector",
                            key);
    LEATI_TRY(length_of(key, &shape, &length, &multiple, err));
    LEATI_TRY(leati_features_shape(records, &shape, &all, err));
    return leati_op_infer_output(call, dtype, &all, NULL, err);
}

leat_status leati_features_infer(leati_infer_call *call, const leat_spec *features,
                                 const leat_shape *records, const char *what, leat_error *err) {
    if (features == NULL || leat_spec_get_kind(features) != LEAT_SPEC_DICT)
        return leati_refuse(err, STRUCTURE, "%s is no dict of specs", what);
    for (int i = 0; i < leat_spec_num_children(features); i++)
        LEATI_TRY(infer_feature(call, leat_spec_key(features, i), leat_spec_child(features, i),
                                records, err));
    return LEAT_OK;
}

/* ---- planning ---- */

/* The default of a feature, or NULL. */
static const leat_tensor *default_of(const leati_features *f, const char *key) {
    const leat_spec *spec = f->defaults->spec;
    if (spec == NULL || leat_spec_get_kind(spec) != LEAT_SPEC_DICT)
        return NULL;
    for (int i = 0; i < leat_spec_num_children(spec) && i < f->defaults->num_tensors; i++)
        if (strcmp(leat_spec_key(spec, i), key) == 0)
            return &f->defaults->tensors[i];
    return NULL;
}

/* Points a request at its default: as it is, or a scalar repeated in the arena. What fills up a
 * sequence is one value; a sequence that is missing is empty. */
static leat_status use_default(const leati_features *f, leati_feature_request *request,
                               const leat_tensor *tensor, leat_error *err) {
    int64_t count = leat_tensor_count(tensor), wanted = request->length < 0 ? 1 : request->length;
    if (tensor->dtype != request->dtype || (count != wanted && count != 1))
        return leati_refuse(
            err, DTYPE,
            "the default of feature \"%.100s\" is %lld values of %s; expected %lld of %s",
            request->name, (long long)count, leat_dtype_name(tensor->dtype), (long long)wanted,
            leat_dtype_name(request->dtype));
    if (request->length < 0)
        return LEAT_OK;
    request->defaults = tensor->data;
    if (count == request->length)
        return LEAT_OK;
    size_t size = leat_dtype_size(tensor->dtype), bytes = (size_t)request->length * size;
    char *repeated = leati_arena_alloc(f->call->arena, bytes);
    if (repeated == NULL)
        return leati_no_memory(err);
    for (int64_t i = 0; i < request->length; i++)
        memcpy(repeated + (size_t)i * size, tensor->data, size);
    request->defaults = repeated;
    return LEAT_OK;
}

leat_status leati_features_open(leati_features *f, leat_error *err) {
    int count = leat_spec_num_children(f->spec);
    size_t bytes = ((size_t)count + 1) * sizeof(leati_feature_request);
    leati_feature_request *requests = leati_arena_alloc(f->call->arena, bytes);
    f->plan = NULL;
    f->dense = true;
    if (requests == NULL)
        return leati_no_memory(err);
    for (int i = 0; i < count; i++) {
        const leat_spec *feature = leat_spec_child(f->spec, i);
        leat_shape shape = leat_spec_shape(feature);
        requests[i] = (leati_feature_request){.name = leat_spec_key(f->spec, i),
                                              .dtype = leat_spec_dtype(feature)};
        LEATI_TRY(
            length_of(requests[i].name, &shape, &requests[i].length, &requests[i].multiple, err));
        f->dense = f->dense && requests[i].length >= 0;
        const leat_tensor *given = default_of(f, requests[i].name);
        if (given != NULL)
            LEATI_TRY(use_default(f, &requests[i], given, err));
    }
    return leati_example_plan_lend(requests, count, f->call->arena, &f->plan, err);
}

/* ---- writing ---- */

/* Strings of a default point into the node's attributes: the output gets bytes of its own. */
static leat_status copy_texts(leati_kernel_call *call, int output, leat_string *strings,
                              int64_t count, leat_error *err) {
    for (int64_t i = 0; i < count; i++) {
        char *to = leati_op_kernel_text(call, output, strings[i].size, err);
        if (to == NULL)
            return LEAT_RESOURCE_EXHAUSTED;
        if (strings[i].size > 0)
            memcpy(to, strings[i].data, strings[i].size);
        strings[i].data = to;
    }
    return LEAT_OK;
}

/* The values of one record. */
static leat_status put_values(const leati_features *f, int feature, int output,
                              const leati_feature_span *span, void *to, leat_error *err) {
    if (span->count == 0)
        return LEAT_OK;
    leati_example_read(f->plan, feature, span, to);
    if (span->list == NULL && f->call->outputs[output].dtype == LEAT_STRING)
        return copy_texts(f->call, output, to, span->count, err);
    return LEAT_OK;
}

/* One batch of records of a row, while one feature of it is written. */
typedef struct batch {
    const leati_features *features;
    const leati_feature_span *spans; /* of this feature in record 0 */
    int64_t step;                    /* between records */
    int64_t row, n;
    int feature, output; /* the first of its outputs */
} batch;

static const leati_feature_span *span_of(const batch *b, int64_t record) {
    return &b->spans[record * b->step];
}

/* The number of values of all records, and of the longest. */
static int64_t count_values(const batch *b, int64_t *longest) {
    int64_t sum = 0;
    *longest = 0;
    for (int64_t r = 0; r < b->n; r++) {
        int64_t count = span_of(b, r)->count;
        sum += count;
        *longest = count > *longest ? count : *longest;
    }
    return sum;
}

static leat_status output_like(const batch *b, int index, leat_shape shape, leat_error *err) {
    return leati_support_output_like(b->features->call, b->output + index, &shape, err);
}

static void *output_of(const batch *b, int index) {
    return leati_support_row_of(&b->features->call->outputs[b->output + index], b->row);
}

/* Are the records a vector? Else they are a scalar. */
static bool is_batch(const batch *b) {
    return b->features->call->inputs[0].rank == 1;
}

/* All values one after the other, as output `index`. */
static leat_status put_flat(const batch *b, int index, int64_t count, leat_error *err) {
    LEATI_TRY(output_like(b, index, LEAT_SHAPE(count), err));
    const leati_features *f = b->features;
    size_t size = leat_dtype_size(f->call->outputs[b->output + index].dtype);
    char *to = output_of(b, index);
    int64_t done = 0;
    for (int64_t r = 0;
         r < b->n && count > 0 && !leati_stop_look_after(LEATI_STOP_WORK / 256, &done); r++) {
        const leati_feature_span *span = span_of(b, r);
        if (span->packed)
            leati_example_read(f->plan, b->feature, span, to);
        else
            LEATI_TRY(put_values(f, b->feature, b->output + index, span, to, err));
        to += (size_t)span->count * size;
    }
    return LEAT_OK;
}

static leat_status put_sparse(const batch *b, leat_error *err) {
    int64_t longest, count = count_values(b, &longest), rank = is_batch(b) ? 2 : 1;
    LEATI_TRY(output_like(b, 0, LEAT_SHAPE(count, rank), err));
    LEATI_TRY(output_like(b, 2, LEAT_SHAPE(rank), err));
    int64_t *index = output_of(b, 0), *dense = output_of(b, 2);
    for (int64_t r = 0; r < b->n; r++) {
        for (int64_t i = 0; i < span_of(b, r)->count; i++) {
            if (rank == 2)
                *index++ = r;
            *index++ = i;
        }
    }
    /* Of a single record the rank is 1: the number of records is overwritten. */
    dense[0] = b->n;
    dense[rank - 1] = longest;
    return put_flat(b, 1, count, err);
}

static leat_status put_ragged(const batch *b, leat_error *err) {
    leat_dtype dtype = b->features->call->outputs[b->output + 1].dtype;
    int64_t longest, count = count_values(b, &longest), end = 0;
    if (dtype == LEAT_INT32 && count > INT32_MAX)
        return leati_refuse(err, VALUE, "%lld values do not fit row splits of int32; use int64",
                            (long long)count);
    LEATI_TRY(output_like(b, 1, LEAT_SHAPE(b->n + 1), err));
    void *splits = output_of(b, 1);
    for (int64_t r = 0; r <= b->n; r++) {
        if (dtype == LEAT_INT32)
            ((int32_t *)splits)[r] = (int32_t)end;
        else
            ((int64_t *)splits)[r] = end;
        end += r < b->n ? span_of(b, r)->count : 0;
    }
    return put_flat(b, 0, count, err);
}

/* Fills the places that a record leaves with the default, or with 0. */
static leat_status fill_up(const batch *b, char *to, int64_t count, leat_error *err) {
    const leati_feature_request *request =
        leati_example_plan_request(b->features->plan, b->feature);
    const leat_tensor *fill = default_of(b->features, request->name);
    size_t size = leat_dtype_size(request->dtype);
    if (count == 0)
        return LEAT_OK;
    if (fill == NULL) {
        memset(to, 0, (size_t)count * size);
        return LEAT_OK;
    }
    memcpy(to, fill->data, size);
    if (request->dtype == LEAT_STRING)
        LEATI_TRY(copy_texts(b->features->call, b->output, (leat_string *)(void *)to, 1, err));
    for (int64_t i = 1; i < count; i++)
        memcpy(to + (size_t)i * size, to, size);
    return LEAT_OK;
}

/* A dense feature: rows of one size. */
static leat_status put_dense(const batch *b, leat_error *err) {
    const leati_features *f = b->features;
    const leati_feature_request *request = leati_example_plan_request(f->plan, b->feature);
    leat_shape shape = leat_spec_shape(leat_spec_child(f->spec, b->feature)), all;
    leat_shape records = leati_support_operand_shape(&f->call->inputs[0]);
    int64_t longest, size = request->length;
    (void)count_values(b, &longest);
    if (size < 0) {
        /* No length was planned: a batch is as long as its longest record. */
        size = longest;
        shape.dims[0] = request->multiple > 0 ? longest / request->multiple : 0;
    }
    LEATI_TRY(leati_features_shape(&records, &shape, &all, err));
    LEATI_TRY(leati_support_output_like(f->call, b->output, &all, err));
    char *to = output_of(b, 0);
    size_t bytes = leat_dtype_size(request->dtype);
    for (int64_t r = 0; r < b->n && size > 0; r++, to += (size_t)size * bytes) {
        int64_t count = span_of(b, r)->count;
        LEATI_TRY(put_values(f, b->feature, b->output, span_of(b, r), to, err));
        LEATI_TRY(fill_up(b, to + (size_t)count * bytes, size - count, err));
    }
    return LEAT_OK;
}

leat_status leati_features_write(const leati_features *f, const leati_feature_span *spans,
                                 int64_t row, int64_t n, leat_error *err) {
    int count = leat_spec_num_children(f->spec), output = f->first;
    for (int i = 0; i < count; i++) {
        const leat_spec *feature = leat_spec_child(f->spec, i);
        batch b = {f, spans + i, count, row, n, i, output};
        switch (leat_spec_get_kind(feature)) {
        case LEAT_SPEC_SPARSE: LEATI_TRY(put_sparse(&b, err)); break;
        case LEAT_SPEC_RAGGED: LEATI_TRY(put_ragged(&b, err)); break;
        default: LEATI_TRY(put_dense(&b, err));
        }
        output += outputs_of(feature);
    }
    return LEAT_OK;
}

leat_status leati_features_put(const leati_features *f, const leati_feature_span *spans,
                               const leati_example_column *places, leat_error *err) {
    for (int i = 0; i < leat_spec_num_children(f->spec); i++)
        LEATI_TRY(put_values(f, i, f->first + i, &spans[i], places[i].data, err));
    return LEAT_OK;
}

leat_status leati_features_hold(const leati_features *f, leat_error *err) {
    int end = f->first + leati_features_outputs(f->spec);
    for (int i = f->first; i < end && f->call->n > 0; i++)
        if (f->call->outputs[i].dtype == LEAT_STRING)
            LEATI_TRY(leati_op_kernel_hold(f->call, i, 0, err));
    return LEAT_OK;
}
