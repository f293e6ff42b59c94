/* The arguments of decode_jpeg and decode_and_crop_jpeg. */
#ifndef LEATI_GRAPH_OPS_PICTURE_DECODE_H
#define LEATI_GRAPH_OPS_PICTURE_DECODE_H

#include "graph/support/picture/pictures.h"

struct leati_decode_jpeg_args {
    int64_t channels, ratio;
    bool fancy_upscaling, try_recover_truncated;
    double acceptable_fraction;
    char *dct_method;
};

extern const leati_row leati_decode_jpeg_rows[];

/* The decoder's options for the arguments; INVALID_ARGUMENT. */
LEAT_WARN_UNUSED leat_status leati_decode_jpeg_options(const struct leati_decode_jpeg_args *args,
                                                       leati_decode_options *options,
                                                       leat_error *err);
/* The same for decode_and_crop_jpeg with the window of row `row` of its second input. */
LEAT_WARN_UNUSED leat_status leati_decode_crop_options(const struct leati_decode_jpeg_args *args,
                                                       const leati_operand *window, int64_t row,
                                                       leati_decode_options *options,
                                                       leat_error *err);

#endif
