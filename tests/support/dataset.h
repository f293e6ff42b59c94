/* Help for tests of dataset operators: outcomes as text, and one check that runs a dataset in every
 * way in which it must give the same outcomes.
 *
 * Header only: include it after "support/cmocka.h" and torture.h. A dataset comes from a
 * maker, which builds it anew each time (with seeds of its own, so that all are equal):
 *
 *     static leat_dataset *make(void *context, leat_error *err) {
 *         return leat_dataset_take(leat_dataset_range(0, 9, 1, NULL, err), 2, err);
 *     }
 *     dataset_check(make, NULL, "0 1");
 *
 * Outcomes are separated by blanks: elements as dataset_text prints them, errors as !CODE. Three
 * operators exist for tests alone: dataset_any_want asks its input for random sizes, dataset_faults
 * puts errors in place of elements, dataset_impure makes what is above it ask for no more than it
 * needs and fails the test if it does. */
#ifndef TEST_DATASET_H
#define TEST_DATASET_H

#include "core/json.h"
#include "data/run/input.h"

#include <leat/data_ops.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define DATASET_UNUSED __attribute__((unused))

typedef leat_dataset *(*dataset_maker)(void *context, leat_error *err);

/* ---- operators for tests ---- */

struct dataset_test_args {
    int64_t number, remainder;
};

static const leati_row dataset_test_rows[] = {
    {.name = "number",
     .type = LEATI_ROW_INT,
     .offset = offsetof(struct dataset_test_args, number),
     .doc = "A seed, or a modulus."},
    {.name = "remainder",
     .type = LEATI_ROW_INT,
     .offset = offsetof(struct dataset_test_args, remainder),
     .doc = "Which elements fail."},
    {0},
};

struct dataset_test_state {
    leati_input input;
    int64_t position;
    uint64_t random;
};

static leat_status dataset_test_open(leati_node_state *node, void *state, leat_error *err) {
    struct dataset_test_state *s = state;
    const struct dataset_test_args *args = node->dataset->args;
    s->random = (uint64_t)args->number;
    return leati_input_open(&s->input, node, 0, err);
}

/* Asks for 1 to 2 * want, and hands on what was wanted. */
static leati_tail dataset_any_want_pull(leati_node_state *node, void *state, int64_t want,
                                        leati_block *out, leat_error *err) {
    (void)node;
    struct dataset_test_state *s = state;
    s->random = s->random * 6364136223846793005u + 1442695040888963407u;
    int64_t most = leati_input_pure(&s->input) ? 2 * want + 3 : want;
    int64_t ask = 1 + (int64_t)((s->random >> 33) % (uint64_t)most), available = 0;
    leati_input_peek(&s->input, ask, NULL, &available, err);
    return leati_input_take(&s->input, ask < want ? ask : want, out, err);
}

/* Elements whose number has the remainder become errors. */
static leati_tail dataset_faults_pull(leati_node_state *node, void *state, int64_t want,
                                      leati_block *out, leat_error *err) {
    struct dataset_test_state *s = state;
    const struct dataset_test_args *args = node->dataset->args;
    int64_t left = args->remainder - s->position % args->number, available = 0;
    left = left < 0 ? left + args->number : left;
    leati_block_clear(out);
    if (left > 0) {
        leati_tail tail = leati_input_take(&s->input, want < left ? want : left, out, err);
        s->position += out->n + (tail == LEATI_ERROR);
        return tail;
    }
    leati_tail tail = leati_input_peek(&s->input, 1, NULL, &available, err);
    if (available == 0 && tail == LEATI_END)
        return tail;
    leati_input_consume(&s->input, 1);
    s->position++;
    if (available > 0)
        leati_fail(err, LEAT_INVALID_ARGUMENT, "a fault");
    return LEATI_ERROR;
}

/* Counts what is asked for; a driver may ask. */
static atomic_llong dataset_asked;

static leati_tail dataset_impure_pull(leati_node_state *node, void *state, int64_t want,
                                      leati_block *out, leat_error *err) {
    (void)node;
    dataset_asked += want;
    return leati_input_take(&((struct dataset_test_state *)state)->input, want, out, err);
}

