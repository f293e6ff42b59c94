/* tar_dataset: samples from tar shards in WebDataset's layout.
 *
 * Members that stand next to each other and whose paths agree up to the first dot of the last part
 * are one sample; what follows that dot, in lower case, names the member within it. An element is a
 * dict of strings: the bytes of the member for each field, and "__key__", the part of the path that
 * is common. A field may name several extensions, "jpg;jpeg;png", of which the sample has one; the
 * first names the element's key. Members that are no files, whose names have no dot, or whose
 * samples start with "__" are passed over.
 *
 * Values are views into the bytes read. A sample that lacks a field, or has it twice, is one
 * INVALID_ARGUMENT; a damaged archive gives the samples before the damage, DATA_LOSS, and then the
 * next file. With an index (data/source/record_index.h) the cardinality is known, skipping is a
 * seek that does not look at what it passes, and samples are found by number; a sample that is not
 * where the index says is FAILED_PRECONDITION. Not in tf.data. No locks. */
#include "base/minmax.h"
#include "data/plan/dataset.h"
#include "data/source/record_index.h"
#include "data/source/tar_samples.h"
#include <leat/data_ops.h>
#include <string.h>

enum {
    MOST_ROWS = 1024,
    LEAST_SKIP =
        16, /* samples that are passed over by their headers at no more cost than by index */
    LEAST_CHUNK = 4 << 10,
    MOST_CHUNK = 256 << 10
};

#define KEY "__key__"

struct tar_args {
    leati_strings filenames;
    leati_strings fields;
    char *compression_type;
    int64_t buffer_size;
    char *index;
};

#define ROW(field) .offset = offsetof(struct tar_args, field)

static const leati_row tar_rows[] = {
    LEATI_ROW_FILENAMES(struct tar_args),
    {.name = "fields",
     .type = LEATI_ROW_STRINGS,
     .flags = LEATI_REQUIRED,
     ROW(fields),
     .doc = "The extensions that make an element; \"jpg;png\": either, under the first's name."},
    LEATI_ROW_COMPRESSION(struct tar_args),
    LEATI_ROW_BUFFER_SIZE(struct tar_args),
    LEATI_ROW_INDEX(struct tar_args),
    {0},
};

struct tar_state {
    leati_tar_files tar; /* first: the slots of data/source/files.h take it */
    const struct tar_args *args;
    int num_columns;
    leat_buffer **buffers; /* of each column, while a pull runs */
};

/* ---- the plan side ---- */

/* The first of a field's extensions: the element's key. */
static size_t name_size(const leat_string *field) {
    const char *end = memchr(field->data, ';', field->size);
    return end != NULL ? (size_t)(end - field->data) : field->size;
}

static int compare_names(const char *a, size_t a_size, const char *b, size_t b_size) {
    int order = memcmp(a, b, LEATI_MIN(a_size, b_size));
    return order != 0 ? order : (a_size > b_size) - (a_size < b_size);
}

static int compare_fields(const leat_string *a, const leat_string *b) {
    return compare_names(a->data, name_size(a), b->data, name_size(b));
}

static leat_status check_field(const leati_strings *fields, int at, leat_error *err) {
    const leat_string *field = &fields->values[at];
    bool bad = name_size(field) == 0 || memchr(field->data, '\0', field->size) != NULL ||
               memchr(field->data, '/', field->size) != NULL;
    /* Members' extensions are compared in lower case: one with a capital would never be found. */
    for (size_t i = 0; i < field->size; i++)
        bad = bad || (field->data[i] >= 'A' && field->data[i] <= 'Z');
    for (int i = 0; i < at && !bad; i++)
        bad = compare_fields(&fields->values[i], field) == 0;
    return !bad ? LEAT_OK
                : leati_refuse(err, VALUE,
                               "tar_dataset: fields has \"%.*s\" at place %d; expected extensions "
                               "like \"jpg\" or \"jpg;png\", in lower case, each name once",
                               (int)LEATI_MIN(field->size, 100), field->data, at);
}

/* An index names bytes of plain files in a list that is known. */
static bool may_have_index(const leat_dataset *dataset) {
    const struct tar_args *args = dataset->args;
    leat_compression compression = LEAT_COMPRESSION_NONE;
    return dataset->num_inputs == 0 &&
           leat_compression_from_name(args->compression_type, &compression, NULL) == LEAT_OK &&
           compression == LEAT_COMPRESSION_NONE;
}

