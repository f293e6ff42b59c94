/* TLS (coll/tls.h) in a build without OpenSSL: there is no context, so nothing else is reached. */
#include "base/error.h"
#include "coll/tls.h"

static leat_status refuse(leat_error *err) {
    return leati_fail(
        err, LEAT_UNIMPLEMENTED,
        "TLS: this build of leat has no OpenSSL; install libssl-dev, and build again");
}

leati_tls_context *leati_tls_context_new(const leati_tls_files *files, leat_error *err) {
    const leati_tls_purpose *purpose = files->purpose == NULL ? &leati_tls_of_job : files->purpose;
    leati_fail(err, LEAT_UNIMPLEMENTED,
               "%s, %s and %s: this build of leat has no OpenSSL; install libssl-dev, and build "
               "again",
               purpose->certificate, purpose->key, purpose->authority);
    return NULL;
}

void leati_tls_context_free(leati_tls_context *context) {
    (void)context;
}

const uint8_t *leati_tls_context_fingerprint(const leati_tls_context *context) {
    (void)context;
    return NULL;
}

leati_tls *leati_tls_new(leati_tls_context *context, int socket, leati_tls_side side,
                         const char *host, leat_error *err) {
    (void)context;
    (void)socket;
    (void)side;
    (void)host;
    refuse(err);
    return NULL;
}

void leati_tls_expect_bulk(leati_tls *tls) {
    (void)tls;
}

void leati_tls_free(leati_tls *tls) {
    (void)tls;
}

leati_tls_step leati_tls_shake(leati_tls *tls, leat_error *err) {
    (void)tls;
    refuse(err);
    return LEATI_TLS_FAILED;
}

leat_status leati_tls_finish(leati_tls *tls, int64_t deadline_ns, leat_error *err) {
    (void)tls;
    (void)deadline_ns;
    return refuse(err);
}

size_t leati_tls_spoken(const leati_tls *tls, uint8_t bytes[LEATI_TLS_SPOKEN]) {
    (void)tls;
    (void)bytes;
    return 0;
}

leat_status leati_tls_peer(leati_tls *tls, uint8_t out[LEATI_TLS_FINGERPRINT], leat_error *err) {
    (void)tls;
    (void)out;
    return refuse(err);
}

ptrdiff_t leati_tls_read(leati_tls *tls, void *out, size_t size, leat_error *err) {
    (void)tls;
    (void)out;
    (void)size;
    refuse(err);
    return -1;
}

ptrdiff_t leati_tls_write(leati_tls *tls, const void *data, size_t size, leat_error *err) {
    (void)tls;
    (void)data;
    (void)size;
    refuse(err);
    return -1;
}

bool leati_tls_pending(leati_tls *tls) {
    (void)tls;
    return false;
}
