/* Convolutions and pooling as StableHLO, pictures [N, H, W, C].
 *
 * The gradient by the input is a convolution of the gradient, spread by the strides, with the
 * filter mirrored; that by the filter one of the input with the gradient, whose batch is summed
 * over. Padding of gradients may be negative: what no window read is cut off. */
#include "exec/pjrt/emit.h"

#include "base/error.h"
#include "core/tensor.h"
#include "graph/support/picture/window.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct padding {
    int64_t before, after;
} padding;

/* ---- convolutions ---- */

/* The text of a convolution's attributes. */
static void conv_attributes(char out[LEATI_HLO_ATTRIBUTES], const char *dimensions,
                            const padding pads[2], const int64_t strides[2],
                            const int64_t spread[2], const int64_t dilation[2], int64_t groups,
                            int64_t batch_groups) {
    snprintf(out, LEATI_HLO_ATTRIBUTES,
             "dimension_numbers = #stablehlo.conv<%s>, feature_group_count = %" PRId64
             " : i64, batch_group_count = %" PRId64 " : i64, padding = dense<[[%" PRId64
             ", %" PRId64 "], [%" PRId64 ", %" PRId64
             "]]> : tensor<2x2xi64>, window_strides = array<i64: %" PRId64 ", %" PRId64
             ">, lhs_dilation = array<i64: %" PRId64 ", %" PRId64
             ">, rhs_dilation = array<i64: %" PRId64 ", %" PRId64
             ">, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]",
             dimensions, groups, batch_groups, pads[0].before, pads[0].after, pads[1].before,
             pads[1].after, strides[0], strides[1], spread[0], spread[1], dilation[0], dilation[1]);
}

static const int64_t once[2] = {1, 1};

/* How far the window of a whole output line reaches. */
static int64_t reach(const leati_window_axis *axis) {
    return (axis->out - 1) * axis->stride + (axis->kernel - 1) * axis->dilation + 1;
}

static padding pads_of(const leati_window_axis *axis) {
    return (padding){axis->before, reach(axis) - axis->in - axis->before};
}

static leat_status conv_plan(const leati_emit *emit, const leat_shape *input,
                             const leat_shape *filter, leati_conv_plan *plan, leat_error *err) {
    leat_shape out;
    return leati_window_conv_plan_init(plan, emit->node->source->args, input, filter, &out, err);
}

leat_status leati_emit_conv2d(leati_emit *emit, leat_error *err) {
    char attributes[LEATI_HLO_ATTRIBUTES];
    leat_shape input = leati_emit_input_shape(emit, 0), filter = leati_emit_input_shape(emit, 1);
    leati_conv_plan plan;
    LEATI_TRY(conv_plan(emit, &input, &filter, &plan, err));
    conv_attributes(attributes, "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]",
                    (padding[]){pads_of(&plan.y), pads_of(&plan.x)},
                    (int64_t[]){plan.y.stride, plan.x.stride}, once,
                    (int64_t[]){plan.y.dilation, plan.x.dilation}, plan.groups, 1);
    emit->outputs[0] = leati_hlo_add(&emit->hlo, "convolution", emit->inputs, 2, NULL, attributes,
                                     leati_emit_input_dtype(emit, 0), leati_emit_shape(emit, 0));
    return LEAT_OK;
}

/* Padding of the spread gradient, so that each input pixel meets the windows that read it. */
static padding backward_pads(const leati_window_axis *axis) {
    int64_t kernel = (axis->kernel - 1) * axis->dilation + 1;
    int64_t spread = (axis->out - 1) * axis->stride + 1, before = kernel - 1 - axis->before;
    return (padding){before, axis->in - spread - before + kernel - 1};
}

/* The filter [h, w, C / g, K] as one whose results are channels: [h, w, C, K / g], mirrored. */
static leati_hlo_value turn_filter(leati_emit *emit, const leat_shape *filter, int64_t groups) {
    leati_hlo *hlo = &emit->hlo;
    leati_hlo_value x = leati_hlo_reverse(hlo, emit->inputs[1], (int64_t[]){0, 1}, 2);
    if (groups == 1)
        return x;
    const int64_t *d = filter->dims;
    leat_shape apart = LEAT_SHAPE(d[0], d[1], d[2], groups, d[3] / groups);
    leat_shape joined = LEAT_SHAPE(d[0], d[1], groups * d[2], d[3] / groups);
    x = leati_hlo_reshape(hlo, x, &apart);
    x = leati_hlo_transpose(hlo, x, (int64_t[]){0, 1, 3, 2, 4});
    return leati_hlo_reshape(hlo, x, &joined);
}

