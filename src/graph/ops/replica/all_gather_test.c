/* all_gather on threads: parts of different and of no length, along every axis, of numbers and
 * bools, the gradient, all_gather_grad (values as TensorFlow 2.21 gives them for equal parts), and
 * what is refused.
 */
#include "support/cmocka.h"

#include "support/graph.h"
#include "support/refused.h"
#include "support/replicas.h"
#include "support/torture.h"

typedef struct gathering {
    int64_t axis, sizes[REPLICAS_MOST];
    int replicas;
} gathering;

static int trace_gather(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    const gathering *g = context;
    outputs[0] = leat_op_all_gather(leat_graph_argument(graph, 0), g->axis, g->sizes, g->replicas);
    return 1;
}

/* Replica r brings 100 r, 100 r + 1, ... of shape [2, sizes[r], 3], or with the axis elsewhere. */
static leat_tensor part_of(const gathering *g, leat_dtype dtype, int r) {
    leat_shape shape = {.rank = 3, .dims = {2, 2, 2}};
    int64_t axis = g->axis < 0 ? g->axis + 3 : g->axis;
    shape.dims[(axis + 1) % 3] = 3;
    shape.dims[axis] = g->sizes[r];
    leat_tensor out = {0};
    leat_error err = {0};
    assert_int_equal(leat_tensor_new(dtype, shape, &out, &err), LEAT_OK);
    for (int64_t i = 0; i < leat_tensor_count(&out); i++)
        if (dtype == LEAT_BOOL)
            ((bool *)out.data)[i] = (i + r) % 3 == 0;
        else
            ((float *)out.data)[i] = (float)(100 * r + i);
    return out;
}

/* The value at one place of all parts put together, found in the part that it is from. */
static double value_at(const gathering *g, const leat_tensor *parts, const int64_t *place) {
    int64_t at[3] = {place[0], place[1], place[2]};
    int axis = (int)(g->axis < 0 ? g->axis + 3 : g->axis), r = 0;
    while (at[axis] >= g->sizes[r])
        at[axis] -= g->sizes[r++];
    const leat_tensor *part = &parts[r];
    int64_t i = (at[0] * part->dims[1] + at[1]) * part->dims[2] + at[2];
    return part->dtype == LEAT_BOOL ? ((const bool *)part->data)[i]
                                    : (double)((const float *)part->data)[i];
}

static void check_whole(const gathering *g, const leat_tensor *parts, const leat_tensor *whole) {
    int64_t place[3], i = 0;
    assert_int_equal(whole->rank, 3);
    for (place[0] = 0; place[0] < whole->dims[0]; place[0]++)
        for (place[1] = 0; place[1] < whole->dims[1]; place[1]++)
            for (place[2] = 0; place[2] < whole->dims[2]; place[2]++, i++) {
                double found = whole->dtype == LEAT_BOOL ? ((const bool *)whole->data)[i]
                                                         : (double)((const float *)whole->data)[i];
                assert_true(found == value_at(g, parts, place));
            }
}

