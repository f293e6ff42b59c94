/* Helpers over per-replica values. */
#ifndef LEATI_DIST_VALUES_H
#define LEATI_DIST_VALUES_H

#include "base/error.h"
#include <leat/dist.h>

/* A tensor seen as (outer, along, inner), where `along` is an axis. Without an axis it is 1. */
typedef struct leati_folded {
    int64_t outer, along, inner;
    leat_shape rest; /* without the axis */
    int axis;        /* from 0; -1: none */
} leati_folded;
LEAT_WARN_UNUSED leat_status leati_values_fold(const leat_tensor *tensor, int axis,
                                               leati_folded *out, leat_error *err);

/* Arguments of a function over values per replica: not NULL, one element per local replica, all
 * with as many components. */
LEAT_WARN_UNUSED leat_status leati_values_check_per_replica(const char *function,
                                                            const leat_strategy *strategy,
                                                            const leat_per_replica *value,
                                                            const leat_element *out,
                                                            leat_error *err);

/* `out` becomes the tensors (borrowed) in the structure of `spec`. */
LEAT_WARN_UNUSED leat_status leati_values_give_like(const leat_spec *spec,
                                                    const leat_tensor *tensors, int count,
                                                    leat_element *out, leat_error *err);

/* Makes room for one element per replica, all cleared. */
LEAT_WARN_UNUSED leat_status leati_values_reset(leat_per_replica *value, int num_replicas,
                                                leat_error *err);

#endif
