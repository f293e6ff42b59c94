/* slice: the part of a tensor from `begin` on, `size` values along each dimension (tf.slice).
 *
 * Rows of which the part is one piece are handed out as a view; others are copied. Fails where the
 * part is not within the tensor. No state, no locks. */
#include "graph/ops/array/slice.h"
#include "graph/known.h"
#include "graph/support/array/moving.h"

const leati_row leati_slice_rows[] = {
    {.name = "begin",
     .type = LEATI_ROW_INTS,
     .flags = LEATI_REQUIRED | LEATI_TENSOR,
     .offset = offsetof(struct leati_slice_args, begin),
     .doc = "The first index along each dimension."},
    {.name = "size",
     .type = LEATI_ROW_INTS,
     .flags = LEATI_REQUIRED | LEATI_TENSOR,
     .offset = offsetof(struct leati_slice_args, size),
     .doc = "The number of values along each dimension; -1: all that follow."},
    {0},
};

leat_status leati_slice_shape(const struct leati_slice_args *args, const leat_shape *whole,
                              leat_shape *part, leat_error *err) {
    char text[128];
    if (args->begin.count != whole->rank || args->size.count != whole->rank)
        return leati_refuse(
            err, SHAPE, "begin has %d entries and size %d; expected one per dimension of %s",
            (int)args->begin.count, (int)args->size.count, leati_shape_text(whole, text));
    part->rank = whole->rank;
    for (int32_t d = 0; d < whole->rank; d++) {
        int64_t begin = args->begin.values[d], size = args->size.values[d], dim = whole->dims[d];
        bool open = dim == LEAT_UNKNOWN_DIM;
        if (size == -1)
            size = open || begin < 0 ? LEAT_UNKNOWN_DIM : dim - begin;
        /* The difference, because begin + size could overflow. */
        if (begin < 0 || size < (open ? -1 : 0) || (!open && begin > dim - size))
            return leati_refuse(err, SHAPE, "begin %lld and size %lld leave dimension %d of %s",
                                (long long)begin, (long long)args->size.values[d], (int)d,
                                leati_shape_text(whole, text));
        part->dims[d] = size;
    }
    return LEAT_OK;
}

int64_t leati_slice_offset(const struct leati_slice_args *args, const int64_t *steps) {
    int64_t offset = 0;
    for (int32_t d = 0; d < args->begin.count; d++)
        offset += args->begin.values[d] * steps[d];
    return offset;
}

/* Sizes are known where `size` is (of placeholders some may be), but for those that stand for all
 * that follows. */
static leat_status infer_computed(leati_infer_call *call, leat_error *err) {
    const struct leati_slice_args *args = call->args;
    bool sizes =
        !leati_op_infer_unknown(call, leati_slice_rows, offsetof(struct leati_slice_args, size));
    leat_shape part = call->inputs[0].shape;
    /* The lists have one entry for each dimension, so their length is the rank. */
    if (part.rank < 0)
        LEATI_TRY(leati_support_unknown_dims(sizes ? &args->size : &args->begin, &part, err));
    for (int32_t d = 0; d < part.rank; d++) {
        /* Placeholders are negative, and so is the -1 for all that follow. */
        int64_t size = d < args->size.count ? args->size.values[d] : LEATI_UNKNOWN_NUMBER;
        int64_t begin = d < args->begin.count ? args->begin.values[d] : LEATI_UNKNOWN_NUMBER;
        if (size == -1 && begin >= 0 && begin <= part.dims[d])
            size = part.dims[d] - begin;
        part.dims[d] = size >= 0 ? size : LEAT_UNKNOWN_DIM;
    }
    return leati_op_infer_output(call, call->inputs[0].dtype, &part, NULL, err);
}

