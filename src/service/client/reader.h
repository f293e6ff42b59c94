/* Reading one iteration of a job: what the operator data_service does between its open and its
 * close. A reader joins the iteration, keeps a heartbeat with the dispatcher, holds a stream to
 * each worker that has a task of it, and hands out blocks. */
#ifndef LEATI_SERVICE_CLIENT_READER_H
#define LEATI_SERVICE_CLIENT_READER_H

#include "base/bytes.h"
#include "core/block.h"
#include "run/cancel.h"
#include "service/wire/messages.h"
#include <leat/service.h>

/* What to read. All texts are borrowed for the reader's life. */
typedef struct leati_client_reader_options {
    const char *service; /* address of the dispatcher, as the user wrote it */
    const char *dataset_id, *job_name;
    bool alone; /* the name was drawn: nobody else joins */
    leat_service_policy policy;
    leat_service_visitation visitation;
    leat_service_targets targets;
    int64_t repetition;
    int64_t consumer, consumers; /* -1, 0: not coordinated */
    int64_t max_outstanding;     /* elements, over all tasks; 0: as many as pay */
    const char *transfer;        /* the only protocol that elements may come by; NULL: the best */
    const char *compression;     /* "SNAPPY": always; "AUTO": where it pays; NULL: none */
    const char *trainer;         /* NULL: none */
    int64_t refresh_ms;          /* longest wait of a heartbeat; 0: LEATI_SERVICE_WAIT_MS */
    const leat_service_security *security;
    const leat_spec *spec; /* of the elements; a reference is taken */
    const char *name;      /* of the operator, for waits and logs */
    /* A saved reader goes on; NULL: an iteration is joined. Borrowed while it opens. */
    const struct leati_message_restore *saved;
} leati_client_reader_options;

typedef struct leati_client_reader leati_client_reader;

/* Joins the iteration: waits while the dispatcher cannot be reached, for an hour at most. `cancel`
 * (borrowed; may be NULL) ends every wait. Owned. */
leati_client_reader *leati_client_reader_open(const leati_client_reader_options *options,
                                              leat_cancel *cancel, leat_error *err);
/* Ends streams and heartbeat and leaves the iteration; takes less than a second whatever workers
 * and dispatcher do. NULL is allowed. */
void leati_client_reader_close(leati_client_reader *reader);

typedef enum leati_client_reader_outcome {
    LEATI_CLIENT_ROWS = 0, /* out->n >= 1 elements */
    LEATI_CLIENT_FAILED,   /* one element is an error, or the wait was ended */
    LEATI_CLIENT_END
} leati_client_reader_outcome;

/* Waits for the next elements: up to `want` rows of one worker. One thread at a time. The time that
 * it waited is added to *waited_ns. */
leati_client_reader_outcome leati_client_reader_take(leati_client_reader *reader, int64_t want,
                                                     int64_t deadline_ns, leati_block *out,
                                                     int64_t *waited_ns, leat_error *err);

/* Writes what it took so far, from which another reader goes on: UNIMPLEMENTED, with a way out,
 * where the service keeps no account of what is given. On the thread that takes. */
LEAT_WARN_UNUSED leat_status leati_client_reader_save(leati_client_reader *reader,
                                                      leati_writer *out, leat_error *err);
/* Reads that again, as what is asked of the dispatcher (leati_messages_fini). DATA_LOSS. */
LEAT_WARN_UNUSED leat_status leati_client_reader_saved(leati_reader *in,
                                                       struct leati_message_restore *out,
                                                       leat_error *err);
/* The job whose next repetition follows: the one that was joined, or of a reader that goes on
 * another one that nobody else knows. Borrowed. */
const char *leati_client_reader_job(const leati_client_reader *reader);

/* For explain: what it reads from and holds now. */
typedef struct leati_client_reader_figures {
    int64_t tasks;    /* that it reads */
    int64_t buffered; /* elements that are here and were not taken */
    int64_t bytes;    /* of these */
    int64_t window;   /* elements that may be on their way or here */
} leati_client_reader_figures;
void leati_client_reader_figures_get(leati_client_reader *reader, leati_client_reader_figures *out);

#endif
