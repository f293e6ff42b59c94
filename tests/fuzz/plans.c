/* Plans of the cases in tests/conform/data, and plans that are read under limits. */
#include "plans.h"
#include "data/plan/op.h"
#include "fuzz.h"
#include "support/golden.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool tame_name(const char *text) {
    return text[0] != '/' && strstr(text, "..") == NULL && strstr(text, "://") == NULL;
}

/* Names that stay in the folder, and nothing that waits for what will never come. */
static bool tame(const json_t *json) {
    const char *key = NULL, *hex = json_string_value(json_object_get(json, "hex"));
    json_t *value = NULL;
    if (json_is_string(json) && !tame_name(json_string_value(json)))
        return false;
    if (json_is_true(json_object_get(json, "wait")))
        return false;
    if (hex != NULL && (strcasestr(hex, "2f") != NULL || strcasestr(hex, "2e") != NULL))
        return false;
    for (size_t i = 0; i < json_array_size(json); i++)
        if (!tame(json_array_get(json, i)))
            return false;
    json_object_foreach((json_t *)json, key, value) {
        if (!tame(value))
            return false;
    }
    return true;
}

bool fuzz_text_is_tame(const uint8_t *data, size_t size) {
    json_t *json = json_loadb((const char *)data, size, JSON_DECODE_ANY, NULL);
    bool good = json == NULL || tame(json);
    json_decref(json);
    return good;
}

leat_dataset *fuzz_plan_of(const uint8_t *data, size_t size) {
    leat_error err = {0};
    char *text = strndup((const char *)data, size);
    if (text == NULL)
        fuzz_broken("no memory");
    leat_seed_set(7);
    leat_dataset *dataset = leat_dataset_from_json(text, &err);
    leat_seed_clear();
    if (dataset == NULL)
        fuzz_check_error("leat_dataset_from_json", err.code, &err);
    free(text);
    return dataset;
}

static void use_cases(const char *name, void (*use)(const char *text)) {
    char path[1024];
    snprintf(path, sizeof path, LEATI_SOURCE_DIR "/tests/conform/data/%s.json", name);
    golden_run ignored = {0};
    json_t *cases = golden_read_cases(&ignored, path);
    for (size_t i = 0; i < json_array_size(cases); i++) {
        golden_pipeline pipeline = {0};
        leat_error err = {0};
        if (golden_build(json_array_get(cases, i), &pipeline, &err) != LEAT_OK)
            continue; /* a case of what is refused */
        char *text = leat_dataset_to_json(pipeline.dataset, &err);
        if (text != NULL)
            use(text);
        leat_text_free(text);
        golden_pipeline_fini(&pipeline);
    }
    json_decref(cases);
    leat_seed_clear();
}

/* Plans over files that only exist where a case is run. */
static const char *const of_files[] = {
    "{\"op\": \"load\", \"args\": {\"path\": \"files/saved/numbers\"}}",
    "{\"op\": \"load\", \"args\": {\"path\": \"files/saved/batches\", \"cycle_length\": 2}}",
    "{\"op\": \"load\", \"args\": {\"path\": \"files/saved/ragged_twice\"}}",
    "{\"op\": \"load\", \"args\": {\"path\": \"files/saved/gzip\", \"compression\": \"GZIP\"}}",
    ("{\"op\": \"cache\", \"args\": {\"filename\": \"cached\"}, "
     "\"input\": {\"op\": \"range\", \"args\": {\"stop\": 9}}}"),
};

void fuzz_each_case(void (*use)(const char *text)) {
    size_t count = 0;
    const leati_dataset_op *const *ops = leati_plan_ops(&count);
    for (size_t i = 0; i < count; i++)
        if ((ops[i]->flags & LEATI_OP_REMOTE) == 0)
            use_cases(ops[i]->name, use);
    use_cases("compositions", use);
    for (size_t i = 0; i < sizeof of_files / sizeof *of_files; i++)
        use(of_files[i]);
}
