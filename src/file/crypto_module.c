/* The module libleat_crypto.so: libcrypto's functions as a table (crypto_module.h). */
#include "file/crypto_module.h"

LEATI_MODULE_SHOWN const leati_crypto_table LEATI_MODULE_TABLE = {
    .head = {LEATI_MODULE_FOR, sizeof(leati_crypto_table)},
#define X(name) .name = name,
    LEATI_CRYPTO_FUNCTIONS(X)
#undef X
};
