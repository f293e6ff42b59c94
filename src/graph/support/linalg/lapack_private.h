/* What the files of lapack.h share. */
#ifndef LEATI_GRAPH_SUPPORT_LINALG_LAPACK_PRIVATE_H
#define LEATI_GRAPH_SUPPORT_LINALG_LAPACK_PRIVATE_H

#include "core/complex.h"
#include "core/tensor.h"
#include "graph/support/linalg/lapack.h"
#include "graph/support/linalg/lapack_module.h"

/* Of a dtype for which leati_lapack_find says yes. */
const leati_lapack_functions *leati_lapack_of(leat_dtype dtype);

/* The number 0, 1 or -1 of any dtype: its parts, of which the second is 0. */
const void *leati_lapack_number(leat_dtype dtype, int value);
/* The real part of the number there. */
double leati_lapack_first(leat_dtype dtype, const void *at);
/* How many values of scratch a function has asked for, at least `least`. */
int leati_lapack_size(leat_dtype dtype, const void *asked, int least);

/* to[columns, rows] = from[rows, columns] turned, or the conjugates; from's rows lie `apart`. */
void leati_lapack_turn(leat_dtype dtype, int64_t rows, int64_t columns, int64_t apart,
                       bool conjugated, const void *from, void *to);

/* Arrays in one piece of the thread's scratch. Each is a pointer to set, a number of values and
 * the size of one; false: there is no memory. */
typedef struct leati_lapack_array {
    void **at;
    int64_t count;
    size_t size;
} leati_lapack_array;

bool leati_lapack_scratch(const leati_lapack_array *arrays, int count);
#define LEATI_LAPACK_SCRATCH(...)                                                                  \
    leati_lapack_scratch((const leati_lapack_array[]){__VA_ARGS__},                                \
                         sizeof((const leati_lapack_array[]){__VA_ARGS__}) /                       \
                             sizeof(leati_lapack_array))

/* Are all values finite? */
bool leati_lapack_is_finite(leat_dtype dtype, const void *a, int64_t count);

#endif