static void test_values(void **state) {
    (void)state;
    static const gathering cases[] = {
        {.sizes = {2, 2}, .replicas = 2},
        {.sizes = {4, 1, 3}, .replicas = 3},
        {.axis = 1, .sizes = {1, 0, 5, 2}, .replicas = 4},
        {.axis = -1, .sizes = {0, 3}, .replicas = 2},
        {.axis = 2, .sizes = {0, 0}, .replicas = 2},
        {.axis = -2, .sizes = {3}, .replicas = 1},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (int is_bool = 0; is_bool < 2; is_bool++) {
            gathering g = cases[c];
            leat_tensor parts[REPLICAS_MOST], wholes[REPLICAS_MOST], *inputs[REPLICAS_MOST];
            int64_t total = 0;
            for (int r = 0; r < g.replicas; r++) {
                parts[r] = part_of(&g, is_bool ? LEAT_BOOL : LEAT_FLOAT32, r);
                inputs[r] = &parts[r];
                total += g.sizes[r];
            }
            replicas_run(g.replicas, trace_gather, &g, inputs, 1, wholes);
            for (int r = 0; r < g.replicas; r++) {
                assert_int_equal(wholes[r].dims[g.axis < 0 ? g.axis + 3 : g.axis], total);
                check_whole(&g, parts, &wholes[r]);
            }
            for (int r = 0; r < g.replicas; r++) {
                leat_tensor_unref(&parts[r]);
                leat_tensor_unref(&wholes[r]);
            }
        }
}

/* ---- gradient ---- */

/* d/dx of sum(all_gather(x) * (1, 10, 100, 1000) * (replica + 1)). */
static int trace_gradient(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    const gathering *g = context;
    static const float powers[] = {1, 10, 100, 1000};
    leat_tensor weights = leat_tensor_view(LEAT_FLOAT32, LEAT_SHAPE(1, 4), powers);
    leat_tensor one = leat_tensor_view(LEAT_FLOAT32, LEAT_SCALAR, powers);
    leat_value x = leat_graph_argument(graph, 0);
    leat_value factor = leat_op_add(leat_op_cast(leat_op_replica_id(graph), LEAT_FLOAT32),
                                    leat_graph_tensor(graph, &one));
    leat_value y = leat_op_multiply(leat_op_all_gather(x, g->axis, g->sizes, g->replicas),
                                    leat_op_multiply(leat_graph_tensor(graph, &weights), factor));
    leat_value_gradients(leat_op_reduce_sum(y, NULL, 0, false), &x, 1, outputs);
    return 1;
}

/* d/dx of sum(g(x)^2) where g is the gradient of sum(all_gather(x)^2): a gradient of it. */
static int trace_second(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    const gathering *g = context;
    leat_value x = leat_graph_argument(graph, 0), first;
    leat_value y = leat_op_square(leat_op_all_gather(x, g->axis, g->sizes, g->replicas));
    leat_value_gradients(leat_op_reduce_sum(y, NULL, 0, false), &x, 1, &first);
    leat_value_gradients(leat_op_reduce_sum(leat_op_square(first), NULL, 0, false), &x, 1, outputs);
    return 1;
}

/* One part of shape [1, sizes[r]] each, of the numbers 1, 2, ... over all; the results' values. */
static void run_gradient(gathering *g, leat_tracer tracer, float *out) {
    static const float numbers[] = {1, 2, 3, 4};
    leat_tensor parts[REPLICAS_MOST], results[REPLICAS_MOST], *inputs[REPLICAS_MOST];
    int64_t at = 0;
    for (int r = 0; r < g->replicas; r++) {
        parts[r] = leat_tensor_view(LEAT_FLOAT32, LEAT_SHAPE(1, g->sizes[r]), numbers + at);
        inputs[r] = &parts[r];
        at += g->sizes[r];
    }
    replicas_run(g->replicas, tracer, g, inputs, 1, results);
    at = 0;
    for (int r = 0; r < g->replicas; r++) {
        assert_int_equal(leat_tensor_count(&results[r]), g->sizes[r]);
        for (int64_t i = 0; i < g->sizes[r]; i++)
            out[at++] = ((const float *)results[r].data)[i];
        leat_tensor_unref(&results[r]);
    }
}

static void test_gradient(void **state) {
    (void)state;
    static const float recorded[] = {3, 30, 300, 3000};
    gathering equal = {.axis = 1, .sizes = {2, 2}, .replicas = 2};
    gathering uneven = {.axis = -1, .sizes = {3, 0, 1}, .replicas = 3};
    gathering alone = {.axis = 1, .sizes = {4}, .replicas = 1};
    float found[4];
    run_gradient(&equal, trace_gradient, found);
    assert_memory_equal(found, recorded, sizeof found);
    run_gradient(&uneven, trace_gradient, found);
    for (int i = 0; i < 4; i++)
        assert_true(found[i] == 2 * recorded[i]); /* 1 + 2 + 3 replicas' factors, not 1 + 2 */
    run_gradient(&alone, trace_gradient, found);
    for (int i = 0; i < 4; i++)
        assert_true(found[i] == recorded[i] / 3);
    /* The first gradient is 2 n x; of sum(its square) over each replica's part 8 n^2 x. */
    run_gradient(&equal, trace_second, found);
    for (int i = 0; i < 4; i++)
        assert_true(found[i] == 32.0f * (float)(i + 1));
}

/* ---- failures ---- */

static void refuse(const leat_tensor *input, gathering g, leat_reason reason, const char *keyword) {
    leat_error err = {0};
    leat_spec *spec = leat_spec_tensor(input->dtype, leat_tensor_shape(input), &err);
    leat_function *function = LEAT_TRACE(trace_gather, &g, spec, &err);
    leat_tensor out;
    leat_spec_unref(spec);
    if (function != NULL)
        assert_int_equal(leati_interpret(function, input, NULL, &out, &err), LEAT_INVALID_ARGUMENT);
    leat_function_unref(function);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, reason, keyword);
}

