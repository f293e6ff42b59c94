/* What the processes of a data service say to each other: calls, each a request and an answer of
 * named fields, which travel as JSON. The rows of a message are the single source of its form, its
 * defaults and its checks (core/row.h); an unknown field is passed over, so that a newer program
 * may say more, and a field that is left out has its default. docs/SERVICE.md tells who calls what
 * when.
 *
 * Asked of the dispatcher:
 *
 *     version            which protocol, features and database it has
 *     worker             a worker's heartbeat: what it does, answered by what it is to do. Answered
 *                        at once where the two differ, else when they begin to, or after wait_ms
 *     register_dataset   a plan becomes a dataset id
 *     get_dataset        and back
 *     open_iteration     a client joins one pass over a dataset
 *     client             a client's heartbeat, answered as a worker's: which tasks it reads
 *     release            a client leaves
 *     splits             a worker asks for a lease on splits of a source (DYNAMIC)
 *     status             everything, as the page shows it (web/state.md)
 *     drain              a worker is to end its tasks and leave
 *     restore            a saved iterator goes on: an iteration like an earlier one
 *     save               a dataset is to be written to a folder (distributed_save)
 *     commit             a worker has written a chunk of it, and asks whether it counts
 *
 * Asked of a worker: streams of `read` (wire/frame.h), and `status`. */
#ifndef LEATI_SERVICE_WIRE_MESSAGES_H
#define LEATI_SERVICE_WIRE_MESSAGES_H

#include "base/text.h"
#include "core/json.h"
#include "core/row.h"

enum {
    LEATI_SERVICE_PROTOCOL = 1, /* what this library speaks, and the oldest that it understands */
    LEATI_SERVICE_OLDEST = 1,
    LEATI_SERVICE_WAIT_MS = 1000 /* a heartbeat that has nothing new is answered after this */
};

/* A list of messages within a message. */
typedef struct leati_messages {
    void *items; /* `count` structs of the list's message, owned */
    int64_t count;
} leati_messages;

typedef struct leati_message leati_message;
typedef struct leati_message_list {
    const char *name; /* NULL ends the lists */
    size_t offset;    /* of a leati_messages */
    const leati_message *of;
} leati_message_list;

/* The form of a message: a struct of `size` bytes with rows of numbers, flags, texts and lists of
 * these, and lists of other messages. */
struct leati_message {
    const char *name;
    size_t size;
    const leati_row *rows;
    leati_message_list lists[3];
};

/* The message as JSON text, added to `out`. RESOURCE_EXHAUSTED. */
LEAT_WARN_UNUSED leat_status leati_messages_write(const leati_message *form, const void *message,
                                                  leati_text *out, leat_error *err);
/* Reads a message from outside into `message` (of form->size bytes, whatever they are; on failure
 * it is empty): INVALID_ARGUMENT names the message and the field. */
LEAT_WARN_UNUSED leat_status leati_messages_read(const leati_message *form, const void *bytes,
                                                 size_t size, void *message, leat_error *err);
/* Releases what the message owns and zeroes it. */
void leati_messages_fini(const leati_message *form, void *message);
/* Makes room for one more message of `form` in the list: zeroed with its defaults, borrowed until
 * the list grows again. NULL without memory. */
void *leati_messages_add(leati_messages *list, const leati_message *form, leat_error *err);
/* Replaces a text field (owned by the message) by a copy of `text` (NULL: none). */
LEAT_WARN_UNUSED leat_status leati_messages_set_text(char **field, const char *text,
                                                     leat_error *err);
/* The failure that a message tells by a code, UNKNOWN where it is none, and a text (NULL: none). */
void leati_messages_failure(int64_t code, const char *text, leat_error *out);

/* X(message): every form, with its struct leati_message_<message> and rows in messages.c. */
#define X(name) extern const leati_message leati_message_##name;
#include "service/wire/messages.def"
#undef X
/* The form of a name, or NULL; for the fuzz target and the documents. */
const leati_message *leati_messages_find(const char *name);

/* ---- version ---- */

