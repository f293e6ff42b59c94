/* What an attempt at a request came to: done, failed for good, or to be tried again; see net.h.
 *
 * Failures get TensorFlow's code for the same answer of a server, and a text with what it said, how
 * often it was asked, and one way out. What servers write is a stranger's text: control characters
 * in it are shown as '?', and it is cut. No locks: all of it is the thread's. */
#include "base/clock.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/minmax.h"
#include "file/net_private.h"
#include <stdio.h>
#include <string.h>

enum {
    FIRST_DELAY_MS = 100,
    LONGEST_DELAY_MS = 10000,
    LONGEST_RETRY_AFTER_S = 60,
    RESOLVE_ATTEMPTS = 2,
    TEXT_BYTES = 300
};

/* ---- what was said ---- */

/* Copies a stranger's text. */
static void copy_clean(char *to, size_t room, const char *from, size_t size) {
    size_t n = LEATI_MIN(size, room - 1);
    for (size_t i = 0; i < n; i++)
        to[i] = from[i] >= ' ' && from[i] <= '~' ? from[i] : '?';
    to[n] = '\0';
}

/* The text of the first XML element of a name. */
static void element_of(const leati_net_request *request, const char *name, char *to, size_t room) {
    char tag[32];
    int n = snprintf(tag, sizeof tag, "<%s>", name);
    const char *from = strstr(request->said, tag);
    to[0] = '\0';
    if (from == NULL)
        return;
    from += n;
    copy_clean(to, room, from, strcspn(from, "<"));
}

/* The text of the first member of a name in JSON. */
static void member_of(const leati_net_request *request, const char *name, char *to, size_t room) {
    char word[32];
    (void)snprintf(word, sizeof word, "\"%s\":", name);
    const char *from = strstr(request->said, word);
    to[0] = '\0';
    from = from != NULL ? strchr(from + strlen(word), '"') : NULL;
    if (from != NULL)
        copy_clean(to, room, from + 1, strcspn(from + 1, "\""));
}

/* "the server answered 503 (SlowDown: Please reduce ...)" */
static void say_answer(const leati_net_request *request, char *to, size_t room) {
    char code[100], words[160];
    element_of(request, "Code", code, sizeof code);
    element_of(request, "Message", words, sizeof words);
    if (code[0] == '\0')
        member_of(request, "message", code, sizeof code);
    int n = snprintf(to, room, "the server answered %d", request->seen.status);
    if (code[0] != '\0')
        (void)snprintf(to + n, room - (size_t)n, " (%s%s%s)", code, words[0] != '\0' ? ": " : "",
                       words);
}

/* ", 6 times in 3.4 s" */
static void say_attempts(const leati_net_request *request, char *to, size_t room) {
    to[0] = '\0';
    if (request->attempts > 1)
        (void)snprintf(to, room, ", %d times in %.1f s", request->attempts,
                       (double)(leati_now_ns() - request->began_ns) * 1e-9);
}

static leati_net_state fail(leati_net_request *request, leat_status code, const char *what,
                            const char *advice) {
    char attempts[64];
    say_attempts(request, attempts, sizeof attempts);
    if (request->error.code == LEAT_OK)
        (void)leati_fail_in_file(&request->error, code, request->path, -1, false, "%s%s; %s", what,
                                 attempts, advice);
    return LEATI_NET_DONE;
}

/* ---- trying again ---- */

/* Twice as long each time, less up to half of it, so that many clients do not come back together;
 * as long as the server says, if it does. */
static int64_t delay_ns(const leati_net_request *request) {
    int64_t now = leati_now_ns();
    int doublings = LEATI_MIN(request->attempts - 1, 10);
    int64_t most_ms = LEATI_MIN((int64_t)FIRST_DELAY_MS << doublings, LONGEST_DELAY_MS);
    uint64_t drawn = leati_hash(&now, sizeof now, (uint64_t)(uintptr_t)request);
    int64_t delay = most_ms * 1000000 - (int64_t)(drawn % (uint64_t)(most_ms * 500000));
    int64_t said_s = LEATI_MIN(request->retry_after_s, LONGEST_RETRY_AFTER_S);
    return LEATI_MAX(delay, said_s * 1000000000);
}

static bool may_try_again(leati_net_request *request, int most) {
    if (request->error.code != LEAT_OK || request->attempts > most)
        return false;
    request->wake_ns = leati_now_ns() + delay_ns(request);
    return true;
}

/* ---- answers ---- */

static bool is_passing(const leati_net_request *request) {
    switch (request->seen.status) {
    case 408:
    case 429:
    case 500:
    case 502:
    case 503:
    case 504: return true;
    case 400: return strstr(request->said, "<Code>RequestTimeout<") != NULL;
    default: return false;
    }
}

