/* Operations of neural networks as StableHLO, but for convolutions and pooling. */
#include "exec/pjrt/emit.h"

#include "base/error.h"
#include <math.h>
#include <string.h>

/* ---- activations ---- */

leat_status leati_emit_relu(leati_emit *emit, leat_error *err) {
    (void)err;
    leati_hlo *hlo = &emit->hlo;
    leati_hlo_value x = emit->inputs[0], zero = leati_hlo_fill_like(hlo, 0, x);
    /* A comparison with NaN is false, so that it comes through. */
    x = leati_hlo_select(hlo, leati_hlo_compare(hlo, "LT", x, zero), zero, x);
    if (emit->text[0] == '6') {
        leati_hlo_value six = leati_hlo_fill_like(hlo, 6, x);
        x = leati_hlo_select(hlo, leati_hlo_compare(hlo, "GT", x, six), six, x);
    }
    emit->outputs[0] = x;
    return LEAT_OK;
}

leat_status leati_emit_relu_grad(leati_emit *emit, leat_error *err) {
    (void)err;
    leati_hlo *hlo = &emit->hlo;
    const leat_shape *shape = leati_emit_shape(emit, 0);
    leati_hlo_value gradient = leati_hlo_broadcast(hlo, emit->inputs[0], shape);
    leati_hlo_value features = leati_hlo_broadcast(hlo, emit->inputs[1], shape);
    leati_hlo_value zero = leati_hlo_fill_like(hlo, 0, features);
    emit->outputs[0] = leati_hlo_select(hlo, leati_hlo_compare(hlo, "GT", features, zero), gradient,
                                        leati_hlo_fill_like(hlo, 0, gradient));
    return LEAT_OK;
}

leat_status leati_emit_elu(leati_emit *emit, leat_error *err) {
    (void)err;
    leati_hlo *hlo = &emit->hlo;
    leati_hlo_value x = emit->inputs[0], zero = leati_hlo_fill_like(hlo, 0, x);
    emit->outputs[0] = leati_hlo_select(hlo, leati_hlo_compare(hlo, "GT", x, zero), x,
                                        leati_hlo_unary(hlo, "exponential_minus_one", x));
    return LEAT_OK;
}

/* max(x, 0) + log1p(exp(-|x|)) */
leat_status leati_emit_softplus(leati_emit *emit, leat_error *err) {
    (void)err;
    leati_hlo *hlo = &emit->hlo;
    leati_hlo_value x = emit->inputs[0], zero = leati_hlo_fill_like(hlo, 0, x);
    leati_hlo_value tail = leati_hlo_unary(hlo, "negate", leati_hlo_unary(hlo, "abs", x));
    tail = leati_hlo_unary(hlo, "log_plus_one", leati_hlo_unary(hlo, "exponential", tail));
    emit->outputs[0] =
        leati_hlo_binary(hlo, "add", leati_hlo_binary(hlo, "maximum", x, zero), tail);
    return LEAT_OK;
}

/* The bias along the last dimension. */
leat_status leati_emit_bias_add(leati_emit *emit, leat_error *err) {
    (void)err;
    leati_hlo_value bias =
        leati_hlo_broadcast(&emit->hlo, emit->inputs[1], leati_emit_shape(emit, 0));
    emit->outputs[0] = leati_hlo_binary(&emit->hlo, "add", emit->inputs[0], bias);
    return LEAT_OK;
}

/* ---- softmax ---- */

/* x without its maximum along the last dimension, and the sum of its exponentials, wide as x. */
static void shift_line(leati_hlo *hlo, leati_hlo_value x, leati_hlo_value *shifted,
                       leati_hlo_value *exponentials, leati_hlo_value *sum) {
    leat_shape shape = leati_hlo_shape(hlo, x);
    uint32_t last = UINT32_C(1) << (shape.rank - 1);
    leati_hlo_value most = leati_hlo_reduce(hlo, "maximum", x, -INFINITY, last, true);
    *shifted = leati_hlo_binary(hlo, "subtract", x, leati_hlo_broadcast(hlo, most, &shape));
    *exponentials = leati_hlo_unary(hlo, "exponential", *shifted);
    *sum = leati_hlo_reduce(hlo, "add", *exponentials, 0, last, true);
}

