/* Work that is left: by a thread that is told to stop, and by a process that ends. */
#include "support/cmocka.h"

#include "base/stop.h"
#include "run/apart.h"
#include "support/asking.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct job {
    atomic_bool ends; /* the work goes on until then */
    atomic_int runs, drops;
    atomic_bool heard; /* a look inside said to stop */
    pthread_t thread;
} job;

static void work(void *context) {
    job *j = context;
    j->thread = pthread_self();
    atomic_fetch_add(&j->runs, 1);
    while (!atomic_load(&j->ends)) {
        if (leati_stop_look())
            atomic_store(&j->heard, true);
        (void)sched_yield();
    }
}

static void drop(void *context) {
    atomic_fetch_add(&((job *)context)->drops, 1);
}

static void await_none_left(void) {
    while (leati_apart_num_left() > 0)
        (void)sched_yield();
}

/* Nobody can stop this thread, so the work is done on it. */
static void test_here(void **state) {
    (void)state;
    job j = {.ends = true};
    assert_true(leati_apart_run(work, drop, &j));
    assert_true(pthread_equal(j.thread, pthread_self()));
    assert_int_equal(j.runs, 1);
    assert_int_equal(j.drops, 0);
}

static void test_to_the_end(void **state) {
    (void)state;
    job j = {.ends = true};
    asking a = {0};
    leat_interrupt_set(ask, &a);
    leati_stop_scope before = leati_stop_enter(NULL, NULL, NULL);
    assert_true(leati_apart_run(work, drop, &j));
    leati_stop_leave(before);
    leat_interrupt_set(NULL, NULL);
    assert_false(pthread_equal(j.thread, pthread_self()));
    assert_int_equal(j.runs, 1);
    assert_int_equal(j.drops, 0);
    assert_int_equal(leati_apart_num_left(), 0);
}

static void test_left(void **state) {
    (void)state;
    job j = {0};
    asking a = {.last = 2};
    leat_interrupt_set(ask, &a);
    leati_stop_ask_always(true);
    leati_stop_scope before = leati_stop_enter(NULL, NULL, NULL);
    assert_false(leati_apart_run(work, drop, &j));
    assert_true(leati_stop_stopped());
    leati_stop_leave(before);
    leati_stop_ask_always(false);
    leat_interrupt_set(NULL, NULL);
    assert_int_equal(leati_apart_num_left(), 1);
    assert_int_equal(j.drops, 0);
    while (!atomic_load(&j.heard))
        (void)sched_yield();
    atomic_store(&j.ends, true);
    await_none_left();
    assert_int_equal(j.runs, 1);
    assert_int_equal(j.drops, 1);
}

/* A flag stops it as well, as that of a cancelled iterator. */
static void test_flag(void **state) {
    (void)state;
    job j = {0};
    atomic_bool flag = true;
    leati_stop_scope before = leati_stop_enter(&flag, NULL, NULL);
    assert_false(leati_apart_run(work, drop, &j));
    leati_stop_leave(before);
    atomic_store(&j.ends, true);
    await_none_left();
    assert_int_equal(j.drops, 1);
}

static void say_end(void) {
    (void)(write(STDOUT_FILENO, "end\n", 4) == 4);
}

/* In a process of its own: ends with 3 although the work never does. */
static void leave_and_exit(void) {
    static job j;
    static atomic_bool flag = true;
    leati_stop_scope before = leati_stop_enter(&flag, NULL, NULL);
    bool left = !leati_apart_run(work, drop, &j);
    leati_stop_leave(before);
    atexit(say_end);
    exit(left ? 3 : 4);
}

static void test_exit(void **state) {
    (void)state;
    int ends[2], status = 0;
    char said[8] = "";
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        leave_and_exit();
    }
    close(ends[1]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 3);
    assert_int_equal(read(ends[0], said, sizeof said - 1), 4);
    assert_string_equal(said, "end\n");
    close(ends[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exit), /* first: its child has no thread of the others */
        cmocka_unit_test(test_here), cmocka_unit_test(test_to_the_end),
        cmocka_unit_test(test_left), cmocka_unit_test(test_flag),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
