/* Plans that run: any plan that is accepted delivers up to 1,000 outcomes under limits of time and
 * memory, the same on one thread and on two, in verification mode and without, and from a state
 * that was saved in the middle over a plan that was built anew. */
#include "base/hash.h"
#include "fuzz.h"
#include "plans.h"
#include <string.h>
#include <unistd.h>

enum { MOST_MS = 700 };

static size_t count_of(const uint8_t *data, size_t size, const char *word) {
    size_t count = 0;
    const uint8_t *end = data + size;
    for (const uint8_t *at = data;
         (at = memmem(at, (size_t)(end - at), word, strlen(word))) != NULL; at++)
        count++;
    return count;
}

/* Plans whose elements may differ from run to run: given up order, files that a run writes, and
 * seeds that are said to be resolved but are none. */
static bool is_fixed(const uint8_t *data, size_t size) {
    static const char *const words[] = {"eterministic", "sloppy", "\"filename\"", "\"snapshot\"",
                                        "callback"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (memmem(data, size, words[i], strlen(words[i])) != NULL)
            return false;
    return count_of(data, size, "\"resolved\"") <= count_of(data, size, "\"pair_1\"") &&
           count_of(data, size, "\"pair_1\":0") == 0;
}

typedef struct saved {
    char *data;
    size_t size;
    size_t after; /* outcomes */
} saved;

static leat_iterator *open_plan(leat_dataset *dataset, int threads, bool verify) {
    leat_error err = {0};
    leat_iterator_options options = {LEAT_ITERATOR_DEFAULTS,   .num_threads = threads,
                                     .memory_limit = 64 << 20, .verify = verify,
                                     .verify_seed = 3,         .deadline_ms = MOST_MS};
    leat_iterator *iterator = dataset == NULL ? NULL : leat_iterator_new(dataset, &options, &err);
    if (dataset != NULL && iterator == NULL)
        fuzz_check_error("opening", err.code, &err);
    return iterator;
}

/* All outcomes, saved after `saves` of them where `out` is given. False: it could not be opened. */
static bool run_plan(const uint8_t *text, size_t size, int threads, bool verify, size_t saves,
                     saved *out, fuzz_outcomes *outcomes) {
    leat_dataset *dataset = fuzz_plan_of(text, size);
    leat_iterator *iterator = open_plan(dataset, threads, verify);
    leat_error err = {0};
    outcomes->count = 0;
    outcomes->ended = outcomes->limited = false;
    if (iterator != NULL && out != NULL) {
        fuzz_pull(iterator, saves, MOST_MS, outcomes);
        leat_status status = leat_iterator_save(iterator, &out->data, &out->size, NULL, &err);
        if (!outcomes->limited)
            fuzz_check_error("saving", status, &err);
        out->after = outcomes->count;
        if (status != LEAT_OK)
            out->data = NULL;
    }
    if (iterator != NULL && !outcomes->limited)
        fuzz_pull(iterator, FUZZ_OUTCOMES, MOST_MS, outcomes);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
    return iterator != NULL;
}

static void check_restored(const uint8_t *text, size_t size, const saved *state,
                           const fuzz_outcomes *whole) {
    static fuzz_outcomes rest;
    leat_dataset *dataset = fuzz_plan_of(text, size);
    leat_iterator *iterator = open_plan(dataset, 1, true);
    leat_error err = {0};
    memcpy(rest.hashes, whole->hashes, state->after * sizeof *rest.hashes);
    rest.count = state->after;
    rest.ended = rest.limited = false;
    if (iterator == NULL)
        fuzz_broken("a plan that was opened cannot be opened again");
    leat_status status = leat_iterator_restore(iterator, state->data, state->size, &err);
    if (status != LEAT_OK && status != LEAT_RESOURCE_EXHAUSTED)
        fuzz_broken("restoring after %zu outcomes: %s", state->after, err.text);
    if (status == LEAT_OK) {
        fuzz_pull(iterator, FUZZ_OUTCOMES, 2 * MOST_MS, &rest);
        fuzz_compare("restored", whole, &rest);
    }
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
}

static void run(const uint8_t *data, size_t size) {
    static fuzz_outcomes whole, other;
    saved state = {0};
    if (!fuzz_text_is_tame(data, size))
        return;
    bool fixed = is_fixed(data, size);
    size_t saves = leati_hash(data, size, 0) % 12;
    if (run_plan(data, size, 1, false, saves, &state, &whole)) {
        run_plan(data, size, 2, true, 0, NULL, &other);
        if (fixed && !whole.limited)
            fuzz_compare("on two threads", &whole, &other);
        if (fixed && state.data != NULL && !whole.limited)
            check_restored(data, size, &state, &whole);
    }
    leat_text_free(state.data);
    leati_dataset_templates_trim();
}

static void keep(const char *text) {
    fuzz_seed(text, strlen(text));
}

static void seeds(void) {
    fuzz_each_case(keep);
}

const fuzz_target fuzz_plan = {
    .name = "plan",
    .doc = "plans that run, are saved and restored",
    .run = run,
    .form = FUZZ_JSON,
    .most = 4096,
    .seeds = seeds,
};
