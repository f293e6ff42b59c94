/* The table of codecs, and decoders that find the right one by the first bytes.
 *
 * A decoder makes the state of a codec when the first picture of that format comes and keeps it.
 * Idle decoders wait in one store per process, guarded by `store_lock`, a leaf: nothing is called
 * while it is held. Everything that fails here is decided by the data or by missing memory. */
#include "image/codec.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/fork.h"
#include "base/limits.h"
#include "base/log.h"
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

const leati_decode_options leati_decode_defaults = {
    .bits = 8,
    .ratio = 1,
    .fancy_upscaling = true,
    .acceptable_fraction = 1.0F,
};

static int told[] = {
/* LEATI_TELL_ONCE */
#define X(name) 0,
#include "image/codecs.def"
#undef X
};

static const leati_picture_codec *const codecs[] = {
#define X(name) &leati_codec_##name,
#include "image/codecs.def"
#undef X
};

#define CODECS (sizeof codecs / sizeof codecs[0])

struct leati_image_decoder {
    void *states[CODECS];      /* by codec; NULL until first used */
    size_t current;            /* the codec of the picture that was begun; CODECS: none */
    size_t last;               /* the codec of the picture that was read last */
    leati_image_info info;     /* of that picture */
    leati_image_decoder *next; /* in the store; guarded by store_lock */
};

static bool starts_with(const uint8_t *data, size_t size, const void *magic, size_t magic_size) {
    return size >= magic_size && memcmp(data, magic, magic_size) == 0;
}

static size_t find_index(const uint8_t *data, size_t size) {
    for (size_t i = 0; i < CODECS; i++) {
        const leati_picture_codec *codec = codecs[i];
        /* WebP shares its first four bytes with all of RIFF; its mark stands behind a size, at byte
         * 8. */
        size_t marked = codec->mark != NULL ? strlen(codec->mark) : 0;
        if (starts_with(data, size, codec->magic, codec->magic_size) &&
            (marked == 0 || (size >= 8 && starts_with(data + 8, size - 8, codec->mark, marked))))
            return i;
    }
    return CODECS;
}

const leati_picture_codec *leati_codec_find(const uint8_t *data, size_t size) {
    size_t index = find_index(data, size);
    return index < CODECS ? codecs[index] : NULL;
}

leati_image_decoder *leati_image_decoder_new(leat_error *err) {
    leati_image_decoder *decoder = leati_alloc_zero(1, sizeof *decoder);
    if (decoder == NULL) {
        (void)leati_no_memory(err);
        return NULL;
    }
    decoder->current = CODECS;
    return decoder;
}

void leati_image_decoder_free(leati_image_decoder *decoder) {
    if (decoder == NULL)
        return;
    for (size_t i = 0; i < CODECS; i++)
        if (decoder->states[i] != NULL)
            codecs[i]->state_free(decoder->states[i]);
    leati_free(decoder);
}

/* ---- the store ---- */

/* More decoders than threads use at once would only hold memory. */
#define STORE_LIMIT 64

static pthread_mutex_t store_lock = PTHREAD_MUTEX_INITIALIZER;
LEATI_FORK_LOCK(decoders, &store_lock);
static leati_image_decoder *store; /* guarded by store_lock */
static size_t stored;              /* guarded by store_lock */

leati_image_decoder *leati_image_decoder_take(leat_error *err) {
    pthread_mutex_lock(&store_lock);
    leati_image_decoder *decoder = store;
    if (decoder != NULL) {
        store = decoder->next;
        stored--;
    }
    pthread_mutex_unlock(&store_lock);
    return decoder != NULL ? decoder : leati_image_decoder_new(err);
}

void leati_image_decoder_give(leati_image_decoder *decoder) {
    if (decoder == NULL)
        return;
    pthread_mutex_lock(&store_lock);
    bool keep = stored < STORE_LIMIT;
    if (keep) {
        decoder->next = store;
        store = decoder;
        stored++;
    }
    pthread_mutex_unlock(&store_lock);
    if (!keep)
        leati_image_decoder_free(decoder);
}

