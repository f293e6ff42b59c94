/* shuffle fused with repeat. The expected outcomes come from TensorFlow, from a model of its rules
 * (where errors of later epochs come), and from the two operators unfused (the order). */
#include "support/cmocka.h"

#include "support/torture.h"

#include "base/random.h"
#include "data/plan/seed_generator.h"
#include "data/rewrites/rewrite.h"
#include "support/dataset.h"
#include <leat/ops.h>

struct repeated {
    int64_t elements, buffer, count, seed;
    bool no_reshuffle, impure, batched;
    int64_t modulus, remainder; /* of faults; modulus 0: none */
    const char *lengths;        /* of epochs; NULL: all of them `elements` */
};

/* ---- a source whose epochs differ ---- */

struct epochs_args {
    char *lengths; /* a digit for each epoch; all further ones are empty */
};

static const leati_row epochs_rows[] = {
    {.name = "lengths",
     .type = LEATI_ROW_STRING,
     .offset = offsetof(struct epochs_args, lengths),
     .doc = "Lengths of epochs."},
    {0},
};

struct epochs_state {
    int64_t epoch, next;
};

static leat_spec *epochs_spec(const leat_dataset *dataset, leat_error *err) {
    (void)dataset;
    return leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, err);
}

/* Elements are 10 * epoch + index, one to a block. */
static leati_tail epochs_pull(leati_node_state *node, void *state, int64_t want, leati_block *out,
                              leat_error *err) {
    struct epochs_state *s = state;
    const struct epochs_args *args = node->dataset->args;
    (void)want;
    leati_block_clear(out);
    if (s->epoch >= (int64_t)strlen(args->lengths) || s->next == args->lengths[s->epoch] - '0')
        return LEATI_END;
    leat_tensor tensor = leat_scalar_int64(10 * s->epoch + s->next);
    if (tensor.dtype == LEAT_INVALID || leati_block_prepare(out, 1, err) != LEAT_OK) {
        leat_tensor_unref(&tensor);
        leati_fail(err, LEAT_RESOURCE_EXHAUSTED, "no memory");
        return LEATI_ERROR;
    }
    leati_column_constant(&out->columns[0], &tensor);
    leat_tensor_unref(&tensor);
    out->n = 1;
    s->next++;
    return LEATI_MORE;
}

static leat_status epochs_reset(leati_node_state *node, void *state, leat_error *err) {
    (void)node;
    (void)err;
    ((struct epochs_state *)state)->epoch++;
    return LEAT_OK;
}

static const leati_dataset_op epochs_op = {
    .name = "test_epochs",
    .version = 1,
    .doc = "For tests.",
    .flow = LEATI_SOURCE,
    .args_size = sizeof(struct epochs_args),
    .rows = epochs_rows,
    .spec = epochs_spec,
    .state_size = sizeof(struct epochs_state),
    .saved = {LEATI_SAVED_KEPT(struct epochs_state, epoch), LEATI_SAVED(struct epochs_state, next)},
    .pull = epochs_pull,
    .reset = epochs_reset,
};

static leat_dataset *make(void *context, leat_error *err) {
    const struct repeated *r = context;
    leat_dataset *dataset = NULL;
    if (r->lengths != NULL) {
        struct epochs_args args = {.lengths = (char *)r->lengths};
        dataset = leati_dataset_new(&epochs_op, &args, NULL, 0, err);
    } else {
        dataset = leat_dataset_range(0, r->elements, 1, NULL, err);
    }
    dataset = r->modulus > 0 ? dataset_faults(dataset, r->modulus, r->remainder, err) : dataset;
    dataset = r->batched ? leat_dataset_batch(dataset, 2, NULL, err) : dataset;
    dataset = r->impure ? dataset_impure(dataset, err) : dataset;
    leat_dataset_shuffle_options options = {LEAT_DATASET_SHUFFLE_DEFAULTS,
                                            .seed = LEAT_SEED(r->seed),
                                            .reshuffle_each_iteration = !r->no_reshuffle};
    return leat_dataset_repeat(leat_dataset_shuffle(dataset, r->buffer, &options, err), r->count,
                               err);
}

/* ---- the plan ---- */

