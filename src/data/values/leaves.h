/* The leaves of elements: what operators that cut or join batches look at. */
#ifndef LEATI_DATA_VALUES_LEAVES_H
#define LEATI_DATA_VALUES_LEAVES_H

#include "core/block.h"
#include "core/composite.h"

/* The leaves of the elements that an operator cuts or joins; one per operator state. {0} is closed.
 */
typedef struct leati_leaves {
    leati_leaf *items;
    int count;
    bool composite; /* there is a ragged or sparse one */
} leati_leaves;
LEAT_WARN_UNUSED leat_status leati_leaves_init(leati_leaves *leaves, const leat_spec *spec,
                                               leat_error *err);
void leati_leaves_fini(leati_leaves *leaves);
/* The components of a leaf of element `row` of a block; borrowed from it. */
void leati_leaf_value(const leati_leaf *leaf, const leati_block *block, int64_t row,
                      leat_tensor value[LEATI_MAX_PARTS]);

/* The number of rows of element `row` of a block; INVALID_ARGUMENT for a scalar component, or where
 * leaves have unequal numbers. */
LEAT_WARN_UNUSED leat_status leati_leaves_rows(const leati_leaves *leaves, const leati_block *block,
                                               int64_t row, int64_t *rows, leat_error *err);
/* Can an operator that cuts batches give a value of the leaf without rows? In TensorFlow that is an
 * empty list of encoded rows, out of which it can read neither a sparse value nor the inner
 * dimensions of a ragged one: INVALID_ARGUMENT. */
LEAT_WARN_UNUSED leat_status leati_leaves_check_empty(const char *op, const leati_leaf *leaf,
                                                      leat_error *err);

#endif
