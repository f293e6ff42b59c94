/* Element programs: a function compiled into straight-line code over blocks (exec/element of DESIGN
 * 5).
 *
 * With static shapes every node runs once over all rows of a block, whole columns at a time;
 * elsewhere row by row. Temporaries live in the caller's scratch, so the steady state allocates
 * nothing but what the results own, and those come from pools. A program is immutable and shared by
 * any number of threads, each with its scratch. */
#ifndef LEATI_EXEC_PROGRAM_H
#define LEATI_EXEC_PROGRAM_H

#include "base/text.h"
#include "core/block.h"
#include "graph/graph.h"

typedef struct leati_program leati_program;
typedef struct leati_scratch leati_scratch;

/* Compiles: prunes, orders, merges equal pure nodes, plans temporaries, fuses chains of elementwise
 * operations over cache-sized tiles. UNIMPLEMENTED for nodes that need a replica. Owned. */
leati_program *leati_program_new(const leat_function *function, leat_error *err);
void leati_program_free(leati_program *program);
const leat_function *leati_program_function(const leati_program *program);

/* A line for each chain of picture operations that runs as one: "decode_jpeg, resize, multiply". */
void leati_program_describe(const leati_program *program, const char *before, leati_text *text);

/* Per-thread working memory of one program. Owned. */
leati_scratch *leati_program_scratch_new(const leati_program *program, leat_error *err);
void leati_program_scratch_free(leati_scratch *scratch);

/* Runs rows [begin, begin + n) of `in` (its columns are the function's arguments) into `out` (its
 * columns the results; prepared by this call; out->destinations, if set, receive the rows where
 * dtype and shape fit: the last operation writes there directly). On failure *failed_row is the
 * first failing row relative to begin, in row order, as if rows ran one at a time: rows before it
 * succeed when run again alone; `out` is empty. The context's ordinal is that of row `begin`. */
LEAT_WARN_UNUSED leat_status leati_program_run(const leati_program *program, leati_scratch *scratch,
                                               const leati_block *in, int64_t begin, int64_t n,
                                               const leati_call_context *context, leati_block *out,
                                               int64_t *failed_row, leat_error *err);

/* Number of user callbacks called so far by runs with this scratch. */
int64_t leati_program_scratch_callbacks(const leati_scratch *scratch);
/* Number of pictures that were cut short and filled so far, as the user allowed. */
int64_t leati_program_scratch_recovered(const leati_scratch *scratch);

#endif
