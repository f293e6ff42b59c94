/* non_max_suppression: the numbers of the boxes with the best scores, without those that overlap a
 * better one too much (tf.image.non_max_suppression).
 *
 * Boxes are y1 x1 y2 x2, corners in any order; overlap is intersection over union. See suppress.h.
 * No gradient, no state, no locks. */
#include "graph/support/picture/suppress.h"

#include <math.h>

static const leati_row non_max_suppression_rows[] = {
    LEATI_SUPPRESS_ROWS("iou_threshold", "Boxes that overlap a better one by more are left out."),
    {0},
};

static leat_status non_max_suppression_infer(leati_infer_call *call, leat_error *err) {
    return leati_suppress_infer(call, 4, false, err);
}

static leat_status non_max_suppression_kernel(leati_kernel_call *call, leat_error *err) {
    return leati_suppress_kernel(call, 4, leati_box_overlap, err);
}

leat_value leat_op_non_max_suppression(leat_value boxes, leat_value scores, int64_t max_output_size,
                                       double iou_threshold, double score_threshold) {
    struct leati_suppress_args args = {.max_output_size = max_output_size,
                                       .iou_threshold = iou_threshold,
                                       .score_threshold = score_threshold};
    return leati_graph_build2(&leati_tensor_op_non_max_suppression, &args, boxes, scores);
}

const leati_tensor_op leati_tensor_op_non_max_suppression = {
    .name = "non_max_suppression",
    .version = 1,
    .doc = "The numbers of the boxes with the best scores, without those that overlap a better one "
           "too much (tf.image.non_max_suppression).",
    .names = "image.non_max_suppression",
    .inputs = "boxes scores",
    .types = "float32 float32",
    .outputs = "output",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_PYTHON,
    .rows = non_max_suppression_rows,
    .args_size = sizeof(struct leati_suppress_args),
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = non_max_suppression_infer,
    .kernel = non_max_suppression_kernel,
};
