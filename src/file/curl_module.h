/* The border between remote files and the module libleat_curl.so (curl_module.c, base/module.h),
 * which is linked with libcurl, and with what that brings. It is loaded where a URL is first
 * opened.
 *
 * The table is libcurl's own functions: the code of requests stays in the library, with its memory
 * and locks. Its files write libcurl's names, which lead into the table here, but in the module
 * itself. The library is not linked where one is used that is missing from the list, or from the
 * names below it. */
#ifndef LEATI_FILE_CURL_MODULE_H
#define LEATI_FILE_CURL_MODULE_H

#include "base/module.h"
/* Macros that check types would take the names that the table needs. */
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#undef curl_easy_getinfo
#undef curl_easy_setopt
#undef curl_multi_setopt

#define LEATI_CURL_FUNCTIONS(X)                                                                    \
    X(curl_easy_cleanup)                                                                           \
    X(curl_easy_getinfo)                                                                           \
    X(curl_easy_init)                                                                              \
    X(curl_easy_setopt)                                                                            \
    X(curl_easy_strerror)                                                                          \
    X(curl_getdate)                                                                                \
    X(curl_global_init)                                                                            \
    X(curl_multi_add_handle)                                                                       \
    X(curl_multi_cleanup)                                                                          \
    X(curl_multi_info_read)                                                                        \
    X(curl_multi_init)                                                                             \
    X(curl_multi_perform)                                                                          \
    X(curl_multi_poll)                                                                             \
    X(curl_multi_remove_handle)                                                                    \
    X(curl_multi_setopt)                                                                           \
    X(curl_multi_wakeup)                                                                           \
    X(curl_slist_append)                                                                           \
    X(curl_slist_free_all)

typedef struct leati_curl_table {
    leati_module_head head;
#define X(name) __typeof__(name) *name;
    LEATI_CURL_FUNCTIONS(X)
#undef X
} leati_curl_table;

/* Loaded where the first request is made. */
extern leati_module leati_curl_module;

#ifndef LEATI_MODULE_ITSELF
#define LEATI_CURL ((const leati_curl_table *)leati_curl_module.table)
#define curl_easy_cleanup LEATI_CURL->curl_easy_cleanup
#define curl_easy_getinfo LEATI_CURL->curl_easy_getinfo
#define curl_easy_init LEATI_CURL->curl_easy_init
#define curl_easy_setopt LEATI_CURL->curl_easy_setopt
#define curl_easy_strerror LEATI_CURL->curl_easy_strerror
#define curl_getdate LEATI_CURL->curl_getdate
#define curl_global_init LEATI_CURL->curl_global_init
#define curl_multi_add_handle LEATI_CURL->curl_multi_add_handle
#define curl_multi_cleanup LEATI_CURL->curl_multi_cleanup
#define curl_multi_info_read LEATI_CURL->curl_multi_info_read
#define curl_multi_init LEATI_CURL->curl_multi_init
#define curl_multi_perform LEATI_CURL->curl_multi_perform
#define curl_multi_poll LEATI_CURL->curl_multi_poll
#define curl_multi_remove_handle LEATI_CURL->curl_multi_remove_handle
#define curl_multi_setopt LEATI_CURL->curl_multi_setopt
#define curl_multi_wakeup LEATI_CURL->curl_multi_wakeup
#define curl_slist_append LEATI_CURL->curl_slist_append
#define curl_slist_free_all LEATI_CURL->curl_slist_free_all
#endif

#endif
