/* Variables on the host and, through a creator with two copies, as a strategy makes them. Expected
 * values are TensorFlow's for MirroredVariable and SyncOnReadVariable on two replicas. */
#include "support/cmocka.h"

#include "base/stop.h"
#include "coll/coll.h"
#include "core/buffer.h"
#include "graph/variable.h"
#include "support/graph.h"
#include "support/refused.h"
#include "support/torture.h"
#include <leat/bind.h>

/* Two copies: the first on the host, the second behind download and upload. */
static char device;

static leat_status download(void *context, const leat_buffer *from, void *to, size_t size,
                            leat_error *err) {
    (void)err;
    assert_ptr_equal(context, &device);
    memcpy(to, from->data, size);
    return LEAT_OK;
}

static leat_status upload(void *context, const void *from, leat_buffer *to, size_t size,
                          leat_error *err) {
    (void)err;
    assert_ptr_equal(context, &device);
    memcpy(to->data, from, size);
    return LEAT_OK;
}

static leat_status place_two(void *context, leat_variable *variable, const leat_tensor *initial,
                             leat_error *err) {
    (void)context;
    size_t size = leat_tensor_bytes(initial);
    variable->num_copies = 2;
    variable->copies = leati_alloc_zero(2, sizeof(leat_buffer *));
    variable->places = leati_alloc_zero(2, sizeof *variable->places);
    if (variable->copies == NULL || variable->places == NULL)
        return leati_no_memory(err);
    for (int i = 0; i < 2; i++) {
        variable->copies[i] = leat_buffer_new(size, err);
        if (variable->copies[i] == NULL)
            return LEAT_RESOURCE_EXHAUSTED;
        memcpy(variable->copies[i]->data, initial->data, size);
    }
    variable->places[1] =
        (leati_variable_place){.device = &device, .download = download, .upload = upload};
    return LEAT_OK;
}

static leat_variable *two_copies(const leat_variable_options *options, double initial) {
    const leati_variable_creator creator = {.place = place_two};
    leat_error err = {0};
    leat_tensor tensor = leat_scalar_float64(initial);
    const leati_variable_creator *before = leati_variable_set_creator(&creator);
    leat_variable *variable = leat_variable_new(&tensor, options, &err);
    assert_ptr_equal(leati_variable_set_creator(before), &creator);
    leat_tensor_unref(&tensor);
    if (variable == NULL)
        fail_msg("%s", err.text);
    return variable;
}

static double *copy_of(const leat_variable *variable, int copy) {
    return variable->copies[copy]->data;
}

static double read_scalar(leat_variable *variable) {
    leat_tensor out;
    leat_error err = {0};
    if (leat_variable_read(variable, &out, &err) != LEAT_OK)
        fail_msg("%s", err.text);
    double value = *(double *)out.data;
    leat_tensor_unref(&out);
    return value;
}

static void assign_scalar(leat_variable *variable, double value) {
    leat_tensor tensor = leat_scalar_float64(value);
    assert_int_equal(leat_variable_assign(variable, &tensor, NULL), LEAT_OK);
    leat_tensor_unref(&tensor);
}

static bool stop(void *context) {
    ++*(int *)context;
    return true;
}

static void test_reading_may_be_stopped(void **state) {
    (void)state;
    leat_error err = {0};
    leat_tensor initial, out;
    int asks = 0;
    assert_int_equal(leat_tensor_new(LEAT_FLOAT32, LEAT_SHAPE(8 << 20), &initial, &err), LEAT_OK);
    for (int i = 0; i < 8 << 20; i++)
        ((float *)initial.data)[i] = (float)i;
    leat_variable *variable = leat_variable_new(&initial, NULL, &err);
    assert_non_null(variable);
    leat_interrupt_set(stop, &asks);
    leati_stop_ask_always(true);
    assert_int_equal(leat_variable_read(variable, &out, &err), LEAT_CANCELLED);
    assert_int_equal(asks, 1);
    leat_interrupt_set(NULL, NULL);
    leati_stop_ask_always(false);
    assert_int_equal(leat_variable_read(variable, &out, &err), LEAT_OK);
    assert_memory_equal(out.data, initial.data, leat_tensor_bytes(&initial));
    leat_tensor_unref(&out);
    leat_tensor_unref(&initial);
    leat_variable_unref(variable);
}

