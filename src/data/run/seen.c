/* Files of programs that have pages: see seen.h.
 *
 * Happy path: the folder is made or found to be this user's alone, the leftovers go, and the file
 * is locked and written. Failure modes: a folder that is a link, another user's or open to others
 * is refused. A reader may hold a file for a moment while it looks whether somebody does: the
 * writer tries again. No locks of threads: the caller has one. */
#include "data/run/seen.h"
#include "base/error.h"
#include "file/fs.h"
#include "file/lock.h"
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PATH_BYTES = 4096, MOST_TRIES = 100 };

/* The folder, which is made where it is not there. */
static leat_status find_folder(char folder[PATH_BYTES], leat_error *err) {
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    struct stat found;
    int size = runtime != NULL && runtime[0] == '/'
                   ? snprintf(folder, PATH_BYTES, "%s/leat", runtime)
                   : snprintf(folder, PATH_BYTES, "/tmp/leat-%ld", (long)geteuid());
    if (size >= PATH_BYTES - 32)
        return leati_fail(err, LEAT_INVALID_ARGUMENT,
                          "XDG_RUNTIME_DIR has %d bytes, expected fewer than %d", size,
                          PATH_BYTES - 32);
    if ((mkdir(folder, 0700) != 0 && errno != EEXIST) || lstat(folder, &found) != 0)
        return leati_fail_in_file(err, LEAT_FAILED_PRECONDITION, folder, -1, false,
                                  "this folder cannot be made: %s; set XDG_RUNTIME_DIR to one "
                                  "of your own",
                                  strerror(errno));
    if (!S_ISDIR(found.st_mode) || found.st_uid != geteuid() || (found.st_mode & 077) != 0)
        return leati_fail_in_file(err, LEAT_FAILED_PRECONDITION, folder, -1, false,
                                  "expected a folder of this user alone (mode 0700, no link); "
                                  "remove it or set XDG_RUNTIME_DIR to one of your own");
    return LEAT_OK;
}

static bool is_gone(int pid) {
    return kill(pid, 0) != 0 && errno == ESRCH;
}

/* Removes the file where nobody holds it. */
static void sweep_one(const char *path) {
    leati_lock *lock = NULL;
    if (leati_lock_take(path, &lock, &(leat_error){0}) == LEAT_OK)
        leati_lock_remove(lock);
}

/* Only of numbers that no process has: one that begins may not have locked its file yet. */
static void sweep(const char *folder) {
    DIR *list = opendir(folder);
    char path[PATH_BYTES + 300];
    for (struct dirent *at; list != NULL && (at = readdir(list)) != NULL;) {
        char *end = NULL;
        long pid = strtol(at->d_name, &end, 10);
        if (*end != '\0' || pid <= 0 || pid > INT_MAX || !is_gone((int)pid))
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, at->d_name);
        sweep_one(path);
    }
    if (list != NULL)
        (void)closedir(list);
}

static leat_status open_own(leati_lock **held, leat_error *err) {
    char folder[PATH_BYTES], path[PATH_BYTES + 16];
    LEATI_TRY(find_folder(folder, err));
    sweep(folder);
    snprintf(path, sizeof path, "%s/%d", folder, (int)getpid());
    leat_status status = LEAT_ALREADY_EXISTS;
    for (int i = 0; i < MOST_TRIES && status == LEAT_ALREADY_EXISTS; i++) {
        if (i > 0)
            (void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        status = leati_lock_new(path, held, err);
    }
    if (status == LEAT_OK)
        (void)chmod(path, 0600); /* the folder is closed to others already */
    return status;
}

leat_status leati_seen_write(leati_lock **held, const char *urls, leat_error *err) {
    if (urls[0] == '\0') {
        leati_lock_remove(*held);
        *held = NULL;
        return LEAT_OK;
    }
    if (*held == NULL)
        LEATI_TRY(open_own(held, err));
    return leati_lock_write(*held, urls, err);
}

static leat_status shows_nothing(int pid, leat_error *err) {
    return leati_fail(err, LEAT_FAILED_PRECONDITION,
                      "process %d shows no pipeline to this user; start it with LEAT_WATCH=1 in "
                      "its environment",
                      pid);
}

leat_status leati_seen_read(int pid, leati_text *urls, leat_error *err) {
    char folder[PATH_BYTES], path[PATH_BYTES + 16];
    leati_lock *lock = NULL;
    leat_buffer *text = NULL;
    LEATI_TRY(find_folder(folder, err));
    sweep(folder);
    if (is_gone(pid))
        return leati_fail(err, LEAT_NOT_FOUND,
                          "no process has the number %d; start the program with LEAT_WATCH=1 in "
                          "its environment, and give the number of that process",
                          pid);
    if (kill(pid, 0) != 0)
        return leati_fail(err, LEAT_PERMISSION_DENIED,
                          "process %d is another user's; whose it is may watch it, where it was "
                          "started with LEAT_WATCH=1",
                          pid);
    snprintf(path, sizeof path, "%s/%d", folder, pid);
    leat_status status = leati_lock_take(path, &lock, err);
    if (status == LEAT_OK)
        leati_lock_remove(lock);
    if (status == LEAT_OK || status == LEAT_NOT_FOUND)
        return shows_nothing(pid, err);
    if (status != LEAT_ALREADY_EXISTS)
        return status;
    *err = (leat_error){0};
    LEATI_TRY(leati_file_read_all(path, &text, err));
    size_t size = leat_buffer_size(text);
    leati_text_add(urls, leat_buffer_data(text), size);
    leat_buffer_unref(text);
    return size > 0 ? LEAT_OK : shows_nothing(pid, err);
}
