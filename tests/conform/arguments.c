/* The suite of bad arguments: for every operator of the table, every row of numbers gets values
 * outside its range, and every row a value of another kind. Each is INVALID_ARGUMENT, as in
 * TensorFlow, with a text that names operator, argument and value, and says what was expected.
 *
 * The plan around the argument is the operator's first case in tests/conform/data that is built.
 * Functions are left out: their specs are checked in the operators' own tests.
 * A row without limits may take any number; where the operator refuses one nevertheless, its text
 * must be as good. */
#include "support/cmocka.h"

#include "conform.h"
#include "data/plan/op.h"
#include "support/golden.h"
#include "support/refused.h"
#include <string.h>
#include <unistd.h>

#define FOLDER LEATI_SOURCE_DIR "/tests/conform/data"
#define RECORDED LEATI_SOURCE_DIR "/tests/golden/data"

struct counts {
    int refused, wrong;
};

/* The first node of `op` in a tree. Borrowed. */
static json_t *find_node(json_t *json, const char *op) {
    const char *key = NULL;
    json_t *value = NULL, *found = NULL;
    size_t i = 0;
    if (json_is_object(json) && strcmp(golden_text(json, "op"), op) == 0)
        return json;
    json_object_foreach(json, key, value) {
        found = found != NULL ? found : find_node(value, op);
    }
    json_array_foreach(json, i, value) {
        found = found != NULL ? found : find_node(value, op);
    }
    return found;
}

static leat_status build(const json_t *json, leat_error *err) {
    golden_pipeline pipeline;
    leat_status status = golden_build(json, &pipeline, err);
    if (status == LEAT_OK)
        golden_pipeline_fini(&pipeline);
    return status;
}

/* The operator's first case that can be built, with `folder` for "$TMP". Owned. */
static json_t *good_case(golden_run *run, const char *op, const char *folder) {
    char path[1024];
    leat_error err = {0};
    snprintf(path, sizeof path, FOLDER "/%s.json", op);
    json_t *cases = golden_read_cases(run, path), *found = NULL;
    for (size_t i = 0; i < json_array_size(cases) && found == NULL; i++) {
        json_t *json = golden_with_folder(json_array_get(cases, i), folder);
        if (build(json, &err) == LEAT_OK &&
            find_node(json_object_get(json, "pipeline"), op) != NULL)
            found = json_incref(json);
        json_decref(json);
    }
    json_decref(cases);
    return found;
}

/* Builds with `value` (given) in place of the argument; returns the text of the failure in err. */
static leat_status build_with(const json_t *json, const char *op, const leati_row *row,
                              json_t *value, leat_error *err) {
    json_t *copy = json_deep_copy(json);
    json_t *node = find_node(json_object_get(copy, "pipeline"), op);
    json_t *args = json_object_get(node, "args");
    *err = (leat_error){0};
    json_object_set_new(args, row->name, value);
    leat_status status = build(copy, err);
    json_decref(copy);
    return status;
}

/* `value` is what the error must name beside operator and argument; NULL: nothing. */
static void check_text(struct counts *counts, const char *op, const leati_row *row,
                       const char *value, const leat_error *err) {
    bool good = err->reason != LEAT_REASON_NONE &&
                is_refused(err, LEAT_INVALID_ARGUMENT, err->reason, op) &&
                is_refused(err, LEAT_INVALID_ARGUMENT, err->reason, row->name) &&
                is_refused(err, LEAT_INVALID_ARGUMENT, err->reason, value);
    counts->refused++;
    if (!good) {
        counts->wrong++;
        printf("FAIL %s: %s = %s: %s: %s\n", op, row->name,
               value != NULL ? value : "(another kind)", leat_status_name(err->code), err->text);
    }
}

static bool is_allowed(const leati_row *row, int64_t value) {
    bool none = (row->flags & LEATI_NONE) != 0 && value == leati_row_default_int(row);
    bool tuned = (row->flags & LEATI_AUTOTUNE) != 0 && value == -1;
    return none || tuned || (value >= row->minimum && value <= row->maximum);
}

