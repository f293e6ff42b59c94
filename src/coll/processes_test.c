/* Collectives between processes, with threads as the processes, each with a store of its own: sums
 * by an independent model, unequal calls, a missing rank, an abort, the end of a rank. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../tests/support/address.h"
#include "coll/overlap.h"
#include "coll/processes.h"
#include "coll/threads.h"
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONG_MS = 60000, SHORT_MS = 400, MOST = 4, LARGE = 300001 };

typedef leati_collective *(*opener)(leati_store *store, int rank, int num_ranks, int64_t timeout_ms,
                                    leat_error *err);

typedef struct process {
    char address[32], name[16];
    int rank, count, replicas;
    opener open;
    int64_t timeout_ms;
    void (*main)(struct process *process, int rank);
    leati_collective *collective;
    leati_store *store;
    atomic_int ready; /* `collective` is there */
    leat_error err;
    pthread_t thread;
} process;

static process processes[MOST];

static void lost(void *context, const leat_error *why) {
    process *p = context;
    while (atomic_load(&p->ready) == 0)
        usleep(1000);
    if (p->collective != NULL)
        p->collective->ops->abort(p->collective, why);
}

typedef struct replica {
    process *process;
    int rank;
    pthread_t thread;
} replica;

static void *replica_main(void *context) {
    replica *r = context;
    r->process->main(r->process, r->rank);
    return NULL;
}

static void run_replicas(process *p) {
    replica replicas[MOST];
    for (int i = 0; i < p->replicas; i++) {
        replicas[i] = (replica){.process = p, .rank = p->rank * p->replicas + i};
        assert_int_equal(pthread_create(&replicas[i].thread, NULL, replica_main, &replicas[i]), 0);
    }
    for (int i = 0; i < p->replicas; i++)
        pthread_join(replicas[i].thread, NULL);
}

static void *process_main(void *context) {
    process *p = context;
    leati_store_options options = {.address = p->address,
                                   .name = p->name,
                                   .rank = p->rank,
                                   .num_ranks = p->count,
                                   .timeout_ms = LONG_MS,
                                   .heartbeat_ms = 20,
                                   .dead_ms = 5000,
                                   .lost = lost,
                                   .context = p};
    p->store = leati_store_open(&options, &p->err);
    if (p->store == NULL)
        return NULL;
    p->collective = p->open(p->store, p->rank, p->count, p->timeout_ms, &p->err);
    if (p->collective != NULL && p->replicas > 0) {
        leati_collective *inner =
            p->replicas == 1 ? NULL : leati_threads_collective_new(p->replicas, LONG_MS, &p->err);
        p->collective = leati_hierarchy_new(inner, p->collective, p->rank, &p->err);
    }
    atomic_store(&p->ready, 1);
    if (p->collective != NULL && p->replicas > 0)
        run_replicas(p);
    else if (p->collective != NULL)
        p->main(p, p->rank);
    leati_store_close(p->store);
    if (p->collective != NULL)
        p->collective->ops->close(p->collective);
    return NULL;
}

/* Runs `main` on `count` processes with `replicas` ranks each (0: without a hierarchy). */
static void run(opener open, int count, int replicas, int64_t timeout_ms,
                void (*main)(process *process, int rank)) {
    char address[32];
    free_address(address, sizeof address);
    for (int i = 0; i < count; i++) {
        process *p = &processes[i];
        memset(p, 0, sizeof *p);
        memcpy(p->address, address, sizeof address);
        snprintf(p->name, sizeof p->name, "worker %d", i);
        p->rank = i;
        p->count = count;
        p->replicas = replicas;
        p->open = open;
        p->timeout_ms = timeout_ms;
        p->main = main;
        assert_int_equal(pthread_create(&p->thread, NULL, process_main, p), 0);
    }
    for (int i = 0; i < count; i++)
        pthread_join(processes[i].thread, NULL);
    for (int i = 0; i < count; i++) {
        if (processes[i].collective == NULL)
            fail_msg("process %d: %s", i, processes[i].err.text);
    }
}

/* The same, with sums beside computing; the other calls keep their place in the order. */
static leati_collective *open_overlapped(leati_store *store, int rank, int num_ranks,
                                         int64_t timeout_ms, leat_error *err) {
    leati_collective *inner = leati_processes_new(store, rank, num_ranks, timeout_ms, err);
    return inner == NULL ? NULL : leati_overlap_new(inner, rank, 1, err);
}

