/* non_max_suppression_with_scores: as non_max_suppression, and the scores; with a sigma a box that
 * overlaps a better one is not left out, but its score becomes smaller
 * (tf.image.non_max_suppression_with_scores).
 *
 * A score is multiplied by exp(-overlap^2 / (2 sigma)) for each better box; iou_threshold then has
 * no effect. See suppress.h. No gradient, no state, no locks. */
#include "graph/support/picture/suppress.h"

#include <math.h>

static const leati_row non_max_suppression_with_scores_rows[] = {
    LEATI_SUPPRESS_ROWS("iou_threshold", "Boxes that overlap a better one by more are left out."),
    {.name = "soft_nms_sigma",
     .type = LEATI_ROW_FLOAT,
     .flags = LEATI_TENSOR,
     .offset = offsetof(struct leati_suppress_args, soft_nms_sigma),
     .doc = "Above 0: how slowly scores become smaller with overlap."},
    {0},
};

static leat_status non_max_suppression_with_scores_infer(leati_infer_call *call, leat_error *err) {
    return leati_suppress_infer(call, 4, true, err);
}

static leat_status non_max_suppression_with_scores_kernel(leati_kernel_call *call,
                                                          leat_error *err) {
    return leati_suppress_kernel(call, 4, leati_box_overlap, err);
}

int leat_op_non_max_suppression_with_scores(leat_value boxes, leat_value scores,
                                            int64_t max_output_size, double iou_threshold,
                                            double score_threshold, double soft_nms_sigma,
                                            leat_value *outputs) {
    struct leati_suppress_args args = {.max_output_size = max_output_size,
                                       .iou_threshold = iou_threshold,
                                       .score_threshold = score_threshold,
                                       .soft_nms_sigma = soft_nms_sigma};
    leat_value first =
        leati_graph_build2(&leati_tensor_op_non_max_suppression_with_scores, &args, boxes, scores);
    if (leati_support_value_failed(first))
        return -1;
    outputs[0] = first;
    outputs[1] = (leat_value){.graph = first.graph, .id = first.id + 1};
    return 2;
}

const leati_tensor_op leati_tensor_op_non_max_suppression_with_scores = {
    .name = "non_max_suppression_with_scores",
    .version = 1,
    .doc = "The numbers and scores of the best boxes, where overlapping ones are left out or "
           "their scores made smaller (tf.image.non_max_suppression_with_scores).",
    .names = "image.non_max_suppression_with_scores",
    .inputs = "boxes scores",
    .types = "float32 float32",
    .outputs = "selected_indices selected_scores",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_PYTHON,
    .rows = non_max_suppression_with_scores_rows,
    .args_size = sizeof(struct leati_suppress_args),
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = non_max_suppression_with_scores_infer,
    .kernel = non_max_suppression_with_scores_kernel,
};
