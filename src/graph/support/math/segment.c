/* Slices combined by segments; see segment.h. Fails where the numbers' shape is not that of the
 * first dimensions of the data, where sorted numbers fall, and where a number is no segment. No
 * state, no locks. */
#include "graph/support/math/segment.h"

#include "core/tensor.h"

#include <string.h>

const leati_row leati_segment_rows[] = {
    {.name = "num_segments",
     .type = LEATI_ROW_INT,
     .flags = LEATI_REQUIRED | LEATI_TENSOR,
     .offset = offsetof(struct leati_segment_args, num_segments),
     .maximum = INT64_MAX,
     .doc = "How many segments there are."},
    {0},
};

static leat_status check_shapes(const leat_shape *data, const leat_shape *ids, leat_error *err) {
    char texts[2][128];
    bool fits = data->rank < 0 || ids->rank < 0 || ids->rank <= data->rank;
    for (int32_t d = 0; fits && data->rank >= 0 && d < ids->rank; d++)
        fits = data->dims[d] == ids->dims[d] || data->dims[d] == LEAT_UNKNOWN_DIM ||
               ids->dims[d] == LEAT_UNKNOWN_DIM;
    if (fits)
        return LEAT_OK;
    return leati_refuse(
        err, SHAPE, "segment_ids has shape %s and data %s; expected the first dimensions of data",
        leati_shape_text(ids, texts[0]), leati_shape_text(data, texts[1]));
}

/* The shape of the segments of data. */
static leat_shape segments(const leat_shape *data, const leat_shape *ids, int64_t count) {
    leat_shape out = {.rank = LEAT_UNKNOWN_RANK};
    if (data->rank < 0 || ids->rank < 0)
        return out;
    out = (leat_shape){.rank = 1, .dims = {count}};
    for (int32_t d = ids->rank; d < data->rank; d++)
        out.dims[out.rank++] = data->dims[d];
    return out;
}

leat_status leati_segment_shape(const leat_shape *data, const leat_shape *ids, int64_t count,
                                leat_shape *out, leat_error *err) {
    LEATI_TRY(check_shapes(data, ids, err));
    *out = segments(data, ids, count);
    return LEAT_OK;
}

static leat_status want_inputs(leati_infer_call *call, leat_error *err) {
    LEATI_TRY(leati_combine_want_number(call, 0, "the data", err));
    LEATI_TRY(leati_support_want_index(call, 1, "segment_ids", err));
    return check_shapes(&call->inputs[0].shape, &call->inputs[1].shape, err);
}

leat_status leati_segment_infer(leati_infer_call *call, leat_error *err) {
    const leat_shape vector = LEAT_SHAPE(LEAT_UNKNOWN_DIM);
    LEATI_TRY(want_inputs(call, err));
    LEATI_TRY(leati_support_want_rank(call, 1, 1, "segment_ids", err));
    leat_shape shape = segments(&call->inputs[0].shape, &vector, LEAT_UNKNOWN_DIM);
    return leati_op_infer_output(call, call->inputs[0].dtype, &shape, NULL, err);
}

/* How many segments sorted numbers name. */
static leat_status count_segments(const leati_operand *ids, int64_t *out, leat_error *err) {
    int64_t last = -1;
    for (int64_t i = 0; i < ids->count; i++) {
        int64_t id = leati_support_index_at(ids, 0, i);
        if (id < 0)
            return leati_fail(err, LEAT_INVALID_ARGUMENT,
                              "segment_ids[%lld] is %lld; segment ids must be >= 0", (long long)i,
                              (long long)id);
        if (id < last)
            return leati_fail(err, LEAT_INVALID_ARGUMENT,
                              "segment_ids[%lld] is %lld behind %lld: segment ids are not "
                              "increasing; sort them or use unsorted_segment_*",
                              (long long)i, (long long)id, (long long)last);
        last = id;
    }
    *out = last + 1;
    return LEAT_OK;
}

/* Divides the n values of a sum by how many slices it has. */
static void divide(leat_dtype dtype, char *to, int64_t n, int64_t count) {
    size_t size = leat_dtype_size(dtype);
    leat_tensor all = {.dtype = dtype, .data = to};
    for (int64_t i = 0; i < n; i++, to += size) {
        if (leati_dtype_is_integer(dtype)) {
            int64_t mean = leati_tensor_int_at(&all, i) / count;
            memcpy(to, &mean, size); /* little-endian: the low bytes */
        } else {
            (void)leati_support_store_number(dtype, leati_tensor_float_at(&all, i) / (double)count,
                                             to);
        }
    }
}

