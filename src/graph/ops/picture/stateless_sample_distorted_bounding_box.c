/* stateless_sample_distorted_bounding_box: a random part of a picture that covers enough of a box
 * (tf.image.stateless_sample_distorted_bounding_box).
 *
 * Results are begin, size and the part as a box. The seed decides; see distorted_box.c, also for
 * failures. No gradient. No state, no locks. */
#include "graph/support/picture/augment.h"
#include "graph/support/picture/distorted_box.h"
#include "graph/support/random/stateless.h"

static const leati_row box_rows[] = {LEATI_DISTORTED_BOX_ROWS, {0}};

static leat_status box_infer(leati_infer_call *call, leat_error *err) {
    LEATI_TRY(leati_stateless_want_seed(call, 2, false, err));
    return leati_distorted_box_infer(call, err);
}

static leat_status box_kernel(leati_kernel_call *call, leat_error *err) {
    leati_philox philox;
    LEATI_TRY(leati_distorted_box_begin(call, err));
    for (int64_t row = 0; row < call->n; row++) {
        call->failed_row = row;
        LEATI_TRY(leati_stateless_stream(call, 2, false, row, &philox, err));
        LEATI_TRY(leati_distorted_box_row(call, row, philox, err));
    }
    call->failed_row = 0;
    return LEAT_OK;
}

int leat_op_stateless_sample_distorted_bounding_box(
    leat_value image_size, leat_value bounding_boxes, leat_value seed,
    const leat_op_sample_distorted_bounding_box_options *options, leat_value *outputs) {
    const leat_value inputs[3] = {image_size, bounding_boxes, seed};
    return leati_distorted_box_build(&leati_tensor_op_stateless_sample_distorted_bounding_box,
                                     inputs, 3, NULL, options, outputs);
}

const leati_tensor_op leati_tensor_op_stateless_sample_distorted_bounding_box = {
    .name = "stateless_sample_distorted_bounding_box",
    .version = 1,
    .doc = "A random part of a picture that covers enough of a box: begin, size and the part as a "
           "box (tf.image.stateless_sample_distorted_bounding_box).",
    .names = "image.stateless_sample_distorted_bounding_box",
    .inputs = "image_size bounding_boxes seed",
    .signature = "image_size bounding_boxes seed min_object_covered aspect_ratio_range area_range "
                 "max_attempts=null use_image_if_no_bounding_boxes=null",
    .types = "T float32 Tseed",
    .outputs = "StatelessSampleDistortedBoundingBox(begin size bboxes)",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_PYTHON,
    .rows = box_rows,
    .args_size = sizeof(struct leati_distorted_box_args),
    .min_inputs = 3,
    .max_inputs = 3,
    .infer = box_infer,
    .kernel = box_kernel,
};
