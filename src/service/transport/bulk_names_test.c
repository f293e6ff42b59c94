/* Hosts that are names, by TCP: a system that does not answer holds up nobody who closes. */
#include "support/cmocka.h"

#define TRANSPORT_PROTOCOLS "tcp"
#define TRANSPORT_TESTS(X)
#include "support/transport_suite.h"

#include <dlfcn.h>
#include <netdb.h>

#define STALLED "stalled.test"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int asked, answered; /* the lock's */
static bool let_go;

/* The system's, but for one name, of which it says nothing until it is let go. */
int getaddrinfo(const char *host, const char *port, const struct addrinfo *hints,
                struct addrinfo **out) {
    int (*next)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
    *(void **)&next = dlsym(RTLD_NEXT, "getaddrinfo");
    if (host == NULL || strcmp(host, STALLED) != 0 || (hints->ai_flags & AI_NUMERICHOST) != 0)
        return next(host, port, hints, out);
    pthread_mutex_lock(&lock);
    asked++;
    pthread_cond_broadcast(&changed);
    while (!let_go)
        pthread_cond_wait(&changed, &lock);
    answered++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return EAI_NONAME;
}

static void a_name_that_is_not_found_holds_up_nobody(void **state) {
    (void)state;
    seen s;
    leat_error err = {0};
    protocol = leati_transport_find("tcp", &err);
    seen_init(&s);
    leati_transport_channel *channel =
        protocol->connect(STALLED ":1/0123456789abcdef0123456789abcdef", NULL, &err);
    assert_non_null(channel);
    leati_transport_stream *stream = protocol->open(channel, "Read", "t", 1, &events, &s, &err);
    assert_non_null(stream);
    pthread_mutex_lock(&lock);
    while (asked == 0)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    protocol->disconnect(channel);
    wait_closed(&s, LEAT_CANCELLED);
    leati_transport_stream_unref(stream);
    seen_fini(&s);
    pthread_mutex_lock(&lock);
    let_go = true;
    pthread_cond_broadcast(&changed);
    while (answered < asked)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

static void a_name_that_nobody_knows_is_told(void **state) {
    (void)state;
    seen s;
    leat_error err = {0};
    protocol = leati_transport_find("tcp", &err);
    seen_init(&s);
    leati_transport_channel *channel =
        protocol->connect(STALLED ":1/0123456789abcdef0123456789abcdef", NULL, &err);
    assert_non_null(channel);
    leati_transport_stream *stream = protocol->open(channel, "Read", "t", 1, &events, &s, &err);
    assert_non_null(stream);
    wait_closed(&s, LEAT_UNAVAILABLE);
    leati_transport_stream_unref(stream);
    protocol->disconnect(channel);
    seen_fini(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_that_is_not_found_holds_up_nobody),
        cmocka_unit_test(a_name_that_nobody_knows_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
