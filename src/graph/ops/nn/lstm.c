/* lstm: the states of a long short-term memory over sequences whose inputs are multiplied with
 * their kernel already (keras.layers.LSTM). With z = x(t) + h(t - 1) recurrent, cut into four parts
 * in Keras' order: i = g(z0), f = g(z1), k = a(z2), o = g(z3), and c(t) = f c(t - 1) + i k, h(t) =
 * o a(c(t)). Inputs: x [batch, steps, 4 units], the recurrent kernel [units, 4 units], h and c
 * before the first step [batch, units], and, if there is one, a mask [batch, steps]: a step that it
 * leaves out hands both on. Outputs: h and c [batch, steps, units], and i, f, k and o [batch,
 * steps, 4 units], which the gradient reads.
 *
 * lstm_grad: the gradients of x, of the first h and of the first c, of the gradients of h and c,
 * the recurrent kernel, the first c, c, the gates, and the mask; the kernel's own is one product of
 * all steps, which the gradient builds of them. Fails on shapes that do not fit, and on an
 * activation whose slope does not follow from its value. lstm_grad has no gradient. No state, no
 * locks. */
#include "base/stop.h"
#include "graph/support/linalg/gemm.h"
#include "graph/support/nn/recurrence.h"
#include <string.h>

static const leati_row lstm_rows[] = {
    LEATI_RECURRENCE_ACTIVATION, LEATI_RECURRENCE_RECURRENT_ACTIVATION, {0}};

enum { X, KERNEL, H, C, MASK };                                                 /* inputs of lstm */
enum { STATES, CARRIES, GATES };                                                /* its outputs */
enum { OF_H, OF_C, GRAD_KERNEL, FIRST_C, GRAD_CARRIES, GRAD_GATES, GRAD_MASK }; /* of lstm_grad */
enum { OF_X, OF_FIRST_H, OF_FIRST_C };                                          /* its outputs */

static leat_status lstm_infer(leati_infer_call *call, leat_error *err) {
    const struct leati_recurrence_args *args = call->args;
    leati_recurrence_known known;
    if (leati_recurrence_activation_find(args->activation, err) == NULL ||
        leati_recurrence_activation_find(args->recurrent_activation, err) == NULL)
        return err->code;
    LEATI_TRY(leati_recurrence_want_kernel(call, KERNEL, 4, &known, err));
    LEATI_TRY(leati_recurrence_want_sequence(call, X, 4, "x", &known, err));
    LEATI_TRY(leati_recurrence_want_state(call, H, "the first h", &known, err));
    LEATI_TRY(leati_recurrence_want_state(call, C, "the first c", &known, err));
    LEATI_TRY(leati_recurrence_want_mask(call, MASK, &known, err));
    LEATI_TRY(leati_recurrence_output(call, &known, 1, err));
    LEATI_TRY(leati_recurrence_output(call, &known, 1, err));
    return leati_recurrence_output(call, &known, 4, err);
}

/* One step of one row of the batch: what `in` and `out` point at are the values of that step. */
struct cell {
    const void *projected, *x, *before; /* `before`: c */
    void *h, *c, *gates;
};

#define LSTM_CELL(TYPE)                                                                            \
    static void lstm_cell_##TYPE(const leati_recurrence *r, const struct cell *cell) {             \
        const TYPE *projected = cell->projected, *x = cell->x, *before = cell->before;             \
        TYPE *h = cell->h, *c = cell->c, *gates = cell->gates;                                     \
        int64_t units = r->units;                                                                  \
        for (int64_t i = 0; i < 4 * units; i++)                                                    \
            gates[i] = projected[i] + x[i];                                                        \
        r->gate->apply_##TYPE(gates, 2 * units);                                                   \
        r->activation->apply_##TYPE(gates + 2 * units, units);                                     \
        r->gate->apply_##TYPE(gates + 3 * units, units);                                           \
        for (int64_t i = 0; i < units; i++)                                                        \
            h[i] = c[i] = gates[units + i] * before[i] + gates[i] * gates[2 * units + i];          \
        r->activation->apply_##TYPE(h, units);                                                     \
        for (int64_t i = 0; i < units; i++)                                                        \
            h[i] *= gates[3 * units + i];                                                          \
    }
LSTM_CELL(float)
LSTM_CELL(double)

