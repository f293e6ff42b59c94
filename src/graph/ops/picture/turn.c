/* flip_left_right, flip_up_down, image_transpose, rot90: pictures [H, W, C] or [N, H, W, C]
 * mirrored along their width or height, with both in each other's place, or turned
 * counter-clockwise by quarter turns (tf.image.flip_left_right and its like).
 *
 * The gradient is mirrored, or turned back. Fails on other ranks. No state, no locks. */
#include "base/stop.h"
#include "graph/support/array/moving.h"
#include "graph/support/picture/frames.h"
#include "graph/support/support.h"
#include "image/flip.h"

static leat_status check_rank(int32_t rank, leat_error *err) {
    if (rank < 0 || rank == 3 || rank == 4)
        return LEAT_OK;
    return leati_refuse(err, SHAPE, "the pictures have rank %d; expected [H, W, C] or [N, H, W, C]",
                        (int)rank);
}

static leat_status flip_left_right_infer(leati_infer_call *call, leat_error *err) {
    /* Strings, too: the other operations of this file take numbers alone. */
    LEATI_TRY(leati_support_want_values(call, 0, err));
    LEATI_TRY(check_rank(call->inputs[0].shape.rank, err));
    return leati_op_infer_same(call, err);
}

/* Lines of all pictures of a row: mirroring does not care which picture they belong to. */
typedef struct mirrored {
    const char *from;
    char *to;
    size_t stride, width, pixel;
} mirrored;

static void mirror_lines(void *data, int64_t begin, int64_t end) {
    const mirrored *m = data;
    size_t at = (size_t)begin * m->stride;
    leati_flip_left_right(m->from + at, m->stride, m->to + at, m->stride, (size_t)(end - begin),
                          m->width, m->pixel);
}

static leat_status flip_left_right_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *in = &call->inputs[0];
    leat_shape shape = leati_support_operand_shape(in);
    LEATI_TRY(check_rank(in->rank, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    if (in->count == 0)
        return leati_support_hold_strings(call, 0, err);
    size_t pixel = (size_t)in->dims[in->rank - 1] * leat_dtype_size(in->dtype);
    size_t width = (size_t)in->dims[in->rank - 2];
    size_t lines = (size_t)in->count * leat_dtype_size(in->dtype) / (pixel * width);
    for (int64_t row = 0; row < call->n; row++)
        leati_moving_share((int64_t)lines, (int64_t)(width * pixel), mirror_lines,
                           &(mirrored){leati_support_row_of(in, row),
                                       leati_support_row_of(&call->outputs[0], row), width * pixel,
                                       width, pixel});
    return leati_support_hold_strings(call, 0, err);
}

static leat_status flip_left_right_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    call->input_gradients[0] = leat_op_flip_left_right(call->output_gradients[0]);
    return LEAT_OK;
}

static leat_status flip_up_down_infer(leati_infer_call *call, leat_error *err) {
    return leati_frames_infer(call, LEATI_KEEP, LEATI_KEEP, call->inputs[0].dtype, err);
}

static leat_status flip_up_down_kernel(leati_kernel_call *call, leat_error *err) {
    leati_frames in;
    LEATI_TRY(leati_frames_begin(call, LEATI_KEEP, LEATI_KEEP, &in, err));
    size_t pixel = (size_t)in.channels * leat_dtype_size(call->inputs[0].dtype);
    size_t stride = (size_t)in.width * pixel, picture = (size_t)in.height * stride;
    for (int64_t row = 0, done = 0; row < call->n && call->outputs[0].count > 0; row++)
        for (int64_t i = 0; i < in.count && !leati_stop_look_after((int64_t)picture, &done); i++)
            leati_flip_up_down(leati_support_row_of(&call->inputs[0], row) + (size_t)i * picture,
                               stride,
                               leati_support_row_of(&call->outputs[0], row) + (size_t)i * picture,
                               stride, (size_t)in.height, (size_t)in.width, pixel);
    return LEAT_OK;
}

static leat_status flip_up_down_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    call->input_gradients[0] = leat_op_flip_up_down(call->output_gradients[0]);
    return LEAT_OK;
}

static leat_status image_transpose_infer(leati_infer_call *call, leat_error *err) {
    const leat_shape *shape = &call->inputs[0].shape;
    bool known = shape->rank == 3 || shape->rank == 4;
    return leati_frames_infer(call, known ? shape->dims[shape->rank - 2] : LEAT_UNKNOWN_DIM,
                              known ? shape->dims[shape->rank - 3] : LEAT_UNKNOWN_DIM,
                              call->inputs[0].dtype, err);
}

static leat_status image_transpose_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape shape = leati_support_operand_shape(&call->inputs[0]);
    leati_frames in;
    LEATI_TRY(leati_frames_of(&shape, &in, err));
    /* Pixel (y, x) of the result is (x, y) of the picture: a step down moves by one column. */
    return leati_frames_walk(call, in.width, in.height, 0, 1, in.width, err);
}

static leat_status image_transpose_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    call->input_gradients[0] = leat_op_image_transpose(call->output_gradients[0]);
    return LEAT_OK;
}

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

/* Into 0 to 3, also for negative numbers, whose remainder is negative in C. */
static int64_t turns_of(const struct rot90_args *args) {
    return (args->k % 4 + 4) % 4;
}

static leat_status rot90_infer(leati_infer_call *call, leat_error *err) {
    const leat_shape *shape = &call->inputs[0].shape;
    leat_dtype dtype = call->inputs[0].dtype;
    if (call->unknown != 0 || (shape->rank != 3 && shape->rank != 4))
        return leati_frames_infer(call, LEAT_UNKNOWN_DIM, LEAT_UNKNOWN_DIM, dtype, err);
    /* Half turns keep the size, quarter turns swap its sides. */
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
    /* Where the first pixel comes from, and the steps down and to the right, in pixels. */
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

/* The descriptor of one operation. */
#define TURN_OP(NAME, DOC, ...)                                                                    \
    const leati_tensor_op leati_tensor_op_##NAME = {                                               \
        .name = #NAME,                                                                             \
        .version = 1,                                                                              \
        .doc = DOC " (tf.image." #NAME ").",                                                       \
        .names = "image." #NAME,                                                                   \
        .inputs = "image",                                                                         \
        .types = "T",                                                                              \
        .outputs = "output",                                                                       \
        .halves = LEATI_HALVES_OWN,                                                                \
        .checks = LEATI_CHECKS_IN_PYTHON,                                                          \
        .min_inputs = 1,                                                                           \
        .max_inputs = 1,                                                                           \
        .infer = NAME##_infer,                                                                     \
        .kernel = NAME##_kernel,                                                                   \
        .gradient = NAME##_gradient,                                                               \
        __VA_ARGS__,                                                                               \
    };
TURN_OP(flip_left_right, "Pictures mirrored along their width", .rows = leati_no_rows,
        .trait = LEATI_TRAIT_MIRROR)
TURN_OP(flip_up_down, "Pictures mirrored along their height", .rows = leati_no_rows,
        .trait = LEATI_TRAIT_MIRROR)
TURN_OP(rot90, "Pictures turned counter-clockwise by quarter turns", .rows = rot90_rows,
        .args_size = sizeof(struct rot90_args))

const leati_tensor_op leati_tensor_op_image_transpose = {
    .name = "image_transpose",
    .version = 1,
    .doc = "Pictures whose height and width change places (tf.image.transpose).",
    .names = "image.transpose",
    .inputs = "image",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_PYTHON,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = image_transpose_infer,
    .kernel = image_transpose_kernel,
    .gradient = image_transpose_gradient,
};
