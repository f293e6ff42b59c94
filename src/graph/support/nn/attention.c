/* Attention by tiles; see attention.h.
 *
 * A tile is 64 queries by 64 keys. Forward keeps for each query the largest score so far, the sum
 * of exponentials below it and the sum of values so weighted; a larger score scales both down.
 * Backward computes each tile's scores again and its probabilities from the two moments. With the
 * scores' gradient ds = p (g v' - sum g y): queries get ds k, keys ds' q, values p' g. A score that
 * is masked out becomes the large negative number that Keras takes, so that a query without any key
 * looks at all of them alike, as there. No allocation, no failure, no locks. */
#include "graph/support/nn/attention.h"

#include "base/minmax.h"
#include "base/stop.h"
#include "graph/support/linalg/gemm.h"
#include "graph/support/math/functions.h"
#include "graph/support/nn/attention_lines.h"
#include <math.h>
#include <string.h>

enum { TILE = 64 };

/* keras.src.backend.tensorflow.nn, of all dtypes but float16. */
#define MASKED_SCORE (-0.7 * 3.38953e38)

/* A tile of one head. */
typedef struct tile {
    const leati_attention *a;
    int64_t row, head, key_head;
    int64_t query, queries, key, keys; /* the first, and how many */
    const void *q, *k, *v;             /* their first values */
    int64_t q_row, k_row, v_row;       /* values from one to the next */
} tile;

/* What lies in the scratch. */
typedef struct room {
    char *product;         /* of a tile: [queries or keys, width or depth] */
    char *scores, *others; /* [queries, keys] */
    char *sums;            /* [queries, width or depth] */
    char *line;            /* [queries] */
} room;

static int64_t longest(const leati_attention *a) {
    return LEATI_MAX(LEATI_MAX(a->depth, a->width), 1);
}

size_t leati_attention_scratch(const leati_attention *a) {
    size_t values = (size_t)TILE * (2 * (size_t)longest(a) + 2 * TILE + 1);
    return values * leat_dtype_size(a->dtype);
}

static room room_of(const leati_attention *a, void *scratch) {
    size_t size = leat_dtype_size(a->dtype), side = (size_t)TILE * (size_t)longest(a) * size;
    size_t square = (size_t)TILE * TILE * size;
    room found = {.product = scratch};
    found.scores = found.product + side;
    found.others = found.scores + square;
    found.sums = found.others + square;
    found.line = found.sums + side;
    return found;
}

static const char *at(const leati_attention *a, const void *data, int64_t place) {
    return (const char *)data + (size_t)place * leat_dtype_size(a->dtype);
}

static tile tile_of(const leati_attention *a, int64_t row, int64_t head, int64_t query,
                    int64_t key) {
    tile t = {.a = a,
              .row = row,
              .head = head,
              .key_head = head / (a->heads / a->key_heads),
              .query = query,
              .queries = LEATI_MIN(a->queries - query, TILE),
              .key = key,
              .keys = LEATI_MIN(a->keys - key, TILE),
              .q_row = a->heads * a->depth,
              .k_row = a->key_heads * a->depth,
              .v_row = a->key_heads * a->width};
    int64_t other = (row * a->keys + key) * a->key_heads + t.key_head;
    t.q = at(a, a->query, ((row * a->queries + query) * a->heads + head) * a->depth);
    t.k = at(a, a->key, other * a->depth);
    t.v = at(a, a->value, other * a->width);
    return t;
}

/* Behind the last key that a tile's last query sees no tile is read, unless something could have
 * hidden the others from a query, which then sees all alike. */
static int64_t end_of_keys(const leati_attention *a, int64_t query) {
    if (!a->causal || a->mask.data != NULL || a->bias.data != NULL)
        return a->keys;
    return LEATI_MIN(a->keys, query + TILE);
}

/* The value of a bias or mask for the first query and key of a tile, or NULL. */
static const void *extra_at(const leati_attention_extra *extra, const tile *t, size_t size) {
    int64_t place = t->row * extra->steps[0] + t->head * extra->steps[1] +
                    t->query * extra->steps[2] + t->key * extra->steps[3];
    return extra->data == NULL ? NULL : (const char *)extra->data + place * (int64_t)size;
}

/* Is the score of query i and key j of the tile masked out? */
static bool is_hidden(const tile *t, const bool *mask, int64_t i, int64_t j) {
    const int64_t *steps = t->a->mask.steps;
    return (t->a->causal && t->key + j > t->query + i) ||
           (mask != NULL && !mask[i * steps[2] + j * steps[3]]);
}

