/* Error text, status names, text, log lines, clock, version. */
#include "support/cmocka.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "support/torture.h"

static void status_names(void **state) {
    (void)state;
    assert_string_equal(leat_status_name(LEAT_OK), "OK");
    assert_string_equal(leat_status_name(LEAT_DATA_LOSS), "DATA_LOSS");
    assert_string_equal(leat_status_name(LEAT_UNAUTHENTICATED), "UNAUTHENTICATED");
    assert_string_equal(leat_status_name((leat_status)17), "UNKNOWN");
    assert_string_equal(leat_status_name((leat_status)-1), "UNKNOWN");
    assert_string_equal(leat_version(), "0.1.0");
}

static void failure_is_written(void **state) {
    (void)state;
    leat_error err = {0};
    assert_int_equal(leati_fail(&err, LEAT_NOT_FOUND, "file %s", "a"), LEAT_NOT_FOUND);
    assert_int_equal(err.code, LEAT_NOT_FOUND);
    assert_string_equal(err.text, "file a");
    assert_int_equal(leati_prefix(&err, "element %d", 17), LEAT_NOT_FOUND);
    assert_string_equal(err.text, "element 17: file a");
    assert_int_equal(leati_fail(&err, LEAT_ABORTED, "gave up: %s", err.text), LEAT_ABORTED);
    assert_string_equal(err.text, "gave up: element 17: file a");
}

/* The text names the size that was refused, where one was. */
static void missing_memory(void **state) {
    (void)state;
    torture_begin();
    leat_error err = {0};
    assert_int_equal(leati_no_memory(&err), LEAT_RESOURCE_EXHAUSTED);
    assert_memory_equal(err.text, "out of memory; use ", 19);
    torture_fail_at(1);
    assert_null(leati_alloc(512, 8));
    assert_int_equal(leati_alloc_refused(), 4096);
    assert_int_equal(leati_no_memory(&err), LEAT_RESOURCE_EXHAUSTED);
    assert_memory_equal(err.text, "out of memory: 4096 bytes were refused; ", 40);
    assert_int_equal(leati_alloc_refused(), 0);
    torture_fail_at(1);
    assert_null(leati_alloc(9, 1));
    leati_no_memory(leati_error_unwanted(&err));
    assert_int_equal(leati_alloc_refused(), 9);
    assert_null(leati_alloc(SIZE_MAX, 2));
    leati_no_memory(&err);
    assert_memory_equal(err.text, "out of memory; use ", 19);
    torture_fail_at(1);
    assert_null(leati_alloc_zero(3, 5));
    assert_int_equal(leati_alloc_refused(), 15);
    torture_fail_at(1);
    assert_null(leati_alloc_aligned(70, 64));
    assert_int_equal(leati_alloc_refused(), 70);
    torture_fail_at(1);
    assert_null(leati_alloc_resize(NULL, 2, 9));
    assert_int_equal(leati_alloc_refused(), 18);
    leati_alloc_refused_forget();
    assert_int_equal(leati_alloc_refused(), 0);
    torture_end();
}

static void long_text_is_cut(void **state) {
    (void)state;
    char exact[LEAT_ERROR_TEXT];
    memset(exact, 'x', sizeof exact - 1);
    exact[sizeof exact - 1] = '\0';
    leat_error err = {0};
    leati_fail(&err, LEAT_UNKNOWN, "%s", exact);
    assert_string_equal(err.text, exact);
    leati_fail(&err, LEAT_UNKNOWN, "%sy", exact);
    assert_int_equal(strlen(err.text), 511);
    assert_string_equal(err.text + 506, "xx...");
    for (int i = 0; i < 20; i++)
        leati_prefix(&err, "level %d", i);
    assert_int_equal(strlen(err.text), 511);
    assert_memory_equal(err.text, "level 19: level 18: ", 20);
    /* U+20AC takes three bytes: the cut falls between characters. */
    char euros[3 * 300 + 1];
    for (int i = 0; i < 300; i++)
        memcpy(euros + 3 * i, "\xE2\x82\xAC", 4);
    for (int shift = 0; shift < 3; shift++) {
        leati_fail(&err, LEAT_UNKNOWN, "%.*s%s", shift, "ab", euros);
        size_t length = strlen(err.text);
        assert_true(length >= 509 && length <= 511);
        assert_memory_equal(err.text + length - 6, "\xE2\x82\xAC...", 6);
    }
}

