/* Leftovers of writers that died: see saved_sweep.h.
 *
 * TensorFlow goes by the metadata alone: a run that they do not name, or name without `finalized`,
 * is unfinished, and stays for ever. Here each writer holds a locked file WRITER in its run, which
 * says who may go on with the run, and which it removes when the metadata name the run. So a file
 * WRITER that can be locked is of a writer that has died or stopped, and its run goes if
 *
 *   no file of it is committed, for then a state that was saved says nothing of it;
 *   or nobody can go on with it: a save without a checkpoint; one whose checkpoint is gone; a
 *   snapshot where another run has been finished meanwhile.
 *
 * Runs without such a file (finished ones, those of TensorFlow and leat 0.1.0) are not touched: a
 * saved state may read them. A folder that is empty was made by a writer that came no further.
 * Failures are nobody's: sweeping is not what the caller came for. No locks but the file. */
#include "data/kept/saved_sweep.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/text.h"
#include "data/kept/saved_files.h"
#include "file/fs_local.h"
#include <stdio.h>
#include <string.h>

#define WRITER ".writer"

static const char of_nobody[] = "nobody\n", of_states[] = "states\n",
                  of_checkpoint[] = "checkpoint ";

/* The path as processes in other folders find it; NULL without memory. Owned. */
static char *from_anywhere(const char *path) {
    const leati_fs *fs = NULL;
    const char *rest = NULL;
    char *here = NULL;
    leat_error ignored = {0};
    if (leati_fs_of(path, &fs, &rest, &ignored) != LEAT_OK || fs != &leati_fs_local ||
        rest[0] == '/')
        return leati_strdup(path);
    char *found = fs->resolve(fs, ".", true, &here, &ignored) == LEAT_OK
                      ? leati_saved_path(here, rest, &ignored)
                      : NULL;
    leati_free(here);
    return found;
}

/* What the file WRITER says; NULL without memory. Owned. */
static char *content_of(const char *successor) {
    leati_text text = {0};
    char *path = NULL;
    if (successor == LEATI_RUN_OF_NOBODY) {
        leati_text_addf(&text, "%s", of_nobody);
    } else if (successor[0] == '\0') {
        leati_text_addf(&text, "%s", of_states);
    } else {
        path = from_anywhere(successor);
        if (path == NULL)
            return NULL;
        leati_text_addf(&text, "%s%s\n", of_checkpoint, path);
    }
    leati_free(path);
    return leati_text_take(&text);
}

leati_lock *leati_saved_hold_run(const char *run, const char *successor, leat_status *why) {
    leati_lock *lock = NULL;
    leat_error ignored = {0};
    char *path = leati_saved_path(run, WRITER, &ignored);
    char *content = content_of(successor);
    *why = path != NULL && content != NULL ? leati_lock_new(path, &lock, &ignored)
                                           : LEAT_RESOURCE_EXHAUSTED;
    if (*why == LEAT_OK)
        *why = leati_lock_write(lock, content, &ignored);
    if (*why != LEAT_OK && lock != NULL) {
        /* A file that does not say whose the run is would have it removed. */
        leati_lock_remove(lock);
        lock = NULL;
    }
    leati_free(content);
    leati_free(path);
    return lock;
}

/* ---- removing ---- */

static leat_status note(void *context, const char *name, leati_path_kind kind, leat_error *err) {
    (void)kind;
    return leati_fs_paths_add(context, name, strlen(name), err);
}

static bool list(const char *folder, leati_paths *out) {
    return leati_fs_list(folder, note, out, &(leat_error){0}) == LEAT_OK;
}

static void remove_path(const char *path) {
    leat_status status = leati_fs_remove(path, &(leat_error){0});
    (void)status;
}

