/* Certificates for tests of TLS, made when they are wanted: an authority, what it signs, and the
 * files that a process is given. After cmocka.h and scratch.h; needs OpenSSL. */
#ifndef LEATI_TESTS_CERTIFICATES_H
#define LEATI_TESTS_CERTIFICATES_H

#include "coll/tls.h"
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>

enum { CERTIFICATE_HOUR = 3600 };

typedef struct authority {
    EVP_PKEY *key;
    X509 *certificate;
} authority;

/* What a certificate is to say. */
typedef struct certificate_wish {
    const char *name;           /* its subject */
    const char *hosts;          /* "DNS:localhost,IP:127.0.0.1" */
    long from_seconds, seconds; /* from now; 0: an hour ago, and for two hours */
    const char *usage;          /* extendedKeyUsage; NULL: none */
} certificate_wish;

#define CERTIFICATE_HERE "DNS:localhost,IP:127.0.0.1,IP:::1"

static inline void certificate_extend(X509 *at, X509 *issuer, int kind, const char *value) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, at, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, kind, value);
    assert_non_null(extension);
    assert_int_equal(X509_add_ext(at, extension, -1), 1);
    X509_EXTENSION_free(extension);
}

/* Signed by `by`; NULL: by itself, an authority. */
static inline X509 *certificate_new(EVP_PKEY *key, const certificate_wish *wish,
                                    const authority *by) {
    static long serial;
    X509 *made = X509_new();
    assert_non_null(made);
    long from = wish->seconds == 0 ? -CERTIFICATE_HOUR : wish->from_seconds;
    long seconds = wish->seconds == 0 ? 2 * CERTIFICATE_HOUR : wish->seconds;
    X509_set_version(made, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(made), ++serial);
    X509_gmtime_adj(X509_getm_notBefore(made), from);
    X509_gmtime_adj(X509_getm_notAfter(made), from + seconds);
    X509_set_pubkey(made, key);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(made), "CN", MBSTRING_ASC,
                               (const unsigned char *)wish->name, -1, -1, 0);
    X509_set_issuer_name(made, X509_get_subject_name(by == NULL ? made : by->certificate));
    X509 *issuer = by == NULL ? made : by->certificate;
    if (by == NULL) {
        certificate_extend(made, issuer, NID_basic_constraints, "critical,CA:TRUE");
        certificate_extend(made, issuer, NID_key_usage, "critical,keyCertSign,cRLSign");
    } else if (wish->hosts != NULL) {
        certificate_extend(made, issuer, NID_subject_alt_name, wish->hosts);
    }
    if (wish->usage != NULL)
        certificate_extend(made, issuer, NID_ext_key_usage, wish->usage);
    assert_true(X509_sign(made, by == NULL ? key : by->key, EVP_sha256()) > 0);
    return made;
}

static inline authority authority_new(const char *name) {
    authority made = {.key = EVP_EC_gen("P-256")};
    assert_non_null(made.key);
    made.certificate = certificate_new(made.key, &(certificate_wish){.name = name}, NULL);
    return made;
}

static inline void authority_free(authority *a) {
    EVP_PKEY_free(a->key);
    X509_free(a->certificate);
}

/* The paths of a process's files. */
typedef struct certificate_files {
    char certificate[600], key[600], authority[600];
} certificate_files;

static inline FILE *certificate_file(const char *folder, const char *name, const char *end,
                                     char path[600]) {
    snprintf(path, 600, "%s/%s.%s", folder, name, end);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    return file;
}

/* Writes NAME.crt, NAME.key and NAME.ca of a process that believes `believed`. */
static inline certificate_files certificate_write(const char *folder, const certificate_wish *wish,
                                                  const authority *by, const authority *believed) {
    certificate_files files;
    EVP_PKEY *key = EVP_EC_gen("P-256");
    assert_non_null(key);
    X509 *made = certificate_new(key, wish, by);
    FILE *file = certificate_file(folder, wish->name, "crt", files.certificate);
    assert_int_equal(PEM_write_X509(file, made), 1);
    fclose(file);
    file = certificate_file(folder, wish->name, "key", files.key);
    assert_int_equal(PEM_write_PrivateKey(file, key, NULL, NULL, 0, NULL, NULL), 1);
    fclose(file);
    file = certificate_file(folder, wish->name, "ca", files.authority);
    assert_int_equal(PEM_write_X509(file, believed->certificate), 1);
    fclose(file);
    X509_free(made);
    EVP_PKEY_free(key);
    return files;
}

static inline leati_tls_files certificate_paths(const certificate_files *files) {
    return (leati_tls_files){
        .certificate = files->certificate, .key = files->key, .authority = files->authority};
}

/* A context of files that are good. */
static inline leati_tls_context *certificate_context(const certificate_files *files,
                                                     const char *name) {
    leat_error err = {0};
    leati_tls_files paths = certificate_paths(files);
    paths.name = name;
    leati_tls_context *context = leati_tls_context_new(&paths, &err);
    if (context == NULL)
        fail_msg("%s", err.text);
    return context;
}

/* Sets the variables of a job's processes; NULL: none. */
static inline void certificate_environment(const certificate_files *files) {
    static const char *const variables[] = {"LEAT_TLS_CERT", "LEAT_TLS_KEY", "LEAT_TLS_CA"};
    for (int i = 0; i < 3; i++) {
        if (files == NULL)
            unsetenv(variables[i]);
        else
            setenv(variables[i],
                   i == 0   ? files->certificate
                   : i == 1 ? files->key
                            : files->authority,
                   1);
    }
}

/* One context for all processes of a job on this host, made once; its files are gone again. */
static inline leati_tls_context *certificate_job(void) {
    static leati_tls_context *context;
    if (context == NULL) {
        assert_int_equal(scratch_setup(NULL), 0);
        authority by = authority_new("the test's authority");
        certificate_files files = certificate_write(
            scratch_folder, &(certificate_wish){.name = "job", .hosts = CERTIFICATE_HERE}, &by,
            &by);
        context = certificate_context(&files, NULL);
        authority_free(&by);
        scratch_teardown(NULL);
    }
    return context;
}

#endif
