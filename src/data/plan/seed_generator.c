/* The shared seed generator: one lock, never held while anything else is called. A restored
 * iterator's own one is followed by the shared one of its node: they are locked one after the
 * other. */
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
    struct leati_seed_generator *follower; /* moves on with it; NULL: none. Borrowed */
    leat_buffer *order;                    /* the last permutation, or NULL */
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

/* Puts it behind `requests` pairs. With the lock. */
static void go_to(leati_seed_generator *generator, uint64_t requests) {
    generator->requests = requests;
    generator->words = leati_words_new((uint64_t)generator->seed, (uint64_t)generator->seed2);
    /* Two words for each request. */
    leati_words_skip(&generator->words, 2 * requests);
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
    leati_seed_generator *follower = generator->follower;
    pthread_mutex_unlock(&generator->lock);
    if (follower != NULL)
        leati_seed_generator_next(follower, (uint64_t[2]){0});
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

static void set_seeds(leati_seed_generator *generator, int64_t seed, int64_t seed2,
                      uint64_t requests) {
    pthread_mutex_lock(&generator->lock);
    leat_buffer *order = NULL;
    /* The permutation of random access is of the seeds alone. */
    if (generator->seed != seed || generator->seed2 != seed2) {
        order = generator->order;
        generator->order = NULL;
    }
    generator->seed = seed;
    generator->seed2 = seed2;
    go_to(generator, requests);
    pthread_mutex_unlock(&generator->lock);
    leat_buffer_unref(order);
}

leat_status leati_seed_generator_restore(leati_seed_generator *generator, leati_reader *in,
                                         leat_error *err) {
    int64_t seed = 0, seed2 = 0;
    uint64_t requests = 0;
    LEATI_TRY(leati_get_int(in, &seed, err));
    LEATI_TRY(leati_get_int(in, &seed2, err));
    LEATI_TRY(leati_get_uint(in, &requests, err));
    pthread_mutex_lock(&generator->lock);
    uint64_t before = generator->requests;
    leati_seed_generator *follower = generator->follower;
    pthread_mutex_unlock(&generator->lock);
    set_seeds(generator, seed, seed2, requests);
    if (follower == NULL || requests >= before)
        return LEAT_OK;
    pthread_mutex_lock(&follower->lock);
    uint64_t back = before - requests, at = follower->requests;
    go_to(follower, at > back ? at - back : 0);
    pthread_mutex_unlock(&follower->lock);
    return LEAT_OK;
}

void leati_seed_generator_copy(void *own, void *shared) {
    leati_seed_generator *from = shared;
    pthread_mutex_lock(&from->lock);
    int64_t seed = from->seed, seed2 = from->seed2;
    uint64_t requests = from->requests;
    pthread_mutex_unlock(&from->lock);
    set_seeds(own, seed, seed2, requests);
}

void leati_seed_generator_settle(void *own, void *shared) {
    leati_seed_generator *generator = own;
    pthread_mutex_lock(&generator->lock);
    generator->follower = shared;
    int64_t seed = generator->seed, seed2 = generator->seed2;
    uint64_t requests = generator->requests;
    pthread_mutex_unlock(&generator->lock);
    set_seeds(shared, seed, seed2, requests);
}
