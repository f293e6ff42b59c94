/* Comparing what all workers must have alike; see agreement.h.
 *
 * Happy path: one exchange of a hash of the whole list. Where it differs, hashes of ever smaller
 * parts of the list find the first thing that does, and then the words about it are exchanged: a
 * list may have as many things as a dataset has files, a message has a limit. Through the store and
 * not the collective, so that a worker that is elsewhere in its program is named by the barrier it
 * has not come to. Failures: those of the store, no memory, and the difference itself. No locks. */
#include "dist/agreement.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/minmax.h"
#include <stdio.h>
#include <string.h>

/* Parts of a list in one exchange; bytes of a value that are sent, and those that are shown. */
enum { PARTS = 256, MOST_WHAT = 120, MOST_SENT = 4096, MOST_SHOWN = 80, BEFORE = 20 };

bool leati_agreement_add(leati_agreement_list *list, uint64_t hash) {
    bool is_wanted = list->count == list->wanted;
    if (list->wanted == LEATI_NO_ITEM && !list->failed) {
        list->failed = !leati_grow((void **)&list->hashes, &list->capacity, list->count + 1,
                                   sizeof(*list->hashes));
        if (!list->failed)
            list->hashes[list->count] = hash;
    }
    list->count++;
    return is_wanted;
}

void leati_agreement_add_text(leati_agreement_list *list, const char *what, const char *value) {
    if (leati_agreement_add(list, leati_hash(value, strlen(value), 0))) {
        leati_text_addf(&list->what, "%s", what);
        leati_text_addf(&list->value, "%s", value);
    }
}

void leati_agreement_add_int(leati_agreement_list *list, const char *what, int64_t value) {
    char text[24];
    snprintf(text, sizeof(text), "%lld", (long long)value);
    leati_agreement_add_text(list, what, text);
}

static void list_fini(leati_agreement_list *list) {
    leati_free(list->hashes);
    leati_text_fini(&list->what);
    leati_text_fini(&list->value);
}

/* ---- the exchanges ---- */

typedef struct comparison {
    const leat_strategy *strategy;
    const char *name; /* of the barriers */
    int num_workers;
    leat_error *err;
} comparison;

/* Every worker's `size` bytes; a worker of another version of this file would bring others. */
static leat_status exchange(const comparison *c, const void *mine, size_t size,
                            leati_store_values *all) {
    LEATI_TRY(leati_store_barrier(leati_workers_store(c->strategy->workers), c->name, mine, size,
                                  c->strategy->timeout_ms, all, c->err));
    bool same = true;
    for (int w = 0; w < c->num_workers; w++)
        same = same && all->offset[w + 1] - all->offset[w] == size;
    if (!same) {
        leati_store_values_fini(all);
        return leati_fail(c->err, LEAT_INTERNAL, "%s: the workers brought unequal messages",
                          c->name);
    }
    return LEAT_OK;
}

static uint64_t number_of(const leati_store_values *all, int worker, size_t at) {
    uint64_t number;
    memcpy(&number, all->bytes + all->offset[worker] + at * sizeof(number), sizeof(number));
    return number;
}

/* Is one whole hash another one? Then the length of the longest list too. */
static leat_status compare_whole(const comparison *c, const leati_agreement_list *list, bool *same,
                                 size_t *longest) {
    uint64_t mine[2] = {leati_hash(list->hashes, list->count * sizeof(*list->hashes), list->count),
                        list->count};
    leati_store_values all;
    LEATI_TRY(exchange(c, mine, sizeof(mine), &all));
    *same = true;
    *longest = 0;
    for (int w = 0; w < c->num_workers; w++) {
        *same = *same && number_of(&all, w, 0) == number_of(&all, 0, 0);
        *longest = LEATI_MAX(*longest, (size_t)number_of(&all, w, 1));
    }
    leati_store_values_fini(&all);
    return LEAT_OK;
}

/* The first of `parts` whose hash worker `worker` has otherwise than worker 0; `parts`: none. */
static size_t first_part(const leati_store_values *all, int worker, size_t parts) {
    size_t part = 0;
    while (part < parts && number_of(all, worker, part) == number_of(all, 0, part))
        part++;
    return part;
}

/* A hash for each of `parts` parts of `size` things from `begin` on. */
static void hash_parts(const leati_agreement_list *list, size_t begin, size_t size, size_t parts,
                       uint64_t *out) {
    for (size_t part = 0; part < parts; part++) {
        size_t from = LEATI_MIN(begin + part * size, list->count);
        size_t to = LEATI_MIN(from + size, list->count);
        /* With the number, so that a list that ends is not one of another hash by chance. */
        out[part] = leati_hash(list->hashes + from, (to - from) * sizeof(*list->hashes), to - from);
    }
}

