/* make_batched_features_dataset: batches of features from files of serialised tf.train.Examples
 * (tf.data.experimental.make_batched_features_dataset).
 *
 * Stands for TensorFlow's pipeline: the files that match, in a random order; their TFRecords, read
 * in turns; shuffle, repeat, batch, parse_example_dataset, and prefetch. The plan is made at
 * construction (data/plan/recipe.h) and there is nothing to run here. The files are found once. */
#include "data/plan/argument_rows.h"
#include "data/plan/recipe.h"
#include "data/source/files.h"
#include <leat/data_ops.h>
#include <string.h>

struct batched_args {
    leati_strings file_pattern;
    int64_t batch_size;
    leat_spec *features;
    leat_element defaults;
    char *label_key;
    leati_strings reader_args;
    leati_epochs epochs;
    int64_t reader_num_threads;
    int64_t parser_num_threads;
    bool sloppy_ordering;
    bool drop_final_batch;
};

#define ROW(field) .offset = offsetof(struct batched_args, field)

static const leati_row batched_rows[] = {
    {.name = "file_pattern",
     .type = LEATI_ROW_STRINGS,
     .flags = LEATI_REQUIRED,
     ROW(file_pattern),
     .doc = "One glob pattern or a list of them."},
    LEATI_ROW_BATCH_SIZE(struct batched_args, "Records of a batch."),
    {.name = "features",
     .type = LEATI_ROW_SPEC,
     .flags = LEATI_REQUIRED,
     ROW(features),
     .doc = "As in parse_example_dataset."},
    {.name = "defaults",
     .type = LEATI_ROW_ELEMENT,
     .flags = LEATI_NONE,
     ROW(defaults),
     .doc = "As in parse_example_dataset."},
    {.name = "label_key",
     .type = LEATI_ROW_STRING,
     .flags = LEATI_NONE,
     ROW(label_key),
     .doc = "A feature that comes apart: elements are pairs of the others and it."},
    {.name = "reader_args",
     .type = LEATI_ROW_STRINGS,
     .flags = LEATI_NONE,
     ROW(reader_args),
     .doc = "What tf_record_dataset takes behind the file: its compression_type."},
    LEATI_EPOCHS_ROWS(struct batched_args),
    {.name = "reader_num_threads",
     .type = LEATI_ROW_INT,
     .flags = LEATI_AUTOTUNE | LEATI_NONE,
     ROW(reader_num_threads),
     .default_number = 1,
     .doc = "Files read in turns."},
    {.name = "parser_num_threads",
     .type = LEATI_ROW_INT,
     .flags = LEATI_AUTOTUNE | LEATI_NONE,
     ROW(parser_num_threads),
     .default_number = 2,
     .doc = "Batches parsed at a time."},
    {.name = "sloppy_ordering",
     .type = LEATI_ROW_BOOL,
     ROW(sloppy_ordering),
     .doc = "Accepted; the order is the same."},
    {.name = "drop_final_batch",
     .type = LEATI_ROW_BOOL,
     ROW(drop_final_batch),
     .doc = "Leave out a last batch that is smaller."},
    {0},
};

/* `context` is tf_record_dataset's arguments as JSON, without the file that the argument names. */
static int trace_reader(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)capacity;
    leat_value name = leat_graph_argument(graph, 0);
    outputs[0] = leat_graph_dataset_op(graph, "tf_record_dataset", context, NULL, 0,
                                       (const char *const[]){"filenames"}, &name, 1);
    return 1;
}

/* The function from a file's name to its records. */
static leat_function *reader_of(const struct batched_args *args, const leat_spec *input,
                                leat_error *err) {
    json_t *json = json_object();
    if (json != NULL && args->reader_args.count > 0) {
        /* The compression and nothing else: batched_check refuses more values. */
        const leat_string *type = &args->reader_args.values[0];
        if (json_object_set_new(json, "compression_type",
                                leati_json_of_string(type->data, type->size)) != 0) {
            json_decref(json);
            json = NULL;
        }
    }
    if (json == NULL)
        leati_no_memory(err);
    char *text = json == NULL ? NULL : leati_json_print(json, 0, false, err);
    json_decref(json);
    leat_function *function = text == NULL ? NULL : LEAT_TRACE(trace_reader, text, input, err);
    if (text == NULL)
        leati_no_memory(err);
    leati_free(text);
    return function;
}

