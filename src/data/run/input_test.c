/* Reading a child: what verification mode asks of it and notices, children that cannot be saved,
 * and damaged states of an input. */
#include "support/cmocka.h"

#include "support/torture.h"

#include "support/dataset.h"
#include "support/refused.h"

enum { AHEAD = 64, ELEMENTS = 1000 };

/* The memory that the reader offers, and what its input heard of it. */
static int64_t memory[AHEAD];
static const leati_destination offered = {
    .dtype = LEAT_INT64, .data = (char *)memory, .stride = sizeof(int64_t)};
static struct heard { int pulls, with_memory, other_memory, most, less; } heard;
static bool scribbles;           /* the reader writes into a block */
static leat_status save_answers; /* of the input */
static size_t save_bytes;        /* that the input holds besides */
static int saves;
static leati_input *open_input; /* of the reader */

static leati_tail below_pull(leati_node_state *node, void *state, int64_t want, leati_block *out,
                             leat_error *err) {
    (void)node;
    heard.pulls++;
    heard.with_memory += out->destinations == &offered;
    heard.other_memory += out->destinations != &offered && out->destinations != NULL;
    heard.most += want == AHEAD;
    heard.less += want >= 1 && want < AHEAD;
    out->destinations = NULL;
    return leati_input_take(&((struct dataset_test_state *)state)->input, want, out, err);
}

static leat_status below_save(leati_node_state *node, void *state, leati_writer *out,
                              leati_save_cost *cost, leat_error *err) {
    (void)node;
    saves++;
    for (size_t i = 0; i < save_bytes; i++)
        leati_put_uint(out, 0);
    return save_answers == LEAT_OK
               ? leati_input_save(&((struct dataset_test_state *)state)->input, out, cost, err)
               : leati_fail(err, save_answers, "not saved");
}

static leat_status below_restore(leati_node_state *node, void *state, leati_reader *in,
                                 leat_error *err) {
    (void)node;
    return leati_input_restore(&((struct dataset_test_state *)state)->input, in, err);
}

static leat_status reader_open(leati_node_state *node, void *state, leat_error *err) {
    open_input = &((struct dataset_test_state *)state)->input;
    open_input->snapshots = LEATI_SNAPSHOTS_AHEAD;
    leat_status status = leati_input_open(open_input, node, 0, err);
    return status;
}

/* Reads ahead, and hands on one element. */
static leati_tail reader_pull(leati_node_state *node, void *state, int64_t want, leati_block *out,
                              leat_error *err) {
    leati_input *input = &((struct dataset_test_state *)state)->input;
    int64_t available = 0;
    (void)node;
    (void)want;
    leati_input_peek(input, AHEAD, &offered, &available, err);
    if (available == 1 && scribbles)
        *(int64_t *)leati_column_row(&input->block.columns[0], input->block.n - 1) += 1;
    return leati_input_take(input, 1, out, err);
}

#define OP(NAME, ...)                                                                              \
    static const leati_dataset_op NAME##_op = {.name = #NAME,                                      \
                                               .version = 1,                                       \
                                               .num_inputs = 1,                                    \
                                               .flow = LEATI_ONE_TO_ONE,                           \
                                               .args_size = sizeof(struct dataset_test_args),      \
                                               .rows = dataset_test_rows,                          \
                                               .state_size = sizeof(struct dataset_test_state),    \
                                               .pull = NAME##_pull,                                \
                                               __VA_ARGS__}
OP(below, .open = dataset_test_open, .save = below_save, .restore = below_restore);
OP(reader, .open = reader_open);

static leat_iterator *opened(bool verify, int64_t elements) {
    leat_error err = {0};
    leat_iterator_options options = {LEAT_ITERATOR_DEFAULTS, .verify = verify, .verify_seed = 5,
                                     .rewrites = false};
    leat_dataset *dataset = leat_dataset_range(0, elements, 1, NULL, &err);
    dataset = leati_dataset_new(&below_op, NULL, &dataset, 1, &err);
    dataset = leati_dataset_new(&reader_op, NULL, &dataset, 1, &err);
    leat_iterator *iterator = dataset_iterate(dataset, &options);
    leat_dataset_unref(dataset);
    heard = (struct heard){0};
    return iterator;
}

/* Reads to the end and expects the numbers in order. */
static void expect_all(leat_iterator *iterator) {
    leat_element element = {0};
    for (int64_t i = 0; i < ELEMENTS; i++) {
        assert_int_equal(leat_iterator_next(iterator, &element, NULL), LEAT_OK);
        assert_int_equal(*(const int64_t *)element.tensors[0].data, i);
    }
    assert_int_equal(leat_iterator_next(iterator, &element, NULL), LEAT_OUT_OF_RANGE);
    leat_element_fini(&element);
    leat_iterator_free(iterator);
}

/* Without verification a reader gets what it asks for; with it fewer elements at a time, and its
 * memory is offered in half of the pulls. */
