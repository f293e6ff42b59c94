/* The spans of a trace, for tests: those of one call, and what a training step's show about its
 * sums over replicas.
 *
 * Header only; include it after "support/cmocka.h". Whatever goes wrong fails the test.
 */
#ifndef TEST_SPANS_H
#define TEST_SPANS_H

#include <jansson.h>
#include <leat/base.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SPANS_UNUSED __attribute__((unused))

/* What is written since leat_trace_start; the caller drops the reference. Stops the trace. */
SPANS_UNUSED static json_t *spans_stop(void) {
    leat_error err = {0};
    json_error_t wrong;
    char path[64] = "/tmp/leat-spans-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    leat_trace_stop();
    assert_int_equal(leat_trace_write(path, &err), LEAT_OK);
    json_t *root = json_load_file(path, 0, &wrong);
    assert_non_null(root);
    unlink(path);
    json_t *events = json_incref(json_object_get(root, "traceEvents"));
    json_decref(root);
    return events;
}

/* Is it a span of this category whose name begins so? */
SPANS_UNUSED static bool spans_match(const json_t *event, const char *category, const char *name) {
    const char *its_name = json_string_value(json_object_get(event, "name"));
    const char *its_category = json_string_value(json_object_get(event, "cat"));
    return its_category != NULL && strcmp(its_category, category) == 0 &&
           strncmp(its_name, name, strlen(name)) == 0;
}

SPANS_UNUSED static int spans_count(const json_t *events, const char *category, const char *name) {
    int count = 0;
    for (size_t i = 0; i < json_array_size(events); i++)
        count += spans_match(json_array_get(events, i), category, name);
    return count;
}

SPANS_UNUSED static double spans_number(const json_t *event, const char *key) {
    return json_number_value(json_object_get(event, key));
}

/* The span on the thread of `like`; NULL: none. */
SPANS_UNUSED static const json_t *spans_beside(const json_t *events, const json_t *like,
                                               const char *category, const char *name) {
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *event = json_array_get(events, i);
        if (spans_match(event, category, name) &&
            spans_number(event, "tid") == spans_number(like, "tid"))
            return event;
    }
    return NULL;
}

/* Of one step: every pack begins while its replica's backward pass runs, and is summed on a thread
 * that computes nothing. */
SPANS_UNUSED static void spans_check_overlap(const json_t *events, int replicas) {
    assert_int_equal(spans_count(events, "step", "forward"), replicas);
    assert_int_equal(spans_count(events, "step", "backward"), replicas);
    assert_int_equal(spans_count(events, "step", "update"), replicas);
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *event = json_array_get(events, i);
        if (spans_match(event, "reduce", "all_reduce of"))
            assert_null(spans_beside(events, event, "step", "backward"));
        if (!spans_match(event, "reduce", "begin pack"))
            continue;
        const json_t *backward = spans_beside(events, event, "step", "backward");
        assert_non_null(backward);
        double start = spans_number(backward, "ts"), end = start + spans_number(backward, "dur");
        assert_true(spans_number(event, "ts") >= start && spans_number(event, "ts") < end);
    }
    assert_true(spans_count(events, "reduce", "all_reduce of") >=
                spans_count(events, "reduce", "begin pack"));
}

#endif
