/* Optimizers against values recorded from Keras (tests/golden/data/nn/optimizers.json), traced and
 * eager, and over copies on two replicas. */
#include "support/cmocka.h"

#include "support/refused.h"
#include "support/replicas.h"
#include "support/torture.h"
#include "support/train.h"
#include "train/frame/optimizer.h"

#define VARIABLES 2

struct fixture {
    leat_optimizer *optimizer;
    leat_variable *variables[VARIABLES];
};

static bool in_table(const char *name) {
    size_t count;
    const leati_kind *const *kinds = leati_kinds_optimizer(&count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(kinds[i]->name, name) == 0)
            return true;
    return false;
}

/* The recorded optimizer; its rate may be a schedule: {"schedule": class name, its arguments}. */
static leat_optimizer *optimizer_of(const json_t *c, leat_error *err) {
    json_t *config = json_deep_copy(json_object_get(c, "config"));
    json_t *rate = json_object_get(config, "learning_rate");
    leat_part *schedule = NULL;
    if (json_is_object(rate)) {
        char name[60];
        snprintf(name, sizeof name, "%s", arrays_text(rate, "schedule"));
        json_object_del(rate, "schedule");
        char *text = json_dumps(rate, 0);
        schedule = leat_part_new("schedule", name, text, err);
        assert_non_null(schedule);
        free(text);
        json_object_del(config, "learning_rate");
    }
    char *text = json_dumps(config, 0);
    leat_optimizer *optimizer = leat_optimizer_named(arrays_text(c, "optimizer"), text, err);
    if (schedule != NULL)
        train_ok(leat_optimizer_set_schedule(optimizer, schedule, &train_error));
    free(text);
    json_decref(config);
    return optimizer;
}

static void setup(struct fixture *fixture, const json_t *c) {
    static const char *const names[VARIABLES] = {"a", "b"};
    leat_error err = {0};
    fixture->optimizer = optimizer_of(c, &err);
    if (fixture->optimizer == NULL)
        fail_msg("%s", err.text);
    for (int i = 0; i < VARIABLES; i++) {
        leat_tensor tensor =
            train_tensor(json_array_get(json_object_get(c, "variables"), (size_t)i));
        const leat_variable_options options = {LEAT_VARIABLE_DEFAULTS, .name = names[i]};
        fixture->variables[i] = leat_variable_new(&tensor, &options, &err);
        assert_non_null(fixture->variables[i]);
        leat_tensor_unref(&tensor);
    }
}

static void teardown(struct fixture *fixture) {
    for (int i = 0; i < VARIABLES; i++)
        leat_variable_unref(fixture->variables[i]);
    leat_optimizer_free(fixture->optimizer);
}

static int apply(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    struct fixture *fixture = context;
    (void)outputs;
    leat_value gradients[VARIABLES] = {leat_graph_argument(graph, 0),
                                       leat_graph_argument(graph, 1)};
    leat_optimizer_apply(fixture->optimizer, gradients, fixture->variables, VARIABLES);
    return 0;
}

static void check_step(const struct fixture *fixture, const json_t *recorded) {
    for (int i = 0; i < VARIABLES; i++) {
        leat_tensor found, expected = train_tensor(json_array_get(recorded, (size_t)i));
        train_ok(leat_variable_read(fixture->variables[i], &found, &train_error));
        train_close("variable", &expected, &found, 1e-6);
        leat_tensor_unref(&found);
        leat_tensor_unref(&expected);
    }
}

/* Counter, rate and slots are Keras' in number and, but for the variables' names, in name. */
static void check_slots(const struct fixture *fixture, const json_t *names) {
    int count;
    leat_variable *const *variables = leat_optimizer_variables(fixture->optimizer, &count);
    const char *second = json_string_value(json_array_get(names, 1));
    assert_string_equal(leat_variable_name(variables[0]), "iteration");
    if (second != NULL && strcmp(second, "learning_rate") == 0)
        assert_string_equal(leat_variable_name(variables[1]), "learning_rate");
    assert_int_equal(count, json_array_size(names));
}

/* Ten steps; traced once and run ten times, or computed as the operations are called. */
static void run_case(const json_t *c, bool eager) {
    struct fixture fixture;
    leat_error err = {0};
    leat_function *function = NULL;
    leat_graph *graph = NULL;
    size_t step;
    json_t *gradients;
    setup(&fixture, c);
    json_array_foreach(json_object_get(c, "grads"), step, gradients) {
        leat_tensor inputs[VARIABLES];
        for (int i = 0; i < VARIABLES; i++)
            inputs[i] = train_tensor(json_array_get(gradients, (size_t)i));
        if (eager) {
            graph = leat_graph_new_eager(&err);
            leat_value values[VARIABLES];
            for (int i = 0; i < VARIABLES; i++)
                values[i] = leat_graph_tensor(graph, &inputs[i]);
            leat_optimizer_apply(fixture.optimizer, values, fixture.variables, VARIABLES);
            leat_graph_free(graph);
        } else {
            if (function == NULL)
                function = replicas_trace(apply, &fixture, inputs, VARIABLES);
            train_ok(leat_function_call(function, inputs, VARIABLES, NULL, 0, &train_error));
        }
        check_step(&fixture, json_array_get(json_object_get(c, "after_each_step"), step));
        for (int i = 0; i < VARIABLES; i++)
            leat_tensor_unref(&inputs[i]);
    }
    check_slots(&fixture, json_object_get(c, "slots"));
    leat_function_unref(function);
    teardown(&fixture);
}

