/* Collectives between processes, with threads as the processes, each with a store of its own: sums
 * by an independent model, unequal calls, a missing rank, an abort, the end of a rank. */
#include "support/cmocka.h"

#include "coll/overlap.h"
#include "coll/processes.h"
#include "coll/threads.h"
#include "support/address.h"
#include "support/collectives.h"
#include "support/refused.h"
#ifdef LEATI_HAVE_OPENSSL
#include "support/scratch.h"

#include "support/certificates.h"
#endif
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONG_MS = 60000, SHORT_MS = 400, MOST = 4 };

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
static leati_tls_context *tls; /* for who needs it; NULL in a build without OpenSSL */

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
                                   .tls = p->open == leati_coll_mesh_new ? tls : NULL,
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
        p->collective = leati_coll_hierarchy_new(inner, p->collective, p->rank, &p->err);
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
    for (int i = 0; i < count; i++)
        if (processes[i].collective == NULL)
            fail_msg("process %d: %s", i, processes[i].err.text);
}

/* The same, with sums beside computing; the other calls keep their place in the order. */
static leati_collective *open_overlapped(leati_store *store, int rank, int num_ranks,
                                         int64_t timeout_ms, leat_error *err) {
    leati_collective *inner = leati_processes_new(store, rank, num_ranks, timeout_ms, err);
    return inner == NULL ? NULL : leati_overlap_new(inner, rank, 1, err);
}

static const opener openers[] = {
    leati_coll_shared_new,
#ifdef LEATI_HAVE_GLOO
    leati_coll_gloo_new,
#endif
#ifdef LEATI_HAVE_OPENSSL
    leati_coll_mesh_new,
#endif
    leati_processes_new,
};
enum { NUM_OPENERS = sizeof openers / sizeof openers[0] };

static void do_everything(process *p, int rank) {
    collective_cases(p->collective, rank, p->replicas > 1 ? p->replicas : 1);
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
    for (int i = 0; i < NUM_OPENERS; i++)
        for (int count = 2; count <= 3; count++)
            run(openers[i], count, 0, LONG_MS, do_everything);
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
    assert_true(status == LEAT_INVALID_ARGUMENT || status == LEAT_ABORTED);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_SHAPE, "all_reduce");
}

static void test_unequal_calls(void **state) {
    (void)state;
    run(leati_coll_shared_new, 3, 0, LONG_MS, call_unequally);
    if (tls != NULL)
        run(leati_coll_mesh_new, 3, 0, LONG_MS, call_unequally);
}

static void stay_away(process *p, int rank) {
    leat_error err = {0};
    leati_collective *c = p->collective;
    leati_store_values all;
    if (rank != 1) {
        leat_status status = c->ops->barrier(c, rank, &err);
        assert_true(status == LEAT_DEADLINE_EXCEEDED || status == LEAT_ABORTED);
        assert_int_not_equal(c->ops->barrier(c, rank, &err), LEAT_OK);
    }
    assert_int_equal(leati_store_barrier(p->store, "end", NULL, 0, LONG_MS, &all, &err), LEAT_OK);
    leati_store_values_fini(&all);
}

static void test_missing_rank(void **state) {
    (void)state;
    for (int i = 0; i < NUM_OPENERS - 1; i++)
        run(openers[i], 3, 0, SHORT_MS, stay_away);
}

static void fail_alone(process *p, int rank) {
    leat_error err = {0};
    leati_collective *c = p->collective;
    leati_store_values all;
    assert_int_equal(leati_store_barrier(p->store, "all open", NULL, 0, LONG_MS, &all, &err),
                     LEAT_OK);
    leati_store_values_fini(&all);
    if (rank == 1) {
        leat_error why = {.code = LEAT_DATA_LOSS, .text = "record 7 is broken"};
        leati_store_abort(p->store, &why);
    }
    leat_status status = LEAT_OK;
    while (status == LEAT_OK) {
        float value = 1;
        status = c->ops->all_reduce(c, rank, &value, 1, LEAT_FLOAT32, LEATI_REDUCTION_SUM, &err);
    }
    if (status != LEAT_ABORTED || !is_refused(&err, LEAT_ABORTED, LEAT_REASON_AFTER_FAILURE, "7")) {
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
#ifdef LEATI_HAVE_OPENSSL
    tls = certificate_job();
#endif
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    leati_tls_context_free(tls);
    return failed;
}
