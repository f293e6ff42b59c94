/* load: the elements of a dataset that was saved (tf.data.Dataset.load).
 *
 * A folder holds what Dataset.save wrote, or a snapshot that the data service writes or wrote
 * (data/kept/snapshot_files.h), which is read while it grows (data/kept/snapshot_chunks.h). Of the
 * first kind:
 * The folder's metadata and, where none is given, its spec are read when the operator is made; the
 * shards are listed when an iterator is, and read by the plan of data/kept/saved_reader.h.
 * Failures: NOT_FOUND at the call where the folder holds no saved dataset, or one whose saving has
 * not finished; with `wait` the call waits for it instead. Files that are gone or cut are NOT_FOUND
 * or DATA_LOSS (data/kept/saved_reader.h, saved_shard.c); where only the number of all elements is
 * known, as of what TensorFlow saved, another number is DATA_LOSS in place of the end, unless a
 * reader_func decides how many there are. A given element_spec is not held against
 * the stored one: tensors that do not fit cost their elements. No locks. */
#include "base/clock.h"
#include "base/log.h"
#include "core/spec.h"
#include "data/kept/saved_reader.h"
#include "data/kept/saved_rows.h"
#include "data/kept/snapshot_chunks.h"
#include "data/kept/snapshot_files.h"
#include "data/run/input.h"
#include "data/run/row_values.h"
#include "file/tensor_proto.h"
#include <leat/data_ops.h>
#include <string.h>
#include <time.h>

struct load_args {
    char *path;
    leat_spec *element_spec;
    char *compression;
    leat_object *reader_func;
    bool wait;
    int64_t cycle_length, num_elements;
    int64_t snapshot; /* 0: it is none; else 2 and its number of chunks, as it was when the plan was
                         made, which is 1 where that was not known yet */
};

enum { SNAPSHOT_CHUNKS = 2 };

#define ROW(field) .offset = offsetof(struct load_args, field)

static const leati_row load_rows[] = {
    {.name = "path",
     .type = LEATI_ROW_STRING,
     .flags = LEATI_REQUIRED,
     ROW(path),
     .doc = "The folder that was saved to."},
    {.name = "element_spec",
     .type = LEATI_ROW_SPEC,
     .flags = LEATI_NONE,
     ROW(element_spec),
     .doc = "What the elements are; none: what the folder says."},
    {.name = "compression",
     .type = LEATI_ROW_STRING,
     .flags = LEATI_NONE,
     ROW(compression),
     .doc = "The compression that it was saved with."},
    {.name = "reader_func",
     .type = LEATI_ROW_FUNCTION,
     .flags = LEATI_NONE,
     ROW(reader_func),
     .doc = "From a dataset of the shards' datasets to the dataset to read; none: they are read in "
            "turns."},
    {.name = "wait",
     .type = LEATI_ROW_BOOL,
     ROW(wait),
     .doc = "Wait until the folder holds a saved dataset."},
    /* cycle_length travels with a written plan: the order must not depend on the machine that reads
     * it. */
    {.name = "cycle_length", .type = LEATI_ROW_INT, .flags = LEATI_CONSTRUCT, ROW(cycle_length)},
    {.name = "num_elements", .type = LEATI_ROW_INT, .flags = LEATI_CONSTRUCT, ROW(num_elements)},
    /* Travels as well: all workers share the chunks of one plan. */
    {.name = "snapshot", .type = LEATI_ROW_INT, .flags = LEATI_CONSTRUCT, ROW(snapshot)},
    {0},
};

struct load_state {
    leati_saved_info info; /* not of a snapshot */
    int64_t chunks; /* of a snapshot: how many the plan reads, or LEATI_SNAPSHOT_UNFINISHED */
    leat_dataset *plan;
    leati_input inner;
    int64_t expected; /* elements of which nobody says in which file they are; negative: any */
    int64_t passed;   /* outcomes of this epoch; negative: unknown */
};

static const struct load_args *args_of(const leati_node_state *node) {
    return node->dataset->args;
}

/* ---- plan side ---- */

static bool is_snapshot(const struct load_args *args) {
    return args->snapshot != 0;
}

