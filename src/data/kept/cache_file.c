/* Reading and writing a cache in files: see cache_file.h.
 *
 * PREFIX.data is a sequence of records: number of rows, bytes of the payload, its hash (8 bytes
 * each, little-endian), and the payload as leati_values_put_block writes it. PREFIX.index is a line
 * of text, then the number of rows, the bytes of PREFIX.data and a hash of both. The data file
 * appears whole and before the index, so an index is never without its data. The lock file of a
 * process that died is taken by the next one, as nobody holds it; where the file system knows no
 * locks it is reported, but in an object store there is none. Failures: those of the file system,
 * naming the path; every length is held against the file's size before memory is taken for it. No
 * locks but the lock file. */
#include "data/kept/cache_file.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/minmax.h"
#include "base/text.h"
#include "data/values/values.h"
#include "file/atomic.h"
#include "file/fs.h"
#include "file/lock.h"
#include <string.h>

enum { FLUSH_BYTES = 1 << 20, RECORD_HEADER = 24 }; /* a record; three numbers */

/* The digit is the version; a newer one that changes the files has another. */
static const char index_magic[] = "leat cache 1\n";
enum { VERSION_AT = sizeof(index_magic) - 3 }; /* before the line's end and the terminator */

static bool is_of_other_version(const leati_reader *in) {
    const char *text = (const char *)in->data;
    return in->size > VERSION_AT + 1 && memcmp(text, index_magic, VERSION_AT) == 0 &&
           text[VERSION_AT] >= '0' && text[VERSION_AT] <= '9' && text[VERSION_AT + 1] == '\n' &&
           text[VERSION_AT] != index_magic[VERSION_AT];
}

/* prefix + suffix; owned (leati_free). */
static char *path_of(const char *prefix, const char *suffix, leat_error *err) {
    leati_text text = {0};
    leati_text_addf(&text, "%s%s", prefix, suffix);
    char *path = leati_text_take(&text);
    if (path == NULL)
        leati_no_memory(err);
    return path;
}

/* A writer that was killed behind its index has left its lock file. */
static void tidy(const char *prefix) {
    leati_lock *lock = NULL;
    leat_error ignored = {0};
    char *path = path_of(prefix, "_0.lockfile", &ignored);
    if (path != NULL && leati_lock_take(path, &lock, &ignored) == LEAT_OK)
        leati_lock_remove(lock);
    leati_free(path);
}

