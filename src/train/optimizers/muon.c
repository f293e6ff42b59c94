/* Muon: steps along the momentum made nearly orthogonal, for matrices; Adam's for all other
 * variables (keras.optimizers.Muon).
 *
 * Whether a variable is stepped by Adam is decided where its slots are made: if it is no matrix, an
 * embedding (by its name, as in Keras), or if its name has a match of one of exclude_layers. Adam's
 * variables have a second slot. Failures: arguments out of their ranges, expressions that do not
 * parse (graph/support/text/regex.h). No state, no locks. */
#include "base/error.h"
#include "base/minmax.h"
#include "base/text.h"
#include "graph/support/support.h"
#include "graph/support/text/regex.h"
#include "train/frame/loss.h"
#include "train/frame/optimizer.h"
#include <ctype.h>
#include <math.h>
#include <string.h>

enum { MOMENTUM, VELOCITY };

struct muon_args {
    struct leati_optimizer_args shared;
    double adam_beta_1, adam_beta_2, adam_weight_decay, epsilon;
    leati_strings exclude_layers;
    bool exclude_embeddings, nesterov;
    double muon_a, muon_b, muon_c, adam_lr_ratio, momentum, rms_rate;
    int64_t ns_steps;
};

#define MUON_ROW(MEMBER, TYPE, ...)                                                                \
    {                                                                                              \
        .name = #MEMBER, .type = LEATI_ROW_##TYPE, .offset = offsetof(struct muon_args, MEMBER),   \
        __VA_ARGS__                                                                                \
    }

static const leati_row muon_rows[] = {
    LEATI_OPTIMIZER_ROW(learning_rate, FLOAT, .default_number = 0.001, .doc = "Size of a step."),
    MUON_ROW(adam_beta_1, FLOAT, .default_number = 0.9,
             .doc = "Part of the mean gradient that a step of Adam keeps."),
    MUON_ROW(adam_beta_2, FLOAT, .default_number = 0.999,
             .doc = "Part of the mean squared gradient that a step of Adam keeps."),
    MUON_ROW(adam_weight_decay, FLOAT, .flags = LEATI_ABSENT, .default_number = 0.004,
             .doc = "weight_decay of the variables that Adam steps; 0: none."),
    MUON_ROW(epsilon, FLOAT, .default_number = 1e-7,
             .doc = "Added to the root of the mean squared gradient."),
    LEATI_OPTIMIZER_ROWS_WITH(0.004),
    MUON_ROW(exclude_layers, STRINGS,
             .doc = "Regular expressions; variables whose names have a match are Adam's."),
    MUON_ROW(exclude_embeddings, BOOL, .default_number = 1,
             .doc = "Whether variables with \"embedding\" in their names are Adam's."),
    MUON_ROW(muon_a, FLOAT, .default_number = 3.4445, .doc = "Factor of x in an iteration."),
    MUON_ROW(muon_b, FLOAT, .default_number = -4.7750, .doc = "Factor of x x' x."),
    MUON_ROW(muon_c, FLOAT, .default_number = 2.0315, .doc = "Factor of x x' x x' x."),
    MUON_ROW(adam_lr_ratio, FLOAT, .default_number = 1, .doc = "What Adam's rate is times that."),
    MUON_ROW(momentum, FLOAT, .default_number = 0.95, .doc = "Part of the sum that a step keeps."),
    MUON_ROW(ns_steps, INT, .default_number = 5, .minimum = 0, .maximum = 100,
             .doc = "Iterations that make the momentum orthogonal."),
    MUON_ROW(nesterov, BOOL, .default_number = 1, .doc = "Whether a step looks ahead."),
    MUON_ROW(rms_rate, FLOAT, .flags = LEATI_ABSENT, .default_number = 0.2,
             .doc = "What steps are scaled by, times the root of the longer side; 0: not scaled."),
    {0},
};

static leat_status muon_check(const void *arguments, leat_error *err) {
    const struct muon_args *args = arguments;
    if (!(args->adam_beta_1 >= 0 && args->adam_beta_1 < 1 && args->adam_beta_2 >= 0 &&
          args->adam_beta_2 < 1 && args->adam_weight_decay >= 0))
        return leati_refuse(err, VALUE,
                            "adam_beta_1 is %g, adam_beta_2 %g, adam_weight_decay %g; expected "
                            "numbers from 0, and betas below 1",
                            args->adam_beta_1, args->adam_beta_2, args->adam_weight_decay);
    return leati_optimizer_check(arguments, err);
}

static bool names_embedding(const char *name) {
    static const char word[] = "embedding";
    for (; *name != '\0'; name++) {
        size_t i = 0;
        /* A name that ends early has '\0' here, which no letter of the word equals. */
        while (word[i] != '\0' && tolower((unsigned char)name[i]) == word[i])
            i++;
        if (word[i] == '\0')
            return true;
    }
    return false;
}

/* 1: the name has a match, 0: none, -1: failed. */
static int is_excluded(const leat_string *expression, const char *name, leat_error *err) {
    char *pattern = leati_strndup(expression->data, expression->size);
    if (pattern == NULL)
        /* -1 by the comma, because this function does not return a status. */
        return leati_no_memory(err), -1;
    leati_regex *regex = leati_regex_new(pattern, false, false, err);
    leati_free(pattern);
    if (regex == NULL)
        return -1;
    const leat_string text = {.data = name, .size = strlen(name)};
    int found = leati_regex_search(regex, text, 0, err);
    leati_regex_free(regex);
    return found;
}

