/* What is answered to a request: see the table in web/server.h.
 *
 * Happy path: the table `routes` says who answers a path, by which method, and whether the token is
 * needed; the answer's headers forbid that it is kept, framed, or that anything of another place is
 * loaded into it. A request's body is read whole, up to its bound, before it is looked at.
 * Failures are answers: 400 401 403 404 405 413 415 421 503. Without memory the connection ends. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/minmax.h"
#include "core/json.h"
#include "web/page.h"
#include "web/parts.h"
#include <stdio.h>
#include <string.h>

#define TEXT "text/plain; charset=utf-8"
#define HTML "text/html; charset=utf-8"
#define MARK "{{hidden}}" /* in login.html: hides the sentence about a wrong token */

/* A request in progress. */
typedef struct request {
    leati_text body;
    bool too_large;
} request;

typedef struct call {
    leati_web *web;
    struct MHD_Connection *connection;
    const request *request;
    const char *file; /* of the page, for answer_file */
} call;

typedef struct route {
    const char *path, *method; /* GET stands for HEAD, too */
    bool open;                 /* to whoever has no token */
    bool any_host;
    enum MHD_Result (*answer)(const call *c);
} route;

static const char *header(const call *c, const char *name) {
    return MHD_lookup_connection_value(c->connection, MHD_HEADER_KIND, name);
}

/* ---- sending ---- */

static const struct {
    const char *name, *value;
} headers[] = {
    {"Cache-Control", "no-store"},
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
     "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"X-Frame-Options", "DENY"},
    /* Not "no-referrer", by which a form of the page itself would come from Origin "null". */
    {"Referrer-Policy", "same-origin"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
};

/* Sends `response`, which is given and may be NULL. */
static enum MHD_Result send_response(const call *c, unsigned int status,
                                     struct MHD_Response *response, const char *type) {
    if (response == NULL)
        return MHD_NO;
    bool whole = MHD_add_response_header(response, "Content-Type", type) == MHD_YES;
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++)
        whole = whole && MHD_add_response_header(response, headers[i].name, headers[i].value);
    enum MHD_Result sent = whole ? MHD_queue_response(c->connection, status, response) : MHD_NO;
    MHD_destroy_response(response);
    return sent;
}

static struct MHD_Response *copy_of(const char *text, size_t size) {
    return MHD_create_response_from_buffer(size, (void *)(uintptr_t)text, MHD_RESPMEM_MUST_COPY);
}

static enum MHD_Result send_text(const call *c, unsigned int status, const char *text) {
    char line[LEAT_ERROR_TEXT + 2];
    int size = snprintf(line, sizeof line, "%s\n", text);
    return send_response(c, status, copy_of(line, (size_t)LEATI_MIN(size, (int)sizeof line - 1)),
                         TEXT);
}

/* A text with one more header. */
static enum MHD_Result send_with(const call *c, unsigned int status, const char *name,
                                 const char *value, const char *text) {
    struct MHD_Response *response = copy_of(text, strlen(text));
    if (response != NULL && MHD_add_response_header(response, name, value) != MHD_YES) {
        MHD_destroy_response(response);
        return MHD_NO;
    }
    return send_response(c, status, response, TEXT);
}

/* Sends and empties a text that a callback has written. */
static enum MHD_Result send_written(const call *c, unsigned int status, leati_text *text,
                                    const char *type) {
    size_t size = text->size;
    enum MHD_Result sent =
        text->failed ? MHD_NO
                     : send_response(c, status, copy_of(size > 0 ? text->data : "", size), type);
    leati_text_fini(text);
    return sent;
}

/* ---- the page ---- */

static const leati_web_page_file *find_file(const char *name) {
    for (const leati_web_page_file *file = leati_web_page_files; file->name != NULL; file++)
        if (strcmp(file->name, name) == 0)
            return file;
    return NULL;
}

static const char *type_of(const char *name) {
    const char *end = strrchr(name, '.');
    if (end == NULL || strcmp(end, ".html") == 0)
        return HTML;
    return strcmp(end, ".js") == 0    ? "text/javascript; charset=utf-8"
           : strcmp(end, ".css") == 0 ? "text/css; charset=utf-8"
                                      : "image/svg+xml";
}

