/* Saving feeds, and dealing out what they have left; see feed.h.
 *
 * A feed's state is its place, its position in the present element and the state of its source: an
 * iterator's, or those of the remainders that it was restored from. Restoring n states on m feeds
 * takes one of three ways. With the same place the position is taken over. Where every feed reads
 * the whole dataset and takes its pieces of it (DATA), all are at the same element between two
 * steps: one state does for all. Else feed k of n stands for units [k * m, (k + 1) * m) and feed j
 * of m reads units [j * n, (j + 1) * n): what belongs to whom follows from n, m and j alone, so no
 * feed asks another. Failures: DATA_LOSS for bytes that are no state, FAILED_PRECONDITION where the
 * dataset was distributed otherwise. Locks: the feed's, to replace its source. */
#include "base/text.h"
#include "dist/feed_parts.h"
#include <string.h>

enum { MOST_DEPTH = 64, MOST_PARTS = 1 << 20, PLAIN = 0, MERGED = 1 };

/* ---- writing ---- */

/* How states are saved, and what that costs so far. */
struct saving {
    const leat_iterator_save_options *options;
    leat_save_report *report;
};

static leat_status put_iterator(leat_iterator *iterator, const struct saving *saving,
                                leati_writer *out, leat_error *err) {
    char *data = NULL;
    size_t size = 0;
    leat_save_report report = {0};
    leat_status status =
        leat_iterator_save_with(iterator, saving->options, &data, &size, &report, err);
    if (status == LEAT_OK) {
        leati_put_bytes(out, data, size);
        saving->report->bytes += size;
        saving->report->replay_elements += report.replay_elements;
        saving->report->data_elements += report.data_elements;
    }
    leat_text_free(data);
    return status;
}

static leat_status put_merge(leati_merge *merge, const struct saving *saving, leati_writer *out,
                             leat_error *err) {
    leat_status status = LEAT_OK;
    leati_put_int(out, merge->count);
    leati_put_int(out, merge->at);
    leati_put_int(out, merge->units);
    for (int i = 0; i < merge->count && status == LEAT_OK; i++) {
        leati_remainder *r = &merge->remainders[i];
        leati_put_int(out, r->begin);
        leati_put_int(out, r->end);
        leati_put_int(out, r->ordinal);
        leati_put_uint(out, r->ended);
        status = leati_feed_save(r->feed, saving->options, out, saving->report, err);
    }
    return status;
}

leat_status leati_feed_save(leati_feed *feed, const leat_iterator_save_options *options,
                            leati_writer *out, leat_save_report *report, leat_error *err) {
    struct saving saving = {.options = options, .report = report};
    const int64_t numbers[] = {feed->place.num_workers,
                               feed->place.worker,
                               feed->place.replicas,
                               feed->rule,
                               feed->policy,
                               feed->as_is,
                               feed->index,
                               feed->offset,
                               feed->piece,
                               feed->ended};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        leati_put_int(out, numbers[i]);
    }
    leati_put_uint(out, feed->source.iterator != NULL ? PLAIN : MERGED);
    leat_status status = feed->source.iterator != NULL
                             ? put_iterator(feed->source.iterator, &saving, out, err)
                             : put_merge(feed->source.merge, &saving, out, err);
    return status == LEAT_OK && out->failed ? leati_no_memory(err, out->size) : status;
}

/* ---- reading ---- */

static leat_status get_numbers(leati_reader *in, int64_t *numbers, size_t count, leat_error *err) {
    leat_status status = LEAT_OK;
    for (size_t i = 0; i < count && status == LEAT_OK; i++) {
        status = leati_get_int(in, &numbers[i], err);
    }
    return status;
}

static leat_status damaged(leat_error *err) {
    return leati_fail(err, LEAT_DATA_LOSS,
                      "the state of a distributed iterator is damaged; restore an earlier one");
}

/* A saved feed as it was, with its source. Owned. */
static leati_feed *get_feed(const leati_feed *like, leati_reader *in, int depth, leat_error *err);

static leat_status get_iterator(leati_feed *feed, leati_reader *in, leat_error *err) {
    const void *data = NULL;
    size_t size = 0;
    leat_status status = leati_get_bytes(in, &data, &size, err);
    if (status == LEAT_OK) {
        status = leati_feed_open(feed, err);
    }
    if (status == LEAT_OK) {
        status = leat_iterator_restore(feed->source.iterator, data, size, err);
    }
    return status;
}

