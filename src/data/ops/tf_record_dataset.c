/* tf_record_dataset: the records of TFRecord files as string scalars (tf.data.TFRecordDataset).
 *
 * Happy path: a block is one column of views into the chunks that the reader took from a pool; the
 * column's buffer comes from a pool too, so that nothing is allocated for a record. Files are read
 * one after the other, or num_parallel_reads of them in turns, record by record: TensorFlow's
 * legacy parallel interleave, where a file that ended gives its place to the next one in order and
 * its turn to its neighbour.
 * Failures: a damaged record is one DATA_LOSS, and the rest of its file is lost; a file that cannot
 * be opened is its error at every call, and the files behind it are not reached; a name that the
 * dataset of names failed to give is one error. Skipped elements are not read: their checksums are
 * not looked at, as in TensorFlow.
 * Saved as the place in the list of files and a byte offset for each open file. No locks. */
#include "base/log.h"
#include "data/input.h"
#include "data/values.h"
#include "exec/pools.h"
#include "file/tfrecord.h"
#include <leat/data_ops.h>
#include <string.h>

enum { DEFAULT_BUFFER = 256 << 10, LEAST_BUFFER = 4096, MOST_BUFFER = 64 << 20, MOST_ROWS = 4096 };

struct record_args {
    leati_strings filenames;
    char *compression_type;
    int64_t buffer_size;
    int64_t num_parallel_reads;
};

#define ROW(field) .offset = offsetof(struct record_args, field)

static const leati_row record_rows[] = {
    {.name = "filenames",
     .type = LEATI_ROW_STRINGS,
     .flags = LEATI_NODE,
     ROW(filenames),
     .doc = "One path, a list of them, or a dataset of string scalars."},
    {.name = "compression_type",
     .type = LEATI_ROW_STRING,
     .flags = LEATI_NONE,
     ROW(compression_type),
     .doc = "\"\" (none), \"ZLIB\" or \"GZIP\"."},
    {.name = "buffer_size",
     .type = LEATI_ROW_INT,
     .flags = LEATI_NONE,
     ROW(buffer_size),
     .default_number = DEFAULT_BUFFER,
     .doc = "Bytes read at once, from 4 KiB to 64 MiB; none: 256 KiB."},
    {.name = "num_parallel_reads",
     .type = LEATI_ROW_INT,
     .flags = LEATI_NONE | LEATI_AUTOTUNE,
     ROW(num_parallel_reads),
     .minimum = 1,
     .maximum = 65536,
     .doc = "How many files are read in turns, record by record; none: one after the other."},
    {0},
};

/* DONE: the file ended or was lost, and at its next turn the slot gets another one. */
enum place { VACANT = 0, BUSY, DONE };

/* A place in the cycle of open files. */
struct record_slot {
    enum place place;
    char *path;             /* of the file that has the place */
    leati_tfrecord *reader; /* NULL: to be opened */
    int64_t position;       /* where to begin once it is open */
    bool failed;            /* instead of a file: an error to be delivered once */
    leat_error error;
};

struct record_state {
    leati_input names; /* only with a dataset of names */
    int64_t next_name; /* only with a list */
    bool started;      /* the first files have got their places */
    struct record_slot *slots;
    int64_t num_slots, at; /* whose turn it is */
    leat_compression compression;
    size_t chunk_size;
    leati_buffer_pool *chunks;
    leati_pools pools; /* of columns */
};

enum mode { READ, PASS };

/* ---- the plan side ---- */

static leat_compression compression_of(const struct record_args *args) {
    leat_compression compression = LEAT_COMPRESSION_NONE;
    return leat_compression_from_name(args->compression_type, &compression, NULL) == LEAT_OK
               ? compression
               : LEAT_COMPRESSION_NONE;
}

