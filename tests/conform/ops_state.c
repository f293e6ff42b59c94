/* Operations whose cases need more than values: those that update variables, those in which
 * replicas meet, those that draw random numbers, and the one that reads files.
 *
 * apply_gradient_descent, apply_keras_momentum and apply_adam take the recorded steps of Keras'
 * optimizers. all_reduce, collective_broadcast and replica_id run with a collective made here,
 * which counts its calls and stands for two replicas of equal values. */
#include "support/cmocka.h"

#include "base/random.h"
#include "coll/coll.h"
#include "conform.h"
#include "core/spec.h"
#include "graph/interpret.h"

#include "support/arrays.h"
#include "support/graph.h"
#include "support/refused.h"
#include "support/torture.h"

#define RECORDED LEATI_SOURCE_DIR "/tests/golden/data"

/* ---- optimizers ---- */

typedef struct optimizer {
    const char *name;
    double rate, momentum, beta_1, beta_2, epsilon;
    bool nesterov;
} optimizer;

/* Reads a configuration of which nothing is unknown here; false for others. */
static bool read_optimizer(const json_t *line, optimizer *out) {
    static const char *const known[] = {"learning_rate", "momentum", "nesterov",
                                        "beta_1",        "beta_2",   "epsilon"};
    const json_t *given = json_object_get(line, "config"),
                 *all = json_object_get(line, "full_config");
    size_t found = 0;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        found += json_object_get(given, known[i]) != NULL;
    out->name = arrays_text(line, "optimizer");
    if (found != json_object_size(given) ||
        !json_is_number(json_object_get(all, "learning_rate")) ||
        (strcmp(out->name, "SGD") != 0 && strcmp(out->name, "Adam") != 0))
        return false;
    out->rate = json_number_value(json_object_get(all, "learning_rate"));
    out->momentum = json_number_value(json_object_get(all, "momentum"));
    out->beta_1 = json_number_value(json_object_get(all, "beta_1"));
    out->beta_2 = json_number_value(json_object_get(all, "beta_2"));
    out->epsilon = json_number_value(json_object_get(all, "epsilon"));
    out->nesterov = json_is_true(json_object_get(all, "nesterov"));
    return true;
}

static leat_tensor tensor_of(const json_t *json) {
    arrays_array array = arrays_read(RECORDED "/nn", json);
    leat_shape shape = {.rank = array.rank};
    memcpy(shape.dims, array.shape, sizeof array.shape);
    leat_tensor tensor = test_tensor(leat_dtype_from_name(array.dtype), shape, array.data);
    arrays_free(&array);
    return tensor;
}

static leat_variable *variable_like(const leat_tensor *like, bool zeros) {
    leat_error err = {0};
    leat_tensor initial;
    assert_int_equal(
        leat_tensor_copy_of(like->dtype, leat_tensor_shape(like), like->data, &initial, &err),
        LEAT_OK);
    if (zeros)
        memset(initial.data, 0, leat_tensor_bytes(&initial));
    leat_variable *variable = leat_variable_new(&initial, NULL, &err);
    assert_non_null(variable);
    leat_tensor_unref(&initial);
    return variable;
}

/* One variable with its slots and the function that updates it: (gradient, rate, step) -> rate. */
typedef struct trained {
    leat_variable *variable, *slots[2];
    leat_function *update;
} trained;

static leat_function *update_function(const trained *t, const optimizer *o, leat_error *err) {
    leat_dtype dtype = leat_variable_dtype(t->variable);
    leat_spec *parts[] = {leat_spec_tensor(dtype, leat_variable_shape(t->variable), err),
                          leat_spec_tensor(dtype, LEAT_SCALAR, err),
                          leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, err)};
    leat_spec *spec = leat_spec_tuple(parts, 3, err);
    leat_graph *graph = leat_graph_new(spec, err);
    leat_spec_unref(spec);
    assert_non_null(graph);
    leat_value gradient = leat_graph_argument(graph, 0), rate = leat_graph_argument(graph, 1);
    if (strcmp(o->name, "Adam") == 0)
        leat_op_apply_adam(t->variable, t->slots[0], t->slots[1], gradient, rate,
                           leat_graph_argument(graph, 2), o->beta_1, o->beta_2, o->epsilon);
    else if (o->momentum != 0)
        leat_op_apply_keras_momentum(t->variable, t->slots[0], gradient, rate, o->momentum,
                                     o->nesterov);
    else
        leat_op_apply_gradient_descent(t->variable, gradient, rate);
    return leat_graph_finish(graph, &rate, 1, NULL, err);
}

