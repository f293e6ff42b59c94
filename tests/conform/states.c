/* The suite of damaged states: for every operator, states of its first cases in
 * tests/conform/data, saved at the start and in the middle, with every byte changed in turn and a
 * checksum that fits. Such a state is refused with a text, or the iterator goes on from wherever
 * the state says; what it then gives can be read. INTERNAL is a broken promise, and so is a crash.
 *
 * Cases that write files are left out: their states name folders. */
#include "support/cmocka.h"

#include "base/hash.h"
#include "conform.h"
#include "data/plan/op.h"
#include "support/golden.h"
#include "support/limited.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FOLDER LEATI_SOURCE_DIR "/tests/conform/data"
#define RECORDED LEATI_SOURCE_DIR "/tests/golden/data"

enum { CASES = 2, CHECKSUM = 8, STATE_VERSION = 1, NEXT = 4 };

struct counts {
    size_t refused, resumed;
};

static void check_code(const char *name, size_t at, leat_status status, const leat_error *err) {
    if (status == LEAT_INTERNAL || (status != LEAT_OK && err->text[0] == '\0'))
        fail_msg("%s, byte %zu: %s: \"%s\"", name, at, leat_status_name(status), err->text);
}

static leat_iterator *open_one(const leat_dataset *dataset) {
    leat_iterator_options options = {LEAT_ITERATOR_DEFAULTS, .num_threads = 1, .autotune = false};
    leat_error err = {0};
    leat_iterator *iterator = leat_iterator_new((leat_dataset *)(uintptr_t)dataset, &options, &err);
    if (iterator == NULL)
        fail_msg("%s", err.text);
    return iterator;
}

/* Takes up to `count` outcomes and looks at every value. */
static void take(const char *name, size_t at, leat_iterator *iterator, size_t count) {
    leat_element element = {0};
    leat_error err = {0};
    for (size_t i = 0; i < count; i++) {
        leat_status status = leat_iterator_next(iterator, &element, &err);
        if (status == LEAT_OUT_OF_RANGE)
            break;
        if (status != LEAT_INTERNAL) /* a function's failure may have that code */
            check_code(name, at, status, &err);
        if (status == LEAT_OK)
            assert_true(leat_element_print(&element, NULL, 0) > 0);
    }
    leat_element_fini(&element);
}

static void try_state(const char *name, size_t at, const leat_dataset *dataset, char *data,
                      size_t size, struct counts *counts) {
    leat_error err = {0};
    uint64_t checksum = leati_hash(data, size - CHECKSUM, STATE_VERSION);
    for (int b = 0; b < 8; b++)
        data[size - CHECKSUM + (size_t)b] = (char)(checksum >> (8 * b));
    leat_iterator *iterator = open_one(dataset);
    leat_status status = leat_iterator_restore(iterator, data, size, &err);
    check_code(name, at, status, &err);
    counts->refused += status != LEAT_OK;
    counts->resumed += status == LEAT_OK;
    if (status == LEAT_OK)
        take(name, at, iterator, NEXT);
    leat_iterator_free(iterator);
}

/* A state with each of its bytes changed in two ways. */
static void check_state(const char *name, const leat_dataset *dataset, char *data, size_t size,
                        struct counts *counts) {
    static const char changes[] = {1, 0x40};
    for (size_t i = 0; i + CHECKSUM < size; i++)
        for (size_t c = 0; c < sizeof changes; c++) {
            data[i] ^= changes[c];
            try_state(name, i, dataset, data, size, counts);
            data[i] ^= changes[c];
        }
}

/* States saved after so many outcomes, with the elements that operators hold where that differs. */
static void check_states(const char *name, const leat_dataset *dataset, size_t taken,
                         struct counts *counts) {
    leat_iterator_save_options whole = {LEAT_ITERATOR_SAVE_DEFAULTS, .mode = LEAT_SAVE_DATA};
    leat_error err = {0};
    char *data = NULL, *other = NULL;
    size_t size = 0, other_size = 0;
    leat_iterator *iterator = open_one(dataset);
    take(name, 0, iterator, taken);
    leat_status saved = leat_iterator_save(iterator, &data, &size, NULL, &err);
    leat_status also = leat_iterator_save_with(iterator, &whole, &other, &other_size, NULL, &err);
    leat_iterator_free(iterator);
    if (also == LEAT_OK &&
        (saved != LEAT_OK || size != other_size || memcmp(data, other, size) != 0))
        check_state(name, dataset, other, other_size, counts);
    if (saved == LEAT_OK)
        check_state(name, dataset, data, size, counts);
    leat_text_free(data);
    leat_text_free(other);
}

static void check_case(const json_t *json, struct counts *counts) {
    const char *name = golden_text(json, "name");
    const json_t *elements = json_object_get(json_object_get(json, "expect"), "elements");
    golden_pipeline pipeline;
    leat_error err = {0};
    if (golden_build(json, &pipeline, &err) != LEAT_OK)
        fail_msg("%s: %s", name, err.text);
    check_states(name, pipeline.dataset, 0, counts);
    check_states(name, pipeline.dataset, json_array_size(elements) / 2 + 1, counts);
    golden_pipeline_fini(&pipeline);
}

/* The first cases that have elements and write nothing. */
static void check_operator(golden_run *run, const char *op, size_t *dealt) {
    char path[1024];
    struct counts counts = {0};
    int left = CASES;
    snprintf(path, sizeof path, FOLDER "/%s.json", op);
    json_t *cases = golden_read_cases(run, path);
    for (size_t i = 0; i < json_array_size(cases) && left > 0; i++) {
        const json_t *json = json_array_get(cases, i);
        char *text = json_dumps(json, 0);
        size_t count =
            json_array_size(json_object_get(json_object_get(json, "expect"), "elements"));
        if (count > 1 && strstr(text, "$TMP") == NULL) {
            if (conform_mine(dealt))
                check_case(json, &counts);
            left--;
        }
        free(text);
    }
    print_message("%s: %zu refused, %zu went on\n", op, counts.refused, counts.resumed);
    json_decref(cases);
}

static void test_damaged_states(void **state) {
    (void)state;
    golden_run run = {.modes = UINT32_MAX, .seed = 1};
    size_t count = 0, dealt = 0;
    const leati_dataset_op *const *ops = leati_plan_ops(&count);
    limited_memory((size_t)64 << 20);
    assert_int_equal(chdir(RECORDED), 0);
    run.reasons = json_object();
    run.exclusions = json_object();
    golden_generators_begin();
    for (size_t i = 0; i < count; i++)
        if ((ops[i]->flags & LEATI_OP_REMOTE) == 0)
            check_operator(&run, ops[i]->name, &dealt);
    json_decref(run.reasons);
    json_decref(run.exclusions);
    leat_seed_clear();
    assert_int_equal(golden_generators_end(), 0);
    leat_allocator_set(NULL);
    assert_int_equal(chdir(LEATI_SOURCE_DIR), 0);
}

int conform_states(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_damaged_states)};
    return cmocka_run_group_tests_name("states", tests, NULL, NULL);
}
