/* Messages of a data service between two processes of one host, in alternation with a bare pair of
 * Unix sockets.
 *
 *   leat_service_transport SECONDS large CONNECTIONS [PROTOCOL]   messages of 1 MiB to one reader,
 *                                      over that many connections of grpc, tcp or shm
 *   leat_service_transport SECONDS small   messages of 100 bytes over one stream; the pair of
 *                                      sockets has a write for each
 *   leat_service_transport SECONDS calls   calls with 100 bytes and as many back, one after the
 * other
 *
 * By tcp the bare pair is one of TCP, too. The process is forked before anything of the library
 * runs: the child serves, the parent reads and measures. Rates are of the median round. */
#include "bench.h"
#include "bench_pair.h"

#include "base/clock.h"
#include "service/transport/transport.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

enum {
    MB = 1 << 20,
    ADDRESS = 128,
    SMALL = 100,
    MOST_ROUNDS = 10000,
    MOST_CONNECTIONS = 16,
    CALLS = 1000
};

static size_t message_bytes;
static int per_round; /* messages, of all connections */

static void check(bool good, const char *what, const leat_error *err) {
    if (!good) {
        fprintf(stderr, "%s: %s\n", what, err != NULL ? err->text : strerror(errno));
        exit(1);
    }
}

static void take(int from, void *out, size_t size) {
    for (size_t at = 0; at < size;) {
        ssize_t n = read(from, (char *)out + at, size - at);
        if (n <= 0)
            exit(n == 0 ? 0 : 1);
        at += (size_t)n;
    }
}

static void give(int to, const void *bytes, size_t size) {
    for (size_t at = 0; at < size;) {
        ssize_t n = write(to, (const char *)bytes + at, size - at);
        if (n <= 0)
            exit(1);
        at += (size_t)n;
    }
}

/* ---- the child ---- */

typedef struct order {
    leati_transport_stream *stream;
    int messages;
} order;

static leat_buffer *message; /* that is sent over and over */

static void *fill_order(void *context) {
    order *o = context;
    const leati_transport_part part = {leat_buffer_data(message), message_bytes, message};
    leat_error err = {0};
    for (int i = 0; i < o->messages; i++)
        check(leati_transport_stream_write(o->stream, &part, 1, NULL, &err) == LEAT_OK, "write",
              &err);
    leati_transport_stream_unref(o->stream);
    free(o);
    return NULL;
}

static void on_order(void *context, leat_buffer *asked) {
    order *o = bench_alloc(sizeof *o);
    pthread_t thread;
    o->stream = leati_transport_stream_ref(context);
    memcpy(&o->messages, leat_buffer_data(asked), sizeof o->messages);
    leat_buffer_unref(asked);
    pthread_create(&thread, NULL, fill_order, o);
    pthread_detach(thread);
}

static void on_end(void *context, const leat_error *why) {
    (void)why;
    leati_transport_stream_unref(context);
}

static leat_status on_open(void *context, leati_transport_stream *stream, const char *method,
                           const char *peer, const void *request, size_t size,
                           leati_transport_events *events, void **events_context, leat_error *err) {
    (void)context, (void)method, (void)peer, (void)request, (void)size, (void)err;
    *events = (leati_transport_events){.message = on_order, .closed = on_end};
    *events_context = leati_transport_stream_ref(stream);
    return LEAT_OK;
}

static void on_call(void *context, leati_transport_call *call, const char *method, const char *peer,
                    const void *request, size_t size) {
    (void)context, (void)method, (void)peer;
    (void)leati_transport_call_answer(call, request, size);
}

/* The bare side: as many messages as are asked for; an answer to each question where they are
 * calls.
 */
static void serve_socket(int link, bool calls) {
    char *bytes = bench_alloc(message_bytes);
    memset(bytes, 1, message_bytes);
    for (;;) {
        int messages;
        take(link, calls ? (void *)bytes : &messages, calls ? message_bytes : sizeof messages);
        for (int i = 0; i < (calls ? 1 : messages); i++)
            give(link, bytes, message_bytes);
    }
}

static void serve(int link, bool calls, const char *protocol,
                  const leati_transport_tuning *tuning) {
    char address[ADDRESS] = "";
    leat_error err = {0};
    int port;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const leati_transport_listen_options options = {0};
    const leati_transport_handler handler = {NULL, on_call, on_open};
    const leati_transport *used = leati_transport_find(protocol, &err);
    check(used != NULL && leati_transport_tune(tuning, &err) == LEAT_OK, protocol, &err);
    leati_transport_server *server = used->listen(&options, &handler, &port, &err);
    check(server != NULL, "listen", &err);
    /* After the server, which may want messages to lie in memory of its own. */
    message = leat_buffer_new(message_bytes, &err);
    check(message != NULL, "message", &err);
    memset(leat_buffer_data(message), 1, message_bytes);
    if (used->address != NULL)
        used->address(server, "127.0.0.1", address, sizeof address);
    else
        snprintf(address, sizeof address, "127.0.0.1:%d", port);
    give(link, address, sizeof address);
    serve_socket(link, calls);
}

