/* What TLS looks like to who does not speak it (coll/tls.h), in every build. */
#include "coll/tls.h"
#include <string.h>

const leati_tls_purpose leati_tls_of_job = {
    .protocol = "leat-job",
    .certificate = "LEAT_TLS_CERT",
    .key = "LEAT_TLS_KEY",
    .authority = "LEAT_TLS_CA",
    .name = "LEAT_TLS_NAME",
    .all = "LEAT_TLS_CERT, LEAT_TLS_KEY and LEAT_TLS_CA for every process of the job",
    .members = true};

/* The first byte is the kind of a record, from change_cipher_spec to application data; the second
 * one the version's, which never changed. No message of the store begins so: its first two bytes
 * are a size below what a greeting may have. */
bool leati_tls_is_record(const void *bytes, size_t size) {
    const uint8_t *at = bytes;
    return size > 0 && at[0] >= 20 && at[0] <= 23 && (size == 1 || at[1] == 3);
}

bool leati_tls_is_hello(const void *bytes, size_t size) {
    static const char name[] = "\x08leat-job";
    return leati_tls_is_record(bytes, size) && ((const uint8_t *)bytes)[0] == 22 &&
           memmem(bytes, size, name, sizeof name - 1) != NULL;
}
