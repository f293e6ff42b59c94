/* The table of dataset operators: data/ops.def, and what higher rooms join.
 *
 * Happy path: the first lookup asks leati_join_operators, which src/leat_operators.c defines, for
 * the tables of higher rooms; the unit tests of rooms below these are linked without that file and
 * see data's own table alone, so the reference is weak. Cannot fail: a table that does not fit is
 * an error of the build (MOST_JOINED). Locks: none; pthread_once orders the one writing. */
#include "data/plan/op.h"
#include <pthread.h>
#include <string.h>

enum { MOST_JOINED = 16 };

#define X(name) +1
enum {
    OWN_OPS = 0
#include "data/ops.def"
};
#undef X

static const leati_dataset_op *table[OWN_OPS + MOST_JOINED] = {
#define X(name) &leati_op_##name,
#include "data/ops.def"
#undef X
};
static size_t num_ops = OWN_OPS; /* written under `joined` alone */
static pthread_once_t joined = PTHREAD_ONCE_INIT;

void leati_join_operators(void) __attribute__((weak));

static void join_operators(void) {
    if (leati_join_operators)
        leati_join_operators();
}

void leati_plan_ops_join(const leati_dataset_op *const *more, size_t count) {
    for (size_t i = 0; i < count && num_ops < OWN_OPS + MOST_JOINED; i++)
        table[num_ops++] = more[i];
}

const leati_dataset_op *const *leati_plan_ops(size_t *count) {
    pthread_once(&joined, join_operators);
    *count = num_ops;
    return table;
}

const leati_dataset_op *leati_op_find(const char *name) {
    size_t count;
    const leati_dataset_op *const *ops = leati_plan_ops(&count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(ops[i]->name, name) == 0)
            return ops[i];
    return NULL;
}