static void trained_init(trained *t, const optimizer *o, const leat_tensor *initial) {
    leat_error err = {0};
    t->variable = variable_like(initial, false);
    t->slots[0] = variable_like(initial, true);
    t->slots[1] = variable_like(initial, true);
    t->update = update_function(t, o, &err);
    if (t->update == NULL)
        fail_msg("%s: %s", o->name, err.text);
}

static void trained_fini(trained *t) {
    leat_function_unref(t->update);
    leat_variable_unref(t->variable);
    leat_variable_unref(t->slots[0]);
    leat_variable_unref(t->slots[1]);
}

static leat_status run_step(const trained *t, const optimizer *o, const leat_tensor *gradient,
                            int64_t step, leat_error *err) {
    leat_tensor inputs[] = {*gradient,
                            gradient->dtype == LEAT_FLOAT32 ? leat_scalar_float32((float)o->rate)
                                                            : leat_scalar_float64(o->rate),
                            leat_scalar_int64(step)};
    leat_tensor output = {0};
    leat_status status = leati_interpret(t->update, inputs, NULL, &output, err);
    if (status == LEAT_OK)
        leat_tensor_unref(&output);
    leat_tensor_unref(&inputs[1]);
    leat_tensor_unref(&inputs[2]);
    return status;
}

static void expect_variable(const char *what, int64_t step, const leat_variable *variable,
                            const json_t *json) {
    leat_error err = {0};
    leat_tensor found, expected = tensor_of(json);
    assert_int_equal(leat_variable_read((leat_variable *)(uintptr_t)variable, &found, &err),
                     LEAT_OK);
    for (int64_t i = 0; i < leat_tensor_count(&expected); i++) {
        double a = (double)((const float *)expected.data)[i];
        double b = (double)((const float *)found.data)[i];
        if (fabs(a - b) > 1e-6 * (1 + fabs(a)))
            fail_msg("%s, step %d, value %d is %.9g; expected %.9g", what, (int)step, (int)i, b, a);
    }
    leat_tensor_unref(&found);
    leat_tensor_unref(&expected);
}

static void run_optimizer(const json_t *line, const optimizer *o) {
    const json_t *variables = json_object_get(line, "variables");
    const json_t *grads = json_object_get(line, "grads");
    const json_t *after = json_object_get(line, "after_each_step");
    for (size_t v = 0; v < json_array_size(variables); v++) {
        leat_tensor initial = tensor_of(json_array_get(variables, v));
        trained t;
        trained_init(&t, o, &initial);
        for (size_t s = 0; s < json_array_size(grads); s++) {
            leat_error err = {0};
            leat_tensor gradient = tensor_of(json_array_get(json_array_get(grads, s), v));
            if (run_step(&t, o, &gradient, (int64_t)s + 1, &err) != LEAT_OK)
                fail_msg("%s: %s", o->name, err.text);
            leat_tensor_unref(&gradient);
            expect_variable(o->name, (int64_t)s + 1, t.variable,
                            json_array_get(json_array_get(after, s), v));
        }
        trained_fini(&t);
        leat_tensor_unref(&initial);
    }
}

static void test_optimizers(void **state) {
    (void)state;
    json_t *file = arrays_read_json(RECORDED "/nn", "optimizers.json");
    const json_t *lines = json_object_get(file, "cases");
    int ran = 0;
    for (size_t i = 0; i < json_array_size(lines); i++) {
        optimizer o;
        if (!read_optimizer(json_array_get(lines, i), &o))
            continue;
        run_optimizer(json_array_get(lines, i), &o);
        ran++;
    }
    assert_true(ran >= 7);
    json_decref(file);
}

