/* The recorded training runs of the small CNN: digits, initial weights, and the traced step of a
 * custom loop on the public calls.
 *
 * Header only; include it after "support/cmocka.h". Whatever goes wrong fails the test.
 */
#ifndef TEST_DIGITS_H
#define TEST_DIGITS_H

#include "train.h"
#include "train/frame/optimizer.h"

#define DIGITS_UNUSED __attribute__((unused))
#define DIGITS_PIXELS 64
#define DIGITS_BATCH 64

struct digits {
    int64_t count;
    float *pixels; /* count * 64, 0 to 1 */
    int32_t *labels;
};

/* scikit-learn's digits in their order. */
DIGITS_UNUSED static void digits_read(struct digits *digits) {
    size_t size;
    uint8_t *file = arrays_read_file(TRAIN_FOLDER, "digits_y.npy", &size);
    const uint8_t *labels = file + arrays_npy_start(file, size);
    digits->count = (int64_t)(size - arrays_npy_start(file, size));
    digits->labels = malloc((size_t)digits->count * sizeof *digits->labels);
    digits->pixels = malloc((size_t)digits->count * DIGITS_PIXELS * sizeof *digits->pixels);
    assert_non_null(digits->labels);
    assert_non_null(digits->pixels);
    for (int64_t i = 0; i < digits->count; i++)
        digits->labels[i] = labels[i];
    free(file);
    file = arrays_read_file(TRAIN_FOLDER, "digits_x.npy", &size);
    const uint8_t *pixels = file + arrays_npy_start(file, size);
    assert_int_equal(file + size - pixels, digits->count * DIGITS_PIXELS);
    for (int64_t i = 0; i < digits->count * DIGITS_PIXELS; i++)
        digits->pixels[i] = (float)pixels[i] / 16;
    free(file);
}

DIGITS_UNUSED static void digits_free(struct digits *digits) {
    free(digits->pixels);
    free(digits->labels);
}

/* Rows of a global batch, split as evenly as can be: 5 rows are 3 and 2. What `count` of `replicas`
 * get, from number `from` on; digits_split_free. */
DIGITS_UNUSED static void digits_split(const struct digits *digits, int64_t first, int64_t rows,
                                       int replicas, int from, int count, leat_per_replica *out) {
    *out = (leat_per_replica){.elements = calloc((size_t)count, sizeof(leat_element)),
                              .num_replicas = count};
    leat_spec *children[2] = {leat_spec_tensor(LEAT_FLOAT32, LEAT_SHAPE(-1, 8, 8, 1), NULL),
                              leat_spec_tensor(LEAT_INT32, LEAT_SHAPE(-1), NULL)};
    leat_spec *spec = leat_spec_tuple(children, 2, NULL);
    for (int r = 0; r < from + count; r++) {
        int64_t size = rows / replicas + (r < rows % replicas);
        leat_tensor tensors[2];
        first += size;
        if (r < from)
            continue;
        train_ok(leat_tensor_copy_of(LEAT_FLOAT32, LEAT_SHAPE(size, 8, 8, 1),
                                     digits->pixels + (first - size) * DIGITS_PIXELS, &tensors[0],
                                     &train_error));
        train_ok(leat_tensor_copy_of(LEAT_INT32, LEAT_SHAPE(size), digits->labels + first - size,
                                     &tensors[1], &train_error));
        train_ok(leat_element_set(&out->elements[r - from], spec, tensors, &train_error));
        leat_tensor_unref(&tensors[0]);
        leat_tensor_unref(&tensors[1]);
    }
    leat_spec_unref(spec);
}

DIGITS_UNUSED static void digits_split_free(leat_per_replica *value) {
    for (int r = 0; r < value->num_replicas; r++)
        leat_element_fini(&value->elements[r]);
    free(value->elements);
}

struct trainer {
    leat_model *model;
    leat_optimizer *optimizer;
    int64_t global_batch;
};

/* Conv2D(32, 3, relu), MaxPooling2D, Flatten, Dense(64, relu), Dense(10). */
DIGITS_UNUSED static leat_model *trainer_model(leat_error *err) {
    const leat_layer_conv2d_options conv = {LEAT_LAYER_CONV2D_DEFAULTS, .name = "conv",
                                            .activation = LEAT_RELU};
    const leat_layer_dense_options hidden = {LEAT_LAYER_DENSE_DEFAULTS, .name = "hidden",
                                             .activation = LEAT_RELU};
    const leat_layer_dense_options logits = {LEAT_LAYER_DENSE_DEFAULTS, .name = "logits"};
    leat_layer *layers[] = {leat_layer_conv2d(32, 3, 3, &conv, err),
                            leat_layer_max_pooling2d(NULL, err), leat_layer_flatten(NULL, err),
                            leat_layer_dense(64, &hidden, err), leat_layer_dense(10, &logits, err)};
    return leat_model_sequential(layers, 5, err);
}

