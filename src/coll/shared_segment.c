/* Shared memory without a name: see shared_segment.h.
 *
 * Happy path: rank 0 makes memory that only descriptors hold, and tells the others, through the
 * store, the number of its process and of the descriptor; they open it by /proc and find random
 * bytes at its end that rank 0 told them too. The kernel frees it with the last process that has
 * it, whenever any of them is killed.
 *
 * Failures: processes that do not see each other in /proc (containers that share /dev/shm alone, a
 * process that may not be looked into) take memory with a name, which rank 0 removes as soon as all
 * have opened it; only a job of these that is killed in this moment leaves it behind. All ranks go
 * the same way, since each decides by what all said. */
#include "coll/shared_segment.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/minmax.h"
#include "base/random.h"
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    SLOT_BYTES = 1 << 18,
    SEGMENT_BYTES = 16 << 20, /* about; containers often have 64 MiB for all */
    LEAST_ROWS = 3,
    MOST_ROWS = 16,
    LARGEST_VALUE = 16,
    TOKEN_BYTES = 16
};

/* What rank 0 tells the others; no pointers. */
typedef struct whereabouts {
    char path[64]; /* empty: it has none */
    char token[TOKEN_BYTES];
} whereabouts;

static size_t whole_pages(size_t bytes, size_t page) {
    return (bytes + page - 1) / page * page;
}

leati_shared_segment_layout leati_shared_segment_lay_out(int num_ranks, size_t head, size_t page) {
    size_t ranks = (size_t)num_ranks;
    leati_shared_segment_layout out = {.head_bytes = whole_pages(head, page)};
    /* With many ranks slots are smaller, down to where reduce_scatter puts one value of each. */
    size_t least = whole_pages(ranks * LARGEST_VALUE, page);
    size_t most = SEGMENT_BYTES / LEAST_ROWS / ranks / page * page;
    out.slot_bytes = LEATI_MAX(least, LEATI_MIN(most, (size_t)SLOT_BYTES));
    out.num_rows = SEGMENT_BYTES / ranks / out.slot_bytes;
    out.num_rows = LEATI_MIN(LEATI_MAX(out.num_rows, (uint64_t)LEAST_ROWS), (uint64_t)MOST_ROWS);
    out.size = out.head_bytes + out.num_rows * ranks * out.slot_bytes;
    return out;
}

// ---- rank 0 ----

/* A file of a name of its own. -1 with errno. */
static int make_named(char *path, size_t size) {
    static atomic_int made;
    /* The time, too: containers that share /dev/shm may have the same process numbers. */
    snprintf(path, size, "/leat-%ld-%d-%llx", (long)getpid(), atomic_fetch_add(&made, 1),
             (unsigned long long)leati_now_ns());
    return shm_open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
}

/* -1 with errno. */
static int make_nameless(char *path, size_t size) {
    int file = memfd_create("leat", MFD_CLOEXEC);
    snprintf(path, size, "/proc/%ld/fd/%d", (long)getpid(), file);
    if (file >= 0)
        (void)fchmod(file, 0600);
    return file;
}

/* Rank 0's part: all of the memory is reserved. -1 with `err`, and no path. */
static int make_segment(bool named, size_t bytes, whereabouts *out, leat_error *err) {
    int file = named ? make_named(out->path, sizeof out->path)
                     : make_nameless(out->path, sizeof out->path);
    /* Reserved at once: a write into memory that is full would end the process by SIGBUS. */
    int problem = file < 0 ? errno : posix_fallocate(file, 0, (off_t)bytes);
    if (problem == 0 && leati_random_secret(out->token, sizeof out->token) &&
        pwrite(file, out->token, sizeof out->token, (off_t)(bytes - sizeof out->token)) ==
            (ssize_t)sizeof out->token)
        return file;
    leati_fail(err, LEAT_UNAVAILABLE, "rank 0 has no %zu bytes of shared memory: %s", bytes,
               strerror(problem != 0 ? problem : EIO));
    if (file >= 0) {
        close(file);
        if (named)
            (void)shm_unlink(out->path);
    }
    out->path[0] = '\0';
    return -1;
}

