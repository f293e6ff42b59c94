/* Each n-th allocation failing, for one case of a dataset operator. */
#ifndef DATA_TORTURE_H
#define DATA_TORTURE_H

#include <jansson.h>

/* Fails the running test if a failed allocation leaks, crashes, or is not reported. */
void data_torture(const json_t *json);

#endif