struct leati_message_version {
    int64_t protocol, oldest;
    leati_strings features;
    char *service;       /* names the database: ids of another one mean nothing here */
    int64_t incarnation; /* counts the dispatcher's starts on it */
    char *peer;          /* the numeric address of who asks, as the dispatcher sees it */
    char *process;       /* random: that of the dispatcher, for plans that cannot leave theirs */
};

/* ---- a worker and its tasks ---- */

/* Ranges of positions [a, b), [c, d), ... ascending, as pairs of numbers. */
typedef leati_ints leati_ranges;

/* One stream of elements: a dataset read once, by one worker at a time. A worker that gets a task
 * of an attempt above 1 gives it again from its beginning, without the positions in `held`. */
struct leati_message_task {
    int64_t task, attempt;
    int64_t iteration, repetition;
    char *dataset_id;
    int64_t policy; /* leat_service_policy */
    int64_t visitation;
    int64_t shard, num_shards; /* of static policies; else 0 of 1 */
    int64_t consumers;         /* of coordinated reads; 0: first come, first served */
    bool cached;               /* one window for trainers that share it */
    int64_t seed;              /* salts the seeds that the user did not give */
    leati_ranges held;         /* positions that clients have already */
    char *snapshot;            /* a stream of distributed_save: its folder; NULL: for clients */
    int64_t stream;            /* of the snapshot */
    char *compression;         /* of its chunks; NULL: none */
    /* How many chunks of the stream count; the last one has `chunk_elements` elements and was
     * written in attempt `chunk_attempt`. */
    int64_t chunks, chunk_elements, chunk_attempt;
};

/* What a worker says of a task that it has. */
struct leati_message_task_report {
    int64_t task, attempt;
    int64_t elements, bytes; /* given so far */
    bool done;               /* every element was taken, or the end was told to whoever asks */
    int64_t failed;          /* leat_status that ended it; 0: none */
    char *text;
    int64_t element_ns; /* mean time of making an element; 0: not known */
    leati_ranges acked; /* positions that clients consumed; for visitation levels that ask */
};

struct leati_message_worker {
    char *uid; /* random: another one at the same address is another worker */
    char *address;
    leati_strings transfers; /* "grpc host:port" for each protocol that elements may come by */
    leati_strings tags;
    bool draining; /* takes no tasks any more */
    int64_t cpus;
    /* Of the last interval: the operator that bounds its pipelines and its share of a thread's
     * time; computing, of all threads' time; its pipelines waiting for readers. */
    char *slowest;
    double slowest_share, busy, full;
    int64_t elements, bytes; /* given since it started */
    int64_t ready_bytes;     /* of elements that are made and not taken */
    /* How many of them count, with what coordinated consumers lack, and how many may be held. */
    int64_t memory_used_bytes, memory_budget_bytes;
    int64_t wait_ms;
    leati_messages tasks; /* of task_report: all that it has */
};
struct leati_message_worker_answer {
    leati_messages start; /* of task: that it does not have */
    leati_ints stop;      /* tasks to drop */
    bool leave;           /* drained: nothing is left to do */
};

/* ---- datasets ---- */

struct leati_message_dataset {
    char *dataset_id;  /* asked for; else the dispatcher draws one */
    char *plan, *spec; /* JSON */
    int64_t cardinality, compression;
    char *identity;       /* of its content: equal for equal plans; a blank, and equal for plans
                             that differ in drawn seeds alone */
    bool deterministic;   /* so that exactly_once can be promised */
    char *why_not;        /* where it is not */
    leati_ints providers; /* for each source the number of its splits; -1: endless */
    leati_ints in_step;   /* for each source 1 where leases are to be of one split */
    char *unsplittable;   /* why DYNAMIC cannot read it; NULL: it can */
};
struct leati_message_dataset_id {
    char *dataset_id;
    bool brief; /* the plan is not wanted */
};

/* ---- clients ---- */

struct leati_message_open {
    char *client; /* random: asked again it is the same client */
    char *dataset_id, *job_name;
    int64_t policy, visitation, repetition;
    int64_t consumer, consumers; /* -1, 0: not coordinated */
    int64_t target_workers;
    bool cached;
    bool alone; /* nobody else knows the job's name: it ends with its client */
};
struct leati_message_opened {
    int64_t job, iteration, client;
};

