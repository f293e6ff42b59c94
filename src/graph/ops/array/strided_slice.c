/* strided_slice: the part of a tensor that numpy's x[begin:end:stride, index, None, ...] names
 * (tf.strided_slice).
 *
 * Happy path: the entries become one step and one size per dimension of the result; a part that is
 * one piece is handed out as a view, others are copied. Fails on a stride of 0 and on a single
 * index outside its dimension. No state, no locks. */
#include "graph/ops/array/strided_slice.h"

#include "base/minmax.h"
#include "graph/known.h"
#include "graph/support/array/moving.h"

#define ARGS_ROW(NAME, TYPE, FLAGS, DOC)                                                           \
    {                                                                                              \
        .name = #NAME, .type = TYPE, .flags = FLAGS,                                               \
        .offset = offsetof(struct leati_strided_slice_args, NAME), .doc = DOC                      \
    }

const leati_row leati_strided_slice_rows[] = {
    ARGS_ROW(begin, LEATI_ROW_INTS, LEATI_REQUIRED | LEATI_TENSOR,
             "The first index of each entry; negative counts from the end."),
    ARGS_ROW(end, LEATI_ROW_INTS, LEATI_REQUIRED | LEATI_TENSOR,
             "The index of each entry that is not reached any more."),
    ARGS_ROW(strides, LEATI_ROW_INTS, LEATI_NONE, "The step of each entry; none: 1."),
    ARGS_ROW(begin_mask, LEATI_ROW_INT, 0, "Entries without a begin, by bits."),
    ARGS_ROW(end_mask, LEATI_ROW_INT, 0, "Entries without an end, by bits."),
    ARGS_ROW(ellipsis_mask, LEATI_ROW_INT, 0,
             "The entry that stands for all dimensions that no other names, by its bit."),
    ARGS_ROW(new_axis_mask, LEATI_ROW_INT, 0, "Entries that are a new dimension of 1, by bits."),
    ARGS_ROW(shrink_axis_mask, LEATI_ROW_INT, 0,
             "Entries that are one index, whose dimension goes, by bits."),
    {0},
};

/* Is bit `i` set? */
static bool has(int64_t mask, int32_t i) {
    /* A mask is an int64: entries beyond its bits have none set. */
    return i < 63 && (mask >> i & 1) != 0;
}

typedef struct slicer {
    const struct leati_strided_slice_args *args;
    const leat_shape *whole;
    int64_t dense[LEAT_MAX_RANK];
    int32_t at; /* the dimension of the whole that comes next */
    bool unknown;
    leati_strided_part *part;
} slicer;

static leat_status add_dim(slicer *s, int64_t dim, int64_t step, leat_error *err) {
    leat_shape *shape = &s->part->shape;
    if (shape->rank == LEAT_MAX_RANK)
        return leati_refuse(err, SHAPE, "the rank would exceed %d", LEAT_MAX_RANK);
    s->part->steps[shape->rank] = step;
    shape->dims[shape->rank++] = dim;
    return LEAT_OK;
}

static leat_status take_whole(slicer *s, leat_error *err) {
    LEATI_TRY(add_dim(s, s->whole->dims[s->at], s->dense[s->at], err));
    s->at++;
    return LEAT_OK;
}

static leat_status take_index(slicer *s, int32_t i, leat_error *err) {
    int64_t dim = s->whole->dims[s->at], index = s->args->begin.values[i];
    /* Only the shape is asked for then: which index it is does not change it. */
    bool open = dim == LEAT_UNKNOWN_DIM || s->unknown;
    if (!open && (index < -dim || index >= dim))
        return leati_refuse(
            err, SHAPE,
            "slice index %lld of dimension %d out of bounds; expected one in [%lld, "
            "%lld)",
            (long long)index, (int)s->at, (long long)-dim, (long long)dim);
    if (!open)
        s->part->offset += (index < 0 ? index + dim : index) * s->dense[s->at];
    s->at++;
    return LEAT_OK;
}

/* An index of a slice, from the front and within what the slice can reach. */
static int64_t clamp(int64_t index, int64_t dim, int64_t low, int64_t high) {
    if (index < 0)
        index += dim;
    return index < low ? low : LEATI_MIN(high, index);
}

