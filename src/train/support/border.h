/* What the layers share that add a border of zeros or take one away. */
#ifndef LEATI_TRAIN_SUPPORT_BORDER_H
#define LEATI_TRAIN_SUPPORT_BORDER_H

#include "train/frame/layer.h"

struct leati_border_args {
    char *name; /* first: struct leati_layer_args */
    leati_ints sizes;
    char *data_format;
};

/* The sizes are called `padding` or `cropping`. */
extern const leati_row leati_padding_rows[], leati_cropping_rows[];

/* One number for all sides, one for each direction, or two for each. */
LEAT_WARN_UNUSED leat_status leati_border_check(const void *args, int directions, leat_error *err);

/* The calls. */
leat_value leati_border_pad(const leati_pass *pass, int directions);
leat_value leati_border_crop(const leati_pass *pass, int directions);

#endif
