/* Records of files by number; see record_index.h.
 *
 * Happy path: the sidecars' counts give each file a range of numbers. A number's file is found by
 * bisection, its bytes in the sidecar, and just they are read, with their checksums. Up to
 * MOST_OPEN files stay open. Failures: those of the sidecars and of the record reader; a file or
 * sidecar that is another one than when the numbers were made is FAILED_PRECONDITION. No locks: one
 * owner each; a leati_record_index is immutable. */
#include "data/source/record_index.h"
#include "base/log.h"
#include "base/minmax.h"
#include "file/tfrecord.h"
#include <string.h>

enum {
    MOST_OPEN = 64,
    MOST_RECORDS = 4096,
    /* So small that each record is read into memory of its own: whoever keeps it keeps no other. */
    CHUNK = 64
};

/* ---- the plan side ---- */

static const char *const uses[] = {"none", "auto", "required"};

const char *leati_record_index_use_text(leat_index_use use) {
    return use >= 0 && use <= LEAT_INDEX_REQUIRED ? uses[use] : "";
}

leat_status leati_record_index_check(const leat_dataset *dataset, const char *use, bool possible,
                                     leat_error *err) {
    bool required = strcmp(use, "required") == 0;
    if (!required && strcmp(use, "auto") != 0) {
        return strcmp(use, "none") == 0
                   ? LEAT_OK
                   : leati_refuse(err, VALUE,
                                  "%s: index is \"%.50s\"; expected \"none\", \"auto\" or "
                                  "\"required\"",
                                  dataset->op->name, use);
    }
    if (!possible) {
        return required ? leati_refuse(err, VALUE,
                                       "%s: index is \"required\", which needs a list of files "
                                       "without compression, read one after the other",
                                       dataset->op->name)
                        : LEAT_OK;
    }
    return leati_dataset_shared(dataset, err) != NULL ? LEAT_OK
                                                      : leati_prefix(err, "%s", dataset->op->name);
}

const leati_record_index *leati_record_index_of(const leat_dataset *dataset, const char *use,
                                                bool possible) {
    if (strcmp(use, "none") == 0 || !possible)
        return NULL;
    const leati_record_index *index = leati_dataset_shared(dataset, &(leat_error){0});
    return index != NULL && index->starts != NULL ? index : NULL;
}

/* Records in all files. */
static int64_t total_of(const leati_record_index *index) {
    return index->starts[index->paths->count];
}

int64_t leati_record_index_cardinality(const leati_record_index *index) {
    return index != NULL ? total_of(index) : LEAT_UNKNOWN_CARDINALITY;
}

/* ---- numbers ---- */

char *leati_record_index_path(const leati_record_index *index, int64_t number, leat_error *err) {
    const leat_string *name = &index->paths->values[number];
    char *path = leati_strndup(name->size > 0 ? name->data : "", name->size);
    if (path == NULL)
        leati_no_memory(err);
    return path;
}

