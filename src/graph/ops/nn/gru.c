/* gru: the states of gated recurrent units over sequences whose inputs are multiplied with their
 * kernel already (keras.layers.GRU). In Keras' order of three parts, with p = h(t - 1) recurrent +
 * bias: z = g(x0 + p0), r = g(x1 + p1), and k = a(x2 + r p2) with reset_after, else k = a(x2 + (r
 * h(t - 1)) recurrent2 + bias2); h(t) = z h(t - 1) + (1 - z) k. Inputs: x [batch, steps, 3 units],
 * the recurrent kernel [units, 3 units], its bias [3 units], h before the first step [batch, units]
 * and, if there is one, a mask [batch, steps]: a step that it leaves out hands h on. Outputs: h
 * [batch, steps, units], and z, r, k and p2 (else r h(t - 1)) [batch, steps, 4 units], which the
 * gradient reads.
 *
 * gru_grad: the gradients of x, of p and of the first h, of the gradient of h, the recurrent
 * kernel, the first h, h, the gates and the mask; those of kernel and bias are one product and one
 * sum over all steps, which the gradient builds of them. Fails on shapes that do not fit, and on an
 * activation whose slope does not follow from its value. gru_grad has no gradient. No state, no
 * locks. */
#include "base/stop.h"
#include "graph/support/linalg/gemm.h"
#include "graph/support/nn/recurrence.h"
#include <string.h>

static const leati_row gru_rows[] = {
    LEATI_RECURRENCE_ACTIVATION,
    LEATI_RECURRENCE_RECURRENT_ACTIVATION,
    {.name = "reset_after",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct leati_recurrence_args, reset_after),
     .default_number = 1,
     .doc = "Does the reset gate multiply behind the recurrent kernel, not before it?"},
    {0},
};

enum { X, KERNEL, BIAS, H, MASK };                                     /* inputs of gru */
enum { STATES, GATES };                                                /* its outputs */
enum { OF_H, GRAD_KERNEL, FIRST, GRAD_STATES, GRAD_GATES, GRAD_MASK }; /* inputs of gru_grad */
enum { OF_X, OF_P, OF_FIRST };                                         /* its outputs */

/* The bias is a vector of 3 units. */
static leat_status want_bias(const leati_infer_call *call, const leati_recurrence_known *known,
                             leat_error *err) {
    const leat_shape *shape = &call->inputs[BIAS].shape;
    LEATI_TRY(leati_support_want_dtype(call, BIAS, known->dtype, "the bias", err));
    LEATI_TRY(leati_support_want_rank(call, BIAS, 1, "the bias", err));
    if (shape->rank != 1 || known->units == LEAT_UNKNOWN_DIM)
        return LEAT_OK;
    return leati_support_want_equal_dims(3 * known->units, shape->dims[0], "the bias", err);
}

static leat_status gru_infer(leati_infer_call *call, leat_error *err) {
    const struct leati_recurrence_args *args = call->args;
    leati_recurrence_known known;
    if (leati_recurrence_activation_find(args->activation, err) == NULL ||
        leati_recurrence_activation_find(args->recurrent_activation, err) == NULL)
        return err->code;
    LEATI_TRY(leati_recurrence_want_kernel(call, KERNEL, 3, &known, err));
    LEATI_TRY(leati_recurrence_want_sequence(call, X, 3, "x", &known, err));
    LEATI_TRY(want_bias(call, &known, err));
    LEATI_TRY(leati_recurrence_want_state(call, H, "the first state", &known, err));
    LEATI_TRY(leati_recurrence_want_mask(call, MASK, &known, err));
    LEATI_TRY(leati_recurrence_output(call, &known, 1, err));
    return leati_recurrence_output(call, &known, 4, err);
}

/* One step of one row of the batch. */
struct cell {
    const void *projected, *x, *bias, *before;
    void *h, *gates;
};

/* z and r; and what k is made of: p2, or r times the state before. */
#define GRU_GATES(TYPE)                                                                            \
    static void gru_gates_##TYPE(const leati_recurrence *r, const struct cell *cell, bool after) { \
        const TYPE *projected = cell->projected, *x = cell->x, *bias = cell->bias;                 \
        const TYPE *before = cell->before;                                                         \
        TYPE *gates = cell->gates;                                                                 \
        int64_t units = r->units;                                                                  \
        for (int64_t i = 0; i < 2 * units; i++)                                                    \
            gates[i] = projected[i] + bias[i] + x[i];                                              \
        r->gate->apply_##TYPE(gates, 2 * units);                                                   \
        for (int64_t i = 0; i < units; i++)                                                        \
            gates[3 * units + i] = after ? projected[2 * units + i] + bias[2 * units + i]          \
                                         : gates[units + i] * before[i];                           \
    }
