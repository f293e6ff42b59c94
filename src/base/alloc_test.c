/* Memory: the hook, overflow, growth, arenas. */
#include "support/cmocka.h"

#include "base/alloc.h"
#include "base/error.h"
#include "support/torture.h"

static void zero_bytes_give_a_pointer(void **state) {
    (void)state;
    void *memory = leati_alloc(0, 8);
    assert_non_null(memory);
    leati_free(memory);
    leati_free(NULL);
}

static void alignment_is_kept(void **state) {
    (void)state;
    for (size_t alignment = 1; alignment <= 4096; alignment *= 2) {
        char *memory = leati_alloc_aligned(100, alignment);
        assert_non_null(memory);
        assert_int_equal((uintptr_t)memory % (alignment < 16 ? 16 : alignment), 0);
        memset(memory, 1, 100);
        leati_free(memory);
    }
}

static void overflow_is_refused(void **state) {
    (void)state;
    assert_null(leati_alloc(SIZE_MAX / 2, 4));
    assert_null(leati_alloc_zero(SIZE_MAX, 1));
    assert_null(leati_alloc_aligned((size_t)PTRDIFF_MAX + 1, 64));
    assert_null(leati_alloc_resize(NULL, SIZE_MAX / 8, 16));
    assert_null(leati_strndup("x", SIZE_MAX));
    size_t out = 7;
    assert_false(leati_add_size(SIZE_MAX, 1, &out));
    assert_false(leati_mul_size(SIZE_MAX / 2, 3, &out));
    assert_true(leati_add_size(SIZE_MAX - 1, 1, &out));
    assert_true(out == SIZE_MAX);
    assert_true(leati_mul_size(1000, 1000, &out));
    assert_int_equal(out, 1000000);
}

static void zeroed_memory_is_zero(void **state) {
    (void)state;
    unsigned char *memory = leati_alloc_zero(10, 7);
    assert_non_null(memory);
    for (int i = 0; i < 70; i++)
        assert_int_equal(memory[i], 0);
    leati_free(memory);
}

static void resize_keeps_content(void **state) {
    (void)state;
    char *memory = leati_alloc_resize(NULL, 4, 1);
    assert_non_null(memory);
    memcpy(memory, "abcd", 4);
    torture_fail_at(1);
    assert_null(leati_alloc_resize(memory, 100, 1));
    assert_memory_equal(memory, "abcd", 4);
    char *grown = leati_alloc_resize(memory, 100, 1);
    assert_non_null(grown);
    assert_memory_equal(grown, "abcd", 4);
    leati_free(grown);
}

static void strings_are_copied(void **state) {
    (void)state;
    char *all = leati_strdup("leat");
    char *part = leati_strndup("leat", 2);
    assert_string_equal(all, "leat");
    assert_string_equal(part, "le");
    assert_null(leati_strdup(NULL));
    leati_free(all);
    leati_free(part);
}

static void grow_doubles(void **state) {
    (void)state;
    int *array = NULL;
    size_t capacity = 0;
    for (int i = 0; i < 1000; i++) {
        assert_true(leati_grow((void **)&array, &capacity, (size_t)i + 1, sizeof *array));
        array[i] = i;
    }
    for (int i = 0; i < 1000; i++)
        assert_int_equal(array[i], i);
    assert_int_equal(capacity, 1024);
    assert_int_equal(torture_count(), 8);
    assert_false(leati_grow((void **)&array, &capacity, SIZE_MAX, sizeof *array));
    assert_int_equal(capacity, 1024);
    leati_free(array);
}

/* A round of an arena: blocks of growing size, each filled, none overlapping the one before. */
static void fill_arena(leati_arena *arena, size_t largest) {
    for (size_t size = 0; size <= largest; size = size * 3 + 1) {
        unsigned char *block = leati_arena_alloc(arena, size);
        assert_non_null(block);
        assert_int_equal((uintptr_t)block % 64, 0);
        memset(block, (int)(size & 0xFF), size);
        unsigned char *other = leati_arena_alloc(arena, 10);
        assert_non_null(other);
        memset(other, 0xEE, 10);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(block[i], size & 0xFF);
    }
}

static void arena_settles(void **state) {
    (void)state;
    leati_arena arena = {0};
    fill_arena(&arena, 100000);
    leati_arena_reset(&arena);
    torture_fail_at(0);
    for (int round = 0; round < 5; round++) {
        fill_arena(&arena, 100000);
        leati_arena_reset(&arena);
    }
    assert_int_equal(torture_count(), 0);
    leati_arena_fini(&arena);
    leati_arena_reset(&arena);
    leati_arena_fini(&arena);
}

static leat_status use_arena(void *context, leat_error *err) {
    (void)context;
    leati_arena arena = {0};
    leat_status status = LEAT_OK;
    for (size_t size = 1; size < 100000 && status == LEAT_OK; size *= 4)
        if (leati_arena_alloc(&arena, size) == NULL)
            status = leati_no_memory(err);
    leati_arena_reset(&arena);
    leati_arena_fini(&arena);
    return status;
}

static void arena_survives_failures(void **state) {
    (void)state;
    leati_arena arena = {0};
    assert_null(leati_arena_alloc(&arena, SIZE_MAX - 10));
    leati_arena_fini(&arena);
    /* A refused chunk is asked for again at its smallest size, so some failures pass unnoticed. */
    torture_run_tolerant(use_arena, NULL);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, torture_setup, torture_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(zero_bytes_give_a_pointer),
        TEST(alignment_is_kept),
        TEST(overflow_is_refused),
        TEST(zeroed_memory_is_zero),
        TEST(resize_keeps_content),
        TEST(strings_are_copied),
        TEST(grow_doubles),
        TEST(arena_settles),
        TEST(arena_survives_failures),
        cmocka_unit_test(zero_bytes_give_a_pointer), /* without a hook */
        cmocka_unit_test(alignment_is_kept),
        cmocka_unit_test(zeroed_memory_is_zero),
        cmocka_unit_test(strings_are_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
