/* Numbers as they would be in a few bits, put together of elementwise operations: fake_quant with
 * bounds that are attributes or scalars, and its gradients.
 *
 * They follow the plain kernels step by step. Bounds of channels are not there: XLA multiplies by
 * them in another order, which moves a number in the middle of two. No failures of their own, no
 * state. */
#include "exec/pjrt/emit_compose.h"

#include "base/error.h"
#include "core/spec.h"
#include <float.h>
#include <math.h>

/* The bounds, moved so that 0 is a number between them; the numbers' distance and its reciprocal;
 * the place of 0. */
typedef struct limits {
    leat_value low, high, scale, steps, zero;
} limits;

static leat_value number(leat_value like, double x) {
    return leati_emit_number_like(like, x);
}

/* Halves away from zero of numbers that are not negative. */
static leat_value rounded(leat_value x) {
    leat_value whole = leat_op_floor(x);
    leat_value up = leat_op_greater_equal(leat_op_subtract(x, whole), number(x, 0.5));
    return leat_op_add(whole, leat_op_cast(up, LEAT_FLOAT32));
}

/* Bounds of 0 are no range: everything becomes 0, and gradients pass. */
static leat_value or_none(leat_value none, leat_value x, double otherwise) {
    return leat_op_select(none, number(x, otherwise), x);
}

static limits limits_of(const leati_emit *emit, leat_value min, leat_value max) {
    double first = leati_emit_bool(emit, "narrow_range") ? 1 : 0;
    double last = ldexp(1, (int)leati_emit_int(emit, "num_bits")) - 1;
    leat_value none =
        leat_op_logical_and(leat_op_equal(min, number(min, 0)), leat_op_equal(max, number(max, 0)));
    leat_value scale = leat_op_divide(leat_op_subtract(max, min), number(min, last - first));
    leat_value zero = leat_op_subtract(number(min, first), leat_op_divide(min, scale));
    zero = rounded(leat_op_clip_by_value(zero, number(min, first), number(min, last)));
    limits out = {.scale = scale, .steps = leat_op_reciprocal(scale)};
    out.low = leat_op_multiply(leat_op_subtract(number(min, first), zero), scale);
    out.high = leat_op_multiply(leat_op_subtract(number(min, last), zero), scale);
    out.zero = leat_op_floor(
        leat_op_add(leat_op_negate(leat_op_multiply(out.low, out.steps)), number(min, 0.5)));
    out.low = or_none(none, out.low, -(double)FLT_MAX);
    out.high = or_none(none, out.high, (double)FLT_MAX);
    out.scale = or_none(none, out.scale, 0);
    out.steps = or_none(none, out.steps, 0);
    out.zero = or_none(none, out.zero, 0);
    return out;
}

/* Of the values behind x, or of the attributes. */
static limits find_limits(const leati_emit *emit, const leat_value *x) {
    if (leati_emit_attribute(emit, "min") == NULL)
        return limits_of(emit, x[1], x[2]);
    return limits_of(emit, number(x[0], leati_emit_float(emit, "min")),
                     number(x[0], leati_emit_float(emit, "max")));
}

static void build_fake_quant(const leati_emit *emit, const leat_value *in, leat_value *out) {
    limits l = find_limits(emit, in);
    leat_value x = leat_op_select(leat_op_greater(in[0], l.high), l.high, in[0]);
    x = leat_op_select(leat_op_less(x, l.low), l.low, x);
    x = leat_op_multiply(leat_op_subtract(x, l.low), l.steps);
    x = leat_op_floor(leat_op_add(leat_op_subtract(x, l.zero), number(x, 0.5)));
    out[0] = leat_op_multiply(x, l.scale);
}
LEATI_EMIT_COMPOSED(fake_quant)

/* Inputs: gradients, values, bounds. What lies beyond a bound flows to that. */
static void build_fake_quant_back(const leati_emit *emit, const leat_value *in, leat_value *out) {
    limits l = find_limits(emit, in + 1);
    leat_value zero = number(in[0], 0);
    leat_value below = leat_op_less(in[1], l.low), above = leat_op_greater(in[1], l.high);
    leat_value inside =
        leat_op_logical_and(leat_op_greater_equal(in[1], l.low), leat_op_less_equal(in[1], l.high));
    out[0] = leat_op_select(inside, in[0], zero);
    if (emit->node->num_outputs == 1)
        return;
    out[1] = leat_op_sum_like(leat_op_select(below, in[0], zero), in[2]);
    out[2] = leat_op_sum_like(leat_op_select(above, in[0], zero), in[3]);
}
LEATI_EMIT_COMPOSED(fake_quant_back)
