/* Activations by Keras' names, as layers take them. */
#ifndef LEATI_TRAIN_FRAME_ACTIVATION_H
#define LEATI_TRAIN_FRAME_ACTIVATION_H

#include <leat/train.h>

/* Keras' name of an activation; for a number that is none a text that leati_check_activation
 * refuses. Static text. */
const char *leati_activation_name(leat_activation activation);

/* For check of arguments: INVALID_ARGUMENT for a name that is none lists those there are; NULL
 * means linear. */
LEAT_WARN_UNUSED leat_status leati_check_activation(const char *name, leat_error *err);

/* The activation of a checked name applied to a value; a failed value passes through. */
leat_value leati_activate(const char *name, leat_value value);

/* x, below 0 times `slope`; x, below 0 alpha (exp(x) - 1). */
leat_value leati_leaky(leat_value x, double slope);
leat_value leati_scaled_elu(leat_value x, double alpha);

#endif
