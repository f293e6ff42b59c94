/* Reading samples out of tar archives; see tar_samples.h.
 *
 * Happy path: members of one sample are views into the chunks read; the key is copied. A sample
 * that lacks a field, or has it twice, is one INVALID_ARGUMENT; a damaged archive gives the samples
 * before the damage, DATA_LOSS, and then no more. No locks: one thread at a time. */
#include "data/source/tar_samples.h"
#include "base/limits.h"
#include "base/minmax.h"
#include "base/text.h"
#include <string.h>

enum { KEY_BYTES = 16 << 10 };

/* An open archive. `member` has been read and not used while `pending`; what stopped a call after
 * its first sample waits in `stop`. */
struct tar_reader {
    leati_chunks chunks;
    const leati_tar_files *files;
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
            /* At the end itself an empty extension is left, which memchr must not look for. */
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

/* May a member of an archive whose size is unknown be so long? */
static bool within_limit(const struct tar_reader *r, int64_t size, leat_error *err) {
    uint64_t most = leati_limits_max_record();
    if ((uint64_t)size <= most)
        return true;
    (void)leati_refuse(err, VALUE,
                       "a member of %lld bytes, and one of a compressed archive may have "
                       "%llu; " LEATI_RAISE_RECORDS,
                       (long long)size, (unsigned long long)most);
    leati_error_at_file(err, r->path, strlen(r->path), r->member.at,
                        r->chunks.stream.unpacker != NULL);
    return false;
}

/* The pending member's bytes become row `filled` of a column. */
static leati_file_outcome show_member(struct tar_reader *r, const leati_tar_sink *sink, int column,
                                      leat_error *err) {
    leati_chunks *chunks = &r->chunks;
    int64_t size = r->member.size, left = leati_stream_left(&chunks->stream);
    /* Below 0 it is not known how much is left, as of a compressed file. */
    if (left < 0 && !within_limit(r, size, err))
        return LEATI_FILE_LOST;
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
static leat_status show_key(const struct tar_reader *r, leati_tar_sink *sink, leat_error *err) {
    int column = r->files->key_column;
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
    const leat_string *text = &r->files->fields->values[field];
    leati_fail_in_file(err, LEAT_INVALID_ARGUMENT, r->path, r->sample_at,
                       r->chunks.stream.unpacker != NULL,
                       "sample \"%.100s\" has %s for the field \"%.*s\"; leave the "
                       "field out or mend the shard",
                       r->key.data, what, (int)LEATI_MIN(text->size, 60), text->data);
    return LEATI_FILE_ERROR;
}

/* One member of the sample that is being read. */
static leati_file_outcome read_member(struct tar_reader *r, const leati_tar_sink *sink, int *twice,
                                      leat_error *err) {
    size_t key_size = 0;
    const char *extension = NULL;
    leati_tar_sample(&r->member.name, &key_size, &extension);
    /* The dot between key and extension. */
    size_t size = r->member.name.size - key_size - 1;
    int field = field_of(r->files->fields, extension, size);
    if (field >= 0) {
        *twice = r->seen[field] ? field : *twice;
        r->seen[field] = true;
    }
    leati_file_outcome outcome = LEATI_FILE_MORE;
    if (field >= 0 && sink != NULL)
        outcome = show_member(r, sink, r->files->columns[field], err);
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
static leati_file_outcome read_sample(struct tar_reader *r, leati_tar_sink *sink, leat_error *err) {
    const leati_strings *fields = r->files->fields;
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
            /* The sample is whole as far as the archive goes: it is given out, and the end told
             * next. */
            stop_before(r, next, &after, r->member.at);
    }
    if (outcome != LEATI_FILE_MORE)
        return outcome;
    /* Backwards, so that the first missing field is named. */
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
    const leati_tar_files *tar = (const leati_tar_files *)files;
    struct tar_reader *r = leati_alloc_zero(1, sizeof(*r));
    *reader = r;
    if (r == NULL) {
        leati_no_memory(err);
        return LEATI_FILE_ERROR;
    }
    r->files = tar;
    r->pools = pools;
    r->sample_at = r->resume_at = position;
    r->path = leati_strdup(path);
    r->seen = leati_alloc((size_t)tar->fields->count, sizeof(*r->seen));
    if (r->path == NULL || r->seen == NULL) {
        leati_no_memory(err);
        return LEATI_FILE_ERROR;
    }
    return leati_chunks_open(&r->chunks, path, tar->compression, position, tar->files.chunk_size,
                             r->pools, err) == LEAT_OK
               ? LEATI_FILE_MORE
               : LEATI_FILE_ERROR;
}

/* After a failure of reading or memory: once more from where it arose. */
static leat_status mend(struct tar_reader *r, leat_error *err) {
    const leati_tar_files *tar = r->files;
    leati_chunks_close(&r->chunks);
    r->chunks = (leati_chunks){0};
    leati_text_fini(&r->key);
    leati_tar_fini(&r->member);
    r->member = (leati_tar_member){0};
    r->pending = r->stopped = false;
    leat_status status = leati_chunks_open(&r->chunks, r->path, tar->compression, r->resume_at,
                                           tar->files.chunk_size, r->pools, err);
    r->broken = status != LEAT_OK;
    return status;
}

static leati_file_outcome read_tar(void *reader, const leati_file_request *request, int64_t *n,
                                   leat_error *err) {
    struct tar_reader *r = reader;
    leati_tar_sink *sink = request->sink;
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
            /* A sample that failed behind others is read again from its start where the state is
             * restored. */
            stop_before(r, outcome, &local, waited ? r->resume_at : r->sample_at);
        } else {
            r->stopped = false;
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

const leati_file_format leati_tar_samples = {.op = "tar_dataset",
                                             .open = open_tar,
                                             .read = read_tar,
                                             .position = tar_position,
                                             .close = close_tar};
