/* The files of a reader; see files.h.
 *
 * Happy path: each slot holds one open file, and records come from the slot whose turn it is.
 * Failures: a file that cannot be opened is its error at every call, and the files behind it are
 * not reached, unless the format says that it is lost; a name that the dataset of names failed to
 * give is one error. No locks. */
#include "base/minmax.h"
#include "data/ahead/cycle.h"
#include "data/source/file_slot.h"
#include "data/values/values.h"
#include <string.h>

enum {
    MOST_ROWS = 4096,
    DEFAULT_BUFFER = 256 << 10,
    MOST_BUFFER = 64 << 20,
    /* A record of more than this part of a block's bytes ends its block: who keeps one element of a
     * block, as shuffle does, keeps all of its records alive. */
    OWN_BLOCK = 8
};

/* ---- the plan side ---- */

leat_status leati_files_check(const leat_dataset *dataset, const leati_strings *filenames,
                              int64_t *num_parallel_reads, leat_error *err) {
    const char *op = dataset->op->name;
    leat_shape scalar = LEAT_SCALAR;
    if (num_parallel_reads != NULL && *num_parallel_reads == LEAT_AUTOTUNE)
        *num_parallel_reads = leati_cycle_of_cores(LEAT_AUTOTUNE);
    if (dataset->num_inputs == 0) {
        return filenames->values != NULL
                   ? LEAT_OK
                   : leati_refuse(err, VALUE,
                                  "%s: argument filenames is missing; give a path, a list of paths "
                                  "or a dataset of them",
                                  op);
    }
    if (dataset->num_inputs > 1 || filenames->values != NULL) {
        return leati_refuse(err, VALUE, "%s: filenames is given %d times; expected once", op,
                            dataset->num_inputs + (filenames->values != NULL));
    }
    const leat_spec *spec = dataset->inputs[0]->spec;
    leat_shape shape = leat_spec_shape(spec);
    if (leat_spec_get_kind(spec) != LEAT_SPEC_TENSOR || leat_spec_dtype(spec) != LEAT_STRING ||
        !leati_shape_compatible(&shape, &scalar)) {
        char text[256];
        leat_spec_print(spec, text, sizeof(text));
        return leati_refuse(err, STRUCTURE,
                            "%s: The `filenames` argument must contain `tf.string` elements of "
                            "shape [] (i.e. scalars). Got a dataset of %s",
                            op, text);
    }
    return LEAT_OK;
}

leat_spec *leati_files_spec(const leat_dataset *dataset, leat_error *err) {
    (void)dataset;
    return leat_spec_tensor(LEAT_STRING, LEAT_SCALAR, err);
}

leat_status leati_files_view_names(const char *op, const char *const *filenames, int count,
                                   leati_strings *out, leat_error *err) {
    bool missing = count < 0 || (filenames == NULL && count > 0);
    for (int i = 0; !missing && i < count; i++)
        missing = filenames[i] == NULL;
    if (missing) {
        return leati_refuse(err, VALUE, "%s: filenames is NULL or has a NULL in it; pass %d paths",
                            op, count);
    }
    leat_string *names = leati_alloc((size_t)count, sizeof(*names));
    if (names == NULL)
        return leati_no_memory(err);
    for (int i = 0; i < count; i++)
        names[i] = (leat_string){.data = filenames[i], .size = strlen(filenames[i])};
    *out = (leati_strings){.values = names, .count = count};
    return LEAT_OK;
}

/* ---- files ---- */

leat_status leati_files_open(leati_files *files, leati_node_state *node,
                             const leati_file_format *format, const leati_strings *filenames,
                             int64_t num_parallel_reads, int64_t buffer_size, leat_error *err) {
    int64_t size = buffer_size > 0 ? buffer_size : DEFAULT_BUFFER;
    files->chunk_size = (size_t)LEATI_MIN(size, MOST_BUFFER);
    files->format = format;
    files->paths = filenames;
    files->node = node;
    for (const leati_node_state *above = node->parent; above != NULL; above = above->parent)
        files->passes_lost |= (above->dataset->op->flags & LEATI_OP_ASKS_ON) != 0;
    /* A place that no file would get changes no turn. */
    int64_t most = node->dataset->num_inputs > 0 ? INT64_MAX : filenames->count;
    files->num_slots = LEATI_MIN(num_parallel_reads, most);
    files->num_slots = LEATI_MAX(files->num_slots, 1);
    files->slots = leati_alloc_zero((size_t)files->num_slots, sizeof(*files->slots));
    if (files->slots == NULL)
        return leati_no_memory(err);
    for (int64_t i = 0; i < files->num_slots; i++)
        leati_file_slot_init(&files->slots[i], files);
    const leati_iteration *iteration = node->iteration;
    if (files->num_slots > 1 && !iteration->inline_only && leati_pool_size(iteration->pool) > 1) {
        files->gate = leati_queue_gate_new(format->op, NULL, err);
        if (files->gate == NULL)
            return LEAT_RESOURCE_EXHAUSTED;
    }
    return node->dataset->num_inputs > 0 ? leati_input_open(&files->names, node, 0, err) : LEAT_OK;
}

