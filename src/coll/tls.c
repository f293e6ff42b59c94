/* Connections over TLS: see tls.h. OpenSSL reads and writes through functions of ours, which never
 * wait and raise no SIGPIPE, and look at the first bytes that come.
 *
 * Happy path: a handshake in which each side verifies the other; then the server says one byte,
 * because with TLS 1.3 a client would not know otherwise whether its certificate was believed.
 * Failures: whatever goes wrong is said once, with the host, OpenSSL's reason and a way out; what
 * is not TLS at all is kept for who knows how to answer it. Locks: each connection has a leaf of
 * its own around OpenSSL's calls, which do not wait. */
#include "coll/tls.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/minmax.h"
#include "base/stop.h"
#include "coll/tls_private.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

enum { READ_BYTES = 1 << 16, SLICE_MS = 100 };
static const char welcome = 'w';

struct leati_tls {
    pthread_mutex_t lock; /* of all below but what new sets */
    leati_tls_context *context;
    SSL *ssl;
    int socket;
    leati_tls_side side;
    char host[256];
    bool shaken, done; /* OpenSSL's part of the handshake, and all of it */
    uint8_t first[LEATI_TLS_SPOKEN];
    size_t seen;  /* of `first` */
    bool foreign; /* what came is not TLS */
    bool closed;  /* by the other side */
    int problem;  /* errno of the socket */
};

// ---- the socket, for OpenSSL ----

static int socket_read(BIO *bio, char *out, int size) {
    leati_tls *t = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    /* Not more than is kept, until it is known what it is. */
    bool unknown = t->seen < sizeof t->first;
    size_t most = unknown ? LEATI_MIN((size_t)size, sizeof t->first - t->seen) : (size_t)size;
    ssize_t got;
    do
        got = recv(t->socket, out, most, MSG_DONTWAIT);
    while (got < 0 && errno == EINTR);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
        BIO_set_retry_read(bio);
        return -1;
    }
    if (got <= 0) {
        t->closed = t->closed || got == 0;
        t->problem = got < 0 ? errno : 0;
        return (int)got;
    }
    if (unknown) {
        memcpy(t->first + t->seen, out, (size_t)got);
        t->seen += (size_t)got;
        t->foreign = !leati_tls_is_record(t->first, t->seen) ||
                     (t->side == LEATI_TLS_SERVER && t->first[0] != 22);
    }
    return t->foreign ? -1 : (int)got;
}

static int socket_write(BIO *bio, const char *data, int size) {
    leati_tls *t = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    ssize_t sent;
    do
        sent = send(t->socket, data, (size_t)size, MSG_DONTWAIT | MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        BIO_set_retry_write(bio);
    else if (sent < 0 && errno == EPIPE)
        t->closed = true;
    else if (sent < 0)
        t->problem = errno;
    return (int)sent;
}

static long socket_ctrl(BIO *bio, int command, long number, void *pointer) {
    (void)number;
    (void)pointer;
    const leati_tls *t = BIO_get_data(bio);
    return command == BIO_CTRL_FLUSH || (command == BIO_CTRL_EOF && t->closed);
}

static int socket_create(BIO *bio) {
    BIO_set_init(bio, 1);
    return 1;
}

static BIO_METHOD *method; /* for ever, once made */

static void make_method(void) {
    method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "leat's sockets");
    if (method != NULL && (BIO_meth_set_read(method, socket_read) != 1 ||
                           BIO_meth_set_write(method, socket_write) != 1 ||
                           BIO_meth_set_ctrl(method, socket_ctrl) != 1 ||
                           BIO_meth_set_create(method, socket_create) != 1)) {
        BIO_meth_free(method);
        method = NULL;
    }
}

// ---- life ----

/* Whom a client expects: a number among the addresses of the certificate, or a name. */
static bool expect_host(leati_tls *t) {
    struct in6_addr address;
    const char *host = t->context->name == NULL ? t->host : t->context->name;
    X509_VERIFY_PARAM *param = SSL_get0_param(t->ssl);
    if (inet_pton(AF_INET, host, &address) == 1 || inet_pton(AF_INET6, host, &address) == 1)
        return X509_VERIFY_PARAM_set1_ip_asc(param, host) == 1;
    X509_VERIFY_PARAM_set_hostflags(param, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return X509_VERIFY_PARAM_set1_host(param, host, 0) == 1 &&
           SSL_set_tlsext_host_name(t->ssl, host) == 1;
}

static bool prepare(leati_tls *t) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_method);
    BIO *bio = method == NULL ? NULL : BIO_new(method);
    t->ssl = bio == NULL ? NULL : SSL_new(t->context->ssl);
    if (t->ssl == NULL) {
        BIO_free(bio);
        return false;
    }
    BIO_set_data(bio, t);
    SSL_set_bio(t->ssl, bio, bio);
    if (t->side == LEATI_TLS_SERVER)
        SSL_set_accept_state(t->ssl);
    else
        SSL_set_connect_state(t->ssl);
    return t->side != LEATI_TLS_CLIENT || expect_host(t);
}

