/* leat service drain: has a worker, or all, give what is left and leave.
 *
 * Happy path: the dispatcher is told, and asked until the workers have left. Failures: a worker
 * that nobody knows; workers that have not left in time, which go on leaving. No locks. */
#include "base/clock.h"
#include "cli/say.h"
#include "cli/service.h"
#include "cli/service_table.h"
#include "core/json.h"
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

struct drain_options {
    const char *dispatcher;
    leati_service_access access;
    bool all;
    double timeout;
};

/* How long the dispatcher may take to answer, and the time between two questions. */
enum { CALL_MS = 5000, LOOK_MS = 100 };

struct draining {
    const char *address, *worker; /* worker: NULL for all */
    const leat_service_security *security;
};

/* Has this worker left? One that is lost has, too, but not well. */
static bool has_left(const char *state) {
    return state == NULL || strcmp(state, "stopped") == 0 || strcmp(state, "lost") == 0;
}

/* How many have not left. */
static int64_t count_left(const struct draining *d, const json_t *state) {
    const char *why = NULL;
    if (d->worker != NULL)
        return !has_left(leati_service_table_worker(state, d->worker, &why));
    const json_t *list = json_object_get(state, "workers");
    int64_t count = 0;
    for (size_t i = 0; i < json_array_size(list); i++)
        count += !has_left(json_string_value(json_object_get(json_array_get(list, i), "state")));
    return count;
}

/* The number of those who have not left; -1 with *err. */
static int64_t ask(const struct draining *d, leat_error *err) {
    char *text = leat_service_status(d->address, CALL_MS, d->security, err);
    json_t *state = text != NULL ? leati_json_parse(text, strlen(text), err) : NULL;
    int64_t left = state != NULL ? count_left(d, state) : -1;
    json_decref(state);
    leat_text_free(text);
    return left;
}

static leati_exit wait_for_them(const struct draining *d, double seconds) {
    int64_t end_ns = leati_now_ns() + (int64_t)(seconds * 1e9);
    for (;;) {
        leat_error err = {0};
        int64_t left = ask(d, &err);
        if (left == 0)
            return LEATI_EXIT_OK;
        if (leati_now_ns() >= end_ns && left > 0) {
            leati_say_error("service drain: %lld %s not left in %g s and will when %s done; leat "
                            "service status tells",
                            (long long)left, left == 1 ? "worker has" : "workers have", seconds,
                            left == 1 ? "it is" : "they are");
            return LEATI_EXIT_FAILURE;
        }
        if (leati_now_ns() >= end_ns ||
            (left < 0 && err.code != LEAT_UNAVAILABLE && err.code != LEAT_DEADLINE_EXCEEDED)) {
            leati_service_say_failure("service drain", d->address, &err);
            return LEATI_EXIT_FAILURE;
        }
        (void)nanosleep(&(struct timespec){.tv_nsec = LOOK_MS * 1000000}, NULL);
    }
}

static leati_exit drain(const struct draining *d, double seconds) {
    leat_error err = {0};
    if (leat_service_drain(d->address, d->worker, CALL_MS, d->security, &err) != LEAT_OK) {
        leati_service_say_failure("service drain", d->address, &err);
        return LEATI_EXIT_FAILURE;
    }
    return seconds > 0 ? wait_for_them(d, seconds) : LEATI_EXIT_OK;
}

static leati_exit run_drain(void *values, char **arguments, int count) {
    const struct drain_options *o = values;
    leati_service_credentials credentials = {0};
    if (o->all == (count > 0)) {
        leati_say_error("service drain: which worker? its address or uid as leat service status "
                        "shows it, or --all; found %s",
                        o->all ? "both" : "neither");
        return LEATI_EXIT_USAGE;
    }
    const char *address = leati_service_address(o->dispatcher, "service drain");
    if (address == NULL)
        return LEATI_EXIT_USAGE;
    if (!leati_service_access_read(&o->access, "service drain", &credentials))
        return LEATI_EXIT_FAILURE;
    struct draining d = {address, count > 0 ? arguments[0] : NULL, &credentials.security};
    leati_exit code = drain(&d, o->timeout);
    leati_service_access_fini(&credentials);
    return code;
}

static void drain_defaults(void *values) {
    struct drain_options *o = values;
    o->timeout = 60;
}

static const leati_option drain_rows[] = {
    LEATI_SERVICE_ADDRESS(struct drain_options, dispatcher),
    {.name = "all",
     .type = LEATI_OPTION_FLAG,
     .offset = offsetof(struct drain_options, all),
     .doc = "every worker"},
    {.name = "timeout",
     .type = LEATI_OPTION_FLOAT,
     .offset = offsetof(struct drain_options, timeout),
     .value = "SECONDS",
     .minimum = 0,
     .maximum = 1e6,
     .doc = "how long to wait until they have left; 60; 0, not at all"},
    LEATI_SERVICE_ACCESS(struct drain_options, access),
    {0},
};

const leati_command leati_command_service_drain = {
    .name = "service drain",
    .summary = "have a worker give what is left and leave",
    .arguments = "[WORKER]",
    .description =
        "The worker (its address or uid, as leat service status shows it) takes no new tasks,\n"
        "gives what it has made, hands the rest back to the others, and its process ends. The\n"
        "command waits until it has left; where the time is over its status is 1, and the worker\n"
        "goes on leaving. A job that has no other worker waits until one comes.",
    .max_arguments = 1,
    .options = drain_rows,
    .size = sizeof(struct drain_options),
    .defaults = drain_defaults,
    .run = run_drain,
};
