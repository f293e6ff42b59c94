/* What Adam, AdamW, Nadam and Lamb share (train/optimizers/adam.c). */
#ifndef LEATI_TRAIN_SUPPORT_ADAM_H
#define LEATI_TRAIN_SUPPORT_ADAM_H

#include "train/frame/optimizer.h"

struct adam_args {
    struct leati_optimizer_args shared;
    double beta_1, beta_2, epsilon;
    bool amsgrad;
};

#define LEATI_MOMENT_ROWS                                                                          \
    LEATI_OPTIMIZER_ROW(learning_rate, FLOAT, .default_number = 0.001, .doc = "Size of a step."),  \
        {.name = "beta_1",                                                                         \
         .type = LEATI_ROW_FLOAT,                                                                  \
         .offset = offsetof(struct adam_args, beta_1),                                             \
         .default_number = 0.9,                                                                    \
         .doc = "Part of the mean gradient that a step keeps."},                                   \
        {.name = "beta_2",                                                                         \
         .type = LEATI_ROW_FLOAT,                                                                  \
         .offset = offsetof(struct adam_args, beta_2),                                             \
         .default_number = 0.999,                                                                  \
         .doc = "Part of the mean squared gradient that a step keeps."},                           \
    {                                                                                              \
        .name = "epsilon", .type = LEATI_ROW_FLOAT, .offset = offsetof(struct adam_args, epsilon), \
        .default_number = 1e-7, .doc = "Added to the root of the mean squared gradient."           \
    }
#define LEATI_ADAM_ROWS                                                                            \
    LEATI_MOMENT_ROWS, {                                                                           \
        .name = "amsgrad", .type = LEATI_ROW_BOOL, .offset = offsetof(struct adam_args, amsgrad),  \
        .doc = "Whether the largest mean squared gradient so far divides."                         \
    }

/* The slots of leati_optimizer_kind. */
LEAT_WARN_UNUSED leat_status leati_adam_check(const void *args, leat_error *err);
const char *const *leati_adam_slots(const void *args);
void leati_adam_update(const leati_update *update);

#endif
