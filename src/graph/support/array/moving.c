/* Moving values between layouts; see moving.h.
 *
 * Happy path: dimensions of one go, neighbours that lie behind each other in both layouts become
 * one, and an innermost one that is dense in both makes the values larger. The two innermost
 * dimensions that are left are one call of a leaf: lines, or a transposed plane; those outside and,
 * where they are long, these two are cut into pieces. No failures, no allocation, no locks. */
#include "graph/support/array/moving.h"

#include "base/isa.h"
#include "base/minmax.h"
#include "run/crew.h"

#include <string.h>

enum {
    PIECE = 1 << 18, /* bytes: 10 to 100 us */
    LINE = 64,       /* bytes that memory moves at once */
    SHORT = 8,       /* values of a line that is too short to be a loop of its own */
    TILE = 32,       /* values along each side of a tile */
    PLANE = 512      /* values of a transposed plane along its dimension that is dense before */
};
#define NS_PER_BYTE 0.1

typedef struct moving {
    leati_moving_dim dims[LEATI_MOVING_MAX];
    int64_t part[LEATI_MOVING_MAX]; /* of each dimension, in a piece */
    int32_t rank;                   /* at least 2 */
    size_t size;                    /* of a value */
    bool transposed;                /* the last dimension but one is dense before, the last after */
    char *to;
    const char *from;
} moving;

/* ---- lines ---- */
typedef struct line {
    char *to;
    const char *from;
    int64_t to_step, from_step, n;
} line;

/* Values may lie anywhere: what has been merged out of smaller ones is not aligned. */
#define ANYWHERE __attribute__((aligned(1), may_alias))
typedef uint8_t value_1 ANYWHERE;
typedef uint16_t value_2 ANYWHERE;
typedef uint32_t value_4 ANYWHERE;
typedef uint64_t value_8 ANYWHERE;
typedef struct value_16 {
    uint64_t words[2];
} ANYWHERE value_16;

#define LINE_OF(TYPE)                                                                              \
    LEATI_ALWAYS_INLINE void TYPE##_loop(const line *l) {                                          \
        TYPE *to = (TYPE *)(void *)l->to;                                                          \
        const TYPE *from = (const TYPE *)(const void *)l->from;                                    \
        const TYPE first = *from;                                                                  \
        if (l->from_step == 0)                                                                     \
            for (int64_t i = 0, n = l->n; i < n; i++)                                              \
                to[i] = first;                                                                     \
        else                                                                                       \
            for (int64_t i = 0, n = l->n; i < n; i++)                                              \
                to[i] = from[-i];                                                                  \
    }                                                                                              \
    LEATI_ISA(TYPE##_dense, TYPE##_loop, const line *)                                             \
    static void TYPE##_line(const line *l) {                                                       \
        const int64_t size = (int64_t)sizeof(TYPE), n = l->n, step = l->from_step;                 \
        const int64_t to_step = l->to_step;                                                        \
        char *to = l->to;                                                                          \
        const char *from = l->from;                                                                \
        if (to_step == size && step == size)                                                       \
            memcpy(to, from, (size_t)(n * size));                                                  \
        else if (to_step == 1 && step == 0)                                                        \
            memset(to, *from, (size_t)n);                                                          \
        else if (to_step == size && (step == 0 || step == -size) && n > SHORT)                     \
            TYPE##_dense(l);                                                                       \
        else                                                                                       \
            for (int64_t i = 0; i < n; i++)                                                        \
                *(TYPE *)(void *)(to + i * to_step) =                                              \
                    *(const TYPE *)(const void *)(from + i * step);                                \
    }
LINE_OF(value_1)
LINE_OF(value_2)
LINE_OF(value_4)
LINE_OF(value_8)
LINE_OF(value_16)

/* A constant size becomes a load and a store or two of each; others call memcpy. */
LEATI_ALWAYS_INLINE void move_line(const line *l, size_t size) {
    for (int64_t i = 0; i < l->n; i++)
        memcpy(l->to + i * l->to_step, l->from + i * l->from_step, size);
}

static void run_line(const line *l, size_t size) {
    switch (size) {
    case 1: value_1_line(l); break;
    case 2: value_2_line(l); break;
    case 4: value_4_line(l); break;
    case 8: value_8_line(l); break;
    case 16: value_16_line(l); break;
    case 3: move_line(l, 3); break;
    case 6: move_line(l, 6); break;
    case 12: move_line(l, 12); break;
    case 24: move_line(l, 24); break;
    case 32: move_line(l, 32); break;
    case 64: move_line(l, 64); break;
    default: move_line(l, size);
    }
}

