/* The protocol of operators, on range, take, skip, repeat, shuffle and batch. Expected orders are
 * TensorFlow's. */
#include "support/cmocka.h"

#include "support/torture.h"

#include "base/hash.h"
#include "support/dataset.h"
#include "support/refused.h"

static leat_dataset *range_of(int64_t n, leat_error *err) {
    return leat_dataset_range(0, n, 1, NULL, err);
}

/* ---- range ---- */

static leat_dataset *range_up(void *context, leat_error *err) {
    (void)context;
    return leat_dataset_range(-3, 9, 4, NULL, err);
}

static leat_dataset *range_down(void *context, leat_error *err) {
    (void)context;
    return leat_dataset_range(
        5, -2, -3,
        &(leat_dataset_range_options){LEAT_DATASET_RANGE_DEFAULTS, .output_type = LEAT_FLOAT32},
        err);
}

static leat_dataset *range_empty(void *context, leat_error *err) {
    (void)context;
    return leat_dataset_range(3, 3, 1, NULL, err);
}

static void test_range(void **state) {
    (void)state;
    dataset_check(range_up, NULL, "-3 1 5");
    dataset_check(range_down, NULL, "5.0 2.0 -1.0");
    dataset_check(range_empty, NULL, "");
    leat_error err = {0};
    assert_null(leat_dataset_range(0, 3, 0, NULL, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "0");
}

/* ---- take and skip ---- */

static leat_dataset *take_some(void *context, leat_error *err) {
    return leat_dataset_take(range_of(7, err), *(int64_t *)context, err);
}

static leat_dataset *skip_some(void *context, leat_error *err) {
    return leat_dataset_skip(range_of(7, err), *(int64_t *)context, err);
}

static leat_dataset *take_errors(void *context, leat_error *err) {
    return leat_dataset_take(dataset_faults(range_of(7, err), 4, 1, err), *(int64_t *)context, err);
}

static leat_dataset *skip_errors(void *context, leat_error *err) {
    return leat_dataset_skip(dataset_faults(range_of(6, err), 6, 3, err), *(int64_t *)context, err);
}

static void test_take_and_skip(void **state) {
    (void)state;
    static const struct {
        int64_t count;
        const char *take, *skip, *take_errors, *skip_errors;
    } cases[] = {
        {0, "", "0 1 2 3 4 5 6", "", "0 1 2 !INVALID_ARGUMENT 4 5"},
        {1, "0", "1 2 3 4 5 6", "0", "1 2 !INVALID_ARGUMENT 4 5"},
        {4, "0 1 2 3", "4 5 6", "0 !INVALID_ARGUMENT 2 3 4", "!INVALID_ARGUMENT"},
        {7, "0 1 2 3 4 5 6", "", "0 !INVALID_ARGUMENT 2 3 4 !INVALID_ARGUMENT 6",
         "!INVALID_ARGUMENT"},
        {9, "0 1 2 3 4 5 6", "", "0 !INVALID_ARGUMENT 2 3 4 !INVALID_ARGUMENT 6",
         "!INVALID_ARGUMENT"},
        {-1, "0 1 2 3 4 5 6", "", "0 !INVALID_ARGUMENT 2 3 4 !INVALID_ARGUMENT 6", ""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t count = cases[i].count;
        dataset_check(take_some, &count, cases[i].take);
        dataset_check(skip_some, &count, cases[i].skip);
        dataset_check(take_errors, &count, cases[i].take_errors);
        dataset_check(skip_errors, &count, cases[i].skip_errors);
    }
}

/* ---- repeat ---- */

static leat_dataset *repeat_some(void *context, leat_error *err) {
    return leat_dataset_repeat(range_of(3, err), *(int64_t *)context, err);
}

static leat_dataset *repeat_errors(void *context, leat_error *err) {
    (void)context;
    return leat_dataset_repeat(dataset_faults(range_of(3, err), 3, 1, err), 2, err);
}

static leat_dataset *repeat_empty(void *context, leat_error *err) {
    (void)context;
    return leat_dataset_repeat(range_of(0, err), -1, err);
}

static void test_repeat(void **state) {
    (void)state;
    dataset_check(repeat_some, &(int64_t){0}, "");
    dataset_check(repeat_some, &(int64_t){1}, "0 1 2");
    dataset_check(repeat_some, &(int64_t){3}, "0 1 2 0 1 2 0 1 2");
    dataset_check_most(repeat_some, &(int64_t){-1}, 7, "0 1 2 0 1 2 0");
    dataset_check(repeat_errors, NULL, "0 !INVALID_ARGUMENT 2 0 !INVALID_ARGUMENT 2");
    dataset_check(repeat_empty, NULL, "");
}

/* ---- shuffle ---- */

struct shuffled {
    int64_t elements, buffer, repeat;
    bool no_reshuffle, errors, impure;
    int64_t seed;
};

static leat_dataset *shuffle_some(void *context, leat_error *err) {
    struct shuffled *s = context;
    leat_dataset *dataset = range_of(s->elements, err);
    dataset = s->errors ? dataset_faults(dataset, 4, 1, err) : dataset;
    dataset = s->impure ? dataset_impure(dataset, err) : dataset;
    leat_dataset_shuffle_options options = {LEAT_DATASET_SHUFFLE_DEFAULTS,
                                            .seed = LEAT_SEED(s->seed),
                                            .reshuffle_each_iteration = !s->no_reshuffle};
    dataset = leat_dataset_shuffle(dataset, s->buffer, &options, err);
    /* Directly over shuffle, repeat is fused with it, which moves errors of later epochs. */
    dataset = s->errors ? leat_dataset_take(dataset, 1000, err) : dataset;
    return s->repeat == 0 ? dataset : leat_dataset_repeat(dataset, s->repeat, err);
}

/* Orders of TensorFlow 2.21. */
static void test_shuffle(void **state) {
    (void)state;
    dataset_check(shuffle_some, &(struct shuffled){.elements = 10, .buffer = 10, .seed = 42},
                  "5 9 6 4 7 1 2 8 3 0");
    dataset_check(shuffle_some,
                  &(struct shuffled){.elements = 10, .buffer = 10, .seed = 42, .impure = true},
                  "5 9 6 4 7 1 2 8 3 0");
    dataset_check(
        shuffle_some,
        &(struct shuffled){.elements = 10, .buffer = 10, .seed = 42, .no_reshuffle = true},
        "2 0 7 8 9 3 6 4 1 5");
    dataset_check(shuffle_some, &(struct shuffled){.elements = 5, .buffer = 5, .seed = 1},
                  "0 4 3 1 2");
    dataset_check(shuffle_some, &(struct shuffled){.elements = 10, .buffer = -2, .seed = 42},
                  "5 9 6 4 7 1 2 8 3 0");
    dataset_check(shuffle_some,
                  &(struct shuffled){.elements = 10, .buffer = 10, .repeat = 3, .seed = 42},
                  "5 9 6 4 7 1 2 8 3 0 3 7 6 5 8 4 0 1 9 2 2 8 9 6 0 4 1 3 5 7");
    dataset_check(shuffle_some, &(struct shuffled){.buffer = 3, .repeat = 2, .seed = 4}, "");
    dataset_check(shuffle_some,
                  &(struct shuffled){.elements = 11, .buffer = 3, .seed = 9, .errors = true}, NULL);
    dataset_check(
        shuffle_some,
        &(struct shuffled){
            .elements = 11, .buffer = 4, .repeat = 2, .seed = 9, .errors = true, .impure = true},
        NULL);
}

static leat_dataset *shuffle_of_repeat(void *context, leat_error *err) {
    leat_dataset *dataset = leat_dataset_repeat(range_of(10, err), 2, err);
    return leat_dataset_shuffle(
        dataset, *(int64_t *)context,
        &(leat_dataset_shuffle_options){LEAT_DATASET_SHUFFLE_DEFAULTS, .seed = LEAT_SEED(42)}, err);
}

static leat_dataset *shuffle_twice(void *context, leat_error *err) {
    (void)context;
    leat_dataset *dataset = leat_dataset_shuffle(
        range_of(9, err), 4,
        &(leat_dataset_shuffle_options){LEAT_DATASET_SHUFFLE_DEFAULTS, .seed = LEAT_SEED(3)}, err);
    dataset = leat_dataset_repeat(dataset, 2, err);
    dataset = leat_dataset_shuffle(
        dataset, 5,
        &(leat_dataset_shuffle_options){LEAT_DATASET_SHUFFLE_DEFAULTS, .seed = LEAT_SEED(5)}, err);
    return leat_dataset_repeat(dataset, 2, err);
}

static void test_shuffle_composed(void **state) {
    (void)state;
    dataset_check(shuffle_of_repeat, &(int64_t){4}, "1 4 2 3 5 0 6 9 8 2 0 3 1 4 5 7 9 6 7 8");
    dataset_check(shuffle_twice, NULL, NULL);
}

/* The seed generator belongs to the dataset: a second iterator gets the second order. */
static void test_shuffle_epochs(void **state) {
    (void)state;
    struct shuffled s = {.elements = 10, .buffer = 10, .seed = 42};
    leat_dataset *dataset = dataset_made(shuffle_some, &s);
    static const char *const orders[] = {"5 9 6 4 7 1 2 8 3 0", "3 7 6 5 8 4 0 1 9 2",
                                         "2 8 9 6 0 4 1 3 5 7"};
    for (int i = 0; i < 3; i++) {
        char *text = dataset_text(dataset, NULL, -1);
        assert_string_equal(text, orders[i]);
        free(text);
    }
    leat_dataset_unref(dataset);
}

/* A state is positions: it does not grow with the buffer, and the report tells what comes again. */
static void test_shuffle_state_is_small(void **state) {
    (void)state;
    struct shuffled s = {.elements = 100000, .buffer = 50000, .seed = 1};
    leat_dataset *dataset = dataset_made(shuffle_some, &s);
    leat_iterator *iterator = dataset_iterate(dataset, NULL);
    leat_element element = {0};
    leat_iterator_save_report report = {0};
    leat_error err = {0};
    char *data = NULL;
    size_t size = 0;
    for (int i = 0; i < 10; i++)
        assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_OK);
    assert_int_equal(leat_iterator_save(iterator, &data, &size, &report, &err), LEAT_OK);
    assert_int_equal(report.bytes, size);
    assert_true(size < 200);
    assert_true(report.replay_elements >= 49000 && report.replay_elements <= 50000);
    leati_free(data);
    leat_element_fini(&element);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
}

static void test_shuffle_arguments(void **state) {
    (void)state;
    leat_error err = {0};
    assert_null(leat_dataset_shuffle(range_of(3, &err), 0, NULL, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "0");
}

/* ---- batch ---- */

struct batched {
    int64_t elements, size;
    bool drop, errors, impure, shuffled;
};

static leat_dataset *batch_some(void *context, leat_error *err) {
    struct batched *b = context;
    leat_dataset *dataset = range_of(b->elements, err);
    dataset = b->errors ? dataset_faults(dataset, 5, 3, err) : dataset;
    dataset = b->impure ? dataset_impure(dataset, err) : dataset;
    if (b->shuffled) {
        dataset = leat_dataset_shuffle(
            dataset, 5,
            &(leat_dataset_shuffle_options){LEAT_DATASET_SHUFFLE_DEFAULTS, .seed = LEAT_SEED(1)},
            err);
    }
    return leat_dataset_batch(
        dataset, b->size,
        &(leat_dataset_batch_options){LEAT_DATASET_BATCH_DEFAULTS, .drop_remainder = b->drop}, err);
}

static void test_batch(void **state) {
    (void)state;
    dataset_check(batch_some, &(struct batched){.elements = 7, .size = 3}, "[0,1,2] [3,4,5] [6]");
    dataset_check(batch_some, &(struct batched){.elements = 7, .size = 3, .impure = true},
                  "[0,1,2] [3,4,5] [6]");
    dataset_check(batch_some, &(struct batched){.elements = 7, .size = 3, .drop = true},
                  "[0,1,2] [3,4,5]");
    dataset_check(batch_some, &(struct batched){.elements = 6, .size = 3, .drop = true},
                  "[0,1,2] [3,4,5]");
    dataset_check(batch_some, &(struct batched){.elements = 3, .size = 100}, "[0,1,2]");
    dataset_check(batch_some, &(struct batched){.elements = 3, .size = INT64_MAX}, "[0,1,2]");
    dataset_check(batch_some, &(struct batched){.size = 2}, "");
    dataset_check(batch_some, &(struct batched){.elements = 9, .size = 2, .errors = true},
                  "[0,1] !INVALID_ARGUMENT [4,5] [6,7] !INVALID_ARGUMENT");
    dataset_check(batch_some, &(struct batched){.elements = 5, .size = 2, .shuffled = true},
                  "[0,4] [3,1] [2]");
    leat_error err = {0};
    assert_null(leat_dataset_batch(range_of(3, &err), 0, NULL, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "batch_size");
}

static leat_dataset *batch_of_batches(void *context, leat_error *err) {
    (void)context;
    return leat_dataset_batch(leat_dataset_batch(range_of(7, err), 2, NULL, err), 2, NULL, err);
}

static void test_batch_of_unequal_shapes(void **state) {
    (void)state;
    dataset_check(batch_of_batches, NULL, "[0,1,2,3] !INVALID_ARGUMENT");
    leat_dataset *dataset = dataset_made(batch_of_batches, NULL);
    leat_iterator *iterator = dataset_iterate(dataset, NULL);
    leat_element element = {0};
    leat_error err = {0};
    assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_OK);
    assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_SHAPE, "[1]");
    leat_element_fini(&element);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
}

/* ---- the protocol ---- */

static leat_dataset *everything(void *context, leat_error *err) {
    (void)context;
    leat_dataset *dataset = leat_dataset_skip(range_of(23, err), 2, err);
    dataset = dataset_faults(dataset, 9, 4, err);
    dataset = leat_dataset_shuffle(
        dataset, 6,
        &(leat_dataset_shuffle_options){LEAT_DATASET_SHUFFLE_DEFAULTS, .seed = LEAT_SEED(8)}, err);
    dataset = leat_dataset_repeat(leat_dataset_take(dataset, 17, err), 2, err);
    return leat_dataset_skip(leat_dataset_batch(dataset, 3, NULL, err), 1, err);
}

static void test_composed(void **state) {
    (void)state;
    dataset_check(everything, NULL, NULL);
}

/* Over an input with effects nobody asks for more than TensorFlow would. */
static void test_impure_inputs_are_asked_for_what_is_needed(void **state) {
    (void)state;
    leat_error err = {0};
    leat_dataset *dataset = dataset_impure(range_of(100, &err), &err);
    dataset = leat_dataset_batch(leat_dataset_take(leat_dataset_skip(dataset, 5, &err), 40, &err),
                                 4, NULL, &err);
    assert_non_null(dataset);
    leat_iterator *iterator = dataset_iterate(dataset, NULL);
    leat_element element = {0};
    dataset_asked = 0;
    assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_OK);
    assert_int_equal(dataset_asked, 5 + 4);
    assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_OK);
    assert_int_equal(dataset_asked, 5 + 8);
    leat_element_fini(&element);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
}