static leat_status take_slice(slicer *s, int32_t i, leat_error *err) {
    const struct leati_strided_slice_args *args = s->args;
    int64_t stride = args->strides.values != NULL ? args->strides.values[i] : 1;
    int64_t dim = s->whole->dims[s->at], step = s->dense[s->at];
    bool from_start = has(args->begin_mask, i), to_end = has(args->end_mask, i);
    /* The lowest number has no opposite, which steps backwards need. */
    if (stride == 0 || stride == INT64_MIN)
        return leati_refuse(err, VALUE, "strides[%d] must be non-zero", (int)i);
    s->at++;
    /* Entries that name no ends do not depend on what the run computes. */
    if (dim == LEAT_UNKNOWN_DIM || (s->unknown && !(from_start && to_end)))
        return add_dim(s, LEAT_UNKNOWN_DIM, 0, err);
    /* Backwards, a slice that reaches the front ends before it, at -1. */
    int64_t low = stride > 0 ? 0 : -1, high = stride > 0 ? dim : dim - 1;
    int64_t begin = stride > 0 ? low : high, end = stride > 0 ? high : low;
    if (!from_start)
        begin = clamp(args->begin.values[i], dim, low, high);
    if (!to_end)
        end = clamp(args->end.values[i], dim, low, high);
    int64_t way = stride > 0 ? end - begin : begin - end, by = stride > 0 ? stride : -stride;
    /* The quotient rounded up, without a sum that could overflow. */
    int64_t count = way <= 0 ? 0 : (way - 1) / by + 1;
    if (count > 0)
        s->part->offset += begin * step;
    /* A stride that is never taken may be so large that the product overflows. */
    return add_dim(s, count, count > 1 ? stride * step : step, err);
}

/* Checks the entries; how many of them stand for a dimension each. */
static leat_status count_entries(const struct leati_strided_slice_args *args, int32_t *used,
                                 leat_error *err) {
    int32_t count = args->begin.count;
    if (args->end.count != count || (args->strides.values != NULL && args->strides.count != count))
        return leati_refuse(err, VALUE,
                            "begin has %d entries, end %d, strides %d; expected as many",
                            (int)count, (int)args->end.count, (int)args->strides.count);
    int64_t ellipsis = args->ellipsis_mask;
    /* No bit is left beside the lowest one. */
    if ((ellipsis & (ellipsis - 1)) != 0)
        return leati_refuse(err, VALUE, "multiple ellipses are not allowed");
    *used = 0;
    for (int32_t i = 0; i < count; i++)
        *used += !has(args->new_axis_mask, i) && !has(ellipsis, i);
    return LEAT_OK;
}

leat_status leati_strided_part_of(const struct leati_strided_slice_args *args,
                                  const leat_shape *whole, size_t size, bool unknown,
                                  leati_strided_part *part, leat_error *err) {
    slicer s = {.args = args, .whole = whole, .unknown = unknown, .part = part};
    int32_t used = 0;
    char text[128];
    *part = (leati_strided_part){.offset = 0};
    LEATI_TRY(count_entries(args, &used, err));
    if (used > whole->rank)
        return leati_refuse(err, SHAPE, "%d entries name dimensions of a tensor of shape %s",
                            (int)used, leati_shape_text(whole, text));
    leati_support_dense_steps(whole, size, s.dense);
    /* Where an entry has several masks, they count in this order, as in TensorFlow. */
    for (int32_t i = 0; i < args->begin.count; i++) {
        if (has(args->ellipsis_mask, i))
            /* The ellipsis takes as many dimensions as no other entry names. */
            for (int32_t k = used; k < whole->rank; k++)
                LEATI_TRY(take_whole(&s, err));
        else if (has(args->new_axis_mask, i))
            LEATI_TRY(add_dim(&s, 1, (int64_t)size, err));
        else if (has(args->shrink_axis_mask, i))
            LEATI_TRY(take_index(&s, i, err));
        else
            LEATI_TRY(take_slice(&s, i, err));
    }
    /* Dimensions behind the last entry are taken whole. */
    while (s.at < whole->rank)
        LEATI_TRY(take_whole(&s, err));
    return LEAT_OK;
}

static leat_status strided_slice_infer(leati_infer_call *call, leat_error *err) {
    const struct leati_strided_slice_args *args = call->args;
    const leat_shape *whole = &call->inputs[0].shape;
    leati_strided_part part = {.shape = {.rank = LEAT_UNKNOWN_RANK}};
    /* Lists of unknown length leave the rank open. */
    bool sized = args->begin.values != NULL && args->end.values != NULL;
    LEATI_TRY(leati_support_want_values(call, 0, err));
    if (whole->rank >= 0 && sized)
        LEATI_TRY(leati_strided_part_of(args, whole, leat_dtype_size(call->inputs[0].dtype),
                                        call->unknown != 0, &part, err));
    return leati_op_infer_output(call, call->inputs[0].dtype, &part.shape, NULL, err);
}

