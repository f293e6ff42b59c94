/* Saving feeds, and dealing out what they have left; see feed.h.
 *
 * A feed's state is its place, its position in the present element and the state of its source: an
 * iterator's, or those of the remainders that it was restored from. Restoring n states on m feeds
 * takes one of three ways. With the same place the position is taken over. Where every feed reads
 * the whole dataset and takes its pieces of it (DATA), all are at the same element between two
 * steps: one state does for all. Else what all states have left is a list of T remainders, in the
 * order of the feeds. If T is m or more, remainder i goes to feed i * m / T as a whole. If not,
 * remainder k stands for units [k * m, (k + 1) * m) and feed j reads units [j * T, (j + 1) * T): so
 * a list never grows beyond 2 m by being shared out again and again. What belongs to whom follows
 * from the states and m alone, so no feed asks another. Failures: DATA_LOSS for bytes that are no
 * state, FAILED_PRECONDITION where the dataset was distributed otherwise. Locks: the feed's, to
 * replace its source. */
#include "base/text.h"
#include "dist/feed_parts.h"
#include <string.h>

enum {
    MOST_PARTS = 1 << 20,
    MOST_CUTS = 1000,
    PLACE_NUMBERS = 3,
    POSITION_NUMBERS = 5,
    CUT_NUMBERS = 6,
    PLAIN = 0,
    MERGED = 1
};

/* What is saved of a feed beside its source: whose it is, how it cuts elements, and where it stands
 * in the present one. */
struct record {
    leati_feed_place place;
    leati_rebatch_rule rule;
    leat_auto_shard_policy policy;
    bool as_is;
    leati_feed_position position;
};

/* ---- writing ---- */

static void put_numbers(leati_writer *out, const int64_t *numbers, int count) {
    for (int i = 0; i < count; i++)
        leati_put_int(out, numbers[i]);
}

static void put_name(leati_writer *out, const char *name) {
    leati_put_bytes(out, name, strlen(name));
}

static void put_place(leati_writer *out, const leati_feed_place *place) {
    put_numbers(out,
                (const int64_t[PLACE_NUMBERS]){place->num_workers, place->worker, place->replicas},
                PLACE_NUMBERS);
}

static void put_record(leati_writer *out, const leati_feed *feed) {
    put_place(out, &feed->plan.place);
    /* By name: states outlive the numbers of an enumeration. */
    put_name(out, leati_planner_rule_name(feed->plan.rule));
    put_name(out, leati_planner_policy_name(feed->plan.policy));
    put_numbers(out,
                (const int64_t[POSITION_NUMBERS]){feed->plan.as_is, feed->position.index,
                                                  feed->position.offset, feed->position.piece,
                                                  feed->position.ended},
                POSITION_NUMBERS);
}

/* How states are saved, and what that costs so far. */
struct saving {
    const leat_iterator_save_options *options;
    leat_iterator_save_report *report;
};

static leat_status put_iterator(const leati_source *source, const struct saving *saving,
                                leati_writer *out, leat_error *err) {
    char *data = NULL;
    size_t size = 0;
    leat_iterator_save_report report = {0};
    put_place(out, &source->place);
    leat_status status =
        leat_iterator_save_with(source->iterator, saving->options, &data, &size, &report, err);
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
    for (int i = 0; i < merge->count && status == LEAT_OK; i++) {
        leati_remainder *r = &merge->remainders[i];
        leati_put_int(out, r->ordinal);
        leati_put_int(out, r->ended);
        leati_put_int(out, r->num_cuts);
        for (int c = 0; c < r->num_cuts; c++) {
            put_numbers(out,
                        (const int64_t[CUT_NUMBERS]){r->cuts[c].begin, r->cuts[c].end,
                                                     r->cuts[c].units, r->cuts[c].offset,
                                                     r->cuts[c].piece, r->cuts[c].pieces},
                        CUT_NUMBERS);
        }
        /* One level deep: a remainder's feed reads an iterator, never remainders. */
        status = leati_feed_save(r->feed, saving->options, out, saving->report, err);
    }
    return status;
}

