/* tensor_array_write: a tensor whose slice number `index` is another value (the write of
 * tf.TensorArray while a function is traced). Inputs: rows, index, value.
 *
 * Rows [n, 0] have no slices yet: they become n slices of zeros of the value's shape. An index
 * from n on makes the tensor longer where `grows`, and fails otherwise. Shapes are data, so rows
 * run one at a time. Fails where the value's shape is not that of the slices. No state, no locks.
 */
#include "graph/support/support.h"

#include <string.h>

struct tensor_array_write_args {
    bool grows;
};

static const leati_row tensor_array_write_rows[] = {
    {.name = "grows",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct tensor_array_write_args, grows),
     .doc = "Whether an index behind the last slice makes the tensor longer."},
    {0},
};

static leat_status write_infer(leati_infer_call *call, leat_error *err) {
    leat_shape shape = {.rank = LEAT_UNKNOWN_RANK};
    const leat_shape *value = &call->inputs[2].shape;
    LEATI_TRY(leati_support_want_values(call, 0, err));
    LEATI_TRY(leati_support_want_index(call, 1, "the index", err));
    LEATI_TRY(leati_support_want_rank(call, 1, 0, "the index", err));
    LEATI_TRY(leati_support_want_dtype(call, 2, call->inputs[0].dtype, "the value", err));
    if (value->rank >= LEAT_MAX_RANK)
        return leati_refuse(err, SHAPE, "the rank would be %d; expected at most %d",
                            (int)value->rank + 1, LEAT_MAX_RANK);
    if (value->rank >= 0) {
        shape = (leat_shape){.rank = 1, .dims = {LEAT_UNKNOWN_DIM}};
        for (int32_t d = 0; d < value->rank; d++)
            shape.dims[shape.rank++] = value->dims[d];
    }
    return leati_op_infer_output(call, call->inputs[0].dtype, &shape, NULL, err);
}

static leat_status write_kernel(leati_kernel_call *call, leat_error *err) {
    const struct tensor_array_write_args *args = call->args;
    const leati_operand *rows = &call->inputs[0], *value = &call->inputs[2];
    leat_shape slice = leati_support_operand_shape(value), shape = {.rank = 1}, old = {.rank = 0};
    int64_t index = leati_support_index_at(&call->inputs[1], 0, 0);
    int64_t count = rows->rank > 0 ? rows->dims[0] : 0;
    bool is_new = rows->rank == 2 && rows->dims[1] == 0;
    char texts[2][128];
    for (int32_t d = 1; d < rows->rank; d++)
        old.dims[old.rank++] = rows->dims[d];
    if (!is_new && !leati_shape_equal(&old, &slice))
        return leati_refuse(
            err, SHAPE,
            "Could not write to TensorArray index %lld because the value shape is %s "
            "which is incompatible with the TensorArray's element shape: %s",
            (long long)index, leati_shape_text(&slice, texts[0]), leati_shape_text(&old, texts[1]));
    /* OUT_OF_RANGE as TensorFlow's TensorArray has it, not INVALID_ARGUMENT. */
    if (index < 0 || index == INT64_MAX || (index >= count && !args->grows))
        return leati_fail(err, LEAT_OUT_OF_RANGE,
                          "Tried to write to index %lld but array is not resizeable and size is: "
                          "%lld",
                          (long long)index, (long long)count);
    shape.dims[0] = index >= count ? index + 1 : count;
    for (int32_t d = 0; d < slice.rank; d++)
        shape.dims[shape.rank++] = slice.dims[d];
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    size_t bytes = (size_t)value->count * leat_dtype_size(value->dtype);
    /* Rows of no values have nothing to keep. */
    size_t kept = is_new ? 0 : (size_t)count * bytes;
    char *to = call->outputs[0].data;
    if (bytes > 0) {
        if (kept > 0)
            memcpy(to, rows->data, kept);
        /* Slices between the old end and the index are zeros. */
        memset(to + kept, 0, (size_t)shape.dims[0] * bytes - kept);
        memcpy(to + (size_t)index * bytes, value->data, bytes);
    }
    return leati_support_hold_strings(call, 0, err);
}

static leat_status write_gradient(leati_gradient_call *call, leat_error *err) {
    leat_value g = call->output_gradients[0], index = call->inputs[1], value = call->inputs[2];
    struct tensor_array_write_args args = *(const struct tensor_array_write_args *)call->args;
    (void)err;
    /* The slice that was written gets its gradient; the one that it replaced gets zeros. */
    call->input_gradients[2] = leat_op_gather(g, index, 0, 0);
    call->input_gradients[0] = leati_graph_build3(&leati_tensor_op_tensor_array_write, &args, g,
                                                  index, leat_op_zeros_like(value));
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_tensor_array_write = {
    .name = "tensor_array_write",
    .version = 1,
    .doc = "A tensor whose slice number index is another value (the write of tf.TensorArray).",
    .types = "T Tindices T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .rows = tensor_array_write_rows,
    .args_size = sizeof(struct tensor_array_write_args),
    .min_inputs = 3,
    .max_inputs = 3,
    .infer = write_infer,
    .kernel = write_kernel,
    .gradient = write_gradient,
};
