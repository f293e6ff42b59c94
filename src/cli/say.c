/* Messages of the tool. Each is built first and written by one call, so that lines of two threads
 * do not mix. A message longer than its buffer is cut. No locks but those of stdio. */
#include "cli/say.h"

#include "cli/progress.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Characters that tell a terminal what to do become escapes: names of files come from strangers.
 * `out` has room for four times the text. */
static void escape(const char *text, char *out) {
    for (; *text != 0; text++)
        if (((unsigned char)*text < 0x20 && *text != '\n' && *text != '\t') || *text == 0x7f)
            out += sprintf(out, "\\x%02x", (unsigned)*text);
        else
            *out++ = *text;
    *out = 0;
}

void leati_say_error(const char *format, ...) {
    char text[1024];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(text, sizeof text, format, list);
    va_end(list);
    /* So that on a terminal the message stands behind what was printed before it. */
    (void)fflush(stdout);
    leati_progress_hide();
    char shown[4 * sizeof text];
    escape(text, shown);
    fprintf(stderr, "leat: %s\n", shown);
}

void leati_say_failure(const leat_error *err) {
    leati_say_error("%s", err->text[0] ? err->text : leat_status_name(err->code));
}

bool leati_say_is_terminal(void) {
    return isatty(STDOUT_FILENO) == 1;
}

void leati_say_again(int64_t i, bool plain) {
    if (plain)
        return;
    if (leati_say_is_terminal())
        fputs("\033[H\033[J", stdout);
    else if (i > 0)
        putchar('\n');
}

const char *leati_say_count(int64_t number, char text[32]) {
    char digits[24];
    int size = snprintf(digits, sizeof digits, "%" PRId64, number);
    int sign = digits[0] == '-', at = 0;
    for (int i = 0; i < size; i++) {
        /* Counted from the end, and none before the first digit. */
        if (i > sign && (size - i) % 3 == 0)
            text[at++] = ',';
        text[at++] = digits[i];
    }
    text[at] = 0;
    return text;
}

bool leati_say_finish(void) {
    /* An error may also have happened in a write long ago, which only the stream remembers. */
    bool failed = fflush(stdout) != 0;
    if (!failed && !ferror(stdout))
        return true;
    leati_say_error("cannot write to standard output: %s",
                    failed ? strerror(errno) : "an earlier write failed");
    return false;
}
