/* What the operations of linear algebra share: shapes of stacks of matrices, matrices as doubles,
 * and the loop over all of them.
 *
 * Small matrices of real numbers, and all of them without OpenBLAS, are computed in double,
 * whatever the dtype, with graph/support/linalg/factor.h; the others in their dtype with lapack.h.
 */
#ifndef LEATI_GRAPH_SUPPORT_LINALG_MATRICES_H
#define LEATI_GRAPH_SUPPORT_LINALG_MATRICES_H

#include "core/tensor.h"
#include "graph/support/linalg/factor.h"
#include "graph/support/linalg/lapack.h"
#include "graph/support/support.h"

#include <stdatomic.h>

/* INVALID_ARGUMENT unless input `index` is of real or complex floats, of rank 2 or more, if that is
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

/* The shape of the X of A X = B where the stacks of both broadcast. */
LEAT_WARN_UNUSED leat_status leati_matrices_broadcast_solution(const leat_shape *a,
                                                               const leat_shape *b, leat_shape *out,
                                                               leat_error *err);
/* Which matrix of a stack of shape `of` stands at place `at` of the stack that it broadcasts to. */
int64_t leati_matrices_place(const leat_shape *of, const leat_shape *whole, int64_t at);

/* How many matrices a row of an operand has, and their sizes. */
typedef struct leati_matrices {
    int64_t count, rows, columns;
} leati_matrices;

leati_matrices leati_matrices_of(const leati_operand *operand);
/* Value `first` of a row. */
void *leati_matrices_at(const leati_operand *operand, int64_t row, int64_t first);
/* `count` doubles of the calling thread's, which are left over at its next call; NULL: there is no
 * memory. */
double *leati_matrices_doubles(int64_t count);
/* Values first .. first + count - 1 of a row as doubles, and back. */
void leati_matrices_read_doubles(const leati_operand *from, int64_t row, int64_t first,
                                 int64_t count, double *to);
void leati_matrices_write_doubles(const double *from, const leati_operand *to, int64_t row,
                                  int64_t first, int64_t count);
/* What is no number in their place. */
void leati_matrices_write_nan(const leati_operand *to, int64_t row, int64_t first, int64_t count);

/* A loop over the matrices of all rows, which the threads of the crew share. */
typedef struct leati_matrices_loop leati_matrices_loop;
struct leati_matrices_loop {
    leati_kernel_call *call;
    int64_t count;         /* of matrices in a row */
    int64_t rows, columns; /* of one, for whoever computes it */
    bool by_lapack;        /* leati_matrices_choose */
    /* Computes matrix `at` of a row. INVALID_ARGUMENT: it cannot be used. RESOURCE_EXHAUSTED: there
     * is no memory. */
    leat_status (*one)(const leati_matrices_loop *loop, int64_t row, int64_t at);
    const char *why; /* what is said where one cannot be used */
    /* The loop's own. */
    size_t args_size;
    int64_t grain, total;
    atomic_int_fast64_t failed; /* the first one that cannot be used */
    atomic_bool no_memory;
};

/* Over the matrices of input 0. `one` reads the call's inputs and its arguments, `args_size` bytes
 * without pointers, and writes its outputs; there may be copies of them. */
leati_matrices_loop leati_matrices_loop_of(leati_kernel_call *call, size_t args_size,
                                           leat_status (*one)(const leati_matrices_loop *loop,
                                                              int64_t row, int64_t at));
/* What one matrix takes, where each of rows * columns * the smaller of them takes so long. */
double leati_matrices_ns(const leati_matrices_loop *loop, double each);
/* Is the loop to use lapack.h? For complex numbers, and real ones where the larger side has more
 * than `small` values, up to which the plain functions are as fast; not where a matrix has no
 * value. UNIMPLEMENTED where it is needed and not there. */
LEAT_WARN_UNUSED leat_status leati_matrices_choose(leati_matrices_loop *loop, leat_dtype dtype,
                                                   int64_t small, leat_error *err);
/* Runs it; a matrix takes `ns` roughly. INVALID_ARGUMENT at the row of the first matrix that cannot
 * be used. Looks whether the work is stopped between matrices, and leaves one that takes long
 * (run/apart.h). */
LEAT_WARN_UNUSED leat_status leati_matrices_run(leati_matrices_loop *loop, double ns,
                                                leat_error *err);

/* ---- for gradients ---- */
/* The matrices turned, whatever the rank. */
leat_value leati_matrices_transposed(leat_value x);
/* The conjugates of that. */
leat_value leati_matrices_adjoint(leat_value x);
/* a b, each the adjoint if asked. */
leat_value leati_matrices_product(leat_value a, leat_value b, bool adjoint_a, bool adjoint_b);
/* Vectors as diagonals of matrices, and the main diagonals of matrices. */
leat_value leati_matrices_diagonal(leat_value vectors);
leat_value leati_matrices_diagonal_of(leat_value x);
/* x / (x x + 1e-20): the reciprocal, and 0 at 0. */
leat_value leati_matrices_safe_reciprocal(leat_value x);
/* 1 / (v[j] - v[i]) at row i and column j, and 0 on the diagonal, of vectors v. */
leat_value leati_matrices_gaps(leat_value v);
/* (x + x^H), the lower triangle of it, the diagonal halved: the gradient of an operation that reads
 * the lower triangle of self-adjoint matrices. */
leat_value leati_matrices_lower_half(leat_value x);

#endif
