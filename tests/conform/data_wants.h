/* A dataset operator of the tests' own that asks its input for random numbers of elements and hands
 * out random numbers of them: whatever an operator assumes about the sizes of requests and blocks,
 * it breaks. */
#ifndef DATA_WANTS_H
#define DATA_WANTS_H

#include "data/plan/dataset.h"

/* The plan with such an operator above each of its nodes (an operator that makes its own inputs
 * keeps them). `dataset` is given. Owned; NULL on failure. */
leat_dataset *wants_between(leat_dataset *dataset, uint64_t seed, leat_error *err);

#endif
