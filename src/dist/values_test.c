/* Functions over values per replica without memory: each allocation fails once, and every failure
 * comes back as RESOURCE_EXHAUSTED and leaves nothing behind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../tests/support/torture.h"
#include <leat/dist.h>

static leat_status combine(void *context, leat_error *err) {
    leat_strategy *strategy = leat_strategy_by_name(context, err);
    leat_element in = {0}, out = {0};
    leat_tensor tensors[2] = {{0}, {0}};
    leat_spec *children[2], *spec = NULL;
    if (strategy == NULL)
        return err->code;
    leat_status status = leat_tensor_new(LEAT_FLOAT32, LEAT_SHAPE(3, 2), &tensors[0], err);
    if (status == LEAT_OK)
        status = leat_tensor_new(LEAT_INT64, LEAT_SHAPE(3), &tensors[1], err);
    if (status == LEAT_OK) {
        children[0] = leat_spec_tensor(LEAT_FLOAT32, LEAT_SHAPE(-1, 2), err);
        children[1] = leat_spec_tensor(LEAT_INT64, LEAT_SHAPE(-1), err);
        spec = leat_spec_tuple(children, 2, err);
        status = spec == NULL ? err->code : leat_element_set(&in, spec, tensors, err);
    }
    const leat_per_replica value = {.elements = &in, .num_replicas = 1};
    if (status == LEAT_OK)
        status = leat_strategy_reduce(strategy, LEAT_REDUCE_MEAN, &value, 0, &out, err);
    if (status == LEAT_OK)
        status = leat_strategy_gather(strategy, &value, 0, &out, err);
    if (status == LEAT_OK)
        assert_int_equal(out.tensors[1].dims[0], 3);
    leat_element_fini(&in);
    leat_element_fini(&out);
    leat_spec_unref(spec);
    leat_tensor_unref(&tensors[0]);
    leat_tensor_unref(&tensors[1]);
    leat_strategy_unref(strategy);
    return status;
}

static void test_each_allocation_failing(void **state) {
    (void)state;
    static char one[] = "one_device", workers[] = "multi_worker_mirrored";
    leat_error err = {0};
    /* What lives as long as the process is there first. */
    assert_int_equal(combine(one, &err), LEAT_OK);
    torture_begin();
    torture_run(combine, one);
    torture_run(combine, workers);
    torture_end();
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_allocation_failing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
