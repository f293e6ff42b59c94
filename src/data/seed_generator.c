/* The shared seed generator: one lock, never held while anything else is called. */
#include "data/seed_generator.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/random.h"
#include <pthread.h>

struct leati_seed_generator {
    pthread_mutex_t lock; /* guards all fields */
    int64_t seed, seed2;
    bool fixed;
    leati_words words;
    uint64_t requests;
};

void leati_resolve_once(leati_seed_argument seed, bool *resolved, int64_t pair[2]) {
    if (!*resolved) {
        leati_resolve_seed(seed, &pair[0], &pair[1]);
        leati_fresh_seed_if_zero(&pair[0], &pair[1]);
        *resolved = true;
    }
}

leati_seed_generator *leati_seed_generator_new(int64_t seed, int64_t seed2, bool fixed,
                                               leat_error *err) {
    leati_seed_generator *generator = leati_alloc_zero(1, sizeof(*generator));
    if (generator == NULL) {
        leati_no_memory(err, sizeof(*generator));
        return NULL;
    }
    leati_fresh_seed_if_zero(&seed, &seed2);
    pthread_mutex_init(&generator->lock, NULL);
    generator->seed = seed;
    generator->seed2 = seed2;
    generator->fixed = fixed;
    generator->words = leati_words_new((uint64_t)seed, (uint64_t)seed2);
    return generator;
}

void leati_seed_generator_free(leati_seed_generator *generator) {
    if (generator != NULL) {
        pthread_mutex_destroy(&generator->lock);
        leati_free(generator);
    }
}

void leati_seed_generator_next(leati_seed_generator *generator, uint64_t pair[2]) {
    pthread_mutex_lock(&generator->lock);
    generator->requests++;
    if (generator->fixed) {
        pair[0] = (uint64_t)generator->seed;
        pair[1] = (uint64_t)generator->seed2;
    } else {
        pair[0] = leati_words_next(&generator->words);
        pair[1] = leati_words_next(&generator->words);
    }
    pthread_mutex_unlock(&generator->lock);
}

void leati_seed_generator_save(leati_seed_generator *generator, leati_writer *out) {
    pthread_mutex_lock(&generator->lock);
    leati_put_int(out, generator->seed);
    leati_put_int(out, generator->seed2);
    leati_put_uint(out, generator->requests);
    pthread_mutex_unlock(&generator->lock);
}

leat_status leati_seed_generator_restore(leati_seed_generator *generator, leati_reader *in,
                                         leat_error *err) {
    int64_t seed = 0, seed2 = 0;
    uint64_t requests = 0;
    leat_status status = leati_get_int(in, &seed, err);
    if (status == LEAT_OK) {
        status = leati_get_int(in, &seed2, err);
    }
    if (status == LEAT_OK) {
        status = leati_get_uint(in, &requests, err);
    }
    if (status != LEAT_OK) {
        return status;
    }
    pthread_mutex_lock(&generator->lock);
    generator->seed = seed;
    generator->seed2 = seed2;
    generator->requests = requests;
    generator->words = leati_words_new((uint64_t)seed, (uint64_t)seed2);
    leati_words_skip(&generator->words, 2 * requests);
    pthread_mutex_unlock(&generator->lock);
    return LEAT_OK;
}
