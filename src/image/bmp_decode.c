/* The codec "bmp": uncompressed Windows bitmaps of 8, 24 or 32 bits, as tf.io.decode_bmp reads
 * them.
 *
 * Happy path: begin reads sizes and depth out of the header and checks that header and rows make up
 * the whole file; read copies rows, from the last to the first unless the height is negative, and
 * exchanges blue and red. Eight bits are grey: a palette is not looked at, as in TensorFlow. Fails
 * with INVALID_ARGUMENT where sizes and data do not agree. No locks. */
#include "image/codec.h"

#include "base/alloc.h"
#include "base/error.h"
#include <inttypes.h>
#include <string.h>

/* As much as TensorFlow wants to see before it looks at sizes; all fields lie in it. */
enum { HEADER = 32 };

struct decoder {
    const uint8_t *rows; /* borrowed: the first stored row */
    size_t stored_row;   /* bytes from one to the next */
    bool top_down;
    leati_image_info info;
};

static void *state_new(leat_error *err) {
    struct decoder *decoder = leati_alloc_zero(1, sizeof *decoder);
    if (decoder == NULL)
        (void)leati_no_memory(err);
    return decoder;
}

static void state_free(void *state) {
    leati_free(state);
}

static uint32_t word32(const uint8_t *at) {
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static leat_status check_options(const leati_decode_options *options, leat_error *err) {
    if (options->channels == 1)
        return leati_refuse(err, VALUE,
                            "BMP is not read as grey: expected channels 0, 3 or 4, found 1; decode "
                            "and convert");
    if (options->bits != 8)
        return leati_refuse(err, VALUE,
                            "BMP samples have 8 bits: expected bits 8, found %" PRId32
                            "; convert afterwards",
                            options->bits);
    return LEAT_OK;
}

/* Header and rows must be the whole file. */
static leat_status check_size(const struct decoder *decoder, uint64_t offset, uint64_t row,
                              size_t size, leat_error *err) {
    uint64_t expected = offset + row * (uint64_t)decoder->info.height;
    if (expected == size)
        return LEAT_OK;
    return leati_refuse(err, VALUE,
                        "damaged BMP: expected %" PRIu64 " bytes of header and %" PRId32
                        " rows of %" PRIu64 " bytes, found %zu bytes; read the file again",
                        offset, decoder->info.height, row, size);
}

static leat_status begin(void *state, const uint8_t *data, size_t size,
                         const leati_decode_options *options, leati_image_info *out_info,
                         leat_error *err) {
    struct decoder *decoder = state;
    leat_status status = check_options(options, err);
    if (status != LEAT_OK)
        return status;
    if (size < HEADER)
        return leati_refuse(err, VALUE,
                            "truncated BMP: expected at least %d bytes of header, found %zu; read "
                            "the file again",
                            HEADER, size);
    /* Where rows begin, then width and height: little-endian fields of BITMAPINFOHEADER. */
    uint32_t offset = word32(data + 10), width = word32(data + 18), height = word32(data + 22);
    int32_t bits = data[28] | data[29] << 8;
    /* A negative height, read as an unsigned number. */
    decoder->top_down = height > INT32_MAX;
    if (decoder->top_down)
        /* The magnitude; of -2^31 it is 2^31, which is refused below. */
        height = 0U - height;
    if ((bits != 8 && bits != 24 && bits != 32) || width > INT32_MAX || offset > INT32_MAX ||
        height > INT32_MAX)
        return leati_refuse(err, VALUE,
                            "BMP of %" PRId32 " bits a pixel, width %" PRIu32 ", height %" PRIu32
                            ": expected 8, 24 or 32 bits and sizes below 2^31",
                            bits, width, height);
    status = leati_image_check_pixels("BMP", height, width, options->max_pixels, err);
    if (status != LEAT_OK)
        return status;
    int32_t channels = bits / 8;
    /* Stored rows are padded to four bytes. */
    uint64_t row = ((uint64_t)width * (uint64_t)channels + 3) / 4 * 4;
    decoder->info =
        (leati_image_info){.format = "BMP",
                           .height = (int32_t)height,
                           .width = (int32_t)width,
                           .channels = options->channels == 0 ? channels : options->channels,
                           .frames = 1,
                           .bits = 8,
                           .stored_channels = channels,
                           .stored_bits = 8};
    status = check_size(decoder, offset, row, size, err);
    if (status != LEAT_OK)
        return status;
    decoder->rows = data + offset;
    decoder->stored_row = (size_t)row;
    *out_info = decoder->info;
    return LEAT_OK;
}

/* With constant numbers of channels the loop is one of plain moves. */
static inline void convert(const uint8_t *in, uint8_t *out, int32_t width, int from, int to) {
    for (int32_t x = 0; x < width; x++, in += from, out += to) {
        if (from == 1) {
            for (int c = 0; c < to && c < 3; c++)
                out[c] = in[0];
        } else {
            out[0] = in[2];
            out[1] = in[1];
            out[2] = in[0];
        }
        if (to == 4)
            out[3] = from == 4 ? in[3] : 255;
    }
}

static void convert_row(const leati_image_info *info, const uint8_t *in, uint8_t *out) {
    /* Stored bits and wanted channels in one number: each pair has a loop of its own. */
    switch (info->stored_channels * 8 + info->channels) {
    case 8 + 1: memcpy(out, in, (size_t)info->width); break;
    case 8 + 3: convert(in, out, info->width, 1, 3); break;
    case 8 + 4: convert(in, out, info->width, 1, 4); break;
    case 24 + 3: convert(in, out, info->width, 3, 3); break;
    case 24 + 4: convert(in, out, info->width, 3, 4); break;
    case 32 + 3: convert(in, out, info->width, 4, 3); break;
    default: convert(in, out, info->width, 4, 4); break;
    }
}

static leat_status read_pixels(void *state, void *pixels, size_t stride, leat_error *err) {
    struct decoder *decoder = state;
    const leati_image_info *info = &decoder->info;
    leat_status status = leati_image_check_pixel_memory(info, pixels, stride, err);
    for (int32_t y = 0; y < info->height && status == LEAT_OK; y++) {
        /* Without a mark the last row comes first. */
        int32_t stored = decoder->top_down ? y : info->height - 1 - y;
        convert_row(info, decoder->rows + (size_t)stored * decoder->stored_row,
                    (uint8_t *)pixels + (size_t)y * stride);
    }
    return status;
}

const leati_picture_codec leati_codec_bmp = {
    .name = "bmp",
    .title = "BMP",
    .magic = {'B', 'M'},
    .magic_size = 2,
    .state_new = state_new,
    .state_free = state_free,
    .begin = begin,
    .read = read_pixels,
};
