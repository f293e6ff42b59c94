/* All recorded optimizers with variables of float64: what Keras' steps of float32 make of them, and
 * the names of what is kept. Each kind with failing allocations. */
#include "support/cmocka.h"

#include "support/torture.h"
#include "support/train.h"

enum { MOST = 8 };

struct run {
    const json_t *c;
    leat_variable *variables[MOST];
    int count;
};

/* A recorded array as float64. */
static leat_tensor precise(const json_t *json) {
    leat_tensor in = train_tensor(json), out;
    train_ok(leat_tensor_new(LEAT_FLOAT64, leat_tensor_shape(&in), &out, &train_error));
    for (int64_t i = 0; i < leat_tensor_count(&in); i++)
        ((double *)out.data)[i] = leati_tensor_float_at(&in, i);
    leat_tensor_unref(&in);
    return out;
}

static void set_up(struct run *run, const json_t *c) {
    const json_t *initial = json_object_get(c, "variables");
    *run = (struct run){.c = c, .count = (int)json_array_size(initial)};
    for (int i = 0; i < run->count; i++) {
        char name[16];
        snprintf(name, sizeof name, "v%d", i);
        leat_tensor tensor = precise(json_array_get(initial, (size_t)i));
        run->variables[i] = leat_variable_new(
            &tensor, &(leat_variable_options){LEAT_VARIABLE_DEFAULTS, .name = name}, &train_error);
        assert_non_null(run->variables[i]);
        leat_tensor_unref(&tensor);
    }
}

static void tear_down(struct run *run) {
    for (int i = 0; i < run->count; i++)
        leat_variable_unref(run->variables[i]);
}

/* Of a number that the case leaves out, Keras' default. */
static double number_or(const json_t *config, const char *name, double standard) {
    const json_t *number = json_object_get(config, name);
    return number == NULL ? standard : json_number_value(number);
}

static double number_of(const json_t *config, const char *name) {
    return number_or(config, name, 0);
}

/* SGD and Adam by their constructors in C; NULL for others. */
static leat_optimizer *constructed(const json_t *c, leat_error *err) {
    const json_t *config = json_object_get(c, "config");
    const leat_optimizer_options common = {
        LEAT_OPTIMIZER_DEFAULTS,
        .weight_decay = number_of(config, "weight_decay"),
        .clipnorm = number_of(config, "clipnorm"),
        .global_clipnorm = number_of(config, "global_clipnorm"),
        .clipvalue = number_of(config, "clipvalue"),
        .use_ema = json_is_true(json_object_get(config, "use_ema")),
        .ema_momentum = number_or(config, "ema_momentum", 0.99),
        .ema_overwrite_frequency = (int64_t)number_of(config, "ema_overwrite_frequency"),
        .gradient_accumulation_steps = (int64_t)number_of(config, "gradient_accumulation_steps")};
    const leat_optimizer_sgd_options sgd = {
        LEAT_OPTIMIZER_SGD_DEFAULTS, .learning_rate = number_or(config, "learning_rate", 0.01),
        .momentum = number_of(config, "momentum"),
        .nesterov = json_is_true(json_object_get(config, "nesterov")), .common = &common};
    const leat_optimizer_adam_options adam = {
        LEAT_OPTIMIZER_ADAM_DEFAULTS,
        .learning_rate = number_or(config, "learning_rate", 0.001),
        .beta_1 = number_or(config, "beta_1", 0.9),
        .beta_2 = number_or(config, "beta_2", 0.999),
        .epsilon = number_or(config, "epsilon", 1e-7),
        .amsgrad = json_is_true(json_object_get(config, "amsgrad")),
        .common = &common};
    if (strcmp(arrays_text(c, "optimizer"), "SGD") == 0)
        return leat_optimizer_sgd(&sgd, err);
    return strcmp(arrays_text(c, "optimizer"), "Adam") == 0 ? leat_optimizer_adam(&adam, err)
                                                            : NULL;
}

static leat_optimizer *optimizer_of(const json_t *c, leat_error *err) {
    char *config = json_dumps(json_object_get(c, "config"), 0);
    leat_optimizer *optimizer = leat_optimizer_named(arrays_text(c, "optimizer"), config, err);
    free(config);
    return optimizer;
}

static leat_status take_step(const struct run *run, leat_optimizer *optimizer, size_t step,
                             leat_error *err) {
    leat_graph *graph = leat_graph_new_eager(err);
    leat_value gradients[MOST];
    if (graph == NULL)
        return torture_code(err);
    for (int i = 0; i < run->count; i++) {
        leat_tensor tensor = precise(
            json_array_get(json_array_get(json_object_get(run->c, "grads"), step), (size_t)i));
        gradients[i] = leat_graph_tensor(graph, &tensor);
        leat_tensor_unref(&tensor);
    }
    leat_optimizer_apply(optimizer, gradients, run->variables, run->count);
    leat_status status = leat_graph_take_error(graph, err);
    leat_graph_free(graph);
    return status;
}

