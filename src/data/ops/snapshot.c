/* snapshot: the first complete iteration writes the elements to files, later ones read those
 * (tf.data.Dataset.snapshot).
 *
 * Files lie in a folder of PATH that is named by a hash of the input's plan, so that a changed
 * pipeline makes a snapshot of its own; callbacks count by their names. An iterator decides when it
 * opens, and anew in every epoch: it reads where the folder's metadata is finalized, else it writes
 * a run of its own, handing the elements on in the input's order, and finalizes at the input's end;
 * the last to do so wins. Writing is done on the thread that pulls; a prefetch behind the snapshot
 * takes it off the consumer's. Without shard_func each element's record has its number, by which it
 * goes to a shard.
 *
 * Failures: errors of the input and of shard_func are delivered and leave no element in the files.
 * Where files cannot be written that is one error; the iteration then goes on without them. A
 * process that dies leaves a run that no metadata speaks of; the next writer removes it, unless a
 * saved state may go on with it.
 *
 * Saved as positions. While writing, a state that the user asked for also brings the files so far
 * to the disk, and an iterator restored from it goes on writing behind them, unless a snapshot has
 * been finished meanwhile, or others have gone on with the run; one restored from any other state
 * hands on the rest of its epoch without writing. No locks. */
#include "base/hash.h"
#include "base/minmax.h"
#include "core/spec.h"
#include "data/kept/saved_reader.h"
#include "data/kept/saved_rows.h"
#include "data/kept/saved_sweep.h"
#include "data/run/apply.h"
#include "data/run/input.h"
#include "file/fs.h"
#include <leat/data_ops.h>
#include <stdio.h>
#include <string.h>

struct snapshot_args {
    char *path, *compression;
    leat_object *reader_func, *shard_func;
    int64_t num_shards, cycle_length;
};

#define ROW(field) .offset = offsetof(struct snapshot_args, field)

static const leati_row snapshot_rows[] = {
    {.name = "path",
     .type = LEATI_ROW_STRING,
     .flags = LEATI_REQUIRED,
     ROW(path),
     .doc = "The folder of this snapshot and of others."},
    {.name = "compression",
     .type = LEATI_ROW_STRING,
     ROW(compression),
     .default_text = "AUTO",
     .doc = "\"AUTO\" (SNAPPY), or a compression_type; empty: none."},
    /* Before reader_func, whose input depends on it. */
    {.name = "shard_func",
     .type = LEATI_ROW_FUNCTION,
     .flags = LEATI_NONE,
     ROW(shard_func),
     .doc = "From an element to the number of its shard, an int64 scalar; none: in turns."},
    {.name = "reader_func",
     .type = LEATI_ROW_FUNCTION,
     .flags = LEATI_NONE,
     ROW(reader_func),
     .doc = "From a dataset of the shards' datasets to the dataset to read; none: they are read in "
            "turns."},
    {.name = "num_shards", .type = LEATI_ROW_INT, .flags = LEATI_CONSTRUCT, ROW(num_shards)},
    {.name = "cycle_length", .type = LEATI_ROW_INT, .flags = LEATI_CONSTRUCT, ROW(cycle_length)},
    {0},
};

/* PASS: hands on without writing. Saved; append only. */
enum snapshot_mode { SNAPSHOT_READ = 0, SNAPSHOT_WRITE, SNAPSHOT_PASS };

struct snapshot_state {
    enum snapshot_mode mode;
    char *folder;         /* of the metadata */
    leat_spec *file_spec; /* of the records */
    leat_compression compression;
    leati_saved_info info; /* of the run that is read or written */
    leati_input input;     /* closed while reading */
    leat_dataset *plan;    /* that reads */
    leati_input inner;
    leati_block block;
    leati_run_writer *writer; /* NULL: no element has been asked for */
    leati_scratch *scratch;
    leati_block shards; /* shard_func's results */
    int64_t outcomes;   /* in this epoch */
};

static const struct snapshot_args *args_of(const leat_dataset *dataset) {
    return dataset->args;
}

/* ---- plan side ---- */