static void lstm_step(leati_recurrence *r, const leati_kernel_call *call, int64_t row, int64_t t,
                      char *projected) {
    const char *x = leati_support_row_of(&call->inputs[X], row);
    const char *kernel = leati_support_row_of(&call->inputs[KERNEL], row);
    const char *first_h = leati_support_row_of(&call->inputs[H], row);
    const char *first_c = leati_support_row_of(&call->inputs[C], row);
    char *h = leati_support_row_of(&call->outputs[STATES], row);
    char *c = leati_support_row_of(&call->outputs[CARRIES], row);
    char *gates = leati_support_row_of(&call->outputs[GATES], row);
    size_t bytes = (size_t)r->units * r->size;
    leati_recurrence_project(r, h, first_h, t, kernel, 4 * r->units, projected);
    for (int64_t b = 0; b < r->batch; b++) {
        const struct cell cell = {.projected = projected + 4 * (size_t)b * bytes,
                                  .x = leati_recurrence_at(r, x, 4, b, t),
                                  .before = leati_recurrence_before(r, c, first_c, b, t),
                                  .h = leati_recurrence_at(r, h, 1, b, t),
                                  .c = leati_recurrence_at(r, c, 1, b, t),
                                  .gates = leati_recurrence_at(r, gates, 4, b, t)};
        if (leati_recurrence_is_out(r, call, row, b, t)) {
            memset(cell.gates, 0, 4 * bytes);
            memcpy(cell.h, leati_recurrence_before(r, h, first_h, b, t), bytes);
            memcpy(cell.c, cell.before, bytes);
        } else if (r->dtype == LEAT_FLOAT32) {
            lstm_cell_float(r, &cell);
        } else {
            lstm_cell_double(r, &cell);
        }
    }
}

static leat_status lstm_kernel(leati_kernel_call *call, leat_error *err) {
    leati_recurrence r;
    LEATI_TRY(leati_recurrence_init(&r, call, X, KERNEL, 4, MASK, err));
    LEATI_TRY(leati_recurrence_check(&r, call, X, 4, "x", err));
    LEATI_TRY(leati_recurrence_check(&r, call, H, 0, "the first h", err));
    LEATI_TRY(leati_recurrence_check(&r, call, C, 0, "the first c", err));
    LEATI_TRY(leati_recurrence_give(&r, call, STATES, 1, err));
    LEATI_TRY(leati_recurrence_give(&r, call, CARRIES, 1, err));
    LEATI_TRY(leati_recurrence_give(&r, call, GATES, 4, err));
    char *projected = leati_recurrence_scratch(&r, call, 4, err);
    if (projected == NULL)
        return err->code;
    for (int64_t i = 0; i < call->n * r.steps; i++) {
        if (leati_stop_look_after(4 * r.batch * r.units * r.units, &r.done))
            return LEAT_OK;
        lstm_step(&r, call, i / r.steps, i % r.steps, projected);
    }
    return LEAT_OK;
}

static leat_status lstm_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    leat_value of_h = call->output_gradients[STATES], of_c = call->output_gradients[CARRIES];
    /* The gates are for the gradient alone. */
    if (of_h.id < 0 && of_c.id < 0)
        return LEAT_OK;
    bool is_masked = call->num_inputs > MASK;
    const leat_value inputs[7] = {of_h.id < 0 ? leat_op_zeros_like(call->outputs[STATES]) : of_h,
                                  of_c.id < 0 ? leat_op_zeros_like(call->outputs[CARRIES]) : of_c,
                                  call->inputs[KERNEL],
                                  call->inputs[C],
                                  call->outputs[CARRIES],
                                  call->outputs[GATES],
                                  call->inputs[is_masked ? MASK : X]};
    leat_value of_x = leati_graph_node(call->graph, &leati_tensor_op_lstm_grad, call->args, inputs,
                                       is_masked ? 7 : 6);
    if (leati_support_value_failed(of_x))
        return LEAT_OK;
    call->input_gradients[X] = of_x;
    call->input_gradients[H] = (leat_value){.graph = call->graph, .id = of_x.id + OF_FIRST_H};
    call->input_gradients[C] = (leat_value){.graph = call->graph, .id = of_x.id + OF_FIRST_C};
    call->input_gradients[KERNEL] = leati_recurrence_kernel_gradient(
        leati_recurrence_shifted(call->inputs[H], call->outputs[STATES]), of_x);
    return LEAT_OK;
}

