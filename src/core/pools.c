/* Size classes over leati_buffer_pool, so that results of varying size allocate nothing once as
 * many buffers exist as are in use at a time.
 *
 * Class 0 holds 64 bytes; after that each octave has four classes. Beyond the last class (a
 * terabyte) buffers are plain allocations. Failure: RESOURCE_EXHAUSTED. Locks: the pools' own. */
#include "core/pools.h"

#define SMALLEST 6 /* log2 of class 0 */

/* The class of `size`, and the bytes that its buffers have. */
static int size_class(size_t size, size_t *capacity) {
    if (size <= (size_t)1 << SMALLEST) {
        *capacity = (size_t)1 << SMALLEST;
        return 0;
    }
    /* Of size - 1, so that a power of two is the last class of its octave and not the first of the
     * next. */
    int octave = 63 - __builtin_clzll((unsigned long long)(size - 1));
    size_t quarter = (size_t)1 << (octave - 2);
    /* 1 to 4 quarters above the octave's power of two, rounded up. */
    size_t steps = (size - ((size_t)1 << octave) + quarter - 1) / quarter;
    *capacity = ((size_t)1 << octave) + steps * quarter;
    return (octave - SMALLEST) * 4 + (int)steps;
}

leat_buffer *leati_pools_take(leati_pools *pools, size_t size, leat_error *err) {
    size_t capacity = size;
    int index = size > (size_t)1 << 40 ? LEATI_SIZE_CLASSES : size_class(size, &capacity);
    if (index >= LEATI_SIZE_CLASSES)
        return leat_buffer_new(size, err);
    if (pools->classes[index] == NULL) {
        pools->classes[index] = leati_buffer_pool_new(capacity, err);
        if (pools->classes[index] == NULL)
            return NULL;
    }
    return leati_buffer_pool_take(pools->classes[index], err);
}

void leati_pools_close(leati_pools *pools) {
    for (int i = 0; i < LEATI_SIZE_CLASSES; i++) {
        leati_buffer_pool_close(pools->classes[i]);
        pools->classes[i] = NULL;
    }
}
