/* What goes wrong with a PJRT plug-in, by one that computes nothing (tests/pjrt/mock.c): a clear
 * error, nothing left over, variables as they were before the step. */
#include "support/cmocka.h"

#include "support/refused.h"

#include <dlfcn.h>
#include <leat/dist.h>
#include <leat/graph.h>
#include <leat/ops.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLUGIN(kind) kind "=" LEATI_MOCK_PJRT

static int (*live)(void);
static int (*waiting)(void);
static void (*go_on)(void);

static void say(const char *words) {
    setenv("LEAT_MOCK_PJRT", words, 1);
}

/* Finds the functions of the mock, which the library has loaded. */
static void find_functions(void) {
    void *library = dlopen(LEATI_MOCK_PJRT, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(library);
    *(void **)&live = dlsym(library, "mock_pjrt_live");
    *(void **)&waiting = dlsym(library, "mock_pjrt_waiting");
    *(void **)&go_on = dlsym(library, "mock_pjrt_go_on");
    assert_true(live != NULL && waiting != NULL && go_on != NULL);
}

/* ---- opening ---- */

static void expect_no_device(const char *words, leat_status code, const char *keyword) {
    leat_device_description found;
    leat_error err = {0};
    say(words);
    assert_int_equal(leat_device_describe("GPU", &found, &err), code);
    assert_refused(&err, code, LEAT_REASON_NONE, keyword);
}

static void test_plugins_that_are_not_taken(void **state) {
    (void)state;
    setenv("LEAT_PJRT_PLUGIN", PLUGIN("GPU"), 1);
    expect_no_device("minor=40", LEAT_UNIMPLEMENTED, "0.40");
    expect_no_device("lack=LoadedExecutable_Execute", LEAT_UNIMPLEMENTED,
                     "PJRT_LoadedExecutable_Execute");
    expect_no_device("lack=Error_Destroy", LEAT_UNIMPLEMENTED, "PJRT_Error_Destroy");
    expect_no_device("client", LEAT_UNAVAILABLE, "client");
    find_functions();
    assert_int_equal(live(), 0);
    /* A later call tries again. */
    leat_device_description found;
    say("");
    assert_int_equal(leat_device_describe("GPU", &found, NULL), LEAT_OK);
    assert_int_equal(found.num_devices, 1);
    assert_string_equal(found.platform, "mock");
}

/* ---- steps ---- */

typedef struct fixture {
    leat_strategy *strategy;
    leat_variable *variable;
    leat_step *step;
    leat_per_replica out;
    int before; /* objects of the mock */
} fixture;

/* The variable is assigned; the mock makes of it what it was, with 1 added. */
static int trace(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    const fixture *f = context;
    (void)capacity;
    leat_value now = leat_graph_read(graph, f->variable);
    leat_graph_assign(graph, f->variable, leat_op_square(now));
    outputs[0] = leat_op_reduce_sum(now, NULL, 0, false);
    return 1;
}

static leat_status run(fixture *f, leat_error *err) {
    leat_element none = {.spec = leat_spec_tuple(NULL, 0, err)};
    leat_per_replica arguments = {.elements = &none, .num_replicas = 1};
    leat_status status = leat_strategy_run(f->strategy, f->step, &arguments, &f->out, err);
    leat_element_fini(&none);
    return status;
}

static void make(fixture *f) {
    leat_error err = {0};
    float initial[3] = {1, 2, 3};
    leat_tensor tensor = leat_tensor_view(LEAT_FLOAT32, LEAT_SHAPE(3), initial);
    *f = (fixture){0};
    setenv("LEAT_PJRT_PLUGIN", PLUGIN("TPU"), 1);
    say("");
    f->strategy = leat_strategy_one_device("TPU:0", &err);
    if (f->strategy == NULL)
        fail_msg("%s", err.text);
    find_functions();
    f->before = live();
    assert_int_equal(leat_strategy_enter(f->strategy, &err), LEAT_OK);
    f->variable = leat_variable_new(&tensor, NULL, &err);
    leat_strategy_exit(f->strategy);
    f->step = leat_step_new(trace, f, &err);
    assert_true(f->variable != NULL && f->step != NULL);
}

/* Nothing of the mock's is left. */
static void end(fixture *f) {
    leat_per_replica_fini(&f->out);
    leat_step_free(f->step);
    leat_variable_unref(f->variable);
    leat_strategy_unref(f->strategy);
    assert_int_equal(live(), f->before);
    say("");
}

/* The variable is [first, first + 1, first + 2]. */
static void expect_variable(fixture *f, float first) {
    leat_tensor found = {0};
    leat_error err = {0};
    if (leat_variable_read(f->variable, &found, &err) != LEAT_OK)
        fail_msg("%s", err.text);
    for (int i = 0; i < 3; i++)
        assert_true(((const float *)found.data)[i] == first + (float)i);
    leat_tensor_unref(&found);
}

static void expect_failure(fixture *f, leat_status code, const char *keyword) {
    leat_error err = {0};
    assert_int_equal(run(f, &err), code);
    assert_refused(&err, code, LEAT_REASON_NONE, keyword);
}

static void test_programs_that_do_not_compile(void **state) {
    fixture f;
    leat_error err = {0};
    (void)state;
    make(&f);
    say("compile");
    expect_failure(&f, LEAT_INVALID_ARGUMENT, "compile");
    expect_variable(&f, 1);
    say("");
    assert_int_equal(run(&f, &err), LEAT_OK);
    expect_variable(&f, 2);
    end(&f);
}

/* At once, and when the result is waited for; the steps before and after are done. */
static void test_runs_that_fail(void **state) {
    static const struct {
        const char *words;
        leat_status code;
        const char *keyword;
    } cases[] = {{"execute=2", LEAT_RESOURCE_EXHAUSTED, "memory"},
                 {"late=2", LEAT_ABORTED, "lost"},
                 {"execute=2", LEAT_RESOURCE_EXHAUSTED, "square"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture f;
        leat_error err = {0};
        make(&f);
        say(cases[i].words);
        assert_int_equal(run(&f, &err), LEAT_OK);
        expect_variable(&f, 2);
        expect_failure(&f, cases[i].code, cases[i].keyword);
        expect_variable(&f, 2);
        assert_int_equal(run(&f, &err), LEAT_OK);
        expect_variable(&f, 3);
        end(&f);
    }
}

static void test_copies_that_fail(void **state) {
    fixture f;
    leat_error err = {0};
    float values[3] = {7, 8, 9};
    leat_tensor tensor = leat_tensor_view(LEAT_FLOAT32, LEAT_SHAPE(3), values), found = {0};
    (void)state;
    make(&f);
    say("upload");
    assert_int_equal(leat_variable_assign(f.variable, &tensor, &err), LEAT_DATA_LOSS);
    say("");
    expect_variable(&f, 1);
    say("download");
    assert_int_equal(leat_variable_read(f.variable, &found, &err), LEAT_DATA_LOSS);
    say("download");
    expect_failure(&f, LEAT_DATA_LOSS, "download");
    say("");
    end(&f);
}

static void *wait_and_go_on(void *context) {
    (void)context;
    while (waiting() == 0)
        sched_yield();
    go_on();
    return NULL;
}

static void test_a_run_that_hangs_goes_on(void **state) {
    fixture f;
    leat_error err = {0};
    pthread_t thread;
    (void)state;
    make(&f);
    say("hang");
    assert_int_equal(pthread_create(&thread, NULL, wait_and_go_on, NULL), 0);
    assert_int_equal(run(&f, &err), LEAT_OK);
    pthread_join(thread, NULL);
    expect_variable(&f, 2);
    end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plugins_that_are_not_taken),
        cmocka_unit_test(test_programs_that_do_not_compile),
        cmocka_unit_test(test_runs_that_fail),
        cmocka_unit_test(test_copies_that_fail),
        cmocka_unit_test(test_a_run_that_hangs_goes_on),
    };
    return cmocka_run_group_tests_name("pjrt", tests, NULL, NULL);
}
