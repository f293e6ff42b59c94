/* The files of a corpus.
 *
 * Happy path: record files are told apart by their names ("-train", "-test"), or the folders of a
 * folder are classes and the JPEG and PNG files in them pictures. Failure modes: a path that is
 * missing, or holds neither; too few classes; memory. Hidden files are passed over. No locks. */
#include "cli/listing.h"
#include "cli/train.h"

#include "base/alloc.h"
#include "base/error.h"
#include <stdio.h>
#include <string.h>
#include <strings.h>

static bool ends_with(const char *name, const char *ending) {
    size_t size = strlen(name), tail = strlen(ending);
    /* Cameras write ".JPG". */
    return size >= tail && strcasecmp(name + size - tail, ending) == 0;
}

static bool is_picture(const char *name) {
    return ends_with(name, ".png") || ends_with(name, ".jpg") || ends_with(name, ".jpeg");
}

/* Of record files, compressed ones among them, but not the indexes beside them. */
static bool is_records(const char *name) {
    return strstr(name, ".tfrecord") != NULL && !ends_with(name, ".leat-index");
}

/* Whether a file's name says that it is this part of a data set: "digits-test.tfrecord",
 * "test-00000-of-00010.tfrecord". */
static bool is_part(const char *path, const char *part) {
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    char inner[16];
    (void)snprintf(inner, sizeof inner, "-%s", part);
    return strncmp(name, part, strlen(part)) == 0 || strstr(name, inner) != NULL;
}

/* Tells the record files apart. */
static leat_status sort_records(const leati_paths *records, leati_corpus_files *out,
                                leat_error *err) {
    bool named = false;
    /* Where no name says "train" all that are not tests are trained on; else a validation part,
     * say, is left out. */
    for (size_t i = 0; i < records->count; i++)
        named = named || is_part(records->values[i], "train");
    for (size_t i = 0; i < records->count; i++) {
        const char *path = records->values[i];
        bool test = is_part(path, "test");
        if (!test && named && !is_part(path, "train"))
            continue;
        leat_status status =
            leati_fs_paths_add(test ? &out->test : &out->train, path, strlen(path), err);
        if (status != LEAT_OK)
            return status;
    }
    if (out->train.count == 0)
        return leati_refuse(
            err, VALUE,
            "%s: by its name a test part; expected training records beside it, such "
            "as digits-train.tfrecord",
            records->values[0]);
    return LEAT_OK;
}

static leat_status add_label(leati_corpus_files *out, int64_t label, leat_error *err) {
    void *labels = out->labels;
    /* The picture has been added already. */
    size_t needed = out->pictures.count;
    if (!leati_grow(&labels, &out->label_capacity, needed, sizeof *out->labels))
        return leati_no_memory(err);
    out->labels = labels;
    out->labels[needed - 1] = label;
    return LEAT_OK;
}

/* Adds the pictures of one folder as the next class, if it has any. */
static leat_status add_class(const char *folder, const char *name, leati_corpus_files *out,
                             leat_error *err) {
    leati_paths joined = {0};
    leati_listing listing = {0};
    size_t before = out->pictures.count;
    leat_status status = leati_listing_join_path(&joined, folder, name, err);
    if (status == LEAT_OK)
        status = leati_listing_read(joined.values[0], &listing, err);
    for (size_t i = 0; status == LEAT_OK && i < listing.files.count; i++) {
        if (!is_picture(listing.files.values[i]))
            continue;
        status =
            leati_listing_join_path(&out->pictures, joined.values[0], listing.files.values[i], err);
        if (status == LEAT_OK)
            status = add_label(out, (int64_t)out->classes.count, err);
    }
    /* Numbered when it is known that it has pictures: labels have no gaps. */
    if (status == LEAT_OK && out->pictures.count > before)
        status = leati_fs_paths_add(&out->classes, name, strlen(name), err);
    leati_listing_fini(&listing);
    leati_fs_paths_fini(&joined);
    return status;
}

static leat_status find_classes(const char *folder, const leati_paths *folders,
                                leati_corpus_files *out, leat_error *err) {
    for (size_t i = 0; i < folders->count; i++)
        LEATI_TRY(add_class(folder, folders->values[i], out, err));
    if (out->classes.count == 0)
        return leati_fail(
            err, LEAT_NOT_FOUND,
            "%s: expected record files (*.tfrecord) or class folders with JPEG or PNG "
            "pictures, found neither",
            folder);
    if (out->classes.count == 1)
        return leati_refuse(err, VALUE,
                            "%s: expected a folder for each of at least two classes, found only %s",
                            folder, out->classes.values[0]);
    return LEAT_OK;
}

static leat_status find_in_folder(const char *folder, leati_corpus_files *out, leat_error *err) {
    leati_listing listing = {0};
    leati_paths records = {0};
    leat_status status = leati_listing_read(folder, &listing, err);
    for (size_t i = 0; status == LEAT_OK && i < listing.files.count; i++)
        if (is_records(listing.files.values[i]))
            status = leati_listing_join_path(&records, folder, listing.files.values[i], err);
    if (status == LEAT_OK)
        status = records.count > 0 ? sort_records(&records, out, err)
                                   : find_classes(folder, &listing.folders, out, err);
    leati_fs_paths_fini(&records);
    leati_listing_fini(&listing);
    return status;
}

static leat_status find_files(char *const *paths, int count, leati_corpus_files *out,
                              leat_error *err) {
    leati_paths records = {0};
    leat_status status = LEAT_OK;
    for (int i = 0; status == LEAT_OK && i < count; i++) {
        leati_stat stat;
        status = leati_fs_stat(paths[i], &stat, err);
        if (status == LEAT_OK && stat.kind == LEATI_PATH_FOLDER)
            status = leati_refuse(
                err, VALUE, "%s is a folder; expected one folder, or only record files", paths[i]);
        if (status == LEAT_OK)
            status = leati_fs_paths_add(&records, paths[i], strlen(paths[i]), err);
    }
    if (status == LEAT_OK)
        status = sort_records(&records, out, err);
    leati_fs_paths_fini(&records);
    return status;
}

leat_status leati_train_corpus_find(char *const *paths, int count, leati_corpus_files *out,
                                    leat_error *err) {
    *out = (leati_corpus_files){0};
    leati_stat stat;
    leat_status status = leati_fs_stat(paths[0], &stat, err);
    if (status != LEAT_OK)
        return status;
    if (count == 1 && stat.kind == LEATI_PATH_FOLDER)
        status = find_in_folder(paths[0], out, err);
    else
        status = find_files(paths, count, out, err);
    if (status != LEAT_OK)
        leati_train_corpus_files_fini(out);
    return status;
}

void leati_train_corpus_files_fini(leati_corpus_files *files) {
    leati_fs_paths_fini(&files->train);
    leati_fs_paths_fini(&files->test);
    leati_fs_paths_fini(&files->classes);
    leati_fs_paths_fini(&files->pictures);
    leati_free(files->labels);
    *files = (leati_corpus_files){0};
}
