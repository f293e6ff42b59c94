/* Losses without arguments of their own: the mean over the last dimension of something that is
 * computed place by place, and the descriptor around it. */
#ifndef LEATI_TRAIN_SUPPORT_PLAIN_LOSS_H
#define LEATI_TRAIN_SUPPORT_PLAIN_LOSS_H

#include "train/frame/loss.h"

/* The descriptor of a loss whose values are FUNCTION(labels, predictions); NAME is Keras' default
 * name of the object. */
#define LEATI_PLAIN_LOSS(ID, CLASS, NAME, DOC, FUNCTION)                                           \
    static const leati_row ID##_rows[] = {LEATI_LOSS_ROWS, {0}};                                   \
    static leat_value ID##_call(const void *args, leat_value labels, leat_value predictions,       \
                                leat_value *mask) {                                                \
        (void)args;                                                                                \
        (void)mask;                                                                                \
        return leati_loss_align(&labels, &predictions) ? FUNCTION(labels, predictions)             \
                                                       : leati_loss_failed_value(predictions);     \
    }                                                                                              \
    const leati_loss_kind leati_loss_##ID = {                                                      \
        .kind =                                                                                    \
            {                                                                                      \
                .name = CLASS,                                                                     \
                .doc = DOC " (keras.losses." CLASS ").",                                           \
                .rows = ID##_rows,                                                                 \
                .signature = "reduction name=\"" NAME "\" dtype",                                  \
                .args_size = sizeof(struct leati_loss_args),                                       \
                .check = leati_loss_check,                                                         \
            },                                                                                     \
        .call = ID##_call,                                                                         \
    };

#endif
