/* The memory of a worker's tasks; see budget.h. Numbers are atomic, so that a task looks at them
 * under its own lock alone; whoever lets the sum fall below the limit, or the number of parts, has
 * all tasks look again, and so does whoever lets them grow while somebody has what could be
 * dropped. Cannot fail but for memory of its own. */
#include "service/worker/budget.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/minmax.h"
#include <pthread.h>
#include <stdatomic.h>

static const int64_t task_most = INT64_C(64) << 20;

struct leati_worker_budget {
    atomic_long references;
    int64_t limit;
    atomic_llong used, spare, makers;
    pthread_mutex_t lock;
    leati_worker_holder *holders; /* the lock's */
};

leati_worker_budget *leati_worker_budget_new(int64_t limit, leat_error *err) {
    leati_worker_budget *budget = leati_alloc_zero(1, sizeof *budget);
    if (budget == NULL) {
        (void)leati_no_memory(err);
        return NULL;
    }
    atomic_init(&budget->references, 1);
    atomic_init(&budget->used, 0);
    atomic_init(&budget->spare, 0);
    atomic_init(&budget->makers, 0);
    budget->limit = limit;
    pthread_mutex_init(&budget->lock, NULL);
    return budget;
}

leati_worker_budget *leati_worker_budget_ref(leati_worker_budget *budget) {
    atomic_fetch_add(&budget->references, 1);
    return budget;
}

void leati_worker_budget_unref(leati_worker_budget *budget) {
    if (budget == NULL || atomic_fetch_sub(&budget->references, 1) != 1)
        return;
    pthread_mutex_destroy(&budget->lock);
    leati_free(budget);
}

int64_t leati_worker_budget_limit(const leati_worker_budget *budget) {
    return budget->limit;
}

int64_t leati_worker_budget_used(const leati_worker_budget *budget) {
    return atomic_load((atomic_llong *)(uintptr_t)&budget->used);
}

void leati_worker_budget_wake(leati_worker_budget *budget) {
    pthread_mutex_lock(&budget->lock);
    for (leati_worker_holder *holder = budget->holders; holder != NULL; holder = holder->next)
        holder->wake(holder->context);
    pthread_mutex_unlock(&budget->lock);
}

/* ---- holders ---- */

void leati_worker_holder_open(leati_worker_holder *holder, leati_worker_budget *budget,
                              void (*wake)(void *context), void *context) {
    *holder = (leati_worker_holder){
        .budget = leati_worker_budget_ref(budget), .wake = wake, .context = context};
    pthread_mutex_lock(&budget->lock);
    holder->next = budget->holders;
    if (holder->next != NULL)
        holder->next->previous = holder;
    budget->holders = holder;
    pthread_mutex_unlock(&budget->lock);
}

void leati_worker_holder_close(leati_worker_holder *holder) {
    leati_worker_budget *budget = holder->budget;
    if (budget == NULL)
        return;
    bool wakes = leati_worker_holder_end(holder);
    pthread_mutex_lock(&budget->lock);
    if (holder->previous != NULL)
        holder->previous->next = holder->next;
    else
        budget->holders = holder->next;
    if (holder->next != NULL)
        holder->next->previous = holder->previous;
    pthread_mutex_unlock(&budget->lock);
    *holder = (leati_worker_holder){0};
    if (wakes)
        leati_worker_budget_wake(budget);
    leati_worker_budget_unref(budget);
}

/* Has somebody what could be dropped? */
static bool has_spare(const leati_worker_budget *budget) {
    return atomic_load((atomic_llong *)(uintptr_t)&budget->spare) > 0;
}

bool leati_worker_holder_begin(leati_worker_holder *holder) {
    if (holder->makes)
        return false;
    atomic_fetch_add(&holder->budget->makers, 1);
    holder->makes = true;
    return has_spare(holder->budget);
}

bool leati_worker_holder_set(leati_worker_holder *holder, const leati_worker_held *held) {
    if (!holder->makes)
        return false;
    leati_worker_budget *budget = holder->budget;
    int64_t more = held->all - holder->held.all, limit = budget->limit;
    atomic_fetch_add(&budget->spare, held->spare - holder->held.spare);
    holder->held = *held;
    if (more == 0)
        return false;
    int64_t before = atomic_fetch_add(&budget->used, more), now = before + more;
    return (before >= limit && now < limit) || (more > 0 && now > limit && has_spare(budget));
}

bool leati_worker_holder_end(leati_worker_holder *holder) {
    if (!holder->makes)
        return false;
    (void)!leati_worker_holder_set(holder, &(leati_worker_held){0});
    holder->makes = false;
    /* The others' parts are larger now. */
    return atomic_fetch_sub(&holder->budget->makers, 1) > 1;
}

static int64_t part_of(const leati_worker_holder *holder) {
    int64_t makers = atomic_load(&holder->budget->makers);
    return holder->budget->limit / LEATI_MAX(makers, 1);
}

bool leati_worker_holder_has_room(const leati_worker_holder *holder) {
    const leati_worker_held *held = &holder->held;
    int64_t part = part_of(holder);
    return held->all - held->spare < part && held->ready < LEATI_MIN(part, task_most) &&
           leati_worker_budget_used(holder->budget) - held->spare < holder->budget->limit;
}

int64_t leati_worker_holder_excess(const leati_worker_holder *holder, int64_t all) {
    int64_t used = leati_worker_budget_used(holder->budget) - holder->held.all + all;
    int64_t excess = LEATI_MAX(all - part_of(holder), used - holder->budget->limit);
    return LEATI_MAX(excess, 0);
}
