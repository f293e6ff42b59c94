/* Locked files over flock: see lock.h.
 *
 * Happy path: open, lock without waiting, and look whether the name still is the file that was
 * locked: who held it before may have removed it in between. A lock belongs to the open file, so it
 * tells two writers of one process from each other, and needs no process numbers, which containers
 * share and systems use again. Failures: those of the calls, naming the path. No locks of threads.
 */
#include "file/lock.h"
#include "base/alloc.h"
#include "base/error.h"
#include "file/fs.h"
#include "file/fs_local.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* So often a file may be removed just before it is locked. */
enum { MAX_ATTEMPTS = 100 };

struct leati_lock {
    char *path;
    int fd;
};

/* Is the open file still the one of its name? */
static bool is_current(int fd, const char *path) {
    struct stat open_file, named;
    return fstat(fd, &open_file) == 0 && stat(path, &named) == 0 &&
           open_file.st_dev == named.st_dev && open_file.st_ino == named.st_ino;
}

/* The descriptor of the locked file, or -1 with *err. */
static int open_locked(const char *path, int flags, leat_error *err) {
    for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
        /* Neither a link nor a pipe that somebody put there is followed or waited for. */
        int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | flags, 0666);
        if (fd < 0 && errno == EINTR)
            continue;
        if (fd < 0) {
            leati_fs_local_fail(err, errno, path, "open it for writing");
            return -1;
        }
        if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
            int number = errno;
            (void)close(fd);
            if (number == EINTR)
                continue;
            if (number == EWOULDBLOCK)
                leati_fail_in_file(err, LEAT_ALREADY_EXISTS, path, -1, false,
                                   "somebody holds it; let them finish");
            else
                leati_fail_in_file(err, LEAT_UNIMPLEMENTED, path, -1, false,
                                   "it cannot be locked: %s", strerror(number));
            return -1;
        }
        if (is_current(fd, path))
            return fd;
        (void)close(fd);
    }
    leati_fail_in_file(err, LEAT_ABORTED, path, -1, false, "others remove it again and again");
    return -1;
}

static leat_status open_lock(const char *path, int flags, leati_lock **out, leat_error *err) {
    const leati_fs *fs = NULL;
    const char *rest = NULL;
    LEATI_TRY(leati_fs_of(path, &fs, &rest, err));
    if (fs != &leati_fs_local) {
        return leati_fail_in_file(err, LEAT_UNIMPLEMENTED, path, -1, false,
                                  "this file system knows no locks");
    }
    leati_lock *lock = leati_alloc_zero(1, sizeof(*lock));
    if (lock == NULL)
        return leati_no_memory(err);
    lock->path = leati_strdup(rest);
    lock->fd = lock->path == NULL ? -1 : open_locked(rest, flags, err);
    if (lock->path == NULL)
        leati_no_memory(err);
    if (lock->fd >= 0) {
        *out = lock;
        return LEAT_OK;
    }
    leati_free(lock->path);
    leati_free(lock);
    return err->code;
}

leat_status leati_lock_new(const char *path, leati_lock **out, leat_error *err) {
    return open_lock(path, O_CREAT, out, err);
}

leat_status leati_lock_take(const char *path, leati_lock **out, leat_error *err) {
    return open_lock(path, 0, out, err);
}

leat_status leati_lock_write(leati_lock *lock, const char *text, leat_error *err) {
    size_t size = strlen(text);
    ssize_t n = -1;
    /* Over what is there, which is cut afterwards: a file that said the same always says it. */
    do
        n = pwrite(lock->fd, text, size, 0);
    while (n < 0 && errno == EINTR);
    bool written = n == (ssize_t)size && ftruncate(lock->fd, (off_t)size) == 0;
    /* A short write of a few bytes means that the disk is full. */
    int number = n >= 0 && n != (ssize_t)size ? ENOSPC : errno;
    return written ? LEAT_OK : leati_fs_local_fail(err, number, lock->path, "write to it");
}

void leati_lock_free(leati_lock *lock) {
    if (lock == NULL)
        return;
    (void)close(lock->fd);
    leati_free(lock->path);
    leati_free(lock);
}

void leati_lock_remove(leati_lock *lock) {
    if (lock == NULL)
        return;
    /* While it is held, so that nobody takes a file that has lost its name. */
    (void)unlink(lock->path);
    leati_lock_free(lock);
}
