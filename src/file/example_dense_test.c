/* The quick parser of tf.train.Example against the thorough one: on records as the builder writes
 * them it parses every one; on damaged ones it never accepts what the thorough one refuses, nor
 * reads other values. Records lie in memory of their own size, so that a sanitizer sees a byte too
 * many. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "file/example.h"

enum { NUM_REQUESTS = 7, VALUES = 4 };

static const leati_feature_request requests[NUM_REQUESTS] = {
    {.name = "id", .dtype = LEAT_INT64, .length = 1},
    {.name = "x", .dtype = LEAT_FLOAT32, .length = 4},
    {.name = "data", .dtype = LEAT_STRING, .length = 1},
    {.name = "tags", .dtype = LEAT_STRING, .length = 2},
    {.name = "none", .dtype = LEAT_INT64, .length = 0},
    {.name = "image/object/bbox/label-of-a-longer-name", .dtype = LEAT_INT64, .length = 3},
    {.name = "image/encoded", .dtype = LEAT_STRING, .length = 1},
};

static uint64_t random_state;

static uint32_t draw(uint32_t below) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % below;
}

/* A record with all requests and two features that nobody asked for; free() it. */
static leat_string build(uint32_t most_text) {
    static char text[310];
    leat_error err = {0};
    leat_example *example = leat_example_new(&err);
    int64_t numbers[3];
    float floats[4];
    leat_string texts[2];
    for (int i = 0; i < 3; i++)
        numbers[i] = (int64_t)((uint64_t)draw(1u << 31) << draw(34)) >> draw(40);
    for (int i = 0; i < 4; i++)
        floats[i] = (float)draw(1000) / 8;
    for (int i = 0; i < 2; i++)
        texts[i] = (leat_string){text + draw(10), draw(most_text)};
    leat_status status = leat_example_add_bytes(example, "data", texts, 1, &err);
    status = status != LEAT_OK ? status : leat_example_add_int64(example, "id", numbers, 1, &err);
    status = status != LEAT_OK
                 ? status
                 : leat_example_add_bytes(example, requests[6].name, texts + 1, 1, &err);
    status = status != LEAT_OK
                 ? status
                 : leat_example_add_int64(example, requests[5].name, numbers, 3, &err);
    status = status != LEAT_OK ? status : leat_example_add_float(example, "other", floats, 2, &err);
    status = status != LEAT_OK ? status : leat_example_add_bytes(example, "tags", texts, 2, &err);
    status = status != LEAT_OK ? status : leat_example_add_int64(example, "none", NULL, 0, &err);
    status = status != LEAT_OK ? status : leat_example_add_float(example, "x", floats, 4, &err);
    status = status != LEAT_OK ? status : leat_example_add_int64(example, "z", numbers, 1, &err);
    leat_string record;
    if (status != LEAT_OK || leat_example_serialize(example, &record, &err) != LEAT_OK)
        fail_msg("%s", err.text);
    char *copy = malloc(record.size);
    assert_non_null(copy);
    memcpy(copy, record.data, record.size);
    record.data = copy;
    leat_example_free(example);
    return record;
}

/* Room for the values of a record; strings are larger than numbers. */
typedef leat_string places[NUM_REQUESTS][VALUES];

/* Does the quick parser parse the record? If so, the thorough one agrees. */
static bool compare(const leati_example_plan *plan, leat_string record,
                    leati_example_order *order) {
    static places quick, thorough;
    leati_example_column columns[NUM_REQUESTS];
    leati_feature_span spans[NUM_REQUESTS];
    leat_error err = {0};
    memset(quick, 0, sizeof quick);
    memset(thorough, 0, sizeof thorough);
    for (int i = 0; i < NUM_REQUESTS; i++)
        columns[i] = (leati_example_column){quick[i], 0};
    if (leati_example_parse_dense(plan, &record, 1, order, columns) == 0)
        return false;
    if (leati_example_parse(plan, record, NULL, spans, &err) != LEAT_OK)
        fail_msg("the quick parser accepts what is no Example: %s", err.text);
    for (int i = 0; i < NUM_REQUESTS; i++) {
        assert_int_equal(spans[i].count, requests[i].length);
        leati_example_read(plan, i, &spans[i], thorough[i]);
    }
    assert_memory_equal(quick, thorough, sizeof quick);
    return true;
}