/* Gives the slot the next file, or leaves it empty if there is none. An error is that of the
 * library itself; one of the dataset of names takes the place of a file. */
static leat_status take_name(leati_files *files, leati_file_slot *slot, leat_error *err) {
    leat_status status = LEAT_OK;
    if (files->node->dataset->num_inputs == 0) {
        if (files->next_name == files->paths->count) {
            leati_file_slot_clear(slot);
            return LEAT_OK;
        }
        status = leati_file_slot_set_path(slot, files->paths->values[files->next_name], err);
        files->next_name += status == LEAT_OK;
        return status;
    }
    int64_t available = 0;
    leat_error failure = {0};
    leati_tail tail = leati_input_peek(&files->names, 1, NULL, &available, &failure);
    if (available > 0) {
        const leat_string *name =
            leati_column_row(&files->names.block.columns[0], leati_input_begin(&files->names));
        status = leati_file_slot_set_path(slot, *name, err);
    } else {
        leati_file_slot_clear(slot);
        slot->failed = tail == LEATI_ERROR;
        slot->place = slot->failed ? LEATI_BUSY : LEATI_VACANT;
        slot->error = failure;
    }
    if (status == LEAT_OK)
        /* Only what became a file, or its error, is passed: without memory the name comes again. */
        leati_input_consume(&files->names, available > 0 || tail == LEATI_ERROR);
    return status;
}

static leat_status start(leati_files *files, leat_error *err) {
    for (int64_t i = 0; !files->started && i < files->num_slots; i++) {
        leat_status status = files->slots[i].place == LEATI_VACANT
                                 ? take_name(files, &files->slots[i], err)
                                 : LEAT_OK;
        if (status != LEAT_OK)
            return status;
    }
    files->started = true;
    return LEAT_OK;
}

/* Gives the turn to the next slot, where the present one needs none; false: it keeps the turn
 * because its next file could not be named. */
static bool end_turn(leati_files *files, leati_file_slot *slot, leati_tail tail, leat_error *err) {
    if (tail == LEATI_END && slot->place == LEATI_DONE && take_name(files, slot, err) != LEAT_OK)
        return false;
    files->at = files->at + 1 < files->num_slots ? files->at + 1 : 0;
    return true;
}

/* Records that are at hand, from the slots in turns; added to *n and *bytes. */
static void take_at_hand(leati_files *files, const leati_file_request *request, int64_t *n,
                         size_t *bytes) {
    int64_t count = *n, at = files->at, slots = files->num_slots;
    size_t taken = *bytes, most = request->bytes > 0 ? request->bytes : SIZE_MAX;
    while (
        count < request->want && taken < most &&
        leati_file_slot_take_quickly(&files->slots[at], files->calls, &request->records[count])) {
        taken += request->records[count++].size;
        at = at + 1 < slots ? at + 1 : 0;
    }
    files->at = at;
    *n = count;
    *bytes = taken;
}