static const opener openers[] = {
    leati_shared_collective_new,
#ifdef LEATI_HAVE_GLOO
    leati_gloo_collective_new,
#endif
    leati_processes_new,
};
enum { NUM_OPENERS = sizeof openers / sizeof openers[0] };

// ---- values ----

static float float_of(int rank, int64_t i) {
    return (float)((rank + 1) * 0.37 + (double)(i % 1000) * 1.25);
}

/* Sums of floats in any order stay within this of the sum in double. */
static void check_float(float found, double expected) {
    if (fabs(found - expected) > 1e-5 * (1 + fabs(expected)))
        fail_msg("expected %.9g, found %.9g", expected, (double)found);
}

static void reduce_floats(process *p, int rank, int64_t count) {
    leati_collective *c = p->collective;
    leat_error err = {0};
    float *values = malloc((size_t)(count > 0 ? count : 1) * sizeof *values);
    for (int reduction = LEATI_REDUCTION_SUM; reduction <= LEATI_REDUCTION_MAX; reduction++) {
        for (int64_t i = 0; i < count; i++)
            values[i] = float_of(rank, i);
        assert_int_equal(c->ops->all_reduce(c, rank, values, count, LEAT_FLOAT32,
                                            (leati_reduction)reduction, &err),
                         LEAT_OK);
        for (int64_t i = 0; i < count; i++) {
            double sum = 0;
            for (int r = 0; r < c->num_ranks; r++)
                sum += float_of(r, i);
            check_float(values[i], reduction == LEATI_REDUCTION_SUM ? sum
                                   : reduction == LEATI_REDUCTION_MEAN
                                       ? sum / c->num_ranks
                                       : float_of(c->num_ranks - 1, i));
        }
    }
    free(values);
}

static void reduce_integers(process *p, int rank) {
    leati_collective *c = p->collective;
    leat_error err = {0};
    int64_t values[2] = {rank - 5, INT64_MAX - rank};
    assert_int_equal(c->ops->all_reduce(c, rank, values, 1, LEAT_INT64, LEATI_REDUCTION_MAX, &err),
                     LEAT_OK);
    assert_int_equal(values[0], c->num_ranks - 6);
    int8_t bytes[3] = {100, -100, (int8_t)rank};
    assert_int_equal(c->ops->all_reduce(c, rank, bytes, 3, LEAT_INT8, LEATI_REDUCTION_SUM, &err),
                     LEAT_OK);
    assert_int_equal(bytes[0], (int8_t)(100 * c->num_ranks));
    assert_int_equal(bytes[2], c->num_ranks * (c->num_ranks - 1) / 2);
    /* 1.5 in halves; the mean of equal values is the value. */
    uint16_t halves[2] = {0x3e00, 0x3e00};
    assert_int_equal(
        c->ops->all_reduce(c, rank, halves, 2, LEAT_FLOAT16, LEATI_REDUCTION_MEAN, &err), LEAT_OK);
    assert_int_equal(halves[0], 0x3e00);
    assert_int_equal(c->ops->all_reduce(c, rank, bytes, 3, LEAT_INT8, LEATI_REDUCTION_MEAN, &err),
                     LEAT_INVALID_ARGUMENT);
}

static void gather_and_broadcast(process *p, int rank, int64_t count) {
    leati_collective *c = p->collective;
    leat_error err = {0};
    int32_t *mine = malloc((size_t)count * sizeof *mine);
    int32_t *all = malloc((size_t)(count * c->num_ranks) * sizeof *all);
    for (int64_t i = 0; i < count; i++)
        mine[i] = (int32_t)(rank * 1000003 + i);
    assert_int_equal(c->ops->all_gather(c, rank, mine, count, LEAT_INT32, all, &err), LEAT_OK);
    for (int r = 0; r < c->num_ranks; r++) {
        for (int64_t i = 0; i < count; i++)
            assert_int_equal(all[r * count + i], r * 1000003 + i);
    }
    for (int root = 0; root < c->num_ranks; root++) {
        for (int64_t i = 0; i < count; i++)
            mine[i] = (int32_t)(rank * 1000003 + i);
        assert_int_equal(c->ops->broadcast(c, rank, root, mine, count, LEAT_INT32, &err), LEAT_OK);
        for (int64_t i = 0; i < count; i++)
            assert_int_equal(mine[i], root * 1000003 + i);
    }
    assert_int_equal(c->ops->broadcast(c, rank, c->num_ranks, mine, 1, LEAT_INT32, &err),
                     LEAT_INVALID_ARGUMENT);
    assert_int_equal(c->ops->barrier(c, rank, &err), LEAT_OK);
    free(mine);
    free(all);
}

