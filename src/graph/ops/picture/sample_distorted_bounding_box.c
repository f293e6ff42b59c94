/* sample_distorted_bounding_box: a random part of a picture that covers enough of a box, drawn by
 * numbers that go on from call to call (tf.image.sample_distorted_bounding_box).
 *
 * Results are begin, size and the part as a box; see distorted_box.c, also for failures. A seed of
 * 0 means none, as there, and without a seed the numbers differ from run to run whatever the global
 * seed is. A call reserves a block for each attempt. No gradient. No state, no locks. */
#include "graph/support/picture/distorted_box.h"

static const leati_row box_rows[] = {LEATI_DISTORTED_BOX_ROWS, LEATI_SEED_ROWS};

static leat_status box_complete(leat_graph *graph, void *node_args, leat_error *err) {
    struct leati_random_args *args = node_args;
    if (graph == NULL || args->graph_seed != 0 || args->op_seed != 0)
        return LEAT_OK;
    if (args->seed.given && args->seed.value != 0)
        return leati_random_complete(graph, args, err);
    args->unseeded = true;
    leati_random_fresh_seed_if_zero(&args->graph_seed, &args->op_seed);
    return LEAT_OK;
}

static leat_status box_kernel(leati_kernel_call *call, leat_error *err) {
    const struct leati_distorted_box_args *args = call->args;
    LEATI_TRY(leati_distorted_box_begin(call, err));
    for (int64_t row = 0; row < call->n; row++) {
        leati_philox philox;
        call->failed_row = row;
        LEATI_TRY(leati_random_stream(call, &leati_tensor_op_sample_distorted_bounding_box, row,
                                      (uint64_t)args->max_attempts, &philox, err));
        LEATI_TRY(leati_distorted_box_row(call, row, philox, err));
    }
    call->failed_row = 0;
    return LEAT_OK;
}

int leat_op_sample_distorted_bounding_box(
    leat_value image_size, leat_value bounding_boxes, const int64_t *seed,
    const leat_op_sample_distorted_bounding_box_options *options, leat_value *outputs) {
    const leat_value inputs[2] = {image_size, bounding_boxes};
    return leati_distorted_box_build(&leati_tensor_op_sample_distorted_bounding_box, inputs, 2,
                                     seed, options, outputs);
}

const leati_tensor_op leati_tensor_op_sample_distorted_bounding_box = {
    .name = "sample_distorted_bounding_box",
    .version = 1,
    .doc = "A random part of a picture that covers enough of a box: begin, size and the part as a "
           "box (tf.image.sample_distorted_bounding_box).",
    .names = "image.sample_distorted_bounding_box",
    .inputs = "image_size bounding_boxes",
    .signature = "image_size bounding_boxes seed=0 min_object_covered aspect_ratio_range "
                 "area_range max_attempts=null use_image_if_no_bounding_boxes=null",
    .types = "T float32",
    .outputs = "SampleDistortedBoundingBoxV2(begin size bboxes)",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_PYTHON,
    .rows = box_rows,
    .args_size = sizeof(struct leati_distorted_box_args),
    .min_inputs = 2,
    .max_inputs = 2,
    .flags = LEATI_RANDOM,
    .infer = leati_distorted_box_infer,
    .complete = box_complete,
    .kernel = box_kernel,
};
