/* The variables of torchrun: RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT.
 *
 * Its own agent may listen at MASTER_PORT (TORCHELASTIC_USE_AGENT_STORE); then the workers meet at
 * the next port. */
#include "base/error.h"
#include "dist/cluster.h"
#include <stdlib.h>
#include <string.h>

extern const leati_resolver leati_resolver_torchrun;

static bool applies(void) {
    return getenv("RANK") != NULL && getenv("WORLD_SIZE") != NULL && getenv("MASTER_ADDR") != NULL;
}

static json_t *read_variables(leat_error *err) {
    int64_t rank = 0, size = 0, port = 0;
    const char *host = getenv("MASTER_ADDR"), *agent = getenv("TORCHELASTIC_USE_AGENT_STORE");
    if (leati_cluster_resolver_number("RANK", &rank, err) != LEAT_OK ||
        leati_cluster_resolver_number("WORLD_SIZE", &size, err) != LEAT_OK ||
        leati_cluster_resolver_number("MASTER_PORT", &port, err) != LEAT_OK)
        return NULL;
    if (host == NULL) {
        leati_fail(err, LEAT_NOT_FOUND,
                   "the environment has no MASTER_ADDR; torchrun sets it to the host of rank 0");
        return NULL;
    }
    /* The agent's store listens at the port that it tells. */
    if (agent != NULL && (strcmp(agent, "True") == 0 || strcmp(agent, "1") == 0))
        port++;
    json_t *addresses = leati_cluster_resolver_meet_at(host, port, size, err);
    return addresses == NULL ? NULL : leati_cluster_resolver_workers(addresses, rank, err);
}

const leati_resolver leati_resolver_torchrun = {
    .name = "torchrun",
    .doc = "RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT, as torchrun sets them.",
    .applies = applies,
    .read = read_variables,
};
