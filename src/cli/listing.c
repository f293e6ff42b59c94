/* What a folder holds.
 *
 * Happy path: names come sorted into files and folders; what a link is, the file system is asked.
 * Failure modes: a folder that is missing or may not be read; memory. No locks. */
#include "cli/listing.h"

#include "base/alloc.h"
#include "base/error.h"
#include <stdio.h>
#include <string.h>

leat_status leati_listing_join_path(leati_paths *paths, const char *folder, const char *name,
                                    leat_error *err) {
    size_t front = strlen(folder), size = front + 1 + strlen(name);
    /* "data/" and "data" give the same paths; "/" alone stays. */
    while (front > 1 && folder[front - 1] == '/')
        front--;
    char *text = leati_alloc(size + 1, 1);
    if (text == NULL)
        return leati_no_memory(err);
    int used = snprintf(text, size + 1, "%.*s/%s", (int)front, folder, name);
    leat_status status = leati_fs_paths_add(paths, text, (size_t)used, err);
    leati_free(text);
    return status;
}

/* What a name is whose kind the folder does not tell (a link). */
static leati_path_kind resolve_kind(const char *folder, const char *name) {
    leati_paths joined = {0};
    leati_stat stat = {.kind = LEATI_PATH_FILE};
    leat_status status = leati_listing_join_path(&joined, folder, name, &(leat_error){0});
    if (status == LEAT_OK)
        status = leati_fs_stat(joined.values[0], &stat, &(leat_error){0});
    leati_fs_paths_fini(&joined);
    /* A link that leads nowhere counts as a file: opening it says why. */
    return status == LEAT_OK ? stat.kind : LEATI_PATH_FILE;
}

static leat_status add_name(void *context, const char *name, leati_path_kind kind,
                            leat_error *err) {
    leati_listing *listing = context;
    if (name[0] == '.')
        return LEAT_OK;
    if (kind == LEATI_PATH_UNKNOWN)
        kind = resolve_kind(listing->folder, name);
    return leati_fs_paths_add(kind == LEATI_PATH_FOLDER ? &listing->folders : &listing->files, name,
                              strlen(name), err);
}

leat_status leati_listing_read(const char *path, leati_listing *out, leat_error *err) {
    out->folder = path;
    leat_status status = leati_fs_list(path, add_name, out, err);
    leati_fs_paths_sort(&out->files);
    leati_fs_paths_sort(&out->folders);
    return status;
}

void leati_listing_fini(leati_listing *listing) {
    leati_fs_paths_fini(&listing->files);
    leati_fs_paths_fini(&listing->folders);
}