#define DATASET_TEST_OP(NAME, FLAGS)                                                               \
    DATASET_UNUSED static const leati_dataset_op dataset_op_##NAME = {                             \
        .name = "test_" #NAME,                                                                     \
        .version = 1,                                                                              \
        .doc = "For tests.",                                                                       \
        .num_inputs = 1,                                                                           \
        .flow = LEATI_ONE_TO_ONE,                                                                  \
        .flags = (FLAGS),                                                                          \
        .args_size = sizeof(struct dataset_test_args),                                             \
        .rows = dataset_test_rows,                                                                 \
        .state_size = sizeof(struct dataset_test_state),                                           \
        .saved = {LEATI_SAVED(struct dataset_test_state, position)},                               \
        .open = dataset_test_open,                                                                 \
        .pull = dataset_##NAME##_pull,                                                             \
    }
DATASET_TEST_OP(any_want, 0);
DATASET_TEST_OP(faults, 0);
DATASET_TEST_OP(impure, LEATI_OP_IMPURE);

DATASET_UNUSED static leat_dataset *dataset_any_want(leat_dataset *input, int64_t seed,
                                                     leat_error *err) {
    struct dataset_test_args args = {.number = seed};
    return leati_dataset_new(&dataset_op_any_want, &args, &input, 1, err);
}

DATASET_UNUSED static leat_dataset *dataset_faults(leat_dataset *input, int64_t modulus,
                                                   int64_t remainder, leat_error *err) {
    struct dataset_test_args args = {.number = modulus, .remainder = remainder};
    return leati_dataset_new(&dataset_op_faults, &args, &input, 1, err);
}

DATASET_UNUSED static leat_dataset *dataset_impure(leat_dataset *input, leat_error *err) {
    return leati_dataset_new(&dataset_op_impure, NULL, &input, 1, err);
}

/* ---- outcomes as text ---- */

DATASET_UNUSED static void dataset_append(char **text, const char *more) {
    size_t old = *text == NULL ? 0 : strlen(*text);
    char *grown = realloc(*text, old + strlen(more) + 2);
    assert_non_null(grown);
    *text = grown;
    if (old > 0)
        grown[old++] = ' ';
    strcpy(grown + old, more);
}

/* Shapes, nested and without blanks: 3, [1,2], (3,[1,2]), {a:3}, 'text'. */
DATASET_UNUSED static size_t dataset_print_json(const json_t *json, char *to, size_t size) {
    size_t at = 0;
    const json_t *data = json_object_get(json, "data"), *shape = json_object_get(json, "shape");
    const json_t *tuple = json_object_get(json, "tuple"), *dict = json_object_get(json, "dict");
    const char *key = NULL;
    json_t *value = NULL;
    size_t i = 0;
#define DATASET_PRINT(...) (at += at < size ? (size_t)snprintf(to + at, size - at, __VA_ARGS__) : 0)
    if (tuple != NULL) {
        json_array_foreach(tuple, i, value) {
            DATASET_PRINT("%s", i == 0 ? "(" : ",");
            at += dataset_print_json(value, to + at, size - at);
        }
        DATASET_PRINT("%s", json_array_size(tuple) == 0 ? "()" : ")");
    } else if (dict != NULL) {
        json_object_foreach((json_t *)dict, key, value) {
            DATASET_PRINT("%s%s:", i++ == 0 ? "{" : ",", key);
            at += dataset_print_json(value, to + at, size - at);
        }
        DATASET_PRINT("}");
    } else if (data != NULL) {
        bool scalar = json_array_size(shape) == 0;
        DATASET_PRINT("%s", scalar ? "" : "[");
        json_array_foreach(data, i, value) {
            char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
            DATASET_PRINT("%s%s", i == 0 ? "" : ",", text);
            free(text);
        }
        DATASET_PRINT("%s", scalar ? "" : "]");
    } else {
        DATASET_PRINT("?");
    }
#undef DATASET_PRINT
    return at;
}

DATASET_UNUSED static void dataset_append_element(char **text, const leat_element *element) {
    leat_error err = {0};
    json_t *json = leati_json_of_element(element, &err);
    if (json == NULL)
        fail_msg("%s", err.text);
    static char line[65536];
    line[0] = 0;
    dataset_print_json(json, line, sizeof(line));
    json_decref(json);
    dataset_append(text, line);
}