static void expect_failure(leat_status found, leat_status code, const leat_error *err,
                           leat_reason reason, const char *keyword) {
    assert_int_equal(found, code);
    assert_refused(err, code, reason, keyword);
}

static void test_arguments_of_iterators(void **state) {
    (void)state;
    leat_error err = {0};
    char *data = NULL;
    size_t size = 0;
    leat_element element = {0};
    leat_dataset *dataset = range_of(5, &err);
    const leat_iterator_options wrong[] = {{LEAT_ITERATOR_DEFAULTS, .num_threads = -1},
                                           {LEAT_ITERATOR_DEFAULTS, .memory_limit = -2},
                                           {LEAT_ITERATOR_DEFAULTS, .memory_limit = 0},
                                           {LEAT_ITERATOR_DEFAULTS, .deadline_ms = -2}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        err = (leat_error){0};
        assert_null(leat_iterator_new(dataset, &wrong[i], &err));
        expect_failure(err.code, LEAT_INVALID_ARGUMENT, &err, LEAT_REASON_VALUE, "num_threads");
    }
    leat_iterator *iterator = dataset_iterate(dataset, NULL);
    expect_failure(leat_iterator_next(NULL, &element, &err), LEAT_INVALID_ARGUMENT, &err,
                   LEAT_REASON_VALUE, "iterator");
    expect_failure(leat_iterator_next(iterator, NULL, &err), LEAT_INVALID_ARGUMENT, &err,
                   LEAT_REASON_VALUE, "out");
    expect_failure(leat_iterator_save(NULL, &data, &size, NULL, &err), LEAT_INVALID_ARGUMENT, &err,
                   LEAT_REASON_VALUE, "leat_iterator_save");
    expect_failure(leat_iterator_save(iterator, NULL, &size, NULL, &err), LEAT_INVALID_ARGUMENT,
                   &err, LEAT_REASON_VALUE, "leat_iterator_save");
    expect_failure(leat_iterator_save(iterator, &data, NULL, NULL, &err), LEAT_INVALID_ARGUMENT,
                   &err, LEAT_REASON_VALUE, "leat_iterator_save");
    assert_int_equal(leat_iterator_save(iterator, &data, &size, NULL, &err), LEAT_OK);
    expect_failure(leat_iterator_restore(NULL, data, size, &err), LEAT_INVALID_ARGUMENT, &err,
                   LEAT_REASON_VALUE, "leat_iterator_restore");
    expect_failure(leat_iterator_restore(iterator, NULL, size, &err), LEAT_INVALID_ARGUMENT, &err,
                   LEAT_REASON_VALUE, "leat_iterator_restore");
    assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_OK);
    leat_element_fini(&element);
    leati_free(data);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
}

