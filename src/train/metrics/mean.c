/* Mean: the mean of all values, or their weighted mean (keras.metrics.Mean). Failures are the
 * graph's. No locks. */
#include "train/frame/metric.h"

struct mean_args {
    char *name; /* first: struct leati_metric_args */
};

static const leati_row mean_rows[] = {
    {.name = "name",
     .type = LEATI_ROW_STRING,
     .offset = offsetof(struct mean_args, name),
     .doc = "Name of the metric."},
    {0},
};

static leat_value mean_values(const void *args, const leat_value *inputs) {
    (void)args;
    return inputs[0];
}

leat_metric *leat_metric_mean(const char *name, leat_error *err) {
    const struct mean_args args = {.name = leati_kind_borrow_text(name)};
    return leati_metric_new(&leati_metric_mean, &args, err);
}

const leati_metric_kind leati_metric_mean = {
    .kind =
        {
            .name = "Mean",
            .doc = "The mean of all values (keras.metrics.Mean).",
            .rows = mean_rows,
            .signature = "name=\"mean\" dtype",
            .args_size = sizeof(struct mean_args),
        },
    .prefix = "mean",
    .num_values = 1,
    .takes = "values",
    .values = mean_values,
};
