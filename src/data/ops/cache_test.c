/* cache in memory and in files. What becomes of partial iterations, errors and shuffled inputs is
 * TensorFlow's behaviour. */
#include "support/cmocka.h"

#include "support/torture.h"

#include "base/hash.h"
#include "support/dataset.h"
#include "support/refused.h"
#include "support/scratch.h"

struct cached {
    int64_t elements, batch, repeat, take;
    bool shuffled, errors, impure, unknown, in_file;
};

static leat_dataset *cache_some(void *context, leat_error *err) {
    const struct cached *c = context;
    leat_dataset *dataset = leat_dataset_range(0, c->elements, 1, NULL, err);
    if (c->shuffled) {
        dataset = leat_dataset_shuffle(
            dataset, c->elements,
            &(leat_dataset_shuffle_options){LEAT_DATASET_SHUFFLE_DEFAULTS, .seed = LEAT_SEED(5)},
            err);
    }
    dataset = c->errors ? dataset_faults(dataset, 5, 3, err) : dataset;
    dataset = c->impure ? dataset_impure(dataset, err) : dataset;
    dataset = c->batch > 0 ? leat_dataset_batch(dataset, c->batch, NULL, err) : dataset;
    dataset = c->in_file ? leat_dataset_cache_to_file(dataset, scratch_path("cache"), err)
                         : leat_dataset_cache(dataset, err);
    dataset = c->take > 0 ? leat_dataset_take(dataset, c->take, err) : dataset;
    return c->repeat == 0 ? dataset : leat_dataset_repeat(dataset, c->repeat, err);
}

/* ---- in memory ---- */

static void test_memory(void **state) {
    (void)state;
    dataset_check(cache_some, &(struct cached){.elements = 0, .repeat = 2}, "");
    dataset_check(cache_some, &(struct cached){.elements = 4}, "0 1 2 3");
    dataset_check(cache_some, &(struct cached){.elements = 3, .repeat = 3}, "0 1 2 0 1 2 0 1 2");
    dataset_check(cache_some, &(struct cached){.elements = 3, .repeat = 3, .impure = true},
                  "0 1 2 0 1 2 0 1 2");
    dataset_check(cache_some, &(struct cached){.elements = 7, .batch = 3, .repeat = 2},
                  "[0,1,2] [3,4,5] [6] [0,1,2] [3,4,5] [6]");
    dataset_check(cache_some, &(struct cached){.elements = 5, .repeat = 2, .errors = true},
                  "0 1 2 !INVALID_ARGUMENT 4 0 1 2 4");
    dataset_check(cache_some,
                  &(struct cached){.elements = 5, .repeat = 2, .errors = true, .impure = true},
                  "0 1 2 !INVALID_ARGUMENT 4 0 1 2 4");
    dataset_check(cache_some, &(struct cached){.elements = 6, .repeat = 2, .shuffled = true},
                  "1 2 5 0 3 4 1 2 5 0 3 4");
    dataset_check(cache_some,
                  &(struct cached){.elements = 6, .repeat = 2, .shuffled = true, .impure = true},
                  "1 2 5 0 3 4 1 2 5 0 3 4");
    /* All of them, but not the end: the known cardinality completes the cache. */
    dataset_check(cache_some,
                  &(struct cached){.elements = 6, .repeat = 3, .shuffled = true, .take = 6},
                  "1 2 5 0 3 4 1 2 5 0 3 4 1 2 5 0 3 4");
}

/* Fewer than all: nothing is kept, and every epoch has another order. */
static void test_incomplete(void **state) {
    (void)state;
    struct cached c = {.elements = 8, .shuffled = true};
    leat_dataset *dataset = dataset_made(cache_some, &c);
    static const struct {
        int64_t most;
        const char *text;
    } runs[] = {{3, "5 6 7"}, {-1, "4 3 5 1 7 0 6 2"}, {-1, "4 3 5 1 7 0 6 2"}};
    for (size_t i = 0; i < 3; i++) {
        char *text = dataset_text(dataset, NULL, runs[i].most);
        assert_string_equal(text, runs[i].text);
        free(text);
    }
    leat_dataset_unref(dataset);
}

/* Two iterators fill at once; the first to finish is kept for all. */
static leat_dataset *zip_same(void *context, leat_error *err) {
    (void)context;
    leat_dataset *dataset = leat_dataset_shuffle(
        leat_dataset_range(0, 5, 1, NULL, err), 5,
        &(leat_dataset_shuffle_options){LEAT_DATASET_SHUFFLE_DEFAULTS, .seed = LEAT_SEED(3)}, err);
    dataset = leat_dataset_cache(dataset, err);
    dataset = leat_dataset_zip((leat_dataset *[]){leat_dataset_ref(dataset), dataset}, 2, err);
    return leat_dataset_repeat(dataset, 2, err);
}

