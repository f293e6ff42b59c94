/* The part tfdata: each case's pipeline is built, iterated and compared in each of the chosen
 * modes.
 *
 * A case's paths are relative to the folder; "$TMP" in its strings becomes a fresh empty folder,
 * one per mode, removed behind it. */
#include "golden.h"
#include <stdlib.h>
#include <string.h>

/* ---- one case in one mode ---- */

static leat_iterator_options options_of(const golden_run *run, uint32_t mode) {
    leat_iterator_options options = {LEAT_ITERATOR_DEFAULTS};
    if (mode == GOLDEN_THREADS_1)
        options.num_threads = 1;
    if (mode == GOLDEN_THREADS_2)
        options.num_threads = 2;
    if (mode == GOLDEN_THREADS_8)
        options.num_threads = 8;
    options.verify = mode == GOLDEN_VERIFY;
    options.verify_seed = run->seed;
    options.rewrites = mode != GOLDEN_NO_REWRITES;
    return options;
}

static void check_error(golden_case *c, const json_t *expected, const leat_error *found) {
    const char *code = golden_text(expected, "code");
    if (found->code == LEAT_OK)
        golden_fail(c, "expected %s at %s, found no error", code, golden_text(expected, "when"));
    else if (strcmp(code, leat_status_name(found->code)) != 0)
        golden_fail(c, "expected %s at %s, found %s: %s", code, golden_text(expected, "when"),
                    leat_status_name(found->code), found->text);
}

static void check_spec(golden_case *c, const json_t *expect, const leat_dataset *dataset) {
    const json_t *spec = json_object_get(expect, "element_spec");
    const json_t *cardinality = json_object_get(expect, "cardinality");
    leat_error err = {0};
    char texts[2][600];
    if (spec != NULL) {
        json_t *found = leati_json_of_spec(leat_dataset_spec(dataset), &err);
        if (!golden_json_equal(spec, found)) {
            golden_json_text(spec, texts[0], sizeof texts[0]);
            golden_json_text(found, texts[1], sizeof texts[1]);
            golden_fail(c, "element_spec: expected %s, found %s", texts[0], texts[1]);
        }
        json_decref(found);
    }
    long long expected = (long long)json_integer_value(cardinality);
    if (cardinality != NULL && expected != (long long)leat_dataset_cardinality(dataset))
        golden_fail(c, "cardinality: expected %lld, found %lld", expected,
                    (long long)leat_dataset_cardinality(dataset));
}

/* A terminal operation that gives an element. */
static void check_value(golden_case *c, const json_t *json, leat_dataset *dataset) {
    const json_t *expect = json_object_get(json, "expect");
    leat_element element = {0};
    leat_error err = {0};
    char texts[2][600];
    leat_status status =
        golden_terminal(dataset, json_object_get(json, "terminal"), &element, &err);
    if (json_object_get(expect, "error") != NULL) {
        check_error(c, json_object_get(expect, "error"), &err);
    } else if (status != LEAT_OK) {
        golden_fail(c, "expected a value, found %s: %s", leat_status_name(status), err.text);
    } else {
        json_t *found = leati_json_of_element_with(&element, golden_dataset_value, NULL, &err);
        golden_json_text(json_object_get(expect, "value"), texts[0], sizeof texts[0]);
        golden_json_text(found, texts[1], sizeof texts[1]);
        if (!golden_json_equal(json_object_get(expect, "value"), found))
            golden_fail(c, "value: expected %s, found %s", texts[0], texts[1]);
        json_decref(found);
    }
    leat_element_fini(&element);
}

/* cardinality and len() here, what gives elements in golden_terminal.c. */
static void check_terminal(golden_case *c, const json_t *json, leat_dataset *dataset) {
    if (golden_terminal_known(golden_text(json_object_get(json, "terminal"), "op"))) {
        check_value(c, json, dataset);
        return;
    }
    const json_t *expect = json_object_get(json, "expect");
    const json_t *error = json_object_get(expect, "error");
    bool length = strcmp(golden_text(json_object_get(json, "terminal"), "op"), "length") == 0;
    long long found = (long long)leat_dataset_cardinality(dataset);
    leat_error none = {0};
    if (length && found < 0)
        leati_fail(&none, LEAT_INVALID_ARGUMENT, "the dataset has no length");
    if (error != NULL) {
        check_error(c, error, &none);
        return;
    }
    const json_t *value = json_object_get(expect, "value");
    long long expected =
        (long long)json_integer_value(json_array_get(json_object_get(value, "data"), 0));
    if (none.code != LEAT_OK)
        golden_fail(c, "length: expected %lld, found %s", expected, none.text);
    else if (expected != found)
        golden_fail(c, "%s: expected %lld, found %lld", length ? "length" : "cardinality", expected,
                    found);
}

