/* Every dataset operator behind a data service: the cases of tests/conform/data, read from one, two
 * and three workers under the processing modes.
 *
 * Expected are the case's own outcomes. One worker gives them in their order under every mode, as
 * all splits and all shares are its own. Of several workers each gives them under OFF; under DATA
 * each keeps every second or third of them, and under HINT, too, where the case has a
 * shard(SHARD_HINT, SHARD_HINT) behind it. Under DYNAMIC, FILE and FILE_OR_DATA all together give
 * the same outcomes where operators work on elements one by one; those that look at neighbours, of
 * which a worker has other ones, stand in data_service.json with what they then give, beside those
 * that write a folder of all workers. */
#include "support/cmocka.h"

#include "conform.h"
#include "data/plan/op.h"
#include "data/shares/splits.h"
#include "support/golden.h"
#include <leat/leat.h>
#include <leat/service.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FOLDER LEATI_SOURCE_DIR "/tests/conform/data"
#define RECORDED LEATI_SOURCE_DIR "/tests/golden/data"

enum { MOST_WORKERS = 3, /* and as many clusters, of one worker and more */ MOST_OUTCOMES = 600 };

typedef struct cluster {
    leat_dispatcher *dispatcher;
    leat_worker *workers[MOST_WORKERS];
    int count;
} cluster;

/* A processing mode, and what is known of it. */
typedef struct mode {
    const char *name;
    leat_service_policy policy;
    bool deals; /* workers have other neighbours than elements have in the whole */
} mode;

static const mode modes[] = {
    {"off", LEAT_SERVICE_OFF, false},
    {"dynamic", LEAT_SERVICE_DYNAMIC, true},
    {"file", LEAT_SERVICE_FILE, true},
    {"data", LEAT_SERVICE_DATA, false},
    {"file_or_data", LEAT_SERVICE_FILE_OR_DATA, true},
    {"hint", LEAT_SERVICE_HINT, false},
};

typedef struct suite {
    golden_run run;
    cluster clusters[MOST_WORKERS];
    json_t *neighbours; /* operators that look at them */
    json_t *folders;    /* operators that write one, which workers share */
    size_t compared, refused, differing;
} suite;

/* ---- clusters ---- */

static void check(bool good, const leat_error *err) {
    if (!good)
        fail_msg("%s", err->text);
}

static void start(cluster *c, int count) {
    static const char *const addresses[MOST_WORKERS] = {"localhost", "localhost", "localhost"};
    leat_error err = {0};
    leat_dispatcher_options options = {LEAT_DISPATCHER_DEFAULTS, .protocol = "local",
                                       .worker_addresses = addresses,
                                       .num_worker_addresses = (size_t)count};
    c->count = count;
    c->dispatcher = leat_dispatcher_new(&options, &err);
    check(c->dispatcher != NULL, &err);
    check(leat_dispatcher_start(c->dispatcher, &err) == LEAT_OK, &err);
    for (int i = 0; i < count; i++) {
        leat_worker_options worker = {LEAT_WORKER_DEFAULTS, .protocol = "local",
                                      .dispatcher_address = leat_dispatcher_target(c->dispatcher)};
        c->workers[i] = leat_worker_new(&worker, &err);
        check(c->workers[i] != NULL, &err);
        check(leat_worker_start(c->workers[i], &err) == LEAT_OK, &err);
    }
}

static void stop(cluster *c) {
    for (int i = 0; i < c->count; i++)
        leat_worker_free(c->workers[i]);
    leat_dispatcher_free(c->dispatcher);
}

/* ---- one case ---- */

/* Does the plan have an operator whose elements depend on what else its worker has? Its descriptor
 * says so of sources that each worker runs in full, and of inputs that go in step. */
static bool looks_at_neighbours(const suite *s, const leat_dataset *dataset) {
    leati_splits_part part = dataset->op->splits;
    bool found = json_object_get(s->neighbours, dataset->op->name) != NULL ||
                 part == LEATI_SPLITS_LOCAL || part == LEATI_SPLITS_IN_STEP;
    for (int i = 0; i < dataset->num_inputs && !found; i++)
        found = looks_at_neighbours(s, dataset->inputs[i]);
    if (found || dataset->op->expand == NULL)
        return found;
    leat_error err = {0};
    leat_dataset *plan = dataset->op->expand(dataset, &err);
    check(plan != NULL, &err);
    found = looks_at_neighbours(s, plan);
    leat_dataset_unref(plan);
    return found;
}

