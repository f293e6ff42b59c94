/* What operators above a case's pipeline make of it, whatever it is made of: skip, which advances
 * its operators without taking elements, repeat, which begins them anew, and global_shuffle, which
 * asks for lists of elements. */
#ifndef CONFORM_DATA_OVER_H
#define CONFORM_DATA_OVER_H

#include "support/golden.h"

enum { DATA_OVER_TRIES = 5 };

/* The case with skip over it, by one of some counts; the last one is more than there are. */
void data_over_skip(golden_case *c, const json_t *json, int which);
/* The case with repeat over it, where its second epoch is known and equal to the first; then with
 * skip over that. */
void data_over_repeat(golden_case *c, const json_t *json, int which);
/* Of a case with an operator that keeps elements: a state that was saved in the middle is restored
 * after another iterator over the same dataset came to its end (and completed what caches and
 * snapshots keep), then saved and restored at each outcome. */
void data_over_others(golden_case *c, const json_t *json, int which);
/* The case with global_shuffle over it: its elements, in the order in which that takes numbers.
 * Returns whether the pipeline has random access. */
bool data_over_shuffle(golden_case *c, const json_t *json);

#endif
