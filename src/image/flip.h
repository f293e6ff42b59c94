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

#endif
