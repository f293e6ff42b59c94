/* Reference-counted memory.
 *
 * A buffer that leat allocates is one block: the header, padded to 64 bytes, and the data behind
 * it; where memory is shared with other processes, the data of a large one lie there instead. One
 * that grows has the alignment of malloc alone, which can resize nothing else. An adopted
 * buffer is a header over memory of the caller, with a deleter. A buffer may hold others, into
 * whose memory its values (strings) point. When the last reference goes, the deleter runs, the held
 * buffers are dropped one after the other by a list (a long chain of holds must not become a deep
 * recursion), and the block is freed or goes back to its pool.
 *
 * Failures: no memory gives RESOURCE_EXHAUSTED; an adopted memory's deleter runs then too.
 * Locks: none; counts are atomic. Holding needs a single owner. */
#include "core/buffer.h"

#include "base/alloc.h"
#include "base/debug.h"
#include "base/error.h"
#include "core/object.h"
#include "core/shared_memory.h"
#include <string.h>

#define ALIGNMENT 64
#define HEADER ((sizeof(leat_buffer) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT)

/* How deep leati_buffer_pinned follows holds; deeper buffers are small change. */
#define PINNED_DEPTH 4 /* and how deep leati_buffer_with_path does */

/* Fills the header of a block of `size` bytes and the header; NULL: there was no memory. */
static leat_buffer *begin_block(leat_buffer *buffer, size_t size, leat_error *err) {
    if (buffer == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    /* The header alone; the data stays as it is, and whoever needs zeros writes them. */
    memset(buffer, 0, sizeof *buffer);
    atomic_init(&buffer->refs, 1);
    buffer->data = (char *)buffer + HEADER;
    buffer->size = size;
    buffer->writable = true;
    return buffer;
}

/* A buffer whose data lie in shared memory; NULL: there is none. */
static leat_buffer *shared_block(size_t size) {
    void *data;
    leati_shared_memory_part *part = leati_shared_memory_take(size, &data);
    if (part == NULL)
        return NULL;
    leat_buffer *buffer =
        begin_block(leati_alloc_aligned(HEADER, ALIGNMENT), size, &(leat_error){0});
    if (buffer == NULL) {
        leati_shared_memory_give(part);
        return NULL;
    }
    buffer->data = data;
    buffer->shared = part;
    return buffer;
}

leat_buffer *leat_buffer_new(size_t size, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_buffer *shared = size >= LEATI_SHARED_MEMORY_LEAST ? shared_block(size) : NULL;
    if (shared != NULL)
        return shared;
    size_t total;
    bool fits = leati_add_size(HEADER, size, &total);
    return begin_block(fits ? leati_alloc_aligned(total, ALIGNMENT) : NULL, size, err);
}

leat_buffer *leati_buffer_growable(size_t size, leat_error *err) {
    size_t total;
    /* Not aligned further than the header asks: only such memory can be resized. */
    bool fits = leati_add_size(HEADER, size, &total);
    leat_buffer *buffer = begin_block(fits ? leati_alloc(total, 1) : NULL, size, err);
    if (buffer != NULL)
        buffer->growable = true;
    return buffer;
}

leat_status leati_buffer_grow(leat_buffer **buffer, size_t size, leat_error *err) {
    size_t total;
    LEATI_ASSERT((*buffer)->growable && leati_buffer_sole_owner(*buffer));
    leat_buffer *grown =
        leati_add_size(HEADER, size, &total) ? leati_alloc_resize(*buffer, total, 1) : NULL;
    if (grown == NULL)
        return leati_no_memory(err);
    grown->data = (char *)grown + HEADER;
    grown->size = size;
    *buffer = grown;
    return LEAT_OK;
}

leat_buffer *leat_buffer_adopt(void *data, size_t size, leat_buffer_deleter deleter, void *context,
                               leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_buffer *buffer = leati_alloc_zero(1, sizeof *buffer);
    if (buffer == NULL) {
        if (deleter != NULL)
            deleter(context, data, size);
        leati_no_memory(err);
        return NULL;
    }
    atomic_init(&buffer->refs, 1);
    buffer->data = data;
    buffer->size = size;
    buffer->deleter = deleter;
    buffer->context = context;
    return buffer;
}

leat_buffer *leat_buffer_ref(leat_buffer *buffer) {
    /* Relaxed: whoever adds a reference has one, so nothing can be freed meanwhile. */
    if (buffer != NULL)
        atomic_fetch_add_explicit(&buffer->refs, 1, memory_order_relaxed);
    return buffer;
}

void leati_buffer_free(leat_buffer *buffer) {
    if (buffer->shared != NULL)
        leati_shared_memory_give(buffer->shared);
    leati_free(buffer->holds);
    leati_free(buffer);
}

/* Drops a reference; true if it was the last. */
static bool drop(leat_buffer *buffer) {
    return atomic_fetch_sub_explicit(&buffer->refs, 1, memory_order_acq_rel) == 1;
}

void leat_buffer_unref(leat_buffer *buffer) {
    if (buffer == NULL || !drop(buffer))
        return;
    /* Nobody else can reach a buffer whose last reference is gone: its `next` is free to be a
     * list. */
    buffer->next = NULL;
    for (leat_buffer *list = buffer; list != NULL;) {
        leat_buffer *dead = list;
        list = dead->next;
        /* Before the holds: values that the deleter drops may point into them. */
        if (dead->deleter != NULL)
            dead->deleter(dead->context, dead->data, dead->size);
        for (int32_t i = 0; i < dead->num_holds; i++) {
            leat_buffer *held = dead->holds[i];
            if (drop(held)) {
                held->next = list;
                list = held;
            }
        }
        /* The array itself stays: a buffer of a pool uses it again. */
        dead->num_holds = 0;
        if (dead->path != NULL && drop(dead->path)) {
            dead->path->next = list;
            list = dead->path;
        }
        dead->path = NULL;
        if (dead->pool != NULL)
            leati_buffer_pool_return(dead->pool, dead);
        else
            leati_buffer_free(dead);
    }
}

void *leat_buffer_data(const leat_buffer *buffer) {
    return buffer->data;
}

size_t leat_buffer_size(const leat_buffer *buffer) {
    return buffer->size;
}

leat_status leati_buffer_hold(leat_buffer *buffer, leat_buffer *other, leat_error *err) {
    if (other == NULL || other == buffer)
        return LEAT_OK;
    /* Rows of one source come one after the other; looking at the last hold keeps the list short
     * without a search. */
    if (buffer->num_holds > 0 && buffer->holds[buffer->num_holds - 1] == other)
        return LEAT_OK;
    void *holds = buffer->holds;
    size_t capacity = (size_t)buffer->hold_capacity;
    size_t needed = (size_t)buffer->num_holds + 1;
    /* Capacities double, and hold_capacity is an int32. */
    if (needed > INT32_MAX / 2 || !leati_grow(&holds, &capacity, needed, sizeof(leat_buffer *)))
        return leati_no_memory(err);
    buffer->holds = holds;
    buffer->hold_capacity = (int32_t)capacity;
    buffer->holds[buffer->num_holds++] = leat_buffer_ref(other);
    return LEAT_OK;
}

void leati_buffer_set_path(leat_buffer *buffer, leat_buffer *path, int64_t at) {
    if (buffer->path != path) {
        leat_buffer_unref(buffer->path);
        buffer->path = leat_buffer_ref(path);
    }
    buffer->path_at = at;
}

static const leat_buffer *with_path(const leat_buffer *buffer, uintptr_t address, int depth) {
    uintptr_t begin = (uintptr_t)buffer->data;
    const leat_buffer *found = NULL;
    /* The end is inside, too: an empty string behind the last byte still has a place in the
     * file. */
    if (buffer->path != NULL && address >= begin && address <= begin + buffer->size)
        return buffer;
    for (int32_t i = 0; found == NULL && depth > 0 && i < buffer->num_holds; i++)
        found = with_path(buffer->holds[i], address, depth - 1);
    return found;
}

const leat_buffer *leati_buffer_with_path(const leat_buffer *buffer, const void *address) {
    return buffer != NULL ? with_path(buffer, (uintptr_t)address, PINNED_DEPTH) : NULL;
}

bool leati_buffer_sole_owner(const leat_buffer *buffer) {
    /* Acquire pairs with the release of the reference that went last: its reads are over before the
     * caller writes. */
    return buffer != NULL && buffer->writable && buffer->device == NULL &&
           (buffer->shared == NULL || leati_shared_memory_is_own(buffer->shared)) &&
           atomic_load_explicit(&buffer->refs, memory_order_acquire) == 1;
}

static size_t pinned(const leat_buffer *buffer, int depth) {
    size_t bytes = buffer->size;
    for (int32_t i = 0; depth > 0 && i < buffer->num_holds; i++)
        if (!leati_add_size(bytes, pinned(buffer->holds[i], depth - 1), &bytes))
            return SIZE_MAX;
    return bytes;
}

size_t leati_buffer_pinned(const leat_buffer *buffer) {
    return buffer != NULL ? pinned(buffer, PINNED_DEPTH) : 0;
}

static void drop_tensors(void *context, void *data, size_t size) {
    (void)context;
    leat_tensor *tensors = data;
    for (size_t i = 0; i < size / sizeof *tensors; i++)
        leat_buffer_unref(tensors[i].owner);
}

static void drop_objects(void *context, void *data, size_t size) {
    (void)context;
    leat_object **objects = data;
    for (size_t i = 0; i < size / sizeof *objects; i++)
        leati_object_unref(objects[i]);
}

/* A zeroed array whose values `deleter` releases. */
static leat_buffer *buffer_of_array(int64_t count, size_t size, leat_buffer_deleter deleter,
                                    leat_error *err) {
    size_t bytes;
    if (count < 0 || !leati_mul_size((size_t)count, size, &bytes)) {
        leati_no_memory(err);
        return NULL;
    }
    leat_buffer *buffer = leat_buffer_new(bytes, err);
    if (buffer == NULL)
        return NULL;
    memset(buffer->data, 0, bytes);
    buffer->deleter = deleter;
    return buffer;
}

leat_buffer *leati_buffer_of_tensors(int64_t count, leat_error *err) {
    return buffer_of_array(count, sizeof(leat_tensor), drop_tensors, err);
}

leat_buffer *leati_buffer_of_objects(int64_t count, leat_error *err) {
    return buffer_of_array(count, sizeof(leat_object *), drop_objects, err);
}
