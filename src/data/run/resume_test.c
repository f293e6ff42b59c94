/* What saved states cost: a pipeline with a large shuffle has a small state, and restoring it
 * computes no more than the buffer and what was under way, until it is cancelled; interleave adds
 * the states of its open datasets; the three modes hold what they say. Calls are counted by a C
 * callback. */
#include "support/cmocka.h"

#include "support/refused.h"
#include "support/scratch.h"
#include <leat/data_ops.h>
#include <leat/file.h>
#include <stdatomic.h>

enum { RECORDS = 150000, BUFFER = 100000, BATCH = 32, TAKEN = 200, DEPTH = 2, MOST_BYTES = 4096 };

static atomic_llong calls;

/* The number that a record holds. */
static leat_status decode(void *context, const leat_element *in, leat_element *out,
                          leat_error *err) {
    const leat_string *record = in->tensors[0].data;
    int64_t value = 0;
    calls++;
    memcpy(&value, record->data, record->size < sizeof value ? record->size : sizeof value);
    leat_tensor tensor = leat_scalar_int64(value);
    leat_status status = leat_element_set(out, context, &tensor, err);
    leat_tensor_unref(&tensor);
    return status;
}

static void write_records(const char *path) {
    leat_error err = {0};
    leat_tfrecord_writer *writer = leat_tfrecord_writer_open(path, NULL, &err);
    for (int64_t i = 0; i < RECORDS && writer != NULL; i++)
        assert_int_equal(leat_tfrecord_writer_write(writer, &i, sizeof i, &err), LEAT_OK);
    assert_int_equal(leat_tfrecord_writer_close(writer, &err), LEAT_OK);
}

struct plan {
    const char *path;
    leat_spec *number;
    uint32_t flags; /* of the callback */
    int64_t parallel;
};

static leat_dataset *pipeline(const struct plan *p, leat_error *err) {
    leat_dataset *dataset = leat_dataset_tf_record(&p->path, 1, NULL, err);
    leat_spec *text = leat_spec_tensor(LEAT_STRING, LEAT_SCALAR, err);
    leat_function *function = LEAT_CALLBACK(decode, p->number, NULL, "decode", p->flags, text,
                                            leat_spec_ref(p->number), err);
    dataset =
        leat_dataset_map(dataset, function,
                         &(leat_dataset_map_options){
                             LEAT_DATASET_MAP_DEFAULTS,
                             .num_parallel_calls = p->parallel == 0 ? LEAT_UNSET : p->parallel},
                         err);
    dataset = leat_dataset_shuffle(
        dataset, BUFFER,
        &(leat_dataset_shuffle_options){LEAT_DATASET_SHUFFLE_DEFAULTS, .seed = LEAT_SEED(7)}, err);
    dataset = leat_dataset_batch(dataset, BATCH, NULL, err);
    dataset = leat_dataset_prefetch(dataset, DEPTH, err);
    if (dataset == NULL)
        fail_msg("%s", err->text);
    return dataset;
}

/* The sum of the next `count` elements' values, in a way that sees their order. */
static uint64_t take(leat_iterator *iterator, int count) {
    leat_element element = {0};
    leat_error err = {0};
    uint64_t sum = 0;
    for (int i = 0; i < count; i++) {
        if (leat_iterator_next(iterator, &element, &err) != LEAT_OK)
            fail_msg("%s", err.text);
        const int64_t *values = element.tensors[0].data;
        for (int64_t k = 0; k < leat_tensor_count(&element.tensors[0]); k++)
            sum = sum * 31 + (uint64_t)values[k];
    }
    leat_element_fini(&element);
    return sum;
}

static leat_iterator *opened(leat_dataset *dataset) {
    leat_error err = {0};
    leat_iterator *iterator = leat_iterator_new(dataset, NULL, &err);
    if (iterator == NULL)
        fail_msg("%s", err.text);
    return iterator;
}

struct saved {
    char *data;
    size_t size;
    leat_iterator_save_report report;
};

