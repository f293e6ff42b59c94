/* The terminal operations of a case: what is asked of a dataset instead of iterating over it. */
#include "data/run/fold.h"
#include "golden.h"
#include <string.h>

/* The named function of (state, element), made again while the shapes of its state change. */
static leat_function *fold_function(const char *name, const leat_spec *state,
                                    const leat_spec *element, leat_error *err) {
    leat_spec *input = leati_fold_input(state, element, err);
    while (input != NULL) {
        leat_function *function = golden_function(name, input, err);
        leat_spec *other =
            function == NULL ? NULL : leati_fold_relax(input, leat_function_output(function), err);
        leat_spec_unref(input);
        if (other == NULL)
            return function;
        leat_function_unref(function);
        input = other;
    }
    return NULL;
}

static leat_status reduce(leat_dataset *dataset, const json_t *args, leat_element *out,
                          leat_error *err) {
    leat_element state = {0};
    leat_status status = leati_json_to_element(json_object_get(args, "initial_state"), &state, err);
    if (status != LEAT_OK)
        return status;
    leat_function *function = fold_function(golden_text(args, "reduce_func"), state.spec,
                                            leat_dataset_spec(dataset), err);
    status =
        function == NULL ? err->code : leat_dataset_reduce(dataset, &state, function, out, err);
    leat_function_unref(function);
    leat_element_fini(&state);
    return status;
}

leat_status golden_terminal(leat_dataset *dataset, const json_t *terminal, leat_element *out,
                            leat_error *err) {
    const char *op = golden_text(terminal, "op");
    const json_t *args = json_object_get(terminal, "args");
    if (strcmp(op, "reduce") == 0)
        return reduce(dataset, args, out, err);
    if (strcmp(op, "get_single_element") == 0)
        return leat_dataset_get_single_element(dataset, out, err);
    if (strcmp(op, "at") == 0)
        return leat_dataset_at(dataset, golden_int(args, "index", 0), out, err);
    return leati_fail(err, LEAT_UNIMPLEMENTED, "no terminal operation is named %s", op);
}

bool golden_terminal_known(const char *op) {
    return strcmp(op, "reduce") == 0 || strcmp(op, "get_single_element") == 0 ||
           strcmp(op, "at") == 0;
}
