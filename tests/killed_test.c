/* Saved states and files across processes that are killed: random compositions are killed in the
 * middle and go on in new processes, and writers of saved datasets, snapshots and caches that are
 * killed leave nothing that reads as finished. Every iterator lives in a child, so nothing but
 * files passes from one to the next. */
#include "support/cmocka.h"

#include "support/killed.h"
#include "support/scratch.h"
#include <leat/data_ops.h>

enum { EACH = 10, ELEMENTS = 200, GOOD = 0, WRONG = 1 };

static void test_compositions(void **state) {
    (void)state;
    golden_run run = {.modes = GOLDEN_PLAIN, .seed = 1};
    json_t *cases =
        golden_read_cases(&run, LEATI_SOURCE_DIR "/tests/conform/data/compositions.json");
    size_t count = json_array_size(cases), restored = 0;
    assert_true(count >= 200);
    for (size_t i = 0; i < count; i += EACH) {
        const json_t *json = json_array_get(cases, i);
        golden_case c;
        golden_begin(&c, &run, "conform/data/compositions.json", golden_text(json, "name"));
        restored += killed_case(&c, json, 1000 + i);
        golden_end(&c);
    }
    json_decref(cases);
    assert_int_equal(run.failed, 0);
    assert_true(restored >= count / EACH * 9 / 10);
}

/* ---- writers ---- */

struct writing {
    const char *path, *checkpoint;
    int64_t expected; /* what a step expects: a code, or a number of elements */
};

/* Hands a number on; a place where the process may be killed. */
static leat_status pass(void *context, const leat_element *in, leat_element *out, leat_error *err) {
    (void)context;
    killed_reached();
    return leat_element_set(out, in->spec, in->tensors, err);
}

static leat_dataset *numbers(leat_error *err) {
    leat_spec *spec = leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, err);
    leat_function *function =
        LEAT_CALLBACK(pass, NULL, NULL, "pass", 0, leat_spec_ref(spec), spec, err);
    return leat_dataset_map(leat_dataset_range(0, ELEMENTS, 1, NULL, err), function, NULL, err);
}

/* Are the dataset's (given) elements 0, 1, ... in order, to the end? */
static int check_numbers(leat_dataset *dataset, leat_error *err) {
    leat_iterator *iterator = dataset == NULL ? NULL : leat_iterator_new(dataset, NULL, err);
    leat_element element = {0};
    int64_t next = 0;
    leat_status status = iterator == NULL ? err->code : LEAT_OK;
    while (status == LEAT_OK && next <= ELEMENTS) {
        status = leat_iterator_next(iterator, &element, err);
        if (status == LEAT_OK && *(const int64_t *)element.tensors[0].data != next++)
            return WRONG;
    }
    leat_element_fini(&element);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
    if (status == LEAT_OUT_OF_RANGE && next == ELEMENTS)
        return GOOD;
    fprintf(stderr, "after %lld numbers: %s: %s\n", (long long)next, leat_status_name(err->code),
            err->text);
    return WRONG;
}

static int save(void *context) {
    const struct writing *w = context;
    leat_error err = {0};
    leat_dataset_save_options options = {LEAT_DATASET_SAVE_DEFAULTS, .checkpoint = w->checkpoint,
                                         .checkpoint_interval = 30};
    leat_dataset *dataset = numbers(&err);
    leat_status status = leat_dataset_save(dataset, w->path, &options, &err);
    leat_dataset_unref(dataset);
    return status == LEAT_OK ? GOOD : WRONG;
}

static int load(void *context) {
    const struct writing *w = context;
    leat_error err = {0};
    return check_numbers(leat_dataset_load(w->path, NULL, &err), &err);
}

static int load_nothing(void *context) {
    const struct writing *w = context;
    leat_error err = {0};
    leat_dataset *dataset = leat_dataset_load(w->path, NULL, &err);
    leat_dataset_unref(dataset);
    return dataset == NULL && err.code == LEAT_NOT_FOUND ? GOOD : WRONG;
}

static int snapshot(void *context) {
    const struct writing *w = context;
    leat_error err = {0};
    return check_numbers(leat_dataset_snapshot(numbers(&err), w->path, NULL, &err), &err);
}

static int cache(void *context) {
    const struct writing *w = context;
    leat_error err = {0};
    return check_numbers(leat_dataset_cache_to_file(numbers(&err), w->path, &err), &err);
}

/* Kills `body` after `places` elements of its dataset. */
static void kill_at(killed_body body, struct writing *w, int places) {
    assert_int_equal(killed_run(body, w, places, true), -1);
}

static void run(killed_body body, struct writing *w) {
    assert_int_equal(killed_run(body, w, -1, false), GOOD);
}

static const int places[] = {1, 29, 31, 100, 199};

#define NUM_PLACES (sizeof places / sizeof places[0])

static void test_save(void **state) {
    (void)state;
    for (size_t i = 0; i < NUM_PLACES; i++) {
        char name[32], path[1024];
        snprintf(name, sizeof name, "save%zu", i);
        snprintf(path, sizeof path, "%s", scratch_path(name));
        struct writing w = {.path = path};
        kill_at(save, &w, places[i]);
        run(load_nothing, &w);
        run(save, &w);
        run(load, &w);
        /* What was saved stays while it is saved again. */
        kill_at(save, &w, places[i]);
        run(load, &w);
    }
}

static void test_checkpoint(void **state) {
    (void)state;
    for (size_t i = 0; i < NUM_PLACES; i++) {
        char name[32], path[1024], progress[1100];
        snprintf(name, sizeof name, "long%zu", i);
        snprintf(path, sizeof path, "%s", scratch_path(name));
        snprintf(progress, sizeof progress, "%s.progress", path);
        struct writing w = {.path = path, .checkpoint = progress};
        kill_at(save, &w, places[i]);
        run(load_nothing, &w);
        if (places[i] > 1)
            (void)killed_run(save, &w, 40, true); /* in the rest, which may be shorter */
        run(save, &w);
        run(load, &w);
    }
}

static void test_snapshot(void **state) {
    (void)state;
    for (size_t i = 0; i < NUM_PLACES; i++) {
        char name[32], path[1024];
        snprintf(name, sizeof name, "snapshot%zu", i);
        snprintf(path, sizeof path, "%s", scratch_path(name));
        struct writing w = {.path = path};
        kill_at(snapshot, &w, places[i]);
        /* Another process computes all of it, the next one reads: it is not killed on the way. */
        kill_at(snapshot, &w, 1);
        run(snapshot, &w);
        assert_int_equal(killed_run(snapshot, &w, 1, true), GOOD);
    }
}

static void test_cache(void **state) {
    (void)state;
    for (size_t i = 0; i < NUM_PLACES; i++) {
        char name[32], path[1024];
        snprintf(name, sizeof name, "cache%zu", i);
        snprintf(path, sizeof path, "%s", scratch_path(name));
        struct writing w = {.path = path};
        kill_at(cache, &w, places[i]);
        run(cache, &w);
        assert_int_equal(killed_run(cache, &w, 1, true), GOOD);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_compositions), cmocka_unit_test(test_save),
        cmocka_unit_test(test_checkpoint),   cmocka_unit_test(test_snapshot),
        cmocka_unit_test(test_cache),
    };
    return cmocka_run_group_tests_name("killed", tests, scratch_setup, scratch_teardown);
}
