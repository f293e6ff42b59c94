/* concat, stack: tensors joined along an existing dimension, or tensors of one shape along a new
 * one (tf.concat, tf.stack).
 *
 * They fail where dtypes, ranks or dimensions differ, but for the one that concat joins. The
 * gradients slice; that of concat needs the sizes along the axis in inference, but for the last
 * input's. No state, no locks. */
#include "base/minmax.h"
#include "graph/known.h"
#include "graph/support/array/moving.h"

struct axis_args {
    int64_t axis;
};

static const leati_row axis_rows[] = {
    {.name = "axis",
     .type = LEATI_ROW_INT,
     .flags = LEATI_TENSOR,
     .offset = offsetof(struct axis_args, axis),
     .doc = "The dimension along which the inputs follow each other; negative counts from "
            "the end."},
    {0},
};

/* The steps of a call: of each row, each place before the axis. */
typedef struct join_work {
    const leati_kernel_call *call;
    int64_t outer;
} join_work;

/* All inputs' parts of some steps, so that what they write lies together. */
static void join_steps(void *data, int64_t begin, int64_t end) {
    const join_work *w = data;
    const leati_operand *out = &w->call->outputs[0];
    int64_t size = (int64_t)leat_dtype_size(out->dtype), step = out->count / w->outer * size;
    for (int64_t at = begin, n = 0; at < end; at += n) {
        int64_t row = at / w->outer, first = at % w->outer;
        n = LEATI_MIN(w->outer - first, end - at);
        char *to = leati_support_row_of(out, row) + first * step;
        for (int i = 0; i < w->call->num_inputs; i++) {
            const leati_operand *in = &w->call->inputs[i];
            int64_t bytes = in->count / w->outer * size;
            const leati_moving_dim dim = {n, step, bytes};
            if (bytes > 0)
                leati_moving_copy(to, leati_support_row_of(in, row) + first * bytes, &dim, 1,
                                  (size_t)bytes);
            to += bytes;
        }
    }
}

/* For each place before the axis, every input's values from the axis on, one input after the other.
 * Output 0 has its shape and memory; `outer` is the product of its dimensions before the axis. */
static leat_status join(leati_kernel_call *call, int64_t outer, leat_error *err) {
    const leati_operand *out = &call->outputs[0];
    int64_t size = (int64_t)leat_dtype_size(out->dtype);
    join_work work = {.call = call, .outer = outer};
    /* Without values there may be no memory, and nothing to divide by. */
    if (outer == 0 || out->count == 0)
        return LEAT_OK;
    if (outer > 1) {
        leati_moving_share(call->n * outer, out->count / outer * size, join_steps, &work);
        return leati_support_hold_strings(call, 0, err);
    }
    int64_t at = 0;
    for (int i = 0; i < call->num_inputs; i++) {
        /* Each row gets one piece of this input. */
        const leati_operand *in = &call->inputs[i];
        const leati_moving_dim dim = {call->n, out->row_stride, in->row_stride};
        if (in->count > 0)
            leati_moving_copy(out->data + at, in->data, &dim, 1, (size_t)(in->count * size));
        at += in->count * size;
    }
    return leati_support_hold_strings(call, 0, err);
}

/* ---- concat ---- */
/* Adds the shape `next` to `shape` along the axis. */
static leat_status join_shape(leat_shape *shape, const leat_shape *next, int32_t axis, int index,
                              leat_error *err) {
    char texts[2][128];
    bool fits = shape->rank == next->rank;
    for (int32_t d = 0; d < shape->rank && fits; d++) {
        int64_t a = shape->dims[d], b = next->dims[d];
        bool open = a == LEAT_UNKNOWN_DIM || b == LEAT_UNKNOWN_DIM;
        if (d == axis && open)
            shape->dims[d] = LEAT_UNKNOWN_DIM;
        else if (d == axis)
            /* Inference sees any sizes that somebody names, so their sum may overflow. */
            fits = !__builtin_add_overflow(a, b, &shape->dims[d]);
        else if (open || a == b)
            shape->dims[d] = a == LEAT_UNKNOWN_DIM ? b : a;
        else
            fits = false;
    }
    if (fits)
        return LEAT_OK;
    return leati_refuse(
        err, SHAPE,
        "input %d has shape %s, those before it joined %s; expected equal dimensions "
        "but for axis %d, and a sum below 2^63 there",
        index, leati_shape_text(next, texts[0]), leati_shape_text(shape, texts[1]), (int)axis);
}

