/* Element programs: results by hand, failing rows, destinations and open shapes. */
#include "support/cmocka.h"
#include "support/refused.h"

#include "support/machine.h"
#include "support/torture.h"

/* ---- numbers ---- */

static void test_many_tiles(void **state) {
    (void)state;
    struct machine m;
    machine_init(&m, finish(trace_line, LEAT_INT64, LEAT_SCALAR, 1));
    assert_int_equal(m.program->simple.num_nodes, 2); /* 1 + 1 is folded, the equal sums merged */
    enum { N = 50000 };
    static int64_t values[N];
    for (int64_t i = 0; i < N; i++)
        values[i] = i;
    give_ints(&m, 0, 1, values, N);
    assert_int_equal(run(&m, 5, N - 5, 0), LEAT_OK);
    assert_int_equal(m.out.n, N - 5);
    for (int64_t i = 0; i < N - 5; i++) {
        assert_int_equal(int_at(&m.out, 0, i), 2 * (i + 5) + 1);
        assert_int_equal(int_at(&m.out, 1, i), 2 * (i + 5) + 1);
        assert_int_equal(int_at(&m.out, 3, i), 7);
    }
    /* An argument that is a result is the argument's memory. */
    assert_ptr_equal(leati_column_row(&m.out.columns[2], 0), leati_column_row(&m.in.columns[0], 5));
    assert_int_equal(run(&m, 0, 0, 0), LEAT_OK);
    assert_int_equal(m.out.n, 0);
    assert_int_equal(run(&m, N - 1, 2, 0), LEAT_INTERNAL);
    machine_fini(&m);
}

static int trace_reshape(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    outputs[0] = leat_op_reshape(leat_graph_argument(graph, 0), (int64_t[]){3, 2}, 2);
    return 1;
}

static void test_reshape_copies_nothing(void **state) {
    (void)state;
    struct machine m;
    machine_init(&m, finish(trace_reshape, LEAT_FLOAT32, LEAT_SHAPE(2, 3), 1));
    leat_shape row = LEAT_SHAPE(2, 3);
    leat_buffer *buffer = leat_buffer_new(1000 * 24, NULL);
    assert_int_equal(leati_block_prepare(&m.in, 1, &(leat_error){0}), LEAT_OK);
    leati_column_strided(&m.in.columns[0], LEAT_FLOAT32, &row, buffer->data, 24, buffer);
    m.in.n = 1000;
    must_run(&m, 1000);
    assert_ptr_equal(m.out.columns[0].data, buffer->data);
    assert_int_equal(m.out.columns[0].dims[0], 3);
    machine_fini(&m);
}

/* Sums, rows that follow none, and products over nothing. */
static int trace_of_nothing(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_value none = leat_graph_argument(graph, 0), some = leat_graph_argument(graph, 1);
    leat_value turned = leat_op_transpose(none, NULL, 0);
    outputs[0] = leat_op_reduce_sum(none, (int64_t[]){0}, 1, false);
    outputs[1] = leat_op_concat((leat_value[]){none, leat_op_expand_dims(some, 0)}, 2, 0);
    outputs[2] = leat_op_matmul(turned, none, false, false);
    outputs[3] = leat_op_concat((leat_value[]){turned, leat_op_expand_dims(some, 1)}, 2, 1);
    return 4;
}

/* Values without elements have their shapes, by which a kernel knows what it makes of them. */
static void test_values_without_elements(void **state) {
    (void)state;
    enum { N = 5 };
    leat_spec *children[2] = {leat_spec_tensor(LEAT_FLOAT32, LEAT_SHAPE(0, 3), NULL),
                              leat_spec_tensor(LEAT_FLOAT32, LEAT_SHAPE(3), NULL)};
    leat_spec *spec = leat_spec_tuple(children, 2, NULL);
    leat_error err = {0};
    leat_function *function = LEAT_TRACE(trace_of_nothing, NULL, spec, &err);
    leat_spec_unref(spec);
    if (function == NULL)
        fail_msg("%s", err.text);
    struct machine m;
    machine_init(&m, function);
    static const float rows[N][3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {10, 11, 12}, {13, 14, 15}};
    static const float zeros[9];
    leat_shape none = LEAT_SHAPE(0, 3), some = LEAT_SHAPE(3);
    leat_tensor tensor;
    assert_int_equal(leat_tensor_copy_of(LEAT_FLOAT32, LEAT_SHAPE(N, 3), rows, &tensor, NULL),
                     LEAT_OK);
    assert_int_equal(leati_block_prepare(&m.in, 2, &(leat_error){0}), LEAT_OK);
    leati_column_strided(&m.in.columns[0], LEAT_FLOAT32, &none, tensor.data, 0,
                         leat_buffer_ref(tensor.owner));
    leati_column_strided(&m.in.columns[1], LEAT_FLOAT32, &some, tensor.data, 12, tensor.owner);
    m.in.n = N;
    must_run(&m, N);
    for (int64_t i = 0; i < N; i++) {
        assert_memory_equal(leati_column_row(&m.out.columns[0], i), zeros, 12);
        assert_memory_equal(leati_column_row(&m.out.columns[1], i), rows[i], 12);
        assert_memory_equal(leati_column_row(&m.out.columns[2], i), zeros, 36);
        assert_memory_equal(leati_column_row(&m.out.columns[3], i), rows[i], 12);
    }
    machine_fini(&m);
}

