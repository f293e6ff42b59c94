/* What a folder holds. */
#ifndef LEATI_CLI_LISTING_H
#define LEATI_CLI_LISTING_H

#include "file/fs.h"

/* The names in one folder, hidden ones left out, each list sorted bytewise. {0} is empty. */
typedef struct leati_listing {
    const char *folder; /* borrowed */
    leati_paths files, folders;
} leati_listing;

/* Lists `path`, which outlives the listing. A link that leads nowhere is a file: whoever reads it
 * says so. What was found before a failure stays in `out`. */
LEAT_WARN_UNUSED leat_status leati_listing_read(const char *path, leati_listing *out,
                                                leat_error *err);
void leati_listing_fini(leati_listing *listing);

/* Appends FOLDER/NAME. */
LEAT_WARN_UNUSED leat_status leati_listing_join_path(leati_paths *paths, const char *folder,
                                                     const char *name, leat_error *err);

#endif
