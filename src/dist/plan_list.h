/* A plan as a list of the things that decide which elements come and in which order. */
#ifndef LEATI_DIST_PLAN_LIST_H
#define LEATI_DIST_PLAN_LIST_H

#include "data/plan/dataset.h"
#include "dist/agreement.h"

/* Adds operators, arguments, files and functions of the plan, from its end to its sources. Not
 * among them: what constructors drew, since workers take over worker 0's seeds. */
void leati_plan_list_add(leati_agreement_list *list, const leat_dataset *dataset);

#endif
