/* Places of sparse values: rows of indices [n, rank] within a shape [rank], and their numbers among
 * all places of the shape in row-major order. */
#ifndef LEATI_GRAPH_SUPPORT_ARRAY_PLACES_H
#define LEATI_GRAPH_SUPPORT_ARRAY_PLACES_H

#include "graph/support/support.h"

typedef struct leati_places {
    const int64_t *indices, *shape;
    int64_t count, rank;
} leati_places;

/* Those of a row of inputs `indices` and `shape`, borrowed; INVALID_ARGUMENT where they do not fit.
 */
LEAT_WARN_UNUSED leat_status leati_places_of(const leati_kernel_call *call, int indices, int shape,
                                             int64_t row, leati_places *out, leat_error *err);
/* The numbers of all places as they come, in the call's arena, and whether none is less than the
 * one before it. INVALID_ARGUMENT where an index lies outside of the shape, or its number is more
 * than an int64 holds. The crew shares the pass. */
LEAT_WARN_UNUSED leat_status leati_places_number(leati_kernel_call *call, const leati_places *p,
                                                 int64_t **out, bool *rises, leat_error *err);

/* The places in order, equal ones as they came. */
typedef struct leati_places_order {
    int64_t *numbers;      /* as they came */
    const uint64_t *order; /* low halves: which is the first, and so on; NULL: they were in order */
} leati_places_order;

LEAT_WARN_UNUSED leat_status leati_places_sort(leati_kernel_call *call, const leati_places *p,
                                               leati_places_order *out, leat_error *err);
/* Which place is number i of the order. */
static inline int64_t leati_places_nth(const leati_places_order *o, int64_t i) {
    return o->order == NULL ? i : (int64_t)(uint32_t)o->order[i];
}

/* A shape whose numbers become indices. Quotients are found by multiplication where all numbers are
 * exact in double. */
typedef struct leati_places_split {
    const int64_t *shape;
    int64_t rank;
    double *inverses; /* in the arena; NULL: numbers are too large */
} leati_places_split;

LEAT_WARN_UNUSED leat_status leati_places_split_init(leati_places_split *s, leati_kernel_call *call,
                                                     const int64_t *shape, int64_t rank,
                                                     leat_error *err);
/* The indices of a number, `rank` of them. */
void leati_places_write(const leati_places_split *s, int64_t number, int64_t *to);

#endif
