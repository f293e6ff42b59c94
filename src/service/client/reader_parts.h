/* The inside of a reader: shared by its consumer (reader.c), its tasks and their streams
 * (reader_tasks.c), windows of credit (reader_windows.c), and the heartbeat (reader_heartbeat.c).
 *
 * Threads: the consumer takes blocks and sends credit; the `tender` opens and closes streams; the
 * `heart` asks the dispatcher; transports bring messages on threads of their own. They meet under
 * the reader's gate, which is never held while a stream, a channel or the dispatcher is called.
 * Streams and their tasks hold references, so a late event finds memory that is there. */
#ifndef LEATI_SERVICE_CLIENT_READER_PARTS_H
#define LEATI_SERVICE_CLIENT_READER_PARTS_H

#include "run/driver.h"
#include "run/queue.h"
#include "service/client/reader.h"
#include "service/wire/control.h"
#include "service/wire/frame.h"
#include "service/wire/ranges.h"
#include <pthread.h>
#include <stdatomic.h>

typedef struct leati_client_reader_task leati_client_reader_task;

/* What came in one message and was not taken yet. */
typedef struct leati_client_reader_part {
    struct leati_client_reader_part *next;
    leati_client_reader_task *task; /* a reference */
    leati_frame_kind kind;          /* ELEMENTS, ERROR or SKIP */
    leati_block rows;
    leat_error *why;  /* of ERROR; owned */
    int64_t position; /* of the first row that is left, or of the error */
    int64_t attempt;  /* of the task, to which the position belongs */
    int64_t opening;  /* of the task's streams, whose credit it used */
    int64_t n, taken; /* outcomes */
    int64_t bytes;    /* of the message */
} leati_client_reader_part;

/* First in, first out. */
typedef struct leati_client_reader_queue {
    leati_client_reader_part *first, **last;
} leati_client_reader_queue;

/* How much may be on its way or here: in elements and in bytes (reader_windows.c). */
typedef struct leati_client_reader_window {
    int64_t elements, bytes;
    int64_t owed_elements, owed_bytes; /* taken, and not yet given as credit again */
    int64_t came_elements, came_bytes; /* since it grew */
    int64_t acked_begin, acked_end;    /* positions to acknowledge with the next credit */
} leati_client_reader_window;

typedef enum leati_client_reader_stream_state {
    LEATI_CLIENT_IDLE = 0,
    LEATI_CLIENT_OPENING, /* the tender is in the transport's call */
    LEATI_CLIENT_READING,
    LEATI_CLIENT_CLOSING /* waits for the event `closed` */
} leati_client_reader_stream_state;

/* All but `references` and what the comment says otherwise: the reader's gate. */
struct leati_client_reader_task {
    leati_client_reader_task *next;
    atomic_int references;
    leati_client_reader *reader;      /* a reference */
    struct leati_message_place place; /* as the dispatcher said last */
    int64_t attempt;                  /* that the stream reads */
    int64_t opening;                  /* number of the stream */
    int acking;                       /* acknowledgements that are being sent */
    leati_client_reader_stream_state state;
    leati_transport_stream *stream; /* READING and CLOSING; owned */
    const leati_transport *transport;
    leati_transport_channel *channel; /* the tender's alone; owned */
    int failures;                     /* in a row */
    char way[16];                     /* protocol of the stream that was opened last */
    int ways;                         /* transfers that may be taken */
    int passed_over;                  /* of them, by which nothing came, or nothing more will */
    int refused;                      /* in a row, for what another try would not mend */
    bool some_came;                   /* by the stream that was opened last */
    bool broke;                       /* its failure is no answer of the worker */
    bool warned;                      /* the log says that it is not reached */
    int64_t away_ns;                  /* since when nothing comes; 0: something did */
    int64_t retry_ns;                 /* not opened again before */
    int64_t unlisted_ns;              /* since when the dispatcher does not name it; 0: it does */
    bool ended;                       /* all came, or nothing more will */
    bool reporting;                   /* stops, so that what it holds can be told */
    bool passed; /* not for this client to read: another host's, with target_workers */
    leati_client_reader_window window;
    int64_t here; /* outcomes in line */
    /* Coordinated: what came and was not taken; how many of its turns are past, came, and are
     * whole; and how many the worker was told to have come and to be past. */
    leati_client_reader_queue parts;
    int64_t turns, came, whole;
    int64_t told_came, told_turns;
    leati_ranges held;  /* positions that came; exactly_once */
    leati_ranges taken; /* that the consumer got, where an account is kept */
    int64_t total;      /* of its outcomes, once it came to its end; else -1 */
    /* Read without a transport (reader_direct.c). */
    leati_driver *direct;                  /* the tender's alone; NULL: there was none yet */
    int64_t credit_elements, credit_bytes; /* that the worker may still give */
    pthread_mutex_t source_lock;           /* guards `source`; not taken under the gate */
    struct leati_worker_reader *source;
};

