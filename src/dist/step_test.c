/* Steps: when they are traced anew, the table of their times, scopes and devices that are refused,
 * and runs in which each allocation fails. What a step computes stands in strategy_test.c. */
#include "support/cmocka.h"

#include "dist/step_explain.h"
#include "dist/strategy.h"
#include "support/refused.h"
#include "support/strategy.h"
#include "support/torture.h"
#include <math.h>

enum { DEVICES = 2, MANY = 20 /* more than a run keeps on its stack */, MOST_SCOPES = 64 };

static leat_strategy *open_strategy(leat_error *err) {
    static const char *const names[] = {"CPU:0", "/device:CPU:1"};
    return leat_strategy_mirrored(&(leat_strategy_mirrored_options){LEAT_STRATEGY_MIRRORED_DEFAULTS,
                                                                    .devices = names,
                                                                    .num_devices = DEVICES},
                                  err);
}

/* ---- tracing ---- */

static int traces;

static int trace_double(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    int count = *(const int *)context;
    traces++;
    for (int i = 0; i < count; i++) {
        leat_value x = leat_graph_argument(graph, i);
        outputs[i] = leat_op_add(x, x);
    }
    return count;
}

/* `count` vectors of `rows` numbers; number i of vector c is first + 10 c + i. */
static leat_status fill_in(leat_element *out, leat_dtype dtype, int count, int64_t rows, int first,
                           leat_error *err) {
    leat_tensor tensors[MANY] = {{0}};
    leat_spec *parts[MANY] = {NULL}, *spec = NULL;
    leat_status status = LEAT_OK;
    for (int c = 0; c < count && status == LEAT_OK; c++) {
        status = leat_tensor_new(dtype, LEAT_SHAPE(rows), &tensors[c], err);
        for (int64_t i = 0; i < rows && status == LEAT_OK; i++)
            if (dtype == LEAT_FLOAT32)
                ((float *)tensors[c].data)[i] = (float)(first + 10 * c + i);
            else
                ((int32_t *)tensors[c].data)[i] = (int32_t)(first + 10 * c + i);
    }
    for (int c = 0; c < count && status == LEAT_OK; c++)
        parts[c] = leat_spec_tensor(dtype, LEAT_SHAPE(-1), err);
    if (status == LEAT_OK) {
        spec = leat_spec_tuple(parts, count, err);
        status = spec == NULL ? torture_code(err) : leat_element_set(out, spec, tensors, err);
    }
    for (int c = 0; c < count; c++)
        leat_tensor_unref(&tensors[c]);
    leat_spec_unref(spec);
    return status;
}

/* Runs a step over such values on both replicas, of which the second has `more` rows more. */
static void run(leat_strategy *strategy, leat_step *step, leat_dtype dtype, int count, int64_t rows,
                int more, leat_per_replica *out) {
    leat_error err = {0};
    leat_element elements[DEVICES] = {{0}, {0}};
    leat_per_replica args = {.elements = elements, .num_replicas = DEVICES};
    for (int r = 0; r < DEVICES; r++)
        assert_int_equal(fill_in(&elements[r], dtype, count, rows + r * more, 100 * r, &err),
                         LEAT_OK);
    if (leat_strategy_run(strategy, step, &args, out, &err) != LEAT_OK)
        fail_msg("%s", err.text);
    for (int r = 0; r < DEVICES; r++) {
        assert_int_equal(out->elements[r].num_tensors, count);
        for (int c = 0; c < count; c++) {
            const leat_tensor *tensor = &out->elements[r].tensors[c];
            assert_int_equal(tensor->dtype, dtype);
            assert_int_equal(leat_tensor_count(tensor), rows + r * more);
            for (int64_t i = 0; i < rows + r * more; i++) {
                int64_t expected = 2 * (100 * r + 10 * c + i);
                assert_true(dtype == LEAT_FLOAT32
                                ? ((const float *)tensor->data)[i] == (float)expected
                                : ((const int32_t *)tensor->data)[i] == expected);
            }
        }
        leat_element_fini(&elements[r]);
    }
}

