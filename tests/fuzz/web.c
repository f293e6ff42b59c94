/* Requests to the web page: whatever bytes come, cut into reads as they may be, the server goes on,
 * acts only for who has the token, and shows figures to nobody else.
 *
 * The first byte says whether a token is set and how the rest is cut; the rest is what a client
 * sends. A server without a thread is turned on a clock that stands still. */
#include "base/alloc.h"
#include "fuzz.h"
#include <string.h>

#define TOKEN "s3cret"
#define SECRET "elements_of_the_owner"

#ifdef LEATI_HAVE_MICROHTTPD

#include "web/parts.h"
#include <sys/socket.h>
#include <unistd.h>

enum { ROUNDS = 64, MOST_ANSWER = 1 << 18, SECOND = 1000000000 };

static int acts;

static void write_state(void *context, leati_text *json) {
    (void)context;
    leati_text_addf(json, "{\"kind\":\"service\",\"name\":\"" SECRET "\",\"totals\":{\"x\":1}}");
}

static void write_metrics(void *context, leati_text *text) {
    (void)context;
    leati_text_addf(text, SECRET " 1\n");
}

static bool is_ready(void *context, leati_text *why_not) {
    (void)context;
    leati_text_addf(why_not, "not yet");
    return false;
}

static leat_status act(void *context, const char *action, const char *argument, leat_error *err) {
    (void)context;
    (void)err;
    for (const char *at = action; *at != '\0'; at++)
        if ((unsigned char)*at < ' ')
            fuzz_broken("an action has the control character %d", *at);
    for (const char *at = argument; *at != '\0'; at++)
        if ((unsigned char)*at < ' ')
            fuzz_broken("an argument has the control character %d", *at);
    acts++;
    return LEAT_OK;
}

/* Does the text hold the word, whatever bytes are before it? */
static bool has(const uint8_t *data, size_t size, const char *word) {
    size_t length = strlen(word);
    for (size_t i = 0; i + length <= size; i++)
        if (memcmp(data + i, word, length) == 0)
            return true;
    return false;
}

/* Sends in pieces of at most `piece` bytes, a turn after each, and returns how much was answered;
 * false in `open` once the server has ended the connection. */
static size_t talk(leati_web *web, int end, const uint8_t *data, size_t size, size_t piece,
                   char *answer, bool *open) {
    size_t sent = 0, heard = 0;
    int idle = 0;
    for (int i = 0; i < 4096 && idle < ROUNDS && *open; i++) {
        size_t more = size - sent < piece ? size - sent : piece;
        ssize_t put = more > 0 ? send(end, data + sent, more, MSG_NOSIGNAL | MSG_DONTWAIT) : 0;
        sent += put > 0 ? (size_t)put : 0;
        leati_web_turn(web, SECOND, 0);
        ssize_t got =
            heard < MOST_ANSWER ? read(end, answer + heard, MOST_ANSWER - heard) : MOST_ANSWER;
        *open = got != 0;
        heard += got > 0 && heard < MOST_ANSWER ? (size_t)got : 0;
        idle = put > 0 || got > 0 ? 0 : idle + 1;
        if (heard >= MOST_ANSWER)
            break;
    }
    return heard;
}

static void check(const uint8_t *data, size_t size, bool guarded, const char *answer,
                  size_t heard) {
    if (heard > 0 && (heard < 9 || memcmp(answer, "HTTP/1.", 7) != 0))
        fuzz_broken("an answer of %zu bytes is none of HTTP", heard);
    if (!guarded || has(data, size, TOKEN))
        return;
    if (acts > 0)
        fuzz_broken("an action without the token");
    if (has((const uint8_t *)answer, heard, SECRET))
        fuzz_broken("figures without the token");
}

static void run(const uint8_t *data, size_t size) {
    static char answer[MOST_ANSWER];
    static const size_t pieces[] = {1, 3, 17, 4096};
    int pair[2];
    leat_error err = {0};
    if (size == 0)
        return;
    bool guarded = (data[0] & 1) != 0, open = true;
    const leati_web_options options = {
        .port = 80,
        .token = guarded ? TOKEN : NULL,
        .source = {.state = write_state, .metrics = write_metrics, .ready = is_ready, .act = act}};
    leati_web *web = leati_web_new(&options, &err);
    if (web == NULL)
        return; /* no memory or descriptors */
    acts = 0;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) != 0 ||
        leati_web_adopt(web, pair[0], &err) != LEAT_OK) {
        leati_web_free(web);
        return;
    }
    size_t heard =
        talk(web, pair[1], data + 1, size - 1, pieces[(data[0] >> 1) & 3], answer, &open);
    check(data + 1, size - 1, guarded, answer, heard);
    /* Half a request, and nothing more: the deadline ends it. */
    for (int i = 0; i < 4; i++)
        leati_web_turn(web, SECOND + (LEATI_WEB_REQUEST_MS + 1000) * INT64_C(1000000), 0);
    close(pair[1]);
    for (int i = 0; i < 4; i++)
        leati_web_turn(web, SECOND + (LEATI_WEB_REQUEST_MS + 2000) * INT64_C(1000000), 0);
    if (web->num_connections != 0)
        fuzz_broken("%d connections stay behind", web->num_connections);
    leati_web_free(web);
}

static const char *const requests[] = {
    "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "GET /state HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\r\n",
    "HEAD /metrics HTTP/1.1\r\nHost: [::1]:80\r\nAuthorization: Bearer " TOKEN "\r\n\r\n",
    "GET /events HTTP/1.1\r\nHost: localhost\r\nCookie: leat_80=0123; a=b\r\n\r\n",
    "GET /readyz HTTP/1.0\r\n\r\nGET /healthz HTTP/1.1\r\n\r\n",
    "POST /act HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\nContent-Type: "
    "application/json\r\nContent-Length: 33\r\n\r\n{\"action\":\"drain\",\"argument\":\"w\"}\n",
    "POST /login HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\nContent-Type: "
    "application/x-www-form-urlencoded\r\nContent-Length: 12\r\n\r\ntoken=s3cr%65t",
    "POST /act HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nContent-Type: "
    "application/json\r\n\r\n5\r\n{\"act\r\n0\r\n\r\n",
    "GET /page.js?#%00 HTTP/1.1\r\nHost: evil.example\r\n folded: x\r\n\r\n",
};

static void seeds(void) {
    uint8_t bytes[512];
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++)
        for (int options = 0; options < 8; options += 3) {
            size_t size = strlen(requests[i]);
            bytes[0] = (uint8_t)options;
            memcpy(bytes + 1, requests[i], size);
            fuzz_seed(bytes, size + 1);
        }
}

#else

static void run(const uint8_t *data, size_t size) {
    (void)data;
    (void)size;
}

static void seeds(void) {
    fuzz_seed("\0GET / HTTP/1.1\r\n\r\n", 19);
}

#endif

const fuzz_target fuzz_web = {
    .name = "web",
    .doc = "requests to the web page",
    .run = run,
    .most = 4096,
    .seeds = seeds,
};
