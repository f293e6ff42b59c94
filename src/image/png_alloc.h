/* libspng's memory from leati_alloc. */
#ifndef LEATI_IMAGE_PNG_ALLOC_H
#define LEATI_IMAGE_PNG_ALLOC_H

#include <leat/base.h>

#include <spng.h>

/* A context with the flags of spng_ctx_new, or NULL without memory. Free with spng_ctx_free. A
 * failure of libspng is one of memory where leati_alloc_refused is not 0 then; this call sets it to
 * 0. */
spng_ctx *leati_png_context(int flags);

#endif
