/* The local file system over POSIX calls.
 *
 * Happy path: open, then reads by offset. Files are read into buffers, never mapped: a mapped file
 * that somebody cuts kills the process with a signal, and a copy out of the page cache costs less
 * than the checksum that follows it.
 * Failures: errno becomes the code that TensorFlow gives it; the text has path, call and reason,
 * and errno stays what it was. Interrupted calls are repeated. Locks: a temporary file is held by
 * flock, which ends with its writer, however that ends, and knows neither numbers of processes nor
 * the walls of containers. Nobody waits for one. */
#include "file/fs_local.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/minmax.h"
#include "base/stop.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of a read or a write, between two looks at whether to stop: some milliseconds out of the page
 * cache. */
#define MOVED_AT_ONCE (16u << 20)

typedef struct local_file {
    leati_file base;
    int fd;
    bool waits;       /* a pipe or the like, whose bytes somebody has yet to write */
    int64_t position; /* only without seeking */
} local_file;

typedef struct local_sink {
    leati_file_sink base;
    int fd;
    bool waits; /* a pipe, which may be full */
} local_sink;

static leati_path_kind kind_of_mode(mode_t mode) {
    return S_ISREG(mode) ? LEATI_PATH_FILE : S_ISDIR(mode) ? LEATI_PATH_FOLDER : LEATI_PATH_OTHER;
}

static int open_again(const char *path, int flags) {
    int fd;
    do
        /* Children of the process shall not hold the file open. */
        fd = open(path, flags | O_CLOEXEC, 0666);
    while (fd < 0 && errno == EINTR);
    return fd;
}

/* Opens into the caller's struct; `path` is borrowed. */
static leat_status open_into(const leati_fs *fs, const char *path, local_file *file,
                             leat_error *err) {
    /* A pipe is opened at once, though nobody writes yet: who waits for that can be stopped. */
    int fd = open_again(path, O_RDONLY | O_NONBLOCK);
    if (fd < 0)
        return leati_fs_local_fail(err, errno, path, "open it for reading");
    struct stat st;
    /* open takes folders for reading, too; only a read would fail. */
    if (fstat(fd, &st) != 0 || S_ISDIR(st.st_mode)) {
        leat_status status =
            leati_fs_local_fail(err, S_ISDIR(st.st_mode) ? EISDIR : errno, path, "read it");
        close(fd);
        return status;
    }
    bool plain = S_ISREG(st.st_mode);
    /* Only of plain files is the size a promise. */
    *file = (local_file){.base = {fs, (char *)(uintptr_t)path, plain ? (int64_t)st.st_size : -1,
                                  plain || lseek(fd, 0, SEEK_CUR) >= 0},
                         .fd = fd,
                         .waits = S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode)};
    return LEAT_OK;
}

static leat_status local_open(const leati_fs *fs, const char *path, leati_file **out,
                              leat_error *err) {
    local_file opened;
    LEATI_TRY(open_into(fs, path, &opened, err));
    local_file *file = leati_alloc(1, sizeof *file);
    char *name = leati_strdup(path);
    if (file == NULL || name == NULL) {
        leati_free(file);
        leati_free(name);
        close(opened.fd);
        return leati_no_memory(err);
    }
    /* By value: the descriptor has one owner, which is the new struct. */
    *file = opened;
    file->base.path = name;
    *out = &file->base;
    return LEAT_OK;
}

static leat_status local_use(const leati_fs *fs, const char *path, leati_file_user use,
                             void *context, leat_error *err) {
    local_file file;
    leat_status status = open_into(fs, path, &file, err);
    if (status != LEAT_OK)
        return status;
    status = use(context, &file.base, err);
    close(file.fd);
    return status;
}

/* Waits until there is something to read or, of a pipe, until whoever wrote to it has gone. */
static leat_status wait_for_bytes(const local_file *file, leat_error *err) {
    struct pollfd polled = {.fd = file->fd, .events = POLLIN};
    leat_status status = LEAT_OK;
    while (status == LEAT_OK && poll(&polled, 1, LEATI_STOP_SLICE_NS / 1000000) <= 0)
        status = leati_stop_check(err);
    return status;
}

