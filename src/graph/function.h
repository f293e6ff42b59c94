/* How functions are put together; for the files of graph/ that make or rewrite them. */
#ifndef LEATI_GRAPH_FUNCTION_H
#define LEATI_GRAPH_FUNCTION_H

#include "graph/body.h"

/* A function with nothing in it yet. Owned. */
leat_function *leati_function_new(leat_error *err);
/* Copies the ids of the outputs. */
LEAT_WARN_UNUSED leat_status leati_function_set_outputs(leat_function *function,
                                                        const int32_t *outputs, int num_outputs,
                                                        leat_error *err);
/* Makes the output spec from the types of the outputs, arranged like `structure` (NULL: one output
 * is itself, several are a tuple). */
LEAT_WARN_UNUSED leat_status leati_function_set_spec(leat_function *function,
                                                     const leat_spec *structure, leat_error *err);
/* Computes flags and fingerprint; the last step. */
void leati_function_seal(leat_function *function);

/* Sets the nodes that are needed, all of which are false before: those that have effects, and what
 * outputs and needed nodes read. `value_needed` likewise. */
void leati_function_mark_needed(const leat_function *function, bool *node_needed,
                                bool *value_needed);

/* A tuple of tensors (and datasets) of these types. Owned. */
leat_spec *leati_function_spec_of_types(const leati_type *types, int count, leat_error *err);

#endif
