/* Files where a call of the system fails, is interrupted, or moves fewer bytes than asked: what the
 * error says, that nothing is left behind, and that what can be repeated is. */
#include "support/cmocka.h"

#include "calls.h"
#include "file/atomic.h"
#include "file/fs.h"
#include "support/refused.h"
#include "support/scratch.h"
#include "support/torture.h"
#include <fcntl.h>
#include <sys/syscall.h>

enum { END = CALLS_END, SHORT = CALLS_SHORT, ALWAYS = CALLS_ALWAYS };

static void expect(leat_status status, const leat_error *err, leat_status code,
                   const char *keyword) {
    assert_int_equal(status, code);
    assert_refused(err, code, LEAT_REASON_NONE, keyword);
}

/* The codes are those of TensorFlow's IOErrorToStatus. */
static void codes_of_numbers(void **state) {
    (void)state;
    static const struct {
        int number;
        leat_status code;
    } cases[] = {
        {ENOENT, LEAT_NOT_FOUND},
        {ENODEV, LEAT_NOT_FOUND},
        {ENXIO, LEAT_NOT_FOUND},
        {EACCES, LEAT_PERMISSION_DENIED},
        {EPERM, LEAT_PERMISSION_DENIED},
        {EROFS, LEAT_PERMISSION_DENIED},
        {EEXIST, LEAT_ALREADY_EXISTS},
        {EINVAL, LEAT_INVALID_ARGUMENT},
        {ENAMETOOLONG, LEAT_INVALID_ARGUMENT},
        {ESPIPE, LEAT_INVALID_ARGUMENT},
        {EISDIR, LEAT_FAILED_PRECONDITION},
        {ENOTDIR, LEAT_FAILED_PRECONDITION},
        {ENOTEMPTY, LEAT_FAILED_PRECONDITION},
        {EBADF, LEAT_FAILED_PRECONDITION},
        {EBUSY, LEAT_FAILED_PRECONDITION},
        {EPIPE, LEAT_FAILED_PRECONDITION},
        {ETXTBSY, LEAT_FAILED_PRECONDITION},
        {ENOSPC, LEAT_RESOURCE_EXHAUSTED},
        {EDQUOT, LEAT_RESOURCE_EXHAUSTED},
        {EMFILE, LEAT_RESOURCE_EXHAUSTED},
        {ENFILE, LEAT_RESOURCE_EXHAUSTED},
        {ENOMEM, LEAT_RESOURCE_EXHAUSTED},
        {EFBIG, LEAT_OUT_OF_RANGE},
        {EOVERFLOW, LEAT_OUT_OF_RANGE},
        {ENOSYS, LEAT_UNIMPLEMENTED},
        {ENOTSUP, LEAT_UNIMPLEMENTED},
        {EXDEV, LEAT_UNIMPLEMENTED},
        {EAGAIN, LEAT_UNAVAILABLE},
        {ESTALE, LEAT_ABORTED},
        {EIO, LEAT_UNKNOWN},
        {ELOOP, LEAT_UNKNOWN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        leati_file *file = NULL;
        leat_error err = {0};
        calls_arm(CALL_OPEN, 1, cases[i].number);
        leat_status status = leati_file_open("some/file", &file, &err);
        (void)calls_disarm();
        expect(status, &err, cases[i].code, "some/file");
        assert_true(refused_names(leat_error_message(&err), strerror(cases[i].number)));
    }
}

static leat_status read_it(const char *path, leat_error *err) {
    leat_buffer *buffer = NULL;
    leat_status status = leati_file_read_all(path, &buffer, err);
    if (status == LEAT_OK) {
        assert_int_equal(leat_buffer_size(buffer), 5);
        assert_memory_equal(leat_buffer_data(buffer), "hello", 5);
    }
    leat_buffer_unref(buffer);
    return status;
}

static leat_status read_file(leat_error *err) {
    return read_it(scratch_path("out"), err);
}

/* In pieces, as it cannot be asked for its size. */
static leat_status read_pipe(leat_error *err) {
    int ends[2];
    char path[64];
    assert_int_equal(syscall(SYS_pipe2, ends, 0), 0);
    assert_int_equal(syscall(SYS_write, ends[1], "hello", 5), 5);
    assert_int_equal(syscall(SYS_close, ends[1]), 0);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    leat_status status = read_it(path, err);
    assert_int_equal(syscall(SYS_close, ends[0]), 0);
    return status;
}

static leat_status write_file(leat_error *err) {
    return leati_atomic_write_file(scratch_path("out"), "hello", 5, err);
}

static leat_status append_file(leat_error *err) {
    return leati_fs_append(scratch_path("out"), "hello", 5, err);
}

static leat_status add_kind(void *context, const char *name, leati_path_kind kind,
                            leat_error *err) {
    (void)err;
    char *found = context;
    snprintf(found + strlen(found), 64 - strlen(found), "%s%d", name, (int)kind);
    return LEAT_OK;
}

static leat_status list_folder(leat_error *err) {
    char found[64] = "";
    leat_status status = leati_fs_list(scratch_folder, add_kind, found, err);
    if (status == LEAT_OK)
        assert_string_equal(found, "out0");
    return status;
}

static const struct {
    leat_status (*run)(leat_error *err);
    call_kind kind;
    int at, number;
    leat_status code;
    const char *keyword; /* NULL: it succeeds */
} fault_cases[] = {
    {read_file, CALL_OPEN, 1, EINTR, LEAT_OK, NULL},
    {read_file, CALL_FSTAT, 1, EBADF, LEAT_FAILED_PRECONDITION, "out"},
    {read_file, CALL_PREAD, 1, EINTR, LEAT_OK, NULL},
    {read_file, CALL_PREAD, 1, SHORT, LEAT_OK, NULL},
    {read_file, CALL_PREAD, ALWAYS, SHORT, LEAT_OK, NULL},
    {read_file, CALL_PREAD, 1, EIO, LEAT_UNKNOWN, "out"},
    {read_file, CALL_PREAD, 1, END, LEAT_DATA_LOSS, "5"},
    {read_file, CALL_CLOSE, 1, EIO, LEAT_OK, NULL},
    {read_pipe, CALL_READ, 1, EINTR, LEAT_OK, NULL},
    {read_pipe, CALL_READ, ALWAYS, SHORT, LEAT_OK, NULL},
    {read_pipe, CALL_READ, 2, EIO, LEAT_UNKNOWN, "/dev/fd"},
    {write_file, CALL_OPEN, 1, EINTR, LEAT_OK, NULL},
    {write_file, CALL_OPEN, 1, EMFILE, LEAT_OK, NULL}, /* to look for what was left behind */
    {write_file, CALL_OPEN, 2, EINTR, LEAT_OK, NULL},
    {write_file, CALL_OPEN, 2, EEXIST, LEAT_OK, NULL},
    {write_file, CALL_OPEN, ALWAYS, EEXIST, LEAT_ALREADY_EXISTS, "out"},
    {write_file, CALL_OPEN, 2, EROFS, LEAT_PERMISSION_DENIED, "out"},
    {write_file, CALL_OPEN, 10, EACCES, LEAT_OK, NULL}, /* the folder, to be synced */
    {write_file, CALL_FLOCK, 1, EINTR, LEAT_OK, NULL},
    {write_file, CALL_FLOCK, 1, ENOLCK, LEAT_OK, NULL},
    {write_file, CALL_FLOCK, 1, EWOULDBLOCK, LEAT_OK, NULL}, /* somebody sweeps it */
    {write_file, CALL_LSTAT, 1, EIO, LEAT_OK, NULL},         /* is it held? takes another */
    {write_file, CALL_FCNTL, 1, EMFILE, LEAT_OK, NULL},
    {write_file, CALL_WRITE, 1, EINTR, LEAT_OK, NULL},
    {write_file, CALL_WRITE, ALWAYS, SHORT, LEAT_OK, NULL},
    {write_file, CALL_WRITE, 1, ENOSPC, LEAT_RESOURCE_EXHAUSTED, "out"},
    {write_file, CALL_FSYNC, 1, EIO, LEAT_UNKNOWN, "disk"},
    {write_file, CALL_FSYNC, 1, EINVAL, LEAT_OK, NULL},
    {write_file, CALL_FSYNC, 1, EROFS, LEAT_OK, NULL},
    {write_file, CALL_FSYNC, 1, ENOTSUP, LEAT_OK, NULL},
    {write_file, CALL_FSYNC, 2, EIO, LEAT_OK, NULL},
    {write_file, CALL_CLOSE, 1, EDQUOT, LEAT_RESOURCE_EXHAUSTED, "disk"},
    {write_file, CALL_CLOSE, 1, EINTR, LEAT_OK, NULL},
    {write_file, CALL_RENAME, 1, EXDEV, LEAT_UNIMPLEMENTED, "out"},
    {append_file, CALL_OPEN, 1, EACCES, LEAT_PERMISSION_DENIED, "out"},
    {append_file, CALL_WRITE, 1, EIO, LEAT_UNKNOWN, "out"},
    {append_file, CALL_WRITE, 1, SHORT, LEAT_RESOURCE_EXHAUSTED, "out"},
    {append_file, CALL_CLOSE, 1, EDQUOT, LEAT_RESOURCE_EXHAUSTED, "out"},
    {append_file, CALL_CLOSE, 1, EINTR, LEAT_OK, NULL},
    {list_folder, CALL_READDIR, 1, EIO, LEAT_UNKNOWN, "list"},
};

/* What a call says when one of the system's fails for the n-th time: NULL where all is well. */
static void each_call_fails(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof fault_cases / sizeof *fault_cases; i++) {
        bool writes = fault_cases[i].run == write_file, appends = fault_cases[i].run == append_file;
        leat_error err = {0};
        scratch_write("out", writes ? "old" : "hello", writes ? 3 : 5);
        torture_begin();
        calls_arm(fault_cases[i].kind, fault_cases[i].at, fault_cases[i].number);
        leat_status status = fault_cases[i].run(&err);
        int seen = calls_disarm(), left = calls_open();
        torture_end();
        if (seen == 0 || left != 0)
            fail_msg("case %zu: %d calls, %d files open", i, seen, left);
        if (fault_cases[i].keyword != NULL)
            expect(status, &err, fault_cases[i].code, fault_cases[i].keyword);
        else if (status != LEAT_OK)
            fail_msg("case %zu: %s", i, err.text);
        assert_int_equal(scratch_count(), 1);
        size_t size = 0;
        uint8_t *now = scratch_read(scratch_path("out"), &size);
        if (writes)
            assert_string_equal((char *)now, status == LEAT_OK ? "hello" : "old");
        else if (appends && status == LEAT_OK)
            assert_string_equal((char *)now, "hellohello");
        free(now);
    }
}