leat_status leati_feed_save(leati_feed *feed, const leat_iterator_save_options *options,
                            leati_writer *out, leat_iterator_save_report *report, leat_error *err) {
    struct saving saving = {.options = options, .report = report};
    put_record(out, feed);
    leati_put_uint(out, feed->source.iterator != NULL ? PLAIN : MERGED);
    leat_status status = feed->source.iterator != NULL
                             ? put_iterator(&feed->source, &saving, out, err)
                             : put_merge(feed->source.merge, &saving, out, err);
    return status == LEAT_OK && out->failed ? leati_no_memory(err) : status;
}

/* ---- reading ---- */

/* A feed that reads an iterator, as it was saved, with the place whose share that reads; `state`
 * points into the part. */
struct saved_leaf {
    struct record record;
    leati_feed_place share;
    const void *state;
    size_t size;
    int64_t ordinal, ended, num_cuts;
    leati_cut *cuts; /* owned */
};

/* A feed as it was saved. */
struct saved_feed {
    struct record record;
    bool merged;
    int64_t at;
    struct saved_leaf *leaves; /* owned; a plain feed has one, with its own record */
    int64_t count;
};

static void saved_fini(struct saved_feed *saved) {
    for (int64_t i = 0; saved->leaves != NULL && i < saved->count; i++)
        leati_free(saved->leaves[i].cuts);
    leati_free(saved->leaves);
    *saved = (struct saved_feed){0};
}

static leat_status damaged(leat_error *err) {
    return leati_fail(err, LEAT_DATA_LOSS,
                      "the state of a distributed iterator is damaged; restore an earlier one");
}

static leat_status get_numbers(leati_reader *in, int64_t *numbers, int count, leat_error *err) {
    leat_status status = LEAT_OK;
    for (int i = 0; i < count && status == LEAT_OK; i++)
        status = leati_get_int(in, &numbers[i], err);
    return status;
}

/* A place that can be: at most MOST_PARTS replicas in all. */
static leat_status get_place(leati_reader *in, leati_feed_place *place, leat_error *err) {
    int64_t workers, worker, replicas, n[PLACE_NUMBERS] = {0};
    leat_status status = get_numbers(in, n, PLACE_NUMBERS, err);
    workers = n[0], worker = n[1], replicas = n[2];
    if (status != LEAT_OK || workers < 1 || workers > MOST_PARTS || worker < 0 ||
        worker >= workers || replicas < 1 || replicas > MOST_PARTS / workers)
        return damaged(err);
    *place = (leati_feed_place){
        .num_workers = (int)workers, .worker = (int)worker, .replicas = (int)replicas};
    return LEAT_OK;
}

/* The number of a name, of which there are `count`. */
static leat_status get_name(leati_reader *in, const char *(*name_of)(int), int count, int *number,
                            leat_error *err) {
    const void *name = NULL;
    size_t size = 0;
    leat_status status = leati_get_bytes(in, &name, &size, err);
    for (*number = 0; status == LEAT_OK && *number < count; (*number)++) {
        const char *known = name_of(*number);
        if (strlen(known) == size && memcmp(known, name, size) == 0)
            return LEAT_OK;
    }
    return damaged(err);
}

static leat_status get_position(leati_reader *in, struct record *record, leat_error *err) {
    int64_t n[POSITION_NUMBERS] = {0}, all = leati_planner_all_replicas(&record->place);
    leat_status status = get_numbers(in, n, POSITION_NUMBERS, err);
    record->as_is = n[0] != 0;
    const leati_feed_position *position = &record->position;
    record->position =
        (leati_feed_position){.index = n[1], .offset = n[2], .piece = n[3], .ended = n[4] != 0};
    /* They are used as indices and bounds before anything else could find them wrong. */
    bool possible = position->index >= 0 && position->index < all && position->offset >= 0 &&
                    position->piece >= 0 && position->piece < all;
    return status == LEAT_OK && possible ? LEAT_OK : damaged(err);
}

