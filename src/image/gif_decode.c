/* The codec "gif": GIF87a and GIF89a, all frames or the first one, as tf.io.decode_gif reads them.
 *
 * Happy path: begin walks over the blocks, unpacks the frames to see that they are whole, counts
 * them and takes the largest width and height for the canvas; read unpacks each frame again,
 * straight into its canvas, which starts as a copy of the one before (the first: black).
 * Transparent pixels leave the canvas alone; how a frame wants to be disposed of is not looked at,
 * as in TensorFlow.
 *
 * Damage or missing data behind a whole frame end the picture there, as in TensorFlow; before it
 * they fail with INVALID_ARGUMENT, and so does a colour outside of its table or a frame without a
 * table. The canvases together count as pixels. No locks. */
#include "image/codec.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/stop.h"
#include <inttypes.h>
#include <string.h>

enum { MOST_CODES = 4096, MOST_BITS = 12, NO_COLOUR = -1 };

/* Bytes that are read one after the other. */
typedef struct reader {
    const uint8_t *at, *end;
} reader;

/* A frame as its blocks describe it. */
typedef struct frame {
    int32_t left, top, width, height;
    bool interlaced;
    int32_t transparent;  /* a colour, or NO_COLOUR */
    const uint8_t *table; /* of colours, three bytes each; borrowed; NULL: none */
    int32_t colours;
} frame;

