/* Dataset operators: one prototype per line of the operator table that takes datasets.
 *
 *     functions over elements  map filter flat_map interleave parallel_interleave scan
 *                              map_and_batch parse_example
 *     order and number         shuffle global_shuffle shuffle_and_repeat repeat take skip take_while
 *                              shard enumerate unique assert_cardinality pad_to_cardinality
 *     batches and windows      batch padded_batch ragged_batch sparse_batch rebatch unbatch pack
 *                              window
 *     groups                   group_by_window bucket_by_sequence_length group_by_reducer
 *     several datasets         concatenate zip choose_from_datasets sample_from_datasets
 *                              rejection_resample
 *     errors                   ignore_errors quarantine
 *     kept and ready           cache snapshot prefetch
 *     options                  with_options apply
 *
 * Datasets to begin with stand in leat/sources.h. See leat/data.h for ownership (input datasets and
 * functions are given; NULL passes through), errors (NULL with `err`) and thread-safety. Options
 * may be NULL. */
#ifndef LEAT_DATA_OPS_H
#define LEAT_DATA_OPS_H

#include <leat/sources.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- functions over elements ---- */

/* tf.data.Dataset.map. `function` takes the element's components. num_parallel_calls 0: one call at
 * a time on the consumer's thread; n or LEAT_AUTOTUNE: on the pool, delivered in order unless
 * deterministic is false. */
typedef struct leat_dataset_map_options {
    size_t size;
    int64_t num_parallel_calls; /* LEAT_UNSET: on the consumer's thread */
    leat_choice deterministic;  /* in order, unless the plan's options say otherwise */
    /* Never in parallel, not even by a rewrite; not together with num_parallel_calls. */
    bool synchronous;
} leat_dataset_map_options;
#define LEAT_DATASET_MAP_DEFAULTS                                                                  \
    .size = sizeof(leat_dataset_map_options), .num_parallel_calls = LEAT_UNSET,                    \
    .deterministic = LEAT_CHOICE_DEFAULT
LEAT_API leat_dataset *leat_dataset_map(leat_dataset *input, leat_function *function,
                                        const leat_dataset_map_options *options, leat_error *err);

/* tf.data.Dataset.filter: elements for which `predicate`, a function to a bool scalar, is true. */
LEAT_API leat_dataset *leat_dataset_filter(leat_dataset *input, leat_function *predicate,
                                           leat_error *err);

/* tf.data.Dataset.flat_map: `function` returns a dataset value; its elements follow one another. */
LEAT_API leat_dataset *leat_dataset_flat_map(leat_dataset *input, leat_function *function,
                                             leat_error *err);

/* tf.data.Dataset.interleave: the elements of `cycle_length` of the datasets that `function`
 * returns, block_length of each in turn. num_parallel_calls n or LEAT_AUTOTUNE chooses TensorFlow's
 * parallel form, whose order differs behind an error; INVALID_ARGUMENT for more than cycle_length.
 * Drivers read pure datasets ahead, num_parallel_calls at a time; where deterministic is false the
 * one that is ready goes first. */
typedef struct leat_dataset_interleave_options {
    size_t size;
    int64_t cycle_length;       /* LEAT_AUTOTUNE: by the number of cores, when it is made */
    int64_t block_length;       /* elements */
    int64_t num_parallel_calls; /* LEAT_UNSET: the sequential form */
    leat_choice deterministic;
} leat_dataset_interleave_options;
#define LEAT_DATASET_INTERLEAVE_DEFAULTS                                                           \
    .size = sizeof(leat_dataset_interleave_options), .cycle_length = LEAT_AUTOTUNE,                \
    .block_length = 1, .num_parallel_calls = LEAT_UNSET, .deterministic = LEAT_CHOICE_DEFAULT
LEAT_API leat_dataset *leat_dataset_interleave(leat_dataset *input, leat_function *function,
                                               const leat_dataset_interleave_options *options,
                                               leat_error *err);

/* tf.data.experimental.parallel_interleave, the legacy form: interleave's parallel order with any
 * cycle_length. With sloppy the dataset that is ready goes first. */