static void test_two_writers(void **state) {
    (void)state;
    dataset_check(zip_same, NULL, "(4,3) (3,4) (2,1) (1,2) (0,0) (4,4) (3,3) (2,2) (1,1) (0,0)");
}

static leat_dataset *shuffled_after(void *context, leat_error *err) {
    leat_dataset *dataset = cache_some(context, err);
    dataset = leat_dataset_shuffle(
        dataset, 6,
        &(leat_dataset_shuffle_options){LEAT_DATASET_SHUFFLE_DEFAULTS, .seed = LEAT_SEED(5)}, err);
    return leat_dataset_repeat(leat_dataset_batch(dataset, 4, NULL, err), 3, err);
}

static void test_shuffled_after(void **state) {
    (void)state;
    struct cached c = {.elements = 6};
    dataset_check(shuffled_after, &c, NULL);
    c = (struct cached){.elements = 6, .shuffled = true, .errors = true};
    dataset_check(shuffled_after, &c, NULL);
    c = (struct cached){.elements = 6, .shuffled = true, .impure = true};
    dataset_check(shuffled_after, &c, NULL);
}

/* Elements of different shapes, strings, many chunks. */
static void test_large(void **state) {
    (void)state;
    leat_error err = {0};
    leat_dataset *dataset =
        leat_dataset_batch(leat_dataset_range(0, 2000001, 1, NULL, &err), 1000, NULL, &err);
    dataset = leat_dataset_repeat(leat_dataset_cache(dataset, &err), 2, &err);
    leat_iterator *iterator = dataset_iterate(dataset, NULL);
    leat_element element = {0};
    for (int64_t i = 0; i < 4002; i++) {
        assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_OK);
        assert_int_equal(*(const int64_t *)element.tensors[0].data, i % 2001 * 1000);
        assert_int_equal(element.tensors[0].dims[0], i % 2001 == 2000 ? 1 : 1000);
    }
    assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_OUT_OF_RANGE);
    leat_element_fini(&element);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
}

/* A cache that outgrows the budget is one error; nothing is lost, and nothing is kept. */
static void test_budget(void **state) {
    (void)state;
    leat_error err = {0};
    leat_dataset *dataset =
        leat_dataset_batch(leat_dataset_range(0, 64 * 1000, 1, NULL, &err), 1000, NULL, &err);
    dataset = leat_dataset_cache(dataset, &err);
    for (int epoch = 0; epoch < 2; epoch++) {
        leat_iterator *iterator = dataset_iterate(
            dataset, &(leat_iterator_options){LEAT_ITERATOR_DEFAULTS, .memory_limit = 100000});
        leat_element element = {0};
        int64_t elements = 0, errors = 0;
        for (;;) {
            leat_status status = leat_iterator_next(iterator, &element, &err);
            if (status == LEAT_OUT_OF_RANGE)
                break;
            if (status == LEAT_OK) {
                assert_int_equal(*(const int64_t *)element.tensors[0].data, elements * 1000);
                elements++;
            } else {
                assert_int_equal(status, LEAT_RESOURCE_EXHAUSTED);
                assert_refused(&err, LEAT_RESOURCE_EXHAUSTED, LEAT_REASON_NONE, "101.6");
                errors++;
            }
        }
        assert_int_equal(elements, 64);
        assert_int_equal(errors, 1);
        leat_element_fini(&element);
        leat_iterator_free(iterator);
    }
    leat_dataset_unref(dataset);
}

/* ---- in files ---- */

static void remove_files(void) {
    remove(scratch_path("cache.data"));
    remove(scratch_path("cache.index"));
    assert_int_equal(scratch_count(), 0);
}

/* Every way to run it from nothing. */
static void check_file(struct cached *c, const char *expected) {
    c->in_file = true;
    leat_iterator_options options[3] = {{LEAT_ITERATOR_DEFAULTS},
                                        {LEAT_ITERATOR_DEFAULTS, .verify = true, .verify_seed = 3},
                                        {LEAT_ITERATOR_DEFAULTS, .verify = true, .verify_seed = 4}};
    for (int i = 0; i < 3; i++) {
        dataset_same(cache_some, c, &options[i], expected, -1, "files");
        remove_files();
    }
    for (int64_t k = 0;; k++) {
        leat_dataset *dataset = dataset_made(cache_some, c);
        leat_iterator *iterator = dataset_iterate(dataset, &options[k % 3]);
        leat_error err = {0};
        char *data = NULL, *text = NULL;
        size_t size = 0;
        dataset_append(&text, "");
        int64_t taken = dataset_take(iterator, k, &text);
        if (leat_iterator_save(iterator, &data, &size, NULL, &err) != LEAT_OK)
            fail_msg("not saved after %lld: %s", (long long)k, err.text);
        leat_iterator_free(iterator);
        leat_dataset_unref(dataset);
        dataset = dataset_made(cache_some, c);
        iterator = dataset_iterate(dataset, &options[k % 3]);
        if (leat_iterator_restore(iterator, data, size, &err) != LEAT_OK)
            fail_msg("not restored after %lld: %s", (long long)k, err.text);
        dataset_take(iterator, -1, &text);
        assert_string_equal(text, expected);
        free(text);
        leati_free(data);
        leat_iterator_free(iterator);
        leat_dataset_unref(dataset);
        remove_files();
        if (taken < k)
            return;
    }
}

