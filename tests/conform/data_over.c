/* Operators over whole cases: see data_over.h. Expected are the case's own outcomes, rearranged. */
#include "data_over.h"
#include "data/plan/op.h"
#include <leat/leat.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 40 };

typedef leat_dataset *(*wrapper)(leat_dataset *input, int64_t number, leat_error *err);

static const json_t *elements_of(const json_t *json, const char *key) {
    return json_object_get(json_object_get(json, "expect"), key);
}

/* Of the first epoch: how many outcomes are taken; -1: all. */
static int64_t limit_of(const json_t *json) {
    const json_t *limit = json_array_get(json_object_get(json, "iterate"), 0);
    return json_is_integer(limit) ? json_integer_value(limit) : -1;
}

static bool is_unordered(const json_t *json) {
    return json_is_true(json_object_get(json, "unordered"));
}

/* Takes the case's outcomes with an operator over it, as many as are expected where the case has a
 * limit. */
static void check(golden_case *c, const json_t *json, wrapper wrap, int64_t number,
                  const json_t *expected) {
    golden_pipeline pipeline;
    leat_error err = {0};
    if (golden_build(json, &pipeline, &err) != LEAT_OK) {
        golden_fail(c, "building: %s", err.text);
        return;
    }
    size_t count = json_array_size(expected);
    leat_iterator_options options = {LEAT_ITERATOR_DEFAULTS, .num_threads = 2};
    pipeline.dataset = wrap(pipeline.dataset, number, &err);
    leat_iterator *iterator =
        pipeline.dataset == NULL ? NULL : leat_iterator_new(pipeline.dataset, &options, &err);
    json_t *found = json_array();
    if (iterator == NULL)
        golden_fail(c, "%s", err.text);
    else if (golden_iterate(c, iterator, limit_of(json) < 0 ? -1 : (int64_t)count, count + 3,
                            found))
        golden_compare(c, "elements", expected, found, false);
    leat_iterator_free(iterator);
    json_decref(found);
    golden_pipeline_fini(&pipeline);
}

static leat_iterator *opened(golden_case *c, const leat_dataset *dataset, int threads) {
    leat_error err = {0};
    leat_iterator_options options = {LEAT_ITERATOR_DEFAULTS, .num_threads = threads};
    leat_iterator *iterator = leat_iterator_new((leat_dataset *)(uintptr_t)dataset, &options, &err);
    if (iterator == NULL)
        golden_fail(c, "%s", err.text);
    return iterator;
}

/* A fresh iterator in the state of this one, which is freed; NULL where it cannot be saved. */
static leat_iterator *moved(golden_case *c, const leat_dataset *dataset, int threads,
                            leat_iterator *iterator) {
    char *data = NULL;
    size_t size = 0;
    leat_error err = {0};
    leat_status status = leat_iterator_save(iterator, &data, &size, NULL, &err);
    leat_iterator_free(iterator);
    if (status != LEAT_OK && status != LEAT_FAILED_PRECONDITION && status != LEAT_UNIMPLEMENTED)
        golden_fail(c, "saving: %s", err.text);
    if (status != LEAT_OK)
        return NULL;
    iterator = opened(c, dataset, threads);
    if (leat_iterator_restore(iterator, data, size, &err) != LEAT_OK)
        golden_fail(c, "restoring: %s: %s", leat_status_name(err.code), err.text);
    leat_text_free(data);
    return iterator;
}

/* Saved and restored after each outcome. */
static void check_restored(golden_case *c, const json_t *json, wrapper wrap, int64_t number,
                           const json_t *expected) {
    golden_pipeline pipeline;
    leat_error err = {0};
    if (golden_build(json, &pipeline, &err) != LEAT_OK)
        return; /* noted already */
    pipeline.dataset = wrap(pipeline.dataset, number, &err);
    leat_iterator *iterator = opened(c, pipeline.dataset, 2);
    json_t *found = json_array();
    for (size_t i = 0; iterator != NULL && i < json_array_size(expected) && !c->failed; i++) {
        golden_iterate(c, iterator, 1, i + 1, found);
        iterator = moved(c, pipeline.dataset, 2, iterator);
    }
    if (iterator != NULL && !c->failed)
        golden_compare(c, "elements", expected, found, false);
    leat_iterator_free(iterator);
    json_decref(found);
    golden_pipeline_fini(&pipeline);
}