typedef struct leat_dataset_parallel_interleave_options {
    size_t size;
    int64_t block_length; /* elements */
    bool sloppy;
    /* Bounds on what TensorFlow's threads read ahead; they have no effect here. LEAT_UNSET: not
     * given. */
    int64_t buffer_output_elements, prefetch_input_elements;
    int64_t num_parallel_calls; /* datasets read at a time; LEAT_UNSET: as many as help */
} leat_dataset_parallel_interleave_options;
#define LEAT_DATASET_PARALLEL_INTERLEAVE_DEFAULTS                                                  \
    .size = sizeof(leat_dataset_parallel_interleave_options), .block_length = 1,                   \
    .buffer_output_elements = LEAT_UNSET, .prefetch_input_elements = LEAT_UNSET,                   \
    .num_parallel_calls = LEAT_UNSET
LEAT_API leat_dataset *
leat_dataset_parallel_interleave(leat_dataset *input, leat_function *function, int64_t cycle_length,
                                 const leat_dataset_parallel_interleave_options *options,
                                 leat_error *err);

/* tf.data.Dataset.scan: `function`, from (state, element) to (state, output), is called for one
 * element after the other, first with `initial_state` (borrowed). Its arguments are a tuple of the
 * two. Trace it with shapes that hold for every state: a shape that changes has unknown dimensions.
 * INVALID_ARGUMENT where structure or dtypes of the state change. */
LEAT_API leat_dataset *leat_dataset_scan(leat_dataset *input, const leat_element *initial_state,
                                         leat_function *function, leat_error *err);

/* tf.data.experimental.map_and_batch: batches of the function's results; an element that fails
 * costs its batch and no other. INVALID_ARGUMENT if both numbers are given. */
typedef struct leat_dataset_map_and_batch_options {
    size_t size;
    int64_t num_parallel_batches; /* 0: by num_parallel_calls */
    bool drop_remainder;
    int64_t num_parallel_calls; /* 0: batch_size; or LEAT_AUTOTUNE */
} leat_dataset_map_and_batch_options;
#define LEAT_DATASET_MAP_AND_BATCH_DEFAULTS .size = sizeof(leat_dataset_map_and_batch_options)
LEAT_API leat_dataset *leat_dataset_map_and_batch(leat_dataset *input, leat_function *function,
                                                  int64_t batch_size,
                                                  const leat_dataset_map_and_batch_options *options,
                                                  leat_error *err);

/* tf.data.experimental.parse_example_dataset: vectors of serialised tf.train.Examples as
 * dictionaries of batches. `features` (borrowed) is a dict with the spec of each feature in one
 * Example: a tensor of a known shape (FixedLenFeature), one whose first dimension is -1
 * (FixedLenSequenceFeature, filled up to the longest of the batch), or a sparse (VarLenFeature) or
 * ragged (RaggedFeature, rank 0) vector [-1]. A record that does not fit is INVALID_ARGUMENT and
 * costs its batch. */
typedef struct leat_dataset_parse_example_options {
    size_t size;
    const leat_element *defaults; /* borrowed, copied: a dict of values for dense features */
    int64_t num_parallel_calls;   /* batches at a time; or LEAT_AUTOTUNE */
    leat_choice deterministic;
} leat_dataset_parse_example_options;
#define LEAT_DATASET_PARSE_EXAMPLE_DEFAULTS                                                        \
    .size = sizeof(leat_dataset_parse_example_options), .num_parallel_calls = 1,                   \
    .deterministic = LEAT_CHOICE_DEFAULT
LEAT_API leat_dataset *leat_dataset_parse_example(leat_dataset *input, const leat_spec *features,
                                                  const leat_dataset_parse_example_options *options,
                                                  leat_error *err);

/* ---- order and number ---- */

/* tf.data.Dataset.shuffle, TensorFlow's order bit for bit. buffer_size in elements, > 0, or
 * LEAT_UNKNOWN_CARDINALITY for the whole input. */