/* In float64 a step of each is the formula to the last digits. */
static void test_optimizers_float64(void **state) {
    (void)state;
    leat_tensor initial = TEST_TENSOR(LEAT_FLOAT64, LEAT_SHAPE(2), double, 1, -2);
    leat_tensor gradient = TEST_TENSOR(LEAT_FLOAT64, LEAT_SHAPE(2), double, 0.5, 4);
    const optimizer optimizers[] = {
        {.name = "SGD", .rate = 0.1},
        {.name = "SGD", .rate = 0.1, .momentum = 0.9, .nesterov = true},
        {.name = "Adam", .rate = 0.1, .beta_1 = 0.9, .beta_2 = 0.99, .epsilon = 1e-7}};
    for (int k = 0; k < 3; k++) {
        const optimizer *o = &optimizers[k];
        leat_error err = {0};
        leat_tensor found;
        trained t;
        trained_init(&t, o, &initial);
        assert_int_equal(run_step(&t, o, &gradient, 1, &err), LEAT_OK);
        assert_int_equal(leat_variable_read(t.variable, &found, &err), LEAT_OK);
        for (int i = 0; i < 2; i++) {
            double g = ((const double *)gradient.data)[i], w = ((const double *)initial.data)[i];
            double m = g * (1 - o->beta_1), v = g * g * (1 - o->beta_2);
            double alpha = o->rate * sqrt(1 - o->beta_2) / (1 - o->beta_1);
            const double expected[] = {w - 0.1 * g, w + 0.9 * (-0.1 * g) - 0.1 * g,
                                       w - m * alpha / (sqrt(v) + o->epsilon)};
            assert_true(fabs(((const double *)found.data)[i] - expected[k]) < 1e-12);
        }
        leat_tensor_unref(&found);
        trained_fini(&t);
    }
    leat_tensor_unref(&initial);
    leat_tensor_unref(&gradient);
}

static void expect_text(const leat_error *err, leat_status code, leat_reason reason,
                        const char *keyword) {
    assert_refused(err, code, reason, keyword);
}

static void test_optimizer_failures(void **state) {
    (void)state;
    leat_tensor two = TEST_TENSOR(LEAT_FLOAT32, LEAT_SHAPE(2), float, 1, 2);
    leat_tensor three = TEST_TENSOR(LEAT_FLOAT32, LEAT_SHAPE(3), float, 1, 2, 3);
    leat_error err = {0};
    const optimizer adam = {.name = "Adam", .rate = 0.1, .beta_1 = 0.9, .beta_2 = 0.9};
    trained t = {.variable = variable_like(&two, false),
                 .slots = {variable_like(&two, true), variable_like(&three, true)}};
    assert_null(update_function(&t, &adam, &err));
    expect_text(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_SHAPE, "apply_adam");
    trained_fini(&t);
    trained_init(&t, &adam, &two);
    err = (leat_error){0};
    assert_int_equal(run_step(&t, &adam, &two, 0, &err), LEAT_INVALID_ARGUMENT);
    expect_text(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "0");
    err = (leat_error){0};
    assert_int_equal(run_step(&t, &adam, &three, 1, &err), LEAT_INVALID_ARGUMENT);
    t.variable = (leat_variable_unref(t.variable), NULL);
    leat_function_unref(t.update);
    leat_graph *graph = leat_graph_new_eager(&err);
    leat_op_apply_gradient_descent(NULL, leat_graph_tensor(graph, &two),
                                   leat_graph_tensor(graph, &two));
    err = (leat_error){0};
    assert_null(leat_graph_finish(graph, NULL, 0, NULL, &err));
    expect_text(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "variable");
    t.update = NULL;
    trained_fini(&t);
    leat_tensor_unref(&two);
    leat_tensor_unref(&three);
}

/* ---- replicas ---- */

/* Two replicas of equal values. */
typedef struct twins {
    leati_collective collective;
    int calls;
    int64_t count;
    int rank, root;
    bool fails;
} twins;

static leat_status twins_all_reduce(leati_collective *collective, int rank, void *data,
                                    int64_t count, leat_dtype dtype, leati_reduction reduction,
                                    leat_error *err) {
    twins *t = (twins *)(void *)collective;
    t->calls++;
    t->count = count;
    t->rank = rank;
    assert_int_equal(dtype, LEAT_FLOAT32);
    for (int64_t i = 0; i < count && reduction == LEATI_REDUCTION_SUM; i++)
        ((float *)data)[i] *= 2;
    return t->fails ? leati_fail(err, LEAT_ABORTED, "replica 1 is gone") : LEAT_OK;
}

static leat_status twins_broadcast(leati_collective *collective, int rank, int root, void *data,
                                   int64_t count, leat_dtype dtype, leat_error *err) {
    twins *t = (twins *)(void *)collective;
    t->calls++;
    t->count = count;
    t->rank = rank;
    t->root = root;
    (void)data;
    (void)dtype;
    (void)err;
    return LEAT_OK;
}