/* What the records hold: numbers too, unless shard_func says where an element goes. */
static leat_spec *file_spec(const struct snapshot_args *args, const leat_spec *element,
                            leat_error *err) {
    if (args->shard_func != NULL)
        return leat_spec_ref(element);
    leat_spec *both[2] = {leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, err), leat_spec_ref(element)};
    return leat_spec_tuple(both, 2, err);
}

static leat_status check_functions(const leat_dataset *dataset, leat_error *err) {
    const struct snapshot_args *args = dataset->args;
    const leat_spec *element = dataset->inputs[0]->spec;
    leat_spec *spec = file_spec(args, element, err);
    leat_status status = spec == NULL
                             ? LEAT_RESOURCE_EXHAUSTED
                             : leati_saved_check_reader("snapshot", args->reader_func, spec, err);
    leat_spec_unref(spec);
    return status == LEAT_OK ? leati_saved_check_shard("snapshot", args->shard_func, element, err)
                             : status;
}

static leat_status snapshot_check(leat_dataset *dataset, leat_error *err) {
    struct snapshot_args *args = dataset->args;
    leat_compression compression = LEAT_COMPRESSION_NONE;
    leat_status status = leati_saved_check("snapshot", dataset->inputs[0]->spec, err);
    if (status == LEAT_OK)
        status = leati_saved_compression("snapshot", args->compression, true, &compression, err);
    if (status == LEAT_OK)
        status = check_functions(dataset, err);
    /* Both travel with a written plan: neither files nor order depend on the machine that runs
     * it. */
    args->num_shards = args->num_shards > 0 ? args->num_shards : leati_saved_cycle();
    args->cycle_length = args->cycle_length > 0 ? args->cycle_length : leati_saved_cycle();
    return status;
}

static leat_spec *snapshot_function_input(const void *args, leat_dataset *const *inputs,
                                          int num_inputs, const leati_row *row, leat_error *err) {
    if (num_inputs != 1) {
        leati_refuse(err, VALUE, "snapshot: expected one input, found %d", num_inputs);
        return NULL;
    }
    if (row->offset == offsetof(struct snapshot_args, shard_func))
        return leat_spec_ref(inputs[0]->spec);
    leat_spec *spec = file_spec(args, inputs[0]->spec, err);
    leat_spec *input = spec == NULL ? NULL : leati_saved_reader_input(spec, err);
    leat_spec_unref(spec);
    return input;
}

/* Asked for only where there is a shard_func. */
static void *snapshot_share(const leat_dataset *dataset, leat_error *err) {
    return leati_program_new((const leat_function *)args_of(dataset)->shard_func, err);
}

static void snapshot_unshare(void *shared) {
    leati_program_free(shared);
}

/* ---- epochs ---- */

/* The key of the input as the user built it: rewrites change nothing of it. */
static uint64_t key_of(const leati_node_state *node, leat_compression compression) {
    const leat_dataset *origin = node->dataset->origin;
    /* Three numbers of 64 bits leave no padding, whose bytes would be hashed, too. */
    const struct {
        uint64_t input, compression, numbered;
    } key = {leat_dataset_fingerprint(origin->inputs[0]), (uint64_t)compression,
             args_of(node->dataset)->shard_func == NULL};
    return leati_hash(&key, sizeof(key), 0);
}

static leat_status open_names(leati_node_state *node, struct snapshot_state *s, leat_error *err) {
    const struct snapshot_args *args = args_of(node->dataset);
    leat_status status =
        leati_saved_compression("snapshot", args->compression, true, &s->compression, err);
    if (status != LEAT_OK)
        return status;
    snprintf(s->info.hash, sizeof(s->info.hash), "%llu",
             (unsigned long long)key_of(node, s->compression));
    /* Its files come into one folder, whoever changes the working folder meanwhile. */
    char *path = leati_fs_whole(args->path);
    s->folder = path == NULL ? NULL : leati_saved_path(path, s->info.hash, err);
    if (path == NULL)
        (void)leati_no_memory(err);
    leati_free(path);
    s->file_spec = s->folder == NULL ? NULL : file_spec(args, node->dataset->spec, err);
    return s->file_spec == NULL ? LEAT_RESOURCE_EXHAUSTED : LEAT_OK;
}

static void close_plan(struct snapshot_state *s) {
    leati_input_close(&s->inner);
    leat_dataset_unref(s->plan);
    s->plan = NULL;
}

