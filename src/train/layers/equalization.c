/* Equalization: in training the values of each channel become equally frequent
 * (keras.layers.Equalization).
 *
 * As in Keras all pictures of a batch share a channel's histogram; a channel whose values fall into
 * one bin stays. Failures: an unknown number of channels. No state, no locks. */
#include "graph/support/support.h"
#include "train/support/pictures.h"

struct equalization_args {
    struct leati_picture_args common;
    int64_t bins;
};

static const leati_row equalization_rows[] = {
    LEATI_PICTURE_VALUE_RANGE_ROW,
    LEATI_LAYER_ROW(equalization_args, bins, INT, .default_number = 256, .minimum = 1,
                    .maximum = 1 << 20, .doc = "How many bins a histogram has."),
    LEATI_PICTURE_ROW(data_format, STRING, .doc = "\"channels_last\"."),
    LEATI_LAYER_NAME,
    {0},
};

static leat_status equalization_check(const void *args, leat_error *err) {
    return leati_pictures_check(args, (leati_picture_range){0, 1}, err);
}

/* x carried from one range to another by one factor and one offset. */
static leat_value scale(leat_value x, leati_picture_range from, leati_picture_range to) {
    /* One factor and offset, not two steps: Keras rounds so. */
    double by = (to.high - to.low) / (from.high - from.low);
    return leati_pictures_linear(x, by, to.low - from.low * by);
}

/* Numbers of bins as int64, and with those of the channels before in front. */
static leat_value numbered(leat_value x, int64_t bins, int64_t channels) {
    leat_value number = leat_op_cast(
        leati_pictures_clip(x, (leati_picture_range){0, (double)(bins - 1)}), LEAT_INT64);
    leat_value ones = leat_op_ones(x.graph, LEAT_SHAPE(channels), LEAT_INT64);
    /* 0, bins, 2 bins ...: each channel's bins begin where those before it end. */
    return leat_op_add(number,
                       leati_support_times(leat_op_cumsum(ones, 0, true, false), (double)bins));
}

/* What becomes of the bins of each channel: [channels, bins] of the histogram. */
static leat_value new_values(leat_value histogram) {
    const int64_t last = 1;
    leat_value below = leat_op_cumsum(histogram, 1, false, false);
    leat_value total = leat_op_reduce_max(below, &last, 1, true);
    /* Bins below the first used one are 0; the least of the others is the first's count. */
    leat_value empty = leat_op_equal(below, leat_op_zeros_like(below));
    leat_value least = leat_op_reduce_min(leat_op_select(empty, total, below), &last, 1, true);
    /* At least 1, where one bin holds all; such a channel is not used below. */
    leat_value rest = leat_op_maximum(leat_op_subtract(total, least), leat_op_ones_like(total));
    leat_value share =
        leat_op_divide(leati_support_times(leat_op_subtract(below, least), 255), rest);
    return leati_pictures_clip(leat_op_round(share), (leati_picture_range){0, 255});
}

static leat_value equalize(leat_value x, int64_t bins, int64_t channels) {
    const int64_t by_channel[2] = {channels, bins}, last = 1, flat = -1;
    leat_value full = leati_support_number(x.graph, leat_value_dtype(x), 255);
    /* Counting multiplies first and reading divides first, as Keras does; they differ in the last
     * bit. */
    leat_value counted =
        numbered(leat_op_divide(leati_support_times(x, (double)(bins - 1)), full), bins, channels);
    /* Counts of a large batch would stop growing at 2^24 in float32. */
    leat_value histogram = leat_op_unsorted_segment_sum(
        leat_op_cast(leat_op_ones_like(x), LEAT_FLOAT64), counted, channels * bins);
    histogram = leat_op_reshape(histogram, by_channel, 2);
    leat_value read =
        numbered(leati_support_times(leat_op_divide(x, full), (double)(bins - 1)), bins, channels);
    leat_value table = leat_op_reshape(new_values(histogram), &flat, 1);
    leat_value equal = leat_op_cast(leat_op_gather(table, read, 0, 0), leat_value_dtype(x));
    leat_value used = leat_op_count_nonzero(histogram, &last, 1, false, LEAT_INT64);
    return leat_op_select(leat_op_greater(used, leat_op_ones_like(used)), equal, x);
}

static leat_value equalization_call(const leati_pass *pass) {
    const struct equalization_args *args = pass->args;
    const leati_picture_range bytes = {0, 255},
                              values = leati_pictures_value_range(&args->common.value_range);
    leati_picture_arguments p = leati_pictures_begin(pass);
    if (!pass->training || leati_support_value_failed(p.x))
        return leati_pictures_end(&p, p.x);
    int64_t channels = leati_pictures_known_channels(p.x);
    if (channels < 1)
        return (leat_value){.graph = p.x.graph, .id = -1};
    leat_value x = equalize(scale(p.x, values, bytes), args->bins, channels);
    return leati_pictures_end(&p, scale(x, bytes, values));
}

const leati_layer_kind leati_layer_equalization = {
    .kind =
        {
            .name = "Equalization",
            .doc = "In training each channel's values become equally frequent "
                   "(keras.layers.Equalization).",
            .rows = equalization_rows,
            .signature = "value_range=[0,255] bins=256 data_format",
            .config = "bins",
            .args_size = sizeof(struct equalization_args),
            .check = equalization_check,
        },
    .prefix = "equalization",
    .min_rank = 3,
    .expects = "[height, width, channels] with or without batch",
    .prepares = true,
    .call = equalization_call,
};