static enum MHD_Result send_file(const call *c, const leati_web_page_file *file) {
    return send_response(c, MHD_HTTP_OK,
                         MHD_create_response_from_buffer(file->size, (void *)(uintptr_t)file->text,
                                                         MHD_RESPMEM_PERSISTENT),
                         type_of(file->name));
}

static enum MHD_Result answer_file(const call *c) {
    return send_file(c, find_file(c->file));
}

/* The form that asks for the token; `wrong`: the last one was none. */
static enum MHD_Result send_form(const call *c, bool wrong) {
    const leati_web_page_file *file = find_file("login.html");
    const char *text = (const char *)file->text, *mark = strstr(text, MARK);
    leati_text out = {0};
    size_t before = mark != NULL ? (size_t)(mark - text) : file->size;
    leati_text_add(&out, text, before);
    if (mark != NULL) {
        size_t behind = before + strlen(MARK);
        leati_text_addf(&out, wrong ? "" : "hidden");
        leati_text_add(&out, text + behind, file->size - behind);
    }
    struct MHD_Response *response = out.failed ? NULL : copy_of(out.data, out.size);
    leati_text_fini(&out);
    if (response != NULL &&
        MHD_add_response_header(response, "WWW-Authenticate", "Bearer realm=\"leat\"") != MHD_YES) {
        MHD_destroy_response(response);
        return MHD_NO;
    }
    return send_response(c, MHD_HTTP_UNAUTHORIZED, response, HTML);
}

static bool has_cookie(const call *c) {
    const leati_web_access *access = &c->web->access;
    return leati_web_access_cookie(
        access, MHD_lookup_connection_value(c->connection, MHD_COOKIE_KIND, access->cookie_name));
}

static bool has_bearer(const call *c) {
    return c->web->access.guarded &&
           leati_web_access_bearer(&c->web->access, header(c, "Authorization"));
}

static bool may_read(const call *c) {
    return has_cookie(c) || has_bearer(c);
}

static enum MHD_Result answer_page(const call *c) {
    if (c->web->source.state == NULL)
        return send_text(c, MHD_HTTP_NOT_FOUND, "there is no page here; /metrics has figures");
    if (!may_read(c))
        return send_form(c, false);
    return send_file(c, find_file("index.html"));
}

/* Does a POST come from the page, or from who shows the token in a header? Cookies come with
 * requests that other places make a browser send. */
static bool is_own(const call *c) {
    return has_bearer(c) || leati_web_access_origin(header(c, "Origin"), header(c, "Host"));
}

static enum MHD_Result answer_login(const call *c) {
    const leati_web_access *access = &c->web->access;
    char token[LEATI_WEB_MOST_TOKEN + 1], cookie[256];
    if (!is_own(c))
        return send_text(c, MHD_HTTP_FORBIDDEN, "this form is sent by the page of leat alone");
    const leati_text *body = &c->request->body;
    if (body->size == 0 || !leati_web_access_field(body->data, "token", token, sizeof token) ||
        !leati_web_access_token(access, token))
        return send_form(c, true);
    snprintf(cookie, sizeof cookie, "%s=%s; Path=/; HttpOnly; SameSite=Strict%s",
             access->cookie_name, access->cookie, c->web->certificate != NULL ? "; Secure" : "");
    struct MHD_Response *response = copy_of("", 0);
    if (response != NULL && (MHD_add_response_header(response, "Set-Cookie", cookie) != MHD_YES ||
                             MHD_add_response_header(response, "Location", "./") != MHD_YES)) {
        MHD_destroy_response(response);
        return MHD_NO;
    }
    return send_response(c, MHD_HTTP_SEE_OTHER, response, TEXT);
}

/* ---- figures ---- */

static enum MHD_Result answer_events(const call *c) {
    leati_web *web = c->web;
    if (web->source.state == NULL)
        return send_text(c, MHD_HTTP_NOT_FOUND, "there are no events here");
    leati_web_connection *to = leati_web_connection_of(c->connection);
    if (to == NULL)
        return MHD_NO;
    if (web->num_streams >= LEATI_WEB_MOST_STREAMS)
        return send_with(c, MHD_HTTP_SERVICE_UNAVAILABLE, "Retry-After", "5",
                         "as many pages as may be are connected\n");
    return send_response(c, MHD_HTTP_OK, leati_web_stream(web, to), "text/event-stream");
}

