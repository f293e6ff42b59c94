/* Record files: writing TFRecord files, building and reading tf.train.Example, and looking into a
 * record file; checkpoints in TensorFlow's format.
 *
 * Objects here belong to one thread at a time; different objects may be used at once. Every call
 * blocks for as long as the file system does. A path is a local path, "file://" and a local path,
 * or one of http://, https://, s3://, gs:// and az:// (docs/REMOTE.md), or of a file system of the
 * program's own; errors always name it. */
#ifndef LEAT_FILE_H
#define LEAT_FILE_H

#include <leat/core.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How the bytes of a file are packed (tf.io.TFRecordOptions.compression_type). TensorFlow has the
 * first three everywhere, SNAPPY for record files alone, ZSTD and LZ4 nowhere. */
typedef enum leat_compression {
    LEAT_COMPRESSION_NONE = 0, /* "" */
    LEAT_COMPRESSION_ZLIB,     /* "ZLIB" */
    LEAT_COMPRESSION_GZIP,     /* "GZIP" */
    LEAT_COMPRESSION_ZSTD,     /* "ZSTD": zstd frames */
    LEAT_COMPRESSION_LZ4,      /* "LZ4": LZ4 frames */
    LEAT_COMPRESSION_SNAPPY    /* "SNAPPY": TensorFlow's blocks; .sz files are read too */
} leat_compression;

/* The name of a compression, as in compression_type; static text. */
LEAT_API const char *leat_compression_name(leat_compression compression);

/* The compression that the name `text` means; NULL counts as "". Any other text is
 * INVALID_ARGUMENT; UNIMPLEMENTED, naming the package, for a codec that was left out because its
 * library was missing when leat was built (zstd, lz4 and snappy may be). */
LEAT_API LEAT_WARN_UNUSED leat_status leat_compression_from_name(const char *text,
                                                                 leat_compression *out,
                                                                 leat_error *err);

/* Options of a writer: by default no compression, atomic. */
typedef struct leat_tfrecord_writer_options {
    size_t size;
    leat_compression compression;
    int64_t level; /* of compression, 1 (fast) to 9 (small), to 22 for ZSTD, to 12 for LZ4, 1 for
                      SNAPPY; LEAT_UNSET: the codec's own default */
    bool in_place; /* Write to the path itself instead of a temporary file beside it that replaces
                      it on close. Anything but a plain file (a pipe, a device) is always written in
                      place. */
} leat_tfrecord_writer_options;
#define LEAT_TFRECORD_WRITER_DEFAULTS                                                              \
    .size = sizeof(leat_tfrecord_writer_options), .level = LEAT_UNSET

/* A TFRecord file being written. */
typedef struct leat_tfrecord_writer leat_tfrecord_writer;

/* Starts a TFRecord file (tf.io.TFRecordWriter). Nobody sees the file under its name before close,
 * unless `options` (may be NULL) say in_place. Owned: release it with close or discard. NULL on
 * failure: NOT_FOUND (no such folder), PERMISSION_DENIED, RESOURCE_EXHAUSTED and others. */
LEAT_API leat_tfrecord_writer *
leat_tfrecord_writer_open(const char *path, const leat_tfrecord_writer_options *options,
                          leat_error *err);

/* Appends one record of `size` bytes (borrowed; may be NULL when size is 0). After a failure, such
 * as RESOURCE_EXHAUSTED on a full disk, every further call but discard fails with the same code. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_tfrecord_writer_write(leat_tfrecord_writer *writer,
                                                                 const void *data, size_t size,
                                                                 leat_error *err);

/* Finishes the file: its bytes are on the disk and it stands under its name when this returns OK.
 * `writer` is given (NULL is allowed); on failure an atomic writer leaves the path as it was. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_tfrecord_writer_close(leat_tfrecord_writer *writer,
                                                                 leat_error *err);

/* Abandons the file: an atomic writer leaves the path as it was, a writer in place leaves what
 * it has written so far. `writer` is given; NULL is allowed. */
LEAT_API void leat_tfrecord_writer_discard(leat_tfrecord_writer *writer);

/* A tf.train.Example being built: named lists of bytes, int64 or float32 values. */
typedef struct leat_example leat_example;

/* An empty example. Owned; NULL if there is no memory. */
LEAT_API leat_example *leat_example_new(leat_error *err);

/* Releases an example; NULL is allowed. */
LEAT_API void leat_example_free(leat_example *example);

