/* The atomic writer.
 *
 * Happy path: a new file beside the target, buffered writes, fsync, close, rename over the target,
 * fsync of the folder (inside the file system's rename).
 * Failures: the first one is kept and given again by every later call; discarding, and committing
 * after a failure, remove the temporary file. Texts begin with the target, since no user has ever
 * heard of the temporary file; a full disk is RESOURCE_EXHAUSTED. No locks: one owner. */
#include "file/atomic.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/text.h"
#include "file/fs.h"
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#define BUFFER_SIZE (64u << 10)
/* A name may be taken by a crashed process of the same number; one of so many is free. */
#define MAX_ATTEMPTS 100

struct leati_output {
    const leati_fs *fs;
    char *target;          /* behind links, without scheme */
    char *temporary;       /* NULL: in place */
    leati_file_sink *sink; /* NULL once closed */
    size_t used;
    leat_error failure; /* the first one; code LEAT_OK: none */
    uint8_t buffer[BUFFER_SIZE];
};

/* Makes names differ within the process; the process number does it between processes. */
static atomic_uint temporary_number;

/* PATH/.NAME.PID-NUMBER.tmp; a long name is cut, as folders limit names to 255 bytes. */
static char *temporary_name(const char *target) {
    const char *slash = strrchr(target, '/');
    const char *name = slash != NULL ? slash + 1 : target;
    leati_text text = {0};
    leati_text_add(&text, target, (size_t)(name - target));
    leati_text_addf(&text, ".%.200s.%ld-%u.tmp", name, (long)getpid(),
                    atomic_fetch_add(&temporary_number, 1));
    return leati_text_take(&text);
}

static leat_status open_temporary(leati_output *output, leat_error *err) {
    for (int attempt = 0;; attempt++) {
        output->temporary = temporary_name(output->target);
        if (output->temporary == NULL)
            return leati_no_memory(err);
        leat_error opening = {0};
        leat_status status =
            output->fs->create(output->fs, output->temporary, true, &output->sink, &opening);
        if (status == LEAT_OK)
            return LEAT_OK;
        leati_free(output->temporary);
        output->temporary = NULL;
        /* Only a name that is taken is worth another try. */
        if (status != LEAT_ALREADY_EXISTS || attempt == MAX_ATTEMPTS)
            return leati_fail_in_file(err, status, output->target, -1, false,
                                      "cannot start to write it: %s", opening.text);
    }
}

/* Decides between a temporary file and the path itself, and opens it. */
static leat_status open_sink(leati_output *output, bool in_place, leat_error *err) {
    leati_stat st;
    leat_error ignored = {0};
    leat_status status = output->fs->stat(output->fs, output->target, &st, &ignored);
    if (status == LEAT_OK && st.kind == LEATI_PATH_FOLDER)
        return leati_fail_in_file(err, LEAT_FAILED_PRECONDITION, output->target, -1, false,
                                  "cannot write it: it is a folder; name a file in it");
    /* A pipe or device must not be replaced by a plain file. */
    if (in_place || (status == LEAT_OK && st.kind == LEATI_PATH_OTHER))
        return output->fs->create(output->fs, output->target, false, &output->sink, err);
    return open_temporary(output, err);
}

static void free_output(leati_output *output) {
    leati_free(output->temporary);
    leati_free(output->target);
    leati_free(output);
}

leat_status leati_atomic_open(const char *path, bool in_place, leati_output **out,
                              leat_error *err) {
    const leati_fs *fs = NULL;
    const char *rest = NULL;
    leat_status status = leati_fs_of(path, &fs, &rest, err);
    if (status != LEAT_OK)
        return status;
    leati_output *output = leati_alloc_zero(1, sizeof *output);
    if (output == NULL)
        return leati_no_memory(err);
    output->fs = fs;
    /* Links are followed first: the file behind them is replaced, not the link. */
    status = fs->resolve(fs, rest, &output->target, err);
    if (status == LEAT_OK)
        status = open_sink(output, in_place, err);
    if (status != LEAT_OK)
        free_output(output);
    else
        *out = output;
    return status;
}

/* Keeps the first failure, under the target's name, and reports it. */
static leat_status keep_failure(leati_output *output, leat_status status, const leat_error *cause,
                                leat_error *err) {
    if (output->failure.code == LEAT_OK)
        leati_fail_in_file(&output->failure, status, output->target, -1, false,
                           "writing failed: %s", cause->text);
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

leat_status leati_atomic_commit(leati_output *output, leat_error *err) {
    const leati_fs *fs = output->fs;
    leat_error cause = {0};
    /* The failure of an earlier write: nothing is put in place. */
    leat_status status =
        output->failure.code != LEAT_OK ? keep_failure(output, 0, &cause, err) : LEAT_OK;
    if (status == LEAT_OK && output->used > 0)
        status = flush(output, err);
    if (status == LEAT_OK && (status = fs->sync(output->sink, &cause)) != LEAT_OK)
        status = keep_failure(output, status, &cause, err);
    /* Closed in any case, and its failure counts: some file systems report writes only then. */
    leat_status closing = fs->close_sink(output->sink, &cause);
    output->sink = NULL;
    if (status == LEAT_OK && closing != LEAT_OK)
        status = keep_failure(output, closing, &cause, err);
    /* The rename is last, so the name never shows a file that is not whole. */
    if (status == LEAT_OK && output->temporary != NULL &&
        (status = fs->rename(fs, output->temporary, output->target, &cause)) != LEAT_OK)
        status = keep_failure(output, status, &cause, err);
    if (status != LEAT_OK)
        leati_atomic_discard(output);
    else
        free_output(output);
    return status;
}

void leati_atomic_discard(leati_output *output) {
    if (output == NULL)
        return;
    /* What fails here has no consequence for the caller, who has given the file up. */
    leat_error ignored = {0};
    if (output->sink != NULL)
        (void)(output->fs->close_sink(output->sink, &ignored) == LEAT_OK);
    if (output->temporary != NULL)
        (void)(output->fs->remove(output->fs, output->temporary, &ignored) == LEAT_OK);
    free_output(output);
}

leat_status leati_atomic_write_file(const char *path, const void *data, size_t size,
                                    leat_error *err) {
    leati_output *output = NULL;
    leat_status status = leati_atomic_open(path, false, &output, err);
    if (status != LEAT_OK)
        return status;
    status = leati_atomic_write(output, data, size, err);
    if (status != LEAT_OK) {
        leati_atomic_discard(output);
        return status;
    }
    return leati_atomic_commit(output, err);
}
