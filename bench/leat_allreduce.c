/* leat's side of allreduce: the sum of 100 MB of float32 between two ranks.
 *
 *   leat_allreduce SECONDS threads     between two threads; the limit is memcpy by both, of as many
 *                                      bytes read and written, in alternation
 *   leat_allreduce SECONDS shared      between two processes by shared memory; the limit is the
 *                                      same by gloo, in alternation
 *   leat_allreduce SECONDS tls         between two processes by TLS, with the same limit; it makes
 * a
 *                                      certificate by the program openssl
 *   leat_allreduce SECONDS gloo        between two processes by gloo; limit_gloo.cc is the limit
 *
 * Rates are of the median round, because rounds on shared cores scatter. Rank 0 measures and tells
 * the other by a broadcast whether to go on. */
#include "bench.h"
#include "coll/processes.h"
#include "coll/threads.h"
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { VALUES = 25000000, TIMEOUT_MS = 60000, MOST_ROUNDS = 10000 };

static double seconds_to_run;
static double own[MOST_ROUNDS], limit[MOST_ROUNDS];         /* seconds */
static double own_cpu[MOST_ROUNDS], limit_cpu[MOST_ROUNDS]; /* of rank 0's process */
static double last_cpu;                                     /* of the last reduce */
static int rounds;

static void check(leat_status status, const char *what, const leat_error *err) {
    if (status != LEAT_OK) {
        fprintf(stderr, "%s: %s\n", what, err->text);
        exit(1);
    }
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values) {
    qsort(values, (size_t)rounds, sizeof *values, by_value);
    return values[rounds / 2];
}

/* What rank 0 found. */
static void print(bool with_limit, double cpu, float sum) {
    double processor = with_limit ? median(own_cpu) : cpu / (rounds + 1);
    double time = median(own);
    bench_result result = {.unit = "reductions/s",
                           .units = 1,
                           .seconds = time,
                           .cpu_seconds = cpu,
                           .mean = sum,
                           .limit = with_limit ? 1 / median(limit) : 0};
    bench_print(&result);
    if (getenv("LEAT_BENCH_EXPLAIN") != NULL)
        fprintf(stderr, "%.1f ms of the processor per reduction, the limit %.1f\n", 1e3 * processor,
                1e3 * median(limit_cpu));
}

/* Starts a rank's buffer; every value is the rank + 1. */
static float *values_of(int rank) {
    float *values = bench_alloc(VALUES * sizeof *values);
    for (int i = 0; i < VALUES; i++)
        values[i] = (float)(rank + 1);
    return values;
}

static double reduce(leati_collective *c, int rank, float *values) {
    leat_error err = {0};
    check(c->ops->barrier(c, rank, &err), "barrier", &err);
    double start = bench_now(), cpu = bench_cpu();
    check(c->ops->all_reduce(c, rank, values, VALUES, LEAT_FLOAT32, LEATI_REDUCTION_MEAN, &err),
          "all_reduce", &err);
    check(c->ops->barrier(c, rank, &err), "barrier", &err);
    last_cpu = bench_cpu() - cpu;
    return bench_now() - start;
}

/* Whether there is time for another round, decided by rank 0. */
static bool go_on(leati_collective *c, int rank, double start) {
    leat_error err = {0};
    int32_t more = rounds < 3 || (bench_now() - start < seconds_to_run && rounds < MOST_ROUNDS);
    check(c->ops->broadcast(c, rank, 0, &more, 1, LEAT_INT32, &err), "broadcast", &err);
    return more != 0;
}

// ---- threads ----

typedef struct thread_rank {
    leati_collective *collective;
    int rank;
} thread_rank;

static void *run_thread(void *context) {
    thread_rank *r = context;
    leat_error err = {0};
    leati_collective *c = r->collective;
    float *values = values_of(r->rank), *from = values_of(r->rank), *to = values_of(r->rank);
    double start = bench_now(), cpu = bench_cpu();
    reduce(c, r->rank, values);
    do {
        check(c->ops->barrier(c, r->rank, &err), "barrier", &err);
        double begin = bench_now();
        memcpy(to, from, VALUES * sizeof *to);
        bench_touch(to);
        check(c->ops->barrier(c, r->rank, &err), "barrier", &err);
        double copied = bench_now() - begin, reduced = reduce(c, r->rank, values);
        if (r->rank == 0) {
            limit[rounds] = copied;
            own[rounds++] = reduced;
        }
    } while (go_on(c, r->rank, start));
    if (r->rank == 0)
        print(true, bench_cpu() - cpu, values[VALUES - 1]);
    free(values);
    free(from);
    free(to);
    return NULL;
}

