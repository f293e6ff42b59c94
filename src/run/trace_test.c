/* Traces: off, on, overflowing rings, threads that end, odd names. */
#include "support/cmocka.h"

#include "base/alloc.h"
#include "base/error.h"
#include "run/driver.h"
#include "run/queue.h"
#include "run/trace.h"
#include "support/refused.h"
#include "support/torture.h"

#include <unistd.h>

static char path[64];

static int make_file(void **state) {
    snprintf(path, sizeof path, "/tmp/leat-trace-XXXXXX");
    int file = mkstemp(path);
    if (file < 0)
        return -1;
    close(file);
    return torture_setup(state);
}

static int remove_file(void **state) {
    leati_trace_fini();
    unlink(path);
    return torture_teardown(state);
}

/* The whole file; the caller frees it. */
static char *written(void) {
    leat_error err = {0};
    assert_int_equal(leat_trace_write(path, &err), LEAT_OK);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    rewind(file);
    char *text = leati_alloc(size + 1, 1);
    assert_int_equal(fread(text, 1, size, file), size);
    text[size] = '\0';
    fclose(file);
    assert_memory_equal(text, "{\"traceEvents\":[\n", 17);
    assert_string_equal(text + size - 4, "\n]}\n");
    return text;
}

static int count(const char *text, const char *part) {
    int found = 0;
    for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part))
        found++;
    return found;
}

static void span(const char *name) {
    leati_span begun = leati_trace_begin();
    leati_trace_end(begun, "test", name);
}

static void off_records_nothing(void **state) {
    (void)state;
    span("early");
    leat_trace_start();
    leati_span across = leati_trace_begin();
    leat_trace_stop();
    leati_trace_end(across, "test", "across"); /* begun while on: kept */
    span("late");
    char *text = written();
    assert_int_equal(count(text, "early") + count(text, "late"), 0);
    assert_int_equal(count(text, "{\"ph\":\"X\",\"name\":\"across\",\"cat\":\"test\",\"pid\":"), 1);
    leati_free(text);
}

static void names_are_escaped_and_cut(void **state) {
    (void)state;
    leat_trace_start();
    span("map \"a\\b\"\n\xC3\xA9");
    span("0123456789012345678901234567890123456789012345678901234567890");
    char *text = written();
    assert_int_equal(count(text, "\"map \\\"a\\\\b\\\"???\""), 1);
    assert_int_equal(count(text, "\"01234567890123456789012345678901234567890123456\""), 1);
    leati_free(text);
}

static void rings_keep_the_last(void **state) {
    (void)state;
    leat_trace_start();
    for (int i = 0; i < 5000; i++) {
        char name[24];
        snprintf(name, sizeof name, "span-%d", i);
        span(name);
    }
    char *text = written();
    assert_int_equal(count(text, "\"ph\":\"X\""), 4096);
    assert_int_equal(count(text, "\"span-903\""), 0);
    assert_int_equal(count(text, "\"span-904\""), 1);
    assert_int_equal(count(text, "\"span-4999\""), 1);
    leati_free(text);
}

static void trace_once(void *context) {
    span(context);
}

static void threads_leave_their_rings(void **state) {
    (void)state;
    leat_trace_start();
    for (int i = 0; i < 10; i++)
        leati_driver_join(
            leati_driver_start("worker-thread", trace_once, "work", &(leat_error){0}));
    assert_int_equal(torture_live(), 1); /* one ring served all ten */
    char *text = written();
    assert_int_equal(count(text, "\"name\":\"work\""), 10);
    assert_true(count(text, "\"args\":{\"name\":\"worker-thread\"}") >= 1);
    leati_free(text);
    leati_trace_fini();
    leat_trace_start();
    span("after");
    text = written();
    assert_int_equal(count(text, "\"ph\":\"X\""), 1);
    leati_free(text);
}

static void trace_many(void *context) {
    (void)context;
    for (int i = 0; i < 1000; i++)
        span("many");
}

static void writing_while_tracing(void **state) {
    (void)state;
    leati_driver *drivers[3];
    leat_trace_start();
    for (int i = 0; i < 3; i++)
        drivers[i] = leati_driver_start("many", trace_many, NULL, &(leat_error){0});
    leati_free(written());
    for (int i = 0; i < 3; i++)
        leati_driver_join(drivers[i]);
    char *text = written();
    assert_int_equal(count(text, "\"name\":\"many\",\"cat\""), 3000); /* one ring holds them all */
    leati_free(text);
}

static void waits_are_traced(void **state) {
    (void)state;
    int found = 0;
    /* A thread that loses its core until the deadline has not waited: it tries again with more
     * time. */
    for (int64_t ms = 1; ms < 20000 && found == 0; ms *= 4) {
        leat_trace_start();
        leati_gate *gate = leati_queue_gate_new("prefetch", NULL, &(leat_error){0});
        leati_queue_gate_lock(gate);
        assert_int_equal(leati_queue_gate_wait(gate, LEATI_WAIT_INPUT, leati_clock_deadline_ns(ms),
                                               NULL, &(leat_error){0}),
                         LEAT_DEADLINE_EXCEEDED);
        leati_queue_gate_unlock(gate);
        leati_queue_gate_free(gate);
        char *text = written();
        found = count(text, "\"name\":\"prefetch\",\"cat\":\"input\"");
        leati_free(text);
    }
    assert_int_equal(found, 1);
}

static void failures_are_told(void **state) {
    (void)state;
    leat_error err = {0};
    assert_int_equal(leat_trace_write("/nonexistent/trace.json", &err), LEAT_UNKNOWN);
    assert_refused(&err, LEAT_UNKNOWN, LEAT_REASON_NONE, "/nonexistent/trace.json");
    leat_trace_start();
    span("lots");
    if (access("/dev/full", W_OK) == 0)
        assert_int_equal(leat_trace_write("/dev/full", &err), LEAT_UNKNOWN);
    leati_trace_fini();
    leat_trace_start();
    torture_fail_at(1);
    span("lost"); /* no memory for a ring: the span is dropped */
    torture_fail_at(0);
    assert_int_equal(torture_live(), 0);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, make_file, remove_file)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(off_records_nothing),       TEST(names_are_escaped_and_cut), TEST(rings_keep_the_last),
        TEST(threads_leave_their_rings), TEST(writing_while_tracing),     TEST(waits_are_traced),
        TEST(failures_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
