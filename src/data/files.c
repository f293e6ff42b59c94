/* The files of a reader; see files.h.
 *
 * Happy path: each slot holds one open file, and records come from the slot whose turn it is.
 * Failures: a file that cannot be opened is its error at every call, and the files behind it are
 * not reached, unless the format says that it is lost; a name that the dataset of names failed to
 * give is one error. No locks. */
#include "data/files.h"
#include "data/values.h"
#include <string.h>

enum {
    MOST_ROWS = 4096,
    DEFAULT_BUFFER = 256 << 10,
    MOST_BUFFER = 64 << 20,
    /* A record of more than this part of a block's bytes ends its block: who keeps one element of a
     * block, as shuffle does, keeps all of its records alive. */
    OWN_BLOCK = 8
};

/* DONE: the file ended or was lost, and at its next turn the slot gets another one. */
enum place { VACANT = 0, BUSY, DONE };

/* A place in the cycle of open files. */
struct leati_file_slot {
    enum place place;
    char *path;       /* of the file that has the place */
    void *reader;     /* NULL: to be opened */
    int64_t position; /* where to begin once it is open */
    bool failed;      /* instead of a file: an error to be delivered once */
    leat_error error;
};

/* ---- the plan side ---- */

leat_status leati_files_check(const leat_dataset *dataset, const leati_strings *filenames,
                              int64_t num_parallel_reads, leat_error *err) {
    const char *op = dataset->op->name;
    leat_shape scalar = LEAT_SCALAR;
    if (num_parallel_reads == LEAT_AUTOTUNE && (dataset->num_inputs > 0 || filenames->count > 1)) {
        return leati_fail(err, LEAT_UNIMPLEMENTED,
                          "%s: num_parallel_reads is AUTOTUNE, whose order depends on the number "
                          "of processors; give a number, or none",
                          op);
    }
    if (dataset->num_inputs == 0) {
        return filenames->values != NULL
                   ? LEAT_OK
                   : leati_fail(err, LEAT_INVALID_ARGUMENT,
                                "%s: argument filenames is missing; give a path, a list of paths "
                                "or a dataset of them",
                                op);
    }
    if (dataset->num_inputs > 1 || filenames->values != NULL) {
        return leati_fail(err, LEAT_INVALID_ARGUMENT,
                          "%s: filenames is given %d times; expected once", op,
                          dataset->num_inputs + (filenames->values != NULL));
    }
    const leat_spec *spec = dataset->inputs[0]->spec;
    leat_shape shape = leat_spec_shape(spec);
    if (leat_spec_get_kind(spec) != LEAT_SPEC_TENSOR || leat_spec_dtype(spec) != LEAT_STRING ||
        !leati_shape_compatible(&shape, &scalar)) {
        char text[256];
        leat_spec_print(spec, text, sizeof(text));
        return leati_fail(err, LEAT_INVALID_ARGUMENT,
                          "%s: filenames is a dataset of %s; expected string scalars", op, text);
    }
    return LEAT_OK;
}

leat_spec *leati_files_spec(const leat_dataset *dataset, leat_error *err) {
    (void)dataset;
    return leat_spec_tensor(LEAT_STRING, LEAT_SCALAR, err);
}

leat_status leati_filenames_view(const char *op, const char *const *filenames, int count,
                                 leati_strings *out, leat_error *err) {
    bool missing = count < 0 || (filenames == NULL && count > 0);
    for (int i = 0; !missing && i < count; i++) {
        missing = filenames[i] == NULL;
    }
    if (missing) {
        return leati_fail(err, LEAT_INVALID_ARGUMENT,
                          "%s: filenames is NULL or has a NULL in it; pass %d paths", op, count);
    }
    leat_string *names = leati_alloc((size_t)count, sizeof(*names));
    if (names == NULL) {
        return leati_no_memory(err, (size_t)count * sizeof(*names));
    }
    for (int i = 0; i < count; i++) {
        names[i] = (leat_string){.data = filenames[i], .size = strlen(filenames[i])};
    }
    *out = (leati_strings){.values = names, .count = count};
    return LEAT_OK;
}

/* ---- files ---- */

leat_status leati_files_open(leati_files *files, leati_node_state *node,
                             const leati_file_format *format, const leati_strings *filenames,
                             int64_t num_parallel_reads, int64_t buffer_size, leat_error *err) {
    int64_t size = buffer_size > 0 ? buffer_size : DEFAULT_BUFFER;
    files->chunk_size = (size_t)(size < MOST_BUFFER ? size : MOST_BUFFER);
    files->format = format;
    files->paths = filenames;
    files->node = node;
    files->num_slots = num_parallel_reads > 1 ? num_parallel_reads : 1;
    files->slots = leati_alloc_zero((size_t)files->num_slots, sizeof(*files->slots));
    if (files->slots == NULL) {
        return leati_no_memory(err, (size_t)files->num_slots * sizeof(*files->slots));
    }
    return node->dataset->num_inputs > 0 ? leati_input_open(&files->names, node, 0, err) : LEAT_OK;
}

