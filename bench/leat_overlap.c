/* leat's side of overlap: a training step on two replicas whose sums of gradients run beside the
 * backward pass.
 *
 *   leat_overlap SECONDS gloo|threads [BYTES_PER_PACK]
 *
 * Six dense layers of 768 x 768, 14 MB of gradients, 128 rows on each replica, which has one of two
 * cores: in two processes joined by gloo, or on two threads. The limit is the same step with all
 * gradients in one pack, which is whole when the backward pass has ended; steps alternate, and
 * medians count. With LEAT_BENCH_EXPLAIN set, stderr tells the times. */
#include "leat_bench.h"
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LAYERS = 6, WIDTH = 768, ROWS = 128, REPLICAS = 2, MOST_STEPS = 10000, TIMEOUT_MS = 60000 };

/* One way to take the step: a strategy of its own. */
typedef struct side {
    leat_strategy *strategy;
    leat_variable *weights[LAYERS];
    leat_step *step;
    leat_per_replica batch;
    leat_element elements[REPLICAS];
    double seconds[MOST_STEPS], cpu[MOST_STEPS]; /* of each step */
} side;

static int trace_step(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    side *s = context;
    leat_value y = leat_graph_argument(graph, 0), gradients[LAYERS], reversed[LAYERS], sums[LAYERS];
    for (int i = 0; i < LAYERS; i++)
        y = leat_op_relu(leat_op_matmul(y, leat_graph_read(graph, s->weights[i]), false, false));
    leat_value loss = leat_op_reduce_sum(leat_op_square(y), NULL, 0, false);
    leat_variable_gradients(loss, s->weights, LAYERS, gradients);
    for (int i = 0; i < LAYERS; i++)
        reversed[i] = gradients[LAYERS - 1 - i];
    leat_op_all_reduce(reversed, LAYERS, LEAT_AGGREGATION_SUM, sums);
    const float rate = 1e-9f;
    leat_tensor tensor = leat_tensor_view(LEAT_FLOAT32, LEAT_SCALAR, &rate);
    leat_value scale = leat_graph_tensor(graph, &tensor);
    for (int i = 0; i < LAYERS; i++) {
        leat_variable *weight = s->weights[LAYERS - 1 - i];
        leat_value value = leat_graph_read(graph, weight);
        leat_graph_assign_copy(graph, weight,
                               leat_op_subtract(value, leat_op_multiply(sums[i], scale)));
    }
    outputs[0] = loss;
    return 1;
}

static leat_tensor numbers(int64_t rows) {
    leat_error err = {0};
    leat_tensor tensor = {0};
    bench_check(leat_tensor_new(LEAT_FLOAT32, LEAT_SHAPE(rows, WIDTH), &tensor, &err) == LEAT_OK,
                "numbers", &err);
    for (int64_t i = 0; i < rows * WIDTH; i++)
        ((float *)tensor.data)[i] = (float)(i * 2654435761u % 997) / 49850 - 0.01f;
    return tensor;
}

static const char *const devices[] = {"CPU:0", "CPU:1"};

/* `address` NULL: both replicas are in this process. */
static void open_strategy(side *s, const char *address, int rank, int64_t bytes_per_pack) {
    char config[200];
    leat_error err = {0};
    if (address == NULL) {
        s->strategy = leat_strategy_mirrored(
            &(leat_strategy_mirrored_options){LEAT_STRATEGY_MIRRORED_DEFAULTS, .devices = devices,
                                              .num_devices = REPLICAS,
                                              .bytes_per_pack = bytes_per_pack},
            &err);
        bench_check(s->strategy != NULL, "strategy", &err);
        return;
    }
    snprintf(config, sizeof config,
             "{\"cluster\": {\"worker\": [\"%s\", \"127.0.0.1:1\"]}, "
             "\"task\": {\"type\": \"worker\", \"index\": %d}}",
             address, rank);
    leat_cluster *cluster = leat_cluster_new(config, &err);
    bench_check(cluster != NULL, "cluster", &err);
    leat_strategy_multi_worker_mirrored_options options = {
        LEAT_STRATEGY_MULTI_WORKER_MIRRORED_DEFAULTS,
        .cluster = cluster,
        .devices = &devices[rank],
        .num_devices = 1,
        .communication = LEAT_COMMUNICATION_RING,
        .timeout_ms = TIMEOUT_MS,
        .start_timeout_ms = TIMEOUT_MS,
        .bytes_per_pack = bytes_per_pack};
    s->strategy = leat_strategy_multi_worker_mirrored(&options, &err);
    bench_check(s->strategy != NULL, "strategy", &err);
    leat_cluster_free(cluster);
}

