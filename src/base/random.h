/* Philox4x32-10 in TensorFlow's layout, CPython's Mersenne Twister for global seeds, and the rules
 * that turn a user's seed into a pair (reference/tfdata.md 2.1). Random123 provides the rounds. */
#ifndef LEATI_BASE_RANDOM_H
#define LEATI_BASE_RANDOM_H

#include <leat/base.h>

/* The counter is four words, lowest first; key two words. */
typedef struct leati_philox {
    uint32_t counter[4];
    uint32_t key[2];
} leati_philox;

/* key = seed, counter = (0, 0, lo(seed2), hi(seed2)). */
leati_philox leati_philox_new(uint64_t seed, uint64_t seed2);
/* The block at the counter; then the counter steps by one, with carry through all words. */
void leati_philox_next(leati_philox *philox, uint32_t out[4]);
/* `count` blocks, of four words each, as `next` gives them one after the other. */
void leati_philox_blocks(leati_philox *philox, uint32_t *out, int64_t count);
/* Steps the counter by `blocks`. */
void leati_philox_skip(leati_philox *philox, uint64_t blocks);

/* Hands the words of a Philox out one by one (TensorFlow's SingleSample adapter). */
typedef struct leati_words {
    leati_philox philox; /* the next block */
    uint32_t block[4];
    int32_t used; /* words of `block` already given; 4: none left */
} leati_words;

leati_words leati_words_new(uint64_t seed, uint64_t seed2);
uint32_t leati_words_next(leati_words *words);
void leati_words_take(leati_words *words, uint32_t *out, int64_t n);
void leati_words_skip(leati_words *words, uint64_t count);

/* TensorFlow's stateless generator: scrambles the seed pair into key and counter (golden README,
 * image/). */
leati_philox leati_philox_stateless(int64_t seed0, int64_t seed1);

/* Conversions: [0, 1) with 23 bits; [0, 1) with 52 bits. */
float leati_uniform_float(uint32_t word);
double leati_uniform_double(uint32_t first, uint32_t second);
/* Two normals from two words by Box-Muller as TensorFlow does it (sine first). */
void leati_normal_pair(uint32_t a, uint32_t b, float out[2]);

/* CPython's random.Random(seed): MT19937 seeded by init_by_array of |seed|'s 32-bit digits. */
typedef struct leati_mt19937 {
    uint32_t state[624];
    int32_t index;
} leati_mt19937;

void leati_mt19937_seed(leati_mt19937 *mt, uint64_t seed);
uint32_t leati_mt19937_next(leati_mt19937 *mt);
/* random.randint(0, high), both ends included, with CPython's getrandbits rejection. */
uint64_t leati_mt19937_randint(leati_mt19937 *mt, uint64_t high);

/* What a user said about a seed. */
typedef struct leati_seed_argument {
    bool given;
    int64_t value;
} leati_seed_argument;

/* The pair of reference/tfdata.md 2.1 steps 1 to 5; a pair of (0, 0) means unseeded. Draws from the
 * global stream when a global seed is set and `argument` is absent. Thread-safe (one lock). */
void leati_random_resolve_seed(leati_seed_argument argument, int64_t *seed, int64_t *seed2);

/* The seed of an initialiser that was given none: random.randint(1, 10**9) of Python's own
 * generator, which leat_seed_set starts as keras.utils.set_random_seed does; without a global seed
 * a fresh number. Thread-safe. */
int64_t leati_random_layer_seed(void);

/* Whether leat_seed_set is in force. Draws nothing. Thread-safe. */
bool leati_random_global_seed_is_set(void);
/* The seed that leat_seed_set was given; false: it is not in force. Draws nothing. Thread-safe. */
bool leati_random_global_seed(int64_t *seed);

/* Counts the calls of leat_seed_set and leat_seed_clear; streams that go on from call to call start
 * anew with each. Thread-safe. */
uint64_t leati_random_seed_epoch(void);

/* Step 6: replaces an unseeded pair by fresh numbers from the operating system. */
void leati_random_fresh_seed_if_zero(int64_t *seed, int64_t *seed2);
/* Are these fresh numbers, and no pair that a user's seed or the global seed gave? Wrong for one
 * fresh pair in 2^66. */
bool leati_random_is_fresh(int64_t seed, int64_t seed2);

/* Bytes that nobody can guess, from the operating system alone: false where it has none to give.
 * Thread-safe. */
bool leati_random_secret(void *out, size_t size) LEAT_WARN_UNUSED;

#endif
