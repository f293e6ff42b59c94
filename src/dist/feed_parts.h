/* The inside of a feed. Internal to dist/feed*. */
#ifndef LEATI_DIST_FEED_PARTS_H
#define LEATI_DIST_FEED_PARTS_H

#include "data/run/iterator.h"
#include "data/run/rows.h"
#include "dist/feed.h"
#include <pthread.h>

/* A part of each element: units [begin, end) of so many, and what is gone of the present one. */
typedef struct leati_cut {
    int64_t begin, end, units;
    int64_t offset;        /* rows */
    int64_t piece, pieces; /* the next piece; `pieces` is 0 where elements are not cut so */
} leati_cut;

/* What a feed left that was saved, and the part of it that belongs to the feed which reads it now:
 * a cut for each time that what was left was shared out. */
typedef struct leati_remainder {
    leati_feed *feed; /* owned; reads an iterator; its position is that of its present element */
    leati_cut *cuts;  /* owned */
    int num_cuts;
    int64_t ordinal; /* of the present element */
    bool ended;
} leati_remainder;

/* Remainders, read in turns, an element of each. */
typedef struct leati_merge {
    leati_remainder *remainders;
    int count, at;
    bool ready;        /* `block` holds the part of remainder `at`'s present element */
    leati_block block; /* one element */
} leati_merge;

/* Where elements come from: an iterator, or the remainders of other feeds. */
typedef struct leati_source {
    leat_iterator *iterator; /* owned; NULL: merged */
    leati_feed_place place;  /* whose share the iterator reads */
    leati_merge *merge;      /* owned */
} leati_source;

/* What does not change. */
typedef struct leati_feed_plan {
    leati_feed_place place;
    leati_rebatch_rule rule;
    leat_auto_shard_policy policy;
    bool as_is;
    int64_t global_batch;
    leat_spec *spec; /* of what replicas receive; a reference */
    leati_share_maker make;
    void *context;
    leat_iterator_options iterator;
} leati_feed_plan;

/* What is known of the share that is read. */
typedef struct leati_feed_share {
    int64_t cardinality;
    leat_spec *whole;    /* of its elements, from which `leaves` borrow; a reference */
    leati_leaves leaves; /* of its elements */
} leati_feed_share;

/* The position in the present element, as it is saved. */
typedef struct leati_feed_position {
    int64_t index;  /* the next one of the feed's `sizes` */
    int64_t offset; /* rows that are gone */
    int64_t piece;  /* LEATI_REBATCH_PIECES: the next one */
    bool ended;
} leati_feed_position;

/* The reader's, which is one thread at a time, but for the last three. */
struct leati_feed {
    leati_feed_plan plan;
    leati_feed_share share;
    leati_feed_position position;
    int64_t rows;   /* of the present element; -1: not counted yet */
    int64_t *sizes; /* LEATI_REBATCH_SIZES: of all replicas, taken in turn */
    bool restored;
    leati_pieces pieces;
    leati_block block;
    leati_source source;  /* replaced under the lock; others read it there */
    pthread_mutex_t lock; /* of `source`'s identity and `cancelled` */
    bool cancelled;
};

/* Where LEATI_REBATCH_PIECES begins with each element. */
int64_t leati_feed_first_piece(const leati_feed *feed);

/* A feed of another place under the options of `like`, without a source. Owned. */
leati_feed *leati_feed_at(const leati_feed *like, const leati_feed_place *place,
                          leati_rebatch_rule rule, leat_error *err);
/* An iterator over the share of a place: the feed's own, or with DATA one that has the same. */
LEAT_WARN_UNUSED leat_status leati_feed_open(leati_feed *feed, const leati_feed_place *share,
                                             leat_error *err);

/* The present element: row *row of *block (borrowed until it is consumed). OUT_OF_RANGE at the end;
 * an element that failed is consumed. */
LEAT_WARN_UNUSED leat_status leati_feed_peek(leati_feed *feed, const leati_block **block,
                                             int64_t *row, leat_error *err);
/* Goes on to the next element. */
void leati_feed_consume(leati_feed *feed);

void leati_feed_source_close(leati_source *source);
void leati_feed_source_cancel(leati_source *source);

LEAT_WARN_UNUSED leat_status leati_feed_merge_peek(leati_merge *merge, const leati_block **block,
                                                   int64_t *row, leat_error *err);
void leati_feed_merge_consume(leati_merge *merge);

#endif
