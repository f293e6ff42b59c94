/* The table of tensor operations: graph/ops.def, and what higher rooms join.
 *
 * Happy path: the first lookup asks leati_join_tables, which src/leat.c defines, for the tables of
 * higher rooms; the unit tests of graph are linked without that file and see graph's own table
 * alone, so the reference is weak. Lookups are linear: they happen while graphs are built. Joining
 * is rare and takes `lock`; readers see `num_ops` grow, never shrink. */
#include "base/fork.h"
#include "graph/graph.h"
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#define MAX_OPS 1024

static const leati_tensor_op *ops[MAX_OPS] = {
#define X(family, file, name) &leati_tensor_op_##name,
#include "graph/ops.def"
#undef X
};

/* The family of each operation of ops.def, in its order. */
static const char *const families[] = {
#define X(family, file, name) #family,
#include "graph/ops.def"
#undef X
};

#define X(family, file, name) +1
enum {
    OWN_OPS = 0
#include "graph/ops.def"
};
#undef X

static atomic_size_t num_ops = OWN_OPS;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards writing `ops` and `num_ops` */
LEATI_FORK_LOCK(operations, &lock);
static pthread_once_t joined = PTHREAD_ONCE_INIT;

void leati_join_tables(void) __attribute__((weak));

static void join_tables(void) {
    if (leati_join_tables)
        leati_join_tables();
}

void leati_graph_ops_join(const leati_tensor_op *const *more, size_t count) {
    pthread_mutex_lock(&lock);
    size_t have = atomic_load(&num_ops);
    for (size_t i = 0; i < count && have < MAX_OPS; i++) {
        size_t at = 0;
        /* A name that is there already stays, so that joining a table twice changes nothing. */
        while (at < have && strcmp(ops[at]->name, more[i]->name) != 0)
            at++;
        if (at == have)
            ops[have++] = more[i];
    }
    /* After the entries, so that a reader who sees the count sees them, too. */
    atomic_store(&num_ops, have);
    pthread_mutex_unlock(&lock);
}

const leati_tensor_op *const *leati_graph_ops(size_t *count) {
    pthread_once(&joined, join_tables);
    *count = atomic_load(&num_ops);
    return ops;
}

const leati_tensor_op *leati_graph_op_find(const char *name) {
    size_t count;
    const leati_tensor_op *const *table = leati_graph_ops(&count);
    /* The first letter settles most of some hundred comparisons without a call. */
    for (size_t i = 0; name != NULL && i < count; i++)
        if (table[i]->name[0] == name[0] && strcmp(table[i]->name, name) == 0)
            return table[i];
    return NULL;
}

const char *leati_graph_op_family(const leati_tensor_op *op) {
    for (size_t i = 0; i < OWN_OPS; i++)
        if (ops[i] == op)
            return families[i];
    return "data";
}
