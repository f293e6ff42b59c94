/* The list of large blocks that were freed; see kept.h.
 *
 * Happy path: a block is put at the end of a short list, and the next one who asks for nearly as
 * much takes the last that fits, whose pages are there. The C library knows how long a block is.
 * Nothing is kept where it does not say so, nor under the sanitizers, which would not see that such
 * memory is used after it was freed. Failures: none. Locks: `lock` around the list, a leaf; what
 * goes is freed outside of it. */
#define _GNU_SOURCE
#include "base/kept.h"

#include "base/fork.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
    __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#endif
#if defined(__GLIBC__) && !defined(SANITIZED)
#include <malloc.h>
#define KEEPS 1
#else
#define KEEPS 0
#endif

enum { PLACES = 256 };
#define MOST ((size_t)128 << 20)

typedef struct block {
    void *memory;
    size_t bytes;
} block;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static block blocks[PLACES]; /* lock; the one freed last is last */
static int num_blocks;       /* lock */
static size_t total;         /* lock; bytes of all */
static size_t limit;         /* lock; 0 bytes: not asked for yet, unless `is_set` */
static bool is_set;          /* lock */

LEATI_FORK_LOCK(kept, &lock);

/* Under the lock. */
static size_t the_limit(void) {
    if (!is_set) {
        long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
        size_t part = pages > 0 && page > 0 ? (size_t)pages / 32 * (size_t)page : 0;
        limit = part < MOST ? part : MOST;
        is_set = true;
    }
    return limit;
}

/* Takes block `index` out of the list, under the lock. */
static block remove_block(int index) {
    block found = blocks[index];
    num_blocks--;
    memmove(&blocks[index], &blocks[index + 1], (size_t)(num_blocks - index) * sizeof *blocks);
    total -= found.bytes;
    return found;
}

/* Moves the oldest to `gone` until `bytes` more fit into `most`, under the lock; how many. */
static int make_room(size_t bytes, size_t most, block *gone) {
    int count = 0;
    while (num_blocks > 0 && (total + bytes > most || num_blocks == PLACES))
        gone[count++] = remove_block(0);
    return count;
}

static void free_blocks(const block *gone, int count) {
    for (int i = 0; i < count; i++)
        free(gone[i].memory);
}

void *leati_kept_take(size_t bytes, size_t alignment) {
    void *found = NULL;
    if (!KEEPS || bytes < LEATI_KEPT_LEAST)
        return NULL;
    pthread_mutex_lock(&lock);
    /* From the last, whose memory is likeliest in a cache. An eighth more is not worth new pages.
     */
    for (int i = num_blocks - 1; i >= 0 && found == NULL; i--)
        if (blocks[i].bytes >= bytes && blocks[i].bytes - bytes <= bytes / 8 &&
            (uintptr_t)blocks[i].memory % alignment == 0)
            found = remove_block(i).memory;
    pthread_mutex_unlock(&lock);
    return found;
}

bool leati_kept_give(void *memory) {
#if KEEPS
    size_t bytes = malloc_usable_size(memory);
    if (bytes < LEATI_KEPT_LEAST)
        return false;
    block gone[PLACES];
    int count = 0;
    pthread_mutex_lock(&lock);
    size_t most = the_limit();
    bool fits = bytes <= most;
    if (fits) {
        count = make_room(bytes, most, gone);
        blocks[num_blocks++] = (block){memory, bytes};
        total += bytes;
    }
    pthread_mutex_unlock(&lock);
    free_blocks(gone, count);
    return fits;
#else
    (void)memory;
    return false;
#endif
}

bool leati_kept_drop(void) {
    block gone[PLACES];
    pthread_mutex_lock(&lock);
    int count = make_room(1, 0, gone);
    pthread_mutex_unlock(&lock);
    free_blocks(gone, count);
    return count > 0;
}

size_t leati_kept_bytes(void) {
    pthread_mutex_lock(&lock);
    size_t bytes = total;
    pthread_mutex_unlock(&lock);
    return bytes;
}

void leati_kept_set_limit(size_t bytes) {
    block gone[PLACES];
    pthread_mutex_lock(&lock);
    is_set = false;
    if (bytes < the_limit())
        limit = bytes;
    int count = make_room(0, limit, gone);
    pthread_mutex_unlock(&lock);
    free_blocks(gone, count);
}
