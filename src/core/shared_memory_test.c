/* Shared memory of buffers: what lies there, what is used again, what others can do to it. */
#include "support/cmocka.h"

#include "base/error.h"
#include "core/buffer.h"
#include "core/shared_memory.h"
#include "support/refused.h"
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MB = 1 << 20, MOST = 256 * MB };

static leat_buffer *buffer_of(size_t size) {
    leat_buffer *buffer = leat_buffer_new(size, &(leat_error){0});
    assert_non_null(buffer);
    return buffer;
}

static bool is_shared(const leat_buffer *buffer) {
    leati_shared_memory_place place;
    return leati_shared_memory_find(leat_buffer_data(buffer), leat_buffer_size(buffer), &place);
}

static void begin(void) {
    leat_error err = {0};
    if (leati_shared_memory_use(MOST, &err) == LEAT_OK)
        return;
    assert_int_equal(err.code, LEAT_UNIMPLEMENTED);
    skip();
}

static void only_large_buffers_of_users_lie_there(void **state) {
    (void)state;
    leat_buffer *before = buffer_of(MB);
    begin();
    leat_buffer *large = buffer_of(LEATI_SHARED_MEMORY_LEAST), *small = buffer_of(1000);
    leat_buffer *growable = leati_buffer_growable(MB, &(leat_error){0});
    assert_false(is_shared(before));
    assert_true(is_shared(large));
    assert_false(is_shared(small));
    assert_false(is_shared(growable));
    assert_int_equal((uintptr_t)leat_buffer_data(large) % 4096, 0);
    assert_true(leati_buffer_sole_owner(large));
    leati_shared_memory_leave();
    leat_buffer *after = buffer_of(MB);
    assert_false(is_shared(after));
    /* What lies there stays until its buffer goes. */
    memset(leat_buffer_data(large), 7, leat_buffer_size(large));
    leat_buffer_unref(before);
    leat_buffer_unref(large);
    leat_buffer_unref(small);
    leat_buffer_unref(growable);
    leat_buffer_unref(after);
    assert_int_equal(leati_shared_memory_bytes(), 0);
}

static void memory_is_used_again_unless_it_is_retired(void **state) {
    (void)state;
    begin();
    leat_buffer *first = buffer_of(3 * MB), *second = buffer_of(MB), *third = buffer_of(2 * MB);
    void *was = leat_buffer_data(first);
    leat_buffer_unref(second);
    leat_buffer_unref(first); /* one gap of 4 MiB */
    leat_buffer *again = buffer_of(4 * MB);
    assert_ptr_equal(leat_buffer_data(again), was);
    /* A byte within it says which one. */
    leati_shared_memory_retire((char *)was + MB);
    memset(was, 5, MB);
    leat_buffer_unref(again);
    leat_buffer *other = buffer_of(MB);
    assert_ptr_not_equal(leat_buffer_data(other), was);
    memset(leat_buffer_data(other), 9, MB);
    assert_int_equal(*(char *)was, 5);
    leat_buffer_unref(other);
    leat_buffer_unref(third);
    /* The segment that has it goes with the last buffer. */
    assert_int_equal(leati_shared_memory_bytes(), 0);
    leati_shared_memory_leave();
}

static void segments_are_bounded_and_go(void **state) {
    (void)state;
    begin();
    leat_buffer *buffers[6];
    for (int i = 0; i < 6; i++)
        buffers[i] = buffer_of(60 * MB);
    assert_true(is_shared(buffers[3]));
    assert_false(is_shared(buffers[4])); /* 256 MiB are used up */
    leat_buffer *huge = buffer_of(100 * MB);
    assert_false(is_shared(huge));
    leat_buffer_unref(huge);
    for (int i = 0; i < 6; i++)
        leat_buffer_unref(buffers[i]);
    /* One is kept. */
    assert_int_equal(leati_shared_memory_bytes(), 64 * MB);
    huge = buffer_of(100 * MB);
    assert_true(is_shared(huge));
    leat_buffer_unref(huge);
    leati_shared_memory_leave();
    assert_int_equal(leati_shared_memory_bytes(), 0);
}

static void nobody_else_writes_or_cuts(void **state) {
    (void)state;
    leati_shared_memory_place place;
    begin();
    leat_buffer *buffer = buffer_of(MB);
    strcpy(leat_buffer_data(buffer), "values");
    assert_true(leati_shared_memory_find(leat_buffer_data(buffer), MB, &place));
    assert_true(leati_shared_memory_has(place.segment));
    errno = 0;
    assert_ptr_equal(
        mmap(NULL, place.segment_size, PROT_READ | PROT_WRITE, MAP_SHARED, place.file, 0),
        MAP_FAILED);
    assert_int_equal(errno, EPERM);
    assert_int_equal(pwrite(place.file, "x", 1, 0), -1);
    assert_int_equal(ftruncate(place.file, 4096), -1);
    char *seen = mmap(NULL, place.segment_size, PROT_READ, MAP_SHARED, place.file, 0);
    assert_ptr_not_equal(seen, MAP_FAILED);
    assert_string_equal(seen + place.offset, "values");
    munmap(seen, place.segment_size);
    leat_buffer_unref(buffer);
    leati_shared_memory_leave();
    assert_false(leati_shared_memory_has(place.segment));
}

/* A child of a fork sees what was there, whatever the parent does next, and changes nothing. */
static void forks_do_not_meet(void **state) {
    (void)state;
    int go[2];
    begin();
    leat_buffer *buffer = buffer_of(MB);
    char *bytes = leat_buffer_data(buffer), said = 0;
    memset(bytes, 3, MB);
    assert_int_equal(pipe(go), 0);
    pid_t child = fork();
    if (child == 0) {
        bool right =
            !leati_buffer_sole_owner(buffer) && read(go[0], &said, 1) == 1 && bytes[0] == 3;
        leat_buffer *own = leat_buffer_new(MB, &(leat_error){0});
        right = right && own != NULL && !is_shared(own);
        leat_buffer_unref(own);
        leat_buffer_unref(buffer);
        leati_shared_memory_leave();
        _exit(right ? 0 : 1);
    }
    leat_buffer_unref(buffer);
    leat_buffer *next = buffer_of(MB);
    memset(leat_buffer_data(next), 4, MB);
    assert_int_equal(write(go[1], "g", 1), 1);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(*(char *)leat_buffer_data(next), 4);
    leat_buffer_unref(next);
    leati_shared_memory_leave();
    close(go[0]);
    close(go[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_large_buffers_of_users_lie_there),
        cmocka_unit_test(memory_is_used_again_unless_it_is_retired),
        cmocka_unit_test(segments_are_bounded_and_go),
        cmocka_unit_test(nobody_else_writes_or_cuts),
        cmocka_unit_test(forks_do_not_meet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
