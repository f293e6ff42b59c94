/* SQLite behind the dispatcher; see database.h.
 *
 * Happy path: each text is compiled once and kept by its address, bound, stepped and reset; one
 * transaction for all requests that came together, whose commit syncs the log. A file beside the
 * database is locked while the process lives, and the number of starts is compared in each
 * transaction, so that a process that was taken for dead cannot write again (fencing).
 * Failures: what SQLite says, with the file's name: RESOURCE_EXHAUSTED for a full disk, DATA_LOSS
 * for a damaged file. No locks: one thread. */
#include "service/dispatcher/database.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/random.h"
#include "base/text.h"
#include "file/lock.h"
#include "service/dispatcher/schema.h"
#include <errno.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_STATEMENTS = 256, UID_SIZE = 33 };

struct statement {
    const char *sql; /* its address is the key */
    sqlite3_stmt *compiled;
};

struct leati_database {
    sqlite3 *handle;
    leati_lock *lock;
    char *path; /* NULL: in memory */
    struct statement statements[MOST_STATEMENTS];
    size_t num_statements;
    char uid[UID_SIZE];
    int64_t incarnation;
};

/* ---- failures ---- */

/* What the system said; 0: nothing. */
static int errno_of(const leati_database *database, int code) {
    switch (code & 0xff) {
    case SQLITE_FULL: return ENOSPC;
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
        return database->handle == NULL ? 0 : sqlite3_system_errno(database->handle);
    default: return 0;
    }
}

static bool is_exhausted(int system) {
    return system == ENOSPC || system == EDQUOT || system == EFBIG || system == EMFILE ||
           system == ENFILE || system == ENOMEM;
}

static leat_status code_of(int code, int system) {
    if (is_exhausted(system))
        return LEAT_RESOURCE_EXHAUSTED;
    switch (code & 0xff) {
    case SQLITE_FULL:
    case SQLITE_NOMEM: return LEAT_RESOURCE_EXHAUSTED;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return LEAT_DATA_LOSS;
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return LEAT_FAILED_PRECONDITION;
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN: return LEAT_PERMISSION_DENIED;
    case SQLITE_IOERR: return LEAT_UNAVAILABLE;
    default: return LEAT_INTERNAL;
    }
}

static leat_status failed(const leati_database *database, int code, leat_error *err) {
    int system = errno_of(database, code);
    return leati_fail(err, code_of(code, system), "the dispatcher's database %s: %s%s%s",
                      database->path == NULL ? "in memory" : database->path,
                      database->handle == NULL ? sqlite3_errstr(code)
                                               : sqlite3_errmsg(database->handle),
                      system == 0 ? "" : ": ", system == 0 ? "" : strerror(system));
}

/* ---- statements ---- */

/* Compiled, reset and without arguments; NULL: `*code` says why. */
static sqlite3_stmt *statement_of(leati_database *database, const char *sql, int *code) {
    for (size_t i = 0; i < database->num_statements; i++)
        if (database->statements[i].sql == sql)
            return database->statements[i].compiled;
    if (database->num_statements == MOST_STATEMENTS) {
        *code = SQLITE_NOMEM;
        return NULL;
    }
    struct statement *added = &database->statements[database->num_statements];
    *code = sqlite3_prepare_v3(database->handle, sql, -1, SQLITE_PREPARE_PERSISTENT,
                               &added->compiled, NULL);
    if (*code != SQLITE_OK)
        return NULL;
    added->sql = sql;
    database->num_statements++;
    return added->compiled;
}

static int bind(sqlite3_stmt *statement, const char *types, va_list arguments) {
    int code = SQLITE_OK;
    for (int i = 0; types[i] != '\0' && code == SQLITE_OK; i++)
        if (types[i] == 't')
            code = sqlite3_bind_text(statement, i + 1, va_arg(arguments, const char *), -1,
                                     SQLITE_TRANSIENT);
        else if (types[i] == 'd')
            code = sqlite3_bind_double(statement, i + 1, va_arg(arguments, double));
        else
            code = sqlite3_bind_int64(statement, i + 1, va_arg(arguments, int64_t));
    return code;
}

static void ask(leati_database *database, leati_query *query, const char *sql, const char *types,
                va_list arguments) {
    *query = (leati_query){.database = database, .code = SQLITE_ROW};
    query->statement = statement_of(database, sql, &query->code);
    if (query->statement != NULL) {
        int code = bind(query->statement, types, arguments);
        query->code = code == SQLITE_OK ? SQLITE_ROW : code;
    }
}

