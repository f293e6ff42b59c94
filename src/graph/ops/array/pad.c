/* pad: values around a tensor: a constant, or the tensor itself mirrored (tf.pad).
 *
 * Happy path: each place of the result finds the place it comes from along every dimension down to
 * the last one that is padded; what lies behind is copied at once, and where the padding is
 * constant all that comes from the input along that dimension, too. Fails where the paddings are
 * not one pair of 0 or more per dimension, or mirror more than there is. The gradient is the part
 * inside; of mirrored paddings, what lies outside is added where it was mirrored from. No state, no
 * locks. */
#include "base/minmax.h"
#include "core/tensor.h"
#include "graph/support/array/moving.h"

#include <string.h>

struct pad_args {
    leat_element paddings, constant_values;
    char *mode;
};

static const leati_row pad_rows[] = {
    {.name = "paddings",
     .type = LEATI_ROW_ELEMENT,
     .flags = LEATI_REQUIRED | LEATI_TENSOR,
     .offset = offsetof(struct pad_args, paddings),
     .doc = "How many values stand before and behind each dimension: a matrix of pairs."},
    {.name = "mode",
     .type = LEATI_ROW_STRING,
     .offset = offsetof(struct pad_args, mode),
     .default_text = "CONSTANT",
     .doc = "CONSTANT, REFLECT (without the border) or SYMMETRIC (with it), in any case."},
    {.name = "constant_values",
     .type = LEATI_ROW_ELEMENT,
     .offset = offsetof(struct pad_args, constant_values),
     .flags = LEATI_NONE | LEATI_TENSOR,
     .doc = "The value of a constant padding, a scalar; none: 0, or an empty string."},
    {0},
};

typedef enum pad_mode { PAD_CONSTANT, PAD_REFLECT, PAD_SYMMETRIC, NUM_PAD_MODES } pad_mode;

static leat_status mode_of(const struct pad_args *args, pad_mode *mode, leat_error *err) {
    static const char *const names[] = {"CONSTANT", "REFLECT", "SYMMETRIC"};
    const char *text = args->mode != NULL ? args->mode : "";
    for (int m = 0; m < NUM_PAD_MODES; m++) {
        size_t i = 0;
        /* Clearing this bit makes a small ASCII letter a capital one. */
        while (names[m][i] != 0 && (text[i] & ~0x20) == names[m][i])
            i++;
        if (names[m][i] == 0 && text[i] == 0) {
            *mode = (pad_mode)m;
            return LEAT_OK;
        }
    }
    return leati_refuse(err, VALUE, "mode is \"%.40s\"; expected CONSTANT, REFLECT or SYMMETRIC",
                        text);
}

typedef struct pad_plan {
    pad_mode mode;
    leat_shape in, out;
    int64_t before[LEAT_MAX_RANK];
    int64_t steps[LEAT_MAX_RANK], out_steps[LEAT_MAX_RANK];
    size_t size;
    int32_t last; /* dimension behind which nothing is padded; -1: none is */
    _Alignas(8) char value[16];
} pad_plan;

static leat_status read_paddings(const struct pad_args *args, const leat_shape *in,
                                 int64_t pairs[][2], leat_error *err) {
    const leat_tensor *tensor = args->paddings.tensors;
    char text[128];
    if (args->paddings.num_tensors != 1 || !leati_dtype_is_integer(tensor->dtype) ||
        tensor->rank != 2 || tensor->dims[0] != in->rank || tensor->dims[1] != 2)
        return leati_refuse(err, SHAPE,
                            "paddings: expected a pair of integers for each dimension of %s",
                            leati_shape_text(in, text));
    for (int32_t d = 0; d < in->rank; d++) {
        for (int k = 0; k < 2; k++) {
            pairs[d][k] = leati_tensor_int_at(tensor, 2 * d + k);
            /* The bound leaves room for the sum of both and a dimension. */
            if (pairs[d][k] < 0 || pairs[d][k] > INT64_MAX / 4)
                return leati_refuse(err, SHAPE,
                                    "paddings of dimension %d: %lld; expected 0 or more", (int)d,
                                    (long long)pairs[d][k]);
        }
    }
    return LEAT_OK;
}

