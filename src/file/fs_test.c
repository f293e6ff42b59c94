/* Paths, schemes and the local file system: codes and texts of what fails, and reading. */
#include "support/cmocka.h"

#include "file/fs.h"
#include "support/refused.h"
#include "support/scratch.h"
#include "support/torture.h"
#include <fcntl.h>

static void expect(leat_status status, const leat_error *err, leat_status code, leat_reason reason,
                   const char *keyword) {
    assert_int_equal(status, code);
    assert_refused(err, code, reason, keyword);
}

static void missing_file(void **state) {
    (void)state;
    leat_error err = {0};
    leati_file *file = NULL;
    const char *path = scratch_path("none.tfrecord");
    expect(leati_file_open(path, &file, &err), &err, LEAT_NOT_FOUND, LEAT_REASON_NONE,
           "none.tfrecord");
    assert_refused(&err, LEAT_NOT_FOUND, LEAT_REASON_NONE, path);
    assert_null(file);
    leati_stat st;
    expect(leati_fs_stat(path, &st, &err), &err, LEAT_NOT_FOUND, LEAT_REASON_NONE, "none.tfrecord");
    expect(leati_fs_remove(path, &err), &err, LEAT_NOT_FOUND, LEAT_REASON_NONE, "none.tfrecord");
}

static void folder_is_no_file(void **state) {
    (void)state;
    leat_error err = {0};
    leati_file *file = NULL;
    expect(leati_file_open(scratch_folder, &file, &err), &err, LEAT_FAILED_PRECONDITION,
           LEAT_REASON_NONE, "directory");
    scratch_write("plain", "x", 1);
    expect(leati_file_open(scratch_path("plain/below"), &file, &err), &err,
           LEAT_FAILED_PRECONDITION, LEAT_REASON_NONE, "plain/below");
}

static void forbidden_file(void **state) {
    (void)state;
    leat_error err = {0};
    leati_file *file = NULL;
    const char *path = scratch_write("secret", "x", 1);
    assert_int_equal(chmod(path, 0), 0);
    if (!scratch_drop_root())
        skip();
    leat_status status = leati_file_open(path, &file, &err);
    scratch_regain_root();
    expect(status, &err, LEAT_PERMISSION_DENIED, LEAT_REASON_NONE, "secret");
}

static void schemes(void **state) {
    (void)state;
    leat_error err = {0};
    leati_file *file = NULL;
    expect(leati_file_open("gopher://x/y", &file, &err), &err, LEAT_UNIMPLEMENTED, LEAT_REASON_NONE,
           "gopher");
    expect(leati_file_open("", &file, &err), &err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE,
           "path");
    expect(leati_file_open(NULL, &file, &err), &err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE,
           "NULL");
    /* A digit cannot start a scheme, so this is a local path. */
    expect(leati_file_open("9p://x", &file, &err), &err, LEAT_NOT_FOUND, LEAT_REASON_NONE, "9p");
    const char *path = scratch_write("plain", "hello", 5);
    char with_scheme[1100];
    snprintf(with_scheme, sizeof with_scheme, "file://%s", path);
    leat_buffer *buffer = NULL;
    assert_int_equal(leati_file_read_all(with_scheme, &buffer, &err), LEAT_OK);
    assert_int_equal(leat_buffer_size(buffer), 5);
    assert_memory_equal(leat_buffer_data(buffer), "hello", 5);
    leat_buffer_unref(buffer);
}

static void long_path(void **state) {
    (void)state;
    static char path[LEATI_MAX_PATH + 2];
    memset(path, 'a', sizeof path - 1);
    leat_error err = {0};
    leati_file *file = NULL;
    expect(leati_file_open(path, &file, &err), &err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE,
           "65535");
    path[5000] = 0;
    expect(leati_file_open(path, &file, &err), &err, LEAT_INVALID_ARGUMENT, LEAT_REASON_NONE, NULL);
}

