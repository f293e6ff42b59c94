/* The inside of a server, shared by web/server.c (opening, the thread), web/connections.c (who is
 * connected, deadlines), web/events.c (streams) and web/answer.c (what is answered); and for tests,
 * which turn a server without a thread on a clock of their own. */
#ifndef LEATI_WEB_PARTS_H
#define LEATI_WEB_PARTS_H

#include "run/thread.h"
#include "web/access.h"
#include "web/history.h"
#include "web/http_module.h"
#include "web/server.h"
#include <stdatomic.h>

/* A text that streams send: of the server's thread. */
typedef struct leati_web_event {
    int users;
    size_t size;
    char text[];
} leati_web_event;

typedef struct leati_web_connection {
    leati_web *web;
    struct MHD_Connection *connection;
    int descriptor;
    int64_t deadline_ns;    /* then it is cut */
    bool streams;           /* it gets events until it ends */
    bool waits;             /* suspended until there is another event */
    leati_web_event *event; /* what is being sent; NULL: nothing */
    size_t sent;            /* bytes of it */
    struct leati_web_connection *next, *previous;
} leati_web_connection;

struct leati_web {
    leati_web_source source;
    leati_web_access access;
    leati_web_history history;
    struct MHD_Daemon *daemon;
    char *certificate, *key; /* the texts of the files; NULL without TLS */
    int interval_ms;
    int listener; /* -1: none */
    int wake;     /* an eventfd that ends a wait; -1: none */
    int port;
    char url[300];
    int64_t now_ns;      /* of the turn */
    int64_t next_ns;     /* of the next call of `state` */
    bool told;           /* that the state is no JSON object */
    char *state;         /* the present one, one line; NULL: none yet */
    int num_connections; /* pages' lock, for forks, as the list */
    int num_streams;
    leati_web_connection *connections;
    leati_thread thread;
    bool has_thread;
    atomic_bool stopping;
    bool forked; /* this process is a child and has neither thread nor sockets */
    struct leati_web *next, *previous; /* of all servers; pages' lock */
};

/* ---- server.c ---- */

/* A server without listener and thread. Its owner turns it. */
leati_web *leati_web_new(const leati_web_options *options, leat_error *err);
/* One turn at the time `now_ns`: what came is read and answered, the state is asked for if it is
 * time to, deadlines are kept. Waits at most `wait_ms` for something to do. */
void leati_web_turn(leati_web *web, int64_t now_ns, int wait_ms);
void leati_web_free(leati_web *web);

/* ---- connections.c ---- */

/* Locks the lists of servers and connections, for forks. A leaf. */
void leati_web_lock(void);
void leati_web_unlock(void);
/* Takes a connected socket, which is given. RESOURCE_EXHAUSTED where there are too many. */
LEAT_WARN_UNUSED leat_status leati_web_adopt(leati_web *web, int descriptor, leat_error *err);
/* Takes what came to the listener. */
void leati_web_accept(leati_web *web);
/* Cuts connections whose time is over. */
void leati_web_connections_check(leati_web *web);
/* For MHD_OPTION_NOTIFY_CONNECTION. */
void leati_web_connection_notify(void *web, struct MHD_Connection *connection, void **record,
                                 enum MHD_ConnectionNotificationCode code);
/* The record of a connection. */
leati_web_connection *leati_web_connection_of(struct MHD_Connection *connection);

/* Joins and leaves the list of all servers, of whose sockets a child of fork lets go. */
void leati_web_enlist(leati_web *web);
void leati_web_delist(leati_web *web);

/* ---- events.c ---- */

/* Asks for the state, keeps its totals, and sends it to all streams that have sent the last one.
 * Does nothing without a source. */
void leati_web_sample(leati_web *web);
/* The answer to a page that connects, or NULL without memory. */
struct MHD_Response *leati_web_stream(leati_web *web, leati_web_connection *to);
/* Wakes all streams, which end. */
void leati_web_streams_end(leati_web *web);
void leati_web_event_drop(leati_web_event *event);

/* ---- answer.c ---- */

/* For MHD_start_daemon, and MHD_OPTION_NOTIFY_COMPLETED. */
enum MHD_Result leati_web_answer(void *web, struct MHD_Connection *connection, const char *url,
                                 const char *method, const char *version, const char *upload,
                                 size_t *size, void **request);
void leati_web_answered(void *web, struct MHD_Connection *connection, void **request,
                        enum MHD_RequestTerminationCode code);

#endif