/* A pipe, a link and an entry of which the folder does not say what it is. */
static void kinds_of_entries(void **state) {
    (void)state;
    leat_error err = {0};
    static const leati_path_kind expected[] = {LEATI_PATH_OTHER, LEATI_PATH_UNKNOWN,
                                               LEATI_PATH_FOLDER, LEATI_PATH_FILE};
    for (int i = 0; i < 4; i++) {
        const char *path = scratch_path("it");
        char found[64] = "", text[64];
        assert_int_equal(i == 0   ? mkfifo(path, 0600)
                         : i == 1 ? symlink("there", path)
                         : i == 2 ? mkdir(path, 0700)
                                  : (scratch_write("it", "", 0), 0),
                         0);
        assert_int_equal(leati_fs_list(scratch_folder, add_kind, found, &err), LEAT_OK);
        snprintf(text, sizeof text, "it%d", (int)expected[i]);
        assert_string_equal(found, text);
        leati_stat st = {.size = 7};
        if (i == 0) {
            assert_int_equal(leati_fs_stat(path, &st, &err), LEAT_OK);
            assert_int_equal(st.kind, LEATI_PATH_OTHER);
            assert_int_equal(st.size, -1);
        }
        assert_int_equal(leati_fs_remove(path, &err), LEAT_OK);
    }
    char found[64] = "";
    calls_arm(CALL_READDIR, 1, SHORT);
    assert_int_equal(leati_fs_list(scratch_folder, add_kind, found, &err), LEAT_OK);
    (void)calls_disarm();
    assert_string_equal(found, "unknown3");
}

