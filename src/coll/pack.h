/* Several tensors in one collective: gradients are summed in packs, each as soon as its last
 * gradient is there. */
#ifndef LEATI_COLL_PACK_H
#define LEATI_COLL_PACK_H

#include "coll/coll.h"

typedef struct leati_pack_tensor {
    int64_t count;
    leat_dtype dtype;
    leati_reduction reduction;
    int group; /* what is awaited together, from 0 on; never less than that of the tensor before */
} leati_pack_tensor;

typedef struct leati_pack {
    leat_dtype dtype;
    leati_reduction reduction;
    int group, num_tensors;
    int64_t count; /* values, those between its tensors included */
} leati_pack;

/* Where a tensor lies: `at` values from the front of its pack. */
typedef struct leati_pack_place {
    int pack;
    int64_t at, count;
} leati_pack_place;

/* Which tensors go together; {0} is empty. It depends on the arguments alone, so all ranks have the
 * same. */
typedef struct leati_packing {
    int num_tensors, num_packs;
    leati_pack_place *places; /* one per tensor; owned */
    leati_pack *packs;        /* in the order in which they are summed; owned */
} leati_packing;

/* Tensors are given in the order in which they become ready, which for gradients is the reverse of
 * the variables'. A pack has one dtype, one reduction and one group, and is closed once its tensors
 * are more than `bytes_per_pack` (CommunicationOptions.bytes_per_pack). 0: the first after 1 MiB,
 * so that the exchange begins early, and the others after an eighth of all bytes, at least 1 MiB
 * and at most 25 MiB, so that little is left when the last tensor is ready. In a pack each tensor
 * begins at a multiple of 64 bytes. */
LEAT_WARN_UNUSED leat_status leati_pack_init(leati_packing *packing,
                                             const leati_pack_tensor *tensors, int count,
                                             int64_t bytes_per_pack, leat_error *err);
void leati_pack_fini(leati_packing *packing);
/* The bytes of a pack's memory. */
size_t leati_pack_bytes(const leati_packing *packing, int pack);

/* One rank's packs, round after round. Its functions belong to one thread at a time. */
typedef struct leati_packs leati_packs;

/* `packing` is borrowed. Owned. */
leati_packs *leati_packs_new(const leati_packing *packing, leat_error *err);
/* While no sum is in progress. NULL is allowed. */
void leati_packs_free(leati_packs *packs);

/* Where a pack's values lie: leati_pack_bytes at a multiple of 64; borrowed. */
void leati_packs_place(leati_packs *packs, int pack, void *values);
/* Where a tensor's values go, and where the sums are once its group was awaited. Borrowed. */
void *leati_packs_values(const leati_packs *packs, int tensor);

/* A new round of this rank; what is left of the last one is forgotten. `collective` is borrowed;
 * NULL: one rank, whose sums are its values. */
void leati_packs_begin(leati_packs *packs, leati_collective *collective, int rank);
/* The values are there. Sums begin in the packs' order on every rank, whatever the order of these
 * calls: a pack that is whole waits for those before it. `beside`: the caller has more to compute,
 * so where the collective has `start` a sum that begins now runs meanwhile; else it is done when
 * this returns. */
LEAT_WARN_UNUSED leat_status leati_packs_ready(leati_packs *packs, int tensor, bool beside,
                                               leat_error *err);
/* The sums of the group's tensors are there. They, and those of the groups before, must be ready:
 * FAILED_PRECONDITION names one that is not. A round that failed may leave sums in progress: abort
 * the collective and wait for them before the packs' memory is used again. */
LEAT_WARN_UNUSED leat_status leati_packs_await(leati_packs *packs, int group, leat_error *err);

#endif
