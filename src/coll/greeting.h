/* What two processes of a job say of themselves before either believes the other: pure functions
 * over bytes, for the store's client and its server.
 *
 * A client greets with its rank, the number of ranks, its version and name, whether it has a
 * secret, and bytes that it has drawn. Without a secret that is all. With one the server answers
 * with bytes of its own; the client proves that it has the secret by a code over the greeting and
 * both, then the server does. So neither a rank nor rank 0 can be played by who has not the secret,
 * a greeting that was overheard is of no use, and the secret itself is never sent. */
#ifndef LEATI_COLL_GREETING_H
#define LEATI_COLL_GREETING_H

#include "base/sha256.h"
#include <leat/base.h>

enum { LEATI_GREETING_NONCE = 32, LEATI_GREETING_LONGEST = 512 /* bytes of one that is written */ };

typedef struct leati_greeting {
    int32_t rank, num_ranks;
    char version[32], name[200]; /* printable when read */
    bool whole;                  /* when read: what follows was there */
    bool has_secret;
    uint8_t nonce[LEATI_GREETING_NONCE];
} leati_greeting;

/* Is a secret (NULL: none) one that cannot be guessed? INVALID_ARGUMENT says how to draw one. */
LEAT_WARN_UNUSED leat_status leati_greeting_check_secret(const char *secret, leat_error *err);

/* Writes the payload of LEATI_MESSAGE_HELLO; returns its size. */
size_t leati_greeting_write(const leati_greeting *greeting, char out[LEATI_GREETING_LONGEST]);
/* Any bytes. False: no greeting of a process of leat with this byte order. */
bool leati_greeting_read(const char *payload, size_t size, leati_greeting *out);

/* The code by which the server, or the client, proves that it has the secret. */
void leati_greeting_prove(const char *secret, bool by_server, const leati_greeting *greeting,
                          const uint8_t server_nonce[LEATI_GREETING_NONCE],
                          uint8_t out[LEATI_SHA256_BYTES]);

/* Makes a text that came from outside one that a terminal shows as it is. */
void leati_greeting_clean(char *text);

#endif