typedef struct leat_dataset_shuffle_options {
    size_t size;
    leat_seed seed;
    bool reshuffle_each_iteration;
} leat_dataset_shuffle_options;
#define LEAT_DATASET_SHUFFLE_DEFAULTS                                                              \
    .size = sizeof(leat_dataset_shuffle_options), .reshuffle_each_iteration = true
LEAT_API leat_dataset *leat_dataset_shuffle(leat_dataset *input, int64_t buffer_size,
                                            const leat_dataset_shuffle_options *options,
                                            leat_error *err);

/* TensorFlow's internal global_shuffle: all elements in a random order, asked of the input by
 * number and not buffered. FAILED_PRECONDITION over operators without random access, batches that
 * keep a remainder, repeat without end; INVALID_ARGUMENT for an input without elements or of
 * unknown cardinality. */
LEAT_API leat_dataset *leat_dataset_global_shuffle(leat_dataset *input,
                                                   const leat_dataset_shuffle_options *options,
                                                   leat_error *err);

/* tf.data.experimental.shuffle_and_repeat: `count` epochs (at least 1; -1: for ever), each in the
 * order that leat_dataset_shuffle gives it. */
LEAT_API leat_dataset *leat_dataset_shuffle_and_repeat(leat_dataset *input, int64_t buffer_size,
                                                       int64_t count, leat_seed seed,
                                                       leat_error *err);

/* tf.data.Dataset.repeat; a negative count repeats forever. */
LEAT_API leat_dataset *leat_dataset_repeat(leat_dataset *input, int64_t count, leat_error *err);

/* tf.data.Dataset.take and skip; a negative count takes everything, or skips everything. */
LEAT_API leat_dataset *leat_dataset_take(leat_dataset *input, int64_t count, leat_error *err);
LEAT_API leat_dataset *leat_dataset_skip(leat_dataset *input, int64_t count, leat_error *err);

/* tf.data.Dataset.take_while: the elements before the first one for which `predicate`, a function
 * to a bool scalar, is false. */
LEAT_API leat_dataset *leat_dataset_take_while(leat_dataset *input, leat_function *predicate,
                                               leat_error *err);

/* tf.data.Dataset.shard: the elements whose number modulo num_shards is index. INVALID_ARGUMENT
 * unless 0 <= index < num_shards. A num_shards of -1 (tf.data.experimental.SHARD_HINT) is kept for
 * distribution to replace; iterating over it is FAILED_PRECONDITION. */
LEAT_API leat_dataset *leat_dataset_shard(leat_dataset *input, int64_t num_shards, int64_t index,
                                          leat_error *err);

/* tf.data.Dataset.enumerate: tuples of an int64 number, counted from `start`, and the element. */
LEAT_API leat_dataset *leat_dataset_enumerate(leat_dataset *input, int64_t start, leat_error *err);

/* tf.data.Dataset.unique: the first occurrence of each element. INVALID_ARGUMENT unless elements
 * are one component of int32, int64 or string. */
LEAT_API leat_dataset *leat_dataset_unique(leat_dataset *input, leat_error *err);

/* tf.data.experimental.assert_cardinality: the input, asserted to have that many elements
 * (LEAT_INFINITE_CARDINALITY: no end). FAILED_PRECONDITION where that turns out to be wrong, at
 * that place and at each further call; at_end where elements are missing. */
LEAT_API leat_dataset *
leat_dataset_assert_cardinality(leat_dataset *input, int64_t expected_cardinality, leat_error *err);

/* tf.data.experimental.pad_to_cardinality: the elements, which are dictionaries, with a bool scalar
 * `mask_key` added (NULL: "valid"; borrowed), then elements of zeros, for which it is false, up to
 * `cardinality` elements. INVALID_ARGUMENT unless the input's cardinality is known and not larger.
 */
LEAT_API leat_dataset *leat_dataset_pad_to_cardinality(leat_dataset *input, int64_t cardinality,
                                                       const char *mask_key, leat_error *err);

/* ---- batches and windows ---- */

/* tf.data.Dataset.batch: stacks batch_size consecutive elements along a new first axis. Unequal
 * shapes are INVALID_ARGUMENT naming both. */
