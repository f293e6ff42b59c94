/* Files that belong together, replaced as one; folders too.
 *
 * Happy path: each file is written beside its place and brought to the disk; then all but the last
 * get their names, their folders are brought to the disk, and the last one's rename decides. What
 * is outdated goes behind that. So at each moment, whenever the process or the machine stops, the
 * last file is whole and everything that it names is there.
 * Failures: those of the writers, whose files are removed again, also the ones that have their
 * names already. Locks: those of the temporary files (file/atomic). */
#include "base/alloc.h"
#include "base/error.h"
#include "base/stop.h"
#include "file/atomic.h"
#include "file/fs.h"
#include <errno.h>
#include <leat/file.h>
#include <string.h>

static leat_status write_one(const leat_file_content *file, leati_output *output, leat_error *err) {
    leat_status status = LEAT_OK;
    for (size_t i = 0; status == LEAT_OK && i < file->num_pieces; i++)
        status = leati_atomic_write(output, file->pieces[i].data, file->pieces[i].size, err);
    return status == LEAT_OK ? leati_atomic_settle(output, err) : status;
}

/* All files are on the disk before the first gets its name. */
static leat_status write_all(const leat_file_content *files, int count, leati_output **outputs,
                             leat_error *err) {
    for (int i = 0; i < count; i++) {
        LEATI_TRY(leati_atomic_open(files[i].path, LEATI_ATOMIC_PART, &outputs[i], err));
        LEATI_TRY(write_one(&files[i], outputs[i], err));
    }
    return LEAT_OK;
}

static leat_status put_all(leati_output **outputs, int count, leat_error *err) {
    for (int i = 0; i < count - 1; i++)
        LEATI_TRY(leati_atomic_put(outputs[i], err));
    /* What the last one names is on the disk under its name before the last one is. */
    for (int i = 0; i < count - 1; i++)
        leati_atomic_sync_folder(outputs[i]);
    LEATI_TRY(leati_atomic_put(outputs[count - 1], err));
    leati_atomic_sync_folder(outputs[count - 1]);
    return LEAT_OK;
}

static bool is_new(const leat_file_content *files, int count, const char *path) {
    for (int i = 0; i < count; i++)
        if (strcmp(files[i].path, path) == 0)
            return true;
    return false;
}

static leat_status check(const leat_file_content *files, int count, leat_error *err) {
    if (files == NULL || count < 1)
        return leati_refuse(err, VALUE, "leat_files_replace: expected files, found %s (%d)",
                            files == NULL ? "NULL" : "a number", count);
    for (int i = 0; i < count; i++) {
        if (files[i].path == NULL || (files[i].pieces == NULL && files[i].num_pieces > 0))
            return leati_refuse(err, VALUE,
                                "leat_files_replace: file %d lacks its path or its pieces", i);
        if (is_new(files, i, files[i].path))
            return leati_refuse(err, VALUE,
                                "leat_files_replace: %s is there twice; give each file once",
                                files[i].path);
    }
    return LEAT_OK;
}

leat_status leat_files_replace(const leat_file_content *files, int count,
                               const char *const *outdated, int num_outdated, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    errno = 0;
    LEATI_TRY(check(files, count, err));
    leati_output **outputs = leati_alloc_zero((size_t)count, sizeof(leati_output *));
    if (outputs == NULL)
        return leati_no_memory(err);
    /* Nothing has its name before all is written: until then the call may be stopped. */
    leati_stop_scope scope = leati_stop_enter(NULL, NULL, NULL);
    leat_status status = write_all(files, count, outputs, err);
    leati_stop_leave(scope);
    if (status == LEAT_OK)
        status = put_all(outputs, count, err);
    for (int i = 0; i < count && outputs[i] != NULL; i++) {
        if (status != LEAT_OK)
            leati_atomic_take_back(outputs[i]);
        leati_atomic_discard(outputs[i]);
    }
    int number = errno;
    leati_free(outputs);
    /* The new files are there: that an old one stays is no failure of theirs. */
    for (int i = 0; status == LEAT_OK && i < num_outdated; i++) {
        leat_error ignored = {0};
        if (!is_new(files, count, outdated[i]))
            (void)(leati_fs_remove(outdated[i], &ignored) == LEAT_OK);
    }
    errno = number;
    return status;
}

leat_status leat_folder_replace(const char *written, const char *path, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    errno = 0;
    if (written == NULL || path == NULL)
        return leati_refuse(err, VALUE, "leat_folder_replace: expected two paths, found NULL");
    leati_stat found = {0};
    if (leati_fs_stat(path, &found, &(leat_error){0}) == LEAT_OK)
        return leati_fs_exchange(written, path, err);
    return leati_fs_move(written, path, err);
}
