/* Feeds, distributed iterators and their states, on clusters of one thread or of threads. */
#include "support/cmocka.h"

#include "support/lockstep.h"
#include "support/refused.h"
#include "support/scratch.h"
#include "support/simulated.h"
#include "support/torture.h"

/* ---- states of n workers on m ---- */

/* Random rows, batches, files and policies. */
static simulated_data drawn(uint64_t *seed) {
    simulated_data data = {.rows = simulated_between(seed, 0, 90),
                           .batch = simulated_between(seed, 1, 12),
                           .epochs = (int)simulated_between(seed, 1, 2),
                           .unknown = simulated_draw(seed) % 3 == 0,
                           .shuffled = simulated_draw(seed) % 2 == 0};
    data.files = simulated_draw(seed) % 2 == 0 ? 0 : (int)simulated_between(seed, 6, 12);
    data.policy = data.files == 0                 ? LEAT_SHARD_DATA
                  : simulated_draw(seed) % 4 == 0 ? LEAT_SHARD_DATA
                                                  : LEAT_SHARD_AUTO;
    return data;
}

/* Takes some steps on a cluster, saves, goes on with another one, and so on to the end. */
static void run_with_restores(uint64_t seed) {
    simulated_data data = drawn(&seed);
    int32_t *seen = calloc((size_t)data.rows + 1, sizeof *seen);
    char *state = NULL;
    size_t size = 0;
    simulated_write(&data);
    for (bool ended = false; !ended;) {
        simulated_cluster c;
        int64_t steps = simulated_between(&seed, 0, 9);
        simulated_start(&c, &data, (int)simulated_between(&seed, 1, 6),
                        (int)simulated_between(&seed, 1, 3), state, size);
        while (!ended && c.steps < steps) {
            int64_t before = c.steps;
            ended = !simulated_step(&c, seen);
            assert_int_equal(c.steps, before + !ended);
        }
        leat_text_free(state);
        state = simulated_save(&c, &size);
        simulated_stop(&c);
    }
    simulated_check(&data, seen);
    leat_text_free(state);
    free(seen);
}

static void test_restored_on_others(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++)
        run_with_restores(seed);
}

/* The same number of workers and replicas: the very steps that would have come. */
static void test_restored_on_as_many(void **state) {
    (void)state;
    for (uint64_t seed = 100; seed < 130; seed++) {
        uint64_t draws = seed;
        simulated_data data = drawn(&draws);
        int workers = (int)simulated_between(&draws, 1, 4),
            replicas = (int)simulated_between(&draws, 1, 3);
        int64_t first = simulated_between(&draws, 0, 6);
        simulated_cluster a, b;
        size_t size = 0;
        simulated_write(&data);
        simulated_start(&a, &data, workers, replicas, NULL, 0);
        while (a.steps < first && simulated_step(&a, NULL))
            ;
        char *saved = simulated_save(&a, &size);
        simulated_start(&b, &data, workers, replicas, saved, size);
        for (bool more = true; more;) {
            more = simulated_step(&a, NULL);
            assert_int_equal(simulated_step(&b, NULL), more);
            for (int w = 0; w < workers && more; w++) {
                for (int r = 0; r < replicas; r++) {
                    const leat_tensor *x = &a.values[w].elements[r].tensors[0];
                    const leat_tensor *y = &b.values[w].elements[r].tensors[0];
                    assert_int_equal(x->dims[0], y->dims[0]);
                    assert_memory_equal(x->data, y->data, leat_tensor_bytes(x));
                }
            }
        }
        leat_text_free(saved);
        simulated_stop(&a);
        simulated_stop(&b);
    }
}

static void test_states_refused(void **state) {
    (void)state;
    simulated_data data = {
        .rows = 20, .batch = 4, .epochs = 1, .files = 4, .policy = LEAT_SHARD_FILE};
    simulated_data others[] = {data, data};
    simulated_cluster a, b;
    size_t size = 0;
    leat_error err = {0};
    simulated_write(&data);
    others[0].policy = LEAT_SHARD_DATA;
    others[1].batch = 5;
    simulated_start(&a, &data, 2, 2, NULL, 0);
    assert_true(simulated_step(&a, NULL));
    char *saved = simulated_save(&a, &size);
    for (size_t i = 0; i < 2; i++) {
        simulated_start(&b, &others[i], 3, 1, NULL, 0);
        assert_int_equal(leat_distributed_iterator_restore(b.iterators[0], saved, size, &err),
                         LEAT_FAILED_PRECONDITION);
        simulated_stop(&b);
    }
    for (size_t n = 0; n < size; n += 3) {
        simulated_start(&b, &data, 1, 1, NULL, 0);
        assert_int_equal(leat_distributed_iterator_restore(b.iterators[0], saved, n, &err),
                         LEAT_DATA_LOSS);
        saved[n] ^= 8;
        assert_int_equal(leat_distributed_iterator_restore(b.iterators[0], saved, size, &err),
                         LEAT_DATA_LOSS);
        saved[n] ^= 8;
        simulated_stop(&b);
    }
    leat_text_free(saved);
    simulated_stop(&a);
}