/* 1: Adam steps it, 0: Muon does, -1: failed. */
static int is_adams(const struct muon_args *args, const leat_variable *variable, leat_error *err) {
    const char *name = leat_variable_name(variable);
    /* Only of a matrix is there a nearest orthogonal one. */
    if (leat_variable_shape(variable).rank != 2 ||
        (args->exclude_embeddings && names_embedding(name)))
        return 1;
    int found = 0;
    /* The first match decides, and so does the first failure. */
    for (int32_t i = 0; i < args->exclude_layers.count && found == 0; i++)
        found = is_excluded(&args->exclude_layers.values[i], name, err);
    return found;
}

static leat_status muon_slots(const void *arguments, const leat_variable *variable,
                              leati_weights *out, leat_error *err) {
    leat_error own = {0};
    int adams = is_adams(arguments, variable, &own);
    if (adams < 0)
        /* Read from a record of its own, so that the argument's name stands in front. */
        return leati_fail(err, own.code, "exclude_layers: %s", own.text);
    for (int i = 0; i < (adams ? 2 : 1); i++)
        out->list[out->count++] = (leati_weight){.name = i == MOMENTUM ? "momentum" : "velocity",
                                                 .shape = leat_variable_shape(variable),
                                                 .dtype = leat_variable_dtype(variable),
                                                 .initializer = "zeros",
                                                 .fixed = true};
    return LEAT_OK;
}

static double muon_decay(const void *arguments, int num_slots) {
    const struct muon_args *args = arguments;
    /* Who has a velocity is stepped by Adam: no other mark is kept. */
    return num_slots == 2 ? args->adam_weight_decay : args->shared.weight_decay;
}

static leat_value transposed(leat_value x) {
    return leat_op_transpose(x, (const int64_t[]){1, 0}, 2);
}

/* Iterations of Newton and Schulz towards the nearest orthogonal matrix, over the shorter side. */
static leat_value nearly_orthogonal(const struct muon_args *args, leat_value x,
                                    const leat_shape *shape) {
    /* X X' is taken of the shorter side, which is the smaller matrix. */
    bool tall = shape->dims[0] > shape->dims[1];
    if (tall)
        x = transposed(x);
    leat_value norm = leat_op_sqrt(leat_op_reduce_sum(leat_op_square(x), NULL, 0, false));
    /* Divided by the Frobenius norm no singular value is above 1, as the iteration needs. */
    x = leat_op_divide(x, leat_op_add(norm, leati_loss_number_like(norm, 1e-7)));
    for (int64_t i = 0; i < args->ns_steps; i++) {
        leat_value square = leat_op_matmul(x, x, false, true);
        /* x' = a x + (b A + c A A) x with A = x x': a polynomial of degree 5 in the singular
         * values. */
        leat_value fourth =
            leat_op_matmul(leati_support_times(square, args->muon_c), square, false, false);
        leat_value factor = leat_op_add(leati_support_times(square, args->muon_b), fourth);
        x = leat_op_add(leati_support_times(x, args->muon_a),
                        leat_op_matmul(factor, x, false, false));
    }
    return tall ? transposed(x) : x;
}

static void muon_update(const leati_update *update) {
    const struct muon_args *args = update->args;
    if (update->num_slots == 2) {
        leat_value rate = leati_support_times(update->learning_rate, args->adam_lr_ratio);
        const leati_optimizer_moments moments = {args->adam_beta_1, args->adam_beta_2,
                                                 args->epsilon, false};
        leati_optimizer_step_adam(update, rate, &moments);
        return;
    }
    leat_shape shape = leat_variable_shape(update->variable);
    leat_value g = update->gradient;
    leat_value old = leat_graph_read(update->graph, update->slots[MOMENTUM]);
    /* momentum * old + g, in the order of operations in which Keras rounds it. */
    leat_value m = leat_op_add(old, leat_op_add(g, leati_support_times(old, args->momentum - 1)));
    leat_graph_assign(update->graph, update->slots[MOMENTUM], m);
    leat_value ahead = args->nesterov ? leat_op_add(g, leati_support_times(m, args->momentum)) : m;
    leat_value change =
        leat_op_multiply(update->learning_rate, nearly_orthogonal(args, ahead, &shape));
    if (args->rms_rate > 0) {
        /* An orthogonal matrix has root mean square 1 / sqrt(longer side): the factor takes that
         * back. */
        int64_t longer = LEATI_MAX(shape.dims[0], shape.dims[1]);
        change =
            leati_support_times(leati_support_times(change, sqrt((double)longer)), args->rms_rate);
    }
    leati_optimizer_step_back(update, change);
}

const leati_optimizer_kind leati_optimizer_muon = {
    .kind =
        {
            .name = "Muon",
            .doc = "Steps of matrices made nearly orthogonal, and Adam's for other variables "
                   "(keras.optimizers.Muon).",
            .rows = muon_rows,
            .signature = "learning_rate adam_beta_1 adam_beta_2 adam_weight_decay epsilon "
                         "weight_decay " LEATI_OPTIMIZER_SIGNATURE_REST
                         "=null exclude_layers=null exclude_embeddings muon_a muon_b muon_c "
                         "adam_lr_ratio=1 momentum ns_steps nesterov rms_rate",
            .config = "... muon_a muon_b muon_c adam_lr_ratio momentum ns_steps nesterov "
                      "exclude_embeddings adam_weight_decay rms_rate",
            .args_size = sizeof(struct muon_args),
            .check = muon_check,
        },
    .slots_of = muon_slots,
    .decay = muon_decay,
    .update = muon_update,
};