static leat_status tar_check(leat_dataset *dataset, leat_error *err) {
    const struct tar_args *args = dataset->args;
    leat_compression compression = LEAT_COMPRESSION_NONE;
    leat_status status = args->fields.count > 0
                             ? LEAT_OK
                             : leati_refuse(err, VALUE,
                                            "tar_dataset: fields is empty; name the extensions of "
                                            "the members that make an element");
    for (int i = 0; i < args->fields.count && status == LEAT_OK; i++)
        status = check_field(&args->fields, i, err);
    if (status == LEAT_OK)
        status = leat_compression_from_name(args->compression_type, &compression, err);
    if (status != LEAT_OK)
        return leati_prefix(err, "tar_dataset");
    status = leati_files_check(dataset, &args->filenames, NULL, err);
    return status == LEAT_OK
               ? leati_record_index_check(dataset, args->index, may_have_index(dataset), err)
               : status;
}

static void *tar_share(const leat_dataset *dataset, leat_error *err) {
    const struct tar_args *args = dataset->args;
    return leati_record_index_new(LEATI_INDEX_TAR, &args->filenames, args->index, err);
}

static void tar_unshare(void *shared) {
    leati_record_index_free(shared);
}

/* The index of the shards; NULL: there is none. */
static const leati_record_index *index_of(const leat_dataset *dataset) {
    const struct tar_args *args = dataset->args;
    return leati_record_index_of(dataset, args->index, may_have_index(dataset));
}

static int64_t tar_cardinality(const leat_dataset *dataset) {
    return leati_record_index_cardinality(index_of(dataset));
}

static leat_spec *tar_spec(const leat_dataset *dataset, leat_error *err) {
    const leati_strings *fields = &((const struct tar_args *)dataset->args)->fields;
    size_t count = (size_t)fields->count + 1;
    leat_spec **parts = leati_alloc_zero(count, sizeof(*parts));
    char **keys = leati_alloc_zero(count, sizeof(*keys));
    leat_spec *spec = NULL;
    bool made = parts != NULL && keys != NULL;
    for (size_t i = 0; i < count && made; i++) {
        /* The key comes first here; the dict puts its entries in order. */
        const leat_string *field = i == 0 ? NULL : &fields->values[i - 1];
        keys[i] = field == NULL ? leati_strdup(KEY) : leati_strndup(field->data, name_size(field));
        parts[i] = leat_spec_tensor(LEAT_STRING, LEAT_SCALAR, err);
        made = keys[i] != NULL && parts[i] != NULL;
    }
    if (made)
        spec = leat_spec_dict((const char *const *)keys, parts, (int)count, err);
    else
        leati_no_memory(err);
    for (size_t i = 0; i < count && keys != NULL; i++) {
        leati_free(keys[i]);
        if (!made && parts != NULL)
            leat_spec_unref(parts[i]);
    }
    leati_free((void *)keys);
    leati_free((void *)parts);
    return spec;
}

/* ---- the protocol ---- */

/* Columns stand in the order of their keys. */
static void place_columns(struct tar_state *s) {
    const leati_strings *fields = &s->args->fields;
    for (int f = 0; f < fields->count; f++) {
        const leat_string *field = &fields->values[f];
        bool after_key = compare_names(field->data, name_size(field), KEY, strlen(KEY)) > 0;
        /* A column's number is how many keys come before its own. */
        s->tar.columns[f] = after_key;
        s->tar.key_column += !after_key;
        for (int other = 0; other < fields->count; other++)
            s->tar.columns[f] += compare_fields(&fields->values[other], field) < 0;
    }
}

/* What iterators and accessors share. */
static leat_status begin(struct tar_state *s, const struct tar_args *args, leat_error *err) {
    s->args = args;
    s->tar.fields = &args->fields;
    s->num_columns = args->fields.count + 1;
    s->tar.columns = leati_alloc_zero((size_t)args->fields.count, sizeof(*s->tar.columns));
    s->buffers = leati_alloc_zero((size_t)s->num_columns, sizeof(*s->buffers));
    if (s->tar.columns == NULL || s->buffers == NULL)
        return leati_no_memory(err);
    place_columns(s);
    return leat_compression_from_name(args->compression_type, &s->tar.compression, err);
}

static leat_status tar_open(leati_node_state *node, void *state, leat_error *err) {
    struct tar_state *s = state;
    leat_status status = begin(s, node->dataset->args, err);
    return status != LEAT_OK ? status
                             : leati_files_open(&s->tar.files, node, &leati_tar_samples,
                                                &s->args->filenames, 0, s->args->buffer_size, err);
}

static leat_status take_buffers(struct tar_state *s, int64_t want, leat_buffer **buffers,
                                leat_error *err) {
    for (int c = 0; c < s->num_columns; c++) {
        buffers[c] = leati_pools_take(&s->tar.files.pools, (size_t)want * sizeof(leat_string), err);
        if (buffers[c] == NULL)
            return LEAT_RESOURCE_EXHAUSTED;
    }
    return LEAT_OK;
}

