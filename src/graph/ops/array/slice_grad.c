/* slice_grad, strided_slice_grad: zeros of the second input's shape, with the first input at the
 * place of the part: the gradients of slice and strided_slice.
 *
 * They fail where the gradient has not the shape of the part. No state, no locks. */
#include "graph/ops/array/slice.h"
#include "graph/ops/array/strided_slice.h"
#include "graph/support/array/moving.h"

/* Writes input 0, which must have the part's shape, to the part's places in zeros. */
static leat_status put(leati_kernel_call *call, const leat_shape *whole,
                       const leati_strided_part *part, leat_error *err) {
    const leati_operand *in = &call->inputs[0], *out = &call->outputs[0];
    leat_shape found = leati_support_operand_shape(in);
    int64_t in_steps[LEAT_MAX_RANK];
    size_t size = leat_dtype_size(in->dtype);
    char texts[2][128];
    if (!leati_shape_equal(&part->shape, &found))
        return leati_refuse(err, SHAPE, "the gradient is %s; expected %s",
                            leati_shape_text(&found, texts[0]),
                            leati_shape_text(&part->shape, texts[1]));
    LEATI_TRY(leati_support_output_like(call, 0, whole, err));
    leati_support_dense_steps(&part->shape, size, in_steps);
    for (int64_t row = 0; row < call->n && out->count > 0; row++)
        leati_moving_fill(leati_support_row_of(out, row), out->count * (int64_t)size, "", 1);
    /* An empty part may begin behind the last value: its offset leads nowhere. */
    leati_moving_rows(call, out, part->offset, part->steps, in, 0, in_steps, part->shape.dims,
                      part->shape.rank, size);
    return LEAT_OK;
}

static leat_status grad_infer(leati_infer_call *call, leat_error *err) {
    LEATI_TRY(leati_support_want_same_dtypes(call, err));
    if (call->inputs[0].dtype == LEAT_STRING || call->inputs[0].dtype == LEAT_OBJECT)
        return leati_refuse(err, DTYPE, "the gradient is %s; expected numbers",
                            leat_dtype_name(call->inputs[0].dtype));
    return leati_op_infer_output(call, call->inputs[0].dtype, &call->inputs[1].shape, NULL, err);
}

/* ---- slice_grad ---- */
static leat_status slice_grad_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape whole = leati_support_operand_shape(&call->inputs[1]);
    leati_strided_part part = {.shape = {0}};
    LEATI_TRY(leati_slice_shape(call->args, &whole, &part.shape, err));
    leati_support_dense_steps(&whole, leat_dtype_size(call->inputs[0].dtype), part.steps);
    part.offset = leati_slice_offset(call->args, part.steps);
    return put(call, &whole, &part, err);
}

static leat_status slice_grad_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    call->input_gradients[0] =
        leati_graph_build1(&leati_tensor_op_slice, call->args, call->output_gradients[0]);
    return LEAT_OK;
}

/* ---- strided_slice_grad ---- */
static leat_status strided_slice_grad_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape whole = leati_support_operand_shape(&call->inputs[1]);
    leati_strided_part part;
    LEATI_TRY(leati_strided_part_of(call->args, &whole, leat_dtype_size(call->inputs[0].dtype),
                                    false, &part, err));
    return put(call, &whole, &part, err);
}

static leat_status strided_slice_grad_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    call->input_gradients[0] =
        leati_graph_build1(&leati_tensor_op_strided_slice, call->args, call->output_gradients[0]);
    return LEAT_OK;
}

#define SLICE_GRAD(OP, ROWS, ARGS, ...)                                                            \
    const leati_tensor_op leati_tensor_op_##OP = {                                                 \
        .name = #OP,                                                                               \
        .version = 1,                                                                              \
        .types = "T T",                                                                            \
        .outputs = "output",                                                                       \
        .rows = ROWS,                                                                              \
        .args_size = sizeof(ARGS),                                                                 \
        .min_inputs = 2,                                                                           \
        .max_inputs = 2,                                                                           \
        .infer = grad_infer,                                                                       \
        .kernel = OP##_kernel,                                                                     \
        .gradient = OP##_gradient,                                                                 \
        __VA_ARGS__,                                                                               \
    };
SLICE_GRAD(
    slice_grad, leati_slice_rows, struct leati_slice_args,
    .doc = "Zeros of the second input's shape with the first at the slice's place (for gradients).",
    .halves = LEATI_HALVES_OWN)
SLICE_GRAD(strided_slice_grad, leati_strided_slice_rows, struct leati_strided_slice_args,
           .doc = "Zeros of the second input's shape with the first at the places of the part (for "
                  "gradients).",
           .halves = LEATI_HALVES_OWN)
