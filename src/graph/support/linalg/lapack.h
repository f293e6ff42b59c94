/* Factors of one matrix by OpenBLAS, in its own dtype: float32, float64, complex64 or complex128.
 *
 * Matrices are row-major without gaps; inputs are not written to, and are not outputs. One call is
 * one thread's, whatever OpenBLAS could do, so the bits do not depend on how many threads there
 * are; scratch is that of leati_crew_scratch. No side is 0. Thread-safe as said. No call looks
 * whether the work is to stop. Each returns LEAT_OK, INVALID_ARGUMENT where its method fails on
 * these values, as said, or RESOURCE_EXHAUSTED without memory; no error is made. */
#ifndef LEATI_GRAPH_SUPPORT_LINALG_LAPACK_H
#define LEATI_GRAPH_SUPPORT_LINALG_LAPACK_H

#include "base/error.h"
#include <leat/core.h>
#include <stdbool.h>
#include <stdint.h>

/* Are these functions there for matrices with sides of at most `most`? Loads OpenBLAS at first.
 * UNIMPLEMENTED where it is not there, or they are too large for its 32-bit numbers. */
LEAT_WARN_UNUSED leat_status leati_lapack_load(int64_t most, leat_error *err);
/* Whether they are, for who can do without; it fails where that cannot be told for want of memory.
 */
LEAT_WARN_UNUSED leat_status leati_lapack_find(int64_t most, bool *out, leat_error *err);

/* Around each of the calls below: where OpenBLAS is built without threads it has memory that all
 * calls share, and computes for one thread at a time. False, and nothing is to be left: a look said
 * to stop while another thread computed. */
bool leati_lapack_enter(void);
void leati_lapack_leave(void);

/* The L with L L^H = a, of which the lower triangle is read, with zeros above. It fails where a is
 * not positive definite; what `out` holds then is left over. */
LEAT_WARN_UNUSED leat_status leati_lapack_cholesky(leat_dtype dtype, const void *a, int64_t n,
                                                   void *out);
/* L below the diagonal and U from there on; row i of L U is row order[i] of a. It fails where a is
 * singular. */
LEAT_WARN_UNUSED leat_status leati_lapack_lu(leat_dtype dtype, const void *a, int64_t n, void *out,
                                             leat_dtype order_dtype, void *order);
/* The diagonal of U, two doubles for each number, which the thread's next call leaves over, and
 * whether rows are exchanged an odd number of times. Of singular ones it has a 0. */
LEAT_WARN_UNUSED leat_status leati_lapack_pivots(leat_dtype dtype, const void *a, int64_t n,
                                                 const double **diagonal, bool *is_odd);
/* The inverse, or its adjoint. It fails where a is singular. */
LEAT_WARN_UNUSED leat_status leati_lapack_inverse(leat_dtype dtype, const void *a, int64_t n,
                                                  bool adjoint, void *out);
/* The x of a x = b, or of a^H x = b; b has so many columns. It fails where a is singular. */
LEAT_WARN_UNUSED leat_status leati_lapack_solve(leat_dtype dtype, const void *a, int64_t n,
                                                bool adjoint, const void *b, int64_t columns,
                                                void *out);
/* The same of a triangle; its other half is not read, and nothing fails. */
void leati_lapack_solve_triangle(leat_dtype dtype, const void *a, int64_t n, bool lower,
                                 bool adjoint, const void *b, int64_t columns, void *out);
/* q[rows, inner] and r[inner, columns] with q r = a; inner is `rows` if all is `full`, else the
 * smaller side. */
LEAT_WARN_UNUSED leat_status leati_lapack_qr(leat_dtype dtype, const void *a, int64_t rows,
                                             int64_t columns, bool full, void *q, void *r);
/* The eigenvalues of a, of which the lower triangle is read, in ascending order, in a's dtype, and
 * their vectors as columns unless v is NULL. It fails on NaN and infinities. */
LEAT_WARN_UNUSED leat_status leati_lapack_eigen(leat_dtype dtype, const void *a, int64_t n,
                                                void *values, void *v);
/* The same of any matrix, in no order, all as complex numbers; vectors have length 1. */
LEAT_WARN_UNUSED leat_status leati_lapack_general_eigen(leat_dtype dtype, const void *a, int64_t n,
                                                        void *values, void *v);
/* The singular values, which are real, in descending order, and unless u is NULL u[rows, inner] and
 * v[columns, inner] with a = u diag(values) v^H; both are square if all is `full`. It fails on NaN
 * and infinities. */
LEAT_WARN_UNUSED leat_status leati_lapack_svd(leat_dtype dtype, const void *a, int64_t rows,
                                              int64_t columns, bool full, void *values, void *u,
                                              void *v);
/* The s with s s = a whose eigenvalues have real parts of 0 or more. It fails where there is none
 * that the method finds: NaN, infinities, several eigenvalues of 0, and of a real matrix negative
 * ones. */
LEAT_WARN_UNUSED leat_status leati_lapack_square_root(leat_dtype dtype, const void *a, int64_t n,
                                                      void *out);
/* The logarithm of a complex matrix; it fails where leati_lapack_square_root does. */
LEAT_WARN_UNUSED leat_status leati_lapack_logarithm(leat_dtype dtype, const void *a, int64_t n,
                                                    void *out);

#endif
