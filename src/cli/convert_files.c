/* The pictures of class folders.
 *
 * Happy path: the folders of a folder are classes, numbered in the order of their names, and the
 * files in them pictures. Failure modes: a file beside the class folders, a folder in one of them,
 * and a class without files have no place in the result: an error each, or with skip_bad a line
 * each. Hidden names are passed over. No locks. */
#include "cli/convert.h"

#include "base/alloc.h"
#include "base/error.h"
#include "cli/listing.h"
#include "cli/say.h"
#include <string.h>

void leati_convert_pictures_fini(leati_convert_pictures *pictures) {
    for (size_t i = 0; i < pictures->count; i++)
        leati_free(pictures->values[i].path);
    leati_free(pictures->values);
    leati_fs_paths_fini(&pictures->classes);
    *pictures = (leati_convert_pictures){0};
}

void leati_convert_pictures_skip(leati_convert_pictures *pictures, const char *text) {
    pictures->skipped++;
    leati_say_error("skipped %s", text);
}

static leat_status misplaced(leati_convert_pictures *pictures, bool skip_bad, const char *folder,
                             const char *name, const char *what, leat_error *err) {
    leat_error local = {0};
    leati_refuse(&local, VALUE, "%.200s/%.200s: %s", folder, name, what);
    /* The way out is no part of the line for what is skipped. */
    if (!skip_bad)
        return leati_fail(err, local.code, "%s; move it away or use --skip-bad", local.text);
    leati_convert_pictures_skip(pictures, local.text);
    return LEAT_OK;
}

static leat_status misplaced_all(leati_convert_pictures *pictures, bool skip_bad,
                                 const char *folder, const leati_paths *names, const char *what,
                                 leat_error *err) {
    leat_status status = LEAT_OK;
    for (size_t i = 0; i < names->count && status == LEAT_OK; i++)
        status = misplaced(pictures, skip_bad, folder, names->values[i], what, err);
    return status;
}

static leat_status add_picture(leati_convert_pictures *pictures, const char *folder,
                               const char *name, leat_error *err) {
    leati_paths joined = {0};
    void *values = pictures->values;
    leat_status status = leati_listing_join_path(&joined, folder, name, err);
    if (status == LEAT_OK &&
        !leati_grow(&values, &pictures->capacity, pictures->count + 1, sizeof *pictures->values))
        status = leati_no_memory(err);
    pictures->values = values;
    if (status == LEAT_OK) {
        pictures->values[pictures->count++] =
            (leati_picture){joined.values[0], (int64_t)pictures->classes.count};
        /* The path has moved; the list frees what is left. */
        joined.values[0] = NULL;
    }
    leati_fs_paths_fini(&joined);
    return status;
}

/* Adds the files of one folder as the next class. */
static leat_status add_class(leati_convert_pictures *pictures, bool skip_bad, const char *folder,
                             const char *name, leat_error *err) {
    leati_paths joined = {0};
    leati_listing listing = {0};
    leat_status status = leati_listing_join_path(&joined, folder, name, err);
    if (status == LEAT_OK)
        status = leati_listing_read(joined.values[0], &listing, err);
    if (status == LEAT_OK)
        status = misplaced_all(pictures, skip_bad, joined.values[0], &listing.folders,
                               "a folder in a class folder; expected pictures", err);
    for (size_t i = 0; i < listing.files.count && status == LEAT_OK; i++)
        status = add_picture(pictures, joined.values[0], listing.files.values[i], err);
    /* Only a folder with files becomes a class: labels count those alone. */
    if (status == LEAT_OK && listing.files.count == 0)
        status = misplaced(pictures, skip_bad, folder, name, "a class folder without a file", err);
    else if (status == LEAT_OK)
        status = leati_fs_paths_add(&pictures->classes, name, strlen(name), err);
    leati_listing_fini(&listing);
    leati_fs_paths_fini(&joined);
    return status;
}

leat_status leati_convert_pictures_find(const char *folder, bool skip_bad,
                                        leati_convert_pictures *out, leat_error *err) {
    leati_listing listing = {0};
    leat_status status = leati_listing_read(folder, &listing, err);
    if (status == LEAT_OK && listing.folders.count == 0)
        status = leati_fail(err, LEAT_NOT_FOUND,
                            "%.200s: expected a folder for each class with its pictures, found "
                            "no folder",
                            folder);
    if (status == LEAT_OK)
        status = misplaced_all(out, skip_bad, folder, &listing.files,
                               "a file beside the class folders", err);
    for (size_t i = 0; i < listing.folders.count && status == LEAT_OK; i++)
        status = add_class(out, skip_bad, folder, listing.folders.values[i], err);
    leati_listing_fini(&listing);
    if (status == LEAT_OK && out->count == 0)
        status = leati_fail(err, LEAT_NOT_FOUND, "%.200s: no class folder has a picture", folder);
    return status;
}
