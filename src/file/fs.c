/* Dispatch of paths to file systems, and what is the same for all of them.
 *
 * Happy path: leati_fs_of looks at the text before "://", the call goes through that row's vtable.
 * What a program registered comes before the table's (fs_registered.c).
 * Failures: an unknown scheme and a slot that a file system lacks are UNIMPLEMENTED; whatever else
 * an implementation reports passes unchanged. No locks: the table is constant. */
#include "file/fs.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/stop.h"
#include "base/text.h"
#include "file/fs_local.h"
#include <leat/file.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define X(name) extern const leati_fs leati_fs_##name;
#include "file/fs.def"
#undef X

static const leati_fs *const fs_table[] = {
#define X(name) &leati_fs_##name,
#include "file/fs.def"
#undef X
};

#define NUM_FS (sizeof fs_table / sizeof *fs_table)

/* The length of a scheme (RFC 3986: a letter, then letters, digits, '+', '-', '.') that "://"
 * follows, or "::" (*chained), else 0: any other text is a local path. */
static size_t scheme_length(const char *path, bool *chained) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    size_t n = strspn(path, letters);
    if (n == 0)
        return 0;
    while (path[n] &&
           (strchr(letters, path[n]) != NULL || strchr("0123456789+-.", path[n]) != NULL))
        n++;
    *chained = strncmp(path + n, "::", 2) == 0;
    return *chained || strncmp(path + n, "://", 3) == 0 ? n : 0;
}

static leat_status unknown_scheme(const char *path, size_t n, leat_error *err) {
    leati_text known = {0};
    for (size_t i = 0; i < NUM_FS; i++)
        leati_text_addf(&known, "%s%s://", i ? ", " : "", fs_table[i]->scheme);
    leat_status status = leati_fail_in_file(err, LEAT_UNIMPLEMENTED, path, -1, false,
                                            "no file system for %.*s://; there are %s", (int)n,
                                            path, known.data != NULL ? known.data : "others");
    leati_text_fini(&known);
    return status;
}

/* Whoever wrote a plan shall not have this machine ask others for them. */
static leat_status not_here(const char *path, leat_error *err) {
    return leati_fail_in_file(err, LEAT_PERMISSION_DENIED, path, -1, false,
                              "a plan that was read from a text opens files of this machine alone; "
                              "if it is your own, read it with remote=True (in C "
                              "leat_dataset_from_trusted_json; in the tool --remote)");
}

/* The file system of "scheme://"; NULL: not known. */
static const leati_fs *find_scheme(const char *scheme, size_t n) {
    const leati_fs *own = leati_fs_registered(scheme, n, false);
    for (size_t i = 0; i < NUM_FS && own == NULL; i++)
        if (strlen(fs_table[i]->scheme) == n && memcmp(fs_table[i]->scheme, scheme, n) == 0)
            own = fs_table[i];
    return own;
}

static leat_status look_up(const char *path, const leati_fs **out, const char **rest,
                           leat_error *err) {
    bool chained = false;
    size_t n = scheme_length(path, &chained);
    const leati_fs *found = NULL;
    for (int attempt = 0; n > 0 && found == NULL && attempt < 2; attempt++) {
        found = chained ? leati_fs_registered(path, n, true) : find_scheme(path, n);
        leat_status status = found == NULL && attempt == 0 ? leati_fs_find(path, err) : LEAT_OK;
        if (status == LEAT_NOT_FOUND && !chained)
            return unknown_scheme(path, n, err);
        if (status == LEAT_NOT_FOUND)
            break;
        if (status != LEAT_OK)
            return status;
    }
    /* The first line of the table is the local file system: "a::b" may be a file's name. */
    *out = found != NULL ? found : fs_table[0];
    *rest = found != NULL ? path + n + (chained ? 2 : 3) : path;
    return LEAT_OK;
}