static void run_all(bool eager) {
    json_t *root, *c;
    json_t *cases = train_cases("optimizers.json", &root);
    size_t index;
    int ran = 0;
    json_array_foreach(cases, index, c) {
        if (!in_table(arrays_text(c, "optimizer")))
            continue;
        char *config = json_dumps(json_object_get(c, "config"), 0);
        print_message("case %d: %s %s\n", (int)index, arrays_text(c, "optimizer"), config);
        free(config);
        run_case(c, eager);
        ran++;
    }
    json_decref(root);
    assert_int_equal(ran, 32);
}

static void traced_steps_are_keras(void **state) {
    (void)state;
    run_all(false);
}

static void eager_steps_are_keras(void **state) {
    (void)state;
    run_all(true);
}

/* ---- replicas ---- */

static leat_variable *make_variable(const char *name, float value) {
    const leat_variable_options options = {LEAT_VARIABLE_DEFAULTS, .name = name};
    leat_error err = {0};
    leat_tensor initial = leat_tensor_view(LEAT_FLOAT32, LEAT_SCALAR, &value);
    leat_variable *variable = leat_variable_new(&initial, &options, &err);
    assert_non_null(variable);
    return variable;
}

static float copy_of(const leat_variable *variable, int copy) {
    return *(const float *)variable->copies[copy]->data;
}

/* Gradients 1 and 2 sum to 3 on both replicas, the slots lie where the variables lie although no
 * scope is open when they are made, and clipping sees the sum. */
static void gradients_are_summed(void **state) {
    (void)state;
    leat_error err = {0};
    const float gradients[2][2] = {{1, 10}, {2, 20}};
    struct fixture fixture;
    const leati_variable_creator *outer = replicas_enter(2);
    fixture.variables[0] = make_variable("a", 100);
    fixture.variables[1] = make_variable("b", 200);
    replicas_exit(outer);
    const leat_optimizer_sgd_options options = {
        LEAT_OPTIMIZER_SGD_DEFAULTS, .learning_rate = 1, .momentum = 0.5,
        .common = &(leat_optimizer_options){LEAT_OPTIMIZER_DEFAULTS, .clipvalue = 20}};
    fixture.optimizer = leat_optimizer_sgd(&options, &err);
    leat_tensor inputs[2][2], *arguments[2] = {inputs[0], inputs[1]};
    for (int r = 0; r < 2; r++)
        for (int i = 0; i < 2; i++)
            inputs[r][i] = leat_tensor_view(LEAT_FLOAT32, LEAT_SCALAR, &gradients[r][i]);
    for (int step = 0; step < 2; step++)
        replicas_run(2, apply, &fixture, arguments, 2, NULL);
    /* velocities -3, -20; then -4.5, -30 */
    for (int r = 0; r < 2; r++) {
        assert_true(copy_of(fixture.variables[0], r) == 92.5f);
        assert_true(copy_of(fixture.variables[1], r) == 150);
    }
    int count;
    leat_variable *const *variables = leat_optimizer_variables(fixture.optimizer, &count);
    assert_int_equal(count, 4);
    for (int r = 0; r < 2; r++)
        assert_int_equal(*(const int64_t *)variables[0]->copies[r]->data, 2);
    teardown(&fixture);
}

/* ---- the rest ---- */

static int square_loss(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    struct fixture *fixture = context;
    outputs[0] = leat_op_square(leat_graph_read(graph, fixture->variables[0]));
    leat_optimizer_minimize(fixture->optimizer, outputs[0], fixture->variables, 1);
    return 1;
}

