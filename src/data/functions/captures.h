/* Functions of dataset operators that use values of the function around them. */
#ifndef LEATI_DATA_FUNCTIONS_CAPTURES_H
#define LEATI_DATA_FUNCTIONS_CAPTURES_H

#include "data/functions/template.h"

/* The function whose last `count` arguments have values of these types that nobody knows yet: for
 * inference. Owned. */
leat_function *leati_captures_stand_in(const leat_object *function, const leati_type *types,
                                       int count, leat_error *err);

/* The function whose last `count` arguments are row `row` of these operands, copied. Owned; the
 * function itself (a new reference) where it captures nothing. */
leat_function *leati_captures_bind(const leat_object *function, const leati_operand *operands,
                                   int count, int64_t row, leat_error *err);

#endif
