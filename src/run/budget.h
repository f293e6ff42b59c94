/* Memory and CPU budgets of an iterator, within the process's memory limit
 * (leat_limits_set_memory). Only what outlives a pull is counted (buffers, rings, caches). */
#ifndef LEATI_RUN_BUDGET_H
#define LEATI_RUN_BUDGET_H

#include <leat/base.h>

typedef struct leati_budget leati_budget;

/* `memory_limit` in bytes; 0: the process's alone. `cpu_limit` in threads; 0: all. Owned (one
 * reference). */
leati_budget *leati_budget_new(size_t memory_limit, int cpu_limit, leat_error *err);
leati_budget *leati_budget_ref(leati_budget *budget);
void leati_budget_unref(leati_budget *budget);

/* One holder of memory within a budget; embedded in an operator's state. {0} before open. */
typedef struct leati_holder {
    leati_budget *budget; /* borrowed */
    const char *name;     /* borrowed: operator and label */
    int64_t bytes;        /* atomic by the budget's lock */
    struct leati_holder *next, *previous;
} leati_holder;

void leati_budget_holder_open(leati_holder *holder, leati_budget *budget, const char *name);
void leati_budget_holder_close(leati_holder *holder);
/* Sets what the holder holds. Growing beyond the budget's limit, or the process's, fails with
 * RESOURCE_EXHAUSTED naming the three largest holders and what to change; the old figure stays.
 * Shrinking never fails. */
LEAT_WARN_UNUSED leat_status leati_budget_holder_set(leati_holder *holder, int64_t bytes,
                                                     leat_error *err);
/* True if `bytes` more would fit now. */
bool leati_budget_fits(const leati_budget *budget, int64_t bytes);
/* The smaller of the two limits. */
int64_t leati_budget_limit(const leati_budget *budget);
int64_t leati_budget_used(const leati_budget *budget);
int leati_budget_cpus(const leati_budget *budget);

#endif
