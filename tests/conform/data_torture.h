/* Each n-th allocation failing, for one case of a dataset operator. */
#ifndef DATA_TORTURE_H
#define DATA_TORTURE_H

#include <jansson.h>

/* Fails the running test if a failed allocation leaks, crashes, or is not reported. `folder` is the
 * one that the case writes to; it is emptied after each run. */
void data_torture(const json_t *json, const char *folder);

#endif
