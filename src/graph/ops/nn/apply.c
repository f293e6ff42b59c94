/* apply_gradient_descent, apply_keras_momentum, apply_adam: a variable's step, by
 * variable -= rate * gradient; by slot = momentum * slot - rate * gradient and variable += slot, or
 * with Nesterov's rule momentum * slot - rate * gradient; and by Adam as Keras computes it, with
 * epsilon outside the bias correction (tf.raw_ops.ResourceApplyGradientDescent,
 * ResourceApplyKerasMomentum, tf.keras.optimizers.Adam). Inputs: gradient, learning rate; of Adam
 * also the step (int64, 1 at the first update), and what counts as the gradient's squares, where
 * that is something else.
 *
 * With t the step: alpha = rate * sqrt(1 - beta_2^t) / (1 - beta_1^t), powers in the variable's
 * dtype; m += (g - m)(1 - beta_1); v += (g^2 - v)(1 - beta_2); variable -= m * alpha / (sqrt(v) +
 * epsilon). Stateful, no output; rows are applied one after the other. Fails where shapes or dtypes
 * differ, or the step is below 1. No locks. */
#include "graph/support/control/slots.h"
#include "graph/support/nn/adam.h"
#include <math.h>

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
    /* Everything is checked before the first value is written. */
    LEATI_TRY(leati_slot_check(call, err));
    LEATI_TRY(leati_slot_copy(call, args->variable, &variable, err));
    /* Each row is a whole update, and starts from what the row before left. */
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
/* Nesterov's rule takes the step that the slot would make next, not the one that it made. */
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

static const leati_row adam_rows[] = {
    {.name = "variable",
     .type = LEATI_ROW_OBJECT,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct leati_adam_args, variable),
     .doc = "The variable to update."},
    {.name = "momentum",
     .type = LEATI_ROW_OBJECT,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct leati_adam_args, slots[0]),
     .doc = "The variable of the first moment, of the same dtype and shape."},
    {.name = "velocity",
     .type = LEATI_ROW_OBJECT,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct leati_adam_args, slots[1]),
     .doc = "The variable of the second moment, of the same dtype and shape."},
    {.name = "beta_1",
     .type = LEATI_ROW_FLOAT,
     .offset = offsetof(struct leati_adam_args, beta_1),
     .default_number = 0.9,
     .doc = "How much of the first moment a step keeps."},
    {.name = "beta_2",
     .type = LEATI_ROW_FLOAT,
     .offset = offsetof(struct leati_adam_args, beta_2),
     .default_number = 0.999,
     .doc = "How much of the second moment a step keeps."},
    {.name = "epsilon",
     .type = LEATI_ROW_FLOAT,
     .offset = offsetof(struct leati_adam_args, epsilon),
     .default_number = 1e-7,
     .doc = "Added to the root of the second moment."},
    {0},
};

static leat_status apply_adam_infer(leati_infer_call *call, leat_error *err) {
    const struct leati_adam_args *args = call->args;
    LEATI_TRY(leati_support_want_dtype(call, 2, LEAT_INT64, "the step", err));
    /* A scalar, as bias correction raises the betas to one power for all values. */
    LEATI_TRY(leati_support_want_rank(call, 2, 0, "the step", err));
    LEATI_TRY(leati_slot_infer(call, args->slots, 2, err));
    if (call->num_inputs < 4)
        return LEAT_OK;
    LEATI_TRY(leati_support_want_dtype(call, 3, call->inputs[0].dtype, "the squares", err));
    if (leati_shape_compatible(&call->inputs[3].shape, &call->inputs[0].shape))
        return LEAT_OK;
    return leati_refuse(err, SHAPE, "the squares have not the shape of the gradient");
}

