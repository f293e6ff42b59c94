/* The atomic writer: whole or not at all, nothing left behind, and what a full disk says. */
#include "support/cmocka.h"

#include "file/atomic.h"
#include "support/refused.h"
#include "support/scratch.h"
#include "support/torture.h"
#include <signal.h>
#include <sys/wait.h>

static void expect_content(const char *path, const char *content) {
    size_t size = 0;
    uint8_t *data = scratch_read(path, &size);
    assert_string_equal((char *)data, content);
    free(data);
}

static void appears_on_commit(void **state) {
    (void)state;
    const char *path = scratch_path("out");
    leati_output *output = NULL;
    leat_error err = {0};
    assert_int_equal(leati_atomic_open(path, LEATI_ATOMIC_FILE, &output, &err), LEAT_OK);
    assert_int_equal(leati_atomic_write(output, "hello ", 6, &err), LEAT_OK);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(leati_atomic_write(output, "world", 5, &err), LEAT_OK);
    assert_int_equal(leati_atomic_commit(output, &err), LEAT_OK);
    expect_content(path, "hello world");
    assert_int_equal(scratch_count(), 1);
}

static void discard_leaves_the_old(void **state) {
    (void)state;
    const char *path = scratch_write("out", "old", 3);
    leati_output *output = NULL;
    assert_int_equal(leati_atomic_open(path, LEATI_ATOMIC_FILE, &output, &(leat_error){0}),
                     LEAT_OK);
    assert_int_equal(leati_atomic_write(output, "new", 3, &(leat_error){0}), LEAT_OK);
    assert_int_equal(scratch_count(), 2);
    leati_atomic_discard(output);
    leati_atomic_discard(NULL);
    expect_content(path, "old");
    assert_int_equal(scratch_count(), 1);
}

/* Sizes around the buffer's, in one piece and in many. */
static void sizes(void **state) {
    (void)state;
    static const size_t steps[] = {1, 1000, 65535, 65536, 65537, 200000};
    size_t total = 300000;
    uint8_t *data = malloc(total);
    assert_non_null(data);
    for (size_t i = 0; i < total; i++)
        data[i] = (uint8_t)(i * 7 + i / 251);
    for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
        leati_output *output = NULL;
        assert_int_equal(
            leati_atomic_open(scratch_path("big"), LEATI_ATOMIC_FILE, &output, &(leat_error){0}),
            LEAT_OK);
        for (size_t at = 0; at < total; at += steps[s]) {
            size_t part = total - at < steps[s] ? total - at : steps[s];
            assert_int_equal(leati_atomic_write(output, data + at, part, &(leat_error){0}),
                             LEAT_OK);
        }
        assert_int_equal(leati_atomic_commit(output, &(leat_error){0}), LEAT_OK);
        size_t size = 0;
        uint8_t *back = scratch_read(scratch_path("big"), &size);
        assert_int_equal(size, total);
        assert_memory_equal(back, data, total);
        free(back);
    }
    free(data);
}

static void links_are_followed(void **state) {
    (void)state;
    const char *path = scratch_write("real", "old", 3);
    assert_int_equal(symlink("real", scratch_path("link")), 0);
    assert_int_equal(leati_atomic_write_file(scratch_path("link"), "new", 3, &(leat_error){0}),
                     LEAT_OK);
    expect_content(path, "new");
    struct stat st;
    assert_int_equal(lstat(scratch_path("link"), &st), 0);
    assert_true(S_ISLNK(st.st_mode));
}

/* A part of several files takes the place of the link, whatever that leads to: a file of others,
 * nothing, itself. Folders on the way are still followed. */
static void parts_replace_links(void **state) {
    (void)state;
    static const char *const targets[] = {"real", "gone", "link"};
    struct stat st;
    assert_int_equal(mkdir(scratch_path("folder"), 0700), 0);
    assert_int_equal(symlink("folder", scratch_path("way")), 0);
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        const char *path = scratch_write("folder/real", "old", 3);
        assert_int_equal(symlink(targets[i], scratch_path("folder/link")), 0);
        assert_int_equal(
            leati_atomic_write_part(scratch_path("way/link"), "new", 3, &(leat_error){0}), LEAT_OK);
        expect_content(path, "old");
        expect_content(scratch_path("folder/link"), "new");
        assert_int_equal(lstat(scratch_path("folder/link"), &st), 0);
        assert_true(S_ISREG(st.st_mode));
        assert_int_equal(lstat(scratch_path("way"), &st), 0);
        assert_true(S_ISLNK(st.st_mode));
        assert_int_equal(unlink(scratch_path("folder/link")), 0);
    }
    assert_int_equal(scratch_count(), 2);
}

