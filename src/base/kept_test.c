/* Blocks that were freed: taken again by who asks for as much, bounded, and gone where memory is
 * short, where it is limited, and where the user brings an allocator. */
#include "support/cmocka.h"

#include "base/alloc.h"
#include "base/kept.h"
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)

static void *large(size_t mib) {
    void *memory = leati_alloc_aligned(mib * MIB, 64);
    assert_non_null(memory);
    memset(memory, 1, mib * MIB);
    return memory;
}

/* Are blocks kept in this build? Not so under the sanitizers. */
static bool keeps(void) {
    leati_kept_drop();
    leati_free(large(8));
    bool kept = leati_kept_bytes() > 0;
    leati_kept_drop();
    return kept;
}

static void test_takes_what_was_freed(void **state) {
    (void)state;
    if (!keeps())
        skip();
    void *memory = large(8);
    leati_free(memory);
    assert_true(leati_kept_bytes() >= 8 * MIB);
    void *larger = large(10), *smaller = large(4);
    assert_ptr_not_equal(larger, memory);
    assert_ptr_not_equal(smaller, memory);
    void *same = large(8);
    assert_ptr_equal(same, memory);
    assert_int_equal(leati_kept_bytes(), 0);
    leati_free(same);
    leati_free(larger);
    leati_free(smaller);
    assert_true(leati_kept_drop());
    assert_false(leati_kept_drop());
    assert_int_equal(leati_kept_bytes(), 0);
}

/* The C library gives the pages of its heaps back as well, from 128 KiB on. */
static void test_takes_small_ones(void **state) {
    (void)state;
    if (!keeps())
        skip();
    void *blocks[100];
    for (size_t i = 0; i < 100; i++)
        blocks[i] = leati_alloc_aligned(MIB / 4 + i, 64);
    void *whole = large(8);
    leati_free(whole);
    for (size_t i = 0; i < 100; i++)
        leati_free(blocks[i]);
    assert_true(leati_kept_bytes() >= 8 * MIB + 100 * MIB / 4);
    for (size_t i = 100; i-- > 0;)
        assert_ptr_equal(leati_alloc_aligned(MIB / 4, 64), blocks[i]);
    void *same = large(8);
    assert_ptr_equal(same, whole);
    leati_free(same);
    for (size_t i = 0; i < 100; i++)
        leati_free(blocks[i]);
    leati_kept_drop();
}

static void test_keeps_no_more_than_the_limit(void **state) {
    (void)state;
    if (!keeps())
        skip();
    leati_kept_set_limit(20 * MIB);
    void *blocks[4];
    for (int i = 0; i < 4; i++)
        blocks[i] = large(8);
    for (int i = 0; i < 4; i++)
        leati_free(blocks[i]);
    assert_true(leati_kept_bytes() >= 16 * MIB && leati_kept_bytes() <= 20 * MIB);
    void *last = large(8);
    assert_ptr_equal(last, blocks[3]);
    leati_free(last);
    leati_free(large(30));
    assert_true(leati_kept_bytes() <= 20 * MIB);
    leati_kept_set_limit(10 * MIB);
    assert_true(leati_kept_bytes() <= 10 * MIB);
    leati_kept_set_limit(0);
    leati_free(large(8));
    assert_int_equal(leati_kept_bytes(), 0);
    leati_kept_set_limit(SIZE_MAX);
    leati_free(leati_alloc_aligned(MIB / 16, 64));
    assert_int_equal(leati_kept_bytes(), 0);
}

static void *hook_alloc(void *context, size_t size, size_t alignment) {
    (void)alignment;
    ++*(int *)context;
    return malloc(size);
}

static void *hook_resize(void *context, void *memory, size_t size) {
    (void)context;
    return realloc(memory, size);
}

static void hook_release(void *context, void *memory) {
    --*(int *)context;
    free(memory);
}

static void test_an_allocator_of_the_user_sees_all(void **state) {
    (void)state;
    int alive = 0;
    leati_free(large(8));
    const leat_allocator own = {
        .context = &alive, .alloc = hook_alloc, .resize = hook_resize, .release = hook_release};
    leat_allocator_set(&own);
    assert_int_equal(leati_kept_bytes(), 0);
    void *memory = large(8);
    assert_int_equal(alive, 1);
    leati_free(memory);
    assert_int_equal(alive, 0);
    assert_int_equal(leati_kept_bytes(), 0);
    leat_allocator_set(NULL);
}

static void *take_and_give(void *unused) {
    for (size_t i = 0; i < 200; i++) {
        unsigned char *memory = leati_alloc_aligned((4 + i % 3) * MIB, 64);
        if (memory == NULL)
            return memory;
        memset(memory, (int)(i % 251), 4096);
        for (int at = 0; at < 4096; at++)
            if (memory[at] != i % 251)
                return NULL;
        leati_free(memory);
    }
    return unused;
}

static void test_threads_never_share_a_block(void **state) {
    pthread_t threads[4];
    int fine = 0;
    (void)state;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, take_and_give, &fine), 0);
    for (int i = 0; i < 4; i++) {
        void *result = NULL;
        pthread_join(threads[i], &result);
        assert_ptr_equal(result, &fine);
    }
    leati_kept_drop();
}

static void test_a_child_goes_on(void **state) {
    (void)state;
    leati_free(large(8));
    pid_t child = fork();
    if (child == 0) {
        leati_free(leati_alloc_aligned(8 * MIB, 64));
        leati_kept_drop();
        _exit(leati_kept_bytes() == 0 ? 0 : 1);
    }
    int status = 1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    leati_kept_drop();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_takes_what_was_freed),
        cmocka_unit_test(test_takes_small_ones),
        cmocka_unit_test(test_keeps_no_more_than_the_limit),
        cmocka_unit_test(test_an_allocator_of_the_user_sees_all),
        cmocka_unit_test(test_threads_never_share_a_block),
        cmocka_unit_test(test_a_child_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
