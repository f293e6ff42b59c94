/* XXH3 over bytes, for fingerprints and tables. Not for untrusted keys. */
#ifndef LEATI_BASE_HASH_H
#define LEATI_BASE_HASH_H

#include <leat/base.h>

uint64_t leati_hash(const void *data, size_t size, uint64_t seed);

#endif
