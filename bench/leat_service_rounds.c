/* Coordinated reads: two consumers in one program take rounds of numbers from the workers of a data
 * service, one after the other, as trainers in step do.
 *
 *   leat_service_rounds SECONDS WORKERS here   workers in the program itself, read by no transport
 *   leat_service_rounds SECONDS WORKERS grpc   in another process, over gRPC; or tcp, or shm
 *
 * The limit is messages of one byte there and back between two processes by a pair of Unix sockets,
 * in turns with the rounds: an element is taken only once its worker has said that it came to all.
 *
 * The process is forked before anything of the library runs. */
#include "leat_bench.h"
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ADDRESS = 280, CONSUMERS = 2, TURNS = 4, MOST_WORKERS = 16 };

typedef struct service {
    leat_dispatcher *dispatcher;
    leat_worker *workers[MOST_WORKERS];
} service;

static service start(int workers, const char *transfer) {
    leat_error err = {0};
    service s = {0};
    leat_dispatcher_options d = {LEAT_DISPATCHER_DEFAULTS};
    s.dispatcher = leat_dispatcher_new(&d, &err);
    bench_check(s.dispatcher != NULL && leat_dispatcher_start(s.dispatcher, &err) == LEAT_OK,
                "dispatcher", &err);
    for (int i = 0; i < workers; i++) {
        leat_worker_options w = {LEAT_WORKER_DEFAULTS};
        w.data_transfer_protocol = transfer;
        w.dispatcher_address = leat_dispatcher_target(s.dispatcher);
        s.workers[i] = leat_worker_new(&w, &err);
        bench_check(s.workers[i] != NULL && leat_worker_start(s.workers[i], &err) == LEAT_OK,
                    "worker", &err);
    }
    return s;
}

/* Serves, unless the program does, tells the dispatcher's address, and sends back what comes. */
static void serve(int link, int workers, const char *transfer) {
    char address[ADDRESS] = "", byte;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (transfer != NULL) {
        service s = start(workers, transfer);
        snprintf(address, sizeof address, "%s", leat_dispatcher_target(s.dispatcher));
    }
    if (write(link, address, sizeof address) != sizeof address)
        exit(1);
    while (read(link, &byte, 1) == 1)
        if (write(link, &byte, 1) != 1)
            exit(1);
    exit(0);
}

static leat_iterator *consumer(const char *address, int64_t index, const char *transfer,
                               leat_error *err) {
    const leat_service_options options = {LEAT_SERVICE_DEFAULTS, .job_name = "rounds",
                                          .consumer_index = index, .num_consumers = CONSUMERS,
                                          .data_transfer_protocol = transfer};
    leat_dataset *endless = leat_dataset_repeat(leat_dataset_range(0, 1000, 1, NULL, err), -1, err);
    leat_dataset *dataset = leat_service_distribute(endless, address, &options, err);
    bench_check(dataset != NULL, "distribute", err);
    leat_iterator *iterator = leat_iterator_new(dataset, NULL, err);
    bench_check(iterator != NULL, "iterator", err);
    leat_dataset_unref(dataset);
    return iterator;
}

static double rounds_in(leat_iterator **consumers, double seconds, leat_error *err) {
    leat_element element = {0};
    int64_t count = 0;
    for (double end = bench_now() + seconds; bench_now() < end; count++)
        for (int i = 0; i < CONSUMERS; i++)
            bench_check(leat_iterator_next(consumers[i], &element, err) == LEAT_OK, "next", err);
    leat_element_fini(&element);
    return (double)count;
}

static double trips_in(int link, double seconds) {
    char byte = 0;
    int64_t count = 0;
    for (double end = bench_now() + seconds; bench_now() < end; count++)
        if (write(link, &byte, 1) != 1 || read(link, &byte, 1) != 1)
            exit(1);
    return (double)count;
}

int main(int argc, char **argv) {
    double seconds = argc > 1 ? atof(argv[1]) : 2, turn = seconds / 2 / TURNS;
    int workers = argc > 2 ? atoi(argv[2]) : 1, links[2];
    const char *transfer = argc > 3 && strcmp(argv[3], "here") != 0 ? argv[3] : NULL;
    char address[ADDRESS];
    leat_error err = {0};
    if (workers < 1 || workers > MOST_WORKERS || socketpair(AF_UNIX, SOCK_STREAM, 0, links) != 0)
        return 1;
    if (fork() == 0) {
        close(links[0]);
        serve(links[1], workers, transfer);
    }
    close(links[1]);
    if (read(links[0], address, sizeof address) != sizeof address)
        return 1;
    service own = {0};
    if (transfer == NULL)
        own = start(workers, NULL);
    leat_iterator *consumers[CONSUMERS];
    for (int i = 0; i < CONSUMERS; i++)
        consumers[i] = consumer(transfer == NULL ? leat_dispatcher_target(own.dispatcher) : address,
                                i, transfer, &err);
    bench_result result = {.unit = "rounds/s", .seconds = seconds / 2, .mean = 1};
    (void)rounds_in(consumers, turn, &err);
    for (int i = 0; i < TURNS; i++) {
        double used = bench_cpu();
        result.units += rounds_in(consumers, turn, &err);
        result.cpu_seconds += bench_cpu() - used;
        result.limit += trips_in(links[0], turn) / result.seconds;
    }
    for (int i = 0; i < CONSUMERS; i++)
        leat_iterator_free(consumers[i]);
    for (int i = 0; i < workers; i++)
        leat_worker_free(own.workers[i]);
    leat_dispatcher_free(own.dispatcher);
    bench_print(&result);
    return 0;
}
