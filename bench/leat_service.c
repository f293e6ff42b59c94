/* A data service from end to end: a dispatcher and a worker in another process, over gRPC, and a
 * program that reads.
 *
 *   leat_service SECONDS small     numbers one by one; the limit is a million a second
 *   leat_service SECONDS batched   batches of 256 rows of 32 floats; the limit is the same pipeline
 *                                  in the program itself
 *   leat_service SECONDS large     elements of 1 MiB, the same one again and again; the limit is a
 *                                  pair of Unix sockets, by tcp one of TCP
 *   leat_service SECONDS fresh     batches of 1 MiB that the worker puts together; the limit is the
 *                                  pair of sockets
 *
 * A third argument is the data_transfer_protocol: grpc, shm or tcp; without it the best is taken.
 *
 * The process is forked before anything of the library runs. */
#include "bench_pair.h"
#include "leat_bench.h"
#include <signal.h>
#include <sys/prctl.h>

enum { MB = 1 << 20, MILLION = 1000000, ADDRESS = 280, ROWS = 256, WIDTH = 32 };

/* ---- the other process ---- */

/* Serves, and tells the dispatcher's address; then, if it is asked to, bare messages. */
static void serve(int link, const char *transfer) {
    leat_error err = {0};
    char address[ADDRESS] = "";
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    leat_dispatcher_options d = {LEAT_DISPATCHER_DEFAULTS};
    leat_dispatcher *dispatcher = leat_dispatcher_new(&d, &err);
    bench_check(dispatcher != NULL && leat_dispatcher_start(dispatcher, &err) == LEAT_OK,
                "dispatcher", &err);
    leat_worker_options w = {LEAT_WORKER_DEFAULTS};
    w.data_transfer_protocol = transfer;
    w.dispatcher_address = leat_dispatcher_target(dispatcher);
    leat_worker *worker = leat_worker_new(&w, &err);
    bench_check(worker != NULL && leat_worker_start(worker, &err) == LEAT_OK, "worker", &err);
    snprintf(address, sizeof address, "%s", leat_dispatcher_target(dispatcher));
    if (write(link, address, sizeof address) != sizeof address)
        exit(1);
    char *bytes = bench_alloc(MB), asked;
    memset(bytes, 1, MB);
    while (read(link, &asked, 1) == 1)
        for (size_t at = 0; at < MB;) {
            ssize_t n = write(link, bytes + at, MB - at);
            if (n <= 0)
                exit(1);
            at += (size_t)n;
        }
    exit(0);
}

/* ---- the pipelines ---- */

/* An endless dataset of `count` floats each, made once and repeated. */
static leat_dataset *constant(int64_t count, leat_error *err) {
    leat_tensor tensor = {0};
    leat_element element = {0};
    float *values = bench_alloc((size_t)count * sizeof *values);
    for (int64_t i = 0; i < count; i++)
        values[i] = 1;
    leat_spec *spec = leat_spec_tensor(LEAT_FLOAT32, LEAT_SHAPE(count), err);
    bench_check(leat_tensor_copy_of(LEAT_FLOAT32, LEAT_SHAPE(count), values, &tensor, err) ==
                    LEAT_OK,
                "floats", err);
    bench_check(leat_element_set(&element, spec, &tensor, err) == LEAT_OK, "floats", err);
    leat_dataset *dataset = leat_dataset_repeat(leat_dataset_from_tensors(&element, err), -1, err);
    leat_element_fini(&element);
    leat_tensor_unref(&tensor);
    leat_spec_unref(spec);
    free(values);
    return dataset;
}

static leat_dataset *pipeline(const char *kind, leat_error *err) {
    if (strcmp(kind, "small") == 0)
        return leat_dataset_range(0, INT64_MAX, 1, NULL, err);
    if (strcmp(kind, "large") == 0)
        return constant(MB / (int64_t)sizeof(float), err);
    if (strcmp(kind, "fresh") == 0)
        return leat_dataset_batch(constant(MB / ROWS / (int64_t)sizeof(float), err), ROWS, NULL,
                                  err);
    return leat_dataset_batch(constant(WIDTH, err), ROWS, NULL, err);
}

/* ---- measuring ---- */

/* Elements per second of a dataset (given), after a first one. */
static double rate_of(leat_dataset *dataset, double seconds, double *cpu, leat_error *err) {
    leat_element element = {0};
    bench_check(dataset != NULL, "dataset", err);
    leat_iterator *iterator = leat_iterator_new(dataset, NULL, err);
    bench_check(iterator != NULL && leat_iterator_next(iterator, &element, err) == LEAT_OK,
                "first element", err);
    double start = bench_now(), used = bench_cpu(), now = start;
    int64_t count = 0;
    for (; now - start < seconds; now = bench_now())
        for (int i = 0; i < 64; i++, count++)
            bench_check(leat_iterator_next(iterator, &element, err) == LEAT_OK, "next", err);
    *cpu = bench_cpu() - used;
    leat_element_fini(&element);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
    return (double)count / (now - start);
}

/* Messages of 1 MiB per second through the bare pair of sockets. */
static double rate_of_socket(int link, double seconds) {
    char *into = bench_alloc(MB);
    double start = bench_now(), now = start;
    int64_t count = 0;
    for (; now - start < seconds; now = bench_now(), count++) {
        if (write(link, "", 1) != 1)
            exit(1);
        for (size_t at = 0; at < MB;) {
            ssize_t n = read(link, into + at, MB - at);
            if (n <= 0)
                exit(1);
            at += (size_t)n;
        }
    }
    free(into);
    return (double)count / (now - start);
}

static double limit_of(const char *kind, int link, double seconds, leat_error *err) {
    double cpu;
    if (strcmp(kind, "small") == 0)
        return MILLION;
    return strcmp(kind, "large") == 0 || strcmp(kind, "fresh") == 0
               ? rate_of_socket(link, seconds)
               : rate_of(pipeline(kind, err), seconds, &cpu, err);
}

int main(int argc, char **argv) {
    double seconds = argc > 1 ? atof(argv[1]) : 2, cpu = 0;
    const char *kind = argc > 2 ? argv[2] : "small", *transfer = argc > 3 ? argv[3] : NULL;
    const leat_service_options options = {LEAT_SERVICE_DEFAULTS,
                                          .data_transfer_protocol = transfer};
    char address[ADDRESS];
    int links[2];
    leat_error err = {0};
    if (!bench_pair(transfer != NULL && strcmp(transfer, "tcp") == 0, links))
        return 1;
    if (fork() == 0) {
        close(links[0]);
        serve(links[1], transfer);
    }
    close(links[1]);
    if (read(links[0], address, sizeof address) != sizeof address)
        return 1;
    leat_dataset *dataset = leat_service_distribute(pipeline(kind, &err), address, &options, &err);
    double rate = rate_of(dataset, seconds / 2, &cpu, &err);
    bench_result result = {.unit = "elements/s",
                           .units = rate * seconds / 2,
                           .seconds = seconds / 2,
                           .cpu_seconds = cpu,
                           .mean = 1,
                           .limit = limit_of(kind, links[0], seconds / 2, &err)};
    close(links[0]);
    bench_print(&result);
    return 0;
}
