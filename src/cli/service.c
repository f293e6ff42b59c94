/* What the parts of `leat service` read from their command line and say: see service.h.
 *
 * A token comes from a file or the environment; on the command line anybody on the machine reads
 * it, which is warned of. What listens beyond the machine without token and certificate is warned
 * of, too. Failure modes: files that cannot be read, an address that nobody gave. No locks. */
#include "cli/service.h"

#include "base/alloc.h"
#include "cli/print.h"
#include "cli/say.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_TOKEN = 4096 };

// ---- who may connect ----

/* The environment's text, where it says anything. */
static const char *from_environment(const char *name) {
    const char *text = getenv(name);
    return text != NULL && text[0] != '\0' ? text : NULL;
}

static const char *or_environment(const char *given, const char *name) {
    return given != NULL ? given : from_environment(name);
}

/* The first line of the file, without its end. */
static char *read_token(const char *path, const char *command) {
    leat_error err = {0};
    char *text = leati_print_read_text(path, LONGEST_TOKEN, &err);
    if (text == NULL) {
        leati_say_error("%s: --token-file: %s", command, err.text);
        return NULL;
    }
    text[strcspn(text, "\r\n")] = '\0';
    if (text[0] == '\0') {
        leati_say_error("%s: --token-file: the first line of %s is empty; expected the token",
                        command, path);
        leati_free(text);
        return NULL;
    }
    return text;
}

bool leati_service_access_read(const leati_service_access *access, const char *command,
                               leati_service_credentials *out) {
    *out = (leati_service_credentials){0};
    if (access->token != NULL && access->token_file != NULL) {
        leati_say_error("%s: --token and --token-file: one of them is enough", command);
        return false;
    }
    if (access->token != NULL)
        leati_say_error("%s: other users of this machine see what --token says; use --token-file "
                        "or LEAT_SERVICE_TOKEN",
                        command);
    if (access->token_file != NULL) {
        out->token = read_token(access->token_file, command);
        if (out->token == NULL)
            return false;
    }
    out->security = (leat_service_security){
        .token =
            or_environment(out->token != NULL ? out->token : access->token, "LEAT_SERVICE_TOKEN"),
        .tls_cert = or_environment(access->tls_cert, "LEAT_SERVICE_TLS_CERT"),
        .tls_key = or_environment(access->tls_key, "LEAT_SERVICE_TLS_KEY"),
        .tls_ca = or_environment(access->tls_ca, "LEAT_SERVICE_TLS_CA"),
    };
    return true;
}

void leati_service_access_fini(leati_service_credentials *credentials) {
    if (credentials->token != NULL)
        memset(credentials->token, 0, strlen(credentials->token));
    leati_free(credentials->token);
    *credentials = (leati_service_credentials){0};
}

// ---- where ----

const char *leati_service_address(const char *given, const char *command) {
    const char *address = or_environment(given, "LEAT_SERVICE_ADDRESS");
    if (address == NULL || address[0] == '\0') {
        leati_say_error("%s: which dispatcher? --dispatcher HOST:PORT or LEAT_SERVICE_ADDRESS says "
                        "it",
                        command);
        return NULL;
    }
    return address;
}

const char **leati_service_list(const char *text, size_t *count) {
    size_t size = text != NULL ? strlen(text) : 0, parts = 0;
    for (size_t i = 0; i < size; i++)
        parts += text[i] == ',';
    /* The pointers, and behind them the texts. */
    const char **list = leati_alloc(1, (parts + 2) * sizeof *list + size + 1);
    *count = 0;
    if (list == NULL)
        return NULL;
    char *at = (char *)(list + parts + 2);
    memcpy(at, text != NULL ? text : "", size + 1);
    for (char *end = at; size > 0 && end != NULL; at = end + 1) {
        end = strchr(at, ',');
        if (end != NULL)
            *end = '\0';
        if (at[0] != '\0')
            list[(*count)++] = at;
        if (end == NULL)
            break;
    }
    list[*count] = NULL;
    return list;
}

// ---- messages ----

void leati_service_say_failure(const char *command, const char *address, const leat_error *err) {
    const char *text = err->text[0] != '\0' ? err->text : leat_status_name(err->code);
    if (err->code == LEAT_UNAVAILABLE || err->code == LEAT_DEADLINE_EXCEEDED)
        leati_say_error("%s: the dispatcher at %s does not answer: %s; is it running, and is the "
                        "address that it printed at its start?",
                        command, address, text);
    else
        leati_say_error("%s: the dispatcher at %s: %s", command, address, text);
}

static bool is_loopback(const char *host) {
    return strcmp(host, "localhost") == 0 || strncmp(host, "127.", 4) == 0 ||
           strcmp(host, "::1") == 0 || strcmp(host, "[::1]") == 0;
}

void leati_service_say_page(const char *command, const char *what, int port,
                            const leati_service_place *place,
                            const leat_service_security *security) {
    bool token = security->token != NULL;
    if (port < 0)
        return;
    printf("  %s at http%s://localhost:%d/\n", what, security->tls_cert != NULL ? "s" : "", port);
    /* Without any of them anybody may do anything, which was said. */
    if (token || security->tls_ca == NULL)
        return;
    if (place->host == NULL)
        puts("    on the loopback: it asks for no certificate; a token opens it to others");
    else if (!is_loopback(place->host))
        leati_say_error("%s: the page asks for no certificate: anybody who reaches it may read "
                        "figures and drain workers; --token-file keeps strangers out",
                        command);
}

void leati_service_say_listening(const char *command, const leati_service_place *place,
                                 const leat_service_security *security) {
    bool token = security->token != NULL, tls = security->tls_cert != NULL;
    bool loopback =
        place->host != NULL ? is_loopback(place->host) : !token && security->tls_ca == NULL;
    const char *who = security->tls_ca != NULL
                          ? token ? "who has the token and a certificate" : "who has a certificate"
                      : token ? "who has the token"
                              : "anybody";
    if (loopback)
        printf("  listens on the loopback: %s on this machine may connect%s\n", who,
               place->host == NULL ? "; a token or certificates open it to others" : "");
    else
        printf("  listens on %s: %s may connect\n",
               place->host == NULL || strcmp(place->host, "all") == 0 ? "every interface"
                                                                      : place->host,
               who);
    if (!loopback && !token && security->tls_ca == NULL)
        leati_say_error("%s: anybody who reaches it may read and write as this user does; "
                        "--token-file or --tls-ca keeps strangers out",
                        command);
    else if (!loopback && !tls)
        leati_say_error("%s: without --tls-cert the token and all elements travel in the clear",
                        command);
}
