/* RandomElasticTransform: in training pictures are, by chance, bent by a smooth random field
 * (keras.layers.RandomElasticTransform).
 *
 * As in Keras a pixel moves by the same distance down and right: its normal number, blurred with
 * its neighbours'. The window of that blur grows with the strength that is drawn; it is computed
 * with the largest one, whose border weighs nothing. Failures: a factor or scale outside of 0 to 1,
 * unknown sizes. No locks. */
#include "base/error.h"
#include "base/minmax.h"
#include "graph/support/support.h"
#include "train/support/noise.h"
#include "train/support/pictures.h"
#include <string.h>

struct random_elastic_transform_args {
    struct leati_picture_args common;
    leati_floats scale;
};

static const leati_row random_elastic_transform_rows[] = {
    LEATI_PICTURE_FACTOR_ROW(
        0, "The chance: one number f for one drawn from 0 to f, or two numbers; 1 by default."),
    LEATI_LAYER_ROW(random_elastic_transform_args, scale, FLOATS,
                    .doc = "How strong, of 0 to 1: f for 0 to f, or two numbers; 1 by default."),
    LEATI_PICTURE_VIEW_ROWS,
    LEATI_PICTURE_VALUE_RANGE_ROW,
    LEATI_PICTURE_SEED_ROWS,
    {0},
};

static leat_status random_elastic_transform_check(const void *arguments, leat_error *err) {
    const struct random_elastic_transform_args *args = arguments;
    const leati_picture_range unit = {0, 1};
    LEATI_TRY(leati_pictures_check_factor(&args->scale, "scale", unit, err));
    return leati_pictures_check(&args->common, unit, err);
}

/* ---- the field ---- */

/* 0, 1, 2 ... along a dimension of size `count`, as x has them, in a shape that broadcasts. */
static leat_value places(leat_value x, int dimension, int64_t count) {
    int64_t dims[4] = {1, 1, 1, 1};
    dims[dimension] = count;
    leat_value ones = leat_op_ones(x.graph, LEAT_SHAPE(count), leat_value_dtype(x));
    return leat_op_reshape(leat_op_cumsum(ones, 0, true, false), dims, 4);
}

/* A bell curve of deviation sigma, cut off after three times its whole part, in `size` places. */
static leat_value bell(leat_value sigma, int64_t size) {
    leat_value all = leat_op_ones(sigma.graph, LEAT_SHAPE(size), leat_value_dtype(sigma));
    leat_value apart =
        leati_pictures_linear(leat_op_cumsum(all, 0, true, false), 1, -(double)(size / 2));
    leat_value curve =
        leat_op_exp(leati_pictures_linear(leat_op_square(leat_op_divide(apart, sigma)), -0.5, 0));
    /* The window that Keras would have for this sigma: beyond it the curve counts as 0. */
    leat_value reach = leati_support_times(leat_op_floor(sigma), 3);
    curve = leat_op_select(leat_op_less_equal(leat_op_abs(apart), reach), curve,
                           leat_op_zeros_like(curve));
    /* Divided by its sum, so that a constant field stays. */
    return leat_op_divide(curve, leat_op_reduce_sum(curve, NULL, 0, true));
}

/* How far pixels move, [batch, height, width, 1]. */
static leat_value field(leati_picture_arguments *p, leat_value strength, double most) {
    const leat_shape shape = leat_value_shape(p->x);
    double height = (double)shape.dims[1], width = (double)shape.dims[2];
    double shorter = LEATI_MIN(height, width), longer = LEATI_MAX(width, height);
    int64_t dims[4] = {-1, -1, -1, 1};
    /* The largest window, 6 floor(sigma) + 1; a bit more than 1 keeps a product that should be
     * whole from falling below. */
    int64_t size = 6 * (int64_t)(shorter * 0.05 * most * (1 + 1e-6)) + 1;
    leat_value sigma = leati_support_times(leati_pictures_linear(strength, 0.05, 0), shorter);
    leat_value alpha = leati_support_times(leati_pictures_linear(strength, 0.1, 0), longer);
    leat_value normal = leati_noise_normal(leati_pictures_seed(p), p->x, &(leati_ints){dims, 4});
    leat_value curve = bell(sigma, size);
    leat_value down = leat_op_reshape(curve, (const int64_t[]){size, 1}, 2);
    leat_value right = leat_op_reshape(curve, (const int64_t[]){1, size}, 2);
    /* Two passes, down and right, give the same as one square window. */
    return leat_op_multiply(
        alpha,
        leati_pictures_filter(leati_pictures_filter(leat_op_multiply(normal, sigma), down), right));
}

/* ---- reading between pixels ---- */

/* Pixels of a line, and what each weighs. */
typedef struct reading {
    leat_value at[2], inside[2], weight[2];
    int count;
} reading;

static leat_value whole(leat_value like, int64_t number) {
    return leati_support_number(like.graph, leat_value_dtype(like), (double)number);
}

