/* The codec "png": libspng reads chunks, checks sums and undoes filters; rows are converted here to
 * what tf.image.decode_png gives.
 *
 * Happy path: begin reads the header and what stands before the pixels; read takes the rows in
 * order, straight into the caller's memory where no conversion is needed, and then the chunks up to
 * the end. An interlaced picture that must be converted goes through a copy of its own size.
 *
 * Fails with INVALID_ARGUMENT for damage, a wrong checksum or missing data, all of which libspng
 * finds, and with RESOURCE_EXHAUSTED when memory lacks: libspng allocates through leati_alloc,
 * whose refusals are noted per thread because its hooks carry no context. gAMA and other colour
 * information is ignored. Chunks of text or profiles above 16 MiB are refused. No locks. */
#include "image/codec.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/stop.h"
#include "image/png.h"
#include "image/png_alloc.h"
#include "image/png_source.h"
#include <inttypes.h>
#include <string.h>

struct decoder {
    spng_ctx *png;           /* of the current picture, or NULL */
    leati_png_source source; /* its data */
    struct spng_ihdr header;
    leati_png_layout layout;
    leati_image_info info;
    uint8_t *scratch; /* a stored row, or an interlaced picture; kept */
    size_t scratch_capacity;
};

static void forget(struct decoder *decoder) {
    spng_ctx_free(decoder->png);
    decoder->png = NULL;
}

static void *state_new(leat_error *err) {
    struct decoder *decoder = leati_alloc_zero(1, sizeof *decoder);
    if (decoder == NULL)
        (void)leati_no_memory(err);
    return decoder;
}

static void state_free(void *state) {
    struct decoder *decoder = state;
    forget(decoder);
    leati_free(decoder->scratch);
    leati_free(decoder);
}

static leat_status failed(const struct decoder *decoder, int code, leat_error *err) {
    /* Missing memory first: libspng reports it in several ways. */
    if (leati_alloc_refused() != 0)
        return leati_no_memory(err);
    if (code == SPNG_IO_EOF || code == SPNG_EOF || code == SPNG_EIDAT_TOO_SHORT)
        return leati_refuse(err, VALUE,
                            "truncated PNG: the data end after %zu bytes, before the picture does; "
                            "read the file again",
                            decoder->source.size);
    return leati_refuse(err, VALUE, "damaged PNG of %zu bytes: %s; read the file again",
                        decoder->source.size, spng_strerror(code));
}

/* ---- begin ---- */

/* Puts the palette and the transparent colour into the layout; *alpha says whether there is one. */
static int read_colours(struct decoder *decoder, bool *alpha) {
    leati_png_layout *layout = &decoder->layout;
    struct spng_trns transparency = {0};
    int code = spng_get_trns(decoder->png, &transparency);
    *alpha = code == 0;
    /* No tRNS chunk, which is no failure. */
    if (code != 0 && code != SPNG_ECHUNKAVAIL)
        return code;
    if (layout->colour_type != SPNG_COLOR_TYPE_INDEXED) {
        layout->has_key = *alpha;
        /* The grey value lies in the first place, which the picture's samples are compared with. */
        layout->key[0] =
            layout->colour_type == SPNG_COLOR_TYPE_TRUECOLOR ? transparency.red : transparency.gray;
        layout->key[1] = transparency.green;
        layout->key[2] = transparency.blue;
        return 0;
    }
    struct spng_plte palette;
    code = spng_get_plte(decoder->png, &palette);
    if (code != 0)
        return code;
    memset(layout->palette, 0, sizeof layout->palette);
    /* The alpha that libpng adds to a palette without one, 2^depth - 1. */
    uint8_t added = (uint8_t)((1U << layout->depth) - 1U);
    /* All of them: entries that a damaged picture uses and the palette lacks are black. */
    for (uint32_t i = 0; i < 256; i++)
        layout->palette[i][3] = *alpha ? 255 : added;
    for (uint32_t i = 0; i < palette.n_entries && i < 256; i++) {
        layout->palette[i][0] = palette.entries[i].red;
        layout->palette[i][1] = palette.entries[i].green;
        layout->palette[i][2] = palette.entries[i].blue;
    }
    /* tRNS may list fewer alphas than there are colours; the others are opaque. */
    for (uint32_t i = 0; *alpha && i < transparency.n_type3_entries && i < 256; i++)
        layout->palette[i][3] = transparency.type3_alpha[i];
    return 0;
}

static int32_t stored_channels(int colour_type) {
    switch (colour_type) {
    case SPNG_COLOR_TYPE_TRUECOLOR: return 3;
    case SPNG_COLOR_TYPE_GRAYSCALE_ALPHA: return 2;
    case SPNG_COLOR_TYPE_TRUECOLOR_ALPHA: return 4;
    default: return 1;
    }
}

