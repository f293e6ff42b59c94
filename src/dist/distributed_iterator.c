/* Iterators of distributed datasets: steps of all workers.
 *
 * Happy path: a step takes an element of each local replica from this worker's feeds. Where shapes
 * are not static a last step with fewer elements than replicas is filled up with elements without
 * rows; else it is dropped, both as in TensorFlow. Several workers go in lock-step: once, before
 * the first step, they tell how many steps each has; where all know it, nothing more is exchanged,
 * and who ends early hands out elements without rows. Else each step begins with an exchange of who
 * has elements. Failures: with one worker an error ends its step; with several the job. One thread
 * at a time per iterator, cancel excepted. No locks. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/minmax.h"
#include "base/text.h"
#include "data/run/rows.h"
#include "dist/distributed.h"
#include "dist/values.h"
#include <string.h>

enum { HAVE = 0, ROWS = 1 }; /* the numbers of a step */

struct leat_distributed_iterator {
    leat_distributed_dataset *dataset; /* a reference */
    leati_feed **feeds;                /* owned */
    int num_feeds;
    bool begun;          /* what is agreed before the first step */
    bool restored;       /* from a state */
    int64_t total;       /* steps that all workers make; -1: each step is agreed */
    int64_t step;        /* given out */
    int have;            /* elements of the present step that this worker has */
    int64_t *rows;       /* of each local replica in the last step; NULL: not counted */
    leati_leaves leaves; /* of what replicas receive; only where rows are counted */
    int64_t total_rows;
};

static bool in_lockstep(const leat_distributed_iterator *it) {
    /* Infinite datasets are not filled up: every worker has elements for each step. */
    return it->dataset->member.num_workers > 1 && it->dataset->plan.fill;
}

/* ---- life ---- */

static leat_status open_feeds(leat_distributed_iterator *it, leat_error *err) {
    leat_distributed_dataset *d = it->dataset;
    it->feeds = leati_alloc_zero((size_t)d->num_feeds, sizeof(*it->feeds));
    it->rows = d->options.count_rows
                   ? leati_alloc_zero((size_t)d->member.replicas, sizeof(*it->rows))
                   : NULL;
    if (it->feeds == NULL || (d->options.count_rows && it->rows == NULL))
        return leati_no_memory(err);
    if (it->rows != NULL && leati_leaves_init(&it->leaves, d->plan.spec, err) != LEAT_OK)
        return err->code;
    for (; it->num_feeds < d->num_feeds; it->num_feeds++) {
        leati_split_plan plan = d->plan; /* borrowed: the feed takes what it keeps */
        plan.place = leati_distributed_place(d, it->num_feeds);
        leati_feed_options options = {
            .plan = &plan, .make = leati_distributed_share, .context = d, .iterator = d->iterator};
        it->feeds[it->num_feeds] = leati_feed_new(&options, err);
        if (it->feeds[it->num_feeds] == NULL)
            return err->code;
    }
    return LEAT_OK;
}

