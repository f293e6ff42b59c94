/* Helpers over elements that several rooms need. */
#ifndef LEATI_CORE_ELEMENT_H
#define LEATI_CORE_ELEMENT_H

#include <leat/core.h>

/* Makes room for `count` tensors and keeps what is there. */
LEAT_WARN_UNUSED leat_status leati_element_reserve(leat_element *element, int count,
                                                   leat_error *err);

/* Like leat_element_set, but takes over the references in `tensors` (given, also on failure; each
 * is cleared). The tensors are not checked against the spec. */
LEAT_WARN_UNUSED leat_status leati_element_give(leat_element *element, const leat_spec *spec,
                                                leat_tensor *tensors, leat_error *err);

/* `to` holds references to the same spec and tensors as `from`. */
LEAT_WARN_UNUSED leat_status leati_element_copy(const leat_element *from, leat_element *to,
                                                leat_error *err);

/* Moves what `from` holds to `to` (cleared first); `from` is empty afterwards. */
void leati_element_move(leat_element *from, leat_element *to);

/* Equal specs and equal tensors (leati_tensor_equal); two empty elements are equal. */
bool leati_element_equal(const leat_element *a, const leat_element *b);

#endif
