/* Elementwise operations, comparisons and sums as StableHLO.
 *
 * Operands are broadcast to the result's shape first, because StableHLO has no broadcasting of its
 * own. Sums of halves are kept in float32, as the kernels do. */
#include "exec/pjrt/emit.h"

#include "base/error.h"
#include "core/tensor.h"
#include <math.h>
#include <string.h>

static leati_hlo_value wide(leati_emit *emit, int input) {
    return leati_hlo_broadcast(&emit->hlo, emit->inputs[input], leati_emit_shape(emit, 0));
}

leat_status leati_emit_unary(leati_emit *emit, leat_error *err) {
    (void)err;
    emit->outputs[0] = leati_hlo_unary(&emit->hlo, emit->text, emit->inputs[0]);
    return LEAT_OK;
}

/* Of integers nothing is to be done. */
leat_status leati_emit_round(leati_emit *emit, leat_error *err) {
    if (leati_emit_input_dtype(emit, 0) >= LEAT_FLOAT16)
        return leati_emit_unary(emit, err);
    emit->outputs[0] = emit->inputs[0];
    return LEAT_OK;
}

/* Complex numbers have a real one. */
leat_status leati_emit_abs(leati_emit *emit, leat_error *err) {
    (void)err;
    emit->outputs[0] = leati_hlo_add(&emit->hlo, emit->text, emit->inputs, 1, NULL, NULL,
                                     leati_emit_dtype(emit, 0), leati_emit_shape(emit, 0));
    return LEAT_OK;
}

leat_status leati_emit_test(leati_emit *emit, leat_error *err) {
    (void)err;
    emit->outputs[0] = leati_hlo_add(&emit->hlo, emit->text, emit->inputs, 1, NULL, NULL, LEAT_BOOL,
                                     leati_emit_shape(emit, 0));
    return LEAT_OK;
}

leat_status leati_emit_binary(leati_emit *emit, leat_error *err) {
    (void)err;
    emit->outputs[0] = leati_hlo_binary(&emit->hlo, emit->text, wide(emit, 0), wide(emit, 1));
    return LEAT_OK;
}

leat_status leati_emit_compare(leati_emit *emit, leat_error *err) {
    (void)err;
    emit->outputs[0] = leati_hlo_compare(&emit->hlo, emit->text, wide(emit, 0), wide(emit, 1));
    return LEAT_OK;
}

/* ---- sums ---- */

/* What a fold starts from. */
static double neutral(const char *fold) {
    if (strcmp(fold, "multiply") == 0 || strcmp(fold, "and") == 0)
        return 1;
    if (strcmp(fold, "maximum") != 0 && strcmp(fold, "minimum") != 0)
        return 0;
    /* Of integers, the end of the range. */
    return strcmp(fold, "maximum") == 0 ? -INFINITY : INFINITY;
}

static leati_hlo_value fold(leati_emit *emit, const char *name) {
    leati_hlo_value x = leati_emit_single(emit, emit->inputs[0]);
    leat_shape shape = leati_emit_input_shape(emit, 0);
    return leati_hlo_reduce(&emit->hlo, name, x, neutral(name),
                            leati_emit_axes(emit, "axis", shape.rank),
                            leati_emit_bool(emit, "keepdims"));
}

leat_status leati_emit_reduce(leati_emit *emit, leat_error *err) {
    (void)err;
    emit->outputs[0] = fold(emit, emit->text);
    return LEAT_OK;
}

leat_status leati_emit_reduce_mean(leati_emit *emit, leat_error *err) {
    leat_shape shape = leati_emit_input_shape(emit, 0);
    uint32_t axes = leati_emit_axes(emit, "axis", shape.rank);
    leat_dtype dtype = leati_emit_input_dtype(emit, 0);
    double count = 1;
    if (dtype < LEAT_FLOAT16)
        return leati_emit_lacks(emit, "the mean of integers", err);
    for (int32_t d = 0; d < shape.rank; d++)
        count *= axes >> d & 1 ? (double)shape.dims[d] : 1;
    leati_hlo_value sum = fold(emit, "add");
    emit->outputs[0] =
        leati_hlo_binary(&emit->hlo, "divide", sum, leati_hlo_fill_like(&emit->hlo, count, sum));
    return LEAT_OK;
}

/* ---- composed ---- */

leat_status leati_emit_square(leati_emit *emit, leat_error *err) {
    (void)err;
    emit->outputs[0] = leati_hlo_binary(&emit->hlo, "multiply", emit->inputs[0], emit->inputs[0]);
    return LEAT_OK;
}