static leat_status get_record(const leati_feed *like, leati_reader *in, struct record *record,
                              uint64_t *kind, leat_error *err) {
    int rule = 0, policy = 0;
    leat_status status = get_place(in, &record->place, err);
    if (status == LEAT_OK)
        status = get_name(in, leati_planner_rule_name, LEATI_REBATCH_PIECES + 1, &rule, err);
    if (status == LEAT_OK)
        status = get_name(in, leati_planner_policy_name, LEAT_SHARD_OFF + 1, &policy, err);
    if (status == LEAT_OK)
        status = get_position(in, record, err);
    if (status != LEAT_OK || leati_get_uint(in, kind, err) != LEAT_OK || *kind > MERGED)
        return damaged(err);
    record->rule = (leati_rebatch_rule)rule;
    record->policy = (leat_auto_shard_policy)policy;
    /* The rule may differ: it follows from the number of replicas, which may have changed. */
    if (record->policy == like->plan.policy && record->as_is == like->plan.as_is)
        return LEAT_OK;
    return leati_fail(err, LEAT_FAILED_PRECONDITION,
                      "the state was saved with the autoshard policy %s%s, this dataset has %s%s; "
                      "distribute it in the same way",
                      leati_planner_policy_name(policy),
                      record->as_is ? " by a dataset function" : "",
                      leati_planner_policy_name(like->plan.policy),
                      like->plan.as_is ? " by a dataset function" : "");
}

static leat_status get_cuts(struct saved_leaf *leaf, leati_reader *in, leat_error *err) {
    int64_t n[3];
    leat_status status = get_numbers(in, n, 3, err);
    if (status != LEAT_OK || n[0] < 0 || n[1] < 0 || n[1] > 1 || n[2] < 0 || n[2] > MOST_CUTS)
        return damaged(err);
    leaf->ordinal = n[0];
    leaf->ended = n[1];
    leaf->cuts = leati_alloc_zero((size_t)n[2] + 1, sizeof(*leaf->cuts));
    if (leaf->cuts == NULL)
        return leati_no_memory(err);
    leaf->num_cuts = n[2];
    for (int64_t c = 0; c < leaf->num_cuts; c++) {
        int64_t of[CUT_NUMBERS];
        status = get_numbers(in, of, CUT_NUMBERS, err);
        if (status != LEAT_OK || of[0] < 0 || of[1] < of[0] || of[2] < 1 || of[1] > of[2] ||
            of[2] > MOST_PARTS || of[3] < 0 || of[4] < 0 || of[5] < 0 || of[5] > MOST_PARTS)
            return damaged(err);
        leaf->cuts[c] = (leati_cut){of[0], of[1], of[2], of[3], of[4], of[5]};
    }
    return LEAT_OK;
}

/* The share and the state of a leaf's iterator. */
static leat_status get_source(struct saved_leaf *leaf, leati_reader *in, leat_error *err) {
    leat_status status = get_place(in, &leaf->share, err);
    return status == LEAT_OK ? leati_get_bytes(in, &leaf->state, &leaf->size, err) : status;
}

