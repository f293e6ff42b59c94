/* The server against bare requests: who may read and act, what is refused, streams of events, and
 * what strangers cannot do. Without a thread, on a clock of the test's, over pairs of sockets; the
 * last ones listen on loopback. */
#include "support/cmocka.h"

#ifdef LEATI_HAVE_MICROHTTPD

#include "base/alloc.h"
#include "base/error.h"
#include "support/torture.h"
#include "web/parts.h"
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define HOST "Host: localhost\r\n"
#define TOKEN "s3cret"
#define BEARER "Authorization: Bearer " TOKEN "\r\n"
#define SECOND INT64_C(1000000000)

static int states;
static char acted[64];
static const char *shown =
    "{\"kind\": \"service\",\n \"now_ms\": %d, \"totals\": {\"elements\": %d}}";

static void write_state(void *context, leati_text *json) {
    (void)context;
    states++;
    leati_text_addf(json, shown, 1000 * states, 10 * states); /* NOLINT: the test's own format */
}

static void write_metrics(void *context, leati_text *text) {
    (void)context;
    leati_text_addf(text, "leat_x 1\n");
}

static bool is_ready(void *context, leati_text *why_not) {
    (void)context;
    leati_text_addf(why_not, "no worker yet");
    return states > 2;
}

static leat_status act(void *context, const char *action, const char *argument, leat_error *err) {
    (void)context;
    snprintf(acted, sizeof acted, "%.20s|%.40s", action, argument);
    return argument[0] == '\0' ? leati_fail(err, LEAT_NOT_FOUND, "no such worker") : LEAT_OK;
}

static const leati_web_source source = {
    .state = write_state, .metrics = write_metrics, .ready = is_ready, .act = act};

typedef struct place {
    leati_web *web;
    int64_t now;
} place;

static place start(const char *token) {
    const leati_web_options options = {.port = 80, .token = token, .source = source};
    leat_error err = {0};
    states = 0;
    acted[0] = '\0';
    place p = {.web = leati_web_new(&options, &err), .now = SECOND};
    if (p.web == NULL)
        fail_msg("%s", err.text);
    return p;
}

static void turn(place *p) {
    for (int i = 0; i < 4; i++)
        leati_web_turn(p->web, p->now, 0);
}

/* The other end of a connection to the server. */
static int come(place *p) {
    int pair[2];
    leat_error err = {0};
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair), 0);
    assert_int_equal(leati_web_adopt(p->web, pair[0], &err), LEAT_OK);
    return pair[1];
}

static char answer[1 << 16];

/* What has come; "" where nothing has, NULL where the connection has ended as well. */
static const char *hear(place *p, int end) {
    size_t size = 0;
    ssize_t got = 0;
    turn(p);
    while ((got = read(end, answer + size, sizeof answer - 1 - size)) > 0)
        size += (size_t)got;
    answer[size] = '\0';
    return size == 0 && got == 0 ? NULL : answer;
}

