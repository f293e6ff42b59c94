/* resize: what happens where its tables find no memory. Values: tests/conform/ops/resize.json. */
#include "support/cmocka.h"

#include "graph/support/picture/resize.h"
#include "support/graph.h"
#include "support/torture.h"

static int twice(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    outputs[0] = leat_op_resize(leat_graph_argument(graph, 0), (int64_t[]){1, 4}, 2, NULL);
    return 1;
}

/* tf.image.resize([[[1.], [3.]]], [1, 4]) */
static leat_status resize_once(void *context, leat_error *err) {
    static const float expected[] = {1, 1.5, 2.5, 3};
    static const float pixels[] = {1, 3};
    leat_tensor in = leat_tensor_view(LEAT_FLOAT32, LEAT_SHAPE(1, 2, 1), pixels), out;
    leati_resize_plans_trim();
    leat_status status = leati_interpret(context, &in, NULL, &out, err);
    if (status == LEAT_OK) {
        assert_memory_equal(out.data, expected, sizeof expected);
        leat_tensor_unref(&out);
    }
    leati_resize_plans_trim();
    return status;
}

static void test_no_memory(void **state) {
    (void)state;
    leat_error err = {0};
    leat_spec *spec = leat_spec_tensor(LEAT_FLOAT32, LEAT_SHAPE(1, 2, 1), &err);
    leat_function *function = LEAT_TRACE(twice, NULL, spec, &err);
    assert_non_null(function);
    torture_run(resize_once, function);
    leat_function_unref(function);
    leat_spec_unref(spec);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_no_memory, torture_setup, torture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