static void test_verification(void **state) {
    (void)state;
    expect_all(opened(false, ELEMENTS));
    assert_int_equal(heard.most, heard.pulls);
    assert_int_equal(heard.with_memory, heard.pulls);
    assert_int_equal(heard.pulls, (ELEMENTS + AHEAD - 1) / AHEAD);
    expect_all(opened(true, ELEMENTS));
    assert_int_equal(heard.most + heard.less, heard.pulls);
    assert_in_range(heard.pulls, 20, 60); /* about 31 of half the size */
    assert_in_range(heard.with_memory, heard.pulls / 4, heard.pulls * 3 / 4);
    assert_int_equal(heard.other_memory, 0);
}

/* The state of a child that holds much is not written at every block: a time that grows with the
 * square of what a window holds. */
static void test_dear_snapshots(void **state) {
    (void)state;
    saves = 0;
    expect_all(opened(false, ELEMENTS));
    assert_true(saves >= heard.pulls);
    saves = 0;
    save_bytes = 1 << 20;
    expect_all(opened(false, ELEMENTS));
    assert_in_range(saves, 1, 2); /* of the reader, and of the iterator */
    save_bytes = 0;
}

/* Blocks are immutable; verification says who wrote. */
static void test_scribbling(void **state) {
    (void)state;
    leat_element element = {0};
    leat_error err = {0};
    scribbles = true;
    leat_iterator *iterator = opened(true, ELEMENTS);
    leat_status status = LEAT_OK;
    for (int i = 0; i < ELEMENTS && status == LEAT_OK; i++)
        status = leat_iterator_next(iterator, &element, &err);
    scribbles = false;
    assert_int_equal(status, LEAT_INTERNAL);
    assert_refused(&err, LEAT_INTERNAL, LEAT_REASON_NONE, "below");
    leat_element_fini(&element);
    leat_iterator_free(iterator);
}

/* What cannot be saved can be read all the same; other failures of a snapshot are outcomes. */
static void test_unsavable(void **state) {
    (void)state;
    leat_error err = {0};
    leat_element element = {0};
    save_answers = LEAT_FAILED_PRECONDITION;
    expect_all(opened(false, ELEMENTS));
    save_answers = LEAT_UNIMPLEMENTED;
    expect_all(opened(false, ELEMENTS));
    leat_iterator *iterator = opened(false, ELEMENTS);
    assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_OK);
    char *data = NULL;
    size_t size = 0;
    assert_int_equal(leat_iterator_save(iterator, &data, &size, NULL, &err), LEAT_UNIMPLEMENTED);
    assert_refused(&err, LEAT_UNIMPLEMENTED, LEAT_REASON_NONE, NULL);
    leat_iterator_free(iterator);
    save_answers = LEAT_DATA_LOSS;
    iterator = opened(false, ELEMENTS);
    assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_DATA_LOSS);
    assert_refused(&err, LEAT_DATA_LOSS, LEAT_REASON_NONE, NULL);
    save_answers = LEAT_OK;
    assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_OK);
    assert_int_equal(*(const int64_t *)element.tensors[0].data, 0);
    leat_iterator_free(iterator);
    leat_element_fini(&element);
}

static void damaged(const leati_writer *bytes, const char *number) {
    leat_error err = {0};
    leat_iterator *iterator = opened(false, 3);
    leati_reader in = {.data = bytes->data, .size = bytes->size};
    assert_int_equal(leati_input_restore(open_input, &in, &err), LEAT_DATA_LOSS);
    assert_refused(&err, LEAT_DATA_LOSS, LEAT_REASON_NONE, number);
    leat_iterator_free(iterator);
}

static void test_damaged(void **state) {
    (void)state;
    leat_error err = {0};
    leati_writer out = {0}, child = {0};
    leati_save_cost cost = {0};
    leat_iterator *iterator = opened(false, 3);
    assert_int_equal(leati_state_node_save(open_input->child, &child, &cost, &err), LEAT_OK);
    leat_iterator_free(iterator);
    leati_put_uint(&out, 4);
    damaged(&out, "4");
    static const struct {
        int64_t passed;
        const char *number;
    } replays[] = {
        {-1, "-1"},
        {4, "4"},
    };
    for (int i = 0; i < 2; i++) {
        out.size = 0;
        leati_put_uint(&out, 2);
        leati_put_bytes(&out, child.data, child.size);
        leati_put_int(&out, replays[i].passed);
        damaged(&out, replays[i].number);
    }
    /* Data: no rows of one column, and a tail. */
    out.size = 0;
    leati_put_uint(&out, 3);
    leati_put_int(&out, 0);
    leati_put_uint(&out, 1);
    leati_put_uint(&out, 3);
    damaged(&out, "3");
    leati_writer_fini(&out);
    leati_writer_fini(&child);
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, torture_setup, torture_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_verification), TEST(test_dear_snapshots),
                                       TEST(test_scribbling), TEST(test_unsavable),
                                       TEST(test_damaged)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
