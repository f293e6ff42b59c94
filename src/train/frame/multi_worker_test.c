/* The small CNN trained on digits by several processes, against the losses recorded from Keras: as
 * many global batches on 1, 2, 3 processes and on 2 with two replicas each give the same losses,
 * and twice the same bits. */
#include "support/cmocka.h"

#include "base/hash.h"
#include "support/digits_run.h"
#include "support/workers.h"

enum { EPOCHS = 2, LONG_MS = 60000, STEPS = 50 };

// ---- in a worker ----

/* The argument: devices of a worker, case, bytes_per_pack, "ring" or "auto". */
static void run_init(struct digits_run *run, const json_t *cases) {
    static const char *const names[2] = {"CPU:0", "CPU:1"};
    leat_strategy_multi_worker_mirrored_options options = {
        LEAT_STRATEGY_MULTI_WORKER_MIRRORED_DEFAULTS, LEAT_STRATEGY_MULTI_WORKER_MIRRORED_DEFAULTS,
        .devices = names, .timeout_ms = LONG_MS, .start_timeout_ms = LONG_MS};
    leat_error err = {0};
    int number = 0, bytes = 0;
    char way[16] = "";
    assert_int_equal(
        sscanf(workers_argument(), "%d %d %d %15s", &options.num_devices, &number, &bytes, way), 4);
    options.bytes_per_pack = bytes;
    options.communication =
        strcmp(way, "ring") == 0 ? LEAT_COMMUNICATION_RING : LEAT_COMMUNICATION_AUTO;
    train_ok(leat_device_set_logical_cpus(options.num_devices, &train_error));
    leat_strategy *strategy = leat_strategy_multi_worker_mirrored(&options, &err);
    if (strategy == NULL)
        fail_msg("%s", err.text);
    digits_run_init(run, json_array_get(cases, (size_t)number), strategy);
}

static void take_batch(struct digits_run *run, const struct digits *digits, int64_t first,
                       bool train) {
    leat_per_replica batch;
    int64_t rows = digits->count - first < DIGITS_BATCH ? digits->count - first : DIGITS_BATCH;
    digits_split(digits, first, rows, leat_strategy_num_replicas(run->strategy),
                 leat_strategy_first_replica(run->strategy),
                 leat_strategy_num_local_replicas(run->strategy), &batch);
    if (train)
        workers_say("%a", digits_run_train(run, &batch));
    else
        digits_run_count(run, &batch);
    digits_split_free(&batch);
}

static void hash_weight(const leat_tensor *copy, void *context) {
    *(uint64_t *)context = leati_hash(copy->data, leat_tensor_bytes(copy), *(uint64_t *)context);
}

static void worker_train(void **state) {
    (void)state;
    struct digits digits;
    struct digits_run run;
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
    uint64_t hash = 0;
    digits_run_weights(&run, hash_weight, &hash);
    workers_say("accuracy %a weights %016llx", accuracy, (unsigned long long)hash);
    digits_run_fini(&run);
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
    /* Packs of a ring of two, begun during the backward pass, are the same sums. */
    train(2, argument, &other);
    snprintf(argument, sizeof argument, "1 %d 1000 ring", number);
    train(2, argument, &again);
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