static void reads_at_any_place(void **state) {
    (void)state;
    leati_file *file = NULL;
    assert_int_equal(leati_file_open(scratch_write("abc", "abcdef", 6), &file, &(leat_error){0}),
                     LEAT_OK);
    assert_int_equal(file->size, 6);
    assert_true(file->seekable);
    char data[8];
    size_t got = 99;
    assert_int_equal(leati_file_read_at(file, 4, data, 8, &got, &(leat_error){0}), LEAT_OK);
    assert_int_equal(got, 2);
    assert_memory_equal(data, "ef", 2);
    assert_int_equal(leati_file_read_at(file, 1, data, 2, &got, &(leat_error){0}), LEAT_OK);
    assert_int_equal(got, 2);
    assert_memory_equal(data, "bc", 2);
    assert_int_equal(leati_file_read_at(file, 60, data, 2, &got, &(leat_error){0}), LEAT_OK);
    assert_int_equal(got, 0);
    leati_file_close(file);
}

/* A pipe is read in order and refuses to go back. */
static void pipe_in_order(void **state) {
    (void)state;
    const char *path = scratch_path("pipe");
    assert_int_equal(mkfifo(path, 0600), 0);
    int writer = open(path, O_RDWR); /* keeps both opens from waiting */
    assert_true(writer >= 0);
    assert_int_equal(write(writer, "abcdef", 6), 6);
    leati_file *file = NULL;
    assert_int_equal(leati_file_open(path, &file, &(leat_error){0}), LEAT_OK);
    assert_int_equal(file->size, -1);
    assert_false(file->seekable);
    char data[8];
    size_t got = 0;
    assert_int_equal(leati_file_read_at(file, 0, data, 4, &got, &(leat_error){0}), LEAT_OK);
    assert_memory_equal(data, "abcd", 4);
    leat_error err = {0};
    expect(leati_file_read_at(file, 0, data, 1, &got, &err), &err, LEAT_FAILED_PRECONDITION,
           LEAT_REASON_NONE, "pipe");
    leati_file_close(file);
    close(writer);
}

/* The kernel's files say that they have size 0. */
static void read_all_of_unknown_size(void **state) {
    (void)state;
    leat_buffer *buffer = NULL;
    if (access("/proc/self/status", R_OK) != 0)
        skip();
    assert_int_equal(leati_file_read_all("/proc/self/status", &buffer, &(leat_error){0}), LEAT_OK);
    assert_true(leat_buffer_size(buffer) > 5);
    assert_memory_equal(leat_buffer_data(buffer), "Name:", 5);
    leat_buffer_unref(buffer);
    assert_int_equal(leati_file_read_all(scratch_write("none", "", 0), &buffer, &(leat_error){0}),
                     LEAT_OK);
    assert_int_equal(leat_buffer_size(buffer), 0);
    leat_buffer_unref(buffer);
}

static void folders(void **state) {
    (void)state;
    leat_error err = {0};
    const char *path = scratch_path("new");
    assert_int_equal(leati_fs_mkdir(path, &err), LEAT_OK);
    assert_int_equal(leati_fs_mkdir(path, &err), LEAT_OK);
    leati_stat st;
    assert_int_equal(leati_fs_stat(path, &st, &err), LEAT_OK);
    assert_int_equal(st.kind, LEATI_PATH_FOLDER);
    expect(leati_fs_mkdir(scratch_write("plain", "x", 1), &err), &err, LEAT_ALREADY_EXISTS,
           LEAT_REASON_NONE, "plain");
    expect(leati_fs_mkdir(scratch_path("no/deep"), &err), &err, LEAT_NOT_FOUND, LEAT_REASON_NONE,
           "no/deep");
    assert_int_equal(leati_fs_remove(path, &err), LEAT_OK);
}