static leat_status get_remainder(const leati_feed *like, leati_merge *merge, leati_remainder *r,
                                 leati_reader *in, int depth, leat_error *err) {
    int64_t numbers[3];
    uint64_t ended = 0;
    leat_status status = get_numbers(in, numbers, 3, err);
    if (status == LEAT_OK) {
        status = leati_get_uint(in, &ended, err);
    }
    if (status != LEAT_OK) {
        return status;
    }
    r->begin = numbers[0];
    r->end = numbers[1];
    r->ordinal = numbers[2];
    r->ended = ended != 0;
    if (r->begin < 0 || r->end < r->begin || r->end > merge->units || r->ordinal < 0) {
        return damaged(err);
    }
    r->feed = get_feed(like, in, depth + 1, err);
    return r->feed == NULL ? err->code : LEAT_OK;
}

static leati_merge *new_merge(int count, int64_t units, leat_error *err) {
    leati_merge *merge = leati_alloc_zero(1, sizeof(*merge));
    leati_remainder *remainders = leati_alloc_zero((size_t)count, sizeof(*remainders));
    if (merge == NULL || remainders == NULL) {
        leati_free(merge);
        leati_free(remainders);
        leati_no_memory(err, (size_t)count * sizeof(*remainders));
        return NULL;
    }
    merge->remainders = remainders;
    merge->count = count;
    merge->units = units;
    return merge;
}

/* The spec of elements is that of any remainder. */
static leat_status take_leaves(leati_feed *feed, leat_error *err) {
    const leati_feed *first = feed->source.merge->remainders[0].feed;
    leati_leaves_fini(&feed->leaves);
    leat_spec_unref(feed->whole);
    feed->whole = leat_spec_ref(first->whole);
    feed->cardinality = LEAT_UNKNOWN_CARDINALITY;
    return leati_leaves_init(&feed->leaves, feed->whole, err);
}

static leat_status get_merge(leati_feed *feed, leati_reader *in, int depth, leat_error *err) {
    int64_t numbers[3];
    leat_status status = get_numbers(in, numbers, 3, err);
    if (status != LEAT_OK) {
        return status;
    }
    if (numbers[0] < 1 || numbers[0] > MOST_PARTS || numbers[1] < 0 || numbers[1] >= numbers[0] ||
        numbers[2] < 1 || numbers[2] > MOST_PARTS || depth > MOST_DEPTH) {
        return damaged(err);
    }
    leati_merge *merge = new_merge((int)numbers[0], numbers[2], err);
    if (merge == NULL) {
        return LEAT_RESOURCE_EXHAUSTED;
    }
    feed->source.merge = merge;
    merge->at = (int)numbers[1];
    for (int i = 0; i < merge->count && status == LEAT_OK; i++) {
        status = get_remainder(feed, merge, &merge->remainders[i], in, depth, err);
    }
    return status == LEAT_OK ? take_leaves(feed, err) : status;
}

/* Are the numbers of a feed possible? */
static bool is_possible(const int64_t *n) {
    bool bounded = n[0] >= 1 && n[0] <= MOST_PARTS && n[1] >= 0 && n[1] < n[0] && n[2] >= 1 &&
                   n[2] <= MOST_PARTS && n[3] >= LEATI_REBATCH_NONE && n[3] <= LEATI_REBATCH_PIECES;
    int64_t all = bounded ? n[0] * n[2] : 0;
    return bounded && n[4] >= 0 && n[4] <= LEAT_SHARD_OFF && all <= MOST_PARTS && n[6] >= 0 &&
           n[6] < all && n[7] >= 0 && n[8] >= 0 && n[8] < all;
}

static leati_feed *get_feed(const leati_feed *like, leati_reader *in, int depth, leat_error *err) {
    static const char *const names[] = {"AUTO", "FILE", "DATA", "HINT", "OFF"};
    int64_t n[10];
    uint64_t kind = 0;
    leat_status status = get_numbers(in, n, 10, err);
    if (status == LEAT_OK) {
        status = leati_get_uint(in, &kind, err);
    }
    if (status != LEAT_OK || !is_possible(n) || kind > MERGED) {
        if (status == LEAT_OK) {
            damaged(err);
        }
        return NULL;
    }
    if (n[4] != (int64_t)like->policy || (n[5] != 0) != like->as_is) {
        leati_fail(err, LEAT_FAILED_PRECONDITION,
                   "the state was saved with the autoshard policy %s%s, this dataset has %s%s; "
                   "distribute it in the same way",
                   names[n[4]], n[5] != 0 ? " by a dataset function" : "", names[like->policy],
                   like->as_is ? " by a dataset function" : "");
        return NULL;
    }
    leati_place place = {.num_workers = (int)n[0], .worker = (int)n[1], .replicas = (int)n[2]};
    leati_rebatch_rule rule = (leati_rebatch_rule)n[3];
    leati_feed *feed = leati_feed_at(like, &place, rule, err);
    if (feed == NULL) {
        return NULL;
    }
    feed->index = n[6];
    feed->offset = n[7];
    feed->piece = n[8];
    feed->ended = n[9] != 0;
    status = kind == PLAIN ? get_iterator(feed, in, err) : get_merge(feed, in, depth, err);
    if (status != LEAT_OK) {
        leati_feed_free(feed);
        return NULL;
    }
    return feed;
}

