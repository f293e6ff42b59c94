/* rot90: pictures turned counter-clockwise by quarter turns (tf.image.rot90).
 *
 * The gradient is turned back. Fails on other ranks than 3 and 4. No state, no locks. */
#include "graph/support/picture/frames.h"

struct rot90_args {
    int64_t k;
};

static const leati_row rot90_rows[] = {
    {.name = "k",
     .type = LEATI_ROW_INT,
     .flags = LEATI_TENSOR,
     .offset = offsetof(struct rot90_args, k),
     .default_number = 1,
     .doc = "How many quarter turns; negative ones are clockwise."},
    {0},
};

static int64_t turns_of(const struct rot90_args *args) {
    return (args->k % 4 + 4) % 4;
}

static leat_status rot90_infer(leati_infer_call *call, leat_error *err) {
    const leat_shape *shape = &call->inputs[0].shape;
    leat_dtype dtype = call->inputs[0].dtype;
    if (call->unknown != 0 || (shape->rank != 3 && shape->rank != 4))
        return leati_frames_infer(call, LEAT_UNKNOWN_DIM, LEAT_UNKNOWN_DIM, dtype, err);
    if (turns_of(call->args) % 2 == 0)
        return leati_frames_infer(call, LEATI_KEEP, LEATI_KEEP, dtype, err);
    return leati_frames_infer(call, shape->dims[shape->rank - 2], shape->dims[shape->rank - 3],
                              dtype, err);
}

static leat_status rot90_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape shape = leati_support_operand_shape(&call->inputs[0]);
    leati_frames in;
    LEATI_TRY(leati_frames_of(&shape, &in, err));
    int64_t height = in.height, width = in.width;
    switch (turns_of(call->args)) {
    case 0: return leati_frames_walk(call, height, width, 0, width, 1, err);
    case 1: return leati_frames_walk(call, width, height, width - 1, -1, width, err);
    case 2: return leati_frames_walk(call, height, width, height * width - 1, -width, -1, err);
    default: return leati_frames_walk(call, width, height, (height - 1) * width, 1, -width, err);
    }
}

static leat_status rot90_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    call->input_gradients[0] = leat_op_rot90(call->output_gradients[0], -turns_of(call->args));
    return LEAT_OK;
}

leat_value leat_op_rot90(leat_value images, int64_t k) {
    struct rot90_args args = {k};
    return leati_graph_build1(&leati_tensor_op_rot90, &args, images);
}

const leati_tensor_op leati_tensor_op_rot90 = {
    .name = "rot90",
    .version = 1,
    .doc = "Pictures turned counter-clockwise by quarter turns (tf.image.rot90).",
    .names = "image.rot90",
    .inputs = "image",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_PYTHON,
    .rows = rot90_rows,
    .args_size = sizeof(struct rot90_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = rot90_infer,
    .kernel = rot90_kernel,
    .gradient = rot90_gradient,
};
