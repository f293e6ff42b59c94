/* Memory of the C library up to a limit. See limited.h; the count is exact with any threads. */
#include "limited.h"
#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>

static size_t limit;
static atomic_size_t held;

static void *counted(void *memory) {
    if (memory != NULL)
        atomic_fetch_add(&held, malloc_usable_size(memory));
    return memory;
}

static bool fits(size_t size) {
    return size <= limit && atomic_load(&held) + size <= limit;
}

static void *limited_alloc(void *context, size_t size, size_t alignment) {
    (void)context;
    void *memory = NULL;
    return fits(size) && posix_memalign(&memory, alignment, size) == 0 ? counted(memory) : NULL;
}

static void *limited_resize(void *context, void *memory, size_t size) {
    (void)context;
    if (!fits(size))
        return NULL;
    size_t before = malloc_usable_size(memory);
    void *moved = realloc(memory, size);
    if (moved != NULL) {
        atomic_fetch_sub(&held, before);
        counted(moved);
    }
    return moved;
}

static void limited_release(void *context, void *memory) {
    (void)context;
    atomic_fetch_sub(&held, malloc_usable_size(memory));
    free(memory);
}

void limited_memory(size_t most) {
    const leat_allocator limited = {NULL, limited_alloc, limited_resize, limited_release};
    limit = most;
    leat_allocator_set(&limited);
}
