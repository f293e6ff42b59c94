/* Segments without a name, and the parts into which they are divided.
 *
 * Happy path: a request takes the first gap that is long enough of the first segment that has one,
 * so that memory that was used lately is used again; giving back joins gaps. Failures: without
 * memfd, seals, memory or address space nothing is taken, and the caller uses ordinary memory.
 *
 * A fork makes two processes that see the same pages. So what is in use then is retired, the parent
 * never writes new values there, and the child takes and gives nothing any more.
 *
 * Locks: one of the file, a leaf. */
#include "core/shared_memory.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/fork.h"
#include "base/minmax.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

enum { UNIT = 16 << 10, SEGMENT = 64 << 20, SEALS = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL };

typedef struct segment segment;

/* A part in use, or a gap. */
struct leati_shared_memory_part {
    leati_shared_memory_part *next, *previous; /* by place */
    segment *of;
    size_t offset, size;
    bool used, retired;
    int forks;
};

struct segment {
    segment *next;
    uint64_t number;
    char *data;
    size_t size;
    int file;
    size_t used, retired; /* parts; what is retired and not used is no gap any more */
    leati_shared_memory_part *parts;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* All under the lock; `users` is read without it, too. */
static atomic_int users;
static atomic_int forks;
static segment *segments;
static uint64_t last_number;
static size_t bytes, most_bytes;

/* ---- segments; the lock is held ---- */

static int make_file(size_t size) {
    int file = memfd_create("leat", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file >= 0 && ftruncate(file, (off_t)size) == 0)
        return file;
    if (file >= 0)
        close(file);
    return -1;
}

/* Maps it for this process alone to write. */
static void *map_file(int file, size_t size) {
    void *data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (data == MAP_FAILED)
        return NULL;
    if (fcntl(file, F_ADD_SEALS, F_SEAL_FUTURE_WRITE) == 0 && fcntl(file, F_ADD_SEALS, SEALS) == 0)
        return data;
    munmap(data, size);
    return NULL;
}

static segment *add_segment(size_t size) {
    segment *s = leati_alloc_zero(1, sizeof *s);
    leati_shared_memory_part *all = leati_alloc_zero(1, sizeof *all);
    int file = s != NULL && all != NULL ? make_file(size) : -1;
    void *data = file >= 0 ? map_file(file, size) : NULL;
    if (data == NULL) {
        if (file >= 0)
            close(file);
        leati_free(s);
        leati_free(all);
        return NULL;
    }
    *all = (leati_shared_memory_part){.of = s, .size = size};
    *s = (segment){.number = ++last_number, .data = data, .size = size, .file = file, .parts = all};
    segment **at = &segments;
    while (*at != NULL)
        at = &(*at)->next;
    *at = s;
    bytes += size;
    return s;
}

static void drop_segment(segment *dead) {
    segment **at = &segments;
    while (*at != dead)
        at = &(*at)->next;
    *at = dead->next;
    bytes -= dead->size;
    munmap(dead->data, dead->size);
    close(dead->file);
    for (leati_shared_memory_part *part; (part = dead->parts) != NULL;) {
        dead->parts = part->next;
        leati_free(part);
    }
    leati_free(dead);
}

/* One without anything in it is kept for what comes, as long as somebody uses shared memory. */
static void drop_if_idle(segment *s) {
    if (s->used > 0)
        return;
    bool kept = atomic_load(&users) > 0 && s->retired == 0 && s->size == SEGMENT;
    for (const segment *other = segments; other != NULL && kept; other = other->next)
        kept = other == s || other->used > 0;
    if (!kept)
        drop_segment(s);
}

static segment *segment_of(const void *data, size_t size) {
    const char *at = data;
    for (segment *s = segments; s != NULL; s = s->next)
        if (at >= s->data && at < s->data + s->size)
            return size <= s->size - (size_t)(at - s->data) ? s : NULL;
    return NULL;
}

/* ---- parts; the lock is held ---- */

/* Makes the gap's first `size` bytes a part in use; what is left stays a gap. */
static bool cut(leati_shared_memory_part *gap, size_t size) {
    if (gap->size > size) {
        leati_shared_memory_part *rest = leati_alloc_zero(1, sizeof *rest);
        if (rest == NULL)
            return false;
        *rest = (leati_shared_memory_part){.next = gap->next,
                                           .previous = gap,
                                           .of = gap->of,
                                           .offset = gap->offset + size,
                                           .size = gap->size - size};
        if (rest->next != NULL)
            rest->next->previous = rest;
        gap->next = rest;
        gap->size = size;
    }
    gap->used = true;
    gap->forks = atomic_load(&forks);
    gap->of->used++;
    return true;
}

static leati_shared_memory_part *take_from(segment *s, size_t size) {
    for (leati_shared_memory_part *part = s->parts; part != NULL; part = part->next)
        if (!part->used && !part->retired && part->size >= size)
            return cut(part, size) ? part : NULL;
    return NULL;
}

static bool is_gap(const leati_shared_memory_part *part) {
    return part != NULL && !part->used && !part->retired;
}

/* Joins the gap with the gap behind it. */
static void join(leati_shared_memory_part *gap) {
    leati_shared_memory_part *behind = gap->next;
    gap->size += behind->size;
    gap->next = behind->next;
    if (gap->next != NULL)
        gap->next->previous = gap;
    leati_free(behind);
}

static void retire(leati_shared_memory_part *part) {
    if (!part->used || part->retired)
        return;
    part->retired = true;
    part->of->retired++;
}

/* ---- forks ---- */

static void before_fork(void) {
    pthread_mutex_lock(&lock);
    for (segment *s = segments; s != NULL; s = s->next)
        for (leati_shared_memory_part *part = s->parts; part != NULL; part = part->next)
            retire(part);
}

static void after_fork(bool child) {
    if (child) {
        atomic_fetch_add(&forks, 1);
        atomic_store(&users, 0);
        for (segment *s = segments; s != NULL; s = s->next)
            close(s->file);
        segments = NULL;
        bytes = 0;
    }
    pthread_mutex_unlock(&lock);
}

LEATI_FORK_PART(shared_memory, before_fork, after_fork);

/* ---- the doors ---- */

leat_status leati_shared_memory_use(size_t most, leat_error *err) {
    char reason[100];
    pthread_mutex_lock(&lock);
    most_bytes = most;
    if (segments == NULL && add_segment(SEGMENT) == NULL) {
        leat_status status =
            leati_fail(err, LEAT_UNIMPLEMENTED,
                       "the system gives no memory that processes can share (%s); it takes a memfd "
                       "with seals, of Linux 5.1 or newer",
                       strerror_r(errno, reason, sizeof reason));
        pthread_mutex_unlock(&lock);
        return status;
    }
    atomic_fetch_add(&users, 1);
    pthread_mutex_unlock(&lock);
    return LEAT_OK;
}

void leati_shared_memory_leave(void) {
    pthread_mutex_lock(&lock);
    /* A child of a fork has none of its parent's users. */
    if (atomic_load(&users) > 0 && atomic_fetch_sub(&users, 1) == 1)
        for (segment *s = segments, *next; s != NULL; s = next) {
            next = s->next;
            drop_if_idle(s);
        }
    pthread_mutex_unlock(&lock);
}

leati_shared_memory_part *leati_shared_memory_take(size_t size, void **data) {
    if (atomic_load_explicit(&users, memory_order_relaxed) == 0 || size > SIZE_MAX - UNIT)
        return NULL;
    size = (size + UNIT - 1) / UNIT * UNIT;
    leati_shared_memory_part *part = NULL;
    pthread_mutex_lock(&lock);
    for (segment *s = segments; s != NULL && part == NULL; s = s->next)
        part = take_from(s, size);
    size_t room = size > SEGMENT ? size : SEGMENT;
    if (part == NULL && atomic_load(&users) > 0 && bytes <= most_bytes &&
        room <= most_bytes - bytes) {
        segment *s = add_segment(room);
        part = s != NULL ? take_from(s, size) : NULL;
    }
    if (part != NULL)
        *data = part->of->data + part->offset;
    pthread_mutex_unlock(&lock);
    return part;
}

void leati_shared_memory_give(leati_shared_memory_part *part) {
    pthread_mutex_lock(&lock);
    /* The parent's, in a child: its own list has it. */
    if (leati_shared_memory_is_own(part)) {
        segment *s = part->of;
        part->used = false;
        s->used--;
        if (is_gap(part) && is_gap(part->next))
            join(part);
        if (is_gap(part) && is_gap(part->previous))
            join(part->previous);
        drop_if_idle(s);
    }
    pthread_mutex_unlock(&lock);
}

bool leati_shared_memory_is_own(const leati_shared_memory_part *part) {
    return part->forks == atomic_load(&forks);
}

bool leati_shared_memory_find(const void *data, size_t size, leati_shared_memory_place *out) {
    pthread_mutex_lock(&lock);
    const segment *s = segment_of(data, size);
    if (s != NULL)
        *out = (leati_shared_memory_place){s->number, s->size,
                                           (size_t)((const char *)data - s->data), s->file};
    pthread_mutex_unlock(&lock);
    return s != NULL;
}

bool leati_shared_memory_has(uint64_t number) {
    pthread_mutex_lock(&lock);
    const segment *s = segments;
    while (s != NULL && s->number != number)
        s = s->next;
    pthread_mutex_unlock(&lock);
    return s != NULL;
}

void leati_shared_memory_retire(const void *data) {
    pthread_mutex_lock(&lock);
    segment *s = segment_of(data, 0);
    size_t offset = s != NULL ? (size_t)((const char *)data - s->data) : 0;
    for (leati_shared_memory_part *part = s != NULL ? s->parts : NULL; part != NULL;
         part = part->next)
        if (offset >= part->offset && offset - part->offset < part->size)
            retire(part);
    pthread_mutex_unlock(&lock);
}

size_t leati_shared_memory_bytes(void) {
    pthread_mutex_lock(&lock);
    size_t now = bytes;
    pthread_mutex_unlock(&lock);
    return now;
}