static int64_t epochs_of_rewritten(struct repeated *r) {
    leat_error err = {0};
    leat_dataset *dataset = dataset_made(make, r);
    leat_dataset *rewritten = leati_rewrite(dataset, false, &err);
    assert_non_null(rewritten);
    assert_int_equal(rewritten->cardinality, dataset->cardinality);
    int64_t epochs = leati_dataset_shuffle_epochs(rewritten);
    leat_dataset_unref(rewritten);
    leat_dataset_unref(dataset);
    return epochs;
}

static void test_plan(void **state) {
    (void)state;
    assert_int_equal(
        epochs_of_rewritten(&(struct repeated){.elements = 5, .buffer = 3, .count = 4}), 4);
    assert_int_equal(
        epochs_of_rewritten(&(struct repeated){.elements = 5, .buffer = 3, .count = -7}), -1);
    assert_int_equal(epochs_of_rewritten(&(struct repeated){.buffer = 3, .count = -1}), -1);
    assert_int_equal(
        epochs_of_rewritten(&(struct repeated){.elements = 5, .buffer = 3, .count = 1}), 1);
    /* Not fused: nothing to repeat, no bound. */
    assert_int_equal(epochs_of_rewritten(&(struct repeated){.elements = 5, .buffer = 3}), 0);
    assert_int_equal(
        epochs_of_rewritten(&(struct repeated){.elements = 5, .buffer = -2, .count = 2}), 0);
}

static leat_dataset *make_twice(void *context, leat_error *err) {
    return leat_dataset_repeat(make(context, err), 2, err);
}

static void test_repeated_twice(void **state) {
    (void)state;
    struct repeated r = {.elements = 3, .buffer = 4, .count = 2, .seed = 5};
    leat_error err = {0};
    leat_dataset *dataset = dataset_made(make_twice, &r);
    leat_dataset *rewritten = leati_rewrite(dataset, false, &err);
    assert_non_null(rewritten);
    assert_string_equal(rewritten->op->name, "repeat");
    assert_int_equal(leati_dataset_shuffle_epochs(rewritten->inputs[0]), 2);
    leat_dataset_unref(rewritten);
    leat_dataset_unref(dataset);
    dataset_check(make_twice, &r, NULL);
}

/* ---- order ---- */

/* Three iterators of one dataset, which share the seed generator. */
static char *three_texts(struct repeated *r, bool no_rewrites, int64_t most) {
    leat_dataset *dataset = dataset_made(make, r);
    leat_iterator_options options = {LEAT_ITERATOR_DEFAULTS, .rewrites = !no_rewrites};
    char *text = NULL;
    dataset_append(&text, "");
    for (int i = 0; i < 3; i++) {
        char *one = dataset_text(dataset, &options, r->count < 0 ? most : -1);
        dataset_append(&text, "|");
        dataset_append(&text, one);
        free(one);
    }
    leat_dataset_unref(dataset);
    return text;
}

static void check_same_order(struct repeated *r) {
    char *fused = three_texts(r, false, 60), *unfused = three_texts(r, true, 60);
    if (strcmp(fused, unfused) != 0) {
        fail_msg("%lld elements, buffer %lld, count %lld, lengths %s: fused\n  %s\nunfused\n  %s",
                 (long long)r->elements, (long long)r->buffer, (long long)r->count,
                 r->lengths != NULL ? r->lengths : "equal", fused, unfused);
    }
    free(fused);
    free(unfused);
}

static void test_order_is_that_of_two_operators(void **state) {
    (void)state;
    static const int64_t counts[] = {2, 3, 6, -1}, buffers[] = {1, 2, 3, 5, 8, 13, 40, 100};
    for (int64_t n = 0; n <= 12; n++) {
        for (int b = 0; b < 8; b++) {
            for (int c = 0; c < 4; c++) {
                struct repeated r = {.elements = n,
                                     .buffer = buffers[b],
                                     .count = counts[c],
                                     .seed = 1 + n + 3 * b,
                                     .no_reshuffle = (n + b + c) % 3 == 0,
                                     .impure = (n + b + c) % 2 == 0};
                check_same_order(&r);
            }
        }
    }
}

