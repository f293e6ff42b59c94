/* stateless_aug_mix: pictures blended with what a few chains of random distortions make of them
 * (keras.layers.AugMix).
 *
 * Numbers are those of Keras' layer, whose choices, though, come from Python's own generator: here
 * draw 0 of a call is for the weights of the chains, draw 1 for that of the picture itself, and
 * each place of a chain has four draws more, the first of which chooses what is done there, maybe
 * nothing. Several pictures in one tensor share the choices, not the strengths. See policy.c for
 * failures. No gradient. No state, no locks. */
#include "graph/support/picture/policy.h"

#include <math.h>
#include <string.h>

enum { STANDARD_CHAINS = 3, STANDARD_DEPTH = 3, FIRST_DRAWS = 2, DRAWS_OF_A_PLACE = 4 };
#define STANDARD_FACTOR 0.3

#define ROW(NAME, TYPE, FIELD, ...)                                                                \
    {                                                                                              \
        .name = NAME, .type = LEATI_ROW_##TYPE,                                                    \
        .offset = offsetof(struct leati_aug_mix_args, FIELD), __VA_ARGS__                          \
    }
static const leati_row rows[] = {
    ROW("value_range", FLOATS, policy.value_range, .flags = LEATI_NONE,
        .doc = "The lowest and the highest value of pictures; without it 0 and 255."),
    ROW("num_chains", INT, num_chains, .default_number = STANDARD_CHAINS, .minimum = 1,
        .maximum = 64, .doc = "How many chains there are."),
    ROW("chain_depth", INT, chain_depth, .default_number = STANDARD_DEPTH, .maximum = 64,
        .doc = "How many places for a distortion a chain has."),
    ROW("factor", FLOATS, policy.factor, .flags = LEATI_NONE,
        .doc = "The range, in [0, 1], of strengths; one number is its end; without it 0 to 0.3."),
    ROW("alpha", FLOAT, alpha, .default_number = 1,
        .doc = "The parameter of the weights' Dirichlet and beta distributions."),
    ROW("all_ops", BOOL, all_ops, .default_number = 1,
        .doc = "Also brightness, loss of colour, contrast and sharpness."),
    LEATI_POLICY_LAST_ROWS,
    {0},
};

static leat_status check(const struct leati_aug_mix_args *args, double factor[2], double range[2],
                         leat_error *err) {
    if (!(args->alpha > 0))
        return leati_refuse(err, VALUE, "alpha is %.9g; expected a number above 0", args->alpha);
    return leati_policy_check(&args->policy, STANDARD_FACTOR, factor, range, err);
}

static leat_status stateless_aug_mix_infer(leati_infer_call *call, leat_error *err) {
    double factor[2], range[2];
    LEATI_TRY(check(call->args, factor, range, err));
    return leati_policy_infer(call, err);
}

/* In Keras' order; those of the second line only where all are wanted. */
static const leati_distortion choices[] = {
    LEATI_SHEAR,        LEATI_TRANSLATION,   LEATI_ROTATION,     LEATI_POSTERIZATION,
    LEATI_SOLARIZATION, LEATI_AUTO_CONTRAST, LEATI_EQUALIZATION, LEATI_BRIGHTNESS,
    LEATI_DEGENERATION, LEATI_CONTRAST,      LEATI_SHARPNESS};
enum { FEWER_CHOICES = 7, ALL_CHOICES = LEATI_DISTORTIONS };

/* Runs the pictures of the canvas through chain number `chain`. */
static void run_chain(const struct leati_aug_mix_args *args, leati_policy_work *work,
                      const double factor[2], int64_t chain) {
    int count = args->all_ops ? ALL_CHOICES : FEWER_CHOICES;
    for (int64_t i = 0; i < args->chain_depth; i++) {
        int32_t chosen;
        /* Each place has its own draws, used or not: one choice does not move others. */
        work->drawing.next = FIRST_DRAWS + (chain * args->chain_depth + i) * DRAWS_OF_A_PLACE;
        leati_draw_integers(LEAT_INT32, leati_policy_drawing_next(&work->drawing), 0,
                            (uint64_t)count + 1, 1, &chosen);
        /* The last choice is to do nothing. */
        if (chosen == count)
            continue;
        leati_policy_draw_strengths(&work->drawing, choices[chosen], factor, work->strengths);
        leati_policy_distort(&work->canvas, choices[chosen], work->strengths);
    }
}