static leat_status check_names(const leat_dataset *dataset, leat_error *err) {
    const struct record_args *args = dataset->args;
    leat_shape scalar = LEAT_SCALAR;
    if (dataset->num_inputs == 0) {
        return args->filenames.values != NULL
                   ? LEAT_OK
                   : leati_fail(err, LEAT_INVALID_ARGUMENT,
                                "tf_record_dataset: argument filenames is missing; give a path, a "
                                "list of paths or a dataset of them");
    }
    if (dataset->num_inputs > 1 || args->filenames.values != NULL) {
        return leati_fail(err, LEAT_INVALID_ARGUMENT,
                          "tf_record_dataset: filenames is given %d times; expected once",
                          dataset->num_inputs + (args->filenames.values != NULL));
    }
    const leat_spec *spec = dataset->inputs[0]->spec;
    leat_shape shape = leat_spec_shape(spec);
    if (leat_spec_get_kind(spec) != LEAT_SPEC_TENSOR || leat_spec_dtype(spec) != LEAT_STRING ||
        !leati_shape_compatible(&shape, &scalar)) {
        char text[256];
        leat_spec_print(spec, text, sizeof(text));
        return leati_fail(
            err, LEAT_INVALID_ARGUMENT,
            "tf_record_dataset: filenames is a dataset of %s; expected string scalars", text);
    }
    return LEAT_OK;
}

static leat_status record_check(leat_dataset *dataset, leat_error *err) {
    static int logged;
    const struct record_args *args = dataset->args;
    leat_compression compression;
    leat_error local = {0};
    leat_status status = check_names(dataset, err);
    if (status != LEAT_OK) {
        return status;
    }
    if (args->num_parallel_reads == LEAT_AUTOTUNE &&
        (dataset->num_inputs > 0 || args->filenames.count > 1)) {
        return leati_fail(err, LEAT_UNIMPLEMENTED,
                          "tf_record_dataset: num_parallel_reads is AUTOTUNE, whose order depends "
                          "on the number of processors; give a number, or none");
    }
    status = leat_compression_from_name(args->compression_type, &compression, &local);
    if (status == LEAT_INVALID_ARGUMENT) {
        leati_log_once(&logged, LEAT_LOG_WARNING,
                       "tf_record_dataset: compression_type \"%s\" is unknown; the files are read "
                       "as they are",
                       args->compression_type);
    } else if (status != LEAT_OK) {
        return leati_fail(err, status, "tf_record_dataset: compression_type: %s", local.text);
    }
    return LEAT_OK;
}

static leat_spec *record_spec(const leat_dataset *dataset, leat_error *err) {
    (void)dataset;
    return leat_spec_tensor(LEAT_STRING, LEAT_SCALAR, err);
}

/* ---- files ---- */

static leat_status record_open(leati_node_state *node, void *state, leat_error *err) {
    struct record_state *s = state;
    const struct record_args *args = node->dataset->args;
    int64_t size = args->buffer_size > 0 ? args->buffer_size : DEFAULT_BUFFER;
    size = size < LEAST_BUFFER ? LEAST_BUFFER : size;
    size = size > MOST_BUFFER ? MOST_BUFFER : size;
    s->num_slots = args->num_parallel_reads > 1 ? args->num_parallel_reads : 1;
    s->slots = leati_alloc_zero((size_t)s->num_slots, sizeof(*s->slots));
    if (s->slots == NULL) {
        return leati_no_memory(err, (size_t)s->num_slots * sizeof(*s->slots));
    }
    s->compression = compression_of(args);
    s->chunk_size = (size_t)size;
    s->chunks = leati_buffer_pool_new(s->chunk_size, err);
    if (s->chunks == NULL) {
        return LEAT_RESOURCE_EXHAUSTED;
    }
    return node->dataset->num_inputs > 0 ? leati_input_open(&s->names, node, 0, err) : LEAT_OK;
}

static void clear_slot(struct record_slot *slot) {
    leati_tfrecord_close(slot->reader);
    leati_free(slot->path);
    *slot = (struct record_slot){0};
}