leati_tls *leati_tls_new(leati_tls_context *context, int socket, leati_tls_side side,
                         const char *host, leat_error *err) {
    leati_tls *t = leati_alloc_zero(1, sizeof *t);
    if (t == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    ERR_clear_error();
    pthread_mutex_init(&t->lock, NULL);
    t->context = context;
    t->socket = socket;
    t->side = side;
    snprintf(t->host, sizeof t->host, "%s", host);
    if (!prepare(t)) {
        leati_fail(err, LEAT_RESOURCE_EXHAUSTED, "TLS with %s: %s", t->host, leati_tls_reason());
        leati_tls_free(t);
        return NULL;
    }
    return t;
}

void leati_tls_expect_bulk(leati_tls *tls) {
    SSL_clear_mode(tls->ssl, SSL_MODE_RELEASE_BUFFERS);
    SSL_set_read_ahead(tls->ssl, 1);
    SSL_set_default_read_buffer_len(tls->ssl, READ_BYTES);
}

void leati_tls_free(leati_tls *tls) {
    if (tls == NULL)
        return;
    SSL_free(tls->ssl);
    pthread_mutex_destroy(&tls->lock);
    leati_free(tls);
}

// ---- failures ----

enum { ALERTS = SSL_AD_REASON_OFFSET };

static leat_status fail_verifying(const leati_tls *t, const char *reason, leat_error *err) {
    const leati_tls_purpose *p = t->context->purpose;
    const char *authority = t->context->authority, *name = t->context->name;
    if (t->side == LEATI_TLS_SERVER)
        return leati_fail(err, LEAT_PERMISSION_DENIED,
                          "the certificate of %s: %s; expected one that %s (\"%s\") signed",
                          t->host, reason, p->authority, authority);
    char whose[160] = "the host of the address";
    if (name != NULL)
        snprintf(whose, sizeof whose, "as %s says", p->name);
    else if (p->name != NULL)
        snprintf(whose, sizeof whose,
                 "the host of the address; where certificates bear another name, set %s to it",
                 p->name);
    return leati_fail(
        err, LEAT_PERMISSION_DENIED,
        "the certificate that %s shows: %s; expected one that %s (\"%s\") signed for \"%s\", %s",
        t->host, reason, p->authority, authority, name == NULL ? t->host : name, whose);
}

/* Of a handshake that OpenSSL has ended. */
static leat_status fail_shaking(const leati_tls *t, leat_error *err) {
    unsigned long code = ERR_peek_error();
    int reason = ERR_GET_LIB(code) == ERR_LIB_SSL ? ERR_GET_REASON(code) : 0;
    if (t->foreign) {
        ERR_clear_error();
        return leati_fail(err, LEAT_FAILED_PRECONDITION,
                          "%s does not speak TLS, and this process does; set %s, or for none",
                          t->host, t->context->purpose->all);
    }
    if (reason == SSL_R_CERTIFICATE_VERIFY_FAILED) {
        ERR_clear_error();
        return fail_verifying(t, X509_verify_cert_error_string(SSL_get_verify_result(t->ssl)), err);
    }
    if (reason == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE) {
        ERR_clear_error();
        return fail_verifying(t, "none was shown", err);
    }
    if (t->closed || t->problem != 0) {
        ERR_clear_error();
        return leati_fail(err, LEAT_UNAVAILABLE,
                          "the connection to %s ended in its TLS handshake%s%s", t->host,
                          t->problem != 0 ? ": " : "", t->problem != 0 ? strerror(t->problem) : "");
    }
    if (reason > ALERTS) {
        return leati_fail(err, LEAT_PERMISSION_DENIED,
                          "%s refuses the certificate of this process (%s): %s; expected one of "
                          "the authority that its %s says",
                          t->host, t->context->purpose->certificate, leati_tls_reason(),
                          t->context->purpose->authority);
    }
    return leati_fail(err, LEAT_PERMISSION_DENIED, "TLS with %s: %s", t->host, leati_tls_reason());
}

// ---- the handshake ----

/* What is to be waited for after a call that did not succeed; FAILED: nothing. */
static leati_tls_step waits_for(const leati_tls *t, int result) {
    int wanted = SSL_get_error(t->ssl, result);
    return wanted == SSL_ERROR_WANT_READ    ? LEATI_TLS_READS
           : wanted == SSL_ERROR_WANT_WRITE ? LEATI_TLS_WRITES
                                            : LEATI_TLS_FAILED;
}

static bool names_protocol(const leati_tls *t) {
    const unsigned char *chosen = NULL;
    unsigned size = 0;
    SSL_get0_alpn_selected(t->ssl, &chosen, &size);
    const unsigned char *protocol = t->context->protocol;
    return size == protocol[0] && memcmp(chosen, protocol + 1, size) == 0;
}

/* The byte by which the server says that it believes the client. */
static int exchange_welcome(leati_tls *t) {
    char found = 0;
    if (t->side == LEATI_TLS_SERVER)
        return SSL_write(t->ssl, &welcome, 1);
    int got = SSL_read(t->ssl, &found, 1);
    return got == 1 && found != welcome ? 0 : got;
}

static leati_tls_step shake_locked(leati_tls *t, leat_error *err) {
    ERR_clear_error();
    if (!t->shaken) {
        int result = SSL_do_handshake(t->ssl);
        if (result != 1) {
            leati_tls_step step = waits_for(t, result);
            if (step == LEATI_TLS_FAILED)
                fail_shaking(t, err);
            return step;
        }
        if (!names_protocol(t)) {
            leati_fail(err, LEAT_PERMISSION_DENIED, "%s speaks TLS, but not as \"%s\"", t->host,
                       t->context->purpose->protocol);
            return LEATI_TLS_FAILED;
        }
        t->shaken = true;
    }
    int result = exchange_welcome(t);
    if (result != 1) {
        leati_tls_step step = waits_for(t, result);
        if (step == LEATI_TLS_FAILED)
            fail_shaking(t, err);
        return step;
    }
    t->done = true;
    return LEATI_TLS_DONE;
}

leati_tls_step leati_tls_shake(leati_tls *tls, leat_error *err) {
    pthread_mutex_lock(&tls->lock);
    leati_tls_step step = tls->done ? LEATI_TLS_DONE : shake_locked(tls, err);
    pthread_mutex_unlock(&tls->lock);
    return step;
}

leat_status leati_tls_finish(leati_tls *tls, int64_t deadline_ns, leat_error *err) {
    for (;;) {
        leati_tls_step step = leati_tls_shake(tls, err);
        if (step == LEATI_TLS_DONE)
            return LEAT_OK;
        if (step == LEATI_TLS_FAILED)
            return err->code;
        int64_t left = (deadline_ns - leati_now_ns()) / 1000000;
        if (left <= 0) {
            return leati_fail(err, LEAT_DEADLINE_EXCEEDED,
                              "%s has not answered the TLS handshake in time", tls->host);
        }
        struct pollfd waiting = {.fd = tls->socket,
                                 .events = step == LEATI_TLS_READS ? POLLIN : POLLOUT};
        (void)poll(&waiting, 1,
                   (int)LEATI_MIN(left, leati_stop_may_come() ? SLICE_MS / 4 : SLICE_MS));
        LEATI_TRY(leati_stop_check(err));
    }
}

size_t leati_tls_spoken(const leati_tls *tls, uint8_t bytes[LEATI_TLS_SPOKEN]) {
    if (!tls->foreign)
        return 0;
    memcpy(bytes, tls->first, tls->seen);
    return tls->seen;
}

leat_status leati_tls_peer(leati_tls *tls, uint8_t out[LEATI_TLS_FINGERPRINT], leat_error *err) {
    unsigned size = 0;
    X509 *certificate = SSL_get1_peer_certificate(tls->ssl);
    bool known = certificate != NULL && X509_digest(certificate, EVP_sha256(), out, &size) == 1;
    X509_free(certificate);
    return known ? LEAT_OK
                 : leati_fail(err, LEAT_RESOURCE_EXHAUSTED, "the certificate of %s: %s", tls->host,
                              leati_tls_reason());
}

// ---- bytes ----

/* After a call that did not succeed: 0 or -1. */
static ptrdiff_t fail_moving(leati_tls *t, int result, leat_error *err) {
    if (waits_for(t, result) != LEATI_TLS_FAILED)
        return 0;
    bool orderly = SSL_get_error(t->ssl, result) == SSL_ERROR_ZERO_RETURN;
    if (orderly || t->closed || t->problem != 0) {
        ERR_clear_error();
        leati_fail(err, LEAT_UNAVAILABLE, "%s",
                   t->problem != 0 ? strerror(t->problem) : "the connection was closed");
    } else {
        leati_fail(err, LEAT_UNAVAILABLE, "the TLS connection broke: %s", leati_tls_reason());
    }
    return -1;
}

ptrdiff_t leati_tls_read(leati_tls *tls, void *out, size_t size, leat_error *err) {
    pthread_mutex_lock(&tls->lock);
    ERR_clear_error();
    int got = SSL_read(tls->ssl, out, (int)LEATI_MIN(size, (size_t)1 << 30));
    ptrdiff_t result = got > 0 ? got : fail_moving(tls, got, err);
    pthread_mutex_unlock(&tls->lock);
    return result;
}

ptrdiff_t leati_tls_write(leati_tls *tls, const void *data, size_t size, leat_error *err) {
    pthread_mutex_lock(&tls->lock);
    ERR_clear_error();
    int sent = SSL_write(tls->ssl, data, (int)LEATI_MIN(size, (size_t)1 << 30));
    ptrdiff_t result = sent > 0 ? sent : fail_moving(tls, sent, err);
    pthread_mutex_unlock(&tls->lock);
    return result;
}

bool leati_tls_pending(leati_tls *tls) {
    pthread_mutex_lock(&tls->lock);
    bool pending = SSL_pending(tls->ssl) > 0;
    pthread_mutex_unlock(&tls->lock);
    return pending;
}
