/* What the two files over OpenSSL share; included by no others. */
#ifndef LEATI_COLL_TLS_PRIVATE_H
#define LEATI_COLL_TLS_PRIVATE_H

#include "coll/tls.h"
#include "coll/tls_module.h"

struct leati_tls_context {
    SSL_CTX *ssl;
    const leati_tls_purpose *purpose;
    unsigned char protocol[1 + LEATI_TLS_LONGEST_PROTOCOL]; /* behind its length */
    char *name;                                             /* NULL: the host; owned */
    char *authority; /* the path, for messages; NULL: nobody is asked; owned */
    uint8_t fingerprint[LEATI_TLS_FINGERPRINT];
};

/* What OpenSSL says of the last call of this thread, "no reason given" where it says nothing; its
 * queue is empty afterwards. */
const char *leati_tls_reason(void);

#endif
