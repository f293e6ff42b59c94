/* Windows that slide over height and width; see window.h. Failures are INVALID_ARGUMENT with the
 * numbers that do not fit. No state, no locks. */
#include "graph/support/picture/window.h"

#include <string.h>

leat_status leati_window_axis_init(leati_window_axis *axis, int64_t in, int64_t kernel,
                                   int64_t stride, int64_t dilation, bool same, const char *name,
                                   leat_error *err) {
    *axis = (leati_window_axis){.in = in,
                                .out = LEAT_UNKNOWN_DIM,
                                .kernel = kernel,
                                .stride = stride,
                                .dilation = dilation};
    /* So that products such as (kernel - 1) * dilation stay within 64 bits. */
    const int64_t limit = INT32_MAX;
    if (stride < 1 || dilation < 1 || stride > limit || dilation > limit || in > limit ||
        kernel > limit || kernel == 0)
        return leati_refuse(err, VALUE,
                            "%s: input %lld, window %lld, stride %lld, dilation %lld; expected "
                            "numbers from 1 to 2147483647",
                            name, (long long)in, (long long)kernel, (long long)stride,
                            (long long)dilation);
    if (in < 0 || kernel < 0)
        return LEAT_OK;
    /* From the first pixel of a window to its last. */
    int64_t reach = (kernel - 1) * dilation + 1;
    if (same) {
        axis->out = (in + stride - 1) / stride;
        int64_t padding = (axis->out - 1) * stride + reach - in;
        /* An odd pixel of padding is behind, as in TensorFlow. */
        axis->before = padding > 0 ? padding / 2 : 0;
        return LEAT_OK;
    }
    if (reach > in)
        return leati_refuse(err, SHAPE,
                            "%s: Computed output size would be zero or negative: a window that "
                            "reaches over %lld does not fit into %lld; use a smaller one, or SAME "
                            "padding",
                            name, (long long)reach, (long long)in);
    axis->out = (in - reach) / stride + 1;
    return LEAT_OK;
}

void leati_window_range(const leati_window_axis *axis, int64_t i, int64_t *first, int64_t *last) {
    int64_t start = i * axis->stride - axis->before;
    /* Taps before the first pixel are left out; where none meets one, *last may be less. */
    *first = start < 0 ? (-start + axis->dilation - 1) / axis->dilation : 0;
    int64_t behind = axis->in - start; /* positions before the end */
    *last = behind <= 0 ? 0 : (behind + axis->dilation - 1) / axis->dilation;
    if (*last > axis->kernel)
        *last = axis->kernel;
}

static leat_status parse_padding(const char *padding, bool *same, leat_error *err) {
    *same = padding != NULL && strcmp(padding, "SAME") == 0;
    if (*same || (padding != NULL && strcmp(padding, "VALID") == 0))
        return LEAT_OK;
    return leati_refuse(err, VALUE, "padding is \"%s\"; expected VALID or SAME",
                        padding == NULL ? "" : padding);
}

/* Two numbers of an attribute, or the default if it is empty. */
static leat_status two_of(const leati_ints *ints, const int64_t *standard, const char *name,
                          int64_t out[2], leat_error *err) {
    if (ints->count != 0 && ints->count != 2)
        return leati_refuse(err, VALUE, "%s has %d numbers; expected 2, for height and width", name,
                            (int)ints->count);
    /* No strides of pooling: those of the window, so windows lie side by side. */
    out[0] = ints->count ? ints->values[0] : standard[0];
    out[1] = ints->count ? ints->values[1] : standard[1];
    return LEAT_OK;
}

static const int64_t one_one[2] = {1, 1};

/* Where inference did not know the rank, the run must look. */
static leat_status check_rank4(const leat_shape *shape, const char *what, leat_error *err) {
    char text[128];
    if (shape->rank == 4)
        return LEAT_OK;
    return leati_refuse(err, SHAPE, "%s has shape %s; expected rank 4", what,
                        leati_shape_text(shape, text));
}