static leat_status get_leaves(const leati_feed *like, struct saved_feed *saved, leati_reader *in,
                              leat_error *err) {
    int64_t n[2];
    leat_status status = get_numbers(in, n, 2, err);
    /* Each leaf takes a byte or more: a count beyond that must not be allocated. */
    if (status != LEAT_OK || n[0] < 0 || n[0] > MOST_PARTS || n[1] < 0 ||
        (n[1] > 0 && n[1] >= n[0]) || (size_t)n[0] > in->size)
        return damaged(err);
    saved->at = n[1];
    saved->leaves = leati_alloc_zero((size_t)n[0] + 1, sizeof(*saved->leaves));
    if (saved->leaves == NULL)
        return leati_no_memory(err);
    for (saved->count = 0; saved->count < n[0] && status == LEAT_OK;) {
        struct saved_leaf *leaf = &saved->leaves[saved->count++];
        uint64_t kind = 0;
        status = get_cuts(leaf, in, err);
        if (status == LEAT_OK)
            status = get_record(like, in, &leaf->record, &kind, err);
        /* A remainder within a remainder: no feed writes that, and reading it would recurse. */
        if (status == LEAT_OK && kind != PLAIN)
            status = damaged(err);
        status = status == LEAT_OK ? get_source(leaf, in, err) : status;
    }
    return status;
}

static leat_status get_part(const leati_feed *like, const leati_feed_part *part,
                            struct saved_feed *saved, leat_error *err) {
    leati_reader in = {.data = part->data, .size = part->size};
    uint64_t kind = 0;
    leat_status status = get_record(like, &in, &saved->record, &kind, err);
    saved->merged = kind == MERGED;
    if (status != LEAT_OK || saved->merged)
        return status == LEAT_OK ? get_leaves(like, saved, &in, err) : status;
    saved->leaves = leati_alloc_zero(1, sizeof(*saved->leaves));
    if (saved->leaves == NULL)
        return leati_no_memory(err);
    saved->count = 1;
    saved->leaves->record = saved->record;
    return get_source(saved->leaves, &in, err);
}

/* ---- opening what was saved ---- */

/* A leaf's feed at its place and state. Owned. */
static leati_feed *open_leaf(const leati_feed *like, const struct saved_leaf *leaf,
                             leat_error *err) {
    leati_feed *feed = leati_feed_at(like, &leaf->record.place, leaf->record.rule, err);
    if (feed == NULL)
        return NULL;
    feed->position = leaf->record.position;
    if (leati_feed_open(feed, &leaf->share, err) == LEAT_OK &&
        leat_iterator_restore(feed->source.iterator, leaf->state, leaf->size, err) == LEAT_OK)
        return feed;
    leati_feed_free(feed);
    return NULL;
}

/* A remainder of a leaf with its cuts and, if `cut` is not NULL, one more. */
static leat_status open_remainder(const leati_feed *like, const struct saved_leaf *leaf,
                                  const leati_cut *cut, leati_remainder *out, leat_error *err) {
    out->cuts = leati_alloc_zero((size_t)leaf->num_cuts + 1, sizeof(*out->cuts));
    if (out->cuts == NULL)
        return leati_no_memory(err);
    for (int64_t c = 0; c < leaf->num_cuts; c++)
        out->cuts[out->num_cuts++] = leaf->cuts[c];
    if (cut != NULL)
        out->cuts[out->num_cuts++] = *cut;
    out->ordinal = leaf->ordinal;
    out->ended = leaf->ended != 0;
    /* Last: what fails before it leaves nothing open. */
    out->feed = open_leaf(like, leaf, err);
    return out->feed == NULL ? err->code : LEAT_OK;
}

static leati_merge *new_merge(int64_t count, leat_error *err) {
    leati_merge *merge = leati_alloc_zero(1, sizeof(*merge));
    leati_remainder *remainders = leati_alloc_zero((size_t)count + 1, sizeof(*remainders));
    if (merge == NULL || remainders == NULL) {
        leati_free(merge);
        leati_free(remainders);
        leati_no_memory(err);
        return NULL;
    }
    merge->remainders = remainders;
    return merge;
}

