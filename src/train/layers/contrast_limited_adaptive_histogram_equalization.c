/* ContrastLimitedAdaptiveHistogramEqualization: values become more equally frequent around each
 * pixel (keras.layers.ContrastLimitedAdaptiveHistogramEqualization).
 *
 * A grid of tiles covers a picture, which is mirrored where they reach beyond it. Each tile has a
 * table of new values for each channel: its histogram's sums, of which no bin counts more than a
 * limit. A pixel's new value is blended from the tables of the four tiles around it. It is the same
 * in training and inference, and of the dtype of the input. Failures: unknown sizes, a grid finer
 * than the picture. No state, no locks. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/minmax.h"
#include "graph/computed.h"
#include "graph/graph.h"
#include "graph/support/math/segment.h"
#include "graph/support/support.h"
#include "train/support/pictures.h"
#include <math.h>

struct clahe_args {
    struct leati_picture_args common;
    double clip_limit;
    leati_ints tile_grid_size;
};

static const leati_row clahe_rows[] = {
    LEATI_PICTURE_VALUE_RANGE_ROW,
    LEATI_LAYER_ROW(clahe_args, clip_limit, FLOAT, .default_number = 4,
                    .doc = "How many times its share a value may count; 0 or less: any number."),
    LEATI_LAYER_ROW(clahe_args, tile_grid_size, INTS, .minimum = 1, .maximum = 4096,
                    .doc = "How many tiles there are down and across, or one number for both; 8 "
                           "by default."),
    LEATI_PICTURE_ROW(data_format, STRING, .doc = "\"channels_last\"."),
    LEATI_LAYER_NAME,
    {0},
};

static leat_status clahe_check(const void *arguments, leat_error *err) {
    const struct clahe_args *args = arguments;
    LEATI_TRY(leati_layer_check_numbers(&args->tile_grid_size, "tile_grid_size", 2, err));
    return leati_pictures_check(&args->common, (leati_picture_range){0, 1}, err);
}

enum { LEVELS = 256 };

/* ---- along one dimension, whose sizes are known ---- */

/* What is known of each of the pixels that the tiles cover: the one it mirrors, its tile, the tiles
 * on both sides of it, and what the second of those weighs. */
enum { SOURCE, OWN, BEFORE, BEHIND, WEIGHT, FACTS };
typedef struct line {
    int64_t tiles, tile, size;
    leat_value facts[FACTS]; /* vectors: int64, the weight of the pictures' dtype */
} line;

/* Pixels near the border have one tile beside them twice. */
static double bounded(double number, int64_t tiles) {
    return number < 0 ? 0 : LEATI_MIN((double)(tiles - 1), number);
}

static void find_facts(const line *l, int64_t length, int64_t i, double *facts) {
    /* In float32, as Keras computes it; tiles are counted from 1, so that no place is negative. */
    float place = ((float)i - (float)l->tile / 2.0F) / (float)l->tile + 1.0F;
    float first = floorf(place);
    /* The mirror repeats the last pixel: behind length - 1 comes length - 1 again. */
    facts[SOURCE * l->size + i] = (double)(i < length ? i : 2 * length - 1 - i);
    facts[OWN * l->size + i] = (double)(i / l->tile);
    facts[BEFORE * l->size + i] = bounded((double)first - 1, l->tiles);
    facts[BEHIND * l->size + i] = bounded((double)first, l->tiles);
    facts[WEIGHT * l->size + i] = (double)(place - first);
}

/* The pixels along `dimension`; false, and the graph fails, where the tiles do not fit. */
static bool line_init(line *l, leat_value x, int dimension, int64_t tiles) {
    leat_error err = {0};
    int64_t length = leat_value_shape(x).dims[dimension], dims[4] = {1, 1, 1, 1};
    l->tiles = tiles;
    l->tile = (length + tiles - 1) / tiles;
    l->size = l->tile * tiles;
    /* One mirror image is all that SOURCE can name. */
    if (l->size > 2 * length) {
        leati_refuse(
            &err, SHAPE,
            "%lld tiles of %lld pixels reach further than a picture of %lld pixels and its "
            "mirror image; give a smaller tile_grid_size",
            (long long)tiles, (long long)l->tile, (long long)length);
        (void)leati_graph_error(x.graph, &err);
        return false;
    }
    double *facts = leati_alloc((size_t)l->size * FACTS, sizeof *facts);
    if (facts == NULL) {
        leati_no_memory(&err);
        (void)leati_graph_error(x.graph, &err);
        return false;
    }
    for (int64_t i = 0; i < l->size; i++)
        find_facts(l, length, i, facts);
    leat_value whole = leati_support_number(x.graph, LEAT_INT64, 0);
    dims[dimension] = l->size;
    for (int f = 0; f < FACTS; f++) {
        const leati_floats numbers = {facts + f * l->size, (int32_t)l->size};
        /* Places as integers, the weight as the pictures are. */
        leat_value vector = leati_layer_numbers_value(f == WEIGHT ? x : whole, &numbers);
        l->facts[f] = f == SOURCE ? vector : leat_op_reshape(vector, dims, 4);
    }
    leati_free(facts);
    return !leati_support_value_failed(l->facts[WEIGHT]);
}

