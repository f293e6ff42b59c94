/* What the decoding operations share: from the bytes of a scalar string to pixels. */
#ifndef LEATI_GRAPH_OPS_PICTURES_H
#define LEATI_GRAPH_OPS_PICTURES_H

#include "graph/ops/support.h"
#include "image/codec.h"

/* The infer slot's work: one scalar string in, [?, ?, channels] of `dtype` out. */
LEAT_WARN_UNUSED leat_status leati_picture_infer(leati_infer_call *call, int64_t channels,
                                                 leat_dtype dtype, leat_error *err);
/* The inverse transform of that name; "" and NULL mean TensorFlow's default. INVALID_ARGUMENT. */
LEAT_WARN_UNUSED leat_status leati_picture_dct(const char *name, leati_dct *out, leat_error *err);
/* Decodes the string of input 0 into output 0: uint8, uint16, float32 scaled to [0, 1], or another
 * number converted from uint16. */
LEAT_WARN_UNUSED leat_status leati_picture_decode(leati_kernel_call *call,
                                                  const leati_decode_options *options,
                                                  leat_dtype dtype, leat_error *err);

/* The attributes of convert_image_dtype. */
struct leati_convert_args {
    leat_dtype dtype;
    bool saturate;
};

#endif
