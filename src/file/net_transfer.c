/* One attempt at a request: what libcurl is told, and what servers are believed; see net.h.
 *
 * Happy path: the answer's head says the range that was asked for, and the version that is known;
 * its bytes go into memory of exactly that size.
 * Failures: connections that break, time out or cannot be made, and answers by which a server says
 * that it may work later (408, 429, 500, 502, 503, 504), are tried again, from the byte where the
 * last attempt ended (net_outcome.c). Final are another version, another length, another range,
 * headers without an end, and answers that get too long. No locks: all of it is the thread's. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/minmax.h"
#include "file/net_private.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum {
    MOST_REDIRECTS = 8,
    MOST_HEADER_BYTES = 256 << 10,
    MOST_ERROR_BYTES = 64 << 10,
    BUFFER_BYTES = 512 << 10,
    LONGEST_CONNECT_MS = 10000
};

static bool fail_for_good(leati_net_request *request, leat_status code, const char *what) {
    if (request->error.code == LEAT_OK)
        (void)leati_fail_in_file(&request->error, code, request->path, -1, false, "%s", what);
    return false;
}

/* ---- what the server says before its bytes ---- */

/* The value of a header, without its spaces, where the line is that header's. */
static bool header_is(const char *line, size_t size, const char *name, const char **value,
                      size_t *value_size) {
    size_t n = strlen(name);
    if (size <= n || strncasecmp(line, name, n) != 0 || line[n] != ':')
        return false;
    const char *from = line + n + 1, *end = line + size;
    while (from < end && (*from == ' ' || *from == '\t'))
        from++;
    while (end > from && (end[-1] == '\r' || end[-1] == '\n' || end[-1] == ' '))
        end--;
    *value = from;
    *value_size = (size_t)(end - from);
    return true;
}

/* A number at *text, which is moved behind it; -1: there is none. Bounded by `end`. */
static int64_t take_number(const char **text, const char *end) {
    int64_t number = -1;
    for (; *text < end && **text >= '0' && **text <= '9'; (*text)++) {
        if (number > (INT64_MAX - 9) / 10)
            return -1;
        number = (number < 0 ? 0 : number * 10) + (**text - '0');
    }
    return number;
}

/* "bytes 0-9/100", and "bytes *" "/100" where there is no such range. */
static void take_range(leati_net_request *request, const char *value, size_t size) {
    const char *at = value, *end = value + size;
    if (size < 6 || strncasecmp(value, "bytes ", 6) != 0)
        return;
    at += 6;
    int64_t from = take_number(&at, end), last = -1;
    if (from >= 0 && at < end && *at == '-') {
        at++;
        last = take_number(&at, end);
    } else if (at < end && *at == '*') {
        at++;
    }
    if (from >= 0 && last >= from) {
        request->range_from = from;
        request->range_size = last - from + 1;
    }
    if (at < end && *at == '/') {
        at++;
        request->seen.whole = take_number(&at, end);
    }
}

static void take_version(leati_net_request *request, const char *value, size_t size,
                         bool is_weaker) {
    char *to = request->seen.version;
    if (size == 0 || size >= LEATI_NET_VERSION_BYTES || (is_weaker && *to != '\0'))
        return;
    memcpy(to, value, size);
    to[size] = '\0';
}

/* When it was changed, which stands for the version where there is no other. */
static void take_change(leati_net_request *request, const char *value, size_t size) {
    char text[64];
    if (size >= sizeof text)
        return;
    memcpy(text, value, size);
    text[size] = '\0';
    request->seen.changed = (int64_t)curl_getdate(text, NULL);
    take_version(request, value, size, true);
}

/* "bytes=0-9" of an upload that goes on. */
static void take_kept(leati_net_request *request, const char *value, size_t size) {
    static const char word[] = "bytes=0-";
    const char *at = value + sizeof word - 1;
    if (size >= sizeof word && memcmp(value, word, sizeof word - 1) == 0)
        request->seen.kept = take_number(&at, value + size) + 1;
}

static void take_location(leati_net_request *request, const char *value, size_t size) {
    leati_free(request->location);
    request->location = leati_strndup(value, size);
}

/* A new answer begins: of a redirect's target, behind a proxy's or a provisional one. */
static void begin_answer(leati_net_request *request, const char *line, size_t size) {
    const char *at = memchr(line, ' ', size), *end = line + size;
    request->seen = (leati_net_answer){.whole = -1, .changed = -1};
    request->length = request->range_from = request->range_size = request->retry_after_s = -1;
    if (at != NULL) {
        at++;
        int64_t status = take_number(&at, end);
        request->seen.status = status > 0 && status < 1000 ? (int)status : 0;
    }
}

