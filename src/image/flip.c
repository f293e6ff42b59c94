/* Mirroring: pixels are moved whole, whatever their type. In place, pairs are exchanged through a
 * small buffer. Cannot fail; no locks. */
#include "image/flip.h"
#include "base/minmax.h"

#include <string.h>

/* Bytes that are exchanged at once, and from which on a result is more than caches hold. */
enum { PIECE = 256, FAR = 4 << 20 };

static void exchange(char *a, char *b, size_t size) {
    char piece[PIECE];
    while (size > 0) {
        size_t count = LEATI_MIN(size, PIECE);
        memcpy(piece, a, count);
        memcpy(a, b, count);
        memcpy(b, piece, count);
        a += count;
        b += count;
        size -= count;
    }
}

/* With a constant pixel size, which the usual cases have, the copies become single moves. */
static inline void mirror_row(const char *in, char *out, size_t width, size_t pixel_size) {
    for (size_t x = 0; x < width; x++)
        memcpy(out + x * pixel_size, in + (width - 1 - x) * pixel_size, pixel_size);
}

static void mirror(const char *in, char *out, size_t width, size_t pixel_size) {
    switch (pixel_size) {
    case 1: mirror_row(in, out, width, 1); break;
    case 3: mirror_row(in, out, width, 3); break;
    case 4: mirror_row(in, out, width, 4); break;
    case 12: mirror_row(in, out, width, 12); break;
    default: mirror_row(in, out, width, pixel_size); break;
    }
}

/* By the best kernel for this processor; false: plain C must do it. */
static bool mirror_fast(const leati_flip_picture *picture) {
    for (int i = 0; leati_flip_fast[i] != NULL; i++)
        if (leati_flip_fast[i]->runs_here() && leati_flip_fast[i]->rows(picture))
            return true;
    return false;
}

void leati_flip_left_right(const void *in, size_t in_stride, void *out, size_t out_stride,
                           size_t height, size_t width, size_t pixel_size) {
    const leati_flip_picture picture = {.in = in,
                                        .out = out,
                                        .in_stride = in_stride,
                                        .out_stride = out_stride,
                                        .height = height,
                                        .width = width,
                                        .pixel_size = pixel_size,
                                        .far = height * width * pixel_size >= FAR};
    if (in != out && mirror_fast(&picture))
        return;
    for (size_t y = 0; y < height; y++) {
        char *to = (char *)out + y * out_stride;
        if (in != out)
            mirror((const char *)in + y * in_stride, to, width, pixel_size);
        /* The middle pixel of an odd width stays. */
        for (size_t x = 0; in == out && x < width / 2; x++)
            exchange(to + x * pixel_size, to + (width - 1 - x) * pixel_size, pixel_size);
    }
}

void leati_flip_up_down(const void *in, size_t in_stride, void *out, size_t out_stride,
                        size_t height, size_t width, size_t pixel_size) {
    size_t row = width * pixel_size;
    for (size_t y = 0; in != out && y < height; y++)
        memcpy((char *)out + (height - 1 - y) * out_stride, (const char *)in + y * in_stride, row);
    for (size_t y = 0; in == out && y < height / 2; y++)
        exchange((char *)out + y * out_stride, (char *)out + (height - 1 - y) * out_stride, row);
}
