/* All recorded layers, losses and metrics as parts, in other ways than the suite of recorded cases
 * calls them: of float64, and in functions of which the batch or all sizes are unknown until they
 * run. What comes out is what Keras recorded. */
#include "support/cmocka.h"

#include "support/torture.h"
#include "support/train.h"
#include "train/frame/kind.h"

enum { MOST = 8 };

/* How a case is called. */
enum way { PRECISE = 0, TRACED, SPACELESS, SIZELESS, NUM_WAYS };
static const char *const ways[NUM_WAYS] = {"of float64", "of unknown batch",
                                           "of unknown sizes but the last", "of unknown sizes"};

struct call {
    const char *sort;
    leat_part *part;
    leat_tensor inputs[MOST], weights[MOST]; /* owned */
    int num_inputs, num_weights;
    bool training;
};

/* The one output of a part, or a metric's result after one update. */
static int outputs_of(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    const struct call *call = context;
    leat_value inputs[MOST], weights[MOST], updates[MOST];
    for (int i = 0; i < call->num_inputs; i++)
        inputs[i] = leat_graph_num_arguments(graph) > 0
                        ? leat_graph_argument(graph, i)
                        : leat_graph_tensor(graph, &call->inputs[i]);
    for (int i = 0; i < call->num_weights; i++) {
        weights[i] = leat_graph_tensor(graph, &call->weights[i]);
        updates[i] = (leat_value){.graph = graph, .id = -1};
    }
    if (strcmp(call->sort, "metric") == 0) {
        leat_part_update(call->part, inputs, call->num_inputs, weights, call->num_weights, updates);
        outputs[0] = leat_part_result(call->part, updates, call->num_weights);
    } else {
        outputs[0] = leat_part_call(call->part, inputs, call->num_inputs, weights,
                                    call->num_weights, call->training, updates);
    }
    return 1;
}

/* Floats as float64, others as they are; `tensor` is given, the result owned. */
static leat_tensor precise(leat_tensor tensor) {
    leat_tensor out = tensor;
    if (tensor.dtype != LEAT_FLOAT32)
        return tensor;
    train_ok(leat_tensor_new(LEAT_FLOAT64, leat_tensor_shape(&tensor), &out, &train_error));
    for (int64_t i = 0; i < leat_tensor_count(&tensor); i++)
        ((double *)out.data)[i] = ((const float *)tensor.data)[i];
    leat_tensor_unref(&tensor);
    return out;
}

static leat_tensor number_tensor(const json_t *json, enum way way) {
    return way == PRECISE ? precise(train_tensor(json)) : train_tensor(json);
}

/* Zeros, the recorded weight of that name, or the state of a generator. */
static leat_tensor state_of(const json_t *state, const json_t *c, enum way way) {
    const json_t *recorded =
        json_object_get(json_object_get(c, "weights"), arrays_text(state, "name"));
    if (recorded != NULL)
        return number_tensor(recorded, way);
    leat_tensor out = {0};
    leat_shape shape = {.rank = (int32_t)json_array_size(json_object_get(state, "shape"))};
    for (int32_t d = 0; d < shape.rank; d++)
        shape.dims[d] =
            json_integer_value(json_array_get(json_object_get(state, "shape"), (size_t)d));
    train_ok(leat_tensor_new(leat_dtype_from_name(arrays_text(state, "dtype")), shape, &out,
                             &train_error));
    memset(out.data, 0, leat_tensor_bytes(&out));
    if (json_is_true(json_object_get(state, "is_seed")))
        *(int64_t *)out.data =
            json_integer_value(json_object_get(json_object_get(c, "config"), "seed"));
    return out;
}