/* States with a byte changed and a checksum that fits: a wrong beginning, another version, other
 * rewrites. What is refused has changed nothing. */
static void test_headers_of_states(void **state) {
    (void)state;
    enum { MAGIC = 1, VERSION = 5, REWRITTEN = 6 + 8, STATE_VERSION = 1 };
    static const struct {
        size_t at;
        leat_status code;
        leat_reason reason;
        const char *keyword;
    } changes[] = {
        {MAGIC, LEAT_DATA_LOSS, LEAT_REASON_NONE, "LEAT"},
        {0, LEAT_DATA_LOSS, LEAT_REASON_NONE, "LEAT"},
        {VERSION, LEAT_FAILED_PRECONDITION, LEAT_REASON_NONE, "1"},
        {REWRITTEN, LEAT_FAILED_PRECONDITION, LEAT_REASON_NONE, "rewrites"},
    };
    leat_error err = {0};
    leat_element element = {0};
    char *data = NULL;
    size_t size = 0;
    leat_dataset *dataset = range_of(5, &err);
    leat_iterator *iterator = dataset_iterate(dataset, NULL);
    assert_int_equal(leat_iterator_save(iterator, &data, &size, NULL, &err), LEAT_OK);
    leat_iterator_free(iterator);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        iterator = dataset_iterate(dataset, NULL);
        data[changes[i].at] ^= 8;
        uint64_t checksum = leati_hash(data, size - 8, STATE_VERSION);
        for (int b = 0; b < 8; b++)
            data[size - 8 + (size_t)b] = (char)(checksum >> (8 * b));
        expect_failure(leat_iterator_restore(iterator, data, size, &err), changes[i].code, &err,
                       changes[i].reason, changes[i].keyword);
        for (int64_t k = 0; k < 5; k++) {
            assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_OK);
            assert_int_equal(*(int64_t *)element.tensors[0].data, k);
        }
        assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_OUT_OF_RANGE);
        data[changes[i].at] ^= 8;
        leat_iterator_free(iterator);
    }
    leat_element_fini(&element);
    leati_free(data);
    leat_dataset_unref(dataset);
}