static const leati_collective_ops twins_ops = {
    .name = "twins", .all_reduce = twins_all_reduce, .broadcast = twins_broadcast};

/* (float32 [2], float32 [3]) -> both reduced, the first broadcast, and the replica's number. */
static leat_function *exchange_function(leat_aggregation aggregation, leat_error *err) {
    leat_spec *parts[] = {leat_spec_tensor(LEAT_FLOAT32, LEAT_SHAPE(2), err),
                          leat_spec_tensor(LEAT_FLOAT32, LEAT_SHAPE(3), err)};
    leat_spec *spec = leat_spec_tuple(parts, 2, err);
    if (spec == NULL)
        return NULL;
    leat_graph *graph = leat_graph_new(spec, err);
    leat_spec_unref(spec);
    if (graph == NULL)
        return NULL;
    leat_value values[] = {leat_graph_argument(graph, 0), leat_graph_argument(graph, 1)};
    leat_value outputs[4] = {values[0], values[1], values[0], values[0]};
    leat_op_all_reduce(values, 2, aggregation, outputs);
    leat_graph_call(graph, "collective_broadcast", "{\"root\": 1}", values, 1, &outputs[2], 1);
    leat_graph_call(graph, "replica_id", NULL, NULL, 0, &outputs[3], 1);
    return leat_graph_finish(graph, outputs, 4, NULL, err);
}

static leat_status exchange(leat_aggregation aggregation, twins *t, int32_t replica,
                            leat_tensor *outputs, leat_error *err) {
    static const float two[] = {1, 2}, three[] = {3, 4, 5};
    leat_tensor inputs[] = {leat_tensor_view(LEAT_FLOAT32, LEAT_SHAPE(2), two),
                            leat_tensor_view(LEAT_FLOAT32, LEAT_SHAPE(3), three)};
    leati_call_context context = {.num_replicas = t == NULL ? 1 : 2, .replica = replica};
    context.collective = t == NULL ? NULL : &t->collective;
    leat_function *function = exchange_function(aggregation, err);
    leat_status status = function == NULL
                             ? torture_code(err)
                             : leati_interpret(function, inputs, &context, outputs, err);
    leat_function_unref(function);
    return status;
}

static void test_replicas(void **state) {
    (void)state;
    const leat_aggregation ways[] = {LEAT_AGGREGATION_SUM, LEAT_AGGREGATION_MEAN,
                                     LEAT_AGGREGATION_SUM};
    const float factors[] = {2, 1, 1}; /* the third without a collective */
    for (int k = 0; k < 3; k++) {
        twins t = {.collective = {.ops = &twins_ops, .num_ranks = 2}};
        leat_error err = {0};
        leat_tensor outputs[4];
        if (exchange(ways[k], k == 2 ? NULL : &t, k == 2 ? 0 : 1, outputs, &err) != LEAT_OK)
            fail_msg("%s", err.text);
        for (int i = 0; i < 5; i++) {
            const float *values = i < 2 ? outputs[0].data : outputs[1].data;
            assert_true(values[i < 2 ? i : i - 2] == factors[k] * (float)(i + 1));
        }
        assert_true(((const float *)outputs[2].data)[1] == 2);
        assert_int_equal(*(const int32_t *)outputs[3].data, k == 2 ? 0 : 1);
        if (k < 2) { /* one exchange for both values, then the broadcast */
            assert_int_equal(t.calls, 2);
            assert_int_equal(t.count, 2);
            assert_int_equal(t.rank, 1);
            assert_int_equal(t.root, 1);
        }
        for (int i = 0; i < 4; i++)
            leat_tensor_unref(&outputs[i]);
    }
}

static void test_replica_failures(void **state) {
    (void)state;
    twins t = {.collective = {.ops = &twins_ops, .num_ranks = 2}, .fails = true};
    leat_error err = {0};
    leat_tensor outputs[4];
    assert_int_equal(exchange(LEAT_AGGREGATION_SUM, &t, 0, outputs, &err), LEAT_ABORTED);
    expect_text(&err, LEAT_ABORTED, LEAT_REASON_NONE, "1");
    err = (leat_error){0};
    assert_int_equal(exchange(LEAT_AGGREGATION_NONE, &t, 0, outputs, &err), LEAT_INVALID_ARGUMENT);
    expect_text(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "SUM");
    leat_tensor number = TEST_TENSOR(LEAT_FLOAT32, LEAT_SCALAR, float, 1);
    leat_graph *graph = leat_graph_new_eager(&err);
    leat_value value = leat_graph_tensor(graph, &number), reduced;
    leat_op_all_reduce(&value, 1, LEAT_AGGREGATION_SUM, &reduced);
    assert_true(reduced.id < 0);
    leat_graph_free(graph);
    leat_tensor_unref(&number);
}

