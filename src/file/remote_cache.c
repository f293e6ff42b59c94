/* The folder of LEAT_CACHE_DIR; see remote_cache.h.
 *
 * Happy path: a block of a file is a file of its own, DIR/KEY-BLOCK.block, whose key is the SHA-256
 * of what the file is called, its version (ETag, generation or time) and its size: another version
 * has other names, and no name or credential stands in the folder. It is written beside its place
 * and moved there, so that other processes find it whole or not at all; in front of the bytes
 * stands a line with their number and a hash. DIR/NAME.known says that a file was seen.
 * DIR/KEY.file is a whole file, which the Python package puts there for libraries that read files
 * of this machine alone (python/leat/data/formats/far.py). Sizes: each process counts what it adds
 * to what it found, and when that is above LEAT_CACHE_BYTES looks again and removes what was used
 * longest ago (by the time of its last reading, which is noted at most once a minute) until a tenth
 * is free. One process does it at a time, by a lock on DIR/lock. Failures: a block that is damaged
 * is removed and read from the server again; a folder that cannot be written keeps nothing, and
 * says so once. Locks: the table's, a leaf; none while files are read or written. */
#include "file/remote_cache.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/minmax.h"
#include "base/sha256.h"
#include "base/text.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    FIRST_BYTES = LEATI_REMOTE_FIRST_BYTES,
    BLOCK_BYTES = 4 << 20,
    HEADER_BYTES = 64,
    KEY_CHARS = 40,
    NAME_BYTES = 128,
    PART_LEFT = 10,       /* one part of so many is free behind a removal */
    OLD_TEMPORARY_S = 600 /* what a killed process left of a block */
};
#define USUAL_BYTES (INT64_C(10) << 30)
#define MAGIC "leat block 1"

struct leati_remote_cache {
    char *folder;
    int64_t most;
    char *source;
    char known[NAME_BYTES]; /* the name of the note that it was seen */
    char key[KEY_CHARS + 1];
    bool is_identified;
};

static atomic_llong bytes_kept, bytes_asked;
static atomic_uint temporary_number;

/* The folder that was measured last. */
static struct {
    pthread_mutex_t lock;
    char folder[4096]; /* the lock's */
    int64_t bytes;     /* likewise; -1: not measured */
} measured = {.lock = PTHREAD_MUTEX_INITIALIZER, .bytes = -1};

/* ---- names ---- */

static void digest(const char *const *texts, size_t count, char out[KEY_CHARS + 1]) {
    leati_sha256 hash;
    uint8_t bytes[LEATI_SHA256_BYTES];
    leati_sha256_begin(&hash);
    for (size_t i = 0; i < count; i++)
        leati_sha256_add(&hash, texts[i], strlen(texts[i]) + 1);
    leati_sha256_end(&hash, bytes);
    for (int i = 0; i < KEY_CHARS / 2; i++)
        (void)snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

static bool path_in(const char *folder, const char *name, char *out, size_t size) {
    int n = snprintf(out, size, "%s/%s", folder, name);
    return n > 0 && (size_t)n < size;
}

static int64_t block_number(int64_t from) {
    return from == 0 ? 0 : 1 + (from - FIRST_BYTES) / BLOCK_BYTES;
}

static bool block_path(const leati_remote_cache *cache, int64_t from, char *out, size_t size) {
    char name[NAME_BYTES];
    (void)snprintf(name, sizeof name, "%s-%" PRId64 ".block", cache->key, block_number(from));
    return cache->is_identified && path_in(cache->folder, name, out, size);
}

void leati_remote_cache_block(int64_t offset, int64_t whole, int64_t *from, int64_t *size) {
    int64_t start = offset < FIRST_BYTES ? 0 : offset - (offset - FIRST_BYTES) % BLOCK_BYTES;
    *from = start;
    *size = LEATI_MIN(start == 0 ? FIRST_BYTES : BLOCK_BYTES, whole - start);
}

/* ---- settings ---- */

static leat_status read_most(int64_t *out, leat_error *err) {
    const char *text = getenv("LEAT_CACHE_BYTES");
    char *end = NULL;
    *out = USUAL_BYTES;
    if (text == NULL || !*text)
        return LEAT_OK;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno != 0 || *end != '\0' || value < 1)
        return leati_refuse(err, VALUE,
                            "the environment's LEAT_CACHE_BYTES is \"%.40s\"; expected how many "
                            "bytes LEAT_CACHE_DIR may hold, such as 10000000000",
                            text);
    *out = value;
    return LEAT_OK;
}

leat_status leati_remote_cache_new(const char *source, leati_remote_cache **out, leat_error *err) {
    const char *folder = getenv("LEAT_CACHE_DIR");
    int64_t most = 0;
    *out = NULL;
    if (folder == NULL || !*folder)
        return LEAT_OK;
    LEATI_TRY(read_most(&most, err));
    leati_remote_cache *cache = leati_alloc_zero(1, sizeof *cache);
    if (cache == NULL)
        return leati_no_memory(err);
    cache->most = most;
    cache->folder = leati_strdup(folder);
    cache->source = leati_strdup(source);
    if (cache->folder == NULL || cache->source == NULL) {
        leati_remote_cache_free(cache);
        return leati_no_memory(err);
    }
    char key[KEY_CHARS + 1];
    digest((const char *const[]){source}, 1, key);
    (void)snprintf(cache->known, sizeof cache->known, "%s.known", key);
    *out = cache;
    return LEAT_OK;
}

