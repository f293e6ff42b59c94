/* Clusters from the launchers' variables; what TF_CONFIG means stands in
 * tests/golden/data/distribute/tf_config.json. The hosts of Slurm's lists are as TensorFlow 2.21's
 * SlurmClusterResolver and scontrol expand them. */
#include "support/cmocka.h"

#include "support/torture.h"

#include "base/alloc.h"
#include "dist/cluster.h"
#include "support/json.h"
#include "support/refused.h"
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
static void check_refused(const char *resolver, leat_status code, leat_reason reason,
                          const char *keyword) {
    leat_error err = {0};
    assert_null(leat_cluster_find(resolver, &err));
    assert_refused(&err, code, reason, keyword);
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
    check_refused("kubernetes", LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "tf_config");
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
    check_refused(NULL, LEAT_INVALID_ARGUMENT, LEAT_REASON_NONE, "TF_CONFIG");
    static const char *const no_objects[] = {"[]", "[1]", "3", "\"x\"", "null", "true"};
    for (size_t i = 0; i < sizeof no_objects / sizeof no_objects[0]; i++) {
        set("TF_CONFIG", no_objects[i]);
        leat_error err = {0};
        check_refused(NULL, LEAT_INVALID_ARGUMENT, LEAT_REASON_STRUCTURE, "TF_CONFIG");
        assert_null(leat_cluster_new(no_objects[i], &err));
        assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_STRUCTURE, "TF_CONFIG");
    }
    set("TF_CONFIG", "{\"task\": {\"type\": \"worker\", \"index\": \"one\"}}");
    check_refused(NULL, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "\"one\"");
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
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "2");
    leat_cluster_free(cluster);
}

static void test_torchrun(void **state) {
    (void)state;
    set("RANK", "2");
    set("WORLD_SIZE", "3");
    set("MASTER_ADDR", "head");
    check_refused(NULL, LEAT_NOT_FOUND, LEAT_REASON_NONE, "MASTER_PORT");
    set("MASTER_PORT", "29500");
    check_found("torchrun", "[\"head:29500\", \"\", \"\"]", 2);
    set("TORCHELASTIC_USE_AGENT_STORE", "True");
    check_found("torchrun", "[\"head:29501\", \"\", \"\"]", 2);
    set("WORLD_SIZE", "three");
    check_refused(NULL, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "\"three\"");
    set("WORLD_SIZE", "0");
    check_refused(NULL, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "0");
}

static void test_mpi(void **state) {
    (void)state;
    check_refused("mpi", LEAT_NOT_FOUND, LEAT_REASON_NONE, "mpirun");
    set("PMI_RANK", "1");
    set("PMI_SIZE", "2");
    check_refused(NULL, LEAT_FAILED_PRECONDITION, LEAT_REASON_NONE, "MASTER_ADDR");
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
    check_refused("slurm", LEAT_NOT_FOUND, LEAT_REASON_NONE, "srun");
    set("SLURM_PROCID", "0");
    set("SLURM_STEP_TASKS_PER_NODE", "1");
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        set("SLURM_STEP_NODELIST", lists[i]);
        check_refused(NULL, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "SLURM_STEP_NODELIST");
    }
    set("SLURM_STEP_NODELIST", "a[1-2]");
    static const char *const tasks[] = {"1",    "1(x3)", "1(x2",      "0(x2)",
                                        "1,,1", "x",     "1(x1),1,1", "1(x0),1(x2)"};
    for (size_t i = 0; i < sizeof tasks / sizeof tasks[0]; i++) {
        set("SLURM_STEP_TASKS_PER_NODE", tasks[i]);
        check_refused(NULL, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "SLURM_STEP_TASKS_PER_NODE");
    }
}

/* ---- what functions refuse, and with which words ---- */

enum { SPEC = 1, MASTER = 2, CHIEF = 4, ID = 8, COUNT = 16, PLACE = 32 };

