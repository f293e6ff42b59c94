/* Random access: element i of a dataset is what its iterator gives at place i, whatever was asked
 * before. Expected elements come from the model, as for iterators. */
#include "support/cmocka.h"

#include "data_at.h"
#include "support/golden.h"
#include "support/torture.h"
#include <string.h>

static const json_t *elements_of(const json_t *json) {
    return json_object_get(json_object_get(json, "expect"), "elements");
}

/* Shuffled by number is another order; what draws numbers draws others in later epochs. */
static bool is_comparable(const json_t *json) {
    static const char *const others[] = {"\"shuffle", "\"random", "\"error\"", "\"unordered\""};
    const json_t *iterate = json_object_get(json, "iterate");
    char *text = leati_json_print(json, 0, false, &(leat_error){0});
    bool good = text != NULL && (iterate == NULL || json_is_null(json_array_get(iterate, 0)));
    for (size_t i = 0; i < sizeof others / sizeof others[0] && good; i++)
        good = strstr(text, others[i]) == NULL;
    leati_free(text);
    return good;
}

static bool has_none(leat_status status) {
    return status == LEAT_UNIMPLEMENTED || status == LEAT_FAILED_PRECONDITION;
}

static void compare(golden_case *c, int64_t index, const json_t *expected, leat_status status,
                    const leat_element *element, const leat_error *failure) {
    char texts[2][600];
    leat_error err = {0};
    if (status != LEAT_OK) {
        golden_fail(c, "at(%lld): %s: %s", (long long)index, leat_status_name(status),
                    failure->text);
        return;
    }
    json_t *found = leati_json_of_element_with(element, golden_dataset_value, NULL, &err);
    golden_json_text(expected, texts[0], sizeof texts[0]);
    golden_json_text(found, texts[1], sizeof texts[1]);
    if (!golden_json_equal(expected, found))
        golden_fail(c, "at(%lld): expected %s, found %s", (long long)index, texts[0], texts[1]);
    json_decref(found);
}

static void check_all(golden_case *c, leat_dataset *dataset, leat_accessor *accessor,
                      const json_t *elements) {
    int64_t count = (int64_t)json_array_size(elements);
    leat_element element = {0};
    for (int64_t step = 0; step < 3 * count && !c->failed; step++) {
        int64_t index = step < count ? count - 1 - step : step % count;
        leat_error err = {0};
        leat_status status = step < 2 * count ? leat_accessor_get(accessor, index, &element, &err)
                                              : leat_dataset_at(dataset, index, &element, &err);
        compare(c, index, json_array_get(elements, (size_t)index), status, &element, &err);
    }
    const int64_t outside[] = {-1, INT64_MIN, count, INT64_MAX};
    for (size_t i = 0; i < sizeof outside / sizeof outside[0] && !c->failed; i++) {
        leat_error err = {0};
        leat_status status = leat_accessor_get(accessor, outside[i], &element, &err);
        if (status != LEAT_OUT_OF_RANGE || err.text[0] == '\0')
            golden_fail(c, "at(%lld) of %lld elements: expected OUT_OF_RANGE, found %s",
                        (long long)outside[i], (long long)count, leat_status_name(status));
    }
    leat_element_fini(&element);
}

bool data_at(golden_case *c, const json_t *json) {
    golden_pipeline pipeline;
    leat_element element = {0};
    leat_error err = {0};
    bool compared = false;
    if (!is_comparable(json))
        return false;
    if (golden_build(json, &pipeline, &err) != LEAT_OK) {
        golden_fail(c, "building: %s", err.text);
        return false;
    }
    leat_accessor *accessor = leat_accessor_open(pipeline.dataset, &err);
    if (accessor == NULL) {
        golden_fail(c, "no accessor: %s", err.text);
    } else if (!has_none(leat_accessor_get(accessor, 0, &element, &err)) &&
               leat_dataset_cardinality(pipeline.dataset) ==
                   (int64_t)json_array_size(elements_of(json))) {
        compared = true;
        check_all(c, pipeline.dataset, accessor, elements_of(json));
    }
    leat_element_fini(&element);
    leat_accessor_close(accessor);
    golden_pipeline_fini(&pipeline);
    return compared;
}

static leat_status torture(void *context, leat_error *err) {
    const json_t *json = context;
    int64_t count = (int64_t)json_array_size(elements_of(json));
    golden_pipeline pipeline;
    leat_element element = {0};
    leat_status status = golden_build(json, &pipeline, err);
    if (status == LEAT_OK) {
        leat_accessor *accessor = leat_accessor_open(pipeline.dataset, err);
        status = accessor == NULL ? torture_code(err) : LEAT_OK;
        for (int64_t i = count - 1; i >= 0 && status == LEAT_OK; i--)
            status = leat_accessor_get(accessor, i, &element, err);
        leat_element_fini(&element);
        leat_accessor_close(accessor);
        golden_pipeline_fini(&pipeline);
    }
    leati_dataset_templates_trim();
    return status;
}

void data_at_torture(const json_t *json) {
    leati_dataset_templates_trim();
    torture_begin();
    torture_run_tolerant(torture, (void *)(uintptr_t)json);
    torture_end();
}
