/* Autotune's rules, and explain's table. Rates are given here, not measured: time decides no test.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../tests/support/torture.h"

#include "../../tests/support/dataset.h"
#include "data/autotune.h"
#include <leat/ops.h>

static void test_steps(void **state) {
    (void)state;
    /* Threads go by one, buffers double and halve; both stay in their range. */
    assert_int_equal(leati_climb_next(4, 1, 8, false, false), 5);
    assert_int_equal(leati_climb_next(4, 1, 8, true, false), 3);
    assert_int_equal(leati_climb_next(8, 1, 8, false, false), 8);
    assert_int_equal(leati_climb_next(1, 1, 8, true, false), 1);
    assert_int_equal(leati_climb_next(4, 1, 512, false, true), 8);
    assert_int_equal(leati_climb_next(4, 1, 512, true, true), 2);
    assert_int_equal(leati_climb_next(400, 1, 512, false, true), 512);
    assert_int_equal(leati_climb_next(1, 1, 512, true, true), 1);
}

static void test_verdicts(void **state) {
    (void)state;
    assert_true(leati_climb_keeps(false, 100, 110));
    assert_false(leati_climb_keeps(false, 100, 101)); /* noise */
    assert_false(leati_climb_keeps(false, 100, 80));
    assert_true(leati_climb_keeps(true, 100, 100)); /* as fast with less */
    assert_true(leati_climb_keeps(true, 100, 120));
    assert_false(leati_climb_keeps(true, 100, 90));
}

/* The climb on a machine that is fastest with 5 threads ends there, from either side. */
static double rate_of(int64_t threads) {
    return threads <= 5 ? 100.0 * (double)threads : 500.0 - 50.0 * (double)(threads - 5);
}

static void test_climb(void **state) {
    (void)state;
    for (int64_t start = 1; start <= 16; start++) {
        int64_t value = start;
        bool down = false;
        for (int i = 0; i < 60; i++) {
            bool way = (down || value == 16) && value > 1;
            int64_t next = leati_climb_next(value, 1, 16, way, false);
            bool keep = leati_climb_keeps(way, rate_of(value), rate_of(next));
            down = keep == way;
            value = keep ? next : value;
        }
        assert_int_equal(value, 5);
    }
}

static int trace_square(void *context, leat_graph *graph, leat_value *outputs) {
    (void)context;
    leat_value x = leat_graph_argument(graph, 0);
    outputs[0] = leat_multiply(x, x);
    return 1;
}

static leat_dataset *make(void *context, leat_error *err) {
    (void)context;
    leat_dataset *dataset = dataset_faults(leat_range(0, 20, 1, NULL, err), 20, 7, err);
    dataset = leat_map(dataset, leat_trace(trace_square, NULL, leat_dataset_spec(dataset), err),
                       &(leat_map_options){.num_parallel_calls = LEAT_AUTOTUNE}, err);
    dataset = leat_label(dataset, "square", err);
    return leat_prefetch(leat_batch(dataset, 4, NULL, err), 3, err);
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

/* The samples of a run that has ended, and a lack of memory at every step. */
static leat_status metrics_body(void *context, leat_error *err) {
    char *text = leat_iterator_metrics(context, err);
    if (text == NULL) {
        return err->code;
    }
    static const char *const samples[] = {
        "\nleat_operator_elements_total{pipeline=\"\",operator=\"prefetch\",place=\"0\"} 4\n",
        "place=\"0.0\"} 4\n", /* batches; the second fell with its fault */
        "operator=\"map \\\"square\\\"\",place=\"0.0.0\"} 19\n",
        "operator=\"test_faults\",place=\"0.0.0.0\"} 19\n",
        "operator=\"range\",place=\"0.0.0.0.0\"} 20\n",
        "# TYPE leat_operator_held_bytes gauge\n",
        "\nleat_pipeline_memory_limit_bytes{pipeline=\"\"} "};
    for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
        if (strstr(text, samples[i]) == NULL) {
            fail_msg("%s is missing in\n%s", samples[i], text);
        }
    }
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
    const struct CMUnitTest tests[] = {TEST(test_steps), TEST(test_verdicts), TEST(test_climb),
                                       TEST(test_explain), TEST(test_metrics)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
