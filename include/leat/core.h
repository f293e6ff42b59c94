/* Data that travels: dtypes, shapes, buffers, tensors, specs and elements.
 *
 * Ownership words: *owned* (the caller must release it), *borrowed* (valid for as long as its owner
 * says), *given* (the callee releases it, also on failure). Reference counts are atomic; the
 * objects themselves are immutable once shared, so any number of threads may read them. */
#ifndef LEAT_CORE_H
#define LEAT_CORE_H

#include <leat/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Element types. Saved by name, never by number; append only. */
typedef enum leat_dtype {
    LEAT_INVALID = 0,
    LEAT_BOOL,
    LEAT_INT8,
    LEAT_INT16,
    LEAT_INT32,
    LEAT_INT64,
    LEAT_UINT8,
    LEAT_UINT16,
    LEAT_UINT32,
    LEAT_UINT64,
    LEAT_FLOAT16,
    LEAT_BFLOAT16,
    LEAT_FLOAT32,
    LEAT_FLOAT64,
    LEAT_STRING,     /* values are leat_string */
    LEAT_OBJECT,     /* values are leat_object *, for example a dataset */
    LEAT_COMPLEX64,  /* the real part and then the imaginary one, each a float */
    LEAT_COMPLEX128, /* the same of two doubles */
    LEAT_NUM_DTYPES
} leat_dtype;

/* TensorFlow's name ("float32", "string"); "invalid" for anything else. Static text. */
LEAT_API const char *leat_dtype_name(leat_dtype dtype);

/* The dtype of that name, or LEAT_INVALID. */
LEAT_API leat_dtype leat_dtype_from_name(const char *name);

/* Bytes of one value in memory (16 for a string, 8 for an object); 0 for LEAT_INVALID. */
LEAT_API size_t leat_dtype_size(leat_dtype dtype);

/* One value of dtype string: bytes that some buffer owns, not terminated. */
typedef struct leat_string {
    const char *data;
    size_t size;
} leat_string;

#define LEAT_MAX_RANK 8
#define LEAT_UNKNOWN_DIM (-1)
#define LEAT_UNKNOWN_RANK (-1)

/* A shape: rank LEAT_UNKNOWN_RANK, or `rank` dimensions of which any may be LEAT_UNKNOWN_DIM
 * (tf.TensorShape). */
typedef struct leat_shape {
    int32_t rank;
    int64_t dims[LEAT_MAX_RANK];
} leat_shape;

/* LEAT_SHAPE(2, 3) is the shape [2, 3]; LEAT_SCALAR the shape []. */
#define LEAT_SHAPE(...)                                                                            \
    ((leat_shape){.rank = (int32_t)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)),           \
                  .dims = {__VA_ARGS__}})
#define LEAT_SCALAR ((leat_shape){.rank = 0})

/* A reference-counted opaque value; dtype object holds pointers to these. */
typedef struct leat_object leat_object;

/* Memory with a reference count, a deleter and a device. */
typedef struct leat_buffer leat_buffer;

/* Releases adopted memory; called once, from whichever thread drops the last reference. */
typedef void (*leat_buffer_deleter)(void *context, void *data, size_t size);

/* New host memory of `size` bytes, 64-byte aligned, contents undefined. Owned; NULL if there is no
 * memory. */
LEAT_API leat_buffer *leat_buffer_new(size_t size, leat_error *err);

/* Adopts the caller's memory: `deleter` (may be NULL for static memory) is called when the last
 * reference goes, also if this call fails. Owned; NULL on failure. */
LEAT_API leat_buffer *leat_buffer_adopt(void *data, size_t size, leat_buffer_deleter deleter,
                                        void *context, leat_error *err);

/* Adds a reference and returns its argument; NULL passes through. */
LEAT_API leat_buffer *leat_buffer_ref(leat_buffer *buffer);

/* Drops a reference; NULL is allowed. */
LEAT_API void leat_buffer_unref(leat_buffer *buffer);

/* The memory and its size in bytes. Borrowed. */
LEAT_API void *leat_buffer_data(const leat_buffer *buffer);
LEAT_API size_t leat_buffer_size(const leat_buffer *buffer);

/* A dense row-major array. A value type: copying the struct copies no reference; whoever keeps a
 * copy calls leat_tensor_ref on it. If `owner` is NULL, the memory belongs to somebody else and
 * outlives the use. */
