/* The plan that reads a saved run, and the operator of one of its shards, which stands in no table.
 *
 * Happy path: the shard's files are opened one after the other; a block is as many records as its
 * elements take, decoded into columns. Records that were read and not yet decoded stay here.
 * Failures: a record that does not fit costs its element; an error of the file comes again at every
 * call, as in TensorFlow. An element whose last records are missing is left out, as there. Saved as
 * the number of the file and a byte; restoring a compressed file reads it up to there. No locks. */
#include "data/kept/saved_reader.h"
#include "base/minmax.h"
#include "core/spec.h"
#include "data/kept/saved_rows.h"
#include "data/run/apply.h"
#include "data/run/row_values.h"
#include "data/values/values.h"
#include "file/tfrecord.h"
#include <leat/data_ops.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct shard_args {
    char *folder;
    int64_t compression;
    leat_spec *element_spec;
};

#define ROW(field) .offset = offsetof(struct shard_args, field)

static const leati_row shard_rows[] = {
    {.name = "folder",
     .type = LEATI_ROW_STRING,
     .flags = LEATI_REQUIRED,
     ROW(folder),
     .doc = "The shard's folder."},
    {.name = "compression",
     .type = LEATI_ROW_INT,
     .flags = LEATI_REQUIRED,
     ROW(compression),
     .doc = "The number of its compression."},
    {.name = "element_spec",
     .type = LEATI_ROW_SPEC,
     .flags = LEATI_REQUIRED,
     ROW(element_spec),
     .doc = "What its elements are."},
    {0},
};

struct shard_state {
    int64_t file; /* number of the file that is read, or will be next */
    leati_tfrecord *reader;
    leat_string *records; /* read and not yet taken: next .. have */
    size_t capacity;
    int64_t next, have;
    leat_buffer *holder; /* of the records' memory */
    int64_t position;    /* of record `next` in its file */
    int step;            /* records of an element */
    bool ended;
};

static const struct shard_args *args_of(const leati_node_state *node) {
    return node->dataset->args;
}

static leat_spec *shard_spec(const leat_dataset *dataset, leat_error *err) {
    (void)err;
    return leat_spec_ref(((const struct shard_args *)dataset->args)->element_spec);
}

static int64_t shard_cardinality(const leat_dataset *dataset) {
    (void)dataset;
    return LEAT_UNKNOWN_CARDINALITY;
}

static leat_status shard_open(leati_node_state *node, void *state, leat_error *err) {
    struct shard_state *s = state;
    (void)err;
    s->step = leati_saved_records(args_of(node)->element_spec);
    return LEAT_OK;
}

static void forget_records(struct shard_state *s) {
    leat_buffer_unref(s->holder);
    s->holder = NULL;
    s->next = s->have = 0;
}

static void close_file(struct shard_state *s) {
    forget_records(s);
    leati_tfrecord_close(s->reader);
    s->reader = NULL;
    s->position = 0;
}