/* Records from the slots in turns. */
static leati_tail read_in_turns(leati_files *files, const leati_file_request *request, int64_t *n,
                                leat_error *err) {
    leati_file_request one = *request;
    size_t bytes = 0;
    for (int64_t empty = 0; empty < files->num_slots;) {
        int64_t before = *n;
        if (request->records != NULL) {
            take_at_hand(files, request, n, &bytes);
            one.records = request->records + *n;
            empty = *n > before ? 0 : empty;
        }
        if (*n == request->want || (request->bytes > 0 && bytes >= request->bytes))
            return LEATI_MORE;
        leati_file_slot *slot = &files->slots[files->at];
        leati_tail tail = LEATI_END;
        if (slot->place == LEATI_BUSY) {
            if (*n > 0 && !leati_file_slot_has_record(slot))
                return LEATI_MORE; /* what it has instead comes first in the next call */
            tail = leati_file_slot_take(slot, &one, files->calls, err);
            if (tail == LEATI_ERROR && slot->now->at < slot->now->n)
                return tail; /* not the file's: without memory its record waits for its turn */
        }
        if (!end_turn(files, slot, tail, err))
            return *n > 0 ? LEATI_MORE : LEATI_ERROR;
        if (tail == LEATI_ERROR)
            return tail;
        if (tail == LEATI_MORE) {
            bytes += one.records != NULL ? one.records->size : 0;
            ++*n;
        }
        /* A whole round of slots without a file is the end. */
        empty = slot->place == LEATI_BUSY ? 0 : empty + 1;
    }
    return *n > 0 ? LEATI_MORE : LEATI_END;
}

