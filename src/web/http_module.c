/* The module libleat_http.so: libmicrohttpd's functions as a table (http_module.h). */
#define LEATI_MODULE_ITSELF
#include "web/http_module.h"

LEATI_MODULE_SHOWN const leati_web_http LEATI_MODULE_TABLE = {
    .head = {LEATI_MODULE_FOR, sizeof(leati_web_http)},
#define X(name) .name = name,
    LEATI_WEB_HTTP_FUNCTIONS(X)
#undef X
};
