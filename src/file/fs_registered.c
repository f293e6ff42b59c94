/* File systems that a program brings along (leat_filesystem_register): their calls behind the
 * vtable of fs.h, as a store that writes whole files.
 *
 * Happy path: registering puts two rows in front of a list that is never made shorter, one for
 * "scheme://" and one for "scheme::"; the newest row of a scheme counts. Files and sinks hold what
 * the program's calls gave. Failures: the program's, with the scheme in front; a sink that is
 * closed before its put is discarded. Locks: none; the list's head and the finder are atomic. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/text.h"
#include "file/fs.h"
#include <leat/file.h>
#include <stdatomic.h>
#include <string.h>

typedef struct registered {
    leati_fs base; /* first: a leati_fs of this file is one of these */
    leat_filesystem calls;
    void *context;
    bool chained;
    struct registered *next; /* older ones */
} registered;

typedef struct own_file {
    leati_file base;
    void *handle;
} own_file;

typedef struct own_sink {
    leati_file_sink base;
    void *handle;
} own_sink;

/* Whom an unknown scheme is asked of. Never freed: somebody may be asking the one before. */
typedef struct finder {
    leat_filesystem_finder find; /* NULL: nobody */
    void *context;
    struct finder *before;
} finder;

static _Atomic(registered *) newest;
static _Atomic(finder *) finder_now;

static const registered *of(const leati_fs *fs) {
    return (const registered *)fs;
}

/* The path as the user gave it. Owned. */
static char *whole_path(const leati_fs *fs, const char *rest) {
    leati_text text = {0};
    leati_text_addf(&text, "%s%s%s", fs->scheme, of(fs)->chained ? "::" : "://", rest);
    return leati_text_take(&text);
}

static leat_status failed(const leati_fs *fs, leat_status status, const leat_error *cause,
                          leat_error *err) {
    status = leati_error_is_code(status) ? status : LEAT_UNKNOWN;
    return leati_fail_callback(err, status, cause, "file system", fs->scheme);
}

/* ---- reading ---- */

static leat_status own_open(const leati_fs *fs, const char *path, leati_file **out,
                            leat_error *err) {
    own_file *file = leati_alloc_zero(1, sizeof *file);
    char *whole = file != NULL ? whole_path(fs, path) : NULL;
    leat_error cause = {0};
    int64_t size = -1;
    leat_status status = whole == NULL ? leati_no_memory(err) : LEAT_OK;
    if (status == LEAT_OK) {
        status = of(fs)->calls.open(of(fs)->context, whole, &file->handle, &size, &cause);
        if (status != LEAT_OK)
            status = failed(fs, status, &cause, err);
    }
    if (status != LEAT_OK) {
        leati_free(whole);
        leati_free(file);
        return status;
    }
    file->base = (leati_file){.fs = fs, .path = whole, .size = size, .seekable = size >= 0};
    *out = &file->base;
    return LEAT_OK;
}

static leat_status own_read_at(leati_file *base, int64_t offset, void *data, size_t size,
                               size_t *got, leat_error *err) {
    const own_file *file = (const own_file *)base;
    const registered *fs = of(base->fs);
    leat_error cause = {0};
    leat_status status = fs->calls.read(fs->context, file->handle, offset, data, size, got, &cause);
    if (status == LEAT_OK && *got <= size)
        return LEAT_OK;
    if (status != LEAT_OK)
        return failed(base->fs, status, &cause, err);
    return leati_fail_in_file(err, LEAT_INTERNAL, base->path, offset, false,
                              "the file system gave %zu bytes, %zu were asked for; mend its read",
                              *got, size);
}

static void own_close(leati_file *base) {
    own_file *file = (own_file *)base;
    of(base->fs)->calls.close(of(base->fs)->context, file->handle);
    leati_free(base->path);
    leati_free(file);
}

static leat_status own_use(const leati_fs *fs, const char *path, leati_file_user use, void *context,
                           leat_error *err) {
    leati_file *file = NULL;
    LEATI_TRY(own_open(fs, path, &file, err));
    leat_status status = use(context, file, err);
    own_close(file);
    return status;
}

/* ---- by path ---- */

static leat_status own_stat(const leati_fs *fs, const char *path, leati_stat *out,
                            leat_error *err) {
    char *whole = whole_path(fs, path);
    leat_error cause = {0};
    leat_path_info info = {.size = -1, .changed = -1};
    if (whole == NULL)
        return leati_no_memory(err);
    leat_status status = of(fs)->calls.stat(of(fs)->context, whole, &info, &cause);
    leati_free(whole);
    if (status != LEAT_OK)
        return failed(fs, status, &cause, err);
    *out =
        (leati_stat){info.is_folder ? LEATI_PATH_FOLDER : LEATI_PATH_FILE, info.size, info.changed};
    return LEAT_OK;
}

