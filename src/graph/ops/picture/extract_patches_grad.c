/* extract_patches_grad: what flows back through extract_patches: each pixel's gradient is the sum
 * over the windows that hold it. Inputs: the result's gradient, and the pictures, whose shape
 * counts.
 *
 * Computed in float32, of float64 in float64. Fails where shapes do not fit. Its own gradient is
 * extract_patches. No state, no locks. */
#include "graph/support/picture/patches.h"

#include <string.h>

static leat_status extract_patches_grad_infer(leati_infer_call *call, leat_error *err) {
    leati_conv_plan plan;
    leat_shape gradient, images, shape;
    leat_dtype dtype = call->inputs[1].dtype;
    if (!leati_graph_dtype_is_floating(dtype))
        return leati_refuse(err, DTYPE, "the pictures are %s; expected floats",
                            leat_dtype_name(dtype));
    LEATI_TRY(leati_support_want_same_dtypes(call, err));
    LEATI_TRY(leati_window_want_rank4(call, 0, "the gradient", &gradient, err));
    LEATI_TRY(leati_window_want_rank4(call, 1, "images", &images, err));
    LEATI_TRY(leati_patches_plan(&plan, call->args, &images, &shape, err));
    LEATI_TRY(leati_window_want_result_shape(&gradient, &shape, err));
    return leati_op_infer_output(call, dtype, &images, NULL, err);
}

/* Adds a window's line of gradients to the picture's. */
#define ADD_WINDOW(TYPE)                                                                           \
    static void add_window_##TYPE(const leati_conv_plan *plan, const TYPE *from, int64_t y,        \
                                  int64_t x, TYPE *picture) {                                      \
        for (int64_t ky = 0; ky < plan->y.kernel; ky++) {                                          \
            int64_t row = y * plan->y.stride - plan->y.before + ky * plan->y.dilation;             \
            for (int64_t kx = 0; kx < plan->x.kernel; kx++, from += plan->channels) {              \
                int64_t column = x * plan->x.stride - plan->x.before + kx * plan->x.dilation;      \
                if (row < 0 || row >= plan->y.in || column < 0 || column >= plan->x.in)            \
                    continue;                                                                      \
                TYPE *to = picture + (row * plan->x.in + column) * plan->channels;                 \
                for (int64_t c = 0; c < plan->channels; c++)                                       \
                    to[c] += from[c];                                                              \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    static void add_all_##TYPE(const leati_conv_plan *plan, const void *gradient,                  \
                               void *pictures) {                                                   \
        const TYPE *from = gradient;                                                               \
        TYPE *to = pictures;                                                                       \
        int64_t patch = plan->y.kernel * plan->x.kernel * plan->channels;                          \
        for (int64_t i = 0; i < plan->batch; i++, to += plan->y.in * plan->x.in * plan->channels)  \
            for (int64_t y = 0; y < plan->y.out; y++)                                              \
                for (int64_t x = 0; x < plan->x.out; x++, from += patch)                           \
                    add_window_##TYPE(plan, from, y, x, to);                                       \
    }
ADD_WINDOW(float)
ADD_WINDOW(double)

static leat_status extract_patches_grad_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape gradient = leati_support_operand_shape(&call->inputs[0]), shape;
    leat_shape images = leati_support_operand_shape(&call->inputs[1]);
    leat_dtype dtype = call->inputs[1].dtype;
    leati_conv_plan plan;
    LEATI_TRY(leati_patches_plan(&plan, call->args, &images, &shape, err));
    LEATI_TRY(leati_window_want_result_shape(&gradient, &shape, err));
    LEATI_TRY(leati_support_output_like(call, 0, &images, err));
    leati_operand in = call->inputs[0], out = call->outputs[0];
    bool direct = dtype == LEAT_FLOAT32 || dtype == LEAT_FLOAT64;
    if (!direct) {
        LEATI_TRY(leati_support_inner_cast(call, &call->inputs[0], LEAT_FLOAT32, &in, err));
        LEATI_TRY(leati_support_inner_memory(call, &call->inputs[1], LEAT_FLOAT32, &out, err));
    }
    for (int64_t row = 0; row < call->n && out.count > 0; row++) {
        memset(leati_support_row_of(&out, row), 0, (size_t)out.count * leat_dtype_size(out.dtype));
        if (dtype == LEAT_FLOAT64)
            add_all_double(&plan, leati_support_row_of(&in, row), leati_support_row_of(&out, row));
        else
            add_all_float(&plan, leati_support_row_of(&in, row), leati_support_row_of(&out, row));
    }
    return direct ? LEAT_OK : leati_support_inner_cast_into(call, &out, &call->outputs[0], err);
}

static leat_status extract_patches_grad_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    call->input_gradients[0] =
        leati_graph_build1(&leati_tensor_op_extract_patches, call->args, call->output_gradients[0]);
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_extract_patches_grad = {
    .name = "extract_patches_grad",
    .version = 1,
    .doc = "What flows back through extract_patches.",
    .types = "T T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .rows = leati_patches_rows,
    .args_size = sizeof(struct leati_patches_args),
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = extract_patches_grad_infer,
    .kernel = extract_patches_grad_kernel,
    .gradient = extract_patches_grad_gradient,
};
