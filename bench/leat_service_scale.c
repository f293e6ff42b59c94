/* What a data service costs as it grows.
 *
 *   leat_service_scale SECONDS splits   numbers of a range under DYNAMIC, by the processor's time
 * of
 *                                       reader, dispatcher and worker; the limit is the same under OFF.
 *                                       Whole epochs of 10^7 in turns, medians
 *   leat_service_scale SECONDS restart  starts of a fault-tolerant dispatcher that has given 10^6
 * splits;
 *                                       the limit is two a second
 *   leat_service_scale SECONDS cold     a dispatcher and a worker started by `leat service`, to the
 * first
 *                                       element; the limit is five a second
 *   leat_service_scale SECONDS workers  eight workers of which each sleeps 2 ms for an element; the
 *                                       limit is eight times the rate of one
 *   leat_service_scale SECONDS join     ten workers that join a running epoch, until each has a
 * task; the
 *                                       limit is once a second
 *
 * A third argument names the tool. The process is forked before anything of the library runs. */
#include "leat_bench.h"
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    EPOCH = 10000000,
    SPLITS = 1000000,
    ADDRESS = 280,
    MOST = 11,
    TURNS = 25,
    SLEEP_NS = 2000000
};

/* ---- servers of this process ---- */

static leat_dispatcher *start_dispatcher(const char *protocol, const char *folder) {
    leat_error err = {0};
    leat_dispatcher_options options = {LEAT_DISPATCHER_DEFAULTS, .protocol = protocol,
                                       .work_dir = folder, .fault_tolerant_mode = folder != NULL};
    leat_dispatcher *dispatcher = leat_dispatcher_new(&options, &err);
    bench_check(dispatcher != NULL && leat_dispatcher_start(dispatcher, &err) == LEAT_OK,
                "dispatcher", &err);
    return dispatcher;
}

static leat_worker *start_worker(const char *protocol, const char *dispatcher) {
    leat_error err = {0};
    leat_worker_options options = {LEAT_WORKER_DEFAULTS, .protocol = protocol,
                                   .dispatcher_address = dispatcher};
    leat_worker *worker = leat_worker_new(&options, &err);
    bench_check(worker != NULL && leat_worker_start(worker, &err) == LEAT_OK, "worker", &err);
    return worker;
}

static leat_iterator *distribute(leat_dataset *dataset, const char *service,
                                 leat_service_policy policy) {
    leat_error err = {0};
    leat_service_options options = {LEAT_SERVICE_DEFAULTS, .processing_mode = policy};
    leat_dataset *shared = leat_service_distribute(dataset, service, &options, &err);
    bench_check(shared != NULL, "distribute", &err);
    leat_iterator *iterator = leat_iterator_new(shared, NULL, &err);
    bench_check(iterator != NULL, "iterator", &err);
    leat_dataset_unref(shared);
    return iterator;
}

/* How many elements there were, at most `most`. */
static int64_t drain(leat_iterator *iterator, int64_t most) {
    leat_error err = {0};
    leat_element element = {0};
    int64_t count = 0;
    leat_status status = LEAT_OK;
    while (count < most && (status = leat_iterator_next(iterator, &element, &err)) == LEAT_OK)
        count++;
    bench_check(status == LEAT_OK || status == LEAT_OUT_OF_RANGE, "next", &err);
    leat_element_fini(&element);
    return count;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count) {
    qsort(values, (size_t)count, sizeof *values, by_size);
    return values[count / 2];
}

/* ---- splits ---- */

static void serve(int link) {
    char address[ADDRESS] = "";
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    leat_dispatcher *dispatcher = start_dispatcher(NULL, NULL);
    (void)start_worker(NULL, leat_dispatcher_target(dispatcher));
    snprintf(address, sizeof address, "%s", leat_dispatcher_target(dispatcher));
    if (write(link, address, sizeof address) != sizeof address)
        exit(1);
    for (;;)
        pause();
}

static double cpu_of(pid_t pid) {
    clockid_t clock;
    struct timespec t = {0};
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &t) != 0)
        exit(1);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The processor's time of an epoch. */
static double epoch(const char *service, leat_service_policy policy, pid_t servers) {
    leat_error err = {0};
    double before = bench_cpu() + cpu_of(servers);
    leat_iterator *iterator =
        distribute(leat_dataset_range(0, EPOCH, 1, NULL, &err), service, policy);
    if (drain(iterator, INT64_MAX) != EPOCH)
        exit(1);
    leat_iterator_free(iterator);
    return bench_cpu() + cpu_of(servers) - before;
}