/* Opens file number s->file, unless there is none: then the shard has ended. */
static leat_status open_file(leati_node_state *node, struct shard_state *s, int64_t position,
                             leat_error *err) {
    char name[40];
    leati_tfrecord_options options = {.compression = (leat_compression)args_of(node)->compression};
    snprintf(name, sizeof(name), "%08lld.snapshot", (long long)s->file);
    char *path = leati_saved_path(args_of(node)->folder, name, err);
    if (path == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    leat_error local = {0};
    leat_status status = leati_tfrecord_open(path, &options, &s->reader, &local);
    leati_free(path);
    /* A file that was being read when the state was saved must be there; a next one need not. */
    if (status == LEAT_NOT_FOUND && position == 0) {
        s->ended = true;
        return LEAT_OK;
    }
    if (status == LEAT_OK && position > 0)
        status = leati_tfrecord_seek(s->reader, position, &local);
    s->position = position;
    return status == LEAT_OK ? LEAT_OK : leati_error_pass(err, &local);
}

/* Reads records until there are enough for an element: MORE, or END of the shard, or ERROR. */
static leati_tail read_records(leati_node_state *node, struct shard_state *s, int64_t want,
                               size_t bytes, leat_error *err) {
    /* `want` may stand for all there is, and the product must not overflow. */
    int64_t most = want < INT64_MAX / 2 / s->step ? want * s->step : s->step;
    /* Whoever wants all must not make this take memory for all. */
    most = LEATI_MIN(most, 4096 * (int64_t)s->step);
    forget_records(s);
    if (!leati_grow((void **)&s->records, &s->capacity, (size_t)most, sizeof(*s->records))) {
        leati_no_memory(err);
        return LEATI_ERROR;
    }
    s->holder = leat_buffer_new(0, err);
    if (s->holder == NULL)
        return LEATI_ERROR;
    while (!s->ended) {
        if (s->reader == NULL && open_file(node, s, 0, err) != LEAT_OK)
            return LEATI_ERROR;
        if (s->ended)
            break;
        /* After a read that ended within an element only the rest of that element is wanted. */
        int64_t n = 0, need = s->have == 0 ? most : s->step - s->have % s->step;
        leat_error local = {0};
        leati_record_outcome outcome = leati_tfrecord_read(
            s->reader, need, s->have == 0 ? bytes : 0, s->records + s->have, s->holder, &n, &local);
        if (outcome == LEATI_RECORD_ERROR) {
            /* Whole elements go first: the next call meets the error again. */
            s->have -= s->have % s->step;
            if (s->have == 0)
                leati_error_pass(err, &local);
            return s->have > 0 ? LEATI_MORE : LEATI_ERROR;
        }
        s->have += n;
        if (s->have > 0 && s->have % s->step == 0)
            return LEATI_MORE;
        if (outcome == LEATI_RECORD_END) {
            s->have -= s->have % s->step;
            if (s->have > 0)
                return LEATI_MORE;
            close_file(s);
            s->file++;
            s->holder = leat_buffer_new(0, err);
            if (s->holder == NULL)
                return LEATI_ERROR;
        }
    }
    return LEATI_END;
}

/* Passes the records of n elements. */
static void take_records(struct shard_state *s, int64_t n) {
    for (int64_t i = 0; i < n * s->step; i++) {
        /* In the decompressed bytes, as a seek counts them. */
        s->position +=
            (int64_t)s->records[s->next++].size + LEATI_RECORD_HEADER + LEATI_RECORD_FOOTER;
    }
}

static leati_tail shard_pull(leati_node_state *node, void *state, int64_t want, leati_block *out,
                             leat_error *err) {
    struct shard_state *s = state;
    leati_block_clear(out);
    if (s->next == s->have) {
        leati_tail tail = read_records(node, s, want, out->byte_target, err);
        if (tail != LEATI_MORE) {
            s->have = 0;
            return tail;
        }
    }
    int64_t n = (s->have - s->next) / s->step, at = s->position;
    n = LEATI_MIN(n, want);
    leat_status status =
        leati_saved_get(args_of(node)->element_spec, s->records + s->next, n, s->holder, out, err);
    /* Want of memory passes no element: the records stay for the next call. */
    if (status == LEAT_RESOURCE_EXHAUSTED) {
        leati_block_clear(out);
        return LEATI_ERROR;
    }
    /* The element that failed is passed with those before it: it is the outcome behind them. */
    take_records(s, out->n + (status != LEAT_OK));
    if (status != LEAT_OK) {
        leati_prefix(err, "%.200s: file %lld from byte %lld on", args_of(node)->folder,
                     (long long)s->file, (long long)at);
    }
    return status == LEAT_OK ? LEATI_MORE : LEATI_ERROR;
}

static leat_status shard_save(leati_node_state *node, void *state, leati_writer *out,
                              leati_save_cost *cost, leat_error *err) {
    struct shard_state *s = state;
    (void)node;
    (void)cost;
    (void)err;
    leati_put_uint(out, s->ended);
    leati_put_int(out, s->file);
    leati_put_int(out, s->position);
    return LEAT_OK;
}

static leat_status shard_restore(leati_node_state *node, void *state, leati_reader *in,
                                 leat_error *err) {
    struct shard_state *s = state;
    uint64_t ended = 0;
    int64_t position = 0;
    close_file(s);
    leat_status status = leati_get_uint(in, &ended, err);
    if (status == LEAT_OK)
        status = leati_get_int(in, &s->file, err);
    if (status == LEAT_OK)
        status = leati_get_int(in, &position, err);
    if (status == LEAT_OK && (s->file < 0 || position < 0)) {
        status = leati_fail(err, LEAT_DATA_LOSS, "%s: a saved place at byte %lld of file %lld",
                            node->name, (long long)position, (long long)s->file);
    }
    s->ended = ended != 0;
    /* At byte 0 the next pull opens the file, which may not be there. */
    return status == LEAT_OK && position > 0 && !s->ended ? open_file(node, s, position, err)
                                                          : status;
}

static leat_status shard_reset(leati_node_state *node, void *state, leat_error *err) {
    struct shard_state *s = state;
    (void)node;
    (void)err;
    close_file(s);
    s->file = 0;
    s->ended = false;
    return LEAT_OK;
}

static void shard_close(leati_node_state *node, void *state) {
    struct shard_state *s = state;
    (void)node;
    close_file(s);
    leati_free(s->records);
}

static const leati_dataset_op shard_op = {
    .name = "saved_shard",
    .version = 1,
    .doc = "The elements of one shard of a saved dataset.",
    .flow = LEATI_SOURCE,
    .args_size = sizeof(struct shard_args),
    .rows = shard_rows,
    .spec = shard_spec,
    .cardinality = shard_cardinality,
    .state_size = sizeof(struct shard_state),
    .open = shard_open,
    .pull = shard_pull,
    .save = shard_save,
    .restore = shard_restore,
    .reset = shard_reset,
    .close = shard_close,
};

static bool is_shard(const leat_object *object) {
    return leati_dataset_of_object_check(object) && ((const leat_dataset *)object)->op == &shard_op;
}

static leat_status put_shard(leati_writer *out, const leat_object *shard, leat_error *err) {
    const struct shard_args *args = ((const leat_dataset *)shard)->args;
    leati_put_bytes(out, args->folder, strlen(args->folder));
    leati_put_int(out, args->compression);
    return out->failed ? leati_no_memory(err) : LEAT_OK;
}

static leat_dataset *get_shard(leati_reader *in, const leat_spec *spec, leat_error *err) {
    const void *folder = NULL;
    size_t size = 0;
    struct shard_args args = {.element_spec = (leat_spec *)(uintptr_t)spec};
    leat_dataset *out = NULL;
    if (leati_get_bytes(in, &folder, &size, err) == LEAT_OK &&
        leati_get_int(in, &args.compression, err) == LEAT_OK) {
        args.folder = leati_strndup(folder, size);
        if (args.folder == NULL)
            leati_no_memory(err);
        else
            out = leati_dataset_new(&shard_op, &args, NULL, 0, err);
        leati_free(args.folder);
    }
    return out;
}

const leati_value_form leati_value_form_shard = {
    .is = is_shard, .put = put_shard, .get = get_shard};

/* ---- the plan ---- */

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
        return leati_refuse(err, STRUCTURE, "%s: shard_func returns %s; expected an int64 scalar",
                            op, text);
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
                                    leat_compression compression, const leat_spec *spec,
                                    leat_error *err) {
    static const leat_shape scalar = {.rank = 0};
    leati_block block = {0};
    leat_buffer *buffer = leati_buffer_of_objects((int64_t)names->count, err);
    leat_spec *element = leat_spec_dataset(leat_spec_ref(spec), err);
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
        struct shard_args args = {.folder = leati_saved_path(run, names->values[i], err),
                                  .compression = (int64_t)compression,
                                  .element_spec = (leat_spec *)spec};
        if (args.folder != NULL)
            objects[i] = (leat_object *)leati_dataset_new(&shard_op, &args, NULL, 0, err);
        leati_free(args.folder);
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

leat_dataset *leati_saved_plan(const char *folder, const leati_saved_info *info,
                               leat_compression compression, const leat_spec *spec,
                               const leat_object *reader_func, int64_t cycle_length,
                               leat_error *err) {
    leati_paths names = {0};
    char *run = leati_saved_path(folder, info->run, err);
    leat_status status =
        run == NULL ? LEAT_RESOURCE_EXHAUSTED : leati_saved_run_shards(run, &names, err);
    leat_dataset *shards =
        status == LEAT_OK ? shards_dataset(run, &names, compression, spec, err) : NULL;
    leati_fs_paths_fini(&names);
    leati_free(run);
    if (shards == NULL || reader_func != NULL)
        return shards == NULL ? NULL : call_reader((const leat_function *)reader_func, shards, err);
    leat_dataset_interleave_options options = {LEAT_DATASET_INTERLEAVE_DEFAULTS};
    options.cycle_length = cycle_length;
    options.num_parallel_calls = LEAT_AUTOTUNE;
    return leat_dataset_interleave(shards, LEAT_TRACE(same, NULL, leat_dataset_spec(shards), err),
                                   &options, err);
}
