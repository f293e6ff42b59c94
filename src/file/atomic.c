/* The atomic writer.
 *
 * Happy path: a new file beside the target, buffered writes, fsync, rename over the target, fsync
 * of the folder, close. In an object store: what its sink was given appears at the put.
 * Temporary files have one of a few names for each target, so that what a killed process left is
 * found by its name: to list folders of many files at every save would cost more than the save.
 * Who opens looks at all of these names and takes the first that is free (fs.h, claim and sweep,
 * for what makes that safe); where so many others are writing, a name of its own.
 * Failures: the first one is kept and given again by every later call; discarding, and committing
 * after a failure, remove the temporary file. Texts begin with the target, since no user has ever
 * heard of the temporary file; a full disk is RESOURCE_EXHAUSTED. No locks but the file's: one
 * owner. */
#include "file/atomic.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "file/fs.h"
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BUFFER_SIZE (64u << 10)
/* So many names are looked at when a target is written: how many of its writers may be killed at a
 * time without a trace. */
#define NUM_SLOTS 8
/* A name of its own may be taken by a crashed process of the same number; one of so many is free.
 */
#define MAX_ATTEMPTS 100
/* Folders limit names to 255 bytes; a longer name than this is cut, and told by its hash. */
#define MAX_NAME 180

struct leati_output {
    const leati_fs *fs;
    char *target;          /* behind links, without scheme */
    char *shown;           /* in errors; NULL: the target */
    char *temporary;       /* NULL: in place, or in an object store */
    leati_file_sink *sink; /* open as long as the output, and with it the lock */
    size_t used;
    bool is_put;
    int number;         /* errno of the failure; 0: no call of the system */
    leat_error failure; /* the first one; code LEAT_OK: none */
    uint8_t buffer[BUFFER_SIZE];
};

/* Makes names differ within the process; the process number does it between processes. */
static atomic_uint temporary_number;

/* FOLDER/.NAME.leat-WORD.tmp; NULL without memory. */
static char *temporary_name(const char *target, const char *word) {
    const char *slash = strrchr(target, '/');
    const char *name = slash != NULL ? slash + 1 : target;
    size_t size = strlen(name);
    leati_text text = {0};
    leati_text_add(&text, target, (size_t)(name - target));
    leati_text_addf(&text, ".%.*s", MAX_NAME, name);
    if (size > MAX_NAME)
        leati_text_addf(&text, ".%016llx", (unsigned long long)leati_hash(name, size, 0));
    leati_text_addf(&text, ".leat-%s.tmp", word);
    return leati_text_take(&text);
}

static leat_status claim(leati_output *output, const char *word, leat_error *err) {
    output->temporary = temporary_name(output->target, word);
    if (output->temporary == NULL)
        return leati_no_memory(err);
    leat_error opening = {0};
    leat_status status = output->fs->claim(output->fs, output->temporary, &output->sink, &opening);
    if (status == LEAT_OK)
        return LEAT_OK;
    leati_free(output->temporary);
    output->temporary = NULL;
    return leati_fail_in_file(err, status, output->target, -1, false,
                              "cannot start to write it: %s", opening.text);
}

/* Looks at the names behind the one that was taken: nobody else does before there are as many
 * writers at a time. The number is written into the name itself, which takes no memory. */
static void sweep_behind(leati_output *output, int slot) {
    char *digit = output->temporary + strlen(output->temporary) - strlen("0.tmp");
    for (int other = slot + 1; other < NUM_SLOTS; other++) {
        *digit = (char)('0' + other);
        output->fs->sweep(output->fs, output->temporary);
    }
    if (slot < NUM_SLOTS)
        *digit = (char)('0' + slot);
}