/* Of an axis that the run computes: the inputs' rank. */
static leat_shape shape_of_any_axis(const leati_infer_call *call) {
    leat_shape shape = {.rank = LEAT_UNKNOWN_RANK};
    for (int i = 0; i < call->num_inputs && shape.rank == LEAT_UNKNOWN_RANK; i++)
        shape.rank = call->inputs[i].shape.rank;
    /* Which dimension grows is not known, so no size is. */
    for (int32_t d = 0; d < shape.rank; d++)
        shape.dims[d] = LEAT_UNKNOWN_DIM;
    return shape;
}

static leat_status concat_infer(leati_infer_call *call, leat_error *err) {
    const struct axis_args *args = call->args;
    leat_shape shape = {.rank = LEAT_UNKNOWN_RANK};
    int32_t axis = 0;
    bool whole = true; /* are all ranks known? */
    LEATI_TRY(leati_support_want_values(call, 0, err));
    LEATI_TRY(leati_support_want_same_dtypes(call, err));
    if (call->unknown != 0) {
        shape = shape_of_any_axis(call);
        return leati_op_infer_output(call, call->inputs[0].dtype, &shape, NULL, err);
    }
    for (int i = 0; i < call->num_inputs; i++) {
        const leat_shape *next = &call->inputs[i].shape;
        /* An input of unknown rank is not compared; it leaves the axis unknown below. */
        whole = whole && next->rank != LEAT_UNKNOWN_RANK;
        if (next->rank != LEAT_UNKNOWN_RANK && shape.rank != LEAT_UNKNOWN_RANK) {
            LEATI_TRY(join_shape(&shape, next, axis, i, err));
        } else if (next->rank != LEAT_UNKNOWN_RANK) {
            shape = *next;
            if (call->num_inputs > 1) /* one alone is itself, whatever its rank */
                LEATI_TRY(leati_support_normal_axis(args->axis, shape.rank, &axis, err));
        }
    }
    if (!whole && shape.rank != LEAT_UNKNOWN_RANK)
        shape.dims[axis] = LEAT_UNKNOWN_DIM;
    return leati_op_infer_output(call, call->inputs[0].dtype, &shape, NULL, err);
}

static leat_status concat_kernel(leati_kernel_call *call, leat_error *err) {
    const struct axis_args *args = call->args;
    leat_shape shape = leati_support_operand_shape(&call->inputs[0]);
    int32_t axis = 0;
    if (call->num_inputs > 1)
        LEATI_TRY(leati_support_normal_axis(args->axis, shape.rank, &axis, err));
    for (int i = 1; i < call->num_inputs; i++) {
        leat_shape next = leati_support_operand_shape(&call->inputs[i]);
        LEATI_TRY(join_shape(&shape, &next, axis, i, err));
    }
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    int64_t outer = 1;
    for (int32_t d = 0; d < axis; d++)
        outer *= shape.dims[d];
    return join(call, outer, err);
}

