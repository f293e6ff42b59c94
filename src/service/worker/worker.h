/* The inside of a worker: shared by its life (server.c), its heartbeat (heartbeat.c), the datasets
 * that it knows (datasets.c), its streams (stream.c) and what it says of itself (status.c).
 *
 * Threads: the heartbeat asks the dispatcher, and makes and ends tasks by its answers; each task
 * that is read has a producer (task.c), each stream a sender; the transport calls handlers. They
 * meet under the worker's gate, which is a leaf. */
#ifndef LEATI_SERVICE_WORKER_WORKER_H
#define LEATI_SERVICE_WORKER_WORKER_H

#include "service/transport/transport.h"
#include "service/wire/control.h"
#include "service/worker/task.h"

typedef struct leati_worker_dataset leati_worker_dataset;
typedef struct leati_worker_stream leati_worker_stream;

typedef enum leati_worker_state {
    LEATI_WORKER_NEW = 0,
    LEATI_WORKER_SERVING,
    LEATI_WORKER_STOPPING,
    LEATI_WORKER_STOPPED
} leati_worker_state;

enum { LEATI_WORKER_NUM_TEXTS = 9, LEATI_WORKER_TRANSFERS = 2 };

typedef struct leati_worker_transfer {
    const leati_transport *transport;
    leati_transport_server *server;
    char text[400]; /* as the dispatcher tells clients, with a secret */
} leati_worker_transfer;

/* What a worker measures of itself; shares are of the last interval (figures.c). */
typedef struct leati_worker_figures {
    double busy;          /* computing, of the time of all threads of its pool */
    double full;          /* its pipelines waited for readers, in the mean of those that run */
    double slowest_share; /* of the operator that bounds it, of a thread's time */
    char slowest[64];     /* "": none computed */
    int64_t tasks, elements, bytes; /* given since it started, by ended tasks, too */
    int64_t ready_bytes;
    int64_t memory_used_bytes, memory_budget_bytes;
} leati_worker_figures;

struct leat_worker {
    leat_worker_options options; /* its texts are copies */
    char *texts[LEATI_WORKER_NUM_TEXTS];
    char **tags;
    char uid[33];
    char address[280], transfer[300]; /* set at the start */
    const leati_transport *transport;
    leati_transport_server *server;
    /* By which elements alone go, better ones first (transfers.c). */
    leati_worker_transfer transfers[LEATI_WORKER_TRANSFERS];
    int num_transfers;
    leati_control control; /* its cancel is `cancel` */
    leat_cancel *cancel;   /* fired by the stop: ends whatever asks the dispatcher */
    leati_worker_bell *bell;
    leati_worker_budget *budget;
    leati_driver *heart;
    struct leati_web *web; /* NULL: none */
    leati_worker_entry entry;
    bool entered;
    leati_gate *gate;
    /* The gate's lock. */
    leati_worker_state state;
    bool draining, left; /* nothing is left to do */
    leati_worker_figures figures;
    int64_t ended_elements, ended_bytes; /* given by tasks that are no more */
    int64_t measured_ns;                 /* when shares were last measured; the heartbeat's */
    leati_worker_task **tasks;
    size_t num_tasks, tasks_capacity;
    leati_worker_dataset *datasets;
    leati_worker_stream *streams;
};

/* ---- heartbeat.c ---- */

/* One heartbeat, answered after wait_ms at the latest; takes what the answer says. `cancel` ends
 * the wait. By one thread at a time. */
LEAT_WARN_UNUSED leat_status leati_worker_beat(leat_worker *worker, int64_t wait_ms,
                                               leat_cancel *cancel, leat_error *err);
/* The thread: beats until the bell has ended. */
void leati_worker_heart(void *context);
/* One call of the dispatcher. */
LEAT_WARN_UNUSED leat_status leati_worker_ask(leat_worker *worker, const char *method,
                                              const leati_message *form, const void *request,
                                              const leati_message *answer_form, void *answer,
                                              int64_t deadline_ns, leat_cancel *cancel,
                                              leat_error *err);
/* The same again and again while the dispatcher is away. */
LEAT_WARN_UNUSED leat_status leati_worker_ask_patiently(
    leat_worker *worker, const char *method, const leati_message *form, const void *request,
    const leati_message *answer_form, void *answer, leat_cancel *cancel, leat_error *err);
/* All tasks, each with a reference. Owned (leati_worker_tasks_drop); NULL without memory. */
leati_worker_task **leati_worker_tasks_copy(leat_worker *worker, size_t *count, leat_error *err);
void leati_worker_tasks_drop(leati_worker_task **tasks, size_t count);
/* A new reference to the task that is asked for; UNAVAILABLE where the worker has none, or another
 * worker is meant. */
leati_worker_task *leati_worker_find_task(void *worker, const struct leati_message_read *asked,
                                          leat_error *err);

/* ---- figures.c ---- */

/* Measures anew, shares where half a second has gone by. By the thread that makes and ends tasks
 * alone. */
LEAT_WARN_UNUSED leat_status leati_worker_measure(leat_worker *worker, leat_error *err);
/* What was measured last, with what was given by now. Any thread. */
LEAT_WARN_UNUSED leat_status leati_worker_figures_read(leat_worker *worker,
                                                       leati_worker_figures *out, leat_error *err);
/* Keeps what the task has given, which ends. */
void leati_worker_figures_keep(leat_worker *worker, leati_worker_task *task);

/* ---- datasets.c ---- */

/* For leati_worker_ways; `context` is the worker. */
leat_dataset *leati_worker_dataset_open(void *context, const struct leati_message_task *task,
                                        leat_cancel *cancel, leat_error *err);
/* Forgets all that it knows. */
void leati_worker_datasets_fini(leat_worker *worker);

/* ---- transfers.c ---- */

/* Listens for clients that read past the worker's protocol: for those of this host by shared
 * memory, and as options.data_transfer_protocol says. After the address is known. */
LEAT_WARN_UNUSED leat_status leati_worker_transfers_open(leat_worker *worker, leat_error *err);
void leati_worker_transfers_close(leat_worker *worker, int64_t deadline_ns);

/* ---- stream.c ---- */

/* The transport's handler of streams. */
leat_status leati_worker_stream_open(void *context, leati_transport_stream *stream,
                                     const char *method, const char *peer, const void *request,
                                     size_t size, leati_transport_events *events,
                                     void **events_context, leat_error *err);
/* Joins the senders of streams that are over; `all`: waits for every one, which were ended. */
void leati_worker_streams_reap(leat_worker *worker, bool all);
/* Is there a stream whose sender has more to send, or (`closed`) whose client has not closed it?
 * With the lock held. */
bool leati_worker_streams_any(const leat_worker *worker, bool closed);

/* ---- probes.c ---- */

/* Where options.web_port asks for it; closed by leati_web_close. */
LEAT_WARN_UNUSED leat_status leati_worker_probes_open(leat_worker *worker, leat_error *err);

/* ---- status.c ---- */

/* What the worker does now, as JSON. */
LEAT_WARN_UNUSED leat_status leati_worker_status(leat_worker *worker, leati_text *out,
                                                 leat_error *err);

#endif