static leat_status iterate_file(void *context, leat_error *err) {
    struct dataset_torture t = {cache_some, context, -1, NULL};
    remove(scratch_path("cache.data"));
    remove(scratch_path("cache.index"));
    leat_status status = dataset_torture_body(&t, err);
    free(t.text);
    return status;
}

static void test_files(void **state) {
    (void)state;
    check_file(&(struct cached){.elements = 0}, "");
    check_file(&(struct cached){.elements = 4}, "0 1 2 3");
    check_file(&(struct cached){.elements = 3, .repeat = 3}, "0 1 2 0 1 2 0 1 2");
    check_file(&(struct cached){.elements = 7, .batch = 3, .repeat = 2},
               "[0,1,2] [3,4,5] [6] [0,1,2] [3,4,5] [6]");
    check_file(&(struct cached){.elements = 5, .repeat = 2, .errors = true},
               "0 1 2 !INVALID_ARGUMENT 4 0 1 2 4");
    check_file(&(struct cached){.elements = 6, .repeat = 2, .shuffled = true},
               "1 2 5 0 3 4 1 2 5 0 3 4");
    struct cached c = {.elements = 5, .repeat = 2, .in_file = true};
    torture_run_tolerant(iterate_file, &c);
    remove_files();
}

/* Another dataset over the same files reads what stands there. */
static void test_files_are_shared(void **state) {
    (void)state;
    struct cached c = {.elements = 4, .in_file = true};
    leat_dataset *dataset = dataset_made(cache_some, &c);
    char *text = dataset_text(dataset, NULL, -1);
    free(text);
    leat_dataset_unref(dataset);
    leat_error err = {0};
    dataset = leat_dataset_cache_to_file(leat_dataset_range(100, 103, 1, NULL, &err),
                                         scratch_path("cache"), &err);
    text = dataset_text(dataset, NULL, -1);
    assert_string_equal(text, "0 1 2 3");
    free(text);
    leat_dataset_unref(dataset);
    /* Elements of another spec are refused. */
    dataset = leat_dataset_range(
        0, 3, 1,
        &(leat_dataset_range_options){LEAT_DATASET_RANGE_DEFAULTS, .output_type = LEAT_FLOAT32},
        &err);
    dataset = leat_dataset_cache_to_file(dataset, scratch_path("cache"), &err);
    text = dataset_text(dataset, NULL, 1);
    assert_string_equal(text, "!INVALID_ARGUMENT");
    free(text);
    leat_dataset_unref(dataset);
}

static void test_second_writer(void **state) {
    (void)state;
    struct cached c = {.elements = 4, .in_file = true};
    leat_dataset *dataset = dataset_made(cache_some, &c);
    leat_iterator *first = dataset_iterate(dataset, NULL), *second = dataset_iterate(dataset, NULL);
    leat_element element = {0};
    leat_error err = {0};
    assert_int_equal(leat_iterator_next(first, &element, &err), LEAT_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(leat_iterator_next(second, &element, &err), LEAT_ALREADY_EXISTS);
        assert_refused(&err, LEAT_ALREADY_EXISTS, LEAT_REASON_NONE, "cache_0.lockfile");
    }
    leat_iterator_free(first); /* nothing is left of an incomplete one */
    assert_int_equal(scratch_count(), 0);
    assert_int_equal(leat_iterator_next(second, &element, &err), LEAT_OK);
    leat_element_fini(&element);
    leat_iterator_free(second);
    leat_dataset_unref(dataset);
}