typedef struct leat_dataset_batch_options {
    size_t size;
    bool drop_remainder;
    int64_t num_parallel_calls; /* 0: on the consumer's thread */
    leat_choice deterministic;
} leat_dataset_batch_options;
#define LEAT_DATASET_BATCH_DEFAULTS                                                                \
    .size = sizeof(leat_dataset_batch_options), .deterministic = LEAT_CHOICE_DEFAULT
LEAT_API leat_dataset *leat_dataset_batch(leat_dataset *input, int64_t batch_size,
                                          const leat_dataset_batch_options *options,
                                          leat_error *err);

/* tf.data.Dataset.padded_batch: stacks batch_size consecutive elements, each padded to one shape.
 * INVALID_ARGUMENT where padded_shapes or padding_values do not fit the elements; at an element
 * that is larger than its padded shape DATA_LOSS. */
typedef struct leat_dataset_padded_batch_options {
    size_t size;
    bool drop_remainder;
    const leat_element *padded_shapes;  /* borrowed, copied: the elements' structure with vectors of
                                           dimensions, -1: the longest of the batch. NULL: all of
                                           the elements' shapes, unknown dimensions as -1 */
    const leat_element *padding_values; /* borrowed, copied: the same with scalars, or one scalar
                                           for all components. NULL: 0, false, "" */
} leat_dataset_padded_batch_options;
#define LEAT_DATASET_PADDED_BATCH_DEFAULTS .size = sizeof(leat_dataset_padded_batch_options)
LEAT_API leat_dataset *leat_dataset_padded_batch(leat_dataset *input, int64_t batch_size,
                                                 const leat_dataset_padded_batch_options *options,
                                                 leat_error *err);

/* tf.data.Dataset.ragged_batch: stacks batch_size consecutive elements; tensors whose spec has
 * unknown dimensions become ragged values, down to the last of these. Others are stacked as
 * leat_dataset_batch does it. As in TensorFlow every batch with a ragged value of rank 2 or more is
 * INVALID_ARGUMENT where row_splits_dtype is int32. */
typedef struct leat_dataset_ragged_batch_options {
    size_t size;
    bool drop_remainder;
    leat_dtype row_splits_dtype; /* of new row splits */
} leat_dataset_ragged_batch_options;
#define LEAT_DATASET_RAGGED_BATCH_DEFAULTS                                                         \
    .size = sizeof(leat_dataset_ragged_batch_options), .row_splits_dtype = LEAT_INT64
LEAT_API leat_dataset *leat_dataset_ragged_batch(leat_dataset *input, int64_t batch_size,
                                                 const leat_dataset_ragged_batch_options *options,
                                                 leat_error *err);

/* tf.data.Dataset.sparse_batch: stacks batch_size consecutive tensors as one sparse value of dense
 * shape [rows, row_shape...]; an unknown dimension is the largest of the batch. INVALID_ARGUMENT
 * for elements of several components, and at an element of another rank; DATA_LOSS at one that is
 * larger than row_shape. */
LEAT_API leat_dataset *leat_dataset_sparse_batch(leat_dataset *input, int64_t batch_size,
                                                 leat_shape row_shape, leat_error *err);

/* tf.data.Dataset.rebatch: the rows of the input's batches in batches of `batch_sizes`, taken in
 * turn (borrowed, copied). A size of 0 gives a batch without rows, INVALID_ARGUMENT where a
 * component is sparse or ragged with inner dimensions. */
LEAT_API leat_dataset *leat_dataset_rebatch(leat_dataset *input, const int64_t *batch_sizes,
                                            int num_sizes, bool drop_remainder, leat_error *err);

/* tf.data.Dataset.unbatch: the rows of each element along its components' first dimension, one by
 * one. INVALID_ARGUMENT for scalars and for components with different numbers of rows. */
LEAT_API leat_dataset *leat_dataset_unbatch(leat_dataset *input, leat_error *err);

