/* Gradients of tables whose rows are taken several times: what optimizers square, clip and measure,
 * against Keras 3.15 on TensorFlow (which squares each slice), and where slices are not seen. */
#include "support/cmocka.h"

#include "support/train.h"

/* Rows 0 and 1 of a table of 3, row 0 twice: slices 1, 2 and 4. */
static const int64_t places[] = {0, 0, 1};
static const float slopes[] = {1, 2, 4};

enum way { ONCE, TWICE, RESHAPED, BESIDE };

static leat_value loss_of(leat_graph *graph, leat_variable *table, enum way way) {
    leat_tensor rows = leat_tensor_view(LEAT_INT64, LEAT_SHAPE(3), (void *)(uintptr_t)places);
    leat_tensor slope = leat_tensor_view(LEAT_FLOAT32, LEAT_SHAPE(3), (void *)(uintptr_t)slopes);
    leat_value values = leat_graph_read(graph, table), from = values;
    if (way == RESHAPED)
        from = leat_op_square(values);
    leat_value taken = leat_op_gather(from, leat_graph_tensor(graph, &rows), 0, 0);
    leat_value loss = leat_op_reduce_sum(leat_op_multiply(taken, leat_graph_tensor(graph, &slope)),
                                         NULL, 0, false);
    if (way == TWICE)
        loss = leat_op_add(
            loss, leat_op_reduce_sum(leat_op_gather(values, leat_graph_tensor(graph, &rows), 0, 0),
                                     NULL, 0, false));
    if (way == BESIDE)
        loss = leat_op_add(loss, leat_op_reduce_sum(values, NULL, 0, false));
    return loss;
}

/* Adagrad's accumulator after one step: the squares that it was given. */
static void expect_squares(enum way way, const char *config, const float expected[3]) {
    const float ones[] = {1, 1, 1};
    leat_tensor start = leat_tensor_view(LEAT_FLOAT32, LEAT_SHAPE(3), (void *)(uintptr_t)ones);
    leat_variable *table = leat_variable_new(&start, NULL, &train_error);
    leat_optimizer *optimizer = leat_optimizer_named("Adagrad", config, &train_error);
    leat_graph *graph = leat_graph_new_eager(&train_error);
    assert_non_null(optimizer);
    leat_optimizer_minimize(optimizer, loss_of(graph, table, way), &table, 1);
    train_ok(leat_graph_take_error(graph, &train_error));
    int count;
    leat_variable *const *own = leat_optimizer_variables(optimizer, &count);
    leat_tensor found;
    train_ok(leat_variable_read(own[count - 1], &found, &train_error));
    for (int i = 0; i < 3; i++)
        assert_float_equal(((const float *)found.data)[i], expected[i], 1e-6);
    leat_tensor_unref(&found);
    leat_graph_free(graph);
    leat_optimizer_free(optimizer);
    leat_variable_unref(table);
}

static void slices_are_squared_one_by_one(void **state) {
    (void)state;
    const char *plain = "{\"initial_accumulator_value\": 0}";
    expect_squares(ONCE, plain, (const float[]){5, 16, 0});
    expect_squares(TWICE, plain, (const float[]){7, 17, 0});
    /* Added up before something else is done, or beside another gradient: 3 and 6, 4 and 8, 4
     * and 5. */
    expect_squares(RESHAPED, plain, (const float[]){36, 64, 0});
    expect_squares(BESIDE, plain, (const float[]){16, 25, 1});
}

static void rows_may_be_added_up_first(void **state) {
    (void)state;
    const char *exact = "{\"initial_accumulator_value\": 0, \"exact_slices\": true}";
    expect_squares(ONCE, exact, (const float[]){9, 16, 0});
    expect_squares(TWICE, exact, (const float[]){25, 25, 0});
}

static void slices_are_clipped_and_measured(void **state) {
    (void)state;
    expect_squares(ONCE, "{\"initial_accumulator_value\": 0, \"clipvalue\": 1.5}",
                   (const float[]){3.25f, 2.25f, 0});
    /* The norm is the root of 21; rows are added up behind it where it is that of all gradients. */
    expect_squares(ONCE, "{\"initial_accumulator_value\": 0, \"clipnorm\": 1}",
                   (const float[]){5.f / 21, 16.f / 21, 0});
    expect_squares(ONCE, "{\"initial_accumulator_value\": 0, \"global_clipnorm\": 1}",
                   (const float[]){9.f / 21, 16.f / 21, 0});
}

static void slices_can_be_asked_for(void **state) {
    (void)state;
    const float ones[] = {1, 1, 1};
    leat_tensor start = leat_tensor_view(LEAT_FLOAT32, LEAT_SHAPE(3), (void *)(uintptr_t)ones);
    leat_variable *table = leat_variable_new(&start, NULL, &train_error);
    for (int way = ONCE; way <= BESIDE; way++) {
        leat_graph *graph = leat_graph_new_eager(&train_error);
        leat_value gradient, slices, rows;
        leat_variable_gradients(loss_of(graph, table, (enum way)way), &table, 1, &gradient);
        int count = 0;
        while (leat_value_slices(gradient, count, &slices, &rows)) {
            leat_shape shape = leat_value_shape(slices);
            assert_int_equal(shape.rank, 1);
            assert_int_equal(shape.dims[0], 3);
            assert_int_equal(leat_value_dtype(rows), LEAT_INT64);
            count++;
        }
        assert_int_equal(count, way == ONCE ? 1 : way == TWICE ? 2 : 0);
        assert_false(leat_value_slices(gradient, -1, &slices, &rows));
        leat_graph_free(graph);
    }
    leat_variable_unref(table);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slices_are_squared_one_by_one),
        cmocka_unit_test(rows_may_be_added_up_first),
        cmocka_unit_test(slices_are_clipped_and_measured),
        cmocka_unit_test(slices_can_be_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