static leat_status check_path(const char *path, leat_error *err) {
    if (path == NULL || !*path)
        return leati_refuse(err, VALUE, "the path is %s; expected the name of a file",
                            path != NULL ? "empty" : "NULL");
    if (strnlen(path, LEATI_MAX_PATH) == LEATI_MAX_PATH)
        return leati_refuse(err, VALUE,
                            "%.80s...: a path of more than %d bytes; give a shorter one", path,
                            LEATI_MAX_PATH - 1);
    return LEAT_OK;
}

leat_status leati_fs_of(const char *path, const leati_fs **out, const char **rest,
                        leat_error *err) {
    LEATI_TRY(check_path(path, err));
    LEATI_TRY(look_up(path, out, rest, err));
    return *out != fs_table[0] && leati_stop_is_local() ? not_here(path, err) : LEAT_OK;
}

bool leati_fs_is_remote(const char *path) {
    const leati_fs *fs = NULL;
    bool chained = false;
    size_t n = path != NULL ? scheme_length(path, &chained) : 0;
    return n > 0 && (chained ? leati_fs_registered(path, n, true) != NULL
                             : (fs = find_scheme(path, n)) == NULL || fs != fs_table[0]);
}

leat_status leat_path_is_remote(const char *path, bool *out, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    const leati_fs *fs = NULL;
    const char *rest = NULL;
    LEATI_TRY(check_path(path, err));
    LEATI_TRY(look_up(path, &fs, &rest, err));
    *out = fs != fs_table[0];
    return LEAT_OK;
}

leat_status leati_fs_refuse(leat_error *err, const leati_fs *fs, const char *rest, const char *what,
                            const char *advice) {
    return leati_fail(err, LEAT_UNIMPLEMENTED, "%s://%.400s: files of %s:// cannot be %s; %s",
                      fs->scheme, rest, fs->scheme, what, advice);
}

leat_status leati_file_open(const char *path, leati_file **out, leat_error *err) {
    const leati_fs *fs = NULL;
    const char *rest = NULL;
    leat_status status = leati_fs_of(path, &fs, &rest, err);
    return status != LEAT_OK ? status : fs->open(fs, rest, out, err);
}

leat_status leati_file_use(const char *path, leati_file_user use, void *context, leat_error *err) {
    const leati_fs *fs = NULL;
    const char *rest = NULL;
    leat_status status = leati_fs_of(path, &fs, &rest, err);
    return status != LEAT_OK ? status : fs->use(fs, rest, use, context, err);
}

leat_status leati_file_read_at(leati_file *file, int64_t offset, void *data, size_t size,
                               size_t *got, leat_error *err) {
    return file->fs->read_at(file, offset, data, size, got, err);
}

void leati_file_close(leati_file *file) {
    if (file != NULL)
        file->fs->close(file);
}

leat_status leati_fs_stat(const char *path, leati_stat *out, leat_error *err) {
    const leati_fs *fs = NULL;
    const char *rest = NULL;
    leat_status status = leati_fs_of(path, &fs, &rest, err);
    return status != LEAT_OK ? status : fs->stat(fs, rest, out, err);
}

leat_status leati_fs_list(const char *path, leati_list_function function, void *context,
                          leat_error *err) {
    const leati_fs *fs = NULL;
    const char *rest = NULL;
    LEATI_TRY(leati_fs_of(path, &fs, &rest, err));
    if (fs->list == NULL)
        return leati_fs_refuse(err, fs, rest, "listed", "name each of them");
    return fs->list(fs, rest, function, context, err);
}

leat_status leati_fs_mkdir(const char *path, leat_error *err) {
    const leati_fs *fs = NULL;
    const char *rest = NULL;
    LEATI_TRY(leati_fs_of(path, &fs, &rest, err));
    if (fs->mkdir == NULL)
        return leati_fs_refuse(err, fs, rest, "written", "write to a folder and copy from there");
    return fs->mkdir(fs, rest, err);
}

