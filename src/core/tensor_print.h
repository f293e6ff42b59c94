/* Tensors as text; see tensor_print.c. */
#ifndef LEATI_CORE_TENSOR_PRINT_H
#define LEATI_CORE_TENSOR_PRINT_H

#include "core/sink.h"
#include <leat/core.h>

/* Adds the tensor as numpy's str() prints it: a scalar bare, an array with aligned columns, lines
 * of at most 75 characters, and "..." in the middle of axes when it has more than 1000 values. */
void leati_tensor_print(leati_text_sink *sink, const leat_tensor *tensor);

#endif
