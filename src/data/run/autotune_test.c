/* Autotune's rules, and explain's table. Rates are given here, not measured: time decides no test.
 */
#include "support/cmocka.h"

#include "support/torture.h"

#include "data/run/autotune.h"
#include "data/run/explain.h"
#include "data/run/iterator_parts.h"
#include "support/dataset.h"
#include <leat/ops.h>
#include <stdatomic.h>

static void test_steps(void **state) {
    (void)state;
    /* Threads go by one, buffers double and halve; both stay in their range. */
    assert_int_equal(leati_autotune_climb_next(4, 1, 8, false, false), 5);
    assert_int_equal(leati_autotune_climb_next(4, 1, 8, true, false), 3);
    assert_int_equal(leati_autotune_climb_next(8, 1, 8, false, false), 8);
    assert_int_equal(leati_autotune_climb_next(1, 1, 8, true, false), 1);
    assert_int_equal(leati_autotune_climb_next(4, 1, 512, false, true), 8);
    assert_int_equal(leati_autotune_climb_next(4, 1, 512, true, true), 2);
    assert_int_equal(leati_autotune_climb_next(400, 1, 512, false, true), 512);
    assert_int_equal(leati_autotune_climb_next(1, 1, 512, true, true), 1);
}

static void test_verdicts(void **state) {
    (void)state;
    assert_true(leati_autotune_climb_keeps(false, 100, 110));
    assert_false(leati_autotune_climb_keeps(false, 100, 101)); /* noise */
    assert_false(leati_autotune_climb_keeps(false, 100, 80));
    assert_true(leati_autotune_climb_keeps(true, 100, 100)); /* as fast with less */
    assert_true(leati_autotune_climb_keeps(true, 100, 120));
    assert_false(leati_autotune_climb_keeps(true, 100, 90));
}

/* The climb on a machine that is fastest with 5 threads ends there, from either side. */
static double rate_of(int64_t threads) {
    return threads <= 5 ? 100.0 * (double)threads : 500.0 - 50.0 * (double)(threads - 5);
}

static void test_climb(void **state) {
    (void)state;
    for (int64_t start = 1; start <= 16; start++) {
        leati_knob knob = {.minimum = 1, .maximum = 16};
        int late = 0;
        atomic_store(&knob.value, start);
        for (int i = 0; i < 260; i++) {
            int64_t value = leati_autotune_knob_get(&knob), next = 0;
            bool down = false;
            knob.climb.resting -= knob.climb.resting > 0;
            if (leati_autotune_climb_plan(&knob, (leati_scope){.starved = true}, &next, &down)) {
                bool keep = leati_autotune_climb_keeps(down, rate_of(value), rate_of(next));
                leati_autotune_climb_judge(&knob.climb, down, keep);
                atomic_store(&knob.value, keep ? next : value);
                late += i >= 100;
            }
        }
        assert_int_equal(leati_autotune_knob_get(&knob), 5);
        /* Once it is there it hardly ever disturbs: a trial in 64 rounds. */
        assert_in_range(late, 1, 4);
    }
}

/* One way is refused, then the other: the knob rests for longer each time, and a success ends it.
 */
static void test_rest(void **state) {
    (void)state;
    static const int64_t rests[] = {0, 4, 8, 16, 32, 64, 64, 64};
    leati_climb climb = {0};
    for (size_t i = 0; i < sizeof(rests) / sizeof(rests[0]); i++) {
        bool down = climb.down;
        leati_autotune_climb_judge(&climb, down, false);
        assert_int_equal(climb.resting, rests[i]);
        assert_int_equal(climb.down, !down);
    }
    leati_autotune_climb_judge(&climb, true, true);
    assert_int_equal(climb.resting, 0);
    assert_int_equal(climb.refused, 0);
    assert_true(climb.down);
}

