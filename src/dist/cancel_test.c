/* Runs of several replicas that are stopped: what all of them write is written by all or by none,
 * wherever it hits them. */
#include "support/cmocka.h"

#include "base/stop.h"
#include "coll/threads.h"
#include "dist/strategy.h"
#include "support/asking.h"
#include "support/refused.h"
#include "support/strategy.h"
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

enum { DEVICES = 3, VALUES = 12000, STEPS = 6 };

static leat_strategy *open_strategy(int replicas) {
    static const char *const names[] = {"CPU:0", "CPU:1", "CPU:2"};
    leat_error err = {0};
    leat_strategy_mirrored_options options = {LEAT_STRATEGY_MIRRORED_DEFAULTS, .devices = names,
                                              .num_devices = replicas};
    leat_strategy *strategy = leat_strategy_mirrored(&options, &err);
    assert_non_null(strategy);
    return strategy;
}

/* Adds to one variable what all replicas have, then to the other what they have by then. */
static int trace_sums(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    leat_variable **variables = context;
    for (int i = 0; i < 2; i++) {
        leat_value own = leat_graph_argument(graph, 0);
        leat_value seen = leat_graph_read(graph, variables[0]);
        own = leat_op_add(own, leat_op_sin(leat_op_cos(leat_op_tanh(seen))));
        leat_graph_assign_add(graph, variables[i], own);
    }
    outputs[0] = leat_graph_read(graph, variables[1]);
    return 1;
}

/* Counts, as layers with seeds do, before it computes anything; the results are written at last. */
static int trace_counter(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    leat_variable **variables = context;
    leat_value own = leat_graph_argument(graph, 0);
    leat_graph_assign_add(graph, variables[0], own);
    for (int i = 0; i < STEPS; i++)
        own = leat_op_matmul(
            leat_op_reshape(own, (int64_t[]){1, 1}, 2),
            leat_op_reshape(leat_graph_read(graph, variables[1]), (int64_t[]){1, 1}, 2), false,
            false);
    own = leat_op_add(leat_op_reshape(own, NULL, 0), leat_graph_argument(graph, 0));
    leat_graph_assign_add(graph, variables[1], own);
    outputs[0] = leat_graph_read(graph, variables[1]);
    return 1;
}

typedef struct program {
    leat_strategy *strategy;
    leat_variable *variables[2];
    leat_step *step;
    leat_element ones[DEVICES]; /* what the replicas are given */
    float before[2];            /* of the variables */
} program;

static program begin(int replicas) {
    program p = {.strategy = open_strategy(replicas)};
    leat_variable_options options = {LEAT_VARIABLE_DEFAULTS, .name = "v",
                                     .aggregation = LEAT_AGGREGATION_SUM};
    leat_error err = {0};
    leat_spec *spec = leat_spec_tensor(LEAT_FLOAT32, LEAT_SCALAR, &err);
    for (int r = 0; r < replicas; r++) {
        leat_tensor one = leat_scalar_float32(1);
        assert_int_equal(leat_element_set(&p.ones[r], spec, &one, &err), LEAT_OK);
        leat_tensor_unref(&one);
    }
    leat_spec_unref(spec);
    for (int i = 0; i < 2; i++) {
        p.variables[i] = strategy_variable(p.strategy, 0, &options, &err);
        assert_non_null(p.variables[i]);
    }
    return p;
}

static void end(program *p) {
    leat_step_free(p->step);
    for (int i = 0; i < 2; i++)
        leat_variable_unref(p->variables[i]);
    for (int r = 0; r < leat_strategy_num_replicas(p->strategy); r++)
        leat_element_fini(&p->ones[r]);
    leat_strategy_unref(p->strategy);
}

static float copy_of(leat_variable *variable, int replica) {
    leat_error err = {0};
    leat_tensor copy = {0};
    assert_int_equal(leat_variable_read_copy(variable, replica, &copy, &err), LEAT_OK);
    float number = *(float *)copy.data;
    leat_tensor_unref(&copy);
    return number;
}

