/* Reasons in a process why it does not reach a dispatcher: a network without a loopback, and no
 * room for threads. In children, which nobody needs afterwards. */
#include "support/cmocka.h"

#include "base/error.h"
#include "service/wire/control.h"
#include "support/refused.h"
#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { AS_EXPECTED = 0, SKIPPED = 1, OTHERWISE = 2 };

static bool is_found(const char *service, leat_status code, const char *word) {
    leati_control control = {.service = (char *)(uintptr_t)service};
    leat_error err = {0};
    leat_status found = leati_control_check_here(&control, &err);
    if (found == code && (word == NULL || refused_names(leat_error_message(&err), word)))
        return true;
    fprintf(stderr, "%s: %s\n", service, leat_error_message(&err));
    return false;
}

/* What the child finds. */
static int in_child(int (*look)(void)) {
    int status = 0;
    pid_t child = fork();
    if (child == 0)
        _exit(look());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == SKIPPED)
        skip();
    return WEXITSTATUS(status);
}

static void nothing_is_wrong_here(void **state) {
    (void)state;
    static const char *const services[] = {"localhost:1", "grpc://127.0.0.1:1", "10.0.0.7:1",
                                           "grpc://no-such-host.invalid:1", "local://localhost:1"};
    for (size_t i = 0; i < sizeof services / sizeof services[0]; i++)
        assert_true(is_found(services[i], LEAT_OK, NULL));
}

static int look_without_loopback(void) {
    if (unshare(CLONE_NEWNET) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0)
        return SKIPPED;
    /* Another host may be reached later: that is waited for. */
    return is_found("localhost:1", LEAT_FAILED_PRECONDITION, "loopback") &&
                   is_found("grpc://127.0.0.1:1", LEAT_FAILED_PRECONDITION, "127.0.0.1") &&
                   is_found("grpc://[::1]:1", LEAT_FAILED_PRECONDITION, "::1") &&
                   is_found("grpc://10.0.0.7:1", LEAT_OK, NULL) &&
                   is_found("grpc://dispatcher.invalid:1", LEAT_OK, NULL) &&
                   is_found("local://localhost:1", LEAT_OK, NULL)
               ? AS_EXPECTED
               : OTHERWISE;
}

static void a_loopback_that_is_not_there(void **state) {
    (void)state;
    assert_int_equal(in_child(look_without_loopback), AS_EXPECTED);
}

static int look_without_room(void) {
    const struct rlimit none = {1 << 20, 1 << 20};
    if (setrlimit(RLIMIT_AS, &none) != 0)
        return SKIPPED;
    return is_found("localhost:1", LEAT_RESOURCE_EXHAUSTED, "memory") ? AS_EXPECTED : OTHERWISE;
}

static void no_room_for_a_thread(void **state) {
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip(); /* sanitizers map memory of their own */
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
    skip();
#endif
#endif
    assert_int_equal(in_child(look_without_room), AS_EXPECTED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_room_for_a_thread), /* first: threads that ended leave their stacks */
        cmocka_unit_test(a_loopback_that_is_not_there),
        cmocka_unit_test(nothing_is_wrong_here),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
