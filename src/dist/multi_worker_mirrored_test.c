/* The strategy of several workers, each a process: who is who, sums, gathering, variables, the
 * start, and how a job ends when a worker is killed, stops, fails, leaves or differs. */
#include "support/cmocka.h"
#include "support/refused.h"

#include "dist/strategy.h"
#include "support/strategy.h"
#include "support/workers.h"
#include <leat/ops.h>
#ifdef LEATI_HAVE_OPENSSL
#include "support/scratch.h"

#include "support/certificates.h"
#endif

enum { LONG_MS = 60000, SHORT_MS = 2000, DEAD_MS = 4000, LOCAL = 2 };

// ---- in a worker ----

static const char *const names[LOCAL] = {"CPU:0", "CPU:1"};

/* "ring", "tls" (a ring over TLS), "shared" or "auto", and the number of devices behind a blank. */
static leat_strategy *join_as(leat_strategy_multi_worker_mirrored_options options,
                              leat_error *err) {
    const char *argument = workers_argument(), *blank = strchr(argument, ' ');
#ifdef LEATI_HAVE_OPENSSL
    certificate_files files;
    if (strncmp(argument, "tls", 3) == 0) {
        const char *folder = getenv("LEAT_TEST_TLS");
        snprintf(files.certificate, sizeof files.certificate, "%s/job.crt", folder);
        snprintf(files.key, sizeof files.key, "%s/job.key", folder);
        snprintf(files.authority, sizeof files.authority, "%s/job.ca", folder);
        certificate_environment(&files);
    }
#endif
    options.communication = strncmp(argument, "mpi", 3) == 0      ? LEAT_COMMUNICATION_MPI
                            : strncmp(argument, "ring", 4) == 0   ? LEAT_COMMUNICATION_RING
                            : strncmp(argument, "tls", 3) == 0    ? LEAT_COMMUNICATION_RING
                            : strncmp(argument, "shared", 6) == 0 ? LEAT_COMMUNICATION_SHARED
                                                                  : LEAT_COMMUNICATION_AUTO;
    options.num_devices = blank == NULL ? 1 : atoi(blank);
    options.devices = names;
    assert_int_equal(leat_device_set_logical_cpus(LOCAL, err), LEAT_OK);
    return leat_strategy_multi_worker_mirrored(&options, err);
}

static leat_strategy *join(void) {
    leat_error err = {0};
    leat_strategy *strategy = join_as(
        (leat_strategy_multi_worker_mirrored_options){
            LEAT_STRATEGY_MULTI_WORKER_MIRRORED_DEFAULTS,
            LEAT_STRATEGY_MULTI_WORKER_MIRRORED_DEFAULTS, .timeout_ms = LONG_MS,
            .start_timeout_ms = LONG_MS, .heartbeat_timeout_ms = LONG_MS},
        &err);
    if (strategy == NULL)
        fail_msg("%s", err.text);
    return strategy;
}

/* One vector per local replica: `rows` numbers for replica r of all: r * 10, r * 10 + 1, ... */
static void vectors(const leat_strategy *strategy, leat_dtype dtype, bool grow,
                    leat_per_replica *out) {
    leat_error err = {0};
    int count = leat_strategy_num_local_replicas(strategy);
    out->elements = calloc((size_t)count, sizeof *out->elements);
    out->num_replicas = count;
    for (int i = 0; i < count; i++) {
        int replica = leat_strategy_first_replica(strategy) + i, rows = grow ? replica : 2;
        leat_tensor tensor = {0};
        assert_int_equal(leat_tensor_new(dtype, LEAT_SHAPE(rows), &tensor, &err), LEAT_OK);
        for (int row = 0; row < rows; row++)
            if (dtype == LEAT_FLOAT32)
                ((float *)tensor.data)[row] = (float)(replica * 10 + row);
            else
                ((int32_t *)tensor.data)[row] = replica * 10 + row;
        leat_spec *spec = leat_spec_tensor(dtype, LEAT_SHAPE(-1), &err);
        assert_int_equal(leat_element_set(&out->elements[i], spec, &tensor, &err), LEAT_OK);
        leat_spec_unref(spec);
        leat_tensor_unref(&tensor);
    }
}

