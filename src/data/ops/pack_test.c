/* pack: the builder's options, states that hold places where the input can be read again and tokens
 * where it cannot, and windows that errors break off in large streams. Expected windows were
 * written by hand; tests/conform/data/pack.json has those of a model. */
#include "support/cmocka.h"

#include "support/torture.h"

#include "base/hash.h"
#include "support/dataset.h"
#include "support/refused.h"

/* Sequences of `size` numbers, counted through; every third is an error where `faulty`. */
struct packed {
    int64_t n, size, length;
    bool faulty, impure;
    leat_dataset_pack_options options;
};

static leat_dataset *pack_some(void *context, leat_error *err) {
    const struct packed *p = context;
    leat_dataset *dataset =
        leat_dataset_batch(leat_dataset_range(0, p->n, 1, NULL, err), p->size, NULL, err);
    dataset = p->faulty ? dataset_faults(dataset, 3, 1, err) : dataset;
    dataset = p->impure ? dataset_impure(dataset, err) : dataset;
    return leat_dataset_pack(dataset, p->length, p->options.size == 0 ? NULL : &p->options, err);
}

static void test_options(void **state) {
    (void)state;
    int64_t minus = -1;
    leat_tensor pad = {.dtype = LEAT_INT64, .data = &minus};
    leat_spec *spec = leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, NULL);
    leat_element element = {0};
    assert_int_equal(leat_element_set(&element, spec, &pad, NULL), LEAT_OK);
    struct packed p = {.n = 7,
                       .size = 3,
                       .length = 4,
                       .options = {LEAT_DATASET_PACK_DEFAULTS, .pad_value = &element}};
    dataset_check(pack_some, &p,
                  "{positions:[0,1,2,0],segment_ids:[1,1,1,2],tokens:[0,1,2,3]} "
                  "{positions:[1,2,0,0],segment_ids:[1,1,2,0],tokens:[4,5,6,-1]}");
    p.options.drop_remainder = true;
    dataset_check(pack_some, &p, "{positions:[0,1,2,0],segment_ids:[1,1,1,2],tokens:[0,1,2,3]}");
    p.options = (leat_dataset_pack_options){LEAT_DATASET_PACK_DEFAULTS, .split = false};
    dataset_check(pack_some, &p,
                  "{positions:[0,1,2,0],segment_ids:[1,1,1,0],tokens:[0,1,2,0]} "
                  "{positions:[0,1,2,0],segment_ids:[1,1,1,2],tokens:[3,4,5,6]}");
    p.length = 2;
    dataset_check(pack_some, &p,
                  "!INVALID_ARGUMENT !INVALID_ARGUMENT "
                  "{positions:[0,0],segment_ids:[1,0],tokens:[6,0]}");
    p.options.truncate = true;
    dataset_check(pack_some, &p,
                  "{positions:[0,1],segment_ids:[1,1],tokens:[0,1]} "
                  "{positions:[0,1],segment_ids:[1,1],tokens:[3,4]} "
                  "{positions:[0,0],segment_ids:[1,0],tokens:[6,0]}");
    leat_element_fini(&element);
    leat_spec_unref(spec);
}

/* Errors end their own places; what was gathered before them stands in the window. */
static void test_errors(void **state) {
    (void)state;
    for (int impure = 0; impure < 2; impure++) {
        struct packed p = {.n = 12, .size = 2, .length = 5, .faulty = true, .impure = impure};
        dataset_check(pack_some, &p,
                      "!INVALID_ARGUMENT "
                      "{positions:[0,1,0,1,0],segment_ids:[1,1,2,2,3],tokens:[0,1,4,5,6]} "
                      "!INVALID_ARGUMENT "
                      "{positions:[1,0,1,0,0],segment_ids:[1,2,2,0,0],tokens:[7,10,11,0,0]}");
    }
}

/* The bytes of the state after `outcomes`, all of them errors. */
static size_t state_size(struct packed *p, int outcomes, leat_iterator_save_mode mode,
                         leat_iterator_save_report *report) {
    leat_error err = {0};
    leat_dataset *dataset = dataset_made(pack_some, p);
    leat_iterator *iterator = dataset_iterate(dataset, NULL);
    leat_element element = {0};
    for (int i = 0; i < outcomes; i++)
        assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_INVALID_ARGUMENT);
    char *data = NULL;
    size_t size = 0;
    leat_iterator_save_options options = {LEAT_ITERATOR_SAVE_DEFAULTS, .mode = mode};
    assert_int_equal(leat_iterator_save_with(iterator, &options, &data, &size, report, &err),
                     LEAT_OK);
    leati_free(data);
    leat_element_fini(&element);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
    return size;
}