static void set_up(struct call *call, const json_t *c, const json_t *inputs, enum way way) {
    leat_error err = {0};
    leat_shape shapes[MOST];
    char *config = json_dumps(json_object_get(c, "config"), 0);
    call->part = leat_part_new(call->sort, arrays_text(c, call->sort), config, &err);
    free(config);
    if (call->part == NULL)
        fail_msg("%s", err.text);
    for (size_t i = 0; i < json_array_size(inputs); i++) {
        if (json_is_null(json_array_get(inputs, i)))
            continue;
        call->inputs[call->num_inputs] = number_tensor(json_array_get(inputs, i), way);
        shapes[call->num_inputs] = leat_tensor_shape(&call->inputs[call->num_inputs]);
        call->num_inputs++;
    }
    /* Weights of an update are the last value; a mean takes one value alone. */
    int values = strcmp(call->sort, "metric") != 0 ? call->num_inputs
                 : strcmp(arrays_text(c, "metric"), "Mean") == 0 ||
                         strcmp(arrays_text(c, "metric"), "Sum") == 0
                     ? 1
                     : 2;
    char *text = leat_part_states_json(call->part, shapes, values, &err);
    if (text == NULL)
        fail_msg("%s", err.text);
    json_t *states = json_loads(text, 0, NULL);
    leat_text_free(text);
    for (size_t i = 0; i < json_array_size(states); i++)
        call->weights[call->num_weights++] = state_of(json_array_get(states, i), c, way);
    json_decref(states);
}

static void tear_down(struct call *call) {
    for (int i = 0; i < call->num_inputs; i++)
        leat_tensor_unref(&call->inputs[i]);
    for (int i = 0; i < call->num_weights; i++)
        leat_tensor_unref(&call->weights[i]);
    leat_part_free(call->part);
}

static leat_status compute(struct call *call, enum way way, leat_tensor *out, leat_error *err) {
    leat_value value;
    if (way == PRECISE) {
        leat_graph *graph = leat_graph_new_eager(err);
        if (graph == NULL)
            return torture_code(err);
        outputs_of(call, graph, &value, 1);
        leat_status status = leat_value_tensor(value, out, err);
        leat_graph_free(graph);
        return status;
    }
    leat_spec *specs[MOST];
    for (int i = 0; i < call->num_inputs; i++) {
        leat_shape shape = leat_tensor_shape(&call->inputs[i]);
        int32_t unknown = way == TRACED ? 1 : way == SPACELESS ? shape.rank - 1 : shape.rank;
        for (int32_t d = 0; d < unknown && d < shape.rank; d++)
            shape.dims[d] = LEAT_UNKNOWN_DIM;
        specs[i] = leat_spec_tensor(call->inputs[i].dtype, shape, err);
    }
    leat_spec *spec = leat_spec_tuple(specs, call->num_inputs, err);
    leat_function *function = LEAT_TRACE(outputs_of, call, spec, err);
    leat_spec_unref(spec);
    if (function == NULL)
        return torture_code(err);
    leat_status status = leat_function_call(function, call->inputs, call->num_inputs, out, 1, err);
    leat_function_unref(function);
    return status;
}

/* Within 1e-5 of the largest recorded magnitude; float64 where that is what was given. */
static const char *differs(const json_t *recorded, const leat_tensor *found, char text[200]) {
    double largest = 0;
    leat_tensor expected = train_tensor(recorded);
    bool alike =
        expected.rank == found->rank && leat_tensor_count(&expected) == leat_tensor_count(found);
    text[0] = '\0';
    if (!alike)
        snprintf(text, 200, "the shape is another one");
    for (int64_t i = 0; alike && i < leat_tensor_count(&expected); i++)
        largest = fmax(largest, fabs(leati_tensor_float_at(&expected, i)));
    for (int64_t i = 0; alike && i < leat_tensor_count(&expected); i++) {
        double want = leati_tensor_float_at(&expected, i), have = leati_tensor_float_at(found, i);
        if (!(fabs(want - have) <= 1e-5 * largest))
            snprintf(text, 200, "value %d is %.9g, recorded %.9g", (int)i, have, want);
    }
    leat_tensor_unref(&expected);
    return text[0] == '\0' ? NULL : text;
}

/* A size that has to be known is asked for. */
static bool asks_for_sizes(const leat_error *err) {
    return err->code == LEAT_INVALID_ARGUMENT && err->reason == LEAT_REASON_SHAPE;
}