static leat_status ask(const leat_cluster *cluster, int what, leat_error *err) {
    int64_t number = 7;
    bool chief = true;
    int worker = -1, count = -1;
    char *text = NULL;
    leat_status status = LEAT_OK;
    switch (what) {
    case SPEC: text = leat_cluster_spec(cluster, err); break;
    case MASTER: text = leat_cluster_master(cluster, NULL, LEAT_NO_TASK, err); break;
    case CHIEF: status = leat_cluster_is_chief(cluster, &chief, err); break;
    case ID: status = leat_cluster_id(cluster, &number, err); break;
    case COUNT: status = leat_cluster_num_workers(cluster, &number, err); break;
    default: status = leati_cluster_place(cluster, &worker, &count, err);
    }
    if (what == SPEC || what == MASTER)
        status = text == NULL ? torture_code(err) : LEAT_OK;
    if (status != LEAT_OK && what >= CHIEF && what < PLACE)
        assert_true(what == CHIEF ? !chief : number == 0);
    leat_text_free(text);
    return status;
}

static const struct {
    const char *config;
    int what; /* those that refuse; the others answer */
    leat_reason reason;
    const char *keyword;
} refused_cases[] = {
    {"{'cluster': [1]}", SPEC | MASTER | CHIEF | ID | COUNT | PLACE, LEAT_REASON_STRUCTURE,
     "\"cluster\""},
    {"{'cluster': {'worker': 'a:1'}}", SPEC | MASTER | CHIEF | ID | COUNT | PLACE,
     LEAT_REASON_STRUCTURE, "\"worker\""},
    {"{'cluster': {'worker': {'-1': 'a:1'}}}", SPEC | MASTER | CHIEF | ID | COUNT | PLACE,
     LEAT_REASON_VALUE, "\"-1\""},
    {"{'cluster': {'worker': {'': 'a:1'}}}", SPEC, LEAT_REASON_VALUE, "\"\""},
    {"{'cluster': {'worker': {'1x': 'a:1'}, 'ps': ['b:1']}}", SPEC, LEAT_REASON_VALUE, "\"1x\""},
    {"{'cluster': {'worker': ['a:1', 2]}}", SPEC, LEAT_REASON_VALUE, "1"},
    {"{'cluster': {'worker': ['a:1', 'b:1']}}", MASTER, LEAT_REASON_VALUE, "job"},
    {"{'cluster': {'worker': ['a:1', 'b:1']}}", ID | COUNT, LEAT_REASON_VALUE, "type"},
    {"{'cluster': {'worker': ['a:1', 'b:1']}}", PLACE, LEAT_REASON_VALUE, "TF_CONFIG"},
    {"{'cluster': {'worker': ['a:1', 'b:1']}, 'task': {'type': 'worker'}}", MASTER,
     LEAT_REASON_VALUE, "2"},
    {"{'cluster': {'worker': ['a:1', 'b:1']}, 'task': {'type': 'worker'}}", CHIEF | ID | PLACE,
     LEAT_REASON_VALUE, "index"},
    {"{'cluster': {'worker': ['a:1', 'b:1']}, 'task': {'type': 'worker', 'index': '2'}}",
     CHIEF | ID | PLACE, LEAT_REASON_VALUE, "2"},
    {"{'cluster': {'worker': ['a:1', 'b:1']}, 'task': {'type': 'worker', 'index': 2}}", MASTER,
     LEAT_REASON_VALUE, "\"worker\""},
    {"{'cluster': {'worker': ['a:1', 'b:1']}, 'task': {'type': 'worker', 'index': -1}}", PLACE,
     LEAT_REASON_VALUE, "-1"},
    {"{'cluster': {'worker': ['a:1'], 'cook': ['b:1']}, 'task': {'type': 'worker', 'index': "
     "0}}",
     CHIEF | ID | COUNT | PLACE, LEAT_REASON_VALUE, "\"cook\""},
    {"{'cluster': {'chief': ['a:1', 'b:1']}, 'task': {'type': 'chief', 'index': 0}}",
     CHIEF | ID | COUNT | PLACE, LEAT_REASON_VALUE, "\"chief\""},
    {"{'cluster': {'evaluator': ['a:1', 'b:1']}, 'task': {'type': 'evaluator', 'index': 0}}",
     CHIEF | ID | COUNT | PLACE, LEAT_REASON_VALUE, "\"evaluator\""},
    {"{'cluster': {'worker': ['a:1']}, 'task': {'type': 'cook', 'index': 0}}",
     CHIEF | ID | COUNT | PLACE, LEAT_REASON_VALUE, "\"cook\""},
    {"{'cluster': {'worker': ['a:1']}, 'task': {'type': 'chief', 'index': 0}}",
     CHIEF | ID | COUNT | PLACE, LEAT_REASON_VALUE, "\"chief\""},
    {"{'cluster': {'worker': ['a:1'], 'ps': []}, 'task': {'type': 'ps', 'index': 0}}",
     CHIEF | ID | COUNT | PLACE, LEAT_REASON_VALUE, "\"ps\""},
    {"{'cluster': {'worker': ['a:1'], 'ps': ['b:1']}, 'task': {'type': 'ps', 'index': 0}}", ID,
     LEAT_REASON_VALUE, "\"ps\""},
    {"{'cluster': {'worker': ['a:1'], 'ps': ['b:1']}, 'task': {'type': 'ps', 'index': 0}}",
     COUNT | PLACE, LEAT_REASON_VALUE, "\"ps\""},
};

