/* Specs and elements for targets whose bytes are values. */
#include "elements.h"
#include "core/json.h"
#include "fuzz.h"
#include <string.h>

static const char *const specs[] = {
    "{\"dtype\": \"int64\", \"shape\": []}",
    "{\"dtype\": \"string\", \"shape\": []}",
    "{\"dtype\": \"float32\", \"shape\": [-1, 2]}",
    "{\"tuple\": [{\"dtype\": \"string\", \"shape\": null}, {\"dtype\": \"bool\", \"shape\": "
    "[3]}]}",
    "{\"dict\": {\"a\": {\"dtype\": \"uint8\", \"shape\": [-1]}, \"b\": {\"dtype\": \"int64\", "
    "\"shape\": []}}}",
    "{\"dataset\": {\"dtype\": \"int64\", \"shape\": []}}",
    "{\"ragged\": {\"dtype\": \"int32\", \"shape\": [2, -1], \"ragged_rank\": 1, "
    "\"row_splits_dtype\": \"int64\"}}",
};

enum { SPECS = sizeof specs / sizeof *specs };

/* In the order of the specs, of which the last ones have none. */
static const char *const values[] = {
    "{\"dtype\": \"int64\", \"shape\": [], \"data\": [5]}",
    "{\"dtype\": \"string\", \"shape\": [], \"data\": [\"hello\"]}",
    "{\"dtype\": \"float32\", \"shape\": [1, 2], \"data\": [1, 2]}",
    ("{\"tuple\": [{\"dtype\": \"string\", \"shape\": [2], \"data\": [\"\", \"b\"]}, "
     "{\"dtype\": \"bool\", \"shape\": [3], \"data\": [true, false, true]}]}"),
    ("{\"dict\": {\"a\": {\"dtype\": \"uint8\", \"shape\": [2], \"data\": [1, 2]}, \"b\": "
     "{\"dtype\": \"int64\", \"shape\": [], \"data\": [3]}}}")};

leat_spec *fuzz_elements_spec(uint8_t choice) {
    const char *text = specs[choice % SPECS];
    leat_error err = {0};
    leat_spec *spec = leat_spec_from_json(text, &err);
    if (spec == NULL)
        fuzz_broken("spec %s: %s", text, err.text);
    return spec;
}

void fuzz_elements_seeds(void (*seed)(uint8_t choice, const leati_block *block)) {
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        leat_error err = {0};
        leat_element element = {0};
        leati_block block = {0};
        json_t *json = leati_json_parse(values[i], strlen(values[i]), &err);
        if (json == NULL || leati_json_to_element(json, &element, &err) != LEAT_OK ||
            leati_block_of_element(&element, &block, &err) != LEAT_OK)
            fuzz_broken("%s: %s", values[i], err.text);
        seed((uint8_t)i, &block);
        leati_block_fini(&block);
        leat_element_fini(&element);
        json_decref(json);
    }
}
