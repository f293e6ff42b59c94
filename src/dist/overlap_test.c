/* Sums of gradients beside the backward pass, on two replicas of one process: what the trace of a
 * step shows, the same bits whatever is exchanged together, failures in the middle. */
#include "support/cmocka.h"

#include "dist/strategy.h"
#include "run/trace.h"
#include "support/refused.h"
#include "support/spans.h"
#include "support/torture.h"
#include <leat/ops.h>

enum { REPLICAS = 2, LAYERS = 3, WIDTH = 64, ROWS = 8, STEPS = 5, BYTES = 4 * WIDTH * WIDTH };

/* ---- a model ---- */

struct model {
    leat_strategy *strategy;
    leat_variable *weights[LAYERS];
    leat_step *step;
    leat_per_replica batch;
    leat_element elements[REPLICAS];
};

/* Gradient descent on three layers. Behind the gradients and before their sum the step fails where
 * x holds a large number. */
static int trace_step(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    struct model *model = context;
    leat_value x = leat_graph_argument(graph, 0), y = x, gradients[LAYERS], sums[LAYERS];
    for (int i = 0; i < LAYERS; i++)
        y = leat_op_relu(
            leat_op_matmul(y, leat_graph_read(graph, model->weights[i]), false, false));
    outputs[0] = leat_op_reduce_sum(leat_op_square(y), NULL, 0, false);
    leat_variable_gradients(outputs[0], model->weights, LAYERS, gradients);
    const float ten = 10, rate = 1e-5f;
    leat_tensor tensor = leat_tensor_view(LEAT_FLOAT32, LEAT_SCALAR, &ten);
    leat_value most = leat_op_reduce_max(x, NULL, 0, false);
    outputs[0] = leat_op_add(outputs[0],
                             leat_op_assert(leat_op_less(most, leat_graph_tensor(graph, &tensor)),
                                            most, LEAT_DATA_LOSS, "a large number"));
    leat_value reversed[LAYERS];
    for (int i = 0; i < LAYERS; i++)
        reversed[i] = gradients[LAYERS - 1 - i];
    leat_op_all_reduce(reversed, LAYERS, LEAT_AGGREGATION_SUM, sums);
    tensor = leat_tensor_view(LEAT_FLOAT32, LEAT_SCALAR, &rate);
    leat_value scale = leat_graph_tensor(graph, &tensor);
    for (int i = 0; i < LAYERS; i++) {
        leat_variable *weight = model->weights[LAYERS - 1 - i];
        leat_value value = leat_graph_read(graph, weight);
        leat_graph_assign_copy(graph, weight,
                               leat_op_subtract(value, leat_op_multiply(sums[i], scale)));
    }
    return 1;
}

static float number(int64_t i) {
    return (float)(i * 7919 % 101) / 128 - 0.25f;
}

static void make_batch(struct model *model) {
    leat_error err = {0};
    leat_spec *spec = leat_spec_tensor(LEAT_FLOAT32, LEAT_SHAPE(ROWS, WIDTH), &err);
    for (int r = 0; r < REPLICAS; r++) {
        leat_tensor x = {0};
        assert_int_equal(leat_tensor_new(LEAT_FLOAT32, LEAT_SHAPE(ROWS, WIDTH), &x, &err), LEAT_OK);
        for (int64_t i = 0; i < (int64_t)ROWS * WIDTH; i++)
            ((float *)x.data)[i] = number(i * (r + 1) + r);
        assert_int_equal(leat_element_set(&model->elements[r], spec, &x, &err), LEAT_OK);
        leat_tensor_unref(&x);
    }
    leat_spec_unref(spec);
    model->batch = (leat_per_replica){.num_replicas = REPLICAS, .elements = model->elements};
}

static float *input_of(struct model *model, int replica) {
    return model->elements[replica].tensors[0].data;
}

static void model_init(struct model *model, int64_t bytes_per_pack) {
    static const char *const names[REPLICAS] = {"CPU:0", "CPU:1"};
    leat_error err = {0};
    *model = (struct model){0};
    model->strategy = leat_strategy_mirrored(
        &(leat_strategy_mirrored_options){LEAT_STRATEGY_MIRRORED_DEFAULTS, .devices = names,
                                          .num_devices = REPLICAS,
                                          .bytes_per_pack = bytes_per_pack},
        &err);
    assert_non_null(model->strategy);
    assert_int_equal(leat_strategy_enter(model->strategy, &err), LEAT_OK);
    for (int i = 0; i < LAYERS; i++) {
        leat_tensor start = {0};
        assert_int_equal(leat_tensor_new(LEAT_FLOAT32, LEAT_SHAPE(WIDTH, WIDTH), &start, &err),
                         LEAT_OK);
        for (int64_t k = 0; k < WIDTH * WIDTH; k++)
            ((float *)start.data)[k] = number(k + i) / 8;
        model->weights[i] = leat_variable_new(&start, NULL, &err);
        assert_non_null(model->weights[i]);
        leat_tensor_unref(&start);
    }
    leat_strategy_exit(model->strategy);
    model->step = leat_step_new(trace_step, model, &err);
    make_batch(model);
}

