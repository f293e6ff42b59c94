/* From a picture's bytes to the rows of a resized one; see stream.h.
 *
 * Happy path: the header tells the size, and so the window, which goes to the decoder of a JPEG;
 * that skips what is outside. Each decoded line that a result reads is computed with and blended
 * into the rows that need it while it is in the cache. Other formats, and methods that look at many
 * rows, have the decoded picture in the arena first. Failures: those of decoding, cropping and
 * resizing, and what the callbacks say. */
#include "graph/support/picture/stream.h"

#include <string.h>

/* Balanced pictures are decoded at least so much larger than the result. Decoded 1/2, 1/4 and 1/8
 * as large the recorded pictures then keep 40 dB against exact, and the worst of 40 photographs 42;
 * at 2.5 the smallest of the former, at 2 some of the latter do not. */
#define BALANCED_MARGIN 3.0

/* A picture whose header was read, or that lies in memory, and the part of it that is resized. */
typedef struct source {
    const leati_picture_stream *stream;
    const leati_resize_sink *sink;
    leati_window window;    /* in pixels that come, or lie in memory */
    leati_resize_view view; /* the same in pixels of the window */
    leat_dtype dtype;
    int64_t width; /* of a line in memory */
} source;

static size_t line_bytes(const leati_window *window, int32_t channels, leat_dtype dtype) {
    return (size_t)window->width * (size_t)channels * leat_dtype_size(dtype);
}

static leat_status check_window(const leati_window *w, int64_t height, int64_t width,
                                leat_error *err) {
    if (w->top >= 0 && w->left >= 0 && w->height > 0 && w->width > 0 && w->height <= height &&
        w->width <= width && w->top <= height - w->height && w->left <= width - w->width)
        return LEAT_OK;
    return leati_refuse(
        err, VALUE,
        "the window of %lld x %lld pixels from (%lld, %lld) on leaves the picture of "
        "%lld x %lld; expected one inside",
        (long long)w->height, (long long)w->width, (long long)w->top, (long long)w->left,
        (long long)height, (long long)width);
}

static leat_status find_window(const leati_picture_stream *s, int64_t height, int64_t width,
                               leati_window *out, leat_error *err) {
    *out = (leati_window){.height = height, .width = width};
    if (s->window == NULL)
        return LEAT_OK;
    LEATI_TRY(s->window(s->context, out, err));
    return check_window(out, height, width, err);
}

static leat_status prepare(const source *from, leati_resize_plan *plan, leat_error *err) {
    const leati_picture_stream *s = from->stream;
    int32_t height = (int32_t)from->window.height, width = (int32_t)from->window.width;
    *plan = leati_resize_plan_take(height, width);
    leat_status status =
        leati_resize_prepare_view(plan, height, width, s->height, s->width, s->channels, s->method,
                                  s->antialias, &from->view, err);
    if (status == LEAT_OK)
        leati_resize_mirror(plan, s->mirrored);
    return status;
}

/* ---- line by line ---- */

/* Where lines go. */
typedef struct passing {
    const source *from;
    leati_resize_stream resize;
    void *line;   /* room for a computed one */
    size_t pixel; /* bytes */
} passing;

/* Line y of the picture. */
static leat_status pass_line(passing *p, const char *line, int64_t y, leat_error *err) {
    const leati_window *window = &p->from->window;
    const leati_picture_stream *s = p->from->stream;
    int32_t row = (int32_t)(y - window->top);
    if (y < window->top || row >= window->height || !leati_resize_wants(&p->resize, row))
        return LEAT_OK;
    const void *pixels = line + (size_t)window->left * p->pixel;
    leat_dtype dtype = p->from->dtype;
    if (s->convert != NULL) {
        LEATI_TRY(s->convert(s->context, pixels, p->line, err));
        pixels = p->line;
        dtype = s->converted;
    }
    return dtype == LEAT_UINT8 ? leati_resize_push(&p->resize, pixels, row, err)
                               : leati_resize_push_f32(&p->resize, pixels, row, err);
}

static leat_status pass_rows(void *context, const uint8_t *pixels, size_t stride, int32_t y,
                             int32_t count, leat_error *err) {
    leat_status status = LEAT_OK;
    for (int32_t i = 0; i < count && status == LEAT_OK; i++)
        status = pass_line(context, (const char *)pixels + (size_t)i * stride, y + i, err);
    return status;
}

