/* A dispatcher that is started again reads what it needs, not what was: as much work of SQLite's,
 * and as many pages of the file, after 4,000 leases as after 4, and after 60 epochs as after 3.
 * Counted by SQLite itself, on the connection that the dispatcher opens. */
#include "support/cmocka.h"

#ifdef LEATI_HAVE_SQLITE
#include "support/dispatcher_world.h"
#include "support/scratch.h"
#include <sqlite3.h>

enum {
    TIMES = 1000,
    PER_TURN = 500,
    MORE_PAGES = 8,
    FEW_LEASES = 4,
    FEW_EPOCHS = 3,
    MOST_EPOCHS = 60,
    GC_LOOKS_MS = 600000 /* job_gc_check_interval_ms */
};

static sqlite3 *connection; /* the last one of this process */

static int note_connection(sqlite3 *database, char **message, const void *api) {
    (void)message;
    (void)api;
    connection = database;
    return SQLITE_OK;
}

static void ignore(void *context, const char *bytes, size_t size) {
    int *count = context;
    (void)bytes;
    (void)size;
    ++*count;
}

static void refuse(void *context, const leat_error *why) {
    (void)context;
    fail_msg("%s", why->text);
}

static bool is_here(const void *context) {
    (void)context;
    return false;
}

/* One split each, for ever in the database. */
static void take_leases(struct world *world, int64_t task, int leases) {
    int answered = 0;
    const leati_core_reply reply = {&answered, ignore, refuse, is_here};
    for (int i = 0; i < leases; i++) {
        char text[160];
        int n = snprintf(text, sizeof text,
                         "{\"task\": %lld, \"attempt\": 1, \"sequence\": %d, \"want\": 1}",
                         (long long)task, i);
        leati_core_ask(world->core, "splits", "", text, (size_t)n, &reply);
        if ((i + 1) % PER_TURN == 0 || i + 1 == leases)
            turn(world, 1);
    }
    assert_int_equal(answered, leases);
}

typedef struct cost {
    int steps, scanned; /* of all statements */
    int pages;          /* read from the file */
} cost;

static cost cost_of_start(const char *folder) {
    struct world world = {0};
    cost found = {0};
    int highest = 0;
    open_world(&world, folder);
    assert_non_null(connection);
    for (sqlite3_stmt *at = NULL; (at = sqlite3_next_stmt(connection, at)) != NULL;) {
        found.steps += sqlite3_stmt_status(at, SQLITE_STMTSTATUS_VM_STEP, 0);
        found.scanned += sqlite3_stmt_status(at, SQLITE_STMTSTATUS_FULLSCAN_STEP, 0);
    }
    assert_int_equal(
        sqlite3_db_status(connection, SQLITE_DBSTATUS_CACHE_MISS, &found.pages, &highest, 0),
        SQLITE_OK);
    close_world(&world);
    return found;
}

static void after_leases(struct world *world, int leases) {
    struct leati_message_opened job = open_job(world, "c", ", \"policy\": 1, \"visitation\": 2");
    leati_messages_fini(&leati_message_opened, &job);
    struct leati_message_task task = one_start(world, 1, "");
    take_leases(world, task.task, leases);
}

/* Epochs of other jobs, whose clients have gone, and which were collected. */
static void after_epochs(struct world *world, int epochs) {
    static struct asked asked[MOST_EPOCHS];
    char text[160];
    struct leati_message_worker_answer said;
    worker_says(world, 1, "", &said); /* who has a task of each */
    leati_messages_fini(&leati_message_worker_answer, &said);
    for (int i = 0; i < epochs; i++) {
        (void)snprintf(text, sizeof text,
                       "{\"client\": \"c%d\", \"dataset_id\": \"d\", \"job_name\": \"j%d\"}", i, i);
        ask(world, "open_iteration", text, &asked[i]);
    }
    turn(world, 1);
    for (int i = 0; i < epochs; i++) {
        struct leati_message_opened opened;
        assert_true(asked[i].answered);
        assert_int_equal(leati_messages_read(&leati_message_opened, asked[i].text,
                                             strlen(asked[i].text), &opened, &(leat_error){0}),
                         LEAT_OK);
        (void)snprintf(text, sizeof text, "{\"client\": %lld}", (long long)opened.client);
        leati_messages_fini(&leati_message_opened, &opened);
        done(&asked[i]);
        ask(world, "release", text, &asked[i]);
    }
    turn(world, 1);
    for (int i = 0; i < epochs; i++) {
        assert_true(asked[i].answered);
        done(&asked[i]);
    }
    /* One look finds them without clients, the next one for long enough. */
    for (int i = 0; i < 2; i++)
        turn(world, GC_LOOKS_MS + 1);
}

static cost cost_after(const char *name, void (*what)(struct world *world, int times), int times) {
    struct world world = {0};
    const char *folder = scratch_path(name);
    open_world(&world, folder);
    register_dataset(&world, ", \"deterministic\": true, \"providers\": [1000000]");
    what(&world, times);
    close_world(&world);
    cost found = cost_of_start(folder);
    print_message("%s: %d steps, %d rows scanned, %d pages\n", name, found.steps, found.scanned,
                  found.pages);
    return found;
}

static void expect_same(cost few, cost many) {
    assert_true(few.steps > 0 && few.pages > 0);
    assert_int_equal(many.steps, few.steps);
    assert_int_equal(many.scanned, few.scanned);
    /* Trees that are higher have a page or two more on the way to a row. */
    assert_in_range(many.pages, few.pages, few.pages + MORE_PAGES);
}

static void test_leases_cost_no_start(void **state) {
    (void)state;
    cost few = cost_after("few leases", after_leases, FEW_LEASES);
    expect_same(few, cost_after("many leases", after_leases, FEW_LEASES * TIMES));
}

static void test_epochs_cost_no_start(void **state) {
    (void)state;
    cost few = cost_after("few epochs", after_epochs, FEW_EPOCHS);
    expect_same(few, cost_after("many epochs", after_epochs, MOST_EPOCHS));
}

/* A database of version 1 is gone on with: the task that a worker had, and a new one. */
static void test_a_database_of_version_1(void **state) {
    (void)state;
    struct world world = {0};
    const char *folder = scratch_path("old");
    char path[600];
    sqlite3 *database = NULL;
    open_world(&world, folder);
    register_dataset(&world, ", \"deterministic\": true, \"providers\": [1000000]");
    after_leases(&world, FEW_LEASES);
    close_world(&world);
    (void)snprintf(path, sizeof path, "%s/dispatcher.sqlite", folder);
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    assert_int_equal(sqlite3_exec(database,
                                  "DROP INDEX iterations_in; DROP INDEX clients_here;"
                                  "ALTER TABLE tasks DROP COLUMN turns; PRAGMA user_version = 1",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(database);
    open_world(&world, folder);
    struct leati_message_task task = one_start(&world, 1, "");
    take_leases(&world, task.task, FEW_LEASES);
    after_epochs(&world, FEW_EPOCHS);
    close_world(&world);
    (void)cost_of_start(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_database_of_version_1, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(test_leases_cost_no_start, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_epochs_cost_no_start, scratch_setup, scratch_teardown),
    };
    (void)sqlite3_auto_extension((void (*)(void))(uintptr_t)note_connection);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void) {
    return 0;
}
#endif