static void check_iterations(golden_case *c, const json_t *json, leat_dataset *dataset,
                             const leat_iterator_options *options) {
    static const char *const keys[] = {"elements", "elements_epoch2", "elements_epoch3"};
    const json_t *iterate = json_object_get(json, "iterate");
    const json_t *expect = json_object_get(json, "expect");
    size_t epochs = iterate == NULL ? 1 : json_array_size(iterate);
    if (epochs > 3)
        golden_fail(c, "%zu iterators; the format has at most 3", epochs);
    for (size_t e = 0; e < epochs && e < 3; e++) {
        const json_t *limit = json_array_get(iterate, e);
        const json_t *expected = json_object_get(expect, keys[e]);
        int64_t calls = json_is_integer(limit) ? json_integer_value(limit) : -1;
        leat_error err = {0};
        leat_iterator *iterator = leat_iterator_new(dataset, options, &err);
        if (iterator == NULL) {
            golden_fail(c, "iterator %zu: %s: %s", e + 1, leat_status_name(err.code), err.text);
            return;
        }
        json_t *found = json_array();
        bool good = golden_iterate(c, iterator, calls, json_array_size(expected) + 3, found);
        leat_iterator_free(iterator);
        good = good &&
               golden_compare(c, keys[e], expected, found, golden_bool(json, "unordered", false));
        json_decref(found);
        if (!good)
            return;
    }
}

static bool has_shared_nodes(const json_t *json) {
    return json_object_get(json, "let") != NULL;
}

/* What TensorFlow sees below an operator: not those that do nothing. */
static const json_t *without_noops(const json_t *json) {
    static const struct noop {
        const char *op, *argument;
        json_int_t value;
    } noops[] = {{"take", "count", -1},
                 {"skip", "count", 0},
                 {"repeat", "count", 1},
                 {"prefetch", "buffer_size", 0}};
    for (size_t i = 0; json != NULL && i < sizeof noops / sizeof noops[0]; i++) {
        const json_t *value = json_object_get(json_object_get(json, "args"), noops[i].argument);
        if (strcmp(golden_text(json, "op"), noops[i].op) == 0 && json_is_integer(value) &&
            json_integer_value(value) == noops[i].value)
            return without_noops(json_object_get(json, "input"));
    }
    return json;
}

/* Does an operator stand directly over another, where TensorFlow runs the two as one, or is one
 * made of such? */
static bool is_fused(const json_t *json) {
    const char *key = NULL, *op = golden_text(json, "op");
    const char *below = golden_text(without_noops(json_object_get(json, "input")), "op");
    json_t *value = NULL;
    size_t i = 0;
    bool found = (strcmp(op, "batch") == 0 && strcmp(below, "map") == 0) ||
                 (strcmp(op, "repeat") == 0 && strcmp(below, "shuffle") == 0) ||
                 strcmp(op, "rejection_resample") == 0;
    json_object_foreach((json_t *)json, key, value) {
        found = found || is_fused(value);
    }
    json_array_foreach((json_t *)json, i, value) {
        found = found || is_fused(value);
    }
    return found;
}

/* Are there errors among the answers, is the order free, or do options speak of it? Then it shows
 * whether two were one. */
static bool shows_fusion(const json_t *json) {
    char *text = leati_json_print(json, 0, false, &(leat_error){0});
    bool shows = text != NULL && (strstr(text, "\"error\"") != NULL ||
                                  strstr(text, "_and_repeat_fusion\"") != NULL ||
                                  strstr(text, "\"deterministic\":false") != NULL ||
                                  strstr(text, "\"deterministic\": false") != NULL);
    leati_free(text);
    return shows;
}

static bool names_operator(const json_t *json, const char *quoted) {
    char *text = json == NULL ? NULL : leati_json_print(json, 0, false, &(leat_error){0});
    bool names = text != NULL && strstr(text, quoted) != NULL;
    leati_free(text);
    return names;
}

/* Is a choose_from_datasets built before the pipeline, so that it may be used twice, or below an
 * operator that uses its input twice? */
static bool shares_choice(const json_t *json) {
    static const char choose[] = "\"choose_from_datasets\"";
    const json_t *pipeline = json_object_get(json, "pipeline");
    return names_operator(json_object_get(json, "let"), choose) ||
           (names_operator(pipeline, choose) && names_operator(pipeline, "\"rejection_resample\""));
}

/* Why the case is not run in a mode; NULL: it is. */
static const char *excluded(const json_t *json, uint32_t mode, bool iterated) {
    if (mode != GOLDEN_PLAIN && !iterated)
        return "nothing is iterated";
    if (mode == GOLDEN_ROUND_TRIP && has_shared_nodes(json))
        return "one dataset object has two consumers, text makes two of it";
    if (mode != GOLDEN_NO_REWRITES)
        return NULL;
    if (is_fused(json_object_get(json, "pipeline")) && shows_fusion(json))
        return "what an error takes with it is decided by TensorFlow's own rewrites";
    return shares_choice(json)
               ? "whether uses of a choice share their seeds is decided by a rewrite"
               : NULL;
}

