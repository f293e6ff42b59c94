/* Saved and restored at every outcome: the first iteration of a case is run once, its state is
 * taken before the first outcome, after each one and at the end; each state is given to a fresh
 * iterator, which must deliver exactly the rest. */
#include "golden.h"
#include <stdlib.h>
#include <string.h>

typedef struct state {
    char *data;
    size_t size;
} state;

/* Does an operator of that name occur? */
static bool has_operator(const json_t *json, const char *name) {
    const char *key = NULL;
    json_t *value = NULL;
    bool found = strcmp(golden_text(json, "op"), name) == 0;
    for (size_t i = 0; i < json_array_size(json) && !found; i++)
        found = has_operator(json_array_get(json, i), name);
    json_object_foreach((json_t *)json, key, value) {
        found = found || has_operator(value, name);
    }
    return found;
}

/* A generator that was not declared pure: saving is UNIMPLEMENTED. */
static bool is_lost(const json_t *json) {
    char *text = has_operator(json, "from_generator")
                     ? leati_json_print(json, 0, false, &(leat_error){0})
                     : NULL;
    bool lost = text != NULL && strstr(text, ".pure\"") == NULL;
    leati_free(text);
    return lost;
}

/* Runs `iterator` and saves around each outcome: states[i] is taken before outcome i. Returns how
 * many states there are, or 0 after golden_fail or golden_exclude. */
static size_t take_states(golden_case *c, leat_iterator *iterator, size_t count, bool lost,
                          state *states, json_t *found) {
    for (size_t i = 0; i <= count; i++) {
        leat_error err = {0};
        /* Every other state holds the elements that operators keep. */
        leat_iterator_save_options options = {LEAT_ITERATOR_SAVE_DEFAULTS,
                                              .mode = i % 2 == 1 ? LEAT_SAVE_DATA : LEAT_SAVE_AUTO};
        leat_status status = leat_iterator_save_with(iterator, &options, &states[i].data,
                                                     &states[i].size, NULL, &err);
        if (status == (lost ? LEAT_UNIMPLEMENTED : LEAT_FAILED_PRECONDITION)) {
            golden_exclude(c, "%s", err.text);
            return 0;
        }
        if (status != LEAT_OK) {
            golden_fail(c, "saving before outcome %zu: %s: %s", i, leat_status_name(status),
                        err.text);
            return 0;
        }
        if (i < count && !golden_iterate(c, iterator, 1, count, found))
            return 0;
    }
    return count + 1;
}

/* Restores `saved` over `dataset`, and compares what follows with the outcomes from `begin` on. */
static bool check_rest(golden_case *c, leat_dataset *dataset, const state *saved, size_t begin,
                       int64_t limit, const json_t *expected, const json_t *before,
                       bool unordered) {
    leat_error err = {0};
    char what[100];
    leat_iterator *iterator = leat_iterator_new(dataset, NULL, &err);
    leat_status status = iterator == NULL
                             ? err.code
                             : leat_iterator_restore(iterator, saved->data, saved->size, &err);
    if (status != LEAT_OK) {
        golden_fail(c, "restoring at outcome %zu: %s: %s", begin, leat_status_name(status),
                    err.text);
        leat_iterator_free(iterator);
        return false;
    }
    json_t *found = json_array();
    for (size_t i = 0; i < begin; i++)
        json_array_append(found, json_array_get(before, i));
    snprintf(what, sizeof what, "restored at %zu: outcome", begin);
    bool good = golden_iterate(c, iterator, limit < 0 ? -1 : limit - (int64_t)begin,
                               json_array_size(expected) + 3, found);
    leat_iterator_free(iterator);
    good = good && golden_compare(c, what, expected, found, unordered);
    json_decref(found);
    return good;
}

static void check_states(golden_case *c, const json_t *json, golden_pipeline *pipeline, bool anew) {
    const json_t *limit = json_array_get(json_object_get(json, "iterate"), 0);
    const json_t *expected = json_object_get(json_object_get(json, "expect"), "elements");
    const bool unordered = golden_bool(json, "unordered", false);
    size_t count = json_array_size(expected), taken = 0;
    int64_t calls = json_is_integer(limit) ? json_integer_value(limit) : -1;
    leat_error err = {0};
    leat_iterator *iterator = leat_iterator_new(pipeline->dataset, NULL, &err);
    state *states = calloc(count + 1, sizeof *states);
    json_t *found = json_array();
    if (iterator == NULL)
        golden_fail(c, "opening: %s: %s", leat_status_name(err.code), err.text);
    else
        taken = take_states(c, iterator, count, is_lost(json), states, found);
    leat_iterator_free(iterator);
    bool good = taken > 0 && golden_compare(c, "outcome", expected, found, unordered);
    for (size_t i = 0; good && i < taken; i++) {
        if (anew) {
            golden_pipeline_fini(pipeline);
            leat_status status = golden_build(json, pipeline, &err);
            if (status != LEAT_OK) {
                golden_fail(c, "building again: %s", err.text);
                break;
            }
        }
        good = check_rest(c, pipeline->dataset, &states[i], i, calls, expected, found, unordered);
    }
    for (size_t i = 0; i <= count; i++)
        leat_text_free(states[i].data);
    free(states);
    json_decref(found);
}

void golden_restore(golden_case *c, const json_t *json, bool anew) {
    golden_pipeline pipeline;
    leat_error err = {0};
    if (!anew && has_operator(json, "cache")) {
        golden_exclude(c, "the first iteration fills a cache, which the later ones read");
        return;
    }
    leat_status status = golden_build(json, &pipeline, &err);
    if (status != LEAT_OK) {
        golden_fail(c, "building: %s: %s", leat_status_name(status), err.text);
        return;
    }
    check_states(c, json, &pipeline, anew);
    golden_pipeline_fini(&pipeline);
}
