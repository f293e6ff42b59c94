/* The attributes of the tensor operation `dataset`, and its arguments parsed once per text. */
#ifndef LEATI_DATA_FUNCTIONS_TEMPLATE_H
#define LEATI_DATA_FUNCTIONS_TEMPLATE_H

#include "data/plan/dataset.h"
#include "graph/op.h"

extern const leati_tensor_op leati_tensor_op_dataset;

/* Operators take at most so many functions. */
#define LEATI_MOST_FUNCTIONS 4

struct leati_dataset_args {
    char *op;
    char *args;
    leati_strings bound;
    leat_spec *structures; /* a dict by argument name; NULL: none */
    leati_strings functions;
    leati_ints captures; /* of each function */
    leat_object *function[LEATI_MOST_FUNCTIONS];
};

typedef struct leati_dataset_template {
    char *key; /* op, args and names */
    size_t key_size;
    const leati_dataset_op *op;
    void *args; /* owned, under the rows' rules; functions that nodes bring are NULL */
    int users;  /* guarded by the lock; one that is replaced lives until its last user is done */
    bool dropped;
} leati_dataset_template;

/* The parsed arguments of these attributes, in use until leati_template_release; NULL with an
 * error. Thread-safe. */
leati_dataset_template *leati_template_of(const struct leati_dataset_args *args, leat_error *err);
void leati_template_release(leati_dataset_template *t);

/* The row of bound argument, or function, `index`; NULL if the operator has none of that name. */
const leati_row *leati_template_bound_row(const struct leati_dataset_args *args,
                                          const leati_dataset_op *op, int index);
const leati_row *leati_template_called_row(const struct leati_dataset_args *args,
                                           const leati_dataset_op *op, int index);

#endif
