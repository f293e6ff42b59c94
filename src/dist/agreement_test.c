/* What all workers must have alike: plans as lists, and three real processes of which one differs,
 * which all are told by worker, operator, argument and both values. */
#include "support/cmocka.h"

#include "base/alloc.h"
#include "dist/agreement.h"
#include "dist/plan_list.h"
#include "support/workers.h"
#include <leat/data_ops.h>
#include <stdio.h>

enum { LONG_MS = 60000, FILES = 700, ODD_FILE = 577, MOST_PLAN = 1 << 16 };

/* ---- plans ---- */

#define RANGE "{\"op\": \"range\", \"args\": {\"stop\": 12}}"
#define OVER(op, args, input) "{\"op\": \"" op "\", \"args\": {" args "}, \"input\": " input "}"
#define NUMBERS(data)                                                                              \
    "{\"op\": \"from_tensor_slices\", \"args\": {\"tensors\": {\"dtype\": \"int64\", \"shape\": "  \
    "[3], \"data\": [" data "]}}}"
#define NAMED(key)                                                                                 \
    "{\"op\": \"from_tensor_slices\", \"args\": {\"tensors\": {\"dict\": {\"" key                  \
    "\": {\"dtype\": \"int64\", \"shape\": [1], \"data\": [1]}}}}}"
#define READ(names) "{\"op\": \"text_line_dataset\", \"args\": {\"filenames\": [" names "]}}"
#define SAMPLE(weights)                                                                            \
    "{\"op\": \"sample_from_datasets\", \"args\": {\"seed\": 1, \"weights\": {\"dtype\": "         \
    "\"float32\", \"shape\": [2], \"data\": [" weights "]}}, \"inputs\": [" RANGE ", " RANGE "]}"

typedef struct pair {
    const char *one, *other;
    const char *words[3]; /* in the message; NULL: the two are the same to all workers */
} pair;

static const pair pairs[] = {
    {OVER("shuffle", "\"buffer_size\": 9, \"seed\": 4", RANGE),
     OVER("shuffle", "\"buffer_size\": 9, \"seed\": 5", RANGE),
     {"shuffle: seed", "5", "4"}},
    {OVER("shuffle", "\"buffer_size\": 9, \"seed\": 4", RANGE),
     OVER("shuffle", "\"buffer_size\": 9", RANGE),
     {"shuffle: seed", "none", "4"}},
    /* Unseeded: all take worker 0's. */
    {OVER("shuffle", "\"buffer_size\": 9", RANGE),
     OVER("shuffle", "\"buffer_size\": 9", RANGE),
     {0}},
    {"{\"op\": \"shuffle\", \"args\": {\"buffer_size\": 9, \"seed\": 1}, \"label\": \"rows\", "
     "\"input\": " RANGE "}",
     "{\"op\": \"shuffle\", \"args\": {\"buffer_size\": 9, \"seed\": 2}, \"label\": \"rows\", "
     "\"input\": " RANGE "}",
     {"shuffle \"rows\": seed", "2", "1"}},
    {OVER("take", "\"count\": 7", RANGE),
     OVER("take", "\"count\": 8", RANGE),
     {"take: count", "8", "7"}},
    {OVER("take", "\"count\": 7", RANGE),
     OVER("skip", "\"count\": 7", RANGE),
     {"operator", "skip", "take"}},
    {RANGE, OVER("cache", "", RANGE), {"operator", "cache", "range"}},
    {NUMBERS("1, 2, 3"), NUMBERS("1, 2, 4"), {"component 0", "[1, 2, 4]", "[1, 2, 3]"}},
    {NAMED("a"), NAMED("b"), {"structure", "{'b'", "{'a'"}},
    {READ("\"/d/a\", \"/d/b\""), READ("\"/d/b\", \"/d/a\""), {"filenames[0]", "/d/b", "/d/a"}},
    {READ("\"/d/a\", \"/d/b\""), READ("\"/d/a\", \"/e/b\""), {"filenames[1]", "/e/b", "/d/b"}},
    {READ("\"/d/a\", \"/d/b\""),
     READ("\"/d/a\", \"/d/b\", \"/d/c\""),
     {"filenames[2]", "/d/c", "2"}},
    {READ("\"ab\", \"c\""), READ("\"a\", \"bc\""), {"filenames[0]", "a", "ab"}},
    {SAMPLE("1, 2"), SAMPLE("1, 3"), {"sample_from_datasets", "3", "2"}},
};
enum { PAIRS = sizeof pairs / sizeof pairs[0] };

static uint64_t hash_of(const char *text) {
    leat_error err = {0};
    leat_dataset *plan = leat_dataset_from_json(text, &err);
    if (plan == NULL)
        fail_msg("%s: %s", text, err.text);
    leati_agreement_list list = {.wanted = LEATI_NO_ITEM};
    leati_plan_list_add(&list, plan);
    uint64_t hash = list.count;
    for (size_t i = 0; i < list.count; i++)
        hash = hash * 1099511628211u ^ list.hashes[i];
    leati_free(list.hashes);
    leat_dataset_unref(plan);
    return hash;
}