static leati_example_plan *new_plan(void) {
    leati_example_plan *plan = NULL;
    leat_error err = {0};
    assert_int_equal(leati_example_plan_new(requests, NUM_REQUESTS, &plan, &err), LEAT_OK);
    return plan;
}

static void parses_what_encoders_write(void **state) {
    (void)state;
    leati_example_plan *plan = new_plan();
    leati_example_order order = {0};
    random_state = 1;
    for (int i = 0; i < 3000; i++) {
        leat_string record = build(i % 3 == 0 ? 300 : 3);
        assert_true(compare(plan, record, &order));
        free((char *)(uintptr_t)record.data);
    }
    leati_example_plan_free(plan);
}

/* One to three bytes changed, moved or cut; the order is that of the good records before. */
static void agrees_on_damage(void **state) {
    (void)state;
    leati_example_plan *plan = new_plan();
    leati_example_order order = {0};
    int parsed = 0;
    random_state = 2;
    for (int i = 0; i < 20000; i++) {
        leat_string record = build(i % 5 == 0 ? 300 : 3);
        uint8_t *bytes = (uint8_t *)(uintptr_t)record.data;
        if (i % 4 == 0)
            assert_true(compare(plan, record, &order));
        for (uint32_t k = 1 + draw(3); k > 0; k--)
            bytes[draw((uint32_t)record.size)] = (uint8_t)(draw(3) ? draw(256) : draw(20));
        if (draw(4) == 0) {
            record.size = draw((uint32_t)record.size);
            record.data = memcpy(malloc(record.size + 1), bytes, record.size);
            free(bytes);
        }
        parsed += compare(plan, record, &order);
        free((char *)(uintptr_t)record.data);
    }
    /* Most damage hits values, which stay values. */
    assert_in_range(parsed, 1000, 18000);
    leati_example_plan_free(plan);
}

/* The same for features of any number of values: spans instead of values. */
enum { MOST = 700 }; /* values in a record */

static bool compare_found(const leati_example_plan *plan, leat_string record,
                          leati_example_order *order) {
    static leat_string quick[MOST], thorough[MOST];
    leati_feature_span found[NUM_REQUESTS], spans[NUM_REQUESTS];
    leat_error err = {0};
    if (leati_example_find(plan, &record, 1, order, found) == 0)
        return false;
    if (leati_example_parse(plan, record, NULL, spans, &err) != LEAT_OK)
        fail_msg("the quick parser accepts what is no Example: %s", err.text);
    for (int i = 0; i < NUM_REQUESTS; i++) {
        assert_int_equal(found[i].count, spans[i].count);
        assert_in_range(spans[i].count, 0, MOST);
        memset(quick, 0, sizeof quick);
        memset(thorough, 0, sizeof thorough);
        leati_example_read(plan, i, &found[i], quick);
        leati_example_read(plan, i, &spans[i], thorough);
        assert_memory_equal(quick, thorough, sizeof quick);
    }
    return true;
}

static void finds_any_number(void **state) {
    (void)state;
    leati_feature_request open[NUM_REQUESTS];
    leati_example_plan *plan = NULL;
    leati_example_order order = {0};
    leat_error err = {0};
    int found = 0;
    for (int i = 0; i < NUM_REQUESTS; i++) {
        open[i] = requests[i];
        open[i].length = i == 1 ? 4 : -1;
        open[i].multiple = i == 5 ? 3 : 0;
    }
    assert_int_equal(leati_example_plan_new(open, NUM_REQUESTS, &plan, &err), LEAT_OK);
    random_state = 3;
    for (int i = 0; i < 20000; i++) {
        leat_string record = build(i % 5 == 0 ? 300 : 3);
        uint8_t *bytes = (uint8_t *)(uintptr_t)record.data;
        assert_true(compare_found(plan, record, &order));
        for (uint32_t k = 1 + draw(3); k > 0; k--)
            bytes[draw((uint32_t)record.size)] = (uint8_t)(draw(3) ? draw(256) : draw(20));
        found += compare_found(plan, record, &order);
        free(bytes);
    }
    assert_in_range(found, 1000, 18000);
    leati_example_plan_free(plan);
}

