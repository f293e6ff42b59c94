/* Patterns: TensorFlow's recorded answers for list_files without shuffling, and a tree of our own
 * for what those leave out. */
#include "support/cmocka.h"

#include "file/glob.h"
#include "support/arrays.h"
#include "support/refused.h"
#include "support/scratch.h"
#include "support/torture.h"

static char start_folder[4096];

/* Compares the matches of one pattern with names separated by blanks. */
static void expect_names(const char *pattern, const char *names) {
    leati_paths found = {0};
    leat_error err = {0};
    leat_status status = leati_glob(&pattern, 1, false, &found, &err);
    if (status != LEAT_OK)
        fail_msg("%s: %s", pattern, err.text);
    char text[4096] = "";
    for (size_t i = 0; i < found.count; i++) {
        strcat(text, i ? " " : "");
        strcat(text, found.values[i]);
    }
    assert_string_equal(text, names);
    leati_fs_paths_fini(&found);
}

/* One recorded case: the whole answer, or the code of the error. */
static void run_case(const json_t *test) {
    const json_t *args = json_object_get(json_object_get(test, "pipeline"), "args");
    const json_t *pattern = json_object_get(args, "file_pattern");
    const char *patterns[8];
    size_t count = 0;
    if (json_is_string(pattern))
        patterns[count++] = json_string_value(pattern);
    else
        for (; count < json_array_size(pattern); count++)
            patterns[count] = json_string_value(json_array_get(pattern, count));
    leati_paths found = {0};
    leat_error err = {0};
    leat_status status = leati_glob(patterns, count, true, &found, &err);
    const json_t *expected = json_object_get(test, "expect");
    const json_t *elements = json_object_get(expected, "elements");
    if (elements == NULL) {
        assert_string_equal(leat_status_name(status),
                            arrays_text(json_object_get(expected, "error"), "code"));
        assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE,
                       count > 0 ? patterns[0] : "list");
        return;
    }
    assert_int_equal(status, LEAT_OK);
    assert_int_equal(found.count, json_array_size(elements));
    for (size_t i = 0; i < found.count; i++) {
        const json_t *data = json_object_get(json_array_get(elements, i), "data");
        assert_string_equal(found.values[i], json_string_value(json_array_get(data, 0)));
    }
    leati_fs_paths_fini(&found);
}

static void recorded_cases(void **state) {
    (void)state;
    json_t *tests =
        arrays_read_json(LEATI_SOURCE_DIR "/tests/golden/data/tfdata", "list_files.json");
    assert_int_equal(chdir(LEATI_SOURCE_DIR "/tests/golden/data"), 0);
    int run = 0;
    for (size_t i = 0; i < json_array_size(tests); i++) {
        const json_t *test = json_array_get(tests, i);
        const json_t *pipeline = json_object_get(test, "pipeline");
        const json_t *args = json_object_get(pipeline, "args");
        bool fails = json_object_get(json_object_get(test, "expect"), "error") != NULL;
        if (strcmp(arrays_text(pipeline, "op"), "list_files") != 0 ||
            (!fails && !json_is_false(json_object_get(args, "shuffle"))))
            continue;
        run_case(test);
        run++;
    }
    assert_true(run >= 13);
    json_decref(tests);
    assert_int_equal(chdir(start_folder), 0);
}

