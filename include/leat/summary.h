/* For TensorBoard: event files, and graphs to look at.
 *
 * A writer belongs to one thread at a time; different ones may be used at once. A folder is a local
 * path or "file://" and a local path; errors always name it. */
#ifndef LEAT_SUMMARY_H
#define LEAT_SUMMARY_H

#include <leat/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An event file: what training wrote down for TensorBoard, as records that it reads while they are
 * written (tf.summary). */
typedef struct leat_event_writer leat_event_writer;

/* Options of an event file. */
typedef struct leat_event_options {
    size_t size;
    const char *suffix;   /* behind the file's name (filename_suffix) */
    int64_t max_queue;    /* events that may wait before they are written to the file system */
    int64_t flush_millis; /* the longest that one waits, checked when the next one comes */
} leat_event_options;
#define LEAT_EVENT_DEFAULTS                                                                        \
    .size = sizeof(leat_event_options), .suffix = ".v2", .max_queue = 10, .flush_millis = 120000

/* What TensorBoard should make of a value. A serialised metadata message that exists already goes
 * into `metadata`; the fields below it are ignored then. Texts may be NULL: none. */
typedef struct leat_event_metadata {
    leat_string metadata;     /* a SummaryMetadata; size 0: made of the following */
    const char *plugin;       /* "scalars", "histograms", "images", "text", ... */
    leat_string content;      /* the plug-in's own data */
    const char *display_name; /* shown in place of the tag */
    const char *description;  /* Markdown */
    int data_class;           /* 0 unknown, 1 scalar, 2 tensor, 3 blobs */
} leat_event_metadata;

/* Starts an event file in `folder`, which is created, with those above it, if it is missing
 * (tf.summary.create_file_writer). Its name has the time, the host and the process in it, so that
 * one folder can hold the files of several runs. `options` may be NULL. Owned: release it with
 * close. NULL on failure, with the codes of leat_tfrecord_writer_open. */
LEAT_API leat_event_writer *
leat_event_writer_open(const char *folder, const leat_event_options *options, leat_error *err);

/* The file's path. Borrowed. */
LEAT_API const char *leat_event_writer_path(const leat_event_writer *writer);

/* Writes one number (tf.summary.scalar). `tag` names the curve; `step` is its place on it. These
 * calls fail with INVALID_ARGUMENT for a missing tag, and once one failed, as on a full disk
 * (RESOURCE_EXHAUSTED), all later ones fail in the same way. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_event_scalar(leat_event_writer *writer, const char *tag,
                                                        int64_t step, float value, leat_error *err);

/* Writes how the values of a tensor are spread over `buckets` of equal width between the least and
 * the greatest (tf.summary.histogram; 0: 30). Values that are not finite are in no bucket. Where
 * all are equal the last bucket has them, without values all buckets are 0. Numbers and bool, else
 * INVALID_ARGUMENT. `metadata` (may be NULL) for a description. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_event_histogram(leat_event_writer *writer,
                                                           const char *tag, int64_t step,
                                                           const leat_tensor *values, int buckets,
                                                           const leat_event_metadata *metadata,
                                                           leat_error *err);

/* Writes `count` pictures of `width` by `height` pixels, each an encoded PNG (tf.summary.image). */
LEAT_API LEAT_WARN_UNUSED leat_status leat_event_images(leat_event_writer *writer, const char *tag,
                                                        int64_t step, const leat_string *pngs,
                                                        int64_t count, int64_t width,
                                                        int64_t height, leat_error *err);

/* Writes a text, Markdown (tf.summary.text). */
LEAT_API LEAT_WARN_UNUSED leat_status leat_event_text(leat_event_writer *writer, const char *tag,
                                                      int64_t step, const char *text,
                                                      leat_error *err);

/* Writes any tensor for a plug-in (tf.summary.write). `metadata` may be NULL. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_event_tensor(leat_event_writer *writer, const char *tag,
                                                        int64_t step, const leat_tensor *value,
                                                        const leat_event_metadata *metadata,
                                                        leat_error *err);

/* Writes a serialised Summary message (tf.summary.experimental.write_raw_pb). */
LEAT_API LEAT_WARN_UNUSED leat_status leat_event_summary(leat_event_writer *writer, int64_t step,
                                                         leat_string summary, leat_error *err);

/* Writes a serialised GraphDef, which TensorBoard draws (tf.summary.graph). */
LEAT_API LEAT_WARN_UNUSED leat_status leat_event_graph(leat_event_writer *writer, leat_string graph,
                                                       leat_error *err);

/* Writes the waiting events to the file system, where readers see them (tf.summary.flush). */
LEAT_API LEAT_WARN_UNUSED leat_status leat_event_writer_flush(leat_event_writer *writer,
                                                              leat_error *err);

/* Writes the waiting events and ends the file. `writer` is given; NULL is allowed. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_event_writer_close(leat_event_writer *writer,
                                                              leat_error *err);

/* The function as a serialised GraphDef, which TensorBoard draws: nodes with the names of leat's
 * operations and the variables' own. It is not read back. Owned (leat_buffer_unref); NULL where
 * there is no memory (tf.Graph.as_graph_def). */
LEAT_API leat_buffer *leat_function_to_graph_def(const leat_function *function, leat_error *err);

#ifdef __cplusplus
}
#endif
#endif