/* Takes up to `most` outcomes (negative: to the end, and checks that the end stays) and appends
 * them to *text. Returns how many came. */
DATASET_UNUSED static int64_t dataset_take(leat_iterator *iterator, int64_t most, char **text) {
    leat_element element = {0};
    int64_t count = 0;
    for (; most < 0 || count < most; count++) {
        leat_error err = {0};
        leat_status status = leat_iterator_next(iterator, &element, &err);
        if (status == LEAT_OUT_OF_RANGE) {
            assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_OUT_OF_RANGE);
            break;
        }
        if (status == LEAT_OK) {
            dataset_append_element(text, &element);
        } else {
            char code[64];
            snprintf(code, sizeof(code), "!%s", leat_status_name(status));
            dataset_append(text, code);
            if (err.code != status || err.text[0] == 0)
                fail_msg("an error of code %d with status %d: \"%s\"", err.code, status, err.text);
        }
    }
    leat_element_fini(&element);
    return count;
}

DATASET_UNUSED static leat_dataset *dataset_made(dataset_maker make, void *context) {
    leat_error err = {0};
    leat_dataset *dataset = make(context, &err);
    if (dataset == NULL)
        fail_msg("the dataset was not made: %s", err.text);
    return dataset;
}

DATASET_UNUSED static leat_iterator *dataset_iterate(leat_dataset *dataset,
                                                     const leat_iterator_options *options) {
    leat_error err = {0};
    leat_iterator *iterator = leat_iterator_new(dataset, options, &err);
    if (iterator == NULL)
        fail_msg("no iterator: %s", err.text);
    return iterator;
}

/* The outcomes of one iteration, at most `most` (negative: all). free() it. */
DATASET_UNUSED static char *dataset_text(leat_dataset *dataset,
                                         const leat_iterator_options *options, int64_t most) {
    char *text = NULL;
    dataset_append(&text, "");
    leat_iterator *iterator = dataset_iterate(dataset, options);
    dataset_take(iterator, most, &text);
    leat_iterator_free(iterator);
    return text;
}

/* ---- the checks ---- */

/* The blocks that the root hands out fit the spec. */
DATASET_UNUSED static void dataset_same(dataset_maker make, void *context,
                                        const leat_iterator_options *options, const char *expected,
                                        int64_t most, const char *what) {
    leat_dataset *dataset = dataset_made(make, context);
    char *text = dataset_text(dataset, options, most);
    if (strcmp(text, expected) != 0)
        fail_msg("%s: got\n  %s\nexpected\n  %s", what, text, expected);
    free(text);
    leat_dataset_unref(dataset);
}

struct dataset_wanting {
    dataset_maker make;
    void *context;
    int64_t seed;
};

DATASET_UNUSED static leat_dataset *dataset_make_wanting(void *context, leat_error *err) {
    struct dataset_wanting *w = context;
    return dataset_any_want(w->make(w->context, err), w->seed, err);
}

/* A maker: what goes through its JSON form is the same dataset. Nodes that two others share become
 * two. */
DATASET_UNUSED static leat_dataset *dataset_through_json(void *context, leat_error *err) {
    const struct dataset_wanting *inner = context;
    leat_dataset *dataset = inner->make(inner->context, err);
    char *text = dataset == NULL ? NULL : leat_dataset_to_json(dataset, err);
    leat_dataset *again = text == NULL ? NULL : leat_dataset_from_json(text, err);
    if (again != NULL) {
        assert_true(leat_dataset_fingerprint(again) == leat_dataset_fingerprint(dataset));
        assert_true(leat_spec_equal(leat_dataset_spec(again), leat_dataset_spec(dataset)));
    }
    leati_free(text);
    leat_dataset_unref(dataset);
    return again;
}

/* Saves an iterator, with the elements that operators hold or without, and restores it into the
 * same dataset or one that is made anew, as another process would have it. */
