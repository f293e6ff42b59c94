/* Certificates of a job's processes: see tls.h.
 *
 * Happy path: the files are read and verified as the other processes will do it, so that a mistake
 * is told by who made it, before anybody is connected to. Failures: a file that cannot be read, is
 * no PEM, does not fit the others, has expired, or is for one role alone. A key with a pass phrase
 * is refused rather than asked for. Nothing but the authority of the job is believed: the system's
 * are not looked at. Locks: none. */
#include "base/alloc.h"
#include "base/error.h"
#include "coll/tls_private.h"
#include <errno.h>
#include <openssl/err.h>
#include <openssl/x509_vfy.h>
#include <stdio.h>
#include <string.h>

enum { MOST_CERTIFICATES = 32768 /* bytes of what a stranger shows */ };

leati_module leati_tls_module = {
    .file = "libleat_tls.so", .library = "OpenSSL", .size = sizeof(leati_tls_openssl)};

const char *leati_tls_reason(void) {
    unsigned long code = ERR_peek_error();
    const char *reason = code == 0                ? NULL
                         : ERR_SYSTEM_ERROR(code) ? strerror(ERR_GET_REASON(code))
                                                  : ERR_reason_error_string(code);
    ERR_clear_error();
    return reason == NULL ? "no reason given" : reason;
}

static leat_status fail_file(const char *variable, const char *path, const char *reason,
                             leat_error *err) {
    return leati_refuse(err, VALUE, "%s, \"%s\": %s", variable, path, reason);
}

/* The system says more of a file that cannot be opened than OpenSSL does. */
static leat_status check_readable(const char *variable, const char *path, leat_error *err) {
    FILE *file = fopen(path, "rbe");
    if (file == NULL)
        return fail_file(variable, path, strerror(errno), err);
    int first = fgetc(file);
    bool broken = ferror(file) != 0;
    int problem = errno;
    fclose(file);
    return first != EOF
               ? LEAT_OK
               : fail_file(variable, path, broken ? strerror(problem) : "the file is empty", err);
}

/* A pass phrase would be asked for at the terminal, which a job does not have. */
static int no_phrase(char *out, int size, int writing, void *context) {
    (void)out;
    (void)size;
    (void)writing;
    (void)context;
    return -1;
}

static leat_status load_own(const leati_tls_context *c, const leati_tls_files *files,
                            leat_error *err) {
    char text[300];
    const leati_tls_purpose *p = c->purpose;
    LEATI_TRY(check_readable(p->certificate, files->certificate, err));
    LEATI_TRY(check_readable(p->key, files->key, err));
    ERR_clear_error();
    SSL_CTX_set_default_passwd_cb(c->ssl, no_phrase);
    if (SSL_CTX_use_certificate_chain_file(c->ssl, files->certificate) != 1) {
        snprintf(text, sizeof text, "%s; expected certificates as PEM", leati_tls_reason());
        return fail_file(p->certificate, files->certificate, text, err);
    }
    if (SSL_CTX_use_PrivateKey_file(c->ssl, files->key, SSL_FILETYPE_PEM) != 1) {
        snprintf(text, sizeof text,
                 "%s; expected the private key of the certificate in %s as PEM, without a pass "
                 "phrase",
                 leati_tls_reason(), p->certificate);
        return fail_file(p->key, files->key, text, err);
    }
    return LEAT_OK;
}

static leat_status load_authority(const leati_tls_context *c, const leati_tls_files *files,
                                  leat_error *err) {
    char text[300];
    LEATI_TRY(check_readable(c->purpose->authority, files->authority, err));
    ERR_clear_error();
    if (SSL_CTX_load_verify_locations(c->ssl, files->authority, NULL) != 1) {
        snprintf(text, sizeof text, "%s; expected certificates as PEM", leati_tls_reason());
        return fail_file(c->purpose->authority, files->authority, text, err);
    }
    return LEAT_OK;
}

static leat_status load_files(const leati_tls_context *c, const leati_tls_files *files,
                              leat_error *err) {
    if (files->certificate != NULL)
        LEATI_TRY(load_own(c, files, err));
    return files->authority != NULL ? load_authority(c, files, err) : LEAT_OK;
}

/* Will the others believe the certificate in a role, "ssl_server" or "ssl_client"? */
static leat_status verify_own(const leati_tls_context *c, const leati_tls_files *files,
                              const char *role, leat_error *err) {
    const leati_tls_purpose *p = c->purpose;
    SSL_CTX *ssl = c->ssl;
    STACK_OF(X509) *chain = NULL;
    X509_STORE_CTX *check = X509_STORE_CTX_new();
    (void)SSL_CTX_get0_chain_certs(ssl, &chain);
    if (check == NULL ||
        X509_STORE_CTX_init(check, SSL_CTX_get_cert_store(ssl), SSL_CTX_get0_certificate(ssl),
                            chain) != 1 ||
        X509_STORE_CTX_set_default(check, role) != 1) {
        X509_STORE_CTX_free(check);
        return leati_no_memory(err);
    }
    leat_status status = LEAT_OK;
    if (X509_verify_cert(check) != 1) {
        char text[500];
        int code = X509_STORE_CTX_get_error(check), depth = X509_STORE_CTX_get_error_depth(check);
        const X509 *at = X509_STORE_CTX_get_current_cert(check);
        /* Who signed itself is the authority. */
        bool signer = depth > 0 && at != NULL &&
                      X509_NAME_cmp(X509_get_subject_name(at), X509_get_issuer_name(at)) == 0;
        snprintf(text, sizeof text,
                 "%s (certificate %d of its chain); expected one that is valid now, that "
                 "%s (\"%.150s\") signed, and that may be a %s's",
                 X509_verify_cert_error_string(code), depth, p->authority, files->authority,
                 strcmp(role, "ssl_server") == 0 ? "server" : "client");
        status = signer ? fail_file(p->authority, files->authority, text, err)
                        : fail_file(p->certificate, files->certificate, text, err);
    }
    X509_STORE_CTX_free(check);
    ERR_clear_error();
    return status;
}

