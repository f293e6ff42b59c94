/* The module libleat_curl.so: libcurl's functions as a table (curl_module.h). */
#define LEATI_MODULE_ITSELF
#include "file/curl_module.h"

LEATI_MODULE_SHOWN const leati_curl_table LEATI_MODULE_TABLE = {
    .head = {LEATI_MODULE_FOR, sizeof(leati_curl_table)},
#define X(name) .name = name,
    LEATI_CURL_FUNCTIONS(X)
#undef X
};
