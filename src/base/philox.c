/* Philox4x32-10 as TensorFlow lays it out, and its conversions to floats and normals.
 *
 * The rounds are Random123's; its counter and key words are TensorFlow's in the same order. A
 * generator is a value: no locks, one owner. */
#include "base/random.h"

#include "base/isa.h"
#include <Random123/philox.h>
#include <math.h>
#include <string.h>

static uint32_t low_word(uint64_t value) {
    return (uint32_t)value;
}

static uint32_t high_word(uint64_t value) {
    return (uint32_t)(value >> 32);
}

leati_philox leati_philox_new(uint64_t seed, uint64_t seed2) {
    return (leati_philox){
        .counter = {0, 0, low_word(seed2), high_word(seed2)},
        .key = {low_word(seed), high_word(seed)},
    };
}

void leati_philox_skip(leati_philox *philox, uint64_t blocks) {
    uint32_t *counter = philox->counter;
    uint64_t low = ((uint64_t)counter[1] << 32) | counter[0];
    uint64_t sum = low + blocks;
    counter[0] = low_word(sum);
    counter[1] = high_word(sum);
    /* `blocks` has 64 bits, so at most one is carried into the upper half. */
    if (sum < low && ++counter[2] == 0)
        counter[3]++;
}

void leati_philox_next(leati_philox *philox, uint32_t out[4]) {
    philox4x32_ctr_t counter;
    philox4x32_key_t key;
    memcpy(counter.v, philox->counter, sizeof counter.v);
    memcpy(key.v, philox->key, sizeof key.v);
    counter = philox4x32_R(10, counter, key);
    memcpy(out, counter.v, sizeof counter.v);
    leati_philox_skip(philox, 1);
}

/* ---- many blocks at once ---- */
enum { LANES = 16 };

typedef struct philox_lanes {
    const leati_philox *philox;
    uint32_t *out;
} philox_lanes;

/* The LANES blocks from the counter on; its lower half must not overflow in them. */
LEATI_ALWAYS_INLINE void lanes_loop(philox_lanes *lanes) {
    const uint32_t *counter = lanes->philox->counter;
    uint64_t first = ((uint64_t)counter[1] << 32) | counter[0];
    uint32_t a[LANES], b[LANES], c[LANES], d[LANES];
    uint32_t key0 = lanes->philox->key[0], key1 = lanes->philox->key[1];
    for (int i = 0; i < LANES; i++) {
        a[i] = low_word(first + (uint64_t)i);
        b[i] = high_word(first + (uint64_t)i);
        c[i] = counter[2];
        d[i] = counter[3];
    }
    for (int round = 0; round < 10; round++) {
        uint32_t high_a[LANES], high_c[LANES];
        /* Loops of their own, which compilers know as vector code. */
        for (int i = 0; i < LANES; i++)
            high_a[i] = high_word((uint64_t)a[i] * PHILOX_M4x32_0);
        for (int i = 0; i < LANES; i++)
            high_c[i] = high_word((uint64_t)c[i] * PHILOX_M4x32_1);
        for (int i = 0; i < LANES; i++) {
            uint32_t low_a = a[i] * PHILOX_M4x32_0, low_c = c[i] * PHILOX_M4x32_1;
            a[i] = high_c[i] ^ b[i] ^ key0;
            b[i] = low_c;
            c[i] = high_a[i] ^ d[i] ^ key1;
            d[i] = low_a;
        }
        key0 += PHILOX_W32_0;
        key1 += PHILOX_W32_1;
    }
    for (int i = 0; i < LANES; i++) {
        lanes->out[4 * i] = a[i];
        lanes->out[4 * i + 1] = b[i];
        lanes->out[4 * i + 2] = c[i];
        lanes->out[4 * i + 3] = d[i];
    }
}
LEATI_ISA(next_lanes, lanes_loop, philox_lanes *)

void leati_philox_blocks(leati_philox *philox, uint32_t *out, int64_t count) {
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        uint64_t first = ((uint64_t)philox->counter[1] << 32) | philox->counter[0];
        philox_lanes lanes = {.philox = philox, .out = out + 4 * i};
        if (first > UINT64_MAX - LANES)
            break;
        next_lanes(&lanes);
        leati_philox_skip(philox, LANES);
    }
    for (; i < count; i++)
        leati_philox_next(philox, out + 4 * i);
}

leati_words leati_words_new(uint64_t seed, uint64_t seed2) {
    return (leati_words){.philox = leati_philox_new(seed, seed2), .used = 4};
}

uint32_t leati_words_next(leati_words *words) {
    if (words->used == 4) {
        leati_philox_next(&words->philox, words->block);
        words->used = 0;
    }
    return words->block[words->used++];
}

void leati_words_take(leati_words *words, uint32_t *out, int64_t n) {
    int64_t i = 0;
    while (i < n && words->used < 4)
        out[i++] = words->block[words->used++];
    /* Whole blocks go where they are wanted, without the detour over `block`. */
    leati_philox_blocks(&words->philox, out + i, (n - i) / 4);
    i += (n - i) / 4 * 4;
    while (i < n)
        out[i++] = leati_words_next(words);
}

void leati_words_skip(leati_words *words, uint64_t count) {
    uint64_t left = (uint64_t)(4 - words->used);
    if (count <= left) {
        words->used += (int32_t)count;
        return;
    }
    count -= left;
    leati_philox_skip(&words->philox, count / 4);
    words->used = 4;
    /* The block that the skip ends in is computed, because its other words come next. */
    if (count % 4 != 0) {
        leati_philox_next(&words->philox, words->block);
        words->used = (int32_t)(count % 4);
    }
}

leati_philox leati_philox_stateless(int64_t seed0, int64_t seed1) {
    uint64_t first = (uint64_t)seed0;
    uint64_t second = (uint64_t)seed1;
    /* The constants are TensorFlow's: a fixed key under which the seeds are the counter. */
    leati_philox scrambler = {
        .counter = {low_word(first), high_word(first), low_word(second), high_word(second)},
        .key = {0x3EC8F720u, 0x02461E29u},
    };
    uint32_t mix[4];
    leati_philox_next(&scrambler, mix);
    return (leati_philox){.counter = {0, 0, mix[2], mix[3]}, .key = {mix[0], mix[1]}};
}

float leati_uniform_float(uint32_t word) {
    /* The bits of a float in [1, 2): the sign and exponent of 1, and 23 random bits behind them. */
    uint32_t bits = 0x3F800000u | (word & 0x7FFFFFu);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value - 1.0f;
}

double leati_uniform_double(uint32_t first, uint32_t second) {
    uint64_t bits = ((uint64_t)0x3FF << 52) | ((uint64_t)(first & 0xFFFFFu) << 32) | second;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value - 1.0;
}

void leati_normal_pair(uint32_t a, uint32_t b, float out[2]) {
    const double two_pi = 6.283185307179586476925286766559;
    float u = leati_uniform_float(a);
    if (u < 1.0e-7f)
        u = 1.0e-7f; /* keeps the logarithm finite */
    /* TensorFlow multiplies in double and rounds once; in float the last bit would differ. */
    float angle = (float)(two_pi * (double)leati_uniform_float(b));
    float radius = sqrtf(-2.0f * logf(u));
    out[0] = sinf(angle) * radius;
    out[1] = cosf(angle) * radius;
}
