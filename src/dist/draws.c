/* Seeds that were drawn, from worker 0 to all; see draws.h.
 *
 * Happy path: the numbers that constructors filled in are listed in the order of the plan,
 * exchanged, and put into nodes made anew. Seeds inside of functions are not among them. No locks.
 */
#include "dist/draws.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/minmax.h"
#include "data/shares/sharding.h"
#include <string.h>

enum { MOST_DEPTH = 1000 };

struct numbers {
    int64_t *values;
    size_t count, capacity, next;
    leati_sharding_made seen; /* each node's numbers are listed once, however many read it */
};

/* A row that a constructor fills in with a number. */
static bool is_drawn(const leati_row *row) {
    /* Seeds that a user gave are ordinary rows; those drawn at construction are written by the
     * constructor. */
    return (row->flags & LEATI_CONSTRUCT) != 0 &&
           (row->type == LEATI_ROW_INT || row->type == LEATI_ROW_BOOL);
}

static int64_t get(const leati_row *row, const void *args) {
    const char *at = (const char *)args + row->offset;
    return row->type == LEATI_ROW_BOOL ? *at != 0 : *(const int64_t *)(const void *)at;
}

static leat_status collect(leat_dataset *dataset, struct numbers *to, int depth, leat_error *err) {
    if (depth > MOST_DEPTH)
        return leati_refuse(err, VALUE, "a plan deeper than %d operators", MOST_DEPTH);
    leat_status status = LEAT_OK;
    for (const leati_row *row = dataset->op->rows; row != NULL && row->type != LEATI_ROW_END;
         row++) {
        if (!is_drawn(row))
            continue;
        if (!leati_grow((void **)&to->values, &to->capacity, to->count + 1, sizeof(*to->values)))
            return leati_no_memory(err);
        to->values[to->count++] = get(row, dataset->args);
    }
    /* The node first, then its inputs: `put` takes the numbers in the same order. */
    for (int i = 0; i < dataset->num_inputs && status == LEAT_OK; i++) {
        leat_dataset *input = dataset->inputs[i],
                     *seen = leati_sharding_made_find(&to->seen, input);
        if (seen == NULL) {
            status = collect(input, to, depth + 1, err);
            seen = status != LEAT_OK
                       ? NULL
                       : leati_sharding_made_add(&to->seen, input, leat_dataset_ref(input), err);
            status = status == LEAT_OK && seen == NULL ? LEAT_RESOURCE_EXHAUSTED : status;
        }
        leat_dataset_unref(seen);
    }
    return status;
}

/* Copies the node's arguments with the numbers in place of its own into `args`; true if one
 * differs.
 */
static bool put(const leat_dataset *dataset, struct numbers *from, char *args) {
    bool changed = false;
    memcpy(args, dataset->args, dataset->op->args_size); /* the constructor copies deeply */
    for (const leati_row *row = dataset->op->rows; row != NULL && row->type != LEATI_ROW_END;
         row++) {
        if (is_drawn(row)) {
            int64_t value = from->values[from->next++];
            changed = changed || value != get(row, dataset->args);
            if (row->type == LEATI_ROW_BOOL)
                args[row->offset] = (char)(value != 0);
            else
                memcpy(args + row->offset, &value, sizeof(value));
        }
    }
    return changed;
}

/* The dataset with the numbers. Owned. */
static leat_dataset *with_numbers(const leat_dataset *dataset, struct numbers *from,
                                  leat_error *err) {
    size_t inputs_size = (size_t)dataset->num_inputs * sizeof(leat_dataset *);
    char *args = leati_alloc_zero(1, dataset->op->args_size + 1);
    leat_dataset **inputs = leati_alloc_zero(1, inputs_size + 1);
    leat_dataset *made = NULL;
    int done = 0;
    if (args == NULL || inputs == NULL) {
        leati_no_memory(err);
    } else {
        bool changed = put(dataset, from, args);
        for (; done < dataset->num_inputs; done++) {
            const leat_dataset *input = dataset->inputs[done];
            inputs[done] = leati_sharding_made_find(&from->seen, input);
            if (inputs[done] == NULL)
                inputs[done] = leati_sharding_made_add(&from->seen, input,
                                                       with_numbers(input, from, err), err);
            if (inputs[done] == NULL)
                break;
            /* Parts of the plan without drawn numbers are shared with the original. */
            changed = changed || inputs[done] != input;
        }
        if (done == dataset->num_inputs && changed) {
            made = leati_sharding_remake(dataset, args, inputs, err);
            done = 0; /* given */
        } else if (done == dataset->num_inputs) {
            made = leat_dataset_ref((leat_dataset *)dataset);
        }
        for (int i = 0; i < done; i++)
            leat_dataset_unref(inputs[i]);
    }
    leati_free(inputs);
    leati_free(args);
    return made;
}

/* Puts worker 0's numbers in place of one's own; *same: all have as many. */
static leat_status exchange_numbers(struct numbers *own, const leati_membership *member, bool *same,
                                    leat_error *err) {
    const leati_lockstep *others = &member->others;
    size_t n = (size_t)member->num_workers, most = LEATI_MAX(own->count, 1);
    int64_t count = (int64_t)own->count;
    int64_t *all = leati_alloc_zero(n * most, sizeof(*all));
    if (all == NULL)
        return leati_no_memory(err);
    leat_status status = others->exchange(others->context, &count, 1, all, err);
    *same = status == LEAT_OK && count > 0;
    /* Workers with other plans would fill numbers in at wrong places. Under a strategy plans were
     * compared before. */
    for (size_t w = 0; w < n && *same; w++)
        *same = all[w] == count;
    if (*same) {
        status = others->exchange(others->context, own->values, (int)count, all, err);
        /* The first worker's come first. */
        memcpy(own->values, all, own->count * sizeof(*all));
    }
    leati_free(all);
    return status;
}

leat_dataset *leati_draws_share(leat_dataset *dataset, const leati_membership *member,
                                leat_error *err) {
    struct numbers numbers = {0};
    leat_error local = {0};
    leat_dataset *shared = NULL;
    bool same = false;
    leat_status status = collect(dataset, &numbers, 0, &local);
    if (status == LEAT_OK)
        status = exchange_numbers(&numbers, member, &same, &local);
    leati_sharding_made_fini(&numbers.seen);
    if (status == LEAT_OK)
        shared = same ? with_numbers(dataset, &numbers, &local) : leat_dataset_ref(dataset);
    leati_sharding_made_fini(&numbers.seen);
    leati_free(numbers.values);
    leat_dataset_unref(dataset);
    if (shared == NULL)
        *err = local;
    return shared;
}