struct listing {
    leati_list_function function;
    void *context;
    leat_status status; /* of the library's own function */
    leat_error err;
};

static leat_status give_entry(void *to, const char *name, bool is_folder, leat_error *err) {
    struct listing *l = to;
    /* A name of several levels, or of none, is no entry. */
    if (name == NULL || !*name || strchr(name, '/') != NULL || strcmp(name, ".") == 0 ||
        strcmp(name, "..") == 0)
        return LEAT_OK;
    if (l->status == LEAT_OK)
        l->status =
            l->function(l->context, name, is_folder ? LEATI_PATH_FOLDER : LEATI_PATH_FILE, &l->err);
    return l->status == LEAT_OK ? LEAT_OK : leati_error_pass(err, &l->err);
}

static leat_status own_list(const leati_fs *fs, const char *path, leati_list_function function,
                            void *context, leat_error *err) {
    struct listing l = {.function = function, .context = context};
    char *whole = whole_path(fs, path);
    leat_error cause = {0};
    if (whole == NULL)
        return leati_no_memory(err);
    leat_status status = of(fs)->calls.list(of(fs)->context, whole, give_entry, &l, &cause);
    leati_free(whole);
    if (l.status != LEAT_OK)
        return leati_error_pass(err, &l.err);
    return status != LEAT_OK ? failed(fs, status, &cause, err) : LEAT_OK;
}

/* Calls `call` with the whole path. */
static leat_status by_path(const leati_fs *fs, const char *path,
                           leat_status (*call)(void *context, const char *path, leat_error *err),
                           leat_error *err) {
    char *whole = whole_path(fs, path);
    leat_error cause = {0};
    if (whole == NULL)
        return leati_no_memory(err);
    leat_status status = call(of(fs)->context, whole, &cause);
    leati_free(whole);
    return status != LEAT_OK ? failed(fs, status, &cause, err) : LEAT_OK;
}

static leat_status own_remove(const leati_fs *fs, const char *path, leat_error *err) {
    return by_path(fs, path, of(fs)->calls.remove, err);
}

static leat_status own_mkdir(const leati_fs *fs, const char *path, leat_error *err) {
    return of(fs)->calls.make_folders == NULL ? LEAT_OK
                                              : by_path(fs, path, of(fs)->calls.make_folders, err);
}

/* ---- writing ---- */

static leat_status own_create(const leati_fs *fs, const char *path, bool exclusive,
                              leati_file_sink **out, leat_error *err) {
    if (exclusive)
        return leati_fs_refuse(err, fs, path, "made where there is none by one writer alone",
                               "name a file of a folder");
    own_sink *sink = leati_alloc_zero(1, sizeof *sink);
    char *whole = sink != NULL ? whole_path(fs, path) : NULL;
    leat_error cause = {0};
    leat_status status = whole == NULL ? leati_no_memory(err) : LEAT_OK;
    if (status == LEAT_OK) {
        status = of(fs)->calls.create(of(fs)->context, whole, &sink->handle, &cause);
        if (status != LEAT_OK)
            status = failed(fs, status, &cause, err);
    }
    if (status != LEAT_OK) {
        leati_free(whole);
        leati_free(sink);
        return status;
    }
    sink->base = (leati_file_sink){fs, whole};
    *out = &sink->base;
    return LEAT_OK;
}

static leat_status own_write(leati_file_sink *base, const void *data, size_t size,
                             leat_error *err) {
    const registered *fs = of(base->fs);
    leat_error cause = {0};
    leat_status status =
        fs->calls.write(fs->context, ((own_sink *)base)->handle, data, size, &cause);
    return status != LEAT_OK ? failed(base->fs, status, &cause, err) : LEAT_OK;
}

static leat_status own_settle(leati_file_sink *base, leat_error *err) {
    (void)base;
    (void)err;
    return LEAT_OK;
}

static leat_status own_put(leati_file_sink *base, const char *to, leat_error *err) {
    const registered *fs = of(base->fs);
    leat_error cause = {0};
    (void)to;
    leat_status status = fs->calls.put(fs->context, ((own_sink *)base)->handle, &cause);
    return status != LEAT_OK ? failed(base->fs, status, &cause, err) : LEAT_OK;
}

