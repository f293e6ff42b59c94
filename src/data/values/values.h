/* Elements, blocks and errors as bytes of a saved state: for what cannot be read again (leftovers
 * of impure inputs, caches). Strings by value, numbers in memory order of little-endian machines.
 * Datasets are written where they have a form (windows, shards of a
 * saved dataset), and refused (FAILED_PRECONDITION) elsewhere. */
#ifndef LEATI_DATA_VALUES_VALUES_H
#define LEATI_DATA_VALUES_VALUES_H

#include "base/bytes.h"
#include "core/block.h"
#include "core/object.h"
#include <leat/data.h>

/* How one kind of dataset that is an element is written and made again, for elements of spec
 * `element`. One line of data/value_forms.def each. */
typedef struct leati_value_form {
    bool (*is)(const leat_object *object);
    leat_status (*put)(leati_writer *out, const leat_object *object, leat_error *err);
    leat_dataset *(*get)(leati_reader *in, const leat_spec *element, leat_error *err);
} leati_value_form;

/* Rows [begin, begin + n). */
LEAT_WARN_UNUSED leat_status leati_values_put_block(leati_writer *out, const leati_block *block,
                                                    int64_t begin, int64_t n, leat_error *err);
/* `out` gets a block of `spec`'s components; damaged bytes are DATA_LOSS. */
LEAT_WARN_UNUSED leat_status leati_values_get_block(leati_reader *in, const leat_spec *spec,
                                                    leati_block *out, leat_error *err);

/* With all that it knows but the number that a callback left. */
void leati_values_put_error(leati_writer *out, const leat_error *error);
LEAT_WARN_UNUSED leat_status leati_values_get_error(leati_reader *in, leat_error *out,
                                                    leat_error *err);

LEAT_WARN_UNUSED leat_status leati_values_put_tensor(leati_writer *out, const leat_tensor *tensor,
                                                     leat_error *err);
LEAT_WARN_UNUSED leat_status leati_values_get_tensor(leati_reader *in, leat_tensor *out,
                                                     leat_error *err);
/* The same for a component of `spec`, which it must fit; datasets too. `*out` is the caller's even
 * where it does not. */
LEAT_WARN_UNUSED leat_status leati_values_get_component(leati_reader *in, const leat_spec *spec,
                                                        int component, leat_tensor *out,
                                                        leat_error *err);

#endif
