/* The suite of dataset operators: every line of data/ops.def against
 * tests/conform/data/<name>.json, and random compositions of them against compositions.json.
 *
 * Expected values come from the model in data_case_model.py. Each case runs in every mode of the
 * recorded cases (threads, verification mode, without rewrites, through JSON, restored at each
 * outcome) and then: in verification mode under several seeds, with operators between its nodes
 * that ask for and hand out random numbers of elements, closed early at each outcome, cancelled at
 * each outcome, and with each n-th allocation failing. An operator without cases fails the suite,
 * and so does one whose cases leave out no elements, one element, many, or (but for sources) an
 * error from below. */
#include "support/cmocka.h"

#include "conform.h"
#include "data/plan/op.h"
#include "data_at.h"
#include "data_over.h"
#include "data_torture.h"
#include "data_wants.h"
#include "support/golden.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FOLDER LEATI_SOURCE_DIR "/tests/conform/data"
#define RECORDED LEATI_SOURCE_DIR "/tests/golden/data"

enum { VERIFY_SEEDS = 6, WANT_SEEDS = 4, LONGEST = 60, TORTURED = 14, TORTURED_AT = 8 };

static const char *const keys[] = {"elements", "elements_epoch2", "elements_epoch3"};

static void begin(golden_case *c, golden_run *run, const char *file, const json_t *json,
                  const char *mode) {
    golden_begin(c, run, file, golden_text(json, "name"));
    c->mode = mode;
}

/* The case with a fresh folder for "$TMP", which `folder` names. Owned. */
static json_t *in_folder(const json_t *json, char folder[512]) {
    assert_true(golden_folder_make(folder, 512));
    return golden_with_folder(json, folder);
}

static void out_of_folder(json_t *json, const char *folder) {
    json_decref(json);
    golden_folder_remove(folder);
}

/* ---- any want ---- */

/* The case with operators in between that cut and ask at random. */
static void check_wants(golden_case *c, const json_t *json, uint64_t seed) {
    const json_t *expect = json_object_get(json, "expect"),
                 *limits = json_object_get(json, "iterate");
    golden_pipeline pipeline;
    leat_error err = {0};
    if (golden_build(json, &pipeline, &err) != LEAT_OK) {
        golden_fail(c, "building: %s", err.text);
        return;
    }
    pipeline.dataset = wants_between(pipeline.dataset, seed, &err);
    size_t epochs = limits == NULL ? 1 : json_array_size(limits);
    for (size_t e = 0; pipeline.dataset != NULL && e < epochs && e < 3 && !c->failed; e++) {
        const json_t *limit = json_array_get(limits, e);
        const json_t *expected = json_object_get(expect, keys[e]);
        leat_iterator_options options = {LEAT_ITERATOR_DEFAULTS, .verify = true,
                                         .verify_seed = seed};
        leat_iterator *iterator = leat_iterator_new(pipeline.dataset, &options, &err);
        json_t *found = json_array();
        if (iterator != NULL &&
            golden_iterate(c, iterator, json_is_integer(limit) ? json_integer_value(limit) : -1,
                           json_array_size(expected) + 3, found))
            golden_compare(c, keys[e], expected, found, golden_bool(json, "unordered", false));
        leat_iterator_free(iterator);
        json_decref(found);
    }
    if (err.code != LEAT_OK && err.code != LEAT_OUT_OF_RANGE)
        golden_fail(c, "%s", err.text);
    golden_pipeline_fini(&pipeline);
}

/* ---- early close and cancellation ---- */

/* Runs `count` outcomes and drops the iterator; before that, cancels it if asked to. */
static void check_stop(golden_case *c, const json_t *json, size_t count, bool cancel) {
    golden_pipeline pipeline;
    leat_error err = {0};
    leat_element element = {0};
    leat_iterator_options options = {LEAT_ITERATOR_DEFAULTS, .num_threads = 2};
    if (golden_build(json, &pipeline, &err) != LEAT_OK) {
        golden_fail(c, "building: %s", err.text);
        return;
    }
    leat_iterator *iterator = leat_iterator_new(pipeline.dataset, &options, &err);
    json_t *found = json_array();
    if (iterator != NULL && golden_iterate(c, iterator, (int64_t)count, count, found) && cancel) {
        leat_iterator_cancel(iterator);
        for (int i = 0; i < 2; i++) {
            leat_status status = leat_iterator_next(iterator, &element, &err);
            if (status != LEAT_CANCELLED)
                golden_fail(c, "cancelled after %zu outcomes, next gave %s", count,
                            leat_status_name(status));
        }
    }
    leat_element_fini(&element);
    leat_iterator_free(iterator);
    golden_pipeline_fini(&pipeline);
    json_decref(found);
}

