/* See calls.h. */
#include "calls.h"
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { MOST_FILES = 4096 };

static struct {
    atomic_int kind, at, number, seen, open;
    atomic_long count, kill_at, full_at;
    long jump, jump_at; /* seconds that the time of day goes wrong by, from a call on */
    int signal;
    const char *host, *address;      /* of a host: where it leads */
    const char *folder;              /* NULL: all files concern the test */
    atomic_bool watched[MOST_FILES]; /* by descriptor, where there is a folder */
} calls = {.kind = NUM_CALLS};

const char *call_name(call_kind kind) {
    static const char *const names[] = {"open",
                                        "close",
                                        "fstat",
                                        "lstat",
                                        "stat",
                                        "read",
                                        "pread",
                                        "write",
                                        "fsync",
                                        "rename",
                                        "unlink",
                                        "remove",
                                        "mkdir",
                                        "opendir",
                                        "readdir",
                                        "flock",
                                        "fcntl",
                                        "realpath",
                                        "socket",
                                        "bind",
                                        "listen",
                                        "connect",
                                        "accept4",
                                        "sendmsg",
                                        "recv",
                                        "poll",
                                        "pipe",
                                        "socketpair",
                                        "memfd_create",
                                        "shm_open",
                                        "posix_fallocate",
                                        "getaddrinfo",
                                        "send",
                                        "eventfd",
                                        "mmap",
                                        "setsockopt",
                                        "getsockopt",
                                        "getsockname",
                                        "getpeername"};
    return names[kind];
}

void calls_arm(call_kind kind, int at, int number) {
    calls.kind = NUM_CALLS;
    calls.at = at;
    calls.number = number;
    calls.seen = 0;
    calls.open = 0;
    calls.kind = (int)kind;
}

int calls_disarm(void) {
    calls.kind = NUM_CALLS;
    return calls.seen;
}

void calls_name_host(const char *name, const char *address) {
    calls.host = name;
    calls.address = address;
}

int calls_open(void) {
    return calls.open;
}

void calls_kill_at(long n) {
    calls.kill_at = 0;
    calls.count = 0;
    calls.kill_at = n;
}

long calls_count(void) {
    return calls.count;
}

static long read_number(const char *name, long otherwise) {
    const char *text = getenv(name);
    return text != NULL ? strtol(text, NULL, 10) : otherwise;
}

__attribute__((constructor)) static void read_environment(void) {
    calls.folder = getenv("LEAT_FAULTS_FOLDER");
    calls.signal = (int)read_number("LEAT_FAULTS_SIGNAL", SIGKILL);
    calls.full_at = read_number("LEAT_FAULTS_FULL_AT", 0);
    calls.jump = read_number("LEAT_FAULTS_JUMP", 0);
    calls.jump_at = read_number("LEAT_FAULTS_JUMP_AT", 0);
    calls_kill_at(read_number("LEAT_FAULTS_KILL_AT", 0));
}

/* In front of a call that may change files. */
static void reached(bool concerns) {
    if (concerns && atomic_fetch_add(&calls.count, 1) + 1 == calls.kill_at)
        (void)kill(getpid(), calls.signal != 0 ? calls.signal : SIGKILL);
}

/* Whether a call that wants room on the disk finds none. */
static bool is_full(bool concerns) {
    if (!concerns || calls.full_at == 0 || calls.count < calls.full_at)
        return false;
    errno = ENOSPC;
    return true;
}

static bool path_concerns(const char *path) {
    return calls.folder == NULL || strncmp(path, calls.folder, strlen(calls.folder)) == 0;
}

static bool file_concerns(int fd) {
    return calls.folder == NULL || (fd >= 0 && fd < MOST_FILES && calls.watched[fd]);
}

static bool hit(call_kind kind) {
    if ((int)kind != calls.kind)
        return false;
    int seen = atomic_fetch_add(&calls.seen, 1) + 1;
    return calls.at == CALLS_ALWAYS || seen == calls.at;
}

static bool fails(call_kind kind) {
    if (!hit(kind) || calls.number < 0)
        return false;
    errno = calls.number;
    return true;
}