/* The consumer's own time, and a pause of its own, change no verdict. */
static void test_samples(void **state) {
    (void)state;
    static const int64_t ms = 1000000;
    leati_sample before = {.elements = 100, .inside_ns = 100 * ms, .elapsed_ns = 200 * ms};
    leati_sample paused = {.elements = 100, .inside_ns = 50 * ms, .elapsed_ns = 5000 * ms};
    double was = 0, is = 0;
    leati_autotune_climb_compare(&before, &paused, &was, &is);
    assert_true(was > 499.9 && was < 500);
    assert_true(is > 666.6 && is < 666.7);
    leati_autotune_climb_compare(&paused, &before, &was, &is);
    assert_true(is > 499.9 && is < 500);
    assert_true(was > 666.6 && was < 666.7);
    assert_true(leati_autotune_climb_is_starved(&before));
    assert_false(leati_autotune_climb_is_starved(&paused));
    assert_true(leati_autotune_climb_is_hopeless(100, 70));
    assert_false(leati_autotune_climb_is_hopeless(100, 90));
}

static bool plan(bool buffer, int64_t value, bool down, leati_scope scope, int64_t *to) {
    leati_knob knob = {.buffer = buffer, .minimum = 1, .maximum = 16, .climb.down = down};
    bool way = false;
    atomic_store(&knob.value, value);
    return leati_autotune_climb_plan(&knob, scope, to, &way);
}

/* While memory is tight nothing grows and buffers shrink; for a consumer that does not wait nothing
 * is tried, but that. */
static void test_budgets(void **state) {
    (void)state;
    static const leati_scope waiting = {.starved = true}, idle = {0}, tight = {.tight = true},
                             both = {.starved = true, .tight = true};
    static const bool buffer = true, calls = false;
    int64_t to = 0;
    assert_true(plan(buffer, 4, false, waiting, &to));
    assert_int_equal(to, 8);
    assert_true(plan(buffer, 4, false, both, &to));
    assert_int_equal(to, 2);
    assert_true(plan(buffer, 4, false, tight, &to));
    assert_int_equal(to, 2);
    assert_false(plan(buffer, 1, false, both, &to));
    assert_false(plan(buffer, 4, false, idle, &to));
    assert_false(plan(buffer, 4, true, idle, &to));
    assert_true(plan(calls, 4, false, waiting, &to));
    assert_int_equal(to, 5);
    assert_true(plan(calls, 4, false, both, &to));
    assert_int_equal(to, 3);
    assert_false(plan(calls, 4, false, tight, &to));
    assert_false(plan(calls, 1, false, both, &to));
    assert_false(plan(calls, 4, true, idle, &to));
    assert_true(plan(calls, 16, false, waiting, &to));
    assert_int_equal(to, 15);
}

static int trace_square(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_value x = leat_graph_argument(graph, 0);
    outputs[0] = leat_op_multiply(x, x);
    return 1;
}

static leat_dataset *make(void *context, leat_error *err) {
    (void)context;
    leat_dataset *dataset = dataset_faults(leat_dataset_range(0, 20, 1, NULL, err), 20, 7, err);
    dataset = leat_dataset_map(
        dataset, LEAT_TRACE(trace_square, NULL, leat_dataset_spec(dataset), err),
        &(leat_dataset_map_options){LEAT_DATASET_MAP_DEFAULTS, .num_parallel_calls = LEAT_AUTOTUNE},
        err);
    dataset = leat_dataset_label(dataset, "square", err);
    return leat_dataset_prefetch(leat_dataset_batch(dataset, 4, NULL, err), 3, err);
}

