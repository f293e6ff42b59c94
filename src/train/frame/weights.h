/* Variables that lie where another one lies. */
#ifndef LEATI_TRAIN_FRAME_WEIGHTS_H
#define LEATI_TRAIN_FRAME_WEIGHTS_H

#include "graph/variable.h"

/* A new variable, not trainable, with the value `initial` (borrowed) and one copy wherever `like`
 * has one, whatever scope is open. Owned. */
LEAT_WARN_UNUSED leat_status leati_weights_variable_like(const leat_variable *like,
                                                         const char *name,
                                                         const leat_tensor *initial,
                                                         leat_variable **out, leat_error *err);

#endif