/* w^2 by steps of 0.25: w halves. The rate may change between steps of one trace. */
static void minimizes_and_changes_its_rate(void **state) {
    (void)state;
    leat_error err = {0};
    struct fixture fixture = {.variables = {make_variable("w", 8)}};
    const leat_optimizer_sgd_options options = {LEAT_OPTIMIZER_SGD_DEFAULTS, .learning_rate = 0.25};
    fixture.optimizer = leat_optimizer_sgd(&options, &err);
    leat_function *function = replicas_trace(square_loss, &fixture, NULL, 0);
    leat_tensor loss;
    train_ok(leat_function_call(function, NULL, 0, &loss, 1, &train_error));
    assert_true(*(const float *)loss.data == 64 && copy_of(fixture.variables[0], 0) == 4);
    leat_tensor_unref(&loss);
    train_ok(leat_optimizer_set_learning_rate(fixture.optimizer, 0.125, &train_error));
    train_ok(leat_function_call(function, NULL, 0, &loss, 1, &train_error));
    assert_true(*(const float *)loss.data == 16 && copy_of(fixture.variables[0], 0) == 3);
    leat_tensor_unref(&loss);
    assert_int_equal(leat_optimizer_set_learning_rate(fixture.optimizer, -1, &err),
                     LEAT_INVALID_ARGUMENT);
    leat_function_unref(function);
    leat_variable_unref(fixture.variables[0]);
    leat_optimizer_free(fixture.optimizer);
}

static void refuses(const char *keyword, leat_optimizer *optimizer, const leat_error *err) {
    assert_null(optimizer);
    assert_refused(err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, keyword);
}