/* More features than fit a word of bits; one of them is missing. */
static void many_features(void **state) {
    (void)state;
    enum { MANY = 130 };
    static char names[MANY][16];
    static leati_feature_request many[MANY];
    static int64_t values[MANY];
    static leati_example_column columns[MANY];
    static leati_example_order order;
    leat_error err = {0};
    leati_example_plan *plan = NULL;
    leat_example *example = leat_example_new(&err);
    for (int64_t i = 0; i < MANY; i++) {
        snprintf(names[i], sizeof names[i], "feature-%03d", (int)i);
        many[i] = (leati_feature_request){.name = names[i], .dtype = LEAT_INT64, .length = 1};
        columns[i] = (leati_example_column){&values[i], 0};
        assert_int_equal(leat_example_add_int64(example, names[i], &i, 1, &err), LEAT_OK);
    }
    leat_string record;
    assert_int_equal(leat_example_serialize(example, &record, &err), LEAT_OK);
    assert_int_equal(leati_example_plan_new(many, MANY, &plan, &err), LEAT_OK);
    for (int round = 0; round < 2; round++) {
        memset(values, 0xff, sizeof values);
        assert_int_equal(leati_example_parse_dense(plan, &record, 1, &order, columns), 1);
        for (int64_t i = 0; i < MANY; i++)
            assert_int_equal(values[i], i);
    }
    leati_example_plan_free(plan);
    many[100].name = "missing";
    memset(&order, 0, sizeof order);
    assert_int_equal(leati_example_plan_new(many, MANY, &plan, &err), LEAT_OK);
    assert_int_equal(leati_example_parse_dense(plan, &record, 1, &order, columns), 0);
    leati_example_plan_free(plan);
    leat_example_free(example);
}

/* Where it cannot be sure it stops, at the very record. */
static void stops(void **state) {
    (void)state;
    leati_example_plan *plan = new_plan();
    leati_example_order order = {0};
    leat_string records[10];
    leat_string room[NUM_REQUESTS][10 * VALUES];
    leati_example_column columns[NUM_REQUESTS];
    for (int i = 0; i < 10; i++)
        records[i] = build(20);
    ((char *)(uintptr_t)records[6].data)[0] = 0x12;
    for (int i = 0; i < NUM_REQUESTS; i++)
        columns[i] = (leati_example_column){room[i], sizeof room[i] / 10};
    assert_int_equal(leati_example_parse_dense(plan, records, 10, &order, columns), 6);
    assert_ptr_equal(room[2][5 * VALUES].data > records[5].data, true);
    assert_int_equal(leati_example_parse_dense(plan, records + 7, 3, &order, columns), 3);
    leati_example_plan_free(plan);
    /* A feature of any length, one that is missing, and one of another length. */
    leati_feature_request other = {.name = "id", .dtype = LEAT_INT64, .length = -1};
    for (int i = 0; i < 3; i++) {
        leat_error err = {0};
        memset(&order, 0, sizeof order);
        assert_int_equal(leati_example_plan_new(&other, 1, &plan, &err), LEAT_OK);
        assert_int_equal(leati_example_parse_dense(plan, records, 1, &order, columns), 0);
        leati_example_plan_free(plan);
        other.name = i == 0 ? "missing" : "id";
        other.length = i == 0 ? 1 : 2;
    }
    for (int i = 0; i < 10; i++)
        free((char *)(uintptr_t)records[i].data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parses_what_encoders_write),
        cmocka_unit_test(agrees_on_damage),
        cmocka_unit_test(stops),
        cmocka_unit_test(finds_any_number),
        cmocka_unit_test(many_features),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
