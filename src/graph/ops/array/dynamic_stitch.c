/* dynamic_stitch: slices put at numbered places of one tensor (tf.dynamic_stitch). Inputs: lists of
 * indices (int32), and then as many tensors, whose first dimensions are those of their indices.
 *
 * Of slices with one number the last stays; a place without any is zeros. There are as many places
 * as the largest number says, so rows run one at a time. Fails where shapes do not fit. No state,
 * no locks. */
#include "base/isa.h"
#include "base/stop.h"
#include "graph/support/array/moving.h"

#include <string.h>

/* The shape of a slice: what is left of `data` behind the dimensions of its indices. */
static leat_status slice_of(const leat_shape *indices, const leat_shape *data, int number,
                            leat_shape *slice, leat_error *err) {
    char texts[2][128];
    leat_shape rest = {.rank = 0};
    bool fits = indices->rank <= data->rank;
    for (int32_t d = 0; fits && d < indices->rank; d++)
        fits = indices->dims[d] == data->dims[d] || indices->dims[d] == LEAT_UNKNOWN_DIM ||
               data->dims[d] == LEAT_UNKNOWN_DIM;
    for (int32_t d = indices->rank; fits && d < data->rank; d++)
        rest.dims[rest.rank++] = data->dims[d];
    /* The result has one dimension more: that of the places. */
    fits = fits && rest.rank < LEAT_MAX_RANK && leati_shape_compatible(&rest, slice);
    if (!fits)
        return leati_refuse(err, SHAPE,
                            "data[%d] has shape %s and its indices %s; expected the indices' shape "
                            "and then that of the other slices",
                            number, leati_shape_text(data, texts[0]),
                            leati_shape_text(indices, texts[1]));
    /* `slice` is what all earlier pairs agree on; each says what others leave unknown. */
    for (int32_t d = 0; slice->rank >= 0 && d < rest.rank; d++)
        rest.dims[d] = rest.dims[d] == LEAT_UNKNOWN_DIM ? slice->dims[d] : rest.dims[d];
    *slice = rest;
    return LEAT_OK;
}

static leat_status dynamic_stitch_infer(leati_infer_call *call, leat_error *err) {
    int count = call->num_inputs / 2;
    leat_shape slice = {.rank = LEAT_UNKNOWN_RANK}, shape = {.rank = LEAT_UNKNOWN_RANK};
    if (call->num_inputs % 2 != 0)
        return leati_refuse(err, VALUE, "%d inputs; expected as many indices as data",
                            call->num_inputs);
    for (int i = 0; i < count; i++) {
        const leati_type *indices = &call->inputs[i], *data = &call->inputs[count + i];
        LEATI_TRY(leati_support_want_dtype(call, i, LEAT_INT32, "the indices", err));
        LEATI_TRY(leati_support_want_values(call, count + i, err));
        LEATI_TRY(
            leati_support_want_dtype(call, count + i, call->inputs[count].dtype, "the data", err));
        if (indices->shape.rank >= 0 && data->shape.rank >= 0)
            LEATI_TRY(slice_of(&indices->shape, &data->shape, i, &slice, err));
    }
    if (slice.rank >= 0) {
        shape = (leat_shape){.rank = 1, .dims = {LEAT_UNKNOWN_DIM}};
        for (int32_t d = 0; d < slice.rank; d++)
            shape.dims[shape.rank++] = slice.dims[d];
    }
    return leati_op_infer_output(call, call->inputs[count].dtype, &shape, NULL, err);
}

/* A constant size is a load and a store. */
LEATI_ALWAYS_INLINE void put_slices(char *to, const leati_operand *list, const char *from,
                                    size_t bytes) {
    const int32_t *index = (const int32_t *)(const void *)list->data;
    int64_t done = 0;
    for (int64_t k = 0; k < list->count; k++) {
        if (leati_stop_look_after((int64_t)bytes / 4 + 1, &done))
            return;
        memcpy(to + (size_t)index[k] * bytes, from + (size_t)k * bytes, bytes);
    }
}

static void put_all(char *to, const leati_operand *list, const char *from, size_t bytes) {
    switch (bytes) {
    case 4: put_slices(to, list, from, 4); break;
    case 8: put_slices(to, list, from, 8); break;
    default: put_slices(to, list, from, bytes);
    }
}

static leat_status dynamic_stitch_kernel(leati_kernel_call *call, leat_error *err) {
    int count = call->num_inputs / 2;
    leat_shape slice = {.rank = LEAT_UNKNOWN_RANK}, shape = {.rank = 1};
    for (int i = 0; i < count; i++) {
        const leati_operand *list = &call->inputs[i];
        leat_shape indices = leati_support_operand_shape(list);
        leat_shape data = leati_support_operand_shape(&call->inputs[count + i]);
        LEATI_TRY(slice_of(&indices, &data, i, &slice, err));
        for (int64_t k = 0; k < list->count; k++) {
            int64_t index = leati_support_index_at(list, 0, k);
            if (index < 0)
                return leati_refuse(err, VALUE, "indices[%d][%lld] is %lld; expected 0 or more", i,
                                    (long long)k, (long long)index);
            /* Indices are int32: index + 1 does not overflow. */
            shape.dims[0] = index >= shape.dims[0] ? index + 1 : shape.dims[0];
        }
    }
    size_t bytes = leat_dtype_size(call->inputs[count].dtype);
    for (int32_t d = 0; d < slice.rank; d++) {
        shape.dims[shape.rank++] = slice.dims[d];
        bytes *= (size_t)slice.dims[d];
    }
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    const leati_operand *out = &call->outputs[0];
    /* Numbers that no index names leave gaps. */
    if (out->count > 0)
        leati_moving_fill(out->data, out->count * (int64_t)leat_dtype_size(out->dtype), "", 1);
    for (int i = 0; i < count && bytes > 0; i++)
        put_all(out->data, &call->inputs[i], call->inputs[count + i].data, bytes);
    return leati_support_hold_strings(call, count, err);
}

static leat_status dynamic_stitch_gradient(leati_gradient_call *call, leat_error *err) {
    int count = call->num_inputs / 2;
    (void)err;
    /* A slice that a later one replaced gets the gradient of its place, too, as in TensorFlow. */
    for (int i = 0; i < count; i++)
        call->input_gradients[count + i] =
            leat_op_gather(call->output_gradients[0], call->inputs[i], 0, 0);
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_dynamic_stitch = {
    .name = "dynamic_stitch",
    .version = 1,
    .doc = "Slices put at numbered places of one tensor (tf.dynamic_stitch).",
    .inputs = "*indices_and_data",
    .types = "*",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_PYTHON,
    .rows = leati_no_rows,
    .min_inputs = 2,
    .max_inputs = -1,
    .infer = dynamic_stitch_infer,
    .kernel = dynamic_stitch_kernel,
    .gradient = dynamic_stitch_gradient,
};