static leati_net_state judge_status(leati_net_request *request) {
    char what[TEXT_BYTES];
    int status = request->seen.status;
    say_answer(request, what, sizeof what);
    if (is_passing(request))
        return may_try_again(request, request->settings.retries)
                   ? LEATI_NET_SLEEPING
                   : fail(request, LEAT_UNAVAILABLE, what,
                          "try later, or more often (LEAT_REMOTE_RETRIES)");
    switch (status) {
    case 401:
    case 403:
    case 407: return fail(request, LEAT_PERMISSION_DENIED, what, request->rights);
    case 404:
    case 410: return fail(request, LEAT_NOT_FOUND, what, "check the name");
    case 416: return fail(request, LEAT_OUT_OF_RANGE, what, "it is shorter than it was");
    case 400:
    case 405:
    case 411:
    case 414: return fail(request, LEAT_INVALID_ARGUMENT, what, "check the URL");
    case 301:
    case 302:
    case 303:
    case 304:
    case 307:
    case 308:
    case 412:
        return fail(request, LEAT_FAILED_PRECONDITION, what,
                    "check the endpoint and the region, or name the place that it leads to");
    case 501: return fail(request, LEAT_UNIMPLEMENTED, what, "use another server");
    default: return fail(request, LEAT_UNAVAILABLE, what, "try later");
    }
}

/* ---- connections ---- */

static leati_net_state try_again(leati_net_request *request, CURLcode code, const char *what) {
    int most = request->settings.retries;
    if (code == CURLE_COULDNT_RESOLVE_HOST || code == CURLE_COULDNT_RESOLVE_PROXY)
        most = LEATI_MIN(most, RESOLVE_ATTEMPTS - 1);
    if (may_try_again(request, most))
        return LEATI_NET_SLEEPING;
    return fail(request, LEAT_UNAVAILABLE, what,
                code == CURLE_OPERATION_TIMEDOUT
                    ? "try later, or wait longer (LEAT_REMOTE_TIMEOUT, in seconds)"
                    : "check the host's name and the network, or try later");
}

static leati_net_state judge_connection(leati_net_request *request, CURLcode code) {
    char what[CURL_ERROR_SIZE + 64], words[CURL_ERROR_SIZE];
    const char *said = request->failure[0] != '\0' ? request->failure : curl_easy_strerror(code);
    copy_clean(words, sizeof words, said, strlen(said));
    (void)snprintf(what, sizeof what, "the server cannot be read: %s", words);
    switch (code) {
    case CURLE_OUT_OF_MEMORY: (void)leati_no_memory(&request->error); return LEATI_NET_DONE;
    case CURLE_TOO_MANY_REDIRECTS:
        return fail(request, LEAT_FAILED_PRECONDITION, what, "name the place that they lead to");
    case CURLE_UNSUPPORTED_PROTOCOL:
        return fail(request, LEAT_FAILED_PRECONDITION, what,
                    "redirects lead to http and https, and from https to https alone");
    case CURLE_URL_MALFORMAT: return fail(request, LEAT_INVALID_ARGUMENT, what, "check the URL");
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
        return fail(request, LEAT_FAILED_PRECONDITION, what,
                    "name its authority's certificate in CURL_CA_BUNDLE or SSL_CERT_FILE");
    default: return try_again(request, code, what);
    }
}

/* All bytes came by which the attempt was to end. */
static leati_net_state judge_bytes(leati_net_request *request) {
    char what[TEXT_BYTES];
    size_t have = atomic_load(&request->received);
    int64_t expected =
        request->answer.is_range || request->wanted >= 0 ? (int64_t)request->room : request->length;
    if (request->method != LEATI_NET_GET || expected < 0 || (int64_t)have >= expected)
        return LEATI_NET_DONE;
    (void)snprintf(what, sizeof what, "the answer ended after %zu of %lld bytes", have,
                   (long long)expected);
    return may_try_again(request, request->settings.retries)
               ? LEATI_NET_SLEEPING
               : fail(request, LEAT_DATA_LOSS, what, "ask another server");
}

/* Did the attempt end because all that was asked for is there? */
static bool has_enough(const leati_net_request *request) {
    return request->judged && request->seen.status == 200 && request->wanted >= 0 &&
           (int64_t)atomic_load(&request->received) == request->wanted;
}

leati_net_state leati_net_transfer_judge(leati_net_request *request, CURLcode code) {
    leati_net_state state = LEATI_NET_DONE;
    bool has_status = request->seen.status != 0;
    bool is_good = leati_net_is_good(request);
    if (code == CURLE_OK && !request->judged)
        (void)leati_net_transfer_head(request);
    if (request->error.code == LEAT_OK) {
        /* The head of a failure counts also where its body was not read to its end. */
        if (code == CURLE_OK && is_good)
            state = judge_bytes(request);
        else if (has_status && !is_good && (code == CURLE_OK || code == CURLE_WRITE_ERROR))
            state = judge_status(request);
        else if (code != CURLE_WRITE_ERROR || !has_enough(request))
            state = judge_connection(request, code);
    }
    /* Who waits may read a good answer already. */
    if (state == LEATI_NET_DONE && request->answer.status == 0)
        request->answer = request->seen;
    return state;
}
