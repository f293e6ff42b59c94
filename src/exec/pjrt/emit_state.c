/* Variables: a program reads what it was given, and gives back what it wrote. */
#include "exec/pjrt/emit.h"

leat_status leati_emit_read(leati_emit *emit, leat_error *err) {
    (void)err;
    emit->outputs[0] = leati_emit_variable_now(emit, "variable");
    return LEAT_OK;
}

leat_status leati_emit_assign(leati_emit *emit, leat_error *err) {
    (void)err;
    leati_emit_variable_set(emit, "variable", emit->inputs[0]);
    return LEAT_OK;
}

leat_status leati_emit_assign_add(leati_emit *emit, leat_error *err) {
    (void)err;
    leati_hlo_value now = leati_emit_variable_now(emit, "variable");
    leati_emit_variable_set(emit, "variable",
                            leati_hlo_binary(&emit->hlo, "add", now, emit->inputs[0]));
    return LEAT_OK;
}

/* ---- replicas ---- */

leat_status leati_emit_same(leati_emit *emit, leat_error *err) {
    (void)err;
    for (int i = 0; i < emit->node->num_outputs; i++)
        emit->outputs[i] = emit->inputs[i];
    return LEAT_OK;
}

leat_status leati_emit_replica(leati_emit *emit, leat_error *err) {
    (void)err;
    emit->outputs[0] = leati_hlo_fill(&emit->hlo, emit->context->replica, leati_emit_dtype(emit, 0),
                                      leati_emit_shape(emit, 0));
    return LEAT_OK;
}

/* ---- optimizers ---- */

static leati_hlo_value number(leati_emit *emit, double number, leati_hlo_value like) {
    return leati_hlo_fill_like(&emit->hlo, number, like);
}

static leati_hlo_value times(leati_emit *emit, leati_hlo_value a, leati_hlo_value b) {
    return leati_hlo_binary(&emit->hlo, "multiply", a, b);
}

/* A scalar as wide as x. */
static leati_hlo_value spread(leati_emit *emit, leati_hlo_value scalar, leati_hlo_value x) {
    leat_shape shape = leati_hlo_shape(&emit->hlo, x);
    return leati_hlo_broadcast(&emit->hlo, scalar, &shape);
}

/* variable -= rate gradient */
leat_status leati_emit_gradient_descent(leati_emit *emit, leat_error *err) {
    (void)err;
    leati_hlo_value variable = leati_emit_variable_now(emit, "variable");
    leati_hlo_value step = times(emit, emit->inputs[0], spread(emit, emit->inputs[1], variable));
    leati_emit_variable_set(emit, "variable",
                            leati_hlo_binary(&emit->hlo, "subtract", variable, step));
    return LEAT_OK;
}

/* slot = momentum slot - rate gradient; variable += slot, or momentum slot - rate gradient. */
leat_status leati_emit_keras_momentum(leati_emit *emit, leat_error *err) {
    (void)err;
    leati_hlo *hlo = &emit->hlo;
    leati_hlo_value variable = leati_emit_variable_now(emit, "variable");
    leati_hlo_value slot = leati_emit_variable_now(emit, "slot");
    leati_hlo_value momentum = number(emit, leati_emit_float(emit, "momentum"), slot);
    leati_hlo_value step = times(emit, emit->inputs[0], spread(emit, emit->inputs[1], variable));
    slot = leati_hlo_binary(hlo, "subtract", times(emit, slot, momentum), step);
    leati_hlo_value move = slot;
    if (leati_emit_bool(emit, "use_nesterov"))
        move = leati_hlo_binary(hlo, "subtract", times(emit, slot, momentum), step);
    leati_emit_variable_set(emit, "slot", slot);
    leati_emit_variable_set(emit, "variable", leati_hlo_binary(hlo, "add", variable, move));
    return LEAT_OK;
}

/* 1 - beta^step, a scalar. */
static leati_hlo_value correction(leati_emit *emit, double beta, leati_hlo_value step) {
    leati_hlo_value one = number(emit, 1, step);
    leati_hlo_value power = leati_hlo_binary(&emit->hlo, "power", number(emit, beta, step), step);
    return leati_hlo_binary(&emit->hlo, "subtract", one, power);
}

/* old + (now - old) (1 - beta) */
static leati_hlo_value moving(leati_emit *emit, leati_hlo_value old, leati_hlo_value now,
                              double beta) {
    leati_hlo_value change = leati_hlo_binary(&emit->hlo, "subtract", now, old);
    change = times(emit, change, number(emit, 1 - beta, old));
    return leati_hlo_binary(&emit->hlo, "add", old, change);
}

/* Inputs: gradient, rate, step, and the gradient's squares, if others count. A step below 1 is not
 * refused on a device. */
leat_status leati_emit_adam(leati_emit *emit, leat_error *err) {
    (void)err;
    leati_hlo *hlo = &emit->hlo;
    double beta_1 = leati_emit_float(emit, "beta_1"), beta_2 = leati_emit_float(emit, "beta_2");
    leati_hlo_value gradient = emit->inputs[0], rate = emit->inputs[1];
    leati_hlo_value step = leati_hlo_convert(hlo, emit->inputs[2], leati_hlo_dtype(hlo, rate));
    leati_hlo_value squares =
        emit->num_inputs > 3 ? emit->inputs[3] : times(emit, gradient, gradient);
    leati_hlo_value variable = leati_emit_variable_now(emit, "variable");
    leati_hlo_value m = moving(emit, leati_emit_variable_now(emit, "momentum"), gradient, beta_1);
    leati_hlo_value v = moving(emit, leati_emit_variable_now(emit, "velocity"), squares, beta_2);
    leati_hlo_value alpha = leati_hlo_unary(hlo, "sqrt", correction(emit, beta_2, step));
    alpha =
        leati_hlo_binary(hlo, "divide", times(emit, rate, alpha), correction(emit, beta_1, step));
    leati_hlo_value below = leati_hlo_binary(hlo, "add", leati_hlo_unary(hlo, "sqrt", v),
                                             number(emit, leati_emit_float(emit, "epsilon"), v));
    leati_hlo_value move =
        leati_hlo_binary(hlo, "divide", times(emit, m, spread(emit, alpha, m)), below);
    leati_emit_variable_set(emit, "momentum", m);
    leati_emit_variable_set(emit, "velocity", v);
    leati_emit_variable_set(emit, "variable", leati_hlo_binary(hlo, "subtract", variable, move));
    return LEAT_OK;
}
