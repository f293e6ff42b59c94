/* Several tensors in one collective: gradients are summed in packs, each as soon as its last
 * gradient is there. */
#ifndef LEATI_COLL_PACK_H
#define LEATI_COLL_PACK_H

#include "coll/coll.h"

typedef struct leati_pack_tensor {
    int64_t count;
    leat_dtype dtype;
} leati_pack_tensor;

typedef struct leati_pack {
    leat_dtype dtype;
    int num_tensors;
    int64_t count; /* values */
} leati_pack;

/* Where a tensor lies: `at` values from the front of its pack. */
typedef struct leati_pack_place {
    int pack;
    int64_t at;
} leati_pack_place;

/* Which tensors go together; {0} is empty. It depends on the arguments alone, so all ranks have the
 * same. */
typedef struct leati_packing {
    int num_tensors, num_packs;
    leati_pack_place *places; /* one per tensor; owned */
    leati_pack *packs;        /* in the order in which they are summed; owned */
} leati_packing;

/* Tensors are given in the order in which they become ready, which for gradients is the reverse of
 * the variables'. A pack has one dtype and is closed once it holds more than `bytes_per_pack`
 * (CommunicationOptions.bytes_per_pack); 0: the first after 1 MiB, so that the exchange begins
 * early, and the others after 25 MiB. */
LEAT_WARN_UNUSED leat_status leati_packing_init(leati_packing *packing,
                                                const leati_pack_tensor *tensors, int count,
                                                int64_t bytes_per_pack, leat_error *err);
void leati_packing_fini(leati_packing *packing);

/* One rank's packs in memory. Its functions belong to one thread at a time. */
typedef struct leati_packs leati_packs;

/* `packing` and `collective` are borrowed. Where the collective has `start`, packs are summed
 * beside what the caller computes; else when they are full. Owned. */
leati_packs *leati_packs_new(const leati_packing *packing, leati_collective *collective, int rank,
                             leati_reduction reduction, leat_error *err);
/* After a finish, or where the collective was aborted. NULL is allowed. */
void leati_packs_free(leati_packs *packer);

/* Where the tensor's values go, and where the sums are once it was awaited; aligned for its dtype
 * only. Borrowed. */
void *leati_packs_values(leati_packs *packer, int tensor);
/* The values are there. Sums begin in the packs' order on every rank, whatever the order of these
 * calls: a pack that is whole waits for those before it. */
LEAT_WARN_UNUSED leat_status leati_packs_ready(leati_packs *packer, int tensor, leat_error *err);
/* The tensor's sum is there. All tensors of its pack, and of those before, must be ready:
 * FAILED_PRECONDITION names one that is not. */
LEAT_WARN_UNUSED leat_status leati_packs_await(leati_packs *packer, int tensor, leat_error *err);
/* All sums are there; the next round may begin, once they were read. After a failure nothing of
 * this round is in progress any more. */
LEAT_WARN_UNUSED leat_status leati_packs_finish(leati_packs *packer, leat_error *err);

#endif