/* Ends what the last epoch left open, but for the input. A run that was not finished stays where
 * files of it were committed: a saved state may go on with it. */
static void forget(struct snapshot_state *s) {
    close_plan(s);
    leati_saved_writer_close(s->writer);
    s->writer = NULL;
    s->outcomes = 0;
}

static leat_status open_input(leati_node_state *node, struct snapshot_state *s, leat_error *err) {
    if (s->input.child != NULL)
        return leati_input_reset(&s->input, err);
    leat_status status = leati_input_open(&s->input, node, 0, err);
    s->input.ends_at_error = true;
    return status;
}

static leat_status open_plan(leati_node_state *node, struct snapshot_state *s, leat_error *err) {
    const struct snapshot_args *args = args_of(node->dataset);
    s->plan = leati_saved_plan(s->folder, s->info.run, s->compression, s->file_spec,
                               args->reader_func, args->cycle_length, err);
    return s->plan == NULL
               ? err->code
               : leati_input_open_dataset(&s->inner, node, s->plan, node->iteration, err);
}

static leat_status begin_epoch(leati_node_state *node, struct snapshot_state *s, leat_error *err) {
    leati_saved_info info;
    bool found = false;
    forget(s);
    LEATI_TRY(leati_saved_info_read(s->folder, &info, &found, err));
    if (!found || !info.finalized) {
        s->mode = SNAPSHOT_WRITE;
        return open_input(node, s, err);
    }
    s->mode = SNAPSHOT_READ;
    /* Only the name of the run: the hash stays that of this plan. */
    memcpy(s->info.run, info.run, sizeof(info.run));
    return open_plan(node, s, err);
}

static leat_status snapshot_open(leati_node_state *node, void *state, leat_error *err) {
    struct snapshot_state *s = state;
    leat_status status = open_names(node, s, err);
    if (status == LEAT_OK && args_of(node->dataset)->shard_func != NULL) {
        const leati_program *program = leati_dataset_shared(node->dataset, err);
        s->scratch = program == NULL ? NULL : leati_program_scratch_new(program, err);
        status = s->scratch == NULL ? LEAT_RESOURCE_EXHAUSTED : LEAT_OK;
    }
    if (status == LEAT_OK)
        status = begin_epoch(node, s, err);
    /* A writer that died when it had finished leaves others' runs, too, and nobody writes again. */
    if (status == LEAT_OK && s->mode == SNAPSHOT_READ)
        leati_saved_sweep(s->folder);
    return status;
}

static leat_status snapshot_reset(leati_node_state *node, void *state, leat_error *err) {
    return begin_epoch(node, state, err);
}

/* ---- writing ---- */

static leat_status begin_run(struct snapshot_state *s, leat_error *err) {
    if (s->writer != NULL)
        return LEAT_OK;
    leati_saved_info info = leati_saved_info_new();
    memcpy(info.hash, s->info.hash, sizeof(info.hash));
    /* The writer's run, under the hash that was known before. */
    s->info = info;
    return leati_saved_writer_open(s->folder, s->info.run, s->compression, LEATI_RUN_OF_STATES,
                                   &s->writer, err);
}

static void stop_writing(struct snapshot_state *s) {
    leati_saved_writer_discard(s->writer);
    s->writer = NULL;
    s->mode = SNAPSHOT_PASS;
}

/* The one error of files that cannot be written. */
static leati_tail give_up(struct snapshot_state *s, leat_error *err) {
    leati_prefix(err, "the snapshot is not kept");
    stop_writing(s);
    return LEATI_ERROR;
}

static leat_status finish(struct snapshot_state *s, leat_error *err) {
    leat_status status = leati_saved_writer_finish(s->writer, err);
    if (status == LEAT_OK)
        status = leati_saved_writer_publish(s->writer, s->folder, &s->info, s->file_spec, err);
    if (status == LEAT_OK) {
        leati_saved_writer_close(s->writer);
        s->writer = NULL;
        s->mode = SNAPSHOT_PASS; /* the input has ended */
    }
    return status;
}

