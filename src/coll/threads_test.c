/* In-process collectives: sums by an independent model, unequal calls, a missing rank, an abort. */
#include "support/cmocka.h"

#include "coll/threads.h"
#include "support/refused.h"
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Small calls are done by the last rank to arrive, those of more than 32 KiB in parts. */
enum { MOST_RANKS = 8, MOST_VALUES = 40000 };

typedef struct rank_job {
    leati_collective *collective;
    int rank;
    int64_t count;
    leati_reduction reduction;
    leat_dtype dtype;
    bool stay_away;
    float floats[MOST_VALUES];
    int64_t ints[MOST_VALUES];
    int64_t gathered[MOST_RANKS * MOST_VALUES];
    leat_status status;
    leat_error error;
    pthread_t thread;
} rank_job;

static rank_job jobs[MOST_RANKS];

static float float_of(int rank, int64_t i) {
    return (float)((rank + 1) * 0.37 + (double)i * 1.25);
}

static void *reduce_job(void *context) {
    rank_job *job = context;
    if (job->stay_away)
        return NULL;
    void *data = job->dtype == LEAT_FLOAT32 ? (void *)job->floats : (void *)job->ints;
    for (int round = 0; round < 5 && job->status == LEAT_OK; round++) {
        for (int64_t i = 0; i < job->count; i++) {
            job->floats[i] = float_of(job->rank, i);
            job->ints[i] = job->rank * 1000 + i;
        }
        job->status = job->collective->ops->all_reduce(job->collective, job->rank, data, job->count,
                                                       job->dtype, job->reduction, &job->error);
    }
    return NULL;
}

static void run(leati_collective *collective, void *(*body)(void *)) {
    for (int r = 0; r < collective->num_ranks; r++) {
        jobs[r].collective = collective;
        jobs[r].rank = r;
        jobs[r].status = LEAT_OK;
        memset(&jobs[r].error, 0, sizeof(jobs[r].error));
        assert_int_equal(pthread_create(&jobs[r].thread, NULL, body, &jobs[r]), 0);
    }
    for (int r = 0; r < collective->num_ranks; r++)
        pthread_join(jobs[r].thread, NULL);
}

static leati_collective *open_collective(int ranks, int64_t timeout_ms) {
    leat_error err = {0};
    leati_collective *collective = leati_threads_collective_new(ranks, timeout_ms, &err);
    assert_non_null(collective);
    memset(jobs, 0, sizeof(jobs));
    return collective;
}

static void test_all_reduce(void **state) {
    (void)state;
    for (int ranks = 1; ranks <= MOST_RANKS; ranks++) {
        leati_collective *collective = open_collective(ranks, 60000);
        for (int64_t count = 0; count <= MOST_VALUES; count = count * 5 + 1) {
            for (int reduction = LEATI_REDUCTION_SUM; reduction <= LEATI_REDUCTION_MAX;
                 reduction++) {
                for (int r = 0; r < ranks; r++) {
                    jobs[r].count = count;
                    jobs[r].reduction = (leati_reduction)reduction;
                    jobs[r].dtype = LEAT_FLOAT32;
                }
                run(collective, reduce_job);
                for (int64_t i = 0; i < count; i++) {
                    float expected = float_of(0, i);
                    for (int r = 1; r < ranks; r++) {
                        float other = float_of(r, i);
                        expected = reduction == LEATI_REDUCTION_MAX ? fmaxf(expected, other)
                                                                    : expected + other;
                    }
                    if (reduction == LEATI_REDUCTION_MEAN)
                        expected /= (float)ranks;
                    for (int r = 0; r < ranks; r++) {
                        assert_int_equal(jobs[r].status, LEAT_OK);
                        assert_true(fabsf(jobs[r].floats[i] - expected) <= 1e-6f * fabsf(expected));
                        assert_memory_equal(&jobs[r].floats[i], &jobs[0].floats[i], sizeof(float));
                    }
                }
            }
        }
        collective->ops->close(collective);
    }
}

