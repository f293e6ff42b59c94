/* Datasets that begin a pipeline: one prototype per line of the operator table.
 *
 *     numbers                     range random counter
 *     from memory and functions   from_tensor_slices from_tensors from_list from_generator
 *     files                       list_files files tf_record text_line fixed_length_record numpy
 *                                 tar csv sql load
 *     whole pipelines from files  make_batched_features make_csv
 *
 * See leat/data.h for ownership, errors (NULL with `err`) and thread-safety. Options may be NULL.
 */
#ifndef LEAT_SOURCES_H
#define LEAT_SOURCES_H

#include <leat/data.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- numbers ---- */

/* tf.data.Dataset.range(start, stop, step, output_type): scalars computed in int64, then cast.
 * INVALID_ARGUMENT for step 0. */
typedef struct leat_dataset_range_options {
    size_t size;
    leat_dtype output_type;
} leat_dataset_range_options;
#define LEAT_DATASET_RANGE_DEFAULTS                                                                \
    .size = sizeof(leat_dataset_range_options), .output_type = LEAT_INT64
LEAT_API leat_dataset *leat_dataset_range(int64_t start, int64_t stop, int64_t step,
                                          const leat_dataset_range_options *options,
                                          leat_error *err);

/* tf.data.Dataset.random: int64 scalars from 0 to 2^32 - 1, TensorFlow's numbers bit for bit,
 * without end. */
typedef struct leat_dataset_random_options {
    size_t size;
    leat_seed seed;
    leat_choice rerandomize_each_iteration; /* other numbers in every epoch and iterator */
} leat_dataset_random_options;
#define LEAT_DATASET_RANDOM_DEFAULTS                                                               \
    .size = sizeof(leat_dataset_random_options), .rerandomize_each_iteration = LEAT_CHOICE_DEFAULT
LEAT_API leat_dataset *leat_dataset_random(const leat_dataset_random_options *options,
                                           leat_error *err);

/* tf.data.Dataset.counter: start, start + step, ... without end. INVALID_ARGUMENT for numbers that
 * the dtype does not have; integers may be up to 2^53 in magnitude. */
typedef struct leat_dataset_counter_options {
    size_t size;
    leat_dtype dtype;
} leat_dataset_counter_options;
#define LEAT_DATASET_COUNTER_DEFAULTS                                                              \
    .size = sizeof(leat_dataset_counter_options), .dtype = LEAT_INT64
LEAT_API leat_dataset *leat_dataset_counter(double start, double step,
                                            const leat_dataset_counter_options *options,
                                            leat_error *err);

/* ---- from memory and functions ---- */

/* tf.data.Dataset.from_tensor_slices: the rows along axis 0 of each component. `tensors` is
 * borrowed, its memory is referenced. INVALID_ARGUMENT for scalars and unequal first dimensions. */
LEAT_API leat_dataset *leat_dataset_from_tensor_slices(const leat_element *tensors,
                                                       leat_error *err);

/* tf.data.Dataset.from_tensors: one element, the tensors themselves. `tensors` is borrowed, its
 * memory is referenced. */
LEAT_API leat_dataset *leat_dataset_from_tensors(const leat_element *tensors, leat_error *err);

/* tf.data.experimental.from_list: the elements of a list, given as one tuple (borrowed, its memory
 * is referenced). INVALID_ARGUMENT for an empty one and for elements that have no common spec. */
LEAT_API leat_dataset *leat_dataset_from_list(const leat_element *elements, leat_error *err);

/* The functions that make the values of leat_dataset_from_generator. A run belongs to one iterator
 * and epoch: `open` (NULL: there is nothing to open) begins it with the dataset's args (borrowed;
 * {0}: none), `next` fills `out` (it is {0} or holds the value before) with leat_element_set and
 * gives LEAT_OUT_OF_RANGE at the end, `close` (NULL: there is nothing to close) ends it, early too.
 * A failure of open or next, with its text in `err`, is delivered once and ends the run. Called
 * from any thread, one call at a time unless LEAT_PURE. */
typedef struct leat_generator {
    leat_status (*open)(void *context, const leat_element *args, void **run, leat_error *err);
    leat_status (*next)(void *context, void *run, leat_element *out, leat_error *err);
    void (*close)(void *context, void *run);
} leat_generator;

