/* The top of the library: joins the table of tensor operations of graph/ with those that higher
 * rooms add (functions that make datasets). graph/table.c calls leati_join_tables once, at the
 * first lookup; nothing registers itself. Cannot fail; no locks. */
#include "graph/graph.h"

void leati_join_tables(void);

#define X(name) extern const leati_tensor_op leati_tensor_op_##name;
#include "data/functions.def"
#undef X

static const leati_tensor_op *const functions[] = {
#define X(name) &leati_tensor_op_##name,
#include "data/functions.def"
#undef X
    NULL,
};

void leati_join_tables(void) {
    leati_graph_ops_join(functions, sizeof functions / sizeof functions[0] - 1);
}