/* Every operator has its line, also below a thread of its own; there is a verdict. */
static void test_explain(void **state) {
    (void)state;
    leat_error err = {0};
    leat_dataset *dataset = dataset_made(make, NULL);
    leat_iterator *iterator = dataset_iterate(dataset, NULL);
    char *table = leat_iterator_explain(iterator, &err);
    assert_non_null(table);
    assert_non_null(strstr(table, "nothing has been computed yet"));
    leat_text_free(table);
    char *text = NULL;
    dataset_append(&text, "");
    dataset_take(iterator, -1, &text);
    free(text);
    table = leat_iterator_explain(iterator, &err);
    assert_non_null(table);
    const char *at = table;
    static const char *const lines[] = {
        "operator",       "\nprefetch", "\n  batch", "\n    map \"square\"", "\n      test_faults",
        "\n        range"};
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        at = strstr(at, lines[i]);
        assert_non_null(at);
    }
    assert_true(strstr(at, "bottleneck: ") != NULL || strstr(at, "bound by the consumer") != NULL);
    leat_text_free(table);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
}

/* What was computed since the last look: by all, and by the one that computed longest. */
static void test_load(void **state) {
    (void)state;
    leati_load load = {0};
    leat_dataset *dataset = dataset_made(make, NULL);
    leat_iterator *iterator = dataset_iterate(dataset, NULL);
    leati_node_state *root = iterator->top.children, *batch = root->children;
    leati_node_state *gone = leati_alloc_zero(1, sizeof *gone);
    assert_non_null(gone);
    leati_iterator_load(iterator, &load);
    leati_counter_add(&root->counters.busy_ns, 1000);
    leati_counter_add(&batch->counters.busy_ns, 5000);
    leati_iterator_load(iterator, &load);
    assert_int_equal(load.busy_ns, 6000);
    assert_int_equal(load.slowest_ns, 5000);
    assert_string_equal(load.slowest, "batch");
    leati_iterator_load(iterator, &load);
    assert_int_equal(load.busy_ns, 0);
    assert_string_equal(load.slowest, "");
    /* What a child computed that was closed since is not lost. */
    leati_state_node_init(gone, batch->dataset, &iterator->iteration, batch);
    leati_counter_add(&gone->counters.busy_ns, 700);
    leati_iterator_load(iterator, &load);
    assert_int_equal(load.busy_ns, 700);
    leati_counter_add(&gone->counters.busy_ns, 30);
    leati_state_node_fini(gone);
    leati_free(gone);
    leati_iterator_load(iterator, &load);
    assert_int_equal(load.busy_ns, 30);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
}

/* The samples of a run that has ended, and a lack of memory at every step. */
static leat_status metrics_body(void *context, leat_error *err) {
    char *text = leat_iterator_metrics(context, err);
    if (text == NULL)
        return torture_code(err);
    static const char *const samples[] = {
        "\nleat_operator_elements_total{pipeline=\"\",operator=\"prefetch\",place=\"0\"} 4\n",
        "place=\"0.0\"} 4\n", /* batches; the second fell with its fault */
        "operator=\"map \\\"square\\\"\",place=\"0.0.0\"} 19\n",
        "operator=\"test_faults\",place=\"0.0.0.0\"} 19\n",
        "operator=\"range\",place=\"0.0.0.0.0\"} 20\n",
        "# TYPE leat_operator_held_bytes gauge\n",
        "\nleat_pipeline_memory_limit_bytes{pipeline=\"\"} "};
    for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++)
        if (strstr(text, samples[i]) == NULL)
            fail_msg("%s is missing in\n%s", samples[i], text);
    leat_text_free(text);
    return LEAT_OK;
}

static void test_metrics(void **state) {
    (void)state;
    leat_dataset *dataset = dataset_made(make, NULL);
    leat_iterator *iterator = dataset_iterate(dataset, NULL);
    char *text = NULL;
    dataset_append(&text, "");
    dataset_take(iterator, -1, &text);
    free(text);
    torture_run(metrics_body, iterator);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, torture_setup, torture_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_steps),   TEST(test_verdicts), TEST(test_climb),
                                       TEST(test_rest),    TEST(test_samples),  TEST(test_budgets),
                                       TEST(test_explain), TEST(test_load),     TEST(test_metrics)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
