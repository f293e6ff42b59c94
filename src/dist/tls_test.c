/* Jobs of several processes with TLS, as the environment says it: which variables are refused, what
 * befalls a worker that has none, and that results are what they are without. */
#include "support/cmocka.h"

#include "dist/strategy.h"
#include "support/strategy.h"
#include "support/workers.h"
#include <leat/ops.h>

#ifdef LEATI_HAVE_OPENSSL
#include "support/scratch.h"

#include "support/certificates.h"

enum { LONG_MS = 60000, VALUES = 2500000 /* several pieces */ };

static const char *const variables[] = {"LEAT_TLS_CERT", "LEAT_TLS_KEY", "LEAT_TLS_CA"};

// ---- in a worker ----

/* By the first word of the argument; what follows it, "-NAME", is a variable to unset. */
static leat_strategy *join(leat_error *err) {
    const char *argument = workers_argument(), *unset = strchr(argument, '-');
    leat_strategy_multi_worker_mirrored_options options = {
        LEAT_STRATEGY_MULTI_WORKER_MIRRORED_DEFAULTS, .timeout_ms = LONG_MS,
        .start_timeout_ms = strstr(argument, "short") != NULL ? 2000 : LONG_MS, .program = ""};
    options.communication = strncmp(argument, "mpi", 3) == 0      ? LEAT_COMMUNICATION_MPI
                            : strncmp(argument, "ring", 4) == 0   ? LEAT_COMMUNICATION_RING
                            : strncmp(argument, "shared", 6) == 0 ? LEAT_COMMUNICATION_SHARED
                                                                  : LEAT_COMMUNICATION_AUTO;
    for (int i = 0; i < 3 && unset != NULL; i++)
        if (strcmp(unset, "-all") == 0 || strcmp(unset + 1, variables[i]) == 0)
            unsetenv(variables[i]);
    return leat_strategy_multi_worker_mirrored(&options, err);
}

static int trace_sum(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    (void)capacity;
    leat_value x = leat_graph_argument(graph, 0);
    leat_op_all_reduce(&x, 1, LEAT_AGGREGATION_SUM, outputs);
    return 1;
}

/* Sums numbers whose sum depends on the order of the additions, and says the bits. */
static void worker_sum(void **state) {
    (void)state;
    leat_error err = {0};
    leat_strategy *strategy = join(&err);
    if (strategy == NULL)
        fail_msg("%s", err.text);
    int worker = leat_strategy_worker(strategy);
    leat_tensor tensor = {0};
    leat_element element = {0};
    assert_int_equal(leat_tensor_new(LEAT_FLOAT32, LEAT_SHAPE(VALUES), &tensor, &err), LEAT_OK);
    for (int i = 0; i < VALUES; i++)
        ((float *)tensor.data)[i] =
            (worker == 1 ? -1e7f : 1e7f / 3) + (float)(i * (worker + 3)) / 7;
    leat_spec *spec = leat_spec_tensor(LEAT_FLOAT32, LEAT_SHAPE(VALUES), &err);
    assert_int_equal(leat_element_set(&element, spec, &tensor, &err), LEAT_OK);
    leat_per_replica value = {.elements = &element, .num_replicas = 1}, out = {0};
    leat_step *step = leat_step_new(trace_sum, NULL, &err);
    assert_int_equal(leat_strategy_run(strategy, step, &value, &out, &err), LEAT_OK);
    const uint32_t *bits = out.elements[0].tensors[0].data;
    uint64_t hash = 1469598103934665603u;
    for (int i = 0; i < VALUES; i++)
        hash = (hash ^ bits[i]) * 1099511628211u;
    workers_say("%016llx", (unsigned long long)hash);
    leat_per_replica_fini(&out);
    leat_step_free(step);
    leat_element_fini(&element);
    leat_spec_unref(spec);
    leat_tensor_unref(&tensor);
    leat_strategy_unref(strategy);
}

static void worker_refused(void **state) {
    (void)state;
    leat_error err = {0};
    leat_strategy *strategy = join(&err);
    workers_say("%s: %s", leat_status_name(err.code), err.text);
    assert_null(strategy);
}

static const struct CMUnitTest worker_cases[] = {cmocka_unit_test(worker_sum),
                                                 cmocka_unit_test(worker_refused)};

// ---- the tests ----

static workers_result results[WORKERS_MOST];
static certificate_files job;

static void sum_by(const char *way, int count, char hash[32]) {
    workers_run_well("worker_sum", way, count, results);
    snprintf(hash, 32, "%.31s", results[0].said);
    for (int i = 1; i < count; i++)
        assert_string_equal(results[i].said, hash);
}

static void test_same_bits(void **state) {
    (void)state;
    for (int count = 2; count <= 3; count++) {
        char plain[32], sealed[32];
        certificate_environment(NULL);
        sum_by("shared", count, plain);
        certificate_environment(&job);
        sum_by("ring", count, sealed);
        assert_string_equal(sealed, plain);
        sum_by("shared", count, sealed);
        assert_string_equal(sealed, plain);
        setenv("LEAT_JOB_SECRET", "a secret of this test", 1);
        sum_by("ring", count, sealed);
        unsetenv("LEAT_JOB_SECRET");
        assert_string_equal(sealed, plain);
    }
}

