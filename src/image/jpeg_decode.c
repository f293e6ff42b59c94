/* The codec "jpeg": libjpeg-turbo, driven so that every pixel and every refusal is that of
 * tf.image.decode_jpeg.
 *
 * Happy path: begin reads the header (rows come from the caller's memory, no copy), sets the output
 * colours, sizes and the inverse transform, and stops; read starts the decompressor and takes rows
 * until the picture is whole, then looks for the end marker. The libjpeg object and its memory are
 * kept for the next picture; its tables are forgotten, so that no picture depends on the one
 * before.
 *
 * Truncation: at the end of the data our source does what TensorFlow's does. It suspends, so that
 * rows whose bits are missing are never delivered; or it fails, if libjpeg had used up every byte.
 * After a suspension the picture fails, or, where acceptable_fraction allows it, the missing rows
 * turn black. With try_recover_truncated libjpeg gets the bytes since its last stop again, which
 * fills the unfinished block with noise, and then an invented end marker, after which it fills with
 * grey. A picture that lacks its end marker alone fails too. Warnings of libjpeg (a damaged scan of
 * full length) are no failure.
 *
 * Every libjpeg call runs inside `guarded`; a failure jumps there. No locks. */
#include "image/codec.h"

#include "base/error.h"
#include "base/minmax.h"
#include "base/stop.h"
#include "image/jpeg_guard.h"
#include <inttypes.h>
#include <string.h>

/* More scans than any encoder writes; small files can hold thousands, each as slow as a picture. So
 * a picture may have 500, a large one fewer: as many as make so many pixels. */
#define MAX_SCANS 500
#define MAX_SCANNED (UINT64_C(1) << 32)
#define ROWS_AT_ONCE 8
/* Colours of pictures that are narrower than this may be repeated instead of interpolated. */
#define LEAST_WIDTH 32
/* Lines for a sink do not begin at a vector's border: to such lines libjpeg-turbo writes past the
 * caches, from where the sink reads. */
#define OFF 16
/* How often libjpeg may get the same last bytes again; a block of pixels needs far fewer, but a
 * lone 0xFF would be asked for without end. */
#define MAX_REREADS 10000

struct decoder {
    leati_jpeg_guard guard;
    struct jpeg_decompress_struct jpeg;
    struct jpeg_source_mgr source;
    struct jpeg_progress_mgr progress;
    const uint8_t *data; /* borrowed, of the current picture */
    size_t size;
    leati_decode_options options;
    int channels; /* of the result */
    leati_image_info info;
    leati_image_info *out_info;   /* while begin runs */
    uint8_t *pixels;              /* while read runs; else NULL */
    const leati_image_sink *sink; /* while pass runs; else NULL */
    int64_t work;                 /* since the last look at whether to stop */
    uint8_t *lines;               /* while pass runs: ROWS_AT_ONCE of them */
    size_t stride;                /* of pixels or lines */
    bool settled;                 /* nothing that is still unread can fail */
    uint32_t rows_done;   /* rows that were delivered; kept here, since a jump loses locals */
    bool ended;           /* the error was that every byte is used up */
    bool recovered;       /* something that was missing was filled */
    const JOCTET *reread; /* where libjpeg was told to read once more */
    uint32_t rereads;     /* how often in a row */
};

static struct decoder *decoder_of(j_decompress_ptr jpeg) {
    return jpeg->client_data;
}

/* ---- the data source ---- */

static void init_source(j_decompress_ptr jpeg) {
    struct decoder *decoder = decoder_of(jpeg);
    decoder->source.next_input_byte = decoder->data;
    decoder->source.bytes_in_buffer = decoder->size;
}

static void invent_end(struct decoder *decoder) {
    static const JOCTET end_marker[2] = {0xFF, JPEG_EOI};
    decoder->recovered = true;
    decoder->source.next_input_byte = end_marker;
    decoder->source.bytes_in_buffer = sizeof end_marker;
}

static boolean fill_source(j_decompress_ptr jpeg) {
    struct decoder *decoder = decoder_of(jpeg);
    bool recover = decoder->options.try_recover_truncated;
    /* What libjpeg read since its last stop still counts as unread. */
    if (decoder->source.bytes_in_buffer > 0) {
        bool again = decoder->reread == decoder->source.next_input_byte;
        decoder->rereads = again ? decoder->rereads + 1 : 0;
        decoder->reread = decoder->source.next_input_byte;
        if (recover && decoder->rereads == MAX_REREADS)
            invent_end(decoder);
        return recover;
    }
    if (!recover) {
        decoder->ended = true;
        longjmp(decoder->guard.jump, 1);
    }
    invent_end(decoder);
    return TRUE;
}