DATASET_UNUSED static leat_iterator *dataset_hop(dataset_maker make, void *context,
                                                 const leat_iterator_options *options,
                                                 leat_dataset **dataset, leat_iterator *iterator,
                                                 int64_t taken, bool fresh, bool held) {
    const leat_iterator_save_options how = {LEAT_ITERATOR_SAVE_DEFAULTS,
                                            .mode = held ? LEAT_SAVE_DATA : LEAT_SAVE_AUTO};
    char *data = NULL;
    size_t size = 0;
    leat_error err = {0};
    if (leat_iterator_save_with(iterator, &how, &data, &size, NULL, &err) != LEAT_OK)
        fail_msg("not saved after %lld outcomes: %s", (long long)taken, err.text);
    leat_iterator_free(iterator);
    if (fresh) {
        leat_dataset_unref(*dataset);
        *dataset = dataset_made(make, context);
    }
    iterator = dataset_iterate(*dataset, options);
    if (leat_iterator_restore(iterator, data, size, &err) != LEAT_OK)
        fail_msg("not restored after %lld outcomes: %s", (long long)taken, err.text);
    leati_free(data);
    return iterator;
}

/* Saves and restores after `count` outcomes, odd ones with what operators hold, and what was
 * restored once more, 1 to 8 outcomes later. Returns false where the sequence is shorter. */
DATASET_UNUSED static bool dataset_resume(dataset_maker make, void *context,
                                          const leat_iterator_options *options, int64_t count,
                                          int64_t most, const char *expected, bool fresh) {
    leat_dataset *dataset = dataset_made(make, context);
    leat_iterator *iterator = dataset_iterate(dataset, options);
    char *text = NULL;
    dataset_append(&text, "");
    int64_t taken = dataset_take(iterator, count, &text), later = 1 + count % 8;
    iterator =
        dataset_hop(make, context, options, &dataset, iterator, taken, fresh, count % 2 == 1);
    if (taken == count && (most < 0 || taken + later <= most)) {
        taken += dataset_take(iterator, later, &text);
        iterator = dataset_hop(make, context, options, &dataset, iterator, taken, fresh, false);
    }
    dataset_take(iterator, most < 0 ? -1 : most - taken, &text);
    if (strcmp(text, expected) != 0) {
        fail_msg("restored after %lld outcomes (%s): got\n  %s\nexpected\n  %s", (long long)taken,
                 fresh ? "another process" : "the same", text, expected);
    }
    free(text);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
    return taken >= count;
}

/* What torture runs: builds, iterates, saves in the middle. An iteration that does not report the
 * failed allocation must have done without it: its outcomes are those of the first one. */
struct dataset_torture {
    dataset_maker make;
    void *context;
    int64_t most;
    char *text;
};

DATASET_UNUSED static leat_status dataset_torture_iterator(leat_dataset *dataset, int64_t most,
                                                           char **text, leat_error *err) {
    leat_iterator *iterator = leat_iterator_new(dataset, NULL, err);
    leat_status status = iterator == NULL ? err->code : LEAT_OK;
    leat_element element = {0};
    char line[1024] = "";
    for (int64_t i = 0; status == LEAT_OK && (most < 0 || i < most); i++) {
        leat_error one = {0};
        leat_status got = leat_iterator_next(iterator, &element, &one);
        if (got == LEAT_RESOURCE_EXHAUSTED) {
            *err = one;
            status = got;
        } else if (got == LEAT_OUT_OF_RANGE) {
            break;
        } else if (got == LEAT_OK) {
            leat_element_print(&element, line, sizeof(line));
            dataset_append(text, line);
        } else {
            dataset_append(text, leat_status_name(got));
        }
        char *data = NULL;
        size_t size = 0;
        if (i == 2 && status == LEAT_OK) {
            status = leat_iterator_save(iterator, &data, &size, NULL, err);
            leati_free(data);
        }
    }
    leat_element_fini(&element);
    leat_iterator_free(iterator);
    return status;
}

DATASET_UNUSED static leat_status dataset_torture_body(void *context, leat_error *err) {
    struct dataset_torture *t = context;
    leat_dataset *dataset = t->make(t->context, err);
    if (dataset == NULL)
        return err->code;
    char *text = NULL;
    dataset_append(&text, "");
    leat_status status = dataset_torture_iterator(dataset, t->most, &text, err);
    leat_dataset_unref(dataset);
    if (status == LEAT_OK && t->text == NULL) {
        t->text = text;
        return status;
    }
    if (status == LEAT_OK && strcmp(text, t->text) != 0)
        fail_msg("an allocation failed unnoticed: got\n  %s\nexpected\n  %s", text, t->text);
    free(text);
    return status;
}

