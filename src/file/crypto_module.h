/* The border between who signs with RSA and the module libleat_crypto.so (crypto_module.c,
 * base/module.h), which is linked with OpenSSL's libcrypto. It is loaded where the credentials of a
 * service account are first used. */
#ifndef LEATI_FILE_CRYPTO_MODULE_H
#define LEATI_FILE_CRYPTO_MODULE_H

#include "base/module.h"
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#define LEATI_CRYPTO_FUNCTIONS(X)                                                                  \
    X(BIO_free)                                                                                    \
    X(BIO_new_mem_buf)                                                                             \
    X(EVP_DigestSign)                                                                              \
    X(EVP_DigestSignInit)                                                                          \
    X(EVP_MD_CTX_free)                                                                             \
    X(EVP_MD_CTX_new)                                                                              \
    X(EVP_PKEY_free)                                                                               \
    X(EVP_sha256)                                                                                  \
    X(PEM_read_bio_PrivateKey)

typedef struct leati_crypto_table {
    leati_module_head head;
#define X(name) __typeof__(name) *name;
    LEATI_CRYPTO_FUNCTIONS(X)
#undef X
} leati_crypto_table;

#endif