/* How many of `size` bytes a transfer moves; -1: it fails. */
static ssize_t moves(call_kind kind, size_t size) {
    if (!hit(kind))
        return (ssize_t)size;
    if (calls.number > 0)
        errno = calls.number;
    return calls.number > 0 ? -1 : calls.number == CALLS_END ? 0 : size > 0;
}

int open(const char *path, int flags, ...) {
    int mode = 0;
    if (flags & (O_CREAT | O_DIRECTORY)) { /* O_TMPFILE has the bits of O_DIRECTORY */
        va_list list;
        va_start(list, flags);
        mode = va_arg(list, int);
        va_end(list);
    }
    bool concerns = path_concerns(path);
    reached(concerns);
    if ((flags & O_CREAT) && is_full(concerns))
        return -1;
    int fd = fails(CALL_OPEN) ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
    calls.open += fd >= 0;
    if (fd >= 0 && fd < MOST_FILES)
        calls.watched[fd] = concerns;
    return fd;
}

int close(int fd) {
    reached(file_concerns(fd));
    if (fd >= 0 && fd < MOST_FILES)
        calls.watched[fd] = false;
    int code = (int)syscall(SYS_close, fd);
    calls.open -= code == 0;
    return fails(CALL_CLOSE) ? -1 : code;
}

ssize_t write(int fd, const void *data, size_t size) {
    reached(file_concerns(fd));
    if (is_full(file_concerns(fd)))
        return -1;
    ssize_t part = moves(CALL_WRITE, size);
    return part < 0 ? -1 : syscall(SYS_write, fd, data, (size_t)part);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t offset) {
    reached(file_concerns(fd));
    return syscall(SYS_pwrite64, fd, data, size, offset);
}

int ftruncate(int fd, off_t size) {
    reached(file_concerns(fd));
    return (int)syscall(SYS_ftruncate, fd, size);
}

int fsync(int fd) {
    reached(file_concerns(fd));
#ifdef LEAT_FAULTS_PRELOAD
    return 0; /* what a killed process has written the system keeps */
#else
    return fails(CALL_FSYNC) ? -1 : (int)syscall(SYS_fsync, fd);
#endif
}

int rename(const char *from, const char *to) {
    reached(path_concerns(to));
    return fails(CALL_RENAME) ? -1 : renameat(AT_FDCWD, from, AT_FDCWD, to);
}

int renameat2(int from_folder, const char *from, int to_folder, const char *to,
              unsigned int flags) {
    reached(path_concerns(to));
    return fails(CALL_RENAME)
               ? -1
               : (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, flags);
}

int unlink(const char *path) {
    reached(path_concerns(path));
    return fails(CALL_UNLINK) ? -1 : unlinkat(AT_FDCWD, path, 0);
}

int remove(const char *path) {
    reached(path_concerns(path));
    if (fails(CALL_REMOVE))
        return -1;
    int code = unlinkat(AT_FDCWD, path, 0);
    return code != 0 && errno == EISDIR ? unlinkat(AT_FDCWD, path, AT_REMOVEDIR) : code;
}

int mkdir(const char *path, mode_t mode) {
    reached(path_concerns(path));
    if (is_full(path_concerns(path)))
        return -1;
    return fails(CALL_MKDIR) ? -1 : mkdirat(AT_FDCWD, path, mode);
}

int flock(int fd, int operation) {
    reached(file_concerns(fd));
    return fails(CALL_FLOCK) ? -1 : (int)syscall(SYS_flock, fd, operation);
}

#ifdef LEAT_FAULTS_PRELOAD

/* What Python and the HDF5 library call in their places, and the time of day. */

int open64(const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    int mode = va_arg(list, int);
    va_end(list);
    return open(path, flags, mode);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset) {
    reached(file_concerns(fd));
    return is_full(file_concerns(fd)) ? -1 : syscall(SYS_pwrite64, fd, data, size, offset);
}

int ftruncate64(int fd, off64_t size) {
    reached(file_concerns(fd));
    return (int)syscall(SYS_ftruncate, fd, size);
}

static long jumped(void) {
    return calls.count >= calls.jump_at ? calls.jump : 0;
}

int clock_gettime(clockid_t clock, struct timespec *out) {
    int code = (int)syscall(SYS_clock_gettime, clock, out);
    if (code == 0 && clock == CLOCK_REALTIME)
        out->tv_sec += jumped();
    return code;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone) {
    int code = (int)syscall(SYS_gettimeofday, out, zone);
    if (code == 0)
        out->tv_sec += jumped();
    return code;
}