char *leati_fs_whole(const char *path) {
    const leati_fs *fs = NULL;
    const char *rest = path;
    char here[4096];
    leati_text text = {0};
    bool local =
        leati_fs_of(path, &fs, &rest, &(leat_error){0}) == LEAT_OK && fs == &leati_fs_local;
    /* A working folder that was removed has no path. */
    if (!local || *rest == '/' || getcwd(here, sizeof here) == NULL)
        return leati_strdup(path);
    leati_text_addf(&text, "%s%s%s", here, here[1] == '\0' ? "" : "/", rest);
    return leati_text_take(&text);
}

leat_status leati_fs_mkdirs(const char *path, leat_error *err) {
    leat_error local = {0};
    /* The last folder first: mostly it is all that is missing. */
    leat_status status = leati_fs_mkdir(path, &local);
    const char *slash = strrchr(path, '/');
    /* Not of the slashes of "://", nor of the root, above which there is nothing to make. */
    if (status == LEAT_NOT_FOUND && slash != NULL && slash > path && slash[-1] != '/') {
        char *above = leati_strndup(path, (size_t)(slash - path));
        if (above == NULL)
            return leati_no_memory(err);
        status = leati_fs_mkdirs(above, err);
        leati_free(above);
        return status != LEAT_OK ? status : leati_fs_mkdir(path, err);
    }
    if (status != LEAT_OK)
        *err = local;
    return status;
}

leat_status leati_fs_remove(const char *path, leat_error *err) {
    const leati_fs *fs = NULL;
    const char *rest = NULL;
    LEATI_TRY(leati_fs_of(path, &fs, &rest, err));
    if (fs->remove == NULL)
        return leati_fs_refuse(err, fs, rest, "removed", "remove it where it lies");
    return fs->remove(fs, rest, err);
}

/* The file system of two paths, which is one, and what they are there. */
static leat_status of_both(const char *from, const char *to, const leati_fs **fs, const char **rest,
                           const char **target, leat_error *err) {
    const leati_fs *other = NULL;
    LEATI_TRY(leati_fs_of(from, fs, rest, err));
    LEATI_TRY(leati_fs_of(to, &other, target, err));
    if (*fs != other)
        return leati_refuse(err, VALUE, "%s cannot become %s, which lies in another file system",
                            from, to);
    return LEAT_OK;
}

leat_status leati_fs_move(const char *from, const char *to, leat_error *err) {
    const leati_fs *fs = NULL;
    const char *rest = NULL, *target = NULL;
    LEATI_TRY(of_both(from, to, &fs, &rest, &target, err));
    if (fs->move == NULL)
        return leati_fs_refuse(err, fs, rest, "given other names", "copy it, then remove it");
    LEATI_TRY(fs->move(fs, rest, target, err));
    fs->sync_folder(fs, target);
    return LEAT_OK;
}

leat_status leati_fs_exchange(const char *one, const char *other, leat_error *err) {
    const leati_fs *fs = NULL;
    const char *rest = NULL, *target = NULL;
    LEATI_TRY(of_both(one, other, &fs, &rest, &target, err));
    if (fs->exchange == NULL)
        return leati_fs_refuse(err, fs, rest, "given other names",
                               "write to a folder and copy from there");
    LEATI_TRY(fs->exchange(fs, rest, target, err));
    fs->sync_folder(fs, rest);
    fs->sync_folder(fs, target);
    return LEAT_OK;
}

void leati_fs_sweep(const char *path) {
    const leati_fs *fs = NULL;
    const char *rest = NULL;
    if (leati_fs_of(path, &fs, &rest, &(leat_error){0}) == LEAT_OK && fs->sweep != NULL)
        fs->sweep(fs, rest);
}

leat_status leati_fs_append(const char *path, const void *data, size_t size, leat_error *err) {
    const leati_fs *fs = NULL;
    const char *rest = NULL;
    LEATI_TRY(leati_fs_of(path, &fs, &rest, err));
    if (fs->append == NULL)
        return leati_fs_refuse(err, fs, rest, "made longer", "name a file of a folder");
    return fs->append(fs, rest, data, size, err);
}