static void skip_source(j_decompress_ptr jpeg, long count) {
    struct decoder *decoder = decoder_of(jpeg);
    if (count <= 0)
        return;
    if ((size_t)count > decoder->source.bytes_in_buffer) {
        decoder->source.bytes_in_buffer = 0;
        (void)fill_source(jpeg);
        return;
    }
    decoder->source.next_input_byte += count;
    decoder->source.bytes_in_buffer -= (size_t)count;
}

static void term_source(j_decompress_ptr jpeg) {
    (void)jpeg;
}

static void watch_scans(j_common_ptr common) {
    j_decompress_ptr jpeg = (j_decompress_ptr)(void *)common;
    uint64_t pixels = (uint64_t)jpeg->image_width * jpeg->image_height;
    uint64_t scans = jpeg->input_scan_number < 0 ? 0 : (uint64_t)jpeg->input_scan_number;
    if (scans > MAX_SCANS)
        leati_jpeg_guard_refuse(common, "more than 500 scans; encode the picture again");
    if (scans > 16 && scans * pixels > MAX_SCANNED)
        leati_jpeg_guard_refuse(common,
                                "more scans than a picture of its size may have; encode the "
                                "picture again");
}

/* ---- life ---- */

static j_common_ptr common(struct decoder *decoder) {
    return (j_common_ptr)(void *)&decoder->jpeg;
}

/* Forgets the current picture. The tables lie in memory that is about to be reset, and so do parts
 * that not every picture has: jpeg_skip_scanlines looks at the converter of colours, which merged
 * upsampling has none of. */
static void forget(struct decoder *decoder) {
    struct jpeg_decompress_struct *jpeg = &decoder->jpeg;
    jpeg_abort_decompress(jpeg);
    memset((void *)jpeg->quant_tbl_ptrs, 0, sizeof jpeg->quant_tbl_ptrs);
    memset((void *)jpeg->dc_huff_tbl_ptrs, 0, sizeof jpeg->dc_huff_tbl_ptrs);
    memset((void *)jpeg->ac_huff_tbl_ptrs, 0, sizeof jpeg->ac_huff_tbl_ptrs);
    jpeg->coef_bits = NULL;
    jpeg->comp_info = NULL;
    jpeg->cconvert = NULL;
    jpeg->cquantize = NULL;
    leati_jpeg_guard_reset(&decoder->guard);
    decoder->data = NULL;
    decoder->size = 0;
    decoder->pixels = NULL;
    decoder->sink = NULL;
}

static leat_status fail_truncated(const struct decoder *decoder, leat_error *err) {
    if (decoder->pixels == NULL && decoder->sink == NULL)
        return leati_refuse(err, VALUE,
                            "truncated JPEG: the data end inside the header, after %zu bytes; read "
                            "the file again",
                            decoder->size);
    return leati_refuse(err, VALUE,
                        "truncated JPEG: expected %" PRId32
                        " rows and an end marker, found %" PRIu32
                        " rows in %zu bytes; read the file again, or set try_recover_truncated",
                        decoder->info.height, decoder->rows_done, decoder->size);
}

/* Runs one step of decoding; an error inside libjpeg comes back as a status. */
static leat_status guarded(struct decoder *decoder,
                           leat_status (*step)(struct decoder *, leat_error *), leat_error *err) {
    decoder->ended = false;
    decoder->reread = NULL;
    if (setjmp(decoder->guard.jump) == 0)
        return step(decoder, err);
    if (decoder->ended)
        return fail_truncated(decoder, err);
    return leati_jpeg_guard_failure(&decoder->guard, common(decoder), "damaged JPEG",
                                    "read the file again", err);
}

static leat_status create(struct decoder *decoder, leat_error *err) {
    (void)err;
    jpeg_create_decompress(&decoder->jpeg);
    return LEAT_OK;
}

