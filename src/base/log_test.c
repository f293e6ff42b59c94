/* Which log lines are wanted: the syntax of LEAT_LOG, its mistakes, and silence where nothing was
 * asked for. */
#include "support/cmocka.h"

#include "base/log.h"
#include "support/refused.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct lines {
    int count;
    leat_log_level level;
    char last[1200];
};

static void take_line(void *context, leat_log_level level, const char *line) {
    struct lines *lines = context;
    lines->count++;
    lines->level = level;
    snprintf(lines->last, sizeof lines->last, "%s", line);
}

static int evaluated;

static int evaluate(void) {
    return ++evaluated;
}

/* How many of the four levels of a category are told, as "0" to "4". */
static int levels_told(int category) {
    int told = 0;
    for (leat_log_level level = LEAT_LOG_DEBUG; level <= LEAT_LOG_ERROR; level++)
        told += leati_log_ask(category, level);
    return told;
}

/* The same for every category in order, and then for what is no decision. */
static const char *told_by(const char *levels) {
    static char text[LEATI_LOG_NUM_CATEGORIES + 2];
    leat_error err = {0};
    if (leat_log_set_levels(levels, &err) != LEAT_OK)
        fail_msg("%s", err.text);
    for (int c = 0; c <= LEATI_LOG_NUM_CATEGORIES; c++)
        text[c] = (char)('0' + levels_told(c));
    return text;
}

static void syntax(void **state) {
    (void)state;
    assert_string_equal(told_by(NULL), "00000003");
    assert_string_equal(told_by(""), "00000003");
    assert_string_equal(told_by("debug"), "44444444");
    assert_string_equal(told_by("warning"), "22222222");
    assert_string_equal(told_by("debug:data,dist"), "40000403");
    assert_string_equal(told_by("info:coll"), "00003003");
    assert_string_equal(told_by("error,info:coll,debug:image"), "11413111");
    assert_string_equal(told_by(NULL), "00000003");
}

static void mistakes(void **state) {
    (void)state;
    static const struct {
        const char *levels, *keyword;
    } cases[] = {
        {"debgu", "\"debgu\""},          {"data", "\"data\""},     {":data", "\"\""},
        {"loud:data", "\"loud\""},       {"debug:dta", "\"dta\""}, {"debug:", "\"\""},
        {"debug:data,info", "\"info\""}, {"debug,,info", "\"\""},
    };
    assert_string_equal(told_by("info:file"), "03000003");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        leat_error err = {0};
        assert_int_equal(leat_log_set_levels(cases[i].levels, &err), LEAT_INVALID_ARGUMENT);
        assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, cases[i].keyword);
        assert_int_equal(levels_told(LEATI_LOG_FILE), 3);
        assert_int_equal(levels_told(LEATI_LOG_DATA), 0);
    }
    assert_int_equal(leat_log_set_levels("debgu", NULL), LEAT_INVALID_ARGUMENT);
}

static void decisions(void **state) {
    (void)state;
    struct lines lines = {0};
    leat_log_set(take_line, &lines);
    (void)told_by(NULL);
    int flag = 0;
    LEATI_TELL(DIST, INFO, "policy %d", evaluate());
    LEATI_TELL_ONCE(&flag, DIST, INFO, "policy %d", evaluate());
    assert_int_equal(lines.count, 0);
    assert_int_equal(evaluated, 0);
    (void)told_by("info:dist");
    LEATI_TELL(DIST, DEBUG, "policy %d", evaluate());
    LEATI_TELL(DATA, ERROR, "policy %d", evaluate());
    assert_int_equal(evaluated, 0);
    LEATI_TELL(DIST, INFO, "policy %d", evaluate());
    assert_string_equal(lines.last, "dist: policy 1");
    assert_int_equal(lines.level, LEAT_LOG_INFO);
    for (int i = 0; i < 3; i++)
        LEATI_TELL_ONCE(&flag, DIST, INFO, "once %d", i);
    assert_string_equal(lines.last, "dist: once 0");
    assert_int_equal(lines.count, 2);
    LEATI_TELL(DIST, INFO, "%02000d", 0);
    assert_int_equal(strlen(lines.last), 1023);
    leat_log_set(NULL, NULL);
    (void)told_by(NULL);
}

static void levels_of_other_lines(void **state) {
    (void)state;
    struct lines lines = {0};
    leat_log_set(take_line, &lines);
    (void)told_by("error,debug:data");
    leati_log(LEAT_LOG_WARNING, "disk full");
    assert_int_equal(lines.count, 0);
    leati_log(LEAT_LOG_ERROR, "disk on fire");
    assert_int_equal(lines.count, 1);
    (void)told_by(NULL);
    leati_log(LEAT_LOG_DEBUG, "a detail");
    assert_int_equal(lines.count, 1);
    leati_log(LEAT_LOG_INFO, "no effect");
    assert_int_equal(lines.count, 2);
    leat_log_set(NULL, NULL);
}

/* The environment is read once, by whoever asks first; so this test is the first. */
static void environment(void **state) {
    (void)state;
    struct lines lines = {0};
    setenv("LEAT_LOG", "debug:dat", 1);
    leat_log_set(take_line, &lines);
    LEATI_TELL(DATA, ERROR, "policy");
    assert_int_equal(lines.count, 1);
    assert_int_equal(lines.level, LEAT_LOG_WARNING);
    assert_string_equal(lines.last, "the environment's LEAT_LOG is not used: \"dat\" is no "
                                    "category of log lines; there are data, file, image, exec, "
                                    "coll, dist, service");
    LEATI_TELL(DATA, ERROR, "policy");
    assert_int_equal(lines.count, 1);
    leat_log_set(NULL, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(environment),
        cmocka_unit_test(syntax),
        cmocka_unit_test(mistakes),
        cmocka_unit_test(decisions),
        cmocka_unit_test(levels_of_other_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