/* k and h, where gates and, without reset_after, `projected` [units] are there. */
#define GRU_STATE(TYPE)                                                                            \
    static void gru_state_##TYPE(const leati_recurrence *r, const struct cell *cell, bool after) { \
        const TYPE *projected = cell->projected, *x = cell->x, *bias = cell->bias;                 \
        const TYPE *before = cell->before;                                                         \
        TYPE *gates = cell->gates, *h = cell->h;                                                   \
        int64_t units = r->units;                                                                  \
        for (int64_t i = 0; i < units; i++)                                                        \
            gates[2 * units + i] =                                                                 \
                x[2 * units + i] + (after ? gates[units + i] * gates[3 * units + i]                \
                                          : projected[i] + bias[2 * units + i]);                   \
        r->activation->apply_##TYPE(gates + 2 * units, units);                                     \
        for (int64_t i = 0; i < units; i++)                                                        \
            h[i] = gates[i] * before[i] + (1 - gates[i]) * gates[2 * units + i];                   \
    }
GRU_GATES(float)
GRU_GATES(double)
GRU_STATE(float)
GRU_STATE(double)

/* What all steps of a row of the operation use. */
struct layer {
    const char *x, *bias, *first;
    char *h, *gates;
    const void *whole, *last; /* all columns, or the first two parts and the last one */
    char *projected;          /* scratch */
    bool after;
};

static struct cell cell_of(const leati_recurrence *r, const struct layer *layer, int64_t b,
                           int64_t t, int64_t columns) {
    return (struct cell){.projected = layer->projected + (size_t)(b * columns * r->units) * r->size,
                         .x = leati_recurrence_at(r, layer->x, 3, b, t),
                         .bias = layer->bias,
                         .before = leati_recurrence_before(r, layer->h, layer->first, b, t),
                         .h = leati_recurrence_at(r, layer->h, 1, b, t),
                         .gates = leati_recurrence_at(r, layer->gates, 4, b, t)};
}

static void gru_step(leati_recurrence *r, const leati_kernel_call *call, const struct layer *layer,
                     int64_t row, int64_t t) {
    int64_t columns = layer->after ? 3 : 2;
    size_t bytes = (size_t)r->units * r->size;
    leati_recurrence_project(r, layer->h, layer->first, t, layer->whole, columns * r->units,
                             layer->projected);
    for (int64_t b = 0; b < r->batch; b++) {
        const struct cell cell = cell_of(r, layer, b, t, columns);
        if (leati_recurrence_is_out(r, call, row, b, t))
            memset(cell.gates, 0, 4 * bytes);
        else if (r->dtype == LEAT_FLOAT32)
            gru_gates_float(r, &cell, layer->after);
        else
            gru_gates_double(r, &cell, layer->after);
    }
    if (!layer->after)
        leati_gemm(r->dtype, r->batch, r->units, r->units,
                   (leati_gemm_matrix){leati_recurrence_at(r, layer->gates, 4, 0, t) + 3 * bytes,
                                       4 * r->steps * r->units, 1},
                   (leati_gemm_matrix){layer->last, r->units, 1}, layer->projected, r->units);
    for (int64_t b = 0; b < r->batch; b++) {
        const struct cell cell = cell_of(r, layer, b, t, 1);
        if (leati_recurrence_is_out(r, call, row, b, t))
            memcpy(cell.h, cell.before, bytes);
        else if (r->dtype == LEAT_FLOAT32)
            gru_state_float(r, &cell, layer->after);
        else
            gru_state_double(r, &cell, layer->after);
    }
}

/* The recurrent kernel of a row, whole or in two: plain, or turned round for the gradient. */
static leat_status split_kernel(const leati_recurrence *r, leati_kernel_call *call,
                                const void *kernel, bool turned, struct layer *layer,
                                leat_error *err) {
    const struct leati_recurrence_args *args = call->args;
    layer->after = args->reset_after;
    layer->whole =
        leati_recurrence_kernel_of(r, call, kernel, 0, layer->after ? 3 : 2, turned, err);
    if (layer->whole == NULL)
        return err->code;
    layer->last = layer->after ? layer->whole
                               : leati_recurrence_kernel_of(r, call, kernel, 2, 1, turned, err);
    return layer->last == NULL ? err->code : LEAT_OK;
}

