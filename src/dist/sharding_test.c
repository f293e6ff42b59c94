/* Shares of plans that TensorFlow's cases (tests/golden/data/distribute/autoshard.json) do not
 * reach: whole input pipelines, very deep plans, seeds of several operators; and without memory. */
#include "support/cmocka.h"

#include "data/shares/sharding.h"
#include "dist/distributed.h"
#include "dist/draws.h"
#include "dist/planner.h"
#include "support/refused.h"
#include "support/scratch.h"
#include "support/torture.h"
#include <leat/data_ops.h>
#include <leat/file.h>
#include <leat/ops.h>

enum { FILES = 5, DEEPEST = 1000 };

/* Of file f; longer than what messages show of a name. */
static const char *name_of(int f) {
    static char name[96];
    snprintf(name, sizeof name, "x-%d-%066d", f, 7);
    return name;
}

/* Record i of file f is a tf.train.Example {"x": 10 f + i}; file f has f + 1 records. */
static void write_files(void) {
    for (int f = 0; f < FILES; f++) {
        leat_error err = {0};
        leat_tfrecord_writer *writer =
            leat_tfrecord_writer_open(scratch_path(name_of(f)), NULL, &err);
        assert_non_null(writer);
        for (int i = 0; i <= f; i++) {
            char example[] = "\n\x0c\n\n\n\x01x\x12\x05\x1a\x03\n\x01?";
            example[13] = (char)(10 * f + i);
            assert_int_equal(leat_tfrecord_writer_write(writer, example, 14, &err), LEAT_OK);
        }
        assert_int_equal(leat_tfrecord_writer_close(writer, &err), LEAT_OK);
    }
}

static leat_dataset *features_dataset(leat_error *err) {
    const char *pattern = scratch_path("x-*"), *names[] = {"x"};
    const leat_dataset_make_batched_features_options options = {
        LEAT_DATASET_MAKE_BATCHED_FEATURES_DEFAULTS,
        .epochs = &(leat_dataset_epochs_options){LEAT_DATASET_EPOCHS_DEFAULTS, .num_epochs = 1,
                                                 .shuffle = false}};
    leat_spec *parts[] = {leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, err)};
    leat_spec *features = leat_spec_dict(names, parts, 1, err);
    leat_dataset *made =
        features == NULL
            ? NULL
            : leat_dataset_make_batched_features(&pattern, 1, 2, features, &options, err);
    leat_spec_unref(features);
    return made;
}

/* Adds to `seen` how often each number comes. */
static void count(leat_dataset *dataset, int *seen) {
    leat_error err = {0};
    leat_element element = {0};
    leat_iterator *it = leat_iterator_new(dataset, NULL, &err);
    assert_non_null(it);
    leat_status status;
    while ((status = leat_iterator_next(it, &element, &err)) == LEAT_OK) {
        const int64_t *numbers = element.tensors[0].data;
        for (int64_t i = 0; i < leat_tensor_count(&element.tensors[0]); i++)
            seen[numbers[i]]++;
    }
    assert_int_equal(status, LEAT_OUT_OF_RANGE);
    leat_element_fini(&element);
    leat_iterator_free(it);
}

static void test_whole_pipelines(void **state) {
    (void)state;
    leat_error err = {0};
    write_files();
    leat_dataset *dataset = features_dataset(&err);
    if (dataset == NULL)
        fail_msg("%s", err.text);
    int64_t batch = 0; /* TensorFlow's walk sees prefetch, parse_example_dataset and batch */
    assert_int_equal(leati_planner_batch_size(dataset, &batch, &err), LEAT_OK);
    assert_int_equal(batch, 2);
    leat_dataset *same = leati_sharding_by_files(dataset, 1, 0, NULL, 0, &err);
    assert_true(same == dataset);
    leat_dataset_unref(same);
    for (int w = 0; w < 2; w++) {
        char text[128] = "x", shown[80];
        int seen[10 * FILES] = {0};
        leat_dataset *share = leati_sharding_by_files(dataset, 2, w, text, sizeof text, &err);
        assert_non_null(share);
        count(share, seen);
        for (int i = 0; i < 10 * FILES; i++)
            assert_int_equal(seen[i], i / 10 % 2 == w && i % 10 <= i / 10);
        snprintf(shown, sizeof shown, "one file in 2, from number %d on", w);
        assert_string_equal(text, shown);
        leat_dataset_unref(share);
    }
    leat_dataset_unref(dataset);
}

