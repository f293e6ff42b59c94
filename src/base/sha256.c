/* SHA-256 and HMAC by their standards' definitions (base/sha256.h).
 *
 * An own one, because every build needs it and a job hashes a few hundred bytes once: no library is
 * linked for that. Never fails; nothing is allocated. */
#include "base/sha256.h"
#include "base/minmax.h"
#include <string.h>

/* The first 32 bits of the fractions of the cube roots of the first 64 primes. */
static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t turn(uint32_t x, int by) {
    return (x >> by) | (x << (32 - by));
}

static void add_block(leati_sha256 *hash, const uint8_t *bytes) {
    uint32_t w[64], v[8];
    for (int i = 0; i < 16; i++) {
        w[i] = (uint32_t)bytes[4 * i] << 24 | (uint32_t)bytes[4 * i + 1] << 16 |
               (uint32_t)bytes[4 * i + 2] << 8 | bytes[4 * i + 3];
    }
    for (int i = 16; i < 64; i++) {
        uint32_t a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + w[i - 7] + (turn(a, 7) ^ turn(a, 18) ^ (a >> 3)) +
               (turn(b, 17) ^ turn(b, 19) ^ (b >> 10));
    }
    memcpy(v, hash->state, sizeof v);
    for (int i = 0; i < 64; i++) {
        uint32_t a = v[0], e = v[4];
        uint32_t first = v[7] + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) +
                         ((e & v[5]) ^ (~e & v[6])) + constants[i] + w[i];
        uint32_t second =
            (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += first;
        v[0] = first + second;
    }
    for (int i = 0; i < 8; i++)
        hash->state[i] += v[i];
}

void leati_sha256_begin(leati_sha256 *hash) {
    *hash = (leati_sha256){.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
                                     0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void leati_sha256_add(leati_sha256 *hash, const void *bytes, size_t size) {
    const uint8_t *from = bytes;
    while (size > 0) {
        size_t at = (size_t)(hash->size % LEATI_SHA256_BLOCK);
        size_t part = LEATI_MIN(size, LEATI_SHA256_BLOCK - at);
        memcpy(hash->block + at, from, part);
        hash->size += part;
        from += part;
        size -= part;
        if (at + part == LEATI_SHA256_BLOCK)
            add_block(hash, hash->block);
    }
}

void leati_sha256_end(leati_sha256 *hash, uint8_t out[LEATI_SHA256_BYTES]) {
    static const uint8_t padding[LEATI_SHA256_BLOCK] = {0x80};
    uint64_t bits = hash->size * 8;
    uint8_t length[8];
    for (int i = 0; i < 8; i++)
        length[i] = (uint8_t)(bits >> (56 - 8 * i));
    /* One bit and zeros, so that the length ends a block. */
    size_t at = (size_t)(hash->size % LEATI_SHA256_BLOCK);
    leati_sha256_add(hash, padding, (at < 56 ? 56 : 120) - at);
    leati_sha256_add(hash, length, sizeof length);
    for (int i = 0; i < LEATI_SHA256_BYTES; i++)
        out[i] = (uint8_t)(hash->state[i / 4] >> (24 - 8 * (i % 4)));
}

void leati_sha256_hmac(const void *key, size_t key_size, const void *message, size_t size,
                       uint8_t out[LEATI_SHA256_BYTES]) {
    uint8_t inner[LEATI_SHA256_BLOCK] = {0}, outer[LEATI_SHA256_BLOCK];
    leati_sha256 hash;
    if (key_size > sizeof inner) {
        leati_sha256_begin(&hash);
        leati_sha256_add(&hash, key, key_size);
        leati_sha256_end(&hash, inner);
    } else if (key_size > 0) {
        memcpy(inner, key, key_size);
    }
    for (size_t i = 0; i < sizeof inner; i++) {
        outer[i] = inner[i] ^ 0x5c;
        inner[i] ^= 0x36;
    }
    leati_sha256_begin(&hash);
    leati_sha256_add(&hash, inner, sizeof inner);
    leati_sha256_add(&hash, message, size);
    leati_sha256_end(&hash, out);
    leati_sha256_begin(&hash);
    leati_sha256_add(&hash, outer, sizeof outer);
    leati_sha256_add(&hash, out, LEATI_SHA256_BYTES);
    leati_sha256_end(&hash, out);
    /* What is made of the key does not stay on the stack. */
    explicit_bzero(inner, sizeof inner);
    explicit_bzero(outer, sizeof outer);
    explicit_bzero(&hash, sizeof hash);
}

bool leati_sha256_same(const uint8_t a[LEATI_SHA256_BYTES], const uint8_t b[LEATI_SHA256_BYTES]) {
    /* Volatile: a compiler that knew better would stop at the first difference. */
    volatile uint8_t different = 0;
    for (int i = 0; i < LEATI_SHA256_BYTES; i++)
        different |= a[i] ^ b[i];
    return different == 0;
}
