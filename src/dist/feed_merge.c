/* What other feeds have left, read as one source: see feed_parts.h.
 *
 * Happy path: remainders are read in turns, an element of each; of an element this reader gets the
 * rows of its units, so that readers of one remainder get each row once and about equally many.
 * Elements that belong together (as_is) are not cut: element p goes to unit p mod units. Failures:
 * an element that fails does so for every reader of its remainder. No locks: one reader. */
#include "dist/feed_parts.h"

/* a * b / c of numbers whose product may be too large. */
static int64_t portion(int64_t a, int64_t b, int64_t c) {
    return a / c * b + a % c * b / c;
}

struct part {
    const leati_remainder *remainder;
    int64_t units;
};

/* The rows of this reader among those that the feed has not given out. */
static void part_range(const void *context, int64_t rows, int64_t *begin, int64_t *end) {
    const struct part *part = context;
    const leati_feed *feed = part->remainder->feed;
    int64_t gone = feed->offset, ignored = 0;
    if (feed->rule == LEATI_REBATCH_PIECES) {
        leati_piece next = {.number = feed->piece,
                            .pieces = leati_place_all_replicas(&feed->place)};
        leati_piece_range(&next, rows, &gone, &ignored);
    }
    int64_t left = rows > gone ? rows - gone : 0;
    *begin = gone + portion(left, part->remainder->begin, part->units);
    *end = gone + portion(left, part->remainder->end, part->units);
}

/* Has the part of an element no rows in any leaf? */
static leat_status is_empty(const leati_feed *feed, const leati_block *block, int64_t row,
                            const struct part *part, bool *empty, leat_error *err) {
    leat_status status = LEAT_OK;
    *empty = true;
    for (int l = 0; l < feed->leaves.count && *empty && status == LEAT_OK; l++) {
        const leati_leaf *leaf = &feed->leaves.items[l];
        leat_tensor value[LEATI_MAX_PARTS];
        int64_t rows = 0, begin = 0, end = 0;
        leati_leaf_value(leaf, block, row, value);
        status = leati_leaf_rows(leaf->spec, value, &rows, err);
        part_range(part, rows, &begin, &end);
        *empty = begin == end;
    }
    return status;
}

static void next_element(leati_remainder *remainder) {
    leati_feed_consume(remainder->feed);
    remainder->ordinal++;
}

/* The part of remainder `r`'s present element into the block; *empty: there is none. */
static leat_status take_part(leati_merge *merge, leati_remainder *r, const leati_block *block,
                             int64_t row, bool *empty, leat_error *err) {
    struct part part = {.remainder = r, .units = merge->units};
    if (r->feed->as_is) {
        int64_t unit = r->ordinal % merge->units;
        *empty = unit < r->begin || unit >= r->end;
        return *empty ? LEAT_OK : leati_block_slice(block, row, 1, &merge->block, err);
    }
    bool refused = false;
    leat_status status = is_empty(r->feed, block, row, &part, empty, err);
    return status != LEAT_OK || *empty ? status
                                       : leati_cut_part(&r->feed->leaves, block, row, part_range,
                                                        &part, &refused, &merge->block, err);
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
            r->feed->offset = 0;
            r->feed->piece = leati_feed_first_piece(r->feed);
            r->ordinal++;
            return status;
        }
        status = take_part(merge, r, block, row, &empty, err);
        if (status != LEAT_OK || empty) {
            next_element(r);
        }
        if (status != LEAT_OK || !empty) {
            merge->ready = status == LEAT_OK;
            return status;
        }
    }
}

leat_status leati_merge_peek(leati_merge *merge, const leati_block **block, int64_t *row,
                             leat_error *err) {
    for (int ended = 0; !merge->ready && ended < merge->count;) {
        leati_remainder *r = &merge->remainders[merge->at];
        leat_status status = r->ended ? LEAT_OUT_OF_RANGE : look(merge, r, err);
        if (status == LEAT_OUT_OF_RANGE) {
            merge->at = (merge->at + 1) % merge->count;
            ended++;
        } else if (status != LEAT_OK) {
            return status;
        }
    }
    if (!merge->ready) {
        return leati_fail(err, LEAT_OUT_OF_RANGE, "End of sequence");
    }
    *block = &merge->block;
    *row = 0;
    return LEAT_OK;
}

void leati_merge_consume(leati_merge *merge) {
    leati_block_clear(&merge->block);
    merge->ready = false;
    next_element(&merge->remainders[merge->at]);
    merge->at = (merge->at + 1) % merge->count;
}

void leati_source_close(leati_source *source) {
    leat_iterator_free(source->iterator);
    if (source->merge != NULL) {
        for (int i = 0; i < source->merge->count; i++) {
            leati_feed_free(source->merge->remainders[i].feed);
        }
        leati_block_fini(&source->merge->block);
        leati_free(source->merge->remainders);
        leati_free(source->merge);
    }
    *source = (leati_source){0};
}

void leati_source_cancel(leati_source *source) {
    if (source->iterator != NULL) {
        leat_iterator_cancel(source->iterator);
    }
    for (int i = 0; source->merge != NULL && i < source->merge->count; i++) {
        leati_source_cancel(&source->merge->remainders[i].feed->source);
    }
}
