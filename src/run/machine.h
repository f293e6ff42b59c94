/* What the machine grants to this process: cores and memory, after affinity masks and cgroups. */
#ifndef LEATI_RUN_MACHINE_H
#define LEATI_RUN_MACHINE_H

#include <leat/base.h>

/* The limits of the control groups (versions 1 and 2) that the process is in, read from files
 * under `root` ("" for the real ones; tests have their own): whole cores, rounded up, or INT_MAX;
 * bytes, or INT64_MAX. */
int leati_machine_cgroup_cores(const char *root);
int64_t leati_machine_cgroup_memory(const char *root);

/* Bytes of memory that the process may use: the machine's or its control group's. At least 1. */
int64_t leati_machine_memory(void);

#endif