/* tf.data.Dataset.from_generator: values converted to the dtypes of output_signature (given) as
 * numpy does it; one of another structure or shape is an INVALID_ARGUMENT in its place. `generator`
 * is copied. A plan refers to it by `name`. With LEAT_PURE (each run of the same args gives the
 * same values) values are taken ahead and iterators can be saved; else saving is UNIMPLEMENTED. */
typedef struct leat_dataset_from_generator_options {
    size_t size;
    const leat_element *args;       /* borrowed, copied: what `open` gets; NULL: nothing */
    const char *name;               /* copied; NULL: no plan can be written */
    uint32_t flags;                 /* 0 or LEAT_PURE */
    void (*release)(void *context); /* frees the context with the dataset, or at once if the call
                                       fails; NULL: nothing to free */
} leat_dataset_from_generator_options;
#define LEAT_DATASET_FROM_GENERATOR_DEFAULTS .size = sizeof(leat_dataset_from_generator_options)
LEAT_API leat_dataset *
leat_dataset_from_generator(const leat_generator *generator, void *context,
                            const leat_dataset_from_generator_options *options,
                            leat_spec *output_signature, leat_error *err);

/* Registers a generator by name, so that plans that mention it can be read back. Process-wide;
 * replaces an earlier generator of that name; NULL removes the name. The functions are copied, the
 * context is borrowed. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_generator_register(const char *name,
                                                              const leat_generator *generator,
                                                              void *context, uint32_t flags,
                                                              leat_error *err);

/* ---- files ---- */

/* tf.data.Dataset.list_files: names that match the glob patterns, sorted, then shuffled.
 * INVALID_ARGUMENT "No files matched pattern" at the call. */
typedef struct leat_dataset_list_files_options {
    size_t size;
    bool shuffle;
    leat_seed seed;
} leat_dataset_list_files_options;
#define LEAT_DATASET_LIST_FILES_DEFAULTS                                                           \
    .size = sizeof(leat_dataset_list_files_options), .shuffle = true
LEAT_API leat_dataset *leat_dataset_list_files(const char *pattern,
                                               const leat_dataset_list_files_options *options,
                                               leat_error *err);

/* tf.data.TFRecordDataset: string scalars, one per record of the files in order. DATA_LOSS names
 * file and byte of a damaged record, then the next file follows; NOT_FOUND at each call for a
 * missing one. With indexes of all files (for a list of plain files, read one after the other) the
 * cardinality is known, skipping costs a seek, and there is random access, so that global_shuffle
 * may follow. An index that does not fit its file is FAILED_PRECONDITION, a damaged one DATA_LOSS,
 * both when the dataset is made. */
typedef enum leat_index_use {
    LEAT_INDEX_NONE = 0, /* as in tf.data: unknown cardinality, no random access */
    LEAT_INDEX_AUTO,     /* where all files have an index (leat_index_write), it is used */
    LEAT_INDEX_REQUIRED  /* a missing index is NOT_FOUND when the dataset is made */
} leat_index_use;
typedef struct leat_dataset_tf_record_options {
    size_t size;
    const char *compression_type; /* a name of leat_compression; NULL: none */
    int64_t buffer_size;          /* bytes read at once */
    int64_t num_parallel_reads;   /* files read in turns, record by record; 0: one after the other.
                                     LEAT_AUTOTUNE: a third of the machine's cores, rounded up; it
                                     becomes this number, on which the order depends, in the plan */
    leat_index_use index;         /* not in tf.data */
} leat_dataset_tf_record_options;
#define LEAT_DATASET_TF_RECORD_DEFAULTS                                                            \
    .size = sizeof(leat_dataset_tf_record_options), .buffer_size = 262144
LEAT_API leat_dataset *leat_dataset_tf_record(const char *const *filenames, int num_filenames,
                                              const leat_dataset_tf_record_options *options,
                                              leat_error *err);
/* The same with the names from a dataset of string scalars. */
LEAT_API leat_dataset *leat_dataset_tf_record_of(leat_dataset *filenames,
                                                 const leat_dataset_tf_record_options *options,
                                                 leat_error *err);

/* tf.data.TextLineDataset: string scalars, one per line of the files in order, without '\n' and
 * '\r'. An error of a file comes again at each call; a bad option is INVALID_ARGUMENT at the first
 * element. */
