/* scatter_nd, tensor_scatter_nd_add, tensor_scatter_nd_max, tensor_scatter_nd_min,
 * tensor_scatter_nd_sub, tensor_scatter_nd_update: slices put at places that rows of indices name,
 * into zeros or into a tensor (tf.scatter_nd and so on).
 *
 * The last dimension of the indices is one row: as many numbers as leading dimensions it names.
 * Slices are put in the order of the indices, so the result does not depend on threads: of those
 * that name one place, the last one stays where they are not combined. In scatter_nd slices add up,
 * booleans are true where one is, of strings the last one stays. Integers wrap. They fail where
 * shapes do not fit and where an index is outside. No state, no locks. */
#include "base/stop.h"
#include "graph/support/array/moving.h"
#include "graph/support/replica/combine.h"

#include <string.h>

/* INVALID_ARGUMENT unless `updates` has the shape that the indices and the shape of the result ask
 * for. Unknown dimensions pass. */
static leat_status scatter_check(const leat_shape *out, const leat_shape *indices,
                                 const leat_shape *updates, leat_error *err) {
    char texts[3][128];
    if (out->rank < 0 || indices->rank < 0)
        return LEAT_OK;
    /* A scalar has no rows of indices: this depth fits no tensor. */
    int64_t depth = indices->rank > 0 ? indices->dims[indices->rank - 1] : out->rank + 1;
    if (depth == LEAT_UNKNOWN_DIM)
        return LEAT_OK;
    leat_shape wanted = {.rank = 0};
    bool fits = depth <= out->rank && indices->rank - 1 + out->rank - depth <= LEAT_MAX_RANK;
    for (int32_t d = 0; fits && d < indices->rank - 1; d++)
        wanted.dims[wanted.rank++] = indices->dims[d];
    for (int32_t d = (int32_t)depth; fits && d < out->rank; d++)
        wanted.dims[wanted.rank++] = out->dims[d];
    /* As TensorFlow, also where slices would have no values to write. */
    if (fits && leati_shape_count(out) == 0 && leati_shape_count(indices) > 0)
        return leati_refuse(err, SHAPE, "Indices and updates specified for empty output shape %s",
                            leati_shape_text(out, texts[0]));
    if (fits && leati_shape_compatible(&wanted, updates))
        return LEAT_OK;
    return leati_refuse(err, SHAPE,
                        "indices of shape %s name slices of a tensor of shape %s; updates of shape "
                        "%s do not fit them",
                        leati_shape_text(indices, texts[0]), leati_shape_text(out, texts[1]),
                        leati_shape_text(updates, texts[2]));
}

/* Numbers that are put or added one by one. */
typedef struct numbers {
    const void *at; /* rows of `depth` indices */
    const int64_t *dims;
    const void *from;
    void *to;
    int64_t rows;
    int32_t depth;
} numbers;

/* Up to the first index outside or a stop; returns how many were put. */
#define PUT_NUMBERS(INDEX, VALUE, NAME, JOIN)                                                      \
    static int64_t NAME##_##INDEX(const numbers *n) {                                              \
        const INDEX *at = n->at;                                                                   \
        const VALUE *values = n->from;                                                             \
        VALUE *out = n->to;                                                                        \
        for (int64_t i = 0; i < n->rows; i++, at += n->depth) {                                    \
            int64_t place = 0;                                                                     \
            bool outside = false;                                                                  \
            for (int32_t d = 0; d < n->depth; d++) {                                               \
                outside |= (uint64_t)at[d] >= (uint64_t)n->dims[d];                                \
                place = (int64_t)((uint64_t)place * (uint64_t)n->dims[d] + (uint64_t)at[d]);       \
            }                                                                                      \
            if (outside || leati_stop_look_at(i))                                                  \
                return i;                                                                          \
            out[place] JOIN values[i];                                                             \
        }                                                                                          \
        return n->rows;                                                                            \
    }
#define PUT_FOR_BOTH(VALUE, NAME, JOIN)                                                            \
    PUT_NUMBERS(int32_t, VALUE, NAME, JOIN)                                                        \
    PUT_NUMBERS(int64_t, VALUE, NAME, JOIN)
PUT_FOR_BOTH(uint32_t, put_four, =)
PUT_FOR_BOTH(uint64_t, put_eight, =)
PUT_FOR_BOTH(uint32_t, add_four, +=) /* integers wrap */
PUT_FOR_BOTH(uint64_t, add_eight, +=)
PUT_FOR_BOTH(float, add_float, +=)
PUT_FOR_BOTH(double, add_double, +=)

typedef int64_t put_function(const numbers *n);

