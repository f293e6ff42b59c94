/* Helpers over per-replica values. */
#ifndef LEATI_DIST_VALUES_H
#define LEATI_DIST_VALUES_H

#include "base/error.h"
#include <leat/dist.h>

/* Makes room for one element per replica, all cleared. */
LEAT_WARN_UNUSED leat_status leati_per_replica_reset(leat_per_replica *value, int num_replicas,
                                                     leat_error *err);

#endif