/* Beyond tf.data: sequences of any length one after the other in windows of `length` tokens
 * (packing, concat-then-split). The elements are vectors of one length each: one tensor, or any
 * structure of them. A window is a dict of the elements' entries (of one entry "tokens" where the
 * elements are no dict), each of shape [length], and of two int32 vectors: segment_ids numbers the
 * window's sequences from 1 on, and is 0 in the padding; positions is a token's place in its
 * sequence, which goes on where the sequence is split. INVALID_ARGUMENT for other elements, and at
 * a sequence that is too long; such an error, as one of the input, ends its own place alone. */
typedef struct leat_dataset_pack_options {
    size_t size;
    /* False: a sequence that does not fit begins the next window, and what is left of this one is
     * padded; one longer than a window is INVALID_ARGUMENT. */
    bool split;
    bool truncate;       /* where split is false: cut a sequence that is longer than a window */
    bool drop_remainder; /* leave out a last window that is not full */
    const leat_element *pad_value; /* borrowed, copied: one scalar, or the elements' structure with
                                      scalars. NULL: 0, false, "" */
} leat_dataset_pack_options;
#define LEAT_DATASET_PACK_DEFAULTS .size = sizeof(leat_dataset_pack_options), .split = true
LEAT_API leat_dataset *leat_dataset_pack(leat_dataset *input, int64_t length,
                                         const leat_dataset_pack_options *options, leat_error *err);

/* tf.data.Dataset.window: each element is a dataset of `size` consecutive elements, one per
 * component in the structure of the input's elements. */
typedef struct leat_dataset_window_options {
    size_t size;
    int64_t shift;  /* elements from one window to the next; LEAT_UNSET: size */
    int64_t stride; /* elements from one of a window to its next */
    bool drop_remainder;
} leat_dataset_window_options;
#define LEAT_DATASET_WINDOW_DEFAULTS                                                               \
    .size = sizeof(leat_dataset_window_options), .shift = LEAT_UNSET, .stride = 1
LEAT_API leat_dataset *leat_dataset_window(leat_dataset *input, int64_t size,
                                           const leat_dataset_window_options *options,
                                           leat_error *err);

/* ---- groups ---- */

/* tf.data.Dataset.group_by_window: elements are grouped by `key_func` (to an int64 scalar). As soon
 * as a group has window_size elements (or as many as `window_size_func`, which may be NULL, gives
 * for its key), `reduce_func` is called with (key, dataset of the group), and the elements of the
 * dataset that it returns come next. Groups that are left at the end come in the order of their
 * keys. Where reduce_func fails there (INTERNAL) it is called again at each further call, as in
 * TensorFlow. */
LEAT_API leat_dataset *leat_dataset_group_by_window(leat_dataset *input, leat_function *key_func,
                                                    leat_function *reduce_func, int64_t window_size,
                                                    leat_function *window_size_func,
                                                    leat_error *err);

/* tf.data.Dataset.bucket_by_sequence_length: batches of elements of one bucket, which is the first
 * with from <= length < to, where the bounds are -2^31, the `num_boundaries` numbers of
 * bucket_boundaries and 2^31 - 1; element_length_func gives the length (a number of int32, int64,
 * float32 or float64). bucket_batch_sizes has num_boundaries + 1 numbers. The arrays are borrowed.
 * A batch comes as soon as it is full, what is left at the end in the order of buckets. */
typedef struct leat_dataset_bucket_by_sequence_length_options {
    size_t size;
    const leat_element *padded_shapes,
        *padding_values;         /* as in leat_dataset_padded_batch_options */
    bool pad_to_bucket_boundary; /* unknown dimensions become the bucket's upper bound less 1; a
                                    group behind the last boundary is INTERNAL */
    bool padding;                /* false, TensorFlow's no_padding: batched as they are */
    bool drop_remainder;
} leat_dataset_bucket_by_sequence_length_options;
#define LEAT_DATASET_BUCKET_BY_SEQUENCE_LENGTH_DEFAULTS                                            \
    .size = sizeof(leat_dataset_bucket_by_sequence_length_options), .padding = true
