/* Server-sent events: one text per state, shared by all streams.
 *
 * A stream that has sent what there is is suspended and costs nothing. One that is still sending
 * when the next state comes passes over it, as the state after that tells all that matters; if it
 * takes longer than the deadline it is cut. So a stream holds one event at most. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/minmax.h"
#include "core/json.h"
#include "web/parts.h"
#include <string.h>
#include <time.h>

/* How long a browser waits before it connects again. */
#define RETRY_MS 1000

static int64_t deadline(const leati_web *web) {
    return web->now_ns + LEATI_WEB_REQUEST_MS * INT64_C(1000000);
}

void leati_web_event_drop(leati_web_event *event) {
    if (event != NULL && --event->users == 0)
        leati_free(event);
}

static leati_web_event *make_event(leati_text *text) {
    leati_web_event *event = text->failed ? NULL : leati_alloc(1, sizeof *event + text->size);
    if (event != NULL) {
        event->users = 1;
        event->size = text->size;
        memcpy(event->text, text->data, text->size);
    }
    leati_text_fini(text);
    return event;
}

static void add_state(const leati_web *web, leati_text *text) {
    if (web->state != NULL)
        leati_text_addf(text, "event: state\ndata: %s\n\n", web->state);
}

/* The next piece of a stream; none: it sleeps until there is another event. */
static ssize_t read_stream(void *context, uint64_t position, char *out, size_t room) {
    (void)position;
    leati_web_connection *c = context;
    leati_web *web = c->web;
    if (atomic_load(&web->stopping))
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (c->event == NULL) {
        c->waits = true;
        c->deadline_ns = LEATI_NO_DEADLINE;
        MHD_suspend_connection(c->connection);
        return 0;
    }
    size_t size = LEATI_MIN(room, c->event->size - c->sent);
    memcpy(out, c->event->text + c->sent, size);
    c->sent += size;
    if (c->sent == c->event->size) {
        leati_web_event_drop(c->event);
        c->event = NULL;
    }
    return (ssize_t)size;
}

static void wake_stream(leati_web_connection *c) {
    c->waits = false;
    c->deadline_ns = deadline(c->web);
    MHD_resume_connection(c->connection);
}

struct MHD_Response *leati_web_stream(leati_web *web, leati_web_connection *to) {
    leati_text text = {0};
    leati_text_addf(&text, "retry: %d\nevent: history\ndata: ", RETRY_MS);
    leati_web_history_write(&web->history, web->interval_ms, &text);
    leati_text_addf(&text, "\n\n");
    add_state(web, &text);
    leati_web_event *event = make_event(&text);
    struct MHD_Response *response =
        event == NULL
            ? NULL
            : MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 16384, read_stream, to, NULL);
    if (response == NULL) {
        leati_web_event_drop(event);
        return NULL;
    }
    to->event = event;
    to->sent = 0;
    to->streams = true;
    to->deadline_ns = deadline(web);
    web->num_streams++;
    return response;
}

static void send_state(leati_web *web) {
    leati_text text = {0};
    if (web->num_streams == 0)
        return;
    add_state(web, &text);
    leati_web_event *event = make_event(&text);
    if (event == NULL)
        return; /* the next state may find memory */
    for (leati_web_connection *c = web->connections; c != NULL; c = c->next) {
        if (!c->waits)
            continue;
        event->users++;
        c->event = event;
        c->sent = 0;
        wake_stream(c);
    }
    leati_web_event_drop(event);
}

void leati_web_streams_end(leati_web *web) {
    for (leati_web_connection *c = web->connections; c != NULL; c = c->next)
        if (c->waits)
            wake_stream(c);
}

/* Milliseconds since 1970 for states that say none. */
static int64_t clock_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Takes one state: its totals and, as one line, its text. False where it is no object. */
static bool take_state(leati_web *web, const leati_text *text, leat_error *err) {
    json_t *state = leati_json_parse(text->size > 0 ? text->data : "", text->size, err);
    bool object = json_is_object(state);
    char *line = object ? leati_json_print(state, 0, false, err) : NULL;
    if (object && line != NULL) {
        const json_t *now = json_object_get(state, "now_ms");
        leati_web_history_add(&web->history,
                              json_is_integer(now) ? json_integer_value(now) : clock_ms(),
                              json_object_get(state, "totals"));
        leati_free(web->state);
        web->state = line;
    }
    json_decref(state);
    return object;
}

void leati_web_sample(leati_web *web) {
    leati_text text = {0};
    leat_error err = {0};
    if (web->source.state == NULL)
        return;
    web->source.state(web->source.context, &text);
    bool failed = text.failed, taken = !failed && take_state(web, &text, &err);
    leati_text_fini(&text);
    if (taken) {
        send_state(web);
    } else if (!failed && err.code != LEAT_RESOURCE_EXHAUSTED && !web->told) {
        web->told = true;
        leati_log(LEAT_LOG_ERROR,
                  "the state for the web page is no JSON object, so it is not shown: %s",
                  err.code != LEAT_OK ? err.text : "it is another value");
    }
}