/* to[m, n] += a b, by way of `product`; rows of `to` are `row` values apart. */
static void add_product(leat_dtype dtype, int64_t m, int64_t n, int64_t k, leati_gemm_matrix a,
                        leati_gemm_matrix b, void *product, void *to, int64_t row) {
    leati_gemm(dtype, m, n, k, a, b, product, n);
    const size_t size = leat_dtype_size(dtype);
    for (int64_t i = 0; i < m; i++)
        leati_gemm_add(dtype, n, (const char *)product + (size_t)(i * n) * size,
                       (char *)to + (size_t)(i * row) * size);
}

/* Products of queries and keys as scores: scaled, moved and masked. */
#define SCORES(TYPE)                                                                               \
    static void score_##TYPE(const tile *t, TYPE *scores) {                                        \
        const leati_attention *a = t->a;                                                           \
        const TYPE *bias = extra_at(&a->bias, t, sizeof(TYPE));                                    \
        const bool *mask = extra_at(&a->mask, t, sizeof(bool));                                    \
        bool hides = mask != NULL || (a->causal && t->key + t->keys > t->query + 1);               \
        TYPE scale = (TYPE)a->scale;                                                               \
        for (int64_t i = 0; i < t->queries; i++) {                                                 \
            TYPE *line = scores + i * t->keys;                                                     \
            for (int64_t j = 0; j < t->keys; j++)                                                  \
                line[j] *= scale;                                                                  \
            for (int64_t j = 0; bias != NULL && j < t->keys; j++)                                  \
                line[j] += bias[i * a->bias.steps[2] + j * a->bias.steps[3]];                      \
            for (int64_t j = 0; hides && j < t->keys; j++)                                         \
                line[j] = is_hidden(t, mask, i, j) ? (TYPE)MASKED_SCORE : line[j];                 \
        }                                                                                          \
    }

/* A line of scores becomes exponentials below the largest so far; what was summed below a smaller
 * one is scaled. */
#define EXPONENTIALS(TYPE, EXP)                                                                    \
    static void raise_##TYPE(TYPE *line, int64_t keys, TYPE *moments, TYPE *sums, int64_t width) { \
        TYPE top = moments[0], sum = 0;                                                            \
        for (int64_t j = 0; j < keys; j++)                                                         \
            top = LEATI_MAX(line[j], top);                                                         \
        /* Nothing but -inf so far: the difference would be no number, also for later tiles. */    \
        bool none = isinf(top) && top < 0;                                                         \
        TYPE down = none ? 1 : EXP(moments[0] - top);                                              \
        if (none) {                                                                                \
            /* A NaN stays one. */                                                                 \
            for (int64_t j = 0; j < keys; j++) {                                                   \
                line[j] = line[j] <= top ? 0 : EXP(line[j] - top);                                 \
                sum += line[j];                                                                    \
            }                                                                                      \
        } else {                                                                                   \
            sum = leati_attention_raise_##TYPE(line, keys, top);                                   \
        }                                                                                          \
        moments[0] = top;                                                                          \
        moments[1] = moments[1] * down + sum;                                                      \
        for (int64_t d = 0; down != 1 && d < width; d++)                                           \
            sums[d] *= down;                                                                       \
    }