/* Those that answer something else than was recorded, as Keras does or as their files say. */
static bool is_known(const char *name, enum way way, const struct call *call) {
    static const struct {
        enum way first, last;
        const char *name;
    } known[] = {
        {PRECISE, PRECISE, "BatchNormalization"}, /* Keras' float32 loses digits of large means */
        {PRECISE, PRECISE, "BinaryCrossentropy"}, /* 1 - 1e-7 is another number */
        {PRECISE, PRECISE, "BinaryFocalCrossentropy"},
        {PRECISE, PRECISE, "UpSampling2D"},     /* tf.image.resize gives float32 */
        {PRECISE, PRECISE, "CategoryEncoding"}, /* zeros and ones */
        {PRECISE, PRECISE, "Discretization"},
        {TRACED, SIZELESS, "CenterCrop"},         /* smaller pictures are padded */
        {TRACED, SIZELESS, "MeanSquaredError"},   /* the mean of no rows */
        {SIZELESS, SIZELESS, "CategoryEncoding"}, /* a last dimension of 1 goes where it is known */
        {SIZELESS, SIZELESS, "SparseCategoricalAccuracy"},
        {SIZELESS, SIZELESS, "SparseCategoricalCrossentropy"},
        {SIZELESS, SIZELESS, "RandomGrayscale"},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (way >= known[i].first && way <= known[i].last && strcmp(known[i].name, name) == 0)
            return true;
    /* Draws of float64 take other bits. */
    return way == PRECISE && call->training && call->num_weights == 1 &&
           call->weights[0].dtype == LEAT_INT64;
}

static void run_case(const char *sort, const json_t *c, const json_t *inputs, const json_t *output,
                     enum way way, int *refused) {
    struct call call = {.sort = sort, .training = arrays_bool(c, "training", false)};
    leat_error err = {0};
    leat_tensor found = {0};
    char text[200];
    set_up(&call, c, inputs, way);
    leat_status status = compute(&call, way, &found, &err);
    const char *name = arrays_text(c, sort);
    const char *what = status == LEAT_OK ? differs(output, &found, text) : NULL;
    if (what == NULL && status == LEAT_OK && way == PRECISE && strcmp(sort, "metric") != 0 &&
        call.inputs[0].dtype == LEAT_FLOAT64 && found.dtype != LEAT_FLOAT64)
        what = "the result is not of float64";
    if (status != LEAT_OK)
        ++*refused;
    if (status != LEAT_OK && (way == PRECISE || !asks_for_sizes(&err)))
        what = err.text;
    if (what != NULL && !is_known(name, way, &call))
        fail_msg("%s %s: %s", name, ways[way], what);
    leat_tensor_unref(&found);
    tear_down(&call);
}

/* A metric's first update and the result, as an array. */
static json_t *result_of(const json_t *c) {
    json_t *result = json_array_get(json_object_get(c, "results"), 0);
    return json_is_array(result)
               ? json_pack("{s:s,s:[i],s:O}", "dtype", "float32", "shape",
                           (int)json_array_size(result), "data", result)
               : json_pack("{s:s,s:[],s:[O]}", "dtype", "float32", "shape", "data", result);
}

/* Metrics that are losses are a binding's. */
static bool in_table(const char *sort, const char *name) {
    size_t count;
    const leati_kind *const *kinds = leati_kinds_metric(&count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(kinds[i]->name, name) == 0)
            return true;
    return strcmp(sort, "metric") != 0;
}

/* New references: what the case is called with, and what comes out. */
static json_t *inputs_of(const json_t *c, const char *sort) {
    if (strcmp(sort, "layer") == 0)
        return json_incref(json_object_get(c, "inputs"));
    if (strcmp(sort, "metric") == 0)
        return json_incref(json_array_get(json_object_get(c, "updates"), 0));
    return json_pack("[O,O,O]", json_object_get(c, "y_true"), json_object_get(c, "y_pred"),
                     json_object_get(c, "sample_weight"));
}

static json_t *output_of(const json_t *c, const char *sort) {
    if (strcmp(sort, "metric") == 0)
        return result_of(c);
    return json_incref(json_object_get(c, strcmp(sort, "layer") == 0 ? "output" : "value"));
}

/* All cases in all ways, of which so many of each way are refused. */
static void run_file(const char *file, const char *sort, const int *refused) {
    json_t *root, *c;
    json_t *cases = train_cases(file, &root);
    size_t index;
    int counts[NUM_WAYS] = {0};
    json_array_foreach(cases, index, c) {
        if (!in_table(sort, arrays_text(c, sort)))
            continue;
        json_t *inputs = inputs_of(c, sort), *output = output_of(c, sort);
        for (enum way way = PRECISE; way < NUM_WAYS; way++)
            run_case(sort, c, inputs, output, way, &counts[way]);
        json_decref(inputs);
        json_decref(output);
    }
    json_decref(root);
    for (int way = 0; way < NUM_WAYS; way++)
        if (counts[way] != refused[way])
            fail_msg("%s: %d are refused %s, expected %d", file, counts[way], ways[way],
                     refused[way]);
}

/* ---- without memory ---- */

static enum way tortured;

static leat_status compute_and_drop(void *context, leat_error *err) {
    leat_tensor found = {0};
    leat_status status = compute(context, tortured, &found, err);
    leat_tensor_unref(&found);
    return status;
}

/* The first case of each kind with some of its allocations failing, the first ones and the last
 * among them. */
static void torture_file(const char *file, const char *sort) {
    enum { ROUNDS = 40 };
    json_t *root, *c;
    json_t *cases = train_cases(file, &root);
    size_t index;
    const char *before = "";
    json_array_foreach(cases, index, c) {
        struct call call = {.sort = sort, .training = arrays_bool(c, "training", false)};
        leat_error err = {0};
        if (strcmp(before, arrays_text(c, sort)) == 0 || !in_table(sort, arrays_text(c, sort)))
            continue;
        before = arrays_text(c, sort);
        json_t *inputs = inputs_of(c, sort);
        set_up(&call, c, inputs, TRACED);
        for (tortured = PRECISE; tortured <= TRACED; tortured++) {
            torture_fail_at(0);
            (void)compute_and_drop(&call, &err); /* what is made once is there */
            torture_fail_at(0);
            (void)compute_and_drop(&call, &err);
            long count = torture_count();
            for (long i = 0; i < ROUNDS && err.code == LEAT_OK; i++)
                torture_round(compute_and_drop, &call, 1 + (count - 1) * i / (ROUNDS - 1), true);
        }
        json_decref(inputs);
        tear_down(&call);
    }
    json_decref(root);
}

static void failed_allocations_are_survived(void **state) {
    (void)state;
    torture_begin();
    torture_file("layers.json", "layer");
    torture_file("more_layers.json", "layer");
    torture_file("further_layers.json", "layer");
    torture_file("picture_layers.json", "layer");
    torture_file("losses.json", "loss");
    torture_file("more_losses.json", "loss");
    torture_file("more_metrics.json", "metric");
    torture_end();
}

static void layers_are_keras(void **state) {
    (void)state;
    run_file("layers.json", "layer", (int[]){0, 0, 3, 55});
    run_file("more_layers.json", "layer", (int[]){0, 0, 26, 51});
    run_file("further_layers.json", "layer", (int[]){0, 0, 40, 49});
    run_file("picture_layers.json", "layer", (int[]){0, 4, 27, 43});
}

static void losses_are_keras(void **state) {
    (void)state;
    run_file("losses.json", "loss", (int[]){0, 0, 0, 9});
    run_file("more_losses.json", "loss", (int[]){0, 0, 8, 21});
}

static void metrics_are_keras(void **state) {
    (void)state;
    run_file("metrics.json", "metric", (int[]){0, 0, 0, 7});
    run_file("more_metrics.json", "metric", (int[]){0, 0, 0, 44});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_are_keras),
        cmocka_unit_test(losses_are_keras),
        cmocka_unit_test(metrics_are_keras),
        cmocka_unit_test(failed_allocations_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