static void test_integers(void **state) {
    (void)state;
    leati_collective *collective = open_collective(3, 60000);
    for (int r = 0; r < 3; r++) {
        jobs[r].count = 10;
        jobs[r].dtype = LEAT_INT64;
    }
    run(collective, reduce_job);
    for (int64_t i = 0; i < 10; i++)
        assert_int_equal(jobs[1].ints[i], 3000 + 3 * i);
    leat_error err = {0};
    assert_int_equal(collective->ops->all_reduce(collective, 0, jobs[0].ints, 1, LEAT_INT64,
                                                 LEATI_REDUCTION_MEAN, &err),
                     LEAT_INVALID_ARGUMENT);
    collective->ops->close(collective);
}

static void *gather_job(void *context) {
    rank_job *job = context;
    leati_collective *c = job->collective;
    for (int64_t i = 0; i < job->count; i++)
        job->ints[i] = job->rank * 100 + i;
    job->status = c->ops->all_gather(c, job->rank, job->ints, job->count, LEAT_INT64, job->gathered,
                                     &job->error);
    if (job->status == LEAT_OK)
        job->status =
            c->ops->broadcast(c, job->rank, 1, job->ints, job->count, LEAT_INT64, &job->error);
    if (job->status == LEAT_OK)
        job->status = c->ops->barrier(c, job->rank, &job->error);
    return NULL;
}

static void test_gather_and_broadcast(void **state) {
    (void)state;
    leati_collective *collective = open_collective(3, 60000);
    const int64_t counts[] = {0, 5, MOST_VALUES};
    for (int c = 0; c < 3; c++) {
        int64_t count = counts[c];
        for (int r = 0; r < 3; r++)
            jobs[r].count = count;
        run(collective, gather_job);
        for (int r = 0; r < 3; r++) {
            assert_int_equal(jobs[r].status, LEAT_OK);
            for (int64_t i = 0; i < 3 * count; i++)
                assert_int_equal(jobs[r].gathered[i], i / count * 100 + i % count);
            for (int64_t i = 0; i < count; i++)
                assert_int_equal(jobs[r].ints[i], 100 + i);
        }
    }
    collective->ops->close(collective);
}

/* Every rank's block of the sum, then the same into the rank's own data. */
static void *scatter_job(void *context) {
    rank_job *job = context;
    leati_collective *c = job->collective;
    for (int64_t i = 0; i < job->count * c->num_ranks; i++)
        job->gathered[i] = job->rank * 1000 + i;
    job->status = c->ops->reduce_scatter(c, job->rank, job->gathered, job->count, LEAT_INT64,
                                         LEATI_REDUCTION_SUM, job->ints, &job->error);
    int64_t *own = job->gathered + job->rank * job->count;
    if (job->status == LEAT_OK)
        job->status = c->ops->reduce_scatter(c, job->rank, job->gathered, job->count, LEAT_INT64,
                                             LEATI_REDUCTION_MAX, own, &job->error);
    return NULL;
}

static void test_reduce_scatter(void **state) {
    (void)state;
    for (int ranks = 1; ranks <= 4; ranks++) {
        leati_collective *collective = open_collective(ranks, 60000);
        for (int64_t count = 0; count <= MOST_VALUES; count = count * 200 + 1) {
            for (int r = 0; r < ranks; r++)
                jobs[r].count = count;
            run(collective, scatter_job);
            for (int r = 0; r < ranks; r++) {
                assert_int_equal(jobs[r].status, LEAT_OK);
                for (int64_t i = 0; i < count; i++) {
                    int64_t at = r * count + i;
                    assert_int_equal(jobs[r].ints[i], ranks * at + 500 * ranks * (ranks - 1));
                    assert_int_equal(jobs[r].gathered[at], at + 1000 * (ranks - 1));
                }
            }
        }
        collective->ops->close(collective);
    }
}

/* Halves are added in float32 and rounded once: 1 + 3 * 0.0004 is above the middle between 1 and
 * the next half, 1 + 0.0004 below it. */
