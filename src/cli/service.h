/* What the parts of `leat service` share: who may connect, where the dispatcher is, lists, and how
 * the process of a server lives. */
#ifndef LEATI_CLI_SERVICE_H
#define LEATI_CLI_SERVICE_H

#include "cli/command.h"
#include <leat/service.h>

/* ---- who may connect ---- */

typedef struct leati_service_access {
    const char *token, *token_file, *tls_cert, *tls_key, *tls_ca;
} leati_service_access;

/* Their rows, for a command whose options contain them as member `m` of struct `s`. */
#define LEATI_SERVICE_ACCESS(s, m)                                                                 \
    {.name = "token-file",                                                                         \
     .type = LEATI_OPTION_TEXT,                                                                    \
     .offset = offsetof(s, m.token_file),                                                          \
     .value = "FILE",                                                                              \
     .doc = "the token of all processes is the first line of FILE"},                               \
        {.name = "token",                                                                          \
         .type = LEATI_OPTION_TEXT,                                                                \
         .offset = offsetof(s, m.token),                                                           \
         .value = "TEXT",                                                                          \
         .doc = "likewise, but other users of the machine see it"},                                \
        {.name = "tls-cert",                                                                       \
         .type = LEATI_OPTION_TEXT,                                                                \
         .offset = offsetof(s, m.tls_cert),                                                        \
         .value = "FILE",                                                                          \
         .doc = "this process's certificate (PEM), with --tls-key"},                               \
        {.name = "tls-key",                                                                        \
         .type = LEATI_OPTION_TEXT,                                                                \
         .offset = offsetof(s, m.tls_key),                                                         \
         .value = "FILE",                                                                          \
         .doc = "the certificate's key"},                                                          \
    {                                                                                              \
        .name = "tls-ca", .type = LEATI_OPTION_TEXT, .offset = offsetof(s, m.tls_ca),              \
        .value = "FILE", .doc = "others need a certificate that one of FILE has signed"            \
    }

/* What was read: `security` borrows from the options, the environment and `token`. */
typedef struct leati_service_credentials {
    leat_service_security security; /* complete: what the environment says is in it */
    char *token;                    /* owned; NULL: it is not from a file */
} leati_service_credentials;

/* False after a message with the command's name. */
bool leati_service_access_read(const leati_service_access *access, const char *command,
                               leati_service_credentials *out);
/* Forgets a token that was read. */
void leati_service_access_fini(leati_service_credentials *credentials);

/* ---- where ---- */

/* `given`, or LEAT_SERVICE_ADDRESS; NULL after a message. Borrowed. */
const char *leati_service_address(const char *given, const char *command);

#define LEATI_SERVICE_ADDRESS(s, m)                                                                \
    {                                                                                              \
        .name = "dispatcher", .letter = 'd', .type = LEATI_OPTION_TEXT, .offset = offsetof(s, m),  \
        .value = "ADDRESS", .doc = "host:port of the dispatcher; LEAT_SERVICE_ADDRESS"             \
    }

/* Cuts "a,b,c" into its parts: a list ended by NULL in one piece of memory (leati_free); NULL
 * without memory. `text` may be NULL: an empty list. *count is set. */
const char **leati_service_list(const char *text, size_t *count);

/* ---- what a status says ---- */

/* A line that ends in one way out, for a dispatcher that was not reached; other failures as they
 * are. */
void leati_service_say_failure(const char *command, const char *address, const leat_error *err);

/* ---- servers ---- */

/* Options that both kinds of servers have. */
typedef struct leati_service_place {
    const char *host, *protocol, *pid_file;
    int64_t port, web_port;
} leati_service_place;

#define LEATI_SERVICE_PLACE(s, m)                                                                  \
    {.name = "port",                                                                               \
     .letter = 'p',                                                                                \
     .type = LEATI_OPTION_INT,                                                                     \
     .offset = offsetof(s, m.port),                                                                \
     .value = "N",                                                                                 \
     .minimum = 0,                                                                                 \
     .maximum = 65535,                                                                             \
     .doc = "where it listens; 0, any free port"},                                                 \
        {.name = "host",                                                                           \
         .type = LEATI_OPTION_TEXT,                                                                \
         .offset = offsetof(s, m.host),                                                            \
         .value = "NAME",                                                                          \
         .doc = "the interface, or \"all\"; without token and TLS the loopback"},                  \
        {.name = "protocol",                                                                       \
         .type = LEATI_OPTION_TEXT,                                                                \
         .offset = offsetof(s, m.protocol),                                                        \
         .value = "NAME",                                                                          \
         .doc = "grpc"},                                                                           \
        {.name = "web-port",                                                                       \
         .type = LEATI_OPTION_INT,                                                                 \
         .offset = offsetof(s, m.web_port),                                                        \
         .value = "N",                                                                             \
         .minimum = 0,                                                                             \
         .maximum = 65535,                                                                         \
         .doc = "of page, probes and metrics; 0, any free one; without it none"},                  \
    {                                                                                              \
        .name = "pid-file", .type = LEATI_OPTION_TEXT, .offset = offsetof(s, m.pid_file),          \
        .value = "FILE", .doc = "held while it runs, for leat service stop"                        \
    }

/* Says on standard output what a server listens on and who may connect, and warns where anybody
 * may. */
void leati_service_say_listening(const char *command, const leati_service_place *place,
                                 const leat_service_security *security);

/* The same of its page ("page, probes and metrics"), at `port`; -1: it has none. */
void leati_service_say_page(const char *command, const char *what, int port,
                            const leati_service_place *place,
                            const leat_service_security *security);

/* A server and how it ends. */
typedef struct leati_service_server {
    const char *command, *pid_file;
    void *server;
    leat_status (*start)(void *server, leat_error *err);
    leat_status (*join)(void *server, leat_error *err);
    void (*stop)(void *server);
    /* What SIGTERM does; returns when the server has stopped. */
    leat_status (*end)(void *server, int64_t timeout_ms, leat_error *err);
    int64_t end_ms;                 /* for `end` */
    void (*started)(void *context); /* tells the user */
    void *context;
} leati_service_server;

/* Starts the server and waits for its end. The first SIGTERM (or SIGHUP) ends it well, with status
 * 0 where nothing was lost; SIGINT stops it; the next of them ends the process at once, as does a
 * signal before the server has started. */
leati_exit leati_service_serve(const leati_service_server *server);

#endif