/* Gives the slot the file `name`. */
static leat_status set_path(struct record_slot *slot, leat_string name, leat_error *err) {
    char *path = leati_strndup(name.size > 0 ? name.data : "", name.size);
    if (path == NULL) {
        return leati_no_memory(err, name.size);
    }
    clear_slot(slot);
    slot->place = BUSY;
    slot->path = path;
    if (memchr(path, 0, name.size) != NULL) {
        slot->failed = true;
        leati_fail(&slot->error, LEAT_INVALID_ARGUMENT,
                   "the file name \"%.200s\" has a byte of 0 in it; expected a path", path);
    }
    return LEAT_OK;
}

/* Gives the slot the next file, or leaves it empty if there is none. An error is that of the
 * library itself; one of the dataset of names takes the place of a file. */
static leat_status take_name(leati_node_state *node, struct record_state *s,
                             struct record_slot *slot, leat_error *err) {
    const struct record_args *args = node->dataset->args;
    leat_status status = LEAT_OK;
    if (node->dataset->num_inputs == 0) {
        if (s->next_name == args->filenames.count) {
            clear_slot(slot);
            return LEAT_OK;
        }
        status = set_path(slot, args->filenames.values[s->next_name], err);
        s->next_name += status == LEAT_OK;
        return status;
    }
    int64_t available = 0;
    leat_error failure = {0};
    leati_tail tail = leati_input_peek(&s->names, 1, NULL, &available, &failure);
    if (available > 0) {
        const leat_string *name =
            leati_column_row(&s->names.block.columns[0], leati_input_begin(&s->names));
        status = set_path(slot, *name, err);
    } else {
        clear_slot(slot);
        slot->failed = tail == LEATI_ERROR;
        slot->place = slot->failed ? BUSY : VACANT;
        slot->error = failure;
    }
    if (status == LEAT_OK) {
        leati_input_consume(&s->names, available > 0 || tail == LEATI_ERROR);
    }
    return status;
}

/* Opens the slot's file where it was left. A file that got shorter meanwhile is DATA_LOSS. */
static leat_status open_file(struct record_state *s, struct record_slot *slot, leat_error *err) {
    leati_tfrecord_options options = {
        .compression = s->compression, .chunk_size = s->chunk_size, .pool = s->chunks};
    leat_status status = leati_tfrecord_open(slot->path, &options, &slot->reader, err);
    if (status != LEAT_OK || slot->position == 0) {
        return status;
    }
    leat_error local = {0};
    status = leati_tfrecord_seek(slot->reader, slot->position, &local);
    if (status == LEAT_OUT_OF_RANGE) {
        return leati_fail(err, LEAT_DATA_LOSS,
                          "%.250s: the file is shorter than byte %lld, where reading stood; "
                          "restore with the same files",
                          slot->path, (long long)slot->position);
    }
    if (status != LEAT_OK && err != NULL) {
        *err = local;
    }
    return status;
}

/* Takes up to `want` records out of one slot (READ: into records, kept alive by owner). *n > 0 and
 * MORE; END where the file ended; ERROR with one outcome. */
static leati_tail use_slot(struct record_state *s, struct record_slot *slot, enum mode mode,
                           int64_t want, size_t bytes, leat_string *records, leat_buffer *owner,
                           int64_t *n, leat_error *err) {
    *n = 0;
    if (slot->failed) {
        *err = slot->error;
        slot->failed = false;
        slot->place = DONE;
        return LEATI_ERROR;
    }
    if (slot->reader == NULL) {
        leat_status status = open_file(s, slot, err);
        if (status != LEAT_OK) {
            slot->place = status == LEAT_DATA_LOSS ? DONE : BUSY;
            leati_tfrecord_close(slot->reader);
            slot->reader = NULL;
            return LEATI_ERROR;
        }
    }
    leati_record_outcome outcome =
        mode == READ ? leati_tfrecord_read(slot->reader, want, bytes, records, owner, n, err)
                     : leati_tfrecord_skip(slot->reader, want, n, err);
    if (*n > 0) {
        return LEATI_MORE; /* what stopped it comes again */
    }
    /* Without memory the file stays where it is; any other error costs the rest of it. */
    if (outcome == LEATI_RECORD_END || err->code != LEAT_RESOURCE_EXHAUSTED) {
        slot->place = DONE;
    }
    return outcome == LEATI_RECORD_ERROR ? LEATI_ERROR : LEATI_END;
}

