/* JSON in tests. Header only: include it behind torture.h. */
#ifndef TEST_JSON_H
#define TEST_JSON_H

#include "base/alloc.h"
#include "core/json.h"

TORTURE_UNUSED static void *torture_json_alloc(size_t size) {
    return leati_alloc(size, 1);
}

/* jansson's allocations are counted and fail with the others while `on`. */
TORTURE_UNUSED static void torture_json(bool on) {
    json_set_alloc_funcs(on ? torture_json_alloc : malloc, on ? leati_free : free);
}

/* torture_setup for tests of JSON alone, which may stay on until the program ends. */
TORTURE_UNUSED static int torture_json_setup(void **state) {
    torture_json(true);
    return torture_setup(state);
}

/* The text's value. Owned. */
TORTURE_UNUSED static json_t *json_of(const char *text) {
    leat_error err = {0};
    json_t *json = leati_json_parse(text, strlen(text), &err);
    if (json == NULL)
        fail_msg("%s: %s", text, err.text);
    return json;
}

#endif
