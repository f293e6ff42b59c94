/* libspng's memory from leati_alloc. */
#ifndef LEATI_IMAGE_PNG_ALLOC_H
#define LEATI_IMAGE_PNG_ALLOC_H

#include <leat/base.h>

#include <spng.h>

/* A context with the flags of spng_ctx_new, or NULL without memory. Free with spng_ctx_free. */
spng_ctx *leati_png_context(int flags);

/* Bytes of the last allocation that libspng was refused on this thread since the last call of this
 * function or of leati_png_context; 0: none. */
size_t leati_png_refused(void);

#endif