#define UPDATE(NAME, TARGET, TYPE, SQRT)                                                           \
    TARGET static void NAME(TYPE alpha, TYPE new_1, TYPE new_2, TYPE epsilon,                      \
                            TYPE *restrict variable, TYPE *restrict m, TYPE *restrict v,           \
                            const TYPE *restrict gradient, const TYPE *restrict squares,           \
                            int64_t n) {                                                           \
        for (int64_t i = 0; i < n && squares == NULL; i++) {                                       \
            TYPE g = gradient[i];                                                                  \
            m[i] += (g - m[i]) * new_1;                                                            \
            v[i] += (g * g - v[i]) * new_2;                                                        \
            variable[i] -= m[i] * alpha / (SQRT(v[i]) + epsilon);                                  \
        }                                                                                          \
        for (int64_t i = 0; i < n && squares != NULL; i++) {                                       \
            m[i] += (gradient[i] - m[i]) * new_1;                                                  \
            v[i] += (squares[i] - v[i]) * new_2;                                                   \
            variable[i] -= m[i] * alpha / (SQRT(v[i]) + epsilon);                                  \
        }                                                                                          \
    }
/* The AVX variants differ in vector width alone. Contraction is off (cmake/flags.cmake), so no
 * multiplication and addition become one with a single rounding: the bits are the same. */
UPDATE(update_double, , double, sqrt)
UPDATE(update_plain, , float, sqrtf)
#if defined(__x86_64__)
UPDATE(update_avx2, __attribute__((target("avx2"))), float, sqrtf)
UPDATE(update_avx512, __attribute__((target("avx512f"))), float, sqrtf)
#endif

/* Step 0 would divide by 1 - beta^0 = 0. */
leat_status leati_adam_check_step(int64_t step, leat_error *err) {
    return step >= 1 ? LEAT_OK
                     : leati_refuse(err, VALUE, "the step is %lld; expected 1 at the first update",
                                    (long long)step);
}

leati_adam_float leati_adam_float_of(const struct leati_adam_args *args, float rate, int64_t step) {
    /* The bias corrections of both moments are one factor, alpha, for all values; 1 - beta is
     * rounded after the subtraction, which Keras leaves to Python. */
    float power_1 = powf((float)args->beta_1, (float)step);
    float power_2 = powf((float)args->beta_2, (float)step);
    return (leati_adam_float){.alpha = rate * sqrtf(1 - power_2) / (1 - power_1),
                              .new_1 = (float)(1 - args->beta_1),
                              .new_2 = (float)(1 - args->beta_2),
                              .epsilon = (float)args->epsilon};
}

void leati_adam_run_float(const leati_adam_float *adam, float *variable, float *m, float *v,
                          const float *gradient, const float *squares, int64_t n) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f"))
        update_avx512(adam->alpha, adam->new_1, adam->new_2, adam->epsilon, variable, m, v,
                      gradient, squares, n);
    else if (__builtin_cpu_supports("avx2"))
        update_avx2(adam->alpha, adam->new_1, adam->new_2, adam->epsilon, variable, m, v, gradient,
                    squares, n);
    else
#endif
        update_plain(adam->alpha, adam->new_1, adam->new_2, adam->epsilon, variable, m, v, gradient,
                     squares, n);
}

/* Of float64: nothing is prepared for several threads, executors share float32 alone. */
static void run_double(const struct leati_adam_args *args, double *variable, double *m, double *v,
                       const double *gradient, const double *squares, double rate, int64_t step,
                       int64_t n) {
    double power_1 = pow(args->beta_1, (double)step), power_2 = pow(args->beta_2, (double)step);
    update_double(rate * sqrt(1 - power_2) / (1 - power_1), 1 - args->beta_1, 1 - args->beta_2,
                  args->epsilon, variable, m, v, gradient, squares, n);
}

