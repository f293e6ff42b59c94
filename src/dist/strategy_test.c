/* The mirrored strategy on logical CPU devices: contexts, variables and sums as TensorFlow 2.21
 * gave them (tests/golden/data/distribute/strategy.json), failures of one replica, scopes. */
#include "support/cmocka.h"

#include "base/error.h"
#include "data/shares/sharding.h"
#include "dist/planner.h"
#include "dist/strategy.h"
#include "support/refused.h"
#include "support/strategy.h"
#include <leat/data_ops.h>
#include <leat/ops.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { DEVICES = 4 };

static leat_strategy *mirrored(const char *const *devices, int count, leat_error *err) {
    leat_strategy_mirrored_options options = {LEAT_STRATEGY_MIRRORED_DEFAULTS, .devices = devices,
                                              .num_devices = count};
    return leat_strategy_mirrored(&options, err);
}

static leat_strategy *open_strategy(int replicas) {
    static const char *const names[] = {"CPU:0", "CPU:1", "CPU:2", "CPU:3"};
    leat_error err = {0};
    leat_strategy *strategy = mirrored(names, replicas, &err);
    assert_non_null(strategy);
    assert_int_equal(leat_strategy_num_replicas(strategy), replicas);
    return strategy;
}

/* One float32 scalar per replica: start, start + step, ... */
static leat_per_replica scalars(int replicas, float start, float step) {
    leat_error err = {0};
    leat_per_replica value = {.num_replicas = replicas};
    static leat_element elements[8];
    memset(elements, 0, sizeof(elements));
    value.elements = elements;
    leat_spec *spec = leat_spec_tensor(LEAT_FLOAT32, LEAT_SCALAR, &err);
    for (int r = 0; r < replicas; r++) {
        leat_tensor tensor = leat_scalar_float32(start + step * (float)r);
        assert_int_equal(leat_element_set(&elements[r], spec, &tensor, &err), LEAT_OK);
        leat_tensor_unref(&tensor);
    }
    leat_spec_unref(spec);
    return value;
}

static void drop_scalars(leat_per_replica *value) {
    for (int r = 0; r < value->num_replicas; r++)
        leat_element_fini(&value->elements[r]);
}

static float result_of(const leat_per_replica *value, int replica) {
    assert_int_equal(value->elements[replica].num_tensors, 1);
    return *(const float *)value->elements[replica].tensors[0].data;
}

static int trace_ids(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_value id = leat_op_cast(leat_op_replica_id(graph), LEAT_FLOAT32);
    outputs[0] = leat_op_add(id, id);
    return 1;
}

static int trace_sum(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    leat_value x = leat_graph_argument(graph, 0);
    leat_op_all_reduce(&x, 1, *(leat_aggregation *)context, outputs);
    return 1;
}

static void run(leat_strategy *strategy, leat_tracer tracer, void *context, leat_per_replica *out) {
    leat_error err = {0};
    leat_step *step = leat_step_new(tracer, context, &err);
    leat_per_replica args = scalars(leat_strategy_num_replicas(strategy), 1, 1);
    for (int round = 0; round < 3; round++)
        assert_int_equal(leat_strategy_run(strategy, step, &args, out, &err), LEAT_OK);
    drop_scalars(&args);
    leat_step_free(step);
}

static void test_run(void **state) {
    (void)state;
    for (int replicas = 1; replicas <= DEVICES; replicas++) {
        leat_strategy *strategy = open_strategy(replicas);
        leat_per_replica out = {0};
        run(strategy, trace_ids, NULL, &out);
        for (int r = 0; r < replicas; r++)
            assert_true(result_of(&out, r) == 2.0f * (float)r);
        leat_aggregation sum = LEAT_AGGREGATION_SUM, mean = LEAT_AGGREGATION_MEAN;
        run(strategy, trace_sum, &sum, &out);
        for (int r = 0; r < replicas; r++)
            assert_true(result_of(&out, r) == (float)(replicas * (replicas + 1)) / 2);
        run(strategy, trace_sum, &mean, &out);
        for (int r = 0; r < replicas; r++)
            assert_true(result_of(&out, r) == (float)(replicas + 1) / 2);
        leat_per_replica_fini(&out);
        leat_strategy_unref(strategy);
    }
}

static leat_variable *new_variable(leat_strategy *strategy, float initial,
                                   const leat_variable_options *options) {
    leat_error err = {0};
    leat_variable *variable = strategy_variable(strategy, initial, options, &err);
    assert_non_null(variable);
    return variable;
}