/* Reads from `source` (taken over) from now on. */
static void adopt(leati_feed *feed, leati_source *source) {
    pthread_mutex_lock(&feed->lock);
    /* Closed outside of the lock, because closing an iterator joins threads. */
    leati_source old = feed->source;
    feed->source = *source;
    /* Cancelled meanwhile: the thread that did so knew the old source alone. */
    if (feed->cancelled)
        leati_feed_source_cancel(&feed->source);
    pthread_mutex_unlock(&feed->lock);
    *source = (leati_source){0};
    leati_feed_source_close(&old);
    feed->restored = true;
    feed->rows = -1;
}

/* The source of a feed as it was. */
static leat_status reopen(const leati_feed *like, const struct saved_feed *saved,
                          leati_source *source, leat_error *err) {
    if (!saved->merged) {
        leati_feed *feed = open_leaf(like, saved->leaves, err);
        if (feed == NULL)
            return err->code;
        /* Only the source is wanted; the feed was needed to open it. */
        *source = feed->source;
        feed->source = (leati_source){0};
        leati_feed_free(feed);
        return LEAT_OK;
    }
    leat_status status = LEAT_OK;
    source->merge = new_merge(saved->count, err);
    if (source->merge == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    source->merge->at = (int)saved->at;
    while (source->merge->count < saved->count && status == LEAT_OK) {
        int i = source->merge->count++;
        status = open_remainder(like, &saved->leaves[i], NULL, &source->merge->remainders[i], err);
    }
    return status;
}

/* ---- dealing out ---- */

/* What is gone of the present element of a merged feed belongs to the leaf that it was reading. */
static void put_gone(struct saved_feed *saved) {
    struct saved_leaf *leaf = saved->merged && saved->count > 0 ? &saved->leaves[saved->at] : NULL;
    if (leaf != NULL && leaf->num_cuts > 0) {
        const struct record *record = &saved->record;
        leati_cut *last = &leaf->cuts[leaf->num_cuts - 1];
        /* The last cut is the one that the feed itself made; what it gave out counts in its
         * part. */
        last->offset = record->position.offset;
        last->piece = record->position.piece;
        last->pieces =
            record->rule == LEATI_REBATCH_PIECES ? leati_planner_all_replicas(&record->place) : 0;
    }
}

/* Feed `j` of `m` and remainder `i` of `count`: does it read it, and which part (`cut`)? */
static bool is_dealt(int64_t i, int64_t count, int64_t j, int64_t m, leati_cut *cut) {
    if (count >= m) {
        *cut = (leati_cut){.begin = 0, .end = 1, .units = 1};
        /* Runs of neighbours, as even as integers allow. */
        return i * m / count == j;
    }
    /* Feed j's units among all, relative to those of remainder i; outside of [0, m) it has none. */
    int64_t begin = j * count - i * m, end = (j + 1) * count - i * m;
    *cut = (leati_cut){.begin = begin > 0 ? begin : 0, .end = end < m ? end : m, .units = m};
    return cut->begin < cut->end;
}

/* Opens this feed's part of what all parts have left. */
static leat_status deal_out(leati_feed *feed, struct saved_feed *all, int num_parts,
                            leat_error *err) {
    int64_t count = 0, next = 0;
    leat_status status = LEAT_OK;
    for (int p = 0; p < num_parts; p++) {
        put_gone(&all[p]);
        for (int64_t l = 0; l < all[p].count; l++)
            count += !all[p].leaves[l].ended;
    }
    leati_source source = {.merge = new_merge(count, err)};
    if (source.merge == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    for (int p = 0; p < num_parts; p++) {
        for (int64_t l = 0; l < all[p].count && status == LEAT_OK; l++) {
            leati_cut cut;
            if (!all[p].leaves[l].ended && is_dealt(next++, count, feed->plan.place.worker,
                                                    feed->plan.place.num_workers, &cut)) {
                leati_remainder *to = &source.merge->remainders[source.merge->count++];
                status = open_remainder(feed, &all[p].leaves[l], &cut, to, err);
            }
        }
    }
    if (status == LEAT_OK)
        adopt(feed, &source);
    leati_feed_source_close(&source);
    return status;
}

/* The parts of all feeds; each is to be of as many as there are. */
static leat_status get_parts(const leati_feed *feed, const leati_feed_part *parts, int count,
                             struct saved_feed *all, leat_error *err) {
    leat_status status = LEAT_OK;
    for (int p = 0; p < count && status == LEAT_OK; p++) {
        status = get_part(feed, &parts[p], &all[p], err);
        if (status == LEAT_OK && all[p].record.place.num_workers != count)
            status = damaged(err);
    }
    return status;
}

/* Reads every part, because all feeds must know how much is left in all. */
static leat_status deal_out_parts(leati_feed *feed, const leati_feed_part *parts, int count,
                                  leat_error *err) {
    struct saved_feed *all = leati_alloc_zero((size_t)count, sizeof(*all));
    if (all == NULL)
        return leati_no_memory(err);
    leat_status status = get_parts(feed, parts, count, all, err);
    if (status == LEAT_OK)
        status = deal_out(feed, all, count, err);
    for (int p = 0; p < count; p++)
        saved_fini(&all[p]);
    leati_free(all);
    return status;
}

/* Goes on as the feed that was saved: with its position, or (DATA) at the same element. */
static leat_status continue_as(leati_feed *feed, const struct saved_feed *saved, bool same,
                               leat_error *err) {
    const struct record *record = &saved->record;
    int64_t first = record->policy == LEAT_SHARD_DATA ? record->place.worker : 0;
    leati_source source = {0};
    /* Another feed would begin with the whole element, of which pieces have been given out. */
    if (!same && record->position.piece != first) {
        return leati_fail(err, LEAT_FAILED_PRECONDITION,
                          "the state was saved in the middle of a step; save between steps");
    }
    leat_status status = reopen(feed, saved, &source, err);
    if (status == LEAT_OK)
        adopt(feed, &source);
    if (status == LEAT_OK && same)
        feed->position = record->position;
    leati_feed_source_close(&source);
    return status;
}

leat_status leati_feed_restore(leati_feed *feed, const leati_feed_part *parts, int count,
                               leat_error *err) {
    const leati_feed_place *place = &feed->plan.place;
    struct saved_feed own = {0};
    leat_error local = {0};
    leat_status status =
        count < 1 ? damaged(&local)
                  : get_part(feed, &parts[place->worker < count ? place->worker : 0], &own, &local);
    const leati_feed_place *saved = &own.record.place;
    bool same = saved->num_workers == place->num_workers && saved->worker == place->worker &&
                saved->replicas == place->replicas && own.record.rule == feed->plan.rule;
    /* All feeds read everything, so any one's state says where all are. */
    bool common = feed->plan.policy == LEAT_SHARD_DATA && !feed->plan.as_is;
    if (status == LEAT_OK && saved->num_workers != count)
        status = damaged(&local);
    if (status == LEAT_OK) {
        status = same || common ? continue_as(feed, &own, same, &local)
                                : deal_out_parts(feed, parts, count, &local);
    }
    saved_fini(&own);
    return status == LEAT_OK ? LEAT_OK : leati_error_pass(err, &local);
}

char *leati_feed_explain(const leati_feed *feed, leat_error *err) {
    if (feed->source.iterator != NULL)
        return leat_iterator_explain(feed->source.iterator, err);
    const leati_merge *merge = feed->source.merge;
    leati_text text = {0};
    for (int i = 0; i < merge->count; i++) {
        const leati_feed *from = merge->remainders[i].feed;
        char *table = leati_feed_explain(from, err);
        if (table == NULL) {
            leati_text_fini(&text);
            return NULL;
        }
        leati_text_addf(&text, "what pipeline %d of %d left:\n%s", from->plan.place.worker,
                        from->plan.place.num_workers, table);
        leat_text_free(table);
    }
    char *all = leati_text_take(&text);
    if (all == NULL)
        leati_no_memory(err);
    return all;
}