static leat_status exchange_once(void *context, leat_error *err) {
    leat_tensor outputs[4];
    (void)context;
    leat_status status = exchange(LEAT_AGGREGATION_SUM, NULL, 0, outputs, err);
    for (int i = 0; i < 4 && status == LEAT_OK; i++)
        leat_tensor_unref(&outputs[i]);
    return status;
}

/* ---- random numbers ---- */

enum { DRAWS = 6 };

static leat_status draw(const leat_function *function, const leati_call_context *context,
                        float *numbers) {
    leat_error err = {0};
    leat_tensor out;
    leat_status status = leati_interpret(function, NULL, context, &out, &err);
    if (status != LEAT_OK)
        fail_msg("%s", err.text);
    memcpy(numbers, out.data, DRAWS * sizeof(float));
    leat_tensor_unref(&out);
    return status;
}

/* `nodes` draws in one graph; the function gives the last. */
static leat_function *random_function(int nodes, const leat_op_random_uniform_options *options) {
    leat_error err = {0};
    leat_graph *graph = leat_graph_new(NULL, &err);
    leat_value value = {.graph = graph, .id = -1};
    for (int i = 0; i < nodes; i++)
        value = leat_op_random_uniform(graph, LEAT_SHAPE(DRAWS), options);
    leat_function *function = leat_graph_finish(graph, &value, 1, NULL, &err);
    if (function == NULL)
        fail_msg("%s", err.text);
    return function;
}

/* TensorFlow's stream: call i of `count` numbers starts i * count * 256 blocks on. */
static void expect_stream(const float *numbers, uint64_t seed, uint64_t seed2, uint64_t call) {
    leati_philox philox = leati_philox_new(seed, seed2);
    leati_philox_skip(&philox, call * DRAWS * 256);
    uint32_t words[8];
    leati_philox_next(&philox, words);
    leati_philox_next(&philox, words + 4);
    for (int i = 0; i < DRAWS; i++)
        assert_true(numbers[i] == leati_uniform_float(words[i]));
}

static void test_random_stream(void **state) {
    (void)state;
    const leat_op_random_uniform_options seven = {LEAT_OP_RANDOM_UNIFORM_DEFAULTS,
                                                  .seed = &(int64_t){7}};
    float numbers[DRAWS], others[DRAWS];
    leat_function *function = random_function(1, &seven);
    for (int64_t call = 0; call < 4; call++) {
        leati_call_context context = {.num_replicas = 1, .ordinal = call};
        draw(function, &context, numbers);
        expect_stream(numbers, 87654321, 7, (uint64_t)call);
        context = (leati_call_context){.num_replicas = 1, .step = call};
        draw(function, &context, others);
        assert_memory_equal(numbers, others, sizeof numbers);
    }
    leati_call_context nested = {.num_replicas = 1, .ordinal = 3, .scope = 5};
    draw(function, &nested, others);
    assert_memory_not_equal(numbers, others, sizeof numbers);
    leati_call_context second = {.num_replicas = 2, .ordinal = 3, .replica = 1};
    draw(function, &second, others);
    assert_memory_not_equal(numbers, others, sizeof numbers);
    leat_function_unref(function);
}

/* Under a global seed the i-th node without a seed of its own has the pair (global, i). */
static void test_random_global_seed(void **state) {
    (void)state;
    float numbers[DRAWS];
    const leati_call_context context = {.num_replicas = 1};
    leat_seed_set(42);
    leat_function *function = random_function(3, NULL);
    leat_seed_clear();
    draw(function, &context, numbers);
    expect_stream(numbers, 42, 2, 0);
    leat_function_unref(function);
}

/* Without any seed functions differ, and so do runs whose pairs differ; a function repeats itself.
 */
