/* What an error says, and what it knows: code, reason, place, and the one sentence made of them. */
#include "support/cmocka.h"

#include "base/error.h"
#include <string.h>

static void says(const leat_error *err, const char *text, const char *message) {
    assert_string_equal(err->text, text);
    assert_string_equal(leat_error_message(err), message);
}

static void at_file(leat_error *err, const char *path, int64_t byte) {
    leati_error_at_file(err, path, strlen(path), byte, false);
}

/* The sentence in the order in which the parts of a place become known: file, function, operator.
 */
static void the_place_is_data(void **state) {
    (void)state;
    leat_error err = {0};
    leati_fail(&err, LEAT_INVALID_ARGUMENT, "not a JPEG: at byte 7: no");
    assert_int_equal(err.element, -1);
    at_file(&err, "a: element 1 of b", 93);
    says(&err, "a: element 1 of b at byte 93: not a JPEG: at byte 7: no",
         "not a JPEG: at byte 7: no");
    leati_error_at_function(&err, "user.c:41");
    leati_error_at_operator(&err, "map \"x\"", 17);
    says(
        &err,
        "map \"x\" (user.c:41): element 17 of a: element 1 of b at byte 93: not a JPEG: at byte 7: "
        "no",
        "not a JPEG: at byte 7: no");
    assert_string_equal(err.op, "map \"x\"");
    assert_string_equal(err.function, "user.c:41");
    assert_string_equal(err.file, "a: element 1 of b");
    assert_int_equal(err.element, 17);
    assert_int_equal(err.byte, 93);
    /* The innermost place counts. */
    leati_error_at_operator(&err, "batch", 2);
    leati_error_at_function(&err, "other.c:1");
    at_file(&err, "other", 1);
    assert_string_equal(err.op, "map \"x\"");
    assert_string_equal(err.file, "a: element 1 of b");
    assert_string_equal(err.function, "user.c:41");
    /* A new failure knows nothing of the old one. */
    leati_fail(&err, LEAT_ABORTED, "again: %s", err.op);
    says(&err, "again: map \"x\"", "again: map \"x\"");
    assert_string_equal(err.op, "");
    assert_string_equal(err.file, "");
    assert_string_equal(err.function, "");
    assert_int_equal(err.byte, -1);
}

static void parts_may_be_unknown(void **state) {
    (void)state;
    leat_error err = {0};
    leati_fail_in_file(&err, LEAT_DATA_LOSS, "f.gz", 37, true, "%s", "cut");
    says(&err, "f.gz at byte 37 (decompressed): cut", "cut");
    leati_error_at_operator(&err, "csv", 3);
    says(&err, "csv: element 3 of f.gz at byte 37 (decompressed): cut", "cut");
    assert_true(err.decompressed);
    leati_fail_in_file(&err, LEAT_NOT_FOUND, "f", -1, false, "no such file");
    says(&err, "f: no such file", "no such file");
    at_file(&err, "g", 4);
    assert_string_equal(err.file, "f");
    leati_fail(&err, LEAT_UNKNOWN, "why");
    at_file(&err, "", 4);
    leati_error_at_function(&err, "");
    leati_error_at_operator(&err, "range", 0);
    says(&err, "range: element 0: why", "why");
    assert_true(leati_error_has_operator(&err));
    /* A record that a user's function filled by hand. */
    err = (leat_error){.code = LEAT_UNKNOWN, .text = "by hand"};
    says(&err, "by hand", "by hand");
    leati_error_at_operator(&err, "map", 1);
    says(&err, "map: element 1: by hand", "by hand");
}

static void context_stands_in_front(void **state) {
    (void)state;
    leat_error err = {0};
    leati_fail(&err, LEAT_DATA_LOSS, "cut");
    leati_prefix(&err, "record %d", 3);
    says(&err, "record 3: cut", "record 3: cut");
    at_file(&err, "f", 5);
    leati_prefix(&err, "after 9 records");
    says(&err, "after 9 records: f at byte 5: record 3: cut", "record 3: cut");
    leati_error_at_operator(&err, "reader", 1);
    says(&err, "reader: element 1 of f at byte 5: after 9 records: record 3: cut",
         "after 9 records: record 3: cut");
    leati_prefix(&err, "worker 1");
    says(&err, "worker 1: reader: element 1 of f at byte 5: after 9 records: record 3: cut",
         "after 9 records: record 3: cut");
    leati_error_wrap(&err, LEAT_INTERNAL, "it failed");
    assert_int_equal(err.code, LEAT_INTERNAL);
    says(&err,
         "worker 1: reader: element 1 of f at byte 5: it failed: after 9 records: record 3: cut",
         "it failed: after 9 records: record 3: cut");
    leati_error_settle(&err);
    assert_false(leati_error_has_operator(&err));
    leati_error_at_operator(&err, "map", 2);
    says(&err,
         "map: element 2: worker 1: reader: element 1 of f at byte 5: it failed: after 9 records: "
         "record 3: cut",
         "worker 1: reader: element 1 of f at byte 5: it failed: after 9 records: record 3: cut");
}

