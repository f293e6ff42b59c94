/* Samples of tar shards in WebDataset's layout, as a format of data/source/files.h. */
#ifndef LEATI_DATA_SOURCE_TAR_SAMPLES_H
#define LEATI_DATA_SOURCE_TAR_SAMPLES_H

#include "data/source/files.h"
#include "file/tar.h"

/* The state of an operator that reads samples starts with it. */
typedef struct leati_tar_files {
    leati_files files;           /* first */
    const leati_strings *fields; /* "jpg;png": either, under the first's name; borrowed */
    leat_compression compression;
    int key_column;
    int *columns; /* of each field */
} leati_tar_files;

/* Where samples go: column c's strings from buffers[c]'s row `filled` on; keys to `keys`. */
typedef struct leati_tar_sink {
    leat_buffer **buffers;
    int64_t filled;
    leati_pools *pools;
    leat_buffer *keys; /* owned by whoever made the sink */
    size_t keys_used;
} leati_tar_sink;

/* Its requests have a leati_tar_sink. */
extern const leati_file_format leati_tar_samples;

#endif
