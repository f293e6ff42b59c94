/* Files that belong together: the order in which they appear, what stays on failures, and what is
 * refused. That nothing is lost wherever a process is killed is tests/faults/killed_test's. */
#include "support/cmocka.h"

#include "support/refused.h"
#include "support/scratch.h"
#include "support/torture.h"
#include <leat/file.h>

static void expect_content(const char *name, const char *content) {
    size_t size = 0;
    uint8_t *data = scratch_read(scratch_path(name), &size);
    assert_string_equal((char *)data, content);
    free(data);
}

/* A file of one piece, or of none. */
#define FILE_OF(name, text)                                                                        \
    {                                                                                              \
        .path = scratch_path(name), .pieces = &(leat_file_piece){(text), strlen(text)},            \
        .num_pieces = (text)[0] != '\0'                                                            \
    }

static leat_status replace(const leat_file_content *files, int count, const char *outdated,
                           leat_error *err) {
    return leat_files_replace(files, count, &outdated, outdated != NULL, err);
}

static void one_file(void **state) {
    (void)state;
    static uint8_t large[100000];
    memset(large, 'x', sizeof large);
    const leat_file_piece pieces[] = {{"ab", 2}, {NULL, 0}, {large, sizeof large}, {"c", 1}};
    const leat_file_content file = {scratch_path("out"), pieces, 4};
    assert_int_equal(replace(&file, 1, NULL, &(leat_error){0}), LEAT_OK);
    size_t size = 0;
    uint8_t *data = scratch_read(scratch_path("out"), &size);
    assert_int_equal(size, sizeof large + 3);
    assert_memory_equal(data, "ab", 2);
    assert_memory_equal(data + 2, large, sizeof large);
    assert_int_equal(data[size - 1], 'c');
    free(data);
    const leat_file_content empty = FILE_OF("out", "");
    assert_int_equal(replace(&empty, 1, NULL, &(leat_error){0}), LEAT_OK);
    expect_content("out", "");
    assert_int_equal(scratch_count(), 1);
}

static void several(void **state) {
    (void)state;
    scratch_write("data-1", "old", 3);
    scratch_write("index", "1", 1);
    const leat_file_content files[] = {FILE_OF("data-2", "new"), FILE_OF("index", "2")};
    assert_int_equal(replace(files, 2, scratch_path("data-1"), &(leat_error){0}), LEAT_OK);
    expect_content("data-2", "new");
    expect_content("index", "2");
    assert_int_equal(scratch_count(), 2);
    /* What is new is not outdated; what is not there need not be removed. */
    assert_int_equal(replace(files, 2, scratch_path("data-2"), &(leat_error){0}), LEAT_OK);
    assert_int_equal(replace(files, 2, scratch_path("data-1"), &(leat_error){0}), LEAT_OK);
    assert_int_equal(scratch_count(), 2);
}

/* The last file cannot be put in place: it is a folder by then. */
static void the_last_fails(void **state) {
    (void)state;
    leat_error err = {0};
    scratch_write("data-1", "old", 3);
    assert_int_equal(mkdir(scratch_path("index"), 0700), 0);
    const leat_file_content files[] = {FILE_OF("data-2", "new"), FILE_OF("index", "2")};
    assert_int_equal(replace(files, 2, scratch_path("data-1"), &err), LEAT_FAILED_PRECONDITION);
    assert_int_equal(errno, EISDIR);
    assert_refused(&err, LEAT_FAILED_PRECONDITION, LEAT_REASON_NONE, "index");
    expect_content("data-1", "old");
    assert_int_equal(scratch_count(), 2);
    const leat_file_content lost[] = {FILE_OF("data-2", "new"), FILE_OF("none/index", "2")};
    assert_int_equal(replace(lost, 2, NULL, &err), LEAT_NOT_FOUND);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(scratch_count(), 2);
}

static void make_folder(const char *name, const char *file, const char *content) {
    assert_int_equal(mkdir(scratch_path(name), 0700), 0);
    char inside[64];
    snprintf(inside, sizeof inside, "%s/%s", name, file);
    scratch_write(inside, content, strlen(content));
}

static void a_folder(void **state) {
    (void)state;
    leat_error err = {0};
    make_folder("new", "a", "1");
    assert_int_equal(leat_folder_replace(scratch_path("new"), scratch_path("it"), &err), LEAT_OK);
    expect_content("it/a", "1");
    assert_int_equal(scratch_count(), 1);
    /* What had the name is under that of the new one. */
    make_folder("new", "b", "2");
    assert_int_equal(leat_folder_replace(scratch_path("new"), scratch_path("it"), &err), LEAT_OK);
    expect_content("it/b", "2");
    expect_content("new/a", "1");
    assert_int_equal(leat_folder_replace(scratch_path("none"), scratch_path("it"), &err),
                     LEAT_NOT_FOUND);
    assert_int_equal(errno, ENOENT);
    assert_refused(&err, LEAT_NOT_FOUND, LEAT_REASON_NONE, "it");
    assert_int_equal(leat_folder_replace(NULL, scratch_path("it"), &err), LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "NULL");
    expect_content("it/b", "2");
}

static void refusals(void **state) {
    (void)state;
    const leat_file_content twice[] = {FILE_OF("a", "1"), FILE_OF("b", "2"), FILE_OF("a", "3")};
    const leat_file_content nameless = {NULL, NULL, 0}, bare = {scratch_path("a"), NULL, 1};
    const struct {
        const leat_file_content *files;
        int count;
        const char *keyword;
    } cases[] = {{NULL, 1, "NULL"},   {twice, 0, "0"},        {twice, -1, "-1"},
                 {twice, 3, "twice"}, {&nameless, 1, "path"}, {&bare, 1, "pieces"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        leat_error err = {0};
        errno = ENOSPC;
        assert_int_equal(replace(cases[i].files, cases[i].count, NULL, &err),
                         LEAT_INVALID_ARGUMENT);
        assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, cases[i].keyword);
        assert_int_equal(errno, 0);
        assert_int_equal(scratch_count(), 0);
    }
}

static leat_status replace_two(void *context, leat_error *err) {
    (void)context;
    const leat_file_content files[] = {FILE_OF("data-2", "new"), FILE_OF("index", "2")};
    leat_status status = replace(files, 2, scratch_path("data-1"), err);
    assert_int_equal(scratch_count(), 2);
    expect_content("index", status == LEAT_OK ? "2" : "1");
    expect_content(status == LEAT_OK ? "data-2" : "data-1", status == LEAT_OK ? "new" : "old");
    return status;
}

static void every_allocation_fails_once(void **state) {
    (void)state;
    scratch_write("data-1", "old", 3);
    scratch_write("index", "1", 1);
    torture_begin();
    torture_run(replace_two, NULL);
    torture_end();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(one_file), TEST(several),  TEST(the_last_fails),
        TEST(a_folder), TEST(refusals), TEST(every_allocation_fails_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