#define FORWARD(TYPE)                                                                              \
    static void forward_##TYPE(const tile *t, const room *r, TYPE *moments) {                      \
        const leati_attention *a = t->a;                                                           \
        TYPE *scores = (TYPE *)(void *)r->scores, *sums = (TYPE *)(void *)r->sums;                 \
        leati_gemm(a->dtype, t->queries, t->keys, a->depth,                                        \
                   (leati_gemm_matrix){t->q, t->q_row, 1}, (leati_gemm_matrix){t->k, 1, t->k_row}, \
                   scores, t->keys);                                                               \
        score_##TYPE(t, scores);                                                                   \
        for (int64_t i = 0; i < t->queries; i++) {                                                 \
            TYPE *line = scores + i * t->keys;                                                     \
            raise_##TYPE(line, t->keys, moments + 2 * i, sums + i * a->width, a->width);           \
        }                                                                                          \
        add_product(a->dtype, t->queries, a->width, t->keys,                                       \
                    (leati_gemm_matrix){scores, t->keys, 1},                                       \
                    (leati_gemm_matrix){t->v, t->v_row, 1}, r->product, sums, a->width);           \
    }                                                                                              \
    static void begin_##TYPE(TYPE *moments, int64_t queries) {                                     \
        for (int64_t i = 0; i < queries; i++) {                                                    \
            moments[2 * i] = (TYPE)-INFINITY;                                                      \
            moments[2 * i + 1] = 0;                                                                \
        }                                                                                          \
    }                                                                                              \
    static void end_##TYPE(const tile *t, const TYPE *sums, const TYPE *moments) {                 \
        const leati_attention *a = t->a;                                                           \
        TYPE *to = (TYPE *)a->result +                                                             \
                   ((t->row * a->queries + t->query) * a->heads + t->head) * a->width;             \
        for (int64_t i = 0; i < t->queries; i++)                                                   \
            for (int64_t d = 0; d < a->width; d++)                                                 \
                to[i * a->heads * a->width + d] =                                                  \
                    a->keys == 0 ? 0 : sums[i * a->width + d] / moments[2 * i + 1];                \
    }

/* Scores as probabilities, and what reaches them as what reaches the scores. */
#define BACKWARD(TYPE)                                                                             \
    static void slopes_##TYPE(const tile *t, const TYPE *moments, const TYPE *line, TYPE *scores,  \
                              TYPE *others) {                                                      \
        const bool *mask = extra_at(&t->a->mask, t, sizeof(bool));                                 \
        bool hides = mask != NULL || (t->a->causal && t->key + t->keys > t->query + 1);            \
        for (int64_t i = 0; i < t->queries; i++) {                                                 \
            TYPE *to = others + i * t->keys;                                                       \
            leati_attention_slopes_##TYPE(scores + i * t->keys, to, t->keys, moments + 2 * i,      \
                                          line[i]);                                                \
            for (int64_t j = 0; hides && j < t->keys; j++)                                         \
                to[j] = is_hidden(t, mask, i, j) ? 0 : to[j];                                      \
        }                                                                                          \
    }                                                                                              \
    static void into_bias_##TYPE(const tile *t, const TYPE *slopes) {                              \
        const leati_attention *a = t->a;                                                           \
        const int64_t *steps = a->bias.steps;                                                      \
        TYPE *to = (TYPE *)a->bias_gradient + t->row * steps[0] + t->head * steps[1];              \
        for (int64_t i = 0; i < t->queries; i++)                                                   \
            for (int64_t j = 0; j < t->keys; j++)                                                  \
                to[(t->query + i) * steps[2] + (t->key + j) * steps[3]] +=                         \
                    slopes[i * t->keys + j];                                                       \
    }                                                                                              \
    static void scale_##TYPE(TYPE *values, int64_t n, TYPE scale) {                                \
        for (int64_t i = 0; i < n; i++)                                                            \
            values[i] *= scale;                                                                    \
    }                                                                                              \
    static void dots_##TYPE(const tile *t, const TYPE *g, TYPE *line) {                            \
        const leati_attention *a = t->a;                                                           \
        const TYPE *y = (const TYPE *)a->result +                                                  \
                        ((t->row * a->queries + t->query) * a->heads + t->head) * a->width;        \
        for (int64_t i = 0; i < t->queries; i++) {                                                 \
            line[i] = 0;                                                                           \
            for (int64_t d = 0; d < a->width; d++)                                                 \
                line[i] += g[i * a->heads * a->width + d] * y[i * a->heads * a->width + d];        \
        }                                                                                          \
    }                                                                                              \
    static void backward_##TYPE(const tile *t, const room *r, const TYPE *moments,                 \
                                const TYPE *g) {                                                   \
        const leati_attention *a = t->a;                                                           \
        int64_t g_row = a->heads * a->width, other = (t->row * a->keys + t->key) * a->key_heads;   \
        TYPE *p = (TYPE *)(void *)r->scores, *ds = (TYPE *)(void *)r->others;                      \
        TYPE *dq = (TYPE *)(void *)r->sums;                                                        \
        TYPE *dk = (TYPE *)a->key_gradient + (other + t->key_head) * a->depth;                     \
        TYPE *dv = (TYPE *)a->value_gradient + (other + t->key_head) * a->width;                   \
        leati_gemm(a->dtype, t->queries, t->keys, a->depth,                                        \
                   (leati_gemm_matrix){t->q, t->q_row, 1}, (leati_gemm_matrix){t->k, 1, t->k_row}, \
                   p, t->keys);                                                                    \
        score_##TYPE(t, p);                                                                        \
        leati_gemm(a->dtype, t->queries, t->keys, a->width, (leati_gemm_matrix){g, g_row, 1},      \
                   (leati_gemm_matrix){t->v, 1, t->v_row}, ds, t->keys);                           \
        slopes_##TYPE(t, moments, (const TYPE *)(const void *)r->line, p, ds);                     \
        if (a->bias_gradient != NULL)                                                              \
            into_bias_##TYPE(t, ds);                                                               \
        scale_##TYPE(ds, t->queries * t->keys, (TYPE)a->scale);                                    \
        add_product(a->dtype, t->queries, a->depth, t->keys, (leati_gemm_matrix){ds, t->keys, 1},  \
                    (leati_gemm_matrix){t->k, t->k_row, 1}, r->product, dq, a->depth);             \
        add_product(a->dtype, t->keys, a->depth, t->queries, (leati_gemm_matrix){ds, 1, t->keys},  \
                    (leati_gemm_matrix){t->q, t->q_row, 1}, r->product, dk, t->k_row);             \
        add_product(a->dtype, t->keys, a->width, t->queries, (leati_gemm_matrix){p, 1, t->keys},   \
                    (leati_gemm_matrix){g, g_row, 1}, r->product, dv, t->v_row);                   \
    }