static bench_result splits(double seconds, const char *tool) {
    (void)tool;
    int links[2], turns = 0;
    char service[ADDRESS];
    double with[TURNS], without[TURNS];
    if (pipe2(links, O_CLOEXEC) != 0)
        exit(1);
    pid_t servers = fork();
    if (servers == 0)
        serve(links[1]);
    if (read(links[0], service, sizeof service) != sizeof service)
        exit(1);
    (void)epoch(service, LEAT_SERVICE_DYNAMIC, servers);
    for (double end = bench_now() + seconds; turns < 3 || (turns < TURNS && bench_now() < end);
         turns++) {
        bool first = turns % 2 == 0;
        double a = epoch(service, first ? LEAT_SERVICE_DYNAMIC : LEAT_SERVICE_OFF, servers);
        double b = epoch(service, first ? LEAT_SERVICE_OFF : LEAT_SERVICE_DYNAMIC, servers);
        with[turns] = first ? a : b;
        without[turns] = first ? b : a;
        fprintf(stderr, "DYNAMIC %.3f s, OFF %.3f s\n", with[turns], without[turns]);
    }
    kill(servers, SIGKILL);
    double cpu = median(with, turns);
    return (bench_result){.unit = "elements/CPU s",
                          .units = EPOCH,
                          .seconds = cpu,
                          .cpu_seconds = cpu,
                          .limit = EPOCH / median(without, turns)};
}

/* ---- restarts ---- */

static bench_result restart(double seconds, const char *tool) {
    (void)tool;
    leat_error err = {0};
    char folder[] = "/tmp/leat-bench-XXXXXX", command[80];
    double times[TURNS];
    int turns = 0;
    if (mkdtemp(folder) == NULL)
        exit(1);
    leat_dispatcher *dispatcher = start_dispatcher("local", folder);
    leat_worker *worker = start_worker("local", leat_dispatcher_target(dispatcher));
    leat_iterator *iterator = distribute(leat_dataset_range(0, SPLITS, 1, NULL, &err),
                                         leat_dispatcher_target(dispatcher), LEAT_SERVICE_DYNAMIC);
    if (drain(iterator, SPLITS) != SPLITS)
        exit(1);
    leat_worker_free(worker);
    for (double end = bench_now() + seconds; turns < 3 || (turns < TURNS && bench_now() < end);
         turns++) {
        leat_dispatcher_free(dispatcher);
        double before = bench_now();
        dispatcher = start_dispatcher("local", folder);
        times[turns] = bench_now() - before;
    }
    leat_iterator_free(iterator);
    leat_dispatcher_free(dispatcher);
    snprintf(command, sizeof command, "rm -r %s", folder);
    if (system(command) != 0)
        exit(1);
    return (bench_result){
        .unit = "starts/s", .units = 1, .seconds = median(times, turns), .limit = 2};
}

/* ---- cold starts ---- */