typedef struct leat_tensor {
    leat_dtype dtype;
    int32_t rank;
    int64_t dims[LEAT_MAX_RANK];
    void *data;
    leat_buffer *owner;
} leat_tensor;

/* Fills `out` with a new tensor, contents undefined (strings are empty). Dimensions must be known.
 * Owned. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_tensor_new(leat_dtype dtype, leat_shape shape,
                                                      leat_tensor *out, leat_error *err);

/* Fills `out` with a copy of `data`, an array of values of that dtype in row-major order; the bytes
 * of strings are copied, too. Owned. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_tensor_copy_of(leat_dtype dtype, leat_shape shape,
                                                          const void *data, leat_tensor *out,
                                                          leat_error *err);

/* A tensor over the caller's memory, which must outlive it: nothing is copied, `owner` is NULL. */
LEAT_API leat_tensor leat_tensor_view(leat_dtype dtype, leat_shape shape, const void *data);

/* Scalars. They own memory; a failure to allocate gives dtype LEAT_INVALID, which every consumer
 * refuses (constants and variables as RESOURCE_EXHAUSTED). */
LEAT_API leat_tensor leat_scalar_int64(int64_t value);
LEAT_API leat_tensor leat_scalar_int32(int32_t value);
LEAT_API leat_tensor leat_scalar_float32(float value);
LEAT_API leat_tensor leat_scalar_float64(double value);
LEAT_API leat_tensor leat_scalar_bool(bool value);
LEAT_API leat_tensor leat_scalar_string(const char *text);

/* Adds a reference to the owner and returns a copy of the struct; unref drops it and clears the
 * struct. */
LEAT_API leat_tensor leat_tensor_ref(const leat_tensor *tensor);
LEAT_API void leat_tensor_unref(leat_tensor *tensor);

/* The shape, the number of values, and the bytes of the array (for strings: of the 16-byte
 * headers). */
LEAT_API leat_shape leat_tensor_shape(const leat_tensor *tensor);
LEAT_API int64_t leat_tensor_count(const leat_tensor *tensor);
LEAT_API size_t leat_tensor_bytes(const leat_tensor *tensor);

/* Row `index` along axis 0 as a view that keeps the owner alive. Owned. OUT_OF_RANGE or
 * INVALID_ARGUMENT (a scalar). */
LEAT_API LEAT_WARN_UNUSED leat_status leat_tensor_row(const leat_tensor *tensor, int64_t index,
                                                      leat_tensor *out, leat_error *err);

/* The structure of an element: a tree of tuples and dicts (keys sorted) over typed leaves
 * (tf.TypeSpec and nests). */
typedef struct leat_spec leat_spec;

typedef enum leat_spec_kind {
    LEAT_SPEC_TENSOR = 0,
    LEAT_SPEC_TUPLE,
    LEAT_SPEC_DICT,
    LEAT_SPEC_DATASET,
    LEAT_SPEC_RAGGED,
    LEAT_SPEC_SPARSE,
    LEAT_SPEC_OPTIONAL,
    LEAT_SPEC_NONE
} leat_spec_kind;

/* Constructors. Children are given; a NULL child fails the call with the error kept, so that calls
 * nest. Owned. */
LEAT_API leat_spec *leat_spec_tensor(leat_dtype dtype, leat_shape shape, leat_error *err);
LEAT_API leat_spec *leat_spec_tuple(leat_spec *const *children, int count, leat_error *err);
LEAT_API leat_spec *leat_spec_dict(const char *const *keys, leat_spec *const *children, int count,
                                   leat_error *err);
LEAT_API leat_spec *leat_spec_dataset(leat_spec *element, leat_error *err);

/* A ragged leaf (tf.RaggedTensorSpec). Its components are the flat values and then `ragged_rank`
 * vectors of row splits (int32 or int64), the outermost first. `shape` is that of the ragged
 * value; its first ragged_rank + 1 dimensions stand for rows, so its rank is greater than
 * `ragged_rank`. A ragged rank of 0 or less means that a tensor was cut out of a ragged one;
 * stacking it raises the rank. Owned. */
LEAT_API leat_spec *leat_spec_ragged(leat_dtype dtype, leat_shape shape, int ragged_rank,
                                     leat_dtype row_splits_dtype, leat_error *err);

