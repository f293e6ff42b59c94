/* mixup, cutmix, and their stateless forms: a batch of pictures and its labels, each blended with
 * another one of the batch by a random weight, or with a window of it and the labels mixed by area
 * (keras.layers.MixUp and CutMix).
 *
 * What is drawn goes on from call to call, see random.h; of the stateless forms the seed decides.
 * See support/picture/mix.c, also for failures. No gradient. No state, no locks. */
#include "graph/support/picture/mix.h"

#define MIX_ROW(NAME, TYPE, FIELD, DEFAULT, DOC)                                                   \
    {                                                                                              \
        .name = NAME, .type = LEATI_ROW_##TYPE, .flags = LEATI_NONE,                               \
        .offset = offsetof(struct leati_mix_args, FIELD), .default_number = DEFAULT, .doc = DOC    \
    }
#define ALPHA_ROW                                                                                  \
    MIX_ROW("alpha", FLOAT, alpha, 0.2,                                                            \
            "The weights' beta distribution is (alpha, alpha); in (0, 1].")
#define FACTOR_ROW                                                                                 \
    MIX_ROW(                                                                                       \
        "factor", FLOATS, factor, 0,                                                               \
        "The range, in [0, 1], of the parameter of the weights' beta distribution; one number "    \
        "is its end; without it 0 to 1.")

/* The stateful forms have a seed as attributes, the others as input 2. */
static const leati_row mixup_rows[] = {ALPHA_ROW, LEATI_SEED_ROWS};
static const leati_row stateless_mixup_rows[] = {ALPHA_ROW, {0}};
static const leati_row cutmix_rows[] = {FACTOR_ROW, LEATI_SEED_ROWS};
static const leati_row stateless_cutmix_rows[] = {FACTOR_ROW, {0}};

/* The descriptors of a form with a seed and of one with a stream; NAME##_rows are its rows. */
#define STATELESS_MIX_OP(NAME, MIX, DOC, SIGNATURE)                                                \
    MIX_OP_OF(NAME, MIX, NULL, 3, DOC, "images labels seed", "T U Tseed", SIGNATURE, NULL, 0)
#define MIX_OP(NAME, MIX, DOC, SIGNATURE)                                                          \
    MIX_OP_OF(NAME, MIX, &leati_tensor_op_##NAME, 2, DOC, "images labels", "T U",                  \
              SIGNATURE " seed", leati_random_complete, LEATI_RANDOM)
#define MIX_OP_OF(NAME, MIX, STREAM, INPUTS, DOC, INPUT_NAMES, TYPES, SIGNATURE, COMPLETE, FLAGS)  \
    static leat_status NAME##_infer(leati_infer_call *call, leat_error *err) {                     \
        return leati_mix_infer(call, &MIX, err);                                                   \
    }                                                                                              \
    static leat_status NAME##_kernel(leati_kernel_call *call, leat_error *err) {                   \
        return leati_mix_kernel(call, &MIX, STREAM, err);                                          \
    }                                                                                              \
    const leati_tensor_op leati_tensor_op_##NAME = {                                               \
        .name = #NAME,                                                                             \
        .version = 1,                                                                              \
        .doc = DOC,                                                                                \
        .names = "image." #NAME,                                                                   \
        .inputs = INPUT_NAMES,                                                                     \
        .signature = INPUT_NAMES SIGNATURE,                                                        \
        .types = TYPES,                                                                            \
        .outputs = "images labels",                                                                \
        .halves = LEATI_HALVES_OWN,                                                                \
        .checks = LEATI_CHECKS_IN_PYTHON,                                                          \
        .rows = NAME##_rows,                                                                       \
        .args_size = sizeof(struct leati_mix_args),                                                \
        .min_inputs = INPUTS,                                                                      \
        .max_inputs = INPUTS,                                                                      \
        .flags = LEATI_COSTLY | (FLAGS),                                                           \
        .infer = NAME##_infer,                                                                     \
        .complete = COMPLETE,                                                                      \
        .kernel = NAME##_kernel,                                                                   \
    };
MIX_OP(mixup, leati_mix_up,
       "A batch of pictures and its labels, each blended with another one of the batch by a "
       "random weight (tf.keras.layers.MixUp).",
       " alpha")
STATELESS_MIX_OP(stateless_mixup, leati_mix_up,
                 "A batch of pictures and its labels, each blended with another one of the "
                 "batch by a random weight (tf.keras.layers.MixUp).",
                 " alpha")
MIX_OP(cutmix, leati_mix_cut,
       "A batch of pictures with a window of each from another one of the batch, and its "
       "labels mixed by area (tf.keras.layers.CutMix).",
       " factor")
STATELESS_MIX_OP(stateless_cutmix, leati_mix_cut,
                 "A batch of pictures with a window of each from another one of the batch, "
                 "and its labels mixed by area (tf.keras.layers.CutMix).",
                 " factor")
