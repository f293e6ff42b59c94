/* Decoding a picture, for tests. Header only; include it after "support/cmocka.h". */
#ifndef TEST_DECODE_H
#define TEST_DECODE_H

#include "image/codec.h"
#include <stdlib.h>
#include <string.h>

/* Decodes into fresh memory, which has not one byte to spare; *out is given (free) on success. */
static inline leat_status decode(leati_image_decoder *decoder, const uint8_t *data, size_t size,
                                 const leati_decode_options *options, leati_image_info *info,
                                 uint8_t **out, leat_error *err) {
    *out = NULL;
    leat_status status = leati_image_begin(decoder, data, size, options, info, err);
    if (status != LEAT_OK)
        return status;
    size_t row = (size_t)info->width * (size_t)info->channels * (size_t)(info->bits / 8);
    uint8_t *pixels = malloc(row * (size_t)info->height * (size_t)info->frames);
    assert_non_null(pixels);
    status = leati_image_read(decoder, pixels, row, err);
    if (status == LEAT_OK)
        *out = pixels;
    else
        free(pixels);
    return status;
}

static inline leat_status decode_and_drop(leati_image_decoder *decoder, const uint8_t *data,
                                          size_t size, const leati_decode_options *options) {
    leati_image_info info;
    leat_error err = {0};
    uint8_t *pixels;
    leat_status status = decode(decoder, data, size, options, &info, &pixels, &err);
    free(pixels);
    if (status != LEAT_OK && (status != LEAT_INVALID_ARGUMENT || err.text[0] == '\0'))
        fail_msg("%s: %s", leat_status_name(status), err.text);
    return status;
}

#endif
