/* Hooks for libspng. They carry no context, so whoever sees libspng fail asks leati_alloc_refused.
 * No locks. */
#include "image/png_alloc.h"

#include "base/alloc.h"

static void *take(size_t size) {
    return leati_alloc(size, 1);
}

static void *resize(void *memory, size_t size) {
    return leati_alloc_resize(memory, size, 1);
}

spng_ctx *leati_png_context(int flags) {
    struct spng_alloc hooks = {.malloc_fn = take,
                               .realloc_fn = resize,
                               .calloc_fn = leati_alloc_zero,
                               .free_fn = leati_free};
    leati_alloc_refused_forget();
    return spng_ctx_new2(&hooks, flags);
}
