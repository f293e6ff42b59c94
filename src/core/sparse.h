/* Sparse values: indices [n, rank], values [n] and dense shape [rank], in an array of three
 * tensors. What composite.h promises, for core/composite.c alone. */
#ifndef LEATI_CORE_SPARSE_H
#define LEATI_CORE_SPARSE_H

#include <leat/core.h>

/* The size of the first dimension. The value must have two dimensions or more, and its indices must
 * lie within the dense shape in increasing order; INVALID_ARGUMENT. */
LEAT_WARN_UNUSED leat_status leati_sparse_rows(const leat_tensor *value, int64_t *rows,
                                               leat_error *err);
/* Rows [begin, begin + n) of a value with indices in order: part p of row i is out[p][i]. Owned. */
LEAT_WARN_UNUSED leat_status leati_sparse_cut(const leat_tensor *value, int64_t begin, int64_t n,
                                              leat_tensor *const *out, leat_error *err);
/* The same rows as one value. Owned. */
LEAT_WARN_UNUSED leat_status leati_sparse_slice(const leat_tensor *value, int64_t begin, int64_t n,
                                                leat_tensor *out, leat_error *err);
/* n values of one rank with a new first dimension; the others are the largest of all, or what the
 * leaf knows. Owned. */
LEAT_WARN_UNUSED leat_status leati_sparse_stack(const leat_spec *leaf, const leat_tensor *values,
                                                int64_t step, int64_t n, leat_tensor *out,
                                                leat_error *err);
/* n values of one rank along their first dimension; the others as in a stack. Owned. */
LEAT_WARN_UNUSED leat_status leati_sparse_join(const leat_spec *leaf, const leat_tensor *values,
                                               int64_t step, int64_t n, leat_tensor *out,
                                               leat_error *err);

#endif
