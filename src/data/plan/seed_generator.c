/* The shared seed generator: one lock, never held while anything else is called. */
#include "data/plan/seed_generator.h"
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
    leat_buffer *order; /* the last permutation, or NULL */
};

void leati_seed_resolve_once(leati_seed_argument seed, bool *resolved, int64_t pair[2]) {
    if (!*resolved) {
        leati_random_resolve_seed(seed, &pair[0], &pair[1]);
        leati_random_fresh_seed_if_zero(&pair[0], &pair[1]);
        *resolved = true;
    }
}

leati_seed_generator *leati_seed_generator_new(int64_t seed, int64_t seed2, bool fixed,
                                               leat_error *err) {
    leati_seed_generator *generator = leati_alloc_zero(1, sizeof(*generator));
    if (generator == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    leati_random_fresh_seed_if_zero(&seed, &seed2);
    pthread_mutex_init(&generator->lock, NULL);
    generator->seed = seed;
    generator->seed2 = seed2;
    generator->fixed = fixed;
    generator->words = leati_words_new((uint64_t)seed, (uint64_t)seed2);
    return generator;
}

void leati_seed_generator_free(leati_seed_generator *generator) {
    if (generator != NULL) {
        leat_buffer_unref(generator->order);
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

static leat_buffer *new_order(leati_words words, int64_t n, leat_error *err) {
    size_t size = 0;
    if (!leati_mul_size((size_t)n, sizeof(int64_t), &size)) {
        leati_no_memory(err);
        return NULL;
    }
    leat_buffer *buffer = leat_buffer_new(size, err);
    int64_t *order = buffer == NULL ? NULL : leat_buffer_data(buffer);
    for (int64_t i = 0; i < n && order != NULL; i++)
        order[i] = i;
    for (int64_t i = 0; i < n && order != NULL; i++) {
        /* Fisher and Yates' shuffle, with TensorFlow's remainder of a word. */
        int64_t other = i + (int64_t)leati_words_next(&words) % (n - i), kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
    return buffer;
}

leat_buffer *leati_seed_generator_order(leati_seed_generator *generator, int64_t n,
                                        leat_error *err) {
    pthread_mutex_lock(&generator->lock);
    uint64_t first = (uint64_t)generator->seed;
    uint64_t second = generator->fixed ? first : (uint64_t)generator->seed2;
    bool fits = generator->order != NULL &&
                leat_buffer_size(generator->order) == (size_t)n * sizeof(int64_t);
    leat_buffer *order = fits ? leat_buffer_ref(generator->order) : NULL;
    pthread_mutex_unlock(&generator->lock);
    if (order != NULL)
        return order;
    /* Without the lock, as it may take long; where two threads come at once both find the same
     * order. */
    order = new_order(leati_words_new(first, second), n, err);
    if (order != NULL) {
        pthread_mutex_lock(&generator->lock);
        leat_buffer *old = generator->order;
        generator->order = leat_buffer_ref(order);
        pthread_mutex_unlock(&generator->lock);
        leat_buffer_unref(old);
    }
    return order;
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
    LEATI_TRY(leati_get_int(in, &seed, err));
    LEATI_TRY(leati_get_int(in, &seed2, err));
    LEATI_TRY(leati_get_uint(in, &requests, err));
    pthread_mutex_lock(&generator->lock);
    generator->seed = seed;
    generator->seed2 = seed2;
    generator->requests = requests;
    generator->words = leati_words_new((uint64_t)seed, (uint64_t)seed2);
    /* Two words for each request. */
    leati_words_skip(&generator->words, 2 * requests);
    leat_buffer *order = generator->order;
    generator->order = NULL; /* it may be of other seeds */
    pthread_mutex_unlock(&generator->lock);
    leat_buffer_unref(order);
    return LEAT_OK;
}
