/* Asking a page: of a server of leat's, and of others, which say what a page would not. */
#include "support/cmocka.h"

#include "base/text.h"
#include "support/refused.h"
#include "web/get.h"
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LONG_MS = 60000, SHORT_MS = 20 };

/* Somebody who listens on loopback and gives one answer, whatever is asked. */
typedef struct stranger {
    int listener;
    const char *answer;
    char url[64], asked[2048];
    pthread_t thread;
} stranger;

static void *give_answer(void *context) {
    stranger *s = context;
    int socket = accept(s->listener, NULL, NULL);
    size_t size = 0;
    for (ssize_t n = 1; n > 0 && strstr(s->asked, "\r\n\r\n") == NULL; size += (size_t)n)
        n = recv(socket, s->asked + size, sizeof s->asked - 1 - size, 0);
    (void)send(socket, s->answer, strlen(s->answer), MSG_NOSIGNAL);
    (void)close(socket);
    return NULL;
}

static void listen_at(stranger *s) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof at;
    s->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(s->listener, (struct sockaddr *)&at, size), 0);
    assert_int_equal(listen(s->listener, 1), 0);
    assert_int_equal(getsockname(s->listener, (struct sockaddr *)&at, &size), 0);
    snprintf(s->url, sizeof s->url, "http://127.0.0.1:%d/", ntohs(at.sin_port));
}

static leat_status ask(stranger *s, const char *token, leati_text *out, leat_error *err) {
    memset(s->asked, 0, sizeof s->asked);
    listen_at(s);
    assert_int_equal(pthread_create(&s->thread, NULL, give_answer, s), 0);
    leat_status status = leati_web_get(s->url, "state", token, LONG_MS, out, err);
    assert_int_equal(pthread_join(s->thread, NULL), 0);
    assert_int_equal(close(s->listener), 0);
    return status;
}

static void test_an_answer(void **state) {
    (void)state;
    stranger s = {.answer = "HTTP/1.1 200 OK\r\nA: b\r\n\r\n{\"pid\": 1}"};
    leat_error err = {0};
    leati_text out = {0};
    assert_int_equal(ask(&s, NULL, &out, &err), LEAT_OK);
    assert_string_equal(out.data, "{\"pid\": 1}");
    assert_non_null(strstr(s.asked, "GET /state HTTP/1.0\r\nHost: 127.0.0.1:"));
    assert_null(strstr(s.asked, "Authorization"));
    assert_int_equal(ask(&s, "s3cret", &out, &err), LEAT_OK);
    assert_non_null(strstr(s.asked, "\r\nAuthorization: Bearer s3cret\r\n"));
    leati_text_fini(&out);
}

static void test_refusals(void **state) {
    (void)state;
    static const struct {
        const char *answer;
        leat_status status;
    } cases[] = {
        {"HTTP/1.1 401 Unauthorized\r\n\r\n", LEAT_UNAUTHENTICATED},
        {"HTTP/1.1 503 Service Unavailable\r\n\r\n", LEAT_UNAVAILABLE},
        {"HTTP/1.1 404 Not Found\r\n\r\n", LEAT_UNKNOWN},
        {"HTTP/1.1 200 OK\r\nA: b", LEAT_UNKNOWN},
        {"220 mail.example.org\r\n\r\n", LEAT_UNKNOWN},
        {"HTTP/1.", LEAT_UNKNOWN},
        {"", LEAT_UNAVAILABLE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        stranger s = {.answer = cases[i].answer};
        leat_error err = {0};
        leati_text out = {0};
        assert_int_equal(ask(&s, NULL, &out, &err), cases[i].status);
        assert_refused(&err, cases[i].status, LEAT_REASON_NONE, s.url);
        assert_int_equal(out.size, 0);
    }
}

/* Nobody takes the connection, or nobody listens any more. */
static void test_nobody(void **state) {
    (void)state;
    stranger s = {0};
    leat_error err = {0};
    leati_text out = {0};
    listen_at(&s);
    assert_int_equal(leati_web_get(s.url, "state", NULL, SHORT_MS, &out, &err),
                     LEAT_DEADLINE_EXCEEDED);
    assert_int_equal(close(s.listener), 0);
    assert_int_equal(leati_web_get(s.url, "state", NULL, LONG_MS, &out, &err), LEAT_UNAVAILABLE);
}

static void test_no_page(void **state) {
    (void)state;
    static const char *const urls[] = {"",
                                       "http://127.0.0.1:/",
                                       "http://127.0.0.1:0/",
                                       "http://127.0.0.1:65536/",
                                       "http://127.0.0.1:80",
                                       "http://127.0.0.1:80/x",
                                       "http://example.org:80/",
                                       "https://127.0.0.1:80/"};
    leati_text out = {0};
    for (size_t i = 0; i < sizeof urls / sizeof urls[0]; i++) {
        leat_error err = {0};
        assert_int_equal(leati_web_get(urls[i], "state", NULL, LONG_MS, &out, &err),
                         LEAT_INVALID_ARGUMENT);
        assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "page");
    }
    leat_error err = {0};
    assert_int_equal(leati_web_get("http://127.0.0.1:80/", "state", "a\r\nb", LONG_MS, &out, &err),
                     LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "token");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_answer),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_nobody),
        cmocka_unit_test(test_no_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
