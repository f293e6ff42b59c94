/* Handles of processes, by the system's calls themselves: glibc has functions for them from 2.36
 * on, and a wheel shall run with older ones. */
#ifndef LEATI_CLI_PIDFD_H
#define LEATI_CLI_PIDFD_H

#include <signal.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/* A descriptor of the process, or -1 with errno. */
static inline int leati_pidfd_open(pid_t pid) {
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

/* 0, or -1 with errno. */
static inline int leati_pidfd_signal(int handle, int number) {
    return (int)syscall(SYS_pidfd_send_signal, handle, number, NULL, 0);
}

#endif
