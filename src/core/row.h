/* Argument rows: one line per argument of a dataset operator or per attribute of a tensor
 * operation. They are the single source for checking, defaults, serialisation (JSON), printing,
 * fingerprints, documentation and bindings.
 *
 * Each type's storage in the argument struct:
 *
 *     BOOL           bool
 *     BOOL_OR_NONE   int8_t: -1 none, 0, 1
 *     INT            int64_t
 *     FLOAT          double
 *     STRING         char *, owned, may be NULL
 *     DTYPE          leat_dtype
 *     SHAPE          leat_shape
 *     SPEC           leat_spec *
 *     SEED           leati_seed_argument
 *     INTS           leati_ints
 *     FLOATS         leati_floats
 *     STRINGS        leati_strings
 *     ELEMENT        leat_element, a structure of tensors
 *     FUNCTION       leat_object *, a leat_function
 *     OBJECT         leat_object *, not serialisable
 *
 * A list whose `values` is NULL is absent; an empty list that was given has memory. */
#ifndef LEATI_CORE_ROW_H
#define LEATI_CORE_ROW_H

#include <leat/core.h>

typedef enum leati_row_type {
    LEATI_ROW_END = 0,
    LEATI_ROW_BOOL,
    LEATI_ROW_BOOL_OR_NONE,
    LEATI_ROW_INT,
    LEATI_ROW_FLOAT,
    LEATI_ROW_STRING,
    LEATI_ROW_DTYPE,
    LEATI_ROW_SHAPE,
    LEATI_ROW_SPEC,
    LEATI_ROW_SEED,
    LEATI_ROW_INTS,
    LEATI_ROW_FLOATS,
    LEATI_ROW_STRINGS,
    LEATI_ROW_ELEMENT,
    LEATI_ROW_FUNCTION,
    LEATI_ROW_OBJECT
} leati_row_type;

enum {
    LEATI_REQUIRED = 1,  /* no default: JSON and bindings must name it */
    LEATI_AUTOTUNE = 2,  /* the text "AUTOTUNE" is accepted and means -1 */
    LEATI_CONSTRUCT = 4, /* not shown as an argument: filled by the constructor (a resolved seed) */
    LEATI_NONE = 8,      /* null is accepted and means the default */
    /* A plan may give a dataset in place of the value: it becomes the last input. A CONSTRUCT row
     * NAME_is_input (BOOL) says so where inputs alone do not. */
    LEATI_NODE = 16,
    /* ELEMENT: a tensor over the caller's memory (no owner) stays one; without it, it is copied. */
    LEATI_REFERENCED = 32,
    /* Of a tensor operation: the run may compute it (graph/ops/control/computed.c). */
    LEATI_TENSOR = 64,
    LEATI_ABSENT = 128, /* STRING, FLOAT: null means none (0), whatever the default is */
    LEATI_PLACE = 256,  /* where something is, not what: no part of fingerprints */
};

typedef struct leati_row {
    const char *name; /* TensorFlow's argument name */
    leati_row_type type;
    uint32_t flags;
    size_t offset;
    double default_number;    /* BOOL, INT, FLOAT; DTYPE by value */
    const char *default_text; /* STRING */
    int64_t minimum, maximum; /* INT; both 0: unbounded */
    const char *doc;          /* one sentence, with the unit */
} leati_row;

/* The rows of what has no arguments. */
extern const leati_row leati_no_rows[];

typedef struct leati_ints {
    int64_t *values;
    int32_t count;
} leati_ints;
typedef struct leati_floats {
    double *values;
    int32_t count;
} leati_floats;
typedef struct leati_strings {
    leat_string *values; /* each allocated by leati_strndup */
    int32_t count;
} leati_strings;

/* Deep copy of `count` strings (borrowed), and its release. */
LEAT_WARN_UNUSED leat_status leati_strings_copy(const leat_string *values, int64_t count,
                                                leati_strings *out, leat_error *err);
void leati_strings_fini(leati_strings *strings);

/* The default of an INT row, and what a row's type is called in messages (static text). */
int64_t leati_row_default_int(const leati_row *row);
const char *leati_row_type_name(leati_row_type type);

/* Fills `args` (zeroed, of the struct's size) with the defaults; on failure `args` is zeroed again.
 * Numbers and flags come from `default_number`; a shape is of unknown rank; everything else that
 * has no `default_text` is absent. */
LEAT_WARN_UNUSED leat_status leati_rows_defaults(const leati_row *rows, void *args,
                                                 leat_error *err);

/* The same for arguments that are copied before the rows' texts go: those are borrowed, so nothing
 * releases `args`. */
void leati_rows_borrow_defaults(const leati_row *rows, void *args);

/* Deep copy into `to` (zeroed); on failure `to` is left empty. */
LEAT_WARN_UNUSED leat_status leati_rows_copy(const leati_row *rows, const void *from, void *to,
                                             leat_error *err);

/* Releases what the rows own and zeroes it. */
void leati_rows_fini(const leati_row *rows, void *args);

/* Range checks: INVALID_ARGUMENT naming operator `what`, argument, value and allowed range. */
LEAT_WARN_UNUSED leat_status leati_rows_check(const leati_row *rows, const void *args,
                                              const char *what, leat_error *err);

/* The row of that name, or NULL. */
const leati_row *leati_rows_find(const leati_row *rows, const char *name);

/* Hash of one argument and of all with their names: the same in every process for values that say
 * the same (functions count by their own fingerprint, variables by name). */
uint64_t leati_row_hash(const leati_row *row, const void *at, uint64_t seed);
uint64_t leati_rows_hash(const leati_row *rows, const void *args, uint64_t seed);

/* Whether a tensor of that dtype and rank (LEAT_UNKNOWN_RANK: any) can be bound to the row. */
bool leati_row_takes(const leati_row *row, leat_dtype dtype, int rank);

/* Replaces argument `name` by the value of a tensor (an expression bound at open:
 * `lambda x: from_tensors(x).repeat(x)` knows its count only then); types must fit. The old value
 * goes only when the new one is ready. */
LEAT_WARN_UNUSED leat_status leati_rows_bind(const leati_row *rows, void *args, const char *name,
                                             const leat_tensor *value, leat_error *err);

#endif