/* Removes all features but keeps the memory, so that one example serves for many records. */
LEAT_API void leat_example_clear(leat_example *example);

/* Adds a feature of `count` values, which are copied (tf.train.BytesList, Int64List, FloatList).
 * `name` is text, not NULL; a name that is there already is ALREADY_EXISTS. A negative count or
 * NULL values with a positive count are INVALID_ARGUMENT, and a feature of more than 2 GiB too. On
 * failure the example is as it was. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_example_add_bytes(leat_example *example,
                                                             const char *name,
                                                             const leat_string *values,
                                                             int64_t count, leat_error *err);
LEAT_API LEAT_WARN_UNUSED leat_status leat_example_add_int64(leat_example *example,
                                                             const char *name,
                                                             const int64_t *values, int64_t count,
                                                             leat_error *err);
LEAT_API LEAT_WARN_UNUSED leat_status leat_example_add_float(leat_example *example,
                                                             const char *name, const float *values,
                                                             int64_t count, leat_error *err);

/* The serialised message (SerializeToString), features in the order in which they were added.
 * Borrowed: valid until the example is changed or freed. INVALID_ARGUMENT above 2 GiB. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_example_serialize(leat_example *example,
                                                             leat_string *out, leat_error *err);

/* One feature of a serialised example: a view, nothing is copied. */
typedef struct leat_feature {
    leat_string name; /* borrowed from the record */
    leat_dtype dtype; /* LEAT_STRING, LEAT_INT64, LEAT_FLOAT32; LEAT_INVALID: no list was set */
    int64_t count;    /* values */
    leat_string list; /* the list's message, borrowed from the record */
} leat_feature;

/* The features of a serialised example one after another, as they stand in the record. `position`
 * starts at 0 and is moved on; *end is set to true instead of filling `out` when there is none
 * left. If a name comes twice the last one counts. No memory is allocated. INVALID_ARGUMENT, naming
 * the byte, where the record is not a tf.train.Example. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_example_next(leat_string record, size_t *position,
                                                        leat_feature *out, bool *end,
                                                        leat_error *err);

/* The first `capacity` values of a feature (all of them if count is not more) written to `values`,
 * an array of int64_t, float or leat_string by the feature's dtype; strings are views of the
 * record. Returns how many were written. Only for a feature that leat_example_next filled. */
LEAT_API int64_t leat_feature_read(const leat_feature *feature, void *values, int64_t capacity);

/* What a TFRecord file holds. */
typedef struct leat_record_summary {
    int64_t records;
    int64_t file_size;  /* bytes on the disk; -1 where unknown (a pipe) */
    int64_t data_bytes; /* of all records together, without headers */
    int64_t min_size;   /* of a record; 0 without records */
    int64_t max_size;
    double mean_size;
    int64_t trailing_bytes; /* 0 to 11 bytes after the last record, too few to be a header */
} leat_record_summary;

/* Called for each record (borrowed for the call) with its number from 0 and the byte where its
 * header starts. Any code but LEAT_OK ends the inspection with that code; it then fills `err`. */
typedef leat_status (*leat_record_function)(void *context, int64_t index, int64_t offset,
                                            leat_string record, leat_error *err);

/* Reads a whole TFRecord file, checks both checksums of every record and fills `out`. `function`
 * may be NULL. DATA_LOSS with file, byte, expected and found values at the first bad record;
 * NOT_FOUND, PERMISSION_DENIED and others for the file itself. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_records_inspect(const char *path,
                                                           leat_compression compression,
                                                           leat_record_function function,
                                                           void *context, leat_record_summary *out,
                                                           leat_error *err);

/* The compression that a file seems to have, judged by its first bytes. It is a guess, because a
 * plain TFRecord file can begin like a zlib stream; a file whose first bytes are a valid record
 * header is taken as not compressed. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_compression_guess(const char *path,
                                                             leat_compression *out,
                                                             leat_error *err);

/* Writes the index of a plain TFRecord file, or of a tar archive of samples (leat_dataset_tar),
 * beside it, as PATH.leat-index: where each record or sample starts, so that records are found by
 * number without reading those before. It replaces an older one and appears whole or not at all.
 * Headers of all records are checked, data are not read. *records (may be NULL) is how many there
 * are. An index belongs to the exact bytes of its file: whenever the file is rewritten, write the
 * index again. UNIMPLEMENTED for a compressed file; DATA_LOSS at the first bad header, and where
 * the file ends inside a record; FAILED_PRECONDITION where it changes meanwhile. Not in TensorFlow.
 */
