/* What layers share that draw numbers: the state of a generator as a weight, and draws from it. */
#ifndef LEATI_TRAIN_SUPPORT_NOISE_H
#define LEATI_TRAIN_SUPPORT_NOISE_H

#include "train/frame/layer.h"

/* For check: INVALID_ARGUMENT for a number outside of 0 to 1. */
LEAT_WARN_UNUSED leat_status leati_noise_check_rate(const char *name, double rate, leat_error *err);

/* Lists the generator's state where the layer draws at all. */
void leati_noise_state(bool draws, leati_weights *out);

/* The seed [2] of this call's draws, as Keras' SeedGenerator gives it, and the state after it as
 * update number `weight`. Replicas after the first have seeds of their own. */
leat_value leati_noise_seed(const leati_pass *pass, int weight);
/* The same for `count` draws in a row, which an operation tells apart itself. */
leat_value leati_noise_seeds(const leati_pass *pass, int weight, int draw, int count);

/* Draws of the shape of `x`, or of `shape` where it is given (-1: as x): uniform numbers of [0, 1)
 * in the dtype of x, or normal ones. */
leat_value leati_noise_uniform(leat_value seed, leat_value x, const leati_ints *shape);
leat_value leati_noise_normal(leat_value seed, leat_value x, const leati_ints *shape);
/* Uniform numbers of [low, high). */
leat_value leati_noise_between(leat_value seed, leat_value x, const leati_ints *shape, double low,
                               double high);
/* The same, drawn in float32 whatever the dtype of x: what Keras draws without a dtype. */
leat_value leati_noise_between_floats(leat_value seed, leat_value x, const leati_ints *shape,
                                      double low, double high);

/* The input with its values dropped at `rate` in training (tf.nn.experimental.stateless_dropout);
 * weight 0 is the generator's state if the rate is above 0. */
leat_value leati_noise_drop(const leati_pass *pass, double rate, const leati_ints *shape);

#endif
