/* Trace rings and the writer of Chrome's trace format.
 *
 * The first span of a thread takes a ring: one that a finished thread left behind, or a new one. A
 * thread without memory for a ring drops its spans. Each event carries its thread's number and
 * name, since rings change owners. Locks: the list's, then a ring's; a ring's lock is contended
 * only while the trace is written. */
#define _GNU_SOURCE
#include "run/trace.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/fork.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define RING_EVENTS 4096

struct event {
    int64_t start_ns;
    int64_t end_ns;
    char name[48];
    char category[16];
    char thread_name[16];
    int32_t thread;
};

struct ring {
    pthread_mutex_t lock;
    uint64_t written;  /* lock; events so far, the last RING_EVENTS are kept */
    struct ring *next; /* list lock */
    int32_t owner;     /* list lock; 0: none */
    struct event events[RING_EVENTS];
};

atomic_bool leati_trace_on;

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
LEATI_FORK_LOCK(trace, &list_lock);
static struct ring *rings;     /* list lock */
static atomic_uint generation; /* raised by fini: rings that threads remember are gone */
static pthread_key_t leaving;  /* its destructor runs when a thread ends */

/* What a thread remembers; valid for one generation. */
static _Thread_local struct {
    struct ring *ring;
    unsigned generation;
    int32_t thread;
    char name[16];
} own;

/* A thread ends: its ring, if it is still there, is free for another. */
static void leave(void *value) {
    int32_t thread = gettid();
    pthread_mutex_lock(&list_lock);
    for (struct ring *ring = rings; ring != NULL; ring = ring->next)
        /* Searched for, not followed: fini may have freed it meanwhile. */
        if (ring == value && ring->owner == thread)
            ring->owner = 0;
    pthread_mutex_unlock(&list_lock);
}

static void make_key(void) {
    pthread_key_create(&leaving, leave);
}

static struct ring *find_free(void) {
    struct ring *ring = rings;
    while (ring != NULL && ring->owner != 0)
        ring = ring->next;
    return ring;
}

static struct ring *take_ring(int32_t thread) {
    pthread_mutex_lock(&list_lock);
    struct ring *ring = find_free();
    if (ring == NULL) {
        ring = leati_alloc(1, sizeof *ring);
        if (ring != NULL) {
            pthread_mutex_init(&ring->lock, NULL);
            ring->written = 0;
            ring->next = rings;
            rings = ring;
        }
    }
    if (ring != NULL)
        ring->owner = thread;
    pthread_mutex_unlock(&list_lock);
    return ring;
}

static struct ring *own_ring(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    unsigned now = atomic_load(&generation);
    if (own.ring != NULL && own.generation == now)
        return own.ring;
    pthread_once(&once, make_key);
    own.thread = gettid();
    pthread_getname_np(pthread_self(), own.name, sizeof own.name);
    own.ring = take_ring(own.thread);
    own.generation = now;
    pthread_setspecific(leaving, own.ring);
    return own.ring;
}

static void copy_text(char *to, size_t size, const char *from) {
    size_t length = strnlen(from, size - 1);
    memcpy(to, from, length);
    to[length] = '\0';
}

void leati_trace_record(leati_span span, const char *category, const char *name) {
    int64_t end_ns = leati_now_ns();
    struct ring *ring = own_ring();
    if (ring == NULL)
        return;
    pthread_mutex_lock(&ring->lock);
    struct event *event = &ring->events[ring->written % RING_EVENTS];
    event->start_ns = span.start_ns;
    event->end_ns = end_ns;
    event->thread = own.thread;
    copy_text(event->name, sizeof event->name, name);
    copy_text(event->category, sizeof event->category, category);
    memcpy(event->thread_name, own.name, sizeof event->thread_name);
    ring->written++;
    pthread_mutex_unlock(&ring->lock);
}

void leat_trace_start(void) {
    atomic_store(&leati_trace_on, true);
}

void leat_trace_stop(void) {
    atomic_store(&leati_trace_on, false);
}

void leati_trace_fini(void) {
    leat_trace_stop();
    pthread_mutex_lock(&list_lock);
    atomic_fetch_add(&generation, 1);
    struct ring *ring = rings;
    rings = NULL;
    pthread_mutex_unlock(&list_lock);
    while (ring != NULL) {
        struct ring *next = ring->next;
        pthread_mutex_destroy(&ring->lock);
        leati_free(ring);
        ring = next;
    }
}

/* A JSON string; labels may hold any bytes, and a cut may have split a character, so whatever is
 * not printable ASCII becomes a question mark. */
static void write_string(FILE *file, const char *text) {
    fputc('"', file);
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', file);
        fputc(*text >= 0x20 && *text < 0x7F ? *text : '?', file);
    }
    fputc('"', file);
}

static void write_thread_name(FILE *file, const struct event *event, long process) {
    fprintf(file,
            ",\n{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%ld,\"tid\":%d,\"args\":{\"name\":",
            process, (int)event->thread);
    write_string(file, event->thread_name);
    fputs("}}", file);
}

/* Times are in microseconds. */
static void write_event(FILE *file, const struct event *event, long process) {
    fputs(",\n{\"ph\":\"X\",\"name\":", file);
    write_string(file, event->name);
    fputs(",\"cat\":", file);
    write_string(file, event->category);
    fprintf(file, ",\"pid\":%ld,\"tid\":%d,\"ts\":%.3f,\"dur\":%.3f}", process, (int)event->thread,
            (double)event->start_ns / 1e3, (double)(event->end_ns - event->start_ns) / 1e3);
}

static void write_ring(FILE *file, struct ring *ring, long process) {
    int32_t thread = 0;
    pthread_mutex_lock(&ring->lock);
    uint64_t first = ring->written > RING_EVENTS ? ring->written - RING_EVENTS : 0;
    for (uint64_t at = first; at < ring->written; at++) {
        const struct event *event = &ring->events[at % RING_EVENTS];
        /* A ring may hold spans of several threads, one after the other. */
        if (event->thread != thread)
            write_thread_name(file, event, process);
        thread = event->thread;
        write_event(file, event, process);
    }
    pthread_mutex_unlock(&ring->lock);
}

leat_status leat_trace_write(const char *path, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    char reason[64];
    long process = getpid();
    FILE *file = fopen(path, "we");
    if (file == NULL)
        return leati_fail(err, LEAT_UNKNOWN, "cannot open trace file %s for writing: %s", path,
                          strerror_r(errno, reason, sizeof reason));
    fprintf(file,
            "{\"traceEvents\":[\n{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%ld,"
            "\"args\":{\"name\":\"leat\"}}",
            process);
    pthread_mutex_lock(&list_lock);
    for (struct ring *ring = rings; ring != NULL; ring = ring->next)
        write_ring(file, ring, process);
    pthread_mutex_unlock(&list_lock);
    fputs("\n]}\n", file);
    bool failed = ferror(file) != 0;
    /* fclose sets errno itself where it fails; a write that failed earlier has left no reason. */
    errno = failed ? EIO : 0;
    if (fclose(file) != 0 || failed)
        return leati_fail(err, LEAT_UNKNOWN, "cannot write trace file %s: %s; is the disk full?",
                          path, strerror_r(errno, reason, sizeof reason));
    return LEAT_OK;
}