leat_status leati_segment_kernel(leati_kernel_call *call, leati_combine_kind kind, bool mean,
                                 leat_error *err) {
    const leati_operand *data = &call->inputs[0], *ids = &call->inputs[1];
    leat_shape from = leati_support_operand_shape(data), numbers = leati_support_operand_shape(ids);
    int64_t count = 0, last = -1, many = 0;
    LEATI_TRY(check_shapes(&from, &numbers, err));
    if (ids->rank != 1)
        return leati_refuse(err, SHAPE, "segment_ids has rank %d; expected rank 1", (int)ids->rank);
    LEATI_TRY(count_segments(ids, &count, err));
    leat_shape shape = segments(&from, &numbers, count);
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    const leati_operand *out = &call->outputs[0];
    size_t size = leat_dtype_size(data->dtype);
    if (out->count == 0)
        return LEAT_OK;
    int64_t values = out->count / count;
    if (kind == LEATI_COMBINE_PRODUCT)
        leati_combine_start(kind, data->dtype, out->data, out->count);
    else
        memset(out->data, 0, (size_t)out->count * size);
    leati_combine_function combine = leati_combine_of(kind, data->dtype);
    for (int64_t i = 0; i < ids->count; i++) {
        int64_t id = leati_support_index_at(ids, 0, i);
        char *to = out->data + (size_t)(id * values) * size;
        const char *slice = data->data + (size_t)(i * values) * size;
        many = id == last ? many + 1 : 1;
        if (many == 1)
            memcpy(to, slice, (size_t)values * size);
        else
            combine(to, slice, values);
        bool ends = i + 1 == ids->count || leati_support_index_at(ids, 0, i + 1) != id;
        if (mean && ends && many > 1)
            divide(data->dtype, to, values, many);
        last = id;
    }
    return LEAT_OK;
}

leat_status leati_segment_unsorted_infer(leati_infer_call *call, leat_error *err) {
    const struct leati_segment_args *args = call->args;
    LEATI_TRY(want_inputs(call, err));
    leat_shape shape = segments(&call->inputs[0].shape, &call->inputs[1].shape,
                                call->unknown != 0 ? LEAT_UNKNOWN_DIM : args->num_segments);
    return leati_op_infer_output(call, call->inputs[0].dtype, &shape, NULL, err);
}

leat_status leati_segment_unsorted_kernel(leati_kernel_call *call, leati_combine_kind kind,
                                          leat_error *err) {
    const struct leati_segment_args *args = call->args;
    const leati_operand *data = &call->inputs[0], *ids = &call->inputs[1], *out = &call->outputs[0];
    leat_shape from = leati_support_operand_shape(data), numbers = leati_support_operand_shape(ids);
    leat_shape shape;
    LEATI_TRY(leati_segment_shape(&from, &numbers, args->num_segments, &shape, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    size_t size = leat_dtype_size(data->dtype);
    int64_t values = args->num_segments > 0 ? out->count / args->num_segments : 0;
    leati_combine_function combine = leati_combine_of(kind, data->dtype);
    for (int64_t row = 0; row < call->n; row++) {
        char *to = leati_support_row_of(out, row);
        if (out->count > 0)
            leati_combine_start(kind, data->dtype, to, out->count);
        for (int64_t i = 0; i < ids->count; i++) {
            int64_t id = leati_support_index_at(ids, row, i);
            if (id >= args->num_segments) {
                call->failed_row = row;
                return leati_fail(err, LEAT_INVALID_ARGUMENT,
                                  "segment_ids[%lld] = %lld is out of range [0, %lld)",
                                  (long long)i, (long long)id, (long long)args->num_segments);
            }
            if (id >= 0 && values > 0)
                combine(to + (size_t)(id * values) * size,
                        leati_support_row_of(data, row) + (size_t)(i * values) * size, values);
        }
    }
    return LEAT_OK;
}

leat_value leati_segment_spread(leat_value values, leat_value ids, leat_value data) {
    return leati_graph_build3(&leati_tensor_op_segment_spread, NULL, values, ids, data);
}

leat_status leati_segment_extreme_gradient(leati_gradient_call *call, const leati_tensor_op *op,
                                           leat_error *err) {
    leat_value data = call->inputs[0], ids = call->inputs[1], g = call->output_gradients[0];
    (void)err;
    leat_value holds =
        leat_op_cast(leat_op_equal(data, leati_segment_spread(call->outputs[0], ids, data)),
                     leat_value_dtype(g));
    leat_value ties = leati_graph_build2(op, call->args, holds, ids);
    leat_value share = leati_segment_spread(leat_op_divide_no_nan(g, ties), ids, data);
    call->input_gradients[0] = leat_op_multiply(share, holds);
    return LEAT_OK;
}

leat_status leati_segment_product_gradient(leati_gradient_call *call, const leati_tensor_op *sum,
                                           const leati_tensor_op *product, leat_error *err) {
    leat_value x = call->inputs[0], ids = call->inputs[1], g = call->output_gradients[0];
    leat_dtype dtype = leat_value_dtype(x);
    (void)err;
    leat_value zero = leat_op_equal(x, leat_op_zeros_like(x)), one = leat_op_ones_like(x);
    leat_value others = leat_op_select(zero, one, x); /* the data with ones in place of zeros */
    leat_value zeros = leati_graph_build2(sum, call->args, leat_op_cast(zero, dtype), ids);
    leat_value rest = leati_graph_build2(product, call->args, others, ids);
    leat_value many = leati_segment_spread(zeros, ids, x);
    leat_value left =
        leat_op_subtract(many, leat_op_cast(zero, dtype)); /* zeros among the others */
    leat_value slope = leat_op_divide(leati_segment_spread(rest, ids, x), others);
    slope =
        leat_op_select(leat_op_equal(left, leat_op_zeros_like(x)), slope, leat_op_zeros_like(x));
    call->input_gradients[0] = leat_op_multiply(leati_segment_spread(g, ids, x), slope);
    return LEAT_OK;
}
