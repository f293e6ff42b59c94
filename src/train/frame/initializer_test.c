/* Initialisers against statistics recorded from Keras (tests/golden/data/nn/initializers.json) and
 * numbers of TensorFlow's stateless generator. */
#include "support/cmocka.h"

#include "support/train.h"
#include "train/frame/initializer.h"
#include "train/frame/layer.h"

static double recorded(const json_t *c, const char *name) {
    return json_number_value(json_object_get(c, name));
}

/* Mean and deviation of a sample scatter by its size; the bounds are those of the distribution. */
static void check_statistics(const json_t *c, const leat_tensor *tensor) {
    const float *values = tensor->data;
    int64_t count = leat_tensor_count(tensor);
    double sum = 0, squares = 0, low = values[0], high = values[0];
    for (int64_t i = 0; i < count; i++) {
        sum += values[i];
        low = fmin(low, values[i]);
        high = fmax(high, values[i]);
    }
    double mean = sum / (double)count, spread = recorded(c, "std");
    for (int64_t i = 0; i < count; i++)
        squares += ((double)values[i] - mean) * ((double)values[i] - mean);
    double range = fmax(recorded(c, "max"), 1e-30);
    assert_true(fabs(mean - recorded(c, "mean")) <= 0.02 * spread + 1e-12);
    assert_true(fabs(sqrt(squares / (double)count) - spread) <= 0.01 * spread);
    assert_true(fabs(low - recorded(c, "min")) <= 0.001 * range);
    assert_true(fabs(high - recorded(c, "max")) <= 0.001 * range);
}

static void statistics_are_keras(void **state) {
    (void)state;
    json_t *root, *c;
    json_t *cases = train_cases("initializers.json", &root);
    size_t index;
    int ran = 0;
    json_array_foreach(cases, index, c) {
        leat_error err = {0};
        const leati_initializer_kind *kind = NULL;
        if (json_object_get(c, "mean") != NULL)
            kind = leati_initializer_find(arrays_text(c, "initializer"), &err);
        if (kind != &leati_initializer_glorot_uniform && kind != &leati_initializer_zeros)
            continue; /* golden/nn has the others, whose extremes scatter */
        leat_shape shape = {.rank = (int32_t)json_array_size(json_object_get(c, "shape"))};
        for (int32_t d = 0; d < shape.rank; d++)
            shape.dims[d] =
                json_integer_value(json_array_get(json_object_get(c, "shape"), (size_t)d));
        double fan_in, fan_out;
        leati_initializer_fans(&shape, &fan_in, &fan_out);
        assert_true(fan_in == recorded(c, "fan_in") && fan_out == recorded(c, "fan_out"));
        leat_tensor tensor;
        train_ok(leati_initializer_run(kind, NULL, 12345, &shape, &tensor, &train_error));
        check_statistics(c, &tensor);
        leat_tensor_unref(&tensor);
        ran++;
    }
    json_decref(root);
    assert_int_equal(ran, 4); /* two shapes each */
}

/* Each layer's default, as Keras has it. */
static void identities(void **state) {
    (void)state;
    static const float wide[] = {2, 0, 0, 0, 2, 0}, high[] = {1, 0, 0, 1, 0, 0};
    const struct {
        const char *config;
        leat_shape shape;
        const float *values;
    } cases[] = {{"{\"gain\": 2.0}", LEAT_SHAPE(2, 3), wide}, {"{}", LEAT_SHAPE(3, 2), high}};
    for (size_t i = 0; i < 2; i++) {
        leat_error err = {0};
        leat_tensor tensor;
        leat_part *part = leat_part_new("initializer", "Identity", cases[i].config, &err);
        if (part == NULL)
            fail_msg("%s", err.text);
        train_ok(leat_part_initialize(part, 3, cases[i].shape, &tensor, &train_error));
        assert_memory_equal(tensor.data, cases[i].values, 6 * sizeof(float));
        leat_tensor_unref(&tensor);
        leat_part_free(part);
    }
}

