/* Status codes, error text, memory hook, log hook and version: what every other header needs.
 *
 * All functions here are thread-safe unless their comment says otherwise. */
#ifndef LEAT_BASE_H
#define LEAT_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LEAT_VERSION_MAJOR 0
#define LEAT_VERSION_MINOR 1
#define LEAT_VERSION_PATCH 0

#if defined(__GNUC__)
#define LEAT_API __attribute__((visibility("default")))
#define LEAT_WARN_UNUSED __attribute__((warn_unused_result))
#define LEAT_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define LEAT_API
#define LEAT_WARN_UNUSED
#define LEAT_PRINTF(text, first)
#endif

/* Status codes: gRPC's numbers and names, which TensorFlow's and Python's exceptions map onto. */
typedef enum leat_status {
    LEAT_OK = 0,
    LEAT_CANCELLED = 1,
    LEAT_UNKNOWN = 2,
    LEAT_INVALID_ARGUMENT = 3,
    LEAT_DEADLINE_EXCEEDED = 4,
    LEAT_NOT_FOUND = 5,
    LEAT_ALREADY_EXISTS = 6,
    LEAT_PERMISSION_DENIED = 7,
    LEAT_RESOURCE_EXHAUSTED = 8,
    LEAT_FAILED_PRECONDITION = 9,
    LEAT_ABORTED = 10,
    LEAT_OUT_OF_RANGE = 11,
    LEAT_UNIMPLEMENTED = 12,
    LEAT_INTERNAL = 13,
    LEAT_UNAVAILABLE = 14,
    LEAT_DATA_LOSS = 15,
    LEAT_UNAUTHENTICATED = 16
} leat_status;

/* What a failure is about, where its code alone does not say. Append only. */
typedef enum leat_reason {
    LEAT_REASON_NONE = 0,          /* no more is known than the code */
    LEAT_REASON_DTYPE = 1,         /* a dtype that is not taken, or dtypes that differ */
    LEAT_REASON_SHAPE = 2,         /* a shape that is not taken, or shapes that do not fit */
    LEAT_REASON_STRUCTURE = 3,     /* another nest, or another kind of value, than is taken */
    LEAT_REASON_VALUE = 4,         /* a number or text outside of what is allowed */
    LEAT_REASON_END = 5,           /* OUT_OF_RANGE because all elements were delivered */
    LEAT_REASON_AFTER_FAILURE = 6, /* nothing new: an earlier failure has ended this already */
    LEAT_REASON_CALLBACK = 7       /* a function of the user's failed */
} leat_reason;

enum {
    LEAT_ERROR_TEXT = 512,
    LEAT_ERROR_FILE = 512,
    LEAT_ERROR_OP = 96,
    LEAT_ERROR_FUNCTION = 128
};

/* The caller's record of a failure: start it with {0}. Every function that takes one accepts NULL.
 * It is written only on failure, by the code that decides that the call failed. `text` is the whole
 * sentence for a reader; a program decides by the other members. Texts are UTF-8, always
 * terminated, and end in "..." where they were cut to fit. */
typedef struct leat_error {
    leat_status code;
    leat_reason reason;
    bool at_end;                        /* of an iterator: no element comes after this failure */
    bool decompressed;                  /* `byte` counts in what the file unpacks to */
    char op[LEAT_ERROR_OP];             /* operator and its label: map "decode"; "": not known */
    char function[LEAT_ERROR_FUNCTION]; /* the user's function: decode.c:41; "": none */
    char file[LEAT_ERROR_FILE];         /* the input file; "": not known */
    int64_t element;                    /* the number at `op`, from 0; -1, or without `op`: none */
    int64_t byte;                       /* in `file`; -1, or without `file`: not known */
    char text[LEAT_ERROR_TEXT];
    uint64_t payload; /* a user's function may leave a number, which its failure keeps */
    uint16_t place_at, message_at; /* the library's own: where these parts of `text` begin */
} leat_error;

/* Writes a failure, as callbacks do before they return its code; whatever the record held before is
 * forgotten. NULL is allowed. Returns `code`. */
LEAT_API leat_status leat_error_set(leat_error *error, leat_status code, const char *format, ...)
    LEAT_PRINTF(3, 4);

/* What a failure says without its place: the end of `text`, borrowed from `error`. */
LEAT_API const char *leat_error_message(const leat_error *error);

/* The name of a reason, such as "DTYPE"; "NONE" for a number that is none. Static text. */
LEAT_API const char *leat_reason_name(leat_reason reason);

/* The gRPC name of a code, such as "INVALID_ARGUMENT"; "UNKNOWN" for a number that is no code.
 * The text is static. */
LEAT_API const char *leat_status_name(leat_status status);

/* ---- options ----
 *
 * What a function can be told beyond its arguments goes into a struct leat_..._options that the
 * caller owns; NULL stands for the defaults. Its first member is its size, so that later versions
 * can add members (docs/VERSIONING.md). Initialise it with the macro LEAT_..._DEFAULTS next to it,
 * which sets that size and every default that is not 0:
 *
 *     leat_dataset_window_options options = {LEAT_DATASET_WINDOW_DEFAULTS};
 *     options.stride = 2;
 *
 * Members whose default is 0 may follow the macro. In C the others may, too, but compilers warn
 * about it (-Woverride-init, -Winitializer-overrides); assign them. A struct without the macro is
 * INVALID_ARGUMENT. In C++, from C++20 on, the macro stands alone. A value of 0 means 0. What
 * TensorFlow calls None is NULL for a pointer and LEAT_UNSET for a number. */
#define LEAT_UNSET INT64_MIN
#define LEAT_UNLIMITED (-1) /* for a limit: none */

