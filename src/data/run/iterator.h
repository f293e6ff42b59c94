/* Reading an iterator by blocks: for dist, which splits batches, and for counting without making
 * elements. */
#ifndef LEATI_DATA_RUN_ITERATOR_H
#define LEATI_DATA_RUN_ITERATOR_H

#include "data/plan/op.h"
#include "graph/op.h"

/* As leati_input_peek: rows *begin .. *begin + *available of leati_iterator_block are ready; with
 * none, the tail says END or ERROR (an error is consumed as one outcome). */
leati_tail leati_iterator_peek(leat_iterator *iterator, int64_t *available, leat_error *err);
/* Waits for the next outcome: rows are ready (at least one), or OUT_OF_RANGE at the end, or the
 * error of this place, which is consumed. */
LEAT_WARN_UNUSED leat_status leati_iterator_ready(leat_iterator *iterator, int64_t *available,
                                                  leat_error *err);
/* For readers that save while they are in the middle of an element that they have not consumed: its
 * place is remembered, so that the state need not hold the element. */
void leati_iterator_keep_places(leat_iterator *iterator);
/* For who is alone with the plan, whose nodes nobody else reads: more than the next element may be
 * asked for where the plan is impure, too. */
void leati_iterator_ask_ahead(leat_iterator *iterator);
/* What an iterator has beyond a user's options. */
typedef struct leati_iterator_extras {
    const struct leati_splits *splits; /* data/run/splits.h; borrowed; NULL: none */
    uint64_t scope; /* random operations of iterators with other scopes give other numbers */
} leati_iterator_extras;
/* leat_iterator_new with these (NULL: none). */
leat_iterator *leati_iterator_new_with(leat_dataset *dataset, const leat_iterator_options *options,
                                       const leati_iterator_extras *extras, leat_error *err);
/* Which operator computed longest so far, in a few words; empty where none did. From any thread. */
void leati_iterator_slowest(const leat_iterator *iterator, char *text, size_t size);
/* What it computed since the last call (data/run/explain.h), for one reader. From any thread. */
struct leati_load;
void leati_iterator_load(leat_iterator *iterator, struct leati_load *out);
/* As leat_iterator_next, but the end is no failure (*ended), and an element that fails with
 * OUT_OF_RANGE is an INTERNAL one. */
LEAT_WARN_UNUSED leat_status leati_iterator_element(leat_iterator *iterator, leat_element *out,
                                                    bool *ended, leat_error *err);
/* An iterator over a dataset within a function that is called in this context: one like a user's
 * where the context may wait, else one without threads, with a random scope of the call's. `*out`
 * is owned. */
LEAT_WARN_UNUSED leat_status leati_iterator_inside(leat_dataset *dataset,
                                                   const leati_call_context *context,
                                                   leat_iterator **out, leat_error *err);
const leati_block *leati_iterator_block(const leat_iterator *iterator, int64_t *begin);
void leati_iterator_consume(leat_iterator *iterator, int64_t n);

#endif
