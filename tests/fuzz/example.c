/* Serialised tf.train.Examples: what the iterator over features finds, the planned parser finds
 * too, and so does either after the features were written again. */
#include "file/example.h"
#include "base/hash.h"
#include "fuzz.h"
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FEATURES = 40, MOST_VALUES = 4096 };

typedef struct features {
    leat_feature list[MOST_FEATURES];
    char names[MOST_FEATURES][64];
    int count;
    bool plain; /* every name is text that fits, every feature has a list, values fit */
} features;

/* Keeps the last one of a name, as both parsers do. */
static void add(features *all, const leat_feature *feature) {
    int at = 0;
    for (; at < all->count; at++)
        if (all->list[at].name.size == feature->name.size &&
            memcmp(all->list[at].name.data, feature->name.data, feature->name.size) == 0)
            break;
    if (at == MOST_FEATURES || feature->name.size >= sizeof all->names[0] ||
        memchr(feature->name.data, 0, feature->name.size) != NULL ||
        feature->dtype == LEAT_INVALID || feature->count > MOST_VALUES) {
        all->plain = false;
        return;
    }
    all->list[at] = *feature;
    memcpy(all->names[at], feature->name.data, feature->name.size);
    all->names[at][feature->name.size] = '\0';
    all->count += at == all->count;
}

static leat_status walk(leat_string record, features *out) {
    size_t position = 0;
    bool end = false;
    leat_error err = {0};
    leat_status status = LEAT_OK;
    out->count = 0;
    out->plain = true;
    while (status == LEAT_OK && !end) {
        leat_feature feature = {0};
        status = leat_example_next(record, &position, &feature, &end, &err);
        if (status == LEAT_OK && !end)
            add(out, &feature);
    }
    fuzz_check_error("leat_example_next", status, &err);
    return status;
}

static uint64_t hash_values(leat_dtype dtype, const void *values, int64_t count) {
    const leat_string *strings = values;
    uint64_t hash = (uint64_t)count;
    if (dtype != LEAT_STRING)
        return leati_hash(values, (size_t)count * leat_dtype_size(dtype), hash);
    for (int64_t i = 0; i < count; i++)
        hash = leati_hash(strings[i].data, strings[i].size, hash + 1);
    return hash;
}

/* The features by the planned parser, which knows their names beforehand. */
static void check_plan(leat_string record, const features *all) {
    static char values[MOST_VALUES * sizeof(leat_string)];
    leati_feature_request requests[MOST_FEATURES] = {{0}};
    leati_feature_span spans[MOST_FEATURES];
    leati_example_order order = {0};
    leati_example_plan *plan = NULL;
    leat_error err = {0};
    for (int i = 0; i < all->count; i++)
        requests[i] = (leati_feature_request){
            .name = all->names[i], .dtype = all->list[i].dtype, .length = -1};
    if (leati_example_plan_new(requests, all->count, &plan, &err) != LEAT_OK)
        fuzz_broken("the plan: %s", err.text);
    for (int round = 0; round < 2; round++) { /* the second one remembers the order */
        if (leati_example_parse(plan, record, &order, spans, &err) != LEAT_OK)
            fuzz_broken("the planned parser: %s", err.text);
        for (int i = 0; i < all->count; i++) {
            const leat_feature *feature = &all->list[i];
            if (spans[i].count != feature->count)
                fuzz_broken("feature \"%s\" has %lld values, and %lld", all->names[i],
                            (long long)feature->count, (long long)spans[i].count);
            leati_example_read(plan, i, &spans[i], values);
            uint64_t planned = hash_values(feature->dtype, values, feature->count);
            if (leat_feature_read(feature, values, MOST_VALUES) != feature->count ||
                hash_values(feature->dtype, values, feature->count) != planned)
                fuzz_broken("feature \"%s\" has other values", all->names[i]);
        }
    }
    leati_example_plan_free(plan);
}

