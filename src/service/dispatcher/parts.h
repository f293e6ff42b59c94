/* The inside of a dispatcher's core, shared by the files of this drawer. What must survive is in
 * the database; what is kept here is who was heard when, and the heartbeats that wait for news. */
#ifndef LEATI_SERVICE_DISPATCHER_PARTS_H
#define LEATI_SERVICE_DISPATCHER_PARTS_H

#include "service/dispatcher/core.h"
#include "service/dispatcher/database.h"
#include "service/dispatcher/schema.h"
#include "service/wire/messages.h"

enum { LEATI_CORE_UID = 72, LEATI_CORE_NS_PER_MS = 1000000 };

/* A request that is kept until there is something to say. */
typedef struct leati_core_kept {
    bool waits;
    int64_t until_ns;
    leati_core_reply reply;
    char *bytes; /* the request, owned */
    size_t size;
} leati_core_kept;

/* A worker that was heard since the start. */
typedef struct leati_core_worker {
    char uid[LEATI_CORE_UID];
    char peer[64];
    int64_t heard_ns;
    int64_t cut_ns; /* since when its connection is gone; 0: it is there */
    leati_core_kept kept;
    struct leati_message_worker last; /* what it said last; owned */
    int64_t elements, bytes;          /* that it gave, as far as they are counted */
} leati_core_worker;

/* A client that was heard since the start. */
typedef struct leati_core_client {
    int64_t id, iteration;
    int64_t consumer;
    char peer[64];
    int64_t heard_ns, cut_ns;
    int64_t joined_ns, took_ns; /* when it came, and when it was heard last of what it took */
    int64_t elements;           /* that it took by then */
    bool shared;                /* that others took meanwhile is noted */
    leati_core_kept kept;
    struct leati_message_client last;
    int64_t counted;   /* elements that it took, as far as they are counted */
    bool before_start; /* the database knew it before memory did */
    int64_t lost_told; /* of the losses, how many it was told */
} leati_core_client;

/* A worker that was lost with elements. */
typedef struct leati_core_loss {
    int64_t iteration;
    char *text;
} leati_core_loss;

/* A client that is to say what it holds of a task that moves, or how many turns of one that is lost
 * came to it. */
typedef struct leati_core_await {
    int64_t task, client;
    int64_t until_ns;
    bool coordinated;
    int64_t turns; /* that it said; -1: it has not answered. Kept until all have */
} leati_core_await;

/* An iteration that nobody reads. */
typedef struct leati_core_idle {
    int64_t iteration, since_ns;
    bool seen; /* in the present look */
} leati_core_idle;

/* Elements that clients of an iteration took since the dispatcher's start. */
typedef struct leati_core_count {
    int64_t iteration, elements;
} leati_core_count;

/* Coordinated reads: the round at which the tasks of an iteration change, and who agreed. */
typedef struct leati_core_proposal {
    int64_t iteration, round, failures;
} leati_core_proposal;

typedef struct leati_core_asked {
    char *method, *bytes;
    size_t size;
    char peer[64];
    leati_core_reply reply;
    leati_text out;    /* the answer, given after the commit */
    leat_error failed; /* code LEAT_OK: none */
    bool keeps;        /* it is kept, no answer yet */
    struct leati_core_asked *next;
} leati_core_asked;

struct leati_core {
    leati_database *database;
    leat_dispatcher_options options; /* with defaults; texts are copies */
    char *folder;
    char **addresses; /* of options.worker_addresses */
    int64_t now_ns, started_ns, collected_ns;
    leati_core_worker **workers;
    size_t num_workers, workers_capacity;
    leati_core_client **clients;
    size_t num_clients, clients_capacity;
    leati_core_loss *losses;
    size_t num_losses, losses_capacity;
    leati_core_await *awaits;
    size_t num_awaits, awaits_capacity;
    leati_core_idle *idle; /* iterations without clients */
    size_t num_idle, idle_capacity;
    leati_core_proposal *proposals;
    size_t num_proposals, proposals_capacity;
    /* Since the start; workers and clients of before it count from what they say first. */
    int64_t elements, bytes; /* given by workers */
    leati_core_count *counts;
    size_t num_counts, counts_capacity;
    leati_core_asked *first, **last; /* not handled yet */
    bool assigns; /* workers or tasks have changed: all iterations are looked at */
    bool changed; /* kept heartbeats are to be looked at */
    bool writes;  /* files of snapshots are to be written */
    int writes_logged;
    leat_error broken;
};

