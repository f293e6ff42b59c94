/* Workers without memory: worker 1's first, second, ... allocation fails while all reduce, gather
 * or make a variable. Nobody waits for it: all others end at once, or go on, with a text that names
 * the worker and what it was doing. */
#include "support/cmocka.h"

#include "support/strategy.h"
#include "support/torture.h"
#include "support/workers.h"

enum { LONG_MS = 60000, MOST_ROUNDS = 200, MOST_JOINS = 1000, MANY = 100 };

// ---- in a worker ----

static leat_strategy *try_join(leat_error *err) {
    /* Beats, which take memory too, come rarely. */
    const leat_strategy_multi_worker_mirrored_options options = {
        LEAT_STRATEGY_MULTI_WORKER_MIRRORED_DEFAULTS, .timeout_ms = LONG_MS,
        .start_timeout_ms = LONG_MS, .heartbeat_timeout_ms = LONG_MS,
        .communication = LEAT_COMMUNICATION_SHARED};
    return leat_strategy_multi_worker_mirrored(&options, err);
}

static leat_strategy *join(void) {
    leat_error err = {0};
    leat_strategy *strategy = try_join(&err);
    if (strategy == NULL)
        fail_msg("%s", err.text);
    return strategy;
}

/* More values than travel in one exchange, of two components. */
static void values(leat_per_replica *out, leat_element *element) {
    leat_error err = {0};
    leat_tensor tensors[2];
    leat_spec *parts[2] = {leat_spec_tensor(LEAT_FLOAT32, LEAT_SHAPE(MANY), &err),
                           leat_spec_tensor(LEAT_INT32, LEAT_SHAPE(2), &err)};
    leat_spec *spec = leat_spec_tuple(parts, 2, &err);
    assert_int_equal(leat_tensor_new(LEAT_FLOAT32, LEAT_SHAPE(MANY), &tensors[0], &err), LEAT_OK);
    assert_int_equal(leat_tensor_new(LEAT_INT32, LEAT_SHAPE(2), &tensors[1], &err), LEAT_OK);
    memset(tensors[0].data, 0, MANY * sizeof(float));
    memset(tensors[1].data, 0, 2 * sizeof(int32_t));
    assert_int_equal(leat_element_set(element, spec, tensors, &err), LEAT_OK);
    leat_spec_unref(spec);
    for (int i = 0; i < 2; i++)
        leat_tensor_unref(&tensors[i]);
    *out = (leat_per_replica){.elements = element, .num_replicas = 1};
}

static leat_status call(leat_strategy *strategy, const char *what, const leat_per_replica *value,
                        leat_error *err) {
    leat_element out = {0};
    leat_status status = LEAT_OK;
    if (strcmp(what, "reduce") == 0) {
        status = leat_strategy_reduce(strategy, LEAT_REDUCE_SUM, value, LEAT_NO_AXIS, &out, err);
    } else if (strcmp(what, "gather") == 0) {
        status = leat_strategy_gather(strategy, value, 0, &out, err);
    } else {
        leat_tensor three = leat_tensor_view(LEAT_FLOAT32, LEAT_SCALAR, &(float){3});
        leat_variable *variable = leat_variable_new(
            &three, &(leat_variable_options){LEAT_VARIABLE_DEFAULTS, .name = "kernel"}, err);
        status = variable == NULL ? torture_code(err) : LEAT_OK;
        leat_variable_unref(variable);
    }
    leat_element_fini(&out);
    return status;
}

/* In round n worker 1's n-th allocation fails; until none fails any more. */
static void worker_call(void **state) {
    (void)state;
    int64_t mine = 0, all[WORKERS_MOST];
    torture_begin();
    for (int round = 1; round <= MOST_ROUNDS; round++) {
        leat_strategy *strategy = join();
        leat_per_replica value;
        leat_element element = {0};
        leat_error err = {0};
        values(&value, &element);
        assert_int_equal(leat_strategy_exchange(strategy, &mine, 1, all, &err), LEAT_OK);
        if (all[1] == 0) {
            assert_int_equal(leat_strategy_enter(strategy, &err), LEAT_OK);
            torture_fail_at(leat_strategy_worker(strategy) == 1 ? round : 0);
            leat_status status = call(strategy, workers_argument(), &value, &err);
            mine = leat_strategy_worker(strategy) == 1 && !torture_failed();
            torture_fail_at(0);
            leat_strategy_exit(strategy);
            workers_say("%s: %s", leat_status_name(status), err.text);
        }
        leat_element_fini(&element);
        leat_strategy_unref(strategy);
        if (all[1] != 0)
            break;
    }
    torture_end();
}

