/* The table of dataset operators as JSON, for listings and bindings. */
#ifndef LEATI_DATA_PLAN_LISTING_H
#define LEATI_DATA_PLAN_LISTING_H

#include <jansson.h>

/* The list that leat_dataset_operators_json writes. Owned; NULL without memory. */
json_t *leati_plan_ops_describe(void);

#endif
