/* leat service worker: a worker as a process of its own.
 *
 * Happy path: it announces itself to the dispatcher, says where it listens, and runs pipelines
 * until it is drained: by SIGTERM, by leat service drain, or by the page. Ctrl-C stops it at once.
 * Failures: a dispatcher that does not answer in time, a port that is taken; elements that nobody
 * took before a drain's deadline make its status 1. Locks: service_server.c's. */
#include "base/alloc.h"
#include "cli/say.h"
#include "cli/service.h"
#include <stddef.h>
#include <stdio.h>

struct worker_options {
    leati_service_place place;
    leati_service_access access;
    const char *dispatcher, *address, *tags, *transfer_protocol;
    int64_t threads, cache_bytes, snapshot_chunk_bytes, memory_bytes;
    double heartbeat, dispatcher_timeout, drain_timeout, quiet_period;
};

/* A worker that runs, for what is said of it. */
struct working {
    const struct worker_options *options;
    const leat_service_security *security;
    const char *dispatcher;
    leat_worker *worker;
};

static void say_started(void *context) {
    const struct working *w = context;
    printf("worker at %s of the dispatcher at %s\n", leat_worker_address(w->worker), w->dispatcher);
    leati_service_say_listening("service worker", &w->options->place, w->security);
    leati_service_say_page("service worker", "probes and metrics", leat_worker_web_port(w->worker),
                           &w->options->place, w->security);
}

static leat_status start_worker(void *server, leat_error *err) {
    return leat_worker_start(server, err);
}

static leat_status join_worker(void *server, leat_error *err) {
    return leat_worker_join(server, err);
}

static void stop_worker(void *server) {
    leat_worker_stop(server);
}

static leat_status end_worker(void *server, int64_t timeout_ms, leat_error *err) {
    return leat_worker_drain(server, timeout_ms, err);
}

static int64_t ms_of(double seconds) {
    return (int64_t)(seconds * 1e3);
}

static leati_exit serve(const struct worker_options *o, const leat_worker_options *options,
                        const leat_service_security *security) {
    leat_error err = {0};
    struct working w = {o, security, options->dispatcher_address, leat_worker_new(options, &err)};
    if (w.worker == NULL) {
        leati_say_error("service worker: %s", err.text);
        return LEATI_EXIT_FAILURE;
    }
    leati_service_server server = {
        .command = "service worker",
        .pid_file = o->place.pid_file,
        .server = w.worker,
        .start = start_worker,
        .join = join_worker,
        .stop = stop_worker,
        .end = end_worker,
        .end_ms = ms_of(o->drain_timeout) + ms_of(o->quiet_period),
        .started = say_started,
        .context = &w,
    };
    leati_exit code = leati_service_serve(&server);
    leat_worker_free(w.worker);
    return code;
}

static leati_exit run_worker(void *values, char **arguments, int count) {
    (void)arguments;
    (void)count;
    const struct worker_options *o = values;
    leati_service_credentials credentials = {0};
    const char *dispatcher = leati_service_address(o->dispatcher, "service worker");
    if (dispatcher == NULL)
        return LEATI_EXIT_USAGE;
    if (!leati_service_access_read(&o->access, "service worker", &credentials))
        return LEATI_EXIT_FAILURE;
    leat_worker_options options = {
        LEAT_WORKER_DEFAULTS,
        .dispatcher_address = dispatcher,
        .worker_address = o->address,
        .port = (int)o->place.port,
        .protocol = o->place.protocol,
        .host = o->place.host,
        .heartbeat_interval_ms = ms_of(o->heartbeat),
        .dispatcher_timeout_ms = ms_of(o->dispatcher_timeout),
        .data_transfer_protocol = o->transfer_protocol,
        .cross_trainer_cache_size_bytes = o->cache_bytes,
        .snapshot_max_chunk_size_bytes = o->snapshot_chunk_bytes,
        .memory_budget_bytes = o->memory_bytes,
        .shutdown_quiet_period_ms = ms_of(o->quiet_period),
        .num_threads = (int)o->threads,
        .security = credentials.security,
    };
    const char **tags = leati_service_list(o->tags, &options.num_worker_tags);
    options.worker_tags = tags;
    options.web_port = (int)o->place.web_port;
    leati_exit code = LEATI_EXIT_FAILURE;
    if (tags == NULL)
        leati_say_error("out of memory");
    else
        code = serve(o, &options, &credentials.security);
    leati_free(tags);
    leati_service_access_fini(&credentials);
    return code;
}