/* ---- dataset functions ---- */

static leat_dataset *count_up(void *context, const leat_input_context *input, leat_error *err) {
    int64_t batch = 0;
    ++*(int *)context;
    if (leat_input_context_batch_size(input, 12, &batch, err) != LEAT_OK)
        return NULL;
    leat_dataset *ds = leat_dataset_range(0, 31, 1, NULL, err);
    ds = leat_dataset_shard(ds, input->num_input_pipelines, input->input_pipeline_id, err);
    return leat_dataset_batch(ds, batch, NULL, err);
}

/* Steps of a cluster of functions; rows are counted. */
static void step_functions(leat_distributed_iterator **iterators, int n, int64_t most,
                           int32_t *seen) {
    leat_error err = {0};
    for (int64_t step = 0; step < most; step++) {
        leat_per_replica values[4] = {{0}};
        int64_t sums[LEATI_STEP_NUMBERS] = {0}, mine[LEATI_STEP_NUMBERS];
        for (int w = 0; w < n; w++) {
            assert_int_equal(leati_distributed_pull(iterators[w], &values[w], mine, &err), LEAT_OK);
            sums[0] += mine[0];
        }
        for (int w = 0; w < n; w++) {
            leat_status status = leati_distributed_finish(iterators[w], sums, &values[w], &err);
            for (int r = 0; status == LEAT_OK && r < values[w].num_replicas; r++) {
                const leat_tensor *rows = &values[w].elements[r].tensors[0];
                for (int64_t i = 0; i < rows->dims[0]; i++)
                    seen[((const int64_t *)rows->data)[i]]++;
            }
            leat_per_replica_fini(&values[w]);
        }
        if (sums[0] == 0)
            return;
    }
}

/* n pipelines are restored on m: whole elements, each once. Pipelines are of workers, or of the
 * replicas of one. */
static void test_functions_restored(void **state) {
    (void)state;
    for (int form = 0; form < 2; form++) {
        for (int n = 1; n <= 4; n++) {
            for (int m = 1; m <= 4; m++) {
                leat_strategy_distribute_options options = {
                    LEAT_STRATEGY_DISTRIBUTE_DEFAULTS,
                    .replication = form == 0 ? LEAT_INPUT_PER_WORKER : LEAT_INPUT_PER_REPLICA};
                int32_t seen[31] = {0};
                int calls = 0, counts[2] = {n, m};
                char *saved = NULL;
                size_t size = 0;
                for (int phase = 0; phase < 2; phase++) {
                    int workers = form == 0 ? counts[phase] : 1;
                    leat_distributed_dataset *datasets[4] = {NULL};
                    leat_distributed_iterator *iterators[4] = {NULL};
                    leati_writer parts[4] = {{0}};
                    leati_feed_part views[4];
                    leat_iterator_save_report report = {0};
                    leat_error err = {0};
                    for (int w = 0; w < workers; w++) {
                        leati_membership member = {.num_workers = workers,
                                                   .worker = w,
                                                   .replicas = form == 0 ? 1 : counts[phase],
                                                   .per_replica_ok = true};
                        datasets[w] = leati_distributed_from_function(&member, NULL, count_up,
                                                                      &calls, NULL, &options, &err);
                        iterators[w] = leat_distributed_iterator_new(datasets[w], &err);
                        assert_int_equal(err.code, LEAT_OK);
                        if (saved != NULL)
                            assert_int_equal(
                                leat_distributed_iterator_restore(iterators[w], saved, size, &err),
                                LEAT_OK);
                    }
                    step_functions(iterators, workers, phase == 0 ? 2 : 100, seen);
                    for (int w = 0; w < workers; w++) {
                        assert_int_equal(leati_distributed_save_part(iterators[w], NULL, &parts[w],
                                                                     &report, &err),
                                         LEAT_OK);
                        views[w] = (leati_feed_part){.data = parts[w].data, .size = parts[w].size};
                    }
                    leat_text_free(saved);
                    assert_int_equal(leati_distributed_join(views, workers, &saved, &size, &err),
                                     LEAT_OK);
                    for (int w = 0; w < workers; w++) {
                        leati_writer_fini(&parts[w]);
                        leat_distributed_iterator_free(iterators[w]);
                        leat_distributed_dataset_free(datasets[w]);
                    }
                }
                for (int i = 0; i < 31; i++)
                    assert_int_equal(seen[i], 1);
                assert_in_range(calls, n + m, n + m + n * m);
                leat_text_free(saved);
            }
        }
    }
}

