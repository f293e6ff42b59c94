/* The way to a dispatcher: its address, one channel, calls whose messages are structs, and the
 * greeting that finds out whom one talks to. Clients and whoever registers datasets use it. */
#ifndef LEATI_SERVICE_WIRE_CONTROL_H
#define LEATI_SERVICE_WIRE_CONTROL_H

#include "service/transport/transport.h"
#include "service/wire/messages.h"
#include <leat/service.h>
#include <stdatomic.h>

typedef struct leati_control {
    const leati_transport *transport;
    leati_transport_channel *channel;
    char *service;       /* as the user wrote it, for messages */
    leat_cancel *cancel; /* borrowed: ends every wait; NULL: none */
    atomic_bool greeted;
    struct leati_message_version version; /* what it answered */
} leati_control;

/* Splits "grpc://host:port" or "host:port" (then "grpc"). INVALID_ARGUMENT for other texts. Both
 * owned (leati_free). */
LEAT_WARN_UNUSED leat_status leati_control_address(const char *service, char **protocol,
                                                   char **address, leat_error *err);

/* Whom `given` (may be NULL) and the environment's LEAT_SERVICE_* say that this process is;
 * borrowed from both. */
leati_transport_security leati_control_security(const leat_service_security *given);
/* What a server asks for must be a token that nobody guesses and gRPC can carry: INVALID_ARGUMENT
 * for one of less than 16 characters, or of others than printable ASCII. */
LEAT_WARN_UNUSED leat_status leati_control_check(const leati_transport_security *security,
                                                 leat_error *err);
/* Where a server listens: `host`, or where none is given, every interface if strangers are kept out
 * by a token or by certificates, else the loopback (NULL). Borrowed. */
const char *leati_control_host(const char *host, const leati_transport_security *security);
/* Where its page listens, which asks for the token and for no certificate: `host`, or where none is
 * given, every interface with a token, else the loopback (NULL). Borrowed. */
const char *leati_control_page_host(const char *host, const leati_transport_security *security);

/* Does not connect yet. INVALID_ARGUMENT, NOT_FOUND for a protocol that nobody knows. */
LEAT_WARN_UNUSED leat_status leati_control_open(const char *service,
                                                const leat_service_security *security,
                                                leat_cancel *cancel, leati_control *out,
                                                leat_error *err);
void leati_control_close(leati_control *control);

/* Is there a reason in this process why the dispatcher is not reached? RESOURCE_EXHAUSTED where no
 * thread can be started, FAILED_PRECONDITION without a loopback that leads there (here.c). */
LEAT_WARN_UNUSED leat_status leati_control_check_here(const leati_control *control,
                                                      leat_error *err);

/* One call, tried once. `answer` (of `answer_form`; NULL: the answer says nothing) is empty on
 * failure and else owned (leati_messages_fini). */
LEAT_WARN_UNUSED leat_status leati_control_call(leati_control *control, const char *method,
                                                const leati_message *form, const void *request,
                                                const leati_message *answer_form, void *answer,
                                                int64_t deadline_ns, leat_error *err);

/* The same, greeting first, and again while the dispatcher cannot be reached; says so in the log
 * when that has lasted for five seconds, unless the reason is in this process: then it fails as
 * leati_control_check_here. Until `deadline_ns`: then UNAVAILABLE. */
LEAT_WARN_UNUSED leat_status leati_control_ask(leati_control *control, const char *method,
                                               const leati_message *form, const void *request,
                                               const leati_message *answer_form, void *answer,
                                               int64_t deadline_ns, leat_error *err);

/* Finds out who is there, as the first `ask` does: `version` says it from then on. */
LEAT_WARN_UNUSED leat_status leati_control_greet(leati_control *control, int64_t deadline_ns,
                                                 leat_error *err);

/* Is this failure one of the way, so that asking again may help? */
bool leati_control_is_away(leat_status status);

/* Waits for the `attempt`-th time (from 0) between two tries: a millisecond, then ever longer, a
 * second at most. CANCELLED, and DEADLINE_EXCEEDED where the deadline comes first. */
LEAT_WARN_UNUSED leat_status leati_control_pause(leat_cancel *cancel, int attempt,
                                                 int64_t deadline_ns, leat_error *err);
/* How long that is, in nanoseconds; differs a little from call to call, so that clients that lost
 * the same server do not come back together. */
int64_t leati_control_pause_ns(int attempt);

#endif
