/* What the two files over OpenSSL share; included by no others. */
#ifndef LEATI_COLL_TLS_PRIVATE_H
#define LEATI_COLL_TLS_PRIVATE_H

#include "coll/tls.h"
#include <openssl/ssl.h>

struct leati_tls_context {
    SSL_CTX *ssl;
    char *name;      /* NULL: the host; owned */
    char *authority; /* the path, for messages; owned */
    uint8_t fingerprint[LEATI_TLS_FINGERPRINT];
};

/* The protocol that both sides name, so that no certificate's other use is taken for this one. */
extern const unsigned char leati_tls_protocol[9];

/* What OpenSSL says of the last call of this thread, "no reason given" where it says nothing; its
 * queue is empty afterwards. */
const char *leati_tls_reason(void);

#endif
