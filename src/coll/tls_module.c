/* The module libleat_tls.so: OpenSSL's functions as a table (tls_module.h). */
#define LEATI_MODULE_ITSELF
#include "coll/tls_module.h"

LEATI_MODULE_SHOWN const leati_tls_openssl LEATI_MODULE_TABLE = {
    .head = {LEATI_MODULE_FOR, sizeof(leati_tls_openssl)},
#define X(name) .name = name,
    LEATI_TLS_OPENSSL_FUNCTIONS(X)
#undef X
};