static void test_states_are_guarded(void **state) {
    (void)state;
    leat_error err = {0};
    char *data = NULL;
    size_t size = 0;
    leat_dataset *dataset = range_of(5, &err), *other = range_of(6, &err);
    leat_iterator *iterator = dataset_iterate(dataset, NULL);
    assert_int_equal(leat_iterator_save(iterator, &data, &size, NULL, &err), LEAT_OK);
    leat_iterator *wrong = dataset_iterate(other, NULL);
    assert_int_equal(leat_iterator_restore(wrong, data, size, &err), LEAT_FAILED_PRECONDITION);
    assert_refused(&err, LEAT_FAILED_PRECONDITION, LEAT_REASON_NONE, "fingerprint");
    assert_int_equal(leat_iterator_restore(iterator, data, size - 1, &err), LEAT_DATA_LOSS);
    assert_int_equal(leat_iterator_restore(iterator, data, 8, &err), LEAT_DATA_LOSS);
    assert_refused(&err, LEAT_DATA_LOSS, LEAT_REASON_NONE,
                   "checksum"); /* a checksum, and nothing before it */
    assert_int_equal(leat_iterator_restore(iterator, data, 7, &err), LEAT_DATA_LOSS);
    assert_refused(&err, LEAT_DATA_LOSS, LEAT_REASON_NONE, "7");
    for (size_t i = 0; i < size; i++) {
        leat_iterator *again = dataset_iterate(dataset, NULL);
        data[i] ^= 0x20;
        assert_int_not_equal(leat_iterator_restore(again, data, size, &err), LEAT_OK);
        data[i] ^= 0x20;
        leat_iterator_free(again);
    }
    leati_free(data);
    leat_iterator_free(wrong);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
    leat_dataset_unref(other);
}