/* ---- the whole ---- */

static bool is_error_case(const json_t *json) {
    return json_object_get(json_object_get(json, "expect"), "error") != NULL;
}

static void check_over(golden_run *run, const char *file, const json_t *json, const char *mode,
                       void (*check)(golden_case *c, const json_t *json, int which)) {
    for (int i = 0; i < DATA_OVER_TRIES; i++) {
        golden_case c;
        char folder[512];
        json_t *own = in_folder(json, folder);
        begin(&c, run, file, json, mode);
        check(&c, own, i);
        golden_end(&c);
        out_of_folder(own, folder);
    }
}

static void check_case(golden_run *run, const char *file, const json_t *json) {
    golden_case c;
    size_t count = json_array_size(json_object_get(json_object_get(json, "expect"), "elements"));
    golden_tfdata_case(run, file, json);
    if (is_error_case(json))
        return;
    for (uint64_t seed = 1; seed <= VERIFY_SEEDS; seed++) {
        golden_run verify = {.modes = GOLDEN_VERIFY, .seed = seed * 7919};
        verify.reasons = run->reasons;
        verify.exclusions = run->exclusions;
        golden_tfdata_case(&verify, file, json);
        run->failed += verify.failed;
    }
    for (uint64_t seed = 1; seed <= WANT_SEEDS; seed++) {
        char folder[512];
        json_t *own = in_folder(json, folder);
        begin(&c, run, file, json, "wants");
        check_wants(&c, own, seed);
        golden_end(&c);
        out_of_folder(own, folder);
    }
    check_over(run, file, json, "skipped", data_over_skip);
    check_over(run, file, json, "repeated", data_over_repeat);
    check_over(run, file, json, "restored after another", data_over_others);
    for (size_t i = 0; i <= count && i < LONGEST; i++) {
        char folder[512];
        json_t *own = in_folder(json, folder);
        begin(&c, run, file, json, "early close");
        check_stop(&c, own, i, false);
        golden_end(&c);
        begin(&c, run, file, json, "cancel");
        check_stop(&c, own, i, true);
        golden_end(&c);
        out_of_folder(own, folder);
    }
}

/* Which of no elements, one, many and an error occur. */
static void note_sizes(const json_t *json, bool *sizes) {
    const json_t *elements = json_object_get(json_object_get(json, "expect"), "elements");
    size_t count = json_array_size(elements), errors = 0;
    for (size_t i = 0; i < count; i++)
        errors += json_object_get(json_array_get(elements, i), "error") != NULL;
    sizes[0] = sizes[0] || count == 0;
    sizes[1] = sizes[1] || (count == 1 && errors == 0);
    sizes[2] = sizes[2] || count > 2;
    sizes[3] = sizes[3] || errors > 0;
}

/* The cases of a file in tests/conform/data; NULL after a message. */
static json_t *read_cases(golden_run *run, const char *name) {
    char path[1024];
    snprintf(path, sizeof path, FOLDER "/%s.json", name);
    return golden_read_cases(run, path);
}

static void check_operator(golden_run *run, const leati_dataset_op *op, size_t *dealt) {
    static const char *const names[] = {"no element", "one element", "many elements", "an error"};
    bool sizes[4] = {false}, source = op->flow == LEATI_SOURCE;
    char file[200];
    json_t *cases = read_cases(run, op->name);
    snprintf(file, sizeof file, "conform/data/%s.json", op->name);
    for (size_t i = 0; i < json_array_size(cases); i++) {
        if (conform_mine(dealt))
            check_case(run, file, json_array_get(cases, i));
        note_sizes(json_array_get(cases, i), sizes);
    }
    /* A source has nothing below that could fail, from_tensors always one element; no recorded file
     * has one record. */
    for (int i = 0; i < 4 && cases != NULL; i++) {
        bool exempt = (i == 3 && source) || (strcmp(op->name, "from_tensors") == 0 && i != 1) ||
                      (strcmp(op->name, "tf_record_dataset") == 0 && i == 1);
        if (!sizes[i] && !exempt)
            golden_broken(run, "%s: no case with %s", file, names[i]);
    }
    json_decref(cases);
}

static void run_init(golden_run *run) {
    /* Paths in the cases are relative to the recorded data. */
    assert_int_equal(chdir(RECORDED), 0);
    *run = (golden_run){.modes = UINT32_MAX, .seed = 1};
    run->reasons = json_object();
    run->exclusions = json_object();
    golden_generators_begin();
}

