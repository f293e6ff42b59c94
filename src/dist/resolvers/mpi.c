/* The variables of MPI launchers: Open MPI's OMPI_COMM_WORLD_*, MPICH's and Intel MPI's PMI_*.
 *
 * They say rank and size and where nobody is. MASTER_ADDR and MASTER_PORT name the host of rank 0;
 * where all ranks are on this host they meet at a port of its own, chosen by the launcher's process
 * number, which the ranks share as their parent's. */
#include "base/error.h"
#include "dist/cluster.h"
#include <stdlib.h>
#include <unistd.h>

extern const leati_resolver leati_resolver_mpi;

/* Below 32768, where Linux takes ports for connections that go out. */
enum { FIRST_PORT = 20000, NUM_PORTS = 12000 };

typedef struct launcher {
    const char *rank, *size, *local_size;
} launcher;

static const launcher launchers[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS"},
};

static const launcher *find_launcher(void) {
    for (size_t i = 0; i < sizeof launchers / sizeof launchers[0]; i++)
        if (getenv(launchers[i].rank) != NULL && getenv(launchers[i].size) != NULL)
            return &launchers[i];
    return NULL;
}

static bool applies(void) {
    return find_launcher() != NULL;
}

static json_t *read_variables(leat_error *err) {
    const launcher *found = find_launcher();
    const char *host = getenv("MASTER_ADDR");
    int64_t rank = 0, size = 0, local = 0, port = 0;
    if (found == NULL) {
        leati_fail(err, LEAT_NOT_FOUND,
                   "the environment has neither OMPI_COMM_WORLD_RANK nor PMI_RANK; start the "
                   "program by mpirun");
        return NULL;
    }
    if (leati_cluster_resolver_number(found->rank, &rank, err) != LEAT_OK ||
        leati_cluster_resolver_number(found->size, &size, err) != LEAT_OK)
        return NULL;
    if (host != NULL) {
        if (leati_cluster_resolver_number("MASTER_PORT", &port, err) != LEAT_OK)
            return NULL;
    } else if (leati_cluster_resolver_number(found->local_size, &local, &(leat_error){0}) ==
                   LEAT_OK &&
               local == size) {
        host = "127.0.0.1";
        /* Two jobs on this host have different launchers, so they rarely meet at one port. */
        port = FIRST_PORT + getppid() % NUM_PORTS;
    } else {
        leati_fail(err, LEAT_FAILED_PRECONDITION,
                   "%lld ranks on several hosts, and MPI does not say where rank 0 is; set "
                   "MASTER_ADDR and MASTER_PORT, such as mpirun -x MASTER_ADDR=host0 -x "
                   "MASTER_PORT=29400",
                   (long long)size);
        return NULL;
    }
    json_t *addresses = leati_cluster_resolver_meet_at(host, port, size, err);
    return addresses == NULL ? NULL : leati_cluster_resolver_workers(addresses, rank, err);
}

const leati_resolver leati_resolver_mpi = {
    .name = "mpi",
    .doc = "OMPI_COMM_WORLD_RANK and _SIZE, or PMI_RANK and PMI_SIZE, as mpirun sets them.",
    .applies = applies,
    .read = read_variables,
};
