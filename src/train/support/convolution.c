/* What the convolutional layers share.
 *
 * Happy path: one direction is two, of which the first has one row; three directions are two for
 * each place of the window along the first, with what these give added up. Depthwise convolutions
 * have a group for each channel; transposed ones are gradients by the input. Failures:
 * INVALID_ARGUMENT for windows that do not fit, channels that groups do not divide, and sizes of
 * space that are unknown where they must be known. No state, no locks. */
#include "train/support/convolution.h"
#include "base/error.h"
#include "base/minmax.h"
#include "graph/support/support.h"
#include <string.h>
#include <strings.h>

const leati_row leati_convolution_rows[] = {
    LEATI_FILTERS_ROW, LEATI_CONVOLUTION_ROWS, LEATI_GROUPS_ROW, LEATI_KERNEL_INITIALIZER_ROW, {0},
};

leati_seed_argument leati_convolution_seed(const void *args) {
    return ((const struct leati_convolution_args *)args)->seed;
}

static bool is_causal(const struct leati_convolution_args *args) {
    return args->padding != NULL && strcasecmp(args->padding, "causal") == 0;
}

/* Of a transposed layer; others have none. */
static leat_status check_output_padding(const struct leati_convolution_args *args, int directions,
                                        leat_error *err) {
    int64_t padding[LEATI_MOST_DIRECTIONS], strides[LEATI_MOST_DIRECTIONS];
    leati_layer_numbers_of(&args->output_padding, 0, directions, padding);
    leati_layer_numbers_of(&args->strides, 1, directions, strides);
    /* None given is not 0: the size then follows from the strides. */
    for (int i = 0; i < directions && args->output_padding.count > 0; i++)
        if (padding[i] >= strides[i])
            return leati_refuse(
                err, VALUE,
                "`output_padding` must be strictly less than `strides`; direction %d "
                "has output_padding %lld and stride %lld",
                i, (long long)padding[i], (long long)strides[i]);
    return LEAT_OK;
}

leat_status leati_convolution_check(const void *arguments, int directions, bool causal,
                                    leat_error *err) {
    const struct leati_convolution_args *args = arguments;
    LEATI_TRY(leati_layer_check_numbers(&args->kernel_size, "kernel_size", directions, err));
    LEATI_TRY(leati_layer_check_numbers(&args->strides, "strides", directions, err));
    LEATI_TRY(leati_layer_check_numbers(&args->dilation_rate, "dilation_rate", directions, err));
    LEATI_TRY(leati_layer_check_numbers(&args->output_padding, "output_padding", directions, err));
    if (!causal || !is_causal(args))
        LEATI_TRY(leati_layer_check_padding(args->padding, err));
    LEATI_TRY(leati_layer_check_channels_last(args->data_format, err));
    LEATI_TRY(leati_activation_check(args->activation, err));
    /* The filters of a group are a whole number too; channels are looked at when it is built. */
    if (args->groups > 1 && args->filters % args->groups != 0)
        return leati_refuse(
            err, VALUE,
            "The number of filters must be evenly divisible by the number of groups. "
            "Received: groups=%lld, filters=%lld.",
            (long long)args->groups, (long long)args->filters);
    return check_output_padding(args, directions, err);
}

leati_windows leati_convolution_windows(const struct leati_convolution_args *args, int directions) {
    leati_windows windows = {.directions = directions,
                             .padding = leati_layer_padding_of(args->padding)};
    leati_layer_numbers_of(&args->kernel_size, 1, directions, windows.size);
    leati_layer_numbers_of(&args->strides, 1, directions, windows.strides);
    leati_layer_numbers_of(&args->dilation_rate, 1, directions, windows.dilations);
    return windows;
}