/* Worker 1's n-th allocation fails while it joins; until it has joined. */
static void worker_join(void **state) {
    (void)state;
    int64_t mine = 0, all[WORKERS_MOST];
    bool second = strstr(getenv("TF_CONFIG"), "\"index\": 1") != NULL;
    leat_status status = LEAT_UNKNOWN;
    torture_begin();
    for (int round = 1; round <= MOST_JOINS && status != LEAT_OK; round++) {
        leat_error err = {0};
        torture_fail_at(second ? round : 0);
        leat_strategy *strategy = try_join(&err);
        torture_fail_at(0);
        status =
            strategy == NULL ? err.code : leat_strategy_exchange(strategy, &mine, 1, all, &err);
        workers_say("%s: %s", leat_status_name(status), err.text);
        leat_strategy_unref(strategy);
    }
    torture_end();
}

// ---- the test ----

static workers_result results[WORKERS_MOST];

/* The next line of what a worker said; false: there is none. */
static bool next_line(char **at, char *line, size_t size) {
    char *end = strchr(*at, '\n');
    if (end == NULL)
        return false;
    snprintf(line, size, "%.*s", (int)(end - *at), *at);
    *at = end + 1;
    return true;
}

/* Worker 0 may have had all it needed before worker 1 failed. */
static void check_round(const char *what, const char *first, const char *second) {
    bool failed = strncmp(second, "RESOURCE_EXHAUSTED: ", 20) == 0;
    bool told = strstr(first, "worker 1 (10.0.0.1:2222)") != NULL && strstr(first, what) != NULL &&
                strstr(first, "DEADLINE") == NULL;
    if ((!failed && strncmp(second, "OK", 2) != 0) || (!told && strncmp(first, "OK", 2) != 0) ||
        (told && !failed))
        fail_msg("%s: worker 0 said %s, worker 1 %s", what, first, second);
}

/* What worker 0 is told names `said`. */
static void run(const char *what, const char *said) {
    workers_run_well("worker_call", what, 2, results);
    char *a = results[0].said, *b = results[1].said, first[700], second[700];
    int rounds = 0, told = 0;
    while (next_line(&a, first, sizeof first)) {
        assert_true(next_line(&b, second, sizeof second));
        check_round(said, first, second);
        told += strncmp(first, "OK", 2) != 0;
        rounds++;
    }
    assert_true(told > 0 && rounds > told);
    assert_int_equal(strncmp(second, "OK", 2), 0); /* the last round, in which nothing failed */
}

static void test_reduce(void **state) {
    (void)state;
    run("reduce", "reduce");
}

static void test_gather(void **state) {
    (void)state;
    run("gather", "gather");
}

static void test_variable(void **state) {
    (void)state;
    run("variable", "worker 1"); /* which has left the job where the variable did not get so far */
}

/* Worker 0 hears why worker 1 goes, as soon as they have met. */
static void test_join(void **state) {
    (void)state;
    workers_run_well("worker_join", NULL, 2, results);
    char *a = results[0].said, *b = results[1].said, line[700] = "";
    int told = 0, failed = 0;
    while (next_line(&a, line, sizeof line) && strncmp(line, "OK", 2) != 0) {
        if (strstr(line, "worker 1 (10.0.0.1:2222) failed: ") == NULL)
            fail_msg("worker 0 said %s", line);
        told++;
    }
    assert_int_equal(strncmp(line, "OK", 2), 0);
    while (next_line(&b, line, sizeof line) && strncmp(line, "OK", 2) != 0)
        failed++;
    assert_int_equal(strncmp(line, "OK", 2), 0);
    assert_true(told > 0 && failed >= told);
}

int main(void) {
    if (workers_case() != NULL && strcmp(workers_case(), "worker_join") == 0) {
        const struct CMUnitTest worker[] = {cmocka_unit_test(worker_join)};
        return cmocka_run_group_tests_name(workers_case(), worker, NULL, NULL);
    }
    if (workers_case() != NULL) {
        const struct CMUnitTest worker[] = {cmocka_unit_test(worker_call)};
        return cmocka_run_group_tests_name(workers_case(), worker, NULL, NULL);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reduce),
        cmocka_unit_test(test_gather),
        cmocka_unit_test(test_variable),
        cmocka_unit_test(test_join),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
