/* gather: the slices of a tensor along an axis that the indices number (tf.gather), and
 * gather_grad, its gradient: zeros to which slices are added at the indices, in their order, so the
 * result does not depend on threads.
 *
 * The first batch_dims dimensions of both go together: each batch has its own indices. They fail in
 * a run where an index is outside the axis, naming both. No state, no locks. */
#include "graph/support/array/gather.h"

#include "base/isa.h"
#include "base/minmax.h"
#include "base/stop.h"
#include "core/tensor.h"
#include "graph/support/array/moving.h"

#include <string.h>

static const leati_row gather_rows[] = {
    {.name = "axis",
     .type = LEATI_ROW_INT,
     .flags = LEATI_NONE | LEATI_TENSOR,
     .offset = offsetof(struct leati_gather_args, axis),
     .default_number = (double)INT64_MIN,
     .doc = "The dimension of the first input that the indices number; none: batch_dims."},
    {.name = "batch_dims",
     .type = LEATI_ROW_INT,
     .offset = offsetof(struct leati_gather_args, batch_dims),
     .doc = "How many leading dimensions both have in common; negative counts from the end of the "
            "indices."},
    {0},
};

/* How a gather and its gradient see the tensor: in each batch `outer` pieces before the axis, `dim`
 * along it, `inner` values behind, and `count` indices. */
typedef struct gather_plan {
    int64_t batch, outer, dim, inner, count;
} gather_plan;

/* The axis and the number of batch dimensions, from the front. */
static leat_status resolve(const struct leati_gather_args *args, const leat_shape *params,
                           const leat_shape *indices, int32_t *axis, int32_t *batch,
                           leat_error *err) {
    /* As in TensorFlow, a negative number counts from the end of the indices, not of the tensor. */
    int64_t dims = args->batch_dims < 0 ? args->batch_dims + indices->rank : args->batch_dims;
    /* A scalar without batch dimensions passes: the check of the axis says better what is wrong. */
    if (dims < 0 || dims > indices->rank || dims >= params->rank + (dims == 0))
        return leati_refuse(
            err, SHAPE,
            "batch_dims %lld; expected at most the rank of the indices, %d, and less "
            "than that of the tensor, %d",
            (long long)args->batch_dims, (int)indices->rank, (int)params->rank);
    *batch = (int32_t)dims;
    LEATI_TRY(leati_support_normal_axis(args->axis == INT64_MIN ? dims : args->axis, params->rank,
                                        axis, err));
    if (*axis < *batch)
        return leati_refuse(err, SHAPE,
                            "axis %d is one of the %d batch dimensions; expected one behind them",
                            (int)*axis, (int)*batch);
    for (int32_t d = 0; d < *batch; d++)
        LEATI_TRY(leati_support_want_equal_dims(params->dims[d], indices->dims[d],
                                                "batch dimensions", err));
    return LEAT_OK;
}

static leat_status plan_of(const struct leati_gather_args *args, const leati_operand *params,
                           const leati_operand *indices, gather_plan *plan, leat_error *err) {
    leat_shape shape = leati_support_operand_shape(params),
               at = leati_support_operand_shape(indices);
    int32_t axis = 0, batch = 0;
    LEATI_TRY(resolve(args, &shape, &at, &axis, &batch, err));
    *plan = (gather_plan){.batch = 1, .outer = 1, .dim = params->dims[axis], .inner = 1};
    for (int32_t d = 0; d < batch; d++)
        plan->batch *= params->dims[d];
    for (int32_t d = batch; d < axis; d++)
        plan->outer *= params->dims[d];
    for (int32_t d = axis + 1; d < params->rank; d++)
        plan->inner *= params->dims[d];
    /* An empty batch has no indices, and must not divide them. */
    plan->count = plan->batch > 0 ? indices->count / plan->batch : 0;
    return LEAT_OK;
}