/* Asks shard_func about up to *n rows of the input's block; *n are known then. */
static leat_status find_shards(leati_node_state *node, struct snapshot_state *s, int64_t *n,
                               leat_error *err) {
    const leati_program *program = leati_dataset_shared(node->dataset, err);
    leat_status status =
        program == NULL
            ? LEAT_RESOURCE_EXHAUSTED
            : leati_saved_shards(node, program, s->scratch, &s->input.block,
                                 leati_input_begin(&s->input), *n, s->outcomes, &s->shards, err);
    *n = s->shards.n;
    return status;
}

static leat_status write_rows(leati_node_state *node, struct snapshot_state *s, int64_t n,
                              leat_error *err) {
    const struct snapshot_args *args = args_of(node->dataset);
    int64_t begin = leati_input_begin(&s->input);
    leat_status status = LEAT_OK;
    for (int64_t i = 0; i < n && status == LEAT_OK; i++) {
        /* Failed elements have numbers, too: outcomes are counted. */
        int64_t number = s->outcomes + i, shard = number % args->num_shards;
        if (args->shard_func != NULL)
            shard = *(const int64_t *)leati_column_row(&s->shards.columns[0], i);
        status = leati_saved_writer_add(s->writer, shard, args->shard_func == NULL ? &number : NULL,
                                        node->dataset->spec, &s->input.block, begin + i, err);
    }
    return status;
}

static leati_tail snapshot_write(leati_node_state *node, struct snapshot_state *s, int64_t want,
                                 leati_block *out, leat_error *err) {
    int64_t available = 0;
    if (begin_run(s, err) != LEAT_OK)
        return give_up(s, err);
    leati_tail tail = leati_input_peek(&s->input, want, NULL, &available, err);
    if (available == 0) {
        leati_input_consume(&s->input, tail == LEATI_ERROR);
        s->outcomes += tail == LEATI_ERROR;
        /* An input that fails in place of its end is not complete: its run is thrown away. */
        if (leati_input_failed_at_end(&s->input))
            stop_writing(s);
        return tail == LEATI_END && finish(s, err) != LEAT_OK ? give_up(s, err) : tail;
    }
    int64_t n = LEATI_MIN(available, want);
    if (s->scratch != NULL && find_shards(node, s, &n, err) != LEAT_OK) {
        leati_input_consume(&s->input, 1);
        s->outcomes++;
        return LEATI_ERROR;
    }
    if (leati_block_slice(&s->input.block, leati_input_begin(&s->input), n, out, err) != LEAT_OK) {
        leati_block_clear(out);
        return LEATI_ERROR;
    }
    if (write_rows(node, s, n, err) != LEAT_OK) {
        leati_block_clear(out);
        return give_up(s, err);
    }
    leati_input_consume(&s->input, n);
    s->outcomes += n;
    return LEATI_MORE;
}

/* ---- reading ---- */

/* Leaves out the numbers. */
static leat_status drop_numbers(struct snapshot_state *s, leati_block *out, leat_error *err) {
    leat_status status = leati_block_prepare(out, s->block.num_columns - 1, err);
    for (int c = 1; c < s->block.num_columns && status == LEAT_OK; c++)
        leati_column_copy(&s->block.columns[c], &out->columns[c - 1]);
    out->n = status == LEAT_OK ? s->block.n : 0;
    return status;
}

static leati_tail snapshot_read(leati_node_state *node, struct snapshot_state *s, int64_t want,
                                leati_block *out, leat_error *err) {
    if (args_of(node->dataset)->shard_func != NULL)
        return leati_input_take(&s->inner, want, out, err);
    /* Not the destinations, which have no place for the numbers. */
    s->block.byte_target = out->byte_target;
    leati_tail tail = leati_input_take(&s->inner, want, &s->block, err);
    if (s->block.n > 0 && drop_numbers(s, out, err) != LEAT_OK)
        tail = LEATI_ERROR;
    leati_block_clear(&s->block);
    return tail;
}

static leati_tail snapshot_pull(leati_node_state *node, void *state, int64_t want, leati_block *out,
                                leat_error *err) {
    struct snapshot_state *s = state;
    if (s->mode == SNAPSHOT_PASS)
        return leati_input_take(&s->input, want, out, err);
    leati_block_clear(out);
    return s->mode == SNAPSHOT_READ ? snapshot_read(node, s, want, out, err)
                                    : snapshot_write(node, s, want, out, err);
}