/* ---- failing rows ---- */

static int trace_divisions(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_value x = leat_graph_argument(graph, 0);
    outputs[0] = leat_op_floordiv(integer(graph, 60), leat_graph_argument(graph, 1));
    outputs[1] = leat_op_floormod(x, leat_graph_argument(graph, 2));
    return 2;
}

static void test_first_failing_row(void **state) {
    (void)state;
    struct machine m;
    machine_init(&m, finish(trace_divisions, LEAT_INT64, LEAT_SCALAR, 3));
    const int64_t x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, a[8] = {1, 2, 3, 4, 5, 0, 0, 8},
                  b[8] = {5, 5, 5, 0, 5, 0, 5, 5};
    give_ints(&m, 0, 3, x, 8);
    give_ints(&m, 1, 3, a, 8);
    give_ints(&m, 2, 3, b, 8);
    /* The first node fails at rows 5 and 6, the second at 3 and 5. */
    assert_int_equal(run(&m, 0, 8, 0), LEAT_INVALID_ARGUMENT);
    assert_int_equal(m.failed, 3);
    assert_refused(&m.err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "floormod");
    assert_int_equal(m.out.n, 0);
    assert_int_equal(run(&m, 0, 3, 0), LEAT_OK);
    assert_int_equal(int_at(&m.out, 0, 2), 20);
    assert_int_equal(run(&m, 4, 4, 0), LEAT_INVALID_ARGUMENT);
    assert_int_equal(m.failed, 1); /* both fail there: the first in the program speaks */
    assert_refused(&m.err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "floordiv");
    machine_fini(&m);
}

static void test_wrong_rows(void **state) {
    (void)state;
    struct machine m;
    machine_init(&m, finish(trace_reshape, LEAT_FLOAT32, LEAT_SHAPE(2, 3), 1));
    const int64_t numbers[2] = {1, 2};
    give_ints(&m, 0, 1, numbers, 2);
    assert_int_equal(run(&m, 0, 2, 0), LEAT_INVALID_ARGUMENT);
    assert_int_equal(m.failed, 0);
    assert_refused(&m.err, LEAT_INVALID_ARGUMENT, LEAT_REASON_SHAPE, "int64");
    machine_fini(&m);
}

/* ---- destinations and open shapes ---- */

static void test_destination(void **state) {
    (void)state;
    struct machine m;
    machine_init(&m, finish(trace_line, LEAT_INT64, LEAT_SCALAR, 1));
    const int64_t values[3] = {4, 5, 6};
    give_ints(&m, 0, 1, values, 3);
    leat_buffer *batch = leat_buffer_new(6 * 8, NULL);
    memset(batch->data, 0, 48);
    leati_destination to[4] = {{.data = batch->data,
                                .stride = 16,
                                .dtype = LEAT_INT64,
                                .shape = LEAT_SCALAR,
                                .owner = batch}};
    m.out.destinations = to;
    must_run(&m, 3);
    const int64_t expected[6] = {9, 0, 11, 0, 13, 0};
    assert_memory_equal(batch->data, expected, sizeof expected);
    assert_ptr_equal(m.out.columns[0].data, batch->data);
    assert_int_equal(m.out.columns[0].stride, 16);
    machine_fini(&m);
    leat_buffer_unref(batch);
}