/* Where a client finds a task. */
struct leati_message_place {
    int64_t task, attempt;
    char *worker, *address; /* uid and address */
    leati_strings transfers, tags;
    /* Coordinated: the rounds in which it takes its turns. Round r is that of task r mod n of the n
     * tasks that take turns in it, by start_round and number. Behind its end a task is not read;
     * -1: no end is known. Of a worker that is lost, so many turns came to all consumers (-1: that
     * is not settled yet); the later ones are passed over. */
    int64_t start_round, end_round;
    bool lost;
    int64_t turns;
};
struct leati_message_holding {
    int64_t task, attempt;
    leati_ranges ranges;
    bool whole;    /* of a saved iterator: it took all that the task ever gives */
    int64_t turns; /* coordinated: that came to it, past ones too; there are no ranges */
};
/* How many streams a client reads by one transfer ("shm"; "direct": without one). */
struct leati_message_way {
    char *transfer;
    int64_t streams;
};
struct leati_message_client {
    int64_t client;
    leati_ints tasks;       /* task, attempt, task, attempt, ...: those that it reads */
    leati_messages holding; /* of holding: answers to `report` */
    leati_messages ways;    /* of way: the streams that are open */
    int64_t round;          /* coordinated: the next one */
    int64_t agreed;         /* the start round of new tasks that it keeps to; -1: none */
    leati_ints settled;     /* coordinated: lost tasks of which it knows how many turns count */
    leati_ints
        unreached;      /* tasks of which nothing has come for long, and to which it finds no way */
    int64_t elements;   /* taken so far */
    double stall;       /* share of the time that its program waited for elements */
    int64_t buffered;   /* elements */
    int64_t element_ns; /* mean time between elements that its program asks for */
    int64_t wait_ms;
};
struct leati_message_client_answer {
    bool same;            /* nothing is new: the rest of the answer says nothing */
    leati_messages tasks; /* of place: all that there are now */
    bool finished;        /* no further task comes, and the tasks that are there are all */
    int64_t propose;      /* coordinated: tasks change at this round if all agree; -1: none */
    leati_ints report;    /* tasks of which it is to say what it holds, and to stop reading */
    bool colocated;       /* AUTO reads no shares of workers in other processes */
    leati_strings lost;   /* workers that were lost with elements, in words; each once */
    int64_t failed;       /* leat_status of what ended a task, and with it the iteration; 0: none */
    char *why;            /* its text */
};
struct leati_message_release {
    int64_t client;
    int64_t elements; /* taken in all */
    bool unused;      /* it took nothing, and no state of it was saved */
};

/* A saved iterator goes on: a new iteration, of a new job, with the streams of an earlier one, of
 * which `holding` says what was taken. */
struct leati_message_restore {
    char *service;          /* of the database that the state is of */
    char *client;           /* random, of the new one; asked again it is the same client */
    int64_t iteration;      /* the earlier one */
    leati_messages holding; /* of holding */
};
struct leati_message_restored {
    int64_t job, iteration, client;
    char *job_name;         /* under which the repetitions that follow are opened */
    leati_messages holding; /* of holding: what was taken of the new iteration's tasks before */
};
struct leati_message_drain {
    char *worker; /* uid or address; NULL: all */
};

/* ---- snapshots ---- */

struct leati_message_save {
    char *request; /* random: asked again it is the same */
    char *dataset_id, *path;
    char *compression; /* of the files; NULL: none */
};
/* Number `chunk` of the task's stream lies on the disk beside the state behind it. From the answer
 * on it counts, whatever happens to its worker; NOT_FOUND: the stream is another worker's. */
struct leati_message_commit {
    int64_t task, attempt;
    int64_t chunk, elements;
};
struct leati_message_committed {
    int64_t chunks; /* of the stream */
};

/* ---- splits ---- */

struct leati_message_splits {
    int64_t task, attempt, provider, repetition, sequence;
    int64_t want; /* splits that would be used up in a good while */
};
struct leati_message_lease {
    int64_t begin, end;
    bool none; /* this repetition has no more */
};

#endif
