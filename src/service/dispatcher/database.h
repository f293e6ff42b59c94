/* The dispatcher's state: a SQLite database with a write-ahead log, so that what was committed
 * survives kill -9 at any instruction, and a start costs the same whatever happened before.
 *
 * One thread. Statements are SQL texts that live as long as the program; each is compiled once. An
 * argument is bound by its letter: i an int64_t, t a text (NULL: null), d a double. */
#ifndef LEATI_SERVICE_DISPATCHER_DATABASE_H
#define LEATI_SERVICE_DISPATCHER_DATABASE_H

#include <leat/base.h>

typedef struct leati_database leati_database;

/* Opens the database in `folder` (made where it is missing), or one in memory (NULL).
 * FAILED_PRECONDITION where a living process has the folder; DATA_LOSS where the file is damaged or
 * of a newer leat; UNIMPLEMENTED in a library without SQLite. Owned. */
leati_database *leati_database_open(const char *folder, leat_error *err);
void leati_database_close(leati_database *database);

/* Names the database, and says how often it was opened: borrowed. */
const char *leati_database_uid(const leati_database *database);
int64_t leati_database_incarnation(const leati_database *database);

/* Begins what is committed or undone as a whole. ABORTED once another process has opened the
 * database since: nothing is written any more. */
LEAT_WARN_UNUSED leat_status leati_database_begin(leati_database *database, leat_error *err);
/* Durable when it returns. On failure everything since `begin` is undone. */
LEAT_WARN_UNUSED leat_status leati_database_commit(leati_database *database, leat_error *err);
void leati_database_undo(leati_database *database);
/* Is there a transaction that was begun? One whose statement failed may have been undone. */
bool leati_database_is_begun(const leati_database *database);
/* The same within a transaction, for one request of several. */
LEAT_WARN_UNUSED leat_status leati_database_mark(leati_database *database, leat_error *err);
void leati_database_unmark(leati_database *database, bool keep);

/* Runs a statement that gives no rows. */
LEAT_WARN_UNUSED leat_status leati_database_run(leati_database *database, leat_error *err,
                                                const char *sql, const char *types, ...);
/* The number of the row that was inserted last, and how many the last statement changed. */
int64_t leati_database_inserted(const leati_database *database);
int64_t leati_database_changed(const leati_database *database);

/* The rows of a query, one after the other:
 *
 *     leati_query query;
 *     leati_database_ask(database, &query, "SELECT a FROM t WHERE b = ?", "i", b);
 *     while (leati_database_next(&query))
 *         use(leati_database_int(&query, 0));
 *     LEATI_TRY(leati_database_end(&query, err));
 *
 * Texts are valid until the next row. A statement is run by one query at a time. */
typedef struct leati_query {
    leati_database *database;
    void *statement;
    int code; /* SQLite's of the last step */
} leati_query;
void leati_database_ask(leati_database *database, leati_query *query, const char *sql,
                        const char *types, ...);
bool leati_database_next(leati_query *query);
int64_t leati_database_int(const leati_query *query, int column);
/* "" for null. */
const char *leati_database_text(const leati_query *query, int column);
LEAT_WARN_UNUSED leat_status leati_database_end(leati_query *query, leat_error *err);
/* A number of the first row, or `otherwise` where there is none. */
LEAT_WARN_UNUSED leat_status leati_database_number(leati_database *database, int64_t otherwise,
                                                   int64_t *out, leat_error *err, const char *sql,
                                                   const char *types, ...);

#endif
