/* Cutting a feed's elements for replicas; see feed.h.
 *
 * Happy path: the present element is looked at, rows are cut off it as views, and it is consumed
 * with its last row; a piece of several elements is joined by copying. Failures: an element that
 * fails ends its place; rows gathered before it for the same piece are lost with it, as in
 * TensorFlow's kernel. Locks: `lock`, a leaf but for cancelling an iterator and for asking it where
 * its time goes. */
#include "base/minmax.h"
#include "data/run/apply.h"
#include "dist/feed_parts.h"
#include <string.h>

int64_t leati_feed_first_piece(const leati_feed *feed) {
    return feed->plan.policy == LEAT_SHARD_DATA ? feed->plan.place.worker : 0;
}

static int64_t piece_step(const leati_feed *feed) {
    return feed->plan.policy == LEAT_SHARD_DATA ? feed->plan.place.num_workers : 1;
}

/* ---- life ---- */

/* A feed with a plan, whose spec gets a reference, and without a source. Owned. */
static leati_feed *new_feed(const leati_feed_plan *plan, leat_error *err) {
    leati_feed *feed = leati_alloc_zero(1, sizeof(*feed));
    if (feed == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    pthread_mutex_init(&feed->lock, NULL);
    feed->plan = *plan;
    leat_spec_ref(plan->spec);
    feed->position.piece = leati_feed_first_piece(feed);
    feed->rows = -1;
    if (plan->rule != LEATI_REBATCH_SIZES)
        return feed;
    const leati_feed_place *place = &plan->place;
    size_t all = (size_t)leati_planner_all_replicas(place);
    feed->sizes = leati_alloc_zero(all, sizeof(*feed->sizes));
    if (feed->sizes == NULL) {
        leati_no_memory(err);
        leati_feed_free(feed);
        return NULL;
    }
    /* Each worker begins at another place of the same list, so that remainders are spread. */
    leati_planner_batch_sizes(plan->global_batch, place->num_workers, place->replicas,
                              place->worker, feed->sizes);
    return feed;
}

leati_feed *leati_feed_at(const leati_feed *like, const leati_feed_place *place,
                          leati_rebatch_rule rule, leat_error *err) {
    leati_feed_plan plan = like->plan;
    plan.place = *place;
    plan.rule = rule;
    return new_feed(&plan, err);
}

leat_status leati_feed_open(leati_feed *feed, const leati_feed_place *place, leat_error *err) {
    leat_error local = {0};
    leat_dataset *share = feed->plan.make(feed->plan.context, place, &local);
    if (share == NULL)
        return leati_error_pass(err, &local);
    feed->share.cardinality = share->cardinality;
    /* A feed that is restored opens a second time; leaves borrow from `whole`, so they go first. */
    leati_leaves_fini(&feed->share.leaves);
    leat_spec_unref(feed->share.whole);
    feed->share.whole = leat_spec_ref(share->spec);
    leat_status status = leati_leaves_init(&feed->share.leaves, share->spec, &local);
    leat_iterator *iterator = NULL;
    if (status == LEAT_OK) {
        iterator = leat_iterator_new(share, &feed->plan.iterator, &local);
        status = iterator == NULL ? local.code : LEAT_OK;
    }
    leat_dataset_unref(share);
    if (status != LEAT_OK)
        return leati_error_pass(err, &local);
    /* Elsewhere a step takes whole elements. */
    if (feed->plan.rule == LEATI_REBATCH_SIZES ||
        (feed->plan.rule == LEATI_REBATCH_PIECES && feed->plan.policy != LEAT_SHARD_DATA))
        leati_iterator_keep_places(iterator);
    feed->source = (leati_source){.iterator = iterator, .place = *place};
    return LEAT_OK;
}

leati_feed *leati_feed_new(const leati_feed_options *options, leat_error *err) {
    const leati_split_plan *split = options->plan;
    const leati_feed_plan plan = {.place = split->place,
                                  .rule = split->rule,
                                  .policy = split->policy,
                                  .as_is = split->as_is,
                                  .global_batch = split->global_batch,
                                  .spec = split->spec,
                                  .make = options->make,
                                  .context = options->context,
                                  .iterator = options->iterator};
    leati_feed *feed = new_feed(&plan, err);
    if (feed != NULL && leati_feed_open(feed, &feed->plan.place, err) != LEAT_OK) {
        leati_feed_free(feed);
        return NULL;
    }
    return feed;
}

void leati_feed_free(leati_feed *feed) {
    if (feed == NULL)
        return;
    leati_feed_source_close(&feed->source);
    leati_rows_pieces_fini(&feed->pieces);
    leati_block_fini(&feed->block);
    leati_leaves_fini(&feed->share.leaves);
    leat_spec_unref(feed->plan.spec);
    leat_spec_unref(feed->share.whole);
    leati_free(feed->sizes);
    pthread_mutex_destroy(&feed->lock);
    leati_free(feed);
}

void leati_feed_cancel(leati_feed *feed) {
    pthread_mutex_lock(&feed->lock);
    /* Kept, because restoring may put a new source in place of the one that is cancelled now. */
    feed->cancelled = true;
    leati_feed_source_cancel(&feed->source);
    pthread_mutex_unlock(&feed->lock);
}

/* ---- elements ---- */

leat_status leati_feed_peek(leati_feed *feed, const leati_block **block, int64_t *row,
                            leat_error *err) {
    int64_t available = 0;
    leat_error local = {0};
    if (feed->source.iterator == NULL)
        return leati_feed_merge_peek(feed->source.merge, block, row, err);
    leat_status status = leati_iterator_ready(feed->source.iterator, &available, &local);
    if (status == LEAT_OK) {
        *block = leati_iterator_block(feed->source.iterator, row);
        return LEAT_OK;
    }
    /* An operator's own OUT_OF_RANGE must not be taken for the end of the data. */
    if (status == LEAT_OUT_OF_RANGE && !leati_error_is_end(&local))
        leati_apply_as_internal("an element", &local);
    return leati_error_pass(err, &local);
}

void leati_feed_consume(leati_feed *feed) {
    if (feed->source.iterator != NULL)
        leati_iterator_consume(feed->source.iterator, 1);
    else
        leati_feed_merge_consume(feed->source.merge);
    feed->position.offset = 0;
    feed->rows = -1;
    feed->position.piece = leati_feed_first_piece(feed);
}

/* The one element of feed->block. */
static leat_status give(leati_feed *feed, leat_element *out, leat_error *err) {
    leat_status status = leati_block_element(&feed->block, feed->plan.spec, 0, out, err);
    leati_block_clear(&feed->block);
    return status;
}

static leat_status next_whole(leati_feed *feed, leat_element *out, leat_error *err) {
    const leati_block *block = NULL;
    int64_t row = 0;
    leat_status status = leati_feed_peek(feed, &block, &row, err);
    if (status == LEAT_OK)
        status = leati_block_element(block, feed->plan.spec, row, out, err);
    if (status == LEAT_OK)
        leati_feed_consume(feed);
    return status;
}

static leat_status next_piece(leati_feed *feed, leat_element *out, leat_error *err) {
    const leati_block *block = NULL;
    int64_t row = 0, all = leati_planner_all_replicas(&feed->plan.place);
    leat_status status = leati_feed_peek(feed, &block, &row, err);
    if (status != LEAT_OK)
        return status;
    leati_rows_piece piece = {.number = feed->position.piece, .pieces = all};
    bool refused = false;
    status = leati_rows_cut_part(&feed->share.leaves, block, row, leati_rows_piece_range, &piece,
                                 &refused, &feed->block, err);
    if (status != LEAT_OK)
        leati_prefix(err, "a batch for %lld replicas", (long long)all);
    /* A piece that is refused for having no rows fails alone; any other failure ends the
     * element. */
    feed->position.piece =
        status == LEAT_OK || refused ? feed->position.piece + piece_step(feed) : all;
    if (feed->position.piece >= all)
        leati_feed_consume(feed);
    return status == LEAT_OK ? give(feed, out, err) : status;
}

/* Adds up to `size` rows of the present element; *rows counts them. */
static leat_status gather(leati_feed *feed, int64_t size, int64_t *rows, leat_error *err) {
    const leati_block *block = NULL;
    int64_t row = 0;
    leat_status status = leati_feed_peek(feed, &block, &row, err);
    if (status != LEAT_OK)
        return status;
    /* Counting rows of a ragged leaf checks all its splits: once per element, not per replica. */
    if (feed->rows < 0) {
        status = leati_leaves_rows(&feed->share.leaves, block, row, &feed->rows, err);
        if (status != LEAT_OK) {
            leati_prefix(err, "a batch for %d replicas",
                         leati_planner_all_replicas(&feed->plan.place));
            leati_feed_consume(feed);
            return status;
        }
    }
    int64_t left = feed->rows - feed->position.offset, n = LEATI_MIN(left, size - *rows);
    /* An element without rows adds nothing and is passed. */
    if (n > 0) {
        status = leati_rows_pieces_add(&feed->pieces, &feed->share.leaves, block, row,
                                       feed->position.offset, n, err);
    }
    if (status == LEAT_OK) {
        *rows += n;
        feed->position.offset += n;
        if (feed->position.offset >= feed->rows)
            leati_feed_consume(feed);
    }
    return status;
}

static leat_status without_rows(leati_feed *feed, leat_element *out, leat_error *err) {
    leat_status status = LEAT_OK;
    for (int l = 0; l < feed->share.leaves.count && status == LEAT_OK; l++)
        status = leati_leaves_check_empty("a batch", &feed->share.leaves.items[l], err);
    if (status == LEAT_OK)
        status = leati_rows_empty_element(feed->plan.spec, &feed->block, err);
    return status == LEAT_OK ? give(feed, out, err) : status;
}

/* As TensorFlow's kernel: a size of 0 gives an element without rows as long as the end has not been
 * seen, also before the first row. */
static leat_status next_size(leati_feed *feed, leat_element *out, leat_error *err) {
    int64_t size = feed->sizes[feed->position.index], rows = 0, present = feed->position.index;
    leat_status status = LEAT_OK;
    feed->position.index =
        (feed->position.index + 1) % leati_planner_all_replicas(&feed->plan.place);
    if (size == 0)
        return feed->position.ended ? leati_fail_end(err) : without_rows(feed, out, err);
    while (status == LEAT_OK && rows < size)
        status = gather(feed, size, &rows, err);
    /* The rows gathered before the end are a last, smaller piece. */
    feed->position.ended = status == LEAT_OUT_OF_RANGE;
    if ((status != LEAT_OK && !feed->position.ended) || rows == 0) {
        leati_rows_pieces_clear(&feed->pieces);
        /* A piece that failed is tried again: the next call takes the same size. */
        feed->position.index = feed->position.ended ? feed->position.index : present;
        return status;
    }
    status = leati_rows_pieces_join(&feed->pieces, &feed->share.leaves, &feed->block, err);
    return status == LEAT_OK ? give(feed, out, err) : status;
}

leat_status leati_feed_next(leati_feed *feed, leat_element *out, leat_error *err) {
    switch (feed->plan.rule) {
    case LEATI_REBATCH_SIZES: return next_size(feed, out, err);
    case LEATI_REBATCH_PIECES: return next_piece(feed, out, err);
    default: return next_whole(feed, out, err);
    }
}

void leati_feed_next_step(leati_feed *feed) {
    if (feed->plan.rule == LEATI_REBATCH_PIECES && feed->plan.policy == LEAT_SHARD_DATA &&
        feed->position.piece != leati_feed_first_piece(feed))
        leati_feed_consume(feed);
}

int64_t leati_feed_steps(const leati_feed *feed) {
    int64_t n = feed->share.cardinality, steps = 0;
    /* By sizes, steps depend on the rows of all batches, which nobody has counted. */
    if (feed->restored || n < 0 || feed->plan.rule == LEATI_REBATCH_SIZES)
        return -1;
    if (feed->plan.rule == LEATI_REBATCH_NONE)
        return n / feed->plan.place.replicas + (n % feed->plan.place.replicas > 0);
    /* An element's pieces serve one step of all replicas, or of this worker's ones in turn. */
    return feed->plan.policy == LEAT_SHARD_DATA                              ? n
           : __builtin_mul_overflow(n, feed->plan.place.num_workers, &steps) ? -1
                                                                             : steps;
}

void leati_feed_slowest(leati_feed *feed, char *text, size_t size) {
    text[0] = '\0';
    pthread_mutex_lock(&feed->lock);
    const leati_merge *merge = feed->source.merge;
    if (feed->source.iterator != NULL) {
        leati_iterator_slowest(feed->source.iterator, text, size);
    } else if (merge != NULL && merge->count > 0) {
        /* Read in turns, so that one is like the others. */
        leati_feed_slowest(merge->remainders[0].feed, text, size);
    }
    pthread_mutex_unlock(&feed->lock);
}

leat_iterator *leati_feed_iterator(leati_feed *feed) {
    return feed->source.iterator;
}
