/* The table of named functions: one line per name in golden_functions.c,
 * golden_functions_data.c and golden_functions_folds.c. */
#ifndef GOLDEN_FUNCTIONS_H
#define GOLDEN_FUNCTIONS_H

#include "golden.h"

typedef struct golden_named {
    const char *name;
    /* As a leat_tracer; `input` is the spec of the arguments. */
    int (*trace)(leat_graph *graph, const leat_spec *input, leat_value *out);
    /* How the outputs are arranged (owned); NULL: one output is itself, several are a tuple. */
    leat_spec *(*structure)(const leat_spec *input, leat_error *err);
    const char *needs[3]; /* operations and operators beyond those that every function may use */
} golden_named;

extern const golden_named golden_element_functions[];
extern const golden_named golden_dataset_functions[];
extern const golden_named golden_fold_functions[];

/* Argument `index`, and a constant of another value's dtype. */
leat_value golden_arg(leat_graph *graph, int index);
leat_value golden_like(leat_value value, int64_t number);
leat_value golden_int64(leat_graph *graph, int64_t number);

/* A function of one argument with one output: ONE(name, expression in x). */
#define ONE(NAME, EXPRESSION)                                                                      \
    static int NAME(leat_graph *graph, const leat_spec *input, leat_value *out) {                  \
        (void)input;                                                                               \
        leat_value x = golden_arg(graph, 0);                                                       \
        out[0] = (EXPRESSION);                                                                     \
        return 1;                                                                                  \
    }
#define LIKE(NUMBER) golden_like(x, NUMBER)

#endif