/* The server takes only who names the protocol. */
static int choose(SSL *ssl, const unsigned char **out, unsigned char *out_size,
                  const unsigned char *in, unsigned in_size, void *context) {
    const leati_tls_context *c = context;
    unsigned char *chosen = NULL;
    (void)ssl;
    int found =
        SSL_select_next_proto(&chosen, out_size, c->protocol, c->protocol[0] + 1u, in, in_size);
    *out = chosen;
    return found == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

static leat_status set_up(leati_tls_context *c, leat_error *err) {
    SSL_CTX *ssl = c->ssl;
    c->protocol[0] = (unsigned char)strlen(c->purpose->protocol);
    memcpy(c->protocol + 1, c->purpose->protocol, c->protocol[0]);
    /* Without tickets and sessions, since nobody comes back; a key of 128 bits is the fastest. */
    SSL_CTX_set_options(ssl, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_NO_TICKET);
    SSL_CTX_set_session_cache_mode(ssl, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_mode(ssl, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                              SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_max_cert_list(ssl, MOST_CERTIFICATES);
    SSL_CTX_set_verify(ssl,
                       c->authority != NULL ? SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT
                                            : SSL_VERIFY_NONE,
                       NULL);
    SSL_CTX_set_alpn_select_cb(ssl, choose, c);
    if (SSL_CTX_set_min_proto_version(ssl, TLS1_3_VERSION) != 1 ||
        SSL_CTX_set_num_tickets(ssl, 0) != 1 ||
        SSL_CTX_set_ciphersuites(ssl, "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:"
                                      "TLS_CHACHA20_POLY1305_SHA256") != 1 ||
        SSL_CTX_set_alpn_protos(ssl, c->protocol, c->protocol[0] + 1u) != 0)
        return leati_fail(err, LEAT_FAILED_PRECONDITION, "OpenSSL does not do TLS 1.3 here: %s",
                          leati_tls_reason());
    return LEAT_OK;
}

static leat_status take_fingerprint(leati_tls_context *c, leat_error *err) {
    unsigned size = 0;
    const X509 *own = SSL_CTX_get0_certificate(c->ssl);
    return X509_digest(own, EVP_sha256(), c->fingerprint, &size) == 1 ? LEAT_OK
                                                                      : leati_no_memory(err);
}

leati_tls_context *leati_tls_context_new(const leati_tls_files *files, leat_error *err) {
    if (leati_module_load(&leati_tls_module, err) != LEAT_OK)
        return NULL;
    /* Jobs are left while the program ends: OpenSSL must not clean up before, as it would behind
     * handlers that were registered earlier. Where somebody else has begun to use it, its handler
     * is the earlier one. */
    (void)OPENSSL_init_ssl(OPENSSL_INIT_NO_ATEXIT, NULL);
    leati_tls_context *c = leati_alloc_zero(1, sizeof *c);
    if (c == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    ERR_clear_error();
    c->purpose = files->purpose == NULL ? &leati_tls_of_job : files->purpose;
    c->name = files->name == NULL ? NULL : leati_strdup(files->name);
    c->authority = leati_strdup(files->authority);
    c->ssl = SSL_CTX_new(TLS_method());
    bool filled = c->ssl != NULL && (files->authority == NULL || c->authority != NULL) &&
                  (files->name == NULL || c->name != NULL);
    leat_status status = filled ? set_up(c, err) : leati_no_memory(err);
    if (status == LEAT_OK)
        status = load_files(c, files, err);
    if (status == LEAT_OK && c->purpose->members)
        status = verify_own(c, files, "ssl_server", err);
    if (status == LEAT_OK && c->purpose->members)
        status = verify_own(c, files, "ssl_client", err);
    if (status == LEAT_OK && files->certificate != NULL)
        status = take_fingerprint(c, err);
    if (status != LEAT_OK) {
        leati_tls_context_free(c);
        return NULL;
    }
    return c;
}

void leati_tls_context_free(leati_tls_context *context) {
    if (context == NULL)
        return;
    SSL_CTX_free(context->ssl);
    leati_free(context->name);
    leati_free(context->authority);
    leati_free(context);
}

const uint8_t *leati_tls_context_fingerprint(const leati_tls_context *context) {
    return context->fingerprint;
}