static leat_status lstm_grad_infer(leati_infer_call *call, leat_error *err) {
    leati_recurrence_known known;
    LEATI_TRY(leati_recurrence_want_kernel(call, GRAD_KERNEL, 4, &known, err));
    LEATI_TRY(leati_recurrence_want_state(call, FIRST_C, "the first c", &known, err));
    LEATI_TRY(leati_recurrence_want_sequence(call, OF_H, 1, "the gradient of h", &known, err));
    LEATI_TRY(leati_recurrence_want_sequence(call, OF_C, 1, "the gradient of c", &known, err));
    LEATI_TRY(leati_recurrence_want_sequence(call, GRAD_CARRIES, 1, "c", &known, err));
    LEATI_TRY(leati_recurrence_want_sequence(call, GRAD_GATES, 4, "the gates", &known, err));
    LEATI_TRY(leati_recurrence_want_mask(call, GRAD_MASK, &known, err));
    LEATI_TRY(leati_recurrence_output(call, &known, 4, err));
    LEATI_TRY(leati_recurrence_output(call, &known, 0, err));
    return leati_recurrence_output(call, &known, 0, err);
}

/* One step of one row of the batch backwards: `flows_h` is what flows into h; `flows_c` is what
 * flows into c from behind, and becomes what flows into the one before. */
struct back {
    const void *gates, *c, *before, *flows_h;
    void *flows_c, *of_x;
};

#define LSTM_BACK(TYPE)                                                                            \
    static void lstm_back_##TYPE(const leati_recurrence *r, const struct back *back) {             \
        const TYPE *gates = back->gates, *c = back->c, *before = back->before;                     \
        const TYPE *flows_h = back->flows_h;                                                       \
        TYPE *flows_c = back->flows_c, *of_x = back->of_x;                                         \
        int64_t units = r->units;                                                                  \
        TYPE *through = of_x, *active = of_x + 3 * units;                                          \
        memcpy(active, c, (size_t)units * sizeof *c);                                              \
        r->activation->apply_##TYPE(active, units);                                                \
        for (int64_t i = 0; i < units; i++)                                                        \
            through[i] = flows_h[i] * gates[3 * units + i];                                        \
        r->activation->slope_##TYPE(active, through, units);                                       \
        for (int64_t i = 0; i < units; i++) {                                                      \
            TYPE flow = flows_c[i] + through[i];                                                   \
            of_x[i] = flow * gates[2 * units + i];                                                 \
            of_x[units + i] = flow * before[i];                                                    \
            of_x[2 * units + i] = flow * gates[i];                                                 \
            of_x[3 * units + i] = flows_h[i] * active[i];                                          \
            flows_c[i] = flow * gates[units + i];                                                  \
        }                                                                                          \
        r->gate->slope_##TYPE(gates, of_x, 2 * units);                                             \
        r->activation->slope_##TYPE(gates + 2 * units, of_x + 2 * units, units);                   \
        r->gate->slope_##TYPE(gates + 3 * units, of_x + 3 * units, units);                         \
    }
/* Two parts of of_x are scratch until they are written: a(c) lies where o's will, and what flows
 * into c through it where i's will. */
LSTM_BACK(float)
LSTM_BACK(double)

/* What flows into h and c of the step's row of the batch, with what the gradients add there. */
static struct back back_of(const leati_recurrence *r, const leati_kernel_call *call, int64_t row,
                           int64_t b, int64_t t, char *flows_h) {
    const void *in[6];
    size_t bytes = (size_t)r->units * r->size;
    for (int i = 0; i < 6; i++)
        in[i] = leati_support_row_of(&call->inputs[i], row);
    char *flows_c = leati_support_row_of(&call->outputs[OF_FIRST_C], row) + (size_t)b * bytes;
    char *of_x = leati_support_row_of(&call->outputs[OF_X], row);
    leati_recurrence_add(r, flows_h, leati_recurrence_at(r, in[OF_H], 1, b, t), r->units);
    leati_recurrence_add(r, flows_c, leati_recurrence_at(r, in[OF_C], 1, b, t), r->units);
    return (struct back){.gates = leati_recurrence_at(r, in[GRAD_GATES], 4, b, t),
                         .c = leati_recurrence_at(r, in[GRAD_CARRIES], 1, b, t),
                         .before = leati_recurrence_before(r, in[GRAD_CARRIES], in[FIRST_C], b, t),
                         .flows_h = flows_h,
                         .flows_c = flows_c,
                         .of_x = leati_recurrence_at(r, of_x, 4, b, t)};
}

/* Step t of all rows of the batch: outputs 1 and 2 hold what flows into the states behind the step,
 * and then into those before it; `next` is scratch. */