static leati_tail snapshot_advance(leati_node_state *node, void *state, int64_t n, int64_t *passed,
                                   leat_error *err) {
    struct snapshot_state *s = state;
    switch (s->mode) {
    case SNAPSHOT_READ: return leati_input_advance(&s->inner, n, passed, err);
    case SNAPSHOT_PASS: return leati_input_advance(&s->input, n, passed, err);
    /* What is passed is written, too. */
    default: return leati_state_node_advance_by_pulling(node, n, passed, err);
    }
}

/* ---- saving ---- */

/* What follows a writer's input in the state. Append only. */
enum { FILES_NONE = 0, FILES_COMMITTED, FILES_COUNTED };

static leat_status save_files(struct snapshot_state *s, leati_writer *out,
                              const leati_save_cost *cost, leat_error *err) {
    /* Only a state that the user asked for commits files: inputs keep states of their own often. */
    if (!cost->lasting || s->writer == NULL) {
        leati_put_uint(out, FILES_NONE);
        return LEAT_OK;
    }
    leat_status status = leati_saved_writer_commit(s->writer, err);
    leati_put_uint(out, FILES_COUNTED);
    leati_saved_put_run(out, s->info.run);
    leati_saved_writer_save(s->writer, out);
    return status;
}

static leat_status snapshot_save(leati_node_state *node, void *state, leati_writer *out,
                                 leati_save_cost *cost, leat_error *err) {
    struct snapshot_state *s = state;
    (void)node;
    leati_put_uint(out, s->mode);
    if (s->mode == SNAPSHOT_READ) {
        leati_saved_put_run(out, s->info.run);
        return leati_input_save(&s->inner, out, cost, err);
    }
    leati_put_int(out, s->outcomes);
    leat_status status = leati_input_save(&s->input, out, cost, err);
    return status == LEAT_OK && s->mode == SNAPSHOT_WRITE ? save_files(s, out, cost, err) : status;
}

static leat_status restore_reading(leati_node_state *node, struct snapshot_state *s,
                                   leati_reader *in, leat_error *err) {
    leat_status status = leati_saved_get_run(in, s->info.run, err);
    if (status == LEAT_OK) {
        s->mode = SNAPSHOT_READ;
        status = open_plan(node, s, err);
    }
    return status == LEAT_OK ? leati_input_restore(&s->inner, in, err) : status;
}

/* Goes on with the run of the state, or begins one, or gives the snapshot up for this epoch: where
 * another iterator goes on with the run. */
static leat_status restore_files(struct snapshot_state *s, leati_reader *in, leat_error *err) {
    leati_saved_info info;
    uint64_t files = 0;
    bool found = false;
    leat_status status = leati_get_uint(in, &files, err);
    if (status == LEAT_OK)
        status = leati_saved_info_read(s->folder, &info, &found, err);
    if (status != LEAT_OK)
        return status;
    bool done = found && info.finalized;
    /* Nothing is written where somebody else has finished a snapshot meanwhile, or where no file
     * has the epoch's first elements. */
    s->mode = done || (files == FILES_NONE && s->outcomes > 0) ? SNAPSHOT_PASS : SNAPSHOT_WRITE;
    if (files > FILES_COUNTED)
        return leati_fail(err, LEAT_DATA_LOSS, "snapshot: saved files of kind %llu",
                          (unsigned long long)files);
    if (files == FILES_NONE)
        return LEAT_OK;
    /* The run's name comes from the state, the rest is what this process writes. */
    leati_saved_info own = leati_saved_info_new();
    memcpy(own.hash, s->info.hash, sizeof(own.hash));
    status = leati_saved_get_run(in, own.run, err);
    leati_run_writer *writer = NULL;
    leat_error local = *err;
    if (status == LEAT_OK && !done) {
        s->info = own;
        status = leati_saved_writer_open(s->folder, own.run, s->compression, LEATI_RUN_OF_STATES,
                                         &writer, &local);
    }
    /* Without a writer this only reads past what the state says of files. */
    if (status == LEAT_OK || status == LEAT_ALREADY_EXISTS)
        status = leati_saved_writer_restore(writer, in, files == FILES_COUNTED, true, &local);
    s->writer = writer;
    if (status == LEAT_NOT_FOUND) {
        /* Another iterator has gone on from another state of the run. */
        leati_saved_writer_close(s->writer);
        s->writer = NULL;
        status = LEAT_OK;
    }
    if (s->writer == NULL)
        s->mode = SNAPSHOT_PASS;
    return status == LEAT_OK ? LEAT_OK : leati_error_pass(err, &local);
}