/* Index `i` of row `row`; INVALID_ARGUMENT outside [0, dim), with the row noted in the call. */
static leat_status read_index(leati_kernel_call *call, const leati_operand *indices, int64_t row,
                              int64_t i, int64_t dim, int64_t *out, leat_error *err) {
    *out = leati_support_index_at(indices, row, i);
    if (*out >= 0 && *out < dim)
        return LEAT_OK;
    call->failed_row = row;
    return leati_refuse(err, VALUE, "index %lld at place %lld is outside [0, %lld)",
                        (long long)*out, (long long)i, (long long)dim);
}

/* The shape of `params` with its axis replaced by the dimensions of the indices behind the batch.
 */
static leat_status gathered(const struct leati_gather_args *args, const leat_shape *params,
                            const leat_shape *indices, leat_shape *out, leat_error *err) {
    int32_t axis = 0, batch = 0;
    LEATI_TRY(resolve(args, params, indices, &axis, &batch, err));
    int32_t rank = params->rank - 1 + indices->rank - batch;
    if (rank > LEAT_MAX_RANK)
        return leati_refuse(err, SHAPE, "the rank would be %d; expected at most %d", (int)rank,
                            LEAT_MAX_RANK);
    out->rank = 0;
    for (int32_t d = 0; d < params->rank; d++) {
        if (d != axis)
            out->dims[out->rank++] = params->dims[d];
        for (int32_t k = batch; d == axis && k < indices->rank; k++)
            out->dims[out->rank++] = indices->dims[k];
    }
    return LEAT_OK;
}

/* Of an axis that the run computes. */
static leat_shape shape_of_rank(int32_t rank) {
    leat_shape out = {.rank = rank <= LEAT_MAX_RANK ? rank : LEAT_UNKNOWN_RANK};
    for (int32_t d = 0; d < out.rank; d++)
        out.dims[d] = LEAT_UNKNOWN_DIM;
    return out;
}

static leat_status gather_infer(leati_infer_call *call, leat_error *err) {
    const struct leati_gather_args *args = call->args;
    const leat_shape *params = &call->inputs[0].shape, *indices = &call->inputs[1].shape;
    leat_shape out = {.rank = LEAT_UNKNOWN_RANK};
    LEATI_TRY(leati_support_want_values(call, 0, err));
    LEATI_TRY(leati_support_want_index(call, 1, "the indices", err));
    /* Where the run computes the axis, the rank follows at least, unless batch
     * dimensions hide it. */
    if (params->rank >= 0 && indices->rank >= 0 && call->unknown == 0)
        LEATI_TRY(gathered(args, params, indices, &out, err));
    else if (params->rank > 0 && indices->rank >= 0 && args->batch_dims == 0)
        out = shape_of_rank(params->rank - 1 + indices->rank);
    return leati_op_infer_output(call, call->inputs[0].dtype, &out, NULL, err);
}