void leati_remote_cache_free(leati_remote_cache *cache) {
    if (cache == NULL)
        return;
    leati_free(cache->folder);
    leati_free(cache->source);
    leati_free(cache);
}

bool leati_remote_cache_is_known(const leati_remote_cache *cache) {
    char path[4200];
    return path_in(cache->folder, cache->known, path, sizeof path) && access(path, F_OK) == 0;
}

void leati_remote_cache_identify(leati_remote_cache *cache, const char *version, int64_t size) {
    char number[32];
    /* What has no version cannot be told from what takes its place. */
    if (!*version)
        return;
    (void)snprintf(number, sizeof number, "%" PRId64, size);
    digest((const char *const[]){cache->source, version, number}, 3, cache->key);
    cache->is_identified = true;
}

/* ---- what is there ---- */

/* One file of the folder. */
typedef struct entry {
    char name[NAME_BYTES];
    int64_t bytes, used;
} entry;

typedef struct listing {
    entry *entries;
    size_t count, capacity;
    int64_t bytes;
} listing;

static bool is_own(const char *name) {
    const char *dot = strrchr(name, '.');
    return dot != NULL && strlen(name) < NAME_BYTES &&
           (strcmp(dot, ".block") == 0 || strcmp(dot, ".known") == 0 || strcmp(dot, ".tmp") == 0 ||
            strcmp(dot, ".file") == 0);
}

/* Lists what is the cache's own in the folder. False: it cannot be read. */
static bool list_folder(const char *folder, listing *out) {
    DIR *dir = opendir(folder);
    if (dir == NULL)
        return false;
    bool good = true;
    for (struct dirent *at; good && (at = readdir(dir)) != NULL;) {
        struct stat st;
        void *entries = out->entries;
        if (!is_own(at->d_name) || fstatat(dirfd(dir), at->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(st.st_mode))
            continue;
        good = leati_grow(&entries, &out->capacity, out->count + 1, sizeof(entry));
        out->entries = entries;
        if (!good)
            break;
        entry *e = &out->entries[out->count++];
        (void)snprintf(e->name, sizeof e->name, "%s", at->d_name);
        e->bytes = st.st_size;
        e->used = st.st_mtime;
        out->bytes += e->bytes;
    }
    (void)closedir(dir);
    return good;
}

static int by_use(const void *a, const void *b) {
    const entry *one = a, *other = b;
    return one->used < other->used ? -1 : one->used > other->used;
}

/* Removes what was used longest ago, and what killed writers left. */
static void remove_oldest(const char *folder, listing *l, int64_t most) {
    char path[4200];
    int64_t wanted = most - most / PART_LEFT, now = (int64_t)time(NULL);
    qsort(l->entries, l->count, sizeof(entry), by_use);
    for (size_t i = 0; i < l->count; i++) {
        const entry *e = &l->entries[i];
        bool is_temporary = strstr(e->name, ".tmp") != NULL;
        if (is_temporary ? now - e->used < OLD_TEMPORARY_S : l->bytes <= wanted)
            continue;
        if (path_in(folder, e->name, path, sizeof path) && unlink(path) == 0)
            l->bytes -= e->bytes;
    }
}

/* Measures the folder, and makes room in it where there is too much; its bytes, -1: unknown. */
static int64_t make_room(const char *folder, int64_t most) {
    char path[4200];
    listing l = {0};
    int64_t bytes = -1;
    if (list_folder(folder, &l)) {
        int lock = l.bytes > most && path_in(folder, "lock", path, sizeof path)
                       ? open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)
                       : -1;
        /* Where another process is at it, it makes room for this one too. */
        if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0)
            remove_oldest(folder, &l, most);
        if (lock >= 0)
            (void)close(lock);
        bytes = l.bytes;
    }
    leati_free(l.entries);
    return bytes;
}

/* Counts bytes that were added, and makes room where that is due. */
static void count_added(const leati_remote_cache *cache, int64_t bytes) {
    pthread_mutex_lock(&measured.lock);
    bool is_same = measured.bytes >= 0 && strcmp(measured.folder, cache->folder) == 0;
    if (is_same)
        measured.bytes += bytes;
    bool is_due = !is_same || measured.bytes > cache->most;
    pthread_mutex_unlock(&measured.lock);
    if (!is_due)
        return;
    int64_t now = make_room(cache->folder, cache->most);
    pthread_mutex_lock(&measured.lock);
    (void)snprintf(measured.folder, sizeof measured.folder, "%s", cache->folder);
    measured.bytes = now;
    pthread_mutex_unlock(&measured.lock);
}

/* ---- blocks ---- */

bool leati_remote_cache_has(const leati_remote_cache *cache, int64_t from) {
    char path[4200];
    return block_path(cache, from, path, sizeof path) && access(path, R_OK) == 0;
}