static void say(int end, const char *text) {
    assert_int_equal(send(end, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
}

/* Asks on a connection of its own; the status. The answer stays in `answer`. */
static int ask(place *p, const char *request) {
    int end = come(p), status = 0;
    say(end, request);
    const char *text = hear(p, end);
    if (text != NULL)
        (void)sscanf(text, "HTTP/1.1 %d", &status);
    close(end);
    turn(p);
    return status;
}

static void expect(place *p, int status, const char *request) {
    int found = ask(p, request);
    if (found != status)
        fail_msg("%d instead of %d for\n%s\n%s", found, status, request, answer);
}

#define GET(PATH, HEADERS) "GET " PATH " HTTP/1.1\r\n" HEADERS "\r\n"
#define POST(PATH, HEADERS, SIZE, BODY)                                                            \
    "POST " PATH " HTTP/1.1\r\n" HEADERS "Content-Length: " SIZE "\r\n\r\n" BODY
#define JSON "Content-Type: application/json\r\n"
#define OWN "Origin: http://localhost\r\n"
#define DRAIN "{\"action\":\"drain\",\"argument\":\"w:1\"}"

static void test_open(void **state) {
    (void)state;
    place p = start(NULL);
    turn(&p);
    expect(&p, 200, GET("/", HOST));
    assert_non_null(strstr(answer, "Content-Security-Policy: default-src 'none'"));
    assert_non_null(strstr(answer, "Cache-Control: no-store"));
    assert_non_null(strstr(answer, "page.js"));
    expect(&p, 200, GET("/page.js", HOST));
    assert_non_null(strstr(answer, "text/javascript"));
    expect(&p, 200, GET("/state", HOST));
    assert_non_null(strstr(answer, "\"kind\": \"service\", \"now_ms\": 1000"));
    expect(&p, 200, GET("/metrics", HOST));
    assert_non_null(strstr(answer, "leat_x 1"));
    expect(&p, 200, "HEAD /state HTTP/1.1\r\n" HOST "\r\n");
    assert_null(strstr(answer, "kind"));
    expect(&p, 404, GET("/nothing", HOST));
    expect(&p, 404, GET("/login.html", HOST));
    expect(&p, 404, GET("/../page.js", HOST));
    expect(&p, 405, POST("/", HOST, "0", ""));
    assert_non_null(strstr(answer, "Allow: GET"));
    expect(&p, 405, GET("/act", HOST));
    expect(&p, 405, "HEAD /events HTTP/1.1\r\n" HOST "\r\n");
    expect(&p, 405, "TRACE / HTTP/1.1\r\n" HOST "\r\n");
    leati_web_free(p.web);
}

static void test_hosts(void **state) {
    (void)state;
    place p = start(NULL);
    expect(&p, 421, GET("/state", "Host: evil.example\r\n"));
    expect(&p, 421, GET("/nothing", "Host: evil.example\r\n"));
    expect(&p, 421,
           POST("/act", "Host: evil.example\r\nOrigin: http://evil.example\r\n" JSON, "35", DRAIN));
    assert_string_equal(acted, "");
    expect(&p, 200, GET("/healthz", "Host: evil.example\r\n"));
    leati_web_free(p.web);
}

static void test_token(void **state) {
    (void)state;
    place p = start(TOKEN);
    char request[512];
    static const char *const guarded[] = {"/state", "/events", "/metrics"};
    turn(&p);
    for (size_t i = 0; i < 3; i++) {
        snprintf(request, sizeof request, "GET %s HTTP/1.1\r\n" HOST "\r\n", guarded[i]);
        expect(&p, 401, request);
        assert_null(strstr(answer, "kind"));
        snprintf(request, sizeof request, "GET %s HTTP/1.1\r\n" HOST BEARER "\r\n", guarded[i]);
        expect(&p, 200, request);
    }
    expect(&p, 401, GET("/", HOST));
    assert_non_null(strstr(answer, "role=\"alert\" hidden"));
    expect(&p, 401, POST("/act", HOST OWN JSON, "35", DRAIN));
    assert_string_equal(acted, "");
    expect(&p, 401, GET("/state", HOST "Authorization: Bearer s3cre\r\n"));
    expect(&p, 401, GET("/state", HOST "Cookie: leat_80=s3cret\r\n"));
    /* What a probe asks needs none. */
    expect(&p, 200, GET("/healthz", HOST));
    expect(&p, 200, GET("/page.css", HOST));
    /* The form. */
    expect(&p, 403, POST("/login", HOST, "12", "token=s3cret"));
    expect(&p, 401, POST("/login", HOST OWN, "11", "token=wrong"));
    assert_null(strstr(answer, "role=\"alert\" hidden"));
    expect(&p, 303, POST("/login", HOST OWN, "12", "token=s3cret"));
    const char *cookie = strstr(answer, "Set-Cookie: leat_80=");
    assert_non_null(cookie);
    assert_non_null(strstr(cookie, "HttpOnly; SameSite=Strict"));
    snprintf(request, sizeof request, "GET / HTTP/1.1\r\n" HOST "Cookie: %.72s\r\n\r\n",
             cookie + strlen("Set-Cookie: "));
    expect(&p, 200, request);
    leati_web_free(p.web);
}

static void test_probes(void **state) {
    (void)state;
    place p = start(TOKEN);
    turn(&p);
    expect(&p, 503, GET("/readyz", "Host: pod\r\n"));
    assert_non_null(strstr(answer, "no worker yet"));
    for (int i = 0; i < 3; i++, p.now += SECOND)
        turn(&p);
    expect(&p, 200, GET("/readyz", "Host: pod\r\n"));
    expect(&p, 200, GET("/healthz", "Host: pod\r\n"));
    leati_web_free(p.web);
}

static void test_actions(void **state) {
    (void)state;
    place p = start(NULL);
    expect(&p, 200, POST("/act", HOST OWN JSON, "35", DRAIN));
    assert_string_equal(acted, "drain|w:1");
    acted[0] = '\0';
    /* Not from this page. */
    expect(&p, 403, POST("/act", HOST JSON, "35", DRAIN));
    expect(&p, 403, POST("/act", HOST JSON "Origin: http://evil.example\r\n", "35", DRAIN));
    expect(&p, 403, POST("/act", HOST JSON "Origin: null\r\n", "35", DRAIN));
    expect(&p, 403, POST("/act", HOST JSON BEARER, "35", DRAIN));
    expect(&p, 415, POST("/act", HOST OWN, "35", DRAIN));
    expect(&p, 400, POST("/act", HOST OWN JSON, "1", "{"));
    expect(&p, 400, POST("/act", HOST OWN JSON, "0", ""));
    expect(&p, 400, POST("/act", HOST OWN JSON, "2", "[]"));
    expect(&p, 400, POST("/act", HOST OWN JSON, "12", "{\"action\":1}"));
    expect(&p, 400, POST("/act", HOST OWN JSON, "19", "{\"action\":\"a\\u0007\"}"));
    assert_string_equal(acted, "");
    expect(&p, 404, POST("/act", HOST OWN JSON, "18", "{\"action\":\"drain\"}"));
    assert_non_null(strstr(answer, "no such worker"));
    leati_web_free(p.web);
    p = start(TOKEN);
    expect(&p, 200, POST("/act", HOST BEARER JSON, "35", DRAIN));
    leati_web_free(p.web);
}

static void test_events(void **state) {
    (void)state;
    place p = start(NULL);
    turn(&p);
    int one = come(&p), two = come(&p);
    say(one, GET("/events", HOST));
    assert_non_null(strstr(hear(&p, one), "text/event-stream"));
    assert_non_null(strstr(answer,
                           "event: history\ndata: {\"interval_ms\":1000,\"names\":[\"elements\"],"
                           "\"points\":[[1000,10]]}\n\n"));
    assert_non_null(strstr(answer, "\"now_ms\": 1000"));
    /* Nothing more within the interval. */
    assert_string_equal(hear(&p, one), "");
    p.now += SECOND;
    say(two, GET("/events", HOST));
    assert_non_null(strstr(hear(&p, one), "\"now_ms\": 2000"));
    /* Two pages are one call; what came before is history. */
    assert_non_null(strstr(hear(&p, two), "[[1000,10],[2000,20]]"));
    assert_int_equal(states, 2);
    p.now += SECOND;
    assert_non_null(strstr(hear(&p, two), "\"now_ms\": 3000"));
    assert_non_null(strstr(hear(&p, one), "\"now_ms\": 3000"));
    close(one);
    for (int i = 0; i < 3; i++, p.now += SECOND)
        turn(&p);
    assert_int_equal(p.web->num_streams, 1);
    leati_web_free(p.web);
    while (read(two, answer, sizeof answer) > 0)
        continue;
    assert_int_equal(read(two, answer, sizeof answer), 0);
    close(two);
}

static void test_history_is_bounded(void **state) {
    (void)state;
    place p = start(NULL);
    for (int i = 0; i < LEATI_WEB_MOST_HISTORY + 5; i++, p.now += SECOND)
        leati_web_turn(p.web, p.now, 0);
    assert_int_equal(p.web->history.count, LEATI_WEB_MOST_HISTORY);
    int end = come(&p);
    say(end, GET("/events", HOST));
    assert_non_null(strstr(hear(&p, end), "\"points\":[[7000,70],[8000,80]"));
    close(end);
    leati_web_free(p.web);
}

static int logged;

static void count_line(void *context, leat_log_level level, const char *line) {
    (void)context;
    (void)level;
    (void)line;
    logged++;
}

static void test_a_state_that_is_none(void **state) {
    (void)state;
    const char *before = shown;
    place p = start(NULL);
    leat_log_set(count_line, NULL);
    logged = 0;
    shown = "[%d, %d";
    for (int i = 0; i < 3; i++, p.now += SECOND)
        turn(&p);
    assert_int_equal(logged, 1);
    expect(&p, 503, GET("/state", HOST));
    shown = before;
    p.now += SECOND;
    turn(&p);
    expect(&p, 200, GET("/state", HOST));
    leat_log_set(NULL, NULL);
    leati_web_free(p.web);
}

static void test_bodies_are_bounded(void **state) {
    (void)state;
    place p = start(NULL);
    static char body[3 * LEATI_WEB_MOST_BODY];
    expect(&p, 413, POST("/act", HOST OWN JSON, "4097", "{"));
    expect(&p, 413, POST("/act", HOST OWN JSON, "99999999999999999999", "{"));
    int size = snprintf(body, sizeof body,
                        "POST /act HTTP/1.1\r\n" HOST OWN JSON
                        "Transfer-Encoding: chunked\r\n\r\n1800\r\n");
    memset(body + size, ' ', 0x1800);
    snprintf(body + size + 0x1800, sizeof body - (size_t)size - 0x1800, "\r\n0\r\n\r\n");
    expect(&p, 413, body);
    assert_string_equal(acted, "");
    /* A head that is too long. */
    static char head[70000];
    memset(head, 'x', sizeof head - 1);
    memcpy(head, "GET /", 5);
    int end = come(&p);
    for (size_t sent = 0; sent < sizeof head - 1;) {
        ssize_t n = send(end, head + sent, sizeof head - 1 - sent, MSG_NOSIGNAL);
        if (n <= 0)
            break;
        sent += (size_t)n;
        turn(&p);
    }
    const char *text = hear(&p, end);
    assert_true(text == NULL || strstr(text, " 200 ") == NULL);
    p.now += 16 * SECOND;
    turn(&p);
    assert_int_equal(p.web->num_connections, 0);
    close(end);
    leati_web_free(p.web);
}

/* The status for a request that takes many reads. */
static int ask_long(place *p, const char *request) {
    int end = come(p), status = 0;
    say(end, request);
    const char *text = "";
    for (int i = 0; i < 100 && text != NULL && text[0] == '\0'; i++)
        text = hear(p, end);
    (void)sscanf(text == NULL ? "" : text, "HTTP/1.1 %d", &status);
    close(end);
    turn(p);
    return status;
}

/* A head of more than its room is refused, wherever it is long; one that fits is answered. */
static void test_long_heads(void **state) {
    (void)state;
    static char filler[40000], request[41000];
    static const char in_header[] = "GET /healthz HTTP/1.1\r\n" HOST "X: %s\r\n\r\n",
                      in_target[] = "GET /%s HTTP/1.1\r\n" HOST "\r\n";
    place p = start(NULL);
    memset(filler, 'a', sizeof filler - 1);
    (void)snprintf(request, sizeof request, in_header, filler);
    assert_int_equal(ask_long(&p, request), 431);
    (void)snprintf(request, sizeof request, in_target, filler);
    assert_int_equal(ask_long(&p, request), 414);
    filler[20000] = '\0';
    (void)snprintf(request, sizeof request, in_header, filler);
    assert_int_equal(ask_long(&p, request), 200);
    assert_int_equal(p.web->num_connections, 0);
    leati_web_free(p.web);
}

/* Who never ends a request loses the connection, even if a byte comes now and then. */
static void test_slow_strangers(void **state) {
    (void)state;
    place p = start(NULL);
    int silent = come(&p), dripping = come(&p), idle = come(&p);
    say(idle, GET("/healthz", HOST));
    assert_non_null(strstr(hear(&p, idle), "ok"));
    for (int i = 0; i < 14; i++) {
        say(dripping, "G");
        assert_string_equal(hear(&p, dripping), "");
        p.now += SECOND;
    }
    assert_int_equal(p.web->num_connections, 3);
    p.now += 2 * SECOND;
    turn(&p);
    turn(&p);
    assert_int_equal(p.web->num_connections, 0);
    close(silent);
    close(dripping);
    close(idle);
    leati_web_free(p.web);
}

/* A page that takes nothing holds one event, and then nothing. */
static void test_streams_are_bounded(void **state) {
    (void)state;
    place p = start(NULL);
    int ends[LEATI_WEB_MOST_CONNECTIONS];
    for (int i = 0; i < LEATI_WEB_MOST_CONNECTIONS; i++)
        ends[i] = come(&p);
    for (int i = 0; i <= LEATI_WEB_MOST_STREAMS; i++)
        say(ends[i], GET("/events", HOST));
    turn(&p);
    assert_int_equal(p.web->num_streams, LEATI_WEB_MOST_STREAMS);
    assert_non_null(strstr(hear(&p, ends[LEATI_WEB_MOST_STREAMS]), " 503 "));
    int pair[2];
    leat_error err = {0};
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    assert_int_equal(leati_web_adopt(p.web, pair[0], &err), LEAT_RESOURCE_EXHAUSTED);
    close(pair[1]);
    /* Their sockets fill up, as nobody reads. */
    for (int i = 0; i < 4000 && p.web->num_streams > 0; i++, p.now += SECOND)
        leati_web_turn(p.web, p.now, 0);
    assert_int_equal(p.web->num_streams, 0);
    for (int i = 0; i < LEATI_WEB_MOST_CONNECTIONS; i++)
        close(ends[i]);
    leati_web_free(p.web);
}

/* ---- with a thread ---- */

static int connect_to(int port) {
    const struct sockaddr_in at = {.sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int end = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(end, (const struct sockaddr *)&at, sizeof at) != 0) {
        close(end);
        return -1;
    }
    return end;
}

static leati_web *open_at(int port, leat_error *err) {
    const leati_web_options options = {.port = port, .source = source};
    return leati_web_open(&options, err);
}

static void test_listening(void **state) {
    (void)state;
    leat_error err = {0};
    leati_web *web = open_at(0, &err);
    assert_non_null(web);
    int port = leati_web_port(web);
    char url[64];
    snprintf(url, sizeof url, "http://127.0.0.1:%d/", port);
    assert_string_equal(leati_web_url(web), url);
    assert_null(open_at(port, &err));
    assert_int_equal(err.code, LEAT_UNAVAILABLE);
    int end = connect_to(port);
    say(end, GET("/events", HOST));
    assert_true(read(end, answer, sizeof answer) > 0);
    /* A child of fork keeps neither the port nor the stream, and may close the server. */
    int held[2];
    assert_int_equal(pipe(held), 0);
    pid_t child = fork();
    if (child == 0) {
        close(held[1]);
        leati_web_close(web);
        _exit(read(held[0], answer, 1) == 0 ? 0 : 1);
    }
    close(held[0]);
    leati_web_close(web);
    /* Cut while the child lives. */
    while (read(end, answer, sizeof answer) > 0)
        continue;
    close(end);
    assert_int_equal(connect_to(port), -1);
    web = open_at(port, &err);
    assert_non_null(web);
    leati_web_close(web);
    close(held[1]);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static leat_status open_and_close(void *context, leat_error *err) {
    (void)context;
    leati_web *web = open_at(0, err);
    if (web == NULL)
        return torture_code(err);
    leati_web_close(web);
    return LEAT_OK;
}

static void test_memory(void **state) {
    (void)state;
    torture_begin();
    torture_run_tolerant(open_and_close, NULL);
    torture_end();
}

static void test_options(void **state) {
    (void)state;
    static const leati_web_options bad[] = {
        {.port = -1}, {.port = 65536}, {.interval_ms = -1}, {.token = ""}, {.certificate = "x"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        leat_error err = {0};
        assert_null(leati_web_open(&bad[i], &err));
        assert_int_equal(err.code, LEAT_INVALID_ARGUMENT);
    }
    leat_error err = {0};
    const leati_web_options gone = {.certificate = "nowhere.pem", .key = "nowhere.key"};
    assert_null(leati_web_open(&gone, &err));
    assert_int_equal(err.code, LEAT_NOT_FOUND);
    const leati_web_options none = {.certificate = "README.md", .key = "README.md"};
    assert_null(leati_web_open(&none, &err));
    assert_int_equal(err.code, LEAT_INVALID_ARGUMENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_open),
        cmocka_unit_test(test_hosts),
        cmocka_unit_test(test_token),
        cmocka_unit_test(test_probes),
        cmocka_unit_test(test_actions),
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_history_is_bounded),
        cmocka_unit_test(test_a_state_that_is_none),
        cmocka_unit_test(test_bodies_are_bounded),
        cmocka_unit_test(test_long_heads),
        cmocka_unit_test(test_slow_strangers),
        cmocka_unit_test(test_streams_are_bounded),
        cmocka_unit_test(test_listening),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

/* Without libmicrohttpd nothing is served, and opening says so. */
#include "web/server.h"

static void test_refused(void **state) {
    (void)state;
    leat_error err = {0};
    const leati_web_options options = {0};
    assert_null(leati_web_open(&options, &err));
    assert_int_equal(err.code, LEAT_UNIMPLEMENTED);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
