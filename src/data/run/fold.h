/* Functions of (state, element): what scan, group_by_reducer and reduce share. A state is a block
 * of one row. */
#ifndef LEATI_DATA_RUN_FOLD_H
#define LEATI_DATA_RUN_FOLD_H

#include "data/run/state.h"

/* The spec of the arguments (state, element). Owned. */
leat_spec *leati_fold_input(const leat_spec *state, const leat_spec *element, leat_error *err);

/* Does `function`, argument `argument` of `op`, take (state, element) of these specs, and is
 * `next`, the spec of the state that it returns, of the state's structure and dtypes?
 * INVALID_ARGUMENT. */
LEAT_WARN_UNUSED leat_status leati_fold_check(const char *op, const char *argument,
                                              const leat_function *function, const leat_spec *state,
                                              const leat_spec *element, const leat_spec *next,
                                              leat_error *err);

/* What TensorFlow does where the shape of the state changes from call to call: the arguments with
 * which `function`, made for `input`, has to be made again. `next` is the spec of the state that it
 * returns. NULL (and no error) if it will do, or if no other shapes would help. Owned. */
leat_spec *leati_fold_relax(const leat_spec *input, const leat_spec *next, leat_error *err);

/* `state` under the shapes that `function` takes. Owned. */
leat_spec *leati_fold_state(const leat_spec *state, const leat_function *function, leat_error *err);

/* `out` becomes the row `state`, row 0, and then row `row` of `block`: one row of arguments. */
LEAT_WARN_UNUSED leat_status leati_fold_join(const leati_block *state, const leati_block *block,
                                             int64_t row, leati_block *out, leat_error *err);
/* Takes the columns of `result` apart: those of `spec` must fit it (INVALID_ARGUMENT) and become
 * `state`; what follows becomes `rest` (NULL: nothing follows). On failure `state` is as before. */
LEAT_WARN_UNUSED leat_status leati_fold_split(leati_block *result, const leat_spec *spec,
                                              leati_block *state, leati_block *rest,
                                              leat_error *err);
/* Makes a state that is kept own its memory where it pins much more. */
LEAT_WARN_UNUSED leat_status leati_fold_compact(leati_block *state, leat_error *err);

#endif