LEAT_API LEAT_WARN_UNUSED leat_status leat_index_write(const char *path, int64_t *records,
                                                       leat_error *err);

/* ---- files that are replaced ---- */

/* A part of a file's content; borrowed. */
typedef struct leat_file_piece {
    const void *data; /* may be NULL where `size` is 0 */
    size_t size;
} leat_file_piece;

/* A file and all of its content, in pieces that follow one another; borrowed. */
typedef struct leat_file_content {
    const char *path;
    const leat_file_piece *pieces;
    size_t num_pieces;
} leat_file_content;

/* Writes one file, or `count` files that belong together, whole or not at all.
 *
 * All of them are written beside their places and brought to the disk first. Then all but the last
 * get their names, then the last, then what names there are in their folders is on the disk; last
 * of all the `num_outdated` files `outdated` are removed, if they are there and are none of the new
 * ones. So the last file decides: it is the one that names the others, or says which they are, and
 * the others have names that the last file of before does not name. Whoever reads the last file
 * first then finds either all that was there before or all that is new, also where the process is
 * killed or the machine stops in between. One file is the last file: it replaces what was there.
 *
 * On failure what was there is unchanged, and the new files are removed, those under their own
 * names too. Temporary files of a killed process are removed when the same path is written again;
 * a new file that has its name but not its last file is for the caller to name as outdated, or to
 * write again. A path that is a link is replaced itself, and what it led to stays: that belongs to
 * other files. (Give the path behind it to write through it.) May be called from several threads;
 * several writers of one path do not wait for each other, and the last stays.
 *
 * Errors name the path: NOT_FOUND (no such folder), PERMISSION_DENIED, RESOURCE_EXHAUSTED (a full
 * disk, memory), FAILED_PRECONDITION (a folder), ABORTED (another machine that shares the disk, but
 * no locks, writes the same path) and others; INVALID_ARGUMENT where no file is given or one twice.
 * errno is then the number of the system's call that failed, or 0. Blocks for as long as the disk
 * does. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_files_replace(const leat_file_content *files, int count,
                                                         const char *const *outdated,
                                                         int num_outdated, leat_error *err);

/* Gives the folder `written` the name `path`, at one moment. What had that name, if anything did,
 * has the name `written` afterwards, for the caller to remove: so whoever opens `path` finds one or
 * the other, also where the process is killed or the machine stops. What is in `written` is to be
 * on the disk (as leat_files_replace leaves files); the names are when the call returns.
 *
 * Both lie in one file system, else UNIMPLEMENTED, as where that cannot exchange names
 * (INVALID_ARGUMENT with some); FAILED_PRECONDITION for a mount point. On failure nothing changed.
 * Errors name the path; errno is the number of the system's call that failed, or 0. May be called
 * from several threads. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_folder_replace(const char *written, const char *path,
                                                          leat_error *err);

/* ---- files by path ---- */

/* What is at a path (tf.io.gfile.stat). */
typedef struct leat_path_info {
    bool is_folder;
    int64_t size;    /* bytes; -1 where unknown, and of a folder */
    int64_t changed; /* seconds since 1970; -1 where unknown */
} leat_path_info;

/* Looks a path up. NOT_FOUND where nothing is there. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_path_stat(const char *path, leat_path_info *out,
                                                     leat_error *err);

/* Receives one name; a failure ends the list. */
typedef leat_status (*leat_path_function)(void *context, const char *name, leat_error *err);

/* Gives the names in a folder to `function`, in no order (tf.io.gfile.listdir). UNIMPLEMENTED for
 * what cannot be listed, as web servers. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_path_list(const char *path, leat_path_function function,
                                                     void *context, leat_error *err);

/* Gives the paths that match a pattern to `function`, sorted (tf.io.gfile.glob). */
LEAT_API LEAT_WARN_UNUSED leat_status leat_path_glob(const char *pattern,
                                                     leat_path_function function, void *context,
                                                     leat_error *err);

/* Makes a folder and those above it; one that is there is OK (tf.io.gfile.makedirs). In object
 * stores there are none, and nothing is done. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_path_make_folders(const char *path, leat_error *err);

/* Removes a file or an empty folder (tf.io.gfile.remove). */
LEAT_API LEAT_WARN_UNUSED leat_status leat_path_remove(const char *path, leat_error *err);