/* The shape of the result; dimensions of the input may be unknown. */
static leat_status padded(const struct pad_args *args, const leat_shape *in, pad_plan *plan,
                          leat_error *err) {
    int64_t pairs[LEAT_MAX_RANK][2];
    LEATI_TRY(mode_of(args, &plan->mode, err));
    LEATI_TRY(read_paddings(args, in, pairs, err));
    plan->in = plan->out = *in;
    for (int32_t d = 0; d < in->rank; d++) {
        /* REFLECT does not repeat the border, so it has one value less to mirror. */
        int64_t dim = in->dims[d], most = plan->mode == PAD_REFLECT ? dim - 1 : dim;
        plan->before[d] = pairs[d][0];
        if (dim == LEAT_UNKNOWN_DIM)
            continue;
        plan->out.dims[d] = dim + pairs[d][0] + pairs[d][1];
        if (plan->mode != PAD_CONSTANT && (pairs[d][0] > most || pairs[d][1] > most))
            return leati_refuse(
                err, SHAPE,
                "paddings of dimension %d must be no greater than %lld in this mode; "
                "found %lld and %lld",
                (int)d, (long long)(LEATI_MAX(most, 0)), (long long)pairs[d][0],
                (long long)pairs[d][1]);
    }
    return LEAT_OK;
}

/* The input's shape; of an unknown rank, the one that the paddings are for. */
static leat_shape shape_of_paddings(const struct pad_args *args, const leat_shape *in) {
    const leat_tensor *tensor = args->paddings.tensors;
    leat_shape shape = *in;
    if (in->rank >= 0 || args->paddings.num_tensors != 1 || tensor->rank != 2 ||
        tensor->dims[0] > LEAT_MAX_RANK)
        return shape;
    shape.rank = (int32_t)tensor->dims[0];
    for (int32_t d = 0; d < shape.rank; d++)
        shape.dims[d] = LEAT_UNKNOWN_DIM;
    return shape;
}

/* A string has no number but the 0 that stands for none. */
static bool is_none(const leat_tensor *value, leat_dtype dtype) {
    return dtype == LEAT_STRING && value->dtype != LEAT_STRING && value->rank == 0 &&
           leati_tensor_float_at(value, 0) == 0;
}

static leat_status pad_infer(leati_infer_call *call, leat_error *err) {
    const struct pad_args *args = call->args;
    pad_plan plan = {.out = call->inputs[0].shape};
    const leat_tensor *value = args->constant_values.tensors;
    bool known = !leati_op_infer_unknown(call, pad_rows, offsetof(struct pad_args, paddings));
    LEATI_TRY(leati_support_want_values(call, 0, err));
    LEATI_TRY(mode_of(args, &plan.mode, err));
    if (args->constant_values.num_tensors == 1 && value->rank == 0 &&
        (value->dtype == LEAT_STRING) != (call->inputs[0].dtype == LEAT_STRING) &&
        !is_none(value, call->inputs[0].dtype))
        return leati_refuse(err, DTYPE, "constant_values is %s, the input %s",
                            leat_dtype_name(value->dtype), leat_dtype_name(call->inputs[0].dtype));
    if (args->constant_values.num_tensors == 1 && leati_dtype_is_float(value->dtype) &&
        leati_dtype_is_integer(call->inputs[0].dtype))
        return leati_refuse(err, DTYPE, "constant_values is %s; expected %s",
                            leat_dtype_name(value->dtype), leat_dtype_name(call->inputs[0].dtype));
    leat_shape in = known ? shape_of_paddings(args, &plan.out) : plan.out;
    /* The paddings are computed in the run: the rank is all that stays. */
    for (int32_t d = 0; !known && d < plan.out.rank; d++)
        plan.out.dims[d] = LEAT_UNKNOWN_DIM;
    if (known && in.rank >= 0)
        LEATI_TRY(padded(args, &in, &plan, err));
    return leati_op_infer_output(call, call->inputs[0].dtype, &plan.out, NULL, err);
}