/* Requests that need not fit: any answer but a crash. */
static void check_misfit(leat_string record, const features *all) {
    static const int64_t nine[] = {9, 9, 9};
    leati_feature_request requests[3] = {
        {.name = "missing", .dtype = LEAT_INT64, .length = 3, .defaults = nine},
        {.name = all->count > 0 ? all->names[0] : "label", .dtype = LEAT_INT64, .length = 1},
        {.name = all->count > 1 ? all->names[1] : "image",
         .dtype = LEAT_FLOAT32,
         .length = -1,
         .multiple = 2},
    };
    char values[MOST_VALUES * 8];
    leati_feature_span spans[3];
    leati_example_plan *plan = NULL;
    leat_error err = {0};
    if (leati_example_plan_new(requests, 3, &plan, &err) == LEAT_OK) {
        leat_status status = leati_example_parse(plan, record, NULL, spans, &err);
        fuzz_check_error("leati_example_parse", status, &err);
        for (int i = 0; i < 3 && status == LEAT_OK; i++)
            if (spans[i].count <= MOST_VALUES)
                leati_example_read(plan, i, &spans[i], values);
    }
    leati_example_plan_free(plan);
}

static void check_written(const features *all) {
    static char values[MOST_VALUES * sizeof(leat_string)];
    leat_error err = {0};
    leat_string record;
    features again;
    leat_example *example = leat_example_new(&err);
    for (int i = 0; i < all->count; i++) {
        const leat_feature *feature = &all->list[i];
        int64_t n = leat_feature_read(feature, values, MOST_VALUES);
        leat_status status =
            feature->dtype == LEAT_STRING
                ? leat_example_add_bytes(example, all->names[i], (leat_string *)values, n, &err)
            : feature->dtype == LEAT_INT64
                ? leat_example_add_int64(example, all->names[i], (int64_t *)values, n, &err)
                : leat_example_add_float(example, all->names[i], (float *)values, n, &err);
        if (status != LEAT_OK)
            fuzz_broken("writing: %s", err.text);
    }
    if (leat_example_serialize(example, &record, &err) != LEAT_OK ||
        walk(record, &again) != LEAT_OK || again.count != all->count)
        fuzz_broken("%d features, written and read again: %d", all->count, again.count);
    check_plan(record, &again);
    leat_example_free(example);
}

static void run(const uint8_t *data, size_t size) {
    static features all;
    leat_string record = {(const char *)data, size};
    if (walk(record, &all) == LEAT_OK && all.plain) {
        check_plan(record, &all);
        check_written(&all);
    }
    check_misfit(record, &all);
}

static unsigned digit(char c) {
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

/* The strings in hexadecimal digits of a tree of JSON. */
static void seed_strings(const json_t *json) {
    const char *key = NULL, *hex = json_string_value(json_object_get(json, "hex"));
    json_t *value = NULL;
    if (hex != NULL) {
        size_t size = strlen(hex) / 2;
        uint8_t *bytes = malloc(size + 1);
        for (size_t i = 0; bytes != NULL && i < size; i++)
            bytes[i] = (uint8_t)(digit(hex[2 * i]) * 16 + digit(hex[2 * i + 1]));
        if (bytes != NULL)
            fuzz_seed(bytes, size);
        free(bytes);
    }
    for (size_t i = 0; i < json_array_size(json); i++)
        seed_strings(json_array_get(json, i));
    json_object_foreach((json_t *)json, key, value) {
        seed_strings(value);
    }
}

static void seeds(void) {
    json_t *cases =
        json_load_file(LEATI_SOURCE_DIR "/tests/conform/ops/parse_example.json", 0, NULL);
    seed_strings(cases);
    json_decref(cases);
}

const fuzz_target fuzz_example = {
    .name = "example",
    .doc = "serialised tf.train.Examples",
    .run = run,
    .most = 1024,
    .seeds = seeds,
};
