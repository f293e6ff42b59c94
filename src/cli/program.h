/* Looking at a program that runs and has pages: `leat watch PID`. */
#ifndef LEATI_CLI_PROGRAM_H
#define LEATI_CLI_PROGRAM_H

#include "cli/command.h"

typedef struct leati_program_options {
    bool json;       /* the states as their pages say them, one a line */
    int64_t count;   /* how many times; 0: until the program ends */
    double interval; /* seconds between two times; 0: one */
} leati_program_options;

/* Prints what the pipelines of process `pid` do, again and again, until it ends (OK) or Ctrl-C.
 * Between two pipelines, when it has no page, it says so and goes on. A process that shows nothing
 * at first is a failure, said with one way out. LEAT_WATCH_TOKEN in the environment is shown to its
 * pages. */
leati_exit leati_program_watch(int pid, const leati_program_options *options);

#endif