LEAT_API leat_dataset *leat_dataset_bucket_by_sequence_length(
    leat_dataset *input, leat_function *element_length_func, const int64_t *bucket_boundaries,
    int num_boundaries, const int64_t *bucket_batch_sizes,
    const leat_dataset_bucket_by_sequence_length_options *options, leat_error *err);

/* tf.data.experimental.group_by_reducer: one element for each key that `key_func` (to an int64
 * scalar) finds, in the order of the keys: init_func makes a state from the key, reduce_func takes
 * (state, element) to the next state for each of the key's elements, and finalize_func makes the
 * result from the last state. The functions are given; `reducer` itself is borrowed. The whole
 * input is read before the first element. INVALID_ARGUMENT where structure or dtypes of the state
 * change. */
typedef struct leat_reducer {
    leat_function *init_func, *reduce_func, *finalize_func;
} leat_reducer;
LEAT_API leat_dataset *leat_dataset_group_by_reducer(leat_dataset *input, leat_function *key_func,
                                                     const leat_reducer *reducer, leat_error *err);

/* ---- several datasets ---- */

/* tf.data.Dataset.concatenate: the first dataset, then the second (both given). INVALID_ARGUMENT
 * where their elements have no common spec. */
LEAT_API leat_dataset *leat_dataset_concatenate(leat_dataset *first, leat_dataset *second,
                                                leat_error *err);

/* tf.data.Dataset.zip: tuples of one element of each input (an array of given datasets, all
 * released on failure); ends with the shortest. leat_dataset_zip_structured arranges them in the
 * tree of `structure` (given), whose leaves stand for the inputs in order. */
LEAT_API leat_dataset *leat_dataset_zip(leat_dataset *const *inputs, int num_inputs,
                                        leat_error *err);
LEAT_API leat_dataset *leat_dataset_zip_structured(leat_dataset *const *inputs, int num_inputs,
                                                   leat_spec *structure, leat_error *err);

/* tf.data.Dataset.choose_from_datasets: elements of the inputs (given, all released on failure) in
 * the order of the numbers in `choice` (given), a dataset of int64 scalars. */
typedef struct leat_dataset_choose_from_datasets_options {
    size_t size;
    bool stop_on_empty_dataset;
} leat_dataset_choose_from_datasets_options;
#define LEAT_DATASET_CHOOSE_FROM_DATASETS_DEFAULTS                                                 \
    .size = sizeof(leat_dataset_choose_from_datasets_options), .stop_on_empty_dataset = true
LEAT_API leat_dataset *
leat_dataset_choose_from_datasets(leat_dataset *const *inputs, int num_inputs, leat_dataset *choice,
                                  const leat_dataset_choose_from_datasets_options *options,
                                  leat_error *err);

/* tf.data.Dataset.sample_from_datasets: elements of the inputs (given, all released on failure) in
 * a random order, TensorFlow's draws bit for bit. */
typedef struct leat_dataset_sample_from_datasets_options {
    size_t size;
    const leat_element *weights; /* borrowed, copied: a vector of float32 or float64, one number for
                                    each input. NULL: equal weights. float32 leaves out inputs whose
                                    weight is not positive, as a list of numbers does in Python */
    leat_seed seed;
    bool stop_on_empty_dataset;
    bool rerandomize_each_iteration; /* other draws in every epoch and iterator */
} leat_dataset_sample_from_datasets_options;
#define LEAT_DATASET_SAMPLE_FROM_DATASETS_DEFAULTS                                                 \
    .size = sizeof(leat_dataset_sample_from_datasets_options)
LEAT_API leat_dataset *
leat_dataset_sample_from_datasets(leat_dataset *const *inputs, int num_inputs,
                                  const leat_dataset_sample_from_datasets_options *options,
                                  leat_error *err);

/* tf.data.Dataset.rejection_resample: tuples of class and element, randomly rejected and repeated
 * so that the classes' shares become those of target_dist. It has num_classes numbers, and so has
 * initial_dist, the shares in the input (both borrowed, copied; initial_dist NULL: estimated as
 * elements come). `class_func` gives an int32 or int64 scalar from 0 on. The input is read by
 * several iterators: two, or five to estimate. TensorFlow's draws bit for bit. */
