/* repeat: the slices of a tensor along a dimension, each as often as it says (tf.repeat).
 *
 * Without an axis the values count as one vector. `repeats` is one number for all slices or one for
 * each. How many slices come out is known beforehand where `repeats` is a constant, else rows run
 * one at a time. Fails where a number is negative or there are not as many as slices. No gradient,
 * no state, no locks. */
#include "base/isa.h"
#include "base/stop.h"
#include "core/tensor.h"
#include "graph/support/array/moving.h"
#include "graph/support/array/positions.h"

#include <string.h>

struct repeat_args {
    int64_t axis;
};

static const leati_row repeat_rows[] = {
    {.name = "axis",
     .type = LEATI_ROW_INT,
     .flags = LEATI_NONE,
     .offset = offsetof(struct repeat_args, axis),
     .default_number = (double)INT64_MIN,
     .doc = "The dimension to repeat along; none: all values as one vector."},
    {0},
};

/* The input's shape as the slices are counted, and the dimension they lie along. */
static leat_status sliced(int64_t given, leat_shape *shape, int32_t *axis, leat_error *err) {
    if (shape->rank == 0) /* a scalar counts as a vector of one */
        *shape = LEAT_SHAPE(1);
    if (given != INT64_MIN)
        return shape->rank < 0 ? LEAT_OK : leati_support_normal_axis(given, shape->rank, axis, err);
    /* All dimensions become one, whose size is known only if all are. */
    *axis = 0;
    *shape = LEAT_SHAPE(leati_shape_is_static(shape) ? leati_shape_count(shape) : LEAT_UNKNOWN_DIM);
    return LEAT_OK;
}

static leat_status want_vector(int32_t rank, leat_error *err) {
    if (rank <= 1)
        return LEAT_OK;
    return leati_refuse(err, SHAPE, "repeats has rank %d; expected a scalar or a vector",
                        (int)rank);
}

/* How many slices come out of `slices`, where `repeats` is a constant that the run takes. */
static int64_t slices_out(const leat_tensor *repeats, int64_t slices) {
    int64_t out = 0, count = repeats == NULL ? 0 : leat_tensor_count(repeats);
    if (repeats == NULL || slices < 0 || (count != 1 && count != slices))
        return LEAT_UNKNOWN_DIM;
    for (int64_t i = 0; i < slices; i++) {
        int64_t by = leati_tensor_int_at(repeats, count == 1 ? 0 : i);
        /* The run refuses such numbers; here nothing is known. */
        if (by < 0 || __builtin_add_overflow(out, by, &out))
            return LEAT_UNKNOWN_DIM;
    }
    return out;
}

static leat_status repeat_infer(leati_infer_call *call, leat_error *err) {
    const struct repeat_args *args = call->args;
    leat_shape shape = call->inputs[0].shape;
    const leat_shape *repeats = &call->inputs[1].shape;
    int32_t axis = 0;
    LEATI_TRY(leati_support_want_values(call, 0, err));
    LEATI_TRY(leati_support_want_index(call, 1, "repeats", err));
    LEATI_TRY(want_vector(repeats->rank, err));
    LEATI_TRY(sliced(args->axis, &shape, &axis, err));
    if (shape.rank >= 0) {
        /* A vector of one number stands for all slices, as a scalar does. */
        if (repeats->rank == 1 && repeats->dims[0] != 1)
            LEATI_TRY(leati_support_want_equal_dims(shape.dims[axis], repeats->dims[0],
                                                    "the slices and repeats", err));
        shape.dims[axis] = slices_out(leati_op_infer_constant(call, 1), shape.dims[axis]);
    }
    return leati_op_infer_output(call, call->inputs[0].dtype, &shape, NULL, err);
}

/* How many slices come out of `slices`. */
static leat_status count_slices(const leati_operand *repeats, int64_t slices, int64_t *out,
                                leat_error *err) {
    LEATI_TRY(want_vector(repeats->rank, err));
    if (repeats->count != 1 && repeats->count != slices)
        return leati_refuse(err, SHAPE,
                            "repeats has %lld values; expected 1, or %lld, one for each slice",
                            (long long)repeats->count, (long long)slices);
    *out = 0;
    /* A single number is checked also where there are no slices. */
    for (int64_t i = 0; i < slices || (i == 0 && repeats->count == 1); i++) {
        int64_t by = leati_support_index_at(repeats, 0, repeats->count == 1 ? 0 : i);
        if (by < 0)
            return leati_refuse(err, VALUE, "repeats has %lld at %lld; expected 0 or more",
                                (long long)by, (long long)i);
        if (i < slices && __builtin_add_overflow(*out, by, out))
            return leati_refuse(err, VALUE, "repeats add up to too many slices");
    }
    return LEAT_OK;
}

