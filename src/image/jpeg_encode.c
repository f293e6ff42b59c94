/* Writing JPEG with libjpeg-turbo's own transforms and tables, byte for byte as
 * tf.image.encode_jpeg.
 *
 * Happy path: one compressor per call, whose output grows by doubling and is given to the caller.
 * Bad arguments fail before libjpeg is called; what fails inside is missing memory. No locks. */
#include "image/jpeg.h"

#include "base/error.h"
#include "base/stop.h"
#include "image/jpeg_guard.h"
#include <inttypes.h>
#include <string.h>

#define FIRST_CAPACITY ((size_t)16384)
/* What a marker holds behind its length and the name of its content. */
/* 65535 less the length's two bytes; the name of XMP and its zero have 29. */
#define MOST_METADATA (65533 - 29)

const leati_jpeg_encode_options leati_jpeg_encode_defaults = {
    .quality = 95,
    .chroma_downsampling = true,
    .x_density = 300,
    .y_density = 300,
};

struct encoder {
    leati_jpeg_guard guard;
    struct jpeg_compress_struct jpeg;
    struct jpeg_destination_mgr target;
    const leati_jpeg_encode_options *options;
    const uint8_t *pixels;
    size_t stride;
    int32_t height, width, channels;
    uint8_t *out; /* owned until the end */
    size_t capacity, size;
};

static j_common_ptr common(struct encoder *encoder) {
    return (j_common_ptr)(void *)&encoder->jpeg;
}

/* ---- the data target ---- */

static void grow(struct encoder *encoder) {
    size_t capacity = encoder->capacity == 0 ? FIRST_CAPACITY : 2 * encoder->capacity;
    uint8_t *out = leati_alloc_resize(encoder->out, capacity, 1);
    /* NULL leaves the old memory valid, which leati_jpeg_encode frees. */
    if (out == NULL) {
        encoder->guard.missing = capacity;
        /* libjpeg takes no error of this hook; nothing of its frames needs to be undone. */
        longjmp(encoder->guard.jump, 1);
    }
    encoder->target.next_output_byte = out + encoder->capacity;
    encoder->target.free_in_buffer = capacity - encoder->capacity;
    encoder->out = out;
    encoder->capacity = capacity;
}

static void init_target(j_compress_ptr jpeg) {
    grow(jpeg->client_data);
}

static boolean empty_target(j_compress_ptr jpeg) {
    grow(jpeg->client_data);
    return TRUE;
}

static void term_target(j_compress_ptr jpeg) {
    struct encoder *encoder = jpeg->client_data;
    encoder->size = encoder->capacity - encoder->target.free_in_buffer;
}

/* ---- encoding ---- */

static void set_parameters(struct encoder *encoder) {
    struct jpeg_compress_struct *jpeg = &encoder->jpeg;
    const leati_jpeg_encode_options *options = encoder->options;
    jpeg->image_width = (JDIMENSION)encoder->width;
    jpeg->image_height = (JDIMENSION)encoder->height;
    jpeg->input_components = encoder->channels;
    jpeg->in_color_space = encoder->channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(jpeg);
    jpeg->optimize_coding = options->optimize_size;
    /* JFIF's codes: 1 is dots per inch, 2 per centimetre. */
    jpeg->density_unit = options->density_per_cm ? 2 : 1;
    jpeg->X_density = (UINT16)options->x_density;
    jpeg->Y_density = (UINT16)options->y_density;
    /* TRUE keeps to the tables of baseline JPEG, entries of one byte. */
    jpeg_set_quality(jpeg, options->quality, TRUE);
    if (options->progressive)
        jpeg_simple_progression(jpeg);
    if (encoder->channels == 3 && !options->chroma_downsampling) {
        /* Of the luminance: as many samples as the colours have, so none of theirs is left out. */
        jpeg->comp_info[0].h_samp_factor = 1;
        jpeg->comp_info[0].v_samp_factor = 1;
    }
}

/* XMP lies in a marker whose content begins with its name and a zero. */
static void write_metadata(struct encoder *encoder) {
    static const char name[] = "http://ns.adobe.com/xap/1.0/";
    const char *text = encoder->options->xmp_metadata;
    size_t size = text == NULL ? 0 : strlen(text);
    if (size == 0)
        return;
    jpeg_write_m_header(&encoder->jpeg, JPEG_APP0 + 1, (unsigned)(sizeof name + size));
    for (size_t i = 0; i < sizeof name; i++)
        jpeg_write_m_byte(&encoder->jpeg, name[i]);
    for (size_t i = 0; i < size; i++)
        jpeg_write_m_byte(&encoder->jpeg, text[i]);
}

