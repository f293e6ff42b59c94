/* Shuffling and drawing classes, which the random and the stateless operations share. */
#ifndef LEATI_GRAPH_SUPPORT_RANDOM_SAMPLE_H
#define LEATI_GRAPH_SUPPORT_RANDOM_SAMPLE_H

#include "graph/support/random/random.h"

/* ---- shuffle: input 0 is the tensor ---- */
LEAT_WARN_UNUSED leat_status leati_sample_permute_infer(leati_infer_call *call, leat_error *err);
/* Gives output 0 its shape; how many blocks of a stream a row takes, 0: nothing is drawn. */
LEAT_WARN_UNUSED leat_status leati_sample_permute_begin(leati_kernel_call *call,
                                                        uint64_t *out_blocks, leat_error *err);
LEAT_WARN_UNUSED leat_status leati_sample_permute_row(leati_kernel_call *call, int64_t row,
                                                      leati_philox stream, leat_error *err);

/* ---- categorical: input 0 is the logits ---- */
LEAT_WARN_UNUSED leat_status leati_sample_categorical_infer(leati_infer_call *call,
                                                            leat_error *err);
LEAT_WARN_UNUSED leat_status leati_sample_categorical_begin(leati_kernel_call *call,
                                                            uint64_t *out_blocks, leat_error *err);
LEAT_WARN_UNUSED leat_status leati_sample_categorical_row(leati_kernel_call *call, int64_t row,
                                                          leati_philox stream, leat_error *err);

/* The rows that say what categorical draws. */
#define LEATI_CATEGORICAL_ROWS                                                                     \
    {.name = "num_samples",                                                                        \
     .type = LEATI_ROW_INT,                                                                        \
     .flags = LEATI_REQUIRED | LEATI_TENSOR,                                                       \
     .offset = offsetof(struct leati_random_args, num_samples),                                    \
     .maximum = INT32_MAX,                                                                         \
     .doc = "How many classes to draw for each row."},                                             \
    {                                                                                              \
        .name = "dtype", .type = LEATI_ROW_DTYPE,                                                  \
        .offset = offsetof(struct leati_random_args, dtype), .default_number = LEAT_INT64,         \
        .doc = "The dtype of the classes: int32 or int64."                                         \
    }

#endif
