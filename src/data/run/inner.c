/* Calling a function that returns a dataset, and opening what it returned. The inner dataset runs
 * on the thread that pulls. A failure is the function's, or that of opening; nothing stays open
 * then. No locks. */
#include "data/run/inner.h"
#include "data/rewrites/rewrite.h"
#include "data/run/apply.h"

leat_status leati_inner_check(const leat_dataset *dataset, const leat_function *function,
                              leat_error *err) {
    const char *name = dataset->op->name;
    leat_status status =
        leati_apply_check_function(name, "map_func", function, dataset->inputs[0]->spec, err);
    if (status == LEAT_OK &&
        leat_spec_get_kind(leat_function_output(function)) != LEAT_SPEC_DATASET) {
        char text[128];
        leat_spec_print(leat_function_output(function), text, sizeof(text));
        return leati_refuse(err, STRUCTURE,
                            "%s: map_func returns %s; expected a dataset (leat_graph_dataset_op)",
                            name, text);
    }
    return status;
}

leat_spec *leati_inner_spec(const leat_function *function) {
    return leat_spec_ref(leati_spec_component_element(leat_function_output(function), 0));
}

bool leati_inner_pure(const leat_dataset *dataset) {
    return !leati_graph_function_has(leati_rewrite_argument_function(dataset, "map_func"),
                                     LEATI_IMPURE | LEATI_STATEFUL);
}

void *leati_inner_share(const leat_dataset *dataset, leat_error *err) {
    return leati_program_new(leati_rewrite_argument_function(dataset, "map_func"), err);
}

void leati_inner_unshare(void *shared) {
    leati_program_free(shared);
}

leat_status leati_inner_init(leati_inner *inner, leati_node_state *node, leat_error *err) {
    const leati_program *program = leati_dataset_shared(node->dataset, err);
    inner->scratch = program == NULL ? NULL : leati_program_scratch_new(program, err);
    return inner->scratch == NULL ? LEAT_RESOURCE_EXHAUSTED : LEAT_OK;
}

void leati_inner_fini(leati_inner *inner) {
    leati_block_fini(&inner->result);
    leati_program_scratch_free(inner->scratch);
    *inner = (leati_inner){0};
}

/* Does the dataset give what the caller takes? A function that was read from JSON may promise other
 * elements than the dataset has that it makes. */
static leat_status check_promise(const leat_spec *promised, const leat_spec *found,
                                 leat_error *err) {
    if (promised == NULL || leat_spec_equal(promised, found))
        return LEAT_OK;
    leat_error local = {0};
    leat_spec *both = leati_spec_join(promised, found, &local);
    if (both == NULL && local.code == LEAT_RESOURCE_EXHAUSTED)
        return leati_error_pass(err, &local);
    /* The join says what is true of both: it is the promise where that promises no more. */
    bool fits = both != NULL && leat_spec_equal(both, promised);
    leat_spec_unref(both);
    if (fits)
        return LEAT_OK;
    char texts[2][128];
    leat_spec_print(promised, texts[0], sizeof(texts[0]));
    leat_spec_print(found, texts[1], sizeof(texts[1]));
    return leati_refuse(err, STRUCTURE,
                        "the function returned a dataset of %s; its output promises %s", texts[1],
                        texts[0]);
}

leat_status leati_inner_call(leati_inner *inner, leati_node_state *node, const leati_block *block,
                             int64_t row, int64_t call, leat_dataset **out, leat_error *err) {
    const leati_program *program = leati_dataset_shared(node->dataset, err);
    if (program == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    leat_status status =
        leati_run_rows(node, program, inner->scratch, block, row, 1, call, &inner->result, err);
    if (status != LEAT_OK)
        return status;
    leat_object *object = *(leat_object **)leati_column_row(&inner->result.columns[0], 0);
    if (!leati_dataset_of_object_check(object))
        return leati_fail(err, LEAT_INTERNAL, "the function's result is no dataset");
    const leat_spec *promised =
        leati_spec_component_element(leat_function_output(leati_program_function(program)), 0);
    status = check_promise(promised, ((leat_dataset *)object)->spec, err);
    if (status != LEAT_OK)
        return status;
    /* A reference of the caller's, because the next call writes over the block. */
    *out = leat_dataset_ref((leat_dataset *)object);
    leati_block_clear(&inner->result);
    return LEAT_OK;
}

leat_status leati_inner_open(leati_inner *inner, leati_node_state *node, const leati_block *block,
                             int64_t row, int64_t call, leati_iteration *iteration,
                             leati_input *out, leat_error *err) {
    leat_dataset *dataset = NULL;
    leat_status status = leati_inner_call(inner, node, block, row, call, &dataset, err);
    if (status != LEAT_OK)
        return status;
    /* The number of the call gives each dataset random numbers of its own. */
    leati_state_iteration_derive(node->iteration, (uint64_t)call, iteration);
    status = leati_input_open_dataset(out, node, dataset, iteration, err);
    leat_dataset_unref(dataset);
    return status;
}