/* Room for a computed line, and the start of resizing. */
static leat_status begin_passing(passing *p, leati_resize_plan *plan, leat_error *err) {
    const leati_picture_stream *s = p->from->stream;
    p->pixel = (size_t)s->channels * leat_dtype_size(p->from->dtype);
    if (s->convert != NULL) {
        size_t bytes = line_bytes(&p->from->window, s->channels, s->converted);
        p->line = leati_arena_alloc(s->arena, bytes);
        if (p->line == NULL)
            return leati_no_memory(err);
    }
    leati_resize_begin(&p->resize, plan, p->from->sink);
    return LEAT_OK;
}

static leat_status decode_rows(const source *from, leati_image_decoder *decoder, leat_error *err) {
    leati_resize_plan plan;
    passing p = {.from = from};
    leat_status status = prepare(from, &plan, err);
    if (status == LEAT_OK)
        status = begin_passing(&p, &plan, err);
    if (status == LEAT_OK)
        status =
            leati_image_pass(decoder, &(leati_image_sink){.rows = pass_rows, .context = &p}, err);
    leati_resize_plan_give(&plan);
    return status;
}

/* ---- whole pictures ---- */

/* Computes all lines of the part into the arena. */
static leat_status convert_whole(const source *from, const char *pixels, size_t stride, void **out,
                                 leat_error *err) {
    const leati_picture_stream *s = from->stream;
    size_t line = line_bytes(&from->window, s->channels, s->converted);
    size_t bytes = (size_t)from->window.height * line;
    char *all = leati_arena_alloc(s->arena, bytes);
    if (all == NULL)
        return leati_no_memory(err);
    for (int64_t y = 0; y < from->window.height; y++)
        LEATI_TRY(s->convert(s->context, pixels + (size_t)y * stride, all + (size_t)y * line, err));
    *out = all;
    return LEAT_OK;
}

static leat_status resize_sums(const source *from, leati_resize_plan *plan, const char *pixels,
                               size_t stride, leat_error *err) {
    const leati_picture_stream *s = from->stream;
    leat_dtype dtype = from->dtype;
    const void *part = pixels + (size_t)from->window.top * stride +
                       (size_t)from->window.left * (size_t)s->channels * leat_dtype_size(dtype);
    if (s->convert != NULL) {
        void *computed = NULL;
        LEATI_TRY(convert_whole(from, part, stride, &computed, err));
        part = computed;
        dtype = s->converted;
        stride = line_bytes(&from->window, s->channels, dtype);
    }
    return dtype == LEAT_UINT8 ? leati_resize_u8_to(plan, part, stride, from->sink, err)
                               : leati_resize_f32_to(plan, part, stride, from->sink, err);
}

/* Resizes the window of a picture that lies in memory. */
static leat_status resize_whole(const source *from, const char *pixels, leat_error *err) {
    const leati_picture_stream *s = from->stream;
    leati_resize_plan plan;
    passing p = {.from = from};
    size_t stride = (size_t)from->width * (size_t)s->channels * leat_dtype_size(from->dtype);
    leat_status status = prepare(from, &plan, err);
    if (status == LEAT_OK && leati_resize_streams(s->method, s->antialias)) {
        status = begin_passing(&p, &plan, err);
        int64_t end = from->window.top + from->window.height;
        for (int64_t y = from->window.top; y < end && status == LEAT_OK; y++)
            status = pass_line(&p, pixels + (size_t)y * stride, y, err);
    } else if (status == LEAT_OK) {
        status = resize_sums(from, &plan, pixels, stride, err);
    }
    leati_resize_plan_give(&plan);
    return status;
}

static leat_status decode_whole(source *from, leati_image_decoder *decoder,
                                const leati_image_info *info, leat_error *err) {
    size_t stride = (size_t)info->width * (size_t)info->channels;
    size_t bytes = stride * (size_t)info->height;
    void *pixels = leati_arena_alloc(from->stream->arena, bytes);
    if (pixels == NULL)
        return leati_no_memory(err);
    from->width = info->width;
    LEATI_TRY(leati_image_read(decoder, pixels, stride, err));
    return resize_whole(from, pixels, err);
}

/* ---- what to decode ---- */

/* By how much a JPEG may be shrunk while it is decoded, for a result of part `w`. A method that
 * looks at two neighbours gives something else of a smaller picture (30 dB), and area nearly so. */
static int32_t shrinking(const leati_picture_stream *s, const leati_window *w) {
    bool balanced = s->quality == LEATI_PICTURE_BALANCED;
    double margin = balanced ? BALANCED_MARGIN : 1;
    if (s->quality == LEATI_PICTURE_EXACT ||
        (balanced && (!s->antialias || s->method == LEATI_RESIZE_AREA)))
        return 1;
    for (int32_t ratio = 8; ratio > 1; ratio /= 2)
        if ((double)w->height >= margin * ratio * s->height &&
            (double)w->width >= margin * ratio * s->width)
            return ratio;
    return 1;
}

