/* Files of programs that have pages: found while they are held, and only in a folder of one's own.
 */
#include "support/cmocka.h"

#include "data/run/seen.h"
#include "file/lock.h"
#include "support/refused.h"
#include "support/scratch.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void set_folder(const char *name) {
    assert_int_equal(mkdir(scratch_path(name), 0700), 0);
    assert_int_equal(setenv("XDG_RUNTIME_DIR", scratch_path(name), 1), 0);
}

static void assert_read(leat_status status, const char *keyword) {
    leat_error err = {0};
    leati_text urls = {0};
    assert_int_equal(leati_seen_read((int)getpid(), &urls, &err), status);
    assert_refused(&err, status, LEAT_REASON_NONE, keyword);
    leati_text_fini(&urls);
}

static void test_written_and_removed(void **state) {
    (void)state;
    leat_error err = {0};
    leati_lock *held = NULL;
    leati_text urls = {0};
    char path[4200];
    struct stat found;
    set_folder("own");
    assert_read(LEAT_FAILED_PRECONDITION, "LEAT_WATCH=1");
    assert_int_equal(leati_seen_write(&held, "first\n", &err), LEAT_OK);
    assert_int_equal(leati_seen_write(&held, "a\nb\n", &err), LEAT_OK);
    assert_int_equal(leati_seen_read((int)getpid(), &urls, &err), LEAT_OK);
    assert_int_equal(urls.size, 4);
    assert_memory_equal(urls.data, "a\nb\n", 4);
    leati_text_fini(&urls);
    snprintf(path, sizeof path, "%s/leat/%d", getenv("XDG_RUNTIME_DIR"), (int)getpid());
    assert_int_equal(stat(path, &found), 0);
    assert_int_equal(found.st_mode & 0777, 0600);
    leati_lock_free(held); /* a leftover, as of a program that had this number */
    assert_read(LEAT_FAILED_PRECONDITION, "LEAT_WATCH=1");
    assert_int_not_equal(stat(path, &found), 0);
    held = NULL;
    assert_int_equal(leati_seen_write(&held, "a\n", &err), LEAT_OK);
    assert_int_equal(leati_seen_write(&held, "", &err), LEAT_OK);
    assert_null(held);
    assert_int_not_equal(stat(path, &found), 0);
}

static void test_folders_of_others(void **state) {
    (void)state;
    leat_error err = {0};
    leati_lock *held = NULL;
    char path[4200];
    set_folder("open");
    snprintf(path, sizeof path, "%s/leat", getenv("XDG_RUNTIME_DIR"));
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(chmod(path, 0750), 0);
    assert_read(LEAT_FAILED_PRECONDITION, "0700");
    assert_int_equal(leati_seen_write(&held, "a\n", &err), LEAT_FAILED_PRECONDITION);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(symlink(scratch_path("own"), path), 0);
    assert_read(LEAT_FAILED_PRECONDITION, "link");
    assert_null(held);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_written_and_removed),
        cmocka_unit_test(test_folders_of_others),
    };
    return cmocka_run_group_tests_name("seen", tests, scratch_setup, scratch_teardown);
}
