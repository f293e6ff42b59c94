/* From a picture's bytes to the rows of a resized one; see stream.h.
 *
 * Happy path: the header tells the size; a JPEG's window goes to the decoder, which skips what is
 * outside; each decoded row is blended into the rows that need it while it is in the cache. Other
 * formats, and methods that look at many rows, have the decoded picture in the arena first.
 * Failures: those of decoding, cropping and resizing, and what the sink says. */
#include "graph/ops/stream.h"

#include <string.h>

/* Where pixels go after the window is cut out of them. */
typedef struct passing {
    leati_resize_stream resize;
    int64_t x;      /* the window's first column */
    int64_t y;      /* and row */
    int64_t height; /* rows of the window */
    size_t pixel;   /* bytes */
} passing;

static leat_status pass_row(passing *p, const uint8_t *row, int64_t y, leat_error *err) {
    if (y < p->y || y >= p->y + p->height)
        return LEAT_OK;
    return leati_resize_push(&p->resize, row + (size_t)p->x * p->pixel, (int32_t)(y - p->y), err);
}

static leat_status pass_rows(void *context, const uint8_t *pixels, size_t stride, int32_t y,
                             int32_t count, leat_error *err) {
    leat_status status = LEAT_OK;
    for (int32_t i = 0; i < count && status == LEAT_OK; i++)
        status = pass_row(context, pixels + (size_t)i * stride, y + i, err);
    return status;
}

static leat_status check_window(const leati_stream_window *w, int64_t height, int64_t width,
                                leat_error *err) {
    if (w->y >= 0 && w->x >= 0 && w->height > 0 && w->width > 0 && w->height <= height &&
        w->width <= width && w->y <= height - w->height && w->x <= width - w->width)
        return LEAT_OK;
    return leati_fail(err, LEAT_INVALID_ARGUMENT,
                      "the window of %lld x %lld pixels from (%lld, %lld) on leaves the picture of "
                      "%lld x %lld; expected one inside",
                      (long long)w->height, (long long)w->width, (long long)w->y, (long long)w->x,
                      (long long)height, (long long)width);
}

static leat_status prepare(const leati_stream *s, leati_resize_plan *plan,
                           const leati_stream_window *window, leat_error *err) {
    *plan = leati_resize_plan_take((int32_t)window->height, (int32_t)window->width);
    leat_status status =
        leati_resize_prepare(plan, (int32_t)window->height, (int32_t)window->width, s->height,
                             s->width, s->channels, s->method, s->antialias, err);
    if (status == LEAT_OK)
        leati_resize_mirror(plan, s->mirrored);
    return status;
}

/* Resizes the window of a picture that lies in memory. */
static leat_status resize_whole(const leati_stream *s, const void *pixels, leat_dtype dtype,
                                int64_t width, const leati_stream_window *window,
                                const leati_resize_sink *sink, leat_error *err) {
    leati_resize_plan plan;
    leat_status status = prepare(s, &plan, window, err);
    size_t pixel = (size_t)s->channels * leat_dtype_size(dtype), stride = (size_t)width * pixel;
    const char *from = (const char *)pixels + (size_t)window->y * stride;
    from += (size_t)window->x * pixel;
    if (status == LEAT_OK && dtype == LEAT_UINT8)
        status = leati_resize_u8_to(&plan, (const uint8_t *)from, stride, sink, err);
    else if (status == LEAT_OK)
        status = leati_resize_f32_to(&plan, (const float *)(const void *)from, stride, sink, err);
    leati_resize_plan_give(&plan);
    return status;
}

static leat_status decode_whole(const leati_stream *s, leati_image_decoder *decoder,
                                const leati_image_info *info, const leati_stream_window *window,
                                const leati_resize_sink *sink, leat_error *err) {
    size_t stride = (size_t)info->width * (size_t)info->channels;
    size_t bytes = stride * (size_t)info->height;
    void *pixels = leati_arena_alloc(s->arena, bytes);
    if (pixels == NULL)
        return leati_no_memory(err, bytes);
    LEATI_TRY(leati_image_read(decoder, pixels, stride, err));
    return resize_whole(s, pixels, LEAT_UINT8, info->width, window, sink, err);
}