static void test_saved_at_every_outcome(void **state) {
    (void)state;
    dataset_check(make, &(struct repeated){.elements = 5, .buffer = 9, .count = 3, .seed = 1},
                  NULL);
    dataset_check(make, &(struct repeated){.elements = 2, .buffer = 30, .count = 8, .seed = 2},
                  NULL);
    dataset_check(
        make,
        &(struct repeated){.elements = 2, .buffer = 30, .count = 8, .seed = 2, .impure = true},
        NULL);
    dataset_check(
        make,
        &(struct repeated){.elements = 5, .buffer = 4, .count = 3, .seed = 3, .batched = true},
        NULL);
    dataset_check(
        make,
        &(struct repeated){
            .elements = 5, .buffer = 4, .count = 3, .seed = 3, .batched = true, .impure = true},
        NULL);
    dataset_check_most(make, &(struct repeated){.elements = 3, .buffer = 7, .count = -1, .seed = 4},
                       17, NULL);
    dataset_check(make, &(struct repeated){.elements = 0, .buffer = 7, .count = -1, .seed = 4}, "");
    dataset_check(make, &(struct repeated){.elements = 0, .buffer = 7, .count = 9, .seed = 4}, "");
}

/* Of one iterator: for an epoch without elements at the end TensorFlow's fused operator draws no
 * pair, unlike its two operators. */
static void check_one_order(struct repeated *r) {
    leat_dataset *dataset = dataset_made(make, r);
    leat_iterator_options options = {LEAT_ITERATOR_DEFAULTS, .rewrites = false};
    char *unfused = dataset_text(dataset, &options, -1);
    leat_dataset_unref(dataset);
    dataset_same(make, r, NULL, unfused, -1, r->lengths);
    free(unfused);
}

/* Some epochs are empty: the order is still that of two operators, and forever ends at one. */
static void test_epochs_of_different_lengths(void **state) {
    (void)state;
    static const char *const lengths[] = {"3021",    "00002",   "500002",  "11111111",
                                          "1010101", "2000900", "9100019", "3333"};
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        for (int64_t buffer = 1; buffer <= 21; buffer += 4) {
            struct repeated r = {.buffer = buffer, .count = -1, .seed = 3, .lengths = lengths[i]};
            check_one_order(&r);
            r.count = (int64_t)strlen(lengths[i]);
            check_one_order(&r);
        }
    }
    dataset_check(
        make, &(struct repeated){.buffer = 6, .count = 8, .seed = 3, .lengths = "20001041"}, NULL);
    dataset_check(make,
                  &(struct repeated){
                      .buffer = 6, .count = 8, .seed = 3, .lengths = "20001041", .impure = true},
                  NULL);
}

/* ---- errors ---- */

/* TensorFlow's rules for the fused operator, with one outcome of the input at a time. */
enum { MODEL_SLICES = 100, MODEL_BUFFER = 200 };

struct model_slice {
    int64_t start, end;
    bool finished;
};

struct model {
    const struct repeated *r;
    leati_seed_generator *generator;
    leati_words words;
    int64_t buffer[MODEL_BUFFER];
    struct model_slice slices[MODEL_SLICES]; /* first .. last */
    int first, last;                         /* last is one beyond */
    int64_t held, epoch, at;
    bool reading, produced, stopped;
};

static void model_pair(struct model *m) {
    uint64_t pair[2] = {0, 0};
    leati_seed_generator_next(m->generator, pair);
    m->words = leati_words_new(pair[0], pair[1]);
}

static bool model_fills(const struct model *m) {
    const struct repeated *r = m->r;
    bool all_read = !m->reading && r->count >= 0 && m->epoch >= r->count;
    return !m->stopped && !all_read && !(m->last - m->first > 3 && m->held > 0) &&
           m->held < r->buffer;
}

/* Returns false for an error. */
static bool model_fill(struct model *m) {
    const struct repeated *r = m->r;
    while (model_fills(m)) {
        if (!m->reading) {
            int64_t end = m->last == 0 ? 0 : m->slices[m->last - 1].end;
            assert_true(m->last < MODEL_SLICES);
            m->slices[m->last++] = (struct model_slice){.start = end, .end = end};
            m->reading = true;
            m->epoch++;
            m->at = 0;
        }
        struct model_slice *back = &m->slices[m->last - 1];
        if (m->at == r->elements) {
            back->finished = true;
            m->reading = false;
            m->stopped = r->count < 0 && !m->produced;
            continue;
        }
        int64_t element = m->at++;
        if (r->modulus > 0 && element % r->modulus == r->remainder)
            return false;
        m->buffer[back->end++ % r->buffer] = element;
        m->held++;
        m->produced = true;
    }
    return true;
}