/* ---- the tables ---- */

/* 0, 1, 2 ... for the pictures and for the channels: [batch, 1, 1, 1] and [1, 1, 1, channels]. */
static leat_value numbers_along(leat_value x, int dimension) {
    int64_t size[4] = {1, 1, 1, 1};
    size[dimension] = -1;
    /* One pixel of each picture, or of each channel: only that dimension keeps its size. */
    leat_value part = leat_op_slice(x, (const int64_t[]){0, 0, 0, 0}, 4, size, 4);
    return leat_op_cumsum(leat_op_cast(leat_op_ones_like(part), LEAT_INT64), dimension, true,
                          false);
}

/* The place of a table's entry: picture, tile down, tile across, channel, level. */
static leat_value entry(leat_value x, const line *lines, int down, int across, leat_value levels) {
    leat_value at = numbers_along(x, 0);
    /* Digits of a number of mixed radix, the picture first. */
    at = leat_op_add(leati_support_times(at, (double)lines[0].tiles), lines[0].facts[down]);
    at = leat_op_add(leati_support_times(at, (double)lines[1].tiles), lines[1].facts[across]);
    at = leat_op_add(leati_support_times(at, (double)leat_value_shape(x).dims[3]),
                     numbers_along(x, 3));
    return leat_op_add(leati_support_times(at, LEVELS), levels);
}

/* How often each level is in each tile, as floats [tables, LEVELS]. */
static leat_value count_levels(leat_value x, const line *lines, leat_value levels) {
    /* Every pixel counts once, in the table of its own tile. */
    leat_value places = entry(x, lines, OWN, OWN, levels), one = leat_op_ones_like(x);
    int64_t channels = leat_value_shape(x).dims[3];
    leat_value batch = leat_op_slice(leat_op_shape(x, LEAT_INT64), (const int64_t[]){0}, 1,
                                     (const int64_t[]){1}, 1);
    /* How many tables there are follows from the batch, which is known in the run. */
    leat_value count =
        leati_support_times(leat_op_squeeze(batch, NULL, 0),
                            (double)(lines[0].tiles * lines[1].tiles * channels * LEVELS));
    const struct leati_segment_args args = {0};
    const leat_string name = {.data = "num_segments", .size = 12};
    const leat_value inputs[2] = {one, places};
    if (leati_support_value_failed(count) || leati_support_value_failed(places))
        return count;
    int32_t id = leati_graph_add_computed(x.graph, &leati_tensor_op_unsorted_segment_sum, &args,
                                          inputs, 2, &name, &count, 1);
    return leat_op_reshape((leat_value){.graph = x.graph, .id = id}, (const int64_t[]){-1, LEVELS},
                           2);
}

/* The new values of all levels, of all tables one after the other. */
static leat_value new_values(leat_value counts, double area, double limit) {
    const int64_t last = 1, flat = -1;
    if (limit > 0) {
        /* What stands above the limit is spread over all levels alike. */
        leat_value cut =
            leati_pictures_clip(counts, (leati_picture_range){0, limit * area / LEVELS});
        leat_value excess = leat_op_reduce_sum(leat_op_subtract(counts, cut), &last, 1, true);
        counts = leat_op_add(cut, leati_support_times(excess, 1.0 / LEVELS));
    }
    leat_value sums = leat_op_cumsum(counts, 1, false, false);
    /* The first level's sum: it becomes 0, and the whole area 255. */
    leat_value least = leat_op_reduce_min(sums, &last, 1, true);
    leat_value rest = leati_pictures_linear(leat_op_negate(least), 1, area);
    /* A tile all of the lowest level has nothing to stretch; 0 / 1 leaves it 0. */
    rest = leat_op_select(leat_op_equal(rest, leat_op_zeros_like(rest)), leat_op_ones_like(rest),
                          rest);
    leat_value share =
        leat_op_divide(leati_support_times(leat_op_subtract(sums, least), 255), rest);
    return leat_op_reshape(leati_pictures_clip(share, (leati_picture_range){0, 255}), &flat, 1);
}

