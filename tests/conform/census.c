/* The suite of names: every name of tf.data in census.json has its counterpart.
 *
 * A line names a dataset operator (and an argument of it), or a symbol of the public headers, or an
 * exception with its reason. A line with "missing" says that the counterpart does not exist yet; it
 * fails as soon as it does, so the list can only shrink. The census is a copy of the names that
 * TensorFlow 2.21 exports. */
#include "support/cmocka.h"

#include "conform.h"
#include "data/plan/op.h"
#include "support/golden.h"
#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#define CENSUS LEATI_SOURCE_DIR "/tests/conform/census.json"
static const char *const folders[] = {LEATI_SOURCE_DIR "/include/leat",
                                      LEATI_SOURCE_DIR "/include/leat/ops"};

enum { MOST_TEXT = 4 << 20 };

/* Appends the text of a folder's headers. */
static size_t read_folder(const char *name, char *text, size_t size) {
    DIR *folder = opendir(name);
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", name, entry->d_name);
        FILE *file = strstr(entry->d_name, ".h") != NULL ? fopen(path, "r") : NULL;
        if (file != NULL) {
            size += fread(text + size, 1, MOST_TEXT - 1 - size, file);
            fclose(file);
        }
    }
    closedir(folder);
    return size;
}

/* The text of all public headers. Owned (free). */
static char *read_headers(void) {
    char *text = calloc(1, MOST_TEXT);
    size_t size = 0;
    assert_non_null(text);
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        size = read_folder(folders[i], text, size);
    assert_in_range(size, 1000, MOST_TEXT - 2);
    return text;
}

static bool is_word_byte(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

static bool has_word(const char *text, const char *word) {
    size_t size = strlen(word);
    for (const char *at = text; (at = strstr(at, word)) != NULL; at += size)
        if ((at == text || !is_word_byte(at[-1])) && !is_word_byte(at[size]))
            return true;
    return false;
}

/* What the counterpart is, and whether it is there. */
static bool is_there(const json_t *line, const char *headers, char *what, size_t size) {
    const char *name = json_string_value(json_object_get(line, "operator"));
    const char *argument = json_string_value(json_object_get(line, "argument"));
    const char *symbol = json_string_value(json_object_get(line, "symbol"));
    if (name == NULL) {
        snprintf(what, size, "%s in the public headers", symbol);
        return has_word(headers, symbol);
    }
    const leati_dataset_op *op = leati_op_find(name);
    snprintf(what, size, "%s%soperator %s", argument != NULL ? argument : "",
             argument != NULL ? " of the " : "", name);
    return op != NULL && (argument == NULL || leati_rows_find(op->rows, argument) != NULL);
}

/* Is the line of one of the three kinds? */
static bool is_sound(const json_t *line) {
    int kinds = (json_object_get(line, "operator") != NULL) +
                (json_object_get(line, "symbol") != NULL) +
                (json_object_get(line, "exception") != NULL);
    const char *reason = json_string_value(json_object_get(line, "exception"));
    return json_is_string(json_object_get(line, "name")) && kinds == 1 &&
           (reason == NULL || strlen(reason) > 10);
}

static void test_census(void **state) {
    (void)state;
    json_error_t error;
    json_t *census = json_load_file(CENSUS, 0, &error), *line = NULL;
    char *headers = read_headers();
    size_t index = 0, missing = 0, exceptions = 0;
    int wrong = 0;
    assert_true(json_array_size(census) > 150);
    json_array_foreach(census, index, line) {
        const char *name = golden_text(line, "name");
        char what[200];
        if (!is_sound(line)) {
            print_error("census.json, line %zu: expected a name, and one of operator, symbol, "
                        "exception\n",
                        index + 2);
            wrong++;
            continue;
        }
        if (json_object_get(line, "exception") != NULL) {
            exceptions++;
            continue;
        }
        bool there = is_there(line, headers, what, sizeof what);
        bool listed = json_is_true(json_object_get(line, "missing"));
        missing += listed;
        if (there && listed)
            print_error("%s: there is %s now; take \"missing\" off its line in census.json\n", name,
                        what);
        else if (!there && !listed)
            print_error("%s: there is no %s\n", name, what);
        wrong += there == listed;
    }
    print_message("census: %zu names, %zu still missing, %zu exceptions\n", json_array_size(census),
                  missing, exceptions);
    free(headers);
    json_decref(census);
    assert_int_equal(wrong, 0);
}

int conform_census(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_census)};
    return cmocka_run_group_tests_name("census", tests, NULL, NULL);
}
