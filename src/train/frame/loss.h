/* The inside of losses: the descriptors that the files of train/losses/ end in, and Keras' loss
 * objects, which weight and reduce what the descriptor's function gives. */
#ifndef LEATI_TRAIN_FRAME_LOSS_H
#define LEATI_TRAIN_FRAME_LOSS_H

#include "graph/support/support.h"
#include "train/frame/kind.h"
#include <leat/train.h>

/* The first member of every loss's arguments. */
struct leati_loss_args {
    char *reduction; /* NULL: none */
    char *name;
};

/* What a loss takes as labels; bindings cast and compare shapes by it. */
typedef enum leati_loss_labels {
    LEATI_LIKE_PREDICTIONS = 0, /* numbers of the predictions' shape, or one that broadcasts */
    LEATI_CLASS_LABELS,         /* a number of a class per row: no last dimension, or one of 1 */
    LEATI_SEQUENCE_LABELS       /* a row of numbers of classes, of any length */
} leati_loss_labels;

typedef struct leati_loss_kind {
    leati_kind kind;
    leati_loss_labels labels;
    /* One loss per row. `mask` is failed at first; a loss that leaves rows out sets it to a bool
     * per row. */
    leat_value (*call)(const void *args, leat_value labels, leat_value predictions,
                       leat_value *mask);
} leati_loss_kind;

/* The descriptors of the table. */
#define X(file, name) extern const leati_loss_kind leati_loss_##name;
#include "train/losses.def"
#undef X

typedef struct leati_loss leati_loss;

/* A loss by Keras' class name and a JSON object of Keras' arguments (NULL: none). Owned. */
leati_loss *leati_loss_from_json(const char *name, const json_t *config, leat_error *err);
void leati_loss_free(leati_loss *loss);

/* keras.losses.Loss.__call__ without a strategy: losses times `sample_weight` (NULL: none), reduced
 * as the loss's argument says. */
leat_value leati_loss_call(const leati_loss *loss, leat_value labels, leat_value predictions,
                           const leat_value *sample_weight);

/* leati_loss_call of a kind with arguments; rows that `mask` (bool; NULL: none) leaves out do not
 * count. */
leat_value leati_loss_pass(const leati_loss_kind *kind, const void *args, leat_value labels,
                           leat_value predictions, const leat_value *sample_weight,
                           const leat_value *mask);

/* Two operands of which one may have one dimension of size 1 more: takes it away, as Keras does for
 * values and their weights. */
void leati_loss_same_rank(leat_value *values, leat_value *weights);

/* a / b, but 0 where b is 0. */
leat_value leati_loss_divide_no_nan(leat_value a, leat_value b);

/* The value of which `value` is the softmax, or a failed one. */
leat_value leati_loss_logits_behind(leat_value value);

/* The value from which an operation of one input made `value`; failed where another one did. */
leat_value leati_loss_input_of(leat_value value, const leati_tensor_op *op);

/* ---- for the files of losses ---- */

/* Labels in the dtype of the predictions, and both of one rank: a dimension of size 1 that one has
 * more goes, or is added to vectors. False: one has failed. */
bool leati_loss_align(leat_value *labels, leat_value *predictions);
leat_value leati_loss_failed_value(leat_value like);
/* The mean over the last dimension. */
leat_value leati_loss_mean_of_last(leat_value value);
/* A number of the dtype of `like`. */
leat_value leati_loss_number_like(leat_value like, double number);
/* Labels that are all 0 or 1 as -1 and 1, others as they are. */
leat_value leati_loss_signed_labels(leat_value labels);
/* Probabilities between 1e-7 and 1 - 1e-7. */
leat_value leati_loss_clip_probability(leat_value probabilities);

/* Rows for `reduction` and `name` of a struct whose first member is struct leati_loss_args. */
#define LEATI_LOSS_ROWS                                                                            \
    {.name = "reduction",                                                                          \
     .type = LEATI_ROW_STRING,                                                                     \
     .flags = LEATI_ABSENT,                                                                        \
     .offset = offsetof(struct leati_loss_args, reduction),                                        \
     .default_text = "sum_over_batch_size",                                                        \
     .doc = "\"sum_over_batch_size\", \"mean\", \"mean_with_sample_weight\", \"sum\", \"none\" "   \
            "or null."},                                                                           \
    {                                                                                              \
        .name = "name", .type = LEATI_ROW_STRING,                                                  \
        .offset = offsetof(struct leati_loss_args, name), .doc = "Name of the loss."               \
    }

/* For check: the reduction is one that there is. */
LEAT_WARN_UNUSED leat_status leati_loss_check(const void *args, leat_error *err);

#endif
