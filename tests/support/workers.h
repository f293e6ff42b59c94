/* Tests with several processes: the test program starts itself again, once for each worker of a
 * job, with TF_CONFIG and the name of the case that the workers are to run.
 *
 * A test calls workers_run; its program's main calls workers_case first, which in a worker says
 * which case is wanted. A worker hands lines to the test by workers_say. Header only; include it
 * after "support/cmocka.h". Whatever goes wrong fails the test. */
#ifndef TEST_WORKERS_H
#define TEST_WORKERS_H

#include "address.h"
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define WORKERS_UNUSED __attribute__((unused))

enum { WORKERS_MOST = 4, WORKERS_SAID = 1 << 16 };

typedef struct workers_result {
    char said[WORKERS_SAID]; /* terminated */
    int status;              /* of the exit; -1: ended by a signal */
    pid_t pid;
    int from;
} workers_result;

typedef struct workers_job {
    const char *wanted;   /* which case the workers run */
    const char *argument; /* for workers_argument; NULL: "" */
    int count;            /* of the cluster */
    int absent;           /* a worker that is not started; -1: none */
    int stopped;          /* a worker that will stop and is killed in the end; -1: none */
    int other;            /* a worker whose argument is `other_argument`; -1: none */
    const char *other_argument;
} workers_job;

/* In a worker: the case that it is to run; NULL in the test itself. */
WORKERS_UNUSED static const char *workers_case(void) {
    return getenv("LEAT_TEST_CASE");
}

WORKERS_UNUSED static const char *workers_argument(void) {
    return getenv("LEAT_TEST_ARGUMENT");
}

/* In a worker: says a line to the test. */
WORKERS_UNUSED __attribute__((format(printf, 1, 2))) static void workers_say(const char *format,
                                                                             ...) {
    va_list args;
    char line[2048];
    va_start(args, format);
    int size = vsnprintf(line, sizeof line - 1, format, args);
    va_end(args);
    size = size < (int)sizeof line - 2 ? size : (int)sizeof line - 2;
    line[size++] = '\n';
    if (write(atoi(getenv("LEAT_TEST_SAY")), line, (size_t)size) != size)
        abort();
}

WORKERS_UNUSED static void workers_start(const workers_job *job, const char *address, int number,
                                         workers_result *result) {
    int ends[2];
    char config[1024], text[16];
    int used = snprintf(config, sizeof config, "{\"cluster\": {\"worker\": [\"%s\"", address);
    for (int i = 1; i < job->count; i++)
        used += snprintf(config + used, sizeof config - (size_t)used, ", \"10.0.0.%d:2222\"", i);
    snprintf(config + used, sizeof config - (size_t)used,
             "]}, \"task\": {\"type\": \"worker\", \"index\": %d}}", number);
    assert_int_equal(pipe(ends), 0);
    result->from = ends[0];
    result->pid = fork();
    assert_true(result->pid >= 0);
    if (result->pid != 0) {
        close(ends[1]);
        return;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* no worker outlives its test */
    const char *argument = number == job->other ? job->other_argument : job->argument;
    snprintf(text, sizeof text, "%d", ends[1]);
    close(ends[0]);
    setenv("TF_CONFIG", config, 1);
    setenv("LEAT_TEST_CASE", job->wanted, 1);
    setenv("LEAT_TEST_ARGUMENT", argument == NULL ? "" : argument, 1);
    setenv("LEAT_TEST_SAY", text, 1);
    execl("/proc/self/exe", "worker", (char *)NULL);
    _exit(126);
}

/* All that the worker says, until it ends. */
WORKERS_UNUSED static void workers_finish(workers_result *result) {
    size_t used = 0;
    for (;;) {
        ssize_t got = read(result->from, result->said + used, sizeof result->said - 1 - used);
        if (got <= 0)
            break;
        used += (size_t)got;
    }
    result->said[used] = '\0';
    close(result->from);
    int status = 0;
    assert_int_equal(waitpid(result->pid, &status, 0), result->pid);
    result->status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Runs the job; results[i] is worker i's. */
WORKERS_UNUSED static void workers_run(const workers_job *job, workers_result *results) {
    char address[32];
    free_address(address, sizeof address);
    for (int i = 0; i < job->count; i++)
        if (i != job->absent)
            workers_start(job, address, i, &results[i]);
    for (int i = 0; i < job->count; i++)
        if (i != job->absent && i != job->stopped)
            workers_finish(&results[i]);
    if (job->stopped >= 0) {
        kill(results[job->stopped].pid, SIGKILL);
        workers_finish(&results[job->stopped]);
    }
}

/* The same where every worker is to end well. */
WORKERS_UNUSED static void workers_run_well(const char *wanted, const char *argument, int count,
                                            workers_result *results) {
    const workers_job job = {.wanted = wanted,
                             .argument = argument,
                             .count = count,
                             .absent = -1,
                             .stopped = -1,
                             .other = -1};
    workers_run(&job, results);
    for (int i = 0; i < count; i++)
        if (results[i].status != 0)
            fail_msg("%s, worker %d of %d: status %d: %s", wanted, i, count, results[i].status,
                     results[i].said);
}

#endif
