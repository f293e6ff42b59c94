/* Matching of file names against patterns, level by level.
 *
 * Happy path: the levels before the first one with a wildcard are taken as they are; each further
 * level keeps the matching names below every folder kept so far. A level without wildcards is
 * looked up instead of listed. One level is done for all folders before the next, so memory is
 * bounded by the two longest neighbouring levels and the recursion by nothing.
 * Failures: missing folders, and forbidden ones of this machine, match nothing (several users' data
 * often lie side by side); everything else that the file system reports ends the call. No locks. */
#include "file/glob.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/text.h"
#include <fnmatch.h>
#include <string.h>

static bool is_wild(const char *text, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (strchr("*?[\\", text[i]) != NULL && text[i])
            return true;
    return false;
}

/* Has it wildcards? What cannot be listed has names alone, in which only '*' has no place. */
static bool is_pattern(const char *text) {
    const leati_fs *fs = NULL;
    const char *rest = NULL;
    bool lists = leati_fs_of(text, &fs, &rest, &(leat_error){0}) != LEAT_OK || fs->list != NULL;
    return lists ? is_wild(text, strlen(text)) : strchr(text, '*') != NULL;
}

/* Statuses of a folder (or a name in it) that make it match nothing. Who may not see another
 * machine's files is told. */
static bool is_no_match(const char *path, leat_status status) {
    return status == LEAT_NOT_FOUND || status == LEAT_FAILED_PRECONDITION ||
           (status == LEAT_PERMISSION_DENIED && !leati_fs_is_remote(path));
}

/* One level being matched below one folder. */
typedef struct level {
    const char *folder;
    const char *pattern; /* of this level alone */
    bool last;
    leati_paths *found;
    leati_text path; /* reused for each name */
} level;

/* Writes folder/name into level->path. */
static leat_status join(level *lv, const char *name, leat_error *err) {
    size_t n = strlen(lv->folder);
    lv->path.size = 0;
    leati_text_add(&lv->path, lv->folder, n);
    if (n && lv->folder[n - 1] != '/')
        leati_text_add(&lv->path, "/", 1);
    leati_text_add(&lv->path, name, strlen(name));
    return lv->path.failed ? leati_no_memory(err) : LEAT_OK;
}

/* Keeps folder/name if it is there and, before the last level, is a folder. */
static leat_status keep(level *lv, const char *name, leati_path_kind kind, bool exists,
                        leat_error *err) {
    leat_status status = join(lv, name, err);
    if (status != LEAT_OK)
        return status;
    if (!exists || (!lv->last && kind == LEATI_PATH_UNKNOWN)) {
        leati_stat st;
        leat_error ignored = {0};
        status = leati_fs_stat(lv->path.data, &st, &ignored);
        if (is_no_match(lv->path.data, status))
            return LEAT_OK;
        if (status != LEAT_OK)
            return leati_error_pass(err, &ignored);
        kind = st.kind;
    }
    if (!lv->last && kind != LEATI_PATH_FOLDER)
        return LEAT_OK;
    return leati_fs_paths_add(lv->found, lv->path.data, lv->path.size, err);
}

static leat_status keep_match(void *context, const char *name, leati_path_kind kind,
                              leat_error *err) {
    level *lv = context;
    if (fnmatch(lv->pattern, name, 0) != 0)
        return LEAT_OK;
    return keep(lv, name, kind, true, err);
}

/* Appends what one level's pattern matches below each folder of `from` to `to`. */
static leat_status match_level(const leati_paths *from, const char *pattern, bool last,
                               leati_paths *to, leat_error *err) {
    level lv = {.pattern = pattern, .last = last, .found = to};
    bool wild = is_wild(pattern, strlen(pattern));
    leat_status status = LEAT_OK;
    for (size_t i = 0; i < from->count && status == LEAT_OK; i++) {
        lv.folder = from->values[i];
        if (!wild) {
            status = keep(&lv, pattern, LEATI_PATH_UNKNOWN, false, err);
            continue;
        }
        /* A record of its own: a folder without a match must leave no error behind. */
        leat_error listing = {0};
        status = leati_fs_list(lv.folder, keep_match, &lv, &listing);
        if (is_no_match(lv.folder, status))
            status = LEAT_OK;
        else if (status != LEAT_OK)
            leati_error_pass(err, &listing);
    }
    leati_text_fini(&lv.path);
    return status;
}