static leat_value blend(leat_value a, leat_value b, leat_value weight) {
    leat_value rest = leat_op_subtract(leat_op_ones_like(weight), weight);
    return leat_op_add(leat_op_multiply(a, rest), leat_op_multiply(b, weight));
}

static leat_value equalize(leat_value x, const line *lines, double limit) {
    const int sides[2] = {BEFORE, BEHIND};
    const leat_shape shape = leat_value_shape(x);
    leat_value found[2];
    /* The picture with its mirror image, as far as tiles reach. */
    x = leat_op_gather(leat_op_gather(x, lines[0].facts[SOURCE], 1, 0), lines[1].facts[SOURCE], 2,
                       0);
    leat_value levels =
        leat_op_cast(leati_pictures_clip(x, (leati_picture_range){0, 255}), LEAT_INT64);
    leat_value values =
        new_values(count_levels(x, lines, levels), (double)(lines[0].tile * lines[1].tile), limit);
    for (int i = 0; i < 2; i++) {
        /* The tables of four tiles, all read at the pixel's own level. */
        leat_value left = leat_op_gather(values, entry(x, lines, sides[i], BEFORE, levels), 0, 0);
        leat_value right = leat_op_gather(values, entry(x, lines, sides[i], BEHIND, levels), 0, 0);
        found[i] = blend(left, right, lines[1].facts[WEIGHT]);
    }
    /* The mirror image goes again. */
    return leat_op_slice(blend(found[0], found[1], lines[0].facts[WEIGHT]),
                         (const int64_t[]){0, 0, 0, 0}, 4,
                         (const int64_t[]){-1, shape.dims[1], shape.dims[2], -1}, 4);
}

static leat_value clahe_call(const leati_pass *pass) {
    const struct clahe_args *args = pass->args;
    const leati_picture_range bytes = {0, 255},
                              values = leati_pictures_value_range(&args->common.value_range);
    leat_dtype dtype = leat_value_dtype(pass->inputs[0]);
    leati_picture_arguments p = leati_pictures_begin(pass);
    const leat_value failed = {.graph = pass->inputs[0].graph, .id = -1};
    int64_t grid[2];
    line lines[2];
    if (leati_support_value_failed(p.x) || leati_pictures_known_channels(p.x) < 1)
        return failed;
    const leat_shape shape = leat_value_shape(p.x);
    if (shape.dims[1] < 1 || shape.dims[2] < 1)
        return leati_support_build_error(p.x.graph, LEAT_REASON_SHAPE,
                                         "height and width of the pictures must be known; use "
                                         "leat_op_ensure_shape");
    leati_layer_numbers_of(&args->tile_grid_size, 8, 2, grid);
    /* Levels are 0 to 255 whatever the pictures' range is. */
    leat_value x = leati_pictures_rescale(leat_op_cast(p.x, LEAT_FLOAT32), values, bytes);
    for (int i = 0; i < 2; i++)
        if (!line_init(&lines[i], x, i + 1, grid[i]))
            return failed;
    x = leati_pictures_rescale(equalize(x, lines, args->clip_limit), bytes, values);
    return leati_pictures_end(&p, leat_op_cast(x, dtype));
}

const leati_layer_kind leati_layer_contrast_limited_adaptive_histogram_equalization = {
    .kind =
        {
            .name = "ContrastLimitedAdaptiveHistogramEqualization",
            .doc = "Values become more equally frequent around each pixel "
                   "(keras.layers.ContrastLimitedAdaptiveHistogramEqualization).",
            .rows = clahe_rows,
            .signature = "value_range=[0,255] clip_limit=4.0 tile_grid_size=[8,8] data_format",
            .args_size = sizeof(struct clahe_args),
            .check = clahe_check,
        },
    .prefix = "contrast_limited_adaptive_histogram_equalization",
    .min_rank = 3,
    .expects = "[height, width, channels] with or without batch",
    .prepares = true,
    .call = clahe_call,
};
