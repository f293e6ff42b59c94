/* Elements and specs as JSON: what is read is written, and read again as the same. */
#include "core/element.h"
#include "core/json.h"
#include "fuzz.h"
#include <string.h>

static void check_element(const json_t *json) {
    leat_error err = {0};
    leat_element element = {0}, again = {0};
    char text[200];
    leat_status status = leati_json_to_element(json, &element, &err);
    fuzz_check_error("leati_json_to_element", status, &err);
    json_t *made = status == LEAT_OK ? leati_json_of_element(&element, &err) : NULL;
    if (status == LEAT_OK && made == NULL && err.code != LEAT_UNIMPLEMENTED)
        fuzz_broken("an element that was read cannot be written: %s", err.text);
    if (made != NULL) {
        if (leati_json_to_element(made, &again, &err) != LEAT_OK)
            fuzz_broken("an element that was written cannot be read: %s", err.text);
        if (!leat_spec_equal(element.spec, again.spec) ||
            fuzz_hash_element(&element, 0) != fuzz_hash_element(&again, 0))
            fuzz_broken("an element came back as another one");
        (void)leat_element_print(&element, text, sizeof text);
    }
    json_decref(made);
    leat_element_fini(&element);
    leat_element_fini(&again);
}

static void check_spec(const json_t *json) {
    leat_error err = {0};
    char text[200];
    leat_spec *spec = leati_json_to_spec(json, &err);
    if (spec == NULL) {
        fuzz_check_error("leati_json_to_spec", err.code, &err);
        return;
    }
    json_t *made = leati_json_of_spec(spec, &err);
    leat_spec *again = made == NULL ? NULL : leati_json_to_spec(made, &err);
    if (again == NULL || !leat_spec_equal(spec, again))
        fuzz_broken("a spec came back as another one: %s", err.text);
    (void)leat_spec_print(spec, text, sizeof text);
    json_decref(made);
    leat_spec_unref(again);
    leat_spec_unref(spec);
}

static void run(const uint8_t *data, size_t size) {
    leat_error err = {0};
    json_t *json = leati_json_parse((const char *)data, size, &err);
    if (json == NULL) {
        fuzz_check_error("leati_json_parse", err.code, &err);
        return;
    }
    check_element(json);
    check_spec(json);
    json_decref(json);
}

static void seeds(void) {
    static const char *const texts[] = {
        "{\"dtype\": \"float32\", \"shape\": [2], \"data\": [1.5, \"nan\"]}",
        "{\"tuple\": [1, \"a\", {\"hex\": \"00ff\"}, true, null, [1, 2]]}",
        "{\"dict\": {\"b\": 9223372036854775807, \"a\": {\"dtype\": \"uint64\", \"shape\": [], "
        "\"data\": [\"18446744073709551615\"]}}}",
        "{\"ragged\": {\"values\": {\"dtype\": \"int32\", \"shape\": [3], \"data\": [1, 2, 3]}, "
        "\"row_splits\": [{\"dtype\": \"int64\", \"shape\": [3], \"data\": [0, 1, 3]}]}}",
        "{\"required\": \"int64\"}",
        "{\"dtype\": \"int64\", \"shape\": [-1, 3]}",
        "{\"tuple\": [{\"dataset\": {\"dtype\": \"bool\", \"shape\": null}}, {\"optional\": "
        "{\"dtype\": \"string\", \"shape\": []}}]}",
        "{\"ragged\": {\"dtype\": \"int32\", \"shape\": [2, null], \"ragged_rank\": 1, "
        "\"row_splits_dtype\": \"int64\"}}",
        "{\"sparse\": {\"dtype\": \"float64\", \"shape\": [3, 3]}}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        fuzz_seed(texts[i], strlen(texts[i]));
}

const fuzz_target fuzz_element = {
    .name = "element",
    .doc = "elements and specs as JSON",
    .run = run,
    .form = FUZZ_JSON,
    .most = 1024,
    .seeds = seeds,
};
