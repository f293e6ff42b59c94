/* Buffers of any size out of pools, one pool per size class (four classes to the octave). */
#ifndef LEATI_CORE_POOLS_H
#define LEATI_CORE_POOLS_H

#include "core/buffer.h"

#define LEATI_SIZE_CLASSES 137

/* {0} is empty. One thread takes; buffers come back from any. */
typedef struct leati_pools {
    leati_buffer_pool *classes[LEATI_SIZE_CLASSES];
} leati_pools;

/* A buffer of at least `size` bytes, at most a quarter more. Owned. */
leat_buffer *leati_pools_take(leati_pools *pools, size_t size, leat_error *err);
/* Buffers that are out stay valid. */
void leati_pools_close(leati_pools *pools);

#endif
