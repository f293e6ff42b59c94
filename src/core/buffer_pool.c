/* A pool of equal buffers, so that a steady state that fills one batch after the other allocates
 * nothing.
 *
 * `take` hands out an idle buffer or makes a new one; the last leat_buffer_unref brings it back.
 * The pool's users are its opener and every buffer that is out; the last of them frees it, so a
 * consumer may keep a batch longer than the iterator lives. Failures: RESOURCE_EXHAUSTED from take
 * and new. Locks: `lock` guards `idle`, `users` and `closed`; nothing is called while it is held.
 */
#include "core/buffer.h"

#include "base/alloc.h"
#include "base/error.h"
#include <pthread.h>

struct leati_buffer_pool {
    pthread_mutex_t lock;
    size_t size;
    leat_buffer *idle; /* linked by `next`; under lock */
    int64_t users;     /* buffers out, and one until close; under lock */
    bool closed;       /* under lock */
};

leati_buffer_pool *leati_buffer_pool_new(size_t size, leat_error *err) {
    leati_buffer_pool *pool = leati_alloc_zero(1, sizeof *pool);
    if (pool == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    pthread_mutex_init(&pool->lock, NULL);
    pool->size = size;
    pool->users = 1;
    return pool;
}

static void pool_free(leati_buffer_pool *pool) {
    pthread_mutex_destroy(&pool->lock);
    leati_free(pool);
}

leat_buffer *leati_buffer_pool_take(leati_buffer_pool *pool, leat_error *err) {
    pthread_mutex_lock(&pool->lock);
    leat_buffer *buffer = pool->idle;
    if (buffer != NULL) {
        pool->idle = buffer->next;
        pool->users++;
    }
    pthread_mutex_unlock(&pool->lock);
    if (buffer != NULL) {
        buffer->next = NULL;
        /* What the last user left in the header; `holds` were dropped when the buffer came back. */
        buffer->filled = 0;
        atomic_store_explicit(&buffer->refs, 1, memory_order_relaxed);
        return buffer;
    }
    /* Outside of the lock: allocating may take long, and others bring buffers back meanwhile. */
    buffer = leat_buffer_new(pool->size, err);
    if (buffer == NULL)
        return NULL;
    buffer->pool = pool;
    pthread_mutex_lock(&pool->lock);
    pool->users++;
    pthread_mutex_unlock(&pool->lock);
    return buffer;
}

void leati_buffer_pool_return(leati_buffer_pool *pool, leat_buffer *buffer) {
    pthread_mutex_lock(&pool->lock);
    bool closed = pool->closed;
    /* Read under the lock: afterwards another thread may free the pool. */
    bool last = --pool->users == 0;
    if (!closed) {
        buffer->next = pool->idle;
        pool->idle = buffer;
    }
    pthread_mutex_unlock(&pool->lock);
    if (closed)
        leati_buffer_free(buffer);
    if (last)
        pool_free(pool);
}

void leati_buffer_pool_close(leati_buffer_pool *pool) {
    if (pool == NULL)
        return;
    pthread_mutex_lock(&pool->lock);
    leat_buffer *idle = pool->idle;
    pool->idle = NULL;
    pool->closed = true;
    bool last = --pool->users == 0;
    pthread_mutex_unlock(&pool->lock);
    while (idle != NULL) {
        leat_buffer *next = idle->next;
        leati_buffer_free(idle);
        idle = next;
    }
    if (last)
        pool_free(pool);
}
