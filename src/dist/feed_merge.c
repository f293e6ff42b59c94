/* What other feeds have left, read as one source: see feed_parts.h.
 *
 * Happy path: remainders are read in turns, an element of each; of an element this reader gets the
 * rows of its units, so that readers of one remainder get each row once and about equally many.
 * Elements that belong together (as_is) are not cut: element p goes to unit p mod units. Failures:
 * an element that fails does so for every reader of its remainder. No locks: one reader. */
#include "dist/feed_parts.h"

/* a * b / c of numbers whose product may be too large. */
static int64_t scaled(int64_t a, int64_t b, int64_t c) {
    /* Exact: with a = q c + r, a b / c is q b + r b / c, and r b stays small. */
    return a / c * b + a % c * b / c;
}

/* Takes what is gone of [*begin, *end) off its beginning. */
static void drop_gone(int64_t offset, int64_t piece, int64_t pieces, int64_t *begin, int64_t *end) {
    /* Rows that were given out, or those before piece number `piece` of so many. */
    int64_t left = *end - *begin, gone = offset, ignored = 0;
    if (pieces > 0) {
        leati_rows_piece next = {.number = piece, .pieces = pieces};
        leati_rows_piece_range(&next, left, &gone, &ignored);
    }
    *begin += gone < left ? gone : left;
}

/* The rows of this reader among those that have not been given out. */
static void part_range(const void *context, int64_t rows, int64_t *begin, int64_t *end) {
    const leati_remainder *remainder = context;
    const leati_feed *feed = remainder->feed;
    bool in_pieces = feed->plan.rule == LEATI_REBATCH_PIECES;
    *begin = 0;
    *end = rows;
    drop_gone(feed->position.offset, feed->position.piece,
              in_pieces ? leati_planner_all_replicas(&feed->plan.place) : 0, begin, end);
    for (int i = 0; i < remainder->num_cuts; i++) {
        const leati_cut *cut = &remainder->cuts[i];
        int64_t left = *end - *begin, from = *begin;
        /* Each cut divides what the one before it has left; borders are scaled the same way for all
         * readers, so that no row is lost or read twice. */
        *begin = from + scaled(left, cut->begin, cut->units);
        *end = from + scaled(left, cut->end, cut->units);
        drop_gone(cut->offset, cut->piece, cut->pieces, begin, end);
    }
}

/* Of elements that are not cut: is the present one this reader's? */
static bool is_mine(const leati_remainder *remainder) {
    int64_t ordinal = remainder->ordinal;
    for (int i = 0; i < remainder->num_cuts; i++) {
        const leati_cut *cut = &remainder->cuts[i];
        int64_t unit = ordinal % cut->units;
        if (unit < cut->begin || unit >= cut->end)
            return false;
        /* The number among this reader's elements, of which the next cut takes its share. */
        ordinal = ordinal / cut->units * (cut->end - cut->begin) + unit - cut->begin;
    }
    return true;
}

/* Has the part of an element no rows in any leaf? */
static leat_status is_empty(const leati_remainder *remainder, const leati_block *block, int64_t row,
                            bool *empty, leat_error *err) {
    const leati_leaves *leaves = &remainder->feed->share.leaves;
    leat_status status = LEAT_OK;
    *empty = true;
    for (int l = 0; l < leaves->count && *empty && status == LEAT_OK; l++) {
        const leati_leaf *leaf = &leaves->items[l];
        leat_tensor value[LEATI_MAX_PARTS];
        int64_t rows = 0, begin = 0, end = 0;
        leati_leaf_value(leaf, block, row, value);
        status = leati_composite_rows(leaf->spec, value, &rows, err);
        part_range(remainder, rows, &begin, &end);
        /* One leaf with rows is enough; its siblings may have fewer. */
        *empty = begin == end;
    }
    return status;
}

/* Nothing is gone of the next element. */
static void forget_gone(leati_remainder *remainder) {
    for (int i = 0; i < remainder->num_cuts; i++)
        remainder->cuts[i].offset = remainder->cuts[i].piece = 0;
    remainder->ordinal++;
}

static void next_element(leati_remainder *remainder) {
    leati_feed_consume(remainder->feed);
    forget_gone(remainder);
}

/* The part of remainder `r`'s present element into the block; *empty: there is none. */
static leat_status take_part(leati_merge *merge, const leati_remainder *r, const leati_block *block,
                             int64_t row, bool *empty, leat_error *err) {
    bool refused = false;
    if (r->feed->plan.as_is) {
        *empty = !is_mine(r);
        return *empty ? LEAT_OK : leati_block_slice(block, row, 1, &merge->block, err);
    }
    leat_status status = is_empty(r, block, row, empty, err);
    return status != LEAT_OK || *empty
               ? status
               : leati_rows_cut_part(&r->feed->share.leaves, block, row, part_range, r, &refused,
                                     &merge->block, err);
}

/* Looks for the next part of remainder `r`. OUT_OF_RANGE: it has ended. */
static leat_status look(leati_merge *merge, leati_remainder *r, leat_error *err) {
    for (;;) {
        const leati_block *block = NULL;
        int64_t row = 0;
        bool empty = false;
        leat_status status = leati_feed_peek(r->feed, &block, &row, err);
        if (status == LEAT_OUT_OF_RANGE) {
            r->ended = true;
            return status;
        }
        if (status != LEAT_OK) { /* which has consumed the element */
            r->feed->position.offset = 0;
            r->feed->position.piece = leati_feed_first_piece(r->feed);
            forget_gone(r);
            return status;
        }
        status = take_part(merge, r, block, row, &empty, err);
        /* Elements of which this reader gets nothing are passed; there may be many in a row. */
        if (status != LEAT_OK || empty)
            next_element(r);
        if (status != LEAT_OK || !empty) {
            merge->ready = status == LEAT_OK;
            return status;
        }
    }
}

leat_status leati_feed_merge_peek(leati_merge *merge, const leati_block **block, int64_t *row,
                                  leat_error *err) {
    for (int ended = 0; !merge->ready && ended < merge->count;) { /* none: at the end */
        leati_remainder *r = &merge->remainders[merge->at];
        leat_status status = r->ended ? LEAT_OUT_OF_RANGE : look(merge, r, err);
        if (status == LEAT_OUT_OF_RANGE) {
            merge->at = (merge->at + 1) % merge->count;
            ended++;
        } else if (status != LEAT_OK) {
            return status;
        }
    }
    if (!merge->ready)
        return leati_fail_end(err);
    *block = &merge->block;
    *row = 0;
    return LEAT_OK;
}

void leati_feed_merge_consume(leati_merge *merge) {
    leati_block_clear(&merge->block);
    merge->ready = false;
    next_element(&merge->remainders[merge->at]);
    merge->at = (merge->at + 1) % merge->count;
}

static void remainder_fini(leati_remainder *remainder) {
    leati_feed_free(remainder->feed);
    leati_free(remainder->cuts);
}

void leati_feed_source_close(leati_source *source) {
    leat_iterator_free(source->iterator);
    if (source->merge != NULL) {
        for (int i = 0; i < source->merge->count; i++)
            remainder_fini(&source->merge->remainders[i]);
        leati_block_fini(&source->merge->block);
        leati_free(source->merge->remainders);
        leati_free(source->merge);
    }
    *source = (leati_source){0};
}

void leati_feed_source_cancel(leati_source *source) {
    if (source->iterator != NULL)
        leat_iterator_cancel(source->iterator);
    for (int i = 0; source->merge != NULL && i < source->merge->count; i++)
        leati_feed_source_cancel(&source->merge->remainders[i].feed->source);
}