/* The function for slices of one number; NULL: there is none. */
static put_function *put_of(leat_dtype dtype, leat_dtype index, leati_combine_function combine) {
#define BY_INDEX(NAME) (index == LEAT_INT32 ? NAME##_int32_t : NAME##_int64_t)
    if (combine == NULL)
        return leat_dtype_size(dtype) == 4   ? BY_INDEX(put_four)
               : leat_dtype_size(dtype) == 8 ? BY_INDEX(put_eight)
                                             : NULL;
    if (combine != leati_combine_of(LEATI_COMBINE_SUM, dtype))
        return NULL;
    switch (dtype) {
    case LEAT_INT32:
    case LEAT_UINT32: return BY_INDEX(add_four);
    case LEAT_INT64:
    case LEAT_UINT64: return BY_INDEX(add_eight);
    case LEAT_FLOAT32: return BY_INDEX(add_float);
    case LEAT_FLOAT64: return BY_INDEX(add_double);
    default: return NULL;
    }
#undef BY_INDEX
}

/* Puts row `row` of the updates into `to`, which has shape `out`; NULL `combine`: the last slice
 * stays. An index outside fails with INVALID_ARGUMENT. */
static leat_status scatter_row(leati_kernel_call *call, const leati_operand *indices,
                               const leati_operand *updates, const leat_shape *out,
                               leati_combine_function combine, int64_t row, char *to,
                               leat_error *err) {
    int32_t depth = (int32_t)indices->dims[indices->rank - 1];
    int64_t rows = 1, values = 1;
    for (int32_t d = 0; d < indices->rank - 1; d++)
        rows *= indices->dims[d];
    for (int32_t d = depth; d < out->rank; d++)
        values *= out->dims[d];
    size_t bytes = (size_t)values * leat_dtype_size(updates->dtype);
    const char *from = leati_support_row_of(updates, row);
    int64_t done = 0, put = 0;
    put_function *quick = values == 1 && depth > 0 && depth == out->rank
                              ? put_of(updates->dtype, indices->dtype, combine)
                              : NULL;
    if (quick != NULL)
        put =
            quick(&(numbers){leati_support_row_of(indices, row), out->dims, from, to, rows, depth});
    /* A stop leaves the slices that follow as they are. */
    for (int64_t i = put; i < rows && !leati_stop_look_after(values + depth, &done); i++) {
        int64_t slice = 0;
        for (int32_t d = 0; d < depth; d++) {
            int64_t index = leati_support_index_at(indices, row, i * depth + d);
            char text[128];
            if (index < 0 || index >= out->dims[d]) {
                call->failed_row = row;
                return leati_refuse(
                    err, SHAPE,
                    "row %lld of the indices has %lld for dimension %d: it does not "
                    "index into shape %s",
                    (long long)i, (long long)index, (int)d, leati_shape_text(out, text));
            }
            /* Horner's scheme: the slice's number in row-major order. */
            slice = slice * out->dims[d] + index;
        }
        /* Only now: indices are checked also where slices have no values. */
        if (bytes == 0)
            continue;
        if (combine != NULL)
            combine(to + (size_t)slice * bytes, from + (size_t)i * bytes, values);
        else
            memcpy(to + (size_t)slice * bytes, from + (size_t)i * bytes, bytes);
    }
    return LEAT_OK;
}

/* ---- scatter_nd ---- */
struct scatter_nd_args {
    leati_ints shape;
};

static const leati_row scatter_nd_rows[] = {
    {.name = "shape",
     .type = LEATI_ROW_INTS,
     .flags = LEATI_REQUIRED | LEATI_TENSOR,
     .offset = offsetof(struct scatter_nd_args, shape),
     .doc = "The shape of the result."},
    {0},
};

static leat_status shape_of(const struct scatter_nd_args *args, leat_shape *out, leat_error *err) {
    char text[128];
    LEATI_TRY(leati_support_unknown_dims(&args->shape, out, err));
    bool fits = true;
    for (int32_t d = 0; d < out->rank; d++) {
        out->dims[d] = args->shape.values[d];
        fits = fits && out->dims[d] >= 0;
    }
    if (fits && leati_shape_count(out) >= 0)
        return LEAT_OK;
    return leati_refuse(err, SHAPE,
                        "shape %s is no shape of a tensor; expected dimensions of 0 or more",
                        leati_shape_text(out, text));
}

