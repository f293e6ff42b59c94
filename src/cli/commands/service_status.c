/* leat service status: what a dispatcher knows, for people and for scripts.
 *
 * Happy path: one question, one set of tables, and status 0 where the service is ready: the
 * dispatcher answers and enough workers are ready. --watch asks again and again, and goes on
 * through a restart of the dispatcher; --wait asks until the service is ready. Failures: a
 * dispatcher that does not answer, or not in time. No locks. */
#include "base/alloc.h"
#include "base/clock.h"
#include "cli/say.h"
#include "cli/service.h"
#include "cli/service_table.h"
#include "core/json.h"
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

struct status_options {
    const char *dispatcher;
    leati_service_access access;
    bool json, watch, ready;
    int64_t workers, count;
    double interval, timeout, wait;
};

/* A look at the service after another. */
struct looking {
    const struct status_options *options;
    const char *address;
    leati_service_credentials credentials;
    json_t *state, *before; /* owned */
    char *text;             /* of `state`, owned */
    leat_error err;
};

/* Between two looks of --wait. */
enum { WAIT_MS = 100 };

static void sleep_ms(int64_t ms) {
    struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    (void)nanosleep(&left, NULL);
}

/* Asks; false with l->err where there is no answer. */
static bool look(struct looking *l) {
    int64_t timeout_ms = (int64_t)(l->options->timeout * 1e3);
    l->err = (leat_error){0};
    json_decref(l->before);
    l->before = l->state;
    l->state = NULL;
    leat_text_free(l->text);
    l->text = leat_service_status(l->address, timeout_ms, &l->credentials.security, &l->err);
    if (l->text != NULL)
        l->state = leati_json_parse(l->text, strlen(l->text), &l->err);
    return l->state != NULL;
}

static bool is_ready(const struct looking *l) {
    return l->state != NULL && leati_service_table_ready(l->state) >= l->options->workers;
}

static void say_ready(const struct looking *l) {
    int64_t ready = leati_service_table_ready(l->state);
    printf("%s: %" PRId64 " of %" PRId64 " workers\n", is_ready(l) ? "ready" : "not ready", ready,
           l->options->workers);
}

static bool print_tables(const struct looking *l) {
    leati_text out = {0};
    leati_service_table_write(l->state, l->before, &out);
    char *text = leati_text_take(&out);
    if (text == NULL) {
        leati_say_error("out of memory");
        return false;
    }
    fputs(text, stdout);
    leati_free(text);
    return true;
}

static bool print(const struct looking *l) {
    if (l->options->ready)
        say_ready(l);
    else if (l->options->json)
        puts(l->text);
    else
        return print_tables(l);
    return true;
}

/* Is it still worth asking? A refusal does not pass by waiting. */
static bool may_pass(const struct looking *l) {
    return l->state != NULL || l->err.code == LEAT_UNAVAILABLE ||
           l->err.code == LEAT_DEADLINE_EXCEEDED;
}

/* One look, or looks until the service is ready or --wait is over. */
static bool look_until_ready(struct looking *l) {
    int64_t end_ns = leati_now_ns() + (int64_t)(l->options->wait * 1e9);
    bool good = look(l);
    while (!is_ready(l) && may_pass(l) && leati_now_ns() < end_ns) {
        sleep_ms(WAIT_MS);
        good = look(l);
    }
    return good;
}

static leati_exit show_once(struct looking *l) {
    if (!look_until_ready(l)) {
        leati_service_say_failure("service status", l->address, &l->err);
        return LEATI_EXIT_FAILURE;
    }
    return print(l) && is_ready(l) ? LEATI_EXIT_OK : LEATI_EXIT_FAILURE;
}

/* A dispatcher that is away for a moment is said to be, and asked again. */
static leati_exit watch(struct looking *l) {
    bool plain = l->options->json || (l->options->ready && !leati_say_is_terminal());
    for (int64_t i = 0; l->options->count == 0 || i < l->options->count; i++) {
        if (i > 0)
            sleep_ms((int64_t)(l->options->interval * 1e3));
        bool good = look(l);
        leati_say_again(i, plain);
        if (good && !print(l))
            return LEATI_EXIT_FAILURE;
        if (!good)
            leati_service_say_failure("service status", l->address, &l->err);
        if (!good && !may_pass(l))
            return LEATI_EXIT_FAILURE;
        if (fflush(stdout) != 0)
            return LEATI_EXIT_FAILURE; /* the end of main says why */
    }
    return is_ready(l) ? LEATI_EXIT_OK : LEATI_EXIT_FAILURE;
}

static leati_exit run_status(void *values, char **arguments, int count) {
    (void)arguments;
    (void)count;
    struct looking l = {.options = values};
    l.address = leati_service_address(l.options->dispatcher, "service status");
    if (l.address == NULL)
        return LEATI_EXIT_USAGE;
    if (!leati_service_access_read(&l.options->access, "service status", &l.credentials))
        return LEATI_EXIT_FAILURE;
    leati_exit code = l.options->watch ? watch(&l) : show_once(&l);
    json_decref(l.state);
    json_decref(l.before);
    leat_text_free(l.text);
    leati_service_access_fini(&l.credentials);
    return code;
}

static void status_defaults(void *values) {
    struct status_options *o = values;
    o->workers = 1;
    o->interval = 1;
    o->timeout = 5;
}

#define STATUS_ROW(NAME, TYPE, MEMBER, VALUE, MINIMUM, DOC)                                        \
    {                                                                                              \
        .name = (NAME), .type = (TYPE), .offset = offsetof(struct status_options, MEMBER),         \
        .value = (VALUE), .minimum = (MINIMUM), .maximum = 1e6, .doc = (DOC)                       \
    }

static const leati_option status_rows[] = {
    LEATI_SERVICE_ADDRESS(struct status_options, dispatcher),
    STATUS_ROW("json", LEATI_OPTION_FLAG, json, NULL, 0, "print what the dispatcher says as JSON"),
    STATUS_ROW("watch", LEATI_OPTION_FLAG, watch, NULL, 0, "print it again and again"),
    STATUS_ROW("interval", LEATI_OPTION_FLOAT, interval, "SECONDS", 0.01, "between two times; 1"),
    STATUS_ROW("count", LEATI_OPTION_INT, count, "N", 1, "how many times; without it until Ctrl-C"),
    STATUS_ROW("ready", LEATI_OPTION_FLAG, ready, NULL, 0, "print only whether it is ready"),
    STATUS_ROW("workers", LEATI_OPTION_INT, workers, "N", 0,
               "ready means at least N workers that are; 1"),
    STATUS_ROW("wait", LEATI_OPTION_FLOAT, wait, "SECONDS", 0, "wait so long until it is ready"),
    STATUS_ROW("timeout", LEATI_OPTION_FLOAT, timeout, "SECONDS", 0.001,
               "how long one answer may take; 5"),
    LEATI_SERVICE_ACCESS(struct status_options, access),
    {0},
};

const leati_command leati_command_service_status = {
    .name = "service status",
    .summary = "show workers, jobs and clients of a service",
    .arguments = "",
    .description =
        "Prints tables of workers, jobs and clients. The exit status is 0 where the service is\n"
        "ready: the dispatcher answers, and at least --workers workers are ready; else 1. EL/S "
        "and\n"
        "MIB/S need two looks, so --watch has them; WORKERS WANTED is how many would keep the\n"
        "clients of a job from waiting. --wait 60 --ready waits for a service that is starting.",
    .max_arguments = 0,
    .options = status_rows,
    .size = sizeof(struct status_options),
    .defaults = status_defaults,
    .run = run_status,
};
