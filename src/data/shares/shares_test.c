/* Shares of a dataset under the policies of tf.data's service, seeds, and what is said of plans.
 * Shares are those that TensorFlow's workers read. */
#include "support/cmocka.h"

#include "support/torture.h"

#include "data/shares/shares.h"
#include "support/refused.h"
#include "support/scratch.h"
#include <leat/data_ops.h>
#include <leat/file.h>
#include <leat/ops.h>
#include <stdio.h>

enum { MOST = 64, NUM_FILES = 5, RECORDS = 3 };

static leat_dataset *range_of(int64_t n) {
    return leat_dataset_range(0, n, 1, NULL, &(leat_error){0});
}

/* Files of records "f.r". */
static const char *path_of(int f) {
    static char paths[NUM_FILES][600];
    char name[20];
    snprintf(name, sizeof name, "f%d", f);
    snprintf(paths[f], sizeof paths[f], "%s", scratch_path(name));
    return paths[f];
}

static leat_dataset *reader_of(int count) {
    const char *paths[NUM_FILES];
    leat_error err = {0};
    for (int f = 0; f < count; f++) {
        leat_tfrecord_writer *writer = leat_tfrecord_writer_open(paths[f] = path_of(f), NULL, &err);
        char text[8];
        assert_non_null(writer);
        for (int r = 0; r < RECORDS; r++) {
            snprintf(text, sizeof text, "%d.%d", f, r);
            assert_int_equal(leat_tfrecord_writer_write(writer, text, 3, &err), LEAT_OK);
        }
        assert_int_equal(leat_tfrecord_writer_close(writer, &err), LEAT_OK);
    }
    leat_dataset *reader = leat_dataset_tf_record(paths, count, NULL, &err);
    assert_non_null(reader);
    return reader;
}

/* Appends the elements to `text`: numbers, or records; the status is how reading ended. */
static leat_status read_all(leat_dataset *dataset, char *text, size_t size) {
    leat_error err = {0};
    leat_element element = {0};
    leat_iterator *iterator = leat_iterator_new(dataset, NULL, &err);
    leat_status status = iterator == NULL ? err.code : LEAT_OK;
    while (status == LEAT_OK) {
        size_t used = strlen(text);
        status = leat_iterator_next(iterator, &element, &err);
        if (status != LEAT_OK)
            break;
        const leat_tensor *t = &element.tensors[0];
        const leat_string *s = t->data;
        if (t->dtype == LEAT_STRING)
            snprintf(text + used, size - used, "%.*s ", (int)s->size, s->data);
        else
            snprintf(text + used, size - used, "%lld ", (long long)*(const int64_t *)t->data);
    }
    leat_element_fini(&element);
    leat_iterator_free(iterator);
    return status;
}

/* `dataset` is given. */
static void check_share(leat_dataset *dataset, leati_shares_policy policy, int num_workers,
                        int worker, leat_status code, const char *want) {
    leat_error err = {0};
    char text[600] = "";
    leat_dataset *share = leati_shares_plan(dataset, policy, num_workers, worker, &err);
    leat_status status = share == NULL ? err.code : read_all(share, text, sizeof text);
    if (status != code || strcmp(text, want) != 0)
        print_error("worker %d of %d, policy %d: %s: %s\n", worker, num_workers, policy,
                    leat_status_name(status), err.text);
    assert_int_equal(status, code);
    assert_string_equal(text, want);
    leat_dataset_unref(share);
    leat_dataset_unref(dataset);
}

#define END LEAT_OUT_OF_RANGE

static void test_data(void **state) {
    (void)state;
    const char *fifths[] = {"0 5 10 15 ", "1 6 11 16 ", "2 7 12 17 ", "3 8 13 18 ", "4 9 14 19 "};
    for (int w = 0; w < 5; w++)
        check_share(range_of(20), LEATI_SHARES_DATA, 5, w, END, fifths[w]);
    check_share(range_of(6), LEATI_SHARES_FILE_OR_DATA, 2, 1, END, "1 3 5 ");
    check_share(range_of(6), LEATI_SHARES_FILE, 2, 1, LEAT_NOT_FOUND, "");
    check_share(range_of(6), LEATI_SHARES_FILE, 1, 0, END, "0 1 2 3 4 5 ");
    check_share(range_of(4), LEATI_SHARES_OFF, 2, 1, END, "0 1 2 3 ");
    check_share(range_of(4), LEATI_SHARES_HINT, 2, 1, END, "0 1 2 3 ");
    check_share(range_of(0), LEATI_SHARES_DATA, 2, 0, END, "");
    check_share(range_of(1), LEATI_SHARES_DATA, 2, 0, LEAT_INVALID_ARGUMENT, "");
    check_share(range_of(1), LEATI_SHARES_DATA, 2, 1, END, "");
    leat_error err = {0};
    leat_dataset *repeated = leat_dataset_repeat(range_of(3), 2, &err);
    check_share(repeated, LEATI_SHARES_DATA, 2, 0, END, "0 2 1 ");
}

