/* leat service dispatcher: a dispatcher as a process of its own.
 *
 * Happy path: it says where it listens, and serves until SIGTERM or Ctrl-C; both stop it, and what
 * it has acknowledged is in its database. Failures: those of leat_dispatcher_start (a port that is
 * taken, a folder that another dispatcher has, a damaged database). Locks: service_server.c's. */
#include "base/alloc.h"
#include "cli/say.h"
#include "cli/service.h"
#include <stddef.h>
#include <stdio.h>

struct dispatcher_options {
    leati_service_place place;
    leati_service_access access;
    const char *work_dir, *workers;
    bool fault_tolerant, gc_dynamic_jobs;
    int64_t worker_snapshots;
    double worker_timeout, client_timeout, gc_interval, gc_timeout;
};

/* A dispatcher that runs, for what is said of it. */
struct dispatching {
    const struct dispatcher_options *options;
    const leat_service_security *security;
    leat_dispatcher *dispatcher;
};

static void say_started(void *context) {
    const struct dispatching *d = context;
    const struct dispatcher_options *o = d->options;
    printf("dispatcher at %s\n", leat_dispatcher_target(d->dispatcher));
    leati_service_say_listening("service dispatcher", &o->place, d->security);
    if (o->work_dir == NULL)
        puts("  state in memory: a restart forgets datasets and jobs");
    else
        printf("  state in %s%s\n", o->work_dir, o->fault_tolerant ? ", fault tolerant" : "");
    leati_service_say_page("service dispatcher", "page, probes and metrics",
                           leat_dispatcher_web_port(d->dispatcher), &o->place, d->security);
}

static leat_status start_dispatcher(void *server, leat_error *err) {
    return leat_dispatcher_start(server, err);
}

static leat_status join_dispatcher(void *server, leat_error *err) {
    return leat_dispatcher_join(server, err);
}

static void stop_dispatcher(void *server) {
    leat_dispatcher_stop(server);
}

static leat_status end_dispatcher(void *server, int64_t timeout_ms, leat_error *err) {
    (void)timeout_ms;
    (void)err;
    leat_dispatcher_stop(server);
    return LEAT_OK;
}

static leati_exit serve(const struct dispatcher_options *o, const leat_dispatcher_options *options,
                        const leat_service_security *security) {
    leat_error err = {0};
    struct dispatching d = {o, security, leat_dispatcher_new(options, &err)};
    if (d.dispatcher == NULL) {
        leati_say_error("service dispatcher: %s", err.text);
        return LEATI_EXIT_FAILURE;
    }
    leati_service_server server = {
        .command = "service dispatcher",
        .pid_file = o->place.pid_file,
        .server = d.dispatcher,
        .start = start_dispatcher,
        .join = join_dispatcher,
        .stop = stop_dispatcher,
        .end = end_dispatcher,
        .started = say_started,
        .context = &d,
    };
    leati_exit code = leati_service_serve(&server);
    leat_dispatcher_free(d.dispatcher);
    return code;
}

static int64_t ms_of(double seconds) {
    return (int64_t)(seconds * 1e3);
}

static leati_exit run_dispatcher(void *values, char **arguments, int count) {
    (void)arguments;
    (void)count;
    const struct dispatcher_options *o = values;
    leati_service_credentials credentials = {0};
    leat_dispatcher_options options = {
        LEAT_DISPATCHER_DEFAULTS,
        .port = (int)o->place.port,
        .protocol = o->place.protocol,
        .host = o->place.host,
        .work_dir = o->work_dir,
        .fault_tolerant_mode = o->fault_tolerant,
        .job_gc_check_interval_ms = ms_of(o->gc_interval),
        .job_gc_timeout_ms = o->gc_timeout < 0 ? -1 : ms_of(o->gc_timeout),
        .worker_timeout_ms = ms_of(o->worker_timeout),
        .client_timeout_ms = ms_of(o->client_timeout),
        .worker_max_concurrent_snapshots = o->worker_snapshots,
        .gc_dynamic_sharding_jobs = o->gc_dynamic_jobs,
    };
    if (!leati_service_access_read(&o->access, "service dispatcher", &credentials))
        return LEATI_EXIT_FAILURE;
    const char **workers = leati_service_list(o->workers, &options.num_worker_addresses);
    options.worker_addresses = workers;
    options.web_port = (int)o->place.web_port;
    options.security = credentials.security;
    leati_exit code = LEATI_EXIT_FAILURE;
    if (workers == NULL)
        leati_say_error("out of memory");
    else
        code = serve(o, &options, &credentials.security);
    leati_free(workers);
    leati_service_access_fini(&credentials);
    return code;
}

