/* Greetings and proofs: see greeting.h. */
#include "coll/greeting.h"
#include "base/error.h"
#include "coll/wire.h"
#include <stdio.h>
#include <string.h>

enum { LEAST_SECRET = 16 };

leat_status leati_greeting_check_secret(const char *secret, leat_error *err) {
    if (secret == NULL || strlen(secret) >= LEAST_SECRET)
        return LEAT_OK;
    return leati_refuse(err, VALUE,
                        "the job's secret (LEAT_JOB_SECRET) has less than %d characters; draw one, "
                        "as by: openssl rand -hex 32",
                        LEAST_SECRET);
}

size_t leati_greeting_write(const leati_greeting *greeting, char out[LEATI_GREETING_LONGEST]) {
    int32_t numbers[3] = {LEATI_WIRE_MARK, greeting->rank, greeting->num_ranks};
    size_t at = sizeof numbers;
    memcpy(out, numbers, at);
    at += (size_t)snprintf(out + at, sizeof greeting->version, "%s", greeting->version) + 1;
    at += (size_t)snprintf(out + at, sizeof greeting->name, "%s", greeting->name) + 1;
    out[at++] = greeting->has_secret ? 1 : 0;
    memcpy(out + at, greeting->nonce, sizeof greeting->nonce);
    return at + sizeof greeting->nonce;
}

void leati_greeting_clean(char *text) {
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            *text = '?';
}

/* A terminated text at `*at`, cut to `room`; false: it has no end. */
static bool read_text(const char *payload, size_t size, size_t *at, char *out, size_t room) {
    const char *end = *at < size ? memchr(payload + *at, '\0', size - *at) : NULL;
    if (end == NULL)
        return false;
    snprintf(out, room, "%s", payload + *at);
    leati_greeting_clean(out);
    *at = (size_t)(end + 1 - payload);
    return true;
}

bool leati_greeting_read(const char *payload, size_t size, leati_greeting *out) {
    int32_t numbers[3];
    size_t at = sizeof numbers;
    *out = (leati_greeting){0};
    if (size < at)
        return false;
    memcpy(numbers, payload, sizeof numbers);
    /* Whatever connects may send anything: no text is read before its end was found. */
    if (numbers[0] != LEATI_WIRE_MARK ||
        !read_text(payload, size, &at, out->version, sizeof out->version) ||
        !read_text(payload, size, &at, out->name, sizeof out->name))
        return false;
    out->rank = numbers[1];
    out->num_ranks = numbers[2];
    /* Another version may have more to say, or less: its greeting is read so that it can be named.
     */
    out->whole = size - at == 1 + sizeof out->nonce;
    if (out->whole) {
        out->has_secret = payload[at] != 0;
        memcpy(out->nonce, payload + at + 1, sizeof out->nonce);
    }
    return true;
}

void leati_greeting_prove(const char *secret, bool by_server, const leati_greeting *greeting,
                          const uint8_t server_nonce[LEATI_GREETING_NONCE],
                          uint8_t out[LEATI_SHA256_BYTES]) {
    /* The role stands in front, so that no side's code serves the other. */
    char message[16 + LEATI_GREETING_NONCE + LEATI_GREETING_LONGEST] = {0};
    snprintf(message, 16, "leat job %s", by_server ? "server" : "client");
    memcpy(message + 16, server_nonce, LEATI_GREETING_NONCE);
    size_t size = leati_greeting_write(greeting, message + 16 + LEATI_GREETING_NONCE);
    leati_sha256_hmac(secret, strlen(secret), message, 16 + LEATI_GREETING_NONCE + size, out);
}