static void test_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof refused_cases / sizeof refused_cases[0]; i++) {
        char config[256];
        leat_error err = {0};
        snprintf(config, sizeof config, "%s", refused_cases[i].config);
        for (char *c = config; *c != '\0'; c++)
            *c = *c == '\'' ? '"' : *c;
        leat_cluster *cluster = leat_cluster_new(config, &err);
        assert_non_null(cluster);
        for (int what = SPEC; what <= PLACE; what *= 2) {
            if ((refused_cases[i].what & what) == 0)
                continue;
            assert_int_equal(ask(cluster, what, &err), LEAT_INVALID_ARGUMENT);
            assert_refused(&err, LEAT_INVALID_ARGUMENT, refused_cases[i].reason,
                           refused_cases[i].keyword);
        }
        leat_cluster_free(cluster);
    }
    check_refused("kubernetes", LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "\"kubernetes\"");
    set("TF_CONFIG", "{\"task\": {\"index\": 1.5}}");
    check_refused(NULL, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "TF_CONFIG");
}

/* Where this process stands among those that train together. */
static void test_places(void **state) {
    (void)state;
    static const struct {
        const char *config;
        int worker, count;
    } cases[] = {
        {"{}", 0, 1},
        {"{\"cluster\": {}, \"task\": {\"type\": \"worker\", \"index\": 3}}", -1, 0},
        {"{\"cluster\": {\"worker\": [\"a:1\"]}, \"task\": {\"type\": \"worker\", \"index\": "
         "0}}",
         0, 1},
        {"{\"cluster\": {\"chief\": [\"c:1\"], \"worker\": [\"a:1\", \"b:1\"]}, \"task\": "
         "{\"type\": \"worker\", \"index\": 1}}",
         2, 3},
        {"{\"cluster\": {\"worker\": [\"a:1\", \"b:1\"], \"evaluator\": [\"e:1\"]}, \"task\": "
         "{\"type\": \"evaluator\", \"index\": 0}}",
         0, 1},
        {"{\"cluster\": {\"worker\": [\"a:1\", \"b:1\"]}, \"task\": {\"type\": \"evaluator\"}}", 0,
         1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        leat_error err = {0};
        int worker = -1, count = -1;
        leat_cluster *cluster = leat_cluster_new(cases[i].config, &err);
        leat_status status = leati_cluster_place(cluster, &worker, &count, &err);
        assert_int_equal(status, cases[i].count > 0 ? LEAT_OK : LEAT_INVALID_ARGUMENT);
        if (status == LEAT_OK) {
            assert_int_equal(worker, cases[i].worker);
            assert_int_equal(count, cases[i].count);
        }
        leat_cluster_free(cluster);
    }
    set("A_NUMBER", "");
    int64_t number = 0;
    leat_error err = {0};
    assert_int_equal(leati_cluster_resolver_number("A_NUMBER", &number, &err),
                     LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "A_NUMBER");
    set("A_NUMBER", "-1");
    assert_int_equal(leati_cluster_resolver_number("A_NUMBER", &number, &err),
                     LEAT_INVALID_ARGUMENT);
    set("A_NUMBER", "0");
    assert_int_equal(leati_cluster_resolver_number("A_NUMBER", &number, &err), LEAT_OK);
    assert_int_equal(number, 0);
    unsetenv("A_NUMBER");
    assert_int_equal(leati_cluster_resolver_number("A_NUMBER", &number, &err), LEAT_NOT_FOUND);
    assert_refused(&err, LEAT_NOT_FOUND, LEAT_REASON_NONE, "A_NUMBER");
}

/* Each variable that is missing is named, where its resolver is asked for. */
static void test_missing_variables(void **state) {
    (void)state;
    static const struct {
        const char *resolver, *name, *value;
    } all[] = {
        {"torchrun", "RANK", "0"},
        {"torchrun", "WORLD_SIZE", "2"},
        {"torchrun", "MASTER_PORT", "1"},
        {"torchrun", "MASTER_ADDR", "h"},
        {"slurm", "SLURM_STEP_NODELIST", "a,b"},
        {"slurm", "SLURM_STEP_TASKS_PER_NODE", "1(x2)"},
        {"slurm", "SLURM_PROCID", "1"},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        check_refused(all[i].resolver, LEAT_NOT_FOUND, LEAT_REASON_NONE, all[i].name);
        set(all[i].name, all[i].value);
    }
    check_found("torchrun", "[\"h:1\", \"\"]", 0);
    for (int i = 0; i < 4; i++)
        unsetenv(all[i].name);
    check_found("slurm", "[\"a:8888\", \"b:8888\"]", 1);
    unsetenv("SLURM_STEP_NODELIST");
    leat_error err = {0};
    leat_cluster *cluster = leat_cluster_find(NULL, &err);
    assert_string_equal(leat_cluster_resolver(cluster), "none");
    leat_cluster_free(cluster);
}

/* ---- failing allocations ---- */

static leat_status use_all(void *resolver, leat_error *err) {
    int64_t id = 0;
    char *spec = NULL, *master = NULL;
    leat_cluster *cluster = leat_cluster_find(resolver, err);
    leat_status status = cluster == NULL ? torture_code(err) : LEAT_OK;
    if (status == LEAT_OK) {
        spec = leat_cluster_spec(cluster, err);
        status = spec == NULL ? torture_code(err) : LEAT_OK;
    }
    if (status == LEAT_OK) {
        master = leat_cluster_master(cluster, "worker", 0, err);
        status = master == NULL ? torture_code(err) : LEAT_OK;
    }
    if (status == LEAT_OK)
        status = leat_cluster_id(cluster, &id, err);
    leat_text_free(spec);
    leat_text_free(master);
    leat_cluster_free(cluster);
    return status;
}

static void test_failing_allocations(void **state) {
    (void)state;
    static char names[][12] = {"tf_config", "torchrun", "mpi", "slurm"};
    set("TF_CONFIG", "{\"cluster\": {\"worker\": {\"0\": \"a:1\", \"1\": \"b:2\"}, \"ps\": "
                     "[\"p:1\"]}, \"task\": {\"type\": \"worker\", \"index\": 1}, "
                     "\"rpc_layer\": \"grpc\"}");
    set("RANK", "1");
    set("WORLD_SIZE", "3");
    set("MASTER_ADDR", "head");
    set("MASTER_PORT", "29500");
    set("PMI_RANK", "1");
    set("PMI_SIZE", "2");
    set("SLURM_PROCID", "1");
    set("SLURM_STEP_NODELIST", "a[1-2],b");
    set("SLURM_STEP_TASKS_PER_NODE", "2(x2),1");
    torture_begin();
    torture_json(true);
    for (int i = 0; i < 4; i++)
        torture_run(use_all, names[i]);
    torture_json(false);
    torture_end();
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
        cmocka_unit_test_setup(test_refused, clear_environment),
        cmocka_unit_test_setup(test_places, clear_environment),
        cmocka_unit_test_setup(test_missing_variables, clear_environment),
        cmocka_unit_test_setup(test_failing_allocations, clear_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
