/* igamma, igammac, igamma_grad_a, betainc: the regularised incomplete gamma functions of floats,
 * the derivative of the lower one by a, and the regularised incomplete beta function
 * (tf.math.igamma and so on).
 *
 * By power series, or where these converge slowly by continued fractions, in double; the derivative
 * by a differentiates them term by term. NaN outside of a > 0, b > 0 and x's range. As in
 * TensorFlow a gradient flows to x alone of betainc, and through igamma_grad_a none. They fail in
 * inference where dtypes differ or shapes do not broadcast. No state, no locks. */
#include "graph/support/math/elementwise.h"

/* A number and its derivative by a. */
typedef struct dual {
    double value, slope;
} dual;

enum { MOST_STEPS = 20000 };

LEATI_ALWAYS_INLINE double lgamma_of(double x) {
    int sign = 0;
    return lgamma_r(x, &sign); /* lgamma writes a global */
}

/* The derivative of lgamma where x > 0: the asymptotic series behind x = 10. */
static double digamma_of(double x) {
    double below = 0;
    for (; x < 10; x++)
        below -= 1 / x;
    double square = 1 / (x * x);
    return below + log(x) - 0.5 / x -
           square * (1.0 / 12 - square * (1.0 / 120 - square * (1.0 / 252 - square / 240)));
}

/* How far a result goes: to a relative change per step, with the derivative or without. */
typedef struct reach {
    double change;
    bool slope;
} reach;

static const reach of_float = {1e-9, false}, of_double = {1e-16, false}, of_slope = {1e-16, true};

/* x^a e^-x / gamma(a). */
LEATI_ALWAYS_INLINE dual factor_of(double a, double x, reach r) {
    double value = exp(a * log(x) - x - lgamma_of(a));
    return (dual){value, r.slope ? value * (log(x) - digamma_of(a)) : 0};
}

/* The lower function's power series. Inlined with what r.slope is, as its half of the work falls
 * away where that is false. */
LEATI_ALWAYS_INLINE dual lower_series(double a, double x, reach r) {
    dual factor = factor_of(a, x, r), term = {1 / a, -1 / (a * a)}, sum = term;
    for (int k = 1; k < MOST_STEPS; k++) {
        double below = a + k, ratio = x / below;
        if (r.slope)
            term.slope = term.slope * ratio - term.value * ratio / below;
        term.value *= ratio;
        sum.value += term.value;
        sum.slope += term.slope;
        /* Terms fall faster than the rest they leave. */
        if (term.value < sum.value * r.change / 10 &&
            (!r.slope || fabs(term.slope) < fabs(sum.slope) * r.change / 10))
            break;
    }
    return (dual){factor.value * sum.value, factor.slope * sum.value + factor.value * sum.slope};
}

/* The upper function's continued fraction, by its convergents p / q and their derivatives. */
LEATI_ALWAYS_INLINE dual upper_fraction(double a, double x, reach r) {
    dual factor = factor_of(a, x, r), found = {0};
    dual p0 = {0, 0}, q0 = {1, 0}, p1 = {1, 0}, q1 = {x + 1 - a, -1};
    for (int k = 1; k < MOST_STEPS; k++) {
        double b = x + 1 - a + 2.0 * k, c = -k * (k - a);
        dual p = {b * p1.value + c * p0.value, 0}, q = {b * q1.value + c * q0.value, 0};
        if (r.slope) {
            p.slope = b * p1.slope - p1.value + c * p0.slope + k * p0.value;
            q.slope = b * q1.slope - q1.value + c * q0.slope + k * q0.value;
        }
        double scale = 1 / q.value, before = found.value, slope_before = found.slope;
        p0 = (dual){p1.value * scale, p1.slope * scale};
        q0 = (dual){q1.value * scale, q1.slope * scale};
        p1 = (dual){p.value * scale, p.slope * scale};
        q1 = (dual){1, q.slope * scale};
        found.value = p1.value;
        found.slope = p1.slope - p1.value * q1.slope;
        if (fabs(found.value - before) <= fabs(found.value) * r.change &&
            (!r.slope || fabs(found.slope - slope_before) <= fabs(found.slope) * r.change))
            break;
    }
    return (dual){factor.value * found.value,
                  factor.slope * found.value + factor.value * found.slope};
}