static size_t on_header(char *line, size_t one, size_t count, void *context) {
    leati_net_request *request = context;
    size_t size = one * count, n = 0;
    const char *value = NULL;
    request->header_bytes += size;
    if (request->header_bytes > MOST_HEADER_BYTES) {
        (void)fail_for_good(request, LEAT_UNAVAILABLE,
                            "the server's answer has more than 256 KiB of headers; ask another "
                            "server");
        return 0;
    }
    if (size > 5 && memcmp(line, "HTTP/", 5) == 0)
        begin_answer(request, line, size);
    else if (header_is(line, size, "Content-Length", &value, &n))
        request->length = take_number(&value, value + n);
    else if (header_is(line, size, "Content-Range", &value, &n))
        take_range(request, value, n);
    else if (header_is(line, size, "ETag", &value, &n))
        take_version(request, value, n, false);
    else if (header_is(line, size, "Last-Modified", &value, &n))
        take_change(request, value, n);
    else if (header_is(line, size, "Range", &value, &n))
        take_kept(request, value, n);
    else if (header_is(line, size, "Location", &value, &n))
        take_location(request, value, n);
    else if (header_is(line, size, "Retry-After", &value, &n))
        request->retry_after_s = take_number(&value, value + n);
    return size;
}

/* ---- may its bytes be taken? ---- */

bool leati_net_is_good(const leati_net_request *request) {
    return (request->seen.status >= 200 && request->seen.status < 300) ||
           (request->is_step && request->seen.status == 308);
}

static bool same_version(leati_net_request *request) {
    const char *now = request->seen.version;
    const char *known =
        *request->answer.version != '\0' ? request->answer.version : request->version;
    char text[700];
    if (*known == '\0' || *now == '\0' || strcmp(known, now) == 0)
        return true;
    (void)snprintf(text, sizeof text,
                   "it was changed while it was read: its version is %.*s, and was %.*s; read it "
                   "again",
                   LEATI_NET_VERSION_BYTES, now, LEATI_NET_VERSION_BYTES, known);
    return fail_for_good(request, LEAT_DATA_LOSS, text);
}

static bool same_whole(leati_net_request *request) {
    int64_t now = request->seen.whole;
    int64_t known = request->answer.whole >= 0 ? request->answer.whole : request->whole;
    char text[200];
    if (known < 0 || now < 0 || known == now)
        return true;
    (void)snprintf(text, sizeof text,
                   "it was changed while it was read: it has %lld bytes, and had %lld; read it "
                   "again",
                   (long long)now, (long long)known);
    return fail_for_good(request, LEAT_DATA_LOSS, text);
}

/* Of an answer with a range: is it the one that was asked for? */
static bool right_range(leati_net_request *request, int64_t from) {
    int64_t left = request->from + request->wanted - from, whole = request->seen.whole;
    int64_t end = whole >= 0 ? LEATI_MIN(request->from + request->wanted, whole)
                             : request->from + request->wanted;
    char text[300];
    bool is_asked = request->range_from == from && request->range_size <= left &&
                    (whole < 0 || request->range_size == end - from);
    if (is_asked && (request->length < 0 || request->length == request->range_size))
        return true;
    (void)snprintf(text, sizeof text,
                   "the server answered %lld bytes from byte %lld on, as a body of %lld, expected "
                   "%lld from byte %lld; ask another server",
                   (long long)request->range_size, (long long)request->range_from,
                   (long long)request->length, (long long)(end - from), (long long)from);
    return fail_for_good(request, LEAT_DATA_LOSS, text);
}

/* Makes room for `size` bytes in all. */
static bool make_room(leati_net_request *request, size_t size) {
    if (size <= request->room)
        return true;
    uint8_t *larger = request->data != NULL           ? leati_alloc_resize(request->data, size, 1)
                      : size == LEATI_NET_PIECE_BYTES ? leati_net_piece_take(request->engine)
                                                      : leati_alloc(size, 1);
    if (larger == NULL) {
        (void)leati_no_memory(&request->error);
        return false;
    }
    request->data = larger;
    request->room = size;
    return true;
}

static bool not_too_long(leati_net_request *request, uint64_t size) {
    char text[200];
    if (size <= request->most)
        return true;
    (void)snprintf(text, sizeof text,
                   "the server gives no ranges, and its answer has more than %llu bytes; copy it "
                   "to a file first",
                   (unsigned long long)request->most);
    return fail_for_good(request, LEAT_UNIMPLEMENTED, text);
}