static void make_tree(void) {
    static const char *const folders[] = {"d1", "d2", "d1/e", "d2/e", "d2/f"};
    static const char *const files[] = {"a",       ".hidden", "d1/x",   "d1/e/x",
                                        "d2/e/x1", "d2/f/x",  "d2/[x]", "d2/star*"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        assert_int_equal(mkdir(scratch_path(folders[i]), 0755), 0);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        scratch_write(files[i], "1", 1);
    assert_int_equal(chdir(scratch_folder), 0);
}

static int leave_tree(void **state) {
    return chdir(start_folder) == 0 ? scratch_teardown(state) : -1;
}

static void levels(void **state) {
    (void)state;
    make_tree();
    expect_names("d*/e/x*", "./d1/e/x ./d2/e/x1");
    expect_names("d2/*/x", "d2/f/x");
    expect_names("./d2/*/x*", "./d2/e/x1 ./d2/f/x");
    expect_names("d1/*", "d1/e d1/x");
    expect_names("d1/e/../e/*", "d1/e/../e/x");
    expect_names("d1//?", "d1//e d1//x");
    expect_names("d1/*/", "d1/e d1/x");
    expect_names("d?", "./d1 ./d2");
    expect_names("*", "./.hidden ./a ./d1 ./d2");
    expect_names("*/*/*/*", "");
    expect_names("", "");
    expect_names("none*/x", "");
    expect_names("a/*", "");
    expect_names("none/*", "");
}

static void sets_and_escapes(void **state) {
    (void)state;
    make_tree();
    expect_names("d2/\\[x\\]", "d2/[x]");
    expect_names("d2/[[]x]", "d2/[x]");
    expect_names("d2/star\\*", "d2/star*");
    expect_names("d[!1]/e/*", "./d2/e/x1");
    expect_names("d[2-9]/e", "./d2/e");
    expect_names("d[", "");
}

static void absolute_and_scheme(void **state) {
    (void)state;
    make_tree();
    char pattern[2048], name[2048];
    snprintf(pattern, sizeof pattern, "%s/d1/x*", scratch_folder);
    snprintf(name, sizeof name, "%s/d1/x", scratch_folder);
    expect_names(pattern, name);
    snprintf(pattern, sizeof pattern, "file://%s/d1/x*", scratch_folder);
    snprintf(name, sizeof name, "file://%s/d1/x", scratch_folder);
    expect_names(pattern, name);
    expect_names("/de[v]", "/dev");
}

static void forbidden_folder_matches_nothing(void **state) {
    (void)state;
    make_tree();
    assert_int_equal(chmod("d1", 0), 0);
    if (!scratch_drop_root())
        skip();
    expect_names("d*/e", "./d2/e");
    expect_names("d1/*", "");
    scratch_regain_root();
    assert_int_equal(chmod("d1", 0700), 0);
}

static void errors(void **state) {
    (void)state;
    leati_paths found = {0};
    leat_error err = {0};
    const char *patterns[] = {"none-a*", "none-b?"};
    assert_int_equal(leati_glob(patterns, 2, true, &found, &err), LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "none-b?");
    assert_int_equal(leati_glob(patterns, 2, false, &found, &err), LEAT_OK);
    assert_int_equal(found.count, 0);
    const char *none = NULL;
    assert_int_equal(leati_glob(&none, 1, false, &found, &err), LEAT_INVALID_ARGUMENT);
    const char *remote = "gopher://a/*";
    assert_int_equal(leati_glob(&remote, 1, false, &found, &err), LEAT_UNIMPLEMENTED);
}

/* What the file system says of a name ends the call: of the name itself, of a folder that is
 * listed, and of a name below one. A name that is too long is refused, links in a circle are
 * unknown. */
static void failures_of_the_file_system(void **state) {
    (void)state;
    static const char *const patterns[] = {"circle", "circle/*", "*/x*", "[c]ircle/x"};
    assert_int_equal(symlink("circle", scratch_path("circle")), 0);
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        const char *pattern = scratch_path(patterns[i]);
        leati_paths found = {0};
        leat_error err = {0};
        assert_int_equal(leati_glob(&pattern, 1, false, &found, &err), LEAT_UNKNOWN);
        assert_refused(&err, LEAT_UNKNOWN, LEAT_REASON_NONE, "circle");
        assert_null(found.values);
    }
}

static leat_status find_all(void *context, leat_error *err) {
    (void)context;
    const char *patterns[] = {"d*/*/x*", "d1/x", "*"};
    leati_paths found = {0};
    leat_status status = leati_glob(patterns, 3, true, &found, err);
    leati_fs_paths_fini(&found);
    return status;
}

static void every_allocation_fails_once(void **state) {
    (void)state;
    make_tree();
    torture_begin();
    torture_run(find_all, NULL);
    torture_end();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, leave_tree)

int main(void) {
    if (getcwd(start_folder, sizeof start_folder) == NULL)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recorded_cases),
        TEST(levels),
        TEST(sets_and_escapes),
        TEST(absolute_and_scheme),
        TEST(forbidden_folder_matches_nothing),
        TEST(errors),
        TEST(failures_of_the_file_system),
        TEST(every_allocation_fails_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