/* Weights of the chains, which add up to 1, and behind them that of the picture itself. */
static void draw_weights(const struct leati_aug_mix_args *args, const leati_drawing *drawing,
                         float *weights) {
    float sum = 0, scratch;
    /* Gamma numbers over their sum are a Dirichlet distribution. */
    leati_draw_gamma(leati_mix_stream(drawing->seed, 0), args->alpha, args->num_chains, weights);
    for (int64_t i = 0; i < args->num_chains; i++)
        sum += weights[i];
    for (int64_t i = 0; i < args->num_chains; i++)
        weights[i] /= sum;
    leati_mix_weights(drawing->seed, 1, (float)args->alpha, 1, weights + args->num_chains,
                      &scratch);
}

/* Mixes `size` values in place; `memory` has room for twice as many. */
static void mix(const struct leati_aug_mix_args *args, leati_policy_work *work,
                const double factor[2], float *values, int64_t size, float *weights,
                float *memory) {
    float *chain = memory, *sum = memory + size, own;
    draw_weights(args, &work->drawing, weights);
    own = weights[args->num_chains];
    memset(sum, 0, (size_t)size * sizeof *sum);
    /* Each chain begins with the pictures as they came, on a copy. */
    work->canvas.pixels = chain;
    for (int64_t c = 0; c < args->num_chains; c++) {
        memcpy(chain, values, (size_t)size * sizeof *chain);
        run_chain(args, work, factor, c);
        for (int64_t i = 0; i < size; i++)
            sum[i] += chain[i] * weights[c];
    }
    for (int64_t i = 0; i < size; i++) {
        float mixed = own * values[i] + (1 - own) * sum[i];
        /* Masks hold classes, which have no range of values. */
        if (!work->canvas.masks)
            mixed = fminf(fmaxf(mixed, work->canvas.low), work->canvas.high);
        values[i] = mixed;
    }
}

static leat_status stateless_aug_mix_kernel(leati_kernel_call *call, leat_error *err) {
    const struct leati_aug_mix_args *args = call->args;
    leati_policy_work work;
    double factor[2], range[2];
    LEATI_TRY(check(args, factor, range, err));
    LEATI_TRY(leati_policy_begin(call, &args->policy, range, &work, err));
    const leati_operand *out = &call->outputs[0];
    size_t bytes = (size_t)(args->num_chains + 1 + 2 * out->count) * sizeof(float);
    float *weights = leati_arena_alloc(call->arena, bytes);
    if (weights == NULL)
        return leati_no_memory(err);
    for (int64_t row = 0; row < call->n && out->count > 0; row++) {
        call->failed_row = row;
        LEATI_TRY(leati_mix_seed(call, 1, NULL, row, work.drawing.seed, err));
        mix(args, &work, factor, (float *)(void *)leati_support_row_of(out, row), out->count,
            weights, weights + args->num_chains + 1);
    }
    call->failed_row = 0;
    return LEAT_OK;
}

int leati_policy_aug_mix_draws(const struct leati_aug_mix_args *args) {
    return FIRST_DRAWS + (int)(args->num_chains * args->chain_depth) * DRAWS_OF_A_PLACE;
}

const leati_tensor_op leati_tensor_op_stateless_aug_mix = {
    .name = "stateless_aug_mix",
    .version = 1,
    .doc = "Pictures blended with what a few chains of random distortions make of them, as float32 "
           "(tf.keras.layers.AugMix).",
    .names = "image.stateless_aug_mix",
    .inputs = "images seed",
    .signature = "images seed value_range num_chains chain_depth factor alpha all_ops "
                 "interpolation masks",
    .types = "T Tseed",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_PYTHON,
    .rows = rows,
    .args_size = sizeof(struct leati_aug_mix_args),
    .min_inputs = 2,
    .max_inputs = 2,
    .flags = LEATI_COSTLY,
    .infer = stateless_aug_mix_infer,
    .kernel = stateless_aug_mix_kernel,
};