static void run_mode(golden_case *c, const json_t *json, uint32_t mode) {
    const json_t *error = json_object_get(json_object_get(json, "expect"), "error");
    const bool early = error != NULL && strcmp(golden_text(error, "when"), "terminal") != 0;
    const bool terminal = json_object_get(json, "terminal") != NULL;
    golden_pipeline pipeline;
    leat_error err = {0};
    const char *why = excluded(json, mode, !early && !terminal);
    if (why != NULL) {
        golden_exclude(c, "%s", why);
        return;
    }
    if (mode == GOLDEN_RESTORE || mode == GOLDEN_RESUME) {
        golden_restore(c, json, mode == GOLDEN_RESUME);
        return;
    }
    leat_iterator_options options = options_of(c->run, mode);
    leat_status status = golden_build(json, &pipeline, &err);
    if (status == LEAT_OK && mode == GOLDEN_ROUND_TRIP)
        status = golden_round_trip(&pipeline, &err);
    if (status == LEAT_OK && early) {
        leat_iterator *iterator = leat_iterator_new(pipeline.dataset, &options, &err);
        leat_iterator_free(iterator);
    }
    if (early) {
        check_error(c, error, &err);
    } else if (status != LEAT_OK) {
        golden_fail(c, "building: %s: %s", leat_status_name(status), err.text);
    } else {
        check_spec(c, json_object_get(json, "expect"), pipeline.dataset);
        if (terminal)
            check_terminal(c, json, pipeline.dataset);
        else
            check_iterations(c, json, pipeline.dataset, &options);
    }
    golden_pipeline_fini(&pipeline);
}

/* ---- the part ---- */

static void check_case_names(golden_case *c, const json_t *json) {
    const json_t *lets = json_object_get(json, "let"), *before = json_object_get(json, "before");
    const char *terminal = golden_text(json_object_get(json, "terminal"), "op");
    for (size_t i = 0; i < json_array_size(lets); i++)
        golden_check_names(c, json_object_get(json_array_get(lets, i), "node"));
    for (size_t i = 0; i < json_array_size(before); i++) {
        const json_t *action = json_array_get(before, i);
        if (strcmp(golden_text(action, "action"), "run") != 0 &&
            strcmp(golden_text(action, "action"), "save") != 0)
            golden_missing(c, "action %s", golden_text(action, "action"));
        golden_check_names(c, json_object_get(action, "pipeline"));
    }
    if (terminal[0] != '\0' && strcmp(terminal, "cardinality") != 0 &&
        strcmp(terminal, "length") != 0 && !golden_terminal_known(terminal))
        golden_missing(c, "terminal operation %s", terminal);
    golden_check_names(c, json_object_get(json, "pipeline"));
}

void golden_tfdata_case(golden_run *run, const char *file, const json_t *json) {
    static const char *const names[] = {"plain",      "threads1", "threads2",
                                        "threads8",   "verify",   "no_rewrites",
                                        "round_trip", "restore",  "resume"};
    golden_case c;
    if (!golden_begin(&c, run, file, golden_text(json, "name")))
        return;
    if (json_object_get(json, "pipeline") == NULL || json_object_get(json, "expect") == NULL)
        golden_fail(&c, "an unknown kind of case: expected pipeline and expect");
    else
        check_case_names(&c, json);
    json_t *own = golden_deviate(&c, json);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        uint32_t mode = 1u << i;
        char folder[512];
        if (c.missing[0] != '\0' || c.failed || (run->modes & mode) == 0)
            continue;
        c.mode = names[i];
        if (!golden_folder_make(folder, sizeof folder)) {
            golden_fail(&c, "cannot make a folder");
            continue;
        }
        json_t *whole = golden_with_folder(own, folder);
        run_mode(&c, whole, mode);
        json_decref(whole);
        golden_folder_remove(folder);
    }
    json_decref(own);
    golden_end(&c);
}

void golden_tfdata(golden_run *run) {
    json_t *files = golden_list(run, "tfdata");
    golden_generators_begin();
    for (size_t i = 0; i < json_array_size(files); i++) {
        char path[512];
        snprintf(path, sizeof path, "tfdata/%s", json_string_value(json_array_get(files, i)));
        json_t *cases = golden_read_cases(run, path);
        for (size_t k = 0; k < json_array_size(cases); k++)
            golden_tfdata_case(run, path, json_array_get(cases, k));
        json_decref(cases);
    }
    leat_seed_clear();
    json_decref(files);
    int running = golden_generators_end();
    if (running != 0)
        golden_broken(run, "%d runs of generators were not closed", running);
}
