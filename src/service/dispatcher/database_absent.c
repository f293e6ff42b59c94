/* The dispatcher's database (dispatcher/database.h) in a build without SQLite: none opens, so
 * nothing else is reached. */
#include "base/error.h"
#include "service/dispatcher/database.h"
#include <stddef.h>

static leat_status refuse(leat_error *err) {
    return leati_fail(err, LEAT_UNIMPLEMENTED,
                      "a dispatcher keeps its state in SQLite, and this build of leat has none; "
                      "install libsqlite3-dev, and build again");
}

leati_database *leati_database_open(const char *folder, leat_error *err) {
    (void)folder;
    (void)refuse(err);
    return NULL;
}

void leati_database_close(leati_database *database) {
    (void)database;
}

const char *leati_database_uid(const leati_database *database) {
    (void)database;
    return "";
}

int64_t leati_database_incarnation(const leati_database *database) {
    (void)database;
    return 0;
}

leat_status leati_database_begin(leati_database *database, leat_error *err) {
    (void)database;
    return refuse(err);
}

leat_status leati_database_commit(leati_database *database, leat_error *err) {
    (void)database;
    return refuse(err);
}

void leati_database_undo(leati_database *database) {
    (void)database;
}

bool leati_database_is_begun(const leati_database *database) {
    (void)database;
    return false;
}

leat_status leati_database_mark(leati_database *database, leat_error *err) {
    (void)database;
    return refuse(err);
}

void leati_database_unmark(leati_database *database, bool keep) {
    (void)database;
    (void)keep;
}

leat_status leati_database_run(leati_database *database, leat_error *err, const char *sql,
                               const char *types, ...) {
    (void)database;
    (void)sql;
    (void)types;
    return refuse(err);
}

int64_t leati_database_inserted(const leati_database *database) {
    (void)database;
    return 0;
}

int64_t leati_database_changed(const leati_database *database) {
    (void)database;
    return 0;
}

void leati_database_ask(leati_database *database, leati_query *query, const char *sql,
                        const char *types, ...) {
    (void)sql;
    (void)types;
    *query = (leati_query){.database = database};
}

bool leati_database_next(leati_query *query) {
    (void)query;
    return false;
}

int64_t leati_database_int(const leati_query *query, int column) {
    (void)query;
    (void)column;
    return 0;
}

const char *leati_database_text(const leati_query *query, int column) {
    (void)query;
    (void)column;
    return "";
}

leat_status leati_database_end(leati_query *query, leat_error *err) {
    (void)query;
    return refuse(err);
}

leat_status leati_database_number(leati_database *database, int64_t otherwise, int64_t *out,
                                  leat_error *err, const char *sql, const char *types, ...) {
    (void)database;
    (void)sql;
    (void)types;
    *out = otherwise;
    return refuse(err);
}
