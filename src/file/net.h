/* Requests over HTTP, by libcurl, for the file systems that are reached so.
 *
 * One thread of the process drives all requests that are under way, over connections that it keeps:
 * it repeats what failed for a while, checks what servers say about lengths, ranges and versions,
 * and gives out bytes as they come. Those who wait can be stopped (base/stop.h). Without libcurl
 * every request is UNIMPLEMENTED (net_absent.c). All functions are thread-safe. */
#ifndef LEATI_FILE_NET_H
#define LEATI_FILE_NET_H

#include <leat/base.h>

/* Numbers of the environment. */
typedef struct leati_net_settings {
    int connections;    /* LEAT_REMOTE_CONNECTIONS: requests for one file at a time */
    int retries;        /* LEAT_REMOTE_RETRIES: how often one is repeated */
    int64_t timeout_ms; /* LEAT_REMOTE_TIMEOUT (seconds): without a byte it counts as failed */
} leati_net_settings;
enum { LEATI_NET_MOST_CONNECTIONS = 32 };

LEAT_WARN_UNUSED leat_status leati_net_settings_read(leati_net_settings *out, leat_error *err);

typedef enum leati_net_method {
    LEATI_NET_GET = 0,
    LEATI_NET_HEAD,
    LEATI_NET_PUT,
    LEATI_NET_POST,
    LEATI_NET_DELETE
} leati_net_method;

typedef enum leati_net_signature {
    LEATI_NET_UNSIGNED = 0,
    LEATI_NET_AMAZON, /* AWS Signature Version 4: region, key, secret, token of a session or NULL */
    LEATI_NET_BEARER, /* OAuth's: token */
    LEATI_NET_AZURE,  /* SharedKey: key is the account's name, secret its key; NULL: not signed */
} leati_net_signature;

/* By whom a request is made. */
typedef struct leati_net_signer {
    leati_net_signature kind;
    const char *region, *key, *secret, *token;
} leati_net_signer;

/* A signer with texts of its own, for fini; false without memory, then of what was copied. */
LEAT_WARN_UNUSED bool leati_net_signer_copy(leati_net_signer *to, const leati_net_signer *from);
void leati_net_signer_fini(leati_net_signer *signer);

/* What is asked; borrowed for the call, but `body`. */
typedef struct leati_net_ask {
    leati_net_method method;
    const char *path; /* as the user gave it, for errors */
    const char *url;
    const leati_net_signer *signer; /* NULL: not signed, and redirects are followed */
    const char *header;             /* a further one; NULL: none */
    const char *content_type;       /* of the body; constant */
    const char *rights;             /* what to look at where rights are missing; constant */
    bool is_step;                   /* of an upload that goes on: 308 is a good answer */
    /* Bytes of the whole that are wanted; a size of -1: all of it, without asking for a range. */
    int64_t from, size;
    const char *version; /* which the answer must have (leati_net_answer); "": any */
    int64_t whole;       /* bytes that all of it must have; -1: any */
    uint64_t most;       /* bytes that an answer without a range may have */
    void *body;          /* given, also on failure */
    size_t body_size;
} leati_net_ask;
#define LEATI_NET_ASK                                                                              \
    .size = -1, .version = "", .whole = -1, .most = 1 << 20,                                       \
    .content_type = "application/octet-stream",                                                    \
    .rights = "a host's name and password go into ~/.netrc"

enum {
    LEATI_NET_VERSION_BYTES = 200,
    /* Of a range of this size the memory is used again, whose pages cost as much as its bytes. */
    LEATI_NET_PIECE_BYTES = 4 << 20
};

/* What the server said; of a request that is done, or has given bytes. */
typedef struct leati_net_answer {
    int status;      /* HTTP's; 0: there was no answer */
    int64_t whole;   /* bytes of all of it; -1: not said */
    bool is_range;   /* the bytes are those of the range */
    int64_t changed; /* seconds since 1970; -1: not said */
    int64_t kept;    /* bytes of an upload that goes on that are there; 0: not said */
    /* The ETag, or else when it was changed, in the server's words; "": neither was said. */
    char version[LEATI_NET_VERSION_BYTES];
} leati_net_answer;

typedef struct leati_net_request leati_net_request;

/* Starts a request; the first one loads libcurl and starts the thread. Owned: unref. */
LEAT_WARN_UNUSED leat_status leati_net_start(const leati_net_ask *ask, leati_net_request **out,
                                             leat_error *err);
leati_net_request *leati_net_ref(leati_net_request *request);
/* The last hand ends the request. NULL is allowed. */
void leati_net_unref(leati_net_request *request);
/* Gives the last hand away: the request goes on to its end, which nobody waits for, but a process
 * that ends, for two seconds. */
void leati_net_leave(leati_net_request *request);
/* Waits until the first `need` bytes are there, or the request is done (SIZE_MAX). OK also where
 * the answer is shorter. CANCELLED as soon as the thread shall stop; else the request's failure,
 * which names the path, what the server said, and how often it was tried: NOT_FOUND,
 * PERMISSION_DENIED, UNAVAILABLE (later it may work), DATA_LOSS (it is another version, or not what
 * was asked for) and others. */
LEAT_WARN_UNUSED leat_status leati_net_wait(leati_net_request *request, size_t need,
                                            leat_error *err);
/* Start and wait until it is done; then *out is owned by the caller. */
LEAT_WARN_UNUSED leat_status leati_net_perform(const leati_net_ask *ask, leati_net_request **out,
                                               leat_error *err);
/* Bytes that are there, and do not move while the request lives; after a wait. */
const uint8_t *leati_net_data(const leati_net_request *request);
size_t leati_net_size(const leati_net_request *request);
/* After a wait, also one that failed where the request is done. */
const leati_net_answer *leati_net_answer_of(const leati_net_request *request);
/* Where the answer says that it goes on; NULL: not said. Borrowed; of a request that is done. */
const char *leati_net_location(const leati_net_request *request);
/* Was it made before a fork, by the parent? Then nobody drives it here. */
bool leati_net_is_lost(const leati_net_request *request);

#endif