/* Where the padding is causal, zeros before the only direction. */
static leat_value pad_before(const struct leati_convolution_args *args, leat_value x) {
    const leati_windows windows = leati_convolution_windows(args, 1);
    if (!is_causal(args))
        return x;
    /* As many zeros as the window reaches back, so that no output sees what comes later. */
    const int64_t before[6] = {0, 0, (windows.size[0] - 1) * windows.dilations[0], 0, 0, 0};
    return leat_op_pad(x, before, 3);
}

/* ---- weights ---- */

leat_shape leati_convolution_kernel_shape(const leati_windows *windows, int64_t channels,
                                          int64_t filters) {
    leat_shape shape = {.rank = windows->directions + 2};
    memcpy(shape.dims, windows->size, (size_t)windows->directions * sizeof shape.dims[0]);
    shape.dims[shape.rank - 2] = channels;
    shape.dims[shape.rank - 1] = filters;
    return shape;
}

void leati_convolution_add_bias(const struct leati_convolution_args *args, int64_t size,
                                leati_weights *out) {
    if (args->use_bias)
        out->list[out->count++] = (leati_weight){
            .name = "bias", .shape = LEAT_SHAPE(size), .initializer = args->bias_initializer};
}

leat_status leati_convolution_weights(const struct leati_convolution_args *args, int directions,
                                      const leat_shape *input, leati_weights *out,
                                      leat_error *err) {
    const leati_windows windows = leati_convolution_windows(args, directions);
    int64_t channels = input->dims[input->rank - 1];
    if (channels % args->groups != 0)
        return leati_refuse(err, VALUE, "%lld groups do not divide %lld channels evenly",
                            (long long)args->groups, (long long)channels);
    out->list[0] = (leati_weight){
        /* A kernel sees the channels of its group alone. */
        .name = "kernel",
        .shape = leati_convolution_kernel_shape(&windows, channels / args->groups, args->filters),
        .initializer = args->kernel_initializer};
    out->count = 1;
    leati_convolution_add_bias(args, args->filters, out);
    return LEAT_OK;
}

/* ---- calls ---- */

/* What conv2d takes for the last two of the directions, or for one and a row of one. */
struct plane {
    int64_t strides[2], dilations[2];
    const char *padding;
};

static struct plane plane_of(const leati_windows *windows) {
    struct plane plane = {.strides = {1, 1},
                          .dilations = {1, 1},
                          .padding = windows->padding == LEAT_SAME ? "SAME" : "VALID"};
    for (int i = 0; i < 2 && i < windows->directions; i++) {
        /* From behind: the last direction is the width, and one direction alone leaves height 1. */
        plane.strides[1 - i] = windows->strides[windows->directions - 1 - i];
        plane.dilations[1 - i] = windows->dilations[windows->directions - 1 - i];
    }
    return plane;
}

static leat_value convolve(leat_value x, leat_value kernel, const struct plane *plane) {
    return leat_op_conv2d(x, kernel, plane->strides, 2, plane->padding, plane->dilations, 2);
}

/* How many places the window spans along the first direction, with its gaps. */
static int64_t reach_of(const leati_windows *windows) {
    return (windows->size[0] - 1) * windows->dilations[0] + 1;
}

/* The slices along the first direction that the window's place `k` meets, one for each place of
 * the output: x has its padding already. `out` < 0: as many places as there are, which only the
 * run knows. */
static leat_value slices_of(leat_value x, const leati_windows *windows, int64_t k, int64_t out) {
    const int64_t stride = windows->strides[0], start = k * windows->dilations[0];
    /* Right behind the last slice, so that the padding's rest is not taken as one more; from the
     * end of an unknown size, 0 being the end itself. */
    const int64_t last = out < 0 ? start + 1 - reach_of(windows) : start + (out - 1) * stride + 1;
    const int64_t begin[2] = {0, start}, end[2] = {0, last}, steps[2] = {1, stride};
    return leat_op_strided_slice(x, begin, 2, end, 2,
                                 &(leat_op_strided_slice_options){LEAT_OP_STRIDED_SLICE_DEFAULTS,
                                                                  .strides = steps,
                                                                  .num_strides = 2, .begin_mask = 1,
                                                                  .end_mask = last == 0 ? 3 : 1});
}