/* A pattern without wildcards is a name, taken if it is there. */
static leat_status match_name(const char *name, leati_paths *out, leat_error *err) {
    leati_stat st;
    leat_error ignored = {0};
    leat_status status = leati_fs_stat(name, &st, &ignored);
    if (is_no_match(name, status))
        return LEAT_OK;
    if (status != LEAT_OK)
        return leati_error_pass(err, &ignored);
    return leati_fs_paths_add(out, name, strlen(name), err);
}

/* Starts the list of folders with the part of `pattern` before its first level with a wildcard and
 * returns where that level begins in *rest. */
static leat_status first_folder(const char *pattern, leati_paths *folders, const char **rest,
                                leat_error *err) {
    size_t wild = strcspn(pattern, "*?[\\");
    size_t at = wild;
    while (at > 0 && pattern[at - 1] != '/')
        at--;
    *rest = pattern + at;
    size_t n = at;
    while (n > 1 && pattern[n - 1] == '/' && pattern[n - 2] != ':' && pattern[n - 2] != '/')
        n--;
    return n ? leati_fs_paths_add(folders, pattern, n, err)
             : leati_fs_paths_add(folders, ".", 1, err);
}

/* Runs the levels of `text` (a copy that is cut up) over `folders`; the last level's matches are
 * appended to `out`. */
static leat_status match_levels(char *text, leati_paths *folders, leati_paths *out,
                                leat_error *err) {
    leat_status status = LEAT_OK;
    for (char *part = text; part != NULL && status == LEAT_OK;) {
        char *next = strchr(part, '/');
        if (next != NULL) {
            *next++ = 0;
            next += strspn(next, "/");
            if (!*next)
                next = NULL;
        }
        leati_paths found = {0};
        status = match_level(folders, part, next == NULL, next != NULL ? &found : out, err);
        leati_fs_paths_fini(folders);
        *folders = found;
        part = next;
    }
    return status;
}

static leat_status match_pattern(const char *pattern, leati_paths *out, leat_error *err) {
    if (pattern == NULL)
        return leati_refuse(err, VALUE, "a file pattern is NULL; expected text");
    if (!*pattern)
        return LEAT_OK;
    if (!is_pattern(pattern))
        return match_name(pattern, out, err);
    leati_paths folders = {0};
    const char *rest = NULL;
    leat_status status = first_folder(pattern, &folders, &rest, err);
    if (status == LEAT_OK) {
        char *text = leati_strdup(rest);
        status = text != NULL ? match_levels(text, &folders, out, err) : leati_no_memory(err);
        leati_free(text);
    }
    leati_fs_paths_fini(&folders);
    return status;
}

static leat_status no_match(const char *const *patterns, size_t count, leat_error *err) {
    if (count == 0)
        return leati_refuse(
            err, VALUE, "no file matched: the list of patterns is empty; expected one at least");
    leati_text text = {0};
    for (size_t i = 0; i < count; i++)
        leati_text_addf(&text, "%s%s", i ? ", " : "", patterns[i]);
    leat_status status = leati_refuse(
        err, VALUE, "no file matched %.400s; check the spelling and the folder you are in",
        text.data != NULL ? text.data : patterns[0]);
    leati_text_fini(&text);
    return status;
}

leat_status leati_glob(const char *const *patterns, size_t count, bool required, leati_paths *out,
                       leat_error *err) {
    leati_paths found = {0};
    leat_status status = LEAT_OK;
    for (size_t i = 0; i < count && status == LEAT_OK; i++)
        status = match_pattern(patterns[i], &found, err);
    if (status == LEAT_OK && required && found.count == 0)
        status = no_match(patterns, count, err);
    if (status != LEAT_OK) {
        leati_fs_paths_fini(&found);
        return status;
    }
    leati_fs_paths_sort(&found);
    leati_fs_paths_fini(out);
    *out = found;
    return LEAT_OK;
}