/* A file open for reading. */
typedef struct leat_file_reader leat_file_reader;

/* Opens a file. Owned: leat_file_reader_free. NULL on failure. */
LEAT_API leat_file_reader *leat_file_reader_open(const char *path, leat_error *err);

/* Releases a reader; NULL is allowed. */
LEAT_API void leat_file_reader_free(leat_file_reader *reader);

/* Its size in bytes when it was opened; -1 where unknown, as of a pipe. */
LEAT_API int64_t leat_file_reader_size(const leat_file_reader *reader);

/* Reads up to `size` bytes from byte `offset` on; *got is less only at the end. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_file_reader_read(leat_file_reader *reader,
                                                            int64_t offset, void *data, size_t size,
                                                            size_t *got, leat_error *err);

/* A file being written, which appears whole or not at all. */
typedef struct leat_file_writer leat_file_writer;

/* Starts a file. Owned: release it with close or discard. NULL on failure. */
LEAT_API leat_file_writer *leat_file_writer_open(const char *path, leat_error *err);

/* Appends bytes. After a failure every further write and close fails in the same way. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_file_writer_write(leat_file_writer *writer,
                                                             const void *data, size_t size,
                                                             leat_error *err);

/* Puts the file in its place. The writer is given, also on failure; what was there is then
 * unchanged. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_file_writer_close(leat_file_writer *writer,
                                                             leat_error *err);

/* Gives the file up. The writer is given; NULL is allowed. */
LEAT_API void leat_file_writer_discard(leat_file_writer *writer);

/* ---- file systems of a program's own ---- */

/* Receives one entry of a folder; a failure ends the list. */
typedef leat_status (*leat_filesystem_entry)(void *to, const char *name, bool is_folder,
                                             leat_error *err);

/* What a file system does. Paths come as the user gave them, with their scheme. Calls come from any
 * thread, several at a time, also for one file; those for one sink one after the other. Each says
 * by `err` what failed, with a code that a program can act on: NOT_FOUND for what is not there. */
typedef struct leat_filesystem {
    size_t size;
    /* Opens a file for reading; *file is the caller's until `close`, *bytes is how long it is (-1:
     * not known, it is then read from start to end alone). */
    leat_status (*open)(void *context, const char *path, void **file, int64_t *bytes,
                        leat_error *err);
    /* Reads up to `size` bytes from byte `offset` on; *got is less only at the end. */
    leat_status (*read)(void *context, void *file, int64_t offset, void *data, size_t size,
                        size_t *got, leat_error *err);
    void (*close)(void *context, void *file);
    leat_status (*stat)(void *context, const char *path, leat_path_info *out, leat_error *err);
    /* Gives the entries of a folder to `entry`, in no order. */
    leat_status (*list)(void *context, const char *path, leat_filesystem_entry entry, void *to,
                        leat_error *err);
    /* What follows may be NULL where nothing can be written. `create` begins a file that nobody
     * sees before `put`, and then whole; `discard` comes last, behind `put` too, and gives up what
     * was not put. */
    leat_status (*create)(void *context, const char *path, void **sink, leat_error *err);
    leat_status (*write)(void *context, void *sink, const void *data, size_t size, leat_error *err);
    leat_status (*put)(void *context, void *sink, leat_error *err);
    void (*discard)(void *context, void *sink);
    leat_status (*remove)(void *context, const char *path, leat_error *err);
    /* Makes a folder and those above it; NULL where there are none. */
    leat_status (*make_folders)(void *context, const char *path, leat_error *err);
} leat_filesystem;
#define LEAT_FILESYSTEM_DEFAULTS .size = sizeof(leat_filesystem)

/* Has paths SCHEME://... and SCHEME::... be files of this file system from now on, in the place of
 * what they were before. `calls` are copied; `context` (borrowed) is theirs as long as the process
 * lives. INVALID_ARGUMENT for a scheme that is none ("file" is this machine's), and without one of
 * the five calls that reading takes. From any thread. Not in TensorFlow. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_filesystem_register(const char *scheme,
                                                               const leat_filesystem *calls,
                                                               void *context, leat_error *err);

/* Is asked for a path SCHEME://... or SCHEME::... whose scheme is not known: registers it, or
 * returns NOT_FOUND, or another code where its file system cannot be had, which `err` explains. */
