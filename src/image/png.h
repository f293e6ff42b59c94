/* PNG: writing, and the conversion of rows. Reading is the codec "png" of image/codec.h. */
#ifndef LEATI_IMAGE_PNG_H
#define LEATI_IMAGE_PNG_H

#include <leat/base.h>

typedef struct leati_png_encode_options {
    int32_t bits;        /* of a sample: 8, or 16 in this machine's byte order */
    int32_t compression; /* 0 to 9; -1: zlib's choice */
} leati_png_encode_options;

extern const leati_png_encode_options leati_png_encode_defaults; /* 8 bits, -1 */

/* Encodes rows of width * channels samples, `stride` bytes apart; channels is 1, 2 (grey and
 * alpha), 3 or 4. *out is given to the caller (leati_free). Thread-safe. */
LEAT_WARN_UNUSED leat_status leati_png_encode(const void *pixels, size_t stride, int32_t height,
                                              int32_t width, int32_t channels,
                                              const leati_png_encode_options *options,
                                              uint8_t **out, size_t *out_size, leat_error *err);

/* How the samples of a row lie in the file, and what is wanted of them. */
typedef struct leati_png_layout {
    uint32_t width;
    int32_t colour_type; /* as in the header chunk */
    int32_t depth;       /* bits of a stored sample: 1, 2, 4, 8 or 16 */
    int32_t channels;    /* wanted: 1 to 4 */
    int32_t bits;        /* wanted: 8 or 16 */
    bool has_key;        /* a colour that is transparent: grey in key[0], or RGB */
    uint16_t key[3];
    uint8_t palette[256][4]; /* RGBA; black where the file gives none */
} leati_png_layout;

/* Whether a stored row is what is wanted, byte for byte. */
bool leati_png_row_is_direct(const leati_png_layout *layout);

/* Converts one row, whose samples of 16 bits are in this machine's byte order and whose smaller
 * ones are packed, in the way of libpng as tf.image.decode_png sets it up. */
void leati_png_convert_row(const leati_png_layout *layout, const void *row, void *out);

#endif