/* ---- threads in lock-step ---- */

struct thread {
    lockstep_member member;
    leat_dataset *dataset; /* given to the thread */
    int replicas;
    int64_t steps, rows;
    int32_t *seen; /* its own */
    leat_status status;
    leat_error error;
};

static void *run_thread(void *context) {
    struct thread *t = context;
    leati_membership member = lockstep_membership(&t->member, t->replicas);
    leat_per_replica value = {0};
    leat_distributed_dataset *d =
        leati_distributed_from_dataset(&member, t->dataset, NULL, &t->error);
    leat_distributed_iterator *it = leat_distributed_iterator_new(d, &t->error);
    t->status = it == NULL ? t->error.code : LEAT_OK;
    while (t->status == LEAT_OK) {
        t->status = leat_distributed_iterator_next(it, &value, &t->error);
        t->steps += t->status == LEAT_OK;
        for (int r = 0; t->status == LEAT_OK && r < value.num_replicas; r++) {
            const leat_tensor *rows = &value.elements[r].tensors[0];
            t->rows += rows->dims[0];
            for (int64_t i = 0; i < rows->dims[0] && t->seen != NULL; i++)
                t->seen[((const int64_t *)rows->data)[i]]++;
        }
    }
    leat_per_replica_fini(&value);
    leat_distributed_iterator_free(it);
    leat_distributed_dataset_free(d);
    return NULL;
}

enum { WORKERS = 3, ROWS = 50 };

static int64_t run_threads(struct thread *threads) {
    lockstep_cluster cluster;
    pthread_t ids[WORKERS];
    lockstep_init(&cluster, WORKERS);
    for (int w = 0; w < WORKERS; w++) {
        threads[w].member = (lockstep_member){.cluster = &cluster, .worker = w};
        pthread_create(&ids[w], NULL, run_thread, &threads[w]);
    }
    for (int w = 0; w < WORKERS; w++)
        pthread_join(ids[w], NULL);
    lockstep_fini(&cluster);
    return cluster.exchanges;
}

/* Where the number of steps is known it is agreed once, behind two exchanges about
 * seeds. */
static void test_agreed_once(void **state) {
    (void)state;
    struct thread threads[WORKERS];
    for (int w = 0; w < WORKERS; w++)
        threads[w] =
            (struct thread){.replicas = 2,
                            .dataset = leat_dataset_batch(
                                leat_dataset_range(0, ROWS, 1, NULL, NULL), 7, NULL, NULL)};
    assert_int_equal(run_threads(threads), 3);
    int64_t rows = 0;
    for (int w = 0; w < WORKERS; w++) {
        assert_int_equal(threads[w].status, LEAT_OUT_OF_RANGE);
        assert_int_equal(threads[w].steps, 8);
        rows += threads[w].rows;
    }
    assert_int_equal(rows, ROWS);
}

/* Each worker shuffles by what its own process draws, in each epoch anew or not, and still every
 * row comes once. */
static void one_order(bool no_reshuffle) {
    static int32_t seen[WORKERS][ROWS];
    struct thread threads[WORKERS];
    memset(seen, 0, sizeof seen);
    for (int w = 0; w < WORKERS; w++) {
        leat_dataset_shuffle_options options = {LEAT_DATASET_SHUFFLE_DEFAULTS,
                                                .reshuffle_each_iteration = !no_reshuffle};
        leat_dataset *ds = leat_dataset_range(0, ROWS, 1, NULL, NULL);
        ds = leat_dataset_cache(leat_dataset_shuffle(ds, ROWS, &options, NULL), NULL);
        threads[w] = (struct thread){
            .replicas = 1, .seen = seen[w], .dataset = leat_dataset_batch(ds, 6, NULL, NULL)};
    }
    run_threads(threads);
    for (int i = 0; i < ROWS; i++)
        assert_int_equal(seen[0][i] + seen[1][i] + seen[2][i], 1);
}

