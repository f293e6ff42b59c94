/* Names, URLs and lists of S3; see s3.h.
 *
 * Happy path: the bucket is the first part of a path, the key all of the rest, byte for byte.
 * Amazon's buckets have hosts of their own, another service's are the first folder below its
 * endpoint. Lists are XML of a fixed form, whose elements are looked for by name, one in the other.
 * Failures: names that cannot be, endpoints that are no URL, lists that are none. What stands in a
 * list is a stranger's: a name with a slash or a zero byte in it is passed over. Locks: none. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/minmax.h"
#include "file/remote.h"
#include "file/s3.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- places ---- */

void leati_s3_encode(leati_text *out, const char *text, bool keeps_slash) {
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~";
    for (; *text; text++)
        if (strchr(plain, *text) != NULL || (keeps_slash && *text == '/'))
            leati_text_add(out, text, 1);
        else
            leati_text_addf(out, "%%%02X", (unsigned char)*text);
}

static leat_status check_bucket(const char *path, const char *bucket, leat_error *err) {
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.";
    size_t n = strlen(bucket);
    if (n >= 3 && n <= 255 && strspn(bucket, letters) == n && bucket[0] != '.')
        return LEAT_OK;
    return leati_refuse(
        err, VALUE, "%.400s: \"%.80s\" cannot be a bucket; expected s3://BUCKET/KEY", path, bucket);
}

static leat_status check_endpoint(leati_s3_account *account, leat_error *err) {
    char *url = account->endpoint;
    if (url == NULL)
        return LEAT_OK;
    size_t scheme = strncmp(url, "https://", 8) == 0 ? 8 : strncmp(url, "http://", 7) == 0 ? 7 : 0;
    if (scheme == 0 || url[scheme] == '\0' || strpbrk(url, "?#@ ") != NULL)
        return leati_refuse(err, VALUE,
                            "the endpoint of S3 is \"%.200s\"; expected http:// or https:// and a "
                            "host (AWS_ENDPOINT_URL_S3)",
                            strchr(url, '@') != NULL ? "..." : url);
    for (size_t n = strlen(url); n > 0 && url[n - 1] == '/'; n--)
        url[n - 1] = '\0';
    return LEAT_OK;
}

leat_status leati_s3_place_of(const leati_fs *fs, const char *rest, leati_s3_place *out,
                              leat_error *err) {
    leati_s3_place place = {0};
    size_t n = strcspn(rest, "/");
    const char *key = rest + n + (rest[n] == '/');
    place.path = leati_remote_path(fs, rest);
    place.bucket = leati_strndup(rest, n);
    place.key = leati_strdup(key);
    leat_status status = place.path == NULL || place.bucket == NULL || place.key == NULL
                             ? leati_no_memory(err)
                             : check_bucket(place.path, place.bucket, err);
    if (status == LEAT_OK) {
        status = leati_s3_account_read(&place.account, err);
        if (status == LEAT_OK)
            status = check_endpoint(&place.account, err);
        if (status != LEAT_OK)
            (void)leati_prefix(err, "%.400s", place.path);
    }
    const leati_s3_account *account = &place.account;
    place.signer =
        (leati_net_signer){account->region, account->key, account->secret, account->token};
    if (status != LEAT_OK)
        leati_s3_place_fini(&place);
    else
        *out = place;
    return status;
}

void leati_s3_place_fini(leati_s3_place *place) {
    leati_s3_account_fini(&place->account);
    leati_free(place->path);
    leati_free(place->bucket);
    leati_free(place->key);
    *place = (leati_s3_place){0};
}

const leati_net_signer *leati_s3_signer(const leati_s3_place *place) {
    return place->signer.key != NULL ? &place->signer : NULL;
}

char *leati_s3_url(const leati_s3_place *place, bool of_bucket, const char *query) {
    const leati_s3_account *account = &place->account;
    leati_text url = {0};
    /* A certificate for *.s3.REGION is for no name with further dots. */
    bool has_host = account->endpoint == NULL && strpbrk(place->bucket, "._") == NULL;
    const char *end = strncmp(account->region, "cn-", 3) == 0 ? ".cn" : "";
    if (account->endpoint != NULL)
        leati_text_addf(&url, "%s/%s", account->endpoint, place->bucket);
    else if (has_host)
        leati_text_addf(&url, "https://%s.s3.%s.amazonaws.com%s", place->bucket, account->region,
                        end);
    else
        leati_text_addf(&url, "https://s3.%s.amazonaws.com%s/%s", account->region, end,
                        place->bucket);
    if (!of_bucket || has_host)
        leati_text_add(&url, "/", 1);
    if (!of_bucket)
        leati_s3_encode(&url, place->key, true);
    if (query != NULL)
        leati_text_addf(&url, "?%s", query);
    return leati_text_take(&url);
}

/* ---- XML ---- */

/* The content of the first element `name` in [*from, to), which is moved behind it. */
static bool next_element(const char **from, const char *to, const char *name, const char **content,
                         size_t *size) {
    char open[40], shut[40];
    int n = snprintf(open, sizeof open, "<%s>", name),
        m = snprintf(shut, sizeof shut, "</%s>", name);
    const char *begin = memmem(*from, (size_t)(to - *from), open, (size_t)n);
    if (begin == NULL)
        return false;
    begin += n;
    const char *end = memmem(begin, (size_t)(to - begin), shut, (size_t)m);
    if (end == NULL)
        return false;
    *content = begin;
    *size = (size_t)(end - begin);
    *from = end + m;
    return true;
}

