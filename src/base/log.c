/* Log lines.
 *
 * A line is formatted on the stack, cut at its end if it is longer, and handed to the user's
 * function, or to stderr as "leat: warning: ...". The lock guards only the pair of function and
 * context: it is not held while the function runs. */
#define _GNU_SOURCE
#include "base/log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

#define LINE_SIZE 1024

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static leat_log_function sink; /* lock; NULL: stderr */
static void *sink_context;     /* lock */

void leat_set_log(leat_log_function function, void *context) {
    pthread_mutex_lock(&lock);
    sink = function;
    sink_context = context;
    pthread_mutex_unlock(&lock);
}

static const char *level_name(leat_log_level level) {
    switch (level) {
    case LEAT_LOG_INFO: return "info";
    case LEAT_LOG_WARNING: return "warning";
    default: return "error";
    }
}

static void log_arguments(leat_log_level level, const char *format, va_list arguments) {
    char line[LINE_SIZE];
    if (vsnprintf(line, sizeof line, format, arguments) < 0)
        return;
    pthread_mutex_lock(&lock);
    leat_log_function function = sink;
    void *context = sink_context;
    pthread_mutex_unlock(&lock);
    if (function != NULL)
        function(context, level, line);
    else
        fprintf(stderr, "leat: %s: %s\n", level_name(level), line);
}

void leati_log(leat_log_level level, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    log_arguments(level, format, arguments);
    va_end(arguments);
}

void leati_log_once(int *flag, leat_log_level level, const char *format, ...) {
    if (__atomic_exchange_n(flag, 1, __ATOMIC_RELAXED) != 0)
        return;
    va_list arguments;
    va_start(arguments, format);
    log_arguments(level, format, arguments);
    va_end(arguments);
}