static leat_status concat_gradient(leati_gradient_call *call, leat_error *err) {
    const struct axis_args *args = call->args;
    leat_shape shape = leat_value_shape(call->outputs[0]);
    int64_t begin[LEAT_MAX_RANK] = {0}, size[LEAT_MAX_RANK];
    int32_t axis = 0;
    /* A single input passes through, whatever its rank, even a scalar that has no axis. */
    if (call->num_inputs == 1) {
        call->input_gradients[0] = call->output_gradients[0];
        return LEAT_OK;
    }
    if (shape.rank >= 0)
        LEATI_TRY(leati_support_normal_axis(args->axis, shape.rank, &axis, err));
    for (int i = 0; i < call->num_inputs; i++) {
        leat_shape part = leat_value_shape(call->inputs[i]);
        bool last = i == call->num_inputs - 1;
        /* Where the next part begins is a number of the node, so it must be known now. */
        if (part.rank < 0 || (part.dims[axis] == LEAT_UNKNOWN_DIM && !last))
            return leati_fail(err, LEAT_UNIMPLEMENTED,
                              "the gradient of concat needs the size of input %d along axis %d; "
                              "set it with ensure_shape",
                              i, (int)axis);
        for (int32_t d = 0; d < shape.rank; d++)
            /* An unknown size of the last input is -1, which takes all that follows. */
            size[d] = d == axis ? part.dims[d] : -1;
        call->input_gradients[i] =
            leat_op_slice(call->output_gradients[0], begin, shape.rank, size, shape.rank);
        begin[axis] += part.dims[axis];
    }
    return LEAT_OK;
}

static bool concat_known(const leati_known_call *call, leati_known *out) {
    *out = (leati_known){.rank = 1};
    for (int i = 0; i < call->num_inputs; i++) {
        const leati_known *part = &call->inputs[i];
        /* Parts are vectors, which have no other axis than 0. */
        if (part->rank != 1 || out->count + part->count > LEAT_MAX_RANK)
            return false;
        for (int32_t k = 0; k < part->count; k++)
            out->values[out->count++] = part->values[k];
    }
    return true;
}

/* ---- stack ---- */
/* `shape` with a dimension of `count` at the axis. */
static leat_status stacked(const leat_shape *shape, int64_t axis, int count, int32_t *place,
                           leat_shape *out, leat_error *err) {
    if (shape->rank >= LEAT_MAX_RANK)
        return leati_refuse(err, SHAPE, "the rank would exceed %d", LEAT_MAX_RANK);
    LEATI_TRY(leati_support_normal_axis(axis, shape->rank + 1, place, err));
    out->rank = shape->rank + 1;
    for (int32_t d = 0; d < out->rank; d++)
        /* Behind the new dimension those of the input have moved by one. */
        out->dims[d] = d == *place ? count : shape->dims[d < *place ? d : d - 1];
    return LEAT_OK;
}

static leat_status unequal(const leat_shape *first, const leat_shape *other, int index,
                           leat_error *err) {
    char texts[2][128];
    return leati_refuse(err, SHAPE, "input %d has shape %s, input 0 %s; expected equal shapes",
                        index, leati_shape_text(other, texts[0]),
                        leati_shape_text(first, texts[1]));
}

static leat_status stack_infer(leati_infer_call *call, leat_error *err) {
    const struct axis_args *args = call->args;
    leat_shape shape = call->inputs[0].shape, out = {.rank = LEAT_UNKNOWN_RANK};
    int32_t axis = 0;
    LEATI_TRY(leati_support_want_values(call, 0, err));
    LEATI_TRY(leati_support_want_same_dtypes(call, err));
    for (int i = 1; i < call->num_inputs; i++) {
        const leat_shape *other = &call->inputs[i].shape;
        if (!leati_shape_compatible(&shape, other))
            return unequal(&shape, other, i, err);
        /* What one input leaves unknown another may say: all have one shape. */
        if (shape.rank < 0)
            shape = *other;
        for (int32_t d = 0; d < shape.rank && other->rank >= 0; d++)
            if (shape.dims[d] == LEAT_UNKNOWN_DIM)
                shape.dims[d] = other->dims[d];
    }
    if (shape.rank >= 0 && call->unknown == 0)
        LEATI_TRY(stacked(&shape, args->axis, call->num_inputs, &axis, &out, err));
    return leati_op_infer_output(call, call->inputs[0].dtype, &out, NULL, err);
}

