/* Mirroring pictures: tf.image.flip_left_right and flip_up_down. */
#ifndef LEATI_IMAGE_FLIP_H
#define LEATI_IMAGE_FLIP_H

#include <leat/base.h>

/* Mirrors a picture of height rows of width pixels of pixel_size bytes (all channels of one pixel).
 * Strides count bytes from row to row. `out` may be `in` with the same stride; otherwise the two
 * do not overlap. Thread-safe, cannot fail. */
void leati_flip_left_right(const void *in, size_t in_stride, void *out, size_t out_stride,
                           size_t height, size_t width, size_t pixel_size);
void leati_flip_up_down(const void *in, size_t in_stride, void *out, size_t out_stride,
                        size_t height, size_t width, size_t pixel_size);

/* ---- between flip.c and its faster paths ---- */

/* A picture that is mirrored into other memory. */
typedef struct leati_flip_picture {
    const uint8_t *in;
    uint8_t *out;
    size_t in_stride, out_stride, height, width, pixel_size;
    bool far; /* the result is more than caches hold: it may be written past them */
} leati_flip_picture;

/* Mirrors the picture, pixels moved whole; true if it did, false for a size of pixel that it does
 * not know. */
typedef bool leati_flip_rows(const leati_flip_picture *picture);

typedef struct leati_flip_kernel {
    const char *name;
    bool (*runs_here)(void);
    leati_flip_rows *rows;
} leati_flip_kernel;

/* What this kind of processor has, best first, ended by NULL; flip_wide.c. */
extern const leati_flip_kernel *const leati_flip_fast[];

/* Asks for the row after the next one: processors foresee lines that are read from the front, and
 * these are read from their end. */
static inline void leati_flip_fetch(const leati_flip_picture *p, size_t y) {
    enum { CACHE_LINE = 64, FETCHED = 8192 };
    size_t size = p->width * p->pixel_size;
    for (size_t b = 0; y + 2 < p->height && b < size && b < FETCHED; b += CACHE_LINE)
        __builtin_prefetch(p->in + (y + 2) * p->in_stride + b);
}

#endif
