/* Writing PNG with libspng at its default compression.
 *
 * Happy path: rows are handed over one by one, since they need not be dense; libspng's buffer,
 * which comes from leati_alloc, is given to the caller. Bad arguments fail before libspng is
 * called; what fails inside is missing memory. No locks. */
#include "image/png.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/stop.h"
#include "image/png_alloc.h"
#include <inttypes.h>

const leati_png_encode_options leati_png_encode_defaults = {.bits = 8, .compression = -1};

static leat_status check(const void *pixels, size_t stride, int32_t height, int32_t width,
                         int32_t channels, const leati_png_encode_options *options,
                         leat_error *err) {
    /* Computed before the arguments are checked; used only if they are good. */
    size_t row = (size_t)width * (size_t)channels * (size_t)(options->bits / 8);
    if (channels < 1 || channels > 4)
        return leati_refuse(err, VALUE, "encoding a PNG: channels is %" PRId32 "; expected 1 to 4",
                            channels);
    if (height < 1 || width < 1)
        return leati_refuse(err, SHAPE,
                            "encoding a PNG: expected at least one pixel, found height %" PRId32
                            " and width %" PRId32 "; leave the picture out",
                            height, width);
    if ((options->bits != 8 && options->bits != 16) || options->compression < -1 ||
        options->compression > 9)
        return leati_refuse(err, VALUE,
                            "encoding a PNG: bits is %" PRId32 " and compression %" PRId32
                            "; expected 8 or 16, and -1 to 9",
                            options->bits, options->compression);
    if (pixels == NULL || stride < row)
        return leati_refuse(err, VALUE,
                            "encoding a PNG: expected rows of at least %zu bytes, found %s%zu", row,
                            pixels == NULL ? "NULL and " : "", stride);
    return LEAT_OK;
}

static int write_rows(spng_ctx *png, const uint8_t *pixels, size_t stride,
                      const struct spng_ihdr *header, size_t row_size) {
    int code = spng_encode_image(png, NULL, 0, SPNG_FMT_PNG,
                                 SPNG_ENCODE_PROGRESSIVE | SPNG_ENCODE_FINALIZE);
    int64_t done = 0;
    for (uint32_t y = 0; code == 0 && y < header->height; y++) {
        /* Whoever stops the work drops the file. */
        if (leati_stop_look_after((int64_t)row_size * 16, &done))
            return SPNG_EIO;
        code = spng_encode_row(png, pixels + y * stride, row_size);
    }
    /* The code that the last row gives. */
    return code == SPNG_EOI ? 0 : code;
}

leat_status leati_png_encode(const void *pixels, size_t stride, int32_t height, int32_t width,
                             int32_t channels, const leati_png_encode_options *options,
                             uint8_t **out, size_t *out_size, leat_error *err) {
    static const uint8_t types[5] = {0, SPNG_COLOR_TYPE_GRAYSCALE, SPNG_COLOR_TYPE_GRAYSCALE_ALPHA,
                                     SPNG_COLOR_TYPE_TRUECOLOR, SPNG_COLOR_TYPE_TRUECOLOR_ALPHA};
    LEATI_TRY(check(pixels, stride, height, width, channels, options, err));
    spng_ctx *png = leati_png_context(SPNG_CTX_ENCODER);
    if (png == NULL)
        return leati_no_memory(err);
    struct spng_ihdr header = {.width = (uint32_t)width,
                               .height = (uint32_t)height,
                               .bit_depth = (uint8_t)options->bits,
                               .color_type = types[channels]};
    uint8_t *result = NULL;
    size_t size = 0;
    int code = spng_set_option(png, SPNG_ENCODE_TO_BUFFER, 1);
    if (code == 0 && options->compression >= 0)
        code = spng_set_option(png, SPNG_IMG_COMPRESSION_LEVEL, options->compression);
    if (code == 0)
        code = spng_set_ihdr(png, &header);
    if (code == 0)
        code = write_rows(png, pixels, stride, &header,
                          (size_t)width * (size_t)channels * (size_t)(options->bits / 8));
    if (code == 0)
        /* The buffer is the caller's from here on; freeing the context leaves it. */
        result = spng_get_png_buffer(png, &size, &code);
    spng_ctx_free(png);
    /* libspng does not always say that memory was missing. */
    if (result == NULL && leati_alloc_refused() != 0)
        return leati_no_memory(err);
    if (code != 0 || result == NULL)
        return leati_fail(err, LEAT_INTERNAL, "encoding a PNG of %" PRId32 " x %" PRId32 ": %s",
                          height, width, spng_strerror(code));
    *out = result;
    *out_size = size;
    return LEAT_OK;
}
