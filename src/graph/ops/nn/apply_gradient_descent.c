/* apply_gradient_descent: variable -= learning_rate * gradient
 * (tf.raw_ops.ResourceApplyGradientDescent). Inputs: gradient, learning rate.
 *
 * Stateful, no output; rows are applied one after the other. Fails where shapes or dtypes differ.
 * No locks. */
#include "graph/support/control/slots.h"

static leat_status apply_gradient_descent_infer(leati_infer_call *call, leat_error *err) {
    return leati_slot_infer(call, NULL, 0, err);
}

#define DESCEND(TYPE)                                                                              \
    static void descend_##TYPE(TYPE *variable, const TYPE *gradient, TYPE rate, int64_t n) {       \
        for (int64_t i = 0; i < n; i++)                                                            \
            variable[i] -= gradient[i] * rate;                                                     \
    }
DESCEND(float)
DESCEND(double)

static leat_status apply_gradient_descent_kernel(leati_kernel_call *call, leat_error *err) {
    const struct leati_variable_args *args = call->args;
    const leati_operand *gradient = &call->inputs[0], *rate = &call->inputs[1];
    void *variable = NULL;
    LEATI_TRY(leati_slot_check(call, err));
    LEATI_TRY(leati_slot_copy(call, args->variable, &variable, err));
    for (int64_t row = 0; row < call->n; row++) {
        const void *g = leati_support_row_of(gradient, row), *r = leati_support_row_of(rate, row);
        if (gradient->dtype == LEAT_FLOAT32)
            descend_float(variable, g, *(const float *)r, gradient->count);
        else
            descend_double(variable, g, *(const double *)r, gradient->count);
    }
    return LEAT_OK;
}

void leat_op_apply_gradient_descent(leat_variable *variable, leat_value gradient,
                                    leat_value learning_rate) {
    struct leati_variable_args args = {.variable = (leat_object *)(void *)variable};
    leati_slot_build(&leati_tensor_op_apply_gradient_descent, &args,
                     (leat_value[]){gradient, learning_rate}, 2);
}

const leati_tensor_op leati_tensor_op_apply_gradient_descent = {
    .name = "apply_gradient_descent",
    .version = 1,
    .doc = "Variable -= learning_rate * gradient "
           "(tf.raw_ops.ResourceApplyGradientDescent).",
    .types = "T T",
    .outputs = "",
    .halves = LEATI_HALVES_NONE,
    .rows = leati_variable_rows,
    .args_size = sizeof(struct leati_variable_args),
    .min_inputs = 2,
    .max_inputs = 2,
    .flags = LEATI_STATEFUL,
    .infer = apply_gradient_descent_infer,
    .kernel = apply_gradient_descent_kernel,
};
