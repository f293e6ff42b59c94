/* What extract_patches and its gradient share. */
#ifndef LEATI_GRAPH_SUPPORT_PICTURE_PATCHES_H
#define LEATI_GRAPH_SUPPORT_PICTURE_PATCHES_H

#include "graph/support/picture/window.h"

struct leati_patches_args {
    leati_ints sizes, strides, rates;
    char *padding;
};
extern const leati_row leati_patches_rows[];

/* The windows over pictures of that shape (rank 4, dimensions may be unknown), and the shape of the
 * patches [N, rows, columns, height * width * C]. */
LEAT_WARN_UNUSED leat_status leati_patches_plan(leati_conv_plan *plan,
                                                const struct leati_patches_args *args,
                                                const leat_shape *images, leat_shape *out,
                                                leat_error *err);

#endif