leat_distributed_iterator *leat_distributed_iterator_new(leat_distributed_dataset *dataset,
                                                         leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_error local = {0};
    if (dataset == NULL) {
        if (err->code == LEAT_OK)
            leati_refuse(err, VALUE, "leat_distributed_iterator_new: dataset is NULL");
        return NULL;
    }
    leat_distributed_iterator *it = leati_alloc_zero(1, sizeof(*it));
    if (it == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    it->dataset = leati_object_ref(dataset);
    it->total = -1;
    if (open_feeds(it, &local) != LEAT_OK) {
        leat_distributed_iterator_free(it);
        *err = local;
        return NULL;
    }
    return it;
}

void leat_distributed_iterator_free(leat_distributed_iterator *iterator) {
    if (iterator == NULL)
        return;
    for (int f = 0; f < iterator->num_feeds; f++)
        leati_feed_free(iterator->feeds[f]);
    leati_free(iterator->feeds);
    leati_free(iterator->rows);
    leati_leaves_fini(&iterator->leaves);
    leat_distributed_dataset_free(iterator->dataset);
    leati_free(iterator);
}

void leat_distributed_iterator_cancel(leat_distributed_iterator *iterator) {
    for (int f = 0; iterator != NULL && f < iterator->num_feeds; f++)
        leati_feed_cancel(iterator->feeds[f]);
}

leat_iterator *leat_distributed_iterator_base(leat_distributed_iterator *iterator) {
    return iterator == NULL || iterator->num_feeds != 1 ? NULL
                                                        : leati_feed_iterator(iterator->feeds[0]);
}

char *leat_distributed_iterator_explain(const leat_distributed_iterator *iterator,
                                        leat_error *err) {
    LEATI_ERROR_DOOR(err);
    if (iterator == NULL) {
        leati_refuse(err, VALUE, "leat_distributed_iterator_explain: iterator is NULL");
        return NULL;
    }
    if (iterator->num_feeds == 1)
        return leati_feed_explain(iterator->feeds[0], err);
    leati_text text = {0};
    for (int f = 0; f < iterator->num_feeds; f++) {
        char *table = leati_feed_explain(iterator->feeds[f], err);
        if (table == NULL) {
            leati_text_fini(&text);
            return NULL;
        }
        leati_text_addf(&text, "replica %d:\n%s", f, table);
        leat_text_free(table);
    }
    char *all = leati_text_take(&text);
    if (all == NULL)
        leati_no_memory(err);
    return all;
}

/* ---- what workers tell each other ---- */

static leat_status exchange(leat_distributed_iterator *it, const int64_t *mine, int count,
                            int64_t *out, leat_error *err) {
    const leati_lockstep *others = &it->dataset->member.others;
    return others->exchange(others->context, mine, count, out, err);
}

/* Every worker's bytes: `parts` (num_workers of them) point into *memory (owned). */
static leat_status gather(leat_distributed_iterator *it, const leati_writer *mine,
                          leati_feed_part *parts, int64_t **memory, leat_error *err) {
    int n = it->dataset->member.num_workers;
    int64_t size = (int64_t)mine->size, most = 0;
    int64_t *sizes = leati_alloc_zero((size_t)n, sizeof(*sizes));
    *memory = NULL;
    if (sizes == NULL)
        return leati_no_memory(err);
    leat_status status = exchange(it, &size, 1, sizes, err);
    for (int w = 0; w < n; w++)
        most = LEATI_MAX(sizes[w], most);
    /* At least one, so that workers without bytes exchange, too. */
    size_t words = (size_t)most / 8 + 1;
    /* All send as much as the longest has, since an exchange is of equal sizes; zeros fill the
     * rest. */
    int64_t *own = status == LEAT_OK ? leati_alloc_zero(words, 8) : NULL;
    *memory = own == NULL ? NULL : leati_alloc_zero(words * (size_t)n, 8);
    if (status == LEAT_OK && *memory == NULL)
        status = leati_no_memory(err);
    if (status == LEAT_OK) {
        memcpy(own, mine->data, mine->size);
        status = exchange(it, own, (int)words, *memory, err);
    }
    for (int w = 0; w < n && status == LEAT_OK; w++)
        parts[w] = (leati_feed_part){.data = *memory + (size_t)w * words, .size = (size_t)sizes[w]};
    leati_free(own);
    leati_free(sizes);
    return status;
}

/* How many steps all make, if all know how many they have. */
static leat_status agree_steps(leat_distributed_iterator *it, int64_t known, leat_error *err) {
    int n = it->dataset->member.num_workers;
    int64_t *all = leati_alloc_zero((size_t)n, sizeof(*all));
    if (all == NULL)
        return leati_no_memory(err);
    leat_status status = exchange(it, &known, 1, all, err);
    it->total = 0;
    /* One that does not know its steps is enough to make all ask at each step. */
    for (int w = 0; w < n && it->total >= 0; w++)
        it->total = all[w] < 0 ? -1 : LEATI_MAX(all[w], it->total);
    leati_free(all);
    return status;
}

static leat_status begin(leat_distributed_iterator *it, leat_error *err) {
    /* Counting rows needs an exchange at each step in any case. */
    int64_t known = it->rows == NULL ? leati_feed_steps(it->feeds[0]) : -1;
    return in_lockstep(it) ? agree_steps(it, known, err) : LEAT_OK;
}

/* ---- steps ---- */

/* Rows of an element: of its first leaf; a value without rows of its own counts as one. */
static int64_t rows_of(const leat_distributed_iterator *it, const leat_element *element) {
    int64_t rows = 1;
    /* A value that is no valid ragged or sparse one fails where it is used. */
    leat_error ignored = {0};
    return it->leaves.count > 0 && leati_composite_rows(it->leaves.items[0].spec, element->tensors,
                                                        &rows, &ignored) == LEAT_OK
               ? rows
               : 1;
}

static void count_rows(leat_distributed_iterator *it, const leat_per_replica *out) {
    for (int r = 0; it->rows != NULL && r < out->num_replicas; r++)
        it->rows[r] = out->elements[r].spec == NULL ? 0 : rows_of(it, &out->elements[r]);
}

static void clear(leat_per_replica *out) {
    for (int r = 0; r < out->num_replicas; r++)
        leat_element_clear(&out->elements[r]);
}

leat_status leati_distributed_pull(leat_distributed_iterator *it, leat_per_replica *out,
                                   int64_t mine[LEATI_STEP_NUMBERS], leat_error *err) {
    int replicas = it->dataset->member.replicas, each = replicas / it->num_feeds;
    leat_error local = {0};
    leat_status status = leati_values_reset(out, replicas, &local);
    it->have = 0;
    for (int f = 0; f < it->num_feeds && status == LEAT_OK; f++) {
        for (int r = 0; r < each && status == LEAT_OK; r++) {
            status = leati_feed_next(it->feeds[f], &out->elements[f * each + r], &local);
            it->have += status == LEAT_OK;
        }
        /* The end of one feed ends its replicas' part of the step; other feeds may have more. */
        status = status == LEAT_OUT_OF_RANGE ? LEAT_OK : status;
    }
    if (status != LEAT_OK) {
        leati_error_pass(err, &local);
        /* Pieces of a batch belong to one step: replicas of the next must not get what is left of
         * this one. */
        for (int f = 0; f < it->num_feeds; f++)
            leati_feed_next_step(it->feeds[f]);
        clear(out);
        return status;
    }
    count_rows(it, out);
    /* Summed over the workers: a step in which nobody has an element is none. */
    mine[HAVE] = it->have;
    mine[ROWS] = 0;
    for (int r = 0; it->rows != NULL && r < replicas; r++)
        mine[ROWS] += it->rows[r];
    return LEAT_OK;
}

static leat_status fill_up(const leat_distributed_iterator *it, leat_per_replica *out,
                           leat_error *err) {
    const leat_spec *spec = it->dataset->plan.spec;
    leati_block block = {0};
    leat_status status = leati_rows_empty_element(spec, &block, err);
    for (int r = 0; r < out->num_replicas && status == LEAT_OK; r++)
        if (out->elements[r].spec == NULL)
            status = leati_block_element(&block, spec, 0, &out->elements[r], err);
    leati_block_fini(&block);
    return status;
}

static leat_status end_of_sequence(leat_per_replica *out, leat_error *err) {
    clear(out);
    return leati_fail_end(err);
}

leat_status leati_distributed_finish(leat_distributed_iterator *it,
                                     const int64_t sums[LEATI_STEP_NUMBERS], leat_per_replica *out,
                                     leat_error *err) {
    if (sums[HAVE] == 0)
        return end_of_sequence(out, err);
    leat_status status = it->have < out->num_replicas ? fill_up(it, out, err) : LEAT_OK;
    if (status == LEAT_OK) {
        it->step++;
        it->total_rows = sums[ROWS];
    } else {
        clear(out);
    }
    return status;
}

/* A step's numbers summed over all workers; `mine` where nothing need be asked. */
static leat_status sum_up(leat_distributed_iterator *it, const int64_t *mine, int64_t *sums,
                          leat_error *err) {
    int n = it->dataset->member.num_workers;
    memcpy(sums, mine, LEATI_STEP_NUMBERS * sizeof(*sums));
    if (!in_lockstep(it))
        return LEAT_OK;
    if (it->total >= 0) {
        /* Nothing to ask: workers that have ended earlier fill up until the last one has. */
        sums[HAVE] = it->step < it->total;
        return LEAT_OK;
    }
    int64_t *all = leati_alloc_zero((size_t)n * LEATI_STEP_NUMBERS, sizeof(*all));
    if (all == NULL)
        return leati_no_memory(err);
    leat_status status = exchange(it, mine, LEATI_STEP_NUMBERS, all, err);
    memset(sums, 0, LEATI_STEP_NUMBERS * sizeof(*sums));
    for (int i = 0; i < n * LEATI_STEP_NUMBERS; i++)
        sums[i % LEATI_STEP_NUMBERS] += all[i];
    leati_free(all);
    return status;
}

/* Under several workers the others wait for this one: they are told why it does not come. */
static leat_status give_up(leat_distributed_iterator *it, leat_status status, const leat_error *why,
                           leat_error *err) {
    const leati_membership *member = &it->dataset->member;
    *err = *why;
    if (member->num_workers > 1) {
        /* A copy with the place in front, for workers that know nothing of this one's step. */
        leat_error text = *why;
        leati_prefix(&text, "worker %d of %d, input of step %lld", member->worker,
                     member->num_workers, (long long)it->step);
        member->others.abort(member->others.context, text.text);
    }
    return status;
}

/* The slowest stage of the first pipeline that has one. */
static void slowest(void *iterator, char *text, size_t size) {
    const leat_distributed_iterator *it = iterator;
    text[0] = '\0';
    for (int f = 0; f < it->num_feeds && text[0] == '\0'; f++)
        leati_feed_slowest(it->feeds[f], text, size);
}

/* Takes the step's elements; meanwhile the others can be told what this worker waits for. */
static leat_status read_step(leat_distributed_iterator *it, leat_per_replica *out, int64_t *mine,
                             leat_error *err) {
    const leati_lockstep *others = &it->dataset->member.others;
    if (others->reading != NULL)
        others->reading(others->context, slowest, it);
    leat_status status = leati_distributed_pull(it, out, mine, err);
    if (others->reading != NULL)
        others->reading(others->context, NULL, NULL);
    return status;
}

static leat_status next(leat_distributed_iterator *it, bool fill, leat_per_replica *out,
                        leat_error *err) {
    int64_t mine[LEATI_STEP_NUMBERS] = {0}, sums[LEATI_STEP_NUMBERS] = {0};
    leat_error local = {0};
    if (it == NULL || out == NULL) {
        return leati_refuse(err, VALUE, "leat_distributed_iterator_next: %s is NULL",
                            it == NULL ? "iterator" : "out");
    }
    leat_status status = it->begun ? LEAT_OK : begin(it, &local);
    it->begun = it->begun || status == LEAT_OK;
    if (status == LEAT_OK)
        status = read_step(it, out, mine, &local);
    if (status == LEAT_OK)
        status = sum_up(it, mine, sums, &local);
    if (status != LEAT_OK) {
        clear(out);
        return give_up(it, status, &local, err);
    }
    /* In lock-step the end is decided together, and what is missing is always filled up. */
    bool partial = it->have < out->num_replicas && !in_lockstep(it);
    if (partial && !fill)
        return end_of_sequence(out, err);
    return leati_distributed_finish(it, sums, out, err);
}

leat_status leat_distributed_iterator_next(leat_distributed_iterator *iterator,
                                           leat_per_replica *out, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    return next(iterator, iterator != NULL && iterator->dataset->plan.fill, out, err);
}

leat_status leat_distributed_iterator_next_filled(leat_distributed_iterator *iterator,
                                                  leat_per_replica *out, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    return next(iterator, true, out, err);
}

leat_status leat_distributed_iterator_rows(const leat_distributed_iterator *iterator, int64_t *rows,
                                           int64_t *total, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    if (iterator == NULL || total == NULL) {
        return leati_refuse(err, VALUE, "leat_distributed_iterator_rows: %s is NULL",
                            iterator == NULL ? "iterator" : "total");
    }
    if (iterator->rows == NULL || iterator->step == 0) {
        return leati_fail(err, LEAT_FAILED_PRECONDITION, "leat_distributed_iterator_rows: %s",
                          iterator->rows == NULL ? "distribute the dataset with count_rows"
                                                 : "there was no step yet");
    }
    for (int r = 0; rows != NULL && r < iterator->dataset->member.replicas; r++)
        rows[r] = iterator->rows[r];
    *total = iterator->total_rows;
    return LEAT_OK;
}

/* ---- saving ---- */

static const char magic[4] = {'L', 'E', 'A', 'D'};
/* CHECKSUM_SEED is the same in every version: so a newer state is told from a damaged one. */
enum { STATE_VERSION = 2, CHECKSUM_SEED = 1, MOST_PARTS = 1 << 20 };

leat_status leati_distributed_save_part(leat_distributed_iterator *it,
                                        const leat_iterator_save_options *options,
                                        leati_writer *out, leat_iterator_save_report *report,
                                        leat_error *err) {
    leat_status status = LEAT_OK;
    leati_put_uint(out, (uint64_t)it->num_feeds);
    for (int f = 0; f < it->num_feeds && status == LEAT_OK; f++) {
        leati_writer part = {0};
        status = leati_feed_save(it->feeds[f], options, &part, report, err);
        if (status == LEAT_OK)
            leati_put_bytes(out, part.data, part.size);
        leati_writer_fini(&part);
    }
    return status == LEAT_OK && out->failed ? leati_no_memory(err) : status;
}

leat_status leati_distributed_join(const leati_feed_part *workers, int count, char **data,
                                   size_t *size, leat_error *err) {
    leati_writer out = {0};
    leati_put_bytes(&out, magic, sizeof(magic));
    leati_put_uint(&out, STATE_VERSION);
    leati_put_uint(&out, (uint64_t)count);
    for (int w = 0; w < count; w++)
        leati_put_bytes(&out, workers[w].data, workers[w].size);
    /* Last, and of a fixed size, so that it is found before anything else is read. */
    leati_put_fixed64(&out, leati_hash(out.data, out.size, CHECKSUM_SEED));
    if (out.failed) {
        leati_writer_fini(&out);
        return leati_no_memory(err);
    }
    *data = (char *)out.data;
    *size = out.size;
    return LEAT_OK;
}

leat_status leat_distributed_iterator_save(leat_distributed_iterator *iterator,
                                           const leat_iterator_save_options *options, char **data,
                                           size_t *size, leat_iterator_save_report *report,
                                           leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_iterator_save_report costs = {0};
    leati_writer mine = {0};
    int64_t *memory = NULL;
    if (iterator == NULL || data == NULL || size == NULL)
        return leati_refuse(err, VALUE, "leat_distributed_iterator_save: an argument is NULL");
    int n = iterator->dataset->member.num_workers;
    leati_feed_part *parts = leati_alloc_zero((size_t)n, sizeof(*parts));
    if (parts == NULL)
        return leati_no_memory(err);
    leat_error local = {0};
    leat_status status = leati_distributed_save_part(iterator, options, &mine, &costs, &local);
    parts[0] = (leati_feed_part){.data = mine.data, .size = mine.size};
    if (status == LEAT_OK && n > 1)
        status = gather(iterator, &mine, parts, &memory, &local);
    if (status == LEAT_OK)
        status = leati_distributed_join(parts, n, data, size, &local);
    if (status == LEAT_OK && report != NULL)
        *report = costs;
    leati_free(memory);
    leati_free(parts);
    leati_writer_fini(&mine);
    return status == LEAT_OK ? LEAT_OK : give_up(iterator, status, &local, err);
}

static leat_status damaged(leat_error *err) {
    return leati_fail(err, LEAT_DATA_LOSS,
                      "not the state of a distributed iterator, or a damaged one; restore an "
                      "earlier one");
}

/* The parts of all feeds in a state: *parts (owned) point into it. */
static leat_status read_parts(const char *data, size_t size, leati_feed_part **parts, int *count,
                              leat_error *err) {
    const void *found = NULL;
    size_t found_size = 0, capacity = 0;
    uint64_t version = 0, workers = 0, feeds = 0, checksum = 0;
    if (size < sizeof(checksum))
        return damaged(err);
    size -= sizeof(checksum);
    leati_reader in = {.data = (const uint8_t *)data, .size = size};
    leati_reader tail = {.data = (const uint8_t *)data + size, .size = sizeof(checksum)};
    if (leati_get_fixed64(&tail, &checksum, err) != LEAT_OK ||
        checksum != leati_hash(data, size, CHECKSUM_SEED) ||
        leati_get_bytes(&in, &found, &found_size, err) != LEAT_OK || found_size != sizeof(magic) ||
        memcmp(found, magic, found_size) != 0 || leati_get_uint(&in, &version, err) != LEAT_OK ||
        leati_get_uint(&in, &workers, err) != LEAT_OK || workers > MOST_PARTS)
        return damaged(err);
    /* After the checksum: a damaged state must not be taken for one of another version. */
    if (version != STATE_VERSION) {
        return leati_fail(err, LEAT_FAILED_PRECONDITION,
                          "a state of version %llu; this library reads version %d",
                          (unsigned long long)version, STATE_VERSION);
    }
    for (uint64_t w = 0; w < workers; w++) {
        if (leati_get_bytes(&in, &found, &found_size, err) != LEAT_OK)
            return damaged(err);
        leati_reader worker = {.data = found, .size = found_size};
        if (leati_get_uint(&worker, &feeds, err) != LEAT_OK || feeds > MOST_PARTS)
            return damaged(err);
        /* The feeds of all workers become one list, since a state does not say by whom it will be
         * read. */
        for (uint64_t f = 0; f < feeds; f++) {
            if (!leati_grow((void **)parts, &capacity, (size_t)*count + 1, sizeof(**parts)))
                return leati_no_memory(err);
            leati_feed_part *part = &(*parts)[*count];
            if (leati_get_bytes(&worker, &part->data, &part->size, err) != LEAT_OK)
                return damaged(err);
            ++*count;
        }
    }
    return LEAT_OK;
}

leat_status leat_distributed_iterator_restore(leat_distributed_iterator *iterator, const char *data,
                                              size_t size, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leati_feed_part *parts = NULL;
    int count = 0;
    if (iterator == NULL || data == NULL)
        return leati_refuse(err, VALUE, "leat_distributed_iterator_restore: an argument is NULL");
    if (iterator->begun || iterator->restored) {
        return leati_fail(err, LEAT_FAILED_PRECONDITION,
                          "leat_distributed_iterator_restore: the iterator has already given "
                          "elements or was restored; restore a new one");
    }
    leat_status status = read_parts(data, size, &parts, &count, err);
    for (int f = 0; f < iterator->num_feeds && status == LEAT_OK; f++) {
        /* Each feed gets all parts: which of them it needs depends on how many there were. */
        status = leati_feed_restore(iterator->feeds[f], parts, count, err);
        iterator->restored = iterator->restored || status == LEAT_OK;
    }
    leati_free(parts);
    return status;
}