leat_status leati_emit_reciprocal(leati_emit *emit, leat_error *err) {
    (void)err;
    leati_hlo_value x = emit->inputs[0];
    emit->outputs[0] =
        leati_hlo_binary(&emit->hlo, "divide", leati_hlo_fill_like(&emit->hlo, 1, x), x);
    return LEAT_OK;
}

leat_status leati_emit_is_nan(leati_emit *emit, leat_error *err) {
    (void)err;
    emit->outputs[0] = leati_hlo_compare(&emit->hlo, "NE", emit->inputs[0], emit->inputs[0]);
    return LEAT_OK;
}

leat_status leati_emit_is_inf(leati_emit *emit, leat_error *err) {
    (void)err;
    leati_hlo_value x = leati_hlo_unary(&emit->hlo, "abs", emit->inputs[0]);
    emit->outputs[0] =
        leati_hlo_compare(&emit->hlo, "EQ", x, leati_hlo_fill_like(&emit->hlo, INFINITY, x));
    return LEAT_OK;
}

leat_status leati_emit_squared_difference(leati_emit *emit, leat_error *err) {
    (void)err;
    leati_hlo_value x = leati_hlo_binary(&emit->hlo, "subtract", wide(emit, 0), wide(emit, 1));
    emit->outputs[0] = leati_hlo_binary(&emit->hlo, "multiply", x, x);
    return LEAT_OK;
}

/* x by y, 0 where `of` is 0: divide_no_nan looks at y, multiply_no_nan at y, too. */
leat_status leati_emit_no_nan(leati_emit *emit, leat_error *err) {
    (void)err;
    leati_hlo *hlo = &emit->hlo;
    leati_hlo_value x = wide(emit, 0), y = wide(emit, 1), zero = leati_hlo_fill_like(hlo, 0, y);
    emit->outputs[0] = leati_hlo_select(hlo, leati_hlo_compare(hlo, "EQ", y, zero), zero,
                                        leati_hlo_binary(hlo, emit->text, x, y));
    return LEAT_OK;
}

/* x f(y), 0 where x is 0; of xdivy x / y. */
leat_status leati_emit_xlogy(leati_emit *emit, leat_error *err) {
    (void)err;
    leati_hlo *hlo = &emit->hlo;
    leati_hlo_value x = wide(emit, 0), y = wide(emit, 1), zero = leati_hlo_fill_like(hlo, 0, x);
    leati_hlo_value out =
        strcmp(emit->text, "divide") == 0
            ? leati_hlo_binary(hlo, "divide", x, y)
            : leati_hlo_binary(hlo, "multiply", x, leati_hlo_unary(hlo, emit->text, y));
    emit->outputs[0] = leati_hlo_select(hlo, leati_hlo_compare(hlo, "EQ", x, zero), zero, out);
    return LEAT_OK;
}

leat_status leati_emit_clip(leati_emit *emit, leat_error *err) {
    (void)err;
    leati_hlo_value x = leati_hlo_binary(&emit->hlo, "minimum", wide(emit, 0), wide(emit, 2));
    emit->outputs[0] = leati_hlo_binary(&emit->hlo, "maximum", x, wide(emit, 1));
    return LEAT_OK;
}

leat_status leati_emit_add_n(leati_emit *emit, leat_error *err) {
    (void)err;
    leati_hlo_value sum = emit->inputs[0];
    for (int i = 1; i < emit->num_inputs; i++)
        sum = leati_hlo_binary(&emit->hlo, "add", sum, emit->inputs[i]);
    emit->outputs[0] = sum;
    return LEAT_OK;
}

/* Division towards minus infinity, and what remains. A device cannot fail: an integer by 0 is what
 * it makes of it. */
leat_status leati_emit_floor_division(leati_emit *emit, leat_error *err) {
    (void)err;
    leati_hlo *hlo = &emit->hlo;
    leati_hlo_value x = wide(emit, 0), y = wide(emit, 1), zero = leati_hlo_fill_like(hlo, 0, y);
    bool rest = strcmp(emit->text, "rest") == 0, floats = leati_hlo_dtype(hlo, x) >= LEAT_FLOAT16;
    leati_hlo_value remainder = leati_hlo_binary(hlo, "remainder", x, y);
    /* The remainder has the sign of x: where that is not y's one y is missing. */
    leati_hlo_value other =
        leati_hlo_compare(hlo, "NE", leati_hlo_compare(hlo, "LT", remainder, zero),
                          leati_hlo_compare(hlo, "LT", y, zero));
    leati_hlo_value off =
        leati_hlo_binary(hlo, "and", other, leati_hlo_compare(hlo, "NE", remainder, zero));
    if (rest)
        emit->outputs[0] =
            leati_hlo_select(hlo, off, leati_hlo_binary(hlo, "add", remainder, y), remainder);
    else if (floats)
        emit->outputs[0] = leati_hlo_unary(hlo, "floor", leati_hlo_binary(hlo, "divide", x, y));
    else
        emit->outputs[0] = leati_hlo_binary(hlo, "subtract", leati_hlo_binary(hlo, "divide", x, y),
                                            leati_hlo_convert(hlo, off, leati_hlo_dtype(hlo, x)));
    return LEAT_OK;
}

