/* Functions as JSON: what is read is written, and read again as a function of the same text and
 * specs. */
#include "fuzz.h"
#include "plans.h"
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static void run(const uint8_t *data, size_t size) {
    leat_error err = {0};
    char *given = strndup((const char *)data, size);
    if (given == NULL)
        fuzz_broken("no memory");
    leat_function *function = leat_function_from_json(given, &err), *again = NULL;
    free(given);
    if (function == NULL) {
        fuzz_check_error("leat_function_from_json", err.code, &err);
        return;
    }
    char *text = leat_function_to_json(function, &err), *second = NULL;
    if (text == NULL) {
        fuzz_check_error("leat_function_to_json", err.code, &err);
    } else {
        again = leat_function_from_json(text, &err);
        second = again == NULL ? NULL : leat_function_to_json(again, &err);
        if (second == NULL)
            fuzz_broken("a function that was written cannot be read: %s\n%s", err.text, text);
        if (strcmp(text, second) != 0 ||
            !leat_spec_equal(leat_function_input(function), leat_function_input(again)) ||
            !leat_spec_equal(leat_function_output(function), leat_function_output(again)))
            fuzz_broken("a function came back as another one:\n%s\n%s", text, second);
    }
    leat_text_free(text);
    leat_text_free(second);
    leat_function_unref(function);
    leat_function_unref(again);
}

/* The functions among the arguments of plans: objects with "nodes". */
static void keep_functions(const json_t *json) {
    const char *key = NULL;
    json_t *value = NULL;
    if (json_object_get(json, "nodes") != NULL) {
        char *text = json_dumps(json, JSON_COMPACT);
        if (text != NULL)
            fuzz_seed(text, strlen(text));
        free(text);
    }
    for (size_t i = 0; i < json_array_size(json); i++)
        keep_functions(json_array_get(json, i));
    json_object_foreach((json_t *)json, key, value) {
        keep_functions(value);
    }
}

static void keep(const char *text) {
    json_t *json = json_loads(text, 0, NULL);
    keep_functions(json);
    json_decref(json);
}

static void seeds(void) {
    fuzz_each_case(keep);
}

const fuzz_target fuzz_function = {
    .name = "function",
    .doc = "functions as JSON",
    .run = run,
    .form = FUZZ_JSON,
    .most = 4096,
    .seeds = seeds,
};
