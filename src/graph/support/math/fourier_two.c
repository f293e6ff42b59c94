/* Fourier transforms of powers of two; see fourier_two.h.
 *
 * Happy path: real and imaginary parts lie apart, so that the loops over them become vector code. A
 * short line goes through passes of four numbers each, which leave its numbers in order (Stockham's
 * algorithm), and one of two where the exponent is odd. A long one is a matrix: its columns are
 * transformed and turned, then its rows (the four-step algorithm); a piece is a few columns or rows
 * that fit the cache. Failures: no memory. No locks. */
#include "graph/support/math/fourier_two.h"

#include "base/isa.h"
#include "graph/support/array/moving.h"
#include "run/crew.h"

#include <math.h>
#include <stdatomic.h>

enum {
    SHORT = LEATI_FOURIER_SHORT,
    AT_ONCE = LEATI_FOURIER_BESIDE /* columns or rows of a piece: what memory moves at once */
};

struct leati_fourier_two {
    int64_t n;
    double *re, *im; /* e^(-2 pi i k / n) for k < n; of a matrix, for k < rows */
    double *work[4]; /* of a short line */
    leati_fourier_two
        *parts; /* of a long line: plans of columns and of rows, without work; owned */
    leati_fourier_two *lines;
    int bits; /* of the number of rows */
};

/* ---- passes ---- */
/* Numbers x of a line become y, in passes over parts of `n` numbers each, of which there are s. */
typedef struct pass {
    const double *xr, *xi, *wr, *wi;
    double *yr, *yi;
    int64_t n, s;
} pass;

/* A number of each quarter of a part, times three turns. */
#define QUARTER(P, Q, S, M, W1R, W1I, W2R, W2I, W3R, W3I)                                          \
    do {                                                                                           \
        const int64_t at = (Q) + (S) * (P), by = (S) * (M), to = (Q) + (S)*4 * (P);                \
        double ar = xr[at], ai = xi[at], br = xr[at + by], bi = xi[at + by];                       \
        double cr = xr[at + 2 * by], ci = xi[at + 2 * by];                                         \
        double dr = xr[at + 3 * by], di = xi[at + 3 * by];                                         \
        double sr = ar + cr, si = ai + ci, tr = ar - cr, ti = ai - ci;                             \
        double ur = br + dr, ui = bi + di, vr = bi - di, vi = dr - br; /* -i (b - d) */            \
        double er = tr + vr, ei = ti + vi, fr = sr - ur, fi = si - ui, gr = tr - vr, gi = ti - vi; \
        yr[to] = sr + ur;                                                                          \
        yi[to] = si + ui;                                                                          \
        yr[to + (S)] = er * (W1R)-ei * (W1I);                                                      \
        yi[to + (S)] = er * (W1I) + ei * (W1R);                                                    \
        yr[to + 2 * (S)] = fr * (W2R)-fi * (W2I);                                                  \
        yi[to + 2 * (S)] = fr * (W2I) + fi * (W2R);                                                \
        yr[to + 3 * (S)] = gr * (W3R)-gi * (W3I);                                                  \
        yi[to + 3 * (S)] = gr * (W3I) + gi * (W3R);                                                \
    } while (0)

LEATI_ALWAYS_INLINE void four_parts(const pass *p, const int64_t s) {
    const double *xr = p->xr, *xi = p->xi, *wr = p->wr, *wi = p->wi;
    double *yr = p->yr, *yi = p->yi;
    const int64_t m = p->n / 4;
    for (int64_t k = 0; k < m; k++) {
        const double w1r = wr[k * s], w1i = wi[k * s], w2r = wr[2 * k * s], w2i = wi[2 * k * s];
        const double w3r = wr[3 * k * s], w3i = wi[3 * k * s];
        LEATI_INDEPENDENT
        for (int64_t q = 0; q < s; q++)
            QUARTER(k, q, s, m, w1r, w1i, w2r, w2i, w3r, w3i);
    }
}

LEATI_ALWAYS_INLINE void four_loop(const pass *p) {
    if (p->s == 4) {
        four_parts(p, 4);
        return;
    }
    if (p->s > 1) {
        four_parts(p, p->s);
        return;
    }
    const double *xr = p->xr, *xi = p->xi, *wr = p->wr, *wi = p->wi;
    double *yr = p->yr, *yi = p->yi;
    const int64_t m = p->n / 4;
    LEATI_INDEPENDENT
    for (int64_t k = 0; k < m; k++) {
        double w1r = wr[k], w1i = wi[k];
        double w2r = w1r * w1r - w1i * w1i, w2i = 2 * w1r * w1i;
        double w3r = w2r * w1r - w2i * w1i, w3i = w2r * w1i + w2i * w1r;
        QUARTER(k, 0, 1, m, w1r, w1i, w2r, w2i, w3r, w3i);
    }
}
LEATI_ISA(run_four, four_loop, const pass *)