static leat_status snapshot_restore(leati_node_state *node, void *state, leati_reader *in,
                                    leat_error *err) {
    struct snapshot_state *s = state;
    uint64_t mode = 0;
    leat_status status = leati_get_uint(in, &mode, err);
    forget(s);
    if (status == LEAT_OK && mode > SNAPSHOT_PASS) {
        return leati_fail(err, LEAT_DATA_LOSS, "%s: a saved mode of %llu", node->name,
                          (unsigned long long)mode);
    }
    if (status == LEAT_OK && mode == SNAPSHOT_READ)
        return restore_reading(node, s, in, err);
    if (status == LEAT_OK)
        status = leati_get_int(in, &s->outcomes, err);
    if (status == LEAT_OK)
        status = open_input(node, s, err);
    if (status == LEAT_OK)
        status = leati_input_restore(&s->input, in, err);
    s->mode = SNAPSHOT_PASS;
    return status == LEAT_OK && mode == SNAPSHOT_WRITE ? restore_files(s, in, err) : status;
}

static void snapshot_close(leati_node_state *node, void *state) {
    struct snapshot_state *s = state;
    (void)node;
    forget(s);
    leati_input_close(&s->input);
    leati_block_fini(&s->block);
    leati_block_fini(&s->shards);
    leati_program_scratch_free(s->scratch);
    leat_spec_unref(s->file_spec);
    leati_free(s->folder);
}

const leati_dataset_op leati_op_snapshot = {
    .name = "snapshot",
    .version = 1,
    .doc = "The first complete iteration writes the elements to files, later ones read them. Saved "
           "as positions, while writing with the names of the files so far; restoring costs what "
           "the input's does, or reading compressed files up to the place.",
    .names = "Dataset.snapshot experimental.snapshot",
    .signature = "path compression=\"AUTO\" reader_func=null shard_func=null",
    .num_inputs = 1,
    .flow = LEATI_ONE_TO_ONE,
    .shards = LEATI_SHARD_NOT,
    .splits = LEATI_SPLITS_REFUSED,
    .batches = LEATI_BATCHES_OTHER,
    .flags = LEATI_OP_SHARED_DRAW,
    .args_size = sizeof(struct snapshot_args),
    .rows = snapshot_rows,
    .check = snapshot_check,
    .function_input = snapshot_function_input,
    .share = snapshot_share,
    .unshare = snapshot_unshare,
    .state_size = sizeof(struct snapshot_state),
    .open = snapshot_open,
    .pull = snapshot_pull,
    .advance = snapshot_advance,
    .save = snapshot_save,
    .restore = snapshot_restore,
    .reset = snapshot_reset,
    .close = snapshot_close,
};

leat_dataset *leat_dataset_snapshot(leat_dataset *input, const char *path,
                                    const leat_dataset_snapshot_options *options, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_dataset_snapshot_options o = {LEAT_DATASET_SNAPSHOT_DEFAULTS};
    if (!LEATI_DATASET_OPTIONS(leat_dataset_snapshot_options, &o, options, &input, 1, err))
        return NULL;
    struct snapshot_args args = {
        .path = (char *)(uintptr_t)path, /* these two are copied */
        .compression = (char *)(uintptr_t)(o.compression == NULL ? "" : o.compression),
        .reader_func = (leat_object *)o.reader_func,
        .shard_func = (leat_object *)o.shard_func};
    leat_dataset *dataset = NULL;
    if (path == NULL && input != NULL) {
        leati_refuse(err, VALUE, "snapshot: path is NULL; pass a folder");
        leat_dataset_unref(input);
    } else {
        dataset = leati_dataset_new(&leati_op_snapshot, &args, &input, 1, err);
    }
    leat_function_unref(o.reader_func);
    leat_function_unref(o.shard_func);
    return dataset;
}
