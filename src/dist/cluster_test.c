/* Clusters from the launchers' variables; what TF_CONFIG means stands in
 * tests/golden/data/distribute/tf_config.json. The hosts of Slurm's lists are as TensorFlow 2.21's
 * SlurmClusterResolver and scontrol expand them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dist/cluster.h"
#include <stdlib.h>
#include <string.h>

static const char *const variables[] = {"TF_CONFIG",
                                        "RANK",
                                        "WORLD_SIZE",
                                        "MASTER_ADDR",
                                        "MASTER_PORT",
                                        "TORCHELASTIC_USE_AGENT_STORE",
                                        "OMPI_COMM_WORLD_RANK",
                                        "OMPI_COMM_WORLD_SIZE",
                                        "OMPI_COMM_WORLD_LOCAL_SIZE",
                                        "PMI_RANK",
                                        "PMI_SIZE",
                                        "MPI_LOCALNRANKS",
                                        "SLURM_PROCID",
                                        "SLURM_STEP_NODELIST",
                                        "SLURM_STEP_TASKS_PER_NODE"};

static int clear_environment(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
        unsetenv(variables[i]);
    return 0;
}

static void set(const char *name, const char *value) {
    assert_int_equal(setenv(name, value, 1), 0);
}

/* The cluster of the environment is {"worker": list} and this is its worker `index`. */
static void check_found(const char *resolver, const char *expected, int64_t index) {
    leat_error err = {0};
    leat_cluster *cluster = leat_cluster_find(NULL, &err);
    if (cluster == NULL)
        fail_msg("%s", err.text);
    assert_string_equal(leat_cluster_resolver(cluster), resolver);
    char *spec = leat_cluster_spec(cluster, &err);
    json_t *found = json_loads(spec, 0, NULL), *wanted = json_loads(expected, 0, NULL);
    assert_non_null(wanted);
    if (!json_equal(json_object_get(found, "worker"), wanted))
        fail_msg("expected %s, found %s", expected, spec);
    json_decref(found);
    json_decref(wanted);
    leat_text_free(spec);
    int64_t id = -1;
    assert_int_equal(leat_cluster_id(cluster, &id, &err), LEAT_OK);
    assert_int_equal(id, index);
    leat_cluster_free(cluster);
}

/* The environment is refused with a text that contains `part`. */
static void check_refused(const char *resolver, leat_status code, const char *part) {
    leat_error err = {0};
    assert_null(leat_cluster_find(resolver, &err));
    assert_int_equal(err.code, code);
    if (strstr(err.text, part) == NULL)
        fail_msg("expected \"%s\" in: %s", part, err.text);
}

static void test_nothing(void **state) {
    (void)state;
    leat_error err = {0};
    leat_cluster *cluster = leat_cluster_find(NULL, &err);
    assert_non_null(cluster);
    assert_string_equal(leat_cluster_resolver(cluster), "none");
    assert_null(leat_cluster_task_type(cluster));
    assert_true(leat_cluster_task_id(cluster) == LEAT_NO_TASK);
    bool chief = true;
    assert_int_equal(leat_cluster_is_chief(cluster, &chief, &err), LEAT_OK);
    assert_false(chief);
    leat_cluster_free(cluster);
    check_refused("kubernetes", LEAT_INVALID_ARGUMENT, "expected tf_config, torchrun");
}

static void test_tf_config(void **state) {
    (void)state;
    set("TF_CONFIG", "{\"cluster\": {\"worker\": [\"a:1\", \"b:2\"]}, "
                     "\"task\": {\"type\": \"worker\", \"index\": 1}}");
    set("RANK", "0");
    set("WORLD_SIZE", "1");
    set("MASTER_ADDR", "x");
    check_found("tf_config", "[\"a:1\", \"b:2\"]", 1);
    set("TF_CONFIG", "{\"cluster\"");
    check_refused(NULL, LEAT_INVALID_ARGUMENT, "TF_CONFIG: JSON, line 1");
    set("TF_CONFIG", "{\"task\": {\"type\": \"worker\", \"index\": \"one\"}}");
    check_refused(NULL, LEAT_INVALID_ARGUMENT, "\"one\"; expected a number");
}

static void test_addresses(void **state) {
    (void)state;
    leat_error err = {0};
    leat_cluster *cluster =
        leat_cluster_new("{\"cluster\": {\"chief\": [\"c:1\"], \"worker\": [\"a:1\", \"b:2\"]}, "
                         "\"task\": {\"type\": \"worker\", \"index\": 0}}",
                         &err);
    assert_non_null(cluster);
    assert_string_equal(leati_cluster_address(cluster, 0), "c:1");
    assert_string_equal(leati_cluster_address(cluster, 2), "b:2");
    assert_null(leati_cluster_address(cluster, 3));
    char *master = leat_cluster_master(cluster, "worker", 1, &err);
    assert_string_equal(master, "b:2");
    leat_text_free(master);
    assert_null(leat_cluster_master(cluster, "worker", 2, &err));
    assert_non_null(strstr(err.text, "has 2 tasks and no task 2"));
    leat_cluster_free(cluster);
}