static void *state_new(leat_error *err) {
    struct decoder *decoder = leati_alloc_zero(1, sizeof *decoder);
    if (decoder == NULL) {
        (void)leati_no_memory(err);
        return NULL;
    }
    decoder->jpeg.err = leati_jpeg_guard_init(&decoder->guard);
    if (guarded(decoder, create, err) != LEAT_OK) {
        jpeg_destroy_decompress(&decoder->jpeg);
        leati_free(decoder);
        return NULL;
    }
    leati_jpeg_guard_adopt(&decoder->guard, common(decoder));
    decoder->source = (struct jpeg_source_mgr){.init_source = init_source,
                                               .fill_input_buffer = fill_source,
                                               .skip_input_data = skip_source,
                                               .resync_to_restart = jpeg_resync_to_restart,
                                               .term_source = term_source};
    decoder->progress.progress_monitor = watch_scans;
    decoder->jpeg.src = &decoder->source;
    decoder->jpeg.progress = &decoder->progress;
    decoder->jpeg.client_data = decoder;
    return decoder;
}

static void state_free(void *state) {
    struct decoder *decoder = state;
    jpeg_destroy_decompress(&decoder->jpeg);
    leati_jpeg_guard_fini(&decoder->guard);
    leati_free(decoder);
}

/* ---- begin ---- */

static leat_status check_options(const leati_decode_options *options, leat_error *err) {
    int32_t ratio = options->ratio;
    if (ratio != 1 && ratio != 2 && ratio != 4 && ratio != 8)
        return leati_refuse(err, VALUE, "ratio is %" PRId32 "; expected 1, 2, 4 or 8", ratio);
    if (options->channels == 4)
        return leati_refuse(err, VALUE,
                            "JPEG does not have 4 channels: expected channels 0, 1 or 3, found 4; "
                            "add the alpha channel afterwards");
    if (options->bits != 8)
        return leati_refuse(err, VALUE,
                            "JPEG samples have 8 bits: expected bits 8, found %" PRId32
                            "; convert afterwards",
                            options->bits);
    if (options->dct != LEATI_DCT_FAST && options->dct != LEATI_DCT_ACCURATE)
        return leati_refuse(err, VALUE, "dct is %d; expected INTEGER_FAST or INTEGER_ACCURATE",
                            (int)options->dct);
    return LEAT_OK;
}

static bool is_cmyk(const struct jpeg_decompress_struct *jpeg) {
    return jpeg->jpeg_color_space == JCS_CMYK || jpeg->jpeg_color_space == JCS_YCCK;
}

/* Chooses the colours that libjpeg gives; CMYK is turned into RGB here, row by row. */
static leat_status choose_colours(struct decoder *decoder, int *out_channels, leat_error *err) {
    struct jpeg_decompress_struct *jpeg = &decoder->jpeg;
    int channels = decoder->options.channels;
    if (channels == 0)
        channels = LEATI_MIN(jpeg->num_components, 3);
    if (channels != 1 && channels != 3)
        return leati_refuse(err, VALUE,
                            "JPEG of %d components: expected 1, 3 or 4; ask for channels 1 or 3",
                            jpeg->num_components);
    if (channels == 1 && is_cmyk(jpeg))
        return leati_refuse(
            err, VALUE,
            "JPEG in CMYK colours: expected channels 0 or 3, found 1; decode to RGB "
            "and convert");
    if (channels == 1)
        jpeg->out_color_space = JCS_GRAYSCALE;
    else
        jpeg->out_color_space = is_cmyk(jpeg) ? JCS_CMYK : JCS_RGB;
    *out_channels = channels;
    return LEAT_OK;
}

/* The window's size becomes the result's. */
static leat_status take_window(struct decoder *decoder, leat_error *err) {
    const leati_decode_options *options = &decoder->options;
    leati_image_info *info = &decoder->info;
    if (options->crop_y < 0 || options->crop_x < 0 || options->crop_height < 1 ||
        options->crop_width < 1 || options->crop_height > info->height - options->crop_y ||
        options->crop_width > info->width - options->crop_x)
        return leati_refuse(err, VALUE,
                            "JPEG of %" PRId32 " x %" PRId32
                            ": expected a crop window inside, found "
                            "y %" PRId32 ", x %" PRId32 ", height %" PRId32 ", width %" PRId32,
                            info->height, info->width, options->crop_y, options->crop_x,
                            options->crop_height, options->crop_width);
    info->height = options->crop_height;
    info->width = options->crop_width;
    return LEAT_OK;
}

