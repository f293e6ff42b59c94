/* The border between linear algebra and the module libleat_lapack.so (lapack_module.c,
 * base/module.h), which is linked with OpenBLAS. It is loaded where a matrix first needs it.
 *
 * The table has the functions of BLAS and LAPACK for the four dtypes, as Fortran calls them:
 * everything by address, columns one after the other, and at the end the lengths of the texts. */
#ifndef LEATI_GRAPH_SUPPORT_LINALG_LAPACK_MODULE_H
#define LEATI_GRAPH_SUPPORT_LINALG_LAPACK_MODULE_H

#include "base/module.h"

/* Numbers are const void * here, since the functions of all dtypes share a prototype. */
typedef void leati_lapack_gemm(const char *turn_a, const char *turn_b, const int *m, const int *n,
                               const int *k, const void *alpha, const void *a, const int *a_apart,
                               const void *b, const int *b_apart, const void *beta, void *c,
                               const int *c_apart, size_t, size_t);
typedef void leati_lapack_trsm(const char *side, const char *triangle, const char *turn,
                               const char *unit, const int *m, const int *n, const void *alpha,
                               const void *a, const int *a_apart, void *b, const int *b_apart,
                               size_t, size_t, size_t, size_t);
typedef void leati_lapack_trsyl(const char *turn_a, const char *turn_b, const int *sign,
                                const int *m, const int *n, const void *a, const int *a_apart,
                                const void *b, const int *b_apart, void *c, const int *c_apart,
                                void *scale, int *info, size_t, size_t);
typedef void leati_lapack_potrf(const char *triangle, const int *n, void *a, const int *a_apart,
                                int *info, size_t);
typedef void leati_lapack_getrf(const int *m, const int *n, void *a, const int *a_apart,
                                int *pivots, int *info);
typedef void leati_lapack_getri(const int *n, void *a, const int *a_apart, const int *pivots,
                                void *work, const int *work_size, int *info);
typedef void leati_lapack_geqrf(const int *m, const int *n, void *a, const int *a_apart, void *tau,
                                void *work, const int *work_size, int *info);
typedef void leati_lapack_orgqr(const int *m, const int *n, const int *k, void *a,
                                const int *a_apart, const void *tau, void *work,
                                const int *work_size, int *info);
/* Those of complex numbers have scratch of real ones, too. */
typedef void leati_lapack_syevd(const char *vectors, const char *triangle, const int *n, void *a,
                                const int *a_apart, void *values, void *work, const int *work_size,
                                int *numbers, const int *numbers_size, int *info, size_t, size_t);
typedef void leati_lapack_heevd(const char *vectors, const char *triangle, const int *n, void *a,
                                const int *a_apart, void *values, void *work, const int *work_size,
                                void *reals, const int *reals_size, int *numbers,
                                const int *numbers_size, int *info, size_t, size_t);
typedef void leati_lapack_gesdd(const char *vectors, const int *m, const int *n, void *a,
                                const int *a_apart, void *values, void *u, const int *u_apart,
                                void *v, const int *v_apart, void *work, const int *work_size,
                                int *numbers, int *info, size_t);
typedef void leati_lapack_gesdd_complex(const char *vectors, const int *m, const int *n, void *a,
                                        const int *a_apart, void *values, void *u,
                                        const int *u_apart, void *v, const int *v_apart, void *work,
                                        const int *work_size, void *reals, int *numbers, int *info,
                                        size_t);
/* Real ones have the parts of eigenvalues in two arrays. */
typedef void leati_lapack_geev(const char *left, const char *right, const int *n, void *a,
                               const int *a_apart, void *re, void *im, void *left_vectors,
                               const int *left_apart, void *right_vectors, const int *right_apart,
                               void *work, const int *work_size, int *info, size_t, size_t);
typedef void leati_lapack_geev_complex(const char *left, const char *right, const int *n, void *a,
                                       const int *a_apart, void *values, void *left_vectors,
                                       const int *left_apart, void *right_vectors,
                                       const int *right_apart, void *work, const int *work_size,
                                       void *reals, int *info, size_t, size_t);
typedef void leati_lapack_gees(const char *vectors, const char *sort, const void *select,
                               const int *n, void *a, const int *a_apart, int *selected, void *re,
                               void *im, void *q, const int *q_apart, void *work,
                               const int *work_size, void *marks, int *info, size_t, size_t);
typedef void leati_lapack_gees_complex(const char *vectors, const char *sort, const void *select,
                                       const int *n, void *a, const int *a_apart, int *selected,
                                       void *values, void *q, const int *q_apart, void *work,
                                       const int *work_size, void *reals, void *marks, int *info,
                                       size_t, size_t);

/* What there is for one dtype. */
typedef struct leati_lapack_functions {
    leati_lapack_gemm *gemm;
    leati_lapack_trsm *trsm;
    leati_lapack_trsyl *trsyl;
    leati_lapack_potrf *potrf;
    leati_lapack_getrf *getrf;
    leati_lapack_getri *getri;
    leati_lapack_geqrf *geqrf;
    leati_lapack_orgqr *orgqr; /* ungqr */
    /* Real or complex ones; the others are NULL. */
    leati_lapack_syevd *syevd;
    leati_lapack_gesdd *gesdd;
    leati_lapack_geev *geev;
    leati_lapack_gees *gees;
    leati_lapack_heevd *heevd;
    leati_lapack_gesdd_complex *gesdd_complex;
    leati_lapack_geev_complex *geev_complex;
    leati_lapack_gees_complex *gees_complex;
} leati_lapack_functions;

typedef struct leati_lapack_table {
    leati_module_head head;
    leati_lapack_functions kinds[4]; /* float32, float64, complex64, complex128 */
    int (*parallel)(void);           /* does OpenBLAS have threads? */
    void (*set_threads)(int count);
} leati_lapack_table;

#endif
