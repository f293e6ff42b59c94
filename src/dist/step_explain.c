/* The table of a step: where the time of replica 0's executables went.
 *
 * Happy path: each executable says how much memory its values are given, and "operation
 * implementation nanoseconds" line by line; lines of the same operation and implementation are
 * added up, also over the executables of several shapes, and sorted by time. Failures: memory. No
 * locks. */
#include "dist/step_explain.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMORY "memory:"
#define STAGE "stage: "

struct part {
    const char *name; /* borrowed from the lines: the operation */
    size_t name_size;
    const char *how; /* its implementation */
    size_t how_size;
    int64_t ns;
    int count; /* operations in the graphs */
};

struct parts {
    struct part *list;
    size_t count, capacity;
};

static bool same(const struct part *a, const struct part *b) {
    return a->name_size == b->name_size && a->how_size == b->how_size &&
           memcmp(a->name, b->name, a->name_size) == 0 && memcmp(a->how, b->how, a->how_size) == 0;
}

static bool is_memory(const char *line) {
    return strncmp(line, MEMORY, strlen(MEMORY)) == 0;
}

/* Splits a line at its first and its last blank; false if it has no time. */
static bool read_line(const char *line, size_t size, struct part *out) {
    size_t first = 0, last = size;
    while (first < size && line[first] != ' ')
        first++;
    while (last > first && line[last - 1] != ' ')
        last--;
    if (last <= first + 1)
        return false;
    /* Operation names have no blanks; implementations may, so the time is behind the last one. */
    *out = (struct part){
        line, first, line + first + 1, last - first - 2, strtoll(line + last, NULL, 10), 1};
    return out->ns > 0;
}

static bool add(struct parts *parts, const struct part *part) {
    for (size_t i = 0; i < parts->count; i++) {
        if (same(&parts->list[i], part)) {
            parts->list[i].ns += part->ns;
            parts->list[i].count++;
            return true;
        }
    }
    void *list = parts->list;
    if (!leati_grow(&list, &parts->capacity, parts->count + 1, sizeof *parts->list))
        return false;
    parts->list = list;
    parts->list[parts->count++] = *part;
    return true;
}

static int by_time(const void *a, const void *b) {
    int64_t left = ((const struct part *)a)->ns, right = ((const struct part *)b)->ns;
    /* Falling, without a difference that could overflow. */
    return (left < right) - (left > right);
}

static void print(leati_text *text, const struct parts *parts) {
    int64_t whole = 0;
    for (size_t i = 0; i < parts->count; i++)
        whole += parts->list[i].ns;
    leati_text_addf(text, "%-42s %-26s %9s %7s\n", "operation", "implementation", "ms", "share");
    for (size_t i = 0; i < parts->count; i++) {
        const struct part *part = &parts->list[i];
        char times[16] = "";
        if (part->count > 1)
            (void)snprintf(times, sizeof times, " (%d)", part->count);
        /* The count stays readable: the name is cut in its favour. */
        int room = 42 - (int)strlen(times);
        int size = part->name_size < (size_t)room ? (int)part->name_size : room;
        leati_text_addf(text, "%.*s%-*s %-26.*s %9.3f %6.1f%%\n", size, part->name, 42 - size,
                        times, (int)part->how_size, part->how, (double)part->ns * 1e-6,
                        100.0 * (double)part->ns / (double)whole);
    }
}

/* Adds what a line "memory: GIVEN NEEDED" says. */
static void print_memory(leati_text *text, const char *line) {
    char *end = NULL;
    double given = strtod(line + strlen(MEMORY), &end) * 1e-6, needed = strtod(end, NULL) * 1e-6;
    leati_text_addf(text, "%.3f MB for what lives during the step; at least %.3f MB are needed\n",
                    given, needed);
}

void leati_step_add_times(const char *lines, leat_step_times *times) {
    static const char *const names[] = {"forward ", "backward ", "reduce ", "update "};
    int64_t *const to[] = {&times->forward_ns, &times->backward_ns, &times->reduce_ns,
                           &times->update_ns};
    for (const char *line = lines; *line; line += strcspn(line, "\n"), line += *line == '\n')
        for (size_t i = 0; strncmp(line, STAGE, strlen(STAGE)) == 0 && i < 4; i++)
            if (strncmp(line + strlen(STAGE), names[i], strlen(names[i])) == 0)
                *to[i] += strtoll(line + strlen(STAGE) + strlen(names[i]), NULL, 10);
}

char *leati_step_table(const char *lines, leat_error *err) {
    struct parts parts = {0};
    bool good = true;
    for (const char *line = lines; good && *line;) {
        size_t size = strcspn(line, "\n");
        struct part part;
        if (!is_memory(line) && strncmp(line, STAGE, strlen(STAGE)) != 0 &&
            read_line(line, size, &part))
            good = add(&parts, &part);
        line += size + (line[size] == '\n');
    }
    if (parts.count > 0)
        qsort(parts.list, parts.count, sizeof *parts.list, by_time);
    leati_text text = {.failed = !good};
    print(&text, &parts);
    for (const char *line = lines; *line; line += strcspn(line, "\n"), line += *line == '\n')
        if (is_memory(line))
            print_memory(&text, line);
    leati_free(parts.list);
    char *result = leati_text_take(&text);
    if (result == NULL)
        leati_no_memory(err);
    return result;
}
