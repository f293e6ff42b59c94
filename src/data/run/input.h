/* How an operator reads a child: peek and consume. It holds one block, its tail, a snapshot of the
 * child taken before that block, and the number of outcomes consumed since; that pair is what save
 * writes. In verification mode every block is re-encoded in another column form, cut at random, its
 * gaps poisoned, and checksummed when it is given back. */
#ifndef LEATI_DATA_RUN_INPUT_H
#define LEATI_DATA_RUN_INPUT_H

#include "data/run/state.h"

typedef enum leati_snapshots {
    LEATI_SNAPSHOTS_AHEAD = 0, /* before requests for more than one outcome of a pure child */
    LEATI_SNAPSHOTS_ALWAYS,    /* before every block of a child that can be replayed: for readers
                                  that go on working on an outcome before they consume it */
    LEATI_SNAPSHOTS_NEVER      /* the reader takes whole blocks and keeps its own */
} leati_snapshots;

typedef struct leati_input {
    leati_node_state *child; /* NULL: closed */
    leati_block block;
    leati_tail tail;       /* after the block's elements */
    leat_error error;      /* if tail is ERROR */
    int64_t consumed;      /* outcomes of the block (elements, then the tail's error) consumed */
    bool loaded;           /* block and tail are valid */
    bool ended;            /* END was consumed: sticky */
    bool ends_at_error;    /* after a failure in place of the child's end (leat_error.at_end) the
                              child has ended for this reader, whose error has no such mark;
                              otherwise it comes at every call. Set after open */
    leati_writer snapshot; /* the child's state before the block; empty if snapshots are off */
    leati_save_cost cost;  /* of restoring the snapshot */
    int64_t num_single;    /* loads to come that ask for one row, after a snapshot that was dear */
    leati_snapshots snapshots; /* when the child's state is remembered; set after open */
    uint64_t checksum;
    struct leati_verify *verify;
} leati_input;

/* Opens input number `index` of `node`'s dataset under it. */
LEAT_WARN_UNUSED leat_status leati_input_open(leati_input *input, leati_node_state *node, int index,
                                              leat_error *err);
/* The same for a dataset that a function returned (flat_map); `iteration` may be a derived one. */
LEAT_WARN_UNUSED leat_status leati_input_open_dataset(leati_input *input, leati_node_state *node,
                                                      const leat_dataset *dataset,
                                                      leati_iteration *iteration, leat_error *err);
void leati_input_close(leati_input *input);
/* Begins a new epoch of the child. */
LEAT_WARN_UNUSED leat_status leati_input_reset(leati_input *input, leat_error *err);

/* Makes outcomes visible: pulls the child for up to `want` if none are left. Sets *available to the
 * number of good elements in front (rows leati_input_begin(input) .. + available of input->block).
 * With *available == 0 the return value says what stands there: END or ERROR (then *err is written
 * and the error outcome must be consumed with leati_input_consume(input, 1)). MORE otherwise.
 * `destinations` (may be NULL) are offered to the child. */
leati_tail leati_input_peek(leati_input *input, int64_t want, const leati_destination *destinations,
                            int64_t *available, leat_error *err);
/* Does a failure in place of the child's end stand in front, or was it consumed last? */
bool leati_input_failed_at_end(const leati_input *input);
int64_t leati_input_begin(const leati_input *input);
/* Takes n outcomes. */
void leati_input_consume(leati_input *input, int64_t n);
/* The usual whole: peek, then `out` becomes up to `want` elements as a view, and they (and an error
 * outcome that follows directly) are consumed. For operators that hand on what they get. */
leati_tail leati_input_take(leati_input *input, int64_t want, leati_block *out, leat_error *err);
/* Passes n outcomes by the child's advance. */
leati_tail leati_input_advance(leati_input *input, int64_t n, int64_t *passed, leat_error *err);
/* Of an operator that goes through `wanted` outcomes again: did they all come, the last call having
 * given `tail` and `last`? DATA_LOSS where elements are missing. */
leat_status leati_input_came_again(const char *name, int64_t wanted, int64_t passed,
                                   leati_tail tail, const leat_error *last, leat_error *err);

/* Passes n elements as the operators skip and shard do: MORE, END after fewer, or ERROR, which is
 * consumed. */
leati_tail leati_input_skip(leati_input *input, int64_t n, int64_t *skipped, leat_error *err);
/* Does the child skip without computing what it passes? Then asking it for elements that are only
 * passed would be seen. */
bool leati_input_skips(const leati_input *input);

/* May more be asked for than the consumer needs? (The child's plan is pure.) */
bool leati_input_pure(const leati_input *input);

LEAT_WARN_UNUSED leat_status leati_input_save(leati_input *input, leati_writer *out,
                                              leati_save_cost *cost, leat_error *err);
LEAT_WARN_UNUSED leat_status leati_input_restore(leati_input *input, leati_reader *in,
                                                 leat_error *err);

#endif
