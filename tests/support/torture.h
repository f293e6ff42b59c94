/* An allocator for tests: counts what is alive, fails a chosen allocation, notices double frees and
 * what is written behind its memory.
 *
 * Header only: include it after "support/cmocka.h", in the one source file of a test:
 *
 *     #include "support/torture.h"
 *
 * A test that must not leak runs between begin and end; both are cheap enough for every test, and
 * fit cmocka's setup and teardown (cmocka_unit_test_setup_teardown(test, torture_setup,
 * torture_teardown)):
 *
 *     torture_begin();
 *     ... build, use, free ...
 *     torture_end();            fails the test if an allocation is alive
 *
 * A call that must survive each failed allocation is put into a function that builds, uses and
 * frees, and returns the first status that is not LEAT_OK:
 *
 *     static leat_status build(void *context, leat_error *err) {
 *         leat_thing *thing = leat_thing_new(context, err);
 *         if (thing == NULL)
 *             return torture_code(err);
 *         leat_thing_free(thing);
 *         return LEAT_OK;
 *     }
 *     torture_run(build, context);      between torture_begin and torture_end
 *
 * torture_run calls it with the 1st, 2nd, ... allocation failing until none fails, and checks each
 * time that the failure came back as RESOURCE_EXHAUSTED with a text that says so, and that
 * nothing more is alive than before. torture_run_tolerant also accepts LEAT_OK when an allocation
 * failed, for code that can do without it. For a loop of one's own: torture_fail_at(n), then
 * torture_failed() says whether the n-th allocation came. Counts are exact with any number of
 * threads; which allocation is the n-th is then up to the scheduler. */
#ifndef TORTURE_H
#define TORTURE_H

#include <leat/base.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TORTURE_LIVE UINT64_C(0x6C697665206C6561)
#define TORTURE_DEAD UINT64_C(0x646561646465616C)
#define TORTURE_GUARD                                                                              \
    0xC3 /* stands in TORTURE_BEHIND bytes behind all memory until it is freed                     \
          */
#define TORTURE_UNUSED __attribute__((unused))

/* Of POSIX; declared here because strict C11 hides it. */
int posix_memalign(void **memory, size_t alignment, size_t size);

enum { TORTURE_BEHIND = 64 };

/* Lies just before the memory that it describes. */
typedef struct torture_header {
    void *raw;
    size_t size;
    uint64_t mark;
    uint64_t padding; /* keeps the size a multiple of 16 */
} torture_header;

static atomic_long torture_alive;
static atomic_long torture_calls;     /* allocations since torture_fail_at */
static atomic_long torture_fail_on;   /* 0: none fails; below: this one and all after it */
static atomic_size_t torture_refused; /* bytes of the last one that failed */

/* Arenas ask for more than they need and take what they need where that fails. Between these two
 * they get no more, so that a write behind a part of an arena is noticed as well. One thread. */
static bool torture_is_scarce;
static size_t torture_last_chunk;

TORTURE_UNUSED static void torture_scarce(bool on) {
    torture_is_scarce = on;
    torture_last_chunk = 0;
}

TORTURE_UNUSED static bool torture_is_ample(size_t size, size_t alignment) {
    enum { FIRST = 4096, HEADER = 64 }; /* of base/arena.c */
    if (!torture_is_scarce || alignment != HEADER)
        return false;
    if (size == FIRST + HEADER ||
        (torture_last_chunk > 0 && size == 2 * torture_last_chunk - HEADER))
        return true;
    torture_last_chunk = size;
    return false;
}

TORTURE_UNUSED static bool torture_refuses(size_t size) {
    long call = atomic_fetch_add(&torture_calls, 1) + 1;
    long n = atomic_load(&torture_fail_on);
    bool refuses = n < 0 ? call >= -n : call == n;
    if (refuses)
        atomic_store(&torture_refused, size);
    return refuses;
}

TORTURE_UNUSED static torture_header *torture_header_of(void *memory) {
    torture_header *header = (torture_header *)memory - 1;
    if (header->mark != TORTURE_LIVE) {
        fprintf(stderr, "torture: %p is freed twice, or is not from the allocator\n", memory);
        abort();
    }
    return header;
}

TORTURE_UNUSED static void *torture_take(size_t size, size_t alignment) {
    if (alignment < 2 * sizeof(void *))
        alignment = 2 * sizeof(void *);
    size_t front = sizeof(torture_header) > alignment ? sizeof(torture_header) : alignment;
    void *raw = NULL;
    if (size > SIZE_MAX - front - TORTURE_BEHIND ||
        posix_memalign(&raw, alignment, front + size + TORTURE_BEHIND) != 0)
        return NULL;
    char *memory = (char *)raw + front;
    torture_header *header = (torture_header *)(void *)memory - 1;
    *header = (torture_header){.raw = raw, .size = size, .mark = TORTURE_LIVE};
    memset(memory, 0xA5, size); /* whoever reads memory before writing it finds no zeros */
    memset(memory + size, TORTURE_GUARD, TORTURE_BEHIND);
    atomic_fetch_add(&torture_alive, 1);
    return memory;
}

TORTURE_UNUSED static void torture_give(void *memory) {
    torture_header *header = torture_header_of(memory);
    const unsigned char *behind = (const unsigned char *)memory + header->size;
    for (int i = 0; i < TORTURE_BEHIND; i++) {
        if (behind[i] != TORTURE_GUARD) {
            fprintf(stderr, "torture: byte %d behind %zu bytes at %p was written\n", i,
                    header->size, memory);
            abort();
        }
    }
    header->mark = TORTURE_DEAD;
    memset(memory, 0x5A, header->size);
    free(header->raw);
    atomic_fetch_sub(&torture_alive, 1);
}