/* The pixel of a line of `size` that stands for number `at`; whether it is that one. */
static leat_value inner(leat_value at, int64_t size, const char *mode, leat_value *inside) {
    /* `at` may be outside: 0 <= at < size tells whether it is a pixel itself. */
    leat_value none = whole(at, 0), end = whole(at, size), last = whole(at, size - 1);
    *inside = leat_op_logical_and(leat_op_greater_equal(at, none), leat_op_less(at, end));
    if (strcmp(mode, "wrap") == 0)
        return leat_op_floormod(at, end);
    if (strcmp(mode, "reflect") != 0)
        return leat_op_clip_by_value(at, none, last);
    /* Period 2 size: the line and its mirror image, with both border pixels twice. */
    leat_value rest = leat_op_floormod(leat_op_abs(at), whole(at, 2 * size));
    return leat_op_select(leat_op_less(rest, end), rest,
                          leat_op_subtract(whole(at, 2 * size - 1), rest));
}

static reading read_along(leat_value place, int64_t size, const struct leati_picture_args *args) {
    bool nearest = args->masks || strcmp(args->interpolation, "nearest") == 0;
    reading r = {.count = nearest ? 1 : 2};
    /* One pixel that counts whole, or the two around. */
    leat_value first = nearest ? leat_op_round(place) : leat_op_floor(place);
    leat_value beyond = leat_op_subtract(place, first), index = leat_op_cast(first, LEAT_INT64);
    for (int i = 0; i < r.count; i++) {
        r.at[i] = inner(i == 0 ? index : leat_op_add(index, whole(index, 1)), size, args->fill_mode,
                        &r.inside[i]);
        /* 1 - beyond for the pixel before, beyond for the one behind. */
        r.weight[i] = nearest ? leat_op_ones_like(place)
                      : i > 0 ? beyond
                              : leat_op_subtract(leat_op_ones_like(beyond), beyond);
    }
    return r;
}

/* The pictures read at places [batch, height, width, 1]. */
static leat_value read_at(leat_value x, leat_value down, leat_value right,
                          const struct leati_picture_args *args) {
    const leat_shape shape = leat_value_shape(x);
    int64_t height = shape.dims[1], width = shape.dims[2];
    reading rows = read_along(down, height, args), columns = read_along(right, width, args);
    leat_value ones = leat_op_cast(leat_op_ones_like(leati_pictures_corner(x)), LEAT_INT64);
    /* gather_nd wants the number of the picture in front of row and column. */
    leat_value picture = leat_op_cumsum(ones, 0, true, false), sum = {.graph = x.graph, .id = -1};
    leat_value fill = leati_support_number(x.graph, leat_value_dtype(x), args->fill_value);
    for (int i = 0; i < rows.count * columns.count; i++) {
        int r = i / columns.count, c = i % columns.count;
        /* Zeros give it the shape of all pixels. */
        const leat_value at[3] = {leat_op_add(leat_op_zeros_like(rows.at[r]), picture), rows.at[r],
                                  columns.at[c]};
        leat_value found = leat_op_gather_nd(x, leat_op_concat(at, 3, 3));
        /* What lies outside was read from a clipped place and is replaced. */
        if (strcmp(args->fill_mode, "constant") == 0)
            found =
                leat_op_select(leat_op_logical_and(rows.inside[r], columns.inside[c]), found, fill);
        found = leat_op_multiply(leat_op_multiply(rows.weight[r], columns.weight[c]), found);
        sum = i == 0 ? found : leat_op_add(sum, found);
    }
    return sum;
}

static leat_value random_elastic_transform_call(const leati_pass *pass) {
    const struct random_elastic_transform_args *args = pass->args;
    const leati_picture_range factor = leati_pictures_factor_range(&args->common.factor, 1, 0),
                              scale = leati_pictures_factor_range(&args->scale, 1, 0);
    leati_picture_arguments p = leati_pictures_begin(pass);
    const leat_shape shape = leat_value_shape(p.x);
    /* Without chance or strength nothing is drawn. */
    if (!pass->training || leati_support_value_failed(p.x) || factor.high == 0 || scale.high == 0)
        return leati_pictures_end(&p, p.x);
    if (shape.dims[1] < 1 || shape.dims[2] < 1)
        return leati_support_build_error(p.x.graph, LEAT_REASON_SHAPE,
                                         "height and width of the pictures must be known; use "
                                         "leat_op_ensure_shape");
    leat_value applied = leati_pictures_chosen(&p, factor);
    leat_value strength = leati_pictures_draw_vector(&p, 1, scale);
    leat_value moves = field(&p, strength, scale.high);
    leat_value x = read_at(p.x, leat_op_add(places(p.x, 1, shape.dims[1]), moves),
                           leat_op_add(places(p.x, 2, shape.dims[2]), moves), &args->common);
    x = leat_op_select(applied, x, p.x);
    if (!args->common.masks)
        x = leati_pictures_clip(x, leati_pictures_value_range(&args->common.value_range));
    return leati_pictures_end(&p, x);
}

const leati_layer_kind leati_layer_random_elastic_transform = {
    .kind =
        {
            .name = "RandomElasticTransform",
            .doc = "In training pictures are bent by random fields "
                   "(keras.layers.RandomElasticTransform).",
            .rows = random_elastic_transform_rows,
            .signature = "factor=1.0 scale=1.0 interpolation fill_mode fill_value "
                         "value_range=[0,255] seed=null data_format",
            .args_size = sizeof(struct random_elastic_transform_args),
            .check = random_elastic_transform_check,
        },
    .prefix = "random_elastic_transform",
    .min_rank = 3,
    .expects = "[height, width, channels] with or without batch",
    .prepares = true,
    .seed = leati_picture_seed,
    .weights = leati_picture_weights,
    .call = random_elastic_transform_call,
};