/* The place along a dimension that place `i` of the result comes from; -1: the padding. */
static int64_t source_of(const pad_plan *plan, int32_t d, int64_t i) {
    int64_t at = i - plan->before[d], dim = plan->in.dims[d];
    bool symmetric = plan->mode == PAD_SYMMETRIC;
    if (at >= 0 && at < dim)
        return at;
    if (plan->mode == PAD_CONSTANT)
        return -1;
    /* REFLECT mirrors at the border's value, SYMMETRIC at its outer edge, one place nearer. The
     * paddings' bounds make one mirror enough. */
    return at < 0 ? -at - symmetric : 2 * dim - 2 - at + symmetric;
}

/* By bytes: minus zero is no zero here, and is written as it is. */
static bool is_zero(const pad_plan *plan) {
    static const char zeros[sizeof plan->value];
    return memcmp(plan->value, zeros, plan->size) == 0;
}

/* Writes `bytes` of padding. */
static void fill(const pad_plan *plan, char *to, size_t bytes) {
    if (is_zero(plan))
        memset(to, 0, bytes);
    else if (bytes > 0)
        leati_moving_fill(to, (int64_t)(bytes / plan->size), plan->value, plan->size);
}

/* The last dimension that is padded. */
static void pad_last(const pad_plan *plan, char *to, const char *from) {
    int32_t d = plan->last;
    /* Behind this dimension input and output are alike, so blocks have one size. */
    size_t block = (size_t)plan->out_steps[d], inside = (size_t)plan->in.dims[d] * block;
    if (plan->mode == PAD_CONSTANT) {
        size_t before = (size_t)plan->before[d] * block;
        fill(plan, to, before);
        memcpy(to + before, from, inside);
        fill(plan, to + before + inside, (size_t)plan->out.dims[d] * block - before - inside);
        return;
    }
    int64_t first = plan->before[d], behind = first + plan->in.dims[d];
    memcpy(to + (size_t)first * block, from, inside);
    for (int64_t i = first > 0 ? 0 : behind; i < plan->out.dims[d];
         i = i == first - 1 ? behind : i + 1)
        memcpy(to + (size_t)i * block, from + (size_t)source_of(plan, d, i) * block, block);
}

/* Writes dimension `d` on; `from` NULL: all of it is padding. */
static void pad_dim(const pad_plan *plan, int32_t d, char *to, const char *from) {
    size_t bytes = (size_t)(plan->out_steps[d] * plan->out.dims[d]);
    if (from == NULL) {
        fill(plan, to, bytes);
    } else if (d > plan->last) {
        /* Only where nothing is padded at all: `last` is -1, and the tensor is copied
         * in one piece. */
        memcpy(to, from, bytes);
    } else if (d == plan->last) {
        pad_last(plan, to, from);
    } else {
        for (int64_t i = 0; i < plan->out.dims[d]; i++) {
            int64_t at = source_of(plan, d, i);
            pad_dim(plan, d + 1, to + i * plan->out_steps[d],
                    /* Padding has no source, nor has anything in it. */
                    at >= 0 ? from + at * plan->steps[d] : NULL);
        }
    }
}

/* The value as bytes of the dtype. */
static leat_status read_value(const struct pad_args *args, leat_dtype dtype, pad_plan *plan,
                              leat_error *err) {
    const leat_tensor *tensor = args->constant_values.tensors;
    if (args->constant_values.num_tensors == 0)
        return LEAT_OK;
    if (args->constant_values.num_tensors != 1 || tensor->rank != 0)
        return leati_refuse(err, SHAPE, "constant_values: expected a scalar");
    if (is_none(tensor, dtype))
        return LEAT_OK;
    if (tensor->dtype == dtype)
        memcpy(plan->value, tensor->data, plan->size);
    else if (dtype == LEAT_STRING || leati_dtype_is_complex(tensor->dtype) ||
             !leati_support_store_number(dtype, leati_tensor_float_at(tensor, 0), plan->value))
        return leati_refuse(err, DTYPE, "constant_values is %s, the input %s",
                            leat_dtype_name(tensor->dtype), leat_dtype_name(dtype));
    return LEAT_OK;
}

