/* Calls of a dispatcher; see control.h.
 *
 * Happy path: a channel by the protocol of the address; the first `ask` greets (`version`), then
 * each is one call with JSON both ways. Failures: what the dispatcher says comes back as it is; one
 * that is not reached is UNAVAILABLE, and `ask` tries again with pauses that grow. Whoever answers
 * on the port but is no dispatcher, or one of another protocol, is FAILED_PRECONDITION and named.
 * Where the reason is in this process (here.c) it is not tried again.
 * Locks: a gate of its own while it pauses. */
#include "service/wire/control.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/minmax.h"
#include "base/random.h"
#include "run/queue.h"
#include <stdlib.h>
#include <string.h>

enum {
    LEAST_TOKEN = 16,   /* characters */
    TRY_MS = 20 * 1000, /* after which one try counts as lost */
    FIRST_PAUSE_NS = 1000 * 1000,
    LAST_PAUSE_NS = 1000 * 1000 * 1000,
    QUIET_MS = 5000 /* of waiting before the log says so */
};

/* ---- addresses ---- */

leat_status leati_control_address(const char *service, char **protocol, char **address,
                                  leat_error *err) {
    static const char separator[] = "://";
    if (service == NULL || service[0] == '\0')
        return leati_refuse(err, VALUE,
                            "the service's address is empty; expected \"host:port\" or "
                            "\"grpc://host:port\"");
    const char *at = strstr(service, separator);
    const char *rest = at == NULL ? service : at + strlen(separator);
    if (at == service || rest[0] == '\0' || strstr(rest, separator) != NULL)
        return leati_refuse(err, VALUE,
                            "\"%.200s\" is no address of a service; expected \"host:port\" or "
                            "\"grpc://host:port\"",
                            service);
    char *first =
        at == NULL ? leati_strdup("grpc") : leati_strndup(service, (size_t)(at - service));
    char *second = leati_strdup(rest);
    if (first == NULL || second == NULL) {
        leati_free(first);
        leati_free(second);
        return leati_no_memory(err);
    }
    *protocol = first;
    *address = second;
    return LEAT_OK;
}

