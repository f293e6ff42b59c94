/* What the layers share that drop whole channels. */
#ifndef LEATI_TRAIN_SUPPORT_SPATIAL_DROPOUT_H
#define LEATI_TRAIN_SUPPORT_SPATIAL_DROPOUT_H

#include "train/frame/layer.h"

struct leati_spatial_dropout_args {
    char *name; /* first: struct leati_layer_args */
    double rate;
    char *data_format;
    leati_seed_argument seed;
};
extern const leati_row leati_spatial_dropout_rows[];

LEAT_WARN_UNUSED leat_status leati_spatial_dropout_check(const void *args, leat_error *err);
leati_seed_argument leati_spatial_dropout_seed(const void *args);
LEAT_WARN_UNUSED leat_status leati_spatial_dropout_weights(const void *args,
                                                           const leat_shape *input,
                                                           leati_weights *out, leat_error *err);
/* The call: one draw for each row and channel. */
leat_value leati_spatial_drop(const leati_pass *pass, int directions);

#endif