/* The first worker that differs from worker 0, and its first thing that does. */
static leat_status find_first(const comparison *c, const leati_agreement_list *list, size_t longest,
                              int *worker, size_t *item) {
    uint64_t mine[PARTS];
    size_t begin = 0, end = longest;
    *worker = 0;
    do {
        size_t size = (end - begin + PARTS - 1) / PARTS, parts = (end - begin + size - 1) / size;
        leati_store_values all;
        hash_parts(list, begin, size, parts, mine);
        LEATI_TRY(exchange(c, mine, parts * sizeof(*mine), &all));
        /* The worker is chosen by the whole list, that is in the first round. */
        int w = LEATI_MAX(*worker, 1);
        while (*worker == 0 && w < c->num_workers - 1 && first_part(&all, w, parts) == parts)
            w++;
        size_t part = first_part(&all, w, parts);
        leati_store_values_fini(&all);
        *worker = w;
        begin += LEATI_MIN(part, parts - 1) * size;
        end = LEATI_MIN(begin + size, end);
    } while (end - begin > 1);
    *item = begin;
    return LEAT_OK;
}

/* ---- the words ---- */

/* `what`, a new line and `value`, each of which may be cut. */
static leat_status exchange_words(const comparison *c, const leati_agreement_list *list,
                                  leati_store_values *all) {
    leati_text words = {0};
    bool has = list->what.size > 0;
    leati_text_add(&words, has ? list->what.data : "",
                   has ? LEATI_MIN(list->what.size, MOST_WHAT) : 0);
    leati_text_addf(&words, "\n");
    leati_text_add(&words, list->value.data != NULL ? list->value.data : "",
                   LEATI_MIN(list->value.size, MOST_SENT));
    bool failed = words.failed || list->what.failed || list->value.failed;
    leat_status status =
        failed ? leati_no_memory(c->err)
               : leati_store_barrier(leati_workers_store(c->strategy->workers), c->name, words.data,
                                     words.size, c->strategy->timeout_ms, all, c->err);
    leati_text_fini(&words);
    return status;
}

typedef struct words {
    const char *what, *value;
    size_t what_size, value_size;
} words;

static words words_of(const leati_store_values *all, int worker) {
    const char *text = all->bytes + all->offset[worker];
    size_t size = all->offset[worker + 1] - all->offset[worker];
    const char *end = memchr(text, '\n', size);
    size_t first = end != NULL ? (size_t)(end - text) : size;
    return (words){.what = text,
                   .what_size = first,
                   .value = end != NULL ? end + 1 : text,
                   .value_size = end != NULL ? size - first - 1 : 0};
}

/* Of a long value the part around byte `at`, where it begins to differ. */
static void show(const words *w, size_t at, char text[MOST_SHOWN + 8]) {
    size_t from = w->value_size <= MOST_SHOWN || at <= BEFORE ? 0 : at - BEFORE;
    size_t size = LEATI_MIN(w->value_size - LEATI_MIN(from, w->value_size), MOST_SHOWN);
    snprintf(text, MOST_SHOWN + 8, "%s%.*s%s", from > 0 ? "..." : "", (int)size, w->value + from,
             from + size < w->value_size ? "..." : "");
}

static leat_status report(const comparison *c, const leati_store_values *all, int worker,
                          const char *way) {
    words theirs = words_of(all, worker), first = words_of(all, 0);
    const words *named = theirs.what_size > 0 ? &theirs : &first;
    char values[2][MOST_SHOWN + 8];
    size_t at = 0;
    while (at < theirs.value_size && at < first.value_size && theirs.value[at] == first.value[at])
        at++;
    show(&theirs, at, values[0]);
    show(&first, at, values[1]);
    /* A list that has ended has no words. */
    return leati_fail(
        c->err, LEAT_FAILED_PRECONDITION, "%s differs: %.*s is %s on %s and %s on %s; %s", c->name,
        (int)named->what_size, named->what, theirs.what_size > 0 ? values[0] : "missing",
        leati_workers_name(c->strategy->workers, worker),
        first.what_size > 0 ? values[1] : "missing", leati_workers_name(c->strategy->workers, 0),
        way);
}

leat_status leati_agreement_compare(const leat_strategy *strategy, const char *name,
                                    leati_agreement_writer write, const void *context,
                                    const char *way, leat_error *err) {
    if (strategy->workers == NULL)
        return LEAT_OK;
    const comparison c = {.strategy = strategy,
                          .name = name,
                          .num_workers = leati_workers_count(strategy->workers),
                          .err = err};
    leati_agreement_list list = {.wanted = LEATI_NO_ITEM}, wanted = {0};
    leati_store_values all = {0};
    bool same = false;
    size_t longest = 0;
    int worker = 0;
    write(context, &list);
    leat_status status = list.failed ? leati_no_memory(err) : LEAT_OK;
    if (status == LEAT_OK)
        status = compare_whole(&c, &list, &same, &longest);
    if (status == LEAT_OK && !same) {
        status = find_first(&c, &list, longest, &worker, &wanted.wanted);
        if (status == LEAT_OK) {
            write(context, &wanted);
            status = exchange_words(&c, &wanted, &all);
        }
        if (status == LEAT_OK)
            status = report(&c, &all, worker, way);
    }
    leati_store_values_fini(&all);
    list_fini(&list);
    list_fini(&wanted);
    return leati_workers_end(strategy->workers, name, status, err);
}