/* Whatever does not fit is cut, and the parts are still found. */
static void long_parts(void **state) {
    (void)state;
    char path[600], text[600];
    memset(path, 'p', sizeof path);
    path[sizeof path - 1] = '\0';
    memset(text, 't', sizeof text);
    text[sizeof text - 1] = '\0';
    leat_error err = {0};
    leati_fail(&err, LEAT_DATA_LOSS, "%s", text);
    assert_int_equal(strlen(err.text), LEAT_ERROR_TEXT - 1);
    at_file(&err, path, 1);
    leati_error_at_operator(&err, path, 5);
    assert_int_equal(strlen(err.file), LEAT_ERROR_FILE - 1);
    assert_int_equal(strlen(err.op), LEAT_ERROR_OP - 1);
    assert_string_equal(err.op + LEAT_ERROR_OP - 4, "...");
    assert_int_equal(strlen(err.text), LEAT_ERROR_TEXT - 1);
    assert_memory_equal(leat_error_message(&err), "ttt", 3);
    leati_prefix(&err, "%s", path);
    assert_int_equal(strlen(err.text), LEAT_ERROR_TEXT - 1);
    assert_true(strlen(leat_error_message(&err)) > 0);
    leati_error_wrap(&err, LEAT_INTERNAL, "w");
    assert_int_equal(strlen(err.text), LEAT_ERROR_TEXT - 1);
}

static void reasons(void **state) {
    (void)state;
    leat_error err = {0};
    assert_int_equal(leati_refuse(&err, DTYPE, "%s is bool", "x"), LEAT_INVALID_ARGUMENT);
    assert_int_equal(err.reason, LEAT_REASON_DTYPE);
    leati_prefix(&err, "add");
    leati_error_at_operator(&err, "map", 0);
    assert_int_equal(err.reason, LEAT_REASON_DTYPE);
    assert_false(leati_error_is_end(&err));
    leati_fail(&err, LEAT_OUT_OF_RANGE, "End of sequence");
    assert_false(leati_error_is_end(&err));
    assert_int_equal(leati_fail_end(&err), LEAT_OUT_OF_RANGE);
    assert_true(leati_error_is_end(&err));
    leat_error other = {0};
    assert_int_equal(leati_error_pass(&other, &err), LEAT_OUT_OF_RANGE);
    assert_true(leati_error_is_end(&other));
    for (int i = 0; i <= LEAT_REASON_CALLBACK; i++) {
        leat_reason found = LEAT_REASON_NONE;
        assert_true(leati_reason_from_name(leat_reason_name((leat_reason)i), &found));
        assert_int_equal(found, i);
    }
    assert_string_equal(leat_reason_name((leat_reason)99), "NONE");
    leat_status code = LEAT_OK;
    assert_true(leati_status_from_name("DATA_LOSS", &code));
    assert_int_equal(code, LEAT_DATA_LOSS);
    assert_false(leati_status_from_name("LOSS", &code));
}

static void callbacks(void **state) {
    (void)state;
    leat_error failure = {0}, err = {0};
    assert_int_equal(leat_error_set(&failure, LEAT_NOT_FOUND, "no %d", 7), LEAT_NOT_FOUND);
    failure.payload = 12;
    leati_fail_callback(&err, LEAT_NOT_FOUND, &failure, "callback", "f");
    says(&err, "callback \"f\": no 7", "callback \"f\": no 7");
    assert_int_equal(err.reason, LEAT_REASON_CALLBACK);
    assert_int_equal(err.payload, 12);
    leati_error_at_operator(&err, "map", 1);
    assert_int_equal(err.payload, 12);
    failure = (leat_error){0};
    leati_fail_callback(&err, LEAT_UNKNOWN, &failure, "generator", NULL);
    assert_string_equal(err.text, "generator \"(unnamed)\": it failed without writing a text");
    assert_int_equal(err.payload, 0);
}

/* A public function, which reads its record. */
static leat_status public_function(leat_error *err) {
    LEATI_ERROR_DOOR(err);
    assert_int_equal(err->code, LEAT_OK);
    assert_string_equal(err->text, "");
    assert_int_equal(leati_refuse(err, VALUE, "x"), LEAT_INVALID_ARGUMENT);
    at_file(err, "a", 1);
    assert_int_equal(leati_prefix(err, "b"), LEAT_INVALID_ARGUMENT);
    return err->code;
}

/* Nobody listens. */
static void null_is_allowed(void **state) {
    (void)state;
    leat_error err = {0}, *nobody = NULL;
    assert_int_equal(leat_error_set(NULL, LEAT_DATA_LOSS, "x"), LEAT_DATA_LOSS);
    assert_int_equal(public_function(nobody), LEAT_INVALID_ARGUMENT);
    assert_int_equal(public_function(&err), LEAT_INVALID_ARGUMENT);
    assert_string_equal(err.text, "b: a at byte 1: x");
}

/* Whatever the memory held before is no failure, and context goes in front of what is said. */
static void unwanted_records(void **state) {
    (void)state;
    leat_error record;
    memset(&record, 'x', sizeof record);
    assert_ptr_equal(leati_error_unwanted(&record), &record);
    assert_int_equal(record.code, LEAT_OK);
    assert_int_equal(record.reason, LEAT_REASON_NONE);
    assert_string_equal(leat_error_message(&record), "");
    leati_prefix(&record, "a");
    leati_error_at_operator(&record, "map", 1);
    assert_string_equal(record.text, "map: element 1: a: ");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_place_is_data),
        cmocka_unit_test(parts_may_be_unknown),
        cmocka_unit_test(context_stands_in_front),
        cmocka_unit_test(long_parts),
        cmocka_unit_test(reasons),
        cmocka_unit_test(callbacks),
        cmocka_unit_test(null_is_allowed),
        cmocka_unit_test(unwanted_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
