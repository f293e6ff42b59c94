/* The small CNN under a strategy: training and evaluating steps on the recorded case, and whether
 * all copies of the weights are equal.
 *
 * Header only; include it after "support/cmocka.h". Whatever goes wrong fails the test.
 */
#ifndef TEST_DIGITS_RUN_H
#define TEST_DIGITS_RUN_H

#include "digits.h"
#include "graph/variable.h"
#include <leat/dist.h>

struct digits_run {
    struct trainer trainer;
    leat_metric *accuracy;
    leat_strategy *strategy;
    leat_step *train, *evaluate;
};

static int digits_run_evaluate(void *context, leat_graph *graph, leat_value *outputs,
                               int capacity) {
    struct digits_run *run = context;
    (void)outputs;
    leat_value values[2] = {
        leat_graph_argument(graph, 1),
        leat_model_call(run->trainer.model, leat_graph_argument(graph, 0), false)};
    leat_metric_update(run->accuracy, values, 2);
    return 0;
}

/* `strategy` is given. */
DIGITS_UNUSED static void digits_run_init(struct digits_run *run, const json_t *c,
                                          leat_strategy *strategy) {
    leat_error err = {0};
    run->strategy = strategy;
    train_ok(leat_strategy_enter(strategy, &train_error));
    trainer_init(&run->trainer, c);
    run->accuracy = leat_metric_sparse_categorical_accuracy(NULL, &err);
    leat_strategy_exit(strategy);
    run->train = leat_step_new(trainer_step, &run->trainer, &err);
    run->evaluate = leat_step_new(digits_run_evaluate, run, &err);
    assert_non_null(run->train);
    assert_non_null(run->evaluate);
}

DIGITS_UNUSED static void digits_run_fini(struct digits_run *run) {
    leat_step_free(run->train);
    leat_step_free(run->evaluate);
    leat_metric_free(run->accuracy);
    trainer_fini(&run->trainer);
    leat_strategy_unref(run->strategy);
}

/* One step; the sum of the replicas' losses. */
DIGITS_UNUSED static double digits_run_train(struct digits_run *run,
                                             const leat_per_replica *batch) {
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

DIGITS_UNUSED static void digits_run_count(struct digits_run *run, const leat_per_replica *batch) {
    leat_per_replica nothing = {0};
    train_ok(leat_strategy_run(run->strategy, run->evaluate, batch, &nothing, &train_error));
    leat_per_replica_fini(&nothing);
}

/* Calls `use` (may be NULL) on the first copy of each weight; the others have the same bits. */
DIGITS_UNUSED static void digits_run_weights(const struct digits_run *run,
                                             void (*use)(const leat_tensor *copy, void *context),
                                             void *context) {
    int count;
    leat_variable *const *variables = leat_model_trainable_variables(run->trainer.model, &count);
    for (int i = 0; i < count; i++) {
        leat_tensor first, other;
        train_ok(leati_variable_download(variables[i], 0, &first, &train_error));
        assert_int_equal(variables[i]->num_copies, leat_strategy_num_local_replicas(run->strategy));
        for (int r = 1; r < variables[i]->num_copies; r++) {
            train_ok(leati_variable_download(variables[i], r, &other, &train_error));
            train_close("copy", &first, &other, 0);
            leat_tensor_unref(&other);
        }
        if (use != NULL)
            use(&first, context);
        leat_tensor_unref(&first);
    }
}

#endif
