/* scatter_nd: zeros of a shape to which slices are added at places that rows of indices name
 * (tf.scatter_nd).
 *
 * Slices that name one place add up, in the order of the indices: booleans are true where one is,
 * of strings the last one stays. Fails where shapes do not fit and where an index is outside. No
 * state, no locks. */
#include "graph/support/array/scatter.h"

#include <string.h>

struct scatter_nd_args {
    leati_ints shape;
};

static const leati_row scatter_nd_rows[] = {
    {.name = "shape",
     .type = LEATI_ROW_INTS,
     .flags = LEATI_REQUIRED | LEATI_TENSOR,
     .offset = offsetof(struct scatter_nd_args, shape),
     .doc = "The shape of the result."},
    {0},
};

static leat_status shape_of(const struct scatter_nd_args *args, leat_shape *out, leat_error *err) {
    char text[128];
    LEATI_TRY(leati_support_unknown_dims(&args->shape, out, err));
    bool fits = true;
    for (int32_t d = 0; d < out->rank; d++) {
        out->dims[d] = args->shape.values[d];
        fits = fits && out->dims[d] >= 0;
    }
    if (fits && leati_shape_count(out) >= 0)
        return LEAT_OK;
    return leati_refuse(err, SHAPE,
                        "shape %s is no shape of a tensor; expected dimensions of 0 or more",
                        leati_shape_text(out, text));
}

static leat_status scatter_nd_infer(leati_infer_call *call, leat_error *err) {
    const struct scatter_nd_args *args = call->args;
    leat_shape shape = {0};
    LEATI_TRY(leati_support_want_index(call, 0, "the indices", err));
    if (call->inputs[1].dtype != LEAT_BOOL && call->inputs[1].dtype != LEAT_STRING)
        LEATI_TRY(leati_combine_want_number(call, 1, "the updates", err));
    if (call->unknown != 0)
        LEATI_TRY(leati_support_known_dims(&args->shape, &shape, err));
    else
        LEATI_TRY(shape_of(args, &shape, err));
    LEATI_TRY(leati_scatter_check(&shape, &call->inputs[0].shape, &call->inputs[1].shape, err));
    return leati_op_infer_output(call, call->inputs[1].dtype, &shape, NULL, err);
}

static leat_status scatter_nd_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *indices = &call->inputs[0], *updates = &call->inputs[1];
    leat_shape places = leati_support_operand_shape(indices),
               slices = leati_support_operand_shape(updates), shape;
    LEATI_TRY(shape_of(call->args, &shape, err));
    LEATI_TRY(leati_scatter_check(&shape, &places, &slices, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    size_t bytes = (size_t)call->outputs[0].count * leat_dtype_size(updates->dtype);
    leati_combine_function combine = updates->dtype == LEAT_BOOL
                                         ? leati_combine_of(LEATI_COMBINE_MAXIMUM, LEAT_UINT8)
                                         : leati_combine_of(LEATI_COMBINE_SUM, updates->dtype);
    for (int64_t row = 0; row < call->n; row++) {
        char *to = leati_support_row_of(&call->outputs[0], row);
        if (bytes > 0)
            memset(to, 0, bytes);
        LEATI_TRY(leati_scatter_row(call, indices, updates, &shape, combine, row, to, err));
    }
    return leati_support_hold_strings(call, 1, err);
}

static leat_status scatter_nd_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    call->input_gradients[1] = leat_op_gather_nd(call->output_gradients[0], call->inputs[0]);
    return LEAT_OK;
}

leat_value leat_op_scatter_nd(leat_value indices, leat_value updates, const int64_t *shape,
                              int rank) {
    struct scatter_nd_args args = {.shape = {.values = (int64_t *)(uintptr_t)shape, .count = rank}};
    return leati_graph_build2(&leati_tensor_op_scatter_nd, &args, indices, updates);
}

const leati_tensor_op leati_tensor_op_scatter_nd = {
    .name = "scatter_nd",
    .version = 1,
    .doc = "Zeros to which slices are added at places that rows of indices name "
           "(tf.scatter_nd).",
    .names = "scatter_nd",
    .inputs = "indices updates",
    .signature = "indices updates shape bad_indices_policy=\"\"",
    .types = "Tindices<int16 T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = scatter_nd_rows,
    .args_size = sizeof(struct scatter_nd_args),
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = scatter_nd_infer,
    .kernel = scatter_nd_kernel,
    .gradient = scatter_nd_gradient,
};
