/* TLS between the processes of a job (docs/SECURITY.md): every one has a certificate, and both
 * sides of a connection verify the other's against the job's own authority before either says
 * anything. TLS 1.3 alone, since all processes of a job run the same leat. Others who connect
 * processes of leat say so by a purpose, and may leave out what their servers do not ask of
 * clients.
 *
 * The certificate of who listens must bear the host that was connected to, or the name that the
 * whole job agreed on; or, where members have told each other which certificate is whose, its
 * fingerprint is compared (coll/mesh_links.c). In a build without OpenSSL a context is refused. */
#ifndef LEATI_COLL_TLS_H
#define LEATI_COLL_TLS_H

#include <leat/base.h>

enum { LEATI_TLS_FINGERPRINT = 32 /* bytes: SHA-256 of a certificate */ };

/* What connections are for. Texts are for messages, but for the first. */
typedef struct leati_tls_purpose {
    const char *protocol; /* both sides name it, so that no certificate's other use is taken for
                             this one; at most LEATI_TLS_LONGEST_PROTOCOL bytes */
    const char *certificate, *key, *authority; /* the settings, "LEAT_TLS_CERT" */
    const char *name;                          /* that of the name; NULL: there is none */
    const char *all; /* what is set for whom: "LEAT_TLS_CERT ... for every process of the job" */
    bool members;    /* all have certificates of one authority, which go for both sides */
} leati_tls_purpose;
enum { LEATI_TLS_LONGEST_PROTOCOL = 30 };
extern const leati_tls_purpose leati_tls_of_job;

/* Paths of PEM files. Borrowed for the call, but for the purpose, which stays. Only members' are
 * all there: a client without a certificate shows none, a server without an authority asks for
 * none. */
typedef struct leati_tls_files {
    const leati_tls_purpose *purpose; /* NULL: a job's */
    const char *certificate; /* this process's, with what leads to the authority, LEAT_TLS_CERT */
    const char *key;         /* its private key, without a pass phrase, LEAT_TLS_KEY */
    const char *authority;   /* who signs for the job, and nobody else, LEAT_TLS_CA */
    const char *name;        /* that rank 0's certificate bears; NULL: the host. LEAT_TLS_NAME */
} leati_tls_files;

/* What this process shows, and whom it believes. Threads may share it. */
typedef struct leati_tls_context leati_tls_context;

/* Reads the files, and verifies that others will believe them: INVALID_ARGUMENT names the file and
 * OpenSSL's reason. Owned; outlives the handshakes of its connections. */
leati_tls_context *leati_tls_context_new(const leati_tls_files *files, leat_error *err);
/* NULL is allowed. */
void leati_tls_context_free(leati_tls_context *context);
/* Of this process's certificate: LEATI_TLS_FINGERPRINT bytes, zeros where it has none. Borrowed. */
const uint8_t *leati_tls_context_fingerprint(const leati_tls_context *context);

/* One connection. One thread may write while another one reads. */
typedef struct leati_tls leati_tls;

/* Whose connection it is. */
typedef enum leati_tls_side {
    LEATI_TLS_SERVER = 0,
    LEATI_TLS_CLIENT,         /* the certificate bears the host, or the job's name */
    LEATI_TLS_CLIENT_OF_KNOWN /* the caller compares the fingerprint */
} leati_tls_side;

/* Over a socket (borrowed) that is connected; nothing is sent yet. `host` is what a client
 * connected to, as messages say it, too. Owned. */
leati_tls *leati_tls_new(leati_tls_context *context, int socket, leati_tls_side side,
                         const char *host, leat_error *err);
/* Much is to come: it is read many records at a time, for more memory. Before the handshake, and
 * for who reads until nothing comes: poll does not see what lies here. */
void leati_tls_expect_bulk(leati_tls *tls);
/* NULL is allowed. */
void leati_tls_free(leati_tls *tls);

typedef enum leati_tls_step {
    LEATI_TLS_DONE = 0,
    LEATI_TLS_READS,  /* goes on when there is something to read */
    LEATI_TLS_WRITES, /* goes on when something can be written */
    LEATI_TLS_FAILED
} leati_tls_step;

/* Goes on with the handshake without waiting. DONE: the other side has verified this one, and this
 * one the other. FAILED: PERMISSION_DENIED where a certificate is refused, by whichever side;
 * FAILED_PRECONDITION where the other side speaks something else; UNAVAILABLE where the connection
 * breaks. */
leati_tls_step leati_tls_shake(leati_tls *tls, leat_error *err);
/* The same until DONE, by `deadline_ns`: DEADLINE_EXCEEDED. */
LEAT_WARN_UNUSED leat_status leati_tls_finish(leati_tls *tls, int64_t deadline_ns, leat_error *err);
/* After a handshake that failed: what came, where it is not TLS; the number of bytes, at most
 * LEATI_TLS_SPOKEN. 0: it is TLS. */
enum { LEATI_TLS_SPOKEN = 5 };
size_t leati_tls_spoken(const leati_tls *tls, uint8_t bytes[LEATI_TLS_SPOKEN]);
/* After the handshake: of the other side's certificate. */
LEAT_WARN_UNUSED leat_status leati_tls_peer(leati_tls *tls, uint8_t out[LEATI_TLS_FINGERPRINT],
                                            leat_error *err);

/* Without waiting: how many bytes were read or written, 0 where it must be waited for, -1 with
 * UNAVAILABLE at the end of the connection. What was not written must come again as the first of
 * the next write. */
ptrdiff_t leati_tls_read(leati_tls *tls, void *out, size_t size, leat_error *err);
ptrdiff_t leati_tls_write(leati_tls *tls, const void *data, size_t size, leat_error *err);

/* Does something lie here that can be read, and that poll does not see? */
bool leati_tls_pending(leati_tls *tls);

/* Are these first bytes of a connection those of a TLS client of leat? */
bool leati_tls_is_hello(const void *bytes, size_t size);
/* Are they the beginning of anything in TLS? */
bool leati_tls_is_record(const void *bytes, size_t size);

#endif
