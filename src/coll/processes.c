/* Which collective joins the processes of a job: shared memory where all are on one host and see
 * the same shared memory, else TLS where the job has it, else MPI where it started all of them,
 * else gloo. All come to the same answer, since each decides by what all said. */
#include "coll/processes.h"
#include "base/error.h"
#include "base/log.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What is the same for processes that can share memory: the kernel's run, and the file system that
 * shared memory lies in, which containers have of their own. Empty: unknown. */
static void host_identity(char *out, size_t size) {
    char boot[64] = "";
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
    if (file != NULL) {
        if (fgets(boot, sizeof boot, file) == NULL)
            boot[0] = '\0';
        fclose(file);
    }
    struct stat at = {0};
    bool there = boot[0] != '\0' && stat("/dev/shm", &at) == 0;
    out[0] = '\0';
    if (there)
        snprintf(out, size, "%s%llu", boot, (unsigned long long)at.st_dev);
}

/* Did an MPI launcher start this process, and can this build use it? */
static bool has_mpi(void) {
#ifdef LEATI_HAVE_MPI
    return getenv("OMPI_COMM_WORLD_SIZE") != NULL || getenv("PMI_SIZE") != NULL;
#else
    return false;
#endif
}

/* Do all processes name the same host, and were all started by MPI? */
static leat_status compare_hosts(leati_store *store, int num_ranks, int64_t timeout_ms,
                                 bool *one_host, bool *mpi, leat_error *err) {
    char mine[96];
    leati_store_values all;
    /* One exchange for both questions: the first letter is about MPI, the rest about the host. */
    host_identity(mine + 1, sizeof mine - 1);
    mine[0] = has_mpi() ? 'm' : '-';
    size_t length = strlen(mine);
    leat_status status = leati_store_barrier(store, "hosts", mine, length, timeout_ms, &all, err);
    /* Two processes that know nothing of their hosts are not on one. */
    *one_host = status == LEAT_OK && mine[1] != '\0';
    *mpi = status == LEAT_OK;
    for (int r = 0; r < num_ranks && status == LEAT_OK; r++) {
        size_t size = all.offset[r + 1] - all.offset[r];
        const char *theirs = all.bytes + all.offset[r];
        *one_host = *one_host && size == length && memcmp(theirs + 1, mine + 1, length - 1) == 0;
        *mpi = *mpi && size > 0 && theirs[0] == 'm';
    }
    leati_store_values_fini(&all);
    return status;
}

leati_collective *leati_processes_new(leati_store *store, int rank, int num_ranks,
                                      int64_t timeout_ms, leat_error *err) {
    bool one_host = false, mpi = false;
    if (compare_hosts(store, num_ranks, timeout_ms, &one_host, &mpi, err) != LEAT_OK)
        return NULL;
    if (one_host) {
        leat_error local = {0};
        leati_collective *shared =
            leati_coll_shared_new(store, rank, num_ranks, timeout_ms, &local);
        /* All of them failed together, and the others need no shared memory. */
        if (shared != NULL || local.code != LEAT_UNAVAILABLE) {
            if (shared == NULL) {
                *err = local;
            } else if (shared != NULL) {
                LEATI_TELL(COLL, INFO, "rank %d of %d exchanges by shared memory: one host", rank,
                           num_ranks);
            }
            return shared;
        }
        LEATI_TELL(COLL, INFO, "rank %d has no shared memory: %s", rank, local.text);
    }
    bool sealed = leati_store_tls(store) != NULL;
    LEATI_TELL(COLL, INFO, "rank %d of %d exchanges by %s", rank, num_ranks,
               sealed ? "TLS"
               : mpi  ? "MPI, which started all"
                      : "gloo, over TCP");
    return (mpi && !sealed ? leati_coll_mpi_new : leati_coll_network_new)(store, rank, num_ranks,
                                                                          timeout_ms, err);
}

leati_collective *leati_coll_network_new(leati_store *store, int rank, int num_ranks,
                                         int64_t timeout_ms, leat_error *err) {
    return (leati_store_tls(store) != NULL ? leati_coll_mesh_new : leati_coll_gloo_new)(
        store, rank, num_ranks, timeout_ms, err);
}

leat_status leati_processes_check_clear(const leati_store *store, const char *what,
                                        leat_error *err) {
    if (store == NULL || leati_store_tls(store) == NULL)
        return LEAT_OK;
    return leati_fail(err, LEAT_UNIMPLEMENTED,
                      "%s does not encrypt what the processes exchange, and the job has TLS "
                      "(LEAT_TLS_CERT); let leat choose, or unset it and run the job in a network "
                      "of its own",
                      what);
}

#ifndef LEATI_HAVE_MPI
leati_collective *leati_coll_mpi_new(leati_store *store, int rank, int num_ranks,
                                     int64_t timeout_ms, leat_error *err) {
    (void)store;
    (void)timeout_ms;
    leati_fail(err, LEAT_UNIMPLEMENTED,
               "rank %d of %d by MPI: this build of leat has none; install libopenmpi-dev, and "
               "build again",
               rank, num_ranks);
    return NULL;
}
#endif

#ifndef LEATI_HAVE_GLOO
leati_collective *leati_coll_gloo_new(leati_store *store, int rank, int num_ranks,
                                      int64_t timeout_ms, leat_error *err) {
    (void)store;
    (void)timeout_ms;
    leati_fail(err, LEAT_UNIMPLEMENTED,
               "rank %d of %d processes on several hosts: this build of leat has no gloo; install "
               "libgloo-dev and a C++ compiler, and build again",
               rank, num_ranks);
    return NULL;
}
#endif

#ifndef LEATI_HAVE_NCCL
leati_collective *leati_coll_nccl_new(leati_store *store, int rank, int num_ranks, int device,
                                      int64_t timeout_ms, leat_error *err) {
    (void)store;
    (void)timeout_ms;
    leati_fail(err, LEAT_UNIMPLEMENTED,
               "rank %d of %d on GPU %d: this build of leat has no NCCL; install NVIDIA's CUDA "
               "toolkit and NCCL, and build again",
               rank, num_ranks, device);
    return NULL;
}
#endif
