/* apply_keras_momentum: slot = momentum * slot - learning_rate * gradient; variable += slot, or
 * with Nesterov's rule momentum * slot - learning_rate * gradient
 * (tf.raw_ops.ResourceApplyKerasMomentum). Inputs: gradient, learning rate.
 *
 * Stateful, no output; rows are applied one after the other. Fails where shapes or dtypes differ.
 * No locks. */
#include "graph/support/control/slots.h"

struct momentum_args {
    leat_object *variable; /* first: see slots.h */
    leat_object *slot;
    double momentum;
    bool use_nesterov;
};

static const leati_row momentum_rows[] = {
    {.name = "variable",
     .type = LEATI_ROW_OBJECT,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct momentum_args, variable),
     .doc = "The variable to update."},
    {.name = "slot",
     .type = LEATI_ROW_OBJECT,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct momentum_args, slot),
     .doc = "The variable that accumulates, of the same dtype and shape."},
    {.name = "momentum",
     .type = LEATI_ROW_FLOAT,
     .offset = offsetof(struct momentum_args, momentum),
     .doc = "The factor of the slot."},
    {.name = "use_nesterov",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct momentum_args, use_nesterov),
     .doc = "Look ahead along the slot."},
    {0},
};

static leat_status apply_keras_momentum_infer(leati_infer_call *call, leat_error *err) {
    const struct momentum_args *args = call->args;
    return leati_slot_infer(call, &args->slot, 1, err);
}

#define ROLL(TYPE)                                                                                 \
    static void roll_##TYPE(TYPE *variable, TYPE *slot, const TYPE *gradient, TYPE rate,           \
                            TYPE momentum, bool nesterov, int64_t n) {                             \
        for (int64_t i = 0; i < n; i++) {                                                          \
            TYPE step = gradient[i] * rate;                                                        \
            slot[i] = slot[i] * momentum - step;                                                   \
            variable[i] += nesterov ? slot[i] * momentum - step : slot[i];                         \
        }                                                                                          \
    }
ROLL(float)
ROLL(double)

static leat_status apply_keras_momentum_kernel(leati_kernel_call *call, leat_error *err) {
    const struct momentum_args *args = call->args;
    const leati_operand *gradient = &call->inputs[0], *rate = &call->inputs[1];
    void *variable = NULL, *slot = NULL;
    LEATI_TRY(leati_slot_check(call, err));
    LEATI_TRY(leati_slot_copy(call, args->variable, &variable, err));
    LEATI_TRY(leati_slot_copy(call, args->slot, &slot, err));
    for (int64_t row = 0; row < call->n; row++) {
        const void *g = leati_support_row_of(gradient, row), *r = leati_support_row_of(rate, row);
        if (gradient->dtype == LEAT_FLOAT32)
            roll_float(variable, slot, g, *(const float *)r, (float)args->momentum,
                       args->use_nesterov, gradient->count);
        else
            roll_double(variable, slot, g, *(const double *)r, args->momentum, args->use_nesterov,
                        gradient->count);
    }
    return LEAT_OK;
}

void leat_op_apply_keras_momentum(leat_variable *variable, leat_variable *slot, leat_value gradient,
                                  leat_value learning_rate, double momentum, bool nesterov) {
    struct momentum_args args = {.variable = (leat_object *)(void *)variable,
                                 .slot = (leat_object *)(void *)slot,
                                 .momentum = momentum,
                                 .use_nesterov = nesterov};
    leati_slot_build(&leati_tensor_op_apply_keras_momentum, &args,
                     (leat_value[]){gradient, learning_rate}, 2);
}

const leati_tensor_op leati_tensor_op_apply_keras_momentum = {
    .name = "apply_keras_momentum",
    .version = 1,
    .doc = "Gradient descent with momentum as Keras has it "
           "(tf.raw_ops.ResourceApplyKerasMomentum).",
    .types = "T T",
    .outputs = "",
    .halves = LEATI_HALVES_NONE,
    .rows = momentum_rows,
    .args_size = sizeof(struct momentum_args),
    .min_inputs = 2,
    .max_inputs = 2,
    .flags = LEATI_STATEFUL,
    .infer = apply_keras_momentum_infer,
    .kernel = apply_keras_momentum_kernel,
};
