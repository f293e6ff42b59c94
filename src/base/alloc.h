/* All memory of the library comes from here, so that a user's hook sees each byte and a test can
 * fail each call. Sizes are overflow-checked; a failure returns NULL (the caller writes the error
 * with leati_no_memory). */
#ifndef LEATI_BASE_ALLOC_H
#define LEATI_BASE_ALLOC_H

#include <leat/base.h>

/* Bytes of the last request that was refused on this thread, SIZE_MAX where they overflowed; 0:
 * none was since they were forgotten. */
size_t leati_alloc_refused(void);
void leati_alloc_refused_forget(void);

/* Memory of count * size bytes, aligned to 16. Zero bytes give a valid pointer. */
void *leati_alloc(size_t count, size_t size) LEAT_WARN_UNUSED;
void *leati_alloc_zero(size_t count, size_t size) LEAT_WARN_UNUSED;
/* The same at a power-of-two alignment. */
void *leati_alloc_aligned(size_t size, size_t alignment) LEAT_WARN_UNUSED;
/* Resizes to count * size bytes; on failure the old memory stays valid. Only for memory of
 * leati_alloc(_zero). */
void *leati_alloc_resize(void *memory, size_t count, size_t size) LEAT_WARN_UNUSED;
/* Copy of a string, or of `size` bytes with a terminator added. NULL text gives NULL. */
char *leati_strdup(const char *text) LEAT_WARN_UNUSED;
char *leati_strndup(const char *text, size_t size) LEAT_WARN_UNUSED;
void leati_free(void *memory);

/* Grows *array (element size `size`, capacity *capacity) so that `needed` fit; doubles. False
 * without memory. */
bool leati_grow(void **array, size_t *capacity, size_t needed, size_t size) LEAT_WARN_UNUSED;

/* a + b and a * b with overflow checks: true and *out set, or false. */
bool leati_add_size(size_t a, size_t b, size_t *out);
bool leati_mul_size(size_t a, size_t b, size_t *out);

/* A region freed at once. Not thread-safe: one owner. Chunks are kept over reset, so the steady
 * state allocates nothing. */
typedef struct leati_arena {
    struct leati_arena_chunk *chunks; /* first chunk; the list is in order of use */
    struct leati_arena_chunk *current;
    size_t used; /* bytes used in `current` */
} leati_arena;

/* An empty arena is {0}. alloc returns memory aligned to 64, contents undefined, or NULL. */
void *leati_arena_alloc(leati_arena *arena, size_t size) LEAT_WARN_UNUSED;
void leati_arena_reset(leati_arena *arena);
void leati_arena_fini(leati_arena *arena);

#endif
