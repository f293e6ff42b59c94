/* The reference interpreter: a function run node by node with the plain kernels, every value in
 * memory of its own. It is the oracle of every executor, and how `cond` runs its branches. */
#ifndef LEATI_GRAPH_INTERPRET_H
#define LEATI_GRAPH_INTERPRET_H

#include "graph/graph.h"

/* Runs `function` on one element. `inputs` are borrowed, one per argument; `outputs` receives
 * function->num_outputs tensors (owned; owner NULL where the memory is that of an input without an
 * owner). `context` may be NULL. INVALID_ARGUMENT where an input does not fit its argument; any
 * other failure names operation and node. Thread-safe. */
LEAT_WARN_UNUSED leat_status leati_interpret(const leat_function *function,
                                             const leat_tensor *inputs,
                                             const leati_call_context *context,
                                             leat_tensor *outputs, leat_error *err);

/* The same over n rows, each node once over all of them. Every value of the function must have a
 * static shape (else FAILED_PRECONDITION). `outputs` receives operands whose owners are owned.
 * `failed_row` (may be NULL) is the row that a failing kernel named. */
LEAT_WARN_UNUSED leat_status leati_interpret_rows(const leat_function *function, int64_t n,
                                                  const leati_operand *inputs,
                                                  const leati_call_context *context,
                                                  leati_operand *outputs, int64_t *failed_row,
                                                  leat_error *err);

#endif