static leat_status open_temporary(leati_output *output, leat_error *err) {
    for (int attempt = 0;; attempt++) {
        char word[48];
        if (attempt < NUM_SLOTS)
            (void)snprintf(word, sizeof word, "%d", attempt);
        else
            (void)snprintf(word, sizeof word, "%ld-%u", (long)getpid(),
                           atomic_fetch_add(&temporary_number, 1));
        leat_status status = claim(output, word, err);
        if (status == LEAT_OK) {
            sweep_behind(output, attempt);
            return LEAT_OK;
        }
        /* Only a name that is taken is worth another try. */
        if (status != LEAT_ALREADY_EXISTS || attempt == NUM_SLOTS + MAX_ATTEMPTS)
            return status;
    }
}

static bool is_store(const leati_output *output) {
    return output->fs->claim == NULL;
}

/* Decides between a temporary file and the path itself, and opens it. */
static leat_status open_sink(leati_output *output, leati_atomic_mode mode, leat_error *err) {
    leati_stat st;
    leat_error ignored = {0};
    /* What an object store is given appears at its put, without a file beside it. */
    if (is_store(output))
        return output->fs->create(output->fs, output->target, false, &output->sink, err);
    leat_status status = output->fs->stat(output->fs, output->target, &st, &ignored);
    if (status == LEAT_OK && st.kind == LEATI_PATH_FOLDER) {
        errno = EISDIR;
        return leati_fail_in_file(err, LEAT_FAILED_PRECONDITION, output->target, -1, false,
                                  "cannot write it: it is a folder; name a file in it");
    }
    /* A pipe or device must not be replaced by a plain file. */
    if (mode == LEATI_ATOMIC_IN_PLACE || (status == LEAT_OK && st.kind == LEATI_PATH_OTHER))
        return output->fs->create(output->fs, output->target, false, &output->sink, err);
    return open_temporary(output, err);
}

static void free_output(leati_output *output) {
    leati_free(output->shown);
    leati_free(output->temporary);
    leati_free(output->target);
    leati_free(output);
}

leat_status leati_atomic_open(const char *path, leati_atomic_mode mode, leati_output **out,
                              leat_error *err) {
    const leati_fs *fs = NULL;
    const char *rest = NULL;
    leat_status status = leati_fs_of(path, &fs, &rest, err);
    if (status != LEAT_OK)
        return status;
    if (fs->create == NULL)
        return leati_fs_refuse(err, fs, rest, "written", "write to a folder and copy from there");
    leati_output *output = leati_alloc_zero(1, sizeof *output);
    if (output == NULL)
        return leati_no_memory(err);
    output->fs = fs;
    /* Where links are followed, the file behind them is replaced, not the link. */
    if (fs->resolve != NULL)
        status = fs->resolve(fs, rest, mode != LEATI_ATOMIC_PART, &output->target, err);
    else if ((output->target = leati_strdup(rest)) == NULL ||
             (output->shown = leati_strdup(path)) == NULL)
        status = leati_no_memory(err);
    if (status == LEAT_OK)
        status = open_sink(output, mode, err);
    if (status != LEAT_OK)
        free_output(output);
    else
        *out = output;
    return status;
}

/* Keeps the first failure, under the target's name, and reports it. */
static leat_status keep_failure(leati_output *output, leat_status status, const leat_error *cause,
                                leat_error *err) {
    if (output->failure.code == LEAT_OK) {
        output->number = errno;
        leati_fail_in_file(&output->failure, status,
                           output->shown != NULL ? output->shown : output->target, -1, false,
                           "writing failed: %s", cause->text);
    }
    errno = output->number;
    return leati_error_pass(err, &output->failure);
}

static leat_status flush(leati_output *output, leat_error *err) {
    leat_error cause = {0};
    leat_status status = output->fs->write(output->sink, output->buffer, output->used, &cause);
    /* Also where it failed: these bytes are not written a second time. */
    output->used = 0;
    return status != LEAT_OK ? keep_failure(output, status, &cause, err) : LEAT_OK;
}

