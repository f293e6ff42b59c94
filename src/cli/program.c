/* Looking at a program again and again: see program.h.
 *
 * Happy path: a handle of the process, which tells its end; then looks, each of which asks for the
 * pages anew, as the program may have closed one and opened another, and asks each page for its
 * state. A page makes its state anew once a second, so a look that comes sooner finds the same one,
 * and then the state before it remains what rates are of. Failures: those of finding the pages at
 * the first look; later what passes by waiting is said, and asked again. No locks. */
#include "cli/program.h"
#include "cli/pidfd.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "cli/program_table.h"
#include "cli/say.h"
#include "core/json.h"
#include "data/run/seen.h"
#include "web/get.h"
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ANSWER_MS = 5000, BEGIN_MS = 50 }; /* for one answer; between two tries of the first look */

struct looking {
    int pid, handle;
    json_t *pages; /* by address {"now": state, "before": state or null}, owned */
    leat_error err;
};

/* Has the process ended, now or within so many milliseconds? */
static bool has_ended(const struct looking *l, int64_t within_ms) {
    struct pollfd polled = {.fd = l->handle, .events = POLLIN};
    int64_t end_ns = leati_clock_deadline_ns(within_ms);
    for (;;) {
        int64_t left_ms = (end_ns - leati_now_ns()) / 1000000;
        int ready = poll(&polled, 1, left_ms < 0 ? 0 : (int)left_ms + 1);
        if (ready > 0 || (ready == 0 && leati_now_ns() >= end_ns))
            return ready > 0;
    }
}

/* ---- one look ---- */

/* Puts the state of a page, which is given, beside the one before it. */
static leat_status put_page(json_t *pages, const json_t *last, const char *url, json_t *state,
                            leat_error *err) {
    json_t *seen = json_object_get(json_object_get(last, url), "now"),
           *before = json_object_get(json_object_get(last, url), "before");
    bool same = seen != NULL &&
                json_equal(json_object_get(seen, "now_ms"), json_object_get(state, "now_ms"));
    json_t *page = json_pack("{s:o, s:O?}", "now", state, "before", same ? before : seen);
    return page != NULL && json_object_set_new(pages, url, page) == 0 ? LEAT_OK
                                                                      : leati_no_memory(err);
}

static leat_status ask_page(struct looking *l, json_t *pages, const char *url) {
    leati_text body = {0};
    const char *token = getenv("LEAT_WATCH_TOKEN");
    leat_status status = leati_web_get(
        url, "state", token != NULL && token[0] != '\0' ? token : NULL, ANSWER_MS, &body, &l->err);
    json_t *state = status == LEAT_OK
                        ? leati_json_parse(body.size > 0 ? body.data : "", body.size, &l->err)
                        : NULL;
    leati_text_fini(&body);
    if (status == LEAT_UNAUTHENTICATED)
        return leati_fail(&l->err, status,
                          "%s asks for the token that its program has; set LEAT_WATCH_TOKEN to it",
                          url);
    return state != NULL ? put_page(pages, l->pages, url, state, &l->err) : l->err.code;
}

/* Asks all pages; on failure the states are those of the last look. */
static leat_status look(struct looking *l) {
    leati_text urls = {0};
    l->err = (leat_error){0};
    leat_status status = leati_seen_read(l->pid, &urls, &l->err);
    char *lines = status == LEAT_OK ? leati_text_take(&urls) : NULL;
    json_t *pages = json_object();
    leati_text_fini(&urls);
    if (status == LEAT_OK && (lines == NULL || pages == NULL))
        status = leati_no_memory(&l->err);
    char *rest = NULL;
    for (char *url = status == LEAT_OK ? strtok_r(lines, "\n", &rest) : NULL;
         url != NULL && status == LEAT_OK; url = strtok_r(NULL, "\n", &rest))
        status = ask_page(l, pages, url);
    leati_free(lines);
    if (status == LEAT_OK) {
        json_decref(l->pages);
        l->pages = pages;
    } else {
        json_decref(pages);
    }
    return status;
}

/* The first one waits for a page that has just begun. */
static leat_status look_first(struct looking *l) {
    int64_t end_ns = leati_clock_deadline_ns(ANSWER_MS);
    leat_status status = look(l);
    while (status == LEAT_UNAVAILABLE && leati_now_ns() < end_ns && !has_ended(l, BEGIN_MS))
        status = look(l);
    return status;
}

/* ---- printing ---- */

static bool print(const struct looking *l, bool json) {
    leati_text out = {0};
    const char *url = NULL;
    json_t *page = NULL;
    json_object_foreach(l->pages, url, page) {
        const json_t *state = json_object_get(page, "now"),
                     *before = json_object_get(page, "before");
        if (!json && out.size > 0)
            leati_text_add(&out, "\n", 1);
        char *line = json ? leati_json_print(state, 0, false, &(leat_error){0}) : NULL;
        if (line != NULL)
            leati_text_addf(&out, "%s\n", line);
        else if (json)
            out.failed = true;
        else
            leati_program_table_write(url, state, json_is_object(before) ? before : NULL, &out);
        leati_free(line);
    }
    char *text = leati_text_take(&out);
    if (text == NULL)
        leati_say_error("out of memory");
    else
        fputs(text, stdout);
    leati_free(text);
    return text != NULL && fflush(stdout) == 0; /* the end of main says why */
}

/* Between two pipelines, or where it is stopped. */
static bool may_pass(leat_status status) {
    return status == LEAT_FAILED_PRECONDITION || status == LEAT_UNAVAILABLE ||
           status == LEAT_DEADLINE_EXCEEDED;
}

static leati_exit watch(struct looking *l, const leati_program_options *o) {
    int64_t interval_ms = o->interval > 0 ? (int64_t)(o->interval * 1e3) : 1000;
    leat_status status = look_first(l);
    bool ended = false;
    for (int64_t i = 0; !ended; i++) {
        if (status == LEAT_OK || i > 0)
            leati_say_again(i, o->json);
        if (status == LEAT_OK && !print(l, o->json))
            return LEATI_EXIT_FAILURE;
        if (status != LEAT_OK)
            leati_say_failure(&l->err);
        if (status != LEAT_OK && (i == 0 || !may_pass(status)))
            return LEATI_EXIT_FAILURE;
        if (i + 1 == o->count)
            return LEATI_EXIT_OK;
        ended = has_ended(l, interval_ms);
        status = ended ? LEAT_OK : look(l);
        /* Of a process that is ending the page goes first. */
        ended = ended || (status != LEAT_OK && has_ended(l, interval_ms));
    }
    if (!o->json)
        printf("process %d has ended\n", l->pid);
    return LEATI_EXIT_OK;
}

leati_exit leati_program_watch(int pid, const leati_program_options *options) {
    struct looking l = {.pid = pid, .handle = leati_pidfd_open(pid)};
    int number = errno;
    leati_exit code = LEATI_EXIT_FAILURE;
    if (l.handle >= 0) {
        code = watch(&l, options);
        (void)close(l.handle);
    } else if (look(&l) != LEAT_OK) { /* there is none, which this says better */
        leati_say_failure(&l.err);
    } else {
        leati_say_error("process %d: %s", pid, strerror(number));
    }
    json_decref(l.pages);
    return code;
}
