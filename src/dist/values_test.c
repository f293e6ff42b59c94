/* Functions over values per replica: numbers of every dtype added up and printed as TensorFlow does
 * it, what is refused, and runs without memory: each allocation fails once, and every failure comes
 * back as RESOURCE_EXHAUSTED and leaves nothing behind. */
#include "support/cmocka.h"

#include "core/tensor.h"
#include "support/refused.h"
#include "support/torture.h"
#include <leat/data_ops.h>
#include <leat/dist.h>

static leat_status combine(void *context, leat_error *err) {
    leat_strategy *strategy = leat_strategy_named(context, err);
    leat_element in = {0}, out = {0};
    leat_tensor tensors[2] = {{0}, {0}};
    leat_spec *children[2], *spec = NULL;
    if (strategy == NULL)
        return torture_code(err);
    leat_status status = leat_tensor_new(LEAT_FLOAT32, LEAT_SHAPE(3, 2), &tensors[0], err);
    if (status == LEAT_OK)
        status = leat_tensor_new(LEAT_INT64, LEAT_SHAPE(3), &tensors[1], err);
    if (status == LEAT_OK) {
        children[0] = leat_spec_tensor(LEAT_FLOAT32, LEAT_SHAPE(-1, 2), err);
        children[1] = leat_spec_tensor(LEAT_INT64, LEAT_SHAPE(-1), err);
        spec = leat_spec_tuple(children, 2, err);
        status = spec == NULL ? torture_code(err) : leat_element_set(&in, spec, tensors, err);
    }
    const leat_per_replica value = {.elements = &in, .num_replicas = 1};
    if (status == LEAT_OK)
        status = leat_strategy_reduce(strategy, LEAT_REDUCE_MEAN, &value, 0, &out, err);
    if (status == LEAT_OK)
        status = leat_strategy_gather(strategy, &value, 0, &out, err);
    if (status == LEAT_OK)
        assert_int_equal(out.tensors[1].dims[0], 3);
    leat_element_fini(&in);
    leat_element_fini(&out);
    leat_spec_unref(spec);
    leat_tensor_unref(&tensors[0]);
    leat_tensor_unref(&tensors[1]);
    leat_strategy_unref(strategy);
    return status;
}

static void test_each_allocation_failing(void **state) {
    (void)state;
    static char one[] = "one_device", workers[] = "multi_worker_mirrored";
    leat_error err = {0};
    /* What lives as long as the process is there first. */
    assert_int_equal(combine(one, &err), LEAT_OK);
    torture_begin();
    torture_run(combine, one);
    torture_run(combine, workers);
    torture_end();
}

/* ---- every dtype ---- */

static leat_element element_of(leat_dtype dtype, leat_shape shape, const void *data) {
    leat_element element = {0};
    leat_tensor tensor;
    assert_int_equal(leat_tensor_copy_of(dtype, shape, data, &tensor, NULL), LEAT_OK);
    leat_spec *spec = leat_spec_tensor(dtype, shape, NULL);
    assert_int_equal(leat_element_set(&element, spec, &tensor, NULL), LEAT_OK);
    leat_spec_unref(spec);
    leat_tensor_unref(&tensor);
    return element;
}

/* The numbers 3, 5 and 4, 6 on two replicas, and how TensorFlow prints [3, 5] (NULL: not as other
 * floats). */