static void run_fini(golden_run *run) {
    if (run->skipped > 0)
        golden_summary(run);
    int failed = run->failed + run->broken + run->skipped;
    json_decref(run->reasons);
    json_decref(run->exclusions);
    leat_seed_clear();
    assert_int_equal(golden_generators_end(), 0);
    assert_int_equal(chdir(LEATI_SOURCE_DIR), 0);
    assert_int_equal(failed, 0);
}

static void test_operators(void **state) {
    (void)state;
    golden_run run;
    size_t count = 0, dealt = 0;
    const leati_dataset_op *const *ops = leati_plan_ops(&count);
    run_init(&run);
    for (size_t i = 0; i < count; i++)
        if ((ops[i]->flags & LEATI_OP_REMOTE) == 0)
            check_operator(&run, ops[i], &dealt);
    run_fini(&run);
}

/* Every case that is short. */
static void test_memory(void **state) {
    (void)state;
    golden_run run;
    size_t count = 0, dealt = 0;
    const leati_dataset_op *const *ops = leati_plan_ops(&count);
    run_init(&run);
    for (size_t i = 0; i < count; i++) {
        if ((ops[i]->flags & LEATI_OP_REMOTE) != 0)
            continue;
        json_t *cases = read_cases(&run, ops[i]->name);
        for (size_t k = 0; k < json_array_size(cases); k++) {
            const json_t *json = json_array_get(cases, k);
            const json_t *elements = json_object_get(json_object_get(json, "expect"), "elements");
            const json_t *limit = json_array_get(json_object_get(json, "iterate"), 0);
            if (is_error_case(json) || json_array_size(elements) > TORTURED ||
                json_is_integer(limit) || !conform_mine(&dealt))
                continue;
            print_message("%s: %s\n", ops[i]->name, golden_text(json, "name"));
            char folder[512];
            json_t *own = in_folder(json, folder);
            data_torture(own, folder);
            out_of_folder(own, folder);
        }
        json_decref(cases);
    }
    run_fini(&run);
}

/* Random access, with the cases of all operators and the compositions; most plans have none. */
static void test_at(void **state) {
    (void)state;
    golden_run run;
    size_t count = 0, compared = 0, shuffled = 0;
    const leati_dataset_op *const *ops = leati_plan_ops(&count);
    run_init(&run);
    for (size_t i = 0; i <= count; i++) {
        if (i < count && (ops[i]->flags & LEATI_OP_REMOTE) != 0)
            continue;
        const char *name = i < count ? ops[i]->name : "compositions";
        json_t *cases = read_cases(&run, name);
        for (size_t k = 0; k < json_array_size(cases); k++) {
            char folder[512];
            json_t *json = in_folder(json_array_get(cases, k), folder);
            golden_case c;
            begin(&c, &run, name, json, "at");
            bool can = !is_error_case(json) && data_at(&c, json);
            golden_end(&c);
            compared += can;
            begin(&c, &run, name, json, "globally shuffled");
            shuffled += !is_error_case(json) && data_over_shuffle(&c, json);
            golden_end(&c);
            if (can && json_array_size(json_object_get(json_object_get(json, "expect"),
                                                       "elements")) <= TORTURED_AT)
                data_at_torture(json);
            out_of_folder(json, folder);
        }
        json_decref(cases);
    }
    print_message("%zu cases compared, %zu shuffled\n", compared, shuffled);
    assert_true(compared >= 60 && shuffled >= 40);
    run_fini(&run);
}

static void test_compositions(void **state) {
    (void)state;
    golden_run run;
    size_t dealt = 0;
    run_init(&run);
    json_t *cases = read_cases(&run, "compositions");
    assert_true(json_array_size(cases) >= 200);
    for (size_t i = 0; i < json_array_size(cases); i++) {
        const json_t *json = json_array_get(cases, i);
        golden_case c;
        if (!conform_mine(&dealt))
            continue;
        golden_tfdata_case(&run, "conform/data/compositions.json", json);
        begin(&c, &run, "conform/data/compositions.json", json, "wants");
        check_wants(&c, json, 100 + i);
        golden_end(&c);
    }
    json_decref(cases);
    run_fini(&run);
}

int conform_data(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operators),
        cmocka_unit_test(test_compositions),
    };
    return cmocka_run_group_tests_name("data", tests, NULL, NULL);
}

int conform_data_at(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_at)};
    return cmocka_run_group_tests_name("data_at", tests, NULL, NULL);
}

int conform_data_memory(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_memory)};
    return cmocka_run_group_tests_name("data_memory", tests, NULL, NULL);
}