/* A flipped or missing byte anywhere in the files is DATA_LOSS, never other elements. */
static void test_damaged_files(void **state) {
    (void)state;
    struct cached c = {.elements = 4, .in_file = true};
    static const char *const names[] = {"cache.data", "cache.index"};
    for (int f = 0; f < 2; f++) {
        leat_dataset *dataset = dataset_made(cache_some, &c);
        char *text = dataset_text(dataset, NULL, -1);
        free(text);
        size_t size = 0;
        uint8_t *data = scratch_read(scratch_path(names[f]), &size);
        for (size_t i = 0; i < size; i++) {
            leat_error err = {0};
            leat_element element = {0};
            data[i] ^= 0x40;
            scratch_write(names[f], data, size);
            data[i] ^= 0x40;
            leat_iterator *iterator = leat_iterator_new(dataset, NULL, &err);
            if (iterator != NULL) {
                leat_status status = leat_iterator_next(iterator, &element, &err);
                assert_int_equal(status, LEAT_DATA_LOSS);
            }
            assert_refused(&err, LEAT_DATA_LOSS, LEAT_REASON_NONE, "cache");
            leat_element_fini(&element);
            leat_iterator_free(iterator);
            scratch_write(names[f], data, i);
            assert_null(leat_iterator_new(dataset, NULL, &err));
            assert_int_equal(err.code, LEAT_DATA_LOSS);
        }
        free(data);
        leat_dataset_unref(dataset);
        remove_files();
    }
}

/* Files of a newer library are told from damaged ones. */
static void test_newer_files(void **state) {
    (void)state;
    struct cached c = {.elements = 4, .in_file = true};
    leat_dataset *dataset = dataset_made(cache_some, &c);
    free(dataset_text(dataset, NULL, -1));
    size_t size = 0;
    uint8_t *data = scratch_read(scratch_path("cache.index"), &size);
    data[strlen("leat cache ")] = '2';
    scratch_write("cache.index", data, size);
    leat_error err = {0};
    assert_null(leat_iterator_new(dataset, NULL, &err));
    assert_refused(&err, LEAT_FAILED_PRECONDITION, LEAT_REASON_NONE, "2");
    free(data);
    leat_dataset_unref(dataset);
    remove_files();
}

/* An index that speaks of fewer rows than the files hold is of another cache. */
static void test_too_many_rows(void **state) {
    (void)state;
    struct cached c = {.elements = 4, .in_file = true};
    leat_dataset *dataset = dataset_made(cache_some, &c);
    free(dataset_text(dataset, NULL, -1));
    size_t size = 0;
    uint8_t *data = scratch_read(scratch_path("cache.index"), &size);
    data[strlen("leat cache 1\n")] =
        3; /* of 8 bytes, the lowest first; then the size, and a hash */
    uint64_t hash = leati_hash(data, size - 8, 0);
    for (int b = 0; b < 8; b++)
        data[size - 8 + (size_t)b] = (uint8_t)(hash >> (8 * b));
    scratch_write("cache.index", data, size);
    char *text = dataset_text(dataset, NULL, 1);
    assert_non_null(strstr(text, "!DATA_LOSS"));
    free(text);
    free(data);
    leat_dataset_unref(dataset);
    remove_files();
}

static void test_files_that_cannot_be_written(void **state) {
    (void)state;
    leat_error err = {0};
    leat_dataset *dataset = leat_dataset_cache_to_file(leat_dataset_range(0, 3, 1, NULL, &err),
                                                       scratch_path("no/such/folder/cache"), &err);
    char *text = dataset_text(dataset, NULL, 2);
    assert_string_equal(text, "!NOT_FOUND !NOT_FOUND");
    free(text);
    leat_dataset_unref(dataset);
    /* A state that reads files needs them. */
    struct cached c = {.elements = 2, .repeat = 2, .in_file = true};
    dataset = dataset_made(cache_some, &c);
    leat_iterator *iterator = dataset_iterate(dataset, NULL);
    char *data = NULL, *begin = NULL;
    size_t size = 0;
    dataset_append(&begin, "");
    dataset_take(iterator, 3, &begin);
    assert_int_equal(leat_iterator_save(iterator, &data, &size, NULL, &err), LEAT_OK);
    leat_iterator_free(iterator);
    remove_files();
    iterator = dataset_iterate(dataset, NULL);
    assert_int_equal(leat_iterator_restore(iterator, data, size, &err), LEAT_FAILED_PRECONDITION);
    assert_refused(&err, LEAT_FAILED_PRECONDITION, LEAT_REASON_NONE, "cache");
    free(begin);
    leati_free(data);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
}

static int files_setup(void **state) {
    int status = scratch_setup(state);
    torture_begin();
    return status;
}

static int files_teardown(void **state) {
    torture_end();
    return scratch_teardown(state);
}

int main(void) {
#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, torture_setup, torture_teardown)
#define FILE_TEST(NAME) cmocka_unit_test_setup_teardown(NAME, files_setup, files_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_memory),
        TEST(test_incomplete),
        TEST(test_two_writers),
        TEST(test_shuffled_after),
        TEST(test_large),
        TEST(test_budget),
        FILE_TEST(test_files),
        FILE_TEST(test_files_are_shared),
        FILE_TEST(test_second_writer),
        FILE_TEST(test_damaged_files),
        FILE_TEST(test_newer_files),
        FILE_TEST(test_too_many_rows),
        FILE_TEST(test_files_that_cannot_be_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
