/* Pictures in files: which codec reads them, how they are decoded.
 *
 * Decoding has two steps, since the caller owns the memory of the pixels: `begin` reads the header
 * and says how large the result will be, `read` writes it. To probe a picture is to begin and not
 * read. The results are those of tf.image.decode_image, decode_jpeg and decode_png, bit for bit:
 * each of the three takes every format. A new codec is one file and one line in codecs.def.
 *
 * A leati_image_decoder belongs to one thread at a time; in the steady state it allocates nothing
 * for a JPEG. Data that are no picture, are damaged, or are larger than allowed fail with
 * INVALID_ARGUMENT, as in TensorFlow, before memory for the pixels is needed. */
#ifndef LEATI_IMAGE_CODEC_H
#define LEATI_IMAGE_CODEC_H

#include <leat/base.h>

typedef enum leati_dct {
    LEATI_DCT_FAST,    /* INTEGER_FAST, what TensorFlow does by default */
    LEATI_DCT_ACCURATE /* INTEGER_ACCURATE */
} leati_dct;

/* What a user may say about a picture; start from leati_decode_defaults. Fields that a format has
 * no use for are ignored (ratio and what follows it but max_pixels: JPEG only). */
typedef struct leati_decode_options {
    int32_t channels;           /* 0: as stored; 1 grey; 3 RGB; 4 RGBA (not from JPEG) */
    int32_t bits;               /* of a sample of the result: 8, or 16 (not from JPEG) */
    int32_t ratio;              /* the picture is shrunk by 1, 2, 4 or 8 */
    leati_dct dct;              /* which inverse transform */
    bool fancy_upscaling;       /* interpolates chroma instead of repeating it */
    bool try_recover_truncated; /* fills what is missing instead of failing */
    float acceptable_fraction;  /* fails if fewer of the rows are there; the others turn black */
    bool crop;                  /* only this window, in pixels of the shrunk picture (JPEG only) */
    /* At the window's sides colours blend with pixels outside of it, as when all is decoded first;
     * else as TensorFlow's decode_and_crop_jpeg does. */
    bool true_neighbours;
    int32_t crop_y, crop_x, crop_height, crop_width;
    bool first_frame; /* of an animation */
    /* Of all frames, checked before memory is needed; 0: the process's limit. */
    uint64_t max_pixels;
} leati_decode_options;

/* TensorFlow's defaults: channels 0, 8 bits, ratio 1, fast, fancy, no recovery, fraction 1; and the
 * process's limit of pixels (leat_limits_set_decoding). */
extern const leati_decode_options leati_decode_defaults;

/* What `read` will write, and what the file holds. */
typedef struct leati_image_info {
    const char *format; /* "JPEG"; static */
    int32_t height, width, channels;
    int32_t frames;          /* of an animation; else 1 */
    int32_t bits;            /* 8 or 16: a sample is a uint8_t or a uint16_t of this machine */
    int32_t stored_channels; /* 4 for CMYK, 1 for a palette */
    int32_t stored_bits;
} leati_image_info;

/* Who takes pixels as they are decoded: `count` rows from row y on, `stride` bytes apart, which
 * stay until the call returns. A failure ends decoding with its error. */
typedef struct leati_image_sink {
    leat_status (*rows)(void *context, const uint8_t *pixels, size_t stride, int32_t y,
                        int32_t count, leat_error *err);
    void *context;
} leati_image_sink;

/* The descriptor of a format. The functions have the contracts of leati_image_begin and _read;
 * `state` keeps what is reused from picture to picture. */