static leat_status local_read_at(leati_file *base, int64_t offset, void *data, size_t size,
                                 size_t *got, leat_error *err) {
    local_file *file = (local_file *)base;
    /* A pipe has no other place than the one where it stands. */
    if (!base->seekable && offset != file->position)
        return leati_fail_in_file(err, LEAT_FAILED_PRECONDITION, base->path, -1, false,
                                  "it can only be read from start to end (a pipe?), asked for byte "
                                  "%lld at %lld; copy it to a file first",
                                  (long long)offset, (long long)file->position);
    size_t done = 0;
    while (done < size) {
        size_t part = LEATI_MIN(size - done, MOVED_AT_ONCE);
        if (file->waits)
            LEATI_TRY(wait_for_bytes(file, err));
        else if (done > 0)
            LEATI_TRY(leati_stop_check(err));
        ssize_t n = base->seekable ? pread(file->fd, (char *)data + done, part,
                                           (off_t)(offset + (int64_t)done))
                                   : read(file->fd, (char *)data + done, part);
        if (n == 0)
            break;
        /* Nothing was read; the call is repeated. */
        if (n < 0 && (errno == EINTR || (file->waits && errno == EAGAIN)))
            continue;
        if (n < 0)
            return leati_fs_local_fail(err, errno, base->path, "read it");
        done += (size_t)n;
    }
    /* Behind the loop: a failed read of a pipe leaves the position where it was. */
    if (!base->seekable)
        file->position += (int64_t)done;
    *got = done;
    return LEAT_OK;
}

static void local_close(leati_file *base) {
    local_file *file = (local_file *)base;
    close(file->fd);
    leati_free(base->path);
    leati_free(file);
}

static leat_status local_stat(const leati_fs *fs, const char *path, leati_stat *out,
                              leat_error *err) {
    (void)fs;
    struct stat st;
    if (stat(path, &st) != 0)
        return leati_fs_local_fail(err, errno, path, "find it");
    out->kind = kind_of_mode(st.st_mode);
    out->size = out->kind == LEATI_PATH_FILE ? (int64_t)st.st_size : -1;
    out->changed = (int64_t)st.st_mtime;
    return LEAT_OK;
}

static leati_path_kind kind_of_entry(const struct dirent *entry) {
    switch (entry->d_type) {
    case DT_REG: return LEATI_PATH_FILE;
    case DT_DIR: return LEATI_PATH_FOLDER;
    /* Some file systems do not say, and a link may lead to anything: a stat has to tell. */
    case DT_UNKNOWN:
    case DT_LNK: return LEATI_PATH_UNKNOWN;
    default: return LEATI_PATH_OTHER;
    }
}

static leat_status local_list(const leati_fs *fs, const char *path, leati_list_function function,
                              void *context, leat_error *err) {
    (void)fs;
    DIR *folder = opendir(path);
    if (folder == NULL)
        return leati_fs_local_fail(err, errno, path, "list the folder");
    leat_status status = LEAT_OK;
    while (status == LEAT_OK) {
        /* readdir returns NULL at the end too; only errno tells a failure from it. */
        errno = 0;
        struct dirent *entry = readdir(folder);
        if (entry == NULL) {
            if (errno)
                status = leati_fs_local_fail(err, errno, path, "list the folder");
            break;
        }
        status = leati_stop_check(err);
        if (status == LEAT_OK && strcmp(entry->d_name, ".") != 0 &&
            strcmp(entry->d_name, "..") != 0)
            status = function(context, entry->d_name, kind_of_entry(entry), err);
    }
    closedir(folder);
    return status;
}

/* Joins the folder of `path`, as it is from the root, and its name into `out`. Whoever changes the
 * working folder before the file is there finds it all the same. False, with errno: there is no
 * such folder. */
static bool resolve_folder(const char *path, char out[PATH_MAX]) {
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    const char *name = slash == NULL ? path : slash + 1;
    size_t n = (size_t)(name - path);
    errno = ENAMETOOLONG;
    if (n + 2 > sizeof folder)
        return false;
    memcpy(folder, path, n);
    strcpy(folder + n, n == 0 ? "." : "");
    if (realpath(folder, out) == NULL)
        return false;
    size_t length = strlen(out);
    errno = ENAMETOOLONG;
    if (length + strlen(name) + 2 > PATH_MAX)
        return false;
    /* The root has its slash. */
    if (out[length - 1] != '/')
        out[length++] = '/';
    strcpy(out + length, name);
    return true;
}

