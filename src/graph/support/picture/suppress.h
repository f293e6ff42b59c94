/* Choosing boxes by their scores and leaving out those that overlap chosen ones: what the
 * non_max_suppression operations share. */
#ifndef LEATI_GRAPH_SUPPORT_PICTURE_SUPPRESS_H
#define LEATI_GRAPH_SUPPORT_PICTURE_SUPPRESS_H

#include "graph/support/support.h"

struct leati_suppress_args {
    int64_t max_output_size;
    double iou_threshold; /* of overlaps: overlap_threshold */
    double score_threshold, soft_nms_sigma;
};

/* The rows from max_output_size on, THRESHOLD being the second's name. */
#define LEATI_SUPPRESS_ROWS(THRESHOLD, DOC)                                                        \
    {.name = "max_output_size",                                                                    \
     .type = LEATI_ROW_INT,                                                                        \
     .flags = LEATI_REQUIRED | LEATI_TENSOR,                                                       \
     .offset = offsetof(struct leati_suppress_args, max_output_size),                              \
     .minimum = 0,                                                                                 \
     .maximum = INT32_MAX,                                                                         \
     .doc = "How many boxes are chosen at most."},                                                 \
        {.name = THRESHOLD,                                                                        \
         .type = LEATI_ROW_FLOAT,                                                                  \
         .flags = LEATI_TENSOR,                                                                    \
         .offset = offsetof(struct leati_suppress_args, iou_threshold),                            \
         .default_number = 0.5,                                                                    \
         .doc = DOC},                                                                              \
    {                                                                                              \
        .name = "score_threshold", .type = LEATI_ROW_FLOAT, .flags = LEATI_TENSOR,                 \
        .offset = offsetof(struct leati_suppress_args, score_threshold),                           \
        .default_number = -(double)INFINITY,                                                       \
        .doc = "Boxes whose scores are not above are left out."                                    \
    }

/* The infer slot's work: floats [n, columns] and scores [n] in; numbers of boxes [m] out, and with
 * `scores` their scores. columns -1: as many as rows. */
LEAT_WARN_UNUSED leat_status leati_suppress_infer(leati_infer_call *call, int64_t columns,
                                                  bool scores, leat_error *err);
/* How far boxes i and j overlap, in [0, 1]; `data` is input 0's row, of n rows. */
typedef float leati_overlap(const float *data, int64_t n, int64_t i, int64_t j);
/* The kernel slot's work. */
LEAT_WARN_UNUSED leat_status leati_suppress_kernel(leati_kernel_call *call, int64_t columns,
                                                   leati_overlap *overlap, leat_error *err);
/* Intersection over union of boxes y1 x1 y2 x2, whose corners come in any order. */
leati_overlap leati_box_overlap;

#endif