static leat_status scatter_nd_infer(leati_infer_call *call, leat_error *err) {
    const struct scatter_nd_args *args = call->args;
    leat_shape shape = {0};
    LEATI_TRY(leati_support_want_index(call, 0, "the indices", err));
    /* Booleans and strings are no numbers, but the kernel knows what to do with them. */
    if (call->inputs[1].dtype != LEAT_BOOL && call->inputs[1].dtype != LEAT_STRING)
        LEATI_TRY(leati_combine_want(call, LEATI_COMBINE_SUM, 1, "the updates", err));
    if (call->unknown != 0)
        LEATI_TRY(leati_support_known_dims(&args->shape, &shape, err));
    else
        LEATI_TRY(shape_of(args, &shape, err));
    LEATI_TRY(scatter_check(&shape, &call->inputs[0].shape, &call->inputs[1].shape, err));
    return leati_op_infer_output(call, call->inputs[1].dtype, &shape, NULL, err);
}

static leat_status scatter_nd_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *indices = &call->inputs[0], *updates = &call->inputs[1];
    leat_shape places = leati_support_operand_shape(indices),
               slices = leati_support_operand_shape(updates), shape;
    LEATI_TRY(shape_of(call->args, &shape, err));
    LEATI_TRY(scatter_check(&shape, &places, &slices, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    size_t bytes = (size_t)call->outputs[0].count * leat_dtype_size(updates->dtype);
    /* The maximum of bytes that are 0 or 1 is their disjunction. Strings have no sum, so this is
     * NULL and the last one stays. */
    leati_combine_function combine = updates->dtype == LEAT_BOOL
                                         ? leati_combine_of(LEATI_COMBINE_MAXIMUM, LEAT_UINT8)
                                         : leati_combine_of(LEATI_COMBINE_SUM, updates->dtype);
    for (int64_t row = 0; row < call->n; row++) {
        char *to = leati_support_row_of(&call->outputs[0], row);
        if (bytes > 0)
            leati_moving_fill(to, call->outputs[0].count, &(leat_string){0},
                              leat_dtype_size(updates->dtype));
        LEATI_TRY(scatter_row(call, indices, updates, &shape, combine, row, to, err));
    }
    return leati_support_hold_strings(call, 1, err);
}

static leat_status scatter_nd_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    call->input_gradients[1] = leat_op_gather_nd(call->output_gradients[0], call->inputs[0]);
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_scatter_nd = {
    .name = "scatter_nd",
    .version = 1,
    .doc = "Zeros to which slices are added at places that rows of indices name "
           "(tf.scatter_nd).",
    .names = "scatter_nd",
    .inputs = "indices updates",
    .signature = "indices updates shape bad_indices_policy=\"\"",
    .types = "Tindices<int16 T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = scatter_nd_rows,
    .args_size = sizeof(struct scatter_nd_args),
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = scatter_nd_infer,
    .kernel = scatter_nd_kernel,
    .gradient = scatter_nd_gradient,
};

/* ---- tensor_scatter_nd_*: inputs tensor, indices, updates ---- */
/* `kind`: not for strings and booleans; NULL: for all. */
static leat_status infer(leati_infer_call *call, const leati_combine_kind *kind, leat_error *err) {
    const leat_shape *tensor = &call->inputs[0].shape;
    if (kind != NULL)
        LEATI_TRY(leati_combine_want(call, *kind, 0, "the tensor", err));
    LEATI_TRY(leati_support_want_values(call, 0, err));
    LEATI_TRY(leati_support_want_index(call, 1, "the indices", err));
    LEATI_TRY(leati_support_want_dtype(call, 2, call->inputs[0].dtype, "the updates", err));
    LEATI_TRY(scatter_check(tensor, &call->inputs[1].shape, &call->inputs[2].shape, err));
    return leati_op_infer_output(call, call->inputs[0].dtype, tensor, NULL, err);
}

static leat_status run(leati_kernel_call *call, const leati_combine_kind *kind, leat_error *err) {
    const leati_operand *tensor = &call->inputs[0], *indices = &call->inputs[1];
    const leati_operand *updates = &call->inputs[2];
    leat_shape shape = leati_support_operand_shape(tensor),
               places = leati_support_operand_shape(indices);
    leat_shape slices = leati_support_operand_shape(updates);
    LEATI_TRY(scatter_check(&shape, &places, &slices, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    size_t bytes = (size_t)tensor->count * leat_dtype_size(tensor->dtype);
    leati_combine_function combine = kind != NULL ? leati_combine_of(*kind, tensor->dtype) : NULL;
    for (int64_t row = 0; row < call->n; row++) {
        char *to = leati_support_row_of(&call->outputs[0], row);
        if (bytes > 0) {
            const leati_moving_dim all = {(int64_t)bytes, 1, 1};
            leati_moving_copy(to, leati_support_row_of(tensor, row), &all, 1, 1);
        }
        LEATI_TRY(scatter_row(call, indices, updates, &shape, combine, row, to, err));
    }
    return leati_support_hold_strings(call, 0, err);
}

/* Of a minimum or maximum: values that tie share it. */
static leat_status extreme_gradient(leati_gradient_call *call, leat_error *err) {
    leat_value x = call->inputs[0], indices = call->inputs[1], y = call->inputs[2];
    leat_value out = call->outputs[0], g = call->output_gradients[0];
    leat_dtype dtype = leat_value_dtype(x);
    (void)err;
    /* The tensor's own value and each update may hold the extreme; `ties` counts them all. */
    leat_value x_holds = leat_op_cast(leat_op_equal(x, out), dtype);
    leat_value y_holds = leat_op_cast(leat_op_equal(y, leat_op_gather_nd(out, indices)), dtype);
    leat_value ties = leat_op_tensor_scatter_nd_add(x_holds, indices, y_holds);
    leat_value share = leat_op_divide(g, ties);
    call->input_gradients[0] = leat_op_multiply(share, x_holds);
    call->input_gradients[2] = leat_op_multiply(leat_op_gather_nd(share, indices), y_holds);
    return LEAT_OK;
}

static leat_status add_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    call->input_gradients[0] = call->output_gradients[0];
    call->input_gradients[2] = leat_op_gather_nd(call->output_gradients[0], call->inputs[1]);
    return LEAT_OK;
}

static leat_status sub_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    call->input_gradients[0] = call->output_gradients[0];
    call->input_gradients[2] =
        leat_op_negate(leat_op_gather_nd(call->output_gradients[0], call->inputs[1]));
    return LEAT_OK;
}

static leat_status update_gradient(leati_gradient_call *call, leat_error *err) {
    leat_value g = call->output_gradients[0], indices = call->inputs[1];
    (void)err;
    /* What was replaced gets nothing. */
    call->input_gradients[0] =
        leat_op_tensor_scatter_nd_update(g, indices, leat_op_zeros_like(call->inputs[2]));
    /* Of updates to one place each gets the gradient, also those that did not stay, as in
     * TensorFlow. */
    call->input_gradients[2] = leat_op_gather_nd(g, indices);
    return LEAT_OK;
}

/* KIND: NULL, or how slices are combined. */
#define SCATTER(OP, KIND, ...)                                                                     \
    static leat_status OP##_infer(leati_infer_call *call, leat_error *err) {                       \
        return infer(call, KIND, err);                                                             \
    }                                                                                              \
    static leat_status OP##_kernel(leati_kernel_call *call, leat_error *err) {                     \
        return run(call, KIND, err);                                                               \
    }                                                                                              \
    const leati_tensor_op leati_tensor_op_##OP = {                                                 \
        .name = #OP,                                                                               \
        .version = 1,                                                                              \
        .names = #OP,                                                                              \
        .inputs = "tensor indices updates",                                                        \
        .types = "T Tindices<int16 T",                                                             \
        .outputs = "output",                                                                       \
        .halves = LEATI_HALVES_OWN,                                                                \
        .checks = LEATI_CHECKS_IN_KERNEL,                                                          \
        .rows = leati_no_rows,                                                                     \
        .min_inputs = 3,                                                                           \
        .max_inputs = 3,                                                                           \
        .infer = OP##_infer,                                                                       \
        .kernel = OP##_kernel,                                                                     \
        __VA_ARGS__,                                                                               \
    };
