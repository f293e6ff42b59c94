/* The files of a reader: which is open, which comes next, whose turn it is. For operators that read
 * records out of files; what a record is, a leati_file_format says.
 *
 * Files are read one after the other, or num_parallel_reads of them in turns, record by record:
 * TensorFlow's legacy parallel interleave, where a file that ended gives its place to the next one
 * in order and its turn to its neighbour. Files in turns are read ahead by tasks of the pool; their
 * order is the same for any number of threads. */
#ifndef LEATI_DATA_SOURCE_FILES_H
#define LEATI_DATA_SOURCE_FILES_H

#include "core/pools.h"
#include "data/run/input.h"

/* Rows of the arguments that readers share; `args` is the type of the operator's. */
#define LEATI_ROW_FILENAMES(args)                                                                  \
    {                                                                                              \
        .name = "filenames", .type = LEATI_ROW_STRINGS, .flags = LEATI_NODE,                       \
        .offset = offsetof(args, filenames),                                                       \
        .doc = "One path, a list of them, or a dataset of string scalars."                         \
    }
#define LEATI_ROW_COMPRESSION(args)                                                                \
    {                                                                                              \
        .name = "compression_type", .type = LEATI_ROW_STRING, .flags = LEATI_NONE,                 \
        .offset = offsetof(args, compression_type),                                                \
        .doc = "\"\" (none), \"ZLIB\", \"GZIP\", \"ZSTD\", \"LZ4\" or \"SNAPPY\"."                 \
    }
#define LEATI_ROW_BUFFER_SIZE(args)                                                                \
    {                                                                                              \
        .name = "buffer_size", .type = LEATI_ROW_INT, .flags = LEATI_NONE,                         \
        .offset = offsetof(args, buffer_size),                                                     \
        .doc = "Bytes read at once, up to 64 MiB; none or 0: 256 KiB."                             \
    }
#define LEATI_ROW_PARALLEL_READS(args)                                                             \
    {                                                                                              \
        .name = "num_parallel_reads", .type = LEATI_ROW_INT, .flags = LEATI_NONE | LEATI_AUTOTUNE, \
        .offset = offsetof(args, num_parallel_reads), .minimum = 1, .maximum = 65536,              \
        .doc = "How many files are read in turns, record by record; none: one after the other; "   \
               "AUTOTUNE: by the number of cores."                                                 \
    }

typedef enum leati_file_outcome {
    LEATI_FILE_MORE = 0, /* the file is open; or records were read, n > 0 */
    LEATI_FILE_END,      /* no further record */
    LEATI_FILE_ERROR,    /* an error outcome; the same file is asked again at the next call */
    LEATI_FILE_LOST      /* an error outcome; the rest of the file is passed over */
} leati_file_outcome;

/* Where records go: `records` may be NULL, then they are passed over. A format whose records are no
 * strings takes `sink` instead. */
typedef struct leati_file_request {
    int64_t want;         /* at least 1 */
    size_t bytes;         /* no further record once so many bytes are reached; 0: no limit */
    leat_string *records; /* become views ... */
    leat_buffer *owner;   /* ... of memory that this buffer is made to hold */
    void *sink;
} leati_file_request;

struct leati_files;

typedef struct leati_file_format {
    const char *op;
    bool passes; /* read may be asked to pass records: a request with no place to put them */
    /* Opens `path` where reading stood, at `position` (0: at the start). `files` is the operator's
     * state, which is only read: files in turns are opened and read on several threads. `pools` are
     * for this reader's chunks. *reader is owned. */
    leati_file_outcome (*open)(const struct leati_files *files, leati_pools *pools,
                               const char *path, int64_t position, void **reader, leat_error *err);
    /* Reads 1 to want records: MORE. What stops a call after its first record is reported by the
     * next call. */
    leati_file_outcome (*read)(void *reader, const leati_file_request *request, int64_t *n,
                               leat_error *err);
    /* Where the next record starts, in the decompressed bytes. */
    int64_t (*position)(const void *reader);
    void (*close)(void *reader); /* NULL is allowed */
} leati_file_format;