static void drop(leat_per_replica *value) {
    for (int i = 0; i < value->num_replicas; i++)
        leat_element_fini(&value->elements[i]);
    free(value->elements);
}

static const float *floats_of(const leat_element *element) {
    assert_int_equal(element->tensors[0].dtype, LEAT_FLOAT32);
    return element->tensors[0].data;
}

static int trace_all_reduce(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    leat_value x = leat_graph_argument(graph, 0);
    leat_op_all_reduce(&x, 1, *(const leat_aggregation *)context, outputs);
    outputs[1] = leat_op_replica_id(graph);
    return 2;
}

static void worker_values(void **state) {
    (void)state;
    leat_error err = {0};
    leat_strategy *strategy = join();
    int all = leat_strategy_num_replicas(strategy), first = leat_strategy_first_replica(strategy);
    int local = leat_strategy_num_local_replicas(strategy);
    int worker = leat_strategy_worker(strategy);
    assert_int_equal(all, local * leat_strategy_num_workers(strategy));
    assert_int_equal(first, local * worker);
    assert_true(leat_strategy_is_chief(strategy) == (worker == 0));
    leat_per_replica value = {0}, out = {0};
    vectors(strategy, LEAT_FLOAT32, false, &value);
    for (int mean = 0; mean < 2; mean++) {
        leat_aggregation how = mean ? LEAT_AGGREGATION_MEAN : LEAT_AGGREGATION_SUM;
        leat_step *step = leat_step_new(trace_all_reduce, &how, &err);
        float sum = 10.0f * (float)(all * (all - 1)) / 2;
        for (int round = 0; round < 3; round++)
            assert_int_equal(leat_strategy_run(strategy, step, &value, &out, &err), LEAT_OK);
        for (int i = 0; i < local; i++) {
            assert_true(floats_of(&out.elements[i])[0] == (mean ? sum / (float)all : sum));
            assert_int_equal(*(int32_t *)out.elements[i].tensors[1].data, first + i);
        }
        leat_step_free(step);
    }
    leat_per_replica_fini(&out);
    drop(&value);
    int64_t mine[2] = {worker, 7}, both[2 * WORKERS_MOST];
    assert_int_equal(leat_strategy_exchange(strategy, mine, 2, both, &err), LEAT_OK);
    for (int w = 0; w < leat_strategy_num_workers(strategy); w++)
        assert_true(both[2 * w] == w && both[2 * w + 1] == 7);
    char text[6] = "chief";
    if (worker != 0)
        memset(text, 'x', 5);
    assert_int_equal(leat_strategy_broadcast(strategy, text, 5, &err), LEAT_OK);
    assert_string_equal(text, "chief");
    assert_int_equal(leat_strategy_agree(strategy, "plan", "p", &err), LEAT_OK);
    assert_int_equal(leat_strategy_barrier(strategy, &err), LEAT_OK);
    workers_say("%s", leat_strategy_describe(strategy));
    leat_strategy_unref(strategy);
}

/* More numbers than travel in one exchange. */
static void check_many(leat_strategy *strategy) {
    enum { MANY = 1000, DTYPES = 2 };
    static const leat_dtype dtypes[DTYPES] = {LEAT_FLOAT32, LEAT_INT32};
    leat_error err = {0};
    int local = leat_strategy_num_local_replicas(strategy);
    int all = leat_strategy_num_replicas(strategy);
    leat_per_replica value = {.elements = calloc((size_t)local, sizeof(leat_element)),
                              .num_replicas = local};
    leat_element out = {0};
    for (int d = 0; d < DTYPES; d++) {
        leat_spec *spec = leat_spec_tensor(dtypes[d], LEAT_SHAPE(MANY), &err);
        for (int r = 0; r < local; r++) {
            leat_tensor tensor = {0};
            assert_int_equal(leat_tensor_new(dtypes[d], LEAT_SHAPE(MANY), &tensor, &err), LEAT_OK);
            for (int i = 0; i < MANY; i++)
                if (d == 0)
                    ((float *)tensor.data)[i] = (float)i;
                else
                    ((int32_t *)tensor.data)[i] = i;
            assert_int_equal(leat_element_set(&value.elements[r], spec, &tensor, &err), LEAT_OK);
            leat_tensor_unref(&tensor);
        }
        leat_spec_unref(spec);
        assert_int_equal(
            leat_strategy_reduce(strategy, LEAT_REDUCE_SUM, &value, LEAT_NO_AXIS, &out, &err),
            LEAT_OK);
        for (int i = 0; i < MANY; i++)
            assert_int_equal(d == 0 ? (int)((float *)out.tensors[0].data)[i]
                                    : ((int32_t *)out.tensors[0].data)[i],
                             i * all);
    }
    leat_element_fini(&out);
    drop(&value);
}