static leat_status read_info(const char *path, leati_saved_info *out, leat_error *err) {
    bool found = false;
    leat_status status = leati_saved_info_read(path, out, &found, err);
    if (status == LEAT_OK && (!found || !out->finalized)) {
        status = leati_fail(err, LEAT_NOT_FOUND,
                            "load: %.300s holds %s; save a dataset there, or set wait", path,
                            found ? "a dataset whose saving has not finished"
                                  : "no saved dataset (snapshot.metadata)");
    }
    if (status == LEAT_OK && out->version != 2) {
        status = leati_fail(err, LEAT_UNIMPLEMENTED,
                            "load: %.300s has records of version %lld; leat reads "
                            "version 2",
                            path, (long long)out->version);
    }
    return status;
}

/* The spec that run `run` has a copy of, or else the folder's. */
static leat_spec *read_spec(const char *path, const char *run, leat_error *err) {
    char *folder = leati_saved_path(path, run, err);
    char *name = folder == NULL ? NULL : leati_saved_path(folder, LEATI_SAVED_SPEC, err);
    leat_buffer *buffer = NULL;
    leat_spec *spec = NULL;
    leat_error local = {0};
    leat_status status =
        name == NULL ? LEAT_RESOURCE_EXHAUSTED : leati_file_read_all(name, &buffer, &local);
    if (status == LEAT_NOT_FOUND) {
        leati_free(name);
        name = leati_saved_path(path, LEATI_SAVED_SPEC, err);
        status = name == NULL ? LEAT_RESOURCE_EXHAUSTED : leati_file_read_all(name, &buffer, err);
    } else if (name != NULL && status != LEAT_OK) {
        leati_error_pass(err, &local);
    }
    if (status == LEAT_OK) {
        const uint8_t *data = leat_buffer_data(buffer);
        spec = leati_tensor_proto_spec((leati_wire){data, data + leat_buffer_size(buffer)}, err);
        if (spec == NULL)
            leati_prefix(err, "load: %.300s", name);
    }
    leat_buffer_unref(buffer);
    leati_free(name);
    leati_free(folder);
    return spec;
}

/* Between two looks. File systems on a network tell nobody of changes. */
enum { POLL_NS = 50 * 1000 * 1000 };

/* NOT_FOUND where there is nothing to read. */
static leat_status look(const char *path, leat_error *err) {
    leati_snapshot_info snapshot;
    leati_saved_info info;
    bool found = false;
    LEATI_TRY(leati_snapshot_info_read(path, &snapshot, &found, err));
    leati_snapshot_info_fini(&snapshot);
    return found ? LEAT_OK : read_info(path, &info, err);
}

/* Waits until `path` holds a saved dataset. */
static leat_status wait_for(const char *path, const leat_dataset_load_options *options,
                            leat_error *err) {
    static int logged;
    int64_t deadline_ms = options->wait_deadline_ms;
    int64_t end = leati_clock_deadline_ns(deadline_ms);
    for (;;) {
        leat_error local = {0};
        struct timespec pause = {.tv_nsec = POLL_NS};
        if (look(path, &local) != LEAT_NOT_FOUND)
            return LEAT_OK; /* what it is comes to light where it is read */
        leati_log_once(&logged, LEAT_LOG_INFO, "load: waiting for %.200s", path);
        if (options->cancelled != NULL && options->cancelled(options->context))
            return leati_fail(err, LEAT_CANCELLED, "load: waiting for %.300s was cancelled", path);
        if (leati_now_ns() >= end) {
            return leati_fail(err, LEAT_DEADLINE_EXCEEDED, "load: waited %lld ms for %.300s: %s",
                              (long long)deadline_ms, path, local.text);
        }
        nanosleep(&pause, NULL);
    }
}

/* What the user said of a snapshot must be what its metadata say. */
static leat_status check_said(const struct load_args *args, const leati_snapshot_info *snapshot,
                              leat_error *err) {
    char texts[2][128];
    const char *said = args->compression == NULL ? "" : args->compression;
    if (said[0] != '\0' && strcmp(said, snapshot->compression) != 0)
        return leati_refuse(err, VALUE,
                            "load: compression is \"%.40s\"; the snapshot %.300s has \"%.40s\": "
                            "leave it out",
                            said, args->path, snapshot->compression);
    if (args->element_spec == NULL || leat_spec_equal(args->element_spec, snapshot->spec))
        return LEAT_OK;
    leat_spec_print(args->element_spec, texts[0], sizeof texts[0]);
    leat_spec_print(snapshot->spec, texts[1], sizeof texts[1]);
    return leati_refuse(err, VALUE,
                        "load: element_spec is %s; the snapshot %.300s has %s: leave it out",
                        texts[0], args->path, texts[1]);
}