static leat_dataset *skipping(leat_dataset *input, int64_t number, leat_error *err) {
    return leat_dataset_skip(input, number, err);
}

static bool mentions(const json_t *json, const char *word) {
    char *text = json_dumps(json, 0);
    bool found = strstr(text, word) != NULL;
    free(text);
    return found;
}

/* Where an archive has an index, records that are no elements are passed over with the others. */
static bool has_index(const json_t *json) {
    return mentions(json, "\"index\": ") && mentions(json, "\"error\": ");
}

/* An error among the skipped elements is handed on, and the count begins anew. Owned. */
static json_t *after_skip(const json_t *elements, size_t count) {
    json_t *left = json_array(), *outcome = NULL;
    size_t i = 0, skipped = 0;
    json_array_foreach(elements, i, outcome) {
        bool error = json_object_get(outcome, "error") != NULL;
        if (skipped == count || error)
            json_array_append(left, outcome);
        skipped = skipped == count ? count : error ? 0 : skipped + 1;
    }
    return left;
}

void data_over_skip(golden_case *c, const json_t *json, int which) {
    const json_t *elements = elements_of(json, "elements");
    const size_t count = json_array_size(elements);
    const size_t counts[DATA_OVER_TRIES] = {1, 2, count / 2 + 1, count, count + 1};
    if (is_unordered(json) || has_index(json) || (limit_of(json) >= 0 && counts[which] >= count))
        return;
    json_t *expected = after_skip(elements, counts[which]);
    check(c, json, skipping, (int64_t)counts[which], expected);
    /* Iterators draw their seeds from a generator that they share. */
    if (count <= LONGEST && !mentions(json, "shuffle") && !mentions(json, "\"error\": "))
        check_restored(c, json, skipping, (int64_t)counts[which], expected);
    json_decref(expected);
}

static leat_dataset *repeating(leat_dataset *input, int64_t number, leat_error *err) {
    return leat_dataset_repeat(input, number, err);
}

static leat_dataset *repeating_skipped(leat_dataset *input, int64_t number, leat_error *err) {
    return leat_dataset_skip(leat_dataset_repeat(input, 2, err), number, err);
}

void data_over_repeat(golden_case *c, const json_t *json, int which) {
    const json_t *elements = elements_of(json, "elements"),
                 *second = elements_of(json, "elements_epoch2");
    if (which > 2 || second == NULL || !json_equal(elements, second) || limit_of(json) >= 0 ||
        is_unordered(json) || (which > 0 && has_index(json)))
        return;
    json_t *both = json_copy((json_t *)(uintptr_t)elements);
    json_array_extend(both, (json_t *)(uintptr_t)second);
    const size_t skipped = json_array_size(elements) + (size_t)which - 1;
    json_t *expected = which == 0 ? json_incref(both) : after_skip(both, skipped);
    check(c, json, which == 0 ? repeating : repeating_skipped, which == 0 ? 2 : (int64_t)skipped,
          expected);
    json_decref(expected);
    json_decref(both);
}

/* ---- another iterator ---- */

static void compare_moved(golden_case *c, const leat_dataset *dataset, const json_t *elements,
                          size_t count) {
    char *data = NULL;
    size_t size = 0;
    leat_error err = {0};
    json_t *found = json_array(), *others = json_array();
    leat_iterator *iterator = opened(c, dataset, 1), *other = opened(c, dataset, 1);
    golden_iterate(c, iterator, (int64_t)count, count, found);
    leat_status status = leat_iterator_save(iterator, &data, &size, NULL, &err);
    leat_iterator_free(iterator);
    golden_iterate(c, other, -1, json_array_size(elements) + 3, others);
    leat_iterator_free(other);
    iterator = status == LEAT_OK ? opened(c, dataset, 1) : NULL;
    if (iterator != NULL && leat_iterator_restore(iterator, data, size, &err) != LEAT_OK)
        golden_fail(c, "restoring: %s: %s", leat_status_name(err.code), err.text);
    for (size_t i = count; iterator != NULL && i < json_array_size(elements) && !c->failed; i++) {
        golden_iterate(c, iterator, 1, i + 1, found);
        iterator = moved(c, dataset, 1, iterator);
    }
    if (iterator != NULL && !c->failed &&
        golden_iterate(c, iterator, -1, json_array_size(elements) + 3, found))
        golden_compare(c, "elements", elements, found, false);
    leat_iterator_free(iterator);
    leat_text_free(data);
    json_decref(found);
    json_decref(others);
}

