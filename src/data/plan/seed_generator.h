/* The seed generator that the iterators of one shuffle or random node share (reference: tf.data's
 * SeedGenerator resource). */
#ifndef LEATI_DATA_PLAN_SEED_GENERATOR_H
#define LEATI_DATA_PLAN_SEED_GENERATOR_H

#include "base/bytes.h"
#include "base/random.h"
#include "core/buffer.h"
#include "core/row.h"
#include <leat/base.h>

/* Rows for the fields `resolved` (bool) and `pair` (int64[2]) of an argument struct, which
 * leati_seed_resolve_once fills. */
#define LEATI_RESOLVED_ROWS(args)                                                                  \
    {.name = "resolved",                                                                           \
     .type = LEATI_ROW_BOOL,                                                                       \
     .flags = LEATI_CONSTRUCT,                                                                     \
     .offset = offsetof(args, resolved),                                                           \
     .doc = "The pair was made."},                                                                 \
        {.name = "pair_0",                                                                         \
         .type = LEATI_ROW_INT,                                                                    \
         .flags = LEATI_CONSTRUCT,                                                                 \
         .offset = offsetof(args, pair[0]),                                                        \
         .doc = "First number of the resolved seed pair."},                                        \
    {                                                                                              \
        .name = "pair_1", .type = LEATI_ROW_INT, .flags = LEATI_CONSTRUCT,                         \
        .offset = offsetof(args, pair[1]), .doc = "Second number of the resolved seed pair."       \
    }

/* For an operator's check: makes the seed pair, unless it was made before (a copied node keeps its
 * pair). */
void leati_seed_resolve_once(leati_seed_argument seed, bool *resolved, int64_t pair[2]);

typedef struct leati_seed_generator leati_seed_generator;

/* `fixed`: every request returns (seed, seed2) itself; else successive words of Philox(seed,
 * seed2). An unseeded pair (0, 0) is replaced by fresh numbers. Owned. */
leati_seed_generator *leati_seed_generator_new(int64_t seed, int64_t seed2, bool fixed,
                                               leat_error *err);
void leati_seed_generator_free(leati_seed_generator *generator);

/* What one iterator sees of a shared generator, borrowed, which has to outlive it: its draws are
 * the shared one's, and have numbers of their own. Owned; NULL without memory. */
leati_seed_generator *leati_seed_generator_view(leati_seed_generator *source, leat_error *err);

/* The next pair. Thread-safe. */
void leati_seed_generator_next(leati_seed_generator *generator, uint64_t pair[2]);

/* The permutation of 0 .. n - 1 (int64) that random access to a shuffle answers by: n swaps with
 * words of Philox(seed, seed2); of a fixed generator (seed, seed), which is TensorFlow's quirk. The
 * last one asked for is kept. A new reference; NULL without memory. Thread-safe. */
leat_buffer *leati_seed_generator_order(leati_seed_generator *generator, int64_t n,
                                        leat_error *err);

/* The slots shared_copy and shared_settle of operators whose shared state is a generator. `own`, of
 * a restored iterator, begins with the seeds and the position of `shared`. Settling puts
 * `shared` to the same place, as TensorFlow's restore does; from then on each draw from `own`
 * counts as one from `shared`, which must outlive it. Thread-safe. */
void leati_seed_generator_copy(void *own, void *shared);
void leati_seed_generator_settle(void *own, void *shared);

/* Seeds and position; of a view the number of its next draw. Restoring rewinds it for all that
 * share it, a view to its own draws; what follows it goes back by as many pairs. Thread-safe. */
void leati_seed_generator_save(leati_seed_generator *generator, leati_writer *out);
LEAT_WARN_UNUSED leat_status leati_seed_generator_restore(leati_seed_generator *generator,
                                                          leati_reader *in, leat_error *err);

/* Have others drawn between the draws of this view, or had they between those of the state that
 * this generator was restored from? Its numbers are its own then. Thread-safe. */
bool leati_seed_generator_alternates(leati_seed_generator *generator);
/* Where the draws come from if it is so: what the numbers in states mean. Restoring is for a
 * generator of one iterator, which begins; DATA_LOSS for damaged bytes. */
LEAT_WARN_UNUSED leat_status leati_seed_generator_save_pieces(leati_seed_generator *generator,
                                                              leati_writer *out, leat_error *err);
LEAT_WARN_UNUSED leat_status leati_seed_generator_restore_pieces(leati_seed_generator *generator,
                                                                 leati_reader *in, leat_error *err);

#endif
