/* The border between the web page and the module libleat_http.so (http_module.c, base/module.h),
 * which is linked with libmicrohttpd, and with what that brings: GnuTLS and eight more. It is
 * loaded where a page is first served.
 *
 * The table is libmicrohttpd's own functions, not ours: the page's code stays in the library, with
 * its memory, log and locks, and what tests do to calls of the system reaches it. Its files write
 * the functions' names, which lead into the table here, but in the module itself. The library is
 * not linked where one is used that is missing from the list, or from the names below it. */
#ifndef LEATI_WEB_HTTP_MODULE_H
#define LEATI_WEB_HTTP_MODULE_H

#include "base/module.h"
#include <microhttpd.h>

#define LEATI_WEB_HTTP_FUNCTIONS(X)                                                                \
    X(MHD_add_connection)                                                                          \
    X(MHD_add_response_header)                                                                     \
    X(MHD_create_response_from_buffer)                                                             \
    X(MHD_create_response_from_callback)                                                           \
    X(MHD_destroy_response)                                                                        \
    X(MHD_get_connection_info)                                                                     \
    X(MHD_get_daemon_info)                                                                         \
    X(MHD_get_timeout)                                                                             \
    X(MHD_is_feature_supported)                                                                    \
    X(MHD_lookup_connection_value)                                                                 \
    X(MHD_queue_response)                                                                          \
    X(MHD_resume_connection)                                                                       \
    X(MHD_run)                                                                                     \
    X(MHD_start_daemon)                                                                            \
    X(MHD_stop_daemon)                                                                             \
    X(MHD_suspend_connection)

typedef struct leati_web_http {
    leati_module_head head;
#define X(name) __typeof__(name) *name;
    LEATI_WEB_HTTP_FUNCTIONS(X)
#undef X
} leati_web_http;

/* Loaded by leati_web_new. */
extern leati_module leati_web_http_module;

#ifndef LEATI_MODULE_ITSELF
#define LEATI_WEB_HTTP ((const leati_web_http *)leati_web_http_module.table)
#define MHD_add_connection LEATI_WEB_HTTP->MHD_add_connection
#define MHD_add_response_header LEATI_WEB_HTTP->MHD_add_response_header
#define MHD_create_response_from_buffer LEATI_WEB_HTTP->MHD_create_response_from_buffer
#define MHD_create_response_from_callback LEATI_WEB_HTTP->MHD_create_response_from_callback
#define MHD_destroy_response LEATI_WEB_HTTP->MHD_destroy_response
#define MHD_get_connection_info LEATI_WEB_HTTP->MHD_get_connection_info
#define MHD_get_daemon_info LEATI_WEB_HTTP->MHD_get_daemon_info
#define MHD_get_timeout LEATI_WEB_HTTP->MHD_get_timeout
#define MHD_is_feature_supported LEATI_WEB_HTTP->MHD_is_feature_supported
#define MHD_lookup_connection_value LEATI_WEB_HTTP->MHD_lookup_connection_value
#define MHD_queue_response LEATI_WEB_HTTP->MHD_queue_response
#define MHD_resume_connection LEATI_WEB_HTTP->MHD_resume_connection
#define MHD_run LEATI_WEB_HTTP->MHD_run
#define MHD_start_daemon LEATI_WEB_HTTP->MHD_start_daemon
#define MHD_stop_daemon LEATI_WEB_HTTP->MHD_stop_daemon
#define MHD_suspend_connection LEATI_WEB_HTTP->MHD_suspend_connection
#endif

#endif