static leat_status gru_kernel(leati_kernel_call *call, leat_error *err) {
    leati_recurrence r;
    LEATI_TRY(leati_recurrence_init(&r, call, X, KERNEL, 3, MASK, err));
    LEATI_TRY(leati_recurrence_check(&r, call, X, 3, "x", err));
    LEATI_TRY(leati_recurrence_check(&r, call, H, 0, "the first state", err));
    LEATI_TRY(leati_support_check_rank(call, BIAS, 1, "the bias", err));
    LEATI_TRY(
        leati_support_want_equal_dims(3 * r.units, call->inputs[BIAS].dims[0], "the bias", err));
    LEATI_TRY(leati_recurrence_give(&r, call, STATES, 1, err));
    LEATI_TRY(leati_recurrence_give(&r, call, GATES, 4, err));
    struct layer layer = {.projected = leati_recurrence_scratch(&r, call, 3, err)};
    if (layer.projected == NULL)
        return err->code;
    for (int64_t row = 0; row < call->n; row++) {
        layer.x = leati_support_row_of(&call->inputs[X], row);
        layer.bias = leati_support_row_of(&call->inputs[BIAS], row);
        layer.first = leati_support_row_of(&call->inputs[H], row);
        layer.h = leati_support_row_of(&call->outputs[STATES], row);
        layer.gates = leati_support_row_of(&call->outputs[GATES], row);
        LEATI_TRY(split_kernel(&r, call, leati_support_row_of(&call->inputs[KERNEL], row), false,
                               &layer, err));
        for (int64_t t = 0; t < r.steps; t++) {
            if (leati_stop_look_after(3 * r.batch * r.units * r.units, &r.done))
                return LEAT_OK;
            gru_step(&r, call, &layer, row, t);
        }
    }
    return LEAT_OK;
}

/* The recurrent kernel's gradient: without reset_after its last part multiplies r times the state.
 */
static leat_value kernel_gradient(const leati_gradient_call *call, leat_value of_p) {
    const struct leati_recurrence_args *args = call->args;
    leat_value before = leati_recurrence_shifted(call->inputs[H], call->outputs[STATES]);
    if (args->reset_after)
        return leati_recurrence_kernel_gradient(before, of_p);
    leat_value kept = leati_recurrence_columns(call->outputs[GATES], 3, 1, 4);
    const leat_value parts[2] = {
        leati_recurrence_kernel_gradient(before, leati_recurrence_columns(of_p, 0, 2, 3)),
        leati_recurrence_kernel_gradient(kept, leati_recurrence_columns(of_p, 2, 1, 3))};
    return leat_op_concat(parts, 2, 1);
}

static leat_status gru_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    /* The gates are for the gradient alone. */
    if (call->output_gradients[STATES].id < 0)
        return LEAT_OK;
    bool is_masked = call->num_inputs > MASK;
    const leat_value inputs[6] = {
        call->output_gradients[STATES], call->inputs[KERNEL], call->inputs[H],
        call->outputs[STATES],          call->outputs[GATES], call->inputs[is_masked ? MASK : X]};
    leat_value of_x = leati_graph_node(call->graph, &leati_tensor_op_gru_grad, call->args, inputs,
                                       is_masked ? 6 : 5);
    if (leati_support_value_failed(of_x))
        return LEAT_OK;
    leat_value of_p = {.graph = call->graph, .id = of_x.id + OF_P};
    call->input_gradients[X] = of_x;
    call->input_gradients[H] = (leat_value){.graph = call->graph, .id = of_x.id + OF_FIRST};
    call->input_gradients[KERNEL] = kernel_gradient(call, of_p);
    call->input_gradients[BIAS] = leat_op_sum_like(of_p, call->inputs[BIAS]);
    return LEAT_OK;
}

static leat_status gru_grad_infer(leati_infer_call *call, leat_error *err) {
    leati_recurrence_known known;
    LEATI_TRY(leati_recurrence_want_kernel(call, GRAD_KERNEL, 3, &known, err));
    LEATI_TRY(leati_recurrence_want_state(call, FIRST, "the first state", &known, err));
    LEATI_TRY(leati_recurrence_want_sequence(call, OF_H, 1, "the gradient", &known, err));
    LEATI_TRY(leati_recurrence_want_sequence(call, GRAD_STATES, 1, "the states", &known, err));
    LEATI_TRY(leati_recurrence_want_sequence(call, GRAD_GATES, 4, "the gates", &known, err));
    LEATI_TRY(leati_recurrence_want_mask(call, GRAD_MASK, &known, err));
    LEATI_TRY(leati_recurrence_output(call, &known, 3, err));
    LEATI_TRY(leati_recurrence_output(call, &known, 3, err));
    return leati_recurrence_output(call, &known, 0, err);
}

