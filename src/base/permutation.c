/* The cipher and its walk: see permutation.h. Nothing fails, nothing is kept.
 *
 * A block has an even number of bits, at least 16, so that indices fit; a walk needs a few steps
 * where the range nearly fills the block, and some 65,536 / (max_index + 1) in small ranges.
 * TensorFlow takes the bits from the logarithm of max_index, which is one short where that is a
 * power of two with an even exponent from 16 on (and, by rounding, beyond some that are larger than
 * 2^48): there the index that needs the missing bit would go where another one goes, and nothing
 * would come to it. Here such an index stays where it is, and all others go where TensorFlow sends
 * them. */
#include "base/permutation.h"
#include "base/minmax.h"
#include <math.h>

enum { LEAST_BITS = 16 };

static uint64_t rotate_left(const leati_permutation *p, uint64_t x, int bits) {
    return ((x << bits) | (x >> (p->word - bits))) & p->mask;
}

static uint64_t rotate_right(const leati_permutation *p, uint64_t x, int bits) {
    return rotate_left(p, x, p->word - bits);
}

leati_permutation leati_permutation_new(const uint32_t key[3], uint64_t max_index, int rounds) {
    /* The constant sequence of SIMON's key schedule, lowest bit first. */
    uint64_t sequence = UINT64_C(0x7369f885192c0ef5);
    leati_permutation p = {.max_index = max_index, .rounds = rounds};
    int bits = max_index == 0 ? 0 : (int)ceil(log2((double)max_index));
    bits += bits % 2;
    p.word = LEATI_MAX(LEAST_BITS, bits) / 2;
    p.mask = (UINT64_C(1) << p.word) - 1;
    for (int i = 0; i < rounds; i++) {
        if (i < 3) {
            p.keys[i] = key[i] & p.mask;
            continue;
        }
        uint64_t last = p.keys[i - 1];
        /* SIMON's schedule for three key words; its constant is 2^word - 4. */
        p.keys[i] = (UINT64_C(0xfffffffc) & p.mask) ^ (sequence & 1) ^ p.keys[i - 3] ^
                    rotate_right(&p, last, 3) ^ rotate_right(&p, last, 4);
        sequence >>= 1;
    }
    return p;
}

static uint64_t mix(const leati_permutation *p, uint64_t x) {
    return (rotate_left(p, x, 1) & rotate_left(p, x, 8)) ^ rotate_left(p, x, 2);
}

static uint64_t encrypt(const leati_permutation *p, uint64_t block) {
    uint64_t left = block >> p->word, right = block & p->mask;
    /* Two rounds of the Feistel network at once, so the halves need not be swapped. */
    for (int i = 0; i < p->rounds; i += 2) {
        left ^= mix(p, right) ^ p->keys[i];
        right ^= mix(p, left) ^ p->keys[i + 1];
    }
    return left << p->word | right;
}

uint64_t leati_permutation_at(const leati_permutation *p, uint64_t index) {
    /* A block of 64 bits holds any index, and a shift by 64 would be undefined. */
    bool fits = p->word == 32 || index >> (2 * p->word) == 0;
    if (p->max_index == 0 || !fits)
        return index;
    /* The cipher permutes blocks, so its cycle from an index in range comes back into the range. */
    do {
        index = encrypt(p, index);
    } while (index > p->max_index);
    return index;
}
