/* What the files of requests share: net.c has the thread and the list, net_transfer.c what libcurl
 * is told and what servers are believed, net_outcome.c what an attempt came to. */
#ifndef LEATI_FILE_NET_PRIVATE_H
#define LEATI_FILE_NET_PRIVATE_H

#include "file/curl_module.h"
#include "file/net.h"
#include <stdatomic.h>

typedef enum leati_net_state {
    LEATI_NET_NEW = 0,
    LEATI_NET_ACTIVE,   /* libcurl has it */
    LEATI_NET_SLEEPING, /* until it is tried again */
    LEATI_NET_DONE
} leati_net_state;

struct leati_net_engine;

struct leati_net_request {
    struct leati_net_engine *engine; /* constant */
    atomic_int hands;
    leati_net_settings settings; /* constant */
    /* What was asked; constant, owned. */
    leati_net_method method;
    char *path, *url, *header;
    const char *content_type, *rights;
    bool is_step;
    leati_net_signer signer;
    int64_t from, wanted;
    char *version;
    int64_t whole;
    uint64_t most;
    uint8_t *body;
    size_t body_size;

    /* The gate's, until it is DONE; then constant. */
    struct leati_net_request *next, *previous;
    leati_net_state state;
    bool is_dropped;  /* nobody has a hand on it: the thread frees it */
    bool is_left;     /* the thread frees it once it is done */
    size_t needed;    /* bytes for which somebody waits; 0: nobody */
    leat_error error; /* of a request that failed; code LEAT_OK: none */

    /* The thread's, until it is DONE. */
    CURL *easy;
    struct curl_slist *headers;
    int64_t wake_ns;  /* when it is tried again */
    int64_t began_ns; /* when it was first tried */
    int attempts;
    int64_t skip;          /* bytes at the start of an answer without the range */
    bool judged;           /* this attempt's answer may give bytes */
    size_t header_bytes;   /* of this attempt */
    int64_t length;        /* that this attempt's answer announces; -1: none */
    int64_t range_from;    /* of its Content-Range; -1: none */
    int64_t range_size;    /* likewise */
    int64_t retry_after_s; /* -1: not said */
    leati_net_answer seen; /* what this attempt's answer says */
    char *location;        /* likewise; owned */
    /* What the first good one said; then constant. Of a request that failed, what the last said. */
    leati_net_answer answer;
    char said[400]; /* the beginning of a failure's body */
    size_t said_size;
    char failure[CURL_ERROR_SIZE]; /* libcurl's words */
    uint8_t *data;                 /* owned; `room` bytes */
    size_t room;
    atomic_size_t received; /* written by the thread alone */
};

enum { LEATI_NET_RANGE_BYTES = 64 };
/* Of Azure's service, for which requests are written. */
#define LEATI_NET_AZURE_VERSION "2020-04-08"

/* Is the answer's status one of success? */
bool leati_net_is_good(const leati_net_request *request);
/* The bytes that this attempt asks for, "0-9"; false: all of it. */
bool leati_net_range(const leati_net_request *request, char out[LEATI_NET_RANGE_BYTES]);
/* Adds a header, which is copied; false without memory. */
bool leati_net_add_header(leati_net_request *request, const char *text);
/* Adds what says by whom this attempt is made; false without memory. */
bool leati_net_sign(leati_net_request *request);

/* Gives the request a handle of libcurl's for one more attempt. False: it failed for good, with
 * `error`. */
bool leati_net_transfer_begin(leati_net_request *request);
/* Takes the handle away, which is in no multi handle any more. */
void leati_net_transfer_drop(leati_net_request *request);
/* Memory for a piece (LEATI_NET_PIECE_BYTES), used before if there is some. For leati_free, or for
 * the engine to use again. NULL without memory. */
uint8_t *leati_net_piece_take(struct leati_net_engine *engine);
/* Judges the head of this attempt's answer, before its first byte is taken; false: it failed for
 * good, with `error`. */
bool leati_net_transfer_head(leati_net_request *request);
/* What an attempt that ended with `code` means: done, failed, or to be tried again, at wake_ns. */
leati_net_state leati_net_transfer_judge(leati_net_request *request, CURLcode code);

#endif