/* ---- planes: dimension a outside, b inside ---- */
typedef struct plane {
    char *to;
    const char *from;
    leati_moving_dim a, b;
    size_t size;
} plane;

/* Lines along b. */
static void run_lines(const plane *p) {
    line l = {.to_step = p->b.to, .from_step = p->b.from, .n = p->b.size};
    for (int64_t i = 0; i < p->a.size; i++) {
        l.to = p->to + i * p->a.to;
        l.from = p->from + i * p->a.from;
        run_line(&l, p->size);
    }
}

static plane turned(const plane *p) {
    plane t = *p;
    t.a = p->b;
    t.b = p->a;
    return t;
}

/* Tile by tile, so that what lies beside what is read and written is still in the cache when its
 * turn comes; lines along the longer side. */
static void run_tiles(const plane *p) {
    bool turn = p->b.size < SHORT && p->a.size > p->b.size;
    plane whole = turn ? turned(p) : *p;
    int64_t height = TILE, width = whole.a.size <= SHORT ? TILE * SHORT : TILE;
    plane t = whole;
    for (int64_t i = 0; i < whole.a.size; i += height)
        for (int64_t k = 0; k < whole.b.size; k += width) {
            t.a.size = LEATI_MIN(whole.a.size - i, height);
            t.b.size = LEATI_MIN(whole.b.size - k, width);
            t.to = whole.to + i * whole.a.to + k * whole.b.to;
            t.from = whole.from + i * whole.a.from + k * whole.b.from;
            run_lines(&t);
        }
}

/* Rows of N values, 16 bytes each, transposed: zipping rows i and i + N / 2, again and again, ends
 * there. */
typedef uint8_t rows_1 __attribute__((vector_size(16)));
typedef uint16_t rows_2 __attribute__((vector_size(16)));
typedef uint32_t rows_4 __attribute__((vector_size(16)));
typedef uint64_t rows_8 __attribute__((vector_size(16)));
#define ZIP_1(a, b, K)                                                                             \
    __builtin_shufflevector(a, b, K, K + 16, K + 1, K + 17, K + 2, K + 18, K + 3, K + 19, K + 4,   \
                            K + 20, K + 5, K + 21, K + 6, K + 22, K + 7, K + 23)
#define ZIP_2(a, b, K)                                                                             \
    __builtin_shufflevector(a, b, K, K + 8, K + 1, K + 9, K + 2, K + 10, K + 3, K + 11)
#define ZIP_4(a, b, K) __builtin_shufflevector(a, b, K, K + 4, K + 1, K + 5)
#define ZIP_8(a, b, K) __builtin_shufflevector(a, b, K, K + 2)

/* A square of N values each way at once; BLOCK a line of memory each way. */
#define SQUARE(S)                                                                                  \
    LEATI_ALWAYS_INLINE void square_##S(char *to, int64_t to_step, const char *from,               \
                                        int64_t from_step) {                                       \
        enum { N = 16 / S };                                                                       \
        rows_##S rows[N], zipped[N];                                                               \
        for (int i = 0; i < N; i++)                                                                \
            memcpy(&rows[i], from + i * from_step, 16);                                            \
        for (int done = 1; done < N; done *= 2) {                                                  \
            for (int i = 0; i < N / 2; i++) {                                                      \
                zipped[2 * i] = ZIP_##S(rows[i], rows[i + N / 2], 0);                              \
                zipped[2 * i + 1] = ZIP_##S(rows[i], rows[i + N / 2], N / 2);                      \
            }                                                                                      \
            memcpy(rows, zipped, sizeof rows);                                                     \
        }                                                                                          \
        for (int i = 0; i < N; i++)                                                                \
            memcpy(to + i * to_step, &rows[i], 16);                                                \
    }                                                                                              \
    static void block_##S(char *to, int64_t to_step, const char *from, int64_t from_step) {        \
        enum { N = 16 / S };                                                                       \
        _Alignas(LINE) char lines[LINE / S * LINE];                                                \
        /* Each line of memory is read once, whole, and written so: lines whose steps are a power  \
         * of two are all in one set of the cache. */                                              \
        for (int i = 0; i < LINE / S; i++)                                                         \
            memcpy(lines + i * LINE, from + i * from_step, LINE);                                  \
        for (int k = 0; k < LINE / S; k += N)                                                      \
            for (int i = 0; i < LINE / S; i += N)                                                  \
                square_##S(to + k * to_step + i * S, to_step, lines + i * LINE + k * S, LINE);     \
    }
SQUARE(1)
SQUARE(2)
SQUARE(4)
SQUARE(8)

