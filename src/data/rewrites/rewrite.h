/* Rewrites run once when an iterator is created. One is one file in data/rewrites/ and one line in
 * data/rewrites.def, in the order of application. A rewrite made for speed keeps elements and
 * errors as they were. */
#ifndef LEATI_DATA_REWRITES_REWRITE_H
#define LEATI_DATA_REWRITES_REWRITE_H

#include "data/plan/dataset.h"
#include "data/plan/options.h"

typedef struct leati_rewrite_rule {
    const char *name; /* TensorFlow's name of the rewrite where it has one */
    const char *doc;
    /* Is the rule applied to a plan with these with_options nodes? NULL: by the option of its name
     * and apply_default_optimizations. */
    bool (*enabled)(const leat_dataset *plan);
    /* Given a node whose inputs are already rewritten (borrowed): a replacement (owned), or NULL
     * without an error for "leave it". */
    leat_dataset *(*apply)(leat_dataset *node, leat_error *err);
    /* Instead of apply, for rules that must see the plan as a whole: the new plan (owned). */
    leat_dataset *(*apply_to_plan)(leat_dataset *plan, leat_error *err);
} leati_rewrite_rule;

/* The default of `enabled`: whether the plan's options ask for the rewrite `name`. */
bool leati_rewrite_by_option(const leat_dataset *plan, const char *name);
/* The same for rewrites that leave a number to AUTOTUNE: not where autotune is off. */
bool leati_rewrite_with_autotune(const leat_dataset *plan, const char *name);

/* What is done to each node of a plan, inputs first: a replacement (owned), or NULL without an
 * error for "leave it". */
typedef leat_dataset *(*leati_node_rewrite)(void *context, leat_dataset *node, leat_error *err);
/* Walks `plan` (borrowed): a node that is used twice is visited once per use, first inputs first.
 * Owned. */
leat_dataset *leati_rewrite_nodes(leat_dataset *plan, leati_node_rewrite rewrite, void *context,
                                  leat_error *err);

/* For rules: an argument of `node` by its name. INT, BOOL and BOOL_OR_NONE as an integer; a
 * function borrowed, NULL if there is none. Asking for a name that the operator lacks gives
 * INT64_MIN. */
int64_t leati_rewrite_argument_int(const leat_dataset *node, const char *name);
leat_function *leati_rewrite_argument_function(const leat_dataset *node, const char *name);

/* A new node like `node` over other inputs (given) with another function for argument `name`; it
 * has its own shared state. Owned. */
leat_dataset *leati_rewrite_with_function(const leat_dataset *node, const char *name,
                                          leat_function *function, leat_dataset *const *inputs,
                                          leat_error *err);

/* A copy of `node` over `input` (given) in which one argument (INT, BOOL or BOOL_OR_NONE) has
 * another value; it shares the node's state. Owned. */
leat_dataset *leati_rewrite_with_argument(const leat_dataset *node, const char *name, int64_t value,
                                          leat_dataset *input, leat_error *err);

/* The rewritten plan (owned; the argument is borrowed), NULL on failure. `tell`: a log line, where
 * it is wanted, for each change; not for plans that a function makes for every element. */
leat_dataset *leati_rewrite(leat_dataset *dataset, bool tell, leat_error *err);

#endif