/* ---- the parent ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t arrived = PTHREAD_COND_INITIALIZER;
static int received;

static void on_message(void *context, leat_buffer *got) {
    (void)context;
    check(leat_buffer_size(got) == message_bytes, "a message of another size", NULL);
    leat_buffer_unref(got);
    pthread_mutex_lock(&lock);
    if (++received == per_round)
        pthread_cond_signal(&arrived);
    pthread_mutex_unlock(&lock);
}

static void on_pieces(void *context, leat_buffer *rest, const leati_transport_piece *pieces,
                      int num_pieces) {
    check(num_pieces == 1 && leat_buffer_size(rest) == 0, "a message of another form", NULL);
    leat_buffer_unref(rest);
    on_message(context, pieces[0].bytes);
}

static void on_closed(void *context, const leat_error *why) {
    (void)context;
    check(why->code == LEAT_OK || why->code == LEAT_CANCELLED, "closed", why);
}

static double round_of_streams(leati_transport_stream **streams, int connections) {
    int messages = per_round / connections;
    const leati_transport_part part = {&messages, sizeof messages, NULL};
    leat_error err = {0};
    double begin = bench_now();
    received = 0;
    for (int i = 0; i < connections; i++)
        check(leati_transport_stream_write(streams[i], &part, 1, NULL, &err) == LEAT_OK, "order",
              &err);
    pthread_mutex_lock(&lock);
    while (received < per_round)
        pthread_cond_wait(&arrived, &lock);
    pthread_mutex_unlock(&lock);
    return bench_now() - begin;
}

static double round_of_calls(const leati_transport *grpc, leati_transport_channel *channel) {
    char request[SMALL] = {1};
    leat_error err = {0};
    double begin = bench_now();
    for (int i = 0; i < CALLS; i++) {
        leat_buffer *answer = NULL;
        check(grpc->call(channel, "Echo", request, SMALL, LEATI_NO_DEADLINE, NULL, &answer, &err) ==
                  LEAT_OK,
              "call", &err);
        leat_buffer_unref(answer);
    }
    return bench_now() - begin;
}

static double round_of_socket(int link, bool calls, char *into) {
    double begin = bench_now();
    if (!calls)
        give(link, &per_round, sizeof per_round);
    for (int i = 0; i < per_round; i++) {
        if (calls)
            give(link, into, message_bytes);
        take(link, into, message_bytes);
    }
    return bench_now() - begin;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int n) {
    qsort(values, (size_t)n, sizeof *values, by_value);
    return values[n / 2];
}

static bench_result result_of(double *own, double *bare, int rounds, const char *unit, double cpu) {
    double time = median(own, rounds);
    return (bench_result){.unit = unit,
                          .units = per_round,
                          .seconds = time,
                          .cpu_seconds = cpu,
                          .mean = 1,
                          .limit = per_round / median(bare, rounds)};
}

static void open_streams(const leati_transport *used, leati_transport_channel *channel,
                         leati_transport_stream **streams, int connections) {
    static const leati_transport_events events = {
        .message = on_message, .closed = on_closed, .pieces = on_pieces};
    leat_error err = {0};
    for (int i = 0; i < connections; i++) {
        streams[i] = used->open(channel, "Read", "", 0, &events, NULL, &err);
        check(streams[i] != NULL, "open", &err);
    }
}

static void close_streams(leati_transport_stream **streams, int connections) {
    for (int i = 0; i < connections; i++) {
        leati_transport_stream_close(streams[i], NULL);
        leati_transport_stream_unref(streams[i]);
    }
}

int main(int argc, char **argv) {
    static double own[MOST_ROUNDS], bare[MOST_ROUNDS];
    double seconds = argc > 1 ? atof(argv[1]) : 2;
    const char *kind = argc > 2 ? argv[2] : "large";
    bool calls = strcmp(kind, "calls") == 0, large = strcmp(kind, "large") == 0;
    int connections = argc > 3 ? atoi(argv[3]) : 1, links[2], rounds = 0;
    const char *protocol = argc > 4 ? argv[4] : "grpc";
    leati_transport_tuning tuning = {LEATI_TRANSPORT_TUNING_DEFAULTS};
    leati_transport_stream *streams[MOST_CONNECTIONS];
    leat_error err = {0};
    tuning.connections = connections;
    message_bytes = large ? MB : SMALL;
    per_round = large ? 64 : calls ? CALLS : 20000;
    check(connections >= 1 && connections <= MOST_CONNECTIONS, "connections", NULL);
    check(bench_pair(strcmp(protocol, "tcp") == 0, links), "a pair of sockets", NULL);
    if (fork() == 0) {
        close(links[0]);
        serve(links[1], calls, protocol, &tuning);
    }
    close(links[1]);
    char address[ADDRESS], *into = bench_alloc(message_bytes);
    take(links[0], address, sizeof address);
    const leati_transport *used = leati_transport_find(protocol, &err);
    check(used != NULL && leati_transport_tune(&tuning, &err) == LEAT_OK, protocol, &err);
    leati_transport_channel *channel = used->connect(address, NULL, &err);
    check(channel != NULL, "connect", &err);
    open_streams(used, channel, streams, connections);
    double end = 0, cpu = bench_cpu();
    for (int warm = 1; rounds < MOST_ROUNDS && (warm >= 0 || bench_now() < end); warm--) {
        own[rounds] =
            calls ? round_of_calls(used, channel) : round_of_streams(streams, connections);
        bare[rounds] = round_of_socket(links[0], calls, into);
        if (warm == 0)
            end = bench_now() + seconds;
        rounds = warm >= 0 ? 0 : rounds + 1;
    }
    check(rounds > 0, "no round", NULL);
    const char *unit = large ? "MiB/s" : calls ? "calls/s" : "messages/s";
    bench_result result = result_of(own, bare, rounds, unit, bench_cpu() - cpu);
    close_streams(streams, connections);
    used->disconnect(channel);
    close(links[0]);
    (void)wait(NULL);
    free(into);
    bench_print(&result);
    return 0;
}