static bool read_fully(int fd, void *data, size_t size) {
    size_t done = 0;
    while (done < size) {
        ssize_t n = read(fd, (char *)data + done, size - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        done += (size_t)n;
    }
    return true;
}

static void header_of(char out[HEADER_BYTES], const void *data, int64_t size) {
    memset(out, 0, HEADER_BYTES);
    (void)snprintf(out, HEADER_BYTES, MAGIC " %" PRId64 " %016" PRIx64 "\n", size,
                   leati_hash(data, (size_t)size, 0));
}

/* The whole block in a new buffer; NULL where it is damaged. */
static leat_buffer *read_block(int fd, int64_t size) {
    char found[HEADER_BYTES], wanted[HEADER_BYTES];
    struct stat st;
    leat_error ignored = {0};
    if (fstat(fd, &st) != 0 || st.st_size != size + HEADER_BYTES)
        return NULL;
    leat_buffer *buffer = leat_buffer_new((size_t)size, &ignored);
    if (buffer == NULL)
        return NULL;
    bool good = read_fully(fd, found, HEADER_BYTES) &&
                read_fully(fd, leat_buffer_data(buffer), (size_t)size);
    if (good) {
        header_of(wanted, leat_buffer_data(buffer), size);
        good = memcmp(found, wanted, HEADER_BYTES) == 0;
        if (good && time(NULL) - st.st_mtime > 60)
            (void)futimens(fd, NULL); /* it was used now */
    }
    if (good)
        return buffer;
    leat_buffer_unref(buffer);
    return NULL;
}

leat_buffer *leati_remote_cache_get(leati_remote_cache *cache, int64_t from, int64_t size) {
    char path[4200];
    if (!block_path(cache, from, path, sizeof path))
        return NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return NULL;
    leat_buffer *buffer = read_block(fd, size);
    (void)close(fd);
    if (buffer == NULL)
        (void)unlink(path);
    else
        atomic_fetch_add(&bytes_kept, size);
    return buffer;
}

static bool write_fully(int fd, const void *data, size_t size) {
    size_t done = 0;
    while (done < size) {
        ssize_t n = write(fd, (const char *)data + done, size - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        done += (size_t)n;
    }
    return true;
}

/* Writes a file of the folder that appears whole; what is lost by a machine that stops is damaged,
 * and found to be. */
static bool write_file(const char *folder, const char *path, const char *header, const void *data,
                       size_t size) {
    char temporary[4200], name[NAME_BYTES];
    (void)snprintf(name, sizeof name, "%ld-%u.tmp", (long)getpid(),
                   atomic_fetch_add(&temporary_number, 1));
    if (!path_in(folder, name, temporary, sizeof temporary))
        return false;
    int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return false;
    bool good = write_fully(fd, header, strlen(header) > 0 ? HEADER_BYTES : 0) &&
                write_fully(fd, data, size);
    good = close(fd) == 0 && good && rename(temporary, path) == 0;
    if (!good) {
        int number = errno;
        (void)unlink(temporary);
        errno = number;
    }
    return good;
}

static void complain(const leati_remote_cache *cache) {
    static int flag;
    leati_log_once(&flag, LEAT_LOG_WARNING,
                   "LEAT_CACHE_DIR %s cannot be written (%s); remote files are read without it",
                   cache->folder, strerror(errno));
}

void leati_remote_cache_put(leati_remote_cache *cache, int64_t from, const void *data,
                            int64_t size) {
    char path[4200], known[4200], header[HEADER_BYTES];
    if (!block_path(cache, from, path, sizeof path) || size + HEADER_BYTES > cache->most ||
        !path_in(cache->folder, cache->known, known, sizeof known))
        return;
    if (mkdir(cache->folder, 0700) != 0 && errno != EEXIST) {
        complain(cache);
        return;
    }
    header_of(header, data, size);
    if (!write_file(cache->folder, path, header, data, (size_t)size)) {
        complain(cache);
        return;
    }
    if (access(known, F_OK) != 0)
        (void)write_file(cache->folder, known, "", "", 0);
    count_added(cache, size + HEADER_BYTES);
}

/* ---- counts ---- */

void leati_remote_cache_missed(int64_t bytes) {
    atomic_fetch_add(&bytes_asked, bytes);
}

void leati_remote_cache_counts(int64_t *kept, int64_t *asked) {
    *kept = atomic_load(&bytes_kept);
    *asked = atomic_load(&bytes_asked);
}

bool leati_remote_cache_describe(char *text, size_t size) {
    int64_t kept = 0, asked = 0;
    leati_remote_cache_counts(&kept, &asked);
    if (kept + asked == 0)
        return false;
    const char *folder = getenv("LEAT_CACHE_DIR");
    (void)snprintf(text, size, "remote cache: %.1f%% of %.1f MB came from %.400s",
                   100.0 * (double)kept / (double)(kept + asked), (double)(kept + asked) / 1e6,
                   folder != NULL ? folder : "LEAT_CACHE_DIR");
    return true;
}