/* A string in the arguments may go before the output does. */
static leat_status own_value(leati_kernel_call *call, pad_plan *plan, leat_error *err) {
    leat_string value;
    /* Of other dtypes these bytes mean nothing; the test below lets only strings through. */
    memcpy(&value, plan->value, sizeof value);
    if (call->inputs[0].dtype != LEAT_STRING || value.size == 0)
        return LEAT_OK;
    char *text = leati_op_kernel_text(call, 0, value.size, err);
    if (text == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    memcpy(text, value.data, value.size);
    value.data = text;
    memcpy(plan->value, &value, sizeof value);
    return LEAT_OK;
}

/* The steps of a call: of each row, the places of the dimensions outside. */
typedef struct pad_work {
    const leati_kernel_call *call;
    const pad_plan *plan;
    int64_t steps; /* of a row */
    int32_t outside;
} pad_work;

static void pad_steps(void *data, int64_t begin, int64_t end) {
    const pad_work *work = data;
    const pad_plan *plan = work->plan;
    const leati_operand *in = &work->call->inputs[0];
    size_t bytes = (size_t)(work->call->outputs[0].count / work->steps) * plan->size;
    for (int64_t step = begin; step < end; step++) {
        int64_t row = step / work->steps, place = step % work->steps, inside = work->steps;
        char *to = leati_support_row_of(&work->call->outputs[0], row) + (size_t)place * bytes;
        /* An input without values leaves padding alone. */
        const char *from = in->count > 0 ? leati_support_row_of(in, row) : NULL;
        for (int32_t d = 0; d < work->outside && from != NULL; d++) {
            inside /= plan->out.dims[d];
            int64_t at = source_of(plan, d, place / inside % plan->out.dims[d]);
            from = at >= 0 ? from + at * plan->steps[d] : NULL;
        }
        if (plan->in.rank == 0)
            memcpy(to, from, plan->size);
        else
            pad_dim(plan, work->outside, to, from);
    }
}

static leat_status pad_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *in = &call->inputs[0];
    leat_shape shape = leati_support_operand_shape(in);
    pad_plan plan = {.size = leat_dtype_size(in->dtype), .last = -1};
    LEATI_TRY(padded(call->args, &shape, &plan, err));
    for (int32_t d = 0; d < plan.in.rank; d++)
        plan.last = plan.out.dims[d] != plan.in.dims[d] ? d : plan.last;
    LEATI_TRY(read_value(call->args, in->dtype, &plan, err));
    LEATI_TRY(leati_support_output_like(call, 0, &plan.out, err));
    /* The text is kept by the output, so it must be there first. */
    LEATI_TRY(own_value(call, &plan, err));
    leati_support_dense_steps(&plan.in, plan.size, plan.steps);
    leati_support_dense_steps(&plan.out, plan.size, plan.out_steps);
    pad_work work = {.call = call, .plan = &plan, .steps = 1};
    for (int32_t d = 0; d < plan.last && d < 2; d++)
        work.steps *= plan.out.dims[work.outside++];
    int64_t bytes = call->outputs[0].count * (int64_t)plan.size;
    if (bytes > 0)
        leati_moving_share(call->n * work.steps, bytes / work.steps, pad_steps, &work);
    return leati_support_hold_strings(call, 0, err);
}

/* What a dimension's part outside, `count` values from `start` on, adds inside, from `to` on. */
static leat_value mirrored(leat_value gradient, leat_shape shape, int32_t d, int64_t start,
                           int64_t count, int64_t to, int64_t inside) {
    int64_t begin[LEAT_MAX_RANK] = {0}, pairs[2 * LEAT_MAX_RANK] = {0}, axis = d;
    begin[d] = start;
    shape.dims[d] = count;
    pairs[2 * d] = to;
    pairs[2 * d + 1] = inside - to - count;
    leat_value part = leat_op_slice(gradient, begin, shape.rank, shape.dims, shape.rank);
    return leat_op_pad(leat_op_reverse(part, &axis, 1), pairs, shape.rank);
}

