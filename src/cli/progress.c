/* Progress of long work.
 *
 * The first line comes after half a second, so that short work shows none, and then ten times a
 * second at most. What else the tool says takes the line away first (cli/say). No locks: the thread
 * that works is the one that says. */
#include "cli/progress.h"

#include "base/clock.h"
#include "base/minmax.h"
#include "cli/say.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIRST_NS 500000000
#define EVERY_NS 100000000
#define BAR 24

/* Whether a line stands there now, of whichever work. */
static bool is_shown;

static bool is_wanted(void) {
    const char *term = getenv("TERM");
    return isatty(STDERR_FILENO) == 1 && term != NULL && strcmp(term, "dumb") != 0;
}

void leati_progress_start(leati_progress *progress, const char *what, int64_t total) {
    int64_t now = leati_now_ns();
    /* Without a terminal it never is time. */
    *progress = (leati_progress){what, total, now,
                                 is_wanted() ? now + FIRST_NS - EVERY_NS : INT64_MAX - EVERY_NS};
}

static void say_time(double seconds, char *out, size_t size) {
    int64_t whole = (int64_t)(seconds + 0.5);
    if (whole >= 3600)
        (void)snprintf(out, size, "%" PRId64 ":%02d:%02d left", whole / 3600,
                       (int)(whole / 60 % 60), (int)(whole % 60));
    else
        (void)snprintf(out, size, "%d:%02d left", (int)(whole / 60), (int)(whole % 60));
}

const char *leati_progress_line(const char *what, int64_t done, int64_t total, double seconds,
                                char out[LEATI_PROGRESS_LINE]) {
    char counts[2][32], left[32] = "", bar[BAR + 1];
    leati_say_count(done, counts[0]);
    if (total <= 0) {
        (void)snprintf(out, LEATI_PROGRESS_LINE, "%s %s", counts[0], what);
        return out;
    }
    /* More may be found than there seemed to be. */
    double share = LEATI_MIN((double)done / (double)total, 1.0);
    size_t full = (size_t)(share * BAR);
    memset(bar, '#', full);
    memset(bar + full, '-', BAR - full);
    bar[BAR] = 0;
    /* A day and more is a guess that helps nobody. */
    if (share > 0 && seconds * (1 - share) / share < 86400)
        say_time(seconds * (1 - share) / share, left, sizeof left);
    (void)snprintf(out, LEATI_PROGRESS_LINE, "%3d%% [%s] %s of %s %s%s%s", (int)(share * 100), bar,
                   counts[0], leati_say_count(total, counts[1]), what, left[0] ? ", " : "", left);
    return out;
}

void leati_progress_at(leati_progress *progress, int64_t done) {
    int64_t now = leati_now_ns();
    if (now < progress->shown_ns + EVERY_NS)
        return;
    char line[LEATI_PROGRESS_LINE];
    double seconds = (double)(now - progress->started_ns) * 1e-9;
    (void)fflush(stdout);
    fprintf(stderr, "\r\033[K%s",
            leati_progress_line(progress->what, done, progress->total, seconds, line));
    (void)fflush(stderr);
    progress->shown_ns = now;
    is_shown = true;
}

void leati_progress_hide(void) {
    if (!is_shown)
        return;
    is_shown = false;
    fputs("\r\033[K", stderr);
    (void)fflush(stderr);
}
