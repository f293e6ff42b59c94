/* CosineSimilarity: minus the cosine of the angle between label and prediction
 * (keras.losses.CosineSimilarity). Vectors of length 0 have similarity 0. Failures are the graph's.
 * No state, no locks. */
#include "graph/support/support.h"
#include "train/support/similarity.h"

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

static leat_value cosine_call(const void *arguments, leat_value labels, leat_value predictions,
                              leat_value *mask) {
    const struct cosine_args *args = arguments;
    (void)mask;
    if (!leati_loss_align(&labels, &predictions))
        return leati_loss_failed_value(predictions);
    return leat_op_negate(leati_similarity_cosine(labels, predictions, args->axis));
}

const leati_loss_kind leati_loss_cosine_similarity = {
    .kind =
        {
            .name = "CosineSimilarity",
            .doc = "Minus the cosine of the angle between label and prediction "
                   "(keras.losses.CosineSimilarity).",
            .rows = cosine_rows,
            .signature = "axis reduction name=\"cosine_similarity\" dtype",
            .config = "axis?",
            .args_size = sizeof(struct cosine_args),
            .check = leati_loss_check,
        },
    .call = cosine_call,
};