leat_status leati_atomic_write(leati_output *output, const void *data, size_t size,
                               leat_error *err) {
    if (output->failure.code != LEAT_OK)
        return leati_error_pass(err, &output->failure);
    leat_status status = LEAT_OK;
    if (size > BUFFER_SIZE - output->used && output->used > 0)
        status = flush(output, err);
    if (status != LEAT_OK)
        return status;
    /* Fits by now; a larger piece goes to the file without a copy. */
    if (size < BUFFER_SIZE) {
        if (size > 0)
            memcpy(output->buffer + output->used, data, size);
        output->used += size;
        return LEAT_OK;
    }
    leat_error cause = {0};
    status = output->fs->write(output->sink, data, size, &cause);
    return status != LEAT_OK ? keep_failure(output, status, &cause, err) : LEAT_OK;
}

leat_status leati_atomic_flush(leati_output *output, leat_error *err) {
    if (output->failure.code != LEAT_OK)
        return leati_error_pass(err, &output->failure);
    return output->used > 0 ? flush(output, err) : LEAT_OK;
}

leat_status leati_atomic_settle(leati_output *output, leat_error *err) {
    LEATI_TRY(leati_atomic_flush(output, err));
    leat_error cause = {0};
    leat_status status = output->fs->settle(output->sink, &cause);
    return status != LEAT_OK ? keep_failure(output, status, &cause, err) : LEAT_OK;
}

leat_status leati_atomic_put(leati_output *output, leat_error *err) {
    leat_error cause = {0};
    leat_status status = LEAT_OK;
    if (output->temporary != NULL || is_store(output))
        status = output->fs->put(output->sink, output->target, &cause);
    if (status != LEAT_OK)
        return keep_failure(output, status, &cause, err);
    output->is_put = true;
    return LEAT_OK;
}

void leati_atomic_sync_folder(const leati_output *output) {
    if (output->temporary != NULL && output->fs->sync_folder != NULL)
        output->fs->sync_folder(output->fs, output->target);
}

void leati_atomic_take_back(const leati_output *output) {
    leat_error ignored = {0};
    int number = errno;
    if (output->is_put && (output->temporary != NULL || is_store(output)))
        (void)(output->fs->remove(output->fs, output->target, &ignored) == LEAT_OK);
    errno = number;
}

leat_status leati_atomic_commit(leati_output *output, leat_error *err) {
    leat_status status = leati_atomic_settle(output, err);
    /* The rename is last, so the name never shows a file that is not whole. */
    if (status == LEAT_OK)
        status = leati_atomic_put(output, err);
    if (status == LEAT_OK)
        leati_atomic_sync_folder(output);
    leati_atomic_discard(output);
    return status;
}

void leati_atomic_discard(leati_output *output) {
    if (output == NULL)
        return;
    int number = errno;
    /* What fails here has no consequence for the caller, who has given the file up, or has it in
     * its place. The name goes while the lock is held: behind it, and where the file was lost, it
     * may be another's. */
    leat_error ignored = {0};
    bool is_lost = output->failure.code == LEAT_ABORTED;
    if (output->temporary != NULL && !output->is_put && !is_lost)
        (void)(output->fs->remove(output->fs, output->temporary, &ignored) == LEAT_OK);
    (void)(output->fs->close_sink(output->sink, &ignored) == LEAT_OK);
    free_output(output);
    errno = number;
}

static leat_status write_whole(const char *path, leati_atomic_mode mode, const void *data,
                               size_t size, leat_error *err) {
    leati_output *output = NULL;
    leat_status status = leati_atomic_open(path, mode, &output, err);
    if (status != LEAT_OK)
        return status;
    status = leati_atomic_write(output, data, size, err);
    if (status != LEAT_OK) {
        leati_atomic_discard(output);
        return status;
    }
    return leati_atomic_commit(output, err);
}

leat_status leati_atomic_write_file(const char *path, const void *data, size_t size,
                                    leat_error *err) {
    return write_whole(path, LEATI_ATOMIC_FILE, data, size, err);
}

leat_status leati_atomic_write_part(const char *path, const void *data, size_t size,
                                    leat_error *err) {
    return write_whole(path, LEATI_ATOMIC_PART, data, size, err);
}
