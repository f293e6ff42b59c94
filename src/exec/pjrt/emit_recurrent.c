/* Recurrent layers as StableHLO: a loop over the steps of sequences, forward and backward.
 *
 * Sequences are turned to [steps, batch, values], so that a step is a row. The formulas are those
 * of graph/ops/nn/simple_rnn.c, gru.c and lstm.c. A step that the mask leaves out hands the state
 * on. */
#include "exec/pjrt/emit.h"

#include "base/error.h"
#include <string.h>

/* ---- a loop over steps ---- */

enum { MOST_CARRIED = 16 };

/* What is carried by number; `at` is the step, counted from the end where `back`. */
typedef struct scan {
    leati_hlo *hlo;
    leati_hlo_loop loop;
    leati_hlo_value starts[MOST_CARRIED], next[MOST_CARRIED], at;
    int count;
    int64_t batch, steps, units;
    int mask; /* the number of the mask, if there is one, else -1 */
    const char *activation, *gate;
} scan;

static int carry(scan *s, leati_hlo_value value) {
    s->starts[s->count] = value;
    return s->count++;
}

/* [batch, steps, ...] as [steps, batch, ...], or back. */
static leati_hlo_value turn(leati_hlo *hlo, leati_hlo_value x) {
    return leati_hlo_transpose(hlo, x, (const int64_t[]){1, 0, 2});
}

static int carry_sequence(scan *s, leati_hlo_value sequence) {
    return carry(s, turn(s->hlo, sequence));
}

/* Zeros of `parts` * units values for each step of each row, or for each row alone. */
static int carry_zeros(scan *s, leati_hlo_value like, int64_t parts, bool sequence) {
    leat_shape shape = LEAT_SHAPE(s->steps, s->batch, parts * s->units);
    if (!sequence)
        shape = LEAT_SHAPE(s->batch, parts * s->units);
    return carry(s, leati_hlo_fill(s->hlo, 0, leati_hlo_dtype(s->hlo, like), &shape));
}

/* Sizes by a sequence of `parts`; a mask is input number `mask`, where there are so many. */
static void scan_init(leati_emit *emit, scan *s, int sequence, int64_t parts, int mask) {
    leat_shape shape = leati_emit_input_shape(emit, sequence);
    *s = (scan){.hlo = &emit->hlo,
                .batch = shape.dims[0],
                .steps = shape.dims[1],
                .units = shape.dims[2] / parts,
                .mask = -1,
                .activation = leati_emit_string(emit, "activation"),
                .gate = leati_emit_string(emit, "recurrent_activation")};
    (void)carry(s, leati_hlo_number(s->hlo, 0));
    if (emit->num_inputs > mask)
        s->mask = carry(s, leati_hlo_transpose(s->hlo, emit->inputs[mask], (int64_t[]){1, 0}));
}

static leati_hlo_value carried(const scan *s, int number) {
    return s->loop.first + number;
}

/* The step's row of a sequence. */
static leati_hlo_value step_of(const scan *s, int number) {
    return leati_hlo_row(s->hlo, carried(s, number), s->at);
}

static void put_step(scan *s, int number, leati_hlo_value row) {
    s->next[number] = leati_hlo_set_row(s->hlo, carried(s, number), s->at, row);
}

static leati_hlo_value wide_mask(const scan *s, int64_t values) {
    leat_shape shape = LEAT_SHAPE(s->batch, values);
    return leati_hlo_broadcast_in(s->hlo, step_of(s, s->mask), &shape, (int64_t[]){0});
}

static void scan_open(scan *s, bool back) {
    leati_hlo *hlo = s->hlo;
    leati_hlo_loop_begin(hlo, &s->loop, s->starts, s->count);
    leati_hlo_loop_body(
        hlo, &s->loop,
        leati_hlo_compare(hlo, "LT", s->loop.first, leati_hlo_number(hlo, s->steps)));
    for (int i = 0; i < s->count; i++)
        s->next[i] = carried(s, i);
    s->next[0] = leati_hlo_binary(hlo, "add", s->loop.first, leati_hlo_number(hlo, 1));
    s->at = s->loop.first;
    if (back)
        s->at = leati_hlo_binary(hlo, "subtract", leati_hlo_number(hlo, s->steps), s->next[0]);
}