/* Once for each dtype, number of components and shape, as tf.function does. */
static void test_traces(void **state) {
    (void)state;
    static const struct {
        leat_dtype dtype;
        int count, rows, more, traces;
    } runs[] = {
        {LEAT_FLOAT32, 1, 3, 0, 1}, {LEAT_FLOAT32, 1, 3, 0, 0},    {LEAT_FLOAT32, 1, 4, 0, 1},
        {LEAT_FLOAT32, 1, 3, 1, 0}, {LEAT_FLOAT32, 1, 4, 2, 1},    {LEAT_INT32, 1, 3, 0, 1},
        {LEAT_FLOAT32, 2, 3, 0, 1}, {LEAT_FLOAT32, 8, 3, 0, 1},    {LEAT_FLOAT32, MANY, 3, 0, 1},
        {LEAT_FLOAT32, 1, 0, 0, 1}, {LEAT_FLOAT32, MANY, 3, 0, 0}, {LEAT_INT32, 1, 3, 0, 0},
        {LEAT_FLOAT32, 1, 6, 0, 0}, {LEAT_FLOAT32, 9, 3, 0, 1},    {LEAT_FLOAT32, 2, 3, 0, 0},
    };
    leat_error err = {0};
    int count = 1;
    leat_strategy *strategy = open_strategy(&err);
    leat_step *step = leat_step_new(trace_double, &count, &err);
    leat_per_replica out = {0};
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        int before = traces;
        count = runs[i].count;
        run(strategy, step, runs[i].dtype, count, runs[i].rows, runs[i].more, &out);
        assert_int_equal(traces - before, runs[i].traces);
    }
    leat_element nothing[DEVICES] = {{0}, {0}};
    leat_per_replica empty = {.elements = nothing, .num_replicas = DEVICES};
    assert_int_equal(leat_strategy_run(strategy, step, &empty, &out, &err), LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_STRUCTURE, "leat_strategy_run");
    leat_step_times times = {-1, -1, -1, -1};
    assert_int_equal(leat_step_get_times(step, &times, &err), LEAT_OK);
    assert_true(times.forward_ns >= 0 && times.backward_ns == 0 && times.update_ns == 0);
    char *table = leat_step_explain(step, &err);
    assert_non_null(strstr(table, "add"));
    leat_text_free(table);
    assert_int_equal(leat_step_get_times(NULL, &times, &err), LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "step");
    assert_int_equal(leat_step_get_times(step, NULL, &err), LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "out");
    assert_null(leat_step_explain(NULL, &err));
    assert_int_equal(err.code, LEAT_INVALID_ARGUMENT);
    leat_per_replica_fini(&out);
    leat_step_free(step);
    leat_strategy_unref(strategy);
}

/* ---- the table ---- */

static void test_table(void **state) {
    (void)state;
    leat_error err = {0};
    static const char lines[] = "memory: 2500000 1000000\n"
                                "stage: forward 1000\n"
                                "matmul oneDNN brgemm 500000\n"
                                "relu plain 0\n"
                                "add plain 250000\n"
                                "matmul oneDNN brgemm 2500000\n"
                                "matmul plain 750000\n"
                                "stage: backward 20\nstage: reduce 3\nstage: update 400\n"
                                "stage: forward 50000\nstage: other 7\n"
                                "no-time\n"
                                "a_name_that_is_longer_than_its_forty_two_columns plain 1000000";
    char *table = leati_step_table(lines, &err);
    assert_non_null(table);
    assert_string_equal(
        table, "operation                                  implementation                    ms   "
               "share\n"
               "matmul (2)                                 oneDNN brgemm                  3.000   "
               "60.0%\n"
               "a_name_that_is_longer_than_its_forty_two_c plain                          1.000   "
               "20.0%\n"
               "matmul                                     plain                          0.750   "
               "15.0%\n"
               "add                                        plain                          0.250    "
               "5.0%\n"
               "2.500 MB for what lives during the step; at least 1.000 MB are needed\n");
    leat_text_free(table);
    table = leati_step_table("", &err);
    assert_string_equal(
        table, "operation                                  implementation                    ms   "
               "share\n");
    leat_text_free(table);
    leat_step_times times = {.update_ns = 5};
    leati_step_add_times(lines, &times);
    assert_int_equal(times.forward_ns, 51000);
    assert_int_equal(times.backward_ns, 20);
    assert_int_equal(times.reduce_ns, 3);
    assert_int_equal(times.update_ns, 405);
}

/* ---- what is refused ---- */

static void check_failure(bool failed, const leat_error *err, leat_status code, leat_reason reason,
                          const char *keyword) {
    assert_true(failed);
    assert_refused(err, code, reason, keyword);
}

