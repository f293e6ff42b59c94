/* Lines of numbers in order, for sort, argsort and top_k: by digits of unsigned keys that have the
 * numbers' order, not by comparing them.
 *
 * Numbers that compare equal keep their order, zeros of both signs among them, with their bits. A
 * NaN is behind all others; NaNs keep their order and bits as well. Where a line is `descending`
 * the order is the reverse, and equal numbers keep theirs still. */
#ifndef LEATI_GRAPH_SUPPORT_ARRAY_SORTING_H
#define LEATI_GRAPH_SUPPORT_ARRAY_SORTING_H

#include "base/alloc.h"
#include "base/error.h"
#include <leat/core.h>

struct leati_sorting_coding;

/* What lines of one dtype and length share. One thread at a time uses it. */
typedef struct leati_sorting {
    const struct leati_sorting_coding *coding;
    size_t n;
    bool descending;
    bool plain;     /* without instructions that not all processors have; false after init */
    size_t *counts; /* of digits */
    void *keys[2];  /* where keys go back and forth */
} leati_sorting;

/* Are there keys of this dtype? */
bool leati_sorting_knows(leat_dtype dtype);

/* Prepares for lines of n values, with memory of the arena, which must live as long: for values
 * that of a line at most, for places 16 bytes a value, and at most 512 KiB. INVALID_ARGUMENT for
 * `places` of more than UINT32_MAX values; errors of memory. */
LEAT_WARN_UNUSED leat_status leati_sorting_init(leati_sorting *s, leat_dtype dtype, int64_t n,
                                                bool descending, bool places, leati_arena *arena,
                                                leat_error *err);
/* Writes the values of a dense line in order to `out`, another dense line. */
void leati_sorting_values(leati_sorting *s, const void *line, void *out);
/* The places of the values in order are the low halves of the result, n numbers that are valid
 * until the next line (borrowed). NULL: a look said to stop. Needs `places` of init. */
const uint64_t *leati_sorting_places(leati_sorting *s, const void *line);

/* The k first places of a descending line of n, in one pass over it. One thread at a time. */
typedef struct leati_sorting_top {
    leati_sorting sorting; /* of candidates; of the line where there is no room for them */
    int64_t n, k;
    int64_t room;       /* candidates; 0: the whole line is put in order */
    int64_t *places[2]; /* of candidates; those that stay go to the other side */
    char *values;       /* of candidates */
} leati_sorting_top;

/* For 0 <= k <= n, with memory as for the places of max(2 * k, k + 128) values, or of n; errors as
 * leati_sorting_init. */
LEAT_WARN_UNUSED leat_status leati_sorting_top_init(leati_sorting_top *top, leat_dtype dtype,
                                                    int64_t n, int64_t k, leati_arena *arena,
                                                    leat_error *err);
/* The places of the k largest values of a dense line in order, k numbers that are valid until the
 * next line (borrowed); of equal values the first are taken. NULL: a look said to stop. */
const int64_t *leati_sorting_top_places(leati_sorting_top *top, const void *line);

#endif