static void test_refused(void **state) {
    (void)state;
    leat_error err = {0};
    leat_string word = {.data = "a", .size = 1};
    leat_tensor vector = TEST_TENSOR(LEAT_FLOAT32, LEAT_SHAPE(2), float, 1, 2);
    leat_tensor scalar = leat_scalar_float32(1), text = {0};
    assert_int_equal(leat_tensor_copy_of(LEAT_STRING, LEAT_SHAPE(1), &word, &text, &err), LEAT_OK);
    refuse(&vector, (gathering){.sizes = {2, 1}, .replicas = 2}, LEAT_REASON_SHAPE, "2");
    refuse(&vector, (gathering){.sizes = {3, 1}, .replicas = 2}, LEAT_REASON_SHAPE, "2");
    refuse(&vector, (gathering){.sizes = {2, -1}, .replicas = 2}, LEAT_REASON_VALUE, "-1");
    refuse(&vector, (gathering){.sizes = {2, INT64_MAX}, .replicas = 2}, LEAT_REASON_VALUE, "2^63");
    refuse(&vector, (gathering){.replicas = 0}, LEAT_REASON_VALUE, "sizes");
    refuse(&vector, (gathering){.axis = 1, .sizes = {2}, .replicas = 1}, LEAT_REASON_SHAPE, "1");
    refuse(&scalar, (gathering){.sizes = {1}, .replicas = 1}, LEAT_REASON_SHAPE, "scalars");
    refuse(&text, (gathering){.sizes = {1}, .replicas = 1}, LEAT_REASON_DTYPE, "string");
    leat_tensor_unref(&vector);
    leat_tensor_unref(&scalar);
    leat_tensor_unref(&text);
}

static leat_status gather_alone(void *context, leat_error *err) {
    static const float numbers[] = {1, 2, 3, 4};
    leat_tensor out, input = leat_tensor_view(LEAT_FLOAT32, LEAT_SHAPE(1, 4), numbers);
    leat_spec *spec = leat_spec_tensor(LEAT_FLOAT32, LEAT_SHAPE(1, 4), err);
    leat_function *function = spec == NULL ? NULL : LEAT_TRACE(trace_gradient, context, spec, err);
    leat_spec_unref(spec);
    if (function == NULL)
        return torture_code(err);
    leati_call_context here = {.num_replicas = 1};
    leat_status status = leati_interpret(function, &input, &here, &out, err);
    if (status == LEAT_OK)
        leat_tensor_unref(&out);
    leat_function_unref(function);
    return status;
}

static void test_without_memory(void **state) {
    (void)state;
    gathering alone = {.axis = 1, .sizes = {4}, .replicas = 1};
    torture_begin();
    torture_run_tolerant(gather_alone, &alone);
    torture_end();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_gradient),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