static leat_status start(leati_node_state *node, struct record_state *s, leat_error *err) {
    for (int64_t i = 0; !s->started && i < s->num_slots; i++) {
        leat_status status =
            s->slots[i].place == VACANT ? take_name(node, s, &s->slots[i], err) : LEAT_OK;
        if (status != LEAT_OK) {
            return status;
        }
    }
    s->started = true;
    return LEAT_OK;
}

/* The next records, all from one slot; END if no slot has a file. */
static leati_tail next_records(leati_node_state *node, struct record_state *s, enum mode mode,
                               int64_t want, size_t bytes, leat_string *records, leat_buffer *owner,
                               int64_t *n, leat_error *err) {
    *n = 0;
    if (start(node, s, err) != LEAT_OK) {
        return LEATI_ERROR;
    }
    for (int64_t empty = 0; empty < s->num_slots;) {
        struct record_slot *slot = &s->slots[s->at];
        leati_tail tail = LEATI_END;
        if (slot->place == BUSY) {
            tail =
                use_slot(s, slot, mode, s->num_slots > 1 ? 1 : want, bytes, records, owner, n, err);
        }
        if (tail == LEATI_END && slot->place == DONE && take_name(node, s, slot, err) != LEAT_OK) {
            return LEATI_ERROR;
        }
        s->at = (s->at + 1) % s->num_slots;
        if (tail != LEATI_END) {
            return tail;
        }
        empty = slot->place == BUSY ? 0 : empty + 1;
    }
    return LEATI_END;
}

/* ---- the protocol ---- */

static leati_tail cancelled(const leati_node_state *node, leat_error *err) {
    if (!leati_cancel_fired(node->iteration->cancel)) {
        return LEATI_MORE;
    }
    leati_fail(err, LEAT_CANCELLED, "the iterator was cancelled");
    return LEATI_ERROR;
}

static leati_tail record_pull(leati_node_state *node, void *state, int64_t want, leati_block *out,
                              leat_error *err) {
    struct record_state *s = state;
    size_t target = out->byte_target > 0 ? out->byte_target : LEATI_BYTE_TARGET, bytes = 0;
    int64_t count = 0;
    leati_tail tail = cancelled(node, err);
    leati_block_clear(out);
    if (tail != LEATI_MORE) {
        return tail;
    }
    want = want < MOST_ROWS ? want : MOST_ROWS;
    leat_buffer *buffer = leati_pools_take(&s->pools, (size_t)want * sizeof(leat_string), err);
    if (buffer == NULL || leati_block_prepare(out, 1, err) != LEAT_OK) {
        leat_buffer_unref(buffer);
        return LEATI_ERROR;
    }
    leat_string *records = leat_buffer_data(buffer);
    while (count < want && bytes < target && tail == LEATI_MORE) {
        int64_t n = 0;
        tail = next_records(node, s, READ, want - count, target - bytes, records + count, buffer,
                            &n, err);
        for (; n > 0; n--) {
            bytes += records[count++].size;
        }
    }
    if (count == 0) {
        leat_buffer_unref(buffer);
        leati_block_clear(out);
        return tail;
    }
    leat_shape scalar = LEAT_SCALAR;
    leati_column_strided(&out->columns[0], LEAT_STRING, &scalar, records, sizeof(leat_string),
                         buffer);
    out->n = count;
    return tail;
}

static leati_tail record_advance(leati_node_state *node, void *state, int64_t n, int64_t *passed,
                                 leat_error *err) {
    struct record_state *s = state;
    leati_tail tail = LEATI_MORE;
    while (*passed < n && tail == LEATI_MORE) {
        int64_t more = 0;
        tail = cancelled(node, err);
        if (tail == LEATI_MORE) {
            tail = next_records(node, s, PASS, n - *passed, 0, NULL, NULL, &more, err);
        }
        *passed += more;
    }
    return tail;
}