/* Planes [N * places, H, W, filters] as [N, places, H, W, filters]; the first slices of the input,
 * [N, places, ...], say how many places there are where `out` < 0. */
static leat_value places_apart(leat_value planes, leat_value slices, int64_t out) {
    leat_shape plane = leat_value_shape(planes);
    const int64_t *sizes = plane.dims + 1;
    if (out >= 0)
        return leat_op_reshape(planes, (const int64_t[]){-1, out, sizes[0], sizes[1], sizes[2]}, 5);
    leat_value one = leat_op_slice(slices, (const int64_t[]){0, 0, 0, 0, 0}, 5,
                                   (const int64_t[]){-1, -1, 1, 1, 1}, 5);
    return leat_op_reshape_like(
        planes, leat_op_tile(one, (const int64_t[]){1, 1, sizes[0], sizes[1], sizes[2]}, 5));
}

/* The planes that a window meets along the first direction become channels of one plane, so that
 * one convolution does; not of groups, whose channels lie apart. x [N, D, H, W, C], of known space;
 * [N * places, H, W, filters]. */
static leat_value convolve_joined(leat_value x, leat_value kernel, const leati_windows *windows,
                                  const struct plane *plane) {
    leat_shape in = leat_value_shape(x), by = leat_value_shape(kernel);
    const int64_t sizes[4] = {1, windows->size[0], 1, 1},
                  rates[4] = {1, windows->dilations[0], 1, 1};
    const int64_t strides[4] = {1, windows->strides[0], 1, 1};
    int64_t channels = windows->size[0] * in.dims[4];
    x = leat_op_reshape(x, (const int64_t[]){-1, in.dims[1], in.dims[2] * in.dims[3], in.dims[4]},
                        4);
    x = leat_op_extract_patches(x, sizes, 4, strides, 4, rates, 4, plane->padding);
    x = leat_op_reshape(x, (const int64_t[]){-1, in.dims[2], in.dims[3], channels}, 4);
    kernel = leat_op_transpose(kernel, (const int64_t[]){1, 2, 0, 3, 4}, 5);
    kernel =
        leat_op_reshape(kernel, (const int64_t[]){by.dims[1], by.dims[2], channels, by.dims[4]}, 4);
    return convolve(x, kernel, plane);
}

/* Along three directions: x [N, D, H, W, C]. */
static leat_value convolve_space(leat_value x, leat_value kernel, const leati_windows *windows) {
    leat_shape in = leat_value_shape(x), by = leat_value_shape(kernel);
    const bool same = windows->padding == LEAT_SAME, is_open = in.dims[1] < 0;
    const bool joins = in.dims[4] == by.dims[3] && !is_open;
    /* The batch's may be unknown; the planes are reshaped, which needs numbers. */
    if (in.dims[1] == 0 || in.dims[2] < 1 || in.dims[3] < 1 || in.dims[4] < 1 ||
        (is_open && same && windows->strides[0] > 1))
        return leati_support_build_error(
            x.graph, LEAT_REASON_SHAPE,
            "the sizes of space are unknown; where a window has three directions they must be "
            "known, the first one only where it has a stride and padding \"same\"");
    int64_t reach = reach_of(windows), total = 0;
    int64_t out = is_open ? -1 : (in.dims[1] - reach) / windows->strides[0] + 1;
    if (same) {
        /* TensorFlow's SAME: what the last window lacks, split with the odd one behind. */
        total = reach - 1;
        if (!is_open) {
            out = (in.dims[1] + windows->strides[0] - 1) / windows->strides[0];
            total = LEATI_MAX(0, (out - 1) * windows->strides[0] + reach - in.dims[1]);
        }
        const int64_t pads[10] = {0, 0, total / 2, total - total / 2};
        x = joins ? x : leat_op_pad(x, pads, 5);
    } else if (!is_open && reach > in.dims[1]) {
        return leati_support_build_error(
            x.graph, LEAT_REASON_SHAPE,
            "the window does not fit along the first direction; use a smaller "
            "one, or padding \"same\"");
    }
    const struct plane options = plane_of(windows);
    leat_value sum = {.graph = x.graph, .id = -1}, first = x;
    if (joins)
        sum = convolve_joined(x, kernel, windows, &options);
    for (int64_t k = 0; k < windows->size[0] && !joins; k++) {
        leat_value part = slices_of(x, windows, k, out);
        first = k == 0 ? part : first;
        /* Depth joins the batch: each slice is a picture of its own. */
        part = leat_op_reshape(part, (const int64_t[]){-1, in.dims[2], in.dims[3], in.dims[4]}, 4);
        leat_value filter = leat_op_slice(kernel, (const int64_t[]){k, 0, 0, 0, 0}, 5,
                                          (const int64_t[]){1, -1, -1, -1, -1}, 5);
        filter = leat_op_reshape(filter, by.dims + 1, 4);
        part = convolve(part, filter, &options);
        sum = k == 0 ? part : leat_op_add(sum, part);
    }
    return places_apart(sum, first, out);
}

