/* The inside of metrics: the descriptors that the files of train/metrics/ end in, and the total and
 * count that every metric so far keeps. */
#ifndef LEATI_TRAIN_FRAME_METRIC_H
#define LEATI_TRAIN_FRAME_METRIC_H

#include "train/frame/kind.h"
#include <leat/train.h>

/* The first member of every metric's arguments. */
struct leati_metric_args {
    char *name;
};

typedef struct leati_metric_kind {
    leati_kind kind;
    const char *prefix; /* of default names */
    int num_values;     /* that update takes; one more is sample weights */
    const char *takes;  /* the same in words: "labels and predictions" */
    bool keeps_dtypes;  /* labels and predictions are not cast to the metric's dtype */
    /* What a mean is taken of: one value per row or more, of any number type. NULL where the metric
     * keeps something else than a total and a count, and has the next three. */
    leat_value (*values)(const void *args, const leat_value *inputs);
    void (*states)(const void *args, leati_weights *out);
    /* In its place for states whose shapes depend on those of the values of an update (NULL: those
     * states that do not, which are the first ones). */
    leat_status (*states_of)(const void *args, const leat_shape *inputs, leati_weights *out,
                             leat_error *err);
    void (*update)(const leati_pass *pass);
    leat_value (*result)(const void *args, const leat_value *states);
} leati_metric_kind;

/* The descriptors of the table. */
#define X(file, name) extern const leati_metric_kind leati_metric_##name;
#include "train/metrics.def"
#undef X

struct leat_metric {
    const leati_metric_kind *kind;
    void *args; /* owned */
    /* The states, owned: one copy per replica, summed when read. */
    leat_variable *states[LEATI_MAX_WEIGHTS];
    int num_states;
};

/* A metric with a copy of `args` (borrowed). Owned. */
leat_metric *leati_metric_new(const leati_metric_kind *kind, const void *args, leat_error *err);
/* A metric by Keras' class name and a JSON object of Keras' arguments (NULL: none). Owned. */
leat_metric *leati_metric_from_json(const char *name, const json_t *config, leat_error *err);

/* The states of a metric without variables for values of these shapes (NULL: not known yet). */
LEAT_WARN_UNUSED leat_status leati_metric_states(const leati_metric_kind *kind, const void *args,
                                                 const leat_shape *inputs, leati_weights *out,
                                                 leat_error *err);
/* The operations of an update without variables: fills pass->updates. A failure is the graph's. */
void leati_metric_pass(const leati_metric_kind *kind, const leati_pass *pass);
/* A value in the dtype of the states that it is added to. */
leat_value leati_metric_as_state(const leati_pass *pass, leat_value value);
/* The result of these states. */
leat_value leati_metric_result_of(const leati_metric_kind *kind, const void *args,
                                  const leat_value *states);

/* Is the label, an int64 place, among the k largest predictions of its row? bool per row; as
 * TensorFlow's in_top_k: equal predictions count as smaller, places outside and predictions that
 * are not finite give false. */
leat_value leati_metric_in_top_k(leat_value labels, leat_value predictions, int64_t k);

/* The row for `name` of a struct whose first member is struct leati_metric_args. */
#define LEATI_METRIC_ROWS                                                                          \
    {                                                                                              \
        .name = "name", .type = LEATI_ROW_STRING,                                                  \
        .offset = offsetof(struct leati_metric_args, name), .doc = "Name of the metric."           \
    }

/* The mean over all dimensions from `first` on. */
leat_value leati_metric_mean_from(leat_value value, int32_t first);

#endif
