/* The files of a distributed snapshot (tf.data.experimental.distributed_save), as TensorFlow lays
 * them out:
 *
 *     snapshot.metadata       the spec and the compression, as text
 *     dataset_spec.pb         the spec
 *     chunks/chunk_S_C_N      chunk C of stream S with N elements: a TFRecord file, whose records are
 *                             those of Dataset.save; N is -1 where nobody counted
 *     streams/stream_S/       what the writer of a stream keeps for itself
 *     DONE or ERROR           no chunk comes any more
 *
 * A chunk is whole as soon as it is there, and never changes. */
#ifndef LEATI_DATA_KEPT_SNAPSHOT_FILES_H
#define LEATI_DATA_KEPT_SNAPSHOT_FILES_H

#include <leat/core.h>

enum { LEATI_SNAPSHOT_NAME_SIZE = 80 };

/* ---- the metadata ---- */

typedef struct leati_snapshot_info {
    leat_spec *spec;   /* owned */
    char *compression; /* owned; "": none */
} leati_snapshot_info;

/* Reads FOLDER/snapshot.metadata. *found is false where there is none, or that of another kind of
 * saved dataset (data/kept/saved_files.h). DATA_LOSS where it is begun like one of this kind. */
LEAT_WARN_UNUSED leat_status leati_snapshot_info_read(const char *folder, leati_snapshot_info *out,
                                                      bool *found, leat_error *err);
void leati_snapshot_info_fini(leati_snapshot_info *info);
/* Makes the folders, and writes the spec. */
LEAT_WARN_UNUSED leat_status leati_snapshot_prepare(const char *folder, const leat_spec *spec,
                                                    leat_error *err);
/* Writes the metadata, behind `prepare`: from then on there is a snapshot. */
LEAT_WARN_UNUSED leat_status leati_snapshot_info_write(const char *folder, const leat_spec *spec,
                                                       const char *compression, leat_error *err);

/* ---- its end ---- */

typedef enum leati_snapshot_state {
    LEATI_SNAPSHOT_WRITING = 0,
    LEATI_SNAPSHOT_DONE,
    LEATI_SNAPSHOT_FAILED
} leati_snapshot_state;

/* The state of a snapshot, or of a stream: `folder` is its own. Where it failed, `why` is the
 * failure. What is listed after it was DONE is all. */
LEAT_WARN_UNUSED leat_status leati_snapshot_state_read(const char *folder,
                                                       leati_snapshot_state *out, leat_error *why,
                                                       leat_error *err);
/* Writes DONE. Once more is allowed. */
LEAT_WARN_UNUSED leat_status leati_snapshot_done_write(const char *folder, leat_error *err);
/* Writes ERROR, which tells `failure`. */
LEAT_WARN_UNUSED leat_status leati_snapshot_error_write(const char *folder,
                                                        const leat_error *failure, leat_error *err);

/* ---- the chunks ---- */

typedef struct leati_snapshot_chunk {
    int64_t stream, chunk;
    int64_t elements; /* -1: nobody knows */
} leati_snapshot_chunk;

void leati_snapshot_chunk_name(const leati_snapshot_chunk *chunk,
                               char out[LEATI_SNAPSHOT_NAME_SIZE]);
/* False for another name. */
bool leati_snapshot_chunk_read(const char *name, leati_snapshot_chunk *out);
/* Those that are there, by chunk and then by stream. `*out` is owned (leati_free). */
LEAT_WARN_UNUSED leat_status leati_snapshot_chunks_list(const char *folder,
                                                        leati_snapshot_chunk **out, size_t *count,
                                                        leat_error *err);
/* FOLDER/chunks/NAME. Owned; NULL without memory. */
char *leati_snapshot_chunk_path(const char *folder, const leati_snapshot_chunk *chunk,
                                leat_error *err);
/* FOLDER/streams/stream_S. Owned; NULL without memory. */
char *leati_snapshot_stream_path(const char *folder, int64_t stream, leat_error *err);

#endif