/* Of each name the last 60 bytes are shown. */
static void test_names_are_shown(void **state) {
    (void)state;
    char paths[FILES][512], text[300], expected[300];
    const char *names[FILES];
    leat_error err = {0};
    for (int f = 0; f < FILES; f++) {
        snprintf(paths[f], sizeof paths[f], "%s", scratch_path(name_of(f)));
        names[f] = paths[f];
    }
    leat_dataset *dataset = leat_dataset_tf_record(names, FILES, NULL, &err);
    for (int w = 0; w < 2; w++) {
        leat_dataset *share = leati_sharding_by_files(dataset, 2, w, text, sizeof text, &err);
        assert_non_null(share);
        const char *first = paths[w] + strlen(paths[w]) - 60;
        int size = snprintf(expected, sizeof expected, "%d of %d files: %s, %s", 3 - w, FILES,
                            first, first);
        snprintf(expected + size, sizeof expected - (size_t)size, "%s%s", w == 0 ? ", " : "",
                 w == 0 ? first : "");
        assert_string_equal(text, expected);
        leat_dataset_unref(share);
    }
    leat_dataset_unref(dataset);
}

static int trace_reader(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    static const char *const names[] = {"filenames"};
    leat_value x = leat_graph_argument(graph, 0);
    (void)context;
    outputs[0] = leat_graph_dataset_op(graph, "tf_record_dataset", NULL, NULL, 0,
                                       (const char **)names, &x, 1);
    return 1;
}

/* Records of files in the order in which list_files shuffles their names. */
static leat_dataset *listed(leat_error *err) {
    const leat_dataset_list_files_options options = {LEAT_DATASET_LIST_FILES_DEFAULTS,
                                                     .seed = LEAT_SEED(5)};
    leat_dataset *names = leat_dataset_list_files(scratch_path("x-*"), &options, err);
    leat_function *function =
        names == NULL ? NULL : LEAT_TRACE(trace_reader, NULL, leat_dataset_spec(names), err);
    return leat_dataset_flat_map(names, function, err);
}

/* Every file is read once, whatever the number of workers, also if some get none. */
static void test_shuffled_names(void **state) {
    (void)state;
    leat_error err = {0};
    leat_dataset *dataset = listed(&err);
    assert_non_null(dataset);
    for (int workers = 1; workers <= FILES; workers += 2) {
        int records = 0;
        for (int w = 0; w < workers; w++) {
            leat_element element = {0};
            leat_dataset *share = leati_sharding_by_files(dataset, workers, w, NULL, 0, &err);
            leat_iterator *it = leat_iterator_new(share, NULL, &err);
            assert_non_null(it);
            int before = records;
            while (leat_iterator_next(it, &element, &err) == LEAT_OK)
                records++;
            assert_true(workers < FILES || records - before <= FILES);
            leat_element_fini(&element);
            leat_iterator_free(it);
            leat_dataset_unref(share);
        }
        assert_int_equal(records, FILES * (FILES + 1) / 2);
    }
    leat_dataset_unref(dataset);
}

/* ---- deep plans ---- */

/* What one worker tells is what all say. */
static leat_status echo(void *context, const int64_t *mine, int n, int64_t *out, leat_error *err) {
    (void)err;
    for (int i = 0; i < 2 * n; i++)
        out[i] = mine[i % n] + (context != NULL ? *(const int64_t *)context : 0);
    return LEAT_OK;
}

static const leati_membership two = {.num_workers = 2, .replicas = 1, .others = {.exchange = echo}};