/* One step of one row of the batch backwards: `flows` is what flows into the state behind the step,
 * and becomes what flows into the one before it, but for what goes through `next`, the product with
 * the turned kernel. */
struct back {
    const void *gates, *before, *next;
    void *flows, *of_x, *of_p;
};

/* Of z and k, and of r where it multiplies behind the kernel. */
#define GRU_BACK(TYPE)                                                                             \
    static void gru_back_##TYPE(const leati_recurrence *r, const struct back *back, bool after) {  \
        const TYPE *gates = back->gates, *before = back->before;                                   \
        TYPE *flows = back->flows, *of_x = back->of_x, *of_p = back->of_p;                         \
        int64_t units = r->units;                                                                  \
        for (int64_t i = 0; i < units; i++) {                                                      \
            of_x[i] = flows[i] * (before[i] - gates[2 * units + i]);                               \
            of_x[2 * units + i] = flows[i] * (1 - gates[i]);                                       \
            flows[i] *= gates[i];                                                                  \
        }                                                                                          \
        r->activation->slope_##TYPE(gates + 2 * units, of_x + 2 * units, units);                   \
        for (int64_t i = 0; i < units; i++)                                                        \
            of_x[units + i] = after ? of_x[2 * units + i] * gates[3 * units + i] : 0;              \
        r->gate->slope_##TYPE(gates, of_x, 2 * units);                                             \
        memcpy(of_p, of_x, 3 * (size_t)units * sizeof *of_p);                                      \
        for (int64_t i = 0; i < units && after; i++)                                               \
            of_p[2 * units + i] *= gates[units + i];                                               \
    }
/* Of r where it multiplies before the kernel: `next` is what flows into r times the state. */
#define GRU_BACK_RESET(TYPE)                                                                       \
    static void gru_back_reset_##TYPE(const leati_recurrence *r, const struct back *back) {        \
        const TYPE *gates = back->gates, *before = back->before, *next = back->next;               \
        TYPE *flows = back->flows, *of_x = back->of_x, *of_p = back->of_p;                         \
        int64_t units = r->units;                                                                  \
        for (int64_t i = 0; i < units; i++) {                                                      \
            of_x[units + i] = next[i] * before[i];                                                 \
            flows[i] += next[i] * gates[units + i];                                                \
        }                                                                                          \
        r->gate->slope_##TYPE(gates + units, of_x + units, units);                                 \
        memcpy(of_p + units, of_x + units, (size_t)units * sizeof *of_p);                          \
    }
GRU_BACK(float)
GRU_BACK(double)
GRU_BACK_RESET(float)
GRU_BACK_RESET(double)

static struct back back_of(const leati_recurrence *r, const leati_kernel_call *call, int64_t row,
                           int64_t b, int64_t t, const char *next) {
    size_t at = (size_t)(b * r->units) * r->size;
    const char *states = leati_support_row_of(&call->inputs[GRAD_STATES], row);
    const char *first = leati_support_row_of(&call->inputs[FIRST], row);
    return (struct back){
        .gates =
            leati_recurrence_at(r, leati_support_row_of(&call->inputs[GRAD_GATES], row), 4, b, t),
        .before = leati_recurrence_before(r, states, first, b, t),
        .next = next + at,
        .flows = leati_support_row_of(&call->outputs[OF_FIRST], row) + at,
        .of_x = leati_recurrence_at(r, leati_support_row_of(&call->outputs[OF_X], row), 3, b, t),
        .of_p = leati_recurrence_at(r, leati_support_row_of(&call->outputs[OF_P], row), 3, b, t)};
}

/* The gates of step t without reset_after: the product with the last part of the kernel, and r. */
static void reset_back(leati_recurrence *r, const leati_kernel_call *call, int64_t row, int64_t t,
                       const struct layer *layer) {
    const struct back first = back_of(r, call, row, 0, t, layer->projected);
    const char *of_k = (const char *)first.of_x + 2 * (size_t)r->units * r->size;
    leati_gemm(r->dtype, r->batch, r->units, r->units,
               (leati_gemm_matrix){of_k, 3 * r->steps * r->units, 1},
               (leati_gemm_matrix){layer->last, r->units, 1}, layer->projected, r->units);
    for (int64_t b = 0; b < r->batch; b++) {
        const struct back back = back_of(r, call, row, b, t, layer->projected);
        if (leati_recurrence_is_out(r, call, row, b, t))
            continue;
        if (r->dtype == LEAT_FLOAT32)
            gru_back_reset_float(r, &back);
        else
            gru_back_reset_double(r, &back);
    }
}