static void scan_close(scan *s) {
    s->loop.first = leati_hlo_loop_end(s->hlo, &s->loop, s->next);
}

/* Behind the loop. */
static leati_hlo_value sequence_of(const scan *s, int number) {
    return turn(s->hlo, carried(s, number));
}

/* Nothing to go through: zeros everywhere. */
static bool give_zeros(leati_emit *emit, const scan *s) {
    if (s->steps > 0 && s->batch > 0 && s->units > 0)
        return false;
    for (int i = 0; i < emit->node->num_outputs; i++)
        emit->outputs[i] =
            leati_hlo_fill(&emit->hlo, 0, leati_emit_dtype(emit, i), leati_emit_shape(emit, i));
    return true;
}

/* `yes` where the mask keeps the step, else `no`. */
static leati_hlo_value where_in(const scan *s, leati_hlo_value yes, leati_hlo_value no) {
    if (s->mask < 0)
        return yes;
    int64_t values = leati_hlo_shape(s->hlo, yes).dims[1];
    return leati_hlo_select(s->hlo, wide_mask(s, values), yes, no);
}

static leati_hlo_value zero_where_out(const scan *s, leati_hlo_value x) {
    return s->mask < 0 ? x : where_in(s, x, leati_hlo_fill_like(s->hlo, 0, x));
}

/* ---- values ---- */

static leati_hlo_value add(const scan *s, leati_hlo_value a, leati_hlo_value b) {
    return leati_hlo_binary(s->hlo, "add", a, b);
}

static leati_hlo_value times(const scan *s, leati_hlo_value a, leati_hlo_value b) {
    return leati_hlo_binary(s->hlo, "multiply", a, b);
}

static leati_hlo_value number(const scan *s, double value, leati_hlo_value like) {
    return leati_hlo_fill_like(s->hlo, value, like);
}

/* 1 - x */
static leati_hlo_value rest(const scan *s, leati_hlo_value x) {
    return leati_hlo_binary(s->hlo, "subtract", number(s, 1, x), x);
}

/* Columns [first, first + parts) * units of [rows, columns]. */
static leati_hlo_value columns(const scan *s, leati_hlo_value x, int64_t first, int64_t parts) {
    leat_shape shape = leati_hlo_shape(s->hlo, x);
    return leati_hlo_slice(s->hlo, x, (int64_t[]){0, first * s->units},
                           (int64_t[]){shape.dims[0], (first + parts) * s->units},
                           (int64_t[]){1, 1});
}

static leati_hlo_value join(const scan *s, const leati_hlo_value *parts, int count) {
    return leati_hlo_concatenate(s->hlo, parts, count, 1);
}

/* x times the kernel, or times the kernel turned. */
static leati_hlo_value product(const scan *s, leati_hlo_value x, leati_hlo_value kernel,
                               bool turned) {
    return leati_hlo_matmul(s->hlo, x, kernel, false, turned);
}

static leati_hlo_value clip(const scan *s, leati_hlo_value x, double least, double most) {
    x = leati_hlo_binary(s->hlo, "maximum", x, number(s, least, x));
    return leati_hlo_binary(s->hlo, "minimum", x, number(s, most, x));
}

static leati_hlo_value where_less(const scan *s, leati_hlo_value a, double than,
                                  leati_hlo_value yes, leati_hlo_value no) {
    return leati_hlo_select(s->hlo, leati_hlo_compare(s->hlo, "LT", a, number(s, than, a)), yes,
                            no);
}

/* Is it strictly between? 1 or 0 times `value`. */
static leati_hlo_value within(const scan *s, leati_hlo_value y, double least, double most,
                              double value) {
    leati_hlo_value zero = number(s, 0, y);
    leati_hlo_value below = where_less(s, y, most, number(s, value, y), zero);
    leati_hlo_value above = leati_hlo_compare(s->hlo, "GT", y, number(s, least, y));
    return leati_hlo_select(s->hlo, above, below, zero);
}

