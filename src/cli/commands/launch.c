/* leat launch: a program as several processes of one job on this machine.
 *
 * Happy path: each process gets TF_CONFIG with all addresses and its own number, and a secret that
 * is drawn for this job (LEAT_JOB_SECRET); cli/job.c runs them. With --service a dispatcher and
 * workers of a data service stand beside them, whose address is in LEAT_SERVICE_ADDRESS and whose
 * token, drawn likewise, in LEAT_SERVICE_TOKEN. Failures: no free port, no random numbers, and
 * those of the processes. No locks: one thread. */
#include "base/alloc.h"
#include "base/random.h"
#include "base/text.h"
#include "cli/job.h"
#include "cli/say.h"
#include "cli/tool.h"
#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SECRET_BYTES = 32, SECRET = 2 * SECRET_BYTES + 1, MOST_PROCESSES = 512, PORT = 12 };

struct launch_options {
    int64_t num_processes, num_feeders, feeder_restarts;
    double grace;
    bool plain;
};

/* A job before it runs. */
struct plan {
    const struct launch_options *options;
    int members, count;
    int *ports; /* of the members, and behind them the dispatcher's */
    leati_job_program *programs;
    leati_job_variable (*configs)[2]; /* of each member */
    char secret[SECRET], token[SECRET], address[PORT + 12], port[PORT];
    char self[PATH_MAX];               /* this tool */
    char *dispatching[8], *working[6]; /* arguments, ended by NULL */
};

/* {"cluster": {"worker": [...]}, "task": {"type": "worker", "index": number}}; owned, NULL without
 * memory. */
static char *config_of(const int *ports, int count, int number) {
    leati_text text = {0};
    leati_text_addf(&text, "{\"cluster\": {\"worker\": [");
    for (int i = 0; i < count; i++)
        leati_text_addf(&text, "%s\"localhost:%d\"", i > 0 ? ", " : "", ports[i]);
    leati_text_addf(&text, "]}, \"task\": {\"type\": \"worker\", \"index\": %d}}", number);
    return leati_text_take(&text);
}

/* Ports of this machine that nobody uses now. */
static bool find_ports(int *ports, int count) {
    int *sockets = leati_alloc((size_t)count, sizeof *sockets);
    int opened = 0;
    for (bool good = sockets != NULL; good && opened < count; opened += good) {
        struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_ANY)};
        socklen_t size = sizeof at;
        sockets[opened] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (sockets[opened] < 0)
            break;
        good = bind(sockets[opened], (struct sockaddr *)&at, sizeof at) == 0 &&
               getsockname(sockets[opened], (struct sockaddr *)&at, &size) == 0;
        ports[opened] = ntohs(at.sin_port);
        if (!good)
            close(sockets[opened]);
    }
    /* All are open at the same time, so that no port is found twice. Until the processes listen
     * somebody else may take one, which they report. */
    for (int i = 0; i < opened; i++)
        close(sockets[i]);
    leati_free(sockets);
    return opened == count;
}