static void clear_slot(const leati_files *files, struct leati_file_slot *slot) {
    files->format->close(slot->reader);
    leati_free(slot->path);
    *slot = (struct leati_file_slot){0};
}

/* Gives the slot the file `name`. */
static leat_status set_path(const leati_files *files, struct leati_file_slot *slot,
                            leat_string name, leat_error *err) {
    char *path = leati_strndup(name.size > 0 ? name.data : "", name.size);
    if (path == NULL) {
        return leati_no_memory(err, name.size);
    }
    clear_slot(files, slot);
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
static leat_status take_name(leati_files *files, struct leati_file_slot *slot, leat_error *err) {
    leat_status status = LEAT_OK;
    if (files->node->dataset->num_inputs == 0) {
        if (files->next_name == files->paths->count) {
            clear_slot(files, slot);
            return LEAT_OK;
        }
        status = set_path(files, slot, files->paths->values[files->next_name], err);
        files->next_name += status == LEAT_OK;
        return status;
    }
    int64_t available = 0;
    leat_error failure = {0};
    leati_tail tail = leati_input_peek(&files->names, 1, NULL, &available, &failure);
    if (available > 0) {
        const leat_string *name =
            leati_column_row(&files->names.block.columns[0], leati_input_begin(&files->names));
        status = set_path(files, slot, *name, err);
    } else {
        clear_slot(files, slot);
        slot->failed = tail == LEATI_ERROR;
        slot->place = slot->failed ? BUSY : VACANT;
        slot->error = failure;
    }
    if (status == LEAT_OK) {
        leati_input_consume(&files->names, available > 0 || tail == LEATI_ERROR);
    }
    return status;
}

/* Takes records out of one slot. */
static leati_tail use_slot(leati_files *files, struct leati_file_slot *slot,
                           const leati_file_request *request, int64_t *n, leat_error *err) {
    *n = 0;
    if (slot->failed) {
        *err = slot->error;
        slot->failed = false;
        slot->place = DONE;
        return LEATI_ERROR;
    }
    leati_file_outcome outcome = LEATI_FILE_MORE;
    if (slot->reader == NULL) {
        outcome = files->format->open(files, slot->path, slot->position, &slot->reader, err);
        if (outcome != LEATI_FILE_MORE) {
            files->format->close(slot->reader);
            slot->reader = NULL;
        }
    }
    if (outcome == LEATI_FILE_MORE) {
        outcome = files->format->read(slot->reader, request, n, err);
    }
    slot->place = outcome == LEATI_FILE_END || outcome == LEATI_FILE_LOST ? DONE : BUSY;
    return outcome == LEATI_FILE_MORE  ? LEATI_MORE
           : outcome == LEATI_FILE_END ? LEATI_END
                                       : LEATI_ERROR;
}

static leat_status start(leati_files *files, leat_error *err) {
    for (int64_t i = 0; !files->started && i < files->num_slots; i++) {
        leat_status status =
            files->slots[i].place == VACANT ? take_name(files, &files->slots[i], err) : LEAT_OK;
        if (status != LEAT_OK) {
            return status;
        }
    }
    files->started = true;
    return LEAT_OK;
}

leati_tail leati_files_next(leati_files *files, const leati_file_request *request, int64_t *n,
                            leat_error *err) {
    leati_file_request own = *request;
    *n = 0;
    if (leati_cancel_fired(files->node->iteration->cancel)) {
        leati_fail(err, LEAT_CANCELLED, "the iterator was cancelled");
        return LEATI_ERROR;
    }
    if (start(files, err) != LEAT_OK) {
        return LEATI_ERROR;
    }
    own.want = files->num_slots > 1 ? 1 : own.want;
    for (int64_t empty = 0; empty < files->num_slots;) {
        struct leati_file_slot *slot = &files->slots[files->at];
        leati_tail tail = LEATI_END;
        if (slot->place == BUSY) {
            tail = use_slot(files, slot, &own, n, err);
        }
        if (tail == LEATI_END && slot->place == DONE && take_name(files, slot, err) != LEAT_OK) {
            return LEATI_ERROR;
        }
        files->at = (files->at + 1) % files->num_slots;
        if (tail != LEATI_END) {
            return tail;
        }
        empty = slot->place == BUSY ? 0 : empty + 1;
    }
    return LEATI_END;
}

leati_tail leati_files_pull(leati_node_state *node, void *state, int64_t want, leati_block *out,
                            leat_error *err) {
    (void)node;
    leati_files *files = state;
    size_t target = out->byte_target > 0 ? out->byte_target : LEATI_BYTE_TARGET, bytes = 0;
    int64_t count = 0;
    leati_tail tail = LEATI_MORE;
    leati_block_clear(out);
    want = want < MOST_ROWS ? want : MOST_ROWS;
    leat_buffer *buffer = leati_pools_take(&files->pools, (size_t)want * sizeof(leat_string), err);
    if (buffer == NULL || leati_block_prepare(out, 1, err) != LEAT_OK) {
        leat_buffer_unref(buffer);
        return LEATI_ERROR;
    }
    leat_string *records = leat_buffer_data(buffer);
    size_t large = target / OWN_BLOCK, last = 0;
    while (count < want && bytes < target && last <= large && tail == LEATI_MORE) {
        int64_t n = 0;
        leati_file_request request = {
            .want = want - count, .bytes = large + 1, .records = records + count, .owner = buffer};
        tail = leati_files_next(files, &request, &n, err);
        for (; n > 0; n--) {
            last = records[count++].size;
            bytes += last;
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

leati_tail leati_files_advance(leati_node_state *node, void *state, int64_t n, int64_t *passed,
                               leat_error *err) {
    (void)node;
    leati_tail tail = LEATI_MORE;
    while (*passed < n && tail == LEATI_MORE) {
        int64_t more = 0;
        leati_file_request request = {.want = n - *passed};
        tail = leati_files_next(state, &request, &more, err);
        *passed += more;
    }
    return tail;
}

/* ---- saving ---- */

leat_status leati_files_save(leati_node_state *node, void *state, leati_writer *out,
                             leati_save_cost *cost, leat_error *err) {
    (void)node;
    leati_files *files = state;
    leati_put_uint(out, files->started);
    leati_put_int(out, files->at);
    leati_put_int(out, files->next_name);
    for (int64_t i = 0; i < files->num_slots; i++) {
        const struct leati_file_slot *slot = &files->slots[i];
        const char *path = slot->path != NULL ? slot->path : "";
        leati_put_uint(out, (uint64_t)slot->place << 2 | (uint64_t)slot->failed << 1 |
                                (uint64_t)(slot->path != NULL));
        leati_put_bytes(out, path, strlen(path));
        leati_put_int(out, slot->reader != NULL ? files->format->position(slot->reader)
                                                : slot->position);
        if (slot->failed) {
            leati_put_error(out, &slot->error);
        }
    }
    return files->node->dataset->num_inputs > 0 ? leati_input_save(&files->names, out, cost, err)
                                                : LEAT_OK;
}

static leat_status restore_slot(const leati_files *files, struct leati_file_slot *slot,
                                leati_reader *in, leat_error *err) {
    uint64_t flags = 0;
    const void *path = NULL;
    size_t size = 0;
    leat_status status = leati_get_uint(in, &flags, err);
    if (status == LEAT_OK) {
        status = leati_get_bytes(in, &path, &size, err);
    }
    if (status == LEAT_OK && (flags & 1) != 0) {
        status = set_path(files, slot, (leat_string){.data = path, .size = size}, err);
    }
    slot->place = (enum place)(flags >> 2 & 3);
    slot->failed = (flags & 2) != 0;
    if (status == LEAT_OK) {
        status = leati_get_int(in, &slot->position, err);
    }
    if (status == LEAT_OK && (slot->position < 0 || flags >> 2 > DONE ||
                              (slot->place == BUSY && !slot->failed && slot->path == NULL))) {
        status = leati_fail(err, LEAT_DATA_LOSS, "%s: a saved place of %lld", files->format->op,
                            (long long)slot->position);
    }
    return status == LEAT_OK && slot->failed ? leati_get_error(in, &slot->error, err) : status;
}

leat_status leati_files_restore(leati_node_state *node, void *state, leati_reader *in,
                                leat_error *err) {
    leati_files *files = state;
    uint64_t started = 0;
    int64_t count = node->dataset->num_inputs > 0 ? 0 : files->paths->count;
    leat_status status = leati_get_uint(in, &started, err);
    if (status == LEAT_OK) {
        status = leati_get_int(in, &files->at, err);
    }
    if (status == LEAT_OK) {
        status = leati_get_int(in, &files->next_name, err);
    }
    if (status == LEAT_OK && (files->at < 0 || files->at >= files->num_slots ||
                              files->next_name < 0 || files->next_name > count)) {
        status = leati_fail(err, LEAT_DATA_LOSS, "%s: a saved position at file %lld of %lld",
                            files->format->op, (long long)files->next_name, (long long)count);
        files->at = 0;
    }
    files->started = started != 0;
    for (int64_t i = 0; i < files->num_slots && status == LEAT_OK; i++) {
        clear_slot(files, &files->slots[i]);
        status = restore_slot(files, &files->slots[i], in, err);
    }
    return status == LEAT_OK && files->node->dataset->num_inputs > 0
               ? leati_input_restore(&files->names, in, err)
               : status;
}

leat_status leati_files_reset(leati_node_state *node, void *state, leat_error *err) {
    leati_files *files = state;
    for (int64_t i = 0; i < files->num_slots; i++) {
        clear_slot(files, &files->slots[i]);
    }
    files->started = false;
    files->next_name = files->at = 0;
    return node->dataset->num_inputs > 0 ? leati_input_reset(&files->names, err) : LEAT_OK;
}

void leati_files_close(leati_node_state *node, void *state) {
    (void)node;
    leati_files *files = state;
    for (int64_t i = 0; i < files->num_slots && files->slots != NULL; i++) {
        clear_slot(files, &files->slots[i]);
    }
    leati_free(files->slots);
    leati_pools_close(&files->pools);
    leati_input_close(&files->names);
}