/* The first failure is what every later call says, and the old file stays. */
static void first_failure_is_kept(void **state) {
    (void)state;
    static uint8_t data[70000];
    for (int large = 0; large < 2; large++) {
        leati_output *output = NULL;
        leat_error first = {0}, err = {0};
        scratch_write("out", "old", 3);
        assert_int_equal(leati_atomic_open(scratch_path("out"), LEATI_ATOMIC_FILE, &output, &err),
                         LEAT_OK);
        assert_int_equal(leati_atomic_write(output, "some", large ? 0 : 4, &err), LEAT_OK);
        calls_arm(CALL_WRITE, 1, EIO);
        leat_status status = large ? leati_atomic_write(output, data, sizeof data, &first)
                                   : leati_atomic_flush(output, &first);
        (void)calls_disarm();
        expect(status, &first, LEAT_UNKNOWN, "out");
        expect(leati_atomic_write(output, "x", 1, &err), &err, LEAT_UNKNOWN, "out");
        expect(leati_atomic_flush(output, &err), &err, LEAT_UNKNOWN, "out");
        expect(leati_atomic_commit(output, &err), &err, LEAT_UNKNOWN, "out");
        assert_int_equal(scratch_count(), 1);
        size_t size = 0;
        uint8_t *now = scratch_read(scratch_path("out"), &size);
        assert_string_equal((char *)now, "old");
        free(now);
    }
}

/* So many tries, each with another name, before the writer gives up. */
static void names_are_tried(void **state) {
    (void)state;
    leat_error err = {0};
    calls_arm(CALL_OPEN, ALWAYS, EEXIST);
    leat_status status = leati_atomic_write_file(scratch_path("out"), "x", 1, &err);
    assert_int_equal(calls_disarm(), 2 * (8 + 101)); /* each is looked at, then made */
    assert_int_equal(status, LEAT_ALREADY_EXISTS);
}

/* A file of unknown size, longer than the first pieces in which it is read. */
static void long_pipe(void **state) {
    (void)state;
    leat_buffer *buffer = NULL;
    leat_error err = {0};
    static uint8_t data[200000];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * 31 + i / 253);
    const char *path = scratch_write("long", data, sizeof data);
    leati_file *file = NULL;
    assert_int_equal(leati_file_open(path, &file, &err), LEAT_OK);
    assert_int_equal(file->size, sizeof data);
    file->size = -1;
    assert_int_equal(leati_file_read_whole(file, &buffer, &err), LEAT_OK);
    leati_file_close(file);
    assert_int_equal(leat_buffer_size(buffer), sizeof data);
    assert_memory_equal(leat_buffer_data(buffer), data, sizeof data);
    leat_buffer_unref(buffer);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(codes_of_numbers), TEST(each_call_fails),       TEST(kinds_of_entries),
        TEST(names_are_tried),  TEST(first_failure_is_kept), TEST(long_pipe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
