/* Running a function over rows as map does. */
#ifndef LEATI_DATA_RUN_APPLY_H
#define LEATI_DATA_RUN_APPLY_H

#include "data/run/state.h"

/* Runs rows [begin, begin + n) of `in` into `out`, up to the first row that fails: LEAT_OK, or the
 * failure of row begin + out->n, which `err` describes. `node`'s counters take calls of users'
 * code. The function is pure, or n is 1. */
LEAT_WARN_UNUSED leat_status leati_run_rows(leati_node_state *node, const leati_program *program,
                                            leati_scratch *scratch, const leati_block *in,
                                            int64_t begin, int64_t n, int64_t ordinal,
                                            leati_block *out, leat_error *err);

/* The same as map does it: a function that ends an iteration (code OUT_OF_RANGE) is an
 * INVALID_ARGUMENT, as in TensorFlow. */
LEAT_WARN_UNUSED leat_status leati_apply(leati_node_state *node, const leati_program *program,
                                         leati_scratch *scratch, const leati_block *in,
                                         int64_t begin, int64_t n, int64_t ordinal,
                                         leati_block *out, leat_error *err);

/* A function made ready for one thread, where an operator has several; {0} is closed. */
typedef struct leati_called {
    leati_program *program;
    leati_scratch *scratch;
} leati_called;

LEAT_WARN_UNUSED leat_status leati_apply_open(leati_called *called, const leat_object *function,
                                              leat_error *err);
void leati_apply_close(leati_called *called);

/* Does `function`, argument `argument` of operator `op`, take elements of `input`? INVALID_ARGUMENT
 * with both specs. */
LEAT_WARN_UNUSED leat_status leati_apply_check_function(const char *op, const char *argument,
                                                        const leat_function *function,
                                                        const leat_spec *input, leat_error *err);

/* Is `predicate` a function of elements of `input` to a bool scalar? INVALID_ARGUMENT. */
LEAT_WARN_UNUSED leat_status leati_apply_check_predicate(const char *op,
                                                         const leat_function *predicate,
                                                         const leat_spec *input, leat_error *err);
/* Are the rows of a predicate's result scalars? One whose shape was not known may return anything.
 */
LEAT_WARN_UNUSED leat_status leati_apply_check_flags(const leati_block *flags, leat_error *err);
/* A function that fails with OUT_OF_RANGE would mean the end to whoever reads it: INTERNAL. */
void leati_apply_as_internal(const char *argument, leat_error *err);

/* For builders of operators with a function: true if it is NULL; then the given inputs are released
 * and an error stands in `err`, the first one if there was one. */
bool leati_apply_function_is_missing(const leat_function *function, const char *op,
                                     const char *argument, leat_dataset *const *inputs,
                                     int num_inputs, leat_error *err);

#endif
