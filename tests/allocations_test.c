/* In steady state pipelines allocate nothing: the library's allocator is asked as often for a
 * thousand elements as for none. Counted over the pipelines that users write: records, parsed,
 * computed with, shuffled, batched and prefetched; pictures, decoded, resized and batched. The same
 * goes for steps of training on one replica. */
#include "support/cmocka.h"

#include "support/scratch.h"

#include <leat/leat.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- counting ---- */

static atomic_long allocations;

static void *count_alloc(void *context, size_t size, size_t alignment) {
    (void)context;
    void *memory = NULL;
    atomic_fetch_add(&allocations, 1);
    return posix_memalign(&memory, alignment < 16 ? 16 : alignment, size) == 0 ? memory : NULL;
}

static void *count_resize(void *context, void *memory, size_t size) {
    (void)context;
    atomic_fetch_add(&allocations, 1);
    return realloc(memory, size);
}

static void count_release(void *context, void *memory) {
    (void)context;
    free(memory);
}

static int start_counting(void **state) {
    (void)state;
    const leat_allocator counting = {
        .alloc = count_alloc, .resize = count_resize, .release = count_release};
    leat_allocator_set(&counting);
    return 0;
}

static int stop_counting(void **state) {
    (void)state;
    leat_allocator_set(NULL);
    return 0;
}

enum { WARM = 64, WINDOW = 32, WINDOWS = 40 };

/* Batches are taken in windows. Threads may run further ahead than ever before now and then, and
 * then a pool grows; that ends, and from then on windows have no allocation. */
static void check_steady(leat_dataset *dataset, int threads, int64_t batch) {
    leat_error err = {0};
    leat_iterator_options options = {LEAT_ITERATOR_DEFAULTS, .num_threads = threads,
                                     .autotune = false};
    leat_iterator *iterator = leat_iterator_new(dataset, &options, &err);
    if (iterator == NULL)
        fail_msg("%s", err.text);
    leat_element element = {0};
    long count = 0;
    int quiet = 0, windows = 0;
    for (int i = 0; i < WARM; i++)
        if (leat_iterator_next(iterator, &element, &err) != LEAT_OK)
            fail_msg("%s", err.text);
    while (windows < WINDOWS && quiet < 3) {
        long before = atomic_load(&allocations);
        for (int i = 0; i < WINDOW; i++)
            assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_OK);
        assert_int_equal(element.tensors[0].dims[0], batch);
        count = atomic_load(&allocations) - before;
        quiet = count == 0 ? quiet + 1 : 0;
        windows++;
    }
    leat_element_fini(&element);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
    if (quiet < 3)
        fail_msg("%ld allocations in the last %d elements", count, (int)(WINDOW * batch));
}

/* ---- records ---- */

static int trace_parse(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    return leat_op_parse_example(leat_graph_argument(graph, 0), context, NULL, outputs, capacity);
}

static int trace_arithmetic(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_tensor two = leat_scalar_float32(2);
    outputs[0] = leat_op_multiply(leat_graph_argument(graph, 1), leat_graph_tensor(graph, &two));
    outputs[1] = leat_graph_argument(graph, 0);
    leat_tensor_unref(&two);
    return 2;
}

static void write_records(const char *path, int count) {
    leat_error err = {0};
    leat_example *example = leat_example_new(&err);
    leat_tfrecord_writer *writer = leat_tfrecord_writer_open(path, NULL, &err);
    if (writer == NULL)
        fail_msg("%s", err.text);
    for (int64_t i = 0; i < count; i++) {
        float x[4] = {(float)i, 1, 2, 3};
        leat_string record;
        leat_example_clear(example);
        assert_int_equal(leat_example_add_int64(example, "id", &i, 1, &err), LEAT_OK);
        assert_int_equal(leat_example_add_float(example, "x", x, 4, &err), LEAT_OK);
        assert_int_equal(leat_example_serialize(example, &record, &err), LEAT_OK);
        assert_int_equal(leat_tfrecord_writer_write(writer, record.data, record.size, &err),
                         LEAT_OK);
    }
    assert_int_equal(leat_tfrecord_writer_close(writer, &err), LEAT_OK);
    leat_example_free(example);
}

static leat_dataset *map_with(leat_dataset *ds, leat_tracer tracer, void *context,
                              int64_t parallel) {
    leat_error err = {0};
    leat_dataset_map_options options = {LEAT_DATASET_MAP_DEFAULTS, .num_parallel_calls = parallel};
    leat_function *function = LEAT_TRACE(tracer, context, leat_dataset_spec(ds), &err);
    ds = leat_dataset_map(ds, function, parallel > 0 ? &options : NULL, &err);
    if (ds == NULL)
        fail_msg("%s", err.text);
    return ds;
}