static void test_scopes(void **state) {
    (void)state;
    leat_error err = {0};
    leat_strategy *one = open_strategy(&err), *other = open_strategy(&err);
    check_failure(leat_strategy_enter(NULL, &err) != LEAT_OK, &err, LEAT_INVALID_ARGUMENT,
                  LEAT_REASON_VALUE, "strategy");
    int depth = 0;
    while (depth <= MOST_SCOPES && leat_strategy_enter(one, &err) == LEAT_OK)
        depth++;
    check_failure(depth > 1 && depth <= MOST_SCOPES, &err, LEAT_FAILED_PRECONDITION,
                  LEAT_REASON_NONE, "leat_strategy_exit");
    check_failure(leat_strategy_enter(other, &err) != LEAT_OK, &err, LEAT_FAILED_PRECONDITION,
                  LEAT_REASON_NONE, "strategy");
    leat_strategy_exit(other); /* which is not open: nothing happens */
    leat_strategy_exit(NULL);
    leat_tensor tensor = leat_scalar_float32(1);
    for (; depth >= 0; depth--) {
        leat_variable *variable = leat_variable_new(&tensor, NULL, &err);
        assert_int_equal(leat_variable_num_copies(variable), depth > 0 ? DEVICES : 1);
        leat_variable_unref(variable);
        leat_strategy_exit(one);
    }
    leat_strategy_exit(one);
    assert_int_equal(leat_strategy_enter(other, &err), LEAT_OK);
    leat_strategy_exit(other);
    leat_tensor_unref(&tensor);
    leat_strategy_unref(one);
    leat_strategy_unref(other);
}

static void test_devices(void **state) {
    (void)state;
    static const char *const wrong[] = {"CPU:", "CPU:x", "CPU:-1", "CPU:0 ", "NPU:0", "", NULL};
    static const leat_strategy_mirrored_options options[] = {
        {LEAT_STRATEGY_MIRRORED_DEFAULTS, .devices = wrong},
        {LEAT_STRATEGY_MIRRORED_DEFAULTS, .timeout_ms = -1},
        {LEAT_STRATEGY_MIRRORED_DEFAULTS, .bytes_per_pack = -1}};
    leat_error err = {0};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char keyword[16];
        const char *names[] = {"CPU:1", wrong[i]};
        snprintf(keyword, sizeof keyword, "\"%.5s", wrong[i] == NULL ? "(null)" : wrong[i]);
        check_failure(leat_strategy_mirrored(
                          &(leat_strategy_mirrored_options){LEAT_STRATEGY_MIRRORED_DEFAULTS,
                                                            .devices = names, .num_devices = 2},
                          &err) == NULL,
                      &err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, keyword);
    }
    const char *beyond[] = {"CPU:2"}, *twice[] = {"CPU:1", "device:CPU:1"};
    check_failure(leati_strategy_open_devices(beyond, 1, &err) == NULL, &err, LEAT_INVALID_ARGUMENT,
                  LEAT_REASON_VALUE, "2");
    check_failure(leati_strategy_open_devices(twice, 2, &err) == NULL, &err, LEAT_INVALID_ARGUMENT,
                  LEAT_REASON_VALUE, "1");
    for (int i = 0; i < 3; i++) {
        check_failure(leat_strategy_mirrored(&options[i], &err) == NULL, &err,
                      LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, i == 0 ? "0" : "-1");
    }
    check_failure(leat_device_set_logical_cpus(0, &err) != LEAT_OK, &err, LEAT_INVALID_ARGUMENT,
                  LEAT_REASON_VALUE, "0");
    check_failure(leat_device_set_logical_cpus(1025, &err) != LEAT_OK, &err, LEAT_INVALID_ARGUMENT,
                  LEAT_REASON_VALUE, "1025");
    check_failure(leat_device_set_logical_cpus(3, &err) != LEAT_OK, &err, LEAT_FAILED_PRECONDITION,
                  LEAT_REASON_NONE, "2");
    assert_int_equal(leat_device_set_logical_cpus(2, &err), LEAT_OK);
    assert_int_equal(leat_device_num_logical("CPU"), 2);
    assert_int_equal(leat_device_num_logical("GPU"), 0);
    assert_int_equal(leat_device_num_logical(NULL), 0);
}

