/* Packs: plans against TensorFlow's rule and against invariants on random tensors, rounds on
 * several ranks whose tensors become ready in different orders, sums beside computing, failures. */
#include "support/cmocka.h"

#include "base/alloc.h"
#include "base/error.h"
#include "coll/overlap.h"
#include "coll/pack.h"
#include "coll/threads.h"
#include "support/refused.h"
#include "support/torture.h"
#include <pthread.h>
#include <stdio.h>

enum { MOST_TENSORS = 1000, RANKS = 3, ROUNDS = 4, LONG_MS = 60000 };

static uint64_t draw(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

// ---- plans ----

typedef struct expected_place {
    int pack;
    int64_t at;
} expected_place;

static void has_places(const leati_pack_tensor *tensors, int count, int64_t bytes,
                       const expected_place *expected, int num_packs) {
    leat_error err = {0};
    leati_packing p;
    assert_int_equal(leati_pack_init(&p, tensors, count, bytes, &err), LEAT_OK);
    assert_int_equal(p.num_packs, num_packs);
    for (int i = 0; i < count; i++) {
        assert_int_equal(p.places[i].pack, expected[i].pack);
        assert_int_equal(p.places[i].at, expected[i].at);
        assert_int_equal(p.places[i].count, tensors[i].count);
    }
    leati_pack_fini(&p);
}

/* A pack takes tensors until they are more than bytes_per_pack, as TensorFlow's do; each begins at
 * a multiple of 64 bytes. */
static void test_rule(void **state) {
    (void)state;
    leati_pack_tensor floats[5];
    for (int i = 0; i < 5; i++)
        floats[i] = (leati_pack_tensor){.count = 25, .dtype = LEAT_FLOAT32};
    has_places(floats, 5, 100, (const expected_place[]){{0, 0}, {0, 32}, {1, 0}, {1, 32}, {2, 0}},
               3);
    has_places(floats, 5, 99, (const expected_place[]){{0, 0}, {1, 0}, {2, 0}, {3, 0}, {4, 0}}, 5);
    has_places(floats, 5, 1000,
               (const expected_place[]){{0, 0}, {0, 32}, {0, 64}, {0, 96}, {0, 128}}, 1);
    /* Each dtype has a pack; the one that is whole first comes first. */
    floats[0].dtype = floats[4].dtype = LEAT_FLOAT64;
    has_places(floats, 5, 1000, (const expected_place[]){{1, 0}, {0, 0}, {0, 32}, {0, 64}, {1, 32}},
               2);
    /* Groups and reductions share no pack. */
    floats[0].dtype = floats[4].dtype = LEAT_FLOAT32;
    floats[1].reduction = LEATI_REDUCTION_MEAN;
    floats[3].group = floats[4].group = 1;
    has_places(floats, 5, 1000, (const expected_place[]){{0, 0}, {1, 0}, {2, 0}, {3, 0}, {3, 32}},
               4);
    has_places(NULL, 0, 0, NULL, 0);
    /* Chosen: the first pack closes after 1 MiB, the others after an eighth of all. */
    leati_pack_tensor large[4] = {{.count = 200000, .dtype = LEAT_FLOAT32},
                                  {.count = 100000, .dtype = LEAT_FLOAT32},
                                  {.count = 6553600, .dtype = LEAT_FLOAT32},
                                  {.count = 1, .dtype = LEAT_FLOAT32}};
    has_places(large, 4, 0, (const expected_place[]){{0, 0}, {0, 200000}, {1, 0}, {2, 0}}, 3);
    large[0].count = 262144; /* 1 MiB, and the eighth is more than 25 MiB */
    large[1].count = 1;
    large[3].count = 60000000;
    has_places(large, 4, 0, (const expected_place[]){{0, 0}, {0, 262144}, {1, 0}, {1, 6553600}}, 2);
    large[2].count++; /* and more than 25 MiB */
    has_places(large, 4, 0, (const expected_place[]){{0, 0}, {0, 262144}, {1, 0}, {2, 0}}, 3);
}

/* Every tensor has a place of its own behind those before it, only the last pack of a dtype and
 * group is not full. */
static void check_plan(const leati_pack_tensor *tensors, int count, int64_t bytes) {
    static int last[MOST_TENSORS], in_pack[MOST_TENSORS];
    static int64_t filled[MOST_TENSORS], held[MOST_TENSORS];
    leat_error err = {0};
    leati_packing p, again;
    assert_int_equal(leati_pack_init(&p, tensors, count, bytes, &err), LEAT_OK);
    assert_int_equal(leati_pack_init(&again, tensors, count, bytes, &err), LEAT_OK);
    memset(filled, 0, sizeof filled);
    memset(held, 0, sizeof held);
    memset(in_pack, 0, sizeof in_pack);
    for (int i = 0; i < count; i++) {
        int number = p.places[i].pack;
        int64_t unit = 64 / (int64_t)leat_dtype_size(tensors[i].dtype);
        assert_true(number >= 0 && number < p.num_packs);
        assert_int_equal(p.packs[number].dtype, tensors[i].dtype);
        assert_int_equal(p.packs[number].group, tensors[i].group);
        assert_int_equal(p.places[i].at, (filled[number] + unit - 1) / unit * unit);
        assert_true(held[number] <= bytes); /* else it had been closed */
        held[number] += tensors[i].count * (int64_t)leat_dtype_size(tensors[i].dtype);
        filled[number] = p.places[i].at + tensors[i].count;
        in_pack[number]++;
        last[number] = i;
        assert_int_equal(again.places[i].pack, number);
        assert_int_equal(again.places[i].at, p.places[i].at);
    }
    for (int i = 0; i < p.num_packs; i++) {
        assert_int_equal(p.packs[i].count, filled[i]);
        assert_int_equal(leati_pack_bytes(&p, i),
                         (size_t)filled[i] * leat_dtype_size(p.packs[i].dtype));
        assert_int_equal(p.packs[i].num_tensors, in_pack[i]);
        assert_true(i == 0 || (last[i] > last[i - 1] && p.packs[i].group >= p.packs[i - 1].group));
    }
    leati_pack_fini(&p);
    leati_pack_fini(&again);
}

static void test_random_plans(void **state) {
    (void)state;
    static leati_pack_tensor tensors[MOST_TENSORS];
    const leat_dtype dtypes[] = {LEAT_FLOAT32, LEAT_FLOAT16, LEAT_FLOAT64, LEAT_INT8};
    uint64_t seed = 17;
    for (int round = 0; round < 200; round++) {
        int count = (int)(draw(&seed) % MOST_TENSORS), num_dtypes = 1 + (int)(draw(&seed) % 4);
        for (int i = 0; i < count; i++) {
            tensors[i] = (leati_pack_tensor){.count = (int64_t)(draw(&seed) % 5000),
                                             .dtype = dtypes[draw(&seed) % (uint64_t)num_dtypes],
                                             .group = i * (round % 3) / 100};
        }
        check_plan(tensors, count, 1 + (int64_t)(draw(&seed) % 100000));
    }
}

static void test_bad_plans(void **state) {
    (void)state;
    leat_error err = {0};
    leati_packing p;
    leati_pack_tensor invalid = {.count = 1, .dtype = LEAT_INVALID};
    leati_pack_tensor huge = {.count = INT64_MAX, .dtype = LEAT_FLOAT64};
    assert_int_equal(leati_pack_init(&p, &huge, 0, -1, &err), LEAT_INVALID_ARGUMENT);
    assert_int_equal(leati_pack_init(&p, &huge, 1, 0, &err), LEAT_INVALID_ARGUMENT);
    assert_int_equal(leati_pack_init(&p, &invalid, 1, 0, &err), LEAT_INVALID_ARGUMENT);
    leati_pack_tensor half[3];
    for (int i = 0; i < 3; i++)
        half[i] = (leati_pack_tensor){.count = PTRDIFF_MAX / 2, .dtype = LEAT_UINT8};
    assert_int_equal(leati_pack_init(&p, half, 3, INT64_MAX, &err), LEAT_RESOURCE_EXHAUSTED);
    assert_null(p.packs);
}

// ---- rounds ----

/* Two groups of tensors of 1 to 9000 values, some of another dtype. */
static void make_tensors(leati_pack_tensor *tensors, int count) {
    for (int i = 0; i < count; i++) {
        tensors[i] = (leati_pack_tensor){.count = 1 + i * i * 11 % 9000,
                                         .dtype = i % 5 == 3 ? LEAT_INT32 : LEAT_FLOAT32,
                                         .group = i * 2 / count};
    }
}

/* A packs with memory for its packs, which is full of ones at first. */
static leati_packs *packs_with_memory(const leati_packing *packing, void **memory,
                                      leat_error *err) {
    leati_packs *packs = leati_packs_new(packing, err);
    size_t at = 0, size = 64;
    for (int i = 0; i < packing->num_packs; i++)
        size += leati_pack_bytes(packing, i) + 63;
    *memory = packs == NULL ? NULL : leati_alloc_aligned(size, 64);
    if (*memory == NULL) {
        leati_packs_free(packs);
        leati_no_memory(err);
        return NULL;
    }
    memset(*memory, 1, size);
    for (int i = 0; i < packing->num_packs; i++) {
        leati_packs_place(packs, i, (char *)*memory + at);
        at += (leati_pack_bytes(packing, i) + 63) / 64 * 64;
    }
    return packs;
}

typedef struct rank_job {
    leati_collective *collective;
    const leati_packing *packing;
    const leati_pack_tensor *tensors;
    int rank, stays_away_in;
    leat_status status;
    leat_error err;
    pthread_t thread;
} rank_job;

static void set_value(const leati_pack_tensor *tensor, void *values, int64_t i, int value) {
    if (tensor->dtype == LEAT_INT32)
        ((int32_t *)values)[i] = value;
    else
        ((float *)values)[i] = (float)value;
}

static int get_value(const leati_pack_tensor *tensor, const void *values, int64_t i) {
    return tensor->dtype == LEAT_INT32 ? ((const int32_t *)values)[i]
                                       : (int)((const float *)values)[i];
}

/* Small integers, so that a sum is exact. */
static int value_of(int rank, int tensor, int64_t i, int round) {
    return rank * 3 + tensor % 7 + (int)(i % 13) + round;
}

/* Each rank has an order of its own, in which its tensors become ready. */
static leat_status put_all(rank_job *job, leati_packs *packs, int round) {
    int count = job->packing->num_tensors;
    leat_status status = LEAT_OK;
    for (int k = 0; k < count && status == LEAT_OK; k++) {
        int t = job->rank == 0 ? k : job->rank == 1 ? count - 1 - k : (k * 7 + round) % count;
        void *values = leati_packs_values(packs, t);
        for (int64_t i = 0; i < job->tensors[t].count; i++)
            set_value(&job->tensors[t], values, i, value_of(job->rank, t, i, round));
        status = leati_packs_ready(packs, t, k + 1 < count, &job->err);
    }
    return status;
}

static void check_all(const rank_job *job, leati_packs *packs, int round) {
    for (int t = 0; t < job->packing->num_tensors; t++) {
        const void *values = leati_packs_values(packs, t);
        for (int64_t i = 0; i < job->tensors[t].count; i++) {
            int expected = 0;
            for (int r = 0; r < RANKS; r++)
                expected += value_of(r, t, i, round);
            assert_int_equal(get_value(&job->tensors[t], values, i), expected);
        }
    }
}

static leat_status run_round(rank_job *job, leati_packs *packs, int round) {
    leati_collective *c = job->collective;
    leati_packs_begin(packs, c, job->rank);
    if (round == job->stays_away_in) {
        leat_error why = {.code = LEAT_DATA_LOSS, .text = "record 9 is broken"};
        c->ops->abort(c, &why);
    }
    leat_status status = put_all(job, packs, round);
    /* A call of another kind in between keeps its place in the order. */
    int64_t here = job->rank, all[RANKS];
    if (status == LEAT_OK)
        status = c->ops->all_gather(c, job->rank, &here, 1, LEAT_INT64, all, &job->err);
    for (int group = 0; group < 2 && status == LEAT_OK; group++)
        status = leati_packs_await(packs, group, &job->err);
    return status;
}

static void *rank_main(void *context) {
    rank_job *job = context;
    leati_collective *c = job->collective;
    void *memory = NULL;
    leati_packs *packs = packs_with_memory(job->packing, &memory, &job->err);
    assert_non_null(packs);
    for (int round = 1; round <= ROUNDS && job->status == LEAT_OK; round++) {
        job->status = run_round(job, packs, round);
        if (job->status == LEAT_OK)
            check_all(job, packs, round);
    }
    if (job->status != LEAT_OK && c->ops->wait != NULL) {
        leat_status reason = c->ops->wait(c, job->rank, LEATI_EVERY_SUM, &(leat_error){0});
        assert_true(reason == LEAT_OK || reason == LEAT_ABORTED);
    }
    leati_packs_free(packs);
    leati_free(memory);
    return NULL;
}

static void run(bool overlapped, int64_t bytes_per_pack, int stays_away_in, rank_job *jobs) {
    static leati_pack_tensor tensors[30];
    leat_error err = {0};
    leati_packing packing;
    make_tensors(tensors, 30);
    assert_int_equal(leati_pack_init(&packing, tensors, 30, bytes_per_pack, &err), LEAT_OK);
    leati_collective *c = leati_threads_collective_new(RANKS, LONG_MS, &err);
    if (overlapped)
        c = leati_overlap_new(c, 0, RANKS, &err);
    assert_non_null(c);
    for (int r = 0; r < RANKS; r++) {
        jobs[r] = (rank_job){.collective = c,
                             .packing = &packing,
                             .tensors = tensors,
                             .rank = r,
                             .stays_away_in = r == 1 ? stays_away_in : 0};
        assert_int_equal(pthread_create(&jobs[r].thread, NULL, rank_main, &jobs[r]), 0);
    }
    for (int r = 0; r < RANKS; r++)
        pthread_join(jobs[r].thread, NULL);
    c->ops->close(c);
    leati_pack_fini(&packing);
}

static void test_rounds(void **state) {
    (void)state;
    rank_job jobs[RANKS];
    for (int overlapped = 0; overlapped < 2; overlapped++) {
        for (int64_t bytes = 0; bytes <= 200000; bytes = bytes * 50 + 4) {
            run(overlapped != 0, bytes, 0, jobs);
            for (int r = 0; r < RANKS; r++)
                if (jobs[r].status != LEAT_OK)
                    fail_msg("rank %d: %s", r, jobs[r].err.text);
        }
    }
}

static void test_aborted_round(void **state) {
    (void)state;
    rank_job jobs[RANKS];
    for (int overlapped = 0; overlapped < 2; overlapped++) {
        run(overlapped != 0, 10000, 3, jobs);
        for (int r = 0; r < RANKS; r++) {
            assert_int_equal(jobs[r].status, LEAT_ABORTED);
            assert_refused(&jobs[r].err, LEAT_ABORTED, LEAT_REASON_AFTER_FAILURE, "9");
        }
    }
}

// ---- one rank ----

static leat_status sum_three(leati_collective *c, const leati_packing *packing, leat_error *err) {
    void *memory = NULL;
    leati_packs *p = packs_with_memory(packing, &memory, err);
    leat_status status = p == NULL ? torture_code(err) : LEAT_OK;
    if (p != NULL)
        leati_packs_begin(p, c, 0);
    for (int t = 0; t < 3 && status == LEAT_OK; t++) {
        memset(leati_packs_values(p, t), 0, 6);
        status = leati_packs_ready(p, t, true, err);
    }
    if (status == LEAT_OK)
        status = leati_packs_await(p, 0, err);
    else if (p != NULL)
        (void)(c->ops->wait(c, 0, LEATI_EVERY_SUM, &(leat_error){0}) == LEAT_OK);
    leati_packs_free(p);
    leati_free(memory);
    return status;
}

static leat_status use(void *context, leat_error *err) {
    (void)context;
    leati_packing packing;
    leati_pack_tensor tensors[3] = {{.count = 5, .dtype = LEAT_FLOAT32},
                                    {.count = 3, .dtype = LEAT_FLOAT16},
                                    {.count = 9, .dtype = LEAT_FLOAT32}};
    leati_collective *c = leati_threads_collective_new(1, LONG_MS, err);
    c = c == NULL ? NULL : leati_overlap_new(c, 0, 1, err);
    if (c == NULL)
        return torture_code(err);
    leat_status status = leati_pack_init(&packing, tensors, 3, 16, err);
    if (status == LEAT_OK) {
        status = sum_three(c, &packing, err);
        leati_pack_fini(&packing);
    }
    c->ops->close(c);
    return status;
}

static void test_no_memory(void **state) {
    (void)state;
    torture_begin();
    torture_run(use, NULL);
    torture_end();
}

static void test_misuse(void **state) {
    (void)state;
    leat_error err = {0};
    leati_packing packing;
    void *memory = NULL;
    leati_pack_tensor tensors[2] = {{.count = 5, .dtype = LEAT_FLOAT32},
                                    {.count = 9, .dtype = LEAT_FLOAT32}};
    assert_int_equal(leati_pack_init(&packing, tensors, 2, 0, &err), LEAT_OK);
    leati_collective *c = leati_threads_collective_new(1, LONG_MS, &err);
    leati_packs *p = packs_with_memory(&packing, &memory, &err);
    leati_packs_begin(p, c, 0);
    assert_int_equal(leati_packs_ready(p, 1, true, &err), LEAT_OK);
    assert_int_equal(leati_packs_ready(p, 1, true, &err), LEAT_FAILED_PRECONDITION);
    assert_int_equal(leati_packs_ready(p, 2, true, &err), LEAT_FAILED_PRECONDITION);
    assert_int_equal(leati_packs_await(p, 0, &err), LEAT_FAILED_PRECONDITION);
    assert_refused(&err, LEAT_FAILED_PRECONDITION, LEAT_REASON_NONE, "0");
    leati_packs_begin(p, c, 0);
    assert_int_equal(leati_packs_ready(p, 1, true, &err), LEAT_OK); /* of the next round */
    leati_packs_free(p);
    leati_free(memory);
    c->ops->close(c);
    leati_pack_fini(&packing);
}

/* A collective of one rank that notes which of its calls came, and what lies between tensors. */
typedef struct noting {
    leati_collective base;
    char calls[16]; /* s: start, a: all_reduce, w: wait */
    float last[32]; /* the values of the last one */
} noting;

static void note(leati_collective *collective, char call, const void *data, int64_t count) {
    noting *n = (noting *)collective;
    n->calls[strlen(n->calls)] = call;
    if (count > 0)
        memcpy(n->last, data, (size_t)count * sizeof *n->last);
}

static leat_status note_start(leati_collective *c, int rank, void *data, int64_t count,
                              leat_dtype dtype, leati_reduction reduction, uint64_t *ticket,
                              leat_error *err) {
    (void)rank, (void)dtype, (void)reduction, (void)err;
    note(c, 's', data, count);
    *ticket = 7;
    return LEAT_OK;
}

static leat_status note_sum(leati_collective *c, int rank, void *data, int64_t count,
                            leat_dtype dtype, leati_reduction reduction, leat_error *err) {
    (void)rank, (void)dtype, (void)reduction, (void)err;
    note(c, 'a', data, count);
    return LEAT_OK;
}

static leat_status note_wait(leati_collective *c, int rank, uint64_t ticket, leat_error *err) {
    (void)rank, (void)err;
    assert_int_equal(ticket, 7);
    note(c, 'w', NULL, 0);
    return LEAT_OK;
}

/* A pack that is whole while there is more to compute is begun, the last one is summed. */
static void test_beside(void **state) {
    (void)state;
    static const leati_collective_ops ops = {
        .name = "noting", .all_reduce = note_sum, .start = note_start, .wait = note_wait};
    noting c = {.base = {.ops = &ops, .num_ranks = 1}};
    leat_error err = {0};
    leati_packing packing;
    void *memory = NULL;
    leati_pack_tensor tensors[3];
    for (int i = 0; i < 3; i++)
        tensors[i] = (leati_pack_tensor){.count = 3, .dtype = LEAT_FLOAT32};
    assert_int_equal(leati_pack_init(&packing, tensors, 3, 12, &err), LEAT_OK);
    assert_int_equal(packing.num_packs, 2);
    leati_packs *p = packs_with_memory(&packing, &memory, &err);
    leati_packs_begin(p, &c.base, 0);
    assert_int_equal(leati_packs_ready(p, 0, true, &err), LEAT_OK);
    assert_string_equal(c.calls, "");
    assert_int_equal(leati_packs_ready(p, 1, true, &err), LEAT_OK);
    assert_string_equal(c.calls, "s");
    for (int i = 3; i < 16; i++)
        assert_true(c.last[i] == 0);
    assert_true(c.last[16] != 0);
    assert_int_equal(leati_packs_ready(p, 2, false, &err), LEAT_OK);
    assert_string_equal(c.calls, "sa");
    assert_int_equal(leati_packs_await(p, 0, &err), LEAT_OK);
    assert_string_equal(c.calls, "saw");
    leati_packs_free(p);
    leati_free(memory);
    leati_pack_fini(&packing);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rule),      cmocka_unit_test(test_random_plans),
        cmocka_unit_test(test_bad_plans), cmocka_unit_test(test_rounds),
        cmocka_unit_test(test_misuse),    cmocka_unit_test(test_aborted_round),
        cmocka_unit_test(test_no_memory), cmocka_unit_test(test_beside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