struct leati_file_slot; /* data/source/file_slot.h */
struct leati_gate;

/* The state of an operator that reads files starts with it. {0} is closed. */
typedef struct leati_files {
    const leati_file_format *format;
    const leati_strings *paths; /* borrowed from the arguments; not with a dataset of names */
    leati_node_state *node;
    leati_input names; /* only with a dataset of names */
    int64_t next_name; /* only with a list */
    bool started;      /* the first files have got their places */
    bool passes_lost;  /* a file that cannot be opened is passed over: nobody asks for it again */
    struct leati_file_slot *slots;
    int64_t num_slots, at;   /* whose turn it is */
    size_t chunk_size;       /* bytes that a reader reads at once */
    int64_t ahead;           /* slots with a block that is read ahead */
    uint64_t calls;          /* of leati_files_next, counted */
    struct leati_gate *gate; /* of tasks that read ahead; NULL: there are none */
    leati_pools pools;       /* of columns */
} leati_files;

/* Checks the arguments filenames and num_parallel_reads: exactly one list or one dataset of string
 * scalars. AUTOTUNE becomes a number as in leati_cycle_of_cores; NULL: the reader has no such
 * argument. */
LEAT_WARN_UNUSED leat_status leati_files_check(const leat_dataset *dataset,
                                               const leati_strings *filenames,
                                               int64_t *num_parallel_reads, leat_error *err);
/* The spec of one string scalar; for descriptors. Owned. */
leat_spec *leati_files_spec(const leat_dataset *dataset, leat_error *err);

/* Makes the state ready, in an operator's `open`. `num_parallel_reads` below 2: one file after the
 * other. `buffer_size`: bytes read at once, up to 64 MiB; 0 or less: 256 KiB. */
LEAT_WARN_UNUSED leat_status leati_files_open(leati_files *files, leati_node_state *node,
                                              const leati_file_format *format,
                                              const leati_strings *filenames,
                                              int64_t num_parallel_reads, int64_t buffer_size,
                                              leat_error *err);

/* The next records. END: no file has any. An error is one outcome; what stops a call after its
 * first record is reported by the next call. */
leati_tail leati_files_next(leati_files *files, const leati_file_request *request, int64_t *n,
                            leat_error *err);

/* For a list of files read one after the other: where the next record lies. *file is its number in
 * the list, or how many there are at the end; *behind records lie between byte *position and it.
 * False while an error waits to be given out. */
bool leati_files_where(const leati_files *files, int64_t *file, int64_t *position, int64_t *behind);
/* Goes on at byte `position` of file number `file`, or to the end. */
LEAT_WARN_UNUSED leat_status leati_files_go(leati_files *files, int64_t file, int64_t position,
                                            leat_error *err);

/* What a reader of lines says after a failure: behind a line that is too long (INVALID_ARGUMENT)
 * nobody looks for the next one, and other failures come again. */
leati_file_outcome leati_files_stopped(const leat_error *err);

/* Slots of a leati_dataset_op whose state starts with leati_files. Pull and advance are for
 * operators whose elements are the records; saved is the place in the list of files and a byte
 * offset for each open one. */
leati_tail leati_files_pull(leati_node_state *node, void *state, int64_t want, leati_block *out,
                            leat_error *err);
leati_tail leati_files_advance(leati_node_state *node, void *state, int64_t n, int64_t *passed,
                               leat_error *err);
leat_status leati_files_save(leati_node_state *node, void *state, leati_writer *out,
                             leati_save_cost *cost, leat_error *err);
leat_status leati_files_restore(leati_node_state *node, void *state, leati_reader *in,
                                leat_error *err);
leat_status leati_files_reset(leati_node_state *node, void *state, leat_error *err);
void leati_files_close(leati_node_state *node, void *state);

/* For builders: an array of views of `count` C strings, freed by leati_free. INVALID_ARGUMENT for
 * missing ones. `out` is changed on success alone. */
LEAT_WARN_UNUSED leat_status leati_files_view_names(const char *op, const char *const *filenames,
                                                    int count, leati_strings *out, leat_error *err);

#endif