static void test_variables(void **state) {
    (void)state;
    leat_strategy *strategy = open_strategy(2);
    for (size_t i = 0; i < STRATEGY_CASES; i++) {
        const strategy_variable_case *c = &strategy_variable_cases[i];
        leat_per_replica args = scalars(2, 0, 0), out = {0};
        leat_variable *variable = strategy_run_variable_case(strategy, c, 1, &args, &out);
        assert_true(result_of(&out, 0) == c->copies[0]);
        assert_true(result_of(&out, 1) == c->copies[1]);
        leat_per_replica_fini(&out);
        drop_scalars(&args);
        leat_variable_unref(variable);
    }
    leat_strategy_unref(strategy);
}

static void test_copies_of_a_variable(void **state) {
    (void)state;
    leat_error err = {0};
    leat_strategy *strategy = open_strategy(2);
    leat_variable *variable =
        new_variable(strategy, 1, &(leat_variable_options){LEAT_VARIABLE_DEFAULTS, .name = "v"});
    leat_step *step = leat_step_new(strategy_add_id, variable, &err);
    leat_per_replica args = scalars(2, 0, 0);
    assert_int_equal(leat_strategy_run(strategy, step, &args, NULL, &err), LEAT_OK);
    assert_int_equal(leat_variable_num_copies(variable), 2);
    leat_tensor copy = {0};
    assert_int_equal(leat_variable_read_copy(variable, 1, &copy, &err), LEAT_OK);
    assert_true(*(float *)copy.data == 12);
    leat_tensor_unref(&copy);
    assert_int_equal(leat_variable_read_copy(variable, 2, &copy, &err), LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "2");
    drop_scalars(&args);
    leat_step_free(step);
    leat_variable_unref(variable);
    leat_strategy_unref(strategy);
}

/* Functions that the caller traced: each replica's own, kept by the step. */
static void test_run_functions(void **state) {
    (void)state;
    leat_error err = {0};
    leat_strategy *strategy = open_strategy(2);
    leat_spec *spec = leat_spec_tensor(LEAT_FLOAT32, LEAT_SCALAR, &err);
    leat_aggregation sum = LEAT_AGGREGATION_SUM, mean = LEAT_AGGREGATION_MEAN;
    leat_function *functions[2] = {LEAT_TRACE(trace_sum, &sum, spec, &err),
                                   LEAT_TRACE(trace_sum, &mean, spec, &err)};
    leat_function *missing[2] = {functions[0], NULL};
    leat_step *step = leat_step_new(NULL, NULL, &err);
    leat_per_replica args = scalars(2, 1, 1), out = {0};
    for (int round = 0; round < 4; round++) {
        leat_function *same[2] = {functions[round % 2], functions[round % 2]};
        float expected = round % 2 == 0 ? 3 : 1.5f;
        assert_int_equal(leat_strategy_run_functions(strategy, step, same, &args, &out, &err),
                         LEAT_OK);
        assert_true(result_of(&out, 0) == expected && result_of(&out, 1) == expected);
    }
    assert_int_equal(leat_strategy_run_functions(strategy, step, missing, &args, &out, &err),
                     LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "1");
    assert_int_equal(leat_strategy_run(strategy, step, &args, &out, &err),
                     LEAT_FAILED_PRECONDITION);
    leat_per_replica_fini(&out);
    assert_true(out.elements == NULL && out.num_replicas == 0);
    drop_scalars(&args);
    leat_step_free(step);
    leat_function_unref(functions[0]);
    leat_function_unref(functions[1]);
    leat_spec_unref(spec);
    leat_strategy_unref(strategy);
}

typedef struct turns {
    pthread_t threads[DEVICES];
    int order[DEVICES], count;
    int failing; /* replica; -1: none */
} turns;

static leat_status take_turn(void *context, int replica, leat_error *err) {
    turns *t = context;
    t->threads[t->count] = pthread_self();
    t->order[t->count++] = replica;
    return replica != t->failing ? LEAT_OK
                                 : leati_fail(err, LEAT_DATA_LOSS, "record %d is broken", replica);
}

