/* Collectives between processes, and of processes with several replicas each. */
#ifndef LEATI_COLL_PROCESSES_H
#define LEATI_COLL_PROCESSES_H

#include "coll/coll.h"
#include "coll/store.h"

/* A rank per process over TCP, by gloo: rings for sums. The store (borrowed, outlives it) is where
 * the processes find each other; a wait beyond `timeout_ms` names who holds the others up as far
 * as heartbeats tell. After a failure it stays failed. Owned; UNIMPLEMENTED in a build without
 * gloo. */
leati_collective *leati_coll_gloo_new(leati_store *store, int rank, int num_ranks,
                                      int64_t timeout_ms, leat_error *err);

/* A rank per process over TCP and TLS, in a job whose store has it; otherwise the same, and the
 * same bits. */
leati_collective *leati_coll_mesh_new(leati_store *store, int rank, int num_ranks,
                                      int64_t timeout_ms, leat_error *err);

/* The one of these two that fits the job. */
leati_collective *leati_coll_network_new(leati_store *store, int rank, int num_ranks,
                                         int64_t timeout_ms, leat_error *err);

/* What does not encrypt, `what`, is not for a job that has TLS: UNIMPLEMENTED. `store` may be NULL.
 */
LEAT_WARN_UNUSED leat_status leati_processes_check_clear(const leati_store *store, const char *what,
                                                         leat_error *err);

/* A rank per process of one host, by shared memory; otherwise the same. */
leati_collective *leati_coll_shared_new(leati_store *store, int rank, int num_ranks,
                                        int64_t timeout_ms, leat_error *err);

/* A rank per process of a job that mpirun started, by MPI; otherwise the same. `rank` is MPI's own.
 * UNIMPLEMENTED in a build without MPI. */
leati_collective *leati_coll_mpi_new(leati_store *store, int rank, int num_ranks,
                                     int64_t timeout_ms, leat_error *err);

/* A rank per GPU, by NCCL: GPU number `device` of this process, in whose memory the values of all
 * calls lie; they are there when a call is made, and the results when it returns. Otherwise the
 * same. UNIMPLEMENTED in a build without NCCL, FAILED_PRECONDITION without such a GPU. */
leati_collective *leati_coll_nccl_new(leati_store *store, int rank, int num_ranks, int device,
                                      int64_t timeout_ms, leat_error *err);

/* The one that fits: shared memory where all processes see this host's, else TLS where the job has
 * it, else MPI where it started them all, else gloo. */
leati_collective *leati_processes_new(leati_store *store, int rank, int num_ranks,
                                      int64_t timeout_ms, leat_error *err);

/* Ranks of all processes: `outer` has one per process (this is number `process`), `inner` those of
 * this process (NULL: one). Both are given, also on failure. Rank process * inner ranks + i calls
 * with that number. Every process has as many ranks. */
leati_collective *leati_coll_hierarchy_new(leati_collective *inner, leati_collective *outer,
                                           int process, leat_error *err);

#endif