static void test_behind(void **state) {
    (void)state;
    leat_error err = {0};
    leat_dataset *dataset = leat_dataset_prefetch(range_of(8), 2, &err);
    leat_dataset *share = leati_shares_plan(dataset, LEATI_SHARES_DATA, 2, 1, &err);
    assert_non_null(share);
    assert_ptr_equal(share->op, &leati_op_prefetch);
    assert_ptr_equal(share->inputs[0]->op, &leati_op_shard);
    leat_dataset_unref(share);
    check_share(dataset, LEATI_SHARES_DATA, 2, 1, END, "1 3 5 7 ");
}

static void test_files(void **state) {
    (void)state;
    leati_shares_policy file = LEATI_SHARES_FILE;
    check_share(reader_of(5), file, 2, 0, END, "0.0 0.1 0.2 2.0 2.1 2.2 4.0 4.1 4.2 ");
    check_share(reader_of(5), file, 2, 1, END, "1.0 1.1 1.2 3.0 3.1 3.2 ");
    check_share(reader_of(5), LEATI_SHARES_FILE_OR_DATA, 3, 2, END, "2.0 2.1 2.2 ");
    check_share(reader_of(1), file, 2, 0, LEAT_INVALID_ARGUMENT, "");
    check_share(reader_of(1), LEATI_SHARES_FILE_OR_DATA, 2, 0, LEAT_INVALID_ARGUMENT, "");
    check_share(reader_of(1), file, 2, 1, END, "");
    check_share(reader_of(1), LEATI_SHARES_DATA, 2, 0, END, "0.0 0.2 ");
    leat_error err = {0};
    leat_dataset *zipped[] = {reader_of(3), reader_of(3)};
    check_share(leat_dataset_zip(zipped, 2, &err), file, 3, 1, END, "1.0 1.1 1.2 ");
    /* TensorFlow falls back with one branch sharded twice, and loses elements; here none is. */
    leat_dataset *half[] = {reader_of(2), range_of(6)};
    check_share(leat_dataset_zip(half, 2, &err), file, 2, 0, LEAT_NOT_FOUND, "");
    leat_dataset *other[] = {reader_of(2), range_of(6)};
    check_share(leat_dataset_zip(other, 2, &err), LEATI_SHARES_FILE_OR_DATA, 2, 0, END,
                "0.0 0.2 1.1 ");
}

static void test_hint(void **state) {
    (void)state;
    leat_error err = {0};
    leati_shares_policy others[] = {LEATI_SHARES_OFF, LEATI_SHARES_DATA, LEATI_SHARES_FILE_OR_DATA};
    for (size_t p = 0; p < sizeof others / sizeof *others; p++)
        for (int n = 1; n <= 2; n++)
            check_share(leat_dataset_shard(range_of(20), -1, -1, &err), others[p], n, 0,
                        LEAT_FAILED_PRECONDITION, "");
    check_share(leat_dataset_shard(range_of(20), -1, -1, &err), LEATI_SHARES_FILE, 1, 0,
                LEAT_FAILED_PRECONDITION, "");
    check_share(leat_dataset_shard(range_of(20), -1, -1, &err), LEATI_SHARES_FILE, 2, 0,
                LEAT_NOT_FOUND, "");
    check_share(leat_dataset_shard(range_of(8), -1, -1, &err), LEATI_SHARES_HINT, 2, 1, END,
                "1 3 5 7 ");
    check_share(leat_dataset_shard(range_of(3), -1, -1, &err), LEATI_SHARES_HINT, 1, 0, END,
                "0 1 2 ");
}

static leat_dataset *shuffled(bool seeded) {
    leat_dataset_shuffle_options options = {LEAT_DATASET_SHUFFLE_DEFAULTS};
    leat_error err = {0};
    if (seeded)
        options.seed = LEAT_SEED(3);
    leat_dataset *dataset = leat_dataset_shuffle(range_of(20), 20, &options, &err);
    assert_non_null(dataset);
    return dataset;
}

/* The order with seeds made of a salt. */
static void order_of(leat_dataset *dataset, uint64_t salt, char *text, size_t size) {
    leat_error err = {0};
    leat_dataset *made = leati_shares_reseed(dataset, salt, &err);
    assert_non_null(made);
    text[0] = '\0';
    assert_int_equal(read_all(made, text, size), END);
    leat_dataset_unref(made);
}

static void test_reseed(void **state) {
    (void)state;
    char a[200], b[200], c[200];
    leat_error err = {0};
    leat_dataset *seeded = shuffled(true), *plain = shuffled(false), *again = shuffled(false);
    order_of(plain, 1, a, sizeof a);
    order_of(again, 1, b, sizeof b);
    order_of(plain, 2, c, sizeof c);
    assert_string_equal(a, b);
    assert_string_not_equal(a, c);
    leat_dataset *same = leati_shares_reseed(seeded, 1, &err);
    assert_ptr_equal(same, seeded);
    char why[200];
    assert_true(leati_shares_deterministic(seeded, why, sizeof why));
    leat_dataset *once = leati_shares_reseed(plain, 1, &err);
    leat_dataset *given = leati_shares_reseed(once, 2, &err);
    assert_ptr_equal(given, once);
    leat_dataset_unref(once);
    leat_dataset_unref(given);
    leat_dataset_unref(same);
    leat_dataset_unref(again);
    leat_dataset_unref(plain);
    leat_dataset_unref(seeded);
}

