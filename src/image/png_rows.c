/* From stored PNG samples to the wanted channels and bits, as libpng does it for TensorFlow.
 *
 * Some habits are kept, because the numbers are to be the same. Grey from colours weighs red 0.299,
 * green 0.587 and blue 0.114, truncated in 8 bits and rounded in 16. 16 bits become 8 by dropping
 * the low byte; 8 become 16 by repeating the byte. The alpha that is added to a picture without one
 * is 2^depth - 1 in stored bits, so not opaque below 8 bits. Cannot fail; no locks. */
#include "image/png.h"

#include <string.h>

enum { GREY = 0, RGB = 2, PALETTE = 3, GREY_ALPHA = 4, RGBA = 6 };

/* The weights in 1/32768, rounded down as libpng does. */
#define RED 9797U
#define GREEN 19234U
#define BLUE (32768U - RED - GREEN)

/* One pixel in 8 or 16 bits. */
typedef struct pixel {
    uint32_t colour[3];
    uint32_t alpha;
} pixel;

bool leati_png_row_is_direct(const leati_png_layout *layout) {
    static const uint8_t stored[7] = {[GREY] = 1, [RGB] = 3, [GREY_ALPHA] = 2, [RGBA] = 4};
    /* The same depth, and as many channels as the file: nothing is to be done. */
    return layout->depth == layout->bits && stored[layout->colour_type] == layout->channels;
}

static uint32_t packed_sample(const uint8_t *row, uint32_t x, int32_t depth) {
    /* In 64 bits: a row may have 2^31 samples. */
    uint64_t bit = (uint64_t)x * (uint64_t)depth;
    /* The first sample of a byte is in its highest bits. */
    uint32_t shift = 8U - (uint32_t)depth - (uint32_t)(bit & 7U);
    return (row[bit >> 3] >> shift) & ((1U << depth) - 1U);
}

/* Sample `index` of a row of 8 or 16 bits. */
static uint32_t whole_sample(const void *row, size_t index, int32_t depth) {
    if (depth == 8)
        return ((const uint8_t *)row)[index];
    uint16_t sample;
    memcpy(&sample, (const uint8_t *)row + 2 * index, sizeof sample);
    return sample;
}

static pixel load_grey(const leati_png_layout *layout, const void *row, uint32_t x,
                       uint32_t opaque) {
    int32_t depth = layout->depth;
    uint32_t stored, scaled;
    if (depth < 8) {
        stored = packed_sample(row, x, depth);
        /* Scaled to 8 bits; the key below is compared with what is stored. */
        scaled = stored * 255U / ((1U << depth) - 1U);
    } else {
        stored = whole_sample(row, x, depth);
        scaled = stored;
    }
    /* libpng fills in stored bits, without scaling: 1 for a bitmap, not 255. */
    uint32_t alpha = (1U << depth) - 1U;
    if (layout->has_key)
        alpha = stored == layout->key[0] ? 0 : opaque;
    return (pixel){{scaled, scaled, scaled}, alpha};
}

static pixel load_rgb(const leati_png_layout *layout, const void *row, uint32_t x,
                      uint32_t opaque) {
    pixel result = {.alpha = opaque};
    for (uint32_t c = 0; c < 3; c++)
        result.colour[c] = whole_sample(row, 3 * (size_t)x + c, layout->depth);
    if (layout->has_key && result.colour[0] == layout->key[0] &&
        result.colour[1] == layout->key[1] && result.colour[2] == layout->key[2])
        result.alpha = 0;
    return result;
}

static pixel load_palette(const leati_png_layout *layout, const void *row, uint32_t x) {
    uint32_t index =
        layout->depth < 8 ? packed_sample(row, x, layout->depth) : whole_sample(row, x, 8);
    const uint8_t *entry = layout->palette[index];
    return (pixel){{entry[0], entry[1], entry[2]}, entry[3]};
}

static pixel load_pixel(const leati_png_layout *layout, const void *row, uint32_t x) {
    uint32_t opaque = layout->depth == 16 ? 65535U : 255U;
    pixel result = {{0, 0, 0}, 0};
    switch (layout->colour_type) {
    case GREY: return load_grey(layout, row, x, opaque);
    case RGB: return load_rgb(layout, row, x, opaque);
    case PALETTE: return load_palette(layout, row, x);
    case GREY_ALPHA:
        result.colour[0] = whole_sample(row, 2 * (size_t)x, layout->depth);
        result.colour[1] = result.colour[2] = result.colour[0];
        result.alpha = whole_sample(row, 2 * (size_t)x + 1, layout->depth);
        return result;
    default:
        for (uint32_t c = 0; c < 3; c++)
            result.colour[c] = whole_sample(row, 4 * (size_t)x + c, layout->depth);
        result.alpha = whole_sample(row, 4 * (size_t)x + 3, layout->depth);
        return result;
    }
}

/* libpng truncates in 8 bits and rounds in 16. */
static uint32_t grey_of(const pixel *p, int32_t depth) {
    uint32_t sum = RED * p->colour[0] + GREEN * p->colour[1] + BLUE * p->colour[2];
    return (depth == 16 ? sum + 16384U : sum) >> 15;
}

static void store(uint32_t sample, int32_t depth, int32_t bits, void *out, size_t index) {
    if (bits == 8) {
        ((uint8_t *)out)[index] = (uint8_t)(depth == 16 ? sample >> 8 : sample);
        return;
    }
    /* 255 becomes 65535: both bytes are the same. */
    uint16_t wide = (uint16_t)(depth == 16 ? sample : sample * 257U);
    memcpy((uint8_t *)out + 2 * index, &wide, sizeof wide);
}

void leati_png_convert_row(const leati_png_layout *layout, const void *row, void *out) {
    int32_t depth = layout->depth == 16 ? 16 : 8;
    int32_t channels = layout->channels, bits = layout->bits;
    int32_t colours = channels < 3 ? 1 : 3;
    size_t at = 0;
    for (uint32_t x = 0; x < layout->width; x++) {
        pixel p = load_pixel(layout, row, x);
        if (colours == 1)
            p.colour[0] = grey_of(&p, depth);
        for (int32_t c = 0; c < colours; c++)
            store(p.colour[c], depth, bits, out, at++);
        if (channels % 2 == 0)
            store(p.alpha, depth, bits, out, at++);
    }
}