typedef leat_status (*leat_filesystem_finder)(void *context, const char *path, leat_error *err);

/* Sets the function that is asked; NULL: nobody. From any thread. Not in TensorFlow. */
LEAT_API void leat_filesystem_find(leat_filesystem_finder finder, void *context);

/* Has a path another file system than this machine's? UNIMPLEMENTED for an unknown scheme. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_path_is_remote(const char *path, bool *out,
                                                          leat_error *err);

/* ---- checkpoints ---- */

/* A checkpoint in TensorFlow's format (a tensor bundle), being read: PREFIX.index names the
 * tensors, PREFIX.data-00000-of-00001 and its like hold their bytes
 * (tf.train.load_checkpoint). */
typedef struct leat_bundle leat_bundle;

/* One tensor of a checkpoint. */
typedef struct leat_bundle_entry {
    const char *name; /* borrowed from the checkpoint */
    leat_dtype dtype; /* LEAT_INVALID: one that leat lacks */
    int dtype_number; /* TensorFlow's (tf.DType.as_datatype_enum) */
    leat_shape shape;
    bool is_sliced; /* it lies in parts, which cannot be read */
    int shard;      /* the number of the file that holds it, from 0 */
    int64_t offset; /* bytes, in that file */
    int64_t bytes;
} leat_bundle_entry;

/* Reads PREFIX.index, and checks all of it. Owned. NULL on failure: NOT_FOUND without that file,
 * DATA_LOSS naming file and byte where it is damaged or is no such index, and those of the file
 * system. Takes no more memory than a small multiple of the file's size. */
LEAT_API leat_bundle *leat_bundle_open(const char *prefix, leat_error *err);

/* Releases a checkpoint; NULL is allowed. */
LEAT_API void leat_bundle_free(leat_bundle *bundle);

/* How many tensors it has, and in how many files (`num_shards`, of which some may hold none). */
LEAT_API int64_t leat_bundle_count(const leat_bundle *bundle);
LEAT_API int leat_bundle_num_shards(const leat_bundle *bundle);

/* Tensor `index` in the order of names, bytewise; what it points to is borrowed. OUT_OF_RANGE. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_bundle_get(const leat_bundle *bundle, int64_t index,
                                                      leat_bundle_entry *out, leat_error *err);

/* The number of the tensor of a name; -1: there is none. */
LEAT_API int64_t leat_bundle_find(const leat_bundle *bundle, const char *name);

/* Reads the values of tensor `index` and checks their checksum. Complex numbers, which leat has no
 * dtype for, come as their bytes, a vector of uint8. Owned. DATA_LOSS naming file and byte for
 * damage and where the file is too short, before memory is taken for what is not there; NOT_FOUND
 * without the file; UNIMPLEMENTED for a tensor in parts or of another dtype. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_bundle_read(leat_bundle *bundle, int64_t index,
                                                       leat_tensor *out, leat_error *err);

/* The index of a checkpoint being made. Whoever makes it writes the bytes of the tensors, in the
 * order in which they are added, one behind the other, to PREFIX.data-SSSSS-of-NNNNN, and then the
 * index to PREFIX.index. */
typedef struct leat_bundle_writer leat_bundle_writer;

/* A writer of file `shard` of `num_shards`, the only one of them that will have tensors.
 * INVALID_ARGUMENT where there is no such file. Owned; NULL on failure. */
LEAT_API leat_bundle_writer *leat_bundle_writer_new(int shard, int num_shards, leat_error *err);

/* Releases a writer; NULL is allowed. */
LEAT_API void leat_bundle_writer_free(leat_bundle_writer *writer);

/* Adds a tensor (borrowed for the call). *bytes (owned: leat_buffer_unref) is what is written to
 * the file for it; NULL: its own values as they lie in memory. INVALID_ARGUMENT for objects and an
 * empty name. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_bundle_writer_add(leat_bundle_writer *writer,
                                                             const char *name,
                                                             const leat_tensor *tensor,
                                                             leat_buffer **bytes, leat_error *err);

/* The bytes of the index for all that was added. Owned. NULL on failure: ALREADY_EXISTS for a name
 * that was added twice. */
LEAT_API leat_buffer *leat_bundle_writer_index(leat_bundle_writer *writer, leat_error *err);

#ifdef __cplusplus
}
#endif
#endif
