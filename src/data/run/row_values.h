/* Datasets that are values: the rows of a block, which window and group_by_window give out. They
 * stand in no table and no plan. */
#ifndef LEATI_DATA_RUN_ROW_VALUES_H
#define LEATI_DATA_RUN_ROW_VALUES_H

#include "core/block.h"
#include "data/plan/dataset.h"

/* A dataset of the rows of `block` (borrowed, referenced), elements of `spec`. Owned. */
leat_dataset *leati_row_values_dataset(const leati_block *block, const leat_spec *spec,
                                       leat_error *err);

/* `spec` with a dataset in place of each leaf: what windows of its elements are. Owned. */
leat_spec *leati_row_values_windows_spec(const leat_spec *spec, leat_error *err);

/* The leaves of a spec in the order of its components: number `index`, or NULL; *begin is its first
 * component. Borrowed. */
const leat_spec *leati_row_values_leaf(const leat_spec *spec, int index, int *begin);

#endif