static void check_step(const struct run *run, size_t step) {
    const json_t *after = json_array_get(json_object_get(run->c, "after_each_step"), step);
    for (int i = 0; i < run->count; i++) {
        leat_tensor found, expected = precise(json_array_get(after, (size_t)i));
        char what[200];
        snprintf(what, sizeof what, "%s, step %d, variable %d", arrays_text(run->c, "optimizer"),
                 (int)step, i);
        train_ok(leat_variable_read(run->variables[i], &found, &train_error));
        train_close(what, &expected, &found, 2e-5);
        leat_tensor_unref(&found);
        leat_tensor_unref(&expected);
    }
}

/* Keras' names but for what Adafactor calls by the variable's alone and Nadam not at all, which it
 * has in another order. */
static void check_names(const json_t *c, const leat_optimizer *optimizer) {
    int count = 0;
    leat_variable *const *variables = leat_optimizer_variables(optimizer, &count);
    const json_t *names = json_object_get(c, "slots");
    assert_int_equal(count, json_array_size(names));
    for (size_t n = 0; n < json_array_size(names); n++) {
        const char *name = json_string_value(json_array_get(names, n));
        bool there = (strchr(name, '_') == NULL && strcmp(name, "iteration") != 0) ||
                     strncmp(name, "variable", strlen("variable")) == 0;
        for (int i = 0; i < count && !there; i++)
            there = strcmp(leat_variable_name(variables[i]), name) == 0;
        if (!there)
            fail_msg("%s has no slot %s", arrays_text(c, "optimizer"), name);
    }
}

/* All steps of a case with this optimizer (given). */
static void run_case(const json_t *c, leat_optimizer *optimizer) {
    struct run run;
    assert_non_null(optimizer);
    set_up(&run, c);
    for (size_t step = 0; step < json_array_size(json_object_get(c, "grads")); step++) {
        train_ok(take_step(&run, optimizer, step, &train_error));
        check_step(&run, step);
    }
    check_names(c, optimizer);
    leat_optimizer_free(optimizer);
    tear_down(&run);
}

static void steps_of_doubles_are_keras(void **state) {
    (void)state;
    json_t *root, *c;
    json_t *cases = train_cases("more_optimizers.json", &root);
    size_t index;
    json_array_foreach(cases, index, c) {
        if (arrays_bool(c, "named", false))
            run_case(c, optimizer_of(c, &train_error));
    }
    json_decref(root);
}

static void constructors_take_all_options(void **state) {
    (void)state;
    static const char *const files[] = {"more_optimizers.json", "optimizers.json"};
    int ran = 0;
    for (int i = 0; i < 2; i++) {
        json_t *root, *c;
        json_t *cases = train_cases(files[i], &root);
        size_t index;
        json_array_foreach(cases, index, c) {
            const json_t *config = json_object_get(c, "config");
            if (json_is_object(json_object_get(config, "learning_rate")))
                continue;
            leat_optimizer *optimizer = constructed(c, &train_error);
            if (optimizer == NULL)
                continue;
            run_case(c, optimizer);
            ran++;
        }
        json_decref(root);
    }
    assert_true(ran >= 12);
}

static leat_status make_and_step(void *context, leat_error *err) {
    const struct run *run = context;
    leat_optimizer *optimizer = optimizer_of(run->c, err);
    if (optimizer == NULL)
        return torture_code(err);
    leat_graph *graph = leat_graph_new_eager(err);
    leat_status status = graph == NULL ? torture_code(err) : LEAT_OK;
    if (graph != NULL) {
        leat_value gradients[MOST];
        for (int i = 0; i < run->count; i++)
            gradients[i] = leat_op_ones_like(leat_graph_read(graph, run->variables[i]));
        leat_optimizer_apply(optimizer, gradients, run->variables, run->count);
        status = leat_graph_take_error(graph, err);
        for (int i = 0; i < run->count; i++)
            if (status == LEAT_OK && gradients[i].id < 0)
                status = LEAT_RESOURCE_EXHAUSTED;
        leat_graph_free(graph);
    }
    leat_optimizer_free(optimizer);
    return status;
}

/* Every recorded one with some of its allocations failing. */
static void failed_allocations_are_survived(void **state) {
    (void)state;
    enum { ROUNDS = 30 };
    json_t *root, *c;
    json_t *cases = train_cases("more_optimizers.json", &root);
    size_t index;
    torture_begin();
    json_array_foreach(cases, index, c) {
        struct run run;
        leat_error err = {0};
        set_up(&run, c);
        for (int i = 0; i < 2; i++) {
            torture_fail_at(0);
            assert_int_equal(make_and_step(&run, &err), LEAT_OK);
        }
        long count = torture_count();
        for (long i = 0; i < ROUNDS; i++)
            torture_round(make_and_step, &run, 1 + (count - 1) * i / (ROUNDS - 1), true);
        tear_down(&run);
    }
    torture_end();
    json_decref(root);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_of_doubles_are_keras),
        cmocka_unit_test(constructors_take_all_options),
        cmocka_unit_test(failed_allocations_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