leat_value leati_convolution_run(leat_value x, leat_value kernel, const leati_windows *windows) {
    const struct plane plane = plane_of(windows);
    if (leati_support_value_failed(x) || leati_support_value_failed(kernel))
        return (leat_value){.graph = x.graph, .id = -1};
    if (windows->directions == 3)
        return convolve_space(x, kernel, windows);
    if (windows->directions == 2)
        return convolve(x, kernel, &plane);
    /* A row of height 1, with a window of height 1. */
    leat_value out = convolve(leat_op_expand_dims(x, 1), leat_op_expand_dims(kernel, 0), &plane);
    return leat_op_squeeze(out, (const int64_t[]){1}, 1);
}

leat_value leati_convolution_run_depthwise(leat_value x, leat_value kernel,
                                           const leati_windows *windows) {
    if (leati_support_value_failed(kernel))
        return kernel;
    leat_shape shape = leat_value_shape(kernel);
    /* Channels and multipliers become filters, in the order of groups of one channel each. */
    shape.dims[shape.rank - 1] *= shape.dims[shape.rank - 2];
    shape.dims[shape.rank - 2] = 1;
    return leati_convolution_run(x, leat_op_reshape(kernel, shape.dims, shape.rank), windows);
}

/* The size of dimension `i` of x's space that a convolution would start from, as a vector of one:
 * computed where it is unknown while the graph is built. */
static leat_value size_found(leat_value x, const leati_windows *windows, int i, int64_t out,
                             const int64_t *base) {
    /* Known: a constant. Else the size is computed in the run. */
    if (out >= 0)
        return leat_op_expand_dims(leati_support_number(x.graph, LEAT_INT64, (double)out), 0);
    leat_value size = leat_op_slice(leat_op_shape(x, LEAT_INT64), (const int64_t[]){i + 1}, 1,
                                    (const int64_t[]){1}, 1);
    size = leati_support_times(size, (double)windows->strides[i]);
    return leat_op_add(size, leati_support_number(x.graph, LEAT_INT64, (double)base[i]));
}

/* Zeros of the shape [batch of x, sizes, channels], for an operation that looks at the shape. x has
 * one direction or two; what is -1 in `out` is computed. */
