/* Packs of all_reduce: which values are exchanged together, seen by a collective of one rank that
 * counts. */
#include "support/cmocka.h"

#include "coll/coll.h"
#include "graph/interpret.h"
#include <leat/ops.h>
#include <string.h>

enum { VALUES = 5, MOST = 16 };

static const int64_t sizes[VALUES] = {48, 16, 64, 16, 80};

struct counting {
    leati_collective base;
    int64_t counts[MOST];
    int calls;
};

static leat_status count_all_reduce(leati_collective *collective, int rank, void *data,
                                    int64_t count, leat_dtype dtype, leati_reduction reduction,
                                    leat_error *err) {
    struct counting *c = (struct counting *)collective;
    (void)err;
    assert_int_equal(rank, 0);
    assert_int_equal(dtype, LEAT_FLOAT32);
    assert_int_equal(reduction, LEATI_REDUCTION_SUM);
    assert_true(c->calls < MOST);
    c->counts[c->calls++] = count;
    for (int64_t i = 0; i < count; i++)
        ((float *)data)[i] *= 2;
    return LEAT_OK;
}

static int trace(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    leat_value values[VALUES];
    (void)context;
    for (int i = 0; i < VALUES; i++)
        values[i] = leat_graph_argument(graph, i);
    leat_op_all_reduce(values, VALUES, LEAT_AGGREGATION_SUM, outputs);
    return VALUES;
}

static void check(int64_t limit, const int64_t *expected, int calls) {
    static const leati_collective_ops ops = {.name = "counting", .all_reduce = count_all_reduce};
    struct counting counting = {.base = {.ops = &ops, .num_ranks = 1}};
    leat_error err = {0};
    leat_spec *children[VALUES];
    leat_tensor inputs[VALUES], outputs[VALUES] = {0};
    for (int i = 0; i < VALUES; i++) {
        children[i] = leat_spec_tensor(LEAT_FLOAT32, LEAT_SHAPE(sizes[i]), &err);
        assert_int_equal(leat_tensor_new(LEAT_FLOAT32, LEAT_SHAPE(sizes[i]), &inputs[i], &err),
                         LEAT_OK);
        for (int64_t k = 0; k < sizes[i]; k++)
            ((float *)inputs[i].data)[k] = (float)(i * 10 + k);
    }
    leat_spec *spec = leat_spec_tuple(children, VALUES, &err);
    leat_function *function = LEAT_TRACE(trace, NULL, spec, &err);
    assert_non_null(function);
    const leati_call_context context = {
        .num_replicas = 1, .collective = &counting.base, .bytes_per_pack = limit};
    assert_int_equal(leati_interpret(function, inputs, &context, outputs, &err), LEAT_OK);
    assert_int_equal(counting.calls, calls);
    for (int i = 0; i < calls; i++)
        assert_int_equal(counting.counts[i], expected[i]);
    for (int i = 0; i < VALUES; i++) {
        for (int64_t k = 0; k < sizes[i]; k++)
            assert_true(((float *)outputs[i].data)[k] == 2 * (float)(i * 10 + k));
        leat_tensor_unref(&inputs[i]);
        leat_tensor_unref(&outputs[i]);
    }
    leat_function_unref(function);
    leat_spec_unref(spec);
}

/* A pack ends with the value behind which it has more than the limit. */
static void test_packs(void **state) {
    (void)state;
    check(0, (const int64_t[]){224}, 1);
    check(1, sizes, VALUES);
    check(255, (const int64_t[]){64, 64, 96}, 3);
    check(256, (const int64_t[]){128, 96}, 2);
    check(INT64_MAX, (const int64_t[]){224}, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_packs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