LEATI_ALWAYS_INLINE bool is_outside(double a, double x) {
    return isnan(a) || isnan(x) || a <= 0 || isinf(a) || x < 0;
}

LEATI_ALWAYS_INLINE double lower_gamma(double a, double x, reach r) {
    /* As in TensorFlow, whatever a is. */
    if (x == 0)
        return 0;
    if (is_outside(a, x))
        return isinf(a) && a > 0 && x >= 0 ? (isinf(x) ? NAN : 0) : NAN;
    if (isinf(x))
        return 1;
    return x < a + 1 ? lower_series(a, x, r).value : 1 - upper_fraction(a, x, r).value;
}

LEATI_ALWAYS_INLINE double upper_gamma(double a, double x, reach r) {
    if (is_outside(a, x))
        return isinf(a) && a > 0 && x >= 0 ? (isinf(x) ? NAN : 1) : NAN;
    if (x == 0 || isinf(x))
        return x == 0 ? 1 : 0;
    return x < a + 1 ? 1 - lower_series(a, x, r).value : upper_fraction(a, x, r).value;
}

LEATI_ALWAYS_INLINE double lower_gamma_slope(double a, double x, reach r) {
    if (is_outside(a, x))
        return NAN;
    if (x == 0 || isinf(x))
        return 0;
    return x < a + 1 ? lower_series(a, x, r).slope : -upper_fraction(a, x, r).slope;
}

/* The continued fraction of the incomplete beta function, by Lentz' way. */
static double beta_fraction(double a, double b, double x, reach r) {
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < tiny ? tiny : d);
    double h = d;
    for (int m = 1; m < MOST_STEPS; m++) {
        double steps[2] = {m * (b - m) * x / ((a + 2.0 * m - 1) * (a + 2.0 * m)),
                           -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1))};
        double change = 1;
        for (int i = 0; i < 2; i++) {
            d = 1 + steps[i] * d;
            d = 1 / (fabs(d) < tiny ? tiny : d);
            c = 1 + steps[i] / c;
            c = fabs(c) < tiny ? tiny : c;
            change = c * d;
            h *= change;
        }
        if (fabs(change - 1) < r.change)
            break;
    }
    return h;
}

static double incomplete_beta(double a, double b, double x, reach r) {
    if (isnan(a) || isnan(b) || isnan(x) || a <= 0 || b <= 0 || x < 0 || x > 1)
        return NAN;
    if (x == 0 || x == 1)
        return x;
    double factor =
        exp(lgamma_of(a + b) - lgamma_of(a) - lgamma_of(b) + a * log(x) + b * log1p(-x));
    /* On the other side of the middle, b and 1 - x change places with a and x. */
    return x < (a + 1) / (a + b + 2) ? factor * beta_fraction(a, b, x, r) / a
                                     : 1 - factor * beta_fraction(b, a, 1 - x, r) / b;
}