/* What follows from options and header. */
static leat_status settle_step(struct decoder *decoder, leat_error *err) {
    struct jpeg_decompress_struct *jpeg = &decoder->jpeg;
    const leati_decode_options *options = &decoder->options;
    jpeg->do_fancy_upsampling = options->fancy_upscaling;
    jpeg->dct_method = options->dct == LEATI_DCT_ACCURATE ? JDCT_ISLOW : JDCT_IFAST;
    jpeg->scale_num = 1;
    jpeg->scale_denom = (unsigned)options->ratio;
    jpeg_calc_output_dimensions(jpeg);
    decoder->info = (leati_image_info){.format = "JPEG",
                                       .height = (int32_t)jpeg->output_height,
                                       .width = (int32_t)jpeg->output_width,
                                       .frames = 1,
                                       .channels = decoder->channels,
                                       .bits = 8,
                                       .stored_channels = jpeg->num_components,
                                       .stored_bits = jpeg->data_precision};
    return options->crop ? take_window(decoder, err) : LEAT_OK;
}

static leat_status begin_step(struct decoder *decoder, leat_error *err) {
    struct jpeg_decompress_struct *jpeg = &decoder->jpeg;
    if (jpeg_read_header(jpeg, TRUE) != JPEG_HEADER_OK)
        return fail_truncated(decoder, err);
    LEATI_TRY(choose_colours(decoder, &decoder->channels, err));
    LEATI_TRY(leati_image_check_pixels("JPEG", jpeg->image_height, jpeg->image_width,
                                       decoder->options.max_pixels, err));
    return settle_step(decoder, err);
}

static leat_status begin(void *state, const uint8_t *data, size_t size,
                         const leati_decode_options *options, leati_image_info *out_info,
                         leat_error *err) {
    struct decoder *decoder = state;
    forget(decoder);
    leat_status status = check_options(options, err);
    if (status != LEAT_OK)
        return status;
    decoder->data = data;
    decoder->size = size;
    decoder->recovered = false;
    decoder->options = *options;
    status = guarded(decoder, begin_step, err);
    if (status != LEAT_OK)
        forget(decoder);
    else
        *out_info = decoder->info;
    return status;
}

static leat_status adjust(void *state, const leati_decode_options *options,
                          leati_image_info *out_info, leat_error *err) {
    struct decoder *decoder = state;
    leati_decode_options *own = &decoder->options;
    leat_status status = check_options(options, err);
    own->ratio = options->ratio;
    own->dct = options->dct;
    own->fancy_upscaling = options->fancy_upscaling;
    own->crop = options->crop;
    own->true_neighbours = options->true_neighbours;
    own->crop_y = options->crop_y;
    own->crop_x = options->crop_x;
    own->crop_height = options->crop_height;
    own->crop_width = options->crop_width;
    if (status == LEAT_OK)
        status = guarded(decoder, settle_step, err);
    if (status != LEAT_OK)
        forget(decoder);
    else
        *out_info = decoder->info;
    return status;
}

/* ---- read ---- */

/* CMYK of Adobe's programs is stored inverted; the products are TensorFlow's. */
static void cmyk_to_rgb(const uint8_t *in, uint8_t *out, uint32_t width, bool inverted) {
    for (uint32_t x = 0; x < width; x++) {
        unsigned k = inverted ? in[4 * x + 3] : 255U - in[4 * x + 3];
        for (uint32_t c = 0; c < 3; c++) {
            unsigned ink = inverted ? in[4 * x + c] : 255U - in[4 * x + c];
            out[3 * x + c] = (uint8_t)(k * ink / 255);
        }
    }
}

/* ---- rows ---- */

/* Whose rows libjpeg writes next: the caller's, or lines of ours that go to the sink. */
static JSAMPROW row_memory(struct decoder *decoder, uint32_t y) {
    if (decoder->sink == NULL)
        return decoder->pixels + y * decoder->stride;
    return decoder->lines + y % ROWS_AT_ONCE * decoder->stride;
}

/* Counts rows that stand at `rows` (for a sink) or where the caller wants them. */
static leat_status deliver(struct decoder *decoder, const uint8_t *rows, uint32_t count,
                           leat_error *err) {
    uint32_t y = decoder->rows_done;
    decoder->rows_done += count;
    if (leati_stop_look_after((int64_t)count * decoder->info.width * 8, &decoder->work))
        return leati_stop_check(err);
    if (decoder->sink == NULL)
        return LEAT_OK;
    return decoder->sink->rows(decoder->sink->context, rows, decoder->stride, (int32_t)y,
                               (int32_t)count, err);
}