time_t time(time_t *out) {
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    if (out != NULL)
        *out = now.tv_sec;
    return now.tv_sec;
}

__attribute__((destructor)) static void write_count(void) {
    const char *path = getenv("LEAT_FAULTS_COUNT");
    if (path == NULL)
        return;
    char text[32];
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (fd >= 0)
        (void)!syscall(SYS_write, fd, text,
                       snprintf(text, sizeof text, "%ld\n", (long)calls.count));
}

#else

int fstat(int fd, struct stat *st) {
    return fails(CALL_FSTAT) ? -1 : fstatat(fd, "", st, AT_EMPTY_PATH);
}

int lstat(const char *path, struct stat *st) {
    return fails(CALL_LSTAT) ? -1 : fstatat(AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW);
}

int stat(const char *path, struct stat *st) {
    return fails(CALL_STAT) ? -1 : fstatat(AT_FDCWD, path, st, 0);
}

ssize_t pread(int fd, void *data, size_t size, off_t offset) {
    ssize_t part = moves(CALL_PREAD, size);
    return part < 0 ? -1 : syscall(SYS_pread64, fd, data, (size_t)part, offset);
}

ssize_t read(int fd, void *data, size_t size) {
    ssize_t part = moves(CALL_READ, size);
    return part < 0 ? -1 : syscall(SYS_read, fd, data, (size_t)part);
}

DIR *opendir(const char *path) {
    if (fails(CALL_OPENDIR))
        return NULL;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    return fd < 0 ? NULL : fdopendir(fd);
}

struct dirent *readdir(DIR *folder) {
    static struct dirent entry = {.d_name = "unknown", .d_type = DT_UNKNOWN};
    if (!hit(CALL_READDIR))
        return (struct dirent *)readdir64(folder);
    if (calls.number > 0)
        errno = calls.number;
    return calls.number == CALLS_SHORT ? &entry : NULL;
}

int fcntl(int fd, int command, ...) {
    va_list list;
    va_start(list, command);
    long argument = va_arg(list, long);
    va_end(list);
    int code = fails(CALL_FCNTL) ? -1 : (int)syscall(SYS_fcntl, fd, command, argument);
    calls.open += command == F_DUPFD_CLOEXEC && code >= 0;
    return code;
}

char *realpath(const char *path, char *resolved) {
    char *found = fails(CALL_REALPATH) ? NULL : canonicalize_file_name(path);
    if (found == NULL || resolved == NULL || strlen(found) >= PATH_MAX)
        return found;
    (void)strcpy(resolved, found);
    free(found);
    return resolved;
}

/* ---- connections and shared memory ---- */

/* A new descriptor, or -1. */
static int opened(long fd) {
    calls.open += fd >= 0;
    return (int)fd;
}

int socket(int family, int type, int protocol) {
    return fails(CALL_SOCKET) ? -1 : opened(syscall(SYS_socket, family, type, protocol));
}

int bind(int fd, const struct sockaddr *at, socklen_t size) {
    return fails(CALL_BIND) ? -1 : (int)syscall(SYS_bind, fd, at, size);
}

int listen(int fd, int waiting) {
    return fails(CALL_LISTEN) ? -1 : (int)syscall(SYS_listen, fd, waiting);
}

int connect(int fd, const struct sockaddr *at, socklen_t size) {
    /* One that is interrupted goes on nevertheless. */
    bool failing = fails(CALL_CONNECT);
    int problem = errno;
    if (failing && problem != EINTR)
        return -1;
    int code = (int)syscall(SYS_connect, fd, at, size);
    if (failing)
        errno = problem;
    return failing ? -1 : code;
}

int accept4(int fd, struct sockaddr *at, socklen_t *size, int flags) {
    return fails(CALL_ACCEPT) ? -1 : opened(syscall(SYS_accept4, fd, at, size, flags));
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
    size_t size = 0, i = 0;
    for (; i < message->msg_iovlen; i++)
        size += message->msg_iov[i].iov_len;
    ssize_t part = moves(CALL_SENDMSG, size);
    if (part < 0 || (size_t)part == size)
        return part < 0 ? -1 : syscall(SYS_sendmsg, fd, message, flags);
    for (i = 0; message->msg_iov[i].iov_len == 0; i++)
        ;
    return syscall(SYS_sendto, fd, message->msg_iov[i].iov_base, (size_t)part, flags, NULL, 0);
}