static void test_one_order(void **state) {
    (void)state;
    one_order(false);
    one_order(true);
}

static int trace_refuse(void *context, leat_graph *graph, leat_value *out, int capacity) {
    leat_value x = leat_graph_argument(graph, 0);
    leat_tensor bad = leat_tensor_view(LEAT_INT64, LEAT_SCALAR, context);
    out[0] = leat_op_assert(leat_op_not_equal(x, leat_graph_tensor(graph, &bad)), x,
                            LEAT_INVALID_ARGUMENT, "the number is refused");
    return 1;
}

static int trace_always(void *context, leat_graph *graph, leat_value *out, int capacity) {
    (void)context;
    leat_value x = leat_graph_argument(graph, 0);
    out[0] = leat_op_equal(x, x);
    return 1;
}

/* A worker whose function fails ends the job; the others are told which, where and why. */
static void test_failure_of_one(void **state) {
    (void)state;
    struct thread threads[WORKERS];
    for (int w = 0; w < WORKERS; w++) {
        int64_t bad = w == 1 ? 20 : -1;
        leat_error err = {0};
        leat_dataset *ds = leat_dataset_range(0, ROWS, 1, NULL, &err);
        leat_function *refuse = LEAT_TRACE(trace_refuse, &bad, leat_dataset_spec(ds), &err);
        leat_function *always = LEAT_TRACE(trace_always, NULL, leat_dataset_spec(ds), &err);
        ds = leat_dataset_filter(leat_dataset_map(ds, refuse, NULL, &err), always, &err);
        threads[w] =
            (struct thread){.replicas = 1, .dataset = leat_dataset_batch(ds, 6, NULL, &err)};
        assert_int_equal(err.code, LEAT_OK);
    }
    run_threads(threads);
    assert_int_equal(threads[1].status, LEAT_INVALID_ARGUMENT);
    for (int w = 0; w < WORKERS; w += 2) {
        assert_int_equal(threads[w].status, LEAT_ABORTED);
        assert_refused(&threads[w].error, LEAT_ABORTED, LEAT_REASON_NONE, "1");
        assert_refused(&threads[w].error, LEAT_ABORTED, LEAT_REASON_NONE, "map");
    }
}

/* ---- options ---- */