static leat_dataset *deep(leat_dataset *dataset, int depth, leat_error *err) {
    for (int i = 0; i < depth; i++)
        dataset = leat_dataset_skip(dataset, 0, err);
    return dataset;
}

static void test_deep_plans(void **state) {
    (void)state;
    for (int more = 0; more < 2; more++) {
        const char *name = scratch_path("x-0");
        leat_error err = {0}, errors[3] = {{0}, {0}, {0}};
        leat_dataset *files =
            deep(leat_dataset_tf_record(&name, 1, NULL, &err), DEEPEST + more, &err);
        leat_dataset *hints =
            deep(leat_dataset_shard(leat_dataset_range(0, 5, 1, NULL, &err), -1, -1, &err),
                 DEEPEST - 1 + more, &err);
        leat_dataset *draws = deep(leat_dataset_range(0, 5, 1, NULL, &err), DEEPEST + more, &err);
        int marked = 0;
        leat_dataset *made[3] = {leati_sharding_by_files(files, 2, 0, NULL, 0, &errors[0]),
                                 leati_sharding_by_hints(hints, 2, 0, &marked, &errors[1]),
                                 leati_draws_share(draws, &two, &errors[2])};
        for (int i = 0; i < 3; i++) {
            assert_int_equal(made[i] != NULL, more == 0);
            if (more == 0)
                assert_int_equal(errors[i].code, LEAT_OK);
            else
                assert_refused(&errors[i], LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "1000");
            leat_dataset_unref(made[i]);
        }
        assert_int_equal(marked, 1);
        leat_dataset_unref(files);
        leat_dataset_unref(hints);
    }
}

/* ---- seeds ---- */

static leat_dataset *drawing(leat_error *err) {
    leat_dataset *inputs[] = {
        leat_dataset_shuffle(leat_dataset_range(0, 9, 1, NULL, err), 9, NULL, err),
        leat_dataset_range(0, 9, 1, NULL, err)};
    leat_dataset *dataset = leat_dataset_zip(inputs, 2, err);
    return leat_dataset_label(
        leat_dataset_shuffle(leat_dataset_batch(dataset, 2, NULL, err), 3, NULL, err), "last", err);
}

/* Thirty times twice itself: 2^30 paths from the sink to the source, 32 nodes. What the paths share
 * they share in the new plan too, so the source is one node again. */
static leat_dataset *doubled(leat_dataset *dataset, leat_error *err) {
    for (int i = 0; i < 30; i++)
        dataset = leat_dataset_concatenate(dataset, leat_dataset_ref(dataset), err);
    return dataset;
}

static const leat_dataset *source_of(const leat_dataset *dataset, int side) {
    while (dataset->num_inputs > 0)
        dataset = dataset->inputs[dataset->num_inputs == 1 ? 0 : side];
    return dataset;
}

static void test_shared_inputs(void **state) {
    (void)state;
    static int64_t other;
    leat_error err = {0};
    leati_membership member = two;
    member.others.context = &other;
    leat_dataset *shuffled =
        leat_dataset_shuffle(leat_dataset_range(0, 9, 1, NULL, &err), 9, NULL, &err);
    leat_dataset *draws = leati_draws_share(doubled(shuffled, &err), &member, &err);
    const char *names[] = {"a", "b", "c"};
    leat_dataset *files = doubled(leat_dataset_text_line(names, 3, NULL, &err), &err);
    int marked = 0;
    leat_dataset *hinted =
        doubled(leat_dataset_shard(leat_dataset_range(0, 9, 1, NULL, &err), -1, -1, &err), &err);
    leat_dataset *made[3] = {draws, leati_sharding_by_files(files, 2, 0, NULL, 0, &err),
                             leati_sharding_by_hints(hinted, 2, 0, &marked, &err)};
    for (int i = 0; i < 3; i++) {
        assert_non_null(made[i]);
        assert_true(source_of(made[i], 0) == source_of(made[i], 1));
        leat_dataset_unref(made[i]);
    }
    assert_int_equal(marked, 1);
    leat_dataset_unref(files);
    leat_dataset_unref(hinted);
}

