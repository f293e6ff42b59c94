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
    char *turned;          /* keys or values, transposed: [depth or width, keys] */
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
    room found = {.turned = scratch};
    found.scores = found.turned + side;
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

/* Rows [keys, n] of a tile as [n, keys]. */
#define TURN(TYPE)                                                                                 \
    static void turn_##TYPE(const TYPE *from, int64_t from_row, int64_t keys, int64_t n,           \
                            TYPE *to) {                                                            \
        for (int64_t j = 0; j < keys; j++)                                                         \
            for (int64_t d = 0; d < n; d++)                                                        \
                to[d * keys + j] = from[j * from_row + d];                                         \
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
        for (int64_t j = 0; j < keys; j++) {                                                       \
            line[j] = none && line[j] <= top ? 0 : EXP(line[j] - top);                             \
            sum += line[j];                                                                        \
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
        turn_##TYPE(t->k, t->k_row, t->keys, a->depth, (TYPE *)(void *)r->turned);                 \
        leati_gemm(a->dtype, t->queries, t->keys, a->depth, t->q, t->q_row, 1, r->turned, scores); \
        score_##TYPE(t, scores);                                                                   \
        for (int64_t i = 0; i < t->queries; i++) {                                                 \
            TYPE *line = scores + i * t->keys;                                                     \
            raise_##TYPE(line, t->keys, moments + 2 * i, sums + i * a->width, a->width);           \
            leati_gemm_add_products(a->dtype, a->width, t->keys, line, 1, t->v, t->v_row,          \
                                    sums + i * a->width);                                          \
        }                                                                                          \
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
#define BACKWARD(TYPE, EXP)                                                                        \
    static void slopes_##TYPE(const tile *t, const TYPE *moments, const TYPE *line, TYPE *scores,  \
                              TYPE *others) {                                                      \
        const bool *mask = extra_at(&t->a->mask, t, sizeof(bool));                                 \
        for (int64_t i = 0; i < t->queries; i++)                                                   \
            for (int64_t j = 0; j < t->keys; j++) {                                                \
                int64_t n = i * t->keys + j;                                                       \
                scores[n] = EXP(scores[n] - moments[2 * i]) / moments[2 * i + 1];                  \
                others[n] = is_hidden(t, mask, i, j) ? 0 : scores[n] * (others[n] - line[i]);      \
            }                                                                                      \
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
        TYPE *turned = (TYPE *)(void *)r->turned, *dq = (TYPE *)(void *)r->sums;                   \
        TYPE *dk = (TYPE *)a->key_gradient + (other + t->key_head) * a->depth;                     \
        TYPE *dv = (TYPE *)a->value_gradient + (other + t->key_head) * a->width;                   \
        turn_##TYPE(t->k, t->k_row, t->keys, a->depth, turned);                                    \
        leati_gemm(a->dtype, t->queries, t->keys, a->depth, t->q, t->q_row, 1, turned, p);         \
        score_##TYPE(t, p);                                                                        \
        turn_##TYPE(t->v, t->v_row, t->keys, a->width, turned);                                    \
        leati_gemm(a->dtype, t->queries, t->keys, a->width, g, g_row, 1, turned, ds);              \
        slopes_##TYPE(t, moments, (const TYPE *)(const void *)r->line, p, ds);                     \
        if (a->bias_gradient != NULL)                                                              \
            into_bias_##TYPE(t, ds);                                                               \
        scale_##TYPE(ds, t->queries * t->keys, (TYPE)a->scale);                                    \
        for (int64_t i = 0; i < t->queries; i++)                                                   \
            leati_gemm_add_products(a->dtype, a->depth, t->keys, ds + i * t->keys, 1, t->k,        \
                                    t->k_row, dq + i * a->depth);                                  \
        for (int64_t j = 0; j < t->keys; j++) {                                                    \
            leati_gemm_add_products(a->dtype, a->depth, t->queries, ds + j, t->keys, t->q,         \
                                    t->q_row, dk + j * t->k_row);                                  \
            leati_gemm_add_products(a->dtype, a->width, t->queries, p + j, t->keys, g, g_row,      \
                                    dv + j * t->v_row);                                            \
        }                                                                                          \
    }

#define BOTH_WAYS(TYPE, EXP)                                                                       \
    TURN(TYPE)                                                                                     \
    SCORES(TYPE)                                                                                   \
    EXPONENTIALS(TYPE, EXP)                                                                        \
    FORWARD(TYPE)                                                                                  \
    BACKWARD(TYPE, EXP)
BOTH_WAYS(float, expf)
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
