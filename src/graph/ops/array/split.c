/* split: a tensor cut along a dimension into equal or given sizes, each an output (tf.split).
 *
 * Fails where the sizes are not those of the dimension. No state, no locks. */
#include "core/tensor.h"
#include "graph/support/array/moving.h"

struct split_args {
    leat_element num_or_size_splits;
    int64_t axis, num;
};

static const leati_row split_rows[] = {
    {.name = "num_or_size_splits",
     .type = LEATI_ROW_ELEMENT,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct split_args, num_or_size_splits),
     .doc = "A number of equal parts, or a list of their sizes, of which one may be -1."},
    {.name = "axis",
     .type = LEATI_ROW_INT,
     .offset = offsetof(struct split_args, axis),
     .doc = "The dimension to cut; negative counts from the end."},
    {.name = "num",
     .type = LEATI_ROW_INT,
     .flags = LEATI_NONE,
     .offset = offsetof(struct split_args, num),
     .default_number = (double)INT64_MIN,
     .doc = "How many sizes there are; none: as many as the list says."},
    {0},
};

typedef struct cut {
    int64_t sizes[LEAT_MAX_OUTPUTS];
    int count;
} cut;

/* The parts as the argument says them; sizes of equal ones are not known yet. */
static leat_status read_cut(const struct split_args *args, cut *out, bool *equal, leat_error *err) {
    const leat_tensor *tensor = args->num_or_size_splits.tensors;
    if (args->num_or_size_splits.num_tensors != 1 || tensor->rank > 1 ||
        !leati_dtype_is_integer(tensor->dtype))
        return leati_refuse(err, VALUE,
                            "num_or_size_splits: expected an integer, or a list of them");
    *equal = tensor->rank == 0;
    int64_t count = *equal ? leati_tensor_int_at(tensor, 0) : leat_tensor_count(tensor);
    if (count < 1)
        return leati_refuse(err, VALUE, "%lld parts; expected at least 1", (long long)count);
    if (count > LEAT_MAX_OUTPUTS)
        return leati_fail(err, LEAT_UNIMPLEMENTED, "%lld parts; at most %d outputs are possible",
                          (long long)count, LEAT_MAX_OUTPUTS);
    out->count = (int)count;
    for (int i = 0; i < out->count; i++)
        out->sizes[i] = *equal ? LEAT_UNKNOWN_DIM : leati_tensor_int_at(tensor, i);
    return LEAT_OK;
}

/* The sizes of the parts of a dimension of `dim`, which may be unknown. */
static leat_status cut_of(const struct split_args *args, int64_t dim, cut *out, leat_error *err) {
    bool equal = false;
    LEATI_TRY(read_cut(args, out, &equal, err));
    /* Without the dimension an open -1 stays, which means unknown here as well. */
    if (dim == LEAT_UNKNOWN_DIM)
        return LEAT_OK;
    if (equal && dim % out->count != 0)
        return leati_refuse(err, SHAPE, "%lld values cannot be cut into %d equal parts",
                            (long long)dim, out->count);
    int64_t left = dim;
    int open = -1;
    for (int i = 0; i < out->count; i++) {
        if (equal)
            out->sizes[i] = dim / out->count;
        /* Compared with what is left, so that a sum of sizes never overflows. */
        if (out->sizes[i] < -1 || out->sizes[i] > left || (out->sizes[i] == -1 && open >= 0))
            return leati_refuse(err, SHAPE, "size %lld of part %d does not fit into %lld values",
                                (long long)out->sizes[i], i, (long long)dim);
        if (out->sizes[i] == -1)
            open = i;
        else
            left -= out->sizes[i];
    }
    if (open >= 0)
        out->sizes[open] = left;
    else if (left != 0)
        return leati_refuse(err, SHAPE, "the sizes leave %lld of %lld values", (long long)left,
                            (long long)dim);
    return LEAT_OK;
}

static leat_status split_infer(leati_infer_call *call, leat_error *err) {
    const struct split_args *args = call->args;
    leat_shape shape = call->inputs[0].shape;
    int32_t axis = 0;
    cut parts;
    LEATI_TRY(leati_support_want_values(call, 0, err));
    if (shape.rank >= 0)
        LEATI_TRY(leati_support_normal_axis(args->axis, shape.rank, &axis, err));
    LEATI_TRY(cut_of(args, shape.rank >= 0 ? shape.dims[axis] : LEAT_UNKNOWN_DIM, &parts, err));
    for (int i = 0; i < parts.count; i++) {
        /* One shape serves all parts: only the axis differs. */
        if (shape.rank >= 0)
            shape.dims[axis] = parts.sizes[i];
        LEATI_TRY(leati_op_infer_output(call, call->inputs[0].dtype, &shape, NULL, err));
    }
    return LEAT_OK;
}

static leat_status split_kernel(leati_kernel_call *call, leat_error *err) {
    const struct split_args *args = call->args;
    const leati_operand *in = &call->inputs[0];
    leat_shape shape = leati_support_operand_shape(in);
    int32_t axis = 0;
    cut parts;
    LEATI_TRY(leati_support_normal_axis(args->axis, shape.rank, &axis, err));
    int64_t outer = 1, dim = shape.dims[axis];
    LEATI_TRY(cut_of(args, dim, &parts, err));
    for (int32_t d = 0; d < axis; d++)
        outer *= shape.dims[d];
    size_t value = leat_dtype_size(in->dtype), at = 0;
    for (int32_t d = axis + 1; d < shape.rank; d++)
        value *= (size_t)shape.dims[d];
    for (int k = 0; k < call->num_outputs; k++) {
        size_t piece = (size_t)parts.sizes[k] * value;
        shape.dims[axis] = parts.sizes[k];
        /* One piece of the input is a view of it. */
        if (outer == 1 && piece > 0 && in->count > 0) {
            LEATI_TRY(leati_op_kernel_view(call, k, shape.rank, shape.dims, in->data + at,
                                           in->row_stride, in->owner, err));
            at += piece;
            continue;
        }
        LEATI_TRY(leati_support_output_like(call, k, &shape, err));
        const leati_operand *out = &call->outputs[k];
        /* The part is one piece at each place before the axis, `at` bytes behind its first. */
        const leati_moving_dim dims[2] = {{call->n, out->row_stride, in->row_stride},
                                          {outer, (int64_t)piece, dim * (int64_t)value}};
        if (out->count > 0)
            leati_moving_copy(out->data, in->data + at, dims, 2, piece);
        if (in->dtype == LEAT_STRING)
            LEATI_TRY(leati_op_kernel_hold(call, k, 0, err));
        at += piece;
    }
    return LEAT_OK;
}

static leat_status split_gradient(leati_gradient_call *call, leat_error *err) {
    const struct split_args *args = call->args;
    leat_value parts[LEAT_MAX_OUTPUTS];
    (void)err;
    for (int i = 0; i < call->num_outputs; i++)
        /* A part that nothing used gets zeros, so that all have their places again. */
        parts[i] = call->output_gradients[i].id < 0 ? leat_op_zeros_like(call->outputs[i])
                                                    : call->output_gradients[i];
    call->input_gradients[0] = leat_op_concat(parts, call->num_outputs, args->axis);
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_split = {
    .name = "split",
    .version = 1,
    .doc = "A tensor cut along a dimension into equal or given sizes, each an output "
           "(tf.split).",
    .names = "split",
    .inputs = "value",
    .types = "T",
    .outputs = "*output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = split_rows,
    .args_size = sizeof(struct split_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = split_infer,
    .kernel = split_kernel,
    .gradient = split_gradient,
};
