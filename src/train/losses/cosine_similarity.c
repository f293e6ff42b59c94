/* CosineSimilarity: minus the cosine of the angle between label and prediction
 * (keras.losses.CosineSimilarity). Vectors of length 0 have similarity 0. Failures are the graph's.
 * No state, no locks. */
#include "graph/ops/support.h"
#include "train/plain_loss.h"

struct cosine_args {
    struct leati_loss_args shared;
    int64_t axis;
};

static const leati_row cosine_rows[] = {
    {.name = "axis",
     .type = LEATI_ROW_INT,
     .offset = offsetof(struct cosine_args, axis),
     .default_number = -1,
     .minimum = -LEAT_MAX_RANK,
     .maximum = LEAT_MAX_RANK,
     .doc = "The dimension of the vectors."},
    LEATI_LOSS_ROWS,
    {0},
};

/* Vectors of length 1 along the axis; those that are almost 0 stay so. */
static leat_value of_length_one(leat_value x, int64_t axis) {
    leat_value squares = leat_reduce_sum(leat_square(x), &axis, 1, true);
    leat_value least = leati_number_like(x, 1e-12);
    return leat_multiply(x, leat_rsqrt(leat_maximum(squares, least)));
}

static leat_value cosine_call(const void *arguments, leat_value labels, leat_value predictions,
                              leat_value *mask) {
    const struct cosine_args *args = arguments;
    (void)mask;
    if (!leati_loss_align(&labels, &predictions))
        return leati_failed_value(predictions);
    leat_value product =
        leat_multiply(of_length_one(labels, args->axis), of_length_one(predictions, args->axis));
    return leat_negate(leat_reduce_sum(product, &args->axis, 1, false));
}

const leati_loss_kind leati_loss_cosine_similarity = {
    .kind =
        {
            .name = "CosineSimilarity",
            .doc = "Minus the cosine of the angle between label and prediction "
                   "(keras.losses.CosineSimilarity).",
            .rows = cosine_rows,
            .signature = "axis reduction name=\"cosine_similarity\" dtype",
            .args_size = sizeof(struct cosine_args),
            .check = leati_loss_check,
        },
    .call = cosine_call,
};