/* The case's list with another first number, or a list of that number. Owned. */
static json_t *list_with(const json_t *json, const char *op, const leati_row *row, int64_t value) {
    json_t *copy = json_deep_copy(json);
    json_t *args = json_object_get(find_node(json_object_get(copy, "pipeline"), op), "args");
    json_t *list = json_incref(json_object_get(args, row->name));
    json_decref(copy);
    if (!json_is_array(list) || json_array_size(list) == 0) {
        json_decref(list);
        return json_pack("[I]", (json_int_t)value);
    }
    json_array_set_new(list, 0, json_integer(value));
    return list;
}

/* A value that no row of the type takes. Owned. */
static json_t *another_kind(const leati_row *row) {
    switch (row->type) {
    case LEATI_ROW_STRING:
    case LEATI_ROW_STRINGS: return json_integer(4);
    case LEATI_ROW_ELEMENT: return json_pack("{s:i}", "no such thing", 1);
    default: return json_string("no such thing");
    }
}

static void check_number(struct counts *counts, const json_t *json, const char *op,
                         const leati_row *row, int64_t value) {
    const bool limits = row->minimum != 0 || row->maximum != 0;
    const bool list = row->type == LEATI_ROW_INTS;
    leat_error err;
    char text[32];
    json_t *number = list ? list_with(json, op, row, value) : json_integer(value);
    snprintf(text, sizeof text, "%lld", (long long)value);
    leat_status status = build_with(json, op, row, number, &err);
    if (limits && !is_allowed(row, value) && status == LEAT_OK)
        leati_fail(&err, LEAT_OK, "it was accepted");
    else if (status == LEAT_OK)
        return;
    check_text(counts, op, row, text, &err);
}

static void check_row(struct counts *counts, const json_t *json, const char *op,
                      const leati_row *row) {
    const bool number = row->type == LEATI_ROW_INT || row->type == LEATI_ROW_INTS;
    leat_error err;
    if (number) {
        check_number(counts, json, op, row, -7);
        check_number(counts, json, op, row, 0);
        check_number(counts, json, op, row, INT64_MIN / 2);
        if (row->minimum != 0 || row->maximum != 0)
            check_number(counts, json, op, row, row->minimum - 1);
        if (row->maximum != 0 && row->maximum < INT64_MAX)
            check_number(counts, json, op, row, row->maximum + 1);
    }
    if (row->type == LEATI_ROW_FUNCTION)
        return; /* the cases' functions are names, which the runner reads, not the library */
    if (build_with(json, op, row, another_kind(row), &err) == LEAT_OK)
        leati_fail(&err, LEAT_OK, "it was accepted");
    check_text(counts, op, row, NULL, &err);
}

static void test_arguments(void **state) {
    (void)state;
    golden_run run = {.modes = GOLDEN_PLAIN, .seed = 1};
    struct counts counts = {0};
    size_t count = 0;
    const leati_dataset_op *const *ops = leati_plan_ops(&count);
    char folder[512];
    assert_int_equal(chdir(RECORDED), 0);
    golden_generators_begin();
    assert_true(golden_folder_make(folder, sizeof folder));
    for (size_t i = 0; i < count; i++) {
        if ((ops[i]->flags & LEATI_OP_REMOTE) != 0)
            continue;
        json_t *json = good_case(&run, ops[i]->name, folder);
        assert_non_null(json);
        for (const leati_row *row = ops[i]->rows; row->type != LEATI_ROW_END; row++)
            if ((row->flags & LEATI_CONSTRUCT) == 0 && row->type != LEATI_ROW_OBJECT)
                check_row(&counts, json, ops[i]->name, row);
        json_decref(json);
    }
    golden_folder_remove(folder);
    leat_seed_clear();
    assert_int_equal(golden_generators_end(), 0);
    assert_int_equal(chdir(LEATI_SOURCE_DIR), 0);
    print_message("%d bad arguments refused\n", counts.refused);
    assert_true(counts.refused > 200);
    assert_int_equal(counts.wrong, 0);
}

int conform_arguments(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_arguments)};
    return cmocka_run_group_tests_name("arguments", tests, NULL, NULL);
}
