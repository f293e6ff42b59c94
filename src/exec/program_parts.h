/* The inside of element programs: what program_compile.c decides and program_run.c follows.
 *
 * Nodes are run in segments. A segment by column runs its nodes over tiles of rows that fit the
 * cache together with all temporaries; a segment by row runs all its nodes for one row before the
 * next (dynamic shapes, datasets, effects). Inside a segment by column, chunked groups are chains
 * of elementwise nodes over rows too large for the cache, run over chunks of a row. */
#ifndef LEATI_EXEC_PROGRAM_PARTS_H
#define LEATI_EXEC_PROGRAM_PARTS_H

#include "base/minmax.h"
#include "core/pools.h"
#include "exec/chain.h"
#include "exec/program.h"
#include "exec/simplify.h"
#include "graph/kernel_host.h"

#define LEATI_TILE_BYTES ((size_t)64 << 10) /* of temporaries per tile */
#define LEATI_CHUNK_VALUES 4096             /* of a row per chunk */
#define LEATI_TEXT_BYTES ((size_t)64 << 10) /* of a buffer for string bytes */

typedef enum leati_program_home {
    LEATI_AT_NOWHERE = 0, /* never used */
    LEATI_AT_ARGUMENT,    /* a column of the input */
    LEATI_AT_CONSTANT,
    LEATI_AT_LOCAL, /* the scratch's slab (static shape) or row arena */
    LEATI_AT_KEPT   /* all rows of the block: an output, or read by a later segment */
} leati_program_home;

/* What string bytes a value may point into. */
#define LEATI_FROM_TEXT ((uint64_t)1 << 63)     /* text made by kernels of this run */
#define LEATI_FROM_CONSTANT ((uint64_t)1 << 62) /* constants of the program */
#define LEATI_FROM_ARGUMENT(i) ((uint64_t)1 << LEATI_MIN(i, 61)) /* bit 61: 61 and later */

typedef struct leati_pvalue {
    leati_program_home place;
    int32_t index;    /* of the argument, the constant or the kept value */
    size_t offset;    /* LOCAL and static: in the slab */
    uint64_t sources; /* of string bytes */
    int32_t segment;  /* where it is made; -1: outside */
    bool chunked;     /* LOCAL to a chunked group: the slot holds one chunk */
    bool may_be_view; /* LOCAL: the plan allows it to be a view of its node's inputs */
} leati_pvalue;

typedef struct leati_kept {
    int32_t value;
    int32_t output; /* the first output that it is; -1: none */
    bool dynamic;   /* a tensor per row */
} leati_kept;

typedef struct leati_group {
    int32_t first, count; /* in the program's order */
    bool chunked;
    int64_t values; /* of a row, if chunked */
} leati_group;

/* An argument that a segment by column reads; unless its column is strided, each tile of it is
 * gathered into the slab. */
typedef struct leati_segment_arg {
    int32_t argument;
    size_t offset;
} leati_segment_arg;

typedef struct leati_segment {
    int32_t first, count; /* nodes, in the program's order */
    int32_t first_group, num_groups;
    bool by_row;
    int64_t tile_rows;           /* INT64_MAX: no temporaries */
    int32_t first_arg, num_args; /* arguments read here, in program->segment_args */
} leati_segment;

struct leati_program {
    leat_function *function; /* as given; a reference */
    leati_simple simple;
    leati_chains chains; /* nodes of `simple` point here */
    int32_t *order;      /* of simple.nodes; segments are runs of it */
    leati_pvalue *values;
    leati_kept *kept;
    int32_t num_kept;
    leati_segment *segments;
    int32_t num_segments;
    leati_group *groups;
    int32_t num_groups;
    leati_segment_arg *segment_args;
    size_t slab_bytes;
    int32_t max_inputs, max_outputs; /* of a node */
    bool whole_rows;                 /* effects: one segment, by row */
};

/* Memory of a kept value during a run. */
typedef struct leati_kept_run {
    char *data; /* static shape */
    int64_t stride;
    leat_buffer *owner;                   /* of data or of the tensors; a reference */
    bool viewed;                          /* data is a view of somebody else's memory */
    leat_tensor *tensors;                 /* dynamic shape */
    const leati_destination *destination; /* usable for this value; NULL: none */
    int64_t fitted;                       /* rows that lie in the destination */
} leati_kept_run;

/* A value during a run. `operand` is right for `row 0` of the block if `full`, else of the tile. */
typedef struct leati_cell {
    leati_operand operand;
    bool full;
} leati_cell;

struct leati_scratch {
    const leati_program *program;
    char *slab;
    leati_arena call_arena, row_arena, run_arena;
    leati_arena inner_arena; /* of kernels inside a chain */
    leati_pools pools;
    leati_cell *cells;
    leati_kept_run *kept;
    leati_operand *inputs, *outputs; /* of the node under way */
    leat_buffer **held; /* owners of views that live as long as the row or tile; references */
    size_t num_held, held_capacity;
    leat_buffer **strings; /* owners of strings that a kernel had from elsewhere; until the run
                              ends; references */
    size_t num_strings, strings_capacity;
    leat_buffer **texts; /* string bytes of this run; the last one is open; references */
    size_t num_texts, text_capacity;
    size_t text_used; /* bytes of the last one */
    int64_t callbacks;
    int64_t recovered; /* pictures that were cut short and filled */
};

/* One run, from the first row to the last. */
typedef struct leati_run {
    struct leati_kernel_host host; /* first */
    const leati_program *program;
    leati_scratch *scratch;
    const leati_block *in;
    int64_t begin, n; /* the rows asked for */
    int64_t rows;     /* of them: those before the first that failed */
    int64_t tile;     /* row of the tile under way */
    bool by_row;
    const leati_call_context *given;
    leati_call_context context;
    const leati_simple_node *node; /* under way */
    int64_t row;                   /* of the node under way: its first */
    bool chunk;                    /* operands are parts of a row */
    size_t first_text;             /* the text buffer that was open when the row began */
    size_t first_string;           /* of `strings`: the first that came in this row */
    leat_status status;            /* of the first failing row */
    bool blamed;                   /* a node failed, not the input */
    leat_error error;
} leati_run;

/* program_host.c: the executor's side of kernel calls. */
extern const struct leati_kernel_host leati_program_host;

/* program_rows.c: memory of kept values, and the block of results. */
LEAT_WARN_UNUSED leat_status leati_program_run_open(leati_run *run, leati_block *out, int64_t n,
                                                    leat_error *err);
LEAT_WARN_UNUSED leat_status leati_program_run_finish(leati_run *run, leati_block *out, int64_t n,
                                                      leat_error *err);
void leati_program_run_close(leati_run *run);
/* Memory for row `row` of a kept value of dynamic shape: its destination, or a pooled buffer. The
 * operand's shape is set; data and owner are filled in. */
LEAT_WARN_UNUSED leat_status leati_program_run_row_memory(leati_run *run, int32_t kept, int64_t row,
                                                          leati_operand *operand, leat_error *err);
/* Drops the owners of views, at the end of a row or a tile. */
void leati_program_run_drop_held(leati_run *run);
/* Makes string rows keep their bytes alive: those that the run made, or since the row under way
 * began. */
LEAT_WARN_UNUSED leat_status leati_program_run_hold(leati_run *run, uint64_t sources, int64_t row,
                                                    int64_t n, bool all, leat_buffer *owner,
                                                    leat_error *err);
/* Copies n rows of an operand to `to`, `stride` apart. */
void leati_program_copy_rows(const leati_operand *from, int64_t n, char *to, int64_t stride);

#endif