/* 120 sequences of 50 numbers are gathered when the 60th error comes. */
static void test_state_size(void **state) {
    (void)state;
    struct packed p = {.n = 100000, .size = 50, .length = 6001, .faulty = true};
    leat_iterator_save_report report = {0};
    assert_in_range(state_size(&p, 60, LEAT_SAVE_AUTO, &report), 1, 400);
    assert_in_range(report.replay_elements, 178, 1000);
    assert_in_range(state_size(&p, 60, LEAT_SAVE_DATA, &report), 119 * 50 * 16, 130 * 50 * 16);
    p.impure = true;
    assert_in_range(state_size(&p, 60, LEAT_SAVE_AUTO, &report), 119 * 50 * 16, 130 * 50 * 16);
}

/* Restored in a window that reaches over several blocks of the input, twice over. */
static void test_long_windows(void **state) {
    (void)state;
    for (int impure = 0; impure < 2; impure++) {
        struct packed p = {
            .n = 60000, .size = 20, .length = 5500, .faulty = true, .impure = impure};
        leat_dataset *dataset = dataset_made(pack_some, &p);
        char *text = dataset_text(dataset, NULL, -1);
        leat_dataset_unref(dataset);
        static const int64_t counts[] = {1, 100, 137, 138, 139, 275, 500, 900};
        for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
            assert_true(
                dataset_resume(pack_some, &p, NULL, counts[i], -1, text, counts[i] % 2 == 0));
        }
        free(text);
    }
}

static void test_refused(void **state) {
    (void)state;
    leat_error err = {0};
    leat_dataset_pack_options none = {LEAT_DATASET_PACK_DEFAULTS};
    leat_dataset *dataset =
        leat_dataset_pack(leat_dataset_range(0, 4, 1, NULL, &err), 3, &none, &err);
    assert_null(dataset);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_SHAPE, "0");
}

/* A kind of state that there is not: of the bytes that become 3 under a checksum that fits, one is
 * the kind. */
static void test_unknown_kind(void **state) {
    (void)state;
    enum { CHECKSUM = 8, STATE_VERSION = 1, NO_KIND = 3 };
    struct packed p = {.n = 7, .size = 3, .length = 4};
    leat_error err = {0};
    leat_dataset *dataset = pack_some(&p, &err);
    leat_iterator *iterator = dataset_iterate(dataset, NULL);
    char *data = NULL;
    size_t size = 0;
    int refused = 0;
    assert_int_equal(leat_iterator_save(iterator, &data, &size, NULL, &err), LEAT_OK);
    leat_iterator_free(iterator);
    for (size_t i = 0; i + CHECKSUM < size; i++) {
        char before = data[i];
        data[i] = NO_KIND;
        uint64_t checksum = leati_hash(data, size - CHECKSUM, STATE_VERSION);
        for (int b = 0; b < 8; b++)
            data[size - CHECKSUM + (size_t)b] = (char)(checksum >> (8 * b));
        iterator = dataset_iterate(dataset, NULL);
        err = (leat_error){0};
        (void)(leat_iterator_restore(iterator, data, size, &err) == LEAT_OK);
        refused += refused_names(err.text, "pack") && refused_names(err.text, "plan");
        leat_iterator_free(iterator);
        data[i] = before;
    }
    assert_true(refused > 0);
    leat_text_free(data);
    leat_dataset_unref(dataset);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_options, torture_setup, torture_teardown),
        cmocka_unit_test_setup_teardown(test_unknown_kind, torture_setup, torture_teardown),
        cmocka_unit_test_setup_teardown(test_errors, torture_setup, torture_teardown),
        cmocka_unit_test_setup_teardown(test_state_size, torture_setup, torture_teardown),
        cmocka_unit_test_setup_teardown(test_long_windows, torture_setup, torture_teardown),
        cmocka_unit_test_setup_teardown(test_refused, torture_setup, torture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