/* max(x, 0) + log1p(exp(-|x|)) */
static leati_hlo_value softplus(const scan *s, leati_hlo_value x) {
    leati_hlo_value tail = leati_hlo_unary(s->hlo, "negate", leati_hlo_unary(s->hlo, "abs", x));
    tail = leati_hlo_unary(s->hlo, "log_plus_one", leati_hlo_unary(s->hlo, "exponential", tail));
    return add(s, leati_hlo_binary(s->hlo, "maximum", x, number(s, 0, x)), tail);
}

static bool is(const char *name, const char *other) {
    return strcmp(name, other) == 0;
}

/* Keras' activations by their names, those of graph/support/nn/recurrence.c. */
static leati_hlo_value activate(const scan *s, const char *name, leati_hlo_value x) {
    leati_hlo *hlo = s->hlo;
    if (is(name, "tanh"))
        return leati_hlo_unary(hlo, "tanh", x);
    if (is(name, "sigmoid"))
        return leati_hlo_unary(hlo, "logistic", x);
    if (is(name, "hard_sigmoid"))
        return leati_hlo_binary(hlo, "divide", clip(s, add(s, x, number(s, 3, x)), 0, 6),
                                number(s, 6, x));
    if (is(name, "hard_tanh"))
        return clip(s, x, -1, 1);
    if (is(name, "relu"))
        return leati_hlo_binary(hlo, "maximum", x, number(s, 0, x));
    if (is(name, "relu6"))
        return clip(s, x, 0, 6);
    if (is(name, "elu"))
        return where_less(s, x, 0, leati_hlo_unary(hlo, "exponential_minus_one", x), x);
    if (is(name, "softplus"))
        return softplus(s, x);
    if (is(name, "softsign"))
        return leati_hlo_binary(hlo, "divide", x,
                                add(s, number(s, 1, x), leati_hlo_unary(hlo, "abs", x)));
    if (is(name, "exponential"))
        return leati_hlo_unary(hlo, "exponential", x);
    return x;
}

/* The activation's slope where it gave y, times g. */
static leati_hlo_value slope(const scan *s, const char *name, leati_hlo_value y,
                             leati_hlo_value g) {
    leati_hlo *hlo = s->hlo;
    leati_hlo_value by = g;
    if (is(name, "tanh"))
        by = rest(s, times(s, y, y));
    else if (is(name, "sigmoid"))
        by = times(s, y, rest(s, y));
    else if (is(name, "hard_sigmoid"))
        by = within(s, y, 0, 1, 1.0 / 6);
    else if (is(name, "hard_tanh"))
        by = within(s, y, -1, 1, 1);
    else if (is(name, "relu"))
        by = leati_hlo_select(hlo, leati_hlo_compare(hlo, "GT", y, number(s, 0, y)),
                              number(s, 1, y), number(s, 0, y));
    else if (is(name, "relu6"))
        by = within(s, y, 0, 6, 1);
    else if (is(name, "elu"))
        by = where_less(s, y, 0, add(s, y, number(s, 1, y)), number(s, 1, y));
    else if (is(name, "softplus"))
        by = leati_hlo_unary(
            hlo, "negate",
            leati_hlo_unary(hlo, "exponential_minus_one", leati_hlo_unary(hlo, "negate", y)));
    else if (is(name, "softsign")) {
        by = rest(s, leati_hlo_unary(hlo, "abs", y));
        by = times(s, by, by);
    } else if (is(name, "exponential"))
        by = y;
    else
        return g;
    return times(s, g, by);
}

/* States before each step: the first, then all but the last one. */
static int carry_before(scan *s, leati_hlo_value first, leati_hlo_value states) {
    leat_shape row = LEAT_SHAPE(1, s->batch, s->units);
    leati_hlo_value parts[2] = {leati_hlo_reshape(s->hlo, first, &row), turn(s->hlo, states)};
    parts[1] = leati_hlo_slice(s->hlo, parts[1], (int64_t[]){0, 0, 0},
                               (int64_t[]){s->steps - 1, s->batch, s->units}, (int64_t[]){1, 1, 1});
    return carry(s, leati_hlo_concatenate(s->hlo, parts, 2, 0));
}

