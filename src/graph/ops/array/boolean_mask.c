/* boolean_mask: the slices of a tensor where a mask holds (tf.boolean_mask).
 *
 * The mask covers dimensions of the tensor from `axis` on; they become one. How many slices there
 * are is data, so rows run one at a time. Fails where the mask is a scalar or has other dimensions.
 * No gradient, no state, no locks. */
#include "base/isa.h"
#include "base/stop.h"
#include "graph/support/array/positions.h"

#include <string.h>

struct boolean_mask_args {
    int64_t axis;
};

static const leati_row boolean_mask_rows[] = {
    {.name = "axis",
     .type = LEATI_ROW_INT,
     .flags = LEATI_NONE,
     .offset = offsetof(struct boolean_mask_args, axis),
     .doc = "The first dimension that the mask covers."},
    {0},
};

/* Resolves the axis; `out` is the shape of `tensor` with the masked dimensions as one of `count`.
 * Both ranks are known. */
static leat_status masked(const struct boolean_mask_args *args, const leat_shape *tensor,
                          const leat_shape *mask, int64_t count, int32_t *axis, leat_shape *out,
                          leat_error *err) {
    char texts[2][128];
    if (mask->rank == 0)
        return leati_refuse(err, SHAPE, "mask cannot be scalar; expected a vector");
    LEATI_TRY(leati_support_normal_axis(args->axis, tensor->rank, axis, err));
    bool fits = *axis + mask->rank <= tensor->rank;
    for (int32_t d = 0; fits && d < mask->rank; d++) {
        int64_t a = tensor->dims[*axis + d], b = mask->dims[d];
        fits = a == b || a == LEAT_UNKNOWN_DIM || b == LEAT_UNKNOWN_DIM;
    }
    if (!fits)
        return leati_refuse(
            err, SHAPE, "a mask of shape %s does not cover dimensions of %s from axis %d on",
            leati_shape_text(mask, texts[0]), leati_shape_text(tensor, texts[1]), (int)*axis);
    *out = (leat_shape){.rank = 0};
    for (int32_t d = 0; d < tensor->rank; d++)
        if (d < *axis || d >= *axis + mask->rank)
            out->dims[out->rank++] = tensor->dims[d];
        else if (d == *axis)
            out->dims[out->rank++] = count;
    return LEAT_OK;
}

static leat_status boolean_mask_infer(leati_infer_call *call, leat_error *err) {
    const leat_shape *tensor = &call->inputs[0].shape, *mask = &call->inputs[1].shape;
    leat_shape out = {.rank = LEAT_UNKNOWN_RANK};
    int32_t axis = 0;
    LEATI_TRY(leati_support_want_values(call, 0, err));
    LEATI_TRY(leati_support_want_dtype(call, 1, LEAT_BOOL, "the mask", err));
    if (tensor->rank >= 0 && mask->rank >= 0)
        LEATI_TRY(masked(call->args, tensor, mask, LEAT_UNKNOWN_DIM, &axis, &out, err));
    return leati_op_infer_output(call, call->inputs[0].dtype, &out, NULL, err);
}

/* Of small slices each is written, and the next one over it unless it is held: no branch that a
 * processor would have to guess. Ends behind the last one that is held. */
LEATI_ALWAYS_INLINE void take_numbers(char *to, const char *from, const bool *holds, int64_t count,
                                      size_t bytes) {
    int64_t done = 0;
    for (int64_t i = 0, found = 0; found < count; i++) {
        if (leati_stop_look_after(1, &done))
            return;
        memcpy(to + (size_t)found * bytes, from + (size_t)i * bytes, bytes);
        found += holds[i];
    }
}

/* Slices that are held one behind the other are copied at once. */
static void take_slices(char *to, const char *from, const bool *holds, int64_t n, size_t bytes) {
    int64_t done = 0;
    for (int64_t i = 0, end; i < n && !leati_stop_look_after(1, &done); i = end) {
        for (end = i; end < n && holds[end];)
            end++;
        size_t all = (size_t)(end - i) * bytes;
        memcpy(to, from + (size_t)i * bytes, all);
        to += all;
        done += (int64_t)all / 4;
        while (end < n && !holds[end])
            end++;
    }
}

static leat_status boolean_mask_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *in = &call->inputs[0], *mask = &call->inputs[1];
    const bool *holds = (const bool *)mask->data;
    leat_shape tensor = leati_support_operand_shape(in),
               covered = leati_support_operand_shape(mask), out = {0};
    int32_t axis = 0;
    int64_t count = 0, outer = 1;
    /* Counted before the shapes are checked, because the output's shape needs the number. */
    for (int64_t i = 0; i < mask->count; i++)
        count += holds[i];
    LEATI_TRY(masked(call->args, &tensor, &covered, count, &axis, &out, err));
    LEATI_TRY(leati_support_output_like(call, 0, &out, err));
    for (int32_t d = 0; d < axis; d++)
        outer *= tensor.dims[d];
    size_t bytes = leat_dtype_size(in->dtype);
    for (int32_t d = axis + covered.rank; d < tensor.rank; d++)
        bytes *= (size_t)tensor.dims[d];
    if (call->outputs[0].count == 0)
        return leati_support_hold_strings(call, 0, err);
    /* The mask stands again for each place before the axis. */
    for (int64_t o = 0; o < outer; o++) {
        char *to = call->outputs[0].data + (size_t)(o * count) * bytes;
        const char *from = in->data + (size_t)(o * mask->count) * bytes;
        switch (bytes) {
        case 1: take_numbers(to, from, holds, count, 1); break;
        case 4: take_numbers(to, from, holds, count, 4); break;
        case 8: take_numbers(to, from, holds, count, 8); break;
        default: take_slices(to, from, holds, mask->count, bytes);
        }
    }
    return leati_support_hold_strings(call, 0, err);
}

static leat_status boolean_mask_gradient(leati_gradient_call *call, leat_error *err) {
    leat_value x = call->inputs[0];
    (void)err;
    /* Masked in the same way, the places of the values say which of them each result is. */
    leat_value at = leati_graph_build2(&leati_tensor_op_boolean_mask, call->args,
                                       leati_positions(x), call->inputs[1]);
    call->input_gradients[0] = leati_positions_add_at(call->output_gradients[0], at, x);
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_boolean_mask = {
    .name = "boolean_mask",
    .version = 1,
    .doc = "The slices of a tensor where a mask holds (tf.boolean_mask).",
    .names = "boolean_mask",
    .inputs = "tensor mask",
    .signature = "tensor mask axis=null",
    .types = "T bool<number",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_PYTHON,
    .rows = boolean_mask_rows,
    .args_size = sizeof(struct boolean_mask_args),
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = boolean_mask_infer,
    .kernel = boolean_mask_kernel,
    .gradient = boolean_mask_gradient,
};
