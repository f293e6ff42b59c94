/* Saved states: a plan as JSON, a zero byte, and the bytes of a state whose checksum and
 * fingerprints are made to fit. Such a state is refused, or the iterator goes on from wherever it
 * says, and can be saved again. */
#include "base/bytes.h"
#include "base/hash.h"
#include "data/rewrites/rewrite.h"
#include "fuzz.h"
#include "plans.h"
#include <stdlib.h>
#include <string.h>

/* Where the fingerprints stand: behind the magic (its length and four bytes) and the version. */
enum { MOST_NEXT = 50, FINGERPRINTS = 6, CHECKSUM = 8, STATE_VERSION = 1 };

static void put_word(uint8_t *to, uint64_t value) {
    for (int i = 0; i < 8; i++)
        to[i] = (uint8_t)(value >> (8 * i));
}

static void make_fit(leat_dataset *dataset, uint8_t *state, size_t size) {
    leat_error err = {0};
    leat_dataset *rewritten = leati_rewrite(dataset, false, &err);
    if (rewritten == NULL)
        fuzz_check_error("rewriting", err.code, &err);
    if (rewritten != NULL && size >= FINGERPRINTS + 16 + CHECKSUM) {
        put_word(state + FINGERPRINTS, leat_dataset_fingerprint(dataset));
        put_word(state + FINGERPRINTS + 8, leat_dataset_fingerprint(rewritten));
        put_word(state + size - CHECKSUM, leati_hash(state, size - CHECKSUM, STATE_VERSION));
    }
    leat_dataset_unref(rewritten);
}

static void restore(leat_dataset *dataset, const uint8_t *state, size_t size) {
    static fuzz_outcomes outcomes;
    leat_error err = {0};
    leat_iterator_options options = {LEAT_ITERATOR_DEFAULTS, .num_threads = 1};
    leat_iterator *iterator = leat_iterator_new(dataset, &options, &err);
    outcomes.count = 0;
    outcomes.ended = outcomes.limited = false;
    if (iterator == NULL) {
        fuzz_check_error("opening", err.code, &err);
        return;
    }
    fuzz_watch(iterator, 1000);
    leat_status status = leat_iterator_restore(iterator, (const char *)state, size, &err);
    fuzz_unwatch();
    fuzz_check_error("restoring", status, &err);
    if (status == LEAT_OK) {
        char *data = NULL;
        size_t length = 0;
        fuzz_pull(iterator, MOST_NEXT, 500, &outcomes);
        status = leat_iterator_save(iterator, &data, &length, NULL, &err);
        if (!outcomes.limited)
            fuzz_check_error("saving", status, &err);
        leat_text_free(status == LEAT_OK ? data : NULL);
    }
    leat_iterator_free(iterator);
}

static void run(const uint8_t *data, size_t size) {
    const uint8_t *zero = memchr(data, 0, size);
    if (zero == NULL || !fuzz_text_is_tame(data, (size_t)(zero - data)))
        return;
    size_t length = size - (size_t)(zero - data) - 1;
    leat_dataset *dataset = fuzz_plan_of(data, (size_t)(zero - data));
    uint8_t *state = malloc(length + 1);
    if (dataset != NULL && state != NULL) {
        memcpy(state, zero + 1, length);
        make_fit(dataset, state, length);
        restore(dataset, state, length);
    }
    free(state);
    leat_dataset_unref(dataset);
}

/* A case's plan and its state after two outcomes. */
static void keep(const char *text) {
    static fuzz_outcomes outcomes;
    leat_error err = {0};
    leat_iterator_options options = {LEAT_ITERATOR_DEFAULTS, .num_threads = 1};
    leat_dataset *dataset = fuzz_plan_of((const uint8_t *)text, strlen(text));
    leat_iterator *iterator = dataset == NULL ? NULL : leat_iterator_new(dataset, &options, &err);
    char *data = NULL;
    size_t size = 0;
    outcomes.count = 0;
    outcomes.ended = false;
    if (iterator != NULL) {
        fuzz_pull(iterator, 2, 1000, &outcomes);
        if (leat_iterator_save(iterator, &data, &size, NULL, &err) == LEAT_OK) {
            leati_writer out = {0};
            leati_put_raw(&out, text, strlen(text) + 1);
            leati_put_raw(&out, data, size);
            fuzz_seed(out.data, out.size);
            leati_writer_fini(&out);
            leat_text_free(data);
        }
    }
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
}

static void seeds(void) {
    fuzz_each_case(keep);
}

const fuzz_target fuzz_state = {
    .name = "state",
    .doc = "saved states of iterators",
    .run = run,
    .form = FUZZ_JSON_AND_BYTES,
    .most = 4096,
    .seeds = seeds,
};
