/* What the fast kernels of batch_norm and its gradient share: how the work is cut, and inner loops.
 *
 * x is [rows, channels]. Rows are cut into chunks that fit a core's cache, the same ones for any
 * number of threads; sums within a chunk are of float32 over a few rows at a time, chunks are put
 * together in float64 and in order. So results do not depend on the threads. */
#ifndef LEATI_EXEC_CPU_BATCH_NORM_H
#define LEATI_EXEC_CPU_BATCH_NORM_H

#include "exec/cpu/cpu.h"

/* Rows of one chunk; `channels` floats each, none is NULL unless it says so. */
typedef struct leati_norm_rows {
    int64_t rows, channels;
    const float *x, *mean;
    const float *factor; /* gamma / sqrt(variance + epsilon) */
    const float *offset; /* beta - mean * factor */
    /* Forward: added behind; backward: the gradient's second part; may be NULL. */
    const float *more;
    float *y;  /* forward: the result; backward: the gradient of x */
    bool relu; /* forward: a ReLU behind all */
    /* Backward alone. */
    const float *gradient;
    const float *features;      /* the gradient counts where these are positive; may be NULL */
    bool again;                 /* it counts where the normalised x is positive, computed again */
    float *kept;                /* the gradient that counts, for other readers; may be NULL */
    const float *least, *slope; /* means to take off: of the gradient, and of it with x */
} leati_norm_rows;

/* Each adds to vectors of the channels. */
typedef struct leati_norm_loops {
    const char *name;
    bool (*runs_here)(void);
    void (*sums)(const leati_norm_rows *at, float *sums);
    void (*squares)(const leati_norm_rows *at, float *squares); /* of x - mean */
    void (*forward)(const leati_norm_rows *at);
    void (*gradient_sums)(const leati_norm_rows *at, float *sums, float *products);
    void (*backward)(const leati_norm_rows *at);
} leati_norm_loops;

/* Those that run here, best first; the last one is plain C; NULL behind it. */
const leati_norm_loops *leati_batch_norm_loops_at(int index);

/* How x is cut: `chunks` pieces of `per_chunk` rows, the last one maybe shorter. */
typedef struct leati_norm_cut {
    int64_t rows, channels, per_chunk, chunks;
} leati_norm_cut;
leati_norm_cut leati_batch_norm_cut_of(int64_t rows, int64_t channels);
/* The rows of chunk `i`; the first of them is *first. */
int64_t leati_batch_norm_chunk(const leati_norm_cut *cut, int64_t i, int64_t *first);

/* factor = gamma / sqrt(variance + epsilon) and, unless beta is NULL, offset = beta - mean *
 * factor, for both directions alike. */
void leati_batch_norm_factor(const float *gamma, const float *beta, const float *mean,
                             const float *variance, double epsilon, int64_t channels, float *factor,
                             float *offset);

/* A task's state, of either direction; values of the step, -1: not there. */
typedef struct leati_norm_task {
    int32_t x, gamma, beta, mean, variance;
    int32_t more; /* forward: added behind; backward: the second part of the gradient */
    int32_t result;
    int32_t scratch; /* an extra value */
    bool relu;       /* forward */
    /* Backward alone: what comes in, features where it counts, the gradient that counts, and the
     * gradients of gamma and beta. */
    int32_t gradient, features, kept, to_gamma, to_beta;
    bool again; /* beta and x tell where the gradient counts */
    double epsilon;
    leati_norm_cut cut;
    const leati_norm_loops *loops;
} leati_norm_task;

/* Fills epsilon, cut and loops, and plans scratch of two vectors of float64 for each chunk
 * and four of float32, and two of float32 for each chunk. */
LEAT_WARN_UNUSED leat_status leati_batch_norm_task_init(leati_cpu_build *build,
                                                        leati_cpu_task *task, leati_norm_task *norm,
                                                        leat_error *err);

/* Where a chunk finds its scratch. */
typedef struct leati_norm_scratch {
    double *first, *second; /* of chunk i: first + i * channels */
    float *rest;            /* four vectors for all, then two for each chunk */
} leati_norm_scratch;
leati_norm_scratch leati_batch_norm_scratch_of(const leati_cpu_step *step,
                                               const leati_norm_task *norm);

/* Adds vectors of float32 to those of float64, and clears them. */
void leati_batch_norm_flush(float *from, double *to, int64_t channels);

/* Rows whose sums are of float32. */
enum { LEATI_NORM_GROUP = 32 };

#endif