void leati_image_decoders_trim(void) {
    pthread_mutex_lock(&store_lock);
    leati_image_decoder *decoder = store;
    store = NULL;
    stored = 0;
    pthread_mutex_unlock(&store_lock);
    /* Freed outside of the lock, which is a leaf. */
    while (decoder != NULL) {
        leati_image_decoder *next = decoder->next;
        leati_image_decoder_free(decoder);
        decoder = next;
    }
}

/* ---- decoding ---- */

/* "JPEG or PNG", "JPEG, PNG or GIF": what could have been given. */
static void list_titles(char *text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < CODECS && used < size; i++) {
        const char *glue = i == 0 ? "" : i + 1 == CODECS ? " or " : ", ";
        /* May be more than there is room for; the loop ends then. */
        int added = snprintf(text + used, size - used, "%s%s", glue, codecs[i]->title);
        used += added > 0 ? (size_t)added : 0;
    }
}

static leat_status fail_unknown(const uint8_t *data, size_t size, leat_error *err) {
    char titles[64], bytes[3 * 8 + 1] = "";
    list_titles(titles, sizeof titles);
    if (size == 0)
        return leati_refuse(err, VALUE,
                            "the picture is empty: expected %s data, found 0 bytes; check that the "
                            "file was written and the feature was read",
                            titles);
    for (size_t i = 0; i < size && i < 8; i++)
        /* Each takes three places and the zero, which the next one overwrites. */
        (void)snprintf(bytes + 3 * i, 4, "%02x ", data[i]);
    return leati_refuse(err, VALUE,
                        "not a %s picture: found %zu bytes that start with %s; check that they are "
                        "the content of a picture file",
                        titles, size, bytes);
}

/* Channels are 0, 1, 3 or 4, and bits 8 or 16. */
static leat_status check_decode_options(const leati_decode_options *options, leat_error *err) {
    int32_t channels = options->channels, bits = options->bits;
    if (channels != 0 && channels != 1 && channels != 3 && channels != 4)
        return leati_refuse(err, VALUE,
                            "channels is %" PRId32 "; expected 0 (as stored), 1, 3 or 4", channels);
    if (bits != 8 && bits != 16)
        return leati_refuse(err, VALUE, "bits per sample is %" PRId32 "; expected 8 or 16", bits);
    return LEAT_OK;
}

leat_status leati_image_begin(leati_image_decoder *decoder, const uint8_t *data, size_t size,
                              const leati_decode_options *options, leati_image_info *out_info,
                              leat_error *err) {
    if (decoder == NULL || options == NULL || out_info == NULL || (data == NULL && size > 0))
        return leati_refuse(err, VALUE,
                            "decoding a picture: expected a decoder, data, options and a place for "
                            "the answer, found NULL; pass all four");
    decoder->current = CODECS;
    leat_status status = check_decode_options(options, err);
    if (status != LEAT_OK)
        return status;
    size_t index = find_index(data, size);
    if (index == CODECS)
        return fail_unknown(data, size, err);
    const leati_picture_codec *codec = codecs[index];
    if (decoder->states[index] == NULL) {
        /* A record of its own, because `err` may be NULL and the status is read from it. */
        leat_error local = {0};
        decoder->states[index] = codec->state_new(&local);
        if (decoder->states[index] == NULL)
            return leati_error_pass(err, &local);
        LEATI_TELL_ONCE(
            &told[index], IMAGE, INFO, "%s pictures come by their first bytes, %s", codec->title,
            codec->pass != NULL ? "and are decoded row by row" : "and are decoded as a whole");
    }
    leati_decode_options wanted = *options;
    if (wanted.max_pixels == 0)
        wanted.max_pixels = leati_limits_max_pixels();
    status = codec->begin(decoder->states[index], data, size, &wanted, &decoder->info, err);
    if (status != LEAT_OK)
        return status;
    decoder->current = index;
    *out_info = decoder->info;
    return LEAT_OK;
}