static void test_open_shapes(void **state) {
    (void)state;
    struct machine m;
    machine_init(&m, finish(trace_twice, LEAT_INT64, LEAT_SHAPE(LEAT_UNKNOWN_DIM), 1));
    give_vectors(&m, (const int[]){2, 0, 1}, 3);
    leat_buffer *batch = leat_buffer_new(3 * 32, NULL);
    leati_destination to[2] = {{.data = batch->data,
                                .stride = 32,
                                .dtype = LEAT_INT64,
                                .shape = LEAT_SHAPE(4),
                                .owner = batch}};
    m.out.destinations = to;
    must_run(&m, 3);
    /* Row 0 fits the destination, the others do not. */
    const int64_t first[4] = {0, 1, 0, 1};
    assert_int_equal(m.out.columns[0].form, LEATI_TENSORS);
    assert_ptr_equal(m.out.columns[0].tensors[0].data, batch->data);
    assert_memory_equal(batch->data, first, sizeof first);
    assert_int_equal(m.out.columns[0].tensors[1].dims[0], 0);
    assert_int_equal(m.out.columns[0].tensors[2].dims[0], 2);
    assert_int_equal(int_at(&m.out, 1, 0), 2);
    assert_int_equal(int_at(&m.out, 1, 1), 0);
    assert_int_equal(int_at(&m.out, 1, 2), 40);
    /* All fit: one strided column. */
    give_vectors(&m, (const int[]){2, 2, 2}, 3);
    must_run(&m, 3);
    assert_int_equal(m.out.columns[0].form, LEATI_STRIDED);
    assert_ptr_equal(m.out.columns[0].data, batch->data);
    assert_int_equal(((int64_t *)batch->data)[11], 21);
    machine_fini(&m);
    leat_buffer_unref(batch);
}

static int trace_row(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    outputs[0] = leat_op_expand_dims(leat_graph_argument(graph, 0), 0);
    return 1;
}

/* Nor do those of tensors of their own, one by one. */
static void test_reshapes_of_tensors_copy_nothing(void **state) {
    (void)state;
    struct machine m;
    machine_init(&m, finish(trace_row, LEAT_INT64, LEAT_SHAPE(LEAT_UNKNOWN_DIM), 1));
    give_vectors(&m, (const int[]){2, 5, 1}, 3);
    must_run(&m, 3);
    assert_int_equal(m.out.columns[0].form, LEATI_TENSORS);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(m.out.columns[0].tensors[i].rank, 2);
        assert_ptr_equal(m.out.columns[0].tensors[i].data, m.in.columns[0].tensors[i].data);
    }
    machine_fini(&m);
}

static int trace_copies(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_value x = leat_graph_argument(graph, 0);
    outputs[0] = leat_op_fill(leat_op_reshape(x, (const int64_t[]){1}, 1), x);
    return 1;
}

/* An argument that one segment gathered, because its rows are selected, and the next one reads row
 * by row. */
static void test_selected_rows_in_two_segments(void **state) {
    (void)state;
    struct machine m;
    leati_block whole = {0};
    machine_init(&m, finish(trace_copies, LEAT_INT64, LEAT_SCALAR, 1));
    give_ints(&m, 0, 1, (const int64_t[]){3, 2, 1}, 3);
    leat_buffer *numbers = leat_buffer_new(3 * sizeof(uint32_t), NULL);
    memcpy(numbers->data, (const uint32_t[]){2, 1, 0}, 3 * sizeof(uint32_t));
    leati_block_move(&m.in, &whole);
    assert_int_equal(leati_block_select(&whole, numbers->data, numbers, 3, &m.in, &(leat_error){0}),
                     LEAT_OK);
    must_run(&m, 3);
    for (int64_t row = 0; row < 3; row++) {
        const leat_tensor *found = &m.out.columns[0].tensors[row];
        assert_int_equal(found->dims[0], row + 1);
        assert_int_equal(((const int64_t *)found->data)[row], row + 1);
    }
    leati_block_fini(&whole);
    leat_buffer_unref(numbers);
    machine_fini(&m);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, torture_setup, torture_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_many_tiles),
        TEST(test_reshape_copies_nothing),
        TEST(test_values_without_elements),
        TEST(test_first_failing_row),
        TEST(test_wrong_rows),
        TEST(test_destination),
        TEST(test_open_shapes),
        TEST(test_reshapes_of_tensors_copy_nothing),
        TEST(test_selected_rows_in_two_segments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