/* Takes rows until the picture is whole or the data end. */
static leat_status read_rows(struct decoder *decoder, leat_error *err) {
    struct jpeg_decompress_struct *jpeg = &decoder->jpeg;
    leat_status status = LEAT_OK;
    while (decoder->rows_done < jpeg->output_height && status == LEAT_OK) {
        JSAMPROW rows[ROWS_AT_ONCE];
        JDIMENSION count = jpeg->output_height - decoder->rows_done;
        JDIMENSION room = ROWS_AT_ONCE - decoder->rows_done % ROWS_AT_ONCE;
        count = LEATI_MIN(count, room);
        for (JDIMENSION i = 0; i < count; i++)
            rows[i] = row_memory(decoder, decoder->rows_done + i);
        JDIMENSION done = jpeg_read_scanlines(jpeg, rows, count);
        if (done == 0)
            return LEAT_OK;
        status = deliver(decoder, rows[0], done, err);
    }
    return status;
}

static leat_status read_cmyk_rows(struct decoder *decoder, leat_error *err) {
    struct jpeg_decompress_struct *jpeg = &decoder->jpeg;
    JSAMPROW line = leati_jpeg_guard_take(common(decoder), (size_t)jpeg->output_width * 4);
    leat_status status = LEAT_OK;
    while (decoder->rows_done < jpeg->output_height && status == LEAT_OK) {
        if (jpeg_read_scanlines(jpeg, &line, 1) == 0)
            return LEAT_OK;
        uint8_t *to = row_memory(decoder, decoder->rows_done);
        cmyk_to_rgb(line, to, jpeg->output_width, jpeg->saw_Adobe_marker);
        status = deliver(decoder, to, 1, err);
    }
    return status;
}

/* ---- windows ---- */

/* Will reading on to the end succeed, whatever the pixels? So it is if the next marker is the end
 * of the picture: a scan that is cut short there is filled up. Restart markers belong to a scan. */
static bool ends_well(const struct decoder *decoder) {
    const struct jpeg_decompress_struct *jpeg = &decoder->jpeg;
    if (jpeg_input_complete((j_decompress_ptr)(uintptr_t)jpeg))
        return true;
    if (jpeg->unread_marker != 0)
        return jpeg->unread_marker == JPEG_EOI;
    const JOCTET *at = decoder->source.next_input_byte;
    const JOCTET *end = at + decoder->source.bytes_in_buffer;
    while ((at = memchr(at, 0xFF, (size_t)(end - at))) != NULL) {
        while (at < end && *at == 0xFF)
            at++;
        if (at == end)
            return false;
        if (*at != 0 && (*at < JPEG_RST0 || *at > JPEG_RST0 + 7))
            return *at == JPEG_EOI;
        at++;
    }
    return false;
}

/* Hands on the next row of a window, which stands in the line behind `skipped` pixels. */
static leat_status take_row(struct decoder *decoder, const uint8_t *line, size_t skipped,
                            leat_error *err) {
    const struct jpeg_decompress_struct *jpeg = &decoder->jpeg;
    size_t width = (size_t)decoder->info.width, size = (size_t)decoder->info.channels;
    uint8_t *to = row_memory(decoder, decoder->rows_done);
    if (jpeg->out_color_space == JCS_CMYK)
        cmyk_to_rgb(line + 4 * skipped, to, (uint32_t)width, jpeg->saw_Adobe_marker);
    else if (decoder->sink != NULL)
        to = (uint8_t *)(uintptr_t)line + size * skipped;
    else
        memcpy(to, line + size * skipped, width * size);
    return deliver(decoder, to, 1, err);
}

/* Takes the rows of a window. libjpeg gives whole blocks, which begin further to the left, and
 * interpolates colours as if the picture ended at their sides; so true neighbours need a pixel more
 * on each side but the lower one. Rows above the window are skipped, and those below it, of which
 * libjpeg then asks no more: as TensorFlow, which does not notice either if they are missing. With
 * true neighbours they have to be there, and are read where it is not plain that they are. */