/* The codec of the picture that was begun, which is taken; NULL: none was. */
static const leati_picture_codec *take_current(leati_image_decoder *decoder, void **state,
                                               leat_error *err) {
    if (decoder == NULL || decoder->current == CODECS) {
        (void)leati_fail(err, LEAT_FAILED_PRECONDITION,
                         "reading pixels: expected a picture that was begun, found none; call "
                         "leati_image_begin first");
        return NULL;
    }
    const leati_picture_codec *codec = codecs[decoder->current];
    *state = decoder->states[decoder->current];
    /* Kept beside `current`, for leati_image_recovered asks after the reading. */
    decoder->last = decoder->current;
    decoder->current = CODECS;
    return codec;
}

leat_status leati_image_read(leati_image_decoder *decoder, void *pixels, size_t stride,
                             leat_error *err) {
    void *state = NULL;
    const leati_picture_codec *codec = take_current(decoder, &state, err);
    return codec == NULL ? LEAT_FAILED_PRECONDITION : codec->read(state, pixels, stride, err);
}

bool leati_image_adjusts(const leati_image_decoder *decoder) {
    return decoder->current != CODECS && codecs[decoder->current]->adjust != NULL;
}

leat_status leati_image_adjust(leati_image_decoder *decoder, const leati_decode_options *options,
                               leati_image_info *out_info, leat_error *err) {
    void *state = NULL;
    const leati_picture_codec *codec = take_current(decoder, &state, err);
    LEATI_TRY(codec == NULL ? LEAT_FAILED_PRECONDITION
                            : codec->adjust(state, options, &decoder->info, err));
    /* An adjusted picture is still to be read. */
    decoder->current = decoder->last;
    *out_info = decoder->info;
    return LEAT_OK;
}

bool leati_image_passes(const leati_image_decoder *decoder) {
    return decoder->current != CODECS && codecs[decoder->current]->pass != NULL;
}

leat_status leati_image_pass(leati_image_decoder *decoder, const leati_image_sink *sink,
                             leat_error *err) {
    void *state = NULL;
    const leati_picture_codec *codec = take_current(decoder, &state, err);
    return codec == NULL ? LEAT_FAILED_PRECONDITION : codec->pass(state, sink, err);
}

bool leati_image_recovered(const leati_image_decoder *decoder) {
    const leati_picture_codec *codec = codecs[decoder->last];
    return codec->recovered != NULL && codec->recovered(decoder->states[decoder->last]);
}

/* ---- for codecs ---- */

leat_status leati_image_check_pixels(const char *title, uint64_t height, uint64_t width,
                                     uint64_t max_pixels, leat_error *err) {
    if (height == 0 || width == 0)
        return leati_refuse(err, SHAPE,
                            "empty %s: expected at least one pixel, found height %" PRIu64
                            " and width %" PRIu64 "; leave the picture out",
                            title, height, width);
    /* A quotient, since the product may not fit. */
    if (height <= max_pixels / width)
        return LEAT_OK;
    return leati_refuse(err, SHAPE,
                        "%s too large: height %" PRIu64 " and width %" PRIu64
                        ", expected at most %" PRIu64
                        " pixels; shrink the picture, or " LEATI_RAISE_LIMITS,
                        title, height, width, max_pixels);
}

leat_status leati_image_check_pixel_memory(const leati_image_info *info, const void *pixels,
                                           size_t stride, leat_error *err) {
    size_t row = (size_t)info->width * (size_t)info->channels * (size_t)(info->bits / 8);
    if (pixels != NULL && stride >= row)
        return LEAT_OK;
    return leati_refuse(err, VALUE,
                        "memory for a %s of width %" PRId32
                        ": expected rows of at least %zu bytes, "
                        "found %s%zu; use the size that begin gave",
                        info->format, info->width, row, pixels == NULL ? "NULL and " : "", stride);
}