/* Elements as pairs of all features but one, and that one. */
static leat_dataset *split_label(leat_dataset *input, const char *key, leat_error *err) {
    const leat_spec *spec = leat_dataset_spec(input);
    int count = spec == NULL ? 0 : leat_spec_num_children(spec), kept = 0, put = 0, first = 0;
    int components = spec == NULL ? 0 : leat_spec_num_components(spec), label = -1, label_first = 0;
    leat_spec **children = leati_alloc_zero((size_t)count + 1, sizeof(*children));
    const char **keys = leati_alloc_zero((size_t)count + 1, sizeof(*keys));
    int *order = leati_alloc_zero((size_t)components + 1, sizeof(*order));
    leat_dataset *out = NULL;
    if (children == NULL || keys == NULL || order == NULL) {
        leati_no_memory(err);
        leat_dataset_unref(input);
        goto done;
    }
    for (int i = 0; i < count; i++) {
        int parts = leat_spec_num_components(leat_spec_child(spec, i));
        if (strcmp(leat_spec_key(spec, i), key) == 0) {
            label = i;
            label_first = first;
        } else {
            for (int p = 0; p < parts; p++)
                order[put++] = first + p;
            keys[kept] = leat_spec_key(spec, i);
            children[kept++] = leat_spec_ref(leat_spec_child(spec, i));
        }
        first += parts;
    }
    /* batched_check has found the label among the features, so `label` is set. */
    leat_spec *pair[2] = {leat_spec_dict(keys, children, kept, err),
                          leat_spec_ref(leat_spec_child(spec, label))};
    /* What is left are the label's components, which follow one another. */
    for (int c = label_first; put < components; c++)
        order[put++] = c;
    /* What the dict and the tuple are made of is given to them, also where a NULL makes them
     * fail. */
    leat_spec *output = leat_spec_tuple(pair, 2, err);
    if (output != NULL)
        out = leati_recipe_rearranged(input, order, output, err);
    else
        leat_dataset_unref(input);
    leat_spec_unref(output);
done:
    leati_free(children);
    leati_free(keys);
    leati_free(order);
    return out;
}

/* The files' records, read in turns. `files` is given; NULL passes an earlier failure on. */
static leat_dataset *records_of(const struct batched_args *args, leat_dataset *files,
                                leat_error *err) {
    leat_function *reader = files == NULL ? NULL : reader_of(args, leat_dataset_spec(files), err);
    if (reader == NULL) {
        leat_dataset_unref(files);
        return NULL;
    }
    /* As in TensorFlow AUTOTUNE takes today's interleave, a number the legacy one. */
    if (args->reader_num_threads == LEAT_AUTOTUNE) {
        leat_dataset_interleave_options options = {LEAT_DATASET_INTERLEAVE_DEFAULTS};
        options.num_parallel_calls = LEAT_AUTOTUNE;
        return leat_dataset_interleave(files, reader, &options, err);
    }
    leat_dataset_parallel_interleave_options options = {LEAT_DATASET_PARALLEL_INTERLEAVE_DEFAULTS,
                                                        .sloppy = args->sloppy_ordering};
    return leat_dataset_parallel_interleave(files, reader, args->reader_num_threads, &options, err);
}

/* Each step is given the one before; a NULL passes through all that follow, with its error. */
static leat_dataset *make_plan(const struct batched_args *args, leat_error *err) {
    leat_tensor names = {0};
    if (leati_recipe_match_names(&args->file_pattern, "make_batched_features_dataset", &names,
                                 err) != LEAT_OK)
        return NULL;
    /* Records that come forever fill every batch, so the batches' size can be static. */
    leat_dataset_batch_options batch = {LEAT_DATASET_BATCH_DEFAULTS,
                                        .drop_remainder = args->drop_final_batch ||
                                                          args->epochs.num_epochs == LEAT_UNSET};
    leat_dataset_parse_example_options parse = {LEAT_DATASET_PARSE_EXAMPLE_DEFAULTS,
                                                .defaults = &args->defaults};
    parse.num_parallel_calls = args->parser_num_threads;
    leat_dataset *plan = leati_recipe_epochs_files(&args->epochs, &names, err);
    leat_tensor_unref(&names);
    plan = records_of(args, plan, err);
    plan = leati_recipe_epochs_records(&args->epochs, plan, err);
    plan = leat_dataset_batch(plan, args->batch_size, &batch, err);
    plan = leat_dataset_parse_example(plan, args->features, &parse, err);
    /* An empty key is no key, as in Python. */
    if (plan != NULL && args->label_key != NULL && args->label_key[0] != '\0')
        plan = split_label(plan, args->label_key, err);
    return leat_dataset_prefetch(plan, args->epochs.prefetch_buffer_size, err);
}

