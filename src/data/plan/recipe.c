/* What operators that stand for a pipeline from files share: see recipe.h. No locks. */
#include "data/plan/recipe.h"
#include "base/text.h"
#include "data/plan/seed_generator.h"
#include "file/glob.h"
#include <leat/data_ops.h>
#include <string.h>

static leat_status no_match(const leati_strings *patterns, const char *op, leat_error *err) {
    leati_text text = {0};
    for (int i = 0; i < patterns->count; i++)
        leati_text_addf(&text, "%s%s", i == 0 ? "" : ", ", patterns->values[i].data);
    leat_status status = leati_refuse(
        err, VALUE,
        "%s%sNo files matched pattern: %.400s; check the spelling and the working folder", op,
        op[0] == '\0' ? "" : ": ", text.data != NULL ? text.data : "(none was given)");
    leati_text_fini(&text);
    return status;
}

leat_status leati_recipe_match_names(const leati_strings *files, const char *op, leat_tensor *names,
                                     leat_error *err) {
    size_t count = (size_t)files->count;
    const char **patterns = leati_alloc(count, sizeof(*patterns));
    leati_paths paths = {0};
    leat_string *strings = NULL;
    leat_status status = LEAT_OK;
    if (patterns == NULL)
        return leati_no_memory(err);
    for (size_t i = 0; i < count && status == LEAT_OK; i++) {
        patterns[i] = files->values[i].data;
        /* The file system's paths end at the first 0, and would name another file. */
        if (strlen(patterns[i]) != files->values[i].size) {
            status =
                leati_refuse(err, VALUE, "file_pattern %zu has a byte of 0; expected a path", i);
        }
    }
    if (status == LEAT_OK)
        status = leati_glob(patterns, count, false, &paths, err);
    if (status == LEAT_OK && paths.count == 0)
        status = no_match(files, op, err);
    if (status == LEAT_OK) {
        strings = leati_alloc(paths.count, sizeof(*strings));
        status = strings == NULL ? leati_no_memory(err) : LEAT_OK;
    }
    for (size_t i = 0; i < paths.count && status == LEAT_OK; i++)
        strings[i] = (leat_string){.data = paths.values[i], .size = strlen(paths.values[i])};
    if (status == LEAT_OK) {
        status =
            leat_tensor_copy_of(LEAT_STRING, LEAT_SHAPE((int64_t)paths.count), strings, names, err);
    }
    leati_free(strings);
    leati_free(patterns);
    leati_fs_paths_fini(&paths);
    return status;
}

leat_dataset *leati_recipe_names(const leat_tensor *names, const int64_t pair[2], leat_error *err) {
    leat_spec *spec = leat_spec_tensor(LEAT_STRING, leat_tensor_shape(names), err);
    leat_element element = {0};
    leat_dataset *plan = NULL;
    if (spec != NULL && leat_element_set(&element, spec, names, err) == LEAT_OK)
        plan = leat_dataset_from_tensor_slices(&element, err);
    leat_element_fini(&element);
    leat_spec_unref(spec);
    if (plan == NULL || pair == NULL)
        return plan;
    /* A buffer for all of them: the order is any permutation. */
    return leati_dataset_shuffle_resolved(plan, names->dims[0], pair, err);
}

leat_status leati_recipe_epochs_read(const leat_dataset_epochs_options *options, leati_epochs *out,
                                     leat_error *err) {
    leat_dataset_epochs_options o = {LEAT_DATASET_EPOCHS_DEFAULTS};
    LEATI_TRY(LEATI_OPTIONS(leat_dataset_epochs_options, &o, options, err));
    *out = (leati_epochs){
        .num_epochs = o.num_epochs,
        .shuffle = o.shuffle,
        .shuffle_buffer_size = o.shuffle_buffer_size,
        .shuffle_seed = {.given = o.shuffle_seed.given, .value = o.shuffle_seed.value},
        .prefetch_buffer_size = o.prefetch_buffer_size};
    return LEAT_OK;
}

void leati_recipe_epochs_resolve(leati_epochs *epochs) {
    if (!epochs->shuffle)
        return;
    /* A seed that was given serves both; without one each draws its own. */
    leati_seed_resolve_once(epochs->shuffle_seed, &epochs->resolved, epochs->pair);
    leati_seed_resolve_once(epochs->shuffle_seed, &epochs->records_resolved, epochs->records_pair);
}

leat_dataset *leati_recipe_epochs_files(const leati_epochs *epochs, const leat_tensor *names,
                                        leat_error *err) {
    return leati_recipe_names(names, epochs->shuffle ? epochs->pair : NULL, err);
}

leat_dataset *leati_recipe_epochs_records(const leati_epochs *epochs, leat_dataset *records,
                                          leat_error *err) {
    if (records != NULL && epochs->shuffle) {
        records = leati_dataset_shuffle_resolved(records, epochs->shuffle_buffer_size,
                                                 epochs->records_pair, err);
    }
    int64_t count = epochs->num_epochs == LEAT_UNSET ? -1 : epochs->num_epochs;
    return count == 1 ? records : leat_dataset_repeat(records, count, err);
}

leat_dataset *leati_recipe_rearranged(leat_dataset *input, const int *order,
                                      const leat_spec *output, leat_error *err) {
    leat_function *function = NULL;
    size_t count = (size_t)leat_spec_num_components(output);
    if (input == NULL)
        return NULL;
    leat_value *outputs = leati_alloc(count, sizeof(*outputs));
    leat_graph *graph = outputs == NULL ? NULL : leat_graph_new(leat_dataset_spec(input), err);
    if (outputs == NULL)
        leati_no_memory(err);
    for (size_t i = 0; i < count && graph != NULL; i++)
        outputs[i] = leat_graph_argument(graph, order[i]);
    if (graph != NULL)
        function = leat_graph_finish(graph, outputs, (int)count, output, err);
    leati_free(outputs);
    if (function == NULL) {
        leat_dataset_unref(input);
        return NULL;
    }
    return leat_dataset_map(input, function, NULL, err);
}

leat_status leati_recipe_check_threads(const char *op, const char *name, int64_t threads,
                                       leat_error *err) {
    return threads > 0 || threads == LEAT_AUTOTUNE
               ? LEAT_OK
               : leati_refuse(err, VALUE, "%s: %s is %lld; expected at least 1, or AUTOTUNE (-1)",
                              op, name, (long long)threads);
}

bool leati_recipe_is_made(const leat_dataset *dataset) {
    return dataset->num_inputs == 1;
}

leat_status leati_recipe_finish(leat_dataset *dataset, leat_dataset *plan, leat_error *err) {
    if (plan == NULL)
        return err->code;
    /* The node was made without inputs. */
    leat_dataset **inputs = leati_alloc_resize(dataset->inputs, 1, sizeof(*inputs));
    if (inputs == NULL) {
        leat_dataset_unref(plan);
        return leati_no_memory(err);
    }
    inputs[0] = plan;
    dataset->inputs = inputs;
    dataset->num_inputs = 1;
    return LEAT_OK;
}

leat_dataset *leati_recipe_expand(const leat_dataset *dataset, leat_error *err) {
    (void)err;
    return leat_dataset_ref(dataset->inputs[0]);
}