leat_status leati_emit_conv2d_input(leati_emit *emit, leat_error *err) {
    char attributes[LEATI_HLO_ATTRIBUTES];
    leat_shape filter = leati_emit_input_shape(emit, 1);
    leati_conv_plan plan;
    LEATI_TRY(conv_plan(emit, leati_emit_shape(emit, 0), &filter, &plan, err));
    conv_attributes(attributes, "[b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f]",
                    (padding[]){backward_pads(&plan.y), backward_pads(&plan.x)}, once,
                    (int64_t[]){plan.y.stride, plan.x.stride},
                    (int64_t[]){plan.y.dilation, plan.x.dilation}, plan.groups, 1);
    leati_hlo_value operands[2] = {emit->inputs[2], turn_filter(emit, &filter, plan.groups)};
    emit->outputs[0] = leati_hlo_add(&emit->hlo, "convolution", operands, 2, NULL, attributes,
                                     leati_emit_input_dtype(emit, 2), leati_emit_shape(emit, 0));
    return LEAT_OK;
}

static padding filter_pads(const leati_window_axis *axis) {
    int64_t kernel = (axis->kernel - 1) * axis->dilation + 1;
    int64_t spread = (axis->out - 1) * axis->stride + 1;
    return (padding){axis->before, kernel + spread - 1 - axis->in - axis->before};
}

leat_status leati_emit_conv2d_filter(leati_emit *emit, leat_error *err) {
    char attributes[LEATI_HLO_ATTRIBUTES];
    leat_shape input = leati_emit_input_shape(emit, 0);
    leati_conv_plan plan;
    LEATI_TRY(conv_plan(emit, &input, leati_emit_shape(emit, 0), &plan, err));
    conv_attributes(attributes, "[f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f]",
                    (padding[]){filter_pads(&plan.y), filter_pads(&plan.x)},
                    (int64_t[]){plan.y.dilation, plan.x.dilation}, once,
                    (int64_t[]){plan.y.stride, plan.x.stride}, 1, plan.groups);
    leati_hlo_value operands[2] = {emit->inputs[0], emit->inputs[2]};
    emit->outputs[0] = leati_hlo_add(&emit->hlo, "convolution", operands, 2, NULL, attributes,
                                     leati_emit_input_dtype(emit, 2), leati_emit_shape(emit, 0));
    return LEAT_OK;
}

/* ---- pooling ---- */

static leat_status pool_plan(const leati_emit *emit, const leat_shape *input, leati_conv_plan *plan,
                             leat_error *err) {
    leat_shape out;
    return leati_window_pool_plan_init(plan, emit->node->source->args, input, &out, err);
}

static void window_attributes(char out[LEATI_HLO_ATTRIBUTES], const int64_t size[2],
                              const int64_t strides[2], const padding pads[2]) {
    snprintf(out, LEATI_HLO_ATTRIBUTES,
             "window_dimensions = array<i64: 1, %" PRId64 ", %" PRId64
             ", 1>, window_strides = array<i64: 1, %" PRId64 ", %" PRId64
             ", 1>, padding = dense<[[0, 0], [%" PRId64 ", %" PRId64 "], [%" PRId64 ", %" PRId64
             "], [0, 0]]> : tensor<4x2xi64>",
             size[0], size[1], strides[0], strides[1], pads[0].before, pads[0].after,
             pads[1].before, pads[1].after);
}

static leati_hlo_value scalar(leati_emit *emit, double number, leat_dtype dtype) {
    return leati_hlo_fill(&emit->hlo, number, dtype, &LEAT_SCALAR);
}

/* Input 0 folded by windows. */
static leati_hlo_value fold_windows(leati_emit *emit, const leati_conv_plan *plan, const char *fold,
                                    double start) {
    char attributes[LEATI_HLO_ATTRIBUTES], region[LEATI_HLO_REGION];
    leat_dtype dtype = leati_emit_input_dtype(emit, 0);
    window_attributes(attributes, (int64_t[]){plan->y.kernel, plan->x.kernel},
                      (int64_t[]){plan->y.stride, plan->x.stride},
                      (padding[]){pads_of(&plan->y), pads_of(&plan->x)});
    leati_hlo_value operands[2] = {emit->inputs[0], scalar(emit, start, dtype)};
    return leati_hlo_add(&emit->hlo, "reduce_window", operands, 2,
                         leati_hlo_fold_region(region, fold, dtype), attributes, dtype,
                         leati_emit_shape(emit, 0));
}

leat_status leati_emit_max_pool(leati_emit *emit, leat_error *err) {
    leat_shape input = leati_emit_input_shape(emit, 0);
    leati_conv_plan plan;
    LEATI_TRY(pool_plan(emit, &input, &plan, err));
    emit->outputs[0] = fold_windows(emit, &plan, "maximum", -INFINITY);
    return LEAT_OK;
}

