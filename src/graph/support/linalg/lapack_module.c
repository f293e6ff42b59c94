/* The module libleat_lapack.so: functions of OpenBLAS as a table (lapack_module.h). */
#include "graph/support/linalg/lapack_module.h"

/* OpenBLAS comes with no header for LAPACK. */
#define DECLARE(P)                                                                                 \
    extern leati_lapack_gemm P##gemm_;                                                             \
    extern leati_lapack_trsm P##trsm_;                                                             \
    extern leati_lapack_trsyl P##trsyl_;                                                           \
    extern leati_lapack_potrf P##potrf_;                                                           \
    extern leati_lapack_getrf P##getrf_;                                                           \
    extern leati_lapack_getri P##getri_;                                                           \
    extern leati_lapack_geqrf P##geqrf_
#define DECLARE_REAL(P)                                                                            \
    DECLARE(P);                                                                                    \
    extern leati_lapack_orgqr P##orgqr_;                                                           \
    extern leati_lapack_syevd P##syevd_;                                                           \
    extern leati_lapack_gesdd P##gesdd_;                                                           \
    extern leati_lapack_geev P##geev_;                                                             \
    extern leati_lapack_gees P##gees_
#define DECLARE_COMPLEX(P)                                                                         \
    DECLARE(P);                                                                                    \
    extern leati_lapack_orgqr P##ungqr_;                                                           \
    extern leati_lapack_heevd P##heevd_;                                                           \
    extern leati_lapack_gesdd_complex P##gesdd_;                                                   \
    extern leati_lapack_geev_complex P##geev_;                                                     \
    extern leati_lapack_gees_complex P##gees_

DECLARE_REAL(s);
DECLARE_REAL(d);
DECLARE_COMPLEX(c);
DECLARE_COMPLEX(z);
extern int openblas_get_parallel(void);
extern void openblas_set_num_threads(int count);

#define BOTH(P)                                                                                    \
    .gemm = P##gemm_, .trsm = P##trsm_, .trsyl = P##trsyl_, .potrf = P##potrf_,                    \
    .getrf = P##getrf_, .getri = P##getri_, .geqrf = P##geqrf_
#define REAL(P)                                                                                    \
    {                                                                                              \
        BOTH(P), .orgqr = P##orgqr_, .syevd = P##syevd_, .gesdd = P##gesdd_, .geev = P##geev_,     \
                 .gees = P##gees_                                                                  \
    }
#define COMPLEX(P)                                                                                 \
    {                                                                                              \
        BOTH(P), .orgqr = P##ungqr_, .heevd = P##heevd_, .gesdd_complex = P##gesdd_,               \
                 .geev_complex = P##geev_, .gees_complex = P##gees_                                \
    }

LEATI_MODULE_SHOWN const leati_lapack_table LEATI_MODULE_TABLE = {
    .head = {LEATI_MODULE_FOR, sizeof(leati_lapack_table)},
    .kinds = {REAL(s), REAL(d), COMPLEX(c), COMPLEX(z)},
    .parallel = openblas_get_parallel,
    .set_threads = openblas_set_num_threads,
};