void leati_database_ask(leati_database *database, leati_query *query, const char *sql,
                        const char *types, ...) {
    va_list arguments;
    va_start(arguments, types);
    ask(database, query, sql, types, arguments);
    va_end(arguments);
}

bool leati_database_next(leati_query *query) {
    if (query->code == SQLITE_ROW)
        query->code = sqlite3_step(query->statement);
    return query->code == SQLITE_ROW;
}

int64_t leati_database_int(const leati_query *query, int column) {
    return sqlite3_column_int64(query->statement, column);
}

const char *leati_database_text(const leati_query *query, int column) {
    const unsigned char *text = sqlite3_column_text(query->statement, column);
    return text == NULL ? "" : (const char *)text;
}

leat_status leati_database_end(leati_query *query, leat_error *err) {
    leat_status status = LEAT_OK;
    if (query->code != SQLITE_ROW && query->code != SQLITE_DONE)
        status = failed(query->database, query->code, err);
    if (query->statement != NULL) {
        /* What reset says again was said by the step. */
        (void)sqlite3_reset(query->statement);
        (void)sqlite3_clear_bindings(query->statement);
    }
    return status;
}

leat_status leati_database_run(leati_database *database, leat_error *err, const char *sql,
                               const char *types, ...) {
    leati_query query;
    va_list arguments;
    va_start(arguments, types);
    ask(database, &query, sql, types, arguments);
    va_end(arguments);
    while (leati_database_next(&query)) {
    }
    return leati_database_end(&query, err);
}

leat_status leati_database_number(leati_database *database, int64_t otherwise, int64_t *out,
                                  leat_error *err, const char *sql, const char *types, ...) {
    leati_query query;
    va_list arguments;
    va_start(arguments, types);
    ask(database, &query, sql, types, arguments);
    va_end(arguments);
    *out = leati_database_next(&query) ? leati_database_int(&query, 0) : otherwise;
    return leati_database_end(&query, err);
}

int64_t leati_database_inserted(const leati_database *database) {
    return sqlite3_last_insert_rowid(database->handle);
}

int64_t leati_database_changed(const leati_database *database) {
    return sqlite3_changes(database->handle);
}

/* ---- transactions ---- */

leat_status leati_database_begin(leati_database *database, leat_error *err) {
    LEATI_TRY(leati_database_run(database, err, "BEGIN", ""));
    int64_t incarnation = 0;
    leat_status status =
        leati_database_number(database, 0, &incarnation, err, "SELECT incarnation FROM meta", "");
    if (status == LEAT_OK && incarnation != database->incarnation)
        status =
            leati_fail(err, LEAT_ABORTED,
                       "another dispatcher (start %lld) has taken over %s from this one "
                       "(start %lld); stop this one",
                       (long long)incarnation, database->path, (long long)database->incarnation);
    if (status != LEAT_OK)
        leati_database_undo(database);
    return status;
}

leat_status leati_database_commit(leati_database *database, leat_error *err) {
    leat_status status = leati_database_run(database, err, "COMMIT", "");
    if (status != LEAT_OK)
        leati_database_undo(database);
    return status;
}

bool leati_database_is_begun(const leati_database *database) {
    return sqlite3_get_autocommit(database->handle) == 0;
}

/* For what ends a transaction that has failed: the failure was said. */
static void run_anyway(leati_database *database, const char *sql) {
    (void)sqlite3_exec(database->handle, sql, NULL, NULL, NULL);
}

void leati_database_undo(leati_database *database) {
    if (leati_database_is_begun(database))
        run_anyway(database, "ROLLBACK");
}

leat_status leati_database_mark(leati_database *database, leat_error *err) {
    return leati_database_run(database, err, "SAVEPOINT request", "");
}

void leati_database_unmark(leati_database *database, bool keep) {
    if (!keep)
        run_anyway(database, "ROLLBACK TO request");
    run_anyway(database, "RELEASE request");
}

/* ---- opening ---- */