leat_status leati_cache_file_complete(const char *prefix, bool *out, leat_error *err) {
    char *path = path_of(prefix, ".index", err);
    if (path == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    leati_stat stat;
    leat_error local = {0};
    leat_status status = leati_fs_stat(path, &stat, &local);
    leati_free(path);
    *out = status == LEAT_OK;
    if (*out)
        tidy(prefix);
    if (status == LEAT_OK || status == LEAT_NOT_FOUND)
        return LEAT_OK;
    *err = local;
    return status;
}

/* ---- writing ---- */

struct leati_cache_writer {
    char *prefix;
    leati_lock *held; /* the lock file, or */
    char *lock;       /* its path, where there are no locks and it was made */
    leati_output *data;
    leati_block pending; /* rows not yet written */
    size_t pending_bytes;
    int64_t rows, bytes; /* of the data file */
};

/* Makes the lock file where the file system knows no locks: who finds it does not write. */
static leat_status make_lock(const char *path, const char *text, leat_error *err) {
    const leati_fs *fs = NULL;
    const char *rest = NULL;
    leati_file_sink *sink = NULL;
    LEATI_TRY(leati_fs_of(path, &fs, &rest, err));
    if (fs->create == NULL) {
        return leati_fail_in_file(err, LEAT_UNIMPLEMENTED, path, -1, false,
                                  "this file system cannot be written");
    }
    LEATI_TRY(fs->create(fs, rest, true, &sink, err));
    leat_status status = fs->write(sink, text, strlen(text), err);
    leat_status closed = fs->close_sink(sink, status == LEAT_OK ? err : &(leat_error){0});
    if (status == LEAT_OK && closed == LEAT_OK)
        return LEAT_OK;
    leat_status removed = leati_fs_remove(path, &(leat_error){0});
    (void)removed; /* the next writer will report it */
    return status == LEAT_OK ? closed : status;
}

/* Object stores know no locks, and need none to be whole: of several writers the last one stays. */
static bool is_in_store(const char *prefix) {
    const leati_fs *fs = NULL;
    const char *rest = NULL;
    return leati_fs_of(prefix, &fs, &rest, &(leat_error){0}) == LEAT_OK && fs->create != NULL &&
           fs->claim == NULL;
}

static leat_status take_lock(leati_cache_writer *writer, leat_error *err) {
    static const char text[] = "A process of leat writes this cache.\n";
    leati_stat stat;
    leat_error local = {0};
    char *path = path_of(writer->prefix, "_0.lockfile", err);
    if (path == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    bool was_there = leati_fs_stat(path, &stat, &local) == LEAT_OK;
    local = (leat_error){0};
    leat_status status = leati_lock_new(path, &writer->held, &local);
    if (status == LEAT_OK) {
        status = leati_lock_write(writer->held, text, &local);
    } else if (status == LEAT_UNIMPLEMENTED) {
        local = (leat_error){0};
        status = make_lock(path, text, &local);
        /* To find out that it cannot be locked, the file had to be made. */
        if (status == LEAT_ALREADY_EXISTS && !was_there)
            status = LEAT_OK;
        if (status == LEAT_OK)
            writer->lock = path;
    }
    if (status == LEAT_ALREADY_EXISTS) {
        status =
            leati_fail_in_file(&local, status, path, -1, false,
                               "There appears to be a concurrent caching iterator running; use "
                               "another filename, or remove the file if no process is writing");
    }
    if (status != LEAT_OK)
        *err = local;
    if (writer->lock == NULL)
        leati_free(path);
    return status;
}

leat_status leati_cache_writer_open(const char *prefix, leati_cache_writer **out, leat_error *err) {
    leati_cache_writer *writer = leati_alloc_zero(1, sizeof(*writer));
    if (writer == NULL)
        return leati_no_memory(err);
    /* All files come into one folder, whoever changes the working folder meanwhile. */
    writer->prefix = leati_fs_whole(prefix);
    leat_status status = writer->prefix == NULL ? leati_no_memory(err) : LEAT_OK;
    if (status == LEAT_OK && !is_in_store(writer->prefix))
        status = take_lock(writer, err);
    if (status == LEAT_OK) {
        char *path = path_of(writer->prefix, ".data", err);
        status = path == NULL ? LEAT_RESOURCE_EXHAUSTED
                              : leati_atomic_open(path, LEATI_ATOMIC_PART, &writer->data, err);
        leati_free(path);
    }
    if (status == LEAT_OK)
        *out = writer;
    else
        leati_cache_writer_discard(writer);
    return status;
}

static leat_status flush(leati_cache_writer *writer, leat_error *err) {
    leati_writer payload = {0}, header = {0};
    leat_status status =
        leati_values_put_block(&payload, &writer->pending, 0, writer->pending.n, err);
    if (status == LEAT_OK) {
        leati_put_fixed64(&header, (uint64_t)writer->pending.n);
        leati_put_fixed64(&header, payload.size);
        leati_put_fixed64(&header, leati_hash(payload.data, payload.size, 0));
        status = header.failed ? leati_no_memory(err) : LEAT_OK;
    }
    if (status == LEAT_OK)
        status = leati_atomic_write(writer->data, header.data, header.size, err);
    if (status == LEAT_OK)
        status = leati_atomic_write(writer->data, payload.data, payload.size, err);
    if (status == LEAT_OK) {
        writer->rows += writer->pending.n;
        writer->bytes += (int64_t)(header.size + payload.size);
        leati_block_clear(&writer->pending);
        writer->pending_bytes = 0;
    }
    leati_writer_fini(&payload);
    leati_writer_fini(&header);
    return status;
}

leat_status leati_cache_writer_add(leati_cache_writer *writer, const leati_block *block,
                                   int64_t begin, int64_t n, leat_error *err) {
    leati_block piece = {0};
    leat_status status = leati_block_slice(block, begin, n, &piece, err);
    if (status == LEAT_OK) {
        writer->pending_bytes += leati_block_bytes(&piece);
        status = leati_block_append(&writer->pending, &piece, err);
    }
    leati_block_fini(&piece);
    return status == LEAT_OK && writer->pending_bytes >= FLUSH_BYTES ? flush(writer, err) : status;
}

static leat_status write_index(leati_cache_writer *writer, leat_error *err) {
    leati_writer index = {0};
    leat_status status = LEAT_OK;
    char *path = path_of(writer->prefix, ".index", err);
    leati_put_raw(&index, index_magic, sizeof(index_magic) - 1);
    leati_put_fixed64(&index, (uint64_t)writer->rows);
    leati_put_fixed64(&index, (uint64_t)writer->bytes);
    leati_put_fixed64(&index, leati_hash(index.data, index.size, 0));
    if (path == NULL || index.failed)
        status = leati_no_memory(err);
    else
        status = leati_atomic_write_part(path, index.data, index.size, err);
    leati_free(path);
    leati_writer_fini(&index);
    return status;
}

leat_status leati_cache_writer_finish(leati_cache_writer *writer, leat_error *err) {
    leat_status status = writer->pending.n > 0 ? flush(writer, err) : LEAT_OK;
    if (status == LEAT_OK) {
        leati_output *data = writer->data;
        /* Commit takes it, also on failure: discard below must not see it again. */
        writer->data = NULL;
        status = leati_atomic_commit(data, err);
    }
    if (status == LEAT_OK)
        status = write_index(writer, err);
    leati_cache_writer_discard(writer);
    return status;
}

void leati_cache_writer_discard(leati_cache_writer *writer) {
    if (writer == NULL)
        return;
    leati_atomic_discard(writer->data);
    leati_lock_remove(writer->held);
    if (writer->lock != NULL) {
        leat_error ignored = {0};
        leat_status status = leati_fs_remove(writer->lock, &ignored);
        (void)status; /* the next writer will report it */
    }
    leati_block_fini(&writer->pending);
    leati_free(writer->lock);
    leati_free(writer->prefix);
    leati_free(writer);
}

/* ---- reading ---- */

struct leati_cache_reader {
    leati_file *file;
    int64_t size;  /* of the data file */
    int64_t rows;  /* of the whole cache */
    int64_t at;    /* offset of the next record */
    int64_t first; /* number of the block's first row */
    int64_t next;  /* row to be read next */
    leati_block block;
};

struct record {
    int64_t rows, size;
    uint64_t hash;
};

static leat_status read_index(leati_cache_reader *reader, const char *prefix, leat_error *err) {
    char *path = path_of(prefix, ".index", err);
    leat_buffer *buffer = NULL;
    leat_status status =
        path == NULL ? LEAT_RESOURCE_EXHAUSTED : leati_file_read_all(path, &buffer, err);
    if (status == LEAT_OK) {
        leati_reader in = {.data = leat_buffer_data(buffer), .size = leat_buffer_size(buffer)};
        size_t magic = sizeof(index_magic) - 1;
        uint64_t numbers[3] = {0};
        bool good = in.size == magic + sizeof(numbers) && memcmp(in.data, index_magic, magic) == 0;
        in.at = magic;
        for (int i = 0; i < 3 && good; i++)
            good = leati_get_fixed64(&in, &numbers[i], &(leat_error){0}) == LEAT_OK;
        good = good && numbers[2] == leati_hash(in.data, in.size - sizeof(numbers[0]), 0) &&
               numbers[0] <= INT64_MAX && numbers[1] <= INT64_MAX;
        reader->rows = (int64_t)numbers[0];
        reader->size = (int64_t)numbers[1];
        /* Asked first: an index of another version may have another length, and is not damaged. */
        if (is_of_other_version(&in)) {
            status = leati_fail_in_file(err, LEAT_FAILED_PRECONDITION, path, -1, false,
                                        "a cache of version %c; this library reads version %c; "
                                        "remove the cache's files to fill it again",
                                        in.data[VERSION_AT], index_magic[VERSION_AT]);
        } else if (!good) {
            status = leati_fail_in_file(err, LEAT_DATA_LOSS, path, -1, false,
                                        "not the index of a cache of leat; remove the cache's "
                                        "files to fill it again");
        }
    }
    leat_buffer_unref(buffer);
    leati_free(path);
    return status;
}

leat_status leati_cache_reader_open(const char *prefix, leati_cache_reader **out, leat_error *err) {
    leati_cache_reader *reader = leati_alloc_zero(1, sizeof(*reader));
    if (reader == NULL)
        return leati_no_memory(err);
    leat_status status = read_index(reader, prefix, err);
    if (status == LEAT_OK) {
        char *path = path_of(prefix, ".data", err);
        status = path == NULL ? LEAT_RESOURCE_EXHAUSTED : leati_file_open(path, &reader->file, err);
        if (status == LEAT_OK && reader->file->size != reader->size) {
            status = leati_fail_in_file(err, LEAT_DATA_LOSS, path, -1, false,
                                        "a cache of %lld bytes; its index says %lld; remove the "
                                        "cache's files to fill it again",
                                        (long long)reader->file->size, (long long)reader->size);
        }
        leati_free(path);
    }
    if (status == LEAT_OK)
        *out = reader;
    else
        leati_cache_reader_close(reader);
    return status;
}

void leati_cache_reader_close(leati_cache_reader *reader) {
    if (reader == NULL)
        return;
    leati_file_close(reader->file);
    leati_block_fini(&reader->block);
    leati_free(reader);
}

static leat_status damaged(const leati_cache_reader *reader, leat_error *err) {
    return leati_fail_in_file(err, LEAT_DATA_LOSS, reader->file->path, reader->at, false,
                              "a damaged cache; remove its files to fill it again");
}

/* Reads `size` bytes at `at`, all of them. */
static leat_status read_exactly(const leati_cache_reader *reader, int64_t at, void *data,
                                size_t size, leat_error *err) {
    size_t got = 0;
    leat_status status = leati_file_read_at(reader->file, at, data, size, &got, err);
    return status == LEAT_OK && got != size ? damaged(reader, err) : status;
}

static leat_status read_header(const leati_cache_reader *reader, struct record *out,
                               leat_error *err) {
    uint8_t bytes[RECORD_HEADER];
    uint64_t numbers[3] = {0};
    if (reader->size - reader->at < RECORD_HEADER)
        return damaged(reader, err);
    leat_status status = read_exactly(reader, reader->at, bytes, sizeof(bytes), err);
    leati_reader in = {.data = bytes, .size = sizeof(bytes)};
    for (int i = 0; i < 3 && status == LEAT_OK; i++)
        status = leati_get_fixed64(&in, &numbers[i], err);
    /* A record of no rows would be taken for the end of the cache. */
    if (status == LEAT_OK && (numbers[0] == 0 || numbers[0] > (uint64_t)reader->rows ||
                              numbers[1] > (uint64_t)(reader->size - reader->at - RECORD_HEADER)))
        return damaged(reader, err);
    *out = (struct record){(int64_t)numbers[0], (int64_t)numbers[1], numbers[2]};
    return status;
}

/* Reads the record at `at` as the reader's block. */
static leat_status read_block(leati_cache_reader *reader, const leat_spec *spec, leat_error *err) {
    struct record record = {0};
    leat_status status = read_header(reader, &record, err);
    if (status != LEAT_OK)
        return status;
    leat_buffer *buffer = leat_buffer_new((size_t)record.size, err);
    if (buffer == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    leati_reader in = {.data = leat_buffer_data(buffer), .size = (size_t)record.size};
    status =
        read_exactly(reader, reader->at + RECORD_HEADER, leat_buffer_data(buffer), in.size, err);
    if (status == LEAT_OK && leati_hash(in.data, in.size, 0) != record.hash)
        status = damaged(reader, err);
    if (status == LEAT_OK)
        status = leati_values_get_block(&in, spec, &reader->block, err);
    /* The header's number was trusted by seek: it must be what the payload holds. */
    if (status == LEAT_OK && reader->block.n != record.rows) {
        leati_block_clear(&reader->block);
        status = damaged(reader, err);
    }
    leat_buffer_unref(buffer);
    if (status == LEAT_OK)
        reader->at += RECORD_HEADER + record.size;
    return status;
}

leat_status leati_cache_reader_seek(leati_cache_reader *reader, int64_t row, leat_error *err) {
    leati_block_clear(&reader->block);
    reader->at = reader->first = 0;
    reader->next = row;
    if (row < 0 || row > reader->rows) {
        return leati_fail_in_file(err, LEAT_DATA_LOSS, reader->file->path, -1, false,
                                  "row %lld of a cache of %lld rows", (long long)row,
                                  (long long)reader->rows);
    }
    /* Headers alone are read; payloads are passed over. */
    while (reader->first < row) {
        struct record record = {0};
        LEATI_TRY(read_header(reader, &record, err));
        if (row - reader->first < record.rows)
            break;
        reader->first += record.rows;
        reader->at += RECORD_HEADER + record.size;
    }
    return LEAT_OK;
}

leat_status leati_cache_reader_read(leati_cache_reader *reader, const leat_spec *spec, int64_t want,
                                    leati_block *out, leat_error *err) {
    leati_block_clear(out);
    if (reader->next == reader->rows) {
        /* Rows behind the last that the index speaks of are another cache's. */
        bool whole = reader->next - reader->first >= reader->block.n && reader->at == reader->size;
        return whole ? LEAT_OK : damaged(reader, err);
    }
    if (reader->next - reader->first >= reader->block.n) {
        reader->first += reader->block.n;
        leati_block_clear(&reader->block);
        leat_status status = read_block(reader, spec, err);
        if (status != LEAT_OK)
            return status;
        if (reader->block.n > reader->rows - reader->first) {
            leati_block_clear(&reader->block);
            return damaged(reader, err);
        }
    }
    int64_t at = reader->next - reader->first, left = reader->block.n - at;
    leat_status status = leati_block_slice(&reader->block, at, LEATI_MIN(left, want), out, err);
    if (status == LEAT_OK)
        reader->next += out->n;
    return status;
}
