/* The table of tensor operations as JSON, for listings and bindings. */
#ifndef LEATI_GRAPH_LISTING_H
#define LEATI_GRAPH_LISTING_H

#include <jansson.h>

/* The list that leat_operations_json writes. Owned; NULL without memory. */
json_t *leati_listing_describe_ops(void);

#endif