static struct saved save(leat_iterator *iterator, leat_iterator_save_options options) {
    struct saved s = {0};
    leat_error err = {0};
    if (leat_iterator_save_with(iterator, &options, &s.data, &s.size, &s.report, &err) != LEAT_OK)
        fail_msg("%s", err.text);
    assert_int_equal(s.report.bytes, s.size);
    return s;
}

/* Restores into an iterator of its own, takes what the first one would have given, and returns the
 * calls until the first element. */
static int64_t restored_calls(leat_dataset *dataset, const struct saved *s, uint64_t first,
                              uint64_t rest) {
    leat_error err = {0};
    leat_iterator *iterator = opened(dataset);
    calls = 0;
    if (leat_iterator_restore(iterator, s->data, s->size, &err) != LEAT_OK)
        fail_msg("%s", err.text);
    int64_t restoring = calls;
    assert_true(take(iterator, 1) == first);
    assert_true(take(iterator, TAKEN) == rest);
    leat_iterator_free(iterator);
    return restoring;
}

/* What may be under way: the prefetch's batches and the one being made; and with a parallel map as
 * many rows as its tasks and their results may have (MOST_ROWS of data/ahead/ring.c, each). */
enum { IN_FLIGHT = (DEPTH + 2) * BATCH, IN_TASKS = 3 * 16384 };

static void check_large_shuffle(const struct plan *p) {
    leat_error err = {0};
    const int64_t flight = IN_FLIGHT + (p->parallel > 0 ? IN_TASKS : 0);
    leat_dataset *dataset = pipeline(p, &err);
    leat_iterator *iterator = opened(dataset);
    take(iterator, TAKEN);
    struct saved positions =
        save(iterator, (leat_iterator_save_options){LEAT_ITERATOR_SAVE_DEFAULTS});
    struct saved data = save(iterator, (leat_iterator_save_options){LEAT_ITERATOR_SAVE_DEFAULTS,
                                                                    .mode = LEAT_SAVE_DATA});
    struct saved chosen = save(
        iterator, (leat_iterator_save_options){LEAT_ITERATOR_SAVE_DEFAULTS, .replay_limit = 1000});
    struct saved cheap = save(iterator, (leat_iterator_save_options){LEAT_ITERATOR_SAVE_DEFAULTS,
                                                                     .replay_limit = 1000000});
    uint64_t first = take(iterator, 1), rest = take(iterator, TAKEN);
    leat_iterator_free(iterator);

    assert_in_range(positions.size, 1, MOST_BYTES);
    assert_int_equal(positions.report.data_elements, 0);
    assert_in_range(positions.report.replay_elements, BUFFER - flight, BUFFER + flight);
    int64_t computed = restored_calls(dataset, &positions, first, rest);
    assert_in_range(computed, BUFFER - flight, BUFFER + flight);

    /* The elements themselves: large, and nothing of the buffer is computed again. */
    assert_true(data.size > BUFFER * sizeof(int64_t));
    assert_in_range(data.report.data_elements, BUFFER - flight, BUFFER + flight);
    assert_in_range(data.report.replay_elements, 0, flight);
    computed = restored_calls(dataset, &data, first, rest);
    assert_in_range(computed, 0, flight);

    /* AUTO takes what costs less than its limit. */
    assert_in_range(chosen.report.data_elements, BUFFER - flight, BUFFER + flight);
    assert_int_equal(cheap.report.data_elements, 0);
    leat_text_free(positions.data);
    leat_text_free(data.data);
    leat_text_free(chosen.data);
    leat_text_free(cheap.data);
    leat_dataset_unref(dataset);
}

