/* RandomPerspective: in training each picture is seen, by chance, as if its corners had moved by
 * random distances (keras.layers.RandomPerspective).
 *
 * A projection takes the corners, moved, to where they were; its eight numbers solve eight linear
 * equations. Failures: a factor or scale outside of 0 to 1; in a run, corners that fall together.
 * No locks. */
#include "base/error.h"
#include "graph/support/support.h"
#include "train/support/pictures.h"

struct random_perspective_args {
    struct leati_picture_args common;
    double scale;
};

static const leati_row random_perspective_rows[] = {
    LEATI_PICTURE_FACTOR_ROW(
        0, "The chance: one number f for one drawn from 0 to f, or two numbers; 1 by default."),
    LEATI_LAYER_ROW(random_perspective_args, scale, FLOAT, .default_number = 1,
                    .doc = "How far corners move, as a part of twice their coordinates."),
    LEATI_PICTURE_INTERPOLATION_ROW,
    LEATI_PICTURE_ROW(fill_value, FLOAT, .doc = "The value of what lies outside."),
    LEATI_PICTURE_MASKS_ROW,
    LEATI_PICTURE_SEED_ROWS,
    {0},
};

static leat_status random_perspective_check(const void *arguments, leat_error *err) {
    const struct random_perspective_args *args = arguments;
    if (!(args->scale >= 0 && args->scale <= 1))
        return leati_refuse(err, VALUE,
                            "The `scale` argument should be a number in the range [0,1]. Received: "
                            "scale=%g",
                            args->scale);
    return leati_pictures_check(&args->common, (leati_picture_range){0, 1}, err);
}

enum { CORNERS = 4, NUMBERS = 8 };

/* Two equations of the projection that takes (x, y) to (u, v). */
static void put_corner(leat_value x, leat_value y, leat_value u, leat_value v, leat_value *matrix,
                       leat_value *side) {
    leat_value one = leat_op_ones_like(x), none = leat_op_zeros_like(x);
    /* u = (a x + b y + c) / (g x + h y + 1), multiplied out: linear in the eight numbers. The
     * second row is v's. */
    const leat_value rows[2 * NUMBERS] = {x,
                                          y,
                                          one,
                                          none,
                                          none,
                                          none,
                                          leat_op_negate(leat_op_multiply(u, x)),
                                          leat_op_negate(leat_op_multiply(u, y)),
                                          none,
                                          none,
                                          none,
                                          x,
                                          y,
                                          one,
                                          leat_op_negate(leat_op_multiply(v, x)),
                                          leat_op_negate(leat_op_multiply(v, y))};
    for (int i = 0; i < 2 * NUMBERS; i++)
        matrix[i] = rows[i];
    side[0] = u;
    side[1] = v;
}

/* The projections, [batch, 8]; `moves` are [batch, 1, 1, 8]: x and y of each corner. */
static leat_value projections(const leati_picture_arguments *p, leat_value moves) {
    leat_value matrix[NUMBERS * NUMBERS], side[NUMBERS];
    leat_value none = leati_support_number(p->x.graph, leat_value_dtype(p->x), 0);
    /* Corners are pixels, from 0 to size - 1. */
    leat_value right = leati_pictures_linear(leati_pictures_size(p, 2), 1, -1);
    leat_value bottom = leati_pictures_linear(leati_pictures_size(p, 1), 1, -1);
    for (int i = 0; i < CORNERS; i++) {
        leat_value u = i % 2 == 0 ? none : right, v = i < 2 ? none : bottom;
        /* A corner moves by a part of its coordinates, so the one at 0 stays. */
        leat_value x = leat_op_add(u, leat_op_multiply(u, leati_pictures_part(moves, 2 * i)));
        leat_value y = leat_op_add(v, leat_op_multiply(v, leati_pictures_part(moves, 2 * i + 1)));
        put_corner(x, y, u, v, &matrix[2 * i * NUMBERS], &side[2 * i]);
    }
    leat_value equations = leat_op_reshape(leati_pictures_rows(p, matrix, NUMBERS * NUMBERS),
                                           (const int64_t[]){-1, NUMBERS, NUMBERS}, 3);
    leat_value sides = leat_op_expand_dims(leati_pictures_rows(p, side, NUMBERS), 2);
    leat_value solved = leat_op_matrix_solve(leat_op_cast(equations, LEAT_FLOAT32),
                                             leat_op_cast(sides, LEAT_FLOAT32), false);
    return leat_op_reshape(solved, (const int64_t[]){-1, NUMBERS}, 2);
}

static leat_value random_perspective_call(const leati_pass *pass) {
    const struct random_perspective_args *args = pass->args;
    struct leati_picture_args view = args->common;
    leati_picture_arguments p = leati_pictures_begin(pass);
    if (!pass->training || leati_support_value_failed(p.x))
        return leati_pictures_end(&p, p.x);
    leat_value applied =
        leati_pictures_chosen(&p, leati_pictures_factor_range(&args->common.factor, 1, 0));
    leat_value moves = leati_pictures_draw_own(
        &p, 2 * CORNERS, (leati_picture_range){-0.5 * args->scale, 0.5 * args->scale});
    /* Keras' layer has no fill_mode: what lies outside is filled. */
    view.fill_mode = leati_kind_borrow_text("constant");
    leat_value seen = leati_pictures_project(&p, &view, projections(&p, moves));
    return leati_pictures_end(&p, leat_op_select(applied, seen, p.x));
}

const leati_layer_kind leati_layer_random_perspective = {
    .kind =
        {
            .name = "RandomPerspective",
            .doc = "In training pictures are seen from random sides "
                   "(keras.layers.RandomPerspective).",
            .rows = random_perspective_rows,
            .signature = "factor=1.0 scale=1.0 interpolation fill_value seed=null data_format",
            .args_size = sizeof(struct random_perspective_args),
            .check = random_perspective_check,
        },
    .prefix = "random_perspective",
    .min_rank = 3,
    .expects = "[height, width, channels] with or without batch",
    .prepares = true,
    .seed = leati_picture_seed,
    .weights = leati_picture_weights,
    .call = random_perspective_call,
};
