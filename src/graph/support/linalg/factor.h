/* Factors of dense matrices of doubles, for the operations of linear algebra.
 *
 * Matrices are row-major without gaps. Scratch memory is the caller's; each function says how much
 * it takes. Thread-safe; nothing allocates, and no function fails for other reasons than it
 * says. */
#ifndef LEATI_GRAPH_SUPPORT_LINALG_FACTOR_H
#define LEATI_GRAPH_SUPPORT_LINALG_FACTOR_H

#include <stdbool.h>
#include <stdint.h>

/* to[c, r] = from[r, c]. */
void leati_factor_transpose(const double *from, int64_t rows, int64_t columns, double *to);
/* out[m, n] = a[m, k] b[k, n]. */
void leati_factor_product(const double *a, const double *b, int64_t m, int64_t k, int64_t n,
                          double *out);

/* a[n, n] becomes L below its diagonal and U from there on, with the largest pivot of each column;
 * row i of L U is row order[i] of a. The sign of that permutation, or 0 where a pivot is 0 or
 * NaN: the matrix is singular. */
int leati_factor_lu(double *a, int64_t n, int64_t *order);
/* b[n, columns] becomes the x of a x = b, or of a^T x = b, by the factors of a. Takes n doubles. */
void leati_factor_solve_lu(const double *lu, int64_t n, const int64_t *order, bool transposed,
                           double *b, int64_t columns, double *scratch);
/* b[n, columns] becomes the x of a x = b, or of a^T x = b; a's other triangle is not read. Nothing
 * else than 1 stands on the diagonal where it is `unit`. */
void leati_factor_solve_triangle(const double *a, int64_t n, bool lower, bool transposed, bool unit,
                                 double *b, int64_t columns);
/* a[n, n], of which the lower triangle is read, becomes the lower triangle L with L L^T = a, and
 * zeros above; false where a is not positive definite. */
bool leati_factor_cholesky(double *a, int64_t n);
/* a[rows, columns] becomes R, and q[rows, rows] the orthogonal Q with Q R = a; the diagonal of R
 * has the sign that Householder's reflections give. Takes `rows` doubles. */
void leati_factor_qr(double *a, int64_t rows, int64_t columns, double *q, double *scratch);
/* The eigenvalues of a symmetric a[n, n], of which the lower triangle is read, in ascending order,
 * and their vectors as columns of a. Takes n doubles. False: it did not converge (NaN or
 * infinities). */
bool leati_factor_eigen(double *a, int64_t n, double *values, double *scratch);
/* a[rows, columns] with rows >= columns: its singular values in descending order, and u[rows, rows]
 * and v[columns, columns] with a = u diag(values) v^T. a is used up. Takes rows * rows + rows
 * doubles. False: it did not converge (NaN or infinities). */
bool leati_factor_svd(double *a, int64_t rows, int64_t columns, double *values, double *u,
                      double *v, double *scratch);

/* A square a[n, n] becomes the root s with s s = a whose eigenvalues have positive real parts.
 * Takes 3 n^2 + n doubles and n numbers. False: the steps meet no such root. */
bool leati_factor_square_root(double *a, int64_t n, double *scratch, int64_t *order);

#endif
