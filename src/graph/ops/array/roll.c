/* roll: values moved along dimensions, what leaves at one end enters at the other (tf.roll).
 *
 * A dimension that is named several times moves by the sum. Fails where shift and axis have not as
 * many entries, or an axis is outside the tensor. No state, no locks. */
#include "graph/support/array/moving.h"

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

/* Along each dimension that moves two parts change places: moves all combinations of these. */
static void roll_parts(const leati_kernel_call *call, const leat_shape *shape, const int64_t *steps,
                       const int64_t *moves, size_t size) {
    for (uint32_t second = 0; second < 1U << shape->rank; second++) {
        int64_t dims[LEAT_MAX_RANK], to = 0, from = 0;
        bool empty = false;
        for (int32_t d = 0; d < shape->rank; d++) {
            int64_t behind = shape->dims[d] - moves[d];
            bool is_second = second >> d & 1;
            dims[d] = is_second ? moves[d] : behind;
            to += is_second ? behind * steps[d] : 0;
            from += is_second ? 0 : moves[d] * steps[d];
            empty = empty || dims[d] == 0;
        }
        if (!empty)
            leati_moving_rows(call, &call->outputs[0], to, steps, &call->inputs[0], from, steps,
                              dims, shape->rank, size);
    }
}

static leat_status roll_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *in = &call->inputs[0];
    leat_shape shape = leati_support_operand_shape(in);
    int64_t steps[LEAT_MAX_RANK], moves[LEAT_MAX_RANK] = {0};
    LEATI_TRY(moves_of(call->args, &shape, moves, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    size_t size = leat_dtype_size(in->dtype);
    leati_support_dense_steps(&shape, size, steps);
    roll_parts(call, &shape, steps, moves, size);
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