static leat_status apply_adam_kernel(leati_kernel_call *call, leat_error *err) {
    const struct leati_adam_args *args = call->args;
    const leati_operand *gradient = &call->inputs[0], *rate = &call->inputs[1];
    const leati_operand *squares = call->num_inputs < 4 ? NULL : &call->inputs[3];
    void *variable = NULL, *m = NULL, *v = NULL;
    LEATI_TRY(leati_slot_check(call, err));
    if (squares != NULL)
        LEATI_TRY(leati_support_want_equal_dims(squares->count, gradient->count,
                                                "values of the squares and of the gradient", err));
    LEATI_TRY(leati_slot_copy(call, args->variable, &variable, err));
    LEATI_TRY(leati_slot_copy(call, args->slots[0], &m, err));
    LEATI_TRY(leati_slot_copy(call, args->slots[1], &v, err));
    for (int64_t row = 0; row < call->n; row++) {
        int64_t step = leati_support_index_at(&call->inputs[2], row, 0);
        const void *g = leati_support_row_of(gradient, row), *r = leati_support_row_of(rate, row);
        const void *s = squares == NULL ? NULL : leati_support_row_of(squares, row);
        /* Steps may differ by row; rows before a bad one are applied already. */
        LEATI_TRY(leati_adam_check_step(step, err));
        if (gradient->dtype == LEAT_FLOAT32) {
            leati_adam_float adam = leati_adam_float_of(args, *(const float *)r, step);
            leati_adam_run_float(&adam, variable, m, v, g, s, gradient->count);
        } else {
            run_double(args, variable, m, v, g, s, *(const double *)r, step, gradient->count);
        }
    }
    return LEAT_OK;
}

void leati_adam_build(leat_variable *const variables[3], const leat_value inputs[4], double beta_1,
                      double beta_2, double epsilon) {
    struct leati_adam_args args = {
        .variable = (leat_object *)(void *)variables[0],
        .slots = {(leat_object *)(void *)variables[1], (leat_object *)(void *)variables[2]},
        .beta_1 = beta_1,
        .beta_2 = beta_2,
        .epsilon = epsilon};
    leati_slot_build(&leati_tensor_op_apply_adam, &args, inputs, inputs[3].id < 0 ? 3 : 4);
}

void leat_op_apply_adam(leat_variable *variable, leat_variable *momentum, leat_variable *velocity,
                        leat_value gradient, leat_value learning_rate, leat_value step,
                        double beta_1, double beta_2, double epsilon) {
    const leat_value none = {.graph = gradient.graph, .id = -1};
    leati_adam_build((leat_variable *[]){variable, momentum, velocity},
                     (leat_value[]){gradient, learning_rate, step, none}, beta_1, beta_2, epsilon);
}

/* The descriptor of one operation. */
#define APPLY_OP(NAME, DOC, ...)                                                                   \
    const leati_tensor_op leati_tensor_op_##NAME = {                                               \
        .name = #NAME,                                                                             \
        .version = 1,                                                                              \
        .doc = DOC,                                                                                \
        .outputs = "",                                                                             \
        .halves = LEATI_HALVES_NONE,                                                               \
        .flags = LEATI_STATEFUL,                                                                   \
        .infer = NAME##_infer,                                                                     \
        .kernel = NAME##_kernel,                                                                   \
        __VA_ARGS__,                                                                               \
    };
APPLY_OP(apply_gradient_descent,
         "Variable -= learning_rate * gradient (tf.raw_ops.ResourceApplyGradientDescent).",
         .types = "T T", .rows = leati_variable_rows,
         .args_size = sizeof(struct leati_variable_args), .min_inputs = 2, .max_inputs = 2)
APPLY_OP(apply_keras_momentum,
         "Gradient descent with momentum as Keras has it (tf.raw_ops.ResourceApplyKerasMomentum).",
         .types = "T T", .rows = momentum_rows, .args_size = sizeof(struct momentum_args),
         .min_inputs = 2, .max_inputs = 2)
APPLY_OP(apply_adam, "Adam as Keras computes it (tf.keras.optimizers.Adam).",
         .types = "T T int64 T", .rows = adam_rows, .args_size = sizeof(struct leati_adam_args),
         .min_inputs = 3, .max_inputs = 4)