static void check_records(int64_t parallel, int threads) {
    leat_error err = {0};
    const char *keys[] = {"id", "x"}, *paths[] = {scratch_path("some.tfrecord")};
    write_records(paths[0], 4000);
    leat_spec *children[] = {leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, &err),
                             leat_spec_tensor(LEAT_FLOAT32, LEAT_SHAPE(4), &err)};
    leat_spec *spec = leat_spec_dict(keys, children, 2, &err);
    leat_dataset *ds = leat_dataset_tf_record(paths, 1, NULL, &err);
    ds = map_with(ds, trace_parse, spec, 0);
    ds = map_with(ds, trace_arithmetic, NULL, parallel);
    ds = leat_dataset_shuffle(
        ds, 500,
        &(leat_dataset_shuffle_options){LEAT_DATASET_SHUFFLE_DEFAULTS, .seed = LEAT_SEED(1)}, &err);
    ds = leat_dataset_repeat(
        leat_dataset_batch(
            ds, 32,
            &(leat_dataset_batch_options){LEAT_DATASET_BATCH_DEFAULTS, .drop_remainder = true},
            &err),
        -1, &err);
    ds = leat_dataset_prefetch(ds, 4, &err);
    check_steady(ds, threads, 32);
    leat_spec_unref(spec);
}

static void test_records(void **state) {
    (void)state;
    check_records(0, 1);
    check_records(2, 2);
}

/* ---- pictures ---- */

static int trace_picture(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_value contents = leat_op_read_file(leat_graph_argument(graph, 0));
    leat_value picture = leat_op_resize(
        leat_op_decode_jpeg(
            contents, &(leat_op_decode_jpeg_options){LEAT_OP_DECODE_JPEG_DEFAULTS, .channels = 3}),
        (int64_t[]){40, 50}, 2, NULL);
    leat_tensor scale = leat_scalar_float32(1 / 255.0F);
    outputs[0] =
        leat_op_multiply(leat_op_flip_left_right(picture), leat_graph_tensor(graph, &scale));
    leat_tensor_unref(&scale);
    return 1;
}

/* A random part of a picture as floats in [0, 1], and numbers for each channel. */
static int trace_part(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    const int64_t size[3] = {16, 20, 3};
    leat_value picture = leat_op_decode_jpeg(
        leat_op_read_file(leat_graph_argument(graph, 0)),
        &(leat_op_decode_jpeg_options){LEAT_OP_DECODE_JPEG_DEFAULTS, .channels = 3});
    leat_value shift = leat_op_random_uniform(graph, LEAT_SHAPE(3), NULL), inputs[3];
    picture = leat_op_random_crop(leat_op_convert_image_dtype(picture, LEAT_FLOAT32, false), size,
                                  3, NULL);
    inputs[0] = leat_op_add(picture, shift);
    inputs[1] = leat_op_cast(leat_op_random_uniform(graph, LEAT_SHAPE(2), NULL), LEAT_INT64);
    inputs[2] = leat_op_add(
        inputs[1], leat_op_cast(leat_op_ones(graph, LEAT_SHAPE(2), LEAT_FLOAT32), LEAT_INT64));
    if (leat_graph_call(graph, "computed",
                        "{\"op\": \"strided_slice\", \"arguments\": \"{\\\"begin\\\": [0, 0], "
                        "\\\"end\\\": [0, 0]}\", \"bound\": [\"begin\", \"end\"]}",
                        inputs, 3, &picture, 1) != 1)
        return -1;
    outputs[0] = leat_op_resize(picture, (int64_t[]){40, 50}, 2, NULL);
    return 1;
}

static void check_pictures(leat_tracer tracer, int64_t parallel, int threads) {
    leat_error err = {0};
    const char *names[] = {"tests/golden/data/image/files/a_420.jpg",
                           "tests/golden/data/image/files/a_444.jpg",
                           "tests/golden/data/image/files/b_420_odd.jpg"};
    leat_string strings[3];
    for (int i = 0; i < 3; i++)
        strings[i] = (leat_string){.data = names[i], .size = strlen(names[i])};
    leat_tensor tensor = {0};
    leat_element element = {0};
    leat_spec *spec = leat_spec_tensor(LEAT_STRING, LEAT_SHAPE(3), &err);
    assert_int_equal(leat_tensor_copy_of(LEAT_STRING, LEAT_SHAPE(3), strings, &tensor, &err),
                     LEAT_OK);
    assert_int_equal(leat_element_set(&element, spec, &tensor, &err), LEAT_OK);
    leat_dataset *ds =
        leat_dataset_repeat(leat_dataset_from_tensor_slices(&element, &err), -1, &err);
    leat_element_fini(&element);
    leat_tensor_unref(&tensor);
    leat_spec_unref(spec);
    ds = map_with(ds, tracer, NULL, parallel);
    check_steady(leat_dataset_batch(ds, 8, NULL, &err), threads, 8);
}

static void test_pictures(void **state) {
    (void)state;
    check_pictures(trace_picture, 0, 1);
    check_pictures(trace_picture, 2, 2);
    check_pictures(trace_part, 0, 1);
    check_pictures(trace_part, 2, 2);
}

