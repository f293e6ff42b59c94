/* strategy.reduce: one host value from one value per replica.
 *
 * Without an axis the values are added in replica order and, for MEAN, divided by the number of
 * replicas. With an axis every value is first summed along it, and MEAN divides by the number of
 * all rows, so that uneven and empty replicas count right. The mean of integers is float64, as in
 * TensorFlow. Sums are made in double or in wrapping int64 and then converted. */
#include "base/alloc.h"
#include "base/error.h"
#include "core/half.h"
#include "core/spec.h"
#include "dist/strategy.h"
#include <string.h>

static bool is_floating(leat_dtype dtype) {
    return dtype == LEAT_FLOAT16 || dtype == LEAT_BFLOAT16 || dtype == LEAT_FLOAT32 ||
           dtype == LEAT_FLOAT64;
}

static double load_float(const leat_tensor *tensor, int64_t i) {
    switch (tensor->dtype) {
    case LEAT_FLOAT16: return leati_float_of_half(((const uint16_t *)tensor->data)[i]);
    case LEAT_BFLOAT16: return leati_float_of_bfloat16(((const uint16_t *)tensor->data)[i]);
    case LEAT_FLOAT32: return ((const float *)tensor->data)[i];
    default: return ((const double *)tensor->data)[i];
    }
}

static uint64_t load_int(const leat_tensor *tensor, int64_t i) {
    switch (tensor->dtype) {
    case LEAT_INT8: return (uint64_t)((const int8_t *)tensor->data)[i];
    case LEAT_INT16: return (uint64_t)((const int16_t *)tensor->data)[i];
    case LEAT_INT32: return (uint64_t)((const int32_t *)tensor->data)[i];
    case LEAT_UINT8: return ((const uint8_t *)tensor->data)[i];
    case LEAT_UINT16: return ((const uint16_t *)tensor->data)[i];
    case LEAT_UINT32: return ((const uint32_t *)tensor->data)[i];
    default: return ((const uint64_t *)tensor->data)[i];
    }
}

static void store_float(leat_tensor *tensor, int64_t i, double value) {
    switch (tensor->dtype) {
    case LEAT_FLOAT16: ((uint16_t *)tensor->data)[i] = leati_half_of_float((float)value); break;
    case LEAT_BFLOAT16:
        ((uint16_t *)tensor->data)[i] = leati_bfloat16_of_float((float)value);
        break;
    case LEAT_FLOAT32: ((float *)tensor->data)[i] = (float)value; break;
    default: ((double *)tensor->data)[i] = value; break;
    }
}

static void store_int(leat_tensor *tensor, int64_t i, uint64_t value) {
    switch (leat_dtype_size(tensor->dtype)) {
    case 1: ((uint8_t *)tensor->data)[i] = (uint8_t)value; break;
    case 2: ((uint16_t *)tensor->data)[i] = (uint16_t)value; break;
    case 4: ((uint32_t *)tensor->data)[i] = (uint32_t)value; break;
    default: ((uint64_t *)tensor->data)[i] = value; break;
    }
}

/* A tensor seen as (outer, along, inner): the reduction runs over `along`. Without an axis along
 * is 1. */
typedef struct folded {
    int64_t outer, along, inner;
    leat_shape rest; /* without the axis */
} folded;

static leat_status fold(const leat_tensor *tensor, int axis, folded *out, leat_error *err) {
    *out = (folded){.outer = 1, .along = 1, .inner = 1, .rest = leat_tensor_shape(tensor)};
    if (axis == LEAT_NO_AXIS) {
        out->inner = leat_tensor_count(tensor);
        return LEAT_OK;
    }
    int at = axis < 0 ? axis + tensor->rank : axis;
    if (at < 0 || at >= tensor->rank) {
        return leati_fail(err, LEAT_INVALID_ARGUMENT,
                          "Invalid reduction dimension %d for a value of rank %d", axis,
                          tensor->rank);
    }
    out->rest.rank = 0;
    for (int i = 0; i < tensor->rank; i++) {
        int64_t dim = tensor->dims[i];
        if (i < at) {
            out->outer *= dim;
        } else if (i > at) {
            out->inner *= dim;
        } else {
            out->along = dim;
        }
        if (i != at) {
            out->rest.dims[out->rest.rank++] = dim;
        }
    }
    return LEAT_OK;
}

/* Adds the value, summed along its axis, to the accumulators. */
static void accumulate(const leat_tensor *tensor, const folded *f, double *floats, uint64_t *ints) {
    for (int64_t o = 0; o < f->outer; o++) {
        for (int64_t a = 0; a < f->along; a++) {
            for (int64_t i = 0; i < f->inner; i++) {
                int64_t from = (o * f->along + a) * f->inner + i, to = o * f->inner + i;
                if (floats != NULL) {
                    floats[to] += load_float(tensor, from);
                } else {
                    ints[to] += load_int(tensor, from);
                }
            }
        }
    }
}

