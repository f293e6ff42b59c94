/* Activations by Keras' names, as layers take them. */
#ifndef LEATI_TRAIN_FRAME_ACTIVATION_H
#define LEATI_TRAIN_FRAME_ACTIVATION_H

#include <leat/train.h>

/* Keras' name of an activation; for a number that is none a text that leati_activation_check
 * refuses. Static text. */
const char *leati_activation_name(leat_activation activation);

/* For check of arguments: INVALID_ARGUMENT for a name that is none lists those there are; NULL
 * means linear. */
LEAT_WARN_UNUSED leat_status leati_activation_check(const char *name, leat_error *err);

/* The activation of a checked name applied to a value; a failed value passes through. */
leat_value leati_activation_apply(const char *name, leat_value value);

/* x, below 0 times `slope`; x, below 0 alpha (exp(x) - 1). */
leat_value leati_activation_leaky_relu(leat_value x, double slope);
leat_value leati_activation_scaled_elu(leat_value x, double alpha);

#endif
