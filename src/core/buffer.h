/* The inside of leat_buffer, shared by core and by executors with devices of their own. */
#ifndef LEATI_CORE_BUFFER_H
#define LEATI_CORE_BUFFER_H

#include <leat/core.h>
#include <stdatomic.h>

struct leat_buffer {
    atomic_long refs;
    void *data;
    size_t size;
    leat_buffer_deleter deleter; /* NULL: memory behind the header, or static */
    void *context;
    const void *device; /* NULL: host; else the owner's device, data is not for the host to touch */
    leat_buffer **holds; /* buffers that the values here point into; released with this one */
    int32_t num_holds;
    int32_t hold_capacity;
    bool writable; /* leat allocated it */
    bool growable; /* made by leati_buffer_growable */
    size_t filled; /* bytes that leati_block_append has written so far; 0: not one of its buffers */
    /* Bytes of a file: its path (a buffer that owns the text), and which byte stands at data[0];
     * dropped with the last reference. NULL: of no file. */
    leat_buffer *path;
    int64_t path_at;
    struct leati_shared_memory_part *shared; /* that the data are, or NULL (core/shared_memory.h) */
    struct leati_buffer_pool *pool; /* where it goes when its last reference is dropped, or NULL */
    struct leat_buffer *next;       /* in the list of buffers being released, or idle in a pool */
};

/* Keeps `other` (a new reference is taken) alive as long as `buffer`. Only while `buffer` has one
 * owner. Holding the same buffer twice in a row takes one reference. */
LEAT_WARN_UNUSED leat_status leati_buffer_hold(leat_buffer *buffer, leat_buffer *other,
                                               leat_error *err);

/* Says that the buffer shows the file `path` (a reference is taken; NULL: none) from byte `at` on.
 * Only while it has one owner. */
void leati_buffer_set_path(leat_buffer *buffer, leat_buffer *path, int64_t at);
/* The buffer with a path whose memory `address` points into: `buffer` itself or one that it holds.
 * Borrowed; NULL: none. */
const leat_buffer *leati_buffer_with_path(const leat_buffer *buffer, const void *address);

/* True if the caller's reference is the only one and leat allocated the memory: it may be written
 * in place. */
bool leati_buffer_sole_owner(const leat_buffer *buffer);

/* A buffer that leati_buffer_grow can make larger; its data are aligned to 16. Owned. */
leat_buffer *leati_buffer_growable(size_t size, leat_error *err);
/* Makes such a buffer, which has one owner and no pool, `size` bytes long and keeps what it holds:
 * large ones without a copy, where the C library can move pages. The buffer and its data may move;
 * on failure it stays as it is. */
LEAT_WARN_UNUSED leat_status leati_buffer_grow(leat_buffer **buffer, size_t size, leat_error *err);

/* Bytes that keeping this buffer pins, those of held buffers included; 0 for NULL. */
size_t leati_buffer_pinned(const leat_buffer *buffer);

/* An array of `count` tensors whose references the buffer owns and drops at its end; all are {0} at
 * first. */
leat_buffer *leati_buffer_of_tensors(int64_t count, leat_error *err);

/* An array of `count` object pointers, NULL at first; the buffer owns a reference to each that is
 * set. */
leat_buffer *leati_buffer_of_objects(int64_t count, leat_error *err);

/* A pool of equal buffers: `take` gives one (owned) that returns to the pool when its last
 * reference goes, so that the steady state allocates nothing. Thread-safe. The pool lives until its
 * own `close` and all its buffers are back. */
typedef struct leati_buffer_pool leati_buffer_pool;
/* A pool of buffers of `size` bytes, closed by leati_buffer_pool_close. Owned. */
leati_buffer_pool *leati_buffer_pool_new(size_t size, leat_error *err);
leat_buffer *leati_buffer_pool_take(leati_buffer_pool *pool, leat_error *err);
void leati_buffer_pool_close(leati_buffer_pool *pool);
/* For leat_buffer_unref alone: an unreferenced buffer of the pool comes back. */
void leati_buffer_pool_return(leati_buffer_pool *pool, leat_buffer *buffer);
/* For the pool alone: frees a buffer that has no reference and holds nothing. */
void leati_buffer_free(leat_buffer *buffer);

#endif
