/* The plan that reads a saved run: see saved_reader.h.
 *
 * Happy path: the run's folder is listed and held against what the metadata say of it; its shards
 * become the rows of a dataset of datasets, and reader_func, or an interleave, makes one dataset of
 * them. Failures: what is missing or too much, before an element is read; what only the files
 * themselves tell comes from data/kept/saved_shard.c. No locks. */
#include "data/kept/saved_reader.h"
#include "base/minmax.h"
#include "core/spec.h"
#include "data/kept/saved_shard.h"
#include "data/run/apply.h"
#include "data/run/row_values.h"
#include "data/values/values.h"
#include <leat/data_ops.h>
#include <unistd.h>

leat_spec *leati_saved_reader_input(const leat_spec *spec, leat_error *err) {
    return leat_spec_dataset(leat_spec_dataset(leat_spec_ref(spec), err), err);
}

leat_status leati_saved_check_reader(const char *op, const leat_object *function,
                                     const leat_spec *spec, leat_error *err) {
    const leat_function *f = (const leat_function *)function;
    if (f == NULL)
        return LEAT_OK;
    leat_spec *input = leati_saved_reader_input(spec, err);
    leat_status status = input == NULL
                             ? LEAT_RESOURCE_EXHAUSTED
                             : leati_apply_check_function(op, "reader_func", f, input, err);
    leat_spec_unref(input);
    const leat_spec *output = leat_function_output(f);
    if (status == LEAT_OK && (leat_spec_get_kind(output) != LEAT_SPEC_DATASET ||
                              !leat_spec_equal(leati_spec_component_element(output, 0), spec))) {
        char found[128], expected[128];
        leat_spec_print(output, found, sizeof(found));
        leat_spec_print(spec, expected, sizeof(expected));
        return leati_refuse(err, STRUCTURE, "%s: reader_func returns %s; expected a dataset of %s",
                            op, found, expected);
    }
    return status;
}

leat_status leati_saved_check_shard(const char *op, const leat_object *function,
                                    const leat_spec *spec, leat_error *err) {
    const leat_function *f = (const leat_function *)function;
    if (f == NULL)
        return LEAT_OK;
    leat_status status = leati_apply_check_function(op, "shard_func", f, spec, err);
    const leat_spec *output = leat_function_output(f);
    if (status == LEAT_OK &&
        (leat_spec_get_kind(output) != LEAT_SPEC_TENSOR || leat_spec_dtype(output) != LEAT_INT64 ||
         leat_spec_shape(output).rank != 0)) {
        char text[128];
        leat_spec_print(output, text, sizeof(text));
        return leati_refuse(err, STRUCTURE,
                            "%s: `shard_func` must return a scalar int64; it returns %s", op, text);
    }
    return status;
}

leat_status leati_saved_shards(leati_node_state *node, const leati_program *program,
                               leati_scratch *scratch, const leati_block *block, int64_t begin,
                               int64_t n, int64_t ordinal, leati_block *out, leat_error *err) {
    const leat_function *function = leati_program_function(program);
    leati_call_context context = {.ordinal = ordinal, .num_replicas = 1};
    int64_t failed = 0;
    /* A second run of the good rows would show effects twice. */
    n = leati_graph_function_has(function, LEATI_IMPURE | LEATI_STATEFUL) ? 1 : n;
    if (node != NULL) {
        leat_status status =
            leati_run_rows(node, program, scratch, block, begin, n, ordinal, out, err);
        return out->n > 0 ? LEAT_OK : status;
    }
    leat_status status =
        leati_program_run(program, scratch, block, begin, n, &context, out, &failed, err);
    return status != LEAT_OK && failed > 0 ? leati_program_run(program, scratch, block, begin,
                                                               failed, &context, out, &failed, err)
                                           : status;
}

int64_t leati_saved_cycle(void) {
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return LEATI_MAX(1, processors);
}

static int same(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    (void)capacity;
    outputs[0] = leat_graph_argument(graph, 0);
    return 1;
}

/* One object per shard, as the rows of a dataset of datasets. */
static leat_dataset *shards_dataset(const char *run, const leati_paths *names,
                                    const leati_saved_shard_kind *kind,
                                    const leati_saved_counts *counts, leat_error *err) {
    static const leat_shape scalar = {.rank = 0};
    leati_block block = {0};
    leat_buffer *buffer = leati_buffer_of_objects((int64_t)names->count, err);
    leat_spec *element = leat_spec_dataset(leat_spec_ref(kind->spec), err);
    leat_dataset *out = NULL;
    leat_status status = buffer == NULL || element == NULL ? LEAT_RESOURCE_EXHAUSTED
                                                           : leati_block_prepare(&block, 1, err);
    if (status != LEAT_OK) {
        leat_buffer_unref(buffer);
        leat_spec_unref(element);
        leati_block_fini(&block);
        return NULL;
    }
    leat_object **objects = leat_buffer_data(buffer);
    leati_column_strided(&block.columns[0], LEAT_OBJECT, &scalar, (void *)objects, sizeof(*objects),
                         buffer);
    for (size_t i = 0; i < names->count && status == LEAT_OK; i++) {
        const leati_saved_shard *shard = leati_saved_counts_shard(counts, names->values[i]);
        char *folder = leati_saved_path(run, names->values[i], err);
        if (folder != NULL)
            objects[i] = (leat_object *)leati_saved_shard_dataset(
                folder, kind, shard == NULL ? NULL : shard->files, err);
        leati_free(folder);
        status = objects[i] == NULL ? LEAT_RESOURCE_EXHAUSTED : LEAT_OK;
    }
    block.n = (int64_t)names->count;
    if (status == LEAT_OK)
        out = leati_row_values_dataset(&block, element, err);
    leat_spec_unref(element);
    leati_block_fini(&block);
    return out;
}