typedef struct leat_dataset_text_line_options {
    size_t size;
    const char *compression_type; /* a name of leat_compression; NULL: none */
    int64_t buffer_size;          /* bytes read at once; 0, as in TensorFlow: 256 KiB */
    int64_t num_parallel_reads;   /* as in leat_dataset_tf_record_options */
} leat_dataset_text_line_options;
#define LEAT_DATASET_TEXT_LINE_DEFAULTS .size = sizeof(leat_dataset_text_line_options)
LEAT_API leat_dataset *leat_dataset_text_line(const char *const *filenames, int num_filenames,
                                              const leat_dataset_text_line_options *options,
                                              leat_error *err);
/* The same with the names from a dataset of string scalars. */
LEAT_API leat_dataset *leat_dataset_text_line_of(leat_dataset *filenames,
                                                 const leat_dataset_text_line_options *options,
                                                 leat_error *err);

/* tf.data.FixedLengthRecordDataset: string scalars of record_bytes bytes, the records between
 * header and footer of the files in order. A plain file whose records do not come out even is
 * INVALID_ARGUMENT at each call, a compressed one DATA_LOSS at its end; a bad option is
 * INVALID_ARGUMENT at the first element. */
typedef struct leat_dataset_fixed_length_record_options {
    size_t size;
    int64_t header_bytes, footer_bytes; /* left out of each file */
    int64_t buffer_size;                /* bytes read at once; 0, as in TensorFlow: 256 KiB */
    const char *compression_type;       /* a name of leat_compression; NULL: none */
    int64_t num_parallel_reads;         /* as in leat_dataset_tf_record_options */
} leat_dataset_fixed_length_record_options;
#define LEAT_DATASET_FIXED_LENGTH_RECORD_DEFAULTS                                                  \
    .size = sizeof(leat_dataset_fixed_length_record_options)
LEAT_API leat_dataset *leat_dataset_fixed_length_record(
    const char *const *filenames, int num_filenames, int64_t record_bytes,
    const leat_dataset_fixed_length_record_options *options, leat_error *err);
/* The same with the names from a dataset of string scalars. */
LEAT_API leat_dataset *
leat_dataset_fixed_length_record_of(leat_dataset *filenames, int64_t record_bytes,
                                    const leat_dataset_fixed_length_record_options *options,
                                    leat_error *err);

/* The rows of .npy files, the slices of each array along its first dimension (not in tf.data). All
 * files have rows of one dtype and shape: those of output_signature, else of the first file, whose
 * header is read now. Numbers in the other byte order are converted; arrays in Fortran order are
 * INVALID_ARGUMENT, of objects, records, text, dates or complex numbers UNIMPLEMENTED, as are .npz
 * archives. Such a file, and a damaged header, is one error and the next file follows; a cut file
 * gives its whole rows, then DATA_LOSS. Names are borrowed and copied. */
typedef struct leat_dataset_numpy_options {
    size_t size;
    const leat_spec *output_signature; /* borrowed: a tensor of known shape, of a row; NULL: as the
                                          first file says */
    const char *compression_type;      /* a name of leat_compression; NULL: none */
    int64_t buffer_size;               /* bytes read at once; 0, as in TensorFlow: 256 KiB */
} leat_dataset_numpy_options;
#define LEAT_DATASET_NUMPY_DEFAULTS .size = sizeof(leat_dataset_numpy_options)
LEAT_API leat_dataset *leat_dataset_numpy(const char *const *filenames, int num_filenames,
                                          const leat_dataset_numpy_options *options,
                                          leat_error *err);
/* The same with the names from a dataset of string scalars; output_signature is required. */
LEAT_API leat_dataset *leat_dataset_numpy_of(leat_dataset *filenames,
                                             const leat_dataset_numpy_options *options,
                                             leat_error *err);

/* Samples of tar shards in WebDataset's layout (not in tf.data): a dict of string scalars, the
 * bytes of the member for each field and "__key__", the path up to the first dot of its last part.
 * A field is an extension in lower case, or several, "jpg;png", of which a sample has one. A sample
 * that lacks a field or has it twice is one INVALID_ARGUMENT; a damaged archive gives DATA_LOSS
 * after the samples before the damage, then the next file. With indexes the cardinality is known,
 * skipping costs a seek and passes samples whatever is in them, and there is random access. Texts
 * are borrowed and copied. */
