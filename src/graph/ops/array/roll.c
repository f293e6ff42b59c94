/* roll: values moved along dimensions, what leaves at one end enters at the other (tf.roll).
 *
 * A dimension that is named several times moves by the sum. Fails where shift and axis have not as
 * many entries, or an axis is outside the tensor. No state, no locks. */
#include "graph/support/support.h"

#include <string.h>

struct roll_args {
    leati_ints shift, axis;
};

static const leati_row roll_rows[] = {
    {.name = "shift",
     .type = LEATI_ROW_INTS,
     .flags = LEATI_REQUIRED | LEATI_TENSOR,
     .offset = offsetof(struct roll_args, shift),
     .doc = "By how many places; negative towards the front."},
    {.name = "axis",
     .type = LEATI_ROW_INTS,
     .flags = LEATI_REQUIRED | LEATI_TENSOR,
     .offset = offsetof(struct roll_args, axis),
     .doc = "The dimension of each shift; negative counts from the end."},
    {0},
};

/* Where the values of each dimension come from: place i from i + moves[d], modulo its size. */
static leat_status moves_of(const struct roll_args *args, const leat_shape *shape, int64_t *moves,
                            leat_error *err) {
    if (args->shift.count != args->axis.count)
        return leati_refuse(err, VALUE, "shift has %d entries, axis %d; expected as many",
                            (int)args->shift.count, (int)args->axis.count);
    if (shape->rank == 0)
        return leati_refuse(err, SHAPE, "the input is a scalar; expected a vector");
    for (int32_t i = 0; i < args->axis.count; i++) {
        int32_t axis = 0;
        LEATI_TRY(leati_support_normal_axis(args->axis.values[i], shape->rank, &axis, err));
        int64_t dim = shape->dims[axis];
        /* An empty dimension has nothing to move; an unknown one is left to the run. */
        if (dim > 0)
            /* Remainders of C have the sign of the dividend: adding dim makes them positive. The
             * shift is reduced first, so that no sum overflows. */
            moves[axis] = ((moves[axis] - args->shift.values[i] % dim) % dim + dim) % dim;
    }
    return LEAT_OK;
}

static leat_status roll_infer(leati_infer_call *call, leat_error *err) {
    int64_t moves[LEAT_MAX_RANK] = {0};
    LEATI_TRY(leati_support_want_values(call, 0, err));
    if (call->inputs[0].shape.rank >= 0 && call->unknown == 0)
        LEATI_TRY(moves_of(call->args, &call->inputs[0].shape, moves, err));
    return leati_op_infer_same(call, err);
}

/* Writes one place of the dimensions before d. */
static void roll_dim(char *to, const char *from, const leat_shape *shape, const int64_t *steps,
                     const int64_t *moves, int32_t d) {
    int64_t dim = shape->dims[d];
    /* Two pieces change places; no value of the last dimension is moved alone. */
    if (d == shape->rank - 1) {
        size_t head = (size_t)(moves[d] * steps[d]), all = (size_t)(dim * steps[d]);
        memcpy(to, from + head, all - head);
        memcpy(to + (all - head), from, head);
        return;
    }
    for (int64_t i = 0; i < dim; i++)
        roll_dim(to + i * steps[d], from + (i + moves[d]) % dim * steps[d], shape, steps, moves,
                 d + 1);
}

static leat_status roll_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *in = &call->inputs[0];
    leat_shape shape = leati_support_operand_shape(in);
    int64_t steps[LEAT_MAX_RANK], moves[LEAT_MAX_RANK] = {0};
    LEATI_TRY(moves_of(call->args, &shape, moves, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    leati_support_dense_steps(&shape, leat_dtype_size(in->dtype), steps);
    for (int64_t row = 0; row < call->n && in->count > 0; row++)
        roll_dim(leati_support_row_of(&call->outputs[0], row), leati_support_row_of(in, row),
                 &shape, steps, moves, 0);
    return leati_support_hold_strings(call, 0, err);
}

static leat_status roll_gradient(leati_gradient_call *call, leat_error *err) {
    const struct roll_args *args = call->args;
    /* One axis may be named by several shifts, so there may be more shifts than dimensions. */
    int64_t back[LEAT_MAX_RANK];
    if (args->shift.count > LEAT_MAX_RANK)
        return leati_fail(err, LEAT_UNIMPLEMENTED,
                          "the gradient of roll needs at most %d shifts; add those of one axis",
                          LEAT_MAX_RANK);
    for (int32_t i = 0; i < args->shift.count; i++) {
        if (args->shift.values[i] == INT64_MIN)
            return leati_fail(err, LEAT_UNIMPLEMENTED, "the gradient of a shift of -2^63");
        back[i] = -args->shift.values[i];
    }
    call->input_gradients[0] = leat_op_roll(call->output_gradients[0], back, args->shift.count,
                                            args->axis.values, args->shift.count);
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_roll = {
    .name = "roll",
    .version = 1,
    .doc = "Values moved along dimensions; what leaves at one end enters at the other "
           "(tf.roll).",
    .names = "roll",
    .inputs = "input",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = roll_rows,
    .args_size = sizeof(struct roll_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = roll_infer,
    .kernel = roll_kernel,
    .gradient = roll_gradient,
};