/* All replicas have the same, and both variables have changed or neither has. */
static void check_copies(program *p) {
    bool changed[2];
    for (int i = 0; i < 2; i++) {
        float first = copy_of(p->variables[i], 0);
        for (int r = 1; r < leat_strategy_num_replicas(p->strategy); r++)
            if (copy_of(p->variables[i], r) != first)
                fail_msg("variable %d: replica %d has %g, replica 0 %g", i, r,
                         (double)copy_of(p->variables[i], r), (double)first);
        changed[i] = first != p->before[i];
        p->before[i] = first;
    }
    assert_int_equal(changed[0], changed[1]);
}

static leat_status run(program *p) {
    leat_error err = {0};
    leat_per_replica args = {.elements = p->ones,
                             .num_replicas = leat_strategy_num_replicas(p->strategy)};
    leat_status status = leat_strategy_run(p->strategy, p->step, &args, NULL, &err);
    if (status != LEAT_OK && status != LEAT_CANCELLED && status != LEAT_ABORTED)
        fail_msg("%s", err.text);
    check_copies(p);
    return status;
}

/* The caller's thread is asked at each task of its replica, and says yes at one after the other. */
static void test_each_look(void **state) {
    (void)state;
    leat_error err = {0};
    for (int replicas = 2; replicas <= DEVICES; replicas++) {
        program p = begin(replicas);
        p.step = leat_step_new(trace_sums, p.variables, &err);
        asking a = {0};
        assert_int_equal(run(&p), LEAT_OK); /* compiles */
        leat_interrupt_set(ask, &a);
        leati_stop_ask_always(true);
        assert_int_equal(run(&p), LEAT_OK);
        int64_t looks = a.asks;
        assert_true(looks >= 3);
        int stopped = 0;
        for (int64_t at = 1; at <= looks; at++) {
            a = (asking){.last = at};
            stopped += run(&p) != LEAT_OK;
            a = (asking){0};
            assert_int_equal(run(&p), LEAT_OK);
        }
        assert_true(stopped >= 3);
        leat_interrupt_set(NULL, NULL);
        leati_stop_ask_always(false);
        end(&p);
    }
}

/* A step that writes a small variable early can be stopped all the same. */
static void test_early_writes(void **state) {
    (void)state;
    leat_error err = {0};
    program p = begin(1);
    p.step = leat_step_new(trace_counter, p.variables, &err);
    asking a = {0};
    assert_int_equal(run(&p), LEAT_OK); /* compiles */
    leat_interrupt_set(ask, &a);
    leati_stop_ask_always(true);
    assert_int_equal(run(&p), LEAT_OK);
    int64_t looks = a.asks;
    assert_true(looks >= STEPS);
    int stopped = 0;
    for (int64_t at = 1; at <= looks; at++) {
        a = (asking){.last = at};
        stopped += run(&p) != LEAT_OK;
    }
    assert_true(stopped >= STEPS);
    leat_interrupt_set(NULL, NULL);
    leati_stop_ask_always(false);
    assert_int_equal(run(&p), LEAT_OK);
    end(&p);
}

typedef struct canceller {
    leat_strategy *strategy;
    atomic_bool ends;
    uint32_t seed;
} canceller;

static void *cancel_at_random(void *context) {
    canceller *c = context;
    while (!atomic_load(&c->ends)) {
        c->seed = c->seed * 1664525U + 1013904223U;
        for (uint32_t i = 0; i < c->seed >> 26; i++)
            (void)sched_yield();
        leat_strategy_cancel(c->strategy);
    }
    return NULL;
}

