/* The bytes of a PNG without the chunks that do not matter to its pixels. */
#ifndef LEATI_IMAGE_PNG_SOURCE_H
#define LEATI_IMAGE_PNG_SOURCE_H

#include <leat/base.h>

#include <spng.h>

typedef struct leati_png_source {
    const uint8_t *data; /* borrowed: the whole file */
    size_t size;
    size_t at;   /* next byte to give */
    size_t left; /* bytes from there to the end of the current chunk */
    bool last;   /* the current chunk is IEND */
    bool filled; /* the current chunk has content */
} leati_png_source;

/* Starts at the signature, which the caller has checked. */
leati_png_source leati_png_source_new(const uint8_t *data, size_t size);

/* A spng_rw_fn whose `user` is the source. */
int leati_png_source_read(spng_ctx *png, void *user, void *out, size_t length);

/* After libspng has met the last chunk: 0 if that chunk is whole and its checksum right, else one
 * of libspng's codes. (libspng does not look at it.) */
int leati_png_source_check_end(const leati_png_source *source);

#endif