leati_tail leati_files_next(leati_files *files, const leati_file_request *request, int64_t *n,
                            leat_error *err) {
    *n = 0;
    if (leati_cancel_fired(files->node->iteration->cancel)) {
        leati_fail(err, LEAT_CANCELLED, "the iterator was cancelled");
        return LEATI_ERROR;
    }
    if (start(files, err) != LEAT_OK)
        return LEATI_ERROR;
    files->calls++;
    if (files->num_slots > 1)
        return read_in_turns(files, request, n, err);
    leati_file_slot *slot = files->slots;
    while (slot->place != LEATI_VACANT) {
        leati_tail tail = LEATI_END;
        if (slot->place == LEATI_BUSY)
            tail = leati_file_slot_read(slot, request, n, err);
        if (!end_turn(files, slot, tail, err))
            return LEATI_ERROR;
        if (tail != LEATI_END)
            return tail;
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
    want = LEATI_MIN(want, MOST_ROWS);
    leat_buffer *buffer = leati_pools_take(&files->pools, (size_t)want * sizeof(leat_string), err);
    if (buffer == NULL || leati_block_prepare(out, 1, err) != LEAT_OK) {
        leat_buffer_unref(buffer);
        return LEATI_ERROR;
    }
    leat_string *records = leat_buffer_data(buffer);
    /* Reading is asked in portions just above `large`: a large record is the last of its
     * portion. */
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

leati_file_outcome leati_files_stopped(const leat_error *err) {
    return err->code == LEAT_INVALID_ARGUMENT ? LEATI_FILE_LOST : LEATI_FILE_ERROR;
}

/* ---- places ---- */

bool leati_files_where(const leati_files *files, int64_t *file, int64_t *position,
                       int64_t *behind) {
    const leati_file_slot *slot = &files->slots[0];
    bool inside = slot->place == LEATI_BUSY;
    /* The name of the file that is being read was taken already. */
    *file = files->next_name - inside;
    *position = *behind = 0;
    if (inside)
        leati_file_slot_where(slot, position, behind);
    return !slot->failed;
}

leat_status leati_files_go(leati_files *files, int64_t file, int64_t position, leat_error *err) {
    leati_file_slot *slot = &files->slots[0];
    leat_status status = LEAT_OK;
    if (file < files->paths->count) {
        status = leati_file_slot_set_path(slot, files->paths->values[file], err);
        slot->position = status == LEAT_OK ? position : slot->position;
    } else {
        leati_file_slot_clear(slot);
    }
    if (status == LEAT_OK) {
        files->next_name = file < files->paths->count ? file + 1 : file;
        files->started = true;
    }
    return status;
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
        const leati_file_slot *slot = &files->slots[i];
        const char *path = slot->path != NULL ? slot->path : "";
        leati_put_uint(out, (uint64_t)slot->place << 2 | (uint64_t)slot->failed << 1 |
                                (uint64_t)(slot->path != NULL));
        leati_put_bytes(out, path, strlen(path));
        int64_t position = 0, skip = 0;
        leati_file_slot_where(slot, &position, &skip);
        leati_put_int(out, position);
        leati_put_int(out, skip);
        if (slot->failed)
            leati_values_put_error(out, &slot->error);
    }
    return files->node->dataset->num_inputs > 0 ? leati_input_save(&files->names, out, cost, err)
                                                : LEAT_OK;
}

/* A state names no file that the plan does not: it may come from somewhere else. Names that a
 * dataset gives are the elements of that dataset, which the state holds anyway. */
static leat_status check_path(const leati_files *files, leat_string path, leat_error *err) {
    if (files->node->dataset->num_inputs > 0)
        return LEAT_OK;
    for (int32_t i = 0; i < files->paths->count; i++) {
        const leat_string *own = &files->paths->values[i];
        if (own->size == path.size && memcmp(own->data, path.data, path.size) == 0)
            return LEAT_OK;
    }
    return leati_fail(err, LEAT_DATA_LOSS,
                      "%s: the state names the file \"%.*s\", which is none of the plan's",
                      files->format->op, (int)LEATI_MIN(path.size, 200), path.data);
}

static leat_status restore_slot(const leati_files *files, leati_file_slot *slot, leati_reader *in,
                                leat_error *err) {
    uint64_t flags = 0;
    const void *path = NULL;
    size_t size = 0;
    leat_status status = leati_get_uint(in, &flags, err);
    if (status == LEAT_OK)
        status = leati_get_bytes(in, &path, &size, err);
    if (status == LEAT_OK && (flags & 1) != 0)
        status = check_path(files, (leat_string){.data = path, .size = size}, err);
    if (status == LEAT_OK && (flags & 1) != 0)
        status = leati_file_slot_set_path(slot, (leat_string){.data = path, .size = size}, err);
    slot->place = (leati_file_place)(flags >> 2 & 3);
    slot->failed = (flags & 2) != 0;
    if (status == LEAT_OK)
        status = leati_get_int(in, &slot->position, err);
    if (status == LEAT_OK)
        status = leati_get_int(in, &slot->skip, err);
    /* Formats that cannot pass records save a position without any behind it. */
    int64_t most = files->format->passes ? INT64_MAX : 0;
    if (status == LEAT_OK &&
        (slot->position < 0 || slot->skip < 0 || slot->skip > most || flags >> 2 > LEATI_DONE ||
         (slot->place == LEATI_BUSY && !slot->failed && slot->path == NULL))) {
        status = leati_fail(err, LEAT_DATA_LOSS, "%s: a saved place of %lld", files->format->op,
                            (long long)slot->position);
    }
    return status == LEAT_OK && slot->failed ? leati_values_get_error(in, &slot->error, err)
                                             : status;
}

leat_status leati_files_restore(leati_node_state *node, void *state, leati_reader *in,
                                leat_error *err) {
    leati_files *files = state;
    uint64_t started = 0;
    /* A dataset of names has its own position, and this one stays 0. */
    int64_t count = node->dataset->num_inputs > 0 ? 0 : files->paths->count;
    leat_status status = leati_get_uint(in, &started, err);
    if (status == LEAT_OK)
        status = leati_get_int(in, &files->at, err);
    if (status == LEAT_OK)
        status = leati_get_int(in, &files->next_name, err);
    if (status == LEAT_OK && (files->at < 0 || files->at >= files->num_slots ||
                              files->next_name < 0 || files->next_name > count)) {
        status = leati_fail(err, LEAT_DATA_LOSS, "%s: a saved position at file %lld of %lld",
                            files->format->op, (long long)files->next_name, (long long)count);
        files->at = 0;
    }
    files->started = started != 0;
    for (int64_t i = 0; i < files->num_slots && status == LEAT_OK; i++) {
        leati_file_slot_clear(&files->slots[i]);
        status = restore_slot(files, &files->slots[i], in, err);
    }
    return status == LEAT_OK && files->node->dataset->num_inputs > 0
               ? leati_input_restore(&files->names, in, err)
               : status;
}

leat_status leati_files_reset(leati_node_state *node, void *state, leat_error *err) {
    leati_files *files = state;
    for (int64_t i = 0; i < files->num_slots; i++)
        leati_file_slot_clear(&files->slots[i]);
    files->started = false;
    files->next_name = files->at = 0;
    return node->dataset->num_inputs > 0 ? leati_input_reset(&files->names, err) : LEAT_OK;
}

void leati_files_close(leati_node_state *node, void *state) {
    (void)node;
    leati_files *files = state;
    for (int64_t i = 0; files->slots != NULL && i < files->num_slots; i++)
        leati_file_slot_close(&files->slots[i]);
    leati_free(files->slots);
    leati_queue_gate_free(files->gate);
    leati_pools_close(&files->pools);
    leati_input_close(&files->names);
}
