/* What the two forms of sample_distorted_bounding_box share. */
#ifndef LEATI_GRAPH_SUPPORT_PICTURE_DISTORTED_BOX_H
#define LEATI_GRAPH_SUPPORT_PICTURE_DISTORTED_BOX_H

#include "graph/support/random/random.h"
#include <leat/image.h>

struct leati_distorted_box_args {
    struct leati_random_args random; /* the stateful form's seeds */
    double min_object_covered;
    leati_floats aspect_ratio_range, area_range;
    int64_t max_attempts;
    bool use_image_if_no_bounding_boxes;
};

/* The rows of both forms, to put into a list. */
#define LEATI_DISTORTED_BOX_ROWS                                                                   \
    {.name = "min_object_covered",                                                                 \
     .type = LEATI_ROW_FLOAT,                                                                      \
     .flags = LEATI_TENSOR,                                                                        \
     .offset = offsetof(struct leati_distorted_box_args, min_object_covered),                      \
     .default_number = 0.1,                                                                        \
     .doc = "The part of one of the boxes that must be inside, 0 or more."},                       \
        {.name = "aspect_ratio_range",                                                             \
         .type = LEATI_ROW_FLOATS,                                                                 \
         .flags = LEATI_NONE,                                                                      \
         .offset = offsetof(struct leati_distorted_box_args, aspect_ratio_range),                  \
         .doc = "The least and the greatest width over height; without it 0.75 and 1.33."},        \
        {.name = "area_range",                                                                     \
         .type = LEATI_ROW_FLOATS,                                                                 \
         .flags = LEATI_NONE,                                                                      \
         .offset = offsetof(struct leati_distorted_box_args, area_range),                          \
         .doc = "The least and the greatest part of the picture's area; without it 0.05 and 1."},  \
        {.name = "max_attempts",                                                                   \
         .type = LEATI_ROW_INT,                                                                    \
         .flags = LEATI_NONE,                                                                      \
         .offset = offsetof(struct leati_distorted_box_args, max_attempts),                        \
         .default_number = 100,                                                                    \
         .doc = "How often to try before the whole picture is taken."},                            \
    {                                                                                              \
        .name = "use_image_if_no_bounding_boxes", .type = LEATI_ROW_BOOL, .flags = LEATI_NONE,     \
        .offset = offsetof(struct leati_distorted_box_args, use_image_if_no_bounding_boxes),       \
        .doc = "Take the picture as the box where there is none; else that is an error."           \
    }

LEAT_WARN_UNUSED leat_status leati_distorted_box_infer(leati_infer_call *call, leat_error *err);
/* Memory for the three results. */
LEAT_WARN_UNUSED leat_status leati_distorted_box_begin(leati_kernel_call *call, leat_error *err);
/* Draws the box of row `row`. */
LEAT_WARN_UNUSED leat_status leati_distorted_box_row(leati_kernel_call *call, int64_t row,
                                                     leati_philox philox, leat_error *err);

/* A node of either form: fills `outputs` and returns 3, or -1. `seed` and `options` may be NULL. */
int leati_distorted_box_build(const leati_tensor_op *op, const leat_value *inputs, int num_inputs,
                              const int64_t *seed,
                              const leat_op_sample_distorted_bounding_box_options *options,
                              leat_value *outputs);

#endif