/* From another thread, at any moment. */
static void test_any_moment(void **state) {
    (void)state;
    leat_error err = {0};
    for (int replicas = 2; replicas <= DEVICES; replicas++) {
        program p = begin(replicas);
        p.step = leat_step_new(trace_sums, p.variables, &err);
        assert_int_equal(run(&p), LEAT_OK);
        canceller c = {.strategy = p.strategy, .seed = (uint32_t)replicas};
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, cancel_at_random, &c), 0);
        for (int round = 0; round < 500; round++)
            (void)(run(&p) == LEAT_OK);
        atomic_store(&c.ends, true);
        pthread_join(thread, NULL);
        assert_int_equal(run(&p), LEAT_OK);
        end(&p);
    }
}

/* Replica 0 cancels while the other one waits for it. */
static leat_status meet(void *context, int replica, leat_error *err) {
    leat_strategy *strategy = context;
    if (replica == 0) {
        leat_strategy_cancel(strategy);
        return LEAT_OK;
    }
    return strategy->collective->ops->barrier(strategy->collective, replica, err);
}

static void test_one_that_waits(void **state) {
    (void)state;
    leat_error err = {0};
    program p = begin(2);
    p.step = leat_step_new(trace_sums, p.variables, &err);
    leat_strategy_cancel(NULL);
    leat_strategy_cancel(p.strategy);
    assert_int_equal(run(&p), LEAT_OK);
    assert_int_equal(leati_strategy_run_on_replicas(p.strategy, meet, p.strategy, &err),
                     LEAT_ABORTED);
    assert_refused(&err, LEAT_ABORTED, LEAT_REASON_AFTER_FAILURE, "collective");
    assert_int_equal(run(&p), LEAT_OK);
    end(&p);
}

/* A rank of a collective that another thread aborts. */
typedef struct rank {
    leati_collective *collective;
    int number;
    int64_t values, passed; /* of a call; calls that ended well */
    pthread_t thread;
} rank;

static void *call_until_aborted(void *context) {
    rank *r = context;
    leat_error err = {0};
    leat_status status = LEAT_OK;
    while (status == LEAT_OK) {
        /* New each time, so that a sanitizer sees who still uses it when the call has ended. */
        float *data = calloc((size_t)r->values, sizeof *data);
        assert_non_null(data);
        data[r->values - 1] = 1;
        status = r->collective->ops->all_reduce(r->collective, r->number, data, r->values,
                                                LEAT_FLOAT32, LEATI_REDUCTION_SUM, &err);
        if (status == LEAT_OK) {
            r->passed++;
            assert_true(data[r->values - 1] == (float)r->collective->num_ranks);
        }
        free(data);
    }
    return NULL;
}

/* A call ends well on all ranks or on none. */
static void test_all_or_none(void **state) {
    (void)state;
    leat_error err = {0};
    for (int round = 0; round < 200; round++) {
        int ranks = 2 + round % (DEVICES - 1);
        leati_collective *collective = leati_threads_collective_new(ranks, 60000, &err);
        assert_non_null(collective);
        rank all[DEVICES];
        for (int r = 0; r < ranks; r++) {
            all[r] = (rank){.collective = collective,
                            .number = r,
                            .values = round % 4 < 2 ? 1 : VALUES}; /* at once or in parts */
            assert_int_equal(pthread_create(&all[r].thread, NULL, call_until_aborted, &all[r]), 0);
        }
        for (int i = 0; i < round % 100; i++)
            (void)sched_yield();
        leat_error reason = {.code = LEAT_CANCELLED, .text = "stopped"};
        collective->ops->abort(collective, &reason);
        for (int r = 0; r < ranks; r++)
            pthread_join(all[r].thread, NULL);
        for (int r = 1; r < ranks; r++)
            assert_int_equal(all[r].passed, all[0].passed);
        collective->ops->close(collective);
    }
}

int main(void) {
    leat_error err = {0};
    if (leat_device_set_logical_cpus(DEVICES, &err) != LEAT_OK)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_look),   cmocka_unit_test(test_early_writes),
        cmocka_unit_test(test_any_moment),  cmocka_unit_test(test_one_that_waits),
        cmocka_unit_test(test_all_or_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