static leat_status batched_check(leat_dataset *dataset, leat_error *err) {
    struct batched_args *args = dataset->args;
    leat_error local = {0};
    /* A copy brings its plan as its input: files are not looked for again. */
    if (leati_recipe_is_made(dataset))
        return LEAT_OK;
    if (args->reader_args.count > 1) {
        return leati_refuse(
            err, VALUE,
            "make_batched_features_dataset: reader_args has %d values; expected the "
            "compression_type alone",
            args->reader_args.count);
    }
    bool known = args->label_key == NULL || args->label_key[0] == '\0' || args->features == NULL;
    for (int i = 0; !known && i < leat_spec_num_children(args->features); i++) {
        const char *key = leat_spec_key(args->features, i);
        known = key != NULL && strcmp(key, args->label_key) == 0;
    }
    if (!known) {
        return leati_refuse(
            err, VALUE,
            "make_batched_features_dataset: label_key is \"%.100s\"; expected one of "
            "the features",
            args->label_key);
    }
    static const char op[] = "make_batched_features_dataset";
    leat_status status =
        leati_recipe_check_threads(op, "reader_num_threads", args->reader_num_threads, err);
    if (status == LEAT_OK) {
        status =
            leati_recipe_check_threads(op, "parser_num_threads", args->parser_num_threads, err);
    }
    if (status != LEAT_OK)
        return status;
    leati_recipe_epochs_resolve(&args->epochs);
    status = leati_recipe_finish(dataset, make_plan(args, &local), &local);
    if (status != LEAT_OK)
        *err = local;
    return status;
}

const leati_dataset_op leati_op_make_batched_features_dataset = {
    .name = "make_batched_features_dataset",
    .version = 1,
    .doc = "Batches of features from files of serialised tf.train.Examples. Runs, is saved and "
           "restored as the pipeline that it stands for.",
    .names = "experimental.make_batched_features_dataset",
    .num_inputs = -1,
    .flow = LEATI_SOURCE,
    .shards = LEATI_SHARD_AS_PLAN,
    .splits = LEATI_SPLITS_THROUGH,
    .batches = LEATI_BATCHES_AS_PLAN,
    .flags = LEATI_OP_SHARED_DRAW | LEATI_OP_OWN_INPUTS,
    .args_size = sizeof(struct batched_args),
    .rows = batched_rows,
    .check = batched_check,
    .expand = leati_recipe_expand,
};

leat_dataset *
leat_dataset_make_batched_features(const char *const *file_pattern, int num_patterns,
                                   int64_t batch_size, const leat_spec *features,
                                   const leat_dataset_make_batched_features_options *options,
                                   leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_dataset_make_batched_features_options o = {LEAT_DATASET_MAKE_BATCHED_FEATURES_DEFAULTS};
    leati_epochs epochs = {0};
    if (LEATI_OPTIONS(leat_dataset_make_batched_features_options, &o, options, err) != LEAT_OK ||
        leati_recipe_epochs_read(o.epochs, &epochs, err) != LEAT_OK)
        return NULL;
    leat_string reader = {.data = o.compression_type,
                          .size = o.compression_type == NULL ? 0 : strlen(o.compression_type)};
    struct batched_args args = {.batch_size = batch_size,
                                .features = leat_spec_ref(features),
                                .label_key = (char *)(uintptr_t)o.label_key,
                                .epochs = epochs,
                                .reader_num_threads = o.reader_num_threads,
                                .parser_num_threads = o.parser_num_threads,
                                .sloppy_ordering = o.sloppy_ordering,
                                .drop_final_batch = o.drop_final_batch};
    if (o.compression_type != NULL)
        args.reader_args = (leati_strings){.values = &reader, .count = 1};
    if (o.defaults != NULL)
        args.defaults = *o.defaults;
    leat_dataset *dataset = NULL;
    if (leati_files_view_names("make_batched_features_dataset", file_pattern, num_patterns,
                               &args.file_pattern, err) == LEAT_OK)
        dataset = leati_dataset_new(&leati_op_make_batched_features_dataset, &args, NULL, 0, err);
    leati_free(args.file_pattern.values);
    leat_spec_unref(args.features);
    return dataset;
}