/* Replica r has r rows r * 10, r * 10 + 1, ...; replica 0 none. */
static void worker_reduce(void **state) {
    (void)state;
    leat_error err = {0};
    leat_strategy *strategy = join();
    int all = leat_strategy_num_replicas(strategy);
    double sum = 0, rows = 0;
    for (int r = 0; r < all; r++)
        for (int row = 0; row < r; row++, rows++)
            sum += r * 10 + row;
    leat_per_replica value = {0};
    leat_element out = {0};
    vectors(strategy, LEAT_INT32, true, &value);
    assert_int_equal(leat_strategy_reduce(strategy, LEAT_REDUCE_SUM, &value, 0, &out, &err),
                     LEAT_OK);
    assert_int_equal(*(int32_t *)out.tensors[0].data, (int)sum);
    assert_int_equal(leat_strategy_reduce(strategy, LEAT_REDUCE_MEAN, &value, 0, &out, &err),
                     LEAT_OK);
    assert_int_equal(out.tensors[0].dtype, LEAT_FLOAT64);
    assert_true(*(double *)out.tensors[0].data == sum / rows);
    assert_int_equal(leat_strategy_gather(strategy, &value, 0, &out, &err), LEAT_OK);
    assert_int_equal(out.tensors[0].dims[0], (int)rows);
    const int32_t *gathered = out.tensors[0].data;
    for (int r = 0, at = 0; r < all; r++)
        for (int row = 0; row < r; row++)
            assert_int_equal(gathered[at++], r * 10 + row);
    /* Shapes that differ between replicas: everybody is told, and the job goes on. */
    leat_status status =
        leat_strategy_reduce(strategy, LEAT_REDUCE_SUM, &value, LEAT_NO_AXIS, &out, &err);
    /* A worker whose own replicas differ ends before it says what it reduces. */
    bool single = all == leat_strategy_num_workers(strategy);
    assert_true(status == LEAT_INVALID_ARGUMENT || (!single && status == LEAT_FAILED_PRECONDITION));
    if (single)
        assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_SHAPE, "mismatch");
    drop(&value);
    vectors(strategy, LEAT_FLOAT32, false, &value);
    assert_int_equal(
        leat_strategy_reduce(strategy, LEAT_REDUCE_MEAN, &value, LEAT_NO_AXIS, &out, &err),
        LEAT_OK);
    assert_true(floats_of(&out)[1] == 10.0f * (float)(all - 1) / 2 + 1);
    drop(&value);
    check_many(strategy);
    leat_element_fini(&out);
    leat_strategy_unref(strategy);
}

static void worker_variables(void **state) {
    (void)state;
    leat_strategy *strategy = join();
    int worker = leat_strategy_worker(strategy);
    assert_int_equal(leat_strategy_num_replicas(strategy), 2);
    for (size_t i = 0; i < STRATEGY_CASES_OF_JOBS; i++) {
        const strategy_variable_case *c = &strategy_variable_cases[i];
        leat_per_replica args = {0}, out = {0};
        vectors(strategy, LEAT_FLOAT32, false, &args);
        /* Worker 0's value counts. */
        leat_variable *variable =
            strategy_run_variable_case(strategy, c, worker == 0 ? 1 : 5, &args, &out);
        assert_int_equal(leat_variable_num_copies(variable), 1);
        assert_true(floats_of(&out.elements[0])[0] == c->copies[worker]);
        leat_per_replica_fini(&out);
        drop(&args);
        leat_variable_unref(variable);
    }
    leat_strategy_unref(strategy);
}