LEAT_API leat_dataset *leat_dataset_rejection_resample(leat_dataset *input,
                                                       leat_function *class_func,
                                                       const float *target_dist,
                                                       const float *initial_dist, int num_classes,
                                                       leat_seed seed, leat_error *err);

/* ---- errors ---- */

/* tf.data.Dataset.ignore_errors: the elements without the errors; log_warning writes each to the
 * log. CANCELLED, DEADLINE_EXCEEDED and RESOURCE_EXHAUSTED are delivered, and what fails in place
 * of the end (at_end), after which it ends. */
LEAT_API leat_dataset *leat_dataset_ignore_errors(leat_dataset *input, bool log_warning,
                                                  leat_error *err);

/* Beyond tf.data: the elements without the bad ones. Each error is an element set aside: a line of
 * JSON with operator, element number, file, byte, code and reason is appended to the file `path`
 * (copied; NULL: none), by one write, unless the file lists that element already. More of them in
 * an epoch than the options allow are DATA_LOSS, and then the end. CANCELLED, DEADLINE_EXCEEDED and
 * RESOURCE_EXHAUSTED are delivered. */
typedef struct leat_dataset_quarantine_options {
    size_t size;
    int64_t max_errors;  /* bad elements of an epoch */
    double max_fraction; /* of an epoch's elements, 0 to 1, from 100 elements on and at the end */
} leat_dataset_quarantine_options;
#define LEAT_DATASET_QUARANTINE_DEFAULTS                                                           \
    .size = sizeof(leat_dataset_quarantine_options), .max_errors = LEAT_UNLIMITED, .max_fraction = 1
LEAT_API leat_dataset *leat_dataset_quarantine(leat_dataset *input, const char *path,
                                               const leat_dataset_quarantine_options *options,
                                               leat_error *err);

/* ---- kept and ready ---- */

/* tf.data.Dataset.cache in memory: the first complete iteration fills it, later ones of any
 * iterator read it. */
LEAT_API leat_dataset *leat_dataset_cache(leat_dataset *input, leat_error *err);

/* The same in files: FILENAME.data and FILENAME.index, kept for other processes and later runs.
 * While one iterator writes, FILENAME_0.lockfile keeps others away (ALREADY_EXISTS at their first
 * element). NULL or "" is in memory. */
LEAT_API leat_dataset *leat_dataset_cache_to_file(leat_dataset *input, const char *filename,
                                                  leat_error *err);

/* tf.data.Dataset.snapshot: the first iteration that runs to its end writes the elements to files
 * in the folder `path`, later ones, of other processes too, read them. A changed plan makes a
 * snapshot of its own beside; callbacks are told apart by their names alone. */
typedef struct leat_dataset_snapshot_options {
    size_t size;
    const char *compression;    /* "AUTO", which is SNAPPY; "" is none; or a compression_type */
    leat_function *reader_func; /* given; from a dataset of the shards' datasets to a dataset. Where
                                   shard_func is NULL elements are tuples of number and element.
                                   NULL: the shards are read in turns */
    leat_function *shard_func;  /* given; from an element to its shard, an int64 scalar. NULL: the
                                   elements' numbers modulo the machine's processors */
} leat_dataset_snapshot_options;
#define LEAT_DATASET_SNAPSHOT_DEFAULTS                                                             \
    .size = sizeof(leat_dataset_snapshot_options), .compression = "AUTO"
LEAT_API leat_dataset *leat_dataset_snapshot(leat_dataset *input, const char *path,
                                             const leat_dataset_snapshot_options *options,
                                             leat_error *err);

/* tf.data.Dataset.prefetch: a thread keeps up to buffer_size elements ready; LEAT_AUTOTUNE tunes
 * the number, 0 passes through. */
LEAT_API leat_dataset *leat_dataset_prefetch(leat_dataset *input, int64_t buffer_size,
                                             leat_error *err);

/* ---- options ---- */

/* tf.data.experimental.ExternalStatePolicy: what happens when an iterator is saved whose functions
 * have effects or random state, neither of which the saved state holds. */