static bool writes_folder(const suite *s, const leat_dataset *dataset) {
    bool found = json_object_get(s->folders, dataset->op->name) != NULL;
    for (int i = 0; i < dataset->num_inputs && !found; i++)
        found = writes_folder(s, dataset->inputs[i]);
    return found;
}

/* Operators that stand for a plan may read their input in several places, which share the draws of
 * what is below; over splits each of them has its own. */
static bool draws_in_places(const leat_dataset *dataset, bool in_places) {
    if (in_places && (dataset->op->flags & LEATI_OP_SEED_GENERATOR) != 0)
        return true;
    bool found = false;
    for (int i = 0; i < dataset->num_inputs && !found; i++)
        found = draws_in_places(dataset->inputs[i], in_places || dataset->op->expand != NULL);
    return found;
}

static bool is_error(const json_t *outcome) {
    return json_object_get(outcome, "error") != NULL;
}

static size_t count_errors(const json_t *elements) {
    size_t count = 0;
    for (size_t i = 0; i < json_array_size(elements); i++)
        count += is_error(json_array_get(elements, i));
    return count;
}

/* Does each worker compute everything, and keep its share of the elements? */
static bool keeps_share(const mode *m) {
    return m->policy == LEAT_SERVICE_DATA || m->policy == LEAT_SERVICE_HINT;
}

/* The outcomes as often as workers give them: each that keeps a share meets all errors. Owned. */
static json_t *expected_of(const json_t *elements, const mode *m, int workers) {
    json_t *out = json_array();
    for (size_t i = 0; i < json_array_size(elements); i++) {
        json_t *outcome = json_array_get(elements, i);
        bool all = m->policy == LEAT_SERVICE_OFF || (keeps_share(m) && is_error(outcome));
        for (int w = 0; w < (all ? workers : 1); w++)
            json_array_append(out, outcome);
    }
    return out;
}

/* Shares of elements are for as many elements as workers, in an order on which these agree; behind
 * an error each of them begins its count anew, as shard does. */
static bool goes_with(const json_t *json, const mode *m, int workers) {
    const json_t *elements = json_object_get(json_object_get(json, "expect"), "elements");
    size_t errors = count_errors(elements), good = json_array_size(elements) - errors;
    if (workers == 1 || !(keeps_share(m) || m->policy == LEAT_SERVICE_FILE_OR_DATA))
        return true;
    return good >= (size_t)workers && errors == 0 && !golden_bool(json, "unordered", false);
}

static leat_iterator *opened(const cluster *from, leat_dataset *dataset, const mode *m,
                             leat_error *err) {
    leat_service_options options = {LEAT_SERVICE_DEFAULTS, .processing_mode = m->policy,
                                    .task_refresh_interval_hint_ms = 20};
    leat_dataset *given = leat_dataset_ref(dataset);
    if (m->policy == LEAT_SERVICE_HINT)
        given = leat_dataset_shard(given, -1, -1, err);
    leat_dataset *read =
        leat_service_distribute(given, leat_dispatcher_target(from->dispatcher), &options, err);
    leat_iterator *iterator = read == NULL ? NULL : leat_iterator_new(read, NULL, err);
    leat_dataset_unref(read);
    return iterator;
}

/* Is what the service says no failure of the operator, but a mode that it does not go with? FILE
 * says NOT_FOUND where there are no files, INVALID_ARGUMENT where there are fewer than workers. */
static bool is_refused(const json_t *found, const mode *m, int workers) {
    const char *first = golden_text(json_array_get(found, 0), "error");
    bool file =
        (m->policy == LEAT_SERVICE_FILE || m->policy == LEAT_SERVICE_FILE_OR_DATA) && workers > 1;
    return strcmp(first, "UNIMPLEMENTED") == 0 ||
           (file && (strcmp(first, "NOT_FOUND") == 0 || strcmp(first, "INVALID_ARGUMENT") == 0));
}