/* One job after another, also where a worker is early. */
static void worker_again(void **state) {
    (void)state;
    leat_error err = {0};
    for (int64_t round = 0; round < 5; round++) {
        leat_strategy *strategy = join();
        int64_t all[WORKERS_MOST];
        if (leat_strategy_exchange(strategy, &round, 1, all, &err) != LEAT_OK)
            fail_msg("round %d: %s", (int)round, err.text);
        for (int w = 0; w < leat_strategy_num_workers(strategy); w++)
            assert_true(all[w] == round);
        leat_strategy_unref(strategy);
    }
}

static void worker_differing_variables(void **state) {
    (void)state;
    leat_error err = {0};
    leat_strategy *strategy = join();
    const leat_variable_options options = {
        LEAT_VARIABLE_DEFAULTS, .name = leat_strategy_is_chief(strategy) ? "kernel" : "bias"};
    assert_null(strategy_variable(strategy, 1, &options, &err));
    workers_say("%s: %s", leat_status_name(err.code), err.text);
    leat_strategy_unref(strategy);
}

/* The start of a job that is to fail. */
static void worker_refused(void **state) {
    (void)state;
    leat_error err = {0};
    const char *argument = workers_argument();
    leat_strategy_multi_worker_mirrored_options options = {
        LEAT_STRATEGY_MULTI_WORKER_MIRRORED_DEFAULTS, LEAT_STRATEGY_MULTI_WORKER_MIRRORED_DEFAULTS,
        .timeout_ms = LONG_MS, .start_timeout_ms = LONG_MS, .program = ""};
    if (strcmp(argument, "short") == 0)
        options.start_timeout_ms = SHORT_MS;
    if (strcmp(argument, "other program") == 0)
        options.program = "train.c 2";
    if (strcmp(argument, "other packs") == 0)
        options.bytes_per_pack = 4096;
    if (strcmp(argument, "two devices") == 0) {
        assert_int_equal(leat_device_set_logical_cpus(LOCAL, &err), LEAT_OK);
        options.devices = names;
        options.num_devices = LOCAL;
    }
    leat_strategy *strategy = leat_strategy_multi_worker_mirrored(&options, &err);
    assert_null(strategy);
    workers_say("%s: %s", leat_status_name(err.code), err.text);
}

static int trace_nothing(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    (void)outputs;
    leat_graph_fail(graph, LEAT_INVALID_ARGUMENT, "no such column");
    return -1;
}

static int trace_divide(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_value x = leat_graph_argument(graph, 0);
    leat_value y = leat_op_floordiv(x, x);
    leat_op_all_reduce(&y, 1, LEAT_AGGREGATION_SUM, outputs);
    return 1;
}

