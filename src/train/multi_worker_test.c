/* The small CNN trained on digits by several processes, against the losses recorded from Keras: as
 * many global batches on 1, 2, 3 processes and on 2 with two replicas each give the same losses,
 * and twice the same bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../tests/support/digits.h"
#include "../../tests/support/workers.h"
#include "base/hash.h"
#include "graph/variable.h"
#include <leat/dist.h>

enum { EPOCHS = 2, LONG_MS = 60000, STEPS = 50 };

// ---- in a worker ----

struct run {
    struct trainer trainer;
    leat_metric *accuracy;
    leat_strategy *strategy;
    leat_step *train, *evaluate;
};

static int evaluate_step(void *context, leat_graph *graph, leat_value *outputs) {
    struct run *run = context;
    (void)outputs;
    leat_value values[2] = {
        leat_graph_argument(graph, 1),
        leat_model_call(run->trainer.model, leat_graph_argument(graph, 0), false)};
    leat_metric_update(run->accuracy, values, 2);
    return 0;
}

/* The argument: devices of a worker, case, bytes_per_pack, "ring" or "auto". */
static void run_init(struct run *run, const json_t *cases) {
    static const char *const names[2] = {"CPU:0", "CPU:1"};
    leat_multi_worker_options options = {
        .devices = names, .timeout_ms = LONG_MS, .start_timeout_ms = LONG_MS};
    leat_error err = {0};
    int number = 0, bytes = 0;
    char way[16] = "";
    assert_int_equal(
        sscanf(workers_argument(), "%d %d %d %15s", &options.num_devices, &number, &bytes, way), 4);
    options.bytes_per_pack = bytes;
    options.communication =
        strcmp(way, "ring") == 0 ? LEAT_COMMUNICATION_RING : LEAT_COMMUNICATION_AUTO;
    train_ok(leat_set_logical_cpu_devices(options.num_devices, &train_error));
    run->strategy = leat_multi_worker_mirrored_strategy(&options, &err);
    if (run->strategy == NULL)
        fail_msg("%s", err.text);
    train_ok(leat_strategy_enter(run->strategy, &train_error));
    trainer_init(&run->trainer, json_array_get(cases, (size_t)number));
    run->accuracy = leat_sparse_categorical_accuracy(NULL, &err);
    leat_strategy_exit(run->strategy);
    run->train = leat_step_new(trainer_step, &run->trainer, &err);
    run->evaluate = leat_step_new(evaluate_step, run, &err);
    assert_non_null(run->train);
    assert_non_null(run->evaluate);
}

static void take_batch(struct run *run, const struct digits *digits, int64_t first, bool train) {
    leat_per_replica batch, losses = {0};
    leat_element sum = {0};
    int64_t rows = digits->count - first < DIGITS_BATCH ? digits->count - first : DIGITS_BATCH;
    digits_split(digits, first, rows, leat_strategy_num_replicas(run->strategy),
                 leat_strategy_first_replica(run->strategy),
                 leat_strategy_num_local_replicas(run->strategy), &batch);
    train_ok(leat_strategy_run(run->strategy, train ? run->train : run->evaluate, &batch, &losses,
                               &train_error));
    if (train) {
        train_ok(leat_strategy_reduce(run->strategy, LEAT_REDUCE_SUM, &losses, LEAT_NO_AXIS, &sum,
                                      &train_error));
        workers_say("%a", (double)*(const float *)sum.tensors[0].data);
    }
    leat_element_fini(&sum);
    leat_per_replica_fini(&losses);
    digits_split_free(&batch);
}

/* A hash of all copies of all weights, which are equal. */
static uint64_t weights_of(const struct run *run) {
    int count;
    uint64_t hash = 0;
    leat_variable *const *variables = leat_model_trainable_variables(run->trainer.model, &count);
    for (int i = 0; i < count; i++) {
        leat_tensor first, other;
        train_ok(leati_variable_download(variables[i], 0, &first, &train_error));
        for (int r = 1; r < variables[i]->num_copies; r++) {
            train_ok(leati_variable_download(variables[i], r, &other, &train_error));
            train_close("copy", &first, &other, 0);
            leat_tensor_unref(&other);
        }
        hash = leati_hash(first.data, leat_tensor_bytes(&first), hash);
        leat_tensor_unref(&first);
    }
    return hash;
}

