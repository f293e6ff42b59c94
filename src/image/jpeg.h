/* JPEG: writing. Reading is the codec "jpeg" of image/codec.h. */
#ifndef LEATI_IMAGE_JPEG_H
#define LEATI_IMAGE_JPEG_H

#include <leat/base.h>

/* The arguments of tf.image.encode_jpeg; start from leati_jpeg_encode_defaults. */
typedef struct leati_jpeg_encode_options {
    int32_t quality;          /* 0 to 100 */
    bool progressive;         /* several scans, coarse to fine */
    bool optimize_size;       /* Huffman codes made for this picture */
    bool chroma_downsampling; /* 4:2:0 instead of 4:4:4 */
    bool density_per_cm;      /* else per inch */
    int32_t x_density, y_density;
    const char *xmp_metadata; /* text that the file carries; NULL or "": none */
} leati_jpeg_encode_options;

/* TensorFlow's: quality 95, one scan, standard codes, 4:2:0, 300 dots per inch. */
extern const leati_jpeg_encode_options leati_jpeg_encode_defaults;

/* Encodes rows of width * channels bytes, `stride` bytes apart, as a JPEG; channels is 1 or 3
 * (RGB). Byte for byte what libjpeg-turbo writes for the same options, which is what
 * tf.image.encode_jpeg gives. *out is given to the caller (leati_free). INVALID_ARGUMENT for bad
 * options or sizes (at most 65500 each way). Thread-safe. */
LEAT_WARN_UNUSED leat_status leati_jpeg_encode(const uint8_t *pixels, size_t stride, int32_t height,
                                               int32_t width, int32_t channels,
                                               const leati_jpeg_encode_options *options,
                                               uint8_t **out, size_t *out_size, leat_error *err);

#endif