static const struct {
    leat_dtype dtype, mean;
    union {
        int8_t i8[2];
        int16_t i16[2];
        int32_t i32[2];
        int64_t i64[2];
        float f32[2];
        double f64[2];
    } values[2];
    const char *printed;
} numbers[] = {
    {LEAT_INT8, LEAT_FLOAT32, {{.i8 = {3, 5}}, {.i8 = {4, 6}}}, "array([3, 5], dtype=int8)"},
    {LEAT_INT16, LEAT_FLOAT32, {{.i16 = {3, 5}}, {.i16 = {4, 6}}}, "array([3, 5], dtype=int16)"},
    {LEAT_INT32, LEAT_FLOAT64, {{.i32 = {3, 5}}, {.i32 = {4, 6}}}, "array([3, 5], dtype=int32)"},
    {LEAT_INT64, LEAT_FLOAT64, {{.i64 = {3, 5}}, {.i64 = {4, 6}}}, "array([3, 5])"},
    {LEAT_UINT8, LEAT_FLOAT32, {{.i8 = {3, 5}}, {.i8 = {4, 6}}}, "array([3, 5], dtype=uint8)"},
    {LEAT_UINT16, LEAT_FLOAT32, {{.i16 = {3, 5}}, {.i16 = {4, 6}}}, "array([3, 5], dtype=uint16)"},
    {LEAT_UINT32, LEAT_FLOAT64, {{.i32 = {3, 5}}, {.i32 = {4, 6}}}, "array([3, 5], dtype=uint32)"},
    {LEAT_UINT64, LEAT_FLOAT64, {{.i64 = {3, 5}}, {.i64 = {4, 6}}}, "array([3, 5], dtype=uint64)"},
    {LEAT_FLOAT16,
     LEAT_FLOAT16,
     {{.i16 = {0x4200, 0x4500}}, {.i16 = {0x4400, 0x4600}}},
     "array([3., 5.], dtype=float16)"},
    {LEAT_BFLOAT16, LEAT_BFLOAT16, {{.i16 = {0x4040, 0x40a0}}, {.i16 = {0x4080, 0x40c0}}}, NULL},
    {LEAT_FLOAT32,
     LEAT_FLOAT32,
     {{.f32 = {3, 5}}, {.f32 = {4, 6}}},
     "array([3., 5.], dtype=float32)"},
    {LEAT_FLOAT64, LEAT_FLOAT64, {{.f64 = {3, 5}}, {.f64 = {4, 6}}}, "array([3., 5.])"},
};
enum { NUM_NUMBERS = sizeof numbers / sizeof *numbers };

static leat_strategy *two_replicas(void) {
    static const char *const devices[] = {"CPU:0", "CPU:1"};
    leat_error err = {0};
    leat_strategy *strategy = leat_strategy_mirrored(
        &(leat_strategy_mirrored_options){LEAT_STRATEGY_MIRRORED_DEFAULTS, .devices = devices,
                                          .num_devices = 2},
        &err);
    if (strategy == NULL)
        fail_msg("%s", err.text);
    return strategy;
}

static void check_reduced(leat_strategy *strategy, leat_reduce_op op, int axis,
                          const leat_per_replica *value, leat_dtype dtype, double first,
                          double second) {
    leat_error err = {0};
    leat_element out = {0};
    if (leat_strategy_reduce(strategy, op, value, axis, &out, &err) != LEAT_OK)
        fail_msg("%s", err.text);
    assert_int_equal(out.tensors[0].dtype, dtype);
    assert_int_equal(leat_tensor_count(&out.tensors[0]), axis == 0 ? 1 : 2);
    assert_true(leati_tensor_float_at(&out.tensors[0], 0) == first);
    assert_true(axis == 0 || leati_tensor_float_at(&out.tensors[0], 1) == second);
    leat_element_fini(&out);
}

static void test_reduce_every_dtype(void **state) {
    (void)state;
    leat_strategy *strategy = two_replicas();
    for (int i = 0; i < NUM_NUMBERS; i++) {
        leat_dtype dtype = numbers[i].dtype, mean = numbers[i].mean;
        leat_element elements[2] = {element_of(dtype, LEAT_SHAPE(2), &numbers[i].values[0]),
                                    element_of(dtype, LEAT_SHAPE(2), &numbers[i].values[1])};
        const leat_per_replica value = {.elements = elements, .num_replicas = 2};
        check_reduced(strategy, LEAT_REDUCE_SUM, LEAT_NO_AXIS, &value, dtype, 7, 11);
        check_reduced(strategy, LEAT_REDUCE_MEAN, LEAT_NO_AXIS, &value, mean, 3.5, 5.5);
        check_reduced(strategy, LEAT_REDUCE_SUM, 0, &value, dtype, 18, 0);
        check_reduced(strategy, LEAT_REDUCE_MEAN, 0, &value, mean, 4.5, 0);
        leat_element_fini(&elements[0]);
        leat_element_fini(&elements[1]);
    }
    leat_strategy_unref(strategy);
}

