/* The shared seed generator, and what iterators see of it.
 *
 * An iterator that was not restored draws through a view, which numbers its own draws and notes the
 * pieces: from which draw on it went on at which pair of the shared one, because another iterator
 * had drawn in between. So what it has drawn comes again from its numbers, and a state needs the
 * pieces alone; where nobody else draws there are none, and the numbers are those of the shared
 * generator. A restored iterator's own generator has the pieces of the state, the last of which has
 * no end, and is followed by the shared one.
 *
 * Failures: without memory for a piece, saving is RESOURCE_EXHAUSTED. Locks: a view's is held while
 * that of its source is taken; an own one and its follower are locked one after the other. */
#include "data/plan/seed_generator.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/random.h"
#include <pthread.h>

/* Draws from number `begin` on: pairs from `at` on of these seeds. */
struct piece {
    uint64_t begin, at;
    int64_t seed, seed2;
};

struct leati_seed_generator {
    pthread_mutex_t lock; /* guards all fields */
    int64_t seed, seed2;
    bool fixed;
    leati_words words;
    uint64_t requests; /* the number of the next draw */
    uint64_t head;     /* of a view: draws below come again, as they were */
    struct piece *pieces;
    size_t num_pieces, capacity;
    bool lost;                             /* a piece for which there was no memory */
    struct leati_seed_generator *source;   /* a view's; NULL: it is none. Borrowed */
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
        leati_free(generator->pieces);
        pthread_mutex_destroy(&generator->lock);
        leati_free(generator);
    }
}

/* Where draw `number` comes from. With the lock. */
static struct piece place_of(const leati_seed_generator *generator, uint64_t number) {
    struct piece found = {.seed = generator->seed, .seed2 = generator->seed2};
    for (size_t i = generator->num_pieces; i > 0; i--)
        if (generator->pieces[i - 1].begin <= number) {
            found = generator->pieces[i - 1];
            break;
        }
    found.at += number - found.begin;
    found.begin = number;
    return found;
}

/* Puts it in front of draw `number`. With the lock. */
static void go_to(leati_seed_generator *generator, uint64_t number) {
    struct piece place = place_of(generator, number);
    generator->requests = number;
    generator->words = leati_words_new((uint64_t)place.seed, (uint64_t)place.seed2);
    /* Two words for each request. */
    leati_words_skip(&generator->words, 2 * place.at);
}

static void draw(leati_seed_generator *generator, uint64_t pair[2]) {
    if (generator->num_pieces > 0)
        go_to(generator, generator->requests); /* a piece may begin here */
    if (generator->fixed) {
        struct piece place = place_of(generator, generator->requests);
        pair[0] = (uint64_t)place.seed;
        pair[1] = (uint64_t)place.seed2;
    } else {
        pair[0] = leati_words_next(&generator->words);
        pair[1] = leati_words_next(&generator->words);
    }
    generator->requests++;
}

/* Notes where the source stands, if that is not where the view's next draw would be. With both
 * locks. */
static void follow(leati_seed_generator *view) {
    const leati_seed_generator *source = view->source;
    struct piece place = place_of(view, view->head);
    bool same = place.seed == source->seed && place.seed2 == source->seed2;
    if (same && (source->fixed || place.at == source->requests))
        return;
    if (view->num_pieces > 0 && view->pieces[view->num_pieces - 1].begin == view->head)
        view->num_pieces--;
    if (!leati_grow((void **)&view->pieces, &view->capacity, view->num_pieces + 1,
                    sizeof(*view->pieces))) {
        view->lost = true;
        return;
    }
    view->pieces[view->num_pieces++] =
        (struct piece){view->head, source->requests, source->seed, source->seed2};
}

static void view_next(leati_seed_generator *view, uint64_t pair[2]) {
    pthread_mutex_lock(&view->lock);
    if (view->requests < view->head) {
        go_to(view, view->requests);
        draw(view, pair);
    } else {
        pthread_mutex_lock(&view->source->lock);
        follow(view);
        draw(view->source, pair);
        pthread_mutex_unlock(&view->source->lock);
        view->head = ++view->requests;
    }
    pthread_mutex_unlock(&view->lock);
}