static leat_status check_snapshot(struct load_args *args, const leati_snapshot_info *snapshot,
                                  leat_error *err) {
    int64_t chunks = 0, elements = 0;
    LEATI_TRY(check_said(args, snapshot, err));
    LEATI_TRY(leati_snapshot_count(args->path, &chunks, &elements, err));
    LEATI_TRY(leati_saved_check("load", snapshot->spec, err));
    if (args->element_spec == NULL)
        args->element_spec = leat_spec_ref(snapshot->spec);
    LEATI_TRY(leati_saved_check_reader("load", args->reader_func, args->element_spec, err));
    if (!is_snapshot(args)) {
        args->snapshot = SNAPSHOT_CHUNKS + chunks;
        args->num_elements = args->reader_func == NULL ? elements : LEAT_UNKNOWN_CARDINALITY;
    }
    args->cycle_length = args->cycle_length > 0 ? args->cycle_length : leati_saved_cycle();
    return LEAT_OK;
}

static leat_status check_saved(struct load_args *args, leat_error *err) {
    leati_saved_info info;
    leat_compression compression = LEAT_COMPRESSION_NONE;
    leat_status status = read_info(args->path, &info, err);
    if (status == LEAT_OK && args->element_spec == NULL) {
        args->element_spec = read_spec(args->path, info.run, err);
        status = args->element_spec == NULL ? err->code : LEAT_OK;
    }
    if (status == LEAT_OK)
        status = leati_saved_compression("load", args->compression, false, &compression, err);
    if (status == LEAT_OK)
        status = leati_saved_check("load", args->element_spec, err);
    if (status == LEAT_OK)
        status = leati_saved_check_reader("load", args->reader_func, args->element_spec, err);
    if (status == LEAT_OK) {
        args->num_elements = info.num_elements;
        args->cycle_length = args->cycle_length > 0 ? args->cycle_length : leati_saved_cycle();
    }
    return status;
}

static leat_status load_check(leat_dataset *dataset, leat_error *err) {
    struct load_args *args = dataset->args;
    leati_snapshot_info snapshot;
    bool found = false;
    /* Only a plan that was read waits here, and without a deadline: leat_dataset_load waits
     * before. */
    const leat_dataset_load_options forever = {LEAT_DATASET_LOAD_DEFAULTS};
    LEATI_TRY(args->wait ? wait_for(args->path, &forever, err) : LEAT_OK);
    LEATI_TRY(leati_snapshot_info_read(args->path, &snapshot, &found, err));
    leat_status status =
        found ? check_snapshot(args, &snapshot, err)
        : is_snapshot(args)
            ? leati_fail(err, LEAT_NOT_FOUND, "load: the snapshot %.300s is gone", args->path)
            : check_saved(args, err);
    leati_snapshot_info_fini(&snapshot);
    return status;
}

static leat_spec *load_spec(const leat_dataset *dataset, leat_error *err) {
    return leati_spec_made(((const struct load_args *)dataset->args)->element_spec, err);
}

static leat_spec *load_function_input(const void *args, leat_dataset *const *inputs, int num_inputs,
                                      const leati_row *row, leat_error *err) {
    const struct load_args *a = args;
    (void)inputs;
    (void)num_inputs;
    (void)row;
    leati_saved_info info;
    leati_snapshot_info snapshot;
    bool found = false;
    /* A function is made before the check has completed the arguments: the spec may have to be
     * read. */
    leat_spec *spec = a->element_spec != NULL ? leat_spec_ref(a->element_spec) : NULL;
    if (spec == NULL && leati_snapshot_info_read(a->path, &snapshot, &found, err) == LEAT_OK) {
        spec = found ? leat_spec_ref(snapshot.spec) : NULL;
        leati_snapshot_info_fini(&snapshot);
        if (!found && read_info(a->path, &info, err) == LEAT_OK)
            spec = read_spec(a->path, info.run, err);
    }
    leat_spec *input = spec == NULL ? NULL : leati_saved_reader_input(spec, err);
    leat_spec_unref(spec);
    return input;
}

static int64_t load_cardinality(const leat_dataset *dataset) {
    return ((const struct load_args *)dataset->args)->num_elements;
}