/* What only the processes of this job know: who else reaches their ports is no member. */
static bool draw_secret(char secret[SECRET]) {
    uint8_t bytes[SECRET_BYTES];
    bool good = leati_random_secret(bytes, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(secret + 2 * i, 3, "%02x", bytes[i]);
    return good;
}

static bool plan_members(struct plan *plan, char **arguments) {
    for (int i = 0; i < plan->members; i++) {
        leati_job_program *program = &plan->programs[i];
        plan->configs[i][0] =
            (leati_job_variable){"TF_CONFIG", config_of(plan->ports, plan->members, i)};
        if (plan->configs[i][0].value == NULL)
            return false;
        *program = (leati_job_program){.arguments = arguments, .variables = plan->configs[i]};
        (void)snprintf(program->name, sizeof program->name, "worker %d", i);
    }
    return true;
}

/* Where this tool lies. */
static void find_self(char path[PATH_MAX]) {
    static const char link[] = "/proc/self/exe";
    if (leati_tool_path() != NULL) {
        (void)snprintf(path, PATH_MAX, "%s", leati_tool_path());
        return;
    }
    ssize_t size = readlink(link, path, PATH_MAX - 1);
    /* The link itself leads there as well, under another name. */
    if (size <= 0)
        memcpy(path, link, sizeof link);
    else
        path[size] = '\0';
}

/* The service's processes are this tool itself. They listen on the loopback, as the job is on this
 * machine. */
static void plan_service(struct plan *plan) {
    static char service[] = "service", dispatcher[] = "dispatcher", worker[] = "worker",
                port[] = "--port", host[] = "--host", localhost[] = "127.0.0.1";
    char *dispatching[] = {plan->self, service, dispatcher, host,
                           localhost,  port,    plan->port, NULL};
    char *working[] = {plan->self, service, worker, host, localhost, NULL};
    find_self(plan->self);
    memcpy(plan->dispatching, dispatching, sizeof dispatching);
    memcpy(plan->working, working, sizeof working);
    (void)snprintf(plan->port, sizeof plan->port, "%d", plan->ports[plan->members]);
    (void)snprintf(plan->address, sizeof plan->address, "%s:%s", localhost, plan->port);
    for (int i = plan->members; i < plan->count; i++) {
        bool first = i == plan->members;
        leati_job_program *program = &plan->programs[i];
        *program = (leati_job_program){
            .arguments = first ? plan->dispatching : plan->working,
            .helper = true,
            .needed = first,
            .again = first ? 0 : plan->options->feeder_restarts,
        };
        if (first)
            (void)snprintf(program->name, sizeof program->name, "dispatcher");
        else
            (void)snprintf(program->name, sizeof program->name, "service worker %d",
                           i - plan->members - 1);
    }
}

static leati_exit run_plan(struct plan *plan, char **arguments) {
    bool serves = plan->count > plan->members;
    if (!draw_secret(plan->secret) || !draw_secret(plan->token)) {
        leati_say_error("launch: the system has no random numbers: %s", strerror(errno));
        return LEATI_EXIT_FAILURE;
    }
    if (!find_ports(plan->ports, plan->members + serves)) {
        leati_say_error("launch: no port or file descriptor is free: %s", strerror(errno));
        return LEATI_EXIT_FAILURE;
    }
    if (!plan_members(plan, arguments)) {
        leati_say_error("out of memory");
        return LEATI_EXIT_FAILURE;
    }
    if (serves)
        plan_service(plan);
    leati_job_variable variables[] = {{"LEAT_JOB_SECRET", plan->secret},
                                      {serves ? "LEAT_SERVICE_ADDRESS" : NULL, plan->address},
                                      {"LEAT_SERVICE_TOKEN", plan->token},
                                      {0}};
    leati_job_options options = {plan->options->grace, plan->options->plain, variables};
    return leati_job_run(plan->programs, plan->count, &options);
}

static leati_exit run_launch(void *values, char **arguments, int count) {
    (void)count;
    const struct launch_options *options = values;
    if (options->feeder_restarts > 0 && options->num_feeders == 0) {
        leati_say_error("launch: --service-restarts is of the workers of --service N, which is "
                        "missing");
        return LEATI_EXIT_USAGE;
    }
    int members = (int)options->num_processes, feeders = (int)options->num_feeders;
    struct plan plan = {
        .options = options, .members = members, .count = members + (feeders > 0 ? feeders + 1 : 0)};
    leati_exit code = LEATI_EXIT_FAILURE;
    plan.ports = leati_alloc((size_t)members + 1, sizeof *plan.ports);
    plan.programs = leati_alloc_zero((size_t)plan.count, sizeof *plan.programs);
    plan.configs = leati_alloc_zero((size_t)members, sizeof *plan.configs);
    if (plan.ports == NULL || plan.programs == NULL || plan.configs == NULL)
        leati_say_error("out of memory");
    else
        code = run_plan(&plan, arguments);
    for (int i = 0; plan.configs != NULL && i < members; i++)
        leati_free(plan.configs[i][0].value);
    leati_free(plan.configs);
    leati_free(plan.programs);
    leati_free(plan.ports);
    return code;
}

static void launch_defaults(void *values) {
    struct launch_options *options = values;
    options->num_processes = 2;
    options->grace = 5;
}

static const leati_option launch_options[] = {
    {.name = "processes",
     .letter = 'n',
     .type = LEATI_OPTION_INT,
     .offset = offsetof(struct launch_options, num_processes),
     .value = "N",
     .minimum = 1,
     .maximum = MOST_PROCESSES,
     .doc = "how many processes; 2"},
    {.name = "service",
     .type = LEATI_OPTION_INT,
     .offset = offsetof(struct launch_options, num_feeders),
     .value = "N",
     .minimum = 1,
     .maximum = MOST_PROCESSES,
     .doc = "with a data service of N workers beside them"},
    {.name = "service-restarts",
     .type = LEATI_OPTION_INT,
     .offset = offsetof(struct launch_options, feeder_restarts),
     .value = "N",
     .minimum = 0,
     .maximum = 1e6,
     .doc = "how often each of its workers is started again; 0"},
    {.name = "grace",
     .type = LEATI_OPTION_FLOAT,
     .offset = offsetof(struct launch_options, grace),
     .value = "SECONDS",
     .minimum = 0,
     .maximum = 3600,
     .doc = "from asking the others to end until they are killed; 5"},
    {.name = "plain",
     .type = LEATI_OPTION_FLAG,
     .offset = offsetof(struct launch_options, plain),
     .doc = "print their lines without numbers"},
    {0},
};

const leati_command leati_command_launch = {
    .name = "launch",
    .summary = "run a program as several processes of one job on this machine",
    .arguments = "-- PROGRAM [ARGUMENT]...",
    .description =
        "Starts the program N times. Each process finds in TF_CONFIG the addresses of\n"
        "all, on free ports, and which of them it is (a \"worker\" from 0), and in\n"
        "LEAT_JOB_SECRET what keeps other programs out of the job; LEAT_TLS_CERT,\n"
        "LEAT_TLS_KEY and LEAT_TLS_CA, where they are set, encrypt it. What they print\n"
        "comes out line by line with \"[worker 2] \" before it; they read nothing.\n"
        "When one fails, the others are ended, and the exit status is that of the first\n"
        "that failed (128 and the number of a signal). Ctrl-C goes to all of them.\n"
        "\n"
        "--service N adds a dispatcher and N workers of a data service, which end with the\n"
        "job. Its processes find its address in LEAT_SERVICE_ADDRESS, and the token drawn for\n"
        "it in LEAT_SERVICE_TOKEN. A worker of the service that ends is named and, with\n"
        "--service-restarts, started again; without any of them, or without the dispatcher,\n"
        "the job ends.",
    .min_arguments = 1,
    .max_arguments = -1,
    .options = launch_options,
    .size = sizeof(struct launch_options),
    .defaults = launch_defaults,
    .takes_signals = true,
    .run = run_launch,
};