/* ---- lists as JSON in columns ---- */

LEAT_WARN_UNUSED leat_status leati_dispatcher_ints_text(const leati_ints *ints, leati_text *out,
                                                        leat_error *err);
LEAT_WARN_UNUSED leat_status leati_dispatcher_ints_of(const char *text, leati_ints *out,
                                                      leat_error *err);
LEAT_WARN_UNUSED leat_status leati_dispatcher_strings_text(const leati_strings *strings,
                                                           leati_text *out, leat_error *err);
LEAT_WARN_UNUSED leat_status leati_dispatcher_strings_of(const char *text, leati_strings *out,
                                                         leat_error *err);
/* `to` becomes the ranges of both, joined where they touch. Ranges that are no pairs of ascending
 * numbers are INVALID_ARGUMENT. */
LEAT_WARN_UNUSED leat_status leati_dispatcher_ranges_join(leati_ranges *to,
                                                          const leati_ranges *more,
                                                          leat_error *err);

/* A number that no job, iteration, client or task of this database has had, nor, but by a chance of
 * one in 2^40, one of another database. */
LEAT_WARN_UNUSED leat_status leati_dispatcher_new_id(leati_core *core, int64_t *out,
                                                     leat_error *err);

/* Keeps a heartbeat (its bytes are taken) for `wait_ms`; one that waits already is answered with
 * CANCELLED. */
void leati_dispatcher_keep(leati_core *core, leati_core_kept *kept, leati_core_asked *asked,
                           int64_t wait_ms);
/* The numbers that a query of one JSON list gives, which it ends; of one argument. */
LEAT_WARN_UNUSED leat_status leati_dispatcher_ids_read(leati_query *query, leati_ints *out,
                                                       leat_error *err);
LEAT_WARN_UNUSED leat_status leati_dispatcher_ids(leati_core *core, const char *sql,
                                                  int64_t argument, leati_ints *out,
                                                  leat_error *err);

/* NOT_FOUND for a dataset that nobody has registered. */
leat_status leati_dispatcher_unknown_dataset(const char *id, leat_error *err);

/* ---- iterations ---- */

/* The rows of an iteration with its job and dataset. */
typedef struct leati_core_iteration {
    int64_t id, job, repetition, state;
    int64_t policy, visitation, consumers, targets, cached;
    char dataset[128];
    int64_t deterministic;
    int64_t snapshot; /* that its streams are written to; 0: they are for clients */
} leati_core_iteration;
LEAT_WARN_UNUSED leat_status leati_dispatcher_iteration_find(leati_core *core, int64_t id,
                                                             leati_core_iteration *out,
                                                             leat_error *err);
/* Gives workers the tasks that they lack, and finishes the iteration where nothing is left. */
LEAT_WARN_UNUSED leat_status leati_dispatcher_assign(leati_core *core, int64_t iteration,
                                                     leat_error *err);
/* The same for all iterations, where workers or tasks have changed since. */
LEAT_WARN_UNUSED leat_status leati_dispatcher_assign_changed(leati_core *core, leat_error *err);
/* That of a job's repetition, made where it is new. */
LEAT_WARN_UNUSED leat_status leati_dispatcher_iteration_of(leati_core *core, int64_t job,
                                                           int64_t repetition, int64_t *out,
                                                           leat_error *err);
/* A client leaves, which has not been forgotten yet: an iteration that nobody else can join is read
 * no more. `unused`: it is as if the client had never been there. */
LEAT_WARN_UNUSED leat_status leati_dispatcher_iteration_left(leati_core *core, int64_t iteration,
                                                             bool unused, leat_error *err);
/* A task that its worker will not go on with: it ends, or waits for another worker. */
LEAT_WARN_UNUSED leat_status leati_dispatcher_task_leaves(leati_core *core, int64_t task,
                                                          const char *worker, leat_error *err);