static leat_status run_text(leati_database *database, const char *sql, leat_error *err) {
    int code = sqlite3_exec(database->handle, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? LEAT_OK : failed(database, code, err);
}

/* Ids begin at a random number, so that those of another database mean nothing here. */
static leat_status first_start(leati_database *database, leat_error *err) {
    LEATI_TRY(run_text(database, leati_schema, err));
    uint8_t random[16];
    char uid[UID_SIZE];
    if (!leati_random_secret(random, sizeof random))
        return leati_fail(err, LEAT_UNAVAILABLE, "the system gives no random numbers");
    for (size_t i = 0; i < sizeof random; i++)
        (void)snprintf(uid + 2 * i, 3, "%02x", random[i]);
    int64_t base = 0;
    memcpy(&base, random, 5);
    return leati_database_run(database, err, "INSERT INTO meta VALUES (?, 0, ?)", "ti", uid,
                              base * 4096);
}

static leat_status take_version(leati_database *database, int64_t version, leat_error *err) {
    if (version == LEATI_SCHEMA_VERSION)
        return LEAT_OK;
    LEATI_TRY(version == 0 ? first_start(database, err) : run_text(database, leati_schema_2, err));
    char text[64];
    (void)snprintf(text, sizeof text, "PRAGMA user_version = %d", LEATI_SCHEMA_VERSION);
    return run_text(database, text, err);
}

static leat_status start(leati_database *database, leat_error *err) {
    int64_t version = 0;
    LEATI_TRY(run_text(database, "BEGIN IMMEDIATE", err));
    LEATI_TRY(leati_database_number(database, 0, &version, err, "PRAGMA user_version", ""));
    if (version > LEATI_SCHEMA_VERSION)
        return leati_fail(err, LEAT_DATA_LOSS,
                          "the dispatcher's database %s has version %lld; this leat reads up to "
                          "%d: use a newer one, or another work_dir",
                          database->path, (long long)version, LEATI_SCHEMA_VERSION);
    LEATI_TRY(take_version(database, version, err));
    LEATI_TRY(
        leati_database_run(database, err, "UPDATE meta SET incarnation = incarnation + 1", ""));
    leati_query query;
    leati_database_ask(database, &query, "SELECT uid, incarnation FROM meta", "");
    if (leati_database_next(&query)) {
        (void)snprintf(database->uid, sizeof database->uid, "%s", leati_database_text(&query, 0));
        database->incarnation = leati_database_int(&query, 1);
    }
    LEATI_TRY(leati_database_end(&query, err));
    return leati_database_commit(database, err);
}

/* The folder's lock, and the path of the database in it. */
static leat_status take_folder(leati_database *database, const char *folder, leat_error *err) {
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return leati_fail(err, LEAT_PERMISSION_DENIED, "cannot make the work folder %s: %s", folder,
                          strerror(errno));
    leati_text path = {0}, lock = {0};
    leati_text_addf(&path, "%s/dispatcher.sqlite", folder);
    leati_text_addf(&lock, "%s/dispatcher.lock", folder);
    database->path = leati_text_take(&path);
    char *name = leati_text_take(&lock);
    if (database->path == NULL || name == NULL) {
        leati_free(name);
        return leati_no_memory(err);
    }
    leat_status status = leati_lock_new(name, &database->lock, err);
    if (status == LEAT_ALREADY_EXISTS)
        status = leati_fail(err, LEAT_FAILED_PRECONDITION,
                            "another dispatcher is at work on %s; stop it, or use another work_dir",
                            folder);
    leati_free(name);
    return status;
}

leati_database *leati_database_open(const char *folder, leat_error *err) {
    leati_database *database = leati_alloc_zero(1, sizeof *database);
    if (database == NULL) {
        (void)leati_no_memory(err);
        return NULL;
    }
    leat_status status = folder == NULL ? LEAT_OK : take_folder(database, folder, err);
    if (status == LEAT_OK) {
        int code =
            sqlite3_open_v2(folder == NULL ? ":memory:" : database->path, &database->handle,
                            SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
        status = code == SQLITE_OK ? LEAT_OK : failed(database, code, err);
    }
    if (status == LEAT_OK)
        status = run_text(database,
                          "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                          "PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY",
                          err);
    if (status == LEAT_OK)
        status = start(database, err);
    if (status != LEAT_OK) {
        leati_database_close(database);
        return NULL;
    }
    return database;
}

void leati_database_close(leati_database *database) {
    if (database == NULL)
        return;
    for (size_t i = 0; i < database->num_statements; i++)
        (void)sqlite3_finalize(database->statements[i].compiled);
    (void)sqlite3_close(database->handle);
    leati_lock_free(database->lock);
    leati_free(database->path);
    leati_free(database);
}

const char *leati_database_uid(const leati_database *database) {
    return database->uid;
}

int64_t leati_database_incarnation(const leati_database *database) {
    return database->incarnation;
}