static const char *or_environment(const char *given, const char *name) {
    const char *value = given != NULL ? given : getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

leati_transport_security leati_control_security(const leat_service_security *given) {
    static const leat_service_security nothing;
    given = given == NULL ? &nothing : given;
    return (leati_transport_security){
        .token = or_environment(given->token, "LEAT_SERVICE_TOKEN"),
        .tls_cert = or_environment(given->tls_cert, "LEAT_SERVICE_TLS_CERT"),
        .tls_key = or_environment(given->tls_key, "LEAT_SERVICE_TLS_KEY"),
        .tls_ca = or_environment(given->tls_ca, "LEAT_SERVICE_TLS_CA"),
    };
}

leat_status leati_control_check(const leati_transport_security *security, leat_error *err) {
    const char *token = security->token;
    size_t size = 0;
    while (token != NULL && token[size] >= ' ' && token[size] <= '~')
        size++;
    if (token == NULL || (size >= LEAST_TOKEN && token[size] == '\0'))
        return LEAT_OK;
    return leati_refuse(
        err, VALUE,
        "the service's token (LEAT_SERVICE_TOKEN) is no text of %d or more printable "
        "ASCII characters; draw one, as by: openssl rand -hex 32",
        LEAST_TOKEN);
}

const char *leati_control_host(const char *host, const leati_transport_security *security) {
    bool guarded = security->token != NULL || security->tls_ca != NULL;
    return host != NULL || !guarded ? host : "all";
}

const char *leati_control_page_host(const char *host, const leati_transport_security *security) {
    if (host == NULL && security->token != NULL)
        host = "all";
    return host != NULL && strcmp(host, "all") == 0 ? "::" : host;
}

leat_status leati_control_open(const char *service, const leat_service_security *security,
                               leat_cancel *cancel, leati_control *out, leat_error *err) {
    char *protocol = NULL, *address = NULL;
    memset(out, 0, sizeof *out);
    LEATI_TRY(leati_control_address(service, &protocol, &address, err));
    leati_transport_security who = leati_control_security(security);
    out->cancel = cancel;
    out->service = leati_strdup(service);
    out->transport = leati_transport_find(protocol, err);
    if (out->service == NULL)
        (void)leati_no_memory(err);
    else if (out->transport != NULL)
        out->channel = out->transport->connect(address, &who, err);
    leati_free(protocol);
    leati_free(address);
    if (out->channel != NULL)
        return LEAT_OK;
    leati_control_close(out);
    return err->code;
}

void leati_control_close(leati_control *control) {
    if (control->channel != NULL)
        control->transport->disconnect(control->channel);
    control->channel = NULL;
    leati_free(control->service);
    control->service = NULL;
    leati_messages_fini(&leati_message_version, &control->version);
}

/* ---- calls ---- */

leat_status leati_control_call(leati_control *control, const char *method,
                               const leati_message *form, const void *request,
                               const leati_message *answer_form, void *answer, int64_t deadline_ns,
                               leat_error *err) {
    leati_text text = {0};
    leat_buffer *bytes = NULL;
    if (answer_form != NULL)
        memset(answer, 0, answer_form->size);
    leat_status status = leati_messages_write(form, request, &text, err);
    if (status == LEAT_OK)
        status = control->transport->call(control->channel, method, text.data, text.size,
                                          deadline_ns, control->cancel, &bytes, err);
    leati_text_fini(&text);
    if (status == LEAT_OK && answer_form != NULL)
        status = leati_messages_read(answer_form, leat_buffer_data(bytes), leat_buffer_size(bytes),
                                     answer, err);
    leat_buffer_unref(bytes);
    return status;
}

bool leati_control_is_away(leat_status status) {
    return status == LEAT_UNAVAILABLE || status == LEAT_DEADLINE_EXCEEDED || status == LEAT_ABORTED;
}

static leat_status refuse_stranger(const leati_control *control, leat_error *err) {
    leat_error said = *err;
    return leati_fail(err, LEAT_FAILED_PRECONDITION,
                      "what answers at %s is not leat's dispatcher (%.200s); give the address of "
                      "one",
                      control->service, leat_error_message(&said));
}

/* Asks who is there, and whether both speak the same. */
static leat_status greet(leati_control *control, int64_t deadline_ns, leat_error *err) {
    struct leati_message_version mine = {.protocol = LEATI_SERVICE_PROTOCOL,
                                         .oldest = LEATI_SERVICE_OLDEST};
    struct leati_message_version theirs;
    leat_status status = leati_control_call(control, "version", &leati_message_version, &mine,
                                            &leati_message_version, &theirs, deadline_ns, err);
    if (status == LEAT_UNIMPLEMENTED || status == LEAT_INVALID_ARGUMENT ||
        status == LEAT_INTERNAL || status == LEAT_UNKNOWN)
        return refuse_stranger(control, err);
    LEATI_TRY(status);
    if (theirs.protocol < LEATI_SERVICE_OLDEST || theirs.oldest > LEATI_SERVICE_PROTOCOL)
        status = leati_fail(err, LEAT_FAILED_PRECONDITION,
                            "the dispatcher at %s speaks protocol %lld down to %lld; this program "
                            "speaks %d down to %d: update the older one",
                            control->service, (long long)theirs.protocol, (long long)theirs.oldest,
                            LEATI_SERVICE_PROTOCOL, LEATI_SERVICE_OLDEST);
    if (status == LEAT_OK) {
        leati_messages_fini(&leati_message_version, &control->version);
        control->version = theirs;
        atomic_store(&control->greeted, true);
    } else {
        leati_messages_fini(&leati_message_version, &theirs);
    }
    return status;
}

/* One call as `ask` was told; a method of NULL greets alone. */
struct asked {
    const char *method;
    const leati_message *form;
    const void *request;
    const leati_message *answer_form;
    void *answer;
};

static leat_status try_once(leati_control *control, const struct asked *asked, int64_t deadline_ns,
                            leat_error *err) {
    int64_t lost = leati_clock_deadline_ns(TRY_MS);
    deadline_ns = LEATI_MIN(deadline_ns, lost);
    if (!atomic_load(&control->greeted))
        LEATI_TRY(greet(control, deadline_ns, err));
    return asked->method == NULL
               ? LEAT_OK
               : leati_control_call(control, asked->method, asked->form, asked->request,
                                    asked->answer_form, asked->answer, deadline_ns, err);
}

int64_t leati_control_pause_ns(int attempt) {
    uint8_t noise = 0;
    int64_t ns = FIRST_PAUSE_NS;
    for (int i = 0; i < attempt && ns < LAST_PAUSE_NS; i++)
        ns += ns / 2;
    ns = LEATI_MIN(ns, (int64_t)LAST_PAUSE_NS);
    /* Without noise clients come back together, which is slower, not wrong. */
    if (!leati_random_secret(&noise, sizeof noise))
        noise = 128;
    return ns - ns * noise / 640;
}

leat_status leati_control_pause(leat_cancel *cancel, int attempt, int64_t deadline_ns,
                                leat_error *err) {
    leati_gate *gate = leati_queue_gate_new("data service, the way to it", cancel, err);
    if (gate == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    int64_t until = leati_now_ns() + leati_control_pause_ns(attempt);
    leati_queue_gate_lock(gate);
    leat_status status =
        leati_queue_gate_wait(gate, LEATI_WAIT_PEER, LEATI_MIN(until, deadline_ns), NULL, err);
    leati_queue_gate_unlock(gate);
    leati_queue_gate_free(gate);
    /* The pause's own end is no failure. */
    if (status == LEAT_DEADLINE_EXCEEDED && until <= deadline_ns)
        return LEAT_OK;
    return status;
}

/* After a failure that stands in *err, which stays there where nothing here is the reason. */
static leat_status check_here(const leati_control *control, leat_error *err) {
    leat_error here = {0};
    if (leati_control_check_here(control, &here) == LEAT_OK)
        return LEAT_OK;
    return leati_fail(err, here.code,
                      "the dispatcher of the data service at %s does not answer: %s",
                      control->service, leat_error_message(&here));
}

static leat_status keep_asking(leati_control *control, const struct asked *asked,
                               int64_t deadline_ns, leat_error *err) {
    int64_t loud = leati_clock_deadline_ns(QUIET_MS);
    for (int attempt = 0;; attempt++) {
        leat_status status = try_once(control, asked, deadline_ns, err);
        /* Programs look at the error after a chain of calls: an earlier try is none. */
        if (status == LEAT_OK && attempt > 0)
            *err = (leat_error){0};
        if (!leati_control_is_away(status))
            return status;
        if (leati_now_ns() >= loud && loud != LEATI_NO_DEADLINE) {
            LEATI_TRY(check_here(control, err));
            leati_log(
                LEAT_LOG_WARNING,
                "the dispatcher of the data service at %s is not reached (%s); waiting for it",
                control->service, leat_error_message(err));
            loud = LEATI_NO_DEADLINE;
        }
        leat_error late = {0};
        status = leati_control_pause(control->cancel, attempt, deadline_ns, &late);
        if (status == LEAT_DEADLINE_EXCEEDED)
            return leati_prefix(err, "the dispatcher of the data service at %s", control->service);
        if (status != LEAT_OK)
            return leati_error_pass(err, &late);
    }
}

leat_status leati_control_ask(leati_control *control, const char *method, const leati_message *form,
                              const void *request, const leati_message *answer_form, void *answer,
                              int64_t deadline_ns, leat_error *err) {
    const struct asked asked = {.method = method,
                                .form = form,
                                .request = request,
                                .answer_form = answer_form,
                                .answer = answer};
    return keep_asking(control, &asked, deadline_ns, err);
}

leat_status leati_control_greet(leati_control *control, int64_t deadline_ns, leat_error *err) {
    return keep_asking(control, &(struct asked){.method = NULL}, deadline_ns, err);
}