static enum MHD_Result answer_state(const call *c) {
    leati_web *web = c->web;
    if (web->source.state == NULL)
        return send_text(c, MHD_HTTP_NOT_FOUND, "there is no state here");
    if (web->state == NULL)
        return send_with(c, MHD_HTTP_SERVICE_UNAVAILABLE, "Retry-After", "1",
                         "there is no state yet\n");
    return send_response(c, MHD_HTTP_OK, copy_of(web->state, strlen(web->state)),
                         "application/json");
}

static enum MHD_Result answer_metrics(const call *c) {
    leati_text text = {0};
    if (c->web->source.metrics == NULL)
        return send_text(c, MHD_HTTP_NOT_FOUND, "there are no metrics here");
    c->web->source.metrics(c->web->source.context, &text);
    return send_written(c, MHD_HTTP_OK, &text, "text/plain; version=0.0.4; charset=utf-8");
}

static enum MHD_Result answer_health(const call *c) {
    return send_text(c, MHD_HTTP_OK, "ok");
}

static enum MHD_Result answer_ready(const call *c) {
    const leati_web_source *source = &c->web->source;
    leati_text why_not = {0};
    if (source->ready == NULL || source->ready(source->context, &why_not)) {
        leati_text_fini(&why_not);
        return send_text(c, MHD_HTTP_OK, "ready");
    }
    leati_text_addf(&why_not, why_not.size == 0 ? "not ready\n" : "\n");
    return send_written(c, MHD_HTTP_SERVICE_UNAVAILABLE, &why_not, TEXT);
}

/* ---- actions ---- */

/* A member that is a text without control characters; NULL where it is another value. `absent`
 * where there is none. */
static const char *get_text(const json_t *object, const char *name, const char *absent) {
    const json_t *value = json_object_get(object, name);
    if (value == NULL)
        return absent;
    const char *text = json_string_value(value);
    for (const char *at = text; at != NULL && *at != '\0'; at++)
        if ((unsigned char)*at < ' ' || *at == 127)
            return NULL;
    return text != NULL && strlen(text) == json_string_length(value) ? text : NULL;
}

static unsigned int status_of(leat_status code) {
    switch (code) {
    case LEAT_OK: return MHD_HTTP_OK;
    case LEAT_INVALID_ARGUMENT: return MHD_HTTP_BAD_REQUEST;
    case LEAT_NOT_FOUND: return MHD_HTTP_NOT_FOUND;
    case LEAT_FAILED_PRECONDITION: return MHD_HTTP_CONFLICT;
    default: return MHD_HTTP_INTERNAL_SERVER_ERROR;
    }
}

static leat_status act(const call *c, leat_error *err) {
    const leati_text *body = &c->request->body;
    const leati_web_source *source = &c->web->source;
    json_t *json = leati_json_parse(body->size > 0 ? body->data : "", body->size, err);
    if (json == NULL)
        return err->code;
    const char *action = get_text(json, "action", NULL), *argument = get_text(json, "argument", "");
    leat_status status =
        action != NULL && argument != NULL
            ? source->act(source->context, action, argument, err)
            : leati_refuse(err, VALUE,
                           "expected {\"action\": TEXT, \"argument\": TEXT} without control "
                           "characters, such as {\"action\": \"drain\", \"argument\": "
                           "\"10.0.0.7:7001\"}");
    json_decref(json);
    return status;
}

static enum MHD_Result answer_act(const call *c) {
    static const char json[] = "application/json";
    leat_error err = {0};
    if (c->web->source.act == NULL)
        return send_text(c, MHD_HTTP_NOT_FOUND, "there is nothing to do here");
    if (!is_own(c))
        return send_text(c, MHD_HTTP_FORBIDDEN,
                         "an action is asked for by the page of leat, or with `Authorization: "
                         "Bearer TOKEN`; without a token, with `Origin` and the address of leat");
    const char *type = header(c, "Content-Type");
    if (type == NULL || strncmp(type, json, sizeof json - 1) != 0)
        return send_text(c, MHD_HTTP_UNSUPPORTED_MEDIA_TYPE, "expected application/json");
    leat_status status = act(c, &err);
    return send_text(c, status_of(status), status == LEAT_OK ? "ok" : err.text);
}

/* ---- requests ---- */

