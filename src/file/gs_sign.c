/* Signatures by RSA, for which OpenSSL is loaded; see gs.h.
 *
 * Failures: keys that are none; no memory. No error shows a key. Locks: none. */
#include "base/alloc.h"
#include "base/base64.h"
#include "base/error.h"
#include "file/gs.h"
#include <string.h>

#ifdef LEATI_HAVE_CRYPTO
#include "file/crypto_module.h"

static leati_module crypto_module = {
    .file = "libleat_crypto.so", .library = "libcrypto", .size = sizeof(leati_crypto_table)};

static leat_status no_key(leat_error *err) {
    return leati_refuse(err, VALUE,
                        "the private_key of the service account is no RSA key in PEM; download the "
                        "account's file again");
}

static leat_status sign(const leati_crypto_table *c, EVP_PKEY *key, const char *text, char **out,
                        leat_error *err) {
    enum { MOST_BYTES = 2048 };
    unsigned char bytes[MOST_BYTES];
    size_t size = sizeof bytes;
    EVP_MD_CTX *context = c->EVP_MD_CTX_new();
    if (context == NULL)
        return leati_no_memory(err);
    bool done =
        c->EVP_DigestSignInit(context, NULL, c->EVP_sha256(), NULL, key) == 1 &&
        c->EVP_DigestSign(context, bytes, &size, (const unsigned char *)text, strlen(text)) == 1;
    c->EVP_MD_CTX_free(context);
    if (!done)
        return no_key(err);
    size_t letters = leati_base64_letters(size);
    *out = leati_alloc_zero(letters + 1, 1);
    if (*out == NULL)
        return leati_no_memory(err);
    leati_base64_encode(bytes, size, *out);
    return LEAT_OK;
}

leat_status leati_gs_rs256(const char *key, const char *text, char **out, leat_error *err) {
    LEATI_TRY(leati_module_load(&crypto_module, err));
    const leati_crypto_table *c = crypto_module.table;
    BIO *source = c->BIO_new_mem_buf(key, (int)strlen(key));
    if (source == NULL)
        return leati_no_memory(err);
    EVP_PKEY *read = c->PEM_read_bio_PrivateKey(source, NULL, NULL, (void *)(uintptr_t) "");
    leat_status status = read != NULL ? sign(c, read, text, out, err) : no_key(err);
    c->EVP_PKEY_free(read);
    (void)c->BIO_free(source);
    return status;
}
#else
leat_status leati_gs_rs256(const char *key, const char *text, char **out, leat_error *err) {
    (void)key;
    (void)text;
    (void)out;
    return leati_fail(
        err, LEAT_UNIMPLEMENTED,
        "this build of leat has no OpenSSL, which signs for service accounts; install "
        "libssl-dev and build again, or set CLOUDSDK_AUTH_ACCESS_TOKEN (gcloud auth "
        "print-access-token)");
}
#endif
