/* RandomCrop: in training a part of each batch's pictures, at one place for all of them; pictures
 * too small for it are scaled (keras.layers.RandomCrop).
 *
 * As in Keras, inference leaves pictures as they are. Failures: sizes that are unknown. No locks.
 */
#include "base/minmax.h"
#include "graph/computed.h"
#include "graph/ops/array/slice.h"
#include "graph/support/random/stateless.h"
#include "train/support/pictures.h"
#include <leat/ops.h>

static const leati_row random_crop_rows[] = {
    LEATI_PICTURE_SIZE_ROWS,
    LEATI_PICTURE_MASKS_ROW,
    LEATI_PICTURE_SEED_ROWS,
    {0},
};

static leat_status random_crop_check(const void *args, leat_error *err) {
    return leati_pictures_check(args, (leati_picture_range){0, 0}, err);
}

/* Where a part of `size` begins, drawn for all pictures together. */
static leat_value start(leati_picture_arguments *p, int64_t whole, int64_t size) {
    /* Up to whole - size, since the bound is not reached and the cast cuts. */
    leat_value drawn =
        leati_stateless_build(leati_pictures_seed(p), &leati_tensor_op_stateless_uniform,
                              LEAT_SHAPE(1), LEAT_FLOAT32, 0, (double)(whole - size + 1));
    /* Keras casts to int32 first. */
    return leat_op_cast(leat_op_cast(leat_op_squeeze(drawn, NULL, 0), LEAT_INT32), LEAT_INT64);
}

/* The part of the size of the arguments, which is smaller than the pictures. */
static leat_value take_part(leati_picture_arguments *p, const struct leati_picture_args *args) {
    leat_shape shape = leat_value_shape(p->x), part = shape;
    int64_t size[4] = {-1, args->height, args->width, -1}, begin[4] = {0};
    /* Placeholders, of which the run puts the computed `begin` in. */
    const struct leati_slice_args slice = {{begin, 4}, {size, 4}};
    const leat_string bound = {.data = "begin", .size = 5};
    leat_value none = leati_support_number(p->x.graph, LEAT_INT64, 0);
    leat_value row = start(p, shape.dims[1], args->height);
    leat_value column = start(p, shape.dims[2], args->width);
    leat_value place = leat_op_stack((const leat_value[]){none, row, column, none}, 4, 0);
    part.dims[1] = args->height;
    part.dims[2] = args->width;
    if (leati_support_value_failed(place))
        return place;
    int32_t id = leati_graph_add_computed(p->x.graph, &leati_tensor_op_slice, &slice, &p->x, 1,
                                          &bound, &place, 1);
    leat_value cut = {.graph = p->x.graph, .id = id};
    /* The cut's size is known, though its place is not. */
    return id < 0 ? cut : leat_op_ensure_shape(cut, part);
}

/* The middle of the pictures' proportions, scaled. */
static leat_value scale(const leati_picture_arguments *p, const struct leati_picture_args *args) {
    leat_shape shape = leat_value_shape(p->x);
    int64_t height = shape.dims[1], width = shape.dims[2];
    /* As Keras: a quotient of floats, of which the whole part counts. */
    int64_t rows = (int64_t)((double)(width * args->height) / (double)args->width);
    int64_t columns = (int64_t)((double)(height * args->width) / (double)args->height);
    rows = rows > height ? height : LEATI_MAX(1, rows);
    columns = columns > width ? width : LEATI_MAX(1, columns);
    const int64_t begin[3] = {0, (height - rows) / 2, (width - columns) / 2};
    /* As in Keras the cut has the arguments' size, not `rows`: it ends with the picture. */
    const int64_t end[3] = {0, begin[1] + args->height, begin[2] + args->width};
    leat_value x =
        leat_op_strided_slice(p->x, begin, 3, end, 3,
                              &(leat_op_strided_slice_options){LEAT_OP_STRIDED_SLICE_DEFAULTS,
                                                               .begin_mask = 1, .end_mask = 1});
    leat_shape part = leat_value_shape(x);
    if (leati_support_value_failed(x) ||
        (part.dims[1] == args->height && part.dims[2] == args->width))
        return x;
    return leat_op_cast(leat_op_resize(x, (int64_t[]){args->height, args->width}, 2, NULL),
                        leat_value_dtype(p->x));
}

static leat_value random_crop_call(const leati_pass *pass) {
    const struct leati_picture_args *args = pass->args;
    leati_picture_arguments p = leati_pictures_begin(pass);
    if (!pass->training || leati_support_value_failed(p.x))
        return leati_pictures_end(&p, p.x);
    leat_shape shape = leat_value_shape(p.x);
    if (shape.dims[1] < 1 || shape.dims[2] < 1)
        return leati_support_build_error(p.x.graph, LEAT_REASON_SHAPE,
                                         "height and width of the pictures must be known: use "
                                         "leat_op_ensure_shape, or resize first");
    bool larger = shape.dims[1] > args->height && shape.dims[2] > args->width;
    return leati_pictures_end(&p, larger ? take_part(&p, args) : scale(&p, args));
}

const leati_layer_kind leati_layer_random_crop = {
    .kind =
        {
            .name = "RandomCrop",
            .doc =
                "In training a part of the pictures at a random place (keras.layers.RandomCrop).",
            .rows = random_crop_rows,
            .signature = "height width seed data_format name",
            .args_size = sizeof(struct leati_picture_args),
            .check = random_crop_check,
        },
    .prefix = "random_crop",
    .min_rank = 3,
    .expects = "[height, width, channels] with or without batch",
    .prepares = true,
    .seed = leati_picture_seed,
    .weights = leati_picture_weights,
    .call = random_crop_call,
};
