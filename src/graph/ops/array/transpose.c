/* transpose: dimension i of the result is dimension perm[i] of the input (tf.transpose).
 *
 * Copies values by strides. Fails where perm is no permutation. No state, no locks. */
#include "graph/support/array/moving.h"

struct transpose_args {
    leati_ints perm;
};

static const leati_row transpose_rows[] = {
    {.name = "perm",
     .type = LEATI_ROW_INTS,
     .flags = LEATI_NONE,
     .offset = offsetof(struct transpose_args, perm),
     .doc = "The dimension of the input that each dimension of the result is; empty: "
            "reversed."},
    {0},
};

static leat_status permutation(const leati_ints *perm, int32_t rank, int32_t *out,
                               leat_error *err) {
    bool seen[LEAT_MAX_RANK] = {false};
    if (perm->count > 0 && perm->count != rank)
        return leati_refuse(err, SHAPE, "perm has %d entries; expected %d, one per dimension",
                            (int)perm->count, (int)rank);
    for (int32_t d = 0; d < rank; d++) {
        out[d] = rank - 1 - d;
        if (perm->count > 0)
            LEATI_TRY(leati_support_normal_axis(perm->values[d], rank, &out[d], err));
        /* As many entries as dimensions and none twice: a permutation. */
        if (seen[out[d]])
            return leati_refuse(err, SHAPE, "perm names dimension %d twice", (int)out[d]);
        seen[out[d]] = true;
    }
    return LEAT_OK;
}

static leat_status transpose_infer(leati_infer_call *call, leat_error *err) {
    const struct transpose_args *args = call->args;
    leat_shape in = call->inputs[0].shape, shape = {.rank = LEAT_UNKNOWN_RANK};
    LEATI_TRY(leati_support_want_values(call, 0, err));
    /* Where the rank is unknown, the list tells it. */
    if (in.rank < 0 && args->perm.count > 0 && args->perm.count <= LEAT_MAX_RANK) {
        in.rank = args->perm.count;
        for (int32_t d = 0; d < in.rank; d++)
            in.dims[d] = LEAT_UNKNOWN_DIM;
    }
    if (in.rank >= 0) {
        int32_t perm[LEAT_MAX_RANK];
        LEATI_TRY(permutation(&args->perm, in.rank, perm, err));
        shape.rank = in.rank;
        for (int32_t d = 0; d < in.rank; d++)
            shape.dims[d] = in.dims[perm[d]];
    }
    return leati_op_infer_output(call, call->inputs[0].dtype, &shape, NULL, err);
}

static leat_status transpose_kernel(leati_kernel_call *call, leat_error *err) {
    const struct transpose_args *args = call->args;
    const leati_operand *in = &call->inputs[0];
    leat_shape from = leati_support_operand_shape(in), shape = {.rank = in->rank};
    size_t size = leat_dtype_size(in->dtype);
    int64_t dense[LEAT_MAX_RANK], steps[LEAT_MAX_RANK], out_steps[LEAT_MAX_RANK];
    int32_t perm[LEAT_MAX_RANK];
    LEATI_TRY(permutation(&args->perm, in->rank, perm, err));
    leati_support_dense_steps(&from, size, dense);
    /* The output is written in its order; the input is read by steps of the dimensions it names. */
    for (int32_t d = 0; d < in->rank; d++) {
        shape.dims[d] = from.dims[perm[d]];
        steps[d] = dense[perm[d]];
    }
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    leati_support_dense_steps(&shape, size, out_steps);
    leati_moving_rows(call, &call->outputs[0], 0, out_steps, in, 0, steps, shape.dims, shape.rank,
                      size);
    return leati_support_hold_strings(call, 0, err);
}

static leat_status transpose_gradient(leati_gradient_call *call, leat_error *err) {
    const struct transpose_args *args = call->args;
    int32_t perm[LEAT_MAX_RANK];
    int64_t inverse[LEAT_MAX_RANK];
    leat_shape shape = leat_value_shape(call->outputs[0]);
    if (args->perm.count == 0) {
        /* Turning all dimensions round is its own inverse. */
        call->input_gradients[0] = leat_op_transpose(call->output_gradients[0], NULL, 0);
        return LEAT_OK;
    }
    /* With a list the rank is known: inference takes it from there. */
    LEATI_TRY(permutation(&args->perm, shape.rank, perm, err));
    for (int32_t d = 0; d < shape.rank; d++)
        inverse[perm[d]] = d;
    call->input_gradients[0] = leat_op_transpose(call->output_gradients[0], inverse, shape.rank);
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_transpose = {
    .name = "transpose",
    .version = 1,
    .doc = "Dimension i of the result is dimension perm[i] of the input (tf.transpose).",
    .names = "transpose",
    .inputs = "a",
    .signature = "a perm conjugate=false",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = transpose_rows,
    .args_size = sizeof(struct transpose_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = transpose_infer,
    .kernel = transpose_kernel,
    .gradient = transpose_gradient,
};
