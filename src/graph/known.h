/* What is known of integers while a graph is built. Shapes are often computed from shapes, of which
 * some dimensions are known (tf.reshape(x, [tf.shape(x)[0], 4, 2])): inference sees the 4 and the
 * 2. Operations that such shapes are made with have a `known` slot (graph/op.h). */
#ifndef LEATI_GRAPH_KNOWN_H
#define LEATI_GRAPH_KNOWN_H

#include "graph/graph.h"

/* A number that only the run knows. */
#define LEATI_UNKNOWN_NUMBER INT64_MIN

/* A scalar (rank 0, count 1) or a vector (rank 1) of integers. */
typedef struct leati_known {
    int32_t rank, count;
    int64_t values[LEAT_MAX_RANK];
} leati_known;

/* One call of a `known` slot. The numbers of inputs that are none are all unknown, count 0. */
struct leati_known_call {
    const void *args;
    const leati_type *const *types; /* of the inputs */
    const leati_known *inputs;
    int num_inputs;
};

/* For slots: output 0 is input 0; a dimension more or less of one that is a single number. */
bool leati_known_same(const leati_known_call *call, leati_known *out);
/* For slots: combines the numbers of two inputs, scalars with each element of a vector. `combine`
 * returns false where the result does not fit. */
bool leati_known_combined(const leati_known_call *call,
                          bool (*combine)(int64_t, int64_t, int64_t *), leati_known *out);

#endif
