/* leat convert in two parts: which pictures there are (convert_files.c), and the record files made
 * of them (convert.c). */
#ifndef LEATI_CLI_CONVERT_H
#define LEATI_CLI_CONVERT_H

#include "file/fs.h"
#include <leat/leat.h>

typedef struct leati_convert_options {
    int64_t shards;
    bool shuffle;
    leat_seed seed;
    const char *compression;
    bool index, force, skip_bad;
} leati_convert_options;

/* One picture to be. */
typedef struct leati_picture {
    char *path;    /* owned */
    int64_t label; /* of its class */
} leati_picture;

typedef struct leati_convert_pictures {
    leati_picture *values;
    size_t count, capacity;
    leati_paths classes; /* the names of labels 0, 1, ... */
    int64_t skipped;     /* with skip_bad */
} leati_convert_pictures;

/* The files of the class folders of `folder`, class by class, each sorted by name; what has no
 * place in that layout is INVALID_ARGUMENT, or with skip_bad a line on standard error. NOT_FOUND
 * where there is no picture at all. {0} before; leati_convert_pictures_fini also after a failure.
 */
LEAT_WARN_UNUSED leat_status leati_convert_pictures_find(const char *folder, bool skip_bad,
                                                         leati_convert_pictures *out,
                                                         leat_error *err);
void leati_convert_pictures_fini(leati_convert_pictures *pictures);

/* Counts and says what skip_bad passes over: "PATH: why". */
void leati_convert_pictures_skip(leati_convert_pictures *pictures, const char *text);

/* Writes the pictures of `folder` to record files whose names begin with `out`, and prints what was
 * written. Each file appears whole, and none before all of them are written. ALREADY_EXISTS without
 * `force`. */
LEAT_WARN_UNUSED leat_status leati_convert(const char *folder, const char *out,
                                           const leati_convert_options *options, leat_error *err);

#endif
