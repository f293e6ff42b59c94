/* The atomic writer: whole or not at all, nothing left behind, and what a full disk says. */
#include "support/cmocka.h"

#include "file/atomic.h"
#include "support/refused.h"
#include "support/scratch.h"
#include "support/torture.h"

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
    assert_int_equal(leati_atomic_open(path, false, &output, &err), LEAT_OK);
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
    assert_int_equal(leati_atomic_open(path, false, &output, &(leat_error){0}), LEAT_OK);
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
        assert_int_equal(leati_atomic_open(scratch_path("big"), false, &output, &(leat_error){0}),
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
    assert_int_equal(leati_atomic_open("/dev/full", false, &output, &err), LEAT_OK);
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
    assert_int_equal(leati_atomic_open(path, true, &output, &(leat_error){0}), LEAT_OK);
    assert_int_equal(leati_atomic_write(output, "new", 3, &(leat_error){0}), LEAT_OK);
    assert_int_equal(scratch_count(), 1);
    assert_int_equal(leati_atomic_commit(output, &(leat_error){0}), LEAT_OK);
    expect_content(path, "new");
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
        TEST(names_of_full_length),
        TEST(full_disk),
        TEST(bad_places),
        TEST(in_place),
        TEST(every_allocation_fails_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
