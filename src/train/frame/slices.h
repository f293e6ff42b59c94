/* Gradients of tables as the slices that were gathered (tf.IndexedSlices), before those of one row
 * are added up. */
#ifndef LEATI_TRAIN_FRAME_SLICES_H
#define LEATI_TRAIN_FRAME_SLICES_H

#include <leat/graph.h>

/* What becomes of each slice; `data` belongs to the function. */
typedef leat_value (*leati_slices_map)(const void *data, leat_value slices);

/* Is the gradient nothing but slices of a table's rows that are added up? */
bool leati_slices_are_in(leat_value gradient);

/* The sum of what becomes of each slice, in the shape of the gradient, of which leati_slices_are_in
 * is true. */
leat_value leati_slices_sum(leat_value gradient, leati_slices_map each, const void *data);

/* The squares of values, their magnitudes, values that are a number (a double) from 0 at most, and
 * values times the first of two scalars over the second. */
leat_value leati_slices_square(const void *data, leat_value slices);
leat_value leati_slices_magnitude(const void *data, leat_value slices);
leat_value leati_slices_clip(const void *limit, leat_value slices);
leat_value leati_slices_scale(const void *quotient, leat_value slices);

#endif