static void names_of_full_length(void **state) {
    (void)state;
    char name[256];
    memset(name, 'n', 255);
    name[255] = 0;
    assert_int_equal(leati_atomic_write_file(scratch_path(name), "x", 1, &(leat_error){0}),
                     LEAT_OK);
    expect_content(scratch_path(name), "x");
}

static void full_disk(void **state) {
    (void)state;
    if (access("/dev/full", W_OK) != 0)
        skip();
    leati_output *output = NULL;
    leat_error err = {0};
    static uint8_t data[70000];
    assert_int_equal(leati_atomic_open("/dev/full", LEATI_ATOMIC_FILE, &output, &err), LEAT_OK);
    assert_int_equal(leati_atomic_write(output, data, sizeof data, &err), LEAT_RESOURCE_EXHAUSTED);
    assert_refused(&err, LEAT_RESOURCE_EXHAUSTED, LEAT_REASON_NONE, "/dev/full");
    memset(&err, 0, sizeof err);
    assert_int_equal(leati_atomic_write(output, "x", 1, &err), LEAT_RESOURCE_EXHAUSTED);
    assert_int_equal(leati_atomic_commit(output, &err), LEAT_RESOURCE_EXHAUSTED);
    assert_refused(&err, LEAT_RESOURCE_EXHAUSTED, LEAT_REASON_NONE, "/dev/full");
    assert_int_equal(access("/dev/full", F_OK), 0);
    assert_int_equal(leati_atomic_write_file("/dev/full", "x", 1, &err), LEAT_RESOURCE_EXHAUSTED);
    /* A device is written in place, never replaced. */
    assert_int_equal(leati_atomic_write_file("/dev/null", "x", 1, &err), LEAT_OK);
    struct stat st;
    assert_int_equal(stat("/dev/null", &st), 0);
    assert_true(S_ISCHR(st.st_mode));
}

static void bad_places(void **state) {
    (void)state;
    leat_error err = {0};
    assert_int_equal(leati_atomic_write_file(scratch_path("none/out"), "x", 1, &err),
                     LEAT_NOT_FOUND);
    assert_refused(&err, LEAT_NOT_FOUND, LEAT_REASON_NONE, "out");
    assert_int_equal(leati_atomic_write_file(scratch_folder, "x", 1, &err),
                     LEAT_FAILED_PRECONDITION);
    assert_refused(&err, LEAT_FAILED_PRECONDITION, LEAT_REASON_NONE, "folder");
    assert_int_equal(chmod(scratch_folder, 0500), 0);
    if (!scratch_drop_root())
        skip();
    leat_status status = leati_atomic_write_file(scratch_path("out"), "x", 1, &err);
    scratch_regain_root();
    assert_int_equal(status, LEAT_PERMISSION_DENIED);
}

static void in_place(void **state) {
    (void)state;
    const char *path = scratch_write("out", "longer than new", 15);
    leati_output *output = NULL;
    assert_int_equal(leati_atomic_open(path, LEATI_ATOMIC_IN_PLACE, &output, &(leat_error){0}),
                     LEAT_OK);
    assert_int_equal(leati_atomic_write(output, "new", 3, &(leat_error){0}), LEAT_OK);
    assert_int_equal(scratch_count(), 1);
    assert_int_equal(leati_atomic_commit(output, &(leat_error){0}), LEAT_OK);
    expect_content(path, "new");
}

/* ---- what killed writers leave ---- */

static leati_output *start(const char *path) {
    leati_output *output = NULL;
    assert_int_equal(leati_atomic_open(path, LEATI_ATOMIC_FILE, &output, &(leat_error){0}),
                     LEAT_OK);
    assert_int_equal(leati_atomic_write(output, "part", 4, &(leat_error){0}), LEAT_OK);
    return output;
}