ssize_t recv(int fd, void *data, size_t size, int flags) {
    ssize_t part = moves(CALL_RECV, size);
    return part <= 0 ? part : syscall(SYS_recvfrom, fd, data, (size_t)part, flags, NULL, NULL);
}

ssize_t send(int fd, const void *data, size_t size, int flags) {
    ssize_t part = moves(CALL_SEND, size);
    return part < 0 ? -1 : syscall(SYS_sendto, fd, data, (size_t)part, flags, NULL, 0);
}

int setsockopt(int fd, int level, int option, const void *value, socklen_t size) {
    return fails(CALL_SETSOCKOPT) ? -1
                                  : (int)syscall(SYS_setsockopt, fd, level, option, value, size);
}

int getsockopt(int fd, int level, int option, void *restrict value, socklen_t *restrict size) {
    return fails(CALL_GETSOCKOPT) ? -1
                                  : (int)syscall(SYS_getsockopt, fd, level, option, value, size);
}

int getsockname(int fd, struct sockaddr *restrict out, socklen_t *restrict size) {
    return fails(CALL_GETSOCKNAME) ? -1 : (int)syscall(SYS_getsockname, fd, out, size);
}

int getpeername(int fd, struct sockaddr *restrict out, socklen_t *restrict size) {
    return fails(CALL_GETPEERNAME) ? -1 : (int)syscall(SYS_getpeername, fd, out, size);
}

int eventfd(unsigned count, int flags) {
    return fails(CALL_EVENTFD) ? -1 : opened(syscall(SYS_eventfd2, count, flags));
}

void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset) {
    if (fd >= 0 && (flags & MAP_SHARED) != 0 && fails(CALL_MMAP))
        return MAP_FAILED;
    return (void *)syscall(SYS_mmap, at, size, protection, flags, fd, offset); // NOLINT
}

int poll(struct pollfd *polled, nfds_t count, int wait_ms) {
    struct timespec wait = {.tv_sec = wait_ms / 1000, .tv_nsec = wait_ms % 1000 * 1000000L};
    return fails(CALL_POLL) ? -1 : ppoll(polled, count, wait_ms < 0 ? NULL : &wait, NULL);
}

int pipe(int ends[2]) {
    int code = fails(CALL_PIPE) ? -1 : (int)syscall(SYS_pipe2, ends, 0);
    calls.open += code == 0 ? 2 : 0;
    return code;
}

int socketpair(int domain, int type, int protocol, int ends[2]) {
    int code =
        fails(CALL_SOCKETPAIR) ? -1 : (int)syscall(SYS_socketpair, domain, type, protocol, ends);
    calls.open += code == 0 ? 2 : 0;
    return code;
}

int memfd_create(const char *name, unsigned flags) {
    return fails(CALL_MEMFD) ? -1 : opened(syscall(SYS_memfd_create, name, flags));
}

int shm_open(const char *name, int flags, mode_t mode) {
    char path[PATH_MAX];
    (void)snprintf(path, sizeof path, "/dev/shm%s", name);
    return fails(CALL_SHM_OPEN)
               ? -1
               : opened(syscall(SYS_openat, AT_FDCWD, path, flags | O_NOFOLLOW | O_CLOEXEC, mode));
}

int posix_fallocate(int fd, off_t offset, off_t size) {
    return fails(CALL_FALLOCATE) || fallocate(fd, 0, offset, size) != 0 ? errno : 0;
}

int getaddrinfo(const char *host, const char *port, const struct addrinfo *hints,
                struct addrinfo **found) {
    int (*next)(const char *, const char *, const struct addrinfo *, struct addrinfo **) = NULL;
    *(void **)&next = dlsym(RTLD_NEXT, "getaddrinfo");
    bool known = calls.host != NULL && strcmp(host, calls.host) == 0;
    if (fails(CALL_GETADDRINFO))
        return EAI_AGAIN;
    if (known && hints != NULL && (hints->ai_flags & AI_NUMERICHOST))
        return EAI_NONAME;
    return next(known ? calls.address : host, port, hints, found);
}

#endif