/* Elements of a snapshot that grows come as they are written. */
static bool load_pure(const leat_dataset *dataset) {
    const struct load_args *args = dataset->args;
    return args->snapshot != SNAPSHOT_CHUNKS + LEATI_SNAPSHOT_UNFINISHED;
}

/* Reads the snapshot's chunks, `chunks` of them. Owned. */
static leat_dataset *snapshot_plan(const struct load_args *args, int64_t chunks, leat_error *err) {
    leati_snapshot_info info;
    bool found = false;
    if (leati_snapshot_info_read(args->path, &info, &found, err) != LEAT_OK)
        return NULL;
    leat_dataset *plan = NULL;
    if (found)
        plan = leati_snapshot_plan(args->path, args->element_spec, info.compression, chunks,
                                   args->reader_func, args->cycle_length, err);
    else
        (void)leati_fail(err, LEAT_NOT_FOUND, "load: the snapshot %.300s is gone", args->path);
    leati_snapshot_info_fini(&info);
    return plan;
}

/* What workers share: the chunks of a snapshot that was finished. */
static leat_dataset *load_parts(const leat_dataset *dataset, leat_error *err) {
    const struct load_args *args = dataset->args;
    return args->snapshot >= SNAPSHOT_CHUNKS
               ? snapshot_plan(args, args->snapshot - SNAPSHOT_CHUNKS, err)
               : NULL;
}

/* ---- run side ---- */

static leat_status open_snapshot(leati_node_state *node, struct load_state *s, leat_error *err) {
    s->expected = s->passed = -1;
    s->plan = snapshot_plan(args_of(node), s->chunks, err);
    return s->plan == NULL
               ? err->code
               : leati_input_open_dataset(&s->inner, node, s->plan, node->iteration, err);
}

/* Opens the plan of the run that s->info names. */
static leat_status open_plan(leati_node_state *node, struct load_state *s, leat_error *err) {
    const struct load_args *args = args_of(node);
    leat_compression compression = LEAT_COMPRESSION_NONE;
    bool whole = !s->info.counted && s->info.num_elements > 0 && args->reader_func == NULL &&
                 s->info.num_dtypes == leati_saved_records(args->element_spec);
    s->expected = whole ? s->info.num_elements : -1;
    s->passed = 0;
    LEATI_TRY(leati_saved_compression("load", args->compression, false, &compression, err));
    s->plan = leati_saved_plan(args->path, s->info.run, compression, args->element_spec,
                               args->reader_func, args->cycle_length, err);
    return s->plan == NULL
               ? err->code
               : leati_input_open_dataset(&s->inner, node, s->plan, node->iteration, err);
}

static void close_plan(struct load_state *s) {
    leati_input_close(&s->inner);
    leat_dataset_unref(s->plan);
    s->plan = NULL;
}

static leat_status load_open(leati_node_state *node, void *state, leat_error *err) {
    struct load_state *s = state;
    if (is_snapshot(args_of(node))) {
        s->chunks = args_of(node)->snapshot - SNAPSHOT_CHUNKS;
        return open_snapshot(node, s, err);
    }
    /* The run that is there now: the folder may have been saved to again since the plan was
     * made. */
    leat_status status = read_info(args_of(node)->path, &s->info, err);
    return status == LEAT_OK ? open_plan(node, s, err) : status;
}

static leati_tail load_pull(leati_node_state *node, void *state, int64_t want, leati_block *out,
                            leat_error *err) {
    struct load_state *s = state;
    leati_tail tail = leati_input_take(&s->inner, want, out, err);
    if (s->passed >= 0)
        s->passed += out->n + (tail == LEATI_ERROR);
    if (tail != LEATI_END || s->expected < 0 || s->passed < 0 || s->passed == s->expected)
        return tail;
    /* The end is sticky: the next pull meets it again, without elements, and fails. */
    if (out->n > 0)
        return LEATI_MORE;
    leati_fail_in_file(err, LEAT_DATA_LOSS, args_of(node)->path, -1, false,
                       "the metadata speak of %lld elements in run %s, found %lld; bring its files "
                       "back, or save the dataset again",
                       (long long)s->expected, s->info.run, (long long)s->passed);
    err->at_end = true;
    return LEATI_ERROR;
}

