/* Files that appear whole or not at all. */
#ifndef LEATI_FILE_ATOMIC_H
#define LEATI_FILE_ATOMIC_H

#include <leat/base.h>

/* A file being written through a buffer. Atomic: the bytes go to a temporary file in the same
 * folder, ".NAME.leat-N.tmp", which replaces the path on commit. The writer holds that file by a
 * lock as long as it lives; one that a killed process left behind is removed when the same path is
 * written again, by whichever process. A part is never under the path's own name. One thread at a
 * time; several writers of one path do not wait for each other, and the last commit stays. */
typedef struct leati_output leati_output;

typedef enum leati_atomic_mode {
    /* A file that says all by itself. A path that is a link is followed. */
    LEATI_ATOMIC_FILE = 0,
    /* One of several files that belong together. A path that is a link is replaced itself: the
     * file behind it belongs to files beside that one, which know nothing of these. */
    LEATI_ATOMIC_PART,
    LEATI_ATOMIC_IN_PLACE, /* no temporary file; a link is followed */
} leati_atomic_mode;

/* In an object store (fs.h) every mode is the same: nothing is there before the commit, and then
 * all of it; a flush shows nothing. A web server's files are UNIMPLEMENTED.
 *
 * Starts a file. Folders on the way may be links in every mode. A path that exists and is no plain
 * file (a pipe, a device) is written in place in every mode; a folder is FAILED_PRECONDITION.
 * Owned. */
LEAT_WARN_UNUSED leat_status leati_atomic_open(const char *path, leati_atomic_mode mode,
                                               leati_output **out, leat_error *err);

/* Appends bytes. After a failure every further write and commit fails in the same way. */
LEAT_WARN_UNUSED leat_status leati_atomic_write(leati_output *output, const void *data, size_t size,
                                                leat_error *err);

/* Hands what the buffer holds to the file system, so that readers of a file that is written in
 * place see it. Failures as leati_atomic_write's. */
LEAT_WARN_UNUSED leat_status leati_atomic_flush(leati_output *output, leat_error *err);

/* The first half of a commit: writes the rest and brings it to the disk. Nothing can be written
 * behind it. What is left can fail only where names cannot be changed. */
LEAT_WARN_UNUSED leat_status leati_atomic_settle(leati_output *output, leat_error *err);

/* The second half: gives a settled file its name. The folder is not brought to the disk yet
 * (leati_atomic_sync_folder), and the output is still the caller's, to be discarded. */
LEAT_WARN_UNUSED leat_status leati_atomic_put(leati_output *output, leat_error *err);

/* Brings the names in the target's folder to the disk, where its file system can. */
void leati_atomic_sync_folder(const leati_output *output);

/* Removes what a put has put in place; for what belongs to it could not be. */
void leati_atomic_take_back(const leati_output *output);

/* Both halves, and the folder: writes the rest, brings it to the disk and puts the file in its
 * place. `output` is given; on failure an atomic output's temporary file is removed and the path is
 * as it was. errno is then the number of the system's call that failed, if it was one. */
LEAT_WARN_UNUSED leat_status leati_atomic_commit(leati_output *output, leat_error *err);

/* Gives up: the temporary file is removed. `output` is given; NULL is allowed. errno is kept. */
void leati_atomic_discard(leati_output *output);

/* Writes `size` bytes as the whole atomic file `path`: open, write, commit. */
LEAT_WARN_UNUSED leat_status leati_atomic_write_file(const char *path, const void *data,
                                                     size_t size, leat_error *err);

/* The same of a part. */
LEAT_WARN_UNUSED leat_status leati_atomic_write_part(const char *path, const void *data,
                                                     size_t size, leat_error *err);

#endif