struct leati_client_reader {
    atomic_int references;
    leati_client_reader_options options;
    leat_spec *spec;                      /* owned */
    leat_cancel *cancel;                  /* child of the iterator's; owned */
    leati_control control;                /* the heart's, after open */
    struct leati_message_restored opened; /* `holding` and `job_name` of one that goes on */
    leati_gate *gate;
    leati_driver *heart, *tender;
    /* All that follows: the gate. */
    bool stop;
    bool known;    /* the dispatcher has named the tasks once */
    bool finished; /* no other tasks come */
    bool colocated;
    leat_error
        failure; /* what ended the iteration, where it `failed`; `told` to the consumer once */
    bool failed, told;
    leati_client_reader_task *tasks;
    leati_ints reports;                /* tasks that the next heartbeat answers for */
    leati_client_reader_queue arrived; /* uncoordinated: parts of all tasks in order of arrival */
    leati_client_reader_part *spare;   /* parts to use again */
    int64_t buffered, bytes;           /* elements and bytes that are here */
    int64_t taken;                     /* elements that the consumer got */
    int64_t waited_ns;                 /* of the consumer */
    int64_t told_ns, told_waited_ns, told_taken; /* at the last heartbeat */
    int64_t round, agreed, proposed;             /* coordinated */
    leati_client_reader_task *awaited; /* coordinated: whose turn the consumer waits for; or NULL */
    bool saved;                        /* a state was written */
};

static inline bool leati_client_reader_is_coordinated(const leati_client_reader *reader) {
    return reader->options.consumers > 0;
}

/* Does the worker want to hear what was taken? */
static inline bool leati_client_reader_acknowledges(const leati_client_reader *reader) {
    return reader->options.visitation != LEAT_SERVICE_AT_MOST_ONCE &&
           !leati_client_reader_is_coordinated(reader);
}

/* Is it noted which positions the consumer got? */
static inline bool leati_client_reader_keeps_account(const leati_client_reader *reader) {
    return leati_client_reader_acknowledges(reader) && reader->options.trainer == NULL;
}

void leati_client_reader_ref(leati_client_reader *reader);
void leati_client_reader_unref(leati_client_reader *reader);

/* ---- parts and queues; the gate's lock where not said otherwise ---- */

void leati_client_reader_queue_add(leati_client_reader_queue *queue,
                                   leati_client_reader_part *part);
leati_client_reader_part *leati_client_reader_queue_take(leati_client_reader_queue *queue);
/* An empty part; NULL without memory. */
leati_client_reader_part *leati_client_reader_part_take(leati_client_reader *reader);
/* Empties the part and keeps it. Drops its reference to the task. */
void leati_client_reader_part_drop(leati_client_reader *reader, leati_client_reader_part *part);
/* Ends the iteration with a failure, unless one has ended it already. */
void leati_client_reader_fail(leati_client_reader *reader, const leat_error *why);

/* ---- tasks and streams ---- */

/* Takes what the dispatcher says about its tasks. */
LEAT_WARN_UNUSED leat_status leati_client_reader_tasks_update(leati_client_reader *reader,
                                                              const leati_messages *places,
                                                              leat_error *err);
leati_client_reader_task *leati_client_reader_task_find(leati_client_reader *reader, int64_t task);
void leati_client_reader_task_unref(leati_client_reader_task *task);
/* Decides which of the tasks this client reads (target_workers). A choice that leaves none where
 * LOCAL was asked for ends the iteration. */
void leati_client_reader_tasks_choose(leati_client_reader *reader);
/* Has everything come that will? */
bool leati_client_reader_tasks_ended(const leati_client_reader *reader);
/* Some tasks are not read, whose end nobody can wait for: has everything come of those that are? */
bool leati_client_reader_own_tasks_ended(const leati_client_reader *reader);
/* The tender's thread. */
void leati_client_reader_tend(void *context);
/* What a worker is asked for; texts are borrowed. The gate's lock. */
void leati_client_reader_request(const leati_client_reader_task *task,
                                 struct leati_message_read *out);
/* Takes what came as `part` (whose rows and bytes are set): true, it is in line; false, there is
 * nothing to put there, or *err says why not. The gate's lock. */
