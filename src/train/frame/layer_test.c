/* Layers against values recorded from Keras (tests/golden/data/nn/layers.json), and what they
 * answer to wrong arguments and shapes. */
#include "support/cmocka.h"

#include "core/json.h"
#include "support/refused.h"
#include "support/torture.h"
#include "support/train.h"
#include "train/frame/layer.h"

/* Layers of one input with constructors of their own; tests/golden/nn.c runs all of them. */
static bool has_constructor(const char *name) {
    static const char *const names[] = {"Conv2D", "MaxPooling2D", "Dense", "Flatten"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* Builds the layer and gives its weights the recorded values. */
static void set_weights(leat_layer *layer, const leat_shape *input, const json_t *weights) {
    const char *name;
    json_t *value;
    train_ok(leati_layer_build(layer, input, NULL, &train_error));
    assert_int_equal(layer->num_weights, json_object_size(weights));
    json_object_foreach((json_t *)(uintptr_t)weights, name, value) {
        leat_tensor tensor = train_tensor(value);
        leat_variable *weight = leati_layer_weight(layer, name);
        assert_non_null(weight);
        train_ok(leat_variable_assign(weight, &tensor, &train_error));
        leat_tensor_unref(&tensor);
    }
}

static void check_weight_gradients(leat_layer *layer, leat_value loss, const json_t *recorded) {
    leat_value gradients[LEATI_MAX_WEIGHTS];
    const char *name;
    json_t *value;
    leat_variable_gradients(loss, layer->weights, layer->num_weights, gradients);
    json_object_foreach((json_t *)(uintptr_t)recorded, name, value) {
        leat_tensor expected = train_tensor(value);
        for (int i = 0; i < layer->num_weights; i++)
            if (layer->weights[i] == leati_layer_weight(layer, name))
                train_value_close(name, &expected, gradients[i], 1e-5);
        leat_tensor_unref(&expected);
    }
}

/* One number for both directions, or one for each; where there is none, what was there. */
static void pair_of(const json_t *config, const char *name, int64_t out[2]) {
    const json_t *value = json_object_get(config, name);
    for (size_t i = 0; i < 2 && value != NULL; i++)
        out[i] = json_integer_value(json_is_array(value) ? json_array_get(value, i) : value);
}

/* The same layer by its constructor in C. */
static leat_layer *constructed(const char *name, const json_t *config, leat_error *err) {
    const char *activation = json_string_value(json_object_get(config, "activation"));
    const char *padding = json_string_value(json_object_get(config, "padding"));
    leat_layer_conv2d_options conv = {
        LEAT_LAYER_CONV2D_DEFAULTS,
        .padding = padding != NULL && strcmp(padding, "same") == 0 ? LEAT_SAME : LEAT_VALID,
        .activation = activation == NULL                   ? LEAT_LINEAR
                      : strcmp(activation, "softmax") == 0 ? LEAT_SOFTMAX
                                                           : LEAT_RELU,
        .use_bias = !json_is_false(json_object_get(config, "use_bias"))};
    leat_layer_max_pooling2d_options pool = {LEAT_LAYER_MAX_POOLING2D_DEFAULTS,
                                             .padding = conv.padding};
    const leat_layer_dense_options flat = {LEAT_LAYER_DENSE_DEFAULTS, .activation = conv.activation,
                                           .use_bias = conv.use_bias};
    if (json_object_get(config, "groups") != NULL)
        conv.groups = json_integer_value(json_object_get(config, "groups"));
    int64_t size[2] = {0};
    pair_of(config, "strides", conv.strides);
    pair_of(config, "strides", pool.strides);
    pair_of(config, "dilation_rate", conv.dilation_rate);
    pair_of(config, "pool_size", pool.pool_size);
    pair_of(config, "kernel_size", size);
    if (strcmp(name, "Conv2D") == 0)
        return leat_layer_conv2d(json_integer_value(json_object_get(config, "filters")), size[0],
                                 size[1], &conv, err);
    if (strcmp(name, "MaxPooling2D") == 0)
        return leat_layer_max_pooling2d(&pool, err);
    return leat_layer_dense(json_integer_value(json_object_get(config, "units")), &flat, err);
}

static void run_case(const json_t *c, bool by_name) {
    leat_error err = {0};
    const json_t *input = json_array_get(json_object_get(c, "inputs"), 0);
    const char *name = arrays_text(c, "layer");
    const json_t *config = json_object_get(c, "config");
    leat_layer *layer = by_name || strcmp(name, "Flatten") == 0
                            ? leati_layer_from_json(name, config, &err)
                            : constructed(name, config, &err);
    if (layer == NULL)
        fail_msg("%s", err.text);
    leat_graph *graph = leat_graph_new_eager(&err);
    leat_tensor in = train_tensor(input), out = train_tensor(json_object_get(c, "output"));
    leat_shape shape = leat_tensor_shape(&in);
    set_weights(layer, &shape, json_object_get(c, "weights"));
    leat_value x = leat_graph_tensor(graph, &in);
    leat_value y = leati_layer_call(layer, &x, 1, arrays_bool(c, "training", false), NULL);
    train_value_close("output", &out, y, 1e-5);
    leat_value upstream = train_eager_value(graph, json_object_get(c, "upstream"));
    leat_value loss = leat_op_reduce_sum(leat_op_multiply(y, upstream), NULL, 0, false), gradient;
    leat_value_gradients(loss, &x, 1, &gradient);
    leat_tensor expected = train_tensor(json_array_get(json_object_get(c, "input_grads"), 0));
    train_value_close("input gradient", &expected, gradient, 1e-5);
    check_weight_gradients(layer, loss, json_object_get(c, "weight_grads"));
    leat_tensor_unref(&expected);
    leat_tensor_unref(&in);
    leat_tensor_unref(&out);
    leat_graph_free(graph);
    leat_layer_free(layer);
}

static void layers_are_keras(void **state) {
    (void)state;
    json_t *root;
    json_t *cases = train_cases("layers.json", &root);
    size_t index;
    json_t *c;
    int ran = 0;
    json_array_foreach(cases, index, c) {
        if (!has_constructor(arrays_text(c, "layer")))
            continue;
        print_message("case %d: %s\n", (int)index, arrays_text(c, "layer"));
        run_case(c, true);
        run_case(c, false);
        ran++;
    }
    json_decref(root);
    assert_int_equal(ran, 43); /* Conv2D 27, MaxPooling2D 9, Dense 5, Flatten 2 */
}

static void refuses(const char *keyword, leat_layer *layer, const leat_error *err) {
    assert_null(layer);
    assert_refused(err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, keyword);
}

static void wrong_arguments_are_named(void **state) {
    (void)state;
    leat_error err = {0};
    refuses("filters", leat_layer_conv2d(0, 3, 3, NULL, &err), &err);
    err = (leat_error){0};
    refuses("kernel_size", leat_layer_conv2d(2, -3, 3, NULL, &err), &err);
    err = (leat_error){0};
    const leat_layer_conv2d_options groups = {LEAT_LAYER_CONV2D_DEFAULTS, .groups = 3};
    refuses("3", leat_layer_conv2d(4, 1, 1, &groups, &err), &err);
    err = (leat_error){0};
    const leat_layer_conv2d_options activation = {LEAT_LAYER_CONV2D_DEFAULTS,
                                                  .activation = (leat_activation)99};
    refuses("activation", leat_layer_conv2d(4, 1, 1, &activation, &err), &err);
    err = (leat_error){0};
    const leat_layer_max_pooling2d_options padding = {LEAT_LAYER_MAX_POOLING2D_DEFAULTS,
                                                      .padding = (leat_padding)7};
    refuses("padding", leat_layer_max_pooling2d(&padding, &err), &err);
    err = (leat_error){0};
    refuses("units", leat_layer_dense(-1, NULL, &err), &err);
    err = (leat_error){0};
    assert_null(leati_layer_from_json("Convolution", NULL, &err));
    assert_refused(&err, LEAT_NOT_FOUND, LEAT_REASON_NONE, "\"Convolution\"");
    err = (leat_error){0};
    json_t *config = json_pack("{s:i, s:[i], s:[i,i], s:[i]}", "filters", 1, "kernel_size", 2,
                               "strides", 3, 2, "output_padding", 2);
    refuses("output_padding", leati_layer_from_json("Conv2DTranspose", config, &err), &err);
    json_decref(config);
    leat_layer_free(NULL);
}

static leat_value argument_of(leat_graph **graph, leat_shape shape) {
    leat_spec *spec = leat_spec_tensor(LEAT_FLOAT32, shape, NULL);
    *graph = leat_graph_new(spec, NULL);
    leat_spec_unref(spec);
    return leat_graph_argument(*graph, 0);
}

static void fails_with(leat_graph *graph, const char *keyword) {
    leat_error err = {0};
    assert_null(leat_graph_finish(graph, NULL, 0, NULL, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_SHAPE, keyword);
}

static void wrong_shapes_are_named(void **state) {
    (void)state;
    leat_error err = {0};
    leat_graph *graph;
    leat_layer *conv = leat_layer_conv2d(2, 3, 3, NULL, &err);
    leat_value x = argument_of(&graph, LEAT_SHAPE(-1, 8));
    assert_true(leati_layer_call(conv, &x, 1, false, NULL).id < 0);
    fails_with(graph, "\"conv2d\"");
    x = argument_of(&graph, LEAT_SHAPE(-1, 2, 2, 1));
    assert_true(leati_layer_call(conv, &x, 1, false, NULL).id < 0);
    fails_with(graph, "[?, 2, 2, 1]");
    x = argument_of(&graph, LEAT_SHAPE(-1, 5, 5, 3));
    assert_true(leati_layer_call(conv, &x, 1, false, NULL).id < 0);
    fails_with(graph, "[?, 5, 5, 3]");
    leat_layer_free(conv);
}

/* Pictures of unknown size pass a convolution; an empty batch passes Flatten. */
static void sizes_may_be_unknown(void **state) {
    (void)state;
    leat_error err = {0};
    leat_graph *graph;
    leat_layer *conv = leat_layer_conv2d(2, 3, 3, NULL, &err);
    leat_value x = argument_of(&graph, LEAT_SHAPE(-1, -1, -1, 3));
    leat_value y = leati_layer_call(conv, &x, 1, false, NULL);
    leat_shape shape = leat_value_shape(y);
    assert_int_equal(shape.rank, 4);
    assert_int_equal(shape.dims[1], -1);
    assert_int_equal(shape.dims[3], 2);
    leat_graph_free(graph);
    leat_layer_free(conv);

    json_t *config =
        json_pack("{s:i, s:[i], s:[i,i]}", "filters", 4, "kernel_size", 3, "strides", 2, 1);
    leat_layer *back = leati_layer_from_json("Conv2DTranspose", config, &err);
    x = argument_of(&graph, LEAT_SHAPE(-1, -1, 5, 3));
    shape = leat_value_shape(leati_layer_call(back, &x, 1, false, NULL));
    assert_int_equal(shape.rank, 4);
    assert_int_equal(shape.dims[1], -1);
    assert_int_equal(shape.dims[2], 7);
    assert_int_equal(shape.dims[3], 4);
    leat_graph_free(graph);
    leat_layer_free(back);
    json_decref(config);

    leat_layer *flatten = leat_layer_flatten(NULL, &err);
    leat_tensor empty, found;
    train_ok(leat_tensor_new(LEAT_FLOAT32, LEAT_SHAPE(0, 2, 3), &empty, &train_error));
    graph = leat_graph_new_eager(&err);
    x = leat_graph_tensor(graph, &empty);
    y = leati_layer_call(flatten, &x, 1, false, NULL);
    train_ok(leat_value_tensor(y, &found, &train_error));
    assert_int_equal(found.rank, 2);
    assert_int_equal(found.dims[0], 0);
    assert_int_equal(found.dims[1], 6);
    leat_tensor_unref(&found);
    leat_tensor_unref(&empty);
    leat_graph_free(graph);
    leat_layer_free(flatten);
}

static leat_status make_and_build(void *context, leat_error *err) {
    (void)context;
    const leat_layer_conv2d_options options = {LEAT_LAYER_CONV2D_DEFAULTS, .name = "first",
                                               .seed = LEAT_SEED(3)};
    leat_layer *layer = leat_layer_conv2d(2, 3, 3, &options, err);
    if (layer == NULL)
        return torture_code(err);
    leat_shape input = LEAT_SHAPE(-1, 5, 5, 1);
    leat_status status = leati_layer_build(layer, &input, NULL, err);
    leat_layer_free(layer);
    return status;
}

/* What options say beyond the rows' defaults: nothing but lists and the activation, whose rows have
 * none. */
static void defaults_are_those_of_rows(void **state) {
    (void)state;
    leat_error err = {0};
    const struct {
        leat_layer *layer;
        const char *json;
    } cases[] = {
        {leat_layer_dense(3, &(leat_layer_dense_options){LEAT_LAYER_DENSE_DEFAULTS}, &err),
         "{\"activation\": \"linear\", \"units\": 3}"},
        {leat_layer_conv2d(4, 3, 3, &(leat_layer_conv2d_options){LEAT_LAYER_CONV2D_DEFAULTS}, &err),
         "{\"activation\": \"linear\", \"dilation_rate\": [1, 1], \"filters\": 4, "
         "\"kernel_size\": [3, 3], \"strides\": [1, 1]}"},
        {leat_layer_max_pooling2d(
             &(leat_layer_max_pooling2d_options){LEAT_LAYER_MAX_POOLING2D_DEFAULTS}, &err),
         "{\"pool_size\": [2, 2], \"strides\": [2, 2]}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        leat_layer *layer = cases[i].layer;
        assert_non_null(layer);
        json_t *json = leati_json_of_rows(layer->kind->kind.rows, layer->args, false, NULL, &err);
        char *text = json_dumps(json, JSON_SORT_KEYS);
        assert_string_equal(text, cases[i].json);
        free(text);
        json_decref(json);
        leat_layer_free(layer);
    }
    assert_null(leat_layer_dense(3, &(leat_layer_dense_options){.size = 0}, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "leat_layer_dense_options.size");
}

static void survives_failed_allocations(void **state) {
    (void)state;
    torture_begin();
    torture_run(make_and_build, NULL);
    torture_end();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_are_keras),           cmocka_unit_test(wrong_arguments_are_named),
        cmocka_unit_test(wrong_shapes_are_named),     cmocka_unit_test(sizes_may_be_unknown),
        cmocka_unit_test(defaults_are_those_of_rows), cmocka_unit_test(survives_failed_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