static leat_status too_large(const leati_file *file, uint64_t most, leat_error *err) {
    (void)leati_refuse(err, VALUE,
                       "more than %llu bytes, the most of a file whose size is not known "
                       "before; " LEATI_RAISE_RECORDS,
                       (unsigned long long)most);
    leati_error_at_file(err, file->path, strlen(file->path), -1, false);
    return err->code;
}

/* Reads to the end into *data, which is grown by doubling: what a file of unknown size needs. */
static leat_status read_growing(leati_file *file, uint8_t **data, size_t *size, leat_error *err) {
    size_t capacity = 0;
    const uint64_t most = leati_limits_max_record();
    for (;;) {
        if (*size > most)
            return too_large(file, most, err);
        /* leati_grow takes a void pointer: a cast of its address would be another type's. */
        void *memory = *data;
        /* Room for a whole read, so that the file's end shows as a short one. */
        if (!leati_grow(&memory, &capacity, *size + 65536, 1))
            return leati_no_memory(err);
        *data = memory;
        size_t got = 0;
        leat_status status =
            leati_file_read_at(file, (int64_t)*size, *data + *size, capacity - *size, &got, err);
        if (status != LEAT_OK)
            return status;
        *size += got;
        if (*size < capacity)
            return LEAT_OK;
    }
}

static void free_data(void *context, void *data, size_t size) {
    (void)context;
    (void)size;
    leati_free(data);
}

static leat_status read_unknown(leati_file *file, leat_buffer **out, leat_error *err) {
    uint8_t *data = NULL;
    size_t size = 0;
    leat_status status = read_growing(file, &data, &size, err);
    if (status != LEAT_OK) {
        leati_free(data);
        return status;
    }
    /* The buffer owns the memory from here on. */
    *out = leat_buffer_adopt(data, size, free_data, NULL, err);
    return *out != NULL ? LEAT_OK : LEAT_RESOURCE_EXHAUSTED;
}

static leat_status read_known(leati_file *file, leat_buffer **out, leat_error *err) {
    leat_buffer *buffer = leat_buffer_new((size_t)file->size, err);
    if (buffer == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    size_t size = (size_t)file->size, got = 0;
    leat_status status = leati_file_read_at(file, 0, leat_buffer_data(buffer), size, &got, err);
    /* Somebody cut the file between its opening and now. */
    if (status == LEAT_OK && got != size)
        status = leati_fail_in_file(err, LEAT_DATA_LOSS, file->path, -1, false,
                                    "%zu bytes could be read, expected %zu; it was cut while being "
                                    "read: read it again",
                                    got, size);
    if (status != LEAT_OK)
        leat_buffer_unref(buffer);
    else
        *out = buffer;
    return status;
}

leat_status leati_file_read_whole(leati_file *file, leat_buffer **out, leat_error *err) {
    /* Files of the kernel say that they have size 0 and hold something all the same. */
    return file->size > 0 ? read_known(file, out, err) : read_unknown(file, out, err);
}

leat_status leati_file_read_all(const char *path, leat_buffer **out, leat_error *err) {
    leati_file *file = NULL;
    leat_status status = leati_file_open(path, &file, err);
    if (status != LEAT_OK)
        return status;
    status = leati_file_read_whole(file, out, err);
    leati_file_close(file);
    return status;
}

leat_status leati_fs_paths_add(leati_paths *paths, const char *text, size_t size, leat_error *err) {
    void *values = paths->values;
    if (!leati_grow(&values, &paths->capacity, paths->count + 1, sizeof(char *)))
        return leati_no_memory(err);
    paths->values = values;
    char *copy = leati_strndup(text, size);
    if (copy == NULL)
        return leati_no_memory(err);
    paths->values[paths->count++] = copy;
    return LEAT_OK;
}

static int compare_texts(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void leati_fs_paths_sort(leati_paths *paths) {
    if (paths->count > 1)
        qsort(paths->values, paths->count, sizeof *paths->values, compare_texts);
}

void leati_fs_paths_fini(leati_paths *paths) {
    for (size_t i = 0; i < paths->count; i++)
        leati_free(paths->values[i]);
    leati_free(paths->values);
    *paths = (leati_paths){0};
}
