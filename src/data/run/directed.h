/* Directed interleave: elements of several inputs in an order that a selector gives, one number of
 * an input per element. What choose_from_datasets and sample_from_datasets share. */
#ifndef LEATI_DATA_RUN_DIRECTED_H
#define LEATI_DATA_RUN_DIRECTED_H

#include "data/run/input.h"
#include "data/values/join.h"

/* The next number: MORE, END or ERROR. `want` says how many the caller may need at most. */
typedef leati_tail leati_directed_select(leati_node_state *node, void *selector, int64_t want,
                                         int64_t *number, leat_error *err);

typedef struct leati_directed {
    leati_input *inputs;
    int num_inputs; /* opened */
    bool *dead;     /* inputs that have ended; NULL: not open */
    bool *failing;  /* inputs that fail in place of their end, at every call */
    int live;
    bool stop_on_empty;
    bool ended;
    int64_t selected; /* a number whose element is still to come, or -1 */
    leati_join join;
} leati_directed;

/* Opens the `count` inputs of the node's dataset that `which` names (NULL: the first ones). */
LEAT_WARN_UNUSED leat_status leati_directed_open(leati_directed *directed, leati_node_state *node,
                                                 const int *which, int count, bool stop_on_empty,
                                                 leat_error *err);
void leati_directed_close(leati_directed *directed);
LEAT_WARN_UNUSED leat_status leati_directed_reset(leati_directed *directed, leat_error *err);
leati_tail leati_directed_pull(leati_node_state *node, leati_directed *directed,
                               leati_directed_select *select, void *selector, int64_t want,
                               leati_block *out, leat_error *err);
LEAT_WARN_UNUSED leat_status leati_directed_save(leati_directed *directed, leati_writer *out,
                                                 leati_save_cost *cost, leat_error *err);
LEAT_WARN_UNUSED leat_status leati_directed_restore(leati_directed *directed, leati_reader *in,
                                                    leat_error *err);

/* The spec that the first `count` inputs have in common (`which` as above): owned, or NULL with
 * INVALID_ARGUMENT. */
leat_spec *leati_directed_spec(const leat_dataset *dataset, const int *which, int count,
                               leat_error *err);
/* Infinite if one of them is, else unknown. */
int64_t leati_directed_cardinality(const leat_dataset *dataset, const int *which, int count);

#endif
