/* The global seed and the rules that turn a user's seed into a pair, as tf.random.set_seed and
 * tf.data have them.
 *
 * With a global seed, an operator without a seed of its own takes one draw from the process-wide
 * Mersenne Twister, in the order in which operators are created. Initialisers of layers draw from a
 * second one, started alike, as keras.utils.set_random_seed starts both TensorFlow's generator and
 * Python's own. One lock guards the global seed and its streams; nothing that
 * could wait is called while it is held. */
#define _GNU_SOURCE
#include "base/fork.h"
#include "base/random.h"

#include "base/clock.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/random.h>

#define SEED_MODULUS INT64_C(2147483647) /* 2^31 - 1 */
#define DEFAULT_SEED INT64_C(87654321)   /* TensorFlow's seed of a graph without one */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
LEATI_FORK_LOCK(seeds, &lock);
static bool global_set;             /* lock */
static int64_t global_seed;         /* lock */
static leati_mt19937 global_stream; /* lock */
static leati_mt19937 layer_stream;  /* lock */
static atomic_ullong epoch;

void leat_seed_set(int64_t seed) {
    /* CPython seeds by the absolute value, and INT64_MIN has none in 64 bits with a sign. */
    uint64_t magnitude = seed < 0 ? 0 - (uint64_t)seed : (uint64_t)seed;
    pthread_mutex_lock(&lock);
    global_set = true;
    global_seed = seed;
    leati_mt19937_seed(&global_stream, magnitude);
    layer_stream = global_stream;
    atomic_fetch_add(&epoch, 1);
    pthread_mutex_unlock(&lock);
}

void leat_seed_clear(void) {
    pthread_mutex_lock(&lock);
    global_set = false;
    atomic_fetch_add(&epoch, 1);
    pthread_mutex_unlock(&lock);
}

uint64_t leati_random_seed_epoch(void) {
    return atomic_load(&epoch);
}

bool leati_random_global_seed_is_set(void) {
    return leati_random_global_seed(&(int64_t){0});
}

bool leati_random_global_seed(int64_t *seed) {
    pthread_mutex_lock(&lock);
    bool set = global_set;
    *seed = global_seed;
    pthread_mutex_unlock(&lock);
    return set;
}

/* The remainder with the sign of the modulus, as Python's % has it. */
static int64_t reduce(int64_t seed) {
    int64_t remainder = seed % SEED_MODULUS;
    return remainder < 0 ? remainder + SEED_MODULUS : remainder;
}

void leati_random_resolve_seed(leati_seed_argument argument, int64_t *seed, int64_t *seed2) {
    bool drawn = false;
    int64_t graph = DEFAULT_SEED;
    int64_t operation = argument.value;
    pthread_mutex_lock(&lock);
    if (global_set) {
        graph = global_seed;
        if (!argument.given) {
            operation = (int64_t)leati_mt19937_randint(&global_stream, (uint64_t)INT32_MAX);
            drawn = true;
        }
    }
    pthread_mutex_unlock(&lock);
    /* Neither seed is set: (0, 0), in place of which whoever draws takes fresh numbers. */
    if (!argument.given && !drawn) {
        *seed = 0;
        *seed2 = 0;
        return;
    }
    *seed = reduce(graph);
    *seed2 = reduce(operation);
    if (*seed == 0 && *seed2 == 0)
        *seed2 = SEED_MODULUS; /* (0, 0) would mean unseeded */
}

/* A machine without the system's generator, or a process that may not use it, still gets seeds
 * that differ from call to call. */
static uint64_t fresh_word(void) {
    uint64_t word = 0;
    if (getrandom(&word, sizeof word, 0) == (ssize_t)sizeof word)
        return word;
    /* The count tells calls within one tick of the clock apart. */
    static uint64_t calls;
    uint64_t call = __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
    leati_philox philox = leati_philox_new((uint64_t)leati_now_ns(), call);
    uint32_t block[4];
    leati_philox_next(&philox, block);
    return ((uint64_t)block[1] << 32) | block[0];
}

void leati_random_fresh_seed_if_zero(int64_t *seed, int64_t *seed2) {
    while (*seed == 0 && *seed2 == 0) {
        *seed = (int64_t)fresh_word();
        *seed2 = (int64_t)fresh_word();
    }
}

bool leati_random_is_fresh(int64_t seed, int64_t seed2) {
    /* Numbers that were given are reduced. */
    return seed < 0 || seed > SEED_MODULUS || seed2 < 0 || seed2 > SEED_MODULUS;
}

bool leati_random_secret(void *out, size_t size) {
    uint8_t *to = out;
    while (size > 0) {
        ssize_t got = getrandom(to, size, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        to += got;
        size -= (size_t)got;
    }
    return true;
}

int64_t leati_random_layer_seed(void) {
    const uint64_t count = 1000000000;
    uint64_t drawn;
    pthread_mutex_lock(&lock);
    if (global_set)
        drawn = leati_mt19937_randint(&layer_stream, count - 1);
    else
        drawn = fresh_word() % count;
    pthread_mutex_unlock(&lock);
    return (int64_t)drawn + 1;
}