static void worker_train(void **state) {
    (void)state;
    struct digits digits;
    struct run run;
    double accuracy = -1;
    json_t *root;
    digits_read(&digits);
    run_init(&run, train_cases("training.json", &root));
    for (int epoch = 0; epoch < EPOCHS; epoch++) {
        for (int64_t first = 0; first < digits.count; first += DIGITS_BATCH)
            take_batch(&run, &digits, first, true);
        train_ok(leat_metric_reset(run.accuracy, &train_error));
        for (int64_t first = 0; first < digits.count; first += DIGITS_BATCH)
            take_batch(&run, &digits, first, false);
        train_ok(leat_metric_result(run.accuracy, &accuracy, &train_error));
    }
    workers_say("accuracy %a weights %016llx", accuracy, (unsigned long long)weights_of(&run));
    leat_step_free(run.train);
    leat_step_free(run.evaluate);
    leat_metric_free(run.accuracy);
    trainer_fini(&run.trainer);
    leat_strategy_unref(run.strategy);
    digits_free(&digits);
    json_decref(root);
}

// ---- the tests ----

enum { NUM_STEPS = 58 }; /* two epochs of 1797 rows in batches of 64 */

struct curve {
    double losses[NUM_STEPS], accuracy;
    char weights[17];
};

static workers_result results[WORKERS_MOST];

static void read_curve(const char *said, struct curve *out) {
    char *at = (char *)(uintptr_t)said;
    for (int i = 0; i < NUM_STEPS; i++)
        out->losses[i] = strtod(at, &at);
    assert_int_equal(sscanf(at, " accuracy %la weights %16s", &out->accuracy, out->weights), 2);
}

/* Trains on `count` processes; all of them say the same. */
static void train(int count, const char *argument, struct curve *out) {
    workers_run_well("worker_train", argument, count, results);
    for (int i = 1; i < count; i++)
        assert_string_equal(results[i].said, results[0].said);
    read_curve(results[0].said, out);
}

static void check_near(const struct curve *curve, const struct curve *one, const char *what) {
    for (int i = 0; i < STEPS; i++)
        if (!(fabs(curve->losses[i] - one->losses[i]) <= 1e-5 * fabs(one->losses[i])))
            fail_msg("%s, step %d: loss %.9g, with one process %.9g", what, i, curve->losses[i],
                     one->losses[i]);
    if (!(fabs(curve->accuracy - one->accuracy) <= 0.002))
        fail_msg("%s: accuracy %.9g, with one process %.9g", what, curve->accuracy, one->accuracy);
}

/* Case `number` of training.json, a custom loop with the sparse loss on one replica. */
static void check_case(int number) {
    json_t *root;
    const json_t *c = json_array_get(train_cases("training.json", &root), (size_t)number);
    assert_true(trainer_can(c, 1));
    struct curve one, again, other;
    char argument[32];
    snprintf(argument, sizeof argument, "1 %d 0 auto", number);
    train(1, argument, &one);
    const json_t *losses = json_object_get(c, "losses");
    for (size_t i = 0; i < STEPS; i++)
        trainer_check_loss(losses, i, one.losses[i]);
    for (int count = 2; count <= 3; count++) {
        train(count, argument, &other);
        check_near(&other, &one, argument);
        train(count, argument, &again);
        assert_memory_equal(again.losses, other.losses, sizeof other.losses);
        assert_string_equal(again.weights, other.weights);
    }
    snprintf(argument, sizeof argument, "2 %d 0 auto", number);
    train(2, argument, &other);
    check_near(&other, &one, argument);
    /* Sums in rank order do not depend on what is exchanged together. */
    snprintf(argument, sizeof argument, "2 %d 1000 auto", number);
    train(2, argument, &again);
    assert_string_equal(again.weights, other.weights);
#ifdef LEATI_HAVE_GLOO
    snprintf(argument, sizeof argument, "1 %d 0 ring", number);
    train(3, argument, &other);
    check_near(&other, &one, argument);
    train(3, argument, &again);
    assert_string_equal(again.weights, other.weights);
#endif
    json_decref(root);
}

static void adam_trains_equally(void **state) {
    (void)state;
    check_case(0);
}

static void momentum_trains_equally(void **state) {
    (void)state;
    check_case(4);
}

int main(void) {
    if (workers_case() != NULL) {
        const struct CMUnitTest worker[] = {cmocka_unit_test(worker_train)};
        return cmocka_run_group_tests_name(workers_case(), worker, NULL, NULL);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adam_trains_equally),
        cmocka_unit_test(momentum_trains_equally),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
