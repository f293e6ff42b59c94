/* What the builders of <leat/ops.h> are made of (src/graph/builders_*.c): the arguments of a node
 * are its rows' defaults, then what the caller gives by name, and leati_build_end adds the node.
 *
 * Failures stand in the graph. Everything given is borrowed for the call. No state, no locks. */
#ifndef LEATI_GRAPH_BUILD_H
#define LEATI_GRAPH_BUILD_H

#include "graph/op.h"
#include <stdalign.h>
#include <stddef.h>

/* ---- of inputs alone, or with arguments that are ready ---- */
/* A node of one output (see leati_graph_node); a failed input passes through. */
leat_value leati_graph_build1(const leati_tensor_op *op, const void *args, leat_value a);
leat_value leati_graph_build2(const leati_tensor_op *op, const void *args, leat_value a,
                              leat_value b);
leat_value leati_graph_build3(const leati_tensor_op *op, const void *args, leat_value a,
                              leat_value b, leat_value c);
leat_value leati_graph_build_many(const leati_tensor_op *op, const void *args,
                                  const leat_value *inputs, int num_inputs);

/* A builder of inputs alone. */
#define LEATI_BUILDER_1(NAME)                                                                      \
    leat_value leat_op_##NAME(leat_value a) {                                                      \
        return leati_graph_build1(&leati_tensor_op_##NAME, NULL, a);                               \
    }
#define LEATI_BUILDER_2(NAME)                                                                      \
    leat_value leat_op_##NAME(leat_value a, leat_value b) {                                        \
        return leati_graph_build2(&leati_tensor_op_##NAME, NULL, a, b);                            \
    }
#define LEATI_BUILDER_3(NAME)                                                                      \
    leat_value leat_op_##NAME(leat_value a, leat_value b, leat_value c) {                          \
        return leati_graph_build3(&leati_tensor_op_##NAME, NULL, a, b, c);                         \
    }

/* ---- from the rows ---- */
enum {
    LEATI_BUILD_ARGS = 512, /* bytes, the largest arguments of a generated builder */
    LEATI_BUILD_INPUTS = 8
};

typedef struct leati_build {
    const leati_tensor_op *op;
    leat_graph *graph;        /* NULL: that of the first input */
    const leat_value *inputs; /* `own`, or the caller's list */
    int num_inputs;
    leat_error error; /* of an argument */
    leat_value first; /* the node's first output */
    int32_t num_outputs;
    leat_value own[LEATI_BUILD_INPUTS];
    alignas(max_align_t) unsigned char args[LEATI_BUILD_ARGS];
} leati_build;

void leati_build_begin(leati_build *build, const leati_tensor_op *op, leat_graph *graph);

void leati_build_input(leati_build *build, leat_value value);
/* The same for one that may be left out: {0}. */
void leati_build_input_if(leati_build *build, leat_value value);
void leati_build_inputs(leati_build *build, const leat_value *values, int num_values);

/* The argument `name`. Pointers that are NULL, LEAT_INVALID, and LEAT_UNSET for a number that may
 * be left out, keep the default. */
void leati_build_bool(leati_build *build, const char *name, bool value);
void leati_build_int(leati_build *build, const char *name, int64_t value);
void leati_build_float(leati_build *build, const char *name, double value);
void leati_build_text(leati_build *build, const char *name, const char *value);
void leati_build_dtype(leati_build *build, const char *name, leat_dtype value);
void leati_build_shape(leati_build *build, const char *name, leat_shape value);
void leati_build_seed(leati_build *build, const char *name, const int64_t *value);
void leati_build_element(leati_build *build, const char *name, const leat_element *value);
void leati_build_ints(leati_build *build, const char *name, const int64_t *values, int count);
void leati_build_floats(leati_build *build, const char *name, const double *values, int count);

/* The caller's options (may be NULL) over `own`, `size` bytes with the defaults of the struct
 * `type`. */
void leati_build_options(leati_build *build, void *own, size_t size, const void *options,
                         const char *type);

/* Adds the node: its first output, or a failed value. */
leat_value leati_build_end(leati_build *build);
/* Output `index` of the node that was added; `out` may be NULL. */
void leati_build_output(const leati_build *build, int index, leat_value *out);
/* Adds the node, and fills `outputs` with all that it has; their number, or -1. */
int leati_build_list(leati_build *build, leat_value *outputs, int capacity);

#endif