/* The slices along the axis at one place before it; returns where the next ones go. */
LEATI_ALWAYS_INLINE char *repeat_each(char *to, const char *from, const leati_operand *repeats,
                                      int64_t row, int64_t slices, size_t bytes) {
    const char *numbers = leati_support_row_of(repeats, row);
    int64_t done = 0;
    for (int64_t i = 0; i < slices; i++) {
        int64_t by = repeats->dtype == LEAT_INT32 ? ((const int32_t *)(const void *)numbers)[i]
                                                  : ((const int64_t *)(const void *)numbers)[i];
        if (leati_stop_look_after(by * ((int64_t)bytes / 4 + 1), &done))
            break;
        for (int64_t k = 0; k < by; k++, to += bytes)
            memcpy(to, from + (size_t)i * bytes, bytes);
    }
    return to;
}

static leat_status repeat_kernel(leati_kernel_call *call, leat_error *err) {
    const struct repeat_args *args = call->args;
    const leati_operand *in = &call->inputs[0], *repeats = &call->inputs[1];
    leat_shape shape = leati_support_operand_shape(in);
    int32_t axis = 0;
    LEATI_TRY(sliced(args->axis, &shape, &axis, err));
    int64_t slices = shape.dims[axis], outer = 1;
    /* Row 0's numbers stand for all rows: several run at once only where `repeats` is
     * a constant. */
    LEATI_TRY(count_slices(repeats, slices, &shape.dims[axis], err));
    if (leati_shape_count(&shape) < 0)
        return leati_refuse(err, VALUE, "repeats add up to too many slices");
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    if (call->outputs[0].count == 0)
        return leati_support_hold_strings(call, 0, err);
    size_t bytes = leat_dtype_size(in->dtype);
    for (int32_t d = 0; d < axis; d++)
        outer *= shape.dims[d];
    for (int32_t d = axis + 1; d < shape.rank; d++)
        bytes *= (size_t)shape.dims[d];
    for (int64_t row = 0; row < call->n; row++) {
        const char *from = leati_support_row_of(in, row);
        char *to = leati_support_row_of(&call->outputs[0], row);
        if (repeats->count == 1) {
            int64_t by = leati_support_index_at(repeats, row, 0), size = (int64_t)bytes;
            const leati_moving_dim dims[2] = {{outer * slices, by * size, size}, {by, size, 0}};
            leati_moving_copy(to, from, dims, 2, bytes);
            continue;
        }
        for (int64_t o = 0; o < outer; o++, from += (size_t)slices * bytes)
            switch (bytes) {
            case 4: to = repeat_each(to, from, repeats, row, slices, 4); break;
            case 8: to = repeat_each(to, from, repeats, row, slices, 8); break;
            default: to = repeat_each(to, from, repeats, row, slices, bytes);
            }
    }
    return leati_support_hold_strings(call, 0, err);
}

static leat_status repeat_gradient(leati_gradient_call *call, leat_error *err) {
    leat_value x = call->inputs[0];
    (void)err;
    /* Repeated in the same way, the places of the values say which of them each result is. */
    leat_value at = leati_graph_build2(&leati_tensor_op_repeat, call->args, leati_positions(x),
                                       call->inputs[1]);
    call->input_gradients[0] = leati_positions_add_at(call->output_gradients[0], at, x);
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_repeat = {
    .name = "repeat",
    .version = 1,
    .doc = "The slices of a tensor along a dimension, each as often as it says (tf.repeat).",
    .names = "repeat",
    .inputs = "input repeats",
    .types = "T Tindices",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_PYTHON,
    .rows = repeat_rows,
    .args_size = sizeof(struct repeat_args),
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = repeat_infer,
    .kernel = repeat_kernel,
    .gradient = repeat_gradient,
};
