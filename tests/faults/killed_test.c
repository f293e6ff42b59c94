/* Every save with its process killed in front of each of its calls that change files: what is there
 * then is the old version or the new one, whole, and the next save leaves nothing else. All work is
 * done in children, so nothing but files passes from one to the next. */
#include "support/cmocka.h"

#include "calls.h"
#include "kinds.h"
#include "support/scratch.h"
#include <signal.h>
#include <sys/wait.h>

enum { KILLED = -1, FAILED = 100 };

static int save(const kind *k, const char *folder, int version) {
    leat_error err = {0};
    if (k->save(folder, version, &err) == LEAT_OK)
        return 0;
    fprintf(stderr, "%s: %s\n", k->name, err.text);
    return FAILED;
}

/* The version that is there. */
static int load(const kind *k, const char *folder, int version) {
    leat_error err = {0};
    (void)version;
    if (k->load(folder, &version, &err) == LEAT_OK)
        return version;
    fprintf(stderr, "%s: %s\n", k->name, err.text);
    return FAILED;
}

/* Runs `body` in a child that is killed in front of its n-th call; 0: it is not. */
static int run(int (*body)(const kind *k, const char *folder, int version), const kind *k,
               const char *folder, int version, long n) {
    int status = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        calls_kill_at(n);
        _exit(body(k, folder, version));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        return KILLED;
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* Whether the process was killed before it was done. */
static bool killed_round(const kind *k, const char *folder, long n) {
    kinds_clear(folder);
    if (!k->is_new)
        assert_int_equal(run(save, k, folder, 0, 0), 0);
    int code = run(save, k, folder, 1, n), found = k->is_new ? 1 : run(load, k, folder, 0, 0);
    if (code != KILLED)
        assert_int_equal(code, 0);
    if (found != 1 && (found != 0 || code != KILLED))
        fail_msg("%s, killed at call %ld: version %d", k->name, n, found);
    if (k->is_new && strcmp(k->name, "index") != 0)
        assert_int_equal(run(load, k, folder, 0, 0), 1);
    assert_int_equal(run(save, k, folder, 1, 0), 0);
    assert_int_equal(run(load, k, folder, 0, 0), 1);
    int temporary = 0, count = kinds_count(folder, &temporary);
    /* Runs of saved datasets have folders of their own, whose names nobody knows again. */
    if (k->files > 0 && (count != k->files || temporary > 0))
        fail_msg("%s, killed at call %ld: %d files, %d temporary", k->name, n, count, temporary);
    return code == KILLED;
}

static void killed_at_each_call(void **state) {
    (void)state;
    char folder[600];
    snprintf(folder, sizeof folder, "%s", scratch_path("it"));
    for (int i = 0; i < num_kinds; i++) {
        long n = 1;
        while (killed_round(&kinds[i], folder, n))
            n++;
        if (n < 10)
            fail_msg("%s: %ld calls", kinds[i].name, n);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(killed_at_each_call, scratch_setup, scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