/* ---- simple_rnn ---- */

/* Inputs: x, kernel, state, mask. */
leat_status leati_emit_simple_rnn(leati_emit *emit, leat_error *err) {
    (void)err;
    scan s;
    scan_init(emit, &s, 0, 1, 3);
    if (give_zeros(emit, &s))
        return LEAT_OK;
    int x = carry_sequence(&s, emit->inputs[0]), kernel = carry(&s, emit->inputs[1]);
    int state = carry(&s, emit->inputs[2]), states = carry_zeros(&s, emit->inputs[0], 1, true);
    scan_open(&s, false);
    leati_hlo_value before = carried(&s, state);
    leati_hlo_value y = add(&s, product(&s, before, carried(&s, kernel), false), step_of(&s, x));
    y = where_in(&s, activate(&s, s.activation, y), before);
    s.next[state] = y;
    put_step(&s, states, y);
    scan_close(&s);
    emit->outputs[0] = sequence_of(&s, states);
    return LEAT_OK;
}

/* Inputs: gradient, kernel, states, mask. */
leat_status leati_emit_simple_rnn_grad(leati_emit *emit, leat_error *err) {
    (void)err;
    scan s;
    scan_init(emit, &s, 0, 1, 3);
    if (give_zeros(emit, &s))
        return LEAT_OK;
    int gradient = carry_sequence(&s, emit->inputs[0]), kernel = carry(&s, emit->inputs[1]);
    int states = carry_sequence(&s, emit->inputs[2]);
    int flows = carry_zeros(&s, emit->inputs[0], 1, false);
    int of_x = carry_zeros(&s, emit->inputs[0], 1, true);
    scan_open(&s, true);
    leati_hlo_value flow = add(&s, carried(&s, flows), step_of(&s, gradient));
    leati_hlo_value to = zero_where_out(&s, slope(&s, s.activation, step_of(&s, states), flow));
    put_step(&s, of_x, to);
    s.next[flows] = where_in(&s, product(&s, to, carried(&s, kernel), true), flow);
    scan_close(&s);
    emit->outputs[0] = sequence_of(&s, of_x);
    emit->outputs[1] = carried(&s, flows);
    return LEAT_OK;
}

/* ---- gru ---- */

/* Inputs: x, kernel, bias, h, mask. Outputs: h and z, r, k, p2. */
leat_status leati_emit_gru(leati_emit *emit, leat_error *err) {
    (void)err;
    scan s;
    bool after = leati_emit_bool(emit, "reset_after");
    scan_init(emit, &s, 0, 3, 4);
    if (give_zeros(emit, &s))
        return LEAT_OK;
    leat_shape wide = LEAT_SHAPE(s.batch, 3 * s.units);
    int x = carry_sequence(&s, emit->inputs[0]), kernel = carry(&s, emit->inputs[1]);
    int bias = carry(&s, leati_hlo_broadcast(s.hlo, emit->inputs[2], &wide));
    int state = carry(&s, emit->inputs[3]), states = carry_zeros(&s, emit->inputs[0], 1, true);
    int gates = carry_zeros(&s, emit->inputs[0], 4, true);
    scan_open(&s, false);
    leati_hlo_value before = carried(&s, state), in = step_of(&s, x), by = carried(&s, kernel);
    leati_hlo_value b = carried(&s, bias);
    leati_hlo_value p = product(&s, before, after ? by : columns(&s, by, 0, 2), false);
    leati_hlo_value zr =
        add(&s, add(&s, columns(&s, p, 0, 2), columns(&s, b, 0, 2)), columns(&s, in, 0, 2));
    zr = activate(&s, s.gate, zr);
    leati_hlo_value z = columns(&s, zr, 0, 1), r = columns(&s, zr, 1, 1);
    leati_hlo_value kept =
        after ? add(&s, columns(&s, p, 2, 1), columns(&s, b, 2, 1)) : times(&s, r, before);
    leati_hlo_value k =
        after ? times(&s, r, kept)
              : add(&s, product(&s, kept, columns(&s, by, 2, 1), false), columns(&s, b, 2, 1));
    k = activate(&s, s.activation, add(&s, columns(&s, in, 2, 1), k));
    leati_hlo_value h = add(&s, times(&s, z, before), times(&s, rest(&s, z), k));
    h = where_in(&s, h, before);
    s.next[state] = h;
    put_step(&s, states, h);
    put_step(&s, gates, zero_where_out(&s, join(&s, (leati_hlo_value[]){z, r, k, kept}, 4)));
    scan_close(&s);
    emit->outputs[0] = sequence_of(&s, states);
    emit->outputs[1] = sequence_of(&s, gates);
    return LEAT_OK;
}

