/* Activations: what keras.activations has by name. Failures: a name that is none. No state, no
 * locks. */
#include "train/frame/activation.h"
#include "base/error.h"
#include "base/text.h"
#include "graph/support/support.h"
#include <string.h>

static leat_value number_of(leat_value like, double number) {
    return leati_support_number(like.graph, leat_value_dtype(like), number);
}

static leat_value plus(leat_value x, double number) {
    return leat_op_add(x, number_of(x, number));
}

static leat_value linear(leat_value x) {
    return x;
}

static leat_value softsign(leat_value x) {
    return leat_op_divide(x, plus(leat_op_abs(x), 1));
}

static leat_value leaky_relu(leat_value x) {
    /* The slope of Keras' activation; its layer LeakyReLU begins with 0.3. */
    return leati_activation_leaky_relu(x, 0.2);
}

/* The scaled elu that keeps mean and variance of what goes through many layers. */
static leat_value selu(leat_value x) {
    /* The fixed point of mean 0 and variance 1 (Klambauer et al., "Self-Normalizing Neural
     * Networks"). */
    const double alpha = 1.6732632423543772848170429916717;
    const double scale = 1.0507009873554804934193349852946;
    return leati_support_times(leati_activation_scaled_elu(x, alpha), scale);
}

static leat_value silu(leat_value x) {
    return leat_op_multiply(x, leat_op_sigmoid(x));
}

/* x times the probability that a normal number is below x, without the tanh approximation. */
static leat_value gelu(leat_value x) {
    /* 1 / sqrt(2): Phi(x) = (1 + erf(x / sqrt(2))) / 2. */
    leat_value below = plus(leat_op_erf(leati_support_times(x, 0.70710678118654752440)), 1);
    return leat_op_multiply(leati_support_times(x, 0.5), below);
}

static leat_value mish(leat_value x) {
    return leat_op_multiply(x, leat_op_tanh(leat_op_softplus(x)));
}

/* A line of slope 1/6 through (0, 1/2), cut at 0 and 1. */
static leat_value hard_sigmoid(leat_value x) {
    return leat_op_divide(leat_op_relu6(plus(x, 3)), number_of(x, 6));
}

static leat_value hard_silu(leat_value x) {
    return leat_op_multiply(x, hard_sigmoid(x));
}

static leat_value log_sigmoid(leat_value x) {
    /* By softplus, because log(sigmoid(x)) is -inf where sigmoid(x) is rounded to 0. */
    return leat_op_negate(leat_op_softplus(leat_op_negate(x)));
}

static leat_value tanh_shrink(leat_value x) {
    return leat_op_subtract(x, leat_op_tanh(x));
}

/* (x + sqrt(x^2 + b)) / 2 with b = 4. */
static leat_value squareplus(leat_value x) {
    return leati_support_times(leat_op_add(x, leat_op_sqrt(plus(leat_op_square(x), 4))), 0.5);
}

/* x outside of [-0.5, 0.5], else 0. */
static leat_value hard_shrink(leat_value x) {
    /* NaN is not outside, so it becomes 0. */
    leat_value outside = leat_op_greater(leat_op_abs(x), number_of(x, 0.5));
    return leat_op_select(outside, x, leat_op_zeros_like(x));
}

/* x moved towards 0 by 0.5, and 0 where it would pass it. */
static leat_value soft_shrink(leat_value x) {
    leat_value above = leat_op_relu(plus(x, -0.5)),
               below = leat_op_relu(plus(leat_op_negate(x), -0.5));
    return leat_op_subtract(above, below);
}

/* x between -1 and 1. */
static leat_value hard_tanh(leat_value x) {
    return leat_op_clip_by_value(x, number_of(x, -1), number_of(x, 1));
}

static const struct {
    const char *name;
    leat_value (*apply)(leat_value value);
} activations[] = {
    [LEAT_LINEAR] = {"linear", linear},
    [LEAT_RELU] = {"relu", leat_op_relu},
    [LEAT_SOFTMAX] = {"softmax", leat_op_softmax},
    [LEAT_ELU] = {"elu", leat_op_elu},
    [LEAT_EXPONENTIAL] = {"exponential", leat_op_exp},
    [LEAT_GELU] = {"gelu", gelu},
    [LEAT_HARD_SIGMOID] = {"hard_sigmoid", hard_sigmoid},
    [LEAT_HARD_SILU] = {"hard_silu", hard_silu},
    [LEAT_LEAKY_RELU] = {"leaky_relu", leaky_relu},
    [LEAT_LOG_SIGMOID] = {"log_sigmoid", log_sigmoid},
    [LEAT_LOG_SOFTMAX] = {"log_softmax", leat_op_log_softmax},
    [LEAT_MISH] = {"mish", mish},
    [LEAT_RELU6] = {"relu6", leat_op_relu6},
    [LEAT_SELU] = {"selu", selu},
    [LEAT_SIGMOID] = {"sigmoid", leat_op_sigmoid},
    [LEAT_SILU] = {"silu", silu},
    [LEAT_SOFTPLUS] = {"softplus", leat_op_softplus},
    [LEAT_SOFTSIGN] = {"softsign", softsign},
    [LEAT_TANH] = {"tanh", leat_op_tanh},
    [LEAT_TANH_SHRINK] = {"tanh_shrink", tanh_shrink},
    [LEAT_HARD_SHRINK] = {"hard_shrink", hard_shrink},
    [LEAT_SOFT_SHRINK] = {"soft_shrink", soft_shrink},
    [LEAT_SQUAREPLUS] = {"squareplus", squareplus},
    [LEAT_HARD_TANH] = {"hard_tanh", hard_tanh},
    /* Keras' other names. */
    {"swish", silu},
    {"hard_swish", hard_silu},
};

#define COUNT (sizeof activations / sizeof activations[0])

const char *leati_activation_name(leat_activation activation) {
    /* The cast makes negative numbers large ones, so one comparison refuses both. */
    return (size_t)activation < COUNT ? activations[activation].name : "of an unknown number";
}

/* The place of a name in the table; COUNT: it is none. */
static size_t find(const char *name) {
    size_t i = 0;
    while (i < COUNT && strcmp(activations[i].name, name) != 0)
        i++;
    return i;
}

leat_status leati_activation_check(const char *name, leat_error *err) {
    if (name == NULL || find(name) < COUNT)
        return LEAT_OK;
    leati_text names = {0};
    for (size_t i = 0; i < COUNT; i++)
        leati_text_addf(&names, "%s%s", i == 0 ? "" : ", ", activations[i].name);
    leati_refuse(err, VALUE, "activation \"%.60s\"; expected %s", name,
                 names.failed ? "one of keras.activations" : names.data);
    leati_text_fini(&names);
    return LEAT_INVALID_ARGUMENT;
}

leat_value leati_activation_apply(const char *name, leat_value value) {
    /* Names are checked where arguments are made; one that is none leaves the value as it is. */
    size_t i = find(name == NULL ? activations[LEAT_LINEAR].name : name);
    return i < COUNT ? activations[i].apply(value) : value;
}

leat_value leati_activation_leaky_relu(leat_value x, double slope) {
    /* Not max(x, slope * x), which would be wrong for slopes above 1. */
    return leat_op_select(leat_op_greater(x, leat_op_zeros_like(x)), x,
                          leati_support_times(x, slope));
}

leat_value leati_activation_scaled_elu(leat_value x, double alpha) {
    leat_value below = leat_op_less(x, leat_op_zeros_like(x));
    /* elu(x) is x above 0, where alpha must not scale it. */
    return leat_op_select(below, leati_support_times(leat_op_elu(x), alpha), x);
}
