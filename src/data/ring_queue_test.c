/* A parallel map whose rows come one to a block and are computed quickly: the same outcomes as one
 * after the other, wherever rows fail and however often a state is written on the way, and no
 * piece that nobody computes when its consumer waits, parks, cancels or closes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../tests/support/torture.h"

#include "../../tests/support/dataset.h"
#include <leat/ops.h>

enum { ROWS = 160, BATCH = 7 };

/* A test operator: blocks of one row, as those of large records are. */
static leati_tail dataset_single_pull(leati_node_state *node, void *state, int64_t want,
                                      leati_block *out, leat_error *err) {
    (void)node;
    (void)want;
    return leati_input_take(&((struct dataset_test_state *)state)->input, 1, out, err);
}

DATASET_TEST_OP(single, 0);

struct setting {
    int64_t parallel; /* 0: one after the other */
    int64_t calls;    /* every so many-th call fails; 0: none */
    bool input_fails; /* some rows of the input do */
    bool not_replayable;
    bool any_order;
    bool batch, prefetch;
    int64_t repeat;
};

static leat_value whole(leat_graph *graph, int64_t value) {
    leat_tensor tensor = leat_scalar_int64(value);
    leat_value made = leat_graph_tensor(graph, &tensor);
    leat_tensor_unref(&tensor);
    return made;
}

/* 3 x; a division by zero where x is a multiple of `calls`. */
static int trace_triple(void *context, leat_graph *graph, leat_value *outputs) {
    const struct setting *s = context;
    leat_value x = leat_graph_argument(graph, 0);
    outputs[0] = leat_multiply(x, whole(graph, 3));
    if (s->calls > 0) {
        leat_value one = whole(graph, 1);
        leat_value bad = leat_floormod(x, whole(graph, s->calls));
        leat_value nothing = leat_subtract(leat_floordiv(one, bad), leat_floordiv(one, bad));
        outputs[0] = leat_add(outputs[0], nothing);
    }
    return 1;
}

static leat_dataset *make(void *context, leat_error *err) {
    struct setting *s = context;
    leat_dataset *dataset = leat_range(0, ROWS, 1, NULL, err);
    dataset = s->input_fails ? dataset_faults(dataset, 11, 4, err) : dataset;
    dataset = s->not_replayable ? dataset_impure(dataset, err) : dataset;
    dataset = leati_dataset_new(&dataset_op_single, NULL, &dataset, 1, err);
    leat_map_options options = {.num_parallel_calls = s->parallel,
                                .not_deterministic = s->any_order};
    leat_function *function = leat_trace(trace_triple, s, leat_dataset_spec(dataset), err);
    dataset = leat_map(dataset, function, &options, err);
    dataset = s->batch ? leat_batch(dataset, BATCH, NULL, err) : dataset;
    dataset = s->prefetch ? leat_prefetch(dataset, 2, err) : dataset;
    return s->repeat != 0 ? leat_repeat(dataset, s->repeat, err) : dataset;
}

/* The outcomes with a state written after every `step` of them; every other time another iterator
 * goes on from it. */
static char *text_with_saves(leat_dataset *dataset, const leat_iterator_options *options,
                             int64_t step, leat_save_mode mode) {
    const leat_iterator_save_options how = {.mode = mode};
    leat_iterator *iterator = dataset_iterate(dataset, options);
    char *text = NULL;
    dataset_append(&text, "");
    for (int i = 0; dataset_take(iterator, step, &text) == step; i++) {
        char *data = NULL;
        size_t size = 0;
        leat_error err = {0};
        if (leat_iterator_save_with(iterator, &how, &data, &size, NULL, &err) != LEAT_OK) {
            fail_msg("not saved: %s", err.text);
        }
        if (i % 2 == 1) {
            leat_iterator_free(iterator);
            iterator = dataset_iterate(dataset, options);
            assert_int_equal(leat_iterator_restore(iterator, data, size, &err), LEAT_OK);
        }
        leati_free(data);
    }
    leat_iterator_free(iterator);
    return text;
}