static void lstm_back_step(leati_recurrence *r, const leati_kernel_call *call, int64_t row,
                           int64_t t, const void *turned, char *next) {
    char *flows_h = leati_support_row_of(&call->outputs[OF_FIRST_H], row);
    char *of_x = leati_support_row_of(&call->outputs[OF_X], row);
    size_t bytes = (size_t)r->units * r->size;
    for (int64_t b = 0; b < r->batch; b++) {
        struct back back = back_of(r, call, row, b, t, flows_h + (size_t)b * bytes);
        if (leati_recurrence_is_out(r, call, row, b, t))
            memset(back.of_x, 0, 4 * bytes);
        else if (r->dtype == LEAT_FLOAT32)
            lstm_back_float(r, &back);
        else
            lstm_back_double(r, &back);
    }
    leati_gemm(
        r->dtype, r->batch, r->units, 4 * r->units,
        (leati_gemm_matrix){leati_recurrence_at(r, of_x, 4, 0, t), 4 * r->steps * r->units, 1},
        (leati_gemm_matrix){turned, r->units, 1}, next, r->units);
    for (int64_t b = 0; b < r->batch; b++)
        if (!leati_recurrence_is_out(r, call, row, b, t))
            memcpy(flows_h + (size_t)b * bytes, next + (size_t)b * bytes, bytes);
}

static leat_status lstm_grad_rows(leati_recurrence *r, leati_kernel_call *call, leat_error *err) {
    size_t bytes = (size_t)(r->batch * r->units) * r->size;
    char *next = leati_recurrence_scratch(r, call, 1, err);
    if (next == NULL)
        return err->code;
    for (int64_t row = 0; row < call->n; row++) {
        const void *kernel = leati_support_row_of(&call->inputs[GRAD_KERNEL], row);
        const void *turned = leati_recurrence_kernel_of(r, call, kernel, 0, 4, true, err);
        if (turned == NULL)
            return err->code;
        if (bytes == 0)
            continue;
        memset(leati_support_row_of(&call->outputs[OF_FIRST_H], row), 0, bytes);
        memset(leati_support_row_of(&call->outputs[OF_FIRST_C], row), 0, bytes);
        for (int64_t t = r->steps - 1; t >= 0; t--) {
            if (leati_stop_look_after(4 * r->batch * r->units * r->units, &r->done))
                return LEAT_OK;
            lstm_back_step(r, call, row, t, turned, next);
        }
    }
    return LEAT_OK;
}

static leat_status lstm_grad_kernel(leati_kernel_call *call, leat_error *err) {
    leati_recurrence r;
    LEATI_TRY(leati_recurrence_init(&r, call, OF_H, GRAD_KERNEL, 4, GRAD_MASK, err));
    LEATI_TRY(leati_recurrence_check(&r, call, OF_H, 1, "the gradient of h", err));
    LEATI_TRY(leati_recurrence_check(&r, call, OF_C, 1, "the gradient of c", err));
    LEATI_TRY(leati_recurrence_check(&r, call, FIRST_C, 0, "the first c", err));
    LEATI_TRY(leati_recurrence_check(&r, call, GRAD_CARRIES, 1, "c", err));
    LEATI_TRY(leati_recurrence_check(&r, call, GRAD_GATES, 4, "the gates", err));
    LEATI_TRY(leati_recurrence_give(&r, call, OF_X, 4, err));
    LEATI_TRY(leati_recurrence_give(&r, call, OF_FIRST_H, 0, err));
    LEATI_TRY(leati_recurrence_give(&r, call, OF_FIRST_C, 0, err));
    return lstm_grad_rows(&r, call, err);
}

const leati_tensor_op leati_tensor_op_lstm = {
    .name = "lstm",
    .version = 1,
    .doc = "The states of a long short-term memory over sequences (keras.layers.LSTM behind its "
           "kernel).",
    .types = "T T T T bool",
    .outputs = "states carries gates",
    .halves = LEATI_HALVES_FLOAT,
    .rows = lstm_rows,
    .args_size = sizeof(struct leati_recurrence_args),
    .min_inputs = 4,
    .max_inputs = 5,
    .infer = lstm_infer,
    .kernel = lstm_kernel,
    .gradient = lstm_gradient,
};

const leati_tensor_op leati_tensor_op_lstm_grad = {
    .name = "lstm_grad",
    .version = 1,
    .doc = "The gradients of lstm for x and the first states.",
    .types = "T T T T T T bool",
    .outputs = "x_backprop state_backprop carry_backprop",
    .halves = LEATI_HALVES_FLOAT,
    .rows = lstm_rows,
    .args_size = sizeof(struct leati_recurrence_args),
    .min_inputs = 6,
    .max_inputs = 7,
    .infer = lstm_grad_infer,
    .kernel = lstm_grad_kernel,
};