typedef struct leat_dataset_tar_options {
    size_t size;
    const char *compression_type; /* a name of leat_compression; NULL: none */
    int64_t buffer_size;          /* bytes read at once; 0, as in TensorFlow: 256 KiB */
    leat_index_use index;         /* as in leat_dataset_tf_record_options */
} leat_dataset_tar_options;
#define LEAT_DATASET_TAR_DEFAULTS .size = sizeof(leat_dataset_tar_options)
LEAT_API leat_dataset *leat_dataset_tar(const char *const *filenames, int num_filenames,
                                        const char *const *fields, int num_fields,
                                        const leat_dataset_tar_options *options, leat_error *err);

/* The names themselves as string scalars (not in tf.data), for a map or flat_map that reads the
 * files: policies that deal files out to workers deal these out. Nothing is opened. Names are
 * borrowed and copied. */
LEAT_API leat_dataset *leat_dataset_files(const char *const *filenames, int num_filenames,
                                          leat_error *err);

/* tf.data.experimental.CsvDataset: tuples of scalars, one per record of the files in order.
 * record_defaults (borrowed, copied) is a tuple with a tensor for each column, of float32, float64,
 * int32, int64 or string: its one value where a field is missing, or no values if it must be there.
 * A bad record is one INVALID_ARGUMENT; an error of a file comes again at each call. */
typedef struct leat_dataset_csv_options {
    size_t size;
    const char *compression_type; /* a name of leat_compression; NULL: none */
    int64_t buffer_size;          /* bytes read at once */
    bool header;                  /* leave out the first record of each file */
    const char *field_delim;      /* one byte */
    bool use_quote_delim;         /* fields may be quoted */
    const char *na_value;         /* a field of this text is missing */
    const int64_t *select_cols;   /* the fields to take, ascending (borrowed); NULL: all */
    int num_select_cols;
    const int64_t *exclude_cols; /* the fields to leave out, ascending (borrowed); NULL: none */
    int num_exclude_cols;
} leat_dataset_csv_options;
#define LEAT_DATASET_CSV_DEFAULTS                                                                  \
    .size = sizeof(leat_dataset_csv_options), .buffer_size = 4194304, .field_delim = ",",          \
    .use_quote_delim = true, .na_value = ""
LEAT_API leat_dataset *leat_dataset_csv(const char *const *filenames, int num_filenames,
                                        const leat_element *record_defaults,
                                        const leat_dataset_csv_options *options, leat_error *err);

/* tf.data.experimental.SqlDataset: tuples of scalars, one per row of a query to an SQLite database
 * (driver "sqlite"; texts borrowed). output_types has a dtype for each column. UNKNOWN at each call
 * for a query that SQLite refuses; UNIMPLEMENTED in a library built without SQLite. */
LEAT_API leat_dataset *leat_dataset_sql(const char *driver_name, const char *data_source_name,
                                        const char *query, const leat_dtype *output_types,
                                        int num_columns, leat_error *err);

/* tf.data.Dataset.load: the elements that leat_dataset_save or TensorFlow's Dataset.save wrote to
 * the folder `path`; or what a data service writes there (leat_service_save, TensorFlow's
 * distributed_save), also while it is being written: then the end comes when that is complete.
 * NOT_FOUND where there are none, or saving has not finished; the failure of a snapshot that could
 * not be written. Blocks while it waits.
 */
typedef struct leat_dataset_load_options {
    size_t size;
    const leat_spec *element_spec; /* borrowed; NULL: the one that was saved. It is not held against
                                      that one: tensors that do not fit are INVALID_ARGUMENT. Of a
                                      snapshot it must be that one */
    const char *compression;       /* that it was saved with; NULL: none, or a snapshot's own */
    leat_function *reader_func;    /* given; from a dataset of the shards' datasets to a dataset.
                                      NULL: the shards are read in turns */
    bool wait;                     /* until the folder holds a saved dataset */
    int64_t wait_deadline_ms;      /* DEADLINE_EXCEEDED after that */
    bool (*cancelled)(
        void *context); /* asked while waiting: true ends it with CANCELLED; or NULL */
    void *context;
} leat_dataset_load_options;
#define LEAT_DATASET_LOAD_DEFAULTS                                                                 \
    .size = sizeof(leat_dataset_load_options), .wait_deadline_ms = LEAT_UNLIMITED