struct decoder {
    const uint8_t *data; /* borrowed, of the current picture */
    size_t size;
    leati_image_info info;
    /* Unpacking: string c is that of code prefix[c], then suffix[c]. */
    uint16_t prefix[MOST_CODES];
    uint8_t suffix[MOST_CODES], stack[MOST_CODES + 1];
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

static leat_status truncated(const struct decoder *decoder, leat_error *err) {
    return leati_refuse(err, VALUE,
                        "truncated GIF: the data end after %zu bytes, before the last frame does; "
                        "read the file again",
                        decoder->size);
}

static leat_status damaged(const struct decoder *decoder, const char *what, leat_error *err) {
    return leati_refuse(err, VALUE, "damaged GIF of %zu bytes: %s; read the file again",
                        decoder->size, what);
}

/* ---- blocks ---- */

static const uint8_t *take(reader *in, size_t count) {
    if ((size_t)(in->end - in->at) < count)
        return NULL;
    const uint8_t *at = in->at;
    in->at += count;
    return at;
}

static int32_t word16(const uint8_t *at) {
    return at[0] | at[1] << 8;
}

/* Skips blocks up to the empty one. */
static bool skip_blocks(reader *in) {
    for (;;) {
        const uint8_t *size = take(in, 1);
        if (size == NULL || take(in, *size) == NULL)
            return false;
        if (*size == 0)
            return true;
    }
}

/* A table of colours, if the flags say that one follows. */
static bool take_table(reader *in, uint8_t flags, const uint8_t **table, int32_t *colours) {
    if ((flags & 0x80) == 0)
        return true;
    *colours = 2 << (flags & 7);
    *table = take(in, (size_t)*colours * 3);
    return *table != NULL;
}

/* What stands before a frame and after the '!'. The first control block of a frame counts. */
static bool take_extension(reader *in, frame *next, bool *controlled) {
    const uint8_t *kind = take(in, 1);
    if (kind == NULL)
        return false;
    if (*kind == 0xF9 && !*controlled && in->end - in->at >= 5 && in->at[0] == 4) {
        *controlled = true;
        next->transparent = (in->at[1] & 1) != 0 ? in->at[4] : NO_COLOUR;
    }
    return skip_blocks(in);
}

/* Goes to the next frame's codes. *more is false at the end of the file. */
static leat_status next_frame(const struct decoder *decoder, reader *in, const frame *screen,
                              frame *out, bool *more, leat_error *err) {
    bool controlled = false;
    *out = *screen;
    for (;;) {
        const uint8_t *kind = take(in, 1), *shape;
        if (kind == NULL)
            return truncated(decoder, err);
        *more = *kind != ';';
        if (*kind == ';')
            return LEAT_OK;
        if (*kind == '!') {
            if (!take_extension(in, out, &controlled))
                return truncated(decoder, err);
            continue;
        }
        if (*kind != ',')
            return damaged(decoder, "a block of an unknown kind", err);
        shape = take(in, 9);
        if (shape == NULL || !take_table(in, shape[8], &out->table, &out->colours))
            return truncated(decoder, err);
        out->left = word16(shape);
        out->top = word16(shape + 2);
        out->width = word16(shape + 4);
        out->height = word16(shape + 6);
        out->interlaced = (shape[8] & 0x40) != 0;
        if (out->width < 1 || out->height < 1)
            return damaged(decoder, "a frame without pixels", err);
        return LEAT_OK;
    }
}

/* The screen's description, whose table serves the frames without one. */
static leat_status open_file(const struct decoder *decoder, reader *in, frame *screen,
                             leat_error *err) {
    *in = (reader){decoder->data, decoder->data + decoder->size};
    const uint8_t *header = take(in, 13);
    *screen = (frame){.transparent = NO_COLOUR};
    if (header == NULL || !take_table(in, header[10], &screen->table, &screen->colours))
        return truncated(decoder, err);
    return LEAT_OK;
}

/* ---- codes ---- */

/* Where the next pixel of a frame goes. */
typedef struct painter {
    const frame *frame;
    uint8_t *canvas; /* NULL: nothing is painted, pixels are counted */
    size_t stride;
    int32_t width, height; /* of the canvas */
    int32_t x, y;          /* in the frame */
    int32_t step;          /* from row to row: 8, 8, 4 and 2 of an interlaced frame */
    int64_t left;          /* pixels still to come */
} painter;

static void next_row(painter *p) {
    p->x = 0;
    p->y += p->step;
    while (p->frame->interlaced && p->y >= p->frame->height && p->left > 0) {
        /* The passes begin at rows 0, 4, 2 and 1. */
        if (p->step == 8 && p->y % 8 == 0) {
            p->y = 4;
        } else {
            p->step = p->step == 8 ? 4 : 2;
            p->y = p->step == 4 ? 2 : 1;
        }
    }
}

/* False for a colour that the table does not have. */
static bool paint(painter *p, uint8_t colour) {
    int32_t x = p->frame->left + p->x, y = p->frame->top + p->y;
    p->left--;
    if (p->canvas != NULL && x < p->width && y < p->height) {
        if (colour >= p->frame->colours)
            return false;
        if (colour != p->frame->transparent)
            memcpy(p->canvas + (size_t)y * p->stride + (size_t)x * 3,
                   p->frame->table + (size_t)colour * 3, 3);
    }
    if (++p->x == p->frame->width)
        next_row(p);
    return true;
}

/* Bits of the codes, which lie in blocks. */
typedef struct bits {
    reader *in;
    uint32_t kept;
    int count;
    int block; /* bytes left in the current block */
} bits;

/* The next code, or -1 at the end of the blocks or the data. */
static int next_code(bits *b, int size) {
    while (b->count < size) {
        if (b->block == 0) {
            const uint8_t *length = take(b->in, 1);
            if (length == NULL || *length == 0)
                return -1;
            b->block = *length;
        }
        const uint8_t *byte = take(b->in, 1);
        if (byte == NULL)
            return -1;
        b->block--;
        b->kept |= (uint32_t)*byte << b->count;
        b->count += 8;
    }
    int code = (int)(b->kept & ((1U << size) - 1U));
    b->kept >>= size;
    b->count -= size;
    return code;
}

/* Paints the string of `code`; its first colour goes to *first. */
static bool paint_string(struct decoder *decoder, int code, int clear, painter *p, uint8_t *first) {
    int depth = 0;
    while (code > clear && depth < MOST_CODES) {
        decoder->stack[depth++] = decoder->suffix[code];
        code = decoder->prefix[code];
    }
    *first = (uint8_t)code;
    decoder->stack[depth++] = (uint8_t)code;
    while (depth > 0 && p->left > 0)
        if (!paint(p, decoder->stack[--depth]))
            return false;
    return true;
}

/* The codes end before the frame is full. */
static leat_status ends_early(struct decoder *decoder, const reader *in, int code,
                              leat_error *err) {
    return code < 0 && in->at == in->end ? truncated(decoder, err)
                                         : damaged(decoder, "a frame ends too early", err);
}

/* Unpacks one frame. */
static leat_status unpack(struct decoder *decoder, reader *in, painter *p, leat_error *err) {
    const uint8_t *least = take(in, 1);
    if (least == NULL)
        return truncated(decoder, err);
    if (*least > 8 || *least < 1)
        return damaged(decoder, "codes of more than 8 or less than 1 bits", err);
    bits b = {.in = in};
    int clear = 1 << *least, size = *least + 1, next = clear + 2, last = -1;
    uint8_t first = 0;
    while (p->left > 0) {
        int code = next_code(&b, size);
        if (code < 0 || code == clear + 1)
            return ends_early(decoder, in, code, err);
        if (code == clear) {
            size = *least + 1;
            next = clear + 2;
            last = -1;
            continue;
        }
        if (code > (last < 0 ? clear - 1 : next))
            return damaged(decoder, "a code that was not defined", err);
        if (last >= 0 && next < MOST_CODES) {
            decoder->prefix[next] = (uint16_t)last;
            if (code == next) /* the string that is being defined begins like the last one */
                decoder->suffix[next] = first;
        }
        if (!paint_string(decoder, code, clear, p, &first))
            return damaged(decoder, "a colour outside of the table", err);
        if (last >= 0 && next < MOST_CODES) {
            decoder->suffix[next++] = first;
            if (next == 1 << size && size < MOST_BITS)
                size++;
        }
        last = code;
    }
    bool whole = take(in, (size_t)b.block) != NULL && skip_blocks(in);
    return whole ? LEAT_OK : truncated(decoder, err);
}

/* ---- the codec ---- */

static painter painter_of(const struct decoder *decoder, const frame *f, uint8_t *canvas,
                          size_t stride) {
    return (painter){.frame = f,
                     .canvas = canvas,
                     .stride = stride,
                     .width = decoder->info.width,
                     .height = decoder->info.height,
                     .step = f->interlaced ? 8 : 1,
                     .left = (int64_t)f->width * f->height};
}

static leat_status too_large(const frame *f, uint64_t pixels, uint64_t limit, leat_error *err) {
    return leati_refuse(err, SHAPE,
                        "GIF too large: with a frame of height %" PRId32 " and width %" PRId32
                        " its frames have %" PRIu64 " pixels, expected at most %" PRIu64
                        "; shrink the picture, or " LEATI_RAISE_LIMITS,
                        f->height, f->width, pixels, limit);
}

/* Counts the frames up to the first one that is not whole, and measures the canvas. */
static leat_status measure(struct decoder *decoder, const leati_decode_options *options,
                           int64_t *frames, leat_error *err) {
    reader in;
    frame screen, next;
    leat_error local = {0};
    bool more = true;
    leat_status status = open_file(decoder, &in, &screen, &local);
    /* Unpacking takes time for each pixel, so what is too large is not begun. Behind a first frame
     * only the sizes of the others count; they may take sixteen times as many. */
    const uint64_t most = options->max_pixels;
    const uint64_t limit = options->first_frame && most < UINT64_MAX / 16 ? 16 * most : most;
    uint64_t painted = 0;
    *frames = 0;
    while (status == LEAT_OK && more) {
        status = next_frame(decoder, &in, &screen, &next, &more, &local);
        if (status != LEAT_OK || !more)
            break;
        uint64_t area = (uint64_t)next.width * (uint64_t)next.height;
        if (area > limit - painted)
            return too_large(&next, painted + area, limit, err);
        painted += area;
        painter counter = painter_of(decoder, &next, NULL, 0);
        status = unpack(decoder, &in, &counter, &local);
        if (status != LEAT_OK)
            break;
        ++*frames;
        if (next.width > decoder->info.width)
            decoder->info.width = next.width;
        if (next.height > decoder->info.height)
            decoder->info.height = next.height;
    }
    if (*frames > 0)
        return LEAT_OK;
    return status == LEAT_OK ? damaged(decoder, "no frame", err) : leati_error_pass(err, &local);
}

static leat_status begin(void *state, const uint8_t *data, size_t size,
                         const leati_decode_options *options, leati_image_info *out_info,
                         leat_error *err) {
    struct decoder *decoder = state;
    int64_t frames;
    if (options->channels != 0 && options->channels != 3)
        return leati_refuse(err, VALUE,
                            "GIF has 3 channels: expected channels 0 or 3, found %" PRId32
                            "; decode and convert",
                            options->channels);
    if (options->bits != 8)
        return leati_refuse(err, VALUE,
                            "GIF samples have 8 bits: expected bits 8, found %" PRId32
                            "; convert afterwards",
                            options->bits);
    decoder->data = data;
    decoder->size = size;
    decoder->info = (leati_image_info){
        .format = "GIF", .channels = 3, .bits = 8, .stored_channels = 1, .stored_bits = 8};
    leat_status status = measure(decoder, options, &frames, err);
    if (status != LEAT_OK)
        return status;
    if (options->first_frame)
        frames = 1;
    status = leati_image_check_pixels("GIF", (uint64_t)decoder->info.height * (uint64_t)frames,
                                      (uint64_t)decoder->info.width, options->max_pixels, err);
    decoder->info.frames = (int32_t)frames;
    if (status == LEAT_OK)
        *out_info = decoder->info;
    return status;
}

static leat_status read_frame(struct decoder *decoder, reader *in, const frame *screen,
                              uint8_t *canvas, size_t stride, leat_error *err) {
    frame next;
    bool more;
    LEATI_TRY(next_frame(decoder, in, screen, &next, &more, err));
    if (next.table == NULL)
        return damaged(decoder, "a frame without a table of colours", err);
    painter p = painter_of(decoder, &next, canvas, stride);
    return unpack(decoder, in, &p, err);
}

static leat_status read_pixels(void *state, void *pixels, size_t stride, leat_error *err) {
    struct decoder *decoder = state;
    const leati_image_info *info = &decoder->info;
    size_t row = (size_t)info->width * 3, canvas = (size_t)info->height * stride;
    reader in;
    frame screen;
    leat_status status = leati_image_check_pixel_memory(info, pixels, stride, err);
    if (status == LEAT_OK)
        status = open_file(decoder, &in, &screen, err);
    for (int32_t k = 0; k < info->frames && status == LEAT_OK; k++) {
        LEATI_TRY(leati_stop_check(err));
        uint8_t *to = (uint8_t *)pixels + (size_t)k * canvas;
        for (int32_t y = 0; y < info->height; y++)
            if (k == 0)
                memset(to + (size_t)y * stride, 0, row);
            else
                memcpy(to + (size_t)y * stride, to + (size_t)y * stride - canvas, row);
        status = read_frame(decoder, &in, &screen, to, stride, err);
    }
    return status;
}

const leati_picture_codec leati_codec_gif = {
    .name = "gif",
    .title = "GIF",
    .magic = {'G', 'I', 'F', '8'},
    .magic_size = 4,
    .animated = true,
    .state_new = state_new,
    .state_free = state_free,
    .begin = begin,
    .read = read_pixels,
};
