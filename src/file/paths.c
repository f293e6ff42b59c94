/* Files by path, for programs: the public door to the table of file systems (fs.h).
 *
 * Readers and writers are the files and outputs of this room under public names. Failures: those of
 * the file system. No locks. */
#include "base/alloc.h"
#include "base/error.h"
#include "file/atomic.h"
#include "file/fs.h"
#include "file/glob.h"
#include <leat/file.h>

struct leat_file_reader {
    leati_file *file;
};

struct leat_file_writer {
    leati_output *output;
};

leat_status leat_path_stat(const char *path, leat_path_info *out, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leati_stat found = {0};
    LEATI_TRY(leati_fs_stat(path, &found, err));
    *out = (leat_path_info){found.kind == LEATI_PATH_FOLDER, found.size, found.changed};
    return LEAT_OK;
}

struct listing {
    leat_path_function function;
    void *context;
};

static leat_status give_name(void *context, const char *name, leati_path_kind kind,
                             leat_error *err) {
    const struct listing *l = context;
    leat_error local = {0};
    (void)kind;
    leat_status status = l->function(l->context, name, &local);
    return status == LEAT_OK ? LEAT_OK : leati_fail_callback(err, status, &local, "function", NULL);
}

leat_status leat_path_list(const char *path, leat_path_function function, void *context,
                           leat_error *err) {
    LEATI_ERROR_DOOR(err);
    struct listing l = {function, context};
    if (function == NULL)
        return leati_refuse(err, VALUE, "leat_path_list: the function is NULL");
    return leati_fs_list(path, give_name, &l, err);
}

leat_status leat_path_glob(const char *pattern, leat_path_function function, void *context,
                           leat_error *err) {
    LEATI_ERROR_DOOR(err);
    struct listing l = {function, context};
    leati_paths found = {0};
    if (function == NULL)
        return leati_refuse(err, VALUE, "leat_path_glob: the function is NULL");
    leat_status status = leati_glob(&pattern, 1, false, &found, err);
    for (size_t i = 0; i < found.count && status == LEAT_OK; i++)
        status = give_name(&l, found.values[i], LEATI_PATH_UNKNOWN, err);
    leati_fs_paths_fini(&found);
    return status;
}

leat_status leat_path_make_folders(const char *path, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    return leati_fs_mkdirs(path, err);
}

leat_status leat_path_remove(const char *path, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    return leati_fs_remove(path, err);
}

leat_file_reader *leat_file_reader_open(const char *path, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_file_reader *reader = leati_alloc_zero(1, sizeof *reader);
    if (reader == NULL) {
        (void)leati_no_memory(err);
        return NULL;
    }
    if (leati_file_open(path, &reader->file, err) == LEAT_OK)
        return reader;
    leati_free(reader);
    return NULL;
}

void leat_file_reader_free(leat_file_reader *reader) {
    if (reader == NULL)
        return;
    leati_file_close(reader->file);
    leati_free(reader);
}

int64_t leat_file_reader_size(const leat_file_reader *reader) {
    return reader->file->size;
}

leat_status leat_file_reader_read(leat_file_reader *reader, int64_t offset, void *data, size_t size,
                                  size_t *got, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    if (offset < 0)
        return leati_refuse(err, VALUE, "leat_file_reader_read: byte %lld; expected 0 or more",
                            (long long)offset);
    return leati_file_read_at(reader->file, offset, data, size, got, err);
}

leat_file_writer *leat_file_writer_open(const char *path, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_file_writer *writer = leati_alloc_zero(1, sizeof *writer);
    if (writer == NULL) {
        (void)leati_no_memory(err);
        return NULL;
    }
    if (leati_atomic_open(path, LEATI_ATOMIC_FILE, &writer->output, err) == LEAT_OK)
        return writer;
    leati_free(writer);
    return NULL;
}

leat_status leat_file_writer_write(leat_file_writer *writer, const void *data, size_t size,
                                   leat_error *err) {
    LEATI_ERROR_DOOR(err);
    return leati_atomic_write(writer->output, data, size, err);
}

leat_status leat_file_writer_close(leat_file_writer *writer, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leati_output *output = writer->output;
    leati_free(writer);
    return leati_atomic_commit(output, err);
}

void leat_file_writer_discard(leat_file_writer *writer) {
    if (writer == NULL)
        return;
    leati_atomic_discard(writer->output);
    leati_free(writer);
}
