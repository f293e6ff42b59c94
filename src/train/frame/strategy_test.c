/* The small CNN trained on digits under a mirrored strategy of logical CPU devices, against losses
 * and accuracies recorded from Keras (tests/golden/data/nn/training.json). */
#include "support/cmocka.h"

#include "support/digits_run.h"
#include "support/refused.h"
#include "support/spans.h"

enum { REPLICAS = 2, EPOCHS = 2 };

static void run_init_packed(struct digits_run *run, const json_t *c, int replicas,
                            int64_t bytes_per_pack) {
    static const char *const names[REPLICAS] = {"CPU:0", "CPU:1"};
    const leat_strategy_mirrored_options options = {LEAT_STRATEGY_MIRRORED_DEFAULTS,
                                                    .devices = names, .num_devices = replicas,
                                                    .bytes_per_pack = bytes_per_pack};
    leat_error err = {0};
    leat_strategy *strategy = leat_strategy_mirrored(&options, &err);
    if (strategy == NULL)
        fail_msg("%s", err.text);
    digits_run_init(run, c, strategy);
}

static void run_init(struct digits_run *run, const json_t *c, int replicas) {
    run_init_packed(run, c, replicas, 0);
}

static void train_epoch(struct digits_run *run, const struct digits *digits, const json_t *losses,
                        size_t *step) {
    int replicas = leat_strategy_num_replicas(run->strategy);
    for (int64_t first = 0; first < digits->count; first += DIGITS_BATCH, ++*step) {
        leat_per_replica batch;
        int64_t rows = digits->count - first < DIGITS_BATCH ? digits->count - first : DIGITS_BATCH;
        digits_split(digits, first, rows, replicas, 0, replicas, &batch);
        double loss = digits_run_train(run, &batch);
        if (*step < json_array_size(losses))
            trainer_check_loss(losses, *step, loss);
        digits_split_free(&batch);
    }
}

/* The recorded accuracy over all rows, within half a point. Batches of 299 rows split unevenly. */
static void check_accuracy(struct digits_run *run, const struct digits *digits, double expected) {
    double accuracy = -1;
    int replicas = leat_strategy_num_replicas(run->strategy);
    train_ok(leat_metric_reset(run->accuracy, &train_error));
    for (int64_t first = 0; first < digits->count; first += 299) {
        leat_per_replica batch;
        int64_t rows = digits->count - first < 299 ? digits->count - first : 299;
        digits_split(digits, first, rows, replicas, 0, replicas, &batch);
        digits_run_count(run, &batch);
        digits_split_free(&batch);
    }
    train_ok(leat_metric_result(run->accuracy, &accuracy, &train_error));
    if (!(fabs(accuracy - expected) <= 0.005))
        fail_msg("accuracy %.9g, recorded %.9g", accuracy, expected);
}

static void run_case(const json_t *c, int replicas) {
    struct digits digits;
    struct digits_run run;
    size_t step = 0;
    digits_read(&digits);
    run_init(&run, c, replicas);
    for (size_t epoch = 0; epoch < EPOCHS; epoch++) {
        train_epoch(&run, &digits, json_object_get(c, "losses"), &step);
        const json_t *accuracies = json_object_get(c, "accuracy_after_each_epoch");
        check_accuracy(&run, &digits, json_number_value(json_array_get(accuracies, epoch)));
    }
    assert_true(step >= 50);
    digits_run_weights(&run, NULL, NULL);
    digits_run_fini(&run);
    digits_free(&digits);
}

static void one_replica_trains_like_keras(void **state) {
    (void)state;
    trainer_run_cases(1, run_case);
}

static void two_replicas_train_like_keras(void **state) {
    (void)state;
    trainer_run_cases(2, run_case);
}

/* An empty replica's batch: its part of loss, gradient and count is nothing. */
static void empty_batches_count_nothing(void **state) {
    (void)state;
    json_t *root;
    json_t *c = json_array_get(train_cases("training.json", &root), 0);
    struct digits digits;
    struct digits_run run[2];
    leat_per_replica one, two;
    double losses[2], accuracy;
    digits_read(&digits);
    run_init(&run[0], c, 1);
    run_init(&run[1], c, 2);
    for (int step = 0; step < 3; step++) {
        digits_split(&digits, step, 1, 1, 0, 1, &one);
        digits_split(&digits, step, 1, 2, 0, 2, &two);
        assert_int_equal(two.elements[1].tensors[0].dims[0], 0);
        losses[0] = digits_run_train(&run[0], &one);
        losses[1] = digits_run_train(&run[1], &two);
        assert_true(fabs(losses[0] - losses[1]) <= 1e-5 * fabs(losses[0]));
        digits_run_count(&run[1], &two);
        digits_split_free(&one);
        digits_split_free(&two);
    }
    train_ok(leat_metric_result(run[1].accuracy, &accuracy, &train_error));
    assert_true(isfinite(accuracy));
    digits_run_weights(&run[1], NULL, NULL);
    digits_run_fini(&run[0]);
    digits_run_fini(&run[1]);
    digits_free(&digits);
    json_decref(root);
}

static void label_outside_names_label_and_row(void **state) {
    (void)state;
    json_t *root;
    json_t *c = json_array_get(train_cases("training.json", &root), 0);
    struct digits digits;
    struct digits_run run;
    leat_per_replica batch, out = {0};
    leat_error err = {0};
    digits_read(&digits);
    digits.labels[6] = 10;
    run_init(&run, c, 2);
    digits_split(&digits, 0, 8, 2, 0, 2, &batch);
    leat_status status = leat_strategy_run(run.strategy, run.train, &batch, &out, &err);
    assert_int_equal(status, LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "10");
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "replica");
    leat_per_replica_fini(&out);
    digits_split_free(&batch);
    digits_run_fini(&run);
    digits_free(&digits);
    json_decref(root);
}

/* What the optimizer sums is begun while gradients are computed. */
static void sums_overlap_the_backward_pass(void **state) {
    (void)state;
    json_t *root;
    json_t *c = json_array_get(train_cases("training.json", &root), 0);
    struct digits digits;
    struct digits_run run;
    leat_per_replica batch;
    int count;
    digits_read(&digits);
    run_init_packed(&run, c, REPLICAS, 1);
    leat_model_trainable_variables(run.trainer.model, &count);
    digits_split(&digits, 0, 16, REPLICAS, 0, REPLICAS, &batch);
    digits_run_train(&run, &batch);
    leat_trace_start();
    digits_run_train(&run, &batch);
    json_t *events = spans_stop();
    spans_check_overlap(events, REPLICAS);
    /* A pack for each variable; the first layer's two are whole when nothing is left to compute. */
    int begun = spans_count(events, "reduce", "begin pack");
    assert_in_range(begun, REPLICAS * (count - 2), REPLICAS * (count - 1));
    digits_run_weights(&run, NULL, NULL);
    json_decref(events);
    digits_split_free(&batch);
    digits_run_fini(&run);
    digits_free(&digits);
    json_decref(root);
}

static int setup(void **state) {
    (void)state;
    train_ok(leat_device_set_logical_cpus(REPLICAS, &train_error));
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_replica_trains_like_keras),
        cmocka_unit_test(two_replicas_train_like_keras),
        cmocka_unit_test(empty_batches_count_nothing),
        cmocka_unit_test(sums_overlap_the_backward_pass),
        cmocka_unit_test(label_outside_names_label_and_row),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
