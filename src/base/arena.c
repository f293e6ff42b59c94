/* Arenas: memory that is freed at once.
 *
 * An allocation is cut from the current chunk; when it does not fit, a chunk of at least twice the
 * size of the last one follows. A reset joins several chunks into one as large as all of them, so
 * that after a few rounds of the same work a round allocates nothing. A failed allocation leaves
 * the arena as it was. No locks: one owner. */
#include "base/alloc.h"

#define ALIGNMENT ((size_t)64)
#define FIRST_CAPACITY ((size_t)4096)

struct leati_arena_chunk {
    struct leati_arena_chunk *next;
    size_t capacity; /* bytes behind the header */
};

/* The header takes one alignment unit, so that memory starts aligned. */
#define HEADER ALIGNMENT

_Static_assert(sizeof(struct leati_arena_chunk) <= HEADER, "the header fits its unit");

static struct leati_arena_chunk *chunk_new(size_t capacity) {
    size_t size;
    if (!leati_add_size(capacity, HEADER, &size))
        return NULL;
    struct leati_arena_chunk *chunk = leati_alloc_aligned(size, ALIGNMENT);
    if (chunk == NULL)
        return NULL;
    chunk->next = NULL;
    chunk->capacity = capacity;
    return chunk;
}

static void start_with(leati_arena *arena, struct leati_arena_chunk *chunk) {
    arena->chunks = chunk;
    arena->current = chunk;
    arena->used = 0;
}

/* Appends a chunk with room for `size` bytes and makes it the current one. */
static bool add_chunk(leati_arena *arena, size_t size) {
    size_t capacity = FIRST_CAPACITY;
    if (arena->current != NULL && !leati_mul_size(arena->current->capacity, 2, &capacity))
        capacity = size;
    if (capacity < size)
        capacity = size;
    struct leati_arena_chunk *chunk = chunk_new(capacity);
    /* The growth is a wish: near the memory limit the exact size may still be there. */
    if (chunk == NULL && capacity > size)
        chunk = chunk_new(size);
    if (chunk == NULL)
        return false;
    if (arena->current == NULL) {
        start_with(arena, chunk);
    } else {
        arena->current->next = chunk;
        arena->current = chunk;
        arena->used = 0;
    }
    return true;
}

void *leati_arena_alloc(leati_arena *arena, size_t size) {
    size_t rounded;
    /* Whole units keep `used`, and with it the next address, aligned; no two allocations share
     * one. */
    if (!leati_add_size(size == 0 ? 1 : size, ALIGNMENT - 1, &rounded))
        return NULL;
    rounded &= ~(ALIGNMENT - 1);
    if (arena->current == NULL || arena->current->capacity - arena->used < rounded) {
        if (!add_chunk(arena, rounded))
            return NULL;
    }
    void *memory = (char *)arena->current + HEADER + arena->used;
    arena->used += rounded;
    return memory;
}

void leati_arena_reset(leati_arena *arena) {
    struct leati_arena_chunk *first = arena->chunks;
    if (first == NULL || first->next == NULL) {
        start_with(arena, first);
        return;
    }
    size_t total = 0;
    for (struct leati_arena_chunk *chunk = first; chunk != NULL; chunk = chunk->next)
        total += chunk->capacity;
    /* The old chunks go first, so that twice the memory is never held. Without memory for the new
     * one the arena is empty, and the next allocation starts it again. */
    leati_arena_fini(arena);
    start_with(arena, chunk_new(total));
}

void leati_arena_fini(leati_arena *arena) {
    struct leati_arena_chunk *chunk = arena->chunks;
    while (chunk != NULL) {
        struct leati_arena_chunk *next = chunk->next;
        leati_free(chunk);
        chunk = next;
    }
    start_with(arena, NULL);
}