// ---- the others ----

/* -1: it is not there, or is another file: process numbers mean something else in a container. */
static int open_path(bool named, const whereabouts *from, size_t bytes) {
    struct stat at;
    if (from->path[0] == '\0')
        return -1;
    if (named)
        return shm_open(from->path, O_RDWR | O_CLOEXEC, 0);
    /* Looked at before it is opened, which may do something where it is a device. */
    if (stat(from->path, &at) != 0 || !S_ISREG(at.st_mode) || at.st_size != (off_t)bytes)
        return -1;
    return open(from->path, O_RDWR | O_CLOEXEC);
}

/* NULL: it is not the one that rank 0 means. */
static void *map_file(int file, const whereabouts *from, size_t bytes) {
    struct stat at;
    if (file < 0 || fstat(file, &at) != 0 || at.st_size != (off_t)bytes)
        return NULL;
    void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (map == MAP_FAILED)
        return NULL;
    if (memcmp((const char *)map + bytes - sizeof from->token, from->token, sizeof from->token) ==
        0)
        return map;
    (void)munmap(map, bytes);
    return NULL;
}

// ---- together ----

/* All have it open, or one has not: decided together, so that all go the same way. */
static leat_status all_opened(leati_store *store, int num_ranks, bool mine, int64_t timeout_ms,
                              leat_error *err) {
    leati_store_values all;
    leat_status status = leati_store_barrier(store, "shared memory opened", mine ? "y" : "n", 1,
                                             timeout_ms, &all, err);
    for (int r = 0; r < num_ranks && status == LEAT_OK; r++) {
        if (all.offset[r + 1] == all.offset[r] || all.bytes[all.offset[r]] != 'y') {
            status = leati_fail(err, LEAT_UNAVAILABLE,
                                "rank %d cannot open the shared memory of rank 0", r);
        }
    }
    leati_store_values_fini(&all);
    return status;
}

/* One way of two; on failure nothing is open, mapped or named. */
static void *try_segment(leati_store *store, bool named, int rank, int num_ranks, size_t bytes,
                         int64_t timeout_ms, leat_error *err) {
    leat_error why = {0}; /* of rank 0's own */
    whereabouts where = {0};
    int file = rank == 0 ? make_segment(named, bytes, &where, &why) : -1;
    bool mine = file >= 0;
    leati_store_values all = {0};
    leat_status status = leati_store_barrier(store, "shared memory", &where,
                                             rank == 0 ? sizeof where : 0, timeout_ms, &all, err);
    if (status == LEAT_OK && rank != 0 && all.offset[1] - all.offset[0] == sizeof where) {
        memcpy(&where, all.bytes + all.offset[0], sizeof where);
        where.path[sizeof where.path - 1] = '\0';
        file = open_path(named, &where, bytes);
    }
    leati_store_values_fini(&all);
    void *map = status == LEAT_OK ? map_file(file, &where, bytes) : NULL;
    if (status == LEAT_OK)
        status = all_opened(store, num_ranks, map != NULL, timeout_ms, err);
    /* A mapping outlives its file and its name; rank 0's is open until here for the others. */
    if (file >= 0)
        close(file);
    if (mine && named)
        (void)shm_unlink(where.path);
    if (status == LEAT_OK)
        return map;
    if (map != NULL)
        (void)munmap(map, bytes);
    if (status == LEAT_UNAVAILABLE && why.code != LEAT_OK)
        leati_error_pass(err, &why);
    return NULL;
}

void *leati_shared_segment_open(leati_store *store, int rank, int num_ranks, size_t size,
                                int64_t timeout_ms, leat_error *err) {
    void *map = try_segment(store, false, rank, num_ranks, size, timeout_ms, err);
    if (map == NULL && err->code == LEAT_UNAVAILABLE)
        map = try_segment(store, true, rank, num_ranks, size, timeout_ms, err);
    return map;
}