static void *half_job(void *context) {
    rank_job *job = context;
    uint16_t *values = (uint16_t *)(void *)job->ints;
    for (int i = 0; i < 3; i++)
        values[i] = job->rank == 0 ? 0x3c00 : 0x0e8e;
    job->status = job->collective->ops->all_reduce(job->collective, job->rank, values, 3,
                                                   LEAT_FLOAT16, LEATI_REDUCTION_SUM, &job->error);
    return NULL;
}

static void test_halves(void **state) {
    (void)state;
    leati_collective *collective = open_collective(4, 60000);
    run(collective, half_job);
    for (int r = 0; r < 4; r++)
        assert_int_equal(((uint16_t *)(void *)jobs[r].ints)[2], 0x3c01);
    collective->ops->close(collective);
}

static void test_unequal_calls(void **state) {
    (void)state;
    leati_collective *collective = open_collective(2, 60000);
    for (int r = 0; r < 2; r++) {
        jobs[r].dtype = LEAT_FLOAT32;
        jobs[r].count = 3 + r;
    }
    run(collective, reduce_job);
    for (int r = 0; r < 2; r++) {
        assert_int_equal(jobs[r].status, LEAT_INVALID_ARGUMENT);
        assert_refused(&jobs[r].error, LEAT_INVALID_ARGUMENT, LEAT_REASON_SHAPE, "all_reduce");
    }
    leat_error err = {0};
    assert_int_equal(collective->ops->barrier(collective, 0, &err), LEAT_ABORTED);
    collective->ops->close(collective);
}

static void test_missing_rank(void **state) {
    (void)state;
    leati_collective *collective = open_collective(3, 20);
    for (int r = 0; r < 3; r++) {
        jobs[r].dtype = LEAT_FLOAT32;
        jobs[r].count = 1;
    }
    jobs[2].stay_away = true;
    run(collective, reduce_job);
    int timed_out = 0;
    for (int r = 0; r < 2; r++) {
        timed_out += jobs[r].status == LEAT_DEADLINE_EXCEEDED;
        assert_true(jobs[r].status == LEAT_DEADLINE_EXCEEDED || jobs[r].status == LEAT_ABORTED);
        assert_refused(
            &jobs[r].error, jobs[r].status,
            jobs[r].status == LEAT_ABORTED ? LEAT_REASON_AFTER_FAILURE : LEAT_REASON_NONE, "2");
    }
    assert_true(timed_out >= 1);
    leat_error err = {0};
    assert_int_equal(collective->ops->barrier(collective, 0, &err), LEAT_ABORTED);
    collective->ops->close(collective);
}

static void *abort_job(void *context) {
    rank_job *job = context;
    leati_collective *c = job->collective;
    if (job->rank == 1) {
        leat_error reason = {.code = LEAT_INVALID_ARGUMENT, .text = "label 12 is out of range"};
        c->ops->abort(c, &reason);
        return NULL;
    }
    job->status = c->ops->barrier(c, job->rank, &job->error);
    return NULL;
}

static void test_abort(void **state) {
    (void)state;
    leati_collective *collective = open_collective(2, 60000);
    run(collective, abort_job);
    assert_int_equal(jobs[0].status, LEAT_ABORTED);
    assert_refused(&jobs[0].error, LEAT_ABORTED, LEAT_REASON_AFTER_FAILURE, "12");
    collective->ops->close(collective);
}

static void test_bad_arguments(void **state) {
    (void)state;
    leat_error err = {0};
    assert_null(leati_threads_collective_new(0, 1, &err));
    assert_int_equal(err.code, LEAT_INVALID_ARGUMENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_reduce),
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_gather_and_broadcast),
        cmocka_unit_test(test_reduce_scatter),
        cmocka_unit_test(test_halves),
        cmocka_unit_test(test_unequal_calls),
        cmocka_unit_test(test_missing_rank),
        cmocka_unit_test(test_abort),
        cmocka_unit_test(test_bad_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