static void test_lists(void **state) {
    (void)state;
    for (int i = 0; i < PAIRS; i++) {
        assert_true(hash_of(pairs[i].one) == hash_of(pairs[i].one));
        bool same = hash_of(pairs[i].one) == hash_of(pairs[i].other);
        if (same != (pairs[i].words[0] == NULL))
            fail_msg("pair %d: %s and %s", i, pairs[i].one, pairs[i].other);
    }
}

/* ---- in a worker ---- */

static leat_status distribute(leat_strategy *strategy, leat_dataset *plan, leat_error *err) {
    leat_distributed_dataset *d = leat_strategy_distribute_dataset(strategy, plan, NULL, err);
    leat_status status = d == NULL ? err->code : LEAT_OK;
    leat_distributed_dataset_free(d);
    return status;
}

/* Files of which one in the middle has another name on one worker. */
static leat_dataset *files(bool odd, leat_error *err) {
    static char text[MOST_PLAN];
    size_t used = (size_t)snprintf(text, sizeof text,
                                   "{\"op\": \"text_line_dataset\", \"args\": {\"filenames\": [");
    for (int i = 0; i < FILES; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%s\"/data/%s%d\"",
                                 i == 0 ? "" : ", ", odd && i == ODD_FILE ? "odd" : "part", i);
    }
    snprintf(text + used, sizeof text - used, "]}}");
    return leat_dataset_from_json(text, err);
}

static void say(const char *what, int number, leat_status status, const leat_error *err) {
    workers_say("%s %d %s: %s", what, number, leat_status_name(status), err->text);
}

/* Worker 2 has the other plan of each pair; a difference does not end the job. */
static int work(void) {
    leat_error err = {0};
    leat_strategy_multi_worker_mirrored_options options = {
        LEAT_STRATEGY_MULTI_WORKER_MIRRORED_DEFAULTS, LEAT_STRATEGY_MULTI_WORKER_MIRRORED_DEFAULTS,
        .timeout_ms = LONG_MS, .start_timeout_ms = LONG_MS, .heartbeat_timeout_ms = LONG_MS};
    leat_strategy *strategy = leat_strategy_multi_worker_mirrored(&options, &err);
    if (strategy == NULL)
        return 2;
    bool odd = leat_strategy_worker(strategy) == 2;
    for (int i = 0; i < PAIRS; i++) {
        err = (leat_error){0};
        leat_dataset *plan = leat_dataset_from_json(odd ? pairs[i].other : pairs[i].one, &err);
        plan = leat_dataset_batch(plan, 2, NULL, &err);
        say("pair", i, distribute(strategy, plan, &err), &err);
    }
    err = (leat_error){0};
    say("files", 0, distribute(strategy, leat_dataset_batch(files(odd, &err), 2, NULL, &err), &err),
        &err);
    err = (leat_error){0};
    leat_seed_set(odd ? 8 : 7);
    say("global", 0,
        distribute(strategy,
                   leat_dataset_from_json(OVER("batch", "\"batch_size\": 2", RANGE), &err), &err),
        &err);
    leat_seed_clear();
    err = (leat_error){0};
    say("text", 0, leat_strategy_agree(strategy, "the schedule", odd ? "slow" : "fast", &err),
        &err);
    err = (leat_error){0};
    say("end", 0, leat_strategy_agree(strategy, "the end", "of the test", &err), &err);
    leat_strategy_unref(strategy);
    return 0;
}

/* ---- the tests ---- */

static workers_result results[WORKERS_MOST];

/* What a worker said behind `key`; a line. */
static void line_of(int worker, const char *key, char *line, size_t size) {
    const char *at = strstr(results[worker].said, key);
    snprintf(line, size, "%.*s", at == NULL ? 0 : (int)strcspn(at, "\n"), at == NULL ? "" : at);
}

static void check_line(const char *key, const char *const words[3]) {
    char line[2048];
    for (int w = 0; w < 3; w++) {
        line_of(w, key, line, sizeof line);
        bool ok = strstr(line, words[0] == NULL ? " OK: " : " FAILED_PRECONDITION: ") != NULL;
        for (int i = 0; i < 3 && words[i] != NULL; i++)
            ok = ok && strstr(line, words[i]) != NULL;
        if (words[0] != NULL)
            ok = ok && strstr(line, "worker 2 (10.0.0.2:2222)") && strstr(line, "worker 0 (");
        if (!ok)
            fail_msg("worker %d, %s: %s; said %s", w, key, line, results[w].said);
    }
}

static void test_one_differs(void **state) {
    (void)state;
    char key[32];
    workers_run_well("agree", "", 3, results);
    for (int i = 0; i < PAIRS; i++) {
        snprintf(key, sizeof key, "pair %d ", i);
        check_line(key, pairs[i].words);
    }
    check_line("files 0 ",
               (const char *const[3]){"filenames[577]", "/data/odd577", "/data/part577"});
    check_line("global 0 ", (const char *const[3]){"random seed", "8", "7"});
    check_line("text 0 ", (const char *const[3]){"the schedule", "slow", "fast"});
    check_line("end 0 ", (const char *const[3]){NULL, NULL, NULL});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_one_differs),
    };
    return workers_case() != NULL ? work() : cmocka_run_group_tests(tests, NULL, NULL);
}
