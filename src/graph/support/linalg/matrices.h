/* What the operations of linear algebra share: shapes of stacks of matrices, and matrices as
 * doubles.
 *
 * They compute in double, whatever the dtype, with graph/support/linalg/factor.h. */
#ifndef LEATI_GRAPH_SUPPORT_LINALG_MATRICES_H
#define LEATI_GRAPH_SUPPORT_LINALG_MATRICES_H

#include "graph/support/linalg/factor.h"
#include "graph/support/support.h"

/* INVALID_ARGUMENT unless input `index` is a float32 or float64 of rank 2 or more, if that is
 * known, and of as many rows as columns where it is to be `square`. */
LEAT_WARN_UNUSED leat_status leati_matrices_want(const leati_infer_call *call, int index,
                                                 bool square, leat_error *err);
/* The same of an operand's shape, when the dimensions are known. */
LEAT_WARN_UNUSED leat_status leati_matrices_check(const leat_shape *shape, bool square,
                                                  leat_error *err);
/* `stack` with `last` dimensions, of which there are `count`, in the place of its last two; where
 * its rank is not known it stays so. */
leat_shape leati_matrices_stack_of(const leat_shape *stack, const int64_t *last, int count);
/* The shape of square matrices, of which one side may not be known. */
leat_shape leati_matrices_square_of(const leat_shape *in);
/* Of an operation on square matrices that gives others of the same size. */
LEAT_WARN_UNUSED leat_status leati_matrices_infer_square(leati_infer_call *call, leat_error *err);
/* The smaller of two dimensions; unknown where one is not known, unless it is 0. */
int64_t leati_matrices_smaller_dim(int64_t a, int64_t b);

/* How many matrices a row of an operand has, and their sizes. */
typedef struct leati_matrices {
    int64_t count, rows, columns;
} leati_matrices;

leati_matrices leati_matrices_of(const leati_operand *operand);
/* `count` doubles of the call's arena; NULL with the error set where there is no memory. */
double *leati_matrices_doubles(leati_kernel_call *call, int64_t count, leat_error *err);
/* Values first .. first + count - 1 of a row as doubles, and back. */
void leati_matrices_read_doubles(const leati_operand *from, int64_t row, int64_t first,
                                 int64_t count, double *to);
void leati_matrices_write_doubles(const double *from, const leati_operand *to, int64_t row,
                                  int64_t first, int64_t count);
/* INVALID_ARGUMENT at a row: the matrix with that number in the row cannot be used, because `why`.
 */
leat_status leati_matrices_refuse(leati_kernel_call *call, int64_t row, int64_t matrix,
                                  const char *why, leat_error *err);

/* ---- for gradients ---- */
/* The matrices turned, whatever the rank. */
leat_value leati_matrices_transposed(leat_value x);
/* x / (x x + 1e-20): the reciprocal, and 0 at 0. */
leat_value leati_matrices_safe_reciprocal(leat_value x);
/* 1 / (v[j] - v[i]) at row i and column j, and 0 on the diagonal, of vectors v. */
leat_value leati_matrices_gaps(leat_value v);
/* (x + x^T), the lower triangle of it, the diagonal halved: the gradient of an operation that reads
 * the lower triangle of symmetric matrices. */
leat_value leati_matrices_lower_half(leat_value x);

#endif
