/* sql_dataset by its builder: dtypes as a C program gives them. The rows of queries, and their
 * errors: tests/conform/data/sql_dataset.json. */
#include "support/cmocka.h"

#include "support/torture.h"

#include "support/dataset.h"
#include "support/refused.h"

#define PEOPLE LEATI_SOURCE_DIR "/tests/golden/data/files/people.sqlite"

struct query {
    const char *text;
    const leat_dtype *dtypes;
    int columns;
};

static leat_dataset *ask(void *context, leat_error *err) {
    const struct query *q = context;
    return leat_dataset_sql("sqlite", PEOPLE, q->text, q->dtypes, q->columns, err);
}

static void test_columns(void **state) {
    (void)state;
#ifdef LEATI_HAVE_SQLITE
    static const leat_dtype dtypes[] = {LEAT_INT32, LEAT_STRING, LEAT_FLOAT64};
    struct query q = {"select id, name, height from people order by id", dtypes, 3};
    dataset_check(ask, &q, "(1,\"Ann\",1.5) (2,\"Bob\",1.75) (3,\"\",0.0) (300,\"Eve\",2.25)");
#else
    skip();
#endif
}

static void test_no_columns(void **state) {
    (void)state;
    static const leat_dtype dtypes[] = {LEAT_INT64};
    const struct query queries[] = {{"select 1", NULL, 0},
                                    {"select 1", NULL, 3},
                                    {"select 1", dtypes, 0},
                                    {"select 1", dtypes, -1}};
    for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++) {
        leat_error err = {0};
        assert_null(ask((void *)(uintptr_t)&queries[i], &err));
        assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "data_source_name");
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, torture_setup, torture_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_columns), TEST(test_no_columns)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
