/* Shared memory: how it is divided for any number of ranks, that nothing of it can be left behind,
 * and the way with a name where processes do not see each other's descriptors. */
#include "support/cmocka.h"

#include "coll/shared_segment.h"
#include "support/address.h"
#include "support/segments.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { LONG_MS = 60000, PAGE = 4096, BYTES = 5 * PAGE };

/* A piece of reduce_scatter is what a slot has for each rank: at least a value. */
static void test_layout(void **state) {
    (void)state;
    for (int ranks = 1; ranks <= 5000; ranks = ranks < 1100 ? ranks + 1 : ranks + 777) {
        leati_shared_segment_layout l =
            leati_shared_segment_lay_out(ranks, (size_t)ranks * 100 + 1, PAGE);
        assert_true(l.slot_bytes / (size_t)ranks >= 16);
        assert_true(l.num_rows >= 3 && l.num_rows <= 16);
        assert_true(l.head_bytes > (size_t)ranks * 100 && l.slot_bytes <= 1 << 18);
        assert_int_equal((l.head_bytes | l.slot_bytes | l.size) % PAGE, 0);
        assert_int_equal(l.size, l.head_bytes + l.num_rows * (size_t)ranks * l.slot_bytes);
        /* About 16 MiB as long as values of all ranks fit into a page. */
        assert_true(ranks > 256 || l.size - l.head_bytes <= 16 << 20);
    }
}

typedef struct process {
    leati_store_options options;
    leati_store *store;
    void *map;
    leat_error err;
    pthread_t thread;
} process;

static void *open_store(void *context) {
    process *p = context;
    p->store = leati_store_open(&p->options, &p->err);
    return NULL;
}

static void *open_segment(void *context) {
    process *p = context;
    p->map = leati_shared_segment_open(p->store, p->options.rank, 2, BYTES, LONG_MS, &p->err);
    return NULL;
}

static void start(process *both, char *address, size_t size) {
    free_address(address, size);
    for (int i = 0; i < 2; i++) {
        both[i] = (process){.options = {.address = address,
                                        .name = "a worker",
                                        .rank = i,
                                        .num_ranks = 2,
                                        .timeout_ms = LONG_MS}};
        assert_int_equal(pthread_create(&both[i].thread, NULL, open_store, &both[i]), 0);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(both[i].thread, NULL);
    assert_true(both[0].store != NULL && both[1].store != NULL);
}

static void end(process *both) {
    leati_store_close(both[1].store);
    leati_store_close(both[0].store);
}

/* What rank 0 has told. */
static void meet(process *p, const char *name, const char *value, char *told, size_t size) {
    leati_store_values all;
    assert_int_equal(
        leati_store_barrier(p->store, name, value, strlen(value), LONG_MS, &all, &p->err), LEAT_OK);
    memcpy(told, all.bytes + all.offset[0],
           all.offset[1] - all.offset[0] < size ? all.offset[1] - all.offset[0] : size - 1);
    leati_store_values_fini(&all);
}

/* Between making and opening no file is there that a kill could leave; this is the moment at which
 * one was. */
static void test_without_a_name(void **state) {
    (void)state;
    char address[32], told[200] = "";
    process both[2];
    start(both, address, sizeof address);
    assert_int_equal(pthread_create(&both[0].thread, NULL, open_segment, &both[0]), 0);
    meet(&both[1], "shared memory", "", told, sizeof told);
    assert_memory_equal(told, "/proc/", 6);
    assert_int_equal(segments_of(getpid()), 0);
    meet(&both[1], "shared memory opened", "y", told, sizeof told);
    pthread_join(both[0].thread, NULL);
    assert_non_null(both[0].map);
    assert_int_equal(munmap(both[0].map, BYTES), 0);
    end(both);
}

/* One cannot open it: all take one with a name, which goes when all have it. */
static void test_with_a_name(void **state) {
    (void)state;
    char address[32], told[200] = "";
    process both[2];
    start(both, address, sizeof address);
    assert_int_equal(pthread_create(&both[0].thread, NULL, open_segment, &both[0]), 0);
    meet(&both[1], "shared memory", "", told, sizeof told);
    meet(&both[1], "shared memory opened", "n", told, sizeof told);
    meet(&both[1], "shared memory", "", told, sizeof told);
    assert_memory_equal(told, "/leat-", 6);
    assert_int_equal(segments_of(getpid()), 1);
    meet(&both[1], "shared memory opened", "y", told, sizeof told);
    pthread_join(both[0].thread, NULL);
    assert_non_null(both[0].map);
    assert_int_equal(segments_of(getpid()), 0);
    assert_int_equal(munmap(both[0].map, BYTES), 0);
    end(both);
}

static void test_shared(void **state) {
    (void)state;
    char address[32];
    process both[2];
    start(both, address, sizeof address);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&both[i].thread, NULL, open_segment, &both[i]), 0);
    for (int i = 0; i < 2; i++)
        pthread_join(both[i].thread, NULL);
    assert_true(both[0].map != NULL && both[1].map != NULL && both[0].map != both[1].map);
    char *mine = both[0].map, *theirs = both[1].map;
    for (int i = 0; i < BYTES - 16; i++)
        assert_int_equal(theirs[i], 0);
    mine[PAGE] = 'x';
    assert_int_equal(theirs[PAGE], 'x');
    for (int i = 0; i < 2; i++)
        assert_int_equal(munmap(both[i].map, BYTES), 0);
    end(both);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layout),
        cmocka_unit_test(test_without_a_name),
        cmocka_unit_test(test_with_a_name),
        cmocka_unit_test(test_shared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