static leat_value zeros_of(leat_value x, const leati_windows *windows, const int64_t *out,
                           const int64_t *base, int64_t channels) {
    const leat_dtype dtype = leat_value_dtype(x);
    int64_t batch = leat_value_shape(x).dims[0];
    bool line = windows->directions == 1;
    /* [batch, 1, size, channels] of a line, [batch, height, width, channels] of a plane. */
    leat_shape shape = LEAT_SHAPE(batch, line ? 1 : out[0], line ? out[0] : out[1], channels);
    if (batch >= 0 && shape.dims[1] >= 0 && shape.dims[2] >= 0)
        return leat_op_zeros(x.graph, shape, dtype);
    leat_value rows = leat_op_slice(leat_op_shape(x, LEAT_INT64), (const int64_t[]){0}, 1,
                                    (const int64_t[]){1}, 1);
    leat_value one = leat_op_expand_dims(leati_support_number(x.graph, LEAT_INT64, 1), 0);
    leat_value sizes[4] = {
        rows, line ? one : size_found(x, windows, 0, out[0], base),
        size_found(x, windows, line ? 0 : 1, shape.dims[2], base),
        leat_op_expand_dims(leati_support_number(x.graph, LEAT_INT64, (double)channels), 0)};
    leat_value zeros =
        leat_op_fill(leat_op_concat(sizes, 4, 0), leati_support_number(x.graph, dtype, 0));
    /* What is known goes back onto a shape that a fill has lost. */
    return leat_op_ensure_shape(zeros, shape);
}

/* Along one direction or two. */
static leat_value convolve_plane_back(leat_value x, leat_value kernel, const leati_windows *windows,
                                      const int64_t *out, const int64_t *base) {
    if (leati_support_value_failed(x) || leati_support_value_failed(kernel))
        return (leat_value){.graph = x.graph, .id = -1};
    const struct plane plane = plane_of(windows);
    bool line = windows->directions == 1;
    leat_shape by = leat_value_shape(kernel);
    /* The gradient's operation wants the shape of the input that it is the gradient of. */
    leat_value like = zeros_of(x, windows, out, base, by.dims[by.rank - 2]);
    if (line) {
        x = leat_op_expand_dims(x, 1);
        kernel = leat_op_expand_dims(kernel, 0);
    }
    leat_value value = leat_op_conv2d_backprop_input(like, kernel, x, plane.strides, 2,
                                                     plane.padding, plane.dilations, 2);
    return line ? leat_op_squeeze(value, (const int64_t[]){1}, 1) : value;
}

/* x [N, D, values] with its slices where place `k` of the window puts them among `out` ones. */
static leat_value spread_slices(leat_value x, const leati_windows *windows, int64_t k,
                                int64_t before, int64_t out) {
    leat_shape in = leat_value_shape(x);
    int64_t stride = windows->strides[0], first = k * windows->dilations[0];
    /* Of the spread slices; `behind` fills up to what the cut below takes. */
    int64_t size = first + in.dims[1] * stride, behind = before + out - size;
    /* stride - 1 empty places behind each slice: pairs before and behind of four dimensions. */
    const int64_t gaps[8] = {0, 0, 0, 0, 0, stride - 1, 0, 0};
    const int64_t ends[6] = {0, 0, first, LEATI_MAX(behind, 0), 0, 0};
    x = leat_op_pad(leat_op_expand_dims(x, 2), gaps, 4);
    x = leat_op_reshape(x, (const int64_t[]){-1, in.dims[1] * stride, in.dims[2]}, 3);
    return leat_op_slice(leat_op_pad(x, ends, 3), (const int64_t[]){0, before, 0}, 3,
                         (const int64_t[]){-1, out, -1}, 3);
}

