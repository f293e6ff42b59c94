/* Blocks of elements in saved states: bytes that are read as a block of some spec are written and
 * read again as the same block. The first byte chooses the spec. */
#include "data/values/values.h"
#include "base/error.h"
#include "core/json.h"
#include "core/verify.h"
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

static leat_spec *spec_of(uint8_t choice) {
    const char *text = specs[choice % SPECS];
    leat_error err = {0};
    json_t *json = leati_json_parse(text, strlen(text), &err);
    leat_spec *spec = json == NULL ? NULL : leati_json_to_spec(json, &err);
    json_decref(json);
    if (spec == NULL)
        fuzz_broken("spec %s: %s", text, err.text);
    return spec;
}

static void check_again(const leati_block *block, const leat_spec *spec) {
    leati_writer out = {0};
    leati_block again = {0};
    leat_error err = {0};
    if (leati_values_put_block(&out, block, 0, block->n, &err) != LEAT_OK || out.failed)
        fuzz_broken("a block that was read cannot be written: %s", err.text);
    leati_reader in = {.data = out.data, .size = out.size};
    if (leati_values_get_block(&in, spec, &again, &err) != LEAT_OK || in.at != in.size)
        fuzz_broken("a block that was written cannot be read: %s", err.text);
    if (again.n != block->n || (leat_spec_get_kind(spec) != LEAT_SPEC_DATASET &&
                                leati_block_checksum(&again) != leati_block_checksum(block)))
        fuzz_broken("%lld rows came back as %lld or others", (long long)block->n,
                    (long long)again.n);
    leati_block_fini(&again);
    leati_writer_fini(&out);
}

static void run(const uint8_t *data, size_t size) {
    leat_error err = {0}, found = {0};
    leati_block block = {0};
    leat_tensor tensor = {0};
    if (size == 0)
        return;
    leat_spec *spec = spec_of(data[0]);
    leati_reader in = {.data = data + 1, .size = size - 1};
    leat_status status = leati_values_get_block(&in, spec, &block, &err);
    fuzz_check_error("leati_values_get_block", status, &err);
    if (status == LEAT_OK) {
        if (leati_block_check(&block, spec, &err) != LEAT_OK)
            fuzz_broken("%s", err.text);
        check_again(&block, spec);
    }
    in.at = 0;
    status = leati_values_get_tensor(&in, &tensor, &err);
    if (status == LEAT_OK)
        leat_tensor_unref(&tensor);
    in.at = 0;
    status = leati_values_get_error(&in, &found, &err);
    leati_block_fini(&block);
    leat_spec_unref(spec);
}

/* A block of two rows for the specs that have a simple value. */
static void seeds(void) {
    static const char *const values[] = {
        "{\"dtype\": \"int64\", \"shape\": [], \"data\": [5]}",
        "{\"dtype\": \"string\", \"shape\": [], \"data\": [\"hello\"]}",
        "{\"dtype\": \"float32\", \"shape\": [1, 2], \"data\": [1, 2]}",
        ("{\"tuple\": [{\"dtype\": \"string\", \"shape\": [2], \"data\": [\"\", \"b\"]}, "
         "{\"dtype\": \"bool\", \"shape\": [3], \"data\": [true, false, true]}]}"),
        ("{\"dict\": {\"a\": {\"dtype\": \"uint8\", \"shape\": [2], \"data\": [1, 2]}, \"b\": "
         "{\"dtype\": \"int64\", \"shape\": [], \"data\": [3]}}}")};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        leat_error err = {0};
        leat_element element = {0};
        leati_block block = {0};
        leati_writer out = {0};
        uint8_t choice = (uint8_t)i;
        json_t *json = leati_json_parse(values[i], strlen(values[i]), &err);
        leati_put_raw(&out, &choice, 1);
        if (json == NULL || leati_json_to_element(json, &element, &err) != LEAT_OK ||
            leati_block_of_element(&element, &block, &err) != LEAT_OK ||
            leati_values_put_block(&out, &block, 0, block.n, &err) != LEAT_OK)
            fuzz_broken("%s: %s", values[i], err.text);
        fuzz_seed(out.data, out.size);
        leati_writer_fini(&out);
        leati_block_fini(&block);
        leat_element_fini(&element);
        json_decref(json);
    }
}

const fuzz_target fuzz_values = {
    .name = "values",
    .doc = "blocks of elements in saved states",
    .run = run,
    .most = 1024,
    .seeds = seeds,
};
