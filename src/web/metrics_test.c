/* The text format of Prometheus, by its own description: what is escaped where, and numbers that
 * are no numbers. */
#include "support/cmocka.h"

#include "base/alloc.h"
#include "web/metrics.h"
#include <math.h>
#include <string.h>

static void test_families(void **state) {
    (void)state;
    leati_text text = {0};
    const leati_web_label labels[] = {{"worker", "a \"b\" \\ c\nd"}, {"task", ""}};
    leati_web_metrics_head(&text, "leat_x_total", "counter", "One \\ two\n\"three\".");
    leati_web_metrics_integer(&text, "leat_x_total", labels, 2, -7);
    leati_web_metrics_number(&text, "leat_y", labels + 1, 1, 0.25);
    leati_web_metrics_number(&text, "leat_y", NULL, 0, NAN);
    leati_web_metrics_number(&text, "leat_y", NULL, 0, INFINITY);
    leati_web_metrics_number(&text, "leat_y", NULL, 0, -INFINITY);
    leati_web_metrics_single(&text, "leat_z_seconds", "gauge", "Z.", 1.5);
    char *all = leati_text_take(&text);
    assert_string_equal(all, "# HELP leat_x_total One \\\\ two\\n\"three\".\n"
                             "# TYPE leat_x_total counter\n"
                             "leat_x_total{worker=\"a \\\"b\\\" \\\\ c\\nd\",task=\"\"} -7\n"
                             "leat_y{task=\"\"} 0.25\n"
                             "leat_y NaN\n"
                             "leat_y +Inf\n"
                             "leat_y -Inf\n"
                             "# HELP leat_z_seconds Z.\n"
                             "# TYPE leat_z_seconds gauge\n"
                             "leat_z_seconds 1.5\n");
    leati_free(all);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_families)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