/* Every client of the iteration is asked what it holds of the task, before another worker gives it;
 * `coordinated`: how many of its turns came. */
LEAT_WARN_UNUSED leat_status leati_dispatcher_await_clients(leati_core *core, int64_t iteration,
                                                            int64_t task, bool coordinated,
                                                            leat_error *err);
/* Forgets its tasks and leases; nobody reads it any more. */
LEAT_WARN_UNUSED leat_status leati_dispatcher_iteration_drop(leati_core *core, int64_t iteration,
                                                             leat_error *err);
/* The share of a worker's address under static policies: which of the configured addresses, or
 * NOT_FOUND; FAILED_PRECONDITION where another worker has it. */
LEAT_WARN_UNUSED leat_status leati_dispatcher_share_of(leati_core *core, const char *address,
                                                       const char *uid, int64_t *out,
                                                       leat_error *err);

/* ---- snapshots ---- */

/* A new task of the iteration of a snapshot becomes its next stream. */
LEAT_WARN_UNUSED leat_status leati_dispatcher_snapshot_stream(leati_core *core, int64_t task,
                                                              const leati_core_iteration *of,
                                                              leat_error *err);
/* May it have more streams? Not once one has come to its end: then all splits are given. */
LEAT_WARN_UNUSED leat_status leati_dispatcher_snapshot_grows(leati_core *core, int64_t iteration,
                                                             bool *grows, leat_error *err);
/* Its iteration has come to its end, or, where `why` is not NULL, one of its streams has failed:
 * the snapshot ends. */
LEAT_WARN_UNUSED leat_status leati_dispatcher_snapshot_end(leati_core *core, int64_t iteration,
                                                           const leat_error *why, leat_error *err);
/* What a task's stream is, for the worker that is told; nothing where it is for clients. */
LEAT_WARN_UNUSED leat_status leati_dispatcher_snapshot_tell(leati_core *core,
                                                            struct leati_message_task *task,
                                                            leat_error *err);
/* Writes the files that say what the database says, behind a commit. What cannot be written is
 * tried again in the next turn. */
void leati_dispatcher_snapshots_write(leati_core *core);

/* ---- workers and clients ---- */

leati_core_worker *leati_dispatcher_worker_find(leati_core *core, const char *uid);
leati_core_client *leati_dispatcher_client_find(leati_core *core, int64_t id);
/* Of those that were not heard since the start too: heard now. NULL without memory. */
leati_core_client *leati_dispatcher_client_note(leati_core *core, int64_t id, int64_t iteration,
                                                int64_t consumer, leat_error *err);
void leati_dispatcher_client_forget(leati_core *core, leati_core_client *client);
/* The client that has asked under this random name before, because an answer was lost; else
 * out->client stays 0. */
LEAT_WARN_UNUSED leat_status leati_dispatcher_client_again(leati_core *core, const char *uid,
                                                           struct leati_message_opened *out,
                                                           leat_error *err);
/* A new client of out->iteration: out->client. */
LEAT_WARN_UNUSED leat_status leati_dispatcher_client_add(leati_core *core,
                                                         const leati_core_asked *asked,
                                                         const char *uid, int64_t consumer,
                                                         struct leati_message_opened *out,
                                                         leat_error *err);
/* It has taken so many elements in all: an iteration of which others take meanwhile is shared. */
LEAT_WARN_UNUSED leat_status leati_dispatcher_client_took(leati_core *core,
                                                          leati_core_client *client,
                                                          int64_t elements, leat_error *err);
/* Marks a worker as gone (LOST or LEFT) and moves or ends its tasks. */
LEAT_WARN_UNUSED leat_status leati_dispatcher_worker_gone(leati_core *core, const char *uid,
                                                          int64_t state, const char *why,
                                                          leat_error *err);
LEAT_WARN_UNUSED leat_status leati_dispatcher_worker_drain(leati_core *core, const char *uid,
                                                           leat_error *err);
/* By uid or address; "": all of them. */
LEAT_WARN_UNUSED leat_status leati_dispatcher_drain(leati_core *core, const char *worker,
                                                    leat_error *err);