static void test_torchrun(void **state) {
    (void)state;
    set("RANK", "2");
    set("WORLD_SIZE", "3");
    set("MASTER_ADDR", "head");
    check_refused(NULL, LEAT_NOT_FOUND, "MASTER_PORT");
    set("MASTER_PORT", "29500");
    check_found("torchrun", "[\"head:29500\", \"\", \"\"]", 2);
    set("TORCHELASTIC_USE_AGENT_STORE", "True");
    check_found("torchrun", "[\"head:29501\", \"\", \"\"]", 2);
    set("WORLD_SIZE", "three");
    check_refused(NULL, LEAT_INVALID_ARGUMENT, "WORLD_SIZE is \"three\"");
    set("WORLD_SIZE", "0");
    check_refused(NULL, LEAT_INVALID_ARGUMENT, "a job of 0 processes");
}

static void test_mpi(void **state) {
    (void)state;
    check_refused("mpi", LEAT_NOT_FOUND, "mpirun");
    set("PMI_RANK", "1");
    set("PMI_SIZE", "2");
    check_refused(NULL, LEAT_FAILED_PRECONDITION, "MASTER_ADDR");
    set("MASTER_ADDR", "h0");
    set("MASTER_PORT", "29400");
    check_found("mpi", "[\"h0:29400\", \"\"]", 1);
    unsetenv("MASTER_ADDR");
    set("OMPI_COMM_WORLD_RANK", "0");
    set("OMPI_COMM_WORLD_SIZE", "2");
    set("OMPI_COMM_WORLD_LOCAL_SIZE", "2");
    leat_error err = {0};
    leat_cluster *cluster = leat_cluster_find(NULL, &err);
    assert_non_null(cluster);
    assert_memory_equal(leati_cluster_address(cluster, 0), "127.0.0.1:", 10);
    leat_cluster_free(cluster);
}

static void test_slurm(void **state) {
    (void)state;
    static const struct {
        const char *hosts, *tasks, *index, *expected;
    } cases[] = {
        {"a1", "4", "2", "[\"a1:8888\", \"a1:8889\", \"a1:8890\", \"a1:8891\"]"},
        {"n[1-2],m5,o3-[7-8,10]", "1(x6)", "3",
         "[\"n1:8888\", \"n2:8888\", \"m5:8888\", \"o3-7:8888\", \"o3-8:8888\", \"o3-10:8888\"]"},
        {"x[009-011]", "1(x3)", "1", "[\"x009:8888\", \"x010:8888\", \"x011:8888\"]"},
        {"t02n13,t02n41", "2,1", "2", "[\"t02n13:8888\", \"t02n13:8889\", \"t02n41:8888\"]"},
        {"r[0-1]n[1-2]", "1(x4)", "0",
         "[\"r0n1:8888\", \"r0n2:8888\", \"r1n1:8888\", \"r1n2:8888\"]"},
        {"b[2,1]-x", "1,2", "2", "[\"b2-x:8888\", \"b1-x:8888\", \"b1-x:8889\"]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        set("SLURM_STEP_NODELIST", cases[i].hosts);
        set("SLURM_STEP_TASKS_PER_NODE", cases[i].tasks);
        set("SLURM_PROCID", cases[i].index);
        check_found("slurm", cases[i].expected, atoi(cases[i].index));
    }
}

static void test_slurm_refused(void **state) {
    (void)state;
    static const char *const lists[] = {"a[",     "a[1", "a[1-]",           "a[2-1]",       "a[x]",
                                        "a[1;2]", ",a",  "a[1-9999999999]", "a[0-99999999]"};
    check_refused("slurm", LEAT_NOT_FOUND, "srun");
    set("SLURM_PROCID", "0");
    set("SLURM_STEP_TASKS_PER_NODE", "1");
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        set("SLURM_STEP_NODELIST", lists[i]);
        check_refused(NULL, LEAT_INVALID_ARGUMENT, "SLURM_STEP_NODELIST");
    }
    set("SLURM_STEP_NODELIST", "a[1-2]");
    static const char *const tasks[] = {"1", "1(x3)", "1(x2", "0(x2)", "1,,1", "x", "1(x1),1,1"};
    for (size_t i = 0; i < sizeof tasks / sizeof tasks[0]; i++) {
        set("SLURM_STEP_TASKS_PER_NODE", tasks[i]);
        check_refused(NULL, LEAT_INVALID_ARGUMENT, "SLURM_STEP_TASKS_PER_NODE");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_nothing, clear_environment),
        cmocka_unit_test_setup(test_tf_config, clear_environment),
        cmocka_unit_test_setup(test_addresses, clear_environment),
        cmocka_unit_test_setup(test_torchrun, clear_environment),
        cmocka_unit_test_setup(test_mpi, clear_environment),
        cmocka_unit_test_setup(test_slurm, clear_environment),
        cmocka_unit_test_setup(test_slurm_refused, clear_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