/* All of it comes, whether a part was asked for or not. */
static bool take_whole(leati_net_request *request, int64_t from) {
    leati_net_answer *seen = &request->seen;
    seen->whole = request->length;
    if (!same_whole(request))
        return false;
    request->skip = from;
    /* Who knows nothing yet gets all of it; who knows the rest gets what was asked for. */
    if (request->from == 0 && request->whole < 0)
        request->wanted = -1;
    if (request->wanted >= 0)
        return make_room(request, (size_t)request->wanted);
    return request->length < 0 || request->method == LEATI_NET_HEAD ||
           (not_too_long(request, (uint64_t)request->length) &&
            make_room(request, (size_t)request->length));
}

bool leati_net_transfer_head(leati_net_request *request) {
    int64_t from = request->from + (int64_t)atomic_load(&request->received);
    bool is_first = request->answer.status == 0;
    request->judged = true;
    request->skip = 0;
    if (!leati_net_is_good(request))
        return true;
    request->seen.is_range = request->seen.status == 206;
    if (!same_version(request) || !same_whole(request))
        return false;
    bool is_right =
        request->seen.is_range && request->wanted >= 0
            ? right_range(request, from) &&
                  make_room(request, (size_t)(from - request->from + request->range_size))
            : take_whole(request, from);
    /* Who waits reads it once bytes are there, so it stays. */
    if (is_right && is_first)
        request->answer = request->seen;
    return is_right;
}

static size_t take_said(leati_net_request *request, const char *data, size_t size) {
    size_t n = LEATI_MIN(size, sizeof request->said - 1 -
                                   LEATI_MIN(request->said_size, sizeof request->said - 1));
    memcpy(request->said + LEATI_MIN(request->said_size, sizeof request->said - 1), data, n);
    request->said_size += size;
    /* Nobody reads more of it. */
    return request->said_size > MOST_ERROR_BYTES ? 0 : size;
}

static size_t on_bytes(char *data, size_t one, size_t count, void *context) {
    leati_net_request *request = context;
    size_t size = one * count, given = size;
    if (!request->judged && !leati_net_transfer_head(request))
        return 0;
    if (!leati_net_is_good(request))
        return take_said(request, data, size);
    size_t passed = (size_t)LEATI_MIN(request->skip, (int64_t)size);
    request->skip -= (int64_t)passed;
    data += passed;
    size -= passed;
    size_t have = atomic_load(&request->received);
    if (request->wanted < 0 && have + size > request->room &&
        (!not_too_long(request, have + size) ||
         !make_room(request, LEATI_MAX(have + size, 2 * request->room))))
        return 0;
    size_t taken = LEATI_MIN(size, request->room - have);
    memcpy(request->data + have, data, taken);
    atomic_store(&request->received, have + taken);
    /* Less ends the attempt: all that was asked for is there. */
    return taken == size ? given : 0;
}

/* ---- beginning ---- */

/* Where the authorities of TLS are, on systems whose libcurl was built for another one. */
static const char *find_authorities(void) {
    static const char *const names[] = {"CURL_CA_BUNDLE", "AWS_CA_BUNDLE", "SSL_CERT_FILE"};
    static const char *const files[] = {"/etc/ssl/certs/ca-certificates.crt",
                                        "/etc/pki/tls/certs/ca-bundle.crt",
                                        "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *given = getenv(names[i]);
        if (given != NULL && *given != '\0')
            return given;
    }
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        if (access(files[i], R_OK) == 0)
            return files[i];
    return NULL;
}

bool leati_net_add_header(leati_net_request *request, const char *text) {
    struct curl_slist *longer = curl_slist_append(request->headers, text);
    if (longer != NULL)
        request->headers = longer;
    return longer != NULL;
}

static bool add_content_type(leati_net_request *request) {
    char text[100];
    (void)snprintf(text, sizeof text, "Content-Type: %s", request->content_type);
    return leati_net_add_header(request, text);
}

static bool set_method(leati_net_request *request) {
    static const char *const names[] = {"GET", "HEAD", "PUT", "POST", "DELETE"};
    CURL *easy = request->easy;
    bool done = true;
    if (request->method == LEATI_NET_HEAD)
        return curl_easy_setopt(easy, CURLOPT_NOBODY, 1L) == CURLE_OK;
    if (request->method == LEATI_NET_GET)
        return true;
    if (request->method != LEATI_NET_DELETE) {
        const void *body = request->body != NULL ? request->body : (const uint8_t *)"";
        done = curl_easy_setopt(easy, CURLOPT_POST, 1L) == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
                                (curl_off_t)request->body_size) == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body) == CURLE_OK &&
               /* Nobody waits for leave to send. Asking for none would be signed, and not sent. */
               curl_easy_setopt(easy, CURLOPT_EXPECT_100_TIMEOUT_MS, 1L) == CURLE_OK &&
               add_content_type(request);
    }
    return done &&
           curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, names[request->method]) == CURLE_OK;
}

