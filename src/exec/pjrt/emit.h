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
    bool read_inside, written_inside; /* by the functions that leati_emit_touch was called for */
} leati_emit_variable;

/* What is known while a node is printed. */
typedef struct leati_emit {
    leati_hlo hlo;
    const leati_simple *simple;
    const leat_tensor *const *known; /* of the function's arguments: constants; NULL: none is */
    const leati_simple_node *node;
    const char *text;              /* of the operation's line in emit.def */
    const leati_hlo_value *inputs; /* numbers of the node's inputs */
    int num_inputs;
    leati_hlo_value *outputs; /* to fill */
    const leati_call_context *context;
    leati_emit_variable *variables; /* in the order of their first use */
    size_t num_variables, variable_capacity;
    bool is_text; /* a variable is the constant that it has, and may not be written */
} leati_emit;

typedef leat_status leati_emitter(leati_emit *emit, leat_error *err);

/* Prints a node of emit->simple; `values` are the numbers of the function's values, those of its
 * inputs are there, its outputs are filled. UNIMPLEMENTED naming an operation that emit.def does
 * not have. */
LEAT_WARN_UNUSED leat_status leati_emit_node(leati_emit *emit, const leati_simple_node *node,
                                             leati_hlo_value *values, leat_error *err);
/* Is there an emitter for the operation? */
bool leati_emit_has(const leati_tensor_op *op);
/* Does what is printed for a node read its input, more than its shape? */
bool leati_emit_reads(const leati_tensor_op *op, int input);

/* ---- for emitters ---- */

/* Attributes by their name, which is one of the operation's rows. */
int64_t leati_emit_int(const leati_emit *emit, const char *name);
double leati_emit_float(const leati_emit *emit, const char *name);
bool leati_emit_bool(const leati_emit *emit, const char *name);
const char *leati_emit_string(const leati_emit *emit, const char *name);
const leati_ints *leati_emit_ints(const leati_emit *emit, const char *name);
const leat_element *leati_emit_element(const leati_emit *emit, const char *name);
/* Where the attribute lies; NULL: there is none. */
const void *leati_emit_attribute(const leati_emit *emit, const char *name);

/* float16 or bfloat16? */
bool leati_emit_is_half(leat_dtype dtype);
/* Of these a float32, of others the value itself. */
leati_hlo_value leati_emit_single(leati_emit *emit, leati_hlo_value x);

/* The shape and dtype of output `index`, as inference said. */
const leat_shape *leati_emit_shape(const leati_emit *emit, int index);
leat_dtype leati_emit_dtype(const leati_emit *emit, int index);
/* Those of input `index`. */
leat_shape leati_emit_input_shape(const leati_emit *emit, int index);
leat_dtype leati_emit_input_dtype(const leati_emit *emit, int index);

/* The part "real" or "imag"; of what is not complex itself, or zeros. */
leati_hlo_value leati_emit_part(leati_emit *emit, const char *which, leati_hlo_value x);
/* The conjugate; of what is not complex itself. */
leati_hlo_value leati_emit_conjugate(leati_emit *emit, leati_hlo_value x);

/* `axis`, which may count from the end, of `rank` dimensions. */
int32_t leati_emit_axis(int64_t axis, int32_t rank);
/* The set of dimensions that the attribute names; none: all. */
uint32_t leati_emit_axes(const leati_emit *emit, const char *name, int32_t rank);

/* What the variable of an attribute is now, and what it becomes. Failed: no memory, told by the
 * program. */
leati_hlo_value leati_emit_variable_now(leati_emit *emit, const char *name);
void leati_emit_variable_set(leati_emit *emit, const char *name, leati_hlo_value value);

/* The value of input `index`, if that is a constant; else NULL. */
const leat_tensor *leati_emit_known(const leati_emit *emit, int index);

/* `count` words of the stream of a seed, a vector of two or three integers, as a vector of uint32;
 * rounded up to blocks of four (emit_random.c). */
leati_hlo_value leati_emit_words(leati_emit *emit, leati_hlo_value seed, int64_t count);

/* ---- functions among attributes ---- */

/* A function for arguments of known types, ready to be printed. */
typedef struct leati_emit_inside {
    leati_simple simple;
    const leat_tensor **known; /* of each argument: its value, if that is a constant; else NULL */
    bool *node_needed, *value_needed;
} leati_emit_inside;

/* A function, which failures call `name`, for arguments such as these values. `known` may be NULL.
 */
LEAT_WARN_UNUSED leat_status leati_emit_inside_init(leati_emit *emit, const char *name,
                                                    const leat_object *function,
                                                    const leati_hlo_value *arguments,
                                                    const leat_tensor *const *known,
                                                    leati_emit_inside *out, leat_error *err);
void leati_emit_inside_fini(leati_emit_inside *inside);
/* Appends its nodes; `results` has room for its outputs. The node that is being printed stays it.
 */
LEAT_WARN_UNUSED leat_status leati_emit_inside_print(leati_emit *emit,
                                                     const leati_emit_inside *inside,
                                                     const leati_hlo_value *arguments,
                                                     leati_hlo_value *results, leat_error *err);
/* The variable, which becomes an argument of the program with its first use; NULL: no memory. */
leati_emit_variable *leati_emit_variable_at(leati_emit *emit, leat_variable *variable);
/* The node's attribute that is a function. */
const leat_object *leati_emit_function(const leati_emit *emit, const char *name);
/* Marks the variables that the attribute's function uses, as arguments of the program, too. */
void leati_emit_touch(leati_emit *emit, const char *name);

/* Refuses what the emitter of this operation does not have. */
leat_status leati_emit_lacks(const leati_emit *emit, const char *what, leat_error *err);

#define X(op, emitter, text) leati_emitter leati_emit_##emitter;
#include "exec/pjrt/emit.def"
#undef X

#endif
