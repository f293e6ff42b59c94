/* The same as killed_test's compositions, for all of them and for the pipelines recorded from
 * TensorFlow, each killed at three random places. */
#include "support/cmocka.h"

#include "support/killed.h"
#include <string.h>
#include <unistd.h>

/* Kills every case of a file; returns how many could be saved. */
static size_t kill_cases(golden_run *run, const char *path, uint64_t seed) {
    json_t *cases = golden_read_cases(run, path);
    size_t restored = 0;
    for (size_t i = 0; i < json_array_size(cases); i++) {
        const json_t *json = json_array_get(cases, i);
        golden_case c;
        golden_begin(&c, run, path, golden_text(json, "name"));
        golden_check_names(&c, json_object_get(json, "pipeline"));
        /* This order TensorFlow's rules do not explain. */
        bool known = c.missing[0] == '\0' && strcmp(c.name, "c0124") != 0 &&
                     json_object_get(json, "let") == NULL;
        if (known && json_object_get(json_object_get(json, "expect"), "elements") != NULL)
            restored += killed_case(&c, json, seed + i);
        c.missing[0] = '\0';
        golden_end(&c);
    }
    json_decref(cases);
    return restored;
}

static void test_all(void **state) {
    (void)state;
    golden_run run = {.modes = GOLDEN_PLAIN, .seed = 1};
    assert_int_equal(chdir(LEATI_SOURCE_DIR "/tests/golden/data"), 0);
    assert_true(kill_cases(&run, LEATI_SOURCE_DIR "/tests/conform/data/compositions.json", 7) >=
                190);
    assert_true(kill_cases(&run, "tfdata/composed.json", 5000) >= 100);
    assert_true(kill_cases(&run, "tfdata/shuffle.json", 6000) >= 20);
    assert_true(kill_cases(&run, "tfdata/snapshot.json", 7000) >= 10);
    assert_true(kill_cases(&run, "tfdata/interleave.json", 8000) >= 10);
    assert_int_equal(run.failed, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all)};
    return cmocka_run_group_tests_name("killed, all", tests, NULL, NULL);
}
