/* Running a function over rows. See apply.h; no locks: the scratch belongs to the caller's thread.
 */
#include "data/run/apply.h"
#include "core/spec.h"
#include "data/run/origins.h"
#include "data/run/place.h"
#include <stdio.h>
#include <string.h>

static leat_status as_invalid(leat_status status, leat_error *err) {
    if (status != LEAT_OUT_OF_RANGE)
        return status;
    /* A copy, since the text that is quoted stands in the record that is written. */
    leat_error cause = *err;
    return leati_fail(err, LEAT_INVALID_ARGUMENT,
                      "the function failed with OUT_OF_RANGE, which does not end a map: %s",
                      cause.text);
}

static leat_status run_rows(leati_node_state *node, const leati_program *program,
                            leati_scratch *scratch, const leati_block *in, int64_t begin, int64_t n,
                            int64_t ordinal, leati_block *out, leat_error *e) {
    /* The scratch counts for its whole life; the operator gets what this run adds. */
    int64_t called = leati_program_scratch_callbacks(scratch);
    int64_t recovered = leati_program_scratch_recovered(scratch);
    leati_call_context context = leati_state_node_context(node, ordinal);
    int64_t failed = 0;
    leat_status status =
        leati_program_run(program, scratch, in, begin, n, &context, out, &failed, e);
    /* A failed run leaves no rows: those before the failing one are computed again, alone. */
    if (status != LEAT_OK && failed > 0) {
        leat_error first = *e;
        int64_t again = 0;
        leat_status retry =
            leati_program_run(program, scratch, in, begin, failed, &context, out, &again, e);
        /* Only want of memory can fail what has succeeded; then the whole run is the failure. */
        if (retry == LEAT_OK)
            *e = first;
        else
            status = retry;
    }
    called = leati_program_scratch_callbacks(scratch) - called;
    if (called > 0)
        leati_counter_add(&node->counters.callbacks, called);
    recovered = leati_program_scratch_recovered(scratch) - recovered;
    if (recovered > 0)
        leati_counter_add(&node->counters.recovered, recovered);
    return status;
}

/* The error is that of the row behind those in `out`. */
static leat_status marked(leat_status status, const leati_program *program, const leati_block *in,
                          int64_t begin, const leati_block *out, leat_error *err) {
    if (status != LEAT_OK)
        leati_place_row(leati_program_function(program), in, begin + out->n, err);
    return status;
}

leat_status leati_run_rows(leati_node_state *node, const leati_program *program,
                           leati_scratch *scratch, const leati_block *in, int64_t begin, int64_t n,
                           int64_t ordinal, leati_block *out, leat_error *err) {
    leat_status status = run_rows(node, program, scratch, in, begin, n, ordinal, out, err);
    return marked(status, program, in, begin, out, err);
}

leat_status leati_apply(leati_node_state *node, const leati_program *program,
                        leati_scratch *scratch, const leati_block *in, int64_t begin, int64_t n,
                        int64_t ordinal, leati_block *out, leat_error *err) {
    leat_status status =
        as_invalid(run_rows(node, program, scratch, in, begin, n, ordinal, out, err), err);
    /* Also after a failure, for the rows before it. */
    if (node->gives_origins)
        leati_origins_derive(node, leati_program_function(program), in, begin, out);
    return marked(status, program, in, begin, out, err);
}

leat_status leati_apply_open(leati_called *called, const leat_object *function, leat_error *err) {
    leat_error local = {0};
    called->program = leati_program_new((const leat_function *)function, &local);
    called->scratch =
        called->program == NULL ? NULL : leati_program_scratch_new(called->program, &local);
    if (called->scratch == NULL)
        *err = local;
    return called->scratch == NULL ? local.code : LEAT_OK;
}

void leati_apply_close(leati_called *called) {
    leati_program_scratch_free(called->scratch);
    leati_program_free(called->program);
    *called = (leati_called){0};
}

static bool takes(const leat_function *function, const leat_spec *input) {
    const leat_spec *expected = leat_function_input(function);
    /* Components are compared, not trees: a function takes its arguments as a flat list. */
    int count = expected == NULL ? 0 : leat_spec_num_components(expected);
    if (leat_spec_num_components(input) != count)
        return false;
    for (int c = 0; c < count; c++) {
        leat_shape wanted = leat_spec_component_shape(expected, c);
        leat_shape found = leat_spec_component_shape(input, c);
        if (leat_spec_component_dtype(expected, c) != leat_spec_component_dtype(input, c) ||
            !leati_shape_compatible(&wanted, &found))
            return false;
    }
    return true;
}

leat_status leati_apply_check_function(const char *op, const char *argument,
                                       const leat_function *function, const leat_spec *input,
                                       leat_error *err) {
    if (function == NULL)
        return leati_refuse(err, VALUE, "%s: %s is NULL; pass a function", op, argument);
    if (takes(function, input))
        return LEAT_OK;
    char wanted[128] = "nothing", found[128];
    if (leat_function_input(function) != NULL)
        leat_spec_print(leat_function_input(function), wanted, sizeof(wanted));
    leat_spec_print(input, found, sizeof(found));
    return leati_refuse(
        err, STRUCTURE,
        "%s: %s takes %s, but the input's elements are %s; trace it with the input's "
        "spec",
        op, argument, wanted, found);
}

leat_status leati_apply_check_predicate(const char *op, const leat_function *predicate,
                                        const leat_spec *input, leat_error *err) {
    LEATI_TRY(leati_apply_check_function(op, "predicate", predicate, input, err));
    const leat_spec *output = leat_function_output(predicate);
    leat_shape scalar = LEAT_SCALAR, shape = leat_spec_shape(output);
    if (leat_spec_get_kind(output) != LEAT_SPEC_TENSOR || leat_spec_dtype(output) != LEAT_BOOL ||
        !leati_shape_compatible(&shape, &scalar)) {
        char text[256];
        leat_spec_print(output, text, sizeof(text));
        return leati_refuse(err, STRUCTURE, "%s: predicate returns %s; expected a bool scalar", op,
                            text);
    }
    return LEAT_OK;
}

leat_status leati_apply_check_flags(const leati_block *flags, leat_error *err) {
    for (int64_t i = 0; i < flags->n; i++) {
        leat_shape shape = leati_column_row_shape(&flags->columns[0], i);
        char text[128];
        if (shape.rank != 0) {
            return leati_refuse(err, SHAPE, "predicate returned shape %s; expected a scalar",
                                leati_shape_text(&shape, text));
        }
        /* Rows of the other forms have one shape. */
        if (flags->columns[0].form != LEATI_TENSORS)
            break;
    }
    return LEAT_OK;
}

void leati_apply_as_internal(const char *argument, leat_error *err) {
    if (err->code == LEAT_OUT_OF_RANGE) {
        char before[64];
        snprintf(before, sizeof(before), "%s failed with OUT_OF_RANGE", argument);
        leati_error_wrap(err, LEAT_INTERNAL, before);
    }
}

bool leati_apply_function_is_missing(const leat_function *function, const char *op,
                                     const char *argument, leat_dataset *const *inputs,
                                     int num_inputs, leat_error *err) {
    if (function != NULL)
        return false;
    if (err->code == LEAT_OK)
        leati_refuse(err, VALUE, "%s: %s is NULL; pass a function", op, argument);
    for (int i = 0; i < num_inputs; i++)
        leat_dataset_unref(inputs[i]);
    return true;
}
