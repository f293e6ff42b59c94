/* tensor_array_write: a tensor whose slice number `index` is another value (the write of
 * tf.TensorArray while a function is traced). Inputs: rows, index, value.
 *
 * Rows [n, 0] have no slices yet: they become n slices of zeros of the value's shape. An index
 * from n on makes the tensor longer where `grows`, and fails otherwise. Fails where the value's
 * shape is not that of the slices. No state, no locks.
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
    const struct tensor_array_write_args *args = call->args;
    leat_shape shape = {.rank = LEAT_UNKNOWN_RANK};
    const leat_shape *value = &call->inputs[2].shape, *rows = &call->inputs[0].shape;
    LEATI_TRY(leati_support_want_values(call, 0, err));
    LEATI_TRY(leati_support_want_index(call, 1, "the index", err));
    LEATI_TRY(leati_support_want_rank(call, 1, 0, "the index", err));
    LEATI_TRY(leati_support_want_dtype(call, 2, call->inputs[0].dtype, "the value", err));
    if (value->rank >= LEAT_MAX_RANK)
        return leati_refuse(err, SHAPE, "the rank would be %d; expected at most %d",
                            (int)value->rank + 1, LEAT_MAX_RANK);
    if (value->rank >= 0) {
        shape = (leat_shape){.rank = 1, .dims = {LEAT_UNKNOWN_DIM}};
        if (!args->grows && rows->rank > 0)
            shape.dims[0] = rows->dims[0];
        for (int32_t d = 0; d < value->rank; d++)
            shape.dims[shape.rank++] = value->dims[d];
    }
    return leati_op_infer_output(call, call->inputs[0].dtype, &shape, NULL, err);
}

/* The place that row `row` of the call writes to. OUT_OF_RANGE as TensorFlow's TensorArray has it,
 * not INVALID_ARGUMENT. */
static leat_status read_index(leati_kernel_call *call, int64_t row, int64_t count, int64_t *out,
                              leat_error *err) {
    const struct tensor_array_write_args *args = call->args;
    *out = leati_support_index_at(&call->inputs[1], row, 0);
    if (*out >= 0 && *out < INT64_MAX && (*out < count || args->grows))
        return LEAT_OK;
    call->failed_row = row;
    return leati_fail(err, LEAT_OUT_OF_RANGE,
                      "Tried to write to index %lld but array is not resizeable and size is: %lld",
                      (long long)*out, (long long)count);
}

/* The shape of the slices must be that of the value, unless there are none yet. */
static leat_status check_slices(const leati_operand *rows, const leat_shape *slice, bool is_new,
                                int64_t index, leat_error *err) {
    leat_shape old = {.rank = 0};
    char texts[2][128];
    for (int32_t d = 1; d < rows->rank; d++)
        old.dims[old.rank++] = rows->dims[d];
    if (is_new || leati_shape_equal(&old, slice))
        return LEAT_OK;
    return leati_refuse(err, SHAPE,
                        "Could not write to TensorArray index %lld because the value shape is %s "
                        "which is incompatible with the TensorArray's element shape: %s",
                        (long long)index, leati_shape_text(slice, texts[0]),
                        leati_shape_text(&old, texts[1]));
}

static leat_status write_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *rows = &call->inputs[0], *value = &call->inputs[2];
    leat_shape slice = leati_support_operand_shape(value), shape = {.rank = 1};
    int64_t index = leati_support_index_at(&call->inputs[1], 0, 0);
    int64_t count = rows->rank > 0 ? rows->dims[0] : 0;
    bool is_new = rows->rank == 2 && rows->dims[1] == 0;
    LEATI_TRY(check_slices(rows, &slice, is_new, index, err));
    LEATI_TRY(read_index(call, 0, count, &index, err));
    /* Where an array grows there is one row: its shape is data. */
    shape.dims[0] = index >= count ? index + 1 : count;
    for (int32_t d = 0; d < slice.rank; d++)
        shape.dims[shape.rank++] = slice.dims[d];
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    size_t bytes = (size_t)value->count * leat_dtype_size(value->dtype);
    /* Rows of no values have nothing to keep. */
    size_t kept = is_new ? 0 : (size_t)count * bytes;
    for (int64_t row = 0; row < call->n; row++) {
        char *to = leati_support_row_of(&call->outputs[0], row);
        LEATI_TRY(read_index(call, row, count, &index, err));
        if (bytes == 0)
            continue;
        if (kept > 0)
            memcpy(to, leati_support_row_of(rows, row), kept);
        /* Slices between the old end and the index are zeros. */
        memset(to + kept, 0, (size_t)shape.dims[0] * bytes - kept);
        memcpy(to + (size_t)index * bytes, leati_support_row_of(value, row), bytes);
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
