/* tile: a tensor repeated along each dimension (tf.tile).
 *
 * The gradient adds up the repetitions; it needs static shapes of at most half the largest rank.
 * Fails where there is not one number of 0 or more per dimension. No state, no locks. */
#include "graph/known.h"
#include "graph/support/array/moving.h"

struct tile_args {
    leati_ints multiples;
};

static const leati_row tile_rows[] = {
    {.name = "multiples",
     .type = LEATI_ROW_INTS,
     .flags = LEATI_REQUIRED | LEATI_TENSOR,
     .offset = offsetof(struct tile_args, multiples),
     .doc = "How often each dimension stands behind itself."},
    {0},
};

static leat_status tiled(const leati_ints *multiples, const leat_shape *in, bool unknown,
                         leat_shape *out, leat_error *err) {
    if (multiples->count != in->rank)
        return leati_refuse(err, SHAPE, "multiples has %d entries; expected %d, one per dimension",
                            (int)multiples->count, (int)in->rank);
    *out = *in;
    for (int32_t d = 0; d < in->rank; d++) {
        int64_t by = multiples->values[d];
        /* 0 repetitions are 0 values, even of an unknown dimension. */
        if (unknown || by == LEATI_UNKNOWN_NUMBER || (in->dims[d] == LEAT_UNKNOWN_DIM && by != 0))
            out->dims[d] = LEAT_UNKNOWN_DIM;
        else if (by < 0 || __builtin_mul_overflow(by ? in->dims[d] : 0, by, &out->dims[d]))
            return leati_refuse(
                err, VALUE, "multiples[%d] is %lld; expected 0 or more, and a product that fits",
                (int)d, (long long)by);
    }
    return LEAT_OK;
}

static leat_status tile_infer(leati_infer_call *call, leat_error *err) {
    const struct tile_args *args = call->args;
    leat_shape in = call->inputs[0].shape, out = {.rank = LEAT_UNKNOWN_RANK};
    LEATI_TRY(leati_support_want_values(call, 0, err));
    if (in.rank < 0)
        /* There is one number for each dimension, so their list tells the rank. */
        LEATI_TRY(leati_support_unknown_dims(&args->multiples, &in, err));
    if (in.rank >= 0 && args->multiples.values != NULL)
        LEATI_TRY(tiled(&args->multiples, &in, false, &out, err));
    else if (in.rank >= 0)
        /* Where not even the list's length is known, any list of the right length stands for it. */
        LEATI_TRY(tiled(&(leati_ints){.values = in.dims, .count = in.rank}, &in, true, &out, err));
    return leati_op_infer_output(call, call->inputs[0].dtype, &out, NULL, err);
}

static leat_status tile_kernel(leati_kernel_call *call, leat_error *err) {
    const struct tile_args *args = call->args;
    const leati_operand *in = &call->inputs[0];
    leat_shape from = leati_support_operand_shape(in), shape = {0};
    LEATI_TRY(tiled(&args->multiples, &from, false, &shape, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    const leati_operand *out = &call->outputs[0];
    size_t size = leat_dtype_size(in->dtype);
    int64_t steps[LEAT_MAX_RANK], out_steps[LEAT_MAX_RANK];
    leati_support_dense_steps(&from, size, steps);
    leati_support_dense_steps(&shape, size, out_steps);
    leati_moving_dim dims[2 * LEAT_MAX_RANK + 1] = {{call->n, out->row_stride, in->row_stride}};
    /* Each dimension is two: of repetitions, which read the same again, and of places. */
    for (int32_t d = 0; d < from.rank; d++) {
        int64_t whole = from.dims[d] * out_steps[d];
        dims[2 * d + 1] = (leati_moving_dim){args->multiples.values[d], whole, 0};
        dims[2 * d + 2] = (leati_moving_dim){from.dims[d], out_steps[d], steps[d]};
    }
    if (out->count > 0)
        leati_moving_copy(out->data, in->data, dims, 2 * from.rank + 1, size);
    return leati_support_hold_strings(call, 0, err);
}

static leat_status tile_gradient(leati_gradient_call *call, leat_error *err) {
    const struct tile_args *args = call->args;
    leat_shape in = leat_value_shape(call->inputs[0]);
    int64_t split[LEAT_MAX_RANK], axes[LEAT_MAX_RANK];
    if (!leati_shape_is_static(&in) || 2 * in.rank > LEAT_MAX_RANK)
        return leati_fail(err, LEAT_UNIMPLEMENTED,
                          "the gradient of tile needs a static shape of at most %d dimensions",
                          LEAT_MAX_RANK / 2);
    /* Each dimension becomes a pair, of repetitions and of places in them; the first of each pair
     * is summed. */
    for (int32_t d = 0; d < in.rank; d++) {
        split[2 * d] = args->multiples.values[d];
        split[2 * d + 1] = in.dims[d];
        axes[d] = 2 * d;
    }
    leat_value g = leat_op_reshape(call->output_gradients[0], split, 2 * in.rank);
    call->input_gradients[0] = in.rank == 0 ? g : leat_op_reduce_sum(g, axes, in.rank, false);
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_tile = {
    .name = "tile",
    .version = 1,
    .doc = "A tensor repeated along each dimension (tf.tile).",
    .names = "tile",
    .inputs = "input",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = tile_rows,
    .args_size = sizeof(struct tile_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = tile_infer,
    .kernel = tile_kernel,
    .gradient = tile_gradient,
};
