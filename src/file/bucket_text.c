/* Texts of object stores: names in URLs and lists of XML; see bucket.h.
 *
 * Happy path: lists are XML of a fixed form, whose elements are looked for by name, one in the
 * other. Failures: endpoints that are no URL, lists that are none. What stands in a list is a
 * stranger's: a name with a slash or a zero byte in it is passed over. Locks: none. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/minmax.h"
#include "file/bucket.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- URLs and the environment ---- */

void leati_bucket_encode(leati_text *out, const char *text, bool keeps_slash) {
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~";
    for (; *text; text++)
        if (strchr(plain, *text) != NULL || (keeps_slash && *text == '/'))
            leati_text_add(out, text, 1);
        else
            leati_text_addf(out, "%%%02X", (unsigned char)*text);
}

leat_status leati_bucket_check_endpoint(char *url, const char *what, leat_error *err) {
    if (url == NULL)
        return LEAT_OK;
    size_t scheme = strncmp(url, "https://", 8) == 0 ? 8 : strncmp(url, "http://", 7) == 0 ? 7 : 0;
    if (scheme == 0 || url[scheme] == '\0' || strpbrk(url, "?#@ ") != NULL)
        return leati_refuse(err, VALUE,
                            "the endpoint is \"%.200s\"; expected http:// or https:// and a host "
                            "(%s)",
                            strchr(url, '@') != NULL ? "..." : url, what);
    for (size_t n = strlen(url); n > 0 && url[n - 1] == '/'; n--)
        url[n - 1] = '\0';
    return LEAT_OK;
}

const char *leati_bucket_variable(const char *const *names) {
    for (; *names != NULL; names++) {
        const char *value = getenv(*names);
        if (value != NULL && *value != '\0')
            return value;
    }
    return NULL;
}

leat_status leati_bucket_set(char **to, const char *value, leat_error *err) {
    if (*to != NULL || value == NULL)
        return LEAT_OK;
    *to = leati_strdup(value);
    return *to != NULL ? LEAT_OK : leati_no_memory(err);
}

/* ---- XML ---- */

/* The content of the first element `name` in [*from, to), which is moved behind it. */
bool leati_bucket_next_element(const char **from, const char *to, const char *name,
                               const char **content, size_t *size) {
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

char *leati_bucket_element(const char *text, size_t size, const char *name) {
    const char *content = NULL;
    size_t n = 0;
    return leati_bucket_next_element(&text, text + size, name, &content, &n)
               ? without_entities(content, n)
               : NULL;
}

/* ---- lists ---- */

void leati_bucket_decode(char *text) {
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

leat_status leati_bucket_give_name(leati_bucket_listing *l, char *key, leati_path_kind kind,
                                   leat_error *err) {
    size_t prefix = strlen(l->prefix);
    if (l->is_encoded)
        leati_bucket_decode(key);
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

leat_status leati_bucket_give_names(leati_bucket_listing *l, const char *text, size_t size,
                                    const char *outer, const char *inner, leati_path_kind kind,
                                    leat_error *err) {
    const char *at = text, *content = NULL;
    size_t n = 0;
    while (leati_bucket_next_element(&at, text + size, outer, &content, &n)) {
        char *key = leati_bucket_element(content, n, inner);
        if (key == NULL)
            return leati_fail(err, LEAT_DATA_LOSS, "the server's list has <%s> without <%s>", outer,
                              inner);
        leat_status status = leati_bucket_give_name(l, key, kind, err);
        leati_free(key);
        LEATI_TRY(status);
    }
    return LEAT_OK;
}