static void test_large_shuffle(void **state) {
    (void)state;
    leat_error err = {0};
    struct plan p = {.path = scratch_path("numbers.tfrecord"),
                     .number = leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, &err),
                     .flags = LEAT_PURE};
    write_records(p.path);
    check_large_shuffle(&p);
    p.parallel = 2;
    check_large_shuffle(&p);
    /* A callback with effects: only data will do. */
    p.parallel = 0;
    p.flags = 0;
    leat_dataset *dataset = pipeline(&p, &err);
    leat_iterator *iterator = opened(dataset);
    take(iterator, 1);
    struct saved s = save(iterator, (leat_iterator_save_options){LEAT_ITERATOR_SAVE_DEFAULTS});
    assert_true(s.report.data_elements >= BUFFER - IN_FLIGHT);
    leat_text_free(s.data);
    s.data = NULL;
    leat_iterator_save_options options = {LEAT_ITERATOR_SAVE_DEFAULTS, .mode = LEAT_SAVE_POSITIONS};
    assert_int_equal(leat_iterator_save_with(iterator, &options, &s.data, &s.size, NULL, &err),
                     LEAT_FAILED_PRECONDITION);
    assert_refused(&err, LEAT_FAILED_PRECONDITION, LEAT_REASON_NONE, "LEAT_SAVE_AUTO");
    options = (leat_iterator_save_options){LEAT_ITERATOR_SAVE_DEFAULTS, .replay_limit = -2};
    assert_int_equal(leat_iterator_save_with(iterator, &options, &s.data, &s.size, NULL, &err),
                     LEAT_INVALID_ARGUMENT);
    assert_null(s.data);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
    leat_spec_unref(p.number);
}

/* ---- interleave ---- */

static int range_of(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_value x = leat_graph_argument(graph, 0);
    outputs[0] =
        leat_graph_dataset_op(graph, "range", NULL, NULL, 0, (const char *[]){"stop"}, &x, 1);
    return 1;
}

static size_t interleaved_size(int64_t cycle) {
    leat_error err = {0};
    leat_dataset *dataset = leat_dataset_range(1000, 1100, 1, NULL, &err);
    leat_function *function = LEAT_TRACE(range_of, NULL, leat_dataset_spec(dataset), &err);
    dataset = leat_dataset_interleave(
        dataset, function,
        &(leat_dataset_interleave_options){LEAT_DATASET_INTERLEAVE_DEFAULTS, .cycle_length = cycle},
        &err);
    if (dataset == NULL)
        fail_msg("%s", err.text);
    leat_iterator *iterator = opened(dataset);
    leat_element element = {0};
    for (int i = 0; i < 500; i++)
        assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_OK);
    leat_element_fini(&element);
    struct saved s = save(iterator, (leat_iterator_save_options){LEAT_ITERATOR_SAVE_DEFAULTS});
    leat_text_free(s.data);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
    return s.size;
}

/* Each open dataset adds its own position and the element that it was made of. */
static void test_interleave(void **state) {
    (void)state;
    size_t one = interleaved_size(1), four = interleaved_size(4), sixteen = interleaved_size(16);
    print_message("states of 1, 4 and 16 open datasets: %zu, %zu, %zu bytes\n", one, four, sixteen);
    assert_true(one < four && four < sixteen);
    assert_true(sixteen - four < 12 * 100);
}

/* Restoring computes again what a buffer held; leat_iterator_cancel ends that. */
static void test_cancelled(void **state) {
    (void)state;
    leat_error err = {0};
    leat_element element = {0};
    char *saved = NULL;
    size_t size = 0;
    leat_iterator_save_options positions = {LEAT_ITERATOR_SAVE_DEFAULTS,
                                            .mode = LEAT_SAVE_POSITIONS};
    leat_dataset *dataset =
        leat_dataset_shuffle(leat_dataset_range(0, 1000, 1, NULL, &err), 100, NULL, &err);
    leat_iterator *first = leat_iterator_new(dataset, NULL, &err);
    leat_iterator *second = leat_iterator_new(dataset, NULL, &err);
    assert_int_equal(leat_iterator_next(first, &element, &err), LEAT_OK);
    assert_int_equal(leat_iterator_save_with(first, &positions, &saved, &size, NULL, &err),
                     LEAT_OK);
    leat_iterator_cancel(second);
    assert_int_equal(leat_iterator_restore(second, saved, size, &err), LEAT_CANCELLED);
    leat_text_free(saved);
    leat_element_fini(&element);
    leat_iterator_free(first);
    leat_iterator_free(second);
    leat_dataset_unref(dataset);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_large_shuffle),
        cmocka_unit_test(test_interleave),
        cmocka_unit_test(test_cancelled),
    };
    return cmocka_run_group_tests_name("resume", tests, scratch_setup, scratch_teardown);
}