/* Removes the files in a folder, but for WRITER, and, with `depth`, its folders. */
static void empty_folder(const char *folder, int depth) {
    leati_paths names = {0};
    if (list(folder, &names)) {
        for (size_t i = 0; i < names.count; i++) {
            if (strcmp(names.values[i], WRITER) == 0)
                continue;
            char *path = leati_saved_path(folder, names.values[i], &(leat_error){0});
            leati_stat stat = {.kind = LEATI_PATH_OTHER};
            bool is_folder = path != NULL &&
                             leati_fs_stat(path, &stat, &(leat_error){0}) == LEAT_OK &&
                             stat.kind == LEATI_PATH_FOLDER;
            if (is_folder && depth > 0)
                empty_folder(path, depth - 1);
            if (path != NULL)
                remove_path(path);
            leati_free(path);
        }
    }
    leati_fs_paths_fini(&names);
}

/* ---- deciding ---- */

/* Has the run a file under its own name? */
static bool has_files(const char *run) {
    leati_paths shards = {0};
    bool found = !list(run, &shards);
    for (size_t i = 0; i < shards.count && !found; i++) {
        leati_paths files = {0};
        if (!leati_saved_is_shard(shards.values[i]))
            continue;
        char *path = leati_saved_path(run, shards.values[i], &(leat_error){0});
        found = path == NULL || !list(path, &files);
        for (size_t k = 0; k < files.count && !found; k++)
            found = leati_saved_is_shard_file(files.values[k]);
        leati_fs_paths_fini(&files);
        leati_free(path);
    }
    leati_fs_paths_fini(&shards);
    return found;
}

/* Can nobody go on with the run, whose file WRITER is `path`? */
static bool is_forsaken(const char *path, bool finalized) {
    leat_buffer *buffer = NULL;
    leati_stat stat;
    bool forsaken = false;
    if (leati_file_read_all(path, &buffer, &(leat_error){0}) != LEAT_OK)
        return false;
    char *text = leati_strndup(leat_buffer_data(buffer), leat_buffer_size(buffer));
    leat_buffer_unref(buffer);
    size_t before = sizeof(of_checkpoint) - 1, size = text == NULL ? 0 : strlen(text);
    if (text != NULL && strcmp(text, of_nobody) == 0) {
        forsaken = true;
    } else if (text != NULL && strcmp(text, of_states) == 0) {
        forsaken = finalized;
    } else if (text != NULL && size > before && text[size - 1] == '\n' &&
               strncmp(text, of_checkpoint, before) == 0) {
        text[size - 1] = '\0';
        forsaken = leati_fs_stat(text + before, &stat, &(leat_error){0}) == LEAT_NOT_FOUND;
    }
    leati_free(text);
    return forsaken;
}

static void sweep_run(const char *run, const char *path, bool finalized) {
    leati_lock *lock = NULL;
    leat_status status = leati_lock_take(path, &lock, &(leat_error){0});
    if (status == LEAT_NOT_FOUND)
        remove_path(run); /* a folder that is not empty cannot be removed so */
    if (status != LEAT_OK)
        return;
    if (has_files(run) && !is_forsaken(path, finalized)) {
        leati_lock_free(lock);
        return;
    }
    empty_folder(run, 1);
    /* Last: a run without the file is nobody's to remove, whoever dies meanwhile. */
    leati_lock_remove(lock);
    remove_path(run);
}

void leati_saved_sweep(const char *folder) {
    leati_paths names = {0};
    leati_saved_info info;
    bool found = false;
    /* Where the metadata cannot be read, nobody knows which run is whose. */
    if (leati_saved_info_read(folder, &info, &found, &(leat_error){0}) != LEAT_OK ||
        !list(folder, &names)) {
        leati_fs_paths_fini(&names);
        return;
    }
    for (size_t i = 0; i < names.count; i++) {
        const char *name = names.values[i];
        char *run =
            leati_saved_is_run(name) ? leati_saved_path(folder, name, &(leat_error){0}) : NULL;
        char *path = run == NULL ? NULL : leati_saved_path(run, WRITER, &(leat_error){0});
        bool named = found && strcmp(name, info.run) == 0;
        if (path != NULL && named && info.finalized)
            remove_path(path); /* its writer came no further than this */
        else if (path != NULL)
            sweep_run(run, path, found && info.finalized);
        leati_free(path);
        leati_free(run);
    }
    leati_fs_paths_fini(&names);
}