static void test_one_copy(void **state) {
    (void)state;
    leat_error err = {0};
    leat_tensor initial = TEST_TENSOR(LEAT_INT32, LEAT_SHAPE(3), int32_t, 1, 2, 3), out;
    leat_variable *variable = leat_variable_new(
        &initial, &(leat_variable_options){LEAT_VARIABLE_DEFAULTS, .name = "counts"}, &err);
    assert_string_equal(leat_variable_name(variable), "counts");
    assert_int_equal(leat_variable_dtype(variable), LEAT_INT32);
    assert_int_equal(leat_variable_shape(variable).dims[0], 3);
    ((int32_t *)initial.data)[0] = 9; /* the variable is a copy */
    assert_int_equal(leat_variable_read(variable, &out, &err), LEAT_OK);
    assert_int_equal(((int32_t *)out.data)[0], 1);
    leat_tensor_unref(&out);
    assert_int_equal(leat_variable_assign(variable, &initial, &err), LEAT_OK);
    assert_int_equal(leat_variable_read(variable, &out, &err), LEAT_OK);
    assert_int_equal(((int32_t *)out.data)[0], 9);
    leat_tensor_unref(&out);

    ((int32_t *)initial.data)[0] = 7;
    assert_int_equal(leat_variable_assign_copy(variable, 0, &initial, &err), LEAT_OK);
    assert_int_equal(leat_variable_read_copy(variable, 0, &out, &err), LEAT_OK);
    assert_int_equal(((int32_t *)out.data)[0], 7);
    leat_tensor_unref(&out);
    assert_int_equal(leat_variable_assign_copy(variable, 1, &initial, &err), LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "1");

    leat_tensor other = TEST_TENSOR(LEAT_FLOAT32, LEAT_SHAPE(2), float, 1, 2);
    assert_int_equal(leat_variable_assign_copy(variable, 0, &other, &err), LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_SHAPE, "[2]");
    assert_int_equal(leat_variable_assign(variable, &other, &err), LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_SHAPE, "[2]");
    assert_int_equal(leat_variable_assign(NULL, &other, &err), LEAT_INVALID_ARGUMENT);
    assert_int_equal(leat_variable_read(NULL, &out, &err), LEAT_INVALID_ARGUMENT);
    leat_object *pointer = (leat_object *)variable;
    leat_tensor object = leat_tensor_view(LEAT_OBJECT, LEAT_SCALAR, &pointer);
    assert_null(leat_variable_new(&object, NULL, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_DTYPE, "object");
    assert_null(leat_variable_new(NULL, NULL, &err));
    leat_tensor_unref(&other);
    leat_tensor_unref(&initial);
    assert_ptr_equal(leat_variable_ref(variable), variable);
    leat_variable_unref(variable);
    leat_variable_unref(variable);
}

/* What was read of a variable of strings stays as it was when another value takes its place. */
static void test_strings(void **state) {
    (void)state;
    leat_error err = {0};
    leat_tensor first = leat_scalar_string("first"), second = leat_scalar_string("second");
    leat_tensor before, after;
    leat_variable *variable = leat_variable_new(&first, NULL, &err);
    assert_non_null(variable);
    assert_int_equal(leat_variable_dtype(variable), LEAT_STRING);
    leat_tensor_unref(&first);
    assert_int_equal(leat_variable_read(variable, &before, &err), LEAT_OK);
    assert_int_equal(leat_variable_assign(variable, &second, &err), LEAT_OK);
    leat_tensor_unref(&second);
    assert_int_equal(leat_variable_read(variable, &after, &err), LEAT_OK);
    assert_memory_equal(((const leat_string *)before.data)->data, "first", 5);
    assert_memory_equal(((const leat_string *)after.data)->data, "second", 6);
    leat_tensor_unref(&before);
    leat_tensor_unref(&after);
    leat_variable_unref(variable);
}

/* Any number of rows fits; what was read stays, and nothing else takes the place of a value. */
static void test_unknown_dimensions(void **state) {
    (void)state;
    const leat_shape open = LEAT_SHAPE(LEAT_UNKNOWN_DIM), all = {.rank = LEAT_UNKNOWN_RANK};
    const leati_variable_creator creator = {.place = place_two};
    leat_error err = {0};
    leat_tensor one, three, scalar = leat_scalar_float64(7), found;
    assert_int_equal(leat_tensor_copy_of(LEAT_FLOAT64, LEAT_SHAPE(1), (double[]){4}, &one, &err),
                     LEAT_OK);
    assert_int_equal(
        leat_tensor_copy_of(LEAT_FLOAT64, LEAT_SHAPE(3), (double[]){1, 2, 3}, &three, &err),
        LEAT_OK);
    const leati_variable_creator *before = leati_variable_set_creator(&creator);
    leat_variable *variable = leat_variable_new_of_shape(&one, &open, NULL, &err);
    leati_variable_set_creator(before);
    assert_non_null(variable);
    assert_int_equal(leat_variable_num_copies(variable), 1);
    assert_int_equal(leat_variable_shape(variable).dims[0], LEAT_UNKNOWN_DIM);
    assert_int_equal(leat_variable_read(variable, &found, &err), LEAT_OK);
    assert_int_equal(leat_variable_assign(variable, &three, &err), LEAT_OK);
    assert_true(leat_tensor_count(&found) == 1 && *(const double *)found.data == 4);
    leat_tensor_unref(&found);
    assert_int_equal(leat_variable_read(variable, &found, &err), LEAT_OK);
    assert_true(leat_tensor_count(&found) == 3 && ((const double *)found.data)[2] == 3);
    leat_tensor_unref(&found);
    assert_int_equal(leat_variable_assign(variable, &scalar, &err), LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_SHAPE, "Variable");
    leat_variable_unref(variable);
    assert_null(leat_variable_new_of_shape(&scalar, &open, NULL, &err));
    variable = leat_variable_new_of_shape(&scalar, &all, NULL, &err);
    assert_non_null(variable);
    assert_int_equal(leat_variable_assign(variable, &three, &err), LEAT_OK);
    leat_variable_unref(variable);
    leat_tensor_unref(&one);
    leat_tensor_unref(&three);
    leat_tensor_unref(&scalar);
}

static void test_mirrored(void **state) {
    (void)state;
    leat_variable *variable = two_copies(NULL, 3);
    assert_true(read_scalar(variable) == 3);
    assign_scalar(variable, 5);
    assert_true(*copy_of(variable, 0) == 5 && *copy_of(variable, 1) == 5);
    leat_variable_unref(variable);
}

static void test_sync_on_read(void **state) {
    (void)state;
    const struct {
        leat_aggregation aggregation;
        double read, copy; /* of copies 10 and 4; each copy after assigning 8 */
    } cases[] = {{LEAT_AGGREGATION_SUM, 14, 4},
                 {LEAT_AGGREGATION_MEAN, 7, 8},
                 {LEAT_AGGREGATION_ONLY_FIRST_REPLICA, 10, 8}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        leat_variable *variable =
            two_copies(&(leat_variable_options){LEAT_VARIABLE_DEFAULTS, .sync_on_read = true,
                                                .aggregation = cases[i].aggregation},
                       0);
        assert_false(variable->trainable);
        *copy_of(variable, 0) = 10;
        *copy_of(variable, 1) = 4;
        assert_true(read_scalar(variable) == cases[i].read);
        assign_scalar(variable, 8);
        assert_true(*copy_of(variable, 0) == cases[i].copy);
        assert_true(*copy_of(variable, 1) == cases[i].copy);
        assert_true(read_scalar(variable) == 8);
        leat_variable_unref(variable);
    }
    leat_error err = {0};
    leat_tensor out;
    leat_variable *none =
        two_copies(&(leat_variable_options){LEAT_VARIABLE_DEFAULTS, .sync_on_read = true}, 0);
    assert_int_equal(leat_variable_read(none, &out, &err), LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "NONE");
    leat_variable_unref(none);
}

/* Each replica reads and writes its own copy. */
static void test_replicas_have_their_own_copies(void **state) {
    (void)state;
    leat_error err = {0};
    leat_variable *variable =
        two_copies(&(leat_variable_options){LEAT_VARIABLE_DEFAULTS, .sync_on_read = true}, 1);
    leat_graph *graph = leat_graph_new(NULL, &err);
    leat_value read = leat_graph_read(graph, variable);
    leat_graph_assign(graph, variable, leat_op_add(read, read));
    leat_function *function = leat_graph_finish(graph, &read, 1, NULL, &err);
    for (int step = 0; step < 2; step++) {
        leati_call_context context = {.replica = 1, .num_replicas = 2};
        leat_tensor out;
        assert_int_equal(leati_interpret(function, NULL, &context, &out, &err), LEAT_OK);
        assert_true(*(double *)out.data == step + 1);
        leat_tensor_unref(&out);
    }
    assert_true(*copy_of(variable, 0) == 1 && *copy_of(variable, 1) == 4);
    leat_function_unref(function);
    leat_variable_unref(variable);
}

/* A collective of two replicas whose other one always brings 6. */
static leat_status reduce_with_six(leati_collective *collective, int rank, void *data,
                                   int64_t count, leat_dtype dtype, leati_reduction reduction,
                                   leat_error *err) {
    (void)collective;
    (void)rank;
    (void)err;
    assert_int_equal(count, 1);
    assert_int_equal(dtype, LEAT_FLOAT64);
    *(double *)data += 6;
    if (reduction == LEATI_REDUCTION_MEAN)
        *(double *)data /= 2;
    return LEAT_OK;
}

static leat_status broadcast_six(leati_collective *collective, int rank, int root, void *data,
                                 int64_t count, leat_dtype dtype, leat_error *err) {
    (void)collective;
    (void)err;
    assert_int_equal(rank, 1);
    assert_int_equal(root, 0);
    assert_int_equal(count, 1);
    assert_int_equal(dtype, LEAT_FLOAT64);
    *(double *)data = 6;
    return LEAT_OK;
}

/* Replica 1 assigns 10 and then adds 10 to a mirrored variable, while replica 0 brings 6 each time.
 */
static void test_assignments_of_replicas_combine(void **state) {
    (void)state;
    const leati_collective_ops ops = {.all_reduce = reduce_with_six, .broadcast = broadcast_six};
    leati_collective collective = {.ops = &ops, .num_ranks = 2};
    const struct {
        leat_aggregation aggregation;
        bool alone;
        double expected;
    } cases[] = {{LEAT_AGGREGATION_NONE, false, 20},
                 {LEAT_AGGREGATION_SUM, false, 32},
                 {LEAT_AGGREGATION_MEAN, false, 16},
                 {LEAT_AGGREGATION_ONLY_FIRST_REPLICA, false, 12},
                 {LEAT_AGGREGATION_SUM, true, 10}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        leat_error err = {0};
        leat_variable *variable = two_copies(
            &(leat_variable_options){LEAT_VARIABLE_DEFAULTS, .aggregation = cases[i].aggregation},
            0);
        leat_spec *spec = leat_spec_tensor(LEAT_FLOAT64, LEAT_SCALAR, &err);
        leat_graph *graph = leat_graph_new(spec, &err);
        leat_value x = leat_graph_argument(graph, 0);
        leat_graph_assign(graph, variable, x);
        leat_graph_assign_add(graph, variable, x);
        if (cases[i].alone)
            leat_graph_assign_copy(graph, variable, x);
        leat_function *function = leat_graph_finish(graph, NULL, 0, NULL, &err);
        if (function == NULL)
            fail_msg("%s", err.text);
        leati_call_context context = {.replica = 1, .num_replicas = 2, .collective = &collective};
        leat_tensor in = leat_scalar_float64(10);
        assert_int_equal(leati_interpret(function, &in, &context, NULL, &err), LEAT_OK);
        assert_true(*copy_of(variable, 1) == cases[i].expected);
        leat_tensor_unref(&in);
        leat_spec_unref(spec);
        leat_function_unref(function);
        leat_variable_unref(variable);
    }
}

static leat_status create_and_read(void *context, leat_error *err) {
    (void)context;
    const leati_variable_creator creator = {.place = place_two};
    const float one = 1;
    leat_tensor initial = leat_tensor_view(LEAT_FLOAT32, LEAT_SCALAR, &one), out;
    leati_variable_set_creator(&creator);
    leat_variable *variable =
        leat_variable_new(&initial,
                          &(leat_variable_options){LEAT_VARIABLE_DEFAULTS, .sync_on_read = true,
                                                   .aggregation = LEAT_AGGREGATION_SUM},
                          err);
    leati_variable_set_creator(NULL);
    if (variable == NULL)
        return torture_code(err);
    leat_status status = leat_variable_read(variable, &out, err);
    if (status == LEAT_OK) {
        status = leat_variable_assign(variable, &out, err);
        leat_tensor_unref(&out);
    }
    leat_variable_unref(variable);
    return status;
}

static void test_each_allocation_failing(void **state) {
    (void)state;
    torture_run(create_and_read, NULL);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, torture_setup, torture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_reading_may_be_stopped),
        TEST(test_one_copy),
        TEST(test_strings),
        TEST(test_unknown_dimensions),
        TEST(test_mirrored),
        TEST(test_sync_on_read),
        TEST(test_replicas_have_their_own_copies),
        TEST(test_assignments_of_replicas_combine),
        TEST(test_each_allocation_failing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