static void wrong_arguments_are_named(void **state) {
    (void)state;
    leat_error err = {0};
    refuses("momentum",
            leat_optimizer_sgd(
                &(leat_optimizer_sgd_options){LEAT_OPTIMIZER_SGD_DEFAULTS, .momentum = 2}, &err),
            &err);
    refuses("beta_1",
            leat_optimizer_adam(
                &(leat_optimizer_adam_options){LEAT_OPTIMIZER_ADAM_DEFAULTS, .beta_1 = 1}, &err),
            &err);
    refuses("-1",
            leat_optimizer_adam(
                &(leat_optimizer_adam_options){LEAT_OPTIMIZER_ADAM_DEFAULTS, .learning_rate = -1},
                &err),
            &err);
    const leat_optimizer_sgd_options both = {
        LEAT_OPTIMIZER_SGD_DEFAULTS, .common = &(leat_optimizer_options){
                                         LEAT_OPTIMIZER_DEFAULTS, .clipnorm = 1, .clipvalue = 1}};
    refuses("clipnorm", leat_optimizer_sgd(&both, &err), &err);
    const leat_optimizer_adam_options sizeless = {LEAT_OPTIMIZER_ADAM_DEFAULTS,
                                                  .common = &(leat_optimizer_options){.size = 0}};
    refuses("leat_optimizer_options.size", leat_optimizer_adam(&sizeless, &err), &err);
    leat_optimizer *sgd = leat_optimizer_sgd(NULL, &err);
    leat_variable *w = make_variable("w", 1);
    leat_graph *graph = leat_graph_new(NULL, &err);
    leat_variable *twice[2] = {w, w};
    leat_value gradient = leat_graph_read(graph, w), gradients[2] = {gradient, gradient};
    leat_optimizer_apply(sgd, gradients, twice, 2);
    assert_null(leat_graph_finish(graph, NULL, 0, NULL, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "\"w\"");
    leat_variable_unref(w);
    leat_optimizer_free(sgd);
}

static void schedules_are_set_before_the_first_step(void **state) {
    (void)state;
    leat_error err = {0};
    assert_null(leat_part_new("schedule", "CosineDecay",
                              "{\"initial_learning_rate\": 0.1, \"decay_steps\": 0}", &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "decay_steps");
    leat_optimizer *sgd = leat_optimizer_named("SGD", NULL, &err);
    leat_part *wrong = leat_part_new("metric", "Mean", NULL, &err);
    assert_int_equal(leat_optimizer_set_schedule(sgd, wrong, &err), LEAT_INVALID_ARGUMENT);
    leat_part *falling = leat_part_new("schedule", "PiecewiseConstantDecay",
                                       "{\"boundaries\": [0], \"values\": [1, 0.5]}", &err);
    train_ok(leat_optimizer_set_schedule(sgd, falling, &train_error));
    assert_int_equal(leat_optimizer_set_learning_rate(sgd, 1, &err), LEAT_FAILED_PRECONDITION);
    leat_variable *w = make_variable("w", 8);
    for (int i = 0; i < 2; i++) {
        leat_graph *graph = leat_graph_new_eager(&err);
        leat_value one = leat_op_ones_like(leat_graph_read(graph, w));
        leat_optimizer_apply(sgd, &one, &w, 1);
        leat_graph_free(graph);
    }
    leat_tensor value;
    train_ok(leat_variable_read(w, &value, &train_error));
    assert_true(leati_tensor_float_at(&value, 0) == 6.5);
    leat_tensor_unref(&value);
    falling = leat_part_new("schedule", "PiecewiseConstantDecay",
                            "{\"boundaries\": [0], \"values\": [1, 0.5]}", &err);
    assert_int_equal(leat_optimizer_set_schedule(sgd, falling, &err), LEAT_FAILED_PRECONDITION);
    assert_null(leat_optimizer_named("Adum", NULL, &err));
    assert_refused(&err, LEAT_NOT_FOUND, LEAT_REASON_NONE, "\"Adum\"");
    assert_null(leat_optimizer_named("Adam", "{", &err));
    assert_null(leat_metric_named("Mean", "{\"nam\": 1}", &err));
    leat_metric *score = leat_metric_named("F1Score", "{\"average\": \"micro\"}", &err);
    double number;
    assert_int_equal(leat_metric_result(score, &number, &err), LEAT_FAILED_PRECONDITION);
    leat_metric_free(score);
    leat_variable_unref(w);
    leat_optimizer_free(sgd);
}

/* Everything switched on; the optimizer's variables are made during the trace. */
static leat_status make_and_trace(void *context, leat_error *err) {
    const leat_optimizer_adam_options options = {
        LEAT_OPTIMIZER_ADAM_DEFAULTS, .amsgrad = true,
        .common = &(leat_optimizer_options){
            LEAT_OPTIMIZER_DEFAULTS, .weight_decay = 0.1, .global_clipnorm = 1, .use_ema = true,
            .ema_overwrite_frequency = 2, .gradient_accumulation_steps = 2}};
    struct fixture fixture = {.variables = {context}};
    leat_spec *spec = leat_spec_tuple(NULL, 0, err);
    fixture.optimizer = spec == NULL ? NULL : leat_optimizer_adam(&options, err);
    leat_function *function = NULL;
    if (fixture.optimizer != NULL)
        function = LEAT_TRACE(square_loss, &fixture, spec, err);
    leat_status status = function == NULL ? torture_code(err) : LEAT_OK;
    leat_function_unref(function);
    leat_optimizer_free(fixture.optimizer);
    leat_spec_unref(spec);
    return status;
}

static double default_of(const leati_optimizer_kind *kind, const char *name) {
    const leati_row *row = leati_rows_find(kind->kind.rows, name);
    assert_non_null(row);
    return row->default_number;
}

static void defaults_are_those_of_rows(void **state) {
    (void)state;
    const leat_optimizer_options common = {LEAT_OPTIMIZER_DEFAULTS};
    const leat_optimizer_adam_options adam = {LEAT_OPTIMIZER_ADAM_DEFAULTS};
    const leat_optimizer_sgd_options sgd = {LEAT_OPTIMIZER_SGD_DEFAULTS};
    const struct {
        const leati_optimizer_kind *kind;
        const char *name;
        double value;
    } cases[] = {
        {&leati_optimizer_adam, "learning_rate", adam.learning_rate},
        {&leati_optimizer_adam, "beta_1", adam.beta_1},
        {&leati_optimizer_adam, "beta_2", adam.beta_2},
        {&leati_optimizer_adam, "epsilon", adam.epsilon},
        {&leati_optimizer_adam, "amsgrad", adam.amsgrad},
        {&leati_optimizer_sgd, "learning_rate", sgd.learning_rate},
        {&leati_optimizer_sgd, "momentum", sgd.momentum},
        {&leati_optimizer_sgd, "nesterov", sgd.nesterov},
        {&leati_optimizer_adam, "weight_decay", common.weight_decay},
        {&leati_optimizer_adam, "clipnorm", common.clipnorm},
        {&leati_optimizer_adam, "global_clipnorm", common.global_clipnorm},
        {&leati_optimizer_adam, "clipvalue", common.clipvalue},
        {&leati_optimizer_adam, "use_ema", common.use_ema},
        {&leati_optimizer_adam, "ema_momentum", common.ema_momentum},
        {&leati_optimizer_adam, "ema_overwrite_frequency", (double)common.ema_overwrite_frequency},
        {&leati_optimizer_adam, "gradient_accumulation_steps",
         (double)common.gradient_accumulation_steps},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (default_of(cases[i].kind, cases[i].name) != cases[i].value)
            fail_msg("%s: %s is %g", cases[i].kind->kind.name, cases[i].name, cases[i].value);
}

static void survives_failed_allocations(void **state) {
    (void)state;
    torture_begin();
    leat_variable *variable = make_variable("w", 1);
    torture_run(make_and_trace, variable);
    leat_variable_unref(variable);
    torture_end();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(traced_steps_are_keras),
        cmocka_unit_test(eager_steps_are_keras),
        cmocka_unit_test(gradients_are_summed),
        cmocka_unit_test(minimizes_and_changes_its_rate),
        cmocka_unit_test(wrong_arguments_are_named),
        cmocka_unit_test(schedules_are_set_before_the_first_step),
        cmocka_unit_test(defaults_are_those_of_rows),
        cmocka_unit_test(survives_failed_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