static leat_status reduce_component(leat_reduce_op op, const leat_per_replica *value, int component,
                                    int axis, leat_tensor *out, leat_error *err) {
    const leat_tensor *first = &value->elements[0].tensors[component];
    folded shape = {0};
    int64_t along = 0;
    if (first->dtype == LEAT_STRING || first->dtype == LEAT_OBJECT || first->dtype == LEAT_BOOL) {
        return leati_fail(err, LEAT_INVALID_ARGUMENT,
                          "a value of dtype %s cannot be reduced; expected numbers",
                          leat_dtype_name(first->dtype));
    }
    leat_status status = fold(first, axis, &shape, err);
    if (status != LEAT_OK) {
        return status;
    }
    size_t count = (size_t)(shape.outer * shape.inner);
    bool floating = is_floating(first->dtype);
    void *sums = leati_alloc_zero(count, sizeof(double));
    if (sums == NULL) {
        return leati_no_memory(err, count * sizeof(double));
    }
    for (int r = 0; r < value->num_replicas && status == LEAT_OK; r++) {
        const leat_tensor *tensor = &value->elements[r].tensors[component];
        folded f = {0};
        status = fold(tensor, axis, &f, err);
        if (status == LEAT_OK &&
            (tensor->dtype != first->dtype || !leati_shape_equal(&f.rest, &shape.rest))) {
            char a[128], b[128];
            status = leati_fail(
                err, LEAT_INVALID_ARGUMENT,
                "replicas 0 and %d have values of shapes %s and %s to add; expected equal ones", r,
                leati_shape_text(&shape.rest, a), leati_shape_text(&f.rest, b));
        }
        if (status == LEAT_OK) {
            accumulate(tensor, &f, floating ? sums : NULL, floating ? NULL : sums);
            along += f.along;
        }
    }
    bool mean = op == LEAT_REDUCE_MEAN;
    leat_dtype dtype = mean && !floating ? LEAT_FLOAT64 : first->dtype;
    if (status == LEAT_OK) {
        status = leat_tensor_new(dtype, shape.rest, out, err);
    }
    double divisor = axis == LEAT_NO_AXIS ? value->num_replicas : (double)along;
    for (size_t i = 0; i < count && status == LEAT_OK; i++) {
        if (!mean && !floating) {
            store_int(out, (int64_t)i, ((uint64_t *)sums)[i]);
            continue;
        }
        double sum = floating ? ((double *)sums)[i] : (double)((int64_t *)sums)[i];
        store_float(out, (int64_t)i, mean ? sum / divisor : sum);
    }
    leati_free(sums);
    return status;
}

leat_status leat_strategy_reduce(leat_strategy *strategy, leat_reduce_op op,
                                 const leat_per_replica *value, int axis, leat_element *out,
                                 leat_error *err) {
    if (strategy == NULL || value == NULL || out == NULL) {
        return leati_fail(err, LEAT_INVALID_ARGUMENT, "leat_strategy_reduce: an argument is NULL");
    }
    if (value->num_replicas != strategy->num_replicas) {
        return leati_fail(err, LEAT_INVALID_ARGUMENT, "a value of %d replicas; the strategy has %d",
                          value->num_replicas, strategy->num_replicas);
    }
    if (op != LEAT_REDUCE_SUM && op != LEAT_REDUCE_MEAN) {
        return leati_fail(err, LEAT_INVALID_ARGUMENT,
                          "reduction %d; expected LEAT_REDUCE_SUM or LEAT_REDUCE_MEAN", (int)op);
    }
    int count = value->elements[0].num_tensors;
    for (int r = 1; r < value->num_replicas; r++) {
        if (value->elements[r].num_tensors != count) {
            return leati_fail(err, LEAT_INVALID_ARGUMENT,
                              "replica %d has %d components, replica 0 has %d", r,
                              value->elements[r].num_tensors, count);
        }
    }
    size_t n = (size_t)count;
    leat_tensor *tensors = leati_alloc_zero(n, sizeof(*tensors));
    leat_dtype *dtypes = leati_alloc(n, sizeof(*dtypes));
    leat_shape *shapes = leati_alloc(n, sizeof(*shapes));
    leat_status status = tensors == NULL || dtypes == NULL || shapes == NULL
                             ? leati_no_memory(err, n * sizeof(*shapes))
                             : LEAT_OK;
    for (int c = 0; c < count && status == LEAT_OK; c++) {
        status = reduce_component(op, value, c, axis, &tensors[c], err);
        dtypes[c] = tensors[c].dtype;
        shapes[c] = leat_tensor_shape(&tensors[c]);
    }
    leat_spec *spec =
        status == LEAT_OK ? leati_spec_like(value->elements[0].spec, dtypes, shapes, err) : NULL;
    if (status == LEAT_OK) {
        status = spec == NULL ? LEAT_RESOURCE_EXHAUSTED : leat_element_set(out, spec, tensors, err);
    }
    for (int c = 0; c < count && tensors != NULL; c++) {
        leat_tensor_unref(&tensors[c]);
    }
    leat_spec_unref(spec);
    leati_free(tensors);
    leati_free(dtypes);
    leati_free(shapes);
    return status;
}
