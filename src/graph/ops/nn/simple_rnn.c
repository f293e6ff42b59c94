/* simple_rnn: the states of a recurrent layer over sequences whose inputs are multiplied with their
 * kernel already: state(t) = f(x(t) + state(t - 1) recurrent) (keras.layers.SimpleRNN). Inputs: x
 * [batch, steps, units], the recurrent kernel [units, units], the state before the first step
 * [batch, units], and, if there is one, a mask [batch, steps]: a step that it leaves out hands the
 * state on. Output: the states [batch, steps, units]. simple_rnn_grad: the gradients of x and of
 * the first state, of the states' gradient, the recurrent kernel, the states, and the mask; the
 * kernel's own is one product of all steps, which the gradient builds of them.
 *
 * Fails on shapes that do not fit, and on an activation whose slope does not follow from its value.
 * simple_rnn_grad has no gradient. No state, no locks. */
#include "base/stop.h"
#include "graph/support/linalg/gemm.h"
#include "graph/support/nn/recurrence.h"
#include <string.h>

static const leati_row simple_rnn_rows[] = {LEATI_RECURRENCE_ACTIVATION, {0}};

enum { X, KERNEL, STATE, MASK };                    /* inputs of simple_rnn */
enum { OF_STATES, GRAD_KERNEL, STATES, GRAD_MASK }; /* of simple_rnn_grad */

static leat_status simple_rnn_infer(leati_infer_call *call, leat_error *err) {
    const struct leati_recurrence_args *args = call->args;
    leati_recurrence_known known;
    if (leati_recurrence_activation_find(args->activation, err) == NULL)
        return err->code;
    LEATI_TRY(leati_recurrence_want_kernel(call, KERNEL, 1, &known, err));
    LEATI_TRY(leati_recurrence_want_sequence(call, X, 1, "x", &known, err));
    LEATI_TRY(leati_recurrence_want_state(call, STATE, "the first state", &known, err));
    LEATI_TRY(leati_recurrence_want_mask(call, MASK, &known, err));
    return leati_recurrence_output(call, &known, 1, err);
}

/* y holds x + the state before times the kernel already; NULL: the step is left out. */
#define SIMPLE_CELL(TYPE)                                                                          \
    static void simple_cell_##TYPE(const leati_recurrence *r, const TYPE *projected,               \
                                   const TYPE *x, TYPE *y) {                                       \
        for (int64_t i = 0; i < r->units; i++)                                                     \
            y[i] = projected[i] + x[i];                                                            \
        r->activation->apply_##TYPE(y, r->units);                                                  \
    }
SIMPLE_CELL(float)
SIMPLE_CELL(double)

static leat_status simple_rnn_kernel(leati_kernel_call *call, leat_error *err) {
    leati_recurrence r;
    LEATI_TRY(leati_recurrence_init(&r, call, X, KERNEL, 1, MASK, err));
    LEATI_TRY(leati_recurrence_check(&r, call, X, 1, "x", err));
    LEATI_TRY(leati_recurrence_check(&r, call, STATE, 0, "the first state", err));
    LEATI_TRY(leati_recurrence_give(&r, call, 0, 1, err));
    char *projected = leati_recurrence_scratch(&r, call, 1, err);
    if (projected == NULL)
        return err->code;
    size_t bytes = (size_t)r.units * r.size;
    for (int64_t row = 0; row < call->n; row++) {
        const char *x = leati_support_row_of(&call->inputs[X], row);
        const char *kernel = leati_support_row_of(&call->inputs[KERNEL], row);
        const char *first = leati_support_row_of(&call->inputs[STATE], row);
        char *states = leati_support_row_of(&call->outputs[0], row);
        for (int64_t t = 0; t < r.steps; t++) {
            if (leati_stop_look_after(r.batch * r.units * r.units, &r.done))
                return LEAT_OK;
            leati_recurrence_project(&r, states, first, t, kernel, r.units, projected);
            for (int64_t b = 0; b < r.batch; b++) {
                char *y = leati_recurrence_at(&r, states, 1, b, t),
                     *p = projected + (size_t)b * bytes;
                const char *in = leati_recurrence_at(&r, x, 1, b, t);
                if (leati_recurrence_is_out(&r, call, row, b, t))
                    memcpy(y, leati_recurrence_before(&r, states, first, b, t), bytes);
                else if (r.dtype == LEAT_FLOAT32)
                    simple_cell_float(&r, (const float *)(const void *)p,
                                      (const float *)(const void *)in, (float *)(void *)y);
                else
                    simple_cell_double(&r, (const double *)(const void *)p,
                                       (const double *)(const void *)in, (double *)(void *)y);
            }
        }
    }
    return LEAT_OK;
}

static leat_status simple_rnn_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    const leat_value inputs[4] = {call->output_gradients[0], call->inputs[KERNEL], call->outputs[0],
                                  call->num_inputs > MASK ? call->inputs[MASK] : call->inputs[0]};
    if (call->output_gradients[0].id < 0)
        return LEAT_OK;
    leat_value of_x = leati_graph_node(call->graph, &leati_tensor_op_simple_rnn_grad, call->args,
                                       inputs, call->num_inputs > MASK ? 4 : 3);
    if (leati_support_value_failed(of_x))
        return LEAT_OK;
    call->input_gradients[X] = of_x;
    call->input_gradients[STATE] = (leat_value){.graph = call->graph, .id = of_x.id + 1};
    call->input_gradients[KERNEL] = leati_recurrence_kernel_gradient(
        leati_recurrence_shifted(call->inputs[STATE], call->outputs[0]), of_x);
    return LEAT_OK;
}