bool leati_client_reader_take_part(leati_client_reader_task *task, leati_client_reader_part *part,
                                   leati_frame_kind kind, int64_t position, int64_t n,
                                   const leat_error *why, leat_error *err);
/* A stream, or what stands for it, is over; a reference to the task is given. */
void leati_client_reader_closed(leati_client_reader_task *task, const leat_error *why);
/* After the threads have ended, without the lock: drops tasks and channels. */
void leati_client_reader_tasks_fini(leati_client_reader *reader);

/* ---- ways to a worker: its transfers (reader_ways.c); the gate's lock where not said ---- */

enum { LEATI_CLIENT_ADDRESS = 280 /* bytes of a worker's */ };

/* A way that is passed over, for who follows the log. */
typedef struct leati_client_reader_passing {
    bool told, warns;
    char address[LEATI_CLIENT_ADDRESS], way[16];
} leati_client_reader_passing;

/* The transfer to try now, "protocol address", borrowed from the task; NULL: none that is there may
 * be taken, which no_way says as a failure. */
const char *leati_client_reader_way(leati_client_reader_task *task);
leat_status leati_client_reader_no_way(const leati_client_reader_task *task, leat_error *err);
/* A stream is over for `why`, or was not opened: decides when the task is read again and by which
 * way. `broke`: that is no answer of the worker. True: it is to end the iteration. */
bool leati_client_reader_way_next(leati_client_reader_task *task, const leat_error *why, bool broke,
                                  leati_client_reader_passing *passing);
/* Tells it, without the lock. */
void leati_client_reader_way_passed(const leati_client_reader_passing *passing,
                                    const leat_error *why);

/* ---- tasks of workers in this process ---- */

/* May the task be read without a transport? */
bool leati_client_reader_direct_fits(const leati_client_reader_task *task);
/* Begins to read; takes a reference to the task over to leati_client_reader_closed. The three are
 * called without the gate's lock. */
LEAT_WARN_UNUSED leat_status leati_client_reader_direct_start(leati_client_reader_task *task,
                                                              leat_error *err);
void leati_client_reader_direct_stop(leati_client_reader_task *task);
void leati_client_reader_direct_ack(leati_client_reader_task *task, int64_t begin, int64_t end);

/* ---- windows ---- */

void leati_client_reader_window_begin(leati_client_reader *reader, leati_client_reader_task *task);
/* The credit that a stream is opened with. */
void leati_client_reader_window_grant(const leati_client_reader_task *task, int64_t *elements,
                                      int64_t *bytes);
/* A message came. */
void leati_client_reader_window_came(leati_client_reader_task *task, int64_t elements,
                                     int64_t bytes);
/* The consumer took so much of the part, from its position on; the bytes of its message are given
 * back with its last element. */
void leati_client_reader_window_took(const leati_client_reader_part *part, int64_t elements);
/* The consumer is about to wait: windows that were used up since they grew are too small. */
void leati_client_reader_windows_grow(leati_client_reader *reader);
/* Must what was taken before be acknowledged first, because these positions do not follow it? */
bool leati_client_reader_window_breaks(const leati_client_reader_task *task, int64_t position);
/* Is it time to send credit (`all`: whatever is owed)? */
bool leati_client_reader_window_is_due(const leati_client_reader_task *task, bool all);
/* Takes what is owed as a message; the caller sends it. */
leati_frame_credit leati_client_reader_window_settle(leati_client_reader_task *task);

/* ---- the heartbeat ---- */

/* The heart's thread. */
void leati_client_reader_beat(void *context);

/* ---- states ---- */

/* Sets what was taken of a task by the reader that this one goes on from. */
LEAT_WARN_UNUSED leat_status leati_client_reader_task_begin(leati_client_reader_task *task,
                                                            leat_error *err);

/* ---- coordinated reads ---- */

/* The part whose turn it is. NULL: it may not be taken yet. Taking it ends the round. */
leati_client_reader_part *leati_client_reader_round_part(leati_client_reader *reader);
void leati_client_reader_round_next(leati_client_reader *reader, leati_client_reader_task *task);
/* Is the worker to be told what came, and what is past? */
bool leati_client_reader_round_is_due(const leati_client_reader_task *task);
/* Of the task came a turn, or that turns are whole: does the consumer or the tender wait for it? */
bool leati_client_reader_round_wakes(const leati_client_reader_task *task);
/* Tells it; the tender's. The lock is held, and left meanwhile. */
void leati_client_reader_round_tell(leati_client_reader_task *task);

#endif
