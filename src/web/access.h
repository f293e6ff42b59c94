/* Who may read and act: the token, the cookie that stands for it, and the names in `Host` and
 * `Origin`. Knows no connection. */
#ifndef LEATI_WEB_ACCESS_H
#define LEATI_WEB_ACCESS_H

#include "base/sha256.h"

typedef struct leati_web_access {
    bool guarded;     /* a token is set */
    bool checks_host; /* only names of this machine's are answered */
    uint8_t token[LEATI_SHA256_BYTES];
    /* What a browser shows after the form: a code that only who has the token can make, and which
     * stays the same when the program starts again with the same token. */
    char cookie[2 * LEATI_SHA256_BYTES + 1];
    char cookie_name[24]; /* with the port, as cookies of one machine's ports are shared */
    char *names;          /* names that Host may have, each ended by '\n' */
} leati_web_access;

/* `host` NULL: loopback. Fails with INVALID_ARGUMENT where the token is none. */
LEAT_WARN_UNUSED leat_status leati_web_access_init(leati_web_access *access, const char *token,
                                                   const char *host, const char *names,
                                                   bool loopback, leat_error *err);
void leati_web_access_port(leati_web_access *access, int port);
void leati_web_access_fini(leati_web_access *access);

/* In a time that does not depend on where the texts differ. Each is false for NULL, and all are
 * true where no token is set. */
bool leati_web_access_token(const leati_web_access *access, const char *token);
bool leati_web_access_bearer(const leati_web_access *access, const char *authorization);
bool leati_web_access_cookie(const leati_web_access *access, const char *value);

/* May this be the value of Host? Without checks anything may. An address may always: what a
 * stranger makes lead here is a name. */
bool leati_web_access_host(const leati_web_access *access, const char *host);
/* Does a request come from a page of the same place? `origin` is "http://" or "https://" and the
 * value of Host. */
bool leati_web_access_origin(const char *origin, const char *host);

/* The member of a form (application/x-www-form-urlencoded) as text, decoded; false where it is
 * not there, is longer than `room` - 1, or holds a zero byte. */
bool leati_web_access_field(const char *form, const char *name, char *out, size_t room);

#endif