/* The dataset that `function` makes of the shards (given). */
static leat_dataset *call_reader(const leat_function *function, leat_dataset *shards,
                                 leat_error *err) {
    leati_call_context context = {.num_replicas = 1};
    leati_program *program = leati_program_new(function, err);
    leati_scratch *scratch = program == NULL ? NULL : leati_program_scratch_new(program, err);
    leat_buffer *buffer = scratch == NULL ? NULL : leati_buffer_of_objects(1, err);
    leati_block in = {0}, result = {0};
    leat_dataset *out = NULL;
    int64_t failed = 0;
    if (buffer != NULL && leati_block_prepare(&in, 1, err) == LEAT_OK) {
        leat_shape scalar = LEAT_SCALAR;
        *(leat_object **)leat_buffer_data(buffer) = leati_object_ref(shards);
        leati_column_strided(&in.columns[0], LEAT_OBJECT, &scalar, leat_buffer_data(buffer),
                             sizeof(leat_object *), leat_buffer_ref(buffer));
        in.n = 1;
        if (leati_program_run(program, scratch, &in, 0, 1, &context, &result, &failed, err) ==
            LEAT_OK)
            out = leat_dataset_ref(*(leat_dataset **)leati_column_row(&result.columns[0], 0));
        else
            leati_prefix(err, "reader_func");
    }
    leati_block_fini(&in);
    leati_block_fini(&result);
    leat_buffer_unref(buffer);
    leati_program_scratch_free(scratch);
    leati_program_free(program);
    leat_dataset_unref(shards);
    return out;
}

/* What is to be read when the run's folder is gone: nothing, if there was nothing. Folders without
 * files get lost where files are copied or kept under version control. `elements` is how many the
 * metadata speak of; negative: nobody knows. */
static leat_dataset *plan_of_nothing(const char *run, int64_t elements, const leat_spec *spec,
                                     leat_error *err) {
    leati_block none = {0};
    if (elements == 0)
        return leati_row_values_dataset(&none, spec, err);
    if (elements > 0)
        leati_fail_in_file(err, LEAT_DATA_LOSS, run, -1, false,
                           "the run is gone: the metadata speak of %lld elements in it, found 0; "
                           "bring it back, or save the dataset again",
                           (long long)elements);
    else
        leati_fail_in_file(err, LEAT_NOT_FOUND, run, -1, false,
                           "the run that the metadata speak of is gone; bring it back, or remove "
                           "the metadata to write it again");
    return NULL;
}

/* The dataset of the shards of the run folder `run`; *nothing: of elements, of which there are
 * none. */
static leat_dataset *open_shards(const char *run, const leati_saved_info *info,
                                 const leati_saved_shard_kind *kind,
                                 const leati_saved_counts *counts, bool *nothing, leat_error *err) {
    leati_paths names = {0};
    leat_error local = {0};
    leat_dataset *out = NULL;
    leat_status status = leati_saved_run_shards(run, &names, &local);
    *nothing = status == LEAT_NOT_FOUND;
    if (*nothing) {
        out = plan_of_nothing(run, counts->known ? counts->elements : info->num_elements,
                              kind->spec, err);
    } else if (status != LEAT_OK) {
        leati_error_pass(err, &local);
    } else {
        if (counts->known)
            status = leati_saved_counts_check_run(counts, run, &names, err);
        out = status == LEAT_OK ? shards_dataset(run, &names, kind, counts, err) : NULL;
    }
    leati_fs_paths_fini(&names);
    return out;
}

leat_dataset *leati_saved_plan(const char *folder, const char *run, leat_compression compression,
                               const leat_spec *spec, const leat_object *reader_func,
                               int64_t cycle_length, leat_error *err) {
    leati_saved_counts counts = {0};
    leati_saved_info info;
    leat_dataset *shards = NULL;
    bool nothing = false;
    leat_status status = leati_saved_info_of_run(folder, run, &info, &counts, err);
    char *path = status == LEAT_OK ? leati_saved_path(folder, info.run, err) : NULL;
    if (path != NULL) {
        leati_saved_shard_kind kind = {compression, spec,
                                       counts.known ? counts.each : info.num_dtypes};
        /* Only of a save the number is known without counts: a snapshot of TensorFlow's has none.
         */
        info.num_elements = info.hash[0] != '\0' ? -1 : info.num_elements;
        shards = open_shards(path, &info, &kind, &counts, &nothing, err);
    }
    leati_saved_counts_fini(&counts);
    leati_free(path);
    return shards == NULL || nothing ? shards
                                     : leati_saved_read(shards, reader_func, cycle_length, err);
}

leat_dataset *leati_saved_read(leat_dataset *shards, const leat_object *reader_func,
                               int64_t cycle_length, leat_error *err) {
    if (reader_func != NULL)
        return call_reader((const leat_function *)reader_func, shards, err);
    leat_dataset_interleave_options options = {LEAT_DATASET_INTERLEAVE_DEFAULTS};
    options.cycle_length = cycle_length;
    options.num_parallel_calls = LEAT_AUTOTUNE;
    return leat_dataset_interleave(shards, LEAT_TRACE(same, NULL, leat_dataset_spec(shards), err),
                                   &options, err);
}