static void worker_defaults(void *values) {
    struct worker_options *o = values;
    o->place.web_port = -1;
    o->heartbeat = 30;
    o->dispatcher_timeout = 3600;
    o->drain_timeout = 30;
}

#define WORKER_ROW(NAME, TYPE, MEMBER, VALUE, MINIMUM, DOC)                                        \
    {                                                                                              \
        .name = (NAME), .type = (TYPE), .offset = offsetof(struct worker_options, MEMBER),         \
        .value = (VALUE), .minimum = (MINIMUM), .maximum = 1e15, .doc = (DOC)                      \
    }
#define SECONDS_ROW(NAME, MEMBER, MINIMUM, DOC)                                                    \
    {                                                                                              \
        .name = (NAME), .type = LEATI_OPTION_FLOAT,                                                \
        .offset = offsetof(struct worker_options, MEMBER), .value = "SECONDS",                     \
        .minimum = (MINIMUM), .maximum = 1e9, .doc = (DOC)                                         \
    }

static const leati_option worker_rows[] = {
    LEATI_SERVICE_ADDRESS(struct worker_options, dispatcher),
    WORKER_ROW("address", LEATI_OPTION_TEXT, address, "ADDRESS", 0,
               "what clients connect to, host:%port%; as the dispatcher sees it"),
    LEATI_SERVICE_PLACE(struct worker_options, place),
    WORKER_ROW("tags", LEATI_OPTION_TEXT, tags, "TAG,...", 0,
               "COLOCATED: clients of other hosts do not read it"),
    {.name = "threads",
     .type = LEATI_OPTION_INT,
     .offset = offsetof(struct worker_options, threads),
     .value = "N",
     .minimum = 1,
     .maximum = 1024,
     .doc = "for pipelines; without it all cores"},
    SECONDS_ROW("drain-timeout", drain_timeout, 0, "how long SIGTERM lets it give the rest; 30"),
    SECONDS_ROW("quiet-period", quiet_period, 0, "how long it serves behind its end; 0"),
    SECONDS_ROW("heartbeat", heartbeat, 0.001, "between two messages while nothing is new; 30"),
    SECONDS_ROW("dispatcher-timeout", dispatcher_timeout, 0.001,
                "how long it waits for a dispatcher; 3600"),
    WORKER_ROW("transfer-protocol", LEATI_OPTION_TEXT, transfer_protocol, "NAME", 0,
               "how elements travel, too: shm, tcp or the protocol; shm"),
    WORKER_ROW("cache-bytes", LEATI_OPTION_INT, cache_bytes, "N", 1,
               "of that for each task that trainers share; 10 GB"),
    WORKER_ROW("snapshot-chunk-bytes", LEATI_OPTION_INT, snapshot_chunk_bytes, "N", 1,
               "longest file of distributed_save; 6 GiB"),
    WORKER_ROW("memory-bytes", LEATI_OPTION_INT, memory_bytes, "N", 1,
               "memory of what is made and not confirmed; a quarter of the machine's"),
    LEATI_SERVICE_ACCESS(struct worker_options, access),
    {0},
};

const leati_command leati_command_service_worker = {
    .name = "service worker",
    .summary = "run a worker until it is drained or stopped",
    .arguments = "",
    .description =
        "Announces itself to the dispatcher, waiting for it if need be, and runs pipelines.\n"
        "SIGTERM drains it: it takes no new tasks, gives what it has made, hands the rest back to\n"
        "the others, and ends with status 0, after --drain-timeout at the latest. Ctrl-C stops "
        "it;\n"
        "a second signal ends it at once. Files that pipelines read must be there on each worker.",
    .max_arguments = 0,
    .options = worker_rows,
    .size = sizeof(struct worker_options),
    .defaults = worker_defaults,
    .takes_signals = true,
    .run = run_worker,
};