/* The gradient of the input of a mirrored padding, dimension by dimension. */
static leat_value unmirrored(leat_value gradient, const pad_plan *plan) {
    leat_shape shape = plan->out;
    int64_t border = plan->mode == PAD_REFLECT;
    for (int32_t d = 0; d < shape.rank; d++) {
        int64_t begin[LEAT_MAX_RANK] = {0}, inside = plan->in.dims[d], before = plan->before[d];
        int64_t after = plan->out.dims[d] - inside - before;
        leat_shape whole = shape;
        begin[d] = before;
        shape.dims[d] = inside;
        leat_value sum = leat_op_slice(gradient, begin, shape.rank, shape.dims, shape.rank);
        if (before > 0)
            sum = leat_op_add(sum, mirrored(gradient, whole, d, 0, before, border, inside));
        if (after > 0)
            sum = leat_op_add(sum, mirrored(gradient, whole, d, before + inside, after,
                                            inside - border - after, inside));
        gradient = sum;
    }
    return gradient;
}

/* The gradient of what lies between the paddings, counted from both ends: sizes may be unknown. */
static leat_value between(leat_value gradient, const struct pad_args *args, const leat_shape *in,
                          leat_error *err) {
    int64_t pairs[LEAT_MAX_RANK][2], begin[LEAT_MAX_RANK], end[LEAT_MAX_RANK], mask = 0;
    if (read_paddings(args, in, pairs, err) != LEAT_OK)
        return (leat_value){.graph = gradient.graph, .id = -1};
    for (int32_t d = 0; d < in->rank; d++) {
        begin[d] = pairs[d][0];
        end[d] = -pairs[d][1];
        mask |= (int64_t)(end[d] == 0) << d;
    }
    return leat_op_strided_slice(
        gradient, begin, in->rank, end, in->rank,
        &(leat_op_strided_slice_options){LEAT_OP_STRIDED_SLICE_DEFAULTS, .end_mask = mask});
}

static leat_status pad_gradient(leati_gradient_call *call, leat_error *err) {
    const struct pad_args *args = call->args;
    leat_shape in = leat_value_shape(call->inputs[0]);
    leat_value gradient = call->output_gradients[0];
    pad_plan plan = {0};
    bool is_static = leati_shape_is_static(&in);
    if (in.rank >= 0)
        LEATI_TRY(padded(args, &in, &plan, err));
    if (in.rank < 0 || (!is_static && plan.mode != PAD_CONSTANT))
        return leati_fail(err, LEAT_UNIMPLEMENTED, "the gradient of pad needs a static shape");
    if (plan.mode != PAD_CONSTANT)
        call->input_gradients[0] = unmirrored(gradient, &plan);
    else if (is_static)
        call->input_gradients[0] = leat_op_slice(gradient, plan.before, in.rank, in.dims, in.rank);
    else
        call->input_gradients[0] = between(gradient, args, &in, err);
    return err->code;
}

leat_value leat_op_pad(leat_value tensor, const int64_t *paddings, int rank) {
    leat_value out = {.graph = tensor.graph, .id = -1};
    leat_error err = {0};
    leat_tensor pairs = {0};
    if (leati_support_value_failed(tensor))
        return out;
    leat_spec *spec = leat_spec_tensor(LEAT_INT64, LEAT_SHAPE(rank, 2), &err);
    if (spec != NULL && leat_tensor_new(LEAT_INT64, LEAT_SHAPE(rank, 2), &pairs, &err) == LEAT_OK) {
        memcpy(pairs.data, paddings, 2 * (size_t)rank * sizeof *paddings);
        /* The node copies its arguments, so they may lie on the stack. */
        char mode[] = "CONSTANT";
        const struct pad_args args = {
            .paddings = {.spec = spec, .tensors = &pairs, .num_tensors = 1}, .mode = mode};
        out = leati_graph_build1(&leati_tensor_op_pad, &args, tensor);
        leat_tensor_unref(&pairs);
    } else {
        out = leati_graph_error(tensor.graph, &err);
    }
    leat_spec_unref(spec);
    return out;
}

const leati_tensor_op leati_tensor_op_pad = {
    .name = "pad",
    .version = 1,
    .doc = "Values around a tensor: a constant, or the tensor itself mirrored (tf.pad).",
    .names = "pad",
    .inputs = "tensor",
    .signature = "tensor paddings mode constant_values=0",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_PYTHON,
    .rows = pad_rows,
    .args_size = sizeof(struct pad_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = pad_infer,
    .kernel = pad_kernel,
    .gradient = pad_gradient,
};