/* Steps until the job ends; worker 1 does something in the third. */
static void worker_fault(void **state) {
    (void)state;
    leat_error err = {0};
    const char *what = strrchr(workers_argument(), ' ') + 1;
    leat_strategy *strategy = join_as(
        (leat_strategy_multi_worker_mirrored_options){
            LEAT_STRATEGY_MULTI_WORKER_MIRRORED_DEFAULTS,
            LEAT_STRATEGY_MULTI_WORKER_MIRRORED_DEFAULTS, .timeout_ms = LONG_MS,
            .start_timeout_ms = LONG_MS, .heartbeat_timeout_ms = DEAD_MS},
        &err);
    if (strategy == NULL)
        fail_msg("%s", err.text);
    int worker = leat_strategy_worker(strategy);
    leat_per_replica args = {0};
    vectors(strategy, LEAT_INT32, false, &args);
    for (int i = 0; i < args.num_replicas; i++)
        ((int32_t *)args.elements[i].tensors[0].data)[0] = 3;
    leat_step *step = leat_step_new(trace_divide, NULL, &err);
    leat_status status = LEAT_OK;
    for (int i = 0; i < 100 && status == LEAT_OK; i++) {
        if (worker == 1 && i == 2) {
            if (strcmp(what, "kill") == 0)
                raise(SIGKILL);
            if (strcmp(what, "stop") == 0)
                raise(SIGSTOP);
            if (strcmp(what, "exit") == 0)
                exit(0);
            if (strcmp(what, "leave") == 0)
                break;
            if (strcmp(what, "cancel") == 0)
                leat_strategy_cancel(strategy);
            if (strcmp(what, "abort") == 0)
                leat_strategy_abort(strategy, "the disk is full");
            if (strcmp(what, "trace") == 0) {
                leat_step_free(step);
                step = leat_step_new(trace_nothing, NULL, &err);
            }
            if (strcmp(what, "fail") == 0)
                ((int32_t *)args.elements[args.num_replicas - 1].tensors[0].data)[0] = 0;
        }
        status = leat_strategy_run(strategy, step, &args, NULL, &err);
        workers_say("step %d: %s: %s", i, leat_status_name(status), err.text);
    }
    assert_true((status == LEAT_OK) == (worker == 1 && strcmp(what, "leave") == 0));
    if (status != LEAT_OK) {
        /* And stays so. */
        leat_error again = {0};
        assert_int_equal(leat_strategy_run(strategy, step, &args, NULL, &again), LEAT_ABORTED);
        assert_int_equal(leat_strategy_barrier(strategy, &again), LEAT_ABORTED);
    }
    leat_step_free(step);
    drop(&args);
    leat_strategy_unref(strategy);
}

static const struct CMUnitTest worker_cases[] = {
    cmocka_unit_test(worker_values),
    cmocka_unit_test(worker_reduce),
    cmocka_unit_test(worker_variables),
    cmocka_unit_test(worker_again),
    cmocka_unit_test(worker_differing_variables),
    cmocka_unit_test(worker_refused),
    cmocka_unit_test(worker_fault),
};

// ---- the tests ----

static workers_result results[WORKERS_MOST];

static const char *const ways[] = {
    "shared 1", "shared 2",
#ifdef LEATI_HAVE_GLOO
    "ring 1",   "ring 2",
#endif
#ifdef LEATI_HAVE_OPENSSL
    "tls 1",    "tls 2",
#endif
    "auto 2",
};
enum { NUM_WAYS = sizeof ways / sizeof ways[0] };

static void test_values(void **state) {
    (void)state;
    for (int i = 0; i < NUM_WAYS; i++)
        for (int count = 2; count <= 3; count++) {
            workers_run_well("worker_values", ways[i], count, results);
            char expected[200];
            int local = ways[i][strlen(ways[i]) - 1] - '0';
            snprintf(expected, sizeof expected,
                     "strategy \"multi_worker_mirrored\": %d replicas in sync, %d on each of %d "
                     "workers over %s, this is worker 1 (10.0.0.1:2222)\n",
                     local * count, local, count,
                     strncmp(ways[i], "ring", 4) == 0  ? "gloo"
                     : strncmp(ways[i], "tls", 3) == 0 ? "TLS"
                                                       : "shared memory");
            assert_string_equal(results[1].said, expected);
        }
}

static void test_reduce(void **state) {
    (void)state;
    for (int i = 0; i < NUM_WAYS; i++)
        workers_run_well("worker_reduce", ways[i], 2, results);
    workers_run_well("worker_reduce", ways[0], 3, results);
}

static void test_variables(void **state) {
    (void)state;
    for (int i = 0; i < NUM_WAYS; i++)
        if (strchr(ways[i], '1') != NULL)
            workers_run_well("worker_variables", ways[i], 2, results);
    workers_run_well("worker_differing_variables", ways[0], 2, results);
    for (int i = 0; i < 2; i++)
        assert_non_null(strstr(results[i].said,
                               "worker 1 (10.0.0.1:2222) is at: variable \"bias\", float32 []; "
                               "worker 0 (127.0.0.1:"));
}

