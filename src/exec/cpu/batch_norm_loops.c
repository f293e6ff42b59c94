/* The inner loops of batch_norm and its gradient, compiled for processors with AVX2 and AVX-512 and
 * plainly; see batch_norm.h. All give the same bits. No failures, no locks. */
#include "base/minmax.h"
#include "exec/cpu/batch_norm.h"

#include <math.h>

/* The gradient that counts at `i`, channel `c`: the parts that are not there are constants, so each
 * use of the macro becomes a loop of its own. */
#define GRADIENT(MORE, FEATURES, AGAIN)                                                            \
    float apart = x[c] - mean[c];                                                                  \
    float g = gradient[c];                                                                         \
    if (MORE)                                                                                      \
        g += more[c];                                                                              \
    if (FEATURES)                                                                                  \
        g = features[c] > 0 ? g : 0.0f;                                                            \
    if (AGAIN)                                                                                     \
        g = x[c] * factor[c] + offset[c] > 0 ? g : 0.0f;

#define POINTERS                                                                                   \
    const float *restrict x = at->x + i * n, *restrict mean = at->mean;                            \
    const float *restrict gradient = at->gradient + i * n;                                         \
    const float *restrict more = at->more ? at->more + i * n : gradient;                           \
    const float *restrict features = at->features ? at->features + i * n : gradient;               \
    const float *restrict factor = at->factor, *restrict offset = at->offset;

/* One row's sums, and its gradient of x. */
#define GRADIENT_LOOPS(ISA, TARGET, NAME, MORE, FEATURES, AGAIN)                                   \
    TARGET static void ISA##_sums_##NAME(const leati_norm_rows *at, int64_t i,                     \
                                         float *restrict sums, float *restrict products) {         \
        const int64_t n = at->channels;                                                            \
        POINTERS(void) more, (void)features, (void)factor, (void)offset;                           \
        for (int64_t c = 0; c < n; c++) {                                                          \
            GRADIENT(MORE, FEATURES, AGAIN)                                                        \
            sums[c] += g;                                                                          \
            products[c] += g * apart;                                                              \
        }                                                                                          \
    }                                                                                              \
    TARGET static void ISA##_keep_##NAME(const leati_norm_rows *at, int64_t i,                     \
                                         float *restrict sums, float *restrict products) {         \
        const int64_t n = at->channels;                                                            \
        float *kept = at->kept + i * n;                                                            \
        POINTERS(void) more, (void)features, (void)factor, (void)offset;                           \
        for (int64_t c = 0; c < n; c++) {                                                          \
            GRADIENT(MORE, FEATURES, AGAIN)                                                        \
            kept[c] = g;                                                                           \
            sums[c] += g;                                                                          \
            products[c] += g * apart;                                                              \
        }                                                                                          \
    }                                                                                              \
    TARGET static void ISA##_back_##NAME(const leati_norm_rows *at, int64_t i) {                   \
        const int64_t n = at->channels;                                                            \
        const float *restrict least = at->least, *restrict slope = at->slope;                      \
        float *to = at->y + i * n;                                                                 \
        POINTERS(void) more, (void)features, (void)offset;                                         \
        for (int64_t c = 0; c < n; c++) {                                                          \
            GRADIENT(MORE, FEATURES, AGAIN)                                                        \
            to[c] = factor[c] * (g - least[c] - apart * slope[c]);                                 \
        }                                                                                          \
    }

#define FORWARD_LOOP(ISA, TARGET, NAME, MORE, RELU)                                                \
    TARGET static void ISA##_forward_##NAME(const leati_norm_rows *at, int64_t i) {                \
        const int64_t n = at->channels;                                                            \
        const float *restrict x = at->x + i * n;                                                   \
        const float *restrict factor = at->factor, *restrict offset = at->offset;                  \
        const float *restrict more = at->more ? at->more + i * n : x;                              \
        float *restrict to = at->y + i * n;                                                        \
        (void)more;                                                                                \
        for (int64_t c = 0; c < n; c++) {                                                          \
            float y = x[c] * factor[c] + offset[c];                                                \
            if (MORE)                                                                              \
                y += more[c];                                                                      \
            to[c] = RELU && y < 0 ? 0.0f : y;                                                      \
        }                                                                                          \
    }