static leat_status share_draws(void *context, leat_error *err) {
    leati_membership member = two;
    member.others.context = context;
    leat_dataset *dataset = drawing(err);
    leat_dataset *shared = dataset == NULL ? NULL : leati_draws_share(dataset, &member, err);
    leat_status status = shared == NULL ? torture_code(err) : LEAT_OK;
    leat_dataset_unref(shared);
    return status;
}

/* Where all have the same seeds the dataset stays as it is, and so where plans differ; else it is
 * made anew, with its labels. */
static void test_draws(void **state) {
    (void)state;
    static int64_t more = 1;
    leat_error err = {0};
    for (int other = 0; other < 2; other++) {
        leati_membership member = two;
        member.others.context = other ? &more : NULL; /* also of the number of seeds */
        leat_dataset *dataset = leat_dataset_ref(drawing(&err));
        leat_dataset *shared = leati_draws_share(dataset, &member, &err);
        assert_true(shared == dataset);
        leat_dataset_unref(shared);
        leat_dataset_unref(dataset);
    }
    torture_begin();
    torture_run(share_draws, NULL);
    torture_end();
}

/* ---- reading ahead ---- */

struct batches {
    bool prefetched, with_options;
    int releases;
};

static leat_dataset *make_batches(void *context, const leat_input_context *input, leat_error *err) {
    const struct batches *b = context;
    leat_dataset *dataset =
        leat_dataset_batch(leat_dataset_range(0, 12, 1, NULL, err), 4, NULL, err);
    (void)input;
    if (b->prefetched)
        dataset = leat_dataset_prefetch(dataset, 7, err);
    return b->with_options ? leat_dataset_with_options(
                                 dataset, &(leat_dataset_options){LEAT_DATASET_DEFAULTS}, err)
                           : dataset;
}

static void release_batches(void *context) {
    ((struct batches *)context)->releases++;
}

/* The number of elements that the share keeps ready on top of what the user wrote; 0: none. */
static int64_t ahead(struct batches *b, bool by_function, int workers, int replicas, int asked) {
    leat_error err = {0};
    leati_membership member = {.num_workers = workers, .replicas = replicas};
    const leat_strategy_distribute_options options = {LEAT_STRATEGY_DISTRIBUTE_DEFAULTS,
                                                      .per_replica_buffer_size = asked};
    member.others.exchange = echo;
    leat_distributed_dataset *d =
        by_function
            ? leati_distributed_from_function(&member, NULL, make_batches, b, release_batches,
                                              &options, &err)
            : leati_distributed_from_dataset(&member, make_batches(b, NULL, &err), &options, &err);
    if (d == NULL)
        fail_msg("%s", err.text);
    leati_feed_place place = leati_distributed_place(d, 0);
    leat_dataset *share = leati_distributed_share(d, &place, &err);
    assert_non_null(share);
    int64_t size = 0;
    bool own = strcmp(share->op->name, "prefetch") == 0;
    if (own)
        size = *(
            const int64_t *)(const void *)((const char *)share->args +
                                           leati_rows_find(share->op->rows, "buffer_size")->offset);
    leat_dataset_unref(share);
    leat_distributed_dataset_free(d);
    assert_int_equal(b->releases, by_function);
    b->releases = 0;
    return b->prefetched && size == 7 ? 0 : size;
}

/* Batches of all replicas count once, a function's batches by the replica; nothing is put behind
 * what reads ahead already, nor where there is one replica alone. */
static void test_reading_ahead(void **state) {
    (void)state;
    static const int asked[] = {1, 3, 0};
    for (int i = 0; i < 3; i++) {
        for (int kind = 0; kind < 4; kind++) {
            struct batches b = {.prefetched = kind % 2 == 1, .with_options = kind >= 2};
            int64_t one = b.prefetched ? 0 : asked[i];
            assert_int_equal(ahead(&b, false, 1, 1, asked[i]), 0);
            assert_int_equal(ahead(&b, false, 1, 2, asked[i]), one);
            assert_int_equal(ahead(&b, false, 2, 1, asked[i]), one);
            assert_int_equal(ahead(&b, true, 1, 1, asked[i]), 0);
            assert_int_equal(ahead(&b, true, 1, 2, asked[i]), 2 * one);
            assert_int_equal(ahead(&b, true, 2, 3, asked[i]), 3 * one);
        }
    }
}

