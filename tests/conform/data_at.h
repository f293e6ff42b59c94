/* Random access against the elements that a case expects of an iteration. */
#ifndef DATA_AT_H
#define DATA_AT_H

#include "support/golden.h"

/* Asks the case's dataset for each element by its index, backwards, forwards and with handles of
 * its own, and for those around them. False where there is nothing to compare: the plan has no
 * random access, another order there, or errors, which take places of their own. */
bool data_at(golden_case *c, const json_t *json);

/* The same with each n-th allocation failing; only for cases that data_at compares. */
void data_at_torture(const json_t *json);

#endif
