/* What a process drew when it made a plan: the seeds of shuffles and of others that were given
 * none. */
#ifndef LEATI_DIST_DRAWS_H
#define LEATI_DIST_DRAWS_H

#include "dist/distributed.h"

/* `dataset` (given) with the seeds that worker 0 drew, so that all workers see one order. Together;
 * where the others' plan is another one, the dataset itself. Owned; NULL on failure. */
leat_dataset *leati_draws_share(leat_dataset *dataset, const leati_membership *member,
                                leat_error *err);

#endif