static leat_status begin_picture(struct decoder *decoder, const leati_decode_options *options,
                                 leat_error *err) {
    struct spng_ihdr *header = &decoder->header;
    int code = spng_get_ihdr(decoder->png, header);
    if (code != 0)
        return failed(decoder, code, err);
    leat_status status =
        leati_image_check_pixels("PNG", header->height, header->width, options->max_pixels, err);
    if (status != LEAT_OK)
        return status;
    leati_png_layout *layout = &decoder->layout;
    layout->width = header->width;
    layout->colour_type = header->color_type;
    layout->depth = header->bit_depth;
    layout->has_key = false;
    bool alpha = false;
    code = read_colours(decoder, &alpha);
    if (code != 0)
        return failed(decoder, code, err);
    int32_t channels = options->channels;
    /* A palette stands for colours, so it never is one channel. */
    if (channels == 0 && layout->colour_type == SPNG_COLOR_TYPE_INDEXED)
        channels = alpha ? 4 : 3;
    else if (channels == 0)
        channels = stored_channels(layout->colour_type);
    layout->channels = channels;
    layout->bits = options->bits;
    decoder->info = (leati_image_info){.format = "PNG",
                                       .frames = 1,
                                       .height = (int32_t)header->height,
                                       .width = (int32_t)header->width,
                                       .channels = channels,
                                       .bits = options->bits,
                                       .stored_channels = stored_channels(header->color_type),
                                       .stored_bits = header->bit_depth};
    return LEAT_OK;
}

static leat_status begin(void *state, const uint8_t *data, size_t size,
                         const leati_decode_options *options, leati_image_info *out_info,
                         leat_error *err) {
    struct decoder *decoder = state;
    forget(decoder);
    decoder->source = leati_png_source_new(data, size);
    decoder->png = leati_png_context(0);
    if (decoder->png == NULL)
        return leati_no_memory(err);
    int code = spng_set_png_stream(decoder->png, leati_png_source_read, &decoder->source);
    leat_status status =
        code != 0 ? failed(decoder, code, err) : begin_picture(decoder, options, err);
    if (status != LEAT_OK)
        forget(decoder);
    else
        *out_info = decoder->info;
    return status;
}

/* ---- read ---- */

/* Decodes all stored rows to `rows`, `stride` bytes apart; stride 0: each is converted to `pixels`
 * as soon as it is there. */
static int decode_rows(struct decoder *decoder, uint8_t *rows, size_t stride, size_t row_size,
                       uint8_t *pixels, size_t pixel_stride) {
    int code = spng_decode_image(decoder->png, NULL, 0, SPNG_FMT_PNG, SPNG_DECODE_PROGRESSIVE);
    int64_t done = 0;
    /* Whoever stops the work drops the picture. */
    while (code == 0 && !leati_stop_look_after((int64_t)row_size * 4, &done)) {
        struct spng_row_info row;
        code = spng_get_row_info(decoder->png, &row);
        if (code != 0)
            break;
        uint8_t *target = rows + row.row_num * stride;
        code = spng_decode_row(decoder->png, target, row_size);
        /* The last row comes with SPNG_EOI and is converted like the others. */
        if (stride == 0 && (code == 0 || code == SPNG_EOI))
            leati_png_convert_row(&decoder->layout, target, pixels + row.row_num * pixel_stride);
    }
    return code == SPNG_EOI ? 0 : code;
}

static leat_status need_scratch(struct decoder *decoder, size_t row_size, size_t rows,
                                leat_error *err) {
    size_t size;
    /* Too large to be a number: asked for nevertheless, so that it fails as memory does. */
    if (!leati_mul_size(row_size, rows, &size))
        size = SIZE_MAX;
    void *scratch = decoder->scratch;
    if (!leati_grow(&scratch, &decoder->scratch_capacity, size, 1))
        return leati_no_memory(err);
    decoder->scratch = scratch;
    return LEAT_OK;
}

static leat_status read_picture(struct decoder *decoder, uint8_t *pixels, size_t stride,
                                leat_error *err) {
    const struct spng_ihdr *header = &decoder->header;
    const leati_png_layout *layout = &decoder->layout;
    size_t row_bits =
        (size_t)header->width * (size_t)decoder->info.stored_channels * (size_t)header->bit_depth;
    size_t row_size = (row_bits + 7) / 8;
    bool direct = leati_png_row_is_direct(layout);
    bool interlaced = header->interlace_method != 0;
    int code;
    if (direct) {
        code = decode_rows(decoder, pixels, stride, row_size, NULL, 0);
    } else {
        LEATI_TRY(need_scratch(decoder, row_size, interlaced ? header->height : 1, err));
        if (interlaced) /* Packed samples of later passes are added to the bytes of earlier ones. */
            memset(decoder->scratch, 0, row_size * header->height);
        code = decode_rows(decoder, decoder->scratch, interlaced ? row_size : 0, row_size, pixels,
                           stride);
    }
    if (code == 0)
        /* Up to IEND, so that a file that is cut off behind its pixels is refused. */
        code = spng_decode_chunks(decoder->png);
    if (code == 0)
        code = leati_png_source_check_end(&decoder->source);
    if (code != 0)
        return failed(decoder, code, err);
    /* Only now are the rows of all passes whole. */
    for (uint32_t y = 0; !direct && interlaced && y < header->height; y++)
        leati_png_convert_row(layout, decoder->scratch + y * row_size, pixels + y * stride);
    return LEAT_OK;
}

static leat_status read_pixels(void *state, void *pixels, size_t stride, leat_error *err) {
    struct decoder *decoder = state;
    leat_status status = leati_image_check_pixel_memory(&decoder->info, pixels, stride, err);
    /* Refusals of earlier work on this thread are not this picture's. */
    leati_alloc_refused_forget();
    if (status == LEAT_OK)
        status = read_picture(decoder, pixels, stride, err);
    forget(decoder);
    return status;
}

const leati_picture_codec leati_codec_png = {
    .name = "png",
    .title = "PNG",
    .magic = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'},
    .magic_size = 8,
    .deep = true,
    .state_new = state_new,
    .state_free = state_free,
    .begin = begin,
    .read = read_pixels,
};
