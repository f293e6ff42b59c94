/* A pseudorandom permutation of 0 .. max_index that is computed index by index: TensorFlow's index
 * shuffle, a block cipher of the SIMON family (Beaulieu and others, ePrint 2013/404) with few
 * rounds, walked in cycles until it lands in range. */
#ifndef LEATI_BASE_PERMUTATION_H
#define LEATI_BASE_PERMUTATION_H

#include <leat/base.h>

#define LEATI_PERMUTATION_ROUNDS 8

typedef struct leati_permutation {
    uint64_t max_index;
    uint64_t keys[LEATI_PERMUTATION_ROUNDS];
    uint64_t mask; /* of a word, which is half a block */
    int word;      /* bits */
    int rounds;
} leati_permutation;

/* `rounds` is 4 or 8: TensorFlow has 4 in tf.random.experimental.index_shuffle, 8 in
 * global_shuffle. */
leati_permutation leati_permutation_new(const uint32_t key[3], uint64_t max_index, int rounds);
/* Where `index` (at most max_index) goes. */
uint64_t leati_permutation_at(const leati_permutation *permutation, uint64_t index);

#endif
