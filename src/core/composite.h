/* Leaves that travel as several tensors, and what batching does to them.
 *
 * A ragged leaf of rank r is its flat values and then r vectors of row splits, the outermost first;
 * of rank 0 or less it is a tensor. A sparse leaf is indices, values and dense shape. Blocks hold
 * one column for each of these components, so whatever hands rows on needs to know nothing of
 * leaves; whoever cuts values into rows or stacks them calls the functions here. In them a *value*
 * is an array of a leaf's components, and all tensors given out are owned. Row splits and indices
 * that do not fit their values are INVALID_ARGUMENT. */
#ifndef LEATI_CORE_COMPOSITE_H
#define LEATI_CORE_COMPOSITE_H

#include "core/spec.h"

/* A leaf of a spec and where its components stand. */
typedef struct leati_leaf {
    const leat_spec *spec; /* borrowed from the tree */
    int first, count;
} leati_leaf;

/* More components than any ragged or sparse leaf has. */
#define LEATI_MAX_PARTS (LEAT_MAX_RANK + 1)

/* Is the leaf ragged or sparse? */
bool leati_spec_is_composite(const leat_spec *leaf);
/* Has the spec a ragged or sparse leaf? */
bool leati_spec_has_composite(const leat_spec *spec);
/* The leaves of a spec in the order of their components. Owned (leati_free). */
LEAT_WARN_UNUSED leat_status leati_spec_leaves(const leat_spec *spec, leati_leaf **out, int *count,
                                               leat_error *err);
/* Components of a value of the leaf's rows. */
int leati_composite_row_parts(const leat_spec *leaf);

/* The number of rows of a value: of its first dimension. INVALID_ARGUMENT for a scalar; a sparse
 * value must be a matrix or more, and its indices in order. */
LEAT_WARN_UNUSED leat_status leati_composite_rows(const leat_spec *leaf, const leat_tensor *value,
                                                  int64_t *rows, leat_error *err);
/* Rows [begin, begin + n) of a value that leati_composite_rows accepted, as values of their own:
 * part p of row i is out[p][i]. `out` has leati_composite_row_parts arrays of n tensors, {0} at
 * first; on failure what was filled in stays the caller's. */
LEAT_WARN_UNUSED leat_status leati_composite_cut(const leat_spec *leaf, const leat_tensor *value,
                                                 int64_t begin, int64_t n, leat_tensor *const *out,
                                                 leat_error *err);
/* The same rows as one value of the same leaf; `out` ({0} at first) gets leaf's components. */
LEAT_WARN_UNUSED leat_status leati_composite_slice(const leat_spec *leaf, const leat_tensor *value,
                                                   int64_t begin, int64_t n, leat_tensor *out,
                                                   leat_error *err);
/* n values (at least 1; part p of value i is values[i * step + p]) as one with a new first
 * dimension. */
LEAT_WARN_UNUSED leat_status leati_composite_stack(const leat_spec *leaf, const leat_tensor *values,
                                                   int64_t step, int64_t n, leat_tensor *out,
                                                   leat_error *err);
/* The same along the first dimension that they have. */
LEAT_WARN_UNUSED leat_status leati_composite_join(const leat_spec *leaf, const leat_tensor *values,
                                                  int64_t step, int64_t n, leat_tensor *out,
                                                  leat_error *err);
/* A value of the leaf without rows: unknown dimensions are 0. */
LEAT_WARN_UNUSED leat_status leati_composite_empty(const leat_spec *leaf, leat_tensor *out,
                                                   leat_error *err);

#endif