static void run_block(char *to, int64_t to_step, const char *from, int64_t from_step, size_t size) {
    switch (size) {
    case 1: block_1(to, to_step, from, from_step); break;
    case 2: block_2(to, to_step, from, from_step); break;
    case 4: block_4(to, to_step, from, from_step); break;
    default: block_8(to, to_step, from, from_step);
    }
}

/* A plane whose a is dense before and whose b is dense after: whole blocks, then what is left at
 * two sides. */
static void run_transposed(const plane *p) {
    int64_t side = LINE / (int64_t)p->size;
    int64_t height = p->a.size / side * side, width = p->b.size / side * side;
    for (int64_t k = 0; k < width; k += side)
        for (int64_t i = 0; i < height; i += side)
            run_block(p->to + i * p->a.to + k * p->b.to, p->a.to,
                      p->from + i * p->a.from + k * p->b.from, p->b.from, p->size);
    plane rest = *p;
    if (width < p->b.size) {
        rest.b.size = p->b.size - width;
        rest.to = p->to + width * p->b.to;
        rest.from = p->from + width * p->b.from;
        run_tiles(&rest);
    }
    if (height < p->a.size && width > 0) {
        rest.a.size = p->a.size - height;
        rest.b.size = width;
        rest.to = p->to + height * p->a.to;
        rest.from = p->from + height * p->a.from;
        run_tiles(&rest);
    }
}

static void run_plane(const moving *m, const plane *p) {
    int64_t size = (int64_t)p->size;
    bool square = size <= 8 && (size & (size - 1)) == 0 && p->b.to == size && p->a.from == size;
    if (m->transposed && square && p->a.size >= LINE / size && p->b.size >= LINE / size)
        run_transposed(p);
    else if (m->transposed || (p->b.size < SHORT && p->a.size > p->b.size && size <= 16))
        run_tiles(p);
    else
        run_lines(p);
}

static void run_dims(const moving *m, int32_t d, const leati_moving_dim *dims, char *to,
                     const char *from) {
    if (d == m->rank - 2) {
        plane p = {.to = to, .from = from, .a = dims[d], .b = dims[d + 1], .size = m->size};
        run_plane(m, &p);
        return;
    }
    for (int64_t i = 0; i < dims[d].size; i++)
        run_dims(m, d + 1, dims, to + i * dims[d].to, from + i * dims[d].from);
}

/* ---- plans ---- */
/* Appends a dimension inside the others. */
static void push(moving *m, leati_moving_dim dim) {
    if (dim.size == 1)
        return;
    leati_moving_dim *outer = m->rank > 0 ? &m->dims[m->rank - 1] : NULL;
    if (outer != NULL && outer->to == dim.to * dim.size && outer->from == dim.from * dim.size) {
        dim.size *= outer->size;
        *outer = dim;
    } else {
        m->dims[m->rank++] = dim;
    }
}

static void push_outside(moving *m, leati_moving_dim dim) {
    memmove(m->dims + 1, m->dims, (size_t)m->rank++ * sizeof *m->dims);
    m->dims[0] = dim;
}

/* The dimension that is dense before goes to the place before the last one, if that is not dense
 * before itself. */
static void bring_dense(moving *m) {
    int64_t size = (int64_t)m->size, last = m->dims[m->rank - 1].from;
    if (m->size > TILE || last == size || last == -size || last == 0)
        return;
    for (int32_t d = 0; d < m->rank - 1; d++) {
        if (m->dims[d].from != size)
            continue;
        leati_moving_dim dense = m->dims[d];
        memmove(m->dims + d, m->dims + d + 1, (size_t)(m->rank - 2 - d) * sizeof *m->dims);
        m->dims[m->rank - 2] = dense;
        m->transposed = true;
        return;
    }
}

/* How much of each dimension is a piece, from the innermost one on; returns how many pieces. */
static int64_t cut(moving *m) {
    int64_t left = LEATI_MAX(PIECE / (int64_t)m->size, 1), count = 1;
    for (int32_t d = m->rank - 1; d >= 0; d--) {
        int64_t size = m->dims[d].size, most = left;
        /* Both sides of a transposed plane stay long. */
        if (m->transposed && d == m->rank - 1)
            most = LEATI_MAX(left / LEATI_MIN(m->dims[d - 1].size, PLANE), LINE);
        m->part[d] = LEATI_MAX(LEATI_MIN(size, most), 1);
        left /= m->part[d];
        count *= (size + m->part[d] - 1) / m->part[d];
    }
    return count;
}