leat_status leati_emit_softmax(leati_emit *emit, leat_error *err) {
    (void)err;
    leati_hlo *hlo = &emit->hlo;
    leat_shape shape = leati_emit_input_shape(emit, 0);
    leati_hlo_value shifted, exponentials, sum;
    shift_line(hlo, emit->inputs[0], &shifted, &exponentials, &sum);
    if (emit->text[0] == 'l') {
        sum = leati_hlo_broadcast(hlo, leati_hlo_unary(hlo, "log", sum), &shape);
        emit->outputs[0] = leati_hlo_binary(hlo, "subtract", shifted, sum);
    } else {
        sum = leati_hlo_broadcast(hlo, sum, &shape);
        emit->outputs[0] = leati_hlo_binary(hlo, "divide", exponentials, sum);
    }
    return LEAT_OK;
}

/* Labels, logits. Labels outside of the classes cannot fail on a device: their loss is NaN, as
 * TensorFlow's is on a GPU. */
leat_status leati_emit_sparse_softmax(leati_emit *emit, leat_error *err) {
    (void)err;
    leati_hlo *hlo = &emit->hlo;
    leat_shape wide = leati_emit_input_shape(emit, 1);
    leat_dtype dtype = leati_emit_input_dtype(emit, 0);
    leati_hlo_value shifted, exponentials, sum, labels = emit->inputs[0];
    uint32_t last = UINT32_C(1) << (wide.rank - 1);
    int64_t axes[LEAT_MAX_RANK];
    for (int32_t d = 0; d < wide.rank - 1; d++)
        axes[d] = d;
    shift_line(hlo, emit->inputs[1], &shifted, &exponentials, &sum);
    leati_hlo_value classes = leati_hlo_iota(hlo, dtype, &wide, wide.rank - 1);
    leati_hlo_value hot =
        leati_hlo_compare(hlo, "EQ", classes, leati_hlo_broadcast_in(hlo, labels, &wide, axes));
    leati_hlo_value zero = leati_hlo_fill_like(hlo, 0, shifted);
    leati_hlo_value chosen =
        leati_hlo_reduce(hlo, "add", leati_hlo_select(hlo, hot, shifted, zero), 0, last, false);
    const leat_shape *lines = leati_emit_shape(emit, 0);
    leati_hlo_value loss = leati_hlo_binary(
        hlo, "subtract", leati_hlo_reshape(hlo, leati_hlo_unary(hlo, "log", sum), lines), chosen);
    leati_hlo_value below =
        leati_hlo_compare(hlo, "LT", labels, leati_hlo_fill_like(hlo, 0, labels));
    leati_hlo_value above = leati_hlo_compare(
        hlo, "GE", labels, leati_hlo_fill_like(hlo, (double)wide.dims[wide.rank - 1], labels));
    emit->outputs[0] = leati_hlo_select(hlo, leati_hlo_binary(hlo, "or", below, above),
                                        leati_hlo_fill_like(hlo, NAN, loss), loss);
    leati_hlo_value softmax =
        leati_hlo_binary(hlo, "divide", exponentials, leati_hlo_broadcast(hlo, sum, &wide));
    emit->outputs[1] =
        leati_hlo_binary(hlo, "subtract", softmax,
                         leati_hlo_select(hlo, hot, leati_hlo_fill_like(hlo, 1, softmax), zero));
    return LEAT_OK;
}

/* ---- normalisation ---- */

static uint32_t all_but_last(const leat_shape *shape) {
    return (UINT32_C(1) << (shape->rank - 1)) - 1;
}

static double values_of_channel(const leat_shape *shape) {
    double count = 1;
    for (int32_t d = 0; d < shape->rank - 1; d++)
        count *= (double)shape->dims[d];
    return count;
}

/* 1 / sqrt(variance + epsilon) */
static leati_hlo_value inverse_deviation(leati_emit *emit, leati_hlo_value variance) {
    leati_hlo *hlo = &emit->hlo;
    leati_hlo_value epsilon = leati_hlo_fill_like(hlo, leati_emit_float(emit, "epsilon"), variance);
    return leati_hlo_unary(hlo, "rsqrt", leati_hlo_binary(hlo, "add", variance, epsilon));
}

