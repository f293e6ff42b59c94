/* Hooks for libspng. They carry no context, so a refusal is noted per thread, and whoever sees
 * libspng fail asks for the note. No locks. */
#include "image/png_alloc.h"

#include "base/alloc.h"

static _Thread_local size_t refused; /* bytes; 0: nothing was refused */

static void *noted(void *memory, size_t size) {
    if (memory == NULL)
        refused = size == 0 ? 1 : size;
    return memory;
}

static void *take(size_t size) {
    return noted(leati_alloc(size, 1), size);
}

static void *resize(void *memory, size_t size) {
    return noted(leati_resize(memory, size, 1), size);
}

static void *take_zero(size_t count, size_t size) {
    return noted(leati_alloc_zero(count, size), count * size);
}

static void release(void *memory) {
    leati_free(memory);
}

spng_ctx *leati_png_context(int flags) {
    struct spng_alloc hooks = {
        .malloc_fn = take, .realloc_fn = resize, .calloc_fn = take_zero, .free_fn = release};
    refused = 0;
    return spng_ctx_new2(&hooks, flags);
}

size_t leati_png_refused(void) {
    size_t size = refused;
    refused = 0;
    return size;
}