/* The buffers become the columns of n rows. */
static void show_rows(struct tar_state *s, int64_t n, leati_block *out) {
    leat_shape scalar = LEAT_SCALAR;
    for (int c = 0; c < s->num_columns; c++) {
        leat_buffer *rows = s->buffers[c];
        s->buffers[c] = NULL;
        if (n > 0) {
            leati_column_strided(&out->columns[c], LEAT_STRING, &scalar, leat_buffer_data(rows),
                                 sizeof(leat_string), rows);
        } else {
            leat_buffer_unref(rows);
        }
    }
    if (n == 0)
        leati_block_clear(out);
    out->n = n;
}

static leati_tail tar_pull(leati_node_state *node, void *state, int64_t want, leati_block *out,
                           leat_error *err) {
    (void)node;
    struct tar_state *s = state;
    leati_tail tail = LEATI_ERROR;
    int64_t n = 0;
    leati_block_clear(out);
    want = LEATI_MIN(want, MOST_ROWS);
    leati_tar_sink sink = {.buffers = s->buffers, .pools = &s->tar.files.pools};
    if (take_buffers(s, want, sink.buffers, err) == LEAT_OK &&
        leati_block_prepare(out, s->num_columns, err) == LEAT_OK) {
        leati_file_request request = {.want = want,
                                      .bytes = out->byte_target > 0 ? out->byte_target
                                                                    : LEATI_BYTE_TARGET,
                                      .sink = &sink};
        tail = leati_files_next(&s->tar.files, &request, &n, err);
    }
    show_rows(s, n, out);
    leat_buffer_unref(sink.keys);
    return tail;
}

/* With an index samples are passed over whatever is in them, few or many. */
static leati_tail tar_skip(leati_node_state *node, void *state, int64_t n, int64_t *skipped,
                           leat_error *err) {
    const leati_record_index *index = index_of(node->dataset);
    if (index != NULL && n >= LEAST_SKIP)
        return leati_record_index_skip(index, state, n, skipped, err);
    leati_tail tail = LEATI_ERROR;
    while (tail == LEATI_ERROR && *skipped < n) {
        leat_error local = {0};
        tail = leati_files_advance(node, state, n, skipped, &local);
        bool refused = index != NULL && local.code == LEAT_INVALID_ARGUMENT;
        if (tail == LEATI_ERROR && !refused) {
            *err = local;
            return tail;
        }
        *skipped += tail == LEATI_ERROR;
    }
    return tail == LEATI_ERROR ? LEATI_MORE : tail;
}

static void tar_close(leati_node_state *node, void *state) {
    struct tar_state *s = state;
    leati_files_close(node, &s->tar.files);
    leati_free(s->tar.columns);
    leati_free((void *)s->buffers);
}

/* ---- random access ---- */

/* The sidecar of the shard that was asked last stays open. */
struct tar_access {
    struct tar_state state; /* its files are not used but for pools and chunk_size */
    leati_pools chunks;
    leati_index *sidecar;
    int64_t file;
};

static const char *const without_index =
    "tar_dataset finds samples by number only where all shards have an index: run `leat index` on "
    "them and pass index=\"required\"";

static leat_status tar_access_open(leati_access *access, leat_error *err) {
    struct tar_access *a = access->state;
    return begin(&a->state, access->node.dataset->args, err);
}

/* Where sample `number` lies. */
static leat_status find_sample(struct tar_access *a, const leati_record_index *index,
                               int64_t number, int64_t *start, int64_t *end, leat_error *err) {
    int64_t file = leati_record_index_file(index, number);
    if (a->sidecar == NULL || a->file != file) {
        leati_index_close(a->sidecar);
        a->sidecar = NULL;
        LEATI_TRY(leati_record_index_open(index, file, &a->sidecar, err));
        a->file = file;
    }
    return leati_index_find(a->sidecar, number - index->starts[file], start, end, err);
}

/* Reads the sample at bytes [start, end) of the shard at `path` into the sink. */
static leat_status read_at(struct tar_access *a, const char *path, int64_t start, int64_t end,
                           leati_tar_sink *sink, leat_error *err) {
    int64_t size = end - start + LEATI_TAR_BLOCK, n = 0; /* with the header behind it */
    leati_file_request request = {.want = 1, .sink = sink};
    void *reader = NULL;
    /* One read for the whole sample, where it is not too large. */
    size = size < LEAST_CHUNK ? LEAST_CHUNK : LEATI_MIN(MOST_CHUNK, size);
    a->state.tar.files.chunk_size = (size_t)size;
    leati_file_outcome outcome =
        leati_tar_samples.open(&a->state.tar.files, &a->chunks, path, start, &reader, err);
    if (outcome == LEATI_FILE_MORE)
        outcome = leati_tar_samples.read(reader, &request, &n, err);
    leat_status status = outcome == LEATI_FILE_MORE  ? LEAT_OK
                         : outcome == LEATI_FILE_END ? leati_index_stale(path, err)
                                                     : err->code;
    /* A sample that ends elsewhere is not the one that was indexed. */
    if (status == LEAT_OK && leati_tar_samples.position(reader) != end)
        status = leati_index_stale(path, err);
    leati_tar_samples.close(reader);
    return status;
}