static pid_t start_tool(const char *tool, const char *role, const char *option, const char *value) {
    pid_t pid = fork();
    if (pid == 0) {
        int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(nowhere, STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
        execl(tool, tool, "service", role, option, value, (char *)NULL);
        _exit(127);
    }
    return pid;
}

static double first_element(const char *tool, const char *port) {
    char service[ADDRESS];
    int status;
    leat_error err = {0};
    snprintf(service, sizeof service, "localhost:%s", port);
    double before = bench_now();
    pid_t dispatcher = start_tool(tool, "dispatcher", "--port", port);
    pid_t worker = start_tool(tool, "worker", "--dispatcher", service);
    leat_dataset *range = leat_dataset_range(0, INT64_MAX, 1, NULL, &err);
    leat_dataset *shared = NULL;
    while (shared == NULL)
        shared = leat_service_distribute(leat_dataset_ref(range), service, NULL, &err);
    leat_iterator *iterator = leat_iterator_new(shared, NULL, &err);
    bench_check(iterator != NULL && drain(iterator, 1) == 1, "first element", &err);
    double took = bench_now() - before;
    leat_iterator_free(iterator);
    leat_dataset_unref(shared);
    leat_dataset_unref(range);
    kill(worker, SIGKILL);
    kill(dispatcher, SIGKILL);
    waitpid(worker, &status, 0);
    waitpid(dispatcher, &status, 0);
    return took;
}

static bench_result cold(double seconds, const char *tool) {
    double times[TURNS];
    int turns = 0;
    for (double end = bench_now() + seconds; turns < 3 || (turns < TURNS && bench_now() < end);
         turns++) {
        char port[16];
        snprintf(port, sizeof port, "%d", 20000 + (getpid() + 7 * turns) % 10000);
        times[turns] = first_element(tool, port);
    }
    return (bench_result){
        .unit = "starts/s", .units = 1, .seconds = median(times, turns), .limit = 5};
}

/* ---- many workers ---- */

static leat_status take_a_nap(void *context, const leat_element *in, leat_element *out,
                              leat_error *err) {
    const struct timespec nap = {0, SLEEP_NS};
    (void)context;
    nanosleep(&nap, NULL);
    return leat_element_set(out, in->spec, in->tensors, err);
}

static leat_dataset *sleepers(void) {
    leat_error err = {0};
    leat_dataset *range = leat_dataset_range(0, INT64_MAX, 1, NULL, &err);
    leat_spec *spec = leat_spec_ref(leat_dataset_spec(range));
    leat_function *nap =
        LEAT_CALLBACK(take_a_nap, NULL, NULL, NULL, LEAT_PURE, leat_spec_ref(spec), spec, &err);
    const leat_dataset_map_options one = {LEAT_DATASET_MAP_DEFAULTS, .synchronous = true};
    leat_dataset *dataset = leat_dataset_map(range, nap, &one, &err);
    bench_check(dataset != NULL, "map", &err);
    return dataset;
}

/* Elements per second of `count` workers that sleep. */
static double rate_of(int count, double seconds) {
    leat_worker *workers[MOST];
    leat_dispatcher *dispatcher = start_dispatcher("local", NULL);
    for (int i = 0; i < count; i++)
        workers[i] = start_worker("local", leat_dispatcher_target(dispatcher));
    leat_iterator *iterator =
        distribute(sleepers(), leat_dispatcher_target(dispatcher), LEAT_SERVICE_OFF);
    (void)drain(iterator, (int64_t)count * 64);
    double before = bench_now();
    int64_t elements = 0;
    while (bench_now() - before < seconds)
        elements += drain(iterator, 16);
    double rate = (double)elements / (bench_now() - before);
    leat_iterator_free(iterator);
    for (int i = 0; i < count; i++)
        leat_worker_free(workers[i]);
    leat_dispatcher_free(dispatcher);
    fprintf(stderr, "%d workers: %.0f elements/s\n", count, rate);
    return rate;
}

static bench_result workers(double seconds, const char *tool) {
    (void)tool;
    double one = rate_of(1, seconds / 4), rate = 0;
    for (int count = 2; count <= 8; count *= 2)
        rate = rate_of(count, seconds / 4);
    return (bench_result){.unit = "elements/s", .units = rate, .seconds = 1, .limit = 8 * one};
}

static bench_result join(double seconds, const char *tool) {
    (void)tool;
    leat_worker *workers[MOST];
    double times[TURNS];
    int turns = 0;
    for (double end = bench_now() + seconds; turns < 3 || (turns < TURNS && bench_now() < end);
         turns++) {
        leat_dispatcher *dispatcher = start_dispatcher("local", NULL);
        const char *target = leat_dispatcher_target(dispatcher);
        workers[0] = start_worker("local", target);
        leat_iterator *iterator = distribute(sleepers(), target, LEAT_SERVICE_OFF);
        (void)drain(iterator, 8);
        double before = bench_now();
        for (int i = 1; i < MOST; i++)
            workers[i] = start_worker("local", target);
        for (int i = 1; i < MOST; i++)
            while (leat_worker_num_tasks(workers[i]) == 0)
                (void)drain(iterator, 1);
        times[turns] = bench_now() - before;
        leat_iterator_free(iterator);
        for (int i = 0; i < MOST; i++)
            leat_worker_free(workers[i]);
        leat_dispatcher_free(dispatcher);
    }
    return (bench_result){
        .unit = "joins/s", .units = 1, .seconds = median(times, turns), .limit = 1};
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        bench_result (*measure)(double seconds, const char *tool);
    } kinds[] = {{"splits", splits},
                 {"restart", restart},
                 {"cold", cold},
                 {"workers", workers},
                 {"join", join}};
    for (size_t i = 0; argc == 4 && i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(argv[2], kinds[i].name) != 0)
            continue;
        bench_result result = kinds[i].measure(atof(argv[1]), argv[3]);
        bench_print(&result);
        return 0;
    }
    fprintf(stderr, "usage: leat_service_scale SECONDS splits|restart|cold|workers|join TOOL\n");
    return 2;
}
