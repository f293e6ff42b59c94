/* The Mersenne Twister MT19937 of Matsumoto and Nishimura, seeded and read as CPython's
 * random.Random does it, because TensorFlow draws its operation seeds from that.
 *
 * No locks: the global stream in seed.c has one of its own. */
#include "base/random.h"

#define N 624
#define M 397

static void seed_by_number(leati_mt19937 *mt, uint32_t seed) {
    mt->state[0] = seed;
    /* init_genrand of the authors' reference code, whose next function is its init_by_array. */
    for (uint32_t i = 1; i < N; i++) {
        uint32_t previous = mt->state[i - 1];
        mt->state[i] = 1812433253u * (previous ^ (previous >> 30)) + i;
    }
    mt->index = N;
}

static uint32_t mix(uint32_t previous, uint32_t factor) {
    return (previous ^ (previous >> 30)) * factor;
}

void leati_mt19937_seed(leati_mt19937 *mt, uint64_t seed) {
    uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    /* CPython's key has no leading zero digits: a small seed is a key of one. */
    uint32_t length = key[1] != 0 ? 2 : 1;
    seed_by_number(mt, 19650218u);
    uint32_t *state = mt->state;
    uint32_t i = 1;
    uint32_t j = 0;
    for (int k = 0; k < N; k++) {
        state[i] = (state[i] ^ mix(state[i - 1], 1664525u)) + key[j] + j;
        j = (j + 1) % length;
        if (++i == N) {
            state[0] = state[N - 1];
            i = 1;
        }
    }
    for (int k = 0; k < N - 1; k++) {
        state[i] = (state[i] ^ mix(state[i - 1], 1566083941u)) - i;
        if (++i == N) {
            state[0] = state[N - 1];
            i = 1;
        }
    }
    /* Whatever the key, the state is not all zeros, from which the generator would never leave. */
    state[0] = 0x80000000u;
}

static void refill(leati_mt19937 *mt) {
    uint32_t *state = mt->state;
    for (int i = 0; i < N; i++) {
        /* In place: from N - M on a word is joined with one that is renewed already, as it should
         * be. */
        uint32_t joined = (state[i] & 0x80000000u) | (state[(i + 1) % N] & 0x7FFFFFFFu);
        uint32_t twist = (joined & 1u) != 0 ? 0x9908B0DFu : 0;
        state[i] = state[(i + M) % N] ^ (joined >> 1) ^ twist;
    }
    mt->index = 0;
}

uint32_t leati_mt19937_next(leati_mt19937 *mt) {
    if (mt->index >= N)
        refill(mt);
    uint32_t word = mt->state[mt->index++];
    /* The tempering: it spreads the state's bits, and costs no information. */
    word ^= word >> 11;
    word ^= (word << 7) & 0x9D2C5680u;
    word ^= (word << 15) & 0xEFC60000u;
    return word ^ (word >> 18);
}

/* CPython draws as many bits as the number of values high + 1 has, low words first, and rejects
 * what is too large. The 65th bit, needed only when high is the largest number, is `*beyond`. */
static uint64_t draw_bits(leati_mt19937 *mt, int bits, bool *beyond) {
    uint64_t value = 0;
    *beyond = false;
    for (int at = 0; at < bits; at += 32) {
        uint64_t word = leati_mt19937_next(mt);
        if (bits - at < 32)
            word >>= 32 - (bits - at);
        if (at < 64)
            value |= word << at;
        else
            *beyond = word != 0;
    }
    return value;
}

uint64_t leati_mt19937_randint(leati_mt19937 *mt, uint64_t high) {
    /* The bit length of high + 1, not of high: a power of two draws a bit more than it needs. */
    int bits = high == UINT64_MAX ? 65 : 64 - __builtin_clzll(high + 1);
    uint64_t value;
    bool beyond;
    do {
        value = draw_bits(mt, bits, &beyond);
    } while (beyond || value > high);
    return value;
}