bool leati_net_range(const leati_net_request *request, char out[LEATI_NET_RANGE_BYTES]) {
    int64_t from = request->from + (int64_t)atomic_load(&request->received);
    if (request->wanted < 0)
        return false;
    (void)snprintf(out, LEATI_NET_RANGE_BYTES, "%lld-%lld", (long long)from,
                   (long long)(request->from + request->wanted - 1));
    return true;
}

static bool set_range(leati_net_request *request) {
    char range[LEATI_NET_RANGE_BYTES];
    return !leati_net_range(request, range) ||
           curl_easy_setopt(request->easy, CURLOPT_RANGE, range) == CURLE_OK;
}

/* Where redirects lead: never from TLS into the clear, and nowhere with a signature. */
static void set_redirects(leati_net_request *request) {
    bool is_safe = strncmp(request->url, "https:", 6) == 0;
    bool is_unsigned = request->signer.kind == LEATI_NET_UNSIGNED;
    (void)curl_easy_setopt(request->easy, CURLOPT_PROTOCOLS_STR, "http,https");
    (void)curl_easy_setopt(request->easy, CURLOPT_REDIR_PROTOCOLS_STR,
                           is_safe ? "https" : "http,https");
    (void)curl_easy_setopt(request->easy, CURLOPT_FOLLOWLOCATION,
                           is_unsigned && !request->is_step ? 1L : 0L);
    (void)curl_easy_setopt(request->easy, CURLOPT_MAXREDIRS, (long)MOST_REDIRECTS);
    /* Passwords of hosts, for redirects too, each its own. */
    (void)curl_easy_setopt(request->easy, CURLOPT_NETRC,
                           is_unsigned ? (long)CURL_NETRC_OPTIONAL : (long)CURL_NETRC_IGNORED);
}

static void set_patience(leati_net_request *request) {
    int64_t timeout_ms = request->settings.timeout_ms;
    CURL *easy = request->easy;
    (void)curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    (void)curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
                           (long)LEATI_MIN(timeout_ms, LONGEST_CONNECT_MS));
    /* Curl counts whole seconds of less than so many bytes each. */
    (void)curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
    (void)curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, (long)((timeout_ms + 999) / 1000));
    (void)curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, (long)BUFFER_BYTES);
    /* Several connections are what makes it fast, not several streams over one. */
    (void)curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    (void)curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    (void)curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
}

static bool set_all(leati_net_request *request) {
    CURL *easy = request->easy;
    const char *authorities = find_authorities();
    char agent[64];
    (void)snprintf(agent, sizeof agent, "leat/%s", leat_version());
    set_redirects(request);
    set_patience(request);
    (void)curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, request->failure);
    (void)curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    (void)curl_easy_setopt(easy, CURLOPT_HEADERDATA, request);
    (void)curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_bytes);
    (void)curl_easy_setopt(easy, CURLOPT_WRITEDATA, request);
    (void)curl_easy_setopt(easy, CURLOPT_PRIVATE, request);
    (void)curl_easy_setopt(easy, CURLOPT_USERAGENT, agent);
    if (authorities != NULL)
        (void)curl_easy_setopt(easy, CURLOPT_CAINFO, authorities);
    return curl_easy_setopt(easy, CURLOPT_URL, request->url) == CURLE_OK && set_method(request) &&
           set_range(request) && leati_net_sign(request) &&
           (request->header == NULL || leati_net_add_header(request, request->header)) &&
           (request->headers == NULL ||
            curl_easy_setopt(easy, CURLOPT_HTTPHEADER, request->headers) == CURLE_OK);
}

bool leati_net_transfer_begin(leati_net_request *request) {
    if (request->attempts++ == 0)
        request->began_ns = leati_now_ns();
    request->judged = false;
    request->header_bytes = request->said_size = 0;
    memset(request->said, 0, sizeof request->said);
    memset(request->failure, 0, sizeof request->failure);
    begin_answer(request, "", 0);
    request->easy = curl_easy_init();
    if (request->easy != NULL && set_all(request))
        return true;
    (void)leati_no_memory(&request->error);
    return false;
}

void leati_net_transfer_drop(leati_net_request *request) {
    if (request->easy != NULL)
        curl_easy_cleanup(request->easy);
    if (request->headers != NULL)
        curl_slist_free_all(request->headers);
    request->easy = NULL;
    request->headers = NULL;
}