static const route routes[] = {
    {"/", "GET", true, false, answer_page},
    {"/events", "GET", false, false, answer_events},
    {"/state", "GET", false, false, answer_state},
    {"/metrics", "GET", false, false, answer_metrics},
    {"/act", "POST", false, false, answer_act},
    {"/login", "POST", true, false, answer_login},
    {"/healthz", "GET", true, true, answer_health},
    {"/readyz", "GET", true, true, answer_ready},
};

static const route file_route = {"", "GET", true, false, answer_file};

static const route *find_route(call *c, const char *url) {
    for (size_t i = 0; i < sizeof routes / sizeof routes[0]; i++)
        if (strcmp(routes[i].path, url) == 0)
            return &routes[i];
    const leati_web_page_file *file = url[0] == '/' ? find_file(url + 1) : NULL;
    /* Those with figures, or a mark in them, have paths of their own. */
    if (file == NULL || strstr(file->name, ".html") != NULL)
        return NULL;
    c->file = file->name;
    return &file_route;
}

static bool allows(const route *r, const char *method) {
    return strcmp(method, r->method) == 0 ||
           (strcmp(method, "HEAD") == 0 && strcmp(r->method, "GET") == 0 &&
            r->answer != answer_events);
}

static enum MHD_Result respond(call *c, const char *url, const char *method) {
    const route *r = find_route(c, url);
    if ((r == NULL || !r->any_host) && !leati_web_access_host(&c->web->access, header(c, "Host"))) {
        return send_text(c, MHD_HTTP_MISDIRECTED_REQUEST,
                         "this name is none of leat's; ask for localhost, or an address");
    }
    if (r == NULL)
        return send_text(c, MHD_HTTP_NOT_FOUND, "nothing is here; the page is at /");
    if (!allows(r, method)) {
        return send_with(c, MHD_HTTP_METHOD_NOT_ALLOWED, "Allow", r->method,
                         "this is asked for by another method\n");
    }
    if (!r->open && !may_read(c)) {
        return send_with(c, MHD_HTTP_UNAUTHORIZED, "WWW-Authenticate", "Bearer realm=\"leat\"",
                         "expected the token, as `Authorization: Bearer TOKEN`\n");
    }
    if (c->request->too_large)
        return send_text(c, MHD_HTTP_CONTENT_TOO_LARGE, "the body is too large");
    return r->answer(c);
}

/* Keeps a piece of the body, of which all is zero-terminated text. */
static void take_body(request *r, const char *upload, size_t size) {
    r->too_large = r->too_large || size > LEATI_WEB_MOST_BODY - r->body.size ||
                   memchr(upload, '\0', size) != NULL;
    if (!r->too_large)
        leati_text_add(&r->body, upload, size);
}

enum MHD_Result leati_web_answer(void *context, struct MHD_Connection *connection, const char *url,
                                 const char *method, const char *version, const char *upload,
                                 size_t *size, void **state) {
    (void)version;
    request *r = *state;
    if (r == NULL) {
        *state = leati_alloc_zero(1, sizeof *r);
        /* With more to read than may be, it is not read at all. */
        const char *length =
            MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Content-Length");
        if (*state == NULL)
            return MHD_NO;
        if (length == NULL || strtoull(length, NULL, 10) <= LEATI_WEB_MOST_BODY)
            return MHD_YES;
        const call c = {context, connection, *state, NULL};
        return send_text(&c, MHD_HTTP_CONTENT_TOO_LARGE, "the body is too large");
    }
    if (*size > 0) {
        take_body(r, upload, *size);
        *size = 0;
        return MHD_YES;
    }
    call c = {context, connection, r, NULL};
    return r->body.failed ? MHD_NO : respond(&c, url, method);
}

void leati_web_answered(void *context, struct MHD_Connection *connection, void **state,
                        enum MHD_RequestTerminationCode code) {
    (void)code;
    leati_web *web = context;
    request *r = *state;
    leati_web_connection *c = leati_web_connection_of(connection);
    if (r != NULL)
        leati_text_fini(&r->body);
    leati_free(r);
    *state = NULL;
    /* The next request of the connection has its own time. */
    if (c != NULL)
        c->deadline_ns = web->now_ns + LEATI_WEB_REQUEST_MS * INT64_C(1000000);
}