/* ---- kernels ---- */
#define GAMMA(OP, FUNCTION, FLOAT32, FLOAT64)                                                      \
    LEATI_LANE2(OP##_float32, float, float, float, (float)FUNCTION((double)x, (double)y, FLOAT32)) \
    LEATI_LANE2(OP##_float64, double, double, double, FUNCTION(x, y, FLOAT64))                     \
    LEATI_ELEMENTWISE_SLOW(OP, 100, [LEAT_FLOAT32] = OP##_float32, [LEAT_FLOAT64] = OP##_float64)
GAMMA(igamma, lower_gamma, of_float, of_double)
GAMMA(igammac, upper_gamma, of_float, of_double)
GAMMA(igamma_grad_a, lower_gamma_slope, of_slope, of_slope)

#define BETA_LANE(NAME, TYPE, REACH)                                                               \
    static void NAME(leati_lane *lane) {                                                           \
        for (int64_t i = 0; i < lane->n; i++) {                                                    \
            TYPE a = *(const TYPE *)(lane->in[0] + i * lane->in_step[0]);                          \
            TYPE b = *(const TYPE *)(lane->in[1] + i * lane->in_step[1]);                          \
            TYPE x = *(const TYPE *)(lane->in[2] + i * lane->in_step[2]);                          \
            *(TYPE *)(lane->out + i * lane->out_step) =                                            \
                (TYPE)incomplete_beta((double)a, (double)b, (double)x, REACH);                     \
        }                                                                                          \
    }
BETA_LANE(betainc_float32, float, of_float)
BETA_LANE(betainc_float64, double, of_double)
LEATI_ELEMENTWISE_SLOW(betainc,
                       150, [LEAT_FLOAT32] = betainc_float32, [LEAT_FLOAT64] = betainc_float64)

/* ---- gradients ---- */
/* The derivative of the lower function by x: x^(a - 1) e^-x / gamma(a). */
static leat_value density(leat_value a, leat_value x) {
    leat_value less = leat_op_subtract(a, leat_op_ones_like(a));
    leat_value power = leat_op_subtract(leat_op_multiply(less, leat_op_log(x)), x);
    return leat_op_exp(leat_op_subtract(power, leat_op_lgamma(a)));
}

static leat_value slope_by_a(leat_value a, leat_value x) {
    return leati_graph_build2(&leati_tensor_op_igamma_grad_a, NULL, a, x);
}

LEATI_GRADIENT2(igamma, leat_op_multiply(g, slope_by_a(x, y)), leat_op_multiply(g, density(x, y)))
LEATI_GRADIENT2(igammac, leat_op_negate(leat_op_multiply(g, slope_by_a(x, y))),
                leat_op_negate(leat_op_multiply(g, density(x, y))))

static leat_status betainc_gradient(leati_gradient_call *call, leat_error *err) {
    leat_value a = call->inputs[0], b = call->inputs[1], x = call->inputs[2];
    leat_value power = leat_op_add(leat_op_multiply(leat_op_subtract(b, leat_op_ones_like(b)),
                                                    leat_op_log1p(leat_op_negate(x))),
                                   leat_op_xlogy(leat_op_subtract(a, leat_op_ones_like(a)), x));
    leat_value size = leat_op_subtract(leat_op_add(leat_op_lgamma(a), leat_op_lgamma(b)),
                                       leat_op_lgamma(leat_op_add(a, b)));
    (void)err;
    call->input_gradients[2] = leati_op_gradient_unbroadcast(
        leat_op_multiply(call->output_gradients[0], leat_op_exp(leat_op_subtract(power, size))), x);
    return LEAT_OK;
}

/* ---- descriptors ---- */
#define INCOMPLETE(OP, INPUTS, ...)                                                                \
    LEATI_ELEMENTWISE_OP(OP, INPUTS, .outputs = "z", .halves = LEATI_HALVES_NONE, __VA_ARGS__)
INCOMPLETE(igamma, 2, .inputs = "a x", .types = "T T", .gradient = igamma_gradient,
           .doc = "The lower regularised incomplete gamma function (tf.math.igamma).",
           .names = "math.igamma")
INCOMPLETE(igammac, 2, .inputs = "a x", .types = "T T", .gradient = igammac_gradient,
           .doc = "The upper regularised incomplete gamma function (tf.math.igammac).",
           .names = "math.igammac")
INCOMPLETE(igamma_grad_a, 2, .inputs = "a x", .types = "T T",
           .doc = "The derivative of igamma by a (tf.raw_ops.IgammaGradA).")
INCOMPLETE(betainc, 3, .inputs = "a b x", .types = "T T T", .gradient = betainc_gradient,
           .doc = "The regularised incomplete beta function (tf.math.betainc).",
           .names = "math.betainc")
