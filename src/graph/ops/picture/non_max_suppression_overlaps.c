/* non_max_suppression_overlaps: the numbers of the boxes with the best scores, without those that
 * overlap a better one too much, by a matrix that says how far each two overlap
 * (tf.image.non_max_suppression_overlaps).
 *
 * See suppress.h. No gradient, no state, no locks. */
#include "graph/support/picture/suppress.h"

#include <math.h>

static const leati_row non_max_suppression_overlaps_rows[] = {
    LEATI_SUPPRESS_ROWS("overlap_threshold",
                        "Boxes that overlap a better one by more are left out."),
    {0},
};

static float overlap_of(const float *overlaps, int64_t n, int64_t i, int64_t j) {
    return overlaps[i * n + j];
}

static leat_status non_max_suppression_overlaps_infer(leati_infer_call *call, leat_error *err) {
    return leati_suppress_infer(call, -1, false, err);
}

static leat_status non_max_suppression_overlaps_kernel(leati_kernel_call *call, leat_error *err) {
    return leati_suppress_kernel(call, -1, overlap_of, err);
}

leat_value leat_op_non_max_suppression_overlaps(leat_value overlaps, leat_value scores,
                                                int64_t max_output_size, double overlap_threshold,
                                                double score_threshold) {
    struct leati_suppress_args args = {.max_output_size = max_output_size,
                                       .iou_threshold = overlap_threshold,
                                       .score_threshold = score_threshold};
    return leati_graph_build2(&leati_tensor_op_non_max_suppression_overlaps, &args, overlaps,
                              scores);
}

const leati_tensor_op leati_tensor_op_non_max_suppression_overlaps = {
    .name = "non_max_suppression_overlaps",
    .version = 1,
    .doc = "The numbers of the boxes with the best scores, without those that overlap a better one "
           "too much, by a matrix of overlaps (tf.image.non_max_suppression_overlaps).",
    .names = "image.non_max_suppression_overlaps",
    .inputs = "overlaps scores",
    .types = "float32 float32",
    .outputs = "output",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_PYTHON,
    .rows = non_max_suppression_overlaps_rows,
    .args_size = sizeof(struct leati_suppress_args),
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = non_max_suppression_overlaps_infer,
    .kernel = non_max_suppression_overlaps_kernel,
};
