/* The table of dataset operators. */
#include "data/plan/op.h"
#include <string.h>

static const leati_dataset_op *const table[] = {
#define X(name) &leati_op_##name,
#include "data/ops.def"
#undef X
};

const leati_dataset_op *const *leati_plan_ops(size_t *count) {
    *count = sizeof(table) / sizeof(table[0]);
    return table;
}

const leati_dataset_op *leati_op_find(const char *name) {
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        if (strcmp(table[i]->name, name) == 0)
            return table[i];
    return NULL;
}
