/* SHA-256 (FIPS 180-4) and HMAC-SHA256 (RFC 2104, RFC 4231), for what must be told from what a
 * stranger makes up; checksums of data are base/hash.h's and file/crc.h's. */
#ifndef LEATI_BASE_SHA256_H
#define LEATI_BASE_SHA256_H

#include <leat/base.h>

enum { LEATI_SHA256_BYTES = 32, LEATI_SHA256_BLOCK = 64 };

/* A hash in progress; of one thread. */
typedef struct leati_sha256 {
    uint32_t state[8];
    uint64_t size; /* bytes so far */
    uint8_t block[LEATI_SHA256_BLOCK];
} leati_sha256;

void leati_sha256_begin(leati_sha256 *hash);
void leati_sha256_add(leati_sha256 *hash, const void *bytes, size_t size);
/* Writes the hash of all that was added; `hash` is of no more use. */
void leati_sha256_end(leati_sha256 *hash, uint8_t out[LEATI_SHA256_BYTES]);

/* The code by which who has `key` vouches for a message. */
void leati_sha256_hmac(const void *key, size_t key_size, const void *message, size_t size,
                       uint8_t out[LEATI_SHA256_BYTES]);
/* In a time that does not depend on where two codes differ. */
bool leati_sha256_same(const uint8_t a[LEATI_SHA256_BYTES], const uint8_t b[LEATI_SHA256_BYTES]);

#endif
