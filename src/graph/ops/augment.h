/* What the random distortions of pictures share: the stateless forms, whose numbers a seed decides,
 * and the stateful ones draw the same numbers from different streams. */
#ifndef LEATI_GRAPH_OPS_AUGMENT_H
#define LEATI_GRAPH_OPS_AUGMENT_H

#include "graph/ops/random.h"

/* The arguments of all of them; each operation has rows for some. */
struct leati_augment_args {
    struct leati_random_args random; /* low, high: the range of what is drawn */
    leati_ints size;                 /* of a crop */
};

typedef struct leati_augment {
    /* INVALID_ARGUMENT for numbers that make no sense; may be NULL. */
    leat_status (*check)(const struct leati_augment_args *args, leat_error *err);
    /* Adds the output. */
    leat_status (*infer)(leati_infer_call *call, leat_error *err);
    /* Computes row `row` of output 0 with numbers of the stream. */
    leat_status (*apply)(leati_kernel_call *call, int64_t row, leati_philox philox,
                         leat_error *err);
} leati_augment;

extern const leati_augment leati_augment_brightness, leati_augment_contrast,
    leati_augment_saturation, leati_augment_hue, leati_augment_quality,
    leati_augment_flip_left_right, leati_augment_flip_up_down, leati_augment_crop;

/* The slots of a stateless form; the seed, two integers, is the last input. */
LEAT_WARN_UNUSED leat_status leati_augment_infer(leati_infer_call *call,
                                                 const leati_augment *augment, leat_error *err);
LEAT_WARN_UNUSED leat_status leati_augment_kernel(leati_kernel_call *call,
                                                  const leati_augment *augment, leat_error *err);

/* Rows of the range of what is drawn, and of the largest change. */
#define LEATI_AUGMENT_ROW(NAME, TYPE, FIELD, DOC)                                                  \
    {                                                                                              \
        .name = NAME, .type = LEATI_ROW_##TYPE, .flags = LEATI_REQUIRED | LEATI_TENSOR,            \
        .offset = offsetof(struct leati_augment_args, FIELD), .doc = DOC                           \
    }

/* The descriptor of a stateless form and its slots; ROWS is the array of its rows. */
#define LEATI_STATELESS_OP(NAME, AUGMENT, DOC, INPUTS, SIGNATURE, ROWS, FLAGS)                     \
    static leat_status NAME##_infer(leati_infer_call *call, leat_error *err) {                     \
        return leati_augment_infer(call, &AUGMENT, err);                                           \
    }                                                                                              \
    static leat_status NAME##_kernel(leati_kernel_call *call, leat_error *err) {                   \
        return leati_augment_kernel(call, &AUGMENT, err);                                          \
    }                                                                                              \
    const leati_tensor_op leati_tensor_op_##NAME = {                                               \
        .name = #NAME,                                                                             \
        .version = 1,                                                                              \
        .doc = DOC " (tf.image." #NAME ").",                                                       \
        .names = "image." #NAME,                                                                   \
        .inputs = INPUTS " seed",                                                                  \
        .signature = INPUTS SIGNATURE,                                                             \
        .rows = ROWS,                                                                              \
        .args_size = sizeof(struct leati_augment_args),                                            \
        .min_inputs = 2,                                                                           \
        .max_inputs = 2,                                                                           \
        .flags = FLAGS,                                                                            \
        .infer = NAME##_infer,                                                                     \
        .kernel = NAME##_kernel,                                                                   \
    }

#endif
