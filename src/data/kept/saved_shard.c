/* The operator of one shard of a saved run, or of one file alone, which stands in no table: see
 * saved_shard.h.
 *
 * Happy path: the shard's files are opened one after the other; a block is as many records as its
 * elements take, decoded into columns. Records that were read and not yet decoded stay here.
 * Failures: a record that does not fit costs its element; an error of the file comes again at every
 * call, as in TensorFlow. A file that is gone, or has other elements than the metadata say, or ends
 * within an element, or has none, is one NOT_FOUND or DATA_LOSS in place of its end; TensorFlow
 * takes each of these for the end. Only where an element_spec of other components was given, a rest
 * that is none of its elements is left out, as there. Saved as the number of the file, a byte and
 * the records up to there; restoring a compressed file reads it up to there. No locks. */
#include "data/kept/saved_shard.h"
#include "base/minmax.h"
#include "data/kept/saved_files.h"
#include "data/kept/saved_rows.h"
#include "data/run/state.h"
#include "data/values/values.h"
#include "file/tfrecord.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct shard_args {
    char *folder;
    int64_t compression;
    leat_spec *element_spec;
    char *counts; /* NULL: nobody knows */
    int64_t each;
    bool alone; /* `folder` is the only file */
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
    {.name = "counts",
     .type = LEATI_ROW_STRING,
     .flags = LEATI_NONE,
     ROW(counts),
     .doc = "The elements of each file, as numbers with commas; none: unknown."},
    {.name = "each",
     .type = LEATI_ROW_INT,
     ROW(each),
     .doc = "The records of an element when it was saved; 0: unknown."},
    {.name = "alone",
     .type = LEATI_ROW_BOOL,
     ROW(alone),
     .doc = "The folder is a file, the only one."},
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
    const char *count;   /* of the file in args.counts; "" behind the last; NULL: unknown */
    int64_t taken;       /* records of the file before `next`; negative: unknown */
    int64_t rest;        /* records at its end that are no element */
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

/* Goes to file number `file` of the shard, which is not opened yet. */
static void go_to_file(leati_node_state *node, struct shard_state *s, int64_t file) {
    s->file = file;
    s->position = s->taken = s->rest = 0;
    s->count = args_of(node)->counts;
    for (int64_t i = 0; i < file && s->count != NULL; i++) {
        s->count += strcspn(s->count, ",");
        s->count += *s->count == ',';
    }
}

static leat_status shard_open(leati_node_state *node, void *state, leat_error *err) {
    struct shard_state *s = state;
    (void)err;
    s->step = leati_saved_records(args_of(node)->element_spec);
    go_to_file(node, s, 0);
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
}

static void next_file(leati_node_state *node, struct shard_state *s) {
    close_file(s);
    go_to_file(node, s, s->file + 1);
}

/* The path of the present file. Owned; NULL without memory. */
static char *file_path(const leati_node_state *node, const struct shard_state *s, leat_error *err) {
    const struct shard_args *args = args_of(node);
    char name[LEATI_SHARD_NAME_SIZE];
    snprintf(name, sizeof(name), LEATI_SHARD_FILE_NAME, (long long)s->file);
    char *path = args->alone ? leati_strdup(args->folder) : NULL;
    if (args->alone && path == NULL)
        leati_no_memory(err);
    return args->alone ? path : leati_saved_path(args->folder, name, err);
}