/* After an allocation failed somewhere in an iteration, the same iterator goes on to its end: it
 * neither crashes nor runs forever. */
DATASET_UNUSED static void dataset_stumble(dataset_maker make, void *context, int64_t most) {
    for (long n = 1;; n += TORTURE_STRIDE) {
        leat_dataset *dataset = dataset_made(make, context);
        leat_iterator *iterator = dataset_iterate(dataset, NULL);
        leat_element element = {0};
        torture_fail_at(n);
        for (int64_t i = 0; i < 2 * (most < 0 ? 5000 : most); i++)
            if (leat_iterator_next(iterator, &element, NULL) == LEAT_OUT_OF_RANGE)
                break;
        bool failed = torture_failed();
        torture_fail_at(0);
        leat_element_fini(&element);
        leat_iterator_free(iterator);
        leat_dataset_unref(dataset);
        if (!failed)
            return;
    }
}

/* gcc's build tries all; the sanitizers', which run the same again, a part. */
enum { DATASET_SEEDS = TORTURE_STRIDE == 1 ? 6 : 2, DATASET_STEP = TORTURE_STRIDE == 1 ? 1 : 3 };

/* All ways to run with rewrites must give `expected` (NULL: what the plain run gives), for the
 * first `most` outcomes (negative: all of them): verification mode, random requests, another number
 * of threads, and restored after each outcome. Every failing allocation must be reported. Between
 * torture_begin and torture_end. */
DATASET_UNUSED static void dataset_check_rewritten(dataset_maker make, void *context, int64_t most,
                                                   const char *expected) {
    leat_dataset *dataset = dataset_made(make, context);
    char *plain = dataset_text(dataset, NULL, most);
    leat_dataset_unref(dataset);
    if (expected != NULL)
        assert_string_equal(plain, expected);
    leat_iterator_options options = {LEAT_ITERATOR_DEFAULTS, .num_threads = 1};
    dataset_same(make, context, &options, plain, most, "one thread");
    for (uint64_t seed = 1; seed <= DATASET_SEEDS; seed++) {
        struct dataset_wanting wanting = {make, context, (int64_t)seed};
        options =
            (leat_iterator_options){LEAT_ITERATOR_DEFAULTS, .verify = true, .verify_seed = seed};
        dataset_same(make, context, &options, plain, most, "verification mode");
        dataset_same(dataset_make_wanting, &wanting, NULL, plain, most, "random requests");
        dataset_same(dataset_make_wanting, &wanting, &options, plain, most,
                     "random requests in verification mode");
    }
    options = (leat_iterator_options){LEAT_ITERATOR_DEFAULTS, .verify = true, .verify_seed = 7};
    struct dataset_wanting wanting = {make, context, 11};
    for (int64_t k = 0; most < 0 || k <= most; k += DATASET_STEP) {
        bool more = dataset_resume(make, context, NULL, k, most, plain, true);
        dataset_resume(make, context, NULL, k, most, plain, false);
        dataset_resume(make, context, &options, k, most, plain, true);
        dataset_resume(dataset_make_wanting, &wanting, &options, k, most, plain, true);
        if (!more)
            break;
    }
    struct dataset_torture torture = {make, context, most, NULL};
    leat_error err = {0};
    assert_int_equal(dataset_torture_body(&torture, &err), LEAT_OK);
    torture_run_tolerant(dataset_torture_body, &torture);
    free(torture.text);
    dataset_stumble(make, context, most);
    free(plain);
}

/* The same, and without rewrites: where those do not move errors. */
DATASET_UNUSED static void dataset_check_most(dataset_maker make, void *context, int64_t most,
                                              const char *expected) {
    leat_dataset *dataset = dataset_made(make, context);
    char *plain = dataset_text(dataset, NULL, most);
    leat_dataset_unref(dataset);
    leat_iterator_options options = {LEAT_ITERATOR_DEFAULTS, .rewrites = false};
    dataset_same(make, context, &options, plain, most, "without rewrites");
    free(plain);
    dataset_check_rewritten(make, context, most, expected);
}

DATASET_UNUSED static void dataset_check(dataset_maker make, void *context, const char *expected) {
    dataset_check_most(make, context, -1, expected);
}

#endif