static leati_feed *read_part(const leati_feed *like, const leati_feed_part *part, leat_error *err) {
    leati_reader in = {.data = part->data, .size = part->size};
    return get_feed(like, &in, 0, err);
}

/* ---- dealing out ---- */

static bool same_place(const leati_place *a, const leati_place *b) {
    return a->num_workers == b->num_workers && a->worker == b->worker && a->replicas == b->replicas;
}

/* Takes over the source of `from`. */
static void adopt(leati_feed *feed, leati_feed *from) {
    pthread_mutex_lock(&feed->lock);
    leati_source old = feed->source;
    feed->source = from->source;
    from->source = (leati_source){0};
    if (feed->cancelled) {
        leati_source_cancel(&feed->source);
    }
    pthread_mutex_unlock(&feed->lock);
    leati_source_close(&old);
    feed->restored = true;
    feed->rows = -1;
}

/* The position of one feed for all: each has taken its pieces of whole elements. */
static leat_status take_common(leati_feed *feed, leati_feed *saved, leat_error *err) {
    if (saved->piece != leati_feed_first_piece(saved)) {
        return leati_fail(err, LEAT_FAILED_PRECONDITION,
                          "the state was saved in the middle of a step; save between steps");
    }
    adopt(feed, saved);
    return LEAT_OK;
}

static leat_status merge_parts(leati_feed *feed, const leati_feed_part *parts, int count,
                               leat_error *err) {
    int64_t m = feed->place.num_workers, n = count, j = feed->place.worker;
    int first = (int)(j * n / m), last = (int)(((j + 1) * n - 1) / m);
    leati_feed whole = {0};
    leat_status status = LEAT_OK;
    leati_merge *merge = new_merge(last - first + 1, m, err);
    if (merge == NULL) {
        return LEAT_RESOURCE_EXHAUSTED;
    }
    for (int i = 0; i < merge->count && status == LEAT_OK; i++) {
        leati_remainder *r = &merge->remainders[i];
        int64_t k = first + i, begin = j * n - k * m, end = (j + 1) * n - k * m;
        r->begin = begin > 0 ? begin : 0;
        r->end = end < m ? end : m;
        r->feed = read_part(feed, &parts[k], err);
        status = r->feed == NULL ? err->code : LEAT_OK;
    }
    whole.source.merge = merge;
    if (status == LEAT_OK) {
        adopt(feed, &whole);
        status = take_leaves(feed, err);
    }
    leati_source_close(&whole.source);
    return status;
}

leat_status leati_feed_restore(leati_feed *feed, const leati_feed_part *parts, int count,
                               leat_error *err) {
    leat_error local = {0};
    int own = feed->place.worker < count ? feed->place.worker : 0;
    leati_feed *saved = count < 1 ? NULL : read_part(feed, &parts[own], &local);
    if (saved == NULL) {
        return count < 1 ? damaged(err) : leati_fail(err, local.code, "%s", local.text);
    }
    leat_status status = LEAT_OK;
    if (saved->place.num_workers != count) {
        status = damaged(&local);
    } else if (same_place(&saved->place, &feed->place) && saved->rule == feed->rule) {
        feed->index = saved->index;
        feed->offset = saved->offset;
        feed->piece = saved->piece;
        feed->ended = saved->ended;
        adopt(feed, saved);
        status = feed->source.merge != NULL ? take_leaves(feed, &local) : LEAT_OK;
    } else if (feed->policy == LEAT_SHARD_DATA && !feed->as_is) {
        status = take_common(feed, saved, &local);
    } else {
        status = merge_parts(feed, parts, count, &local);
    }
    leati_feed_free(saved);
    return status == LEAT_OK ? LEAT_OK : leati_fail(err, status, "%s", local.text);
}

char *leati_feed_explain(const leati_feed *feed, leat_error *err) {
    if (feed->source.iterator != NULL) {
        return leat_iterator_explain(feed->source.iterator, err);
    }
    const leati_merge *merge = feed->source.merge;
    leati_text text = {0};
    for (int i = 0; i < merge->count; i++) {
        const leati_feed *from = merge->remainders[i].feed;
        char *table = leati_feed_explain(from, err);
        if (table == NULL) {
            leati_text_fini(&text);
            return NULL;
        }
        leati_text_addf(&text, "what pipeline %d of %d left:\n%s", from->place.worker,
                        from->place.num_workers, table);
        leat_text_free(table);
    }
    char *all = leati_text_take(&text);
    if (all == NULL) {
        leati_no_memory(err, 1);
    }
    return all;
}