typedef struct leati_picture_codec {
    const char *name; /* as in codecs.def */
    const char *title;
    uint8_t magic[8]; /* how data of this format start */
    size_t magic_size;
    const char *mark; /* what else stands at byte 8 of the data; NULL: nothing */
    bool animated;    /* may have several frames */
    bool deep;        /* may have samples of 16 bits */
    void *(*state_new)(leat_error *err);
    void (*state_free)(void *state);
    leat_status (*begin)(void *state, const uint8_t *data, size_t size,
                         const leati_decode_options *options, leati_image_info *out_info,
                         leat_error *err);
    leat_status (*read)(void *state, void *pixels, size_t stride, leat_error *err);
    /* Instead of read: hands on rows from the first to the last. NULL: the format has no rows
     * before the whole picture is there, or nothing would be gained. */
    leat_status (*pass)(void *state, const leati_image_sink *sink, leat_error *err);
    /* See leati_image_adjust; NULL: the format has no choice after its header. */
    leat_status (*adjust)(void *state, const leati_decode_options *options,
                          leati_image_info *out_info, leat_error *err);
    bool (*recovered)(const void *state); /* see leati_image_recovered; NULL: never */
} leati_picture_codec;

#define X(name) extern const leati_picture_codec leati_codec_##name;
#include "image/codecs.def"
#undef X

/* The codec whose magic bytes and mark the data have, or NULL. */
const leati_picture_codec *leati_codec_find(const uint8_t *data, size_t size);

typedef struct leati_image_decoder leati_image_decoder;

leati_image_decoder *leati_image_decoder_new(leat_error *err) LEAT_WARN_UNUSED;
void leati_image_decoder_free(leati_image_decoder *decoder);

/* A decoder from the process's store of idle ones, or a new one; `give` puts it back (NULL is
 * allowed), at most 64 are kept. For callers without a place of their own for a decoder.
 * Thread-safe. */
leati_image_decoder *leati_image_decoder_take(leat_error *err) LEAT_WARN_UNUSED;
void leati_image_decoder_give(leati_image_decoder *decoder);
/* Frees the idle decoders of the store: before a change of the allocator, and in tests that count
 * memory. Thread-safe. */
void leati_image_decoders_trim(void);

/* Reads the header of a picture of any format. `data` is borrowed until read returns or the next
 * begin; a decoder forgets the picture before. */
LEAT_WARN_UNUSED leat_status leati_image_begin(leati_image_decoder *decoder, const uint8_t *data,
                                               size_t size, const leati_decode_options *options,
                                               leati_image_info *out_info, leat_error *err);

/* May ratio, inverse transform, upscaling and window still be chosen for the picture that was
 * begun, whose size is known now? (JPEG.) */
bool leati_image_adjusts(const leati_image_decoder *decoder);
/* Chooses them anew, for such a picture; the other options stay. On failure the picture is gone. */
LEAT_WARN_UNUSED leat_status leati_image_adjust(leati_image_decoder *decoder,
                                                const leati_decode_options *options,
                                                leati_image_info *out_info, leat_error *err);

/* Decodes the picture that was begun, once. Row y, of width * channels samples, goes to pixels + y
 * * stride; stride counts bytes and is at least a row; the frames of an animation follow each
 * other, height * stride bytes apart. On failure the content of pixels is
 * undefined. FAILED_PRECONDITION without a begin. */
LEAT_WARN_UNUSED leat_status leati_image_read(leati_image_decoder *decoder, void *pixels,
                                              size_t stride, leat_error *err);

/* Does the picture that was begun come in rows? */
bool leati_image_passes(const leati_image_decoder *decoder);
/* Instead of leati_image_read, for such a picture: each row goes to the sink once, from the first
 * to the last; no memory for the picture is needed. */
LEAT_WARN_UNUSED leat_status leati_image_pass(leati_image_decoder *decoder,
                                              const leati_image_sink *sink, leat_error *err);
/* Whether the picture that was read last was cut short, and what was missing filled. */
bool leati_image_recovered(const leati_image_decoder *decoder);

/* ---- for codecs ---- */

/* INVALID_ARGUMENT if a picture has no pixel or more than max_pixels. */
LEAT_WARN_UNUSED leat_status leati_image_check_pixels(const char *title, uint64_t height,
                                                      uint64_t width, uint64_t max_pixels,
                                                      leat_error *err);

/* INVALID_ARGUMENT if `pixels` is NULL or `stride` too small for a row of `info`. */
LEAT_WARN_UNUSED leat_status leati_image_check_pixel_memory(const leati_image_info *info,
                                                            const void *pixels, size_t stride,
                                                            leat_error *err);

#endif
