/* Values moved from one layout of memory to another: what transposing, slicing, reversing, joining,
 * repeating and broadcasting come down to.
 *
 * Dimensions are merged where both layouts allow it, what is dense in both is copied whole, and
 * where the dense dimensions differ, squares are transposed in registers. What is much is cut into
 * pieces by sizes alone, which the crew's threads share (run/crew.h); the caller is heard between
 * them where it is asked to stop, and what was not moved then is left out. */
#ifndef LEATI_GRAPH_SUPPORT_ARRAY_MOVING_H
#define LEATI_GRAPH_SUPPORT_ARRAY_MOVING_H

#include "graph/support/support.h"

/* A dimension of what is moved; steps in bytes, of any sign. A step `from` of 0 repeats. */
typedef struct leati_moving_dim {
    int64_t size, to, from;
} leati_moving_dim;

enum { LEATI_MOVING_MAX = 2 * LEAT_MAX_RANK + 2 };

/* Moves values of `size` bytes; the last dimension is the innermost one, and `to` is best dense
 * there. At most LEATI_MOVING_MAX - 1 dimensions. The two do not overlap. */
void leati_moving_copy(char *to, const char *from, const leati_moving_dim *dims, int32_t rank,
                       size_t size);
/* The same with the dimensions in arrays of their own. */
void leati_moving_strided(char *to, const int64_t *to_steps, const char *from,
                          const int64_t *from_steps, const int64_t *dims, int32_t rank,
                          size_t size);
/* Of each row of `in` values of `dims`, `from` bytes behind its first and `in_steps` apart, into
 * the row of `out` in the same way. Without values nothing is done. */
void leati_moving_rows(const leati_kernel_call *call, const leati_operand *out, int64_t to,
                       const int64_t *out_steps, const leati_operand *in, int64_t from,
                       const int64_t *in_steps, const int64_t *dims, int32_t rank, size_t size);
/* Writes `count` times the value of `size` bytes, 1 to 16. */
void leati_moving_fill(char *to, int64_t count, const void *value, size_t size);
/* A call for each of `count` steps, which move or make `bytes` bytes each: run(data, begin, end)
 * for as many at once as are a piece. */
typedef void leati_moving_steps(void *data, int64_t begin, int64_t end);
void leati_moving_share(int64_t count, int64_t bytes, leati_moving_steps *run, void *data);

#endif
