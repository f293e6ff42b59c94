/* What ranks call, compared between them, and how values are shared out among them. */
#ifndef LEATI_COLL_CALLS_H
#define LEATI_COLL_CALLS_H

#include "coll/coll.h"
#include <stdatomic.h>

typedef enum leati_collective_kind {
    LEATI_CALL_BARRIER = 0,
    LEATI_CALL_ALL_REDUCE,
    LEATI_CALL_ALL_GATHER,
    LEATI_CALL_REDUCE_SCATTER,
    LEATI_CALL_BROADCAST,
    LEATI_NUM_CALLS
} leati_collective_kind;

const char *leati_call_kind_name(int32_t kind);

typedef struct leati_collective_call {
    int64_t count;
    int32_t kind, dtype;
    int32_t parameter; /* the reduction or the root */
    int32_t reserved;
} leati_collective_call;

/* How far a rank is: each counts up for ever, over all calls. Threads use the first alone. */
typedef enum leati_call_stage {
    LEATI_STAGE_MET = 0, /* calls, or barriers, that it has come to */
    LEATI_STAGE_PUT,     /* pieces that the others may read */
    LEATI_STAGE_WORKED,  /* pieces of which its part is combined */
    LEATI_STAGE_TAKEN,   /* pieces that it needs no more */
    LEATI_NUM_STAGES
} leati_call_stage;

/* What a rank is calling, in memory that all ranks see; written before it meets the others. Calls
 * take turns with the records, because a rank may begin the next call while another still looks at
 * this one. Ranks do not share cache lines. */
typedef struct leati_rank_call {
    leati_collective_call records[2];
    _Atomic uint64_t reached[LEATI_NUM_STAGES];
    uint64_t number; /* calls that it has made; its own */
    char padding[40];
} leati_rank_call;

/* Counts the call and records it; what the rank may then compare with the others'. */
void leati_call_record(leati_rank_call *own, leati_collective_call call);
/* The record of the rank's present call. */
const leati_collective_call *leati_call_present(const leati_rank_call *own);

/* Do two ranks make the same call? INVALID_ARGUMENT names both. */
LEAT_WARN_UNUSED leat_status leati_calls_same(const leati_collective_call *a, int rank_a,
                                              const leati_collective_call *b, int rank_b,
                                              leat_error *err);
/* After a barrier: do all ranks make the same call as `rank`? All find the same answer: INTERNAL
 * names the first that differs from rank 0. */
LEAT_WARN_UNUSED leat_status leati_calls_compare(const leati_rank_call *calls, int num_ranks,
                                                 int rank, leat_error *err);

/* "1, 3": the ranks that have not reached `count` of a stage. Cut to `size`. */
void leati_calls_missing_ranks(leati_rank_call *calls, int num_ranks, leati_call_stage stage,
                               uint64_t count, char *text, size_t size);

/* How often a wait looks before it sleeps: `spins`, but on threads that said that they run beside
 * others that compute, and so would take their cores. */
int leati_coll_spins(int spins);
void leati_coll_never_spin(void); /* on the calling thread, from now on */

/* The values [begin, end) that a rank combines for all. Parts end at multiples of 64 values, so
 * that ranks write to cache lines of their own. */
typedef struct leati_part {
    int64_t begin, end;
} leati_part;
leati_part leati_coll_part_of(int64_t count, int num_ranks, int rank);

#endif