void leati_dispatcher_worker_fini(leati_core_worker *worker);
/* The rounds of coordinated reads: counts who agreed, begins and ends tasks at the round. */
LEAT_WARN_UNUSED leat_status leati_dispatcher_rounds(leati_core *core,
                                                     leati_core_iteration *iteration,
                                                     leat_error *err);
/* Fails an iteration of coordinated reads where the client says that it does not reach a worker
 * which is heard here. */
LEAT_WARN_UNUSED leat_status leati_dispatcher_unreached(leati_core *core,
                                                        const leati_core_client *client,
                                                        leat_error *err);
/* A client is lost: where it was a consumer, the others cannot go on, and are told. */
LEAT_WARN_UNUSED leat_status leati_dispatcher_consumer_lost(leati_core *core,
                                                            const leati_core_client *client,
                                                            leat_error *err);
/* The round that is proposed to the clients of an iteration; -1: none. */
int64_t leati_dispatcher_proposed(const leati_core *core, int64_t iteration);

/* Counts what a worker gave, and clients took, since they were heard last. */
void leati_dispatcher_count_worker(leati_core *core, leati_core_worker *worker,
                                   const struct leati_message_worker *said);
void leati_dispatcher_count_client(leati_core *core, leati_core_client *client, int64_t elements);
/* What clients of an iteration took since the start. */
int64_t leati_dispatcher_counted(const leati_core *core, int64_t iteration);

/* Adds the streams that the client reads to `object`: a number by the name of each transfer. */
void leati_dispatcher_add_ways(const leati_core_client *client, json_t *object);

/* How many workers would keep an iteration's clients from waiting, by what both say; 0: not known
 * yet. */
LEAT_WARN_UNUSED leat_status leati_dispatcher_workers_wanted(leati_core *core, int64_t iteration,
                                                             int64_t *out, leat_error *err);

/* ---- the methods ---- */

/* Handles a request: its answer is added to `asked->out`, or `asked->keeps` is set. */
typedef leat_status (*leati_core_method)(leati_core *core, leati_core_asked *asked,
                                         leat_error *err);
leat_status leati_dispatcher_ask_version(leati_core *core, leati_core_asked *asked,
                                         leat_error *err);
leat_status leati_dispatcher_ask_worker(leati_core *core, leati_core_asked *asked, leat_error *err);
leat_status leati_dispatcher_ask_register(leati_core *core, leati_core_asked *asked,
                                          leat_error *err);
leat_status leati_dispatcher_ask_dataset(leati_core *core, leati_core_asked *asked,
                                         leat_error *err);
leat_status leati_dispatcher_ask_open(leati_core *core, leati_core_asked *asked, leat_error *err);
leat_status leati_dispatcher_ask_client(leati_core *core, leati_core_asked *asked, leat_error *err);
leat_status leati_dispatcher_ask_release(leati_core *core, leati_core_asked *asked,
                                         leat_error *err);
leat_status leati_dispatcher_ask_splits(leati_core *core, leati_core_asked *asked, leat_error *err);
leat_status leati_dispatcher_ask_status(leati_core *core, leati_core_asked *asked, leat_error *err);
leat_status leati_dispatcher_ask_drain(leati_core *core, leati_core_asked *asked, leat_error *err);
leat_status leati_dispatcher_ask_restore(leati_core *core, leati_core_asked *asked,
                                         leat_error *err);
leat_status leati_dispatcher_ask_save(leati_core *core, leati_core_asked *asked, leat_error *err);
leat_status leati_dispatcher_ask_commit(leati_core *core, leati_core_asked *asked, leat_error *err);

/* Has a kept heartbeat something to be told now? Then the answer is written. */
LEAT_WARN_UNUSED leat_status leati_dispatcher_worker_news(leati_core *core,
                                                          leati_core_worker *worker,
                                                          const struct leati_message_worker *said,
                                                          bool always, leati_text *out,
                                                          leat_error *err);
LEAT_WARN_UNUSED leat_status leati_dispatcher_client_news(leati_core *core,
                                                          leati_core_client *client, bool always,
                                                          leati_text *out, leat_error *err);
/* Who is overdue, and what nobody reads any more. */
LEAT_WARN_UNUSED leat_status leati_dispatcher_collect(leati_core *core, leat_error *err);

#endif