static void test_random_unseeded(void **state) {
    (void)state;
    float numbers[DRAWS], others[DRAWS];
    leati_call_context context = {.num_replicas = 1};
    leat_function *function = random_function(1, NULL), *another = random_function(1, NULL);
    draw(function, &context, numbers);
    draw(another, &context, others);
    assert_memory_not_equal(numbers, others, sizeof numbers);
    draw(function, &context, others);
    assert_memory_equal(numbers, others, sizeof numbers);
    context.seed2 = 1;
    draw(function, &context, others);
    assert_memory_not_equal(numbers, others, sizeof numbers);
    leat_function_unref(function);
    leat_function_unref(another);
}

/* ---- files ---- */

static leat_function *read_function(leat_error *err) {
    leat_spec *spec = leat_spec_tensor(LEAT_STRING, LEAT_SCALAR, err);
    leat_graph *graph = spec == NULL ? NULL : leat_graph_new(spec, err);
    leat_spec_unref(spec);
    if (graph == NULL)
        return NULL;
    leat_value contents = leat_op_read_file(leat_graph_argument(graph, 0));
    return leat_graph_finish(graph, &contents, 1, NULL, err);
}

static void test_read_file(void **state) {
    (void)state;
    leat_error err = {0};
    leat_function *function = read_function(&err);
    leat_tensor path = leat_scalar_string(RECORDED "/files/text/one.txt"), contents;
    size_t size;
    uint8_t *expected = arrays_read_file(RECORDED "/files/text", "one.txt", &size);
    assert_int_equal(leati_interpret(function, &path, NULL, &contents, &err), LEAT_OK);
    const leat_string *found = contents.data;
    assert_int_equal(found->size, size);
    assert_memory_equal(found->data, expected, size);
    free(expected);
    leat_tensor_unref(&contents);
    leat_tensor_unref(&path);
    path = leat_scalar_string(RECORDED "/files/text/missing.txt");
    assert_int_equal(leati_interpret(function, &path, NULL, &contents, &err), LEAT_NOT_FOUND);
    expect_text(&err, LEAT_NOT_FOUND, LEAT_REASON_NONE, "missing.txt");
    leat_tensor_unref(&path);
    leat_function_unref(function);
}

static void test_read_file_rows(void **state) {
    (void)state;
    leat_error err = {0};
    leat_function *function = read_function(&err);
    const char *good = RECORDED "/files/text/one.txt", *bad = RECORDED "/files/none";
    leat_string paths[] = {{good, strlen(good)}, {good, strlen(good)}, {bad, strlen(bad)}};
    leati_operand in = {
        .data = (char *)paths, .row_stride = sizeof *paths, .dtype = LEAT_STRING, .count = 1};
    leati_operand out;
    int64_t failed = 0;
    assert_int_equal(leati_interpret_rows(function, 2, &in, NULL, &out, &failed, &err), LEAT_OK);
    const leat_string *first = (const leat_string *)(const void *)out.data;
    assert_int_equal(first[0].size, first[1].size);
    leat_buffer_unref(out.owner);
    assert_int_equal(leati_interpret_rows(function, 3, &in, NULL, &out, &failed, &err),
                     LEAT_NOT_FOUND);
    assert_int_equal(failed, 2);
    leat_function_unref(function);
}

static leat_status read_once(void *context, leat_error *err) {
    const leat_tensor *path = context;
    leat_tensor contents;
    leat_function *function = read_function(err);
    if (function == NULL)
        return torture_code(err);
    leat_status status = leati_interpret(function, path, NULL, &contents, err);
    if (status == LEAT_OK)
        leat_tensor_unref(&contents);
    leat_function_unref(function);
    return status;
}

static void test_memory(void **state) {
    (void)state;
    torture_begin();
    torture_run_tolerant(exchange_once, NULL);
    leat_tensor path = leat_scalar_string(RECORDED "/files/text/one.txt");
    torture_run_tolerant(read_once, &path);
    leat_tensor_unref(&path);
    torture_end();
}

int conform_ops_state(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_optimizers),
        cmocka_unit_test(test_optimizers_float64),
        cmocka_unit_test(test_optimizer_failures),
        cmocka_unit_test(test_replicas),
        cmocka_unit_test(test_replica_failures),
        cmocka_unit_test(test_random_stream),
        cmocka_unit_test(test_random_global_seed),
        cmocka_unit_test(test_random_unseeded),
        cmocka_unit_test(test_read_file),
        cmocka_unit_test(test_read_file_rows),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests_name("ops_state", tests, NULL, NULL);
}