/* The pixels of a picture shrunk by `ratio` that the part touches. */
static leati_window shrunk(const leati_window *w, int64_t ratio) {
    int64_t top = w->top / ratio, left = w->left / ratio;
    int64_t bottom = (w->top + w->height + ratio - 1) / ratio;
    int64_t right = (w->left + w->width + ratio - 1) / ratio;
    return (leati_window){.top = top, .left = left, .height = bottom - top, .width = right - left};
}

/* Tells the decoder of a JPEG the window, and by how much it may shrink the picture. */
static leat_status adjust(source *from, leati_image_decoder *decoder, leati_image_info *info,
                          leat_error *err) {
    const leati_picture_stream *s = from->stream;
    leati_decode_options options = s->options;
    leati_window *w = &from->window;
    bool whole = !s->options.crop && w->height == info->height && w->width == info->width;
    int32_t ratio = s->options.ratio == 1 ? shrinking(s, w) : 1;
    if (s->quality == LEATI_PICTURE_FAST) {
        options.dct = LEATI_DCT_FAST;
        options.fancy_upscaling = false;
    }
    if (whole && ratio == 1 && s->quality != LEATI_PICTURE_FAST)
        return LEAT_OK;
    if (s->options.crop) {
        w->top += s->options.crop_y;
        w->left += s->options.crop_x;
    }
    const leati_window wanted = *w;
    *w = shrunk(w, ratio);
    from->view = (leati_resize_view){.y = (float)(wanted.top - w->top * ratio) / (float)ratio,
                                     .x = (float)(wanted.left - w->left * ratio) / (float)ratio,
                                     .height = (float)wanted.height / (float)ratio,
                                     .width = (float)wanted.width / (float)ratio};
    options.ratio *= ratio;
    options.crop = !whole;
    options.true_neighbours = true;
    options.crop_y = (int32_t)w->top;
    options.crop_x = (int32_t)w->left;
    options.crop_height = (int32_t)w->height;
    options.crop_width = (int32_t)w->width;
    w->top = w->left = 0;
    return leati_image_adjust(decoder, &options, info, err);
}

static leat_status begin(source *from, leati_image_decoder *decoder, leati_image_info *info,
                         leat_error *err) {
    const leati_picture_stream *s = from->stream;
    leat_shape shape;
    LEATI_TRY(leati_picture_begin(decoder, s->contents, s->op, &s->options, LEAT_UINT8, info,
                                  &shape, err));
    if (info->channels != s->channels || shape.rank != 3)
        return leati_fail(err, LEAT_INTERNAL, "the picture has %d channels; %d were promised",
                          (int)info->channels, (int)s->channels);
    LEATI_TRY(find_window(s, info->height, info->width, &from->window, err));
    from->view = (leati_resize_view){.height = (float)from->window.height,
                                     .width = (float)from->window.width};
    bool exact_crop = s->options.crop && s->quality == LEATI_PICTURE_EXACT;
    bool free_to_choose = !exact_crop && !s->options.try_recover_truncated &&
                          s->options.acceptable_fraction >= 1 && leati_image_adjusts(decoder);
    return free_to_choose ? adjust(from, decoder, info, err) : LEAT_OK;
}

static leat_status run_pixels(const leati_picture_stream *s, const leati_resize_sink *sink,
                              leat_error *err) {
    source from = {.stream = s, .sink = sink, .dtype = s->dtype, .width = s->pixel_width};
    LEATI_TRY(find_window(s, s->pixel_height, s->pixel_width, &from.window, err));
    from.view =
        (leati_resize_view){.height = (float)from.window.height, .width = (float)from.window.width};
    return resize_whole(&from, s->pixels, err);
}

leat_status leati_stream_run(const leati_picture_stream *s, const leati_resize_sink *sink,
                             leat_error *err) {
    if (s->contents == NULL)
        return run_pixels(s, sink, err);
    source from = {.stream = s, .sink = sink, .dtype = LEAT_UINT8};
    leati_image_decoder *decoder = leati_image_decoder_take(err);
    leati_image_info info = {0};
    if (decoder == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    leat_status status = begin(&from, decoder, &info, err);
    bool streams = leati_resize_streams(s->method, s->antialias);
    if (status == LEAT_OK && streams && leati_image_passes(decoder))
        status = decode_rows(&from, decoder, err);
    else if (status == LEAT_OK)
        status = decode_whole(&from, decoder, &info, err);
    if (status == LEAT_OK && s->recovered != NULL)
        *s->recovered += leati_image_recovered(decoder);
    leati_image_decoder_give(decoder);
    return status;
}