void leati_seed_generator_next(leati_seed_generator *generator, uint64_t pair[2]) {
    if (generator->source != NULL) {
        view_next(generator, pair);
        return;
    }
    pthread_mutex_lock(&generator->lock);
    draw(generator, pair);
    leati_seed_generator *follower = generator->follower;
    pthread_mutex_unlock(&generator->lock);
    if (follower != NULL)
        leati_seed_generator_next(follower, (uint64_t[2]){0});
}

leati_seed_generator *leati_seed_generator_view(leati_seed_generator *source, leat_error *err) {
    leati_seed_generator *view =
        leati_seed_generator_new(source->seed, source->seed2, source->fixed, err);
    if (view == NULL)
        return NULL;
    leati_seed_generator_copy(view, source);
    view->head = view->requests;
    view->source = source;
    return view;
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
    if (generator->source != NULL && generator->requests == generator->head) {
        pthread_mutex_lock(&generator->source->lock);
        follow(generator);
        pthread_mutex_unlock(&generator->source->lock);
    }
    leati_put_int(out, generator->seed);
    leati_put_int(out, generator->seed2);
    leati_put_uint(out, generator->requests);
    pthread_mutex_unlock(&generator->lock);
}

bool leati_seed_generator_alternates(leati_seed_generator *generator) {
    pthread_mutex_lock(&generator->lock);
    bool alternates = generator->num_pieces > 0 || generator->lost;
    pthread_mutex_unlock(&generator->lock);
    return alternates;
}

leat_status leati_seed_generator_save_pieces(leati_seed_generator *generator, leati_writer *out,
                                             leat_error *err) {
    pthread_mutex_lock(&generator->lock);
    bool lost = generator->lost;
    leati_put_uint(out, generator->num_pieces);
    for (size_t i = 0; i < generator->num_pieces; i++) {
        const struct piece *piece = &generator->pieces[i];
        leati_put_uint(out, piece->begin);
        leati_put_uint(out, piece->at);
        leati_put_int(out, piece->seed);
        leati_put_int(out, piece->seed2);
    }
    pthread_mutex_unlock(&generator->lock);
    return lost ? leati_no_memory(err) : LEAT_OK;
}

/* Of the iterator that is restored alone, so without the lock. */
leat_status leati_seed_generator_restore_pieces(leati_seed_generator *generator, leati_reader *in,
                                                leat_error *err) {
    uint64_t count = 0;
    LEATI_TRY(leati_get_uint(in, &count, err));
    for (uint64_t i = 0; i < count; i++) {
        struct piece piece = {0};
        LEATI_TRY(leati_get_uint(in, &piece.begin, err));
        LEATI_TRY(leati_get_uint(in, &piece.at, err));
        LEATI_TRY(leati_get_int(in, &piece.seed, err));
        LEATI_TRY(leati_get_int(in, &piece.seed2, err));
        if (i > 0 && piece.begin <= generator->pieces[i - 1].begin) {
            return leati_fail(err, LEAT_DATA_LOSS,
                              "saved seeds from draw %llu on, behind those from %llu on",
                              (unsigned long long)piece.begin,
                              (unsigned long long)generator->pieces[i - 1].begin);
        }
        if (!leati_grow((void **)&generator->pieces, &generator->capacity, (size_t)i + 1,
                        sizeof(*generator->pieces)))
            return leati_no_memory(err);
        generator->pieces[i] = piece;
        generator->num_pieces = (size_t)i + 1;
    }
    return LEAT_OK;
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
    bool drawn = generator->source != NULL && requests <= generator->head &&
                 seed == generator->seed && seed2 == generator->seed2;
    if (drawn)
        generator->requests = requests;
    leati_seed_generator *source = generator->source;
    leati_seed_generator *follower = generator->follower;
    pthread_mutex_unlock(&generator->lock);
    /* What a view has not drawn itself is the shared one's. */
    if (!drawn)
        set_seeds(source != NULL ? source : generator, seed, seed2, requests);
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
    struct piece place = place_of(generator, generator->requests);
    pthread_mutex_unlock(&generator->lock);
    set_seeds(shared, place.seed, place.seed2, place.at);
}