static void run_piece(void *data, int64_t piece) {
    const moving *m = data;
    leati_moving_dim dims[LEATI_MOVING_MAX];
    char *to = m->to;
    const char *from = m->from;
    for (int32_t d = m->rank - 1; d >= 0; d--) {
        int64_t parts = (m->dims[d].size + m->part[d] - 1) / m->part[d];
        int64_t begin = piece % parts * m->part[d];
        piece /= parts;
        dims[d] = m->dims[d];
        dims[d].size = LEATI_MIN(m->dims[d].size - begin, m->part[d]);
        to += begin * dims[d].to;
        from += begin * dims[d].from;
    }
    run_dims(m, 0, dims, to, from);
}

void leati_moving_copy(char *to, const char *from, const leati_moving_dim *dims, int32_t rank,
                       size_t size) {
    static const leati_moving_dim one = {.size = 1};
    moving m;
    m.to = to;
    m.from = from;
    m.size = size;
    m.rank = 0;
    m.transposed = false;
    double bytes = (double)size;
    for (int32_t d = 0; d < rank; d++) {
        if (dims[d].size == 0)
            return;
        bytes *= (double)dims[d].size;
        push(&m, dims[d]);
    }
    const leati_moving_dim *last = m.rank > 0 ? &m.dims[m.rank - 1] : &one;
    if (last->to == (int64_t)size && last->from == (int64_t)size) {
        int64_t whole = last->size * (int64_t)size;
        /* One that is long stays a dimension, of bytes, which can be cut. */
        m.size = whole > PIECE ? 1 : (size_t)whole;
        m.dims[m.rank - 1] = (leati_moving_dim){.size = whole, .to = 1, .from = 1};
        m.rank -= whole <= PIECE;
    } else if (m.size > PIECE) {
        m.dims[m.rank++] = (leati_moving_dim){.size = (int64_t)size, .to = 1, .from = 1};
        m.size = 1;
    }
    if (m.rank == 0) {
        memcpy(to, from, m.size);
        return;
    }
    if (m.rank == 1)
        push_outside(&m, one);
    bring_dense(&m);
    leati_crew_share(bytes * NS_PER_BYTE, cut(&m), run_piece, &m);
}

void leati_moving_strided(char *to, const int64_t *to_steps, const char *from,
                          const int64_t *from_steps, const int64_t *dims, int32_t rank,
                          size_t size) {
    leati_moving_dim all[LEATI_MOVING_MAX];
    for (int32_t d = 0; d < rank; d++)
        all[d] = (leati_moving_dim){.size = dims[d], .to = to_steps[d], .from = from_steps[d]};
    leati_moving_copy(to, from, all, rank, size);
}

void leati_moving_rows(const leati_kernel_call *call, const leati_operand *out, int64_t to,
                       const int64_t *out_steps, const leati_operand *in, int64_t from,
                       const int64_t *in_steps, const int64_t *dims, int32_t rank, size_t size) {
    leati_moving_dim all[LEATI_MOVING_MAX];
    if (call->n == 0 || out->count == 0 || in->count == 0)
        return;
    all[0] = (leati_moving_dim){.size = call->n, .to = out->row_stride, .from = in->row_stride};
    for (int32_t d = 0; d < rank; d++)
        all[d + 1] = (leati_moving_dim){.size = dims[d], .to = out_steps[d], .from = in_steps[d]};
    leati_moving_copy(out->data + to, in->data + from, all, rank + 1, size);
}

void leati_moving_fill(char *to, int64_t count, const void *value, size_t size) {
    const leati_moving_dim dim = {.size = count, .to = (int64_t)size, .from = 0};
    leati_moving_copy(to, value, &dim, 1, size);
}

/* ---- steps ---- */
typedef struct steps {
    int64_t count, at_once;
    leati_moving_steps *run;
    void *data;
} steps;

static void run_steps(void *data, int64_t piece) {
    const steps *s = data;
    int64_t begin = piece * s->at_once;
    s->run(s->data, begin, LEATI_MIN(begin + s->at_once, s->count));
}

void leati_moving_share(int64_t count, int64_t bytes, leati_moving_steps *run, void *data) {
    if (count <= 0)
        return;
    /* Each step costs something beside its bytes. */
    int64_t at_once = LEATI_MAX(PIECE / LEATI_MAX(bytes, 16), 1);
    steps s = {.count = count, .at_once = at_once, .run = run, .data = data};
    leati_crew_share((double)count * (double)LEATI_MAX(bytes, 16) * NS_PER_BYTE,
                     (count + at_once - 1) / at_once, run_steps, &s);
}