/* Block r of the sum; integers, so that any order of additions gives the same. */
static void scatter(process *p, int rank, int64_t count, bool in_place) {
    leati_collective *c = p->collective;
    leat_error err = {0};
    int64_t all = count * c->num_ranks;
    int32_t *data = malloc((size_t)(all > 0 ? all : 1) * sizeof *data);
    int32_t *out = in_place ? data + rank * count : malloc((size_t)(count + 1) * sizeof *out);
    for (int reduction = LEATI_REDUCTION_SUM; reduction <= LEATI_REDUCTION_MAX; reduction += 2) {
        for (int64_t i = 0; i < all; i++)
            data[i] = (int32_t)(rank * 7 + i % 1009);
        assert_int_equal(c->ops->reduce_scatter(c, rank, data, count, LEAT_INT32,
                                                (leati_reduction)reduction, out, &err),
                         LEAT_OK);
        int n = c->num_ranks;
        for (int64_t i = 0; i < count; i++) {
            int32_t value = (int32_t)((rank * count + i) % 1009);
            assert_int_equal(out[i], reduction == LEATI_REDUCTION_SUM
                                         ? n * value + 7 * n * (n - 1) / 2
                                         : value + 7 * (n - 1));
        }
    }
    /* The mean of equal values is the value. */
    for (int64_t i = 0; i < all; i++)
        ((float *)(void *)data)[i] = (float)(i % 1009);
    assert_int_equal(
        c->ops->reduce_scatter(c, rank, data, count, LEAT_FLOAT32, LEATI_REDUCTION_MEAN, out, &err),
        LEAT_OK);
    for (int64_t i = 0; i < count; i++)
        check_float(((float *)(void *)out)[i], (double)((rank * count + i) % 1009));
    assert_int_equal(
        c->ops->reduce_scatter(c, rank, data, count, LEAT_INT32, LEATI_REDUCTION_MEAN, out, &err),
        LEAT_INVALID_ARGUMENT);
    free(data);
    if (!in_place)
        free(out);
}

/* All ranks hold the same bits, whatever the order of additions was. */
static void compare_bits(process *p, int rank, int64_t count) {
    leati_collective *c = p->collective;
    leat_error err = {0};
    size_t bytes = (size_t)count * sizeof(float);
    float *values = malloc(bytes), *all = malloc(bytes * (size_t)c->num_ranks);
    for (int64_t i = 0; i < count; i++)
        values[i] = 1.0f / (float)(1 + (i * 31 + rank * 17) % 1013);
    assert_int_equal(
        c->ops->all_reduce(c, rank, values, count, LEAT_FLOAT32, LEATI_REDUCTION_SUM, &err),
        LEAT_OK);
    assert_int_equal(c->ops->all_gather(c, rank, values, count, LEAT_FLOAT32, all, &err), LEAT_OK);
    for (int r = 0; r < c->num_ranks; r++)
        assert_memory_equal(all + r * count, values, bytes);
    free(values);
    free(all);
}

static void do_everything(process *p, int rank) {
    for (int64_t count = 0; count <= 2000; count = count * 5 + 1)
        reduce_floats(p, rank, count);
    reduce_floats(p, rank, LARGE);
    reduce_integers(p, rank);
    gather_and_broadcast(p, rank, 3);
    gather_and_broadcast(p, rank, LARGE);
    for (int64_t count = 0; count <= LARGE; count = count * 91 + 1) {
        scatter(p, rank, count, false);
        scatter(p, rank, count, true);
    }
    compare_bits(p, rank, 1000);
    compare_bits(p, rank, LARGE);
}

