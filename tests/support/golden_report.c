/* Verdicts: one line per failure, counts at the end, and why cases were skipped. No locks: the
 * runner is one thread. */
#include "golden.h"
#include <stdarg.h>
#include <string.h>

bool golden_begin(golden_case *c, golden_run *run, const char *file, const char *name) {
    *c = (golden_case){.run = run, .file = file};
    snprintf(c->name, sizeof c->name, "%s", name);
    return run->one == NULL || strcmp(run->one, name) == 0;
}

/* Texts of failures that only a build without one of the optional libraries has. */
static bool is_left_out(const char *text) {
    return strstr(text, "was left out of this build") != NULL ||
           strstr(text, "this library was built without") != NULL;
}

void golden_fail(golden_case *c, const char *format, ...) {
    char text[2000];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (is_left_out(text))
        golden_missing(c, "a library that was left out of this build");
    c->failed = true;
    if (c->missing[0] == '\0')
        printf("FAIL %s %s%s%s: %s\n", c->file, c->name, c->mode != NULL ? " in mode " : "",
               c->mode != NULL ? c->mode : "", text);
}

void golden_missing(golden_case *c, const char *format, ...) {
    va_list args;
    va_start(args, format);
    if (c->missing[0] == '\0')
        vsnprintf(c->missing, sizeof c->missing, format, args);
    va_end(args);
}

static void count_reason(json_t *reasons, const char *reason) {
    json_int_t count = json_integer_value(json_object_get(reasons, reason));
    json_object_set_new(reasons, reason, json_integer(count + 1));
}

void golden_exclude(golden_case *c, const char *format, ...) {
    char text[300], reason[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    snprintf(reason, sizeof reason, "%s: %s", c->mode, text);
    count_reason(c->run->exclusions, reason);
    if (c->run->verbose)
        printf("not in mode %s: %s %s: %s\n", c->mode, c->file, c->name, text);
}

void golden_end(golden_case *c) {
    golden_run *run = c->run;
    if (c->missing[0] != '\0') {
        run->skipped++;
        count_reason(run->reasons, c->missing);
        if (run->verbose)
            printf("skip %s %s: %s\n", c->file, c->name, c->missing);
    } else if (c->failed) {
        run->failed++;
    } else if (c->deviates) {
        run->deviated++;
    } else {
        run->passed++;
    }
}

void golden_broken(golden_run *run, const char *format, ...) {
    va_list args;
    va_start(args, format);
    fputs("golden: ", stderr);
    vfprintf(stderr, format, args);
    fputs("\n", stderr);
    va_end(args);
    run->broken++;
}

static void print_reasons(const char *title, json_t *reasons) {
    const char *reason = NULL;
    json_t *count = NULL;
    if (json_object_size(reasons) > 0)
        printf("%s\n", title);
    json_object_foreach(reasons, reason, count) {
        printf("%6lld  %s\n", (long long)json_integer_value(count), reason);
    }
}

void golden_summary(const golden_run *run) {
    print_reasons("not run in a mode:", run->exclusions);
    print_reasons("skipped, by the first name that is missing:", run->reasons);
    printf("%d passed, %d deviations, %d failed, %d skipped\n", run->passed, run->deviated,
           run->failed, run->skipped);
}