static void model_fini(struct model *model) {
    leat_step_free(model->step);
    for (int i = 0; i < LAYERS; i++)
        leat_variable_unref(model->weights[i]);
    for (int r = 0; r < REPLICAS; r++)
        leat_element_fini(&model->elements[r]);
    leat_strategy_unref(model->strategy);
}

static leat_status run(struct model *model, leat_error *err) {
    return leat_strategy_run(model->strategy, model->step, &model->batch, NULL, err);
}

/* ---- the trace ---- */

static void test_trace(void **state) {
    (void)state;
    struct model model;
    leat_error err = {0};
    model_init(&model, BYTES - 1);
    assert_int_equal(run(&model, &err), LEAT_OK); /* compiles */
    leat_trace_start();
    assert_int_equal(run(&model, &err), LEAT_OK);
    json_t *events = spans_stop();
    spans_check_overlap(events, REPLICAS);
    /* The last of the packs waits until the replica has come to the sum, the others do not. */
    assert_int_equal(spans_count(events, "reduce", "begin pack"), REPLICAS * (LAYERS - 1));
    assert_true(spans_count(events, "reduce", "all_reduce of 16384 bytes") >=
                REPLICAS * (LAYERS - 1));
    json_decref(events);
    model_fini(&model);
    leati_trace_fini();
}

/* ---- bits ---- */

static void read_weights(const struct model *model, int copy, float *out) {
    for (int i = 0; i < LAYERS; i++) {
        leat_tensor value = {0};
        leat_error err = {0};
        assert_int_equal(leat_variable_read_copy(model->weights[i], copy, &value, &err), LEAT_OK);
        memcpy(out + (size_t)i * WIDTH * WIDTH, value.data, BYTES);
        leat_tensor_unref(&value);
    }
}

static void test_same_bits(void **state) {
    (void)state;
    static float first[LAYERS * WIDTH * WIDTH], now[LAYERS * WIDTH * WIDTH];
    const int64_t packs[] = {0, 1, BYTES, BYTES, 3 * BYTES, INT64_MAX};
    for (size_t i = 0; i < sizeof packs / sizeof *packs; i++) {
        struct model model;
        leat_error err = {0};
        model_init(&model, packs[i]);
        for (int k = 0; k < STEPS; k++)
            assert_int_equal(run(&model, &err), LEAT_OK);
        for (int copy = 0; copy < REPLICAS; copy++) {
            read_weights(&model, copy, now);
            if (i == 0 && copy == 0)
                memcpy(first, now, sizeof first);
            assert_memory_equal(now, first, sizeof first);
        }
        model_fini(&model);
    }
    assert_true(first[0] != number(0) / 8);
}

/* ---- failures ---- */

/* One replica fails when both may have begun sums: no copy of a variable was updated, and the next
 * step is as if nothing had been. */
static void test_failure_between(void **state) {
    (void)state;
    struct model model;
    static float before[LAYERS * WIDTH * WIDTH], after[LAYERS * WIDTH * WIDTH];
    leat_error err = {0};
    model_init(&model, 1);
    for (int round = 0; round < 20; round++) {
        int bad = round % REPLICAS;
        float good = input_of(&model, bad)[3];
        read_weights(&model, 0, before);
        input_of(&model, bad)[3] = 1000;
        assert_int_equal(run(&model, &err), LEAT_DATA_LOSS);
        assert_refused(&err, LEAT_DATA_LOSS, LEAT_REASON_NONE, bad == 0 ? "0" : "1");
        input_of(&model, bad)[3] = good;
        for (int copy = 0; copy < REPLICAS; copy++) {
            read_weights(&model, copy, after);
            assert_memory_equal(after, before, sizeof before);
        }
        assert_int_equal(run(&model, &err), LEAT_OK);
    }
    model_fini(&model);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, torture_setup, torture_teardown)

int main(void) {
    leat_error err = {0};
    if (leat_device_set_logical_cpus(REPLICAS, &err) != LEAT_OK)
        return 1;
    const struct CMUnitTest tests[] = {TEST(test_trace), TEST(test_same_bits),
                                       TEST(test_failure_between)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