static int between_threads(void) {
    leat_error err = {0};
    leati_collective *c = leati_threads_collective_new(2, TIMEOUT_MS, &err);
    check(c == NULL ? err.code : LEAT_OK, "collective", &err);
    thread_rank ranks[2] = {{c, 0}, {c, 1}};
    pthread_t other;
    if (pthread_create(&other, NULL, run_thread, &ranks[1]) != 0)
        return 1;
    run_thread(&ranks[0]);
    pthread_join(other, NULL);
    c->ops->close(c);
    return 0;
}

// ---- processes ----

typedef leati_collective *(*opener)(leati_store *store, int rank, int num_ranks, int64_t timeout_ms,
                                    leat_error *err);

/* A store of its own, since gloo is not for a job that has TLS. */
typedef struct side {
    char address[40];
    leati_store *store;
    leati_collective *collective;
} side;

static void open_side(side *s, opener open, leati_tls_context *tls, int rank) {
    leat_error err = {0};
    leati_store_options options = {.address = s->address,
                                   .name = rank == 0 ? "rank 0" : "rank 1",
                                   .tls = tls,
                                   .rank = rank,
                                   .num_ranks = 2,
                                   .timeout_ms = TIMEOUT_MS};
    s->store = leati_store_open(&options, &err);
    check(s->store == NULL ? err.code : LEAT_OK, "store", &err);
    s->collective = open(s->store, rank, 2, TIMEOUT_MS, &err);
    check(s->collective == NULL ? err.code : LEAT_OK, "collective", &err);
}

static void close_side(side *s) {
    leati_store_close(s->store);
    s->collective->ops->close(s->collective);
}

/* `open` NULL: gloo alone. */
static void run_process(side *sides, opener open, leati_tls_context *tls, int rank) {
    open_side(&sides[0], leati_coll_gloo_new, NULL, rank);
    if (open != NULL)
        open_side(&sides[1], open, tls, rank);
    leati_collective *gloo = sides[0].collective, *c = open == NULL ? gloo : sides[1].collective;
    float *values = values_of(rank);
    double start = bench_now(), cpu = bench_cpu();
    reduce(c, rank, values);
    do {
        double other = open != NULL ? reduce(gloo, rank, values) : 0;
        limit_cpu[rounds] = last_cpu;
        double time = reduce(c, rank, values);
        if (rank == 0) {
            limit[rounds] = other;
            own_cpu[rounds] = last_cpu;
            own[rounds++] = time;
        }
    } while (go_on(c, rank, start));
    if (rank == 0)
        print(open != NULL, bench_cpu() - cpu, values[VALUES - 1]);
    for (int i = open == NULL ? 0 : 1; i >= 0; i--)
        close_side(&sides[i]);
    free(values);
}

static bool find_address(side *s) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    int probe = socket(AF_INET, SOCK_STREAM, 0);
    bool found = bind(probe, (struct sockaddr *)&at, size) == 0 &&
                 getsockname(probe, (struct sockaddr *)&at, &size) == 0;
    close(probe);
    snprintf(s->address, sizeof s->address, "127.0.0.1:%d", ntohs(at.sin_port));
    return found;
}

/* One certificate, which is its own authority. */
static leati_tls_context *make_context(void) {
    char folder[] = "/tmp/leat-bench-XXXXXX", command[500], key[64], certificate[64];
    if (mkdtemp(folder) == NULL)
        return NULL;
    snprintf(key, sizeof key, "%s/key", folder);
    snprintf(certificate, sizeof certificate, "%s/certificate", folder);
    snprintf(command, sizeof command,
             "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj "
             "/CN=bench -addext subjectAltName=IP:127.0.0.1 -keyout '%s' -out '%s' 2>/dev/null",
             key, certificate);
    leat_error err = {0};
    const leati_tls_files files = {
        .certificate = certificate, .key = key, .authority = certificate};
    leati_tls_context *context = system(command) == 0 ? leati_tls_context_new(&files, &err) : NULL;
    unlink(key);
    unlink(certificate);
    rmdir(folder);
    check(context == NULL ? LEAT_UNAVAILABLE : LEAT_OK, "a certificate by openssl", &err);
    return context;
}

static int between_processes(const char *way) {
    side sides[2] = {0};
    bool tls = strcmp(way, "tls") == 0;
    opener open = tls                          ? leati_coll_mesh_new
                  : strcmp(way, "shared") == 0 ? leati_coll_shared_new
                                               : NULL;
    if (!find_address(&sides[0]) || !find_address(&sides[1]))
        return 1;
    leati_tls_context *context = tls ? make_context() : NULL;
    fflush(stdout);
    pid_t other = fork();
    if (other == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        run_process(sides, open, context, 1);
        _exit(0);
    }
    run_process(sides, open, context, 0);
    leati_tls_context_free(context);
    int status = 0;
    waitpid(other, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: leat_allreduce SECONDS threads|shared|tls|gloo\n");
        return 2;
    }
    seconds_to_run = atof(argv[1]);
    if (strcmp(argv[2], "threads") == 0)
        return between_threads();
    return between_processes(argv[2]);
}
