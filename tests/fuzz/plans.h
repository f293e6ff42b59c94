/* What the targets of plans share. */
#ifndef FUZZ_PLANS_H
#define FUZZ_PLANS_H

#include "data/plan/dataset.h"

/* Does the text stay within the scratch folder: no absolute name, nothing above? */
bool fuzz_text_is_tame(const uint8_t *data, size_t size);
/* The plan of a JSON text under the global seed 7; NULL where it is refused. Owned. */
leat_dataset *fuzz_plan_of(const uint8_t *data, size_t size);
/* Calls `use` with the JSON text of every case of the dataset operators. */
void fuzz_each_case(void (*use)(const char *text));

#endif
