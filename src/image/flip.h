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

/* Mirrors a row into other memory, pixel by pixel moved whole; true if it did, false for a size of
 * pixel that it does not know. */
typedef bool leati_flip_row(const uint8_t *in, uint8_t *out, size_t width, size_t pixel_size);

typedef struct leati_flip_kernel {
    const char *name;
    bool (*runs_here)(void);
    leati_flip_row *row;
} leati_flip_kernel;

/* What this kind of processor has, best first, ended by NULL; flip_wide.c. */
extern const leati_flip_kernel *const leati_flip_fast[];

#endif
