/* How often a loop runs, where that follows from constants. */
#ifndef LEATI_EXEC_PJRT_TRIPS_H
#define LEATI_EXEC_PJRT_TRIPS_H

#include "exec/simplify.h"

/* The number of iterations of the loop of `cond` and `body`, both for the same arguments, of which
 * the first num_variables are the loop's variables: where the condition depends on integers alone
 * that start as constants (`known`, of all arguments; NULL: not constant) and follow from each
 * other. `*out` is -1 where that is not so, or where there are more than a hundred thousand. Fails
 * without memory. */
LEAT_WARN_UNUSED leat_status leati_pjrt_count_trips(const leati_simple *cond,
                                                    const leati_simple *body,
                                                    const leat_tensor *const *known,
                                                    int num_variables, int64_t *out,
                                                    leat_error *err);

#endif
