/* The conformance suites: each runs over every line of a table and is one part of the executable
 * tests/conform_test. A part returns the number of its tests that failed. */
#ifndef CONFORM_H
#define CONFORM_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the next case is one of the part that runs; `dealt` counts a suite's cases, from 0. */
bool conform_mine(size_t *dealt);

/* Every tensor operation against tests/conform/ops/<name>.json. */
int conform_ops(void);

/* What the descriptors say to callers, and the same cases. */
int conform_ops_fields(void);

/* The same cases as steps of a CPU device. */
int conform_ops_devices(void);

/* The same as steps of XLA_CPU:0, by its PJRT plug-in. */
int conform_ops_pjrt(void);

/* Operations whose cases need more than values: variables and replicas; files and pictures. */
int conform_ops_state(void);
int conform_ops_pictures(void);

/* Every name of tf.data against the table of operators and the public headers. */
int conform_census(void);

/* What bindings offer of the operations against TensorFlow's signatures. */
int conform_signatures(void);

/* Every dataset operator against tests/conform/data/<name>.json, and compositions of them. */
int conform_data(void);

/* The same cases by random access, and with each n-th allocation failing. */
int conform_data_at(void);
int conform_data_memory(void);

/* The same cases through a data service, from one worker, two and three. */
int conform_data_service(void);

/* Every argument of every dataset operator with values that it does not take. */
int conform_arguments(void);

/* What the descriptor of every dataset operator says, and whether that holds. */
int conform_descriptors(void);

/* Every dataset operator with saved states that are damaged. */
int conform_states(void);

/* The types of operations' outputs against TensorFlow's shape functions. */
int conform_types(void);

#endif