/* explain says which operations run as one. */
static void test_explained(void **state) {
    (void)state;
    leat_error err = {0};
    const char *name = "tests/golden/data/image/files/a_420.jpg";
    leat_string string = {.data = name, .size = strlen(name)};
    leat_tensor tensor = {0};
    leat_element element = {0};
    leat_spec *spec = leat_spec_tensor(LEAT_STRING, LEAT_SCALAR, &err);
    assert_int_equal(leat_tensor_copy_of(LEAT_STRING, LEAT_SCALAR, &string, &tensor, &err),
                     LEAT_OK);
    assert_int_equal(leat_element_set(&element, spec, &tensor, &err), LEAT_OK);
    leat_dataset *ds = map_with(leat_dataset_from_tensors(&element, &err), trace_picture, NULL, 0);
    leat_iterator *iterator = leat_iterator_new(ds, NULL, &err);
    assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_OK);
    char *text = leat_iterator_explain(iterator, &err);
    assert_non_null(strstr(text, "map: one pass over each picture: decode_jpeg, resize, "
                                 "flip_left_right, multiply\n"));
    leat_text_free(text);
    leat_element_fini(&element);
    leat_iterator_free(iterator);
    leat_dataset_unref(ds);
    leat_tensor_unref(&tensor);
    leat_spec_unref(spec);
}

/* ---- training ---- */

typedef struct trainer {
    leat_model *model;
    leat_optimizer *optimizer;
} trainer;

static int trace_training(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    trainer *t = context;
    int count = 0;
    leat_value logits = leat_model_call(t->model, leat_graph_argument(graph, 0), true);
    leat_value losses =
        leat_loss_sparse_categorical_crossentropy(leat_graph_argument(graph, 1), logits, true);
    leat_variable *const *variables = leat_model_trainable_variables(t->model, &count);
    outputs[0] = leat_loss_average(losses, 8);
    leat_optimizer_minimize(t->optimizer, outputs[0], variables, count);
    return 1;
}

static void make_trainer(trainer *t, leat_strategy *strategy) {
    leat_error err = {0};
    leat_layer_conv2d_options conv = {LEAT_LAYER_CONV2D_DEFAULTS, .activation = LEAT_RELU};
    leat_layer *layers[] = {leat_layer_conv2d(8, 3, 3, &conv, &err),
                            leat_layer_max_pooling2d(NULL, &err), leat_layer_flatten(NULL, &err),
                            leat_layer_dense(10, NULL, &err)};
    assert_int_equal(leat_strategy_enter(strategy, &err), LEAT_OK);
    t->model = leat_model_sequential(layers, 4, &err);
    assert_int_equal(leat_model_build(t->model, LEAT_SHAPE(8, 8, 1), &err), LEAT_OK);
    t->optimizer = leat_optimizer_adam(NULL, &err);
    leat_strategy_exit(strategy);
}

static void make_batch(leat_element *element) {
    leat_error err = {0};
    leat_tensor tensors[2] = {{0}};
    leat_spec *children[] = {leat_spec_tensor(LEAT_FLOAT32, LEAT_SHAPE(4, 8, 8, 1), &err),
                             leat_spec_tensor(LEAT_INT64, LEAT_SHAPE(4), &err)};
    leat_spec *spec = leat_spec_tuple(children, 2, &err);
    assert_int_equal(leat_tensor_new(LEAT_FLOAT32, LEAT_SHAPE(4, 8, 8, 1), &tensors[0], &err),
                     LEAT_OK);
    assert_int_equal(leat_tensor_new(LEAT_INT64, LEAT_SHAPE(4), &tensors[1], &err), LEAT_OK);
    for (int i = 0; i < 256; i++)
        ((float *)tensors[0].data)[i] = (float)(i % 7);
    for (int i = 0; i < 4; i++)
        ((int64_t *)tensors[1].data)[i] = i;
    assert_int_equal(leat_element_set(element, spec, tensors, &err), LEAT_OK);
    leat_tensor_unref(&tensors[0]);
    leat_tensor_unref(&tensors[1]);
    leat_spec_unref(spec);
}

static void test_training(void **state) {
    (void)state;
    leat_error err = {0};
    trainer t = {0};
    leat_element element = {0};
    leat_per_replica batch = {.elements = &element, .num_replicas = 1}, loss = {0};
    assert_int_equal(leat_device_set_logical_cpus(1, &err), LEAT_OK);
    leat_strategy *strategy = leat_strategy_mirrored(NULL, &err);
    make_trainer(&t, strategy);
    make_batch(&element);
    leat_step *step = leat_step_new(trace_training, &t, &err);
    long count = 0;
    for (int i = 0; i < 12; i++) {
        long before = atomic_load(&allocations);
        if (leat_strategy_run(strategy, step, &batch, &loss, &err) != LEAT_OK)
            fail_msg("%s", err.text);
        count = atomic_load(&allocations) - before;
    }
    assert_int_equal(count, 0);
    leat_per_replica_fini(&loss);
    leat_element_fini(&element);
    leat_step_free(step);
    leat_optimizer_free(t.optimizer);
    leat_model_free(t.model);
    leat_strategy_unref(strategy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_records, start_counting, stop_counting),
        cmocka_unit_test_setup_teardown(test_pictures, start_counting, stop_counting),
        cmocka_unit_test_setup_teardown(test_training, start_counting, stop_counting),
        cmocka_unit_test(test_explained),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
