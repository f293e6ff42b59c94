/* gather_nd: the slices of a tensor that rows of indices name (tf.gather_nd).
 *
 * The last dimension of the indices is one row: as many numbers as leading dimensions it names.
 * Fails in a run where an index is outside its dimension. No state, no locks. */
#include "graph/support/array/moving.h"

#include <stdatomic.h>
#include <string.h>

static leat_status gathered(const leat_shape *params, const leat_shape *indices, leat_shape *out,
                            leat_error *err) {
    char texts[2][128];
    /* How many leading dimensions a row of indices names. */
    int64_t depth = indices->rank > 0 ? indices->dims[indices->rank - 1] : -1;
    if (indices->rank == 0 || depth > params->rank ||
        indices->rank - 1 + params->rank - depth > LEAT_MAX_RANK)
        return leati_refuse(
            err, SHAPE,
            "indices of shape %s do not name slices of a tensor of shape %s; the last "
            "dimension is at most its rank",
            leati_shape_text(indices, texts[0]), leati_shape_text(params, texts[1]));
    *out = (leat_shape){.rank = 0};
    for (int32_t d = 0; d < indices->rank - 1; d++)
        out->dims[out->rank++] = indices->dims[d];
    for (int32_t d = (int32_t)depth; d < params->rank; d++)
        out->dims[out->rank++] = params->dims[d];
    return LEAT_OK;
}

static leat_status gather_nd_infer(leati_infer_call *call, leat_error *err) {
    const leat_shape *params = &call->inputs[0].shape, *indices = &call->inputs[1].shape;
    leat_shape out = {.rank = LEAT_UNKNOWN_RANK};
    LEATI_TRY(leati_support_want_values(call, 0, err));
    LEATI_TRY(leati_support_want_index(call, 1, "the indices", err));
    /* Without the length of a row, not even the result's rank is known. */
    bool known = params->rank >= 0 && indices->rank >= 0 &&
                 (indices->rank == 0 || indices->dims[indices->rank - 1] >= 0);
    if (known)
        LEATI_TRY(gathered(params, indices, &out, err));
    return leati_op_infer_output(call, call->inputs[0].dtype, &out, NULL, err);
}

/* The number of the slice that index row `i` names. */
static leat_status slice_of(leati_kernel_call *call, const leat_shape *params, int32_t depth,
                            int64_t row, int64_t i, int64_t *out, leat_error *err) {
    *out = 0;
    for (int32_t d = 0; d < depth; d++) {
        int64_t index = leati_support_index_at(&call->inputs[1], row, i * depth + d);
        if (index < 0 || index >= params->dims[d]) {
            char text[128];
            call->failed_row = row;
            return leati_refuse(
                err, SHAPE,
                "row %lld of the indices has %lld for dimension %d: it does not index "
                "into shape %s",
                (long long)i, (long long)index, (int)d, leati_shape_text(params, text));
        }
        /* Horner's scheme: the number in row-major order. */
        *out = *out * params->dims[d] + index;
    }
    return LEAT_OK;
}

/* The steps of a call: of each row, each row of indices. */
typedef struct gather_work {
    const leati_kernel_call *call;
    const leat_shape *shape;
    int32_t depth;
    int64_t rows;
    size_t bytes;        /* of a slice; indices are checked also where it has no values */
    atomic_bool outside; /* an index is */
} gather_work;

/* The same as slice_of for indices of one dtype; -1 where one is outside. */
#define SLICE_AT(TYPE)                                                                             \
    static inline int64_t slice_at_##TYPE(const char *indices, const leat_shape *shape,            \
                                          int32_t depth, int64_t i) {                              \
        const TYPE *at = (const TYPE *)(const void *)indices + i * depth;                          \
        int64_t slice = 0;                                                                         \
        bool outside = false;                                                                      \
        for (int32_t d = 0; d < depth; d++) {                                                      \
            outside |= (uint64_t)at[d] >= (uint64_t)shape->dims[d];                                \
            slice = (int64_t)((uint64_t)slice * (uint64_t)shape->dims[d] + (uint64_t)at[d]);       \
        }                                                                                          \
        return outside ? -1 : slice;                                                               \
    }
SLICE_AT(int32_t)
SLICE_AT(int64_t)

static void gather_steps(void *data, int64_t begin, int64_t end) {
    gather_work *w = data;
    const leati_operand *params = &w->call->inputs[0], *indices = &w->call->inputs[1];
    for (int64_t step = begin; step < end; step++) {
        int64_t row = w->call->n == 1 ? 0 : step / w->rows, i = step - row * w->rows;
        const char *at = leati_support_row_of(indices, row);
        int64_t slice = indices->dtype == LEAT_INT32 ? slice_at_int32_t(at, w->shape, w->depth, i)
                                                     : slice_at_int64_t(at, w->shape, w->depth, i);
        if (slice < 0) {
            atomic_store_explicit(&w->outside, true, memory_order_relaxed);
            return;
        }
        char *to = leati_support_row_of(&w->call->outputs[0], row) + (size_t)i * w->bytes;
        const char *from = leati_support_row_of(params, row) + (size_t)slice * w->bytes;
        if (w->bytes == 4)
            memcpy(to, from, 4);
        else if (w->bytes == 8)
            memcpy(to, from, 8);
        else if (w->bytes > 0)
            memcpy(to, from, w->bytes);
    }
}

static leat_status gather_nd_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *params = &call->inputs[0], *indices = &call->inputs[1];
    leat_shape from = leati_support_operand_shape(params),
               at = leati_support_operand_shape(indices), shape = {0};
    LEATI_TRY(gathered(&from, &at, &shape, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    /* A row of no numbers names the whole tensor. */
    int32_t depth = (int32_t)at.dims[at.rank - 1];
    int64_t rows = 1;
    size_t bytes = leat_dtype_size(params->dtype);
    for (int32_t d = 0; d < at.rank - 1; d++)
        rows *= at.dims[d];
    for (int32_t d = depth; d < from.rank; d++)
        bytes *= (size_t)from.dims[d];
    gather_work work = {.call = call, .shape = &from, .depth = depth, .rows = rows, .bytes = bytes};
    atomic_init(&work.outside, false);
    leati_moving_share(call->n * rows, (int64_t)bytes, gather_steps, &work);
    int64_t slice = 0;
    /* Which one is the first is asked only then. */
    for (int64_t i = 0; atomic_load(&work.outside) && i < call->n * rows; i++)
        LEATI_TRY(slice_of(call, &from, depth, i / rows, i % rows, &slice, err));
    return leati_support_hold_strings(call, 0, err);
}

static leat_status gather_nd_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    /* Rows that name one slice add up there. */
    call->input_gradients[0] = leat_op_tensor_scatter_nd_add(
        leat_op_zeros_like(call->inputs[0]), call->inputs[1], call->output_gradients[0]);
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_gather_nd = {
    .name = "gather_nd",
    .version = 1,
    .doc = "The slices of a tensor that rows of indices name (tf.gather_nd).",
    .names = "gather_nd",
    .inputs = "params indices",
    .signature = "params indices batch_dims=0 name bad_indices_policy=\"\"",
    .types = "Tparams Tindices<int16",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = gather_nd_infer,
    .kernel = gather_nd_kernel,
    .gradient = gather_nd_gradient,
};