/* A sparse leaf (tf.SparseTensorSpec). Its components are indices (int64 [n, rank]), values [n] and
 * the dense shape (int64 [rank]). Owned. */
LEAT_API leat_spec *leat_spec_sparse(leat_dtype dtype, leat_shape shape, leat_error *err);

/* A leaf that may have no value (tf.OptionalSpec): one component of dtype object. `element` is
 * given. Owned. */
LEAT_API leat_spec *leat_spec_optional(leat_spec *element, leat_error *err);

/* The leaf of Python's None (tf.NoneTensorSpec): no component. Owned. */
LEAT_API leat_spec *leat_spec_none(leat_error *err);

/* Adds a reference and returns its argument; NULL passes through. */
LEAT_API leat_spec *leat_spec_ref(const leat_spec *spec);

/* Drops a reference; NULL is allowed. */
LEAT_API void leat_spec_unref(leat_spec *spec);

/* A number that the caller may put on a tuple or dict, 0 at first: with it a binding remembers
 * which kind of container its users see. Tags are kept wherever the structure is kept; comparisons
 * and saved plans ignore them. tagged: `spec` is given, the result owned. */
LEAT_API int64_t leat_spec_tag(const leat_spec *spec);
LEAT_API leat_spec *leat_spec_tagged(leat_spec *spec, int64_t tag, leat_error *err);

/* A spec as the JSON text of docs/PLANS.md, tags included ("tag"), and back. Text owned
 * (leat_text_free), spec owned. */
LEAT_API char *leat_spec_to_json(const leat_spec *spec, leat_error *err);
LEAT_API leat_spec *leat_spec_from_json(const char *text, leat_error *err);

/* Reading a spec; all results are borrowed from it. A leaf has no children. `key` is NULL outside
 * dicts. */
LEAT_API leat_spec_kind leat_spec_get_kind(const leat_spec *spec);
LEAT_API int leat_spec_num_children(const leat_spec *spec);
LEAT_API const leat_spec *leat_spec_child(const leat_spec *spec, int index);
LEAT_API const char *leat_spec_key(const leat_spec *spec, int index);
LEAT_API leat_dtype leat_spec_dtype(const leat_spec *spec);
LEAT_API leat_shape leat_spec_shape(const leat_spec *spec);

/* The spec inside a dataset or optional leaf (tf.data.DatasetSpec.element_spec); NULL for others.
 * Borrowed. */
LEAT_API const leat_spec *leat_spec_element(const leat_spec *spec);

/* Ragged rank and dtype of the row splits of a ragged leaf; 0 and LEAT_INVALID for others. */
LEAT_API int leat_spec_ragged_rank(const leat_spec *spec);
LEAT_API leat_dtype leat_spec_row_splits_dtype(const leat_spec *spec);

/* The number of tensors of an element: its components, numbered depth first (dict keys in sorted
 * order). */
LEAT_API int leat_spec_num_components(const leat_spec *spec);

/* Dtype and shape of component `index`. */
LEAT_API leat_dtype leat_spec_component_dtype(const leat_spec *spec, int index);
LEAT_API leat_shape leat_spec_component_shape(const leat_spec *spec, int index);

/* Equal in structure, keys, dtypes and shapes. */
LEAT_API bool leat_spec_equal(const leat_spec *a, const leat_spec *b);

/* Writes text like `({'a': float32[2,?]}, string[])` and returns the length it needs without the
 * terminator (snprintf's rule). */
LEAT_API size_t leat_spec_print(const leat_spec *spec, char *text, size_t size);

/* One element: its structure and its tensors in component order. The library fills it with owned
 * references; leat_element_clear drops them and leaves the struct ready for reuse (its array is
 * kept until leat_element_fini). */
typedef struct leat_element {
    const leat_spec *spec; /* a reference of its own */
    leat_tensor *tensors;
    int num_tensors;
    int capacity;
} leat_element;

/* Makes `element` hold references to `tensors` under `spec`; both are borrowed. It must be {0} or
 * hold an element. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_element_set(leat_element *element, const leat_spec *spec,
                                                       const leat_tensor *tensors, leat_error *err);
LEAT_API void leat_element_clear(leat_element *element);
LEAT_API void leat_element_fini(leat_element *element);

/* Prints as nested text in the manner of numpy, cut to `size`; returns the length needed. */
LEAT_API size_t leat_element_print(const leat_element *element, char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