/* Are `count` indices of each row inside? Without a branch for each, so that it is vector code. */
#define OUTSIDE(NAME, TYPE, UTYPE)                                                                 \
    LEATI_ALWAYS_INLINE void NAME##_loop(struct index_range *r) {                                  \
        const TYPE *at = (const TYPE *)r->indices;                                                 \
        UTYPE outside = 0, dim = (UTYPE)r->dim;                                                    \
        for (int64_t i = 0; i < r->count; i++)                                                     \
            outside |= (UTYPE)at[i] >= dim;                                                        \
        r->outside = outside != 0;                                                                 \
    }                                                                                              \
    LEATI_ISA(NAME, NAME##_loop, struct index_range *)
struct index_range {
    const char *indices;
    int64_t count, dim;
    bool outside;
};
OUTSIDE(outside_32, int32_t, uint32_t)
OUTSIDE(outside_64, int64_t, uint64_t)

static leat_status check_indices(leati_kernel_call *call, const leati_operand *indices,
                                 int64_t count, int64_t dim, leat_error *err) {
    for (int64_t row = 0; row < call->n; row++) {
        /* All numbers of an int32 are inside a dimension that is larger. */
        int64_t most = indices->dtype == LEAT_INT32 ? LEATI_MIN(dim, (int64_t)INT32_MAX + 1) : dim;
        struct index_range range = {leati_support_row_of(indices, row), count, most, false};
        if (indices->dtype == LEAT_INT32)
            outside_32(&range);
        else
            outside_64(&range);
        int64_t index = 0;
        for (int64_t i = 0; range.outside && i < count; i++)
            LEATI_TRY(read_index(call, indices, row, i, dim, &index, err));
        if (indices->row_stride == 0)
            break;
    }
    return LEAT_OK;
}

/* The steps of a call: of each row, each piece before the axis, each index. */
typedef struct gather_work {
    const leati_kernel_call *call;
    const gather_plan *plan;
    size_t bytes; /* of a slice */
} gather_work;

/* Copies slices `first` to `first` + n - 1 of one piece. */
LEATI_ALWAYS_INLINE void take_slices(char *to, const char *from, const leati_operand *indices,
                                     int64_t row, int64_t first, int64_t n, size_t bytes) {
    const char *at = leati_support_row_of(indices, row);
    if (indices->dtype == LEAT_INT32)
        for (int64_t i = 0; i < n; i++)
            memcpy(to + (size_t)i * bytes,
                   from + (size_t)((const int32_t *)(const void *)at)[first + i] * bytes, bytes);
    else
        for (int64_t i = 0; i < n; i++)
            memcpy(to + (size_t)i * bytes,
                   from + (size_t)((const int64_t *)(const void *)at)[first + i] * bytes, bytes);
}

static void gather_steps(void *data, int64_t begin, int64_t end) {
    const gather_work *w = data;
    const gather_plan *p = w->plan;
    const leati_operand *params = &w->call->inputs[0], *indices = &w->call->inputs[1];
    int64_t pieces = p->batch * p->outer;
    for (int64_t step = begin, n = 0; step < end; step += n) {
        int64_t piece = step / p->count % pieces, row = step / p->count / pieces;
        int64_t i = step % p->count, first = piece / p->outer * p->count + i;
        n = LEATI_MIN(p->count - i, end - step);
        char *to = leati_support_row_of(&w->call->outputs[0], row) +
                   (size_t)(piece * p->count + i) * w->bytes;
        const char *from = leati_support_row_of(params, row) + (size_t)(piece * p->dim) * w->bytes;
        /* A constant size is a load and a store. */
        switch (w->bytes) {
        case 1: take_slices(to, from, indices, row, first, n, 1); break;
        case 2: take_slices(to, from, indices, row, first, n, 2); break;
        case 4: take_slices(to, from, indices, row, first, n, 4); break;
        case 8: take_slices(to, from, indices, row, first, n, 8); break;
        case 16: take_slices(to, from, indices, row, first, n, 16); break;
        default: take_slices(to, from, indices, row, first, n, w->bytes);
        }
    }
}

static leat_status gather_kernel(leati_kernel_call *call, leat_error *err) {
    const struct leati_gather_args *args = call->args;
    const leati_operand *params = &call->inputs[0], *indices = &call->inputs[1];
    leat_shape from = leati_support_operand_shape(params),
               at = leati_support_operand_shape(indices), shape = {0};
    gather_plan plan;
    LEATI_TRY(plan_of(args, params, indices, &plan, err));
    LEATI_TRY(gathered(args, &from, &at, &shape, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    gather_work work = {.call = call, .plan = &plan};
    work.bytes = (size_t)plan.inner * leat_dtype_size(params->dtype);
    /* Indices are checked also where there is nothing to copy. */
    LEATI_TRY(check_indices(call, indices, plan.batch * plan.count, plan.dim, err));
    if (work.bytes > 0)
        leati_moving_share(call->n * plan.batch * plan.outer * plan.count, (int64_t)work.bytes,
                           gather_steps, &work);
    return leati_support_hold_strings(call, 0, err);
}

static leat_status gather_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    call->input_gradients[0] =
        leati_graph_build3(&leati_tensor_op_gather_grad, call->args, call->output_gradients[0],
                           call->inputs[0], call->inputs[1]);
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_gather = {
    .name = "gather",
    .version = 1,
    .doc = "The slices of a tensor along an axis that the indices number (tf.gather).",
    .names = "gather",
    .inputs = "params indices",
    .signature = "params indices validate_indices=null axis batch_dims",
    .types = "Tparams Tindices<int16",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = gather_rows,
    .args_size = sizeof(struct leati_gather_args),
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = gather_infer,
    .kernel = gather_kernel,
    .gradient = gather_gradient,
};

/* ---- gather_grad: inputs gradient, params, indices ---- */
static leat_status gather_grad_infer(leati_infer_call *call, leat_error *err) {
    LEATI_TRY(leati_support_want_trainable(call, 0, "the gradient", err));
    LEATI_TRY(leati_support_want_dtype(call, 1, call->inputs[0].dtype, "the tensor", err));
    LEATI_TRY(leati_support_want_index(call, 2, "the indices", err));
    return leati_op_infer_output(call, call->inputs[0].dtype, &call->inputs[1].shape, NULL, err);
}

static void add_piece(leat_dtype dtype, char *to, const char *from, int64_t n) {
    /* The parts of complex numbers add up each for itself. */
    n *= leati_dtype_is_complex(dtype) ? 2 : 1;
    if (leati_dtype_part(dtype) == LEAT_FLOAT32)
        for (int64_t i = 0; i < n; i++)
            ((float *)to)[i] += ((const float *)from)[i];
    else
        for (int64_t i = 0; i < n; i++)
            ((double *)to)[i] += ((const double *)from)[i];
}

static leat_status gather_grad_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *gradient = &call->inputs[0], *params = &call->inputs[1];
    const leati_operand *indices = &call->inputs[2], *out = &call->outputs[0];
    leat_shape shape = leati_support_operand_shape(params);
    gather_plan plan;
    LEATI_TRY(plan_of(call->args, params, indices, &plan, err));
    /* The gradient is read by the plan of the two others: fewer values would be read
     * out of bounds. */
    LEATI_TRY(leati_support_want_equal_dims(
        gradient->count, plan.batch * plan.outer * plan.count * plan.inner,
        "values of the gradient and of what was gathered", err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    size_t size = leat_dtype_size(out->dtype), bytes = (size_t)plan.inner * size;
    int64_t done = 0;
    for (int64_t row = 0; row < call->n; row++) {
        /* Slices that no index names keep zeros; those named twice get the sum. */
        if (out->count > 0)
            memset(leati_support_row_of(out, row), 0, (size_t)out->count * size);
        for (int64_t k = 0; k < plan.batch * plan.count; k++) {
            int64_t index = 0, piece = k / plan.count * plan.outer, i = k % plan.count;
            LEATI_TRY(read_index(call, indices, row, k, plan.dim, &index, err));
            if (leati_stop_look_after(plan.outer * plan.inner, &done))
                break;
            for (int64_t o = piece; o < piece + plan.outer; o++)
                add_piece(out->dtype,
                          leati_support_row_of(out, row) + (size_t)(o * plan.dim + index) * bytes,
                          leati_support_row_of(gradient, row) +
                              (size_t)(o * plan.count + i) * bytes,
                          plan.inner);
        }
    }
    return LEAT_OK;
}

static leat_status gather_grad_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    /* Adding is linear: each slice of the gradient gets what arrives where it was added. */
    call->input_gradients[0] = leati_graph_build2(&leati_tensor_op_gather, call->args,
                                                  call->output_gradients[0], call->inputs[2]);
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_gather_grad = {
    .name = "gather_grad",
    .version = 1,
    .doc = "Zeros of params' shape to which the gradient's slices are added (for "
           "gradients).",
    .types = "T T Tindices",
    .outputs = "output",
    .halves = LEATI_HALVES_FLOAT,
    .rows = gather_rows,
    .args_size = sizeof(struct leati_gather_args),
    .min_inputs = 3,
    .max_inputs = 3,
    .infer = gather_grad_infer,
    .kernel = gather_grad_kernel,
    .gradient = gather_grad_gradient,
};
