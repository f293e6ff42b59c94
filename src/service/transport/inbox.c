/* Handing over what was received. Events are called with nothing locked. */
#include "service/transport/inbox.h"

#include "base/alloc.h"
#include "base/error.h"

#include <stddef.h>

enum { MOST_AT_ONCE = 16 /* messages, before others have their turn */ };

leati_inbox_message *leati_inbox_message_new(leat_buffer *buffer, leat_error *err) {
    leati_inbox_message *message = leati_alloc(1, sizeof *message);
    if (message == NULL) {
        leat_buffer_unref(buffer);
        leati_no_memory(err);
        return NULL;
    }
    *message = (leati_inbox_message){.buffer = buffer};
    return message;
}

void leati_inbox_message_free(leati_inbox_message *message) {
    leat_buffer_unref(message->buffer);
    leati_free(message);
}

/* Asks the server's handler whether it takes the stream. */
static void open_inbox(leati_inbox *inbox) {
    leat_error err = {0};
    leati_transport_events events = {0};
    void *context = NULL;
    leat_status status = inbox->owner->opens(inbox, &events, &context, &err);
    leati_queue_gate_lock(inbox->gate);
    if (status == LEAT_OK) {
        inbox->events = events;
        inbox->context = context;
        inbox->opened = true;
    } else {
        inbox->owner->refused(inbox, &err);
        leati_inbox_end(inbox, &err, true);
        leati_inbox_drop(inbox); /* of a stream that was ended without a failure before */
    }
    leati_queue_gate_unlock(inbox->gate);
}

static void hand_over(leati_inbox *inbox, leati_inbox_message *next) {
    size_t size = leat_buffer_size(next->buffer);
    inbox->events.message(inbox->context, next->buffer);
    leati_free(next);
    leati_queue_gate_lock(inbox->gate);
    inbox->bytes -= size;
    inbox->owner->room(inbox);
    leati_queue_gate_unlock(inbox->gate);
}

/* False: there is nothing more for now, or ever. */
static bool hand_over_one(leati_inbox *inbox) {
    leati_queue_gate_lock(inbox->gate);
    leati_inbox_message *next = inbox->first;
    bool ends = next == NULL && inbox->over;
    if (next != NULL) {
        inbox->first = next->next;
        if (inbox->first == NULL)
            inbox->last = &inbox->first;
    }
    if (ends)
        inbox->told = true;
    if (next == NULL)
        inbox->posted = false;
    leati_queue_gate_unlock(inbox->gate);
    if (next != NULL) {
        hand_over(inbox, next);
    } else if (ends) {
        if (inbox->opened)
            inbox->events.closed(inbox->context, &inbox->why);
        inbox->owner->left(inbox);
    }
    return next != NULL;
}

static void run_inbox(leati_executor_task *task) {
    leati_inbox *inbox = (leati_inbox *)((char *)task - offsetof(leati_inbox, task));
    leati_queue_gate_lock(inbox->gate);
    /* Whoever ended the stream with a failure before it was opened is not asked to open it. */
    bool opens = !inbox->opened && !(inbox->over && inbox->why.code != LEAT_OK);
    leati_queue_gate_unlock(inbox->gate);
    if (opens)
        open_inbox(inbox);
    for (int i = 0; i < MOST_AT_ONCE; i++)
        if (!hand_over_one(inbox))
            return;
    leati_executor_post(inbox->executor, &inbox->task);
}

void leati_inbox_init(leati_inbox *inbox, const leati_inbox_owner *owner, leati_executor *executor,
                      leati_gate *gate, const leati_transport_events *events, void *context) {
    *inbox = (leati_inbox){.task = {.run = run_inbox},
                           .owner = owner,
                           .executor = executor,
                           .gate = gate,
                           .opened = events != NULL,
                           .context = context};
    if (events != NULL)
        inbox->events = *events;
    inbox->last = &inbox->first;
}

void leati_inbox_post(leati_inbox *inbox) {
    if (inbox->posted || inbox->told)
        return;
    inbox->posted = true;
    leati_executor_post(inbox->executor, &inbox->task);
}

void leati_inbox_put(leati_inbox *inbox, leati_inbox_message *message) {
    message->next = NULL;
    *inbox->last = message;
    inbox->last = &message->next;
    inbox->bytes += leat_buffer_size(message->buffer);
    leati_inbox_post(inbox);
}

void leati_inbox_drop(leati_inbox *inbox) {
    while (inbox->first != NULL) {
        leati_inbox_message *dead = inbox->first;
        inbox->first = dead->next;
        inbox->bytes -= leat_buffer_size(dead->buffer);
        leati_inbox_message_free(dead);
    }
    inbox->last = &inbox->first;
}

void leati_inbox_end(leati_inbox *inbox, const leat_error *why, bool drops) {
    if (inbox->over)
        return;
    inbox->over = true;
    if (why->code != LEAT_OK)
        inbox->why = *why;
    if (drops)
        leati_inbox_drop(inbox);
    leati_inbox_post(inbox);
}