/* Inputs: the pooling's input and output, the gradient. */
leat_status leati_emit_max_pool_grad(leati_emit *emit, leat_error *err) {
    char attributes[LEATI_HLO_ATTRIBUTES], greater[LEATI_HLO_REGION], add[LEATI_HLO_REGION];
    char regions[2 * LEATI_HLO_REGION + 4];
    leat_shape input = leati_emit_input_shape(emit, 0);
    leat_dtype dtype = leati_emit_input_dtype(emit, 0);
    leati_conv_plan plan;
    LEATI_TRY(pool_plan(emit, &input, &plan, err));
    window_attributes(attributes, (int64_t[]){plan.y.kernel, plan.x.kernel},
                      (int64_t[]){plan.y.stride, plan.x.stride},
                      (padding[]){pads_of(&plan.y), pads_of(&plan.x)});
    snprintf(regions, sizeof regions, "%s, %s", leati_hlo_compare_region(greater, "GE", dtype),
             leati_hlo_fold_region(add, "add", dtype));
    leati_hlo_value operands[3] = {emit->inputs[0], emit->inputs[2], scalar(emit, 0, dtype)};
    emit->outputs[0] = leati_hlo_add(&emit->hlo, "select_and_scatter", operands, 3, regions,
                                     attributes, dtype, &input);
    return LEAT_OK;
}

/* How many pixels each window of a line has, as a vector of that dimension of `shape`, wide as it.
 */
static leat_status window_sizes(leati_emit *emit, const leati_window_axis *axis,
                                const leat_shape *shape, int64_t dimension, leat_dtype dtype,
                                leati_hlo_value *out, leat_error *err) {
    leat_tensor sizes;
    LEATI_TRY(leat_tensor_new(LEAT_FLOAT32, LEAT_SHAPE(axis->out), &sizes, err));
    for (int64_t i = 0; i < axis->out; i++) {
        int64_t first, last;
        leati_window_range(axis, i, &first, &last);
        ((float *)sizes.data)[i] = (float)(last - first);
    }
    leati_hlo_value vector = leati_hlo_constant(&emit->hlo, &sizes);
    leat_tensor_unref(&sizes);
    vector = leati_hlo_convert(&emit->hlo, vector, dtype);
    *out = leati_hlo_broadcast_in(&emit->hlo, vector, shape, &dimension);
    return LEAT_OK;
}

/* x, of the pooling's result's shape, divided by the number of pixels of each window. */
static leat_status divide_by_sizes(leati_emit *emit, const leati_conv_plan *plan, leati_hlo_value x,
                                   leati_hlo_value *out, leat_error *err) {
    leat_shape shape = leati_hlo_shape(&emit->hlo, x);
    leat_dtype dtype = leati_hlo_dtype(&emit->hlo, x);
    leati_hlo_value high, wide;
    LEATI_TRY(window_sizes(emit, &plan->y, &shape, 1, dtype, &high, err));
    LEATI_TRY(window_sizes(emit, &plan->x, &shape, 2, dtype, &wide, err));
    *out = leati_hlo_binary(&emit->hlo, "divide", x,
                            leati_hlo_binary(&emit->hlo, "multiply", high, wide));
    return LEAT_OK;
}

leat_status leati_emit_avg_pool(leati_emit *emit, leat_error *err) {
    leat_shape input = leati_emit_input_shape(emit, 0);
    leati_conv_plan plan;
    LEATI_TRY(pool_plan(emit, &input, &plan, err));
    leati_hlo_value sum = fold_windows(emit, &plan, "add", 0);
    return divide_by_sizes(emit, &plan, sum, &emit->outputs[0], err);
}

/* Inputs: the pooling's input, the gradient, which is spread and summed by windows as large. */
leat_status leati_emit_avg_pool_grad(leati_emit *emit, leat_error *err) {
    char attributes[LEATI_HLO_ATTRIBUTES], region[LEATI_HLO_REGION];
    leat_shape input = leati_emit_input_shape(emit, 0);
    leat_dtype dtype = leati_emit_input_dtype(emit, 1);
    leati_conv_plan plan;
    LEATI_TRY(pool_plan(emit, &input, &plan, err));
    leati_hlo_value x, zero = scalar(emit, 0, dtype);
    LEATI_TRY(divide_by_sizes(emit, &plan, emit->inputs[1], &x, err));
    padding y = backward_pads(&plan.y), w = backward_pads(&plan.x);
    x = leati_hlo_pad(&emit->hlo, x, zero, (int64_t[]){0, y.before, w.before, 0},
                      (int64_t[]){0, y.after, w.after, 0},
                      (int64_t[]){0, plan.y.stride - 1, plan.x.stride - 1, 0});
    window_attributes(attributes, (int64_t[]){plan.y.kernel, plan.x.kernel}, once,
                      (padding[2]){{0, 0}, {0, 0}});
    emit->outputs[0] =
        leati_hlo_add(&emit->hlo, "reduce_window", (leati_hlo_value[]){x, zero}, 2,
                      leati_hlo_fold_region(region, "add", dtype), attributes, dtype, &input);
    return LEAT_OK;
}
