/* Plans as JSON: what is read is written, and read again as a plan with the same fingerprint, spec,
 * cardinality and text. */
#include "fuzz.h"
#include "plans.h"
#include <string.h>

static void run(const uint8_t *data, size_t size) {
    leat_error err = {0};
    if (!fuzz_text_is_tame(data, size))
        return;
    leat_dataset *dataset = fuzz_plan_of(data, size);
    char *text = dataset == NULL ? NULL : leat_dataset_to_json(dataset, &err);
    if (dataset != NULL && text == NULL)
        fuzz_check_error("leat_dataset_to_json", err.code, &err);
    if (text != NULL) {
        leat_dataset *again = leat_dataset_from_json(text, &err);
        char *second = again == NULL ? NULL : leat_dataset_to_json(again, &err);
        if (second == NULL)
            fuzz_broken("a plan that was written cannot be read: %s\n%s", err.text, text);
        if (strcmp(text, second) != 0 ||
            leat_dataset_fingerprint(dataset) != leat_dataset_fingerprint(again) ||
            leat_dataset_cardinality(dataset) != leat_dataset_cardinality(again) ||
            !leat_spec_equal(leat_dataset_spec(dataset), leat_dataset_spec(again)))
            fuzz_broken("a plan came back as another one:\n%s\n%s", text, second);
        leat_text_free(second);
        leat_dataset_unref(again);
    }
    leat_text_free(text);
    leat_dataset_unref(dataset);
}

static void keep(const char *text) {
    fuzz_seed(text, strlen(text));
}

static void seeds(void) {
    fuzz_each_case(keep);
}

const fuzz_target fuzz_plan_json = {
    .name = "plan_json",
    .doc = "plans as JSON, read and written",
    .run = run,
    .form = FUZZ_JSON,
    .most = 4096,
    .seeds = seeds,
};