static void check_printed(const leat_element *element, const char *head, const char *printed) {
    leat_per_replica value = {.elements = (leat_element *)(uintptr_t)element, .num_replicas = 1};
    char text[512], expected[512];
    snprintf(expected, sizeof expected, "PerReplica:{\n  0: <tf.Tensor: %s, numpy=%s>\n}", head,
             printed);
    assert_int_equal(leat_per_replica_print(&value, text, sizeof text), strlen(expected));
    assert_string_equal(text, expected);
    assert_int_equal(leat_per_replica_print(&value, NULL, 0), strlen(expected));
    assert_int_equal(leat_per_replica_print(&value, text, 8), strlen(expected));
    assert_string_equal(text, "PerRepl");
}

static void test_print_every_dtype(void **state) {
    (void)state;
    for (int i = 0; i < NUM_NUMBERS; i++) {
        char head[64];
        if (numbers[i].printed == NULL)
            continue;
        leat_element element = element_of(numbers[i].dtype, LEAT_SHAPE(2), &numbers[i].values[0]);
        snprintf(head, sizeof head, "shape=(2,), dtype=%s", leat_dtype_name(numbers[i].dtype));
        check_printed(&element, head, numbers[i].printed);
        leat_element_fini(&element);
    }
}

static void test_print_shapes(void **state) {
    (void)state;
    static const leat_string texts[4] = {{.data = "a b", .size = 3},
                                         {.data = "it's \\ x", .size = 8},
                                         {.data = "", .size = 0},
                                         {.data = "\"", .size = 1}};
    static const bool truth[2] = {true, false};
    static const int16_t zeros[4] = {0}, halves[2] = {0x4060, 0x40b0};
    static const struct {
        leat_dtype dtype;
        leat_shape shape;
        const void *data;
        const char *head, *printed;
    } cases[] = {
        {LEAT_BOOL,
         {.rank = 1, .dims = {2}},
         truth,
         "shape=(2,), dtype=bool",
         "array([ True, False])"},
        {LEAT_STRING,
         {.rank = 2, .dims = {2, 2}},
         texts,
         "shape=(2, 2), dtype=string",
         "\narray([[b'a b', b\"it's \\\\ x\"],\n       [b'', b'\"']], dtype=object)"},
        {LEAT_INT8,
         {.rank = 1, .dims = {0}},
         zeros,
         "shape=(0,), dtype=int8",
         "array([], dtype=int8)"},
        {LEAT_STRING,
         {.rank = 2, .dims = {2, 0}},
         texts,
         "shape=(2, 0), dtype=string",
         "array([], shape=(2, 0), dtype=object)"},
        {LEAT_BFLOAT16,
         {.rank = 1, .dims = {2}},
         halves,
         "shape=(2,), dtype=bfloat16",
         "array([3.5, 5.5], dtype=bfloat16)"},
        {LEAT_INT8, {.rank = 0}, zeros, "shape=(), dtype=int8", "0"},
        {LEAT_INT16,
         {.rank = 3, .dims = {2, 2, 1}},
         zeros,
         "shape=(2, 2, 1), dtype=int16",
         "\narray([[[0],\n        [0]],\n\n       [[0],\n        [0]]], dtype=int16)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        leat_element element = element_of(cases[i].dtype, cases[i].shape, cases[i].data);
        check_printed(&element, cases[i].head, cases[i].printed);
        leat_element_fini(&element);
    }
}

/* Components one after the other, each with all replicas; one of them may be without some. */
static void test_print_components(void **state) {
    (void)state;
    static const char expected[] =
        "(PerReplica:{\n"
        "  0: <tf.Tensor: shape=(), dtype=int64, numpy=3>,\n"
        "  1: <tf.Tensor: shape=(), dtype=int64, numpy=5>\n"
        "}, PerReplica:{\n"
        "  0: <tf.Tensor: shape=(2,), dtype=int64, numpy=array([3, 5])>,\n"
        "})";
    const int64_t values[2] = {3, 5};
    char text[400], whole[400];
    torture_begin();
    leat_element elements[2] = {{0}, element_of(LEAT_INT64, LEAT_SCALAR, &values[1])};
    leat_spec *parts[2] = {leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, NULL),
                           leat_spec_tensor(LEAT_INT64, LEAT_SHAPE(2), NULL)};
    leat_spec *spec = leat_spec_tuple(parts, 2, NULL);
    leat_tensor tensors[2];
    assert_int_equal(leat_tensor_copy_of(LEAT_INT64, LEAT_SCALAR, values, &tensors[0], NULL),
                     LEAT_OK);
    assert_int_equal(leat_tensor_copy_of(LEAT_INT64, LEAT_SHAPE(2), values, &tensors[1], NULL),
                     LEAT_OK);
    assert_int_equal(leat_element_set(&elements[0], spec, tensors, NULL), LEAT_OK);
    const leat_per_replica value = {.elements = elements, .num_replicas = 2};
    size_t length = leat_per_replica_print(&value, whole, sizeof whole);
    assert_string_equal(whole, expected);
    assert_int_equal(length, strlen(expected));
    /* As much as there is memory for. */
    bool failed = true;
    for (long n = 1; failed; n++) {
        long before = torture_live();
        torture_fail_at(n);
        length = leat_per_replica_print(&value, text, sizeof text);
        failed = torture_failed();
        torture_fail_at(0);
        assert_int_equal(torture_live(), before);
        assert_int_equal(length, strlen(text));
        assert_true(failed ? length < strlen(whole) : length == strlen(whole));
        assert_memory_equal(text, whole, length);
    }
    for (int i = 0; i < 2; i++) {
        leat_element_fini(&elements[i]);
        leat_tensor_unref(&tensors[i]);
    }
    leat_spec_unref(spec);
    torture_end();
    assert_int_equal(leat_per_replica_print(&(leat_per_replica){0}, text, sizeof text), 2);
    assert_string_equal(text, "()");
}