/* A character of &#10; or &#xA; as UTF-8. */
static void add_character(leati_text *out, unsigned long code) {
    char bytes[4];
    size_t n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char first[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = n; i-- > 1; code >>= 6)
        bytes[i] = (char)(0x80 | (code & 0x3f));
    bytes[0] = (char)(first[n] | code);
    leati_text_add(out, bytes, n);
}

/* The value of a digit of %XX; -1: it is none. */
static int digit_of(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* The length of &#65; or &#x41; at the start of a text, and its number; 0: it is none. */
static size_t number_at(const char *text, unsigned long *out) {
    bool is_hex = strncmp(text, "&#x", 3) == 0;
    const char *digits = text + (is_hex ? 3 : 2);
    char *end = NULL;
    /* strtoul would take spaces and signs, too. */
    if (strncmp(text, "&#", 2) != 0 || digit_of(*digits) < 0)
        return 0;
    *out = strtoul(digits, &end, is_hex ? 16 : 10);
    bool is_good = *end == ';' && end > digits && *out > 0 && *out <= 0x10ffff;
    return is_good ? (size_t)(end - text) + 1 : 0;
}

/* An entity at `at`, up to `end`; returns its length, 0 where it is none. */
static size_t add_entity(leati_text *out, const char *at, const char *end) {
    static const struct {
        const char *name;
        char byte;
    } named[] = {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}};
    char text[16];
    size_t n = LEATI_MIN((size_t)(end - at), sizeof text - 1);
    memcpy(text, at, n);
    text[n] = '\0';
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
        size_t length = strlen(named[i].name);
        if (strncmp(text, named[i].name, length) == 0) {
            leati_text_add(out, &named[i].byte, 1);
            return length;
        }
    }
    unsigned long code = 0;
    size_t length = number_at(text, &code);
    if (length > 0)
        add_character(out, code);
    return length;
}

static char *without_entities(const char *text, size_t size) {
    leati_text out = {0};
    leati_text_add(&out, "", 0);
    for (const char *at = text, *end = text + size; at < end;) {
        size_t n = *at == '&' ? add_entity(&out, at, end) : 0;
        if (n == 0)
            leati_text_add(&out, at, n = 1);
        at += n;
    }
    return leati_text_take(&out);
}

char *leati_s3_element(const char *text, size_t size, const char *name) {
    const char *content = NULL;
    size_t n = 0;
    return next_element(&text, text + size, name, &content, &n) ? without_entities(content, n)
                                                                : NULL;
}

/* ---- lists ---- */

/* Keys are listed as URLs have them (encoding-type=url); decodes in place. */
static void decode(char *text) {
    char *to = text;
    for (const char *at = text; *at; at++) {
        int high = *at == '%' ? digit_of(at[1]) : -1;
        int low = high >= 0 ? digit_of(at[2]) : -1;
        if (low >= 0)
            at += 2;
        *to++ = low >= 0 ? (char)(high * 16 + low) : *at == '+' ? ' ' : *at;
    }
    *to = '\0';
}

/* A listing under way. */
typedef struct listing {
    const char *prefix;
    leati_list_function function;
    void *context;
    int64_t count;
} listing;

static leat_status give_name(listing *l, char *key, leati_path_kind kind, leat_error *err) {
    size_t prefix = strlen(l->prefix);
    decode(key);
    if (strncmp(key, l->prefix, prefix) != 0)
        return LEAT_OK;
    char *name = key + prefix;
    size_t n = strlen(name);
    if (kind == LEATI_PATH_FOLDER && n > 0 && name[n - 1] == '/')
        name[--n] = '\0';
    l->count++;
    /* The mark of the folder itself has no name in it. */
    if (n == 0 || strchr(name, '/') != NULL || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return LEAT_OK;
    return l->function(l->context, name, kind, err);
}

/* Gives out the names `inner` in all elements `outer`. */
static leat_status give_names(listing *l, const char *text, size_t size, const char *outer,
                              const char *inner, leati_path_kind kind, leat_error *err) {
    const char *at = text, *content = NULL;
    size_t n = 0;
    while (next_element(&at, text + size, outer, &content, &n)) {
        char *key = leati_s3_element(content, n, inner);
        if (key == NULL)
            return leati_fail(err, LEAT_DATA_LOSS, "the server's list has <%s> without <%s>", outer,
                              inner);
        leat_status status = give_name(l, key, kind, err);
        leati_free(key);
        LEATI_TRY(status);
    }
    return LEAT_OK;
}

leat_status leati_s3_read_list(const char *text, size_t size, const char *prefix,
                               leati_list_function function, void *context, char **next,
                               int64_t *count, leat_error *err) {
    static const char root[] = "<ListBucketResult";
    listing l = {prefix, function, context, 0};
    *next = NULL;
    if (memmem(text, size, root, sizeof root - 1) == NULL)
        return leati_fail(err, LEAT_DATA_LOSS,
                          "the server's answer is no list of S3; check the endpoint "
                          "(AWS_ENDPOINT_URL_S3)");
    LEATI_TRY(give_names(&l, text, size, "Contents", "Key", LEATI_PATH_FILE, err));
    LEATI_TRY(give_names(&l, text, size, "CommonPrefixes", "Prefix", LEATI_PATH_FOLDER, err));
    *count += l.count;
    char *truncated = leati_s3_element(text, size, "IsTruncated");
    bool goes_on = truncated != NULL && strcmp(truncated, "true") == 0;
    leati_free(truncated);
    if (!goes_on)
        return LEAT_OK;
    *next = leati_s3_element(text, size, "NextContinuationToken");
    return *next != NULL ? LEAT_OK
                         : leati_fail(err, LEAT_DATA_LOSS,
                                      "the server's list goes on, and does not say where");
}