static void encode(struct encoder *encoder) {
    struct jpeg_compress_struct *jpeg = &encoder->jpeg;
    jpeg_create_compress(jpeg);
    jpeg->client_data = encoder;
    jpeg->dest = &encoder->target;
    /* After the object exists: creating it needs libjpeg's own manager. */
    leati_jpeg_guard_adopt(&encoder->guard, common(encoder));
    set_parameters(encoder);
    jpeg_start_compress(jpeg, TRUE);
    write_metadata(encoder);
    int64_t done = 0;
    while (jpeg->next_scanline < jpeg->image_height) {
        /* Whoever stops the work drops the file. */
        if (leati_stop_look_after((int64_t)jpeg->image_width * 32, &done))
            return;
        /* libjpeg reads the row only; its interface lacks the const. */
        union {
            const uint8_t *from;
            JSAMPROW to;
        } row = {encoder->pixels + jpeg->next_scanline * encoder->stride};
        (void)jpeg_write_scanlines(jpeg, &row.to, 1);
    }
    jpeg_finish_compress(jpeg);
}

static leat_status guarded(struct encoder *encoder, leat_error *err) {
    /* All state lies in *encoder: locals would be lost by the jump. */
    if (setjmp(encoder->guard.jump) != 0)
        return leati_jpeg_guard_failure(&encoder->guard, common(encoder), "encoding a JPEG",
                                        "check the picture's size and dtype", err);
    encode(encoder);
    return LEAT_OK;
}

static leat_status check(const uint8_t *pixels, size_t stride, int32_t height, int32_t width,
                         int32_t channels, const leati_jpeg_encode_options *options,
                         leat_error *err) {
    if (channels != 1 && channels != 3)
        return leati_refuse(err, VALUE, "encoding a JPEG: channels is %" PRId32 "; expected 1 or 3",
                            channels);
    if (height < 1 || width < 1 || height > JPEG_MAX_DIMENSION || width > JPEG_MAX_DIMENSION)
        return leati_refuse(
            err, SHAPE,
            "encoding a JPEG: expected a height and width of 1 to %ld, found %" PRId32
            " and %" PRId32 "; resize first",
            (long)JPEG_MAX_DIMENSION, height, width);
    if (pixels == NULL || stride < (size_t)width * (size_t)channels)
        return leati_refuse(
            err, VALUE, "encoding a JPEG: expected rows of at least %zu bytes, found %s%zu",
            (size_t)width * (size_t)channels, pixels == NULL ? "NULL and " : "", stride);
    if (options->quality < 0 || options->quality > 100)
        return leati_refuse(err, VALUE,
                            "encoding a JPEG: quality is %" PRId32 "; expected 0 to 100",
                            options->quality);
    if (options->x_density < 0 || options->x_density > UINT16_MAX || options->y_density < 0 ||
        options->y_density > UINT16_MAX)
        return leati_refuse(err, VALUE,
                            "encoding a JPEG: densities are %" PRId32 " and %" PRId32
                            "; expected 0 to 65535",
                            options->x_density, options->y_density);
    if (options->xmp_metadata != NULL && strlen(options->xmp_metadata) > MOST_METADATA)
        return leati_refuse(
            err, VALUE,
            "encoding a JPEG: xmp_metadata has %zu bytes; expected at most %d, what a "
            "marker holds",
            strlen(options->xmp_metadata), (int)MOST_METADATA);
    return LEAT_OK;
}

leat_status leati_jpeg_encode(const uint8_t *pixels, size_t stride, int32_t height, int32_t width,
                              int32_t channels, const leati_jpeg_encode_options *options,
                              uint8_t **out, size_t *out_size, leat_error *err) {
    leat_status status = check(pixels, stride, height, width, channels, options, err);
    if (status != LEAT_OK)
        return status;
    struct encoder *encoder = leati_alloc_zero(1, sizeof *encoder);
    if (encoder == NULL)
        return leati_no_memory(err);
    encoder->options = options;
    encoder->pixels = pixels;
    encoder->stride = stride;
    encoder->height = height;
    encoder->width = width;
    encoder->channels = channels;
    encoder->target = (struct jpeg_destination_mgr){.init_destination = init_target,
                                                    .empty_output_buffer = empty_target,
                                                    .term_destination = term_target};
    encoder->jpeg.err = leati_jpeg_guard_init(&encoder->guard);
    status = guarded(encoder, err);
    /* Also where creation failed: the object's memory manager is NULL then. */
    jpeg_destroy_compress(&encoder->jpeg);
    leati_jpeg_guard_fini(&encoder->guard);
    if (status == LEAT_OK) {
        *out = encoder->out;
        *out_size = encoder->size;
    } else {
        leati_free(encoder->out);
    }
    leati_free(encoder);
    return status;
}