static leat_status read_window(struct decoder *decoder, leat_error *err) {
    struct jpeg_decompress_struct *jpeg = &decoder->jpeg;
    const leati_decode_options *options = &decoder->options;
    uint32_t margin = options->true_neighbours;
    JDIMENSION x = (JDIMENSION)options->crop_x, y = (JDIMENSION)options->crop_y;
    JDIMENSION left = x < margin ? 0 : x - margin, top = y < margin ? 0 : y - margin;
    JDIMENSION right = x + (JDIMENSION)options->crop_width + margin;
    if (margin > 0 && right - left < LEAST_WIDTH) {
        right = left + LEAST_WIDTH;
        if (right > jpeg->output_width)
            left = left < LEAST_WIDTH ? 0 : left - LEAST_WIDTH;
    }
    JDIMENSION width = LEATI_MIN(right, jpeg->output_width) - left;
    uint32_t height = (uint32_t)decoder->info.height;
    jpeg_crop_scanline(jpeg, &left, &width);
    JSAMPROW line = leati_jpeg_guard_take(common(decoder), (size_t)jpeg->output_width * 4 + OFF);
    line += OFF;
    if (top > 0)
        (void)jpeg_skip_scanlines(jpeg, top);
    leat_status status = LEAT_OK;
    while (decoder->rows_done < height && status == LEAT_OK &&
           jpeg_read_scanlines(jpeg, &line, 1) != 0)
        if (jpeg->output_scanline > y)
            status = take_row(decoder, line, x - left, err);
    if (status != LEAT_OK || decoder->rows_done < height)
        return status;
    if (!options->true_neighbours) {
        if (jpeg->output_scanline < jpeg->output_height)
            (void)jpeg_skip_scanlines(jpeg, jpeg->output_height - jpeg->output_scanline);
        return LEAT_OK;
    }
    decoder->settled = ends_well(decoder);
    while (!decoder->settled && jpeg->output_scanline < jpeg->output_height)
        if (jpeg_read_scanlines(jpeg, &line, 1) == 0)
            return fail_truncated(decoder, err);
    return LEAT_OK;
}

/* ---- the whole ---- */

/* Blackens what is missing if enough is there. */
static leat_status accept_fraction(struct decoder *decoder, leat_error *err) {
    float fraction = (float)decoder->rows_done / (float)decoder->info.height;
    if (!(fraction >= decoder->options.acceptable_fraction)) /* or it is no number */
        return fail_truncated(decoder, err);
    size_t row = (size_t)decoder->info.width * (size_t)decoder->info.channels;
    leat_status status = LEAT_OK;
    while (decoder->rows_done < (uint32_t)decoder->info.height && status == LEAT_OK) {
        uint8_t *to = row_memory(decoder, decoder->rows_done);
        memset(to, 0, row);
        status = deliver(decoder, to, 1, err);
    }
    decoder->recovered = true;
    return status;
}

static leat_status read_step(struct decoder *decoder, leat_error *err) {
    struct jpeg_decompress_struct *jpeg = &decoder->jpeg;
    /* A picture with several scans suspends here, having read all data. */
    if (!jpeg_start_decompress(jpeg))
        return fail_truncated(decoder, err);
    if (decoder->sink != NULL)
        decoder->lines = (uint8_t *)leati_jpeg_guard_take(common(decoder),
                                                          ROWS_AT_ONCE * decoder->stride + OFF) +
                         OFF;
    leat_status status;
    if (decoder->options.crop)
        status = read_window(decoder, err);
    else if (jpeg->out_color_space == JCS_CMYK)
        status = read_cmyk_rows(decoder, err);
    else
        status = read_rows(decoder, err);
    if (status != LEAT_OK || decoder->settled)
        return status;
    if (decoder->rows_done < (uint32_t)decoder->info.height)
        return accept_fraction(decoder, err);
    return jpeg_finish_decompress(jpeg) ? LEAT_OK : fail_truncated(decoder, err);
}

static leat_status run_read(struct decoder *decoder, leat_error *err) {
    decoder->rows_done = 0;
    decoder->settled = false;
    leat_status status = guarded(decoder, read_step, err);
    forget(decoder);
    return status;
}

static leat_status read_pixels(void *state, void *pixels, size_t stride, leat_error *err) {
    struct decoder *decoder = state;
    leat_status status = leati_image_check_pixel_memory(&decoder->info, pixels, stride, err);
    if (status != LEAT_OK) {
        forget(decoder);
        return status;
    }
    decoder->pixels = pixels;
    decoder->stride = stride;
    return run_read(decoder, err);
}

static leat_status pass_pixels(void *state, const leati_image_sink *sink, leat_error *err) {
    struct decoder *decoder = state;
    decoder->sink = sink;
    decoder->stride =
        ((size_t)decoder->jpeg.output_width * (size_t)decoder->info.channels + 63) & ~(size_t)63;
    return run_read(decoder, err);
}

static bool is_recovered(const void *state) {
    return ((const struct decoder *)state)->recovered;
}

const leati_picture_codec leati_codec_jpeg = {
    .name = "jpeg",
    .title = "JPEG",
    .magic = {0xFF, 0xD8, 0xFF},
    .magic_size = 3,
    .state_new = state_new,
    .state_free = state_free,
    .begin = begin,
    .read = read_pixels,
    .pass = pass_pixels,
    .adjust = adjust,
    .recovered = is_recovered,
};