/* Along three directions: each place of the window along the first gives planes of the result. */
static leat_value convolve_space_back(leat_value x, leat_value kernel, const leati_windows *windows,
                                      const int64_t *out) {
    if (leati_support_value_failed(x) || leati_support_value_failed(kernel))
        return (leat_value){.graph = x.graph, .id = -1};
    leat_shape in = leat_value_shape(x), by = leat_value_shape(kernel);
    int64_t reach = (windows->size[0] - 1) * windows->dilations[0] + 1;
    /* What SAME had padded on the way there is cut off on the way back. */
    int64_t total = (in.dims[1] - 1) * windows->strides[0] + reach - out[0];
    int64_t before = windows->padding == LEAT_SAME && total > 0 ? total / 2 : 0;
    leati_windows plane = {.directions = 2, .padding = windows->padding};
    for (int i = 0; i < 2; i++) {
        plane.size[i] = windows->size[i + 1];
        plane.strides[i] = windows->strides[i + 1];
        plane.dilations[i] = windows->dilations[i + 1];
    }
    leat_value sum = {.graph = x.graph, .id = -1};
    leat_value planes =
        leat_op_reshape(x, (const int64_t[]){-1, in.dims[2], in.dims[3], in.dims[4]}, 4);
    for (int64_t k = 0; k < windows->size[0]; k++) {
        leat_value filter = leat_op_slice(kernel, (const int64_t[]){k, 0, 0, 0, 0}, 5,
                                          (const int64_t[]){1, -1, -1, -1, -1}, 5);
        /* The planes' sizes, without the first direction's. */
        leat_value part = convolve_plane_back(planes, leat_op_reshape(filter, by.dims + 1, 4),
                                              &plane, out + 1, NULL);
        /* A plane in one dimension: only whole slices are moved. */
        part = leat_op_reshape(part,
                               (const int64_t[]){-1, in.dims[1], out[1] * out[2] * by.dims[3]}, 3);
        part = spread_slices(part, windows, k, before, out[0]);
        sum = k == 0 ? part : leat_op_add(sum, part);
    }
    return leat_op_reshape(sum, (const int64_t[]){-1, out[0], out[1], out[2], by.dims[3]}, 5);
}

leat_value leati_convolution_run_transposed(leat_value x, leat_value kernel,
                                            const leati_windows *windows, const int64_t *out,
                                            const int64_t *base) {
    return windows->directions == 3 ? convolve_space_back(x, kernel, windows, out)
                                    : convolve_plane_back(x, kernel, windows, out, base);
}

/* Of the sizes that a convolution with this stride starts from and that give `size`, the smallest
 * ones whose window reaches over the whole stride, as Keras chooses; `padding` < 0: none given. */
static int64_t size_back(int64_t size, int64_t reach, int64_t stride, bool same, int64_t padding) {
    if (same)
        return padding < 0 ? size * stride : (size - 1) * stride + reach % 2 + padding;
    if (padding < 0)
        padding = reach < stride ? stride - reach : 0;
    return (size - 1) * stride + reach + padding;
}

const char *leati_convolution_sizes_back(const struct leati_convolution_args *args, int directions,
                                         leat_shape input, int64_t *out, int64_t *base) {
    const leati_windows windows = leati_convolution_windows(args, directions);
    int64_t padding[LEATI_MOST_DIRECTIONS];
    leati_layer_numbers_of(&args->output_padding, -1, directions, padding);
    for (int i = 0; i < directions; i++) {
        int64_t size = input.dims[i + 1];
        if (size == 0 || (size < 0 && directions == 3))
            return "the sizes of space are zero, or unknown where the window has three directions; "
                   "the way back of a convolution needs them";
        int64_t reach = (windows.size[i] - 1) * windows.dilations[i] + 1;
        /* The size for an input of 0: each place more adds a stride. */
        base[i] = size_back(0, reach, windows.strides[i], windows.padding == LEAT_SAME, padding[i]);
        out[i] = size < 0 ? -1 : size * windows.strides[i] + base[i];
    }
    return NULL;
}

leat_value leati_convolution_finish(const leati_pass *pass, leat_value value, int bias) {
    const struct leati_convolution_args *args = pass->args;
    if (args->use_bias)
        value = leat_op_bias_add(value, pass->weights[bias]);
    return leati_activation_apply(args->activation, value);
}

leat_value leati_convolution_call(const leati_pass *pass, int directions) {
    const struct leati_convolution_args *args = pass->args;
    const leati_windows windows = leati_convolution_windows(args, directions);
    leat_value x = pad_before(args, pass->inputs[0]);
    return leati_convolution_finish(pass, leati_convolution_run(x, pass->weights[0], &windows), 1);
}