/* TensorFlow's files in turns are skipped by reading them. */
static leati_tail record_skip(leati_node_state *node, void *state, int64_t n, int64_t *skipped,
                              leat_error *err) {
    const struct record_args *args = node->dataset->args;
    if (args->num_parallel_reads == 0) {
        return record_advance(node, state, n, skipped, err);
    }
    leati_block block = {.byte_target = LEATI_BYTE_TARGET};
    leati_tail tail = LEATI_MORE;
    while (*skipped < n && tail == LEATI_MORE) {
        tail = record_pull(node, state, n - *skipped, &block, err);
        *skipped += block.n;
    }
    leati_block_fini(&block);
    return tail == LEATI_END && *skipped == n ? LEATI_MORE : tail;
}

static leat_status record_save(leati_node_state *node, void *state, leati_writer *out,
                               leati_save_cost *cost, leat_error *err) {
    struct record_state *s = state;
    leati_put_uint(out, s->started);
    leati_put_int(out, s->at);
    leati_put_int(out, s->next_name);
    for (int64_t i = 0; i < s->num_slots; i++) {
        const struct record_slot *slot = &s->slots[i];
        const char *path = slot->path != NULL ? slot->path : "";
        leati_put_uint(out, (uint64_t)slot->place << 2 | (uint64_t)slot->failed << 1 |
                                (uint64_t)(slot->path != NULL));
        leati_put_bytes(out, path, strlen(path));
        leati_put_int(out, slot->reader != NULL ? leati_tfrecord_position(slot->reader)
                                                : slot->position);
        if (slot->failed) {
            leati_put_error(out, &slot->error);
        }
    }
    return node->dataset->num_inputs > 0 ? leati_input_save(&s->names, out, cost, err) : LEAT_OK;
}

static leat_status restore_slot(struct record_slot *slot, leati_reader *in, leat_error *err) {
    uint64_t flags = 0;
    const void *path = NULL;
    size_t size = 0;
    leat_status status = leati_get_uint(in, &flags, err);
    if (status == LEAT_OK) {
        status = leati_get_bytes(in, &path, &size, err);
    }
    if (status == LEAT_OK && (flags & 1) != 0) {
        status = set_path(slot, (leat_string){.data = path, .size = size}, err);
    }
    slot->place = (enum place)(flags >> 2 & 3);
    slot->failed = (flags & 2) != 0;
    if (status == LEAT_OK) {
        status = leati_get_int(in, &slot->position, err);
    }
    if (status == LEAT_OK && (slot->position < 0 || flags >> 2 > DONE ||
                              (slot->place == BUSY && !slot->failed && slot->path == NULL))) {
        status = leati_fail(err, LEAT_DATA_LOSS, "tf_record_dataset: a saved place of %lld",
                            (long long)slot->position);
    }
    return status == LEAT_OK && slot->failed ? leati_get_error(in, &slot->error, err) : status;
}

static leat_status record_restore(leati_node_state *node, void *state, leati_reader *in,
                                  leat_error *err) {
    struct record_state *s = state;
    const struct record_args *args = node->dataset->args;
    uint64_t started = 0;
    leat_status status = leati_get_uint(in, &started, err);
    if (status == LEAT_OK) {
        status = leati_get_int(in, &s->at, err);
    }
    if (status == LEAT_OK) {
        status = leati_get_int(in, &s->next_name, err);
    }
    if (status == LEAT_OK && (s->at < 0 || s->at >= s->num_slots || s->next_name < 0 ||
                              s->next_name > args->filenames.count)) {
        status = leati_fail(err, LEAT_DATA_LOSS,
                            "tf_record_dataset: a saved position at file %lld of %d",
                            (long long)s->next_name, args->filenames.count);
    }
    s->started = started != 0;
    for (int64_t i = 0; i < s->num_slots && status == LEAT_OK; i++) {
        clear_slot(&s->slots[i]);
        status = restore_slot(&s->slots[i], in, err);
    }
    return status == LEAT_OK && node->dataset->num_inputs > 0
               ? leati_input_restore(&s->names, in, err)
               : status;
}