/* The filter's third dimension says how many channels a group has. */
static leat_status find_groups(leati_conv_plan *plan, const leat_shape *input,
                               const leat_shape *filter, leat_error *err) {
    int64_t channels = input->dims[3], own = filter->dims[2];
    plan->groups = 1;
    plan->channels = channels < 0 ? own : channels;
    plan->filters = filter->dims[3];
    if (channels < 0 || own < 0 || channels == own)
        return LEAT_OK;
    if (own == 0 || channels % own != 0)
        return leati_refuse(
            err, SHAPE,
            "channels of the input and of the filter: %lld and %lld; expected equal "
            "numbers, or for groups of channels a multiple",
            (long long)channels, (long long)own);
    plan->groups = channels / own;
    /* 0 groups: an input without channels. */
    if (plan->groups == 0 || (plan->filters >= 0 && plan->filters % plan->groups != 0))
        return leati_refuse(err, VALUE, "%lld groups of channels do not divide %lld filters evenly",
                            (long long)plan->groups, (long long)plan->filters);
    return LEAT_OK;
}

leat_status leati_window_conv_plan_init(leati_conv_plan *plan, const struct leati_conv_args *args,
                                        const leat_shape *input, const leat_shape *filter,
                                        leat_shape *out, leat_error *err) {
    int64_t strides[2] = {0}, dilations[2] = {0};
    bool same = false;
    LEATI_TRY(check_rank4(input, "the input", err));
    LEATI_TRY(check_rank4(filter, "the filter", err));
    LEATI_TRY(parse_padding(args->padding, &same, err));
    LEATI_TRY(two_of(&args->strides, one_one, "strides", strides, err));
    LEATI_TRY(two_of(&args->dilations, one_one, "dilations", dilations, err));
    LEATI_TRY(find_groups(plan, input, filter, err));
    LEATI_TRY(leati_window_axis_init(&plan->y, input->dims[1], filter->dims[0], strides[0],
                                     dilations[0], same, "height", err));
    LEATI_TRY(leati_window_axis_init(&plan->x, input->dims[2], filter->dims[1], strides[1],
                                     dilations[1], same, "width", err));
    plan->batch = input->dims[0];
    *out = LEAT_SHAPE(plan->batch, plan->y.out, plan->x.out, plan->filters);
    return LEAT_OK;
}

leat_status leati_window_pool_plan_init(leati_conv_plan *plan, const struct leati_pool_args *args,
                                        const leat_shape *input, leat_shape *out, leat_error *err) {
    int64_t ksize[2] = {0}, strides[2] = {0};
    bool same = false;
    LEATI_TRY(check_rank4(input, "the input", err));
    LEATI_TRY(parse_padding(args->padding, &same, err));
    LEATI_TRY(two_of(&args->ksize, one_one, "ksize", ksize, err));
    LEATI_TRY(two_of(&args->strides, ksize, "strides", strides, err));
    /* Asked here, as a negative window would be an unknown one below. */
    if (ksize[0] < 1 || ksize[1] < 1)
        return leati_refuse(err, VALUE, "ksize is [%lld, %lld]; expected numbers from 1",
                            (long long)ksize[0], (long long)ksize[1]);
    LEATI_TRY(leati_window_axis_init(&plan->y, input->dims[1], ksize[0], strides[0], 1, same,
                                     "height", err));
    LEATI_TRY(leati_window_axis_init(&plan->x, input->dims[2], ksize[1], strides[1], 1, same,
                                     "width", err));
    plan->batch = input->dims[0];
    plan->channels = plan->filters = input->dims[3];
    plan->groups = 1;
    *out = LEAT_SHAPE(plan->batch, plan->y.out, plan->x.out, plan->channels);
    return LEAT_OK;
}

leat_status leati_window_want_rank4(const leati_infer_call *call, int index, const char *what,
                                    leat_shape *out, leat_error *err) {
    LEATI_TRY(leati_support_want_rank(call, index, 4, what, err));
    *out = call->inputs[index].shape;
    if (out->rank < 0)
        *out = LEAT_SHAPE(LEAT_UNKNOWN_DIM, LEAT_UNKNOWN_DIM, LEAT_UNKNOWN_DIM, LEAT_UNKNOWN_DIM);
    return LEAT_OK;
}

leat_status leati_window_want_result_shape(const leat_shape *gradient, const leat_shape *result,
                                           leat_error *err) {
    return leati_support_want_shape(gradient, result, "the gradient", err);
}
