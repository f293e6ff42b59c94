/* The seed generator that the iterators of one shuffle or random node share (reference: tf.data's
 * SeedGenerator resource). */
#ifndef LEATI_DATA_SEED_GENERATOR_H
#define LEATI_DATA_SEED_GENERATOR_H

#include "base/bytes.h"
#include <leat/base.h>

typedef struct leati_seed_generator leati_seed_generator;

/* `fixed`: every request returns (seed, seed2) itself; else successive words of Philox(seed,
 * seed2). An unseeded pair (0, 0) is replaced by fresh numbers. Owned. */
leati_seed_generator *leati_seed_generator_new(int64_t seed, int64_t seed2, bool fixed,
                                               leat_error *err);
void leati_seed_generator_free(leati_seed_generator *generator);

/* The next pair. Thread-safe. */
void leati_seed_generator_next(leati_seed_generator *generator, uint64_t pair[2]);

/* Seeds and position; restoring rewinds it for every iterator that shares it, as in TensorFlow.
 * Thread-safe. */
void leati_seed_generator_save(leati_seed_generator *generator, leati_writer *out);
LEAT_WARN_UNUSED leat_status leati_seed_generator_restore(leati_seed_generator *generator,
                                                          leati_reader *in, leat_error *err);

#endif