static void sum_beside(process *p, int rank) {
    enum { SUMS = 40 };
    leati_collective *c = p->collective;
    leat_error err = {0};
    static float values[MOST][SUMS][1000];
    uint64_t tickets[SUMS];
    for (int s = 0; s < SUMS; s++) {
        for (int i = 0; i < 1000; i++)
            values[rank][s][i] = (float)(rank + s + i);
        assert_int_equal(c->ops->start(c, rank, values[rank][s], 1000 - s, LEAT_FLOAT32,
                                       LEATI_REDUCTION_SUM, &tickets[s], &err),
                         LEAT_OK);
    }
    assert_int_equal(c->ops->barrier(c, rank, &err), LEAT_OK);
    for (int s = SUMS - 1; s >= 0; s--) {
        assert_int_equal(c->ops->wait(c, rank, tickets[s], &err), LEAT_OK);
        int n = c->num_ranks;
        for (int i = 0; i < 1000 - s; i++)
            assert_int_equal(values[rank][s][i], n * (s + i) + n * (n - 1) / 2);
    }
    do_everything(p, rank);
}

static void test_overlap(void **state) {
    (void)state;
    run(open_overlapped, 3, 0, LONG_MS, sum_beside);
}

static void test_values(void **state) {
    (void)state;
    for (int i = 0; i < NUM_OPENERS; i++) {
        for (int count = 2; count <= 3; count++)
            run(openers[i], count, 0, LONG_MS, do_everything);
    }
}

static void test_hierarchy(void **state) {
    (void)state;
    for (int replicas = 1; replicas <= 2; replicas++)
        run(leati_processes_new, 2, replicas, LONG_MS, do_everything);
}

// ---- failures ----

static void call_unequally(process *p, int rank) {
    leat_error err = {0};
    leati_collective *c = p->collective;
    float values[4] = {0};
    leat_status status = c->ops->all_reduce(c, rank, values, rank == 1 ? 3 : 4, LEAT_FLOAT32,
                                            LEATI_REDUCTION_SUM, &err);
    assert_true(status == LEAT_INTERNAL || status == LEAT_ABORTED);
    assert_non_null(strstr(err.text, "rank 1 called all_reduce of 3 float32 values, rank 0"));
}

static void test_unequal_calls(void **state) {
    (void)state;
    run(leati_shared_collective_new, 3, 0, LONG_MS, call_unequally);
}

static void stay_away(process *p, int rank) {
    leat_error err = {0};
    leati_collective *c = p->collective;
    leati_meeting all;
    if (rank != 1) {
        leat_status status = c->ops->barrier(c, rank, &err);
        assert_true(status == LEAT_DEADLINE_EXCEEDED || status == LEAT_ABORTED);
        assert_int_not_equal(c->ops->barrier(c, rank, &err), LEAT_OK);
    }
    assert_int_equal(leati_store_meet(p->store, "end", NULL, 0, LONG_MS, &all, &err), LEAT_OK);
    leati_meeting_fini(&all);
}

static void test_missing_rank(void **state) {
    (void)state;
    for (int i = 0; i < NUM_OPENERS - 1; i++)
        run(openers[i], 3, 0, SHORT_MS, stay_away);
}

static void fail_alone(process *p, int rank) {
    leat_error err = {0};
    leati_collective *c = p->collective;
    leati_meeting all;
    assert_int_equal(leati_store_meet(p->store, "all open", NULL, 0, LONG_MS, &all, &err), LEAT_OK);
    leati_meeting_fini(&all);
    if (rank == 1) {
        leat_error why = {.code = LEAT_DATA_LOSS, .text = "record 7 is broken"};
        leati_store_abort(p->store, &why);
    }
    leat_status status = LEAT_OK;
    while (status == LEAT_OK) {
        float value = 1;
        status = c->ops->all_reduce(c, rank, &value, 1, LEAT_FLOAT32, LEATI_REDUCTION_SUM, &err);
    }
    if (status != LEAT_ABORTED || strstr(err.text, "worker 1 failed: record 7 is broken") == NULL) {
        fprintf(stderr, "rank %d: %s: %s\n", rank, leat_status_name(status), err.text);
        exit(1);
    }
}

static void test_abort(void **state) {
    (void)state;
    for (int i = 0; i < NUM_OPENERS - 1; i++)
        run(openers[i], 3, 0, LONG_MS, fail_alone);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),       cmocka_unit_test(test_hierarchy),
        cmocka_unit_test(test_overlap),      cmocka_unit_test(test_unequal_calls),
        cmocka_unit_test(test_missing_rank), cmocka_unit_test(test_abort),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
