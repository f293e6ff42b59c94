/* What the normalising layers share: their weights, mean and variance, and the affine map behind.
 */
#ifndef LEATI_TRAIN_SUPPORT_NORMALIZE_H
#define LEATI_TRAIN_SUPPORT_NORMALIZE_H

#include "train/frame/layer.h"

typedef struct leati_moments {
    leat_value mean, variance;
} leati_moments;

/* The biased mean and variance over axes of x. `synchronized`: over all replicas' values. */
leati_moments leati_normalize_moments(leat_value x, const int64_t *axes, int count, bool keepdims,
                                      bool synchronized);

/* What comes behind; NULL: not there. `axis`: the place of the vectors' values among the dimensions
 * of x; -1: they and the moments broadcast as they are. */
typedef struct leati_affine {
    const leat_value *gamma, *beta;
    int32_t axis;
} leati_affine;

/* (x - mean) / sqrt(variance + epsilon) * gamma + beta (tf.nn.batch_normalization). */
leat_value leati_normalize(leat_value x, leati_moments moments, const leati_affine *affine,
                           double epsilon);

/* mask[d]: is dimension d among the axes? No axes: the last one alone. */
LEAT_WARN_UNUSED leat_status leati_normalize_axes(const leati_ints *axes, int32_t rank, bool *mask,
                                                  leat_error *err);
/* The sizes of the axes, in the order of the input's dimensions; INVALID_ARGUMENT if unknown. */
LEAT_WARN_UNUSED leat_status leati_normalize_shape(const leati_ints *axes, const leat_shape *input,
                                                   leat_shape *out, leat_error *err);
/* Lists gamma and beta; an initialiser that is NULL: there is none. */
void leati_normalize_weights(const char *gamma, const char *beta, const leat_shape *shape,
                             leati_weights *out);

#endif
