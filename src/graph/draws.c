/* Positions of random streams; see draws.h.
 *
 * A table is an open-addressed array of keys and positions that doubles when it is two thirds full;
 * key 0 marks an empty place. Failures: no memory. Each table has one lock, held while a key is
 * looked up; nothing that could wait is called under it. */
#include "graph/draws.h"

#include "base/fork.h"
#include "base/hash.h"
#include "base/random.h"

#include <pthread.h>
#include <stdatomic.h>

struct place {
    uint64_t key; /* 0: empty */
    uint64_t position;
};

struct leati_draws {
    pthread_mutex_t lock;
    struct place *places; /* lock */
    size_t room, used;    /* lock; room is a power of two or 0 */
    uint64_t epoch;       /* lock; the global seed's when the table was filled */
};

leati_draws *leati_draws_new(leat_error *err) {
    leati_draws *draws = leati_alloc_zero(1, sizeof *draws);
    if (draws == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    pthread_mutex_init(&draws->lock, NULL);
    return draws;
}

void leati_draws_free(leati_draws *draws) {
    if (draws == NULL)
        return;
    pthread_mutex_destroy(&draws->lock);
    leati_free(draws->places);
    leati_free(draws);
}

static leati_draws of_eager = {.lock = PTHREAD_MUTEX_INITIALIZER};
LEATI_FORK_LOCK(draws, &of_eager.lock);

leati_draws *leati_draws_of_eager(void) {
    return &of_eager;
}

leati_draws *leati_draws_of_function(const leat_function *function, leat_error *err) {
    /* The table is no part of what the function is. */
    _Atomic(leati_draws *) *place = (_Atomic(leati_draws *) *)(uintptr_t)&function->draws;
    leati_draws *found = atomic_load(place);
    if (found != NULL)
        return found;
    leati_draws *made = leati_draws_new(err);
    /* Of threads that call the function for the first time together, one puts its table there and
     * the others take that one. */
    if (made == NULL || atomic_compare_exchange_strong(place, &found, made))
        return made;
    leati_draws_free(made);
    return found;
}

/* ---- the table ---- */

static struct place *find(const leati_draws *draws, uint64_t key) {
    /* Keys are hashes, so their low bits are spread well enough. A third of the places is empty, so
     * the search ends. */
    size_t i = key & (draws->room - 1);
    while (draws->places[i].key && draws->places[i].key != key)
        i = (i + 1) & (draws->room - 1);
    return &draws->places[i];
}

/* Room for one key more. */
static leat_status make_room(leati_draws *draws, leat_error *err) {
    /* Keys are never taken out one by one, so growing is the only time when they move. */
    if (3 * (draws->used + 1) <= 2 * draws->room)
        return LEAT_OK;
    leati_draws wide = {.room = draws->room ? 2 * draws->room : 16};
    wide.places = leati_alloc_zero(wide.room, sizeof *wide.places);
    if (wide.places == NULL)
        return leati_no_memory(err);
    for (size_t i = 0; i < draws->room; i++)
        if (draws->places[i].key)
            *find(&wide, draws->places[i].key) = draws->places[i];
    leati_free(draws->places);
    draws->places = wide.places;
    draws->room = wide.room;
    return LEAT_OK;
}

/* A new global seed starts every stream anew. */
static void forget_other_epochs(leati_draws *draws) {
    uint64_t epoch = leati_random_seed_epoch();
    if (draws->epoch == epoch)
        return;
    draws->epoch = epoch;
    leati_free(draws->places);
    draws->places = NULL;
    draws->room = draws->used = 0;
}

/* The position of a key, 0 at first, which then is `position`, or `blocks` further. */
static leat_status exchange(leati_draws *draws, uint64_t key, const uint64_t *position,
                            uint64_t blocks, uint64_t *out, leat_error *err) {
    /* 0 marks an empty place. That two keys then meet at 1 is as rare as any collision of
     * hashes. */
    key = key ? key : 1;
    pthread_mutex_lock(&draws->lock);
    forget_other_epochs(draws);
    leat_status status = make_room(draws, err);
    if (status == LEAT_OK) {
        struct place *place = find(draws, key);
        draws->used += place->key == 0;
        place->key = key;
        *out = place->position;
        place->position = position != NULL ? *position : place->position + blocks;
    }
    pthread_mutex_unlock(&draws->lock);
    return status;
}

static uint64_t key_of(uint64_t a, uint64_t b) {
    uint64_t pair[2] = {a, b};
    return leati_hash(pair, sizeof pair, 3);
}

/* ---- contexts ---- */

/* Which run of a node this is: iterations and enclosing calls told apart. */
static uint64_t key_of_run(const leati_call_context *context, int64_t number) {
    uint64_t parts[4] = {context->trail, context->scope, (uint64_t)context->ordinal,
                         (uint64_t)number};
    return leati_hash(parts, sizeof parts, 4);
}

leat_status leati_draws_begin(const leati_call_context *context, int64_t number, uint64_t seeds,
                              uint64_t blocks, uint64_t *out, leat_error *err) {
    leati_draws *draws = context->draws;
    *out = 0;
    /* As TensorFlow's kernel cache: eager calls of one operation with the same seeds share a
     * stream. */
    if (draws == leati_draws_of_eager())
        return seeds ? exchange(draws, seeds, NULL, blocks, out, err) : LEAT_OK;
    /* Zero blocks further: the forward computation has reserved them, this one reads them again. */
    if (context->replays && context->kept != NULL)
        return exchange(context->kept, key_of_run(context, number), NULL, 0, out, err);
    leat_status status =
        exchange(draws, key_of(context->path, (uint64_t)number), NULL, blocks, out, err);
    uint64_t before = 0;
    /* A trail of 0 is the outermost function, whose values the tape has; only nodes inside of
     * others are computed again. */
    if (status == LEAT_OK && context->kept != NULL && context->trail)
        status = exchange(context->kept, key_of_run(context, number), out, 0, &before, err);
    return status;
}

leati_call_context leati_draws_inside(const leati_call_context *context, int64_t number,
                                      int64_t forward, int64_t which) {
    leati_call_context inside = *context;
    /* A node that repeats another one stands in its place, so that both find the same streams. */
    uint64_t node = key_of((uint64_t)(forward < 0 ? number : forward), (uint64_t)which);
    inside.path = key_of(context->path, node);
    inside.trail = key_of(context->trail, node);
    inside.replays = context->replays || forward >= 0;
    return inside;
}

leat_status leati_draws_enter(const leat_function *function, leati_call_context *context,
                              leat_error *err) {
    /* Inside of a function that has its table already, streams are told apart by the path. */
    if (context->draws != leati_draws_of_eager() ||
        !leati_graph_function_has(function, LEATI_RANDOM))
        return LEAT_OK;
    context->draws = leati_draws_of_function(function, err);
    context->path = 0;
    return context->draws != NULL ? LEAT_OK : LEAT_RESOURCE_EXHAUSTED;
}
