/* The memory that the processes of a job on one host share (coll/shared.c): how it is divided, and
 * how all of them get it. */
#ifndef LEATI_COLL_SHARED_SEGMENT_H
#define LEATI_COLL_SHARED_SEGMENT_H

#include "coll/store.h"

/* A head, and rows of a slot per rank. */
typedef struct leati_shared_segment_layout {
    size_t head_bytes, slot_bytes, size; /* whole pages */
    uint64_t num_rows;
} leati_shared_segment_layout;

/* For a head of so many bytes. A slot has room for a value of each rank, of whatever type. */
leati_shared_segment_layout leati_shared_segment_lay_out(int num_ranks, size_t head, size_t page);

/* All ranks call it. The mapping (munmap) of `size` bytes, zeros but for the last few; NULL on all
 * ranks where one cannot have it (UNAVAILABLE) or the store fails. Nothing of it outlives the
 * processes, however they end. */
void *leati_shared_segment_open(leati_store *store, int rank, int num_ranks, size_t size,
                                int64_t timeout_ms, leat_error *err);

#endif
