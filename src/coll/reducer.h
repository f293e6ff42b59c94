/* What collectives share: two buffers into one, and checks of their arguments. */
#ifndef LEATI_COLL_REDUCER_H
#define LEATI_COLL_REDUCER_H

#include "coll/coll.h"

/* out[i] = a[i] + b[i], or the larger one; MEAN adds. `out` may be `a` or `b`. Integers wrap. */
typedef void (*leati_reducer)(void *out, const void *a, const void *b, size_t count);

/* The function of a dtype and a reduction; NULL: not a number. */
leati_reducer leati_reducer_of(leat_dtype dtype, leati_reduction reduction);

/* The mean of two buffers in one pass, with the bits of adding and then dividing by two; NULL for
 * halves, whose sums are rounded in between, and for what has no mean. */
leati_reducer leati_reducer_mean_of_two(leat_dtype dtype);

/* How the values of several ranks become one: by rank order, each by the same additions. */
typedef struct leati_combination {
    leat_dtype dtype;
    leati_reduction reduction;
} leati_combination;

/* `count` values at byte `from` of all inputs, combined, at byte `to` of each output. A MEAN is
 * over the inputs. Where `from` is `to` an output may be an input. Halves are added in float32 and
 * rounded once. */
void leati_reducer_combine(leati_combination how, const void *const *inputs, int num_inputs,
                           size_t from, void *const *outputs, int num_outputs, size_t to,
                           int64_t count);

/* Divides floating values; nothing for other dtypes. */
void leati_reducer_divide(void *data, int64_t count, leat_dtype dtype, int divisor);

/* Can values of this dtype be reduced so? INVALID_ARGUMENT otherwise. */
LEAT_WARN_UNUSED leat_status leati_reducer_check(leat_dtype dtype, leati_reduction reduction,
                                                 leat_error *err);

/* Is there such a rank to broadcast from? INVALID_ARGUMENT otherwise. */
LEAT_WARN_UNUSED leat_status leati_reducer_check_root(int root, int num_ranks, leat_error *err);

#endif