/* ---- what is refused ---- */

static void expect_refused(leat_strategy *strategy, leat_reduce_op op,
                           const leat_per_replica *value, leat_status code, leat_reason reason,
                           const char *keyword) {
    leat_error err = {0};
    leat_element out = {0};
    assert_int_equal(leat_strategy_reduce(strategy, op, value, LEAT_NO_AXIS, &out, &err), code);
    assert_refused(&err, code, reason, keyword);
}

static void test_refused(void **state) {
    (void)state;
    static const bool truth[2] = {true, false};
    static const float three[3] = {1, 2, 3};
    leat_strategy *strategy = two_replicas();
    leat_element elements[2] = {element_of(LEAT_FLOAT32, LEAT_SHAPE(2), three),
                                element_of(LEAT_FLOAT32, LEAT_SHAPE(3), three)};
    leat_element bools[2] = {element_of(LEAT_BOOL, LEAT_SHAPE(2), truth),
                             element_of(LEAT_BOOL, LEAT_SHAPE(2), truth)};
    leat_element uneven[2] = {elements[0], {0}};
    const leat_per_replica value = {.elements = elements, .num_replicas = 2};
    expect_refused(strategy, LEAT_REDUCE_SUM, &value, LEAT_INVALID_ARGUMENT, LEAT_REASON_SHAPE,
                   "[3]");
    expect_refused(strategy, (leat_reduce_op)2, &value, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE,
                   "2");
    expect_refused(strategy, LEAT_REDUCE_SUM,
                   &(leat_per_replica){.elements = bools, .num_replicas = 2}, LEAT_INVALID_ARGUMENT,
                   LEAT_REASON_DTYPE, "bool");
    expect_refused(strategy, LEAT_REDUCE_SUM,
                   &(leat_per_replica){.elements = bools, .num_replicas = 1}, LEAT_INVALID_ARGUMENT,
                   LEAT_REASON_STRUCTURE, "1");
    expect_refused(strategy, LEAT_REDUCE_SUM,
                   &(leat_per_replica){.elements = uneven, .num_replicas = 2},
                   LEAT_INVALID_ARGUMENT, LEAT_REASON_STRUCTURE, "0");
    expect_refused(strategy, LEAT_REDUCE_SUM, NULL, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE,
                   "leat_strategy_reduce");
    expect_refused(NULL, LEAT_REDUCE_SUM, &value, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE,
                   "leat_strategy_reduce");
    for (int i = 0; i < 2; i++) {
        leat_element_fini(&elements[i]);
        leat_element_fini(&bools[i]);
    }
    leat_strategy_unref(strategy);
}