/* ---- failing allocations ---- */

static leat_status distribute_function(void *context, leat_error *err) {
    const leati_membership member = {.num_workers = 1, .replicas = 2, .per_replica_ok = true};
    const leat_strategy_distribute_options options = {LEAT_STRATEGY_DISTRIBUTE_DEFAULTS,
                                                      .replication = LEAT_INPUT_PER_REPLICA};
    struct batches *b = context;
    b->releases = 0;
    leat_distributed_dataset *d = leati_distributed_from_function(&member, NULL, make_batches, b,
                                                                  release_batches, &options, err);
    leat_distributed_iterator *it = d == NULL ? NULL : leat_distributed_iterator_new(d, err);
    leat_status status = it == NULL ? torture_code(err) : LEAT_OK;
    char *text = it == NULL ? NULL : leat_distributed_iterator_explain(it, err);
    if (it != NULL && text == NULL)
        status = err->code;
    leat_text_free(text);
    leat_distributed_iterator_free(it);
    leat_distributed_dataset_free(d);
    assert_int_equal(b->releases, 1);
    return status;
}

static leat_status share_files(void *context, leat_error *err) {
    leat_dataset *dataset = context != NULL ? features_dataset(err) : listed(err);
    leat_dataset *share =
        dataset == NULL ? NULL : leati_sharding_by_files(dataset, 2, 1, NULL, 0, err);
    leat_dataset_unref(dataset);
    leat_status status = share == NULL ? torture_code(err) : LEAT_OK;
    leat_dataset_unref(share);
    return status;
}

/* One worker draws other numbers than worker 0 in each round, as if it had begun with another
 * state: its plan is made anew. */
static int rounds;

static leat_status other_draws(void *context, const int64_t *mine, int n, int64_t *out,
                               leat_error *err) {
    (void)context;
    (void)err;
    for (int i = 0; i < 2 * n; i++)
        out[i] = n == 1 ? mine[i % n] : mine[i % n] ^ (i < n && mine[i % n] / 2 != 0 ? 6 : 0);
    rounds++;
    return LEAT_OK;
}

static leat_status take_draws(void *context, leat_error *err) {
    leati_membership member = two;
    (void)context;
    member.others.exchange = other_draws;
    leat_dataset *dataset = leat_dataset_ref(drawing(err));
    leat_dataset *shared = dataset == NULL ? NULL : leati_draws_share(dataset, &member, err);
    leat_status status = shared == NULL ? torture_code(err) : LEAT_OK;
    assert_true(dataset == NULL || shared != dataset);
    if (shared != NULL) {
        assert_string_equal(shared->label, "last");
        assert_string_equal(shared->op->name, "shuffle");
    }
    leat_dataset_unref(dataset);
    leat_dataset_unref(shared);
    return status;
}

static void test_failing_allocations(void **state) {
    (void)state;
    leat_error err = {0};
    assert_int_equal(take_draws(NULL, &err), LEAT_OK);
    assert_int_equal(rounds, 2);
    torture_begin();
    torture_run(take_draws, NULL);
    torture_run_tolerant(share_files, NULL); /* constants are folded where there is memory */
    torture_run_tolerant(share_files, &rounds);
    torture_run_tolerant(distribute_function, &(struct batches){0});
    torture_end();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_pipelines), cmocka_unit_test(test_names_are_shown),
        cmocka_unit_test(test_shuffled_names),  cmocka_unit_test(test_deep_plans),
        cmocka_unit_test(test_draws),           cmocka_unit_test(test_shared_inputs),
        cmocka_unit_test(test_reading_ahead),   cmocka_unit_test(test_failing_allocations)};
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