static char *model_text(const struct repeated *r, int64_t most) {
    struct model m = {.r = r};
    leat_error err = {0};
    char *text = NULL, number[32];
    int64_t pair[2] = {0, 0};
    leati_random_resolve_seed((leati_seed_argument){.given = true, .value = r->seed}, &pair[0],
                              &pair[1]);
    m.generator = leati_seed_generator_new(pair[0], pair[1], r->no_reshuffle, &err);
    assert_non_null(m.generator);
    model_pair(&m);
    dataset_append(&text, "");
    for (int64_t i = 0; most < 0 || i < most; i++) {
        if (!model_fill(&m)) {
            dataset_append(&text, "!INVALID_ARGUMENT");
            continue;
        }
        if (m.held == 0)
            break;
        while (m.slices[m.first].start == m.slices[m.first].end) {
            m.first++;
            model_pair(&m);
        }
        struct model_slice *front = &m.slices[m.first];
        int64_t offset = (int64_t)leati_words_next(&m.words) % (front->end - front->start);
        int64_t at = (front->start + offset) % r->buffer, first = front->start % r->buffer;
        snprintf(number, sizeof(number), "%lld", (long long)m.buffer[at]);
        dataset_append(&text, number);
        m.buffer[at] = m.buffer[first];
        front->start++;
        m.held--;
    }
    leati_seed_generator_free(m.generator);
    return text;
}

static void test_errors_come_where_tensorflow_has_them(void **state) {
    (void)state;
    struct repeated recorded = {
        .elements = 6, .buffer = 20, .count = 2, .seed = 6, .modulus = 100, .remainder = 3};
    dataset_check_rewritten(make, &recorded, -1,
                            "!INVALID_ARGUMENT !INVALID_ARGUMENT 1 5 0 4 2 0 1 2 4 5");
    uint64_t random = 5;
    for (int trial = 0; trial < 400; trial++) {
        int64_t numbers[6];
        for (int i = 0; i < 6; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            numbers[i] = (int64_t)(random >> 40);
        }
        struct repeated r = {.elements = numbers[0] % 9,
                             .buffer = 1 + numbers[1] % 30,
                             .count = numbers[2] % 8 == 0 ? -1 : 2 + numbers[2] % 6,
                             .seed = 1 + numbers[3] % 1000,
                             .modulus = 1 + numbers[4] % 5,
                             .no_reshuffle = numbers[5] % 4 == 0,
                             .impure = numbers[5] % 8 >= 4};
        r.remainder = numbers[5] % r.modulus;
        char *expected = model_text(&r, 50);
        dataset_same(make, &r, NULL, expected, 50, "fused");
        leat_iterator_options options = {LEAT_ITERATOR_DEFAULTS, .verify = true,
                                         .verify_seed = (uint64_t)trial};
        dataset_same(make, &r, &options, expected, 50, "fused, in verification mode");
        for (int64_t k = 0; trial % 8 == 0 && k < 50; k += 1)
            if (!dataset_resume(make, &r, NULL, k, 50, expected, k % 2 == 0))
                break;
        free(expected);
    }
}

static void test_errors_in_all_modes(void **state) {
    (void)state;
    struct repeated some[] = {
        {.elements = 4, .buffer = 3, .count = 3, .seed = 2, .modulus = 3, .remainder = 1},
        {.elements = 3, .buffer = 9, .count = 6, .seed = 2, .modulus = 3, .remainder = 0},
        {.elements = 3, .buffer = 9, .count = -1, .seed = 2, .modulus = 3, .remainder = 2},
        {.elements = 2, .buffer = 9, .count = 3, .seed = 2, .modulus = 1, .remainder = 0},
        {.elements = 2, .buffer = 9, .count = -1, .seed = 2, .modulus = 1, .remainder = 0},
    };
    for (size_t i = 0; i < 2 * sizeof(some) / sizeof(some[0]); i++) {
        struct repeated *r = &some[i / 2];
        r->impure = i % 2 == 1;
        char *expected = model_text(r, 16);
        dataset_check_rewritten(make, r, 16, expected);
        free(expected);
    }
}

int main(void) {
#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, torture_setup, torture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_plan),
        TEST(test_repeated_twice),
        TEST(test_order_is_that_of_two_operators),
        TEST(test_saved_at_every_outcome),
        TEST(test_epochs_of_different_lengths),
        TEST(test_errors_come_where_tensorflow_has_them),
        TEST(test_errors_in_all_modes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