/* What is asked of no strategy at all. */
static void test_without_strategy(void **state) {
    (void)state;
    leat_error err = {0};
    assert_string_equal(leat_strategy_name(NULL), "");
    assert_string_equal(leat_strategy_describe(NULL), "");
    assert_int_equal(leat_strategy_num_replicas(NULL), 0);
    assert_int_equal(leat_strategy_num_local_replicas(NULL), 0);
    assert_int_equal(leat_strategy_first_replica(NULL), 0);
    assert_int_equal(leat_strategy_num_workers(NULL), 0);
    assert_int_equal(leat_strategy_worker(NULL), 0);
    leat_strategy *strategy = open_strategy(&err);
    assert_int_equal(leat_strategy_num_workers(strategy), 1);
    assert_int_equal(leat_strategy_first_replica(strategy), 0);
    assert_int_equal(leat_strategy_worker(strategy), 0);
    assert_true(leat_strategy_is_chief(strategy));
    leat_strategy_unref(strategy);
    leat_step_free(NULL);
    leat_per_replica_fini(NULL);
}

/* ---- failing allocations ---- */

static int trace_sums(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    leat_value x[MANY];
    for (int i = 0; i < MANY; i++)
        x[i] = leat_graph_argument(graph, i);
    leat_op_all_reduce(x, MANY, LEAT_AGGREGATION_SUM, outputs);
    leat_graph_assign_add(graph, context, leat_op_reduce_sum(outputs[1], NULL, 0, false));
    return MANY;
}

static leat_status use_step(void *context, leat_error *err) {
    leat_element elements[DEVICES] = {{0}, {0}};
    leat_per_replica args = {.elements = elements, .num_replicas = DEVICES}, out = {0};
    leat_tensor zero = leat_tensor_view(LEAT_FLOAT32, LEAT_SCALAR, &(float){0}), sum = {0};
    leat_variable *variable = NULL;
    leat_step *step = NULL;
    char *table = NULL;
    (void)context;
    leat_strategy *strategy = open_strategy(err);
    leat_status status = strategy == NULL ? torture_code(err) : leat_strategy_enter(strategy, err);
    if (status == LEAT_OK) {
        variable = leat_variable_new(&zero, NULL, err);
        leat_strategy_exit(strategy);
        status = variable == NULL ? torture_code(err) : LEAT_OK;
    }
    for (int r = 0; r < DEVICES && status == LEAT_OK; r++)
        status = fill_in(&elements[r], LEAT_FLOAT32, MANY, 2, r, err);
    if (status == LEAT_OK) {
        step = leat_step_new(trace_sums, variable, err);
        status = step == NULL ? torture_code(err) : LEAT_OK;
    }
    for (int i = 0; i < 2 && status == LEAT_OK; i++)
        status = leat_strategy_run(strategy, step, &args, &out, err);
    if (status == LEAT_OK) {
        assert_true(((const float *)out.elements[1].tensors[2].data)[1] == 43);
        status = leat_variable_read(variable, &sum, err);
    }
    if (status == LEAT_OK) {
        assert_true(*(const float *)sum.data == 2 * (21 + 23));
        table = leat_step_explain(step, err);
        status = table == NULL ? torture_code(err) : LEAT_OK;
    }
    leat_step_times times;
    if (status == LEAT_OK && leat_step_get_times(step, &times, err) != LEAT_OK)
        status = err->code;
    leat_text_free(table);
    leat_tensor_unref(&sum);
    leat_per_replica_fini(&out);
    for (int r = 0; r < DEVICES; r++)
        leat_element_fini(&elements[r]);
    leat_step_free(step);
    leat_variable_unref(variable);
    leat_strategy_unref(strategy);
    return status;
}

static void test_failing_allocations(void **state) {
    (void)state;
    leat_error err = {0};
    assert_int_equal(use_step(NULL, &err), LEAT_OK); /* what lives as long as the process */
    torture_begin();
    torture_run_tolerant(use_step, NULL);
    torture_end();
}

static int two_devices(void **state) {
    (void)state;
    return leat_device_set_logical_cpus(DEVICES, NULL) == LEAT_OK ? 0 : -1;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_traces),           cmocka_unit_test(test_table),
        cmocka_unit_test(test_scopes),           cmocka_unit_test(test_devices),
        cmocka_unit_test(test_without_strategy), cmocka_unit_test(test_failing_allocations),
    };
    return cmocka_run_group_tests(tests, two_devices, NULL);
}
