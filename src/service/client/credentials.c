/* Credentials as an object; see credentials.h. Texts are overwritten before they are freed. No
 * locks: it never changes. */
#include "service/client/credentials.h"
#include "base/alloc.h"
#include "base/error.h"
#include <string.h>

typedef struct credentials {
    leat_object object;
    leat_service_security security; /* of owned texts */
} credentials;

static void forget(const char *text) {
    char *own = (char *)(uintptr_t)text;
    if (own != NULL)
        explicit_bzero(own, strlen(own));
    leati_free(own);
}

static void credentials_free(leat_object *object) {
    credentials *c = (credentials *)(void *)object;
    forget(c->security.token);
    forget(c->security.tls_cert);
    forget(c->security.tls_key);
    forget(c->security.tls_ca);
    leati_free(c);
}

static const leati_object_type credentials_type = {.name = "credentials", .free = credentials_free};

static leat_status copy(const char *from, const char **to, leat_error *err) {
    *to = leati_strdup(from);
    return from == NULL || *to != NULL ? LEAT_OK : leati_no_memory(err);
}

leat_status leati_client_credentials_new(const leat_service_security *security, leat_object **out,
                                         leat_error *err) {
    *out = NULL;
    if (security->token == NULL && security->tls_cert == NULL && security->tls_key == NULL &&
        security->tls_ca == NULL)
        return LEAT_OK;
    credentials *c = leati_alloc_zero(1, sizeof *c);
    if (c == NULL)
        return leati_no_memory(err);
    leati_object_init(&c->object, &credentials_type);
    leat_service_security *own = &c->security;
    leat_status status = copy(security->token, &own->token, err);
    if (status == LEAT_OK)
        status = copy(security->tls_cert, &own->tls_cert, err);
    if (status == LEAT_OK)
        status = copy(security->tls_key, &own->tls_key, err);
    if (status == LEAT_OK)
        status = copy(security->tls_ca, &own->tls_ca, err);
    if (status == LEAT_OK)
        *out = &c->object;
    else
        credentials_free(&c->object);
    return status;
}

const leat_service_security *leati_client_credentials(const leat_object *object) {
    return object == NULL ? NULL : &((const credentials *)(const void *)object)->security;
}