/* Which of the loops of a direction the rows need. */
#define CHOOSE_GRADIENT(PREFIX)                                                                    \
    (at->features ? at->more ? PREFIX##_more_features : PREFIX##_features                          \
     : at->again  ? at->more ? PREFIX##_more_again : PREFIX##_again                                \
     : at->more   ? PREFIX##_more                                                                  \
                  : PREFIX##_alone)

#define LOOPS(ISA, TARGET)                                                                         \
    GRADIENT_LOOPS(ISA, TARGET, alone, 0, 0, 0)                                                    \
    GRADIENT_LOOPS(ISA, TARGET, more, 1, 0, 0)                                                     \
    GRADIENT_LOOPS(ISA, TARGET, features, 0, 1, 0)                                                 \
    GRADIENT_LOOPS(ISA, TARGET, more_features, 1, 1, 0)                                            \
    GRADIENT_LOOPS(ISA, TARGET, again, 0, 0, 1)                                                    \
    GRADIENT_LOOPS(ISA, TARGET, more_again, 1, 0, 1)                                               \
    FORWARD_LOOP(ISA, TARGET, alone, 0, 0)                                                         \
    FORWARD_LOOP(ISA, TARGET, more, 1, 0)                                                          \
    FORWARD_LOOP(ISA, TARGET, relu, 0, 1)                                                          \
    FORWARD_LOOP(ISA, TARGET, more_relu, 1, 1)                                                     \
    TARGET static void ISA##_add_rows(const leati_norm_rows *at, float *restrict sums) {           \
        const int64_t n = at->channels;                                                            \
        for (int64_t i = 0; i < at->rows; i++) {                                                   \
            const float *restrict x = at->x + i * n;                                               \
            for (int64_t c = 0; c < n; c++)                                                        \
                sums[c] += x[c];                                                                   \
        }                                                                                          \
    }                                                                                              \
    TARGET static void ISA##_add_squares(const leati_norm_rows *at, float *restrict squares) {     \
        const int64_t n = at->channels;                                                            \
        const float *restrict mean = at->mean;                                                     \
        for (int64_t i = 0; i < at->rows; i++) {                                                   \
            const float *restrict x = at->x + i * n;                                               \
            for (int64_t c = 0; c < n; c++) {                                                      \
                float apart = x[c] - mean[c];                                                      \
                squares[c] += apart * apart;                                                       \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    static void ISA##_forward(const leati_norm_rows *at) {                                         \
        void (*row)(const leati_norm_rows *, int64_t) =                                            \
            at->more   ? at->relu ? ISA##_forward_more_relu : ISA##_forward_more                   \
            : at->relu ? ISA##_forward_relu                                                        \
                       : ISA##_forward_alone;                                                      \
        for (int64_t i = 0; i < at->rows; i++)                                                     \
            row(at, i);                                                                            \
    }                                                                                              \
    static void ISA##_gradient_sums(const leati_norm_rows *at, float *sums, float *products) {     \
        void (*row)(const leati_norm_rows *, int64_t, float *restrict, float *restrict) =          \
            at->kept ? CHOOSE_GRADIENT(ISA##_keep) : CHOOSE_GRADIENT(ISA##_sums);                  \
        for (int64_t i = 0; i < at->rows; i++)                                                     \
            row(at, i, sums, products);                                                            \
    }                                                                                              \
    static void ISA##_backward(const leati_norm_rows *at) {                                        \
        void (*row)(const leati_norm_rows *, int64_t) = CHOOSE_GRADIENT(ISA##_back);               \
        for (int64_t i = 0; i < at->rows; i++)                                                     \
            row(at, i);                                                                            \
    }                                                                                              \
    static const leati_norm_loops ISA = {                                                          \
        #ISA,          ISA##_runs,          ISA##_add_rows, ISA##_add_squares,                     \
        ISA##_forward, ISA##_gradient_sums, ISA##_backward}

static bool plain_runs(void) {
    return true;
}

LOOPS(plain, );

#if defined(__x86_64__)

static bool avx2_runs(void) {
    return __builtin_cpu_supports("avx2");
}

static bool avx512_runs(void) {
    return __builtin_cpu_supports("avx512f");
}

LOOPS(avx2, __attribute__((target("avx2"))));
LOOPS(avx512, __attribute__((target("avx512f"))));

static const leati_norm_loops *const all[] = {&avx512, &avx2, &plain};

#else

static const leati_norm_loops *const all[] = {&plain};

#endif

const leati_norm_loops *leati_batch_norm_loops_at(int index) {
    int found = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        /* Numbers count what runs on this machine, so that tests can walk through all of it. */
        if (all[i]->runs_here() && found++ == index)
            return all[i];
    return NULL;
}

/* ---- cutting ---- */

#define CHUNK_BYTES ((int64_t)256 << 10)
#define MAX_CHUNKS 256

leati_norm_cut leati_batch_norm_cut_of(int64_t rows, int64_t channels) {
    leati_norm_cut cut = {.rows = rows, .channels = channels};
    /* 0 where one row is larger than a chunk. */
    int64_t fit = CHUNK_BYTES / (channels * (int64_t)sizeof(float));
    /* Scratch grows with the number of chunks, so there are no more than that. */
    int64_t least = (rows + MAX_CHUNKS - 1) / MAX_CHUNKS;
    cut.per_chunk = LEATI_MAX(fit, least);
    cut.per_chunk = cut.per_chunk > 0 ? cut.per_chunk : 1;
    cut.chunks = (rows + cut.per_chunk - 1) / cut.per_chunk;
    return cut;
}

int64_t leati_batch_norm_chunk(const leati_norm_cut *cut, int64_t i, int64_t *first) {
    *first = i * cut->per_chunk;
    int64_t left = cut->rows - *first;
    return LEATI_MIN(left, cut->per_chunk);
}

void leati_batch_norm_factor(const float *gamma, const float *beta, const float *mean,
                             const float *variance, double epsilon, int64_t channels, float *factor,
                             float *offset) {
    for (int64_t c = 0; c < channels; c++)
        /* In float64, and rounded once. */
        factor[c] = (float)((double)gamma[c] / sqrt((double)variance[c] + epsilon));
    for (int64_t c = 0; c < channels && beta != NULL; c++)
        offset[c] = beta[c] - mean[c] * factor[c];
}