/* A quotient towards zero. */
leat_status leati_emit_truncate(leati_emit *emit, leat_error *err) {
    (void)err;
    leati_hlo *hlo = &emit->hlo;
    leati_hlo_value x = leati_hlo_binary(hlo, "divide", wide(emit, 0), wide(emit, 1));
    if (leati_hlo_dtype(hlo, x) >= LEAT_FLOAT16)
        x = leati_hlo_select(hlo, leati_hlo_compare(hlo, "LT", x, leati_hlo_fill_like(hlo, 0, x)),
                             leati_hlo_unary(hlo, "ceil", x), leati_hlo_unary(hlo, "floor", x));
    emit->outputs[0] = x;
    return LEAT_OK;
}

leat_status leati_emit_reduce_squares(leati_emit *emit, leat_error *err) {
    (void)err;
    leati_hlo_value x = emit->inputs[0];
    leat_shape shape = leati_emit_input_shape(emit, 0);
    x = leati_hlo_binary(&emit->hlo, "multiply", x, x);
    emit->outputs[0] =
        leati_hlo_reduce(&emit->hlo, "add", x, 0, leati_emit_axes(emit, "axis", shape.rank),
                         leati_emit_bool(emit, "keepdims"));
    return LEAT_OK;
}

/* Down to the shape of the second input, which broadcasts to the first's. */
leat_status leati_emit_sum_like(leati_emit *emit, leat_error *err) {
    (void)err;
    leati_hlo_value x = leati_emit_single(emit, emit->inputs[0]);
    emit->outputs[0] = leati_hlo_sum_to(&emit->hlo, x, leati_emit_shape(emit, 0));
    return LEAT_OK;
}

/* How many values are not 0. */
leat_status leati_emit_count_nonzero(leati_emit *emit, leat_error *err) {
    (void)err;
    leati_hlo *hlo = &emit->hlo;
    leati_hlo_value x = emit->inputs[0];
    x = leati_hlo_compare(hlo, "NE", x, leati_hlo_fill_like(hlo, 0, x));
    x = leati_hlo_convert(hlo, x, LEAT_INT64);
    int32_t rank = leati_emit_input_shape(emit, 0).rank;
    emit->outputs[0] = leati_hlo_reduce(hlo, "add", x, 0, leati_emit_axes(emit, "axis", rank),
                                        leati_emit_bool(emit, "keepdims"));
    return LEAT_OK;
}

/* A shift outside the width of the dtype is the nearest inside. */
leat_status leati_emit_shift(leati_emit *emit, leat_error *err) {
    (void)err;
    leati_hlo *hlo = &emit->hlo;
    const leat_shape *shape = leati_emit_shape(emit, 0);
    leat_dtype dtype = leati_emit_dtype(emit, 0);
    bool is_signed = dtype >= LEAT_INT8 && dtype <= LEAT_INT64, left = emit->text[6] == 'l';
    leati_hlo_value x = leati_hlo_broadcast(hlo, emit->inputs[0], shape);
    leati_hlo_value by = leati_hlo_broadcast(hlo, emit->inputs[1], shape);
    double widest = (double)(8 * leat_dtype_size(dtype) - 1);
    by = leati_hlo_binary(hlo, "maximum", by, leati_hlo_fill_like(hlo, 0, by));
    by = leati_hlo_binary(hlo, "minimum", by, leati_hlo_fill_like(hlo, widest, by));
    const char *name = left        ? "shift_left"
                       : is_signed ? "shift_right_arithmetic"
                                   : "shift_right_logical";
    emit->outputs[0] = leati_hlo_binary(hlo, name, x, by);
    return LEAT_OK;
}

leat_status leati_emit_bitcast(leati_emit *emit, leat_error *err) {
    leat_dtype from = leati_emit_input_dtype(emit, 0), to = leati_emit_dtype(emit, 0);
    if (leati_dtype_is_complex(from) || leati_dtype_is_complex(to))
        return leati_emit_lacks(emit, "the bytes of complex numbers", err);
    emit->outputs[0] = leati_hlo_add(&emit->hlo, "bitcast_convert", emit->inputs, 1, NULL, NULL, to,
                                     leati_emit_shape(emit, 0));
    return LEAT_OK;
}