static leat_status own_close_sink(leati_file_sink *base, leat_error *err) {
    (void)err;
    of(base->fs)->calls.discard(of(base->fs)->context, ((own_sink *)base)->handle);
    leati_free(base->path);
    leati_free(base);
    return LEAT_OK;
}

/* ---- the list ---- */

const leati_fs *leati_fs_registered(const char *scheme, size_t n, bool chained) {
    for (const registered *at = atomic_load(&newest); at != NULL; at = at->next)
        if (at->chained == chained && strlen(at->base.scheme) == n &&
            memcmp(at->base.scheme, scheme, n) == 0)
            return &at->base;
    return NULL;
}

static bool is_scheme(const char *scheme) {
    static const char first[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    return scheme != NULL && *scheme && strchr(first, *scheme) != NULL &&
           strspn(scheme, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.") ==
               strlen(scheme) &&
           strcmp(scheme, "file") != 0;
}

static registered *new_row(const char *scheme, const leat_filesystem *calls, void *context,
                           bool chained) {
    registered *row = leati_alloc_zero(1, sizeof *row);
    char *name = row != NULL ? leati_strdup(scheme) : NULL;
    if (name == NULL) {
        leati_free(row);
        return NULL;
    }
    row->base = (leati_fs){.scheme = name,
                           .doc = "Files that the program finds.",
                           .open = own_open,
                           .use = own_use,
                           .read_at = own_read_at,
                           .close = own_close,
                           .stat = own_stat,
                           .list = own_list,
                           .create = calls->create != NULL ? own_create : NULL,
                           .write = own_write,
                           .settle = own_settle,
                           .put = own_put,
                           .close_sink = own_close_sink,
                           .remove = calls->remove != NULL ? own_remove : NULL,
                           .mkdir = calls->create != NULL ? own_mkdir : NULL};
    row->calls = *calls;
    row->context = context;
    row->chained = chained;
    return row;
}

static void put_first(registered *row) {
    row->next = atomic_load(&newest);
    while (!atomic_compare_exchange_weak(&newest, &row->next, row)) {
    }
}

leat_status leat_filesystem_register(const char *scheme, const leat_filesystem *given,
                                     void *context, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_filesystem calls = {LEAT_FILESYSTEM_DEFAULTS};
    if (!is_scheme(scheme))
        return leati_refuse(err, VALUE,
                            "leat_filesystem_register: %.80s is no scheme; expected a letter, then "
                            "letters, digits, '+', '-' and '.', and not \"file\"",
                            scheme != NULL ? scheme : "NULL");
    if (given != NULL)
        memcpy(&calls, given, given->size < sizeof calls ? given->size : sizeof calls);
    if (calls.open == NULL || calls.read == NULL || calls.close == NULL || calls.stat == NULL ||
        calls.list == NULL)
        return leati_refuse(
            err, VALUE,
            "leat_filesystem_register: %s lacks a call; expected open, read, close, "
            "stat and list",
            scheme);
    if (calls.create != NULL && (calls.write == NULL || calls.put == NULL || calls.discard == NULL))
        return leati_refuse(err, VALUE,
                            "leat_filesystem_register: %s has create; expected write, put and "
                            "discard as well",
                            scheme);
    registered *plain = new_row(scheme, &calls, context, false);
    registered *chained = plain != NULL ? new_row(scheme, &calls, context, true) : NULL;
    if (chained == NULL) {
        if (plain != NULL)
            leati_free((char *)(uintptr_t)plain->base.scheme);
        leati_free(plain);
        return leati_no_memory(err);
    }
    put_first(plain);
    put_first(chained);
    return LEAT_OK;
}

void leat_filesystem_find(leat_filesystem_finder find, void *context) {
    finder *now = leati_alloc_zero(1, sizeof *now);
    if (now == NULL)
        return;
    *now = (finder){find, context, atomic_load(&finder_now)};
    while (!atomic_compare_exchange_weak(&finder_now, &now->before, now)) {
    }
}

leat_status leati_fs_find(const char *path, leat_error *err) {
    const finder *now = atomic_load(&finder_now);
    leat_error cause = {0};
    if (now == NULL || now->find == NULL)
        return LEAT_NOT_FOUND;
    leat_status status = now->find(now->context, path, &cause);
    if (status == LEAT_OK || status == LEAT_NOT_FOUND)
        return status;
    status = leati_error_is_code(status) ? status : LEAT_UNKNOWN;
    cause.code = status;
    return leati_error_pass(err, &cause);
}