static void text_grows(void **state) {
    (void)state;
    leati_text text = {0};
    leati_text_add(&text, "", 0);
    assert_string_equal(text.data, "");
    for (int i = 0; i < 100; i++)
        leati_text_addf(&text, "%d,", i);
    assert_int_equal(text.size, 290);
    leati_text_addf(&text, "%0500d", 5);
    assert_int_equal(text.size, 790);
    assert_int_equal(text.data[789], '5');
    char *taken = leati_text_take(&text);
    assert_int_equal(strlen(taken), 790);
    assert_null(text.data);
    leati_free(taken);
    taken = leati_text_take(&text);
    assert_string_equal(taken, "");
    leati_free(taken);
}

static void text_is_quoted(void **state) {
    (void)state;
    leati_text text = {0};
    leati_text_add_quoted(&text, "a\"b\\c\n\0\xFF~", 9);
    assert_string_equal(text.data, "\"a\\\"b\\\\c\\x0a\\x00\\xff~\"");
    leati_text_fini(&text);
    leati_text_fini(&text);
}

static leat_status print_text(void *context, leat_error *err) {
    (void)context;
    leati_text text = {0};
    for (int i = 0; i < 100; i++)
        leati_text_addf(&text, "%d", i);
    leati_text_addf(&text, "%0400d", 1);
    leati_text_add_quoted(&text, "\n", 1);
    bool failed = text.failed;
    char *taken = leati_text_take(&text);
    assert_int_equal(taken == NULL, failed);
    leati_free(taken);
    return failed ? leati_no_memory(err) : LEAT_OK;
}

static void text_survives_failures(void **state) {
    (void)state;
    torture_run(print_text, NULL);
}

struct lines {
    int count;
    leat_log_level level;
    char last[2048];
};

static void take_line(void *context, leat_log_level level, const char *line) {
    struct lines *lines = context;
    lines->count++;
    lines->level = level;
    snprintf(lines->last, sizeof lines->last, "%s", line);
}

static void log_goes_to_the_hook(void **state) {
    (void)state;
    struct lines lines = {0};
    leat_log_set(take_line, &lines);
    leati_log(LEAT_LOG_WARNING, "disk %s", "full");
    assert_int_equal(lines.count, 1);
    assert_int_equal(lines.level, LEAT_LOG_WARNING);
    assert_string_equal(lines.last, "disk full");
    int flag = 0;
    for (int i = 0; i < 3; i++)
        leati_log_once(&flag, LEAT_LOG_INFO, "once %d", i);
    assert_int_equal(lines.count, 2);
    assert_string_equal(lines.last, "once 0");
    leati_log(LEAT_LOG_ERROR, "%02000d", 0);
    assert_int_equal(strlen(lines.last), 1023);
    leat_log_set(NULL, NULL);
}

static void clocks_advance(void **state) {
    (void)state;
    int64_t start = leati_now_ns();
    int64_t cpu = leati_clock_thread_ns();
    assert_true(start > 0);
    while (leati_clock_thread_ns() - cpu < 1000000) {
    }
    assert_true(leati_now_ns() - start >= 1000000);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, torture_setup, torture_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(status_names),           TEST(failure_is_written),   TEST(missing_memory),
        TEST(long_text_is_cut),       TEST(text_grows),           TEST(text_is_quoted),
        TEST(text_survives_failures), TEST(log_goes_to_the_hook), TEST(clocks_advance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