static void compare(suite *s, golden_case *c, const json_t *json, leat_dataset *dataset,
                    const cluster *from, const mode *m) {
    const json_t *elements = json_object_get(json_object_get(json, "expect"), "elements");
    bool one = from->count == 1;
    if (one ? m->policy == LEAT_SERVICE_DYNAMIC && draws_in_places(dataset, false)
            : (m->deals && looks_at_neighbours(s, dataset)) ||
                  (count_errors(elements) > 0 && writes_folder(s, dataset))) {
        s->differing++;
        return;
    }
    json_t *expected = expected_of(elements, m, from->count), *found = json_array();
    leat_error err = {0};
    leat_iterator *iterator = opened(from, dataset, m, &err);
    if (iterator == NULL) {
        s->refused++;
        if (err.code != LEAT_UNIMPLEMENTED && err.code != LEAT_FAILED_PRECONDITION)
            golden_fail(c, "%s", err.text);
    } else if (golden_iterate(c, iterator, -1, MOST_OUTCOMES, found)) {
        if (is_refused(found, m, from->count)) {
            s->refused++;
        } else {
            s->compared++;
            golden_compare(c, m->name, expected, found,
                           !one || golden_bool(json, "unordered", false));
        }
    }
    leat_iterator_free(iterator);
    json_decref(expected);
    json_decref(found);
}

static void check_mode(suite *s, const char *file, const json_t *json, const cluster *from,
                       const mode *m) {
    char folder[512], name[64];
    golden_case c;
    golden_pipeline pipeline;
    leat_error err = {0};
    assert_true(golden_folder_make(folder, sizeof folder));
    json_t *own = golden_with_folder(json, folder);
    golden_begin(&c, &s->run, file, golden_text(json, "name"));
    (void)snprintf(name, sizeof name, "%s of %d", m->name, from->count);
    c.mode = name;
    if (golden_build(own, &pipeline, &err) == LEAT_OK) {
        compare(s, &c, own, pipeline.dataset, from, m);
        golden_pipeline_fini(&pipeline);
    } else {
        golden_fail(&c, "building: %s", err.text);
    }
    golden_end(&c);
    json_decref(own);
    golden_folder_remove(folder);
}

/* Errors of a plan, endless ones and such that are read in part are no multisets of a service. */
static bool is_fit(const json_t *json) {
    const json_t *expect = json_object_get(json, "expect");
    return json_object_get(expect, "error") == NULL &&
           !json_is_integer(json_array_get(json_object_get(json, "iterate"), 0));
}

static void check_operator(suite *s, const leati_dataset_op *op) {
    char path[1024], file[200];
    (void)snprintf(path, sizeof path, FOLDER "/%s.json", op->name);
    (void)snprintf(file, sizeof file, "conform/data/%s.json", op->name);
    json_t *cases = golden_read_cases(&s->run, path);
    for (size_t i = 0; i < json_array_size(cases); i++) {
        const json_t *json = json_array_get(cases, i);
        for (size_t m = 0; is_fit(json) && m < sizeof modes / sizeof *modes; m++)
            for (int w = 0; w < MOST_WORKERS; w++)
                if (goes_with(json, &modes[m], s->clusters[w].count))
                    check_mode(s, file, json, &s->clusters[w], &modes[m]);
    }
    json_decref(cases);
}

static void test_operators(void **state) {
    (void)state;
    suite s = {.run = {.modes = UINT32_MAX, .seed = 1}};
    size_t count = 0, dealt = 0;
    const leati_dataset_op *const *ops = leati_plan_ops(&count);
    assert_int_equal(chdir(RECORDED), 0);
    s.run.reasons = json_object();
    s.run.exclusions = json_object();
    json_t *known = golden_read_json(&s.run, LEATI_SOURCE_DIR "/tests/conform/data_service.json");
    s.neighbours = json_object_get(known, "neighbours");
    s.folders = json_object_get(known, "folders");
    assert_non_null(s.neighbours);
    assert_non_null(s.folders);
    golden_generators_begin();
    for (int w = 0; w < MOST_WORKERS; w++)
        start(&s.clusters[w], w + 1);
    for (size_t i = 0; i < count; i++)
        if ((ops[i]->flags & LEATI_OP_REMOTE) == 0 && conform_mine(&dealt))
            check_operator(&s, ops[i]);
    for (int w = 0; w < MOST_WORKERS; w++)
        stop(&s.clusters[w]);
    print_message("%zu compared, %zu refused, %zu with other neighbours\n", s.compared, s.refused,
                  s.differing);
    json_decref(known);
    json_decref(s.run.reasons);
    json_decref(s.run.exclusions);
    leat_seed_clear();
    assert_int_equal(golden_generators_end(), 0);
    assert_int_equal(chdir(LEATI_SOURCE_DIR), 0);
    assert_true(s.compared > 0);
    assert_int_equal(s.run.failed + s.run.broken + s.run.skipped, 0);
}

int conform_data_service(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_operators)};
    return cmocka_run_group_tests_name("data_service", tests, NULL, NULL);
}