/* The last pass of an odd exponent. */
LEATI_ALWAYS_INLINE void two_loop(const pass *p) {
    const double *xr = p->xr, *xi = p->xi;
    double *yr = p->yr, *yi = p->yi;
    const int64_t s = p->s;
    LEATI_INDEPENDENT
    for (int64_t q = 0; q < s; q++) {
        double ar = xr[q], ai = xi[q], br = xr[q + s], bi = xi[q + s];
        yr[q] = ar + br;
        yi[q] = ai + bi;
        yr[q + s] = ar - br;
        yi[q + s] = ai - bi;
    }
}
LEATI_ISA(run_two, two_loop, const pass *)

/* From work[0] and [1], by way of [2] and [3]; where the result is: at 0 or at 2. */
static int transform(const leati_fourier_two *plan, double *const work[4]) {
    int at = 0;
    pass p = {.wr = plan->re, .wi = plan->im, .n = plan->n, .s = 1};
    for (; p.n > 1; at = 2 - at) {
        p.xr = work[at];
        p.xi = work[at + 1];
        p.yr = work[2 - at];
        p.yi = work[3 - at];
        if (p.n >= 4)
            run_four(&p);
        else
            run_two(&p);
        int64_t parts = p.n >= 4 ? 4 : 2;
        p.n /= parts;
        p.s *= parts;
    }
    return at;
}

/* ---- pairs ---- */
/* Numbers as pairs, and their parts. */
typedef struct pairs {
    void *pairs;
    double *re, *im;
    int64_t n, step; /* numbers from one pair to the next */
    double scale;    /* of what is written */
} pairs;

#define PAIRS(TYPE)                                                                                \
    LEATI_ALWAYS_INLINE void part_##TYPE##_loop(const pairs *p) {                                  \
        const TYPE *from = p->pairs;                                                               \
        LEATI_INDEPENDENT                                                                          \
        for (int64_t i = 0; i < p->n; i++) {                                                       \
            p->re[i] = (double)from[2 * i];                                                        \
            p->im[i] = (double)from[2 * i + 1];                                                    \
        }                                                                                          \
    }                                                                                              \
    LEATI_ISA(part_##TYPE, part_##TYPE##_loop, const pairs *)                                      \
    LEATI_ALWAYS_INLINE void join_##TYPE##_loop(const pairs *p) {                                  \
        TYPE *to = p->pairs;                                                                       \
        const double scale = p->scale;                                                             \
        LEATI_INDEPENDENT                                                                          \
        for (int64_t i = 0; i < p->n; i++) {                                                       \
            to[2 * i] = (TYPE)(p->re[i] * scale);                                                  \
            to[2 * i + 1] = (TYPE)(p->im[i] * scale);                                              \
        }                                                                                          \
    }                                                                                              \
    LEATI_ISA(join_##TYPE, join_##TYPE##_loop, const pairs *)                                      \
    static void part_##TYPE##_apart(const pairs *p) {                                              \
        const TYPE *from = p->pairs;                                                               \
        for (int64_t i = 0; i < p->n; i++) {                                                       \
            p->re[i] = (double)from[2 * i * p->step];                                              \
            p->im[i] = (double)from[2 * i * p->step + 1];                                          \
        }                                                                                          \
    }                                                                                              \
    static void join_##TYPE##_apart(const pairs *p) {                                              \
        TYPE *to = p->pairs;                                                                       \
        for (int64_t i = 0; i < p->n; i++) {                                                       \
            to[2 * i * p->step] = (TYPE)(p->re[i] * p->scale);                                     \
            to[2 * i * p->step + 1] = (TYPE)(p->im[i] * p->scale);                                 \
        }                                                                                          \
    }
PAIRS(float)
PAIRS(double)

static void part(const pairs *p, bool single) {
    if (p->step == 1)
        (single ? part_float : part_double)(p);
    else
        (single ? part_float_apart : part_double_apart)(p);
}

static void join(const pairs *p, bool single) {
    if (p->step == 1)
        (single ? join_float : join_double)(p);
    else
        (single ? join_float_apart : join_double_apart)(p);
}

/* A transform back is one of the numbers whose parts have changed places, which change back. */
static void run_short(const leati_fourier_two *plan, const leati_fourier_ends *ends, bool inverse) {
    double *const *work = plan->work;
    part(&(pairs){(void *)(uintptr_t)ends->from, work[inverse], work[!inverse], plan->n, ends->step,
                  1},
         ends->from_single);
    int at = transform(plan, work);
    join(&(pairs){ends->to, work[at + inverse], work[at + !inverse], plan->n, ends->step,
                  ends->scale},
         ends->to_single);
}