static leat_status record_reset(leati_node_state *node, void *state, leat_error *err) {
    struct record_state *s = state;
    for (int64_t i = 0; i < s->num_slots; i++) {
        clear_slot(&s->slots[i]);
    }
    s->started = false;
    s->next_name = s->at = 0;
    return node->dataset->num_inputs > 0 ? leati_input_reset(&s->names, err) : LEAT_OK;
}

static void record_close(leati_node_state *node, void *state) {
    (void)node;
    struct record_state *s = state;
    for (int64_t i = 0; i < s->num_slots && s->slots != NULL; i++) {
        clear_slot(&s->slots[i]);
    }
    leati_free(s->slots);
    leati_pools_close(&s->pools);
    leati_buffer_pool_close(s->chunks);
    leati_input_close(&s->names);
}

const leati_dataset_op leati_op_tf_record_dataset = {
    .name = "tf_record_dataset",
    .version = 1,
    .doc = "The records of TFRecord files. Saved as the place in the list of files and a byte "
           "offset for each open one; restoring costs a seek (of a compressed file: reading up to "
           "there).",
    .num_inputs = -1,
    .flow = LEATI_SOURCE,
    .args_size = sizeof(struct record_args),
    .rows = record_rows,
    .check = record_check,
    .spec = record_spec,
    .state_size = sizeof(struct record_state),
    .open = record_open,
    .pull = record_pull,
    .advance = record_advance,
    .skip = record_skip,
    .save = record_save,
    .restore = record_restore,
    .reset = record_reset,
    .close = record_close,
};

static void set_options(const leat_tf_record_options *options, struct record_args *args) {
    args->buffer_size = DEFAULT_BUFFER;
    if (options == NULL) {
        return;
    }
    args->compression_type = (char *)(uintptr_t)options->compression_type; /* copied, not changed */
    args->buffer_size = options->buffer_size == 0 ? DEFAULT_BUFFER : options->buffer_size;
    args->num_parallel_reads = options->num_parallel_reads;
}

leat_dataset *leat_tf_record_dataset(const char *const *filenames, int num_filenames,
                                     const leat_tf_record_options *options, leat_error *err) {
    struct record_args args = {.filenames = {.count = num_filenames}};
    leat_string *names = num_filenames < 0 || (filenames == NULL && num_filenames > 0)
                             ? NULL
                             : leati_alloc((size_t)num_filenames, sizeof(*names));
    leat_dataset *dataset = NULL;
    bool missing = num_filenames < 0 || (filenames == NULL && num_filenames > 0);
    for (int i = 0; names != NULL && i < num_filenames; i++) {
        missing = missing || filenames[i] == NULL;
        names[i] = (leat_string){.data = filenames[i],
                                 .size = filenames[i] == NULL ? 0 : strlen(filenames[i])};
    }
    if (missing) {
        leati_fail(err, LEAT_INVALID_ARGUMENT,
                   "tf_record_dataset: filenames is NULL or has a NULL in it; pass %d paths",
                   num_filenames);
    } else if (names == NULL) {
        leati_no_memory(err, (size_t)num_filenames * sizeof(*names));
    } else {
        args.filenames.values = names;
        set_options(options, &args);
        dataset = leati_dataset_new(&leati_op_tf_record_dataset, &args, NULL, 0, err);
    }
    leati_free(names);
    return dataset;
}

leat_dataset *leat_tf_record_dataset_of(leat_dataset *filenames,
                                        const leat_tf_record_options *options, leat_error *err) {
    struct record_args args = {0};
    set_options(options, &args);
    return leati_dataset_new(&leati_op_tf_record_dataset, &args, &filenames, 1, err);
}