/* Opens the sidecar of a file; its count must be the one that is known, if one is. */
static leat_status open_index(const leati_record_index *index, int64_t number, int64_t count,
                              leati_index **out, leat_error *err) {
    char *path = leati_record_index_path(index, number, err);
    if (path == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    leat_status status = leati_index_open(path, index->kind, out, err);
    if (status == LEAT_OK && count >= 0 && leati_index_count(*out) != count) {
        leati_index_close(*out);
        *out = NULL;
        status = leati_fail(err, LEAT_FAILED_PRECONDITION,
                            "%.250s had %lld records when the dataset was made, and has others "
                            "now; make the dataset again",
                            path, (long long)count);
    }
    leati_free(path);
    return status;
}

leat_status leati_record_index_open(const leati_record_index *index, int64_t file,
                                    leati_index **out, leat_error *err) {
    return open_index(index, file, index->starts[file + 1] - index->starts[file], out, err);
}

static leat_status count_files(leati_record_index *index, leat_error *err) {
    for (int64_t i = 0; i < index->paths->count; i++) {
        leati_index *sidecar = NULL;
        LEATI_TRY(open_index(index, i, -1, &sidecar, err));
        index->starts[i + 1] = index->starts[i] + leati_index_count(sidecar);
        leati_index_close(sidecar);
    }
    return LEAT_OK;
}

leati_record_index *leati_record_index_new(const char *kind, const leati_strings *paths,
                                           const char *use, leat_error *err) {
    leati_record_index *index = leati_alloc_zero(1, sizeof(*index));
    size_t count = (size_t)paths->count + 1;
    leat_error failure = {0};
    if (index != NULL) {
        index->kind = kind;
        index->paths = paths;
        index->starts = leati_alloc_zero(count, sizeof(*index->starts));
    }
    if (index == NULL || index->starts == NULL) {
        leati_record_index_free(index);
        leati_no_memory(err);
        return NULL;
    }
    leat_status status = count_files(index, &failure);
    if (status == LEAT_OK) {
        LEATI_TELL(FILE, INFO, "records by number: the sidecars of all %d files are there",
                   paths->count);
    }
    /* A sidecar that is missing is no failure under "auto"; one that is stale or damaged always
     * is. */
    if (status == LEAT_NOT_FOUND && strcmp(use, "required") != 0) {
        LEATI_TELL(FILE, INFO, "no records by number: %s", failure.text);
        leati_free(index->starts);
        index->starts = NULL;
    } else if (status != LEAT_OK) {
        leati_error_pass(err, &failure);
        leati_record_index_free(index);
        return NULL;
    }
    return index;
}

void leati_record_index_free(leati_record_index *index) {
    if (index != NULL) {
        leati_free(index->starts);
        leati_free(index);
    }
}

int64_t leati_record_index_file(const leati_record_index *index, int64_t number) {
    int64_t low = 0, high = index->paths->count;
    /* The last file that begins at or before the number; empty files before it begin there too. */
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (index->starts[middle] <= number)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The byte where record `number` of file `file` starts. */
static leat_status begin_of(const leati_record_index *index, int64_t file, int64_t number,
                            int64_t *begin, leat_error *err) {
    leati_index *sidecar = NULL;
    int64_t end = 0;
    leat_status status = leati_record_index_open(index, file, &sidecar, err);
    if (status == LEAT_OK)
        status = leati_index_find(sidecar, number, begin, &end, err);
    leati_index_close(sidecar);
    return status;
}

/* How many records of file `file` lie before byte `position`. */
static leat_status records_before(const leati_record_index *index, int64_t file, int64_t position,
                                  int64_t *records, leat_error *err) {
    leati_index *sidecar = NULL;
    int64_t low = 0, high = index->starts[file + 1] - index->starts[file];
    leat_status status =
        position > 0 ? leati_record_index_open(index, file, &sidecar, err) : LEAT_OK;
    high = position > 0 ? high : 0;
    while (low < high && status == LEAT_OK) {
        int64_t middle = low + (high - low) / 2, begin = 0, end = 0;
        status = leati_index_find(sidecar, middle, &begin, &end, err);
        if (begin < position)
            low = middle + 1;
        else
            high = middle;
    }
    leati_index_close(sidecar);
    *records = low;
    return status;
}

leati_tail leati_record_index_skip(const leati_record_index *index, leati_files *files, int64_t n,
                                   int64_t *skipped, leat_error *err) {
    int64_t file, position, behind, begin = 0;
    int64_t total = total_of(index);
    if (!leati_files_where(files, &file, &position, &behind))
        /* An error waits to be given out: reading meets it. */
        return leati_files_advance(files->node, files, n, skipped, err);
    int64_t at = index->starts[file];
    if (file < index->paths->count) {
        int64_t records;
        if (records_before(index, file, position, &records, err) != LEAT_OK)
            return LEATI_ERROR;
        at += records + behind;
    }
    int64_t more = LEATI_MIN(n, total - at), to = at + more;
    file = to < total ? leati_record_index_file(index, to) : index->paths->count;
    if (to < total && begin_of(index, file, to - index->starts[file], &begin, err) != LEAT_OK)
        return LEATI_ERROR;
    if (leati_files_go(files, file, begin, err) != LEAT_OK)
        return LEATI_ERROR;
    *skipped = more;
    return more == n ? LEATI_MORE : LEATI_END;
}

/* ---- records in any order ---- */

typedef struct leati_record_file {
    int64_t number;
    leati_index *index;
    leati_tfrecord *records;
} record_file;

static void close_file(record_file *file) {
    leati_index_close(file->index);
    leati_tfrecord_close(file->records);
}

static leat_status open_file(leati_record_reader *reader, const leati_record_index *index,
                             record_file *file, leat_error *err) {
    leat_status status = leati_record_index_open(index, file->number, &file->index, err);
    char *path = status == LEAT_OK ? leati_record_index_path(index, file->number, err) : NULL;
    if (path == NULL)
        return err->code;
    leati_tfrecord_options options = {.chunk_size = CHUNK, .pools = &reader->pools};
    status = leati_tfrecord_open(path, &options, &file->records, err);
    leati_free(path);
    return status;
}

/* File `number`, open, and last in the list; NULL on failure. */
static record_file *use_file(leati_record_reader *reader, const leati_record_index *index,
                             int64_t number, leat_error *err) {
    if (reader->open == NULL) {
        reader->open = leati_alloc_zero(MOST_OPEN, sizeof(*reader->open));
        if (reader->open == NULL) {
            leati_no_memory(err);
            return NULL;
        }
    }
    int at = reader->num_open - 1;
    while (at >= 0 && reader->open[at].number != number)
        at--;
    record_file file = {.number = number};
    if (at >= 0) {
        file = reader->open[at];
    } else if (open_file(reader, index, &file, err) != LEAT_OK) {
        close_file(&file);
        return NULL;
    } else if (reader->num_open < MOST_OPEN) {
        at = reader->num_open++;
    } else {
        at = 0;
        /* The one that was not used for the longest time. */
        close_file(&reader->open[0]);
    }
    int behind = reader->num_open - 1 - at;
    memmove(&reader->open[at], &reader->open[at + 1], (size_t)behind * sizeof(file));
    reader->open[reader->num_open - 1] = file;
    return &reader->open[reader->num_open - 1];
}

static leat_status read_record(leati_record_reader *reader, const leati_record_index *index,
                               int64_t number, leat_string *record, leat_buffer *owner,
                               leat_error *err) {
    int64_t file_number = leati_record_index_file(index, number), begin = 0, end = 0, got = 0;
    record_file *file = use_file(reader, index, file_number, err);
    if (file == NULL)
        return err->code;
    leat_status status =
        leati_index_find(file->index, number - index->starts[file_number], &begin, &end, err);
    /* Neighbours are read on without a seek. */
    if (status == LEAT_OK && leati_tfrecord_position(file->records) != begin)
        status = leati_tfrecord_seek(file->records, begin, err);
    if (status == LEAT_OK &&
        leati_tfrecord_read(file->records, 1, 0, record, owner, &got, err) == LEATI_RECORD_ERROR)
        status = err->code;
    /* A record that ends elsewhere than the index says: the file is another one. */
    if (status == LEAT_OK && (got == 0 || leati_tfrecord_position(file->records) != end)) {
        char *path = leati_record_index_path(index, file_number, err);
        status = path != NULL ? leati_index_stale(path, err) : LEAT_RESOURCE_EXHAUSTED;
        leati_free(path);
    }
    return status;
}

leat_status leati_record_reader_get(leati_record_reader *reader, const leati_record_index *index,
                                    const int64_t *indices, int64_t n, leati_block *out,
                                    leat_error *err) {
    size_t target = out->byte_target > 0 ? out->byte_target : LEATI_BYTE_TARGET, bytes = 0;
    leat_shape scalar = LEAT_SCALAR;
    leat_status status = LEAT_OK;
    int64_t count = 0;
    leati_block_clear(out);
    n = LEATI_MIN(n, MOST_RECORDS);
    leat_buffer *buffer = leati_pools_take(&reader->pools, (size_t)n * sizeof(leat_string), err);
    if (buffer == NULL || leati_block_prepare(out, 1, err) != LEAT_OK) {
        leat_buffer_unref(buffer);
        return LEAT_RESOURCE_EXHAUSTED;
    }
    leat_string *records = leat_buffer_data(buffer);
    while (count < n && bytes < target && status == LEAT_OK) {
        /* By the contract a failure behind good rows is met by the next call. */
        leat_error *report = count == 0 ? err : &(leat_error){0};
        status = read_record(reader, index, indices[count], &records[count], buffer, report);
        if (status == LEAT_OK)
            bytes += records[count++].size;
    }
    if (count == 0) {
        leat_buffer_unref(buffer);
        leati_block_clear(out);
        return status;
    }
    leati_column_strided(&out->columns[0], LEAT_STRING, &scalar, records, sizeof(leat_string),
                         buffer);
    out->n = count;
    return LEAT_OK;
}

void leati_record_reader_close(leati_record_reader *reader) {
    for (int i = 0; i < reader->num_open; i++)
        close_file(&reader->open[i]);
    leati_free(reader->open);
    leati_pools_close(&reader->pools);
    *reader = (leati_record_reader){0};
}
