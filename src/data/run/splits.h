/* Where the sources of a plan get their splits where several workers run it and each element is
 * wanted once (tf.data's split providers). A split is a piece of a source: a row, a file, or all of
 * it; they have numbers from 0. A lease is a range of them that one worker works on. */
#ifndef LEATI_DATA_RUN_SPLITS_H
#define LEATI_DATA_RUN_SPLITS_H

#include "base/error.h"
#include "run/cancel.h"

typedef struct leati_splits {
    void *context;
    /* The next lease, [*begin, *end) with *begin < *end, of source number `provider` in its
     * repetition (how often `repeat` and others above the source have begun it anew, from 0); or
     * *none: nothing is left of that repetition for this stream, which is so for an older one than
     * that which is being handed out. Leases of one stream ascend within a repetition. `sequence`
     * counts the answers, leases and none, that this stream got for that source before, in all
     * repetitions together: asked for a number again, as a stream that goes on from a saved state
     * does, it gives the same answer. A failure is no answer. May block, and ends with CANCELLED
     * once `cancel` fires. Is called on any thread, for one source by one at a time. */
    leat_status (*next)(void *context, int provider, int64_t repetition, int64_t sequence,
                        int64_t *begin, int64_t *end, bool *none, leat_cancel *cancel,
                        leat_error *err);
} leati_splits;

#endif
