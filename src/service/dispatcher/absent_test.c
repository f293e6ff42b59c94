/* A dispatcher of a build without SQLite refuses to start, and says why. Other builds leave this
 * file out. */
#include "support/cmocka.h"

#include "support/refused.h"
#include <leat/service.h>

static void test_it_is_refused(void **state) {
    (void)state;
    leat_error err = {0};
    leat_dispatcher_options options = {LEAT_DISPATCHER_DEFAULTS, .protocol = "local"};
    leat_dispatcher *dispatcher = leat_dispatcher_new(&options, &err);
    assert_non_null(dispatcher);
    assert_true(leat_dispatcher_start(dispatcher, &err) != LEAT_OK);
    assert_refused(&err, LEAT_UNIMPLEMENTED, LEAT_REASON_NONE, "SQLite");
    leat_dispatcher_free(dispatcher);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_it_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