/* Does the part lie in memory as a tensor of its shape does? */
static bool is_dense(const leati_strided_part *part, size_t size) {
    int64_t step = (int64_t)size;
    for (int32_t d = part->shape.rank - 1; d >= 0; d--) {
        if (part->shape.dims[d] != 1 && part->steps[d] != step)
            return false;
        step *= part->shape.dims[d];
    }
    return true;
}

static leat_status strided_slice_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *in = &call->inputs[0];
    leat_shape whole = leati_support_operand_shape(in);
    size_t size = leat_dtype_size(in->dtype);
    int64_t out_steps[LEAT_MAX_RANK];
    leati_strided_part part;
    LEATI_TRY(leati_strided_part_of(call->args, &whole, size, false, &part, err));
    /* An input without values may have no memory, of which there is no view. */
    if (is_dense(&part, size) && in->data != NULL)
        return leati_op_kernel_view(call, 0, part.shape.rank, part.shape.dims,
                                    in->data + part.offset, in->row_stride, in->owner, err);
    LEATI_TRY(leati_support_output_like(call, 0, &part.shape, err));
    leati_support_dense_steps(&part.shape, size, out_steps);
    leati_moving_rows(call, &call->outputs[0], 0, out_steps, in, part.offset, part.steps,
                      part.shape.dims, part.shape.rank, size);
    return leati_support_hold_strings(call, 0, err);
}

bool leati_strided_cuts(const struct leati_strided_slice_args *args) {
    for (int32_t i = 0; args->strides.values != NULL && i < args->strides.count; i++)
        if (args->strides.values[i] != 1)
            return false;
    return args->new_axis_mask == 0 && args->shrink_axis_mask == 0;
}

static leat_status strided_slice_window(const leati_kernel_call *call, leati_window *out,
                                        leat_error *err) {
    leat_shape whole = leati_support_operand_shape(&call->inputs[0]);
    leati_strided_part part;
    /* With values of size 1 the offset is the number of the first value, from which row and column
     * follow. */
    LEATI_TRY(leati_strided_part_of(call->args, &whole, 1, false, &part, err));
    int64_t line = whole.dims[1] * whole.dims[2];
    *out = (leati_window){.top = line == 0 ? 0 : part.offset / line,
                          .left = line == 0 ? 0 : part.offset % line / whole.dims[2],
                          .height = part.shape.dims[0],
                          .width = part.shape.dims[1]};
    return LEAT_OK;
}

static leat_status strided_slice_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    call->input_gradients[0] = leati_graph_build2(&leati_tensor_op_strided_slice_grad, call->args,
                                                  call->output_gradients[0], call->inputs[0]);
    return LEAT_OK;
}

static bool strided_slice_known(const leati_known_call *call, leati_known *out) {
    leat_shape whole = LEAT_SHAPE(call->inputs[0].count);
    leati_strided_part part;
    /* Size 1 again: offset and steps count the numbers of the vector. */
    if (call->inputs[0].rank != 1 ||
        leati_strided_part_of(call->args, &whole, 1, false, &part, &(leat_error){0}) != LEAT_OK ||
        part.shape.rank > 1)
        return false;
    *out = (leati_known){.rank = part.shape.rank,
                         .count = part.shape.rank == 0 ? 1 : (int32_t)part.shape.dims[0]};
    for (int32_t i = 0; i < out->count; i++)
        out->values[i] =
            call->inputs[0].values[part.offset + (out->rank == 0 ? 0 : i * part.steps[0])];
    return true;
}

const leati_tensor_op leati_tensor_op_strided_slice = {
    .name = "strided_slice",
    .version = 1,
    .doc = "The part of a tensor that numpy's x[begin:end:stride, index, None, ...] names "
           "(tf.strided_slice).",
    .names = "strided_slice",
    .inputs = "input_",
    .signature = "input_ begin end strides begin_mask end_mask ellipsis_mask new_axis_mask "
                 "shrink_axis_mask var=null",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_strided_slice_rows,
    .args_size = sizeof(struct leati_strided_slice_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = strided_slice_infer,
    .kernel = strided_slice_kernel,
    .gradient = strided_slice_gradient,
    .window = strided_slice_window,
    .known = strided_slice_known,
};
