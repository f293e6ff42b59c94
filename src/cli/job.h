/* A job: processes of this machine that begin and end together, and what they print.
 *
 * Members are what the job is for: it ends well when all of them have. Helpers serve the members:
 * they end with the job, and one that ends before is told, started again where it may be, and the
 * end of the job where it cannot be spared. */
#ifndef LEATI_CLI_JOB_H
#define LEATI_CLI_JOB_H

#include "cli/command.h"

enum { LEATI_JOB_LONGEST_NAME = 32 };

/* What is set in a process's environment. Borrowed until the job is over. */
typedef struct leati_job_variable {
    const char *name; /* NULL ends the list */
    char *value;
} leati_job_variable;

/* One process, before it is started. Everything is borrowed until the job is over. */
typedef struct leati_job_program {
    char name[LEATI_JOB_LONGEST_NAME]; /* "worker 2": before its lines and in messages */
    char **arguments;                  /* the program first; ended by NULL */
    const leati_job_variable *variables;
    bool helper;   /* else a member */
    bool needed;   /* a helper whose end is the end of the job */
    int64_t again; /* how often a helper is started again */
} leati_job_program;

typedef struct leati_job_options {
    double grace;                        /* seconds between asking to end and killing */
    bool plain;                          /* lines without names */
    const leati_job_variable *variables; /* of all processes */
} leati_job_options;

/* Runs `count` programs to their end: those of members that failed first give the status (128 and
 * the number of a signal). Takes SIGINT, SIGTERM and SIGHUP, which end all, and blocks them in the
 * calling thread. Where this process is killed the system kills the others. */
leati_exit leati_job_run(const leati_job_program *programs, int count,
                         const leati_job_options *options);

#endif