/* On the caller's thread, each once and in order, also behind one that failed. */
static void test_in_turn(void **state) {
    (void)state;
    leat_strategy *strategy = open_strategy(DEVICES);
    leat_per_replica out = {0};
    leat_aggregation sum = LEAT_AGGREGATION_SUM;
    for (int failing = -1; failing < DEVICES; failing++) {
        turns t = {.failing = failing};
        leat_error err = {0};
        leat_status status = leati_strategy_run_in_turn(strategy, take_turn, &t, &err);
        assert_int_equal(status, failing < 0 ? LEAT_OK : LEAT_DATA_LOSS);
        assert_int_equal(t.count, DEVICES);
        for (int r = 0; r < DEVICES; r++) {
            assert_int_equal(t.order[r], r);
            assert_true(pthread_equal(t.threads[r], pthread_self()));
        }
        if (failing >= 0) {
            char number[16];
            snprintf(number, sizeof number, "%d", failing);
            assert_refused(&err, LEAT_DATA_LOSS, LEAT_REASON_NONE, number);
        }
        run(strategy, trace_sum, &sum, &out);
        assert_true(result_of(&out, DEVICES - 1) == DEVICES * (DEVICES + 1) / 2.0f);
    }
    leat_per_replica_fini(&out);
    leat_strategy_unref(strategy);
}

/* A step is the same however often it ran, and so on whatever threads. */
static void test_many_runs(void **state) {
    (void)state;
    leat_error err = {0};
    leat_strategy *strategy = open_strategy(2);
    leat_step *step = leat_step_new(trace_ids, NULL, &err);
    leat_per_replica args = scalars(2, 1, 1), out = {0};
    for (int round = 0; round < 200; round++) {
        assert_int_equal(leat_strategy_run(strategy, step, &args, &out, &err), LEAT_OK);
        assert_true(result_of(&out, 0) == 0 && result_of(&out, 1) == 2);
    }
    drop_scalars(&args);
    leat_per_replica_fini(&out);
    leat_step_free(step);
    leat_strategy_unref(strategy);
}

static void test_variable_made_outside(void **state) {
    (void)state;
    leat_error err = {0};
    leat_strategy *strategy = open_strategy(2);
    leat_tensor one = leat_scalar_float32(1);
    leat_variable *variable = leat_variable_new(
        &one, &(leat_variable_options){LEAT_VARIABLE_DEFAULTS, .name = "w"}, &err);
    leat_step *step = leat_step_new(strategy_add_id, variable, &err);
    leat_per_replica args = scalars(2, 0, 0), out = {0};
    assert_int_equal(leat_strategy_run(strategy, step, &args, &out, &err),
                     LEAT_FAILED_PRECONDITION);
    assert_refused(&err, LEAT_FAILED_PRECONDITION, LEAT_REASON_NONE, "\"w\"");
    leat_per_replica_fini(&out);
    drop_scalars(&args);
    leat_step_free(step);
    leat_variable_unref(variable);
    leat_tensor_unref(&one);
    leat_strategy_unref(strategy);
}

static int trace_fail(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_value x = leat_graph_argument(graph, 0);
    float limit = 1.5f;
    leat_tensor tensor = leat_tensor_view(LEAT_FLOAT32, LEAT_SCALAR, &limit);
    leat_value good = leat_op_less(x, leat_graph_tensor(graph, &tensor));
    leat_value checked = leat_op_assert(good, x, LEAT_INVALID_ARGUMENT, "the value is too large");
    leat_op_all_reduce(&checked, 1, LEAT_AGGREGATION_SUM, outputs);
    return 1;
}

static void test_failure_of_one_replica(void **state) {
    (void)state;
    leat_strategy *strategy = open_strategy(3);
    leat_error err = {0};
    leat_step *step = leat_step_new(trace_fail, NULL, &err);
    leat_per_replica bad = scalars(3, 0, 1), good = {0}, out = {0};
    assert_int_equal(leat_strategy_run(strategy, step, &bad, &out, &err), LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_NONE, "2");
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_NONE, "2");
    drop_scalars(&bad);
    good = scalars(3, 0, 0.5f);
    assert_int_equal(leat_strategy_run(strategy, step, &good, &out, &err), LEAT_OK);
    assert_true(result_of(&out, 0) == 1.5f);
    drop_scalars(&good);
    leat_per_replica_fini(&out);
    leat_step_free(step);
    leat_strategy_unref(strategy);
}

static void test_scopes(void **state) {
    (void)state;
    leat_error err = {0};
    leat_strategy *one = open_strategy(2), *other = open_strategy(2);
    assert_int_equal(leat_strategy_enter(one, &err), LEAT_OK);
    assert_int_equal(leat_strategy_enter(one, &err), LEAT_OK);
    assert_int_equal(leat_strategy_enter(other, &err), LEAT_FAILED_PRECONDITION);
    leat_strategy_exit(one);
    leat_strategy_exit(one);
    assert_int_equal(leat_device_set_logical_cpus(DEVICES + 1, &err), LEAT_FAILED_PRECONDITION);
    assert_refused(&err, LEAT_FAILED_PRECONDITION, LEAT_REASON_NONE, "4");
    leat_strategy_unref(one);
    leat_strategy_unref(other);
}