static leat_status load_save(leati_node_state *node, void *state, leati_writer *out,
                             leati_save_cost *cost, leat_error *err) {
    struct load_state *s = state;
    if (is_snapshot(args_of(node)))
        leati_put_int(out, s->chunks);
    else
        leati_saved_put_run(out, s->info.run);
    return leati_input_save(&s->inner, out, cost, err);
}

/* A state that was saved while the snapshot grew goes on in the order in which chunks came. */
static leat_status restore_snapshot(leati_node_state *node, struct load_state *s, leati_reader *in,
                                    leat_error *err) {
    int64_t chunks = 0;
    LEATI_TRY(leati_get_int(in, &chunks, err));
    if (chunks < LEATI_SNAPSHOT_UNFINISHED)
        return leati_fail(err, LEAT_DATA_LOSS, "load: a saved state of %lld chunks",
                          (long long)chunks);
    if (chunks != s->chunks) {
        close_plan(s);
        s->chunks = chunks;
        LEATI_TRY(open_snapshot(node, s, err));
    }
    return leati_input_restore(&s->inner, in, err);
}

static leat_status load_restore(leati_node_state *node, void *state, leati_reader *in,
                                leat_error *err) {
    struct load_state *s = state;
    char run[LEATI_RUN_TEXT] = "";
    if (is_snapshot(args_of(node)))
        return restore_snapshot(node, s, in, err);
    leat_status status = leati_saved_get_run(in, run, err);
    /* A state goes on in its own run, also where the folder has a newer one. */
    if (status == LEAT_OK && strcmp(run, s->info.run) != 0) {
        close_plan(s);
        status = leati_saved_info_of_run(args_of(node)->path, run, &s->info, NULL, err);
        if (status == LEAT_OK)
            status = open_plan(node, s, err);
    }
    /* A state says nothing of the elements before it. */
    s->passed = -1;
    return status == LEAT_OK ? leati_input_restore(&s->inner, in, err) : status;
}

static leat_status load_reset(leati_node_state *node, void *state, leat_error *err) {
    struct load_state *s = state;
    s->passed = is_snapshot(args_of(node)) ? -1 : 0;
    return leati_input_reset(&s->inner, err);
}

static void load_close(leati_node_state *node, void *state) {
    (void)node;
    close_plan(state);
}

const leati_dataset_op leati_op_load = {
    .name = "load",
    .version = 1,
    .doc = "The elements of a dataset that was saved to a folder, or of a snapshot that a data "
           "service writes there. Saved as the name of the run and a byte for each shard that is "
           "open, or of the chunks of a snapshot that is being written as their names; restoring "
           "reads compressed files up to there.",
    .names = "Dataset.load experimental.load",
    .num_inputs = 0,
    .flow = LEATI_SOURCE,
    .shards = LEATI_SHARD_NOT,
    .splits = LEATI_SPLITS_WHOLE,
    .parts = load_parts,
    .batches = LEATI_BATCHES_OTHER,
    .args_size = sizeof(struct load_args),
    .rows = load_rows,
    .check = load_check,
    .spec = load_spec,
    .function_input = load_function_input,
    .cardinality = load_cardinality,
    .pure = load_pure,
    .state_size = sizeof(struct load_state),
    .open = load_open,
    .pull = load_pull,
    .save = load_save,
    .restore = load_restore,
    .reset = load_reset,
    .close = load_close,
};

leat_dataset *leat_dataset_load(const char *path, const leat_dataset_load_options *options,
                                leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_dataset_load_options o = {LEAT_DATASET_LOAD_DEFAULTS};
    if (LEATI_OPTIONS(leat_dataset_load_options, &o, options, err) != LEAT_OK)
        return NULL;
    struct load_args args = {.path = (char *)(uintptr_t)path, /* copied */
                             .element_spec = (leat_spec *)(uintptr_t)o.element_spec,
                             .compression = (char *)(uintptr_t)o.compression,
                             .reader_func = (leat_object *)o.reader_func,
                             .wait = o.wait};
    leat_status status =
        path == NULL ? leati_refuse(err, VALUE, "load: path is NULL; pass a folder") : LEAT_OK;
    status = status == LEAT_OK && o.wait ? wait_for(path, &o, err) : status;
    leat_dataset *dataset =
        status == LEAT_OK ? leati_dataset_new(&leati_op_load, &args, NULL, 0, err) : NULL;
    leat_function_unref(o.reader_func);
    return dataset;
}
