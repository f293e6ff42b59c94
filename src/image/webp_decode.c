/* The codec "webp": WebP pictures and animations by libwebp, as tf.io.decode_webp reads them.
 *
 * Happy path: begin reads the header and counts an animation's frames; read decodes a picture
 * straight into the caller's memory. An animation's canvases are put together by the library as
 * RGBA and copied, without alpha where the file has none. Channels are the file's: 3, or 4 with
 * alpha.
 *
 * Fails on damage and missing data, on a request for other channels, and where the library was not
 * there when this was built. The frames together count as pixels. No locks. */
#include "image/codec.h"

#include "base/error.h"
#include <inttypes.h>

#ifdef LEATI_HAVE_WEBP

#include "base/alloc.h"
#include "base/minmax.h"
#include "base/stop.h"
#include <string.h>
#include <webp/decode.h>
#include <webp/demux.h>

struct decoder {
    const uint8_t *data; /* borrowed, of the current picture */
    size_t size;
    bool animated;
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

static leat_status damaged(const struct decoder *decoder, const char *what, leat_error *err) {
    return leati_refuse(err, VALUE,
                        "damaged or truncated WebP of %zu bytes: expected %s; read the file again",
                        decoder->size, what);
}

/* ---- header ---- */

static leat_status check_channels(const leati_image_info *info, int32_t channels, leat_error *err) {
    if (channels == 0 || channels == info->channels)
        return LEAT_OK;
    return leati_refuse(err, VALUE,
                        "the WebP has %" PRId32 " channels: expected channels 0 or %" PRId32
                        ", found %" PRId32 "; decode and convert",
                        info->channels, info->channels, channels);
}

/* Size and number of frames of an animation, from its chunks alone. */
static leat_status measure(struct decoder *decoder, leat_error *err) {
    const WebPData data = {decoder->data, decoder->size};
    WebPDemuxer *demuxer = WebPDemux(&data);
    if (demuxer == NULL)
        return damaged(decoder, "whole frames", err);
    decoder->info.frames = (int32_t)WebPDemuxGetI(demuxer, WEBP_FF_FRAME_COUNT);
    decoder->info.width = (int32_t)WebPDemuxGetI(demuxer, WEBP_FF_CANVAS_WIDTH);
    decoder->info.height = (int32_t)WebPDemuxGetI(demuxer, WEBP_FF_CANVAS_HEIGHT);
    WebPDemuxDelete(demuxer);
    return decoder->info.frames > 0 ? LEAT_OK : damaged(decoder, "a frame", err);
}

static leat_status begin(void *state, const uint8_t *data, size_t size,
                         const leati_decode_options *options, leati_image_info *out_info,
                         leat_error *err) {
    struct decoder *decoder = state;
    WebPBitstreamFeatures features;
    decoder->data = data;
    decoder->size = size;
    if (options->bits != 8)
        return leati_refuse(err, VALUE,
                            "WebP samples have 8 bits: expected bits 8, found %" PRId32
                            "; convert afterwards",
                            options->bits);
    if (WebPGetFeatures(data, size, &features) != VP8_STATUS_OK)
        return damaged(decoder, "a header", err);
    int32_t channels = features.has_alpha ? 4 : 3;
    decoder->animated = features.has_animation;
    decoder->info = (leati_image_info){.format = "WebP",
                                       .height = features.height,
                                       .width = features.width,
                                       .channels = channels,
                                       .frames = 1,
                                       .bits = 8,
                                       .stored_channels = channels,
                                       .stored_bits = 8};
    leat_status status = check_channels(&decoder->info, options->channels, err);
    if (status == LEAT_OK && decoder->animated)
        status = measure(decoder, err);
    /* After measuring, which refuses an animation without a whole frame. */
    if (options->first_frame)
        decoder->info.frames = 1;
    if (status == LEAT_OK)
        status = leati_image_check_pixels(
            "WebP", (uint64_t)decoder->info.height * (uint64_t)decoder->info.frames,
            (uint64_t)decoder->info.width, options->max_pixels, err);
    if (status == LEAT_OK)
        *out_info = decoder->info;
    return status;
}

/* ---- pixels ---- */

enum { LARGE_PICTURE = 1 << 20, STEPS = 64 };

/* A large picture by and by, so that its thread may stop. */
static VP8StatusCode decode(const struct decoder *decoder, WebPDecoderConfig *config) {
    int64_t pixels = (int64_t)decoder->info.height * decoder->info.width;
    if (pixels < LARGE_PICTURE || !leati_stop_may_come())
        return WebPDecode(decoder->data, decoder->size, config);
    WebPIDecoder *growing = WebPIDecode(NULL, 0, config);
    if (growing == NULL)
        return VP8_STATUS_OUT_OF_MEMORY;
    VP8StatusCode code = VP8_STATUS_SUSPENDED;
    for (size_t at = 0; at < decoder->size && code == VP8_STATUS_SUSPENDED && !leati_stop_look();) {
        at += LEATI_MIN(decoder->size - at, decoder->size / STEPS + 1);
        code = WebPIUpdate(growing, decoder->data, at);
    }
    WebPIDelete(growing);
    return code;
}

static leat_status read_picture(const struct decoder *decoder, uint8_t *pixels, size_t stride,
                                leat_error *err) {
    const leati_image_info *info = &decoder->info;
    WebPDecoderConfig config;
    if (!WebPInitDecoderConfig(&config))
        return leati_fail(err, LEAT_INTERNAL, "libwebp has another version than its headers");
    config.output.colorspace = info->channels == 4 ? MODE_RGBA : MODE_RGB;
    /* The library writes into the caller's rows and allocates none. */
    config.output.is_external_memory = 1;
    config.output.u.RGBA.rgba = pixels;
    config.output.u.RGBA.stride = (int)stride;
    config.output.u.RGBA.size = stride * (size_t)info->height;
    VP8StatusCode code = decode(decoder, &config);
    /* Frees what the library has, not the pixels. */
    WebPFreeDecBuffer(&config.output);
    if (leati_stop_stopped())
        return leati_stop_check(err);
    if (code == VP8_STATUS_OUT_OF_MEMORY)
        return leati_fail(err, LEAT_RESOURCE_EXHAUSTED,
                          "out of memory while decoding a WebP of %zu bytes", decoder->size);
    return code == VP8_STATUS_OK ? LEAT_OK : damaged(decoder, "pixels", err);
}

/* Copies a canvas of RGBA. */
static void copy_canvas(const leati_image_info *info, const uint8_t *from, uint8_t *to,
                        size_t stride) {
    size_t channels = (size_t)info->channels, width = (size_t)info->width;
    for (int32_t y = 0; y < info->height; y++, from += 4 * width, to += stride) {
        if (channels == 4)
            memcpy(to, from, 4 * width);
        for (size_t x = 0; channels == 3 && x < width; x++)
            memcpy(to + 3 * x, from + 4 * x, 3);
    }
}

static leat_status read_frames(const struct decoder *decoder, uint8_t *pixels, size_t stride,
                               leat_error *err) {
    const WebPData data = {decoder->data, decoder->size};
    WebPAnimDecoderOptions options;
    if (!WebPAnimDecoderOptionsInit(&options))
        return leati_fail(err, LEAT_INTERNAL, "libwebpdemux has another version than its headers");
    /* Frames are blended by alpha in any case; copy_canvas drops it. */
    options.color_mode = MODE_RGBA;
    options.use_threads = 0;
    WebPAnimDecoder *frames = WebPAnimDecoderNew(&data, &options);
    if (frames == NULL)
        return leati_fail(err, LEAT_RESOURCE_EXHAUSTED,
                          "out of memory for the canvases of a WebP of %zu bytes", decoder->size);
    leat_status status = LEAT_OK;
    for (int32_t i = 0; i < decoder->info.frames && status == LEAT_OK && !leati_stop_look(); i++) {
        uint8_t *canvas = NULL;
        int time = 0;
        /* Borrowed: it is the library's until the next frame. */
        if (WebPAnimDecoderGetNext(frames, &canvas, &time))
            copy_canvas(&decoder->info, canvas,
                        pixels + (size_t)i * (size_t)decoder->info.height * stride, stride);
        else
            status = damaged(decoder, "whole frames", err);
    }
    WebPAnimDecoderDelete(frames);
    return status;
}

static leat_status read_pixels(void *state, void *pixels, size_t stride, leat_error *err) {
    const struct decoder *decoder = state;
    LEATI_TRY(leati_image_check_pixel_memory(&decoder->info, pixels, stride, err));
    return decoder->animated ? read_frames(decoder, pixels, stride, err)
                             : read_picture(decoder, pixels, stride, err);
}

#else

static void *state_new(leat_error *err) {
    (void)leati_fail(err, LEAT_UNIMPLEMENTED,
                     "the picture is a WebP, which this build lacks; build with libwebp");
    return NULL;
}

static void state_free(void *state) {
    (void)state;
}

static leat_status begin(void *state, const uint8_t *data, size_t size,
                         const leati_decode_options *options, leati_image_info *out_info,
                         leat_error *err) {
    (void)state, (void)data, (void)size, (void)options, (void)out_info;
    return leati_fail(err, LEAT_UNIMPLEMENTED, "WebP is not built");
}

static leat_status read_pixels(void *state, void *pixels, size_t stride, leat_error *err) {
    (void)state, (void)pixels, (void)stride;
    return leati_fail(err, LEAT_UNIMPLEMENTED, "WebP is not built");
}

#endif

const leati_picture_codec leati_codec_webp = {
    .name = "webp",
    .title = "WebP",
    .magic = {'R', 'I', 'F', 'F'},
    .magic_size = 4,
    .animated = true,
    .mark = "WEBP",
    .state_new = state_new,
    .state_free = state_free,
    .begin = begin,
    .read = read_pixels,
};