static void test_first_error_of_a_chain(void **state) {
    (void)state;
    leat_error err = {0};
    leat_dataset *dataset = leat_dataset_batch(
        leat_dataset_take(leat_dataset_range(0, 3, 0, NULL, &err), 3, &err), 0, NULL, &err);
    assert_null(dataset);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "0");
    assert_null(leat_dataset_take(NULL, 3, NULL));
    leat_error fresh = {0};
    assert_null(leat_dataset_take(NULL, 3, &fresh));
    assert_int_equal(fresh.code, LEAT_INVALID_ARGUMENT);
    assert_null(leat_iterator_new(NULL, NULL, &err));
}

static void test_cancelled(void **state) {
    (void)state;
    leat_error err = {0};
    leat_dataset *dataset = range_of(5, &err);
    leat_iterator *iterator = dataset_iterate(dataset, NULL);
    leat_element element = {0};
    assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_OK);
    leat_iterator_cancel(iterator);
    assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_CANCELLED);
    leat_element_fini(&element);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
}

int main(void) {
#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, torture_setup, torture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_range),
        TEST(test_take_and_skip),
        TEST(test_repeat),
        TEST(test_shuffle),
        TEST(test_shuffle_composed),
        TEST(test_shuffle_epochs),
        TEST(test_shuffle_state_is_small),
        TEST(test_shuffle_arguments),
        TEST(test_batch),
        TEST(test_batch_of_unequal_shapes),
        TEST(test_composed),
        TEST(test_impure_inputs_are_asked_for_what_is_needed),
        TEST(test_states_are_guarded),
        TEST(test_arguments_of_iterators),
        TEST(test_headers_of_states),
        TEST(test_first_error_of_a_chain),
        TEST(test_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