static uint64_t identity_of(leat_dataset *given, bool with_files) {
    uint64_t hash = 0;
    leat_error err = {0};
    assert_int_equal(leati_shares_identity(given, with_files, &hash, &err), LEAT_OK);
    leat_dataset_unref(given);
    return hash;
}

static void test_identity(void **state) {
    (void)state;
    assert_int_equal(identity_of(range_of(3), true), identity_of(range_of(3), true));
    assert_int_not_equal(identity_of(range_of(3), true), identity_of(range_of(4), true));
    assert_int_equal(identity_of(shuffled(false), false), identity_of(shuffled(false), false));
    assert_int_equal(identity_of(shuffled(true), false), identity_of(shuffled(true), false));
    assert_int_not_equal(identity_of(shuffled(true), false), identity_of(shuffled(false), false));
    uint64_t names = identity_of(reader_of(2), false), files = identity_of(reader_of(2), true);
    FILE *file = fopen(path_of(1), "ab");
    fputc(0, file);
    fclose(file);
    const char *paths[] = {path_of(0), path_of(1)};
    leat_error err = {0};
    leat_dataset *longer = leat_dataset_tf_record(paths, 2, NULL, &err);
    leat_dataset_ref(longer);
    assert_int_equal(identity_of(longer, false), names);
    assert_int_not_equal(identity_of(longer, true), files);
}

static leat_status count_file(void *context, const leat_dataset *reader, leat_string name,
                              leat_error *err) {
    (void)reader;
    (void)err;
    *(size_t *)context += name.size > 0;
    return LEAT_OK;
}

static void test_visit(void **state) {
    (void)state;
    size_t count = 0;
    leat_error err = {0};
    leat_dataset *reader = reader_of(3);
    leat_dataset *both[] = {reader, leat_dataset_ref(reader)};
    leat_dataset *zip = leat_dataset_zip(both, 2, &err);
    assert_int_equal(leati_shares_visit_files(zip, count_file, &count, &err), LEAT_OK);
    assert_int_equal(count, 3);
    leat_dataset_unref(zip);
}

static leat_status fails(void *context, const leat_element *in, leat_element *out,
                         leat_error *err) {
    (void)context;
    (void)in;
    (void)out;
    return leat_error_set(err, LEAT_INTERNAL, "called");
}

static void test_sendable(void **state) {
    (void)state;
    leat_error err = {0};
    char why[200];
    leat_dataset *range = range_of(3);
    assert_int_equal(leati_shares_sendable(range, &err), LEAT_OK);
    leat_spec *in = leat_spec_ref(range->spec), *out = leat_spec_ref(range->spec);
    leat_function *function =
        leat_function_from_callback(fails, NULL, NULL, "mine", 0, in, out, &err);
    assert_non_null(function);
    leat_dataset *mapped = leat_dataset_map(range, function, NULL, &err);
    mapped = leat_dataset_label(mapped, "decode", &err);
    leat_dataset *sink = leat_dataset_repeat(mapped, 2, &err);
    assert_int_equal(leati_shares_sendable(sink, &err), LEAT_UNIMPLEMENTED);
    assert_refused(&err, LEAT_UNIMPLEMENTED, LEAT_REASON_NONE, "decode");
    assert_false(leati_shares_deterministic(sink, why, sizeof why));
    assert_non_null(strstr(why, "decode"));
    leat_dataset_unref(sink);
}

static leat_status share_and_seed(void *context, leat_error *err) {
    leat_dataset *dataset = context;
    leat_dataset *share = leati_shares_plan(dataset, LEATI_SHARES_DATA, 3, 1, err);
    leat_dataset *made = share == NULL ? NULL : leati_shares_reseed(share, 7, err);
    uint64_t hash = 0;
    leat_status status = made == NULL ? torture_code(err) : LEAT_OK;
    if (status == LEAT_OK)
        status = leati_shares_identity(made, true, &hash, err);
    if (status == LEAT_OK)
        status = leati_shares_sendable(made, err);
    leat_dataset_unref(made);
    leat_dataset_unref(share);
    return status;
}

static void test_memory(void **state) {
    (void)state;
    leat_dataset *dataset = leat_dataset_prefetch(shuffled(false), 2, &(leat_error){0});
    torture_run(share_and_seed, dataset);
    leat_dataset_unref(dataset);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_data),
        cmocka_unit_test(test_behind),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_hint),
        cmocka_unit_test(test_reseed),
        cmocka_unit_test(test_identity),
        cmocka_unit_test(test_visit),
        cmocka_unit_test(test_sendable),
        cmocka_unit_test_setup_teardown(test_memory, torture_setup, torture_teardown),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