/* ---- lines beside each other ---- */
/* AT_ONCE lines of a plan's length in the calling thread's scratch: their parts, and room for one
 * more, through which they go. */
typedef struct lines {
    const leati_fourier_two *plan;
    double *re[AT_ONCE], *im[AT_ONCE], *room;
} lines;

static bool lines_init(lines *l, const leati_fourier_two *plan) {
    int64_t n = plan->n;
    double *all = leati_crew_scratch((size_t)(2 * AT_ONCE + 2) * (size_t)n * sizeof *all);
    if (all == NULL)
        return false;
    *l = (lines){.plan = plan, .room = all + 2 * (int64_t)AT_ONCE * n};
    for (int64_t i = 0; i < AT_ONCE; i++) {
        l->re[i] = all + 2 * i * n;
        l->im[i] = l->re[i] + n;
    }
    return true;
}

static void lines_transform(lines *l) {
    int64_t n = l->plan->n;
    for (int i = 0; i < AT_ONCE; i++) {
        double *const work[4] = {l->re[i], l->im[i], l->room, l->room + n};
        if (transform(l->plan, work) == 0)
            continue;
        /* The room holds the line now, and the line's memory is the next one's room. */
        double *left = l->re[i] < l->im[i] ? l->re[i] : l->im[i];
        l->re[i] = l->room;
        l->im[i] = l->room + n;
        l->room = left;
    }
}

/* Where pairs of AT_ONCE lines lie: numbers from one of a line to its next, and from line to line.
 */
typedef struct places {
    int64_t apart, beside;
    bool inverse;
    double scale; /* of what is written */
} places;

#define LINES(TYPE)                                                                                \
    static void read_lines_##TYPE(lines *l, const TYPE *from, const places *at) {                  \
        for (int64_t k = 0; k < l->plan->n; k++)                                                   \
            for (int i = 0; i < AT_ONCE; i++) {                                                    \
                const TYPE *pair = from + 2 * (k * at->apart + i * at->beside);                    \
                l->re[i][k] = (double)pair[at->inverse];                                           \
                l->im[i][k] = (double)pair[!at->inverse];                                          \
            }                                                                                      \
    }                                                                                              \
    static void write_lines_##TYPE(const lines *l, TYPE *to, const places *at) {                   \
        for (int64_t k = 0; k < l->plan->n; k++)                                                   \
            for (int i = 0; i < AT_ONCE; i++) {                                                    \
                TYPE *pair = to + 2 * (k * at->apart + i * at->beside);                            \
                pair[at->inverse] = (TYPE)(l->re[i][k] * at->scale);                               \
                pair[!at->inverse] = (TYPE)(l->im[i][k] * at->scale);                              \
            }                                                                                      \
    }
LINES(float)
LINES(double)

static void read_lines(lines *l, const leati_fourier_ends *ends, int64_t first, const places *at) {
    if (ends->from_single)
        read_lines_float(l, (const float *)ends->from + 2 * first, at);
    else
        read_lines_double(l, (const double *)ends->from + 2 * first, at);
}

static void write_lines(const lines *l, const leati_fourier_ends *ends, int64_t first,
                        const places *at) {
    if (ends->to_single)
        write_lines_float(l, (float *)ends->to + 2 * first, at);
    else
        write_lines_double(l, (double *)ends->to + 2 * first, at);
}

bool leati_fourier_two_beside(const leati_fourier_two *plan, const leati_fourier_ends *ends,
                              bool inverse) {
    const places at = {ends->step, 1, inverse, ends->scale};
    lines l;
    if (!lines_init(&l, plan))
        return false;
    read_lines(&l, ends, 0, &at);
    lines_transform(&l);
    write_lines(&l, ends, 0, &at);
    return true;
}

/* ---- long lines ---- */
typedef struct long_run {
    const leati_fourier_two *plan;
    const leati_fourier_ends *ends;
    double *room; /* the matrix between its columns and its rows */
    bool inverse;
    atomic_bool failed;
} long_run;