typedef enum leat_external_state {
    LEAT_EXTERNAL_STATE_DEFAULT = 0, /* as IGNORE */
    LEAT_EXTERNAL_STATE_WARN,        /* saves and logs it once */
    LEAT_EXTERNAL_STATE_IGNORE,
    LEAT_EXTERNAL_STATE_FAIL /* FAILED_PRECONDITION */
} leat_external_state;

/* tf.data.Dataset.with_options: the input, with options that every iterator over a plan with this
 * node follows. Where two nodes set the same field, the one closer to the plan's end wins. By
 * default no field is set. An iterator's own options (leat_iterator_options) take precedence. */
typedef struct leat_dataset_options {
    size_t size;
    /* False: parallel operators that leave it open give up their order. */
    leat_choice deterministic;
    leat_choice apply_default_optimizations; /* false: only the rewrites that are true below */
    leat_choice inject_prefetch, map_and_batch_fusion, map_fusion, map_parallelization,
        noop_elimination, shuffle_and_repeat_fusion;
    leat_choice autotune;            /* false: LEAT_AUTOTUNE numbers keep their start values */
    int64_t cpu_budget;              /* threads that AUTOTUNE may give to one operator */
    int64_t ram_budget;              /* bytes held above which AUTOTUNE enlarges no buffer */
    int64_t initial_parallelism;     /* calls at a time that AUTOTUNE starts with */
    int64_t min_parallelism;         /* calls at a time that it keeps at least */
    int64_t private_threadpool_size; /* threads of a pool of each iterator's own */
    leat_external_state external_state;
    const char *dataset_name; /* names the pipeline in metrics and traces. Copied. */
    /* How exactly to decode a JPEG that the same function resizes: "exact" (also NULL): the result
     * of decoding, cropping and resizing one after the other; "balanced": 1/2, 1/4 or 1/8 as large
     * where that keeps 40 dB against exact; "fast": as small as the result allows, with plain
     * colours. Copied. */
    const char *picture_quality;
    /* While an iterator lives, a web page at this port of the machine itself shows what its
     * operators do; 0: any port that is free, which the log names. Iterators of one port share a
     * page. Where the port is taken, a line of the log says so and the iterator goes on. Not set:
     * as LEAT_WATCH in the environment says, a port or 1 for any. */
    int64_t watch;
} leat_dataset_options;
#define LEAT_DATASET_DEFAULTS                                                                      \
    .size = sizeof(leat_dataset_options), .deterministic = LEAT_CHOICE_DEFAULT,                    \
    .apply_default_optimizations = LEAT_CHOICE_DEFAULT, .inject_prefetch = LEAT_CHOICE_DEFAULT,    \
    .map_and_batch_fusion = LEAT_CHOICE_DEFAULT, .map_fusion = LEAT_CHOICE_DEFAULT,                \
    .map_parallelization = LEAT_CHOICE_DEFAULT, .noop_elimination = LEAT_CHOICE_DEFAULT,           \
    .shuffle_and_repeat_fusion = LEAT_CHOICE_DEFAULT, .autotune = LEAT_CHOICE_DEFAULT,             \
    .cpu_budget = LEAT_UNSET, .ram_budget = LEAT_UNSET, .initial_parallelism = LEAT_UNSET,         \
    .min_parallelism = LEAT_UNSET, .private_threadpool_size = LEAT_UNSET, .watch = LEAT_UNSET
LEAT_API leat_dataset *leat_dataset_with_options(leat_dataset *input,
                                                 const leat_dataset_options *options,
                                                 leat_error *err);

/* tf.data.Dataset.apply: what `transformation`, called once and at once, makes of the dataset that
 * it is given. It returns an owned dataset, or NULL with an error in `err`. INVALID_ARGUMENT where
 * it returns NULL without one. */
typedef leat_dataset *(*leat_transformation)(void *context, leat_dataset *input, leat_error *err);
LEAT_API leat_dataset *leat_dataset_apply(leat_dataset *input, leat_transformation transformation,
                                          void *context, leat_error *err);

#ifdef __cplusplus
}
#endif
#endif