static void check_one(const struct setting *s, const char *expected) {
    struct setting setting = *s;
    leat_dataset *dataset = dataset_made(make, &setting);
    for (int threads = 1; threads <= 4; threads += 3) {
        leat_iterator_options options = {.num_threads = threads};
        char *text = dataset_text(dataset, &options, -1);
        assert_string_equal(text, expected);
        free(text);
        for (int64_t step = 3; step <= 53; step += 25) {
            text = text_with_saves(dataset, &options, step,
                                   step == 28 ? LEAT_SAVE_DATA : LEAT_SAVE_AUTO);
            assert_string_equal(text, expected);
            free(text);
        }
    }
    leat_dataset_unref(dataset);
}

/* Every number of calls at a time gives what the sequential map gives. */
static void check(struct setting s) {
    s.parallel = 0;
    leat_dataset *dataset = dataset_made(make, &s);
    char *expected = dataset_text(dataset, NULL, -1);
    leat_dataset_unref(dataset);
    assert_true(strlen(expected) > ROWS);
    static const int64_t parallel[] = {1, 2, 8, LEAT_AUTOTUNE};
    for (int i = 0; i < 4; i++) {
        s.parallel = parallel[i];
        check_one(&s, expected);
    }
    free(expected);
}

static void test_values(void **state) {
    (void)state;
    check((struct setting){0});
    check((struct setting){.batch = true});
    check((struct setting){.prefetch = true, .repeat = 2});
    check((struct setting){.batch = true, .prefetch = true, .repeat = 2});
}

static void test_errors(void **state) {
    (void)state;
    check((struct setting){.calls = 5});
    check((struct setting){.calls = 2, .input_fails = true});
    check((struct setting){.calls = 23, .input_fails = true, .batch = true, .prefetch = true});
    check((struct setting){.calls = 1});
}

static void test_not_replayable(void **state) {
    (void)state;
    check((struct setting){.not_replayable = true});
    check((struct setting){.not_replayable = true, .calls = 7, .input_fails = true});
}

/* Without order no outcome is lost and none comes twice, whatever is saved on the way. */
static void test_any_order(void **state) {
    (void)state;
    struct setting s = {.parallel = 3, .calls = 9, .any_order = true};
    leat_dataset *dataset = dataset_made(make, &s);
    for (int64_t step = 2; step < 60; step += 19) {
        char *text = text_with_saves(dataset, NULL, step, LEAT_SAVE_AUTO);
        int times[ROWS] = {0}, errors = 0;
        for (char *word = strtok(text, " "); word != NULL; word = strtok(NULL, " ")) {
            long value = word[0] == '!' ? -1 : strtol(word, NULL, 10);
            errors += value < 0;
            if (value >= 0) {
                times[value / 3]++;
            }
        }
        free(text);
        assert_int_equal(errors, (ROWS + 8) / 9);
        for (int i = 0; i < ROWS; i++) {
            assert_int_equal(times[i], i % 9 != 0);
        }
    }
    leat_dataset_unref(dataset);
}

/* Closing, cancelling and going back at any point, with rows in every stage of the way. */
static void test_closing(void **state) {
    (void)state;
    struct setting s = {.parallel = 2, .batch = true, .prefetch = true, .repeat = -1};
    leat_dataset *dataset = dataset_made(make, &s);
    leat_error err = {0};
    for (int64_t k = 0; k < 120; k++) {
        leat_iterator_options options = {.num_threads = 1 + (int)(k % 3)};
        leat_iterator *iterator = dataset_iterate(dataset, &options);
        leat_element element = {0};
        for (int64_t i = 0; i < k; i++) {
            assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_OK);
        }
        if (k % 2 == 1) {
            leat_iterator_cancel(iterator);
            assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_CANCELLED);
        }
        leat_element_fini(&element);
        leat_iterator_free(iterator);
    }
    leat_dataset_unref(dataset);
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, torture_setup, torture_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_values),    TEST(test_errors),  TEST(test_not_replayable),
        TEST(test_any_order), TEST(test_closing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