static void test_bad_devices(void **state) {
    (void)state;
    leat_error err = {0};
    const char *twice[] = {"CPU:0", "CPU:0"}, *missing[] = {"CPU:77"}, *wrong[] = {"disk"};
    assert_null(mirrored(twice, 2, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "0");
    assert_null(mirrored(missing, 1, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "77");
    assert_null(mirrored(wrong, 1, &err));
    assert_int_equal(err.code, LEAT_INVALID_ARGUMENT);
}

/* Steps of range(n).batch(4) on 2 replicas (reference: tf.distribute, in-memory sources split every
 * batch in pieces). */
static void test_distribute(void **state) {
    (void)state;
    leat_error err = {0};
    leat_strategy *strategy = open_strategy(2);
    leat_dataset *dataset =
        leat_dataset_batch(leat_dataset_range(0, 10, 1, NULL, &err), 4, NULL, &err);
    leat_distributed_dataset *distributed =
        leat_strategy_distribute_dataset(strategy, dataset, NULL, &err);
    assert_non_null(distributed);
    assert_int_equal(leat_distributed_dataset_cardinality(distributed), 3);
    assert_non_null(strstr(leat_distributed_dataset_describe(distributed), "policy DATA"));
    static const char *const expected[] = {"[0 1] [2 3] ", "[4 5] [6 7] ", "[8] [9] "};
    leat_distributed_iterator *iterator = leat_distributed_iterator_new(distributed, &err);
    leat_per_replica value = {0};
    for (int step = 0; step < 3; step++) {
        char text[128] = "";
        assert_int_equal(leat_distributed_iterator_next(iterator, &value, &err), LEAT_OK);
        for (int r = 0; r < 2; r++) {
            leat_element_print(&value.elements[r], text + strlen(text), 60);
            strcat(text, " ");
        }
        assert_string_equal(text, expected[step]);
    }
    assert_int_equal(leat_distributed_iterator_next(iterator, &value, &err), LEAT_OUT_OF_RANGE);
    assert_int_equal(leat_distributed_iterator_next(iterator, &value, &err), LEAT_OUT_OF_RANGE);
    leat_per_replica_fini(&value);
    leat_distributed_iterator_free(iterator);
    leat_distributed_dataset_free(distributed);
    assert_null(leat_strategy_distribute_dataset(strategy, leat_dataset_range(0, 4, 1, NULL, &err),
                                                 NULL, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_SHAPE, "0");
    assert_null(leat_strategy_distribute_dataset(strategy, NULL, NULL, NULL));
    leat_strategy_unref(strategy);
}

/* Three static batches on two replicas, as a function of the user's made them. */
static void test_replica_batches(void **state) {
    (void)state;
    leat_error err = {0};
    leat_strategy *strategy = open_strategy(2);
    leat_dataset_batch_options drop = {LEAT_DATASET_BATCH_DEFAULTS, .drop_remainder = true};
    leat_dataset *dataset =
        leat_dataset_batch(leat_dataset_range(0, 6, 1, NULL, &err), 2, &drop, &err);
    leat_distributed_dataset *distributed =
        leat_strategy_distribute_replica_batches(strategy, dataset, NULL, &err);
    assert_non_null(distributed);
    assert_non_null(strstr(leat_distributed_dataset_describe(distributed), "batches as they are"));
    for (int filled = 0; filled < 2; filled++) {
        leat_per_replica value = {0};
        leat_distributed_iterator *iterator = leat_distributed_iterator_new(distributed, &err);
        assert_non_null(leat_distributed_iterator_base(iterator));
        assert_int_equal(leat_distributed_iterator_next(iterator, &value, &err), LEAT_OK);
        if (filled) {
            assert_int_equal(leat_distributed_iterator_next_filled(iterator, &value, &err),
                             LEAT_OK);
            assert_int_equal(leat_tensor_count(&value.elements[0].tensors[0]), 2);
            assert_int_equal(leat_tensor_count(&value.elements[1].tensors[0]), 0);
        }
        assert_int_equal(leat_distributed_iterator_next(iterator, &value, &err), LEAT_OUT_OF_RANGE);
        leat_per_replica_fini(&value);
        leat_distributed_iterator_free(iterator);
    }
    leat_distributed_dataset_free(distributed);
    assert_null(leat_strategy_distribute_replica_batches(strategy, NULL, NULL, NULL));
    leat_strategy_unref(strategy);
}

static int trace_reader(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    const char *const *op = context; /* and the name of its argument */
    leat_value x = leat_graph_argument(graph, 0);
    outputs[0] = leat_graph_dataset_op(graph, op[0], NULL, NULL, 0, &op[1], &x, 1);
    return 1;
}

/* Readers that a function opens count as files (list_files and interleave). */
static void test_readers_of_functions(void **state) {
    (void)state;
    leat_error err = {0};
    for (int reader = 0; reader < 2; reader++) {
        leat_spec *spec = leat_spec_tensor(LEAT_STRING, LEAT_SCALAR, &err);
        const char *ops[2][2] = {{"from_tensors", "tensors"}, {"tf_record_dataset", "filenames"}};
        leat_function *function = LEAT_TRACE(trace_reader, ops[reader], spec, &err);
        assert_non_null(function);
        leat_dataset *dataset =
            leat_dataset_flat_map(leat_dataset_list_files("*", NULL, &err), function, &err);
        assert_non_null(dataset);
        leat_dataset *share = leati_sharding_by_files(dataset, 1, 0, NULL, 0, &err);
        assert_int_equal(share != NULL, reader);
        leat_dataset_unref(share);
        leat_dataset_unref(dataset);
        err = (leat_error){0};
        leat_spec_unref(spec);
    }
}

static void test_batch_sizes(void **state) {
    (void)state;
    int64_t sizes[16];
    static const int64_t first[] = {2, 2, 2, 1}, second[] = {2, 1, 2, 2}, ten[] = {3, 3, 2, 2};
    leati_planner_batch_sizes(7, 2, 2, 0, sizes);
    assert_memory_equal(sizes, first, sizeof(first));
    leati_planner_batch_sizes(7, 2, 2, 1, sizes);
    assert_memory_equal(sizes, second, sizeof(second));
    leati_planner_batch_sizes(10, 1, 4, 0, sizes);
    assert_memory_equal(sizes, ten, sizeof(ten));
}

/* Every line of the table by its name; TensorFlow's others say what to use instead. */
static void test_by_name(void **state) {
    (void)state;
    size_t count;
    const leati_strategy_kind *const *kinds = leati_strategy_kinds(&count);
    assert_int_equal(count, 5);
    for (size_t i = 0; i < count; i++) {
        leat_error err = {0};
        leat_strategy *strategy = leat_strategy_named(kinds[i]->name, &err);
        assert_non_null(strategy);
        assert_string_equal(leat_strategy_name(strategy), kinds[i]->name);
        bool all = strcmp(kinds[i]->name, "mirrored") == 0 ||
                   strcmp(kinds[i]->name, "central_storage") == 0;
        int replicas = all ? DEVICES : 1;
        assert_int_equal(leat_strategy_num_replicas(strategy), replicas);
        assert_int_equal(leat_strategy_num_local_replicas(strategy), replicas);
        leat_aggregation sum = LEAT_AGGREGATION_SUM;
        leat_per_replica out = {0};
        run(strategy, trace_sum, &sum, &out);
        assert_true(result_of(&out, 0) == (float)(replicas * (replicas + 1)) / 2);
        leat_per_replica_fini(&out);
        leat_variable *variable = new_variable(
            strategy, 2, &(leat_variable_options){LEAT_VARIABLE_DEFAULTS, .name = "v"});
        assert_int_equal(leat_variable_num_copies(variable), replicas);
        /* A variable keeps its strategy. */
        leat_strategy_unref(strategy);
        assert_true(strategy_value_of(variable) == 2);
        leat_variable_unref(variable);
    }
    static const char *const others[][2] = {{"parameter_server", "multi_worker_mirrored"},
                                            {"tpu", "mirrored"}};
    for (int i = 0; i < 2; i++) {
        leat_error err = {0};
        assert_null(leat_strategy_named(others[i][0], &err));
        assert_refused(&err, LEAT_UNIMPLEMENTED, LEAT_REASON_NONE, others[i][1]);
    }
    leat_error err = {0};
    assert_null(leat_strategy_named("mirored", &err));
    assert_int_equal(err.code, LEAT_NOT_FOUND);
}

/* Vectors of 1, 2, 3 rows behind one another, and what cannot be gathered. */
static void test_gather(void **state) {
    (void)state;
    leat_error err = {0};
    leat_strategy *strategy = open_strategy(3);
    leat_per_replica value = scalars(3, 1, 1);
    leat_element out = {0};
    assert_int_equal(leat_strategy_gather(strategy, &value, 0, &out, &err), LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_SHAPE, "0");
    drop_scalars(&value);
    leat_spec *spec = leat_spec_tensor(LEAT_FLOAT32, LEAT_SHAPE(2, -1), &err);
    for (int r = 0; r < 3; r++) {
        float numbers[6];
        for (int i = 0; i < 6; i++)
            numbers[i] = (float)(r * 10 + i);
        leat_tensor tensor = {0};
        assert_int_equal(
            leat_tensor_copy_of(LEAT_FLOAT32, LEAT_SHAPE(2, r + 1), numbers, &tensor, &err),
            LEAT_OK);
        assert_int_equal(leat_element_set(&value.elements[r], spec, &tensor, &err), LEAT_OK);
        leat_tensor_unref(&tensor);
    }
    leat_spec_unref(spec);
    static const float expected[12] = {0, 10, 11, 20, 21, 22, 1, 12, 13, 23, 24, 25};
    for (int axis = -1; axis < 2; axis += 2) {
        assert_int_equal(leat_strategy_gather(strategy, &value, axis, &out, &err), LEAT_OK);
        assert_int_equal(out.tensors[0].dims[1], 6);
        assert_memory_equal(out.tensors[0].data, expected, sizeof expected);
    }
    assert_int_equal(leat_strategy_gather(strategy, &value, 0, &out, &err), LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_SHAPE, "[2, 2]");
    leat_element_fini(&out);
    drop_scalars(&value);
    leat_strategy_unref(strategy);
}

static int lines;

static void take_line(void *context, leat_log_level level, const char *line) {
    (void)context;
    assert_int_equal(level, LEAT_LOG_WARNING);
    assert_non_null(strstr(line, "shuffle first, then batch"));
    lines++;
}

/* 0 to 7 in batches of 2, shuffled behind (or in front) of batching, which may be undone. */
static void distribute_shuffled(leat_strategy *strategy, bool first, bool is_unbatched) {
    leat_error err = {0};
    leat_dataset *dataset = leat_dataset_range(0, 8, 1, NULL, &err);
    if (first)
        dataset = leat_dataset_shuffle(dataset, 8, NULL, &err);
    dataset = leat_dataset_batch(dataset, 2, NULL, &err);
    if (is_unbatched)
        dataset = leat_dataset_unbatch(dataset, &err);
    if (!first)
        dataset = leat_dataset_shuffle(dataset, 8, NULL, &err);
    if (is_unbatched)
        dataset = leat_dataset_batch(dataset, 2, NULL, &err);
    dataset = leat_dataset_prefetch(dataset, 1, &err);
    leat_distributed_dataset_free(leat_strategy_distribute_dataset(strategy, dataset, NULL, &err));
    assert_int_equal(err.code, LEAT_OK);
}

static void test_shuffled_batches(void **state) {
    (void)state;
    leat_error err = {0};
    leat_strategy *strategy = leat_strategy_mirrored(NULL, &err);
    leat_log_set(take_line, NULL);
    distribute_shuffled(strategy, true, false);
    distribute_shuffled(strategy, false, true);
    assert_int_equal(lines, 0);
    for (int i = 0; i < 2; i++)
        distribute_shuffled(strategy, false, false);
    assert_int_equal(lines, 1);
    leat_log_set(NULL, NULL);
    leat_strategy_unref(strategy);
}

int main(void) {
    leat_error err = {0};
    if (leat_device_set_logical_cpus(DEVICES, &err) != LEAT_OK)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_run),
        cmocka_unit_test(test_variables),
        cmocka_unit_test(test_copies_of_a_variable),
        cmocka_unit_test(test_run_functions),
        cmocka_unit_test(test_in_turn),
        cmocka_unit_test(test_many_runs),
        cmocka_unit_test(test_variable_made_outside),
        cmocka_unit_test(test_failure_of_one_replica),
        cmocka_unit_test(test_scopes),
        cmocka_unit_test(test_bad_devices),
        cmocka_unit_test(test_distribute),
        cmocka_unit_test(test_replica_batches),
        cmocka_unit_test(test_readers_of_functions),
        cmocka_unit_test(test_batch_sizes),
        cmocka_unit_test(test_by_name),
        cmocka_unit_test(test_gather),
        cmocka_unit_test(test_shuffled_batches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
