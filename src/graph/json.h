/* Functions as JSON values: what leat_function_to_json prints, and what plans hold as function
 * arguments. */
#ifndef LEATI_GRAPH_JSON_H
#define LEATI_GRAPH_JSON_H

#include <jansson.h>
#include <leat/graph.h>

/* The JSON form of a function (owned); UNIMPLEMENTED for unregistered callbacks and variables. */
json_t *leati_json_write_function(const leat_function *function, leat_error *err);

/* The function of that form (owned), or of {"callback": name, "input": spec, "output": spec} for a
 * registered callback. */
leat_function *leati_json_read_function(const json_t *json, leat_error *err);

#endif
