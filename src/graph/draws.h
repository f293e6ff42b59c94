/* How far the streams of random operations have come, where functions and operations are called one
 * after the other (eagerly, leat_function_call) and each call goes on where the last one ended, as
 * TensorFlow's kernels do. Pipelines and training steps count calls instead: there no table is
 * asked.
 *
 * A leati_draws maps 64-bit keys to positions. Three of them meet in a leati_call_context: `draws`
 * are the positions that a function's operations have reached, `kept` those at which nodes inside
 * of branches and loops drew in this run, for gradients that compute them again. Everything is
 * forgotten when leat_seed_set is called. */
#ifndef LEATI_GRAPH_DRAWS_H
#define LEATI_GRAPH_DRAWS_H

#include "graph/graph.h"

typedef struct leati_draws leati_draws;

/* Owned; NULL with the error set without memory. */
leati_draws *leati_draws_new(leat_error *err);
void leati_draws_free(leati_draws *draws); /* NULL does nothing */

/* The table of a function, made at its first use; borrowed from it. Thread-safe. */
leati_draws *leati_draws_of_function(const leat_function *function, leat_error *err);
/* The table of operations that are computed at once, keyed by operation, dtype and seeds. Borrowed
 * from the process. */
leati_draws *leati_draws_of_eager(void);

/* Where a node that reserves `blocks` blocks of its stream begins in this call. `seeds` is a hash
 * of the operation, its dtype and its seeds; 0: drawn ones, which no other call has. The context's
 * `draws` must not be NULL. RESOURCE_EXHAUSTED without memory. Thread-safe. */
LEAT_WARN_UNUSED leat_status leati_draws_begin(const leati_call_context *context, int64_t number,
                                               uint64_t seeds, uint64_t blocks, uint64_t *out,
                                               leat_error *err);

/* The context of a function that node `number` runs as its attribute `which`; `forward` is the
 * number of the node whose computation this one repeats, -1: none. */
leati_call_context leati_draws_inside(const leati_call_context *context, int64_t number,
                                      int64_t forward, int64_t which);

/* The context in which `function` runs. In a context of eager operations its own table takes over.
 * Fails without memory. */
LEAT_WARN_UNUSED leat_status leati_draws_enter(const leat_function *function,
                                               leati_call_context *context, leat_error *err);

#endif
