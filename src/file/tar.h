/* Tar archives, member by member, over the window of a chunk reader: ustar, GNU's long names, pax
 * paths and sizes. */
#ifndef LEATI_FILE_TAR_H
#define LEATI_FILE_TAR_H

#include "base/text.h"
#include "file/chunks.h"

enum { LEATI_TAR_BLOCK = 512 };

/* One member. {0} before first use; leati_tar_fini at the end. */
typedef struct leati_tar_member {
    leati_text name; /* the whole path */
    int64_t size;    /* bytes of data that follow */
    int64_t at;      /* where its first header stands in the (decompressed) archive */
    bool is_file;    /* a plain file; else a folder, a link, a device */
} leati_tar_member;

typedef enum leati_tar_outcome {
    LEATI_TAR_MEMBER = 0, /* the window begins with its data */
    LEATI_TAR_END,        /* the archive's end mark */
    LEATI_TAR_DAMAGED,    /* DATA_LOSS: what follows cannot be read */
    LEATI_TAR_FAILED      /* reading or memory failed: may be asked again at member->at */
} leati_tar_outcome;

/* Reads the next header, with those that extend it. An archive that ends without its end mark has
 * been cut short: DATA_LOSS. */
leati_tar_outcome leati_tar_next(leati_chunks *chunks, leati_tar_member *member, leat_error *err);
/* Passes over `size` bytes of data and the rest of their last block, where the window begins with
 * the data. DATA_LOSS where the archive ends before. */
leati_tar_outcome leati_tar_pass(leati_chunks *chunks, int64_t size, leat_error *err);
void leati_tar_fini(leati_tar_member *member);

/* Splits a member's path as WebDataset does: the size of its sample's key, the path up to the first
 * dot of its last part, and the extension behind that dot (a view). False where it belongs to no
 * sample. Files that stand next to each other and have the same key are one sample. */
bool leati_tar_sample(const leati_text *path, size_t *key_size, const char **extension);

#endif
