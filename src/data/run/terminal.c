/* What takes a whole dataset at once: reduce and get_single_element. Each makes an iterator, runs
 * it on the caller's thread and frees it. The first error ends the call. No locks. */
#include "data/run/apply.h"
#include "data/run/fold.h"
#include "data/run/iterator.h"
#include <string.h>

/* Runs the function on one element after the other; `state` ends as the last state. */
static leat_status fold(leat_iterator *iterator, const leati_program *program,
                        leati_scratch *scratch, const leat_spec *spec, leati_block *state,
                        leat_error *err) {
    leat_element element = {0};
    leati_block row = {0}, in = {0}, result = {0};
    leat_status status = LEAT_OK;
    for (int64_t call = 0; status == LEAT_OK; call++) {
        /* The number of the call keys the function's random numbers. */
        leati_call_context context = {.ordinal = call, .num_replicas = 1};
        int64_t failed = 0;
        bool ended = false;
        status = leati_iterator_element(iterator, &element, &ended, err);
        if (ended)
            break;
        if (status == LEAT_OK)
            status = leati_block_of_element(&element, &row, err);
        if (status == LEAT_OK)
            status = leati_fold_join(state, &row, 0, &in, err);
        if (status == LEAT_OK) {
            status =
                leati_program_run(program, scratch, &in, 0, 1, &context, &result, &failed, err);
            if (status != LEAT_OK) {
                leati_apply_as_internal("reduce_func", err);
                status = err->code;
            }
        }
        if (status == LEAT_OK)
            status = leati_fold_split(&result, spec, state, NULL, err);
        leati_block_clear(&in);
        leati_block_clear(&row);
    }
    leat_element_fini(&element);
    leati_block_fini(&row);
    leati_block_fini(&in);
    leati_block_fini(&result);
    return status;
}

static leat_status reduce(leat_dataset *dataset, const leat_element *initial_state,
                          const leat_function *function, leat_element *out, leat_error *err) {
    leati_block state = {0};
    leat_status status = leati_block_of_element(initial_state, &state, err);
    leat_spec *spec =
        status == LEAT_OK ? leati_fold_state(initial_state->spec, function, err) : NULL;
    leati_program *program = spec == NULL ? NULL : leati_program_new(function, err);
    leati_scratch *scratch = program == NULL ? NULL : leati_program_scratch_new(program, err);
    leat_iterator *iterator = scratch == NULL ? NULL : leat_iterator_new(dataset, NULL, err);
    status = iterator == NULL ? err->code : fold(iterator, program, scratch, spec, &state, err);
    if (status == LEAT_OK) {
        /* The end of the dataset stands in it, which is no failure. */
        memset(err, 0, sizeof(*err));
        status = leati_block_element(&state, spec, 0, out, err);
    }
    leat_iterator_free(iterator);
    leati_program_scratch_free(scratch);
    leati_program_free(program);
    leat_spec_unref(spec);
    leati_block_fini(&state);
    return status;
}

leat_status leat_dataset_reduce(leat_dataset *dataset, const leat_element *initial_state,
                                const leat_function *function, leat_element *out, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    if (dataset == NULL || function == NULL || initial_state == NULL ||
        initial_state->spec == NULL) {
        return err->code != LEAT_OK
                   ? err->code
                   : leati_refuse(err, VALUE,
                                  "reduce: dataset, initial_state or function is missing");
    }
    leat_status status =
        leati_fold_check("reduce", "reduce_func", function, initial_state->spec,
                         leat_dataset_spec(dataset), leat_function_output(function), err);
    return status == LEAT_OK ? reduce(dataset, initial_state, function, out, err) : status;
}

leat_status leat_dataset_get_single_element(leat_dataset *dataset, leat_element *out,
                                            leat_error *err) {
    LEATI_ERROR_DOOR(err);
    /* The end that is looked for leaves its error here, and is none of the caller's. */
    leat_error local = {0}, *e = &local;
    leat_element second = {0};
    leat_iterator *iterator = leat_iterator_new(dataset, NULL, err);
    if (iterator == NULL)
        return err->code;
    bool ended = false;
    leat_status status = leati_iterator_element(iterator, out, &ended, e);
    if (ended) {
        status = leati_fail(e, LEAT_INVALID_ARGUMENT,
                            "Dataset was empty; get_single_element expects one element");
    } else if (status == LEAT_OK) {
        /* A second element, or its failure, has to be asked for: nothing else tells that there is
         * one. */
        status = leati_iterator_element(iterator, &second, &ended, e);
        if (status == LEAT_OK && !ended) {
            status =
                leati_fail(e, LEAT_INVALID_ARGUMENT,
                           "Dataset had more than one element; get_single_element expects one");
        }
        if (status != LEAT_OK)
            leat_element_clear(out);
    }
    leat_element_fini(&second);
    leat_iterator_free(iterator);
    return status == LEAT_OK ? LEAT_OK : leati_error_pass(err, e);
}