/* ---- datasets by functions, and steps ---- */

enum made { NOTHING, A_FAILURE, RANGES, TWO_KINDS };

struct maker {
    enum made made;
    int calls, releases;
};

static leat_dataset *make_dataset(void *context, const leat_input_context *input, leat_error *err) {
    struct maker *maker = context;
    maker->calls++;
    switch (maker->made) {
    case NOTHING: return NULL;
    case A_FAILURE: return leat_dataset_take(NULL, 3, err);
    case RANGES: break;
    case TWO_KINDS:
        if (input->input_pipeline_id == 1)
            return leat_dataset_batch(leat_dataset_range(0, 4, 1, NULL, err), 2, NULL, err);
    }
    return leat_dataset_range(0, 4, 1, NULL, err);
}

static void release_maker(void *context) {
    ((struct maker *)context)->releases++;
}

static void test_functions_of_datasets(void **state) {
    (void)state;
    const leat_strategy_distribute_options plain = {LEAT_STRATEGY_DISTRIBUTE_DEFAULTS},
                                           each = {LEAT_STRATEGY_DISTRIBUTE_DEFAULTS,
                                                   .replication = LEAT_INPUT_PER_REPLICA},
                                           placed = {LEAT_STRATEGY_DISTRIBUTE_DEFAULTS,
                                                     .place_dataset_on_device = true},
                                           fetched = {LEAT_STRATEGY_DISTRIBUTE_DEFAULTS,
                                                      .replication = LEAT_INPUT_PER_REPLICA,
                                                      .place_dataset_on_device = true},
                                           no_policy = {LEAT_STRATEGY_DISTRIBUTE_DEFAULTS,
                                                        .auto_shard_policy =
                                                            (leat_auto_shard_policy)9};
    const struct {
        enum made made;
        const leat_strategy_distribute_options *options;
        leat_reason reason;
        const char *keyword; /* NULL: none fails */
    } cases[] = {
        {NOTHING, &plain, LEAT_REASON_CALLBACK, "0"},
        {A_FAILURE, &plain, LEAT_REASON_VALUE, "take"},
        {TWO_KINDS, &plain, LEAT_REASON_NONE, NULL},
        {TWO_KINDS, &each, LEAT_REASON_STRUCTURE, "1"},
        {RANGES, &each, LEAT_REASON_NONE, NULL},
        {RANGES, &placed, LEAT_REASON_VALUE, "LEAT_INPUT_PER_REPLICA"},
        {RANGES, &fetched, LEAT_REASON_VALUE, "fetch_to_device"},
        {RANGES, &no_policy, LEAT_REASON_VALUE, "9"},
    };
    leat_strategy *strategy = two_replicas();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct maker maker = {.made = cases[i].made};
        leat_error err = {0};
        leat_distributed_dataset *d = leat_strategy_distribute_datasets_from_function(
            strategy, make_dataset, &maker, release_maker, cases[i].options, &err);
        assert_int_equal(d != NULL, cases[i].keyword == NULL);
        if (d == NULL)
            assert_refused(&err, LEAT_INVALID_ARGUMENT, cases[i].reason, cases[i].keyword);
        assert_int_equal(maker.releases, d == NULL);
        assert_true(maker.calls <= 2);
        leat_distributed_dataset_free(d);
        assert_int_equal(maker.releases, 1);
    }
    struct maker maker = {.made = RANGES};
    leat_error err = {0};
    assert_null(leat_strategy_distribute_datasets_from_function(NULL, make_dataset, &maker,
                                                                release_maker, NULL, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "strategy");
    assert_null(leat_strategy_distribute_datasets_from_function(strategy, NULL, &maker,
                                                                release_maker, NULL, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "function");
    assert_int_equal(maker.releases, 2);
    err = (leat_error){0};
    assert_null(leat_strategy_distribute_dataset(NULL, leat_dataset_range(0, 4, 1, NULL, &err),
                                                 NULL, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "strategy");
    err = (leat_error){0};
    assert_null(leat_strategy_distribute_dataset(strategy, NULL, NULL, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "dataset");
    leat_strategy_unref(strategy);
}

static void test_batch_sizes(void **state) {
    (void)state;
    leat_error err = {0};
    int64_t size = 7;
    const leat_input_context four = {.num_replicas_in_sync = 4}, none = {0};
    assert_int_equal(leat_input_context_batch_size(&four, 8, &size, &err), LEAT_OK);
    assert_int_equal(size, 2);
    assert_int_equal(leat_input_context_batch_size(&four, 9, &size, &err), LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "9");
    assert_int_equal(leat_input_context_batch_size(&none, 8, &size, &err), LEAT_INVALID_ARGUMENT);
    assert_int_equal(leat_input_context_batch_size(NULL, 8, &size, &err), LEAT_INVALID_ARGUMENT);
    assert_int_equal(leat_input_context_batch_size(&four, 8, NULL, &err), LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "NULL");
    assert_int_equal(size, 2);
}

static int trace_same(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    outputs[0] = leat_graph_argument(graph, 0);
    return 1;
}

static void expect_step(leat_strategy *strategy, leat_step *step, const leat_per_replica *args,
                        leat_status code, leat_reason reason, const char *keyword) {
    leat_error err = {0};
    leat_per_replica out = {0};
    assert_int_equal(leat_strategy_run(strategy, step, args, &out, &err), code);
    assert_refused(&err, code, reason, keyword);
    leat_per_replica_fini(&out);
}

static void test_steps(void **state) {
    (void)state;
    static const leat_string texts[2] = {{.data = "a", .size = 1}, {.data = "b", .size = 1}};
    leat_error err = {0};
    leat_strategy *strategy = two_replicas(), *other = leat_strategy_one_device(NULL, &err);
    leat_step *step = leat_step_new(trace_same, NULL, &err);
    leat_element elements[2] = {element_of(LEAT_INT64, LEAT_SHAPE(2), &numbers[3].values[0]),
                                element_of(LEAT_INT64, LEAT_SHAPE(2), &numbers[3].values[1])};
    leat_element strings[2] = {element_of(LEAT_STRING, LEAT_SHAPE(2), texts),
                               element_of(LEAT_STRING, LEAT_SHAPE(2), texts)};
    const leat_per_replica args = {.elements = elements, .num_replicas = 2},
                           one = {.elements = elements, .num_replicas = 1},
                           words = {.elements = strings, .num_replicas = 2};
    expect_step(NULL, step, &args, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "strategy");
    expect_step(strategy, NULL, &args, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "step");
    expect_step(strategy, step, NULL, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "args");
    expect_step(strategy, step, &one, LEAT_INVALID_ARGUMENT, LEAT_REASON_STRUCTURE, "1");
    expect_step(strategy, step, &words, LEAT_INVALID_ARGUMENT, LEAT_REASON_DTYPE, "string");
    leat_per_replica sums = {0};
    assert_int_equal(leat_strategy_run(strategy, step, &args, &sums, &err), LEAT_OK);
    leat_per_replica_fini(&sums);
    expect_step(other, step, &one, LEAT_FAILED_PRECONDITION, LEAT_REASON_NONE, "step");
    assert_null(leat_step_explain(NULL, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "step");
    for (int i = 0; i < 2; i++) {
        leat_element_fini(&elements[i]);
        leat_element_fini(&strings[i]);
    }
    leat_step_free(step);
    leat_strategy_unref(strategy);
    leat_strategy_unref(other);
}

static int two_devices(void **state) {
    (void)state;
    return leat_device_set_logical_cpus(2, NULL) == LEAT_OK ? 0 : -1;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_reduce_every_dtype),
                                       cmocka_unit_test(test_print_every_dtype),
                                       cmocka_unit_test(test_print_shapes),
                                       cmocka_unit_test(test_print_components),
                                       cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_functions_of_datasets),
                                       cmocka_unit_test(test_batch_sizes),
                                       cmocka_unit_test(test_steps),
                                       cmocka_unit_test(test_each_allocation_failing)};
    return cmocka_run_group_tests(tests, two_devices, NULL);
}