static leat_status local_resolve(const leati_fs *fs, const char *path, bool last, char **out,
                                 leat_error *err) {
    (void)fs;
    char resolved[PATH_MAX];
    const char *name = last && realpath(path, resolved) != NULL ? resolved : path;
    /* A file that is not there yet is what a writer is going to make; without its folder it fails
     * at that. */
    if (last && name == path && errno != ENOENT)
        return leati_fs_local_fail(err, errno, path, "find it");
    if (name == path && resolve_folder(path, resolved))
        name = resolved;
    *out = leati_strdup(name);
    return *out != NULL ? LEAT_OK : leati_no_memory(err);
}

/* A sink without a descriptor; NULL without memory. */
static local_sink *new_sink(const leati_fs *fs, const char *path) {
    local_sink *sink = leati_alloc_zero(1, sizeof *sink);
    char *name = leati_strdup(path);
    if (sink == NULL || name == NULL) {
        leati_free(name);
        leati_free(sink);
        return NULL;
    }
    *sink = (local_sink){.base = {fs, name}, .fd = -1};
    return sink;
}

static void free_sink(local_sink *sink) {
    leati_free(sink->base.path);
    leati_free(sink);
}

/* Waits until a pipe has a reader, or room. */
static leat_status wait_for_reader(int fd, leat_error *err) {
    struct pollfd polled = {.fd = fd, .events = POLLOUT};
    (void)poll(&polled, fd >= 0, LEATI_STOP_SLICE_NS / 1000000);
    return leati_stop_check(err);
}

/* Who waits for the reader of a pipe in the system's calls could not be stopped. */
static leat_status open_for_writing(const char *path, bool exclusive, local_sink *sink,
                                    leat_error *err) {
    int flags = O_WRONLY | O_CREAT | O_NONBLOCK | (exclusive ? O_EXCL : O_TRUNC);
    struct stat st;
    while ((sink->fd = open_again(path, flags)) < 0) {
        int number = errno;
        if (number != ENXIO || stat(path, &st) != 0 || !S_ISFIFO(st.st_mode))
            return leati_fs_local_fail(err, number, path, "open it for writing");
        LEATI_TRY(wait_for_reader(-1, err));
    }
    sink->waits = fstat(sink->fd, &st) == 0 && S_ISFIFO(st.st_mode);
    if (!sink->waits)
        (void)fcntl(sink->fd, F_SETFL, 0);
    return LEAT_OK;
}

static leat_status local_create(const leati_fs *fs, const char *path, bool exclusive,
                                leati_file_sink **out, leat_error *err) {
    local_sink *sink = new_sink(fs, path);
    if (sink == NULL)
        return leati_no_memory(err);
    leat_status status = open_for_writing(path, exclusive, sink, err);
    if (status != LEAT_OK) {
        free_sink(sink);
        return status;
    }
    *out = &sink->base;
    return LEAT_OK;
}

/* ---- temporary files ---- */

static int lock_again(int fd) {
    int code;
    do
        code = flock(fd, LOCK_EX | LOCK_NB);
    while (code != 0 && errno == EINTR);
    return code;
}

/* Is `path` the name of the open file? Between opening and locking it, another process may have
 * removed the file or given it another name, and the lock is then on what nobody looks for. Where
 * the system cannot tell, *number says why. */
static bool is_named(const char *path, int fd, int *number) {
    struct stat open_one, named;
    bool known = fstat(fd, &open_one) == 0 && lstat(path, &named) == 0;
    *number = known || errno == ENOENT ? 0 : errno;
    return known && S_ISREG(named.st_mode) && open_one.st_dev == named.st_dev &&
           open_one.st_ino == named.st_ino;
}

