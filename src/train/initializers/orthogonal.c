/* Orthogonal: a matrix whose columns, or rows where there are fewer, are of length `gain` and stand
 * at right angles (keras.initializers.Orthogonal).
 *
 * Happy path: normal numbers are drawn into the longer side's vectors, and each is freed of its
 * parts along those before it, twice, because rounding leaves some the first time. That is the Q of
 * a QR factorisation whose R has a positive diagonal, as Keras takes it. A weight of more
 * dimensions is a matrix of its last one. Failures: a weight of less than two dimensions. No state,
 * no locks. */
#include "train/frame/initializer.h"
#include <math.h>

struct orthogonal_args {
    double gain;
    leati_seed_argument seed;
};

static const leati_row orthogonal_rows[] = {
    {.name = "gain",
     .type = LEATI_ROW_FLOAT,
     .offset = offsetof(struct orthogonal_args, gain),
     .default_number = 1,
     .doc = "The length of the vectors."},
    LEATI_INITIALIZER_SEED(orthogonal_args),
    {0},
};

/* `count` vectors; the values of one lie `step` apart, its neighbour begins `next` further. */
typedef struct vectors {
    float *values;
    int64_t count, size, step, next;
} vectors;

static double product(const vectors *v, int64_t a, int64_t b) {
    double sum = 0;
    for (int64_t i = 0; i < v->size; i++)
        sum += (double)v->values[a * v->next + i * v->step] * v->values[b * v->next + i * v->step];
    return sum;
}

/* Takes the parts along the vectors before it from one, and gives it the length 1. */
static void straighten(const vectors *v, int64_t which) {
    for (int64_t before = 0; before < which; before++) {
        /* Summed as doubles: float32 sums would leave angles that the next vectors inherit. */
        double along = product(v, which, before);
        for (int64_t i = 0; i < v->size; i++)
            /* Taken off at once, as in the modified Gram-Schmidt process, so that later products
             * see it. */
            v->values[which * v->next + i * v->step] -=
                (float)(along * v->values[before * v->next + i * v->step]);
    }
    double length = sqrt(product(v, which, which));
    /* A vector of length 0, which depends on those before it, stays 0. */
    for (int64_t i = 0; i < v->size && length > 0; i++)
        v->values[which * v->next + i * v->step] /= (float)length;
}

static void orthogonal_fill(const void *arguments, int64_t seed, const leat_shape *shape,
                            float *values, int64_t count) {
    const struct orthogonal_args *args = arguments;
    int64_t columns = shape->rank > 0 ? shape->dims[shape->rank - 1] : 1;
    /* A dimension of size 0 leaves nothing to divide by. */
    int64_t rows = columns > 0 ? count / columns : 0;
    /* Only as many vectors as the longer side has values can stand at right angles. */
    bool tall = rows >= columns;
    const vectors v = {.values = values,
                       .count = tall ? columns : rows,
                       .size = tall ? rows : columns,
                       .step = tall ? columns : 1,
                       .next = tall ? 1 : columns};
    /* Of a wide matrix Keras factors the transpose: its numbers are drawn in that one's order. */
    if (tall)
        leati_initializer_fill_normal(seed, 0, 1, values, count);
    else
        leati_initializer_fill_normal_columns(seed, columns, rows, values);
    for (int64_t i = 0; i < v.count; i++) {
        /* Twice is enough (Kahan and Parlett): the second pass takes away what rounding left. */
        straighten(&v, i);
        straighten(&v, i);
    }
    for (int64_t i = 0; i < count; i++)
        values[i] *= (float)args->gain;
}

const leati_initializer_kind leati_initializer_orthogonal = {
    .kind =
        {
            .name = "Orthogonal",
            .doc = "Vectors at right angles to each other (keras.initializers.Orthogonal).",
            .rows = orthogonal_rows,
            .signature = "gain seed",
            .config = "seed",
            .args_size = sizeof(struct orthogonal_args),
        },
    .identifier = "orthogonal",
    .random = true,
    .min_rank = 2,
    .fill = orthogonal_fill,
};