static leat_status simple_rnn_grad_infer(leati_infer_call *call, leat_error *err) {
    leati_recurrence_known known;
    LEATI_TRY(leati_recurrence_want_kernel(call, GRAD_KERNEL, 1, &known, err));
    LEATI_TRY(leati_recurrence_want_sequence(call, OF_STATES, 1, "the gradient", &known, err));
    LEATI_TRY(leati_recurrence_want_sequence(call, STATES, 1, "the states", &known, err));
    LEATI_TRY(leati_recurrence_want_mask(call, GRAD_MASK, &known, err));
    LEATI_TRY(leati_recurrence_output(call, &known, 1, err));
    return leati_recurrence_output(call, &known, 0, err);
}

/* The step's part of a row of the batch: what flows into x. */
static void simple_back(const leati_recurrence *r, const char *y, const char *flows, char *of_x) {
    memcpy(of_x, flows, (size_t)r->units * r->size);
    if (r->dtype == LEAT_FLOAT32)
        r->activation->slope_float((const float *)(const void *)y, (float *)(void *)of_x, r->units);
    else
        r->activation->slope_double((const double *)(const void *)y, (double *)(void *)of_x,
                                    r->units);
}

/* Step t of all rows of the batch: `flows` [batch, units] goes in as what flows into the state
 * behind it, and out as what flows into the one before; `next` is scratch like it. */
static void simple_back_step(leati_recurrence *r, const leati_kernel_call *call, int64_t row,
                             int64_t t, const void *turned, char *flows, char *next) {
    const char *gradient = leati_support_row_of(&call->inputs[OF_STATES], row);
    const char *states = leati_support_row_of(&call->inputs[STATES], row);
    char *of_x = leati_support_row_of(&call->outputs[0], row);
    size_t bytes = (size_t)r->units * r->size;
    for (int64_t b = 0; b < r->batch; b++) {
        char *to = leati_recurrence_at(r, of_x, 1, b, t), *flow = flows + (size_t)b * bytes;
        leati_recurrence_add(r, flow, leati_recurrence_at(r, gradient, 1, b, t), r->units);
        if (leati_recurrence_is_out(r, call, row, b, t))
            memset(to, 0, bytes);
        else
            simple_back(r, leati_recurrence_at(r, states, 1, b, t), flow, to);
    }
    leati_gemm(r->dtype, r->batch, r->units, r->units,
               (leati_gemm_matrix){leati_recurrence_at(r, of_x, 1, 0, t), r->steps * r->units, 1},
               (leati_gemm_matrix){turned, r->units, 1}, next, r->units);
    for (int64_t b = 0; b < r->batch; b++)
        if (!leati_recurrence_is_out(r, call, row, b, t))
            memcpy(flows + (size_t)b * bytes, next + (size_t)b * bytes, bytes);
}

static leat_status simple_rnn_grad_kernel(leati_kernel_call *call, leat_error *err) {
    leati_recurrence r;
    LEATI_TRY(leati_recurrence_init(&r, call, OF_STATES, GRAD_KERNEL, 1, GRAD_MASK, err));
    LEATI_TRY(leati_recurrence_check(&r, call, OF_STATES, 1, "the gradient", err));
    LEATI_TRY(leati_recurrence_check(&r, call, STATES, 1, "the states", err));
    LEATI_TRY(leati_recurrence_give(&r, call, 0, 1, err));
    LEATI_TRY(leati_recurrence_give(&r, call, 1, 0, err));
    char *next = leati_recurrence_scratch(&r, call, 1, err);
    if (next == NULL)
        return err->code;
    for (int64_t row = 0; row < call->n; row++) {
        const void *kernel = leati_support_row_of(&call->inputs[GRAD_KERNEL], row);
        const void *turned = leati_recurrence_kernel_of(&r, call, kernel, 0, 1, true, err);
        char *flows = leati_support_row_of(&call->outputs[1], row);
        if (turned == NULL)
            return err->code;
        if (flows == NULL)
            continue;
        memset(flows, 0, (size_t)(r.batch * r.units) * r.size);
        for (int64_t t = r.steps - 1; t >= 0; t--) {
            if (leati_stop_look_after(r.batch * r.units * r.units, &r.done))
                return LEAT_OK;
            simple_back_step(&r, call, row, t, turned, flows, next);
        }
    }
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_simple_rnn = {
    .name = "simple_rnn",
    .version = 1,
    .doc = "The states f(x + state recurrent) of sequences, step after step "
           "(keras.layers.SimpleRNN behind its kernel).",
    .types = "T T T bool",
    .outputs = "states",
    .halves = LEATI_HALVES_FLOAT,
    .rows = simple_rnn_rows,
    .args_size = sizeof(struct leati_recurrence_args),
    .min_inputs = 3,
    .max_inputs = 4,
    .infer = simple_rnn_infer,
    .kernel = simple_rnn_kernel,
    .gradient = simple_rnn_gradient,
};

const leati_tensor_op leati_tensor_op_simple_rnn_grad = {
    .name = "simple_rnn_grad",
    .version = 1,
    .doc = "The gradients of simple_rnn for x and the first state.",
    .types = "T T T bool",
    .outputs = "x_backprop state_backprop",
    .halves = LEATI_HALVES_FLOAT,
    .rows = simple_rnn_rows,
    .args_size = sizeof(struct leati_recurrence_args),
    .min_inputs = 3,
    .max_inputs = 4,
    .infer = simple_rnn_grad_infer,
    .kernel = simple_rnn_grad_kernel,
};