static leat_status stack_kernel(leati_kernel_call *call, leat_error *err) {
    const struct axis_args *args = call->args;
    leat_shape shape = leati_support_operand_shape(&call->inputs[0]), out = {0};
    int32_t axis = 0;
    for (int i = 1; i < call->num_inputs; i++) {
        leat_shape other = leati_support_operand_shape(&call->inputs[i]);
        if (!leati_shape_equal(&shape, &other))
            return unequal(&shape, &other, i, err);
    }
    LEATI_TRY(stacked(&shape, args->axis, call->num_inputs, &axis, &out, err));
    LEATI_TRY(leati_support_output_like(call, 0, &out, err));
    int64_t outer = 1;
    /* The new dimension is not among those before the axis, so the inputs' shape serves. */
    for (int32_t d = 0; d < axis; d++)
        outer *= shape.dims[d];
    return join(call, outer, err);
}

static leat_status stack_gradient(leati_gradient_call *call, leat_error *err) {
    const struct axis_args *args = call->args;
    leat_shape shape = leat_value_shape(call->outputs[0]);
    int64_t begin[LEAT_MAX_RANK] = {0}, size[LEAT_MAX_RANK];
    int32_t axis = 0;
    if (shape.rank < 0)
        return leati_fail(err, LEAT_UNIMPLEMENTED,
                          "the gradient of stack needs the rank; set it with ensure_shape");
    LEATI_TRY(leati_support_normal_axis(args->axis, shape.rank, &axis, err));
    for (int32_t d = 0; d < shape.rank; d++)
        size[d] = d == axis ? 1 : -1;
    for (int i = 0; i < call->num_inputs; i++) {
        begin[axis] = i;
        leat_value part =
            leat_op_slice(call->output_gradients[0], begin, shape.rank, size, shape.rank);
        /* The slice still has a 1 at the axis; reshape_like takes it away and knows the other
         * sizes. */
        call->input_gradients[i] = leat_op_reshape_like(part, call->inputs[i]);
    }
    return LEAT_OK;
}

static bool stack_known(const leati_known_call *call, leati_known *out) {
    *out = (leati_known){.rank = 1, .count = call->num_inputs};
    for (int i = 0; i < call->num_inputs; i++) {
        /* Scalars make a vector; vectors would make a matrix, of which nothing is known. */
        if (call->inputs[i].rank != 0 || i == LEAT_MAX_RANK)
            return false;
        out->values[i] = call->inputs[i].values[0];
    }
    return true;
}

#define JOIN(OP, ...)                                                                              \
    const leati_tensor_op leati_tensor_op_##OP = {                                                 \
        .name = #OP,                                                                               \
        .version = 1,                                                                              \
        .names = #OP,                                                                              \
        .inputs = "*values",                                                                       \
        .types = "*T",                                                                             \
        .outputs = "output",                                                                       \
        .halves = LEATI_HALVES_OWN,                                                                \
        .rows = axis_rows,                                                                         \
        .args_size = sizeof(struct axis_args),                                                     \
        .min_inputs = 1,                                                                           \
        .max_inputs = -1,                                                                          \
        .infer = OP##_infer,                                                                       \
        .kernel = OP##_kernel,                                                                     \
        .gradient = OP##_gradient,                                                                 \
        .known = OP##_known,                                                                       \
        __VA_ARGS__,                                                                               \
    };
JOIN(concat, .doc = "Tensors joined along an existing dimension (tf.concat).",
     .checks = LEATI_CHECKS_IN_KERNEL)
JOIN(stack, .doc = "Tensors of one shape along a new dimension (tf.stack).",
     .checks = LEATI_CHECKS_IN_PYTHON)
