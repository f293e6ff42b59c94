/* What an end of a stream has received and not handed over yet, of any protocol. A thread of the
 * executor hands it to the events, one after the other: an inbox is posted at most once at a time.
 */
#ifndef LEATI_SERVICE_TRANSPORT_INBOX_H
#define LEATI_SERVICE_TRANSPORT_INBOX_H

#include "run/queue.h"
#include "service/transport/executor.h"
#include "service/transport/transport.h"

typedef struct leati_inbox leati_inbox;

typedef struct leati_inbox_message {
    leat_buffer *buffer;
    struct leati_inbox_message *next;
} leati_inbox_message;

/* What an inbox asks of the stream that it is embedded in, on a thread of the executor. */
typedef struct leati_inbox_owner {
    /* Asks the server's handler for the events, with nothing locked. */
    leat_status (*opens)(leati_inbox *inbox, leati_transport_events *events, void **context,
                         leat_error *err);
    /* The handler has refused; the stream is to be ended. The gate is locked. */
    void (*refused)(leati_inbox *inbox, const leat_error *why);
    /* There is more room, after a message was handed over. The gate is locked. */
    void (*room)(leati_inbox *inbox);
    /* `closed` was called, if there were events: the last that is heard of the inbox. */
    void (*left)(leati_inbox *inbox);
} leati_inbox_owner;

struct leati_inbox {
    leati_executor_task task;
    const leati_inbox_owner *owner;
    leati_executor *executor;
    leati_gate *gate; /* borrowed; its lock guards all below */
    bool posted, opened /* has events */, over, told;
    leati_transport_events events;
    void *context;
    leati_inbox_message *first, **last;
    size_t bytes;   /* in the queue, and of the message that is being handed over */
    leat_error why; /* read without the lock once `over` was seen */
};

/* All of these but init with the gate locked. Without events the inbox asks its owner for them. */
void leati_inbox_init(leati_inbox *inbox, const leati_inbox_owner *owner, leati_executor *executor,
                      leati_gate *gate, const leati_transport_events *events, void *context);
/* Has it looked after soon. */
void leati_inbox_post(leati_inbox *inbox);
/* `message` is given. Not after the end. */
void leati_inbox_put(leati_inbox *inbox, leati_inbox_message *message);
/* `closed` comes after what is in the queue, which may be dropped. The first end counts. */
void leati_inbox_end(leati_inbox *inbox, const leat_error *why, bool drops);
void leati_inbox_drop(leati_inbox *inbox);

/* A message for leati_inbox_put, or NULL without memory; `buffer` is given. */
leati_inbox_message *leati_inbox_message_new(leat_buffer *buffer, leat_error *err);
void leati_inbox_message_free(leati_inbox_message *message);

#endif