static void open_side(side *s, const char *address, int rank, int64_t bytes_per_pack) {
    leat_error err = {0};
    leat_tensor start = numbers(WIDTH), x = numbers(ROWS);
    open_strategy(s, address, rank, bytes_per_pack);
    bench_check(leat_strategy_enter(s->strategy, &err) == LEAT_OK, "scope", &err);
    for (int i = 0; i < LAYERS; i++) {
        s->weights[i] = leat_variable_new(&start, NULL, &err);
        bench_check(s->weights[i] != NULL, "variable", &err);
    }
    leat_strategy_exit(s->strategy);
    s->step = leat_step_new(trace_step, s, &err);
    leat_spec *spec = leat_spec_tensor(LEAT_FLOAT32, LEAT_SHAPE(ROWS, WIDTH), &err);
    s->batch = (leat_per_replica){.num_replicas = leat_strategy_num_local_replicas(s->strategy),
                                  .elements = s->elements};
    for (int r = 0; r < s->batch.num_replicas; r++)
        bench_check(leat_element_set(&s->elements[r], spec, &x, &err) == LEAT_OK, "batch", &err);
    leat_spec_unref(spec);
    leat_tensor_unref(&start);
    leat_tensor_unref(&x);
}

static void close_side(side *s) {
    leat_step_free(s->step);
    for (int i = 0; i < LAYERS; i++)
        leat_variable_unref(s->weights[i]);
    for (int r = 0; r < s->batch.num_replicas; r++)
        leat_element_fini(&s->elements[r]);
    leat_strategy_unref(s->strategy);
}

static void one(side *s, int step) {
    leat_error err = {0};
    bench_check(leat_strategy_barrier(s->strategy, &err) == LEAT_OK, "barrier", &err);
    double start = bench_now(), cpu = bench_cpu();
    bench_check(leat_strategy_run(s->strategy, s->step, &s->batch, NULL, &err) == LEAT_OK, "run",
                &err);
    s->seconds[step] = bench_now() - start;
    s->cpu[step] = bench_cpu() - cpu;
}

/* Whether there is time for another step, decided by rank 0. */
static bool go_on(side *s, int steps, double until) {
    leat_error err = {0};
    int32_t more = steps < 5 || (bench_now() < until && steps < MOST_STEPS);
    bench_check(leat_strategy_broadcast(s->strategy, &more, sizeof more, &err) == LEAT_OK, "turn",
                &err);
    return more != 0;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count) {
    qsort(values, (size_t)count, sizeof *values, by_value);
    return values[count / 2];
}

static void print(side *beside, side *after, int steps, double cpu) {
    double with = median(beside->seconds, steps), without = median(after->seconds, steps);
    bench_result result = {
        .unit = "steps/s", .units = 1, .seconds = with, .cpu_seconds = cpu, .limit = 1 / without};
    bench_print(&result);
    if (getenv("LEAT_BENCH_EXPLAIN") != NULL) {
        leat_error err = {0};
        char *table = leat_step_explain(after->step, &err);
        fprintf(stderr,
                "a step is %.2f ms (%.2f of the processor), in one pack %.2f ms (%.2f), of %d "
                "steps; its parts\n%s",
                1e3 * with, 1e3 * median(beside->cpu, steps), 1e3 * without,
                1e3 * median(after->cpu, steps), steps, table == NULL ? err.text : table);
        leat_text_free(table);
    }
}

static void run(const char *const addresses[2], int rank, double seconds, int64_t bytes_per_pack) {
    static side beside, after;
    leat_error err = {0};
    bench_check(leat_device_set_logical_cpus(2, &err) == LEAT_OK, "devices", &err);
    open_side(&beside, addresses[0], rank, bytes_per_pack);
    open_side(&after, addresses[1], rank, INT64_MAX);
    one(&beside, 0);
    one(&after, 0);
    int steps = 0;
    double until = bench_now() + seconds, cpu = bench_cpu();
    for (; go_on(&beside, steps, until); steps++) {
        one(&beside, steps);
        one(&after, steps);
    }
    if (rank == 0)
        print(&beside, &after, steps, bench_cpu() - cpu);
    close_side(&beside);
    close_side(&after);
}

static bool free_address(char *out, size_t size) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof at;
    int probe = socket(AF_INET, SOCK_STREAM, 0);
    bool good = bind(probe, (struct sockaddr *)&at, length) == 0 &&
                getsockname(probe, (struct sockaddr *)&at, &length) == 0;
    close(probe);
    snprintf(out, size, "127.0.0.1:%d", ntohs(at.sin_port));
    return good;
}

static int run_processes(double seconds, int64_t bytes_per_pack) {
    char first[40], second[40];
    if (!free_address(first, sizeof first) || !free_address(second, sizeof second))
        return 1;
    const char *const addresses[2] = {first, second};
    pid_t other = fork();
    if (other == 0)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    run(addresses, other == 0, seconds, bytes_per_pack);
    if (other == 0)
        _exit(0);
    int status = 0;
    waitpid(other, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv) {
    bool threads = argc > 2 && strcmp(argv[2], "threads") == 0;
    if (argc < 3 || argc > 4 || (!threads && strcmp(argv[2], "gloo") != 0)) {
        fprintf(stderr, "usage: leat_overlap SECONDS gloo|threads [BYTES_PER_PACK]\n");
        return 2;
    }
    double seconds = atof(argv[1]);
    int64_t bytes_per_pack = argc == 4 ? atoll(argv[3]) : 0;
    if (!threads)
        return run_processes(seconds, bytes_per_pack);
    run((const char *const[2]){NULL, NULL}, 0, seconds, bytes_per_pack);
    return 0;
}