/* What two workers say; `other` is worker 1's argument where it is not `argument`. */
static void refuse(const char *argument, const char *other, const char *const expected[2]) {
    const workers_job refused = {.wanted = "worker_refused",
                                 .argument = argument,
                                 .count = 2,
                                 .absent = -1,
                                 .stopped = -1,
                                 .other = other == NULL ? -1 : 1,
                                 .other_argument = other};
    workers_run(&refused, results);
    for (int i = 0; i < 2; i++)
        if (results[i].status != 0 || strstr(results[i].said, expected[i]) == NULL)
            fail_msg("%s: worker %d, status %d, said %s; expected %s", argument, i,
                     results[i].status, results[i].said, expected[i]);
}

static void refuse_both(const char *argument, const char *expected) {
    refuse(argument, NULL, (const char *const[]){expected, expected});
}

static void test_variables(void **state) {
    (void)state;
    certificate_environment(&job);
    refuse_both("auto-LEAT_TLS_CERT", "INVALID_ARGUMENT: LEAT_TLS_CA is set and LEAT_TLS_CERT is");
    refuse_both("auto-LEAT_TLS_KEY", "INVALID_ARGUMENT: LEAT_TLS_CA is set and LEAT_TLS_KEY is");
    refuse_both("auto-LEAT_TLS_CA", "INVALID_ARGUMENT: LEAT_TLS_KEY is set and LEAT_TLS_CA is");
    setenv("LEAT_TLS_NAME", "our.job", 1);
    refuse_both("auto-all", "INVALID_ARGUMENT: LEAT_TLS_NAME is set and LEAT_TLS_CA is not");
    unsetenv("LEAT_TLS_NAME");
    setenv("LEAT_TLS_KEY", scratch_path("absent"), 1);
    refuse_both("auto", "INVALID_ARGUMENT: LEAT_TLS_KEY, ");
    certificate_environment(&job);
    refuse_both("mpi", "UNIMPLEMENTED: ");
}

/* One worker has no TLS: it is told at once, and so is worker 0 where that one has none. */
static void test_one_without(void **state) {
    (void)state;
    certificate_environment(&job);
    refuse("auto-all", "auto",
           (const char *const[]){"FAILED_PRECONDITION: ", "FAILED_PRECONDITION: worker 1 "});
    for (int i = 0; i < 2; i++)
        assert_non_null(strstr(results[i].said, "LEAT_TLS_CERT"));
    refuse("auto short", "auto-all",
           (const char *const[]){"DEADLINE_EXCEEDED: ", "FAILED_PRECONDITION: worker 1 "});
    for (int i = 0; i < 2; i++)
        assert_non_null(strstr(results[i].said, "worker 1 (10.0.0.1:2222) does not use TLS"));
}

/* All workers share a certificate that bears no host, but a name of the job's. */
static void test_name(void **state) {
    (void)state;
    authority by = authority_new("another authority");
    const certificate_wish wish = {.name = "shared", .hosts = "DNS:our.job"};
    certificate_files files = certificate_write(scratch_folder, &wish, &by, &by);
    authority_free(&by);
    char sum[32];
    certificate_environment(&files);
    setenv("LEAT_TLS_NAME", "our.job", 1);
    sum_by("ring", 2, sum);
    unsetenv("LEAT_TLS_NAME");
    refuse("auto short", "auto",
           (const char *const[]){"DEADLINE_EXCEEDED: ", "PERMISSION_DENIED: "});
    assert_non_null(strstr(results[1].said, "LEAT_TLS_NAME"));
    certificate_environment(&job);
}

static int make_certificates(void **state) {
    if (scratch_setup(state) != 0)
        return -1;
    const certificate_wish wish = {.name = "job", .hosts = CERTIFICATE_HERE};
    authority by = authority_new("the test's authority");
    job = certificate_write(scratch_folder, &wish, &by, &by);
    authority_free(&by);
    return 0;
}

int main(void) {
    for (size_t i = 0; i < sizeof worker_cases / sizeof worker_cases[0]; i++)
        if (workers_case() != NULL && strcmp(worker_cases[i].name, workers_case()) == 0) {
            const struct CMUnitTest one[] = {worker_cases[i]};
            return cmocka_run_group_tests_name(workers_case(), one, NULL, NULL);
        }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bits), cmocka_unit_test(test_variables),
        cmocka_unit_test(test_one_without), cmocka_unit_test(test_name)};
    return cmocka_run_group_tests(tests, make_certificates, scratch_teardown);
}
#else
/* In a build without OpenSSL whoever asks for TLS is refused. */
static void test_absent(void **state) {
    (void)state;
    leat_error err = {0};
    setenv("TF_CONFIG",
           "{\"cluster\": {\"worker\": [\"127.0.0.1:1\", \"127.0.0.1:2\"]}, "
           "\"task\": {\"type\": \"worker\", \"index\": 0}}",
           1);
    setenv("LEAT_TLS_CERT", "a", 1);
    setenv("LEAT_TLS_KEY", "b", 1);
    setenv("LEAT_TLS_CA", "c", 1);
    assert_null(leat_strategy_multi_worker_mirrored(NULL, &err));
    assert_int_equal(err.code, LEAT_UNIMPLEMENTED);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_absent)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif
