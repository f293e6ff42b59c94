/* Sums over replicas in steps: what is handed over while the step computes, in which order, that
 * every kind of operand and result keeps its values, and failures. The collectives here have one
 * rank, double what they sum, and note their calls. */
#include "support/cmocka.h"

#include "coll/coll.h"
#include "core/tensor.h"
#include "exec/device.h"
#include "graph/interpret.h"
#include "graph/variable_ops.h"
#include "support/refused.h"
#include "support/torture.h"
#include <leat/ops.h>

enum { MOST_CALLS = 63, MOST_OUTPUTS = 32 };

/* ---- the collective ---- */

struct noting {
    leati_collective base;
    char calls[MOST_CALLS + 1]; /* s: start, a: all_reduce, w: wait, b: broadcast */
    uint64_t begun;
    leati_device *device; /* to look at the step when the first sum is begun; NULL: do not */
    leati_executable *step;
    char seen[4096];
    int fails_at; /* the n-th sum; 0: none */
};

static void note(struct noting *n, char call) {
    size_t at = strlen(n->calls);
    assert_true(at < MOST_CALLS);
    n->calls[at] = call;
}

static void twice(void *data, int64_t count, leat_dtype dtype) {
    for (int64_t i = 0; i < count; i++)
        if (dtype == LEAT_FLOAT32)
            ((float *)data)[i] *= 2;
        else
            ((double *)data)[i] *= 2;
}

static leat_status sum(struct noting *n, char call, void *data, int64_t count, leat_dtype dtype,
                       leat_error *err) {
    note(n, call);
    if (++n->begun == (uint64_t)n->fails_at) {
        *err = (leat_error){.code = LEAT_DATA_LOSS, .text = "the cable is cut"};
        return LEAT_DATA_LOSS;
    }
    if (n->begun == 1 && n->device != NULL)
        n->device->ops->explain(n->step, n->seen, sizeof n->seen);
    twice(data, count, dtype);
    return LEAT_OK;
}

static leat_status note_sum(leati_collective *c, int rank, void *data, int64_t count,
                            leat_dtype dtype, leati_reduction reduction, leat_error *err) {
    (void)rank, (void)reduction;
    return sum((struct noting *)c, 'a', data, count, dtype, err);
}

static leat_status note_start(leati_collective *c, int rank, void *data, int64_t count,
                              leat_dtype dtype, leati_reduction reduction, uint64_t *ticket,
                              leat_error *err) {
    (void)rank, (void)reduction;
    struct noting *n = (struct noting *)c;
    leat_status status = sum(n, 's', data, count, dtype, err);
    *ticket = n->begun;
    return status;
}

static leat_status note_wait(leati_collective *c, int rank, uint64_t ticket, leat_error *err) {
    (void)rank, (void)err;
    struct noting *n = (struct noting *)c;
    assert_true(ticket <= n->begun);
    note(n, 'w');
    return LEAT_OK;
}

static leat_status note_broadcast(leati_collective *c, int rank, int root, void *data,
                                  int64_t count, leat_dtype dtype, leat_error *err) {
    (void)rank, (void)root, (void)data, (void)count, (void)dtype, (void)err;
    note((struct noting *)c, 'b');
    return LEAT_OK;
}

static const leati_collective_ops beside = {.name = "noting",
                                            .all_reduce = note_sum,
                                            .broadcast = note_broadcast,
                                            .start = note_start,
                                            .wait = note_wait};
static const leati_collective_ops at_once = {
    .name = "noting", .all_reduce = note_sum, .broadcast = note_broadcast};

/* ---- a step and its oracle ---- */

struct machine {
    struct noting collective;
    leati_call_context context;
    leati_device *device;
    leat_function *function;
    leati_executable *step;
    leat_tensor outputs[MOST_OUTPUTS];
    leat_error err;
};

static leat_status machine_open(struct machine *m, leat_tracer tracer, void *context,
                                leat_shape shape, int64_t bytes_per_pack,
                                const leati_collective_ops *ops, leat_error *err) {
    *m = (struct machine){.collective = {.base = {.ops = ops, .num_ranks = 1}}};
    m->context = (leati_call_context){.num_replicas = 1,
                                      .collective = ops != NULL ? &m->collective.base : NULL,
                                      .bytes_per_pack = bytes_per_pack};
    leat_spec *spec = leat_spec_tensor(LEAT_FLOAT32, shape, err);
    m->function = spec != NULL ? LEAT_TRACE(tracer, context, spec, err) : NULL;
    leat_spec_unref(spec);
    m->device = m->function != NULL ? leati_device_cpu_new(0, 1, -1, err) : NULL;
    return m->device != NULL
               ? m->device->ops->compile(m->device, m->function, &m->context, &m->step, err)
               : torture_code(err);
}

static void machine_init(struct machine *m, leat_tracer tracer, void *context, leat_shape shape,
                         int64_t bytes_per_pack, const leati_collective_ops *ops) {
    leat_error err = {0};
    if (machine_open(m, tracer, context, shape, bytes_per_pack, ops, &err) != LEAT_OK)
        fail_msg("%s", err.text);
}

static void drop_outputs(struct machine *m) {
    for (int i = 0; i < MOST_OUTPUTS; i++)
        leat_tensor_unref(&m->outputs[i]);
}

static leat_status run(struct machine *m, const leat_tensor *input, leat_error *err) {
    drop_outputs(m);
    memset(m->collective.calls, 0, sizeof m->collective.calls);
    m->collective.begun = 0;
    leati_run_args args = {input, 1, m->outputs, m->function->num_outputs, &m->context, false};
    return m->device->ops->run(m->step, &args, err);
}

static void machine_fini(struct machine *m) {
    drop_outputs(m);
    if (m->device != NULL) {
        m->device->ops->release(m->step);
        m->device->ops->close(m->device);
    }
    leat_function_unref(m->function);
}

static leat_tensor numbers(leat_shape shape) {
    leat_tensor tensor = {0};
    assert_int_equal(leat_tensor_new(LEAT_FLOAT32, shape, &tensor, NULL), LEAT_OK);
    for (int64_t i = 0; i < leat_tensor_count(&tensor); i++)
        ((float *)tensor.data)[i] = (float)(i * 7919 % 101) / 64 - 0.75f;
    return tensor;
}

static void same_bits(const leat_tensor *found, const leat_tensor *expected) {
    assert_int_equal(found->dtype, expected->dtype);
    assert_int_equal(leat_tensor_count(found), leat_tensor_count(expected));
    if (leat_tensor_bytes(found) > 0)
        assert_memory_equal(found->data, expected->data, leat_tensor_bytes(found));
}

/* ---- gradients ---- */

enum { LAYERS = 3 };

struct model {
    leat_variable *weights[LAYERS];
};

static void model_init(struct model *model) {
    const leat_shape shapes[LAYERS] = {LEAT_SHAPE(64, 48), LEAT_SHAPE(48, 40), LEAT_SHAPE(40, 24)};
    for (int i = 0; i < LAYERS; i++) {
        leat_tensor start = numbers(shapes[i]);
        model->weights[i] = leat_variable_new(&start, NULL, NULL);
        leat_tensor_unref(&start);
    }
}

static void model_fini(struct model *model) {
    for (int i = 0; i < LAYERS; i++)
        leat_variable_unref(model->weights[i]);
}

/* Gradients of three layers, the last one's first, summed. */
static int trace_gradients(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    struct model *model = context;
    leat_value x = leat_graph_argument(graph, 0), gradients[LAYERS], reversed[LAYERS];
    for (int i = 0; i < LAYERS; i++)
        x = leat_op_relu(
            leat_op_matmul(x, leat_graph_read(graph, model->weights[i]), false, false));
    leat_variable_gradients(leat_op_reduce_sum(x, NULL, 0, false), model->weights, LAYERS,
                            gradients);
    for (int i = 0; i < LAYERS; i++)
        reversed[i] = gradients[LAYERS - 1 - i];
    leat_op_all_reduce(reversed, LAYERS, LEAT_AGGREGATION_SUM, outputs);
    for (int i = 0; i < LAYERS; i++)
        outputs[LAYERS + i] = leat_op_square(outputs[i]);
    return 2 * LAYERS;
}

/* How many of the step's matrix products have taken time. */
static int products_that_ran(const char *explained) {
    int count = 0;
    for (const char *line = strstr(explained, "matmul"); line != NULL;
         line = strstr(line + 1, "matmul")) {
        size_t size = strcspn(line, "\n");
        count += !(size > 2 && memcmp(line + size - 2, " 0", 2) == 0);
    }
    return count;
}

static void test_begun_during_backward(void **state) {
    (void)state;
    struct model model;
    struct machine m, other;
    leat_error err = {0};
    char after[4096];
    leat_tensor x = numbers(LEAT_SHAPE(32, 64));
    model_init(&model);
    machine_init(&m, trace_gradients, &model, LEAT_SHAPE(32, 64), 1, &beside);
    m.collective.device = m.device;
    m.collective.step = m.step;
    assert_int_equal(run(&m, &x, &err), LEAT_OK);
    /* The last gradient is there when nothing is left to compute. */
    assert_string_equal(m.collective.calls, "ssaw");
    m.device->ops->explain(m.step, after, sizeof after);
    /* Three products forward and, but for the gradient of x, five backward. */
    assert_int_equal(products_that_ran(after), 8);
    assert_in_range(products_that_ran(m.collective.seen), 1, 5);
    /* The same bits where nothing overlaps, in one pack, and again. */
    for (int way = 0; way < 3; way++) {
        machine_init(&other, trace_gradients, &model, LEAT_SHAPE(32, 64), way == 1,
                     way == 2 ? &beside : &at_once);
        for (int again = 0; again < 2; again++) {
            assert_int_equal(run(&other, &x, &err), LEAT_OK);
            assert_string_equal(other.collective.calls, way == 1 ? "aaa" : "a");
            for (int i = 0; i < 2 * LAYERS; i++)
                same_bits(&other.outputs[i], &m.outputs[i]);
        }
        machine_fini(&other);
    }
    machine_fini(&m);
    model_fini(&model);
    leat_tensor_unref(&x);
}

/* ---- every kind of operand ---- */

/* Summed: a value that is read before and after, one that is read nowhere else, under another
 * shape, twice in one all_reduce and in two, results, an argument, a constant, a variable that is
 * assigned afterwards, an empty one, another dtype, and sums themselves. */
static int trace_operands(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    leat_variable *variable = context;
    leat_tensor five = leat_scalar_float32(5);
    if (five.data == NULL)
        leat_graph_fail(graph, LEAT_RESOURCE_EXHAUSTED, "no memory");
    leat_value x = leat_graph_argument(graph, 0), sums[16];
    leat_value read = leat_graph_read(graph, variable);
    leat_value a = leat_op_square(x), b = leat_op_add(x, x), c = leat_op_add(a, b),
               d = leat_op_multiply(b, c);
    leat_value shaped = leat_op_reshape(leat_op_sqrt(a), (int64_t[]){-1}, 1);
    leat_value none = leat_op_slice(x, (int64_t[]){0, 0}, 2, (int64_t[]){0, -1}, 2);
    leat_value mixed[] = {a,    leat_op_abs(c), shaped, d, d, x, leat_graph_tensor(graph, &five),
                          read, none,           b};
    leat_tensor_unref(&five);
    leat_op_all_reduce(mixed, 10, LEAT_AGGREGATION_SUM, sums);
    leat_value wide = leat_op_cast(leat_op_subtract(a, x), LEAT_FLOAT64);
    leat_value again[] = {sums[0], d, leat_op_negate(sums[1])};
    leat_value later = leat_op_multiply(a, leat_op_negate(x));
    leat_op_all_reduce(&wide, 1, LEAT_AGGREGATION_MEAN, &sums[10]);
    leat_op_all_reduce(again, 3, LEAT_AGGREGATION_SUM, &sums[11]);
    leat_graph_assign_add(graph, variable, leat_op_reduce_sum(sums[11], NULL, 0, false));
    for (int i = 0; i < 14; i++)
        outputs[i] = sums[i];
    outputs[14] = a; /* read after it was summed */
    outputs[15] = later;
    outputs[16] = leat_op_add(sums[2], shaped);
    outputs[17] = leat_op_add(sums[3], sums[4]);
    outputs[18] = sums[1];
    return 19;
}

static leat_variable *scalar_variable(float number) {
    leat_tensor start = leat_scalar_float32(number);
    leat_variable *variable = leat_variable_new(&start, NULL, NULL);
    leat_tensor_unref(&start);
    assert_non_null(variable);
    return variable;
}

