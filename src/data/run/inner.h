/* Datasets that a function makes out of elements: what flat_map and the interleaves share. */
#ifndef LEATI_DATA_RUN_INNER_H
#define LEATI_DATA_RUN_INNER_H

#include "data/run/input.h"

/* Does `function`, argument map_func of `dataset`, take input 0's elements and return a dataset?
 * INVALID_ARGUMENT otherwise. */
LEAT_WARN_UNUSED leat_status leati_inner_check(const leat_dataset *dataset,
                                               const leat_function *function, leat_error *err);
/* The spec of the elements of the datasets that `function` returns. Owned. */
leat_spec *leati_inner_spec(const leat_function *function);
/* Has the argument map_func no effects, and no state? */
bool leati_inner_pure(const leat_dataset *dataset);
/* An operator's slots share and unshare: the program of its argument map_func. */
void *leati_inner_share(const leat_dataset *dataset, leat_error *err);
void leati_inner_unshare(void *shared);

/* What a state keeps for calling the function; {0} is closed. The program is the node's shared
 * state. */
typedef struct leati_inner {
    leati_scratch *scratch;
    leati_block result; /* of the last call: one dataset */
} leati_inner;

LEAT_WARN_UNUSED leat_status leati_inner_init(leati_inner *inner, leati_node_state *node,
                                              leat_error *err);
void leati_inner_fini(leati_inner *inner);

/* Calls the function on row `row` of `block` as call number `call`. *out is owned. */
LEAT_WARN_UNUSED leat_status leati_inner_call(leati_inner *inner, leati_node_state *node,
                                              const leati_block *block, int64_t row, int64_t call,
                                              leat_dataset **out, leat_error *err);
/* Calls the function on row `row` of `block` as call number `call` and opens the dataset it returns
 * as `out`, inline, with a random scope of its own. `iteration` is filled in and must live as long
 * as `out`. On failure `out` is closed. */
LEAT_WARN_UNUSED leat_status leati_inner_open(leati_inner *inner, leati_node_state *node,
                                              const leati_block *block, int64_t row, int64_t call,
                                              leati_iteration *iteration, leati_input *out,
                                              leat_error *err);

#endif
