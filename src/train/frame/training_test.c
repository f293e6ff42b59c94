/* The small CNN trained on digits by a custom loop, against the losses recorded from Keras
 * (tests/golden/data/nn/training.json): Adam, and SGD with momentum, sparse loss, on one replica
 * and on two, by the interpreter. The strategy does the same in strategy_test. */
#include "support/cmocka.h"

#include "support/digits.h"
#include "support/replicas.h"

/* The share of replica r in `rows` rows of a global batch: 5 rows are 3 and 2. */
static int64_t share(int64_t rows, int replicas, int r) {
    return rows / replicas + (r < rows % replicas);
}

static void fill_inputs(const struct digits *digits, int64_t first, int64_t rows, int replicas,
                        leat_tensor inputs[][2]) {
    for (int r = 0; r < replicas; r++) {
        int64_t count = share(rows, replicas, r);
        inputs[r][0] = leat_tensor_view(LEAT_FLOAT32, LEAT_SHAPE(count, 8, 8, 1),
                                        digits->pixels + first * DIGITS_PIXELS);
        inputs[r][1] = leat_tensor_view(LEAT_INT32, LEAT_SHAPE(count), digits->labels + first);
        first += count;
    }
}

static void run_case(const json_t *c, int replicas) {
    struct digits digits;
    digits_read(&digits);
    const leati_variable_creator *outer = replicas_enter(replicas);
    struct trainer trainer;
    trainer_init(&trainer, c);
    replicas_exit(outer);
    const json_t *losses = json_object_get(c, "losses");
    assert_int_equal(json_array_size(losses), 50);
    int64_t first = 0;
    for (size_t step = 0; step < 50; step++) {
        leat_tensor inputs[REPLICAS_MOST][2], results[REPLICAS_MOST];
        leat_tensor *arguments[REPLICAS_MOST];
        int64_t rows = digits.count - first < DIGITS_BATCH ? digits.count - first : DIGITS_BATCH;
        fill_inputs(&digits, first, rows, replicas, inputs);
        for (int r = 0; r < replicas; r++)
            arguments[r] = inputs[r];
        replicas_run(replicas, trainer_step, &trainer, arguments, 2, results);
        double loss = 0;
        for (int r = 0; r < replicas; r++) {
            loss += (double)*(const float *)results[r].data;
            leat_tensor_unref(&results[r]);
        }
        trainer_check_loss(losses, step, loss);
        first = first + rows == digits.count ? 0 : first + rows;
    }
    trainer_fini(&trainer);
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_replica_trains_like_keras),
        cmocka_unit_test(two_replicas_train_like_keras),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
