/* The small CNN trained on digits under a mirrored strategy of logical CPU devices, against losses
 * and accuracies recorded from Keras (tests/golden/data/nn/training.json). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../tests/support/digits.h"
#include "graph/variable.h"

enum { REPLICAS = 2, EPOCHS = 2 };

struct run {
    struct trainer trainer;
    leat_metric *accuracy;
    leat_strategy *strategy;
    leat_step *train, *evaluate;
    int replicas;
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

static void run_init(struct run *run, const json_t *c, int replicas) {
    static const char *const names[REPLICAS] = {"CPU:0", "CPU:1"};
    const leat_mirrored_options options = {.devices = names, .num_devices = replicas};
    leat_error err = {0};
    run->replicas = replicas;
    run->strategy = leat_mirrored_strategy(&options, &err);
    if (run->strategy == NULL)
        fail_msg("%s", err.text);
    train_ok(leat_strategy_enter(run->strategy, &train_error));
    trainer_init(&run->trainer, c);
    run->accuracy = leat_sparse_categorical_accuracy(NULL, &err);
    leat_strategy_exit(run->strategy);
    run->train = leat_step_new(trainer_step, &run->trainer, &err);
    run->evaluate = leat_step_new(evaluate_step, run, &err);
    assert_non_null(run->train);
    assert_non_null(run->evaluate);
}

static void run_fini(struct run *run) {
    leat_step_free(run->train);
    leat_step_free(run->evaluate);
    leat_metric_free(run->accuracy);
    trainer_fini(&run->trainer);
    leat_strategy_unref(run->strategy);
}

/* One step; the sum of the replicas' losses. */
static double train_batch(struct run *run, const leat_per_replica *batch) {
    leat_per_replica losses = {0};
    leat_element sum = {0};
    train_ok(leat_strategy_run(run->strategy, run->train, batch, &losses, &train_error));
    train_ok(leat_strategy_reduce(run->strategy, LEAT_REDUCE_SUM, &losses, LEAT_NO_AXIS, &sum,
                                  &train_error));
    double loss = (double)*(const float *)sum.tensors[0].data;
    leat_element_fini(&sum);
    leat_per_replica_fini(&losses);
    return loss;
}

static void evaluate_batch(struct run *run, const leat_per_replica *batch) {
    leat_per_replica nothing = {0};
    train_ok(leat_strategy_run(run->strategy, run->evaluate, batch, &nothing, &train_error));
    leat_per_replica_fini(&nothing);
}

static void train_epoch(struct run *run, const struct digits *digits, const json_t *losses,
                        size_t *step) {
    for (int64_t first = 0; first < digits->count; first += DIGITS_BATCH, ++*step) {
        leat_per_replica batch;
        int64_t rows = digits->count - first < DIGITS_BATCH ? digits->count - first : DIGITS_BATCH;
        digits_split(digits, first, rows, run->replicas, 0, run->replicas, &batch);
        double loss = train_batch(run, &batch);
        if (*step < json_array_size(losses))
            trainer_check_loss(losses, *step, loss);
        digits_split_free(&batch);
    }
}

/* The recorded accuracy over all rows, within half a point. Batches of 299 rows split unevenly. */
static void check_accuracy(struct run *run, const struct digits *digits, double expected) {
    double accuracy = -1;
    train_ok(leat_metric_reset(run->accuracy, &train_error));
    for (int64_t first = 0; first < digits->count; first += 299) {
        leat_per_replica batch;
        int64_t rows = digits->count - first < 299 ? digits->count - first : 299;
        digits_split(digits, first, rows, run->replicas, 0, run->replicas, &batch);
        evaluate_batch(run, &batch);
        digits_split_free(&batch);
    }
    train_ok(leat_metric_result(run->accuracy, &accuracy, &train_error));
    if (!(fabs(accuracy - expected) <= 0.005))
        fail_msg("accuracy %.9g, recorded %.9g", accuracy, expected);
}