TORTURE_UNUSED static void *torture_alloc(void *context, size_t size, size_t alignment) {
    (void)context;
    return torture_refuses(size) || torture_is_ample(size, alignment)
               ? NULL
               : torture_take(size, alignment);
}

TORTURE_UNUSED static void *torture_resize(void *context, void *memory, size_t size) {
    (void)context;
    size_t old = torture_header_of(memory)->size;
    void *moved = torture_refuses(size) ? NULL : torture_take(size, 16);
    if (moved == NULL)
        return NULL;
    memcpy(moved, memory, old < size ? old : size);
    torture_give(memory);
    return moved;
}

TORTURE_UNUSED static void torture_release(void *context, void *memory) {
    (void)context;
    if (memory != NULL)
        torture_give(memory);
}

/* The n-th allocation from now on fails, and only that one; 0: none. */
TORTURE_UNUSED static void torture_fail_at(long n) {
    atomic_store(&torture_calls, 0);
    atomic_store(&torture_fail_on, n);
}

/* The n-th allocation from now on fails, and all after it: also what would do with less memory. */
TORTURE_UNUSED static void torture_fail_from(long n) {
    torture_fail_at(-n);
}

/* Whether the allocation chosen by torture_fail_at or torture_fail_from has come. */
TORTURE_UNUSED static bool torture_failed(void) {
    long n = atomic_load(&torture_fail_on);
    return n != 0 && atomic_load(&torture_calls) >= labs(n);
}

/* Allocations that are alive, and calls to allocate since the last torture_fail_at or begin. */
TORTURE_UNUSED static long torture_live(void) {
    return atomic_load(&torture_alive);
}
TORTURE_UNUSED static long torture_count(void) {
    return atomic_load(&torture_calls);
}

TORTURE_UNUSED static void torture_begin(void) {
    const leat_allocator allocator = {NULL, torture_alloc, torture_resize, torture_release};
    leat_allocator_set(&allocator);
    atomic_store(&torture_alive, 0);
    torture_fail_at(0);
}

TORTURE_UNUSED static void torture_end(void) {
    long live = torture_live();
    leat_allocator_set(NULL);
    assert_int_equal(live, 0);
}

TORTURE_UNUSED static int torture_setup(void **state) {
    (void)state;
    torture_begin();
    return 0;
}

TORTURE_UNUSED static int torture_teardown(void **state) {
    (void)state;
    torture_end();
    return 0;
}

/* gcc's build fails every allocation. The others of `make test` run the same code again: under the
 * thread sanitizer, which sees all threads in every few rounds, under the address sanitizer and as
 * clang makes it. */
#if defined(__SANITIZE_THREAD__)
#define TORTURE_STRIDE 31
#elif defined(__clang__)
#if __has_feature(thread_sanitizer)
#define TORTURE_STRIDE 31
#elif __has_feature(address_sanitizer)
#define TORTURE_STRIDE 3
#else
#define TORTURE_STRIDE 3
#endif
#else
#define TORTURE_STRIDE 1
#endif

/* The code of what was refused, which says so. */
TORTURE_UNUSED static leat_status torture_code(const leat_error *err) {
    return err->code == LEAT_OK ? LEAT_INTERNAL : err->code;
}

typedef leat_status (*torture_body)(void *context, leat_error *err);

/* The text speaks of memory, and if of bytes, then of those that were refused. */
TORTURE_UNUSED static void torture_check_text(long n, const char *text) {
    char bytes[60];
    (void)snprintf(bytes, sizeof bytes, ": %zu bytes were refused", atomic_load(&torture_refused));
    bool named = strstr(text, "bytes were refused") != NULL;
    if (strstr(text, "memory") == NULL || (named && strstr(text, bytes) == NULL))
        fail_msg("allocation %ld failed: %s; expected \"out of memory%s\"", n, text, bytes);
}

/* One round; returns whether an allocation failed in it. */
TORTURE_UNUSED static bool torture_round(torture_body body, void *context, long n, bool tolerant) {
    long before = torture_live();
    leat_error err = {0};
    torture_fail_at(n);
    leat_status status = body(context, &err);
    bool failed = torture_failed();
    torture_fail_at(0);
    if (torture_live() != before)
        print_error("allocation %ld failed: %ld are alive, %ld were\n", n, torture_live(), before);
    assert_int_equal(torture_live(), before);
    if (status != LEAT_OK && (!failed || status != LEAT_RESOURCE_EXHAUSTED || err.text[0] == 0))
        print_error("allocation %ld%s: %s: %s\n", n, failed ? " failed" : "",
                    leat_status_name(status), err.text);
    if (!failed || (tolerant && status == LEAT_OK)) {
        assert_int_equal(status, LEAT_OK);
    } else {
        assert_int_equal(status, LEAT_RESOURCE_EXHAUSTED);
        assert_int_equal(err.code, LEAT_RESOURCE_EXHAUSTED);
        torture_check_text(n, err.text);
    }
    return failed;
}

TORTURE_UNUSED static void torture_run(torture_body body, void *context) {
    for (long n = 1; torture_round(body, context, n, false); n += TORTURE_STRIDE) {
    }
}

TORTURE_UNUSED static void torture_run_tolerant(torture_body body, void *context) {
    for (long n = 1; torture_round(body, context, n, true); n += TORTURE_STRIDE) {
    }
}

#endif