#define COMBINED(OP, KIND, ...)                                                                    \
    SCATTER(OP, &(const leati_combine_kind){KIND},                                                 \
            .signature = "tensor indices updates bad_indices_policy=\"\"", __VA_ARGS__)
COMBINED(tensor_scatter_nd_add, LEATI_COMBINE_SUM,
         .doc = "A tensor with updates added to the slices that rows of indices name "
                "(tf.tensor_scatter_nd_add).",
         .gradient = add_gradient)
COMBINED(tensor_scatter_nd_max, LEATI_COMBINE_MAXIMUM,
         .doc = "A tensor whose slices that rows of indices name are their maxima with updates "
                "(tf.tensor_scatter_nd_max).",
         .gradient = extreme_gradient)
COMBINED(tensor_scatter_nd_min, LEATI_COMBINE_MINIMUM,
         .doc = "A tensor whose slices that rows of indices name are their minima with updates "
                "(tf.tensor_scatter_nd_min).",
         .gradient = extreme_gradient)
COMBINED(tensor_scatter_nd_sub, LEATI_COMBINE_DIFFERENCE,
         .doc = "A tensor with updates subtracted from the slices that rows of indices name "
                "(tf.tensor_scatter_nd_sub).",
         .gradient = sub_gradient)
SCATTER(tensor_scatter_nd_update, NULL,
        .doc = "A tensor with updates in place of the slices that rows of indices name "
               "(tf.tensor_scatter_nd_update).",
        .gradient = update_gradient)
