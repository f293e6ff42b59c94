/* FarmHash's 64-bit fingerprint of bytes: one formula each for up to 3, 7, 16, 32 and 64 bytes, and
 * a loop over pieces of 64 bytes for more, whose last piece ends with the bytes and may overlap the
 * one before. No state, no locks. */
#include "file/wire.h"
#include "graph/support/text/texts.h"

/* FarmHash's k0, k1 and k2: primes between 2^63 and 2^64. The functions below are its farmhashna,
 * where by is "mul"; their numbers have no other reason than that they mix well. */
#define K0 UINT64_C(0xc3a5c85c97cb3127)
#define K1 UINT64_C(0xb492b66fbe98f273)
#define K2 UINT64_C(0x9ae16a3b2f90404f)

static uint64_t rotate_right(uint64_t value, int by) {
    return value >> by | value << (64 - by);
}

static uint64_t fold(uint64_t value) {
    return value ^ value >> 47;
}

/* HashLen16 with a multiplier. */
static uint64_t mix(uint64_t u, uint64_t v, uint64_t by) {
    uint64_t a = fold((u ^ v) * by);
    return fold((v ^ a) * by) * by;
}

static uint64_t hash_to_16(const uint8_t *s, size_t size) {
    uint64_t by = K2 + 2 * (uint64_t)size;
    if (size >= 8) {
        /* The two words overlap where the string is shorter than 16 bytes. */
        uint64_t a = leati_wire_load64(s) + K2, b = leati_wire_load64(s + size - 8);
        return mix(rotate_right(b, 37) * by + a, (rotate_right(a, 25) + b) * by, by);
    }
    if (size >= 4)
        return mix(size + ((uint64_t)leati_wire_load32(s) << 3),
                   (uint64_t)leati_wire_load32(s + size - 4), by);
    if (size == 0)
        return K2;
    /* First, middle and last byte: of one byte all three are the same. */
    uint64_t y = s[0] + ((uint64_t)s[size / 2] << 8), z = size + ((uint64_t)s[size - 1] << 2);
    return fold(y * K2 ^ z * K0) * K2;
}

/* HashLen17to32 and HashLen33to64, which begin alike but for one constant. */
static uint64_t hash_to_64(const uint8_t *s, size_t size) {
    uint64_t by = K2 + 2 * (uint64_t)size, b = leati_wire_load64(s + 8);
    uint64_t a = leati_wire_load64(s) * (size <= 32 ? K1 : K2);
    uint64_t c = leati_wire_load64(s + size - 8) * by, d = leati_wire_load64(s + size - 16) * K2;
    uint64_t y = rotate_right(a + b, 43) + rotate_right(c, 30) + d;
    uint64_t z = mix(y, a + rotate_right(b + K2, 18) + c, by);
    if (size <= 32)
        return z;
    uint64_t e = leati_wire_load64(s + 16) * by, f = leati_wire_load64(s + 24);
    uint64_t g = (y + leati_wire_load64(s + size - 32)) * by,
             h = (z + leati_wire_load64(s + size - 24)) * by;
    return mix(rotate_right(e + f, 43) + rotate_right(g, 30) + h, e + rotate_right(f + a, 18) + g,
               by);
}

typedef struct long_state {
    uint64_t x, y, z, v[2], w[2];
} long_state;

/* Takes 32 bytes into the pair `to`, which begins at a and b. */
static void take_half(uint64_t *to, const uint8_t *s, uint64_t a, uint64_t b) {
    uint64_t first = a + leati_wire_load64(s), last = leati_wire_load64(s + 24);
    uint64_t sum = first + leati_wire_load64(s + 8) + leati_wire_load64(s + 16);
    to[1] = rotate_right(b + first + last, 21) + rotate_right(sum, 44) + first;
    to[0] = sum + last;
}

/* Takes 64 bytes; `times` weighs what the last piece adds. */
static void take_piece(long_state *t, const uint8_t *s, uint64_t by, uint64_t times) {
    uint64_t x = rotate_right(t->x + t->y + t->v[0] + leati_wire_load64(s + 8), 37) * by;
    uint64_t y = rotate_right(t->y + t->v[1] + leati_wire_load64(s + 48), 42) * by;
    uint64_t z = rotate_right(t->z + t->w[0], 33) * by;
    x ^= t->w[1] * times;
    y += t->v[0] * times + leati_wire_load64(s + 40);
    take_half(t->v, s, t->v[1] * by, x + t->w[0]);
    take_half(t->w, s + 32, z + t->w[1], y + leati_wire_load64(s + 16));
    t->x = z;
    t->y = y;
    t->z = x;
}

uint64_t leati_text_fingerprint(const uint8_t *s, size_t size) {
    if (size <= 16)
        return hash_to_16(s, size);
    if (size <= 64)
        return hash_to_64(s, size);
    /* 81 is FarmHash's seed, and x, y and z follow from it. */
    long_state t = {.x = 81 * K2 + leati_wire_load64(s), .y = 81 * K1 + 113};
    t.z = fold(t.y * K2 + 113) * K2;
    /* size - 1, as a string of whole pieces keeps one for the end, which has its own multiplier. */
    size_t rest = (size - 1) % 64;
    for (size_t at = 0; at < size - 1 - rest; at += 64)
        take_piece(&t, s + at, K1, 1);
    /* An odd multiplier, as K1 is odd and what is added even. */
    uint64_t by = K1 + ((t.z & 255) << 1);
    t.w[0] += rest;
    t.v[0] += t.w[0];
    t.w[0] += t.v[0];
    take_piece(&t, s + size - 64, by, 9);
    return mix(mix(t.v[0], t.w[0], by) + fold(t.y) * K0 + t.z, mix(t.v[1], t.w[1], by) + t.x, by);
}
