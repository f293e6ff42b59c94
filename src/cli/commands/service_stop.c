/* leat service stop: ends a dispatcher or worker of this machine by its --pid-file.
 *
 * Happy path: the file is held by a process that runs; it gets SIGTERM, and this command waits for
 * its end. The lock of the file says whether somebody runs, so a number that another process has
 * got since is never signalled: a handle of the process is taken first, and then the file is read
 * again. Failures: no such file, nobody holds it, a process that does not end in time. No locks but
 * the file's, for a moment. */
#include "base/alloc.h"
#include "base/clock.h"
#include "cli/command.h"
#include "cli/pidfd.h"
#include "cli/print.h"
#include "cli/say.h"
#include "file/lock.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct stop_options {
    double timeout;
    bool kill;
};

enum { LONGEST_NUMBER = 64 };

/* The process that holds the file; 0 after a message. */
static pid_t holder(const char *path) {
    leat_error err = {0};
    leati_lock *lock = NULL;
    leat_status status = leati_lock_take(path, &lock, &err);
    leati_lock_free(lock);
    if (status == LEAT_OK) {
        leati_say_error("service stop: nobody holds %s: its process has ended", path);
        return 0;
    }
    char *text =
        status == LEAT_ALREADY_EXISTS ? leati_print_read_text(path, LONGEST_NUMBER, &err) : NULL;
    long number = text != NULL ? strtol(text, NULL, 10) : 0;
    if (text == NULL)
        leati_say_error("service stop: %s", err.text);
    else if (number <= 0)
        leati_say_error("service stop: %s is no file of leat service --pid-file", path);
    leati_free(text);
    return number > 0 ? (pid_t)number : 0;
}

/* A handle of the process that holds the file; -1 after a message. */
static int open_holder(const char *path) {
    pid_t pid = holder(path);
    if (pid == 0)
        return -1;
    int handle = leati_pidfd_open(pid);
    if (handle < 0) {
        leati_say_error("service stop: process %ld of %s: %s", (long)pid, path, strerror(errno));
        return -1;
    }
    /* Whoever holds the file still is whoever the handle is of. */
    if (holder(path) == pid)
        return handle;
    (void)close(handle);
    return -1;
}

/* False where it has not ended by then. */
static bool wait_for_end(int handle, double seconds) {
    struct pollfd polled = {.fd = handle, .events = POLLIN};
    int64_t end_ns = leati_now_ns() + (int64_t)(seconds * 1e9);
    for (;;) {
        int64_t left_ms = (end_ns - leati_now_ns()) / 1000000;
        int ready = poll(&polled, 1, left_ms < 0 ? 0 : (int)left_ms + 1);
        if (ready > 0)
            return true;
        if (ready == 0 && leati_now_ns() >= end_ns)
            return false;
    }
}

static leati_exit end_process(int handle, const struct stop_options *o, const char *path) {
    if (leati_pidfd_signal(handle, SIGTERM) != 0) {
        leati_say_error("service stop: the process of %s: %s", path, strerror(errno));
        return LEATI_EXIT_FAILURE;
    }
    if (wait_for_end(handle, o->timeout))
        return LEATI_EXIT_OK;
    if (!o->kill) {
        leati_say_error("service stop: the process of %s has not ended in %g s; --kill ends it "
                        "then, and --timeout waits longer",
                        path, o->timeout);
        return LEATI_EXIT_FAILURE;
    }
    (void)leati_pidfd_signal(handle, SIGKILL);
    (void)wait_for_end(handle, 10);
    leati_say_error("service stop: the process of %s was killed after %g s", path, o->timeout);
    return LEATI_EXIT_FAILURE;
}

static leati_exit run_stop(void *values, char **arguments, int count) {
    (void)count;
    int handle = open_holder(arguments[0]);
    if (handle < 0)
        return LEATI_EXIT_FAILURE;
    leati_exit code = end_process(handle, values, arguments[0]);
    (void)close(handle);
    return code;
}

static void stop_defaults(void *values) {
    struct stop_options *o = values;
    o->timeout = 60;
}

static const leati_option stop_rows[] = {
    {.name = "timeout",
     .type = LEATI_OPTION_FLOAT,
     .offset = offsetof(struct stop_options, timeout),
     .value = "SECONDS",
     .minimum = 0,
     .maximum = 1e6,
     .doc = "how long to wait for its end; 60"},
    {.name = "kill",
     .type = LEATI_OPTION_FLAG,
     .offset = offsetof(struct stop_options, kill),
     .doc = "kill it then"},
    {0},
};

const leati_command leati_command_service_stop = {
    .name = "service stop",
    .summary = "end a dispatcher or worker of this machine",
    .arguments = "PIDFILE",
    .description =
        "Sends SIGTERM to the process that holds PIDFILE, the file of its --pid-file, and waits\n"
        "until it has ended: a worker is drained first. Status 1 where nobody holds the file, or\n"
        "the process does not end in time. To end a whole service: leat service drain --all, then\n"
        "stop the dispatcher.",
    .min_arguments = 1,
    .max_arguments = 1,
    .options = stop_rows,
    .size = sizeof(struct stop_options),
    .defaults = stop_defaults,
    .run = run_stop,
};
