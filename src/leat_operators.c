/* Joins the table of dataset operators of data/ with those of higher rooms, as src/leat.c does for
 * tensor operations. It is a file of its own because rooms below service/ are tested without it.
 * data/plan/table.c calls leati_join_operators once, at the first lookup. Cannot fail; no locks. */
#include "data/plan/op.h"

void leati_join_operators(void);

#define X(name) extern const leati_dataset_op leati_op_##name;
#include "service/ops.def"
#undef X

static const leati_dataset_op *const operators[] = {
#define X(name) &leati_op_##name,
#include "service/ops.def"
#undef X
};

void leati_join_operators(void) {
    leati_plan_ops_join(operators, sizeof operators / sizeof operators[0]);
}