LEAT_API leat_dataset *leat_dataset_load(const char *path, const leat_dataset_load_options *options,
                                         leat_error *err);

/* ---- whole pipelines from files ---- */

/* How whole input pipelines shuffle and repeat: shuffled, forever, prefetched. */
typedef struct leat_dataset_epochs_options {
    size_t size;
    int64_t num_epochs; /* LEAT_UNSET: forever, without a smaller last batch */
    bool shuffle;
    int64_t shuffle_buffer_size; /* records */
    leat_seed shuffle_seed;
    int64_t prefetch_buffer_size; /* batches */
} leat_dataset_epochs_options;
#define LEAT_DATASET_EPOCHS_DEFAULTS                                                               \
    .size = sizeof(leat_dataset_epochs_options), .num_epochs = LEAT_UNSET, .shuffle = true,        \
    .shuffle_buffer_size = 10000, .prefetch_buffer_size = LEAT_AUTOTUNE

/* tf.data.experimental.make_batched_features_dataset: the TFRecords of all files that match the
 * patterns (texts borrowed), shuffled, repeated, in batches, parsed as leat_dataset_parse_example
 * does it. INVALID_ARGUMENT "No files matched pattern" at the call. */
typedef struct leat_dataset_make_batched_features_options {
    size_t size;
    const leat_dataset_epochs_options *epochs; /* borrowed; NULL: the defaults */
    const leat_element *defaults;              /* as in leat_dataset_parse_example_options */
    const char *label_key;        /* borrowed; NULL: none. Elements become pairs of the other
                                     features and this one */
    const char *compression_type; /* borrowed; of the files: NULL, "GZIP", "ZLIB" */
    int64_t reader_num_threads;   /* files read in turns */
    int64_t parser_num_threads;
    bool sloppy_ordering, drop_final_batch;
} leat_dataset_make_batched_features_options;
#define LEAT_DATASET_MAKE_BATCHED_FEATURES_DEFAULTS                                                \
    .size = sizeof(leat_dataset_make_batched_features_options), .reader_num_threads = 1,           \
    .parser_num_threads = 2
LEAT_API leat_dataset *
leat_dataset_make_batched_features(const char *const *file_pattern, int num_patterns,
                                   int64_t batch_size, const leat_spec *features,
                                   const leat_dataset_make_batched_features_options *options,
                                   leat_error *err);

/* tf.data.experimental.make_csv_dataset: the records of all CSV files that match the patterns
 * (texts borrowed), shuffled, repeated, in batches, as dictionaries of columns. Names that are not
 * given are the files' first rows; dtypes that are not given are inferred, and such columns are
 * optional. INVALID_ARGUMENT "No files matched pattern" at the call, as for columns that the files
 * have not.
 */
typedef struct leat_dataset_make_csv_options {
    size_t size;
    const leat_dataset_epochs_options *epochs; /* borrowed; NULL: the defaults */
    const char *const *column_names;           /* borrowed: num_columns names; 0: the headers' */
    int num_columns;
    const leat_element *column_defaults; /* borrowed, copied: as leat_dataset_csv's record_defaults,
                                            one for each selected column; NULL: inferred */
    const char *label_name;              /* borrowed; NULL: none. Elements become pairs */
    const leat_element *select_columns;  /* borrowed, copied: a vector of numbers or of names */
    const char *field_delim;             /* one byte */
    bool use_quote_delim;                /* fields may be quoted */
    const char *na_value;                /* a field of this text is missing */
    bool header;                         /* the files' first records are names */
    const char *compression_type;        /* NULL, "GZIP", "ZLIB" */
    int64_t num_parallel_reads;          /* files read in turns */
    int64_t num_rows_for_inference;      /* negative: all */
    bool sloppy, ignore_errors;
} leat_dataset_make_csv_options;
#define LEAT_DATASET_MAKE_CSV_DEFAULTS                                                             \
    .size = sizeof(leat_dataset_make_csv_options), .field_delim = ",", .use_quote_delim = true,    \
    .na_value = "", .header = true, .num_parallel_reads = 1, .num_rows_for_inference = 100
LEAT_API leat_dataset *leat_dataset_make_csv(const char *const *file_pattern, int num_patterns,
                                             int64_t batch_size,
                                             const leat_dataset_make_csv_options *options,
                                             leat_error *err);

#ifdef __cplusplus
}
#endif
#endif
