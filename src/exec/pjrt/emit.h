/* How operations are printed as StableHLO: a table of emitters, emit.def. */
#ifndef LEATI_EXEC_PJRT_EMIT_H
#define LEATI_EXEC_PJRT_EMIT_H

#include "core/row.h"
#include "exec/pjrt/hlo.h"
#include "exec/simplify.h"
#include "graph/variable.h"

/* A variable that the program reads or writes. */
typedef struct leati_emit_variable {
    leat_variable *variable;  /* borrowed from the function */
    leati_hlo_value argument; /* what it is before the step */
    leati_hlo_value now;      /* at this point of the program */
    bool written;
} leati_emit_variable;

/* What is known while a node is printed. */
typedef struct leati_emit {
    leati_hlo hlo;
    const leati_simple *simple;
    const leati_simple_node *node;
    const char *text;              /* of the operation's line in emit.def */
    const leati_hlo_value *inputs; /* numbers of the node's inputs */
    int num_inputs;
    leati_hlo_value *outputs; /* to fill */
    const leati_call_context *context;
    leati_emit_variable *variables; /* in the order of their first use */
    size_t num_variables, variable_capacity;
} leati_emit;

typedef leat_status leati_emitter(leati_emit *emit, leat_error *err);

/* Prints a node of emit->simple; `values` are the numbers of the function's values, those of its
 * inputs are there, its outputs are filled. UNIMPLEMENTED naming an operation that emit.def does
 * not have. */
LEAT_WARN_UNUSED leat_status leati_emit_node(leati_emit *emit, const leati_simple_node *node,
                                             leati_hlo_value *values, leat_error *err);
/* Is there an emitter for the operation? */
bool leati_emit_has(const leati_tensor_op *op);

/* ---- for emitters ---- */

/* Attributes by their name, which is one of the operation's rows. */
int64_t leati_emit_int(const leati_emit *emit, const char *name);
double leati_emit_float(const leati_emit *emit, const char *name);
bool leati_emit_bool(const leati_emit *emit, const char *name);
const char *leati_emit_string(const leati_emit *emit, const char *name);
const leati_ints *leati_emit_ints(const leati_emit *emit, const char *name);
const leat_element *leati_emit_element(const leati_emit *emit, const char *name);

/* float16 or bfloat16? */
bool leati_emit_is_half(leat_dtype dtype);

/* The shape and dtype of output `index`, as inference said. */
const leat_shape *leati_emit_shape(const leati_emit *emit, int index);
leat_dtype leati_emit_dtype(const leati_emit *emit, int index);
/* Those of input `index`. */
leat_shape leati_emit_input_shape(const leati_emit *emit, int index);
leat_dtype leati_emit_input_dtype(const leati_emit *emit, int index);

/* `axis`, which may count from the end, of `rank` dimensions. */
int32_t leati_emit_axis(int64_t axis, int32_t rank);
/* The set of dimensions that the attribute names; none: all. */
uint32_t leati_emit_axes(const leati_emit *emit, const char *name, int32_t rank);

/* What the variable of an attribute is now, and what it becomes. Failed: no memory, told by the
 * program. */
leati_hlo_value leati_emit_variable_now(leati_emit *emit, const char *name);
void leati_emit_variable_set(leati_emit *emit, const char *name, leati_hlo_value value);

/* Refuses what the emitter of this operation does not have. */
leat_status leati_emit_lacks(const leati_emit *emit, const char *what, leat_error *err);

#define X(op, emitter, text) leati_emitter leati_emit_##emitter;
#include "exec/pjrt/emit.def"
#undef X

#endif
