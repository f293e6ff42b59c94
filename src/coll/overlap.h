/* Sums beside computing, for any collective. */
#ifndef LEATI_COLL_OVERLAP_H
#define LEATI_COLL_OVERLAP_H

#include "coll/coll.h"

/* The same ranks as `inner` (given, also on failure), with `start` and `wait`: the ranks
 * [first_rank, first_rank + num_local), those of this process, get a thread each that does the sums
 * they begin. Other calls first wait for those, so that a rank's calls keep one order. Owned. */
leati_collective *leati_overlap_new(leati_collective *inner, int first_rank, int num_local,
                                    leat_error *err);

#endif
