/* Locked files: held by one, free when its process has ended, and never taken after their removal.
 */
#include "support/cmocka.h"

#include "file/lock.h"
#include "support/refused.h"
#include "support/scratch.h"
#include <signal.h>
#include <sys/wait.h>

static void test_one_holder(void **state) {
    (void)state;
    leat_error err = {0};
    leati_lock *first = NULL, *second = NULL;
    const char *path = scratch_path("one");
    assert_int_equal(leati_lock_take(path, &first, &err), LEAT_NOT_FOUND);
    assert_int_equal(leati_lock_new(path, &first, &err), LEAT_OK);
    assert_int_equal(leati_lock_write(first, "a long text", &err), LEAT_OK);
    assert_int_equal(leati_lock_write(first, "short", &err), LEAT_OK);
    assert_int_equal(leati_lock_new(path, &second, &err), LEAT_ALREADY_EXISTS);
    assert_refused(&err, LEAT_ALREADY_EXISTS, LEAT_REASON_NONE, "one");
    assert_int_equal(leati_lock_take(path, &second, &err), LEAT_ALREADY_EXISTS);
    leati_lock_free(first);
    assert_int_equal(leati_lock_take(path, &second, &err), LEAT_OK);
    size_t size = 0;
    uint8_t *text = scratch_read(path, &size);
    assert_string_equal((char *)text, "short");
    free(text);
    leati_lock_remove(second);
    assert_int_equal(leati_lock_take(path, &second, &err), LEAT_NOT_FOUND);
    leati_lock_free(NULL);
    leati_lock_remove(NULL);
}

static void test_dead_holder(void **state) {
    (void)state;
    leat_error err = {0};
    leati_lock *lock = NULL;
    int ready[2];
    char byte = 0;
    const char *path = scratch_path("dead");
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        bool held = leati_lock_new(path, &lock, &err) == LEAT_OK;
        (void)!write(ready[1], "x", 1);
        while (held)
            (void)pause();
        _exit(1);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(leati_lock_take(path, &lock, &err), LEAT_ALREADY_EXISTS);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(leati_lock_take(path, &lock, &err), LEAT_OK);
    leati_lock_remove(lock);
    (void)close(ready[0]);
    (void)close(ready[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_holder),
        cmocka_unit_test(test_dead_holder),
    };
    return cmocka_run_group_tests_name("lock", tests, scratch_setup, scratch_teardown);
}