void data_over_others(golden_case *c, const json_t *json, int which) {
    const json_t *elements = elements_of(json, "elements"), *outcome = NULL;
    const size_t count = json_array_size(elements), counts[] = {0, 1, count / 2, count};
    golden_pipeline pipeline;
    leat_error err = {0};
    size_t i = 0;
    json_array_foreach(elements, i, outcome) {
        if (json_object_get(outcome, "error") != NULL)
            return;
    }
    /* Iterators draw their seeds from a generator that they share. */
    bool keeps = mentions(json, "\"cache\"") || mentions(json, "\"snapshot\"") ||
                 mentions(json, "\"quarantine\"") || mentions(json, "\"load\"");
    if (which > 3 || count > LONGEST || limit_of(json) >= 0 || is_unordered(json) || !keeps ||
        mentions(json, "shuffle"))
        return;
    if (golden_build(json, &pipeline, &err) != LEAT_OK) {
        golden_fail(c, "building: %s", err.text);
        return;
    }
    compare_moved(c, pipeline.dataset, elements, counts[which] < count ? counts[which] : count);
    golden_pipeline_fini(&pipeline);
}

/* ---- global_shuffle ---- */

static leat_dataset *shuffled(leat_dataset *input, int64_t seed, leat_error *err) {
    return leat_dataset_global_shuffle(
        input,
        &(leat_dataset_shuffle_options){LEAT_DATASET_SHUFFLE_DEFAULTS, .seed = LEAT_SEED(seed)},
        err);
}

/* The elements in the order that global_shuffle gives the numbers below their count, which the
 * recorded cases hold to TensorFlow's. Owned. */
static json_t *in_order(const json_t *elements, int64_t seed) {
    leat_error err = {0};
    leat_element element = {0};
    json_t *out = json_array();
    leat_dataset *order = shuffled(
        leat_dataset_range(0, (int64_t)json_array_size(elements), 1, NULL, &err), seed, &err);
    leat_iterator *iterator = leat_iterator_new(order, NULL, &err);
    while (leat_iterator_next(iterator, &element, &err) == LEAT_OK) {
        int64_t place = *(const int64_t *)element.tensors[0].data;
        json_array_append(out, json_array_get(elements, (size_t)place));
    }
    leat_element_fini(&element);
    leat_iterator_free(iterator);
    leat_dataset_unref(order);
    return out;
}

bool data_over_shuffle(golden_case *c, const json_t *json) {
    const json_t *elements = elements_of(json, "elements"), *outcome = NULL;
    const int64_t count = (int64_t)json_array_size(elements);
    golden_pipeline pipeline;
    leat_error err = {0};
    size_t i = 0;
    json_array_foreach(elements, i, outcome) {
        if (json_object_get(outcome, "error") != NULL)
            return false;
    }
    if (count == 0 || limit_of(json) >= 0 || is_unordered(json) ||
        json_object_get(json, "global_seed") != NULL ||
        golden_build(json, &pipeline, &err) != LEAT_OK)
        return false;
    leat_element first = {0};
    bool can = leat_dataset_cardinality(pipeline.dataset) == count &&
               leat_dataset_at(pipeline.dataset, 0, &first, NULL) == LEAT_OK;
    leat_element_fini(&first);
    leat_dataset *over = can ? shuffled(leat_dataset_ref(pipeline.dataset), 5, &err) : NULL;
    leat_dataset_unref(over);
    golden_pipeline_fini(&pipeline);
    if (over == NULL)
        return false;
    json_t *expected = in_order(elements, 5);
    check(c, json, shuffled, 5, expected);
    json_decref(expected);
    return true;
}