/* Inputs: the gradient of h, kernel, the first h, h, gates, mask. */
leat_status leati_emit_gru_grad(leati_emit *emit, leat_error *err) {
    (void)err;
    scan s;
    bool after = leati_emit_bool(emit, "reset_after");
    scan_init(emit, &s, 0, 1, 5);
    if (give_zeros(emit, &s))
        return LEAT_OK;
    int gradient = carry_sequence(&s, emit->inputs[0]), kernel = carry(&s, emit->inputs[1]);
    int states = carry_before(&s, emit->inputs[2], emit->inputs[3]);
    int gates = carry_sequence(&s, emit->inputs[4]);
    int flows = carry_zeros(&s, emit->inputs[0], 1, false);
    int of_x = carry_zeros(&s, emit->inputs[0], 3, true);
    int of_p = carry_zeros(&s, emit->inputs[0], 3, true);
    scan_open(&s, true);
    leati_hlo_value by = carried(&s, kernel), before = step_of(&s, states);
    leati_hlo_value all = step_of(&s, gates), g[4], to[3];
    for (int i = 0; i < 4; i++)
        g[i] = columns(&s, all, i, 1);
    leati_hlo_value came = add(&s, carried(&s, flows), step_of(&s, gradient));
    leati_hlo_value down = leati_hlo_binary(s.hlo, "subtract", before, g[2]);
    to[0] = slope(&s, s.gate, g[0], times(&s, came, down));
    to[2] = slope(&s, s.activation, g[2], times(&s, came, rest(&s, g[0])));
    leati_hlo_value flow = times(&s, came, g[0]), through = to[2];
    if (after) {
        to[1] = times(&s, to[2], g[3]);
        through = times(&s, to[2], g[1]);
    } else {
        leati_hlo_value back = product(&s, to[2], columns(&s, by, 2, 1), true);
        to[1] = times(&s, back, before);
        flow = add(&s, flow, times(&s, back, g[1]));
    }
    to[1] = slope(&s, s.gate, g[1], to[1]);
    put_step(&s, of_x, zero_where_out(&s, join(&s, to, 3)));
    to[2] = through;
    leati_hlo_value p = zero_where_out(&s, join(&s, to, 3));
    put_step(&s, of_p, p);
    leati_hlo_value back = after ? product(&s, p, by, true)
                                 : product(&s, columns(&s, p, 0, 2), columns(&s, by, 0, 2), true);
    s.next[flows] = where_in(&s, add(&s, flow, back), came);
    scan_close(&s);
    emit->outputs[0] = sequence_of(&s, of_x);
    emit->outputs[1] = sequence_of(&s, of_p);
    emit->outputs[2] = carried(&s, flows);
    return LEAT_OK;
}

/* ---- lstm ---- */

