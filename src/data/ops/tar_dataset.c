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
#include "file/tar.h"
#include <leat/data_ops.h>
#include <string.h>

enum {
    MOST_ROWS = 1024,
    KEY_BYTES = 16 << 10,
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
    leati_files files; /* first: the slots of data/source/files.h take it */
    const struct tar_args *args;
    leat_compression compression;
    int num_columns;
    int key_column;
    int *columns;          /* of each field */
    leat_buffer **buffers; /* of each column, while a pull runs */
};

/* An open archive. `member` has been read and not used while `pending`; what stopped a call after
 * its first sample waits in `stop`. */
struct tar_reader {
    leati_chunks chunks;
    const struct tar_state *state;
    leati_pools *pools; /* of chunks; borrowed */
    char *path;
    leati_tar_member member;
    bool pending, broken;
    leati_text key; /* of the sample being read */
    bool *seen;     /* of it: for each field */
    int64_t sample_at;
    int64_t resume_at; /* where to read on after a failure, and what is saved then */
    bool stopped;
    leati_file_outcome stop;
    leat_error error;
};

/* Where samples go: column c's strings from buffers[c]'s row `filled` on; keys to `keys`. */
struct tar_sink {
    leat_buffer **buffers;
    int64_t filled;
    leati_pools *pools;
    leat_buffer *keys;
    size_t keys_used;
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

/* ---- samples ---- */

static bool is_extension(const char *text, size_t size, const char *extension,
                         size_t extension_size) {
    bool same = size == extension_size;
    for (size_t i = 0; i < size && same; i++) {
        char c = extension[i];
        same = text[i] == (c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c);
    }
    return same;
}

/* The field that an extension stands for, -1: none. */
static int field_of(const leati_strings *fields, const char *extension, size_t size) {
    for (int f = 0; f < fields->count; f++) {
        const char *at = fields->values[f].data, *end = at + fields->values[f].size;
        while (at <= end) {
            const char *semicolon = at < end ? memchr(at, ';', (size_t)(end - at)) : NULL;
            const char *stop = semicolon != NULL ? semicolon : end;
            if (is_extension(at, (size_t)(stop - at), extension, size))
                return f;
            at = stop + 1;
        }
    }
    return -1;
}

static leati_file_outcome outcome_of(struct tar_reader *r, leati_tar_outcome outcome) {
    r->broken = r->broken || outcome == LEATI_TAR_FAILED;
    return outcome == LEATI_TAR_MEMBER   ? LEATI_FILE_MORE
           : outcome == LEATI_TAR_END    ? LEATI_FILE_END
           : outcome == LEATI_TAR_FAILED ? LEATI_FILE_ERROR
                                         : LEATI_FILE_LOST;
}

/* Makes the next member of a sample pending. */
static leati_file_outcome next_member(struct tar_reader *r, leat_error *err) {
    size_t key_size = 0;
    const char *extension = NULL;
    while (!r->pending) {
        leati_tar_outcome outcome = leati_tar_next(&r->chunks, &r->member, err);
        if (outcome == LEATI_TAR_MEMBER) {
            r->pending =
                r->member.is_file && leati_tar_sample(&r->member.name, &key_size, &extension);
            if (!r->pending)
                outcome = leati_tar_pass(&r->chunks, r->member.size, err);
        }
        if (outcome != LEATI_TAR_MEMBER)
            return outcome_of(r, outcome);
    }
    return LEATI_FILE_MORE;
}

/* The pending member's bytes become row `filled` of a column. */
static leati_file_outcome show_member(struct tar_reader *r, const struct tar_sink *sink, int column,
                                      leat_error *err) {
    leati_chunks *chunks = &r->chunks;
    int64_t size = r->member.size, left = leati_stream_left(&chunks->stream);
    bool fits = left < 0 || size <= left + (int64_t)(chunks->end - chunks->begin);
    if (fits && leati_chunks_need(chunks, (size_t)size, err) != LEAT_OK) {
        r->broken = true;
        return LEATI_FILE_ERROR;
    }
    if (!fits || chunks->end - chunks->begin < (uint64_t)size) {
        leati_fail_in_file(err, LEAT_DATA_LOSS, r->path, r->member.at,
                           chunks->stream.unpacker != NULL,
                           "the member says that it has %lld bytes, and the file ends before; was "
                           "it cut short?",
                           (long long)size);
        return LEATI_FILE_LOST;
    }
    if (leati_chunks_share(chunks, sink->buffers[column], err) != LEAT_OK) {
        r->broken = true;
        return LEATI_FILE_ERROR;
    }
    ((leat_string *)leat_buffer_data(sink->buffers[column]))[sink->filled] =
        (leat_string){.data = (const char *)chunks->data + chunks->begin, .size = (size_t)size};
    return LEATI_FILE_MORE;
}

/* Copies the key to memory that the key column keeps. */
static leat_status show_key(const struct tar_reader *r, struct tar_sink *sink, leat_error *err) {
    int column = r->state->key_column;
    size_t size = r->key.size;
    if (sink->keys == NULL || leat_buffer_size(sink->keys) - sink->keys_used < size) {
        leat_buffer *keys = leati_pools_take(sink->pools, LEATI_MAX(size, KEY_BYTES), err);
        if (keys == NULL)
            return LEAT_RESOURCE_EXHAUSTED;
        leat_buffer_unref(sink->keys);
        sink->keys = keys;
        sink->keys_used = 0;
    }
    leat_status status = leati_buffer_hold(sink->buffers[column], sink->keys, err);
    if (status == LEAT_OK) {
        char *to = (char *)leat_buffer_data(sink->keys) + sink->keys_used;
        memcpy(to, r->key.data, size);
        sink->keys_used += size;
        ((leat_string *)leat_buffer_data(sink->buffers[column]))[sink->filled] =
            (leat_string){.data = to, .size = size};
    }
    return status;
}

/* A sample that lacks a field or has one twice: what is said of it. */
static leati_file_outcome refuse(const struct tar_reader *r, int field, const char *what,
                                 leat_error *err) {
    const leat_string *text = &r->state->args->fields.values[field];
    leati_fail_in_file(err, LEAT_INVALID_ARGUMENT, r->path, r->sample_at,
                       r->chunks.stream.unpacker != NULL,
                       "sample \"%.100s\" has %s for the field \"%.*s\"; leave the "
                       "field out or mend the shard",
                       r->key.data, what, (int)LEATI_MIN(text->size, 60), text->data);
    return LEATI_FILE_ERROR;
}

/* One member of the sample that is being read. */
static leati_file_outcome read_member(struct tar_reader *r, const struct tar_sink *sink, int *twice,
                                      leat_error *err) {
    size_t key_size = 0;
    const char *extension = NULL;
    leati_tar_sample(&r->member.name, &key_size, &extension);
    size_t size = r->member.name.size - key_size - 1;
    int field = field_of(&r->state->args->fields, extension, size);
    if (field >= 0) {
        *twice = r->seen[field] ? field : *twice;
        r->seen[field] = true;
    }
    leati_file_outcome outcome = LEATI_FILE_MORE;
    if (field >= 0 && sink != NULL)
        outcome = show_member(r, sink, r->state->columns[field], err);
    if (outcome == LEATI_FILE_MORE) {
        r->pending = false;
        outcome = outcome_of(r, leati_tar_pass(&r->chunks, r->member.size, err));
    }
    return outcome;
}

static bool same_sample(const struct tar_reader *r) {
    size_t key_size = 0;
    const char *extension = NULL;
    return leati_tar_sample(&r->member.name, &key_size, &extension) && key_size == r->key.size &&
           memcmp(r->member.name.data, r->key.data, key_size) == 0;
}

static leati_file_outcome begin_sample(struct tar_reader *r, leat_error *err) {
    size_t key_size = 0;
    const char *extension = NULL;
    r->sample_at = r->resume_at = r->pending ? r->member.at : r->chunks.position;
    leati_file_outcome outcome = next_member(r, err);
    if (outcome == LEATI_FILE_MORE) {
        leati_tar_sample(&r->member.name, &key_size, &extension);
        r->sample_at = r->resume_at = r->member.at;
        r->key.size = 0;
        leati_text_add(&r->key, r->member.name.data, key_size);
        if (r->key.failed) {
            leati_no_memory(err);
            r->broken = true;
            outcome = LEATI_FILE_ERROR;
        }
    }
    return outcome;
}

/* Keeps what stands from byte `at` on for the next call. */
static void stop_before(struct tar_reader *r, leati_file_outcome outcome, const leat_error *error,
                        int64_t at) {
    r->stopped = true;
    r->stop = outcome;
    r->error = *error;
    r->resume_at = at;
}

/* Reads the next sample into the sink's row `filled`, or over it. */
static leati_file_outcome read_sample(struct tar_reader *r, struct tar_sink *sink,
                                      leat_error *err) {
    const leati_strings *fields = &r->state->args->fields;
    int twice = -1, missing = -1;
    memset(r->seen, 0, (size_t)fields->count * sizeof(*r->seen));
    leati_file_outcome outcome = begin_sample(r, err);
    while (outcome == LEATI_FILE_MORE && r->pending && same_sample(r)) {
        outcome = read_member(r, sink, &twice, err);
        if (outcome != LEATI_FILE_MORE)
            return outcome;
        leat_error after = {0};
        leati_file_outcome next = next_member(r, &after);
        if (next == LEATI_FILE_ERROR) { /* whether the sample is whole is not known */
            *err = after;
            return next;
        }
        if (next != LEATI_FILE_MORE)
            stop_before(r, next, &after, r->member.at);
    }
    if (outcome != LEATI_FILE_MORE)
        return outcome;
    for (int f = fields->count - 1; f >= 0; f--)
        missing = r->seen[f] ? missing : f;
    if (missing >= 0 && r->stopped && r->stop == LEATI_FILE_LOST) {
        *err = r->error; /* the archive broke off within the sample */
        return LEATI_FILE_LOST;
    }
    if (twice >= 0 || missing >= 0) {
        return twice >= 0 ? refuse(r, twice, "two members", err)
                          : refuse(r, missing, "no member", err);
    }
    if (sink != NULL && show_key(r, sink, err) != LEAT_OK) {
        r->broken = true;
        return LEATI_FILE_ERROR;
    }
    return LEATI_FILE_MORE;
}

/* ---- the format ---- */

static leati_file_outcome open_tar(const leati_files *files, leati_pools *pools, const char *path,
                                   int64_t position, void **reader, leat_error *err) {
    const struct tar_state *s = (const struct tar_state *)files;
    struct tar_reader *r = leati_alloc_zero(1, sizeof(*r));
    *reader = r;
    if (r == NULL) {
        leati_no_memory(err);
        return LEATI_FILE_ERROR;
    }
    r->state = s;
    r->pools = pools;
    r->sample_at = r->resume_at = position;
    r->path = leati_strdup(path);
    r->seen = leati_alloc((size_t)s->args->fields.count, sizeof(*r->seen));
    if (r->path == NULL || r->seen == NULL) {
        leati_no_memory(err);
        return LEATI_FILE_ERROR;
    }
    return leati_chunks_open(&r->chunks, path, s->compression, position, s->files.chunk_size,
                             r->pools, err) == LEAT_OK
               ? LEATI_FILE_MORE
               : LEATI_FILE_ERROR;
}

/* After a failure of reading or memory: once more from where it arose. */
static leat_status mend(struct tar_reader *r, leat_error *err) {
    const struct tar_state *s = r->state;
    leati_chunks_close(&r->chunks);
    r->chunks = (leati_chunks){0};
    leati_text_fini(&r->key);
    leati_tar_fini(&r->member);
    r->member = (leati_tar_member){0};
    r->pending = r->stopped = false;
    leat_status status = leati_chunks_open(&r->chunks, r->path, s->compression, r->resume_at,
                                           s->files.chunk_size, r->pools, err);
    r->broken = status != LEAT_OK;
    return status;
}

static leati_file_outcome read_tar(void *reader, const leati_file_request *request, int64_t *n,
                                   leat_error *err) {
    struct tar_reader *r = reader;
    struct tar_sink *sink = request->sink;
    int64_t start = r->chunks.position;
    leati_file_outcome outcome = LEATI_FILE_MORE;
    while (
        *n < request->want && outcome == LEATI_FILE_MORE &&
        (*n == 0 || request->bytes == 0 || r->chunks.position - start < (int64_t)request->bytes)) {
        leat_error local = {0};
        bool waited = r->stopped;
        if (waited) {
            outcome = r->stop;
            local = r->error;
        } else {
            outcome = r->broken && mend(r, &local) != LEAT_OK ? LEATI_FILE_ERROR
                                                              : read_sample(r, sink, &local);
        }
        if (outcome == LEATI_FILE_MORE) {
            ++*n;
            if (sink != NULL)
                sink->filled++;
        } else if (*n > 0) {
            stop_before(r, outcome, &local, waited ? r->resume_at : r->sample_at);
        } else {
            r->stopped = false;
            if (err != NULL)
                *err = local;
        }
    }
    return *n > 0 ? LEATI_FILE_MORE : outcome;
}

/* Where the next sample starts; a failed one that was not told yet is the next. */
static int64_t tar_position(const void *reader) {
    const struct tar_reader *r = reader;
    return r->stopped || r->broken ? r->resume_at : r->pending ? r->member.at : r->chunks.position;
}

static void close_tar(void *reader) {
    struct tar_reader *r = reader;
    if (r != NULL) {
        leati_chunks_close(&r->chunks);
        leati_tar_fini(&r->member);
        leati_text_fini(&r->key);
        leati_free(r->path);
        leati_free(r->seen);
    }
    leati_free(r);
}

static const leati_file_format format = {.op = "tar_dataset",
                                         .open = open_tar,
                                         .read = read_tar,
                                         .position = tar_position,
                                         .close = close_tar};

/* ---- the protocol ---- */

/* Columns stand in the order of their keys. */
static void place_columns(struct tar_state *s) {
    const leati_strings *fields = &s->args->fields;
    for (int f = 0; f < fields->count; f++) {
        const leat_string *field = &fields->values[f];
        bool after_key = compare_names(field->data, name_size(field), KEY, strlen(KEY)) > 0;
        s->columns[f] = after_key;
        s->key_column += !after_key;
        for (int other = 0; other < fields->count; other++)
            s->columns[f] += compare_fields(&fields->values[other], field) < 0;
    }
}

/* What iterators and accessors share. */
static leat_status begin(struct tar_state *s, const struct tar_args *args, leat_error *err) {
    s->args = args;
    s->num_columns = s->args->fields.count + 1;
    s->columns = leati_alloc_zero((size_t)s->args->fields.count, sizeof(*s->columns));
    s->buffers = leati_alloc_zero((size_t)s->num_columns, sizeof(*s->buffers));
    if (s->columns == NULL || s->buffers == NULL)
        return leati_no_memory(err);
    place_columns(s);
    return leat_compression_from_name(args->compression_type, &s->compression, err);
}

static leat_status tar_open(leati_node_state *node, void *state, leat_error *err) {
    struct tar_state *s = state;
    leat_status status = begin(s, node->dataset->args, err);
    return status != LEAT_OK ? status
                             : leati_files_open(&s->files, node, &format, &s->args->filenames, 0,
                                                s->args->buffer_size, err);
}

static leat_status take_buffers(struct tar_state *s, int64_t want, leat_buffer **buffers,
                                leat_error *err) {
    for (int c = 0; c < s->num_columns; c++) {
        buffers[c] = leati_pools_take(&s->files.pools, (size_t)want * sizeof(leat_string), err);
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
    struct tar_sink sink = {.buffers = s->buffers, .pools = &s->files.pools};
    if (take_buffers(s, want, sink.buffers, err) == LEAT_OK &&
        leati_block_prepare(out, s->num_columns, err) == LEAT_OK) {
        leati_file_request request = {.want = want,
                                      .bytes = out->byte_target > 0 ? out->byte_target
                                                                    : LEATI_BYTE_TARGET,
                                      .sink = &sink};
        tail = leati_files_next(&s->files, &request, &n, err);
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
    leati_files_close(node, &s->files);
    leati_free(s->columns);
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
                           struct tar_sink *sink, leat_error *err) {
    int64_t size = end - start + LEATI_TAR_BLOCK, n = 0; /* with the header behind it */
    leati_file_request request = {.want = 1, .sink = sink};
    void *reader = NULL;
    size = size < LEAST_CHUNK ? LEAST_CHUNK : LEATI_MIN(MOST_CHUNK, size);
    a->state.files.chunk_size = (size_t)size;
    leati_file_outcome outcome = open_tar(&a->state.files, &a->chunks, path, start, &reader, err);
    if (outcome == LEATI_FILE_MORE)
        outcome = read_tar(reader, &request, &n, err);
    leat_status status = outcome == LEATI_FILE_MORE  ? LEAT_OK
                         : outcome == LEATI_FILE_END ? leati_index_stale(path, err)
                                                     : err->code;
    if (status == LEAT_OK && tar_position(reader) != end)
        status = leati_index_stale(path, err);
    close_tar(reader);
    return status;
}

/* One sample for each call: they are large. */
static leat_status tar_at(leati_access *access, const int64_t *indices, int64_t n, leati_block *out,
                          leat_error *err) {
    struct tar_access *a = access->state;
    const leati_record_index *index = index_of(access->node.dataset);
    struct tar_sink sink = {.buffers = a->state.buffers, .pools = &a->state.files.pools};
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
    show_rows(&a->state, status == LEAT_OK, out);
    leat_buffer_unref(sink.keys);
    leati_free(path);
    return status;
}

static void tar_access_close(leati_access *access) {
    struct tar_access *a = access->state;
    leati_index_close(a->sidecar);
    leati_pools_close(&a->chunks);
    leati_pools_close(&a->state.files.pools);
    leati_free(a->state.columns);
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
    struct tar_args args = {0};
    leat_dataset *dataset = NULL;
    leat_index_use use = options == NULL ? LEAT_INDEX_NONE : options->index;
    args.index = (char *)(uintptr_t)leati_record_index_use_text(use);
    if (options != NULL) {
        args.compression_type = (char *)(uintptr_t)options->compression_type; /* copied */
        args.buffer_size = options->buffer_size;
    }
    if (leati_files_view_names("tar_dataset", filenames, num_filenames, &args.filenames, err) ==
            LEAT_OK &&
        leati_files_view_names("tar_dataset", fields, num_fields, &args.fields, err) == LEAT_OK)
        dataset = leati_dataset_new(&leati_op_tar_dataset, &args, NULL, 0, err);
    leati_free(args.filenames.values);
    leati_free(args.fields.values);
    return dataset;
}