static void test_options(void **state) {
    (void)state;
    leati_membership member = {.num_workers = 1, .replicas = 2, .per_replica_ok = true};
    int calls = 0;
    static const struct {
        bool function, place, keep;
        leat_input_replication replication;
        leat_status expected;
    } cases[] = {
        {true, true, false, LEAT_INPUT_PER_WORKER, LEAT_INVALID_ARGUMENT},
        {true, true, true, LEAT_INPUT_PER_WORKER, LEAT_INVALID_ARGUMENT},
        {true, true, false, LEAT_INPUT_PER_REPLICA, LEAT_INVALID_ARGUMENT},
        {true, true, true, LEAT_INPUT_PER_REPLICA, LEAT_OK},
        {true, false, false, LEAT_INPUT_PER_REPLICA, LEAT_OK},
        {false, true, false, LEAT_INPUT_PER_WORKER, LEAT_OK},
        {false, false, false, LEAT_INPUT_PER_REPLICA, LEAT_UNIMPLEMENTED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        leat_error err = {0};
        leat_strategy_distribute_options options = {
            LEAT_STRATEGY_DISTRIBUTE_DEFAULTS, .place_dataset_on_device = cases[i].place,
            .fetch_to_device = !cases[i].keep, .replication = cases[i].replication};
        leat_dataset *dataset =
            cases[i].function
                ? NULL
                : leat_dataset_batch(leat_dataset_range(0, 4, 1, NULL, NULL), 2, NULL, NULL);
        leat_distributed_dataset *d =
            cases[i].function ? leati_distributed_from_function(&member, NULL, count_up, &calls,
                                                                NULL, &options, &err)
                              : leati_distributed_from_dataset(&member, dataset, &options, &err);
        assert_int_equal(err.code, cases[i].expected);
        assert_int_equal(d != NULL, cases[i].expected == LEAT_OK);
        leat_distributed_dataset_free(d);
    }
}

static void test_batch_size_of_context(void **state) {
    (void)state;
    leat_input_context input = {2, 1, 4};
    int64_t size = 0;
    leat_error err = {0};
    assert_int_equal(leat_input_context_batch_size(&input, 12, &size, &err), LEAT_OK);
    assert_int_equal(size, 3);
    assert_int_equal(leat_input_context_batch_size(&input, 10, &size, &err), LEAT_INVALID_ARGUMENT);
    assert_int_equal(leat_input_context_batch_size(NULL, 12, &size, &err), LEAT_INVALID_ARGUMENT);
}

/* The plan's line says who reads what. */
static void test_described(void **state) {
    (void)state;
    simulated_data data = {
        .rows = 40, .batch = 4, .epochs = 1, .files = 6, .policy = LEAT_SHARD_AUTO};
    leati_membership member = {.num_workers = 4, .worker = 1, .replicas = 2};
    leat_distributed_dataset *d = NULL;
    leat_error err = {0};
    simulated_write(&data);
    leat_distributed_iterator *it = simulated_iterator(&data, &member, &d, &err);
    const char *text = leat_distributed_dataset_describe(d);
    assert_non_null(strstr(text, "worker 1 of 4, which reads 2 of 6 files: "));
    assert_non_null(strstr(text, "part-00001, "));
    assert_non_null(strstr(text, "8 replicas, policy FILE (the source reads record files)"));
    leat_distributed_iterator_free(it);
    leat_distributed_dataset_free(d);
    data.files = 0;
    it = simulated_iterator(&data, &member, &d, &err);
    text = leat_distributed_dataset_describe(d);
    assert_non_null(strstr(text, "worker 1 of 4, which takes pieces 1, 5, ... of everything"));
    assert_non_null(strstr(text, "policy DATA (range is no reader of record files)"));
    leat_distributed_iterator_free(it);
    leat_distributed_dataset_free(d);
}

/* ---- failing allocations ---- */

struct tortured {
    simulated_data data;
    char *state;
    size_t size;
};

static leat_status use_all(void *context, leat_error *err) {
    struct tortured *t = context;
    leati_membership member = {.num_workers = 1, .worker = 0, .replicas = 2};
    leat_distributed_dataset *d = NULL;
    leat_per_replica value = {0};
    char *saved = NULL;
    size_t size = 0;
    leat_distributed_iterator *it = simulated_iterator(&t->data, &member, &d, err);
    leat_status status = it == NULL ? torture_code(err) : LEAT_OK;
    if (status == LEAT_OK)
        status = leat_distributed_iterator_restore(it, t->state, t->size, err);
    for (int i = 0; i < 2 && status == LEAT_OK; i++)
        status = leat_distributed_iterator_next(it, &value, err);
    if (status == LEAT_OK)
        status = leat_distributed_iterator_save(it, NULL, &saved, &size, NULL, err);
    leat_text_free(saved);
    leat_per_replica_fini(&value);
    leat_distributed_iterator_free(it);
    leat_distributed_dataset_free(d);
    return status;
}

static void test_failing_allocations(void **state) {
    (void)state;
    struct tortured t = {.data = {.rows = 40,
                                  .batch = 4,
                                  .epochs = 1,
                                  .files = 4,
                                  .many = true,
                                  .policy = LEAT_SHARD_FILE}};
    simulated_cluster c;
    simulated_write(&t.data);
    simulated_start(&c, &t.data, 2, 1, NULL, 0);
    assert_true(simulated_step(&c, NULL));
    t.state = simulated_save(&c, &t.size);
    simulated_stop(&c);
    torture_begin();
    torture_run_tolerant(use_all, &t); /* places may be forgotten, then elements are kept */
    torture_end();
    leat_text_free(t.state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_restored_on_others),    cmocka_unit_test(test_restored_on_as_many),
        cmocka_unit_test(test_states_refused),        cmocka_unit_test(test_functions_restored),
        cmocka_unit_test(test_agreed_once),           cmocka_unit_test(test_one_order),
        cmocka_unit_test(test_failure_of_one),        cmocka_unit_test(test_options),
        cmocka_unit_test(test_batch_size_of_context), cmocka_unit_test(test_described),
        cmocka_unit_test(test_failing_allocations),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
