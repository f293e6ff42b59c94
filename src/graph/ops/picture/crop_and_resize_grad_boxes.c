/* crop_and_resize_grad_boxes: what flows back through crop_and_resize into the boxes
 * (tf.raw_ops.CropAndResizeGradBoxes). Inputs: the result's gradient, pictures, boxes, indices.
 *
 * It is that of the method bilinear, whichever it is. Computed in float32. Fails where shapes do
 * not fit. No gradient of its own. No state, no locks. */
#include "graph/support/picture/crop.h"

#include <math.h>
#include <string.h>

static leat_status infer(leati_infer_call *call, leat_error *err) {
    return leati_crop_back_infer(call, LEATI_CROP_BOXES, err);
}

/* The pictures of a row as float32, and the boxes' gradients. */
struct sums {
    const float *pictures;
    float *boxes;
};

/* What a change of the lower and of the upper bound moves a sample by. */
static void bounds_of(int64_t size, int64_t samples, int64_t at, float *low, float *high) {
    float last = (float)(size - 1);
    *low = *high = 0.5F * last;
    if (samples > 1) {
        *high = (float)at * (last / (float)(samples - 1));
        *low = last - *high;
    }
}

static void sum_up(const leati_kernel_call *call, const leati_crop_sample *s, void *context) {
    const struct sums *sums = context;
    const int64_t *dims = call->inputs[LEATI_CROP_IMAGES].dims;
    const int64_t *crop = call->inputs[LEATI_CROP_GRADIENT].dims;
    float top = floorf(s->from_y), left = floorf(s->from_x), low, high;
    float y = s->from_y - top, x = s->from_x - left, by_y = 0, by_x = 0;
    int64_t right = ((int64_t)ceilf(s->from_x) - (int64_t)left) * dims[3];
    int64_t down = ((int64_t)ceilf(s->from_y) - (int64_t)top) * dims[2] * dims[3];
    const float *at =
        sums->pictures + ((s->image * dims[1] + (int64_t)top) * dims[2] + (int64_t)left) * dims[3];
    for (int64_t c = 0; c < dims[3]; c++, at++) {
        float below = at[down] - at[0], below_right = at[down + right] - at[right];
        float beside = at[right] - at[0], beside_down = at[down + right] - at[down];
        by_y += ((1 - x) * below + x * below_right) * s->gradient[c];
        by_x += ((1 - y) * beside + y * beside_down) * s->gradient[c];
    }
    float *box = sums->boxes + 4 * s->box;
    bounds_of(dims[1], crop[1], s->y, &low, &high);
    box[0] += by_y * low;
    box[2] += by_y * high;
    bounds_of(dims[2], crop[2], s->x, &low, &high);
    box[1] += by_x * low;
    box[3] += by_x * high;
}

static leat_status kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape shape = leati_support_operand_shape(&call->inputs[LEATI_CROP_BOXES]);
    leati_operand pictures = call->inputs[LEATI_CROP_IMAGES];
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    if (pictures.dtype != LEAT_FLOAT32)
        LEATI_TRY(leati_support_inner_cast(call, &call->inputs[LEATI_CROP_IMAGES], LEAT_FLOAT32,
                                           &pictures, err));
    for (int64_t row = 0; row < call->n; row++) {
        struct sums sums = {.pictures =
                                (const float *)(const void *)leati_support_row_of(&pictures, row),
                            .boxes = (float *)(void *)leati_support_row_of(&call->outputs[0], row)};
        call->failed_row = row;
        if (call->outputs[0].count > 0)
            memset(sums.boxes, 0, (size_t)call->outputs[0].count * sizeof(float));
        LEATI_TRY(leati_crop_walk(call, row, sum_up, &sums, err));
    }
    call->failed_row = 0;
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_crop_and_resize_grad_boxes = {
    .name = "crop_and_resize_grad_boxes",
    .version = 1,
    .doc = "What flows back through crop_and_resize into the boxes "
           "(tf.raw_ops.CropAndResizeGradBoxes).",
    .types = "float32 T float32 Tindices",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .rows = leati_crop_rows,
    .args_size = sizeof(struct leati_crop_args),
    .min_inputs = 4,
    .max_inputs = 4,
    .infer = infer,
    .kernel = kernel,
};
