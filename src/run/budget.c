/* Budgets.
 *
 * Holders form a list in the order in which they were opened; a change of a figure adds the
 * difference to the total. A refusal copies what its text needs, names the three largest holders
 * and changes nothing. One lock per budget; nothing is called while it is held but formatting. */
#include "run/budget.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/text.h"
#include "run/machine.h"
#include "run/pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define NAMED 3
#define NAME_SIZE 64

struct leati_budget {
    atomic_int references;
    pthread_mutex_t lock;
    int64_t limit;
    int64_t used;          /* lock */
    leati_holder *holders; /* lock */
    int cpus;
};

leati_budget *leati_budget_new(size_t memory_limit, int cpu_limit, leat_error *err) {
    leati_budget *budget = leati_alloc_zero(1, sizeof *budget);
    if (budget == NULL) {
        (void)leati_no_memory(err, sizeof *budget);
        return NULL;
    }
    atomic_init(&budget->references, 1);
    pthread_mutex_init(&budget->lock, NULL);
    if (memory_limit == 0)
        budget->limit = leati_machine_memory() / 2;
    else
        budget->limit = memory_limit > INT64_MAX ? INT64_MAX : (int64_t)memory_limit;
    budget->cpus = cpu_limit > 0 ? cpu_limit : leati_num_cores();
    return budget;
}

leati_budget *leati_budget_ref(leati_budget *budget) {
    if (budget != NULL)
        atomic_fetch_add_explicit(&budget->references, 1, memory_order_relaxed);
    return budget;
}

void leati_budget_unref(leati_budget *budget) {
    if (budget == NULL ||
        atomic_fetch_sub_explicit(&budget->references, 1, memory_order_acq_rel) != 1)
        return;
    pthread_mutex_destroy(&budget->lock);
    leati_free(budget);
}

void leati_holder_open(leati_holder *holder, leati_budget *budget, const char *name) {
    holder->budget = budget;
    holder->name = name;
    holder->bytes = 0;
    holder->previous = NULL;
    pthread_mutex_lock(&budget->lock);
    holder->next = budget->holders;
    if (holder->next != NULL)
        holder->next->previous = holder;
    budget->holders = holder;
    pthread_mutex_unlock(&budget->lock);
}

void leati_holder_close(leati_holder *holder) {
    leati_budget *budget = holder->budget;
    if (budget == NULL)
        return;
    pthread_mutex_lock(&budget->lock);
    budget->used -= holder->bytes;
    if (holder->previous != NULL)
        holder->previous->next = holder->next;
    else
        budget->holders = holder->next;
    if (holder->next != NULL)
        holder->next->previous = holder->previous;
    pthread_mutex_unlock(&budget->lock);
    *holder = (leati_holder){0};
}

/* The largest holders, largest first; equal ones in the order in which they were opened last. */
static int find_largest(const leati_budget *budget, const leati_holder *largest[NAMED]) {
    int count = 0;
    for (const leati_holder *holder = budget->holders; holder != NULL; holder = holder->next) {
        if (holder->bytes == 0)
            continue;
        int at = count < NAMED ? count++ : NAMED;
        while (at > 0 && holder->bytes > largest[at - 1]->bytes) {
            if (at < NAMED)
                largest[at] = largest[at - 1];
            at--;
        }
        if (at < NAMED)
            largest[at] = holder;
    }
    return count;
}

/* "12.5 MiB", short enough for an error text. */
static void print_bytes(char text[24], int64_t bytes) {
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double)bytes;
    int unit = 0;
    while (value >= 1024 && unit < 6) {
        value /= 1024;
        unit++;
    }
    if (unit == 0)
        snprintf(text, 24, "%lld bytes", (long long)bytes);
    else
        snprintf(text, 24, "%.1f %s", value, units[unit]);
}

/* Writes the refusal, with the lock held: names of other holders are valid only under it. */
static leat_status refuse(const leati_holder *holder, int64_t bytes, leat_error *err) {
    const leati_budget *budget = holder->budget;
    const leati_holder *largest[NAMED];
    char list[NAMED * (NAME_SIZE + 24) + 16] = "";
    char size[24];
    size_t length = 0;
    int count = find_largest(budget, largest);
    for (int i = 0; i < count; i++) {
        print_bytes(size, largest[i]->bytes);
        length += (size_t)snprintf(list + length, sizeof list - length, "%s%.*s %s",
                                   i == 0 ? "" : ", ", NAME_SIZE, largest[i]->name, size);
    }
    char wanted[24];
    char limit[24];
    print_bytes(wanted, bytes);
    print_bytes(limit, budget->limit);
    print_bytes(size, budget->used - holder->bytes);
    return leati_fail(err, LEAT_RESOURCE_EXHAUSTED,
                      "%.*s needs %s, but the iterator's memory limit is %s and others hold %s; "
                      "largest holders: %s; make their buffers smaller or raise the limit",
                      NAME_SIZE, holder->name, wanted, limit, size, count == 0 ? "none" : list);
}

leat_status leati_holder_set(leati_holder *holder, int64_t bytes, leat_error *err) {
    leati_budget *budget = holder->budget;
    leat_status status = LEAT_OK;
    pthread_mutex_lock(&budget->lock);
    int64_t others = budget->used - holder->bytes;
    if (bytes > holder->bytes && bytes > budget->limit - others) {
        status = refuse(holder, bytes, err);
    } else {
        budget->used = others + bytes;
        holder->bytes = bytes;
    }
    pthread_mutex_unlock(&budget->lock);
    return status;
}

bool leati_budget_fits(const leati_budget *budget, int64_t bytes) {
    return bytes <= budget->limit - leati_budget_used(budget);
}

size_t leati_budget_limit(const leati_budget *budget) {
    return (size_t)budget->limit;
}

int64_t leati_budget_used(const leati_budget *budget) {
    pthread_mutex_t *lock = &((leati_budget *)budget)->lock;
    pthread_mutex_lock(lock);
    int64_t used = budget->used;
    pthread_mutex_unlock(lock);
    return used;
}

int leati_budget_cpus(const leati_budget *budget) {
    return budget->cpus;
}