static void gru_back_step(leati_recurrence *r, const leati_kernel_call *call, int64_t row,
                          int64_t t, const struct layer *layer) {
    const char *gradient = leati_support_row_of(&call->inputs[OF_H], row);
    size_t bytes = (size_t)r->units * r->size;
    for (int64_t b = 0; b < r->batch; b++) {
        const struct back back = back_of(r, call, row, b, t, layer->projected);
        leati_recurrence_add(r, back.flows, leati_recurrence_at(r, gradient, 1, b, t), r->units);
        if (leati_recurrence_is_out(r, call, row, b, t)) {
            memset(back.of_x, 0, 3 * bytes);
            memset(back.of_p, 0, 3 * bytes);
        } else if (r->dtype == LEAT_FLOAT32) {
            gru_back_float(r, &back, layer->after);
        } else {
            gru_back_double(r, &back, layer->after);
        }
    }
    if (!layer->after)
        reset_back(r, call, row, t, layer);
    const struct back first = back_of(r, call, row, 0, t, layer->projected);
    leati_gemm(r->dtype, r->batch, r->units, (layer->after ? 3 : 2) * r->units,
               (leati_gemm_matrix){first.of_p, 3 * r->steps * r->units, 1},
               (leati_gemm_matrix){layer->whole, r->units, 1}, layer->projected, r->units);
    /* Where the step is left out its row of the product is 0. */
    leati_recurrence_add(r, first.flows, layer->projected, r->batch * r->units);
}

static leat_status gru_grad_rows(leati_recurrence *r, leati_kernel_call *call, leat_error *err) {
    size_t bytes = (size_t)(r->batch * r->units) * r->size;
    struct layer layer = {.projected = leati_recurrence_scratch(r, call, 1, err)};
    if (layer.projected == NULL)
        return err->code;
    for (int64_t row = 0; row < call->n; row++) {
        LEATI_TRY(split_kernel(r, call, leati_support_row_of(&call->inputs[GRAD_KERNEL], row), true,
                               &layer, err));
        if (bytes == 0)
            continue;
        memset(leati_support_row_of(&call->outputs[OF_FIRST], row), 0, bytes);
        for (int64_t t = r->steps - 1; t >= 0; t--) {
            if (leati_stop_look_after(3 * r->batch * r->units * r->units, &r->done))
                return LEAT_OK;
            gru_back_step(r, call, row, t, &layer);
        }
    }
    return LEAT_OK;
}

static leat_status gru_grad_kernel(leati_kernel_call *call, leat_error *err) {
    leati_recurrence r;
    LEATI_TRY(leati_recurrence_init(&r, call, OF_H, GRAD_KERNEL, 3, GRAD_MASK, err));
    LEATI_TRY(leati_recurrence_check(&r, call, OF_H, 1, "the gradient", err));
    LEATI_TRY(leati_recurrence_check(&r, call, FIRST, 0, "the first state", err));
    LEATI_TRY(leati_recurrence_check(&r, call, GRAD_STATES, 1, "the states", err));
    LEATI_TRY(leati_recurrence_check(&r, call, GRAD_GATES, 4, "the gates", err));
    LEATI_TRY(leati_recurrence_give(&r, call, OF_X, 3, err));
    LEATI_TRY(leati_recurrence_give(&r, call, OF_P, 3, err));
    LEATI_TRY(leati_recurrence_give(&r, call, OF_FIRST, 0, err));
    return gru_grad_rows(&r, call, err);
}

const leati_tensor_op leati_tensor_op_gru = {
    .name = "gru",
    .version = 1,
    .doc = "The states of gated recurrent units over sequences (keras.layers.GRU behind its "
           "kernel).",
    .types = "T T T T bool",
    .outputs = "states gates",
    .halves = LEATI_HALVES_FLOAT,
    .rows = gru_rows,
    .args_size = sizeof(struct leati_recurrence_args),
    .min_inputs = 4,
    .max_inputs = 5,
    .infer = gru_infer,
    .kernel = gru_kernel,
    .gradient = gru_gradient,
};

const leati_tensor_op leati_tensor_op_gru_grad = {
    .name = "gru_grad",
    .version = 1,
    .doc = "The gradients of gru for x, for what the recurrent kernel gives, and for the first "
           "state.",
    .types = "T T T T T bool",
    .outputs = "x_backprop product_backprop state_backprop",
    .halves = LEATI_HALVES_FLOAT,
    .rows = gru_rows,
    .args_size = sizeof(struct leati_recurrence_args),
    .min_inputs = 5,
    .max_inputs = 6,
    .infer = gru_grad_infer,
    .kernel = gru_grad_kernel,
};