/* Folders above that are missing are made; what stands in the way is named. */
static void folders_above(void **state) {
    (void)state;
    leat_error err = {0};
    leati_stat st;
    const char *path = scratch_path("a/b/c");
    assert_int_equal(leati_fs_mkdirs(path, &err), LEAT_OK);
    assert_int_equal(leati_fs_mkdirs(path, &err), LEAT_OK);
    assert_int_equal(leati_fs_stat(path, &st, &err), LEAT_OK);
    assert_int_equal(st.kind, LEATI_PATH_FOLDER);
    scratch_write("a/file", "x", 1);
    expect(leati_fs_mkdirs(scratch_path("a/file/c/d"), &err), &err, LEAT_FAILED_PRECONDITION,
           LEAT_REASON_NONE, "a/file/c/d");
    assert_int_equal(leati_fs_mkdirs(scratch_path("a/file/c/d"), &(leat_error){0}),
                     LEAT_FAILED_PRECONDITION);
    expect(leati_fs_mkdirs("gopher://a/b", &err), &err, LEAT_UNIMPLEMENTED, LEAT_REASON_NONE,
           "gopher");
    expect(leati_fs_mkdirs(scratch_path("none//b"), &err), &err, LEAT_NOT_FOUND, LEAT_REASON_NONE,
           "none//b");
}

static leat_status note_size(void *context, leati_file *file, leat_error *err) {
    (void)err;
    *(int64_t *)context = file->size;
    return LEAT_ABORTED;
}

static leat_status note_name(void *context, const char *name, leati_path_kind kind,
                             leat_error *err) {
    (void)name, (void)kind, (void)err;
    ++*(int64_t *)context;
    return LEAT_ABORTED;
}

/* Every call by path refuses one without a file system; what a callback returns is returned. */
static void calls_by_path(void **state) {
    (void)state;
    leat_error err = {0};
    static const char bad[] = "gopher://a";
    int64_t seen = 0;
    leati_stat st;
    expect(leati_file_use(bad, note_size, &seen, &err), &err, LEAT_UNIMPLEMENTED, LEAT_REASON_NONE,
           "gopher");
    expect(leati_fs_stat(bad, &st, &err), &err, LEAT_UNIMPLEMENTED, LEAT_REASON_NONE, "gopher");
    expect(leati_fs_list(bad, note_name, &seen, &err), &err, LEAT_UNIMPLEMENTED, LEAT_REASON_NONE,
           "gopher");
    expect(leati_fs_mkdir(bad, &err), &err, LEAT_UNIMPLEMENTED, LEAT_REASON_NONE, "gopher");
    expect(leati_fs_remove(bad, &err), &err, LEAT_UNIMPLEMENTED, LEAT_REASON_NONE, "gopher");
    expect(leati_fs_append(bad, "x", 1, &err), &err, LEAT_UNIMPLEMENTED, LEAT_REASON_NONE,
           "gopher");
    assert_int_equal(seen, 0);
    const char *path = scratch_write("a", "12345", 5);
    scratch_write("b", "", 0);
    assert_int_equal(leati_fs_list(scratch_folder, note_name, &seen, &err), LEAT_ABORTED);
    assert_int_equal(seen, 1);
    assert_int_equal(leati_file_use(path, note_size, &seen, &err), LEAT_ABORTED);
    assert_int_equal(seen, 5);
}

static leat_status add_name(void *context, const char *name, leati_path_kind kind,
                            leat_error *err) {
    (void)kind;
    return leati_fs_paths_add(context, name, strlen(name), err);
}

static leat_status list_and_read(void *context, leat_error *err) {
    (void)context;
    leati_paths names = {0};
    leat_status status = leati_fs_list(scratch_folder, add_name, &names, err);
    leati_fs_paths_fini(&names);
    leat_buffer *buffer = NULL;
    if (status == LEAT_OK)
        status = leati_file_read_all(scratch_path("a"), &buffer, err);
    leat_buffer_unref(buffer);
    buffer = NULL;
    if (status == LEAT_OK)
        status = leati_file_read_all("/dev/null", &buffer, err);
    leat_buffer_unref(buffer);
    return status;
}

static void every_allocation_fails_once(void **state) {
    (void)state;
    scratch_write("a", "1", 1);
    scratch_write("b", "2", 1);
    torture_begin();
    torture_run(list_and_read, NULL);
    torture_end();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(missing_file),   TEST(folder_is_no_file),
        TEST(forbidden_file), TEST(schemes),
        TEST(long_path),      TEST(reads_at_any_place),
        TEST(pipe_in_order),  TEST(read_all_of_unknown_size),
        TEST(folders),        TEST(folders_above),
        TEST(calls_by_path),  TEST(every_allocation_fails_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