/* A process that starts to write `count` times and is killed. */
static void kill_writers(const char *path, int count) {
    pid_t child = fork();
    int status = 0;
    if (child == 0) {
        for (int i = 0; i < count; i++)
            (void)start(path);
        (void)raise(SIGKILL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
}

static void write_new(const char *path) {
    assert_int_equal(leati_atomic_write_file(path, "new", 3, &(leat_error){0}), LEAT_OK);
    expect_content(path, "new");
}

/* As many at a time as there are names; the next writer of the path removes all of them, by the
 * path's name or a link's, and no other path's. */
static void leftovers_go(void **state) {
    (void)state;
    for (int count = 1; count <= 8; count += 7) {
        const char *path = scratch_write("out", "old", 3);
        kill_writers(path, count);
        kill_writers(scratch_path("out.0"), 1);
        assert_int_equal(scratch_count(), 1 + count + 1);
        write_new(scratch_path("other"));
        assert_int_equal(scratch_count(), 2 + count + 1);
        write_new(path);
        assert_int_equal(scratch_count(), 2 + 1);
        write_new(scratch_path("out.0"));
        assert_int_equal(scratch_count(), 3);
        kill_writers(path, count);
        assert_int_equal(symlink("out", scratch_path("link")), 0);
        write_new(scratch_path("link"));
        assert_int_equal(scratch_count(), 4);
        assert_int_equal(remove(scratch_path("out.0")), 0);
        assert_int_equal(remove(scratch_path("other")), 0);
        assert_int_equal(remove(scratch_path("link")), 0);
    }
}

/* Also where the writer was killed before it held its file, and where what it left is no file. */
static void odd_leftovers(void **state) {
    (void)state;
    const char *path = scratch_path("out");
    scratch_write(".out.leat-0.tmp", "", 0);
    scratch_write(".out.leat-3.tmp", "x", 1);
    write_new(path);
    assert_int_equal(scratch_count(), 1);
    scratch_write("theirs", "keep", 4);
    assert_int_equal(symlink("theirs", scratch_path(".out.leat-0.tmp")), 0);
    assert_int_equal(mkfifo(scratch_path(".out.leat-1.tmp"), 0600), 0);
    assert_int_equal(mkdir(scratch_path(".out.leat-2.tmp"), 0700), 0);
    write_new(path);
    expect_content(scratch_path("theirs"), "keep");
    assert_int_equal(scratch_count(), 5);
}

/* Names that begin alike for as long as names may be are told from each other. */
static void leftovers_of_long_names(void **state) {
    (void)state;
    char name[256], other[256];
    memset(name, 'n', 255);
    name[255] = 0;
    memcpy(other, name, sizeof name);
    other[254] = 'm';
    char path[1024], other_path[1024];
    snprintf(path, sizeof path, "%s", scratch_path(name));
    snprintf(other_path, sizeof other_path, "%s", scratch_path(other));
    kill_writers(path, 1);
    write_new(other_path);
    assert_int_equal(scratch_count(), 2);
    write_new(path);
    assert_int_equal(scratch_count(), 2);
}

/* More writers of a path than there are names, all alive: nobody waits for another or takes its
 * file, and each commits what it wrote. */
static void many_writers(void **state) {
    (void)state;
    enum { MANY = 20 };
    const char *path = scratch_path("out");
    leati_output *outputs[MANY];
    for (int i = 0; i < MANY; i++) {
        char text[8];
        outputs[i] = start(path);
        int n = snprintf(text, sizeof text, "%d", i);
        assert_int_equal(leati_atomic_write(outputs[i], text, (size_t)n, &(leat_error){0}),
                         LEAT_OK);
    }
    assert_int_equal(scratch_count(), MANY);
    for (int i = 0; i < MANY; i++) {
        char expected[16];
        snprintf(expected, sizeof expected, "part%d", i);
        assert_int_equal(leati_atomic_commit(outputs[i], &(leat_error){0}), LEAT_OK);
        expect_content(path, expected);
    }
    assert_int_equal(scratch_count(), 1);
}

/* A file that somebody removes while it is written is no success, and another's that has its name
 * by then is neither put in place nor removed. */
static void a_lost_file(void **state) {
    (void)state;
    const char *path = scratch_write("out", "old", 3);
    leati_output *output = start(path);
    assert_int_equal(remove(scratch_path(".out.leat-0.tmp")), 0);
    leati_output *other = start(path);
    leat_error err = {0};
    assert_int_equal(leati_atomic_commit(output, &err), LEAT_ABORTED);
    assert_refused(&err, LEAT_ABORTED, LEAT_REASON_NONE, "out");
    expect_content(path, "old");
    assert_int_equal(leati_atomic_commit(other, &err), LEAT_OK);
    expect_content(path, "part");
    assert_int_equal(scratch_count(), 1);
}

static leat_status write_one(void *context, leat_error *err) {
    (void)context;
    leat_status status = leati_atomic_write_file(scratch_path("out"), "new", 3, err);
    assert_int_equal(scratch_count(), 1); /* no temporary file in any case */
    if (status != LEAT_OK)
        expect_content(scratch_path("out"), "old");
    return status;
}

static void every_allocation_fails_once(void **state) {
    (void)state;
    scratch_write("out", "old", 3);
    torture_begin();
    torture_run(write_one, NULL);
    torture_end();
    expect_content(scratch_path("out"), "new");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(appears_on_commit),
        TEST(discard_leaves_the_old),
        TEST(sizes),
        TEST(links_are_followed),
        TEST(parts_replace_links),
        TEST(names_of_full_length),
        TEST(full_disk),
        TEST(bad_places),
        TEST(in_place),
        TEST(every_allocation_fails_once),
        TEST(leftovers_go),
        TEST(odd_leftovers),
        TEST(leftovers_of_long_names),
        TEST(many_writers),
        TEST(a_lost_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
