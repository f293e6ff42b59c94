/* Budgets.
 *
 * Every figure counts twice: in its iterator's budget, which has a limit only where the user set
 * one, and in the process's. Holders form a list in the order in which they were opened; a change
 * of a figure adds the difference to the total. A refusal copies what its text needs, names the
 * three largest holders and changes nothing. One lock per budget, under which the process's may be
 * taken; nothing else is called while they are held but formatting. */
#include "run/budget.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/fork.h"
#include "base/kept.h"
#include "base/minmax.h"
#include "base/text.h"
#include "run/machine.h"
#include "run/pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define NAMED 3
#define NAME_SIZE 64

/* What all iterators of the process hold. */
static struct {
    pthread_mutex_t lock;
    int64_t limit; /* lock; 0: half of the machine's */
    int64_t used;  /* lock */
} process = {.lock = PTHREAD_MUTEX_INITIALIZER};
LEATI_FORK_LOCK(budgets, &process.lock);

struct leati_budget {
    atomic_int references;
    pthread_mutex_t lock;
    int64_t limit;
    int64_t used;          /* lock */
    leati_holder *holders; /* lock */
    int cpus;
};

/* With the lock. */
static int64_t process_limit(void) {
    if (process.limit == 0)
        /* The other half is for what is not counted: the program itself, and blocks that only
         * pass. */
        process.limit = leati_machine_memory() / 2;
    return process.limit;
}

leat_status leat_limits_set_memory(int64_t bytes, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    if (bytes < 0)
        return leati_refuse(
            err, VALUE,
            "leat_limits_set_memory: bytes is %lld; expected at least 1, or 0 for half "
            "of the machine's",
            (long long)bytes);
    pthread_mutex_lock(&process.lock);
    process.limit = bytes;
    pthread_mutex_unlock(&process.lock);
    leati_kept_set_limit(bytes > 0 ? (size_t)bytes / 32 : SIZE_MAX);
    return LEAT_OK;
}

leati_budget *leati_budget_new(size_t memory_limit, int cpu_limit, leat_error *err) {
    leati_budget *budget = leati_alloc_zero(1, sizeof *budget);
    if (budget == NULL) {
        (void)leati_no_memory(err);
        return NULL;
    }
    atomic_init(&budget->references, 1);
    pthread_mutex_init(&budget->lock, NULL);
    budget->limit =
        memory_limit == 0 || memory_limit > INT64_MAX ? INT64_MAX : (int64_t)memory_limit;
    budget->cpus = cpu_limit > 0 ? cpu_limit : leati_pool_num_cores();
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

void leati_budget_holder_open(leati_holder *holder, leati_budget *budget, const char *name) {
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

/* Adds to what the process holds; false, and nothing, where more would go beyond its limit. With
 * the budget's lock. */
static bool grow_process(int64_t bytes) {
    pthread_mutex_lock(&process.lock);
    /* Giving back always fits, also where the limit was lowered below what is held. */
    bool fits = bytes <= 0 || bytes <= process_limit() - process.used;
    process.used += fits ? bytes : 0;
    pthread_mutex_unlock(&process.lock);
    return fits;
}

void leati_budget_holder_close(leati_holder *holder) {
    leati_budget *budget = holder->budget;
    if (budget == NULL)
        return;
    pthread_mutex_lock(&budget->lock);
    budget->used -= holder->bytes;
    grow_process(-holder->bytes);
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

/* The largest holders of this iterator as text, with the lock held: their names are valid only
 * under it. */
static void print_largest(const leati_budget *budget, char *text, size_t room) {
    const leati_holder *largest[NAMED];
    size_t length = (size_t)snprintf(text, room, "none");
    int count = find_largest(budget, largest);
    for (int i = 0; i < count; i++) {
        char size[LEATI_TEXT_BYTES];
        leati_text_of_bytes(size, largest[i]->bytes);
        length = i == 0 ? 0 : length;
        length += (size_t)snprintf(text + length, room - length, "%s%.*s %s", i == 0 ? "" : ", ",
                                   NAME_SIZE, largest[i]->name, size);
    }
}

/* Writes the refusal, with the lock held. */
static leat_status refuse(const leati_holder *holder, int64_t bytes, leat_error *err) {
    const leati_budget *budget = holder->budget;
    char list[NAMED * (NAME_SIZE + LEATI_TEXT_BYTES) + 16], wanted[LEATI_TEXT_BYTES],
        limit[LEATI_TEXT_BYTES], others[LEATI_TEXT_BYTES];
    print_largest(budget, list, sizeof list);
    leati_text_of_bytes(wanted, bytes);
    leati_text_of_bytes(limit, budget->limit);
    leati_text_of_bytes(others, budget->used - holder->bytes);
    return leati_fail(err, LEAT_RESOURCE_EXHAUSTED,
                      "%.*s needs %s, but the iterator's memory limit is %s and others hold %s; "
                      "largest holders: %s; make their buffers smaller or raise the limit",
                      NAME_SIZE, holder->name, wanted, limit, others, list);
}

static leat_status refuse_process(const leati_holder *holder, int64_t bytes, leat_error *err) {
    const leati_budget *budget = holder->budget;
    char list[NAMED * (NAME_SIZE + LEATI_TEXT_BYTES) + 16], wanted[LEATI_TEXT_BYTES],
        limit[LEATI_TEXT_BYTES], others[LEATI_TEXT_BYTES], elsewhere[LEATI_TEXT_BYTES];
    print_largest(budget, list, sizeof list);
    leati_text_of_bytes(wanted, bytes);
    leati_text_of_bytes(others, budget->used - holder->bytes);
    pthread_mutex_lock(&process.lock);
    leati_text_of_bytes(limit, process_limit());
    leati_text_of_bytes(elsewhere, process.used - budget->used);
    pthread_mutex_unlock(&process.lock);
    return leati_fail(err, LEAT_RESOURCE_EXHAUSTED,
                      "%.*s needs %s, but the memory limit of all iterators is %s; other operators "
                      "of this one hold %s, other iterators %s; largest holders here: %s; make "
                      "their buffers smaller or raise the limit (leat_limits_set_memory)",
                      NAME_SIZE, holder->name, wanted, limit, others, elsewhere, list);
}

leat_status leati_budget_holder_set(leati_holder *holder, int64_t bytes, leat_error *err) {
    leati_budget *budget = holder->budget;
    leat_status status = LEAT_OK;
    pthread_mutex_lock(&budget->lock);
    int64_t others = budget->used - holder->bytes;
    /* The limit and what others hold are at least 0, so the difference cannot overflow. */
    if (bytes > holder->bytes && bytes > budget->limit - others) {
        status = refuse(holder, bytes, err);
    } else if (!grow_process(bytes - holder->bytes)) {
        status = refuse_process(holder, bytes, err);
    } else {
        budget->used = others + bytes;
        holder->bytes = bytes;
    }
    pthread_mutex_unlock(&budget->lock);
    return status;
}

bool leati_budget_fits(const leati_budget *budget, int64_t bytes) {
    pthread_mutex_lock(&process.lock);
    int64_t left = process_limit() - process.used;
    pthread_mutex_unlock(&process.lock);
    return bytes <= left && bytes <= budget->limit - leati_budget_used(budget);
}

int64_t leati_budget_limit(const leati_budget *budget) {
    pthread_mutex_lock(&process.lock);
    int64_t limit = process_limit();
    pthread_mutex_unlock(&process.lock);
    return LEATI_MIN(budget->limit, limit);
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