/* Gives the model the recorded initial weights, by name. */
DIGITS_UNUSED static void trainer_load(leat_model *model) {
    int count;
    leat_variable *const *variables = leat_model_trainable_variables(model, &count);
    json_t *index = arrays_read_json(TRAIN_FOLDER, "cnn_weights.index.json");
    const json_t *weights = json_object_get(index, "weights");
    assert_int_equal(json_array_size(weights), count);
    for (int i = 0; i < count; i++) {
        json_t *weight = json_array_get(weights, (size_t)i);
        assert_string_equal(leat_variable_name(variables[i]), arrays_text(weight, "name"));
        json_object_set_new(weight, "dtype", json_string("float32"));
        json_object_set(weight, "file", json_object_get(index, "file"));
        leat_tensor tensor = train_tensor(weight);
        train_ok(leat_variable_assign(variables[i], &tensor, &train_error));
        leat_tensor_unref(&tensor);
    }
    json_decref(index);
}

/* What the case asks for, with variables as the open scope places them. */
DIGITS_UNUSED static void trainer_init(struct trainer *trainer, const json_t *c) {
    leat_error err = {0};
    const json_t *optimizer = json_object_get(c, "optimizer");
    trainer->global_batch = arrays_int(c, "global_batch", DIGITS_BATCH);
    trainer->optimizer = leati_optimizer_from_json(json_string_value(json_array_get(optimizer, 0)),
                                                   json_array_get(optimizer, 1), &err);
    trainer->model = trainer_model(&err);
    if (trainer->model == NULL || trainer->optimizer == NULL)
        fail_msg("%s", err.text);
    train_ok(leat_model_build(trainer->model, LEAT_SHAPE(8, 8, 1), &train_error));
    trainer_load(trainer->model);
}

DIGITS_UNUSED static void trainer_fini(struct trainer *trainer) {
    leat_optimizer_free(trainer->optimizer);
    leat_model_free(trainer->model);
}

/* A leat_tracer: loss of the step, weights updated. */
DIGITS_UNUSED static int trainer_step(void *context, leat_graph *graph, leat_value *outputs,
                                      int capacity) {
    struct trainer *trainer = context;
    int count;
    leat_value logits = leat_model_call(trainer->model, leat_graph_argument(graph, 0), true);
    leat_value rows =
        leat_loss_sparse_categorical_crossentropy(leat_graph_argument(graph, 1), logits, true);
    outputs[0] = leat_loss_average(rows, trainer->global_batch);
    leat_variable *const *variables = leat_model_trainable_variables(trainer->model, &count);
    leat_optimizer_minimize(trainer->optimizer, outputs[0], variables, count);
    return 1;
}

/* Is the recorded run one with the sparse loss and a custom loop on so many replicas? */
DIGITS_UNUSED static bool trainer_can(const json_t *c, int replicas) {
    const char *strategy = replicas == 1 ? "one replica" : "MirroredStrategy, two CPUs";
    return strcmp(arrays_text(c, "run"), "custom loop") == 0 &&
           strcmp(arrays_text(c, "loss"), "sparse") == 0 &&
           strcmp(arrays_text(c, "strategy"), strategy) == 0;
}

/* Runs `run` on each such case: Adam and SGD. */
DIGITS_UNUSED static void trainer_run_cases(int replicas,
                                            void (*run)(const json_t *c, int replicas)) {
    json_t *root, *c;
    json_t *cases = train_cases("training.json", &root);
    size_t index;
    int ran = 0;
    json_array_foreach(cases, index, c) {
        if (!trainer_can(c, replicas))
            continue;
        run(c, replicas);
        ran++;
    }
    json_decref(root);
    assert_int_equal(ran, 2);
}

/* Within 1e-4 relative of the recorded loss. */
DIGITS_UNUSED static void trainer_check_loss(const json_t *losses, size_t step, double loss) {
    double expected = json_number_value(json_array_get(losses, step));
    if (!(fabs(loss - expected) <= 1e-4 * fabs(expected)))
        fail_msg("step %zu: loss %.9g, recorded %.9g", step, loss, expected);
}

#endif
