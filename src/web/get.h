/* Asks a page of this machine, over the network as any other program would. */
#ifndef LEATI_WEB_GET_H
#define LEATI_WEB_GET_H

#include "base/text.h"

/* Appends what the page at `url`, as leati_web_url names one on loopback
 * ("http://127.0.0.1:8080/"), answers to GET `path` ("state"). `token` is shown to it; NULL: none.
 * Blocks, for `timeout_ms` in all. INVALID_ARGUMENT: no such url, no such token; UNAVAILABLE:
 * nobody listens there, it went away, or has nothing to say yet; DEADLINE_EXCEEDED;
 * UNAUTHENTICATED: it asks for another token; UNKNOWN for what is no answer of a page. */
LEAT_WARN_UNUSED leat_status leati_web_get(const char *url, const char *path, const char *token,
                                           int timeout_ms, leati_text *out, leat_error *err);

#endif