static leat_status decode_rows(const leati_stream *s, leati_image_decoder *decoder,
                               const leati_stream_window *window, const leati_resize_sink *sink,
                               leat_error *err) {
    leati_resize_plan plan;
    passing p = {
        .y = window->y, .x = window->x, .height = window->height, .pixel = (size_t)s->channels};
    leat_status status = prepare(s, &plan, window, err);
    if (status == LEAT_OK) {
        leati_resize_begin(&p.resize, &plan, sink);
        status =
            leati_image_pass(decoder, &(leati_image_sink){.rows = pass_rows, .context = &p}, err);
    }
    leati_resize_plan_give(&plan);
    return status;
}

/* Reads the header. A JPEG's window becomes the decoder's, if it lies inside the picture. */
static leat_status begin(const leati_stream *s, leati_image_decoder *decoder,
                         leati_image_info *info, leati_stream_window *window, leat_error *err) {
    leati_decode_options options = s->options;
    const leati_codec *codec =
        leati_codec_find((const uint8_t *)s->contents->data, s->contents->size);
    bool jpeg = codec != NULL && strcmp(codec->name, "jpeg") == 0;
    leat_shape shape;
    bool inner = jpeg && s->window != NULL && !options.crop && s->window->y >= 0 &&
                 s->window->x >= 0 && s->window->height <= INT32_MAX &&
                 s->window->width <= INT32_MAX && s->window->y <= INT32_MAX &&
                 s->window->x <= INT32_MAX && !options.try_recover_truncated &&
                 options.acceptable_fraction >= 1;
    if (inner) {
        options.crop = options.true_neighbours = true;
        options.crop_y = (int32_t)s->window->y;
        options.crop_x = (int32_t)s->window->x;
        options.crop_height = (int32_t)s->window->height;
        options.crop_width = (int32_t)s->window->width;
    }
    LEATI_TRY(
        leati_picture_begin(decoder, s->contents, s->op, &options, LEAT_UINT8, info, &shape, err));
    if (info->channels != s->channels || shape.rank != 3)
        return leati_fail(err, LEAT_INTERNAL, "the picture has %d channels; %d were promised",
                          (int)info->channels, (int)s->channels);
    *window = (leati_stream_window){.height = info->height, .width = info->width};
    if (inner || s->window == NULL)
        return LEAT_OK;
    LEATI_TRY(check_window(s->window, info->height, info->width, err));
    *window = *s->window;
    return LEAT_OK;
}

leat_status leati_stream_run(const leati_stream *s, const leati_resize_sink *sink,
                             leat_error *err) {
    leati_stream_window window = {.height = s->pixel_height, .width = s->pixel_width};
    if (s->contents == NULL) {
        if (s->window != NULL) {
            LEATI_TRY(check_window(s->window, s->pixel_height, s->pixel_width, err));
            window = *s->window;
        }
        return resize_whole(s, s->pixels, s->dtype, s->pixel_width, &window, sink, err);
    }
    leati_image_decoder *decoder = leati_image_decoder_take(err);
    leati_image_info info = {0};
    if (decoder == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    leat_status status = begin(s, decoder, &info, &window, err);
    bool streams = leati_resize_streams(s->method, s->antialias);
    if (status == LEAT_OK && streams && leati_image_passes(decoder))
        status = decode_rows(s, decoder, &window, sink, err);
    else if (status == LEAT_OK)
        status = decode_whole(s, decoder, &info, &window, sink, err);
    if (status == LEAT_OK && s->recovered != NULL)
        *s->recovered += leati_image_recovered(decoder);
    leati_image_decoder_give(decoder);
    return status;
}
