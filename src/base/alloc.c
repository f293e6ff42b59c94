/* Allocation through the user's hook, or the C library's functions when there is none.
 *
 * The hook is a plain global: leat_allocator_set is documented as not thread-safe, so reading it
 * needs no lock and the common path is one branch before malloc. Every failure, also that of an
 * overflowing size, is a NULL, whose size is noted per thread; the caller writes the error. */
#define _GNU_SOURCE
#include "base/alloc.h"

#include "base/kept.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define MIN_ALIGNMENT 16 /* what malloc gives on 64-bit machines, asked of a hook too */
#define LARGE_PAGES_LEAST                                                                          \
    ((size_t)4 << 20) /* bytes of a block that has two of them for certain                         \
                       */

static leat_allocator hook; /* all NULL: the C library; changed only while nothing is alive */
static _Thread_local size_t refused; /* bytes; 0: nothing was refused */

void leat_allocator_set(const leat_allocator *allocator) {
    leati_kept_drop();
    if (allocator != NULL)
        hook = *allocator;
    else
        memset(&hook, 0, sizeof hook);
}

bool leati_add_size(size_t a, size_t b, size_t *out) {
    return !__builtin_add_overflow(a, b, out);
}

bool leati_mul_size(size_t a, size_t b, size_t *out) {
    return !__builtin_mul_overflow(a, b, out);
}

/* Bytes to ask for: at least one, so that the pointer is valid, and at most what a pointer
 * difference can hold. */
static bool bytes_of(size_t count, size_t size, size_t *out) {
    if (!leati_mul_size(count, size, out) || *out > (size_t)PTRDIFF_MAX) {
        refused = SIZE_MAX;
        return false;
    }
    if (*out == 0)
        *out = 1;
    return true;
}

/* What is kept may be what is short: then the call is worth another try. */
static bool is_retried(const void *memory) {
    return memory == NULL && leati_kept_drop();
}

static void *noted(void *memory, size_t bytes) {
    if (memory == NULL)
        refused = bytes;
    return memory;
}

size_t leati_alloc_refused(void) {
    return refused;
}

void leati_alloc_refused_forget(void) {
    refused = 0;
}

void *leati_alloc(size_t count, size_t size) {
    size_t bytes;
    if (!bytes_of(count, size, &bytes))
        return NULL;
    if (hook.alloc != NULL)
        return noted(hook.alloc(hook.context, bytes, MIN_ALIGNMENT), bytes);
    void *memory = malloc(bytes);
    return noted(is_retried(memory) ? malloc(bytes) : memory, bytes);
}

void *leati_alloc_zero(size_t count, size_t size) {
    size_t bytes;
    if (!bytes_of(count, size, &bytes))
        return NULL;
    void *memory =
        hook.alloc == NULL ? calloc(1, bytes) : hook.alloc(hook.context, bytes, MIN_ALIGNMENT);
    if (hook.alloc == NULL)
        return noted(is_retried(memory) ? calloc(1, bytes) : memory, bytes);
    noted(memory, bytes);
    if (memory != NULL)
        memset(memory, 0, bytes);
    return memory;
}

/* Pages of new memory are made when it is first written: large ones are 512 times fewer. Where they
 * are not to be had, nothing changes. */
static void ask_for_large_pages(void *memory, size_t bytes) {
#ifdef MADV_HUGEPAGE
    const uintptr_t page = 4096;
    uintptr_t begin = ((uintptr_t)memory + page - 1) / page * page;
    uintptr_t end = ((uintptr_t)memory + bytes) / page * page;
    (void)madvise((void *)begin, end - begin, MADV_HUGEPAGE);
#else
    (void)memory, (void)bytes;
#endif
}

void *leati_alloc_aligned(size_t size, size_t alignment) {
    size_t bytes;
    if (!bytes_of(1, size, &bytes))
        return NULL;
    if (alignment < MIN_ALIGNMENT)
        alignment = MIN_ALIGNMENT;
    if (hook.alloc != NULL)
        return noted(hook.alloc(hook.context, bytes, alignment), bytes);
    void *memory = leati_kept_take(bytes, alignment);
    if (memory != NULL)
        return memory;
    /* What is kept may be what is short. */
    while (posix_memalign(&memory, alignment, bytes) != 0) {
        memory = NULL;
        if (!leati_kept_drop())
            break;
    }
    if (memory != NULL && bytes >= LARGE_PAGES_LEAST)
        ask_for_large_pages(memory, bytes);
    return noted(memory, bytes);
}

void *leati_alloc_resize(void *memory, size_t count, size_t size) {
    size_t bytes;
    if (!bytes_of(count, size, &bytes))
        return NULL;
    if (hook.alloc == NULL) {
        void *resized = realloc(memory, bytes);
        return noted(is_retried(resized) ? realloc(memory, bytes) : resized, bytes);
    }
    return noted(memory == NULL ? hook.alloc(hook.context, bytes, MIN_ALIGNMENT)
                                : hook.resize(hook.context, memory, bytes),
                 bytes);
}

char *leati_strdup(const char *text) {
    return text == NULL ? NULL : leati_strndup(text, strlen(text));
}

char *leati_strndup(const char *text, size_t size) {
    size_t bytes;
    if (text == NULL || !leati_add_size(size, 1, &bytes))
        return NULL;
    char *copy = leati_alloc(bytes, 1);
    if (copy == NULL)
        return NULL;
    /* Not the C library's strndup: the text may have zeros inside. */
    memcpy(copy, text, size);
    copy[size] = '\0';
    return copy;
}

void leati_free(void *memory) {
    if (memory == NULL)
        return;
    if (hook.alloc != NULL)
        hook.release(hook.context, memory);
    else if (!leati_kept_give(memory))
        free(memory);
}

bool leati_grow(void **array, size_t *capacity, size_t needed, size_t size) {
    if (needed <= *capacity)
        return true;
    size_t doubled;
    /* Doubling keeps appending linear over all; one large request gets just what it asks for. */
    if (!leati_mul_size(*capacity, 2, &doubled) || doubled < needed)
        doubled = needed;
    /* An array of a few members is not moved at each of the first appends. */
    if (doubled < 8)
        doubled = 8;
    void *grown = leati_alloc_resize(*array, doubled, size);
    if (grown == NULL)
        return false;
    *array = grown;
    *capacity = doubled;
    return true;
}
