/* What the decoding operations share: from the bytes of a scalar string to pixels. */
#ifndef LEATI_GRAPH_SUPPORT_PICTURE_PICTURES_H
#define LEATI_GRAPH_SUPPORT_PICTURE_PICTURES_H

#include "graph/support/support.h"
#include "image/codec.h"

/* Which operation decodes: it decides which formats are taken, and how many dimensions come. */
typedef enum leati_picture_op {
    LEATI_PICTURE_ANY,   /* decode_jpeg, decode_png: no BMP or WebP, GIF of one frame */
    LEATI_PICTURE_CROP,  /* JPEG alone */
    LEATI_PICTURE_BMP,   /* BMP alone */
    LEATI_PICTURE_GIF,   /* no BMP or WebP; always [frames, height, width, channels] */
    LEATI_PICTURE_WEBP,  /* WebP alone; always [frames, height, width, channels] */
    LEATI_PICTURE_IMAGE, /* everything; a GIF or WebP gives all its frames */
    LEATI_PICTURE_FRAME  /* everything; a GIF or WebP gives its first frame */
} leati_picture_op;

/* INVALID_ARGUMENT unless input 0 is a scalar string and channels 0, 1, 3 or 4. */
LEAT_WARN_UNUSED leat_status leati_picture_check(const leati_infer_call *call, int64_t channels,
                                                 leat_error *err);
/* The infer slot's work: one scalar string in, [?, ?, channels] of `dtype` out. */
LEAT_WARN_UNUSED leat_status leati_picture_infer(leati_infer_call *call, int64_t channels,
                                                 leat_dtype dtype, leat_error *err);
/* The inverse transform of that name; "" and NULL mean TensorFlow's default. INVALID_ARGUMENT. */
LEAT_WARN_UNUSED leat_status leati_picture_dct(const char *name, leati_dct *out, leat_error *err);
/* Decodes the string of input 0 into output 0: uint8, uint16, float32 scaled to [0, 1], or another
 * number converted from uint16. */
LEAT_WARN_UNUSED leat_status leati_picture_decode(leati_kernel_call *call, leati_picture_op op,
                                                  const leati_decode_options *options,
                                                  leat_dtype dtype, leat_error *err);

/* What leati_picture_decode begins with, by a decoder of the caller's: checks the format, reads the
 * header, says the size and the shape of the result. */
LEAT_WARN_UNUSED leat_status leati_picture_begin(leati_image_decoder *decoder,
                                                 const leat_string *contents, leati_picture_op op,
                                                 const leati_decode_options *options,
                                                 leat_dtype dtype, leati_image_info *info,
                                                 leat_shape *shape, leat_error *err);

/* The attributes of decode_png and decode_image. */
struct leati_decode_png_args {
    int64_t channels;
    leat_dtype dtype;
};
struct leati_decode_image_args {
    int64_t channels;
    leat_dtype dtype;
    bool expand_animations;
};

/* The attributes of convert_image_dtype. */
struct leati_convert_args {
    leat_dtype dtype;
    bool saturate;
};

#endif