#define BOTH_WAYS(TYPE, EXP)                                                                       \
    SCORES(TYPE)                                                                                   \
    EXPONENTIALS(TYPE, EXP)                                                                        \
    FORWARD(TYPE)                                                                                  \
    BACKWARD(TYPE)
BOTH_WAYS(float, leati_math_exp)
BOTH_WAYS(double, exp)

static char *moments_of(const leati_attention *a, int64_t row, int64_t head, int64_t query) {
    int64_t place = 2 * ((row * a->heads + head) * a->queries + query);
    return (char *)a->moments + (size_t)place * leat_dtype_size(a->dtype);
}

void leati_attention_forward(const leati_attention *a, int64_t row, int64_t head, void *scratch) {
    room r = room_of(a, scratch);
    bool single = a->dtype == LEAT_FLOAT32;
    for (int64_t query = 0; query < a->queries && !leati_stop_stopped(); query += TILE) {
        tile t = tile_of(a, row, head, query, 0);
        void *moments = moments_of(a, row, head, query);
        memset(r.sums, 0, (size_t)(t.queries * a->width) * leat_dtype_size(a->dtype));
        single ? begin_float(moments, t.queries) : begin_double(moments, t.queries);
        for (int64_t key = 0, end = end_of_keys(a, query); key < end && !leati_stop_look();
             key += TILE) {
            t = tile_of(a, row, head, query, key);
            single ? forward_float(&t, &r, moments) : forward_double(&t, &r, moments);
        }
        const void *sums = r.sums;
        single ? end_float(&t, sums, moments) : end_double(&t, sums, moments);
    }
}

void leati_attention_backward(const leati_attention *a, int64_t row, int64_t head, void *scratch) {
    room r = room_of(a, scratch);
    bool single = a->dtype == LEAT_FLOAT32;
    size_t size = leat_dtype_size(a->dtype);
    for (int64_t query = 0; query < a->queries && !leati_stop_stopped(); query += TILE) {
        tile t = tile_of(a, row, head, query, 0);
        int64_t first = (row * a->queries + query) * a->heads + head;
        const void *moments = moments_of(a, row, head, query);
        const void *g = at(a, a->gradient, first * a->width);
        char *to = (char *)a->query_gradient + (size_t)(first * a->depth) * size;
        void *line = r.line;
        memset(r.sums, 0, (size_t)(t.queries * a->depth) * size);
        single ? dots_float(&t, g, line) : dots_double(&t, g, line);
        for (int64_t key = 0, end = end_of_keys(a, query); key < end && !leati_stop_look();
             key += TILE) {
            t = tile_of(a, row, head, query, key);
            single ? backward_float(&t, &r, moments, g) : backward_double(&t, &r, moments, g);
        }
        for (int64_t i = 0; i < t.queries; i++)
            memcpy(to + (size_t)(i * a->heads * a->depth) * size,
                   r.sums + (size_t)(i * a->depth) * size, (size_t)a->depth * size);
    }
}