/* Inputs: x, kernel, h, c, mask. Outputs: h, c and i, f, k, o. */
leat_status leati_emit_lstm(leati_emit *emit, leat_error *err) {
    (void)err;
    scan s;
    scan_init(emit, &s, 0, 4, 4);
    if (give_zeros(emit, &s))
        return LEAT_OK;
    int x = carry_sequence(&s, emit->inputs[0]), kernel = carry(&s, emit->inputs[1]);
    int h = carry(&s, emit->inputs[2]), c = carry(&s, emit->inputs[3]);
    int states = carry_zeros(&s, emit->inputs[0], 1, true);
    int carries = carry_zeros(&s, emit->inputs[0], 1, true);
    int gates = carry_zeros(&s, emit->inputs[0], 4, true);
    scan_open(&s, false);
    leati_hlo_value h_before = carried(&s, h), c_before = carried(&s, c), g[4];
    leati_hlo_value z = add(&s, product(&s, h_before, carried(&s, kernel), false), step_of(&s, x));
    for (int i = 0; i < 4; i++)
        g[i] = activate(&s, i == 2 ? s.activation : s.gate, columns(&s, z, i, 1));
    leati_hlo_value new_c = add(&s, times(&s, g[1], c_before), times(&s, g[0], g[2]));
    leati_hlo_value new_h = times(&s, g[3], activate(&s, s.activation, new_c));
    s.next[c] = where_in(&s, new_c, c_before);
    s.next[h] = where_in(&s, new_h, h_before);
    put_step(&s, states, s.next[h]);
    put_step(&s, carries, s.next[c]);
    put_step(&s, gates, zero_where_out(&s, join(&s, g, 4)));
    scan_close(&s);
    emit->outputs[0] = sequence_of(&s, states);
    emit->outputs[1] = sequence_of(&s, carries);
    emit->outputs[2] = sequence_of(&s, gates);
    return LEAT_OK;
}

/* Inputs: the gradients of h and c, kernel, the first c, c, gates, mask. */
leat_status leati_emit_lstm_grad(leati_emit *emit, leat_error *err) {
    (void)err;
    scan s;
    scan_init(emit, &s, 0, 1, 6);
    if (give_zeros(emit, &s))
        return LEAT_OK;
    int of_h = carry_sequence(&s, emit->inputs[0]), of_c = carry_sequence(&s, emit->inputs[1]);
    int kernel = carry(&s, emit->inputs[2]);
    int before = carry_before(&s, emit->inputs[3], emit->inputs[4]);
    int carries = carry_sequence(&s, emit->inputs[4]), gates = carry_sequence(&s, emit->inputs[5]);
    int flows_h = carry_zeros(&s, emit->inputs[0], 1, false);
    int flows_c = carry_zeros(&s, emit->inputs[0], 1, false);
    int of_x = carry_zeros(&s, emit->inputs[0], 4, true);
    scan_open(&s, true);
    leati_hlo_value all = step_of(&s, gates), g[4], to[4];
    for (int i = 0; i < 4; i++)
        g[i] = columns(&s, all, i, 1);
    leati_hlo_value came_h = add(&s, carried(&s, flows_h), step_of(&s, of_h));
    leati_hlo_value came_c = add(&s, carried(&s, flows_c), step_of(&s, of_c));
    leati_hlo_value active = activate(&s, s.activation, step_of(&s, carries));
    leati_hlo_value flow =
        add(&s, came_c, slope(&s, s.activation, active, times(&s, came_h, g[3])));
    to[0] = slope(&s, s.gate, g[0], times(&s, flow, g[2]));
    to[1] = slope(&s, s.gate, g[1], times(&s, flow, step_of(&s, before)));
    to[2] = slope(&s, s.activation, g[2], times(&s, flow, g[0]));
    to[3] = slope(&s, s.gate, g[3], times(&s, came_h, active));
    leati_hlo_value x = zero_where_out(&s, join(&s, to, 4));
    put_step(&s, of_x, x);
    s.next[flows_h] = where_in(&s, product(&s, x, carried(&s, kernel), true), came_h);
    s.next[flows_c] = where_in(&s, times(&s, flow, g[1]), came_c);
    scan_close(&s);
    emit->outputs[0] = sequence_of(&s, of_x);
    emit->outputs[1] = carried(&s, flows_h);
    emit->outputs[2] = carried(&s, flows_c);
    return LEAT_OK;
}