static void test_every_operand(void **state) {
    (void)state;
    leat_error err = {0};
    leat_tensor x = numbers(LEAT_SHAPE(5, 7)), expected[MOST_OUTPUTS] = {{0}};
    for (int64_t bytes = 0; bytes < 4000; bytes = bytes * 13 + 1) {
        for (int way = 0; way < 3; way++) {
            const leati_collective_ops *ops = way == 0 ? NULL : way == 1 ? &at_once : &beside;
            leat_variable *own = scalar_variable(3), *oracle = scalar_variable(3);
            struct machine m, reference;
            machine_init(&m, trace_operands, own, LEAT_SHAPE(5, 7), bytes, ops);
            machine_init(&reference, trace_operands, oracle, LEAT_SHAPE(5, 7), bytes, ops);
            for (int again = 0; again < 2; again++) {
                assert_int_equal(run(&m, &x, &err), LEAT_OK);
                assert_int_equal(
                    leati_interpret(reference.function, &x, &reference.context, expected, &err),
                    LEAT_OK);
                memset(reference.collective.calls, 0, sizeof reference.collective.calls);
                for (int i = 0; i < m.function->num_outputs; i++) {
                    same_bits(&m.outputs[i], &expected[i]);
                    leat_tensor_unref(&expected[i]);
                }
            }
            machine_fini(&m);
            machine_fini(&reference);
            leat_variable_unref(own);
            leat_variable_unref(oracle);
        }
    }
    leat_tensor_unref(&x);
}

/* ---- order ---- */

/* Other exchanges lie between what is summed and its sum. */
static int trace_order(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_value x = leat_graph_argument(graph, 0), early = leat_op_square(x), two[2];
    const struct { int64_t root; } first = {0};
    leat_value other =
        leati_graph_node(graph, &leati_tensor_op_collective_broadcast, &first, &x, 1);
    leat_value late = leat_op_multiply(other, x);
    leat_op_all_reduce(&late, 1, LEAT_AGGREGATION_SUM, &two[0]);
    leat_op_all_reduce(&early, 1, LEAT_AGGREGATION_SUM, &two[1]);
    outputs[0] = leat_op_add(two[0], two[1]);
    return 1;
}

static void test_one_order(void **state) {
    (void)state;
    struct machine m;
    leat_error err = {0};
    leat_tensor x = numbers(LEAT_SHAPE(4));
    machine_init(&m, trace_order, NULL, LEAT_SHAPE(4), 0, &beside);
    assert_int_equal(run(&m, &x, &err), LEAT_OK);
    /* `early` is there before the broadcast, but summed after `late`. */
    assert_string_equal(m.collective.calls, "baa");
    machine_fini(&m);
    leat_tensor_unref(&x);
}

/* ---- failures ---- */

static void test_failing_sums(void **state) {
    (void)state;
    struct model model;
    struct machine m;
    leat_tensor x = numbers(LEAT_SHAPE(32, 64));
    model_init(&model);
    machine_init(&m, trace_gradients, &model, LEAT_SHAPE(32, 64), 1, &beside);
    for (int n = 1; n <= LAYERS + 1; n++) {
        leat_error err = {0};
        m.collective.fails_at = n;
        assert_int_equal(run(&m, &x, &err), n <= LAYERS ? LEAT_DATA_LOSS : LEAT_OK);
        if (n > LAYERS)
            continue;
        assert_refused(&err, LEAT_DATA_LOSS, LEAT_REASON_NONE, "all_reduce");
        assert_refused(&err, LEAT_DATA_LOSS, LEAT_REASON_NONE, "cable");
    }
    machine_fini(&m);
    model_fini(&model);
    leat_tensor_unref(&x);
}

static leat_status compile_and_run(void *context, leat_error *err) {
    const leat_tensor *x = context;
    struct machine m;
    leat_variable *variable = NULL;
    leat_tensor three = leat_scalar_float32(3);
    if (three.data == NULL)
        return leati_no_memory(err);
    variable = leat_variable_new(&three, NULL, err);
    leat_tensor_unref(&three);
    if (variable == NULL)
        return torture_code(err);
    leat_status status =
        machine_open(&m, trace_operands, variable, LEAT_SHAPE(5, 7), 0, &beside, err);
    if (status == LEAT_OK)
        status = run(&m, x, err);
    machine_fini(&m);
    leat_variable_unref(variable);
    return status;
}

static void test_no_memory(void **state) {
    (void)state;
    leat_tensor x = numbers(LEAT_SHAPE(5, 7));
    torture_begin();
    /* What cannot be computed at compile time is left to the run. */
    torture_run_tolerant(compile_and_run, &x);
    torture_end();
    leat_tensor_unref(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_begun_during_backward),
        cmocka_unit_test(test_every_operand),
        cmocka_unit_test(test_one_order),
        cmocka_unit_test(test_failing_sums),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
