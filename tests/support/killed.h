/* Processes that are killed: work runs in a child, SIGKILL ends it at a chosen place, and another
 * child goes on with what lies on the disk. The calling process must not have used the library's
 * threads. */
#ifndef KILLED_H
#define KILLED_H

#include "golden.h"

/* Runs in the child; `reached` is called at each place where it may be killed. The result becomes
 * its exit code, 0 to 100. */
typedef int (*killed_body)(void *context);

/* In the child: says that a place was reached. */
void killed_reached(void);

/* Forks, runs `body` and kills it once it has reached `places` places (negative: never): at the
 * last of them where `there`, else wherever it has come to meanwhile, which may be its end. The
 * exit code, or -1 where it was killed, or -2 where it died otherwise. */
int killed_run(killed_body body, void *context, int places, bool there);

/* One case of the form of tests/golden/data: a child runs it and writes its outcomes and its state
 * to a file after each outcome; it is killed at places drawn from `seed`, and children that restore
 * follow until one comes to the end. Its outcomes must be the case's. False where the plan cannot
 * be saved; a difference is reported to `c`. */
bool killed_case(golden_case *c, const json_t *json, uint64_t seed);

#endif