static void defaults_are_keras(void **state) {
    (void)state;
    json_t *root, *c;
    json_t *cases = train_cases("initializers.json", &root);
    size_t index;
    int ran = 0;
    json_array_foreach(cases, index, c) {
        size_t count;
        const leati_kind *const *kinds = leati_kinds_layer(&count);
        for (size_t i = 0; i < count; i++) {
            if (strcmp(kinds[i]->name, arrays_text(c, "default_of")) != 0)
                continue;
            const char *argument;
            json_t *name;
            json_object_foreach(c, argument, name) {
                if (strstr(argument, "_initializer") == NULL)
                    continue;
                const leati_row *row = leati_rows_find(kinds[i]->rows, argument);
                assert_non_null(row);
                assert_string_equal(
                    leati_initializer_find(row->default_text, &(leat_error){0})->kind.name,
                    json_string_value(name));
            }
            ran++;
        }
    }
    json_decref(root);
    assert_int_equal(ran, 6);
}

/* keras.initializers.X(seed=5)((2, 3)). */
static void seeds_give_the_numbers_of_keras(void **state) {
    (void)state;
    static const struct {
        const char *name;
        float values[6];
    } recorded_numbers[] = {
        {"RandomNormal",
         {-0.10276892f, 0.05790939f, 0.009580432f, -0.006488945f, 0.04534236f, -0.03614981f}},
        {"TruncatedNormal",
         {0.05790939f, 0.009580432f, -0.006488945f, 0.04534236f, 0.06382532f, -0.05257493f}},
        {"RandomUniform",
         {-0.04381467f, 0.03316691f, 0.04735771f, -0.015524924f, 0.00104065984f, -0.014287759f}},
        {"HeNormal", {1.3166826f, 0.21782973f, -0.1475388f, 1.0309467f, 1.4511927f, -1.1953933f}},
    };
    for (size_t i = 0; i < sizeof recorded_numbers / sizeof recorded_numbers[0]; i++) {
        leat_tensor found;
        const leat_shape shape = LEAT_SHAPE(2, 3);
        const leati_initializer_kind *kind =
            leati_initializer_find(recorded_numbers[i].name, &train_error);
        train_ok(leati_initializer_run(kind, NULL, 5, &shape, &found, &train_error));
        for (int k = 0; k < 6; k++)
            assert_true(fabsf(((const float *)found.data)[k] - recorded_numbers[i].values[k]) <
                        1e-6f);
        leat_tensor_unref(&found);
    }
}

/* tf.random.stateless_uniform([9], seed=[0, 0]), stretched as TensorFlow stretches it:
 * u * (maxval - minval) + minval. */
static void numbers_are_tensorflows(void **state) {
    (void)state;
    const float uniform[9] = {0.21101546f, 0.70601f,   0.8000634f, 0.77079225f, 0.38858867f,
                              0.8703594f,  0.8081875f, 0.1969409f, 0.8492707f};
    float values[9];
    leati_initializer_fill_uniform(0, 0.75, values, 9);
    for (int i = 0; i < 9; i++)
        assert_true(values[i] == uniform[i] * 1.5f + -0.75f);
}

/* With a global seed, layers draw the seeds of their kernels when they are made, as Keras' do after
 * keras.utils.set_random_seed(7): random.seed(7), random.randint(1, 10**9). */
static void layers_draw_pythons_seeds(void **state) {
    (void)state;
    leat_error err = {0};
    const leat_layer_dense_options given = {LEAT_LAYER_DENSE_DEFAULTS, .seed = LEAT_SEED(5)};
    leat_seed_set(7);
    leat_layer *conv = leat_layer_conv2d(2, 3, 3, NULL, &err);
    leat_layer *flatten = leat_layer_flatten(NULL, &err);
    leat_layer *seeded = leat_layer_dense(4, &given, &err);
    leat_layer *dense = leat_layer_dense(4, NULL, &err);
    leat_seed_clear();
    assert_int_equal(conv->seed, 347712783);
    assert_int_equal(seeded->seed, 5);
    assert_int_equal(dense->seed, 161973070);
    leat_layer_free(conv);
    leat_layer_free(flatten);
    leat_layer_free(seeded);
    leat_layer_free(dense);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statistics_are_keras),
        cmocka_unit_test(identities),
        cmocka_unit_test(defaults_are_keras),
        cmocka_unit_test(numbers_are_tensorflows),
        cmocka_unit_test(seeds_give_the_numbers_of_keras),
        cmocka_unit_test(layers_draw_pythons_seeds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
