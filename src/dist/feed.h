/* A feed: the elements of one input pipeline, cut into what the replicas receive.
 *
 * Its dataset is the share of its place (dist/planner), read by one iterator; batches are cut on
 * the reader's thread, mostly as views. So a feed's position is that of the share in whole batches
 * and a few numbers, whatever the number of replicas, and what several feeds have not read yet can
 * be dealt out to another number of them: the state of n workers is restored on m. One thread at a
 * time, cancel excepted. */
#ifndef LEATI_DIST_FEED_H
#define LEATI_DIST_FEED_H

#include "base/bytes.h"
#include "dist/planner.h"

typedef struct leati_feed leati_feed;

/* The dataset of a place: its share of the user's dataset, ready to be iterated. Owned. */
typedef leat_dataset *(*leati_share_maker)(void *context, const leati_feed_place *place,
                                           leat_error *err);

typedef struct leati_feed_options {
    const leati_split_plan *plan; /* of the feed's place; borrowed, its spec is referenced */
    leati_share_maker make;       /* called for other places, too, when a state is restored */
    void *context;                /* borrowed for the feed's life */
    leat_iterator_options iterator;
} leati_feed_options;

leati_feed *leati_feed_new(const leati_feed_options *options, leat_error *err);
void leati_feed_free(leati_feed *feed);
/* From any thread. */
void leati_feed_cancel(leati_feed *feed);

/* What the next replica receives: element k of a feed is for its replica k mod replicas.
 * OUT_OF_RANGE at the end; another failure ends its own place alone. */
LEAT_WARN_UNUSED leat_status leati_feed_next(leati_feed *feed, leat_element *out, leat_error *err);
/* After a failure: gives up what belongs to the step that failed and to no other one. */
void leati_feed_next_step(leati_feed *feed);

/* How many steps the feed has for its replicas; -1: that is not known, as after restoring. */
int64_t leati_feed_steps(const leati_feed *feed);

/* Appends the feed's position. `options` may be NULL; what it costs is added to `report`. */
LEAT_WARN_UNUSED leat_status leati_feed_save(leati_feed *feed,
                                             const leat_iterator_save_options *options,
                                             leati_writer *out, leat_iterator_save_report *report,
                                             leat_error *err);
/* What a feed saved. */
typedef struct leati_feed_part {
    const void *data; /* borrowed for the call */
    size_t size;
} leati_feed_part;
/* Brings a fresh feed to its part of what `count` feeds had not read when they were saved: its own
 * position where there were as many, with as many replicas; the position of all where they read the
 * same; otherwise the rows that they left, dealt out evenly, none twice. FAILED_PRECONDITION where
 * the dataset or its distribution is another one. */
LEAT_WARN_UNUSED leat_status leati_feed_restore(leati_feed *feed, const leati_feed_part *parts,
                                                int count, leat_error *err);

/* The one iterator that a feed reads; NULL where it reads several, because it was restored so.
 * Borrowed. */
leat_iterator *leati_feed_iterator(leati_feed *feed);
/* The slowest stage of what the feed reads, in a few words; may be empty. From any thread. */
void leati_feed_slowest(leati_feed *feed, char *text, size_t size);
/* As leat_iterator_explain, for all iterators of the feed. */
char *leati_feed_explain(const leati_feed *feed, leat_error *err);

#endif
