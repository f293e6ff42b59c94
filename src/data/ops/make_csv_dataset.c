/* make_csv_dataset: batches of columns from CSV files (tf.data.experimental.make_csv_dataset).
 *
 * Stands for TensorFlow's pipeline: the files that match, in a random order; their records by
 * csv_dataset, read in turns; shuffle, repeat, batch, the columns by name, and prefetch. Names that
 * are not given are the first rows of the files, which must be equal; dtypes that are not given are
 * inferred from the first rows (data/source/csv_probe.h), and such columns are optional. Files are
 * looked into and the plan is made at construction (data/plan/recipe.h); there is nothing to run
 * here. */
#include "base/minmax.h"
#include "core/tensor.h"
#include "data/plan/argument_rows.h"
#include "data/plan/recipe.h"
#include "data/source/csv_probe.h"
#include "data/source/files.h"
#include <leat/data_ops.h>
#include <stdlib.h>
#include <string.h>

struct make_csv_args {
    leati_strings file_pattern;
    int64_t batch_size;
    leati_strings column_names;
    leat_element column_defaults;
    char *label_name;
    leat_element select_columns;
    char *field_delim;
    bool use_quote_delim;
    char *na_value;
    bool header;
    leati_epochs epochs;
    int64_t num_parallel_reads;
    bool sloppy;
    int64_t num_rows_for_inference;
    char *compression_type;
    bool ignore_errors;
    char *encoding;
};

#define ROW(field) .offset = offsetof(struct make_csv_args, field)
#define TEXT_ROW(text, field, sentence)                                                            \
    { .name = text, .type = LEATI_ROW_STRING, .flags = LEATI_NONE, ROW(field), .doc = sentence }

static const leati_row make_csv_rows[] = {
    {.name = "file_pattern",
     .type = LEATI_ROW_STRINGS,
     .flags = LEATI_REQUIRED,
     ROW(file_pattern),
     .doc = "One glob pattern or a list of them."},
    LEATI_ROW_BATCH_SIZE(struct make_csv_args, "Records of a batch."),
    {.name = "column_names",
     .type = LEATI_ROW_STRINGS,
     .flags = LEATI_NONE,
     ROW(column_names),
     .doc = "The columns of the files; none: what their first rows say."},
    {.name = "column_defaults",
     .type = LEATI_ROW_ELEMENT,
     .flags = LEATI_NONE,
     ROW(column_defaults),
     .doc = "A default for each selected column, as csv_dataset's; none: inferred, 0 or \"\"."},
    TEXT_ROW("label_name", label_name,
             "A column that comes apart: elements are pairs of the others and it."),
    {.name = "select_columns",
     .type = LEATI_ROW_ELEMENT,
     .flags = LEATI_NONE,
     ROW(select_columns),
     .doc = "Numbers or names of the columns that are taken; none: all."},
    LEATI_CSV_FIELD_ROWS(struct make_csv_args),
    {.name = "header",
     .type = LEATI_ROW_BOOL,
     ROW(header),
     .default_number = 1,
     .doc = "The first record of each file is no data."},
    LEATI_EPOCHS_ROWS(struct make_csv_args),
    {.name = "num_parallel_reads",
     .type = LEATI_ROW_INT,
     .flags = LEATI_AUTOTUNE | LEATI_NONE,
     ROW(num_parallel_reads),
     .default_number = 1,
     .doc = "Files read in turns."},
    {.name = "sloppy",
     .type = LEATI_ROW_BOOL,
     ROW(sloppy),
     .doc = "Accepted; the order is the same."},
    {.name = "num_rows_for_inference",
     .type = LEATI_ROW_INT,
     .flags = LEATI_NONE,
     ROW(num_rows_for_inference),
     .default_number = 100,
     .doc = "Rows from which dtypes are inferred; a negative number: all."},
    TEXT_ROW("compression_type", compression_type, "Of the files: \"\", \"GZIP\" or \"ZLIB\"."),
    {.name = "ignore_errors",
     .type = LEATI_ROW_BOOL,
     ROW(ignore_errors),
     .doc = "Leave out records that fail."},
    {.name = "encoding",
     .type = LEATI_ROW_STRING,
     ROW(encoding),
     .default_text = "utf-8",
     .doc = "The encoding of the files: utf-8."},
    {0},
};

