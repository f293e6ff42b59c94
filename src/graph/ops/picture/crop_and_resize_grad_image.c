/* crop_and_resize_grad_image: what flows back through crop_and_resize into the pictures
 * (tf.raw_ops.CropAndResizeGradImage). Inputs: the result's gradient, pictures, boxes, indices.
 *
 * Computed in float32. Fails where shapes do not fit. No gradient of its own. No state, no locks.
 */
#include "graph/support/picture/crop.h"

#include <math.h>
#include <string.h>

static leat_status infer(leati_infer_call *call, leat_error *err) {
    leat_dtype dtype = call->inputs[LEATI_CROP_IMAGES].dtype;
    if (dtype < LEAT_FLOAT16 || dtype > LEAT_FLOAT64)
        return leati_refuse(err, DTYPE, "the pictures are %s; expected floats",
                            leat_dtype_name(dtype));
    return leati_crop_back_infer(call, LEATI_CROP_IMAGES, err);
}

/* The picture's gradient, at a pixel. */
static float *pixel_of(float *pictures, const int64_t *dims, int64_t image, float y, float x) {
    return pictures + ((image * dims[1] + (int64_t)y) * dims[2] + (int64_t)x) * dims[3];
}

static void add(float *to, const float *gradient, float weight, int64_t channels) {
    for (int64_t c = 0; c < channels; c++)
        to[c] += gradient[c] * weight;
}

static void spread(const leati_kernel_call *call, const leati_crop_sample *s, void *context) {
    const struct leati_crop_args *args = call->args;
    const int64_t *dims = call->inputs[LEATI_CROP_IMAGES].dims;
    float *to = context, top = floorf(s->from_y), left = floorf(s->from_x);
    float y = s->from_y - top, x = s->from_x - left;
    if (strcmp(args->method, "nearest") == 0) {
        add(pixel_of(to, dims, s->image, roundf(s->from_y), roundf(s->from_x)), s->gradient, 1,
            dims[3]);
        return;
    }
    float bottom = ceilf(s->from_y), right = ceilf(s->from_x);
    add(pixel_of(to, dims, s->image, top, left), s->gradient, (1 - y) * (1 - x), dims[3]);
    add(pixel_of(to, dims, s->image, top, right), s->gradient, (1 - y) * x, dims[3]);
    add(pixel_of(to, dims, s->image, bottom, left), s->gradient, y * (1 - x), dims[3]);
    add(pixel_of(to, dims, s->image, bottom, right), s->gradient, y * x, dims[3]);
}

static leat_status kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape shape = leati_support_operand_shape(&call->inputs[LEATI_CROP_IMAGES]);
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    leati_operand out = call->outputs[0];
    size_t row_bytes = (size_t)out.count * sizeof(float), bytes = row_bytes * (size_t)call->n;
    if (out.dtype != LEAT_FLOAT32) {
        out.dtype = LEAT_FLOAT32;
        out.row_stride = (int64_t)row_bytes;
        out.data = leati_arena_alloc(call->arena, bytes > 0 ? bytes : 1);
        if (out.data == NULL)
            return leati_no_memory(err);
    }
    for (int64_t row = 0; row < call->n; row++) {
        call->failed_row = row;
        if (row_bytes > 0)
            memset(leati_support_row_of(&out, row), 0, row_bytes);
        LEATI_TRY(leati_crop_walk(call, row, spread, leati_support_row_of(&out, row), err));
    }
    call->failed_row = 0;
    return call->outputs[0].dtype == LEAT_FLOAT32
               ? LEAT_OK
               : leati_support_inner_cast_into(call, &out, &call->outputs[0], err);
}

const leati_tensor_op leati_tensor_op_crop_and_resize_grad_image = {
    .name = "crop_and_resize_grad_image",
    .version = 1,
    .doc = "What flows back through crop_and_resize into the pictures "
           "(tf.raw_ops.CropAndResizeGradImage).",
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