static leat_status slice_infer(leati_infer_call *call, leat_error *err) {
    const struct leati_slice_args *args = call->args;
    leat_shape whole = call->inputs[0].shape, part = {0};
    LEATI_TRY(leati_support_want_values(call, 0, err));
    if (call->unknown != 0)
        return infer_computed(call, err);
    /* `begin` has one entry for each dimension, so its length is the rank. */
    if (whole.rank < 0 && args->begin.count <= LEAT_MAX_RANK) {
        whole.rank = args->begin.count;
        for (int32_t d = 0; d < whole.rank; d++)
            whole.dims[d] = LEAT_UNKNOWN_DIM;
    }
    LEATI_TRY(leati_slice_shape(args, &whole, &part, err));
    return leati_op_infer_output(call, call->inputs[0].dtype, &part, NULL, err);
}

/* Is the part one piece of the whole: after the first dimension that is cut, all before it 1? */
static bool is_one_piece(const leat_shape *whole, const leat_shape *part) {
    int32_t d = 0;
    while (d < part->rank && part->dims[d] == 1)
        d++;
    for (d++; d < part->rank; d++)
        if (part->dims[d] != whole->dims[d])
            return false;
    return true;
}

static leat_status slice_kernel(leati_kernel_call *call, leat_error *err) {
    const struct leati_slice_args *args = call->args;
    const leati_operand *in = &call->inputs[0];
    leat_shape whole = leati_support_operand_shape(in), part = {0};
    int64_t steps[LEAT_MAX_RANK], out_steps[LEAT_MAX_RANK];
    size_t size = leat_dtype_size(in->dtype);
    LEATI_TRY(leati_slice_shape(args, &whole, &part, err));
    leati_support_dense_steps(&whole, size, steps);
    int64_t offset = leati_slice_offset(args, steps);
    /* The view keeps the rows' stride: each row's part lies at one offset in it. */
    if (is_one_piece(&whole, &part))
        return leati_op_kernel_view(call, 0, part.rank, part.dims, in->data + offset,
                                    in->row_stride, in->owner, err);
    LEATI_TRY(leati_support_output_like(call, 0, &part, err));
    leati_support_dense_steps(&part, size, out_steps);
    leati_moving_rows(call, &call->outputs[0], 0, out_steps, in, offset, steps, part.dims,
                      part.rank, size);
    return leati_support_hold_strings(call, 0, err);
}

static leat_status slice_window(const leati_kernel_call *call, leati_window *out, leat_error *err) {
    const struct leati_slice_args *args = call->args;
    leat_shape whole = leati_support_operand_shape(&call->inputs[0]), part = {0};
    /* The caller has made sure that all channels stay. */
    LEATI_TRY(leati_slice_shape(args, &whole, &part, err));
    *out = (leati_window){.top = args->begin.values[0],
                          .left = args->begin.values[1],
                          .height = part.dims[0],
                          .width = part.dims[1]};
    return LEAT_OK;
}

static leat_status slice_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    call->input_gradients[0] = leati_graph_build2(&leati_tensor_op_slice_grad, call->args,
                                                  call->output_gradients[0], call->inputs[0]);
    return LEAT_OK;
}

static bool slice_known(const leati_known_call *call, leati_known *out) {
    const struct leati_slice_args *args = call->args;
    /* The vector of numbers is sliced as the tensor itself is. */
    leat_shape whole = LEAT_SHAPE(call->inputs[0].count), part = {0};
    if (call->inputs[0].rank != 1 ||
        leati_slice_shape(args, &whole, &part, &(leat_error){0}) != LEAT_OK)
        return false;
    *out = (leati_known){.rank = 1, .count = (int32_t)part.dims[0]};
    for (int32_t i = 0; i < out->count; i++)
        out->values[i] = call->inputs[0].values[args->begin.values[0] + i];
    return true;
}

const leati_tensor_op leati_tensor_op_slice = {
    .name = "slice",
    .version = 1,
    .doc = "The part of a tensor from begin on, size values along each dimension "
           "(tf.slice).",
    .names = "slice",
    .inputs = "input_",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_slice_rows,
    .args_size = sizeof(struct leati_slice_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = slice_infer,
    .kernel = slice_kernel,
    .gradient = slice_gradient,
    .window = slice_window,
    .known = slice_known,
};