/* Fails about the shard's present file: what was expected of it, what was found. */
static leat_status fail_file(leati_node_state *node, const struct shard_state *s, leat_status code,
                             const char *what, leat_error *err) {
    char *path = file_path(node, s, err);
    if (path == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    code = leati_fail_in_file(err, code, path, -1, false,
                              "%s; bring the file back, or save the dataset again", what);
    leati_free(path);
    return code;
}

struct later {
    int64_t than;
    bool found, any;
};

static leat_status look_for_later(void *context, const char *name, leati_path_kind kind,
                                  leat_error *err) {
    struct later *later = context;
    (void)kind;
    (void)err;
    later->any = later->any || leati_saved_is_shard_file(name);
    later->found =
        later->found || (leati_saved_is_shard_file(name) && strtoll(name, NULL, 10) > later->than);
    return LEAT_OK;
}

/* The file is not there: where nobody says how many there are, that is the end, unless there is
 * none at all, or one of a later number. */
static leat_status file_is_gone(leati_node_state *node, struct shard_state *s, leat_error *err) {
    char text[96] = "it is gone, though files follow it";
    if (s->count != NULL) {
        snprintf(text, sizeof(text), "it is gone: the metadata speak of %lld elements, found 0",
                 strtoll(s->count, NULL, 10));
        return fail_file(node, s, LEAT_NOT_FOUND, text, err);
    }
    if (args_of(node)->alone)
        return fail_file(node, s, LEAT_NOT_FOUND, "it is gone", err);
    struct later later = {.than = s->file};
    leat_error local = {0};
    leat_status status = leati_fs_list(args_of(node)->folder, look_for_later, &later, &local);
    if (status != LEAT_OK)
        return leati_error_pass(err, &local);
    if (!later.found && (later.any || s->file > 0)) {
        s->ended = true;
        return LEAT_OK;
    }
    if (!later.any)
        snprintf(text, sizeof(text), "it is gone, and with it the shard's elements");
    return fail_file(node, s, LEAT_NOT_FOUND, text, err);
}

/* Opens file number s->file, unless there is none: then the shard has ended. */
static leat_status open_file(leati_node_state *node, struct shard_state *s, int64_t position,
                             leat_error *err) {
    /* A stream that ends too early is told of, also where it ends between two records. */
    leati_tfrecord_options options = {.compression = (leat_compression)args_of(node)->compression,
                                      .strict_tail = true};
    if ((s->count != NULL && *s->count == '\0') || (args_of(node)->alone && s->file > 0)) {
        s->ended = true;
        return LEAT_OK;
    }
    char *path = file_path(node, s, err);
    if (path == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    leat_error local = {0};
    leat_status status = leati_tfrecord_open(path, &options, &s->reader, &local);
    leati_free(path);
    if (status == LEAT_OK && position > 0)
        status = leati_tfrecord_seek(s->reader, position, &local);
    s->position = position;
    if (status != LEAT_NOT_FOUND || position > 0)
        return status == LEAT_OK ? LEAT_OK : leati_error_pass(err, &local);
    status = file_is_gone(node, s, err);
    /* Told once: what follows can be read. */
    if (status == LEAT_NOT_FOUND)
        next_file(node, s);
    return status;
}

/* The file has come to its end: had it what it should have? */
static leat_status check_end(leati_node_state *node, const struct shard_state *s, leat_error *err) {
    int64_t each = args_of(node)->each, found = s->taken + s->rest;
    char text[160];
    if (s->count != NULL) {
        int64_t expected = strtoll(s->count, NULL, 10);
        if (s->taken < 0 || found == expected * each)
            return LEAT_OK;
        snprintf(text, sizeof(text), "the metadata speak of %lld elements, found %lld",
                 (long long)expected, (long long)(found / each));
        return fail_file(node, s, LEAT_DATA_LOSS, text, err);
    }
    /* Nobody begins a file without an element. */
    if (found == 0)
        return fail_file(node, s, LEAT_DATA_LOSS, "expected an element or more, found 0", err);
    if (s->rest == 0 || each != s->step)
        return LEAT_OK;
    snprintf(text, sizeof(text), "it ends within an element of %d tensors, of which it has %lld",
             s->step, (long long)s->rest);
    return fail_file(node, s, LEAT_DATA_LOSS, text, err);
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
            s->rest += s->have % s->step;
            s->have -= s->have % s->step;
            if (s->have > 0)
                return LEATI_MORE;
            leat_status status = check_end(node, s, err);
            next_file(node, s);
            if (status != LEAT_OK)
                return LEATI_ERROR;
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
    if (s->taken >= 0)
        s->taken += n * s->step;
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
    /* A byte below 0 says that the records up to there follow, which a reader of before finds
     * damaged; a shard whose elements nobody has counted is saved as always. */
    bool counted = s->count != NULL && s->taken >= 0;
    leati_put_int(out, counted ? -1 - s->position : s->position);
    if (counted)
        leati_put_int(out, s->taken);
    return LEAT_OK;
}

static leat_status shard_restore(leati_node_state *node, void *state, leati_reader *in,
                                 leat_error *err) {
    struct shard_state *s = state;
    uint64_t ended = 0;
    int64_t file = 0, position = 0, taken = -1;
    close_file(s);
    leat_status status = leati_get_uint(in, &ended, err);
    if (status == LEAT_OK)
        status = leati_get_int(in, &file, err);
    if (status == LEAT_OK)
        status = leati_get_int(in, &position, err);
    if (status == LEAT_OK && position < 0) {
        position = -1 - position;
        status = leati_get_int(in, &taken, err);
        if (status == LEAT_OK && (taken < 0 || taken > position))
            status = leati_fail(err, LEAT_DATA_LOSS, "%s: a saved place behind %lld records",
                                node->name, (long long)taken);
    }
    if (status == LEAT_OK && file < 0) {
        status = leati_fail(err, LEAT_DATA_LOSS, "%s: a saved place in file %lld", node->name,
                            (long long)file);
    }
    if (status != LEAT_OK)
        return status;
    go_to_file(node, s, file);
    /* Of a state of leat 0.1.0 the records before the place are not known; at byte 0 there is none.
     */
    s->taken = position == 0 ? 0 : taken;
    s->ended = ended != 0;
    /* At byte 0 the next pull opens the file, which may not be there. */
    return position > 0 && !s->ended ? open_file(node, s, position, err) : LEAT_OK;
}

static leat_status shard_reset(leati_node_state *node, void *state, leat_error *err) {
    struct shard_state *s = state;
    (void)err;
    close_file(s);
    go_to_file(node, s, 0);
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

static const struct shard_args *shard_of(const leat_object *object) {
    const leat_dataset *dataset = (const leat_dataset *)object;
    return leati_dataset_of_object_check(object) && dataset->op == &shard_op ? dataset->args : NULL;
}

static bool is_shard(const leat_object *object) {
    const struct shard_args *args = shard_of(object);
    return args != NULL && !args->alone;
}

static bool is_alone(const leat_object *object) {
    const struct shard_args *args = shard_of(object);
    return args != NULL && args->alone;
}

static leat_status put_shard(leati_writer *out, const leat_object *shard, leat_error *err) {
    const struct shard_args *args = ((const leat_dataset *)shard)->args;
    leati_put_bytes(out, args->folder, strlen(args->folder));
    /* Below 0 where the numbers of elements follow. */
    leati_put_int(out, args->counts == NULL ? args->compression : -1 - args->compression);
    if (args->counts != NULL) {
        leati_put_bytes(out, args->counts, strlen(args->counts));
        leati_put_int(out, args->each);
    }
    return out->failed ? leati_no_memory(err) : LEAT_OK;
}

/* The numbers of elements, if they follow. */
static leat_status get_counts(leati_reader *in, struct shard_args *args, leat_error *err) {
    const void *counts = NULL;
    size_t size = 0;
    if (args->compression >= 0)
        return LEAT_OK;
    args->compression = -1 - args->compression;
    LEATI_TRY(leati_get_bytes(in, &counts, &size, err));
    LEATI_TRY(leati_get_int(in, &args->each, err));
    args->counts = leati_strndup(counts, size);
    if (args->counts == NULL)
        return leati_no_memory(err);
    return args->each > 0 && strspn(args->counts, "0123456789,") == size
               ? LEAT_OK
               : leati_fail(err, LEAT_DATA_LOSS, "a saved shard without its numbers of elements");
}

static leat_dataset *get(leati_reader *in, const leat_spec *spec, bool alone, leat_error *err) {
    const void *folder = NULL;
    size_t size = 0;
    struct shard_args args = {.element_spec = (leat_spec *)(uintptr_t)spec, .alone = alone};
    leat_dataset *out = NULL;
    if (leati_get_bytes(in, &folder, &size, err) == LEAT_OK &&
        leati_get_int(in, &args.compression, err) == LEAT_OK &&
        get_counts(in, &args, err) == LEAT_OK) {
        args.folder = leati_strndup(folder, size);
        if (args.folder == NULL)
            leati_no_memory(err);
        else
            out = leati_dataset_new(&shard_op, &args, NULL, 0, err);
        leati_free(args.folder);
    }
    leati_free(args.counts);
    return out;
}

static leat_dataset *get_shard(leati_reader *in, const leat_spec *spec, leat_error *err) {
    return get(in, spec, false, err);
}

static leat_dataset *get_alone(leati_reader *in, const leat_spec *spec, leat_error *err) {
    return get(in, spec, true, err);
}

const leati_value_form leati_value_form_shard = {
    .is = is_shard, .put = put_shard, .get = get_shard};
const leati_value_form leati_value_form_chunk = {
    .is = is_alone, .put = put_shard, .get = get_alone};

leat_dataset *leati_saved_shard_dataset(const char *folder, const leati_saved_shard_kind *kind,
                                        const char *counts, leat_error *err) {
    struct shard_args args = {.folder = (char *)(uintptr_t)folder, /* these three are copied */
                              .compression = (int64_t)kind->compression,
                              .element_spec = (leat_spec *)(uintptr_t)kind->spec,
                              .counts = (char *)(uintptr_t)counts,
                              .each = kind->each};
    return leati_dataset_new(&shard_op, &args, NULL, 0, err);
}

leat_dataset *leati_saved_shard_of_file(const char *path, const leati_saved_shard_kind *kind,
                                        int64_t elements, leat_error *err) {
    char count[24];
    snprintf(count, sizeof(count), "%lld", (long long)elements);
    struct shard_args args = {.folder = (char *)(uintptr_t)path, /* copied, as above */
                              .compression = (int64_t)kind->compression,
                              .element_spec = (leat_spec *)(uintptr_t)kind->spec,
                              .counts = elements < 0 ? NULL : count,
                              .each = kind->each,
                              .alone = true};
    return leati_dataset_new(&shard_op, &args, NULL, 0, err);
}
