/* CosineSimilarity: the mean cosine of the angle between labels and predictions
 * (keras.metrics.CosineSimilarity). Vectors of length 0 have similarity 0. Failures are the
 * graph's. No state, no locks. */
#include "graph/support/support.h"
#include "train/frame/metric.h"
#include "train/support/similarity.h"

struct cosine_similarity_args {
    struct leati_metric_args shared;
    int64_t axis;
};

static const leati_row cosine_similarity_rows[] = {
    {.name = "axis",
     .type = LEATI_ROW_INT,
     .offset = offsetof(struct cosine_similarity_args, axis),
     .default_number = -1,
     .minimum = -LEAT_MAX_RANK,
     .maximum = LEAT_MAX_RANK,
     .doc = "The dimension of the vectors."},
    LEATI_METRIC_ROWS,
    {0},
};

static leat_value cosine_similarity_values(const void *arguments, const leat_value *inputs) {
    const struct cosine_similarity_args *args = arguments;
    leat_value labels = inputs[0], predictions = inputs[1];
    if (!leati_loss_align(&labels, &predictions))
        return leati_loss_failed_value(predictions);
    return leati_similarity_cosine(labels, predictions, args->axis);
}

const leati_metric_kind leati_metric_cosine_similarity = {
    .kind =
        {
            .name = "CosineSimilarity",
            .doc = "The mean cosine of the angle between labels and predictions "
                   "(keras.metrics.CosineSimilarity).",
            .rows = cosine_similarity_rows,
            .signature = "name=\"cosine_similarity\" dtype axis",
            .config = "axis?",
            .args_size = sizeof(struct cosine_similarity_args),
        },
    .prefix = "cosine_similarity",
    .num_values = 2,
    .takes = "labels and predictions",
    .values = cosine_similarity_values,
};