/* Every copy of every weight ends with the same bits. */
static void check_copies(const struct run *run) {
    int count;
    leat_variable *const *variables = leat_model_trainable_variables(run->trainer.model, &count);
    for (int i = 0; i < count; i++) {
        leat_tensor first, other;
        train_ok(leati_variable_download(variables[i], 0, &first, &train_error));
        assert_int_equal(variables[i]->num_copies, run->replicas);
        for (int r = 1; r < run->replicas; r++) {
            train_ok(leati_variable_download(variables[i], r, &other, &train_error));
            train_close("copy", &first, &other, 0);
            leat_tensor_unref(&other);
        }
        leat_tensor_unref(&first);
    }
}

static void run_case(const json_t *c, int replicas) {
    struct digits digits;
    struct run run;
    size_t step = 0;
    digits_read(&digits);
    run_init(&run, c, replicas);
    for (size_t epoch = 0; epoch < EPOCHS; epoch++) {
        train_epoch(&run, &digits, json_object_get(c, "losses"), &step);
        const json_t *accuracies = json_object_get(c, "accuracy_after_each_epoch");
        check_accuracy(&run, &digits, json_number_value(json_array_get(accuracies, epoch)));
    }
    assert_true(step >= 50);
    check_copies(&run);
    run_fini(&run);
    digits_free(&digits);
}

static void run_cases(int replicas) {
    json_t *root, *c;
    json_t *cases = train_cases("training.json", &root);
    size_t index;
    int ran = 0;
    json_array_foreach(cases, index, c) {
        if (!trainer_can(c, replicas))
            continue;
        run_case(c, replicas);
        ran++;
    }
    json_decref(root);
    assert_int_equal(ran, 2); /* Adam and SGD */
}

static void one_replica_trains_like_keras(void **state) {
    (void)state;
    run_cases(1);
}

static void two_replicas_train_like_keras(void **state) {
    (void)state;
    run_cases(2);
}

/* An empty replica's batch: its part of loss, gradient and count is nothing. */
static void empty_batches_count_nothing(void **state) {
    (void)state;
    json_t *root;
    json_t *c = json_array_get(train_cases("training.json", &root), 0);
    struct digits digits;
    struct run run[2];
    leat_per_replica one, two;
    double losses[2], accuracy;
    digits_read(&digits);
    run_init(&run[0], c, 1);
    run_init(&run[1], c, 2);
    for (int step = 0; step < 3; step++) {
        digits_split(&digits, step, 1, 1, 0, 1, &one);
        digits_split(&digits, step, 1, 2, 0, 2, &two);
        assert_int_equal(two.elements[1].tensors[0].dims[0], 0);
        losses[0] = train_batch(&run[0], &one);
        losses[1] = train_batch(&run[1], &two);
        assert_true(fabs(losses[0] - losses[1]) <= 1e-5 * fabs(losses[0]));
        evaluate_batch(&run[1], &two);
        digits_split_free(&one);
        digits_split_free(&two);
    }
    train_ok(leat_metric_result(run[1].accuracy, &accuracy, &train_error));
    assert_true(isfinite(accuracy));
    check_copies(&run[1]);
    run_fini(&run[0]);
    run_fini(&run[1]);
    digits_free(&digits);
    json_decref(root);
}

static void label_outside_names_label_and_row(void **state) {
    (void)state;
    json_t *root;
    json_t *c = json_array_get(train_cases("training.json", &root), 0);
    struct digits digits;
    struct run run;
    leat_per_replica batch, out = {0};
    leat_error err = {0};
    digits_read(&digits);
    digits.labels[6] = 10;
    run_init(&run, c, 2);
    digits_split(&digits, 0, 8, 2, 0, 2, &batch);
    leat_status status = leat_strategy_run(run.strategy, run.train, &batch, &out, &err);
    assert_int_equal(status, LEAT_INVALID_ARGUMENT);
    if (strstr(err.text, "label 10 of row 2") == NULL || strstr(err.text, "replica 1") == NULL)
        fail_msg("%s", err.text);
    leat_per_replica_fini(&out);
    digits_split_free(&batch);
    run_fini(&run);
    digits_free(&digits);
    json_decref(root);
}

static int setup(void **state) {
    (void)state;
    train_ok(leat_set_logical_cpu_devices(REPLICAS, &train_error));
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_replica_trains_like_keras),
        cmocka_unit_test(two_replicas_train_like_keras),
        cmocka_unit_test(empty_batches_count_nothing),
        cmocka_unit_test(label_outside_names_label_and_row),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
