/* How far data may unfold, for the whole process: four numbers, read by decoders and readers before
 * they take memory.
 *
 * What the environment says is read once, when a limit of reading is first asked for or set; a text
 * that is no number is told and not used. A negative limit is INVALID_ARGUMENT. No locks. */
#include "base/limits.h"

#include "base/error.h"
#include "base/log.h"
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define PIXELS (INT64_C(1) << 28)
#define BYTES (INT64_C(1) << 30)
#define LINE (INT64_C(1) << 30)
#define RECORD (INT64_C(1) << 32)

static atomic_llong most_pixels = PIXELS;
static atomic_llong most_bytes = BYTES;

/* A limit that the environment may set; `usual` is written once, by read_environment. */
struct limit {
    const char *variable;
    long long usual;
    atomic_llong now;
};

static struct limit line_limit = {"LEAT_MAX_LINE_BYTES", LINE, LINE};
static struct limit record_limit = {"LEAT_MAX_RECORD_BYTES", RECORD, RECORD};
static pthread_once_t environment_once = PTHREAD_ONCE_INIT;

leat_status leat_limits_set_decoding(int64_t pixels, int64_t bytes, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    if (pixels < 0 || bytes < 0)
        return leati_refuse(err, VALUE,
                            "limits of %lld pixels and %lld bytes; expected 0 or more, 0 for the "
                            "default",
                            (long long)pixels, (long long)bytes);
    atomic_store(&most_pixels, pixels > 0 ? pixels : PIXELS);
    atomic_store(&most_bytes, bytes > 0 ? bytes : BYTES);
    return LEAT_OK;
}

static void read_variable(struct limit *limit) {
    const char *text = getenv(limit->variable);
    char *end = NULL;
    if (text == NULL || *text == '\0')
        return;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno != 0 || *end != '\0' || value < 1) {
        leati_log(LEAT_LOG_WARNING,
                  "the environment's %s is \"%.40s\", which is not used; expected a number of "
                  "bytes from 1 on",
                  limit->variable, text);
        return;
    }
    limit->usual = value;
    atomic_store(&limit->now, value);
}

static void read_environment(void) {
    read_variable(&line_limit);
    read_variable(&record_limit);
}

leat_status leat_limits_set_reading(int64_t line_bytes, int64_t record_bytes, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    if (line_bytes < 0 || record_bytes < 0)
        return leati_refuse(err, VALUE,
                            "limits of %lld bytes for a line and %lld for a record; expected 0 or "
                            "more, 0 for the default",
                            (long long)line_bytes, (long long)record_bytes);
    pthread_once(&environment_once, read_environment);
    atomic_store(&line_limit.now, line_bytes > 0 ? line_bytes : line_limit.usual);
    atomic_store(&record_limit.now, record_bytes > 0 ? record_bytes : record_limit.usual);
    return LEAT_OK;
}

static uint64_t now_of(struct limit *limit) {
    pthread_once(&environment_once, read_environment);
    return (uint64_t)atomic_load_explicit(&limit->now, memory_order_relaxed);
}

uint64_t leati_limits_max_line(void) {
    return now_of(&line_limit);
}

uint64_t leati_limits_max_record(void) {
    return now_of(&record_limit);
}

uint64_t leati_limits_max_pixels(void) {
    /* Relaxed: the number stands alone and guards no other memory. */
    return (uint64_t)atomic_load_explicit(&most_pixels, memory_order_relaxed);
}

uint64_t leati_limits_max_unpacked(void) {
    return (uint64_t)atomic_load_explicit(&most_bytes, memory_order_relaxed);
}