/* Number k of each of some columns turned by e^(-2 pi i jk / n), put together of two tables. */
static void put_turned(const long_run *run, const lines *l, int64_t first, int64_t k, double *to) {
    const leati_fourier_two *plan = run->plan, *of = plan->lines;
    int64_t rows = plan->parts->n;
    for (int i = 0; i < AT_ONCE; i++) {
        int64_t turn = (first + i) * k, fine = turn & (rows - 1), coarse = turn >> plan->bits;
        double ar = plan->re[fine], ai = plan->im[fine], br = of->re[coarse], bi = of->im[coarse];
        double wr = ar * br - ai * bi, wi = ar * bi + ai * br;
        to[2 * i] = l->re[i][k] * wr - l->im[i][k] * wi;
        to[2 * i + 1] = l->re[i][k] * wi + l->im[i][k] * wr;
    }
}

static void column_steps(void *data, int64_t begin, int64_t end) {
    long_run *run = data;
    int64_t rows = run->plan->parts->n, columns = run->plan->lines->n, apart = run->ends->step;
    const places at = {columns * apart, apart, run->inverse, 1};
    lines l;
    for (int64_t step = begin; step < end; step++) {
        if (!lines_init(&l, run->plan->parts)) {
            atomic_store(&run->failed, true);
            return;
        }
        read_lines(&l, run->ends, step * AT_ONCE * apart, &at);
        lines_transform(&l);
        double *first = run->room + 2 * step * AT_ONCE;
        for (int64_t k = 0; k < rows; k++)
            put_turned(run, &l, step * AT_ONCE, k, first + 2 * k * columns);
    }
}

static void row_steps(void *data, int64_t begin, int64_t end) {
    long_run *run = data;
    int64_t rows = run->plan->parts->n, columns = run->plan->lines->n, apart = run->ends->step;
    const places at = {rows * apart, apart, run->inverse, run->ends->scale};
    lines l;
    for (int64_t step = begin; step < end; step++) {
        if (!lines_init(&l, run->plan->lines)) {
            atomic_store(&run->failed, true);
            return;
        }
        for (int i = 0; i < AT_ONCE; i++)
            part_double(&(pairs){run->room + 2 * (step * AT_ONCE + i) * columns, l.re[i], l.im[i],
                                 columns, 1, 1});
        lines_transform(&l);
        write_lines(&l, run->ends, step * AT_ONCE * apart, &at);
    }
}

bool leati_fourier_two_run(leati_fourier_two *plan, const leati_fourier_ends *ends, double *room,
                           bool inverse) {
    if (plan->parts == NULL) {
        run_short(plan, ends, inverse);
        return true;
    }
    long_run run = {.plan = plan, .ends = ends, .room = room, .inverse = inverse};
    int64_t rows = plan->parts->n, columns = plan->lines->n;
    enum { BYTES = 128 }; /* that could be moved while a number is transformed */
    leati_moving_share(columns / AT_ONCE, rows * AT_ONCE * BYTES, column_steps, &run);
    if (!atomic_load(&run.failed))
        leati_moving_share(rows / AT_ONCE, columns * AT_ONCE * BYTES, row_steps, &run);
    return !atomic_load(&run.failed);
}

/* ---- plans ---- */
/* Numbers of a table of turns: of a line that is transformed at once, or of a matrix' rows. */
static int64_t entries_of(int64_t n, int *bits) {
    *bits = 0;
    while (INT64_C(1) << (2 * *bits + 2) <= n)
        ++*bits;
    return n <= SHORT ? n : INT64_C(1) << *bits;
}

size_t leati_fourier_two_size(int64_t n) {
    int bits = 0;
    int64_t entries = entries_of(n, &bits), numbers = 2 * entries;
    numbers += n <= SHORT ? 4 * n : 2 * (entries + n / entries);
    return 3 * sizeof(leati_fourier_two) + (size_t)numbers * sizeof(double);
}

/* Fills a table behind the others; where the next one begins. */
static double *fill(leati_fourier_two *plan, int64_t n, int64_t entries, double *to) {
    const double pi = 3.14159265358979323846;
    *plan = (leati_fourier_two){.n = n, .re = to, .im = to + entries};
    for (int64_t k = 0; k < entries; k++) {
        double angle = -2 * pi * (double)k / (double)n;
        plan->re[k] = cos(angle);
        plan->im[k] = sin(angle);
    }
    return to + 2 * entries;
}

leati_fourier_two *leati_fourier_two_init(void *memory, int64_t n) {
    leati_fourier_two *plan = memory;
    int bits = 0;
    int64_t entries = entries_of(n, &bits);
    double *next = fill(plan, n, entries, (double *)(void *)(plan + 3));
    plan->bits = bits;
    if (n <= SHORT) {
        for (int i = 0; i < 4; i++)
            plan->work[i] = next + i * n;
        return plan;
    }
    plan->parts = plan + 1;
    plan->lines = plan + 2;
    next = fill(plan->parts, entries, entries, next);
    (void)fill(plan->lines, n / entries, n / entries, next);
    return plan;
}