static void refuse(const char *argument, const char *other, const char *expected) {
    const workers_job job = {.wanted = "worker_refused",
                             .argument = argument,
                             .count = 3,
                             .absent = strcmp(argument, "short") == 0 ? 2 : -1,
                             .stopped = -1,
                             .other = other == NULL ? -1 : 1,
                             .other_argument = other};
    workers_run(&job, results);
    for (int i = 0; i < 3; i++)
        if (i != job.absent &&
            (results[i].status != 0 || strstr(results[i].said, expected) == NULL))
            fail_msg("%s: worker %d, status %d, said %s; expected %s", argument, i,
                     results[i].status, results[i].said, expected);
}

static void test_start(void **state) {
    (void)state;
    workers_run_well("worker_again", ways[0], 3, results);
    refuse("short", NULL, "DEADLINE_EXCEEDED");
    for (int i = 0; i < 2; i++)
        assert_non_null(
            strstr(results[i].said, "worker 2 (10.0.0.2:2222), which has not connected"));
    refuse("", "other program",
           "FAILED_PRECONDITION: worker 1 (10.0.0.1:2222) has program train.c 2");
    refuse("", "other packs",
           "worker 1 (10.0.0.1:2222) has communication and bytes_per_pack 0, 4096");
    refuse("", "two devices", "worker 1 (10.0.0.1:2222) has number of devices 2");
}

/* Worker 1 does `what` in its third step: the others' third step fails and says so; or their second
 * one, of which they may have a part to do still when they are told. */
static void fault(const char *way, const char *what, const char *const *expected) {
    char argument[32];
    snprintf(argument, sizeof argument, "%s %s", way, what);
    const workers_job job = {.wanted = "worker_fault",
                             .argument = argument,
                             .count = 3,
                             .absent = -1,
                             .stopped = strcmp(what, "stop") == 0 ? 1 : -1,
                             .other = -1};
    workers_run(&job, results);
    bool ends = strcmp(what, "kill") != 0 && strcmp(what, "stop") != 0;
    if (ends && results[1].status != 0)
        fail_msg("%s: worker 1, status %d, said %s", argument, results[1].status, results[1].said);
    for (int i = 0; i < 3; i += 2) {
        const char *second = strstr(results[i].said, "step 1: ");
        const char *last = second == NULL ? NULL : strstr(second, "step 2: ");
        last = last != NULL ? last : second;
        bool good = results[i].status == 0 && last != NULL;
        for (int e = 0; expected[e] != NULL && good; e++)
            good = strstr(last, expected[e]) != NULL;
        if (!good)
            fail_msg("%s: worker %d, status %d, said %s", argument, i, results[i].status,
                     results[i].said);
    }
}

static void test_faults(void **state) {
    (void)state;
    static const char *const lost[] = {"ABORTED: ", "lost worker 1 (10.0.0.1:2222) (rank 1 of 3, ",
                                       "start the job again from its last checkpoint", NULL};
    static const char *const failed[] = {
        "ABORTED: ", "worker 1 (10.0.0.1:2222) failed: replica 3 of 6: ", NULL};
    static const char *const untraced[] = {"worker 1 (10.0.0.1:2222) failed: ", "no such column",
                                           NULL};
    static const char *const cancelled[] = {
        "worker 1 (10.0.0.1:2222) failed: the run was cancelled", NULL};
    static const char *const aborted[] = {"worker 1 (10.0.0.1:2222) failed: the disk is full",
                                          NULL};
    static const char *const left[] = {
        "ABORTED: ",
        "worker 1 (10.0.0.1:2222) has left the job after 2 exchanges, and this is number 3", NULL};
    for (int i = 1; i < NUM_WAYS; i += 2) {
        fault(ways[i], "leave", left);
        fault(ways[i], "kill", lost);
        fault(ways[i], "exit", left);
        fault(ways[i], "stop", lost);
        fault(ways[i], "fail", failed);
        fault(ways[i], "trace", untraced);
        fault(ways[i], "cancel", cancelled);
        fault(ways[i], "abort", aborted);
    }
}

