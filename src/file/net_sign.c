/* By whom a request is made: what its head says of that; see net.h.
 *
 * Happy path: Amazon's signature is libcurl's, which wants the body's hash; a bearer is a header;
 * Azure's SharedKey is an HMAC-SHA256 of what the request says, made here for each attempt, because
 * it holds the time. Failures: no memory, and keys that are no base64, which come as a signature
 * that the server refuses. Locks: none; all of it is the thread's. */
#include "base/alloc.h"
#include "base/base64.h"
#include "base/minmax.h"
#include "base/sha256.h"
#include "base/text.h"
#include "file/net_private.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- Amazon's ---- */

/* The header by which a signed body is known. TLS vouches for one by itself. */
static bool add_body_hash(leati_net_request *request) {
    char text[100];
    uint8_t hash[LEATI_SHA256_BYTES];
    leati_sha256 running;
    int n = snprintf(text, sizeof text, "x-amz-content-sha256: ");
    if (request->body_size > 0 && strncmp(request->url, "https:", 6) == 0)
        return leati_net_add_header(request, "x-amz-content-sha256: UNSIGNED-PAYLOAD");
    leati_sha256_begin(&running);
    leati_sha256_add(&running, request->body, request->body_size);
    leati_sha256_end(&running, hash);
    for (int i = 0; i < LEATI_SHA256_BYTES; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%02x", hash[i]);
    return leati_net_add_header(request, text);
}

/* Adds "NAME: VALUE". */
static bool add_long_header(leati_net_request *request, const char *name, const char *value) {
    leati_text text = {0};
    leati_text_addf(&text, "%s: %s", name, value);
    bool done = !text.failed && leati_net_add_header(request, text.data);
    leati_text_fini(&text);
    return done;
}

static bool sign_amazon(leati_net_request *request) {
    char scope[160];
    const leati_net_signer *signer = &request->signer;
    (void)snprintf(scope, sizeof scope, "aws:amz:%s:s3", signer->region);
    return curl_easy_setopt(request->easy, CURLOPT_AWS_SIGV4, scope) == CURLE_OK &&
           curl_easy_setopt(request->easy, CURLOPT_USERNAME, signer->key) == CURLE_OK &&
           curl_easy_setopt(request->easy, CURLOPT_PASSWORD, signer->secret) == CURLE_OK &&
           add_body_hash(request) &&
           (signer->token == NULL ||
            add_long_header(request, "x-amz-security-token", signer->token));
}

/* ---- Azure's ---- */

/* A query's "name=value". */
typedef struct word {
    const char *text;
    size_t size;
} word;

static int compare_words(const void *a, const void *b) {
    const word *one = a, *other = b;
    int order = memcmp(one->text, other->text, LEATI_MIN(one->size, other->size));
    return order != 0 ? order : (one->size > other->size) - (one->size < other->size);
}

static int digit_of(char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Appends what %XX stands for; queries that are signed are written by leati_bucket_encode. */
static void add_decoded(leati_text *out, const char *text, size_t size) {
    for (size_t i = 0; i < size; i++) {
        bool is_coded = text[i] == '%' && i + 2 < size && digit_of(text[i + 1]) >= 0;
        char byte = is_coded ? (char)(digit_of(text[i + 1]) * 16 + digit_of(text[i + 2])) : text[i];
        leati_text_add(out, &byte, 1);
        i += is_coded ? 2 : 0;
    }
}

/* "/ACCOUNT/PATH", then the query's words in order, one a line. */
static void add_resource(leati_text *out, const leati_net_request *request) {
    enum { MOST_WORDS = 16 };
    word words[MOST_WORDS];
    size_t count = 0;
    const char *host = strstr(request->url, "://");
    const char *path = host != NULL ? strchr(host + 3, '/') : NULL;
    path = path != NULL ? path : "/";
    const char *query = path + strcspn(path, "?");
    leati_text_addf(out, "/%s%.*s", request->signer.key, (int)(query - path), path);
    for (const char *at = query; *at != '\0' && count < MOST_WORDS; at += words[count - 1].size) {
        at++;
        words[count++] = (word){at, strcspn(at, "&")};
    }
    qsort(words, count, sizeof *words, compare_words);
    for (size_t i = 0; i < count; i++) {
        size_t name = strcspn(words[i].text, "=");
        leati_text_addf(out, "\n%.*s:", (int)name, words[i].text);
        if (name < words[i].size)
            add_decoded(out, words[i].text + name + 1, words[i].size - name - 1);
    }
}

/* What is signed: the request's method, the headers that it has, and its resource. */
static char *azure_text(const leati_net_request *request, const char *date) {
    static const char *const methods[] = {"GET", "HEAD", "PUT", "POST", "DELETE"};
    char range[LEATI_NET_RANGE_BYTES] = "";
    bool has_range = leati_net_range(request, range);
    bool has_type = request->method == LEATI_NET_PUT || request->method == LEATI_NET_POST;
    leati_text text = {0};
    leati_text_addf(&text, "%s\n\n\n", methods[request->method]);
    if (request->body_size > 0)
        leati_text_addf(&text, "%zu", request->body_size);
    leati_text_addf(&text, "\n\n%s\n\n\n\n\n\n", has_type ? request->content_type : "");
    leati_text_addf(&text, "%s%s\n", has_range ? "bytes=" : "", range);
    /* A further header is one of the service's, "x-ms-blob-type", which comes first. */
    if (request->header != NULL) {
        size_t name = strcspn(request->header, ":");
        leati_text_addf(&text, "%.*s:%s\n", (int)name, request->header, request->header + name + 2);
    }
    leati_text_addf(&text, "x-ms-date:%s\nx-ms-version:%s\n", date, LEATI_NET_AZURE_VERSION);
    add_resource(&text, request);
    return leati_text_take(&text);
}

/* The letters of base64 that are not those of base/base64.h, and its filling. */
static void to_common_letters(char *letters) {
    for (; *letters; letters++)
        *letters = *letters == '-' ? '+' : *letters == '_' ? '/' : *letters;
}

/* The account's key, which is base64. Returns its bytes. */
static size_t read_key(const char *letters, uint8_t *out, size_t room) {
    char own[256];
    size_t n = 0;
    for (; letters[n] != '\0' && letters[n] != '=' && n < sizeof own; n++)
        own[n] = letters[n] == '+' ? '-' : letters[n] == '/' ? '_' : letters[n];
    size_t size = leati_base64_bytes(n);
    if (size > room || leati_base64_decode(own, n, NULL) < n)
        return 0;
    (void)leati_base64_decode(own, n, out);
    return size;
}

/* As HTTP writes it, whatever the user's language is. */
static void write_date(const struct tm *t, char *out, size_t room) {
    static const char days[] = "SunMonTueWedThuFriSat",
                      months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    (void)snprintf(out, room, "%.3s, %02d %.3s %04d %02d:%02d:%02d GMT",
                   days + t->tm_wday * (ptrdiff_t)3, t->tm_mday, months + t->tm_mon * (ptrdiff_t)3,
                   t->tm_year + 1900, t->tm_hour, t->tm_min, t->tm_sec);
}

static bool sign_azure(leati_net_request *request) {
    char date[64], code[64] = "";
    uint8_t key[192], hash[LEATI_SHA256_BYTES];
    struct tm parts;
    time_t now = time(NULL);
    const leati_net_signer *signer = &request->signer;
    if (!leati_net_add_header(request, "x-ms-version: " LEATI_NET_AZURE_VERSION))
        return false;
    if (signer->secret == NULL)
        return true;
    write_date(gmtime_r(&now, &parts), date, sizeof date);
    char *text = azure_text(request, date);
    if (text == NULL)
        return false;
    leati_sha256_hmac(key, read_key(signer->secret, key, sizeof key), text, strlen(text), hash);
    leati_free(text);
    leati_base64_encode(hash, sizeof hash, code);
    to_common_letters(code);
    leati_text value = {0};
    leati_text_addf(&value, "SharedKey %s:%s=", signer->key, code);
    bool done = !value.failed && add_long_header(request, "x-ms-date", date) &&
                add_long_header(request, "Authorization", value.data);
    leati_text_fini(&value);
    return done;
}

bool leati_net_sign(leati_net_request *request) {
    switch (request->signer.kind) {
    case LEATI_NET_UNSIGNED: return true;
    case LEATI_NET_AMAZON: return sign_amazon(request);
    case LEATI_NET_AZURE: return sign_azure(request);
    case LEATI_NET_BEARER: break;
    }
    leati_text value = {0};
    leati_text_addf(&value, "Bearer %s", request->signer.token);
    bool done = !value.failed && add_long_header(request, "Authorization", value.data);
    leati_text_fini(&value);
    return done;
}