/* True, false, or the library's own default; in C, `true` and `false` may be assigned. */
typedef enum leat_choice {
    LEAT_CHOICE_DEFAULT = -1,
    LEAT_CHOICE_FALSE = 0,
    LEAT_CHOICE_TRUE = 1
} leat_choice;

/* The version as "major.minor.patch"; static text. */
LEAT_API const char *leat_version(void);

/* Where the library gets its memory. Every function takes `context` as its first argument. `alloc`
 * returns memory aligned to `alignment` (a power of two, at least 16) or NULL; `resize` behaves
 * like realloc for memory of alignment 16; `release` takes any pointer that the other two returned.
 * All three may be called from any thread. */
typedef struct leat_allocator {
    void *context;
    void *(*alloc)(void *context, size_t size, size_t alignment);
    void *(*resize)(void *context, void *memory, size_t size);
    void (*release)(void *context, void *memory);
} leat_allocator;

/* Replaces the allocator; NULL restores the C library's. Not thread-safe: call it before any other
 * function, or when no object of the library is alive. The struct is copied; its context is
 * borrowed. */
LEAT_API void leat_allocator_set(const leat_allocator *allocator);

typedef enum leat_log_level {
    LEAT_LOG_DEBUG = 0,
    LEAT_LOG_INFO = 1,
    LEAT_LOG_WARNING = 2,
    LEAT_LOG_ERROR = 3
} leat_log_level;

/* Receives each log line (no newline at its end). May be called from any thread, must not call
 * leat. */
typedef void (*leat_log_function)(void *context, leat_log_level level, const char *line);

/* Replaces where log lines go; NULL restores stderr. Nothing is logged in the steady state. */
LEAT_API void leat_log_set(leat_log_function function, void *context);

/* Which lines are written; the environment variable LEAT_LOG sets it at first. A level alone
 * (debug, info, warning, error) applies to everything; "debug:data,dist" also logs what the library
 * decides in these parts and leaves the others alone; a list may have both: "error,info:coll". For
 * NULL and for "": warnings, errors and other lines meant for the user, but no decisions.
 * INVALID_ARGUMENT for an unknown level or category, which changes nothing. Thread-safe. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_log_set_levels(const char *levels, leat_error *err);

/* The bytes that the operators of all iterators of the process may hold together (buffers of
 * shuffle and prefetch, caches, pending groups); 0, the default: half of what the machine or its
 * control group grants. Memory that is already held stays. An operator that needs more fails with
 * RESOURCE_EXHAUSTED, naming who holds what. INVALID_ARGUMENT if negative. Thread-safe. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_limits_set_memory(int64_t bytes, leat_error *err);

/* How large data from outside may become when decoded: the pixels of one picture, those of all
 * frames of an animation together (0, the default: 2^28), and the bytes that one packed string or
 * one serialised tensor may become (0: 2^30). Anything that claims to be larger fails with
 * INVALID_ARGUMENT or DATA_LOSS before memory is allocated. Pictures being decoded keep the limit
 * that they started with. INVALID_ARGUMENT if negative. Thread-safe. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_limits_set_decoding(int64_t pixels, int64_t bytes,
                                                               leat_error *err);

/* How long what is read from files may become, where nothing but the file's own word bounds it: the
 * bytes of one line of text or record of CSV (0: the default, 2^30, or what the environment's
 * LEAT_MAX_LINE_BYTES says), and of one record or member of a compressed file or a pipe, and of a
 * pipe that is read whole (0: 2^32, or LEAT_MAX_RECORD_BYTES). Memory is taken as bytes arrive, at
 * most twice what has come. What is longer is INVALID_ARGUMENT, which names the limit, and the
 * rest of that file is left out. A record of a plain file is bounded by the file. INVALID_ARGUMENT
 * if negative. Thread-safe. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_limits_set_reading(int64_t line_bytes,
                                                              int64_t record_bytes,
                                                              leat_error *err);

/* Records what each thread does when, in all iterators of the process: pulls, tasks of parallel
 * operators, waits (tf.profiler). Off at start; while it is on, each thread keeps its last few
 * thousand spans. Thread-safe. */
LEAT_API void leat_trace_start(void);
LEAT_API void leat_trace_stop(void);
/* Writes what was recorded so far to file `path` as Chrome trace JSON (for Perfetto and
 * chrome://tracing). UNKNOWN with the system's reason; a part of the file may stay then.
 * Thread-safe. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_trace_write(const char *path, leat_error *err);

/* Sets the global seed, as tf.random.set_seed: operators created afterwards without a seed of their
 * own draw one from CPython's Mersenne Twister started with `seed` (reference: tf.random.set_seed,
 * random.Random.randint). */
LEAT_API void leat_seed_set(int64_t seed);

/* Forgets the global seed, as if leat_seed_set had never been called. */
LEAT_API void leat_seed_clear(void);

/* Says whether what the calling thread does for leat is to end. It is called on that thread, with
 * no lock of leat's held, and may call leat. */
typedef bool leat_interrupt_function(void *context);

/* From now on `interrupted` (NULL: nothing) is asked every 20 ms or so while the calling thread
 * computes, reads or waits in a call of leat; where it says true, the call ends with CANCELLED, as
 * if what it works on had been cancelled. For programs whose signals only set a flag, as Python's
 * do. `context` is borrowed until the next call on the same thread. What a training step writes is
 * written whole: it is not asked in between. Thread-safe: each thread has its own. */
LEAT_API void leat_interrupt_set(leat_interrupt_function *interrupted, void *context);

#ifdef __cplusplus
}
#endif
#endif