static void local_sweep(const leati_fs *fs, const char *path) {
    (void)fs;
    /* Neither a link nor a pipe that somebody put there is followed or waited for. */
    int fd = open_again(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return;
    /* Who has the lock and sees its name there is alone: a writer makes the file only where there
     * is none, and others who sweep want the lock first. */
    int number = 0;
    if (lock_again(fd) == 0 && is_named(path, fd, &number))
        (void)unlink(path);
    close(fd);
}

static leat_status local_claim(const leati_fs *fs, const char *path, leati_file_sink **out,
                               leat_error *err) {
    leati_file_sink *made = NULL;
    local_sweep(fs, path);
    LEATI_TRY(local_create(fs, path, true, &made, err));
    int fd = ((local_sink *)made)->fd;
    /* Where files cannot be locked nobody else can lock this one either, and it is never swept. */
    bool swept = lock_again(fd) != 0 && errno == EWOULDBLOCK;
    int number = 0;
    if (swept || !is_named(path, fd, &number)) {
        /* Whoever swept between the two calls removes it, or has; but where the system could not
         * tell, nobody else does. */
        close(fd);
        free_sink((local_sink *)made);
        local_sweep(fs, path);
        return leati_fs_local_fail(err, EEXIST, path, "hold it");
    }
    *out = made;
    return LEAT_OK;
}

static leat_status local_write(leati_file_sink *base, const void *data, size_t size,
                               leat_error *err) {
    local_sink *sink = (local_sink *)base;
    for (size_t done = 0; done < size;) {
        size_t part = LEATI_MIN(size - done, MOVED_AT_ONCE);
        if (done > 0)
            LEATI_TRY(leati_stop_check(err));
        ssize_t n = write(sink->fd, (const char *)data + done, part);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN && sink->waits) {
            LEATI_TRY(wait_for_reader(sink->fd, err));
            continue;
        }
        if (n < 0)
            return leati_fs_local_fail(err, errno, base->path, "write to it");
        /* No system does so; one that did would be asked for ever. */
        if (n == 0)
            return leati_fs_local_fail(err, ENOSPC, base->path, "write to it");
        done += (size_t)n;
    }
    return LEAT_OK;
}

/* Brings a large file to the disk piece by piece, because nobody who waits in fsync can be stopped.
 * Pieces are begun ahead of those that are waited for; what fails fails in fsync, too, or here. */
