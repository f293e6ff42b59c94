/* Doubles of one distribution, two from each block of a stream that others draw from too; the
 * second one is handed out first, as TensorFlow's kernels do. Thread-safe: no state of its own. */
#ifndef LEATI_CORE_PAIRS_H
#define LEATI_CORE_PAIRS_H

#include "core/draw.h"

typedef struct leati_pairs {
    leati_distribution distribution;
    double pair[2];
    int left; /* of the pair */
} leati_pairs;

static inline double leati_pairs_next(leati_pairs *s, leati_philox *stream) {
    if (s->left == 0 && s->distribution == LEATI_UNIFORM) {
        /* The same without asking what is drawn. */
        uint32_t words[4];
        leati_philox_next(stream, words);
        s->pair[0] = leati_uniform_double(words[0], words[1]);
        s->pair[1] = leati_uniform_double(words[2], words[3]);
        s->left = 2;
    } else if (s->left == 0) {
        /* leati_draw gets the stream by value: the block that it used is skipped here. */
        leati_draw(s->distribution, LEAT_FLOAT64, *stream, 1, 0, 2, s->pair);
        leati_philox_skip(stream, 1);
        s->left = 2;
    }
    return s->pair[--s->left];
}

#endif
