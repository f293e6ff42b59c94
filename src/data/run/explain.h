/* The table of where the time went. */
#ifndef LEATI_DATA_RUN_EXPLAIN_H
#define LEATI_DATA_RUN_EXPLAIN_H

#include "data/run/state.h"

/* One line per operator from the consumer's end: elements, elements/s, busy, waiting, depth, bytes;
 * then the bottleneck with its headroom and autotune's decisions. `top` stands above the root.
 * Owned text (leat_text_free). */
char *leati_explain(const leati_iteration *iteration, const leati_node_state *top, leat_error *err);
/* The operator that computed longest so far, in a few words; empty where none has yet. From any
 * thread, while the iteration lives. */
void leati_explain_slowest_stage(const leati_iteration *iteration, const leati_node_state *top,
                                 char *text, size_t size);

/* The same as its name and its share of the time; the name is empty where none has computed. */
void leati_explain_slowest(const leati_iteration *iteration, const leati_node_state *top,
                           char *name, size_t size, double *share);

/* What was computed since the last look, by all operators together, and by the one that computed
 * longest per thread that it may use; its name is empty where none did. */
typedef struct leati_load {
    int64_t busy_ns, slowest_ns;
    char slowest[64];
} leati_load;

/* Looks, for one reader of the iteration: what is told is not told again. Tasks of the pool that
 * are running count as far as they have come. Any thread, while the iteration lives. */
void leati_explain_load(const leati_iteration *iteration, leati_node_state *top, leati_load *out);

#endif