/* One sample for each call: they are large. */
static leat_status tar_at(leati_access *access, const int64_t *indices, int64_t n, leati_block *out,
                          leat_error *err) {
    struct tar_access *a = access->state;
    const leati_record_index *index = index_of(access->node.dataset);
    leati_tar_sink sink = {.buffers = a->state.buffers, .pools = &a->state.tar.files.pools};
    int64_t start = 0, end = 0;
    if (index == NULL)
        return leati_fail(err, LEAT_UNIMPLEMENTED, "%s", without_index);
    if (leati_access_checked(access, indices, n, err) == 0)
        return err->code;
    leat_status status = find_sample(a, index, indices[0], &start, &end, err);
    char *path = status == LEAT_OK ? leati_record_index_path(index, a->file, err) : NULL;
    if (path == NULL)
        return err->code;
    status = take_buffers(&a->state, 1, sink.buffers, err);
    if (status == LEAT_OK)
        status = leati_block_prepare(out, a->state.num_columns, err);
    if (status == LEAT_OK)
        status = read_at(a, path, start, end, &sink, err);
    /* This also lets go of the buffers where there is no row. */
    show_rows(&a->state, status == LEAT_OK, out);
    leat_buffer_unref(sink.keys);
    leati_free(path);
    return status;
}

static void tar_access_close(leati_access *access) {
    struct tar_access *a = access->state;
    leati_index_close(a->sidecar);
    leati_pools_close(&a->chunks);
    leati_pools_close(&a->state.tar.files.pools);
    leati_free(a->state.tar.columns);
    leati_free((void *)a->state.buffers);
}

static leat_status tar_indexable(const leat_dataset *dataset, leat_error *err) {
    return index_of(dataset) != NULL
               ? LEAT_OK
               : leati_fail(err, LEAT_FAILED_PRECONDITION, "%s", without_index);
}

const leati_dataset_op leati_op_tar_dataset = {
    .name = "tar_dataset",
    .version = 1,
    .doc = "Samples of tar shards in WebDataset's layout: a dict of the members' bytes and "
           "\"__key__\". Saved as the place in the list of files and a byte offset for each open "
           "one; restoring costs a seek (of a compressed file: reading up to there).",
    .names = "experimental.tar_dataset",
    .num_inputs = -1,
    .flow = LEATI_SOURCE,
    .shards = LEATI_SHARD_READER,
    .files = "filenames",
    .splits = LEATI_SPLITS_FILES,
    .batches = LEATI_BATCHES_OTHER,
    .flags = LEATI_OP_READS_FILES,
    .args_size = sizeof(struct tar_args),
    .rows = tar_rows,
    .check = tar_check,
    .spec = tar_spec,
    .cardinality = tar_cardinality,
    .share = tar_share,
    .unshare = tar_unshare,
    .state_size = sizeof(struct tar_state),
    .open = tar_open,
    .pull = tar_pull,
    .advance = leati_files_advance,
    .skip = tar_skip,
    .save = leati_files_save,
    .restore = leati_files_restore,
    .reset = leati_files_reset,
    .close = tar_close,
    .access_size = sizeof(struct tar_access),
    .access_open = tar_access_open,
    .at = tar_at,
    .access_close = tar_access_close,
    .indexable = tar_indexable,
};

leat_dataset *leat_dataset_tar(const char *const *filenames, int num_filenames,
                               const char *const *fields, int num_fields,
                               const leat_dataset_tar_options *options, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_dataset_tar_options o = {LEAT_DATASET_TAR_DEFAULTS};
    if (LEATI_OPTIONS(leat_dataset_tar_options, &o, options, err) != LEAT_OK)
        return NULL;
    struct tar_args args = {.compression_type = (char *)(uintptr_t)o.compression_type, /* copied */
                            .buffer_size = o.buffer_size,
                            .index = (char *)(uintptr_t)leati_record_index_use_text(o.index)};
    leat_dataset *dataset = NULL;
    if (leati_files_view_names("tar_dataset", filenames, num_filenames, &args.filenames, err) ==
            LEAT_OK &&
        leati_files_view_names("tar_dataset", fields, num_fields, &args.fields, err) == LEAT_OK)
        dataset = leati_dataset_new(&leati_op_tar_dataset, &args, NULL, 0, err);
    leati_free(args.filenames.values);
    leati_free(args.fields.values);
    return dataset;
}
