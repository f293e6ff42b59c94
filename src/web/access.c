/* Tokens, cookies, Host and Origin: see access.h.
 *
 * Hashes are compared, so that the time of a comparison says nothing about the token. */
#include "web/access.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/text.h"
#include "web/server.h"
#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define SESSION "leat: a page that showed the token"

static void hash(const char *text, uint8_t out[LEATI_SHA256_BYTES]) {
    leati_sha256 sum;
    leati_sha256_begin(&sum);
    leati_sha256_add(&sum, text, strlen(text));
    leati_sha256_end(&sum, out);
}

static leat_status check_token(const char *token, leat_error *err) {
    size_t size = strlen(token);
    bool printable = size > 0;
    for (size_t i = 0; i < size; i++)
        printable = printable && token[i] > ' ' && token[i] < 127;
    if (printable && size <= LEATI_WEB_MOST_TOKEN)
        return LEAT_OK;
    return leati_refuse(err, VALUE,
                        "the token of the web page has %zu characters%s; expected 1 to %d "
                        "printable ASCII characters without blanks",
                        size, printable ? "" : ", not all of them printable", LEATI_WEB_MOST_TOKEN);
}

/* Adds the parts of a list with commas, without blanks around them. */
static void add_names(leati_text *out, const char *names) {
    while (*names != '\0') {
        names += strspn(names, ", \t");
        size_t size = strcspn(names, ", \t");
        if (size > 0) {
            leati_text_add(out, names, size);
            leati_text_add(out, "\n", 1);
        }
        names += size;
    }
}

leat_status leati_web_access_init(leati_web_access *access, const char *token, const char *host,
                                  const char *names, bool loopback, leat_error *err) {
    *access = (leati_web_access){.guarded = token != NULL};
    access->checks_host = loopback || token == NULL;
    if (token != NULL) {
        LEATI_TRY(check_token(token, err));
        hash(token, access->token);
        uint8_t code[LEATI_SHA256_BYTES];
        leati_sha256_hmac(token, strlen(token), SESSION, strlen(SESSION), code);
        for (int i = 0; i < LEATI_SHA256_BYTES; i++)
            snprintf(access->cookie + (size_t)2 * (size_t)i, 3, "%02x", code[i]);
    }
    leati_text all = {0};
    char own[256] = "";
    if (gethostname(own, sizeof own - 1) == 0)
        add_names(&all, own);
    add_names(&all, "localhost");
    add_names(&all, host != NULL ? host : "");
    add_names(&all, names != NULL ? names : "");
    access->names = leati_text_take(&all);
    return access->names != NULL ? LEAT_OK : leati_no_memory(err);
}

void leati_web_access_port(leati_web_access *access, int port) {
    snprintf(access->cookie_name, sizeof access->cookie_name, "leat_%d", port);
}

void leati_web_access_fini(leati_web_access *access) {
    leati_free(access->names);
    *access = (leati_web_access){0};
}

bool leati_web_access_token(const leati_web_access *access, const char *token) {
    uint8_t shown[LEATI_SHA256_BYTES];
    if (!access->guarded)
        return true;
    if (token == NULL)
        return false;
    hash(token, shown);
    return leati_sha256_same(shown, access->token);
}

bool leati_web_access_bearer(const leati_web_access *access, const char *authorization) {
    static const char scheme[] = "Bearer ";
    if (!access->guarded)
        return true;
    if (authorization == NULL || strncasecmp(authorization, scheme, sizeof scheme - 1) != 0)
        return false;
    authorization += sizeof scheme - 1;
    return leati_web_access_token(access, authorization + strspn(authorization, " "));
}

bool leati_web_access_cookie(const leati_web_access *access, const char *value) {
    uint8_t shown[LEATI_SHA256_BYTES], expected[LEATI_SHA256_BYTES];
    if (!access->guarded)
        return true;
    if (value == NULL)
        return false;
    hash(value, shown);
    hash(access->cookie, expected);
    return leati_sha256_same(shown, expected);
}

/* The name in `host` without its port and without the brackets of an IPv6 address; false where it
 * is none. */
static bool split_host(const char *host, char *name, size_t room) {
    const char *end = NULL;
    if (*host == '[') {
        host++;
        end = strchr(host, ']');
        if (end == NULL || (end[1] != '\0' && end[1] != ':'))
            return false;
    } else {
        end = host + strcspn(host, ":");
    }
    size_t size = (size_t)(end - host);
    const char *port = *end == ']' ? end + 1 : end;
    if (*port == ':' && strspn(port + 1, "0123456789") != strlen(port + 1))
        return false;
    if (size == 0 || size >= room)
        return false;
    memcpy(name, host, size);
    name[size] = '\0';
    return true;
}

bool leati_web_access_host(const leati_web_access *access, const char *host) {
    char name[256];
    unsigned char address[sizeof(struct in6_addr)];
    if (!access->checks_host)
        return true;
    if (host == NULL || !split_host(host, name, sizeof name))
        return false;
    if (inet_pton(AF_INET, name, address) == 1 || inet_pton(AF_INET6, name, address) == 1)
        return true;
    size_t size = strlen(name);
    for (const char *at = access->names; *at != '\0'; at = strchr(at, '\n') + 1)
        if (strncasecmp(at, name, size) == 0 && at[size] == '\n')
            return true;
    return false;
}

bool leati_web_access_origin(const char *origin, const char *host) {
    if (origin == NULL || host == NULL)
        return false;
    size_t scheme = strncasecmp(origin, "http://", 7) == 0    ? 7
                    : strncasecmp(origin, "https://", 8) == 0 ? 8
                                                              : 0;
    return scheme > 0 && strcasecmp(origin + scheme, host) == 0;
}

static int digit(char c) {
    return c >= '0' && c <= '9' ? c - '0' : isxdigit((unsigned char)c) ? (c | 32) - 'a' + 10 : -1;
}

/* The character at `*at`, which moves behind it; 0 for what is none. */
static char decoded(const char **at) {
    const char *from = *at;
    int high = *from == '%' ? digit(from[1]) : -1, low = high >= 0 ? digit(from[2]) : -1;
    *at += low >= 0 ? 3 : 1;
    if (*from == '%')
        return low >= 0 ? (char)(high * 16 + low) : '\0';
    return *from == '+' ? ' ' : *from;
}

bool leati_web_access_field(const char *form, const char *name, char *out, size_t room) {
    size_t size = strlen(name);
    while (strncmp(form, name, size) != 0 || form[size] != '=') {
        form = strchr(form, '&');
        if (form == NULL)
            return false;
        form++;
    }
    const char *at = form + size + 1;
    size_t filled = 0;
    while (*at != '\0' && *at != '&') {
        char c = decoded(&at);
        if (c == '\0' || filled + 1 >= room)
            return false;
        out[filled++] = c;
    }
    out[filled] = '\0';
    return true;
}