/* Over all dimensions but the last. */
static leati_hlo_value mean_of(leati_hlo *hlo, leati_hlo_value x, uint32_t axes) {
    leat_shape shape = leati_hlo_shape(hlo, x);
    leati_hlo_value sum = leati_hlo_reduce(hlo, "add", x, 0, axes, false);
    return leati_hlo_binary(hlo, "divide", sum,
                            leati_hlo_fill_like(hlo, values_of_channel(&shape), sum));
}

leat_status leati_emit_batch_norm(leati_emit *emit, leat_error *err) {
    (void)err;
    leati_hlo *hlo = &emit->hlo;
    leat_shape shape = leati_emit_input_shape(emit, 0);
    uint32_t axes = all_but_last(&shape);
    leati_hlo_value x = emit->inputs[0];
    leati_hlo_value mean = mean_of(hlo, x, axes), centred;
    /* A sum of large numbers is off by a multiple of their rounding; that of what is left is not.
     */
    centred = leati_hlo_binary(hlo, "subtract", x, leati_hlo_broadcast(hlo, mean, &shape));
    mean = leati_hlo_binary(hlo, "add", mean, mean_of(hlo, centred, axes));
    centred = leati_hlo_binary(hlo, "subtract", x, leati_hlo_broadcast(hlo, mean, &shape));
    leati_hlo_value squares = leati_hlo_binary(hlo, "multiply", centred, centred);
    leati_hlo_value variance = mean_of(hlo, squares, axes);
    leati_hlo_value scale =
        leati_hlo_binary(hlo, "multiply", inverse_deviation(emit, variance), emit->inputs[1]);
    leati_hlo_value scaled =
        leati_hlo_binary(hlo, "multiply", centred, leati_hlo_broadcast(hlo, scale, &shape));
    emit->outputs[0] =
        leati_hlo_binary(hlo, "add", scaled, leati_hlo_broadcast(hlo, emit->inputs[2], &shape));
    emit->outputs[1] = mean;
    emit->outputs[2] = variance;
    return LEAT_OK;
}

/* With r = 1 / sqrt(variance + epsilon) and h = (x - mean) r: beta's is sum g, gamma's sum g h, and
 * x's gamma r (g - sum g / n - h sum (g h) / n). */
leat_status leati_emit_batch_norm_grad(leati_emit *emit, leat_error *err) {
    (void)err;
    leati_hlo *hlo = &emit->hlo;
    leat_shape shape = leati_emit_input_shape(emit, 0);
    uint32_t axes = all_but_last(&shape);
    leati_hlo_value g = emit->inputs[0], x = emit->inputs[1], gamma = emit->inputs[2];
    leati_hlo_value r = inverse_deviation(emit, emit->inputs[4]);
    leati_hlo_value centred =
        leati_hlo_binary(hlo, "subtract", x, leati_hlo_broadcast(hlo, emit->inputs[3], &shape));
    leati_hlo_value h =
        leati_hlo_binary(hlo, "multiply", centred, leati_hlo_broadcast(hlo, r, &shape));
    leati_hlo_value sum = leati_hlo_reduce(hlo, "add", g, 0, axes, false);
    leati_hlo_value sum_h =
        leati_hlo_reduce(hlo, "add", leati_hlo_binary(hlo, "multiply", g, h), 0, axes, false);
    leati_hlo_value count = leati_hlo_fill_like(hlo, values_of_channel(&shape), sum);
    leati_hlo_value part = leati_hlo_binary(
        hlo, "subtract", g,
        leati_hlo_broadcast(hlo, leati_hlo_binary(hlo, "divide", sum, count), &shape));
    leati_hlo_value of_h =
        leati_hlo_broadcast(hlo, leati_hlo_binary(hlo, "divide", sum_h, count), &shape);
    part = leati_hlo_binary(hlo, "subtract", part, leati_hlo_binary(hlo, "multiply", h, of_h));
    leati_hlo_value scale = leati_hlo_binary(hlo, "multiply", gamma, r);
    emit->outputs[0] =
        leati_hlo_binary(hlo, "multiply", part, leati_hlo_broadcast(hlo, scale, &shape));
    emit->outputs[1] = sum_h;
    emit->outputs[2] = sum;
    return LEAT_OK;
}