static leat_status settle_pieces(leati_file_sink *base, leat_error *err) {
    enum { AHEAD = 4 };
    int fd = ((local_sink *)base)->fd;
    struct stat st;
    if (!leati_stop_may_come() || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return LEAT_OK;
    const off_t piece = MOVED_AT_ONCE;
    for (off_t at = 0; at < st.st_size + AHEAD * piece; at += piece) {
        if (at < st.st_size)
            (void)sync_file_range(fd, at, piece, SYNC_FILE_RANGE_WRITE);
        /* A file system that cannot do this leaves all to fsync. */
        const unsigned whole =
            SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
        if (at >= AHEAD * piece && sync_file_range(fd, at - AHEAD * piece, piece, whole) != 0 &&
            (errno == EIO || errno == ENOSPC || errno == EDQUOT))
            return leati_fs_local_fail(err, errno, base->path, "write it to the disk");
        LEATI_TRY(leati_stop_check(err));
    }
    return LEAT_OK;
}

static leat_status local_settle(leati_file_sink *base, leat_error *err) {
    int fd = ((local_sink *)base)->fd;
    int code;
    LEATI_TRY(settle_pieces(base, err));
    do
        code = fsync(fd);
    while (code != 0 && errno == EINTR);
    /* Pipes and devices know no fsync and say EINVAL or EROFS. */
    if (code != 0 && errno != EINVAL && errno != EROFS && errno != ENOTSUP)
        return leati_fs_local_fail(err, errno, base->path, "write it to the disk");
    /* Some file systems say at a close alone that they could not write. The file's own close would
     * come too late, as it ends the lock; without a free descriptor the fsync has to be enough. */
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (copy >= 0 && close(copy) != 0 && errno != EINTR)
        return leati_fs_local_fail(err, errno, base->path, "write it to the disk");
    return LEAT_OK;
}

static leat_status local_close_sink(leati_file_sink *base, leat_error *err) {
    leat_status status = LEAT_OK;
    /* Linux closes the descriptor even where close says EINTR. */
    if (close(((local_sink *)base)->fd) != 0 && errno != EINTR)
        status = leati_fs_local_fail(err, errno, base->path, "write it to the disk");
    free_sink((local_sink *)base);
    return status;
}

static leat_status local_put(leati_file_sink *base, const char *to, leat_error *err) {
    int number = 0;
    bool is_there = is_named(base->path, ((local_sink *)base)->fd, &number);
    if (number != 0)
        return leati_fs_local_fail(err, number, to, "put the finished file there");
    /* Locks that do not reach other machines let one of them sweep this file, and use its name. */
    if (!is_there)
        return leati_fail_in_file(err, LEAT_ABORTED, to, -1, false,
                                  "cannot put the finished file there: somebody has removed it "
                                  "while it was written; let one machine at a time write it");
    if (rename(base->path, to) != 0)
        return leati_fs_local_fail(err, errno, to, "put the finished file there");
    return LEAT_OK;
}

/* A rename is on the disk once its folder is. A folder that cannot be opened or synced (some
 * network file systems) is no failure: the file itself is there. */
static void local_sync_folder(const leati_fs *fs, const char *path) {
    (void)fs;
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    /* The root keeps its slash. */
    size_t n = slash != NULL ? (size_t)(slash - path) + (slash == path) : 0;
    if (n >= sizeof folder)
        return;
    memcpy(folder, path, n);
    strcpy(folder + n, n ? "" : ".");
    int fd = open_again(folder, O_RDONLY | O_DIRECTORY);
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
}

static leat_status local_append(const leati_fs *fs, const char *path, const void *data, size_t size,
                                leat_error *err) {
    (void)fs;
    /* One write of a file opened so lands whole behind what others append. */
    int fd = open_again(path, O_WRONLY | O_APPEND | O_CREAT);
    if (fd < 0)
        return leati_fs_local_fail(err, errno, path, "open it for appending");
    ssize_t n;
    do
        n = write(fd, data, size);
    while (n < 0 && errno == EINTR);
    /* A short write of a plain file means that the disk is full. */
    int number = n < 0 ? errno : ENOSPC;
    leat_status status = LEAT_OK;
    if (n != (ssize_t)size)
        status = leati_fs_local_fail(err, number, path, "append to it");
    if (close(fd) != 0 && status == LEAT_OK && errno != EINTR)
        status = leati_fs_local_fail(err, errno, path, "append to it");
    return status;
}

static leat_status local_remove(const leati_fs *fs, const char *path, leat_error *err) {
    (void)fs;
    if (remove(path) != 0)
        return leati_fs_local_fail(err, errno, path, "remove it");
    return LEAT_OK;
}

static leat_status local_move(const leati_fs *fs, const char *from, const char *to,
                              leat_error *err) {
    (void)fs;
    return rename(from, to) == 0 ? LEAT_OK : leati_fs_local_fail(err, errno, from, "move it");
}

static leat_status local_exchange(const leati_fs *fs, const char *one, const char *other,
                                  leat_error *err) {
    (void)fs;
    return renameat2(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE) == 0
               ? LEAT_OK
               : leati_fs_local_fail(err, errno, other, "exchange it");
}

static leat_status local_mkdir(const leati_fs *fs, const char *path, leat_error *err) {
    (void)fs;
    enum { MOST_ATTEMPTS = 100 };
    struct stat st;
    int number = EEXIST;
    for (int attempt = 0; attempt < MOST_ATTEMPTS && number == EEXIST; attempt++) {
        if (mkdir(path, 0777) == 0)
            return LEAT_OK;
        number = errno;
        /* Somebody made it before, or at the same time: that is what was wanted. */
        bool is_there = stat(path, &st) == 0;
        if (number == EEXIST && is_there && S_ISDIR(st.st_mode))
            return LEAT_OK;
        /* Or they have removed it meanwhile: then once more. */
        if (is_there || errno != ENOENT)
            break;
    }
    return leati_fs_local_fail(err, number, path, "make the folder");
}

const leati_fs leati_fs_local = {
    .scheme = "file",
    .doc = "Files of this machine.",
    .open = local_open,
    .use = local_use,
    .read_at = local_read_at,
    .close = local_close,
    .stat = local_stat,
    .list = local_list,
    .resolve = local_resolve,
    .create = local_create,
    .write = local_write,
    .claim = local_claim,
    .sweep = local_sweep,
    .settle = local_settle,
    .put = local_put,
    .sync_folder = local_sync_folder,
    .close_sink = local_close_sink,
    .remove = local_remove,
    .move = local_move,
    .exchange = local_exchange,
    .append = local_append,
    .mkdir = local_mkdir,
};