static void dispatcher_defaults(void *values) {
    struct dispatcher_options *o = values;
    o->place.web_port = -1;
    o->worker_timeout = 10;
    o->client_timeout = 300;
    o->gc_interval = 600;
    o->gc_timeout = 300;
}

#define SECONDS_ROW(NAME, MEMBER, MINIMUM, DOC)                                                    \
    {                                                                                              \
        .name = (NAME), .type = LEATI_OPTION_FLOAT,                                                \
        .offset = offsetof(struct dispatcher_options, MEMBER), .value = "SECONDS",                 \
        .minimum = (MINIMUM), .maximum = 1e9, .doc = (DOC)                                         \
    }

static const leati_option dispatcher_rows[] = {
    LEATI_SERVICE_PLACE(struct dispatcher_options, place),
    {.name = "work-dir",
     .type = LEATI_OPTION_TEXT,
     .offset = offsetof(struct dispatcher_options, work_dir),
     .value = "FOLDER",
     .doc = "where its database lies; without it in memory"},
    {.name = "fault-tolerant",
     .type = LEATI_OPTION_FLAG,
     .offset = offsetof(struct dispatcher_options, fault_tolerant),
     .doc = "started again on --work-dir it goes on where it was"},
    {.name = "workers",
     .type = LEATI_OPTION_TEXT,
     .offset = offsetof(struct dispatcher_options, workers),
     .value = "HOST,...",
     .doc = "HOST, HOST:PORT or HOST:%port% of all workers, for static sharding"},
    SECONDS_ROW("worker-timeout", worker_timeout, 0.001, "a worker silent for so long is lost; 10"),
    SECONDS_ROW("client-timeout", client_timeout, 0.001, "a client silent for so long; 300"),
    SECONDS_ROW("gc-interval", gc_interval, 0.001, "between two looks for jobs to forget; 600"),
    SECONDS_ROW("gc-timeout", gc_timeout, -1,
                "a job without clients for so long is forgotten; 300; -1, never"),
    {.name = "gc-dynamic-jobs",
     .type = LEATI_OPTION_FLAG,
     .offset = offsetof(struct dispatcher_options, gc_dynamic_jobs),
     .doc = "also those of dynamic sharding"},
    {.name = "worker-snapshots",
     .type = LEATI_OPTION_INT,
     .offset = offsetof(struct dispatcher_options, worker_snapshots),
     .value = "N",
     .minimum = 1,
     .maximum = 1e6,
     .doc = "how many snapshots a worker writes at a time; 3"},
    LEATI_SERVICE_ACCESS(struct dispatcher_options, access),
    {0},
};

const leati_command leati_command_service_dispatcher = {
    .name = "service dispatcher",
    .summary = "run a dispatcher until it is stopped",
    .arguments = "",
    .description =
        "Prints where it listens and serves until SIGTERM or Ctrl-C. With --work-dir and\n"
        "--fault-tolerant it goes on where it was when it is started again, also after a kill; a\n"
        "second dispatcher on the same folder is refused. --web-port serves a page, /metrics for\n"
        "Prometheus, and the probes /healthz and /readyz.",
    .max_arguments = 0,
    .options = dispatcher_rows,
    .size = sizeof(struct dispatcher_options),
    .defaults = dispatcher_defaults,
    .takes_signals = true,
    .run = run_dispatcher,
};
