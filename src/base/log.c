/* Log lines, and which of them are wanted.
 *
 * A line is formatted on the stack, cut at its end if it is longer, and handed to the user's
 * function, or to stderr as "leat: warning: ...". The lock guards only the pair of function and
 * context: it is not held while the function runs. Levels are read from LEAT_LOG when the first
 * line is about to be written; a text that cannot be understood is one warning and changes
 * nothing. */
#define _GNU_SOURCE
#include "base/log.h"
#include "base/fork.h"
#include "base/minmax.h"

#include "base/error.h"
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LINE_SIZE = 1024,
    ORDINARY = LEATI_LOG_NUM_CATEGORIES, /* the place of lines that are no decisions */
    NUM_LEVELS = 4,
    SILENT = NUM_LEVELS /* above every level */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
LEATI_FORK_LOCK(log, &lock);
static leat_log_function sink; /* lock; NULL: stderr */
static void *sink_context;     /* lock */
static pthread_once_t environment_once = PTHREAD_ONCE_INIT;
int leati_log_least[LEATI_LOG_NUM_CATEGORIES + 1];

const leati_log_category_info leati_log_categories[] = {
#define X(upper, lower, doc) {#lower, doc},
#include "base/log.def"
#undef X
};

static const char *const level_names[NUM_LEVELS] = {
    [LEAT_LOG_DEBUG] = "debug",
    [LEAT_LOG_INFO] = "info",
    [LEAT_LOG_WARNING] = "warning",
    [LEAT_LOG_ERROR] = "error",
};

void leat_log_set(leat_log_function function, void *context) {
    pthread_mutex_lock(&lock);
    sink = function;
    sink_context = context;
    pthread_mutex_unlock(&lock);
}

static void write_line(leat_log_level level, const char *line) {
    pthread_mutex_lock(&lock);
    /* Taken together under the lock, so that a function is never called with another's context. */
    leat_log_function function = sink;
    void *context = sink_context;
    pthread_mutex_unlock(&lock);
    if (function != NULL)
        function(context, level, line);
    else
        fprintf(stderr, "leat: %s: %s\n", level_names[level], line);
}

// ---- which lines are wanted ----

static int find_level(const char *text, size_t size) {
    for (int i = 0; i < NUM_LEVELS; i++)
        if (strlen(level_names[i]) == size && memcmp(level_names[i], text, size) == 0)
            return i;
    return -1;
}

static int find_category(const char *text, size_t size) {
    for (int i = 0; i < LEATI_LOG_NUM_CATEGORIES; i++) {
        const char *name = leati_log_categories[i].name;
        if (strlen(name) == size && memcmp(name, text, size) == 0)
            return i;
    }
    return -1;
}

static leat_status no_level(const char *text, size_t size, leat_error *err) {
    return leati_refuse(err, VALUE,
                        "\"%.*s\" is no log level; expected debug, info, warning or error, as in "
                        "debug:data,dist",
                        (int)LEATI_MIN(size, 40), text);
}

static leat_status no_category(const char *text, size_t size, leat_error *err) {
    char names[128] = "";
    size_t used = 0;
    for (int i = 0; i < LEATI_LOG_NUM_CATEGORIES && used < sizeof names; i++) {
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i == 0 ? "" : ", ",
                                 leati_log_categories[i].name);
    }
    return leati_refuse(err, VALUE, "\"%.*s\" is no category of log lines; there are %s",
                        (int)LEATI_MIN(size, 40), text, names);
}

/* One item: LEVEL is for everything, LEVEL:CATEGORY begins a list of categories at that level,
 * and CATEGORY goes on with it. *level: of the list, -1 outside of one. */
static leat_status read_item(const char *item, size_t size, int *level, int *least,
                             leat_error *err) {
    const char *colon = memchr(item, ':', size);
    if (colon == NULL && *level < 0) {
        int all = find_level(item, size);
        for (int i = 0; i <= ORDINARY && all >= 0; i++)
            least[i] = all;
        return all >= 0 ? LEAT_OK : no_level(item, size, err);
    }
    if (colon != NULL) {
        *level = find_level(item, (size_t)(colon - item));
        if (*level < 0)
            return no_level(item, (size_t)(colon - item), err);
        size -= (size_t)(colon + 1 - item);
        item = colon + 1;
    }
    int category = find_category(item, size);
    if (category < 0)
        return no_category(item, size, err);
    least[category] = *level;
    return LEAT_OK;
}

/* Reads all of it before anything changes. */
static leat_status set_levels(const char *text, leat_error *err) {
    int least[ORDINARY + 1];
    for (int i = 0; i <= ORDINARY; i++)
        least[i] = i == ORDINARY ? LEAT_LOG_INFO : SILENT;
    int level = -1;
    while (*text != '\0') {
        size_t size = strcspn(text, ",");
        LEATI_TRY(read_item(text, size, &level, least, err));
        text += size + (text[size] == ',');
    }
    for (int i = 0; i <= ORDINARY; i++)
        __atomic_store_n(&leati_log_least[i], least[i], __ATOMIC_RELAXED);
    return LEAT_OK;
}

static void read_environment(void) {
    const char *text = getenv("LEAT_LOG");
    leat_error err = {0};
    if (set_levels(text != NULL ? text : "", &err) != LEAT_OK) {
        /* The defaults: otherwise the levels would be zeros, and zero is debug, for every
         * category. */
        (void)set_levels("", &(leat_error){0});
        char line[LINE_SIZE];
        snprintf(line, sizeof line, "the environment's LEAT_LOG is not used: %s", err.text);
        write_line(LEAT_LOG_WARNING, line);
    }
}

leat_status leat_log_set_levels(const char *levels, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    pthread_once(&environment_once, read_environment);
    return set_levels(levels != NULL ? levels : "", err);
}

bool leati_log_ask(int category, leat_log_level level) {
    pthread_once(&environment_once, read_environment);
    return (int)level >= __atomic_load_n(&leati_log_least[category], __ATOMIC_RELAXED);
}

// ---- lines ----

static void log_arguments(leat_log_level level, const char *format, va_list arguments) {
    char line[LINE_SIZE];
    if (leati_log_ask(ORDINARY, level) && vsnprintf(line, sizeof line, format, arguments) >= 0)
        write_line(level, line);
}

void leati_log(leat_log_level level, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    log_arguments(level, format, arguments);
    va_end(arguments);
}

void leati_log_once(int *flag, leat_log_level level, const char *format, ...) {
    /* The flag is set also where the line is not wanted: it counts events, not lines. */
    if (__atomic_exchange_n(flag, 1, __ATOMIC_RELAXED) != 0)
        return;
    va_list arguments;
    va_start(arguments, format);
    log_arguments(level, format, arguments);
    va_end(arguments);
}

void leati_log_decision(leati_log_category category, leat_log_level level, const char *format,
                        ...) {
    char line[LINE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    int used = snprintf(line, sizeof line, "%s: ", leati_log_categories[category].name);
    int added = vsnprintf(line + used, sizeof line - (size_t)used, format, arguments);
    va_end(arguments);
    if (added >= 0)
        write_line(level, line);
}