#ifdef LEATI_HAVE_MPI
/* Ranks that mpirun started, found by its variables. */
static void test_mpi(void **state) {
    (void)state;
    char program[512], command[1024], text[4096];
    ssize_t size = readlink("/proc/self/exe", program, sizeof program - 1);
    assert_true(size > 0);
    program[size] = '\0';
    if (system("command -v mpirun > /dev/null") != 0) {
        printf("test_mpi: skipped, there is no mpirun\n");
        return;
    }
    static const char *const wanted[] = {"worker_values", "worker_reduce"};
    for (int i = 0; i < 2; i++) {
        snprintf(command, sizeof command,
                 "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 LEAT_TEST_CASE=%s "
                 "LEAT_TEST_ARGUMENT='mpi 2' LEAT_TEST_SAY=1 mpirun --oversubscribe -n 2 '%s' 2>&1",
                 wanted[i], program);
        FILE *out = popen(command, "r");
        assert_non_null(out);
        text[fread(text, 1, sizeof text - 1, out)] = '\0';
        if (pclose(out) != 0)
            fail_msg("%s: %s", wanted[i], text);
    }
}
#endif

/* Without a cluster it is a mirrored strategy of one device. */
static void test_alone(void **state) {
    (void)state;
    leat_error err = {0};
    leat_strategy *strategy = leat_strategy_multi_worker_mirrored(NULL, &err);
    assert_non_null(strategy);
    assert_int_equal(leat_strategy_num_replicas(strategy), 1);
    assert_int_equal(leat_strategy_num_workers(strategy), 1);
    assert_true(leat_strategy_is_chief(strategy));
    assert_string_equal(leat_strategy_name(strategy), "multi_worker_mirrored");
    assert_int_equal(leat_strategy_barrier(strategy, &err), LEAT_OK);
    int64_t mine = 4, all = 0;
    assert_int_equal(leat_strategy_exchange(strategy, &mine, 1, &all, &err), LEAT_OK);
    assert_int_equal(all, 4);
    leat_strategy_unref(strategy);
    leat_strategy_multi_worker_mirrored_options options = {
        LEAT_STRATEGY_MULTI_WORKER_MIRRORED_DEFAULTS, .bytes_per_pack = -1};
    assert_null(leat_strategy_multi_worker_mirrored(&options, &err));
    assert_int_equal(err.code, LEAT_INVALID_ARGUMENT);
}

#ifdef LEATI_HAVE_OPENSSL
static int make_certificates(void **state) {
    if (scratch_setup(state) != 0)
        return -1;
    const certificate_wish wish = {.name = "job", .hosts = CERTIFICATE_HERE};
    authority by = authority_new("the test's authority");
    (void)certificate_write(scratch_folder, &wish, &by, &by);
    authority_free(&by);
    return setenv("LEAT_TEST_TLS", scratch_folder, 1);
}
#endif

static int run_worker(const char *wanted) {
    for (size_t i = 0; i < sizeof worker_cases / sizeof worker_cases[0]; i++)
        if (strcmp(worker_cases[i].name, wanted) == 0) {
            const struct CMUnitTest one[] = {worker_cases[i]};
            return cmocka_run_group_tests_name(wanted, one, NULL, NULL);
        }
    return 125;
}

int main(void) {
    if (workers_case() != NULL)
        return run_worker(workers_case());
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),    cmocka_unit_test(test_reduce),
        cmocka_unit_test(test_variables), cmocka_unit_test(test_start),
        cmocka_unit_test(test_faults),    cmocka_unit_test(test_alone),
#ifdef LEATI_HAVE_MPI
        cmocka_unit_test(test_mpi),
#endif
    };
#ifdef LEATI_HAVE_OPENSSL
    return cmocka_run_group_tests(tests, make_certificates, scratch_teardown);
#else
    return cmocka_run_group_tests(tests, NULL, NULL);
#endif
}
