/* Variables under strategies, for tests: one that every replica adds another number to, and what
 * its copies and its value are then, as TensorFlow 2.21 gave them.
 *
 * Header only; include it after "support/cmocka.h". Whatever goes wrong fails the test.
 */
#ifndef TEST_STRATEGY_H
#define TEST_STRATEGY_H

#include <leat/dist.h>
#include <leat/ops.h>

#define STRATEGY_UNUSED __attribute__((unused))

/* NULL with `err` where the strategy refuses it. */
STRATEGY_UNUSED static leat_variable *strategy_variable(leat_strategy *strategy, float initial,
                                                        const leat_variable_options *options,
                                                        leat_error *err) {
    leat_tensor tensor = leat_scalar_float32(initial);
    assert_int_equal(leat_strategy_enter(strategy, err), LEAT_OK);
    leat_variable *variable = leat_variable_new(&tensor, options, err);
    leat_strategy_exit(strategy);
    leat_tensor_unref(&tensor);
    return variable;
}

STRATEGY_UNUSED static float strategy_value_of(leat_variable *variable) {
    leat_error err = {0};
    leat_tensor value = {0};
    assert_int_equal(leat_variable_read(variable, &value, &err), LEAT_OK);
    float number = *(float *)value.data;
    leat_tensor_unref(&value);
    return number;
}

/* A leat_tracer: assign_add(10 * id + 1) to the variable `context`; the result is the replica's own
 * copy. */
STRATEGY_UNUSED static int strategy_add_id(void *context, leat_graph *graph, leat_value *outputs,
                                           int capacity) {
    leat_value id = leat_op_cast(leat_op_replica_id(graph), LEAT_FLOAT32);
    float ten = 10, one = 1;
    leat_tensor scale = leat_tensor_view(LEAT_FLOAT32, LEAT_SCALAR, &ten);
    leat_tensor offset = leat_tensor_view(LEAT_FLOAT32, LEAT_SCALAR, &one);
    leat_value delta = leat_op_add(leat_op_multiply(id, leat_graph_tensor(graph, &scale)),
                                   leat_graph_tensor(graph, &offset));
    leat_graph_assign_add(graph, context, delta);
    outputs[0] = leat_graph_read(graph, context);
    return 1;
}

/* A variable of 1.0 on two replicas after strategy_add_id. */
typedef struct strategy_variable_case {
    bool sync_on_read;
    leat_aggregation aggregation;
    float copies[2], value;
} strategy_variable_case;

STRATEGY_UNUSED static const strategy_variable_case strategy_variable_cases[] = {
    {false, LEAT_AGGREGATION_SUM, {13, 13}, 13},
    {false, LEAT_AGGREGATION_MEAN, {7, 7}, 7},
    {false, LEAT_AGGREGATION_ONLY_FIRST_REPLICA, {2, 2}, 2},
    {true, LEAT_AGGREGATION_MEAN, {2, 12}, 7},
    {true, LEAT_AGGREGATION_ONLY_FIRST_REPLICA, {2, 12}, 2},
    {true, LEAT_AGGREGATION_SUM, {2, 12}, 14},
    {false, LEAT_AGGREGATION_NONE, {2, 12}, 2}, /* the value is that of the process that asks */
};
enum {
    STRATEGY_CASES = sizeof strategy_variable_cases / sizeof strategy_variable_cases[0],
    STRATEGY_CASES_OF_JOBS = STRATEGY_CASES - 1
};

/* Creates and runs the case; the step's results (leat_per_replica_fini) and the variable, owned. */
STRATEGY_UNUSED static leat_variable *
strategy_run_variable_case(leat_strategy *strategy, const strategy_variable_case *c, float initial,
                           const leat_per_replica *arguments, leat_per_replica *out) {
    leat_error err = {0};
    leat_variable_options options = {LEAT_VARIABLE_DEFAULTS, .name = "v",
                                     .sync_on_read = c->sync_on_read,
                                     .aggregation = c->aggregation};
    leat_variable *variable = strategy_variable(strategy, initial, &options, &err);
    assert_non_null(variable);
    leat_step *step = leat_step_new(strategy_add_id, variable, &err);
    assert_int_equal(leat_strategy_run(strategy, step, arguments, out, &err), LEAT_OK);
    assert_true(strategy_value_of(variable) == c->value);
    leat_tensor six = leat_scalar_float32(6);
    assert_int_equal(leat_variable_assign(variable, &six, &err), LEAT_OK);
    assert_true(strategy_value_of(variable) == 6);
    leat_tensor_unref(&six);
    leat_step_free(step);
    return variable;
}

#endif
