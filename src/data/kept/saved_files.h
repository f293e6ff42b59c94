/* The files of Dataset.save and snapshot: what a folder's metadata says, and the shards of a run
 * being written.
 *
 * A folder holds `snapshot.metadata` and runs; a run is a folder named by a random number with a
 * folder NNNNNNNN.shard for each shard, whose files NNNNNNNN.snapshot follow one another. A run of
 * leat's also has a copy of its metadata, and of the spec, which outlive a newer run's. */
#ifndef LEATI_DATA_KEPT_SAVED_FILES_H
#define LEATI_DATA_KEPT_SAVED_FILES_H

#include "base/bytes.h"
#include "core/block.h"
#include "data/kept/saved_counts.h"
#include <leat/file.h>

#define LEATI_RUN_TEXT 24 /* a decimal number of 64 bits, terminated */
#define LEATI_SAVED_METADATA "snapshot.metadata"
#define LEATI_SAVED_SPEC "dataset_spec.pb"

typedef struct leati_saved_info {
    char run[LEATI_RUN_TEXT];
    char hash[LEATI_RUN_TEXT]; /* of the plan, in a snapshot's; else empty */
    int64_t created_us;        /* since 1970 */
    int64_t version;           /* of the records: 1 or 2 */
    int64_t num_elements;      /* of a save; negative: unknown */
    int64_t num_dtypes;        /* tensors of an element, as far as was read */
    bool counted;              /* that was read: the elements of each file are known */
    bool finalized;
} leati_saved_info;

/* A new run: a random name, the present time, version 2. */
leati_saved_info leati_saved_info_new(void);

/* Reads FOLDER/snapshot.metadata; *found says whether there is one. DATA_LOSS where it is none. */
LEAT_WARN_UNUSED leat_status leati_saved_info_read(const char *folder, leati_saved_info *out,
                                                   bool *found, leat_error *err);
/* Replaces it, whole or not at all. `spec` is that of the records. NULL for `counts` are unknown
 * ones. */
LEAT_WARN_UNUSED leat_status leati_saved_info_write(const char *folder,
                                                    const leati_saved_info *info,
                                                    const leati_saved_counts *counts,
                                                    const leat_spec *spec, leat_error *err);
/* What is known of run `run`: by the folder's metadata if they are its, else by the run's own copy.
 * Where there is neither, *out has the name and no number of elements. `counts` (may be NULL) is
 * {0} before, and the caller finishes it. */
LEAT_WARN_UNUSED leat_status leati_saved_info_of_run(const char *folder, const char *run,
                                                     leati_saved_info *out,
                                                     leati_saved_counts *counts, leat_error *err);

/* Is this the name of a run? */
bool leati_saved_is_run(const char *run);
/* The name of a run as part of a saved state, and back: DATA_LOSS where it is none. */
void leati_saved_put_run(leati_writer *out, const char *run);
LEAT_WARN_UNUSED leat_status leati_saved_get_run(leati_reader *in, char out[LEATI_RUN_TEXT],
                                                 leat_error *err);

/* FOLDER/NAME. Owned (leati_free); NULL without memory. */
char *leati_saved_path(const char *folder, const char *name, leat_error *err);

/* The compression that TensorFlow's text means here: NULL or "" is none, "AUTO" where `automatic`
 * the best of this build (SNAPPY, or GZIP without it); a name that nobody knows is none too, with a
 * warning, as TensorFlow has it. UNIMPLEMENTED for one that this build lacks. */
LEAT_WARN_UNUSED leat_status leati_saved_compression(const char *op, const char *text,
                                                     bool automatic, leat_compression *out,
                                                     leat_error *err);

/* The names of the shards' folders in the run folder `run`, sorted; `out` is {0}. */
LEAT_WARN_UNUSED leat_status leati_saved_run_shards(const char *run, leati_paths *out,
                                                    leat_error *err);

/* A run being written. One thread at a time. */
typedef struct leati_run_writer leati_run_writer;

/* Makes FOLDER/RUN and the folders above it, and removes what writers have left there that died
 * (data/kept/saved_sweep.h, which says what `successor` is). ALREADY_EXISTS where another one
 * goes on with the run. Owned. */
LEAT_WARN_UNUSED leat_status leati_saved_writer_open(const char *folder, const char *run,
                                                     leat_compression compression,
                                                     const char *successor, leati_run_writer **out,
                                                     leat_error *err);
/* Appends row `row` of `block`, an element of `spec`, to shard `shard`, after the record of its
 * number where that is not NULL. A negative shard is named by the unsigned number of the same bits,
 * as in TensorFlow. After a failure only close and discard are allowed. */
LEAT_WARN_UNUSED leat_status leati_saved_writer_add(leati_run_writer *writer, int64_t shard,
                                                    const int64_t *number, const leat_spec *spec,
                                                    const leati_block *block, int64_t row,
                                                    leat_error *err);
/* Brings all that was added to the disk, as whole files; further elements go to further files. */
LEAT_WARN_UNUSED leat_status leati_saved_writer_commit(leati_run_writer *writer, leat_error *err);
/* Commits the last files; the run stays, also without any. */
LEAT_WARN_UNUSED leat_status leati_saved_writer_finish(leati_run_writer *writer, leat_error *err);
/* Of a writer that is finished: writes `info` as finalized metadata with the counts of the run's
 * elements, first into the run, then into `folder`. From then on the folder holds this run. */
LEAT_WARN_UNUSED leat_status leati_saved_writer_publish(leati_run_writer *writer,
                                                        const char *folder, leati_saved_info *info,
                                                        const leat_spec *spec, leat_error *err);
/* Writes down which files are committed; and, of a fresh writer of the same run, goes on behind
 * those: files beyond them are removed; `whole`: NOT_FOUND where some of them are gone. NULL only
 * reads past what is written down. Not `counted`: what leat 0.1.0 wrote down, without numbers of
 * elements; the run's stay unknown. */
void leati_saved_writer_save(const leati_run_writer *writer, leati_writer *out);
LEAT_WARN_UNUSED leat_status leati_saved_writer_restore(leati_run_writer *writer, leati_reader *in,
                                                        bool counted, bool whole, leat_error *err);
/* Releases a writer. What was not committed is gone; where nothing was, the run is too. NULL is
 * allowed. */
void leati_saved_writer_close(leati_run_writer *writer);
/* The same, and removes the run. */
void leati_saved_writer_discard(leati_run_writer *writer);

#endif