/* What is found out at construction. */
struct columns {
    leati_strings names; /* of all columns; views or copies, see owns_names */
    bool owns_names;
    int64_t *selected; /* numbers of the selected columns, ascending */
    int count;         /* of the selected columns */
    bool all;          /* nothing was selected */
    leat_tensor *defaults;
    leat_spec *defaults_spec;
};

static void columns_fini(struct columns *c) {
    for (int i = 0; i < c->count && c->defaults != NULL; i++)
        leat_tensor_unref(&c->defaults[i]);
    if (c->owns_names)
        leati_strings_fini(&c->names);
    leat_spec_unref(c->defaults_spec);
    leati_free(c->defaults);
    leati_free(c->selected);
}

static leat_status refuse(leat_error *err, const char *what) {
    return leati_refuse(err, VALUE, "make_csv_dataset: %s", what);
}

static bool same_text(leat_string a, leat_string b) {
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

/* ---- looking into the files ---- */

static leat_status open_probe(const struct make_csv_args *args, leat_string name,
                              leati_csv_probe *probe, leat_error *err) {
    leat_compression compression = LEAT_COMPRESSION_NONE;
    leat_status status = leat_compression_from_name(args->compression_type, &compression, err);
    if (status == LEAT_OK && compression != LEAT_COMPRESSION_NONE &&
        compression != LEAT_COMPRESSION_GZIP) {
        return refuse(
            err, "`compression_type` ZLIB is not supported for probing columns: plain and GZIP "
                 "files are looked into; give column_names and column_defaults");
    }
    char *path = status == LEAT_OK ? leati_strndup(name.data, name.size) : NULL;
    if (path == NULL)
        return status == LEAT_OK ? leati_no_memory(err) : status;
    status = leati_csv_probe_open(probe, path, compression, args->field_delim[0],
                                  args->use_quote_delim, err);
    leati_free(path);
    return status;
}

/* The first row of each file, which must be the same. */
static leat_status infer_names(const struct make_csv_args *args, const leat_tensor *files,
                               struct columns *c, leat_error *err) {
    const leat_string *names = files->data;
    leat_status status = LEAT_OK;
    for (int64_t f = 0; f < files->dims[0] && status == LEAT_OK; f++) {
        leati_csv_probe probe = {0};
        bool end = false;
        status = open_probe(args, names[f], &probe, err);
        if (status == LEAT_OK)
            status = leati_csv_probe_row(&probe, &end, err);
        if (status == LEAT_OK && end) {
            status = leati_refuse(err, VALUE, "make_csv_dataset: %.*s is empty; expected a header",
                                  (int)LEATI_MIN(names[f].size, 300), names[f].data);
        }
        leat_string *fields = NULL;
        if (status == LEAT_OK && (fields = leati_alloc(probe.count, sizeof(*fields))) == NULL)
            status = leati_no_memory(err);
        /* The first file's fields are copied below and say the names; others are compared with
         * them. */
        bool same = f == 0 || probe.count == (size_t)c->names.count;
        for (size_t i = 0; i < probe.count && status == LEAT_OK; i++) {
            fields[i] = leati_csv_probe_field(&probe, i);
            same = same && (f == 0 || same_text(fields[i], c->names.values[i]));
        }
        if (status == LEAT_OK && !same) {
            status = refuse(err, "the files have different headers; expected the same columns");
        } else if (status == LEAT_OK && f == 0) {
            status = leati_strings_copy(fields, (int64_t)probe.count, &c->names, err);
            c->owns_names = status == LEAT_OK;
        }
        leati_free(fields);
        leati_csv_probe_close(&probe);
    }
    return status;
}

/* Widens the dtypes by the rows of one file; *left counts down the rows. */
static leat_status infer_from(const struct make_csv_args *args, const struct columns *c,
                              leati_csv_probe *probe, int64_t *left, leat_dtype *dtypes,
                              leat_error *err) {
    leat_string na = {.data = args->na_value, .size = strlen(args->na_value)};
    bool end = false;
    leat_status status = args->header ? leati_csv_probe_row(probe, &end, err) : LEAT_OK;
    if (status == LEAT_OK && end)
        return refuse(err, "a file has no header row");
    /* A negative *left never gets to 0: all rows are looked at. */
    for (int64_t row = 1; status == LEAT_OK && *left != 0; row++) {
        status = leati_csv_probe_row(probe, &end, err);
        if (status != LEAT_OK || end)
            return status;
        if (probe->count != (size_t)c->names.count) {
            return leati_refuse(err, VALUE,
                                "make_csv_dataset: Problem inferring types: CSV row %lld has %zu "
                                "number of fields. Expected: %d, or give column_defaults",
                                (long long)row, probe->count, c->names.count);
        }
        for (int i = 0; i < c->count; i++) {
            leat_string field = leati_csv_probe_field(probe, (size_t)c->selected[i]);
            dtypes[i] = leati_csv_infer(field, na, dtypes[i]);
        }
        *left -= *left > 0;
    }
    return status;
}

static leat_status infer_defaults(const struct make_csv_args *args, const leat_tensor *files,
                                  struct columns *c, leat_error *err) {
    const leat_string *names = files->data;
    int64_t left = args->num_rows_for_inference;
    leat_dtype *dtypes = leati_alloc_zero((size_t)c->count + 1, sizeof(*dtypes));
    leat_status status = dtypes == NULL ? leati_no_memory(err) : LEAT_OK;
    for (int64_t f = 0; f < files->dims[0] && status == LEAT_OK && left != 0; f++) {
        leati_csv_probe probe = {0};
        status = open_probe(args, names[f], &probe, err);
        if (status == LEAT_OK)
            status = infer_from(args, c, &probe, &left, dtypes, err);
        leati_csv_probe_close(&probe);
    }
    for (int i = 0; i < c->count && status == LEAT_OK; i++) {
        /* A column without a value in all of these rows is taken for strings. */
        leat_dtype dtype = dtypes[i] == LEAT_INVALID ? LEAT_STRING : dtypes[i];
        status = leat_tensor_new(dtype, LEAT_SHAPE(1), &c->defaults[i], err);
        /* Zeros are the default 0, and the empty string. */
        if (status == LEAT_OK)
            memset(c->defaults[i].data, 0, leat_tensor_bytes(&c->defaults[i]));
    }
    leati_free(dtypes);
    return status;
}

/* ---- columns ---- */

static leat_status check_names(const struct columns *c, leat_error *err) {
    for (int i = 0; i < c->names.count; i++) {
        /* Names become keys of a dict, which end at their first byte of 0. */
        if (memchr(c->names.values[i].data, '\0', c->names.values[i].size) != NULL)
            return refuse(err, "a column's name has a byte of 0");
        for (int k = 0; k < i; k++) {
            if (same_text(c->names.values[i], c->names.values[k])) {
                return leati_refuse(
                    err, VALUE,
                    "make_csv_dataset: Either `column_names` argument or CSV header row "
                    "contains duplicate column names: {'%.100s'}",
                    c->names.values[i].data);
            }
        }
    }
    return LEAT_OK;
}

/* The number of a column that is given by number or name; -1: there is none. */
static int64_t column_of(const struct columns *c, const leat_tensor *tensor, int64_t at) {
    if (tensor->dtype != LEAT_STRING) {
        int64_t number =
            leati_dtype_is_integer(tensor->dtype) ? leati_tensor_int_at(tensor, at) : -1;
        return number < c->names.count ? number : -1; /* a negative number is none either */
    }
    for (int i = 0; i < c->names.count; i++)
        if (same_text(((const leat_string *)tensor->data)[at], c->names.values[i]))
            return i;
    return -1;
}

static int by_number(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static leat_status select_columns(const struct make_csv_args *args, struct columns *c,
                                  leat_error *err) {
    const leat_element *given = &args->select_columns;
    int64_t count = 0;
    c->all = given->spec == NULL;
    for (int t = 0; t < given->num_tensors; t++)
        count += leat_tensor_count(&given->tensors[t]);
    count = c->all ? c->names.count : count;
    c->selected = leati_alloc((size_t)count + 1, sizeof(*c->selected));
    c->defaults = leati_alloc_zero((size_t)count + 1, sizeof(*c->defaults));
    if (c->selected == NULL || c->defaults == NULL)
        return leati_no_memory(err);
    for (int t = 0; t < given->num_tensors; t++) {
        for (int64_t i = 0; i < leat_tensor_count(&given->tensors[t]); i++) {
            c->selected[c->count] = column_of(c, &given->tensors[t], i);
            if (c->selected[c->count++] < 0)
                return refuse(err, "a column specified in `select_columns` must be of one of the "
                                   "columns");
        }
    }
    for (; c->all && c->count < count; c->count++)
        c->selected[c->count] = c->count;
    /* csv_dataset takes columns in ascending order; defaults are given in that order, too. */
    if (c->count > 0)
        qsort(c->selected, (size_t)c->count, sizeof(*c->selected), by_number);
    for (int i = 1; i < c->count; i++)
        if (c->selected[i] == c->selected[i - 1])
            return refuse(err, "select_columns has a column twice");
    return LEAT_OK;
}

static leat_status given_defaults(const struct make_csv_args *args, struct columns *c,
                                  leat_error *err) {
    if (args->column_defaults.num_tensors != c->count) {
        return leati_refuse(
            err, SHAPE,
            "make_csv_dataset: column_defaults has %d values for %d columns; expected "
            "one each",
            args->column_defaults.num_tensors, c->count);
    }
    for (int i = 0; i < c->count; i++)
        c->defaults[i] = leat_tensor_ref(&args->column_defaults.tensors[i]);
    return LEAT_OK;
}

static leat_status find_columns(const struct make_csv_args *args, const leat_tensor *files,
                                struct columns *c, leat_error *err) {
    leat_status status = LEAT_OK;
    if (args->field_delim == NULL || strlen(args->field_delim) != 1)
        return refuse(err, "field_delim is not one byte");
    if (args->encoding == NULL || strcmp(args->encoding, "utf-8") != 0) {
        return leati_fail(err, LEAT_UNIMPLEMENTED,
                          "make_csv_dataset: encoding is \"%.100s\"; only utf-8 is read",
                          args->encoding == NULL ? "" : args->encoding);
    }
    if (args->column_names.values != NULL)
        c->names = args->column_names;
    else if (args->header)
        status = infer_names(args, files, c, err);
    else
        status = refuse(err, "neither column_names nor a header is given; give one");
    if (status == LEAT_OK)
        status = check_names(c, err);
    if (status == LEAT_OK)
        status = select_columns(args, c, err);
    if (status != LEAT_OK)
        return status;
    return args->column_defaults.spec != NULL ? given_defaults(args, c, err)
                                              : infer_defaults(args, files, c, err);
}

/* ---- the plan ---- */

/* The arguments of csv_dataset but the file, as JSON. Owned (leati_free). */
static char *csv_arguments(const struct make_csv_args *args, const struct columns *c,
                           leat_error *err) {
    json_t *json = json_object(), *defaults = json_array(), *columns = json_array();
    char *text = NULL;
    bool good = json != NULL && defaults != NULL && columns != NULL;
    for (int i = 0; i < c->count && good; i++) {
        /* What could not be written is NULL, which the array refuses. */
        good = json_array_append_new(defaults, leati_json_of_tensor(&c->defaults[i], err)) == 0 &&
               json_array_append_new(columns, json_integer(c->selected[i])) == 0;
    }
    const char *const names[] = {"field_delim", "na_value", "compression_type"};
    const char *const values[] = {args->field_delim, args->na_value, args->compression_type};
    for (int i = 0; i < 3 && good; i++) {
        good = values[i] == NULL ||
               json_object_set_new(json, names[i],
                                   leati_json_of_string(values[i], strlen(values[i]))) == 0;
    }
    /* json_pack's O takes a reference of its own, as json_object_set does: both are released
     * below. */
    good =
        good && json_object_set_new(json, "header", json_boolean(args->header)) == 0 &&
        json_object_set_new(json, "use_quote_delim", json_boolean(args->use_quote_delim)) == 0 &&
        json_object_set_new(json, "record_defaults", json_pack("{s:O}", "tuple", defaults)) == 0 &&
        (c->all || json_object_set(json, "select_cols", columns) == 0);
    text = good ? leati_json_print(json, 0, false, err) : NULL;
    if (!good)
        leati_no_memory(err);
    json_decref(json);
    json_decref(defaults);
    json_decref(columns);
    return text;
}

struct reader {
    char *arguments;
    bool ignore_errors;
};

static int trace_reader(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)capacity;
    const struct reader *reader = context;
    leat_value name = leat_graph_argument(graph, 0);
    leat_value records = leat_graph_dataset_op(graph, "csv_dataset", reader->arguments, NULL, 0,
                                               (const char *const[]){"filenames"}, &name, 1);
    outputs[0] = reader->ignore_errors ? leat_graph_dataset_op(graph, "ignore_errors", NULL,
                                                               &records, 1, NULL, NULL, 0)
                                       : records;
    return 1;
}

/* `files` is given; NULL passes an earlier failure on. */
static leat_dataset *records_of(const struct make_csv_args *args, const struct columns *c,
                                leat_dataset *files, leat_error *err) {
    struct reader reader = {.arguments = files == NULL ? NULL : csv_arguments(args, c, err),
                            .ignore_errors = args->ignore_errors};
    leat_function *function =
        reader.arguments == NULL ? NULL
                                 : LEAT_TRACE(trace_reader, &reader, leat_dataset_spec(files), err);
    /* The traced graph has a copy of the arguments. */
    leati_free(reader.arguments);
    if (function == NULL) {
        leat_dataset_unref(files);
        return NULL;
    }
    /* As in TensorFlow AUTOTUNE takes today's interleave, a number the legacy one. */
    if (args->num_parallel_reads == LEAT_AUTOTUNE) {
        leat_dataset_interleave_options options = {LEAT_DATASET_INTERLEAVE_DEFAULTS};
        options.num_parallel_calls = LEAT_AUTOTUNE;
        return leat_dataset_interleave(files, function, &options, err);
    }
    leat_dataset_parallel_interleave_options options = {LEAT_DATASET_PARALLEL_INTERLEAVE_DEFAULTS,
                                                        .sloppy = args->sloppy};
    return leat_dataset_parallel_interleave(files, function, args->num_parallel_reads, &options,
                                            err);
}

/* A column by its name, while they are put in the order of a dict. */
struct named {
    const char *name;
    int column;
};

static int by_name(const void *a, const void *b) {
    return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

/* Tuples of columns (given) as a dict of them, or as a pair of it and the label's. */
static leat_dataset *name_columns(const struct make_csv_args *args, const struct columns *c,
                                  leat_dataset *input, leat_error *err) {
    size_t count = (size_t)c->count;
    struct named *named = leati_alloc(count + 1, sizeof(*named));
    const char **keys = leati_alloc(count + 1, sizeof(*keys));
    leat_spec **children = leati_alloc(count + 1, sizeof(*children));
    int *order = leati_alloc(count + 1, sizeof(*order));
    leat_dataset *out = NULL;
    leat_spec *output = NULL;
    int kept = 0, label = -1;
    if (input == NULL || named == NULL || keys == NULL || children == NULL || order == NULL) {
        if (input != NULL)
            leati_no_memory(err);
        goto done;
    }
    for (int i = 0; i < c->count; i++) {
        const char *name = c->names.values[c->selected[i]].data;
        if (args->label_name != NULL && strcmp(name, args->label_name) == 0)
            label = i;
        else
            named[kept++] = (struct named){.name = name, .column = i};
    }
    /* The leaves of a dict stand in the order of its keys, as TensorFlow flattens it. */
    if (kept > 0)
        qsort(named, (size_t)kept, sizeof(*named), by_name);
    const leat_spec *spec = leat_dataset_spec(input);
    for (int i = 0; i < kept; i++) {
        keys[i] = named[i].name;
        order[i] = named[i].column;
        children[i] = leat_spec_ref(leat_spec_child(spec, named[i].column));
    }
    output = leat_spec_dict(keys, children, kept, err);
    if (label >= 0) {
        order[kept] = label;
        leat_spec *pair[2] = {output, leat_spec_ref(leat_spec_child(spec, label))};
        output = leat_spec_tuple(pair, 2, err);
    }
    if (output != NULL)
        out = leati_recipe_rearranged(leat_dataset_ref(input), order, output, err);
done:
    leat_dataset_unref(input);
    leat_spec_unref(output);
    leati_free(named);
    leati_free(keys);
    leati_free(children);
    leati_free(order);
    return out;
}

static leat_status check_label(const struct make_csv_args *args, const struct columns *c,
                               leat_error *err) {
    bool found = args->label_name == NULL;
    for (int i = 0; i < c->count && !found; i++)
        found = strcmp(c->names.values[c->selected[i]].data, args->label_name) == 0;
    return found
               ? LEAT_OK
               : leati_refuse(err, VALUE,
                              "make_csv_dataset: `label_name` provided must be one of the columns. "
                              "Received: %.100s",
                              args->label_name);
}

static leat_dataset *make_plan(const struct make_csv_args *args, const leat_tensor *files,
                               leat_error *err) {
    struct columns c = {0};
    /* Records that come forever fill every batch, so the batches' size can be static. */
    leat_dataset_batch_options batch = {LEAT_DATASET_BATCH_DEFAULTS,
                                        .drop_remainder = args->epochs.num_epochs == LEAT_UNSET};
    leat_dataset *plan = NULL;
    leat_status status = find_columns(args, files, &c, err);
    if (status == LEAT_OK)
        status = check_label(args, &c, err);
    if (status == LEAT_OK) {
        plan = leati_recipe_epochs_files(&args->epochs, files, err);
        plan = records_of(args, &c, plan, err);
        plan = leati_recipe_epochs_records(&args->epochs, plan, err);
        plan = leat_dataset_batch(plan, args->batch_size, &batch, err);
        plan = name_columns(args, &c, plan, err);
        plan = leat_dataset_prefetch(plan, args->epochs.prefetch_buffer_size, err);
    }
    columns_fini(&c);
    return plan;
}

static leat_status make_csv_check(leat_dataset *dataset, leat_error *err) {
    struct make_csv_args *args = dataset->args;
    leat_tensor files = {0};
    leat_error local = {0};
    /* A copy brings its plan as its input: files are not looked into again. */
    if (leati_recipe_is_made(dataset))
        return LEAT_OK;
    leat_status status = leati_recipe_check_threads("make_csv_dataset", "num_parallel_reads",
                                                    args->num_parallel_reads, &local);
    if (status == LEAT_OK)
        status = leati_recipe_match_names(&args->file_pattern, "make_csv_dataset", &files, &local);
    if (status == LEAT_OK) {
        leati_recipe_epochs_resolve(&args->epochs);
        status = leati_recipe_finish(dataset, make_plan(args, &files, &local), &local);
    }
    leat_tensor_unref(&files);
    if (status != LEAT_OK)
        *err = local;
    return status;
}

const leati_dataset_op leati_op_make_csv_dataset = {
    .name = "make_csv_dataset",
    .version = 1,
    .doc = "Batches of named columns from CSV files. Runs, is saved and restored as the pipeline "
           "that it stands for.",
    .names = "experimental.make_csv_dataset",
    .num_inputs = -1,
    .flow = LEATI_SOURCE,
    .shards = LEATI_SHARD_AS_PLAN,
    .splits = LEATI_SPLITS_THROUGH,
    .batches = LEATI_BATCHES_AS_PLAN,
    .flags = LEATI_OP_SHARED_DRAW | LEATI_OP_OWN_INPUTS,
    .args_size = sizeof(struct make_csv_args),
    .rows = make_csv_rows,
    .check = make_csv_check,
    .expand = leati_recipe_expand,
};

leat_dataset *leat_dataset_make_csv(const char *const *file_pattern, int num_patterns,
                                    int64_t batch_size,
                                    const leat_dataset_make_csv_options *options, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_dataset_make_csv_options o = {LEAT_DATASET_MAKE_CSV_DEFAULTS};
    struct make_csv_args args = {.batch_size = batch_size, .encoding = (char *)(uintptr_t) "utf-8"};
    if (LEATI_OPTIONS(leat_dataset_make_csv_options, &o, options, err) != LEAT_OK ||
        leati_recipe_epochs_read(o.epochs, &args.epochs, err) != LEAT_OK)
        return NULL;
    /* Texts lose their const only until the constructor has copied them. */
    args.label_name = (char *)(uintptr_t)o.label_name;
    args.field_delim = (char *)(uintptr_t)o.field_delim;
    args.use_quote_delim = o.use_quote_delim;
    args.na_value = (char *)(uintptr_t)(o.na_value == NULL ? "" : o.na_value);
    args.header = o.header;
    args.num_parallel_reads = o.num_parallel_reads;
    args.sloppy = o.sloppy;
    args.num_rows_for_inference = o.num_rows_for_inference;
    args.compression_type = (char *)(uintptr_t)o.compression_type;
    args.ignore_errors = o.ignore_errors;
    if (o.column_defaults != NULL)
        args.column_defaults = *o.column_defaults;
    if (o.select_columns != NULL)
        args.select_columns = *o.select_columns;
    leat_dataset *dataset = NULL;
    if (leati_files_view_names("make_csv_dataset", file_pattern, num_patterns, &args.file_pattern,
                               err) == LEAT_OK &&
        (o.num_columns == 0 ||
         leati_files_view_names("make_csv_dataset", o.column_names, o.num_columns,
                                &args.column_names, err) == LEAT_OK))
        dataset = leati_dataset_new(&leati_op_make_csv_dataset, &args, NULL, 0, err);
    leati_free(args.file_pattern.values);
    leati_free(args.column_names.values);
    return dataset;
}
