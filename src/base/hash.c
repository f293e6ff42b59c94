/* XXH3 with 64 bits, compiled in from the header of xxHash so that nothing is linked. */
#include "base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t leati_hash(const void *data, size_t size, uint64_t seed) {
    return XXH3_64bits_withSeed(data, size, seed);
}
