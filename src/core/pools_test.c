/* Size classes: never too small, at most a quarter too large, and reused. */
#include "support/cmocka.h"

#include "core/pools.h"
#include "support/torture.h"

static void test_sizes(void **state) {
    (void)state;
    leati_pools pools = {0};
    for (size_t size = 0; size < 3000000; size += 1 + size / 7) {
        leat_buffer *buffer = leati_pools_take(&pools, size, &(leat_error){0});
        assert_non_null(buffer);
        assert_true(buffer->size >= size);
        assert_true(buffer->size <= 64 || buffer->size <= size + size / 4);
        leat_buffer_unref(buffer);
    }
    leati_pools_close(&pools);
}

static void test_reuse(void **state) {
    (void)state;
    leati_pools pools = {0};
    leat_buffer *first = leati_pools_take(&pools, 1000, &(leat_error){0});
    void *memory = first->data;
    leat_buffer_unref(first);
    torture_fail_at(0);
    leat_buffer *second = leati_pools_take(&pools, 990, &(leat_error){0});
    assert_ptr_equal(second->data, memory);
    assert_int_equal(torture_count(), 0);
    leati_pools_close(&pools);
    leat_buffer_unref(second); /* outlives its pool */
}

static leat_status take_once(void *context, leat_error *err) {
    (void)context;
    leati_pools pools = {0};
    leat_buffer *buffer = leati_pools_take(&pools, 100, err);
    leat_status status = buffer != NULL ? LEAT_OK : torture_code(err);
    leat_buffer_unref(buffer);
    leati_pools_close(&pools);
    return status;
}

static void test_no_memory(void **state) {
    (void)state;
    torture_run(take_once, NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, torture_setup, torture_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_sizes), TEST(test_reuse), TEST(test_no_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
